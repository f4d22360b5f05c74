//! Why each entry is active or not: compact records, one an entry, fit for books of ten thousand.
//!
//! Spec: 03 Part 3 P3.

use serde::Serialize;
use serde_json::Value;

use super::entry::{Entry, Source};
use super::scan::State;

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "LoreOutcome"))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is active.
    Activated,
    /// It is not.
    Skipped,
    /// It lost in its inclusion group.
    Removed,
    /// It matched, but there was no room.
    OverBudget,
}

/// Why it is not active.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "LoreReason"))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Reason {
    /// Switched off.
    Disabled,
    /// Not for this kind of request.
    Trigger,
    /// Not for this character.
    CharacterFilter,
    /// Not for this character's tags.
    TagFilter,
    /// The chat is too short.
    Delay {
        /// Messages needed.
        needed: f64,
    },
    /// It rests.
    Cooldown,
    /// It waits for recursion of a level.
    DelayUntilRecursion {
        /// Its level.
        level: f64,
    },
    /// Recursion does not activate it.
    ExcludeRecursion,
    /// `@@dont_activate`.
    DontActivate,
    /// It has no keys.
    NoKeys,
    /// No primary key was found.
    NoPrimaryMatch,
    /// The secondary keys say no.
    SecondaryFailed,
    /// Another one of its group stands.
    GroupLost {
        /// The group.
        group: String,
        /// By what: `sticky`, `score`, `override`, `roll`, `already_active`, `cooldown`, `delay`.
        by: String,
    },
    /// The roll failed.
    Probability {
        /// Rolled, percent.
        draw: f64,
        /// Allowed, percent.
        needed: f64,
    },
    /// It did not fit.
    Budget {
        /// Tokens for all entries.
        limit: i64,
    },
    /// One before it did not fit.
    AfterOverflow,
    /// Decided in an earlier loop.
    Decided,
}

/// Why it is active.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "LoreCause"))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Cause {
    /// Always.
    Constant,
    /// `@@activate`.
    Decorator,
    /// The caller forced it.
    Forced,
    /// It stays from an earlier message.
    Sticky,
    /// A key was found.
    Key {
        /// Its index.
        key: usize,
        /// As it stands in the book.
        text: String,
    },
}

/// One entry, explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "LoreExplained"))]
pub struct Explained {
    /// Book.
    pub world: String,
    /// Entry.
    pub uid: Value,
    /// Title.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Where its book came from.
    pub source: Source,
    /// What became of it.
    pub outcome: Outcome,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The loop in which that was decided, from 1.
    pub round: u32,
}

impl Explained {
    pub(super) fn new(entry: &Entry) -> Self {
        Self {
            world: entry.world.clone(),
            uid: entry.uid.clone(),
            comment: entry.comment.clone(),
            source: entry.source,
            outcome: Outcome::Skipped,
            reason: None,
            cause: None,
            round: 0,
        }
    }
}

/// One loop of the scan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "LoreLoop"))]
pub struct Loop {
    /// State at its start.
    pub state: State,
    /// State after it.
    pub next: State,
    /// Which rule of spec 03 §10 step 8 chose that.
    pub rule: Option<char>,
    /// Entries found in it, after groups and rolls.
    pub new: Vec<String>,
    /// Level of delayed recursion.
    pub level: f64,
    /// The budget had overflowed.
    pub overflow: bool,
}
