//! Many turns: a scene and what happens outside -> who speaks, requests, stored messages, and why.
//!
//! [`Room`] is a value with one verb, [`Room::step`]: it is told what happened and answers with what to do next. It never
//! fetches, sleeps or reads a clock. At most one request is outstanding. A call that fails leaves the room as it was.
//!
//! Spec: 01 §3, §8, §14; 09 §§11-16. Reading order: `event` (what goes in and out), `mod` (the round), `store` (messages).

mod asking;
pub mod context;
pub mod control;
pub mod coordinator;
pub mod crosstalk;
pub mod director;
pub mod director_answer;
mod cache;
mod event;
pub mod layout;
pub mod narrator;
mod memory;
mod memory_exact;
mod open;
pub mod presence;
pub mod repeat;
mod rounds;
pub mod validate;
mod reuse;
mod start;
mod store;
mod swipe;
mod turns;

use std::collections::VecDeque;

use indexmap::IndexMap;
use serde_json::{Value, json};

pub use event::{Answer, Asking, Input, Order, Output, Planned, QuietInput, Start};
pub use turns::{Inspection, request_value};

use crate::error::{Code, Error};
use crate::host::{Draw, Host};
use crate::memory::Memory;
use crate::parts::{ChatEdit, Effects, Kind};
use crate::profile::Profile;
use crate::provider::Config;
use crate::scene::{ChatMessage, Object, Scene};
use crate::tokens::Count;
use crate::turn::{Ask, Compiled};
use coordinator::Tell;

/// A chat that goes on: the scene, the profile, the outside, and where a round stands.
#[derive(Debug)]
pub struct Room {
    scene: Scene,
    profile: Profile,
    host: Host,
    ask: Ask,
    provider: Config,
    starts: u32,
    memory: Option<Box<Memory>>,
    state: State,
    undo: Option<Undo>,
    last: Option<Inspection>,
    cache: cache::Cache,
    /// Texts of the last request that lorebooks still look into (03 F42).
    standing: IndexMap<String, String>,
    /// What decides on rounds, where the host wants more than the reference's.
    rounds: Option<Box<rounds::Rounds>>,
}

/// Where a round stands.
#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Running(Box<Round>),
}

/// One round that is under way.
#[derive(Debug)]
struct Round {
    /// Number of the start, for ids.
    start: u32,
    kind: Kind,
    action: Kind,
    auto: bool,
    quiet: Option<QuietInput>,
    stream: Option<bool>,
    /// Epoch milliseconds, equal for all replies of the turn.
    batch: i64,
    planned: Vec<Planned>,
    queue: VecDeque<usize>,
    turn: u32,
    spoke: Vec<String>,
    failed: Vec<String>,
    bias: String,
    current: Option<Box<turns::Current>>,
    /// The coordinator's request that this is about; `None` for a round of the reference's kind.
    asked: Option<Box<coordinator::Ask>>,
}

/// What must be put back when a call fails half-way.
#[derive(Debug)]
struct Undo {
    host: Host,
    metadata: Object,
    globals: Object,
    length: usize,
    /// Messages as they were before they were changed or removed, with their positions, in order of change.
    changed: Vec<(usize, ChatMessage)>,
}

impl Room {
    /// A room over a scene. Nothing is opened yet: see [`Room::open`].
    pub fn new(scene: Scene, profile: Profile, host: Host) -> Self {
        Self {
            scene,
            profile,
            host,
            ask: Ask::default(),
            provider: Config::default(),
            starts: 0,
            memory: None,
            state: State::Idle,
            undo: None,
            last: None,
            cache: cache::Cache::default(),
            standing: IndexMap::new(),
            rounds: None,
        }
    }

    /// The scene as it stands.
    pub const fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The profile.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Random source, clock, limits.
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Host settings of the providers.
    pub const fn provider(&self) -> &Config {
        &self.provider
    }

    /// Host settings of the providers: see [`Config::from_value`].
    pub fn configure_provider(&mut self, value: Option<&Value>) {
        self.provider = Config::from_value(value.unwrap_or(&Value::Null));
    }

    /// Another scene in place of this one.
    pub fn replace_scene(&mut self, scene: Scene) {
        self.scene = scene;
        self.cache.clear();
    }

    /// Another profile in place of this one.
    pub fn set_profile(&mut self, profile: Profile) {
        self.profile = profile;
        self.cache.clear();
    }

    /// Removes the last messages, then appends others.
    pub fn edit_chat(&mut self, remove_last: usize, append: Vec<ChatMessage>) {
        let messages = &mut self.scene.chat.messages;
        messages.truncate(messages.len().saturating_sub(remove_last));
        messages.extend(append.into_iter().map(|mut message| {
            store::shown(&mut message);
            message
        }));
    }

    /// Random source, clock, limits.
    pub const fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// What every request carries besides the preset: tools, the model's entry, a schema.
    pub const fn ask_mut(&mut self) -> &mut Ask {
        &mut self.ask
    }

    /// Lorebooks and scripts, compiled for a speaker (nobody, in a group between two turns) and kept.
    pub fn compiled(&mut self, speaker: Option<usize>) -> Compiled {
        let speaker = speaker.and_then(|at| self.scene.characters.get(at));
        self.cache.compiled(&self.scene, speaker, &self.profile, &self.host.limits)
    }

    /// Injected texts of the last request that lorebooks still look into, by key.
    pub const fn standing(&self) -> &IndexMap<String, String> {
        &self.standing
    }

    /// Whether a round is under way.
    pub fn is_busy(&self) -> bool {
        matches!(self.state, State::Running(_)) || self.is_coordinated()
    }

    /// The payload and the books of the last request that was built.
    pub const fn last_request(&self) -> Option<&Inspection> {
        self.last.as_ref()
    }

    /// Tells the room what happened. On an error nothing has changed.
    pub fn step(&mut self, input: Input, count: &dyn Count) -> Result<Vec<Output>, Error> {
        if let Input::Start(start) = input {
            let changed = self.history_changed(&start);
            let mut out = self.started(&start, count)?;
            out.splice(0..0, changed);
            return Ok(out);
        }
        match input {
            Input::Chunk { request, text } => Ok(self.chunk(&request, &text)),
            Input::Wire { request, text, end } => self.wire(&request, &text, end.unwrap_or(false), count),
            Input::Reply { request, answer } => self.reply(&request, answer, count),
            Input::Fail { request, code, message } => {
                self.fail(&request, code, message.unwrap_or_default(), count)
            }
            Input::Timeout { request } => {
                self.fail(&request, "timeout".to_owned(), "the call took too long".to_owned(), count)
            }
            Input::Abort { keep } if self.is_coordinated() => self.stopped(keep.unwrap_or(false), count),
            Input::Abort { keep } => Ok(self.abort(keep.unwrap_or(false))),
            Input::Elapsed { wait } if self.rounds.is_some() => self.tell(Tell::Elapsed { wait }, count),
            Input::Elapsed { wait } => Ok(Self::stale(&wait)),
            Input::Typing if self.rounds.is_some() => self.tell(Tell::Typing, count),
            Input::Start(_) | Input::Typing => Ok(Vec::new()),
            Input::UserMessage { text } if self.is_coordinated() => self.tell(Tell::UserMessage(text), count),
            Input::UserMessage { text } => {
                let start = Start { user_message: Some(text), ..Start::default() };
                self.step(Input::Start(start), count)
            }
            Input::Command { order, member, members } => {
                let told = self.order(order, member.as_ref(), members.as_ref())?;
                self.tell(told, count)
            }
            Input::Present { member, present } => self.set_present(&member, present),
            Input::Trigger { trigger } => self.add_trigger(&trigger),
        }
    }

    fn started(&mut self, start: &Start, count: &dyn Count) -> Result<Vec<Output>, Error> {
        let running = matches!(self.state, State::Running(_)) && !self.is_coordinated();
        if self.coordinates(start) && !running {
            let told = self.begin(start)?;
            return self.tell(told, count);
        }
        if self.is_busy() {
            return Ok(vec![Output::Refused { code: Code::RoomBusy.as_str().to_owned() }]);
        }
        self.transaction(|room| room.start(start, count))
    }

    /// What a start would give, up to its first request. Nothing is changed.
    pub fn rehearse(&mut self, start: &Start, count: &dyn Count) -> Result<Vec<Output>, Error> {
        if self.is_busy() {
            return Err(Error::new(
                Code::RoomBusy,
                "",
                "a round is under way: it can be looked at with `queue`",
            ));
        }
        let (rounds, host, starts) = (self.rounds.clone(), self.host.clone(), self.starts);
        let (chat, globals) = (self.scene.chat.clone(), self.scene.global_variables.clone());
        let (standing, last) = (self.standing.clone(), self.last.clone());
        // Recall keeps a record of what it brought; nothing is brought here.
        let memory = self.memory.take();
        let result = self.started(start, count);
        self.state = State::Idle;
        (self.rounds, self.host, self.starts) = (rounds, host, starts);
        (self.scene.chat, self.scene.global_variables) = (chat, globals);
        (self.standing, self.last, self.memory) = (standing, last, memory);
        result
    }

    /// Runs an action that either succeeds or leaves no trace.
    fn transaction<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.undo = Some(Undo {
            host: self.host.clone(),
            metadata: self.scene.chat.metadata.clone(),
            globals: self.scene.global_variables.clone(),
            length: self.scene.chat.messages.len(),
            changed: Vec::new(),
        });
        let starts = self.starts;
        self.host.regex_spent = 0;
        let result = action(self).and_then(|value| {
            if self.host.dice.exhausted() {
                return Err(Error::new(
                    Code::DrawsExhausted,
                    "random",
                    "the recorded numbers ran out in the middle of a call",
                ));
            }
            Ok(value)
        });
        let undo = self.undo.take();
        if let (Err(_), Some(undo)) = (&result, undo) {
            self.host = undo.host;
            self.scene.chat.metadata = undo.metadata;
            self.scene.global_variables = undo.globals;
            let messages = &mut self.scene.chat.messages;
            for (at, old) in undo.changed.into_iter().rev() {
                match messages.get_mut(at) {
                    Some(slot) => *slot = old,
                    None => messages.push(old),
                }
            }
            messages.truncate(undo.length);
            self.state = State::Idle;
            self.starts = starts;
        }
        result
    }

    /// A stored message, to change; remembered for undo.
    fn message_mut(&mut self, at: usize) -> Option<&mut ChatMessage> {
        let message = self.scene.chat.messages.get_mut(at)?;
        if let Some(undo) = self.undo.as_mut().filter(|u| at < u.length) {
            undo.changed.push((at, message.clone()));
        }
        Some(message)
    }

    /// Removes the last message; remembered for undo.
    fn pop_message(&mut self) -> Option<ChatMessage> {
        let message = self.scene.chat.messages.pop()?;
        let at = self.scene.chat.messages.len();
        if let Some(undo) = self.undo.as_mut().filter(|u| at < u.length) {
            undo.changed.push((at, message.clone()));
        }
        Some(message)
    }

    /// Applies what a step wanted to change.
    pub fn commit(&mut self, effects: Effects) {
        let local = effects.local;
        if effects.local_store || !local.is_empty() {
            let slot = self.scene.chat.metadata.entry("variables").or_insert_with(|| json!({}));
            if !slot.is_object() {
                *slot = json!({});
            }
            if let Value::Object(map) = slot {
                apply(map, local);
            }
        }
        apply(&mut self.scene.global_variables, effects.global);
        apply(&mut self.scene.chat.metadata, effects.metadata);
        if let Some(standing) = effects.standing {
            self.standing = standing;
        }
        for edit in effects.chat {
            let ChatEdit::Text { index, mes } = edit;
            if let Some(message) = self.message_mut(index) {
                message.mes = mes;
            }
        }
    }

    /// The random numbers used since the last call, with their sites.
    pub fn take_draws(&mut self) -> Vec<Draw> {
        self.host.dice.take_drawn()
    }
}

fn apply(map: &mut Object, changes: indexmap::IndexMap<String, Option<Value>>) {
    for (key, value) in changes {
        match value {
            Some(value) => {
                map.insert(key, value);
            }
            None => {
                map.shift_remove(&key);
            }
        }
    }
}
