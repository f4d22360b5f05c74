//! What Mistral, Cohere and AI21 take of a message: parts of the kinds they know, in the turns they know them in, and nothing
//! empty. With the fix only; the reference sends what it has.

use serde_json::{Value, json};

use super::config::Frame;
use super::item::{Item, data_url, media_url, part_text, part_type, truthy};
use crate::js;

/// The kinds of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Texts, as one string.
    Text,
    /// Pictures of the user too.
    Pictures,
    /// Pictures and sound of the user too.
    Sound,
}

/// Leaves out and converts; gives how many media were left out.
pub(super) fn tidy(list: Vec<Item>, takes: Takes, frame: Frame) -> (Vec<Item>, usize) {
    if !frame.fixes.blocks {
        return (list, 0);
    }
    let mut list = list;
    let (mut left_out, mut homeless) = (0, Vec::new());
    for item in &mut list {
        if item.name().is_none() {
            item.take("name");
        }
        let user = item.is("user");
        let Some(parts) = item.fields.get_mut("content").and_then(Value::as_array_mut) else { continue };
        let mut kept = Vec::with_capacity(parts.len());
        for part in std::mem::take(parts) {
            if part_text(&part).is_some() {
                kept.push(part);
            } else if let Some(media) = media(&part, takes) {
                if user { kept.push(media) } else { homeless.push(media) }
            } else {
                left_out += 1;
            }
        }
        if user {
            // Pictures of the others are shown to the model in the user's next turn.
            kept.append(&mut homeless);
        }
        let texts = || kept.iter().filter_map(part_text).filter(|t| !t.is_empty());
        let content = if takes == Takes::Text || texts().count() == kept.len() {
            json!(texts().collect::<Vec<_>>().join("\n\n"))
        } else {
            kept.retain(|p| part_text(p) != Some(""));
            Value::Array(kept)
        };
        item.set("content", content);
    }
    left_out += homeless.len();
    let count = list.len();
    let mut at = 0;
    list.retain(|item| {
        at += 1;
        let calls = item.tool_calls().is_some_and(|c| !c.is_empty());
        calls || item.is("tool") || says(item, at == count && item.is("assistant"))
    });
    if list.is_empty() {
        list.push(Item::new("user", json!(frame.placeholder)));
    }
    (list, left_out)
}

/// Whether there is anything in a message; a begun reply of nothing but white space begins nothing.
fn says(item: &Item, begun: bool) -> bool {
    match item.content() {
        Value::String(text) if begun => !js::trim(text).is_empty(),
        content @ Value::String(_) => truthy(Some(content)),
        Value::Array(parts) => !parts.is_empty(),
        _ => false,
    }
}

/// A medium in the provider's form, if it takes the kind.
fn media(part: &Value, takes: Takes) -> Option<Value> {
    let url = media_url(part)?;
    match (part_type(part), takes) {
        ("image_url", Takes::Pictures | Takes::Sound) => Some(part.clone()),
        ("audio_url", Takes::Sound) => {
            let sound = data_url(url).map_or(url, |(_, data)| data);
            Some(json!({"type": "input_audio", "input_audio": sound}))
        }
        _ => None,
    }
}
