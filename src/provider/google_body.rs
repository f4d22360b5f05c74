//! Gemini's body and addresses, AI Studio and Vertex AI (spec 06 §4.3).

use serde_json::{Value, json};

use super::google::{Model, convert};
use super::item::{Item, part_type, split};
use super::openrouter::{SAFETY, safety};
use super::request::{Auth, Ctx, Draft, Place, Secret};
use super::url;
use crate::error::Error;
use crate::js;
use crate::models::{Source, like, number, remove};
use crate::scene::Object;

/// Models that draw when asked to.
const IMAGE_MODELS: &[&str] = &[
    "gemini-2.0-flash-exp",
    "gemini-2.0-flash-exp-image-generation",
    "gemini-2.0-flash-preview-image-generation",
    "gemini-2.5-flash-image-preview",
    "gemini-2.5-flash-image",
    "gemini-3-pro-image",
    "gemini-3.1-flash-image",
];

/// Models without web search.
const NO_SEARCH: &[&str] = &[
    "gemini-2.0-flash-lite",
    "gemini-2.0-flash-lite-001",
    "gemini-2.0-flash-lite-preview-02-05",
    "gemini-robotics-er-1.5-preview",
];

/// Vertex AI's categories: those of AI Studio and more.
const VERTEX_SAFETY: &[&str] = &[
    "HARASSMENT",
    "HATE_SPEECH",
    "SEXUALLY_EXPLICIT",
    "DANGEROUS_CONTENT",
    "CIVIC_INTEGRITY",
    "IMAGE_HATE",
    "IMAGE_DANGEROUS_CONTENT",
    "IMAGE_HARASSMENT",
    "IMAGE_SEXUALLY_EXPLICIT",
    "JAILBREAK",
];

/// Whether a name holds `gemini-3`, then digits and dots, then this tier (`-pro`, `-flash`).
fn third(model: &str, tier: &str, from_start: bool) -> bool {
    model.match_indices("gemini-3").any(|(at, found)| {
        let rest = model.get(at + found.len()..).unwrap_or("");
        (!from_start || at == 0)
            && rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit()).starts_with(tier)
    })
}

/// The thinking budget (tokens), level (a word), or null for models without either.
pub fn google_thinking_budget(max_tokens: f64, effort: &str, model: &str) -> Value {
    if third(model, "-pro", false) {
        return match effort {
            "min" | "low" | "medium" => json!("low"),
            "high" | "max" => json!("high"),
            _ => Value::Null,
        };
    }
    if third(model, "-flash", false) {
        return match effort {
            "min" if model.contains("gemini-3.7-flash") => json!("low"),
            "min" => json!("minimal"),
            "low" | "medium" => json!(effort),
            "high" | "max" => json!("high"),
            _ => Value::Null,
        };
    }
    let (least, most, minimum) = if model.contains("flash-lite") {
        (512.0, 24_576.0, 0.0)
    } else if model.contains("flash") {
        (0.0, 24_576.0, 0.0)
    } else if model.contains("pro") {
        (128.0, 32_768.0, 128.0)
    } else {
        return Value::Null;
    };
    let share = match effort {
        "auto" => return json!(-1),
        "min" => return number(minimum),
        "low" => 0.1,
        "medium" => 0.25,
        "high" => 0.5,
        "max" => 1.0,
        _ => 0.0,
    };
    number((max_tokens * share).floor().min(most).max(least))
}

fn thinks(model: &str) -> bool {
    let two = ["gemini-2.5-flash", "gemini-2.5-pro"].iter().any(|m| {
        // The dot of the reference's expression stands for any character.
        let start: String = model.chars().take(m.len()).collect();
        start.len() == m.len() && like(&start, m)
    });
    let image = model.ends_with("-image") || model.ends_with("-image-preview");
    two && !image || third(model, "-flash", true) || third(model, "-pro", true)
}

/// Builds the request.
pub(super) fn draft(ctx: &Ctx, list: Vec<Item>) -> Result<Draft, Error> {
    let model = Model { id: ctx.model, signatures: ctx.config.gemini_signatures };
    let gemma = ctx.model.contains("gemma-3");
    let draws = ctx.on("request_images") && IMAGE_MODELS.contains(&ctx.model);
    let use_system = ctx.on("use_sysprompt") && !draws && !gemma;
    let converted = convert(list, model, use_system, ctx.frame())?;
    let mut draft = address(ctx);
    draft.lost(converted.dropped);
    let (contents, origins) = split(converted.contents);
    draft.origins = origins;
    draft.put("contents", Value::Array(contents));
    let vertex = ctx.source == Source::VertexAi;
    draft.put("safetySettings", safety(if vertex { VERTEX_SAFETY } else { SAFETY }));
    let config = generation(ctx, model, draws);
    draft.put("generationConfig", Value::Object(config));
    if use_system && !converted.system.is_empty() {
        let (parts, origins): (Vec<_>, Vec<_>) = converted.system.into_iter().unzip();
        draft.system_origins = origins;
        draft.put("systemInstruction", json!({"parts": parts}));
    }
    if !draws && !gemma {
        tools(ctx, &mut draft);
    }
    Ok(draft)
}

fn generation(ctx: &Ctx, model: Model, draws: bool) -> Object {
    let mut config = Object::new();
    if !ctx.list("stop").is_empty() {
        ctx.copy_as(&mut config, "stopSequences", "stop");
    }
    config.insert("candidateCount".into(), json!(1));
    ctx.copy_as(&mut config, "maxOutputTokens", "max_tokens");
    ctx.copy_as(&mut config, "temperature", "temperature");
    ctx.copy_as(&mut config, "topP", "top_p");
    if ctx.on("top_k") {
        ctx.copy_as(&mut config, "topK", "top_k");
    }
    if let Some(schema) = ctx.schema_value() {
        config.insert("responseMimeType".into(), json!("application/json"));
        config.insert("responseSchema".into(), schema.clone());
    }
    ctx.copy(&mut config, &["seed"]);
    if model.newest() {
        remove(&mut config, &["temperature", "topP", "topK", "candidateCount"]);
    }
    if draws {
        config.insert("responseModalities".into(), json!(["text", "image"]));
        let mut image = Object::new();
        if ctx.on("request_image_resolution") && ctx.model.starts_with("gemini-3") {
            ctx.copy_as(&mut image, "imageSize", "request_image_resolution");
        }
        if ctx.on("request_image_aspect_ratio") {
            ctx.copy_as(&mut image, "aspectRatio", "request_image_aspect_ratio");
        }
        if !image.is_empty() {
            config.insert("imageConfig".into(), Value::Object(image));
        }
    }
    if thinks(ctx.model) {
        let max_tokens = ctx.get("max_tokens").map_or(f64::NAN, js::value_to_number);
        let budget = google_thinking_budget(max_tokens, ctx.effort(), ctx.model);
        let off = ctx.source == Source::VertexAi && budget == json!(0);
        let mut thinking = Object::new();
        thinking.insert("includeThoughts".into(), json!(ctx.on("include_reasoning") && !off));
        if ctx.fixes.fields {
            config.insert("maxOutputTokens".into(), number(with_room(max_tokens, &budget)));
        }
        match budget {
            Value::Null => {}
            Value::String(level) => {
                thinking.insert("thinkingLevel".into(), json!(level));
            }
            tokens => {
                thinking.insert("thinkingBudget".into(), tokens);
            }
        }
        config.insert("thinkingConfig".into(), Value::Object(thinking));
    }
    config
}

/// The limit with room for thoughts, which count against it: the budget, or what thinking without one usually takes (F27).
fn with_room(max_tokens: f64, budget: &Value) -> f64 {
    /// Thoughts of a model that chooses their length.
    const USUAL: f64 = 8192.0;
    /// The longest answer of these models.
    const MOST: f64 = 65_536.0;
    let room = budget.as_f64().filter(|b| *b >= 0.0).unwrap_or(USUAL);
    (max_tokens + room).min(MOST).max(max_tokens)
}

fn tools(ctx: &Ctx, draft: &mut Draft) {
    let (functions, others): (Vec<_>, Vec<_>) =
        ctx.list("tools").iter().partition(|t| part_type(t) == "function");
    let mut tools = Vec::new();
    if functions.is_empty() {
        for tool in others {
            let kind = part_type(tool);
            let mut entry = Object::new();
            entry.insert(kind.to_owned(), tool.get(kind).cloned().unwrap_or_default());
            tools.push(Value::Object(entry));
        }
    } else {
        let declarations: Vec<Value> = functions.into_iter().filter_map(declaration).collect();
        tools.push(json!({"function_declarations": declarations}));
    }
    let functions = tools.first().is_some_and(|t| t.get("function_declarations").is_some());
    let searches = !functions && !ctx.model.contains("learnlm") && !NO_SEARCH.contains(&ctx.model);
    if ctx.on("enable_web_search") && searches {
        tools.push(json!({"google_search": {}}));
    }
    if tools.is_empty() {
        return;
    }
    draft.put("tools", Value::Array(tools));
    let mode = |mode: &str| json!({"functionCallingConfig": {"mode": mode}});
    let config = match ctx.get("tool_choice") {
        Some(Value::String(choice)) => match choice.as_str() {
            "none" => Some(mode("NONE")),
            "required" => Some(mode("ANY")),
            "auto" => Some(mode("AUTO")),
            _ => None,
        },
        Some(choice) => choice
            .pointer("/function/name")
            .map(|name| json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}})),
        None => None,
    };
    if let Some(config) = config {
        draft.put("toolConfig", config);
    }
}

/// A function without what Gemini refuses.
fn declaration(tool: &Value) -> Option<Value> {
    let mut function = tool.get("function")?.as_object()?.clone();
    let mut empty = false;
    if let Some(parameters) = function.get_mut("parameters").and_then(Value::as_object_mut) {
        remove(parameters, &["$schema"]);
        empty = parameters.get("properties").and_then(Value::as_object).is_some_and(Object::is_empty);
    }
    if empty {
        remove(&mut function, &["parameters"]);
    }
    Some(Value::Object(function))
}

/// URL and secret.
fn address(ctx: &Ctx) -> Draft {
    let stream = ctx.on("stream");
    let verb = if stream { "streamGenerateContent" } else { "generateContent" };
    let sse = if stream { "?alt=sse" } else { "" };
    let proxy = url::proxy(ctx);
    let secret = if proxy.is_some() { Secret::ProxyPassword } else { Secret::Key };
    let key = || {
        Some(if ctx.config.gemini_key_header {
            Auth::header("x-goog-api-key", secret)
        } else {
            Auth { secret, place: Place::Query { name: "key" } }
        })
    };
    let model = ctx.model;
    if ctx.source == Source::MakerSuite {
        let base = proxy.unwrap_or_else(|| "https://generativelanguage.googleapis.com".to_owned());
        let base = base.strip_suffix('/').unwrap_or(&base);
        let version = &ctx.config.gemini_version;
        return Draft::new(format!("{base}/{version}/models/{model}:{verb}{sse}"), key());
    }
    let publisher = format!("publishers/google/models/{model}:{verb}{sse}");
    if let Some(proxy) = proxy {
        let base = proxy.strip_suffix('/').unwrap_or(&proxy);
        return Draft::new(format!("{base}/v1/{publisher}"), Some(Auth::bearer(secret)));
    }
    let region = if ctx.on("vertexai_region") { ctx.text("vertexai_region") } else { "us-central1" };
    let host = if region == "global" {
        "https://aiplatform.googleapis.com".to_owned()
    } else {
        format!("https://{region}-aiplatform.googleapis.com")
    };
    if ctx.text("vertexai_auth_mode") == "full" {
        let project = ctx.config.project_id.as_deref().unwrap_or("");
        let url = format!("{host}/v1/projects/{project}/locations/{region}/{publisher}");
        return Draft::new(url, Some(Auth::bearer(Secret::Token)));
    }
    let project = ctx.text("vertexai_express_project_id");
    if project.is_empty() {
        return Draft::new(format!("{host}/v1/{publisher}"), key());
    }
    let url =
        format!("https://aiplatform.googleapis.com/v1/projects/{project}/locations/{region}/{publisher}");
    Draft::new(url, key())
}
