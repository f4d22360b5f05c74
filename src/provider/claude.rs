//! Neutral messages -> Anthropic's system blocks and turns of content blocks (spec 06 §4.2).

use serde_json::{Value, json};

use super::config::Frame;
use super::item::{Item, data_url, media_url, part_text, part_type};
use crate::error::Error;
use crate::js;

/// Anthropic's two lists.
#[derive(Debug, Default)]
pub(super) struct Converted {
    /// The `system` blocks and the messages they came from.
    pub(super) system: Vec<(Value, Vec<usize>)>,
    /// Turns; each content is a list of blocks.
    pub(super) messages: Vec<Item>,
    /// Media that could not be sent.
    pub(super) dropped: usize,
}

/// Converts. `prefill` begins the reply; `use_system` moves the leading system messages to their own field; without `use_tools`
/// tool blocks become text.
pub(super) fn convert(
    list: Vec<Item>,
    prefill: &str,
    use_system: bool,
    use_tools: bool,
    frame: Frame,
) -> Result<Converted, Error> {
    let mut out = Converted::default();
    let mut list = list;
    let mut moved = Vec::new();
    if use_system {
        let run = list.iter().take_while(|i| i.is("system")).count();
        for mut item in list.drain(..run) {
            item.label_example(frame.names, frame.fixes)?;
            system_blocks(item, frame, &mut out, &mut moved);
        }
        if list.is_empty() {
            list.push(Item::new("user", json!(frame.placeholder)));
        }
    }
    for item in &mut list {
        out.dropped += to_blocks(item, frame)?;
    }
    assistant_images(&mut list, frame.fixes.blocks);
    if !moved.is_empty() {
        let blocks: Vec<Value> = moved.iter().filter_map(|part| image(part, true)).collect();
        match list.iter_mut().find(|i| i.is("user")) {
            Some(item) => {
                let own = take_blocks(item);
                add_blocks(item, blocks);
                add_blocks(item, own);
            }
            None => list.push(Item::new("user", Value::Array(blocks))),
        }
    }
    let prefill_text = js::trim_end(prefill);
    let blank = if frame.fixes.blocks { prefill_text } else { prefill }.is_empty();
    if !blank {
        list.push(Item::new("assistant", json!([{"type": "text", "text": prefill_text}])));
    }
    if !use_tools {
        for item in &mut list {
            blocks_mut(item).into_iter().flatten().for_each(tool_to_text);
        }
    }
    if frame.fixes.blocks {
        drop_empty(&mut list, frame);
    }
    out.messages = merge(list);
    Ok(out)
}

/// One leading system message as blocks of the system field; with the fix its media go to the user.
fn system_blocks(item: Item, frame: Frame, out: &mut Converted, moved: &mut Vec<Value>) {
    let Item { mut fields, from } = item;
    let content = fields.shift_remove("content").unwrap_or(Value::Null);
    if !frame.fixes.blocks {
        out.system.push((json!({"type": "text", "text": content}), from));
        return;
    }
    let mut add = |text: &str| {
        if !text.is_empty() {
            out.system.push((json!({"type": "text", "text": text}), from.clone()));
        }
    };
    match &content {
        Value::Array(parts) => {
            for part in parts {
                match part_text(part) {
                    Some(text) => add(text),
                    None => moved.push(part.clone()),
                }
            }
        }
        other => add(other.as_str().unwrap_or("")),
    }
}

/// Turns a message's content into blocks and its role into Anthropic's. Returns how many parts had to be left out.
fn to_blocks(item: &mut Item, frame: Frame) -> Result<usize, Error> {
    let fixes = frame.fixes;
    let mut dropped = 0;
    let calls = item.tool_calls().filter(|c| !c.is_empty() || !fixes.tools).cloned();
    if let Some(calls) = calls.filter(|_| item.is("assistant")) {
        let mut blocks = Vec::new();
        if fixes.tools {
            // What was said beside the calls is said first (F8).
            content_blocks(item, frame, &mut blocks);
            blocks.retain(|b| part_text(b).is_none_or(|t| !t.is_empty()));
        }
        for call in &calls {
            blocks.push(tool_use(item, call, fixes.tools)?);
        }
        item.set("content", Value::Array(blocks));
    } else if item.is("tool") {
        let id = item.fields.get("tool_call_id").cloned();
        let mut block = json!({"type": "tool_result"});
        if let Some(block) = block.as_object_mut() {
            block.extend(id.map(|id| ("tool_use_id".to_owned(), id)));
            block.extend(item.fields.get("content").map(|c| ("content".to_owned(), c.clone())));
        }
        item.set("role", json!("user"));
        item.set("content", json!([block]));
    } else {
        if item.is("system") {
            item.label_example(frame.names, fixes)?;
            item.take("name");
            item.set("role", json!("user"));
        }
        let mut blocks = Vec::new();
        dropped = content_blocks(item, frame, &mut blocks);
        item.set("content", Value::Array(blocks));
    }
    for key in ["name", "tool_calls", "tool_call_id"] {
        item.take(key);
    }
    Ok(dropped)
}

/// A content as blocks, its speaker's name in front. Returns how many parts had to be left out.
fn content_blocks(item: &Item, frame: Frame, blocks: &mut Vec<Value>) -> usize {
    let fixes = frame.fixes;
    let name = item.name();
    let prefix = name
        .map_or_else(String::new, |n| format!("{}: ", if fixes.names { frame.names.display(n) } else { n }));
    let mut pending = !prefix.is_empty();
    let mut labelled = |text: &str| {
        if pending {
            let there = fixes.names && text.starts_with(&prefix);
            // With the fix once; the reference labels every part.
            pending = !fixes.names;
            if !there {
                return format!("{prefix}{text}");
            }
        }
        text.to_owned()
    };
    let parts = match item.content() {
        Value::Array(parts) => parts,
        other => {
            let text = match other {
                Value::Null => String::new(),
                other => js::value_to_text(other),
            };
            blocks.push(json!({"type": "text", "text": labelled(&text)}));
            return 0;
        }
    };
    let mut dropped = 0;
    for part in parts {
        match part_type(part) {
            "text" => {
                let text = labelled(part_text(part).unwrap_or(""));
                let text = if text.is_empty() { "\u{200b}" } else { &text };
                let mut block = part.clone();
                if let Some(block) = block.as_object_mut() {
                    block.insert("text".to_owned(), json!(text));
                }
                blocks.push(block);
            }
            "image_url" => match image(part, fixes.blocks) {
                Some(block) => blocks.push(block),
                None => dropped += 1,
            },
            "video_url" | "audio_url" | "input_audio" if fixes.blocks => dropped += 1,
            _ => blocks.push(part.clone()),
        }
    }
    dropped
}

/// A picture; with the fix also one that stands on another server.
fn image(part: &Value, fixed: bool) -> Option<Value> {
    let url = media_url(part).unwrap_or("");
    if fixed {
        if url.starts_with("http://") || url.starts_with("https://") {
            return Some(json!({"type": "image", "source": {"type": "url", "url": url}}));
        }
        data_url(url)?;
    }
    let mime = url.split(';').next().and_then(|head| head.split(':').nth(1));
    let data = url.split(',').nth(1);
    let mut source = json!({"type": "base64"});
    if let Some(source) = source.as_object_mut() {
        source.extend(mime.map(|m| ("media_type".to_owned(), json!(m))));
        source.extend(data.map(|d| ("data".to_owned(), json!(d))));
    }
    Some(json!({"type": "image", "source": source}))
}

/// `{type: "tool_use", id, name, input}`; the argument text is parsed.
fn tool_use(item: &Item, call: &Value, lenient: bool) -> Result<Value, Error> {
    let arguments = call.pointer("/function/arguments");
    let input = match arguments {
        Some(Value::String(text)) if lenient && js::trim(text).is_empty() => Some(json!({})),
        Some(Value::String(text)) => match js::parse(text) {
            Ok((value, _)) if value.is_object() || !lenient => Some(value),
            Ok(_) | Err(_) if lenient => Some(json!({"_raw": text})),
            _ => return Err(item.error("the arguments of a tool call are no JSON")),
        },
        other => other.cloned(),
    };
    let mut block = json!({"type": "tool_use"});
    if let Some(block) = block.as_object_mut() {
        block.extend(call.get("id").map(|id| ("id".to_owned(), id.clone())));
        block.extend(call.pointer("/function/name").map(|n| ("name".to_owned(), n.clone())));
        block.extend(input.map(|i| ("input".to_owned(), i)));
    }
    Ok(block)
}

/// The blocks of a converted message.
fn blocks(item: &Item) -> &[Value] {
    item.parts().map_or(&[], Vec::as_slice)
}

/// The same, to change.
pub(super) fn blocks_mut(item: &mut Item) -> Option<&mut Vec<Value>> {
    item.fields.get_mut("content").and_then(Value::as_array_mut)
}

/// Takes the blocks out.
fn take_blocks(item: &mut Item) -> Vec<Value> {
    blocks_mut(item).map(std::mem::take).unwrap_or_default()
}

/// Adds blocks at the end.
fn add_blocks(item: &mut Item, more: Vec<Value>) {
    if let Some(blocks) = blocks_mut(item) {
        blocks.extend(more);
    }
}

/// Pictures of assistant turns move to the end of the next user turn; a new one is made when there is none.
fn assistant_images(list: &mut Vec<Item>, fixed: bool) {
    let is_image = |b: &Value| part_type(b) == "image";
    let mut at = 0;
    while let Some(item) = list.get_mut(at) {
        if !item.is("assistant") || !blocks(item).iter().any(is_image) {
            at += 1;
            continue;
        }
        let from = item.from.clone();
        let (images, others): (Vec<_>, Vec<_>) = take_blocks(item).into_iter().partition(is_image);
        add_blocks(item, others);
        let after = list.iter().skip(at + 1).position(|i| i.is("user")).map(|n| n + at + 1);
        let mut target = after.unwrap_or(list.len());
        if after.is_none() {
            list.insert(at + 1, Item::new("user", json!([])));
            // The reference adds to the place behind the old end, which is the new turn only when this one was the last.
            target = if fixed { at + 1 } else { target };
        }
        if let Some(item) = list.get_mut(target) {
            add_blocks(item, images);
            item.from.extend(from);
        }
        at += 1;
    }
}

/// Leaves out empty texts and turns; a placeholder when nothing is left (F12).
fn drop_empty(list: &mut Vec<Item>, frame: Frame) {
    for item in list.iter_mut() {
        let only = blocks(item).len() == 1;
        if let Some(blocks) = blocks_mut(item) {
            let blank = |t: &str| t.is_empty() || only && t == "\u{200b}";
            blocks.retain(|b| !part_text(b).is_some_and(blank));
        }
    }
    list.retain(|item| !blocks(item).is_empty());
    if !list.iter().any(|i| i.is("user")) {
        let placeholder = json!([{"type": "text", "text": frame.placeholder}]);
        list.insert(0, Item::new("user", placeholder));
    }
}

/// Neighbours of one role become one turn; the blocks stay apart.
fn merge(list: Vec<Item>) -> Vec<Item> {
    let mut merged: Vec<Item> = Vec::with_capacity(list.len());
    for mut item in list {
        match merged.last_mut().filter(|p| p.role() == item.role()) {
            Some(previous) => {
                add_blocks(previous, take_blocks(&mut item));
                previous.from.append(&mut item.from);
            }
            None => merged.push(item),
        }
    }
    merged
}

/// Tool blocks as text, for requests that offer no tools.
fn tool_to_text(block: &mut Value) {
    let text = match part_type(block) {
        "tool_use" => block.get("input").map(|i| json!(js::stringify(i))),
        "tool_result" => block.get("content").cloned(),
        _ => return,
    };
    let mut plain = json!({"type": "text"});
    if let Some(plain) = plain.as_object_mut() {
        plain.extend(text.map(|t| ("text".to_owned(), t)));
    }
    *block = plain;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::provider::config::{Fixes, Names};
    use crate::provider::item::{items, split};

    fn run(messages: &Value, profile: &Profile) -> Result<Value, Error> {
        let names = Names { char: "洛恩".into(), user: "Tom".into(), group: vec![] };
        let frame = Frame { names: &names, placeholder: "…", labels: true, fixes: Fixes::of(profile) };
        let out = convert(items(messages.as_array().unwrap()), "", true, true, frame)?;
        Ok(json!(split(out.messages).0))
    }

    #[test]
    fn an_assistants_picture_with_only_assistants_behind_it() {
        let messages = json!([
            {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}]},
            {"role": "assistant", "content": "x"},
        ]);
        let st = run(&messages, &Profile::sillytavern()).unwrap();
        let roles: Vec<_> = st
            .as_array()
            .unwrap()
            .iter()
            .map(|m| (&m["role"], m["content"].as_array().unwrap().len()))
            .collect();
        assert_eq!(
            roles,
            [(&json!("assistant"), 0), (&json!("user"), 0), (&json!("assistant"), 1), (&json!("user"), 1)]
        );
        let on = run(&messages, &Profile::promptside()).unwrap();
        assert_eq!(on[0]["content"][0]["type"], "image");
        assert_eq!(on[1]["content"], json!([{"type": "text", "text": "x"}]));
    }
}
