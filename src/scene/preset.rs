//! A chat-completion preset: one flat object of settings, the prompts, and their order (spec 02 §7).

use serde_json::Value;

use super::{Object, Reader};
use crate::js;

/// One prompt of the prompt manager (spec 02 §7.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptEntry {
    /// Unique id; the twelve built-in ones have meanings.
    pub identifier: String,
    /// Label, never sent.
    pub name: String,
    /// As given: `system`, `user`, `assistant`, absent, or anything.
    pub role: Option<Value>,
    /// Text with macros; `None` on markers.
    pub content: Option<String>,
    /// True = built-in, exactly false = the user's; absent counts as neither (spec 02 F-15).
    pub system_prompt: Option<bool>,
    /// Content comes from elsewhere.
    pub marker: bool,
    /// 0 relative, 1 in chat; compared strictly as a number, so kept as given.
    pub injection_position: Option<Value>,
    /// Depth for in-chat injection.
    pub injection_depth: Option<Value>,
    /// Order inside one depth (default 100).
    pub injection_order: Option<Value>,
    /// Generation types that use it; empty or absent = all.
    pub injection_trigger: Vec<String>,
    /// Blocks card overrides.
    pub forbid_overrides: bool,
}

/// A line of the prompt order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderEntry {
    /// Which prompt.
    pub identifier: String,
    /// Whether it is sent.
    pub enabled: bool,
}

/// Chat-completion settings under their internal names (`temp_openai`, not `temperature`), plus prompts and order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preset {
    /// Every key but `prompts` and `prompt_order`.
    pub values: Object,
    /// The prompts, built-in ones completed.
    pub prompts: Vec<PromptEntry>,
    /// The order that is in force; see spec 02 §7.2.
    pub order: Vec<OrderEntry>,
}

impl Preset {
    /// Reads a preset file or settings object (spec 02 §7.2, §7.4, §7.5).
    pub fn from_value(value: &Value) -> Self {
        let Some(object) = value.as_object() else { return Self::default() };
        let r = Reader::new(object, "preset");
        Self {
            values: r.rest(&["prompts", "prompt_order"]),
            prompts: r.list("prompts").iter().filter_map(PromptEntry::from_value).collect(),
            order: Vec::new(),
        }
    }

    /// A setting, absent or not.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// A text setting, or the default.
    pub fn text<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        self.values.get(key).and_then(Value::as_str).unwrap_or(default)
    }

    /// A numeric setting through `Number()`, or the default when absent or null.
    pub fn number(&self, key: &str, default: f64) -> f64 {
        match self.values.get(key) {
            None | Some(Value::Null) => default,
            Some(v) => js::value_to_number(v),
        }
    }

    /// A flag by JavaScript truth, or the default when absent.
    pub fn flag(&self, key: &str, default: bool) -> bool {
        self.values.get(key).map_or(default, js::to_boolean)
    }
}

impl PromptEntry {
    /// Reads one entry of `prompts[]`.
    pub fn from_value(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let mut r = Reader::new(object, "");
        Some(Self {
            identifier: r.text("identifier"),
            name: r.text("name"),
            role: r.raw("role").cloned(),
            content: r.text_opt("content"),
            system_prompt: r.raw("system_prompt").and_then(Value::as_bool),
            marker: r.flag("marker", false),
            injection_position: r.raw("injection_position").cloned(),
            injection_depth: r.raw("injection_depth").cloned(),
            injection_order: r.raw("injection_order").cloned(),
            injection_trigger: r.texts("injection_trigger"),
            forbid_overrides: r.raw("forbid_overrides") == Some(&Value::Bool(true)),
        })
    }
}
