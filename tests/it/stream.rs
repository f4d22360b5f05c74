//! Replies in pieces: whatever the split, the result is that of the whole text, and what is shown only grows toward it.

use promptside::parts::{Kind, Reading, Sequences, Stop, StopSource};
use promptside::profile::Profile;
use promptside::reply::{self, Cutter, Ended, Finished, Options, Trim, display_tick};
use proptest::prelude::*;
use serde_json::Value;

use crate::golden;
use crate::truncate::cast;

/// What was shown after each piece, whether and after which piece the request was stopped, and the end.
struct Watched {
    shown: Vec<String>,
    stopped: Option<usize>,
    end: Finished,
}

fn watch(pieces: &[&str], reading: &Reading, options: &Options, profile: &Profile) -> Watched {
    let mut cutter = Cutter::new(reading.clone(), options.clone(), profile.clone());
    let (mut text, mut shown, mut stopped) = (String::new(), Vec::new(), None);
    for (i, piece) in pieces.iter().enumerate() {
        let emit = cutter.push(piece);
        assert!(stopped.is_none() || emit.text.is_empty(), "nothing comes after the stop");
        text.push_str(&emit.text);
        shown.push(text.clone());
        if emit.done.is_some() && stopped.is_none() {
            stopped = Some(i);
        }
    }
    Watched { shown, stopped, end: cutter.finish(options.ended) }
}

fn characters(text: &str) -> Vec<&str> {
    text.split_inclusive(|_| true).collect()
}

#[test]
fn labels_are_never_half_shown_and_stop_the_request() {
    let text = "Hello there.\nSeraphina: hi\nand more";
    let seen = watch(&characters(text), &cast(), &Options::default(), &Profile::promptside());
    assert!(seen.shown.iter().all(|s| !s.contains("\nS")), "{:?}", seen.shown);
    assert_eq!(seen.shown.last().unwrap(), "Hello there.");
    // Certain when the line is complete: no list can come of it any more.
    assert_eq!(seen.stopped, Some("Hello there.\nSeraphina: hi\n".len() - 1));
    assert_eq!(seen.end.rest.as_deref(), Some(""));
    // Held no longer than needed.
    let seen =
        watch(&characters("Hello.\nSerious things."), &cast(), &Options::default(), &Profile::promptside());
    assert_eq!(seen.shown["Hello.\nSer".len() - 1], "Hello.");
    assert_eq!(seen.shown["Hello.\nSeri".len() - 1], "Hello.\nSeri");
}

#[test]
fn an_own_label_holds_little_back() {
    let long = "word ".repeat(60);
    let text = format!("Lorne: {long}");
    let seen = watch(&characters(&text), &cast(), &Options::default(), &Profile::promptside());
    let first = seen.shown.iter().position(|s| !s.is_empty()).unwrap();
    assert!(first < 220, "{first}");
    let text = format!("Hi.\nSeraphina: {long}");
    let seen = watch(&characters(&text), &cast(), &Options::default(), &Profile::promptside());
    assert!(seen.stopped.unwrap() < 230, "a foreign label does not wait for the end of a long line");
    assert_eq!(seen.end.cleaned.text, "Hi.");
}

#[test]
fn a_salvaged_part_is_shown_from_its_label_on() {
    let seen = watch(
        &["Sera", "phina: no", "\nLorne: me", " and\n", "more", "\nUser: z\n"],
        &cast(),
        &Options::default(),
        &Profile::promptside(),
    );
    assert_eq!(seen.shown, ["", "", "", "me and", "me and\nmore", "me and\nmore"]);
    assert_eq!(seen.stopped, Some(5));
}

#[test]
fn the_reference_shows_more_than_it_keeps() {
    let profile = Profile::sillytavern();
    let tick = |raw: &str| display_tick(raw, &cast(), &Options::default(), &profile);
    assert_eq!(tick("Hello.\nS"), "Hello.\nS");
    assert_eq!(tick("Hello.\nSeraphina"), "Hello.\nSeraphina");
    assert_eq!(tick("Hello.\nSeraphina:"), "Hello.");
    assert_eq!(tick("He says \"hi *and "), "He says \"hi *and*\"");
    assert_eq!(tick("x\n```js "), "x\n```js\n```");
    assert_eq!(tick("a **b"), "a **b");
    assert_eq!(tick("a ****"), "a ****\n```".replace("\n```", ""));
    // The cutter shows what is certain, and says when the rest is cut away.
    let seen = watch(&characters("Hello.\nSeraphina: hi"), &cast(), &Options::default(), &profile);
    assert_eq!(seen.shown.last().unwrap(), "Hello.");
    assert_eq!(seen.stopped, Some("Hello.\nSeraphina:".len() - 1));
}

#[test]
fn reported_stop_strings_across_pieces() {
    let case = golden::cases("reports").into_iter().find(|c| c.id.contains("stop-across")).unwrap();
    let (input, right) = (&case.json["input"], &case.json["right"]);
    let stops = input["stops"].as_array().unwrap().iter().map(|s| s.as_str().unwrap());
    let reading =
        Reading { stop: stops.map(|s| Stop::new(StopSource::Custom, s)).collect(), ..Reading::default() };
    let texts = |v: &Value| -> Vec<String> {
        v.as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_owned()).collect()
    };
    for (i, pieces) in input["cases"].as_array().unwrap().iter().enumerate() {
        let pieces = texts(pieces);
        let whole = pieces.concat();
        for split in [pieces.iter().map(String::as_str).collect::<Vec<_>>(), characters(&whole)] {
            let seen = watch(&split, &reading, &Options::default(), &Profile::promptside());
            assert_eq!(seen.end.cleaned.text, right["shown"][i].as_str().unwrap());
            assert_eq!(seen.stopped.is_some(), right["stopped"][i].as_bool().unwrap());
            let last = seen.shown.last().unwrap();
            assert_eq!(format!("{last}{}", seen.end.rest.unwrap()), seen.end.cleaned.text);
            assert!(i != 0 || seen.shown.iter().all(|s| !s.contains("\nI")));
        }
    }
}

#[test]
fn a_continuation_is_shown_behind_what_was_there() {
    let reading = Reading { kind: Kind::Continue, continued: "Old. ".to_owned(), ..cast() };
    let seen = watch(&["and", " new.\n", "Lorne: x"], &reading, &Options::default(), &Profile::promptside());
    assert_eq!(seen.shown, [" and", " and new.", " and new."]);
    assert_eq!(seen.end.cleaned.text, "Old. and new.\nx");
    assert_eq!(seen.end.rest.as_deref(), Some("\nx"));
    let seen = watch(&["and"], &reading, &Options::default(), &Profile::sillytavern());
    assert_eq!(seen.shown, ["Old. and"]);
}

#[test]
fn long_replies_in_small_pieces_cost_little() {
    let text = "Lorne: Sera\n**Ann\n\"x\" * y\n".repeat(400);
    for profile in [Profile::promptside(), Profile::sillytavern()] {
        let mut cutter = Cutter::new(cast(), Options::default(), profile);
        let shown: usize = characters(&text).iter().map(|piece| cutter.push(piece).text.len()).sum();
        let end = cutter.finish(Ended::Unknown);
        assert_eq!(shown + end.rest.unwrap().len(), end.cleaned.text.len());
    }
}

fn text() -> impl Strategy<Value = String> {
    let fixed = [
        "\n",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "  ",
        "\t",
        "\u{3000}",
        "\u{2028}",
        ":",
        "：",
        ": ",
        "「",
        "」",
        "*",
        "**",
        "_",
        "\"",
        "```\n",
        "~~~",
        "<note>",
        "</note>",
        "\n<note>\n",
        "\n</note>\n",
        "<b>",
        "Lorne: ",
        "Lorne",
        "洛恩：",
        "User: ",
        "User",
        "Seraphina: ",
        "Sera",
        "塞拉菲娜：",
        "セラフィナ「",
        "Anna: ",
        "Ann",
        "Agent: Zero: ",
        "Mr. X (the [real]): ",
        " says: ",
        "- ",
        "1. ",
        "> ",
        "The list:",
        "他说：",
        ", ",
        "；",
        "END",
        "EN",
        "</s>",
        "<",
        "###",
        "<|im_start|>assistant",
        "<|im_end|>",
        "<|endoftext|>",
        "<|",
        "Hello.",
        "你好。",
        "Привет",
        "สวัสดี",
        "مرحبا\u{200f}",
        "🦊",
        "e\u{301}",
        "\u{200b}",
        "word",
        "walks on",
    ];
    let piece = prop_oneof![
        6 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,3}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|v| v.concat())
}

prop_compose! {
    fn reading()(
        kind in prop::sample::select(vec![Kind::Normal, Kind::Normal, Kind::Impersonate, Kind::Continue, Kind::Quiet]),
        continued in text(),
        flags in any::<[bool; 8]>(),
        start_with in prop::sample::select(vec!["", "Lorne: ", "Sure. "]),
    ) -> Reading {
        let mut reading = Reading { kind, ..cast() };
        if kind == Kind::Impersonate {
            reading.others[0] = std::mem::replace(&mut reading.own, reading.others[0].clone());
        }
        if kind == Kind::Continue {
            reading.continued = continued;
        }
        let stops = ["END", "</s>", "###", "\n###", "。。"].map(|s| Stop::new(StopSource::Custom, s));
        if flags[0] {
            reading.stop.extend(stops);
            reading.stop.push(Stop::new(StopSource::Name, "\nSeraphina:"));
        }
        if flags[1] {
            reading.sequences = Some(Sequences {
                stop: "<|im_end|>".to_owned(),
                input: "<|im_start|>user".to_owned(),
                output: "<|im_start|>assistant".to_owned(),
                last_output: String::new(),
                as_stops: true,
            });
        }
        reading.rules.collapse_newlines = flags[2];
        reading.rules.trim_spaces = flags[3] || flags[4];
        reading.rules.keep_user_label = flags[5] && flags[6];
        reading.rules.keep_char_label = flags[5] && flags[7];
        reading.start_with = start_with.to_owned();
        reading
    }
}

fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let (mut rest, mut out) = (text, Vec::new());
    for &cut in cuts {
        let at = rest.char_indices().nth(cut).map_or(rest.len(), |(at, _)| at);
        let (piece, tail) = rest.split_at(at);
        out.push(piece);
        rest = tail;
    }
    out.push(rest);
    out
}

fn profiles() -> Vec<Profile> {
    let mut mixed = Profile::promptside();
    mixed.set("reply.stops", false).unwrap();
    mixed.set("reply.continue", false).unwrap();
    let mut other = Profile::sillytavern();
    other.set("reply.stops", true).unwrap();
    vec![Profile::promptside(), Profile::sillytavern(), mixed, other]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_split_gives_the_whole(
        text in text(), reading in reading(), cuts in prop::collection::vec(0usize..9, 0..30), which in 0usize..4, off in any::<bool>(),
    ) {
        let options = Options { trim: (off && which == 0).then_some(Trim::Off), ..Options::default() };
        let profile = &profiles()[which];
        let whole = reply::clean(&text, &reading, &options, profile);
        for split in [pieces(&text, &cuts), characters(&text)] {
            let seen = watch(&split, &reading, &options, profile);
            prop_assert_eq!(&seen.end.cleaned.text, &whole.text);
            prop_assert!(seen.end.rest.is_some(), "shown {:?} of {:?}", seen.shown.last(), whole.text);
            if seen.stopped.is_some() {
                prop_assert_eq!(seen.end.rest.as_deref(), Some(""));
            }
        }
    }

    #[test]
    fn cleaning_twice_changes_nothing(text in text()) {
        let reading = cast();
        let once = reply::clean(&text, &reading, &Options::default(), &Profile::promptside()).text;
        let twice = reply::clean(&once, &reading, &Options::default(), &Profile::promptside());
        prop_assert_eq!(&twice.text, &once);
    }

    #[test]
    fn nothing_panics(text in text(), mut reading in reading(), which in 0usize..4) {
        reading.rules.fix_markdown = true;
        reading.rules.trim_sentences = true;
        let profile = &profiles()[which];
        let cleaned = reply::clean(&text, &reading, &Options { ended: Ended::Length, ..Options::default() }, profile);
        prop_assert!(cleaned.text.len() <= text.len() + reading.continued.len() + reading.start_with.len());
        display_tick(&text, &reading, &Options::default(), profile);
    }
}
