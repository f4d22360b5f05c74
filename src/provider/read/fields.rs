//! Where each source puts text and reasoning.

use serde_json::Value;

use crate::js;
use crate::models::Source;

/// The reasoning fields of OpenAI-like sources, in the order in which they are looked at. The reference reads none for some
/// sources; with the fix every known field counts whatever the source.
pub(super) const fn reasoning_fields(source: Source, fixed: bool) -> &'static [&'static str] {
    match source {
        Source::OpenRouter => &["reasoning", "reasoning_content"],
        Source::DeepSeek | Source::Xai if !fixed => &["reasoning_content"],
        Source::AimlApi
        | Source::Pollinations
        | Source::Moonshot
        | Source::CometApi
        | Source::Chutes
        | Source::ElectronHub
        | Source::NanoGpt
        | Source::SiliconFlow
        | Source::Zai
        | Source::WorkersAi
        | Source::Fireworks
        | Source::Custom => &["reasoning_content", "reasoning"],
        _ if fixed => &["reasoning_content", "reasoning"],
        _ => &[],
    }
}

/// A text that is not empty.
pub(super) fn filled(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|s| !s.is_empty())
}

/// A value that is neither absent nor null: JavaScript's `??`.
pub(super) fn some(value: Option<&Value>) -> Option<&Value> {
    value.filter(|v| !v.is_null())
}

/// A list, empty when it is none.
pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A text content as it is, of a list of parts their texts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().filter_map(|p| filled(p.get("text"))).collect(),
        Value::String(text) => text.clone(),
        Value::Null | Value::Object(_) => String::new(),
        other => js::value_to_text(other),
    }
}

/// The thinking of a Mistral content: all its texts, or, as the reference reads a stream, the first one only.
pub(super) fn mistral_thinking(content: Option<&Value>, all: bool) -> Vec<&str> {
    let parts = list(content);
    let chunks = parts.iter().take(if all { usize::MAX } else { 1 });
    chunks.flat_map(|part| list(part.get("thinking"))).filter_map(|t| filled(t.get("text"))).collect()
}

/// Gemini's parts; a thought is reasoning.
pub(super) fn is_thought(part: &Value) -> bool {
    part.get("thought").is_some_and(js::to_boolean)
}

/// A picture of a Gemini part as a data URL.
pub(super) fn inline_image(part: &Value) -> Option<String> {
    let data = part.get("inlineData").filter(|_| !is_thought(part))?;
    let field = |key: &str| data.get(key).and_then(Value::as_str);
    Some(format!("data:{};base64,{}", field("mimeType").unwrap_or(""), field("data")?))
}

/// OpenRouter's pictures that are data URLs.
pub(super) fn router_images(holder: Option<&Value>) -> impl Iterator<Item = String> {
    list(holder.and_then(|h| h.get("images")))
        .iter()
        .filter(|i| i.get("type").is_some_and(|t| t == "image_url"))
        .filter_map(|i| i.pointer("/image_url/url")?.as_str())
        .filter(|url| url.starts_with("data:"))
        .map(str::to_owned)
}

/// The entries of OpenRouter's encrypted reasoning: id and data.
pub(super) fn encrypted(holder: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    list(holder.and_then(|h| h.get("reasoning_details")))
        .iter()
        .filter(|d| d.get("type").is_some_and(|t| t == "reasoning.encrypted"))
        .filter_map(|d| Some((d.get("id").and_then(Value::as_str).unwrap_or(""), filled(d.get("data"))?)))
}

/// An object that says nothing but that something went wrong.
pub(super) fn is_failure(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    if object.get("error").is_some_and(js::to_boolean) {
        return true;
    }
    let speaks = ["choices", "candidates", "content", "delta", "usage", "text", "output"];
    let alone = !speaks.iter().any(|k| object.contains_key(*k));
    alone
        && object.get("type").is_none_or(|t| t == "error")
        && (object.get("message").is_some_and(Value::is_string)
            || object.get("detail").is_some_and(js::to_boolean))
}
