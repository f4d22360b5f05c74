//! Backyard archives -> a V2 card and one chat a scenario (spec 08 §3.2).

use serde_json::{Value, json};

use super::charx::read_json;
use super::zip::Archive;
use crate::error::{Code, Error, Warnings};
use crate::host::Limits;
use crate::js;
use crate::scene::{Object, split_commas};

/// The card and the chats of an archive, as files of this format would hold them.
pub(super) fn read(
    archive: &mut Archive<'_>,
    manifest: &Value,
    limits: &Limits,
    notes: &mut Warnings,
) -> Result<(Value, Vec<Value>), Error> {
    let invalid =
        |what: &str| Error::new(Code::FileByafInvalid, "manifest.json", format!("{what}; export it again"));
    let first = manifest.get("characters").and_then(Value::as_array).and_then(|list| list.first());
    let Some(path) = first.and_then(Value::as_str) else {
        return Err(invalid("the manifest names no character"));
    };
    let Some(index) = archive.find(path) else {
        return Err(invalid("the first character is not in the archive"));
    };
    let character = read_json(archive, index, limits, notes)?;
    let Some(character) = character.as_object() else {
        return Err(invalid("the character is no JSON object"));
    };
    let mut scenarios = Vec::new();
    for path in list(manifest, "scenarios").iter().filter_map(Value::as_str) {
        let Some(index) = archive.find(path) else { continue };
        match read_json(archive, index, limits, notes) {
            Ok(scenario) if scenario.is_object() => scenarios.push(scenario),
            Ok(_) => notes.add("entry-dropped", || path.to_owned(), "the scenario is no JSON object"),
            // A broken scenario costs a chat, not the card; what is over a limit or encrypted is told.
            Err(e) if e.code() == Code::FileBadJson => {
                notes.add("entry-dropped", || path.to_owned(), e.message().to_owned());
            }
            Err(e) => return Err(e),
        }
    }
    let card = card(character, manifest, &scenarios);
    let name = text(character, "name");
    let chats = scenarios.iter().map(|scenario| chat(scenario, &name)).collect();
    Ok((card, chats))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text(object: &Object, key: &str) -> String {
    object.get(key).and_then(Value::as_str).unwrap_or("").to_owned()
}

fn card(character: &Object, manifest: &Value, scenarios: &[Value]) -> Value {
    let none = Value::Null;
    let main = scenarios.first().unwrap_or(&none);
    let first_mes = first_message(main);
    let mut greetings: Vec<String> = Vec::new();
    for greeting in scenarios.iter().skip(1).map(first_message) {
        if !greeting.is_empty() && greeting != first_mes && !greetings.contains(&greeting) {
            greetings.push(greeting);
        }
    }
    let author =
        |key: &str| manifest.get("author").and_then(|a| a.get(key)).and_then(Value::as_str).unwrap_or("");
    let display_name = text(character, "displayName");
    let name =
        Some(text(character, "name")).filter(|n| !n.is_empty()).unwrap_or_else(|| display_name.clone());
    let adult = character.get("isNSFW") == Some(&Value::Bool(true));
    let mut extensions = Object::new();
    if !display_name.is_empty() {
        extensions.insert("display_name".to_owned(), json!(display_name));
    }
    let mut data = json!({
        "name": name,
        "description": macros(&text(character, "persona")),
        "personality": "",
        "scenario": macros(field(main, "narrative")),
        "first_mes": first_mes,
        "mes_example": examples(main),
        "creator_notes": author("backyardURL"),
        "system_prompt": macros(field(main, "formattingInstructions")),
        "post_history_instructions": "",
        "alternate_greetings": greetings,
        "tags": if adult { vec!["nsfw"] } else { Vec::new() },
        "creator": author("name"),
        "character_version": "",
        "extensions": extensions,
    });
    let lore = character.get("loreItems").and_then(Value::as_array).filter(|list| !list.is_empty());
    if let (Some(lore), Some(data)) = (lore, data.as_object_mut()) {
        let entries: Vec<Value> = lore.iter().enumerate().map(|(i, item)| lore_entry(i, item)).collect();
        data.insert("character_book".to_owned(), json!({"extensions": {}, "entries": entries}));
    }
    json!({"spec": "chara_card_v2", "spec_version": "2.0", "data": data})
}

fn lore_entry(index: usize, item: &Value) -> Value {
    let keys: Vec<String> = split_commas(field(item, "key")).iter().map(|key| macros(key)).collect();
    json!({
        "keys": keys,
        "content": macros(field(item, "value")),
        "extensions": {},
        "enabled": true,
        "insertion_order": index,
    })
}

fn field<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn first_message(scenario: &Value) -> String {
    list(scenario, "firstMessages").first().map_or_else(String::new, |m| macros(field(m, "text")))
}

fn examples(scenario: &Value) -> String {
    let blocks: Vec<String> = list(scenario, "exampleMessages")
        .iter()
        .map(|m| format!("<START>\n{}", macros(field(m, "text"))))
        .collect();
    js::trim_end(&blocks.join("\n")).to_owned()
}

/// `{character}` and `{user}` in the spelling of cards. `{{user}}` is already that.
fn macros(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['#', '{']) {
        out.push_str(rest.get(..at).unwrap_or(""));
        rest = rest.get(at..).unwrap_or("");
        let found = [
            ("#{user}:", "{{user}}:"),
            ("#{character}:", "{{char}}:"),
            ("{character}", "{{char}}"),
            ("{user}", "{{user}}"),
        ]
        .into_iter()
        .find(|(from, _)| {
            let head = rest.get(..from.len()).is_some_and(|h| h.eq_ignore_ascii_case(from));
            head && !rest.get(from.len()..).is_some_and(|r| from.ends_with('}') && r.starts_with('}'))
        });
        let (from, to) = found.unwrap_or_else(|| {
            let one = rest.get(..1).unwrap_or("");
            (one, one)
        });
        out.push_str(to);
        rest = rest.get(from.len()..).unwrap_or("");
    }
    out + rest
}

/// A scenario as a chat file: `{header, messages}`. Texts of messages are left as they are.
fn chat(scenario: &Value, name: &str) -> Value {
    let model: Object = [
        "model",
        "temperature",
        "topK",
        "topP",
        "minP",
        "minPEnabled",
        "repeatPenalty",
        "repeatLastN",
        "promptTemplate",
        "grammar",
    ]
    .iter()
    .filter_map(|key| Some(((*key).to_owned(), scenario.get(*key)?.clone())))
    .collect();
    let mut messages = Vec::new();
    if let Some(first) = list(scenario, "firstMessages").first() {
        messages.push(json!({"name": name, "is_user": false, "is_system": false, "mes": field(first, "text"), "extra": {}}));
    }
    let all = list(scenario, "messages");
    let human: Vec<&Value> = all.iter().filter(|m| field(m, "type") == "human").collect();
    let other: Vec<&Value> = all.iter().filter(|m| field(m, "type") == "ai").collect();
    // Exports list all of one side, then all of the other; equal numbers say that they took turns.
    if human.len() == other.len() {
        for (human, other) in human.iter().zip(&other) {
            messages.extend([human_message(human), model_message(other, name)]);
        }
    } else {
        messages.extend(all.iter().filter_map(|m| match field(m, "type") {
            "human" => Some(human_message(m)),
            "ai" => Some(model_message(m, name)),
            _ => None,
        }));
    }
    json!({
        "header": {
            "chat_metadata": {
                "scenario": macros(field(scenario, "narrative")),
                "mes_example": examples(scenario),
                "system_prompt": macros(field(scenario, "formattingInstructions")),
                "mes_examples_optional": scenario.get("canDeleteExampleMessages") == Some(&Value::Bool(true)),
                "byaf_model_settings": model,
            },
            "user_name": "unused",
            "character_name": "unused",
        },
        "messages": messages,
    })
}

fn dated(mut message: Value, date: Option<&Value>) -> Value {
    if let (Some(date), Some(object)) = (date.filter(|d| !d.is_null()), message.as_object_mut()) {
        object.insert("send_date".to_owned(), date.clone());
    }
    message
}

fn human_message(m: &Value) -> Value {
    let message =
        json!({"name": "User", "is_user": true, "is_system": false, "mes": field(m, "text"), "extra": {}});
    dated(message, m.get("createdAt"))
}

fn model_message(m: &Value, name: &str) -> Value {
    let outputs: Vec<&Value> =
        list(m, "outputs").iter().filter(|o| o.get("text").is_some_and(Value::is_string)).collect();
    // ISO dates sort as texts.
    let newest =
        outputs.iter().enumerate().max_by_key(|(_, o)| field(o, "activeTimestamp")).map_or(0, |(i, _)| i);
    let swipes: Vec<&str> = outputs.iter().map(|o| field(o, "text")).collect();
    let shown = outputs.get(newest);
    let text = swipes.get(newest).copied().unwrap_or_else(|| field(m, "text"));
    let mut message = json!({"name": name, "is_user": false, "is_system": false, "mes": text, "extra": {}});
    if let Some(object) = message.as_object_mut().filter(|_| !swipes.is_empty()) {
        object.insert("swipes".to_owned(), json!(swipes));
        object.insert("swipe_id".to_owned(), json!(newest));
    }
    dated(message, shown.and_then(|o| o.get("createdAt")).or_else(|| m.get("createdAt")))
}
