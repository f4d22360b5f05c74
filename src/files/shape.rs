//! Which kind of file a JSON value is: the table of spec 08 §12.4, in its order.

use serde_json::Value;

use super::open::Opened;
use super::{Container, Kind};
use crate::error::{Code, Error};
use crate::scene::{Object, V1_FIELDS};

/// The sections of a combined preset, in the order in which they are listed.
pub(super) const SECTIONS: [&str; 6] = ["instruct", "context", "sysprompt", "preset", "reasoning", "srw"];

/// The kind of an opened file.
pub(super) fn kind(opened: &Opened) -> Result<Kind, Error> {
    match (&opened.container, &opened.source) {
        // The archive's own entry says that it is a card.
        (Container::Charx | Container::Byaf | Container::Yaml, _) => Ok(Kind::Card),
        (Container::Jsonl, _) => Ok(Kind::Chat),
        (_, Value::Object(object)) => object_kind(object),
        (_, Value::Array(list)) if !list.is_empty() && list.iter().all(is_regex_script) => Ok(Kind::Regex),
        (_, other) => {
            let what = match other {
                Value::Array(_) => "a list",
                Value::String(_) => "a text",
                Value::Null => "null",
                _ => "a single value",
            };
            Err(Error::new(
                Code::FileNotAnObject,
                "",
                format!("the JSON is {what}, not an object; choose another file"),
            ))
        }
    }
}

fn is_regex_script(value: &Value) -> bool {
    value.as_object().is_some_and(|o| has(o, &["scriptName", "findRegex"]))
}

fn has(object: &Object, keys: &[&str]) -> bool {
    keys.iter().all(|key| object.contains_key(*key))
}

/// Whether a section of a combined preset has what its kind needs.
pub(super) fn section_is_valid(name: &str, section: &Object) -> bool {
    match name {
        "instruct" => has(section, &["name", "input_sequence", "output_sequence"]),
        "context" => has(section, &["name", "story_string"]),
        "sysprompt" => has(section, &["name"]) && is_text(section, "content"),
        "preset" => has(section, &["temp", "top_k", "top_p", "rep_pen"]),
        "reasoning" => has(section, &["name", "prefix", "suffix", "separator"]),
        "srw" => has(section, &["value", "show"]),
        _ => false,
    }
}

fn is_text(object: &Object, key: &str) -> bool {
    object.get(key).is_some_and(Value::is_string)
}

fn object_kind(o: &Object) -> Result<Kind, Error> {
    let text = |key: &str| o.get(key).and_then(Value::as_str);
    let map = |key: &str| o.get(key).and_then(Value::as_object);
    let list = |key: &str| o.get(key).and_then(Value::as_array);
    let single = |name: &str| section_is_valid(name, o);
    let named_v1 = |o: &Object| V1_FIELDS.iter().skip(1).any(|key| o.contains_key(*key));

    let tests: [(Kind, bool); 20] = [
        (Kind::Card, text("spec").is_some_and(|s| s.starts_with("chara_card"))),
        (Kind::Lorebook, text("spec") == Some("lorebook_v3")),
        (Kind::Card, map("data").is_some_and(|data| is_text(data, "name") && named_v1(data))),
        (Kind::PresetInstruct, single("instruct")),
        (Kind::PresetContext, single("context")),
        (Kind::PresetSysprompt, single("sysprompt")),
        (Kind::PresetTextgen, single("preset")),
        (Kind::PresetReasoning, single("reasoning")),
        (
            Kind::PresetMaster,
            SECTIONS.iter().any(|name| map(name).is_some_and(|section| section_is_valid(name, section))),
        ),
        (
            Kind::PresetChat,
            list("prompts").is_some()
                || has(o, &["chat_completion_source"])
                || has(o, &["openai_max_context"]),
        ),
        (
            Kind::Prompts,
            has(o, &["version", "type"])
                && map("data").is_some_and(|data| data.get("prompts").is_some_and(Value::is_array)),
        ),
        (
            Kind::Lorebook,
            has(o, &["lorebookVersion"])
                || text("kind") == Some("memory")
                || (text("type") == Some("risu") && list("data").is_some())
                || o.get("entries").is_some_and(|e| e.is_array() || e.is_object()),
        ),
        (Kind::Regex, has(o, &["scriptName", "findRegex"])),
        (Kind::Personas, map("personas").is_some() && map("persona_descriptions").is_some()),
        (Kind::Group, list("members").is_some() && (has(o, &["chat_id"]) || has(o, &["chats"]))),
        (
            Kind::Chat,
            map("savedsettings").is_some()
                || map("histories").is_some()
                || list("data_visible").is_some()
                || list("messages").is_some_and(|l| l.iter().any(|m| m.get("msg").is_some()))
                || (text("type") == Some("risuChat") && map("data").is_some()),
        ),
        (Kind::Card, has(o, &["char_name"])),
        (Kind::Card, has(o, &["name"]) && named_v1(o)),
        (Kind::Chat, has(o, &["mes"]) || has(o, &["chat_metadata"])),
        (Kind::Chat, has(o, &["user_name"])),
    ];
    tests.into_iter().find_map(|(kind, fits)| fits.then_some(kind)).ok_or_else(|| unknown(o))
}

/// The error of an object that is nothing known.
pub(super) fn unknown(object: &Object) -> Error {
    let keys: Vec<String> = object.keys().take(12).map(|key| format!("`{}`", short(key))).collect();
    let what = format!("an object of no known kind; its keys are {}", keys.join(", "));
    Error::new(Code::FileUnknownShape, "", what)
}

/// A key for a message: the first 40 characters.
fn short(key: &str) -> String {
    key.chars().take(40).collect()
}
