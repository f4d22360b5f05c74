//! The faults of spec 06 Part 2, on both sides of their switches; published examples; bodies from random messages.
#![allow(clippy::needless_pass_by_value, reason = "literals read better as arguments without a reference")]

use promptside::models::Source;
use promptside::profile::Profile;
use promptside::provider::{
    Config, Converter, ErrorKind, Event, Finish, Names, Request, Stream, convert, post_process, read_body,
    request,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::golden;

const IMAGE: &str = "data:image/png;base64,QQ==";

fn off() -> Profile {
    Profile::sillytavern()
}

/// The reference with one switch on.
fn with(switch: &str) -> Profile {
    let mut profile = off();
    profile.set(switch, true).unwrap();
    profile
}

fn names() -> Names {
    Names { char: "Mira".into(), user: "Rin".into(), group: vec!["Mira".into(), "洛恩".into()] }
}

fn post(messages: &Value, mode: &str, profile: &Profile) -> Value {
    json!(post_process(messages.as_array().unwrap(), mode, &names(), "…", profile).0)
}

fn image() -> Value {
    json!({"type": "image_url", "image_url": {"url": IMAGE}})
}

pub(crate) fn payload(source: &str, model: &str, messages: Value, more: Value) -> Map<String, Value> {
    let mut payload = json!({
        "chat_completion_source": source, "model": model, "messages": messages, "temperature": 1, "top_p": 1,
        "max_tokens": 300, "stream": false, "char_name": "Mira", "user_name": "Rin", "group_names": [],
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload.as_object().unwrap().clone()
}

fn built(source: &str, model: &str, messages: Value, more: Value, profile: &Profile) -> Request {
    request(&payload(source, model, messages, more), &Config::default(), profile).unwrap()
}

fn converter<'a>(names: &'a Names, profile: &'a Profile) -> Converter<'a> {
    Converter { names, placeholder: "…", profile }
}

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
}

// provider.merge

#[test]
fn media_survive_a_label() {
    let messages = json!([{"role": "user", "name": "Том", "content": [image()]}]);
    let lost = post(&messages, "merge", &off());
    assert!(!lost.to_string().contains("base64"), "F1: {lost}");
    let kept = post(&messages, "merge", &with("provider.merge"));
    assert_eq!(kept[0]["content"], json!([{"type": "text", "text": "Том: "}, image()]));
    let behind =
        json!([{"role": "user", "name": "Том", "content": [image(), {"type": "text", "text": "вот"}]}]);
    let kept = post(&behind, "merge", &with("provider.merge"));
    assert_eq!(kept[0]["content"], json!([image(), {"type": "text", "text": "Том: вот"}]));
}

#[test]
fn empty_messages_leave_no_blank_lines() {
    let messages = json!([
        {"role": "user", "content": "a"}, {"role": "user", "content": ""}, {"role": "user", "content": "b"},
    ]);
    let glued = post(&messages, "merge", &off());
    assert_eq!(glued, json!([{"role": "user", "content": "a"}, {"role": "user", "content": "\n\nb"}]), "F2");
    let clean = post(&messages, "merge", &with("provider.merge"));
    assert_eq!(clean, json!([{"role": "user", "content": "a\n\nb"}]));
}

#[test]
fn tool_calls_survive_a_merge() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "roll", "arguments": "{}"}});
    let messages = json!([
        {"role": "assistant", "content": "骰子"},
        {"role": "assistant", "content": "滚", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "3"},
    ]);
    let lost = post(&messages, "merge_tools", &off());
    assert_eq!(lost[0], json!({"role": "assistant", "content": "骰子\n\n滚"}), "F3");
    let kept = post(&messages, "merge_tools", &with("provider.merge"));
    assert_eq!(kept[0], json!({"role": "assistant", "content": "骰子\n\n滚", "tool_calls": [call]}));
    assert_eq!(kept[1]["role"], "tool");
    let bare = json!([
        {"role": "user", "content": "roll"}, {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "user", "content": "3"},
    ]);
    assert_eq!(post(&bare, "merge", &off()).as_array().unwrap().len(), 3, "F4");
    assert_eq!(
        post(&bare, "merge", &with("provider.merge")),
        json!([{"role": "user", "content": "roll\n\n3"}])
    );
}

#[test]
fn unknown_parts_pass_through() {
    let file = json!({"type": "file", "file": {"id": "f"}});
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": "a"}, file, {"type": "text", "text": "b"}]}]);
    assert_eq!(post(&messages, "merge", &off())[0]["content"], "a\n\n\n\nb", "F6a");
    let kept = post(&messages, "merge", &with("provider.merge"));
    assert_eq!(
        kept[0]["content"],
        json!([{"type": "text", "text": "a"}, file, {"type": "text", "text": "b"}])
    );
}

#[test]
fn lists_of_parts_are_merged_as_lists() {
    let (names, st, on) = (names(), off(), with("provider.merge"));
    let parts = json!([{"type": "text", "text": "見て"}, image()]);
    let messages = json!([{"role": "user", "content": parts}, {"role": "user", "content": "どう?"}]);
    let messages = messages.as_array().unwrap();
    let glued = converter(&names, &st).ai21(messages).unwrap();
    assert_eq!(glued[0]["content"], "[object Object],[object Object]\n\nどう?", "F17");
    let merged = converter(&names, &on).ai21(messages).unwrap();
    assert_eq!(merged[0]["content"].as_array().unwrap().len(), 3);
    let speaking = json!([{"role": "user", "name": "Rin", "content": parts}]);
    let speaking = speaking.as_array().unwrap();
    assert!(converter(&names, &st).cohere(speaking).is_err(), "F17: the reference fails");
    let labelled = converter(&names, &on).cohere(speaking).unwrap();
    assert_eq!(labelled[0]["content"][0]["text"], "Rin: 見て");
    let results = json!([
        {"role": "assistant", "tool_calls": []}, {"role": "assistant", "content": "x"},
        {"role": "tool", "tool_call_id": "a", "content": "1"}, {"role": "tool", "tool_call_id": "b", "content": "2"},
    ]);
    let results = results.as_array().unwrap();
    let glued = converter(&names, &st).ai21(results).unwrap();
    assert_eq!(
        (&glued[0]["content"], &glued[1]["content"]),
        (&json!("undefined\n\nx"), &json!("1\n\n2")),
        "F19a"
    );
    let kept = converter(&names, &on).ai21(results).unwrap();
    assert_eq!(kept.iter().filter(|m| m["role"] == "tool").count(), 2);
}

// provider.names

#[test]
fn a_label_is_the_display_name_once() {
    let names = Names { char: "Alice B".into(), user: "Rin".into(), group: vec![] };
    let messages = [json!({"role": "assistant", "name": "Alice_B", "content": "hi"})];
    let run = |profile: &Profile| post_process(&messages, "single", &names, "…", profile).0;
    assert_eq!(run(&off())[0]["content"], "Alice B: Alice_B: hi", "F6");
    assert_eq!(run(&with("provider.names"))[0]["content"], "Alice B: hi");
}

#[test]
fn no_labels_when_names_are_off() {
    let config = Config::from_value(&json!({"names": false}));
    let payload = payload(
        "custom",
        "m",
        json!([{"role": "user", "content": "привет"}]),
        json!({"custom_url": "http://x", "custom_prompt_post_processing": "single"}),
    );
    let text = |profile: &Profile| {
        request(&payload, &config, profile).unwrap().body["messages"][0]["content"].clone()
    };
    assert_eq!(text(&off()), "Rin: привет", "F5");
    assert_eq!(text(&with("provider.names")), "привет");
}

#[test]
fn claude_labels_once() {
    let (names, st, on) = (names(), off(), with("provider.names"));
    let messages = json!([{"role": "user", "name": "Tom", "content": "Tom: hi"}]);
    let text = |p: &Profile| {
        converter(&names, p).claude(messages.as_array().unwrap(), "", true, false).unwrap()["messages"][0]["content"][0]["text"].clone()
    };
    assert_eq!(text(&st), "Tom: Tom: hi", "F7");
    assert_eq!(text(&on), "Tom: hi");
    let parts = json!([{"role": "user", "name": "Tom", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]);
    let texts = |p: &Profile| {
        let out = converter(&names, p).claude(parts.as_array().unwrap(), "", true, false).unwrap();
        out["messages"][0]["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|b| b["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&st), ["Tom: a", "Tom: b"]);
    assert_eq!(texts(&on), ["Tom: a", "b"]);
}

#[test]
fn names_do_not_stay_where_they_are_refused() {
    let (names, st, on) = (names(), off(), with("provider.names"));
    let messages = json!([{"role": "user", "name": "Rin", "content": "Rin: 안녕"}, {"role": "system", "name": "Narrator", "content": "…"}]);
    let messages = messages.as_array().unwrap();
    let left = |p: &Profile| {
        converter(&names, p)
            .mistral(messages, false)
            .unwrap()
            .iter()
            .filter(|m| m.get("name").is_some())
            .count()
    };
    assert_eq!((left(&st), left(&on)), (2, 0), "F15");
    let member = json!([{"role": "assistant", "name": "洛恩", "content": "e"}]);
    let who =
        |p: &Profile| converter(&names, p).xai(member.as_array().unwrap()).unwrap()[0]["content"].clone();
    assert_eq!((who(&st), who(&on)), (json!("Mira: e"), json!("洛恩: e")), "F18");
    let skipped = json!([
        {"role": "assistant", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
        {"role": "user", "name": "Rin", "content": "b"},
    ]);
    let last = |p: &Profile| converter(&names, p).cohere(skipped.as_array().unwrap()).unwrap()[1].clone();
    assert_eq!(last(&st), json!({"role": "user", "name": "Rin", "content": "b"}), "F19");
    assert_eq!(last(&on), json!({"role": "user", "content": "Rin: b"}));
    let example = json!([{"role": "system", "name": "example_user", "content": "q"}, {"role": "user", "name": "Rin", "content": "x"}]);
    let sent = |source: &str, p: &Profile| {
        built(source, "m", example.clone(), json!({"custom_url": "http://x"}), p).body["messages"].clone()
    };
    assert_eq!(sent("groq", &st), example, "F29");
    assert_eq!(
        sent("groq", &on),
        json!([{"role": "system", "content": "Rin: q"}, {"role": "user", "content": "Rin: x"}])
    );
    assert_eq!(sent("openai", &on), example, "OpenAI knows the field");
}

// provider.blocks

#[test]
fn claude_gets_nothing_empty_and_pictures_by_reference() {
    let (names, st, on) = (names(), off(), with("provider.blocks"));
    let run = |messages: &Value, prefill: &str, p: &Profile| {
        converter(&names, p).claude(messages.as_array().unwrap(), prefill, true, false).unwrap()
    };
    let picture = json!([
        {"role": "system", "content": [{"type": "text", "text": "S"}, image()]}, {"role": "user", "content": "看"},
    ]);
    assert!(run(&picture, "", &st)["system"][0]["text"].is_array(), "F10");
    let fixed = run(&picture, "", &on);
    assert_eq!(fixed["system"], json!([{"type": "text", "text": "S"}]));
    assert_eq!(fixed["messages"][0]["content"][0]["type"], "image");
    let example = json!([{"role": "user", "content": "a"}, {"role": "system", "name": "example_user", "content": [image()]}]);
    assert!(converter(&names, &st).claude(example.as_array().unwrap(), "", true, false).is_err(), "F10");
    assert!(converter(&names, &on).claude(example.as_array().unwrap(), "", true, false).is_ok());
    let remote = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://host/a.png"}}]}]);
    assert_eq!(
        run(&remote, "", &st)["messages"][0]["content"][0]["source"]["media_type"],
        "//host/a.png",
        "F11"
    );
    assert_eq!(
        run(&remote, "", &on)["messages"][0]["content"][0]["source"],
        json!({"type": "url", "url": "https://host/a.png"})
    );
    let empty = json!([{"role": "user", "content": ""}, {"role": "assistant", "content": "x"}]);
    assert_eq!(run(&empty, "  ", &st)["messages"][0]["content"][0]["text"], "", "F12");
    let fixed = run(&empty, "  ", &on);
    assert_eq!(fixed["messages"][0], json!({"role": "user", "content": [{"type": "text", "text": "…"}]}));
    assert_eq!(fixed["messages"].as_array().unwrap().len(), 2, "a blank prefill is no turn");
    let nothing = json!([]);
    let without_system =
        |p: &Profile| converter(&names, p).claude(nothing.as_array().unwrap(), "", false, false).unwrap();
    assert_eq!(without_system(&st)["messages"], json!([]), "F12");
    assert_eq!(without_system(&on)["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn gemini_gets_nothing_empty_and_signed_text_once() {
    let (names, st, on) = (names(), off(), with("provider.blocks"));
    let run = |messages: &Value, p: &Profile| {
        converter(&names, p).google(messages.as_array().unwrap(), "gemini-3-pro", true, true).unwrap()["contents"].clone()
    };
    let remote = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://h/a.png"}}]}]);
    assert_eq!(run(&remote, &st), json!([{"role": "user", "parts": []}]), "F24");
    assert_eq!(run(&remote, &on), json!([{"role": "user", "parts": [{"text": "…"}]}]));
    let signed = json!([{"role": "assistant", "content": "A1"}, {"role": "assistant", "content": "A2", "signature": "S"}]);
    let twice =
        json!([{"role": "model", "parts": [{"text": "A1\n\nA2"}, {"text": "A2", "thoughtSignature": "S"}]}]);
    assert_eq!(run(&signed, &st), twice, "F25");
    let once = json!([{"role": "model", "parts": [{"text": "A1"}, {"text": "A2", "thoughtSignature": "S"}]}]);
    assert_eq!(run(&signed, &on), once);
}

// provider.tools

#[test]
fn text_beside_calls_is_kept_and_odd_arguments_go() {
    let (names, st, on) = (names(), off(), with("provider.tools"));
    let calls = |arguments: &str| json!([{"role": "assistant", "content": "ดูสิ", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": arguments}}]}]);
    let claude = |arguments: &str, p: &Profile| {
        converter(&names, p).claude(calls(arguments).as_array().unwrap(), "", true, true)
    };
    assert_eq!(claude("{}", &st).unwrap()["messages"][0]["content"].as_array().unwrap().len(), 1, "F8");
    let kept = claude("{}", &on).unwrap();
    assert_eq!(kept["messages"][0]["content"][0], json!({"type": "text", "text": "ดูสิ"}));
    assert!(claude("", &st).is_err() && claude("no json", &st).is_err(), "F9");
    assert_eq!(claude("", &on).unwrap()["messages"][0]["content"][1]["input"], json!({}));
    assert_eq!(
        claude("no json", &on).unwrap()["messages"][0]["content"][1]["input"],
        json!({"_raw": "no json"})
    );
    let google = |p: &Profile| {
        converter(&names, p).google(calls("{}").as_array().unwrap(), "gemini-2.5-pro", true, true).unwrap()
    };
    assert_eq!(google(&st)["contents"][0]["parts"].as_array().unwrap().len(), 1);
    assert_eq!(google(&on)["contents"][0]["parts"][0], json!({"text": "ดูสิ"}));
}

#[test]
fn deepseek_gets_the_reasoning_it_gave() {
    let messages = json!([
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "reasoning": "想", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
    ]);
    let sent =
        |p: &Profile| built("deepseek", "d", messages.clone(), json!({}), p).body["messages"][1].clone();
    assert_eq!(sent(&off())["reasoning_content"], "", "F19b");
    assert_eq!(sent(&with("provider.tools"))["reasoning_content"], "想");
    assert!(sent(&with("provider.tools")).get("reasoning").is_none());
}

// provider.prefill

#[test]
fn the_recorded_report_on_trailing_space_is_right() {
    let cases = golden::cases("reports");
    let case = cases.iter().find(|c| c.json["name"] == "assistant-tail-has-no-space").unwrap();
    for (profile, side) in [(Profile::promptside(), "right"), (off(), "wrong")] {
        let last: Vec<Value> = case.json["input"]["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|input| {
                let more = json!({"assistant_prefill": input["assistant_prefill"].as_str().unwrap_or(""), "reasoning_effort": "auto"});
                let sent = built("claude", "claude-sonnet-4-5", input["messages"].clone(), more, &profile);
                let turns = sent.body["messages"].as_array().unwrap();
                if turns.len() > 2 {
                    assert_eq!(turns[1]["content"][0]["text"], "Wait. \n", "earlier turns stay");
                }
                turns.last().unwrap()["content"].as_array().unwrap().last().unwrap()["text"].clone()
            })
            .collect();
        let wanted = case.json[side]["last_text"].as_array().unwrap();
        // The reference trims the setting, the report's other system did not.
        let compared = if side == "right" { 2 } else { 1 };
        assert_eq!(last[..compared], wanted[..compared], "{side}");
    }
    let sent = built(
        "claude",
        "claude-sonnet-4-5",
        json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "Sure \n"}]),
        json!({}),
        &with("provider.prefill"),
    );
    assert_eq!(sent.trimmed, " \n");
}

#[test]
fn a_refused_prefill_becomes_an_instruction_on_other_routes() {
    let messages = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "Es war "}]);
    let sent = |model: &str, p: &Profile| built("openrouter", model, messages.clone(), json!({}), p);
    assert_eq!(sent("anthropic/claude-opus-4.7", &off()).body["messages"], messages, "F14");
    let on = with("provider.prefill");
    let fixed = sent("anthropic/claude-opus-4.7", &on);
    assert_eq!(fixed.body["messages"][1]["role"], "user");
    assert!(fixed.body["messages"][1]["content"].as_str().unwrap().ends_with("\nEs war"));
    assert_eq!((fixed.notes[0].code.as_ref(), fixed.trimmed.as_str()), ("prefill-refused", " "));
    let older = sent("anthropic/claude-3.5-sonnet", &on);
    assert_eq!(older.body["messages"][1], json!({"role": "assistant", "content": "Es war"}));
    assert_eq!(sent("openai/gpt-4o", &on).body["messages"], messages, "others keep it");
}

#[test]
fn mistral_is_told_of_a_begun_reply() {
    let messages = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]);
    let flag = |p: &Profile| {
        built("mistralai", "m", messages.clone(), json!({}), p).body["messages"][1].get("prefix").cloned()
    };
    assert_eq!((flag(&off()), flag(&with("provider.prefill"))), (None, Some(json!(true))), "F16");
    let config = Config::from_value(&json!({"mistral.enablePrefix": false}));
    let refused =
        request(&payload("mistralai", "m", messages, json!({})), &config, &Profile::promptside()).unwrap();
    assert!(refused.body["messages"][1].get("prefix").is_none(), "unless the host turns it off");
}

// provider.headers

#[test]
fn a_begun_reply_that_is_repeated_is_left_out() {
    let begun = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "Она «"}]);
    let sent = |source: &str, p: &Profile| built(source, "m", begun.clone(), json!({}), p);
    assert_eq!(sent("mistralai", &with("provider.prefill")).echoed(), "Она «");
    assert_eq!((sent("mistralai", &off()).echoed(), sent("openai", &off()).echoed()), ("", ""));
    let read = |pieces: &[&str]| {
        let mut stream = Stream::new(Source::MistralAi, true, &Profile::promptside()).echoing("Она «");
        let event = |text: &&str| {
            format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
        };
        let mut seen: Vec<Event> = pieces.iter().flat_map(|p| stream.feed(event(p).as_bytes())).collect();
        seen.extend(stream.end());
        let told: String = seen
            .iter()
            .filter_map(|e| if let Event::Text { text } = e { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(told, stream.answer().text);
        told
    };
    assert_eq!(read(&["", "О", "на «", "夜» 🌙"]), "夜» 🌙");
    assert_eq!(read(&["Она «夜"]), "夜");
    assert_eq!(read(&["Она", " молчит"]), "Она молчит");
    assert_eq!(read(&["Она"]), "Она");
    assert_eq!(read(&["夜"]), "夜");
    let body = json!({"choices": [{"message": {"content": "Она «夜"}, "finish_reason": "stop"}]});
    let mut stream = Stream::new(Source::MistralAi, true, &Profile::promptside()).echoing("Она «");
    stream.feed(body.to_string().as_bytes());
    stream.end();
    assert_eq!(stream.answer().text, "夜");
}

#[test]
fn headers_and_addresses_are_the_needed_ones() {
    let on = with("provider.headers");
    let user = json!([{"role": "user", "content": "a"}]);
    let claude = |more: Value, p: &Profile| built("claude", "claude-sonnet-4-5", user.clone(), more, p);
    assert!(header(&claude(json!({}), &off()), "anthropic-beta").unwrap().contains("context-1m"), "F21");
    let fixed = claude(json!({}), &on);
    assert_eq!(header(&fixed, "anthropic-beta"), None);
    assert_eq!(header(&fixed, "anthropic-dangerous-direct-browser-access"), Some("true"));
    let proxied =
        |url: &str, p: &Profile| claude(json!({"reverse_proxy": url, "proxy_password": "x"}), p).url;
    assert_eq!(proxied("https://p.example", &off()), "https://p.example//messages", "F30");
    assert_eq!(proxied("https://p.example", &on), "https://p.example/messages");
    assert_eq!(proxied("https://p.example/v1/", &on), "https://p.example/v1/messages");
    let custom = |headers: &str, p: &Profile| {
        let more = json!({"custom_url": "http://x/v1", "custom_include_headers": headers});
        built("custom", "m", user.clone(), more, p)
    };
    assert!(custom("authorization: Basic abc", &off()).auth.is_some(), "F33: told apart by case");
    let own = custom("authorization: Basic abc\ncontent-type: application/x", &on);
    assert!(own.auth.is_none());
    assert_eq!(own.headers.len(), 2, "{:?}", own.headers);
    let keyless = Config::from_value(&json!({"keyless": true}));
    let sent =
        request(&payload("custom", "m", user, json!({"custom_url": "http://x"})), &keyless, &on).unwrap();
    assert!(sent.auth.is_none() && sent.headers.len() == 1);
}

#[test]
fn secrets_are_filled_in_from_outside() {
    let user = json!([{"role": "user", "content": "a"}]);
    let google = built("makersuite", "gemini-2.5-pro", user.clone(), json!({"stream": true}), &off());
    let (url, headers) = google.with_secret("K");
    assert!(url.ends_with(":streamGenerateContent?key=K&alt=sse") && headers.len() == 1);
    assert!(!google.url.contains("key"));
    let in_header = Config::from_value(&json!({"gemini.keyInHeader": true}));
    let sent = request(&payload("makersuite", "gemini-2.5-pro", user.clone(), json!({})), &in_header, &off())
        .unwrap();
    let (url, headers) = sent.with_secret("K");
    assert!(!url.contains('K') && headers.contains(&("x-goog-api-key".to_owned(), "K".to_owned())));
    let openai = built("openai", "gpt-4o", user, json!({}), &off());
    assert_eq!(
        serde_json::to_value(&openai.auth).unwrap(),
        json!({"secret": "key", "header": "Authorization", "prefix": "Bearer "})
    );
}

// provider.fields

#[test]
fn models_get_the_fields_they_take() {
    let on = with("provider.fields");
    let user = json!([{"role": "user", "content": "a"}]);
    let claude = |model: &str, more: Value, config: Value, p: &Profile| {
        request(&payload("claude", model, user.clone(), more), &Config::from_value(&config), p).unwrap().body
    };
    let adaptive = json!({"claude.enableAdaptiveThinking": true});
    let thinks =
        |p: &Profile| claude("claude-opus-4-6", json!({"reasoning_effort": "high"}), adaptive.clone(), p);
    assert!(thinks(&off()).contains_key("temperature"), "F20");
    assert!(!thinks(&on).contains_key("temperature") && thinks(&on).contains_key("thinking"));
    let small = claude("claude-sonnet-4-5", json!({"reasoning_effort": "high"}), json!({}), &off());
    assert_eq!(
        (&small["max_tokens"], &small["thinking"]["budget_tokens"]),
        (&json!(1324), &json!(1024)),
        "F20"
    );
    let unknown = |p: &Profile| claude("claude-haiku-5-5", json!({"top_k": 0}), json!({}), p);
    assert!(unknown(&off()).contains_key("top_p"), "F22");
    assert!(!unknown(&on).contains_key("temperature") && !unknown(&on).contains_key("top_p"));
    let schema = json!({"json_schema": {"name": "n", "value": {"type": "object"}}});
    let structured = |p: &Profile| claude("claude-sonnet-4-5", schema.clone(), json!({}), p);
    assert!(
        structured(&off()).contains_key("tools") && structured(&on)["output_config"]["format"].is_object()
    );
    let stops = |source: &str, p: &Profile| {
        built(source, "m", user.clone(), json!({"stop": []}), p).body.contains_key("stop")
    };
    assert!(
        stops("zai", &off()) && stops("chutes", &off()) && !stops("zai", &on) && !stops("chutes", &on),
        "F31"
    );
    let yaml = json!({"custom_url": "http://x", "custom_include_body": "stop: [Z]\ntools: null", "stop": ["a"], "tools": [{"type": "function"}]});
    let custom = |p: &Profile| built("custom", "m", user.clone(), yaml.clone(), p).body;
    assert_eq!(custom(&off())["stop"], json!(["a"]), "F32");
    assert_eq!((&custom(&on)["stop"], &custom(&on)["tools"]), (&json!(["Z"]), &Value::Null));
    let router = |p: &Profile| {
        built("openrouter", "x/y", user.clone(), json!({"include_reasoning": true}), p).body["reasoning"]
            .clone()
    };
    assert_eq!(router(&off()), json!({"exclude": false}), "F35");
    assert_eq!(router(&on), json!({"exclude": false, "enabled": true}));
}

#[test]
fn settings_that_are_not_sent_are_named() {
    let settings = json!({"temp_openai": 0.7, "top_p_openai": 1, "min_p_openai": 0.1, "seed": 3, "reasoning_effort": "high"});
    let user = json!([{"role": "user", "content": "a"}]);
    let more = json!({"reasoning_effort": "high", "seed": 3, "min_p": 0.1});
    let claude = built("claude", "claude-sonnet-4-5", user.clone(), more.clone(), &off());
    let named = |sent: &Request| -> Vec<String> {
        let list = promptside::provider::unsent(settings.as_object().unwrap(), sent);
        list.into_iter().map(|w| w.path).collect()
    };
    assert_eq!(named(&claude), ["temp_openai", "min_p_openai", "seed"]);
    let router = built("openrouter", "x/y", user, more, &off());
    assert!(named(&router).is_empty());
}

#[test]
fn options_add_room_for_thinking_and_rename_the_limit() {
    let user = json!([{"role": "user", "content": "a"}]);
    let config = Config::from_value(&json!({"claude.budgetOnTop": true, "custom.completionTokens": true}));
    let thinks = payload("claude", "claude-sonnet-4-5", user.clone(), json!({"reasoning_effort": "low"}));
    assert_eq!(request(&thinks, &config, &off()).unwrap().body["max_tokens"], 1324);
    let custom = payload("custom", "m", user, json!({"custom_url": "http://x"}));
    let body = request(&custom, &config, &off()).unwrap().body;
    assert_eq!((body.get("max_tokens"), &body["max_completion_tokens"]), (None, &json!(300)));
}

#[test]
fn cache_marks_find_their_models_and_places() {
    let on = with("provider.fields");
    let config =
        Config::from_value(&json!({"claude.cachingAtDepth": 0, "claude.enableSystemPromptCache": true}));
    let messages = json!([
        {"role": "system", "content": "S"}, {"role": "user", "content": "u1"}, {"role": "assistant", "content": "a1"},
        {"role": "user", "content": "u2"}, {"role": "assistant", "content": "pf"}, {"role": "system", "content": "tail"},
    ]);
    let marked = |model: &str, p: &Profile| -> Vec<usize> {
        let sent = request(&payload("openrouter", model, messages.clone(), json!({})), &config, p).unwrap();
        let list = sent.body["messages"].as_array().unwrap().clone();
        list.iter()
            .enumerate()
            .filter(|(_, m)| m.to_string().contains("cache_control"))
            .map(|(i, _)| i)
            .collect()
    };
    assert!(marked("~anthropic/claude-haiku-latest", &off()).is_empty(), "F23: not recognised");
    assert_eq!(marked("anthropic/claude-3.5-sonnet", &off()), [0, 2, 4], "F23: the begun reply is marked");
    assert_eq!(marked("~anthropic/claude-haiku-latest", &on), [0, 1, 3]);
}

#[test]
fn routes_to_anthropic_know_its_models_and_depths() {
    let on = with("provider.fields");
    let config =
        Config::from_value(&json!({"claude.cachingAtDepth": 0, "claude.enableSystemPromptCache": true}));
    let messages = json!([
        {"role": "system", "content": "S"}, {"role": "user", "content": "u1"}, {"role": "assistant", "content": "a1"},
        {"role": "user", "content": "u2"},
    ]);
    let sent = |source: &str, model: &str, p: &Profile| {
        request(&payload(source, model, messages.clone(), json!({})), &config, p).unwrap().body
    };
    let marked = |body: &Map<String, Value>| -> Vec<bool> {
        let list = body["messages"].as_array().unwrap();
        list.iter().map(|m| m.to_string().contains("cache_control")).collect()
    };
    let nano = sent("nanogpt", "anthropic/claude-sonnet-4.5", &off());
    assert_eq!(marked(&nano), [false; 4], "F23: the depth is not looked at");
    assert!(nano.contains_key("cache_control"));
    let nano = sent("nanogpt", "anthropic/claude-sonnet-4.5", &on);
    assert_eq!(marked(&nano), [false, true, false, true]);
    assert!(nano.contains_key("cache_control"), "the system text has its own field");
    for source in ["nanogpt", "electronhub"] {
        assert_eq!(marked(&sent(source, "~Claude-latest", &off())), [false; 4], "{source}");
        assert!(marked(&sent(source, "~Claude-latest", &on))[1], "{source}");
        assert_eq!(marked(&sent(source, "gpt-4o", &on)), [false; 4], "{source}");
    }
}

#[test]
fn gemini_gets_room_for_thoughts() {
    let on = with("provider.fields");
    let user = json!([{"role": "user", "content": "a"}]);
    let limit = |model: &str, effort: &str, p: &Profile| {
        let more = json!({"reasoning_effort": effort, "include_reasoning": true});
        built("makersuite", model, user.clone(), more, p).body["generationConfig"]["maxOutputTokens"].clone()
    };
    for (model, effort, off_limit, on_limit) in [
        ("gemini-2.5-pro", "auto", 300, 8492),
        ("gemini-2.5-pro", "min", 300, 428),
        ("gemini-2.5-flash", "min", 300, 300),
        ("gemini-2.5-flash", "max", 300, 600),
        ("gemini-3-pro-preview", "low", 300, 8492),
        ("gemini-2.0-flash", "auto", 300, 300),
    ] {
        assert_eq!(limit(model, effort, &off()), off_limit, "F27: {model} {effort}");
        assert_eq!(limit(model, effort, &on), on_limit, "F27: {model} {effort}");
    }
    let body = json!({"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]});
    let error = read_body(Source::MakerSuite, &body, true, &on).unwrap_err();
    assert_eq!((error.kind, error.reasons.as_slice()), (ErrorKind::Empty, &["MAX_TOKENS".to_owned()][..]));
}

#[test]
fn cohere_gets_a_schema_in_its_own_form() {
    let schema = json!({"json_schema": {"name": "n", "value": {"type": "object"}}});
    let user = json!([{"role": "user", "content": "a"}]);
    let form = |p: &Profile| {
        built("cohere", "command-a-03-2025", user.clone(), schema.clone(), p).body["response_format"].clone()
    };
    assert_eq!(form(&off()), json!({"type": "json_schema", "schema": {"type": "object"}}));
    assert_eq!(
        form(&with("provider.fields")),
        json!({"type": "json_object", "json_schema": {"type": "object"}})
    );
}

#[test]
fn media_go_where_they_are_taken() {
    let on = with("provider.blocks");
    let sound = json!({"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64,QQ=="}});
    let video = json!({"type": "video_url", "video_url": {"url": "data:video/mp4;base64,QQ=="}});
    let text = |t: &str| json!({"type": "text", "text": t});
    let messages = json!([
        {"role": "system", "content": [text("Смотри."), image()]},
        {"role": "assistant", "content": [text(""), image()]},
        {"role": "user", "content": [text("夜"), sound, video]},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": " \n"},
    ]);
    let sent = |source: &str, p: &Profile| built(source, "m", messages.clone(), json!({}), p);
    for source in ["mistralai", "cohere", "ai21"] {
        let all = sent(source, &off()).body["messages"].to_string();
        assert!(all.contains(if source == "ai21" { "[object Object]" } else { "video" }), "{source}");
        assert!(sent(source, &off()).notes.is_empty());
        assert!(sent(source, &on).notes.iter().any(|n| n.code == "media-dropped"), "{source}");
    }
    let list = |source: &str| sent(source, &on).body["messages"].clone();
    let sound = json!({"type": "input_audio", "input_audio": "QQ=="});
    assert_eq!(
        list("mistralai"),
        json!([
            {"role": "system", "content": "Смотри."},
            {"role": "user", "content": [text("夜"), sound, image(), image()]},
        ])
    );
    assert_eq!(
        list("cohere"),
        json!([
            {"role": "system", "content": "Смотри."},
            {"role": "user", "content": [text("夜"), image(), image()]},
        ])
    );
    assert_eq!(
        list("ai21"),
        json!([{"role": "system", "content": "Смотри."}, {"role": "user", "content": "夜"}])
    );
    let blank = json!([{"role": "assistant", "content": "\u{3000}"}]);
    for source in ["mistralai", "cohere", "ai21"] {
        let sent = built(source, "m", blank.clone(), json!({}), &on);
        assert_eq!(
            sent.body["messages"],
            json!([{"role": "user", "content": "[Start a new chat]"}]),
            "{source}"
        );
    }
}

#[test]
fn reasoning_models_may_get_a_developer() {
    let config = Config::from_value(&json!({"openai.developerRole": true}));
    let messages = json!([{"role": "system", "content": "S"}, {"role": "user", "content": "a"}]);
    let role = |source: &str, model: &str, config: &Config| {
        let sent = request(&payload(source, model, messages.clone(), json!({})), config, &off()).unwrap();
        sent.body["messages"][0]["role"].clone()
    };
    for (source, model, want) in [
        ("openai", "o3", "developer"),
        ("openrouter", "openai/gpt-5.1", "developer"),
        ("openai", "gpt-4.1", "system"),
    ] {
        assert_eq!(role(source, model, &config), want, "{model}");
        assert_eq!(role(source, model, &Config::default()), "system", "{model}");
    }
}

#[test]
fn marks_stand_at_published_depths() {
    let turn = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    let list = [
        turn("user", "u1"),
        turn("assistant", "a1"),
        turn("user", "u2"),
        turn("assistant", "a2"),
        turn("user", "u3"),
        turn("assistant", "pf"),
    ];
    for (depth, want) in
        [(0, vec!["u2", "u3"]), (1, vec!["a1", "a2"]), (2, vec!["u1", "u2"]), (3, vec!["a1"])]
    {
        let marked = convert::mark_cache_depth(&list, depth, "5m", true);
        let found: Vec<_> = marked
            .iter()
            .filter(|m| m["content"][0].get("cache_control").is_some())
            .map(|m| m["content"][0]["text"].as_str().unwrap())
            .collect();
        assert_eq!(found, want, "depth {depth}");
    }
}

// provider.reading

fn answer(source: Source, body: &Value, profile: &Profile) -> promptside::provider::Answer {
    read_body(source, body, true, profile).unwrap()
}

fn streamed(
    source: Source,
    events: &[Value],
    profile: &Profile,
) -> (promptside::provider::Answer, Vec<Event>) {
    let mut stream = Stream::new(source, true, profile);
    let mut seen: Vec<Event> =
        events.iter().flat_map(|e| stream.feed(format!("data: {e}\n\n").as_bytes())).collect();
    seen.extend(stream.end());
    (stream.answer().clone(), seen)
}

#[test]
fn all_of_an_answer_is_read() {
    let on = with("provider.reading");
    let parts = json!({"candidates": [{"content": {"parts": [{"text": "一"}, {"text": "二", "thoughtSignature": "S"}]}, "finishReason": "STOP"}]});
    let stream = |p: &Profile| streamed(Source::MakerSuite, std::slice::from_ref(&parts), p).0.text;
    assert_eq!((stream(&off()), stream(&on)), ("一".to_owned(), "一二".to_owned()), "F40");
    let whole = |p: &Profile| answer(Source::MakerSuite, &parts, p);
    assert_eq!((whole(&off()).text, whole(&on).text), ("一\n\n二".to_owned(), "一二".to_owned()), "F41");
    assert_eq!((whole(&off()).signature, whole(&on).signature), (String::new(), "S".to_owned()), "F42");
    let call = json!({"candidates": [{"content": {"parts": [{"text": "x"}, {"functionCall": {"name": "f", "args": {}}}]}}]});
    assert_eq!(answer(Source::MakerSuite, &call, &off()).text, "x\n\n", "F41");
    assert_eq!(answer(Source::MakerSuite, &call, &on).text, "x");
    let cohere = json!({"message": {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "да"}]}});
    assert_eq!(answer(Source::Cohere, &cohere, &off()).text, "", "F43");
    let fixed = answer(Source::Cohere, &cohere, &on);
    assert_eq!((fixed.text.as_str(), fixed.reasoning.as_str()), ("да", "hm"));
    let groq = json!({"choices": [{"message": {"content": "a", "reasoning": "r"}}]});
    assert_eq!(answer(Source::Groq, &groq, &off()).reasoning, "", "F43");
    assert_eq!(answer(Source::Groq, &groq, &on).reasoning, "r");
    let refusal = json!({"content": [], "stop_reason": "refusal"});
    assert_eq!(answer(Source::Claude, &refusal, &on).finish, Some(Finish::Filter), "F44");
}

#[test]
fn an_error_inside_a_stream_ends_it() {
    let on = with("provider.reading");
    let events = [
        json!({"choices": [{"delta": {"content": "Hal"}}]}),
        json!({"error": {"message": "Overloaded", "type": "overloaded_error"}}),
        json!({"choices": [{"delta": {"content": "lo"}}]}),
    ];
    let (st, _) = streamed(Source::OpenAi, &events, &off());
    assert_eq!(st.text, "Hallo", "F45: the reference goes on");
    let (fixed, seen) = streamed(Source::OpenAi, &events, &on);
    assert_eq!((fixed.text.as_str(), fixed.finish), ("Hal", Some(Finish::Error)));
    let Some(Event::Error { error }) = seen.iter().find(|e| matches!(e, Event::Error { .. })) else {
        panic!("{seen:?}")
    };
    assert_eq!((error.kind, error.retry), (ErrorKind::Unavailable, true));
    assert_eq!(seen.last(), Some(&Event::Done));
}

#[test]
fn unfinished_events_and_plain_bodies_are_read() {
    let read = |bytes: &[u8], p: &Profile| {
        let mut stream = Stream::new(Source::OpenAi, true, p);
        let mut seen = stream.feed(bytes);
        seen.extend(stream.end());
        (stream.answer().text.clone(), seen)
    };
    let open = "data: {\"choices\":[{\"delta\":{\"content\":\"안녕\"}}]}".as_bytes();
    assert_eq!(read(open, &off()).0, "", "F46");
    assert_eq!(read(open, &with("provider.reading")).0, "안녕");
    let body = br#"{"error":{"message":"No auth","code":401}}"#;
    assert!(!read(body, &off()).1.iter().any(|e| matches!(e, Event::Error { .. })));
    let seen = read(body, &with("provider.reading")).1;
    assert!(matches!(&seen[0], Event::Error { error } if error.kind == ErrorKind::Auth), "{seen:?}");
    let mut list = Stream::new(Source::MakerSuite, true, &with("provider.reading"));
    list.feed("[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"こん\"}]}}]}\n,".as_bytes());
    list.feed("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"にちは\"}]}}]}]".as_bytes());
    list.end();
    assert_eq!(list.answer().text, "こんにちは");
}

#[test]
fn repeated_and_further_thinking() {
    let on = with("provider.reading");
    let thought = json!({"choices": [{"delta": {"reasoning_content": "Let me"}}]});
    let twice = [thought.clone(), thought];
    assert_eq!(streamed(Source::Xai, &twice, &off()).0.reasoning, "Let meLet me", "F47");
    assert_eq!(streamed(Source::Xai, &twice, &on).0.reasoning, "Let me");
    let mistral = [json!({"choices": [{"delta": {"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"type": "text", "text": "c"},
    ]}}]})];
    assert_eq!(streamed(Source::MistralAi, &mistral, &off()).0.reasoning, "a");
    let fixed = streamed(Source::MistralAi, &mistral, &on).0;
    assert_eq!((fixed.reasoning.as_str(), fixed.text.as_str()), ("ab", "c"));
}

#[test]
fn finish_usage_and_alternatives_are_reported() {
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 1}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "שלום"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 7}}),
    ];
    let (answer, seen) = streamed(Source::Claude, &events, &off());
    assert_eq!(answer.finish, Some(Finish::Length));
    assert_eq!(
        (answer.usage.input, answer.usage.output, answer.usage.cache_read),
        (Some(9), Some(7), Some(4))
    );
    assert!(seen.contains(&Event::Finish { finish: Finish::Length }));
    let several = [
        json!({"choices": [{"index": 0, "delta": {"content": "a"}}]}),
        json!({"choices": [{"index": 2, "delta": {"content": "c"}}]}),
    ];
    let (answer, _) = streamed(Source::OpenAi, &several, &off());
    assert_eq!(answer.alternatives, ["", "c"]);
}

#[test]
fn every_answer_keeps_its_thoughts() {
    let on = with("provider.reading");
    let delta = |index: usize, delta: Value| json!({"choices": [{"index": index, "delta": delta}]});
    let events = [
        delta(0, json!({"reasoning_content": "первая"})),
        delta(2, json!({"reasoning_content": "思"})),
        delta(2, json!({"reasoning_content": "考", "content": "c"})),
        delta(1, json!({"content": "b"})),
    ];
    let body = json!({"choices": [
        {"index": 0, "message": {"content": "a", "reasoning_content": "первая"}},
        {"index": 1, "message": {"content": "b"}},
        {"index": 2, "message": {"content": "c", "reasoning_content": "思考"}},
    ]});
    for profile in [off(), on] {
        let want: &[&str] = if profile == off() { &[] } else { &["", "", "思考"][1..] };
        for answer in [streamed(Source::Custom, &events, &profile).0, answer(Source::Custom, &body, &profile)]
        {
            assert_eq!(
                (answer.reasoning.as_str(), answer.alternatives.as_slice()),
                ("первая", &["b".to_owned(), "c".to_owned()][..])
            );
            assert_eq!(answer.alternative_reasonings, want, "F48");
        }
    }
    let hidden = read_body(Source::Custom, &body, false, &Profile::promptside()).unwrap();
    assert!(hidden.alternative_reasonings.is_empty());
}

#[test]
fn origins_name_the_messages_inside() {
    let messages = json!([
        {"role": "system", "content": "S"}, {"role": "user", "content": "a"}, {"role": "user", "content": "b"},
        {"role": "assistant", "content": "c"},
    ]);
    let (_, from) = post_process(messages.as_array().unwrap(), "merge", &names(), "…", &off());
    assert_eq!(from, [vec![0], vec![1, 2], vec![3]]);
    let claude = built(
        "claude",
        "claude-3-5-sonnet",
        messages.clone(),
        json!({"use_sysprompt": true}),
        &Profile::promptside(),
    );
    assert_eq!((claude.system_origins, claude.origins), (vec![vec![0]], vec![vec![1, 2], vec![3]]));
    let gemini = built(
        "makersuite",
        "gemini-2.5-pro",
        messages,
        json!({"use_sysprompt": true}),
        &Profile::promptside(),
    );
    assert_eq!((gemini.system_origins, gemini.origins), (vec![vec![0]], vec![vec![1, 2], vec![3]]));
}

// Random messages.

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("Mira: 你好\n\nx".to_owned()),
        Just("\u{0}0\n\n\u{0}\u{0}1".to_owned()),
        "[a-zа-я洛😀 :\n]{0,12}",
    ]
}

fn part() -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(|t| json!({"type": "text", "text": t})),
        Just(json!({"type": "image_url", "image_url": {"url": IMAGE, "detail": "low"}})),
        Just(json!({"type": "image_url", "image_url": {"url": "https://h/x"}})),
        Just(json!({"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64,QQ=="}})),
        Just(json!({"type": "video_url"})),
        Just(json!({"type": "file"})),
        Just(json!({"type": 3, "text": null})),
        Just(json!("bare")),
        Just(Value::Null),
    ]
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::from),
        2 => prop::collection::vec(part(), 0..4).prop_map(Value::from),
        1 => prop_oneof![Just(Value::Null), Just(json!(5)), Just(json!(false)), Just(json!({"a": 1}))],
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec![
        json!("system"),
        json!("user"),
        json!("assistant"),
        json!("tool"),
        json!("developer"),
        json!(7),
    ]);
    let name =
        prop::option::of(prop::sample::select(vec!["example_user", "example_assistant", "Rin", "洛恩", ""]));
    let arguments =
        prop::sample::select(vec![json!("{}"), json!("x"), json!(""), json!({"a": 1}), Value::Null]);
    let calls = prop::option::weighted(0.25, prop::collection::vec(arguments, 0..3));
    (role, prop::option::weighted(0.9, content()), name, calls, prop::option::weighted(0.2, text())).prop_map(
        |(role, content, name, calls, signature)| {
            let mut m = json!({"role": role, "tool_call_id": "c0"});
            let fields = m.as_object_mut().unwrap();
            fields.extend(content.map(|c| ("content".to_owned(), c)));
            fields.extend(name.map(|n| ("name".to_owned(), json!(n))));
            fields.extend(signature.map(|s| ("signature".to_owned(), json!(s))));
            fields.extend(calls.map(|c| {
                let calls: Vec<Value> = c
                    .iter()
                    .enumerate()
                    .map(|(i, a)| json!({"id": format!("c{i}"), "function": {"name": "f", "arguments": a}}))
                    .collect();
                ("tool_calls".to_owned(), json!(calls))
            }));
            m
        },
    )
}

pub(crate) fn messages() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(prop_oneof![9 => message(), 1 => Just(Value::Null)], 0..9)
}

const MODES: &[&str] =
    &["", "merge", "merge_tools", "semi", "semi_tools", "strict", "strict_tools", "single"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_source_takes_any_messages(list in messages(), mode in 0usize..8, tools: bool) {
        let mut more = json!({
            "custom_prompt_post_processing": MODES[mode], "use_sysprompt": tools, "custom_url": "http://x/", "assistant_prefill": "Sí ",
            "group_names": ["Mira", "洛恩"],
        });
        if tools {
            more["tools"] = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]);
        }
        let config = Config::from_value(&json!({"claude.cachingAtDepth": 1, "claude.enableSystemPromptCache": true}));
        for source in Source::ALL.iter().filter(|s| **s != Source::CometApi) {
            let payload = payload(source.as_str(), "anthropic/claude-opus-5", json!(list), more.clone());
            let sent = request(&payload, &config, &Profile::promptside());
            prop_assert!(sent.is_ok(), "{source:?}: {sent:?}");
            let sent = sent.unwrap();
            prop_assert!(serde_json::from_str::<Value>(&sent.body_text()).is_ok());
            let known = sent.origins.iter().chain(&sent.system_origins).flatten().all(|i| *i < list.len());
            prop_assert!(known, "{source:?}");
            // The reference may fail, but never we.
            let _ = request(&payload, &config, &off());
        }
    }

    #[test]
    fn strict_alternates_and_keeps_every_text(list in messages(), fixed: bool) {
        let profile = if fixed { Profile::promptside() } else { off() };
        let (out, from) = post_process(&list, "strict", &names(), "PLACEHOLDER", &profile);
        prop_assert_eq!(out.len(), from.len());
        let known = |m: &&Value| matches!(m["role"].as_str(), Some("system" | "user" | "assistant"));
        if list.iter().filter(|m| m.is_object()).all(|m| known(&m) || m["role"] == "tool") {
            prop_assert!(out.iter().skip(1).all(|m| m["role"] != "system"));
            if fixed {
                prop_assert!(out.windows(2).all(|w| w[0]["role"] != w[1]["role"]), "{:?}", out);
                let first = out.iter().find(|m| m["role"] != "system").unwrap();
                prop_assert_eq!(&first["role"], "user");
            }
        }
        if fixed {
            let whole = promptside::js::stringify(&json!(out));
            for message in list.iter().filter(|m| m["content"].is_string()) {
                for line in message["content"].as_str().unwrap().split("\n\n") {
                    let line = promptside::js::stringify(&json!(line));
                    prop_assert!(whole.contains(&line[1..line.len() - 1]), "{} is not in {}", line, whole);
                }
            }
        }
    }

    #[test]
    fn claude_and_gemini_turns_alternate(list in messages()) {
        let (names, profile) = (names(), Profile::promptside());
        let c = converter(&names, &profile);
        let claude = c.claude(&list, "", true, true).unwrap();
        let gemini = c.google(&list, "gemini-2.5-pro", true, true).unwrap();
        for (turns, key) in [(&claude["messages"], "content"), (&gemini["contents"], "parts")] {
            let turns = turns.as_array().unwrap();
            prop_assert!(!turns.is_empty());
            prop_assert!(turns.windows(2).all(|w| w[0]["role"] != w[1]["role"]));
            prop_assert!(turns.iter().all(|t| !t[key].as_array().unwrap().is_empty()), "{:?}", turns);
            prop_assert!(turns.iter().flat_map(|t| t[key].as_array().unwrap()).all(|p| p.get("text").is_none_or(|t| t != "")));
        }
    }

    #[test]
    fn a_stream_cut_anywhere_reads_the_same(cuts in prop::collection::vec(0usize..600, 0..12), crlf: bool) {
        let events = [
            json!({"choices": [{"index": 0, "delta": {"content": "Доб", "reasoning": "хм"}}]}),
            json!({"choices": [{"index": 0, "delta": {"content": "рый 晩😀", "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{\"a\""}}]}}]}),
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}, "finish_reason": "tool_calls"}]}),
        ];
        let end = if crlf { "\r\n" } else { "\n" };
        let mut text = format!(": start{end}{end}");
        for event in &events {
            text.push_str(&format!("event: x{end}data: {event}{end}{end}"));
        }
        text.push_str(&format!("data: [DONE]{end}{end}"));
        for profile in [off(), Profile::promptside()] {
            let mut cuts: Vec<usize> = cuts.iter().map(|c| (*c).min(text.len())).collect();
            cuts.sort_unstable();
            let mut stream = Stream::new(Source::OpenRouter, true, &profile);
            let (mut from, mut shown) = (0, String::new());
            for to in cuts.into_iter().chain([text.len()]) {
                for event in stream.feed(&text.as_bytes()[from..to]) {
                    if let Event::Text { text } = event {
                        shown.push_str(&text);
                    }
                }
                from = to;
            }
            stream.end();
            let answer = stream.answer();
            prop_assert_eq!(&answer.text, "Добрый 晩😀");
            prop_assert_eq!(&shown, &answer.text);
            prop_assert_eq!(&answer.reasoning, "хм");
            prop_assert_eq!(&answer.tool_calls[0]["function"]["arguments"], "{\"a\":1}");
            prop_assert_eq!(answer.finish, Some(Finish::Tools));
        }
    }
}
