//! The reference's data bank text and its lorebook recall (spec 10 §14, §15).

use indexmap::IndexMap;

use crate::memory::hash::hash;

/// The template of the injected text.
pub const DATA_BANK_TEMPLATE: &str = "Related information:\n{{text}}";

/// A chunk that was found: its text and its place in the file.
pub type Found = (String, i64);

/// The text for what was found, file by file in the order in which the index named them; `None` if nothing was.
pub fn data_bank_text(found: &IndexMap<String, Vec<Found>>, template: &str) -> Option<String> {
    let mut text = String::new();
    for chunks in found.values() {
        let mut sorted: Vec<&Found> = chunks.iter().collect();
        crate::js::sort_by_key(&mut sorted, |(_, at)| *at);
        let mut unique: Vec<&str> = Vec::new();
        for (chunk, _) in sorted {
            if !unique.contains(&chunk.as_str()) {
                unique.push(chunk);
            }
        }
        text.push_str(&unique.join("\n"));
        text.push_str("\n\n");
    }
    (!text.is_empty()).then(|| template.replace("{{text}}", &text))
}

/// A lorebook entry, as far as recall asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoreItem {
    /// The book's name; empty for none.
    pub book: String,
    /// The entry's id in it.
    pub uid: i64,
    /// Its text.
    pub content: String,
    /// Marked for recall.
    pub vectorized: bool,
    /// Switched off.
    pub disabled: bool,
}

/// Positions of the entries that are embedded.
pub fn lore_to_embed(entries: &[LoreItem], all: bool) -> Vec<usize> {
    let wanted =
        |e: &LoreItem| !e.book.is_empty() && !e.content.is_empty() && !e.disabled && (all || e.vectorized);
    entries.iter().enumerate().filter(|(_, e)| wanted(e)).map(|(i, _)| i).collect()
}

/// Positions of the entries that are forced: every one whose text was hit, whatever else it is.
pub fn lore_to_force(entries: &[LoreItem], hits: &[u64]) -> Vec<usize> {
    let hit = |e: &LoreItem| hits.contains(&hash(&e.content));
    entries.iter().enumerate().filter(|(_, e)| hit(e)).map(|(i, _)| i).collect()
}
