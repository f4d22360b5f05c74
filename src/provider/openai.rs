//! The sources that speak OpenAI's chat completions (spec 06 §4.9, §5). In: post-processed messages and the neutral request.
//! Out: the draft of a request. What differs in data only stands in `sources`.

use serde_json::{Value, json};

use super::config::Names;
use super::custom;
use super::item::{Item, part_text, truthy};
use super::openrouter;
use super::post;
use super::prefill;
use super::request::{Auth, Ctx, Draft, Secret};
use super::sources::{EFFORT_MODELS, LEGACY, Order, Row, Schema, row};
use super::url;
use super::xai;
use crate::error::{Code, Error};
use crate::js;
use crate::models::{Source, remove};

/// Builds the request of an OpenAI-like source.
pub(super) fn draft(ctx: &Ctx, list: Vec<Item>) -> Result<Draft, Error> {
    let Some(row) = row(ctx.source) else {
        return Err(Error::new(
            Code::OptionUnknown,
            "chat_completion_source",
            format!("requests to {} are not supported", ctx.source.as_str()),
        ));
    };
    let mut list = list;
    if row.schema == Schema::Text {
        list.extend(schema_message(ctx));
    }
    let begun = prefill::prepare(ctx, &mut list);
    let list = prepare(ctx, row, list)?;
    let (mut draft, prompt) = address(ctx, row, &list);
    draft.trimmed = begun.trimmed;
    if begun.refused {
        draft.note("prefill-refused", "messages", "the model takes no begun reply; it became an instruction");
    }
    let (messages, origins) = super::item::split(list);
    draft.origins = origins;
    fill(ctx, row, &mut draft, messages, prompt.as_deref());
    Ok(draft)
}

/// The last message when the schema goes as text; the caller sets `response_format`.
pub(super) fn schema_message(ctx: &Ctx) -> Option<Item> {
    let schema = js::stringify_pretty(ctx.schema_value()?, 4);
    Some(Item::new("user", json!(format!("JSON schema for the response:\n{schema}"))))
}

/// The forced step of a source, on messages.
fn prepare(ctx: &Ctx, row: Row, list: Vec<Item>) -> Result<Vec<Item>, Error> {
    let mut list = list;
    if let Some(mode) = row.forced {
        list = post::apply(list, mode, ctx.frame());
    } else if ctx.fixes.names && !row.names && ctx.source != Source::Xai {
        names_to_labels(&mut list, ctx.names, ctx)?;
    }
    match ctx.source {
        Source::OpenAi | Source::Custom => openrouter::embed_audio(&mut list),
        Source::OpenRouter => {
            openrouter::embed_audio(&mut list);
            openrouter::replay_signatures(&mut list, ctx.model);
            openrouter::mark_cache(ctx, &mut list);
        }
        Source::ElectronHub if openrouter::is_claude(ctx, "claude-") => {
            openrouter::mark_claude(ctx, &mut list);
        }
        // Its own field marks the system text; the reference knows no depth here (F23).
        Source::NanoGpt if ctx.fixes.fields && openrouter::is_claude(ctx, "") => {
            openrouter::mark_claude_depth(ctx, &mut list, ctx.config.claude_system_cache);
        }
        Source::DeepSeek => {
            add_prefix(&mut list, ctx.list("tools"), "prefix");
            reasoning_on_tool_calls(&mut list, ctx.fixes.tools);
        }
        Source::Moonshot if ctx.schema.is_none() => add_prefix(&mut list, &[], "partial"),
        Source::Xai => xai::convert(&mut list, ctx.names, ctx.fixes)?,
        _ => {}
    }
    if ctx.config.developer_role && reasons(ctx.model) {
        list.iter_mut().filter(|i| i.is("system")).for_each(|i| i.set("role", json!("developer")));
    }
    Ok(list)
}

/// OpenAI's reasoning models, whoever serves them.
fn reasons(model: &str) -> bool {
    let id = model.rsplit('/').next().unwrap_or(model);
    ["o1", "o3", "o4", "gpt-5", "gpt-6"].iter().any(|start| id.starts_with(start))
}

/// Names as text, for providers without a field for them (F29).
fn names_to_labels(list: &mut [Item], names: &Names, ctx: &Ctx) -> Result<(), Error> {
    for item in list {
        item.label_example(names, ctx.fixes)?;
        if !item.is("system")
            && let Some(name) = item.name().map(|n| names.display(n).to_owned())
        {
            item.label_once(&name, ctx.fixes)?;
        }
        item.take("name");
    }
    Ok(())
}

/// Marks a last assistant message as the begun reply, when no tools are about (spec 06 §4.1).
pub(super) fn add_prefix(list: &mut [Item], tools: &[Value], property: &str) {
    if !tools.is_empty() || list.iter().any(|i| i.is("tool")) {
        return;
    }
    if let Some(last) = list.last_mut().filter(|i| i.is("assistant")) {
        last.set(property, json!(true));
    }
}

/// DeepSeek wants `reasoning_content` on every message that calls tools; with the fix, what was stored goes back.
pub(super) fn reasoning_on_tool_calls(list: &mut [Item], replay: bool) {
    for item in list.iter_mut().filter(|i| i.tool_calls().is_some()) {
        if truthy(item.fields.get("reasoning_content")) {
            continue;
        }
        let stored = if replay { item.take("reasoning").filter(Value::is_string) } else { None };
        item.set("reasoning_content", stored.unwrap_or(json!("")));
    }
}

/// URL, headers and secret; and the prompt text of an old completion model.
fn address(ctx: &Ctx, row: Row, list: &[Item]) -> (Draft, Option<String>) {
    let tidy = ctx.fixes.headers;
    let ready = ctx.get("messages").and_then(Value::as_str);
    let prompt = (row.legacy && (ready.is_some() || LEGACY.contains(&ctx.model)))
        .then(|| ready.map_or_else(|| text_prompt(list, ctx.fixes.merge), str::to_owned));
    let path = if prompt.is_some() && ctx.source != Source::OpenRouter {
        "/completions"
    } else {
        "/chat/completions"
    };
    let (base, secret) = match ctx.source {
        Source::Custom => (ctx.text("custom_url").to_owned(), Secret::Key),
        Source::WorkersAi => {
            let account = url::encode(js::trim(ctx.text("workers_ai_account_id")));
            (format!("{}/{account}/ai/v1", row.base), Secret::Key)
        }
        Source::Zai if ctx.text("zai_endpoint") == "coding" => {
            url::base(ctx, "https://api.z.ai/api/coding/paas/v4")
        }
        Source::SiliconFlow if ctx.text("siliconflow_endpoint") == "cn" => {
            ("https://api.siliconflow.cn/v1".to_owned(), Secret::Key)
        }
        Source::MiniMax if ctx.text("minimax_endpoint") == "cn" => {
            ("https://api.minimaxi.com/v1".to_owned(), Secret::Key)
        }
        Source::Pollinations if anonymous(ctx) => ("https://text.pollinations.ai/v1".to_owned(), Secret::Key),
        _ => url::base(ctx, row.base),
    };
    let auth = url::bearer(ctx, secret);
    let mut draft = match ctx.source {
        Source::AzureOpenAi => {
            let deployment = ctx.text("azure_deployment_name");
            let version = ctx.text("azure_api_version");
            let origin = url::origin(ctx.text("azure_base_url"));
            let address =
                format!("{origin}/openai/deployments/{deployment}/chat/completions?api-version={version}");
            Draft::new(address, Some(Auth::header("api-key", Secret::Key)))
        }
        _ => Draft::new(url::join(&base, path, tidy), auth),
    };
    match ctx.source {
        Source::OpenRouter | Source::AimlApi => {
            for (name, value) in [("HTTP-Referer", &ctx.config.app_url), ("X-Title", &ctx.config.app_title)] {
                if let Some(value) = value {
                    draft.header(name, value);
                }
            }
        }
        Source::Zai => draft.header("Accept-Language", "en-US,en"),
        Source::NanoGpt => {
            if ctx.on("nanogpt_provider") {
                draft.header("X-Provider", ctx.text("nanogpt_provider"));
            }
            if ctx.on("nanogpt_payg_override") {
                draft.header("X-Billing-Mode", "paygo");
            }
        }
        Source::Pollinations if anonymous(ctx) => {
            draft.auth = None;
            draft.header("Authorization", "Bearer anonymous");
        }
        _ => {}
    }
    (draft, prompt)
}

fn anonymous(ctx: &Ctx) -> bool {
    ctx.text("pollinations_endpoint") == "anonymous"
}

/// The body.
fn fill(ctx: &Ctx, row: Row, draft: &mut Draft, mut messages: Vec<Value>, prompt: Option<&str>) {
    for field in row.fields {
        match (*field, prompt) {
            ("messages", Some(text)) => draft.put("prompt", json!(text)),
            ("messages", None) => draft.put("messages", Value::Array(std::mem::take(&mut messages))),
            ("stream", _) => draft.put("stream", json!(ctx.on("stream"))),
            _ => ctx.copy(&mut draft.body, &[field]),
        }
    }
    if row.order == Order::ToolsFirst && ctx.source != Source::Xai {
        add_tools(ctx, draft);
    }
    extras(ctx, draft);
    if row.order == Order::ExtrasFirst {
        add_tools(ctx, draft);
    }
    if ctx.schema.is_some()
        && let Some(format) = response_format(ctx, row.schema)
    {
        draft.put("response_format", format);
    }
    if ctx.source == Source::DeepSeek && ctx.on("include_reasoning") && ctx.on("reasoning_effort") {
        ctx.copy(&mut draft.body, &["reasoning_effort"]);
    }
    if ctx.source == Source::Custom {
        custom::apply(ctx, draft);
    }
    if ctx.fixes.fields && ctx.source != Source::Custom && draft.body.get("stop").is_some_and(is_empty_list) {
        remove(&mut draft.body, &["stop"]);
    }
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

fn response_format(ctx: &Ctx, schema: Schema) -> Option<Value> {
    let schema = if ctx.source == Source::Pollinations && anonymous(ctx) { Schema::Named } else { schema };
    match schema {
        Schema::Named => ctx.schema_form(&["name", "strict", "schema"]),
        Schema::Described => ctx.schema_form(&["name", "description", "schema", "strict"]),
        Schema::Only => ctx.schema_form(&["schema"]),
        Schema::Bare => Some(json!({"type": "json_schema", "json_schema": ctx.schema_value()})),
        Schema::Text => Some(json!({"type": "json_object"})),
        Schema::None => None,
    }
}

/// The fields that only one source has, in its order.
fn extras(ctx: &Ctx, draft: &mut Draft) {
    match ctx.source {
        Source::OpenAi => {
            logprobs(ctx, draft);
            if let Some(user) = &ctx.config.user_id {
                draft.put("user", json!(user));
            }
            effort_and_verbosity(ctx, draft);
        }
        Source::Custom => {
            logprobs(ctx, draft);
            custom::include(ctx, draft);
            effort_and_verbosity(ctx, draft);
        }
        Source::OpenRouter => openrouter::extras(ctx, draft),
        Source::AzureOpenAi => azure(ctx, draft),
        Source::Perplexity | Source::Fireworks | Source::ElectronHub => {
            if ctx.source == Source::ElectronHub && ctx.on("enable_web_search") {
                draft.put("web_search", json!(true));
            }
            effort(ctx, draft);
        }
        Source::Pollinations => {
            if !draft.body.contains_key("seed")
                && let Some(seed) = ctx.config.fallback_seed
            {
                draft.put("seed", json!(seed));
            }
            if !anonymous(ctx) {
                effort(ctx, draft);
            }
        }
        Source::NanoGpt => nanogpt(ctx, draft),
        Source::WorkersAi => ctx.copy(&mut draft.body, &["repetition_penalty"]),
        Source::Moonshot | Source::Zai => thinking(ctx, draft),
        Source::DeepSeek => {
            thinking(ctx, draft);
            logprobs(ctx, draft);
        }
        Source::Chutes => {
            if !ctx.on("reasoning_effort") {
                remove(&mut draft.body, &["reasoning_effort"]);
            }
            logprobs(ctx, draft);
        }
        Source::AimlApi => {
            logprobs(ctx, draft);
            effort(ctx, draft);
        }
        Source::Xai => {
            logprobs(ctx, draft);
            add_tools(ctx, draft);
            if !ctx.list("stop").is_empty() {
                ctx.copy(&mut draft.body, &["stop"]);
            }
            if ctx.on("reasoning_effort") {
                let high = ctx.text("reasoning_effort") == "high";
                draft.put("reasoning_effort", json!(if high { "high" } else { "low" }));
            }
        }
        Source::MiniMax => {
            let limit = draft.body.get("max_tokens").and_then(Value::as_f64);
            if ctx.model == "M2-her" && limit.is_some_and(|n| n > 2048.0) {
                draft.put("max_tokens", json!(2048));
            }
        }
        _ => {}
    }
}

/// `logprobs: true, top_logprobs: n` when asked for.
pub(super) fn logprobs(ctx: &Ctx, draft: &mut Draft) {
    if draft.body.contains_key("prompt") {
        // The old completion endpoint takes the number itself.
        ctx.copy(&mut draft.body, &["logprobs"]);
    } else if ctx.get("logprobs").and_then(Value::as_f64).is_some_and(|n| n > 0.0) {
        ctx.copy_as(&mut draft.body, "top_logprobs", "logprobs");
        draft.put("logprobs", json!(true));
    }
}

fn effort(ctx: &Ctx, draft: &mut Draft) {
    if ctx.on("reasoning_effort") {
        ctx.copy(&mut draft.body, &["reasoning_effort"]);
    }
}

fn thinking(ctx: &Ctx, draft: &mut Draft) {
    let kind = if ctx.on("include_reasoning") { "enabled" } else { "disabled" };
    draft.put("thinking", json!({"type": kind}));
}

/// The effort as OpenAI names it, for the models that know it (spec 06 §2.4).
fn wire_effort(ctx: &Ctx) -> Option<Value> {
    let setting = ctx.text("reasoning_effort");
    if ctx.source == Source::Custom && ctx.model.starts_with("koboldcpp/") {
        return (!setting.is_empty()).then(|| json!(setting));
    }
    if !EFFORT_MODELS.contains(&ctx.model) || setting.is_empty() && ctx.source != Source::AzureOpenAi {
        return None;
    }
    match (ctx.model, setting) {
        ("gpt-5.3-chat-latest", _) => Some(json!("medium")),
        (_, "") => None,
        (_, "min") => Some(json!("minimal")),
        (_, other) => Some(json!(other)),
    }
}

fn effort_and_verbosity(ctx: &Ctx, draft: &mut Draft) {
    // The user's YAML came first and, with the fix, wins.
    let free = |draft: &Draft, key: &str| {
        !(ctx.fixes.fields && ctx.source == Source::Custom && draft.body.contains_key(key))
    };
    if let Some(effort) = wire_effort(ctx).filter(|_| free(draft, "reasoning_effort")) {
        draft.put("reasoning_effort", effort);
    }
    let talks = ctx.model.starts_with("gpt-5") || ctx.model.starts_with("gpt-6-astra");
    if talks && ctx.on("verbosity") && free(draft, "verbosity") {
        ctx.copy(&mut draft.body, &["verbosity"]);
    }
}

fn azure(ctx: &Ctx, draft: &mut Draft) {
    if let Some(effort) = wire_effort(ctx) {
        draft.put("reasoning_effort", effort);
    }
    if ctx.fixes.fields {
        logprobs(ctx, draft);
    }
}

fn nanogpt(ctx: &Ctx, draft: &mut Draft) {
    if ctx.on("enable_web_search") && !ctx.model.ends_with(":online") {
        draft.put("model", json!(format!("{}:online", ctx.model)));
    }
    ctx.copy(&mut draft.body, &["min_p", "top_a", "repetition_penalty"]);
    if ctx.on("reasoning_effort") {
        let effort = match ctx.text("reasoning_effort") {
            "min" => Some("none"),
            "low" => Some("minimal"),
            "medium" => Some("low"),
            "high" => Some("medium"),
            "max" => Some("high"),
            _ => None,
        };
        draft.put("reasoning", effort.map_or_else(|| json!({}), |e| json!({"effort": e})));
    }
    let named = |name: &str| name.starts_with("claude-") || name.starts_with("claude_");
    let claude =
        if ctx.fixes.fields { openrouter::is_claude(ctx, "") } else { ctx.model.split('/').any(named) };
    if ctx.config.claude_system_cache && claude {
        draft.put("cache_control", json!({"enabled": true, "ttl": ctx.config.ttl()}));
    }
    if ctx.on("nanogpt_payg_override") {
        draft.put("billing_mode", json!("paygo"));
    }
}

/// Tools and choice; DeepSeek refuses an empty list of required parameters.
fn add_tools(ctx: &Ctx, draft: &mut Draft) {
    let mut tools = ctx.list("tools").to_vec();
    if tools.is_empty() {
        return;
    }
    if ctx.source == Source::DeepSeek {
        let parameters =
            tools.iter_mut().filter_map(|t| t.pointer_mut("/function/parameters")?.as_object_mut());
        for parameters in parameters {
            if parameters.get("required").is_some_and(is_empty_list) {
                remove(parameters, &["required"]);
            }
        }
    }
    draft.put("tools", Value::Array(tools));
    ctx.copy(&mut draft.body, &["tool_choice"]);
}

/// The prompt of an old completion model (spec 06 §4.9).
pub(super) fn text_prompt(list: &[Item], structured: bool) -> String {
    let mut out = String::new();
    for item in list {
        let content = match item.content() {
            Value::Array(parts) if structured => {
                parts.iter().filter_map(part_text).collect::<Vec<_>>().join("\n\n")
            }
            Value::Null if structured => String::new(),
            Value::Null if item.fields.contains_key("content") => "null".to_owned(),
            Value::Null => "undefined".to_owned(),
            other => js::value_to_text(other),
        };
        let speaker = match (item.role(), item.name()) {
            ("system", None) => "System",
            ("system", Some(name)) => name,
            (role, _) => role,
        };
        out.push_str(&format!("{speaker}: {content}\n"));
    }
    out.push_str("assistant:");
    out
}
