//! Mistral: short tool ids, user texts in front of tool results, the prefix flag (spec 06 §4.4).

use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use super::config::Frame;
use super::item::{Item, append_content, js_append, split, truthy};
use super::request::{Ctx, Draft};
use super::tidy::{Takes, tidy};
use super::url;
use crate::error::Error;

/// Converts the messages.
pub(super) fn convert(list: Vec<Item>, enable_prefix: bool, frame: Frame) -> Result<Vec<Item>, Error> {
    let mut list = list;
    if let Some(last) = list.last_mut().filter(|i| enable_prefix && i.is("assistant")) {
        last.set("prefix", json!(true));
    }
    for item in &mut list {
        short_ids(item);
        names(item, frame)?;
    }
    let mut list = before_results(list, frame.fixes.merge);
    let mut after_assistant = false;
    for item in &mut list {
        if after_assistant && item.is("system") {
            item.set("role", json!("user"));
        }
        after_assistant = item.is("assistant");
    }
    Ok(list)
}

/// Nine hex digits of SHA-512: the API takes nothing longer.
fn short_id(id: &str) -> Value {
    let hash = Sha512::digest(id.as_bytes());
    let first = hash.iter().take(5).fold(0u64, |n, byte| (n << 8) | u64::from(*byte));
    json!(format!("{:09x}", first >> 4))
}

fn short_ids(item: &mut Item) {
    let calls = item.fields.get_mut("tool_calls").and_then(Value::as_array_mut);
    for id in calls.into_iter().flatten().filter_map(|call| call.get_mut("id")) {
        if let Some(text) = id.as_str() {
            *id = short_id(text);
        }
    }
    if item.is("tool") {
        let id = item.fields.get("tool_call_id").and_then(Value::as_str).map(short_id);
        if let Some(id) = id {
            item.set("tool_call_id", id);
        }
    }
}

fn names(item: &mut Item, frame: Frame) -> Result<(), Error> {
    let Some(name) = item.name().map(str::to_owned) else { return Ok(()) };
    if item.is("system") {
        item.label_example(frame.names, frame.fixes)?;
        if matches!(name.as_str(), "example_user" | "example_assistant") || frame.fixes.names {
            item.take("name");
        }
        return Ok(());
    }
    let shown = if frame.fixes.names { frame.names.display(&name) } else { &name };
    if item.label_once(shown, frame.fixes)? || frame.fixes.names {
        item.take("name");
    }
    Ok(())
}

/// A user message right behind a tool's result moves to the latest user message before it.
fn before_results(list: Vec<Item>, structured: bool) -> Vec<Item> {
    let mut out: Vec<Item> = Vec::with_capacity(list.len());
    let mut user = None; // the latest user message with content
    for mut item in list {
        let behind = item.is("user") && out.last().is_some_and(|i| i.is("tool"));
        let target = user.filter(|_| behind).and_then(|at: usize| out.get_mut(at));
        if let Some(target) = target {
            let more = item.take("content");
            if structured {
                let mut content = target.take("content").unwrap_or_default();
                append_content(&mut content, more.unwrap_or_default());
                target.set("content", content);
            } else {
                js_append(target, more.as_ref());
            }
            target.from.append(&mut item.from);
            continue;
        }
        if item.is("user") && truthy(item.fields.get("content")) {
            user = Some(out.len());
        }
        out.push(item);
    }
    out
}

/// Builds the request.
pub(super) fn draft(ctx: &Ctx, list: Vec<Item>) -> Result<Draft, Error> {
    let (base, secret) = url::base(ctx, "https://api.mistral.ai/v1");
    let address = url::join(&base, "/chat/completions", ctx.fixes.headers);
    let mut draft = Draft::new(address, url::bearer(ctx, secret));
    let prefix = ctx.config.mistral_prefix.unwrap_or(ctx.fixes.prefill);
    let (list, left_out) = tidy(list, Takes::Sound, ctx.frame());
    draft.lost(left_out);
    let (messages, origins) = split(convert(list, prefix, ctx.frame())?);
    draft.origins = origins;
    ctx.copy(&mut draft.body, &["model"]);
    draft.put("messages", Value::Array(messages));
    ctx.copy(
        &mut draft.body,
        &["temperature", "top_p", "frequency_penalty", "presence_penalty", "max_tokens"],
    );
    draft.put("stream", json!(ctx.on("stream")));
    ctx.copy(&mut draft.body, &["safe_prompt"]);
    if ctx.get("seed").is_some_and(|s| s.as_f64() != Some(-1.0)) {
        ctx.copy_as(&mut draft.body, "random_seed", "seed");
    }
    if !ctx.list("stop").is_empty() {
        ctx.copy(&mut draft.body, &["stop"]);
    }
    if !ctx.list("tools").is_empty() {
        ctx.copy(&mut draft.body, &["tools", "tool_choice"]);
    }
    if let Some(format) = ctx.schema_form(&["name", "description", "schema", "strict"]) {
        draft.put("response_format", format);
    }
    Ok(draft)
}
