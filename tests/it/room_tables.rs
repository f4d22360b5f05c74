//! The tables of spec 09, row by row: the rest of appendix A, inputs by state, the end of a round, defaults.

use promptside::api::{Session, Vocabularies};
use serde_json::{Value, json};

use crate::room_rounds::{bodies, call, run, scene, session};
use crate::rooms::{room, story};

fn say(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|t| json!({"text": t})).collect()
}

#[test]
fn the_rest_of_appendix_a() {
    let only = |more: Value| -> Value {
        let mut config = json!({"directed": "only"});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let user = |text: &str| json!({"user_message": text});
    let rows: Vec<(&str, Value, Value, Vec<Value>, &str)> = vec![
        (
            "17: a mention inside a cross-talk reply",
            json!({"who": "round_robin", "max_messages": 9, "cross_talk": {"enabled": true}}),
            json!({}),
            say(&["问@Mira吧", "Ask @阿岚 then.", "x"]),
            "[S] S:scheduled +S x[M|] M:cross_talk<S +M =round_complete",
        ),
        (
            "18: two of four",
            json!({"who": "round_robin", "max_messages": 9, "cross_talk": {"enabled": true, "max": 2}}),
            json!({}),
            say(&["@Mira @阿岚 @洛恩 @塞拉菲娜 来", "Here.", "来了。"]),
            "[S] S:scheduled +S x[MA|L] M:cross_talk<S +M A:cross_talk<S +A =round_complete",
        ),
        (
            "19: who failed and is called",
            only(json!({"cross_talk": {"enabled": true}, "max_messages": 9})),
            user("@Mira @塞拉菲娜"),
            vec![json!({"fail": "network"}), json!({"text": "@Mira 你呢？"}), json!({"text": "Back again."})],
            "[MS] M:mentioned<user !M:network S:mentioned<user +S x[M|] M:cross_talk<S +M =target_only",
        ),
        (
            "21: one absent",
            json!({"absent": ["M"]}),
            user("大家好"),
            say(&["一。", "二。", "三。"]),
            "[SLA] S:scheduled +S L:scheduled +L A:scheduled +A =round_complete",
        ),
        (
            "23, 24: silent when spoken to, and when not",
            json!({"absent": ["L", "A"]}),
            user("@Mira 你说"),
            vec![json!({"skip": true}), json!({"skip": true}), json!({"skip": true})],
            "[MS] M:mentioned<user M:mentioned<user -M:no_new_value S:scheduled -S:no_new_value =round_complete",
        ),
        (
            "23: unless it may",
            json!({"absent": ["L", "A", "S"], "silence": "allow_skip"}),
            user("@Mira 你说"),
            vec![json!({"skip": true})],
            "[M] M:mentioned<user -M:no_new_value =round_complete",
        ),
        (
            "25: a failure, and the next",
            json!({"absent": ["M", "A"]}),
            json!({}),
            vec![json!({"fail": "http_429"}), json!({"timeout": true})],
            "[SL] S:scheduled !S:http_429 L:scheduled !L:timeout =round_complete",
        ),
        (
            "26: target and mention",
            json!({}),
            json!({"user_message": "@阿岚 也听着", "target": "L"}),
            say(&["一。", "二。", "三。", "Four."]),
            "[LASM] L:mentioned<user +L A:mentioned<user +A S:scheduled +S M:scheduled +M =round_complete",
        ),
        (
            "28: only the addressed, whoever is named",
            only(json!({"mode": "free_chat"})),
            user("@阿岚 你来"),
            vec![json!({"text": "好。", "next": "Mira"})],
            "[A] A:mentioned<user +A =target_only",
        ),
        (
            "30, 31: a successor in the round, and one who had her turn",
            json!({"mode": "free_chat", "absent": ["A"]}),
            json!({}),
            vec![
                json!({"text": "一。", "next": "Mira"}),
                json!({"text": "Two.", "next": "塞拉菲娜"}),
                json!({"text": "三。"}),
                json!({"text": "四。"}),
                json!({"text": "五。"}),
                json!({"text": "Six."}),
            ],
            "[SLM] S:scheduled +S [ML] M:nominated<S +M L:scheduled +L [SLM] S:nominated<M +S L:scheduled +L M:scheduled +M =max_rounds",
        ),
        (
            "32, 33: silent but naming; naming nobody",
            json!({"mode": "free_chat", "max_rounds": 1, "absent": ["A"]}),
            json!({}),
            vec![
                json!({"skip": true, "next": "Mira"}),
                json!({"text": "Two.", "next": "Кто-то"}),
                json!({"text": "三。", "next": "洛恩"}),
            ],
            "[SLM] S:scheduled -S:no_new_value [ML] M:nominated<S +M L:scheduled +L =max_rounds",
        ),
        (
            "34: as many as allowed, in the second round",
            json!({"mode": "free_chat", "max_messages": 4, "max_rounds": 5, "absent": ["A"], "repeat_guard": false}),
            json!({}),
            say(&["1", "2", "3", "4"]),
            "[SLM] S:scheduled +S L:scheduled +L M:scheduled +M [SLM] S:scheduled +S unreached[LM] =max_messages",
        ),
        (
            "35: two rounds without a word",
            json!({"mode": "free_chat", "max_rounds": 9, "absent": ["A", "M"]}),
            json!({}),
            vec![json!({"skip": true}), json!({"fail": "x"}), json!({"skip": true}), json!({"skip": true})],
            "[SL] S:scheduled -S:no_new_value L:scheduled !L:x [SL] S:scheduled -S:no_new_value L:scheduled -L:no_new_value =idle",
        ),
        (
            "idle by nominations",
            json!({"mode": "free_chat", "max_rounds": 9, "max_messages": 9, "idle_by": "nominations", "idle_limit": 1, "absent": ["A", "M"]}),
            json!({}),
            vec![
                json!({"text": "一。", "next": "洛恩"}),
                json!({"text": "二。"}),
                json!({"text": "3."}),
                json!({"text": "4."}),
            ],
            "[SL] S:scheduled +S L:nominated<S +L [SL] S:scheduled +S L:scheduled +L =idle",
        ),
        (
            "38: the host first and last",
            json!({"mode": "host_mode", "host": "M", "host_closing": true}),
            user("@阿岚 说说"),
            say(&["Welcome.", "先过河。", "我守着。", "听你们的。", "So be it."]),
            "[MASL] M:host +M A:mentioned<user +A S:scheduled +S L:scheduled +L M:host_closing +M =host_closed",
        ),
        (
            "39: nothing to add; and no last word when nobody else spoke",
            json!({"mode": "host_mode", "host_closing": true, "absent": ["M", "A"], "max_rounds": 1}),
            json!({}),
            vec![json!({"text": "一。"}), json!({"text": "二。"}), json!({"skip": true})],
            "[SL] S:host +S L:scheduled +L S:host_closing -S:no_new_value =host_silent",
        ),
        (
            "no guest spoke",
            json!({"mode": "host_mode", "host_closing": true, "absent": ["M", "A"]}),
            json!({}),
            vec![json!({"text": "一。"}), json!({"skip": true})],
            "[SL] S:host +S L:scheduled -L:no_new_value =max_rounds",
        ),
        (
            "44, 45: the same twice; the same from another",
            json!({"absent": ["M", "A"]}),
            json!({"history": [{"sender": "S", "text": "我在这里等你回来。"}]}),
            say(&["我在这里等你回来！", "我在这里，等你回来。", "我在这里等你回来。"]),
            "[SL] S:scheduled S:scheduled -S:similar_to_last L:scheduled +L =round_complete",
        ),
        (
            "46, 47: a rule broken once, and twice",
            json!({"absent": ["M", "A"], "validation": {"forbidden": ["作为AI"]}}),
            json!({}),
            say(&["作为AI，我不能", "好。", "作为AI", "作为AI！"]),
            "[SL] S:scheduled S:scheduled +S L:scheduled L:scheduled !L:validation_failed =round_complete",
        ),
        (
            "50: stopped in the middle, kept",
            json!({}),
            json!({}),
            vec![json!({"text": "一。"}), json!({"abort": true, "partial": "我正要 "})],
            "[SLMA] S:scheduled +S L:scheduled +L unreached[MA] =aborted",
        ),
        (
            "50: with rules nothing unchecked is kept",
            json!({"validation": {}}),
            json!({}),
            vec![json!({"abort": true, "partial": "我正要"})],
            "[SLMA] S:scheduled unreached[SLMA] =aborted",
        ),
        (
            "52, 53: refused; late",
            only(json!({})),
            user("@洛恩"),
            vec![
                json!({"start": {"user_message": "另一句"}}),
                json!({"stale": "1.1.0.1"}),
                json!({"text": "好。"}),
            ],
            "[L] L:mentioned<user refused:room_busy ignored +L =target_only",
        ),
        (
            "54: called meanwhile",
            json!({}),
            user("出发"),
            vec![
                json!({"user_message": "等等，@阿岚 呢？"}),
                json!({"text": "好。"}),
                json!({"text": "在。"}),
                json!({"text": "走。"}),
                json!({"text": "Go."}),
            ],
            "[SLMA] S:scheduled +S [ALM] A:mentioned<user +A L:scheduled +L M:scheduled +M =round_complete",
        ),
        (
            "called meanwhile after her turn: she leads the next round",
            json!({"mode": "free_chat", "absent": ["A", "M"], "repeat_guard": false}),
            json!({}),
            vec![
                json!({"user_message": "@塞拉菲娜 再说"}),
                json!({"text": "1"}),
                json!({"text": "2"}),
                json!({"text": "3"}),
                json!({"text": "4"}),
            ],
            "[SL] S:scheduled +S L:scheduled +L [SL] S:nominated<user +S L:scheduled +L =max_rounds",
        ),
        (
            "56: typing ends auto mode after the round",
            json!({"auto": {"enabled": true}, "absent": ["M", "A", "L"], "repeat_guard": false}),
            json!({}),
            vec![
                json!({"text": "一"}),
                json!({"elapsed": true}),
                json!({"typing": true}),
                json!({"text": "二"}),
            ],
            "[S] S:scheduled +S =round_complete wait:auto [S] S:scheduled +S =round_complete",
        ),
        (
            "auto mode has a limit",
            json!({"auto": {"enabled": true, "max_turns": 1}, "absent": ["M", "A", "L"], "repeat_guard": false}),
            json!({}),
            vec![
                json!({"text": "一"}),
                json!({"elapsed": true}),
                json!({"text": "二"}),
                json!({"elapsed": true}),
            ],
            "[S] S:scheduled +S =round_complete wait:auto [S] S:scheduled +S =round_complete ignored",
        ),
        (
            "57: the addressed, then the picks",
            json!({"who": "director", "director": {"on_mention": "add"}}),
            user("塔？@阿岚"),
            vec![
                json!({"text": "{\"speakers\":[\"Mira\",\"洛恩\"]}"}),
                json!({"text": "烧了。"}),
                json!({"text": "An hour ago."}),
                json!({"text": "我看见了。"}),
            ],
            "director[SLMA] d[ML] [AML] A:mentioned<user +A M:director +M L:director +L =round_complete",
        ),
        (
            "58: no request for who is called",
            json!({"who": "director"}),
            user("@阿岚 塔？"),
            say(&["烧了。"]),
            "d[A] [A] A:mentioned<user +A =round_complete",
        ),
        (
            "59: of no use; the list instead; the last plan instead",
            json!({"who": "director", "mode": "free_chat", "director": {"fallback": "last_plan"}, "allow_self_responses": true, "repeat_guard": false}),
            user("谁？"),
            say(&["2", "一", "nobody", "二"]),
            "director[SLMA] d[L] [L] L:director +L director[SLMA] d[L] [L] L:fallback +L =max_rounds",
        ),
        (
            "61: hand-off, once",
            json!({"handoff": "next", "absent": ["M"]}),
            json!({}),
            vec![
                json!({"text": "往东。", "cut": {"offset": 3, "member": "A"}}),
                json!({"text": "往西。", "cut": {"offset": 3, "member": "S"}}),
                json!({"text": "听你们的。"}),
            ],
            "[SLA] S:scheduled +S S>A [AL] A:handoff<S +A L:scheduled +L =round_complete",
        ),
        (
            "the pair that goes to and fro",
            json!({"mode": "free_chat", "absent": ["M", "A"], "max_rounds": 4, "max_messages": 9, "max_consecutive_pair": 2, "repeat_guard": false, "idle_limit": 1}),
            json!({}),
            say(&["1", "2", "3", "4"]),
            "[SL] S:scheduled +S L:scheduled +L [SL] S:scheduled +S -L:pair_limit [SL] S:scheduled +S -L:pair_limit [SL] S:scheduled",
        ),
    ];
    for (name, config, more, script, wanted) in rows {
        let got = story(&room(&config, &more, &json!(script)));
        assert!(got.starts_with(wanted), "{name}\n wanted {wanted}\n    got {got}");
    }
}

#[test]
fn inputs_fit_states() {
    // Spec 09 §11: what a state does not take is an error or stale, and changes nothing.
    let after = |prelude: Vec<Value>, config: Value, input: Value| {
        let mut script = prelude;
        script.push(input);
        let out = room(&config, &json!({"user_message": "走"}), &json!(script));
        out["steps"].as_array().unwrap().last().unwrap().clone()
    };
    let one = json!({"absent": ["L", "M", "A"]});
    let done = || vec![json!({"text": "一。"})];
    assert_eq!(after(done(), one.clone(), json!({"abort": true})), json!({"error": "unexpected_input"}));
    assert_eq!(
        after(done(), one.clone(), json!({"stale": "1.1.1.1"})),
        json!({"ignored": {"reason": "stale", "request": "1.1.1.1"}})
    );
    assert!(
        after(done(), one.clone(), json!({"user_message": "还有"}))["request"].is_object(),
        "it starts anew"
    );
    let paused = json!({"pause_ms": 100});
    assert_eq!(after(done(), paused.clone(), json!({"stale": "1.1.1.1"}))["ignored"]["request"], "1.1.1.1");
    assert_eq!(after(done(), paused.clone(), json!({"elapsed": true}))["request"]["id"], "1.1.2.1");
    assert_eq!(
        after(done(), paused, json!({"typing": true}))["wait"]["why"],
        "pause",
        "typing does nothing else"
    );
    let auto = json!({"absent": ["L", "M", "A"], "auto": {"enabled": true}});
    assert_eq!(after(done(), auto.clone(), json!({"typing": true}))["done"]["reason"], "round_complete");
    assert_eq!(after(done(), auto.clone(), json!({"abort": true}))["done"]["reason"], "round_complete");
    assert_eq!(
        after(done(), auto.clone(), json!({"start": {"user_message": "x"}})),
        json!({"refused": "room_busy"})
    );
    assert_eq!(after(done(), auto, json!({"user_message": "x"}))["request"]["id"], "2.1.1.1");
    let director = json!({"who": "director"});
    let last = after(
        vec![json!({"text": "Mira"}), json!({"text": "Yes."})],
        director.clone(),
        json!({"typing": true}),
    );
    assert!(last["done"].is_object());
    assert_eq!(
        after(Vec::new(), director, json!({"abort": true}))["done"]["reason"],
        "aborted",
        "before any round was announced"
    );
}

#[test]
fn events_come_in_order() {
    // Spec 09 §16: round_started < round_plan < … < round_stats < closing turn < room_finished; draft_reset before what says why.
    let config = json!({"mode": "host_mode", "host_closing": true, "validation": {"forbidden": ["作为AI"]}});
    let script = vec![
        json!({"text": "作为AI"}),
        json!({"text": "好。"}),
        json!({"fail": "x"}),
        json!({"skip": true}),
        json!({"text": "四。"}),
        json!({"text": "五。"}),
    ];
    let out = room(&config, &json!({}), &json!(script));
    let kinds: Vec<&str> =
        out["steps"].as_array().unwrap().iter().filter_map(|s| s["emit"]["type"].as_str()).collect();
    assert_eq!(
        kinds,
        [
            "round_started",
            "round_plan",
            "draft_reset",
            "message_done",
            "draft_reset",
            "error",
            "draft_reset",
            "role_skipped",
            "message_done",
            "round_stats",
            "message_done",
            "room_finished",
        ]
    );
    let stats = out["steps"].as_array().unwrap().iter().find(|s| s["emit"]["type"] == "round_stats").unwrap();
    assert_eq!(
        stats["emit"],
        json!({"type": "round_stats", "round": 1, "spoke": ["S", "A"], "skipped": ["M"], "failed": ["L"], "unreached": []})
    );
}

#[test]
fn defaults_of_the_configuration() {
    // Spec 09 §12.
    let options = json!({"random": {"seed": 1}, "rounds": {}});
    let mut room = Session::new(&scene().to_string(), &options.to_string(), Vocabularies::default()).unwrap();
    let have = call(&mut room, "snapshot", &Value::Null)["options"]["rounds"].clone();
    let want = json!({
        "mode": "single_round", "who": "all", "directed": "first", "mentionOrder": "at", "host": null, "hostClosing": false, "maxRounds": null,
        "maxMessages": null, "idleLimit": 2, "idleBy": "messages", "continueOn": "always", "rotate": false, "silence": "must_reply_if_mentioned",
        "control": "none", "crossTalk": {"enabled": false, "max": 5, "match": "smart", "everyone": true}, "handoff": "off", "repeatGuard": true,
        "validation": null, "maxAttempts": 4, "pauseMs": 200, "onBusy": "refuse", "onUserMessage": "insert",
        "auto": {"enabled": false, "delayMs": 5000, "maxTurns": null},
        "director": {"max": 3, "depth": 10, "briefChars": 200, "lineChars": 400, "onMention": "skip", "fallback": "natural", "omniscient": true, "timeoutMs": 30000},
        "narrator": null, "timeoutMs": null, "layout": "classic", "tailJoin": true, "lowWater": 0.75, "maxConsecutivePair": null, "blurbs": null,
    });
    for (key, value) in want.as_object().unwrap() {
        assert_eq!(&have[key], value, "{key}");
    }
}

#[test]
fn a_whisper_is_heard_by_whom_it_is_for() {
    // Appendix A 65.
    let mut room =
        session(&scene(), &json!({"pauseMs": 0, "presence": {"enabled": true}, "groupContext": false}));
    call(
        &mut room,
        "editChat",
        &json!({"append": [{"name": "Рин", "is_user": true, "mes": "（耳语）钥匙在井里。", "present": ["l.png"]}]}),
    );
    let outputs =
        run(&mut room, &json!({"userMessage": "走吧。"}), &[json!("一。"), json!("二。"), json!("Three.")]);
    let heard: Vec<bool> = bodies(&outputs).iter().map(|b| b.contains("钥匙在井里")).collect();
    assert_eq!(heard, [false, true, false]);
    let chat = call(&mut room, "chat", &Value::Null);
    assert_eq!(
        chat["messages"][2]["present"],
        json!(["s.png", "l.png", "m.png"]),
        "what follows is for the scene again"
    );
}
