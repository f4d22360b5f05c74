//! One speaker's turn: requests until a reply stands every check, or the attempts are used up (spec 09 §15).
//!
//! Nothing is stored before every check has passed.

use super::after::{Ended, Outcome};
use super::config::{Guard, SilencePolicy};
use super::moves::{Ask, Cause, Commit, Context, Event, Move, Purpose, Reply};
use super::{Coordinator, Ground, Mode, Phase, Slot, Stage};
use crate::js;
use crate::room::narrator;
use crate::room::repeat::{RepeatOptions, similar};
use crate::room::validate::{Issue, validate};

/// The turn that is under way.
#[expect(clippy::struct_excessive_bools, reason = "each remembers one thing that may happen once in a turn")]
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    /// Id of the running request.
    pub(super) id: String,
    pub(super) slot: Slot,
    attempt: u32,
    /// It stayed silent once and was asked again.
    asked_again: bool,
    /// A reply was rejected since the turn, or the last repeat.
    rejected: bool,
    /// A reply was a repeat.
    repeated: bool,
    anti_repeat: bool,
    issues: Vec<Issue>,
    /// The speaker's last message when the turn began.
    last: Option<String>,
}

impl Coordinator {
    /// Begins the next turn, or pauses before it; false when the host has paused the room.
    pub(super) fn next_turn(&mut self, ground: &Ground<'_>) -> bool {
        let full = self.run.count >= self.run.max_messages;
        if self.round.queue.is_empty() || full {
            self.phase = match self.round.stage {
                Stage::Plan => Phase::Wrap,
                Stage::Cross => {
                    let left: Vec<String> = self.round.queue.drain(..).map(|s| s.id).collect();
                    self.round.unreached.extend(left);
                    Phase::Narrate
                }
                Stage::Closing => Phase::Finish(if full { "max_messages" } else { "host_silent" }),
            };
            return true;
        }
        if self.paused {
            self.phase = Phase::Next;
            return false;
        }
        if !self.run.rested && self.config.pause_ms > 0 {
            let wait = format!("{}.{}.{}.pause", self.starts, self.run.round, self.round.turn + 1);
            self.moves.push_back(Move::Wait { id: wait.clone(), ms: self.config.pause_ms, why: "pause" });
            self.phase = Phase::Pausing { wait };
            return true;
        }
        if let Some(slot) = self.round.queue.pop_front() {
            if self.round.stage != Stage::Closing && self.goes_to_and_fro(&slot.id) {
                let (speaker, round) = (slot.id.clone(), self.run.round);
                self.emit(Event::RoleSkipped { speaker, round, reason: "pair_limit" });
                self.round.note(&slot.id, Ended::Skipped);
                self.round.attempted.push(slot.id);
                self.phase = Phase::Next;
                return true;
            }
            self.run.rested = false;
            self.round.turn += 1;
            if !self.round.attempted.contains(&slot.id) {
                self.round.attempted.push(slot.id.clone());
            }
            let last = ground.last_of(&slot.id).map(str::to_owned);
            self.round.current = Some(Turn {
                id: String::new(),
                slot,
                attempt: 0,
                asked_again: false,
                rejected: false,
                repeated: false,
                anti_repeat: false,
                issues: Vec::new(),
                last,
            });
            self.ask();
        }
        true
    }

    /// Whether the same two members have had the word in turn as often as is allowed, and this is one of them again.
    fn goes_to_and_fro(&self, id: &str) -> bool {
        let Some(most) = self.config.max_consecutive_pair else { return false };
        let next = self.partner.as_deref() == Some(id) && self.last_spoke.as_deref() != Some(id);
        next && self.exchanges >= most
    }

    fn count_exchange(&mut self, id: &str) {
        let Some(last) = self.last_spoke.take().filter(|last| last != id) else {
            self.last_spoke = Some(id.to_owned());
            return;
        };
        let same = self.partner.as_deref() == Some(id);
        self.exchanges = if same { self.exchanges.saturating_add(1) } else { 1 };
        self.partner = Some(last);
        self.last_spoke = Some(id.to_owned());
    }

    /// Asks the member of the running turn.
    fn ask(&mut self) {
        let id = format!("{}.{}.{}", self.starts, self.run.round, self.round.turn);
        let closing = self.round.stage == Stage::Closing;
        let target = if self.round.stage == Stage::Plan { self.round.target.clone() } else { None };
        let must_answer = self.config.silence == SilencePolicy::MustReplyIfMentioned;
        let (mode, round) = (self.config.mode.as_str(), self.run.round);
        let Some(turn) = &mut self.round.current else { return };
        turn.attempt += 1;
        turn.id = format!("{id}.{}", turn.attempt);
        let must_reply = turn.slot.reason == Cause::Mentioned && must_answer;
        let context = Context {
            mode,
            round,
            target,
            must_reply,
            anti_repeat: turn.anti_repeat,
            issues: turn.issues.clone(),
            closing,
        };
        let node = if turn.attempt == 1 { "generating" } else { "retrying" };
        let (speaker, attempt) = (turn.slot.id.clone(), turn.id.clone());
        let ask = Ask {
            id: attempt.clone(),
            speaker: speaker.clone(),
            purpose: Purpose::Reply { reason: turn.slot.reason, by: turn.slot.by.clone(), context },
        };
        self.emit(Event::Status { speaker, attempt, node });
        self.moves.push_back(Move::Ask(Box::new(ask)));
        self.phase = Phase::Generating;
    }

    /// The outstanding request was answered.
    pub(super) fn reply(&mut self, reply: Reply, ground: &mut Ground<'_>) {
        match std::mem::take(&mut self.phase) {
            Phase::Directing { candidates, .. } => self.directed(&reply.text, &candidates, ground),
            Phase::Narrating { request } => self.narrated(&request, &reply.text),
            phase => {
                self.phase = phase;
                self.judge(reply, ground);
            }
        }
    }

    /// Decides on a member's reply.
    fn judge(&mut self, reply: Reply, ground: &Ground<'_>) {
        let Some(turn) = self.round.current.clone() else { return };
        let (speaker, attempt) = (turn.slot.id.clone(), turn.id.clone());
        let left = turn.attempt < self.config.max_attempts;
        if reply.skip {
            self.reset();
            let must = turn.slot.reason == Cause::Mentioned
                && self.config.silence == SilencePolicy::MustReplyIfMentioned;
            if must && !turn.asked_again && left {
                return self.retry(|t| t.asked_again = true);
            }
            return self.skipped("no_new_value", reply.next);
        }
        self.emit(Event::Status { speaker: speaker.clone(), attempt: attempt.clone(), node: "checking" });
        if let Some((offset, foreign)) = reply.cut.clone() {
            self.emit(Event::Cut { speaker: speaker.clone(), attempt: attempt.clone(), offset, foreign });
        }
        let issues = self.issues(&speaker, &reply, ground);
        if !issues.is_empty() {
            self.reset();
            if !turn.rejected && left {
                return self.retry(|t| {
                    t.rejected = true;
                    t.issues = issues;
                });
            }
            let codes = issues.iter().map(Issue::code).collect();
            return self.failed("validation_failed".to_owned(), codes);
        }
        if self.repeats(&turn, &reply) {
            self.reset();
            if !turn.repeated && left {
                return self.retry(|t| {
                    t.repeated = true;
                    t.anti_repeat = true;
                    t.rejected = false;
                    t.issues.clear();
                });
            }
            return self.skipped("similar_to_last", None);
        }
        self.commit(&turn, js::trim(&reply.text), false);
        let cut = reply.cut.map(|(_, foreign)| foreign);
        self.end(Ended::Spoke, reply.next, cut);
    }

    fn issues(&self, speaker: &str, reply: &Reply, ground: &Ground<'_>) -> Vec<Issue> {
        let blank = js::trim(&reply.text).is_empty();
        let mut issues = Vec::new();
        if let Some(rules) = self.config.validation.as_ref().filter(|_| !blank) {
            let mut ids: Vec<String> = ground.named(&[]).into_iter().map(|n| n.id).collect();
            ids.retain(|id| id != speaker);
            let names = ground.names(&ids);
            let others: Vec<(&str, &str)> =
                names.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
            issues = validate(&reply.text, rules, &others);
        }
        let claimed = issues.iter().any(|i| matches!(i, Issue::SpeaksAsOther { .. }));
        match &reply.foreign {
            Some(member) if !claimed => {
                let at = issues.iter().position(|i| *i == Issue::PromptLeak).unwrap_or(issues.len());
                issues.insert(at, Issue::SpeaksAsOther { member: member.clone() });
            }
            None if blank => issues.push(Issue::Empty),
            _ => {}
        }
        issues
    }

    fn repeats(&self, turn: &Turn, reply: &Reply) -> bool {
        let options = match &self.config.repeat_guard {
            Guard::Is(false) => return false,
            Guard::Is(true) => RepeatOptions::default(),
            Guard::With(options) => options.clone(),
        };
        let vectors = reply.vectors.as_ref().map(|(a, b)| (a.as_slice(), b.as_slice()));
        turn.last.as_ref().is_some_and(|last| similar(last, &reply.text, &options, vectors).repeat)
    }

    fn reset(&mut self) {
        if let Some(turn) = &self.round.current {
            let (speaker, attempt) = (turn.slot.id.clone(), turn.id.clone());
            self.emit(Event::DraftReset { speaker, attempt });
        }
    }

    /// Asks again, with something changed.
    fn retry(&mut self, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = &mut self.round.current {
            change(turn);
        }
        self.ask();
    }

    /// The host wants another reply: this does not count as an attempt.
    pub(super) fn again(&mut self) {
        self.reset();
        self.ask();
        if let Some(turn) = &mut self.round.current {
            // The id has moved on; what the turn may still do has not.
            turn.attempt = turn.attempt.min(self.config.max_attempts);
        }
    }

    pub(super) fn skip_running(&mut self, why: &'static str) {
        self.reset();
        self.skipped(why, None);
    }

    fn skipped(&mut self, reason: &'static str, next: Option<String>) {
        if let Some(turn) = &self.round.current {
            let speaker = turn.slot.id.clone();
            self.emit(Event::RoleSkipped { speaker, round: self.run.round, reason });
        }
        self.end(Ended::Skipped, next, None);
    }

    fn failed(&mut self, code: String, issues: Vec<&'static str>) {
        if let Some(turn) = &self.round.current {
            let (speaker, attempt) = (turn.slot.id.clone(), turn.id.clone());
            self.emit(Event::Error { speaker, attempt, code, issues });
        }
        self.end(Ended::Failed, None, None);
    }

    fn commit(&mut self, turn: &Turn, text: &str, partial: bool) {
        self.moves.push_back(Move::Commit(Box::new(Commit {
            speaker: turn.slot.id.clone(),
            attempt: turn.id.clone(),
            round: self.run.round,
            turn: self.round.turn,
            reason: turn.slot.reason,
            by: turn.slot.by.clone(),
            plan: self.round.spoke.is_empty().then(|| self.round.planned.clone()),
            text: text.to_owned(),
            partial,
        })));
        self.count_exchange(&turn.slot.id);
        self.run.count = self.run.count.saturating_add(1);
        if self.round.stage == Stage::Plan {
            self.round.replies.push((turn.slot.id.clone(), text.to_owned()));
        }
    }

    fn end(&mut self, ended: Ended, next: Option<String>, cut: Option<String>) {
        let Some(turn) = self.round.current.take() else { return };
        let next = next.filter(|_| self.config.mode != Mode::SingleRound);
        self.phase = Phase::After(Box::new(Outcome { slot: turn.slot, ended, next, cut }));
    }

    /// The outstanding request failed.
    pub(super) fn fail(&mut self, code: String, ground: &mut Ground<'_>) {
        match std::mem::take(&mut self.phase) {
            Phase::Directing { candidates, .. } => self.directed("", &candidates, ground),
            Phase::Narrating { request } => {
                let speaker = self.narrator_id();
                self.emit(Event::Error { speaker, attempt: request, code, issues: Vec::new() });
                self.phase = Phase::Stats;
            }
            phase => {
                self.phase = phase;
                self.reset();
                self.failed(code, Vec::new());
            }
        }
    }

    /// A narration came.
    fn narrated(&mut self, request: &str, text: &str) {
        let text = narrator::clean(text, true);
        if !text.is_empty() {
            self.moves.push_back(Move::Commit(Box::new(Commit {
                speaker: self.narrator_id(),
                attempt: request.to_owned(),
                round: self.run.round,
                turn: self.round.turn,
                reason: Cause::Narrator,
                by: None,
                plan: None,
                text,
                partial: false,
            })));
        }
        self.phase = Phase::Stats;
    }

    /// Ends what is running.
    pub(super) fn abort(&mut self, partial: Option<String>) {
        self.run.aborted = true;
        match std::mem::take(&mut self.phase) {
            Phase::AutoWaiting { done: (reason, rounds, count), .. } => {
                self.moves.push_back(Move::Done { reason, rounds, count });
                self.phase = if self.replacing { Phase::Finish("") } else { Phase::Idle };
                return;
            }
            Phase::Generating => {
                let kept = partial.filter(|t| self.config.validation.is_none() && !js::trim(t).is_empty());
                if kept.is_none() {
                    self.reset();
                }
                if let Some(turn) = self.round.current.take() {
                    match kept {
                        Some(text) => {
                            self.commit(&turn, js::trim(&text), true);
                            self.round.note(&turn.slot.id, Ended::Spoke);
                        }
                        None => self.round.unreached.push(turn.slot.id),
                    }
                }
            }
            _ => {}
        }
        let left: Vec<String> = self.round.queue.drain(..).map(|s| s.id).collect();
        let closing = self.round.stage == Stage::Closing;
        self.phase = if self.round.started && !closing {
            self.round.unreached.extend(left);
            Phase::Stats
        } else {
            Phase::Finish("aborted")
        };
    }
}
