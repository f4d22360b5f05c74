//! What comes out: who speaks, why, and why the others do not.

use serde::Serialize;

use crate::error::Warning;
use crate::host::Draw;
use crate::names::MentionKind;

/// Why somebody speaks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// Named in the text that was typed, or else in the last message.
    Mentioned {
        /// Where, in UTF-16 units of that text.
        start: usize,
        /// Where the name ends.
        end: usize,
        /// How. In the reference's matcher every word counts, which is `part`.
        by: MentionKind,
    },
    /// The roll did not exceed the talkativeness.
    Roll {
        /// The number drawn.
        value: f64,
        /// The member's talkativeness.
        talkativeness: f64,
    },
    /// Nobody was mentioned and every roll failed: one was drawn.
    Fallback {
        /// The number drawn.
        value: f64,
    },
    /// Everyone speaks, in list order.
    List,
    /// Drawn from those who have not spoken since the user.
    Pooled,
    /// All have spoken since the user; drawn from all but the last speaker.
    PooledAgain,
    /// Nothing was typed: one was drawn.
    Manual,
    /// The caller named it.
    Forced,
    /// It wrote the message that is continued or has another version made.
    LastSpeaker,
    /// Beside whom the user's message is written.
    Impersonate,
    /// The character of a request beside the chat.
    Quiet,
    /// It was in the plan that is run again.
    Again,
    /// The chat has one character.
    Solo,
}

/// Why a member does not speak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Silence {
    /// It is muted.
    Muted,
    /// No character has this id.
    Missing,
    /// It wrote the last message, and may not answer itself.
    Banned,
    /// The roll exceeded its talkativeness.
    Roll {
        /// The number drawn.
        value: f64,
        /// The member's talkativeness.
        talkativeness: f64,
    },
    /// Its talkativeness is 0: it speaks when it is mentioned, and is not eligible for the fallback while another member is.
    Silent,
    /// Others were mentioned, and that keeps it from speaking by itself.
    NotMentioned,
    /// It has spoken since the user.
    Spoken,
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Pick {
    /// Index in the scene's characters.
    pub index: usize,
    /// Its id (avatar).
    pub id: String,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: Reason,
}

/// Who does not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Pass {
    /// Member id.
    pub id: String,
    /// Why not.
    pub reason: Silence,
}

/// Why nobody speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Nobody {
    /// Every member is muted.
    AllMuted,
    /// The strategy is manual, and something was typed.
    Manual,
    /// The group's strategy number has no meaning.
    UnknownStrategy,
    /// Whoever was chosen, or every member that could be, has no character.
    Missing,
    /// Nobody was mentioned, every roll failed, and the fallback is off.
    Silent,
}

/// The plan of a turn, made before its first request. A room keeps it to run it again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Plan {
    /// Who speaks, in order.
    pub speakers: Vec<Pick>,
    /// Why the list is empty.
    pub nobody: Option<Nobody>,
    /// Which members do not speak, where the strategy has an opinion on them.
    pub passed: Vec<Pass>,
    /// Something was typed and nobody but the user pressed send.
    pub is_user_input: bool,
    /// The message to append for the user before the first speaker, or alone; not yet touched by scripts and macros.
    pub user_message: Option<String>,
    /// The random numbers used, in order.
    pub draws: Vec<Draw>,
    /// What the user may want to know: a muted member was called, for example.
    pub warnings: Vec<Warning>,
}
