//! A message as every provider family receives it, before conversion.

use serde_json::{Value, json};

use crate::error::{Code, Error};
use crate::scene::Object;

/// Whose voice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Instructions.
    #[default]
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

impl Role {
    /// The wire text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// From ST's number: 1 user, 2 assistant, anything else system.
    pub const fn from_number(n: i64) -> Self {
        match n {
            1 => Self::User,
            2 => Self::Assistant,
            _ => Self::System,
        }
    }
}

/// What the user asked for: the generation type (spec 02 §16).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A reply.
    #[default]
    Normal,
    /// Another version of the last reply.
    Swipe,
    /// The last reply (or batch) anew.
    Regenerate,
    /// More of the last message.
    Continue,
    /// A message in the user's name.
    Impersonate,
    /// A request beside the chat.
    Quiet,
}

impl Kind {
    /// The stable text, as in triggers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Swipe => "swipe",
            Self::Regenerate => "regenerate",
            Self::Continue => "continue",
            Self::Impersonate => "impersonate",
            Self::Quiet => "quiet",
        }
    }

    /// From its text; empty is normal.
    pub fn named(text: &str) -> Result<Self, Error> {
        Ok(match text {
            "" | "normal" => Self::Normal,
            "swipe" => Self::Swipe,
            "regenerate" => Self::Regenerate,
            "continue" => Self::Continue,
            "impersonate" => Self::Impersonate,
            "quiet" => Self::Quiet,
            other => {
                return Err(Error::new(
                    Code::OptionUnknown,
                    "kind",
                    format!(
                        "unknown generation type {other:?}; use normal, swipe, regenerate, continue, impersonate or quiet"
                    ),
                ));
            }
        })
    }
}

/// One neutral message (spec 06 §1.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Whose voice.
    pub role: Role,
    /// Text, or a list of parts, or nothing on a message that only calls tools.
    pub content: Option<Value>,
    /// `name` field.
    pub name: Option<String>,
    /// Tool calls of an assistant message.
    pub tool_calls: Option<Vec<Value>>,
    /// Which call a tool message answers.
    pub tool_call_id: Option<String>,
    /// Encrypted reasoning.
    pub signature: Option<String>,
    /// Plain reasoning on tool-call messages.
    pub reasoning: Option<String>,
}

impl Message {
    /// A text message.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, content: Some(Value::String(text.into())), ..Self::default() }
    }

    /// The text content; empty when it is a list of parts or absent.
    pub fn content_text(&self) -> &str {
        self.content.as_ref().and_then(Value::as_str).unwrap_or("")
    }

    /// The JSON form, keys in the reference's order (spec 02 §15.1).
    pub fn to_value(&self) -> Value {
        let mut o = Object::new();
        o.insert("role".into(), json!(self.role.as_str()));
        let optional = [
            ("content", self.content.clone()),
            ("name", self.name.clone().map(Value::String)),
            ("tool_calls", self.tool_calls.clone().map(Value::Array)),
            ("tool_call_id", self.tool_call_id.clone().map(Value::String)),
            ("signature", self.signature.clone().map(Value::String)),
            ("reasoning", self.reasoning.clone().map(Value::String)),
        ];
        o.extend(optional.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))));
        Value::Object(o)
    }
}
