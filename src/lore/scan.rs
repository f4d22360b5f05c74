//! The scan: entries and a chat -> which entries are active, loop by loop.
//!
//! Spec: 03 §3, §7-§13. Differs from ST under `lore.*`. Knows keys, groups, timers, budget. Must not know where texts go (`place`).

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde_json::Value;

use super::entry::{Entry, Logic};
use super::explain::{Cause, Loop, Outcome, Reason, Verdict};
use super::keys::Which;
use super::source::stem;
use super::text::{ScanText, View};
use super::timed::Timers;
use super::{Books, Input, Scripts, groups};
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

/// An active entry: which, and its text.
#[derive(Clone, Debug)]
pub(super) struct Active {
    /// Its place among the entries.
    pub(super) at: usize,
    /// The object that is active: the stored entry or the forced one.
    pub(super) what: Entry,
    /// Text after macros; after scripts too where the budget counts that (03 F8).
    pub(super) text: String,
    /// What it took of the budget.
    cost: i64,
}

/// What a scan found.
pub(super) struct Found {
    pub(super) active: Vec<Active>,
    pub(super) verdicts: BTreeMap<usize, Verdict>,
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
    forced: IndexMap<String, Forced>,
    skew: f64,
    state: State,
    /// Entries that are out for the whole evaluation.
    failed: BTreeSet<usize>,
    /// Tokens that the entries may take.
    limit: i64,
    /// An entry did not fit, which ends much in the reference.
    overflow: bool,
    /// Level of delayed recursion that is open, and those that are not yet.
    level: f64,
    levels: Vec<f64>,
    /// Tokens spent by all, where texts are counted one by one.
    used: i64,
    /// Tokens spent by books that have a share.
    spent: IndexMap<String, i64>,
    active: IndexMap<String, Active>,
    /// Of the entries that were looked at; of the others no key was found.
    verdicts: BTreeMap<usize, Verdict>,
    /// Entries that may still become active, in order; those that only wait for a key come in when one is found.
    pending: Vec<usize>,
    round: u32,
}

/// An entry that the caller activates.
struct Forced {
    entry: Entry,
    /// Whatever switches, filters and timers say (03 F36).
    unconditional: bool,
}

/// A candidate that did not fail its roll.
struct Passed {
    at: usize,
    text: String,
    /// It is active.
    admitted: bool,
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
        let forced: IndexMap<String, Forced> = input
            .forced
            .iter()
            .filter_map(|raw| {
                let world = raw.get("world").and_then(Value::as_str)?;
                let entry = Entry::new(world, raw, super::Source::Global, profile)?;
                let unconditional = raw.get("unconditional").is_some_and(js::to_boolean);
                raw.get("uid").map(|_| (entry.id.clone(), Forced { entry, unconditional }))
            })
            .collect();
        let mut pending = books.standing.clone();
        if !forced.is_empty() {
            let named = |e: &Entry| forced.contains_key(&e.id);
            pending.extend(entries.iter().enumerate().filter(|(_, e)| named(e)).map(|(at, _)| at));
        }
        pending.extend(timers.held());
        pending.sort_unstable();
        pending.dedup();
        Self {
            text: ScanText::new(
                &books.index,
                &books.lines,
                &input.lines.newest,
                input.sources,
                input.injections,
                entries.len(),
            ),
            verdicts: BTreeMap::new(),
            pending,
            books,
            failed: BTreeSet::new(),
            limit: 0,
            overflow: false,
            level: 0.0,
            levels: Vec::new(),
            used: 0,
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
    fn candidates(&mut self) -> Vec<Candidate> {
        if let Some(view) = self.view_of(self.globals.depth + self.skew, 0) {
            self.text.reach(view.depth);
        }
        let mut new = Vec::new();
        let mut pending = std::mem::take(&mut self.pending);
        let known = pending.len();
        pending.append(&mut self.text.newly_touched());
        if pending.len() > known {
            pending.sort_unstable();
            pending.dedup();
        }
        pending.retain(|&at| {
            // Nothing that was looked at holds one of its keys, and that is all that it waits for.
            let waits = self.verdicts.get(&at).is_some_and(|v| v.reason == Some(Reason::NoPrimaryMatch));
            if waits && !self.text.touched(at) && self.books.index.indexed(at) {
                return true;
            }
            match self.check(at) {
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
    fn check(&mut self, at: usize) -> Result<Candidate, Reason> {
        let entries = self.entries;
        let Some(entry) = entries.get(at) else { return Err(Reason::Disabled) };
        if self.failed.contains(&at) || self.active.contains_key(&entry.id) {
            return Err(Reason::Decided);
        }
        let given = self.forced.get(&entry.id);
        let forced = |object: &Forced| Candidate {
            entry: at,
            forced: Some(Box::new(object.entry.clone())),
            cause: Cause::Forced,
        };
        if let Some(object) = given.filter(|f| f.unconditional) {
            return Ok(forced(object));
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
        if let Some(every) = self.timers.off_beat(entry) {
            return Err(Reason::OffBeat { every });
        }
        if self.timers.cooling(at) && !sticky {
            return Err(Reason::Cooldown);
        }
        if let Some(own) = entry.delay_level {
            if self.state != State::Recursion && !sticky {
                return Err(Reason::DelayUntilRecursion { level: own });
            }
            if self.state == State::Recursion && own > self.level && !sticky {
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
        if let Some(object) = given {
            return Ok(forced(object));
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
    fn all_levels(&self) -> Vec<f64> {
        let live = self.profile.on(&profile::LORE_RECURSION);
        let mut levels: Vec<f64> = self
            .entries
            .iter()
            .filter(|e| !(live && e.disabled))
            .filter_map(|e| e.delay_level)
            .filter(|l| !l.is_nan())
            .collect();
        js::sort_by(&mut levels, f64::total_cmp);
        levels.dedup();
        levels
    }

    /// The loop (spec 03 §10).
    pub(super) fn run(mut self, count: &dyn Fn(&str) -> i64, scripts: &mut Scripts<'_>) -> Found {
        self.limit = self.budget();
        let fixed_recursion = self.profile.on(&profile::LORE_RECURSION);
        self.levels = self.all_levels();
        if !fixed_recursion && !self.levels.is_empty() {
            // The lowest level opens at once, in the sense that recursion loops begin with it.
            self.level = self.levels.remove(0);
        }
        let mut activated_text = String::new();
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
            let mut new = self.candidates();
            // Sticky ones first, then forced objects, then by position; stable.
            js::sort_by_key(&mut new, |c| (!self.timers.sticky(c.entry), c.forced.is_none()));
            groups::filter(&mut self, &mut new);
            let passed = self.admit(&new, &activated_text, count, scripts);
            let chunk: Vec<&str> = passed
                .iter()
                .filter(|p| {
                    !self.entries.get(p.at).is_some_and(|e| e.prevent_recursion)
                        && (p.admitted || !fixed_recursion)
                })
                .map(|p| p.text.as_str())
                .collect();
            let (next, rule) = self.next(!chunk.is_empty());
            let chunk = chunk.join("\n");
            if next != State::None && !chunk.is_empty() {
                activated_text = format!("{chunk}\n{activated_text}");
                self.text.recurse(chunk);
            }
            loops.push(Loop {
                state: self.state,
                next,
                rule,
                new: passed.iter().filter_map(|p| self.entries.get(p.at)).map(|e| e.id.clone()).collect(),
                level: self.level,
                overflow: self.overflow,
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
            budget: self.limit,
            overflow: self.overflow,
        }
    }

    /// What the next loop is, and by which rule of spec 03 §10 step 8. `recursable`: something new can be looked into.
    fn next(&mut self, recursable: bool) -> (State, Option<char>) {
        let fixed = self.profile.on(&profile::LORE_RECURSION);
        let recursive = self.globals.recursive && !self.overflow;
        let (mut next, mut rule) = (State::None, None);
        if recursive && recursable {
            (next, rule) = (State::Recursion, Some('a'));
        } else if recursive && self.state == State::MinActivations && self.text.has_recursion() {
            (next, rule) = (State::Recursion, Some('b'));
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of entries and messages")]
        let (active, length) = (self.active.len() as f64, self.input.lines.count as f64);
        if next == State::None
            && !self.overflow
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
        if self.levels.is_empty() {
            return (next, rule);
        }
        if next == State::None && (!fixed || recursive) {
            self.level = self.levels.remove(0);
            return (State::Recursion, Some('d'));
        }
        if fixed && next == State::Recursion && self.level == 0.0 {
            // Recursion happens anyway: the lowest level takes part in it.
            self.level = self.levels.remove(0);
        }
        (next, rule)
    }

    /// Tokens that the entries may take (spec 03 §13).
    fn budget(&self) -> i64 {
        #[expect(clippy::cast_precision_loss, reason = "context sizes")]
        let share = js::round(self.globals.percent * self.input.max_context as f64 / 100.0);
        let budget = if share == 0.0 || share.is_nan() { 1.0 } else { share };
        js::to_integer(if self.globals.cap > 0.0 { budget.min(self.globals.cap) } else { budget })
    }

    /// Rolls and budget over the candidates, in order. Gives those that did not fail their roll. `before` is the text of earlier loops
    /// as the reference counts it.
    fn admit(
        &mut self,
        new: &[Candidate],
        before: &str,
        count: &dyn Fn(&str) -> i64,
        scripts: &mut Scripts<'_>,
    ) -> Vec<Passed> {
        let fixed = self.profile.on(&profile::LORE_BUDGET);
        let base = if fixed { 0 } else { count(before) };
        let mut fresh = String::new();
        let mut passed = Vec::new();
        for (i, candidate) in new.iter().enumerate() {
            let at = candidate.entry;
            let entries = self.entries;
            let Some(entry) = candidate.forced.as_deref().or_else(|| entries.get(at)) else { continue };
            if self.overflow && !entry.ignore_budget && !fixed {
                let rest = new.get(i..).unwrap_or(&[]).iter();
                let objects = rest
                    .filter_map(|c| Some((c.entry, c.forced.as_deref().or_else(|| entries.get(c.entry))?)));
                let rescued = objects.clone().any(|(_, e)| e.ignore_budget);
                for (at, entry) in objects.take(if rescued { 1 } else { usize::MAX }) {
                    self.explain(at, Outcome::OverBudget, Some(Reason::AfterOverflow));
                    passed.push(Passed { at, text: entry.content.clone(), admitted: false });
                }
                if rescued {
                    continue;
                }
                break;
            }
            if !self.roll(candidate, entry, fixed) {
                continue;
            }
            let mut text = macros::expand(&entry.content, self.env, self.host, self.effects);
            if self.profile.on(&profile::LORE_PLACES) && entry.content.contains("{{outlet") {
                // Outlets are filled from what the scan finds (03 F40).
                self.effects.notes.push(Warning::new(
                    "lore_outlet",
                    entry.id.clone(),
                    "an outlet inside an entry is empty: outlets are filled when the scan is over",
                ));
            }
            if fixed {
                // What is inserted is what counts (03 F8).
                text = scripts(&text, entry.script_depth(), self.host, self.effects);
            }
            let share = self.input.shares.and_then(|shares| shares.get(&entry.world).copied());
            let share = share.or_else(|| self.books.shares.get(&entry.world).copied());
            let tokens = if fixed || share.is_some() { count(&text) } else { 0 };
            let spent = self.spent.get(&entry.world).copied().unwrap_or(0);
            if let Some(limit) = share.filter(|limit| spent + tokens > *limit) {
                self.explain(at, Outcome::OverBudget, Some(Reason::Budget { limit }));
                passed.push(Passed { at, text, admitted: false });
                continue;
            }
            let fits = if fixed {
                // Exactly the texts that count, and an exact fit is allowed (03 F6, F7).
                self.used + tokens <= self.limit
            } else {
                fresh.push_str(&text);
                fresh.push('\n');
                entry.ignore_budget || base + count(&fresh) < self.limit
            };
            if !(fits || entry.ignore_budget) {
                self.overflow = self.overflow || !fixed;
                self.explain(at, Outcome::OverBudget, Some(Reason::Budget { limit: self.limit }));
                passed.push(Passed { at, text, admitted: false });
                continue;
            }
            let cost = if entry.ignore_budget { 0 } else { tokens };
            self.used += cost;
            if share.is_some() {
                self.spent.insert(entry.world.clone(), spent + tokens);
            }
            self.explain_active(at, candidate.cause.clone());
            passed.push(Passed { at, text: text.clone(), admitted: true });
            self.active.insert(entry.id.clone(), Active { at, what: entry.clone(), text, cost });
        }
        passed
    }

    /// Whether an entry passes its roll (spec 03 §12). One that failed is out.
    fn roll(&mut self, candidate: &Candidate, entry: &Entry, fixed: bool) -> bool {
        let at = candidate.entry;
        if !entry.use_probability || entry.certain || self.timers.sticky(at) {
            return true;
        }
        let roll = self.host.dice.draw(Site::Lore) * 100.0;
        // A missing probability is NaN, which no roll passes.
        if roll <= entry.probability {
            return true;
        }
        self.explain(
            at,
            Outcome::Skipped,
            Some(Reason::Probability { draw: roll, needed: entry.probability }),
        );
        if candidate.forced.is_none() || fixed {
            self.lose(at);
        }
        false
    }

    /// Takes an active entry out again, because an override of its group came later (03 F25).
    pub(super) fn retract(&mut self, at: usize, reason: Reason) {
        let Some(id) = self.entries.get(at).map(|e| e.id.as_str()) else { return };
        let Some(Active { cost, .. }) = self.active.shift_remove(id) else { return };
        self.used -= cost;
        self.lose(at);
        self.explain(at, Outcome::Removed, Some(reason));
    }

    pub(super) fn explain(&mut self, at: usize, outcome: Outcome, reason: Option<Reason>) {
        let round = self.round;
        let slot = self.verdicts.entry(at).or_default();
        (slot.outcome, slot.reason, slot.round) = (outcome, reason, round);
    }

    fn explain_active(&mut self, at: usize, cause: Cause) {
        self.explain(at, Outcome::Activated, None);
        self.verdicts.entry(at).or_default().cause = Some(cause);
    }

    /// An entry that lost its group stays out of this evaluation (03 F18).
    pub(super) fn lose(&mut self, at: usize) {
        self.failed.insert(at);
    }

    /// The entries that are active already.
    pub(super) fn active(&self) -> impl Iterator<Item = &Active> {
        self.active.values()
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
