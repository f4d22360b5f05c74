//! The chat: header metadata and messages, as a JSONL file holds them (spec 01 §2, spec 08 §5).

use serde_json::{Value, json};

use super::{Object, Reader};
use crate::error::{Code, Error};

/// One message.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the file format")]
pub struct ChatMessage {
    /// Display and prefix name.
    pub name: String,
    /// Written by the user.
    pub is_user: bool,
    /// Hidden from prompts.
    pub is_system: bool,
    /// The file says `is_system` although it is false (replies that ST has just made do not).
    pub states_visible: bool,
    /// The text.
    pub mes: String,
    /// When it was sent, in any of ST's forms.
    pub send_date: Option<Value>,
    /// An avatar of its own; its presence forces name prefixes outside groups.
    pub force_avatar: Option<Value>,
    /// The id of the member who wrote it: the identity used by swipe, continue and pooled.
    pub original_avatar: Option<String>,
    /// Extra data (`type`, `bias`, `reasoning`, `media`, `tool_invocations` …). `None` when the message has none.
    pub extra: Option<Object>,
    /// Alternative texts.
    pub swipes: Option<Vec<Value>>,
    /// Which of them is shown.
    pub swipe_id: Option<Value>,
    /// Data of each alternative.
    pub swipe_info: Option<Vec<Value>>,
    /// Ghosted for one request by the host; never saved.
    pub ignore: bool,
    /// Everything else, untouched.
    pub rest: Object,
}

impl ChatMessage {
    const KNOWN: &'static [&'static str] = &[
        "name",
        "is_user",
        "is_system",
        "mes",
        "send_date",
        "force_avatar",
        "original_avatar",
        "extra",
        "swipes",
        "swipe_id",
        "swipe_info",
        "ignore",
    ];

    /// Reads one message of a chat file.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        let Some(object) = value.as_object() else {
            return Err(Error::new(Code::SceneField, "", "a chat message must be a JSON object"));
        };
        let mut r = Reader::new(object, "");
        Ok(Self {
            name: r.text("name"),
            is_user: r.flag("is_user", false),
            is_system: r.flag("is_system", false),
            states_visible: object.contains_key("is_system"),
            mes: message_text(object).map_or_else(|| r.text("mes"), str::to_owned),
            send_date: r.raw("send_date").cloned(),
            force_avatar: r.raw("force_avatar").cloned(),
            original_avatar: r.text_opt("original_avatar"),
            extra: object.get("extra").and_then(Value::as_object).cloned().map(migrated_extra),
            swipes: object.get("swipes").and_then(Value::as_array).cloned(),
            swipe_id: r.raw("swipe_id").cloned(),
            swipe_info: object.get("swipe_info").and_then(Value::as_array).cloned(),
            ignore: r.flag("ignore", false),
            rest: r.rest(Self::KNOWN),
        })
    }

    /// The message as a chat file holds it.
    pub fn to_value(&self) -> Value {
        let mut o = Object::new();
        o.insert("name".into(), json!(self.name));
        o.insert("is_user".into(), json!(self.is_user));
        if self.is_system || self.states_visible {
            o.insert("is_system".into(), json!(self.is_system));
        }
        if let Some(v) = &self.send_date {
            o.insert("send_date".into(), v.clone());
        }
        o.insert("mes".into(), json!(self.mes));
        let optional = [
            ("extra", self.extra.clone().map(Value::Object)),
            ("force_avatar", self.force_avatar.clone()),
            ("original_avatar", self.original_avatar.clone().map(Value::String)),
            ("swipes", self.swipes.clone().map(Value::Array)),
            ("swipe_id", self.swipe_id.clone()),
            ("swipe_info", self.swipe_info.clone().map(Value::Array)),
        ];
        o.extend(optional.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))));
        o.extend(self.rest.clone());
        Value::Object(o)
    }

    /// A field of `extra`.
    pub fn extra(&self, key: &str) -> Option<&Value> {
        self.extra.as_ref()?.get(key)
    }

    /// System-voiced message of `/sys`.
    pub fn is_narrator(&self) -> bool {
        self.extra("type").and_then(Value::as_str) == Some("narrator")
    }
}

/// The text of a message whose `mes` is an object, as one card site writes it (spec 08 §5.4).
pub fn message_text(message: &Object) -> Option<&str> {
    message.get("mes")?.get("message")?.as_str()
}

/// `extra` with the attachments of old files in today's lists: `file` -> `files[]`, `image`, `image_swipes` and `video` ->
/// `media[]` (spec 08 §5.2). Lists that are there stay as they are.
fn migrated_extra(mut extra: Object) -> Object {
    if !extra.contains_key("files")
        && let Some(file) = extra.shift_remove("file").filter(Value::is_object)
    {
        extra.insert("files".to_owned(), json!([file]));
    }
    if extra.contains_key("media") {
        return extra;
    }
    let mut take = |key: &str| match extra.shift_remove(key) {
        Some(Value::String(url)) if !url.is_empty() => Some(url),
        _ => None,
    };
    let (image, video) = (take("image"), take("video"));
    let swipes = match extra.shift_remove("image_swipes") {
        Some(Value::Array(list)) => list.into_iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    let shown = image.as_ref().and_then(|url| swipes.iter().position(|s| s == url));
    let images = if shown.is_some() { swipes } else { image.into_iter().collect() };
    let several = images.len() > 1;
    let mut media: Vec<Value> = images.iter().map(|url| json!({"url": url, "type": "image"})).collect();
    media.extend(video.map(|url| json!({"url": url, "type": "video"})));
    if !media.is_empty() {
        extra.insert("media".to_owned(), Value::Array(media));
    }
    if let Some(shown) = shown.filter(|_| several) {
        // One of several pictures was shown; the others stay behind it.
        extra.insert("media_display".to_owned(), json!("gallery"));
        extra.insert("media_index".to_owned(), json!(shown));
    }
    extra
}

/// A chat: id, header metadata, messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chat {
    /// File name without extension; seeds `{{pick}}`.
    pub id: String,
    /// The header's `chat_metadata`.
    pub metadata: Object,
    /// Oldest first.
    pub messages: Vec<ChatMessage>,
}

impl Chat {
    /// Reads a list of messages, or `{id, metadata, messages}`; what the reader of files gives (`header` with `chat_metadata`) is
    /// read too.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        let (list, id, metadata) = match value {
            Value::Array(list) => (list.as_slice(), String::new(), Object::new()),
            Value::Object(o) => {
                let mut r = Reader::new(o, "chat");
                let header = o.get("header").and_then(|h| h.get("chat_metadata")).and_then(Value::as_object);
                let metadata = r.object("metadata").or(header).cloned().unwrap_or_default();
                (r.list("messages"), r.text("id"), metadata)
            }
            _ => {
                return Err(Error::new(
                    Code::SceneField,
                    "chat",
                    "a chat must be a list of messages or an object",
                ));
            }
        };
        let messages = list
            .iter()
            .enumerate()
            .map(|(i, m)| ChatMessage::from_value(m).map_err(|e| e.under(&format!("chat[{i}]"))))
            .collect::<Result<_, _>>()?;
        Ok(Self { id, metadata, messages })
    }

    /// `{id, metadata, messages}`, which [`Chat::from_value`] reads and `files::write_chat` writes.
    pub fn to_value(&self) -> Value {
        let messages: Vec<Value> = self.messages.iter().map(ChatMessage::to_value).collect();
        json!({"id": self.id, "metadata": self.metadata, "messages": messages})
    }

    /// A text of the metadata; empty when absent or no text.
    pub fn meta_text(&self, key: &str) -> &str {
        self.metadata.get(key).and_then(Value::as_str).unwrap_or("")
    }
}
