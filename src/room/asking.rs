//! The requests of a coordinator: a member's turn, the director's choice, a narration (spec 09 §17, §21.2, §23).

use serde_json::{Value, json};

use super::context::{GroupContext, Heard, Person, group_context};
use super::coordinator::{Ask, Context, Purpose, RoundConfig};
use super::director::{Brief, Lengths, MAX_TOKENS, brief_line, director_prompt};
use super::event::{Asking, Output};
use super::layout::Layout;
use super::presence::{Spoken, present_of, visible};
use super::{Room, Round, State, narrator};
use crate::error::Error;
use crate::injections::Injection;
use crate::js;
use crate::macros::EnvBase;
use crate::parts::{Effects, Kind};
use crate::prompt::chat::{GROUP_CONTEXT, ROSTER};
use crate::scene::{ExtensionPrompt, Scene};
use crate::speakers;
use crate::tokens::Count;
use crate::turn::{Quiet, TailAsk, TurnOptions};

/// A member's name; without one, its id.
pub(super) fn name(scene: &Scene, id: &str) -> String {
    match scene.character(id).map(|c| c.name.as_str()) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => id.to_owned(),
    }
}

impl Room {
    /// Asks a member for its reply. Only what it heard is in the request.
    pub(super) fn ask_member(
        &mut self,
        ask: Ask,
        out: &mut Vec<Output>,
        count: &dyn Count,
    ) -> Result<(), Error> {
        let Purpose::Reply { context, .. } = &ask.purpose else { return Ok(()) };
        let config = self.rounds().cloned().unwrap_or_default();
        let Some(index) = self.scene.character_index(&ask.speaker) else { return Ok(()) };
        let first = self.rounds.as_ref().is_some_and(|r| !r.asked);
        let bias = self.rounds.as_mut().map(|r| std::mem::take(&mut r.bias)).unwrap_or_default();
        let options = TurnOptions {
            speaker: Some(ask.speaker.clone()),
            kind: Kind::Normal,
            action: Some(Kind::Normal),
            automatic: !first,
            bias,
            ask: self.ask.clone(),
            ..TurnOptions::default()
        };
        let text = config.group_context.then(|| self.context_text(&ask.speaker, context, &config));
        let asking = asking(&ask, &config);
        let ghosts = self.ghost(&ask.speaker, &config);
        if let Some(value) = text {
            let (position, depth, role) = (1, 0, 0);
            self.scene.extension_prompts.push(ExtensionPrompt {
                key: GROUP_CONTEXT.to_owned(),
                value,
                position,
                depth,
                role,
                scan: false,
                order: Injection::DEFAULT_ORDER,
                allowed: true,
            });
        }
        let batch = self.rounds.as_ref().map_or(0, |r| r.batch);
        self.state = State::Running(Box::new(Round::asked(self.starts, ask, batch, None)));
        let built = self.request(index, &options, None, out, count);
        if config.group_context {
            self.scene.extension_prompts.pop();
        }
        for at in ghosts {
            if let Some(message) = self.scene.chat.messages.get_mut(at) {
                message.ignore = false;
            }
        }
        built?;
        if let Some(Output::Request { turn, .. }) = out.last_mut() {
            *turn = Some(asking);
        }
        Ok(())
    }

    /// Asks beside the chat: the director or the narrator.
    pub(super) fn ask_beside(
        &mut self,
        ask: Ask,
        out: &mut Vec<Output>,
        count: &dyn Count,
    ) -> Result<(), Error> {
        let config = self.rounds().cloned().unwrap_or_default();
        let asking = asking(&ask, &config);
        let (messages, most) = match &ask.purpose {
            Purpose::Director { candidates } => {
                (self.director_messages(candidates, &config), Some(MAX_TOKENS))
            }
            Purpose::Narrate { trigger } => (self.narrator_messages(*trigger, &config), None),
            Purpose::Reply { .. } => return Ok(()),
        };
        let messages: Vec<Value> =
            messages.iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
        let Some(index) = self.scene.members().next().and_then(|c| self.scene.character_index(&c.avatar))
        else {
            return Ok(());
        };
        // A quiet request of any member has the model's parameters; its messages are replaced.
        let options = TurnOptions {
            speaker: self.scene.characters.get(index).map(|c| c.avatar.clone()),
            kind: Kind::Quiet,
            action: Some(Kind::Quiet),
            quiet: Some(Quiet { prompt: " ".to_owned(), skip_lore: true, ..Quiet::default() }),
            automatic: true,
            ..TurnOptions::default()
        };
        let speaker = ask.speaker.clone();
        let batch = self.host.clock.now_ms;
        self.state = State::Running(Box::new(Round::asked(self.starts, ask, batch, Some(false))));
        self.request(index, &options, Some((&messages, most)), out, count)?;
        if let Some(Output::Request { turn, speaker: named, name, .. }) = out.last_mut() {
            *turn = Some(asking);
            *named = speaker;
            *name = config.narrator.filter(|n| n.id == *named).map(|n| n.name).unwrap_or_default();
        }
        Ok(())
    }

    fn participants(&self, config: &RoundConfig) -> Vec<String> {
        let Some(group) = &self.scene.group else { return Vec::new() };
        let there = |id: &&str| !config.absent.iter().any(|a| a == id) && self.scene.character(id).is_some();
        group.enabled().filter(there).map(str::to_owned).collect()
    }

    fn person(&self, id: &str) -> Person {
        Person { id: id.to_owned(), name: name(&self.scene, id) }
    }

    fn context_text(&self, speaker: &str, context: &Context, config: &RoundConfig) -> String {
        let participants = self.participants(config);
        let host = match context.mode {
            "host_mode" => config.host.clone().or_else(|| participants.first().cloned()),
            _ => None,
        };
        let own = config.validation.as_ref().and_then(|v| v.self_reference.as_ref());
        group_context(&GroupContext {
            mode: context.mode.to_owned(),
            participants: participants.iter().map(|id| self.person(id)).collect(),
            speaker: self.person(speaker),
            round: context.round,
            target: context.target.as_deref().map(|id| self.person(id)),
            host: host.map(|id| self.person(&id)),
            topic: config.topic.clone(),
            scene: config.scene.clone(),
            recent: Vec::new(),
            must_reply: context.must_reply,
            anti_repeat: context.anti_repeat,
            issues: context.issues.clone(),
            self_reference: own.map(|s| s.required.clone()).unwrap_or_default(),
            closing: context.closing,
        })
    }

    /// Positions of the messages that a member did not hear; they are ghosted until the request is built.
    fn ghost(&mut self, member: &str, config: &RoundConfig) -> Vec<usize> {
        if !config.presence.enabled {
            return Vec::new();
        }
        let heard = self.heard_by(member, config);
        let mut ghosts = Vec::new();
        for (at, message) in self.scene.chat.messages.iter_mut().enumerate() {
            if !message.ignore && !message.is_system && heard.binary_search(&at).is_err() {
                message.ignore = true;
                ghosts.push(at);
            }
        }
        ghosts
    }

    fn heard_by(&self, member: &str, config: &RoundConfig) -> Vec<usize> {
        let spoken: Vec<Spoken<'_>> = self
            .scene
            .chat
            .messages
            .iter()
            .map(|m| Spoken {
                sender: speakers::author(&self.scene, m),
                hidden: m.is_system || m.ignore,
                present: present_of(m),
            })
            .collect();
        visible(&spoken, member, &config.presence)
    }

    /// The newest visible messages; with presence, those that all of some members heard.
    fn lines(&self, newest: usize, heard_by: Option<(&[String], &RoundConfig)>) -> Vec<Heard> {
        let lists: Vec<Vec<usize>> = match heard_by {
            Some((ids, config)) => ids.iter().map(|id| self.heard_by(id, config)).collect(),
            None => Vec::new(),
        };
        let messages = self.scene.chat.messages.iter().enumerate();
        let shown = |at: usize| lists.iter().all(|list| list.binary_search(&at).is_ok());
        let mut lines: Vec<Heard> = messages
            .rev()
            .filter(|(at, m)| !m.is_system && !m.ignore && shown(*at))
            .take(newest)
            .map(|(_, m)| Heard { name: m.name.clone(), text: m.mes.clone() })
            .collect();
        lines.reverse();
        lines
    }

    /// Members with the beginnings of their descriptions, in which macros are filled in.
    fn briefs(&self, ids: &[String]) -> Vec<Brief> {
        let brief =
            |id: &String| Brief { id: id.clone(), name: name(&self.scene, id), brief: self.description(id) };
        ids.iter().map(brief).collect()
    }

    fn description(&self, id: &str) -> String {
        let Some(index) = self.scene.character_index(id) else { return String::new() };
        let base = EnvBase::new(&self.scene, Some(index), &self.profile);
        let (mut host, mut effects) = (self.host.clone(), Effects::default());
        base.card_texts(&mut host, &mut effects).description
    }

    /// How the speaker's own texts go behind the history, if they do.
    pub(super) fn tail(&self) -> Option<TailAsk> {
        let config = self.rounds().filter(|c| c.layout == Layout::Tail)?;
        let group = self.scene.group.as_ref()?;
        Some(TailAsk {
            members: group.members.clone(),
            joined: config.tail_join,
            low_water: config.low_water,
            own_summary: self.memory().is_some_and(|m| m.settings.per_member),
        })
    }

    /// Puts a line about each member where the prompts are; the caller takes it out again. In the tail layout the speaker has one too,
    /// so that the text is the same for everybody.
    pub(super) fn put_roster(&mut self, speaker: Option<&str>) -> bool {
        let Some(config) = self.rounds().cloned() else { return false };
        let Some(blurbs) = &config.blurbs else { return false };
        let mut ids = self.participants(&config);
        if config.layout == Layout::Classic {
            ids.retain(|id| Some(id.as_str()) != speaker);
        }
        let line = |id: &String| {
            let text = blurbs.texts.get(id).cloned().unwrap_or_else(|| self.description(id));
            let text = brief_line(&text, blurbs.chars);
            let name = name(&self.scene, id);
            if text.is_empty() { name } else { format!("{name}: {text}") }
        };
        let lines: Vec<String> = ids.iter().map(line).collect();
        if lines.is_empty() {
            return false;
        }
        let heading = if config.layout == Layout::Classic { "[Also present]" } else { "[Present]" };
        self.scene.extension_prompts.push(ExtensionPrompt {
            key: ROSTER.to_owned(),
            value: format!("{heading}\n{}", lines.join("\n")),
            position: 0,
            depth: 0,
            role: 0,
            scan: false,
            order: Injection::DEFAULT_ORDER,
            allowed: true,
        });
        true
    }

    fn director_messages(&self, candidates: &[String], config: &RoundConfig) -> [(&'static str, String); 2] {
        let rules = config.director;
        let heard = (config.presence.enabled && !rules.omniscient).then_some((candidates, config));
        let lengths =
            Lengths { max: rules.max, depth: rules.depth, brief: rules.brief_chars, line: rules.line_chars };
        director_prompt(&self.briefs(candidates), &self.lines(rules.depth, heard), &lengths)
    }

    fn narrator_messages(
        &self,
        trigger: narrator::Trigger,
        config: &RoundConfig,
    ) -> [(&'static str, String); 2] {
        narrator::prompt(
            trigger,
            &config.scene,
            &self.briefs(&self.participants(config)),
            &self.lines(5, None),
        )
    }
}

/// What the driver is told of a request.
fn asking(ask: &Ask, config: &RoundConfig) -> Asking {
    match &ask.purpose {
        Purpose::Reply { reason, by, context } => Asking {
            purpose: "reply".to_owned(),
            reason: Some(*reason),
            by: by.clone(),
            round: Some(context.round),
            target: context.target.clone(),
            must_reply: context.must_reply,
            anti_repeat: context.anti_repeat,
            issues: context.issues.clone(),
            closing: context.closing,
            connection: config.connections.get(&ask.speaker).cloned(),
            timeout_ms: config.timeout_ms,
            ..Asking::default()
        },
        Purpose::Director { candidates } => Asking {
            purpose: "director".to_owned(),
            candidates: candidates.clone(),
            timeout_ms: Some(config.director.timeout_ms),
            ..Asking::default()
        },
        Purpose::Narrate { trigger } => Asking {
            purpose: "narrate".to_owned(),
            trigger: Some(*trigger),
            timeout_ms: config.timeout_ms,
            ..Asking::default()
        },
    }
}

/// A payload with other messages: those of a call beside the chat.
pub(super) fn replace_messages(payload: &mut Value, messages: &[Value], most: Option<u32>) {
    let Some(object) = payload.as_object_mut() else { return };
    if object.contains_key("prompt") && !object.contains_key("messages") {
        let texts: Vec<&str> =
            messages.iter().filter_map(|m| m.get("content").and_then(Value::as_str)).collect();
        object.insert("prompt".into(), json!(format!("{}\n", texts.join("\n\n"))));
    } else {
        object.insert("messages".into(), json!(messages));
    }
    for key in ["tools", "tool_choice", "n", "json_schema", "assistant_prefill", "logit_bias"] {
        object.shift_remove(key);
    }
    if let Some(most) = most {
        // A name at the start of a line is an answer here.
        for key in ["stop", "stopping_strings", "stop_sequence"] {
            object.shift_remove(key);
        }
        for key in [
            "max_tokens",
            "max_completion_tokens",
            "max_new_tokens",
            "max_length",
            "n_predict",
            "num_predict",
        ] {
            if let Some(value) = object.get_mut(key) {
                let given = value.as_f64().map_or(i64::MAX, js::to_integer);
                *value = json!(given.min(i64::from(most)));
            }
        }
        if object.contains_key("temperature") {
            object.insert("temperature".into(), json!(0));
        }
    }
}
