//! One speaker after the other: request out, answer in, message stored.
//!
//! Spec: 01 §3.3, §13.4, §14; 09 §15.

use std::sync::Arc;

use serde_json::{Value, json};

use super::control::{Control, Gate};
use super::coordinator::Purpose;
use super::event::{Answer, Output};
use super::reuse::reuse;
use super::{Room, Round, State, store};
use crate::error::Error;
use crate::js;
use crate::macros::{EnvBase, Expander};
use crate::parts::{Effects, Kind, Reading, Report};
use crate::profile;
use crate::provider;
use crate::reply::{self, Cutter, Ended};
use crate::scripts;
use crate::tokens::Count;
use crate::turn::{self, About, Quiet, Turn, TurnOptions};

/// The turn that waits for its answer.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) id: String,
    pub(super) speaker: usize,
    name: String,
    reading: Reading,
    effects: Effects,
    options: reply::Options,
    pub(super) cutter: Cutter,
    /// What of the reply is its text, where replies carry more.
    pub(super) gate: Option<Gate>,
    api: String,
    model: String,
    reasoning: String,
    signature: Option<String>,
    pub(super) stopped: bool,
    streamed: bool,
    /// Further candidates were asked for, or may come unasked.
    several: bool,
    wire: provider::Reader,
}

/// What a request was made of, for those who want to look (and for the recorded cases).
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// The neutral payload, before post-processing and conversion.
    pub payload: Value,
    /// Its report.
    pub report: Arc<Report>,
    /// Active lorebook entries.
    pub activated: Value,
    /// What the memory brought, and why; `null` without one.
    pub memory: Value,
}

impl Current {
    /// What came in pieces.
    pub(super) fn raw(&self) -> &str {
        self.gate.as_ref().map_or_else(|| self.cutter.raw(), Gate::raw)
    }
}

impl Room {
    /// Asks for the next speaker's reply, or ends the round.
    pub(super) fn next_turn(&mut self, count: &dyn Count, out: &mut Vec<Output>) -> Result<(), Error> {
        loop {
            let State::Running(round) = &mut self.state else { return Ok(()) };
            let Some(speaker) = round.queue.pop_front() else {
                self.finish("round_complete", out);
                return Ok(());
            };
            round.turn += 1;
            let first = round.turn == 1;
            if !first && round.kind == Kind::Normal && !round.auto {
                self.repeat_filler(speaker, out);
            }
            let options = self.turn_options(speaker, first);
            match self.request(speaker, &options, None, out, count) {
                Ok(()) => return Ok(()),
                Err(error) if first && !self.keeps_removal() => return Err(error),
                Err(error) => {
                    // The others still have their turns (spec 09 §25).
                    let id = self.avatar(speaker);
                    out.push(Output::Error {
                        speaker: id.clone(),
                        code: error.code().as_str().to_owned(),
                        message: error.to_string(),
                        attempt: None,
                        issues: Vec::new(),
                    });
                    if let State::Running(round) = &mut self.state {
                        round.failed.push(id);
                    }
                }
            }
        }
    }

    pub(super) fn avatar(&self, speaker: usize) -> String {
        self.scene.characters.get(speaker).map(|c| c.avatar.clone()).unwrap_or_default()
    }

    /// ST notices what a text-completion request lacks only when it is built: what the start of the round changed stays, so a
    /// regeneration has lost its old reply (spec 07 F30).
    fn keeps_removal(&self) -> bool {
        self.scene.text.is_some() && !self.profile.on(&profile::TEXT_BODIES)
    }

    /// The options of a speaker's turn in the running round.
    fn turn_options(&self, speaker: usize, first: bool) -> TurnOptions {
        let State::Running(round) = &self.state else { return TurnOptions::default() };
        let quiet = round.quiet.as_ref();
        TurnOptions {
            speaker: Some(self.avatar(speaker)),
            kind: round.kind,
            action: Some(round.action),
            quiet: quiet.map(|q| Quiet {
                prompt: q.prompt.clone(),
                // These parameters are lost on the way into a group turn (spec 01 F18).
                to_loud: q.to_loud && self.keeps_quiet_options(),
                skip_lore: q.skip_lore && self.keeps_quiet_options(),
                name: if self.keeps_quiet_options() { q.name.clone() } else { String::new() },
                image: q.image.clone(),
            }),
            automatic: round.auto || !first,
            bias: if first { round.bias.clone() } else { String::new() },
            max_response: quiet.and_then(|q| q.response_length),
            standing: self.standing.clone(),
            ask: self.ask.clone(),
            ..TurnOptions::default()
        }
    }

    fn keeps_quiet_options(&self) -> bool {
        self.scene.group.is_none() || self.profile.on(&profile::ROOM_QUIET)
    }

    /// A turn, with what is compiled already.
    fn build(&mut self, options: &TurnOptions, count: &dyn Count) -> Result<Turn, Error> {
        let about = About::of(&self.scene, options, &self.profile, count)?;
        let compiled =
            self.cache.compiled(&self.scene, Some(about.speaker), &self.profile, &self.host.limits);
        self.host.regex_spent = 0;
        turn::build_with(&about, &compiled, &mut self.host)
    }

    /// Builds a request and hands it out. `beside`: other messages than the turn's, and the most tokens of the answer.
    pub(super) fn request(
        &mut self,
        speaker: usize,
        options: &TurnOptions,
        beside: Option<(&[Value], Option<u32>)>,
        out: &mut Vec<Output>,
        count: &dyn Count,
    ) -> Result<(), Error> {
        // A call beside the chat remembers nothing.
        let (options, memory) = match beside {
            None => self.recollect(TurnOptions { tail: self.tail(), ..options.clone() }, count),
            Some(_) => (options.clone(), None),
        };
        let options = &options;
        let roster = beside.is_none() && self.put_roster(options.speaker.as_deref());
        let saved = self.host.clone();
        let stream = match &self.state {
            State::Running(round) => round.stream,
            State::Idle => None,
        };
        let built = self.build(options, count).and_then(|mut turn| {
            if let (Some(stream), Some(payload)) = (stream, turn.payload.as_object_mut()) {
                if self.scene.text.is_some() {
                    provider::text::set_stream(payload, stream);
                } else {
                    payload.insert("stream".into(), json!(stream));
                }
            }
            if let Some((messages, most)) = beside {
                super::asking::replace_messages(&mut turn.payload, messages, most);
            }
            let empty = crate::scene::Object::new();
            let request =
                provider::request(turn.payload.as_object().unwrap_or(&empty), &self.provider, &self.profile)?;
            Ok((turn, request))
        });
        if roster {
            self.scene.extension_prompts.pop();
        }
        let (turn, request) = match built {
            Ok(both) => both,
            Err(error) => {
                self.host = saved;
                return Err(error);
            }
        };
        let name = self.scene.characters.get(speaker).map(|c| c.name.clone()).unwrap_or_default();
        let avatar = self.avatar(speaker);
        let Turn { payload, mut report, reading, effects, lore, .. } = turn;
        if beside.is_none() {
            self.compare(&payload, &mut report, count);
        }
        report.warnings.extend(request.notes.iter().cloned());
        let report = Arc::new(report);
        let control = self.rounds().map_or(Control::None, |c| c.control);
        let State::Running(round) = &mut self.state else { return Ok(()) };
        let id = match &round.asked {
            Some(ask) => ask.id.clone(),
            None => format!("{}.1.{}.1", round.start, round.turn),
        };
        if let Some(report) = &memory {
            out.push(Output::Memory { speaker: avatar.clone(), report: report.clone() });
        }
        out.push(Output::Request {
            id: id.clone(),
            speaker: avatar,
            name: name.clone(),
            kind: options.kind.as_str().to_owned(),
            request: request_value(&request),
            report: report.clone(),
            turn: None,
        });
        let shown = payload.get("include_reasoning").is_some_and(js::to_boolean);
        let source = request.source;
        let to_loud = round.quiet.as_ref().is_some_and(|q| q.to_loud);
        let options = reply::Options {
            keep_incomplete: round.kind == Kind::Quiet && !to_loud,
            ..reply::Options::default()
        };
        let (api, model, wire) = match &self.scene.text {
            Some(setup) => (
                provider::text::backend(&setup.backend).map_or("", |b| b.stored).to_owned(),
                setup.status.clone().or_else(|| setup.model.clone()).unwrap_or_default(),
                provider::Reader::Text(Box::default()),
            ),
            None => (text_of(&payload, "chat_completion_source"), text_of(&payload, "model"), {
                let stream = provider::Stream::new(source, shown, &self.profile);
                let fixed = self.profile.on(&profile::PROVIDER_PREFILL);
                provider::Reader::Chat(Box::new(stream.echoing(if fixed { request.echoed() } else { "" })))
            }),
        };
        // In text completion only some backends are asked for several.
        let asked = payload.get("n").map(js::value_to_number);
        let several = self.scene.text.is_none() || asked.is_some_and(|n| n > 1.0);
        round.current = Some(Box::new(Current {
            id,
            speaker,
            name,
            cutter: Cutter::new(reading.clone(), options.clone(), self.profile.clone()),
            gate: (round.asked.is_some() && control != Control::None).then(|| Gate::new(control)),
            options,
            effects,
            api,
            model,
            streamed: request.stream,
            several,
            reading,
            reasoning: String::new(),
            signature: None,
            stopped: false,
            wire,
        }));
        let activated = lore.activated.iter().map(|a| json!({"book": a.book, "uid": a.uid})).collect();
        if beside.is_none() {
            self.last =
                Some(Inspection { payload, report, activated, memory: memory.unwrap_or(Value::Null) });
        }
        Ok(())
    }

    /// What a request has in common with the last one.
    fn compare(&self, payload: &Value, report: &mut Report, count: &dyn Count) {
        if let Some(last) = &self.last {
            report.reuse = reuse(&last.payload, payload, &report.messages, count);
        }
    }

    /// The running turn, if a request is the one it waits for.
    fn current(&mut self, request: &str) -> Option<&mut Current> {
        match &mut self.state {
            State::Running(round) => round.current.as_deref_mut().filter(|c| c.id == request),
            State::Idle => None,
        }
    }

    pub(super) fn stale(request: &str) -> Vec<Output> {
        vec![Output::Ignored { reason: "stale".to_owned(), request: request.to_owned() }]
    }

    /// A piece of the reply's text.
    pub(super) fn chunk(&mut self, request: &str, text: &str) -> Vec<Output> {
        let shown = self.shows_tokens();
        let Some(current) = self.current(request) else { return Self::stale(request) };
        let emit = match &mut current.gate {
            Some(gate) => current.cutter.push(&gate.push(text)),
            None => current.cutter.push(text),
        };
        let stops = emit.done.is_some() && !current.stopped;
        current.stopped = current.stopped || stops;
        let speaker = current.speaker;
        let mut out = Vec::new();
        if shown.0 && !emit.text.is_empty() {
            out.push(Output::Token { speaker: self.avatar(speaker), text: emit.text, attempt: shown.1 });
        }
        if shown.0 && stops {
            out.push(Output::Stop { request: request.to_owned() });
        }
        out
    }

    /// Whether the running reply may be shown while it comes, and the request's id where the page is told of it.
    fn shows_tokens(&self) -> (bool, Option<String>) {
        let State::Running(round) = &self.state else { return (false, None) };
        let Some(ask) = &round.asked else { return (true, None) };
        (matches!(ask.purpose, Purpose::Reply { .. }), Some(ask.id.clone()))
    }

    /// A piece of the provider's answer as it came.
    pub(super) fn wire(
        &mut self,
        request: &str,
        text: &str,
        end: bool,
        count: &dyn Count,
    ) -> Result<Vec<Output>, Error> {
        let Some(current) = self.current(request) else { return Ok(Self::stale(request)) };
        let mut events = current.wire.feed(text.as_bytes());
        if end {
            events.extend(current.wire.end());
        }
        let mut out = Vec::new();
        for event in events {
            match event {
                provider::Event::Text { text } => out.extend(self.chunk(request, &text)),
                provider::Event::Error { error } => {
                    out.extend(self.fail(request, text_in(&error.kind), error.message.clone(), count)?);
                    return Ok(out);
                }
                _ => {}
            }
        }
        if end {
            let Some(current) = self.current(request) else { return Ok(out) };
            let read = current.wire.answer();
            let answer = Answer {
                reasoning: Some(read.reasoning.clone()),
                signature: Some(read.signature.clone()).filter(|s| !s.is_empty()),
                alternatives: Some(read.alternatives.clone()).filter(|a| !a.is_empty()),
                alternative_reasonings: Some(read.alternative_reasonings.clone()).filter(|a| !a.is_empty()),
                finish: read.finish.as_ref().map(text_in),
                ..Answer::default()
            };
            out.extend(self.reply(request, answer, count)?);
        }
        Ok(out)
    }

    /// The reply is complete.
    pub(super) fn reply(
        &mut self,
        request: &str,
        answer: Answer,
        count: &dyn Count,
    ) -> Result<Vec<Output>, Error> {
        if self.current(request).is_none() {
            return Ok(Self::stale(request));
        }
        if self.is_coordinated() {
            return self.answered(answer, count);
        }
        let State::Running(round) = &mut self.state else { return Ok(Self::stale(request)) };
        let Some(current) = round.current.take() else { return Ok(Self::stale(request)) };
        let mut out = Vec::new();
        self.accept(*current, answer, &mut out);
        self.next_turn(count, &mut out)?;
        Ok(out)
    }

    /// Cleans a reply and stores it.
    fn accept(&mut self, current: Current, answer: Answer, out: &mut Vec<Output>) {
        let State::Running(round) = &self.state else { return };
        let (kind, batch) = (round.kind, self.scene.group.is_some().then_some(round.batch));
        let (speaker, name) = (current.speaker, current.name.clone());
        let avatar = self.avatar(speaker);
        let (cleaned, stored) = self.cleaned(current, answer, out);
        if matches!(kind, Kind::Impersonate | Kind::Quiet) {
            out.push(Output::Result { speaker: avatar, text: cleaned.text });
            return;
        }
        let index = self.store(kind, speaker, &stored, batch);
        if index == 0 {
            // Whatever becomes the first message has its macros written out (spec 02 §3.1).
            let mut effects = Effects::default();
            self.expand_first(true, &mut effects);
            self.commit(effects);
        }
        let Some(message) = self.scene.chat.messages.get(index) else { return };
        out.push(Output::MessageDone {
            speaker: avatar.clone(),
            name,
            warnings: cleaned.warnings,
            index,
            text: message.mes.clone(),
            message: message.to_value(),
            attempt: None,
            round: None,
            turn: None,
            reason: None,
            partial: false,
        });
        if let State::Running(round) = &mut self.state {
            round.spoke.push(avatar);
        }
    }

    /// Cleans a reply: what is kept of it, and what would be stored. What was held back of a stream is shown.
    pub(super) fn cleaned(
        &mut self,
        current: Current,
        answer: Answer,
        out: &mut Vec<Output>,
    ) -> (reply::Cleaned, store::Answer) {
        let kind = current.reading.kind;
        let attempt = self.shows_tokens().1;
        let Current { speaker, reading, mut options, effects, cutter, reasoning, signature, several, .. } =
            current;
        let raw = answer.text.clone().unwrap_or_else(|| cutter.raw().to_owned());
        options.ended = match answer.finish.as_deref() {
            Some("length") => Ended::Length,
            Some("stop") => Ended::Stop,
            _ => Ended::Unknown,
        };
        self.commit(effects);
        let mut cleaned = self.clean_scripted(&raw, &reading, &options, Some(speaker));
        if kind == Kind::Continue
            && let Some(own) = cleaned.text.strip_prefix(&reading.reasoning)
        {
            cleaned.text = own.to_owned();
        }
        let avatar = self.avatar(speaker);
        // The end of the stream decides what could not be shown yet.
        if let Some(rest) = cutter.held_back(&cleaned.text) {
            out.push(Output::Token {
                speaker: avatar.clone(),
                text: rest.to_owned(),
                attempt: attempt.clone(),
            });
        }
        if let Some(cut) = &cleaned.cut {
            let reason = serde_json::to_value(cut.reason)
                .ok()
                .and_then(|v| v.as_str().map(str::to_owned))
                .unwrap_or_default();
            out.push(Output::Cut {
                speaker: avatar,
                offset: cut.offset,
                foreign: cut.id.clone(),
                reason,
                attempt,
            });
        }
        let parsed = self.parse_reasoning(&cleaned.text, speaker);
        if matches!(kind, Kind::Impersonate | Kind::Quiet) {
            if let Some((_, rest)) = parsed.filter(|_| kind == Kind::Quiet) {
                cleaned.text = rest;
            }
            return (cleaned, store::Answer::default());
        }
        let mut thoughts = answer.alternative_reasonings.unwrap_or_default().into_iter();
        let mut alternatives = Vec::new();
        for text in answer.alternatives.iter().filter(|_| several).flatten() {
            let options = reply::Options { keep_incomplete: current.streamed, ..options.clone() };
            let text = self.clean_scripted(text, &reading, &options, Some(speaker)).text;
            let mut thought = thoughts.next().unwrap_or_default();
            if !self.profile.on(&profile::PROVIDER_READING) {
                thought.clear();
            }
            if !thought.is_empty() {
                let mut effects = Effects::default();
                let place = scripts::Placement::Reasoning;
                thought = self.run_scripts(&thought, place, Some(speaker), &mut effects);
                cleaned.warnings.append(&mut effects.notes);
                self.commit(effects);
            }
            alternatives.push((text, thought));
        }
        let mut text = std::mem::take(&mut cleaned.text);
        let mut reasoning = answer.reasoning.unwrap_or(reasoning);
        let mut kind_of_reasoning = (!reasoning.is_empty() && current.streamed).then_some("model");
        if let Some((thought, rest)) = parsed {
            (reasoning, text, kind_of_reasoning) = (thought, rest, Some("parsed"));
        }
        let mut effects = Effects::default();
        let reasoning =
            self.run_scripts(&reasoning, scripts::Placement::Reasoning, Some(speaker), &mut effects);
        cleaned.warnings.append(&mut effects.notes);
        self.commit(effects);
        cleaned.text.clone_from(&text);
        let stored = store::Answer {
            text,
            api: current.api,
            model: current.model,
            reasoning,
            reasoning_type: kind_of_reasoning,
            signature: answer.signature.or(signature),
            streamed: current.streamed,
            alternatives,
        };
        (cleaned, stored)
    }

    /// The request of a turn that is not run: its payload and report. Nothing is changed. `typed` is a message of the user that is
    /// not stored yet.
    pub fn preview(
        &mut self,
        typed: Option<&str>,
        speaker: Option<usize>,
        options: &TurnOptions,
        count: &dyn Count,
    ) -> Result<(Value, Report, Effects), Error> {
        let mut result = None;
        let outcome: Result<(), Error> = self.transaction(|room| {
            let mut options = options.clone();
            if let Some(text) = typed {
                let (stored, bias) = room.user_input(speaker, text);
                let now = js::iso_date(room.host.clock.now_ms);
                room.scene.chat.messages.push(store::user_message(&room.scene.persona, &stored, &bias, &now));
                options.bias = bias;
            }
            options.standing.clone_from(&room.standing);
            options.tail = room.tail();
            let (options, _) = room.recollect(options, count);
            let roster = room.put_roster(options.speaker.as_deref());
            let built = room.build(&options, count);
            if roster {
                room.scene.extension_prompts.pop();
            }
            let mut turn = built?;
            room.compare(&turn.payload, &mut turn.report, count);
            result = Some((turn.payload, turn.report, turn.effects));
            Err(Error::new(crate::error::Code::Internal, "", "a preview is always taken back"))
        });
        match (result, outcome) {
            (Some(result), _) => Ok(result),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Err(Error::new(crate::error::Code::Internal, "", "a preview gave nothing")),
        }
    }

    /// The request of a prompt without the chat: its payload, its report, and what its macros wrote. No message is stored.
    pub fn raw(&mut self, ask: &turn::RawAsk, count: &dyn Count) -> Result<(Value, Report, Effects), Error> {
        let turn = turn::raw(&self.scene, ask, &self.profile, count, &mut self.host)?;
        self.commit(turn.effects.clone());
        let (payload, report) = (turn.payload, turn.report);
        self.last = Some(Inspection {
            payload: payload.clone(),
            report: Arc::new(report.clone()),
            activated: json!([]),
            memory: Value::Null,
        });
        Ok((payload, report, turn.effects))
    }

    /// Cleans a reply with everything that is done to one; nothing is stored but what its scripts' macros write.
    pub fn clean_reply(
        &mut self,
        raw: &str,
        reading: &Reading,
        options: &reply::Options,
        speaker: Option<usize>,
    ) -> reply::Cleaned {
        self.clean_scripted(raw, reading, options, speaker)
    }

    /// The reasoning block at the start of a reply and the rest, when the user wants it taken out (`reasoning.auto_parse`).
    fn parse_reasoning(&mut self, text: &str, speaker: usize) -> Option<(String, String)> {
        let reasoning = self.scene.settings.reasoning.clone();
        if !reasoning.auto_parse {
            return None;
        }
        let base = EnvBase::new(&self.scene, Some(speaker), &self.profile);
        let mut effects = Effects::default();
        let mut scope = Expander { env: base.env(), host: &mut self.host, effects: &mut effects };
        let (prefix, suffix) = (scope.expand(&reasoning.prefix), scope.expand(&reasoning.suffix));
        if prefix.is_empty() || suffix.is_empty() {
            return None;
        }
        // The prefix may begin with blanks itself.
        let rest = text.strip_prefix(&prefix).or_else(|| js::trim_start(text).strip_prefix(&prefix))?;
        let (thought, rest) = rest.split_once(&suffix)?;
        Some((js::trim(thought).to_owned(), js::trim(rest).to_owned()))
    }

    /// The clean-up with the user's regex scripts in its middle (spec 01 §13 step 4).
    pub(super) fn clean_scripted(
        &mut self,
        raw: &str,
        reading: &Reading,
        options: &reply::Options,
        speaker: Option<usize>,
    ) -> reply::Cleaned {
        let mut draft = reply::before_scripts(raw, reading, options, &self.profile);
        let placement = if reading.kind == Kind::Impersonate {
            scripts::Placement::UserInput
        } else {
            scripts::Placement::AiOutput
        };
        let mut effects = Effects::default();
        draft.text = self.run_scripts(&draft.text, placement, speaker, &mut effects);
        let warnings = std::mem::take(&mut effects.notes);
        self.commit(effects);
        reply::Cleaned { warnings, ..reply::after_scripts(draft, reading, options, &self.profile) }
    }

    /// Writes a reply into the chat; returns where.
    pub(super) fn store(
        &mut self,
        kind: Kind,
        speaker: usize,
        answer: &store::Answer,
        batch: Option<i64>,
    ) -> usize {
        let now = js::iso_date(self.host.clock.now_ms);
        let last = self.scene.chat.messages.len().saturating_sub(1);
        let own = self.scene.chat.messages.last().is_some_and(|m| !m.is_user && m.swipe_id.is_some());
        if kind == Kind::Continue {
            // ST writes into the last message whoever wrote it (spec 02 addendum 2).
            if let Some(message) = self.message_mut(last) {
                store::continued(message, answer, &now);
                return last;
            }
        }
        if kind == Kind::Swipe
            && own
            && let Some(message) = self.message_mut(last)
        {
            store::swipe(message, answer, &now);
            return last;
        }
        if let Some(message) = self.message_mut(last) {
            store::touch(message);
        }
        let Some(character) = self.scene.characters.get(speaker) else { return last };
        let message = store::reply(character, answer, batch, &now);
        self.scene.chat.messages.push(message);
        self.scene.chat.messages.len() - 1
    }

    /// The call failed: nothing of this turn is kept, the others go on.
    pub(super) fn fail(
        &mut self,
        request: &str,
        code: String,
        message: String,
        count: &dyn Count,
    ) -> Result<Vec<Output>, Error> {
        let Some(speaker) = self.current(request).map(|c| c.speaker) else { return Ok(Self::stale(request)) };
        if self.is_coordinated() {
            return self.failed(request, code, message, count);
        }
        let id = self.avatar(speaker);
        let mut kept = Effects::default();
        if let State::Running(round) = &mut self.state {
            kept = round.current.take().map(|c| c.effects).unwrap_or_default();
            round.failed.push(id.clone());
        }
        self.commit_unanswered(kept);
        let mut out = vec![
            Output::DraftReset { speaker: id.clone(), attempt: None },
            Output::Error { speaker: id, code, message, attempt: None, issues: Vec::new() },
        ];
        self.next_turn(count, &mut out)?;
        Ok(out)
    }

    /// What a request without an answer leaves: ST writes when it builds the request, whatever becomes of it (03 F36b).
    fn commit_unanswered(&mut self, effects: Effects) {
        if !self.profile.on(&profile::LORE_TIMERS) {
            self.commit(effects);
        }
    }

    /// Ends the round now. What has come of the running reply is kept if it is asked for and not blank.
    pub(super) fn abort(&mut self, keep: bool) -> Vec<Output> {
        let State::Running(round) = &mut self.state else { return Vec::new() };
        let mut out = Vec::new();
        if let Some(current) = round.current.take() {
            let id = current.speaker;
            if keep && !js::trim(current.raw()).is_empty() {
                self.accept(*current, Answer::default(), &mut out);
            } else {
                self.commit_unanswered(current.effects);
                out.push(Output::DraftReset { speaker: self.avatar(id), attempt: None });
            }
        }
        self.finish("aborted", &mut out);
        out
    }

    /// Ends the round.
    pub(super) fn finish(&mut self, reason: &str, out: &mut Vec<Output>) {
        let State::Running(round) = std::mem::take(&mut self.state) else { return };
        let Round { spoke, failed, planned, .. } = *round;
        let count = u32::try_from(spoke.len()).unwrap_or(u32::MAX);
        // A round that ran to its end reached everybody, also those whose answer is no message.
        let reached = reason == "round_complete";
        let unreached = planned
            .iter()
            .map(|p| p.id.clone())
            .filter(|id| !reached && !spoke.contains(id) && !failed.contains(id))
            .collect();
        out.push(Output::RoundStats {
            round: 1,
            spoke,
            skipped: Vec::new(),
            failed,
            unreached,
            duration_ms: None,
        });
        out.push(Output::RoomFinished { reason: reason.to_owned(), round: 1, count });
    }
}

/// A request as `fetch` takes it: `{url, method, headers, body, auth?}`, the body as JSON text, the key still missing.
pub fn request_value(request: &provider::Request) -> Value {
    let headers: crate::scene::Object = request.headers.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    let mut out = json!({
        "url": request.url,
        "method": request.method,
        "headers": headers,
        "body": js::stringify(&Value::Object(request.body.clone())),
    });
    if let (Some(auth), Some(o)) = (&request.auth, out.as_object_mut()) {
        let place = match &auth.place {
            provider::Place::Header { name, prefix } => json!({"header": name, "prefix": prefix}),
            provider::Place::Query { name } => json!({"query": name}),
        };
        o.insert("auth".into(), place);
    }
    out
}

/// A closed set's word, as it is written in JSON.
fn text_in<T: serde::Serialize>(word: &T) -> String {
    serde_json::to_value(word).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

fn text_of(payload: &Value, key: &str) -> String {
    payload.get(key).and_then(Value::as_str).unwrap_or("").to_owned()
}
