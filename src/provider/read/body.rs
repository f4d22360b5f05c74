//! An answer that came whole (spec 06 §6.1).

use serde_json::{Value, json};

use super::error::{ErrorKind, ProviderError, read_error};
use super::fields::{
    content_text, encrypted, filled, inline_image, is_failure, is_thought, list, mistral_thinking,
    reasoning_fields, router_images, some,
};
use super::tools;
use super::types::{Answer, Finish};
use crate::js;
use crate::models::Source;
use crate::profile::Profile;
use crate::provider::config::Fixes;

/// Reads a body. `shown`: reasoning is wanted.
pub fn read_body(
    source: Source,
    body: &Value,
    shown: bool,
    profile: &Profile,
) -> Result<Answer, Box<ProviderError>> {
    read(source, body, shown, Fixes::of(profile).reading)
}

pub(super) fn read(
    source: Source,
    body: &Value,
    shown: bool,
    fixed: bool,
) -> Result<Answer, Box<ProviderError>> {
    if is_failure(body) {
        return Err(Box::new(read_error(0, "", None, body)));
    }
    let mut answer = match source {
        Source::Claude => claude(body, fixed),
        Source::MakerSuite | Source::VertexAi => gemini(body, fixed)?,
        Source::Cohere => cohere(body, fixed),
        _ => openai(source, body, fixed),
    };
    if !shown {
        answer.reasoning.clear();
        answer.alternative_reasonings.clear();
    }
    answer.usage.read(body);
    Ok(answer)
}

/// Texts joined as the reference joins blocks, or as they are.
fn blocks<'a>(texts: impl Iterator<Item = &'a str>, fixed: bool) -> String {
    texts.collect::<Vec<_>>().join(if fixed { "" } else { "\n\n" })
}

fn claude(body: &Value, fixed: bool) -> Answer {
    let content = list(body.get("content"));
    let of = |kind: &'static str, key: &'static str| {
        let blocks = content.iter().filter(move |b| b.get("type").is_some_and(|t| t == kind));
        blocks.map(move |b| b.get(key).and_then(Value::as_str).unwrap_or(""))
    };
    let reason = filled(body.get("stop_reason"));
    Answer {
        text: blocks(of("text", "text"), fixed),
        reasoning: blocks(of("thinking", "thinking"), false),
        tool_calls: content
            .iter()
            .filter(|b| b.get("type").is_some_and(|t| t == "tool_use"))
            .map(tools::anthropic)
            .collect(),
        finish: reason.map(|r| Finish::named(Source::Claude, r, false)),
        details: some(body.get("stop_details")).cloned(),
        ..Answer::default()
    }
}

/// Why Gemini gave nothing.
pub(super) fn gemini_block(body: &Value) -> Option<ProviderError> {
    if !list(body.get("candidates")).is_empty() {
        return None;
    }
    let reason = filled(body.pointer("/promptFeedback/blockReason"));
    let mut error = ProviderError::new(ErrorKind::Blocked, "the provider returned no candidate");
    if let Some(reason) = reason {
        error.message = format!("the prompt was blocked: {reason}");
        error.reasons.push(reason.to_owned());
    }
    Some(error)
}

fn gemini(body: &Value, fixed: bool) -> Result<Answer, Box<ProviderError>> {
    if let Some(error) = gemini_block(body) {
        return Err(Box::new(error));
    }
    let candidate = body.pointer("/candidates/0").unwrap_or(&Value::Null);
    let content = some(candidate.get("content")).or_else(|| candidate.get("output"));
    let parts = list(content.and_then(|c| c.get("parts")));
    let text = |p: &&'_ Value| p.get("text").and_then(Value::as_str).unwrap_or("").to_owned();
    let mut answer = Answer {
        text: if let Some(Value::String(text)) = content {
            text.clone()
        } else {
            let texts: Vec<String> = parts.iter().filter(|p| !is_thought(p)).map(|p| text(&p)).collect();
            blocks(texts.iter().map(String::as_str), fixed)
        },
        reasoning: parts.iter().filter(|p| is_thought(p)).map(|p| text(&p)).collect::<Vec<_>>().join("\n\n"),
        images: parts.iter().filter_map(inline_image).collect(),
        tool_calls: parts.iter().enumerate().filter_map(|(i, p)| tools::gemini(p, i)).collect(),
        ..Answer::default()
    };
    if fixed {
        let signed =
            parts.iter().rev().find(|p| p.get("text").is_some() && p.get("thoughtSignature").is_some());
        let signature = signed.and_then(|p| filled(p.get("thoughtSignature")));
        answer.signature = signature.unwrap_or("").to_owned();
    }
    let reason = filled(candidate.get("finishReason"));
    answer.finish = reason.map(|r| Finish::named(Source::MakerSuite, r, !answer.tool_calls.is_empty()));
    let nothing = answer.text.is_empty()
        && answer.tool_calls.is_empty()
        && !parts.iter().any(|p| p.get("inlineData").is_some());
    if nothing {
        let mut error = ProviderError::new(ErrorKind::Empty, "the candidate holds no text");
        if let Some(reason) = reason {
            error.message = format!("the candidate holds no text: {reason}");
            error.reasons.push(reason.to_owned());
        }
        return Err(Box::new(error));
    }
    Ok(answer)
}

fn cohere(body: &Value, fixed: bool) -> Answer {
    let content = list(body.pointer("/message/content"));
    let first = content.first().and_then(|c| c.get("text"));
    let plan = body.pointer("/message/tool_plan");
    let text = if fixed && !content.is_empty() {
        content.iter().filter_map(|c| filled(c.get("text"))).collect()
    } else {
        some(first).or_else(|| some(plan)).map_or_else(String::new, content_text)
    };
    let thoughts = content.iter().filter(|_| fixed).filter_map(|c| filled(c.get("thinking")));
    Answer {
        text,
        reasoning: thoughts.collect::<Vec<_>>().join("\n\n"),
        tool_calls: list(body.pointer("/message/tool_calls")).to_vec(),
        finish: filled(body.get("finish_reason")).map(|r| Finish::named(Source::Cohere, r, false)),
        ..Answer::default()
    }
}

/// The reasoning of one OpenAI-like message.
fn choice_reasoning(source: Source, message: Option<&Value>, fixed: bool) -> String {
    if source == Source::MistralAi {
        let thoughts = mistral_thinking(message.and_then(|m| m.get("content")), fixed).join("\n\n");
        if !thoughts.is_empty() {
            return thoughts;
        }
    }
    let mut fields = reasoning_fields(source, fixed).iter();
    fields.find_map(|key| filled(message.and_then(|m| m.get(*key)))).unwrap_or("").to_owned()
}

fn openai(source: Source, body: &Value, fixed: bool) -> Answer {
    let choices = list(body.get("choices"));
    let choice_text = |choice: Option<&Value>| {
        let message = choice.and_then(|c| c.pointer("/message/content"));
        some(message).or_else(|| some(choice.and_then(|c| c.get("text")))).map(content_text)
    };
    let first = choices.first();
    let message = first.and_then(|c| c.get("message"));
    let mut others: Vec<String> = Vec::new();
    if fixed {
        // The reference keeps the thoughts of the first only (F48).
        others.extend(choices.iter().skip(1).map(|c| choice_reasoning(source, c.get("message"), true)));
        if others.iter().all(String::is_empty) {
            others.clear();
        }
    }
    let mut answer = Answer {
        text: choice_text(first).or_else(|| some(body.get("text")).map(content_text)).unwrap_or_default(),
        reasoning: choice_reasoning(source, message, fixed),
        tool_calls: choices
            .iter()
            .find(|c| c.get("index").is_none_or(|i| i == 0))
            .map(|c| list(c.pointer("/message/tool_calls")).to_vec())
            .unwrap_or_default(),
        alternatives: choices.iter().skip(1).map(|c| choice_text(Some(c)).unwrap_or_default()).collect(),
        alternative_reasonings: others,
        finish: first.and_then(|c| filled(c.get("finish_reason"))).map(|r| Finish::named(source, r, false)),
        ..Answer::default()
    };
    if source == Source::OpenRouter {
        answer.images = router_images(message).collect();
        for (id, data) in encrypted(message) {
            let call = answer.tool_calls.iter_mut().find(|c| c.get("id").is_some_and(|i| i == id));
            if let Some(call) = call.and_then(Value::as_object_mut) {
                call.insert("signature".to_owned(), json!(data));
            } else if answer.signature.is_empty() && !id.starts_with("tool_") {
                data.clone_into(&mut answer.signature);
            }
        }
    }
    answer
}

/// The structured answer to a request with a schema; null when there is none.
pub fn read_json(source: Source, body: &Value, profile: &Profile) -> Value {
    if source == Source::Claude {
        let content = list(body.get("content"));
        let call = content.iter().find(|b| b.get("type").is_some_and(|t| t == "tool_use"));
        if let Some(input) = call.and_then(|c| c.get("input")) {
            return input.clone();
        }
    }
    let Ok(answer) = read_body(source, body, false, profile) else { return Value::Null };
    let text = match (source, answer.text.split_once("</think>")) {
        (Source::Perplexity, Some((_, rest))) => rest,
        _ => &answer.text,
    };
    js::parse(js::trim(text)).map_or(Value::Null, |(value, _)| value)
}
