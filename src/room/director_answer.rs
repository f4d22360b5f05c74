//! What a director model answered -> ids in order; what it said that means nobody (spec 09 §21.3). Also reads one nominated name.

use serde::Serialize;
use serde_json::Value;

use crate::js;
use crate::names::{Diacritics, is_cjk, is_written, key};

/// How an answer was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// As JSON.
    Json,
    /// As lines of text.
    Text,
    /// It names nobody.
    #[default]
    None,
}

/// A director's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Member ids, in order.
    pub speakers: Vec<String>,
    /// Why, in the model's words.
    pub reason: String,
    /// Names that mean nobody.
    pub unknown: Vec<String>,
    /// How it was read.
    pub how: How,
}

/// Longest answer that is read, bytes; a longer one is cut.
const LONGEST: usize = 1 << 16;
/// Most entries that are read.
const MOST: usize = 64;

/// Reads an answer. `members`: id and name of the candidates, in the order in which they were numbered.
pub fn director_parse(text: &str, members: &[(&str, &str)], max: usize) -> Choice {
    let text = without_fences(&without_thoughts(head(text)));
    let text = js::trim(&text);
    let mut choice = Choice::default();
    let entries = if let Some(object) = balanced(text, '{', '}').and_then(repaired) {
        choice.reason = object.get("reason").and_then(Value::as_str).unwrap_or("").to_owned();
        let listed = ["speakers", "speaker", "next"].iter().find_map(|k| object.get(*k).and_then(list));
        listed.or_else(|| bare_list(text))
    } else {
        bare_list(text)
    };
    choice.how = if entries.is_some() { How::Json } else { How::Text };
    for entry in entries.unwrap_or_else(|| lines(text)).into_iter().take(MOST) {
        match resolve(&entry, members) {
            Some(id) if choice.speakers.iter().any(|s| s == id) => {}
            Some(id) => choice.speakers.push(id.to_owned()),
            None => choice.unknown.push(entry),
        }
    }
    choice.speakers.truncate(max);
    if choice.speakers.is_empty() {
        choice.how = How::None;
    }
    choice
}

/// The member that one entry means.
pub fn resolve<'a>(entry: &str, members: &[(&'a str, &'a str)]) -> Option<&'a str> {
    let entry = js::trim(entry);
    if !entry.is_empty() && entry.bytes().all(|b| b.is_ascii_digit()) {
        let numbered = entry.parse::<usize>().ok().and_then(|n| members.get(n.checked_sub(1)?));
        if let Some((id, _)) = numbered {
            return Some(id);
        }
    }
    let entry = entry
        .trim_start_matches(|c| js::is_space(c) || "\"'“「*@＠".contains(c))
        .trim_end_matches(|c| js::is_space(c) || "\"'”」*.。!！:：".contains(c));
    if entry.is_empty() {
        return None;
    }
    let find = |test: &dyn Fn(&str, &str) -> bool| {
        members.iter().find(|(id, name)| test(id, name)).map(|(id, _)| *id)
    };
    let spelled = |text: &str| key(js::trim(text), Diacritics::Loose);
    let same = |wanted: &str| {
        let wanted = spelled(wanted);
        let equal = |text: &str| !wanted.is_empty() && spelled(text) == wanted;
        find(&|id, name| equal(name) || equal(id))
    };
    find(&|id, name| name == entry || id == entry)
        .or_else(|| same(entry))
        .or_else(|| same(&unbracketed(entry)))
        .or_else(|| inside(entry, members))
}

/// The one name that occurs in a text; of several, the one that has all the others in it.
fn inside<'a>(text: &str, members: &[(&'a str, &'a str)]) -> Option<&'a str> {
    let text: Vec<char> = key(text, Diacritics::Loose).chars().collect();
    let mut found: Vec<(&str, String)> = Vec::new();
    for (id, name) in members {
        let name = key(js::trim(name), Diacritics::Loose);
        if occurs(&text, &name.chars().collect::<Vec<_>>()) {
            found.push((id, name));
        }
    }
    let (id, longest) = found.iter().max_by_key(|(_, name)| name.len())?;
    let others = found.iter().filter(|(other, _)| other != id);
    let all = others.into_iter().all(|(_, name)| name != longest && longest.contains(name.as_str()));
    all.then_some(*id)
}

/// Whether a name stands in a text with no letter of an alphabet right before or behind it that belongs to it.
fn occurs(text: &[char], name: &[char]) -> bool {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return false };
    let joined = |a: char, b: char| {
        (is_written(a) || a == '_') && (is_written(b) || b == '_') && !is_cjk(a) && !is_cjk(b)
    };
    text.windows(name.len()).enumerate().any(|(at, window)| {
        let before = at.checked_sub(1).and_then(|i| text.get(i));
        let after = text.get(at + name.len());
        window == name
            && !before.is_some_and(|c| joined(*c, *first))
            && !after.is_some_and(|c| joined(*last, *c))
    })
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// The text without `<think>…</think>`.
fn without_thoughts(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::new();
    let mut at = 0;
    while let Some(open) = lower.get(at..).and_then(|rest| rest.find("<think>")).map(|i| at + i) {
        let Some(close) = lower.get(open..).and_then(|rest| rest.find("</think>")).map(|i| open + i) else {
            break;
        };
        out.push_str(text.get(at..open).unwrap_or(""));
        at = close + "</think>".len();
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// The text without ``` and the language behind it.
fn without_fences(text: &str) -> String {
    let mut parts = text.split("```");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    }
    out
}

/// The first balanced piece between two signs; double-quoted strings are stepped over.
fn balanced(text: &str, open: char, close: char) -> Option<&str> {
    let start = text.find(open)?;
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, c) in text.get(start..)?.char_indices() {
        if quoted {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = false,
                _ => {}
            }
            continue;
        }
        if c == '"' {
            quoted = true;
        } else if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return text.get(start..start + at + c.len_utf8());
            }
        }
    }
    None
}

/// JSON, repaired step by step until it can be read.
fn repaired(text: &str) -> Option<Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    parse(text).or_else(|| {
        let text = without_commas(text);
        parse(&text).or_else(|| parse(&text.replace('\'', "\"")))
    })
}

/// The text without zero-width characters and commas before a closing bracket.
fn without_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')) {
        if matches!(c, '}' | ']') {
            let kept = js::trim_end(&out);
            if let Some(kept) = kept.strip_suffix(',') {
                out.truncate(kept.len());
            }
        }
        out.push(c);
    }
    out
}

/// Entries of a list, or of a text that is one.
fn list(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(items) => Some(items.iter().map(entry).filter(|e| !e.is_empty()).collect()),
        Value::String(text) => Some(split(text)),
        Value::Number(_) => Some(vec![js::value_to_text(value)]),
        _ => None,
    }
}

/// An entry's text; of an object, its name.
fn entry(value: &Value) -> String {
    let text = value.get("name").or_else(|| value.get("id")).unwrap_or(value);
    js::trim(&js::value_to_text(text)).to_owned()
}

fn bare_list(text: &str) -> Option<Vec<String>> {
    list(&repaired(balanced(text, '[', ']')?)?)
}

fn split(text: &str) -> Vec<String> {
    text.split([',', '，', '、', ';', '；'])
        .map(js::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Entries of plain lines: bullets, numbers and a label in front do not count.
fn lines(text: &str) -> Vec<String> {
    js::lines(text).flat_map(|line| split(without_label(without_bullet(js::trim(line))))).collect()
}

fn without_bullet(line: &str) -> &str {
    let line = js::trim_start(line.trim_start_matches(['-', '*', '•', '·', '–', '—']));
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..).unwrap_or("");
    match rest.strip_prefix(['.', ')', '、', '．', '）', ':', '：']) {
        Some(rest) if digits > 0 => js::trim_start(rest),
        _ => line,
    }
}

fn without_label(line: &str) -> &str {
    for label in ["next speaker", "speakers", "speaker", "next", "下一位发言者", "下一位"] {
        let Some(head) = line.get(..label.len()).filter(|head| js::lower(head) == label) else { continue };
        let rest = js::trim_start(line.get(head.len()..).unwrap_or(""));
        if let Some(rest) = rest.strip_prefix([':', '：']) {
            return js::trim_start(rest);
        }
    }
    line
}

/// The text without what stands in brackets.
fn unbracketed(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '(' | '（' | '[' | '［' | '【' => depth += 1,
            ')' | '）' | ']' | '］' | '】' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}
