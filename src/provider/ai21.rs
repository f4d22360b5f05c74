//! AI21: one leading system message, no neighbours of one role (spec 06 §4.6).

use serde_json::{Value, json};

use super::config::Frame;
use super::item::{Item, append_content, js_append, split};
use super::openai::schema_message;
use super::request::{Auth, Ctx, Draft, Secret};
use super::tidy::{Takes, tidy};
use crate::error::Error;
use crate::js;

/// Converts the messages.
pub(super) fn convert(list: Vec<Item>, frame: Frame) -> Result<Vec<Item>, Error> {
    let mut list = list;
    let run = list.iter().take_while(|i| i.is("system")).count();
    let mut system = Item::new("system", json!(""));
    let mut text = String::new();
    for mut item in list.drain(..run) {
        item.label_example(frame.names, frame.fixes)?;
        match item.parts() {
            Some(parts) if frame.fixes.merge => {
                for part in parts.iter().filter_map(super::item::part_text) {
                    text.push_str(part);
                    text.push_str("\n\n");
                }
            }
            _ => {
                text.push_str(&js::value_to_text(item.content()));
                text.push_str("\n\n");
            }
        }
        system.from.append(&mut item.from);
    }
    if list.is_empty() {
        list.push(Item::new("user", json!(frame.placeholder)));
    }
    let trimmed = js::trim(&text);
    if !(if frame.fixes.blocks { trimmed } else { &text }).is_empty() {
        system.set("content", json!(trimmed));
        list.insert(0, system);
    }
    let mut merged: Vec<Item> = Vec::with_capacity(list.len());
    for mut item in list {
        if let Some(name) = item.name().map(str::to_owned) {
            if !item.is("system") {
                let shown = if frame.fixes.names { frame.names.display(&name) } else { &name };
                item.label_once(shown, frame.fixes)?;
            } else if frame.fixes.names {
                item.label_example(frame.names, frame.fixes)?;
            }
            item.take("name");
        }
        let alone = frame.fixes.merge && (item.is("tool") || item.tool_calls().is_some());
        match merged.last_mut().filter(|p| p.role() == item.role() && !alone) {
            Some(previous) => {
                let more = item.take("content");
                if frame.fixes.merge {
                    let mut content = previous.take("content").unwrap_or_default();
                    append_content(&mut content, more.unwrap_or_default());
                    previous.set("content", content);
                } else {
                    js_append(previous, more.as_ref());
                }
                previous.from.append(&mut item.from);
            }
            None => merged.push(item),
        }
    }
    Ok(merged)
}

/// Builds the request.
pub(super) fn draft(ctx: &Ctx, list: Vec<Item>) -> Result<Draft, Error> {
    let url = "https://api.ai21.com/studio/v1/chat/completions".to_owned();
    let mut draft = Draft::new(url, Some(Auth::bearer(Secret::Key)));
    draft.header("accept", "application/json");
    let (mut list, left_out) = tidy(list, Takes::Text, ctx.frame());
    draft.lost(left_out);
    list.extend(schema_message(ctx));
    let (messages, origins) = split(convert(list, ctx.frame())?);
    draft.origins = origins;
    draft.put("messages", Value::Array(messages));
    ctx.copy(&mut draft.body, &["model", "max_tokens", "temperature", "top_p", "stop"]);
    draft.put("stream", json!(ctx.on("stream")));
    if !ctx.list("tools").is_empty() {
        ctx.copy(&mut draft.body, &["tools"]);
    }
    if ctx.schema.is_some() {
        draft.put("response_format", json!({"type": "json_object"}));
    }
    Ok(draft)
}
