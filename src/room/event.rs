//! What a room is told and what it answers (spec 09 §11, §16). All of it is data; the JavaScript driver passes it on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parts::Report;

/// Something that happened outside, told to the room.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Input {
    /// The user sent something, or asked for a reply, a swipe, a continuation …
    Start(Start),
    /// A piece of the reply's text.
    Chunk {
        /// The request it answers.
        request: String,
        /// The piece.
        text: String,
    },
    /// A piece of the provider's answer as it came over the wire, decoded as UTF-8.
    Wire {
        /// The request it answers.
        request: String,
        /// The piece; an empty one ends the answer.
        text: String,
        /// Nothing more will come.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        end: Option<bool>,
    },
    /// The reply is complete. With a text it is the whole text; without, what came in chunks.
    Reply {
        /// The request it answers.
        request: String,
        /// The answer.
        #[serde(flatten)]
        answer: Answer,
    },
    /// The call failed.
    Fail {
        /// The request it answers.
        request: String,
        /// A short stable word: `network`, `http_429`, the provider's own code …
        code: String,
        /// For people.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        message: Option<String>,
    },
    /// The call took too long.
    Timeout {
        /// The request it answers.
        request: String,
    },
    /// Stop the round. What was accepted stays.
    Abort {
        /// Keep what has come of the running reply.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        keep: Option<bool>,
    },
    /// A wait is over.
    Elapsed {
        /// Which wait.
        wait: String,
    },
    /// The user types: auto mode goes off.
    Typing,
    /// The user sent a message while the room was busy.
    UserMessage {
        /// The text.
        text: String,
    },
}

/// What a round is to do.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Start {
    /// What the user typed; absent or empty: nothing typed.
    pub user_message: Option<String>,
    /// `normal` (default), `swipe`, `regenerate`, `continue`, `impersonate`, `quiet`.
    pub kind: Option<String>,
    /// Force this speaker: name, alias, avatar, or index in the group.
    pub speaker: Option<String>,
    /// A round of auto mode: what is typed is not sent.
    pub auto: bool,
    /// For `quiet`: the instruction and its options.
    pub quiet: Option<QuietInput>,
    /// Run exactly these avatars, in this order, instead of choosing.
    pub speakers: Option<Vec<String>>,
    /// The reply is asked for as a stream; overrides the preset.
    pub stream: Option<bool>,
}

/// A request beside the chat.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct QuietInput {
    /// The instruction.
    pub prompt: String,
    /// The answer is meant to be seen.
    pub to_loud: bool,
    /// Leave out lorebook and author's note.
    pub skip_lore: bool,
    /// Name for the answer's last line in text completion.
    pub name: String,
    /// A picture, as a data URL.
    pub image: Option<String>,
    /// Response length for this call, tokens.
    pub response_length: Option<i64>,
}

/// What a provider answered, in the caller's hands or read by us.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase")]
pub struct Answer {
    /// Whole text; absent: what came in chunks.
    pub text: Option<String>,
    /// Reasoning text.
    pub reasoning: Option<String>,
    /// Encrypted reasoning.
    pub signature: Option<String>,
    /// Further candidates.
    pub alternatives: Option<Vec<String>>,
    /// Why it ended: `stop`, `length`, `tools`, `filter` …
    pub finish: Option<String>,
}

/// Someone who will speak, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// Avatar.
    pub id: String,
    /// Name.
    pub name: String,
    /// Why: `{kind: "mentioned", …}`.
    pub reason: Value,
}

/// What the room answers, in order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Output {
    /// A round begins.
    RoundStarted {
        /// Its number in this start.
        round: u32,
        /// `single_round`, `free_chat`, `host_mode`.
        mode: String,
    },
    /// Who speaks in it, and why.
    RoundPlan {
        /// Its number.
        round: u32,
        /// In order.
        planned: Vec<Planned>,
        /// Why nobody: `all_muted`, `manual` …
        #[serde(skip_serializing_if = "Option::is_none")]
        empty: Option<String>,
        /// Random numbers that the choice used.
        draws: Value,
    },
    /// The user's message was stored.
    UserMessage {
        /// Position in the chat.
        index: usize,
        /// As stored.
        message: Value,
    },
    /// What the memory brings into the request that follows.
    Memory {
        /// Who will speak.
        speaker: String,
        /// `{query, items: [{kind, id, tokens, score?, cosine?, wordRank?, leftOut?, cut?}], excluded, left, degraded, summary, recalled, bank}`.
        report: Value,
    },
    /// Send this.
    Request {
        /// Names it in the inputs that answer it.
        id: String,
        /// Avatar of who speaks; absent for the user's voice outside a group.
        speaker: String,
        /// Their name.
        name: String,
        /// Generation type.
        kind: String,
        /// `{url, method, headers, body, auth}`: a valid second argument of `fetch`, the key still missing.
        request: Value,
        /// Why the request looks as it does.
        report: Arc<Report>,
    },
    /// Text that is safe to show; never taken back except by `draft_reset`.
    Token {
        /// Who.
        speaker: String,
        /// The new piece.
        text: String,
    },
    /// Drop what was shown of this reply.
    DraftReset {
        /// Who.
        speaker: String,
    },
    /// End the call now: what follows belongs to someone else.
    Stop {
        /// Which request.
        request: String,
    },
    /// The reply was cut.
    Cut {
        /// Who spoke.
        speaker: String,
        /// UTF-16 offset in the raw reply.
        offset: usize,
        /// Whose label was found.
        foreign: String,
        /// The reason code.
        reason: String,
    },
    /// A message was stored.
    MessageDone {
        /// Who.
        speaker: String,
        /// Their name.
        name: String,
        /// Position in the chat.
        index: usize,
        /// The cleaned text.
        text: String,
        /// Scripts and macros of the reply that met a limit or are wrong; absent when there are none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<crate::error::Warning>>"))]
        warnings: Vec<crate::error::Warning>,
        /// As stored.
        message: Value,
    },
    /// A result that is not stored: impersonation and quiet answers.
    Result {
        /// Who spoke, or beside whom.
        speaker: String,
        /// The cleaned text.
        text: String,
    },
    /// A speaker's turn failed; the others go on.
    Error {
        /// Who.
        speaker: String,
        /// Stable code.
        code: String,
        /// For people.
        message: String,
    },
    /// How the round went.
    RoundStats {
        /// Its number.
        round: u32,
        /// Who spoke.
        spoke: Vec<String>,
        /// Whose turn failed.
        failed: Vec<String>,
        /// Who was not reached.
        unreached: Vec<String>,
    },
    /// The end.
    RoomFinished {
        /// `round_complete`, `aborted`, `nobody_can_speak` …
        reason: String,
        /// Rounds run.
        round: u32,
        /// Messages stored.
        count: u32,
    },
    /// Wait, then say `elapsed`.
    Wait {
        /// Names it.
        id: String,
        /// How long, milliseconds.
        ms: u64,
        /// `pause` or `auto`.
        why: String,
    },
    /// Not done: the room is busy.
    Refused {
        /// The code, `room.busy`.
        code: String,
    },
    /// Not done: it answers nothing that is outstanding.
    Ignored {
        /// `stale`.
        reason: String,
        /// The request named.
        request: String,
    },
}
