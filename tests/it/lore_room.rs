//! Lorebooks in a chat that goes on: what is looked into between requests and what opening a chat leaves, on both sides.

use promptside::api::{Session, Vocabularies};
use serde_json::{Value, json};

const SILLY: &str = "sillytavern";
const OURS: &str = "promptside";

fn call(session: &mut Session, method: &str, params: &Value) -> Value {
    serde_json::from_str(&session.call(method, &params.to_string()).unwrap()).unwrap()
}

fn session(scene: &Value, profile: &str) -> Session {
    let options = json!({"profile": profile, "random": {"seed": 3}, "now": 1_741_064_767_000_i64});
    Session::new(&scene.to_string(), &options.to_string(), Vocabularies::default()).unwrap()
}

fn answer(session: &mut Session, start: &Value, text: &str) {
    let mut start = start.clone();
    start["type"] = json!("start");
    let outputs = call(session, "step", &json!({"input": start}));
    let request = outputs.as_array().unwrap().iter().find(|o| o["type"] == "request").unwrap()["id"].clone();
    call(session, "step", &json!({"input": {"type": "reply", "request": request, "text": text}}));
}

fn active(session: &mut Session, params: &Value) -> Vec<u64> {
    let found = call(session, "lore", params);
    found["activated"].as_array().unwrap().iter().map(|a| a["uid"].as_u64().unwrap()).collect()
}

fn scene(entries: &Value) -> Value {
    json!({
        "characters": [{"avatar": "a.png", "card": {"name": "Мира", "description": "", "first_mes": ""}}],
        "persona": {"name": "Рин", "description": "носит фонарь", "position": 4, "depth": 2},
        "chat": {"id": "c", "metadata": {}, "messages": [
            {"name": "Мира", "is_user": false, "mes": "тишина"},
            {"name": "Рин", "is_user": true, "mes": "мост"},
            {"name": "Мира", "is_user": false, "mes": "狼"},
        ]},
        "preset": {"chat_completion_source": "custom", "custom_url": "http://provider.test/v1"},
        "lorebooks": {"books": {"W": {"entries": entries}}, "global": ["W"]},
    })
}

#[test]
fn a_scan_by_itself_looks_at_all_visible_messages() {
    let entries = json!({"0": {"uid": 0, "key": ["狼"], "content": "x", "position": 0, "order": 1, "triggers": ["swipe"]}});
    for profile in [SILLY, OURS] {
        let mut s = session(&scene(&entries), profile);
        assert_eq!(active(&mut s, &json!({"trigger": "swipe"})), [0], "{profile}");
        assert!(active(&mut s, &json!({"trigger": "normal"})).is_empty());
    }
}

#[test]
fn a_dry_scan_leaves_the_timers_as_they_are() {
    let entries =
        json!({"0": {"uid": 0, "key": ["狼"], "content": "x", "position": 0, "order": 1, "sticky": 5}});
    let timers = |profile: &str, dry: bool| {
        let mut s = session(&scene(&entries), profile);
        call(&mut s, "lore", &json!({"dry": dry}));
        call(&mut s, "chat", &Value::Null)["metadata"]["timedWorldInfo"].clone()
    };
    // The reference makes the empty maps even then.
    assert_eq!(timers(SILLY, true), json!({"sticky": {}, "cooldown": {}}));
    assert_eq!(timers(OURS, true), Value::Null);
    for profile in [SILLY, OURS] {
        assert_eq!(timers(profile, false)["sticky"]["W.0"]["end"], 8);
    }
}

#[test]
fn a_persona_in_the_chat_is_looked_into_now_or_one_request_late() {
    let entries = json!({"0": {"uid": 0, "key": ["фонарь"], "content": "x", "position": 0, "order": 1}});
    let run = |profile: &str| {
        let mut s = session(&scene(&entries), profile);
        let mut found = vec![active(&mut s, &json!({"speaker": "a.png"})).len()];
        for _ in 0..2 {
            answer(&mut s, &json!({"userMessage": "да"}), "ага");
            found.push(call(&mut s, "inspect", &Value::Null)["activated"].as_array().unwrap().len());
        }
        // Another persona: the old one is still known.
        call(&mut s, "update", &json!({"persona": {"name": "Рин", "description": "", "position": 4}}));
        found.push(active(&mut s, &json!({"speaker": "a.png"})).len());
        found
    };
    assert_eq!(run(SILLY), [0, 0, 1, 1]);
    assert_eq!(run(OURS), [1, 1, 1, 0]);
}

#[test]
fn opening_a_group_keeps_or_loses_what_greetings_write() {
    let card = |name: &str| json!({"name": name, "description": "", "first_mes": "{{setvar::v::炉}}{{setglobalvar::g::1}}{{char}}"});
    let group = |chat: Value| {
        json!({
            "characters": [{"avatar": "a.png", "card": card("Mira")}, {"avatar": "b.png", "card": card("洛恩")}],
            "group": {"id": "g", "members": ["a.png", "b.png"]},
            "chat": {"id": "c", "metadata": {}, "messages": chat},
        })
    };
    let opened = |profile: &str| {
        let mut s = session(&group(json!([])), profile);
        let chat = call(&mut s, "chat", &Value::Null);
        assert_eq!(chat["messages"][1]["mes"], "洛恩");
        chat["metadata"]["variables"]["v"].clone()
    };
    assert_eq!(opened(SILLY), Value::Null);
    assert_eq!(opened(OURS), "炉");
    let first = |profile: &str| {
        let old =
            json!([{"name": "洛恩", "is_user": false, "mes": "({{char}})", "original_avatar": "b.png"}]);
        let mut s = session(&group(old), profile);
        call(&mut s, "chat", &Value::Null)["messages"][0]["mes"].clone()
    };
    assert_eq!(first(SILLY), "()");
    assert_eq!(first(OURS), "(洛恩)");
}

#[test]
fn reasoning_that_was_sent_along_is_not_stored_by_a_continuation() {
    let mut scene = scene(&json!({}));
    let last = &mut scene["chat"]["messages"][2];
    last["extra"] = json!({"reasoning": "Подумаю."});
    for profile in [SILLY, OURS] {
        let mut s = session(&scene, profile);
        answer(&mut s, &json!({"kind": "continue"}), "в лесу");
        let sent = call(&mut s, "inspect", &Value::Null)["payload"].to_string();
        assert!(sent.contains("<think>Подумаю.</think>"), "{sent}");
        let stored = call(&mut s, "chat", &Value::Null)["messages"][2]["mes"].as_str().unwrap().to_owned();
        assert!(stored.starts_with('狼') && stored.ends_with("в лесу"), "{profile}: {stored}");
    }
}

#[test]
fn kept_books_follow_the_scene() {
    let book = |key: &str| json!({"0": {"uid": 0, "key": [key], "content": "x", "position": 0, "order": 1}});
    for profile in [SILLY, OURS] {
        let mut s = session(&scene(&book("волк")), profile);
        assert!(active(&mut s, &json!({})).is_empty());
        let lore = json!({"books": {"W": {"entries": book("狼")}}, "global": ["W"]});
        call(&mut s, "update", &json!({"lorebooks": lore}));
        assert_eq!(active(&mut s, &json!({})), [0]);
        call(
            &mut s,
            "update",
            &json!({"lorebooks": {"books": {"W": {"entries": book("МОСТ")}}, "global": ["W"]}}),
        );
        assert_eq!(active(&mut s, &json!({})), [0]);
        call(&mut s, "update", &json!({"settings": {"world_info": {"world_info_case_sensitive": true}}}));
        assert!(active(&mut s, &json!({})).is_empty());
        // A new message is looked at, the old ones are remembered.
        call(&mut s, "editChat", &json!({"append": [{"name": "Рин", "is_user": true, "mes": "МОСТ"}]}));
        assert_eq!(active(&mut s, &json!({})), [0]);
    }
}

#[test]
fn a_failed_request_spends_timers_or_not() {
    let entries =
        json!({"0": {"uid": 0, "key": ["狼"], "content": "x", "position": 0, "order": 1, "sticky": 5}});
    for profile in [SILLY, OURS] {
        let mut s = session(&scene(&entries), profile);
        let outputs = call(&mut s, "step", &json!({"input": {"type": "start", "userMessage": "?"}}));
        let request =
            outputs.as_array().unwrap().iter().find(|o| o["type"] == "request").unwrap()["id"].clone();
        call(&mut s, "step", &json!({"input": {"type": "fail", "request": request, "code": "http_500"}}));
        let timers =
            call(&mut s, "chat", &Value::Null)["metadata"]["timedWorldInfo"]["sticky"]["W.0"].clone();
        assert_eq!(timers.is_object(), profile == SILLY, "{profile}: {timers}");
    }
}
