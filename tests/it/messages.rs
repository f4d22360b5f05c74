//! Recorded requests: `messages`, `budget`, `messages-random`, `session`. The chat between two requests of a step is taken from
//! the recording, so this tests assembly alone; whole turns are tested where the room is.

use promptside::history::greetings;
use promptside::host::{Clock, Dice, Host};
use promptside::macros::EnvBase;
use promptside::models::{Framing, Model};
use promptside::parts::{Effects, Kind, Report};
use promptside::profile::Profile;
use promptside::scene::{ChatMessage, Group, Object, Persona, Preset, Scene, Settings};
use promptside::scripts::CompiledScripts;
use promptside::tokens::{CodePoints, Count};
use promptside::turn::{self, Quiet, TurnOptions};
use serde_json::{Map, Value, json};

use crate::golden::{self, Case};

/// The provider's own tokenizer of the one case that asks for it.
#[derive(Debug)]
pub struct O200k;

impl Count for O200k {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()).unwrap()
    }
    fn exact(&self) -> bool {
        true
    }
    fn id(&self) -> &'static str {
        "o200k_base"
    }
}

fn counter(case: &Case) -> &'static dyn Count {
    if case.scenario()["tokenizer"] == "real" { &O200k } else { &CodePoints }
}

/// Drives the steps of a case that lead to requests.
struct Driver<'c> {
    case: &'c Case,
    scene: Scene,
    value: Value,
    now_ms: i64,
    standing: indexmap::IndexMap<String, String>,
}

fn texts(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}

impl<'c> Driver<'c> {
    fn new(case: &'c Case) -> Self {
        let value = golden::scene_value(case);
        let scene = Scene::from_value(&value).unwrap_or_else(|e| panic!("{}: {e}", case.id)).0;
        let now_ms = golden::date_ms(case.scenario()["date"].as_str().unwrap_or("2025-03-04T05:06:07.000Z"));
        let mut driver = Self { case, scene, value, now_ms, standing: indexmap::IndexMap::new() };
        if driver.scene.chat.messages.is_empty() {
            driver.open();
        }
        driver.show_first(&mut host(now_ms, Vec::new()));
        driver
    }

    /// A new chat begins with its greetings.
    fn open(&mut self) {
        let profile = Profile::sillytavern();
        let draws = texts(&self.case.scenario()["random"]).iter().map(|v| v.as_f64().unwrap()).collect();
        let mut host = host(self.now_ms, draws);
        let scripts = CompiledScripts::new(&self.scene, &profile, &host.limits).0;
        let mut effects = Effects::default();
        let messages = greetings(&self.scene, &profile, &scripts, &mut host, &mut effects);
        let recorded = &self.case.json["expected"]["opened_chat"];
        if recorded.is_array() {
            let got: Vec<Value> = messages.iter().map(ChatMessage::to_value).collect();
            let found = golden::difference(recorded, &json!(got));
            assert!(found.is_none(), "{}: opening {}", self.case.id, found.unwrap());
        }
        self.scene.chat.messages = messages;
        self.commit(&effects);
    }

    /// Opening a chat expands its first message and keeps the result.
    fn show_first(&mut self, host: &mut Host) {
        let Some(first) = self.scene.chat.messages.first().filter(|m| !m.is_user && !m.is_system) else {
            return;
        };
        let (text, speaker) = (first.mes.clone(), self.solo());
        let shown = self.expand(&text, speaker, host);
        self.scene.chat.messages[0].mes = shown;
    }

    fn solo(&self) -> Option<usize> {
        let solo = self.scene.group.is_none();
        solo.then(|| self.scene.chat_with.as_deref().and_then(|a| self.scene.character_index(a)).unwrap_or(0))
    }

    fn expand(&mut self, text: &str, speaker: Option<usize>, host: &mut Host) -> String {
        let profile = Profile::sillytavern();
        let mut effects = Effects::default();
        let base = EnvBase::new(&self.scene, speaker, &profile);
        let text = promptside::macros::expand(text, &base.env(), host, &mut effects);
        self.commit(&effects);
        text
    }

    fn set(&mut self, step: &Value) {
        let merge = |into: &mut Value, from: &Value| {
            if let Some(from) = from.as_object() {
                let mut map: Map<String, Value> = into.as_object().cloned().unwrap_or_default();
                map.extend(from.clone());
                *into = Value::Object(map);
            }
        };
        merge(&mut self.value["preset"], &step["oai"]);
        merge(&mut self.value["settings"]["power_user"], &step["power_user"]);
        merge(&mut self.value["settings"]["extensions"], &step["extensions"]);
        merge(&mut self.value["settings"]["world_info"], &step["world_info"]);
        if step["group"].is_object() {
            merge(&mut self.value["group"], &step["group"]);
            self.scene.group = Some(Group::from_value(&self.value["group"]).unwrap());
        }
        let power = &step["power_user"];
        for (key, own) in [
            ("position", "persona_description_position"),
            ("depth", "persona_description_depth"),
            ("role", "persona_description_role"),
        ] {
            if let Some(v) = power.get(own) {
                self.value["persona"][key] = v.clone();
            }
        }
        self.scene.persona = Persona::from_value(&self.value["persona"]);
        self.scene.preset = Preset::from_value(&self.value["preset"]);
        self.scene.settings = Settings::from_value(&self.value["settings"]);
        for (key, value) in step["chat_metadata"].as_object().into_iter().flatten() {
            // The page reads the note's text from its text box, which such a change does not reach.
            if key == "note_prompt" {
                continue;
            }
            self.scene.chat.metadata.insert(key.clone(), value.clone());
        }
    }

    fn speakers(&self, request: &Value) -> Vec<Option<String>> {
        let name = request["speaker"].as_str().unwrap_or("");
        if self.scene.group.is_none() {
            return vec![None];
        }
        self.scene.members().filter(|c| c.name == name).map(|c| Some(c.avatar.clone())).collect()
    }

    fn commit(&mut self, effects: &Effects) {
        let apply = |map: &mut Object, changes: &indexmap::IndexMap<String, Option<Value>>| {
            for (key, value) in changes {
                match value {
                    Some(v) => _ = map.insert(key.clone(), v.clone()),
                    None => _ = map.shift_remove(key),
                }
            }
        };
        let mut local =
            self.scene.chat.metadata.get("variables").and_then(Value::as_object).cloned().unwrap_or_default();
        apply(&mut local, &effects.local);
        if !local.is_empty() {
            self.scene.chat.metadata.insert("variables".into(), Value::Object(local));
        }
        apply(&mut self.scene.global_variables, &effects.global);
        apply(&mut self.scene.chat.metadata, &effects.metadata);
        if let Some(standing) = &effects.standing {
            self.standing.clone_from(standing);
        }
    }

    /// Runs every step; each difference is one line.
    fn run(&mut self) -> Vec<String> {
        let mut failures = Vec::new();
        let whole = &self.case.json["expected"];
        for (n, (step, expected)) in self.case.steps().into_iter().enumerate() {
            if let Some(date) = step["date"].as_str() {
                self.now_ms = golden::date_ms(date);
            }
            match step["do"].as_str().unwrap() {
                "set" => self.set(step),
                "push_message" => {
                    let message = ChatMessage::from_value(&step["message"]).unwrap();
                    self.scene.chat.messages.push(message);
                }
                "count" => {
                    let model = Model::of(&self.scene.preset, None);
                    let framing = Framing::of(&model, counter(self.case), &Profile::sillytavern());
                    let got: Vec<i64> = texts(&step["texts"])
                        .iter()
                        .map(|t| framing.text(counter(self.case), t.as_str().unwrap()))
                        .collect();
                    let id = &self.case.id;
                    failures.extend(
                        golden::difference(&expected["result"], &json!(got))
                            .map(|d| format!("{id} step {n} count{d}")),
                    );
                }
                "delete_last" => _ = self.scene.chat.messages.pop(),
                _ => failures.extend(self.step(n, step, expected)),
            }
        }
        let key = "lastInContextMessageId";
        if let (Some(want), Some(got)) = (whole["chat_metadata"].get(key), self.scene.chat.metadata.get(key))
        {
            failures.extend(golden::difference(want, got).map(|d| format!("{} {key}{d}", self.case.id)));
        }
        failures
    }

    fn step(&mut self, n: usize, step: &Value, expected: &Value) -> Vec<String> {
        let mut failures = Vec::new();
        let before = self.scene.chat.messages.clone();
        let after = changed(&before, &expected["chat_changes"]);
        let requests = texts(&expected["requests"]);
        let appends = |r: &Value| matches!(r["frontend"]["type"].as_str(), Some("normal" | "regenerate"));
        let appended = requests.iter().filter(|r| appends(r)).count();
        // Where the replies ended up; whatever stands before one was there when it was asked for.
        let spoken: Vec<usize> = (0..after.len()).filter(|i| !after[*i].is_user).collect();
        let replies = &spoken[spoken.len() - appended.min(spoken.len())..];
        let draws: Vec<f64> = texts(&expected["draws"])
            .iter()
            .filter(|d| d["site"].as_str().is_some_and(|s| s.starts_with("macro") || s.starts_with("wi")))
            .map(|d| d["value"].as_f64().unwrap())
            .collect();
        let mut host = host(self.now_ms, draws);
        if let Some(text) = step["text"].as_str() {
            let speaker = self.solo();
            self.expand(text, speaker, &mut host);
        }
        for (k, request) in requests.iter().enumerate() {
            let until =
                if appended > 0 { replies.get(k).copied().unwrap_or(after.len()) } else { before.len() };
            let kept = before.len().min(replies.first().copied().unwrap_or(before.len()));
            // A reply gives the message before it its swipes, if it had none, before anything else.
            let same = |i: usize| after.get(i).is_some_and(|m| m.mes == before[i].mes);
            let mut chat: Vec<ChatMessage> =
                (0..kept).map(|i| if same(i) { after[i].clone() } else { before[i].clone() }).collect();
            chat.extend(after.iter().take(until).skip(kept).cloned());
            if appended == 0 {
                chat.clone_from(&before);
            }
            self.scene.chat.messages = chat;
            let id = format!("{} step {n} request {k}", self.case.id);
            // Members may share a name, and the recording tells names only.
            let mut found = Vec::new();
            for speaker in self.speakers(request) {
                let options =
                    TurnOptions { speaker, standing: self.standing.clone(), ..options(step, request) };
                let mut fork = host.clone();
                match turn::build(
                    &self.scene,
                    &options,
                    &Profile::sillytavern(),
                    counter(self.case),
                    &mut fork,
                ) {
                    Err(e) => found = vec![format!("{id}: {e}")],
                    Ok(turn) => {
                        found = compare(&id, request, &turn, expected);
                        if found.is_empty() {
                            host = fork;
                            self.commit(&turn.effects);
                            break;
                        }
                    }
                }
            }
            failures.extend(found);
        }
        self.scene.chat.messages = after;
        failures
    }
}

fn options(step: &Value, request: &Value) -> TurnOptions {
    let kind = Kind::named(request["frontend"]["type"].as_str().unwrap()).unwrap();
    let quiet = (kind == Kind::Quiet).then(|| Quiet {
        prompt: step["prompt"].as_str().unwrap_or("").to_owned(),
        to_loud: step["to_loud"].as_bool().unwrap_or(false),
        skip_lore: step["skip_wian"].as_bool().unwrap_or(false),
        name: step["quiet_name"].as_str().unwrap_or("").to_owned(),
        image: None,
    });
    let max_response = if kind == Kind::Quiet { step["response_length"].as_i64() } else { None };
    TurnOptions { kind, quiet, max_response, ..TurnOptions::default() }
}

fn host(now_ms: i64, draws: Vec<f64>) -> Host {
    let mut host = Host::new(Dice::tape(draws));
    host.clock = Clock { now_ms, ..Clock::default() };
    host
}

fn changed(before: &[ChatMessage], changes: &Value) -> Vec<ChatMessage> {
    let mut chat: Vec<ChatMessage> = before.to_vec();
    for change in texts(&changes["messages"]) {
        let at = usize::try_from(change["index"].as_u64().unwrap()).unwrap();
        let message = ChatMessage::from_value(&change["message"]).unwrap();
        if at < chat.len() {
            chat[at] = message;
        } else {
            chat.push(message);
        }
    }
    if let Some(length) = changes["length"].as_u64() {
        chat.truncate(usize::try_from(length).unwrap());
    }
    chat
}

/// The body that goes out, without what the recording leaves out.
fn frontend(payload: &Value) -> Value {
    let mut payload = payload.clone();
    let object = payload.as_object_mut().unwrap();
    for secret in ["custom_url", "custom_include_headers", "proxy_password", "reverse_proxy"] {
        object.shift_remove(secret);
    }
    payload
}

/// Totals by slot, as the reference's inspector shows them.
pub fn token_counts(report: &Report) -> Value {
    let mut counts: Map<String, Value> = Map::new();
    for slot in &report.slots {
        let total: i64 = slot.items.iter().map(|i| i.tokens).sum();
        if total != 0 {
            counts.insert(slot.slot.clone(), json!(total));
        }
    }
    if report.recounted != 0 {
        counts.insert("undefined".into(), json!(report.recounted));
    }
    Value::Object(counts)
}

/// The assembled prompt by collection, or flat when system messages were merged.
pub fn prompt_items(report: &Report, squash: bool) -> Value {
    if squash {
        return json!(report.merged);
    }
    let slots = report.slots.iter().map(|s| json!({"collection": s.slot, "items": s.items}));
    Value::Array(slots.collect())
}

fn compare(id: &str, request: &Value, turn: &turn::Turn, expected: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let mut check = |what: &str, want: &Value, got: &Value| {
        if let Some(d) = golden::difference(want, got) {
            out.push(format!("{id} {what}{d}"));
        }
    };
    let got = frontend(&turn.payload);
    check("frontend", &request["frontend"], &got);
    let keys = |v: &Value| json!(v.as_object().unwrap().keys().collect::<Vec<_>>());
    check("key order", &keys(&request["frontend"]), &keys(&got));
    check("tokens", &request["token_counts"], &token_counts(&turn.report));
    let items = &request["prompt_items"];
    if items.is_array() {
        let flat = texts(items).first().is_some_and(|i| i.get("collection").is_none());
        check("items", items, &prompt_items(&turn.report, flat));
    }
    if request["activated"].is_array() {
        let got: Vec<_> = turn.lore.activated.iter().map(|a| json!({"book": a.book, "uid": a.uid})).collect();
        check("activated", &request["activated"], &json!(got));
    }
    let told = texts(&expected["notices"])
        .iter()
        .any(|n| n["message"] == "Mandatory prompts exceed the context size.");
    if turn.report.error.is_some() && !told {
        out.push(format!("{id}: an overflow that the reference did not have"));
    }
    out
}

fn area(name: &str) {
    let cases = golden::cases(name);
    let failures: Vec<_> = cases.iter().flat_map(|case| Driver::new(case).run()).collect();
    golden::report(name, cases.len(), &failures);
}

#[test]
fn messages() {
    area("messages");
}

#[test]
fn budget() {
    area("budget");
}

#[test]
fn messages_random() {
    area("messages-random");
}

#[test]
fn session() {
    area("session");
}

/// Areas whose steps leave no state behind that only the room keeps.
#[test]
fn requests_of_other_areas() {
    for name in ["scheduler", "scheduler-random", "regex", "worldinfo", "macros", "cleanup", "cleanup-random"]
    {
        area(name);
    }
}
