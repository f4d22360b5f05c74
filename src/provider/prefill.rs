//! A begun reply on its way to an Anthropic model by another route (spec 06 F13, F14): its end is trimmed, and where the model
//! refuses it, it becomes an instruction.

use serde_json::{Value, json};

use super::claude_models::{class, native_id};
use super::item::{Item, part_text};
use super::request::Ctx;
use crate::js;

/// What was done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prefill {
    /// White space taken off the end.
    pub(super) trimmed: String,
    /// The text became an instruction.
    pub(super) refused: bool,
}

/// Prepares a trailing assistant message for the model behind a router or a custom endpoint.
pub(super) fn prepare(ctx: &Ctx, list: &mut Vec<Item>) -> Prefill {
    let mut done = Prefill::default();
    let Some(id) = native_id(ctx.model).filter(|_| ctx.fixes.prefill) else { return done };
    let begins = |i: &Item| i.is("assistant") && i.tool_calls().is_none();
    while list.pop_if(|i| begins(i) && js::trim(&plain(i.content())).is_empty()).is_some() {}
    let Some(begun) = list.last_mut().filter(|i| begins(i)) else { return done };
    done.trimmed = trim(begun);
    let text = plain(begun.content());
    if class(&id, false, true).no_prefill {
        let words =
            format!("[Continue the reply from exactly where this text ends, without repeating it:]\n{text}");
        begun.set("role", json!("user"));
        begun.set("content", json!(words));
        done.refused = true;
    }
    done
}

/// Takes white space off the end of a message's last text; returns it.
pub(super) fn trim(item: &mut Item) -> String {
    let cut = |text: &str| {
        let kept = js::trim_end(text);
        (kept.to_owned(), text.get(kept.len()..).unwrap_or("").to_owned())
    };
    if let Some(text) = item.text() {
        let (kept, removed) = cut(text);
        item.set("content", json!(kept));
        return removed;
    }
    let parts = item.fields.get_mut("content").and_then(Value::as_array_mut);
    let Some(last) = parts.and_then(|p| p.last_mut()) else { return String::new() };
    let Some((kept, removed)) = part_text(last).map(cut) else { return String::new() };
    if let Some(last) = last.as_object_mut() {
        last.insert("text".to_owned(), json!(kept));
    }
    removed
}

/// The text of a content; media have none.
fn plain(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().filter_map(part_text).collect::<Vec<_>>().join("\n\n"),
        other => other.as_str().unwrap_or("").to_owned(),
    }
}
