//! The tail layout: what is the same for every speaker, then the history, then the speaker's own (spec 09 §24).

use promptside::api::{Session, Vocabularies};
use serde_json::{Value, json};

use crate::room_rounds::{bodies, call, run, scene, session, step, types};

const DIRECT: &str = "Write the next reply of the story.";

/// The scene with a main prompt that names nobody, a persona, and lorebooks.
fn shared_scene() -> Value {
    let mut scene = scene();
    scene["preset"]["prompts"] = json!([
        {"identifier": "main", "content": DIRECT, "role": "system", "system_prompt": true},
        {"identifier": "jailbreak", "content": "Stay in character as {{char}}.", "role": "system", "system_prompt": true},
        {"identifier": "world", "content": "世界：雨夜。", "role": "system"},
        {"identifier": "mine", "content": "Голос {{char}}.", "role": "system"},
        {"identifier": "chatHistory", "marker": true, "system_prompt": true},
        {"identifier": "charDescription", "marker": true, "system_prompt": true},
        {"identifier": "scenario", "marker": true, "system_prompt": true},
        {"identifier": "personaDescription", "marker": true, "system_prompt": true},
        {"identifier": "worldInfoBefore", "marker": true, "system_prompt": true},
        {"identifier": "dialogueExamples", "marker": true, "system_prompt": true},
    ]);
    let order: Vec<Value> = [
        "main",
        "worldInfoBefore",
        "mine",
        "world",
        "personaDescription",
        "charDescription",
        "scenario",
        "dialogueExamples",
        "chatHistory",
        "jailbreak",
    ]
    .iter()
    .map(|id| json!({"identifier": id, "enabled": true}))
    .collect();
    scene["preset"]["prompt_order"] = json!([{"character_id": 100_001, "order": order}]);
    scene["persona"]["description"] = json!("Рин ищет ключ 🗝.");
    scene["characters"][1]["card"]["mes_example"] = json!("<START>\n{{user}}: 走？\n{{char}}: 走。");
    scene["characters"][1]["card"]["scenario"] = json!("{{char}}在塔下。");
    scene["lorebooks"] = json!({"global": ["世界书"], "books": {"世界书": {"entries": {
        "0": {"uid": 0, "key": [], "constant": true, "content": "塔有三层。", "position": 0, "order": 100},
        "1": {"uid": 1, "key": [], "constant": true, "content": "{{char}}怕水。", "position": 0, "order": 90},
    }}}});
    scene
}

fn tail(more: &Value) -> Value {
    let mut rounds = json!({"pauseMs": 0, "layout": "tail"});
    rounds.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    rounds
}

fn messages(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    body["messages"].as_array().unwrap().clone()
}

fn requests(outputs: &[Value]) -> Vec<&Value> {
    outputs.iter().filter(|o| o["type"] == "request").collect()
}

fn text(message: &Value) -> &str {
    message["content"].as_str().unwrap()
}

#[test]
fn a_change_of_speaker_changes_the_end_only() {
    let mut room = session(&shared_scene(), &tail(&json!({})));
    let replies = ["等等，别进去。", "雨要停了。", "The river rises."].map(|t| json!(t));
    let outputs = run(&mut room, &json!({"userMessage": "走吗？"}), &replies);
    let (bodies, requests) = (bodies(&outputs), requests(&outputs));
    assert_eq!(bodies.len(), 3);
    let lists: Vec<Vec<Value>> = bodies.iter().map(|b| messages(b)).collect();
    for (i, list) in lists.iter().enumerate() {
        let (name, others) = [
            ("塞拉菲娜", ["老猎人", "SECRETS"]),
            ("洛恩", ["守护者", "SECRETS"]),
            ("Mira", ["守护者", "老猎人"]),
        ][i];
        let newest = ["Рин: 走吗？", "塞拉菲娜: 等等，别进去。", "洛恩: 雨要停了。"][i];
        let at =
            list.iter().position(|m| text(m) == newest).expect("the newest message stands in the history");
        let before: String = list[..=at].iter().map(|m| text(m).to_owned() + "\n").collect();
        assert!(
            before.starts_with(DIRECT) && before.contains("世界：雨夜。") && before.contains("塔有三层。")
        );
        assert!(before.contains("Рин ищет ключ") && before.contains("Рин: Привет."));
        for own in [format!("Голос {name}."), format!("{name}怕水。"), format!("[Character: {name}]")]
        {
            assert!(!before.contains(&own), "{own} stands before the history");
        }
        // One message with everything that is the speaker's own, but for the lines of examples.
        let own: String = list[at + 1..].iter().map(|m| text(m).to_owned() + "\n").collect();
        assert!(text(&list[at + 1]).starts_with(&format!("[Character: {name}]\n")), "{list:?}");
        for mine in ["Stay in character as", "怕水。", "Голос", "[Group scene]"] {
            assert!(own.contains(mine), "{mine} of {name}: {own}");
        }
        assert!(others.iter().all(|o| !own.contains(o) && !before.contains(o)), "no card of another member");
        if i > 0 {
            let last = &lists[i - 1];
            let newest = ["", "Рин: 走吗？", "塞拉菲娜: 等等，别进去。"][i];
            let shared = last.iter().position(|m| text(m) == newest).unwrap() + 1;
            assert_eq!(last[..shared], list[..shared], "all messages before the card are equal");
            let reuse = &requests[i]["report"]["reuse"];
            assert_eq!(reuse["messages"], json!(shared));
            assert!(reuse["tokens"].as_i64().unwrap() > 0 && reuse["reset"].is_null());
            assert_eq!(reuse["first_difference"]["index"], json!(shared));
        }
        let report = &requests[i]["report"];
        let total = report["budget"]["used"].as_i64().unwrap() + report["budget"]["left"].as_i64().unwrap();
        assert_eq!(json!(total), report["budget"]["limit"]);
        let classes: i64 =
            report["budget"]["by_class"].as_object().unwrap().values().filter_map(Value::as_i64).sum();
        assert_eq!(json!(classes), report["budget"]["used"], "the classes add up");
    }
    assert!(
        text(lists[1].last().unwrap()).contains("[Group scene]"),
        "the context of the room is last: {:?}",
        lists[1]
    );
}

#[test]
fn classic_layout_stays_and_reuses_less() {
    let reused = |layout: &str| {
        let mut room = session(&shared_scene(), &json!({"pauseMs": 0, "layout": layout}));
        let outputs = run(
            &mut room,
            &json!({"userMessage": "走吗？"}),
            &[json!("一。"), json!("二。"), json!("Three.")],
        );
        let last = requests(&outputs).pop().unwrap()["report"]["reuse"]["tokens"].as_i64().unwrap();
        (last, bodies(&outputs)[1].clone())
    };
    let ((tail, _), (classic, body)) = (reused("tail"), reused("classic"));
    assert!(tail > classic * 2, "{tail} {classic}");
    let list = messages(&body);
    let card = list.iter().position(|m| text(m).contains("老猎人")).unwrap();
    let newest = list.iter().position(|m| text(m).contains("走吗？")).unwrap();
    assert!(card < newest && !body.contains("[Character:"));
}

#[test]
fn parts_may_stay_apart_and_a_preview_is_what_is_sent() {
    let mut room = session(&shared_scene(), &tail(&json!({"tailJoin": false, "groupContext": false})));
    let built = call(&mut room, "buildRequest", &json!({"speaker": "洛恩", "userMessage": "@洛恩"}));
    let outputs = run(&mut room, &json!({"userMessage": "@洛恩"}), &[]);
    assert_eq!(built["request"]["body"], outputs.last().unwrap()["request"]["body"]);
    let list = messages(&bodies(&outputs)[0]);
    let heading = list.iter().position(|m| text(m) == "[Character: 洛恩]").unwrap();
    let rest: Vec<&str> = list[heading + 1..].iter().map(text).collect();
    let at = |part: &str| {
        rest.iter().position(|t| t.contains(part)).unwrap_or_else(|| panic!("{part} in {rest:?}"))
    };
    let order =
        ["老猎人。", "洛恩在塔下。", "Голос 洛恩.", "洛恩怕水。", "Stay in character as 洛恩."].map(at);
    assert!(order.is_sorted(), "{order:?} {rest:?}");
    assert!(rest.contains(&"洛恩: 走。"), "examples are the speaker's own: {rest:?}");
}

#[test]
fn what_all_share_is_shared_though_a_card_has_it() {
    let mut scene = shared_scene();
    scene["chat"]["metadata"] = json!({"scenario": "大家都在塔下。"});
    let mut room = session(&scene, &tail(&json!({})));
    let outputs = run(&mut room, &json!({"userMessage": "走吗？"}), &[]);
    let list = messages(&bodies(&outputs)[0]);
    let at = |part: &str| list.iter().position(|m| text(m).contains(part)).unwrap();
    assert!(at("大家都在塔下") < at("走吗？") && at("走吗？") < at("守护者"));
    // A note at a depth stays there when all share it, and goes behind the history when it names the speaker.
    let mut scene = shared_scene();
    scene["extensionPrompts"] = json!([
        {"key": "общий", "value": "Тихо.", "position": 1, "depth": 1, "role": 0},
        {"key": "own", "value": "Думай как {{char}}.", "position": 1, "depth": 1, "role": 0},
    ]);
    let mut room = session(&scene, &tail(&json!({})));
    let outputs = run(&mut room, &json!({"userMessage": "走吗？"}), &[]);
    let list = messages(&bodies(&outputs)[0]);
    let at = |part: &str| list.iter().position(|m| text(m).contains(part)).unwrap();
    assert!(at("Тихо.") < at("走吗？") && at("走吗？") < at("Думай как 塞拉菲娜."), "{list:?}");
}

#[test]
fn the_history_begins_anew_seldom() {
    let mut scene = shared_scene();
    scene["preset"]["openai_max_context"] = json!(1500);
    scene["preset"]["openai_max_tokens"] = json!(100);
    let starts = |layout: &str| {
        let mut room = session(
            &scene,
            &json!({"pauseMs": 0, "layout": layout, "directed": "only", "repeatGuard": false}),
        );
        let mut begins: Vec<u64> = Vec::new();
        for n in 0..40 {
            let speaker = ["洛恩", "Mira"][n % 2];
            let said = format!("@{speaker} {n} {}", "the long rain over the harbour ".repeat(2));
            let outputs = run(
                &mut room,
                &json!({"userMessage": said}),
                &[json!(format!("{n} {}", "yes and no ".repeat(6)))],
            );
            let report = &requests(&outputs)[0]["report"];
            begins.push(report["cut"]["first_included_index"].as_u64().unwrap());
            assert!(report["budget"]["left"].as_i64().unwrap() >= 0);
        }
        assert!(*begins.last().unwrap() > 20, "the chat outgrew its room: {begins:?}");
        begins.windows(2).filter(|w| w[0] != w[1]).count()
    };
    let (tail, classic) = (starts("tail"), starts("classic"));
    assert!(tail * 3 <= classic, "{tail} breaks against {classic}");
}

#[test]
fn text_completion_has_a_tail_too() {
    let mut scene = scene();
    scene["text"] = json!({
        "power_user": {
            "context": {"story_string": "{{#if system}}{{system}}\n{{/if}}{{#if description}}{{description}}\n{{/if}}{{#if persona}}{{persona}}\n{{/if}}"},
            "sysprompt": {"enabled": true, "content": "Write {{char}}'s next reply."},
        },
    });
    scene["persona"]["description"] = json!("Рин ищет ключ.");
    let prompts = |layout: &str| -> Vec<String> {
        let mut room = session(&scene, &json!({"pauseMs": 0, "layout": layout}));
        let outputs =
            run(&mut room, &json!({"userMessage": "走吗？"}), &[json!("等等。"), json!("雨停了。")]);
        let prompt = |body: &String| {
            let body: Value = serde_json::from_str(body).unwrap();
            body["prompt"].as_str().unwrap().to_owned()
        };
        bodies(&outputs).iter().map(prompt).collect()
    };
    let common = |a: &str, b: &str| {
        a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect::<String>()
    };
    let tail = prompts("tail");
    assert!(tail[0].contains("[Character: 塞拉菲娜]") && tail[1].contains("[Character: 洛恩]"), "{tail:?}");
    assert!(common(&tail[0], &tail[1]).contains("Рин: 走吗？"), "{tail:?}");
    assert!(tail[1].find("老猎人").unwrap() > tail[1].find("等等。").unwrap());
    assert!(!tail[1].contains("守护者"));
    let classic = prompts("classic");
    assert!(!common(&classic[0], &classic[1]).contains("走吗？"));
}

#[test]
fn the_reference_has_no_tail() {
    let options = json!({"random": {"seed": 1}, "profile": "sillytavern", "rounds": {"layout": "tail"}});
    let error =
        Session::new(&scene().to_string(), &options.to_string(), Vocabularies::default()).err().unwrap();
    assert_eq!((error.code().as_str(), error.path()), ("option.unknown", "rounds.layout"));
}

#[test]
fn members_are_told_of_each_other_in_a_line() {
    let mut scene = scene();
    scene["characters"][0]["card"]["description"] = json!("{{char}}守着林地，  {{user}}的朋友。\n第二段。");
    let blurbs = json!({"texts": {"m.png": "A sailor from the south."}, "chars": 14});
    let mut room = session(&scene, &json!({"pauseMs": 0, "blurbs": blurbs}));
    let outputs =
        run(&mut room, &json!({"userMessage": "走吗？"}), &[json!("一。"), json!("二。"), json!("Three.")]);
    let bodies = bodies(&outputs);
    assert!(
        bodies[1].contains("[Also present]\\n塞拉菲娜: 塞拉菲娜守着林地， Рин的…\\nMira: A sailor from …"),
        "{}",
        bodies[1]
    );
    assert!(!bodies[1].contains("SECRETS"));
    assert!(bodies[0].contains("[Also present]\\n洛恩: 老猎人。\\nMira: A sailor from …"));
    let mut room = session(&scene, &tail(&json!({"blurbs": {}})));
    let outputs = run(&mut room, &json!({"userMessage": "走吗？"}), &[json!("一。"), json!("二。")]);
    let lists: Vec<Vec<Value>> = crate::room_rounds::bodies(&outputs).iter().map(|b| messages(b)).collect();
    let roster =
        |list: &[Value]| list.iter().position(|m| text(m).starts_with("[Present]\n塞拉菲娜: ")).unwrap();
    assert_eq!(roster(&lists[0]), roster(&lists[1]));
    assert_eq!(lists[0][roster(&lists[0])], lists[1][roster(&lists[1])], "the same for everybody");
    assert!(types(&step(&mut room, &json!({"type": "abort"}))).contains(&"room_finished"));
}

#[test]
fn what_a_provider_puts_on_top_is_the_same_for_everybody() {
    for (source, key) in [("claude", "system"), ("makersuite", "systemInstruction")] {
        let mut scene = shared_scene();
        scene["preset"]["chat_completion_source"] = json!(source);
        scene["preset"]["claude_model"] = json!("claude-sonnet-4-5");
        scene["preset"]["google_model"] = json!("gemini-2.5-pro");
        scene["preset"]["use_sysprompt"] = json!(true);
        let mut room = session(&scene, &tail(&json!({})));
        let outputs =
            run(&mut room, &json!({"userMessage": "走吗？"}), &[json!("等等。"), json!("雨停了。")]);
        let all: Vec<Value> = bodies(&outputs).iter().map(|b| serde_json::from_str(b).unwrap()).collect();
        assert!(all[0][key].to_string().contains(DIRECT), "{source}: {}", all[0]);
        assert_eq!(all[0][key], all[1][key], "{source}");
        assert!(!all[1][key].to_string().contains("洛恩怕水"));
        let turns = all[1].get("messages").or_else(|| all[1].get("contents")).unwrap().as_array().unwrap();
        let last = turns.last().unwrap();
        assert_eq!(last["role"], "user", "{source}");
        assert!(
            last.to_string().contains("[Character: 洛恩]") && last.to_string().contains("老猎人"),
            "{source}: {last}"
        );
        assert!(!turns[0].to_string().contains("老猎人"));
    }
}
