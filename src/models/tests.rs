//! What the tables say, against the published examples.

use serde_json::{Value, json};

use super::{Params, Source, like, params};
use crate::profile::Profile;
use crate::scene::Object;

fn built(settings: &Value, model: &str, kind: &str, profile: &Profile) -> Object {
    let settings = settings.as_object().unwrap();
    let source = Source::named(settings["chat_completion_source"].as_str().unwrap()).unwrap();
    let stop: Vec<String> =
        ["\n洛恩:", "", "a", "b", "this one is much too long", "c", "d"].map(String::from).into();
    let p = Params {
        settings,
        source,
        model,
        kind,
        user: "Tomas",
        char: "洛恩",
        group: &[],
        stop: &stop,
        tools: &[json!({"type": "function", "function": {"name": "roll"}})],
        logit_bias: None,
        logprobs: false,
        json_schema: None,
        entry: None,
        chat_id: None,
        profile,
    };
    params(&p, vec![json!({"role": "system", "content": "S"}), json!(null)], &mut |t| {
        t.replace("{{char}}", "洛恩")
    })
    .0
}

fn st(settings: &Value, model: &str) -> Object {
    built(settings, model, "normal", &Profile::sillytavern())
}

#[test]
fn a_custom_endpoint_gets_the_published_keys() {
    let got = st(&json!({"chat_completion_source": "custom", "n": 1}), "m");
    let keys: Vec<_> = got.keys().map(String::as_str).filter(|k| *k != "stop").collect();
    let want = "type messages model temperature frequency_penalty presence_penalty top_p max_tokens stream \
                chat_completion_source user_name char_name group_names include_reasoning enable_web_search \
                request_images request_image_resolution request_image_aspect_ratio custom_prompt_post_processing \
                custom_url custom_include_body custom_exclude_body custom_include_headers";
    assert_eq!(keys.join(" "), want.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" "));
    assert_eq!(got["messages"], json!([{"role": "system", "content": "S"}]));
    assert_eq!(got["stop"], json!(["\n洛恩:", "a", "b", "this one is much too long"]));
}

#[test]
fn stop_strings_follow_the_source() {
    for (source, want) in [
        ("claude", json!(["\n洛恩:", "a", "b", "this one is much too long", "c", "d"])),
        ("cohere", json!(["\n洛恩:", "a", "b", "this one is much too long", "c"])),
        ("makersuite", json!(["\n洛恩:", "a", "b", "c"])),
        ("zai", json!(["\n洛恩:"])),
        ("perplexity", Value::Null),
    ] {
        let got = st(&json!({"chat_completion_source": source}), "m");
        assert_eq!(got.get("stop").cloned().unwrap_or_default(), want, "{source}");
    }
}

#[test]
fn effort_follows_source_and_model() {
    // Spec 06 §2.4, column by column: auto, min, low, medium, high, max.
    let table: &[(&str, &str, bool, [Option<&str>; 6])] = &[
        ("openai", "o3", true, [None, Some("low"), Some("low"), Some("medium"), Some("high"), Some("high")]),
        (
            "openai",
            "gpt-5",
            true,
            [None, Some("min"), Some("low"), Some("medium"), Some("high"), Some("high")],
        ),
        (
            "azure_openai",
            "gpt-5.5",
            true,
            [None, Some("none"), Some("low"), Some("medium"), Some("high"), Some("high")],
        ),
        (
            "openai",
            "gpt-5.6-sol",
            true,
            [None, Some("none"), Some("low"), Some("medium"), Some("high"), Some("xhigh")],
        ),
        (
            "openai",
            "gpt-6-astra",
            true,
            [None, Some("low"), Some("low"), Some("medium"), Some("high"), Some("max")],
        ),
        ("chutes", "x", true, [None, Some("low"), Some("low"), Some("medium"), Some("high"), Some("high")]),
        (
            "custom",
            "koboldcpp/m",
            true,
            [None, Some("minimal"), Some("low"), Some("medium"), Some("high"), Some("xhigh")],
        ),
        (
            "openrouter",
            "x/y",
            true,
            [None, Some("low"), Some("low"), Some("medium"), Some("high"), Some("high")],
        ),
        (
            "openrouter",
            "x/y",
            false,
            [None, Some("none"), Some("low"), Some("medium"), Some("high"), Some("high")],
        ),
        ("deepseek", "x", true, [None, Some("low"), Some("low"), Some("high"), Some("high"), Some("max")]),
        ("fireworks", "x", true, [None, Some("low"), Some("low"), Some("medium"), Some("high"), Some("max")]),
        ("electronhub", "x", true, [None; 6]),
        ("azure_openai", "gpt-4o", true, [None; 6]),
        ("xai", "grok-4", true, [None; 6]),
        (
            "claude",
            "claude-x",
            true,
            [Some("auto"), Some("min"), Some("low"), Some("medium"), Some("high"), Some("max")],
        ),
    ];
    for (source, model, shown, row) in table {
        for (setting, want) in ["auto", "min", "low", "medium", "high", "max"].iter().zip(row) {
            let settings = json!({"chat_completion_source": source, "reasoning_effort": setting, "show_thoughts": shown});
            let got = st(&settings, model);
            assert_eq!(
                got.get("reasoning_effort").and_then(Value::as_str),
                *want,
                "{source} {model} {setting}"
            );
        }
    }
}

#[test]
fn newer_openai_models_lose_samplers_on_every_route() {
    let custom = json!({"chat_completion_source": "custom"});
    let off = st(&custom, "gpt-5-mini");
    assert!(off.contains_key("max_tokens") && off.contains_key("temperature"));
    let on = built(&custom, "gpt-5-mini", "normal", &Profile::promptside());
    assert!(on.contains_key("max_completion_tokens") && !on.contains_key("temperature"));
    let local = built(&custom, "o1ympus-7b", "normal", &Profile::promptside());
    assert!(local.contains_key("max_tokens"), "a name that only begins alike");
    let o1 = built(&custom, "o1-mini", "normal", &Profile::promptside());
    assert_eq!(o1["messages"][0]["role"], "user");
}

#[test]
fn tools_need_a_mode_that_keeps_them() {
    let with = |mode: &str, kind: &str| {
        let settings = json!({"chat_completion_source": "openai", "function_calling": true, "custom_prompt_post_processing": mode});
        built(&settings, "gpt-4o", kind, &Profile::sillytavern()).contains_key("tools")
    };
    assert!(with("", "normal") && with("strict_tools", "swipe"));
    assert!(!with("strict", "normal") && !with("", "quiet") && !with("", "continue"));
}

#[test]
fn ranges_hold() {
    let got = st(
        &json!({"chat_completion_source": "cohere", "top_p_openai": 1, "freq_pen_openai": -2, "pres_pen_openai": 5}),
        "c",
    );
    assert_eq!(
        (&got["top_p"], &got["frequency_penalty"], &got["presence_penalty"]),
        (&json!(0.99), &json!(0), &json!(1))
    );
    let got = st(&json!({"chat_completion_source": "deepseek", "top_p_openai": 0}), "d");
    assert_eq!(crate::js::stringify(&got["top_p"]), "2.220446049250313e-16");
    let got = st(&json!({"chat_completion_source": "workers_ai", "top_k_openai": 90, "seed": 0}), "w");
    assert_eq!((&got["top_k"], got.contains_key("seed")), (&json!(50), false));
}

#[test]
fn a_dot_stands_for_any_character() {
    assert!(like("my-gpt-4.5-x", "gpt-4.5") && like("gpt-4-5", "gpt-4.5") && like("gpt-4洛5", "gpt-4.5"));
    assert!(!like("gpt-45", "gpt-4.5") && !like("", "gpt-4.5"));
}
