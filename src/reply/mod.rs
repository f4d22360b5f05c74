//! A model's reply and its [`Reading`] -> what is kept: stop strings, labels, markdown, unfinished sentences.
//!
//! Spec: 01 §12-§13, §P2, §P3. Knows names and text. Must not know how the request was built.
//! Reading order: [`clean`] (the pipeline) -> `exact` (the reference's steps) -> `stops` (the lists that were sent).
//!
//! Regex scripts run in the middle: [`before_scripts`], then the caller's scripts on [`Draft::text`], then [`after_scripts`].

mod emoji;
mod exact;
mod find;
mod markdown;
mod reading;
mod sentences;
mod spaces;
pub mod stops;

pub use reading::{Ask, reading};

use serde::Serialize;

use crate::js;
use crate::parts::{Kind, Reading};

/// How one reply is to be cleaned.
#[expect(clippy::struct_excessive_bools, reason = "options of a call, each independent of the others")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Leave an unfinished last sentence: while streaming, and for quiet requests (default false).
    pub keep_incomplete: bool,
    /// Put "start reply with" in front (default true).
    pub include_bias: bool,
    /// Remove the speaker's own label at the start (default true).
    pub trim_names: bool,
    /// Cut at the label of the one who must not speak (default true).
    pub trim_wrong_names: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { keep_incomplete: false, include_bias: true, trim_names: true, trim_wrong_names: true }
    }
}

/// Why a reply was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CutReason {
    /// Somebody else's label: the reply went on as another speaker.
    Label,
    /// The same at the start, so nothing is left.
    ForeignStart,
    /// An end mark of the model or of its template.
    Marker,
}

/// Where a reply was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cut {
    /// UTF-16 offset in the text that was looked at: the reply, with "start reply with" in front.
    pub offset: usize,
    /// The name, or the text of the mark, that was found.
    pub name: String,
    /// Id of the participant; empty when it was no label.
    pub id: String,
    /// Why.
    pub reason: CutReason,
}

impl Cut {
    fn new(offset: usize, reason: CutReason, name: &str, id: &str) -> Self {
        Self { offset, name: name.to_owned(), id: id.to_owned(), reason }
    }
}

/// A step that changed the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// "Start reply with" was put in front.
    StartWith,
    /// A stop string, or the beginning of one, was cut off.
    Stops,
    /// Runs of line feeds.
    Newlines,
    /// Blanks at line ends.
    LineEnds,
    /// Labels and marks.
    Names,
    /// Blanks inside emphasis.
    Markdown,
    /// The unfinished last sentence.
    Sentence,
    /// White space around the whole.
    Trim,
}

/// A reply on its way: what regex scripts see and may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The text so far.
    pub text: String,
    steps: Vec<Step>,
}

/// A reply as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cleaned {
    /// The text; may be empty.
    pub text: String,
    /// Where it was cut, if it was.
    pub cut: Option<Cut>,
    /// The steps that changed something, in order.
    pub steps: Vec<Step>,
}

/// The whole pipeline, when there are no regex scripts.
pub fn clean(text: &str, reading: &Reading, options: &Options) -> Cleaned {
    after_scripts(before_scripts(text, reading, options), reading, options)
}

/// Steps 1 to 3: "start reply with", stop strings. Text given for [`Kind::Continue`] is the new part alone; what was accepted
/// before is in [`Reading::continued`].
pub fn before_scripts(text: &str, reading: &Reading, options: &Options) -> Draft {
    let mut draft = Draft { text: format!("{}{text}", reading.continued), steps: Vec::new() };
    if draft.text.is_empty() {
        return draft;
    }
    let plain = !matches!(reading.kind, Kind::Impersonate | Kind::Continue);
    if options.include_bias && plain && !reading.start_with.is_empty() {
        draft.text.insert_str(0, &reading.start_with);
        draft.steps.push(Step::StartWith);
    }
    let length = draft.text.len();
    exact::stop_tails(&mut draft.text, reading);
    if draft.text.len() != length {
        draft.steps.push(Step::Stops);
    }
    draft
}

/// Steps 5 to 16: everything after the regex scripts.
pub fn after_scripts(draft: Draft, reading: &Reading, options: &Options) -> Cleaned {
    let Draft { text, mut steps } = draft;
    let rules = &reading.rules;
    let impersonate = reading.kind == Kind::Impersonate;
    let mut text = text;
    let mut step = |text: &mut String, step: Step, new: String| {
        if *text != new {
            *text = new;
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
    };
    if rules.collapse_newlines {
        let new = spaces::collapse_newlines(&text);
        step(&mut text, Step::Newlines, new);
    }
    let new = spaces::trim_line_ends(&text);
    step(&mut text, Step::LineEnds, new);
    let mut new = text.clone();
    let cut = exact::names(&mut new, reading, options);
    step(&mut text, Step::Names, new);
    if impersonate {
        let new = js::trim(&text).to_owned();
        step(&mut text, Step::Trim, new);
    }
    if rules.fix_markdown {
        let new = markdown::exact(&text);
        step(&mut text, Step::Markdown, new);
    }
    if options.trim_names {
        let mut new = text.clone();
        exact::own_prefix(&mut new, reading);
        step(&mut text, Step::Names, new);
    }
    if impersonate {
        let new = js::trim(&text).to_owned();
        step(&mut text, Step::Trim, new);
    }
    if rules.trim_sentences && !options.keep_incomplete {
        let new = sentences::exact(&text).to_owned();
        step(&mut text, Step::Sentence, new);
    }
    if rules.trim_spaces {
        let new = js::trim(&text).to_owned();
        step(&mut text, Step::Trim, new);
    }
    Cleaned { text, cut, steps }
}
