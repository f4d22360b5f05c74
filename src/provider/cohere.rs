//! Cohere's v2 chat: names as labels, a sentence before tool calls (spec 06 §4.5).

use serde_json::{Value, json};

use super::config::Frame;
use super::item::{Item, split, truthy};
use super::request::{Auth, Ctx, Draft, Secret};
use super::tidy::{Takes, tidy};
use crate::error::Error;
use crate::js;
use crate::models::remove;

/// Converts the messages.
pub(super) fn convert(list: Vec<Item>, frame: Frame) -> Result<Vec<Item>, Error> {
    let mut list = list;
    if list.is_empty() {
        list.push(Item::new("user", json!(frame.placeholder)));
    }
    let mut out: Vec<Item> = Vec::with_capacity(list.len());
    let mut skip = false;
    for mut item in list {
        if std::mem::take(&mut skip) {
            // In the reference the message behind an absorbed one is never looked at (F19).
            out.push(item);
            continue;
        }
        if let Some(calls) = item.tool_calls() {
            let names: Vec<String> = calls
                .iter()
                .map(|c| c.pointer("/function/name").map_or_else(String::new, js::value_to_text))
                .collect();
            let absorbs = out.last().is_some_and(|p| p.is("assistant"));
            if let Some(mut previous) = absorbs.then(|| out.pop()).flatten() {
                if let Some(content) = previous.take("content") {
                    item.set("content", content);
                }
                previous.from.append(&mut item.from);
                item.from = previous.from;
                skip = !frame.fixes.names;
            } else {
                item.set(
                    "content",
                    json!(format!("I'm going to call a tool for that: {}", names.join(", "))),
                );
            }
        }
        if let Some(name) = item.name().map(str::to_owned) {
            if item.is("system") {
                item.label_example(frame.names, frame.fixes)?;
            } else {
                let shown = if frame.fixes.names { frame.names.display(&name) } else { &name };
                item.label_once(shown, frame.fixes)?;
            }
            item.take("name");
        }
        out.push(item);
    }
    Ok(out)
}

/// Builds the request.
pub(super) fn draft(ctx: &Ctx, list: Vec<Item>) -> Result<Draft, Error> {
    let mut draft = Draft::new("https://api.cohere.ai/v2/chat".to_owned(), Some(Auth::bearer(Secret::Key)));
    let (list, left_out) = tidy(list, Takes::Pictures, ctx.frame());
    draft.lost(left_out);
    let (messages, origins) = split(convert(list, ctx.frame())?);
    draft.origins = origins;
    draft.put("stream", json!(ctx.on("stream")));
    ctx.copy(&mut draft.body, &["model"]);
    draft.put("messages", Value::Array(messages));
    for (to, from) in [
        ("temperature", "temperature"),
        ("max_tokens", "max_tokens"),
        ("k", "top_k"),
        ("p", "top_p"),
        ("seed", "seed"),
        ("stop_sequences", "stop"),
        ("frequency_penalty", "frequency_penalty"),
        ("presence_penalty", "presence_penalty"),
    ] {
        ctx.copy_as(&mut draft.body, to, from);
    }
    draft.put("documents", json!([]));
    let mut tools = ctx.list("tools").to_vec();
    for parameters in tools.iter_mut().filter_map(|t| t.pointer_mut("/function/parameters")?.as_object_mut())
    {
        remove(parameters, &["$schema"]);
    }
    draft.put("tools", Value::Array(tools));
    if ctx.model.ends_with("08-2024") {
        draft.put("safety_mode", json!("OFF"));
    }
    if let Some(schema) = ctx.schema_value().filter(|s| truthy(Some(s))) {
        // The form of the reference is of no version of the API (F19).
        let form = if ctx.fixes.fields {
            json!({"type": "json_object", "json_schema": schema})
        } else {
            json!({"type": "json_schema", "schema": schema})
        };
        draft.put("response_format", form);
    }
    Ok(draft)
}
