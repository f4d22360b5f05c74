//! Messages and an index -> what must be embedded and what deleted (spec 10 §22). Identity is the message's id and its hash, so
//! equal texts of two messages are two items and an edited message loses its old one.

use std::collections::{BTreeMap, BTreeSet};

use crate::js;

/// A text that can be indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// Id of the message, file or entry.
    pub id: &'a str,
    /// Hash of its text.
    pub hash: &'a str,
    /// Its text; blank ones are not indexed.
    pub text: &'a str,
    /// Chunks that it is cut into, when known: an index that holds fewer or more is out of date.
    pub chunks: Option<usize>,
}

/// An item of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexed<'a> {
    /// Whose text.
    pub of: &'a str,
    /// Hash of the text when it was embedded.
    pub hash: &'a str,
    /// The model that embedded it.
    pub model: &'a str,
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Positions of texts to embed.
    pub embed: Vec<usize>,
    /// Positions of items to delete.
    pub delete: Vec<usize>,
}

/// Compares texts with an index of `model`.
pub fn diff(wanted: &[Wanted<'_>], index: &[Indexed<'_>], model: &str) -> Diff {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for item in index.iter().filter(|i| i.model == model) {
        *counts.entry((item.of, item.hash)).or_default() += 1;
    }
    let mut current: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut out = Diff::default();
    for (at, text) in wanted.iter().enumerate() {
        if js::trim(text.text).is_empty() {
            continue;
        }
        let key = (text.id, text.hash);
        match counts.get(&key) {
            Some(count) if text.chunks.is_none_or(|c| c == *count) => _ = current.insert(key),
            _ => out.embed.push(at),
        }
    }
    let stale = |i: &Indexed<'_>| i.model != model || !current.contains(&(i.of, i.hash));
    out.delete = index.iter().enumerate().filter(|(_, i)| stale(i)).map(|(at, _)| at).collect();
    out
}
