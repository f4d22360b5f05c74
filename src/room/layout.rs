//! The order of the parts of a request, and how much of the last request the next one begins with (spec 09 §24).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names of parts in the reference's order. Parts that it puts into the history (notes, summaries) have no place of their own.
const CLASSIC: [&str; 12] = [
    "main",
    "lore_before",
    "persona",
    "description",
    "personality",
    "scenario",
    "lore_after",
    "examples",
    "history_start",
    "history",
    "nudge",
    "post_history",
];

/// What is the same for every speaker comes first, then the history, then what is the speaker's own.
const TAIL: [&str; 21] = [
    "main",
    "lore_before",
    "roster",
    "persona",
    "scenario_shared",
    "lore_after",
    "summary_shared",
    "history_start",
    "history",
    "description",
    "personality",
    "scenario",
    "examples",
    "lore_own",
    "depth_prompt",
    "memory_private",
    "recalled",
    "authors_note",
    "post_history",
    "group_context",
    "nudge",
];

/// Where a speaker's card stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Before the history, as in the reference: a change of speaker changes nearly the whole request.
    #[default]
    Classic,
    /// Behind the history: a change of speaker changes only the end.
    Tail,
}

/// The given parts in the order of a layout; parts that the layout does not place are left out.
pub fn order<'a>(layout: Layout, parts: &[&'a str]) -> Vec<&'a str> {
    let order: &[&str] = match layout {
        Layout::Classic => &CLASSIC,
        Layout::Tail => &TAIL,
    };
    order.iter().filter_map(|name| parts.iter().copied().find(|part| part == name)).collect()
}

/// Where two requests part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Position of the message.
    pub index: usize,
    /// Of which part it is, if it says so.
    pub origin: Option<String>,
}

/// How much of a request was in the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reuse {
    /// Leading messages that are equal in role, name and content.
    pub messages: usize,
    /// What they cost.
    pub tokens: usize,
    /// Equal code points at the start of the next message, if role and name agree.
    pub inner_code_points: usize,
    /// What the whole request costs.
    pub total: usize,
    /// Where they part; `None` when the request has nothing new.
    pub first_difference: Option<Difference>,
    /// What else differs, so that nothing is reused: `model`, `tools`, `schema`, `system`, `provider`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<&'static str>,
}

/// Compares two requests. Each is a list of messages, or an object with `messages` and what else a provider keys its cache by.
/// `cost` gives the tokens of one message; a list costs three more.
pub fn reuse(previous: &Value, current: &Value, cost: &dyn Fn(&Value) -> usize) -> Reuse {
    let (before, now) = (messages(previous), messages(current));
    let total = 3 + now.iter().map(cost).sum::<usize>();
    for (keys, reset) in [
        (&["provider", "chat_completion_source"][..], "provider"),
        (&["model"], "model"),
        (&["tools"], "tools"),
        (&["response_schema", "response_format", "json_schema"], "schema"),
        (&["system"], "system"),
    ] {
        if keys.iter().any(|key| previous.get(*key) != current.get(*key)) {
            let first_difference = Some(Difference { index: 0, origin: None });
            return Reuse { total, first_difference, reset: Some(reset), ..Reuse::default() };
        }
    }
    let equal = |key: &str, a: &Value, b: &Value| a.get(key) == b.get(key);
    let same = |a: &Value, b: &Value| ["role", "name", "content"].iter().all(|key| equal(key, a, b));
    let k = before.iter().zip(now).take_while(|(a, b)| same(a, b)).count();
    let inner = match (before.get(k), now.get(k)) {
        (Some(a), Some(b)) if equal("role", a, b) && equal("name", a, b) => {
            common_start(&content(a), &content(b))
        }
        _ => 0,
    };
    Reuse {
        messages: k,
        tokens: now.iter().take(k).map(cost).sum(),
        inner_code_points: inner,
        total,
        first_difference: now.get(k).map(|m| Difference {
            index: k,
            origin: m.get("origin").and_then(Value::as_str).map(str::to_owned),
        }),
        reset: None,
    }
}

/// Equal code points at the start of two texts: what a text-completion backend can keep.
pub fn common_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Tokens of a message by code points: three, its role, its content, and its name with one more.
pub fn code_points(message: &Value) -> usize {
    let length = |key: &str| message.get(key).and_then(Value::as_str).map(|s| s.chars().count());
    3 + length("role").unwrap_or(0) + content(message).chars().count() + length("name").map_or(0, |n| n + 1)
}

fn messages(request: &Value) -> &[Value] {
    let list = request.as_array().or_else(|| request.get("messages").and_then(Value::as_array));
    list.map_or(&[], Vec::as_slice)
}

fn content(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => crate::js::stringify(other),
    }
}
