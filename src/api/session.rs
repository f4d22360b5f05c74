//! A room with its options: calls by name.

use std::rc::Rc;

use serde_json::{Value, json};

use super::options::{Random, RoomOptions, Vocabularies};
use super::types::{ChatEdits, Drawn, Inspected, Plan, SpeakerOptions, StepParams};
use super::{calls, memory, params, supplied, text};
use crate::error::{Code, Error, Warning};
use crate::host::Draw;
use crate::js;
use crate::profile::{Profile, TEXT_HALVES};
use crate::room::{Output, Room};
use crate::scene::{ChatMessage, Object, Scene};
use crate::tokens::{Count, Supplied};

/// One room behind the JSON face.
pub struct Session {
    room: Room,
    /// The scene as JSON, for parts that are replaced whole.
    source: Object,
    options: RoomOptions,
    vocabularies: Vocabularies,
    counter: Rc<dyn Count>,
    /// The counter, where the host supplies the counts.
    supplied: Option<Rc<Supplied>>,
    warnings: Vec<Warning>,
}

impl Session {
    /// Builds a room from JSON texts and opens its chat.
    pub fn new(scene: &str, options: &str, vocabularies: Vocabularies) -> Result<Self, Error> {
        let options: RoomOptions = params(&js::parse(options)?.0)?;
        let profile = options.profile()?;
        let (value, mut warnings) = parsed(scene, &profile)?;
        let (scene, notes) = Scene::from_value(&value)?;
        warnings.extend(notes);
        let mut supplied = None;
        let counter = supplied::counter(
            &vocabularies,
            options.tokenizer.as_deref(),
            &scene.preset,
            &profile,
            &mut supplied,
        )?;
        let mut host = options.host()?;
        host.platform_regexp = vocabularies.regexp(options.regexp.as_deref())?;
        let mut room = Room::new(scene, profile, host);
        room.configure_provider(options.provider.as_ref());
        room.ask_mut().shares = options.budget.clone().unwrap_or_default();
        if let Some(memory) = &options.memory {
            memory::configure(&mut room, memory)?;
        }
        room.configure_rounds(options.rounds.as_ref())?;
        if options.open.unwrap_or(true) {
            warnings.extend(room.open()?);
        }
        let source = match value {
            Value::Object(o) => o,
            _ => Object::new(),
        };
        Ok(Self { room, source, options, vocabularies, counter, supplied, warnings })
    }

    /// Calls a method by its name with JSON parameters.
    pub fn call(&mut self, method: &str, parameters: &str) -> Result<String, Error> {
        let (value, _) = parsed(parameters, self.room.profile())?;
        match method {
            "nextSpeakers" => text(&self.next_speakers(&params(&value)?)?),
            "buildRequest" => {
                let counter = self.counter.clone();
                text(&calls::preview(&mut self.room, &params(&value)?, &*counter)?)
            }
            "buildRaw" => {
                let counter = self.counter.clone();
                text(&calls::raw(&mut self.room, &params(&value)?, &*counter)?)
            }
            "cleanReply" => text(&calls::clean(&mut self.room, &params(&value)?)?),
            "step" => text(&self.step(params(&value)?)?),
            "queue" => text(&self.room.planned()),
            "previewRound" => {
                let counter = self.counter.clone();
                text(&self.room.rehearse(&params(&value)?, &*counter)?)
            }
            "inspect" => text(&self.inspect()),
            "update" => self.update(&value).map(|()| "null".to_owned()),
            "configure" => self.configure(&value).map(|()| "null".to_owned()),
            "editChat" => self.edit_chat(&params(&value)?).map(|()| "null".to_owned()),
            "chat" => text(&self.chat()),
            "snapshot" => text(&self.snapshot()),
            "warnings" => text(&self.warnings),
            "takeDraws" => text(&drawn(&self.room.take_draws())),
            "stops" => text(&calls::stops(&mut self.room, &value)?),
            "expand" => text(&calls::expand(&mut self.room, &params(&value)?)?),
            "regex" => text(&calls::regex(&mut self.room, &value)?.text),
            "runScripts" => text(&calls::regex(&mut self.room, &value)?),
            "inspectText" => text(&calls::inspect_text(&mut self.room, &params(&value)?)?),
            "lore" | "inspectLore" => {
                let counter = self.counter.clone();
                text(&calls::lore(&mut self.room, &params(&value)?, &*counter, method == "lore")?)
            }
            "count" => text(&calls::count(&self.room, &value, &*self.counter)),
            "missingCounts" => text(&supplied::missing(self.supplied.as_deref())?),
            "supplyCounts" => supplied::supply(self.supplied.as_deref(), &value).map(|()| "null".to_owned()),
            name if name.starts_with("memory.") => self.memory(name, &value, &[]),
            "convert" => text(&calls::convert(&self.room, &value)?),
            other => {
                Err(Error::new(Code::OptionUnknown, "method", format!("a room has no method {other:?}")))
            }
        }
    }

    fn memory(&mut self, method: &str, value: &Value, floats: &[f32]) -> Result<String, Error> {
        let name = method.trim_start_matches("memory.");
        let counter = self.counter.clone();
        let result = memory::room_call(&mut self.room, name, value, floats, &*counter)?;
        if name == "configure" {
            self.merge_memory(value);
        }
        text(&result)
    }

    /// Later settings go over earlier ones, so that a snapshot has them all.
    fn merge_memory(&mut self, value: &Value) {
        let all = self.options.memory.get_or_insert_with(|| json!({}));
        let (Some(all), Some(new)) = (all.as_object_mut(), value.as_object()) else { return };
        for (key, value) in new.iter().filter(|(key, _)| *key != "state") {
            match (all.get_mut(key), value.as_object()) {
                (Some(Value::Object(old)), Some(new)) => old.extend(new.clone()),
                _ => _ = all.insert(key.clone(), value.clone()),
            }
        }
    }

    /// A call of the memory with vectors as plain numbers.
    pub fn call_floats(&mut self, method: &str, parameters: &str, floats: &[f32]) -> Result<String, Error> {
        let (value, _) = parsed(parameters, self.room.profile())?;
        self.memory(method, &value, floats)
    }

    /// The memory's vectors as one block; empty without a memory.
    pub fn memory_bytes(&self) -> Vec<u8> {
        self.room.memory().map(|m| m.index().to_bytes()).unwrap_or_default()
    }

    /// The memory's state and vectors, as they were given out.
    pub fn load_memory(&mut self, state: &str, bytes: &[u8]) -> Result<(), Error> {
        let (value, _) = js::parse(state)?;
        self.room.memory_mut().load(&value, bytes)
    }

    fn next_speakers(&mut self, options: &SpeakerOptions) -> Result<Plan, Error> {
        let plan = calls::plan(&mut self.room, options)?;
        Ok(Plan {
            draws: drawn(&plan.draws),
            speakers: plan.speakers,
            nobody: plan.nobody,
            passed: plan.passed,
            warnings: plan.warnings,
        })
    }

    fn step(&mut self, step: StepParams) -> Result<Vec<Output>, Error> {
        if let Some(now) = step.now {
            self.room.host_mut().clock.now_ms = js::to_integer(now);
        }
        let counter = self.counter.clone();
        self.room.step(step.input, &*counter)
    }

    fn inspect(&self) -> Inspected {
        let Some(last) = self.room.last_request() else { return Inspected::default() };
        Inspected {
            payload: last.payload.clone(),
            report: last.report.clone(),
            activated: last.activated.clone(),
            memory: last.memory.clone(),
        }
    }

    /// Replaces parts of the scene. `chatMetadata` is merged key by key.
    fn update(&mut self, value: &Value) -> Result<(), Error> {
        let Some(parts) = value.as_object() else {
            return Err(Error::new(Code::SceneField, "", "the parts to replace must be an object"));
        };
        if self.room.is_busy() {
            return Err(Error::new(
                Code::RoomBusy,
                "",
                "a round is under way: wait for it to finish, or abort it",
            ));
        }
        // All that can fail comes first; then nothing fails.
        let mut source = self.source.clone();
        let mut metadata = None;
        for (key, part) in parts {
            match key.as_str() {
                "chatMetadata" => metadata = part.as_object(),
                "chat" => {}
                _ => {
                    source.insert(key.clone(), part.clone());
                }
            }
        }
        let chat = match parts.get("chat") {
            Some(chat) => crate::scene::Chat::from_value(chat)?,
            None => self.room.scene().chat.clone(),
        };
        source.shift_remove("chat");
        let (mut scene, _) = Scene::from_value(&Value::Object(source.clone()))?;
        scene.chat = chat;
        if let Some(metadata) = metadata {
            scene.chat.metadata.extend(metadata.clone());
        }
        if !parts.contains_key("variables") {
            scene.global_variables.clone_from(&self.room.scene().global_variables);
        }
        let counter = supplied::counter(
            &self.vocabularies,
            self.options.tokenizer.as_deref(),
            &scene.preset,
            self.room.profile(),
            &mut self.supplied,
        )?;
        self.counter = counter;
        self.source = source;
        self.room.replace_scene(scene);
        Ok(())
    }

    /// Changes options between rounds.
    fn configure(&mut self, value: &Value) -> Result<(), Error> {
        let mut merged =
            serde_json::to_value(&self.options).map_err(|e| Error::new(Code::Internal, "", e.to_string()))?;
        if let (Value::Object(all), Some(new)) = (&mut merged, value.as_object()) {
            all.extend(new.clone());
        }
        let options: RoomOptions = params(&merged)?;
        let profile = options.profile()?;
        let counter = supplied::counter(
            &self.vocabularies,
            options.tokenizer.as_deref(),
            &self.room.scene().preset,
            &profile,
            &mut self.supplied,
        )?;
        let given = |key: &str| value.get(key).is_some();
        if given("rounds") {
            self.room.configure_rounds(options.rounds.as_ref())?;
        }
        if given("random") {
            self.room.host_mut().dice = options.dice()?;
        }
        if given("now") || given("offsetMinutes") || given("locale") || given("limits") {
            let host = options.host()?;
            self.room.host_mut().clock = host.clock;
            self.room.host_mut().limits = host.limits;
        }
        if let Some(settings) = value.get("memory").filter(|v| !v.is_null()) {
            memory::configure(&mut self.room, settings)?;
        }
        if given("profile") || given("switches") {
            self.room.set_profile(profile);
        }
        self.room.configure_provider(options.provider.as_ref());
        self.room.ask_mut().shares = options.budget.clone().unwrap_or_default();
        self.counter = counter;
        self.options = options;
        Ok(())
    }

    fn edit_chat(&mut self, edits: &ChatEdits) -> Result<(), Error> {
        let messages = edits
            .append
            .iter()
            .enumerate()
            .map(|(i, m)| ChatMessage::from_value(m).map_err(|e| e.under(&format!("append[{i}]"))))
            .collect::<Result<Vec<_>, _>>()?;
        self.room.edit_chat(edits.remove_last, messages);
        Ok(())
    }

    fn chat(&self) -> Value {
        let chat = &self.room.scene().chat;
        let messages: Vec<Value> = chat.messages.iter().map(ChatMessage::to_value).collect();
        json!({"id": chat.id, "metadata": chat.metadata, "messages": messages})
    }

    /// Everything, as JSON: a session made from it goes on where this one stands. Its chat is open already.
    fn snapshot(&self) -> Value {
        let mut scene = self.source.clone();
        scene.insert("chat".into(), self.chat());
        scene.insert("variables".into(), json!({"global": self.room.scene().global_variables}));
        let host = self.room.host();
        let memory = self.room.memory().map(|memory| {
            let mut all =
                self.options.memory.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
            js::put(&mut all, "state", memory.to_value());
            Value::Object(all)
        });
        let options = RoomOptions {
            memory,
            random: Random::rest(&host.dice).or_else(|| self.options.random.clone()),
            now: Some(host.clock.now_ms),
            open: Some(false),
            rounds: self.room.rounds().and_then(|r| serde_json::to_value(r).ok()),
            ..self.options.clone()
        };
        json!({"scene": scene, "options": options})
    }
}

/// JSON text as the profile reads it.
fn parsed(text: &str, profile: &Profile) -> Result<(Value, Vec<Warning>), Error> {
    if profile.on(&TEXT_HALVES) { js::parse(text) } else { js::parse_halves(text) }
}

/// Draws as JavaScript sees them.
fn drawn(draws: &[Draw]) -> Vec<Drawn> {
    draws.iter().map(|d| Drawn { site: d.site.as_str().to_owned(), value: d.value }).collect()
}
