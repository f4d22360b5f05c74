//! A room whose rounds a coordinator decides: its moves -> stored messages, requests, outputs; what comes back -> what it is told.
//!
//! Spec 09 Part 2. The coordinator knows no prompt and no provider, this file no rule of a round. Only starts of the kind `normal`
//! in a group come here; a swipe, a continuation or a forced speaker is a turn of the reference's kind.

use serde_json::{Value, json};

use super::control::{Control, reply_control};
use super::coordinator::{
    Begin, Command, Commit, Coordinator, Event, Ground, Move, Purpose, Refusal, Reply, RoundConfig, Tell,
};
use super::event::{Answer, Order, Output, Planned, Start};
use super::narrator::Trigger;
use super::presence;
use super::turns::Current;
use super::{Room, Round, State, store};
use crate::error::{Code, Error, Warning};
use crate::host::Host;
use crate::js::{self, object};
use crate::parts::Kind;
use crate::profile::Profile;
use crate::scene::{ChatMessage, Object, Scene, Strategy};
use crate::speakers;
use crate::tokens::Count;

/// The coordinator of a room, and what lies between a reply and its place in the chat.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    pub(super) coordinator: Coordinator,
    /// What the user's last message asks the first reply to begin with.
    pub(super) bias: String,
    /// A request of this start has gone out.
    pub(super) asked: bool,
    /// Epoch milliseconds of the start: replies of one start belong together.
    pub(super) batch: i64,
    /// The reply that is being judged.
    draft: Option<Draft>,
    /// What a failed call said.
    complaint: String,
}

/// A cleaned reply that is not stored yet.
#[derive(Clone, Debug)]
struct Draft {
    speaker: usize,
    answer: store::Answer,
    batch: i64,
    warnings: Vec<Warning>,
    /// Variables as they are when it is kept; a reply that is not kept leaves no trace in them.
    variables: Variables,
}

/// Key of a message's `extra` that says how its turn came about: `{attempt, reason, by?, plan?, draws?}`.
pub(super) const TURN: &str = "turn";

/// The chat's and the global ones.
type Variables = (Object, Object);

impl Room {
    /// Rounds go by a configuration from now on; `None`: as in the reference.
    pub fn configure_rounds(&mut self, value: Option<&Value>) -> Result<(), Error> {
        let who = match self.scene.group.as_ref().map(|g| g.strategy) {
            Some(Strategy::List) => "list",
            Some(Strategy::Pooled) => "pooled",
            Some(Strategy::Manual) => "manual",
            _ => "natural",
        };
        let config = match value {
            None | Some(Value::Null) => None,
            Some(value) => {
                Some(RoundConfig::from_value(value, who, &self.profile).map_err(|e| e.under("rounds"))?)
            }
        };
        self.rounds = match (self.rounds.take(), config) {
            (Some(mut rounds), Some(config)) => {
                rounds.coordinator.configure(config);
                Some(rounds)
            }
            (None, Some(config)) => Some(Box::new(Rounds::new(config))),
            (_, None) => None,
        };
        Ok(())
    }

    /// The configuration as it stands, with who is absent.
    pub fn rounds(&self) -> Option<&RoundConfig> {
        self.rounds.as_ref().map(|r| r.coordinator.config())
    }

    /// Whether a start is one that the coordinator decides on.
    pub(super) fn coordinates(&self, start: &Start) -> bool {
        let plain = matches!(start.kind.as_deref(), None | Some("" | "normal"));
        let own = plain && start.speaker.is_none() && start.speakers.is_none() && start.quiet.is_none();
        own && self.rounds.is_some() && self.scene.group.is_some()
    }

    /// Whether the running request, if any, is the coordinator's.
    pub(super) fn is_coordinated(&self) -> bool {
        match &self.state {
            State::Running(round) => round.asked.is_some(),
            State::Idle => self.rounds.as_ref().is_some_and(|r| r.coordinator.is_busy()),
        }
    }

    /// A start as the coordinator reads it.
    pub(super) fn begin(&self, start: &Start) -> Result<Tell, Error> {
        let id = |name: &String| {
            let index = speakers::lookup(&self.scene, name)?;
            Ok::<_, Error>(self.scene.characters.get(index).map(|c| c.avatar.clone()).unwrap_or_default())
        };
        let triggers = start.triggers.iter().flatten().map(|t| trigger(t)).collect::<Result<_, _>>()?;
        Ok(Tell::Start(Begin {
            texts: start.user_message.iter().cloned().collect(),
            target: start.target.as_ref().map(id).transpose().map_err(|e| e.under("target"))?,
            triggers,
        }))
    }

    /// Whether the chat is as long as the page believes.
    pub(super) fn history_changed(&self, start: &Start) -> Option<Output> {
        let length = self.scene.chat.messages.len();
        let expected = start.history_length.filter(|expected| *expected != length)?;
        Some(Output::HistoryChanged { expected, length })
    }

    /// An order of the host.
    pub(super) fn order(
        &self,
        order: Order,
        member: Option<&String>,
        members: Option<&Vec<String>>,
    ) -> Result<Tell, Error> {
        let id = |name: &String| {
            let index = speakers::lookup(&self.scene, name)?;
            Ok::<_, Error>(self.scene.characters.get(index).map(|c| c.avatar.clone()).unwrap_or_default())
        };
        let one = member.map(id).transpose()?;
        Ok(Tell::Command(match order {
            Order::Pause => Command::Pause,
            Order::Resume => Command::Resume,
            Order::Retry => Command::Retry,
            Order::Skip => Command::Skip(one),
            Order::Insert => Command::Insert(
                one.ok_or_else(|| Error::new(Code::SceneMissing, "member", "say who shall be inserted"))?,
            ),
            Order::Reorder => {
                Command::Reorder(members.into_iter().flatten().map(id).collect::<Result<_, _>>()?)
            }
        }))
    }

    /// Somebody comes or leaves; a narrator may have something to say about it.
    pub(super) fn set_present(&mut self, member: &str, present: bool) -> Result<Vec<Output>, Error> {
        let index = speakers::lookup(&self.scene, member)?;
        let id = self.scene.characters.get(index).map(|c| c.avatar.clone()).unwrap_or_default();
        let Some(rounds) = &mut self.rounds else { return Err(no_rounds()) };
        if rounds.coordinator.set_present(&id, present) {
            rounds.coordinator.trigger(Trigger::CharacterJoin);
        }
        Ok(Vec::new())
    }

    /// An occasion for the narrator.
    pub(super) fn add_trigger(&mut self, word: &str) -> Result<Vec<Output>, Error> {
        let trigger = trigger(word)?;
        let Some(rounds) = &mut self.rounds else { return Err(no_rounds()) };
        rounds.coordinator.trigger(trigger);
        Ok(Vec::new())
    }

    /// Tells the coordinator and carries out what follows.
    pub(super) fn tell(&mut self, told: Tell, count: &dyn Count) -> Result<Vec<Output>, Error> {
        let Some(rounds) = &mut self.rounds else { return Err(no_rounds()) };
        let before = rounds.clone();
        let host = self.host.clone();
        let mut ground = ground(&self.scene, &self.profile, &mut self.host);
        rounds.coordinator.tell(told, &mut ground).map_err(refused)?;
        if !matches!(self.state, State::Running(_)) || rounds.coordinator.outstanding().is_none() {
            // The request that ran is over, or was given up.
            self.state = State::Idle;
        }
        let mut result = self.transaction(|room| {
            let mut out = Vec::new();
            room.drain(&mut out, count)?;
            Ok(out)
        });
        let rests = before.coordinator.rests();
        if let Ok(out) = &mut result
            && rests
            && !self.is_busy()
        {
            out.insert(0, Output::AutoEnded);
        }
        match result {
            Err(error) => {
                self.host = host;
                self.broken(before, error, count)
            }
            Ok(out) => Ok(out),
        }
    }

    /// What followed could not be done. A start leaves the room as it was; a round that was running says why and ends, with what was
    /// stored until then.
    fn broken(
        &mut self,
        mut before: Box<Rounds>,
        error: Error,
        count: &dyn Count,
    ) -> Result<Vec<Output>, Error> {
        self.state = State::Idle;
        if !before.coordinator.is_busy() {
            self.rounds = Some(before);
            return Err(error);
        }
        let attempt = before.coordinator.outstanding().map(str::to_owned);
        before.coordinator.give_up();
        self.rounds = Some(before);
        let mut out = vec![Output::Error {
            speaker: String::new(),
            code: error.code().as_str().to_owned(),
            message: error.to_string(),
            attempt,
            issues: Vec::new(),
        }];
        out.extend(self.tell(Tell::Abort { partial: None }, count)?);
        Ok(out)
    }

    /// Carries out moves until an input must come.
    fn drain(&mut self, out: &mut Vec<Output>, count: &dyn Count) -> Result<(), Error> {
        loop {
            let Some(rounds) = &mut self.rounds else { return Ok(()) };
            match rounds.coordinator.next(&mut ground(&self.scene, &self.profile, &mut self.host))? {
                Some(next) => self.carry_out(next, out, count)?,
                None => return Ok(()),
            }
        }
    }

    fn carry_out(&mut self, next: Move, out: &mut Vec<Output>, count: &dyn Count) -> Result<(), Error> {
        match next {
            Move::Emit(event) => self.show(event, out),
            Move::User(text) => {
                let first = self.first_participant();
                let (stored, bias) = self.user_input(first, &text);
                self.append_user_message(&stored, &bias, out);
                self.stamp_last();
                if let Some(rounds) = &mut self.rounds {
                    rounds.bias = bias;
                }
            }
            Move::Commit(commit) => self.keep(*commit, out),
            Move::Ask(ask) => {
                let id = ask.id.clone();
                let first = self.rounds.as_ref().is_some_and(|r| !r.asked);
                let done = match &ask.purpose {
                    Purpose::Reply { .. } => self.ask_member(*ask, out, count),
                    Purpose::Director { .. } | Purpose::Narrate { .. } => self.ask_beside(*ask, out, count),
                };
                match done {
                    Ok(()) => {}
                    Err(error) if first => return Err(error),
                    Err(error) => {
                        // The others still have their turns (spec 09 §25).
                        self.state = State::Idle;
                        self.complain(error.to_string());
                        let told = Tell::Fail { request: id, code: error.code().as_str().to_owned() };
                        self.pass_on(told)?;
                    }
                }
                if let Some(rounds) = &mut self.rounds {
                    rounds.asked = true;
                }
            }
            Move::Wait { id, ms, why } => out.push(Output::Wait { id, ms, why: why.to_owned() }),
            Move::Refused(_) => out.push(Output::Refused { code: Code::RoomBusy.as_str().to_owned() }),
            Move::Queued => out.push(Output::Queued),
            Move::Ignored { request } => out.extend(Self::stale(&request)),
            Move::Done { .. } => {}
        }
        Ok(())
    }

    fn pass_on(&mut self, told: Tell) -> Result<(), Error> {
        let Some(rounds) = &mut self.rounds else { return Ok(()) };
        let mut ground = ground(&self.scene, &self.profile, &mut self.host);
        rounds.coordinator.tell(told, &mut ground).map_err(refused)
    }

    fn complain(&mut self, text: String) {
        if let Some(rounds) = &mut self.rounds {
            rounds.complaint = text;
        }
    }

    /// The character that macros in the user's text speak of: who is first in the room.
    fn first_participant(&self) -> Option<usize> {
        let absent = self.rounds().map_or(&[][..], |c| c.absent.as_slice());
        let group = self.scene.group.as_ref()?;
        group
            .enabled()
            .filter(|id| !absent.iter().any(|a| a == id))
            .find_map(|id| self.scene.character_index(id))
    }

    /// Stores a reply that stood every check, or a narration.
    fn keep(&mut self, mut commit: Commit, out: &mut Vec<Output>) {
        let draft = self.rounds.as_mut().and_then(|r| r.draft.take());
        let mut warnings = Vec::new();
        let index = match (draft, commit.reason) {
            (Some(mut draft), reason) if reason != super::coordinator::Cause::Narrator => {
                draft.answer.text = std::mem::take(&mut commit.text);
                warnings = draft.warnings;
                (self.scene.chat.metadata, self.scene.global_variables) = draft.variables;
                self.store(Kind::Normal, draft.speaker, &draft.answer, Some(draft.batch))
            }
            _ => self.store_narration(&commit),
        };
        if index == 0 {
            let mut effects = crate::parts::Effects::default();
            self.expand_first(true, &mut effects);
            self.commit(effects);
        }
        self.stamp_last();
        self.note_turn(index, &commit);
        let Some(message) = self.scene.chat.messages.get(index) else { return };
        out.push(Output::MessageDone {
            speaker: commit.speaker,
            name: message.name.clone(),
            warnings,
            index,
            text: message.mes.clone(),
            message: message.to_value(),
            attempt: Some(commit.attempt),
            round: Some(commit.round),
            turn: Some(commit.turn),
            reason: Some(commit.reason),
            partial: commit.partial,
        });
    }

    /// Writes down with a message how its turn came about: a regeneration goes by it, and so can a reader.
    fn note_turn(&mut self, index: usize, commit: &Commit) {
        let mut note = object(vec![("attempt", json!(commit.attempt)), ("reason", json!(commit.reason))]);
        if let Some(by) = &commit.by {
            note.insert("by".into(), json!(by));
        }
        if let (Some(plan), Some(rounds)) = (&commit.plan, &self.rounds) {
            note.insert("plan".into(), json!(plan));
            note.insert("draws".into(), super::start::draws_value(rounds.coordinator.draws()));
        }
        if let Some(message) = self.scene.chat.messages.get_mut(index) {
            message.extra.get_or_insert_default().insert(TURN.into(), Value::Object(note));
            store::sync_swipe(message);
        }
    }

    fn store_narration(&mut self, commit: &Commit) -> usize {
        let name =
            self.rounds().and_then(|c| c.narrator.as_ref()).map(|n| n.name.clone()).unwrap_or_default();
        let now = js::iso_date(self.host.clock.now_ms);
        let mut extra = Object::new();
        extra.insert("type".into(), json!("narrator"));
        self.scene.chat.messages.push(ChatMessage {
            name,
            mes: commit.text.clone(),
            send_date: Some(json!(now)),
            original_avatar: Some(commit.speaker.clone()),
            extra: Some(extra),
            ..ChatMessage::default()
        });
        self.scene.chat.messages.len() - 1
    }

    /// Writes down who heard the last message.
    fn stamp_last(&mut self) {
        let Some(config) = self.rounds().filter(|c| c.presence.enabled) else { return };
        let (options, absent) = (config.presence.clone(), config.absent.clone());
        let Some(group) = &self.scene.group else { return };
        let there = |id: &&String| !absent.contains(id) && (options.include_muted || !group.is_muted(id));
        let present: Vec<String> = group.members.iter().filter(there).cloned().collect();
        if let Some(message) = self.scene.chat.messages.last_mut() {
            presence::stamp(message, &present, &options);
        }
    }

    /// The running request was answered.
    pub(super) fn answered(&mut self, answer: Answer, count: &dyn Count) -> Result<Vec<Output>, Error> {
        let (current, ask, batch) = match &mut self.state {
            State::Running(round) => (round.current.take(), round.asked.clone(), round.batch),
            State::Idle => (None, None, 0),
        };
        let (Some(current), Some(ask)) = (current, ask) else { return Ok(Vec::new()) };
        let request = current.id.clone();
        if !matches!(ask.purpose, Purpose::Reply { .. }) {
            let text = answer.text.unwrap_or_else(|| current.raw().to_owned());
            return self.tell(Tell::Reply { request, reply: Reply { text, ..Reply::default() } }, count);
        }
        let vectors = answer.previous_vector.clone().zip(answer.vector.clone());
        let (skip, next) = (answer.skip, answer.next.clone());
        let mut out = Vec::new();
        let broken = current.stopped || answer.finish.as_deref() == Some("length");
        let mut reply = self.read_reply(*current, answer, broken, batch, &mut out);
        reply.vectors = vectors;
        reply.skip = reply.skip || skip.unwrap_or(false);
        reply.next = next.or(reply.next);
        out.extend(self.tell(Tell::Reply { request, reply }, count)?);
        Ok(out)
    }

    /// Cleans a member's reply and keeps it ready to be stored. `broken`: it was ended before its end.
    fn read_reply(
        &mut self,
        mut current: Current,
        mut answer: Answer,
        broken: bool,
        batch: i64,
        out: &mut Vec<Output>,
    ) -> Reply {
        let control = self.rounds().map_or(Control::None, |c| c.control);
        let raw = answer.text.take().unwrap_or_else(|| current.raw().to_owned());
        let mut read = reply_control(&raw, control);
        if let Some(gate) = current.gate.as_mut().filter(|_| broken && control == Control::Json) {
            if gate.raw().is_empty() {
                gate.push(&raw);
            }
            // The rest of the object is missing; what there is of its content is the reply.
            if read.text == raw && !gate.text().is_empty() {
                gate.text().clone_into(&mut read.text);
            }
        }
        answer.text = Some(read.text);
        let speaker = current.speaker;
        let mut pieces = Vec::new();
        let before = (self.scene.chat.metadata.clone(), self.scene.global_variables.clone());
        let (cleaned, answer) = self.cleaned(current, answer, &mut pieces);
        let metadata = std::mem::replace(&mut self.scene.chat.metadata, before.0);
        let variables = (metadata, std::mem::replace(&mut self.scene.global_variables, before.1));
        if !read.skip {
            out.extend(pieces.into_iter().filter(|o| matches!(o, Output::Token { .. })));
        }
        let foreign = cleaned.cut.as_ref().filter(|c| c.reason == crate::reply::CutReason::ForeignStart);
        let reply = Reply {
            text: cleaned.text.clone(),
            skip: read.skip,
            next: read.next,
            foreign: foreign.map(|c| Some(c.id.clone()).filter(|id| !id.is_empty())),
            cut: cleaned.cut.as_ref().filter(|c| !c.id.is_empty()).map(|c| (c.offset, c.id.clone())),
            vectors: None,
        };
        if let Some(rounds) = &mut self.rounds {
            rounds.draft = Some(Draft { speaker, answer, batch, warnings: cleaned.warnings, variables });
        }
        reply
    }

    /// The running request failed.
    pub(super) fn failed(
        &mut self,
        request: &str,
        code: String,
        message: String,
        count: &dyn Count,
    ) -> Result<Vec<Output>, Error> {
        self.complain(message);
        self.tell(Tell::Fail { request: request.to_owned(), code }, count)
    }

    /// Ends what is running.
    pub(super) fn stopped(&mut self, keep: bool, count: &dyn Count) -> Result<Vec<Output>, Error> {
        let (current, ask, batch) = match &mut self.state {
            State::Running(round) => (round.current.take(), round.asked.clone(), round.batch),
            State::Idle => (None, None, 0),
        };
        let is_reply = ask.is_some_and(|a| matches!(a.purpose, Purpose::Reply { .. }));
        let mut out = Vec::new();
        let partial = match current {
            Some(current) if keep && is_reply && !js::trim(current.raw()).is_empty() => {
                Some(self.read_reply(*current, Answer::default(), true, batch, &mut out).text)
            }
            _ => None,
        };
        out.extend(self.tell(Tell::Abort { partial }, count)?);
        Ok(out)
    }

    /// An event as the page sees it.
    fn show(&mut self, event: Event, out: &mut Vec<Output>) {
        out.push(match event {
            Event::RoundStarted { round, mode, target } => {
                if let Some(rounds) = self.rounds.as_mut().filter(|_| round == 1) {
                    rounds.batch = self.host.clock.now_ms;
                }
                Output::RoundStarted { round, mode: mode.to_owned(), target }
            }
            Event::RoundPlan { round, revised, .. } => {
                let planned = self.planned();
                let drawn =
                    self.rounds.as_ref().filter(|_| !revised).map_or(&[][..], |r| r.coordinator.draws());
                Output::RoundPlan {
                    round,
                    planned,
                    empty: None,
                    draws: super::start::draws_value(drawn),
                    revised,
                }
            }
            Event::DirectorPlan { round, speakers, reason, fallback } => {
                Output::DirectorPlan { round, speakers, reason, fallback }
            }
            Event::Status { speaker, attempt, node } => {
                Output::Status { speaker, attempt, node: node.to_owned() }
            }
            Event::DraftReset { speaker, attempt } => Output::DraftReset { speaker, attempt: Some(attempt) },
            Event::Cut { speaker, attempt, offset, foreign } => {
                Output::Cut { speaker, offset, foreign, reason: "label".to_owned(), attempt: Some(attempt) }
            }
            Event::RoleSkipped { speaker, round, reason } => {
                Output::RoleSkipped { speaker, round, reason: reason.to_owned() }
            }
            Event::Handoff { from, to } => Output::Handoff { from, to },
            Event::CrosstalkPlan { round, planned, dropped } => {
                Output::CrosstalkPlan { round, planned, dropped }
            }
            Event::Error { speaker, attempt, code, issues } => {
                let message =
                    self.rounds.as_mut().map(|r| std::mem::take(&mut r.complaint)).unwrap_or_default();
                let issues = issues.into_iter().map(str::to_owned).collect();
                Output::Error { speaker, code, message, attempt: Some(attempt), issues }
            }
            Event::RoundStats { round, spoke, skipped, failed, unreached, duration_ms } => {
                Output::RoundStats { round, spoke, skipped, failed, unreached, duration_ms }
            }
            Event::RoomFinished { reason, round, count } => {
                if let Some(rounds) = &mut self.rounds {
                    rounds.asked = false;
                }
                Output::RoomFinished { reason: reason.to_owned(), round, count }
            }
        });
    }

    /// Who waits for a turn, and why.
    pub fn planned(&self) -> Vec<Planned> {
        let Some(rounds) = &self.rounds else { return Vec::new() };
        let slots = rounds.coordinator.plan().into_iter();
        let planned = slots.map(|(id, reason, by)| Planned {
            name: super::asking::name(&self.scene, &id),
            id,
            reason: json!({"kind": "round", "cause": reason, "by": by}),
        });
        planned.collect()
    }
}

impl Rounds {
    fn new(config: RoundConfig) -> Self {
        Self {
            coordinator: Coordinator::new(config),
            bias: String::new(),
            asked: false,
            batch: 0,
            draft: None,
            complaint: String::new(),
        }
    }
}

impl Round {
    /// The state of one request of a coordinator.
    pub(super) fn asked(start: u32, ask: super::coordinator::Ask, batch: i64, stream: Option<bool>) -> Self {
        Self {
            start,
            kind: Kind::Normal,
            action: Kind::Normal,
            auto: false,
            quiet: None,
            stream,
            batch,
            planned: Vec::new(),
            queue: std::collections::VecDeque::new(),
            turn: 0,
            spoke: Vec::new(),
            failed: Vec::new(),
            bias: String::new(),
            current: None,
            asked: Some(Box::new(ask)),
        }
    }
}

fn trigger(word: &str) -> Result<Trigger, Error> {
    Trigger::named(word).ok_or_else(|| {
        Error::new(
            Code::OptionUnknown,
            "triggers",
            format!("{word:?} is no occasion: use scene_change, character_join, plot_node, manual, interval or silence"),
        )
    })
}

fn no_rounds() -> Error {
    Error::new(Code::RoomState, "", "the room has no configuration of rounds: give it the option rounds")
}

/// What the coordinator stands on, out of the parts of a room.
fn ground<'a>(scene: &'a Scene, profile: &'a Profile, host: &'a mut Host) -> Ground<'a> {
    Ground { scene, profile, dice: &mut host.dice, now: Some(host.clock.now_ms) }
}

fn refused(refusal: Refusal) -> Error {
    let (code, path, text) = match refusal {
        Refusal::HostNotInRoom => (
            Code::SceneUnknown,
            "rounds.host",
            "the host takes no part: choose a member that is neither muted nor absent",
        ),
        Refusal::TargetNotInRoom => (
            Code::SceneUnknown,
            "target",
            "who is named takes no part: choose a member that is neither muted nor absent",
        ),
        Refusal::UnexpectedInput => (Code::RoomState, "", "nothing is under way that this could apply to"),
    };
    Error::new(code, path, text)
}
