//! The tokenizer against `tiktoken-rs`: ids of fixed, random and heavy texts, in every encoding.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use promptside::tokens::asset::{self, Pattern};
use promptside::tokens::{Appender, Bpe, ByScript, Count, Estimate, Vocabulary};
use tiktoken_rs::CoreBPE;

use crate::token_texts::{Rng, fixed, random_text};

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
        let file = asset::write(name, pattern, &tokens).unwrap();
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

/// How many random texts an encoding is tried on: `PROMPTSIDE_RANDOM`, else few in an unoptimised build.
fn rounds() -> usize {
    let default = if cfg!(debug_assertions) { 12_500 } else { 50_000 };
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

#[cfg(feature = "tiktoken-rs")]
#[test]
fn the_other_engine_counts_the_same() {
    use promptside::tokens::TiktokenRs;
    for encoding in ENCODINGS.iter() {
        let engine = TiktokenRs::new(encoding.name).unwrap();
        assert!(engine.exact());
        assert_eq!(engine.id(), encoding.ours.id());
        for text in fixed() {
            assert_eq!(engine.count(&text), encoding.ours.count(&text), "{text:?}");
            assert_eq!(engine.encode(&text), encoding.ours.encode(&text), "{text:?}");
        }
        assert!(engine.count(&(" ".repeat(1 << 20) + "x")) > 500, "no panic");
    }
    assert!(TiktokenRs::new("o300k_base").is_none());
}

#[test]
fn the_estimate_by_script_is_near_o200k() {
    let texts = [
        "She looked up from the book and smiled. \"You came back after all,\" she said, and put the kettle on.",
        "洛恩推开门，雨水顺着斗篷滴落在地板上。他看了看四周，低声问道：「塞拉菲娜，你在吗？」",
        "彼女は本から顔を上げて、静かに微笑んだ。「やっぱり戻ってきたのね」と言って、お茶を入れ始めた。",
        "그녀는 책에서 고개를 들고 조용히 미소 지었다. \"결국 돌아왔구나\" 하고 말하며 차를 끓이기 시작했다.",
        "Она подняла глаза от книги и улыбнулась. «Ты всё-таки вернулся», — сказала она и поставила чайник.",
        "Sie blickte von ihrem Buch auf und lächelte. „Du bist also doch zurückgekommen“, sagte sie und setzte Wasser auf.",
        "رفعت عينيها عن الكتاب وابتسمت. قالت: «لقد عدت إذن»، ثم وضعت الماء على النار.",
        "เธอเงยหน้าขึ้นจากหนังสือแล้วยิ้ม พูดว่าคุณกลับมาแล้วจริงๆ แล้วก็ไปต้มน้ำชา",
        "उसने किताब से नज़र उठाई और मुस्कुराई। उसने कहा, तुम आख़िर लौट ही आए, और चाय चढ़ा दी।",
        "```rust\nfn main() {\n    let total: u32 = (1..=100).sum();\n    println!(\"{total}\");\n}\n```\n",
    ];
    for text in texts {
        let (exact, guess) = (f64::from(ENCODINGS[0].ours.count(text)), f64::from(ByScript.count(text)));
        assert!((0.75..1.35).contains(&(guess / exact)), "{guess} instead of {exact}: {text}");
    }
    // The reference's guess, to compare: up to twice as much.
    assert_eq!((Estimate.count("Hello, world!"), Estimate.count("你好"), Estimate.count("")), (4, 2, 0));
    assert!(!ByScript.exact() && !Estimate.exact() && ByScript.count("") == 0);
}
