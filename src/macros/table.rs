//! The built-in macros: names, aliases, how many arguments.
//!
//! Spec: 04 §11. Bounded and sorted, so that a look-up is a binary search; a test holds the order.

/// What a macro does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Newline,
    Space,
    Noop,
    Trim,
    Reverse,
    Comment,
    If,
    Else,
    Input,
    Outlet,
    Banned,
    User,
    Char,
    Group,
    GroupNotMuted,
    NotChar,
    Card(Field),
    FirstMessage,
    Version,
    MesExamples,
    Original,
    LastMessage,
    LastIndex,
    LastUserMessage,
    LastCharMessage,
    AllChatRange,
    SwipeCount,
    CurrentSwipe,
    FirstIncluded,
    LastGenerationType,
    Model,
    MaxContext,
    MaxResponse,
    MaxPrompt,
    HasExtension,
    Random,
    Pick,
    Roll,
    Time,
    Date,
    Weekday,
    IsoTime,
    IsoDate,
    DateTimeFormat,
    IdleDuration,
    TimeDiff,
    Var(VarOp, bool),
    /// An instruct sequence: setting, and the one used when that is empty.
    Sequence(&'static str, &'static str),
    DefaultSystemPrompt,
    SystemPrompt,
    ExampleSeparator,
    ChatStart,
    Reasoning(usize),
    /// A value of the host by that key of `Env::values`.
    Value(&'static str),
}

/// Card fields that a macro inserts after expanding them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    CharPrompt,
    CharInstruction,
    Description,
    Personality,
    Scenario,
    Persona,
    MesExamplesRaw,
    DepthPrompt,
    CreatorNotes,
    FirstMessage,
}

impl Field {
    pub(super) const COUNT: usize = 10;

    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VarOp {
    Set,
    Add,
    Inc,
    Dec,
    Get,
    Has,
    Delete,
    SetKey,
    GetKey,
}

/// A built-in macro.
#[derive(Clone, Copy, Debug)]
pub(super) struct Def {
    pub(super) id: Id,
    /// Fewest arguments.
    pub(super) min: usize,
    /// Most arguments; with `list` without a bound.
    pub(super) max: usize,
    pub(super) list: bool,
    /// The first argument must be a whole number.
    pub(super) integer: bool,
}

impl Def {
    /// Whether that many arguments are right.
    pub(super) const fn takes(&self, count: usize) -> bool {
        count >= self.min && (self.list || count <= self.max)
    }
}

const fn def(id: Id, min: usize, max: usize) -> Def {
    Def { id, min, max, list: false, integer: false }
}
const fn none(id: Id) -> Def {
    def(id, 0, 0)
}
const fn list(id: Id) -> Def {
    Def { id, min: 0, max: 0, list: true, integer: false }
}
const fn whole(id: Id) -> Def {
    Def { id, min: 0, max: 1, list: false, integer: true }
}
const fn var(op: VarOp, global: bool) -> Def {
    let count = match op {
        VarOp::Inc | VarOp::Dec | VarOp::Get | VarOp::Has | VarOp::Delete => 1,
        VarOp::Set | VarOp::Add | VarOp::GetKey => 2,
        VarOp::SetKey => 3,
    };
    def(Id::Var(op, global), count, count)
}
const fn card(field: Field) -> Def {
    none(Id::Card(field))
}
const fn sequence(key: &'static str) -> Def {
    none(Id::Sequence(key, ""))
}

/// Sorted by name.
const TABLE: &[(&str, Def)] = &[
    ("//", def(Id::Comment, 1, 1)),
    ("addglobalvar", var(VarOp::Add, true)),
    ("addvar", var(VarOp::Add, false)),
    ("allchatrange", none(Id::AllChatRange)),
    ("authorsnote", none(Id::Value("authorsnote"))),
    ("availableexpressions", none(Id::Value("availableexpressions"))),
    ("banned", def(Id::Banned, 1, 1)),
    ("char", none(Id::Char)),
    ("char_version", none(Id::Version)),
    ("charauthorsnote", none(Id::Value("charauthorsnote"))),
    ("charcreatornotes", card(Field::CreatorNotes)),
    ("chardepthprompt", card(Field::DepthPrompt)),
    ("chardescription", card(Field::Description)),
    ("charfirstmessage", whole(Id::FirstMessage)),
    ("charifnotgroup", none(Id::Group)),
    ("charinstruction", card(Field::CharInstruction)),
    ("charnegativeprefix", none(Id::Value("charnegativeprefix"))),
    ("charpersonality", card(Field::Personality)),
    ("charprefix", none(Id::Value("charprefix"))),
    ("charprompt", card(Field::CharPrompt)),
    ("charscenario", card(Field::Scenario)),
    ("charversion", none(Id::Version)),
    ("chatseparator", none(Id::ExampleSeparator)),
    ("chatstart", none(Id::ChatStart)),
    ("comment", def(Id::Comment, 1, 1)),
    ("creatornotes", card(Field::CreatorNotes)),
    ("currentswipeid", none(Id::CurrentSwipe)),
    ("date", none(Id::Date)),
    ("datetimeformat", def(Id::DateTimeFormat, 1, 1)),
    ("decglobalvar", var(VarOp::Dec, true)),
    ("decvar", var(VarOp::Dec, false)),
    ("defaultauthorsnote", none(Id::Value("defaultauthorsnote"))),
    ("defaultexpression", none(Id::Value("defaultexpression"))),
    ("defaultsystemprompt", none(Id::DefaultSystemPrompt)),
    ("deleteglobalvar", var(VarOp::Delete, true)),
    ("deletevar", var(VarOp::Delete, false)),
    ("description", card(Field::Description)),
    ("else", none(Id::Else)),
    ("exampleseparator", none(Id::ExampleSeparator)),
    ("firstdisplayedmessageid", none(Id::Value("firstdisplayedmessageid"))),
    ("firstincludedmessageid", none(Id::FirstIncluded)),
    ("flushglobalvar", var(VarOp::Delete, true)),
    ("flushvar", var(VarOp::Delete, false)),
    ("getglobalvar", var(VarOp::Get, true)),
    ("getglobalvarindex", var(VarOp::GetKey, true)),
    ("getglobalvarkey", var(VarOp::GetKey, true)),
    ("getvar", var(VarOp::Get, false)),
    ("getvarindex", var(VarOp::GetKey, false)),
    ("getvarkey", var(VarOp::GetKey, false)),
    ("globalvarexists", var(VarOp::Has, true)),
    ("greeting", whole(Id::FirstMessage)),
    ("group", none(Id::Group)),
    ("groupnotmuted", none(Id::GroupNotMuted)),
    ("hasextension", def(Id::HasExtension, 1, 1)),
    ("hasglobalvar", var(VarOp::Has, true)),
    ("hasvar", var(VarOp::Has, false)),
    ("idle_duration", none(Id::IdleDuration)),
    ("idleduration", none(Id::IdleDuration)),
    ("if", def(Id::If, 2, 2)),
    ("incglobalvar", var(VarOp::Inc, true)),
    ("incvar", var(VarOp::Inc, false)),
    ("input", none(Id::Input)),
    ("instructassistantprefix", sequence("output_sequence")),
    ("instructassistantsuffix", sequence("output_suffix")),
    ("instructfirstassistantprefix", none(Id::Sequence("first_output_sequence", "output_sequence"))),
    ("instructfirstinput", none(Id::Sequence("first_input_sequence", "input_sequence"))),
    ("instructfirstoutputprefix", none(Id::Sequence("first_output_sequence", "output_sequence"))),
    ("instructfirstuserprefix", none(Id::Sequence("first_input_sequence", "input_sequence"))),
    ("instructinput", sequence("input_sequence")),
    ("instructlastassistantprefix", none(Id::Sequence("last_output_sequence", "output_sequence"))),
    ("instructlastinput", none(Id::Sequence("last_input_sequence", "input_sequence"))),
    ("instructlastoutputprefix", none(Id::Sequence("last_output_sequence", "output_sequence"))),
    ("instructlastuserprefix", none(Id::Sequence("last_input_sequence", "input_sequence"))),
    ("instructoutput", sequence("output_sequence")),
    ("instructseparator", sequence("output_suffix")),
    ("instructstop", sequence("stop_sequence")),
    ("instructstorystringprefix", sequence("story_string_prefix")),
    ("instructstorystringsuffix", sequence("story_string_suffix")),
    ("instructsystem", none(Id::DefaultSystemPrompt)),
    ("instructsysteminstructionprefix", sequence("last_system_sequence")),
    ("instructsystemprefix", sequence("system_sequence")),
    ("instructsystemprompt", none(Id::DefaultSystemPrompt)),
    ("instructsystemsuffix", sequence("system_suffix")),
    ("instructuserfiller", sequence("user_alignment_message")),
    ("instructuserprefix", sequence("input_sequence")),
    ("instructusersuffix", sequence("input_suffix")),
    ("ismobile", none(Id::Value("ismobile"))),
    ("isodate", none(Id::IsoDate)),
    ("isotime", none(Id::IsoTime)),
    ("lastcharmessage", none(Id::LastCharMessage)),
    ("lastexpression", def(Id::Value("lastexpression"), 0, 1)),
    ("lastgenerationtype", none(Id::LastGenerationType)),
    ("lastmessage", none(Id::LastMessage)),
    ("lastmessageid", none(Id::LastIndex)),
    ("lastswipeid", none(Id::SwipeCount)),
    ("lastusermessage", none(Id::LastUserMessage)),
    ("maxcontext", none(Id::MaxContext)),
    ("maxcontexttokens", none(Id::MaxContext)),
    ("maxprompt", none(Id::MaxPrompt)),
    ("maxprompttokens", none(Id::MaxPrompt)),
    ("maxresponse", none(Id::MaxResponse)),
    ("maxresponsetokens", none(Id::MaxResponse)),
    ("mesexamples", none(Id::MesExamples)),
    ("mesexamplesraw", card(Field::MesExamplesRaw)),
    ("model", none(Id::Model)),
    ("newline", whole(Id::Newline)),
    ("noop", none(Id::Noop)),
    ("notchar", none(Id::NotChar)),
    ("original", none(Id::Original)),
    ("outlet", def(Id::Outlet, 1, 1)),
    ("persona", card(Field::Persona)),
    ("personality", card(Field::Personality)),
    ("pick", list(Id::Pick)),
    ("random", list(Id::Random)),
    ("reasoningprefix", none(Id::Reasoning(0))),
    ("reasoningseparator", none(Id::Reasoning(2))),
    ("reasoningsuffix", none(Id::Reasoning(1))),
    ("reverse", def(Id::Reverse, 1, 1)),
    ("roll", def(Id::Roll, 1, 1)),
    ("scenario", card(Field::Scenario)),
    ("setglobalvar", var(VarOp::Set, true)),
    ("setglobalvarindex", var(VarOp::SetKey, true)),
    ("setglobalvarkey", var(VarOp::SetKey, true)),
    ("setvar", var(VarOp::Set, false)),
    ("setvarindex", var(VarOp::SetKey, false)),
    ("setvarkey", var(VarOp::SetKey, false)),
    ("space", whole(Id::Space)),
    ("summary", none(Id::Value("summary"))),
    ("systemprompt", none(Id::SystemPrompt)),
    ("time", def(Id::Time, 0, 1)),
    ("timediff", def(Id::TimeDiff, 2, 2)),
    ("trim", def(Id::Trim, 0, 1)),
    ("user", none(Id::User)),
    ("varexists", var(VarOp::Has, false)),
    ("version", none(Id::Version)),
    ("weekday", none(Id::Weekday)),
];

/// Names of the legacy engine that the new one lost (fault F11).
const LOST: &[(&str, Def)] = &[
    ("charjailbreak", card(Field::CharInstruction)),
    ("instructfirstoutput", none(Id::Sequence("first_output_sequence", "output_sequence"))),
    ("instructlastoutput", none(Id::Sequence("last_output_sequence", "output_sequence"))),
];

/// A built-in by its name in any case. `lost` adds the names of fault F11.
pub(super) fn find(name: &str, lost: bool) -> Option<&'static Def> {
    let name = name.to_ascii_lowercase();
    let extra = || LOST.iter().find(|(n, _)| lost && *n == name).map(|(_, def)| def);
    TABLE
        .binary_search_by(|(n, _)| (*n).cmp(&name))
        .ok()
        .and_then(|at| TABLE.get(at))
        .map(|(_, def)| def)
        .or_else(extra)
}

/// Names and aliases of all built-in macros, in lower case and order; and those that only the old engine has (fault F11).
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().chain(LOST).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_sorted() {
        assert!(super::TABLE.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
