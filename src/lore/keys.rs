//! Keys against the scan text: which keys of which entries match at a depth, with which sources, in which state.
//!
//! Plain keys without macros go through one automaton per case rule, and each segment of the scan text (message, source, injection,
//! recursion chunk) is looked at once. Keys with macros, regular expressions and the few keys that hold the segment mark U+0001 are
//! tested one by one. Spec: 03 §5, §6, Part 3 P2.

use indexmap::IndexMap;

use super::entry::Entry;
use super::pattern::{Bounds, Found, Patterns, is_whole};
use crate::js;
use crate::js::regexp::{Regex, Steps, Text};
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
    /// A regular expression without macros.
    Regex(Box<Regex>),
    /// Holds a macro: expanded when it is tested.
    Volatile(String),
    /// Holds the mark, or is blank: tested on the joined text.
    Slow(String),
}

/// How plain keys are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Upper and lower case differ.
    pub(super) case_sensitive: bool,
    /// Only whole words.
    pub(super) whole_words: bool,
    /// Unicode words, folded text, any run of blanks like any other (03 F9-F11, F14).
    pub(super) unicode: bool,
}

/// The keys of all entries of an evaluation.
#[derive(Debug)]
pub struct Index {
    rules: Vec<Rules>,
    primary: Vec<Vec<Key>>,
    secondary: Vec<Vec<Key>>,
    folded: Patterns,
    exact: Patterns,
    unicode: bool,
}

/// Text as keys see it when case does not count.
fn fold(text: &str, unicode: bool) -> String {
    if unicode { blanks(&names::key(text, Diacritics::Strict)) } else { js::lower(text) }
}

/// Text as keys see it when case counts.
fn exact(text: &str, unicode: bool) -> String {
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

impl Index {
    /// Compiles the keys of the entries, in their order.
    pub fn new(entries: &[Entry], case_sensitive: bool, whole_words: bool, unicode: bool) -> Self {
        let mut folded: IndexMap<String, ()> = IndexMap::new();
        let mut exact_keys: IndexMap<String, ()> = IndexMap::new();
        let mut this = Self {
            rules: Vec::with_capacity(entries.len()),
            primary: Vec::with_capacity(entries.len()),
            secondary: Vec::with_capacity(entries.len()),
            folded: Patterns::default(),
            exact: Patterns::default(),
            unicode,
        };
        for entry in entries {
            let rules = Rules {
                case_sensitive: entry.case_sensitive.unwrap_or(case_sensitive),
                whole_words: entry.whole_words.unwrap_or(whole_words),
                unicode,
            };
            let mut compile = |key: &Option<String>| -> Key {
                let Some(key) = key else { return Key::Never };
                if has_macro(key) {
                    return Key::Volatile(key.clone());
                }
                let key = js::trim(key);
                if let Some(regex) = regex_key(key) {
                    return Key::Regex(Box::new(regex));
                }
                if key.is_empty() {
                    // Blanks only: matches everything in the reference (03 F14).
                    return if unicode { Key::Never } else { Key::Slow(String::new()) };
                }
                if key.contains(MARK) {
                    return Key::Slow(key.to_owned());
                }
                let (list, text) = if rules.case_sensitive {
                    (&mut exact_keys, exact(key, unicode))
                } else {
                    (&mut folded, fold(key, unicode))
                };
                let (at, _) = list.insert_full(text, ());
                Key::Plain { pattern: at, open: !unicode && key.contains(js::is_space) }
            };
            this.primary.push(entry.keys.iter().map(&mut compile).collect());
            this.secondary.push(entry.secondary.iter().map(&mut compile).collect());
            this.rules.push(rules);
        }
        this.folded = Patterns::new(folded.keys().map(String::as_str));
        this.exact = Patterns::new(exact_keys.keys().map(String::as_str));
        this
    }
}

/// What a part of the scan text holds of the plain keys.
#[derive(Clone, Debug, Default)]
struct Hits {
    /// By pattern, then by `whole`: the smallest message index, or `u32::MAX`.
    messages: Vec<[u32; 2]>,
    /// By pattern, then by `whole`: bits of the six sources, of the injections (6) and of recursion (7).
    others: Vec<[u8; 2]>,
}

const INJECTED: u8 = 1 << 6;
const RECURSED: u8 = 1 << 7;

/// Which parts of the scan text an entry sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// Newest messages.
    pub(super) depth: usize,
    /// Bits of the sources.
    pub(super) sources: u8,
    /// Recursion text counts.
    pub(super) recursion: bool,
}

/// The scan text of one evaluation, as it grows.
#[derive(Debug)]
pub(super) struct ScanText<'a> {
    index: &'a Index,
    messages: Vec<&'a str>,
    sources: [&'a str; 6],
    injections: &'a [String],
    recursion: Vec<String>,
    folded: Hits,
    exact: Hits,
    scanned: usize,
    steps: Steps,
    /// Keys that ran out of steps, as `id: key`.
    pub(super) exceeded: Vec<String>,
    limit: u64,
}

impl Hits {
    fn new(patterns: usize) -> Self {
        Self { messages: vec![[u32::MAX; 2]; patterns], others: vec![[0; 2]; patterns] }
    }

    fn message(&mut self, key: usize, found: Found, at: u32) {
        if let Some([any, whole]) = self.messages.get_mut(key) {
            *any = (*any).min(at);
            if found.whole {
                *whole = (*whole).min(at);
            }
        }
    }

    fn other(&mut self, key: usize, found: Found, bit: u8) {
        if let Some([any, whole]) = self.others.get_mut(key) {
            *any |= bit;
            if found.whole {
                *whole |= bit;
            }
        }
    }

    fn has(&self, key: usize, whole: bool, view: View) -> bool {
        let way = usize::from(whole);
        let message = self.messages.get(key).and_then(|m| m.get(way)).copied().unwrap_or(u32::MAX);
        let other = self.others.get(key).and_then(|o| o.get(way)).copied().unwrap_or(0);
        let seen = view.sources | INJECTED | if view.recursion { RECURSED } else { 0 };
        (message as usize) < view.depth || other & seen != 0
    }
}

impl<'a> ScanText<'a> {
    /// The text before any recursion. `messages` newest first; at most 1000 are held.
    pub(super) fn new(
        index: &'a Index,
        messages: &'a [String],
        sources: [&'a str; 6],
        injections: &'a [String],
        steps: (u64, u64),
    ) -> Self {
        let mut this = Self {
            index,
            messages: messages.iter().take(1000).map(|m| js::trim(m)).collect(),
            sources,
            injections,
            recursion: Vec::new(),
            folded: Hits::new(index.folded.len()),
            exact: Hits::new(index.exact.len()),
            scanned: 0,
            steps: Steps::new(steps.1),
            exceeded: Vec::new(),
            limit: steps.0,
        };
        for (i, source) in sources.into_iter().enumerate() {
            this.note_other(source, 1 << i);
        }
        for injection in injections {
            this.note_other(injection, INJECTED);
        }
        this
    }

    fn bounds(&self) -> Bounds {
        if self.index.unicode { Bounds::Unicode } else { Bounds::Ascii }
    }

    fn note_other(&mut self, text: &str, bit: u8) {
        if text.is_empty() {
            return;
        }
        let (bounds, unicode) = (self.bounds(), self.index.unicode);
        let hits = &mut self.folded;
        self.index.folded.scan(&fold(text, unicode), bounds, |key, found| hits.other(key, found, bit));
        let hits = &mut self.exact;
        self.index.exact.scan(&exact(text, unicode), bounds, |key, found| hits.other(key, found, bit));
    }

    /// Looks at the messages up to a depth, those that were not looked at yet.
    fn reach(&mut self, depth: usize) {
        let (bounds, unicode) = (self.bounds(), self.index.unicode);
        while self.scanned < depth.min(self.messages.len()) {
            let at = u32::try_from(self.scanned).unwrap_or(u32::MAX);
            let text = self.messages.get(self.scanned).copied().unwrap_or("");
            let hits = &mut self.folded;
            self.index.folded.scan(&fold(text, unicode), bounds, |key, found| hits.message(key, found, at));
            let hits = &mut self.exact;
            self.index.exact.scan(&exact(text, unicode), bounds, |key, found| hits.message(key, found, at));
            self.scanned += 1;
        }
    }

    /// Adds a recursion chunk.
    pub(super) fn recurse(&mut self, text: String) {
        self.note_other(&text, RECURSED);
        self.recursion.push(text);
    }

    /// Whether there is recursion text.
    pub(super) fn has_recursion(&self) -> bool {
        !self.recursion.is_empty()
    }

    /// The parts that a view shows, joined as the reference joins them (spec 03 §5).
    pub(super) fn joined(&self, view: View) -> String {
        let separator = format!("\n{MARK}");
        let mut out = String::from(MARK);
        out.push_str(&self.messages.iter().take(view.depth).copied().collect::<Vec<_>>().join(&separator));
        let sources =
            self.sources.iter().enumerate().filter(|(i, s)| view.sources & (1 << i) != 0 && !s.is_empty());
        let parts = sources
            .map(|(_, s)| *s)
            .chain(self.injections.iter().map(String::as_str))
            .chain(self.recursion.iter().filter(|_| view.recursion).map(String::as_str));
        for part in parts {
            out.push_str(&separator);
            out.push_str(part);
        }
        out
    }

    /// Whether one key of an entry matches. `expand` is for keys with macros; `empty` means that the entry sees nothing at all
    /// (scan depth 0 in the reference, 03 F1).
    pub(super) fn matches(
        &mut self,
        entry: usize,
        id: &str,
        which: Which,
        expand: &mut dyn FnMut(&str) -> String,
        view: Option<View>,
    ) -> bool {
        let index = self.index;
        let (list, at) = match which {
            Which::Primary(at) => (&index.primary, at),
            Which::Secondary(at) => (&index.secondary, at),
        };
        let (Some(key), Some(rules)) =
            (list.get(entry).and_then(|l| l.get(at)), index.rules.get(entry).copied())
        else {
            return false;
        };
        match key {
            Key::Never => false,
            Key::Plain { pattern, open } => {
                let Some(view) = view else { return false };
                self.reach(view.depth);
                let hits = if rules.case_sensitive { &self.exact } else { &self.folded };
                hits.has(*pattern, rules.whole_words && !open, view)
            }
            Key::Regex(regex) => self.regex(regex, id, at, view),
            Key::Slow(key) => self.slow(key, rules, view),
            Key::Volatile(source) => {
                let key = expand(source);
                self.single(&key, rules, id, at, view)
            }
        }
    }

    /// A key that is not in the automata, as it is after macros.
    fn single(&mut self, key: &str, rules: Rules, id: &str, at: usize, view: Option<View>) -> bool {
        if key.is_empty() {
            return false;
        }
        let key = js::trim(key);
        if key.is_empty() && rules.unicode {
            return false;
        }
        match regex_key(key) {
            Some(regex) => self.regex(&regex, id, at, view),
            None => self.slow(key, rules, view),
        }
    }

    fn regex(&mut self, regex: &Regex, id: &str, at: usize, view: Option<View>) -> bool {
        let text = Text::from(view.map_or_else(String::new, |v| self.joined(v)).as_str());
        // One test may take so much; all tests of an evaluation together so much.
        let allowed = self.limit.min(self.steps.left());
        let mut steps = Steps::new(allowed);
        let found = regex.test(&text, &mut steps);
        self.steps = Steps::new(self.steps.left().saturating_sub(allowed - steps.left()));
        found.unwrap_or_else(|_| {
            let note = format!("{id} key {at}");
            if !self.exceeded.contains(&note) {
                self.exceeded.push(note);
            }
            false
        })
    }

    /// A plain key on the joined text.
    fn slow(&self, key: &str, rules: Rules, view: Option<View>) -> bool {
        let joined = view.map_or_else(String::new, |v| self.joined(v));
        plain(&joined, key, rules)
    }

    /// Number of keys of a list that match, keys taken as they stand in the file (03 §11 scoring).
    pub(super) fn count_raw(
        &mut self,
        keys: &[Option<String>],
        entry: usize,
        id: &str,
        view: Option<View>,
    ) -> usize {
        let Some(rules) = self.index.rules.get(entry).copied() else { return 0 };
        let mut n = 0;
        for (at, key) in keys.iter().enumerate() {
            let Some(key) = key else { continue };
            let found = match regex_key(key) {
                Some(regex) => self.regex(&regex, id, at, view),
                None => self.slow(key, rules, view),
            };
            n += usize::from(found);
        }
        n
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

/// A plain key against a text (spec 03 §6.1).
pub(super) fn plain(text: &str, key: &str, rules: Rules) -> bool {
    let (text, key) = if rules.case_sensitive {
        (exact(text, rules.unicode), exact(key, rules.unicode))
    } else {
        (fold(text, rules.unicode), fold(key, rules.unicode))
    };
    let several_words = key.contains(js::is_space);
    if !rules.whole_words || (several_words && !rules.unicode) {
        return text.contains(&key);
    }
    let bounds = if rules.unicode { Bounds::Unicode } else { Bounds::Ascii };
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|t| t.find(&key)) {
        let start = from + at;
        if is_whole(&text, start, start + key.len(), bounds) {
            return true;
        }
        // Occurrences may overlap: go on one character further.
        from = start + text.get(start..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8);
    }
    false
}
