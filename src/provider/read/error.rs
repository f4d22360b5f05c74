//! What went wrong at the provider, as data: kind, message, and whether to try again (spec 06 §6.5).

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::fields::{filled, list};
use crate::js;

/// The kinds that call for different answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The key is missing, wrong, or may not do this.
    Auth,
    /// The account has no credit left.
    Quota,
    /// Too many requests; try again later.
    RateLimit,
    /// A moderator refused the request.
    Moderation,
    /// The provider refused the prompt.
    Blocked,
    /// There was no text in the answer.
    Empty,
    /// The request does not fit the model's context.
    TooLong,
    /// The model or address does not exist.
    NotFound,
    /// The provider is overloaded or down; try again.
    Unavailable,
    /// The request is not one that the model takes.
    Refused,
    /// Anything else.
    Other,
}

/// An answer that is an error.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ProviderError {
    /// The kind.
    pub kind: ErrorKind,
    /// HTTP status, when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's own words.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retry: bool,
    /// Milliseconds to wait before that, when the provider said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// Why a prompt was blocked, or what a moderator found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The text that a moderator flagged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flagged: Option<String>,
    /// What to change, for errors whose cause is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ProviderError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            message: message.into(),
            retry: false,
            retry_after: None,
            reasons: Vec::new(),
            flagged: None,
            hint: None,
        }
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProviderError {}

/// Reads the body of a failed call. `retry_after` is that header, if it came; `status` 0 when there is none.
pub fn read_error(status: u16, status_text: &str, retry_after: Option<&str>, body: &Value) -> ProviderError {
    let message = message(body).unwrap_or_else(|| status_text.to_owned());
    let mut error = ProviderError::new(kind(status, &message, body), message);
    error.status = (status > 0).then_some(status);
    error.retry = matches!(error.kind, ErrorKind::RateLimit | ErrorKind::Unavailable);
    let seconds = retry_after.map(js::to_number).filter(|s| s.is_finite() && *s >= 0.0);
    error.retry_after = seconds.map(|s| s * 1000.0).or_else(|| delay(&error.message, body)).map(whole);
    if error.kind == ErrorKind::Moderation {
        let metadata = body.pointer("/error/metadata");
        let field = |key: &str| metadata.and_then(|m| m.get(key));
        error.reasons = list(field("reasons")).iter().map(js::value_to_text).collect();
        error.flagged = filled(field("flagged_input")).map(str::to_owned);
    }
    error.hint = hint(&error.message).map(str::to_owned);
    error
}

/// Milliseconds as a whole number, up.
fn whole(ms: f64) -> u64 {
    u64::try_from(js::to_integer(ms.ceil())).unwrap_or(0)
}

/// The provider's words, where each may have put them.
fn message(body: &Value) -> Option<String> {
    let inside = |error: &Value| match error {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => ["message", "code", "type"]
            .iter()
            .find_map(|key| fields.get(*key).filter(|v| !v.is_null()).map(js::value_to_text)),
        _ => None,
    };
    // A list holding one error is Gemini's form on a streaming address.
    let body = body.get(0).unwrap_or(body);
    let nested = body.pointer("/detail/error");
    body.get("error")
        .and_then(inside)
        .or_else(|| nested.and_then(inside))
        .or_else(|| filled(body.get("message")).map(str::to_owned))
        .or_else(|| filled(body.get("detail")).map(str::to_owned))
        .filter(|m| !m.is_empty())
}

fn kind(status: u16, message: &str, body: &Value) -> ErrorKind {
    let body = body.get(0).unwrap_or(body);
    let kind =
        filled(body.pointer("/error/type")).or_else(|| filled(body.pointer("/error/code"))).unwrap_or("");
    let status = if status == 0 {
        // Some routers answer 200 and put the status into the body.
        body.pointer("/error/code").and_then(Value::as_u64).and_then(|c| u16::try_from(c).ok()).unwrap_or(0)
    } else {
        status
    };
    let lower = js::lower(message);
    let says = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    if lower.contains("requires moderation") {
        return ErrorKind::Moderation;
    }
    if kind == "insufficient_quota"
        || status == 402
        || says(&["credit balance is too low", "insufficient balance"])
    {
        return ErrorKind::Quota;
    }
    if says(&["context length", "context window", "maximum context", "prompt is too long", "too many tokens"])
    {
        return ErrorKind::TooLong;
    }
    match (status, kind) {
        (_, "authentication_error" | "permission_error" | "invalid_api_key") | (401 | 403, _) => {
            ErrorKind::Auth
        }
        (_, "rate_limit_error") | (429, _) => ErrorKind::RateLimit,
        (_, "overloaded_error" | "api_error") | (408 | 500..=599, _) => ErrorKind::Unavailable,
        (_, "not_found_error") | (404, _) => ErrorKind::NotFound,
        (413, _) => ErrorKind::TooLong,
        (_, "invalid_request_error") | (400 | 422, _) => ErrorKind::Refused,
        _ => ErrorKind::Other,
    }
}

/// A waiting time in words or in Google's details, in milliseconds.
fn delay(message: &str, body: &Value) -> Option<f64> {
    let body = body.get(0).unwrap_or(body);
    let details = list(body.pointer("/error/details"));
    let google = details.iter().find_map(|d| d.get("retryDelay")?.as_str()?.strip_suffix('s'));
    if let Some(seconds) = google.map(js::to_number).filter(|s| s.is_finite() && *s >= 0.0) {
        return Some(seconds * 1000.0);
    }
    let (_, rest) = message.split_once("try again in ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = rest.split_at(end);
    let n = js::to_number(number);
    let factor = if unit.starts_with("ms") { 1.0 } else { 1000.0 };
    (n.is_finite() && (unit.starts_with('s') || unit.starts_with("ms"))).then_some(n * factor)
}

/// Causes that a setting of the user's can remove.
fn hint(message: &str) -> Option<&'static str> {
    let lower = js::lower(message);
    [
        ("system message must be at the beginning", "set prompt post-processing to semi-strict or stricter"),
        ("conversation roles must alternate", "set prompt post-processing to strict"),
        ("does not support assistant message prefill", "leave the begun reply empty for this model"),
        ("cannot end with trailing whitespace", "take the white space off the end of the begun reply"),
        ("cors requests are not allowed", "the organisation forbids calls from pages; use a proxy"),
    ]
    .into_iter()
    .find(|(words, _)| lower.contains(words))
    .map(|(_, hint)| hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_are_read_from_every_place() {
        for (status, body, kind, message) in [
            (401, json!({"error": {"message": "No key"}}), ErrorKind::Auth, "No key"),
            (429, json!({"error": {"type": "insufficient_quota"}}), ErrorKind::Quota, "insufficient_quota"),
            (429, json!({"error": "慢一点"}), ErrorKind::RateLimit, "慢一点"),
            (500, json!({"detail": {"error": {"message": "boom"}}}), ErrorKind::Unavailable, "boom"),
            (
                400,
                json!({"error": {"message": "This model's maximum context length is 8192 tokens"}}),
                ErrorKind::TooLong,
                "This model's maximum context length is 8192 tokens",
            ),
            (404, json!(null), ErrorKind::NotFound, "Not Found"),
            (0, json!({"error": {"code": 529, "message": "busy"}}), ErrorKind::Unavailable, "busy"),
            (400, json!([{"error": {"message": "bad"}}]), ErrorKind::Refused, "bad"),
        ] {
            let error = read_error(status, "Not Found", None, &body);
            assert_eq!((error.kind, error.message.as_str()), (kind, message), "{body}");
        }
    }

    #[test]
    fn waiting_times_are_read() {
        let after = |header: Option<&str>, body: &Value| read_error(429, "", header, body).retry_after;
        assert_eq!(after(Some("2"), &json!({})), Some(2000));
        assert_eq!(
            after(None, &json!({"error": {"message": "x", "details": [{"retryDelay": "13s"}]}})),
            Some(13_000)
        );
        assert_eq!(after(None, &json!({"error": {"message": "Please try again in 1.2s."}})), Some(1200));
        assert_eq!(after(None, &json!({"error": {"message": "Please try again in 20ms."}})), Some(20));
        assert_eq!(after(Some("soon"), &json!({})), None);
    }

    #[test]
    fn moderation_says_what_was_flagged() {
        let body = json!({"error": {"message": "x requires moderation", "metadata": {"reasons": ["violence"], "flagged_input": "…"}}});
        let error = read_error(403, "", None, &body);
        assert_eq!(
            (error.kind, error.reasons.len(), error.flagged.as_deref()),
            (ErrorKind::Moderation, 1, Some("…"))
        );
    }
}
