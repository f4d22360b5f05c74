//! The end of a round and of a start: narrator, statistics, whether another round follows (spec 09 §14.8-14.11, §23).

use super::moves::{Ask, Cause, Event, Move, Purpose};
use super::{Begin, ContinueOn, Coordinator, Ground, IdleBy, Mode, Phase, Round, Slot, Stage};
use crate::room::narrator::Trigger;

impl Coordinator {
    pub(super) fn narrator_id(&self) -> String {
        self.config.narrator.as_ref().map_or_else(String::new, |n| n.id.clone())
    }

    /// Asks the narrator, if it is due. Events come before the count of rounds, and every narration starts that count anew.
    pub(super) fn narrate(&mut self) {
        self.phase = Phase::Stats;
        let Some(narrator) = self.config.narrator.as_ref().filter(|n| n.enabled) else {
            self.triggers.clear();
            return;
        };
        if !self.round.spoke.is_empty() {
            self.since_narration = self.since_narration.saturating_add(1);
        }
        let interval = narrator.interval > 0 && self.since_narration >= narrator.interval;
        let trigger = self.triggers.first().copied().or_else(|| interval.then_some(Trigger::Interval));
        let Some(trigger) = trigger else { return };
        self.triggers.clear();
        self.since_narration = 0;
        self.round.turn += 1;
        let id = format!("{}.{}.{}.1", self.starts, self.run.round, self.round.turn);
        let speaker = narrator.id.clone();
        self.emit(Event::Status { speaker: speaker.clone(), attempt: id.clone(), node: "narrating" });
        let ask = Ask { id: id.clone(), speaker, purpose: Purpose::Narrate { trigger } };
        self.moves.push_back(Move::Ask(Box::new(ask)));
        self.phase = Phase::Narrating { request: id };
    }

    /// Says how the round went, and decides what follows.
    pub(super) fn stats(&mut self, ground: &Ground<'_>) {
        let round = &mut self.round;
        let mut unreached: Vec<String> = Vec::new();
        for id in std::mem::take(&mut round.unreached) {
            let had = [&round.spoke, &round.skipped, &round.failed].iter().any(|list| list.contains(&id));
            if !had && !unreached.contains(&id) {
                unreached.push(id);
            }
        }
        let full = !unreached.is_empty();
        let stats = Event::RoundStats {
            round: self.run.round,
            spoke: round.spoke.clone(),
            skipped: round.skipped.clone(),
            failed: round.failed.clone(),
            unreached,
            duration_ms: ground.now.zip(round.began).map(|(now, began)| now.saturating_sub(began)),
        };
        self.emit(stats);
        self.phase = self.what_next(full, ground);
    }

    /// The first condition that holds. `full`: somebody was not reached.
    fn what_next(&mut self, full: bool, ground: &Ground<'_>) -> Phase {
        let silent = match self.config.idle_by {
            IdleBy::Messages => self.round.spoke.is_empty(),
            IdleBy::Nominations => !self.round.nominated,
        };
        self.run.idle = if silent { self.run.idle.saturating_add(1) } else { 0 };
        let rounds = self.config.max_rounds.unwrap_or(if self.config.mode == Mode::FreeChat { 2 } else { 1 });
        if self.run.aborted {
            Phase::Finish("aborted")
        } else if self.only_addressed() {
            Phase::Finish("target_only")
        } else if self.config.mode == Mode::SingleRound {
            Phase::Finish(if full { "max_messages" } else { "round_complete" })
        } else if self.config.idle_limit > 0 && self.run.idle >= self.config.idle_limit {
            Phase::Finish("idle")
        } else if full {
            Phase::Finish("max_messages")
        } else if self.run.round >= rounds.max(1) {
            self.last_word("max_rounds", ground)
        } else if self.run.count >= self.run.max_messages {
            Phase::Finish("max_messages")
        } else if self.config.continue_on == ContinueOn::Nomination && self.run.deferred.is_none() {
            self.last_word("no_nomination", ground)
        } else {
            Phase::Open
        }
    }

    /// The host's closing turn; without one the reason given.
    fn last_word(&mut self, otherwise: &'static str, ground: &Ground<'_>) -> Phase {
        let participants = self.participants(ground);
        let host = self.host(&participants).filter(|h| self.config.host_closing && participants.contains(h));
        let Some(host) = host.filter(|h| self.round.spoke.iter().any(|s| s != h)) else {
            return Phase::Finish(otherwise);
        };
        self.round.stage = Stage::Closing;
        self.round.queue.clear();
        self.round.queue.push_back(Slot::new(&host, Cause::HostClosing));
        Phase::Next
    }

    /// The start is over: what waits begins, or the room is done.
    pub(super) fn finish(&mut self, reason: &'static str, ground: &Ground<'_>) {
        self.phase = Phase::Idle;
        let (rounds, count) = (self.run.round, self.run.count);
        let aborted = self.run.aborted;
        let replacing = std::mem::take(&mut self.replacing);
        let queued = self.queued.take();
        self.paused = false;
        // Without a reason only what replaces a wait of auto mode begins.
        if !reason.is_empty() {
            self.emit(Event::RoomFinished { reason, round: rounds, count });
        }
        self.round = Round { turn: self.round.turn, ..Round::default() };
        let done = Move::Done { reason, rounds, count };
        if aborted {
            if !reason.is_empty() {
                self.moves.push_back(done);
            }
            if let Some(begin) = queued.filter(|_| replacing) {
                self.begin(&begin, ground);
            }
        } else if let Some(begin) = queued {
            self.begin(&begin, ground);
        } else if !self.pending.is_empty() {
            self.auto_turns = 0;
            self.begin(&Begin::default(), ground);
        } else if self.auto && self.config.auto.max_turns.is_none_or(|most| self.auto_turns < most) {
            let id = format!("{}.auto", self.starts);
            self.moves.push_back(Move::Wait { id: id.clone(), ms: self.config.auto.delay_ms, why: "auto" });
            self.phase = Phase::AutoWaiting { wait: id, done: (reason, rounds, count) };
        } else {
            self.moves.push_back(done);
        }
    }
}
