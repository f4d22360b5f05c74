//! Counts that the caller brings -> a counter: for tokenizers that only a page or its server has.
//!
//! A step counts and cannot wait. So the counter answers from what it was given, guesses the rest, and remembers the
//! texts it had to guess. The caller counts those, supplies the results and runs the step again, until nothing is
//! missing; a prompt changes little from turn to turn, so after the first one few texts are new.

use super::{ByScript, Count};
use indexmap::{IndexMap, IndexSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Texts remembered as missing; what is beyond is guessed too, and asked for in a later round.
const MISSING_TEXTS: usize = 4096;

/// Counts by the text's hash and length; see [`Supplied::key`].
#[derive(Debug)]
pub struct Supplied {
    id: String,
    counts: IndexMap<(u64, usize), u32>,
    missing: Mutex<IndexSet<String>>,
}

impl Supplied {
    /// An empty table of the tokenizer called `id`.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), counts: IndexMap::new(), missing: Mutex::new(IndexSet::new()) }
    }

    /// How a text is known: a hash of its UTF-8 bytes (FNV-1a, 64 bits) and their number.
    ///
    /// A page may store counts under this key. It is not safe against texts made to collide; a wrong count is the worst
    /// they can do.
    pub fn key(text: &str) -> (u64, usize) {
        let hash = text
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3));
        (hash, text.len())
    }

    /// Enters the count of a text.
    pub fn supply(&mut self, text: &str, tokens: u32) {
        self.supply_key(Self::key(text), tokens);
        self.missing().shift_remove(text);
    }

    /// Enters a count that was stored under its text's [`Supplied::key`].
    pub fn supply_key(&mut self, key: (u64, usize), tokens: u32) {
        self.counts.insert(key, tokens);
    }

    /// The texts that had to be guessed since the last call, in the order they were asked for.
    pub fn take_missing(&self) -> Vec<String> {
        std::mem::take(&mut *self.missing()).into_iter().collect()
    }

    fn missing(&self) -> MutexGuard<'_, IndexSet<String>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Count for Supplied {
    /// The supplied count, else that of [`ByScript`]. An empty text has no tokens.
    fn count(&self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(tokens) = self.counts.get(&Self::key(text)) {
            return *tokens;
        }
        let mut missing = self.missing();
        if missing.len() < MISSING_TEXTS && !missing.contains(text) {
            missing.insert(text.to_owned());
        }
        ByScript.count(text)
    }

    /// True as long as nothing is missing.
    fn exact(&self) -> bool {
        self.missing().is_empty()
    }

    fn id(&self) -> &str {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_guessed_is_asked_for_once_and_then_known() {
        let mut counts = Supplied::new("my-server");
        counts.supply("洛恩，你在吗？", 9);
        assert_eq!((counts.count("洛恩，你在吗？"), counts.count("")), (9, 0));
        assert!(counts.exact());

        assert_eq!(counts.count("Привет"), ByScript.count("Привет"));
        assert_eq!(counts.count("Привет"), 3);
        counts.count("👋🏽");
        assert!(!counts.exact());
        let missing = counts.take_missing();
        assert_eq!(missing, ["Привет", "👋🏽"]);
        for (text, tokens) in missing.iter().zip([5, 2]) {
            counts.supply(text, tokens);
        }
        assert_eq!((counts.count("Привет"), counts.count("👋🏽"), counts.exact()), (5, 2, true));
    }
}
