//! The package's own regular expressions, to be compared with the platform's (spec 05 §6). For tests and tools.

use serde_json::{Value, json};

use crate::host::Limits;
use crate::js::regexp::{Regex, Steps, Text};

/// `{pattern, flags, text}` -> the matches as `[start, end]` for the match and each group (null: no part), or `{error}`.
pub(super) fn matches(of: &Value) -> Value {
    let part = |key: &str| of.get(key).and_then(Value::as_str).unwrap_or("");
    let regex = match Regex::new(part("pattern"), part("flags")) {
        Ok(regex) => regex,
        Err(error) => return json!({"error": error.to_string()}),
    };
    let text = Text::from(part("text"));
    let mut steps = Steps::new(Limits::default().regex_steps);
    let mut found = regex.matches(&text);
    let mut list = Vec::new();
    loop {
        match found.next(&mut steps) {
            Ok(Some(m)) => list.push(m.groups.iter().map(|g| json!(g)).collect::<Value>()),
            Ok(None) => return Value::Array(list),
            Err(error) => return json!({"error": error.to_string()}),
        }
    }
}
