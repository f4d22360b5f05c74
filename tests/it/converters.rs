//! Recorded conversions, requests and answers: `{fn, args, expected}` (spec 06 §8).

use promptside::models::{Params, Source, params};
use promptside::profile::Profile;
use promptside::provider::{
    self, Config, Converter, ErrorKind, Names, Request, Secret, Sse, Stream, claude_thinking_budget, convert,
    google_thinking_budget,
};
use serde_json::{Map, Value, json};

use crate::golden::{self, Case};

const PLACEHOLDER: &str = "[Start a new chat]";

fn list(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(v: &'a Value, default: &'a str) -> &'a str {
    v.as_str().unwrap_or(default)
}

fn flag(v: &Value, default: bool) -> bool {
    v.as_bool().unwrap_or(default)
}

fn names(v: &Value) -> Names {
    Names {
        char: text(&v["char"], "").to_owned(),
        user: text(&v["user"], "").to_owned(),
        group: list(&v["group"]).iter().map(promptside::js::value_to_text).collect(),
    }
}

/// The neutral request of `build_request` and `reasoning_effort`.
fn payload(
    settings: &Map<String, Value>,
    model: &str,
    kind: &str,
    messages: &[Value],
    env: &Value,
    schema: Option<&Value>,
) -> Map<String, Value> {
    let profile = Profile::sillytavern();
    let source = Source::named(settings["chat_completion_source"].as_str().unwrap()).unwrap();
    let (user, char) = (text(&env["user_name"], "User"), text(&env["char_name"], "Char"));
    let strings = |v: &Value| -> Vec<String> { list(v).iter().map(promptside::js::value_to_text).collect() };
    let (group, stop) = (strings(&env["group_names"]), strings(&env["stop_strings"]));
    let p = Params {
        settings,
        source,
        model,
        kind,
        user,
        char,
        group: &group,
        stop: &stop,
        tools: list(&env["tools"]),
        logit_bias: env["logit_bias"].as_object(),
        logprobs: flag(&env["request_logprobs"], false),
        json_schema: schema.filter(|s| !s.is_null()),
        entry: env.get("model_entry"),
        chat_id: None,
        profile: &profile,
    };
    params(&p, messages.to_vec(), &mut |t| t.replace("{{user}}", user).replace("{{char}}", char)).0
}

/// A request as the cases print it: placeholders for secrets and for what is random.
fn descriptor(request: &Request, settings: &Value, expected: &Value) -> Value {
    let secret = match request.auth.as_ref().map(|a| a.secret) {
        Some(Secret::ProxyPassword) => text(&settings["proxy_password"], "").to_owned(),
        Some(Secret::Token) => "{TOKEN}".to_owned(),
        _ => "{KEY}".to_owned(),
    };
    let (url, headers) = request.with_secret(&secret);
    let left_out = ["anthropic-beta", "HTTP-Referer", "X-Title", "x-session-affinity"];
    let headers: Map<String, Value> = headers
        .into_iter()
        .filter(|(k, _)| !left_out.contains(&k.as_str()))
        .map(|(k, v)| (k, json!(v)))
        .collect();
    let mut body = request.body.clone();
    if expected["body"]["seed"] == "{RANDOM}" && body["seed"].is_number() {
        body.insert("seed".into(), json!("{RANDOM}"));
    }
    json!({"method": request.method, "url": url, "headers": headers, "body": body})
}

fn build_request(args: &Value, expected: &Value) -> Value {
    let env = &args["env"];
    let kind = text(&args["type"], "normal");
    let model = text(&args["model"], "");
    let settings = args["settings"].as_object().unwrap();
    let payload = payload(settings, model, kind, list(&args["messages"]), env, args.get("json_schema"));
    let mut config = args["config"].as_object().cloned().unwrap_or_default();
    if config.get("openai.randomizeUserId") == Some(&json!(true)) {
        config.insert("openai.userId".into(), json!("{RANDOM}"));
    }
    config.insert("pollinations.seed".into(), json!(7));
    if let Some(project) = env.get("project_id") {
        config.insert("vertexai.projectId".into(), project.clone());
    }
    if let Some(entry) = env.get("model_entry") {
        config.insert("modelEntry".into(), entry.clone());
    }
    match provider::request(&payload, &Config::from_value(&Value::Object(config)), &Profile::sillytavern()) {
        Ok(request) => descriptor(&request, &args["settings"], expected),
        Err(e) => json!({"error": e.to_string()}),
    }
}

/// An answer in the form of the cases: what is empty is left out, but for text and reasoning.
fn printed(answer: &provider::Answer, expected: &Value) -> Value {
    let mut out = json!({"text": answer.text, "reasoning": answer.reasoning});
    let calls: Vec<Value> = answer
        .tool_calls
        .iter()
        .zip(list(&expected["tool_calls"]).iter().chain(std::iter::repeat(&Value::Null)))
        .map(|(call, wanted)| {
            let mut call = call.clone();
            if wanted["id"] == "{RANDOM}" {
                call["id"] = wanted["id"].clone();
            }
            call
        })
        .collect();
    for (key, value) in [
        ("tool_calls", json!(calls)),
        ("images", json!(answer.images)),
        ("signature", json!(answer.signature)),
        ("swipes", json!(answer.alternatives)),
    ] {
        let empty = value == json!([]) || value == json!("");
        if !empty && (key != "swipes" || expected.get(key).is_some()) {
            out[key] = value;
        }
    }
    out
}

fn failed(error: &provider::ProviderError) -> Value {
    let mut out = json!({"error": true});
    if let (ErrorKind::Blocked, Some(reason)) = (error.kind, error.reasons.first()) {
        out["block_reason"] = json!(reason);
    }
    out
}

fn read_stream(args: &Value, expected: &Value) -> Value {
    let source = Source::named(text(&args["source"], "")).unwrap();
    let mut stream = Stream::new(source, flag(&args["show_reasoning"], true), &Profile::sillytavern());
    for event in list(&args["events"]) {
        match event {
            Value::String(text) => stream.push(text),
            other => stream.push(&promptside::js::stringify(other)),
        };
    }
    stream.end();
    printed(stream.answer(), expected)
}

/// Runs a case; `None` when the function is unknown.
fn run(case: &Case) -> Option<Value> {
    let (args, expected) = (&case.json["args"], &case.json["expected"]);
    let profile = Profile::sillytavern();
    let names = names(&args["names"]);
    let placeholder = text(&args["placeholder"], PLACEHOLDER);
    let converter = Converter { names: &names, placeholder, profile: &profile };
    let messages = list(&args["messages"]);
    let rows = || list(&args["rows"]).iter();
    let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
    let fallible =
        |result: Result<Value, promptside::Error>| result.unwrap_or_else(|e| json!({"error": e.to_string()}));
    let object = || args["object"].as_object().cloned().unwrap_or_default();
    Some(match text(&case.json["fn"], "") {
        "post_process" => {
            json!(provider::post_process(messages, text(&args["mode"], ""), &names, placeholder, &profile).0)
        }
        "convert_claude" => fallible(converter.claude(
            messages,
            text(&args["prefill"], ""),
            flag(&args["use_system"], false),
            flag(&args["use_tools"], false),
        )),
        "convert_google" => fallible(converter.google(
            messages,
            text(&args["model"], ""),
            flag(&args["use_system"], false),
            flag(&args["thought_signatures"], true),
        )),
        "convert_cohere" => fallible(converter.cohere(messages).map(Value::from)),
        "convert_ai21" => fallible(converter.ai21(messages).map(Value::from)),
        "convert_mistral" => {
            fallible(converter.mistral(messages, flag(&args["enable_prefix"], false)).map(Value::from))
        }
        "convert_xai" => fallible(converter.xai(messages).map(Value::from)),
        "text_completion_prompt" => json!(convert::text_completion_prompt(messages)),
        "cache_depth_claude" | "cache_depth_openrouter" => {
            let depth = usize::try_from(args["depth"].as_i64().unwrap_or(-1));
            let blocks = case.json["fn"] == "cache_depth_claude";
            depth.map_or_else(
                |_| args["messages"].clone(),
                |depth| json!(convert::mark_cache_depth(messages, depth, text(&args["ttl"], "5m"), blocks)),
            )
        }
        "cache_system_openrouter" => json!(convert::mark_cache_system(messages, args["ttl"].as_str())),
        "claude_thinking_budget" => rows()
            .map(|r| {
                claude_thinking_budget(number(&r[0]), text(&r[1], ""), flag(&r[2], false), flag(&r[3], false))
            })
            .collect(),
        "google_thinking_budget" => {
            rows().map(|r| google_thinking_budget(number(&r[0]), text(&r[1], ""), text(&r[2], ""))).collect()
        }
        "assistant_prefix" => {
            json!(convert::add_assistant_prefix(
                messages,
                list(&args["tools"]),
                text(&args["property"], "prefix")
            ))
        }
        "openrouter_media" => {
            if flag(&args["audio"], true) {
                json!(convert::embed_audio(messages))
            } else {
                json!(messages)
            }
        }
        "openrouter_signatures" => json!(convert::replay_signatures(messages, text(&args["model"], ""))),
        "reasoning_on_tool_calls" => json!(convert::reasoning_on_tool_calls(messages)),
        "merge_yaml" | "exclude_yaml" => {
            let mut object = object();
            let change =
                if case.json["fn"] == "merge_yaml" { provider::merge_yaml } else { provider::exclude_yaml };
            change(&mut object, text(&args["yaml"], ""));
            Value::Object(object)
        }
        "flatten_schema" => fallible(provider::flatten_schema(
            &args["schema"],
            Source::named(text(&args["source"], "")).unwrap(),
        )),
        "reasoning_effort" => rows()
            .map(|r| {
                let settings =
                    json!({"chat_completion_source": r[0], "reasoning_effort": r[2], "show_thoughts": r[3]});
                let payload =
                    payload(settings.as_object().unwrap(), text(&r[1], ""), "normal", &[], &json!({}), None);
                payload.get("reasoning_effort").cloned().unwrap_or(Value::Null)
            })
            .collect(),
        "build_request" => build_request(args, expected),
        "read_response" => {
            let source = Source::named(text(&args["source"], "")).unwrap();
            let shown = flag(&args["show_reasoning"], true);
            match provider::read_body(source, &args["response"], shown, &profile) {
                Ok(answer) => printed(&answer, expected),
                Err(error) => failed(&error),
            }
        }
        "read_stream" => read_stream(args, expected),
        "parse_sse" => {
            let mut sse = Sse::new(false);
            let mut events = Vec::new();
            for chunk in list(&args["chunks"]) {
                events.extend(sse.feed(text(chunk, "").as_bytes()));
            }
            events.extend(sse.end());
            json!(events)
        }
        _ => return None,
    })
}

#[test]
fn conversions_are_the_references() {
    let cases = golden::cases("converters");
    let mut failures = Vec::new();
    for case in &cases {
        let difference = match run(case) {
            Some(got) => golden::difference(&case.json["expected"], &got),
            None => Some(format!("unknown function {}", case.json["fn"])),
        };
        failures.extend(difference.map(|d| format!("{}: {d}", case.id)));
    }
    golden::report("converters", cases.len(), &failures);
}
