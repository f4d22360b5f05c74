//! The published examples of spec 02 and 05, and both sides of every `prompt.*` switch.

use promptside::Code;
use promptside::host::{Dice, Host};
use promptside::models::{Fields, Framing, Model, Source};
use promptside::parts::{Kind, Shares};
use promptside::profile::Profile;
use promptside::scene::Scene;
use promptside::tokens::{ByScript, CodePoints, Count};
use promptside::turn::{self, Ask, Quiet, Turn, TurnOptions};
use serde_json::{Value, json};

use crate::messages::O200k;

/// A scene with `User` and `Alice`, an empty preset and room enough; `over` is laid over it, objects key by key.
fn scene(over: &Value) -> Scene {
    fn lay(base: &mut Value, over: &Value) {
        match (base, over) {
            (Value::Object(b), Value::Object(o)) => {
                for (key, value) in o {
                    lay(b.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
            (b, o) => *b = o.clone(),
        }
    }
    let mut base = json!({
        "characters": [{"avatar": "alice.png", "card": {"data": {"name": "Alice"}}}],
        "persona": {"name": "User"},
        "preset": {
            "chat_completion_source": "custom", "custom_model": "m", "openai_max_context": 100_000, "openai_max_tokens": 100,
            "prompts": [{"identifier": "main", "role": "system", "system_prompt": true, "content": "MAIN"}],
        },
        "settings": {"power_user": {}, "extensions": {}, "world_info": {}},
    });
    lay(&mut base, over);
    Scene::from_value(&base).unwrap().0
}

fn alice(fields: &Value) -> Value {
    let mut data = json!({"name": "Alice"});
    data.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!([{"avatar": "alice.png", "card": {"data": data}}])
}

/// A message of Alice (`a`), the user (`u`) or the narrator (`n`).
fn m(who: &str, text: &str) -> Value {
    match who {
        "u" => json!({"name": "User", "is_user": true, "mes": text}),
        "n" => json!({"name": "System", "mes": text, "extra": {"type": "narrator"}}),
        _ => json!({"name": "Alice", "mes": text}),
    }
}

fn try_build(
    scene: &Scene,
    options: &TurnOptions,
    profile: &Profile,
    count: &dyn Count,
) -> Result<Turn, promptside::Error> {
    turn::build(scene, options, profile, count, &mut Host::new(Dice::seeded(1)))
}

fn build(scene: &Scene, options: &TurnOptions, profile: &Profile) -> Turn {
    try_build(scene, options, profile, &CodePoints).unwrap()
}

/// `role content` of every message, `<name>` in between where there is one.
fn lines(turn: &Turn) -> Vec<String> {
    let line = |m: &promptside::parts::Message| {
        let name = m.name.as_ref().map(|n| format!("<{n}> ")).unwrap_or_default();
        format!("{} {name}{}", m.role.as_str(), m.content_text())
    };
    turn.messages.iter().map(line).collect()
}

fn st(scene: &Scene) -> Vec<String> {
    lines(&build(scene, &TurnOptions::default(), &Profile::sillytavern()))
}

fn own(scene: &Scene) -> Vec<String> {
    lines(&build(scene, &TurnOptions::default(), &Profile::promptside()))
}

/// The `promptside` profile with one switch as ST has it.
fn without(switch: &str) -> Profile {
    let mut profile = Profile::promptside();
    profile.set(switch, false).unwrap();
    profile
}

fn of(kind: Kind) -> TurnOptions {
    TurnOptions { kind, ..TurnOptions::default() }
}

fn quiet(prompt: &str) -> TurnOptions {
    TurnOptions { quiet: Some(Quiet { prompt: prompt.into(), ..Quiet::default() }), ..of(Kind::Quiet) }
}

fn reasons(turn: &Turn, id: &str) -> Vec<String> {
    turn.report.omitted.iter().filter(|o| o.origin.id == id).map(|o| o.reason.clone()).collect()
}

/// What stands between the new-chat heading and the end.
fn history(lines: &[String]) -> Vec<&str> {
    let at = lines.iter().position(|l| l.starts_with("system [Start a new")).expect("a heading");
    lines[at + 1..].iter().map(String::as_str).collect()
}

#[test]
fn names_in_four_modes() {
    // Spec 02 §5 [run].
    let chat = json!([
        m("a", "Hi all"),
        m("u", "Hello"),
        {"name": "Old Persona", "is_user": true, "mes": "old"},
        {"name": "Old P2", "is_user": true, "mes": "old2", "force_avatar": "x"},
        {"name": "Carol", "mes": "sendas", "force_avatar": "x"},
        m("n", "narr"),
        {"name": "", "mes": "noname"},
    ]);
    let texts = |mode: i64, profile: &Profile| {
        let scene = scene(&json!({"chat": chat, "preset": {"names_behavior": mode}}));
        let turn = build(&scene, &TurnOptions::default(), profile);
        history(&lines(&turn)).iter().map(|l| l.split_once(' ').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    let st = Profile::sillytavern();
    assert_eq!(texts(-1, &st), ["Hi all", "Hello", "old", "old2", "sendas", "narr", "noname"]);
    assert_eq!(texts(0, &st), ["Hi all", "Hello", "old", "Old P2: old2", "Carol: sendas", "narr", "noname"]);
    let named = ["<Alice> Hi all", "<User> Hello", "<Old_Persona> old", "<Old_P2> old2", "<Carol> sendas"];
    assert_eq!(texts(1, &st)[..5], named);
    assert_eq!(texts(1, &st)[5..], ["<System> narr", "noname"]);
    let content = ["Alice: Hi all", "User: Hello", "Old Persona: old", "Old P2: old2", "Carol: sendas"];
    assert_eq!(texts(2, &st)[..5], content);
    assert_eq!(texts(2, &st)[5..], ["narr", ": noname"]);
    // F-25, F-26, F-27: whoever does not own the role is named, nothing is lost, nothing is empty.
    let own = Profile::promptside();
    let default = ["Hi all", "Hello", "Old Persona: old", "Old P2: old2", "Carol: sendas", "narr", "noname"];
    assert_eq!(texts(0, &own), default);
    let named = ["<Alice> Hi all", "<User> Hello", "Old Persona: old", "Old P2: old2", "<Carol> sendas"];
    assert_eq!(texts(1, &own)[..5], named);
    assert_eq!(texts(2, &own).last().unwrap(), "noname");
}

#[test]
fn narrators_in_groups_and_names_in_other_scripts() {
    let group = |mode: i64| {
        scene(&json!({
            "characters": [
                {"avatar": "s.png", "card": {"data": {"name": "塞拉菲娜"}}},
                {"avatar": "l.png", "card": {"data": {"name": "Лорн"}}},
            ],
            "group": {"members": ["s.png", "l.png"], "generation_mode": 0},
            "chatWith": "l.png",
            "chat": [m("n", "Rain."), {"name": "塞拉菲娜", "mes": "สวัสดี مرحبا"}, {"name": "Лорн", "mes": "😀 ミナ 안녕"}],
            "preset": {"names_behavior": mode},
        }))
    };
    let last = |lines: Vec<String>| lines[lines.len() - 4..lines.len() - 1].to_vec();
    let prefixed = ["assistant 塞拉菲娜: สวัสดี مرحبا", "assistant Лорн: 😀 ミナ 안녕"];
    assert_eq!(last(st(&group(0)))[0], "system System: Rain.");
    assert_eq!(last(st(&group(0)))[1..], prefixed);
    assert_eq!(last(own(&group(0)))[0], "system Rain.");
    assert_eq!(last(st(&group(1)))[1..], ["assistant <____> สวัสดี مرحبا", "assistant <____> 😀 ミナ 안녕"]);
    assert_eq!(last(own(&group(1)))[1..], prefixed);
    let turn = build(&group(1), &TurnOptions::default(), &Profile::promptside());
    assert_eq!(turn.report.warnings.iter().filter(|w| w.code == "name.collision").count(), 2);
}

#[test]
fn card_overrides() {
    // Spec 02 §8.4 [run].
    let main = "Write {{char}}'s next reply in a fictional chat between {{char}} and {{user}}.";
    let prompts = json!([
        {"identifier": "main", "role": "system", "system_prompt": true, "content": main},
        {"identifier": "jailbreak", "role": "system", "system_prompt": true, "content": ""},
    ]);
    let card = json!({"system_prompt": "CARD [{{original}}] {{ORIGINAL}} end", "post_history_instructions": "CARDJB"});
    let scene_of = |order: Value| {
        scene(&json!({"characters": alice(&card), "preset": {"prompts": prompts, "prompt_order": order}}))
    };
    let plain = scene_of(json!([]));
    for lines in [st(&plain), own(&plain)] {
        let written = "Write Alice's next reply in a fictional chat between Alice and User.";
        assert_eq!(lines[0], format!("system CARD [{written}]  end"));
        assert_eq!(lines.last().unwrap(), "system CARDJB");
    }
    let order = json!([{"character_id": 100_001, "order": [
        {"identifier": "main", "enabled": true}, {"identifier": "chatHistory", "enabled": true},
        {"identifier": "jailbreak", "enabled": false},
    ]}]);
    let turn = build(&scene_of(order), &TurnOptions::default(), &Profile::promptside());
    assert!(!lines(&turn).iter().any(|l| l.contains("CARDJB")));
    assert_eq!(reasons(&turn, "post_history"), ["override_discarded"]);
}

#[test]
fn an_original_that_nobody_has_goes() {
    // 04 F12: it stays where a text may still get its own, and what is left is removed.
    let s = scene(&json!({
        "characters": alice(&json!({
            "system_prompt": "卡[{{original}}]", "description": "D{{original}} <{{charPrompt}}>", "post_history_instructions": "PHI{{ORIGINAL}}",
        })),
        "preset": {"prompts": [
            {"identifier": "main", "role": "system", "system_prompt": true, "content": "主{{original}}"},
            {"identifier": "jailbreak", "role": "system", "system_prompt": true, "content": "JB {{original}}"},
        ]},
        "chat": [m("u", "what does {{original}} mean?")],
    }));
    let text = |lines: Vec<String>| lines.join("|");
    assert_eq!(text(st(&s)).matches("{{original}}").count(), 4, "{:?}", st(&s));
    assert_eq!(own(&s)[0], "system 卡[主]");
    let put_right = text(own(&s));
    assert!(put_right.contains("system D <卡[]>") && put_right.contains("PHIJB"), "{put_right}");
    assert!(put_right.contains("user what does {{original}} mean?"), "{put_right}");
}

#[test]
fn a_trigger_excludes_the_slot_whatever_fills_it() {
    // F-11.
    let over = json!({
        "characters": alice(&json!({"system_prompt": "CARD {{original}}!"})),
        "preset": {"prompts": [{"identifier": "main", "role": "system", "content": "MAIN", "injection_trigger": ["quiet"]}]},
    });
    assert_eq!(st(&scene(&over))[0], "system CARD !");
    assert!(!own(&scene(&over)).iter().any(|l| l.contains("CARD")));
}

fn order(ids: &[&str]) -> Value {
    let list: Vec<Value> = ids.iter().map(|id| json!({"identifier": id, "enabled": true})).collect();
    json!([{"character_id": 100_001, "order": list}])
}

#[test]
fn what_the_order_lacks() {
    // F-10 [run]: persona missing from the order comes last in ST.
    let s = scene(&json!({
        "persona": {"description": "PERSONA"},
        "preset": {"prompt_order": order(&["main", "chatHistory", "jailbreak"])},
        "chat": [m("u", "x")],
    }));
    assert_eq!(st(&s).last().unwrap(), "system PERSONA");
    let turn = build(&s, &TurnOptions::default(), &Profile::promptside());
    assert_eq!(lines(&turn).last().unwrap(), "user x");
    assert_eq!(reasons(&turn, "description"), ["not_in_order"]);
    // F-44: an empty list in force gives no history.
    let s = scene(
        &json!({"preset": {"prompt_order": [{"character_id": 100_001, "order": []}]}, "chat": [m("u", "x")]}),
    );
    assert!(!st(&s).contains(&"user x".to_owned()) && own(&s).contains(&"user x".to_owned()));
    // F-15: a user prompt without the flag.
    let s = scene(&json!({"preset": {"prompts": [{"identifier": "p", "role": "user", "content": "PPP"}],
        "prompt_order": order(&["main", "p", "chatHistory"])}}));
    assert!(!st(&s).contains(&"user PPP".to_owned()) && own(&s).contains(&"user PPP".to_owned()));
}

#[test]
fn slots_that_meet() {
    // F-14: charged twice, shown once.
    let twice = scene(&json!({"preset": {
        "prompts": [{"identifier": "p", "role": "user", "system_prompt": false, "content": "PPP"}],
        "prompt_order": order(&["main", "p", "p", "chatHistory"])}}));
    let turn = build(&twice, &TurnOptions::default(), &Profile::sillytavern());
    assert_eq!(lines(&turn).iter().filter(|l| *l == "user PPP").count(), 1);
    assert_eq!(turn.report.budget.by_class["lost"], 4 + 4 + 3);
    let turn = build(&twice, &TurnOptions::default(), &Profile::promptside());
    assert!(!turn.report.budget.by_class.contains_key("lost"));
    assert_eq!(reasons(&turn, "p"), ["duplicate_id"]);
    // F-13: examples last and a nudge.
    let last = scene(&json!({
        "characters": alice(&json!({"mes_example": "<START>\nUser: a\nAlice: b"})),
        "preset": {"prompt_order": order(&[
            "main", "worldInfoBefore", "worldInfoAfter", "charDescription", "charPersonality", "scenario", "nsfw", "jailbreak",
            "chatHistory", "dialogueExamples",
        ])},
        "chat": [m("u", "hi"), m("a", "go")],
    }));
    let turn = build(&last, &of(Kind::Continue), &Profile::sillytavern());
    assert!(!lines(&turn).iter().any(|l| l.contains("Continue your last message")));
    assert!(turn.report.budget.by_class["lost"] > 0);
    let turn = build(&last, &of(Kind::Continue), &Profile::promptside());
    assert!(lines(&turn).last().unwrap().contains("Continue your last message"));
}

fn four() -> Value {
    json!([m("a", "m1"), m("u", "m2"), m("a", "m3"), m("u", "m4")])
}

/// Prompts of the preset, and an order with all of them in front of the chat.
fn preset(prompts: &Value) -> Value {
    let mut ids = vec!["main"];
    ids.extend(prompts.as_array().unwrap().iter().map(|p| p["identifier"].as_str().unwrap()));
    ids.push("chatHistory");
    let mut all =
        vec![json!({"identifier": "main", "role": "system", "system_prompt": true, "content": "MAIN"})];
    all.extend(prompts.as_array().unwrap().clone());
    json!({"prompts": all, "prompt_order": order(&ids)})
}

fn absolute(text: &str, role: &str, depth: i64, order: Option<i64>) -> Value {
    json!({"identifier": text, "content": text, "role": role, "system_prompt": false, "injection_position": 1,
        "injection_depth": depth, "injection_order": order})
}

fn ext(key: &str, value: &str, position: i64, depth: i64, role: i64) -> Value {
    json!({"key": key, "value": value, "position": position, "depth": depth, "role": role})
}

#[test]
fn injected_texts_have_an_order() {
    // 05 I4.
    let placed = |key: &str, value: &str, order: i64| {
        let mut text = ext(key, value, 1, 1, 0);
        text["order"] = json!(order);
        text
    };
    let s = scene(&json!({
        "chat": four(),
        "preset": preset(&json!([absolute("S100", "system", 1, Some(100))])),
        "extensionPrompts": [placed("a", "遅い", 200), placed("b", "рано", 20), ext("c", "MID", 1, 1, 0)],
    }));
    let has = |lines: &[String], line: &str| lines.iter().any(|l| l == line);
    assert!(has(&st(&s), "system S100\n遅い\nрано\nMID"), "{:?}", st(&s));
    assert!(has(&own(&s), "system рано\nS100\nMID\n遅い"), "{:?}", own(&s));
}

#[test]
fn injections_at_one_depth() {
    // Spec 02 §13 [run].
    let s = scene(&json!({
        "chat": four(),
        "preset": preset(&json!([
            absolute("S200", "system", 1, Some(200)), absolute("S100", "system", 1, Some(100)),
            absolute("U100", "user", 1, Some(100)), absolute("S50", "system", 1, Some(50)),
            absolute("A100", "assistant", 1, None),
        ])),
        "extensionPrompts": [
            ext("2_floating", "AN", 1, 1, 0), ext("customDepthWI_1_0", "WI10", 1, 1, 0), ext("zz", "ZZU ", 1, 1, 1),
            ext("A_first", " UP", 1, 1, 0),
        ],
    }));
    // Keys by UTF-16 units: `2_floating` < `A_first` < `customDepthWI_1_0`.
    let got = st(&s);
    let want = ["system S50", "assistant A100", "user U100\nZZU", "system S100\nAN\nUP\nWI10", "system S200"];
    assert_eq!(history(&got)[..3], ["assistant m1", "user m2", "assistant m3"]);
    assert_eq!(history(&got)[3..8], want);
    assert_eq!(history(&got)[8..], ["user m4"]);
    // F-38: by order, then as registered; neighbours of one role are one message.
    let got = own(&s);
    let want = [
        "system S50\nS100",
        "user U100",
        "assistant A100",
        "system AN\nWI10",
        "user ZZU",
        "system UP\nS200",
        "user m4",
    ];
    assert_eq!(history(&got)[3..], want);
}

#[test]
fn injections_beyond_the_top() {
    // Spec 02 §13 [run].
    let prompts = [0, 4, 7, 9].map(|d| absolute(&format!("D{d}"), "system", d, None));
    let s = scene(&json!({"chat": four(), "preset": preset(&json!(prompts))}));
    for got in [st(&s), own(&s)] {
        assert_eq!(history(&got)[..3], ["system D9", "system D7", "system D4"]);
        assert_eq!(history(&got)[3..], ["assistant m1", "user m2", "assistant m3", "user m4", "system D0"]);
    }
}

#[test]
fn keys_roles_and_orders_in_the_chat() {
    // Spec 05 §16 [run].
    let s = scene(&json!({
        "chat": [m("u", "m1"), m("a", "m2"), m("u", "m3"), m("a", "m4")],
        "preset": preset(&json!([
            absolute("P100", "system", 0, Some(100)), absolute("P100b", "system", 0, Some(100)),
            absolute("P200", "system", 0, Some(200)), absolute("P50", "user", 0, Some(50)), absolute("Pa", "assistant", 0, None),
        ])),
        "extensionPrompts": [
            ext("10", "TEN", 1, 0, 0), ext("2_floating", "  AN  ", 1, 0, 0), ext("a", "AA {{user}}", 1, 0, 0),
            ext("b", "BB", 1, 0, 0), ext("ws", "   ", 1, 0, 0), ext("Z", "ZZ", 1, 0, 1), ext("c", "CC", 1, 2, 2),
        ],
    }));
    let got = st(&s);
    assert_eq!(history(&got)[..5], ["user m1", "assistant m2", "assistant CC", "user m3", "assistant m4"]);
    let depth_0 =
        ["user P50", "assistant Pa", "user ZZ", "system P100\nP100b\nTEN\nAN\nAA User\nBB", "system P200"];
    assert_eq!(history(&got)[5..], depth_0);
}

#[test]
fn odd_depths_and_roles() {
    // F-16: lost or misplaced in ST, mended here.
    for (depth, role) in [
        (Value::Null, "system"),
        (json!("2"), "system"),
        (json!(-3), "system"),
        (json!(20_000), "system"),
        (json!(1), "narrator"),
    ] {
        let odd = json!({"identifier": "p", "content": "ODD", "role": role, "system_prompt": false,
            "injection_position": 1, "injection_depth": depth});
        let s = scene(&json!({"chat": four(), "preset": preset(&json!([odd]))}));
        let turn = build(&s, &TurnOptions::default(), &Profile::sillytavern());
        assert!(!lines(&turn).iter().any(|l| l.contains("ODD")));
        assert!(matches!(reasons(&turn, "p")[0].as_str(), "bad_depth" | "bad_role"));
        assert!(own(&s).contains(&"system ODD".to_owned()));
    }
}

#[test]
fn filters_keys_and_anchors() {
    // F-18: a filter that says no.
    let s = scene(&json!({"chat": four(), "extensionPrompts": [
        {"key": "x", "value": "NO", "position": 1, "depth": 1, "filter": false}]}));
    assert!(st(&s).contains(&"system NO".to_owned()));
    let turn = build(&s, &TurnOptions::default(), &Profile::promptside());
    assert_eq!(reasons(&turn, "x"), ["filter"]);
    // F-17: keys that differ in punctuation only.
    let s = scene(
        &json!({"extensionPrompts": [ext("my ext-1", "ONE", 0, 0, 1), ext("my ext_1", "TWO", 0, 0, 2)]}),
    );
    assert_eq!(st(&s)[..2], ["system MAIN", "user TWO"]);
    assert_eq!(own(&s)[..3], ["system MAIN", "user ONE", "assistant TWO"]);
    // F-35: several in front, and no main prompt in the order.
    let s = scene(
        &json!({"extensionPrompts": [ext("a", "A", 2, 0, 0), ext("b", "B", 2, 0, 0), ext("c", "C", 0, 0, 0)]}),
    );
    assert_eq!(st(&s)[..4], ["system B", "system A", "system MAIN", "system C"]);
    assert_eq!(own(&s)[..4], ["system A", "system B", "system MAIN", "system C"]);
    let s = scene(
        &json!({"preset": {"prompt_order": order(&["chatHistory"])}, "extensionPrompts": [ext("a", "A", 2, 0, 0)]}),
    );
    let turn = build(&s, &TurnOptions::default(), &Profile::sillytavern());
    assert_eq!(reasons(&turn, "a"), ["no_anchor"]);
    assert!(own(&s).contains(&"system A".to_owned()));
}

#[test]
fn relative_texts_beside_a_main_prompt_in_the_chat() {
    // Spec 05 §16: the last one behind is nearest to main.
    let main = json!({"identifier": "main", "role": "system", "system_prompt": true, "content": "MAIN", "injection_position": 1,
        "injection_depth": 1, "injection_order": 100});
    let both =
        [("b1", 2), ("b2", 2), ("e1", 0), ("e2", 0)].map(|(k, at)| ext(k, &k.to_uppercase(), at, 0, 0));
    let s = scene(&json!({"chat": four(), "preset": {"prompts": [main]}, "extensionPrompts": both}));
    assert_eq!(history(&st(&s))[3], "system B1\nB2\nMAIN\nE2\nE1");
}

const NUDGE: &str = "system [Continue your last message without repeating its original content.]";

#[test]
fn continuing() {
    // Spec 02 §14.3 [run].
    let base = |prefill: bool| {
        let mut p = preset(&json!([absolute("X1", "system", 1, None)]));
        p["continue_prefill"] = json!(prefill);
        p["prompt_order"] = order(&["main", "X1", "chatHistory", "jailbreak"]);
        let phi = json!({"identifier": "jailbreak", "role": "system", "content": "JB"});
        p["prompts"].as_array_mut().unwrap().push(phi);
        scene(&json!({"chat": [m("a", "m1"), m("u", "m2"), m("a", "m3")], "preset": p,
            "extensionPrompts": [ext("2_an", "AN", 1, 0, 0)]}))
    };
    let run = |s: &Scene, profile: &Profile| lines(&build(s, &of(Kind::Continue), profile));
    let (st, own) = (Profile::sillytavern(), Profile::promptside());
    let tail = ["system AN", "system JB", "assistant m3"];
    let nudged = run(&base(false), &st);
    assert_eq!(history(&nudged)[..3], ["assistant m1", "user m2", "system X1"]);
    assert_eq!(history(&nudged)[3..6], tail);
    assert_eq!(history(&nudged)[6..], [NUDGE]);
    let prefilled = run(&base(true), &st);
    assert_eq!(history(&prefilled)[..3], ["assistant m1", "system X1", "user m2"]);
    assert_eq!(history(&prefilled)[3..], tail);
    // F-20: both ways count depths from the message before.
    let nudged = run(&base(false), &own);
    assert_eq!(history(&nudged)[..6], history(&prefilled)[..]);
    assert_eq!(run(&base(true), &own), prefilled);
    // F-21: with its name.
    let s = scene(&json!({"chat": [m("u", "hi"), m("a", "go {{user}}")], "preset": {"names_behavior": 1}}));
    assert_eq!(run(&s, &st)[3], "assistant go User");
    assert_eq!(run(&s, &own)[3], "assistant <Alice> go User");
    // F-40: the postfix after a line feed.
    let s = scene(&json!({"chat": [m("u", "hi"), m("a", "go\n")]}));
    let continued = |profile: &Profile| build(&s, &of(Kind::Continue), profile).reading.continued;
    assert_eq!(continued(&st), "go\n ");
    assert_eq!(continued(&own), "go\n");
}

fn group_of_two(over: &Value) -> Scene {
    let card = |name: &str| json!({"avatar": name, "card": {"data": {"name": name}}});
    let mut base = json!({
        "characters": [card("Alice"), card("Bob")],
        "group": {"members": ["Alice", "Bob"], "generation_mode": 0},
        "chatWith": "Alice",
    });
    base.as_object_mut().unwrap().extend(over.as_object().unwrap().clone());
    scene(&base)
}

#[test]
fn continuing_in_a_group() {
    // Spec 02 §14.3 [run].
    let s = group_of_two(&json!({"chat": [m("u", "Hello"), m("a", "Hey User")]}));
    let got = lines(&build(&s, &of(Kind::Continue), &Profile::sillytavern()));
    let nudge = "system [Write the next reply only as Alice.]";
    assert_eq!(got[got.len() - 3..], [nudge, "assistant Alice: Hey User", NUDGE]);
    // F-22: the user's own message is not continued as Alice.
    let s = group_of_two(&json!({"chat": [m("a", "Hey"), m("u", "I think")]}));
    let got = lines(&build(&s, &of(Kind::Continue), &Profile::promptside()));
    assert!(!got.iter().any(|l| l.contains("only as")));
    assert_eq!(got[got.len() - 2], "user I think");
}

#[test]
fn a_bias_begins_the_reply() {
    // Spec 02 §16.3 [run].
    let s = scene(
        &json!({"chat": [{"name": "User", "is_user": true, "mes": "Go", "extra": {"bias": " Sure,"}}]}),
    );
    assert_eq!(st(&s).last().unwrap(), "assistant  Sure,");
}

fn to_squash(chat: &Value) -> Scene {
    scene(&json!({
        "characters": alice(&json!({"description": "D", "mes_example": "<START>\nUser: hey\nAlice: meow"})),
        "chat": chat,
        "preset": {"squash_system_messages": true, "prompts": [
            {"identifier": "main", "role": "system", "content": "MAIN"}, {"identifier": "jailbreak", "role": "system", "content": "JB"}]},
        "extensionPrompts": [ext("2_an", "AN", 1, 2, 0)],
    }))
}

#[test]
fn squashing() {
    // Spec 02 §17 [run].
    let chat = json!([m("a", "m1"), m("u", "m2"), m("n", "narr"), m("a", "m3"), m("u", "m4")]);
    let turn = build(&to_squash(&chat), &quiet("Q"), &Profile::sillytavern());
    let got = lines(&turn);
    assert_eq!(got[..2], ["system MAIN\nD", "system [Example Chat]"]);
    assert_eq!(got[2..4], ["system <example_user> hey", "system <example_assistant> meow"]);
    assert_eq!(got[4..8], ["system [Start a new Chat]", "assistant m1", "user m2", "system narr\nAN"]);
    assert_eq!(got[8..], ["assistant m3", "user m4", "system JB\nQ"]);
    let merged = &turn.report.messages[0];
    assert_eq!(merged.parts.iter().map(|p| p.range).collect::<Vec<_>>(), [[0, 4], [5, 6]]);
    assert_eq!(merged.parts[1].sep_before, "\n");
    assert_eq!(merged.charged, 10 + 4 + 10 + 1);
    // F-30: a narrator with a picture; and previews.
    let picture = json!([m("n", "narr"), {"name": "System", "mes": "pic", "extra": {"type": "narrator",
        "media": [{"type": "image", "url": "data:image/png;base64,AA"}]}}]);
    let turn = build(&to_squash(&picture), &TurnOptions::default(), &Profile::sillytavern());
    assert!(lines(&turn).iter().any(|l| l.contains("[object Object]")));
    let turn = build(&to_squash(&picture), &TurnOptions::default(), &Profile::promptside());
    assert!(turn.messages.iter().any(|m| m.content.as_ref().is_some_and(Value::is_array)));
    let preview = TurnOptions { preview: true, ..TurnOptions::default() };
    let count = |profile: &Profile| build(&to_squash(&chat), &preview, profile).messages.len();
    assert!(count(&Profile::sillytavern()) > count(&Profile::promptside()));
}

/// `#n` costs a message n tokens in all, roles one, everything else nothing.
#[derive(Debug)]
struct Sizes;

impl Count for Sizes {
    fn count(&self, text: &str) -> u32 {
        if matches!(text, "system" | "user" | "assistant") {
            return 1;
        }
        let digits: String =
            text.strip_prefix('#').unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
        // A message of ST costs five more than its content.
        digits.parse::<u32>().map_or(0, |n| n.saturating_sub(5))
    }
    fn exact(&self) -> bool {
        true
    }
    fn id(&self) -> &'static str {
        "sizes"
    }
}

fn published(context: i64) -> Scene {
    let sizes = [500, 900, 850, 800, 781, 750, 750].iter().enumerate();
    let chat: Vec<Value> =
        sizes.map(|(i, n)| json!({"name": "User", "is_user": i % 2 == 0, "mes": format!("#{n}")})).collect();
    let entry = |uid: i64| json!({"uid": uid, "key": [], "constant": true, "content": "#800", "position": uid, "order": uid});
    scene(&json!({
        "characters": alice(&json!({"description": "#200", "personality": "#100", "scenario": "#80"})),
        "group": {"members": ["alice.png"], "generation_mode": 0},
        "persona": {"description": "#50"},
        "chat": chat,
        "lorebooks": {"global": ["w"], "books": {"w": {"entries": {"0": entry(0), "1": entry(1)}}}},
        "settings": {"world_info": {"world_info_budget": 100}},
        "preset": {
            "openai_max_context": context, "openai_max_tokens": 300, "new_group_chat_prompt": "#9", "group_nudge_prompt": "#15",
            "prompts": [{"identifier": "main", "role": "system", "content": "#150"}, {"identifier": "jailbreak", "role": "system", "content": "#100"}],
        },
    }))
}

#[test]
fn the_published_ledger() {
    // Spec 02 §20 [run], tools apart: quiet requests offer none.
    let turn = try_build(&published(8192), &quiet("#130"), &Profile::sillytavern(), &Sizes).unwrap();
    let ledger = &turn.report.ledger;
    let steps: Vec<(i64, i64)> = ledger.iter().filter(|l| l.d != 0).map(|l| (l.d, l.left)).collect();
    let want = [
        (7892, 7892),
        (-3, 7889),
        (-800, 7089),
        (-150, 6939),
        (-800, 6139),
        (-200, 5939),
        (-100, 5839),
        (-80, 5759),
        (-50, 5709),
        (-130, 5579),
        (-100, 5479),
        (-9, 5470),
        (-15, 5455),
        (-750, 4705),
        (-750, 3955),
        (-781, 3174),
        (-800, 2374),
        (-850, 1524),
        (-900, 624),
        (-500, 124),
        (9, 133),
        (-9, 124),
        (15, 139),
        (-15, 124),
        (130, 254),
        (-130, 124),
    ];
    assert_eq!(steps, want);
    let classes = &turn.report.budget.by_class;
    assert_eq!(classes.values().sum::<i64>(), turn.report.budget.used);
    assert_eq!(classes["fixed"], 2280);
    // With 200 less, as the tools would take, the oldest message stays out.
    let turn = try_build(&published(7992), &quiet("#130"), &Profile::sillytavern(), &Sizes).unwrap();
    assert_eq!((turn.report.budget.left, turn.report.cut.first_included_index), (424, Some(1)));
    let cut: Vec<_> = turn.report.omitted.iter().filter(|o| o.reason == "budget.history_cut").collect();
    assert_eq!(cut[0].detail, Some(json!({"left": 424, "short_by": 76})));
}

#[test]
fn an_exact_fit_and_no_chat_at_all() {
    // Spec 02 §20 [run]; no quiet instruction and no tools here: 3 + 9 + 15 reserved, 2280 fixed.
    let need = 300 + 27 + 2280;
    let fit = |context: i64, profile: &Profile| {
        try_build(&published(context), &TurnOptions::default(), profile, &Sizes)
    };
    let turn = fit(need + 750, &Profile::sillytavern()).unwrap();
    assert_eq!((turn.report.budget.left, turn.report.cut.first_included_index), (0, Some(6)));
    // F-02: ST sends no chat; the message is an error here.
    let turn = fit(need + 700, &Profile::sillytavern()).unwrap();
    assert_eq!((turn.report.error, turn.report.cut.first_included_index), (None, None));
    let profile = without("prompt.framing");
    let error = fit(need + 700, &profile).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::BudgetNewest, "chat[6]"));
    assert_eq!(error.detail().unwrap()["short_by"], 50);
    // F-01: what must be sent does not fit.
    let turn = fit(1200, &Profile::sillytavern()).unwrap();
    assert_eq!(turn.report.error.as_ref().unwrap().code, "budget.mandatory");
    assert_eq!(lines(&turn), ["system #800"]);
    let error = fit(1200, &profile).unwrap_err();
    assert_eq!(error.code(), Code::BudgetMandatory);
    // Of the two lorebook entries one is within the lorebook's own budget, which is the whole prompt here.
    assert_eq!(error.detail().unwrap()["short_by"], 2280 - 800 + 27 - 900);
    assert!(error.detail().unwrap()["items"].as_array().unwrap().len() >= 10, "every item is listed");
}

fn guide(context: i64, pin: bool) -> Scene {
    scene(&json!({
        "characters": alice(&json!({
            "description": "Alice is a mountain guide.", "scenario": "A flooded valley.", "post_history_instructions": "Stay in character.",
            "mes_example": "<START>\nUser: Is it far?\nAlice: Half a day at least.",
        })),
        "chat": [
            m("a", "The rain has not stopped for three days, and the road north is gone."),
            m("u", "Is there another way?"),
            m("a", "There is the old mill path, but nobody uses it after dark."),
            m("u", "Then we leave now."),
        ],
        "settings": {"power_user": {"pin_examples": pin}},
        "extensionPrompts": [ext("2_note", "[Mood: tense]", 1, 1, 0)],
        "preset": {
            "chat_completion_source": "openai", "openai_model": "gpt-4o", "openai_max_context": context, "openai_max_tokens": 40,
            "prompts": [
                {"identifier": "main", "role": "system", "content": "Write {{char}}'s next reply in a fictional chat between {{char}} and {{user}}."},
                {"identifier": "style", "role": "system", "system_prompt": false, "content": "Write in present tense."},
            ],
            "prompt_order": order(&["main", "style", "charDescription", "scenario", "dialogueExamples", "chatHistory", "jailbreak"]),
        },
    }))
}

#[test]
fn the_worked_example_with_a_real_tokenizer() {
    // Spec 02 §21 [run].
    let run = |context: i64, pin: bool| {
        try_build(&guide(context, pin), &TurnOptions::default(), &Profile::sillytavern(), &O200k).unwrap()
    };
    let turn = run(150, false);
    let want = [
        "system Write Alice's next reply in a fictional chat between Alice and User.",
        "system Write in present tense.",
        "system Alice is a mountain guide.",
        "system A flooded valley.",
        "system [Start a new Chat]",
        "system [Mood: tense]",
        "user Then we leave now.",
        "system Stay in character.",
    ];
    assert_eq!(lines(&turn), want);
    let budget = &turn.report.budget;
    assert_eq!((budget.limit, budget.used, budget.left), (110, 92, 18));
    let chat = turn.report.omitted.iter().filter(|o| o.origin.index.is_some());
    let chat: Vec<_> = chat.map(|o| (o.origin.index, o.through, o.tokens, o.reason.as_str())).collect();
    assert_eq!(chat[0], (Some(2), None, Some(19), "budget.history_cut"));
    assert_eq!(chat[1..], [(Some(0), Some(1), None, "after_cut")]);
    let turn = run(190, false);
    assert_eq!((turn.report.cut.first_included_index, turn.report.budget.left), (Some(0), 8));
    assert!(!lines(&turn).iter().any(|l| l.contains("example_user")));
    let turn = run(190, true);
    assert_eq!((turn.report.cut.first_included_index, turn.report.budget.left), (Some(2), 3));
    assert!(lines(&turn).iter().any(|l| l.contains("example_user")));
}

#[test]
fn injected_texts_keep_their_room() {
    // F-04: ST drops what lies beyond the cut; here it is reserved and stands above the oldest kept message.
    let long = |c: &str| c.repeat(60);
    let s = scene(&json!({
        "chat": [m("a", &long("x")), m("u", &long("y")), m("a", &long("z")), m("u", "now")],
        "extensionPrompts": [ext("k", "LORE", 1, 3, 0)],
        "preset": {"openai_max_context": 250, "openai_max_tokens": 50},
    }));
    assert!(!st(&s).contains(&"system LORE".to_owned()));
    let got = own(&s);
    assert_eq!(history(&got)[0], "system LORE");
    assert_eq!(history(&got).last().unwrap(), &"user now");
}

#[test]
fn pinned_examples_do_not_break_the_request() {
    // F-05: optional examples took the room of the heading.
    let s = scene(&json!({
        "characters": alice(&json!({"mes_example": format!("<START>\nUser: {}", "e".repeat(72))})),
        "settings": {"power_user": {"pin_examples": true}},
        "chat": [m("u", "hi")],
        "preset": {"openai_max_context": 210, "openai_max_tokens": 50, "prompts": [{"identifier": "main", "role": "system", "content": "M"}]},
    }));
    let turn = build(&s, &TurnOptions::default(), &Profile::sillytavern());
    assert!(turn.report.error.is_some());
    let turn = build(&s, &TurnOptions::default(), &without("prompt.framing"));
    assert!(turn.report.error.is_none() && lines(&turn).contains(&"user hi".to_owned()));
}

#[test]
fn ghosts_and_hidden_swipes() {
    // F-19.
    let ghost = |at: usize| {
        let mut chat = four();
        chat[at]["ignore"] = json!(true);
        scene(&json!({"chat": chat}))
    };
    assert_eq!(history(&st(&ghost(0))).len(), 3, "a run of oldest ones is harmless");
    let turn = build(&ghost(2), &TurnOptions::default(), &Profile::sillytavern());
    assert!(turn.report.error.is_some());
    assert!(!lines(&turn).iter().any(|l| l.contains("Start a new")), "and the request is broken");
    let turn = build(&ghost(2), &TurnOptions::default(), &Profile::promptside());
    assert_eq!(history(&lines(&turn)), ["assistant m1", "user m2", "user m4"]);
    assert_eq!(reasons(&turn, "msg:2"), ["ghosted"]);
    // F-45.
    let hidden = json!({"name": "Alice", "mes": "hidden", "is_system": true});
    let s = scene(&json!({"chat": [m("u", "m1"), m("a", "m2"), hidden]}));
    let swipe = |profile: &Profile| lines(&build(&s, &of(Kind::Swipe), profile));
    assert_eq!(history(&swipe(&Profile::sillytavern())), ["user m1"]);
    assert_eq!(history(&swipe(&Profile::promptside())), ["user m1", "assistant m2"]);
}

#[test]
fn send_if_empty_and_nudges() {
    // F-23.
    let s =
        scene(&json!({"chat": [m("u", "m1"), m("a", "m2")], "preset": {"send_if_empty": " go {{user}} "}}));
    let (st, own) = (Profile::sillytavern(), Profile::promptside());
    let stands_in = |options: &TurnOptions, profile: &Profile| {
        lines(&build(&s, options, profile)).into_iter().find(|l| l.contains(" go "))
    };
    let automatic = TurnOptions { automatic: true, ..TurnOptions::default() };
    assert_eq!(stands_in(&TurnOptions::default(), &st).unwrap(), "user  go {{user}} ");
    assert_eq!(stands_in(&TurnOptions::default(), &own).unwrap(), "user go User");
    assert!(stands_in(&quiet("Q"), &st).is_some() && stands_in(&quiet("Q"), &own).is_none());
    assert!(stands_in(&quiet("Q"), &without("prompt.nudges")).is_some());
    assert!(stands_in(&automatic, &st).is_some() && stands_in(&automatic, &own).is_none());
    // F-48.
    let g = group_of_two(&json!({"chat": [m("u", "m1")]}));
    let nudged =
        |profile: &Profile| lines(&build(&g, &quiet("Q"), profile)).iter().any(|l| l.contains("only as"));
    assert!(nudged(&st) && !nudged(&own));
    // F-31, F-33: triggers follow what the user did.
    let g = group_of_two(&json!({"chat": [m("u", "m1")], "preset": {
        "prompts": [{"identifier": "p", "role": "system", "system_prompt": false, "content": "AGAIN", "injection_trigger": ["regenerate"]}],
        "prompt_order": order(&["p", "chatHistory"])}}));
    let again = TurnOptions { action: Some(Kind::Regenerate), ..TurnOptions::default() };
    let has = |profile: &Profile| lines(&build(&g, &again, profile)).contains(&"system AGAIN".to_owned());
    assert!(!has(&st) && has(&own));
}

#[test]
fn impersonation_has_one_instruction() {
    // reports/016.
    let g =
        group_of_two(&json!({"persona": {"name": "Wren"}, "chat": [{"name": "Alice", "mes": "And you?"}]}));
    let run = || build(&g, &of(Kind::Impersonate), &Profile::promptside());
    let got = lines(&run());
    assert!(!got.iter().any(|l| l.contains("Write the next reply only as")));
    let asked: Vec<_> = got.iter().filter(|l| l.contains("from the point of view of Wren")).collect();
    assert_eq!(asked, [got.last().unwrap()]);
    assert_eq!(run().payload, run().payload);
}

#[test]
fn joined_examples_are_named_once() {
    // reports/015.
    let card = |name: &str, example: &str| json!({"avatar": name, "card": {"data": {"name": name, "mes_example": example}}});
    let examples = |speaker: &str, profile: &Profile| {
        let s = scene(&json!({
            "characters": [card("Nia", "<START>\n{{user}}: hi\n{{char}}: Hello there."), card("Odo", "<START>\n{{char}}: Hm.")],
            "persona": {"name": "Wren"},
            "group": {"members": ["Nia", "Odo"], "generation_mode": 1},
            "chatWith": speaker,
        }));
        let turn = build(&s, &TurnOptions::default(), profile);
        let named = turn.messages.iter().filter(|m| m.name.is_some());
        named.map(|m| m.content_text().to_owned()).collect::<Vec<_>>()
    };
    let want = ["Wren: hi", "Nia: Hello there.", "Odo: Hm."];
    assert_eq!(examples("Nia", &Profile::promptside()), want);
    assert_eq!(examples("Odo", &Profile::promptside()), want);
}

#[test]
fn notes_that_are_not_due() {
    // F-34: the persona around the note.
    let s = scene(&json!({
        "persona": {"description": "PERSONA", "position": 2},
        "chat": {"metadata": {"note_prompt": "NOTE", "note_interval": 2, "note_position": 1, "note_depth": 0}, "messages": [m("u", "m1")]},
    }));
    assert!(!st(&s).iter().any(|l| l.contains("PERSONA")));
    let turn = build(&s, &TurnOptions::default(), &Profile::promptside());
    assert_eq!(lines(&turn).last().unwrap(), "system PERSONA");
    assert_eq!(reasons(&turn, "2_floating_prompt"), ["not_due"]);
}

#[test]
fn each_text_is_expanded_once() {
    // F-36: an escaped macro is text, and stays text.
    let s = scene(&json!({"characters": alice(&json!({"description": "\\{\\{user\\}\\}"}))}));
    assert!(st(&s).contains(&"system User".to_owned()));
    assert!(own(&s).contains(&"system {{user}}".to_owned()));
    // F-41: a blank format.
    let s = scene(
        &json!({"characters": alice(&json!({"personality": "kind"})), "preset": {"personality_format": " "}}),
    );
    assert!(!st(&s).contains(&"system kind".to_owned()));
    assert!(own(&s).contains(&"system kind".to_owned()));
}

#[test]
fn the_models_text_is_only_text() {
    let s = scene(
        &json!({"chat": [m("a", "x"), m("a", "{{setvar::v::2}}{{char}}"), m("u", "{{setvar::w::3}}ok")]}),
    );
    assert_eq!(history(&own(&s))[1..], ["assistant {{setvar::v::2}}Alice", "user ok"]);
    assert_eq!(history(&st(&s))[1..], ["assistant Alice", "user ok"]);
}

#[test]
fn a_lorebook_slot_that_is_missing_is_told() {
    // reports/009.
    for (enabled, reason) in [(None, "not_in_order"), (Some(false), "disabled")] {
        let mut order = vec![
            json!({"identifier": "main", "enabled": true}),
            json!({"identifier": "chatHistory", "enabled": true}),
        ];
        order.extend(enabled.map(|e| json!({"identifier": "worldInfoBefore", "enabled": e})));
        let s = scene(&json!({
            "chat": [m("u", "Ring the bell.")],
            "lorebooks": {"global": ["w"], "books": {"w": {"entries": {
                "7": {"uid": 7, "key": ["bell"], "position": 0, "content": "The bell is cracked."},
                "8": {"uid": 8, "key": ["bell"], "position": 4, "depth": 1, "role": 0, "content": "It rings at noon."}}}}},
            "preset": {"prompt_order": [{"character_id": 100_001, "order": order}]},
        }));
        let turn = build(&s, &TurnOptions::default(), &Profile::promptside());
        assert!(turn.lore.activated.iter().any(|a| a.uid == 7));
        assert!(!lines(&turn).iter().any(|l| l.contains("cracked")));
        assert_eq!(history(&lines(&turn)), ["system It rings at noon.", "user Ring the bell."]);
        let told: Vec<_> = turn.report.omitted.iter().filter(|o| o.origin.id == "before").collect();
        assert_eq!((told.len(), told[0].reason.as_str()), (1, reason));
        assert_eq!(told[0].detail.as_ref().unwrap()["slot"], "worldInfoBefore");
    }
}

/// A scene with a long history, two examples, a summary and recalled messages.
fn shared(over: &Value) -> Scene {
    let chat: Vec<Value> =
        (0..12).map(|i| m(if i % 2 == 0 { "User" } else { "Alice" }, &format!("Zeile {i} 你好"))).collect();
    let mut value = json!({
        "characters": [{"avatar": "alice.png", "card": {"data": {
            "name": "Alice", "description": "守夜人", "scenario": "Дождь.",
            "mes_example": "<START>\n{{user}}: один\n<START>\n{{user}}: два",
        }}}],
        "persona": {"name": "User"},
        "chat": {"id": "c", "messages": chat},
        "preset": {"chat_completion_source": "openai", "openai_model": "gpt-4o", "openai_max_context": 2000, "openai_max_tokens": 100,
                   "new_chat_prompt": "", "new_example_chat_prompt": ""},
        "extensionPrompts": [
            {"key": "1_memory", "value": "Zusammenfassung", "position": 0, "depth": 0, "role": 0, "scan": false},
            {"key": "3_vectors", "value": "recalled", "position": 0, "depth": 0, "role": 0, "scan": false},
        ],
    });
    for (key, field) in over.as_object().unwrap() {
        value[key] = field.clone();
    }
    Scene::from_value(&value).unwrap().0
}

fn with_shares(shares: Shares) -> TurnOptions {
    TurnOptions { ask: Ask { shares, ..Ask::default() }, ..TurnOptions::default() }
}

#[test]
fn shares_of_the_budget() {
    let fixed = Profile::promptside();
    let scene = shared(&json!({}));
    let has = |turn: &Turn, text: &str| lines(turn).iter().any(|l| l.contains(text));
    let all = build(&scene, &TurnOptions::default(), &fixed);
    assert!(["один", "два", "Zusammenfassung", "recalled", "Zeile 0"].iter().all(|t| has(&all, t)));

    let one = all.report.messages.iter().find(|m| m.slot == "dialogueExamples").unwrap().tokens;
    let capped = build(&scene, &with_shares(Shares { examples: Some(one), ..Shares::default() }), &fixed);
    assert!(has(&capped, "один") && !has(&capped, "два"));
    assert_eq!(reasons(&capped, "example:1"), ["budget.share"]);

    let memory = build(&scene, &with_shares(Shares { memory: Some(17), ..Shares::default() }), &fixed);
    assert!(has(&memory, "Zusammenfassung") && !has(&memory, "recalled"));
    assert_eq!(reasons(&memory, "3_vectors"), ["budget.share"]);

    // What gets the rest goes first when it is tight, and stands in its place when there is room.
    let last = Shares { last: Some(vec!["scenario".into(), "summary".into()]), ..Shares::default() };
    assert_eq!(lines(&build(&scene, &with_shares(last.clone()), &fixed)), lines(&all));
    let tight = TurnOptions { max_context: Some(100 + all.report.budget.used - 1), ..with_shares(last) };
    let turn = build(&scene, &tight, &fixed);
    assert!(has(&turn, "Zeile 0") && has(&turn, "守夜人"));
    assert!(reasons(&turn, "1_memory").contains(&"budget.optional".to_owned()));
}

#[test]
fn newest_messages_that_must_be_sent() {
    let fixed = Profile::promptside();
    let scene = shared(&json!({}));
    let build = |context: i64, newest: usize| {
        let shares = Shares { newest: Some(newest), ..Shares::default() };
        let options = TurnOptions { max_context: Some(context), ..with_shares(shares) };
        turn::build(&scene, &options, &fixed, &CodePoints, &mut Host::new(Dice::seeded(1)))
    };
    let whole = build(2000, 1).unwrap();
    let used = whole.report.budget.used;
    assert_eq!(build(used + 100, 12).unwrap().report.cut.dropped, 0);
    // Twelve messages and what is fixed: without the two examples it still fits, with less it is an error that says how much.
    let examples: i64 =
        whole.report.messages.iter().filter(|m| m.slot == "dialogueExamples").map(|m| m.tokens).sum();
    assert_eq!(build(used + 100 - examples, 12).unwrap().report.cut.dropped, 0);
    let error = build(used + 99 - examples, 12).unwrap_err();
    assert_eq!(
        (error.code().as_str(), error.detail().unwrap()["short_by"].as_i64()),
        ("budget.newest_message", Some(1))
    );
    assert!(build(used + 99 - examples, 11).unwrap().report.cut.dropped == 1);
}

#[test]
fn room_is_left_while_counts_are_guesses() {
    let scene = shared(&json!({}));
    let build = |profile: &Profile, margin: Option<f64>| {
        let options = with_shares(Shares { margin, ..Shares::default() });
        turn::build(&scene, &options, profile, &ByScript, &mut Host::new(Dice::seeded(1)))
            .unwrap()
            .report
            .budget
    };
    let budget = build(&Profile::promptside(), None);
    assert_eq!((budget.margin, budget.limit), (190, 1710));
    let budget = build(&Profile::promptside(), Some(2.5));
    assert_eq!((budget.margin, budget.limit), (48, 1852));
    assert_eq!(build(&without("tokens.estimate"), None).margin, 0);
    assert_eq!(build(&Profile::sillytavern(), None).margin, 0);
}

#[test]
fn what_a_models_name_changes_is_told() {
    let scene = shared(&json!({"preset": {
        "chat_completion_source": "openai", "openai_model": "o3-mini", "openai_max_context": 2000, "openai_max_tokens": 100,
    }}));
    let turn = build(&scene, &TurnOptions::default(), &Profile::promptside());
    let change = &turn.report.body_changes[0];
    assert_eq!((change.rule, change.completion_tokens, change.system_to_user), ("o_series", true, false));
    assert_eq!(change.removed, ["temperature", "top_p", "frequency_penalty", "presence_penalty"]);
    assert_eq!(turn.payload["max_completion_tokens"], 100);
}

#[test]
fn a_lorebook_keeps_to_its_share() {
    let entry = |uid: u32, content: &str| json!({"uid": uid, "key": ["Zeile"], "content": content, "constant": false, "order": 100 - uid});
    let scene = shared(&json!({
        "settings": {"world_info": {"world_info_budget": 100}},
        "lorebooks": {"global": ["World", "Other"], "books": {
            "World": {"entries": {"0": entry(0, "山は北にある。"), "1": entry(1, "Гора высока и далека."), "2": entry(2, "kurz")}},
            "Other": {"entries": {"0": entry(0, "another book, as long as it likes")}},
        }},
    }));
    let run = |limit: i64| {
        let shares =
            Shares { books: Some([("World".to_owned(), limit)].into_iter().collect()), ..Shares::default() };
        let turn = build(&scene, &with_shares(shares), &Profile::promptside());
        lines(&turn).join("\n")
    };
    // One token a code point: 7, 21 and 4.
    let text = run(12);
    assert!(
        text.contains("山は")
            && !text.contains("Гора")
            && text.contains("kurz")
            && text.contains("another book")
    );
    assert!(["山は", "Гора", "kurz", "another book"].iter().all(|t| run(32).contains(t)));
}

/// tiktoken with cl100k_base.
struct Cl100k;

impl Count for Cl100k {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(tiktoken_rs::cl100k_base_singleton().encode_ordinary(text).len()).unwrap()
    }
    fn exact(&self) -> bool {
        true
    }
    fn id(&self) -> &'static str {
        "cl100k_base"
    }
}

#[test]
fn messages_cost_what_the_reference_counts() {
    // Spec 02 §9.1 [run].
    let messages = [
        ("system", "[Start a new Chat]", None),
        ("user", "Hello, world!", None),
        ("user", "你好，世界！今天天气怎么样？", None),
        ("system", "hey", Some("example_user")),
        ("system", "meow", Some("example_assistant")),
        ("user", "a <|endoftext|> b", None),
    ];
    let rows: [(&str, &dyn Count, [i64; 6]); 4] = [
        ("gpt-4o", &O200k, [11, 9, 14, 9, 11, 5]),
        ("gpt-5.1", &O200k, [11, 9, 14, 9, 11, 5]),
        ("gpt-4", &Cl100k, [11, 9, 22, 9, 11, 5]),
        ("gpt-3.5-turbo-0301", &Cl100k, [21, 19, 32, 17, 19, 15]),
    ];
    for (model, count, want) in rows {
        let model = Model { source: Source::OpenAi, name: model.to_owned(), entry: None };
        let framing = Framing::of(&model, count, &Profile::sillytavern());
        let got = messages.map(|(role, content, name)| {
            framing.message(count, &Fields { role, content, name, ..Fields::default() })
        });
        assert_eq!(got, want, "{}", model.name);
        assert!(model.name.ends_with("0301") || framing.text(count, "Hello, world!") == 10);
    }
    let known = [
        ("[Start a new Chat]", 6),
        ("[Example Chat]", 4),
        ("[Write the next reply only as Alice.]", 9),
        ("[Continue your last message without repeating its original content.]", 11),
    ];
    assert!(known.iter().all(|(text, n)| O200k.count(text) == *n && Cl100k.count(text) == *n));
}
