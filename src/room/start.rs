//! The start of a round: what the user did -> who will speak, and the chat as the first of them finds it.
//!
//! Spec: 01 §3.1-§3.5, 02 §3.1. Differs from ST under `speakers.*` and `room.*`.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::event::{Output, Planned, Start};
use super::rounds::TURN;
use super::{Room, Round, State, store, swipe};
use crate::error::{Code, Error};
use crate::host::Draw;
use crate::js;
use crate::parts::Kind;
use crate::profile;
use crate::speakers::{self, PlanOptions};
use crate::tokens::Count;

impl Room {
    /// Begins a round.
    pub(super) fn start(&mut self, start: &Start, count: &dyn Count) -> Result<Vec<Output>, Error> {
        let action = Kind::named(start.kind.as_deref().unwrap_or(""))?;
        if action == Kind::Quiet && start.quiet.is_none() {
            return Err(Error::new(Code::SceneMissing, "quiet", "a quiet request needs quiet.prompt"));
        }
        self.starts += 1;
        let mut out = vec![Output::RoundStarted { round: 1, mode: "single_round".to_owned(), target: None }];
        let in_group = self.scene.group.is_some();
        if self.scene.group.as_ref().is_some_and(|g| g.members.is_empty())
            && !self.profile.on(&profile::SPEAKERS_NOBODY)
        {
            // The reference leaves a notice in the chat (spec 01 §3.1).
            let now = js::iso_date(self.host.clock.now_ms);
            self.scene.chat.messages.push(store::empty_group_notice(&now));
            out.push(Output::RoomFinished { reason: "group_empty".to_owned(), round: 1, count: 0 });
            return Ok(out);
        }
        self.check_group()?;
        let text = start.user_message.clone().unwrap_or_default();

        if action == Kind::Swipe {
            match swipe::plan(&self.scene) {
                swipe::Step::Generate => {}
                step => return Ok(self.swipe_without_request(&step, out)),
            }
        }
        // ST marks the chat as used; a marked empty chat gets no greetings any more (spec 01 §1).
        self.scene.chat.metadata.insert("tainted".into(), json!(true));
        let removed =
            if action == Kind::Regenerate { self.remove_for_regeneration(in_group) } else { Vec::new() };
        // In a group a regeneration is a normal turn (spec 01 §3.5); alone, a continuation may take an empty send's place.
        let sent_nothing = start.user_message.as_deref() == Some("");
        let kind = match action {
            Kind::Regenerate if in_group => Kind::Normal,
            Kind::Normal if !in_group && sent_nothing && self.continues_on_send() => Kind::Continue,
            kind => kind,
        };

        let asked = self.asked_speakers(start)?;
        let stored = asked.as_deref().unwrap_or(&removed);
        let options = PlanOptions {
            kind,
            auto: start.auto,
            input: Some(text.as_str()).filter(|t| !t.is_empty() && !start.auto),
            forced: start.speaker.as_deref().map(|name| speakers::lookup(&self.scene, name)).transpose()?,
            again: stored,
            ..PlanOptions::default()
        };
        let plan = speakers::plan(&self.scene, &options, &self.profile, &mut self.host.dice)?;
        let planned: Vec<Planned> = plan
            .speakers
            .iter()
            .map(|pick| Planned {
                id: pick.id.clone(),
                name: pick.name.clone(),
                reason: serde_json::to_value(pick.reason).unwrap_or(Value::Null),
            })
            .collect();
        let queue: VecDeque<usize> = plan.speakers.iter().map(|p| p.index).collect();
        out.push(Output::RoundPlan {
            round: 1,
            planned: planned.clone(),
            empty: plan.nobody.map(|n| {
                serde_json::to_value(n).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
            }),
            draws: draws_value(&plan.draws),
            revised: false,
        });

        let bias = self.send_user_message(&text, start, kind, queue.front().copied(), &mut out);
        if queue.is_empty() {
            let reason = if text.is_empty() { "nobody_can_speak" } else { "round_complete" };
            out.push(Output::RoomFinished { reason: reason.to_owned(), round: 1, count: 0 });
            return Ok(out);
        }
        self.state = State::Running(Box::new(Round {
            start: self.starts,
            kind,
            action,
            auto: start.auto,
            quiet: start.quiet.clone(),
            stream: start.stream,
            batch: self.host.clock.now_ms,
            planned,
            queue,
            turn: 0,
            spoke: Vec::new(),
            failed: Vec::new(),
            bias,
            current: None,
            asked: None,
        }));
        self.next_turn(count, &mut out)?;
        Ok(out)
    }

    /// The speakers that the caller names, as avatars.
    fn asked_speakers(&self, start: &Start) -> Result<Option<Vec<String>>, Error> {
        let Some(names) = &start.speakers else { return Ok(None) };
        let avatar = |(i, name): (usize, &String)| {
            let index = speakers::lookup(&self.scene, name)
                .map_err(|e| Error::new(e.code(), format!("speakers[{i}]"), e.message().to_owned()))?;
            Ok(self.avatar(index))
        };
        names.iter().enumerate().map(avatar).collect::<Result<_, Error>>().map(Some)
    }

    fn check_group(&self) -> Result<(), Error> {
        match &self.scene.group {
            Some(group) if group.members.is_empty() => Err(Error::new(
                Code::GroupEmpty,
                "group.members",
                "the group has no members: add one before starting a turn",
            )),
            None if self.scene.characters.is_empty() => {
                Err(Error::new(Code::SceneMissing, "characters", "there is no character to speak: add one"))
            }
            _ => Ok(()),
        }
    }

    /// An empty send continues the character's last message, if the user wants that (spec 02 addendum 3).
    fn continues_on_send(&self) -> bool {
        self.scene.settings.continue_on_send
            && self.scene.chat.messages.last().is_some_and(|m| !m.is_user && !m.is_system)
    }

    /// Stores what the user typed, or the text that stands for an empty send. Returns the reply bias that it carried.
    fn send_user_message(
        &mut self,
        text: &str,
        start: &Start,
        kind: Kind,
        first: Option<usize>,
        out: &mut Vec<Output>,
    ) -> String {
        let in_group = self.scene.group.is_some();
        if start.auto && !(first.is_none() && in_group && !self.profile.on(&profile::SPEAKERS_NOBODY)) {
            return String::new();
        }
        if !(matches!(kind, Kind::Normal) || first.is_none() && in_group) {
            return String::new();
        }
        let mut typed = text.to_owned();
        if typed.is_empty() {
            if first.is_none() && in_group {
                // With nobody to speak ST appends the input as it is, even an empty one (spec 01 F8).
                if self.profile.on(&profile::SPEAKERS_NOBODY) {
                    return String::new();
                }
                self.append_user_message("", "", out);
                return String::new();
            }
            if kind != Kind::Normal || start.auto {
                return String::new();
            }
            let filler = js::trim(self.scene.preset.text("send_if_empty", "")).to_owned();
            if filler.is_empty() {
                return String::new();
            }
            typed = filler;
        }
        let (stored, bias) = self.user_input(first, &typed);
        self.append_user_message(&stored, &bias, out);
        bias
    }

    /// ST sends the text that stands for an empty send before every later speaker, too (spec 01 F9).
    pub(super) fn repeat_filler(&mut self, speaker: usize, out: &mut Vec<Output>) {
        let filler = js::trim(self.scene.preset.text("send_if_empty", "")).to_owned();
        if filler.is_empty() || self.profile.on(&profile::ROOM_ONE_MESSAGE) {
            return;
        }
        let (stored, bias) = self.user_input(Some(speaker), &filler);
        self.append_user_message(&stored, &bias, out);
    }

    pub(super) fn append_user_message(&mut self, text: &str, bias: &str, out: &mut Vec<Output>) {
        let now = js::iso_date(self.host.clock.now_ms);
        // Nothing but a bias: a hidden message carries it (spec 02 §3.1).
        let message = if text.is_empty() && !bias.is_empty() {
            store::bias_message(bias, &now)
        } else {
            store::user_message(&self.scene.persona, text, bias, &now)
        };
        out.push(Output::UserMessage { index: self.scene.chat.messages.len(), message: message.to_value() });
        self.scene.chat.messages.push(message);
    }

    /// Takes away what is to be made anew. In a group: the whole batch of the last reply (spec 01 §3.5). Returns the authors'
    /// avatars, oldest first, if the profile keeps the speakers (F10).
    fn remove_for_regeneration(&mut self, in_group: bool) -> Vec<String> {
        let mut authors = Vec::new();
        if !in_group {
            if self.scene.chat.messages.last().is_some_and(|m| !m.is_user) {
                self.pop_message();
            }
            return authors;
        }
        let batch = |m: &crate::scene::ChatMessage| m.extra("gen_id").filter(|v| js::to_boolean(v)).cloned();
        let wanted = self.scene.chat.messages.last().filter(|m| !m.is_user && !m.is_system).and_then(batch);
        let mut planned: Vec<String> = Vec::new();
        while let Some(last) = self.scene.chat.messages.last() {
            let own = batch(last);
            let other = matches!((&wanted, &own), (Some(a), Some(b)) if a != b);
            if other || last.is_user || last.is_system {
                break;
            }
            authors.extend(last.original_avatar.clone());
            let plan = last.extra(TURN).and_then(|turn| turn.get("plan")).and_then(Value::as_array);
            planned.splice(0..0, plan.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
            self.pop_message();
        }
        authors.reverse();
        authors.dedup();
        if !planned.is_empty() {
            // A round that was planned goes by its plan again, also for those who failed; then come those who were called.
            authors.retain(|id| !planned.contains(id));
            planned.append(&mut authors);
            let member =
                |id: &String| self.scene.group.as_ref().is_some_and(|g| g.enabled().any(|m| m == id));
            authors = planned.into_iter().filter(member).collect();
        }
        if self.profile.on(&profile::ROOM_REGENERATE) { authors } else { Vec::new() }
    }

    /// A swipe that is refused, or goes to a text that is already there.
    fn swipe_without_request(&mut self, step: &swipe::Step, mut out: Vec<Output>) -> Vec<Output> {
        let last = self.scene.chat.messages.len().saturating_sub(1);
        if let Some(message) = self.message_mut(last) {
            swipe::apply(message, step);
        }
        let reason = if matches!(step, swipe::Step::Refuse) { "swipe_refused" } else { "swiped" };
        out.push(Output::RoomFinished { reason: reason.to_owned(), round: 1, count: 0 });
        out
    }
}

/// Draws as the page sees them.
pub(super) fn draws_value(draws: &[Draw]) -> Value {
    draws.iter().map(|d| json!({"site": d.site.as_str(), "value": d.value})).collect()
}
