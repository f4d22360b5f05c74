//! What follows a turn: nominations, hand-off, what the user wrote, and cross-talk at the end of the plan (spec 09 §14.5-14.7).

use super::config::Handoff;
use super::moves::{Cause, Event};
use super::{Coordinator, Directed, Ground, Phase, Round, Slot, Stage};
use crate::room::director_answer::resolve;
use crate::speakers::{Caller, Said};

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With a message.
    Spoke,
    /// Without one.
    Skipped,
    /// It failed.
    Failed,
}

/// A turn that is over.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) slot: Slot,
    pub(super) ended: Ended,
    /// Whom it named next.
    pub(super) next: Option<String>,
    /// Whose line the reply was cut at.
    pub(super) cut: Option<String>,
}

impl Round {
    /// Writes down how a member's turn ended. Whoever spoke once in a round has spoken.
    pub(super) fn note(&mut self, id: &str, ended: Ended) {
        if self.spoke.iter().any(|s| s == id) {
            return;
        }
        self.skipped.retain(|s| s != id);
        self.failed.retain(|s| s != id);
        let list = match ended {
            Ended::Spoke => &mut self.spoke,
            Ended::Skipped => &mut self.skipped,
            Ended::Failed => &mut self.failed,
        };
        list.push(id.to_owned());
    }
}

impl Coordinator {
    pub(super) fn after_turn(&mut self, outcome: Outcome, ground: &Ground<'_>) {
        if self.round.stage == Stage::Closing {
            let reason = if outcome.ended == Ended::Spoke { "host_closed" } else { "host_silent" };
            self.phase = Phase::Finish(reason);
            return;
        }
        let id = outcome.slot.id.clone();
        self.round.note(&id, outcome.ended);
        self.phase = Phase::Next;
        if self.round.stage == Stage::Cross {
            return;
        }
        let before = self.waiting();
        if let Some(next) = &outcome.next {
            self.nominate(next, &id, ground);
        }
        if let Some(to) = outcome.cut.filter(|_| self.config.handoff == Handoff::Next) {
            self.hand_off(&id, &to, ground);
        }
        if self.config.on_user_message == super::OnUserMessage::Insert
            && !self.round.queue.is_empty()
            && !self.pending.is_empty()
        {
            self.store_pending(ground);
        }
        self.announce(&before);
    }

    /// A member named who shall come next.
    fn nominate(&mut self, name: &str, by: &str, ground: &Ground<'_>) {
        let participants = self.participants(ground);
        let names = ground.names(&participants);
        let names: Vec<(&str, &str)> = names.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
        let Some(id) = resolve(name, &names).filter(|id| *id != by).map(str::to_owned) else { return };
        self.round.nominated = true;
        let waits = self.round.queue.iter().any(|s| s.id == id);
        if !waits && self.round.attempted.contains(&id) {
            self.run.deferred = Some((id, by.to_owned()));
        } else if waits || !self.only_addressed() {
            self.put_first(Slot::by(&id, Cause::Nominated, by));
        }
    }

    fn hand_off(&mut self, from: &str, to: &str, ground: &Ground<'_>) {
        let there = self.participants(ground).iter().any(|id| id == to);
        if to != from && there && !self.round.attempted.iter().any(|id| id == to) {
            self.emit(Event::Handoff { from: from.to_owned(), to: to.to_owned() });
            self.put_first(Slot::by(to, Cause::Handoff, from));
        }
    }

    /// Nobody but the addressed may speak.
    pub(super) fn only_addressed(&self) -> bool {
        self.config.directed == Directed::Only && !self.run.addressed.is_empty()
    }

    /// The plan is done: those that its replies call have a turn each.
    pub(super) fn wrap(&mut self, ground: &Ground<'_>) {
        let left: Vec<String> = self.round.queue.drain(..).map(|s| s.id).collect();
        self.round.unreached.extend(left);
        self.round.stage = Stage::Cross;
        self.phase = Phase::Next;
        let rules = self.config.cross_talk;
        if !rules.enabled || self.round.replies.is_empty() {
            return;
        }
        let finder = Caller::new(&ground.named(&self.config.absent), rules.r#match, rules.everyone);
        let said: Vec<Said<'_>> =
            self.round.replies.iter().map(|(sender, content)| Said { sender, content }).collect();
        let participants = self.participants(ground);
        let mut called = finder.collect(&said);
        called.retain(|c| participants.contains(&c.id));
        let dropped: Vec<String> = called.iter().skip(rules.max).map(|c| c.id.clone()).collect();
        called.truncate(rules.max);
        if called.is_empty() {
            return;
        }
        let by = |i: usize| self.round.replies.get(i).map(|(id, _)| id.clone());
        let slots: Vec<Slot> = called
            .iter()
            .map(|c| Slot { id: c.id.clone(), reason: Cause::CrossTalk, by: by(c.by) })
            .collect();
        let planned = called.into_iter().map(|c| c.id).collect();
        self.emit(Event::CrosstalkPlan { round: self.run.round, planned, dropped });
        self.round.queue.extend(slots);
    }
}
