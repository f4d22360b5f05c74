//! What must hold for any scene: the ledger adds up, the budget is kept, more room never loses a message, everything is accounted
//! for, and odd presets give a result or an error with a code.

use promptside::Code;
use promptside::host::{Dice, Host};
use promptside::parts::{Kind, Omitted, Shares};
use promptside::profile::Profile;
use promptside::scene::Scene;
use promptside::tokens::CodePoints;
use promptside::turn::{self, Ask, Quiet, Turn, TurnOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

fn text() -> impl Strategy<Value = String> {
    let words = [
        "river",
        "林间",
        "Дом",
        "ミナ",
        "สวัสดี",
        "مرحبا",
        "😀",
        "{{user}}",
        "{{char}}: x",
        "\n",
        "  ",
        "{{random::a::b}}",
        "<START>",
        "",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..6).prop_map(|w| w.join(" "))
}

fn message() -> impl Strategy<Value = Value> {
    (text(), 0..5_u8, any::<bool>(), any::<bool>()).prop_map(|(mes, who, hidden, odd)| match who {
        0 | 1 => json!({"name": "User", "is_user": true, "mes": mes}),
        2 => {
            json!({"name": "Narrator", "mes": mes, "extra": {"type": "narrator"}, "is_system": hidden})
        }
        3 => json!({"name": "洛恩", "mes": mes, "ignore": odd}),
        _ if odd => json!({"name": "Alice", "mes": mes, "extra": {"tool_invocations":
            [{"id": "c", "name": "t", "parameters": "{}", "result": "r"}]}}),
        _ => json!({"name": "Alice", "mes": mes, "extra": {"reasoning": "hm"}}),
    })
}

fn injection() -> impl Strategy<Value = Value> {
    let keys = ["1_memory", "2_floating_prompt", "zz", "my ext-1", "my ext_1", "3_vectors"];
    (prop::sample::select(keys.to_vec()), text(), -1..4_i64, -2..9_i64, -1..4_i64, any::<bool>()).prop_map(
        |(key, value, position, depth, role, filter)| {
            json!({"key": key, "value": value, "position": position, "depth": depth, "role": role, "filter": filter})
        },
    )
}

fn prompt() -> impl Strategy<Value = Value> {
    let ids = ["main", "jailbreak", "nsfw", "p1", "p2", "p3", "scenario", "chatHistory"];
    let one_of = |list: Value| prop::sample::select(list.as_array().unwrap().clone());
    (
        prop::sample::select(ids.to_vec()),
        text(),
        one_of(json!(["system", "user", "assistant", "odd", null, 7])),
        one_of(json!([0, 1, "1", null])),
        one_of(json!([0, 2, -1, "3", 1.5, 99_999, null])),
        one_of(json!([false, true, null])),
    )
        .prop_map(|(id, content, role, position, depth, system)| {
            json!({"identifier": id, "content": content, "role": role, "injection_position": position,
                "injection_depth": depth, "injection_order": 100, "system_prompt": system})
        })
}

fn order() -> impl Strategy<Value = Value> {
    let ids = [
        "main",
        "worldInfoBefore",
        "personaDescription",
        "charDescription",
        "scenario",
        "nsfw",
        "dialogueExamples",
        "chatHistory",
        "jailbreak",
        "p1",
        "p2",
        "p3",
        "nobody",
    ];
    let lines = prop::collection::vec((prop::sample::select(ids.to_vec()), prop::bool::weighted(0.8)), 0..16);
    (lines, prop::sample::select(vec![100_001, 100_000, 3])).prop_map(|(lines, id)| {
        let list: Vec<Value> =
            lines.into_iter().map(|(id, on)| json!({"identifier": id, "enabled": on})).collect();
        json!([{"character_id": id, "order": list}])
    })
}

fn scene() -> impl Strategy<Value = Value> {
    (
        prop::collection::vec(message(), 0..10),
        prop::collection::vec(injection(), 0..5),
        prop::collection::vec(prompt(), 0..6),
        prop::option::weighted(0.7, order()),
        (text(), text(), text(), text()),
        (-1..4_i64, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(|(chat, ext, prompts, order, texts, (names, squash, prefill, tools, group))| {
            let (description, examples, scenario, note) = texts;
            let mut preset = json!({
                "chat_completion_source": "custom", "names_behavior": names, "squash_system_messages": squash,
                "continue_prefill": prefill, "function_calling": tools, "send_if_empty": "go", "prompts": prompts,
            });
            if let Some(order) = order {
                preset["prompt_order"] = order;
            }
            json!({
                "characters": [
                    {"avatar": "a.png", "card": {"data": {"name": "Alice", "description": description, "mes_example": examples,
                        "scenario": scenario, "extensions": {"depth_prompt": {"prompt": note, "depth": 2}}}}},
                    {"avatar": "l.png", "card": {"data": {"name": "洛恩", "description": scenario}}},
                ],
                "group": if group { json!({"members": ["a.png", "l.png"], "generation_mode": 1}) } else { Value::Null },
                "chatWith": "a.png",
                "persona": {"name": "User", "description": note, "position": 0},
                "chat": {"metadata": {"note_prompt": "note", "note_interval": 2}, "messages": chat},
                "preset": preset,
                "extensionPrompts": ext,
            })
        })
}

const KINDS: [Kind; 6] =
    [Kind::Normal, Kind::Swipe, Kind::Regenerate, Kind::Continue, Kind::Impersonate, Kind::Quiet];

fn options(kind: usize, context: i64) -> TurnOptions {
    let kind = KINDS[kind];
    let quiet = (kind == Kind::Quiet).then(|| Quiet { prompt: "Q".into(), ..Quiet::default() });
    TurnOptions { kind, quiet, max_context: Some(context), max_response: Some(20), ..TurnOptions::default() }
}

/// The same with shares of the budget.
fn shared(kind: usize, context: i64, shares: &Shares) -> TurnOptions {
    let ask = Ask { shares: shares.clone(), ..Ask::default() };
    TurnOptions { ask, ..options(kind, context) }
}

fn shares() -> impl Strategy<Value = Shares> {
    let ids =
        ["scenario", "charDescription", "nsfw", "jailbreak", "summary", "vectorsMemory", "main", "no such"];
    let last = prop::collection::vec(prop::sample::select(ids.to_vec()), 0..5);
    (prop::option::of(0..4_usize), prop::option::of(0..80_i64), prop::option::of(0..60_i64), last).prop_map(
        |(newest, examples, memory, last)| Shares {
            newest,
            examples,
            memory,
            last: Some(last.into_iter().map(str::to_owned).collect()),
            ..Shares::default()
        },
    )
}

fn build(value: &Value, options: &TurnOptions, profile: &Profile) -> Result<Turn, promptside::Error> {
    let scene = Scene::from_value(value).unwrap().0;
    turn::build(&scene, options, profile, &CodePoints, &mut Host::new(Dice::seeded(3)))
}

fn books_add_up(turn: &Turn) -> Result<(), TestCaseError> {
    let report = &turn.report;
    let mut left = 0;
    for line in &report.ledger {
        left += line.d;
        prop_assert_eq!(left, line.left, "{:?}", line);
    }
    prop_assert_eq!(left, report.budget.left);
    prop_assert_eq!(report.budget.used + report.budget.left, report.budget.limit);
    prop_assert_eq!(report.budget.by_class.values().sum::<i64>(), report.budget.used);
    for message in report.messages.iter().filter(|m| !m.parts.is_empty()) {
        let content = turn.messages[message.i].content.as_ref();
        if let Some(text) = content.and_then(Value::as_str) {
            let length = promptside::js::len16(text);
            for part in &message.parts {
                prop_assert!(part.range[0] <= part.range[1] && part.range[1] <= length, "{:?}", part);
            }
        }
    }
    Ok(())
}

/// Chat messages that are in.
fn included(turn: &Turn) -> Vec<usize> {
    let parts = turn.report.messages.iter().flat_map(|m| &m.parts);
    let mut list: Vec<usize> = parts.filter_map(|p| p.origin.index).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// Every chat message is in, or left out with a reason; never both. Every injected text is told of, unless it is empty or stored only.
fn all_is_told(value: &Value, turn: &Turn) -> Result<(), TestCaseError> {
    let inside = included(turn);
    let omitted = |id: &str| {
        turn.report.omitted.iter().filter(|o| o.origin.id == id).map(|o| o.reason.clone()).collect::<Vec<_>>()
    };
    for index in 0..value["chat"]["messages"].as_array().unwrap().len() {
        let here = |o: &&Omitted| {
            o.origin.index.is_some_and(|from| (from..=o.through.unwrap_or(from)).contains(&index))
        };
        let mine = |o: &&Omitted| o.through.is_some() || o.origin.id == format!("msg:{index}");
        let reasons: Vec<_> =
            turn.report.omitted.iter().filter(here).filter(mine).map(|o| o.reason.clone()).collect();
        let told = reasons.len() + usize::from(inside.contains(&index));
        prop_assert_eq!(told, 1, "message {} {:?} {:?}", index, reasons, inside);
    }
    let list = value["extensionPrompts"].as_array().unwrap();
    for key in list.iter().filter_map(|e| e["key"].as_str()) {
        let newest = list.iter().rev().find(|e| e["key"] == key).unwrap();
        let stored = !matches!(newest["position"].as_i64(), Some(0..=2));
        // The author's note replaces what the host registered under its key.
        if stored || newest["value"] == "" || key == "2_floating_prompt" {
            continue;
        }
        let parts = turn.report.messages.iter().flat_map(|m| &m.parts).filter(|p| p.origin.id == key);
        prop_assert!(parts.count() + omitted(key).len() > 0, "{} is unaccounted for", key);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_scene_gives_a_request_or_a_typed_error(value in scene(), kind in 0..6_usize, context in 30..900_i64) {
        for profile in [Profile::sillytavern(), Profile::promptside()] {
            let st = profile == Profile::sillytavern();
            match build(&value, &options(kind, context), &profile) {
                Ok(turn) => {
                    books_add_up(&turn)?;
                    prop_assert!(st || turn.report.budget.left >= 0 && turn.report.error.is_none());
                    if turn.report.error.is_none() {
                        all_is_told(&value, &turn)?;
                    }
                }
                Err(error) => {
                    prop_assert!(!st);
                    prop_assert!(matches!(error.code(), Code::BudgetMandatory | Code::BudgetNewest), "{}", error);
                    prop_assert!(error.detail().is_some_and(|d| d["short_by"].as_i64().unwrap() > 0));
                }
            }
        }
    }

    #[test]
    fn shares_keep_the_books(value in scene(), kind in 0..6_usize, context in 30..900_i64, shares in shares()) {
        if let Ok(turn) = build(&value, &shared(kind, context, &shares), &Profile::promptside()) {
            books_add_up(&turn)?;
            all_is_told(&value, &turn)?;
            prop_assert!(turn.report.budget.left >= 0);
            let examples = turn.report.budget.by_class.get("examples").copied().unwrap_or(0);
            prop_assert!(shares.examples.is_none_or(|most| examples <= most));
        }
    }

    #[test]
    fn more_room_never_loses_a_message(value in scene(), kind in 0..6_usize, context in 30..700_i64, more in 1..300_i64) {
        let profile = Profile::promptside();
        if let Ok(small) = build(&value, &options(kind, context), &profile) {
            let large = build(&value, &options(kind, context + more), &profile).unwrap();
            let (a, b) = (included(&small), included(&large));
            prop_assert!(a.iter().all(|i| b.contains(i)), "{:?} became {:?}", a, b);
        }
    }

    #[test]
    fn the_same_input_gives_the_same_request(value in scene(), kind in 0..6_usize) {
        let run = || build(&value, &options(kind, 5000), &Profile::promptside()).map(|t| (t.payload, t.report));
        prop_assert_eq!(run().ok(), run().ok());
    }

    #[test]
    fn any_json_is_a_preset(keys in prop::collection::vec((prop::sample::select(vec![
        "prompts", "prompt_order", "openai_max_context", "openai_max_tokens", "names_behavior", "wi_format", "scenario_format",
        "temperature", "n", "seed", "stream_openai", "custom_prompt_post_processing", "chat_completion_source", "new_chat_prompt",
    ]), prop::sample::select(json!([
        null, true, "x", "", -5, 1e300, [], {}, [null, 1, "x", {}], [{"character_id": null, "order": [{}, {"identifier": 5}]}],
        [{"identifier": null, "content": [1]}], "0x10",
    ]).as_array().unwrap().clone())), 0..8)) {
        let mut value = json!({"characters": [{"name": "Alice"}], "chat": [{"name": "User", "is_user": true, "mes": "hi"}]});
        value["preset"] = Value::Object(keys.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
        for profile in [Profile::sillytavern(), Profile::promptside()] {
            match build(&value, &TurnOptions::default(), &profile) {
                Ok(turn) => books_add_up(&turn)?,
                Err(error) => prop_assert!(matches!(error.code(), Code::BudgetMandatory | Code::BudgetNewest), "{}", error),
            }
        }
    }
}
