//! `promptside-vocab OUTDIR` writes the vocabulary assets of the npm package: `<encoding>.bin`, each a gzip of the layout
//! in `src/tokens/asset.rs`, and `index.json`, which says what they are. What is there already and up to date is kept.
//!
//! `promptside-vocab --try N [SEED]` compares the tokenizer with `tiktoken-rs` on N random texts in each encoding, in an
//! optimised build; `cargo test` does the same on fewer.
//!
//! The vocabularies come from the crate `tiktoken-rs`; nothing is downloaded. The crate's own sources are compiled in,
//! so that the file layout and the random texts exist once.

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use std::{fs, thread};

use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;

#[path = "../../../src/error.rs"]
#[allow(dead_code)]
mod error;
#[path = "../../../src/js/mod.rs"]
#[allow(dead_code, unused_imports)]
mod js;
#[path = "../../../tests/it/token_texts.rs"]
mod token_texts;
#[path = "../../../src/tokens/mod.rs"]
#[allow(dead_code, unused_imports)]
mod tokens;

use tokens::asset::{self, Pattern};
use tokens::{Bpe, Count, Vocabulary};

/// Changes whenever the same input gives other files.
const VERSION: &str = "1, tiktoken-rs 0.12, zopfli 0.8";

struct Encoding {
    name: &'static str,
    pattern: Pattern,
    ranks: u32,
    judge: fn() -> &'static CoreBPE,
}

const ENCODINGS: [Encoding; 4] = [
    Encoding {
        name: "o200k_base",
        pattern: Pattern::O200k,
        ranks: 199_998,
        judge: tiktoken_rs::o200k_base_singleton,
    },
    Encoding {
        name: "cl100k_base",
        pattern: Pattern::Cl100k,
        ranks: 100_256,
        judge: tiktoken_rs::cl100k_base_singleton,
    },
    Encoding {
        name: "p50k_base",
        pattern: Pattern::Gpt2,
        ranks: 50_281,
        judge: tiktoken_rs::p50k_base_singleton,
    },
    Encoding {
        name: "r50k_base",
        pattern: Pattern::Gpt2,
        ranks: 50_256,
        judge: tiktoken_rs::r50k_base_singleton,
    },
];

/// Encodings that differ from another in their special tokens alone, and so share its file.
const ALIASES: [(&str, &str); 1] = [("o200k_harmony", "o200k_base")];

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

impl Encoding {
    fn file(&self) -> Result<Vec<u8>> {
        let judge = (self.judge)();
        let special: Vec<Vec<u8>> = judge.special_tokens().iter().map(|s| s.as_bytes().to_vec()).collect();
        let token =
            |rank| judge.decode_bytes(&[rank]).ok().filter(|b| !special.contains(b)).unwrap_or_default();
        let tokens: Vec<Vec<u8>> = (0..self.ranks).map(token).collect();
        asset::write(self.name, self.pattern, &tokens)
            .ok_or_else(|| "the tokens do not fit the layout".into())
    }

    fn tokenizer(&self) -> Result<Bpe> {
        Ok(Vocabulary::parse(self.file()?)?)
    }
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--try", n] => compare(n.parse()?, 1),
        ["--try", n, seed] => compare(n.parse()?, seed.parse()?),
        [out] if !out.starts_with('-') => write(Path::new(out)),
        _ => Err("usage: promptside-vocab OUTDIR | --try N [SEED]".into()),
    }
}

/// Writes the assets into `out`.
fn write(out: &Path) -> Result<()> {
    let index_path = out.join("index.json");
    if fs::read(&index_path).is_ok_and(|index| is_current(out, &index)) {
        println!("{}: up to date", out.display());
        return Ok(());
    }
    fs::create_dir_all(out)?;
    let rows = thread::scope(|scope| {
        let workers: Vec<_> = ENCODINGS.iter().map(|e| scope.spawn(move || write_one(out, e))).collect();
        workers.into_iter().map(|w| w.join().expect("a worker panicked")).collect::<Result<Vec<Value>>>()
    })?;
    let mut encodings = rows.clone();
    for (name, of) in ALIASES {
        let mut row = rows.iter().find(|r| r["name"] == of).ok_or("an alias of nothing")?.clone();
        row["name"] = json!(name);
        encodings.push(row);
    }
    let index = json!({ "version": VERSION, "encodings": encodings });
    fs::write(index_path, serde_json::to_string_pretty(&index)? + "\n")?;
    Ok(())
}

fn write_one(out: &Path, encoding: &Encoding) -> Result<Value> {
    let start = Instant::now();
    let file = encoding.file()?;
    let bpe = Vocabulary::parse(file.clone())?;
    for text in token_texts::fixed() {
        if bpe.encode(&text) != (encoding.judge)().encode_ordinary(&text) {
            return Err(format!("{} does not agree with tiktoken-rs on {text:?}", encoding.name).into());
        }
    }
    let mut packed = Vec::new();
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, &file[..], &mut packed)?;
    let name = format!("{}.bin", encoding.name);
    fs::write(out.join(&name), &packed)?;
    println!(
        "{name}: {} bytes, {} inflated, {:.1} s",
        packed.len(),
        file.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(json!({
        "name": encoding.name,
        "file": name,
        "bytes": packed.len(),
        "inflated": file.len(),
        "checksum": format!("{:016x}", asset::checksum(&packed)),
    }))
}

/// Whether the files that the index names are there, as it says.
fn is_current(out: &Path, index: &[u8]) -> bool {
    let Ok(index) = serde_json::from_slice::<Value>(index) else { return false };
    let good = |row: &Value| {
        row["file"]
            .as_str()
            .and_then(|f| fs::read(out.join(f)).ok())
            .is_some_and(|file| row["checksum"] == format!("{:016x}", asset::checksum(&file)))
    };
    index["version"] == VERSION && index["encodings"].as_array().is_some_and(|rows| rows.iter().all(good))
}

/// Compares ids on random texts.
fn compare(n: usize, seed: u64) -> Result<()> {
    let wrong = thread::scope(|scope| {
        let workers: Vec<_> = ENCODINGS
            .iter()
            .map(|encoding| {
                scope.spawn(move || -> Result<usize> {
                    let (ours, judge) = (encoding.tokenizer()?, (encoding.judge)());
                    let mut rng = token_texts::Rng(seed);
                    let (mut wrong, mut bytes, mut tokens) = (0, 0, 0);
                    for _ in 0..n {
                        let text = token_texts::random_text(&mut rng);
                        let (expected, got) = (judge.encode_ordinary(&text), ours.encode(&text));
                        bytes += text.len();
                        tokens += got.len();
                        if expected != got || ours.count(&text) as usize != expected.len() {
                            wrong += 1;
                            eprintln!("{}: {text:?}", encoding.name);
                        }
                    }
                    println!("{}: {n} texts, {bytes} bytes, {tokens} tokens, {wrong} differ", encoding.name);
                    Ok(wrong)
                })
            })
            .collect();
        workers.into_iter().map(|w| w.join().expect("a worker panicked")).sum::<Result<usize>>()
    })?;
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} texts differ").into()) }
}
