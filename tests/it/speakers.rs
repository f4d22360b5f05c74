//! Who speaks, by the tables of spec 01 and on both sides of every switch.

use promptside::host::{Dice, Site};
use promptside::names::{Matcher, MentionKind, MentionOptions};
use promptside::parts::Kind;
use promptside::profile::Profile;
use promptside::scene::Scene;
use promptside::speakers::{self, Fallback, Nobody, Plan, PlanOptions, Reason, Silence};
use promptside::{Code, Error};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A group: members as `name talkativeness`, with `#id` for another id than the name and a leading `-` to mute.
fn scene(strategy: i64, members: &[&str], chat: &[Value]) -> Value {
    let mut characters = Vec::new();
    let (mut ids, mut muted) = (Vec::new(), Vec::new());
    for member in members {
        let (spec, is_muted) = member.strip_prefix('-').map_or((*member, false), |m| (m, true));
        let (name, talk) = spec.rsplit_once(' ').unwrap_or((spec, "0.5"));
        let (name, id) = name.split_once('#').unwrap_or((name, name));
        ids.push(id);
        if is_muted {
            muted.push(id);
        }
        if name != "gone.png" {
            let talk: Value = serde_json::from_str(talk).unwrap();
            let data = json!({"name": name, "extensions": {"talkativeness": talk}});
            characters.push(json!({"avatar": id, "card": {"data": data}}));
        }
    }
    json!({
        "characters": characters,
        "group": {"members": ids, "disabled_members": muted, "activation_strategy": strategy},
        "chat": {"messages": chat},
    })
}

fn user(mes: &str) -> Value {
    json!({"name": "User", "is_user": true, "mes": mes})
}

/// A member's message; the id is the name.
fn by(name: &str, mes: &str) -> Value {
    json!({"name": name, "mes": mes, "original_avatar": name})
}

fn narrator(name: &str, mes: &str) -> Value {
    json!({"name": name, "mes": mes, "extra": {"type": "narrator"}})
}

fn hidden(name: &str, mes: &str) -> Value {
    json!({"name": name, "mes": mes, "original_avatar": name, "is_system": true})
}

fn plan(scene: &Value, options: &PlanOptions<'_>, profile: &Profile, draws: &[f64]) -> Result<Plan, Error> {
    let scene = Scene::from_value(scene).unwrap().0;
    speakers::plan(&scene, options, profile, &mut Dice::tape(draws))
}

fn exact(scene: &Value, options: &PlanOptions<'_>, draws: &[f64]) -> Plan {
    plan(scene, options, &Profile::sillytavern(), draws).unwrap()
}

fn right(scene: &Value, options: &PlanOptions<'_>, draws: &[f64]) -> Plan {
    plan(scene, options, &Profile::promptside(), draws).unwrap()
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.speakers.iter().map(|s| s.id.as_str()).collect()
}

fn typed(text: &str) -> PlanOptions<'_> {
    PlanOptions { input: Some(text), ..PlanOptions::default() }
}

fn kind(kind: Kind) -> PlanOptions<'static> {
    PlanOptions { kind, ..PlanOptions::default() }
}

fn reasons(plan: &Plan) -> Vec<Reason> {
    plan.speakers.iter().map(|s| s.reason).collect()
}

#[test]
fn vectors_of_natural() {
    // Spec 01 appendix B. Without a last message the text is typed; with one, it is that message's.
    for (members, text, last, draws, wanted, used) in [
        (
            &["Seraphina 0.5", "Lorne 0.5"][..],
            "Hello Lorne",
            None,
            &[0.1, 0.9, 0.6, 0.6][..],
            &["Lorne"][..],
            4,
        ),
        (
            &["Seraphina 0.5", "Lorne 0.5"],
            "Hello Lorne",
            None,
            &[0.9, 0.9, 0.4, 0.4],
            &["Lorne", "Seraphina"],
            4,
        ),
        (
            &["塞拉菲娜 0.5", "洛恩 0.5"],
            "洛恩，你怎么看？",
            None,
            &[0.9, 0.9, 0.9, 0.9, 0.3],
            &["塞拉菲娜"],
            5,
        ),
        (
            &["Seraphina 0.5", "Lorne 0.5"],
            "x",
            Some(by("Lorne", "x")),
            &[0.9, 0.9, 0.9, 0.2],
            &["Seraphina"],
            4,
        ),
        (&["Anna Smith 0", "Anna Jones 0"], "Anna, hi", None, &[0.9, 0.9, 0.9, 0.9], &["Anna Smith"], 4),
        (
            &["Anna Smith 0", "Anna Jones 0"],
            "",
            Some(by("Anna Smith", "Anna?")),
            &[0.9, 0.9, 0.9],
            &["Anna Jones"],
            3,
        ),
        (
            &["The Narrator 0", "Lorne 0"],
            "Open the door, Lorne",
            None,
            &[0.9, 0.9, 0.9, 0.9],
            &["The Narrator", "Lorne"],
            4,
        ),
        (&["Işıl 0", "Lorne 0"], "I think so", None, &[0.9, 0.9, 0.9, 0.9], &["Işıl"], 4),
        (&["Ève 0", "Lorne 0"], "I've had enough", None, &[0.9, 0.9, 0.9, 0.9], &["Ève"], 4),
        (&["A 0", "B 0"], "x", None, &[0.9, 0.9, 0.9, 0.9, 0.6], &["B"], 5),
        (&["A 0", "B 0"], "x", None, &[0.9, 0.9, 0.0, 0.9], &["A"], 4),
        (&["A 0", "B 0"], "", Some(by("A", "x")), &[0.3, 0.6, 0.9, 0.1], &["A"], 4),
        (&["A 1"], "", Some(by("A", "A")), &[0.3, 0.6], &["A"], 2),
        (
            &["A 0.5", "B 0.5", "C 0.5"],
            "C then A",
            None,
            &[0.1, 0.5, 0.0, 0.2, 0.2, 0.2],
            &["C", "A", "B"],
            6,
        ),
        (
            &["Seraphina 0.5", "Lorne 0.5", "Mira 0.2"],
            "Tell me, Mira",
            None,
            &[0.72, 0.10, 0.55, 0.91, 0.35, 0.02],
            &["Mira", "Seraphina"],
            6,
        ),
        (
            &["Seraphina 0.5", "Lorne 0.5", "Mira 0.2"],
            "Hello",
            None,
            &[0.72, 0.10, 0.55, 0.91, 0.85, 0.62, 0.5],
            &["Seraphina"],
            7,
        ),
        (
            &["Lorne 0.5", "Seraphina 0.5", "Lorne 0.5"],
            "Lorne Lorne",
            None,
            &[0.1, 0.2, 0.3, 0.9, 0.9, 0.9],
            &["Lorne"],
            6,
        ),
        (&["gone.png 1", "Seraphina 0.5"], "x", None, &[0.1, 0.2, 0.9, 0.0], &["Seraphina"], 4),
        (
            &["Guard#g1 1", "Guard#g2 1", "Lorne 0.5"],
            "",
            Some(by("Guard", "x")),
            &[0.9, 0.9, 0.9, 0.9, 0.1],
            &["Lorne"],
            5,
        ),
        (&["System 0.5", "Lorne 0.5"], "", Some(narrator("System", "x")), &[0.9, 0.9, 0.1], &["Lorne"], 3),
    ] {
        let chat: Vec<Value> = last.into_iter().collect();
        let options = if chat.is_empty() { typed(text) } else { PlanOptions::default() };
        let got = exact(&scene(0, members, &chat), &options, draws);
        assert_eq!((ids(&got), got.draws.len()), (wanted.to_vec(), used), "{members:?} {text:?}");
    }
    let mut selves = scene(0, &["Seraphina 0.5", "Lorne 0.5"], &[by("Lorne", "x")]);
    selves["group"]["allow_self_responses"] = json!(true);
    let got = exact(&selves, &PlanOptions::default(), &[0.9, 0.9, 0.9, 0.4]);
    assert_eq!((ids(&got), got.draws.len()), (vec!["Lorne"], 4));
}

#[test]
fn vectors_of_the_other_strategies() {
    let abd = &["A", "B", "D"];
    let spoke = [user("hi"), by("A", "a"), by("B", "b")];
    let all = [user("hi"), by("A", "a"), by("B", "b"), by("D", "d")];
    let narrated = [user("hi"), by("A", "a"), narrator("System", "rain")];
    let none = PlanOptions::default();
    for (strategy, members, chat, options, draws, wanted) in [
        (3, &abd[..], &spoke[..], typed("x"), &[0.99][..], &["D"][..]),
        (3, abd, &spoke, none, &[0.0], &["D"]),
        (3, abd, &all, none, &[0.99], &["B"]),
        (3, abd, &narrated, none, &[0.0], &["B"]),
        (3, &["A"], &[by("A", "a")], none, &[0.5], &["A"]),
        (2, abd, &[], none, &[0.1, 0.5, 0.9], &["D"]),
        (2, abd, &[], typed("A"), &[], &[]),
        (1, &["B", "-A", "B", "D"], &[], none, &[], &["B", "D"]),
        (1, &["gone.png", "B"], &[by("B", "b")], none, &[], &["B"]),
        (7, abd, &[], typed("A"), &[], &[]),
        (0, &["A", "B", "-D"], &[], kind(Kind::Impersonate), &[0.99], &["D"]),
        (0, abd, &[user("x")], kind(Kind::Quiet), &[0.0, 0.0, 0.0], &["B"]),
        (
            0,
            &["A", "gone.png"],
            &[],
            PlanOptions { input: Some("typed"), ..kind(Kind::Impersonate) },
            &[0.99],
            &[],
        ),
    ] {
        let got = exact(&scene(strategy, members, chat), &options, draws);
        assert_eq!(ids(&got), wanted, "{strategy} {members:?} {options:?}");
        assert_eq!(got.draws.len(), draws.len(), "{strategy} {members:?} {options:?}");
        assert_eq!(got.nobody.is_some(), wanted.is_empty());
    }
}

#[test]
fn situations() {
    // Spec 01 §3.4, members A, B, D.
    let abd = &["A 0", "B 0", "D 0"];
    let quiet = [0.9; 6];
    let got = exact(&scene(0, abd, &[user("B please")]), &PlanOptions::default(), &quiet);
    assert_eq!((ids(&got), got.user_message.as_deref()), (vec!["B"], None));
    let muted = &["-A", "-B", "-D"];
    let got = exact(&scene(0, muted, &[]), &typed("hi"), &[]);
    assert_eq!(
        (ids(&got).len(), got.user_message.as_deref(), got.nobody),
        (0, Some("hi"), Some(Nobody::AllMuted))
    );
    let auto = PlanOptions { auto: true, ..PlanOptions::default() };
    assert_eq!(exact(&scene(0, muted, &[]), &auto, &[]).user_message.as_deref(), Some(""), "F8");
    let forced = PlanOptions { forced: Some(1), ..PlanOptions::default() };
    let got = exact(&scene(0, muted, &[]), &forced, &[]);
    assert_eq!((ids(&got), reasons(&got)), (vec!["B"], vec![Reason::Forced]));
    let chat = [user("x"), by("B", "b")];
    assert_eq!(ids(&exact(&scene(0, &["A", "-B"], &chat), &kind(Kind::Swipe), &[])), ["B"]);
    let deleted = [by("A", "a"), by("gone.png", "b")];
    let error = plan(&scene(0, abd, &deleted), &kind(Kind::Swipe), &Profile::sillytavern(), &[]).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::SpeakerGone, "chat[1].original_avatar"));
    let chat = [by("B", "b"), user("x")];
    assert_eq!(ids(&exact(&scene(0, abd, &chat), &kind(Kind::Continue), &[])), ["B"]);
    let got = exact(&scene(0, abd, &[by("A", "b")]), &PlanOptions { auto: true, ..typed("B") }, &quiet);
    assert!(!got.is_user_input && got.user_message.is_none(), "typed text waits while auto mode speaks");
    let got = exact(&scene(0, abd, &[]), &typed(" "), &[0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.0]);
    assert!(got.is_user_input && got.user_message.as_deref() == Some(" "));
}

#[test]
fn an_outsider_swipes_where_the_reference_lets_it() {
    let mut value = scene(0, &["A", "B"], &[user("x"), by("X", "x")]);
    value["characters"].as_array_mut().unwrap().push(json!({"avatar": "X", "card": {"data": {"name": "X"}}}));
    assert_eq!(ids(&exact(&value, &kind(Kind::Swipe), &[])), ["X"]);
    let error = plan(&value, &kind(Kind::Swipe), &Profile::promptside(), &[]).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::SpeakerGone, "chat[1].original_avatar"));
    let allowed = PlanOptions { outsiders: true, ..kind(Kind::Swipe) };
    assert_eq!(ids(&right(&value, &allowed, &[])), ["X"]);
}

#[test]
fn one_message_has_one_author() {
    // Spec 01 §4.5 and F7: the reference runs two.
    let abd = &["A", "B", "D"];
    for (chat, reference, wanted) in [
        (vec![by("B", "b"), hidden("D", "d")], &["B", "D"][..], "D"),
        (vec![by("B", "b"), hidden("B", "b")], &["B", "B"], "B"),
        (vec![by("B", "b"), json!({"name": "A", "is_user": true, "mes": "x"})], &["B", "A"], "B"),
        (vec![by("B", "b"), narrator("A", "rain")], &["B", "A"], "B"),
        (vec![json!({"name": "B", "mes": "an old message without an id"})], &["B"], "B"),
    ] {
        let value = scene(0, abd, &chat);
        assert_eq!(ids(&exact(&value, &kind(Kind::Continue), &[])), reference, "{chat:?}");
        let got = right(&value, &kind(Kind::Continue), &[]);
        assert_eq!((ids(&got), reasons(&got)), (vec![wanted], vec![Reason::LastSpeaker]), "{chat:?}");
    }
    for profile in [Profile::sillytavern(), Profile::promptside()] {
        let error = plan(&scene(0, abd, &[]), &kind(Kind::Continue), &profile, &[]).unwrap_err();
        assert_eq!((error.code(), error.path()), (Code::SpeakerGone, "chat"));
        let nobody_spoke = scene(0, abd, &[user("x")]);
        let got = plan(&nobody_spoke, &kind(Kind::Continue), &profile, &[0.0, 0.0, 0.0]).unwrap();
        assert_eq!((ids(&got), got.draws[0].site), (vec!["B"], Site::SwipeShuffle));
    }
}

#[test]
fn the_ban_is_on_the_writer_alone() {
    let none = PlanOptions::default();
    let guards = scene(
        0,
        &["Guard#g1 1", "Guard#g2 1"],
        &[json!({"name": "Guard", "mes": "x", "original_avatar": "g1"})],
    );
    assert_eq!(ids(&right(&guards, &none, &[0.9, 0.9, 0.9])), ["g2"]);
    let narrated = scene(0, &["System 0.5", "Lorne 0.5"], &[narrator("System", "x")]);
    assert_eq!(ids(&right(&narrated, &none, &[0.9, 0.9, 0.1, 0.1])), ["System", "Lorne"]);
    // F6: the fallback takes another as long as there is one.
    let silent = scene(0, &["A 0", "B 0"], &[by("A", "x")]);
    let got = right(&silent, &none, &[0.3, 0.6, 0.9, 0.1]);
    assert_eq!((ids(&got), got.draws.len()), (vec!["B"], 4));
    assert_eq!(got.passed.iter().find(|p| p.id == "A").map(|p| p.reason), Some(Silence::Banned));
    assert_eq!(ids(&right(&scene(0, &["A 1"], &[by("A", "A")]), &none, &[0.3, 0.6])), ["A"]);
}

#[test]
fn talkativeness_is_read_as_meant() {
    let value = scene(0, &["A \"0,9\"", "B null", "C 0"], &[]);
    let draws = [0.9, 0.9, 0.9, 0.8, 0.45, 0.0];
    assert_eq!(ids(&right(&value, &typed("x"), &draws)), ["A", "B"]);
    assert_eq!(ids(&exact(&value, &typed("x"), &draws)), ["C"]);
}

#[test]
fn nobody_says_why() {
    let muted = &["-A", "-B"];
    let auto = PlanOptions { auto: true, ..PlanOptions::default() };
    for (strategy, members, options, why, sent) in [
        (0, &muted[..], typed("hello"), Nobody::AllMuted, Some("hello")),
        (0, muted, typed(""), Nobody::AllMuted, None),
        (0, muted, auto, Nobody::AllMuted, None),
        (1, muted, auto, Nobody::AllMuted, None),
        (3, muted, typed(" "), Nobody::AllMuted, None),
        (2, &["A"], typed("hello"), Nobody::Manual, Some("hello")),
        (7, &["A"], typed("hello"), Nobody::UnknownStrategy, Some("hello")),
        (7, &["A"], auto, Nobody::UnknownStrategy, None),
        (0, &["gone.png"], typed("hello"), Nobody::Missing, Some("hello")),
        (0, &["A 0"], PlanOptions { fallback: Fallback::None, ..typed("x") }, Nobody::Silent, Some("x")),
        (
            0,
            &["gone.png"],
            PlanOptions { input: Some("typed"), ..kind(Kind::Impersonate) },
            Nobody::Missing,
            None,
        ),
    ] {
        let got = right(&scene(strategy, members, &[]), &options, &[0.5; 4]);
        assert_eq!(
            (got.nobody, got.user_message.as_deref()),
            (Some(why), sent),
            "{strategy} {members:?} {options:?}"
        );
        assert!(got.speakers.is_empty());
    }
    let empty = scene(0, &[], &[]);
    for profile in [Profile::sillytavern(), Profile::promptside()] {
        let error = plan(&empty, &typed("x"), &profile, &[]).unwrap_err();
        assert_eq!((error.code(), error.path()), (Code::GroupEmpty, "group.members"));
    }
}

#[test]
fn impersonation_stands_beside_the_last_speaker() {
    let beside = |members: &[&str], chat: &[Value]| {
        let got = right(
            &scene(0, members, chat),
            &PlanOptions { input: Some("typed"), ..kind(Kind::Impersonate) },
            &[],
        );
        assert!(got.user_message.is_none() && got.draws.is_empty());
        got.speakers.into_iter().map(|s| s.id).collect::<Vec<_>>()
    };
    assert_eq!(beside(&["A", "B"], &[by("B", "b"), user("x")]), ["B"]);
    assert_eq!(beside(&["-A", "gone.png", "B"], &[]), ["B"]);
    assert_eq!(beside(&["-A", "-B"], &[]), ["A"]);
}

#[test]
fn who_spoke_last_comes_first() {
    let chat = [
        by("B", "1"),
        by("A", "2"),
        by("X", "3"),
        hidden("D", "4"),
        user("5"),
        narrator("C", "6"),
        by("B", "7"),
    ];
    let value = scene(0, &["A", "B", "C", "-D"], &chat);
    assert_eq!(speakers::recent(&Scene::from_value(&value).unwrap().0), [1, 3, 0]);
}

#[test]
fn a_stored_plan_runs_again() {
    let again = ["B".to_owned(), "gone.png".to_owned(), "A".to_owned()];
    let options = PlanOptions { again: &again, ..kind(Kind::Regenerate) };
    let got = right(&scene(0, &["A", "B"], &[]), &options, &[]);
    assert_eq!((ids(&got), reasons(&got)), (vec!["B", "A"], vec![Reason::Again, Reason::Again]));
    assert_eq!(got.warnings.len(), 1);
}

#[test]
fn mentions_of_the_default_profile() {
    let none = [0.9; 9];
    let value = scene(0, &["塞拉菲娜 0", "洛恩 0", "-米拉 0"], &[]);
    let got = right(&value, &typed("洛恩，塞拉菲娜呢？@米拉"), &none);
    assert_eq!(ids(&got), ["洛恩", "塞拉菲娜"]);
    assert_eq!(reasons(&got)[0], Reason::Mentioned { start: 0, end: 2, by: MentionKind::Full });
    assert_eq!(got.warnings.len(), 1, "a muted member was called");
    assert_eq!(got.passed.iter().find(|p| p.id == "米拉").map(|p| p.reason), Some(Silence::Muted));

    let with = |f: fn(&mut MentionOptions), strategy: i64, text: &str, mention_override: bool| {
        let mut value = value.clone();
        value["group"]["activation_strategy"] = json!(strategy);
        let mut options = MentionOptions::default();
        f(&mut options);
        let matcher = Matcher::new(&speakers::named(&Scene::from_value(&value).unwrap().0), options);
        let options = PlanOptions { matcher: Some(&matcher), mention_override, ..typed(text) };
        let got = right(&value, &options, &[0.0; 9]);
        (got.speakers.iter().map(|s| s.id.clone()).collect::<Vec<_>>(), got.draws.len())
    };
    assert_eq!(with(|o| o.at_unmutes = true, 0, "@米拉", false).0[0], "米拉");
    let exclusive = |o: &mut MentionOptions| o.exclusive = promptside::names::Exclusive::At;
    assert_eq!(with(exclusive, 0, "塞拉菲娜, @洛恩", false), (vec!["洛恩".to_owned()], 0));
    assert_eq!(with(exclusive, 0, "塞拉菲娜, 洛恩", false).1, 4, "without a call the others roll");
    let any = |o: &mut MentionOptions| o.exclusive = promptside::names::Exclusive::Any;
    assert_eq!(with(any, 0, "塞拉菲娜呢", false), (vec!["塞拉菲娜".to_owned()], 0));
    for strategy in [1, 2, 3] {
        assert_eq!(with(|_| (), strategy, "洛恩呢", true), (vec!["洛恩".to_owned()], 0), "{strategy}");
    }
    assert_eq!(with(|_| (), 1, "洛恩呢", false).0, ["塞拉菲娜", "洛恩"]);
    assert_eq!(with(|_| (), 1, "没有人", true).0, ["塞拉菲娜", "洛恩"]);
}

#[test]
fn aliases_come_from_cards_and_groups() {
    let mut value = scene(0, &["Lorne 0", "Mira 0"], &[]);
    value["characters"][0]["card"]["data"]["nickname"] = json!("小洛");
    value["characters"][1]["aliases"] = json!(["Lamp"]);
    value["group"]["aliases"] = json!({"Mira": ["灯塔"], "Lorne": "猎人"});
    for (text, wanted) in
        [("小洛？", "Lorne"), ("the lamp!", "Mira"), ("灯塔在哪", "Mira"), ("找猎人", "Lorne")]
    {
        assert_eq!(ids(&right(&value, &typed(text), &[0.9; 4])), [wanted], "{text}");
    }
}

#[test]
fn a_single_chat_has_one_speaker() {
    let card = |name: &str| json!({"avatar": name, "card": {"data": {"name": name}}});
    let mut value = json!({"characters": [card("A"), card("洛恩")]});
    for kind in [Kind::Normal, Kind::Swipe, Kind::Continue, Kind::Impersonate, Kind::Quiet, Kind::Regenerate]
    {
        assert_eq!(ids(&right(&value, &PlanOptions { kind, ..typed("hi") }, &[])), ["A"]);
    }
    value["chatWith"] = json!("洛恩");
    let got = exact(&value, &typed("hi"), &[]);
    assert_eq!(
        (ids(&got), reasons(&got), got.user_message.as_deref()),
        (vec!["洛恩"], vec![Reason::Solo], Some("hi"))
    );
    value["chatWith"] = json!("gone");
    let error = plan(&value, &typed("hi"), &Profile::promptside(), &[]).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::SceneUnknown, "chatWith"));
    let forced = PlanOptions { forced: Some(9), ..PlanOptions::default() };
    let error = plan(&scene(0, &["A"], &[]), &forced, &Profile::promptside(), &[]).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::SceneUnknown, "speaker"));
}

#[test]
fn too_few_draws_are_an_error() {
    let error = plan(&scene(0, &["A", "B"], &[]), &typed("x"), &Profile::promptside(), &[0.5]).unwrap_err();
    assert_eq!(error.code(), Code::DrawsExhausted);
}

#[test]
fn a_plan_is_json_for_javascript() {
    let got = right(&scene(0, &["A 0.5", "B 0"], &[]), &typed("hi B"), &[0.9, 0.9, 0.25, 0.5]);
    assert_eq!(
        serde_json::to_value(&got).unwrap(),
        json!({
            "speakers": [
                {"index": 1, "id": "B", "name": "B", "reason": {"kind": "mentioned", "start": 3, "end": 4, "by": "full"}},
                {"index": 0, "id": "A", "name": "A", "reason": {"kind": "roll", "value": 0.25, "talkativeness": 0.5}},
            ],
            "nobody": null,
            "passed": [],
            "is_user_input": true,
            "user_message": "hi B",
            "draws": [
                {"site": "natural.shuffle", "value": 0.9},
                {"site": "natural.shuffle", "value": 0.9},
                {"site": "natural", "value": 0.25},
                {"site": "natural", "value": 0.5},
            ],
            "warnings": [],
        })
    );
}

/// Reports of users, reduced to a small input; the right answers are those of the default profile.
mod reports {
    use super::*;

    fn report(name: &str) -> Value {
        let path = crate::golden::golden_dir().join("reports").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn texts(value: &Value) -> Vec<&str> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    #[test]
    fn r001_mention_any_script() {
        let report = report("001-mention-any-script.json");
        let members: Vec<String> =
            texts(&report["input"]["members"]).iter().map(|n| format!("{n} 0")).collect();
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        for (i, text) in texts(&report["input"]["cases"]).into_iter().enumerate() {
            for (profile, side) in [(Profile::promptside(), "right"), (Profile::sillytavern(), "wrong")] {
                let got = plan(&scene(0, &members, &[]), &typed(text), &profile, &[0.9; 13]).unwrap();
                let mentioned = |r: &Reason| matches!(r, Reason::Mentioned { .. });
                let got: Vec<&str> =
                    got.speakers.iter().filter(|s| mentioned(&s.reason)).map(|s| s.name.as_str()).collect();
                assert_eq!(got, texts(&report[side]["mentioned"][i]), "{side} {text}");
            }
        }
    }

    #[test]
    fn r002_talkativeness_zero_fallback() {
        let report = report("002-talkativeness-zero-fallback.json");
        let members: Vec<String> = report["input"]["members"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| format!("{} {}", m["name"].as_str().unwrap(), m["talkativeness"]))
            .collect();
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        let text = report["input"]["user_text"].as_str().unwrap();
        for i in 0..100 {
            let mut draws = vec![0.9; 6];
            draws.push(f64::from(i) / 100.0);
            for profile in [Profile::promptside(), Profile::sillytavern()] {
                let got = plan(&scene(0, &members, &[]), &typed(text), &profile, &draws).unwrap();
                let names: Vec<&str> = got.speakers.iter().map(|s| s.name.as_str()).collect();
                assert_eq!(names, texts(&report["right"]["speakers"]));
                assert!(matches!(got.speakers[0].reason, Reason::Fallback { .. }));
                let silent: Vec<&str> = got
                    .passed
                    .iter()
                    .filter(|p| p.reason == Silence::Silent)
                    .map(|p| p.id.as_str())
                    .collect();
                assert!(silent.len() == 2 && silent.contains(&"Ide") && silent.contains(&"Cy"));
            }
        }
    }

    #[test]
    fn r003_all_members_muted() {
        let report = report("003-all-members-muted.json");
        let members: Vec<String> =
            texts(&report["input"]["group"]["members"]).iter().map(|m| format!("-{m}")).collect();
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        let value = scene(0, &members, &[]);
        for (case, sent) in
            report["input"]["cases"].as_array().unwrap().iter().zip([Some("hello"), None, None])
        {
            let auto = case["auto_mode_tick"].as_bool().unwrap_or(false);
            let got = right(&value, &PlanOptions { auto, ..typed(case["user_text"].as_str().unwrap()) }, &[]);
            assert_eq!((got.nobody, got.user_message.as_deref()), (Some(Nobody::AllMuted), sent));
            assert!(got.speakers.is_empty());
        }
        let scene = Scene::from_value(&value).unwrap().0;
        let forced = Some(speakers::lookup(&scene, "a").unwrap());
        assert_eq!(ids(&right(&value, &PlanOptions { forced, ..PlanOptions::default() }, &[])), ["a"]);
    }
}

fn any_scene() -> impl Strategy<Value = (Value, usize, usize)> {
    let name = prop_oneof![
        Just("Lorne"),
        Just("洛恩"),
        Just("Ольга"),
        Just("A"),
        Just("gone.png"),
        Just("Anna Smith")
    ];
    let member = (name, 0..4usize, any::<bool>(), 0..3usize).prop_map(|(name, id, muted, talk)| {
        let id = if name == "gone.png" { name.to_owned() } else { format!("{name}#{id}") };
        format!("{}{id} {}", if muted { "-" } else { "" }, ["0", "0.5", "1"][talk])
    });
    let message = prop_oneof![
        Just(user("Lorne, 洛恩?")),
        Just(by("Lorne", "ask Ольгу")),
        Just(hidden("洛恩", "x")),
        Just(narrator("A", "Anna"))
    ];
    let members = proptest::collection::vec(member, 1..6);
    (members, proptest::collection::vec(message, 0..5), 0..5i64).prop_map(|(members, chat, strategy)| {
        let texts: Vec<&str> = members.iter().map(String::as_str).collect();
        let value = scene(strategy, &texts, &chat);
        // A group may list an id twice; the helper then makes two characters of it, of which the first counts.
        let ids = value["group"]["members"].as_array().unwrap();
        let muted = value["group"]["disabled_members"].as_array().unwrap();
        let enabled = ids.iter().filter(|id| !muted.contains(id)).count();
        let count = ids.len();
        (value, count, enabled)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Spec 01 §5: how many numbers a plan draws follows from the strategy.
    #[test]
    fn draws_are_counted(
        (value, count, enabled) in any_scene(),
        text in proptest::option::of("[ALor ,洛恩n]{0,8}"),
        auto: bool,
        seed: u64,
        kinds in 0..6usize,
        exactly: bool,
    ) {
        let kind = [Kind::Normal, Kind::Swipe, Kind::Continue, Kind::Impersonate, Kind::Quiet, Kind::Regenerate][kinds];
        let profile = if exactly { Profile::sillytavern() } else { Profile::promptside() };
        let options = PlanOptions { kind, auto, input: text.as_deref(), ..PlanOptions::default() };
        let scene = Scene::from_value(&value).unwrap().0;
        let mut dice = Dice::seeded(seed);
        let Ok(got) = speakers::plan(&scene, &options, &profile, &mut dice) else {
            prop_assert!(matches!(kind, Kind::Swipe | Kind::Continue), "only those fail");
            return Ok(());
        };
        let drawn = got.draws.len();
        prop_assert_eq!(drawn, dice.drawn().len());
        match (kind, value["group"]["activation_strategy"].as_i64().unwrap()) {
            (Kind::Swipe | Kind::Continue | Kind::Quiet, _) => prop_assert!(drawn == 0 || drawn == count),
            (Kind::Impersonate, _) => prop_assert_eq!(drawn, usize::from(exactly)),
            (_, 0) => prop_assert!((enabled..=3 * enabled).contains(&drawn), "{} of {}", drawn, enabled),
            (_, 2) => prop_assert_eq!(drawn, if got.is_user_input { 0 } else { enabled }),
            (_, 3) => prop_assert_eq!(drawn, 1),
            _ => prop_assert_eq!(drawn, 0),
        }
        prop_assert_eq!(got.speakers.is_empty(), got.nobody.is_some());
        let again = speakers::plan(&scene, &options, &profile, &mut Dice::seeded(seed)).unwrap();
        prop_assert_eq!(again, got);
    }
}
