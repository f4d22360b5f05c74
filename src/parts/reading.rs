//! How a reply will be read. Made with the request and used by `provider` (stops, capped) and `reply` (stops and labels, whole),
//! so that what was sent and what is cut cannot drift apart.

use crate::parts::Kind;

/// Someone whose label may turn up in a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Participant {
    /// Avatar, or `user` for the persona.
    pub id: String,
    /// Names it goes by, the display name first.
    pub names: Vec<String>,
}

/// Why a stop string is in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopSource {
    /// `single_line`: a line feed.
    Line,
    /// The label of the user or a member.
    Name,
    /// A line of the instruct template.
    Sequence,
    /// Chat start or example separator.
    Separator,
    /// Written by the user, or given for this call.
    #[default]
    Custom,
}

/// One stop string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// The text, macros expanded; never empty.
    pub text: String,
    /// Why it is there. Labels are read by rule, so only the others cut a reply by themselves.
    pub source: StopSource,
}

impl Stop {
    /// A stop string.
    pub fn new(source: StopSource, text: impl Into<String>) -> Self {
        Self { text: text.into(), source }
    }
}

/// Template texts that a text-completion model may write into its reply (spec 01 §13 step 8), raw: neither macros nor wrap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequences {
    /// The reply ends at its first occurrence; empty for none.
    pub stop: String,
    /// The reply ends at its first occurrence; blank for none.
    pub input: String,
    /// Its lines are deleted when `as_stops`.
    pub output: String,
    /// Likewise.
    pub last_output: String,
    /// `sequences_as_stop_strings`.
    pub as_stops: bool,
}

/// The user's settings for replies (spec 01 §15). The defaults are those of a first start.
#[expect(clippy::struct_excessive_bools, reason = "switches of a settings page, named as users know them")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyRules {
    /// Runs of line feeds become one.
    pub collapse_newlines: bool,
    /// Trim the reply (default true).
    pub trim_spaces: bool,
    /// Cut an unfinished last sentence.
    pub trim_sentences: bool,
    /// Repair emphasis marks.
    pub fix_markdown: bool,
    /// Leave the user's labels alone (`allow_name1_display`).
    pub keep_user_label: bool,
    /// Leave the speaker's labels alone (`allow_name2_display`).
    pub keep_char_label: bool,
    /// Cut at other members' labels (default true; the opposite of `disable_group_trimming`).
    pub cut_members: bool,
}

impl Default for ReplyRules {
    fn default() -> Self {
        Self {
            collapse_newlines: false,
            trim_spaces: true,
            trim_sentences: false,
            fix_markdown: false,
            keep_user_label: false,
            keep_char_label: false,
            cut_members: true,
        }
    }
}

/// Everything the clean-up needs to know about the request a reply answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What was asked for.
    pub kind: Kind,
    /// The persona's name (`name1`).
    pub user: String,
    /// The speaker's name (`name2`).
    pub char: String,
    /// The speaker; when impersonating, the user.
    pub own: Participant,
    /// Everyone else who may be labelled: the user first (unless impersonating), then members in list order, muted ones too.
    pub others: Vec<Participant>,
    /// Names of all members in list order, whether or not they equal another name; empty outside a group (spec 01 §13 step 9).
    pub members: Vec<String>,
    /// A group is selected.
    pub in_group: bool,
    /// The stop strings (spec 01 §12), in order, without duplicates, uncapped.
    pub stop: Vec<Stop>,
    /// Template texts; `None` unless a text-completion API is used with an instruct template.
    pub sequences: Option<Sequences>,
    /// Expanded "start reply with"; empty for none.
    pub start_with: String,
    /// When continuing: the text that was already accepted, postfix included; empty otherwise.
    pub continued: String,
    /// Stored reasoning at the beginning of `continued`: the model sees it, the message does not keep it.
    pub reasoning: String,
    /// The user's settings.
    pub rules: ReplyRules,
}
