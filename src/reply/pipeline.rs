//! The steps of the clean-up, in order (spec 01 §13). Which of two ways a step goes is asked here and nowhere else.

use super::cut::{Cast, LabelCut};
use super::find::Needles;
use super::{Cleaned, Cut, CutReason, Draft, Ended, Options, Step, Trim, exact, find, markdown, spaces};
use crate::js;
use crate::parts::{Kind, Reading, Stop, StopSource};
use crate::profile::{self, Profile};
use crate::sentences;

/// Which way each step goes for one reply.
#[expect(clippy::struct_excessive_bools, reason = "one for each switch of the profile")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan<'a> {
    pub(super) reading: &'a Reading,
    pub(super) options: &'a Options,
    pub(super) trim: Trim,
    /// Cut at whole stop strings, rather than take off what may be the beginning of one.
    pub(super) whole_stops: bool,
    /// Leave what was accepted before alone.
    pub(super) new_part: bool,
    markdown: bool,
    sentences: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(reading: &'a Reading, options: &'a Options, profile: &Profile) -> Self {
        let rules = profile.on(&profile::REPLY_CUT);
        let quiet = rules && reading.kind == Kind::Quiet && !options.trim_quiet;
        Self {
            reading,
            options,
            trim: match options.trim {
                _ if quiet => Trim::Off,
                Some(trim) => trim,
                None if rules => Trim::Smart,
                None => Trim::Compat,
            },
            whole_stops: profile.on(&profile::REPLY_STOPS),
            new_part: profile.on(&profile::REPLY_CONTINUE),
            markdown: profile.on(&profile::REPLY_MARKDOWN),
            sentences: profile.on(&profile::REPLY_SENTENCES),
        }
    }

    /// What stands in front of the model's text and is cleaned with it.
    pub(super) fn lead(&self) -> &str {
        let Reading { kind, start_with, continued, .. } = self.reading;
        match kind {
            Kind::Continue if self.new_part => "",
            Kind::Continue => continued,
            Kind::Impersonate => "",
            _ if self.options.include_bias => start_with,
            _ => "",
        }
    }

    /// What was accepted before and stays as it is.
    pub(super) fn accepted(&self) -> &str {
        if self.reading.kind == Kind::Continue && self.new_part { &self.reading.continued } else { "" }
    }

    /// Stop strings that end the reply where they stand whole. Labels are judged by rule where there are rules.
    pub(super) fn ending_stops(&self) -> impl Iterator<Item = &Stop> {
        let labels = self.trim == Trim::Compat;
        self.reading.stop.iter().filter(move |s| labels || s.source != StopSource::Name)
    }

    /// Whose labels are looked for, and which of them are taken off.
    pub(super) fn cast(&self) -> Cast {
        let (reading, options) = (self.reading, self.options);
        let impersonate = reading.kind == Kind::Impersonate;
        let keeps_own =
            if impersonate { reading.rules.keep_user_label } else { reading.rules.keep_char_label };
        let counts = |id: &str| {
            let cut = if impersonate && id == self.speaker() {
                !reading.rules.keep_char_label
            } else if id == "user" {
                !reading.rules.keep_user_label
            } else {
                reading.rules.cut_members || !reading.in_group
            };
            cut && options.trim_wrong_names
        };
        let others = reading.others.iter().filter(|p| counts(&p.id));
        Cast::new(&reading.own, options.trim_names && !keeps_own, others)
    }

    /// Id of the character beside whom the user is impersonated.
    fn speaker(&self) -> &str {
        let same = |n: &String| *n == self.reading.char;
        self.reading.others.iter().find(|p| p.names.first().is_some_and(same)).map_or("", |p| &p.id)
    }
}

/// The whole pipeline, when there are no regex scripts. Text given for [`Kind::Continue`] is the new part alone; what was
/// accepted before is in [`Reading::continued`].
pub fn clean(text: &str, reading: &Reading, options: &Options, profile: &Profile) -> Cleaned {
    after_scripts(before_scripts(text, reading, options, profile), reading, options, profile)
}

/// Steps 1 to 3: "start reply with", stop strings.
pub fn before_scripts(text: &str, reading: &Reading, options: &Options, profile: &Profile) -> Draft {
    let plan = Plan::new(reading, options, profile);
    let mut draft = Draft { text: text.to_owned(), cut: None, steps: Vec::new() };
    if reading.kind == Kind::Continue {
        draft.text.insert_str(0, plan.lead());
    }
    if draft.text.is_empty() {
        return draft;
    }
    if reading.kind != Kind::Continue && !plan.lead().is_empty() {
        draft.text.insert_str(0, plan.lead());
        draft.steps.push(Step::StartWith);
    }
    let length = draft.text.len();
    if plan.whole_stops {
        draft.cut = end_at_stop(&mut draft.text, &plan);
    } else {
        exact::stop_tails(&mut draft.text, reading);
    }
    if draft.text.len() != length {
        draft.steps.push(Step::Stops);
    }
    draft
}

/// The text up to the first whole stop string. Only when the provider says that it stopped does the beginning of one at the end
/// go too, unless a single character.
fn end_at_stop(text: &mut String, plan: &Plan<'_>) -> Option<Cut> {
    let mut needles = Needles::new(plan.ending_stops().map(|s| s.text.as_str()));
    if let Some(hit) = needles.first_in(text) {
        let stop = needles.text(hit.needle).to_owned();
        text.truncate(hit.start);
        return Some(Cut::new(js::len16(text), CutReason::Stop, &stop, ""));
    }
    if plan.options.ended != Ended::Unknown {
        let borders = plan.reading.stop.iter().map(|s| find::border(text.as_bytes(), s.text.as_bytes()));
        let length = borders.max().unwrap_or(0);
        let tail = text.get(text.len() - length..).unwrap_or("");
        if tail.chars().nth(1).is_some() || tail.starts_with(js::is_space) {
            text.truncate(text.len() - length);
        }
    }
    None
}

/// Steps 5 to 16: everything after the regex scripts.
pub fn after_scripts(draft: Draft, reading: &Reading, options: &Options, profile: &Profile) -> Cleaned {
    let plan = Plan::new(reading, options, profile);
    let Draft { text, cut, steps } = draft;
    let mut work = Work { out: Cleaned { text, cut, steps, ..Cleaned::default() } };
    let rules = &reading.rules;
    let impersonate = reading.kind == Kind::Impersonate;
    if plan.trim == Trim::Compat {
        work.spaces(rules.collapse_newlines);
        work.change(Step::Marks, |text| {
            options.trim_wrong_names.then(|| exact::wrong_name(text, reading)).flatten()
        });
        work.change(Step::Marks, |text| exact::template_marks(text, reading));
        work.change(Step::Names, |text| exact::other_members(text, reading));
        work.change(Step::Names, |text| {
            exact::own_lines(text, reading);
            None
        });
    } else {
        work.change(Step::Marks, |text| exact::template_marks(text, reading));
        if plan.trim == Trim::Smart {
            work.labels(&plan);
        }
        work.spaces(rules.collapse_newlines);
    }
    if impersonate {
        work.trim();
    }
    if rules.fix_markdown {
        let fix = if plan.markdown { markdown::smart } else { markdown::exact };
        work.map(Step::Markdown, fix);
    }
    if plan.trim == Trim::Compat && options.trim_names {
        work.change(Step::Names, |text| {
            exact::own_prefix(text, reading);
            None
        });
    }
    if impersonate {
        work.trim();
    }
    if rules.trim_sentences && !options.keep_incomplete {
        let cut = if plan.sentences { sentences::smart } else { sentences::exact };
        work.map(Step::Sentence, |text| cut(text).to_owned());
    }
    work.join(plan.accepted(), rules.trim_spaces)
}

/// A text and what was done to it.
struct Work {
    out: Cleaned,
}

impl Work {
    fn map(&mut self, step: Step, f: impl FnOnce(&str) -> String) {
        let new = f(&self.out.text);
        if new != self.out.text {
            self.out.text = new;
            if self.out.steps.last() != Some(&step) {
                self.out.steps.push(step);
            }
        }
    }

    fn change(&mut self, step: Step, f: impl FnOnce(&mut String) -> Option<Cut>) {
        let mut cut = None;
        self.map(step, |text| {
            let mut text = text.to_owned();
            cut = f(&mut text);
            text
        });
        self.out.cut = cut.or(self.out.cut.take());
    }

    fn trim(&mut self) {
        self.map(Step::Trim, |text| js::trim(text).to_owned());
    }

    fn spaces(&mut self, collapse: bool) {
        if collapse {
            self.map(Step::Newlines, spaces::collapse_newlines);
        }
        self.map(Step::LineEnds, spaces::trim_line_ends);
    }

    fn labels(&mut self, plan: &Plan<'_>) {
        let mut machine = LabelCut::new(plan.cast());
        machine.accept(plan.accepted());
        let mut kept = String::with_capacity(self.out.text.len());
        machine.push(&self.out.text, &mut kept);
        machine.finish(&mut kept);
        if machine.cut.is_some() {
            kept.truncate(js::trim_end(&kept).len());
        }
        self.map(Step::Names, |_| kept);
        self.out.cut = machine.cut.or(self.out.cut.take());
        self.out.salvage = machine.salvage;
        self.out.stripped = machine.stripped;
    }

    /// Puts what was accepted before in front, and trims.
    fn join(mut self, accepted: &str, trim: bool) -> Cleaned {
        if accepted.is_empty() {
            if trim {
                self.trim();
            }
            return self.out;
        }
        let new = format!("{accepted}{}", self.out.text);
        let end = if trim { js::trim_end(&new).len() } else { new.len() };
        if end < new.len() {
            self.out.steps.push(Step::Trim);
        }
        self.out.text = new.get(..end).unwrap_or("").to_owned();
        self.out
    }
}
