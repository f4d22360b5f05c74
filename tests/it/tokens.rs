//! The tokenizer against `tiktoken-rs`: ids of fixed, random and heavy texts, in every encoding.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use promptside::tokens::asset::{self, Pattern};
use promptside::tokens::{Appender, Bpe, Count, Vocabulary};
use tiktoken_rs::CoreBPE;

/// An encoding: ours, and the judge.
struct Encoding {
    name: &'static str,
    judge: &'static CoreBPE,
    file: Vec<u8>,
    ours: Bpe,
}

impl Encoding {
    fn new(name: &'static str, pattern: Pattern, judge: &'static CoreBPE, ranks: u32) -> Self {
        let special: Vec<Vec<u8>> = judge.special_tokens().iter().map(|s| s.as_bytes().to_vec()).collect();
        let bytes =
            |rank| judge.decode_bytes(&[rank]).ok().filter(|b| !special.contains(b)).unwrap_or_default();
        let tokens: Vec<Vec<u8>> = (0..ranks).map(bytes).collect();
        let file = asset::write(name, pattern, &tokens, |_| 0).unwrap();
        let ours = Vocabulary::parse(file.clone()).unwrap();
        Self { name, judge, file, ours }
    }

    fn check(&self, text: &str) {
        let (expected, got) = (self.judge.encode_ordinary(text), self.ours.encode(text));
        if expected != got {
            let at = expected.iter().zip(&got).take_while(|(a, b)| a == b).count();
            let around = |ids: &[u32]| ids[at.saturating_sub(2)..ids.len().min(at + 6)].to_vec();
            panic!(
                "{}: {:?}\nexpected {:?}\n     got {:?} from token {at} on",
                self.name,
                text.chars().take(300).collect::<String>(),
                around(&expected),
                around(&got)
            );
        }
        assert_eq!(self.ours.count(text) as usize, expected.len(), "{}: count of {text:?}", self.name);
        assert_eq!(self.ours.decode(&got).unwrap(), text.as_bytes(), "{}", self.name);
    }
}

static ENCODINGS: LazyLock<[Encoding; 4]> = LazyLock::new(|| {
    [
        Encoding::new("o200k_base", Pattern::O200k, tiktoken_rs::o200k_base_singleton(), 199_998),
        Encoding::new("cl100k_base", Pattern::Cl100k, tiktoken_rs::cl100k_base_singleton(), 100_256),
        Encoding::new("p50k_base", Pattern::Gpt2, tiktoken_rs::p50k_base_singleton(), 50_281),
        Encoding::new("r50k_base", Pattern::Gpt2, tiktoken_rs::r50k_base_singleton(), 50_256),
    ]
});

/// A small generator; the same numbers everywhere.
pub struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ self.0 >> 32;
        x.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32
    }
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
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
fn random_text(rng: &mut Rng) -> String {
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

/// How many random texts an encoding is tried on: `PROMPTSIDE_RANDOM`, else few in an unoptimised build.
fn rounds() -> usize {
    let default = if cfg!(debug_assertions) { 6_000 } else { 50_000 };
    std::env::var("PROMPTSIDE_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn seed() -> u64 {
    std::env::var("PROMPTSIDE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

#[test]
fn random_texts_have_the_judges_ids() {
    std::thread::scope(|scope| {
        for encoding in ENCODINGS.iter() {
            scope.spawn(move || {
                let mut rng = Rng(seed());
                for _ in 0..rounds() {
                    encoding.check(&random_text(&mut rng));
                }
            });
        }
    });
}

/// Texts that once divided tokenizers.
fn fixed() -> Vec<String> {
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

#[test]
fn fixed_texts_have_the_judges_ids() {
    for encoding in ENCODINGS.iter() {
        for text in fixed() {
            encoding.check(&text);
        }
    }
}

#[test]
fn every_token_is_one_token() {
    // True of all these vocabularies; the shortcut "a piece that is a token is one token" rests on it.
    for encoding in ENCODINGS.iter() {
        let judge = encoding.judge;
        let special: Vec<u32> =
            judge.special_tokens().iter().flat_map(|s| judge.encode_with_special_tokens(s)).collect();
        let bytes = |rank| encoding.ours.decode(&[rank]);
        let ranks: u32 = if encoding.name == "o200k_base" { 199_998 } else { 50_256 };
        for rank in (0..ranks).step_by(if cfg!(debug_assertions) { 17 } else { 1 }) {
            assert!(!special.contains(&rank));
            assert_eq!(judge.decode_bytes(&[rank]).unwrap(), bytes(rank).unwrap());
        }
    }
}

#[test]
fn harmony_splits_as_o200k() {
    let judge = tiktoken_rs::o200k_harmony_singleton();
    for text in fixed() {
        assert_eq!(judge.encode_ordinary(&text), ENCODINGS[0].ours.encode(&text), "{text:?}");
    }
}

#[test]
fn heavy_texts_take_linear_time() {
    let mut rng = Rng(7);
    let size = if cfg!(debug_assertions) { 1 << 16 } else { 1 << 20 };
    let base64: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain("+/".chars()).collect();
    let chinese: Vec<char> = ('\u{4E00}'..='\u{9FFF}').collect();
    let texts: Vec<(&str, String)> = vec![
        ("base64", (0..size).map(|_| rng.pick(&base64)).collect()),
        ("random letters", (0..size).map(|_| rng.pick(&base64[26..52])).collect()),
        ("one letter", "a".repeat(size)),
        ("spaces and a letter", " ".repeat(size) + "x"),
        ("line breaks", "\n".repeat(size)),
        ("a break, then spaces", "\n".to_owned() + &" ".repeat(size)),
        ("ab", "ab".repeat(size / 2)),
        ("dashes that end", "--------------------------------=".repeat(size / 33)),
        ("digits", "1234567890".repeat(size / 10)),
        ("Chinese", (0..size / 3).map(|_| rng.pick(&chinese)).collect()),
        ("one Chinese character", "一".repeat(size / 3)),
        ("caseless, then capitals", "文".to_owned() + &"A".repeat(size)),
        ("marks and capitals", "\u{301}AAAAAAAAAAAAAAA".repeat(size / 17)),
        ("emoji", "👩‍👩‍👧‍👦".repeat(size / 25)),
    ];
    for encoding in ENCODINGS.iter() {
        for (name, text) in &texts {
            let start = Instant::now();
            let count = encoding.ours.count(text);
            let time = start.elapsed();
            println!("{} {name}: {count} tokens, {time:?}", encoding.name);
            assert!(time < Duration::from_secs(5), "{}: {name} took {time:?}", encoding.name);
            assert!(count > 0);
        }
    }
}

#[test]
fn a_count_up_to_a_limit_is_exact_below_it() {
    for encoding in ENCODINGS.iter() {
        for text in fixed() {
            let all = encoding.ours.count(&text);
            for limit in [0, 1, 7, all, all + 1] {
                let counted = encoding.ours.count_up_to(&text, limit);
                assert!(if all <= limit { counted == all } else { counted > limit }, "{text:?}");
            }
        }
    }
}

#[test]
fn a_growing_text_counts_as_the_whole_at_every_step() {
    for encoding in ENCODINGS.iter() {
        let mut rng = Rng(seed() + 3);
        let mut texts = fixed();
        texts.extend((0..rounds() / 20).map(|_| random_text(&mut rng)));
        // What is read ahead is taken back only later.
        texts.extend(
            ["\n     \n      \n", "文ABCDE文ABCDd文AB'll", "don't 'll 're'r 'l' x'v", "a  \t \n  b  "]
                .map(str::to_owned),
        );
        for text in texts {
            let text: String = text.chars().take(3000).collect();
            let mut whole = String::new();
            let mut growing = Appender::new();
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let n = 1 + if rng.below(3) == 0 { rng.below(12) } else { 0 };
                let at = rest.char_indices().nth(n).map_or(rest.len(), |(at, _)| at);
                let (now, later) = rest.split_at(at);
                whole.push_str(now);
                rest = later;
                let counted = encoding.ours.append(&mut growing, now);
                if whole.len() < 300 || rest.len() < 30 {
                    assert_eq!(
                        counted,
                        encoding.ours.count(&whole),
                        "{}: {whole:?} of {text:?}",
                        encoding.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_damaged_vocabulary_is_a_typed_error() {
    let file = &ENCODINGS[3].file;
    let mut bad = vec![
        Vec::new(),
        file[..5].to_vec(),
        file[..file.len() - 1].to_vec(),
        file[..file.len() / 2].to_vec(),
    ];
    bad.push(file.iter().copied().chain([0]).collect());
    bad.push([0x1F, 0x8B].into_iter().chain(file.iter().copied()).collect());
    for at in [0, 4, 5, 6, 7, 8, 11, 15, 30, 50_000, file.len() / 2, file.len() - 1] {
        let mut copy = file.clone();
        copy[at] ^= 0x40;
        bad.push(copy);
    }
    for (i, file) in bad.into_iter().enumerate() {
        let error = Vocabulary::parse(file).map(|b| b.id().to_owned()).expect_err(&format!("case {i}"));
        assert_eq!(error.code().as_str(), "tokens.vocabulary", "case {i}: {error}");
    }
}
