//! One error type for the crate: a stable code, the path of the field, and what to do about it.
//!
//! Codes are append-only. JavaScript sees the same three things as `PromptsideError {code, path, message}`.
//! Readers of files return a value and a list of [`Warning`]s instead, and fail only when nothing usable is left.

use std::borrow::Cow;
use std::fmt;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal;)+) => {
        /// What went wrong. The text form (`as_str`) is stable and append-only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// Every code, in the order of `docs/errors.md`.
            pub const ALL: &'static [Code] = &[$(Code::$name,)+];

            /// The stable text, `area.fact`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)+ }
            }

            /// One sentence on cause and remedy, as printed in `docs/errors.md`.
            pub const fn about(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc),+),)+ }
            }
        }
    };
}

codes! {
    /// The text is not JSON. Remedy: fix the place named by line and column.
    JsonSyntax = "json.syntax";
    /// The JSON is nested more than 127 levels deep. Remedy: flatten it.
    JsonTooDeep = "json.too_deep";
    /// A field has a type or value that cannot be read. Remedy: see the message for what is accepted.
    SceneField = "scene.field";
    /// A field that cannot be left out is missing. Remedy: supply it.
    SceneMissing = "scene.missing";
    /// A name, avatar or id resolves to nothing. Remedy: use one that the scene holds.
    SceneUnknown = "scene.unknown";
    /// The group has no members. Remedy: add a member before starting a turn.
    GroupEmpty = "group.empty";
    /// The message to swipe or continue was written by a character that is gone. Remedy: restore or choose another message.
    SpeakerGone = "speaker.gone";
    /// Nobody can speak: every member is muted or missing. Remedy: unmute one, or force a speaker.
    SpeakerNone = "speaker.none";
    /// The recorded random numbers ran out. Remedy: supply a longer tape, a seed, or entropy.
    DrawsExhausted = "draws.exhausted";
    /// Text that must be sent does not fit the context. Remedy: shorten what the message lists, or raise the context size.
    BudgetMandatory = "budget.mandatory";
    /// The newest message alone does not fit. Remedy: shorten it or the fixed prompts, or raise the context size.
    BudgetNewest = "budget.newest_message";
    /// An option is not one of the accepted values. Remedy: see the message for the list.
    OptionUnknown = "option.unknown";
    /// The room is busy with a round. Remedy: wait for it to finish, or abort it.
    RoomBusy = "room.busy";
    /// The room was freed. Remedy: build a new one.
    RoomClosed = "room.closed";
    /// The call does not fit the state the room is in. Remedy: see the message for what it waits for.
    RoomState = "room.state";
    /// A limit of the host was reached. Remedy: raise the limit if the input is trusted.
    LimitReached = "limit.reached";
    /// The vocabulary is damaged or not one of ours. Remedy: load the file shipped with the package.
    TokensVocabulary = "tokens.vocabulary";
    /// A fault in this library. Remedy: report it with a snapshot of the room.
    Internal = "internal";
}

/// An error: code, path, remedy. `Display` says what happened and what to do.
pub struct Error {
    code: Code,
    path: String,
    message: Cow<'static, str>,
}

impl Error {
    /// An error at a field path such as `group.members[2]` (empty for none). `message` is a sentence without a final period.
    pub fn new(code: Code, path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, path: path.into(), message: message.into() }
    }

    /// The stable code.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The field, as `a.b[3].c`; empty when no field is at fault.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What happened and what to do, without the code.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same error, its path prefixed: `entries[3]` inside `lorebooks[0]`.
    #[must_use]
    pub fn under(mut self, parent: &str) -> Self {
        self.path = join_path(parent, &self.path);
        self
    }
}

/// `a` + `b` with the dot that belongs between them.
pub fn join_path(parent: &str, child: &str) -> String {
    match (parent.is_empty(), child.is_empty()) {
        (true, _) => child.to_owned(),
        (_, true) => parent.to_owned(),
        _ if child.starts_with('[') => format!("{parent}{child}"),
        _ => format!("{parent}.{child}"),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "{}: {}", self.code.as_str(), self.message)
        } else {
            write!(f, "{} at {}: {}", self.code.as_str(), self.path, self.message)
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// Something that was repaired or ignored: same shape as an error, but the result stands.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Warning {
    /// Stable code, such as `field-coerced`.
    pub code: Cow<'static, str>,
    /// Where it arose: JSON path, chunk, entry or line.
    pub path: String,
    /// What was done.
    pub message: String,
}

impl Warning {
    /// A warning at a path.
    pub fn new(code: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: Cow::Borrowed(code), path: path.into(), message: message.into() }
    }

    /// The same warning, its path prefixed.
    #[must_use]
    pub fn under(mut self, parent: &str) -> Self {
        self.path = join_path(parent, &self.path);
        self
    }
}
