//! Rooms: all recorded cases of spec 09, and its worked examples.

use promptside::api::{Vocabularies, call};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::golden;

fn invoke(name: &str, input: &Value) -> Value {
    let text = call(&format!("rooms.{name}"), &input.to_string(), &Vocabularies::default());
    match text {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(error) => json!({"thrown": error.to_string()}),
    }
}

/// Where two values differ; numbers are compared as numbers.
fn difference(path: &str, a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| difference(&format!("{path}/{i}"), a, b))
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => a
            .iter()
            .find_map(|(k, a)| difference(&format!("{path}/{k}"), a, b.get(k).unwrap_or(&Value::Null))),
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        _ if a == b => None,
        (Value::Array(a), Value::Array(b)) => {
            let at = a.iter().zip(b).position(|(a, b)| difference("", a, b).is_some());
            let at = at.unwrap_or_else(|| a.len().min(b.len()));
            Some(format!(
                "{path}/{at}: wanted {:?}, got {:?}",
                a.get(at).map(Value::to_string),
                b.get(at).map(Value::to_string)
            ))
        }
        _ => Some(format!("{path}: wanted {a}, got {b}")),
    }
}

#[test]
fn recorded_cases() {
    let cases = golden::cases("rooms");
    assert!(cases.len() >= 37, "all cases are there");
    let mut wrong = Vec::new();
    for case in &cases {
        let input = &case.json["input"];
        let got = invoke(input["fn"].as_str().unwrap(), input);
        if let Some(found) = difference("", &case.json["expected"], &got) {
            wrong.push(format!("{}{found}", case.id));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Members S, L, M, A of spec 09 appendix A.
pub fn room(config: &Value, more: &Value, script: &Value) -> Value {
    let mut input = json!({
        "members": [
            {"id": "S", "name": "塞拉菲娜"}, {"id": "L", "name": "洛恩"},
            {"id": "M", "name": "Mira"}, {"id": "A", "name": "阿岚"},
        ],
        "config": config,
        "script": script,
    });
    let object = input.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    invoke("room", &input)
}

/// What happened, a word each: `S:mentioned` a request, `+S` a stored reply, `-S` a skip, `!S:code` an error, `=reason` the end.
pub fn story(outcome: &Value) -> String {
    let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
    let list = |v: &Value| v.as_array().unwrap().iter().map(text).collect::<String>();
    let mut words = Vec::new();
    let steps = outcome["steps"].as_array().unwrap_or_else(|| panic!("{outcome}"));
    for step in steps {
        let (kind, v) = step.as_object().unwrap().iter().next().unwrap();
        words.push(match kind.as_str() {
            "request" if v["purpose"] == "reply" => {
                let by = text(&v["by"]);
                format!(
                    "{}:{}{}",
                    text(&v["speaker"]),
                    text(&v["reason"]),
                    if by.is_empty() { by } else { format!("<{by}") }
                )
            }
            "request" if v["purpose"] == "director" => format!("director[{}]", list(&v["candidates"])),
            "request" => format!("narrate:{}", text(&v["trigger"])),
            "wait" => format!("wait:{}", text(&v["why"])),
            "refused" | "error" => format!("{kind}:{}", text(v)),
            "queued" | "ignored" => kind.clone(),
            "done" => continue,
            "emit" => match v["type"].as_str().unwrap() {
                "message_done" => format!("+{}", text(&v["speaker"])),
                "role_skipped" => format!("-{}:{}", text(&v["speaker"]), text(&v["reason"])),
                "error" => format!("!{}:{}", text(&v["speaker"]), text(&v["code"])),
                "room_finished" => format!("={}", text(&v["reason"])),
                "round_plan" => format!("[{}]", list(&v["planned"])),
                "crosstalk_plan" => format!("x[{}|{}]", list(&v["planned"]), list(&v["dropped"])),
                "director_plan" => format!("d[{}]", list(&v["speakers"])),
                "handoff" => format!("{}>{}", text(&v["from"]), text(&v["to"])),
                "round_stats" if v["unreached"] == json!([]) => continue,
                "round_stats" => format!("unreached[{}]", list(&v["unreached"])),
                _ => continue,
            },
            other => other.to_owned(),
        });
    }
    words.join(" ")
}

#[test]
fn table_of_appendix_a() {
    let say = |texts: &[&str]| -> Value { texts.iter().map(|t| json!({"text": t})).collect() };
    let four = ["一。", "二。", "三。", "Four."];
    let rows: Vec<(&str, Value, Value, Value, &str)> = vec![
        (
            "20: cross-talk at the limit",
            json!({"who": "round_robin", "cross_talk": {"enabled": true}, "max_messages": 1}),
            json!({}),
            say(&["@洛恩 @Mira 来"]),
            "[S] S:scheduled +S x[LM|] unreached[LM] =max_messages",
        ),
        (
            "27: a target that is muted",
            json!({}),
            json!({"target": "Z"}),
            json!([]),
            "error:target_not_in_room",
        ),
        (
            "29: only the addressed, one of whom fails",
            json!({"directed": "only"}),
            json!({"user_message": "@洛恩 @Mira"}),
            json!([{"fail": "network"}, {"text": "Yes."}]),
            "[LM] L:mentioned<user !L:network M:mentioned<user +M =target_only",
        ),
        (
            "36: nobody names a successor",
            json!({"mode": "free_chat", "continue_on": "nomination"}),
            json!({}),
            say(&four),
            "[SLMA] S:scheduled +S L:scheduled +L M:scheduled +M A:scheduled +A =no_nomination",
        ),
        (
            "37: rounds begin with the next participant",
            json!({"mode": "free_chat", "rotate": true, "repeat_guard": false, "max_messages": 5}),
            json!({}),
            say(&["1", "2", "3", "4", "5"]),
            "[SLMA] S:scheduled +S L:scheduled +L M:scheduled +M A:scheduled +A [LMAS] L:scheduled +L unreached[MAS] =max_messages",
        ),
        (
            "40: a host that is no participant",
            json!({"mode": "host_mode", "host": "Z"}),
            json!({}),
            json!([]),
            "error:host_not_in_room",
        ),
        (
            "41: nobody",
            json!({"absent": ["S", "L", "M", "A"]}),
            json!({"user_message": "喂"}),
            json!([]),
            "=nobody_can_speak",
        ),
        (
            "42: no messages allowed",
            json!({"max_messages": 0}),
            json!({}),
            json!([]),
            "[SLMA] unreached[SLMA] =max_messages",
        ),
        (
            "43: a repeat, then something new",
            json!({"directed": "only"}),
            json!({"user_message": "@洛恩", "history": [{"sender": "L", "text": "别担心，林地会保护你，我也会。"}]}),
            say(&["别担心，林地会保护你，我也会！", "走吧，天亮了。"]),
            "[L] L:mentioned<user L:mentioned<user +L =target_only",
        ),
        (
            "48: blank, then text",
            json!({"directed": "only"}),
            json!({"user_message": "@洛恩"}),
            say(&["  \n", "我在。"]),
            "[L] L:mentioned<user L:mentioned<user +L =target_only",
        ),
        (
            "49: silent, rule broken, repeated, rule broken",
            json!({"directed": "only", "validation": {"forbidden": ["作为AI"]}}),
            json!({"user_message": "@洛恩", "history": [{"sender": "L", "text": "我在这里等你回来。"}]}),
            json!([{"skip": true}, {"text": "作为AI"}, {"text": "我在这里等你回来！"}, {"text": "作为AI"}]),
            "[L] L:mentioned<user L:mentioned<user L:mentioned<user L:mentioned<user !L:validation_failed =target_only",
        ),
        (
            "51: abort in the pause",
            json!({"pause_ms": 200}),
            json!({}),
            json!([{"text": "一。"}, {"abort": true}]),
            "[SLMA] S:scheduled +S wait:pause unreached[LMA] =aborted",
        ),
        (
            "52: a start that waits",
            json!({"directed": "only", "on_busy": "queue"}),
            json!({"user_message": "@洛恩"}),
            json!([{"start": {"user_message": "@Mira"}}, {"start": {"user_message": "@阿岚"}}, {"text": "一。"}, {"text": "二。"}]),
            "[L] L:mentioned<user queued queued +L =target_only [A] A:mentioned<user +A =target_only",
        ),
        (
            "52: a start that takes over",
            json!({"directed": "only", "on_busy": "replace"}),
            json!({"user_message": "@洛恩"}),
            json!([{"start": {"user_message": "@Mira"}}, {"text": "Me."}]),
            "[L] L:mentioned<user unreached[L] =aborted [M] M:mentioned<user +M =target_only",
        ),
        (
            "55: the user writes during the last turn",
            json!({"directed": "only"}),
            json!({"user_message": "@洛恩"}),
            json!([{"user_message": "@Mira 你呢？"}, {"text": "一。"}, {"text": "Me."}]),
            "[L] L:mentioned<user +L =target_only [M] M:mentioned<user +M =target_only",
        ),
        (
            "60: a director with one candidate",
            json!({"who": "director", "absent": ["M", "A"]}),
            json!({"history": [{"sender": "S", "text": "好。"}]}),
            say(&["走。"]),
            "d[L] [L] L:director +L =round_complete",
        ),
        (
            "62: a cut at the user's line, and a nomination that single rounds do not heed",
            json!({"handoff": "next", "absent": ["A"]}),
            json!({}),
            json!([{"text": "一。", "next": "Mira"}, {"text": "二。", "cut": {"offset": 1, "member": "user"}}, {"text": "3."}]),
            "[SLM] S:scheduled +S L:scheduled +L M:scheduled +M =round_complete",
        ),
        (
            "63: cut and nomination in one reply",
            json!({"mode": "free_chat", "handoff": "next", "max_rounds": 1}),
            json!({}),
            json!([{"text": "一。", "next": "Mira", "cut": {"offset": 1, "member": "A"}}, {"text": "二。"}, {"text": "3."}, {"text": "四。"}]),
            "[SLMA] S:scheduled +S S>A [AML] A:handoff<S +A M:nominated<S +M L:scheduled +L =max_rounds",
        ),
        (
            "64: the narrator after rounds 2 and 4",
            json!({"mode": "free_chat", "max_rounds": 4, "absent": ["M", "A", "L"], "max_messages": 9, "narrator": {"id": "N", "name": "旁白", "interval": 2}}),
            json!({}),
            say(&["一。", "二。", "旁白：风停了。", "三。", "四。", ""]),
            "[S] S:scheduled +S [S] S:scheduled +S narrate:interval +N [S] S:scheduled +S [S] S:scheduled +S narrate:interval =max_rounds",
        ),
        (
            "a director that fails, and nobody instead",
            json!({"who": "director", "director": {"fallback": "nobody"}}),
            json!({}),
            json!([{"timeout": true}]),
            "director[SLMA] d[] [] =round_complete",
        ),
        (
            "everybody once in drawn order",
            json!({"who": "pooled", "all": true}),
            json!({"draws": [0.0, 0.0, 0.0, 0.0]}),
            say(&four),
            "[LMAS] L:scheduled +L M:scheduled +M A:scheduled +A S:scheduled +S =round_complete",
        ),
        (
            "who speaks only when spoken to",
            json!({"only_when_mentioned": ["S", "L"]}),
            json!({"user_message": "@洛恩 走"}),
            say(&["一。", "Two.", "三。"]),
            "[LMA] L:mentioned<user +L M:scheduled +M A:scheduled +A =round_complete",
        ),
        (
            "plain names move to the front too",
            json!({"mention_order": "any", "max_messages": 1}),
            json!({"user_message": "Mira，走吧"}),
            say(&["Yes."]),
            "[MSLA] M:scheduled +M unreached[SLA] =max_messages",
        ),
        (
            "nomination by somebody who skips, of somebody outside the plan",
            json!({"mode": "free_chat", "who": "round_robin", "max_rounds": 1}),
            json!({}),
            json!([{"skip": true, "next": "阿岚"}, {"text": "我来。"}]),
            "[S] S:scheduled -S:no_new_value [A] A:nominated<S +A =max_rounds",
        ),
        (
            "a late reply to nobody",
            json!({"directed": "only"}),
            json!({"user_message": "@洛恩"}),
            json!([{"text": "一。"}, {"stale": "1.1.1.1"}, {"abort": true}]),
            "[L] L:mentioned<user +L =target_only ignored error:unexpected_input",
        ),
    ];
    for (name, config, more, script, wanted) in rows {
        assert_eq!(story(&room(&config, &more, &script)), wanted, "{name}");
    }
}

#[test]
fn replies_carry_more_than_text() {
    for (control, text, wanted) in [
        ("marks", "【沉默】\n[next: Mira]", json!({"text": "", "next": "Mira", "skip": true})),
        (
            "marks",
            "他说 [next: Mira] 然后走了",
            json!({"text": "他说 [next: Mira] 然后走了", "next": null, "skip": false}),
        ),
        ("marks", "走吧。\r\n【下一位：洛恩】 \n", json!({"text": "走吧。", "next": "洛恩", "skip": false})),
        ("marks", "［PASS］", json!({"text": "", "next": null, "skip": true})),
        ("marks", "Жди.\n[Next：Мира]", json!({"text": "Жди.", "next": "Мира", "skip": false})),
        (
            "json",
            "{\"content\":\"好\",\"next_speaker\":\" \",\"next\":\"ミラ\"}",
            json!({"text": "好", "next": "ミラ", "skip": false}),
        ),
        ("json", "```json\n{\"skip\":true}\n```", json!({"text": "", "next": null, "skip": true})),
        ("json", "{\"skip\":1}", json!({"text": "{\"skip\":1}", "next": null, "skip": false})),
        ("none", "[pass]", json!({"text": "[pass]", "next": null, "skip": false})),
    ] {
        let got = invoke("reply_control", &json!({"calls": [{"control": control, "text": text}]}));
        assert_eq!(got[0], wanted, "{text}");
    }
}

#[test]
fn texts_in_any_spelling_are_the_same_text() {
    for (a, b) in [
        ("Не бойся, й", "Не бойся, и\u{306}"),
        ("ｶﾞガ大丈夫です", "ガガ大丈夫です"),
        ("정말 괜찮아", "\u{110c}\u{1165}\u{11bc}말 괜찮아"),
        ("Việt ấm", "Vi\u{65}\u{323}\u{302}t \u{61}\u{302}\u{301}m"),
        ("สวัสดี", "สวัสดี!"),
    ] {
        let got = invoke("repeat", &json!({"calls": [{"previous": a, "text": b}]}));
        assert_eq!(got[0]["why"], "equal", "{a} {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever comes in, a room never says more than its limits allow, never asks who is muted, and ends once for every start.
    #[test]
    fn a_room_never_runs_for_ever(
        mode in prop::sample::select(vec!["single_round", "free_chat", "host_mode"]),
        who in prop::sample::select(vec!["all", "natural", "list", "pooled", "round_robin", "mention", "relevance", "world_engine", "formula", "director"]),
        max_messages in 0_u32..6,
        max_rounds in 1_u32..5,
        flags in prop::collection::vec(any::<bool>(), 6),
        script in prop::collection::vec(0_usize..14, 0..60),
    ) {
        let entries = [
            json!({"text": "@洛恩 @Mira 来。"}), json!({"text": "好。"}), json!({"text": ""}), json!({"skip": true, "next": "Mira"}),
            json!({"fail": "network"}), json!({"timeout": true}), json!({"abort": true, "partial": "半"}), json!({"elapsed": true}),
            json!({"user_message": "@阿岚 你呢？"}), json!({"typing": true}), json!({"start": {"user_message": "走"}}),
            json!({"stale": "1.1.1.1"}), json!({"text": "一。", "cut": {"offset": 1, "member": "A"}, "next": "塞拉菲娜"}),
            json!({"text": "作为AI"}),
        ];
        let config = json!({
            "mode": mode, "who": who, "max_messages": max_messages, "max_rounds": max_rounds, "idle_limit": 3,
            "cross_talk": {"enabled": flags[0], "max": 2}, "handoff": if flags[1] { "next" } else { "off" },
            "host_closing": flags[2], "on_busy": if flags[3] { "queue" } else { "replace" },
            "validation": {"forbidden": ["作为AI"]}, "narrator": {"interval": u32::from(flags[4])},
            "auto": {"enabled": flags[5], "max_turns": 3}, "repeat_guard": false,
        });
        let script: Vec<Value> = script.into_iter().map(|i| entries[i].clone()).collect();
        let draws: Vec<f64> = (0..2000).map(|i| f64::from(i * 37 % 100) / 100.0).collect();
        let input = json!({
            "members": [
                {"id": "S", "name": "塞拉菲娜"}, {"id": "L", "name": "洛恩"}, {"id": "M", "name": "Mira"},
                {"id": "A", "name": "阿岚"}, {"id": "K", "name": "凯", "muted": true},
            ],
            "config": config, "draws": draws, "script": script, "user_message": "你们好",
        });
        let outcome = invoke("room", &input);
        let steps = outcome["steps"].as_array().expect("a script always runs");
        let (mut stored, mut open) = (0, None);
        for step in steps {
            let request = &step["request"];
            prop_assert!(request["speaker"] != "K", "a muted member is never asked");
            if !request["id"].is_null() {
                let start = request["id"].as_str().unwrap().split('.').next().unwrap().to_owned();
                if open.as_ref() != Some(&start) {
                    stored = 0;
                }
                open = Some(start);
            }
            let event = &step["emit"];
            if event["type"] == "message_done" && event["reason"] != "narrator" {
                stored += 1;
                prop_assert!(stored <= max_messages, "no more replies than allowed");
                prop_assert!(!event["text"].as_str().unwrap().contains("作为AI"), "no rejected reply is stored");
            }
            if event["type"] == "room_finished" {
                open = None;
                stored = 0;
            }
        }
        let dones = steps.iter().filter(|s| !s["done"].is_null()).count();
        let ends = steps.iter().filter(|s| s["emit"]["type"] == "room_finished").count();
        prop_assert!(dones <= ends);
        prop_assert!(steps.len() < 3000);
    }
}
