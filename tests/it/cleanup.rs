//! Recorded clean-ups and stop lists: areas `cleanup`, `cleanup-random`, and the steps of that kind in `textcompletion`.

use std::fs;

use promptside::host::{Dice, Host, Limits};
use promptside::macros::{self, Env, EnvBase};
use promptside::parts::{Effects, Kind, Reading, Stop, StopSource};
use promptside::profile::Profile;
use promptside::reply::stops::NameStops;
use promptside::reply::{self, Ask, Options};
use promptside::scene::{Character, Scene};
use promptside::scripts::{self, Call, CompiledScripts, Placement};
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

/// Runs `f` with what macros may read of the scene.
fn with_env<T>(
    scene: &Scene,
    char: Option<&Character>,
    f: impl FnOnce(&Env<'_>, &mut Host, &mut Effects) -> T,
) -> T {
    let profile = Profile::sillytavern();
    let speaker = char.and_then(|c| scene.character_index(&c.avatar));
    let base = EnvBase::new(scene, speaker, &profile);
    f(&base.env(), &mut Host::new(Dice::tape(Vec::new())), &mut Effects::default())
}

/// Who speaks in a step.
fn speaker<'a>(scene: &'a Scene, step: &Value) -> Option<&'a Character> {
    let member = step["member"].as_str().map(|id| scene.character(id).expect("a known member"));
    member.or_else(|| scene.characters.first().filter(|_| scene.group.is_none()))
}

/// The reading of a step.
fn reading(scene: &Scene, step: &Value, chat_completion: bool) -> Reading {
    let char = speaker(scene, step);
    let ask = Ask { speaker: char, kind: kind(step), chat_completion, ..Ask::default() };
    with_env(scene, char, |env, host, effects| {
        reply::reading(scene, &ask, env.profile, &mut |text| macros::expand(text, env, host, effects))
    })
}

/// A reply as the reference keeps it: regex scripts in the middle.
fn clean(scene: &Scene, step: &Value, reading: &Reading) -> String {
    let (profile, options) = (Profile::sillytavern(), options(step));
    let mut draft = reply::before_scripts(step["text"].as_str().unwrap(), reading, &options, &profile);
    let compiled = CompiledScripts::new(scene, &profile, &Limits::default()).0;
    let char = speaker(scene, step);
    let impersonate = reading.kind == Kind::Impersonate;
    let call = Call {
        speaker: char.map(|c| c.avatar.as_str()),
        ..Call::new(if impersonate { Placement::UserInput } else { Placement::AiOutput })
    };
    draft.text = with_env(scene, char, |env, host, effects| {
        scripts::run(&draft.text, &call, &compiled, env, host, effects).text
    });
    reply::after_scripts(draft, reading, &options, &profile).text
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

/// Runs every step of an area that needs no prompt; returns how many ran.
fn run(area: &str) -> usize {
    let (mut ran, mut failures) = (0, Vec::new());
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
                    let scene = scene();
                    let mut reading = reading(&scene, step, chat_completion);
                    if let Some(list) = step["stopping_strings"].as_array() {
                        let texts = list.iter().map(|v| v.as_str().unwrap());
                        reading.stop = texts.map(|t| Stop::new(StopSource::Custom, t)).collect();
                    }
                    json!(clean(&scene, step, &reading))
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
    ran
}

#[test]
fn recorded_cleanups() {
    assert_eq!(run("cleanup"), 79);
}

#[test]
fn random_cleanups() {
    assert_eq!(run("cleanup-random"), 650);
}

#[test]
fn text_completion_lists_and_cleanups() {
    assert_eq!(run("textcompletion"), 47);
}

#[test]
fn labels_as_stop_strings_by_profile() {
    let card = |name: &str| json!({"avatar": format!("{name}.png"), "card": {"data": {"name": name}}});
    let cards = ["Ann", "Anna", "洛恩", "Mira"].map(card);
    let scene = Scene::from_value(&json!({
        "characters": cards,
        "group": {"members": ["Mira.png", "Ann.png", "Anna.png", "洛恩.png"], "disabled_members": ["Mira.png"]},
        "persona": {"name": "User"},
        "chat": [
            {"name": "Mira", "mes": "a", "original_avatar": "Mira.png"},
            {"name": "洛恩", "mes": "b", "original_avatar": "洛恩.png"},
            {"name": "User", "is_user": true, "mes": "c"}
        ],
        "settings": {"power_user": {"custom_stopping_strings": "[\"END\"]"}}
    }))
    .unwrap()
    .0;
    let stops = |ask: &Ask<'_>, profile: Profile| {
        let ask = Ask { speaker: scene.character("Anna.png"), ..*ask };
        let reading = reply::reading(&scene, &ask, &profile, &mut str::to_owned);
        reading.stop.into_iter().map(|s| s.text).collect::<Vec<_>>()
    };
    let text = Ask { chat_completion: false, ..Ask::default() };
    assert_eq!(stops(&text, Profile::sillytavern()), ["\nUser:", "\nMira:", "\nAnn:", "\n洛恩:", "END"]);
    let lately = ["\nUser:", "\n洛恩:", "\n洛恩：", "\nAnn:", "\nMira:"];
    assert_eq!(stops(&text, Profile::promptside()), [&lately[..], &["END"]].concat());
    assert_eq!(stops(&Ask::default(), Profile::promptside()), ["END"]);
    let all = Ask { name_stops: NameStops::All, ..Ask::default() };
    assert_eq!(stops(&all, Profile::promptside()), [&["END"], &lately[..]].concat());
    assert_eq!(stops(&all, Profile::sillytavern()), ["END"]);
    let off = Ask { name_stops: NameStops::Off, ..text };
    assert_eq!(stops(&off, Profile::promptside()), ["END"]);
}
