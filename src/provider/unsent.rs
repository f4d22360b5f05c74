//! Settings that a request leaves out, for the report (spec 06 Part 3 no. 4): the user turned a knob, and this model or provider
//! does not take it.

use serde_json::Value;

use super::request::Request;
use crate::error::Warning;
use crate::js;
use crate::scene::Object;

/// One row: setting, the value that asks for nothing, where the body may carry it.
type Row = (&'static str, &'static str, &'static [&'static str]);

const ROWS: &[Row] = &[
    ("temp_openai", "1", &["/temperature", "/generationConfig/temperature"]),
    ("top_p_openai", "1", &["/top_p", "/p", "/generationConfig/topP"]),
    ("top_k_openai", "0", &["/top_k", "/k", "/generationConfig/topK"]),
    ("min_p_openai", "0", &["/min_p"]),
    ("top_a_openai", "0", &["/top_a"]),
    ("freq_pen_openai", "0", &["/frequency_penalty"]),
    ("pres_pen_openai", "0", &["/presence_penalty"]),
    ("repetition_penalty_openai", "1", &["/repetition_penalty"]),
    ("seed", "-1", &["/seed", "/random_seed", "/generationConfig/seed"]),
    ("n", "1", &["/n"]),
    (
        "reasoning_effort",
        "auto",
        &[
            "/reasoning_effort",
            "/reasoning/effort",
            "/thinking/budget_tokens",
            "/output_config/effort",
            "/generationConfig/thinkingConfig/thinkingBudget",
            "/generationConfig/thinkingConfig/thinkingLevel",
        ],
    ),
    ("verbosity", "auto", &["/verbosity", "/output_config/effort"]),
];

/// The settings that ask for something and did not reach the body.
pub fn unsent(settings: &Object, request: &Request) -> Vec<Warning> {
    let sent = |pointer: &str| {
        let mut keys = pointer.trim_start_matches('/').split('/');
        let first = keys.next().and_then(|key| request.body.get(key));
        keys.try_fold(first, |value, key| value.map(|v| v.get(key))).flatten().is_some()
    };
    let asks = |(setting, neutral, _): &&Row| {
        let value =
            settings.get(*setting).filter(|v| !matches!(v, Value::Null | Value::Object(_) | Value::Array(_)));
        value.is_some_and(|v| js::value_to_text(v) != *neutral)
    };
    ROWS.iter()
        .filter(asks)
        .filter(|(_, _, places)| !places.iter().any(|p| sent(p)))
        .map(|(setting, _, _)| {
            let what = format!("{} does not take it with this model", request.source.as_str());
            Warning::new("setting-not-sent", *setting, what)
        })
        .collect()
}
