//! One error type for the crate: a stable code, the path of the field, and what to do about it.
//!
//! Codes are append-only. JavaScript sees the same three things as `PromptsideError {code, path, message}`.
//! Readers of files return a value and a list of [`Warning`]s instead, and fail only when nothing usable is left.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

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
    /// The text is not YAML. Remedy: fix the place named by line and column.
    YamlSyntax = "yaml.syntax";
    /// The file has no bytes, or only blanks. Remedy: choose another file.
    FileEmpty = "file.empty-file";
    /// The bytes are no format that is read here. Remedy: see the message for what they look like; PNG, ZIP, JSON, JSONL and YAML are read.
    FileUnsupported = "file.unsupported-format";
    /// The PNG ends too early and no text chunk of it is whole. Remedy: download the picture again.
    FilePngTruncated = "file.png-truncated";
    /// The picture carries no card. Remedy: ask for the original file; sites that convert pictures strip the card.
    FileNoCardData = "file.no-card-data";
    /// The text chunk is neither JSON nor base64. Remedy: export the card again.
    FileBadBase64 = "file.bad-base64";
    /// The text is not JSON. Remedy: fix the place named by line and column.
    FileBadJson = "file.bad-json";
    /// The JSON is nested more than 127 levels deep. Remedy: flatten it.
    FileTooDeep = "file.too-deep";
    /// The file, or what it inflates to, is larger than the limit. Remedy: raise the limit if the file is trusted.
    FileTooLarge = "file.too-large";
    /// The JSON is a list, a text or a number where an object is needed. Remedy: choose another file.
    FileNotAnObject = "file.not-an-object";
    /// The JSON is an object of no known kind. Remedy: see the message for its keys.
    FileUnknownShape = "file.unknown-shape";
    /// The file holds something else than what was asked for. Remedy: import it as what it is.
    FileWrongKind = "file.wrong-kind";
    /// The archive's directory or an entry of it cannot be read. Remedy: download it again.
    FileZipCorrupt = "file.zip-corrupt";
    /// The entry that is needed is encrypted. Remedy: unpack it with its password and pack it without.
    FileZipEncrypted = "file.zip-encrypted";
    /// The archive holds neither `card.json` nor `manifest.json` nor one picture with a card. Remedy: choose another file.
    FileZipNoCard = "file.zip-no-card";
    /// The Backyard archive's manifest names no character that is there. Remedy: export it again.
    FileByafInvalid = "file.byaf-invalid";
    /// The text starts like YAML and is not. Remedy: fix the place named by line and column.
    FileBadYaml = "file.bad-yaml";
    /// A message cannot be put into the provider's form. Remedy: see the message; the `promptside` profile can send most of them.
    ProviderMessage = "provider.message";
    /// The index and what is asked of it do not belong together. Remedy: see the message; embed anew with one model.
    MemoryIndex = "memory.index";
    /// The embedding service's answer cannot be used. Remedy: see the message for what it lacks.
    MemoryAnswer = "memory.answer";
    /// The story string is no template. Remedy: fix the place that the message names; the `promptside` profile sends the fields in their usual order instead.
    TemplateStory = "template.story";
    /// The backend needs a model and none is chosen. Remedy: choose one.
    ProviderModel = "provider.model";
    /// The tokenizer.json lacks a field, or a field has a value that it cannot have. Remedy: load the file as the model's author published it.
    TokensFile = "tokens.file";
    /// The tokenizer.json names a part that is not supported. Remedy: let the backend count (`room.supplyCounts`), or use the estimate.
    TokensUnsupported = "tokens.unsupported";
    /// A fault in this library. Remedy: report it with a snapshot of the room.
    Internal = "internal";
}

/// An error: code, path, remedy. `Display` says what happened and what to do.
pub struct Error {
    code: Code,
    path: String,
    message: Cow<'static, str>,
    detail: Option<Box<Value>>,
}

impl Error {
    /// An error at a field path such as `group.members[2]` (empty for none). `message` is a sentence without a final period.
    pub fn new(code: Code, path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, path: path.into(), message: message.into(), detail: None }
    }

    /// The same error with data for a program: what is listed in the message, as JSON.
    #[must_use]
    pub fn with_detail(mut self, detail: Value) -> Self {
        self.detail = Some(Box::new(detail));
        self
    }

    /// Data for a program, where there is any.
    pub fn detail(&self) -> Option<&Value> {
        self.detail.as_deref()
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

/// Warnings as they are collected. Of one code at most [`Warnings::PER_CODE`] are kept, so that a hostile file cannot make the
/// list long; the last one kept then says how many more there were.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    list: Vec<Warning>,
    counts: Vec<(String, usize)>,
}

impl Warnings {
    /// How many of one code are kept.
    pub const PER_CODE: usize = 50;

    /// Whether another one of this code would be kept; counts it when not.
    #[inline(never)]
    fn room(&mut self, code: &str) -> bool {
        if let Some((_, count)) = self.counts.iter_mut().find(|(c, _)| c == code) {
            *count += 1;
            return *count <= Self::PER_CODE;
        }
        self.counts.push((code.to_owned(), 1));
        true
    }

    /// Adds one.
    #[inline(never)]
    pub fn push(&mut self, warning: Warning) {
        if self.room(&warning.code) {
            self.list.push(warning);
        }
    }

    /// Adds one at a path; the texts are only made when they are kept.
    pub fn add(&mut self, code: &'static str, path: impl FnOnce() -> String, message: impl Into<String>) {
        if self.room(code) {
            self.list.push(Warning::new(code, path(), message));
        }
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: impl IntoIterator<Item = Warning>) {
        other.into_iter().for_each(|w| self.push(w));
    }

    /// Whether one with this code is there.
    pub fn has(&self, code: &str) -> bool {
        self.counts.iter().any(|(c, _)| c == code)
    }

    /// The list.
    pub fn into_list(mut self) -> Vec<Warning> {
        for (code, count) in self.counts.iter().filter(|(_, count)| *count > Self::PER_CODE) {
            if let Some(last) = self.list.iter_mut().rev().find(|w| w.code == code.as_str()) {
                last.message = format!("{} (and {} more)", last.message, count - Self::PER_CODE);
            }
        }
        self.list
    }
}
