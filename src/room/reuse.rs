//! How much of a request stood at the start of the one before: what a provider's prompt cache can have (spec 02 Part 4).

use serde_json::Value;

use crate::parts::{ReportMessage, Reuse};
use crate::tokens::Count;

/// Compares two lists of messages; `costs` belong to the newer one.
pub(super) fn reuse(before: &Value, now: &Value, costs: &[ReportMessage], count: &dyn Count) -> Reuse {
    let (Some(before), Some(now)) = (messages(before), messages(now)) else { return Reuse::default() };
    let equal = before.iter().zip(now).take_while(|(a, b)| a == b).count();
    let tokens: i64 = costs.iter().take(equal).map(|m| m.tokens).sum();
    let begun = match (before.get(equal), now.get(equal)) {
        (Some(a), Some(b)) if a.get("role") == b.get("role") => common(text(a), text(b)),
        _ => "",
    };
    Reuse { messages: equal, tokens: tokens + i64::from(count.count(begun)) }
}

fn messages(payload: &Value) -> Option<&Vec<Value>> {
    payload.get("messages").and_then(Value::as_array)
}

fn text(message: &Value) -> &str {
    message.get("content").and_then(Value::as_str).unwrap_or("")
}

/// What two texts begin with.
fn common<'t>(a: &str, b: &'t str) -> &'t str {
    let length = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    b.get(..length).unwrap_or("")
}
