//! What the random agreement with V8 (`tests/it/regexp_v8.rs`) does not reach: bounds, memory of failures, the flag `v`, errors.

use super::machine::Machine;
use super::*;

const ENOUGH: u64 = 1_000_000;

/// All matches as texts, groups behind them; `!` for too many steps.
fn all(pattern: &str, flags: &str, text: &str) -> Vec<String> {
    let regex = Regex::new(pattern, flags).unwrap_or_else(|e| panic!("/{pattern}/{flags}: {e}"));
    let text = Text::from(text);
    let mut steps = Steps::new(ENOUGH);
    let mut matches = regex.matches(&text);
    let mut out = Vec::new();
    loop {
        match matches.next(&mut steps) {
            Ok(None) => return out,
            Err(StepsExceeded) => return vec!["!".to_owned()],
            Ok(Some(found)) => {
                let part = |g: &Option<(usize, usize)>| {
                    g.map_or("-".to_owned(), |g| String::from_utf16_lossy(text.slice(g)))
                };
                out.push(found.groups.iter().map(part).collect::<Vec<_>>().join(","));
            }
        }
    }
}

fn error(pattern: &str, flags: &str) -> &'static str {
    Regex::new(pattern, flags).map_or_else(|e| e.message, |_| "none")
}

#[test]
fn rules_of_the_specification() {
    // spec 05 §6
    assert_eq!(all("(?:(a)|b)*", "", "ab"), ["ab,-"]);
    assert_eq!(all("a*", "g", "baaac"), ["", "aaa", "", ""]);
    assert_eq!(all("^.$", "", "😀"), [""; 0]);
    assert_eq!(all("^.$", "u", "😀"), ["😀"]);
    assert_eq!(all("😀+", "", "😀😀"), ["😀"]);
    assert_eq!(all("😀+", "u", "😀😀"), ["😀😀"]);
    assert_eq!(all("[😀]", "g", "😀"), ["\u{fffd}", "\u{fffd}"]);
    assert_eq!(all("s", "gi", "sSſ"), ["s", "S"]);
    assert_eq!(all("s", "giu", "sSſ"), ["s", "S", "ſ"]);
    assert_eq!(all("ß", "gi", "ßẞ"), ["ß"]);
    assert_eq!(all("\\w", "giu", "ſ\u{212a}é"), ["ſ", "\u{212a}"]);
    assert_eq!(all("(?<=(\\d+))(\\w+)", "", "12ab"), ["2ab,1,2ab"]);
    assert_eq!(all("\\bкот\\b|кот", "g", "кот"), ["кот"]);
    assert_eq!(all("\\p{Script=Han}+", "gu", "洛恩 and 塞拉"), ["洛恩", "塞拉"]);
    assert_eq!(all("\\p{L}", "", "p{L}"), ["p{L}"]);
    assert_eq!(all("^[ก-๙]+$", "m", "x\nสวัสดี"), ["สวัสดี"]);
    assert_eq!(all(".", "g", "\n\r\u{2028}\u{2029}\u{85}"), ["\u{85}"]);
}

/// Where V8 goes its own way, so do we.
#[test]
fn a_reference_before_its_group_halves_the_pair_behind_it() {
    assert_eq!(all("\\1😀(a)?", "u", "😀"), [""; 0]);
    assert_eq!(all("\\1\\u{1f600}(a)?", "u", "😀"), ["😀,-"]);
    assert_eq!(all("(?:\\1)😀(a)?", "u", "😀"), ["😀,-"]);
    assert_eq!(all("(q)?\\1😀", "u", "😀"), ["😀,-"]);
    assert_eq!(all("\\k<n>\\2😀(?<n>)(a)?", "u", "😀"), ["😀,,-"]);
    assert_eq!(all("\\1😀(a)?", "", "😀"), ["😀,-"]);
}

#[test]
fn a_reference_fails_between_the_halves_of_a_pair() {
    let start = |pattern: &str, flags: &str| {
        let regex = Regex::new(pattern, flags).unwrap();
        regex.find_at(&"😀b".into(), 0, &mut Steps::new(ENOUGH)).unwrap().map(|m| m.start())
    };
    for (pattern, at) in [
        ("(?!^)(|a)", 1),
        ("(?!^)(|a)\\1", 2),
        ("(?!^)\\1(|a)", 2),
        ("(?!^)(?=\\1)(|a)", 2),
        ("(?!^)(?<=(|a)\\1)", 2),
        ("(?!^)(q)?\\1", 2),
        ("(?<!\\1)(|a)", 1),
    ] {
        assert_eq!(start(pattern, "u"), Some(at), "{pattern}");
        assert_eq!(start(pattern, "iu"), Some(at), "{pattern}");
    }
    assert_eq!(start("(?!^)(|a)\\1", ""), Some(1));
}

#[test]
fn sets_of_the_flag_v() {
    assert_eq!(all("[\\p{L}--[a-z]]", "gv", "aBc洛"), ["B", "洛"]);
    assert_eq!(all("[[a-z]&&[aeiou]]", "gv", "hello"), ["e", "o"]);
    assert_eq!(all("[\\q{abc|d|}x]", "gv", "abcdz"), ["abc", "d", "", ""]);
    assert_eq!(all("[^\\d]", "gv", "1a"), ["a"]);
    assert_eq!(all("\\P{Lowercase}", "giv", "aA1"), ["1"]);
    assert_eq!(all("\\P{Lowercase}", "giu", "aA1"), ["a", "A", "1"]);
    assert_eq!(all("[[]a]", "gv", "a]"), ["a"]);
    for pattern in
        ["[a--b&&c]", "[a-z--b]", "[(]", "[a&&]", "[&&a]", "[^\\q{ab}]", "[a!!b]", "[[a]", "[\\q{a]"]
    {
        assert_ne!(error(pattern, "v"), "none", "{pattern}");
    }
}

#[test]
fn errors_say_what_and_where() {
    for (pattern, flags, message) in [
        ("(unclosed", "", "Unterminated group"),
        ("(?i)a", "", "Invalid group"),
        ("(?i:a)", "", "Invalid group"),
        ("a)", "", "Unmatched ')'"),
        ("*", "", "Nothing to repeat"),
        ("[b-a]", "", "Range out of order in character class"),
        ("[a", "", "Unterminated character class"),
        ("\\-", "u", "Invalid escape"),
        ("(?<n>a)(?<n>b)", "", "Duplicate capture group name"),
        ("(?<n>a)\\k<m>", "", "Invalid named capture referenced"),
        ("a{2,1}", "", "numbers out of order in {} quantifier"),
        ("a", "gg", "Invalid flags"),
        ("a", "x", "Invalid flags"),
        ("a", "uv", "Invalid flags"),
        ("\\", "", "\\ at end of pattern"),
        ("\\p{scx=Han}", "u", "Property not supported by this engine"),
        ("\\p{Hanzi}", "u", "Invalid property name"),
    ] {
        assert_eq!(error(pattern, flags), message, "/{pattern}/{flags}");
    }
    assert_eq!(Regex::new("洛*+", "").map_err(|e| e.offset).err(), Some(2));
}

#[test]
fn exponential_patterns_end() {
    // Measured in spec 05 §3.1: V8 needs seconds to minutes for longer texts.
    let a = "a".repeat(5_000);
    assert!(all("(a+)+$", "", &format!("{a}!")).is_empty());
    assert!(all("(a|a)*c", "", &a).is_empty());
    assert!(all("(a|aa)+$", "", &format!("{a}!")).is_empty());
    assert!(all("<p>(?:.|\\s)+?</p>", "", &format!("<p>{}", " ".repeat(20_000))).is_empty());
    assert!(all("\\s+$", "", &format!("{}x", " ".repeat(20_000))).is_empty());
    assert!(all("a.*b.*c.*d", "", &"ab".repeat(5_000)).is_empty());
    assert!(all(".*?foo", "", &"x".repeat(20_000)).is_empty());
    assert_eq!(all(".*[^A-Z]|[A-Z]", "g", &"A".repeat(20_000)).len(), 20_000);
    assert_eq!(all("(?:.*?,)*?x|洛", "g", &"洛,".repeat(10_000)).len(), 10_000);
    assert_eq!(all("(a*)*$", "", &format!("{a}!")), [",-"]);
    assert!(all("^(a*)*$", "", &format!("{a}!")).is_empty());
    assert!(all("(?:a|b*)*?c", "", &a).is_empty());
    assert!(all("(?:(?:a|\\s*)*|洛*)*c", "", &a).is_empty());
    // References and lookarounds are not remembered: they meet the limit.
    assert_eq!(all("(a+)+\\1$", "", &format!("{a}!")), ["!"]);
    assert_eq!(all("(?=(a+)+$)x", "", &format!("{a}!")), [""; 0], "the x is looked for first");
    assert_eq!(all("(?=(a+)+$)a", "", &format!("{a}!")), ["!"]);
    assert!(all("(?:(a*)*b|(x)\\2)$", "", &a).is_empty(), "no reference comes behind that choice");
    assert!(all("(?:a+){2,}b", "", &a).is_empty(), "counts are remembered with the rounds");
    assert!(all("(?:a|aa){3,9}$", "", &format!("{a}!")).is_empty());
    assert!(all("(?:(?:a+){2,3}b?){2,}$", "", &format!("{a}!")).is_empty());
    assert_eq!(all("(?:a+){2,20000}b", "", &a), ["!"], "that many rounds are not");
    assert_eq!(all("(?:){4294967295}", "", ""), ["!"]);
}

#[test]
fn remembered_patterns_are_linear_over_all_matches() {
    for (pattern, piece, end) in [
        ("(a+)+$", "a", "!"),
        ("(a|a)*c", "a", ""),
        (".*[^A-Z]|[A-Z]", "A", ""),
        ("\\s+$", " ", "x"),
        ("[\\s\\S]*?</details>", "洛 <b", ""),
        ("a.*b.*c.*d", "ab", ""),
        ("(?:<(\\w+)>|[^<])*?;", "x<b>", ""),
        ("(x+x+)+y", "x", ""),
        ("(?:(x*)*|y)*z", "x", ""),
        ("(?:.|\\s*)*?;", "洛 ", ""),
        ("(?:a+){2,5}$", "a", "!"),
        ("(?:a|(b)|ab){2,}c", "ab", ""),
        ("(?:(?:a?b*){2,3}c?){2,}d", "ab", ""),
    ] {
        let regex = Regex::new(pattern, "g").unwrap();
        let steps = |n: usize| {
            let text = Text::from((piece.repeat(n) + end).as_str());
            let mut steps = Steps::new(u64::MAX);
            let mut matches = regex.matches(&text);
            while matches.next(&mut steps).unwrap().is_some() {}
            u64::MAX - steps.left()
        };
        let (short, long) = (steps(500), steps(5_000));
        assert!(long < short * 12, "/{pattern}/: {short} steps, then {long}");
    }
}

#[test]
fn steps_are_shared_and_reported() {
    let regex = Regex::new("(a+)+\\1$", "").unwrap();
    let text = Text::from("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
    let mut steps = Steps::new(1000);
    assert_eq!(regex.test(&text, &mut steps), Err(StepsExceeded));
    assert_eq!(steps.left(), 0);
    let mut steps = Steps::new(1000);
    assert_eq!(Regex::new("!", "").unwrap().test(&text, &mut steps), Ok(true));
    assert!(steps.left() > 980);
}

#[test]
fn nesting_needs_no_stack() {
    let deep = 8_000;
    let pattern = format!("{}a{}", "(".repeat(deep), ")".repeat(deep));
    let found = Regex::new(&pattern, "").unwrap().find_at(&"ba".into(), 0, &mut Steps::new(ENOUGH)).unwrap();
    assert_eq!(found.unwrap().groups, vec![Some((1, 2)); deep + 1]);
    for (open, close) in [("(?:", ")*"), ("(?=", ")"), ("(?<!", ")"), ("(?:x|", "){2}"), ("(", ")?")] {
        let pattern = format!("{}a{}", open.repeat(deep), close.repeat(deep));
        let regex = Regex::new(&pattern, "").unwrap();
        let _ = regex.test(&"aaa".into(), &mut Steps::new(100_000));
    }
    let _ = Regex::new(&"[".repeat(deep), "v").is_err();
    assert!(Regex::new(&format!("{}a{}", "[".repeat(deep), "]".repeat(deep)), "v").is_ok());
}

#[test]
fn long_texts_do_not_fill_the_memory() {
    let text = Text::from("a\n".repeat(1 << 20).as_str());
    let regex = Regex::new("(?:(a)|\n)*c", "").unwrap();
    // Two entries a character: the list of things to try is full before the steps run out.
    assert_eq!(regex.test(&text, &mut Steps::new(u64::MAX)), Err(StepsExceeded));
}

#[test]
fn remembering_failures_changes_nothing() {
    let patterns = [
        "(a+)+b",
        "(a|ab)(c|bcd)(d*)",
        "(?:a*?b?)+c",
        "(x+x+)+y",
        "a.*b.*?c|.",
        "(?:(a)|(b)|c)+d?",
        "(a*)(b*)*c",
        "[^]*?b|a",
        "(?:a|(b))*?$",
        "(?:a{1,3}b?){2,}|b",
        "(?=(a*))b?.",
        "((a|b)*?c)*.",
        "a*?(?:ba*)*$",
        "(?:😀|.)*?b",
        ".{0,3}?a{2,}",
        "(?:(a*)*b?)*?c|.",
        "(?:a|b*?|(c)*)*(?:$|d)",
        "(?:(?:a?b?)*c?)*d|(b)\\1",
        "(a)?(?:b*|\\1)*c|a",
        "(?:(?:(?:a*)*b*)*c*)*x",
        "(?:(a)|b|ab){2,3}(?:c|a|.{2})",
        "(?:(a*)|b){2,}?c|.",
        "(?:(?:a|b*?){1,2}c?){2,}(?:$|d|(b))",
        "((?:a?){3,}b?){0,2}?[bc]",
        "(?:(?=(a*))a?b?){2,4}$",
    ];
    let texts = ["aaaaab", "abcd", "aabaabcaab", "xxxxxxxxx", "ab😀ab😀cb", "", "bbbbcab\nabc", "😀😀b"];
    for pattern in patterns {
        for flags in ["g", "gu", "gi", "gs"] {
            let regex = Regex::new(pattern, flags).unwrap();
            for text in texts {
                let text = Text::from(text);
                let run = |mut machine: Machine<'_>| {
                    let mut out = Vec::new();
                    let mut at = 0;
                    let mut steps = Steps::new(ENOUGH);
                    while at <= text.len() && machine.search(at, false, &mut steps).unwrap() {
                        let groups = machine.groups();
                        let (start, end) = groups[0].unwrap();
                        at = if end > start { end } else { end + 1 };
                        out.push(groups);
                    }
                    out
                };
                let plain = run(Machine::new(&regex.program, text.units()));
                let mut remembering = Machine::new(&regex.program, text.units());
                remembering.remember();
                assert_eq!(run(remembering), plain, "/{pattern}/{flags} on {text:?}");
            }
        }
    }
}
