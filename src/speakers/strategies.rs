//! The strategies list, pooled and manual (spec 01 §§4.2-4.4).

use super::plan::{Nobody, Pass, Reason, Silence};
use super::view::{View, stored_author};
use crate::error::Warning;
use crate::host::{Dice, Site};

/// What a strategy decided.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Character index and reason, in order.
    pub(super) picks: Vec<(usize, Reason)>,
    pub(super) passed: Vec<Pass>,
    /// Why nobody speaks, where the strategy knows.
    pub(super) nobody: Option<Nobody>,
    pub(super) warnings: Vec<Warning>,
}

impl Outcome {
    pub(super) fn of(picks: Vec<(usize, Reason)>) -> Self {
        Self { picks, ..Self::default() }
    }

    pub(super) fn nobody(why: Nobody) -> Self {
        Self { nobody: Some(why), ..Self::default() }
    }

    /// Whether a character is picked already.
    pub(super) fn has(&self, index: usize) -> bool {
        self.picks.iter().any(|(i, _)| *i == index)
    }

    pub(super) fn pass(&mut self, id: &str, reason: Silence) {
        self.passed.push(Pass { id: id.to_owned(), reason });
    }
}

/// Everyone who is not muted, once, in list order.
pub(super) fn list(view: &View<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut seen: Vec<&str> = Vec::new();
    for id in &view.enabled {
        if seen.contains(id) {
            continue;
        }
        seen.push(id);
        match view.index(id) {
            Some(index) => outcome.picks.push((index, Reason::List)),
            None => outcome.pass(id, Silence::Missing),
        }
    }
    outcome
}

/// One who has not spoken since the user; when all have, one other than the last speaker. Always one draw.
pub(super) fn pooled(view: &View<'_>, is_user_input: bool, dice: &mut Dice) -> Outcome {
    let mut outcome = Outcome::default();
    let mut spoken: Vec<&str> = Vec::new();
    for message in view.messages().iter().rev() {
        if message.is_user || is_user_input {
            break;
        }
        if !message.is_system && !message.is_narrator() {
            spoken.extend(stored_author(message));
        }
    }
    let mut pool: Vec<&str> = view.enabled.iter().copied().filter(|id| !spoken.contains(id)).collect();
    let mut reason = Reason::Pooled;
    if pool.is_empty() {
        reason = Reason::PooledAgain;
        let last = view.last().filter(|m| !m.is_user && view.enabled.len() > 1).and_then(stored_author);
        pool = view.enabled.iter().copied().filter(|id| Some(*id) != last).collect();
        if let Some(last) = last {
            outcome.pass(last, Silence::Banned);
        }
    } else {
        for id in view.enabled.iter().filter(|id| spoken.contains(id)) {
            outcome.pass(id, Silence::Spoken);
        }
    }
    let at = dice.index(Site::Pooled, pool.len());
    if let Some(id) = pool.get(at) {
        match view.index(id) {
            Some(index) => outcome.picks.push((index, reason)),
            None => outcome.pass(id, Silence::Missing),
        }
    }
    outcome
}

/// Nothing was typed: one at random.
pub(super) fn manual(view: &View<'_>, dice: &mut Dice) -> Outcome {
    let mut ids = view.enabled.clone();
    dice.shuffle(Site::ManualShuffle, &mut ids);
    let mut outcome = Outcome::default();
    if let Some(id) = ids.first() {
        match view.index(id) {
            Some(index) => outcome.picks.push((index, Reason::Manual)),
            None => outcome.pass(id, Silence::Missing),
        }
    }
    outcome
}
