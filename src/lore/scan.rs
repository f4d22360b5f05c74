//! The scan: entries and a chat -> which entries are active, loop by loop.
//!
//! Spec: 03 §3, §7-§13. Differs from ST under `lore.*`. Knows keys, groups, timers, budget. Must not know where texts go (`place`).

use indexmap::IndexMap;
use serde_json::Value;

use super::entry::{Entry, Logic};
use super::explain::{Cause, Loop, Outcome, Reason, Verdict};
use super::keys::Which;
use super::source::stem;
use super::text::{ScanText, View};
use super::timed::Timers;
use super::{Books, Input, groups};
use crate::error::Warning;
use crate::host::{Host, Site};
use crate::js;
use crate::macros::{self, Env};
use crate::parts::Effects;
use crate::profile::{self, Profile};

/// Global settings of a scan (spec 03 §1.7).
#[expect(clippy::struct_excessive_bools, reason = "these are the switches of a settings page")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Globals {
    depth: f64,
    min_activations: f64,
    min_depth_max: f64,
    percent: f64,
    cap: f64,
    recursive: bool,
    pub(super) group_scoring: bool,
    max_steps: f64,
    pub(super) case_sensitive: bool,
    pub(super) whole_words: bool,
}

impl Globals {
    pub(super) fn of(settings: &crate::scene::Object) -> Self {
        let number = |key: &str, missing: f64| settings.get(key).map_or(missing, js::value_to_number);
        let flag = |key: &str, missing: bool| settings.get(key).map_or(missing, js::to_boolean);
        Self {
            depth: number("world_info_depth", 2.0),
            min_activations: number("world_info_min_activations", 0.0),
            min_depth_max: number("world_info_min_activations_depth_max", 0.0),
            percent: number("world_info_budget", 25.0),
            cap: number("world_info_budget_cap", 0.0),
            recursive: flag("world_info_recursive", true),
            group_scoring: flag("world_info_use_group_scoring", false),
            max_steps: number("world_info_max_recursion_steps", 0.0),
            case_sensitive: flag("world_info_case_sensitive", false),
            whole_words: flag("world_info_match_whole_words", true),
        }
    }
}

/// State of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "LoreState"))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The end.
    None,
    /// The first loop.
    Initial,
    /// Text of active entries is looked into.
    Recursion,
    /// Deeper messages are looked into.
    MinActivations,
}

/// An active entry: which, and its text after macros.
#[derive(Clone, Debug)]
pub(super) struct Active {
    /// The object that is active: the stored entry or the forced one.
    pub(super) what: Entry,
    /// Text after macros.
    pub(super) text: String,
}

/// What a scan found.
pub(super) struct Found {
    pub(super) active: Vec<Active>,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) loops: Vec<Loop>,
    pub(super) budget: i64,
    pub(super) overflow: bool,
}

/// A candidate of one loop.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) entry: usize,
    pub(super) forced: Option<Box<Entry>>,
    pub(super) cause: Cause,
}

/// Everything the loop needs, together.
pub(super) struct Scanner<'a, 'e> {
    books: &'a Books,
    pub(super) entries: &'a [Entry],
    pub(super) input: &'a Input<'a>,
    pub(super) env: &'a Env<'e>,
    pub(super) profile: &'a Profile,
    pub(super) globals: Globals,
    pub(super) timers: Timers,
    pub(super) text: ScanText<'a>,
    pub(super) host: &'a mut Host,
    pub(super) effects: &'a mut Effects,
    /// Keys with macros, expanded: once per evaluation where the profile says so (03 F17).
    expanded: IndexMap<String, String>,
    forced: IndexMap<String, Entry>,
    skew: f64,
    state: State,
    failed: Vec<bool>,
    /// Tokens spent by books that have a share.
    spent: IndexMap<String, i64>,
    active: IndexMap<String, Active>,
    verdicts: Vec<Verdict>,
    /// Entries that may still become active, in order.
    pending: Vec<usize>,
    round: u32,
}

impl<'a, 'e> Scanner<'a, 'e> {
    pub(super) fn new(
        books: &'a Books,
        input: &'a Input<'a>,
        env: &'a Env<'e>,
        profile: &'a Profile,
        host: &'a mut Host,
        effects: &'a mut Effects,
    ) -> Self {
        let globals = Globals::of(input.settings);
        let entries = books.entries.as_slice();
        let timers = Timers::start(entries, input, profile);
        let forced = input
            .forced
            .iter()
            .filter_map(|raw| {
                let world = raw.get("world").and_then(Value::as_str)?;
                let entry = Entry::new(world, raw, super::Source::Global, profile)?;
                raw.get("uid").map(|_| (entry.id.clone(), entry))
            })
            .collect();
        Self {
            text: ScanText::new(
                &books.index,
                &books.lines,
                &input.lines.newest,
                input.sources,
                input.injections,
                entries.len(),
            ),
            verdicts: vec![Verdict::default(); entries.len()],
            pending: (0..entries.len()).collect(),
            books,
            failed: vec![false; entries.len()],
            spent: IndexMap::new(),
            entries,
            input,
            env,
            profile,
            globals,
            timers,
            host,
            effects,
            expanded: IndexMap::new(),
            forced,
            skew: 0.0,
            state: State::Initial,
            active: IndexMap::new(),
            round: 0,
        }
    }

    /// The parts of the text that an entry sees now; `None` when it sees nothing at all.
    pub(super) fn view(&self, entry: &Entry) -> Option<View> {
        let depth = entry.scan_depth.unwrap_or(self.globals.depth + self.skew);
        self.view_of(depth, entry.sources.bits())
    }

    fn view_of(&self, given: f64, sources: u8) -> Option<View> {
        let recursion = self.state != State::MinActivations
            && (self.globals.recursive || !self.profile.on(&profile::LORE_RECURSION));
        let depth = if given.is_nan() || given < 0.0 { 0.0 } else { given.min(1000.0) };
        let depth = usize::try_from(js::to_integer(depth)).unwrap_or(0);
        // At depth 0 the reference's text is empty, other parts included (03 F1).
        let blind = given <= 0.0;
        (!blind || self.profile.on(&profile::LORE_SCAN)).then_some(View { depth, sources, recursion })
    }

    fn key_matches(&mut self, at: usize, which: Which, view: Option<View>) -> bool {
        let once = self.profile.on(&profile::LORE_SCAN);
        let Self { text, host, effects, expanded, env, entries, .. } = self;
        let Some(entry) = entries.get(at) else { return false };
        let mut expand = |key: &str, host: &mut Host| {
            if let (true, Some(done)) = (once, expanded.get(key)) {
                return done.clone();
            }
            let out = macros::expand(key, env, host, effects);
            if once {
                expanded.insert(key.to_owned(), out.clone());
            }
            out
        };
        text.matches(at, &entry.id, which, view, &mut expand, host)
    }

    /// The entries that activate in this loop. Those that no later loop can change leave the list of the pending ones.
    fn candidates(&mut self, level: f64) -> Vec<Candidate> {
        if let Some(view) = self.view_of(self.globals.depth + self.skew, 0) {
            self.text.reach(view.depth);
        }
        let first = self.round == 1;
        let mut new = Vec::new();
        let mut pending = std::mem::take(&mut self.pending);
        pending.retain(|&at| {
            // Nothing that was looked at holds one of its keys, and that is all that it waits for.
            let waits = self.verdicts.get(at).is_some_and(|v| v.reason == Some(Reason::NoPrimaryMatch));
            if !first && waits && !self.text.touched(at) && self.books.index.indexed(at) {
                return true;
            }
            match self.check(at, level) {
                Ok(candidate) => {
                    new.push(candidate);
                    true
                }
                Err(Reason::Decided) => false,
                Err(reason) => {
                    let stays = !reason.is_final();
                    self.explain(at, Outcome::Skipped, Some(reason));
                    stays
                }
            }
        });
        self.pending = pending;
        new
    }

    /// Section 7: whether an entry activates now, and why or why not.
    fn check(&mut self, at: usize, level: f64) -> Result<Candidate, Reason> {
        let entries = self.entries;
        let Some(entry) = entries.get(at) else { return Err(Reason::Disabled) };
        if self.failed.get(at).copied().unwrap_or(false) || self.active.contains_key(&entry.id) {
            return Err(Reason::Decided);
        }
        if entry.disabled {
            return Err(Reason::Disabled);
        }
        if !entry.triggers.is_empty() && !entry.triggers.iter().any(|t| t == self.input.trigger) {
            return Err(Reason::Trigger);
        }
        if let Some(reason) = self.filtered(entry) {
            return Err(reason);
        }
        let sticky = self.timers.sticky(at);
        if let Some(needed) = self.timers.delayed(entry) {
            return Err(Reason::Delay { needed });
        }
        if self.timers.cooling(at) && !sticky {
            return Err(Reason::Cooldown);
        }
        if let Some(own) = entry.delay_level {
            if self.state != State::Recursion && !sticky {
                return Err(Reason::DelayUntilRecursion { level: own });
            }
            if self.state == State::Recursion && own > level && !sticky {
                return Err(Reason::DelayUntilRecursion { level: own });
            }
        }
        let honours = self.globals.recursive || self.profile.on(&profile::LORE_RECURSION);
        if self.state == State::Recursion && honours && entry.exclude_recursion && !sticky {
            return Err(Reason::ExcludeRecursion);
        }
        let candidate = |cause: Cause| Candidate { entry: at, forced: None, cause };
        if entry.decorators.iter().any(|d| d == "@@activate") {
            return Ok(candidate(Cause::Decorator));
        }
        if entry.decorators.iter().any(|d| d == "@@dont_activate") {
            return Err(Reason::DontActivate);
        }
        if let Some(object) = self.forced.get(&entry.id) {
            return Ok(Candidate { entry: at, forced: Some(Box::new(object.clone())), cause: Cause::Forced });
        }
        if entry.constant {
            return Ok(candidate(Cause::Constant));
        }
        if sticky {
            return Ok(candidate(Cause::Sticky));
        }
        if entry.keys.is_empty() {
            return Err(Reason::NoKeys);
        }
        // The parts that it sees were looked at, and hold none of its keys.
        if entry.scan_depth.is_none() && !self.text.touched(at) && self.books.index.indexed(at) {
            return Err(Reason::NoPrimaryMatch);
        }
        let view = self.view(entry);
        let Some(key) = (0..entry.keys.len()).find(|k| self.key_matches(at, Which::Primary(*k), view)) else {
            return Err(Reason::NoPrimaryMatch);
        };
        let cause = Cause::Key { key, text: entry.keys.get(key).cloned().flatten().unwrap_or_default() };
        if !entry.selective || entry.secondary.is_empty() {
            return Ok(candidate(cause));
        }
        let count = entry.secondary.len();
        let mut test = |k: usize| self.key_matches(at, Which::Secondary(k), view);
        let passes = match entry.logic.unwrap_or(Logic::AndAny) {
            Logic::AndAny => (0..count).any(&mut test),
            Logic::NotAll => !(0..count).all(&mut test),
            Logic::NotAny => {
                // Every key is tested: the reference has no early end here, and keys may draw.
                (0..count).filter(|k| test(*k)).count() == 0
            }
            Logic::AndAll => (0..count).filter(|k| test(*k)).count() == count,
            Logic::Unknown => {
                (0..count).for_each(|k| {
                    test(k);
                });
                false
            }
        };
        if passes { Ok(candidate(cause)) } else { Err(Reason::SecondaryFailed) }
    }

    /// Rules 4 and 5: the character filter.
    fn filtered(&self, entry: &Entry) -> Option<Reason> {
        let filter = &entry.filter;
        let speaker = self.input.speaker;
        if !filter.names.is_empty() {
            let included = speaker.is_some_and(|c| filter.names.iter().any(|n| n == stem(&c.avatar)));
            if included == filter.exclude {
                return Some(Reason::CharacterFilter);
            }
        }
        if !filter.tags.is_empty() {
            if let Some(character) = speaker {
                let included = character.tags.iter().any(|t| filter.tags.contains(t));
                if included == filter.exclude {
                    return Some(Reason::TagFilter);
                }
            } else if self.profile.on(&profile::LORE_ENTRIES) && !filter.exclude {
                return Some(Reason::TagFilter);
            }
        }
        None
    }

    /// Levels of delayed recursion, ascending.
    fn levels(&self) -> Vec<f64> {
        let live = self.profile.on(&profile::LORE_RECURSION);
        let mut levels: Vec<f64> = self
            .entries
            .iter()
            .filter(|e| !(live && e.disabled))
            .filter_map(|e| e.delay_level)
            .filter(|l| !l.is_nan())
            .collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }

    /// The loop (spec 03 §10).
    pub(super) fn run(mut self, count: &dyn Fn(&str) -> i64) -> Found {
        let budget = self.budget();
        let fixed_recursion = self.profile.on(&profile::LORE_RECURSION);
        let fixed_budget = self.profile.on(&profile::LORE_BUDGET);
        let mut levels = self.levels();
        // The lowest level opens at once, in the sense that recursion loops begin with it.
        let mut level = if fixed_recursion || levels.is_empty() { 0.0 } else { levels.remove(0) };
        let mut overflow = false;
        let mut activated_text = String::new();
        let mut counted_text = String::new();
        let mut loops = Vec::new();
        let bound = self.host.limits.lore_loops;
        while self.state != State::None {
            if self.globals.max_steps != 0.0 && self.globals.max_steps <= f64::from(self.round) {
                break;
            }
            if loops.len() >= bound {
                self.effects.notes.push(Warning::new(
                    "lore_loops",
                    "lorebooks",
                    "the scan was ended at the limit of its loops",
                ));
                break;
            }
            self.round += 1;
            let mut new = self.candidates(level);
            // Sticky ones first, then forced objects, then by position; stable.
            new.sort_by_key(|c| (!self.timers.sticky(c.entry), c.forced.is_none()));
            let base = if fixed_budget { counted_text.clone() } else { activated_text.clone() };
            let base_tokens = count(&base);
            groups::filter(&mut self, &mut new);
            let passed =
                self.admit(&new, budget, base_tokens, &base, &mut overflow, &mut counted_text, count);

            let recursable: Vec<&(usize, String, bool)> = passed
                .iter()
                .filter(|(at, _, in_prompt)| {
                    !self.entries.get(*at).is_some_and(|e| e.prevent_recursion)
                        && (*in_prompt || !fixed_recursion)
                })
                .collect();
            let state = self.state;
            let mut next = State::None;
            let mut rule = None;
            if self.globals.recursive && !overflow && !recursable.is_empty() {
                (next, rule) = (State::Recursion, Some('a'));
            } else if self.globals.recursive
                && !overflow
                && state == State::MinActivations
                && self.text.has_recursion()
            {
                (next, rule) = (State::Recursion, Some('b'));
            }
            #[expect(clippy::cast_precision_loss, reason = "counts of entries and messages")]
            let (active, length) = (self.active.len() as f64, self.input.lines.count as f64);
            if next == State::None
                && !overflow
                && self.globals.min_activations > 0.0
                && active < self.globals.min_activations
            {
                let depth = self.globals.depth + self.skew;
                let (max, deep) = (self.globals.min_depth_max, self.profile.on(&profile::LORE_SCAN));
                // The check comes before the step, so one message too many is looked at (03 F2).
                let over = |d: f64, limit: f64| if deep { d >= limit } else { d > limit };
                if !((max > 0.0 && over(depth, max)) || over(depth, length)) {
                    self.skew += 1.0;
                    (next, rule) = (State::MinActivations, Some('c'));
                }
            }
            let may_open = !fixed_recursion || (self.globals.recursive && !overflow);
            if next == State::None && !levels.is_empty() && may_open {
                level = levels.remove(0);
                (next, rule) = (State::Recursion, Some('d'));
            } else if fixed_recursion && next == State::Recursion && level == 0.0 && !levels.is_empty() {
                // Recursion happens anyway: the lowest level takes part in it.
                level = levels.remove(0);
            }
            if next != State::None {
                let chunk =
                    recursable.iter().map(|(_, text, _)| text.as_str()).collect::<Vec<_>>().join("\n");
                if !chunk.is_empty() {
                    activated_text = format!("{chunk}\n{activated_text}");
                    self.text.recurse(chunk);
                }
            }
            loops.push(Loop {
                state,
                next,
                rule,
                new: passed
                    .iter()
                    .filter_map(|(at, ..)| self.entries.get(*at))
                    .map(|e| e.id.clone())
                    .collect(),
                level,
                overflow,
            });
            self.state = next;
        }
        for key in &self.text.exceeded {
            self.effects.notes.push(Warning::new(
                "regex_limit",
                key.clone(),
                "a key of this entry was stopped at its step limit and counts as not found",
            ));
        }
        self.timers.finish(self.active.values(), self.effects);
        Found {
            active: self.active.into_values().collect(),
            verdicts: self.verdicts,
            loops,
            budget,
            overflow,
        }
    }

    /// Tokens that the entries may take (spec 03 §13).
    fn budget(&self) -> i64 {
        #[expect(clippy::cast_precision_loss, reason = "context sizes")]
        let share = js::round(self.globals.percent * self.input.max_context as f64 / 100.0);
        let budget = if share == 0.0 || share.is_nan() { 1.0 } else { share };
        js::to_integer(if self.globals.cap > 0.0 { budget.min(self.globals.cap) } else { budget })
    }

    /// Rolls and budget over the candidates, in order. Gives those that did not fail their roll: entry, text, whether it got in.
    #[expect(clippy::too_many_arguments, reason = "the running totals of one loop")]
    fn admit(
        &mut self,
        new: &[Candidate],
        budget: i64,
        base_tokens: i64,
        base: &str,
        overflow: &mut bool,
        counted: &mut String,
        count: &dyn Fn(&str) -> i64,
    ) -> Vec<(usize, String, bool)> {
        let fixed = self.profile.on(&profile::LORE_BUDGET);
        let mut fresh = String::new();
        let mut passed = Vec::new();
        for (i, candidate) in new.iter().enumerate() {
            let entry = match &candidate.forced {
                Some(object) => (**object).clone(),
                None => match self.entries.get(candidate.entry) {
                    Some(entry) => entry.clone(),
                    None => continue,
                },
            };
            let at = candidate.entry;
            if *overflow && !entry.ignore_budget && !fixed {
                self.explain(at, Outcome::OverBudget, Some(Reason::AfterOverflow));
                passed.push((at, entry.content.clone(), false));
                let later = new.get(i + 1..).unwrap_or(&[]).iter();
                let rescued = later.clone().any(|c| {
                    c.forced.as_deref().or_else(|| self.entries.get(c.entry)).is_some_and(|e| e.ignore_budget)
                });
                if rescued {
                    continue;
                }
                for rest in later {
                    self.explain(rest.entry, Outcome::OverBudget, Some(Reason::AfterOverflow));
                    let text = rest
                        .forced
                        .as_deref()
                        .or_else(|| self.entries.get(rest.entry))
                        .map(|e| e.content.clone());
                    passed.push((rest.entry, text.unwrap_or_default(), false));
                }
                break;
            }
            if entry.use_probability && !entry.certain && !self.timers.sticky(at) {
                let roll = self.host.dice.draw(Site::Lore) * 100.0;
                // A missing probability is NaN, which no roll passes.
                if roll > entry.probability || entry.probability.is_nan() {
                    self.explain(
                        at,
                        Outcome::Skipped,
                        Some(Reason::Probability { draw: roll, needed: entry.probability }),
                    );
                    if candidate.forced.is_none() || fixed {
                        self.lose(at);
                    }
                    continue;
                }
            }
            let text = macros::expand(&entry.content, self.env, self.host, self.effects);
            let share = self.input.shares.and_then(|shares| shares.get(&entry.world).copied());
            let tokens = if share.is_some() { count(&text) } else { 0 };
            let spent = self.spent.get(&entry.world).copied().unwrap_or(0);
            if let Some(limit) = share.filter(|limit| spent + tokens > *limit) {
                self.explain(at, Outcome::OverBudget, Some(Reason::Budget { limit }));
                passed.push((at, text, false));
                continue;
            }
            let stops = if fixed {
                // Exactly the texts that count, and an exact fit is allowed (03 F6, F7).
                !entry.ignore_budget && count(&format!("{base}{fresh}{text}\n")) > budget
            } else {
                fresh.push_str(&text);
                fresh.push('\n');
                !entry.ignore_budget && base_tokens + count(&fresh) >= budget
            };
            if stops {
                *overflow = *overflow || !fixed;
                self.explain(at, Outcome::OverBudget, Some(Reason::Budget { limit: budget }));
                passed.push((at, text, false));
                continue;
            }
            if fixed && !entry.ignore_budget {
                fresh.push_str(&text);
                fresh.push('\n');
                counted.push_str(&text);
                counted.push('\n');
            }
            if share.is_some() {
                self.spent.insert(entry.world.clone(), spent + tokens);
            }
            self.explain_active(at, candidate.cause.clone());
            passed.push((at, text.clone(), true));
            self.active.insert(entry.id.clone(), Active { what: entry, text });
        }
        passed
    }

    pub(super) fn explain(&mut self, at: usize, outcome: Outcome, reason: Option<Reason>) {
        if let Some(slot) = self.verdicts.get_mut(at) {
            slot.outcome = outcome;
            slot.reason = reason;
            slot.round = self.round;
        }
    }

    fn explain_active(&mut self, at: usize, cause: Cause) {
        if let Some(slot) = self.verdicts.get_mut(at) {
            slot.outcome = Outcome::Activated;
            slot.reason = None;
            slot.cause = Some(cause);
            slot.round = self.round;
        }
    }

    /// An entry that lost its group stays out of this evaluation (03 F18).
    pub(super) fn lose(&mut self, at: usize) {
        if let Some(failed) = self.failed.get_mut(at) {
            *failed = true;
        }
    }

    /// Inclusion groups of entries that are active already.
    pub(super) fn active_groups(&self) -> impl Iterator<Item = &str> {
        self.active.values().map(|a| a.what.group.as_str())
    }

    /// The score of an entry (spec 03 §11).
    pub(super) fn score(&mut self, at: usize) -> usize {
        let entries = self.entries;
        let Some(entry) = entries.get(at) else { return 0 };
        if entry.keys.is_empty() {
            return 0;
        }
        let view = self.view(entry);
        let counts = |this: &mut Self, primary: bool| {
            let keys = if primary { &entry.keys } else { &entry.secondary };
            if this.profile.on(&profile::LORE_GROUPS) {
                // With the keys as they matched (03 F15).
                let which = |k| if primary { Which::Primary(k) } else { Which::Secondary(k) };
                return (0..keys.len()).filter(|k| this.key_matches(at, which(*k), view)).count();
            }
            this.text.count_raw(keys, at, &entry.id, view, this.host)
        };
        let primary = counts(self, true);
        if entry.secondary.is_empty() {
            return primary;
        }
        match entry.logic {
            Some(Logic::AndAny) => primary + counts(self, false),
            Some(Logic::AndAll) => {
                let secondary = counts(self, false);
                if secondary == entry.secondary.len() { primary + secondary } else { primary }
            }
            _ => primary,
        }
    }
}
