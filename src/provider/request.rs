//! The HTTP request as data. The key is never in it: [`Auth`] says where it belongs and the caller fills it in.

use serde::Serialize;
use serde_json::{Value, json};

use super::config::{Config, Fixes, Frame, Names};
use super::item::truthy;
use crate::error::Warning;
use crate::js;
use crate::models::Source;
use crate::scene::Object;

/// Which secret a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Secret {
    /// The provider's API key.
    Key,
    /// An OAuth access token (Vertex AI with a service account).
    Token,
    /// The password of the user's reverse proxy.
    ProxyPassword,
}

impl Secret {
    /// The stable text; also the placeholder in braces that printed requests show.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Key => "KEY",
            Self::Token => "TOKEN",
            Self::ProxyPassword => "PROXY_PASSWORD",
        }
    }
}

/// Where the secret belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Place {
    /// In a header, behind a prefix such as `Bearer `.
    Header {
        /// Header name.
        #[serde(rename = "header")]
        name: &'static str,
        /// Text before the secret.
        prefix: &'static str,
    },
    /// As the first query parameter of the URL, percent-encoded.
    Query {
        /// Parameter name.
        #[serde(rename = "query")]
        name: &'static str,
    },
}

/// How a request is authorised. In JSON: `{secret, header, prefix}` or `{secret, query}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Auth {
    /// Which secret.
    pub secret: Secret,
    /// Where it goes.
    #[serde(flatten)]
    pub place: Place,
}

impl Auth {
    /// `Authorization: Bearer …`.
    pub(super) const fn bearer(secret: Secret) -> Self {
        Self { secret, place: Place::Header { name: "Authorization", prefix: "Bearer " } }
    }

    /// A header that holds nothing but the secret.
    pub(super) const fn header(name: &'static str, secret: Secret) -> Self {
        Self { secret, place: Place::Header { name, prefix: "" } }
    }
}

/// One call, ready but for the secret.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who answers; tells how to read the answer.
    pub source: Source,
    /// Always `POST`.
    pub method: &'static str,
    /// Without the secret.
    pub url: String,
    /// Without the secret, in order.
    pub headers: Vec<(String, String)>,
    /// Where the secret belongs; `None` when the endpoint takes none or the user's own headers carry it.
    pub auth: Option<Auth>,
    /// The JSON body, keys in the reference's order.
    pub body: Object,
    /// Whether the answer will be an event stream.
    pub stream: bool,
    /// For each message (content, turn) of the body: the indices of the input messages in it.
    pub origins: Vec<Vec<usize>>,
    /// For each block of a separate system field: the same.
    pub system_origins: Vec<Vec<usize>>,
    /// White space taken off a begun reply; it belongs between that text and the answer.
    pub trimmed: String,
    /// What was left out or changed for this provider.
    pub notes: Vec<Warning>,
}

impl Request {
    /// The body's text, as `JSON.stringify` writes it.
    pub fn body_text(&self) -> String {
        let mut out = String::from("{");
        for (i, (key, value)) in self.body.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(&js::stringify(&Value::String(key.clone())));
            out.push(':');
            out.push_str(&js::stringify(value));
        }
        out.push('}');
        out
    }

    /// The begun reply that the provider will repeat at the head of its answer; empty for none. Mistral does (F16).
    pub fn echoed(&self) -> &str {
        let messages = self.body.get("messages").and_then(Value::as_array);
        let last = messages.and_then(|m| m.last()).filter(|_| self.source == Source::MistralAi);
        let begun = last.filter(|m| m.get("prefix").is_some_and(|p| p == true));
        begun.and_then(|m| m.get("content")?.as_str()).unwrap_or("")
    }

    /// URL and headers with a secret in its place (or a placeholder, to show it).
    pub fn with_secret(&self, secret: &str) -> (String, Vec<(String, String)>) {
        let (mut url, mut headers) = (self.url.clone(), self.headers.clone());
        match self.auth.as_ref().map(|a| &a.place) {
            Some(Place::Header { name, prefix }) => {
                headers.push(((*name).to_owned(), format!("{prefix}{secret}")));
            }
            Some(Place::Query { name }) => {
                let (path, query) = url.split_once('?').unwrap_or((&url, ""));
                let rest = if query.is_empty() { String::new() } else { format!("&{query}") };
                url = format!("{path}?{name}={secret}{rest}");
            }
            None => {}
        }
        (url, headers)
    }
}

/// What every family builds from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ctx<'a> {
    pub(super) payload: &'a Object,
    pub(super) source: Source,
    pub(super) model: &'a str,
    pub(super) names: &'a Names,
    pub(super) config: &'a Config,
    pub(super) fixes: Fixes,
    /// `json_schema` of the request, its `value` flattened.
    pub(super) schema: Option<&'a Object>,
}

impl<'a> Ctx<'a> {
    /// What the steps on messages are told.
    pub(super) fn frame(&self) -> Frame<'a> {
        Frame {
            names: self.names,
            placeholder: &self.config.placeholder,
            labels: self.config.names,
            fixes: self.fixes,
        }
    }

    /// A field that is present.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.payload.get(key)
    }

    /// `Boolean(field)`.
    pub(super) fn on(&self, key: &str) -> bool {
        truthy(self.payload.get(key))
    }

    /// A text field, empty when it is none.
    pub(super) fn text(&self, key: &str) -> &'a str {
        self.payload.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// The reasoning effort. The reference takes a missing one for the least; with the fix it is the model's to choose.
    pub(super) fn effort(&self) -> &'a str {
        match self.text("reasoning_effort") {
            "" if self.fixes.fields => "auto",
            effort => effort,
        }
    }

    /// A list field, empty when it is none.
    pub(super) fn list(&self, key: &str) -> &'a [Value] {
        self.payload.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Copies fields that are present, in this order, under their own names.
    pub(super) fn copy(&self, body: &mut Object, keys: &[&str]) {
        for key in keys {
            self.copy_as(body, key, key);
        }
    }

    /// Copies one field under another name.
    pub(super) fn copy_as(&self, body: &mut Object, to: &str, from: &str) {
        if let Some(value) = self.payload.get(from) {
            body.insert(to.to_owned(), value.clone());
        }
    }

    /// The value of the schema that the answer must follow.
    pub(super) fn schema_value(&self) -> Option<&'a Value> {
        self.schema.map(|s| s.get("value").unwrap_or(&Value::Null))
    }

    /// `{name, …}` of the schema in a given key order; absent fields are left out, `strict` is true by default.
    pub(super) fn schema_form(&self, keys: &[&str]) -> Option<Value> {
        let schema = self.schema?;
        let mut form = Object::new();
        for key in keys {
            let value = match *key {
                "schema" => schema.get("value").cloned(),
                "strict" => {
                    Some(schema.get("strict").filter(|v| !v.is_null()).cloned().unwrap_or(json!(true)))
                }
                other => schema.get(other).cloned(),
            };
            if let Some(value) = value {
                form.insert((*key).to_owned(), value);
            }
        }
        Some(json!({"type": "json_schema", "json_schema": form}))
    }
}

/// A request under construction.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) auth: Option<Auth>,
    pub(super) body: Object,
    pub(super) origins: Vec<Vec<usize>>,
    pub(super) system_origins: Vec<Vec<usize>>,
    pub(super) trimmed: String,
    pub(super) notes: Vec<Warning>,
}

impl Draft {
    pub(super) fn new(url: String, auth: Option<Auth>) -> Self {
        Self {
            url,
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            auth,
            body: Object::new(),
            origins: Vec::new(),
            system_origins: Vec::new(),
            trimmed: String::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn header(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub(super) fn put(&mut self, key: &str, value: Value) {
        self.body.insert(key.to_owned(), value);
    }

    /// Says that media were left out, if any were.
    pub(super) fn lost(&mut self, media: usize) {
        if media > 0 {
            self.note("media-dropped", "messages", "media that the provider does not take were left out");
        }
    }

    pub(super) fn note(&mut self, code: &'static str, path: &str, what: &str) {
        self.notes.push(Warning::new(code, path, what));
    }
}
