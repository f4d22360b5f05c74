//! Settings, model and kind of generation -> the neutral request that every provider family is built from (spec 06 §2,
//! spec 02 §19.1). Knows no URL and no wire format.

use serde_json::{Value, json};

use super::rules::{self, Asked, BodyChange};
use super::traits::{Read, Stops, Traits, effort, traits};
use super::{Source, can_call_tools, like};
use crate::js;
use crate::profile::{PROVIDER_FIELDS, Profile};
use crate::scene::Object;

/// What goes into a neutral request besides the messages.
#[derive(Clone, Copy, Debug)]
pub struct Params<'a> {
    /// Preset keys (`temp_openai` …, spec 06 §2.1); missing ones have the defaults given there.
    pub settings: &'a Object,
    /// Who answers.
    pub source: Source,
    /// The model's id.
    pub model: &'a str,
    /// What the user asked for: `normal`, `swipe`, `regenerate`, `continue`, `impersonate` or `quiet`.
    pub kind: &'a str,
    /// The persona's name.
    pub user: &'a str,
    /// The speaker's name.
    pub char: &'a str,
    /// Names of all group members, muted ones too; empty outside a group.
    pub group: &'a [String],
    /// Custom stop strings, macros expanded, uncapped.
    pub stop: &'a [String],
    /// Registered tools, in OpenAI's form.
    pub tools: &'a [Value],
    /// Token -> bias.
    pub logit_bias: Option<&'a Object>,
    /// Token probabilities are wanted.
    pub logprobs: bool,
    /// `{name, value, description?, strict?}` when a structured answer is wanted.
    pub json_schema: Option<&'a Value>,
    /// The entry of the provider's model list, when the host has fetched one: it decides on tools and efforts.
    pub entry: Option<&'a Value>,
    /// The chat's id, for Fireworks' cache affinity.
    pub chat_id: Option<&'a str>,
    /// Faults put right or not.
    pub profile: &'a Profile,
}

/// The neutral request: the object that a page of the reference hands to its own server. Key order is the reference's.
/// `expand` expands the macros of a text. Also tells what the model's name changed.
pub fn params(
    p: &Params,
    messages: Vec<Value>,
    expand: &mut dyn FnMut(&str) -> String,
) -> (Object, Vec<BodyChange>) {
    let row = traits(p.source);
    let mut out = base(p, row, messages);
    source_fields(p, row, &mut out, expand);
    let asked = Asked { source: p.source, model: p.model, everywhere: p.profile.on(&PROVIDER_FIELDS) };
    let changes = rules::apply(asked, &mut out);
    if let Some(schema) = p.json_schema {
        out.insert("json_schema".into(), schema.clone());
    }
    (out, changes)
}

/// A number as JavaScript writes it: whole ones without a fraction, non-finite ones as null.
pub(crate) fn number(n: f64) -> Value {
    if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 {
        return json!(js::to_integer(n));
    }
    json!(n)
}

impl Params<'_> {
    fn number(&self, key: &str, default: f64) -> f64 {
        self.settings.get(key).map_or(default, js::value_to_number)
    }

    fn text<'s>(&'s self, key: &str, default: &'s str) -> &'s str {
        self.settings.get(key).and_then(Value::as_str).unwrap_or(default)
    }

    fn raw(&self, key: &str, default: Value) -> Value {
        self.settings.get(key).cloned().unwrap_or(default)
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        self.settings.get(key).map_or(default, js::to_boolean)
    }

    fn is(&self, sources: &[Source]) -> bool {
        sources.contains(&self.source)
    }

    /// The first `limit` stop strings, 0 = all.
    fn stops(&self, limit: usize) -> Vec<&str> {
        let all = self.stop.iter().map(String::as_str).filter(|s| !s.is_empty());
        all.take(if limit == 0 { usize::MAX } else { limit }).collect()
    }

    fn streams(&self) -> bool {
        let silent = self.kind == "quiet"
            || self.is(&[Source::OpenAi, Source::AzureOpenAi, Source::OpenRouter])
                && matches!(self.model, "o1" | "o1-2024-12-17")
            || self.source == Source::WorkersAi && self.json_schema.is_some();
        !silent && self.flag("stream_openai", false)
    }

    /// Several answers: the setting, where it is allowed.
    fn answers(&self, row: Traits) -> Option<f64> {
        let n = self.number("n", 1.0);
        let single = matches!(self.kind, "quiet" | "impersonate" | "continue");
        (n > 1.0 && !single && row.n).then_some(n)
    }

    /// Whether tools go out with this request (spec 06 §2.3 step 8).
    fn calls_tools(&self) -> bool {
        !self.tools.is_empty()
            && !matches!(self.kind, "impersonate" | "quiet" | "continue")
            && can_call_tools(self.settings, self.source, self.model, self.entry)
    }
}

/// Step 1 to 11: what every source starts from.
fn base(p: &Params, row: Traits, messages: Vec<Value>) -> Object {
    let mut out = Object::new();
    let mut put = |key: &str, value: Value| {
        out.insert(key.to_owned(), value);
    };
    let shown = p.flag("show_thoughts", true);
    put("type", json!(p.kind));
    put("messages", Value::Array(sendable(messages, p.model)));
    put("model", json!(p.model));
    put("temperature", number(p.number("temp_openai", 1.0)));
    put("frequency_penalty", number(p.number("freq_pen_openai", 0.0)));
    put("presence_penalty", number(p.number("pres_pen_openai", 0.0)));
    put("top_p", number(p.number("top_p_openai", 1.0)));
    put("max_tokens", p.raw("openai_max_tokens", json!(300)));
    put("stream", json!(p.streams()));
    if let Some(bias) = p.logit_bias.filter(|b| row.bias && !b.is_empty()) {
        put("logit_bias", Value::Object(bias.clone()));
    }
    let stops = p.stops(4);
    if row.stops != Stops::None && !stops.is_empty() {
        put("stop", json!(stops));
    }
    put("chat_completion_source", json!(p.source.as_str()));
    if let Some(n) = p.answers(row) {
        put("n", number(n));
    }
    put("user_name", json!(p.user));
    put("char_name", json!(p.char));
    put("group_names", json!(p.group));
    put("include_reasoning", json!(shown));
    if let Some(effort) = requested_effort(p, shown) {
        put("reasoning_effort", json!(effort));
    }
    put("enable_web_search", json!(p.flag("enable_web_search", false)));
    put("request_images", json!(p.flag("request_images", false)));
    put("request_image_resolution", p.raw("request_image_resolution", json!("")));
    put("request_image_aspect_ratio", p.raw("request_image_aspect_ratio", json!("")));
    put("custom_prompt_post_processing", p.raw("custom_prompt_post_processing", json!("")));
    let verbosity = p.text("verbosity", "auto");
    if verbosity != "auto" {
        put("verbosity", json!(verbosity));
    }
    if p.answers(row).is_none() && p.calls_tools() {
        put("tools", json!(p.tools));
        put("tool_choice", json!("auto"));
    }
    let proxy = p.text("reverse_proxy", "");
    if row.proxy && !proxy.is_empty() {
        put("reverse_proxy", json!(proxy));
        put("proxy_password", p.raw("proxy_password", json!("")));
    }
    if row.logprobs && p.logprobs {
        put("logprobs", json!(5));
    }
    out
}

/// Drops what is no message, and pictures in turns that the vision model of DeepSeek refuses them in (steps 1 and 2).
fn sendable(mut messages: Vec<Value>, model: &str) -> Vec<Value> {
    let no_pictures = js::lower(model).contains("deepseek-v4-flash-vision-exp");
    messages.retain_mut(|message| {
        let role = message.get("role").and_then(Value::as_str).unwrap_or("");
        if no_pictures
            && matches!(role, "system" | "assistant")
            && let Some(parts) = message.get_mut("content").and_then(Value::as_array_mut)
        {
            parts.retain(|part| part.get("type").is_none_or(|t| t != "image_url"));
            if parts.is_empty() {
                return false;
            }
        }
        message.is_object()
    });
    messages
}

fn requested_effort<'p>(p: &'p Params, shown: bool) -> Option<&'p str> {
    let effort = effort(p.source, p.model, p.text("reasoning_effort", "auto"), shown)?;
    let unlisted = || {
        let efforts = p.entry.and_then(|e| e.pointer("/metadata/supported_reasoning_efforts"));
        !efforts.and_then(Value::as_array).is_some_and(|a| a.iter().any(|v| v == effort))
    };
    let dropped = p.source == Source::ElectronHub && unlisted()
        || p.source == Source::AzureOpenAi && (p.model.starts_with("gpt-3") || p.model.starts_with("gpt-4"));
    (!dropped).then_some(effort)
}

/// Steps 12 to 14: the row of the source.
fn source_fields(p: &Params, row: Traits, out: &mut Object, expand: &mut dyn FnMut(&str) -> String) {
    if p.is(GPT) && p.model.contains("gpt") && p.model.contains("vision") {
        remove(out, &["logit_bias", "stop", "logprobs"]);
    }
    if p.is(GPT) && like(p.model, "gpt-4.5") {
        remove(out, &["logprobs"]);
    }
    for (field, setting, read) in row.fields {
        if let Some(value) = field_value(p, setting, *read, expand) {
            out.insert((*field).to_owned(), value);
        }
    }
    match row.stops {
        Stops::Default | Stops::None => {}
        Stops::First(limit) => {
            out.insert("stop".into(), json!(p.stops(limit)));
        }
        Stops::Google => {
            let short = p.stops(5).into_iter().filter(|s| js::len16(s) <= 16);
            // Right behind `top_k`, which is what the reference writes before it.
            let at = out.keys().position(|k| k == "top_k").map_or(out.len(), |i| i + 1);
            out.shift_remove("stop");
            let at = at.min(out.len());
            out.shift_insert(at, "stop".into(), json!(short.collect::<Vec<_>>()));
        }
    }
    for (field, low, high) in row.clamps {
        if let Some(value) = out.get_mut(*field) {
            *value = number(js::value_to_number(value).clamp(*low, *high));
        }
    }
    for (field, instead) in row.zeros {
        if let Some(value) = out.get_mut(*field).filter(|v| !js::to_boolean(v)) {
            *value = number(*instead);
        }
    }
    remove(out, row.drops);
    match p.source {
        Source::Claude => {
            if let Some(prefill) = prefill(p) {
                out.insert("assistant_prefill".into(), json!(expand(prefill)));
            }
        }
        Source::MistralAi => {
            out.insert("safe_prompt".into(), json!(false));
        }
        Source::Fireworks if p.kind != "quiet" => {
            if let Some(id) = p.chat_id {
                out.insert("chat_id".into(), json!(id));
            }
        }
        _ => {}
    }
    let seed = p.number("seed", -1.0);
    if row.seed && seed >= 0.0 {
        out.insert("seed".into(), number(seed));
    }
}

fn field_value(
    p: &Params,
    setting: &str,
    read: Read,
    expand: &mut dyn FnMut(&str) -> String,
) -> Option<Value> {
    Some(match read {
        Read::Number(default) => number(p.number(setting, default)),
        Read::Positive(most) => {
            let n = p.number(setting, 0.0);
            if n <= 0.0 || n.is_nan() {
                return None;
            }
            number(n.min(most))
        }
        Read::Text(default) => p.raw(setting, json!(default)),
        Read::Flag(default) => json!(p.flag(setting, default)),
        Read::List => p.raw(setting, json!([])),
        Read::Raw => p.settings.get(setting)?.clone(),
        Read::Macros => json!(expand(p.text(setting, ""))),
    })
}

/// Which setting begins the reply for Claude, if any does.
fn prefill<'p>(p: &'p Params) -> Option<&'p str> {
    match p.kind {
        "quiet" => None,
        "continue" if p.flag("continue_prefill", false) => None,
        "impersonate" => Some(p.text("assistant_impersonation", "")),
        _ => Some(p.text("assistant_prefill", "")),
    }
}

const GPT: &[Source] = &[Source::OpenAi, Source::AzureOpenAi, Source::OpenRouter];

/// Removes fields and keeps the order of the others (`Map::remove` would not).
pub(crate) fn remove(object: &mut Object, keys: &[&str]) {
    for key in keys {
        object.shift_remove(*key);
    }
}
