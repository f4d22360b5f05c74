//! Recorded lorebook scans, and the composite vectors of spec 03.

use promptside::host::{Dice, Host};
use promptside::lore::{self, Books, ExamplePlace, Input, Lines};
use promptside::macros::EnvBase;
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::{ChatMessage, Scene};
use serde_json::{Value, json};

use crate::golden::{self, difference, report};

/// Evaluates one scan of a scene and gives it in the shape of the recording.
fn scan(scene: &mut Scene, step: &Value) -> Value {
    let profile = Profile::sillytavern();
    let speaker = step["member"].as_str().map(str::to_owned).or_else(|| scene.chat_with.clone());
    let index = match &speaker {
        Some(id) => scene.character_index(id),
        None if scene.group.is_none() => Some(0),
        None => None,
    };
    let speaker = index.and_then(|i| scene.characters.get(i)).cloned();
    let draws: Vec<f64> =
        step["random"].as_array().map_or_else(Vec::new, |l| l.iter().filter_map(Value::as_f64).collect());
    let mut host = Host::new(Dice::tape(draws));
    let mut effects = Effects::default();
    let names =
        scene.settings.world_info.get("world_info_include_names").is_none_or(promptside::js::to_boolean);
    let lines: Vec<String> = match step["lines"].as_array() {
        Some(lines) => lines.iter().rev().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => scene
            .chat
            .messages
            .iter()
            .rev()
            .filter(|m| !m.is_system)
            .map(|m| if names { format!("{}: {}", m.name, m.mes) } else { m.mes.clone() })
            .collect(),
    };
    let base = EnvBase::new(scene, index, &profile);
    // The reference expands every card field before a scan.
    let texts = base.card_texts(&mut host, &mut effects);
    let env = base.env();
    let sources = [
        &texts.persona,
        &texts.description,
        &texts.personality,
        &texts.depth_prompt,
        &texts.scenario,
        &texts.creator_notes,
    ];
    let books = Books::new(scene, speaker.as_ref(), &profile);
    let input = Input {
        lines: &Lines::new(lines),
        sources: sources.map(String::as_str),
        injections: &[],
        max_context: step["max_context"].as_i64().unwrap_or(4096),
        trigger: step["trigger"].as_str().unwrap_or("normal"),
        speaker: speaker.as_ref(),
        forced: &[],
        dry: step["dry"].as_bool().unwrap_or(false),
        metadata: &scene.chat.metadata,
        settings: &scene.settings.world_info,
        shares: None,
    };
    let count = |s: &str| if s.is_empty() { 0 } else { i64::try_from(s.chars().count()).unwrap() + 6 };
    let result = lore::evaluate(
        &books,
        &input,
        &env,
        &profile,
        &count,
        &mut |t, _, _, _| t.to_owned(),
        &mut host,
        &mut effects,
    );
    let mut out = json!({
        "do": "worldinfo",
        "result": {
            "before": result.before,
            "after": result.after,
            "examples": result.examples.iter().map(|(p, c)| json!({"position": u8::from(*p == ExamplePlace::Bottom), "content": c})).collect::<Vec<_>>(),
            "depth": result.depth.iter().map(|d| json!({"depth": d.depth, "role": d.role, "entries": d.entries})).collect::<Vec<_>>(),
            "an_before": result.an_before,
            "an_after": result.an_after,
            "outlets": result.outlets,
        },
    });
    // Dry runs report no active entries.
    if !input.dry && !result.activated.is_empty() {
        out["activated"] = result.activated.iter().map(|a| json!({"book": a.book, "uid": a.uid})).collect();
    }
    let used: Vec<Value> =
        host.dice.drawn().iter().map(|d| json!({"site": d.site.as_str(), "value": d.value})).collect();
    if step.get("random").is_some() {
        out["draws"] = used.into();
    }
    for (k, v) in effects.metadata {
        scene.chat.metadata.insert(k, v.unwrap_or(Value::Null));
    }
    out
}

fn run(area: &str) {
    let mut failures = Vec::new();
    let cases = golden::cases(area);
    let total = cases.len();
    for case in cases {
        let mut scene = golden::scene(&case);
        for (i, (step, expected)) in case.steps().into_iter().enumerate() {
            match step["do"].as_str().unwrap() {
                "worldinfo" => {
                    let mut expected = expected.clone();
                    if expected["activated"] == json!([]) {
                        expected.as_object_mut().unwrap().remove("activated");
                    }
                    let got = scan(&mut scene, step);
                    if let Some(d) = difference(&expected, &got) {
                        failures.push(format!("{} step {i} {d}", case.id));
                        break;
                    }
                }
                "set" => {
                    if let Some(o) = step["world_info"].as_object() {
                        scene.settings.world_info.extend(o.clone());
                    }
                    if let Some(o) = step["chat_metadata"].as_object() {
                        scene.chat.metadata.extend(o.clone());
                    }
                }
                "push_message" => {
                    scene.chat.messages.push(ChatMessage::from_value(&step["message"]).unwrap());
                }
                "delete_last" => {
                    scene.chat.messages.pop();
                }
                _ => break,
            }
        }
    }
    report(area, total, &failures);
}

#[test]
fn worldinfo() {
    run("worldinfo");
}
