//! The feature `tiktoken-rs`: the crate of that name as a counter, for native programs that have it anyway.
//!
//! It gives the counts that [`Bpe`](super::Bpe) gives (a test holds it to that), brings its vocabularies along, and is
//! slower and larger. Not for wasm: it would add 3 MB to the module.

use super::Count;
use tiktoken_rs::CoreBPE;

/// Characters that are neither letters nor digits given to the engine in a row: it panics on a million spaces.
const LONGEST_STRETCH: usize = 400_000;

/// A tokenizer of `tiktoken-rs`.
pub struct TiktokenRs {
    id: &'static str,
    engine: &'static CoreBPE,
}

impl TiktokenRs {
    /// The tokenizer of an encoding: `o200k_base`, `o200k_harmony`, `cl100k_base`, `p50k_base` or `r50k_base`.
    pub fn new(encoding: &str) -> Option<Self> {
        let (id, engine) = match encoding {
            "o200k_base" => ("o200k_base", tiktoken_rs::o200k_base_singleton()),
            "o200k_harmony" => ("o200k_harmony", tiktoken_rs::o200k_harmony_singleton()),
            "cl100k_base" => ("cl100k_base", tiktoken_rs::cl100k_base_singleton()),
            "p50k_base" => ("p50k_base", tiktoken_rs::p50k_base_singleton()),
            "r50k_base" => ("r50k_base", tiktoken_rs::r50k_base_singleton()),
            _ => return None,
        };
        Some(Self { id, engine })
    }

    /// The token ids of a text; special-token literals are read as the text they are.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        parts(text).flat_map(|part| self.engine.encode_ordinary(part)).collect()
    }
}

/// The text, cut where a stretch without letters and digits gets too long; a token more or less there is the lesser harm.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let (mut stretch, mut from) = (0, 0);
    let cuts = text.char_indices().filter_map(move |(at, c)| {
        stretch = if c.is_alphanumeric() || stretch == LONGEST_STRETCH { 0 } else { stretch + 1 };
        (stretch == LONGEST_STRETCH).then_some(at)
    });
    cuts.chain([text.len()]).filter_map(move |to| text.get(std::mem::replace(&mut from, to)..to))
}

impl Count for TiktokenRs {
    fn count(&self, text: &str) -> u32 {
        let tokens = parts(text).map(|part| self.engine.count_ordinary(part)).sum::<usize>();
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    fn exact(&self) -> bool {
        true
    }

    fn id(&self) -> &str {
        self.id
    }
}
