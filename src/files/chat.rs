//! Chats: JSON lines -> header and messages, every message with its types (spec 08 §5, §12.5).

use serde_json::Value;

use super::dates;
use crate::error::{Code, Warning, Warnings};
use crate::js;
use crate::scene::{Object, Reader, message_text};

/// What a JSONL text holds.
pub(super) struct Lines {
    /// The objects, in order, as they came, each with its line number from 1.
    pub(super) objects: Vec<(usize, Value)>,
    /// The first line was no JSON.
    pub(super) header_lost: bool,
}

/// Reads a text line by line, when at least one line is an object of a chat.
pub(super) fn lines(text: &str, notes: &mut Warnings) -> Option<Lines> {
    let visible = || text.split('\n').enumerate().filter(|(_, line)| !js::trim(line).is_empty());
    visible().nth(1)?;
    let mut own = Warnings::default();
    let mut out = Lines { objects: Vec::new(), header_lost: false };
    let mut is_chat = false;
    for (nth, (number, line)) in visible().enumerate() {
        let number = number + 1;
        let at = || format!("line {number}");
        match js::parse(line) {
            Ok((value @ Value::Object(_), warnings)) => {
                is_chat |= ["mes", "chat_metadata", "user_name"].iter().any(|key| value.get(key).is_some());
                own.extend(warnings.into_iter().map(|w| Warning { path: at(), ..w }));
                out.objects.push((number, value));
            }
            Ok(_) => own.add("chat-line-invalid", at, "is no object and was left out"),
            Err(_) if nth == 0 => {
                out.header_lost = true;
                own.add("chat-header-invalid", at, "the first line is no JSON; the header is empty");
            }
            Err(error) => {
                let deep = error.code() == Code::JsonTooDeep;
                let what = if deep { "is nested too deep" } else { "is no JSON" };
                own.add("chat-line-invalid", at, format!("{what} and was left out"));
            }
        }
    }
    notes.extend(own.into_list().into_iter().filter(|_| is_chat));
    is_chat.then_some(out)
}

/// `{header, messages}`.
pub(super) fn chat(header: Value, messages: Vec<Value>) -> Value {
    Value::Object(js::object(vec![("header", header), ("messages", messages.into())]))
}

/// Whether an object is a chat's header: it has metadata, or no text.
fn is_header(object: &Object) -> bool {
    object.contains_key("chat_metadata") || !object.contains_key("mes")
}

/// The chat of JSON lines.
pub(super) fn from_lines(lines: &Lines, notes: &mut Warnings) -> Value {
    let mut objects = lines.objects.iter().filter_map(|(n, v)| Some((*n, v.as_object()?))).peekable();
    let mut header = Object::new();
    if !lines.header_lost
        && let Some((number, first)) = objects.peek()
    {
        if is_header(first) {
            header = (*first).clone();
            objects.next();
        } else {
            notes.add("chat-no-header", || format!("line {number}"), "the chat starts without a header");
        }
    }
    let messages: Vec<Value> =
        objects.map(|(n, object)| message(object, &format!("line {n}"), notes)).collect();
    chat(header.into(), messages)
}

/// A chat in file form, `{header, messages}`, with every message typed.
pub(super) fn typed(chat: &Value, path: &str, notes: &mut Warnings) -> Value {
    let list = chat.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let messages = list.iter().enumerate().filter_map(|(i, m)| Some((i, m.as_object()?)));
    let messages: Vec<Value> =
        messages.map(|(i, m)| message(m, &format!("{path}.messages[{i}]"), notes)).collect();
    self::chat(chat.get("header").cloned().unwrap_or_default(), messages)
}

/// Fields that are handed on as they came.
const GIVEN: [&str; 6] =
    ["force_avatar", "original_avatar", "title", "gen_started", "gen_finished", "swipe_info"];

/// One message, every field with its type.
pub(super) fn message(object: &Object, path: &str, notes: &mut Warnings) -> Value {
    let mut r = Reader::new(object, path);
    let mes = message_text(object).map(str::to_owned);
    if mes.is_some() {
        r.warn("field-coerced", "mes", "an object became its text");
    }
    let mes = mes.unwrap_or_else(|| r.text("mes"));
    let is_user = r.flag("is_user", false);
    let mut out = Object::new();
    js::put(&mut out, "name", r.text("name").into());
    js::put(&mut out, "is_user", is_user.into());
    js::put(&mut out, "is_system", r.flag("is_system", false).into());
    js::put(&mut out, "mes", mes.as_str().into());
    js::put(&mut out, "send_date", object.get("send_date").cloned().unwrap_or_default());
    js::put(&mut out, "sent_at", object.get("send_date").and_then(dates::sent_at).into());
    js::put(&mut out, "extra", r.object("extra").cloned().unwrap_or_default().into());
    if !is_user {
        let swipes = swipes(&mut r).unwrap_or_else(|| vec![mes]);
        let given = r.number_opt("swipe_id").filter(|n| n.fract() == 0.0).map_or(0, js::to_integer);
        let last = i64::try_from(swipes.len()).unwrap_or(i64::MAX).saturating_sub(1).max(0);
        let id = given.clamp(0, last);
        if id != given {
            r.warn("swipe-id-range", "swipe_id", "there is no such swipe");
        }
        js::put(&mut out, "swipes", js::texts(swipes));
        js::put(&mut out, "swipe_id", id.into());
    }
    for key in GIVEN {
        if let Some(value) = object.get(key).filter(|v| !v.is_null()) {
            js::put(&mut out, key, value.clone());
        }
    }
    notes.extend(r.into_warnings());
    Value::Object(out)
}

/// The texts of `swipes`; `None` when there is no such list.
fn swipes(r: &mut Reader<'_>) -> Option<Vec<String>> {
    let list = match r.raw("swipes")? {
        Value::Array(list) => list,
        Value::Null => {
            r.warn("field-null", "swipes", "null became the default");
            return None;
        }
        _ => {
            r.warn("field-dropped", "swipes", "is no list");
            return None;
        }
    };
    let texts = list.iter().enumerate().map(|(i, swipe)| match swipe {
        Value::String(s) => s.clone(),
        other => {
            r.warn("field-coerced", &format!("swipes[{i}]"), "became text");
            other.get("message").and_then(Value::as_str).unwrap_or("").to_owned()
        }
    });
    Some(texts.collect())
}
