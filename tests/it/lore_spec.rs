//! The [run] examples of spec 03, on the reference's side, and the switches of the lorebook on both.

use promptside::host::{Dice, Host};
use promptside::lore::{self, Books, ExamplePlace, Input, Lines, LoreResult, Outcome, Reason, State};
use promptside::macros::EnvBase;
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::Scene;
use serde_json::{Value, json};

/// One look at one book `W`: what is given, with the spec's defaults.
#[derive(Clone)]
pub struct Look {
    pub entries: Value,
    pub books: Value,
    pub global: Vec<&'static str>,
    pub world: &'static str,
    /// Newest first.
    pub lines: Vec<String>,
    pub settings: Value,
    pub draws: Vec<f64>,
    pub max_context: i64,
    pub metadata: Value,
    pub trigger: &'static str,
    pub forced: Vec<Value>,
    pub sources: [&'static str; 6],
    pub injections: Vec<String>,
    pub profile: Profile,
    pub nobody: bool,
    pub tags: Value,
    pub dry: bool,
    /// Turns of the user; as many as lines by default.
    pub turns: Option<usize>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            entries: json!({}),
            books: json!({}),
            global: vec!["W"],
            world: "",
            lines: vec!["A: hi".to_owned()],
            settings: json!({}),
            draws: Vec::new(),
            max_context: 4000,
            metadata: json!({}),
            trigger: "normal",
            forced: Vec::new(),
            sources: [""; 6],
            injections: Vec::new(),
            profile: Profile::sillytavern(),
            nobody: false,
            tags: json!([]),
            dry: false,
            turns: None,
        }
    }
}

pub struct Seen {
    pub lore: LoreResult,
    pub effects: Effects,
    pub drawn: usize,
    pub host: Host,
}

impl Seen {
    pub fn uids(&self) -> Vec<u64> {
        self.lore.activated.iter().map(|a| a.uid.as_u64().unwrap_or(999)).collect()
    }
    fn ids(&self) -> String {
        self.lore.activated.iter().map(|a| format!("{}.{}", a.book, a.uid)).collect::<Vec<_>>().join(" ")
    }
    /// `state>next[new]` of each loop.
    fn trace(&self) -> String {
        let n = |s: State| match s {
            State::None => 0,
            State::Initial => 1,
            State::Recursion => 2,
            State::MinActivations => 3,
        };
        let line = |l: &lore::Loop| {
            let new: Vec<_> = l.new.iter().map(|id| id.rsplit('.').next().unwrap()).collect();
            format!("{}>{}[{}]", n(l.state), n(l.next), new.join(" "))
        };
        self.lore.loops.iter().map(line).collect::<Vec<_>>().join(" ")
    }
    fn timers(&self) -> Value {
        self.effects.metadata.get("timedWorldInfo").cloned().flatten().unwrap_or_default()
    }
}

/// An entry as the editor makes it, with other fields.
pub fn entry(uid: usize, own: &Value) -> Value {
    let mut e = json!({"uid": uid, "key": [], "keysecondary": [], "comment": "", "content": "", "constant": false, "selective": true,
        "selectiveLogic": 0, "order": 100, "position": 0, "disable": false, "ignoreBudget": false, "excludeRecursion": false,
        "preventRecursion": false, "delayUntilRecursion": 0, "probability": 100, "useProbability": true, "depth": 4, "role": 0,
        "group": "", "groupOverride": false, "groupWeight": 100});
    e.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    e
}

fn list(own: &[Value]) -> Value {
    own.iter()
        .enumerate()
        .map(|(i, e)| (i.to_string(), entry(i, e)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

pub fn look(l: &Look) -> Seen {
    look_with(l, &mut str::to_owned)
}

/// The same with a script on the entries' texts.
fn look_with(l: &Look, script: &mut dyn FnMut(&str) -> String) -> Seen {
    let mut books = l.books.clone();
    if !l.entries.as_object().unwrap().is_empty() {
        books["W"] = json!({"entries": l.entries});
    }
    let (scene, _) = Scene::from_value(&json!({
        "characters": [{"avatar": "sera.png", "card": {"name": "Seraphina", "tags": l.tags, "extensions": {"world": l.world}}}],
        "persona": {"name": "Alex"},
        "chat": {"metadata": l.metadata},
        "settings": {"world_info": l.settings},
        "lorebooks": {"books": books, "global": l.global},
    }))
    .unwrap();
    let speaker = scene.characters.first().filter(|_| !l.nobody);
    let mut host = Host::new(Dice::tape(l.draws.clone()));
    let mut effects = Effects::default();
    let compiled = Books::new(&scene, speaker, &l.profile);
    let base = EnvBase::new(&scene, Some(0), &l.profile);
    let lines = Lines { turns: l.turns.unwrap_or(l.lines.len()), ..Lines::new(l.lines.clone()) };
    let input = Input {
        lines: &lines,
        sources: l.sources,
        injections: &l.injections,
        max_context: l.max_context,
        trigger: l.trigger,
        speaker,
        forced: &l.forced,
        dry: l.dry,
        metadata: &scene.chat.metadata,
        settings: &scene.settings.world_info,
        shares: None,
    };
    let count = |s: &str| i64::try_from(s.split_whitespace().count()).unwrap();
    let lore = lore::evaluate(
        &compiled,
        &input,
        &base.env(),
        &l.profile,
        &count,
        &mut |t, _, _, _| script(t),
        &mut host,
        &mut effects,
    );
    Seen { lore, effects, drawn: host.dice.drawn().len(), host }
}

fn chat(newest_first: &[&str]) -> Vec<String> {
    newest_first.iter().map(|s| (*s).to_owned()).collect()
}

fn both(l: &Look) -> (Vec<u64>, Vec<u64>) {
    let ours = Look { profile: Profile::promptside(), ..l.clone() };
    (look(l).uids(), look(&ours).uids())
}

fn matches(text: &str, key: &str, settings: &Value, profile: Profile) -> bool {
    let l = Look {
        entries: list(&[json!({"key": [key], "content": "x"})]),
        lines: chat(&[text]),
        settings: settings.clone(),
        profile,
        ..Look::default()
    };
    !look(&l).uids().is_empty()
}

#[test]
fn plain_keys_follow_the_table() {
    // §6.1 [run], whole words, not case sensitive; the last column: with `lore.matching` on (F9-F11).
    for (text, key, silly, ours) in [
        ("long live the king", "king", true, true),
        ("King!", "king", true, true),
        ("the-king's", "king", true, true),
        ("not to my liking", "king", false, false),
        ("king_slayer", "king", false, false),
        ("king2", "king", false, false),
        ("I saw a black cats", "black cat", true, false),
        ("unblack catalog", "black cat", true, false),
        ("a black cat sat", "black cat", true, true),
        ("a blackcat", "black cat", false, false),
        ("a black  cat", "black cat", false, true),
        ("a black\ncat", "black cat", false, true),
        ("睡龍酒館", "龍", true, true),
        ("睡龍酒館", "酒館", true, true),
        ("A龍B", "龍", false, true),
        ("龍2", "龍", false, true),
        ("我叫Lorne說", "Lorne", true, true),
        ("カフェでケーキ", "カフェ", true, true),
        ("カフェイン", "カフェ", true, true),
        ("который", "кот", true, false),
        ("cafés", "café", false, false),
        ("café", "caf", true, false),
        ("naïve", "na", true, false),
        ("Zoë!", "zoë", true, true),
        ("C++ rocks", "c++", true, true),
        ("C+++", "c++", true, true),
        ("(dragon)", "(dragon)", true, true),
        ("x(dragon)", "(dragon)", false, true),
        ("ok🐉fire", "🐉", false, true),
        ("ok🐉fire", "fire", true, true),
        ("STRASSE", "straße", false, true),
        ("İstanbul", "istanbul", false, false),
        ("ISTANBUL", "ıstanbul", false, false),
        ("ΟΔΟΣ", "οδος", true, true),
        ("ΟΔΟΣ x", "οδοσ", false, true),
        ("มีแมวสองตัว", "แมว", true, true),
    ] {
        assert_eq!(matches(text, key, &json!({}), Profile::sillytavern()), silly, "{key} in {text}");
        assert_eq!(matches(text, key, &json!({}), Profile::promptside()), ours, "ours: {key} in {text}");
    }
    let loose = json!({"world_info_match_whole_words": false});
    for (text, key) in [("liking", "king"), ("A龍B", "龍")] {
        assert!(matches(text, key, &loose, Profile::sillytavern()));
    }
    let exact = json!({"world_info_case_sensitive": true});
    assert!(!matches("dragon", "Dragon", &exact, Profile::sillytavern()));
    assert!(matches("Dragon", "Dragon", &exact, Profile::sillytavern()));
    // A key of blanks alone (F14).
    assert!(matches("x", "  ", &json!({}), Profile::sillytavern()));
    assert!(!matches("x", "  ", &json!({}), Profile::promptside()));
}

#[test]
fn regex_keys_follow_the_table() {
    // §6.2 [run].
    for (text, key, found) in [
        ("not liking", "/king/", true),
        ("LIKING", "/king/", false),
        ("LIKING", "/king/i", true),
        ("king", "/^king/", false),
        ("king", "/^\\x01king/", true),
        ("a\nking", "/^king/m", true),
        ("king", "/king/y", false),
        ("a/b", "/a\\/b/", true),
        ("a/b", "/a/b/", false),
        ("see /a/b/ there", "/a/b/", true),
        ("king", "/king/gg", false),
        ("a", "/a/v", false),
        ("a", "/a/d", false),
        ("text /(/ here", "/(/", true),
        ("x // y", "//", true),
    ] {
        assert_eq!(matches(text, key, &json!({}), Profile::sillytavern()), found, "{key} in {text}");
    }
    let l = |key: &str| Look {
        entries: list(&[json!({"key": [key], "content": "x"})]),
        lines: chat(&["A: second", "A: first"]),
        ..Look::default()
    };
    assert_eq!(look(&l("/second[\\s\\S]*first/")).uids(), [0]);
    assert!(look(&l("/first[\\s\\S]*second/")).uids().is_empty());
    // What was meant as an expression and is none is told (F12).
    assert!(look(&l("/(/")).effects.notes.iter().any(|n| n.code == "lore_key" && n.message.contains("/(/")));
}

#[test]
fn an_expression_that_blows_up_ends() {
    let l = Look {
        entries: list(&[
            json!({"key": ["/(a+)+$/"], "content": "x"}),
            json!({"key": ["/(a+)+$/", "/(x+)+(x+)\\1\\2y/"], "content": "x"}),
            json!({"key": ["тихо"], "content": "y"}),
        ]),
        lines: chat(&["тихо", &format!("{}! {}", "a".repeat(5_000), "x".repeat(5_000))]),
        ..Look::default()
    };
    let seen = look(&l);
    assert_eq!(seen.uids(), [2]);
    assert!(seen.effects.notes.iter().any(|n| n.code == "regex_limit"));
    // It is the whole request's allowance that is spent.
    assert!(seen.host.regex_spent > 0 && seen.host.regex_spent <= seen.host.limits.regex_total);
}

#[test]
fn the_scan_text_is_joined_as_recorded() {
    // §5 [run], read back through an expression that names the whole of it.
    let sees = |own: Value, text: &str, settings: Value| {
        let mut e = own;
        let pattern = text.replace('\n', "\\n").replace('S', "\\x01");
        e["key"] = json!([format!("/^{pattern}$/")]);
        e["content"] = json!("x");
        let l = Look {
            entries: list(&[e]),
            lines: chat(&["A: one ", "", "B: two\n", "C: three"]),
            injections: chat(&["INJ1", "INJ2"]),
            sources: ["PD", "CD", "CP", "DP", "SC_", "CN"],
            settings,
            ..Look::default()
        };
        look(&l).uids() == [0]
    };
    let s = || json!({});
    assert!(sees(json!({"scanDepth": 2}), "SA: one\nS\nSINJ1\nSINJ2", s()));
    assert!(sees(json!({"scanDepth": 3}), "SA: one\nS\nSB: two\nSINJ1\nSINJ2", s()));
    assert!(sees(json!({"scanDepth": 1.5}), "SA: one\nSINJ1\nSINJ2", s()));
    assert!(sees(json!({"scanDepth": 0}), "", s()));
    assert!(sees(json!({"scanDepth": -1}), "", s()));
    let all = json!({"scanDepth": 4, "matchPersonaDescription": true, "matchCharacterDescription": true,
        "matchCharacterPersonality": true, "matchCharacterDepthPrompt": true, "matchScenario": true, "matchCreatorNotes": true});
    let want = "SA: one\nS\nSB: two\nSC: three\nSPD\nSCD\nSCP\nSDP\nSSC_\nSCN\nSINJ1\nSINJ2"
        .replace("SSC_", "\u{1}\u{53}C_");
    // The scenario's own letter S is no mark.
    let mut e = all;
    e["key"] = json!([format!(
        "/^{}$/",
        want.replace('\n', "\\n").replace('S', "\\x01").replace("\u{1}\\x01C_", "\\x01SC_")
    )]);
    e["content"] = json!("x");
    let l = Look {
        entries: list(&[e]),
        lines: chat(&["A: one ", "", "B: two\n", "C: three"]),
        injections: chat(&["INJ1", "INJ2"]),
        sources: ["PD", "CD", "CP", "DP", "SC_", "CN"],
        ..Look::default()
    };
    assert_eq!(look(&l).uids(), [0]);
    let l = Look {
        entries: list(&[json!({"key": ["/^\\x01$/"], "content": "x"})]),
        lines: Vec::new(),
        ..Look::default()
    };
    assert_eq!(look(&l).uids(), [0]);
}

#[test]
fn secondary_keys_follow_the_table() {
    // §8 [run].
    for (logic, row) in [
        (0, [true, false, true, true, false, false]),
        (1, [false, true, true, false, true, true]),
        (2, [false, true, false, false, true, true]),
        (3, [true, false, false, true, false, false]),
        (9, [false; 6]),
    ] {
        let lists: [&[&str]; 6] =
            [&["wakes"], &["nope"], &["wakes", "nope"], &["wakes", "the"], &["nope", "zip"], &[""]];
        for (keys, found) in lists.iter().zip(row) {
            let l = Look {
                entries: list(&[
                    json!({"key": ["dragon"], "keysecondary": keys, "selectiveLogic": logic, "content": "x"}),
                ]),
                lines: chat(&["A: the dragon wakes"]),
                ..Look::default()
            };
            assert_eq!(!look(&l).uids().is_empty(), found, "{logic} {keys:?}");
        }
    }
}

#[test]
fn timers_follow_the_table() {
    // §9.6 [run].
    let mut metadata = json!({});
    let mut rows = Vec::new();
    for n in 1..=10 {
        let l = Look {
            entries: list(&[
                json!({"key": ["dragon"], "content": "Hi", "sticky": 3, "cooldown": 2, "delay": 2}),
            ]),
            lines: vec!["dragon".to_owned(); n],
            metadata: metadata.clone(),
            ..Look::default()
        };
        let seen = look(&l);
        let t = seen.timers();
        let span = |kind: &str| {
            let r = &t[kind]["W.0"];
            if r.is_null() {
                return "-".to_owned();
            }
            let protected = if r["protected"] == true { "p" } else { "" };
            format!("{}-{}{protected}", r["start"], r["end"])
        };
        rows.push(format!("{} {} {}", u8::from(!seen.uids().is_empty()), span("sticky"), span("cooldown")));
        metadata = json!({"timedWorldInfo": t});
    }
    assert_eq!(
        rows,
        [
            "0 - -",
            "1 2-5 2-4",
            "1 2-5 2-4",
            "1 2-5 4-6",
            "0 - 5-7p",
            "0 - 5-7p",
            "1 7-10 7-9",
            "1 7-10 7-9",
            "1 7-10 9-11",
            "0 - 10-12p"
        ]
    );
    let l = Look {
        entries: json!({"3": {"uid": 3, "key": ["dragon"], "content": "Hi", "position": 0, "order": 100, "sticky": 3, "cooldown": 2}}),
        lines: chat(&["dragon", "x"]),
        ..Look::default()
    };
    assert_eq!(
        serde_json::to_string(&look(&l).timers()).unwrap(),
        r#"{"sticky":{"W.3":{"hash":1540175586726419,"start":2,"end":5,"protected":false}},"cooldown":{"W.3":{"hash":1540175586726419,"start":2,"end":4,"protected":false}}}"#
    );
}

fn run(lines: &[&str], settings: Value, entries: &[Value]) -> Seen {
    look(&Look { entries: list(entries), lines: chat(lines), settings, ..Look::default() })
}

#[test]
fn loops_follow_the_traces() {
    // §10 [run].
    let plain = run(
        &["Alex: I saw a Dragon!"],
        json!({}),
        &[
            json!({"key": ["dragon"], "content": "Dragons breathe fire."}),
            json!({"key": ["fire"], "content": "Fire is hot."}),
        ],
    );
    assert_eq!(plain.trace(), "1>2[0] 2>2[1] 2>0[]");
    assert_eq!(plain.lore.before, "Fire is hot.\nDragons breathe fire.");
    let flags = run(
        &["dragon"],
        json!({}),
        &[
            json!({"key": ["dragon"], "content": "D egg nest"}),
            json!({"key": ["egg"], "excludeRecursion": true, "content": "E"}),
            json!({"key": ["nest"], "content": "NEST twig", "preventRecursion": true}),
            json!({"key": ["twig"], "content": "T"}),
        ],
    );
    assert_eq!(flags.trace(), "1>2[0] 2>0[2]");
    let levels = run(
        &["dragon"],
        json!({}),
        &[
            json!({"key": ["dragon"], "content": "base"}),
            json!({"key": ["base"], "content": "L1", "delayUntilRecursion": true}),
            json!({"key": ["L1"], "content": "L3", "delayUntilRecursion": 3}),
            json!({"key": ["base"], "content": "x", "delayUntilRecursion": 3}),
        ],
    );
    assert_eq!(levels.trace(), "1>2[0] 2>2[1] 2>2[] 2>2[2 3] 2>0[]");
    assert_eq!(
        run(
            &["dragon"],
            json!({}),
            &[json!({"key": ["dragon"], "content": "x", "delayUntilRecursion": true})]
        )
        .trace(),
        "1>0[]"
    );
    let two = [
        json!({"key": ["dragon"], "content": "x", "delayUntilRecursion": 1}),
        json!({"key": ["dragon"], "content": "y", "delayUntilRecursion": 2}),
    ];
    assert_eq!(run(&["dragon"], json!({}), &two).trace(), "1>2[] 2>2[0 1] 2>0[]");
    assert_eq!(run(&["dragon"], json!({"world_info_recursive": false}), &two).trace(), "1>2[] 2>0[0 1]");
    let chain = [
        json!({"key": ["a"], "content": "b"}),
        json!({"key": ["b"], "content": "c"}),
        json!({"key": ["c"], "content": "d"}),
    ];
    for (steps, active) in [(1, 1), (2, 2), (0, 3)] {
        assert_eq!(
            run(&["a"], json!({"world_info_max_recursion_steps": steps}), &chain).uids().len(),
            active
        );
    }
    let deep = ["..dragon..", "..hello..", "..castle..", "..wizard.."];
    let pair = [json!({"key": ["wizard"], "content": "x"}), json!({"key": ["castle"], "content": "y"})];
    let min = |max: i64, more: Value| {
        let mut s = json!({"world_info_depth": 1, "world_info_min_activations": 5, "world_info_min_activations_depth_max": max});
        s.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run(&deep, s, &pair)
    };
    assert_eq!(min(2, json!({})).trace(), "1>3[] 3>3[] 3>2[1] 2>0[]");
    assert_eq!(min(0, json!({})).trace(), "1>3[] 3>3[] 3>2[1] 2>3[] 3>2[0] 2>3[] 3>2[] 2>0[]");
    assert_eq!(
        min(0, json!({"world_info_min_activations": 2, "world_info_recursive": false})).trace(),
        "1>3[] 3>3[] 3>3[1] 3>0[0]"
    );
    assert!(min(2, json!({"world_info_max_recursion_steps": 2})).uids().is_empty());
    // V4.
    let v4 = look(&Look {
        entries: list(&[
            json!({"key": ["alpha"], "content": "beta"}),
            json!({"key": ["beta"], "content": "gamma", "delayUntilRecursion": 1}),
            json!({"key": ["gamma"], "content": "x", "delayUntilRecursion": 2}),
            json!({"key": ["omega"], "content": "alpha too"}),
            json!({"key": ["never"], "content": "never"}),
        ]),
        lines: chat(&["A: one", "B: alpha", "A: omega"]),
        settings: json!({"world_info_depth": 1, "world_info_min_activations": 4}),
        ..Look::default()
    });
    assert_eq!(v4.trace(), "1>3[] 3>2[0] 2>2[1] 2>3[] 3>2[3] 2>3[] 3>2[] 2>2[] 2>2[2] 2>0[]");
    assert_eq!(v4.lore.before, "x\nalpha too\ngamma\nbeta");
}

fn constants(own: &[Value]) -> Value {
    let with = |e: &Value| {
        let mut e = e.clone();
        let o = e.as_object_mut().unwrap();
        o.entry("constant").or_insert(json!(true));
        o.entry("content").or_insert(json!("x"));
        e
    };
    list(&own.iter().map(with).collect::<Vec<_>>())
}

#[test]
fn groups_follow_the_examples() {
    // §11 [run].
    let drawn = |weights: &[Value], draw: f64| {
        let own: Vec<_> = weights.iter().map(|w| json!({"group": "g", "groupWeight": w})).collect();
        look(&Look { entries: constants(&own), draws: vec![draw], ..Look::default() }).uids()
    };
    assert_eq!(drawn(&[json!(100), json!(100), json!(100)], 0.3334), [1]);
    assert_eq!(drawn(&[json!(100), json!(200)], 1.0 / 3.0), [0]);
    assert_eq!(drawn(&[Value::Null, json!(300)], 0.26), [1]);
    assert_eq!(drawn(&[json!(0), json!(0)], 0.9), [0]);
    let order = look(&Look {
        entries: constants(&[
            json!({"group": "b"}),
            json!({"group": "b"}),
            json!({"group": "10"}),
            json!({"group": "10"}),
            json!({"group": "2"}),
            json!({"group": "2"}),
        ]),
        draws: vec![0.1, 0.6, 0.9],
        ..Look::default()
    });
    assert_eq!(order.uids(), [1, 3, 4]);
    let over = look(&Look {
        entries: constants(&[
            json!({"group": "g", "order": 500}),
            json!({"group": "g", "order": 10, "groupOverride": true}),
            json!({"group": "g", "order": 20, "groupOverride": true}),
            json!({"group": "g", "order": 20, "groupOverride": true}),
        ]),
        ..Look::default()
    });
    assert_eq!((over.uids(), over.drawn), (vec![2], 0));
    // Scores: more keys win, whatever the override says.
    let score = |better: Value, worse: Value| {
        let l = Look {
            entries: list(&[
                {
                    let mut e = json!({"key": ["song", "sing"], "content": "x", "group": "g"});
                    e.as_object_mut().unwrap().extend(better.as_object().unwrap().clone());
                    e
                },
                {
                    let mut e = json!({"key": ["song"], "content": "y", "group": "g"});
                    e.as_object_mut().unwrap().extend(worse.as_object().unwrap().clone());
                    e
                },
            ]),
            lines: chat(&["song sing rain snow"]),
            draws: vec![0.99],
            ..Look::default()
        };
        look(&l).uids()
    };
    assert_eq!(
        score(json!({"useGroupScoring": true}), json!({"useGroupScoring": true, "groupOverride": true})),
        [0]
    );
    assert_eq!(score(json!({}), json!({"useGroupScoring": true})), [0]);
    // Only the better one wants scores: nobody leaves, the draw decides.
    assert_eq!(score(json!({"useGroupScoring": true}), json!({})), [1]);
    // Secondary keys count as §11 says: the second entry scores what stands there.
    for (keys, secondary, logic, points) in [
        (vec!["song", "sing"], vec!["rain"], 0, 3),
        (vec!["song", "sing"], vec!["rain", "hail"], 0, 3),
        (vec!["song", "sing"], vec!["rain", "snow"], 3, 4),
        (vec!["song"], vec!["hail"], 1, 1),
    ] {
        // Rivals of every score: the first that the entry still beats or equals tells it.
        let rival = |n: usize| {
            let words = ["song", "sing", "rain", "snow", "song", "sing"];
            let l = Look {
                entries: list(&[
                    json!({"key": keys, "keysecondary": secondary, "selectiveLogic": logic, "content": "x", "group": "g", "order": 200}),
                    json!({"key": words[..n], "content": "y", "group": "g"}),
                ]),
                lines: chat(&["song sing rain snow"]),
                settings: json!({"world_info_use_group_scoring": true}),
                draws: vec![0.0],
                ..Look::default()
            };
            look(&l).uids() == [0]
        };
        assert!(rival(points) && !rival(points + 1), "{keys:?} {secondary:?}");
    }
}

#[test]
fn faults_of_groups_on_both_sides() {
    // F19: a loser of two groups takes the last entry along.
    let l = Look {
        entries: constants(&[
            json!({"group": "a,b", "order": 4}),
            json!({"group": "a", "order": 3}),
            json!({"group": "b", "order": 2}),
            json!({"order": 1}),
        ]),
        draws: vec![0.9; 20],
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![1, 2], vec![1, 2, 3]));
    // F20: a winner of several groups does not hold them.
    let l = Look {
        entries: list(&[
            json!({"key": ["a"], "content": "a b", "group": "g,h", "groupOverride": true, "order": 200}),
            json!({"key": ["a", "b"], "content": "c", "group": "g"}),
        ]),
        lines: chat(&["a"]),
        draws: vec![0.1; 9],
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![0, 1], vec![0]));
    // F21: names of JavaScript's own.
    let l = Look {
        entries: constants(&[json!({"group": "constructor"}), json!({"group": "__proto__"})]),
        profile: Profile::promptside(),
        ..Look::default()
    };
    assert_eq!(look(&l).uids(), [0, 1]);
    // F18: a loser comes back when the winner fails its roll.
    let l = Look {
        entries: constants(&[
            json!({"group": "g", "groupOverride": true, "probability": 10}),
            json!({"group": "g"}),
            json!({"order": 1, "content": "z"}),
        ]),
        draws: vec![0.9; 9],
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![2, 1], vec![2]));
    // F23: a resting sticky entry removes itself; F24: two sticky ones stay.
    let kept = |rest: bool| {
        let record = |start: u64| json!({"hash": 1, "start": start, "end": 9, "protected": false});
        let entries = constants(&[
            json!({"group": "g", "sticky": 5, "cooldown": 9}),
            json!({"group": "g", "sticky": 5, "cooldown": 9}),
        ]);
        let mut t = json!({"sticky": {"W.0": record(1), "W.1": record(2)}, "cooldown": {}});
        if rest {
            t["cooldown"] = json!({"W.0": record(1), "W.1": record(2)});
        }
        let l = Look {
            entries,
            lines: vec!["x".to_owned(); 4],
            metadata: json!({"timedWorldInfo": t}),
            ..Look::default()
        };
        let mut silly = l.clone();
        // The reference knows entries by their hash.
        let plain = look(&Look {
            lines: vec!["x".to_owned(); 1],
            metadata: json!({}),
            draws: vec![0.0],
            ..l.clone()
        });
        let hash = plain.timers()["sticky"]["W.0"]["hash"].clone();
        let other = look(&Look {
            lines: vec!["x".to_owned(); 1],
            metadata: json!({}),
            draws: vec![0.9],
            ..l.clone()
        })
        .timers()["sticky"]["W.1"]["hash"]
            .clone();
        for kind in ["sticky", "cooldown"] {
            for (id, h) in [("W.0", &hash), ("W.1", &other)] {
                if silly.metadata["timedWorldInfo"][kind].get(id).is_some() {
                    silly.metadata["timedWorldInfo"][kind][id]["hash"] = h.clone();
                }
            }
        }
        (look(&silly).uids(), look(&Look { profile: Profile::promptside(), ..l }).uids())
    };
    assert_eq!(kept(false), (vec![0, 1], vec![1]));
    assert_eq!(kept(true), (vec![], vec![1]));
    // F15: scores of keys with macros.
    let l = Look {
        entries: list(&[
            json!({"key": ["{{user}}", "a"], "content": "x", "group": "g"}),
            json!({"key": ["a"], "content": "y", "group": "g"}),
        ]),
        lines: chat(&["Alex: a"]),
        settings: json!({"world_info_use_group_scoring": true}),
        draws: vec![0.9; 4],
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![1], vec![0]));
}

#[test]
fn probability_follows_the_examples() {
    // §12 [run].
    let half = json!({"probability": 50});
    let three = look(&Look {
        entries: constants(&[half.clone(), half.clone(), half.clone()]),
        draws: vec![0.5, 0.500_001, 0.1],
        ..Look::default()
    });
    assert_eq!(three.uids(), [0, 2]);
    let group = look(&Look {
        entries: constants(&[
            json!({"probability": 50, "order": 2, "group": "g"}),
            json!({"probability": 50, "order": 1, "group": "g"}),
            json!({"probability": 50, "order": 3}),
        ]),
        draws: vec![0.7, 0.4, 0.6],
        settings: json!({"world_info_recursive": false}),
        ..Look::default()
    });
    assert_eq!(group.uids(), [2]);
    let none = |own: Value, draw: f64| {
        !look(&Look { entries: constants(&[own]), draws: vec![draw], ..Look::default() }).uids().is_empty()
    };
    assert!(none(json!({"probability": 0}), 0.0) && !none(json!({"probability": 0}), 0.000_001));
    assert!(none(json!({"probability": 0, "useProbability": false}), 0.9));
    assert!(none(json!({"probability": null}), 0.0) && !none(json!({"probability": null}), 0.1));
}

#[test]
fn the_budget_follows_the_table() {
    // §13 [run], budget 10, counted in words.
    let words = |n: usize| vec!["w"; n].join(" ");
    let with = |own: Value, n: usize| {
        let mut e = own;
        e["content"] = json!(words(n));
        e
    };
    let got = |own: &[Value], max: i64, settings: Value| {
        look(&Look { entries: constants(own), max_context: max, settings, ..Look::default() }).uids()
    };
    let (o, free) = (|| json!({}), || json!({"ignoreBudget": true}));
    assert_eq!(got(&[with(o(), 5), with(o(), 5), with(o(), 1)], 40, json!({})), [0]);
    assert_eq!(got(&[with(o(), 5), with(o(), 4), with(o(), 1)], 40, json!({})), [0, 1]);
    assert!(got(&[with(o(), 50), with(o(), 1)], 40, json!({})).is_empty());
    assert_eq!(got(&[with(o(), 50), with(o(), 1), with(free(), 1), with(o(), 1)], 40, json!({})), [2]);
    assert_eq!(got(&[with(free(), 50), with(o(), 1)], 40, json!({})), [0]);
    assert_eq!(got(&[with(o(), 7)], 30, json!({})), [0]);
    assert!(got(&[with(o(), 4)], 4000, json!({"world_info_budget_cap": 4})).is_empty());
    assert!(got(&[with(o(), 1)], 40, json!({"world_info_budget": 0})).is_empty());
    assert!(got(&[with(o(), 1)], -40, json!({})).is_empty());
    // F7: with the switch on an exact fit fits, and smaller ones are still tried; F6: free texts cost nothing.
    let l = |own: &[Value]| Look {
        entries: constants(own),
        max_context: 40,
        profile: Profile::promptside(),
        ..Look::default()
    };
    assert_eq!(look(&l(&[with(o(), 5), with(o(), 5)])).uids(), [0, 1]);
    assert_eq!(look(&l(&[with(o(), 50), with(o(), 1)])).uids(), [1]);
    assert_eq!(look(&l(&[with(free(), 50), with(o(), 10)])).uids(), [0, 1]);
    // V2.
    for (max, want) in [(400, vec![0, 1, 2, 5, 3, 4]), (80, vec![0, 1, 2, 5, 4]), (40, vec![0, 1, 2, 4])] {
        let nine: Vec<String> = (0..9).map(|i| format!("c{i}")).collect();
        let seen = look(&Look {
            entries: list(&[
                json!({"constant": true, "order": 90, "content": "a0 a1 a2 a3 egg"}),
                json!({"key": ["egg"], "order": 50, "content": "b0 b1 b2 nest"}),
                json!({"key": ["egg"], "order": 40, "content": nine.join(" "), "ignoreBudget": true}),
                json!({"key": ["nest"], "order": 30, "content": "d0 d1"}),
                json!({"key": ["c0"], "order": 20, "content": "e0 e1", "ignoreBudget": true, "delayUntilRecursion": 2}),
                json!({"key": ["egg"], "order": 10, "content": "f0", "delayUntilRecursion": 1}),
            ]),
            max_context: max,
            ..Look::default()
        });
        assert_eq!(seen.uids(), want, "context {max}: {}", seen.trace());
    }
}

#[test]
fn places_follow_the_example() {
    // §14 [run].
    let at = |position: u8, order: u8, more: Value| {
        let mut e = json!({"position": position, "order": order});
        e.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        e
    };
    let n = || json!({});
    let mut own = vec![
        at(0, 100, n()),
        at(0, 50, n()),
        at(0, 100, n()),
        at(1, 10, n()),
        at(1, 20, n()),
        at(2, 1, n()),
        at(2, 2, n()),
        at(3, 1, n()),
        at(3, 2, n()),
        at(4, 1, json!({"depth": 2})),
        at(4, 2, json!({"depth": 2})),
        at(4, 3, json!({"depth": 2, "role": 1})),
        at(4, 3, json!({"depth": 0})),
        at(5, 1, n()),
        at(5, 2, n()),
        at(6, 1, n()),
        at(6, 2, n()),
        at(7, 1, json!({"outletName": "O"})),
        at(7, 2, json!({"outletName": "O"})),
        at(7, 3, n()),
    ];
    for (i, e) in own.iter_mut().enumerate() {
        e["content"] = json!(format!("c{i}"));
    }
    let l = Look { entries: constants(&own), ..Look::default() };
    let r = look(&l).lore;
    assert_eq!((r.before.as_str(), r.after.as_str()), ("c1\nc2\nc0", "c3\nc4"));
    assert_eq!(
        (r.an_before, r.an_after),
        (vec!["c5".to_owned(), "c6".to_owned()], vec!["c7".to_owned(), "c8".to_owned()])
    );
    let depth: Vec<_> = r.depth.iter().map(|d| (d.depth, d.entries.join(" "), d.role)).collect();
    assert_eq!(
        depth,
        [(2.0, "c11".to_owned(), 1), (0.0, "c12".to_owned(), 0), (2.0, "c9 c10".to_owned(), 0)]
    );
    let examples: Vec<_> = r.examples.iter().map(|(p, t)| (*p == ExamplePlace::Bottom, t.as_str())).collect();
    assert_eq!(examples, [(true, "c15"), (false, "c13"), (true, "c16"), (false, "c14")]);
    assert_eq!(r.outlets["O"], ["c18", "c17"]);
    // F39: ascending everywhere. Top examples are put in front one by one, so their list runs the other way.
    let r = look(&Look { profile: Profile::promptside(), ..l }).lore;
    assert_eq!(r.outlets["O"], ["c17", "c18"]);
    let top: Vec<_> = r.examples.iter().filter(|e| e.0 == ExamplePlace::Top).map(|e| e.1.as_str()).collect();
    assert_eq!(top, ["c14", "c13"]);
    let joined = constants(&[
        json!({"content": "a\n", "order": 1}),
        json!({"content": "\nb", "order": 2}),
        json!({"content": "   ", "order": 3}),
    ]);
    assert_eq!(look(&Look { entries: joined, ..Look::default() }).lore.before, "a\n\n\nb\n   ");
    // F38: no depth.
    let depths = |profile: Profile, depth: Option<Value>| {
        let mut e = entry(0, &json!({"constant": true, "content": "x", "position": 4}));
        match depth {
            Some(d) => e["depth"] = d,
            None => _ = e.as_object_mut().unwrap().remove("depth"),
        }
        look(&Look { entries: json!({"0": e}), profile, ..Look::default() }).lore.depth[0].depth
    };
    assert_eq!(depths(Profile::sillytavern(), Some(Value::Null)), 0.0);
    assert!(depths(Profile::sillytavern(), None).is_nan());
    assert_eq!(depths(Profile::promptside(), Some(Value::Null)), 4.0);
    assert_eq!(depths(Profile::promptside(), None), 4.0);
}

#[test]
fn the_first_composite() {
    // V1.
    let entry = |own: Value, uid: usize| entry(uid, &own);
    let books = json!({
        "G": {"entries": {
            "0": entry(json!({"key": ["tavern", "酒館"], "content": "The Sleeping Dragon is a tavern.", "order": 50}), 0),
            "1": entry(json!({"key": ["dragon"], "keysecondary": ["fire", "lair"], "content": "Dragons hoard gold.", "order": 80, "position": 1}), 1),
            "2": entry(json!({"key": ["gold"], "content": "Gold attracts thieves.", "order": 20, "position": 4, "depth": 2, "role": 1}), 2),
            "3": entry(json!({"constant": true, "group": "weather", "content": "It is sunny.", "order": 10}), 3),
            "4": entry(json!({"constant": true, "group": "weather", "content": "It is raining.", "order": 11, "groupWeight": 300}), 4),
            "5": entry(json!({"key": ["king"], "keysecondary": ["chess"], "selectiveLogic": 2, "content": "The king is old.", "order": 90, "probability": 40}), 5),
            "6": entry(json!({"key": ["/\\x01{{user}}:[^\\x01]*?hello/i"], "content": "{{user}} said hello to {{char}}.", "order": 5, "position": 7, "outletName": "greet"}), 6),
        }},
        "C": {"entries": {
            "0": entry(json!({"key": ["thieves"], "content": "The guild rules the thieves.", "order": 70, "position": 2}), 0),
            "1": entry(json!({"constant": true, "content": "Example: {{char}} bows.", "position": 5, "order": 1}), 1),
        }},
    });
    let l = |draws: [f64; 2], settings: Value| Look {
        books: books.clone(),
        global: vec!["G"],
        world: "C",
        lines: chat(&[
            "Seraphina: Yes, no dragon lair here.",
            "Alex: Hello! Is this the 睡龍酒館? The king told me.",
        ]),
        draws: draws.to_vec(),
        settings,
        ..Look::default()
    };
    let seen = look(&l([0.2, 0.41], json!({})));
    assert_eq!(seen.ids(), "C.1 G.1 G.0 G.4 G.6 G.2 C.0");
    assert_eq!(seen.trace(), "1>2[1 1 0 4 6] 2>2[2] 2>2[0] 2>0[]");
    let r = seen.lore;
    assert_eq!(r.before, "It is raining.\nThe Sleeping Dragon is a tavern.");
    assert_eq!(r.after, "Dragons hoard gold.");
    assert_eq!(r.examples, [(ExamplePlace::Top, "Example: Seraphina bows.".to_owned())]);
    assert_eq!(
        (r.depth[0].depth, r.depth[0].role, r.depth[0].entries[0].as_str()),
        (2.0, 1, "Gold attracts thieves.")
    );
    assert_eq!(r.an_before, ["The guild rules the thieves."]);
    assert_eq!(r.outlets["greet"], ["Alex said hello to Seraphina."]);
    let more = look(&l([0.25, 0.4], json!({})));
    assert!(more.lore.before.ends_with("\nThe king is old."));
    let flat =
        look(&l([0.26, 0.39], json!({"world_info_recursive": false, "world_info_character_strategy": 0})));
    assert_eq!(flat.trace(), "1>0[5 1 0 4 6 1]");
    assert!(flat.lore.depth.is_empty() && flat.lore.an_before.is_empty());
}

#[test]
fn the_third_composite() {
    // V3: sticky, cooldown, delay over a chat with a swipe and a continuation.
    let messages = [
        "S: hi",
        "A: a storm and a bell",
        "S: ok",
        "A: bell",
        "S: fine",
        "A: bell",
        "S: done",
        "A: bell again",
    ];
    let mut metadata = json!({});
    let mut got = Vec::new();
    for n in [1, 2, 2, 3, 4, 6, 8] {
        let lines: Vec<&str> = messages[..n].iter().rev().copied().collect();
        let seen = look(&Look {
            entries: list(&[
                json!({"key": ["storm"], "content": "Storm.", "sticky": 4, "order": 10, "group": "sky", "groupOverride": true}),
                json!({"constant": true, "content": "Clear.", "order": 20, "group": "sky"}),
                json!({"key": ["bell"], "content": "Bell.", "cooldown": 4}),
                json!({"constant": true, "content": "Late.", "delay": 5, "order": 1}),
            ]),
            lines: chat(&lines),
            settings: json!({"world_info_depth": 1, "world_info_recursive": false}),
            metadata: metadata.clone(),
            ..Look::default()
        });
        let ids: Vec<_> = seen.uids().iter().map(u64::to_string).collect();
        got.push(format!("{n}: {} | {}", ids.join(" "), seen.lore.before.replace('\n', " ")));
        metadata = json!({"timedWorldInfo": seen.timers()});
    }
    assert_eq!(
        got,
        [
            "1: 1 | Clear.",
            "2: 2 0 | Storm. Bell.",
            "2: 2 0 | Storm. Bell.",
            "3: 0 | Storm.",
            "4: 0 | Storm.",
            "6: 2 1 3 | Late. Clear. Bell.",
            "8: 1 3 | Late. Clear."
        ]
    );
}

#[test]
fn forced_entries_follow_the_example() {
    // §16 [run].
    let own = [
        json!({"key": ["nothing"], "content": "a"}),
        json!({"key": ["nothing"], "content": "b", "disable": true}),
        json!({"key": ["nothing"], "content": "c", "triggers": ["quiet"]}),
        json!({"key": ["nothing"], "content": "d", "probability": 10}),
        json!({"key": ["nothing"], "content": "e"}),
        json!({"key": ["nothing"], "content": "f", "delayUntilRecursion": true}),
    ];
    let forced = [0, 1, 2, 3, 5].map(|i| {
        let mut e = entry(i, &own[i]);
        e["world"] = json!("W");
        e
    });
    let l = Look { entries: list(&own), forced: forced.to_vec(), draws: vec![0.9; 9], ..Look::default() };
    let seen = look(&l);
    assert_eq!((seen.uids(), seen.drawn), (vec![0, 5], 3));
    assert_eq!(seen.trace(), "1>2[0] 2>2[5] 2>0[]");
}

#[test]
fn faults_of_the_scan_on_both_sides() {
    // F1: depth 0 sees nothing, or all but the messages.
    let l = Look {
        entries: list(&[json!({"key": ["月"], "content": "x", "scanDepth": 0})]),
        injections: chat(&["月は静か"]),
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![], vec![0]));
    // F2: one message too deep.
    let l = Look {
        entries: list(&[json!({"key": ["замок"], "content": "x"})]),
        lines: chat(&["раз", "два", "замок"]),
        settings: json!({"world_info_depth": 1, "world_info_min_activations": 1, "world_info_min_activations_depth_max": 2}),
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![0], vec![]));
    // F3: the lowest level opens by itself; F4: no recursion where it is off.
    let l = Look {
        entries: list(&[json!({"key": ["龍"], "content": "x", "delayUntilRecursion": true})]),
        lines: chat(&["龍"]),
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![], vec![0]));
    let l = Look {
        entries: list(&[
            json!({"key": ["dragon"], "content": "egg"}),
            json!({"key": ["egg"], "content": "x", "excludeRecursion": true}),
            json!({"key": ["egg"], "content": "y"}),
            json!({"key": ["never"], "content": "z", "delayUntilRecursion": 1}),
            json!({"key": ["never"], "content": "z", "delayUntilRecursion": 2}),
        ]),
        lines: chat(&["dragon"]),
        settings: json!({"world_info_recursive": false}),
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![0, 1, 2], vec![0]));
    // F5: what was not inserted wakes nobody.
    let l = Look {
        entries: list(&[
            json!({"constant": true, "content": "one two three four five six seven eight nine ten egg"}),
            json!({"key": ["egg"], "content": "y", "ignoreBudget": true}),
            json!({"key": ["never"], "content": "z", "delayUntilRecursion": 1}),
            json!({"key": ["never"], "content": "z", "delayUntilRecursion": 2}),
        ]),
        max_context: 40,
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![1], vec![]));
    // F17: macros in keys are drawn once.
    let l = Look {
        entries: list(&[
            json!({"key": ["{{random::да::нет}}"], "content": "x"}),
            json!({"constant": true, "content": "y"}),
        ]),
        lines: chat(&["нет"]),
        draws: vec![0.1, 0.9, 0.9],
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![1, 0], vec![1]));
    // F16: decorators.
    let l = Look {
        entries: list(&[json!({"content": "@@activate\r\nПривет"}), json!({"content": "@@activate"})]),
        ..Look::default()
    };
    assert_eq!(look(&l).uids(), [1]);
    assert_eq!(look(&l).lore.before, "@@activate");
    let ours = look(&Look { profile: Profile::promptside(), ..l });
    assert_eq!((ours.uids(), ours.lore.before.as_str()), (vec![0, 1], "Привет"));
}

#[test]
fn faults_of_entries_on_both_sides() {
    // F43, F44, F50.
    let l = Look { entries: json!({"0": {"uid": 0, "constant": true, "content": "x"}}), ..Look::default() };
    assert_eq!(look(&l).lore.before, "");
    assert_eq!(look(&Look { profile: Profile::promptside(), ..l }).lore.before, "x");
    let bare = |uid: u64, order: Option<u64>| {
        let mut e = json!({"uid": uid, "constant": true, "content": uid.to_string(), "position": 0});
        if let Some(order) = order {
            e["order"] = json!(order);
        }
        e
    };
    let l = Look {
        entries: json!({"0": bare(0, Some(5)), "1": bare(1, None), "2": bare(2, Some(10))}),
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![0, 1, 2], vec![1, 2, 0]));
    let l = Look {
        entries: constants(&[json!({"characterFilter": {"isExclude": false, "names": [], "tags": ["t1"]}})]),
        nobody: true,
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![0], vec![]));
    // F51: two entries under one uid.
    let l = Look {
        entries: json!({"0": entry(7, &json!({"constant": true, "content": "один"})), "1": entry(7, &json!({"constant": true, "content": "два", "order": 1}))}),
        ..Look::default()
    };
    assert_eq!(look(&l).lore.before, "два");
    assert_eq!(look(&Look { profile: Profile::promptside(), ..l }).lore.before, "два\nодин");
    // F53: a bad entry.
    for bad in
        [json!(null), json!({"uid": 1, "content": 5}), json!({"uid": 1, "group": ["a"], "content": "x"})]
    {
        let l = Look {
            entries: json!({"0": entry(0, &json!({"constant": true, "content": "x"})), "1": bad}),
            ..Look::default()
        };
        assert_eq!(both(&l), (vec![], vec![0]));
        let told = look(&Look { profile: Profile::promptside(), ..l }).effects.notes;
        assert!(told.iter().any(|n| n.code == "lore_entry" && n.path.contains("\"W\"")), "{told:?}");
    }
    // F47: a bare character book, a V3 envelope, another program's book.
    let spec = json!({"keys": ["ветер"], "content": "Буря.", "enabled": true, "insertion_order": 3, "extensions": {}});
    for book in [
        json!({"entries": [spec]}),
        json!({"spec": "lorebook_v3", "data": {"entries": [spec]}}),
        json!({"type": "risu", "data": [{"key": "ветер", "secondkey": "", "comment": "", "content": "Буря.", "insertorder": 3, "alwaysActive": false, "selective": false}]}),
    ] {
        let l = Look { books: json!({"W": book}), lines: chat(&["ветер"]), ..Look::default() };
        assert!(look(&l).uids().is_empty());
        assert_eq!(look(&Look { profile: Profile::promptside(), ..l }).uids().len(), 1, "{book}");
    }
}

#[test]
fn faults_of_timers_on_both_sides() {
    let own = |title: &str, keys: &str| {
        list(&[json!({"key": [keys], "content": "x", "sticky": 5, "cooldown": 4, "comment": title})])
    };
    let base = Look { entries: own("a", "лиса"), lines: chat(&["лиса", "x"]), ..Look::default() };
    for profile in [Profile::sillytavern(), Profile::promptside()] {
        let fixed = profile == Profile::promptside();
        let first = look(&Look { profile: profile.clone(), ..base.clone() });
        let after = |l: Look| {
            look(&Look { metadata: json!({"timedWorldInfo": first.timers()}), profile: profile.clone(), ..l })
        };
        let quiet = |n: usize| vec!["ветер".to_owned(); n];
        // F31: an edited title.
        assert_eq!(
            !after(Look { entries: own("b", "лиса"), lines: quiet(3), ..base.clone() }).uids().is_empty(),
            fixed
        );
        // F34: a dry run.
        assert_eq!(!after(Look { lines: quiet(3), dry: true, ..base.clone() }).uids().is_empty(), fixed);
        // F30: a background request does not begin an effect.
        let aside = look(&Look { trigger: "quiet", profile: profile.clone(), ..base.clone() });
        assert_eq!(aside.timers()["sticky"]["W.0"].is_null(), fixed);
        // F29: a protected rest beyond the end of a shortened chat.
        let t = json!({"timedWorldInfo": {"sticky": {}, "cooldown": {"W.0": {"hash": first.timers()["sticky"]["W.0"]["hash"], "start": 6, "end": 10, "protected": true}}}});
        let l =
            Look {
                lines: vec!["лиса".to_owned(); 3], metadata: t, profile: profile.clone(), ..base.clone()
            };
        assert_eq!(!look(&l).uids().is_empty(), fixed);
        // F27: the effect ended while another member, without that book, was speaking.
        let away = after(Look {
            entries: list(&[json!({"content": "z"})]),
            global: vec!["W"],
            lines: quiet(7),
            ..base.clone()
        });
        let gone = Look {
            entries: json!({}),
            books: json!({"V": {"entries": {"0": entry(0, &json!({"content": "z"}))}}}),
            global: vec!["V"],
            lines: quiet(7),
            ..base.clone()
        };
        drop(away);
        let away = after(gone);
        let back = look(&Look {
            lines: vec!["лиса".to_owned(); 8],
            metadata: json!({"timedWorldInfo": away.timers()}),
            profile: profile.clone(),
            ..base.clone()
        });
        assert_eq!(back.uids().is_empty(), fixed);
    }
}

#[test]
fn what_is_inserted_is_what_the_budget_counts() {
    // F8: a script that empties or shortens a text.
    let entries = list(&[
        json!({"constant": true, "content": "раз два три CUT", "order": 3}),
        json!({"constant": true, "content": "山 川", "order": 2}),
        json!({"constant": true, "content": "x y", "order": 1}),
    ]);
    let l = Look { entries, max_context: 16, ..Look::default() };
    let run = |profile: Profile| {
        let mut shorten = |t: &str| if t.contains("CUT") { "раз".to_owned() } else { t.to_owned() };
        look_with(&Look { profile, ..l.clone() }, &mut shorten)
    };
    // A budget of 4 words: the first alone fills it, or costs one.
    assert_eq!(run(Profile::sillytavern()).uids(), Vec::<u64>::new());
    let ours = run(Profile::promptside());
    assert_eq!((ours.uids(), ours.lore.before.as_str()), (vec![0, 1], "山 川\nраз"));
}

#[test]
fn an_override_that_recursion_finds_takes_its_group() {
    // F25, and the place that its predecessor gives back.
    let l = Look {
        entries: list(&[
            json!({"constant": true, "content": "короткий 龍", "group": "g"}),
            json!({"key": ["龍"], "content": "a long one", "group": "g, h", "groupOverride": true}),
            json!({"key": ["long"], "content": "late", "group": "g"}),
        ]),
        max_context: 16,
        ..Look::default()
    };
    assert_eq!(both(&l), (vec![0], vec![1]));
    let ours = look(&Look { profile: Profile::promptside(), ..l });
    let short = ours.lore.explained.iter().find(|e| e.uid == 0).unwrap();
    assert_eq!(short.outcome, Outcome::Removed);
    assert_eq!(short.reason, Some(Reason::GroupLost { group: "g".into(), by: "override".into() }));
}

#[test]
fn forced_entries_may_be_unconditional() {
    // F36.
    let stored = list(&[
        json!({"disable": true, "content": "a"}),
        json!({"key": ["nie"], "content": "b", "triggers": ["quiet"], "delay": 9}),
    ]);
    let forced = |more: &Value| -> Vec<Value> {
        (0..2)
            .map(|uid| {
                let mut e = entry(uid, &json!({"world": "W", "content": format!("f{uid}")}));
                e.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                e
            })
            .collect()
    };
    for profile in [Profile::sillytavern(), Profile::promptside()] {
        let l = Look { entries: stored.clone(), profile, ..Look::default() };
        assert!(look(&Look { forced: forced(&json!({})), ..l.clone() }).uids().is_empty());
        let all = look(&Look { forced: forced(&json!({"unconditional": true})), ..l });
        assert_eq!((all.uids(), all.lore.before.as_str()), (vec![0, 1], "f1\nf0"));
    }
}

#[test]
fn a_books_own_settings_hold_for_its_entries() {
    // F46: depth, budget and recursion of a `character_book`.
    let e = |keys: &[&str], content: &str, order: u32| json!({"keys": keys, "content": content, "enabled": true, "insertion_order": order, "extensions": {"position": 0}});
    let book = |own: &Value| {
        let mut book = json!({"entries": [e(&["глубоко"], "один два", 3), e(&["один"], "три", 2), e(&["близко"], "four five six", 1)]});
        book.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        json!({"C": book})
    };
    let run = |own: &Value| {
        let l = Look {
            books: book(own),
            entries: json!({}),
            global: vec!["C"],
            lines: chat(&["x", "близко", "y", "глубоко"]),
            profile: Profile::promptside(),
            ..Look::default()
        };
        look(&l).uids()
    };
    assert_eq!(run(&json!({})), [2]);
    assert_eq!(run(&json!({"scan_depth": 4})), [0, 2, 1]);
    assert_eq!(run(&json!({"scan_depth": 4, "recursive_scanning": false})), [0, 2]);
    assert_eq!(run(&json!({"scan_depth": 4, "token_budget": 3})), [0, 1]);
    assert_eq!(run(&json!({"scan_depth": 1})), Vec::<u64>::new());
}

#[test]
fn timed_effects_can_count_turns() {
    // F26: three further turns are three further turns; F28: hidden messages are time that passed.
    let entries = list(&[json!({"key": ["狼"], "content": "x", "sticky": 2, "cooldown": 1})]);
    let mut metadata = json!({});
    let mut active = Vec::new();
    for turn in 1..=6 {
        let mut lines = vec!["тихо".to_owned(); turn * 2 - 1];
        if turn == 1 || turn == 4 || turn == 5 {
            lines[0] = "狼".to_owned();
        }
        let l = Look {
            entries: entries.clone(),
            lines,
            turns: Some(turn),
            settings: json!({"world_info_depth": 1, "world_info_timed_unit": "turns"}),
            metadata: metadata.clone(),
            profile: Profile::promptside(),
            ..Look::default()
        };
        let seen = look(&l);
        active.push(!seen.uids().is_empty());
        metadata["timedWorldInfo"] = seen.timers();
    }
    // Turn 1 begins it, 2 and 3 keep it, 4 rests, 5 begins anew.
    assert_eq!(active, [true, true, true, false, true, true]);
}

#[test]
fn decorators_of_v3_set_fields() {
    let run = |content: &str, lines: &[&str], profile: Profile| {
        let l = Look {
            entries: list(&[json!({"key": ["狼"], "content": content})]),
            lines: chat(lines),
            profile,
            ..Look::default()
        };
        look(&l)
    };
    let ours = |content: &str, lines: &[&str]| run(content, lines, Profile::promptside());
    assert!(ours("@@activate_only_after 3\nx", &["狼"]).uids().is_empty());
    assert_eq!(ours("@@activate_only_after 3\nx", &["狼", "b", "c"]).uids(), [0]);
    assert!(ours("@@activate_only_every 2\nx", &["狼"]).uids().is_empty());
    assert_eq!(ours("@@activate_only_every 2\nx", &["狼", "b"]).uids(), [0]);
    assert!(ours("@@additional_keys лес,море\nx", &["狼 поле"]).uids().is_empty());
    assert_eq!(ours("@@additional_keys лес,море\nx", &["狼 море"]).uids(), [0]);
    assert!(ours("@@exclude_keys лес\nx", &["狼 лес"]).uids().is_empty());
    assert!(ours("@@scan_depth 1\nx", &["b", "狼"]).uids().is_empty());
    let deep = ours("@@depth 3\n@@role user\nx", &["狼"]).lore;
    assert_eq!(
        (deep.depth[0].depth, deep.depth[0].role, deep.depth[0].entries.as_slice()),
        (3.0, 1, &["x".to_owned()][..])
    );
    assert_eq!(ours("@@position after_desc\nx", &["狼"]).lore.after, "x");
    assert_eq!(
        ours("@@keep_activate_after_match\nx", &["狼"]).timers()["sticky"]["W.0"]["end"],
        1_000_000_001
    );
    // The reference takes no notice.
    let silly = run("@@activate_only_after 3\n@@depth 3\nx", &["狼"], Profile::sillytavern());
    assert_eq!((silly.uids(), silly.lore.before.as_str()), (vec![0], "x"));
}

#[test]
fn key_lists_follow_the_examples() {
    // §1.6 [run].
    for (text, keys) in [
        ("a, b , ,c", &["a", "b", "c"][..]),
        ("/a,b/i, c", &["/a,b/i", "c"]),
        ("/a,b, c", &["/a,b, c"]),
        ("/bad(,x/, k", &["/bad(", "x/", "k"]),
        ("a\\,b", &["a\\", "b"]),
        ("/x/,/y,z/", &["/x/", "/y", "z/"]),
        ("龍，虎, 🐉", &["龍，虎", "🐉"]),
        ("", &[]),
    ] {
        assert_eq!(lore::split_keys(text), keys, "{text}");
    }
}

#[test]
fn recursion_text_is_joined_as_recorded() {
    // §5 [run]: one chunk a loop, behind the injections; not while the search goes deeper.
    let entries = |settings: Value, own: Value| {
        let mut watch = own;
        watch["content"] = json!("seen");
        let l = Look {
            entries: list(&[
                json!({"constant": true, "content": "R1a", "order": 3}),
                json!({"constant": true, "content": "R1b", "order": 2}),
                json!({"key": ["R1a"], "content": "R2", "order": 2}),
                watch,
            ]),
            lines: chat(&["A: one ", ""]),
            injections: chat(&["INJ1", "INJ2"]),
            settings,
            ..Look::default()
        };
        look(&l).uids()
    };
    let all = "/^\\x01A: one\\n\\x01\\n\\x01INJ1\\n\\x01INJ2\\n\\x01R1a\\nR1b\\n\\x01R2$/";
    assert_eq!(entries(json!({"world_info_recursive": true}), json!({"key": [all]})), [0, 1, 2, 3]);
    assert_eq!(entries(json!({"world_info_recursive": false}), json!({"key": [all]})), [0, 1]);
}

#[test]
fn tag_and_name_filters_follow_the_examples() {
    // §7 [run].
    let run = |filter: Value, tags: Value| {
        let l = Look {
            entries: list(&[json!({"constant": true, "content": "x", "characterFilter": filter})]),
            tags,
            ..Look::default()
        };
        !look(&l).uids().is_empty()
    };
    let tags = |exclude: bool| json!({"isExclude": exclude, "names": [], "tags": ["t1"]});
    assert!(run(tags(false), json!(["t1"])));
    assert!(!run(tags(false), json!(["t2"])));
    assert!(!run(tags(false), json!([])));
    assert!(run(tags(true), json!([])));
    assert!(!run(json!({"isExclude": false, "names": ["sera"], "tags": ["t1"]}), json!(["t2"])));
    assert!(run(json!({"isExclude": false, "names": ["sera"], "tags": []}), json!([])));
    assert!(!run(json!({"isExclude": true, "names": ["sera"], "tags": ["t1"]}), json!(["t2"])));
}

#[test]
fn an_outlet_inside_an_entry_is_reported() {
    // F40.
    let entries = list(&[
        json!({"constant": true, "content": "в {{outlet::O}} нет", "order": 1}),
        json!({"constant": true, "content": "x", "position": 7, "outletName": "O"}),
    ]);
    for (profile, told) in [(Profile::sillytavern(), false), (Profile::promptside(), true)] {
        let seen = look(&Look { entries: entries.clone(), profile, ..Look::default() });
        assert_eq!(seen.lore.before, "в  нет");
        assert_eq!(seen.effects.notes.iter().any(|n| n.code == "lore_outlet"), told);
    }
}
