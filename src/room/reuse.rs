//! How much of a request stood at the start of the one before: what a provider's prompt cache can have (spec 02 Part 4, 09 §24.3).

use serde_json::Value;

use super::layout;
use crate::parts::{Parting, ReportMessage, Reuse};
use crate::tokens::Count;

/// Compares two payloads; `costs` belong to the newer one.
pub(super) fn reuse(before: &Value, now: &Value, costs: &[ReportMessage], count: &dyn Count) -> Reuse {
    let cost = |text: &str| i64::from(count.count(text));
    if let (Some(before), Some(now)) = (prompt(before), prompt(now)) {
        return Reuse { tokens: cost(common(before, now)), ..Reuse::default() };
    }
    let found = layout::reuse(before, now, &|_| 0);
    let charged: i64 = costs.iter().take(found.messages).map(|m| m.tokens).sum();
    let begun: String = text(now, found.messages).chars().take(found.inner_code_points).collect();
    let origin = |at: usize| costs.get(at)?.parts.first().map(|part| part.origin.clone());
    Reuse {
        messages: found.messages,
        tokens: charged + cost(&begun),
        first_difference: found.first_difference.map(|d| Parting { index: d.index, origin: origin(d.index) }),
        reset: found.reset,
    }
}

fn prompt(payload: &Value) -> Option<&str> {
    payload.get("prompt").and_then(Value::as_str)
}

fn text(payload: &Value, at: usize) -> &str {
    let message = payload.get("messages").and_then(|list| list.get(at));
    message.and_then(|m| m.get("content")).and_then(Value::as_str).unwrap_or("")
}

/// What two texts begin with.
fn common<'t>(a: &str, b: &'t str) -> &'t str {
    let length = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    b.get(..length).unwrap_or("")
}
