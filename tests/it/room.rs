//! Rounds through the JSON face, as the package calls it: both sides of every switch of the room, and what failures leave behind.

use promptside::api::{Session, Vocabularies};
use serde_json::{Value, json};

const SILLY: &str = "sillytavern";
const OURS: &str = "promptside";

fn scene() -> Value {
    let card = |name: &str| json!({"name": name, "description": "", "first_mes": ""});
    json!({
        "characters": [
            {"avatar": "a.png", "card": card("Mira")},
            {"avatar": "b.png", "card": card("洛恩")},
        ],
        "group": {"id": "g", "members": ["a.png", "b.png"], "activation_strategy": 1},
        "persona": {"name": "Рин"},
        "preset": {"chat_completion_source": "custom", "custom_url": "http://provider.test/v1"},
    })
}

fn session(scene: &Value, profile: &str) -> Session {
    let options = json!({"profile": profile, "random": {"seed": 3}, "now": 1_741_064_767_000_i64});
    Session::new(&scene.to_string(), &options.to_string(), Vocabularies::default()).unwrap()
}

fn call(session: &mut Session, method: &str, params: &Value) -> Value {
    serde_json::from_str(&session.call(method, &params.to_string()).unwrap()).unwrap()
}

fn step(session: &mut Session, input: &Value) -> Vec<Value> {
    match call(session, "step", &json!({"input": input})) {
        Value::Array(outputs) => outputs,
        other => panic!("{other}"),
    }
}

/// Runs a round, every request answered with the same text; the outputs in order.
fn round(session: &mut Session, start: &Value, reply: &str) -> Vec<Value> {
    let mut start = start.clone();
    start["type"] = json!("start");
    let mut queue: std::collections::VecDeque<Value> = step(session, &start).into();
    let mut seen = Vec::new();
    while let Some(output) = queue.pop_front() {
        if output["type"] == "request" {
            queue.extend(step(session, &json!({"type": "reply", "request": output["id"], "text": reply})));
        }
        seen.push(output);
    }
    seen
}

fn texts(session: &mut Session) -> Vec<String> {
    let chat = call(session, "chat", &Value::Null);
    let line = |m: &Value| format!("{}: {}", m["name"].as_str().unwrap(), m["mes"].as_str().unwrap());
    chat["messages"].as_array().unwrap().iter().map(line).collect()
}

fn speakers(outputs: &[Value]) -> Vec<&str> {
    outputs.iter().filter(|o| o["type"] == "request").map(|o| o["name"].as_str().unwrap()).collect()
}

#[test]
fn filler_is_sent_once_or_before_everyone() {
    let mut scene = scene();
    scene["preset"]["send_if_empty"] = json!("[继续]");
    let mut theirs = session(&scene, SILLY);
    round(&mut theirs, &json!({"userMessage": "嗨"}), "Yes.");
    assert_eq!(texts(&mut theirs), ["Рин: 嗨", "Mira: Yes.", "Рин: [继续]", "洛恩: Yes."]);
    let mut ours = session(&scene, OURS);
    round(&mut ours, &json!({"userMessage": "嗨"}), "Yes.");
    assert_eq!(texts(&mut ours), ["Рин: 嗨", "Mira: Yes.", "洛恩: Yes."]);
}

#[test]
fn regeneration_asks_the_same_speakers_or_chooses_anew() {
    let mut scene = scene();
    scene["group"]["activation_strategy"] = json!(0);
    for (profile, expected) in [(OURS, vec!["洛恩"]), (SILLY, vec!["Mira"])] {
        let mut room = session(&scene, profile);
        let first = round(&mut room, &json!({"userMessage": "Hm.", "speakers": ["b.png"]}), "在。");
        assert_eq!(speakers(&first), ["洛恩"], "{profile}");
        // The members' names in the input decide for those who choose anew.
        call(
            &mut room,
            "editChat",
            &json!({"removeLast": 2, "append": [
                {"name": "Рин", "is_user": true, "mes": "Mira, you?"},
                {"name": "洛恩", "mes": "在。", "original_avatar": "b.png", "extra": {"gen_id": 1_741_064_767_000_i64}},
            ]}),
        );
        let again = round(&mut room, &json!({"kind": "regenerate"}), "嗯。");
        assert_eq!(speakers(&again)[..1], expected[..], "{profile}");
    }
}

#[test]
fn quiet_options_are_kept_or_lost_in_a_group() {
    let mut scene = scene();
    scene["lorebooks"] = json!({"books": {"w": {"entries": {"0": {
        "uid": 0, "key": ["城"], "content": "LORE", "constant": true, "position": 0, "order": 100
    }}}}, "global": ["w"]});
    for (profile, sent) in [(SILLY, true), (OURS, false)] {
        let mut room = session(&scene, profile);
        let start =
            json!({"kind": "quiet", "speaker": "a.png", "quiet": {"prompt": "城?", "skipLore": true}});
        let outputs = round(&mut room, &start, "ok");
        let request = outputs.iter().find(|o| o["type"] == "request").unwrap();
        assert_eq!(request["request"]["body"].as_str().unwrap().contains("LORE"), sent, "{profile}");
        assert_eq!(outputs.iter().filter(|o| o["type"] == "result").count(), 1);
        assert!(texts(&mut room).is_empty(), "a quiet request stores nothing");
    }
}

#[test]
fn halves_of_characters_go_through_or_become_replacement_characters() {
    let start = r#"{"input": {"type": "start", "userMessage": "a\ud83e 🙂"}}"#;
    let body = |profile: &str| session(&scene(), profile).call("step", start).unwrap();
    assert!(body(SILLY).contains(r"a\\ud83e 🙂"));
    assert!(body(OURS).contains("a\u{fffd} 🙂"));
}

#[test]
fn a_failed_start_leaves_no_trace() {
    let mut scene = scene();
    scene["preset"]["openai_max_context"] = json!(40);
    scene["preset"]["openai_max_tokens"] = json!(30);
    let mut room = session(&scene, OURS);
    let before = room.call("snapshot", "{}").unwrap();
    let error = room
        .call("step", r#"{"input": {"type": "start", "userMessage": "很长的话，说也说不完。"}}"#)
        .unwrap_err();
    assert_eq!(error.code().as_str(), "budget.mandatory", "{error}");
    assert_eq!(room.call("snapshot", "{}").unwrap(), before);
}

#[test]
fn a_failed_call_keeps_the_others() {
    let mut room = session(&scene(), OURS);
    let outputs = step(&mut room, &json!({"type": "start", "userMessage": "あの"}));
    let id = outputs.last().unwrap()["id"].clone();
    let outputs = step(&mut room, &json!({"type": "fail", "request": id, "code": "http_500"}));
    let next = outputs.iter().find(|o| o["type"] == "request").unwrap();
    assert_eq!(next["name"], "洛恩");
    let last = step(&mut room, &json!({"type": "reply", "request": next["id"], "text": "在。"}));
    let stats = last.iter().find(|o| o["type"] == "round_stats").unwrap();
    assert_eq!((&stats["spoke"], &stats["failed"]), (&json!(["b.png"]), &json!(["a.png"])));
    assert_eq!(texts(&mut room), ["Рин: あの", "洛恩: 在。"]);
    let late = step(&mut room, &json!({"type": "chunk", "request": id, "text": "late"}));
    assert_eq!(late[0]["type"], "ignored");
}

#[test]
fn the_end_of_a_stream_shows_what_was_held_back() {
    let mut scene = scene();
    scene["settings"]["power_user"]["custom_stopping_strings"] = json!("[\"\\n洛恩说:\"]");
    let mut room = session(&scene, "promptside");
    let first = step(&mut room, &json!({"type": "start", "userMessage": "你好", "speaker": "0"}));
    let id = first.iter().find(|o| o["type"] == "request").unwrap()["id"].clone();
    let mut outputs = step(&mut room, &json!({"type": "chunk", "request": id, "text": "晚上好。\n洛恩说"}));
    outputs.extend(step(&mut room, &json!({"type": "reply", "request": id})));
    let shown: Vec<&str> =
        outputs.iter().filter(|o| o["type"] == "token").map(|o| o["text"].as_str().unwrap()).collect();
    let stored = outputs.iter().find(|o| o["type"] == "message_done").unwrap();
    assert_eq!(stored["text"], shown.concat());
    assert_eq!(stored["text"], "晚上好。\n洛恩说");
}

#[test]
fn every_candidate_keeps_its_thoughts() {
    let mut scene = scene();
    scene["group"]["members"] = json!(["a.png"]);
    for (profile, own) in [(SILLY, Value::Null), (OURS, json!("второй 思考"))] {
        let mut session = session(&scene, profile);
        let outputs = step(&mut session, &json!({"type": "start", "userMessage": "你好"}));
        let request = outputs.iter().find(|o| o["type"] == "request").unwrap()["id"].clone();
        step(
            &mut session,
            &json!({
                "type": "reply", "request": request, "text": "один", "reasoning": "первый",
                "alternatives": ["два", "три"], "alternativeReasonings": ["второй 思考"],
            }),
        );
        let chat = call(&mut session, "chat", &Value::Null);
        let message = chat["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(message["swipes"], json!(["один", "два", "три"]), "{profile}");
        let thought = |i: usize| message["swipe_info"][i]["extra"]["reasoning"].clone();
        assert_eq!([thought(0), thought(1), thought(2)], [json!("первый"), own, Value::Null], "{profile}");
    }
}
