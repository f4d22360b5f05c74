//! KoboldAI Classic: its body on the page and on the wire (spec 07 §11.6).

use serde_json::{Value, json};

use super::body::{Body, json_number};
use crate::js;
use crate::parts::Kind;
use crate::provider::url::origin;
use crate::scene::Object;

/// Settings of a first start, for those that a scene leaves out.
const DEFAULTS: &[(&str, f64)] = &[
    ("temp", 1.0),
    ("rep_pen", 1.0),
    ("rep_pen_range", 0.0),
    ("top_p", 1.0),
    ("min_p", 0.0),
    ("top_a", 1.0),
    ("top_k", 0.0),
    ("typical", 1.0),
    ("tfs", 1.0),
    ("rep_pen_slope", 0.9),
    ("mirostat", 0.0),
    ("mirostat_tau", 5.0),
    ("mirostat_eta", 0.1),
];

/// What the page hands on.
pub(super) fn body(b: &Body<'_>, expand: &mut dyn FnMut(&str) -> String) -> Object {
    let settings = &b.setup.settings;
    let set = |key: &str| {
        let default = DEFAULTS.iter().find(|(k, _)| *k == key).map(|(_, n)| json_number(*n));
        settings.get(key).filter(|v| !v.is_null()).cloned().or(default).unwrap_or(Value::Null)
    };
    let can = |flag: &str| b.setup.flags.get(flag).is_none_or(js::to_boolean);
    let gui = settings.get("preset_settings").and_then(Value::as_str) == Some("gui");
    let server = format!("{}/api", origin(&b.setup.server));
    let mut out = Object::new();
    let mut put = |key: &str, value: Value| js::put(&mut out, key, value);
    put("prompt", json!(b.prompt));
    put("gui_settings", json!(gui));
    if gui {
        put("max_length", json!(b.response));
        put("max_context_length", json!(b.max_context));
        put("api_server", json!(server));
        return out;
    }
    let order = settings.get("sampler_order").filter(|v| v.is_array()).cloned();
    put("sampler_order", order.unwrap_or_else(|| json!([0, 1, 2, 3, 4, 5, 6])));
    put("max_context_length", json!(b.max_context));
    put("max_length", json!(b.response));
    for (key, setting) in [
        ("rep_pen", "rep_pen"),
        ("rep_pen_range", "rep_pen_range"),
        ("rep_pen_slope", "rep_pen_slope"),
        ("temperature", "temp"),
        ("tfs", "tfs"),
        ("top_a", "top_a"),
        ("top_k", "top_k"),
        ("top_p", "top_p"),
    ] {
        put(key, set(setting));
    }
    if can("can_use_min_p") {
        put("min_p", set("min_p"));
    }
    put("typical", set("typical"));
    put("use_world_info", json!(false));
    put("singleline", json!(false));
    if can("can_use_stop_sequence") {
        put("stop_sequence", json!(b.stop));
    }
    let streaming = can("can_use_streaming") && b.setup.streaming && b.kind != Kind::Quiet;
    put("streaming", json!(streaming));
    put("can_abort", json!(can("can_use_streaming")));
    if can("can_use_mirostat") {
        for key in ["mirostat", "mirostat_tau", "mirostat_eta"] {
            put(key, set(key));
        }
    }
    if can("can_use_default_badwordsids") {
        put(
            "use_default_badwordsids",
            json!(settings.get("use_default_badwordsids").is_some_and(js::to_boolean)),
        );
    }
    if can("can_use_grammar") {
        let grammar = settings.get("grammar").and_then(Value::as_str).unwrap_or("");
        put("grammar", json!(expand(grammar)));
        if b.kind == Kind::Continue {
            put("grammar_retain_state", json!(true));
        }
    }
    let seed = settings.get("seed").map_or(-1.0, js::value_to_number);
    if seed >= 0.0 {
        put("sampler_seed", json_number(seed));
    }
    put("api_server", json!(server));
    out
}

/// The fields that go to the server, in order, behind the four flags.
const SENT: &[&str] = &[
    "max_context_length",
    "max_length",
    "rep_pen",
    "rep_pen_range",
    "rep_pen_slope",
    "temperature",
    "tfs",
    "top_a",
    "top_k",
    "top_p",
    "min_p",
    "typical",
    "sampler_order",
    "singleline",
    "use_default_badwordsids",
    "mirostat",
    "mirostat_eta",
    "mirostat_tau",
    "grammar",
    "sampler_seed",
    "stop_sequence",
];

/// What goes to the server.
pub(super) fn wire(page: &Object) -> Object {
    let mut out = Object::new();
    if let Some(prompt) = page.get("prompt") {
        js::put(&mut out, "prompt", prompt.clone());
    }
    for flag in ["use_story", "use_memory", "use_authors_note", "use_world_info"] {
        js::put(&mut out, flag, json!(false));
    }
    out.extend(SENT.iter().filter_map(|key| Some(((*key).to_owned(), page.get(*key)?.clone()))));
    out
}
