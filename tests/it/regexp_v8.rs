//! Our RegExp against V8's: random patterns, flags and texts with what V8 found (`scripts/regexp-agreement.mjs`).
//! `PROMPTSIDE_REGEXP_V8` names another file of the same form.

use std::fs;
use std::path::Path;

use promptside::js::regexp::{Regex, Steps, Text};

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
    while let Some(m) = matches.next(&mut steps).expect("within the steps") {
        let groups: Vec<_> =
            m.groups.iter().map(|g| g.map_or("_".to_owned(), |(s, e)| format!("{s}-{e}"))).collect();
        all.push(groups.join(","));
    }
    Some(all.join(";"))
}

#[test]
fn finds_what_v8_finds() {
    let path = std::env::var("PROMPTSIDE_REGEXP_V8").map_or_else(
        |_| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/regexp-v8.jsonl"),
        Into::into,
    );
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
        total >= 1000 && wrong.is_empty(),
        "{} of {total}:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(60)].join("\n")
    );
}
