//! The start of a room, and what the user does meanwhile (spec 09 §13, §20).

use super::moves::Cause;
use super::{
    Begin, Command, Coordinator, Directed, Event, Ground, Mode, Move, OnBusy, OnUserMessage, Phase, Refusal,
    Round, Run, Slot,
};
use crate::js;
use crate::names::MentionKind;

impl Coordinator {
    pub(super) fn start(&mut self, begin: Begin, ground: &Ground<'_>) -> Result<(), Refusal> {
        if !self.is_busy() {
            self.check(&begin, ground)?;
            self.auto_turns = 0;
            self.begin(&begin, ground);
            return Ok(());
        }
        match self.config.on_busy {
            OnBusy::Refuse => self.moves.push_back(Move::Refused("room_busy")),
            OnBusy::Queue => {
                self.check(&begin, ground)?;
                self.queued = Some(begin);
                self.moves.push_back(Move::Queued);
            }
            OnBusy::Replace => {
                self.check(&begin, ground)?;
                self.queued = Some(begin);
                self.replacing = true;
                self.abort(None);
            }
        }
        Ok(())
    }

    /// Who leads: the one configured, or the first participant.
    pub(super) fn host(&self, participants: &[String]) -> Option<String> {
        if self.config.mode != Mode::HostMode {
            return None;
        }
        self.config.host.clone().or_else(|| participants.first().cloned())
    }

    fn check(&self, begin: &Begin, ground: &Ground<'_>) -> Result<(), Refusal> {
        let participants = self.participants(ground);
        let host = self.host(&participants).filter(|_| !participants.is_empty());
        if host.is_some_and(|host| !participants.contains(&host)) {
            return Err(Refusal::HostNotInRoom);
        }
        if begin.target.as_ref().is_some_and(|target| !participants.contains(target)) {
            return Err(Refusal::TargetNotInRoom);
        }
        Ok(())
    }

    /// Begins; the room is not busy.
    pub(super) fn begin(&mut self, begin: &Begin, ground: &Ground<'_>) {
        self.starts = self.starts.saturating_add(1);
        self.round = Round::default();
        self.run = Run { rested: true, ..Run::default() };
        let mut texts: Vec<String> = std::mem::take(&mut self.pending);
        texts.extend(begin.texts.iter().cloned());
        texts.retain(|text| !js::trim(text).is_empty());
        for trigger in &begin.triggers {
            self.trigger(*trigger);
        }
        let participants = self.participants(ground);
        for text in &texts {
            self.store(text.clone());
        }
        if participants.is_empty() {
            self.phase = Phase::Idle;
            self.emit(Event::RoomFinished { reason: "nobody_can_speak", round: 0, count: 0 });
            self.moves.push_back(Move::Done { reason: "nobody_can_speak", rounds: 0, count: 0 });
            return;
        }
        let n = u32::try_from(participants.len()).unwrap_or(u32::MAX);
        let default = match self.config.mode {
            Mode::FreeChat => n.saturating_mul(2),
            Mode::HostMode if self.config.host_closing => n.saturating_add(1),
            Mode::SingleRound | Mode::HostMode => n,
        };
        self.run.max_messages = self.config.max_messages.unwrap_or(default);
        if self.config.directed != Directed::Off {
            let (mut addressed, mut named) = (Vec::new(), Vec::new());
            addressed.extend(begin.target.clone());
            for text in &texts {
                self.read_mentions(text, &participants, ground, &mut addressed, &mut named);
            }
            named.retain(|id| !addressed.contains(id));
            self.run.addressed = addressed;
            self.run.named = named;
        }
        if !texts.is_empty() {
            self.run.text = Some(texts.join("\n"));
        }
        self.phase = Phase::Open;
    }

    /// The user said something: whoever had the word in turn begins anew.
    fn store(&mut self, text: String) {
        (self.last_spoke, self.partner, self.exchanges) = (None, None, 0);
        self.moves.push_back(Move::User(text));
    }

    /// Adds participants that a text calls, and those that it names, each once.
    fn read_mentions(
        &self,
        text: &str,
        participants: &[String],
        ground: &Ground<'_>,
        called: &mut Vec<String>,
        named: &mut Vec<String>,
    ) {
        for mention in ground.mentions(text, &self.config.absent, None) {
            let list = if mention.kind == MentionKind::At { &mut *called } else { &mut *named };
            if !mention.muted && participants.contains(&mention.id) && !list.contains(&mention.id) {
                list.push(mention.id);
            }
        }
    }

    pub(super) fn typing(&mut self) {
        self.auto = false;
        if let Phase::AutoWaiting { done: (reason, rounds, count), .. } = self.phase {
            self.phase = Phase::Idle;
            self.moves.push_back(Move::Done { reason, rounds, count });
        }
    }

    pub(super) fn user_message(&mut self, text: String, ground: &Ground<'_>) -> Result<(), Refusal> {
        if matches!(self.phase, Phase::Idle | Phase::AutoWaiting { .. }) {
            let waited = std::mem::take(&mut self.phase);
            let started = self.start(Begin { texts: vec![text], ..Begin::default() }, ground);
            if started.is_err() {
                self.phase = waited;
            }
            return started;
        }
        if js::trim(&text).is_empty() {
            return Ok(());
        }
        if self.config.on_user_message == OnUserMessage::Cancel {
            self.queued = Some(Begin { texts: vec![text], ..Begin::default() });
            self.replacing = true;
            self.abort(None);
        } else {
            self.pending.push(text);
        }
        Ok(())
    }

    /// Puts what the user wrote meanwhile before the next speaker. Members called there come next.
    pub(super) fn insert_pending(&mut self, ground: &Ground<'_>) {
        let inserts =
            self.config.on_user_message == OnUserMessage::Insert && self.round.stage == super::Stage::Plan;
        if !inserts || self.round.queue.is_empty() || self.pending.is_empty() {
            return;
        }
        let before = self.waiting();
        self.store_pending(ground);
        self.announce(&before);
    }

    /// The same without the announcement.
    pub(super) fn store_pending(&mut self, ground: &Ground<'_>) {
        let participants = self.participants(ground);
        let (mut called, mut named) = (Vec::new(), Vec::new());
        for text in std::mem::take(&mut self.pending) {
            self.read_mentions(&text, &participants, ground, &mut called, &mut named);
            self.store(text);
        }
        if self.config.directed == Directed::Off {
            return;
        }
        let (had, new): (Vec<String>, Vec<String>) =
            called.into_iter().partition(|id| self.round.attempted.contains(id));
        for id in new.iter().rev() {
            self.put_first(Slot::by(id, Cause::Mentioned, "user"));
        }
        if self.config.mode != Mode::SingleRound
            && self.run.deferred.is_none()
            && let Some(id) = had.into_iter().next()
        {
            self.run.deferred = Some((id, "user".to_owned()));
        }
    }

    /// Tells of a queue that has changed.
    pub(super) fn announce(&mut self, before: &[String]) {
        let planned = self.waiting();
        if planned != before {
            self.emit(Event::RoundPlan { round: self.run.round, planned, revised: true });
        }
    }

    /// A turn comes next; if the member waits already, it only moves.
    pub(super) fn put_first(&mut self, slot: Slot) {
        self.round.queue.retain(|s| s.id != slot.id);
        self.round.queue.push_front(slot);
    }

    /// An order of the host.
    pub(super) fn command(&mut self, command: Command, ground: &Ground<'_>) -> Result<(), Refusal> {
        if !self.is_busy() || matches!(self.phase, Phase::AutoWaiting { .. }) {
            return Err(Refusal::UnexpectedInput);
        }
        let before = self.waiting();
        match command {
            Command::Pause => self.paused = true,
            Command::Resume => self.paused = false,
            Command::Insert(id) => {
                if !self.participants(ground).contains(&id) {
                    return Err(Refusal::TargetNotInRoom);
                }
                self.put_first(Slot::by(&id, Cause::Scheduled, "user"));
            }
            Command::Skip(Some(id)) => {
                if !before.contains(&id) {
                    return Err(Refusal::TargetNotInRoom);
                }
                self.round.queue.retain(|s| s.id != id);
                self.round.skipped.push(id.clone());
                self.emit(Event::RoleSkipped { speaker: id, round: self.run.round, reason: "by_host" });
            }
            Command::Skip(None) if self.phase == Phase::Generating => self.skip_running("by_host"),
            Command::Retry if self.phase == Phase::Generating => self.again(),
            Command::Skip(None) | Command::Retry => return Err(Refusal::UnexpectedInput),
            Command::Reorder(ids) => {
                for id in ids.iter().rev() {
                    if let Some(slot) = self.round.queue.iter().find(|s| s.id == *id).cloned() {
                        self.put_first(slot);
                    }
                }
            }
        }
        self.announce(&before);
        Ok(())
    }
}
