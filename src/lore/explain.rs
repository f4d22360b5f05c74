//! Why each entry is active or not: a record for each that something came of, a list of uids by reason for the others, so that books of
//! ten thousand entries stay readable.
//!
//! Spec: 03 Part 3 P3.

use std::collections::BTreeMap;

use indexmap::IndexMap;
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
    /// Only every so many messages, and this is none of them.
    OffBeat {
        /// Messages from one to the next.
        every: f64,
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
        /// Tokens for all entries, or for those of its book when that has a share.
        limit: i64,
    },
    /// One before it did not fit.
    AfterOverflow,
    /// Decided in an earlier loop.
    Decided,
}

impl Reason {
    /// No later loop of the same evaluation can change it.
    pub(super) const fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Disabled
                | Self::Trigger
                | Self::CharacterFilter
                | Self::TagFilter
                | Self::Delay { .. }
                | Self::OffBeat { .. }
                | Self::Cooldown
                | Self::DontActivate
                | Self::NoKeys
        )
    }

    /// Its code, if a list of entries says all about it.
    const fn plain(&self) -> Option<&'static str> {
        Some(match self {
            Self::Disabled => "disabled",
            Self::Trigger => "trigger",
            Self::CharacterFilter => "character_filter",
            Self::TagFilter => "tag_filter",
            Self::DelayUntilRecursion { .. } => "delay_until_recursion",
            Self::ExcludeRecursion => "exclude_recursion",
            Self::DontActivate => "dont_activate",
            Self::NoKeys => "no_keys",
            Self::NoPrimaryMatch => "no_primary_match",
            _ => return None,
        })
    }
}

/// What became of an entry, without its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) reason: Option<Reason>,
    pub(super) cause: Option<Cause>,
    pub(super) round: u32,
}

impl Default for Verdict {
    fn default() -> Self {
        Self { outcome: Outcome::Skipped, reason: None, cause: None, round: 0 }
    }
}

/// Entries that nothing came of, by reason and book: their uids; a list `[a, b]` stands for all whole numbers from a to b.
pub type Untouched = IndexMap<&'static str, IndexMap<String, Vec<Value>>>;

/// The records of those entries that something came of, and the names of the others. An entry without a verdict was not looked at:
/// it is off, or no key of it was found.
pub(super) fn records(
    entries: &[Entry],
    mut verdicts: BTreeMap<usize, Verdict>,
) -> (Vec<Explained>, Untouched) {
    let (mut touched, mut others) = (Vec::new(), Untouched::new());
    let mut runs = Runs::default();
    for (at, entry) in entries.iter().enumerate() {
        let verdict = verdicts.remove(&at).unwrap_or_else(|| Verdict {
            reason: Some(if entry.disabled { Reason::Disabled } else { Reason::NoPrimaryMatch }),
            ..Verdict::default()
        });
        match verdict.reason.as_ref().and_then(Reason::plain) {
            Some(code) => runs.add(code, entry, &mut others),
            None => touched.push(Explained::new(entry, verdict)),
        }
    }
    runs.end(&mut others);
    (touched, others)
}

/// Neighbours with numbers in a row and the same reason, while they are gathered.
#[derive(Default)]
struct Runs<'a> {
    code: &'static str,
    world: &'a str,
    first: i64,
    last: Option<i64>,
}

impl<'a> Runs<'a> {
    fn add(&mut self, code: &'static str, entry: &'a Entry, out: &mut Untouched) {
        let uid = entry.uid.as_i64();
        let next = self.last.and_then(|n| n.checked_add(1));
        if uid.is_some() && uid == next && self.code == code && self.world == entry.world {
            self.last = uid;
            return;
        }
        self.end(out);
        match uid {
            Some(uid) => *self = Self { code, world: &entry.world, first: uid, last: Some(uid) },
            None => list(out, code, &entry.world).push(entry.uid.clone()),
        }
    }

    fn end(&mut self, out: &mut Untouched) {
        let Some(last) = self.last.take() else { return };
        let uids = list(out, self.code, self.world);
        match last - self.first {
            0 => uids.push(last.into()),
            1 => uids.extend([self.first.into(), last.into()]),
            _ => uids.push(Value::from(vec![self.first, last])),
        }
    }
}

fn list<'o>(out: &'o mut Untouched, code: &'static str, world: &str) -> &'o mut Vec<Value> {
    out.entry(code).or_default().entry(world.to_owned()).or_default()
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
    fn new(entry: &Entry, verdict: Verdict) -> Self {
        let Verdict { outcome, reason, cause, round } = verdict;
        Self {
            world: entry.world.clone(),
            uid: entry.uid.clone(),
            comment: entry.comment.clone(),
            source: entry.source,
            outcome,
            reason,
            cause,
            round,
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
