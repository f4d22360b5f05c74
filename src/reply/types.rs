//! What goes in beside the text, and what comes out.

use serde::Serialize;

/// What to do with labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trim {
    /// As the reference: literal names, ASCII colon, every line.
    Compat,
    /// Labels in any dress are found, and lists, code, tags and rosters are left alone.
    #[default]
    Smart,
    /// Nothing.
    Off,
}

/// How the provider says the reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// It does not, or the stream is still open.
    #[default]
    Unknown,
    /// By itself or at a stop string.
    Stop,
    /// At the length limit.
    Length,
}

/// How one reply is to be cleaned.
#[expect(clippy::struct_excessive_bools, reason = "options of a call, each independent of the others")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to do with labels; default by the profile's `reply.cut`.
    pub trim: Option<Trim>,
    /// Labels count in quiet requests too (default false; the reference always looks at them).
    pub trim_quiet: bool,
    /// Leave an unfinished last sentence: while streaming, and for quiet requests (default false).
    pub keep_incomplete: bool,
    /// Put "start reply with" in front (default true).
    pub include_bias: bool,
    /// Remove the speaker's own label at the start (default true).
    pub trim_names: bool,
    /// Cut at the label of the one who must not speak (default true).
    pub trim_wrong_names: bool,
    /// How the reply ended: decides about the beginning of a stop string at its end.
    pub ended: Ended,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            trim: None,
            trim_quiet: false,
            keep_incomplete: false,
            include_bias: true,
            trim_names: true,
            trim_wrong_names: true,
            ended: Ended::Unknown,
        }
    }
}

/// Why a reply was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CutReason {
    /// Somebody else's label: the reply went on as another speaker.
    Label,
    /// The same at the start, so nothing is left: ask again, give the text to the one named, or let that one speak next.
    ForeignStart,
    /// A stop string.
    Stop,
    /// An end mark of the model or of its template.
    Marker,
}

/// Where a reply was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cut {
    /// UTF-16 offset in the text as it was when the cut was made: the reply as written, unless "start reply with", template
    /// texts or regex scripts changed it before. When continuing, offsets count from the new part.
    pub offset: usize,
    /// The name, or the text of the mark or stop string, that was found.
    pub name: String,
    /// Id of the participant; empty when it was no label.
    pub id: String,
    /// Why.
    pub reason: CutReason,
}

impl Cut {
    pub(super) fn new(offset: usize, reason: CutReason, name: &str, id: &str) -> Self {
        Self { offset, name: name.to_owned(), id: id.to_owned(), reason }
    }
}

/// A beginning in somebody else's name that was left out because the speaker's own part follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Salvage {
    /// UTF-16 offset where the speaker's own part begins; as in [`Cut::offset`].
    pub until: usize,
    /// In whose name the beginning was.
    pub name: String,
    /// Id of that participant.
    pub id: String,
}

/// An own label that was taken off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stripped {
    /// UTF-16 offset; as in [`Cut::offset`].
    pub offset: usize,
    /// The label, as it was written.
    pub text: String,
}

/// A step that changed the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// "Start reply with" was put in front.
    StartWith,
    /// Cut at a stop string, or at the beginning of one that ended the text.
    Stops,
    /// End marks and sequences of the template.
    Marks,
    /// Labels.
    Names,
    /// Runs of line feeds.
    Newlines,
    /// Blanks at line ends.
    LineEnds,
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
    pub(super) cut: Option<Cut>,
    pub(super) steps: Vec<Step>,
}

/// A reply as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cleaned {
    /// The text, with what was accepted before when continuing; may be empty.
    pub text: String,
    /// Where it was cut, if it was: the first place.
    pub cut: Option<Cut>,
    /// What was left out in front.
    pub salvage: Option<Salvage>,
    /// Own labels that were taken off (`Trim::Smart`).
    pub stripped: Vec<Stripped>,
    /// The steps that changed something, in order.
    pub steps: Vec<Step>,
    /// Scripts that met a limit, by name, and what else was reported.
    pub warnings: Vec<crate::error::Warning>,
}
