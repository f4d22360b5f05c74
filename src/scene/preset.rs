//! A chat-completion preset: one flat object of settings, the prompts, and their order (spec 02 §7).

use std::borrow::Cow;

use serde_json::Value;

use super::{Object, Reader};
use crate::js;
use crate::profile::{PROMPT_ORDER, Profile};

/// Names in a preset file and inside (spec 02 §7.5).
const RENAMED: &[(&str, &str)] = &[
    ("temperature", "temp_openai"),
    ("frequency_penalty", "freq_pen_openai"),
    ("presence_penalty", "pres_pen_openai"),
    ("top_p", "top_p_openai"),
    ("top_k", "top_k_openai"),
    ("top_a", "top_a_openai"),
    ("min_p", "min_p_openai"),
    ("repetition_penalty", "repetition_penalty_openai"),
];

/// Utility prompts and their built-in texts (spec 02 §2).
const UTILITY: &[(&str, &str)] = &[
    (
        "impersonation_prompt",
        "[Write your next reply from the point of view of {{user}}, using the chat history so far as a guideline for the writing style of {{user}}. Don't write as {{char}} or system. Don't describe actions of {{char}}.]",
    ),
    ("new_chat_prompt", "[Start a new Chat]"),
    ("new_group_chat_prompt", "[Start a new group chat. Group members: {{group}}]"),
    ("new_example_chat_prompt", "[Example Chat]"),
    ("continue_nudge_prompt", "[Continue your last message without repeating its original content.]"),
    ("group_nudge_prompt", "[Write the next reply only as {{char}}.]"),
    ("wi_format", "{0}"),
    ("scenario_format", "{{scenario}}"),
    ("personality_format", "{{personality}}"),
    ("continue_postfix", " "),
];

/// The twelve built-in prompts in default order: identifier, enabled, label, text (`None` on markers) (spec 02 §7.3).
const BUILT_IN: &[(&str, bool, &str, Option<&str>)] = &[
    (
        "main",
        true,
        "Main Prompt",
        Some("Write {{char}}'s next reply in a fictional chat between {{charIfNotGroup}} and {{user}}."),
    ),
    ("worldInfoBefore", true, "World Info (before)", None),
    ("personaDescription", true, "Persona Description", None),
    ("charDescription", true, "Char Description", None),
    ("charPersonality", true, "Char Personality", None),
    ("scenario", true, "Scenario", None),
    (
        "enhanceDefinitions",
        false,
        "Enhance Definitions",
        Some(
            "If you have more knowledge of {{char}}, add to the character's lore and personality to enhance them but keep the Character Sheet's definitions absolute.",
        ),
    ),
    ("nsfw", true, "Auxiliary Prompt", Some("")),
    ("worldInfoAfter", true, "World Info (after)", None),
    ("dialogueExamples", true, "Chat Examples", None),
    ("chatHistory", true, "Chat History", None),
    ("jailbreak", true, "Post-History Instructions", Some("")),
];

/// Whether an identifier is one of the twelve built-in ones.
pub fn is_built_in(identifier: &str) -> bool {
    BUILT_IN.iter().any(|(id, ..)| *id == identifier)
}

fn built_in_prompts() -> Vec<PromptEntry> {
    BUILT_IN
        .iter()
        .map(|(id, _, name, text)| PromptEntry {
            identifier: (*id).to_owned(),
            name: (*name).to_owned(),
            role: text.map(|_| Value::from("system")),
            content: text.map(str::to_owned),
            system_prompt: Some(true),
            marker: text.is_none(),
            ..PromptEntry::default()
        })
        .collect()
}

fn default_order() -> Vec<OrderEntry> {
    BUILT_IN
        .iter()
        .map(|(id, enabled, ..)| OrderEntry { identifier: (*id).to_owned(), enabled: *enabled })
        .collect()
}

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

/// One order list of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderList {
    /// `100001` is the list in force, `100000` an older one that ST keeps and never reads.
    pub character_id: String,
    /// Its lines.
    pub order: Vec<OrderEntry>,
}

/// Chat-completion settings under their internal names (`temp_openai`, not `temperature`), plus prompts and order.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Every key but `prompts` and `prompt_order`.
    pub values: Object,
    /// The prompts, built-in ones completed.
    pub prompts: Vec<PromptEntry>,
    /// All order lists of the file; [`Preset::order`] says which one is in force.
    pub orders: Vec<OrderList>,
}

impl Default for Preset {
    fn default() -> Self {
        Self { values: Object::new(), prompts: built_in_prompts(), orders: Vec::new() }
    }
}

impl Preset {
    /// Reads a preset file or settings object (spec 02 §7.2, §7.4, §7.5): names are made internal, old keys migrated, missing
    /// built-in prompts completed. Where a file has a key under both names, the internal one wins.
    pub fn from_value(value: &Value) -> Self {
        let Some(object) = value.as_object() else { return Self::default() };
        let r = Reader::new(object, "preset");
        let mut values = Object::new();
        for (key, value) in r.rest(&["prompts", "prompt_order"]) {
            let internal = RENAMED.iter().find(|(file, _)| *file == key).map(|(_, internal)| *internal);
            match internal {
                Some(name) if object.contains_key(name) => {}
                Some(name) => _ = values.insert(name.to_owned(), value),
                None => _ = values.insert(key, value),
            }
        }
        let mut prompts: Vec<_> = r.list("prompts").iter().filter_map(PromptEntry::from_value).collect();
        for (i, prompt) in prompts.iter_mut().enumerate().filter(|(_, p)| p.identifier.is_empty()) {
            // ST invents a random id; no order can name it either way, and ours repeats.
            prompt.identifier = format!("unnamed-{i}");
        }
        for built_in in built_in_prompts() {
            if !prompts.iter().any(|p| p.identifier == built_in.identifier) {
                prompts.push(built_in);
            }
        }
        let orders = r.list("prompt_order").iter().filter_map(OrderList::from_value).collect();
        let mut preset = Self { values, prompts, orders };
        preset.migrate();
        preset
    }

    /// Old keys and values (spec 02 §7.5). Model names stay as they are: ST renames those in its own settings only.
    fn migrate(&mut self) {
        let truthy = |values: &Object, key: &str| values.get(key).is_some_and(|v| v == &Value::Bool(true));
        if truthy(&self.values, "names_in_completion") && !self.values.contains_key("names_behavior") {
            self.values.insert("names_behavior".into(), Value::from(1));
        }
        if !self.values.contains_key("media_inlining") {
            if let Some(v @ Value::Bool(_)) = self.values.get("image_inlining").cloned() {
                self.values.insert("media_inlining".into(), v);
            }
            if truthy(&self.values, "video_inlining") || truthy(&self.values, "audio_inlining") {
                self.values.insert("media_inlining".into(), Value::Bool(true));
            }
        }
        if !self.values.contains_key("use_sysprompt")
            && (truthy(&self.values, "claude_use_sysprompt")
                || truthy(&self.values, "use_makersuite_sysprompt"))
        {
            self.values.insert("use_sysprompt".into(), Value::Bool(true));
        }
        for (key, old, new) in [
            ("custom_prompt_post_processing", "claude", "merge"),
            ("chat_completion_source", "palm", "makersuite"),
        ] {
            if self.values.get(key).and_then(Value::as_str) == Some(old) {
                self.values.insert(key.to_owned(), Value::from(new));
            }
        }
        if let Some(postfix) = self.values.get("continue_postfix").and_then(Value::as_str)
            && !["", " ", "\n", "\n\n"].contains(&postfix)
        {
            self.values.insert("continue_postfix".into(), Value::from(" "));
        }
        for (key, id) in [("main_prompt", "main"), ("nsfw_prompt", "nsfw"), ("jailbreak_prompt", "jailbreak")]
        {
            let Some(Value::String(text)) = self.values.shift_remove(key).filter(js::to_boolean) else {
                continue;
            };
            if let Some(prompt) = self.prompts.iter_mut().find(|p| p.identifier == id) {
                prompt.content = Some(text);
            }
        }
    }

    /// The order in force. ST reads the list of `100001` alone, an empty one included, and the default when there is none.
    /// With `prompt.order` on, the first that is not empty of: `100001`, `100000`, the only list, the default (spec 02 F-44).
    pub fn order(&self, profile: &Profile) -> Cow<'_, [OrderEntry]> {
        let of = |id: &str| self.orders.iter().find(|l| l.character_id == id).map(|l| l.order.as_slice());
        let found = if profile.on(&PROMPT_ORDER) {
            let only = match self.orders.as_slice() {
                [only] => Some(only.order.as_slice()),
                _ => None,
            };
            [of("100001"), of("100000"), only].into_iter().flatten().find(|l| !l.is_empty())
        } else {
            of("100001")
        };
        found.map_or_else(|| Cow::Owned(default_order()), Cow::Borrowed)
    }

    /// The first prompt with an identifier.
    pub fn prompt(&self, identifier: &str) -> Option<&PromptEntry> {
        self.prompts.iter().find(|p| p.identifier == identifier)
    }

    /// A utility prompt such as `new_chat_prompt`, or its built-in text (spec 02 §2).
    pub fn utility(&self, key: &str) -> &str {
        let default = UTILITY.iter().find(|(k, _)| *k == key).map_or("", |(_, text)| text);
        self.text(key, default)
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

impl OrderList {
    fn from_value(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let order = object.get("order")?.as_array()?;
        Some(Self {
            character_id: object.get("character_id").map(js::value_to_text).unwrap_or_default(),
            order: order
                .iter()
                .filter_map(|line| {
                    Some(OrderEntry {
                        identifier: line.get("identifier")?.as_str()?.to_owned(),
                        enabled: line.get("enabled").is_some_and(js::to_boolean),
                    })
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(order: &[OrderEntry]) -> Vec<&str> {
        order.iter().map(|e| e.identifier.as_str()).collect()
    }

    #[test]
    fn names_become_internal_and_old_keys_move() {
        let p = Preset::from_value(&json!({
            "temperature": 0.7, "temp_openai": 0.9, "top_k": 3, "names_in_completion": true, "image_inlining": false,
            "claude_use_sysprompt": true, "custom_prompt_post_processing": "claude", "chat_completion_source": "palm",
            "continue_postfix": "  ", "main_prompt": "主", "jailbreak_prompt": "",
        }));
        assert_eq!(p.number("temp_openai", 1.0), 0.9);
        assert_eq!(p.number("top_k_openai", 0.0), 3.0);
        assert_eq!(p.number("names_behavior", 0.0), 1.0);
        assert!(!p.flag("media_inlining", true) && p.flag("use_sysprompt", false));
        assert_eq!(p.text("custom_prompt_post_processing", ""), "merge");
        assert_eq!(p.text("chat_completion_source", ""), "makersuite");
        assert_eq!(p.utility("continue_postfix"), " ");
        assert_eq!(p.prompt("main").unwrap().content.as_deref(), Some("主"));
        assert_eq!(p.prompt("jailbreak").unwrap().content.as_deref(), Some(""));
        assert!(p.get("main_prompt").is_none() && p.get("temperature").is_none());
    }

    #[test]
    fn missing_built_in_prompts_come_back() {
        let p =
            Preset::from_value(&json!({"prompts": [{"identifier": "x", "content": "X"}, {"content": "Y"}]}));
        assert_eq!(p.prompts.len(), 14);
        assert!(p.prompt("main").unwrap().content.as_deref().unwrap().contains("{{charIfNotGroup}}"));
        assert!(p.prompts.iter().all(|p| !p.identifier.is_empty()));
    }

    #[test]
    fn the_order_in_force() {
        let (st, own) = (Profile::sillytavern(), Profile::promptside());
        let old = json!({"prompt_order": [{"character_id": 100_000, "order": [{"identifier": "main", "enabled": true}]}]});
        let p = Preset::from_value(&old);
        assert_eq!(p.order(&st).len(), 12, "100000 is never read");
        assert_eq!(ids(&p.order(&own)), ["main"]);
        let empty = json!({"prompt_order": [{"character_id": "100001", "order": []}]});
        let p = Preset::from_value(&empty);
        assert!(p.order(&st).is_empty(), "an empty list stays in force");
        assert_eq!(p.order(&own).len(), 12);
        let sole = json!({"prompt_order": [{"character_id": 7, "order": [{"identifier": "nsfw"}]}]});
        let p = Preset::from_value(&sole);
        assert_eq!(p.order(&st).len(), 12);
        assert_eq!(p.order(&own).as_ref(), [OrderEntry { identifier: "nsfw".into(), enabled: false }]);
    }
}
