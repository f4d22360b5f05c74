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
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counts: IndexMap<(u64, usize), u32>,
    missing: IndexSet<String>,
}

impl Supplied {
    /// An empty table of the tokenizer called `id`.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), state: Mutex::default() }
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

    /// [`Supplied::key`] as text: sixteen hexadecimal digits, a colon, the number of bytes.
    pub fn key_text(text: &str) -> String {
        let (hash, length) = Self::key(text);
        format!("{hash:016x}:{length}")
    }

    /// Reads what [`Supplied::key_text`] wrote.
    pub fn read_key(key: &str) -> Option<(u64, usize)> {
        let (hash, length) = key.split_once(':').filter(|(hash, _)| hash.len() == 16)?;
        Some((u64::from_str_radix(hash, 16).ok()?, length.parse().ok()?))
    }

    /// Enters the count of a text.
    pub fn supply(&self, text: &str, tokens: u32) {
        self.supply_key(Self::key(text), tokens);
        self.state().missing.shift_remove(text);
    }

    /// Enters a count that was stored under its text's [`Supplied::key`].
    pub fn supply_key(&self, key: (u64, usize), tokens: u32) {
        self.state().counts.insert(key, tokens);
    }

    /// The texts that had to be guessed since the last call, in the order they were asked for.
    pub fn take_missing(&self) -> Vec<String> {
        std::mem::take(&mut self.state().missing).into_iter().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Count for Supplied {
    /// The supplied count, else that of [`ByScript`]. An empty text has no tokens.
    fn count(&self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let mut state = self.state();
        if let Some(tokens) = state.counts.get(&Self::key(text)) {
            return *tokens;
        }
        if state.missing.len() < MISSING_TEXTS && !state.missing.contains(text) {
            state.missing.insert(text.to_owned());
        }
        ByScript.count(text)
    }

    /// True as long as nothing is missing.
    fn exact(&self) -> bool {
        self.state().missing.is_empty()
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
        let counts = Supplied::new("my-server");
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
        let key = Supplied::key_text("夜");
        assert_eq!((Supplied::read_key(&key), Supplied::read_key("12:3")), (Some(Supplied::key("夜")), None));
        assert_eq!((counts.count("Привет"), counts.count("👋🏽"), counts.exact()), (5, 2, true));
    }
}
