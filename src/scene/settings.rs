//! User settings that are not part of a preset (ST: `power_user`), under their public names.

use serde_json::Value;

use super::{Object, Reader};

/// How stored reasoning returns into the prompt (spec 02 §3.4).
#[derive(Clone, Debug, PartialEq)]
pub struct Reasoning {
    /// Put it back at all.
    pub add_to_prompts: bool,
    /// At most this many messages.
    pub max_additions: i64,
    /// A block of it at the start of a reply is taken out.
    pub auto_parse: bool,
    /// Text before it.
    pub prefix: String,
    /// Text after it.
    pub suffix: String,
    /// Text between it and the message.
    pub separator: String,
}

impl Default for Reasoning {
    fn default() -> Self {
        Self {
            add_to_prompts: false,
            max_additions: 1,
            auto_parse: false,
            prefix: "<think>".to_owned(),
            suffix: "</think>".to_owned(),
            separator: "\n".to_owned(),
        }
    }
}

/// Settings of the user. Defaults are those of a first start of ST 1.19.0 (spec 01 §15, spec 02 §2).
#[expect(
    clippy::struct_excessive_bools,
    reason = "these are the switches of a settings page, named as users know them"
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Runs of line feeds become one.
    pub collapse_newlines: bool,
    /// Examples are taken before the history.
    pub pin_examples: bool,
    /// No examples at all.
    pub strip_examples: bool,
    /// Cut an unfinished last sentence of a reply.
    pub trim_sentences: bool,
    /// Trim replies (default true).
    pub trim_spaces: bool,
    /// Text completion: end the prompt with the speaker's name.
    pub always_force_name2: bool,
    /// "Start reply with".
    pub user_prompt_bias: String,
    /// Keep the user's label in replies.
    pub allow_name1_display: bool,
    /// Keep the speaker's label in replies.
    pub allow_name2_display: bool,
    /// Repair emphasis marks of a reply.
    pub auto_fix_generated_markdown: bool,
    /// JSON array text.
    pub custom_stopping_strings: String,
    /// Expand macros in them (default true).
    pub custom_stopping_strings_macro: bool,
    /// Do not cut replies at other members' labels.
    pub disable_group_trimming: bool,
    /// The card's main prompt replaces the preset's (default true).
    pub prefer_character_prompt: bool,
    /// The card's post-history instructions replace the preset's (default true).
    pub prefer_character_jailbreak: bool,
    /// An empty send continues the last reply.
    pub continue_on_send: bool,
    /// Text completion: one line a reply.
    pub single_line: bool,
    /// The newer macro engine (default true).
    pub experimental_macro_engine: bool,
    /// Reasoning in prompts.
    pub reasoning: Reasoning,
    /// The whole object, for what is not listed here.
    pub power_user: Object,
    /// ST: `extension_settings` (author's note defaults, character notes, memory, vectors).
    pub extensions: Object,
    /// ST: `world_info_settings`.
    pub world_info: Object,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            collapse_newlines: false,
            pin_examples: false,
            strip_examples: false,
            trim_sentences: false,
            trim_spaces: true,
            always_force_name2: true,
            user_prompt_bias: String::new(),
            allow_name1_display: false,
            allow_name2_display: false,
            auto_fix_generated_markdown: false,
            custom_stopping_strings: String::new(),
            custom_stopping_strings_macro: true,
            disable_group_trimming: false,
            prefer_character_prompt: true,
            prefer_character_jailbreak: true,
            continue_on_send: false,
            single_line: false,
            experimental_macro_engine: true,
            reasoning: Reasoning::default(),
            power_user: Object::new(),
            extensions: Object::new(),
            world_info: Object::new(),
        }
    }
}

impl Settings {
    /// Reads `{power_user, extensions, world_info}`; everything is optional.
    pub fn from_value(value: &Value) -> Self {
        let part = |key: &str| value.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
        let power_user = part("power_user");
        let base = Self::default();
        let mut r = Reader::new(&power_user, "settings.power_user");
        let reasoning = r.object("reasoning").map_or_else(Reasoning::default, |o| {
            let mut r = Reader::new(o, "settings.power_user.reasoning");
            let base = Reasoning::default();
            Reasoning {
                add_to_prompts: r.flag("add_to_prompts", false),
                max_additions: r.integer("max_additions", 1),
                auto_parse: r.flag("auto_parse", false),
                prefix: r.text_opt("prefix").unwrap_or(base.prefix),
                suffix: r.text_opt("suffix").unwrap_or(base.suffix),
                separator: r.text_opt("separator").unwrap_or(base.separator),
            }
        });
        Self {
            collapse_newlines: r.flag("collapse_newlines", base.collapse_newlines),
            pin_examples: r.flag("pin_examples", base.pin_examples),
            strip_examples: r.flag("strip_examples", base.strip_examples),
            trim_sentences: r.flag("trim_sentences", base.trim_sentences),
            trim_spaces: r.flag("trim_spaces", base.trim_spaces),
            always_force_name2: r.flag("always_force_name2", base.always_force_name2),
            user_prompt_bias: r.text("user_prompt_bias"),
            allow_name1_display: r.flag("allow_name1_display", base.allow_name1_display),
            allow_name2_display: r.flag("allow_name2_display", base.allow_name2_display),
            auto_fix_generated_markdown: r
                .flag("auto_fix_generated_markdown", base.auto_fix_generated_markdown),
            custom_stopping_strings: r.text("custom_stopping_strings"),
            custom_stopping_strings_macro: r
                .flag("custom_stopping_strings_macro", base.custom_stopping_strings_macro),
            disable_group_trimming: r.flag("disable_group_trimming", base.disable_group_trimming),
            prefer_character_prompt: r.flag("prefer_character_prompt", base.prefer_character_prompt),
            prefer_character_jailbreak: r.flag("prefer_character_jailbreak", base.prefer_character_jailbreak),
            continue_on_send: r.flag("continue_on_send", base.continue_on_send),
            single_line: r.flag("single_line", base.single_line),
            experimental_macro_engine: r.flag("experimental_macro_engine", base.experimental_macro_engine),
            reasoning,
            power_user: power_user.clone(),
            extensions: part("extensions"),
            world_info: part("world_info"),
        }
    }
}
