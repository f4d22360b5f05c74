//! The faults of the macro language, on both sides of each switch (spec 04 Part 2), the bounds (Part 3), and what editors ask.

use promptside::host::{Dice, Host};
use promptside::js::regexp::{Regex, Steps, Text};
use promptside::macros::SpanStatus::{Arguments, Closes, Expands, Unknown, Unpaired};
use promptside::macros::{self, Env, EnvBase, SpanStatus, Trust, expand};
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::Scene;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::golden::cases;
use crate::macros_spec::World;

/// Each row: text, as the reference, put right by the switch alone.
fn both(switch: &str, change: impl Fn(World) -> World, rows: &[(&str, &str, &str)]) {
    let old = change(World::plain());
    let mut new = change(World::plain());
    new.profile.set(switch, true).unwrap();
    let mut all = change(World::plain());
    all.profile = Profile::promptside();
    let mut without = change(World::plain());
    without.profile = Profile::promptside();
    without.profile.set(switch, false).unwrap();
    let mut wrong = Vec::new();
    for (text, before, after) in rows {
        for (name, world, want) in [("old", &old, before), ("new", &new, after), ("all", &all, after)] {
            let got = world.text(text);
            if got != **want {
                wrong.push(format!("{name} {text:?}\n   want {want:?}\n   got  {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        rows.iter().any(|(text, _, after)| without.text(text) != **after),
        "{switch} does something of its own"
    );
}

#[test]
fn escapes() {
    let vars = |w: World| w.local(json!({"latex": "\\{x\\}", "cut": "a\n{{trim}}\nb"}));
    both(
        "macros.escapes",
        vars,
        &[
            ("\\{\\{user\\}\\}", "{{user}}", "{{user}}"),
            ("{{if 1}}\\\\{x{{/if}}", "{x", "\\{x"),
            ("{{getvar::latex}}", "{x}", "\\{x\\}"),
            ("{{getvar::cut}}", "ab", "a\n{{trim}}\nb"),
            ("a\n{{trim}}\n{{newline}}b", "ab", "ab"),
            ("\\{{unknown}} \\{{user}}", "{{unknown}} \\User", "{{unknown}} \\User"),
            ("{{setvar::x::\\{a\\} }}{{getvar::x}}", "{a}", "{a}"),
            ("{{reverse::a{{trim}}b}}", "b}}mirt{{a", "ba"),
            ("x{{else}}y", "xy", "xy"),
            ("foo\n{{noop}}{{trim}}\nbar", "foobar", "foo\nbar"),
            ("{{setvar::n::{{noop}}a}}{{getvar::n}}{{if noop}}x{{/if}}", "a", "a"),
        ],
    );
}

#[test]
fn scopes() {
    both(
        "macros.scopes",
        |w| w.local(json!({"n": 1})),
        &[
            ("{{// /usr/bin}}", "{{// /usr/bin}}", ""),
            ("{{//}}a{{///}}b", "b", "b"),
            (
                "{{unknown}}a {{user}} b{{/unknown}}",
                "{{unknown}}a User b}}",
                "{{unknown}}a User b{{/unknown}}",
            ),
            ("{{foo}}\n 你 \n{{/foo }}", "{{foo}}你}}", "{{foo}}\n 你 \n{{/foo }}"),
            ("{{setvar::}}x{{/setvar}}", "{{setvar::}}x}}", "{{setvar::}}x{{/setvar}}"),
            ("{{.x = {{if 1}}a{{/if}}}}[{{.x}}]", "[{{if 1}}a{{/if}}]", "[a]"),
            ("{{user}} {{user}} {{/user}}", "{{user}} User {{/user}}", "User User {{/user}}"),
            ("{{space}}{{/space}}", "{{space}}", "{{space}}{{/space}}"),
            ("{{// {{incvar::n}}}}{{.n}}", "2", "1"),
            ("{{//}}{{incvar::n}}{{///}}{{.n}}", "2", "1"),
        ],
    );
    // A dynamic macro takes no content.
    let mut w = World::plain();
    w.dynamic = vec![("dyn".into(), "D".into())];
    assert_eq!(w.text("{{dyn}}x{{/dyn}}"), "{{dyn}}x}}");
    w.profile = Profile::promptside();
    assert_eq!(w.text("{{dyn}}x{{/dyn}}"), "Dx{{/dyn}}");
}

fn card(data: Value) -> Scene {
    let mut data = data;
    data["name"] = json!("Character");
    Scene::from_value(&json!({"characters": [{"avatar": "c.png", "card": {"data": data}}],
        "persona": {"description": "P {{char}}"}}))
    .unwrap()
    .0
}

#[test]
fn card_fields() {
    let scene = card(json!({"description": "D {{scenario}} {{persona}}", "scenario": "S {{description}}",
        "personality": "{{random::a::b}}"}));
    both(
        "macros.card_fields",
        |mut w| {
            w.scene = scene.clone();
            w.draws = vec![0.0, 0.9];
            w
        },
        &[
            ("{{description}}", "D  ", "D S  P Character"),
            ("{{scenario}}", "S ", "S D  P Character"),
            ("{{personality}}{{personality}}", "aa", "aa"),
        ],
    );
    // Once a request, not once a text.
    for (profile, want) in [(Profile::sillytavern(), ["a", "b"]), (Profile::promptside(), ["a", "a"])] {
        let base = EnvBase::new(&scene, Some(0), &profile);
        let mut host = Host::new(Dice::tape([0.0, 0.9]));
        let mut effects = Effects::default();
        let got = [0, 1].map(|_| expand("{{personality}}", &base.env(), &mut host, &mut effects));
        assert_eq!(got, want);
        let texts = base.card_texts(&mut host, &mut effects);
        assert_eq!(texts.persona, "P Character");
    }
}

#[test]
fn not_char() {
    let group = json!({
        "characters": [
            {"avatar": "a", "card": {"data": {"name": "洛恩"}}},
            {"avatar": "b", "card": {"data": {"name": "洛恩"}}},
            {"avatar": "c", "card": {"data": {"name": "セラ"}}},
        ],
        "group": {"members": ["a", "b", "c"], "disabled_members": ["c"]},
    });
    both("macros.not_char", |_| World::new(&group), &[("{{notChar}}", "", "洛恩, セラ, User")]);
}

#[test]
fn conditions() {
    both(
        "macros.if",
        |w| w.local(json!({"n": 2, "ready": "off", "name": "Анна"})),
        &[
            ("{{IF 1}}a{{ELSE}}b{{/if}}", "ab", "a"),
            ("{{IF 0}}a{{ELSE}}b{{/if}}", "", "b"),
            ("{{if .n > 3}}y{{else}}n{{/if}}", "y", "n"),
            ("{{if {{.n}} < 3}}y{{else}}n{{/if}}", "y", "y"),
            ("{{if {{user}} == Bob}}y{{else}}n{{/if}}", "y", "n"),
            ("{{if user == \"User\"}}y{{else}}n{{/if}}", "y", "y"),
            ("{{if .name == Анна}}y{{else}}n{{/if}}", "y", "y"),
            ("{{if .name != Анна}}y{{else}}n{{/if}}", "y", "n"),
            ("{{if ready}}y{{else}}n{{/if}}", "y", "n"),
            ("{{if not ready}}y{{else}}n{{/if}}", "y", "y"),
            ("{{if !ready}}y{{else}}n{{/if}}", "n", "y"),
            ("{{if .n >= 2 and .n <= 2}}y{{else}}n{{/if}}", "y", "y"),
            ("{{if .n > 2 or off}}y{{else}}n{{/if}}", "y", "n"),
            ("{{if .n == 2.0}}y{{else}}n{{/if}}", "y", "y"),
            ("{{if <b>x</b>}}y{{else}}n{{/if}}", "y", "y"),
            ("{{if sword and shield}}y{{else}}n{{/if}}", "y", "y"),
            ("{{if}}x{{/if}}", "{{if}}x{{/if}}", "{{if}}x{{/if}}"),
            ("{{if 一 }}y{{else}}n{{/if}}", "y", "y"),
            ("{{if !}}a{{else}}b{{/if}}", "a", "a"),
        ],
    );
}

#[test]
fn names() {
    let instruct = json!({"enabled": true, "first_output_sequence": "F"});
    let scene = json!({"settings": {"power_user": {"instruct": instruct}},
        "characters": [{"avatar": "c.png", "card": {"data": {"name": "Character", "post_history_instructions": "PHI"}}}],
        "chat": {"id": "c", "messages": [], "metadata": {"variables": {"my": "M"}}}});
    both(
        "macros.names",
        |_| World::new(&scene),
        &[
            ("{{user's}}", "User", "{{user's}}"),
            ("{{user{{char}}}}", "User}}", "{{userCharacter}}"),
            (
                "{{charJailbreak}}|{{instructFirstOutput}}",
                "{{charJailbreak}}|{{instructFirstOutput}}",
                "PHI|F",
            ),
            ("{{.}}|{{$}}|{{.my var}}", "||M", "{{.}}|{{$}}|{{.my var}}"),
            ("{{.血 = 3}}{{.血++}}", "{{.血 = 3}}{{.血++}}", "4"),
            ("{{.имя-2 = я}}{{.имя-2}}", "{{.имя-2 = я}}{{.имя-2}}", "я"),
            ("{{random::{{.v.w}}}}", "{{.v}}", "{{.v.w}}"),
            ("{{if .}}a{{/if}}", "a", "a"),
            ("{{.my!}}|{{..}}", "M|", "{{.my!}}|{{..}}"),
            ("{{.q = {{1}} b}}[{{.q}}]", " b}}[{{}}1]", " b}}[{{1]"),
            ("{{reverse::a{{}}{{{unknown}}}", "{{a{{{unknown}}}", "{{a{{{unknown}}}"),
            ("{{reverse::a{{}}{{{newline}}}", "{{a{{{newline}}}", "{{a{\n}"),
        ],
    );
}

#[test]
fn values() {
    both(
        "macros.values",
        |w| {
            let mut w =
                w.local(json!({"x": "007", "d": "1.0", "s": " 7 ", "n": null, "o": "{\"k\": \"01\"}"}));
            w.scene.chat.messages = Scene::from_value(
                &json!({"characters": [], "chat": [{"mes": "seen"}, {"mes": "hidden", "is_system": true}]}),
            )
            .unwrap()
            .0
            .chat
            .messages;
            w
        },
        &[
            ("{{getvar::x}}|{{.x}}|{{.d}}|[{{.s}}]", "7|7|1|[7]", "007|007|1.0|[ 7 ]"),
            ("[{{.n}}]{{getvarkey::o::k}}", "[0]1", "[]01"),
            ("{{addvar::x::1}}{{.x}}", "8", "8"),
            ("{{.x == 7}}{{.x == 007}}{{.x > 6}}", "truefalsetrue", "truetruetrue"),
            (
                "{{hasvar::toString}}[{{getvar::constructor}}]",
                "true[function Object() { [native code] }]",
                "false[]",
            ),
            ("{{setvar::__proto__::x}}[{{getvar::__proto__}}]", "[{}]", "[x]"),
            (
                "{{time_utc+2}}|{{time::utc+5:30}}|{{time::UTC-3:30}}",
                "2:07 PM|2:07 PM|2:07 PM",
                "4:07 PM|7:37 PM|10:37 AM",
            ),
            ("{{timeDiff::{{time}}::1:07 PM}}", "Invalid date", "in an hour"),
            ("{{lastMessage}}", "hidden", "seen"),
        ],
    );
    let mut w = World::fixed();
    let zoned = |w: &World| {
        let base = EnvBase::new(&w.scene, Some(0), &w.profile);
        let mut values = base.values.clone();
        values.insert("zone/asia/tokyo".into(), "540".into());
        let mut host = Host { clock: w.clock.clone(), ..Host::new(Dice::tape([])) };
        let env = Env { values: &values, ..base.env() };
        expand("{{time::Asia/Tokyo}}", &env, &mut host, &mut Effects::default())
    };
    assert_eq!(zoned(&w), "11:07 PM");
    w.profile = Profile::sillytavern();
    assert_eq!(zoned(&w), "2:07 PM");
}

#[test]
fn trust() {
    let text = "{{user}} {{setglobalvar::g::1}}{{$h = 2}}{{banned::w}}{{setvar::l::3}}{{getglobalvar::g}}{{.l}}{{random::a}}";
    let run = |profile: Profile, trust: Trust| {
        let w = World { profile, ..World::plain() };
        w.run_with(text, |env| Env { trust, ..env })
    };
    for trust in [Trust::Full, Trust::Card, Trust::Data] {
        let (got, effects) = run(Profile::sillytavern(), trust);
        assert_eq!((got.as_str(), effects.banned.len(), effects.global.len()), ("User 13a", 1, 2));
    }
    let (got, effects) = run(Profile::promptside(), Trust::Card);
    assert_eq!((got.as_str(), effects.banned.len(), effects.global.len()), ("User 3a", 0, 0));
    assert!(effects.notes.iter().any(|n| n.code == "macro.denied"));
    let (got, effects) = run(Profile::promptside(), Trust::Data);
    assert_eq!(got, text.replace("{{user}}", "User"));
    assert_eq!(effects, Effects::default());
    let mut old = World::legacy();
    old.profile = Profile::promptside();
    let (got, effects) = old.run_with(text, |env| Env { trust: Trust::Data, ..env });
    assert_eq!((got, effects), (text.replace("{{user}}", "User"), Effects::default()));
    // A card field read by the user's preset is still the card's text.
    let scene = card(json!({"description": "{{setglobalvar::g::1}}{{user}}"}));
    for (profile, count) in [(Profile::sillytavern(), 1), (Profile::promptside(), 0)] {
        let base = EnvBase::new(&scene, Some(0), &profile);
        let mut effects = Effects::default();
        expand("{{description}}", &base.env(), &mut Host::new(Dice::tape([])), &mut effects);
        assert_eq!(effects.global.len(), count);
    }
}

#[test]
fn limits() {
    let w = World::plain().local(json!({"big": "x".repeat(2000)}));
    let run = |text: &str| {
        let mut host = Host::new(Dice::tape([]));
        host.limits.macro_output = 10_000;
        host.limits.macro_steps = 500;
        host.limits.macro_value = 4096;
        host.limits.macro_depth = 16;
        host.limits.macro_list = 100;
        let base = EnvBase::new(&w.scene, Some(0), &w.profile);
        let mut effects = Effects::default();
        let out = expand(text, &base.env(), &mut host, &mut effects);
        (out, effects.notes.first().map(|n| n.code.to_string()).unwrap_or_default())
    };
    for (text, code) in [
        ("{{newline::101}}".to_owned(), "macro.list"),
        ("{{space::100000000}}".to_owned(), "macro.list"),
        ("{{roll::99999999d6}}".to_owned(), "macro.roll"),
        (format!("{{{{random::{}}}}}", "a::".repeat(200)), "macro.list"),
    ] {
        assert_eq!(run(&text), (text.clone(), code.to_owned()));
    }
    let (out, code) = run(&"{{setvar::a::{{getvar::a}}{{getvar::a}}{{getvar::big}}}}".repeat(20));
    assert_eq!(code, "macro.variable");
    assert!(out.len() < 20_000);
    let (out, code) = run(&"{{getvar::big}}".repeat(100));
    assert_eq!(code, "macro.output");
    assert!(out.len() < 12_000);
    let (out, code) = run(&"{{user}}".repeat(501));
    assert_eq!((out, code.as_str()), ("User".repeat(500) + "{{user}}", "macro.steps"));
    let nested = format!("{}x{}", "{{reverse::".repeat(17), "}}".repeat(17));
    let (out, code) = run(&nested);
    assert_eq!(code, "macro.depth");
    assert!(out.contains('x'), "{out}");
    let scopes = format!("{}x{}", "{{if 1}}".repeat(40), "{{/if}}".repeat(40));
    let (out, code) = run(&scopes);
    assert_eq!(code, "macro.depth");
    assert_eq!(out, format!("{}x{}", "{{if 1}}".repeat(24), "{{/if}}".repeat(24)));
    // Notes do not flood.
    let base = EnvBase::new(&w.scene, Some(0), &w.profile);
    let mut effects = Effects::default();
    for _ in 0..50 {
        expand("{{space::100000}}", &base.env(), &mut Host::new(Dice::tape([])), &mut effects);
    }
    assert_eq!(effects.notes.len(), 3);
}

#[test]
fn long_nonsense_is_no_trouble() {
    for row in [
        "{{user}} ",
        "{{if 1}}",
        "{{/if}}",
        "{{a}}",
        "{{a ",
        "{{{",
        "}}",
        "{{.a = ",
        "{{// ",
        "{{roll ",
        "<user>",
        "\\{",
        "{{banned \"",
    ] {
        let text = row.repeat((1 << 17) / row.len());
        for w in [World::plain(), World::fixed(), World::legacy()] {
            let out = w.text(&text);
            assert!(out.len() <= 2 * text.len().max(2 << 20), "{row}");
        }
        macros::parse(&text, &[], &Profile::promptside());
        macros::needs(&text, &Profile::promptside());
    }
}

fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{{",
        "}}",
        "{",
        "}",
        "::",
        ":",
        "|",
        "/",
        "#",
        "!",
        "//",
        ".",
        "$",
        " ",
        "\n",
        "\\{",
        "\\}",
        "user",
        "if",
        "else",
        "{{else}}",
        "{{/if}}",
        "{{if ",
        "1",
        "0",
        "setvar",
        "getvar",
        "{{.x",
        "{{$y",
        " = ",
        "++",
        "||",
        "??",
        "reverse",
        "random",
        "pick",
        "{{trim}}",
        "{{/",
        "unknown",
        "洛恩",
        "セラ",
        "사과",
        "тишина",
        "สวัสดี",
        "مرحبا",
        "😀",
        "\u{3000}",
        "\u{0}",
        "<USER>",
        "a,b",
        "description",
        "{{roll 2d6}}",
        "{{newline::3}}",
        "and",
        "==",
        "-1",
        "{{.v.w}}",
        "time_UTC+2",
        "{{time_UTC+2}}",
        "\"",
        "bias",
        "{{bias \"x\"}}",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|p| p.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in soup()) {
        let local = json!({"x": "1", "v": "[1,2]"});
        for w in [World::plain(), World::fixed(), World::legacy()] {
            let w = w.local(local.clone());
            let (first, effects) = w.run(&text);
            prop_assert!(first.len() <= 64 * (text.len() + 64));
            prop_assert_eq!((first, effects), w.run(&text));
        }
        let spans = macros::parse(&text, &[], &Profile::sillytavern());
        let length = text.encode_utf16().count();
        for s in &spans {
            prop_assert!(s.range[0] < s.range[1] && s.range[1] <= length);
        }
        macros::bias(&text);
        macros::without_bias(&text);
        let needs = macros::needs(&text, &Profile::promptside());
        if needs.is_constant() {
            let mut other = World::fixed();
            other.scene.persona.name = "別人".into();
            other.clock.now_ms += 86_400_000;
            other.draws = vec![0.9; 64];
            prop_assert_eq!(World::fixed().text(&text), other.local(json!({"x": "other", "v": "z"})).text(&text));
        }
    }

    /// Well-formed text gives the same in both profiles.
    #[test]
    fn profiles_agree_on_plain_use(words in prop::collection::vec(prop::sample::select(vec![
        "{{user}}", "{{char}}", "{{setvar::a::1}}", "{{addvar::a::2}}", "{{getvar::a}}", "{{.a}}", "{{.b = x y}}", "{{.b}}", "{{if .a}}yes{{else}}no{{/if}}",
        "{{if {{.a == 1}}}}one{{/if}}", "{{random::a::b}}", "{{pick::a::b}}", "{{roll 1d6}}", "{{time}}", "{{newline}}", "\n{{trim}}\n", "{{// note}}",
        "{{reverse}}абв{{/reverse}}", "{{setvar::t}}\n  多行\n{{/setvar}}", "{{unknown::x}}", "plain 文字", "{\"a\": 1}", "\\{\\{user\\}\\}", "{{time_UTC+2}}",
        "<user>",
    ]), 0..12)) {
        let text = words.concat();
        prop_assert_eq!(World::plain().text(&text), World::fixed().text(&text));
    }
}

#[test]
fn spans() {
    let profile = Profile::sillytavern();
    let text = "😀{{user}} {{foo::{{char}}}} {{if 1}}a{{/if}} {{user::x}} {{/bar}} <BOT> {{.hp += 1}} {{time_UTC+2}}";
    let got: Vec<(String, SpanStatus)> =
        macros::parse(text, &[], &profile).into_iter().map(|s| (s.name, s.status)).collect();
    let want = [
        ("user", Expands),
        ("foo", Unknown),
        ("char", Expands),
        ("if", Expands),
        ("if", Closes),
        ("user", Arguments),
        ("bar", Unpaired),
        ("BOT", Expands),
        (".hp", Expands),
        ("time_UTC", Expands),
    ];
    assert_eq!(got, want.map(|(n, s)| (n.to_owned(), s)));
    let spans = macros::parse(text, &[], &profile);
    let json = serde_json::to_value(&spans).unwrap();
    assert_eq!(json[0], json!({"range": [2, 10], "name": "user", "status": "expands", "args": []}));
    assert_eq!(json[3]["content"], json!([37, 38]));
    assert_eq!(macros::unknown("{{a}} {{B::{{user}}}} {{b}} {{c}} {{.x}}", &["C"], &profile), ["a", "B"]);
}

#[test]
fn needs() {
    let profile = Profile::promptside();
    let needs = |text: &str| macros::needs(text, &profile);
    for text in ["", "plain 文字 { } <b>", "{{newline}}{{// x}}{{reverse::洛}}", "\\{x\\}"] {
        assert!(needs(text).is_constant(), "{text}");
    }
    for text in ["{{user}}", "<USER>", "{{reverse::{{group}}}}"] {
        assert!(needs(text).is_static() && !needs(text).is_constant(), "{text}");
    }
    assert!(needs("{{random::a::b}}").random && needs("{{roll 6}}").random);
    assert!(needs("{{.x++}}").writes && !needs("{{.x}}").writes && needs("{{.x}}").variables);
    assert!(needs("{{description}}").card && needs("{{lastMessage}}").chat && needs("{{time_UTC+2}}").time);
    assert!(needs("{{if description}}a{{/if}}").card && needs("{{if {{user}}}}a{{/if}}").random);
    assert!(needs("{{foo}}").unknown && needs("{{pick::a::b}}").host);
}

/// Public bug reports of the area.
#[test]
fn reports() {
    for case in cases("reports").iter().filter(|c| c.json["area"] == "macros") {
        let (input, right) = (&case.json["input"], &case.json["right"]);
        let texts: Vec<&str> = match input["cases"].as_array() {
            Some(list) => list.iter().filter_map(Value::as_str).collect(),
            None => vec![input["text"].as_str().unwrap()],
        };
        for seed in 0..200 {
            let run = |profile: Profile| -> Vec<String> {
                let mut world = World { profile, ..World::plain() };
                let mut dice = Dice::seeded(seed);
                world.draws = (0..8).map(|_| dice.draw(promptside::host::Site::MacroRandom)).collect();
                texts.iter().map(|t| world.text(t)).collect()
            };
            let got = run(Profile::promptside());
            if let Some(list) = right["one_of"].as_array() {
                assert!(list.iter().any(|x| *x == got[0]), "{}: {got:?}", case.id);
            }
            if let Some(pattern) = right["matches"].as_str() {
                let regex = Regex::new(pattern, "").unwrap();
                assert!(
                    regex.test(&Text::from(got[0].as_str()), &mut Steps::new(10_000)).unwrap(),
                    "{}: {got:?}",
                    case.id
                );
            }
            if right["output"].is_array() {
                assert_eq!(json!(got), right["output"], "{}", case.id);
            }
            if right["sillytavern"].is_array() {
                assert_eq!(json!(run(Profile::sillytavern())), right["sillytavern"], "{}", case.id);
            }
        }
    }
}
