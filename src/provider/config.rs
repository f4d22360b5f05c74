//! Who is who, what the host decided, and which faults are put right: what every family is told besides the request.

use serde_json::Value;

use super::item::{label, truthy};
use crate::js;
use crate::profile::{
    PROVIDER_BLOCKS, PROVIDER_FIELDS, PROVIDER_HEADERS, PROVIDER_MERGE, PROVIDER_NAMES, PROVIDER_PREFILL,
    PROVIDER_READING, PROVIDER_TOOLS, Profile,
};
use crate::scene::Object;

/// The names that labels are made of (spec 06 §1.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The speaker.
    pub char: String,
    /// The persona.
    pub user: String,
    /// All members of the group, muted ones too.
    pub group: Vec<String>,
}

impl Names {
    /// From `char_name`, `user_name`, `group_names` of a neutral request.
    pub fn from_payload(payload: &Object) -> Self {
        let text = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let group = payload.get("group_names").and_then(Value::as_array);
        Self {
            char: text("char_name"),
            user: text("user_name"),
            group: group.into_iter().flatten().map(js::value_to_text).collect(),
        }
    }

    /// The name people see for a name field, whose characters may have been replaced (spec 06 §1.2).
    pub(super) fn display<'a>(&'a self, name: &'a str) -> &'a str {
        let all = [&self.char, &self.user].into_iter().chain(&self.group);
        let mut known = all.filter(|n| !n.is_empty());
        known.find(|n| *n == name || sanitised(n) == name).map_or(name, String::as_str)
    }

    /// Whether a text begins with a member's label.
    pub(super) fn labels_member(&self, text: &str) -> bool {
        self.group.iter().any(|m| text.starts_with(&label(m)))
    }
}

/// The `name` field for a display name: at most 64 ASCII letters, digits and underscores.
fn sanitised(name: &str) -> String {
    let ascii = |c: char| if js::is_word(c) { c } else { '_' };
    // One underscore a UTF-16 unit, as in the reference.
    let units = name.chars().flat_map(|c| std::iter::repeat_n(ascii(c), c.len_utf16()));
    units.take(64).collect()
}

/// What the host decides (spec 06 §1.4); defaults are the shipped ones.
#[expect(clippy::struct_excessive_bools, reason = "the switches of a configuration file, named as there")]
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `promptPlaceholder`: the user message where a provider needs one (default `[Start a new chat]`).
    pub placeholder: String,
    /// `claude.enableSystemPromptCache`.
    pub claude_system_cache: bool,
    /// `claude.cachingAtDepth`: role changes from the end; negative = off (default).
    pub claude_cache_depth: i64,
    /// `claude.extendedTTL`: marks live an hour instead of five minutes.
    pub claude_extended_ttl: bool,
    /// `claude.enableAdaptiveThinking`: on Opus 4.6 and Sonnet 4.6.
    pub claude_adaptive: bool,
    /// `claude.betas`: values of `anthropic-beta` (default none; the `sillytavern` profile sends the reference's).
    pub claude_betas: Vec<String>,
    /// `claude.budgetOnTop`: the thinking budget is added to the response length instead of taken out of it.
    pub claude_budget_on_top: bool,
    /// `custom.completionTokens`: a custom endpoint wants `max_completion_tokens`.
    pub completion_tokens: bool,
    /// `gemini.apiVersion` (default `v1beta`).
    pub gemini_version: String,
    /// `gemini.thoughtSignatures`: replay stored signatures (default true).
    pub gemini_signatures: bool,
    /// `gemini.enableSystemPromptCache`: OpenRouter's Gemini models that have a cache price.
    pub gemini_system_cache: bool,
    /// `gemini.keyInHeader`: `x-goog-api-key` instead of `?key=`.
    pub gemini_key_header: bool,
    /// `mistral.enablePrefix`; `None` leaves it to the profile.
    pub mistral_prefix: Option<bool>,
    /// `openai.developerRole`: the system texts of OpenAI's reasoning models go out under the role `developer`.
    pub developer_role: bool,
    /// `openai.userId`: sent as `user` to OpenAI.
    pub user_id: Option<String>,
    /// `app.url`: `HTTP-Referer` for routers that count calls by app.
    pub app_url: Option<String>,
    /// `app.title`: `X-Title` for the same.
    pub app_title: Option<String>,
    /// `vertexai.projectId`: the project of a service account.
    pub project_id: Option<String>,
    /// `pollinations.seed`: the seed when the request brings none; absent: the field is left out.
    pub fallback_seed: Option<i64>,
    /// The model's entry in the provider's model list.
    pub entry: Option<Value>,
    /// `names`: false when the user chose to send no names (`names_behavior` -1).
    pub names: bool,
    /// `keyless`: the endpoint takes no key.
    pub keyless: bool,
    /// `browser`: the call is made from a page, so opt-in headers are needed (default true; profile `promptside` only).
    pub browser: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            placeholder: "[Start a new chat]".to_owned(),
            claude_system_cache: false,
            claude_cache_depth: -1,
            claude_extended_ttl: false,
            claude_adaptive: false,
            claude_betas: Vec::new(),
            claude_budget_on_top: false,
            completion_tokens: false,
            gemini_version: "v1beta".to_owned(),
            gemini_signatures: true,
            gemini_system_cache: false,
            gemini_key_header: false,
            mistral_prefix: None,
            developer_role: false,
            user_id: None,
            app_url: None,
            app_title: None,
            project_id: None,
            fallback_seed: None,
            entry: None,
            names: true,
            keyless: false,
            browser: true,
        }
    }
}

impl Config {
    /// Reads an object of the keys above; all are optional, unknown ones are ignored.
    pub fn from_value(value: &Value) -> Self {
        let base = Self::default();
        let flag = |key: &str, default: bool| value.get(key).map_or(default, js::to_boolean);
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let betas = value.get("claude.betas").and_then(Value::as_array);
        Self {
            placeholder: text("promptPlaceholder").unwrap_or(base.placeholder),
            claude_system_cache: flag("claude.enableSystemPromptCache", false),
            // Anything but a whole number of 0 or more is off.
            claude_cache_depth: value
                .get("claude.cachingAtDepth")
                .and_then(Value::as_f64)
                .filter(|n| n.fract() == 0.0)
                .map_or(-1, js::to_integer),
            claude_extended_ttl: flag("claude.extendedTTL", false),
            claude_adaptive: flag("claude.enableAdaptiveThinking", false),
            claude_betas: betas.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
            claude_budget_on_top: flag("claude.budgetOnTop", false),
            completion_tokens: flag("custom.completionTokens", false),
            gemini_version: text("gemini.apiVersion").unwrap_or(base.gemini_version),
            gemini_signatures: flag("gemini.thoughtSignatures", true),
            gemini_system_cache: flag("gemini.enableSystemPromptCache", false),
            gemini_key_header: flag("gemini.keyInHeader", false),
            mistral_prefix: value.get("mistral.enablePrefix").map(js::to_boolean),
            developer_role: flag("openai.developerRole", false),
            user_id: text("openai.userId"),
            app_url: text("app.url"),
            app_title: text("app.title"),
            project_id: text("vertexai.projectId"),
            fallback_seed: value.get("pollinations.seed").and_then(Value::as_i64),
            entry: value.get("modelEntry").filter(|v| truthy(Some(v))).cloned(),
            names: flag("names", true),
            keyless: flag("keyless", false),
            browser: flag("browser", true),
        }
    }

    /// How long a cache mark lives.
    pub(super) const fn ttl(&self) -> &'static str {
        if self.claude_extended_ttl { "1h" } else { "5m" }
    }

    /// The depth of cache marks, when they are on.
    pub(super) fn cache_depth(&self) -> Option<usize> {
        usize::try_from(self.claude_cache_depth).ok()
    }
}

/// The switches of this area, read once.
#[expect(clippy::struct_excessive_bools, reason = "one flag a switch")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixes {
    pub(super) merge: bool,
    pub(super) names: bool,
    pub(super) blocks: bool,
    pub(super) tools: bool,
    pub(super) prefill: bool,
    pub(super) headers: bool,
    pub(super) fields: bool,
    pub(super) reading: bool,
}

impl Fixes {
    pub(super) fn of(profile: &Profile) -> Self {
        Self {
            merge: profile.on(&PROVIDER_MERGE),
            names: profile.on(&PROVIDER_NAMES),
            blocks: profile.on(&PROVIDER_BLOCKS),
            tools: profile.on(&PROVIDER_TOOLS),
            prefill: profile.on(&PROVIDER_PREFILL),
            headers: profile.on(&PROVIDER_HEADERS),
            fields: profile.on(&PROVIDER_FIELDS),
            reading: profile.on(&PROVIDER_READING),
        }
    }

    /// Whether a label may be put on a list of parts; the reference throws there.
    pub(super) const fn lists(self) -> bool {
        self.merge || self.blocks
    }
}

/// What every step on messages is told besides the messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) names: &'a Names,
    pub(super) placeholder: &'a str,
    /// Whether the user wants names in front of texts; counts only with the fix.
    pub(super) labels: bool,
    pub(super) fixes: Fixes,
}
