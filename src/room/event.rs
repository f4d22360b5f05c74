//! What a room is told and what it answers (spec 09 §11, §16). All of it is data; the JavaScript driver passes it on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::coordinator::Cause;
use super::narrator::Trigger;
use super::validate::Issue;

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
    /// An order about the turns to come.
    Command {
        /// Which.
        order: Order,
        /// Whom it is about, for `insert` and `skip`; `skip` without anybody ends the running turn.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        member: Option<String>,
        /// In which order, for `reorder`.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        members: Option<Vec<String>>,
    },
    /// Somebody comes or leaves.
    Present {
        /// Who.
        member: String,
        /// Whether it is there from now on.
        present: bool,
    },
    /// An occasion for the narrator.
    Trigger {
        /// `scene_change`, `character_join`, `plot_node`, `manual`, `silence`.
        trigger: String,
    },
}

/// Orders about the turns to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// No further turn begins.
    Pause,
    /// Go on.
    Resume,
    /// A member speaks next.
    Insert,
    /// A member, or the one who is speaking, has no turn.
    Skip,
    /// The running reply is asked for anew.
    Retry,
    /// The waiting members in another order.
    Reorder,
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
    /// With the option `rounds`: the member whom the user addresses, by name, alias or avatar.
    pub target: Option<String>,
    /// With the option `rounds`: occasions for the narrator.
    pub triggers: Option<Vec<String>>,
    /// How many messages the chat has for the page; when the room has more or fewer, `history_changed` says so.
    pub history_length: Option<usize>,
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
    /// Their reasoning, in the same order.
    pub alternative_reasonings: Option<Vec<String>>,
    /// Why it ended: `stop`, `length`, `tools`, `filter` …
    pub finish: Option<String>,
    /// With the option `rounds`: the speaker stays silent.
    pub skip: Option<bool>,
    /// With the option `rounds`: whom it names next.
    pub next: Option<String>,
    /// With the option `rounds`: a vector of this reply, for the guard against repeats.
    pub vector: Option<Vec<f64>>,
    /// With the option `rounds`: a vector of the speaker's last message.
    pub previous_vector: Option<Vec<f64>>,
}

/// What a request of a configured round is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Asking {
    /// `reply`, `director`, `narrate`.
    pub purpose: String,
    /// Why the speaker has a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cause>,
    /// Who made it so: `user` or an avatar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Number of the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Whom the user addressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The speaker was spoken to and must answer.
    pub must_reply: bool,
    /// Its last attempt said the same as before.
    pub anti_repeat: bool,
    /// What was wrong with its last attempt.
    pub issues: Vec<Issue>,
    /// It has the last word.
    pub closing: bool,
    /// Whom a director can choose.
    pub candidates: Vec<String>,
    /// The narrator's occasion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// What the configuration says of the speaker's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// After how many milliseconds the call counts as failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
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
        /// Whom the user addressed.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        target: Option<String>,
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
        /// It changed while the round went on: these are who still waits.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        revised: bool,
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
        /// What it is for, in a configured round.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        turn: Option<Asking>,
    },
    /// Text that is safe to show; never taken back except by `draft_reset`.
    Token {
        /// Who.
        speaker: String,
        /// The new piece.
        text: String,
        /// Which request.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        attempt: Option<String>,
    },
    /// Drop what was shown of this reply.
    DraftReset {
        /// Who.
        speaker: String,
        /// Which request.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        attempt: Option<String>,
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
        /// Which request.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        attempt: Option<String>,
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
        /// Which request.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        attempt: Option<String>,
        /// Number of the round.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        round: Option<u32>,
        /// Number of the turn in it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        turn: Option<u32>,
        /// Why it spoke.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        reason: Option<Cause>,
        /// The round was stopped in the middle of it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
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
        /// Which request.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        attempt: Option<String>,
        /// What was wrong with the reply.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        issues: Vec<String>,
    },
    /// What a turn is doing.
    Status {
        /// Who; empty for a director.
        speaker: String,
        /// Which request.
        attempt: String,
        /// `planning`, `generating`, `checking`, `retrying`, `narrating`.
        node: String,
    },
    /// Whom a director chose.
    DirectorPlan {
        /// Number of the round.
        round: u32,
        /// Avatars in order.
        speakers: Vec<String>,
        /// In the model's words, or `mentioned`, `only_candidate`.
        reason: String,
        /// Its answer was of no use.
        fallback: bool,
    },
    /// A member has no message in this turn.
    RoleSkipped {
        /// Who.
        speaker: String,
        /// Number of the round.
        round: u32,
        /// `no_new_value`, `similar_to_last`, `by_host`, `pair_limit`.
        reason: String,
    },
    /// A cut line passes the turn on.
    Handoff {
        /// From whom.
        from: String,
        /// To whom.
        to: String,
    },
    /// Whom the replies of the round called.
    CrosstalkPlan {
        /// Number of the round.
        round: u32,
        /// Who speaks.
        planned: Vec<String>,
        /// Who does not, because of the limit.
        dropped: Vec<String>,
    },
    /// The start waits until the room is done.
    Queued,
    /// No further round begins by itself.
    AutoEnded,
    /// How the round went.
    RoundStats {
        /// Its number.
        round: u32,
        /// Who spoke.
        spoke: Vec<String>,
        /// Who stayed silent.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
        /// Whose turn failed.
        failed: Vec<String>,
        /// Who was not reached.
        unreached: Vec<String>,
        /// How long it took, milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        duration_ms: Option<i64>,
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
    /// The chat is not as long as the start said: something else changed it.
    HistoryChanged {
        /// Messages that the start spoke of.
        expected: usize,
        /// Messages that there are.
        length: usize,
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
