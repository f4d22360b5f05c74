//! The provider's functions by name: `{fn, args}` as the recorded cases have them -> what they give (spec 06 §8).
//!
//! For tests and tools; a request is built by a room.

use serde_json::{Map, Value, json};

use crate::error::{Code, Error};
use crate::js;
use crate::models::{Params, Source, params};
use crate::profile::Profile;
use crate::provider::{self, Config, Converter, Names, Sse, Stream, convert};
use crate::room::request_value;
use crate::scene::{Object, TextSetup};

/// What a call is given.
struct Args<'a> {
    of: &'a Value,
    profile: Profile,
}

static NOTHING: Value = Value::Null;

impl<'a> Args<'a> {
    fn raw(&self, key: &str) -> &'a Value {
        self.of.get(key).unwrap_or(&NOTHING)
    }

    fn list(&self, key: &str) -> &'a [Value] {
        list(self.raw(key))
    }

    fn text<'b>(&self, key: &str, default: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.raw(key).as_str().unwrap_or(default)
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        self.raw(key).as_bool().unwrap_or(default)
    }

    fn object(&self, key: &str) -> Object {
        self.raw(key).as_object().cloned().unwrap_or_default()
    }

    fn source(&self) -> Result<Source, Error> {
        Source::named(self.text("source", ""))
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn at(row: &Value, i: usize) -> &Value {
    row.get(i).unwrap_or(&NOTHING)
}

fn strings(value: &Value) -> Vec<String> {
    list(value).iter().map(js::value_to_text).collect()
}

/// One function by its name. `profile` is `sillytavern` unless the arguments name another.
pub(super) fn call(name: &str, of: &Value) -> Result<Value, Error> {
    let profile = Profile::named(of.get("profile").and_then(Value::as_str).unwrap_or("sillytavern"))?;
    let args = Args { of, profile };
    let given = args.raw("names");
    let names = Names {
        char: given.get("char").and_then(Value::as_str).unwrap_or("").to_owned(),
        user: given.get("user").and_then(Value::as_str).unwrap_or("").to_owned(),
        group: strings(given.get("group").unwrap_or(&NOTHING)),
    };
    let default = Config::default().placeholder;
    let placeholder = args.text("placeholder", &default);
    let converter = Converter { names: &names, placeholder, profile: &args.profile };
    let messages = args.list("messages");
    Ok(match name {
        "post_process" => {
            json!(
                provider::post_process(messages, args.text("mode", ""), &names, placeholder, &args.profile).0
            )
        }
        "convert_claude" => converter.claude(
            messages,
            args.text("prefill", ""),
            args.flag("use_system", false),
            args.flag("use_tools", false),
        )?,
        "convert_google" => converter.google(
            messages,
            args.text("model", ""),
            args.flag("use_system", false),
            args.flag("thought_signatures", true),
        )?,
        "convert_cohere" => converter.cohere(messages)?.into(),
        "convert_ai21" => converter.ai21(messages)?.into(),
        "convert_mistral" => converter.mistral(messages, args.flag("enable_prefix", false))?.into(),
        "convert_xai" => converter.xai(messages)?.into(),
        "text_completion_prompt" => json!(convert::text_completion_prompt(messages)),
        "cache_depth_claude" | "cache_depth_openrouter" => {
            match usize::try_from(args.raw("depth").as_i64().unwrap_or(-1)) {
                Ok(depth) => json!(convert::mark_cache_depth(
                    messages,
                    depth,
                    args.text("ttl", "5m"),
                    name == "cache_depth_claude"
                )),
                Err(_) => args.raw("messages").clone(),
            }
        }
        "cache_system_openrouter" => json!(convert::mark_cache_system(messages, args.raw("ttl").as_str())),
        "claude_thinking_budget" | "google_thinking_budget" => budgets(name, &args),
        "assistant_prefix" => {
            let property = args.text("property", "prefix");
            json!(convert::add_assistant_prefix(messages, args.list("tools"), property))
        }
        "openrouter_media" if args.flag("audio", true) => json!(convert::embed_audio(messages)),
        "openrouter_media" => json!(messages),
        "openrouter_signatures" => json!(convert::replay_signatures(messages, args.text("model", ""))),
        "reasoning_on_tool_calls" => json!(convert::reasoning_on_tool_calls(messages)),
        "merge_yaml" | "exclude_yaml" => {
            let mut object = args.object("object");
            let change = if name == "merge_yaml" { provider::merge_yaml } else { provider::exclude_yaml };
            change(&mut object, args.text("yaml", ""));
            Value::Object(object)
        }
        "flatten_schema" => provider::flatten_schema(args.raw("schema"), args.source()?)?,
        "reasoning_effort" => efforts(&args)?,
        "build_request" => build(&args)?,
        "read_response" => {
            let shown = args.flag("show_reasoning", true);
            match provider::read_body(args.source()?, args.raw("response"), shown, &args.profile) {
                Ok(answer) => json!(answer),
                Err(error) => json!({"error": error}),
            }
        }
        "read_stream" => {
            let mut stream = Stream::new(args.source()?, args.flag("show_reasoning", true), &args.profile);
            for event in args.list("events") {
                match event {
                    Value::String(text) => stream.push(text),
                    other => stream.push(&js::stringify(other)),
                };
            }
            for chunk in args.list("chunks") {
                stream.feed(&bytes(chunk));
            }
            stream.end();
            json!(stream.answer())
        }
        "read_error" => json!(provider::read_error(
            args.raw("status").as_u64().and_then(|s| u16::try_from(s).ok()).unwrap_or(0),
            args.text("statusText", ""),
            args.raw("retryAfter").as_str(),
            args.raw("body"),
        )),
        "capabilities" => match args.raw("source") {
            Value::Null => Source::ALL.iter().map(|s| provider::capabilities(*s)).collect(),
            _ => provider::capabilities(args.source()?),
        },
        "token_count_request" => {
            let setup = TextSetup {
                backend: args.text("type", "ooba").to_owned(),
                server: args.text("server", "").to_owned(),
                model: args.raw("model").as_str().map(str::to_owned),
                ..TextSetup::default()
            };
            match provider::text::token_count_request(&setup, args.text("text", "")) {
                Some(count) => json!({"url": count.url, "body": js::stringify(&Value::Object(count.body))}),
                None => Value::Null,
            }
        }
        "read_token_count" => json!(provider::text::read_token_count(args.raw("answer"))),
        "parse_sse" => {
            let mut sse = Sse::new(false);
            let mut events = Vec::new();
            for chunk in args.list("chunks") {
                events.extend(sse.feed(chunk.as_str().unwrap_or("").as_bytes()));
            }
            events.extend(sse.end());
            json!(events)
        }
        other => {
            return Err(Error::new(
                Code::OptionUnknown,
                "method",
                format!("there is no function \"provider.{other}\""),
            ));
        }
    })
}

/// A piece of the wire: a text, or the list of its bytes, where a character may be cut.
fn bytes(chunk: &Value) -> Vec<u8> {
    if let Some(text) = chunk.as_str() {
        return text.as_bytes().to_vec();
    }
    list(chunk).iter().filter_map(|b| u8::try_from(b.as_u64()?).ok()).collect()
}

/// Thinking budgets for rows of arguments.
fn budgets(name: &str, args: &Args<'_>) -> Value {
    let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
    let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
    let flag = |v: &Value| v.as_bool().unwrap_or(false);
    let budget = |r: &Value| {
        if name == "claude_thinking_budget" {
            provider::claude_thinking_budget(
                number(at(r, 0)),
                &text(at(r, 1)),
                flag(at(r, 2)),
                flag(at(r, 3)),
            )
        } else {
            provider::google_thinking_budget(number(at(r, 0)), &text(at(r, 1)), &text(at(r, 2)))
        }
    };
    args.list("rows").iter().map(budget).collect()
}

/// `reasoning_effort` as the payload has it, for rows of source, model, effort and whether thoughts are shown.
fn efforts(args: &Args<'_>) -> Result<Value, Error> {
    let effort = |r: &Value| {
        let settings = json!({
            "chat_completion_source": at(r, 0),
            "reasoning_effort": at(r, 2),
            "show_thoughts": at(r, 3),
        });
        let settings = settings.as_object().cloned().unwrap_or_default();
        let payload = payload(args, &settings, at(r, 1).as_str().unwrap_or(""), &[], &NOTHING)?;
        Ok(payload.get("reasoning_effort").cloned().unwrap_or(Value::Null))
    };
    args.list("rows").iter().map(effort).collect()
}

/// The neutral request of recorded settings.
fn payload(
    args: &Args<'_>,
    settings: &Object,
    model: &str,
    messages: &[Value],
    env: &Value,
) -> Result<Map<String, Value>, Error> {
    let part = |key: &str| env.get(key).unwrap_or(&NOTHING);
    let source = settings.get("chat_completion_source").and_then(Value::as_str).unwrap_or("");
    let (user, char) =
        (part("user_name").as_str().unwrap_or("User"), part("char_name").as_str().unwrap_or("Char"));
    let (group, stop) = (strings(part("group_names")), strings(part("stop_strings")));
    let schema = args.raw("json_schema");
    let p = Params {
        settings,
        source: Source::named(source)?,
        model,
        kind: args.text("type", "normal"),
        user,
        char,
        group: &group,
        stop: &stop,
        tools: list(part("tools")),
        logit_bias: part("logit_bias").as_object(),
        logprobs: part("request_logprobs").as_bool().unwrap_or(false),
        json_schema: Some(schema).filter(|s| !s.is_null()),
        entry: env.get("model_entry"),
        chat_id: None,
        profile: &args.profile,
    };
    let expand = &mut |t: &str| t.replace("{{user}}", user).replace("{{char}}", char);
    Ok(params(&p, messages.to_vec(), expand).0)
}

/// `{method, url, headers, body, auth}` for recorded settings and messages.
fn build(args: &Args<'_>) -> Result<Value, Error> {
    let env = args.raw("env");
    let payload =
        payload(args, &args.object("settings"), args.text("model", ""), args.list("messages"), env)?;
    let mut config = args.object("config");
    if config.get("openai.randomizeUserId") == Some(&json!(true)) {
        config.insert("openai.userId".into(), json!("{RANDOM}"));
    }
    config.entry("pollinations.seed").or_insert(json!(7));
    for (from, to) in [("project_id", "vertexai.projectId"), ("model_entry", "modelEntry")] {
        if let Some(value) = env.get(from) {
            config.insert(to.into(), value.clone());
        }
    }
    let request = provider::request(&payload, &Config::from_value(&Value::Object(config)), &args.profile)?;
    let mut out = request_value(&request);
    if let Some(o) = out.as_object_mut() {
        o.insert("body".into(), Value::Object(request.body.clone()));
        if let (Some(auth), Some(Value::Object(place))) = (&request.auth, o.get_mut("auth")) {
            let secret = match auth.secret {
                provider::Secret::ProxyPassword => "proxy_password",
                provider::Secret::Token => "token",
                provider::Secret::Key => "key",
            };
            place.insert("secret".into(), json!(secret));
        }
    }
    Ok(out)
}
