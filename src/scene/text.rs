//! Text completion: which backend, and the templates in force (spec 07 §1-4, §11.5).
//!
//! `{api, textgen, kobold, context, instruct, sysprompt, reasoning}` of a scene and the user's `power_user` settings in; the
//! settings with the templates applied, and the same typed, out. Knows no prompt.

use serde_json::{Value, json};

use super::template::{normal_context, normal_instruct};
use super::{Object, Reader};
use crate::error::Warning;
use crate::js;

/// Which of the two families of interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextApi {
    /// The text-completion backends, local and hosted.
    #[default]
    Textgen,
    /// KoboldAI Classic.
    Kobold,
}

/// A text-completion request's settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextSetup {
    /// Which family.
    pub api: TextApi,
    /// Backend type: `koboldcpp`, `llamacpp`, `ooba` … (default `ooba`); `kobold` for KoboldAI Classic.
    pub backend: String,
    /// The chosen model; `None` for none.
    pub model: Option<String>,
    /// What the server says it runs; stored with replies (default: the model).
    pub status: Option<String>,
    /// Base URL of the user's own server.
    pub server: String,
    /// Replies come as a stream.
    pub streaming: bool,
    /// Context size, tokens (default 8192).
    pub max_context: i64,
    /// Response length, tokens (default 300).
    pub response_length: i64,
    /// Sampler settings, under the names of preset files.
    pub settings: Object,
    /// What a KoboldAI server's version supports; missing ones count as supported.
    pub flags: Object,
    /// The context template.
    pub context: ContextTemplate,
    /// The instruct template.
    pub instruct: InstructTemplate,
    /// The system prompt.
    pub system: SystemPrompt,
    /// Added to counts where the reference does so (default 64; may be negative).
    pub padding: i64,
    /// Token probabilities are wanted.
    pub probabilities: bool,
}

/// Where the story string goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoryPlace {
    /// At the top.
    #[default]
    Top,
    /// In the chat: messages behind it, and role.
    InChat(i64, i64),
}

/// A context template (spec 07 §2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextTemplate {
    /// Handlebars template.
    pub story_string: String,
    /// Line in front of the chat.
    pub chat_start: String,
    /// Heading of each example block.
    pub example_separator: String,
    /// Where the story string goes.
    pub place: StoryPlace,
}

/// Who is named in front of a message (spec 07 §4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamesBehavior {
    /// Nobody.
    None,
    /// Others than the user in groups, and past personas.
    #[default]
    Force,
    /// Everyone.
    Always,
}

/// An instruct template (spec 07 §4.1).
#[expect(clippy::struct_excessive_bools, reason = "the fields of a file that others define")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructTemplate {
    /// Instruct mode is on.
    pub enabled: bool,
    /// In front of the user's messages.
    pub input_sequence: String,
    /// Behind them.
    pub input_suffix: String,
    /// In front of the character's messages.
    pub output_sequence: String,
    /// Behind them.
    pub output_suffix: String,
    /// In front of narration.
    pub system_sequence: String,
    /// Behind it.
    pub system_suffix: String,
    /// Narration goes as the user's.
    pub system_same_as_user: bool,
    /// For the first message, when it is the user's.
    pub first_input_sequence: String,
    /// For the user's last message.
    pub last_input_sequence: String,
    /// For the first message, when it is the character's.
    pub first_output_sequence: String,
    /// For the line that the model continues.
    pub last_output_sequence: String,
    /// The same for instructions beside the chat.
    pub last_system_sequence: String,
    /// In front of the story string.
    pub story_string_prefix: String,
    /// Behind it.
    pub story_string_suffix: String,
    /// A line feed between a sequence and its text.
    pub wrap: bool,
    /// Macros in sequences are expanded.
    pub macros: bool,
    /// Who is named.
    pub names: NamesBehavior,
    /// A turn of the user's in front of a chat that begins with the character.
    pub user_alignment_message: String,
    /// Example dialogue stays as it is.
    pub skip_examples: bool,
}

/// A system prompt (spec 07 §3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    /// It is used, and the card's own too.
    pub enabled: bool,
    /// The text.
    pub content: String,
    /// What follows the chat.
    pub post_history: String,
}

/// The story string of fresh settings.
const STORY: &str = "{{#if system}}{{system}}\n{{/if}}{{#if description}}{{description}}\n{{/if}}{{#if personality}}{{char}}'s personality: {{personality}}\n{{/if}}{{#if scenario}}Scenario: {{scenario}}\n{{/if}}{{#if persona}}{{persona}}\n{{/if}}";

/// The system prompt of fresh settings.
pub const SYSTEM_PROMPT: &str =
    "Write {{char}}'s next reply in a fictional chat between {{char}} and {{user}}.";

/// Settings that live outside the context template and are stored in it.
const GLOBAL: [&str; 3] = ["always_force_name2", "trim_sentences", "single_line"];

impl TextSetup {
    /// Applies the templates of a scene's `text` to the user's settings and reads what is then in force.
    pub fn apply(text: &Object, power_user: &mut Object) -> (Self, Vec<Warning>) {
        let mut warnings = Vec::new();
        let part = |key: &str| text.get(key).and_then(Value::as_object);
        apply_context(part("context"), power_user, &mut warnings);
        apply_instruct(part("instruct"), power_user, &mut warnings);
        apply_system(part("sysprompt"), power_user);
        if let Some(reasoning) = part("reasoning") {
            merge(power_user, "reasoning", reasoning.clone());
        }
        let api = if text.get("api").and_then(Value::as_str) == Some("kobold") {
            TextApi::Kobold
        } else {
            TextApi::Textgen
        };
        let key = if api == TextApi::Kobold { "kobold" } else { "textgen" };
        let empty = Object::new();
        let mut r = Reader::new(part(key).unwrap_or(&empty), format!("text.{key}"));
        let settings = r.object("settings").cloned().unwrap_or_default();
        let backend = match api {
            TextApi::Kobold => "kobold".to_owned(),
            TextApi::Textgen => r.text_opt("type").unwrap_or_else(|| "ooba".to_owned()),
        };
        let filled = |text: &String| !text.is_empty();
        let model = r.text_opt("model").filter(filled).or_else(|| {
            let key = if backend == "ooba" { "custom_model".to_owned() } else { format!("{backend}_model") };
            settings.get(&key).and_then(Value::as_str).map(str::to_owned).filter(filled)
        });
        let object = |key: &str| power_user.get(key).and_then(Value::as_object).unwrap_or(&empty);
        let setup = Self {
            api,
            model,
            status: r.text_opt("status"),
            server: r.text_opt("server").unwrap_or_else(|| "http://127.0.0.1:5000".to_owned()),
            streaming: r.flag("streaming", false),
            max_context: r.integer("max_context", 8192),
            response_length: r.integer("response_length", 300),
            flags: r.object("flags").cloned().unwrap_or_default(),
            context: ContextTemplate::of(object("context")),
            instruct: InstructTemplate::of(object("instruct")),
            system: SystemPrompt::of(object("sysprompt")),
            padding: Reader::new(power_user, "").integer("token_padding", 64),
            probabilities: Reader::new(power_user, "").flag("request_token_probabilities", false),
            backend,
            settings,
        };
        warnings.extend(r.into_warnings());
        (setup, warnings)
    }
}

fn merge(power_user: &mut Object, key: &str, over: Object) {
    let mut base = power_user.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    base.extend(over);
    js::put(power_user, key, Value::Object(base));
}

fn apply_context(template: Option<&Object>, power_user: &mut Object, warnings: &mut Vec<Warning>) {
    let fresh = json!({
        "story_string": STORY, "chat_start": "***", "example_separator": "***", "use_stop_strings": true,
        "names_as_stop_strings": true, "story_string_position": 0, "story_string_depth": 1, "story_string_role": 0,
    });
    let mut now = fresh.as_object().cloned().unwrap_or_default();
    if let Some(stored) = power_user.get("context").and_then(Value::as_object) {
        let old = stored.contains_key("story_string") && !stored.contains_key("story_string_position");
        now.extend(if old { normal_context(stored, "power_user.context").0 } else { stored.clone() });
    }
    if let Some(template) = template {
        let (mut normal, notes) = normal_context(template, "text.context");
        warnings.extend(notes);
        for key in GLOBAL {
            if let Some(value) = normal.shift_remove(key) {
                js::put(power_user, key, value);
            }
        }
        now.extend(normal);
    }
    js::put(power_user, "context", Value::Object(now));
}

fn apply_instruct(template: Option<&Object>, power_user: &mut Object, warnings: &mut Vec<Warning>) {
    let mut now = power_user.get("instruct").and_then(Value::as_object).cloned().unwrap_or_default();
    // Before there were system prompts of their own, one stood in the instruct settings (spec 07 §3).
    if let Some(content) = now.shift_remove("system_prompt").filter(js::to_boolean) {
        let enabled = now.get("enabled").is_some_and(js::to_boolean);
        let moved = json!({"enabled": enabled, "content": content, "post_history": ""});
        js::put(power_user, "sysprompt", moved);
    }
    if let Some(template) = template {
        let (mut normal, notes) = normal_instruct(template, "text.instruct");
        warnings.extend(notes);
        normal.shift_remove("system_prompt");
        let enabled = template.get("enabled").is_none_or(js::to_boolean);
        js::put(&mut normal, "enabled", enabled.into());
        now.extend(normal);
    }
    js::put(power_user, "instruct", Value::Object(now));
}

fn apply_system(given: Option<&Object>, power_user: &mut Object) {
    let fresh = json!({"enabled": true, "content": SYSTEM_PROMPT, "post_history": ""});
    let mut now = fresh.as_object().cloned().unwrap_or_default();
    if let Some(given) = given {
        js::put(&mut now, "content", "".into());
        now.extend(given.clone());
    } else if let Some(stored) = power_user.get("sysprompt").and_then(Value::as_object) {
        now.extend(stored.clone());
    }
    js::put(power_user, "sysprompt", Value::Object(now));
}

impl ContextTemplate {
    /// Reads a template in today's form.
    pub fn of(template: &Object) -> Self {
        let mut r = Reader::new(template, "");
        let place = if r.integer("story_string_position", 0) == 1 {
            StoryPlace::InChat(r.integer("story_string_depth", 1), r.integer("story_string_role", 0))
        } else {
            StoryPlace::Top
        };
        Self {
            story_string: r.text("story_string"),
            chat_start: r.text("chat_start"),
            example_separator: r.text("example_separator"),
            place,
        }
    }
}

impl InstructTemplate {
    /// Reads a template in today's form.
    pub fn of(template: &Object) -> Self {
        let mut r = Reader::new(template, "");
        let on = |key: &str, default: bool| template.get(key).map_or(default, js::to_boolean);
        Self {
            enabled: on("enabled", false),
            wrap: on("wrap", true),
            macros: on("macro", true),
            system_same_as_user: on("system_same_as_user", false),
            skip_examples: on("skip_examples", false),
            names: match template.get("names_behavior").and_then(Value::as_str) {
                Some("always") => NamesBehavior::Always,
                Some("force") | None => NamesBehavior::Force,
                // `none`; an unknown word is the same.
                Some(_) => NamesBehavior::None,
            },
            input_sequence: r.text("input_sequence"),
            input_suffix: r.text("input_suffix"),
            output_sequence: r.text("output_sequence"),
            output_suffix: r.text("output_suffix"),
            system_sequence: r.text("system_sequence"),
            system_suffix: r.text("system_suffix"),
            first_input_sequence: r.text("first_input_sequence"),
            last_input_sequence: r.text("last_input_sequence"),
            first_output_sequence: r.text("first_output_sequence"),
            last_output_sequence: r.text("last_output_sequence"),
            last_system_sequence: r.text("last_system_sequence"),
            story_string_prefix: r.text("story_string_prefix"),
            story_string_suffix: r.text("story_string_suffix"),
            user_alignment_message: r.text("user_alignment_message"),
        }
    }
}

impl SystemPrompt {
    fn of(settings: &Object) -> Self {
        let mut r = Reader::new(settings, "");
        Self {
            enabled: settings.get("enabled").is_none_or(js::to_boolean),
            content: r.text("content"),
            post_history: r.text("post_history"),
        }
    }
}
