//! Parameters and results of the calls, as JavaScript sees them. `npm/src/generated.ts` is made from these by a test.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Warning;
use crate::lore::{Activated, Explained, Loop, Untouched};
use crate::macros::{MacroSpan, Needs};
use crate::parts::{Effects, Report};
use crate::room::{Input, QuietInput};

/// What a look into the lorebooks finds: which entries are active, what they say where, and why each is active or not.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LoreLook {
    /// Text before the card.
    pub before: String,
    /// Text after the card.
    pub after: String,
    /// Example dialogue.
    pub examples: Vec<LoreExample>,
    /// Texts in the chat, by depth and role.
    pub depth: Vec<LoreDepth>,
    /// Lines above the author's note.
    pub an_before: Vec<String>,
    /// Lines below it.
    pub an_after: Vec<String>,
    /// Texts for `{{outlet::name}}`, by name.
    #[cfg_attr(test, ts(type = "Record<string, string[]>"))]
    pub outlets: IndexMap<String, Vec<String>>,
    /// Active entries, in the order in which they became so.
    pub activated: Vec<Activated>,
    /// Every entry that something came of.
    pub explained: Vec<Explained>,
    /// All other entries: by reason and book their uids, where a list `[a, b]` stands for all whole numbers from a to b.
    #[cfg_attr(test, ts(type = "Record<string, Record<string, (number | string | [number, number])[]>>"))]
    pub untouched: Untouched,
    /// The loops of the scan.
    pub loops: Vec<Loop>,
    /// Tokens that the entries could take.
    pub budget: i64,
    /// An entry did not fit (in profile `promptside` others still may).
    pub overflow: bool,
    /// What could not be read, keys that were stopped.
    pub warnings: Vec<Warning>,
}

/// An example dialogue of a lorebook entry.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LoreExample {
    /// 0 before the card's own, 1 behind them.
    pub position: u8,
    /// The text.
    pub content: String,
}

/// Lorebook texts of one depth and role.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LoreDepth {
    /// Messages from the end; null where there is none.
    pub depth: Value,
    /// 0 system, 1 user, 2 assistant.
    pub role: i64,
    /// Texts, joined by a line feed in the request.
    pub entries: Vec<String>,
}

/// Who would speak?
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SpeakerOptions {
    /// What the user typed.
    pub user_message: Option<String>,
    /// `normal` (default), `swipe`, `regenerate`, `continue`, `impersonate`, `quiet`.
    pub kind: Option<String>,
    /// Force this speaker: name, alias, avatar, or index in the group.
    pub speaker: Option<String>,
    /// Auto mode: nobody pressed send.
    pub auto: bool,
    /// Use up the random numbers; otherwise asking twice gives the same answer (default false).
    pub spend: bool,
}

/// Who speaks, and why.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Plan {
    /// In order.
    pub speakers: Vec<crate::speakers::Pick>,
    /// Why nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nobody: Option<crate::speakers::Nobody>,
    /// Which members do not speak, and why.
    pub passed: Vec<crate::speakers::Pass>,
    /// The random numbers used, in order.
    pub draws: Vec<Drawn>,
    /// Oddities.
    pub warnings: Vec<Warning>,
}

/// A random number and what it decided.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Drawn {
    /// `natural.shuffle`, `natural`, `pooled`, `wi`, `macro.random` …
    pub site: String,
    /// The number, 0 <= value < 1.
    pub value: f64,
}

/// Which request?
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct BuildOptions {
    /// Who speaks: name, alias, avatar, or index. Default: the one whom the plan names first.
    pub speaker: Option<String>,
    /// A message of the user that is not in the chat yet.
    pub user_message: Option<String>,
    /// See [`SpeakerOptions::kind`].
    pub kind: Option<String>,
    /// For `quiet`.
    pub quiet: Option<QuietInput>,
    /// Nobody pressed send.
    pub auto: bool,
    /// As a stream; overrides the preset.
    pub stream: Option<bool>,
}

/// A prompt without the chat (text completion).
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct RawOptions {
    /// A text, or `[{role, content, name?}]`; macros are expanded.
    pub prompt: Value,
    /// In front of it.
    pub system_prompt: String,
    /// How the answer is to begin.
    pub prefill: String,
    /// Leave out the instruct template.
    pub instruct_override: bool,
    /// The answer is meant to be seen.
    pub to_loud: bool,
    /// Response length for this call, tokens.
    pub response_length: Option<i64>,
    /// Who `{{char}}` is: name, alias, avatar, or index.
    pub speaker: Option<String>,
}

/// A request that would be sent.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Built {
    /// `{method, url, headers, body, auth?}`: a valid second argument of `fetch`, the key still missing.
    #[cfg_attr(test, ts(type = "OutgoingRequest"))]
    pub request: Value,
    /// Why it looks as it does.
    pub report: Report,
    /// What a round would store once this request is answered: variables, timers, edits.
    pub changes: Effects,
    /// Who speaks: avatar.
    pub speaker: String,
}

/// A reply to clean.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "options, each with a name and a default")]
pub struct CleanOptions {
    /// The reply as it came.
    pub text: String,
    /// Who spoke. Outside a group: the character.
    #[serde(default)]
    pub speaker: Option<String>,
    /// It is a message in the user's name.
    #[serde(default)]
    pub impersonate: bool,
    /// It continues the last message.
    #[serde(default)]
    pub r#continue: bool,
    /// Leave an unfinished last sentence.
    #[serde(default)]
    pub keep_incomplete: bool,
    /// `smart`, `compat` or `off`: what to do with labels; default by the profile.
    #[serde(default)]
    pub trim: Option<String>,
    /// Stop strings of this call; default those of the settings.
    #[serde(default)]
    pub stop: Option<Vec<String>>,
    /// Remove the speaker's own label (default true).
    #[serde(default = "yes")]
    pub trim_names: bool,
    /// Cut at the label of the one who must not speak (default true).
    #[serde(default = "yes")]
    pub trim_wrong_names: bool,
    /// Put "start reply with" in front (default true).
    #[serde(default = "yes")]
    pub include_bias: bool,
}

const fn yes() -> bool {
    true
}

/// One step of a room.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepParams {
    /// What happened.
    pub input: Input,
    /// When, milliseconds since 1970.
    #[serde(default)]
    pub now: Option<f64>,
}

/// What a request was made of.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Inspected {
    /// The neutral payload, before post-processing and conversion.
    pub payload: Value,
    /// Its report.
    pub report: std::sync::Arc<Report>,
    /// Active lorebook entries: `[{book, uid}]`.
    pub activated: Value,
    /// What the memory brought, and why; `null` without one.
    pub memory: Value,
}

/// Changes of the stored chat by the host.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ChatEdits {
    /// Messages to append, as a chat file holds them.
    pub append: Vec<Value>,
    /// How many of the last messages to remove, before appending.
    pub remove_last: usize,
}

/// Texts to expand.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ExpandOptions {
    /// Each is expanded, in order; later ones see variables that earlier ones set.
    pub texts: Vec<String>,
    /// Who `{{char}}` is.
    pub speaker: Option<String>,
    /// Keep the variables that were set (default false).
    pub commit: bool,
}

/// A text to look at, for editors.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct InspectOptions {
    /// The text.
    pub text: String,
    /// Who `{{char}}` is.
    pub speaker: Option<String>,
    /// Whose text it is: `full` (default: the user's), `card`, `data` (model output, retrieved text).
    pub trust: Option<String>,
    /// Keep what it writes (default false).
    pub commit: bool,
}

/// What a text becomes, and why.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InspectedText {
    /// The text, expanded.
    pub text: String,
    /// Its macros in source order, with what each inserts.
    pub macros: Vec<MacroSpan>,
    /// Names that are neither built in nor in the scene's `macros`.
    pub unknown: Vec<String>,
    /// What the result depends on.
    pub needs: Needs,
    /// What it would write.
    pub changes: Effects,
    /// Macros that met a limit or were not allowed.
    pub warnings: Vec<Warning>,
}

/// A text run through the regex scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Scripted {
    /// The text as the scripts leave it.
    pub text: String,
    /// The scripts that changed it, in the order they ran.
    pub changed: Vec<crate::scripts::Change>,
    /// What macros in them would write.
    pub changes: Effects,
    /// Scripts that were stopped or do nothing, by name and with the reason.
    pub warnings: Vec<Warning>,
}

/// A lorebook scan.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct LoreOptions {
    /// Lines to look into, oldest first; default: the chat's visible messages.
    pub lines: Option<Vec<String>>,
    /// Prompt size in tokens that the budget is a share of (default: context less response).
    pub max_context: Option<i64>,
    /// Generation type.
    pub trigger: Option<String>,
    /// Who is about to speak.
    pub speaker: Option<String>,
    /// Timers are not written (default false).
    pub dry: bool,
}
