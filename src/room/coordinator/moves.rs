//! What a coordinator is told and what it answers (spec 09 §11, §16). All of it is data.

use serde::Serialize;

use crate::room::narrator::Trigger;
use crate::room::validate::Issue;

/// A start: what the user did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// What the user wrote, oldest first; blank texts are none.
    pub texts: Vec<String>,
    /// Whom the user addresses: a member id.
    pub target: Option<String>,
    /// Occasions for the narrator.
    pub triggers: Vec<Trigger>,
}

/// A complete reply, read and cleaned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// The speaker stays silent.
    pub skip: bool,
    /// Whom it names next, as written.
    pub next: Option<String>,
    /// Where it was cut, and whose line began there: a member id or `user`.
    pub cut: Option<(usize, String)>,
    /// It is only somebody else's line; whose, if known.
    pub foreign: Option<Option<String>>,
    /// Vectors of the speaker's last message and this one, for the repeat guard.
    pub vectors: Option<(Vec<f64>, Vec<f64>)>,
}

/// Orders of the host between two turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// No further turn begins until `Resume`.
    Pause,
    /// Go on.
    Resume,
    /// This member speaks next.
    Insert(String),
    /// This member has no turn; `None`: the running turn ends without a message.
    Skip(Option<String>),
    /// The running reply is thrown away and asked for anew.
    Retry,
    /// The waiting members in this order; those not named follow as they were.
    Reorder(Vec<String>),
}

/// Something that happened outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Tell {
    /// The user sent something, or asked for a round.
    Start(Begin),
    /// A request was answered.
    Reply {
        /// Which.
        request: String,
        /// The answer.
        reply: Reply,
    },
    /// A request failed; a timeout is the code `timeout`.
    Fail {
        /// Which.
        request: String,
        /// A short stable word.
        code: String,
    },
    /// Stop; what has come of the running reply may be kept.
    Abort {
        /// Its cleaned text.
        partial: Option<String>,
    },
    /// A wait is over.
    Elapsed {
        /// Which.
        wait: String,
    },
    /// The user types: auto mode goes off.
    Typing,
    /// The user sent a message meanwhile.
    UserMessage(String),
    /// An order of the host.
    Command(Command),
}

/// Why an input is refused; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The host is no participant.
    HostNotInRoom,
    /// The target is no participant.
    TargetNotInRoom,
    /// The input does not fit the state.
    UnexpectedInput,
}

impl Refusal {
    /// The stable code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HostNotInRoom => "host_not_in_room",
            Self::TargetNotInRoom => "target_not_in_room",
            Self::UnexpectedInput => "unexpected_input",
        }
    }
}

/// Why somebody has a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The user addressed it.
    Mentioned,
    /// The plan.
    Scheduled,
    /// It leads the room.
    Host,
    /// A member named it.
    Nominated,
    /// A reply was cut where its line began.
    Handoff,
    /// A model picked it.
    Director,
    /// A model's answer was of no use.
    Fallback,
    /// A reply of the round called it.
    CrossTalk,
    /// It has the last word.
    HostClosing,
    /// It tells what happens.
    Narrator,
}

/// What a speaker is told of its turn (spec 09 §17); names, members and texts are added by who builds the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Context {
    /// Mode of the room.
    pub mode: &'static str,
    /// Number of the round.
    pub round: u32,
    /// Whom the user addressed.
    pub target: Option<String>,
    /// It was spoken to and must answer.
    pub must_reply: bool,
    /// It said the same as before.
    pub anti_repeat: bool,
    /// What was wrong with its last attempt.
    pub issues: Vec<Issue>,
    /// It has the last word.
    pub closing: bool,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A member's reply.
    Reply {
        /// Why it speaks.
        reason: Cause,
        /// Who made it speak: `user` or a member id.
        by: Option<String>,
        /// What it is told.
        context: Context,
    },
    /// The choice of speakers.
    Director {
        /// Whom can be chosen.
        candidates: Vec<String>,
    },
    /// A narration.
    Narrate {
        /// The occasion.
        trigger: Trigger,
    },
}

/// A call to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Names it: `start.round.turn.attempt`.
    pub id: String,
    /// Who speaks: a member or the narrator; empty for the director.
    pub speaker: String,
    /// What for.
    pub purpose: Purpose,
}

/// A message to be stored. Who stores it says `message_done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Member or narrator.
    pub speaker: String,
    /// Which request.
    pub attempt: String,
    /// Number of the round.
    pub round: u32,
    /// Number of the turn in it.
    pub turn: u32,
    /// Why it spoke.
    pub reason: Cause,
    /// Who made it speak.
    pub by: Option<String>,
    /// The first of its round: whom the round planned.
    pub plan: Option<Vec<String>>,
    /// The text.
    pub text: String,
    /// The round was stopped in the middle of it.
    pub partial: bool,
}

/// Something that a page may want to show.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A round begins.
    RoundStarted {
        /// Its number.
        round: u32,
        /// Mode of the room.
        mode: &'static str,
        /// Whom the user addressed.
        target: Option<String>,
    },
    /// Who speaks in it; when revised, who is still waiting.
    RoundPlan {
        /// Its number.
        round: u32,
        /// Member ids in order.
        planned: Vec<String>,
        /// It changed while the round went on.
        revised: bool,
    },
    /// Whom a director chose.
    DirectorPlan {
        /// Number of the round.
        round: u32,
        /// Member ids in order.
        speakers: Vec<String>,
        /// In the model's words, or `mentioned`, `only_candidate`.
        reason: String,
        /// Its answer was of no use.
        fallback: bool,
    },
    /// What a turn is doing.
    Status {
        /// Who.
        speaker: String,
        /// Which request.
        attempt: String,
        /// `planning`, `generating`, `checking`, `retrying`, `narrating`.
        node: &'static str,
    },
    /// Drop what was shown of this attempt.
    DraftReset {
        /// Who.
        speaker: String,
        /// Which request.
        attempt: String,
    },
    /// A reply was cut.
    Cut {
        /// Who.
        speaker: String,
        /// Which request.
        attempt: String,
        /// Where, UTF-16 units of the raw reply.
        offset: usize,
        /// Whose line began there.
        foreign: String,
    },
    /// A member has no message in this turn.
    RoleSkipped {
        /// Who.
        speaker: String,
        /// Number of the round.
        round: u32,
        /// `no_new_value`, `similar_to_last`, `by_host`, `pair_limit`.
        reason: &'static str,
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
    /// A turn failed; the others go on.
    Error {
        /// Who.
        speaker: String,
        /// Which request.
        attempt: String,
        /// `timeout`, `validation_failed`, or the driver's word.
        code: String,
        /// What was wrong with the reply.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        issues: Vec<&'static str>,
    },
    /// How a round went.
    RoundStats {
        /// Its number.
        round: u32,
        /// Who spoke.
        spoke: Vec<String>,
        /// Who stayed silent.
        skipped: Vec<String>,
        /// Whose turn failed.
        failed: Vec<String>,
        /// Who was planned and had no turn.
        unreached: Vec<String>,
        /// How long it took, where times are known.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<i64>,
    },
    /// The end of a start.
    RoomFinished {
        /// Why.
        reason: &'static str,
        /// Rounds.
        round: u32,
        /// Stored replies.
        count: u32,
    },
}

/// What to do next, one at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    /// Tell the page.
    Emit(Event),
    /// Store a message of the user.
    User(String),
    /// Store a reply.
    Commit(Box<Commit>),
    /// Make a call; nothing else follows until it is answered.
    Ask(Box<Ask>),
    /// Wait; nothing else follows until it is over.
    Wait {
        /// Names it.
        id: String,
        /// Milliseconds.
        ms: u64,
        /// `pause` or `auto`.
        why: &'static str,
    },
    /// The start was refused: the room is busy.
    Refused(&'static str),
    /// The start waits.
    Queued,
    /// The input answers nothing that is outstanding.
    Ignored {
        /// What it named.
        request: String,
    },
    /// The room is done.
    Done {
        /// Why.
        reason: &'static str,
        /// Rounds.
        rounds: u32,
        /// Stored replies.
        count: u32,
    },
}
