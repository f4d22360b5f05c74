//! What OpenRouter's form adds to OpenAI's: media, stored signatures, cache marks, routing (spec 06 §4.8).

use serde_json::{Value, json};

use super::cache::{Form, MOST_MARKS, mark_depth, mark_system};
use super::item::{Item, data_url, media_url, part_type};
use super::request::{Ctx, Draft};
use crate::js;
use crate::scene::Object;

/// Audio data URLs become `input_audio`; everything else stays.
pub(super) fn embed_audio(list: &mut [Item]) {
    for item in list {
        let parts = item.fields.get_mut("content").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten().filter(|p| part_type(p) == "audio_url") {
            let Some((mime, data)) = media_url(part).and_then(data_url) else { continue };
            let format = if mime == "audio/wav" { "wav" } else { "mp3" };
            *part = json!({"type": "input_audio", "input_audio": {"format": format, "data": data}});
        }
    }
}

const FORMATS: &[(&str, &str)] = &[
    ("google/gemini", "google-gemini-v1"),
    ("anthropic/claude", "anthropic-claude-v1"),
    ("openai/gpt", "openai-responses-v1"),
    ("x-ai/grok", "xai-responses-v1"),
];

/// Stored signatures become `reasoning_details`.
pub(super) fn replay_signatures(list: &mut [Item], model: &str) {
    let known = FORMATS.iter().find(|(start, _)| model.contains(start));
    let format = known.map_or("unknown", |(_, format)| format);
    for item in list {
        let mut details: Vec<Value> = Vec::new();
        let mut add = |id: Option<&str>, signature: Option<Value>| {
            let Some(data) = signature.filter(js::to_boolean) else { return };
            let index = details.len();
            let id =
                id.filter(|id| !id.is_empty()).map_or_else(|| format!("signature-{index}"), str::to_owned);
            details.push(json!({
                "index": index, "id": id, "type": "reasoning.encrypted", "data": data, "format": format,
            }));
        };
        add(None, item.take("signature"));
        let calls = item.fields.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten().filter_map(Value::as_object_mut) {
            let signature = call.shift_remove("signature");
            add(call.get("id").and_then(Value::as_str), signature);
        }
        if !details.is_empty() {
            item.set("reasoning_details", json!(details));
        }
    }
}

/// Cache marks for the models behind the router that take them.
pub(super) fn mark_cache(ctx: &Ctx, list: &mut [Item]) {
    let config = ctx.config;
    if is_claude(ctx, "anthropic/claude") {
        mark_claude(ctx, list);
    }
    let priced = config.entry.as_ref().and_then(|e| e.pointer("/pricing/input_cache_write"));
    if ctx.model.contains("google/gemini") && config.gemini_system_cache && priced.is_some_and(js::to_boolean)
    {
        mark_system(list, None);
    }
}

/// Whether the model is Anthropic's: its id begins so, or, with the fix, names it anywhere (F23).
pub(super) fn is_claude(ctx: &Ctx, start: &str) -> bool {
    if ctx.fixes.fields { js::lower(ctx.model).contains("claude") } else { ctx.model.starts_with(start) }
}

/// Both marks of an Anthropic model behind an OpenAI-like route.
pub(super) fn mark_claude(ctx: &Ctx, list: &mut [Item]) {
    let config = ctx.config;
    let system = config.claude_system_cache && mark_system(list, Some(config.ttl()));
    mark_claude_depth(ctx, list, system);
}

/// The marks at a depth. `system`: there is one on the system text already.
pub(super) fn mark_claude_depth(ctx: &Ctx, list: &mut [Item], system: bool) {
    let (config, fixed) = (ctx.config, ctx.fixes.fields);
    if let Some(depth) = config.cache_depth() {
        let most = if fixed { MOST_MARKS - usize::from(system) } else { usize::MAX };
        mark_depth(list, depth, config.ttl(), Form::Messages(fixed), most);
    }
}

/// The five categories of AI Studio, switched off.
pub(super) fn safety(categories: &[&str]) -> Value {
    let off = |c: &&str| json!({"category": format!("HARM_CATEGORY_{c}"), "threshold": "OFF"});
    categories.iter().map(off).collect()
}

/// The categories of AI Studio.
pub(super) const SAFETY: &[&str] =
    &["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT", "CIVIC_INTEGRITY"];

/// The extra fields of the body, in order.
pub(super) fn extras(ctx: &Ctx, draft: &mut Draft) {
    match ctx.text("middleout") {
        "on" => draft.put("transforms", json!(["middle-out"])),
        "off" => draft.put("transforms", json!([])),
        _ => {}
    }
    let web = ctx.on("enable_web_search");
    draft.put("plugins", if web { json!([{"id": "web"}]) } else { json!([]) });
    let shown = ctx.on("include_reasoning");
    let mut reasoning = Object::new();
    reasoning.insert("exclude".into(), json!(!shown));
    if ctx.on("reasoning_effort") {
        ctx.copy_as(&mut reasoning, "effort", "reasoning_effort");
    } else if ctx.fixes.fields && shown {
        // Some models do not reason unless asked (F35).
        reasoning.insert("enabled".into(), json!(true));
    }
    draft.put("reasoning", Value::Object(reasoning));
    super::openai::logprobs(ctx, draft);
    ctx.copy(&mut draft.body, &["min_p", "top_a", "repetition_penalty"]);
    let mut provider = Object::new();
    if !ctx.list("provider").is_empty() {
        let fallbacks = ctx.get("allow_fallbacks").cloned().unwrap_or(json!(true));
        provider.insert("allow_fallbacks".into(), fallbacks);
        ctx.copy_as(&mut provider, "order", "provider");
    }
    if !ctx.list("quantizations").is_empty() {
        ctx.copy(&mut provider, &["quantizations"]);
    }
    if !provider.is_empty() {
        draft.put("provider", Value::Object(provider));
    }
    if ctx.on("use_fallback") {
        draft.put("route", json!("fallback"));
    }
    if ctx.on("verbosity") {
        ctx.copy(&mut draft.body, &["verbosity"]);
    }
    if ctx.model.contains("google/gemini") {
        draft.put("safety_settings", safety(SAFETY));
    }
}
