//! Recorded cases: reading them, building the scene they describe, comparing what comes out.
//!
//! `tests/golden/README.md` describes the format. `expected` is never regenerated.

use std::fs;
use std::path::{Path, PathBuf};

use promptside::scene::Scene;
use serde_json::{Map, Value, json};

/// One case file.
pub struct Case {
    /// `area/NNN-name`.
    pub id: String,
    /// The whole file.
    pub json: Value,
}

impl Case {
    /// The scenario.
    pub fn scenario(&self) -> &Value {
        &self.json["scenario"]
    }

    /// Steps with what is expected of each.
    pub fn steps(&self) -> Vec<(&Value, &Value)> {
        fn list(v: &Value) -> &[Value] {
            v.as_array().map_or(&[], Vec::as_slice)
        }
        let steps = list(&self.json["scenario"]["steps"]);
        let expected = list(&self.json["expected"]["steps"]);
        // A missing expectation is Null, so nothing is silently left out.
        steps.iter().enumerate().map(|(i, s)| (s, expected.get(i).unwrap_or(&Value::Null))).collect()
    }
}

/// Where the copies of the recorded cases are; `PROMPTSIDE_GOLDEN` points elsewhere.
pub fn golden_dir() -> PathBuf {
    std::env::var_os("PROMPTSIDE_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), PathBuf::from)
}

/// All cases of an area, in file order.
pub fn cases(area: &str) -> Vec<Case> {
    let mut paths: Vec<_> = fs::read_dir(golden_dir().join(area))
        .unwrap_or_else(|e| panic!("golden area {area}: {e}"))
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no cases in {area}");
    paths
        .into_iter()
        .map(|p| Case {
            id: format!("{area}/{}", p.file_stem().unwrap().to_string_lossy()),
            json: promptside::js::parse(&fs::read_to_string(&p).unwrap()).unwrap().0,
        })
        .collect()
}

fn overlay(base: &Value, over: &Value) -> Value {
    let mut map: Map<String, Value> = base.as_object().cloned().unwrap_or_default();
    map.extend(over.as_object().cloned().unwrap_or_default());
    Value::Object(map)
}

/// The scene of a scenario, in the form of the JavaScript API: `_defaults.json` under the scenario's own keys.
pub fn scene_value(case: &Case) -> Value {
    let defaults: Value =
        serde_json::from_str(&fs::read_to_string(golden_dir().join("_defaults.json")).unwrap()).unwrap();
    let s = case.scenario();
    let preset = overlay(&overlay(&defaults["preset"], &s["preset"]), &s["settings"]["oai"]);
    let mut metadata = s["chat_metadata"].as_object().cloned().unwrap_or_default();
    // The author's note lives in the chat's metadata.
    for (from, to) in [
        ("prompt", "note_prompt"),
        ("interval", "note_interval"),
        ("position", "note_position"),
        ("depth", "note_depth"),
        ("role", "note_role"),
    ] {
        if let Some(v) = s["authors_note"].get(from) {
            metadata.insert(to.to_owned(), v.clone());
        }
    }
    if let Some(local) = s["variables"].get("local") {
        metadata.insert("variables".to_owned(), local.clone());
    }
    let name = case.json["name"].as_str().unwrap_or("");
    let chat_id = s["chat_id"].as_str().map_or_else(|| format!("chat-{name}"), str::to_owned);
    json!({
        "characters": s["characters"],
        "chatWith": s["chat_with"],
        "group": s["group"],
        "persona": s["persona"],
        "chat": {"id": chat_id, "metadata": metadata, "messages": s["chat"]},
        "preset": preset,
        "settings": {
            "power_user": overlay(&defaults["power_user"], &s["settings"]["power_user"]),
            "extensions": s["settings"]["extensions"],
            "world_info": overlay(&defaults["world_info_settings"], &s["world_info"]["settings"]),
        },
        "lorebooks": {
            "books": s["world_info"]["books"],
            "global": s["world_info"]["global"],
            "charLore": s["world_info"]["char_lore"],
        },
        "scripts": {
            "global": s["regex"]["global"],
            "preset": s["regex"]["preset"],
            "allowedCharacters": s["regex"]["allowed_characters"],
        },
        "extensionPrompts": s["extension_prompts"],
        "variables": s["variables"],
    })
}

/// The typed scene of a scenario.
pub fn scene(case: &Case) -> Scene {
    Scene::from_value(&scene_value(case)).unwrap_or_else(|e| panic!("{}: {e}", case.id)).0
}

/// The first place where two JSON values differ, as `pointer: expected X, got Y`. Numbers compare by value.
pub fn difference(expected: &Value, got: &Value) -> Option<String> {
    fn walk(at: &mut String, e: &Value, g: &Value) -> Option<String> {
        match (e, g) {
            (Value::Object(a), Value::Object(b)) => {
                for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
                    let length = at.len();
                    at.push('/');
                    at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    let found = match (a.get(key), b.get(key)) {
                        (Some(x), Some(y)) => walk(at, x, y),
                        (Some(x), None) => Some(format!("{at}: expected {x}, got nothing")),
                        (None, Some(y)) => Some(format!("{at}: expected nothing, got {y}")),
                        (None, None) => None,
                    };
                    if found.is_some() {
                        return found;
                    }
                    at.truncate(length);
                }
                None
            }
            (Value::Array(a), Value::Array(b)) => {
                for (i, (x, y)) in a.iter().zip(b).enumerate() {
                    let length = at.len();
                    at.push_str(&format!("/{i}"));
                    if let Some(found) = walk(at, x, y) {
                        return Some(found);
                    }
                    at.truncate(length);
                }
                (a.len() != b.len()).then(|| {
                    let extra = if a.len() > b.len() { &a[b.len()] } else { &b[a.len()] };
                    format!("{at}: expected {} items, got {}; first extra {extra}", a.len(), b.len())
                })
            }
            (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
            _ if e == g => None,
            _ => Some(format!("{at}: expected {e}, got {g}")),
        }
    }
    walk(&mut String::new(), expected, got)
}

/// Fails with every difference, one a line, and the count.
pub fn report(area: &str, total: usize, failures: &[String]) {
    println!("{area}: {}/{total}", total - failures.len().min(total));
    assert!(failures.is_empty(), "{area}: {} differences\n{}", failures.len(), failures.join("\n"));
}

/// Milliseconds of a date such as `2025-03-04T05:06:07.000Z`.
pub fn date_ms(date: &str) -> i64 {
    let n = |from: usize, to: usize| date[from..to].parse::<i64>().unwrap();
    let (y, m, d) = (n(0, 4), n(5, 7), n(8, 10));
    // Days since 1970 of the proleptic Gregorian calendar, years starting in March.
    let (yy, mm) = if m <= 2 { (y - 1, m + 9) } else { (y, m - 3) };
    let days = 365 * yy + yy / 4 - yy / 100 + yy / 400 + (mm * 153 + 2) / 5 + d - 1 - 719_468;
    ((days * 24 + n(11, 13)) * 60 + n(14, 16)) * 60_000 + n(17, 19) * 1000 + n(20, 23)
}
