//! Keys of entries, compiled: plain keys without macros go into one automaton per case rule; regular expressions, keys with macros
//! and the few keys that hold the segment mark U+0001 stand by themselves.
//!
//! Entries in -> [`Index`] out. Spec: 03 §6, Part 3 P2. Must not know the chat.

use indexmap::IndexMap;

use super::entry::Entry;
use super::pattern::{Bounds, Patterns, is_whole};
use crate::js;
use crate::js::regexp::Regex;
use crate::names::{self, Diacritics};

/// The mark between the parts of a scan text.
pub(super) const MARK: char = '\u{1}';

/// A key, ready to be tested.
#[derive(Debug)]
pub(super) enum Key {
    /// Cannot match: falsy in the file.
    Never,
    /// No macros: a place in the automaton of its case rule. `open`: several words, for which the reference checks no boundaries.
    Plain {
        /// Index of the pattern.
        pattern: usize,
        /// See above.
        open: bool,
    },
    /// A regular expression without macros: its index.
    Regex(usize),
    /// Holds a macro: expanded when it is tested.
    Volatile(String),
    /// Holds the mark, or is blank: tested on the joined text.
    Slow(String),
}

/// How plain keys are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rules {
    /// Upper and lower case differ.
    pub(super) case_sensitive: bool,
    /// Only whole words.
    pub(super) whole_words: bool,
    /// Unicode words, folded text, any run of blanks like any other (03 F9-F11, F14).
    pub(super) unicode: bool,
}

/// The keys of all entries of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Index {
    rules: Vec<Rules>,
    primary: Vec<Vec<Key>>,
    secondary: Vec<Vec<Key>>,
    indexed: Vec<bool>,
    /// Keys that ignore case, and those that do not.
    pub(super) plain: [Patterns; 2],
    /// For each of the two: by pattern, the entries that have it as a primary key.
    pub(super) users: [Vec<Vec<u32>>; 2],
    /// Compiled expressions, each once, by their text.
    regexes: IndexMap<String, Regex>,
    /// Words of any script, folded text.
    pub(super) unicode: bool,
    /// Keys that look like regular expressions and do not compile: entry and key (03 F12).
    pub(super) invalid: Vec<(usize, String)>,
}

/// Which of the two automata.
pub(super) const fn side(case_sensitive: bool) -> usize {
    if case_sensitive { 1 } else { 0 }
}

/// Text as keys see it when case does not count.
pub(super) fn fold(text: &str, unicode: bool) -> String {
    if unicode { blanks(&names::key(text, Diacritics::Strict)) } else { js::lower(text) }
}

/// Text as keys see it when case counts.
pub(super) fn exact(text: &str, unicode: bool) -> String {
    if unicode { blanks(text) } else { text.to_owned() }
}

/// Each run of white space as one blank.
fn blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = false;
    for c in text.chars() {
        let space = js::is_space(c);
        if !(space && last) {
            out.push(if space { ' ' } else { c });
        }
        last = space;
    }
    out
}

/// Whether a text may hold a macro.
fn has_macro(text: &str) -> bool {
    text.contains("{{") || text.contains('<')
}

/// `/pattern/flags` as a regular expression (spec 03 §6.2); anything else, and what does not compile, is a plain key.
pub(super) fn regex_key(key: &str) -> Option<Regex> {
    let body = key.strip_prefix('/')?;
    let end = body.rfind('/')?;
    let (pattern, flags) = (body.get(..end)?, body.get(end + 1..)?);
    if pattern.is_empty() || !flags.chars().all(|c| "gimsuy".contains(c)) {
        return None;
    }
    let mut before = None;
    for c in pattern.chars() {
        if c == '/' && before != Some('\\') {
            return None;
        }
        before = Some(c);
    }
    Regex::new(&pattern.replacen("\\/", "/", 1), flags).ok()
}

/// The keys of a comma-separated text, as editors show a list of them: commas inside `/expressions/` do not separate (spec 03 §1.6).
///
/// ```
/// assert_eq!(promptside::lore::split_keys("龍, /a,b/i"), ["龍", "/a,b/i"]);
/// ```
pub fn split_keys(text: &str) -> Vec<String> {
    let (mut keys, mut from, mut open, mut before) = (Vec::new(), 0, false, None);
    let mut add = |key: &str, last: bool| {
        let key = js::trim(key);
        // What begins like an expression and is none is a list after all; not so the rest behind the last comma.
        let parts =
            key.split(if key.starts_with('/') && !last && regex_key(key).is_none() { ',' } else { '\0' });
        keys.extend(parts.map(js::trim).filter(|k| !k.is_empty()).map(str::to_owned));
    };
    for (at, c) in text.char_indices() {
        // The first character behind a comma is no opening slash.
        let first = from > 0 && at == from;
        if c == '/' && before != Some('\\') && !first {
            open = !open;
        } else if c == ',' && !open {
            add(text.get(from..at).unwrap_or(""), false);
            from = at + 1;
        }
        before = Some(c);
    }
    add(text.get(from..).unwrap_or(""), true);
    keys
}

/// Whether a key was meant to be a regular expression.
fn looks_like_regex(key: &str) -> bool {
    let end = key.strip_prefix('/').and_then(|body| Some((body, body.rfind('/')?)));
    end.is_some_and(|(body, end)| {
        end > 0 && body.get(end + 1..).is_some_and(|flags| flags.bytes().all(|b| b.is_ascii_lowercase()))
    })
}

impl Index {
    /// Compiles the keys of the entries, in their order.
    pub(super) fn new(entries: &[Entry], case_sensitive: bool, whole_words: bool, unicode: bool) -> Self {
        let mut texts: [IndexMap<String, ()>; 2] = Default::default();
        let mut this = Self { unicode, ..Self::default() };
        for (at, entry) in entries.iter().enumerate() {
            let rules = Rules {
                case_sensitive: entry.case_sensitive.unwrap_or(case_sensitive),
                whole_words: entry.whole_words.unwrap_or(whole_words),
                unicode,
            };
            let primary =
                entry.keys.iter().map(|k| this.compile(k.as_deref(), at, rules, &mut texts)).collect();
            let secondary =
                entry.secondary.iter().map(|k| this.compile(k.as_deref(), at, rules, &mut texts)).collect();
            this.primary.push(primary);
            this.secondary.push(secondary);
            let indexed = |keys: &Vec<Key>| keys.iter().all(|k| matches!(k, Key::Plain { .. } | Key::Never));
            this.indexed.push(this.primary.last().is_some_and(indexed));
            this.rules.push(rules);
        }
        this.plain = texts.map(|list| Patterns::new(list.keys().map(String::as_str)));
        this.users = [0, 1].map(|side| vec![Vec::new(); this.plain.get(side).map_or(0, Patterns::len)]);
        for (at, keys) in this.primary.iter().enumerate() {
            let case_sensitive = this.rules.get(at).is_some_and(|r| r.case_sensitive);
            for key in keys {
                if let Key::Plain { pattern, .. } = key
                    && let Some(list) =
                        this.users.get_mut(side(case_sensitive)).and_then(|u| u.get_mut(*pattern))
                {
                    list.push(u32::try_from(at).unwrap_or(u32::MAX));
                }
            }
        }
        this
    }

    fn compile(
        &mut self,
        key: Option<&str>,
        at: usize,
        rules: Rules,
        texts: &mut [IndexMap<String, ()>; 2],
    ) -> Key {
        let Some(key) = key.filter(|k| !k.is_empty()) else { return Key::Never };
        if has_macro(key) {
            return Key::Volatile(key.to_owned());
        }
        let key = js::trim(key);
        if let Some(known) = self.regexes.get_index_of(key) {
            return Key::Regex(known);
        }
        if let Some(regex) = regex_key(key) {
            return Key::Regex(self.regexes.insert_full(key.to_owned(), regex).0);
        }
        if looks_like_regex(key) {
            self.invalid.push((at, key.to_owned()));
        }
        if key.is_empty() {
            // Blanks only: matches everything in the reference (03 F14).
            return if rules.unicode { Key::Never } else { Key::Slow(String::new()) };
        }
        if key.contains(MARK) {
            return Key::Slow(key.to_owned());
        }
        let text = if rules.case_sensitive { exact(key, rules.unicode) } else { fold(key, rules.unicode) };
        let Some(list) = texts.get_mut(side(rules.case_sensitive)) else { return Key::Never };
        let (pattern, _) = list.insert_full(text, ());
        Key::Plain { pattern, open: !rules.unicode && key.contains(js::is_space) }
    }

    /// A key of an entry, and how the entry compares.
    pub(super) fn key(&self, entry: usize, which: Which) -> Option<(&Key, Rules)> {
        let key = match which {
            Which::Primary(at) => self.primary.get(entry)?.get(at)?,
            Which::Secondary(at) => self.secondary.get(entry)?.get(at)?,
        };
        Some((key, *self.rules.get(entry)?))
    }

    /// How an entry compares.
    pub(super) fn rules(&self, entry: usize) -> Option<Rules> {
        self.rules.get(entry).copied()
    }

    /// A compiled expression.
    pub(super) fn regex(&self, at: usize) -> Option<&Regex> {
        self.regexes.get_index(at).map(|(_, regex)| regex)
    }

    /// Its index by its text.
    pub(super) fn regex_named(&self, key: &str) -> Option<usize> {
        self.regexes.get_index_of(key)
    }

    /// All primary keys of an entry are in the automata: without a hit there it cannot match.
    pub(super) fn indexed(&self, entry: usize) -> bool {
        self.indexed.get(entry).copied().unwrap_or(false)
    }

    pub(super) const fn bounds(&self) -> Bounds {
        if self.unicode { Bounds::Unicode } else { Bounds::Ascii }
    }
}

/// Which key of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Of the primary ones.
    Primary(usize),
    /// Of the secondary ones.
    Secondary(usize),
}

/// A plain key against a text that is folded already where case does not count (spec 03 §6.1).
pub(super) fn plain(text: &str, key: &str, rules: Rules) -> bool {
    let key = if rules.case_sensitive { exact(key, rules.unicode) } else { fold(key, rules.unicode) };
    let several_words = key.contains(js::is_space);
    if !rules.whole_words || (several_words && !rules.unicode) {
        return text.contains(&key);
    }
    let bounds = if rules.unicode { Bounds::Unicode } else { Bounds::Ascii };
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|t| t.find(&key)) {
        let start = from + at;
        if is_whole(text, start, start + key.len(), bounds) {
            return true;
        }
        // Occurrences may overlap: go on one character further.
        let step = text.get(start..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8);
        from = start + step;
    }
    false
}
