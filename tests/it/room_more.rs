//! Configured rounds under trouble: numbers that run out, chats that changed, replies in wrappers, pairs without end; and what a page may ask
//! before and meanwhile.

use promptside::api::{Session, Vocabularies};
use serde_json::{Value, json};

use crate::room_rounds::{bodies, call, run, scene, session, step, texts, types};

fn of<'a>(outputs: &'a [Value], kind: &str) -> Vec<&'a Value> {
    outputs.iter().filter(|o| o["type"] == kind).collect()
}

fn speakers(outputs: &[Value]) -> Vec<&str> {
    of(outputs, "message_done").iter().map(|o| o["speaker"].as_str().unwrap()).collect()
}

#[test]
fn numbers_that_run_out_end_the_round_in_the_open() {
    let options = |tape: Value| json!({"random": {"tape": tape}, "rounds": {"pauseMs": 0, "mode": "free_chat", "who": "random", "maxRounds": 5}});
    let open = |tape: Value| {
        Session::new(&scene().to_string(), &options(tape).to_string(), Vocabularies::default()).unwrap()
    };
    let mut room = open(json!([0.0, 0.5]));
    let outputs =
        run(&mut room, &json!({"userMessage": "谁？"}), &[json!("我。"), json!("И я."), json!("Nobody.")]);
    assert_eq!(speakers(&outputs), ["s.png"]);
    let error = of(&outputs, "error")[0];
    assert_eq!((&error["code"], &error["attempt"]), (&json!("draws.exhausted"), &json!("1.2.1.1")));
    let ends = of(&outputs, "room_finished");
    assert_eq!((ends.len(), &ends[0]["reason"]), (1, &json!("aborted")));
    assert_eq!(outputs.last().unwrap(), ends[0]);
    assert_eq!(texts(&mut room).len(), 3, "what was stored before stays");
    // Nothing hangs: the next start is refused by name, and works once there are numbers.
    let start = json!({"input": {"type": "start", "userMessage": "?"}});
    assert_eq!(room.call("step", &start.to_string()).err().unwrap().code().as_str(), "draws.exhausted");
    call(&mut room, "configure", &json!({"random": {"seed": 1}}));
    let outputs = run(&mut room, &json!({"userMessage": "ещё?"}), &vec![json!("да"); 9]);
    assert_eq!(of(&outputs, "room_finished").len(), 1);
    // A director's fallback draws while the room is busy.
    let options = json!({"random": {"tape": []}, "rounds": {"pauseMs": 0, "who": "director"}});
    let mut room = Session::new(&scene().to_string(), &options.to_string(), Vocabularies::default()).unwrap();
    let outputs = run(&mut room, &json!({"userMessage": "谁？"}), &[json!("no idea")]);
    assert_eq!(of(&outputs, "error")[0]["code"], "draws.exhausted");
    assert_eq!(outputs.last().unwrap()["type"], "room_finished");
    let again = json!({"input": {"type": "start", "userMessage": "@洛恩"}});
    assert!(room.call("step", &again.to_string()).is_ok(), "a mention needs no number");
}

#[test]
fn a_chat_that_something_else_changed_is_told_of() {
    let mut room = session(&scene(), &json!({"pauseMs": 0, "directed": "only"}));
    let told = step(&mut room, &json!({"type": "start", "userMessage": "@洛恩", "historyLength": 3}));
    assert_eq!(told[0], json!({"type": "history_changed", "expected": 3, "length": 1}));
    assert_eq!(told.last().unwrap()["type"], "request");
    step(&mut room, &json!({"type": "abort"}));
    let told = step(&mut room, &json!({"type": "start", "userMessage": "@洛恩", "historyLength": 2}));
    assert!(of(&told, "history_changed").is_empty());
    step(&mut room, &json!({"type": "abort"}));
    let told = step(&mut room, &json!({"type": "start", "kind": "swipe", "historyLength": 0}));
    assert_eq!(told[0]["type"], "history_changed", "also for turns of the reference's kind");
}

#[test]
fn unknown_speakers_are_an_error_by_name() {
    let mut room = session(&scene(), &Value::Null);
    let start = |speakers: Value| json!({"input": {"type": "start", "speakers": speakers}}).to_string();
    let error = room.call("step", &start(json!(["洛恩", "Никто"]))).err().unwrap();
    assert_eq!((error.code().as_str(), error.path()), ("scene.unknown", "speakers[1]"));
    let out: Value =
        serde_json::from_str(&room.call("step", &start(json!(["Mira", "s.png"]))).unwrap()).unwrap();
    let plan = of(out.as_array().unwrap(), "round_plan")[0]["planned"].clone();
    assert_eq!(
        (&plan[0]["id"], &plan[1]["id"]),
        (&json!("m.png"), &json!("s.png")),
        "names are read like ids"
    );
}

#[test]
fn a_pair_without_end_is_stopped() {
    let rounds = json!({"pauseMs": 0, "mode": "free_chat", "control": "marks", "maxRounds": 9, "maxMessages": 40,
        "maxConsecutivePair": 3, "continueOn": "nomination", "who": "mention", "repeatGuard": false, "absent": ["s.png"]});
    let mut room = session(&scene(), &rounds);
    let mut answers = Vec::new();
    for n in 0..30 {
        answers.push(json!(format!("{n}。\n[next: {}]", if n % 2 == 0 { "Mira" } else { "洛恩" })));
    }
    let outputs = run(&mut room, &json!({"userMessage": "@洛恩 说吧"}), &answers);
    assert_eq!(
        speakers(&outputs)[..4],
        ["l.png", "m.png", "l.png", "m.png"],
        "three changes between the two"
    );
    let pairs = speakers(&outputs);
    let endless = |w: &[&str]| {
        w.iter().step_by(2).all(|s| *s == w[0]) && w.iter().skip(1).step_by(2).all(|s| *s == w[1])
    };
    assert!(!pairs.windows(5).any(endless), "{pairs:?}");
    let skipped = of(&outputs, "role_skipped")[0];
    assert_eq!((&skipped["speaker"], &skipped["reason"]), (&json!("l.png"), &json!("pair_limit")));
    assert_eq!(of(&outputs, "room_finished").len(), 1);
    step(&mut room, &json!({"type": "present", "member": "塞拉菲娜", "present": true}));
    // The user's word begins the count anew; a third member breaks it.
    let outputs = run(
        &mut room,
        &json!({"userMessage": "@洛恩 ещё"}),
        &[json!("一\n[next: Mira]"), json!("二\n[next: 塞拉菲娜]"), json!("三\n[next: Mira]"), json!("四")],
    );
    assert_eq!(speakers(&outputs)[..4], ["l.png", "m.png", "s.png", "m.png"]);
}

#[test]
fn a_page_can_look_before_and_meanwhile() {
    let connections = json!({"s.png": "small", "m.png": "large"});
    let mut room = session(
        &scene(),
        &json!({"pauseMs": 0, "who": "random", "mode": "free_chat", "connections": connections}),
    );
    let before = call(&mut room, "snapshot", &Value::Null);
    let preview = call(&mut room, "previewRound", &json!({"userMessage": "谁？"}));
    assert_eq!(call(&mut room, "snapshot", &Value::Null), before, "nothing is changed");
    let outputs = step(&mut room, &json!({"type": "start", "userMessage": "谁？"}));
    assert_eq!(preview, json!(outputs), "what was shown is what happens");
    let plan = of(&outputs, "round_plan")[0];
    assert_eq!(plan["draws"][0]["site"], "room", "the draw of the plan is told");
    let request = outputs.last().unwrap();
    assert_eq!(
        request["turn"].get("connection"),
        connections.get(request["speaker"].as_str().unwrap()),
        "a member may have a model of its own"
    );
    let busy = room.call("previewRound", "{}").err().unwrap();
    assert_eq!(busy.code().as_str(), "room.busy");
    assert_eq!(call(&mut room, "queue", &Value::Null), json!([]));
    step(&mut room, &json!({"type": "command", "order": "insert", "member": "Mira"}));
    let queue = call(&mut room, "queue", &Value::Null);
    assert_eq!((&queue[0]["id"], &queue[0]["reason"]["by"]), (&json!("m.png"), &json!("user")));
    // Without a configuration it is a round of the reference's kind.
    let mut room = session(&scene(), &Value::Null);
    let preview = call(&mut room, "previewRound", &json!({"userMessage": "洛恩？"}));
    assert_eq!(preview, json!(step(&mut room, &json!({"type": "start", "userMessage": "洛恩？"}))));
}

#[test]
fn how_a_turn_came_about_is_stored_and_done_again() {
    let mut room = session(&scene(), &json!({"pauseMs": 0, "who": "director"}));
    let answers = [json!("Mira, 洛恩"), json!({"type": "fail", "code": "http_500"}), json!("雨停了。")];
    run(&mut room, &json!({"userMessage": "谁？"}), &answers);
    let chat = call(&mut room, "chat", &Value::Null);
    let turn = &chat["messages"][2]["extra"]["turn"];
    assert_eq!(
        turn,
        &json!({"attempt": "1.1.2.1", "reason": "director", "plan": ["m.png", "l.png"], "draws": []})
    );
    let outputs = step(&mut room, &json!({"type": "start", "kind": "regenerate"}));
    let requests = of(&outputs, "request");
    assert_eq!(requests[0]["speaker"], "m.png", "the plan again, also who failed; no director is asked");
    assert!(requests[0]["turn"].is_null());
    let planned: Vec<&Value> =
        of(&outputs, "round_plan")[0]["planned"].as_array().unwrap().iter().map(|p| &p["id"]).collect();
    assert_eq!(planned, [&json!("m.png"), &json!("l.png")]);
    assert_eq!(texts(&mut room).len(), 2);
}

#[test]
fn a_wrapped_reply_streams_its_text_only() {
    let whole = "```json\n{\"nextSpeaker\": \"Mira\", \"content\": \"他说：\\\"走\\u5427。\\\" \\ud83d\\ude00\\n洛恩点头。\"}\n```";
    for size in [1, 2, 3, 7, 1000] {
        let rounds = json!({"pauseMs": 0, "mode": "free_chat", "maxRounds": 1, "control": "json"});
        let mut room = session(&scene(), &rounds);
        let out = step(&mut room, &json!({"type": "start", "userMessage": "@塞拉菲娜"}));
        let id = out.last().unwrap()["id"].clone();
        let mut shown = String::new();
        let chars: Vec<char> = whole.chars().collect();
        for piece in chars.chunks(size) {
            let piece: String = piece.iter().collect();
            for o in step(&mut room, &json!({"type": "chunk", "request": id, "text": piece})) {
                shown.push_str(o["text"].as_str().unwrap_or(""));
            }
        }
        if size == 1 {
            assert!(shown.starts_with("他说：\"走吧。\" 😀"), "{shown}");
        }
        let out = step(&mut room, &json!({"type": "reply", "request": id}));
        shown.extend(of(&out, "token").iter().map(|o| o["text"].as_str().unwrap()));
        assert_eq!(shown, "他说：\"走吧。\" 😀\n洛恩点头。", "{size}");
        assert_eq!(of(&out, "message_done")[0]["text"], json!(shown));
        assert_eq!(out.last().unwrap()["turn"]["reason"], "nominated");
    }
}

#[test]
fn marks_are_never_shown() {
    for (whole, text) in [
        ("走吧。\n\n[next: Mira]", Some("走吧。")),
        ("走吧。\n[他笑了] 好。\nДа.\n【下一位：Mira】\n", Some("走吧。\n[他笑了] 好。\nДа.")),
        ("[pass]", None),
    ] {
        let rounds = json!({"pauseMs": 0, "mode": "free_chat", "maxRounds": 1, "control": "marks", "silence": "allow_skip"});
        let mut room = session(&scene(), &rounds);
        let out = step(&mut room, &json!({"type": "start", "userMessage": "@塞拉菲娜"}));
        let id = out.last().unwrap()["id"].clone();
        let mut shown = String::new();
        for c in whole.chars() {
            for o in step(&mut room, &json!({"type": "chunk", "request": id, "text": c.to_string()})) {
                shown.push_str(o["text"].as_str().unwrap_or(""));
                assert!(text.unwrap_or("").starts_with(&shown), "{shown:?} is never taken back");
            }
        }
        let out = step(&mut room, &json!({"type": "reply", "request": id}));
        shown.extend(of(&out, "token").iter().map(|o| o["text"].as_str().unwrap()));
        assert_eq!(shown, text.unwrap_or(""));
        match text {
            Some(text) => assert_eq!(of(&out, "message_done")[0]["text"], text),
            None => assert_eq!(of(&out, "role_skipped").len(), 1),
        }
    }
}

#[test]
fn half_an_object_is_kept_as_its_text() {
    let room_with = |answers: &[Value]| {
        let rounds = json!({"pauseMs": 0, "directed": "only", "control": "json"});
        let mut room = session(&scene(), &rounds);
        let out = step(&mut room, &json!({"type": "start", "userMessage": "@洛恩"}));
        let id = out.last().unwrap()["id"].clone();
        for answer in answers {
            let mut answer = answer.clone();
            answer["request"] = id.clone();
            step(&mut room, &answer);
        }
        texts(&mut room).pop().unwrap()
    };
    let begun = json!({"type": "chunk", "text": "{\"content\": \"雨停了，我们"});
    assert_eq!(room_with(&[begun.clone(), json!({"type": "abort", "keep": true})]), "洛恩: 雨停了，我们");
    assert_eq!(
        room_with(&[begun.clone(), json!({"type": "reply", "finish": "length"})]),
        "洛恩: 雨停了，我们"
    );
    // A line of another member ends the call in the middle of the object.
    let foreign = json!({"type": "chunk", "text": "走。\\nMira: I am here.\\n"});
    assert_eq!(room_with(&[begun, foreign, json!({"type": "reply"})]), "洛恩: 雨停了，我们走。");
}

#[test]
fn director_and_narrator_write_prompts_of_text_completion() {
    let mut scene = scene();
    scene["text"] = json!({});
    let rounds =
        json!({"pauseMs": 0, "who": "director", "narrator": {"id": "n", "name": "旁白", "interval": 1}});
    let mut room = session(&scene, &rounds);
    let outputs = run(
        &mut room,
        &json!({"userMessage": "塔怎么了？"}),
        &[json!("1. Mira"), json!("It burns."), json!("旁白：风停了。")],
    );
    let bodies: Vec<Value> = bodies(&outputs).iter().map(|b| serde_json::from_str(b).unwrap()).collect();
    let prompts: Vec<&str> = bodies.iter().map(|b| b["prompt"].as_str().unwrap()).collect();
    assert!(prompts[0].starts_with("You direct a group scene.") && prompts[0].contains("Рин: 塔怎么了？"));
    assert!(prompts[2].starts_with("You narrate a group scene") && prompts[2].contains("Mira: It burns."));
    assert!(!prompts[0].contains("Mira:\n") && bodies[0].get("messages").is_none());
    for key in ["max_tokens", "max_new_tokens", "n_predict", "num_predict"] {
        assert_eq!(bodies[0][key], json!(100), "{key}");
    }
    assert!(bodies[0].get("stop").is_none(), "a name on a line of its own ends no answer");
    assert_eq!(texts(&mut room)[1..], ["Рин: 塔怎么了？", "Mira: It burns.", "旁白: 风停了。"]);
    assert_eq!(types(&outputs).last(), Some(&"room_finished"));
}

#[test]
fn what_nothing_is_said_of_goes_by_the_profile() {
    let rounds = |profile: &str, rounds: Value| {
        let options = json!({"random": {"seed": 1}, "profile": profile, "rounds": rounds});
        let mut room =
            Session::new(&scene().to_string(), &options.to_string(), Vocabularies::default()).unwrap();
        call(&mut room, "snapshot", &Value::Null)["options"]["rounds"].clone()
    };
    // `room.rounds`
    let own = rounds("promptside", json!({}));
    assert_eq!(
        (&own["who"], &own["directed"], &own["repeatGuard"], &own["groupContext"]),
        (&json!("all"), &json!("first"), &json!(true), &json!(true))
    );
    let theirs = rounds("sillytavern", json!({}));
    assert_eq!(
        (&theirs["who"], &theirs["directed"], &theirs["repeatGuard"], &theirs["groupContext"]),
        (&json!("natural"), &json!("off"), &json!(false), &json!(false))
    );
    assert_eq!(
        rounds("sillytavern", json!({"preset": "free_chat"}))["directed"],
        "first",
        "a preset that is named counts"
    );
    // `room.calls`
    assert_eq!(
        (&own["crossTalk"]["match"], &theirs["crossTalk"]["match"]),
        (&json!("smart"), &json!("strict"))
    );
    assert_eq!(
        rounds("sillytavern", json!({"crossTalk": {"match": "smart"}}))["crossTalk"]["match"],
        "smart"
    );
    let called = |profile: &str| {
        let options = json!({"random": {"seed": 1}, "profile": profile, "rounds": {"preset": "single_round", "who": "mention", "pauseMs": 0, "directed": "off"}});
        let mut room =
            Session::new(&scene().to_string(), &options.to_string(), Vocabularies::default()).unwrap();
        step(&mut room, &json!({"type": "start", "userMessage": "我觉得@洛恩说得对"})).last().unwrap()["speaker"].clone()
    };
    assert_eq!((called("promptside"), called("sillytavern")), (json!("l.png"), json!("s.png")));
}
