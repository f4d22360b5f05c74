//! Backyard archives -> a V2 card and one chat a scenario (spec 08 §3.2).

use serde_json::Value;

use super::charx::read_json;
use super::foreign_chat::message;
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
    let character = read_json(archive, index, limits.inflated_bytes, notes)?;
    let Some(character) = character.as_object() else {
        return Err(invalid("the character is no JSON object"));
    };
    let mut scenarios = Vec::new();
    // All scenarios are in memory at once, so together they may be as large as one JSON.
    let mut left = limits.inflated_bytes;
    for path in list(manifest, "scenarios").iter().filter_map(Value::as_str) {
        let Some(index) = archive.find(path) else { continue };
        let size = archive.entries.get(index).map_or(0, |e| e.size);
        let read = read_json(archive, index, left, notes);
        left = left.saturating_sub(usize::try_from(size).unwrap_or(usize::MAX));
        match read {
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
        js::put(&mut extensions, "display_name", display_name.into());
    }
    let mut data = js::object(vec![
        ("name", name.into()),
        ("description", macros(&text(character, "persona")).into()),
        ("personality", "".into()),
        ("scenario", macros(field(main, "narrative")).into()),
        ("first_mes", first_mes.into()),
        ("mes_example", examples(main).into()),
        ("creator_notes", author("backyardURL").into()),
        ("system_prompt", macros(field(main, "formattingInstructions")).into()),
        ("post_history_instructions", "".into()),
        ("alternate_greetings", js::texts(greetings)),
        ("tags", js::texts(if adult { vec!["nsfw".to_owned()] } else { Vec::new() })),
        ("creator", author("name").into()),
        ("character_version", "".into()),
        ("extensions", extensions.into()),
    ]);
    let lore = character.get("loreItems").and_then(Value::as_array).filter(|list| !list.is_empty());
    if let Some(lore) = lore {
        let entries: Vec<Value> = lore.iter().enumerate().map(|(i, item)| lore_entry(i, item)).collect();
        let book = js::object(vec![("extensions", Object::new().into()), ("entries", entries.into())]);
        js::put(&mut data, "character_book", book.into());
    }
    let card = vec![("spec", "chara_card_v2".into()), ("spec_version", "2.0".into()), ("data", data.into())];
    Value::Object(js::object(card))
}

fn lore_entry(index: usize, item: &Value) -> Value {
    let keys: Vec<String> = split_commas(field(item, "key")).iter().map(|key| macros(key)).collect();
    Value::Object(js::object(vec![
        ("keys", js::texts(keys)),
        ("content", macros(field(item, "value")).into()),
        ("extensions", Object::new().into()),
        ("enabled", true.into()),
        ("insertion_order", index.into()),
    ]))
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
        messages.push(message(name, false, field(first, "text"), None));
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
    let metadata = js::object(vec![
        ("scenario", macros(field(scenario, "narrative")).into()),
        ("mes_example", examples(scenario).into()),
        ("system_prompt", macros(field(scenario, "formattingInstructions")).into()),
        (
            "mes_examples_optional",
            (scenario.get("canDeleteExampleMessages") == Some(&Value::Bool(true))).into(),
        ),
        ("byaf_model_settings", model.into()),
    ]);
    let header = js::object(vec![
        ("chat_metadata", metadata.into()),
        ("user_name", "unused".into()),
        ("character_name", "unused".into()),
    ]);
    super::chat::chat(header.into(), messages)
}

fn human_message(m: &Value) -> Value {
    message("User", true, field(m, "text"), m.get("createdAt"))
}

fn model_message(m: &Value, name: &str) -> Value {
    let outputs: Vec<&Value> =
        list(m, "outputs").iter().filter(|o| o.get("text").is_some_and(Value::is_string)).collect();
    // ISO dates sort as texts.
    let newest =
        outputs.iter().enumerate().max_by_key(|(_, o)| field(o, "activeTimestamp")).map_or(0, |(i, _)| i);
    let shown = outputs.get(newest);
    let text = shown.map_or_else(|| field(m, "text"), |o| field(o, "text"));
    let date = shown.and_then(|o| o.get("createdAt")).or_else(|| m.get("createdAt"));
    let mut message = message(name, false, text, date);
    if let Some(object) = message.as_object_mut().filter(|_| !outputs.is_empty()) {
        js::put(object, "swipes", js::texts(outputs.iter().map(|o| field(o, "text").to_owned()).collect()));
        js::put(object, "swipe_id", newest.into());
    }
    message
}
