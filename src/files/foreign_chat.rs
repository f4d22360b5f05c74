//! Chats of other frontends -> the chats of this one (spec 08 §5.4), as `{header, messages}` in the form of a chat file.

use serde_json::Value;

use super::ChatNames;
use crate::error::Warnings;
use crate::js;
use crate::scene::Object;

/// All chats of a file of another frontend, tested in the reference's order. `None` when it is none of them.
pub(super) fn chats(file: &Object, names: &ChatNames, notes: &mut Warnings) -> Option<Vec<Value>> {
    let map = |key: &str| file.get(key).and_then(Value::as_object);
    let list = |key: &str| file.get(key).and_then(Value::as_array);
    if let Some(settings) = map("savedsettings") {
        Some(vec![kobold(file, settings, names, notes)])
    } else if let Some(histories) = map("histories") {
        Some(character_ai(histories, names, notes))
    } else if let Some(pairs) = list("data_visible") {
        Some(vec![web_ui(pairs, names, notes)])
    } else if let Some(messages) = list("messages") {
        Some(vec![agnai(messages, names, notes)])
    } else {
        map("data")
            .filter(|_| file.get("type").and_then(Value::as_str) == Some("risuChat"))
            .map(|data| vec![risu(data, names, notes)])
    }
}

fn chat(messages: Vec<Value>) -> Value {
    super::chat::chat(Object::new().into(), messages)
}

/// A message in the form of a chat file.
pub(super) fn message(name: &str, is_user: bool, mes: &str, date: Option<&Value>) -> Value {
    let mut message = js::object(vec![
        ("name", name.into()),
        ("is_user", is_user.into()),
        ("is_system", false.into()),
        ("mes", mes.into()),
        ("extra", Object::new().into()),
    ]);
    if let Some(date) = date.filter(|d| !d.is_null()) {
        js::put(&mut message, "send_date", date.clone());
    }
    Value::Object(message)
}

fn dropped(notes: &mut Warnings, path: &str, index: usize) {
    notes.add("entry-dropped", || format!("{path}[{index}]"), "is no message of this format");
}

/// KoboldAI Lite: the prompt and the actions, marked by who wrote them.
fn kobold(file: &Object, settings: &Object, names: &ChatNames, notes: &mut Warnings) -> Value {
    let name = |key: &str, default: &str| {
        let text = settings.get(key).and_then(Value::as_str).unwrap_or("");
        let first = text.split("||$||").next().unwrap_or("");
        if first.is_empty() { default.to_owned() } else { first.to_owned() }
    };
    let (user, character) = (name("chatname", &names.user), name("chatopponent", &names.character));
    let line = |text: &str| {
        let is_user = text.contains("{{[INPUT]}}");
        let text = text.replace("{{[INPUT]}}", "").replace("{{[OUTPUT]}}", "");
        message(if is_user { &user } else { &character }, is_user, js::trim(&text), None)
    };
    let prompt = file.get("prompt").and_then(Value::as_str).filter(|p| !p.is_empty());
    let mut messages: Vec<Value> = prompt.map(line).into_iter().collect();
    let actions = file.get("actions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (i, action) in actions.iter().enumerate() {
        match action.as_str() {
            Some(text) => messages.push(line(text)),
            None => dropped(notes, "actions", i),
        }
    }
    chat(messages)
}

/// CAI tools: one chat a history.
fn character_ai(histories: &Object, names: &ChatNames, notes: &mut Warnings) -> Vec<Value> {
    let list = histories.get("histories").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut chats = Vec::new();
    for (i, history) in list.iter().enumerate() {
        let Some(msgs) = history.get("msgs").and_then(Value::as_array) else {
            dropped(notes, "histories.histories", i);
            continue;
        };
        let mut messages = Vec::new();
        for (j, msg) in msgs.iter().enumerate() {
            let Some(text) = msg.get("text").and_then(Value::as_str) else {
                dropped(notes, &format!("histories.histories[{i}].msgs"), j);
                continue;
            };
            let is_user = msg.pointer("/src/is_human").is_some_and(js::to_boolean);
            messages.push(message(names.of(is_user), is_user, text, None));
        }
        chats.push(chat(messages));
    }
    chats
}

/// text-generation-webui: pairs of user and character, empty texts left out.
fn web_ui(pairs: &[Value], names: &ChatNames, notes: &mut Warnings) -> Value {
    let mut messages = Vec::new();
    for (i, pair) in pairs.iter().enumerate() {
        let Some(pair) = pair.as_array() else {
            dropped(notes, "data_visible", i);
            continue;
        };
        for (side, text) in pair.iter().take(2).enumerate() {
            match text.as_str() {
                Some("") => {}
                Some(text) => messages.push(message(names.of(side == 0), side == 0, text, None)),
                None => dropped(notes, &format!("data_visible[{i}]"), side),
            }
        }
    }
    chat(messages)
}

/// Agnai: who has a `userId` is the user.
fn agnai(list: &[Value], names: &ChatNames, notes: &mut Warnings) -> Value {
    let mut messages = Vec::new();
    for (i, entry) in list.iter().enumerate() {
        let Some(text) = entry.get("msg").and_then(Value::as_str) else {
            dropped(notes, "messages", i);
            continue;
        };
        let is_user = entry.get("userId").is_some_and(js::to_boolean);
        messages.push(message(names.of(is_user), is_user, text, None));
    }
    chat(messages)
}

/// RisuAI: role, name, text and time.
fn risu(data: &Object, names: &ChatNames, notes: &mut Warnings) -> Value {
    let list = data.get("message").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut messages = Vec::new();
    for (i, entry) in list.iter().enumerate() {
        let Some(text) = entry.get("data").and_then(Value::as_str) else {
            dropped(notes, "data.message", i);
            continue;
        };
        let is_user = entry.get("role").and_then(Value::as_str) == Some("user");
        let name = entry.get("name").and_then(Value::as_str).filter(|n| !n.is_empty());
        let time = entry.get("time");
        messages.push(message(name.unwrap_or_else(|| names.of(is_user)), is_user, text, time));
    }
    chat(messages)
}
