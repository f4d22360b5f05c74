//! A reply that carries more than its text -> the text, whether the speaker stays silent, whom it names next (spec 09 §17.1).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::js;

/// How replies carry skips and nominations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// They do not.
    #[default]
    None,
    /// As an object: `{"content", "nextSpeaker", "skip"}`.
    Json,
    /// As marks at the end: `[next: NAME]`, `[pass]`.
    Marks,
}

/// What a reply says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Controlled {
    /// The text.
    pub text: String,
    /// Whom it names, as written.
    pub next: Option<String>,
    /// The speaker does not want to speak.
    pub skip: bool,
}

/// Reads a reply.
pub fn reply_control(text: &str, control: Control) -> Controlled {
    let plain = || Controlled { text: text.to_owned(), ..Controlled::default() };
    match control {
        Control::None => plain(),
        Control::Json => json(text).unwrap_or_else(plain),
        Control::Marks => marks(text),
    }
}

fn json(text: &str) -> Option<Controlled> {
    let mut body = js::trim(text);
    if body.starts_with("```") {
        body = body.split_once('\n').map_or("", |(_, rest)| rest);
    }
    body = js::trim_end(body);
    body = body.strip_suffix("```").unwrap_or(body);
    let object: Value = serde_json::from_str(body.get(body.find('{')?..=body.rfind('}')?)?).ok()?;
    let object = object.as_object()?;
    let content = object.get("content").and_then(Value::as_str);
    let skip = object.get("skip") == Some(&Value::Bool(true));
    if content.is_none() && !skip {
        return None;
    }
    let next = ["nextSpeaker", "next_speaker", "next"]
        .iter()
        .filter_map(|key| object.get(*key).and_then(Value::as_str))
        .find(|name| !js::trim(name).is_empty());
    Some(Controlled { text: content.unwrap_or("").to_owned(), next: next.map(str::to_owned), skip })
}

fn marks(text: &str) -> Controlled {
    let mut text = js::trim_end(text);
    let start = text.rfind(js::is_line_end).map_or(0, |at| at + end_len(text, at));
    let mut next = None;
    if let Some(name) = text.get(start..).and_then(nomination) {
        next = Some(name.to_owned());
        text = js::trim_end(text.get(..start).unwrap_or(""));
    }
    let skip = bracketed(js::trim(text)).is_some_and(|word| {
        let word = js::lower(js::trim(word));
        matches!(word.as_str(), "pass" | "skip" | "沉默" | "跳过")
    });
    Controlled { text: if skip { String::new() } else { text.to_owned() }, next, skip }
}

fn end_len(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

/// The name in a line that is a nomination and nothing else.
fn nomination(line: &str) -> Option<&str> {
    let inner = bracketed(js::trim(line))?;
    let (label, name) = inner.split_once([':', '：'])?;
    let label = js::lower(js::trim(label));
    let name = js::trim(name);
    (matches!(label.as_str(), "next" | "下一位") && !name.is_empty()).then_some(name)
}

/// What stands between brackets of either width that are the whole text.
fn bracketed(text: &str) -> Option<&str> {
    let inner = text.strip_prefix(['[', '【', '［'])?.strip_suffix([']', '】', '］'])?;
    (!inner.contains(['[', ']', '【', '】', '［', '］'])).then_some(inner)
}
