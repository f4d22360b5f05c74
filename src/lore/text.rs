//! The scan text of one evaluation: chat lines, card texts, injections and recursion chunks -> which keys match in what an entry sees.
//!
//! Each part is run through the automata once, and what a chat line holds is remembered from request to request. Spec: 03 §5, Part 3
//! P2. Must not know what follows from a match.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::Lines;
use super::keys::{Index, Key, MARK, Rules, Which, exact, fold, plain, regex_key, side};
use crate::host::Host;
use crate::js;
use crate::js::regexp::{Regex, Text};

/// A pattern that a text holds: which automaton, which pattern, as a whole word somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    side: u8,
    whole: bool,
    pattern: u32,
}

/// What chat lines hold, by their text, for the next requests.
#[derive(Debug, Default)]
pub(super) struct LineCache(Mutex<BTreeMap<String, Arc<[Hit]>>>);

/// Lines that are remembered; more are looked at anew.
const REMEMBERED: usize = 4096;

impl LineCache {
    fn hits(&self, index: &Index, text: &str) -> Arc<[Hit]> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lines.get(text) {
            return Arc::clone(known);
        }
        let found: Arc<[Hit]> = hits(index, text).into();
        if lines.len() >= REMEMBERED {
            lines.clear();
        }
        lines.insert(text.to_owned(), Arc::clone(&found));
        found
    }
}

/// All patterns that a text holds, each at most once a way.
fn hits(index: &Index, text: &str) -> Vec<Hit> {
    let mut found = Vec::new();
    for (i, patterns) in index.plain.iter().enumerate() {
        if text.is_empty() || patterns.len() == 0 {
            continue;
        }
        let text = if i == side(true) { exact(text, index.unicode) } else { fold(text, index.unicode) };
        patterns.scan(&text, index.bounds(), |pattern, hit| {
            found.push(Hit {
                side: u8::from(i == side(true)),
                whole: hit.whole,
                pattern: u32::try_from(pattern).unwrap_or(u32::MAX),
            });
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What the parts of the scan text hold of the plain keys.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// By pattern, then by `whole`: the smallest message index, or `u32::MAX`.
    messages: Vec<[u32; 2]>,
    /// By pattern, then by `whole`: bits of the six sources, of the injections (6) and of recursion (7).
    others: Vec<[u8; 2]>,
}

const INJECTED: u8 = 1 << 6;
const RECURSED: u8 = 1 << 7;

/// Which parts of the scan text an entry sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct View {
    /// Newest messages.
    pub(super) depth: usize,
    /// Bits of the sources.
    pub(super) sources: u8,
    /// Recursion text counts.
    pub(super) recursion: bool,
}

impl Seen {
    fn new(patterns: usize) -> Self {
        Self { messages: vec![[u32::MAX; 2]; patterns], others: vec![[0; 2]; patterns] }
    }

    fn has(&self, key: usize, whole: bool, view: View) -> bool {
        let way = usize::from(whole);
        let message = self.messages.get(key).and_then(|m| m.get(way)).copied().unwrap_or(u32::MAX);
        let other = self.others.get(key).and_then(|o| o.get(way)).copied().unwrap_or(0);
        let seen = view.sources | INJECTED | if view.recursion { RECURSED } else { 0 };
        (message as usize) < view.depth || other & seen != 0
    }
}

/// Where a hit stands.
#[derive(Clone, Copy)]
enum Place {
    Message(u32),
    Other(u8),
}

/// What a view shows, joined, in the forms in which keys want it.
#[derive(Debug, Default)]
struct Joined {
    exact: Arc<str>,
    folded: Option<Arc<str>>,
    units: Option<Arc<Text>>,
}

/// The scan text of one evaluation, as it grows.
#[derive(Debug)]
pub(super) struct ScanText<'a> {
    index: &'a Index,
    lines: &'a LineCache,
    messages: Vec<&'a str>,
    sources: [&'a str; 6],
    injections: &'a [String],
    recursion: Vec<String>,
    seen: [Seen; 2],
    reached: usize,
    /// Entries with a primary key that some part holds.
    touched: Vec<bool>,
    /// Those of them that were not asked for yet.
    fresh: Vec<usize>,
    joined: BTreeMap<View, Joined>,
    /// Results of keys on joined text: views with recursion text are forgotten when that grows.
    results: BTreeMap<(View, Test), bool>,
    /// Keys with macros that turned out to be expressions.
    compiled: BTreeMap<String, Option<Arc<Regex>>>,
    /// Expressions that ran out of steps: they are not tried again.
    stopped: BTreeSet<usize>,
    /// The entries whose keys those were.
    pub(super) exceeded: Vec<String>,
}

/// What was tested on a joined text.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Test {
    Plain(Rules, String),
    /// By its address, which stays while it is compiled.
    Regex(usize),
}

impl<'a> ScanText<'a> {
    /// The text before any recursion. `messages` newest first; at most [`Lines::MOST`] are held.
    pub(super) fn new(
        index: &'a Index,
        lines: &'a LineCache,
        messages: &'a [String],
        sources: [&'a str; 6],
        injections: &'a [String],
        entries: usize,
    ) -> Self {
        let mut this = Self {
            index,
            lines,
            messages: messages.iter().take(Lines::MOST).map(|m| js::trim(m)).collect(),
            sources,
            injections,
            recursion: Vec::new(),
            seen: [0, 1].map(|i| Seen::new(index.plain.get(i).map_or(0, super::pattern::Patterns::len))),
            reached: 0,
            touched: vec![false; entries],
            fresh: Vec::new(),
            joined: BTreeMap::new(),
            results: BTreeMap::new(),
            compiled: BTreeMap::new(),
            stopped: BTreeSet::new(),
            exceeded: Vec::new(),
        };
        // Card texts stay the same from request to request, too.
        for (i, source) in sources.into_iter().enumerate() {
            let found = lines.hits(index, source);
            this.note(&found, Place::Other(1 << i));
        }
        for injection in injections {
            let found = lines.hits(index, injection);
            this.note(&found, Place::Other(INJECTED));
        }
        this
    }

    fn note(&mut self, found: &[Hit], place: Place) {
        for hit in found {
            let (at, way) = (hit.pattern as usize, usize::from(hit.whole));
            let Some(seen) = self.seen.get_mut(usize::from(hit.side)) else { continue };
            // A whole word is an occurrence, too.
            for way in 0..=way {
                match place {
                    Place::Message(n) => {
                        if let Some(slot) = seen.messages.get_mut(at).and_then(|m| m.get_mut(way)) {
                            *slot = (*slot).min(n);
                        }
                    }
                    Place::Other(bit) => {
                        if let Some(slot) = seen.others.get_mut(at).and_then(|o| o.get_mut(way)) {
                            *slot |= bit;
                        }
                    }
                }
            }
            let users = self.index.users.get(usize::from(hit.side)).and_then(|u| u.get(at));
            for &user in users.into_iter().flatten() {
                if let Some(touched) = self.touched.get_mut(user as usize).filter(|t| !**t) {
                    *touched = true;
                    self.fresh.push(user as usize);
                }
            }
        }
    }

    /// Looks at the messages up to a depth, those that were not looked at yet.
    pub(super) fn reach(&mut self, depth: usize) {
        while self.reached < depth.min(self.messages.len()) {
            let text = self.messages.get(self.reached).copied().unwrap_or("");
            let found = self.lines.hits(self.index, text);
            self.note(&found, Place::Message(u32::try_from(self.reached).unwrap_or(u32::MAX)));
            self.reached += 1;
        }
    }

    /// Whether a part that was looked at holds a primary key of an entry.
    pub(super) fn touched(&self, entry: usize) -> bool {
        self.touched.get(entry).copied().unwrap_or(false)
    }

    /// The entries that were touched since this was last asked.
    pub(super) fn newly_touched(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.fresh)
    }

    /// Adds a recursion chunk.
    pub(super) fn recurse(&mut self, text: String) {
        let found = hits(self.index, &text);
        self.note(&found, Place::Other(RECURSED));
        self.recursion.push(text);
        self.joined.retain(|view, _| !view.recursion);
        self.results.retain(|(view, _), _| !view.recursion);
    }

    /// Whether there is recursion text.
    pub(super) fn has_recursion(&self) -> bool {
        !self.recursion.is_empty()
    }

    /// The parts that a view shows, joined as the reference joins them (spec 03 §5).
    fn join(&self, view: View) -> String {
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

    fn joined(&mut self, view: View) -> &mut Joined {
        if !self.joined.contains_key(&view) {
            let exact: Arc<str> = self.join(view).into();
            self.joined.insert(view, Joined { exact, ..Joined::default() });
        }
        self.joined.entry(view).or_default()
    }

    /// Whether one key of an entry matches. `expand` is for keys with macros; no view means that the entry sees nothing at all (scan
    /// depth 0 in the reference, 03 F1).
    pub(super) fn matches(
        &mut self,
        entry: usize,
        id: &str,
        which: Which,
        view: Option<View>,
        expand: &mut dyn FnMut(&str, &mut Host) -> String,
        host: &mut Host,
    ) -> bool {
        let index = self.index;
        let Some((key, rules)) = index.key(entry, which) else { return false };
        match key {
            Key::Never => false,
            Key::Plain { pattern, open } => {
                let Some(view) = view else { return false };
                self.reach(view.depth);
                let seen = self.seen.get(side(rules.case_sensitive));
                seen.is_some_and(|s| s.has(*pattern, rules.whole_words && !open, view))
            }
            Key::Regex(at) => {
                let Some(regex) = index.regex(*at) else { return false };
                self.regex(regex, id, view, host)
            }
            Key::Slow(key) => self.slow(key, rules, view),
            Key::Volatile(source) => {
                let key = expand(source, host);
                let trimmed = js::trim(&key);
                if key.is_empty() || (trimmed.is_empty() && rules.unicode) {
                    return false;
                }
                self.single(trimmed, rules, id, view, host)
            }
        }
    }

    /// A key that is not in the automata, as it is after macros.
    fn single(&mut self, key: &str, rules: Rules, id: &str, view: Option<View>, host: &mut Host) -> bool {
        if !key.starts_with('/') {
            return self.slow(key, rules, view);
        }
        let index = self.index;
        if let Some(regex) = index.regex_named(key).and_then(|at| index.regex(at)) {
            return self.regex(regex, id, view, host);
        }
        let compiled =
            self.compiled.entry(key.to_owned()).or_insert_with(|| regex_key(key).map(Arc::new)).clone();
        match compiled {
            Some(regex) => self.regex(&regex, id, view, host),
            None => self.slow(key, rules, view),
        }
    }

    /// An expression on what a view shows.
    fn regex(&mut self, regex: &Regex, id: &str, view: Option<View>, host: &mut Host) -> bool {
        let address = std::ptr::from_ref(regex).addr();
        if self.stopped.contains(&address) {
            return false;
        }
        let key = view.map(|view| (view, Test::Regex(address)));
        if let Some(known) = key.as_ref().and_then(|k| self.results.get(k)) {
            return *known;
        }
        let text = match view {
            None => Arc::new(Text::from("")),
            Some(view) => {
                let joined = self.joined(view);
                let exact = Arc::clone(&joined.exact);
                Arc::clone(joined.units.get_or_insert_with(|| Arc::new(Text::from(&*exact))))
            }
        };
        let given = host.regex_steps();
        let mut steps = given;
        let found = regex.test(&text, &mut steps);
        host.spend_regex_steps(given, steps);
        let Ok(found) = found else {
            self.stopped.insert(address);
            self.exceeded.push(id.to_owned());
            return false;
        };
        if let Some(key) = key {
            self.results.insert(key, found);
        }
        found
    }

    /// A plain key on what a view shows.
    fn slow(&mut self, key: &str, rules: Rules, view: Option<View>) -> bool {
        let Some(view) = view else { return plain("", key, rules) };
        let name = (view, Test::Plain(rules, key.to_owned()));
        if let Some(known) = self.results.get(&name) {
            return *known;
        }
        let unicode = self.index.unicode;
        let joined = self.joined(view);
        let text = if rules.case_sensitive {
            if unicode { exact(&joined.exact, true).into() } else { Arc::clone(&joined.exact) }
        } else {
            let whole = Arc::clone(&joined.exact);
            Arc::clone(joined.folded.get_or_insert_with(|| fold(&whole, unicode).into()))
        };
        let found = plain(&text, key, rules);
        self.results.insert(name, found);
        found
    }

    /// Number of keys of a list that match, keys taken as they stand in the file (03 §11 scoring).
    pub(super) fn count_raw(
        &mut self,
        keys: &[Option<String>],
        entry: usize,
        id: &str,
        view: Option<View>,
        host: &mut Host,
    ) -> usize {
        let Some(rules) = self.index.rules(entry) else { return 0 };
        keys.iter().flatten().filter(|key| self.single(key, rules, id, view, host)).count()
    }
}
