//! Regex scripts: recorded cases, the tables of spec 05 Part 1A, the faults of Part 2 on both sides, bounds.

use promptside::host::{Dice, Host, Limits};
use promptside::js::regexp::Match;
use promptside::macros::EnvBase;
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::Scene;
use promptside::scripts::{Applied, Call, CompiledScripts, Placement, run};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::golden::{cases, report, scene};

fn profile(name: &str) -> Profile {
    Profile::named(name).unwrap()
}

/// ST's rules with one fault put right.
fn with(switch: &str) -> Profile {
    let mut profile = Profile::sillytavern();
    profile.set(switch, true).unwrap();
    profile
}

/// A scene with a user, two characters and scripts; counters begin at 0.
fn scene_with(global: &Value) -> Scene {
    scene_of(&json!({"global": global}))
}

fn scene_of(scripts: &Value) -> Scene {
    let card = |avatar: &str, name: &str, scripts: Value| json!({"avatar": avatar, "card": {"data": {"name": name, "extensions": {"regex_scripts": scripts}}}});
    let own = |name: &str| scripts.get(name).cloned().unwrap_or(json!([]));
    Scene::from_value(&json!({
        "characters": [card("c.png", "Character", own("card")), card("d.png", "Dora", own("dora"))],
        "persona": {"name": scripts.get("user").cloned().unwrap_or(json!("User"))},
        "chat": {"id": "chat", "metadata": {"variables": {"c": 0}}, "messages": []},
        "scripts": {"global": own("global"), "preset": own("preset"), "allowedCharacters": scripts.get("allowed").cloned().unwrap_or(json!(["c.png", "d.png"]))},
    }))
    .unwrap()
    .0
}

struct Done {
    text: String,
    changes: Applied,
    effects: Effects,
}

fn run_in(scene: &Scene, text: &str, call: &Call<'_>, profile: &Profile) -> Done {
    let mut host = Host::new(Dice::tape([]));
    let (scripts, _) = CompiledScripts::new(scene, profile, &host.limits);
    let base = EnvBase::new(scene, Some(0), profile);
    let mut effects = Effects::default();
    let changes = run(text, call, &scripts, &base.env(), &mut host, &mut effects);
    Done { text: changes.text.clone(), changes, effects }
}

fn ai() -> Call<'static> {
    Call { speaker: Some("c.png"), ..Call::new(Placement::AiOutput) }
}

fn script(find: &str, replace: &str) -> Value {
    json!({"scriptName": "s", "findRegex": find, "replaceString": replace, "placement": [2], "substituteRegex": 0})
}

fn one(find: &str, replace: &str, text: &str, profile: &Profile) -> String {
    run_in(&scene_with(&json!([script(find, replace)])), text, &ai(), profile).text
}

#[test]
fn recorded_cases() {
    let (mut total, mut failures) = (0, Vec::new());
    let profile = Profile::sillytavern();
    for area in ["regex", "session", "messages-random", "cleanup-random"] {
        for case in cases(area) {
            let scene = scene(&case);
            let scripts = CompiledScripts::new(&scene, &profile, &Limits::default()).0;
            for (i, (step, expected)) in case.steps().iter().enumerate() {
                if step["do"] != "regex" {
                    break; // what other steps change is not followed here
                }
                total += 1;
                let member = step["member"].as_str().or(scene.chat_with.as_deref());
                let solo = scene.group.is_none().then(|| scene.characters[0].avatar.as_str());
                let speaker = member.or(solo);
                let call = Call {
                    prompt: step["prompt"] == true,
                    markdown: step["markdown"] == true,
                    edit: step["edit"] == true,
                    depth: step["depth"].as_i64(),
                    speaker,
                    ..Call::new(Placement::from_number(step["placement"].as_i64().unwrap()).unwrap())
                };
                let base = EnvBase::new(&scene, speaker.and_then(|s| scene.character_index(s)), &profile);
                let mut host = Host::new(Dice::tape([]));
                let mut effects = Effects::default();
                let text = step["text"].as_str().unwrap();
                let got = run(text, &call, &scripts, &base.env(), &mut host, &mut effects).text;
                if expected["result"] != got.as_str() {
                    failures.push(format!("{} step {i}: want {}, got {got:?}", case.id, expected["result"]));
                }
            }
        }
    }
    assert!(total >= 20, "{total}");
    report("regex", total, &failures);
}

/// spec 05 §3: find, replacement, text, result.
#[test]
fn one_script_on_one_text() {
    for (find, replace, text, right) in [
        ("/(b)(a)?/g", "[$1|$2|$0|$10|$$|$&|$<x>]", "ba b", "[b|a|ba||$$|$&|] [b||b||$$|$&|]"),
        ("/(?<n>b)/g", "<$<n>|$<m>|$1>", "abc", "a<b||b>c"),
        ("/b/g", "{{match}}{{MATCH}}{{ match }}", "abc", "abb{{ match }}c"),
        ("/b/g", "x{{user}}y{{newline}}", "abc", "axUsery\nc"),
        ("/b/g", "\\n", "abc", "a\\nc"),
        ("/(.+)/g", "$1", "say {{user}}", "say User"),
        ("/(.+)/g", "$1", "esc \\{x\\}", "esc {x}"),
        ("/b/g", "$1", "abc", "a1c"),
        ("/(a)/g", "$2|$3", "xa", "x1|xa"),
        ("/(b)/g", "$01|$1x|$11", "abc", "ab|bx|c"),
        ("/x/g", "{{incvar::c}}", "xxx", "123"),
        ("/x*/g", "-", "abc", "-a-b-c-"),
        ("/<think>[\\s\\S]*?<\\/think>\\s*/gi", "", "<think>a\nb</think>\n\nHello", "Hello"),
        ("/\"([^\"]+)\"/g", "“$1”", "He said \"hi\" and \"yo\".", "He said “hi” and “yo”."),
        ("/(?<=洛)恩/g", "恩😀", "洛恩，洛恩", "洛恩😀，洛恩😀"),
        ("/😀+/", "x", "😀😀", "x😀"),
        ("/😀+/u", "x", "😀😀", "x"),
        ("/./g", "$0", "a😀洛สวัสดีمرحبا", "a😀洛สวัสดีمرحبا"),
        ("/(?=)/g", ".", "😀", ".\u{fffd}.\u{fffd}."),
        ("a", "x", "aa", "xa"),
        ("/a/gy", "x", "a /a/gy", "a x"),
        ("/b/", "$", "abc", "a$c"),
    ] {
        assert_eq!(one(find, replace, text, &Profile::sillytavern()), right, "{find} -> {replace}");
    }
}

#[test]
fn trim_texts_touch_inserted_text_only() {
    let trimming =
        |find: &str, replace: &str, trim: Value, text: &str, name: Option<&str>, profile: &Profile| {
            let mut s = script(find, replace);
            s["trimStrings"] = trim;
            run_in(&scene_with(&json!([s])), text, &Call { name, ..ai() }, profile).text
        };
    let st = Profile::sillytavern();
    assert_eq!(
        trimming("/(\\w+)/g", "[{{match}}]", json!(["a", "{{user}}"]), "banana User", None, &st),
        "[bnn] []"
    );
    assert_eq!(trimming("/b/g", "a", json!(["a"]), "b", None, &st), "a");
    assert_eq!(trimming("/.+/g", "$0", json!(["", "恩恩"]), "洛恩恩恩😀", None, &st), "洛恩😀");
    // R8: the override is `{{char}}` in trim texts only; put right, everywhere, unless the user wrote the text.
    let text = "Dora Character";
    assert_eq!(
        trimming("/.+/", "{{char}}:$0", json!(["{{char}}"]), text, Some("Dora"), &st),
        "Character: Character"
    );
    assert_eq!(
        trimming(
            "/.+/",
            "{{char}}:$0",
            json!(["{{char}}"]),
            text,
            Some("Dora"),
            &with("scripts.replacement")
        ),
        "Dora: Character"
    );
}

/// spec 05 §3: macros in the find text, by mode.
#[test]
fn macros_in_the_pattern() {
    let sub = |find: &str, mode: Value, user: &str, text: &str, profile: &Profile| {
        let mut s = script(find, "X");
        s["substituteRegex"] = mode;
        run_in(&scene_of(&json!({"global": [s], "user": user})), text, &ai(), profile).text
    };
    let st = Profile::sillytavern();
    assert_eq!(sub("/{{user}}/g", json!(1), "User", "User {{user}}", &st), "X {{user}}");
    assert_eq!(sub("/{{user}}/g", json!(0), "User", "User {{user}}", &st), "User X");
    assert_eq!(sub("/{{user}}/g", json!(7), "User", "User {{user}}", &st), "User X");
    assert_eq!(sub("/{{user}}/g", json!("1"), "User", "User", &st), "X");
    assert_eq!(sub("/{{user}}/g", json!(true), "User", "User", &st), "X");
    assert_eq!(sub("/{{user}}/g", json!(1), "U.s(er", "U.s(er", &st), "U.s(er");
    assert_eq!(sub("/{{user}}/g", json!(2), "U.s(er", "U.s(er Uxs(er", &st), "X Uxs(er");
    assert_eq!(sub("/{{user}}/g", json!(2), "洛·恩?", "洛·恩? 洛·", &st), "X 洛·");
    assert_eq!(sub("/\\b{{char}}\\b/gi", json!(2), "U", "character CHARACTER chars", &st), "X X chars");
    let mut invalid = script("/{{user}}/", "X");
    invalid["substituteRegex"] = json!(1);
    let done = run_in(&scene_of(&json!({"global": [invalid], "user": "("})), "(", &ai(), &st);
    assert_eq!((done.text.as_str(), &*done.effects.notes[0].code), ("(", "script-invalid"));
    // R4: braces of values and of the pattern lose their backslash; put right, they keep it.
    let on = with("scripts.pattern");
    assert_eq!(sub("/^{{user}}$/", json!(2), "a{2}", "a{2}", &st), "a{2}");
    assert_eq!(sub("/^{{user}}$/", json!(2), "a{2}", "a{2}", &on), "X");
    assert_eq!(sub("/a\\\\{2}/g", json!(1), "U", "a\\\\ a\\", &st), "a\\\\ a\\");
    assert_eq!(sub("/a\\\\{2}/g", json!(1), "U", "a\\\\ a\\", &on), "X a\\");
    assert_eq!(sub("/\\{x\\}/gu", json!(1), "U", "{x}", &st), "{x}");
    assert_eq!(sub("/\\{x\\}/gu", json!(1), "U", "{x}", &on), "X");
}

#[test]
fn flags_and_lines_put_right() {
    let (st, on) = (Profile::sillytavern(), with("scripts.pattern"));
    for (find, text, off, right) in [
        ("/a/gy", "aab a", "aab a", "XXb a"),
        ("/[a-c--b]/gv", "x[[abc]]", "x[[abc]]", "x[[abc]]"), // a range is no operand: invalid
        ("/[[a-c]--b]/gv", "abc", "abc", "XbX"),
        ("/a\nb/g", "a\nb", "a\nb", "X"),
        ("/a/gg", "a /a/gg", "a X", "a /a/gg"),
    ] {
        assert_eq!(one(find, "X", text, &st), off, "{find:?}");
        assert_eq!(one(find, "X", text, &on), right, "{find:?}");
    }
    // What does nothing says so, in both profiles.
    let scene = scene_with(&json!([
        script("/(/", ""),
        script("/a/gy", ""),
        script("/a/g b", ""),
        script("/ok/", "")
    ]));
    let codes = |profile: &Profile| -> Vec<String> {
        let warnings = CompiledScripts::new(&scene, profile, &Limits::default()).1;
        warnings.iter().map(|w| format!("{} {}", w.path, w.code)).collect()
    };
    assert_eq!(
        codes(&st),
        ["scripts.global[0] script-invalid", "scripts.global[1] script-odd", "scripts.global[2] script-odd"]
    );
    assert_eq!(codes(&on), ["scripts.global[0] script-invalid", "scripts.global[2] script-odd"]);
}

#[test]
fn which_scripts_run_and_in_which_order() {
    let named = |find: &str, name: &str| script(find, &format!("$0-{name}"));
    let scene = |allowed: Value| {
        scene_of(
            &json!({"global": [named("/.+/", "G1"), named("/.+/", "G2")], "preset": [named("/.+/", "P1")], "card": [named("/.+/", "S1")], "dora": [named("/.+/", "D1")], "allowed": allowed}),
        )
    };
    let st = Profile::sillytavern();
    let all = scene(json!(["c.png", "d.png"]));
    assert_eq!(run_in(&all, "x", &ai(), &st).text, "x-G1-G2-P1-S1");
    assert_eq!(run_in(&scene(json!([])), "x", &ai(), &st).text, "x-G1-G2-P1");
    assert_eq!(run_in(&all, "x", &Call { speaker: None, ..ai() }, &st).text, "x-G1-G2-P1");
    // R6: the speaker's scripts, whoever wrote the text; put right, the author's.
    let other = Call { author: Some("d.png"), ..ai() };
    assert_eq!(run_in(&all, "x", &other, &st).text, "x-G1-G2-P1-S1");
    assert_eq!(run_in(&all, "x", &other, &with("scripts.owner")).text, "x-G1-G2-P1-D1");
    assert_eq!(run_in(&all, "x", &ai(), &with("scripts.owner")).text, "x-G1-G2-P1-S1");
    // R9: priority goes before the owner.
    let mut first = named("/.+/", "S1");
    first["priority"] = json!(-1);
    let mixed = scene_of(&json!({"global": [named("/.+/", "G1")], "card": [first]}));
    assert_eq!(run_in(&mixed, "x", &ai(), &st).text, "x-G1-S1");
    assert_eq!(run_in(&mixed, "x", &ai(), &with("scripts.order")).text, "x-S1-G1");
    // What each did is reported.
    let done = run_in(
        &scene_with(&json!([named("/a/g", "A"), script("/.+/s", ""), script("/x/", "y")])),
        "a洛a",
        &ai(),
        &st,
    );
    let report: Vec<_> = done.changes.changes.iter().map(|c| (c.matches, c.emptied)).collect();
    assert_eq!((done.text.as_str(), report), ("", vec![(2, false), (1, true)]));
}

#[test]
fn modes_edits_and_placements() {
    let st = Profile::sillytavern();
    let run_with = |changes: Value, call: Call<'_>, profile: &Profile| {
        let mut s = script("/x/", "y");
        s.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        run_in(&scene_with(&json!([s])), "x", &call, profile).text == "y"
    };
    let plain = ai();
    let shown = Call { markdown: true, ..ai() };
    let sent = Call { prompt: true, ..ai() };
    for (flags, expected) in [
        (json!({}), [true, false, false]),
        (json!({"markdownOnly": true}), [false, true, false]),
        (json!({"promptOnly": true}), [false, false, true]),
        (json!({"markdownOnly": true, "promptOnly": true}), [false, true, true]),
        (json!({"disabled": true}), [false; 3]),
        (json!({"placement": [1, 3]}), [false; 3]),
        (json!({"placement": null}), [false; 3]),
        (json!({"placement": [0]}), [false, true, true]),
        (json!({"placement": [0, 3]}), [false; 3]),
        (json!({"placement": ["2"]}), [false; 3]),
    ] {
        assert_eq!([plain, shown, sent].map(|c| run_with(flags.clone(), c, &st)), expected, "{flags}");
    }
    let edit = Call { edit: true, ..ai() };
    assert!(!run_with(json!({}), edit, &st));
    assert!(run_with(json!({"runOnEdit": true}), edit, &st));
    assert!(run_with(json!({"placement": [4]}), Call::new(Placement::SlashCommand), &st), "old send-as");
    // R10: a lorebook entry is never stored.
    let lore = Call { prompt: true, ..Call::new(Placement::Lore) };
    assert!(!run_with(json!({"placement": [5]}), lore, &st));
    assert!(run_with(json!({"placement": [5]}), lore, &with("scripts.order")));
    assert!(!run_with(json!({"placement": [5], "markdownOnly": true}), lore, &with("scripts.order")));
    // R11: counting from the start.
    let early = json!({"maxIndex": 1});
    let at = |index| Call { index, ..ai() };
    assert_eq!(
        [Some(0), Some(1), Some(2), None].map(|i| run_with(early.clone(), at(i), &with("scripts.order"))),
        [true, true, false, false]
    );
    assert!(run_with(early, at(Some(9)), &st));
}

/// spec 05 §4: depths -1 0 1 2 3 4, then none.
#[test]
fn depth_windows() {
    let st = Profile::sillytavern();
    let runs =
        |min: &Value, max: &Value, call: Call<'_>, profile: &Profile| -> String {
            let mut s = script("/x/", "y");
            (s["minDepth"], s["maxDepth"]) = (min.clone(), max.clone());
            s["promptOnly"] = json!(call.prompt);
            s["markdownOnly"] = json!(call.markdown);
            let scene = scene_with(&json!([s]));
            let depths = [Some(-1), Some(0), Some(1), Some(2), Some(3), Some(4), None];
            depths
                .iter()
                .map(|&depth| {
                    if run_in(&scene, "x", &Call { depth, ..call }, profile).text == "y" { 'y' } else { '.' }
                })
                .collect()
        };
    let sent = Call { prompt: true, ..ai() };
    for (min, max, expected) in [
        (json!(null), json!(null), "yyyyyyy"),
        (json!(1), json!(null), "..yyyyy"),
        (json!(0), json!(null), ".yyyyyy"),
        (json!(-1), json!(null), "yyyyyyy"),
        (json!(2), json!(3), "...yy.y"),
        (json!(null), json!(0), "yy....y"),
        (json!(null), json!(-1), "yyyyyyy"),
        (json!(-2), json!(null), "yyyyyyy"),
        (json!("1"), json!("2"), "..yy..y"),
        (json!(""), json!(null), ".yyyyyy"),
        (json!("x"), json!("y"), "yyyyyyy"),
    ] {
        assert_eq!(runs(&min, &max, sent, &st), expected, "{min} {max}");
    }
    // R1, R12: what is stored has depth 0, what is shown without a depth is hidden.
    let fixed = with("scripts.depth");
    let shown = Call { markdown: true, ..ai() };
    assert_eq!(runs(&json!(2), &json!(null), ai(), &st), "...yyyy");
    assert_eq!(runs(&json!(2), &json!(null), ai(), &fixed), "...yyy.");
    assert_eq!(runs(&json!(null), &json!(0), ai(), &fixed), "yy....y");
    assert_eq!(runs(&json!(null), &json!(3), shown, &fixed), "yyyyy..");
    assert_eq!(runs(&json!(-1), &json!(-1), shown, &fixed), "yyyyyyy");
}

#[test]
fn matched_text_is_data_when_put_right() {
    let (st, on) = (Profile::sillytavern(), with("scripts.replacement"));
    // R2
    assert_eq!(one("/b/g", "[$1]", "abc", &on), "a[]c");
    assert_eq!(one("/(a)/g", "$2|$3|$1", "xa", &on), "x||a");
    // R3
    for (text, off) in [
        ("{{setvar::x::1}}", "<>"),
        ("{{user}}", "<User>"),
        ("<USER> \\{洛\\}", "<User {洛}>"),
        ("{{", "<{{>"),
    ] {
        assert_eq!(one("/.+/", "<$0>", text, &st), off, "{text}");
        assert_eq!(one("/.+/", "<$0>", text, &on), format!("<{text}>"));
        assert_eq!(one("/.+/", "<$0{{user}}>", text, &on), format!("<{text}User>"));
    }
    // Macros of the replacement still take matched text, as text.
    let xp = scene_with(&json!([script("/\\[xp:([^:]+):(\\d+)\\]/g", "{{.xp$1 += $2}}")]));
    for profile in [&st, &on] {
        let done = run_in(&xp, "[xp:Mari:20] a [xp:Mari:5]", &ai(), profile);
        assert_eq!(done.text, " a ");
        assert_eq!(done.effects.local.get("xpMari"), Some(&Some(json!(25))));
    }
    let keep = scene_with(&json!([script("/.+/", "{{setvar::last::$0}}{{getvar::last}}")]));
    let done = run_in(&keep, "洛 {{user}} {a}", &ai(), &on);
    assert_eq!(done.text, "洛 {{user}} {a}");
    assert_eq!(done.effects.local.get("last"), Some(&Some(json!("洛 {{user}} {a}"))));
    // Writes count where the text is stored.
    let mut counter = script("/x/g", "{{incvar::c}}");
    counter["promptOnly"] = json!(true);
    let scene = scene_with(&json!([counter]));
    let sent = Call { prompt: true, ..ai() };
    for (profile, written) in [(&st, Some(Some(json!(3)))), (&on, None)] {
        let done = run_in(&scene, "xxx", &sent, profile);
        assert_eq!((done.text.as_str(), done.effects.local.get("c").cloned()), ("123", written));
    }
}

#[test]
fn a_narrators_line_has_one_placement_when_put_right() {
    let chat = Scene::from_value(&json!({"characters": [], "chat": [
        {"name": "U", "is_user": true, "mes": "a"},
        {"name": "N", "mes": "b", "extra": {"type": "narrator"}},
        {"name": "C", "mes": "c"},
    ]}))
    .unwrap()
    .0
    .chat
    .messages;
    let of = |prompt, profile: &Profile| -> Vec<_> {
        chat.iter().map(|m| Placement::of(m, prompt, profile).number()).collect()
    };
    assert_eq!(of(false, &Profile::sillytavern()), [1, 3, 2]);
    assert_eq!(of(true, &Profile::sillytavern()), [1, 2, 2]);
    assert_eq!(of(true, &with("scripts.owner")), [1, 3, 2]);
}

#[test]
fn reports_of_users() {
    for case in cases("reports") {
        if case.json["area"] != "regex" {
            continue;
        }
        let input = &case.json["input"];
        if let Some(scripts) = input["scripts"].as_array() {
            for (s, right) in scripts.iter().zip(case.json["right"]["script_output"].as_array().unwrap()) {
                let got = one(
                    s["find"].as_str().unwrap(),
                    s["replace"].as_str().unwrap(),
                    s["text"].as_str().unwrap(),
                    &profile("promptside"),
                );
                assert_eq!(right, &json!(got), "{}", case.id);
            }
        } else {
            let mut prompt_only = input["script"].clone();
            prompt_only["promptOnly"] = json!(true);
            let calls = [
                (&input["script"], ai()),
                (&input["script"], Call { prompt: true, depth: Some(3), ..ai() }),
                (&prompt_only, Call { prompt: true, depth: Some(10), ..ai() }),
            ];
            for (i, (s, call)) in calls.into_iter().enumerate() {
                let text = input["cases"][i]["text"].as_str().unwrap();
                let got = run_in(&scene_with(&json!([s])), text, &call, &profile("promptside")).text;
                assert_eq!(case.json["right"]["output"][i], json!(got), "{} {i}", case.id);
            }
        }
    }
}

#[test]
fn hostile_patterns_end_and_are_named() {
    let a = "a".repeat(3_000) + "!";
    for find in [
        "/(a+)+$/",
        "/(a|a)*c/",
        "/<p>(?:.|\\s)+?<\\/p>/",
        "/\\s+$/",
        "/a.*b.*c.*d/",
        "/(a+)+\\1$/",
        "/(?=(a+)+$)a/",
        "/^(a*)*$/",
        "/(?:a{0,9}){9}b/",
        "/(?<=(a+)+)b/",
    ] {
        let mut bad = script(find, "never");
        bad["scriptName"] = json!("hostile");
        let scene = scene_with(&json!([bad, script("/!/", "?")]));
        let done = run_in(&scene, &a, &ai(), &profile("promptside"));
        assert!(done.text.ends_with('?'), "{find}: the other script still runs");
        assert!(done.text.starts_with("aaa"), "{find}: never a partial result");
        for note in &done.effects.notes {
            assert!(note.code == "script-stopped" && note.message.contains("hostile"), "{note:?}");
        }
    }
    let stopped = run_in(&scene_with(&json!([script("/(a+)+\\1$/", "")])), &a, &ai(), &profile("promptside"));
    assert_eq!(stopped.effects.notes.len(), 1);
}

/// spec 05 §3.1: the tables of hostile patterns. Each ends within its budget with the result that V8 comes to.
#[test]
fn the_tables_of_hostile_patterns() {
    let replaced = |find: &str, text: &str| {
        let scene = scene_with(&json!([script(find, "X")]));
        let mut host = Host::new(Dice::tape([]));
        let profile = Profile::sillytavern();
        let (scripts, _) = CompiledScripts::new(&scene, &profile, &host.limits);
        let base = EnvBase::new(&scene, Some(0), &profile);
        let mut effects = Effects::default();
        let done = run(text, &ai(), &scripts, &base.env(), &mut host, &mut effects);
        assert!(effects.notes.is_empty(), "{find}: {:?}", effects.notes);
        assert!(host.regex_spent <= host.limits.regex_steps, "{find}: {}", host.regex_spent);
        done.changes.first().map_or(0, |c| c.matches)
    };
    let a = |n: usize| "a".repeat(n);
    for (find, text) in [
        ("/(a+)+$/", a(24) + "!"),
        ("/(a+)+$/", a(26) + "!"),
        ("/(a|a)*c/", a(24)),
        ("/<p>(?:.|\\s)+?<\\/p>/", format!("<p>{}", " ".repeat(22))),
        ("/\\s+$/", " ".repeat(20_000) + "x"),
        ("/a.*b.*c.*d/", "ab".repeat(500)),
        ("/.*?foo/", "x".repeat(5_000)),
        // Much longer ones are no trouble either.
        ("/(a+)+$/", a(100_000) + "!"),
        ("/(a|a)*c/", a(50_000)),
        ("/<p>(?:.|\\s)+?<\\/p>/", format!("<p>{}", " \u{3000}".repeat(50_000))),
        ("/^(a*)*$/", a(50_000) + "!"),
        ("/a.*b.*c.*d/", "ab".repeat(20_000)),
    ] {
        assert_eq!(replaced(find, &text), 0, "{find}");
    }
    // A search is linear, all matches together may not be: the budget is for all of them.
    for n in [5_000, 20_000, 80_000] {
        assert_eq!(replaced("/.*[^A-Z]|[A-Z]/g", &"A".repeat(n)), n);
    }
}

/// What a text is worth is spent anew in each request.
#[test]
fn the_budget_of_a_request_is_its_own() {
    let scene = scene_with(&json!([script("/(a+)+\\1$/", "never")]));
    let profile = Profile::promptside();
    let mut host = Host::new(Dice::tape([]));
    host.limits.regex_total = 30_000;
    let (scripts, _) = CompiledScripts::new(&scene, &profile, &host.limits);
    let base = EnvBase::new(&scene, Some(0), &profile);
    let text = "a".repeat(3_000) + "!";
    for _ in 0..3 {
        host.begin_request();
        let mut effects = Effects::default();
        let done = run(&text, &ai(), &scripts, &base.env(), &mut host, &mut effects);
        assert_eq!((done.text.len(), host.regex_spent), (text.len(), 30_000));
        let note = &effects.notes[0];
        assert_eq!(note.path, "scripts.global[0]");
        assert_eq!(
            note.message,
            "the script \"s\" left the text as it was: its pattern needs too many steps"
        );
    }
}

/// spec 05 §3.4: macros in scripts of presets and cards go as far as their owners may; the user's own go everywhere.
#[test]
fn scripts_of_presets_and_cards_are_trusted_as_far_as_these() {
    let find = script("/x/", "{{setglobalvar::g::1}}{{setvar::l::1}}{{user}}");
    for (scope, profile, writes) in [
        ("global", Profile::promptside(), true),
        ("preset", Profile::promptside(), false),
        ("card", Profile::promptside(), false),
        ("global", Profile::sillytavern(), true),
        ("preset", Profile::sillytavern(), true),
        ("card", Profile::sillytavern(), true),
    ] {
        let done = run_in(&scene_of(&json!({scope: [find]})), "x", &ai(), &profile);
        assert_eq!(done.text, "User");
        assert_eq!(
            (done.effects.global.len(), done.effects.local.len()),
            (usize::from(writes), 1),
            "{scope}"
        );
        assert_eq!(done.effects.notes.iter().any(|n| n.code == "macro.denied"), !writes);
    }
}

/// Another engine in place of ours: the rest of a script is the same.
#[test]
fn a_platforms_engine_can_find_the_matches() {
    fn every_second(pattern: &str, flags: &str, text: &[u16]) -> Option<Vec<Match>> {
        assert_eq!((pattern, flags), ("(.)", "g"));
        (text.len() < 9).then(|| {
            (0..text.len())
                .step_by(2)
                .map(|i| Match { groups: vec![Some((i, i + 1)), Some((i, i + 1))] })
                .collect()
        })
    }
    let scene = scene_with(&json!([script("/(.)/g", "<$1{{user}}>")]));
    let profile = Profile::promptside();
    let run_on = |text: &str| {
        let mut host = Host::new(Dice::tape([]));
        host.platform_regexp = Some(every_second);
        let (scripts, _) = CompiledScripts::new(&scene, &profile, &host.limits);
        let base = EnvBase::new(&scene, Some(0), &profile);
        let mut effects = Effects::default();
        let text = run(text, &ai(), &scripts, &base.env(), &mut host, &mut effects).text;
        (text, effects.notes.first().map(|n| n.message.clone()))
    };
    assert_eq!(run_on("洛b恩"), ("<洛User>b<恩User>".to_owned(), None));
    let failed = "the script \"s\" left the text as it was: the platform's engine failed".to_owned();
    assert_eq!(run_on("123456789"), ("123456789".to_owned(), Some(failed)));
}

#[test]
fn limits_of_supplied_scripts() {
    let run_limited = |s: Value, text: &str, change: fn(&mut Limits)| {
        let scene = scene_with(&json!([s]));
        let mut host = Host::new(Dice::tape([]));
        change(&mut host.limits);
        let profile = Profile::promptside();
        let (scripts, warnings) = CompiledScripts::new(&scene, &profile, &host.limits);
        let base = EnvBase::new(&scene, Some(0), &profile);
        let mut effects = Effects::default();
        let text = run(text, &ai(), &scripts, &base.env(), &mut host, &mut effects).text;
        (text, warnings.len() + effects.notes.len())
    };
    let plain = || script("/洛/g", "洛恩洛恩");
    assert_eq!(run_limited(plain(), "洛洛", |_| ()), ("洛恩洛恩洛恩洛恩".to_owned(), 0));
    assert_eq!(run_limited(plain(), "洛洛", |l| l.script_find = 4), ("洛洛".to_owned(), 1));
    assert_eq!(run_limited(plain(), "洛洛", |l| l.script_replace = 11), ("洛洛".to_owned(), 1));
    assert_eq!(run_limited(plain(), "洛洛", |l| l.script_text = 1), ("洛洛".to_owned(), 1));
    assert_eq!(run_limited(plain(), "洛洛", |l| l.script_matches = 1), ("洛洛".to_owned(), 1));
    assert_eq!(run_limited(plain(), "洛洛", |l| l.regex_total = 2), ("洛洛".to_owned(), 1));
    assert_eq!(run_limited(plain(), "洛洛", |l| l.scripts = 0), ("洛洛".to_owned(), 1));
    let grow = script("/./g", &"長".repeat(50));
    assert_eq!(run_limited(grow, "ab", |l| l.script_output = 60), ("ab".to_owned(), 1));
    // Odd data is read, not refused.
    for odd in [
        json!({}),
        json!({"findRegex": null}),
        json!({"findRegex": "a"}),
        json!(7),
        json!({"findRegex": ["a"], "placement": [2]}),
    ] {
        let _ = run_limited(odd, "abc", |_| ());
    }
    assert_eq!(run_limited(json!({"findRegex": "a", "placement": [2]}), "abc", |_| ()).0, "bc", "R16");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_script_ends(
        find in "(/[a-c.*+?|()\\[\\]{}\\\\^$洛😀0-9,<=!:-]{0,14}/[gimsuvy]{0,3})|[\\PC]{0,8}",
        replace in "[$0-9<>a{}:\\\\洛😀]{0,10}",
        trim in "[ab{}洛]{0,2}",
        text in "[abc洛😀{}<>\\n\\\\ ]{0,30}",
        substitute in 0..3,
        fixed in any::<bool>(),
    ) {
        let profile = if fixed { Profile::promptside() } else { Profile::sillytavern() };
        let mut s = script(&find, &replace);
        s["substituteRegex"] = json!(substitute);
        s["trimStrings"] = json!([trim]);
        let scene = scene_with(&json!([s]));
        let mut host = Host::new(Dice::tape([]));
        host.limits.regex_steps = 20_000;
        let (scripts, _) = CompiledScripts::new(&scene, &profile, &host.limits);
        let base = EnvBase::new(&scene, Some(0), &profile);
        let mut effects = Effects::default();
        let done = run(&text, &ai(), &scripts, &base.env(), &mut host, &mut effects);
        prop_assert!(host.regex_spent <= 20_000);
        prop_assert!(effects.notes.iter().all(|n| n.code != "script-stopped") || done.text == text);
    }
}
