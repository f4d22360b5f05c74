//! Labels by rule: the table of spec 01 §P2.8 and what it implies, in the `promptside` profile.

use promptside::parts::{Kind, Participant, Reading, Sequences, Stop, StopSource};
use promptside::profile::Profile;
use promptside::reply::{self, Cleaned, CutReason, Ended, Options, Step, Trim};
use serde_json::{Value, json};

use crate::golden;

pub fn someone(id: &str, name: &str) -> Participant {
    Participant { id: id.to_owned(), names: vec![name.to_owned()] }
}

/// Speaker Lorne, user User, and the others of the table.
pub fn cast() -> Reading {
    let names = ["Seraphina", "塞拉菲娜", "Ann", "Anna", "Mr. X (the [real])", "Agent: Zero", "セラフィナ"];
    let mut others = vec![someone("user", "User")];
    others.extend(names.iter().enumerate().map(|(i, n)| someone(&format!("c{i}.png"), n)));
    let mut members: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    members.insert(1, "Lorne".to_owned());
    Reading {
        user: "User".to_owned(),
        char: "Lorne".to_owned(),
        own: Participant { id: "lorne.png".to_owned(), names: vec!["Lorne".to_owned(), "洛恩".to_owned()] },
        others,
        members,
        in_group: true,
        ..Reading::default()
    }
}

fn clean(text: &str, reading: &Reading) -> Cleaned {
    reply::clean(text, reading, &Options::default(), &Profile::promptside())
}

fn kept(text: &str) -> String {
    clean(text, &cast()).text
}

#[test]
fn another_speaker_ends_the_reply() {
    for text in [
        "Hello.\nSeraphina: hi",
        "Hello.\n\n\nSeraphina: hi",
        "Hello.\nSeraphina : y",
        "Hello.\nSeraphina\u{a0}: y",
        "Hello.\n   Seraphina: y",
        "Hello.\r\nSeraphina: y",
        "Hello.\rSeraphina: y",
        "Hello.\u{2028}Seraphina: y",
        "Hello.\n**Seraphina:** y",
        "Hello.\n**Seraphina**: y",
        "Hello.\n***Seraphina***： y",
        "Hello.\n_Seraphina:_ y",
        "Hello.\n<b>Seraphina:</b> y",
        "Hello.\n### Seraphina: y",
        "Hello.\n[Seraphina]: y",
        "Hello.\n【塞拉菲娜】：你好",
        "Hello.\n塞拉菲娜：你也好。",
        "Hello.\n塞拉菲娜: 你也好。",
        "Hello.\n塞拉菲娜（小声）：你好",
        "Hello.\nSeraphina (whispering): y",
        "Hello.\nSeraphina says: \"y\"",
        "Hello.\nSeraphina said softly: \"y\"",
        "Hello.\n塞拉菲娜说：“你好”",
        "Hello.\nセラフィナ「こんにちは」",
        "Hello.\nセラフィナ（小声）「ねえ」",
        "Hello.\nSERAPHINA: y",
        "Hello.\nＳｅｒａｐｈｉｎａ：y",
        "Hello.\nUser: y",
        "Hello.\nAnna: y\nAnn: z",
        "Hello.\nMr. X (the [real]): y",
        "Hello.\nAgent: Zero: y",
        "Hello.\nLorne: Seraphina: hi",
    ] {
        let cleaned = clean(text, &cast());
        assert_eq!(cleaned.text, "Hello.", "{text:?}");
        let cut = cleaned.cut.unwrap();
        assert_eq!(cut.reason, CutReason::Label, "{text:?}");
        assert!((7..=9).contains(&cut.offset), "{text:?}: {cut:?}");
    }
}

#[test]
fn what_is_no_label_stays() {
    for text in [
        "x\nAgent: y",
        "x\nSera: y",
        "x\nSeraphinas: y",
        "x\nSeraphina - y",
        "x\n*Seraphina smiles.*",
        "x\nSeraphina looked at him: no",
        "x\nSeraphina::heal()",
        "x\nSeraphina :) smiled",
        "He said Seraphina: no",
        "“Seraphina: healer,” she read.",
        "The list read:\nSeraphina: healer\nLorne: hunter\nDone.",
        "```\nSeraphina: home\nUser: away\n```\nEnd",
        "```text\nSeraphina: home",
        "~~~~\nSeraphina: home\n~~~\nUser: away\n~~~~",
        "<Analysis>\nSeraphina:\n- tired\nUser:\n- ok\n</Analysis>\nHello",
        "<mood>\n<Analysis kind=\"x\">\nSeraphina: 1\n</analysis>\nHello",
        "User: home, Seraphina: living room, Lorne: basement\nOk",
        "User：在家，塞拉菲娜：客厅\n好",
        "Notes\n- Seraphina: tired\n- User: ok",
        "> Seraphina: old letter\nI read it.",
        "| Seraphina: a | User: b |",
        "他写道：\n塞拉菲娜：三个\nUser：两个",
        "Lorne said softly: \"I know.\"",
    ] {
        let cleaned = clean(text, &cast());
        assert_eq!(cleaned.text, text);
        assert_eq!(cleaned.cut, None, "{text:?}");
    }
}

#[test]
fn own_labels_are_taken_off_and_nothing_else() {
    for (text, expected) in [
        ("Lorne: Hello.", "Hello."),
        ("Lorne: Lorne: Lorne: Hello.", "Hello."),
        ("**Lorne:** Hello.", "Hello."),
        ("洛恩 is not me\nLorne：hi", "洛恩 is not me\nhi"),
        ("洛恩：嗯。", "嗯。"),
        ("Hello.\nLorne: again\n\nLorne:\n\nmore", "Hello.\nagain\n\n\n\nmore"),
        ("*Lorne: waves*", "*waves*"),
        ("(Lorne: whispering) Hi", "(whispering) Hi"),
        ("Then Lorne said:\nLorne: Hi there.\nSeraphina: Hello!", "Then Lorne said:\nHi there."),
        ("He paused:\nSeraphina: hi there", "He paused:"),
        (
            "She wrote it down:\nUser: 3 apples\nSeraphina: 2 pears\n\nThen she left.\nSeraphina: bye",
            "She wrote it down:\nUser: 3 apples\nSeraphina: 2 pears\n\nThen she left.",
        ),
        (
            "Lorne: The list read:\nSeraphina: healer\nUser: cook",
            "The list read:\nSeraphina: healer\nUser: cook",
        ),
        ("<a>\nSeraphina: hi", "<a>"),
        ("Lorne: ```\nSeraphina: home\n```\nUser: x", "```\nSeraphina: home\n```"),
    ] {
        assert_eq!(kept(text), expected, "{text:?}");
        assert_eq!(kept(expected), expected, "again: {text:?}");
    }
    let cleaned = clean("ok\nLorne：hi", &cast());
    assert_eq!(
        cleaned.stripped.iter().map(|s| (s.offset, s.text.as_str())).collect::<Vec<_>>(),
        [(3, "Lorne：")]
    );
    assert_eq!(cleaned.steps, [Step::Names]);
}

#[test]
fn a_beginning_as_somebody_else_is_left_out_or_reported() {
    for text in ["Seraphina: hi\nLorne: me\nUser: z", "User: hi\nLorne: me", "\n\nSeraphina: hi\nLorne: me"] {
        let cleaned = clean(text, &cast());
        assert_eq!(cleaned.text, "me", "{text:?}");
        assert_eq!(cleaned.salvage.unwrap().name, text.trim_start().split(':').next().unwrap());
    }
    for (text, id) in [
        ("User: hi", "user"),
        ("Seraphina: hi\nmore", "c0.png"),
        ("Lorne: Seraphina: hi", "c0.png"),
        ("Lorne:\nSeraphina: hi", "c0.png"),
        ("塞拉菲娜：抢话", "c1.png"),
    ] {
        let cleaned = clean(text, &cast());
        assert_eq!(cleaned.text, "", "{text:?}");
        let cut = cleaned.cut.unwrap();
        assert_eq!((cut.reason, cut.id.as_str()), (CutReason::ForeignStart, id), "{text:?}");
    }
}

#[test]
fn equal_names_and_impersonation() {
    let mut guard = cast();
    guard.char = "Guard".to_owned();
    guard.own = someone("g1.png", "Guard");
    guard.others.push(someone("g2.png", "GUARD"));
    assert_eq!(clean("x\nGuard: y", &guard).text, "x\ny");
    let mut persona = cast();
    persona.user = "Lorne".to_owned();
    persona.others[0].names[0] = "Lorne".to_owned();
    assert_eq!(clean("Lorne: hi", &persona).text, "hi");
    let mut me = cast();
    me.kind = Kind::Impersonate;
    me.others.remove(0);
    me.others.push(me.own.clone());
    me.own = someone("user", "User");
    assert_eq!(clean("I nod.\nUser: again\nLorne: x", &me).text, "I nod.\nagain");
    assert_eq!(clean("  User: I nod. ", &me).text, "I nod.");
}

#[test]
fn continuing_cleans_only_the_new_part() {
    let with = |accepted: &str, new: &str| {
        let reading = Reading { kind: Kind::Continue, continued: accepted.to_owned(), ..cast() };
        clean(new, &reading)
    };
    assert_eq!(
        with("She read:\nSeraphina: a note.", " And then").text,
        "She read:\nSeraphina: a note. And then"
    );
    let cleaned = with("Old text.\nSeraphina: kept", "\nnew\nSeraphina: cut");
    assert_eq!(cleaned.text, "Old text.\nSeraphina: kept\nnew");
    assert_eq!(cleaned.cut.unwrap().offset, 5);
    assert_eq!(with("```\nSeraphina: 1", "\nUser: 2\n```\nUser: x").text, "```\nSeraphina: 1\nUser: 2\n```");
    assert_eq!(with("好。\r", "\nUser：嗯").text, "好。");
    assert_eq!(with("A.  ", "").text, "A.");
    // The reference cleans the accepted part again (F16).
    let mut old = Profile::promptside();
    old.set("reply.continue", false).unwrap();
    let reading = Reading { kind: Kind::Continue, continued: "Old.\nSeraphina: kept".to_owned(), ..cast() };
    assert_eq!(reply::clean(" x", &reading, &Options::default(), &old).text, "Old.");
}

#[test]
fn settings_and_options_are_honoured() {
    let text = "Lorne: a\nSeraphina: b";
    let mut allowed = cast();
    allowed.rules.keep_char_label = true;
    allowed.rules.cut_members = false;
    assert_eq!(clean(text, &allowed).text, text);
    assert_eq!(clean("a\nUser: b", &allowed).text, "a");
    let quiet = Reading { kind: Kind::Quiet, ..cast() };
    assert_eq!(clean(text, &quiet).text, text);
    let options = Options { trim_quiet: true, ..Options::default() };
    assert_eq!(reply::clean(text, &quiet, &options, &Profile::promptside()).text, "a");
    for (trim, expected) in
        [(Trim::Off, "x\nSeraphina：b"), (Trim::Smart, "x"), (Trim::Compat, "x\nSeraphina：b")]
    {
        let options = Options { trim: Some(trim), ..Options::default() };
        for profile in [Profile::promptside(), Profile::sillytavern()] {
            assert_eq!(reply::clean("x\nSeraphina：b", &cast(), &options, &profile).text, expected);
        }
    }
}

#[test]
fn stop_strings_end_a_reply_where_they_stand() {
    let mut reading = cast();
    let with = |reading: &mut Reading, stops: &[&str]| {
        reading.stop = stops.iter().map(|s| Stop::new(StopSource::Custom, *s)).collect();
    };
    let ended = |text: &str, reading: &Reading, ended: Ended| {
        reply::clean(text, reading, &Options { ended, ..Options::default() }, &Profile::promptside()).text
    };
    with(&mut reading, &["END", "</s>", "。。"]);
    let cleaned = clean("hello END more", &reading);
    assert_eq!((cleaned.text.as_str(), cleaned.cut.unwrap().reason), ("hello", CutReason::Stop));
    for text in ["helloE", "Ok <", "好的。", "a < b"] {
        for end in [Ended::Unknown, Ended::Stop, Ended::Length] {
            assert_eq!(ended(text, &reading, end), text);
        }
    }
    assert_eq!(ended("hello </", &reading, Ended::Unknown), "hello </");
    assert_eq!(ended("hello </", &reading, Ended::Stop), "hello");
    // Labels are judged by rule, so a roster survives a stop string of the same text; cut off at the end it goes.
    reading.stop = vec![Stop::new(StopSource::Name, "\nSeraphina:")];
    let roster = "The list read:\nSeraphina: healer\nUser: cook";
    assert_eq!(ended(roster, &reading, Ended::Unknown), roster);
    assert_eq!(ended("Hello.\nSera", &reading, Ended::Length), "Hello.");
    // The reference takes off any beginning.
    with(&mut reading, &["END"]);
    let mut old = Profile::promptside();
    old.set("reply.stops", false).unwrap();
    assert_eq!(reply::clean("helloE", &reading, &Options::default(), &old).text, "hello");
    assert_eq!(reply::clean("hello END more", &reading, &Options::default(), &old).text, "hello END more");
}

#[test]
fn markdown_and_sentences_by_profile() {
    let mut reading = cast();
    reading.rules.fix_markdown = true;
    reading.rules.trim_sentences = true;
    let text = "* one\n* two * three * is said. And Mr. Smith we’ll";
    let profile = |name: &str, on: bool| {
        let mut profile = Profile::promptside();
        profile.set(name, on).unwrap();
        reply::clean(text, &reading, &Options::default(), &profile).text
    };
    assert_eq!(profile("reply.cut", true), "* one\n* two *three* is said.");
    assert_eq!(profile("reply.markdown", false), "*one\n* two *three* is said.");
    assert_eq!(profile("reply.sentences", false), "* one\n* two *three* is said. And Mr. Smith we’");
}

#[test]
fn template_marks_go_in_both_profiles() {
    let mut reading = cast();
    reading.sequences = Some(Sequences {
        stop: "<|im_end|>".to_owned(),
        input: "<|im_start|>user".to_owned(),
        output: "<|im_start|>assistant".to_owned(),
        last_output: String::new(),
        as_stops: true,
    });
    for profile in [Profile::promptside(), Profile::sillytavern()] {
        for (text, expected) in [
            ("<|im_start|>assistant\nLorne: We go.<|im_end|>x", "We go."),
            ("We <|im_start|>user go", "We"),
            ("We go.<|endoftext|>x", "We go."),
        ] {
            assert_eq!(reply::clean(text, &reading, &Options::default(), &profile).text, expected);
        }
    }
}

/// The reading of a bug report: who speaks, who else is there.
fn reported(input: &Value) -> Reading {
    let others = input["others"].as_array().map_or(&[][..], Vec::as_slice);
    let others: Vec<&str> = others.iter().map(|v| v.as_str().unwrap()).collect();
    let speaker = input["speaker"].as_str().unwrap();
    let persona = input["persona"].as_str().unwrap();
    let mut participants = vec![someone("user", persona)];
    participants.extend(others.iter().map(|n| someone(&format!("{n}.png"), n)));
    Reading {
        user: persona.to_owned(),
        char: speaker.to_owned(),
        own: someone("own.png", speaker),
        others: participants,
        members: others.iter().map(|n| (*n).to_owned()).collect(),
        in_group: !others.is_empty(),
        ..Reading::default()
    }
}

#[test]
fn reported_faults_are_put_right() {
    let reports: Vec<_> =
        golden::cases("reports").into_iter().filter(|c| c.json["area"] == "reply").collect();
    let mut checked = 0;
    for case in reports.iter().filter(|c| c.json["input"]["speaker"].is_string()) {
        let (input, right) = (&case.json["input"], &case.json["right"]);
        let reading = reported(input);
        let list = |v: &Value| v.as_array().cloned().unwrap_or_else(|| vec![v.clone()]);
        let texts = if input["cases"].is_array() { list(&input["cases"]) } else { list(&input["text"]) };
        for (i, text) in texts.iter().enumerate() {
            let cleaned = clean(text.as_str().unwrap(), &reading);
            assert_eq!(json!(cleaned.text), list(&right["text"])[i], "{}", case.id);
            let by = cleaned.cut.map_or(Value::Null, |cut| json!({"by": cut.name}));
            assert_eq!(by, list(&right["cut"])[i], "{}", case.id);
            checked += 1;
        }
    }
    assert_eq!(checked, 3);
}
