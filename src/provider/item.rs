//! A message on its way to a provider: its fields as they came, and which input messages are in it. Roles and contents may be
//! anything: what the reference would do with them decides, so that its exceptions become errors here and never a panic.

use serde_json::{Value, json};

use super::config::{Fixes, Names};
use crate::error::{Code, Error};
use crate::js;
use crate::scene::Object;

/// A message and its sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Item {
    /// The message object.
    pub(super) fields: Object,
    /// Indices of the input messages that went into it; empty for a placeholder.
    pub(super) from: Vec<usize>,
}

/// The list of a request; what is no object is left out.
pub(super) fn items(messages: &[Value]) -> Vec<Item> {
    let numbered = messages.iter().enumerate();
    numbered.filter_map(|(i, m)| Some(Item { fields: m.as_object()?.clone(), from: vec![i] })).collect()
}

/// Back to plain messages and their sources.
pub(super) fn split(items: Vec<Item>) -> (Vec<Value>, Vec<Vec<usize>>) {
    items.into_iter().map(|i| (Value::Object(i.fields), i.from)).unzip()
}

impl Item {
    /// A message of our own.
    pub(super) fn new(role: &str, content: Value) -> Self {
        let mut item = Self::default();
        item.set("role", json!(role));
        item.set("content", content);
        item
    }

    /// `role`, empty when it is no text.
    pub(super) fn role(&self) -> &str {
        self.fields.get("role").and_then(Value::as_str).unwrap_or("")
    }

    /// Whether the role is this one.
    pub(super) fn is(&self, role: &str) -> bool {
        self.role() == role
    }

    /// Sets a field where it stands, or at the end.
    pub(super) fn set(&mut self, key: &str, value: Value) {
        self.fields.insert(key.to_owned(), value);
    }

    /// Removes a field, keeping the order of the others.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.fields.shift_remove(key)
    }

    /// `content`, null when absent.
    pub(super) fn content(&self) -> &Value {
        self.fields.get("content").unwrap_or(&Value::Null)
    }

    /// `content` when it is a text.
    pub(super) fn text(&self) -> Option<&str> {
        self.content().as_str()
    }

    /// The parts of a multimodal message.
    pub(super) fn parts(&self) -> Option<&Vec<Value>> {
        self.content().as_array()
    }

    /// A name that is set.
    pub(super) fn name(&self) -> Option<&str> {
        self.fields.get("name").and_then(Value::as_str).filter(|n| !n.is_empty())
    }

    /// The tool calls, when the field is a list.
    pub(super) fn tool_calls(&self) -> Option<&Vec<Value>> {
        self.fields.get("tool_calls").and_then(Value::as_array)
    }

    /// An error at this message.
    pub(super) fn error(&self, what: &'static str) -> Error {
        let path = self.from.first().map_or_else(String::new, |i| format!("messages[{i}]"));
        Error::new(Code::ProviderMessage, path, what)
    }

    /// `content.startsWith(prefix)`; on a list of parts the reference throws, with the fix the first text counts.
    pub(super) fn begins_with(&self, prefix: &str, fixes: Fixes) -> Result<bool, Error> {
        match self.content() {
            Value::String(text) => Ok(text.starts_with(prefix)),
            Value::Array(parts) if fixes.lists() => {
                Ok(parts.iter().find_map(part_text).is_some_and(|t| t.starts_with(prefix)))
            }
            _ if fixes.lists() => Ok(true), // nothing to put a name in front of
            _ => Err(self.error("a message with a name must have a text as content")),
        }
    }

    /// Whether the text begins with the label of a group member.
    fn begins_with_member(&self, names: &Names, fixes: Fixes) -> Result<bool, Error> {
        for member in &names.group {
            if self.begins_with(&label(member), fixes)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts a text in front of the content; of a list of parts: in front of its first text.
    pub(super) fn put_before(&mut self, prefix: &str) {
        let Some(content) = self.fields.get_mut("content") else { return };
        match content {
            Value::String(text) => text.insert_str(0, prefix),
            Value::Array(parts) => match parts.iter_mut().find(|p| part_text(p).is_some()) {
                Some(part) => {
                    let text = format!("{prefix}{}", part_text(part).unwrap_or(""));
                    if let Some(part) = part.as_object_mut() {
                        part.insert("text".into(), json!(text));
                    }
                }
                None => parts.insert(0, json!({"type": "text", "text": prefix})),
            },
            _ => {}
        }
    }

    /// `Name: ` in front, unless it is there.
    pub(super) fn label_once(&mut self, name: &str, fixes: Fixes) -> Result<bool, Error> {
        let prefix = label(name);
        if self.begins_with(&prefix, fixes)? {
            return Ok(false);
        }
        self.put_before(&prefix);
        Ok(true)
    }

    /// The speaker's label, unless the text begins with it or with that of a group member.
    pub(super) fn label_char(&mut self, names: &Names, fixes: Fixes) -> Result<(), Error> {
        if !names.char.is_empty()
            && !self.begins_with(&label(&names.char), fixes)?
            && !self.begins_with_member(names, fixes)?
        {
            self.put_before(&label(&names.char));
        }
        Ok(())
    }

    /// The example rule (spec 06 §1.3): dialogue examples get the user's or the character's label.
    pub(super) fn label_example(&mut self, names: &Names, fixes: Fixes) -> Result<(), Error> {
        if !self.is("system") {
            return Ok(());
        }
        match self.name() {
            Some("example_user") if !names.user.is_empty() => {
                self.label_once(&names.user, fixes)?;
            }
            Some("example_assistant") => self.label_char(names, fixes)?,
            _ => {}
        }
        Ok(())
    }
}

/// `Name: `.
pub(super) fn label(name: &str) -> String {
    format!("{name}: ")
}

/// The text of a text part.
pub(super) fn part_text(part: &Value) -> Option<&str> {
    if part.get("type")?.as_str()? != "text" {
        return None;
    }
    part.get("text")?.as_str()
}

/// The type of a part, empty when it has none.
pub(super) fn part_type(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or("")
}

/// MIME type and data of a data URL, cut where the reference cuts: between the first `:` and `;`, between the first and second
/// comma. `None` for a URL of another kind.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    if !url.starts_with("data:") {
        return None;
    }
    let head = url.split(';').next().unwrap_or("");
    let mime = head.split(':').nth(1).unwrap_or("");
    Some((mime, url.split(',').nth(1).unwrap_or("")))
}

/// The URL of a media part: `{type: "image_url", image_url: {url}}`.
pub(super) fn media_url(part: &Value) -> Option<&str> {
    part.get(part_type(part))?.get("url")?.as_str()
}

/// `Boolean(value)` of a field that may be absent.
pub(super) fn truthy(value: Option<&Value>) -> bool {
    value.is_some_and(js::to_boolean)
}

/// Appends one content to another with a blank line between texts; lists of parts stay lists.
pub(super) fn append_content(content: &mut Value, more: Value) {
    let as_parts = |content: Value| match content {
        Value::Array(parts) => parts,
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::Null => Vec::new(),
        other => vec![json!({"type": "text", "text": js::value_to_text(&other)})],
    };
    *content = match (content.take(), more) {
        (Value::String(mut a), Value::String(b)) => {
            if !a.is_empty() && !b.is_empty() {
                a.push_str("\n\n");
            }
            a.push_str(&b);
            Value::String(a)
        }
        (a, Value::Null) => a,
        (Value::Null, b) => b,
        (a, b) => {
            let mut parts = as_parts(a);
            parts.extend(as_parts(b));
            Value::Array(parts)
        }
    };
}

/// `content += "\n\n" + more` as JavaScript adds them, whatever they are.
pub(super) fn js_append(item: &mut Item, more: Option<&Value>) {
    let text = |content: Option<&Value>| content.map_or_else(|| "undefined".to_owned(), js::value_to_text);
    let more = text(more);
    if let Some(Value::String(own)) = item.fields.get_mut("content") {
        own.push_str("\n\n");
        own.push_str(&more);
        return;
    }
    let joined = format!("{}\n\n{more}", text(item.fields.get("content")));
    item.set("content", json!(joined));
}
