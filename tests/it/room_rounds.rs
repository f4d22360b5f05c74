//! Configured rounds through the JSON face: real requests, stored messages, and the events in between (spec 09 Part 2).

use std::collections::VecDeque;

use promptside::api::{Session, Vocabularies};
use serde_json::{Value, json};

pub fn scene() -> Value {
    let card = |name: &str, text: &str| json!({"name": name, "description": text, "first_mes": ""});
    json!({
        "characters": [
            {"avatar": "s.png", "card": card("塞拉菲娜", "林地的守护者。")},
            {"avatar": "l.png", "card": card("洛恩", "老猎人。")},
            {"avatar": "m.png", "card": card("Mira", "A sailor who knows SECRETS.")},
        ],
        "group": {"id": "g", "members": ["s.png", "l.png", "m.png"], "activation_strategy": 0},
        "persona": {"name": "Рин"},
        "chat": {"id": "c", "messages": [{"name": "Рин", "is_user": true, "mes": "Привет."}]},
        "preset": {"chat_completion_source": "custom", "custom_url": "http://provider.test/v1"},
    })
}

pub fn session(scene: &Value, rounds: &Value) -> Session {
    let options = json!({"random": {"seed": 3}, "now": 1_741_064_767_000_i64, "rounds": rounds});
    Session::new(&scene.to_string(), &options.to_string(), Vocabularies::default()).unwrap()
}

pub fn call(session: &mut Session, method: &str, params: &Value) -> Value {
    serde_json::from_str(&session.call(method, &params.to_string()).unwrap()).unwrap()
}

pub fn step(session: &mut Session, input: &Value) -> Vec<Value> {
    let Value::Array(outputs) = call(session, "step", &json!({"input": input})) else { panic!() };
    outputs
}

/// Runs a start; every request and wait is answered with the next of the answers.
pub fn run(session: &mut Session, start: &Value, answers: &[Value]) -> Vec<Value> {
    let mut start = start.clone();
    start["type"] = json!("start");
    let mut queue: VecDeque<Value> = step(session, &start).into();
    let mut answers = answers.iter();
    let mut seen = Vec::new();
    while let Some(output) = queue.pop_front() {
        if output["type"] == "wait" {
            queue.extend(step(session, &json!({"type": "elapsed", "wait": output["id"]})));
        }
        if output["type"] == "request"
            && let Some(answer) = answers.next()
        {
            let mut answer =
                if answer.is_string() { json!({"type": "reply", "text": answer}) } else { answer.clone() };
            answer["request"] = output["id"].clone();
            queue.extend(step(session, &answer));
        }
        seen.push(output);
    }
    seen
}

pub fn types(outputs: &[Value]) -> Vec<&str> {
    outputs.iter().map(|o| o["type"].as_str().unwrap()).filter(|t| *t != "status").collect()
}

pub fn texts(session: &mut Session) -> Vec<String> {
    let chat = call(session, "chat", &Value::Null);
    let line = |m: &Value| format!("{}: {}", m["name"].as_str().unwrap(), m["mes"].as_str().unwrap());
    chat["messages"].as_array().unwrap().iter().map(line).collect()
}

pub fn bodies(outputs: &[Value]) -> Vec<String> {
    let requests = outputs.iter().filter(|o| o["type"] == "request");
    requests.map(|o| o["request"]["body"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_round_with_cross_talk_a_repeat_and_a_failure() {
    let rounds = json!({"pauseMs": 0, "directed": "only", "crossTalk": {"enabled": true}});
    let mut room = session(&scene(), &rounds);
    run(&mut room, &json!({"userMessage": "@洛恩 说吧"}), &[json!("我在这里守着，你放心睡。")]);
    let outputs = run(
        &mut room,
        &json!({"userMessage": "@洛恩 还有呢？"}),
        &[
            json!("我在这里守着，你放心睡！"),
            json!("@Mira 知道路。@塞拉菲娜 也知道。"),
            json!({"type": "fail", "code": "http_500", "message": "boom"}),
            json!("林地的路我熟。"),
        ],
    );
    assert_eq!(
        types(&outputs),
        [
            "user_message",
            "round_started",
            "round_plan",
            "request",
            "draft_reset",
            "request",
            "message_done",
            "crosstalk_plan",
            "request",
            "draft_reset",
            "error",
            "request",
            "message_done",
            "round_stats",
            "room_finished",
        ]
    );
    let requests: Vec<&Value> = outputs.iter().filter(|o| o["type"] == "request").collect();
    let turns: Vec<(&Value, &Value, bool)> = requests
        .iter()
        .map(|r| (&r["turn"]["reason"], &r["turn"]["by"], r["turn"]["antiRepeat"].as_bool().unwrap()))
        .collect();
    assert_eq!(
        turns,
        [
            (&json!("mentioned"), &json!("user"), false),
            (&json!("mentioned"), &json!("user"), true),
            (&json!("cross_talk"), &json!("l.png"), false),
            (&json!("cross_talk"), &json!("l.png"), false),
        ]
    );
    let bodies = bodies(&outputs);
    assert!(bodies[0].contains("[Group scene]") && bodies[0].contains("You were spoken to."));
    assert!(
        !bodies[0].contains("Do not repeat") && bodies[1].contains("Do not repeat what you said before.")
    );
    assert!(!bodies[0].contains("SECRETS"), "no card of another member");
    assert!(bodies[3].contains("@Mira 知道路。"), "later speakers see the replies before them");
    let error = outputs.iter().find(|o| o["type"] == "error").unwrap();
    assert_eq!((&error["code"], &error["message"]), (&json!("http_500"), &json!("boom")));
    assert_eq!(
        texts(&mut room)[3..],
        ["Рин: @洛恩 还有呢？", "洛恩: @Mira 知道路。@塞拉菲娜 也知道。", "塞拉菲娜: 林地的路我熟。"]
    );
    let chat = call(&mut room, "chat", &Value::Null);
    assert!(!chat.to_string().contains("Group scene"), "what is injected is not stored");
}

#[test]
fn a_director_chooses_and_a_narrator_tells() {
    let rounds =
        json!({"pauseMs": 0, "who": "director", "narrator": {"id": "n", "name": "旁白", "interval": 1}});
    let mut room = session(&scene(), &rounds);
    let outputs = run(
        &mut room,
        &json!({"userMessage": "塔怎么了？"}),
        &[
            json!("{\"speakers\":[\"Mira\"],\"reason\":\"saw it\"}"),
            json!("It burns."),
            json!("[旁白] 风停了。"),
        ],
    );
    assert_eq!(
        types(&outputs),
        [
            "user_message",
            "request",
            "director_plan",
            "round_started",
            "round_plan",
            "request",
            "message_done",
            "request",
            "message_done",
            "round_stats",
            "room_finished",
        ]
    );
    let requests: Vec<&Value> = outputs.iter().filter(|o| o["type"] == "request").collect();
    let purposes: Vec<&str> = requests.iter().map(|r| r["turn"]["purpose"].as_str().unwrap()).collect();
    assert_eq!(purposes, ["director", "reply", "narrate"]);
    let body: Value = serde_json::from_str(requests[0]["request"]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("3. Mira - A sailor"));
    assert!(body["messages"][1]["content"].as_str().unwrap().contains("Рин: 塔怎么了？"));
    assert_eq!(body["temperature"], json!(0));
    assert_eq!(texts(&mut room)[1..], ["Рин: 塔怎么了？", "Mira: It burns.", "旁白: 风停了。"]);
}

#[test]
fn who_is_away_hears_nothing() {
    let rounds =
        json!({"pauseMs": 0, "directed": "only", "presence": {"enabled": true}, "groupContext": false});
    let mut room = session(&scene(), &rounds);
    step(&mut room, &json!({"type": "present", "member": "Mira", "present": false}));
    run(&mut room, &json!({"userMessage": "@洛恩 钥匙在井里"}), &[json!("知道了。")]);
    step(&mut room, &json!({"type": "present", "member": "m.png", "present": true}));
    let outputs = run(&mut room, &json!({"userMessage": "@Mira 你听见了吗？"}), &[json!("What?")]);
    let body = &bodies(&outputs)[0];
    assert!(!body.contains("钥匙在井里") && !body.contains("知道了"), "{body}");
    assert!(
        body.contains("Привет.") && body.contains("你听见了吗"),
        "old messages have no list: everyone heard them"
    );
    let chat = call(&mut room, "chat", &Value::Null);
    assert_eq!(chat["messages"][1]["present"], json!(["s.png", "l.png"]));
    assert_eq!(chat["messages"][3]["present"], json!(["s.png", "l.png", "m.png"]));
    assert!(!chat.to_string().contains("\"ignore\""), "ghosts are for one request");
}

#[test]
fn a_rejected_reply_leaves_no_trace() {
    let rounds = json!({"pauseMs": 0, "directed": "only", "validation": {"forbidden": ["作为AI"]}});
    let mut scene = scene();
    scene["characters"][1]["card"]["description"] = json!("{{incvar::n}}老猎人。");
    let mut room = session(&scene, &rounds);
    let outputs = run(&mut room, &json!({"userMessage": "@洛恩"}), &[json!("作为AI，我不能"), json!("好。")]);
    assert_eq!(outputs.iter().filter(|o| o["type"] == "draft_reset").count(), 1);
    let chat = call(&mut room, "chat", &Value::Null);
    assert_eq!(chat["metadata"]["variables"]["n"], json!(1), "the rejected attempt is not counted");
    assert_eq!(texts(&mut room).len(), 3);
    let requests = bodies(&outputs);
    assert!(requests[1].contains("it used forbidden words (作为AI)"));
}

#[test]
fn the_host_steers_the_queue() {
    let rounds = json!({"pauseMs": 0, "mode": "free_chat", "maxRounds": 1, "control": "marks"});
    let mut room = session(&scene(), &rounds);
    let first = step(&mut room, &json!({"type": "start", "userMessage": "走吗？"}));
    let id = first.last().unwrap()["id"].clone();
    let planned = |out: &[Value]| {
        let plan = out.iter().rev().find(|o| o["type"] == "round_plan").unwrap();
        plan["planned"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let out = step(&mut room, &json!({"type": "command", "order": "reorder", "members": ["Mira"]}));
    assert_eq!(planned(&out), ["m.png", "l.png"]);
    let again = step(&mut room, &json!({"type": "command", "order": "retry"}));
    let retried = again.last().unwrap()["id"].clone();
    assert_eq!(retried, "1.1.1.2");
    let late = step(&mut room, &json!({"type": "reply", "request": id, "text": "旧。"}));
    assert_eq!(late[0]["type"], "ignored");
    step(&mut room, &json!({"type": "command", "order": "pause"}));
    let out = step(&mut room, &json!({"type": "reply", "request": retried, "text": "走。\n[next: 洛恩]"}));
    assert!(out.iter().any(|o| o["text"] == "走。") && out.last().unwrap()["type"] != "request", "{out:?}");
    let out = step(&mut room, &json!({"type": "command", "order": "skip", "member": "Mira"}));
    assert_eq!(planned(&out), ["l.png"]);
    let out = step(&mut room, &json!({"type": "command", "order": "resume"}));
    assert_eq!(
        (&out.last().unwrap()["speaker"], &out.last().unwrap()["turn"]["reason"]),
        (&json!("l.png"), &json!("nominated"))
    );
    let end = step(&mut room, &json!({"type": "command", "order": "skip"}));
    assert_eq!(types(&end)[..2], ["draft_reset", "role_skipped"]);
    assert_eq!(end.last().unwrap()["reason"], "max_rounds");
    assert!(room.call("step", &json!({"input": {"type": "command", "order": "retry"}}).to_string()).is_err());
}

#[test]
fn busy_rooms_refuse_insert_and_stop() {
    let mut room = session(&scene(), &json!({"pauseMs": 0}));
    let first = step(&mut room, &json!({"type": "start", "userMessage": "走吗？"}));
    let id = first.last().unwrap()["id"].clone();
    assert_eq!(step(&mut room, &json!({"type": "start", "userMessage": "另一句"}))[0]["type"], "refused");
    assert_eq!(step(&mut room, &json!({"type": "start", "kind": "swipe"}))[0]["type"], "refused");
    assert!(step(&mut room, &json!({"type": "user_message", "text": "等等，@Mira 呢？"})).is_empty());
    let out = step(&mut room, &json!({"type": "reply", "request": id, "text": "好。"}));
    assert_eq!(types(&out), ["message_done", "user_message", "round_plan", "request"]);
    assert_eq!(out.last().unwrap()["speaker"], "m.png");
    let id = out.last().unwrap()["id"].clone();
    step(&mut room, &json!({"type": "chunk", "request": id, "text": "I was "}));
    let out = step(&mut room, &json!({"type": "abort", "keep": true}));
    assert_eq!(types(&out), ["message_done", "round_stats", "room_finished"]);
    assert_eq!((&out[0]["partial"], &out.last().unwrap()["reason"]), (&json!(true), &json!("aborted")));
    assert_eq!(texts(&mut room).last().unwrap(), "Mira: I was");
    // A swipe is a turn of the reference's kind.
    let out = step(&mut room, &json!({"type": "start", "kind": "swipe"}));
    assert_eq!(out.last().unwrap()["type"], "request");
}

#[test]
fn the_configuration_is_checked_and_survives_a_snapshot() {
    let options = |rounds: Value| json!({"random": {"seed": 1}, "rounds": rounds}).to_string();
    for rounds in [json!({"mode": "chaos"}), json!({"preset": "x"}), json!({"банан": 1}), json!([])] {
        let error =
            Session::new(&scene().to_string(), &options(rounds), Vocabularies::default()).err().unwrap();
        assert_eq!(error.code().as_str(), "option.unknown");
    }
    let mut room = session(&scene(), &json!({"preset": "nekobot"}));
    step(&mut room, &json!({"type": "present", "member": "Mira", "present": false}));
    let snapshot = call(&mut room, "snapshot", &Value::Null);
    assert_eq!(snapshot["options"]["rounds"]["absent"], json!(["m.png"]));
    assert_eq!(snapshot["options"]["rounds"]["crossTalk"]["match"], json!("strict"));
    let again = Session::new(
        &snapshot["scene"].to_string(),
        &snapshot["options"].to_string(),
        Vocabularies::default(),
    );
    assert_eq!(
        call(&mut again.unwrap(), "snapshot", &Value::Null)["options"]["rounds"],
        snapshot["options"]["rounds"]
    );
}
