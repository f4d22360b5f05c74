//! A whole room over a script: members, a configuration, and what the other side answers in turn -> every output (spec 09 appendix B).
//!
//! Nothing is sent and no prompt is built: this is how a configuration can be tried, and how rounds are tested.

use serde_json::{Value, json};

use super::rooms::{at, camel, list, word};
use crate::error::{Code, Error};
use crate::host::Dice;
use crate::js;
use crate::profile::Profile;
use crate::room::control::reply_control;
use crate::room::coordinator::{
    Ask, Begin, Commit, Coordinator, Event, Ground, Move, Purpose, Reply, RoundConfig, Tell,
};
use crate::room::narrator::Trigger;
use crate::scene::{ChatMessage, Object, Scene};

/// Most outputs that a script may cause.
const MOST: usize = 100_000;

/// Runs `{members, config, history?, user_message?, target?, triggers?, draws?, script}`.
pub(super) fn run(of: &Value) -> Result<Value, Error> {
    let mut config = config(at(of, "config"))?;
    let absent = list(of, "members").iter().filter(|m| js::to_boolean(at(m, "absent")));
    config.absent.extend(absent.map(|m| word(m, "id").to_owned()));
    let mut stage = Stage {
        scene: scene(of)?,
        profile: Profile::promptside(),
        dice: Dice::tape(list(of, "draws").iter().filter_map(Value::as_f64).collect::<Vec<_>>()),
        coordinator: Coordinator::new(config),
        steps: Vec::new(),
        added: Vec::new(),
        outstanding: None,
    };
    stage.tell(Tell::Start(begin(of)))?;
    let mut script = list(of, "script").iter();
    while stage.outstanding.is_some() {
        let Some(entry) = script.next() else { break };
        let told = stage.read(entry);
        stage.tell(told)?;
    }
    // What is left is said to a room that waits for nothing.
    for entry in script {
        let told = stage.read(entry);
        stage.tell(told)?;
    }
    Ok(json!({"steps": stage.steps, "added": stage.added}))
}

fn config(value: &Value) -> Result<RoundConfig, Error> {
    let mut all = Object::new();
    all.insert("pauseMs".into(), json!(0));
    let mut director = Object::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        match key.strip_prefix("director_") {
            Some(inner) => {
                director.insert(inner.to_owned(), value.clone());
            }
            None => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
    if !director.is_empty() {
        let slot = all.entry("director").or_insert_with(|| json!({}));
        if let Some(o) = slot.as_object_mut() {
            o.extend(director);
        }
    }
    all.shift_remove("allow_self_responses");
    RoundConfig::from_value(&camel(&Value::Object(all)), "natural", &Profile::promptside())
        .map_err(|e| e.under("config"))
}

fn begin(of: &Value) -> Begin {
    let texts = match at(of, "user_message") {
        Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    };
    let triggers = list(of, "triggers").iter().filter_map(|t| Trigger::named(t.as_str()?)).collect();
    Begin { texts, target: at(of, "target").as_str().map(str::to_owned), triggers }
}

/// The smallest scene that has these members and this history.
fn scene(of: &Value) -> Result<Scene, Error> {
    let members = list(of, "members");
    let flagged = |key: &str| -> Vec<&str> {
        members.iter().filter(|m| js::to_boolean(at(m, key))).map(|m| word(m, "id")).collect()
    };
    let characters: Vec<Value> = members
        .iter()
        .map(|m| {
            let talkativeness = m.get("talkativeness").cloned().unwrap_or(json!(0.5));
            json!({
                "avatar": word(m, "id"),
                "card": {"data": {
                    "name": word(m, "name"),
                    "description": word(m, "brief"),
                    "extensions": {"talkativeness": talkativeness},
                }},
            })
        })
        .collect();
    let messages: Vec<Value> = list(of, "history")
        .iter()
        .map(|line| {
            let sender = word(line, "sender");
            let user = sender == "user";
            json!({
                "name": if user { "User" } else { name(members, sender) },
                "is_user": user,
                "is_system": js::to_boolean(at(line, "hidden")),
                "mes": word(line, "text"),
                "original_avatar": if user { Value::Null } else { json!(sender) },
            })
        })
        .collect();
    let (scene, _) = Scene::from_value(&json!({
        "characters": characters,
        "group": {
            "members": members.iter().map(|m| word(m, "id")).collect::<Vec<_>>(),
            "disabled_members": flagged("muted"),
            "allow_self_responses": js::to_boolean(at(at(of, "config"), "allow_self_responses")),
        },
        "chat": {"messages": messages},
        "persona": {"name": "User"},
    }))?;
    Ok(scene)
}

/// A member's name; a stranger's is what it is called by.
fn name<'a>(members: &'a [Value], id: &'a str) -> &'a str {
    members.iter().find(|m| word(m, "id") == id).map_or(id, |m| word(m, "name"))
}

struct Stage {
    scene: Scene,
    profile: Profile,
    dice: Dice,
    coordinator: Coordinator,
    steps: Vec<Value>,
    added: Vec<Value>,
    /// The request or wait to be answered.
    outstanding: Option<String>,
}

impl Stage {
    /// What an entry of the script says.
    fn read(&self, entry: &Value) -> Tell {
        let request = self.outstanding.clone().unwrap_or_default();
        let text = |key: &str| at(entry, key).as_str().map(str::to_owned);
        let has = |key: &str| entry.get(key).is_some();
        if has("start") {
            return Tell::Start(begin(at(entry, "start")));
        }
        if let Some(request) = text("stale") {
            return Tell::Reply { request, reply: Reply::default() };
        }
        if has("typing") {
            return Tell::Typing;
        }
        if let Some(text) = text("user_message") {
            return Tell::UserMessage(text);
        }
        if has("abort") {
            return Tell::Abort { partial: text("partial") };
        }
        if has("elapsed") {
            return Tell::Elapsed { wait: request };
        }
        if has("timeout") {
            return Tell::Fail { request, code: "timeout".to_owned() };
        }
        if let Some(code) = text("fail") {
            return Tell::Fail { request, code };
        }
        let read = reply_control(word(entry, "text"), self.coordinator.config().control);
        let cut = at(entry, "cut");
        let offset = at(cut, "offset").as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let foreign = match at(entry, "foreign_start") {
            Value::String(member) => Some(Some(member.clone())),
            value => js::to_boolean(value).then_some(None),
        };
        let reply = Reply {
            text: read.text,
            skip: read.skip || js::to_boolean(at(entry, "skip")),
            next: text("next").or(read.next),
            cut: cut.is_object().then(|| (offset, word(cut, "member").to_owned())),
            foreign,
            vectors: None,
        };
        Tell::Reply { request, reply }
    }

    /// Tells it and carries out everything that follows.
    fn tell(&mut self, told: Tell) -> Result<(), Error> {
        let mut ground =
            Ground { scene: &self.scene, profile: &self.profile, dice: &mut self.dice, now: None };
        if let Err(refusal) = self.coordinator.tell(told, &mut ground) {
            self.steps.push(json!({"error": refusal.as_str()}));
            return Ok(());
        }
        loop {
            let mut ground =
                Ground { scene: &self.scene, profile: &self.profile, dice: &mut self.dice, now: None };
            let Some(next) = self.coordinator.next(&mut ground)? else { break };
            self.carry_out(next);
            if self.steps.len() > MOST {
                return Err(Error::new(Code::LimitReached, "script", "the script causes too many outputs"));
            }
        }
        if self.dice.exhausted() {
            return Err(Error::new(Code::DrawsExhausted, "draws", "the room needs more random numbers"));
        }
        self.outstanding = self.coordinator.outstanding().map(str::to_owned);
        Ok(())
    }

    fn carry_out(&mut self, next: Move) {
        let step = match next {
            Move::Emit(Event::Status { .. }) => return,
            Move::Emit(event) => json!({"emit": event}),
            Move::User(text) => {
                self.store("user", "User", &text, false);
                return;
            }
            Move::Commit(commit) => {
                let Commit { speaker, attempt, round, turn, reason, text, partial, .. } = *commit;
                let index = self.scene.chat.messages.len();
                let name = self.scene.character(&speaker).map(|c| c.name.clone()).unwrap_or_default();
                self.store(&speaker, &name, &text, partial);
                let mut done = json!({
                    "type": "message_done", "speaker": speaker, "attempt": attempt, "round": round, "turn": turn,
                    "reason": reason, "text": text, "index": index,
                });
                if let Some(o) = done.as_object_mut().filter(|_| partial) {
                    o.insert("partial".into(), json!(true));
                }
                json!({"emit": done})
            }
            Move::Ask(ask) => json!({"request": request(*ask)}),
            Move::Wait { ms, why, .. } => json!({"wait": {"ms": ms, "why": why}}),
            Move::Refused(code) => json!({"refused": code}),
            Move::Queued => json!({"queued": true}),
            Move::Ignored { request } => json!({"ignored": {"reason": "stale", "request": request}}),
            Move::Done { reason, rounds, count } => {
                json!({"done": {"reason": reason, "rounds": rounds, "count": count}})
            }
        };
        self.steps.push(step);
    }

    fn store(&mut self, sender: &str, name: &str, text: &str, partial: bool) {
        let user = sender == "user";
        self.scene.chat.messages.push(ChatMessage {
            name: name.to_owned(),
            is_user: user,
            mes: text.to_owned(),
            original_avatar: (!user).then(|| sender.to_owned()),
            ..ChatMessage::default()
        });
        let mut added = json!({"sender": sender, "text": text});
        if let Some(o) = added.as_object_mut().filter(|_| partial) {
            o.insert("partial".into(), json!(true));
        }
        self.added.push(added);
    }
}

fn request(ask: Ask) -> Value {
    let Ask { id, speaker, purpose } = ask;
    match purpose {
        Purpose::Reply { reason, by, context } => json!({
            "id": id, "purpose": "reply", "speaker": speaker, "reason": reason, "by": by, "context": context,
        }),
        Purpose::Director { candidates } => {
            json!({"id": id, "purpose": "director", "candidates": candidates})
        }
        Purpose::Narrate { trigger } => {
            json!({"id": id, "purpose": "narrate", "speaker": speaker, "trigger": trigger})
        }
    }
}
