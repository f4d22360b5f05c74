//! Neutral messages -> Gemini's system instruction and contents (spec 06 §4.3).

use serde_json::{Value, json};

use super::config::Frame;
use super::item::{Item, data_url, label, media_url, part_text, part_type};
use crate::error::Error;
use crate::js;

/// Gemini's two lists.
#[derive(Debug, Default)]
pub(super) struct Converted {
    /// Parts of the system instruction and the messages they came from.
    pub(super) system: Vec<(Value, Vec<usize>)>,
    /// `{role, parts}`.
    pub(super) contents: Vec<Item>,
    /// Media that could not be sent.
    pub(super) dropped: usize,
}

/// What the model's name decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model<'a> {
    pub(super) id: &'a str,
    /// Stored signatures are replayed.
    pub(super) signatures: bool,
}

impl Model<'_> {
    /// A trailing assistant message is refused, samplers too.
    pub(super) fn newest(self) -> bool {
        ["gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.5-flash-lite"].iter().any(|m| self.id.contains(m))
    }

    fn three(self) -> bool {
        self.id.contains("gemini-3")
    }
}

/// Converts. `use_system` moves leading system messages into the instruction; the last message of all never goes there.
pub(super) fn convert(
    list: Vec<Item>,
    model: Model,
    use_system: bool,
    frame: Frame,
) -> Result<Converted, Error> {
    let mut out = Converted::default();
    let mut list = list;
    let mut moved = Vec::new();
    if use_system {
        let run = list.iter().take_while(|i| i.is("system")).count().min(list.len().saturating_sub(1));
        for mut item in list.drain(..run) {
            item.label_example(frame.names, frame.fixes)?;
            system_part(item, frame, &mut out, &mut moved);
        }
    }
    let mut calls: Vec<(String, Value)> = Vec::new();
    let newest = list.len().saturating_sub(1);
    for (i, mut item) in list.into_iter().enumerate() {
        let role = match item.role() {
            "system" | "tool" => "user".to_owned(),
            "assistant" if i == newest && model.newest() => "user".to_owned(),
            "assistant" => "model".to_owned(),
            other => other.to_owned(),
        };
        let mut parts = neutral_parts(&item, frame);
        name_parts(&item, &mut parts, frame);
        if role == "user" && !moved.is_empty() {
            moved.append(&mut parts);
            std::mem::swap(&mut moved, &mut parts);
        }
        let (mut sent, dropped) = wire_parts(&parts, model, &mut calls, frame);
        out.dropped += dropped;
        sign(&item, &mut sent, &role, model);
        if frame.fixes.blocks {
            sent.retain(|p| p.get("text").is_none_or(|t| t != ""));
            if sent.is_empty() {
                continue;
            }
        }
        add(&mut out.contents, &role, sent, std::mem::take(&mut item.from), frame.fixes.blocks);
    }
    if frame.fixes.blocks {
        if !moved.is_empty() {
            let (sent, dropped) = wire_parts(&moved, model, &mut calls, frame);
            out.dropped += dropped;
            if !sent.is_empty() {
                add(&mut out.contents, "user", sent, Vec::new(), true);
            }
        }
        if out.contents.is_empty() {
            add(&mut out.contents, "user", vec![json!({"text": frame.placeholder})], Vec::new(), true);
        }
    }
    Ok(out)
}

/// One leading system message as parts of the instruction; with the fix its media go to the user.
fn system_part(item: Item, frame: Frame, out: &mut Converted, moved: &mut Vec<Value>) {
    let Item { mut fields, from } = item;
    let content = fields.shift_remove("content");
    if !frame.fixes.blocks {
        let mut part = json!({});
        if let Some(part) = part.as_object_mut() {
            part.extend(content.map(|c| ("text".to_owned(), c)));
        }
        out.system.push((part, from));
        return;
    }
    let mut add = |text: &str| {
        if !text.is_empty() {
            out.system.push((json!({"text": text}), from.clone()));
        }
    };
    match content {
        Some(Value::Array(parts)) => {
            for part in parts {
                match part_text(&part) {
                    Some(text) => add(text),
                    None => moved.push(part),
                }
            }
        }
        Some(other) => add(other.as_str().unwrap_or("")),
        None => {}
    }
}

/// The content as a list of neutral parts: tool calls, a tool's result, or what it is.
fn neutral_parts(item: &Item, frame: Frame) -> Vec<Value> {
    if let Some(parts) = item.parts() {
        let mut parts = parts.clone();
        if frame.fixes.tools
            && let Some(calls) = item.tool_calls()
        {
            parts.push(json!({"type": "tool_calls", "tool_calls": calls}));
        }
        return parts;
    }
    let text = match item.content() {
        Value::Null => String::new(),
        other => js::value_to_text(other),
    };
    if let Some(calls) = item.tool_calls().filter(|c| !c.is_empty()) {
        let calls = json!({"type": "tool_calls", "tool_calls": calls});
        // What was said beside the calls is lost in the reference (F8).
        return if frame.fixes.tools && !text.is_empty() {
            vec![json!({"type": "text", "text": text}), calls]
        } else {
            vec![calls]
        };
    }
    let id = item.fields.get("tool_call_id").and_then(Value::as_str).filter(|id| !id.is_empty());
    vec![match id {
        Some(id) => json!({"type": "tool_call_id", "tool_call_id": id, "content": text}),
        None => json!({"type": "text", "text": text}),
    }]
}

/// Names as labels of text parts.
fn name_parts(item: &Item, parts: &mut [Value], frame: Frame) {
    let Some(name) = item.name() else { return };
    let names = frame.names;
    for part in parts {
        let Some(text) = part_text(part) else { continue };
        let prefix = match name {
            "example_user" => (!names.user.is_empty()).then(|| label(&names.user)),
            "example_assistant" => {
                (!names.char.is_empty() && !names.labels_member(text)).then(|| label(&names.char))
            }
            other => Some(label(if frame.fixes.names { names.display(other) } else { other })),
        };
        if let Some(prefix) = prefix.filter(|p| !text.starts_with(p)) {
            let text = format!("{prefix}{text}");
            if let Some(part) = part.as_object_mut() {
                part.insert("text".to_owned(), json!(text));
            }
        }
        if frame.fixes.names {
            return; // once a message
        }
    }
}

/// Neutral parts in Gemini's form; and how many could not be sent.
fn wire_parts(
    parts: &[Value],
    model: Model,
    calls: &mut Vec<(String, Value)>,
    frame: Frame,
) -> (Vec<Value>, usize) {
    let mut sent = Vec::new();
    let mut dropped = 0;
    for part in parts {
        match part_type(part) {
            "text" => {
                let mut text = json!({});
                if let Some(text) = text.as_object_mut() {
                    text.extend(part.get("text").map(|t| ("text".to_owned(), t.clone())));
                }
                sent.push(text);
            }
            "tool_calls" => {
                let list = part.get("tool_calls").and_then(Value::as_array);
                sent.extend(
                    list.into_iter().flatten().map(|call| function_call(call, calls, frame.fixes.tools)),
                );
            }
            "tool_call_id" => {
                let id = part.get("tool_call_id").and_then(Value::as_str).unwrap_or("");
                let name =
                    calls.iter().rev().find(|(i, _)| i == id).map_or(json!("unknown"), |(_, n)| n.clone());
                let content = part.get("content").cloned().unwrap_or_default();
                sent.push(json!({
                    "functionResponse": {"name": name, "response": {"name": name, "content": content}},
                }));
            }
            kind @ ("image_url" | "video_url" | "audio_url") => match media(part, kind, model) {
                Some(media) => sent.push(media),
                None => dropped += 1,
            },
            _ => {}
        }
    }
    (sent, dropped)
}

fn function_call(call: &Value, calls: &mut Vec<(String, Value)>, lenient: bool) -> Value {
    let name = call.pointer("/function/name").cloned().unwrap_or_default();
    if let Some(id) = call.get("id").and_then(Value::as_str) {
        calls.push((id.to_owned(), name.clone()));
    }
    let args = match call.pointer("/function/arguments") {
        Some(Value::String(text)) if lenient && js::trim(text).is_empty() => Some(json!({})),
        Some(Value::String(text)) => Some(js::parse(text).map_or_else(|_| json!(text), |(value, _)| value)),
        other => other.cloned(),
    };
    let mut function = json!({"name": name});
    if let Some(function) = function.as_object_mut() {
        function.extend(args.map(|a| ("args".to_owned(), a)));
    }
    let mut part = json!({"functionCall": function});
    if let (Some(signature), Some(part)) =
        (call.get("signature").filter(|s| js::to_boolean(s)), part.as_object_mut())
    {
        part.insert("thoughtSignature".to_owned(), signature.clone());
    }
    part
}

fn media(part: &Value, kind: &str, model: Model) -> Option<Value> {
    let (mime, data) = data_url(media_url(part)?)?;
    let default = match kind {
        "image_url" => "image/png",
        "video_url" => "video/mp4",
        _ => "audio/mpeg",
    };
    let mime = if mime.is_empty() { default } else { mime };
    let mut sent = json!({"inlineData": {"mimeType": mime, "data": data}});
    let detail = part.get(kind).and_then(|m| m.get("detail")).and_then(Value::as_str).unwrap_or("");
    if model.three()
        && kind != "audio_url"
        && matches!(detail, "low" | "high")
        && let Some(sent) = sent.as_object_mut()
    {
        sent.insert("mediaResolution".to_owned(), json!({"level": format!("media_resolution_{detail}")}));
    }
    Some(sent)
}

/// Signatures of thoughts: stored ones go back, missing ones are waived where the model insists (step 6).
fn sign(item: &Item, parts: &mut [Value], role: &str, model: Model) {
    if !model.three() && !model.id.contains("gemini-2.5") {
        return;
    }
    let stored = item.fields.get("signature").filter(|s| js::to_boolean(s) && model.signatures);
    let waived = json!("skip_thought_signature_validator");
    let picture = model.id.contains("-image") && role == "model";
    for part in parts.iter_mut().filter_map(Value::as_object_mut) {
        let text = part.contains_key("text");
        let value = match stored {
            Some(signature) if text => signature,
            None if model.three()
                && (part.contains_key("functionCall") && !part.contains_key("thoughtSignature")
                    || picture && (text || part.contains_key("inlineData"))) =>
            {
                &waived
            }
            _ => continue,
        };
        part.insert("thoughtSignature".to_owned(), value.clone());
    }
}

/// Adds an entry, or merges it into the last one of the same role (step 7).
fn add(contents: &mut Vec<Item>, role: &str, parts: Vec<Value>, from: Vec<usize>, fixed: bool) {
    let Some(entry) = contents.last_mut().filter(|c| c.is(role)) else {
        let mut item = Item::default();
        item.set("role", json!(role));
        item.set("parts", Value::Array(parts));
        item.from = from;
        contents.push(item);
        return;
    };
    entry.from.extend(from);
    let Some(list) = entry.fields.get_mut("parts").and_then(Value::as_array_mut) else { return };
    for part in parts {
        let text = part.get("text").and_then(Value::as_str).unwrap_or("");
        let signed = part.get("thoughtSignature").is_some();
        let kept = ["inlineData", "functionCall", "functionResponse", "thoughtSignature", "mediaResolution"]
            .iter()
            .any(|key| part.get(*key).is_some());
        let joins = !(fixed && signed);
        if !text.is_empty() && joins {
            let open = |p: &&mut Value| !fixed || p.get("thoughtSignature").is_none();
            let mut texts = list.iter_mut().filter(open).filter_map(|p| p.get_mut("text"));
            let first = texts.find(|t| t.is_string());
            match first {
                Some(Value::String(first)) => {
                    first.push_str("\n\n");
                    first.push_str(text);
                }
                _ => list.push(part.clone()),
            }
        }
        if kept {
            list.push(part);
        }
    }
}
