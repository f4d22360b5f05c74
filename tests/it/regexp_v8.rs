//! Our RegExp against V8's: random patterns, flags and texts with what V8 found (`scripts/regexp-agreement.mjs`).
//! `PROMPTSIDE_REGEXP_V8` names another file of the same form.

use std::fs;
use std::path::{Path, PathBuf};

use promptside::js::regexp::{Regex, Steps, Text};
use proptest::prelude::*;

fn text(shown: &str) -> Text {
    let half = |u: u16| match u {
        0xE000 => 0xD83D,
        0xE001 => 0xDE00,
        u => u,
    };
    shown.encode_utf16().map(half).collect::<Vec<_>>().into()
}

fn found(pattern: &str, flags: &str, shown: &str) -> Option<String> {
    let regex = Regex::new(pattern, flags).ok()?;
    let text = text(shown);
    let mut steps = Steps::new(10_000_000);
    let mut matches = regex.matches(&text);
    let mut all = Vec::new();
    loop {
        let m = match matches.next(&mut steps) {
            Ok(Some(m)) => m,
            Ok(None) => break,
            Err(_) => return Some("out of steps".to_owned()),
        };
        let groups: Vec<_> =
            m.groups.iter().map(|g| g.map_or("_".to_owned(), |(s, e)| format!("{s}-{e}"))).collect();
        all.push(groups.join(","));
    }
    Some(all.join(";"))
}

/// Chosen patterns: `scripts/regexp-probes.mjs`.
#[test]
fn finds_what_v8_finds_with_chosen_patterns() {
    compare(&data("regexp-probes.jsonl"), 68);
}

#[test]
fn finds_what_v8_finds() {
    let path = std::env::var("PROMPTSIDE_REGEXP_V8").map_or_else(|_| data("regexp-v8.jsonl"), Into::into);
    compare(&path, 1000);
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn compare(path: &Path, least: usize) {
    let corpus = fs::read_to_string(path).unwrap();
    let (mut total, mut wrong) = (0, Vec::new());
    for line in corpus.split('\n').filter(|l| !l.is_empty()) {
        let (pattern, flags, shown, right): (String, String, String, Option<String>) =
            serde_json::from_str(line).unwrap();
        total += 1;
        let ours = found(&pattern, &flags, &shown);
        if ours != right {
            wrong.push(format!("/{pattern}/{flags} on {shown:?}: V8 {right:?}, ours {ours:?}"));
        }
    }
    println!("{total} triples, {} differ", wrong.len());
    assert!(
        total >= least && wrong.is_empty(),
        "{} of {total}:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(60)].join("\n")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_pattern_ends_and_stays_in_the_text(
        pattern in "([a-c.*+?|()\\[\\]{}\\\\^$0-9,<>=!:&q-]|\\(\\?<?[=!:]|\\\\[bBdDsSwWkpPuxc]|[洛😀ſЖ\\n]|\\PC){0,24}",
        flags in "[gimsy]{0,2}[uv]?",
        text in "[abcA1_洛😀𐐀ſЖ\\n ]{0,40}|\\PC{0,20}",
        at in 0_usize..50,
    ) {
        const ENOUGH: u64 = 30_000;
        let Ok(regex) = Regex::new(&pattern, &flags) else { return Ok(()) };
        let text = Text::from(text.as_str());
        let mut steps = Steps::new(ENOUGH);
        if let Ok(Some(found)) = regex.find_at(&text, at, &mut steps) {
            prop_assert_eq!(found.groups.len(), regex.group_count() + 1);
            for (start, end) in found.groups.iter().flatten() {
                prop_assert!(start <= end && *end <= text.len());
            }
            prop_assert!(found.start() + 1 >= at, "a search goes forwards, but for half a pair");
        }
        let mut matches = regex.matches(&text);
        let mut last = 0;
        while let Ok(Some(found)) = matches.next(&mut steps) {
            prop_assert!(found.start() >= last);
            last = found.end();
        }
        prop_assert!(steps.left() <= ENOUGH);
    }
}
