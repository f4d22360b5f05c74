//! Which lorebook entries are active: chat lines and books -> [`LoreResult`].
//!
//! Spec: 03.

mod place;

pub use place::{lore_at_depth, merge_lore};

use indexmap::IndexMap;

/// What the active entries want in the prompt. Texts are expanded; entries of one place are in prompt order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoreResult {
    /// Text of the slot before the card (`worldInfoBefore`), entries joined by a line feed.
    pub before: String,
    /// Text of the slot after the card (`worldInfoAfter`).
    pub after: String,
    /// Entries at the top of the author's note.
    pub an_before: Vec<String>,
    /// Entries at the bottom of the author's note.
    pub an_after: Vec<String>,
    /// Example dialogue: where it goes and its text.
    pub examples: Vec<(ExamplePlace, String)>,
    /// Entries in the chat, grouped by depth and role.
    pub depth: Vec<DepthEntries>,
    /// Texts for `{{outlet::name}}`, by name.
    pub outlets: IndexMap<String, Vec<String>>,
    /// Every active entry, in activation order.
    pub activated: Vec<Activated>,
    /// The author's note may carry `an_before` and `an_after`: at least one book was looked at (spec 05 §10).
    pub scanned: bool,
}

/// Where the example dialogue of an entry goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExamplePlace {
    /// Before the card's blocks.
    Top,
    /// After them.
    Bottom,
}

/// Entries of one depth and role.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DepthEntries {
    /// Messages from the end; only whole numbers from 0 to 10000 are ever shown.
    pub depth: f64,
    /// 0 system, 1 user, 2 assistant.
    pub role: i64,
    /// Texts, joined by a line feed later.
    pub entries: Vec<String>,
}

/// An active entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activated {
    /// Name of the book.
    pub book: String,
    /// `uid` of the entry in it.
    pub uid: i64,
}
