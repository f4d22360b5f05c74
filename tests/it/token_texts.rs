//! Texts that divide tokenizers: fixed ones, and random ones of many kinds. The tool in `tools/vocab` reads this too.

/// A small generator; the same numbers everywhere.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ self.0 >> 32;
        x.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32
    }
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const WHITE: &str = " \n\r\t\u{B}\u{C}\u{85}\u{A0}\u{1680}\u{2003}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}\u{200B}\u{180E}";
const TIGHT: &str = "aAzZsStTlLvVeErRdDmM09'’ſ \n.,/!?-_*\"<>|文字的の한ЖжéßΩǅʰ½٣\u{301}\u{200D}\u{FE0F}😊👩\u{A0}\u{3000}\u{85}\u{FEFF}";
/// Ranges of many scripts, with their marks, digits and punctuation.
const SCRIPTS: &[(u32, u32)] = &[
    (0x20, 0x7F),
    (0xA0, 0x24F),
    (0x250, 0x2FF),
    (0x300, 0x36F),
    (0x370, 0x3FF),
    (0x400, 0x52F),
    (0x530, 0x5FF),
    (0x600, 0x6FF),
    (0x700, 0x8FF),
    (0x900, 0xDFF),
    (0xE00, 0xEFF),
    (0xF00, 0x109F),
    (0x10A0, 0x13FF),
    (0x1680, 0x18AF),
    (0x1E00, 0x1FFF),
    (0x2000, 0x2BFF),
    (0x3000, 0x30FF),
    (0x3100, 0x31FF),
    (0x4E00, 0x9FFF),
    (0xA000, 0xABFF),
    (0xAC00, 0xD7A3),
    (0xE000, 0xE0FF),
    (0xF900, 0xFFFF),
    (0x1_0000, 0x1_0FFF),
    (0x1_1000, 0x1_6FFF),
    (0x1_D400, 0x1_D7FF),
    (0x1_E000, 0x1_EFFF),
    (0x1_F000, 0x1_FAFF),
    (0x2_0000, 0x3_FFFF),
    (0xE_0000, 0xE_01FF),
    (0, 0x10_FFFF),
];
const EMOJI: &[&str] = &["👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "❤️‍🔥", "🇩🇪", "🇯🇵🇨🇳", "1️⃣", "🧑🏿‍🚀", "☺️", "‍", "\u{FE0F}"];
const WORDS: &[&str] = &[
    "the",
    "ing",
    "un",
    "Don't",
    "I'LL",
    "we've",
    "HELLO",
    "camelCase",
    "的",
    "我们",
    "今天天气",
    "こんにちは",
    "ありがとう",
    "안녕하세요",
    "привет",
    "ство",
    "สวัสดี",
    "السلام",
    "नमस्ते",
    "שלום",
    "a",
    "aa",
    "ab",
    "zz",
    "qx",
    "ー",
    "ん",
    "==",
    "--",
    "...",
    "**",
    "/",
    "//",
    "\r\n",
    "\n\n",
    "  ",
    "    ",
    "\t\t",
    "123",
    "12345",
    "½",
    "<|endoftext|>",
    "<|im_start|>",
    "http://",
    "```",
    "«",
    "」",
];

/// One random text of a random kind.
pub fn random_text(rng: &mut Rng) -> String {
    let kind = rng.below(6);
    let n = 1 + rng.below([24, 14, 24, 12, 16, 40][kind]);
    let tight: Vec<char> = TIGHT.chars().collect();
    let white: Vec<char> = WHITE.chars().collect();
    let (low, high) = rng.pick(SCRIPTS);
    let mut text = String::new();
    for _ in 0..n {
        let scalar = |rng: &mut Rng, low: u32, high: u32| {
            char::from_u32(low + u32::try_from(rng.below((high - low + 1) as usize)).unwrap())
                .unwrap_or('\u{FFFD}')
        };
        match kind {
            // Characters that the patterns treat apart.
            0 => text.push(rng.pick(&tight)),
            // White space in all its forms, and what may stand beside it.
            1 => text.push(if rng.below(4) > 0 { rng.pick(&white) } else { rng.pick(&tight) }),
            // One script, some spaces.
            2 if rng.below(7) == 0 => text.push(' '),
            2 => text.push(scalar(rng, low, high)),
            // All scripts mixed.
            3 => {
                let (low, high) = rng.pick(SCRIPTS);
                text.push(scalar(rng, low, high));
            }
            4 => {
                let word: &str = if rng.below(2) == 0 { rng.pick(EMOJI) } else { rng.pick(WORDS) };
                text.push_str(word);
            }
            // Words, glued and spaced: long pieces.
            _ => {
                text.push_str(rng.pick(WORDS));
                if rng.below(3) == 0 {
                    text.push(' ');
                }
            }
        }
    }
    text
}

/// Texts that once divided tokenizers.
pub fn fixed() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " \t\n \r\n  \u{a0}\u{3000}\n\n x \n",
        "x\n  ",
        "x  \n \n\t",
        "...//\n/\r\n//x ./\n/ a/",
        "\u{feff}hello \u{feff}\u{feff} x",
        "a\u{85}b \u{85}\u{85} c\u{85}",
        "a\u{200b}b \u{200b} c",
        "it'ſ don'ſ 'ſo",
        "I'LL we'Ve don'T y'all's 'sleep 'tis rock'n'roll ''s ’s",
        "ǅABC ǅabc ʰABC ªBc文AB文",
        "a\u{fffd}b \u{fffd}\u{fffd}",
        "hi <|endoftext|> there <|im_start|>user <|endofprompt|><|fim_prefix|>",
        "\0\u{1}\u{7}\u{1f}\u{7f}\u{80}\u{9f}",
        "السلام عليكم شَكْرًا שָׁלוֹם สวัสดีครับ ผม",
        "नमस्ते दुनिया, कैसे हो? क्षत्रिय",
        "안녕하세요 세계 ㅋㅋㅋㅋㅋ",
        "\u{ffff}\u{fffe} \u{1ffff} \u{10ffff}",
        "Ⅷ ⅷ ½ ²³ ٣٤٥٦ १२३४",
        "constructor toString __proto__ hasOwnProperty valueOf",
        "https://example.org/a/b?c=%20&d[]=1#frag",
        "𝒜𝓑𝒸 𝟘𝟙𝟚 𠀀𠮷野家",
        "\u{1e6e0}\u{16d43}\u{897}\u{1c89}\u{105c0}",
        "洛恩，你在吗？塞拉菲娜笑了笑：「我在。」",
        "*She smiles.* \"Well… don't you know?\" — 她说\n\n```rs\nfn main() {}\n```\n| a | b |\n|---|---|\n",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.extend(
        ["a", " ", "\n", "一", "1234567890", "=", "'s", "e\u{301}", "Ａ", "\u{301}A"].map(|s| s.repeat(1000)),
    );
    texts.push(" ".repeat(5000) + "x");
    texts.push("\u{301}".repeat(3) + "ABC \u{301}abc Zalgo z̷͎͝a̸͇͘l̵̨͊g̴̛͜o̷̖͋");
    texts.push("👩‍👩‍👧‍👦🏳️‍🌈👍🏽❤️‍🔥".repeat(50));
    texts
}
