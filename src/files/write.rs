//! Chats, presets and other JSON -> text (spec 08 §5.1, §8, §12.8).

use serde_json::Value;

use super::Kind;
use super::preset::SENSITIVE;
use super::records::personas_file;
use crate::error::{Code, Error};
use crate::js;
use crate::scene::Object;

/// Keys of a text-completion preset or template that belong to one installation: never part of a file (spec 08 §8).
const LOCAL: [&str; 22] = [
    "api_server",
    "preset",
    "streaming",
    "truncation_length",
    "n",
    "stopping_strings",
    "enabled",
    "bind_to_context",
    "seed",
    "server_urls",
    "type",
    "max_tokens_second",
    "bypass_status_check",
    "include_reasoning",
    "global_banned_tokens",
    "send_banned_tokens",
    "derived",
    "auto_parse",
    "add_to_prompts",
    "auto_expand",
    "show_hidden",
    "max_additions",
];

/// JSON lines of a chat: a header and one message a line, `\n` between them. `chat` is `{header | metadata, messages}` (as read,
/// normalised, or of a scene) or a list of objects whose first may be the header. Unknown keys and their order stay.
pub fn write_chat(chat: &Value) -> Result<String, Error> {
    let wrong =
        || Error::new(Code::SceneField, "chat", "a chat must be a list of messages or `{header, messages}`");
    let (header, messages) = match chat {
        Value::Array(list) => match list.split_first() {
            Some((first, rest)) if first.get("chat_metadata").is_some() || first.get("mes").is_none() => {
                (Some(first.clone()), rest)
            }
            _ => (None, list.as_slice()),
        },
        Value::Object(object) => {
            let header =
                object.get("header").filter(|h| h.as_object().is_some_and(|o| !o.is_empty())).cloned();
            let metadata =
                object.get("metadata").map(|m| Value::Object(js::object(vec![("chat_metadata", m.clone())])));
            let messages = object.get("messages").and_then(Value::as_array).ok_or_else(wrong)?;
            (header.or(metadata), messages.as_slice())
        }
        _ => return Err(wrong()),
    };
    let mut first = header.and_then(|h| h.as_object().cloned()).unwrap_or_default();
    if !first.contains_key("chat_metadata") {
        js::put(&mut first, "chat_metadata", Object::new().into());
    }
    for key in ["user_name", "character_name"] {
        if !first.contains_key(key) {
            js::put(&mut first, key, "unused".into());
        }
    }
    let mut lines = vec![js::stringify(&Value::Object(first))];
    for message in messages {
        let Some(message) = message.as_object() else { return Err(wrong()) };
        lines.push(js::stringify(&Value::Object(file_message(message))));
    }
    Ok(lines.join("\n"))
}

/// A message without what reading added.
fn file_message(message: &Object) -> Object {
    let mut out = message.clone();
    out.shift_remove("sent_at");
    if out.get("send_date").is_some_and(Value::is_null) {
        out.shift_remove("send_date");
    }
    out
}

/// A preset, lorebook or other value as the text of its file: JSON, indented by four spaces. For others (`sharing`), what points
/// to the owner's servers or belongs to one installation is left out.
pub fn write_json(kind: Kind, value: &Value, sharing: bool) -> String {
    let personas = if kind == Kind::Personas { Some(personas_file(value)) } else { None };
    let value = personas.as_ref().unwrap_or(value);
    match value.as_object().filter(|_| sharing) {
        Some(object) => js::stringify_pretty(&Value::Object(shared(kind, object)), 4),
        None => js::stringify_pretty(value, 4),
    }
}

fn shared(kind: Kind, object: &Object) -> Object {
    let local = |key: &str| LOCAL.contains(&key) || key.ends_with("_model") || key.starts_with("openrouter_");
    let keep = |key: &str| match kind {
        Kind::PresetChat => !SENSITIVE.contains(&key),
        Kind::PresetContext
        | Kind::PresetInstruct
        | Kind::PresetSysprompt
        | Kind::PresetReasoning
        | Kind::PresetTextgen => !local(key),
        Kind::Group => key != "fav",
        _ => true,
    };
    let section = |name: &str| match name {
        "instruct" => Some(Kind::PresetInstruct),
        "context" => Some(Kind::PresetContext),
        "sysprompt" => Some(Kind::PresetSysprompt),
        "preset" => Some(Kind::PresetTextgen),
        "reasoning" => Some(Kind::PresetReasoning),
        _ => None,
    };
    object
        .iter()
        .filter(|(key, _)| keep(key))
        .map(|(key, value)| {
            let inner = section(key).filter(|_| kind == Kind::PresetMaster).zip(value.as_object());
            (
                key.clone(),
                inner.map_or_else(|| value.clone(), |(kind, section)| Value::Object(shared(kind, section))),
            )
        })
        .collect()
}
