//! Macros: recorded cases, the examples of the specification, bounds.

use promptside::host::{Clock, Dice, Host};
use promptside::macros::{EnvBase, expand};
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::Scene;
use serde_json::{Map, Value, json};

use crate::golden::{Case, cases, date_ms, difference, report, scene};

/// Writes of a step, applied to the scene as a room would.
fn commit(scene: &mut Scene, effects: Effects) {
    fn apply(map: &mut Map<String, Value>, writes: impl IntoIterator<Item = (String, Option<Value>)>) {
        for (key, value) in writes {
            match value {
                Some(v) => {
                    map.insert(key, v);
                }
                None => {
                    map.remove(&key);
                }
            }
        }
    }
    apply(&mut scene.chat.metadata, effects.metadata);
    if !effects.local.is_empty() {
        let local = scene.chat.metadata.entry("variables").or_insert_with(|| json!({}));
        apply(local.as_object_mut().unwrap(), effects.local);
    }
    apply(&mut scene.global_variables, effects.global);
}

fn host_of(case: &Case, random: &Value) -> Host {
    let tape: Vec<f64> = random.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let now = date_ms(case.scenario()["date"].as_str().unwrap_or("2025-03-04T05:06:07.000Z"));
    Host { clock: Clock { now_ms: now, ..Clock::default() }, ..Host::new(Dice::tape(tape)) }
}

/// Runs the macro steps of a case (they come first) and compares results, draws and, when nothing else follows, the variables.
fn run(case: &Case) -> Vec<String> {
    let profile = Profile::sillytavern();
    let mut failures = Vec::new();
    let mut scene = scene(case);
    open(case, &mut scene, &profile);
    let steps = case.steps();
    for (i, (step, expected)) in steps.iter().enumerate() {
        if step["do"] != "macro" {
            break;
        }
        let member = step["member"].as_str().map(str::to_owned).or_else(|| scene.chat_with.clone());
        let speaker = match member {
            Some(avatar) => scene.character_index(&avatar),
            None if scene.group.is_none() => Some(0),
            None => None,
        };
        let mut host = host_of(case, &step["random"]);
        let mut effects = Effects::default();
        let texts = step["text"].as_array().unwrap();
        let result: Vec<String> = texts
            .iter()
            .map(|text| {
                let base = EnvBase::new(&scene, speaker, &profile);
                expand(text.as_str().unwrap(), &base.env(), &mut host, &mut effects)
            })
            .collect();
        for ((text, got), want) in texts.iter().zip(&result).zip(expected["result"].as_array().unwrap()) {
            if want != got {
                failures.push(format!(
                    "{} step {i}: {text}\n   want {want}\n   got  {}",
                    case.id,
                    json!(got)
                ));
            }
        }
        let drawn: Vec<Value> =
            host.dice.drawn().iter().map(|d| json!({"site": d.site.as_str(), "value": d.value})).collect();
        let want = expected.get("draws").cloned().unwrap_or_else(|| json!([]));
        if let Some(d) = difference(&want, &json!(drawn)) {
            failures.push(format!("{} step {i}: draws {d}", case.id));
        }
        if host.dice.exhausted() {
            failures.push(format!("{} step {i}: ran out of draws", case.id));
        }
        commit(&mut scene, effects);
    }
    if steps.iter().all(|(step, _)| step["do"] == "macro") {
        let expected = &case.json["expected"];
        let empty = json!({});
        let local = expected["chat_metadata"].get("variables").unwrap_or(&empty);
        let got = scene.chat.metadata.get("variables").unwrap_or(&empty);
        failures.extend(difference(local, got).map(|d| format!("{} local variables {d}", case.id)));
        let global = expected.get("variables").unwrap_or(&empty);
        let got = Value::Object(scene.global_variables.clone());
        failures.extend(difference(global, &got).map(|d| format!("{} global variables {d}", case.id)));
        let hash = &expected["chat_metadata"]["chat_id_hash"];
        let got = scene.chat.metadata.get("chat_id_hash").unwrap_or(&Value::Null);
        failures.extend(difference(hash, got).map(|d| format!("{} chat_id_hash {d}", case.id)));
    }
    failures
}

/// What opening a chat does to it: messages that are not the user's get their swipe, and showing the first one expands it in place.
fn open(case: &Case, scene: &mut Scene, profile: &Profile) {
    for m in scene.chat.messages.iter_mut().filter(|m| !m.is_user && m.swipes.is_none()) {
        m.swipes = Some(vec![json!(m.mes)]);
        m.swipe_id = Some(json!(0));
    }
    let Some(first) = scene.chat.messages.first().filter(|m| !m.is_user && !m.is_system) else { return };
    let speaker = first
        .original_avatar
        .as_deref()
        .and_then(|id| scene.character_index(id))
        .or_else(|| scene.characters.iter().position(|c| c.name == first.name));
    let mut effects = Effects::default();
    let mut host = host_of(case, &Value::Null);
    let base = EnvBase::new(scene, speaker, profile);
    let text = expand(&first.mes, &base.env(), &mut host, &mut effects);
    drop(base);
    scene.chat.messages[0].mes = text;
    commit(scene, effects);
}

fn area(name: &str) {
    let all = cases(name);
    let mut failed = Vec::new();
    let mut lines = Vec::new();
    for case in &all {
        let found = run(case);
        if !found.is_empty() {
            failed.push(case.id.clone());
            lines.extend(found);
        }
    }
    println!("{name}: {}/{}", all.len() - failed.len(), all.len());
    report(name, all.len(), &lines);
}

#[test]
fn recorded_cases() {
    area("macros");
}

#[test]
fn recorded_random_cases() {
    area("macros-random");
}
