//! Recorded clean-ups and stop lists: areas `cleanup`, `cleanup-random`, and the steps of that kind in `textcompletion`.

use std::fs;

use promptside::host::{Dice, Host};
use promptside::macros::{self, EnvBase};
use promptside::parts::{Effects, Kind, Reading, Stop, StopSource};
use promptside::profile::Profile;
use promptside::reply::{self, Ask, Options};
use promptside::scene::Scene;
use serde_json::{Value, json};

use crate::golden::{self, Case};

/// Keys of `over` laid over `base`, objects within by key too.
fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// Templates selected by the user: what one lacks falls back to the default of spec 07 §2.1 and §4.1, and a context template also
/// sets three settings of the top level.
fn select(power: &mut Value, holder: &Value) {
    if holder["context"].is_object() {
        let mut context = json!({
            "use_stop_strings": false, "names_as_stop_strings": true, "always_force_name2": true,
            "trim_sentences": false, "single_line": false
        });
        merge(&mut context, &holder["context"]);
        for key in ["always_force_name2", "trim_sentences", "single_line"] {
            power[key] = context[key].clone();
        }
        merge(&mut power["context"], &context);
    }
    if holder["instruct"].is_object() {
        merge(&mut power["instruct"], &instruct_defaults());
        merge(&mut power["instruct"], &holder["instruct"]);
    }
}

fn instruct_defaults() -> Value {
    json!({"system_sequence": "", "first_output_sequence": "", "last_system_sequence": "", "sequences_as_stop_strings": true})
}

/// The scene in the form of the API, templates of text completion in its user settings.
fn scene_value(case: &Case) -> Value {
    let mut value = golden::scene_value(case);
    let s = case.scenario();
    if s["api"].is_string() {
        let defaults: Value = serde_json::from_str(
            &fs::read_to_string(golden::golden_dir().join("_defaults-text.json")).unwrap(),
        )
        .unwrap();
        let power = &mut value["settings"]["power_user"];
        merge(power, &defaults["power_user"]);
        merge(power, &s["settings"]["power_user"]);
        select(power, s);
        if s["instruct"].is_object() && s["instruct"].get("enabled").is_none() {
            power["instruct"]["enabled"] = json!(true);
        }
    }
    value
}

fn flag(step: &Value, key: &str) -> Option<bool> {
    step.get(key).and_then(Value::as_bool)
}

fn kind(step: &Value) -> Kind {
    match (flag(step, "impersonate"), flag(step, "continue")) {
        (Some(true), _) => Kind::Impersonate,
        (_, Some(true)) => Kind::Continue,
        _ => Kind::Normal,
    }
}

fn options(step: &Value) -> Options {
    let base = Options::default();
    Options {
        keep_incomplete: flag(step, "display_incomplete").unwrap_or(base.keep_incomplete),
        include_bias: flag(step, "include_user_bias").unwrap_or(base.include_bias),
        trim_names: flag(step, "trim_names").unwrap_or(base.trim_names),
        trim_wrong_names: flag(step, "trim_wrong_names").unwrap_or(base.trim_wrong_names),
        ..base
    }
}

/// The reading of a step, macros expanded with the names alone.
fn reading(scene: &Scene, step: &Value, chat_completion: bool) -> Reading {
    let member = step["member"].as_str().map(|id| scene.character(id).expect("a known member"));
    let char = member.or_else(|| scene.characters.first().filter(|_| scene.group.is_none()));
    let profile = Profile::sillytavern();
    let speaker = char.and_then(|c| scene.character_index(&c.avatar));
    let mut base = EnvBase::new(scene, speaker, &profile);
    base.chat_completion = chat_completion;
    let (mut host, mut effects) = (Host::new(Dice::tape(Vec::new())), Effects::default());
    let ask = Ask { speaker: char, kind: kind(step), chat_completion, ..Ask::default() };
    reply::reading(scene, &ask, &mut |text| macros::expand(text, &base.env(), &mut host, &mut effects))
}

fn apply(value: &mut Value, step: &Value, expected: &Value) {
    match step["do"].as_str() {
        Some("set") => {
            let power = &mut value["settings"]["power_user"];
            select(power, step);
            if let Some(over) = step.get("power_user") {
                merge(power, over);
            }
        }
        Some("push_message") => {
            value["chat"]["messages"].as_array_mut().unwrap().push(step["message"].clone());
        }
        // Other steps need the whole turn; their recorded outcome is the input of what follows.
        _ => {
            if let Some(length) = expected["chat_changes"]["length"].as_u64() {
                let messages = value["chat"]["messages"].as_array_mut().unwrap();
                messages.resize(usize::try_from(length).unwrap(), json!({"name": "", "mes": ""}));
                for change in expected["chat_changes"]["messages"].as_array().unwrap() {
                    let index = usize::try_from(change["index"].as_u64().unwrap()).unwrap();
                    messages[index] = change["message"].clone();
                }
            }
        }
    }
}

/// Runs every step of an area that needs no prompt; returns how many ran and how many had to wait.
fn run(area: &str) -> (usize, usize) {
    let (mut ran, mut waiting, mut failures) = (0, 0, Vec::new());
    for case in golden::cases(area) {
        let mut value = scene_value(&case);
        if !value["chat"]["messages"].is_array() {
            value["chat"]["messages"] = case.json["expected"]["opened_chat"].clone();
        }
        let chat_completion = !case.scenario()["api"].is_string();
        for (i, (step, expected)) in case.steps().into_iter().enumerate() {
            let scene =
                || Scene::from_value(&value).unwrap_or_else(|e| panic!("{} step {i}: {e}", case.id)).0;
            let got = match step["do"].as_str() {
                Some("stopping_strings") => {
                    let reading = reading(&scene(), step, chat_completion);
                    json!(reading.stop.iter().map(|s| &s.text).collect::<Vec<_>>())
                }
                Some("clean") => {
                    // Regex scripts run in the middle of the pipeline.
                    if case.scenario()["regex"].is_object() {
                        waiting += 1;
                        continue;
                    }
                    let mut reading = reading(&scene(), step, chat_completion);
                    if let Some(list) = step["stopping_strings"].as_array() {
                        let texts = list.iter().map(|v| v.as_str().unwrap());
                        reading.stop = texts.map(|t| Stop::new(StopSource::Custom, t)).collect();
                    }
                    json!(
                        reply::clean(
                            step["text"].as_str().unwrap(),
                            &reading,
                            &options(step),
                            &Profile::sillytavern()
                        )
                        .text
                    )
                }
                _ => {
                    apply(&mut value, step, expected);
                    continue;
                }
            };
            ran += 1;
            if let Some(difference) = golden::difference(&expected["result"], &got) {
                failures.push(format!("{} step {i} {step}: {difference}", case.id));
            }
        }
    }
    golden::report(area, ran, &failures);
    (ran, waiting)
}

#[test]
fn recorded_cleanups() {
    assert_eq!(run("cleanup"), (79, 0));
}

#[test]
fn random_cleanups() {
    let (ran, waiting) = run("cleanup-random");
    assert_eq!((ran, waiting), (517, 133), "scripts");
}

#[test]
fn text_completion_lists_and_cleanups() {
    let (ran, waiting) = run("textcompletion");
    assert_eq!(waiting, 0);
    assert!(ran > 40, "{ran}");
}
