//! A reply -> the reply as SillyTavern 1.19.0 would keep it: the steps of spec 01 §13 that come after the regex scripts and
//! have a counterpart only there. Names are compared literally.
//!
//! Every step is one function on the whole text, in the order and with the oddities of the specification.

use super::{Cut, CutReason};
use crate::js;
use crate::parts::{Kind, Reading, Sequences};

/// Step 3: for each stop string, the longest beginning of it that ends the text is removed, be it one character.
pub(super) fn stop_tails(text: &mut String, reading: &Reading) {
    for stop in &reading.stop {
        let length = super::find::border(text.as_bytes(), stop.text.as_bytes());
        text.truncate(text.len() - length);
    }
}

/// Step 7: the label of the one who must not speak. At the start it empties the text, later it cuts.
pub(super) fn wrong_name(text: &mut String, reading: &Reading) -> Option<Cut> {
    let name = wrong(reading);
    if name.is_empty() {
        return None;
    }
    let at = if starts_with_label(text, name) { 0 } else { text.find(&format!("\n{name}:"))? };
    Some(cut_at(text, at, name, reading))
}

/// Whose label counts as wrong; empty for nobody's.
pub(super) fn wrong(reading: &Reading) -> &str {
    match (reading.kind, &reading.rules) {
        (Kind::Impersonate, rules) if !rules.keep_char_label => &reading.char,
        (kind, rules) if kind != Kind::Impersonate && !rules.keep_user_label => &reading.user,
        _ => "",
    }
}

/// Step 8: marks of the model and of its template.
pub(super) fn template_marks(text: &mut String, reading: &Reading) -> Option<Cut> {
    let mut cut = None;
    for mark in cut_marks(reading.sequences.as_ref()) {
        if let Some(at) = text.find(mark) {
            text.truncate(at);
            cut = Some(Cut::new(js::len16(text), CutReason::Marker, mark, ""));
        }
    }
    for line in deleted_lines(reading) {
        if text.contains(line) {
            *text = text.replace(line, "");
        }
    }
    cut
}

/// What ends a reply wherever it stands: the end mark of old models, and two sequences of the template, raw.
pub(super) fn cut_marks(sequences: Option<&Sequences>) -> impl Iterator<Item = &str> {
    let stop = sequences.map(|s| s.stop.as_str()).filter(|s| !s.is_empty());
    let input = sequences.map(|s| s.input.as_str()).filter(|s| !js::trim(s).is_empty());
    std::iter::once("<|endoftext|>").chain(stop).chain(input)
}

/// Lines of the template that are deleted wherever they stand.
pub(super) fn deleted_lines(reading: &Reading) -> impl Iterator<Item = &str> {
    let texts = match reading.sequences.as_ref().filter(|s| s.as_stops) {
        None => ["", ""],
        Some(s) if reading.kind == Kind::Impersonate => [s.input.as_str(), ""],
        Some(s) => [s.output.as_str(), s.last_output.as_str()],
    };
    texts.into_iter().flat_map(|s| s.split('\n')).filter(|line| !js::trim(line).is_empty())
}

/// Step 9: the first label of another member cuts.
pub(super) fn other_members(text: &mut String, reading: &Reading) -> Option<Cut> {
    if !reading.rules.cut_members {
        return None;
    }
    let mut cut = None;
    for name in reading.members.iter().filter(|name| **name != reading.char) {
        let at = if starts_with_label(text, name) { Some(0) } else { text.find(&format!("\n{name}:")) };
        if let Some(at) = at {
            cut = Some(cut_at(text, at, name, reading));
        }
    }
    cut
}

/// Step 10: labels of the speaker at line starts, with all white space after them, blank lines included.
pub(super) fn own_lines(text: &mut String, reading: &Reading) {
    if reading.rules.keep_char_label {
        return;
    }
    let label = format!("{}:", reading.char);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut line_start = true;
    while !rest.is_empty() {
        if line_start && let Some(body) = rest.strip_prefix(&label) {
            rest = js::trim_start(body);
            // The line feed before a label belongs to its match, so one that was swallowed here cannot open another.
            line_start = false;
            continue;
        }
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let (line, tail) = rest.split_at(end);
        out.push_str(line);
        rest = tail;
        line_start = true;
    }
    *text = out;
}

/// Step 13: one own label at the start, with the white space after it.
pub(super) fn own_prefix(text: &mut String, reading: &Reading) {
    if let Some(name) = prefix(reading).filter(|name| starts_with_label(text, name)) {
        *text = js::trim_start(text.get(name.len() + 1..).unwrap_or("")).to_owned();
    }
}

/// Whose label counts as the own prefix.
pub(super) fn prefix(reading: &Reading) -> Option<&str> {
    let (name, keeps) = if reading.kind == Kind::Impersonate {
        (&reading.user, reading.rules.keep_user_label)
    } else {
        (&reading.char, reading.rules.keep_char_label)
    };
    (!keeps && !name.is_empty()).then_some(name.as_str())
}

fn starts_with_label(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
}

fn cut_at(text: &mut String, at: usize, name: &str, reading: &Reading) -> Cut {
    text.truncate(at);
    let id = reading.others.iter().find(|p| p.names.iter().any(|n| n == name)).map_or("", |p| p.id.as_str());
    let reason = if text.is_empty() { CutReason::ForeignStart } else { CutReason::Label };
    Cut::new(js::len16(text), reason, name, id)
}
