//! Post-processing: one neutral list of messages -> another that a stricter provider accepts (spec 06 §3). Knows no provider.

use serde_json::{Value, json};

use super::config::{Fixes, Frame, Names};
use super::item::{Item, items, label, part_type, split, truthy};
use crate::js;
use crate::profile::Profile;

/// A mode, as four decisions.
#[expect(clippy::struct_excessive_bools, reason = "the columns of the specification's table")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// System messages after the first become the user's.
    pub strict: bool,
    /// A user message is put where the conversation lacks one.
    pub placeholders: bool,
    /// Everything becomes one user message.
    pub single: bool,
    /// Tool calls and results stay.
    pub tools: bool,
}

impl Mode {
    /// `merge_tools`, which MiniMax needs.
    pub(super) const MERGE_TOOLS: Self =
        Self { strict: false, placeholders: false, single: false, tools: true };
    /// `semi_tools`, which DeepSeek needs.
    pub(super) const SEMI_TOOLS: Self =
        Self { strict: true, placeholders: false, single: false, tools: true };
    /// `strict`, which Perplexity needs.
    pub(super) const STRICT: Self = Self { strict: true, placeholders: true, single: false, tools: false };

    /// A mode by its name; `None` for the empty name, `none` and unknown ones, which change nothing.
    pub fn named(name: &str) -> Option<Self> {
        let merge = Self { strict: false, placeholders: false, single: false, tools: false };
        let semi = Self { strict: true, ..merge };
        Some(match name {
            "merge" | "claude" => merge,
            "merge_tools" => Self::MERGE_TOOLS,
            "semi" => semi,
            "semi_tools" => Self::SEMI_TOOLS,
            "strict" => Self::STRICT,
            "strict_tools" => Self { tools: true, ..Self::STRICT },
            "single" => Self { single: true, ..semi },
            _ => return None,
        })
    }
}

/// Applies the mode of this name: the new messages and, for each, the indices of the input messages in it (none for a placeholder).
/// What is no object is left out. Linear in the total length of the texts.
pub fn post_process(
    messages: &[Value],
    mode: &str,
    names: &Names,
    placeholder: &str,
    profile: &Profile,
) -> (Vec<Value>, Vec<Vec<usize>>) {
    let frame = Frame { names, placeholder, labels: true, fixes: Fixes::of(profile) };
    split(match Mode::named(mode) {
        Some(mode) => apply(items(messages), mode, frame),
        None => items(messages),
    })
}

/// All steps of a mode.
pub(super) fn apply(list: Vec<Item>, mode: Mode, frame: Frame) -> Vec<Item> {
    let list = merge(list, mode, frame);
    if !mode.strict {
        return list;
    }
    let mut list = list;
    for item in list.iter_mut().skip(1) {
        if item.is("system") {
            item.set("role", json!("user"));
        }
    }
    if mode.placeholders {
        let missing = match list.first() {
            Some(first) if first.is("system") => list.get(1).is_none_or(|m| !m.is("user")).then_some(1),
            Some(first) => (!first.is("user")).then_some(0),
            None => None,
        };
        if let Some(at) = missing {
            list.insert(at, Item::new("user", json!(frame.placeholder)));
        }
    }
    merge(list, Mode { single: false, ..mode }, frame)
}

/// Steps 1 to 4: texts, labels, neighbours of one role, media back in place.
fn merge(list: Vec<Item>, mode: Mode, frame: Frame) -> Vec<Item> {
    let mut media = Media::new(&list);
    let mut merged: Vec<Item> = Vec::with_capacity(list.len());
    for mut item in list {
        let mut text = media.flatten(item.content(), frame.fixes);
        relabel(&mut item, &mut text, mode, frame, &media);
        item.take("name");
        if !mode.tools {
            item.take("tool_calls");
            item.take("tool_call_id");
        }
        let calls = truthy(item.fields.get("tool_calls"));
        if frame.fixes.merge && text.is_empty() && !calls && !item.is("tool") {
            continue;
        }
        let previous = merged.last_mut().filter(|p| p.role() == item.role() && !item.is("tool"));
        match previous {
            Some(previous) if !text.is_empty() || frame.fixes.merge && calls => {
                join(previous, &mut item, &text, frame.fixes);
            }
            _ => {
                item.set("content", json!(text));
                merged.push(item);
            }
        }
    }
    if merged.is_empty() {
        merged.push(Item::new("user", json!(frame.placeholder)));
    }
    for item in &mut merged {
        if let Some(parts) = item.text().and_then(|t| media.restore(t)) {
            item.set("content", Value::Array(parts));
        }
    }
    merged
}

/// Labels and roles of one message (steps 1c to 1f).
fn relabel(item: &mut Item, text: &mut String, mode: Mode, frame: Frame, media: &Media) {
    let (names, fixes) = (frame.names, frame.fixes);
    let begins = |text: &str, name: &str| media.speech(text, fixes).starts_with(&label(name));
    let own = item.name().map(str::to_owned);
    let mut labelled = false;
    match own.as_deref() {
        Some("example_user") if item.is("system") => label_user(text, frame, media),
        Some("example_assistant") if item.is("system") => label_char(text, frame, media),
        Some(name) if !item.is("system") => {
            let shown = if fixes.names { names.display(name) } else { name };
            if !begins(text, name) && !begins(text, shown) {
                media.put_before(text, &label(shown), fixes);
            }
            labelled = fixes.names;
        }
        _ => {}
    }
    if item.is("tool") && !mode.tools {
        item.set("role", json!("user"));
    }
    if !mode.single {
        return;
    }
    let wanted = !labelled && (frame.labels || !fixes.names);
    // With the fix an empty message stays empty and goes.
    let wanted = wanted && !(fixes.merge && text.is_empty());
    match item.role() {
        "assistant" if wanted => label_char(text, frame, media),
        "user" if wanted => label_user(text, frame, media),
        _ => {}
    }
    item.set("role", json!("user"));
}

fn label_user(text: &mut String, frame: Frame, media: &Media) {
    let name = label(&frame.names.user);
    if !frame.names.user.is_empty() && !media.speech(text, frame.fixes).starts_with(&name) {
        media.put_before(text, &name, frame.fixes);
    }
}

fn label_char(text: &mut String, frame: Frame, media: &Media) {
    let speech = media.speech(text, frame.fixes);
    let name = &frame.names.char;
    if !name.is_empty() && !speech.starts_with(&label(name)) && !frame.names.labels_member(speech) {
        media.put_before(text, &label(name), frame.fixes);
    }
}

/// Appends a message to the one before it.
fn join(previous: &mut Item, item: &mut Item, text: &str, fixes: Fixes) {
    // In place: a mode that makes one message of a whole chat must not copy it for every line.
    if let Some(Value::String(before)) = previous.fields.get_mut("content") {
        if !(before.is_empty() && fixes.merge || text.is_empty()) {
            before.push_str("\n\n");
        }
        before.push_str(text);
    }
    previous.from.append(&mut item.from);
    if !fixes.merge {
        return;
    }
    if let Some(Value::Array(mut calls)) = item.take("tool_calls") {
        match previous.fields.get_mut("tool_calls").and_then(Value::as_array_mut) {
            Some(list) => list.append(&mut calls),
            None => previous.set("tool_calls", Value::Array(calls)),
        }
    }
    for (key, value) in std::mem::take(&mut item.fields) {
        previous.fields.entry(key).or_insert(value);
    }
}

/// Media parts, set aside while texts are joined. In the text each stands as a mark that no text of the request can hold:
/// a run of NULs longer than any in it, then a number.
struct Media {
    parts: Vec<Value>,
    mark: String,
}

impl Media {
    fn new(list: &[Item]) -> Self {
        let longest = list.iter().map(|item| longest_nuls(item.content())).max().unwrap_or(0);
        Self { parts: Vec::new(), mark: "\0".repeat(longest + 1) }
    }

    /// A content as one text.
    fn flatten(&mut self, content: &Value, fixes: Fixes) -> String {
        match content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let pieces = parts.iter().filter_map(|part| self.piece(part, fixes));
                pieces.collect::<Vec<_>>().join("\n\n")
            }
            other if js::to_boolean(other) => js::value_to_text(other),
            _ => String::new(),
        }
    }

    fn piece(&mut self, part: &Value, fixes: Fixes) -> Option<String> {
        let kept = match part_type(part) {
            "text" => {
                let text = part.get("text").filter(|t| js::to_boolean(t)).map(js::value_to_text);
                return if fixes.merge { text } else { Some(text.unwrap_or_default()) };
            }
            "image_url" | "video_url" | "audio_url" => true,
            _ => fixes.merge,
        };
        if !kept {
            return Some(String::new());
        }
        self.parts.push(part.clone());
        Some(format!("{}{}", self.mark, self.parts.len() - 1))
    }

    /// The part that a piece stands for.
    fn part(&self, piece: &str) -> Option<&Value> {
        self.parts.get(piece.strip_prefix(&self.mark)?.parse::<usize>().ok()?)
    }

    /// Where a label is looked for: with the fix in the first piece that is no media.
    fn speech<'t>(&self, text: &'t str, fixes: Fixes) -> &'t str {
        let mut rest = text;
        if !fixes.merge {
            return rest;
        }
        loop {
            let (piece, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
            if self.part(piece).is_none() {
                return rest;
            }
            rest = after;
        }
    }

    /// Puts a label in front of the text; with the fix behind leading media, or as a text of its own when there are only media.
    fn put_before(&self, text: &mut String, label: &str, fixes: Fixes) {
        let speech = self.speech(text, fixes);
        if speech.is_empty() && !text.is_empty() {
            text.insert_str(0, "\n\n");
            text.insert_str(0, label);
        } else {
            text.insert_str(text.len() - speech.len(), label);
        }
    }

    /// The text as parts; `None` when no media are in it. A mark that something was glued to is dropped: in the reference it
    /// leaks as a random text.
    fn restore(&self, text: &str) -> Option<Vec<Value>> {
        if self.parts.is_empty() || !text.contains(&self.mark) {
            return None;
        }
        let mut parts: Vec<Value> = Vec::new();
        let mut open = String::new();
        let mut has_open = false;
        let close = |parts: &mut Vec<Value>, open: &mut String, has_open: &mut bool| {
            if std::mem::take(has_open) {
                parts.push(json!({"type": "text", "text": std::mem::take(open)}));
            }
        };
        for piece in text.split("\n\n") {
            if let Some(part) = self.part(piece) {
                close(&mut parts, &mut open, &mut has_open);
                parts.push(part.clone());
                continue;
            }
            if has_open {
                open.push_str("\n\n");
            }
            open.push_str(piece.split(&self.mark).next().unwrap_or(""));
            has_open = true;
        }
        close(&mut parts, &mut open, &mut has_open);
        Some(parts)
    }
}

/// The longest run of NULs in the texts of a content.
fn longest_nuls(content: &Value) -> usize {
    let run = |text: &str| text.split(|c| c != '\0').map(str::len).max().unwrap_or(0);
    match content {
        Value::String(text) => run(text),
        Value::Array(parts) => {
            parts.iter().filter_map(|p| p.get("text").and_then(Value::as_str)).map(run).max().unwrap_or(0)
        }
        _ => 0,
    }
}
