//! Which lorebook entries are active, and where their texts go: chat lines and books -> [`LoreResult`].
//!
//! Spec: 03. Differs from ST under `lore.*`. Knows keys, chance and budget. Must not know the prompt's order or providers.
//! Reading order: `source` (which entries) -> `scan` (the loop) -> `keys` -> `groups` -> `timed` -> `collect` -> `place`.
//! Cost: the index is linear in the keys, a scan in the new text plus the entries. Limits: `Limits::lore_loops`,
//! `Limits::regex_steps`, `Limits::regex_total`.

mod collect;
mod decorators;
mod entry;
mod explain;
mod groups;
mod keys;
mod pattern;
mod place;
mod scan;
mod source;
mod text;
mod timed;

use indexmap::IndexMap;
use serde_json::Value;

pub use entry::{Entry, Source};
pub use explain::{Cause, Explained, Loop, Outcome, Reason, Untouched};
pub use keys::split_keys;
pub use place::{lore_at_depth, merge_lore};
pub use scan::State;

use crate::error::Warning;
use crate::host::Host;
use crate::macros::Env;
use crate::parts::Effects;
use crate::profile::{self, Profile};
use crate::scene::{Character, Object, Scene};

/// What the active entries want in the prompt. Texts are expanded; entries of one place are in prompt order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoreResult {
    /// Text of the slot before the card (`worldInfoBefore`), entries joined by a line feed.
    pub before: String,
    /// Text of the slot after the card (`worldInfoAfter`).
    pub after: String,
    /// The entries of `before` and of `after`, one by one.
    pub slots: [Vec<String>; 2],
    /// Texts that may differ from speaker to speaker, with what they are made of.
    pub personal: Vec<Personal>,
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
    /// Every entry that something came of: it is active, or it matched and did not get in, or an effect holds it.
    pub explained: Vec<Explained>,
    /// All other entries, by reason.
    pub untouched: Untouched,
    /// The loops.
    pub loops: Vec<Loop>,
    /// Tokens that the entries could take.
    pub budget: i64,
    /// An entry did not fit.
    pub overflow: bool,
}

/// The text of an entry that may be another for another speaker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Personal {
    /// As it is inserted.
    pub text: String,
    /// As it stands in the book; empty when it goes with the speaker whatever it says: from its own book, or filtered by it.
    pub raw: String,
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
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "LoreActive"))]
pub struct Activated {
    /// Name of the book.
    pub book: String,
    /// `uid` of the entry in it, as it stands.
    pub uid: Value,
}

/// Chat lines, as they will be sent, with `Name: ` in front if names are included (spec 03 §3).
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// The newest ones, newest first; no more than [`Lines::MOST`] are looked at.
    pub newest: Vec<String>,
    /// How many there are in all.
    pub count: usize,
    /// Messages of the chat, those that are not sent included: the clock of timed effects where it is put right (03 F28).
    pub total: usize,
    /// Messages of the user among them.
    pub turns: usize,
}

impl Lines {
    /// Lines that can be looked at (spec 03 §3).
    pub const MOST: usize = 1000;

    /// Lines of their own, newest first, of no chat.
    pub fn new(newest: Vec<String>) -> Self {
        Self { count: newest.len(), total: newest.len(), turns: newest.len(), newest }
    }
}

/// What one evaluation looks at.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Chat lines.
    pub lines: &'a Lines,
    /// Persona, description, personality, depth prompt, scenario, creator's notes: expanded card texts.
    pub sources: [&'a str; 6],
    /// Injected texts that are to be scanned, expanded, in registration order.
    pub injections: &'a [String],
    /// Context size minus response length, tokens.
    pub max_context: i64,
    /// Generation type.
    pub trigger: &'a str,
    /// Who is about to speak.
    pub speaker: Option<&'a Character>,
    /// Entries that are active whatever their keys say: objects with `world` and `uid` (vector recall, host).
    pub forced: &'a [Value],
    /// Nothing is sent: timers are not written.
    pub dry: bool,
    /// Chat metadata: `timedWorldInfo`.
    pub metadata: &'a Object,
    /// `world_info_*` settings.
    pub settings: &'a Object,
    /// Most tokens that a book's entries may take, by its name; others know the common budget only.
    pub shares: Option<&'a IndexMap<String, i64>>,
}

/// The entries of a scene for a speaker, with their keys compiled, and what is remembered of chat lines. See [`BooksKey`] for what it
/// depends on.
#[derive(Debug, Default)]
pub struct Books {
    entries: Vec<Entry>,
    index: keys::Index,
    lines: text::LineCache,
    /// Entries that are looked at in every scan; all others only wait for a key in the index, or are off.
    standing: Vec<usize>,
    /// Tokens that the entries of a book may take, where the book says so.
    shares: IndexMap<String, i64>,
    warnings: Vec<Warning>,
}

/// What compiled books depend on, besides the books' contents: keep [`Books`] while this and those stay equal.
#[derive(Clone, Debug, PartialEq)]
pub struct BooksKey {
    selection: source::Selection,
    case_sensitive: bool,
    whole_words: bool,
    profile: Profile,
}

impl BooksKey {
    /// For a scene and a speaker.
    pub fn of(scene: &Scene, speaker: Option<&Character>, profile: &Profile) -> Self {
        let globals = scan::Globals::of(&scene.settings.world_info);
        Self {
            selection: source::Selection::of(scene, speaker),
            case_sensitive: globals.case_sensitive,
            whole_words: globals.whole_words,
            profile: profile.clone(),
        }
    }
}

impl Books {
    /// Collects, sorts and compiles.
    pub fn new(scene: &Scene, speaker: Option<&Character>, profile: &Profile) -> Self {
        Self::compile(scene, &BooksKey::of(scene, speaker, profile))
    }

    /// The same, when the key is known.
    pub fn compile(scene: &Scene, key: &BooksKey) -> Self {
        let source::Collected { entries, shares, mut warnings } =
            key.selection.entries(&scene.lore.books, &key.profile);
        let unicode = key.profile.on(&profile::LORE_MATCHING);
        let index = keys::Index::new(&entries, key.case_sensitive, key.whole_words, unicode);
        warnings.extend(index.invalid.iter().filter_map(|(at, text)| {
            let id = &entries.get(*at)?.id;
            Some(Warning::new(
                "lore_key",
                id,
                format!("the key {text} is no valid expression: it counts as plain text"),
            ))
        }));
        let standing =
            entries.iter().enumerate().filter(|(at, e)| !(e.disabled || e.waits() && index.indexed(*at)));
        let standing = standing.map(|(at, _)| at).collect();
        Self { entries, index, lines: text::LineCache::default(), standing, shares, warnings }
    }

    /// The entries, in evaluation order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What of the books could not be read as it was meant.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Applies regex scripts to an entry's text, given its depth.
pub type Scripts<'a> = dyn FnMut(&str, Option<f64>, &mut Host, &mut Effects) -> String + 'a;

/// Evaluates the books: which entries are active, and what they say where. `count` gives the tokens of a text as the budget counts
/// them; `scripts` applies regex scripts to an entry's text, given its depth.
#[expect(clippy::too_many_arguments, reason = "what is given: data, chance, costs, scripts")]
pub fn evaluate(
    books: &Books,
    input: &Input<'_>,
    env: &Env<'_>,
    profile: &Profile,
    count: &dyn Fn(&str) -> i64,
    scripts: &mut Scripts<'_>,
    host: &mut Host,
    effects: &mut Effects,
) -> LoreResult {
    effects.notes.extend(books.warnings.iter().cloned());
    if books.entries.is_empty() {
        timed::Timers::start(&[], input, profile).finish(std::iter::empty(), effects);
        return LoreResult::default();
    }
    let scanner = scan::Scanner::new(books, input, env, profile, host, effects);
    let scan::Found { active, verdicts, loops, budget, overflow } = scanner.run(count, scripts);
    let done = profile.on(&profile::LORE_BUDGET);
    let fixed = profile.on(&profile::LORE_PLACES);
    let result = collect::build(active, fixed, &mut |text, depth| {
        if done { text } else { scripts(&text, depth, host, effects) }
    });
    let (explained, untouched) = explain::records(&books.entries, verdicts);
    LoreResult { explained, untouched, loops, budget, overflow, ..result }
}
