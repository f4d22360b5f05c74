//! Anthropic's body and headers (spec 06 §4.2): which fields a model takes is a table of name classes.

use serde_json::{Value, json};

use super::browser::ANTHROPIC_OPT_IN;
use super::cache::{Form, MOST_MARKS, mark, mark_depth, put_mark};
use super::claude::{blocks_mut, convert};
use super::claude_models::{Class, NEWEST, class, newest_line};
use super::item::{Item, part_text, part_type, split};
use super::prefill;
use super::request::{Auth, Ctx, Draft};
use super::schema::flatten_schema;
use super::url;
use crate::error::Error;
use crate::js;
use crate::models::{Source, number, remove};

/// The thinking budget: a word for models that adapt, tokens for others, null for none.
pub fn claude_thinking_budget(max_tokens: f64, effort: &str, stream: bool, adaptive: bool) -> Value {
    if adaptive {
        return match effort {
            "min" | "low" => json!("low"),
            "medium" => json!("medium"),
            "high" => json!("high"),
            "max" => json!("max"),
            _ => Value::Null,
        };
    }
    let share = match effort {
        "auto" => return Value::Null,
        "low" => 0.1,
        "medium" => 0.25,
        "high" => 0.5,
        "max" => 0.95,
        // `min` is the least, an unknown effort counts as nothing: the same after the lower bound.
        _ => 0.0,
    };
    let budget = (max_tokens * share).floor().max(1024.0);
    number(if stream { budget } else { budget.min(21_333.0) })
}

/// Builds the request.
pub(super) fn draft(ctx: &Ctx, list: Vec<Item>) -> Result<Draft, Error> {
    let (base, secret) = url::base(ctx, "https://api.anthropic.com/v1");
    let auth = (!ctx.config.keyless).then(|| Auth::header("x-api-key", secret));
    let mut draft = Draft::new(url::join(&base, "/messages", ctx.fixes.headers), auth);
    draft.header("anthropic-version", "2023-06-01");
    let class = class(ctx.model, ctx.config.claude_adaptive, ctx.fixes.fields);
    let use_system = ctx.on("use_sysprompt");
    let use_tools = !ctx.list("tools").is_empty();
    let converted = convert(list, ctx.text("assistant_prefill"), use_system, use_tools, ctx.frame())?;
    draft.lost(converted.dropped);
    let (mut system, system_origins): (Vec<_>, Vec<_>) = converted.system.into_iter().unzip();
    let mut messages = converted.messages;
    draft.system_origins = system_origins;
    let mut marks = 0;
    let cache = ctx.config.claude_system_cache;
    if cache
        && use_system
        && let Some(last) = system.last_mut()
    {
        put_mark(last, mark(Some(ctx.config.ttl())));
        marks += 1;
    }
    if use_system && !(ctx.fixes.blocks && system.is_empty()) {
        draft.put("system", json!(system));
    }
    draft.put("messages", Value::Null); // its place; filled below
    ctx.copy(&mut draft.body, &["model", "max_tokens"]);
    draft.put("stop_sequences", json!(ctx.list("stop")));
    ctx.copy(&mut draft.body, &["temperature", "top_p", "top_k"]);
    draft.put("stream", json!(ctx.on("stream")));
    marks += usize::from(tools(ctx, class, &mut draft)?);
    if let Some(depth) = ctx.config.cache_depth() {
        let most = if ctx.fixes.fields { MOST_MARKS - marks.min(MOST_MARKS) } else { usize::MAX };
        mark_depth(&mut messages, depth, ctx.config.ttl(), Form::Blocks, most);
    }
    samplers(ctx, class, &mut draft);
    let thinks = thinking(ctx, class, &mut draft);
    if ctx.fixes.prefill {
        draft.trimmed = trim_end(&mut messages);
    }
    let begun = messages.last_mut().filter(|i| i.is("assistant") && (thinks || class.no_prefill));
    if let Some(last) = begun {
        last.set("role", json!("user"));
        if ctx.fixes.prefill {
            draft.note(
                "prefill-as-user",
                "messages",
                "the model takes no begun reply; it reads it as the user's words",
            );
        }
    }
    let configured = draft.body.get("output_config").is_some_and(|c| c.get("effort").is_some());
    let effort = class.effort && ctx.on("verbosity") && !configured;
    if effort {
        output_config(&mut draft, "effort", ctx.get("verbosity").cloned().unwrap_or_default());
    }
    let (messages, origins) = split(messages);
    draft.put("messages", Value::Array(messages));
    draft.origins = origins;
    headers(ctx, &mut draft, use_tools, cache || ctx.config.cache_depth().is_some(), effort);
    Ok(draft)
}

/// Adds a key to `output_config`.
fn output_config(draft: &mut Draft, key: &str, value: Value) {
    let config = draft.body.entry("output_config").or_insert_with(|| json!({}));
    if let Some(config) = config.as_object_mut() {
        config.insert(key.to_owned(), value);
    }
}

/// Tools, structured answer, web search. Whether a tool got a cache mark.
fn tools(ctx: &Ctx, class: Class, draft: &mut Draft) -> Result<bool, Error> {
    let mut tools = Vec::new();
    let mut marked = false;
    if !ctx.list("tools").is_empty() {
        if let Some(choice) = ctx.get("tool_choice").filter(|c| js::to_boolean(c)) {
            draft.put("tool_choice", json!({"type": choice}));
        }
        for function in ctx.list("tools").iter().filter(|t| part_type(t) == "function") {
            tools.push(tool(function.get("function").unwrap_or(&Value::Null))?);
        }
        if ctx.config.claude_system_cache
            && let Some(last) = tools.last_mut()
        {
            put_mark(last, mark(Some(ctx.config.ttl())));
            marked = true;
        }
    }
    if let (Some(schema), Some(value)) = (ctx.schema, ctx.schema_value()) {
        if class.structured {
            output_config(draft, "format", json!({"type": "json_schema", "schema": value}));
        } else {
            let name = schema.get("name").cloned().unwrap_or_default();
            let about = schema.get("description").filter(|d| js::to_boolean(d)).cloned();
            let about = about.unwrap_or(json!("Well-formed JSON object"));
            tools.push(json!({"name": name, "description": about, "input_schema": value}));
            draft.put("tool_choice", json!({"type": "tool", "name": name}));
        }
    }
    if ctx.on("enable_web_search") && class.web_search {
        tools.insert(0, json!({"type": "web_search_20250305", "name": "web_search"}));
    }
    if !tools.is_empty() || !ctx.list("tools").is_empty() {
        draft.put("tools", Value::Array(tools));
    }
    Ok(marked)
}

fn tool(function: &Value) -> Result<Value, Error> {
    let mut out = json!({});
    if let Some(out) = out.as_object_mut() {
        for key in ["name", "description"] {
            out.extend(function.get(key).map(|v| (key.to_owned(), v.clone())));
        }
        if let Some(parameters) = function.get("parameters") {
            out.insert("input_schema".to_owned(), flatten_schema(parameters, Source::Claude)?);
        }
    }
    Ok(out)
}

/// Drops the samplers that a model refuses.
fn samplers(ctx: &Ctx, class: Class, draft: &mut Draft) {
    if class.one_sampler {
        let nucleus = ctx.get("top_p").is_some_and(|p| js::value_to_number(p) < 1.0);
        remove(&mut draft.body, if nucleus { &["temperature"] } else { &["top_p"] });
    }
    if class.no_samplers {
        remove(&mut draft.body, &["temperature", "top_p", "top_k"]);
    }
}

/// The thinking fields; whether the model will think.
fn thinking(ctx: &Ctx, class: Class, draft: &mut Draft) -> bool {
    if !class.thinking {
        return false;
    }
    let max_tokens = ctx.get("max_tokens").map_or(f64::NAN, js::value_to_number);
    let effort = ctx.effort();
    let shown = ctx.on("include_reasoning");
    let budget = claude_thinking_budget(max_tokens, effort, ctx.on("stream"), class.adaptive);
    match budget {
        Value::String(word) => {
            let display = class.no_samplers && shown;
            draft.put(
                "thinking",
                if display {
                    json!({"type": "adaptive", "display": "summarized"})
                } else {
                    json!({"type": "adaptive"})
                },
            );
            output_config(draft, "effort", json!(word));
            remove(&mut draft.body, &["top_k"]);
            if ctx.fixes.fields {
                remove(&mut draft.body, &["temperature", "top_p"]);
            }
        }
        Value::Null => {
            let newest = class == NEWEST || newest_line(ctx.model);
            if !newest || effort != "auto" || !shown {
                return false;
            }
            draft.put("thinking", json!({"type": "adaptive", "display": "summarized"}));
        }
        tokens => {
            if ctx.config.claude_budget_on_top {
                draft.put("max_tokens", number(max_tokens + tokens.as_f64().unwrap_or(0.0)));
            } else if max_tokens <= 1024.0 {
                draft.put("max_tokens", number(max_tokens + 1024.0));
            }
            draft.put("thinking", json!({"type": "enabled", "budget_tokens": tokens}));
            remove(&mut draft.body, &["temperature", "top_p", "top_k"]);
        }
    }
    true
}

/// Takes white space off the end of a begun reply, which Anthropic refuses (F13); an empty one goes. Returns the white space.
fn trim_end(messages: &mut Vec<Item>) -> String {
    let mut removed = String::new();
    // What is blank to its end uncovers the block or turn before it.
    while let Some(last) = messages.last_mut().filter(|i| i.is("assistant")) {
        removed.insert_str(0, &prefill::trim(last));
        let Some(blocks) = blocks_mut(last) else { break };
        if blocks.pop_if(|b| part_text(b).is_some_and(str::is_empty)).is_none() {
            break;
        }
        if blocks.is_empty() {
            messages.pop();
            removed.clear();
        }
    }
    removed
}

fn headers(ctx: &Ctx, draft: &mut Draft, tools: bool, cached: bool, effort: bool) {
    let mut betas: Vec<&str> = Vec::new();
    if ctx.fixes.headers {
        betas.extend(ctx.config.claude_betas.iter().map(String::as_str));
        if ctx.config.browser {
            draft.header(ANTHROPIC_OPT_IN.0, ANTHROPIC_OPT_IN.1);
        }
    } else {
        betas.extend(["output-128k-2025-02-19", "context-1m-2025-08-07"]);
        let wanted = [
            (tools, "tools-2024-05-16"),
            (cached, "prompt-caching-2024-07-31"),
            (cached, "extended-cache-ttl-2025-04-11"),
            (effort, "effort-2025-11-24"),
        ];
        betas.extend(wanted.into_iter().filter(|(on, _)| *on).map(|(_, beta)| beta));
    }
    if !betas.is_empty() {
        draft.header("anthropic-beta", &betas.join(","));
    }
}
