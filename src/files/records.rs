//! Groups, personas and regex scripts -> their normal forms (spec 08 §6, §10, §12.5).

use indexmap::IndexSet;
use serde_json::Value;

use crate::error::Warnings;
use crate::js;
use crate::scene::{Character, Object, Reader};

/// A group file; unknown keys stay. Ids that are numbers become text.
pub(super) fn group(object: &Object, notes: &mut Warnings) -> Value {
    let mut r = Reader::new(object, "");
    let mut out = object.clone();
    let mut set = |key: &str, value: Value| js::put(&mut out, key, value);
    let id = r.text("id");
    let name = r.text_opt("name").unwrap_or_else(|| "New Group".to_owned());
    // The oldest groups are their own only chat (spec 01 §1).
    let chat_id = r.text_opt("chat_id").unwrap_or_else(|| id.clone());
    let chats = r.texts_opt("chats").unwrap_or_else(|| vec![chat_id.clone()]);
    let chats: IndexSet<String> = chats.into_iter().collect();
    set("id", id.into());
    set("name", name.into());
    set("members", js::texts(r.texts("members")));
    set("disabled_members", js::texts(r.texts("disabled_members")));
    set("allow_self_responses", r.flag("allow_self_responses", false).into());
    for (key, default) in [("activation_strategy", 0), ("generation_mode", 0), ("auto_mode_delay", 5)] {
        set(key, r.number_value(key).unwrap_or_else(|| default.into()));
    }
    set("generation_mode_join_prefix", r.text("generation_mode_join_prefix").into());
    set("generation_mode_join_suffix", r.text("generation_mode_join_suffix").into());
    for key in ["fav", "hideMutedSprites"] {
        if object.contains_key(key) {
            set(key, r.flag(key, false).into());
        }
    }
    set("chat_id", chat_id.into());
    set("chats", js::texts(chats.into_iter().collect()));
    notes.extend(r.into_warnings());
    Value::Object(out)
}

/// A group of the oldest form, which listed names and was its own only chat: members become the file names of the first characters
/// so called, unknown and repeated ones go. Others are returned as they are. Metadata that old groups hold for their chats comes
/// out beside the group, by chat, for the headers of the chat files (spec 01 §1, spec 08 §6).
pub fn migrate_group(group: &Object, characters: &[Character]) -> (Object, Object) {
    let mut out = group.clone();
    let mut headers = match out.shift_remove("past_metadata") {
        Some(Value::Object(past)) => past,
        _ => Object::new(),
    };
    let id = Reader::new(group, "").text("id");
    if !group.contains_key("chat_id") {
        let members = Reader::new(group, "").texts("members");
        let known = |name: &String| characters.iter().find(|c| c.name == *name).map(|c| c.avatar.clone());
        let members: IndexSet<String> = members.iter().filter_map(known).collect();
        out.insert("members".to_owned(), js::texts(members.into_iter().collect()));
        js::put(&mut out, "chat_id", id.as_str().into());
        js::put(&mut out, "chats", js::texts(vec![id]));
    }
    if let Some(metadata) = out.shift_remove("chat_metadata").filter(Value::is_object) {
        headers.insert(Reader::new(&out, "").text("chat_id"), metadata);
    }
    (out, headers)
}

/// A backup of personas, in the order of their names.
pub(super) fn personas(object: &Object, notes: &mut Warnings) -> Value {
    let none = Object::new();
    let map = |key: &str| object.get(key).and_then(Value::as_object).unwrap_or(&none);
    let (names, descriptions) = (map("personas"), map("persona_descriptions"));
    let mut by_avatar = Reader::new(names, "personas");
    let mut entries = Vec::new();
    for avatar in names.keys() {
        let about = match descriptions.get(avatar) {
            Some(Value::Object(about)) => about,
            None | Some(Value::Null) => &none,
            Some(_) => {
                let at = || format!("persona_descriptions.{avatar}");
                notes.add("field-dropped", at, "is no object");
                &none
            }
        };
        let mut r = Reader::new(about, format!("persona_descriptions.{avatar}"));
        let connections = about.get("connections").filter(|v| v.is_array()).cloned();
        entries.push(Value::Object(js::object(vec![
            ("avatar", avatar.as_str().into()),
            ("name", by_avatar.text(avatar).into()),
            ("description", r.text("description").into()),
            ("position", r.number_value("position").unwrap_or_else(|| 0.into())),
            ("depth", r.number_value("depth").unwrap_or_else(|| 2.into())),
            ("role", r.number_value("role").unwrap_or_else(|| 0.into())),
            ("lorebook", r.text("lorebook").into()),
            ("title", r.text("title").into()),
            ("connections", connections.unwrap_or_else(|| Value::Array(Vec::new()))),
        ])));
        notes.extend(r.into_warnings());
    }
    notes.extend(by_avatar.into_warnings());
    for avatar in descriptions.keys().filter(|avatar| !names.contains_key(*avatar)) {
        notes.add("entry-dropped", || format!("persona_descriptions.{avatar}"), "describes no persona");
    }
    let default = object.get("default_persona").filter(|v| v.is_string()).cloned();
    Value::Object(js::object(vec![("entries", Value::Array(entries)), ("default", default.into())]))
}

/// The backup file of personas: of their normal form, or as it stands.
pub(super) fn personas_file(value: &Value) -> Value {
    let Some(entries) = value.get("entries").and_then(Value::as_array) else { return value.clone() };
    let (mut names, mut descriptions) = (Object::new(), Object::new());
    for entry in entries.iter().filter_map(Value::as_object) {
        let mut about = entry.clone();
        let avatar = about.shift_remove("avatar").as_ref().and_then(Value::as_str).unwrap_or("").to_owned();
        names.insert(avatar.clone(), about.shift_remove("name").unwrap_or_default());
        descriptions.insert(avatar, Value::Object(about));
    }
    Value::Object(js::object(vec![
        ("personas", Value::Object(names)),
        ("persona_descriptions", Value::Object(descriptions)),
        ("default_persona", value.get("default").cloned().unwrap_or_default()),
    ]))
}

/// One regex script or several; always a list.
pub(super) fn regex(source: &Value, notes: &mut Warnings) -> Value {
    let list = match source {
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let single = !source.is_array();
    let path = |i: usize| if single { String::new() } else { format!("[{i}]") };
    list.iter().enumerate().filter_map(|(i, v)| Some(script(v.as_object()?, &path(i), notes))).collect()
}

fn script(object: &Object, path: &str, notes: &mut Warnings) -> Value {
    let mut r = Reader::new(object, path);
    let mut out = object.clone();
    let mut set = |key: &str, value: Value| js::put(&mut out, key, value);
    let name = r.text("scriptName");
    if name.is_empty() {
        r.warn("name-missing", "scriptName", "the script has no name");
    }
    if object.contains_key("id") {
        set("id", r.text("id").into());
    }
    set("scriptName", name.into());
    set("findRegex", r.text("findRegex").into());
    set("replaceString", r.text("replaceString").into());
    set("trimStrings", js::texts(r.texts("trimStrings")));
    let placement = placements(&mut r);
    set("placement", placement.into());
    for key in ["disabled", "markdownOnly", "promptOnly", "runOnEdit"] {
        set(key, r.flag(key, false).into());
    }
    let substitute = match object.get("substituteRegex") {
        Some(Value::Bool(on)) => {
            r.warn("field-coerced", "substituteRegex", "true or false became 1 or 0");
            i32::from(*on).into()
        }
        _ => r.number_value("substituteRegex").unwrap_or_else(|| 0.into()),
    };
    set("substituteRegex", substitute);
    for key in ["minDepth", "maxDepth"] {
        set(key, r.number_value(key).unwrap_or_default());
    }
    notes.extend(r.into_warnings());
    Value::Object(out)
}

/// Whole numbers of `placement`; the rest is dropped.
fn placements(r: &mut Reader<'_>) -> Vec<i64> {
    let list = match r.raw("placement") {
        Some(Value::Array(list)) => list,
        Some(Value::Null) => {
            r.warn("field-null", "placement", "null became the default");
            return Vec::new();
        }
        Some(_) => {
            r.warn("field-dropped", "placement", "is no list");
            return Vec::new();
        }
        None => return Vec::new(),
    };
    let mut numbers = Vec::new();
    for (i, item) in list.iter().enumerate() {
        match item.as_f64().filter(|n| n.fract() == 0.0) {
            Some(n) => numbers.push(js::to_integer(n)),
            None => r.warn("field-coerced", &format!("placement[{i}]"), "is no whole number and was dropped"),
        }
    }
    numbers
}
