//! The wire, both ways: an answer reads the same however its bytes are cut, and a body keeps its provider's rules whatever the
//! messages are.

use promptside::models::Source;
use promptside::profile::Profile;
use promptside::provider::{Config, Event, Request, Sse, SseEvent, Stream, request};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::provider::{messages, payload};

/// Pieces of a stream: events of every family, the ends of lines, and what no provider should send.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let texts = [
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Добрый 晩😀\",\"reasoning\":\"ハ\"}}]}",
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"다른\"}}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3}}",
        "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}",
        "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"к\\\":1}\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ночь\"}}",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"夜\"},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]},\"finishReason\":\"STOP\"}]}",
        "data: {\"type\":\"content-delta\",\"delta\":{\"message\":{\"content\":{\"text\":\"안녕\"}}}}",
        "data: {\"error\":{\"message\":\"плохо\",\"type\":\"overloaded_error\"}}",
        "data: [DONE]",
        "data: \u{feff}{\"choices\":",
        "data: [{\"index\":0,\"delta\":{\"content\":\"два\"}}]}",
        "data:",
        "event: error",
        "event: x",
        "id: 5",
        ": ⏳ keep-alive",
        ":",
        "{\"error\":\"x\"}",
        "[",
        "\u{feff}",
        "\0",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "\r\n\r\n",
        "\n\n",
        "\r\r",
        "\r\n\n",
        " ",
    ];
    prop_oneof![
        12 => prop::sample::select(texts.map(|t| t.as_bytes().to_vec()).to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
        1 => Just(vec![0xF0, 0x9F, 0x98]),
        1 => Just(vec![0x80, 0xE3, 0x81]),
    ]
}

/// A wire, and where it is cut.
fn wire() -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    let bytes = prop::collection::vec(piece(), 0..24).prop_map(|p| p.concat());
    (bytes, prop::collection::vec(0usize..2000, 0..10)).prop_map(|(bytes, cuts)| {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c % (bytes.len() + 1)).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        (bytes, cuts)
    })
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts.zip(cuts.iter().copied()).map(|(from, to)| &bytes[from..to]).collect()
}

fn framed(pieces: &[&[u8]], standard: bool) -> Vec<SseEvent> {
    let mut sse = Sse::new(standard);
    let mut events: Vec<SseEvent> = pieces.iter().flat_map(|p| sse.feed(p)).collect();
    events.extend(sse.end());
    events
}

fn read(source: Source, pieces: &[&[u8]], profile: &Profile) -> (promptside::provider::Answer, Vec<Event>) {
    let mut stream = Stream::new(source, true, profile);
    let mut events: Vec<Event> = pieces.iter().flat_map(|p| stream.feed(p)).collect();
    events.extend(stream.end());
    (stream.answer().clone(), events)
}

const FAMILIES: [Source; 7] = [
    Source::OpenAi,
    Source::OpenRouter,
    Source::Claude,
    Source::MakerSuite,
    Source::MistralAi,
    Source::Cohere,
    Source::Xai,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_reads_the_same_however_it_is_cut((bytes, cuts) in wire()) {
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        for standard in [true, false] {
            let whole = framed(&[&bytes], standard);
            prop_assert_eq!(&framed(&pieces(&bytes, &cuts), standard), &whole);
            prop_assert_eq!(&framed(&single, standard), &whole);
        }
        for profile in [Profile::promptside(), Profile::sillytavern()] {
            for source in FAMILIES {
                let whole = read(source, &[&bytes], &profile);
                prop_assert_eq!(&read(source, &pieces(&bytes, &cuts), &profile), &whole);
                prop_assert_eq!(&read(source, &single, &profile), &whole);
                // What was told piece by piece is what there is in the end.
                let (answer, events) = &whole;
                let told: String = events.iter().filter_map(|e| match e { Event::Text { text } => Some(text.as_str()), _ => None }).collect();
                prop_assert_eq!(&told, &answer.text);
                prop_assert_eq!(events.iter().filter(|e| matches!(e, Event::Done)).count(), 1);
                prop_assert!(matches!(events.last(), Some(Event::Done)));
            }
        }
    }
}

#[test]
fn garbage_is_skipped_and_what_is_good_is_read() {
    let wire = "\u{feff}: комментарий\r\nretry: 5\r\n\r\ndata: не JSON\r\n\r\nid\r\n\ndata: {\"choices\":[{\"index\":0,\r\ndata: \"delta\":{\"content\":\"晩😀\"}}]}\r\n\r\ndata:[DONE]\r\n\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"late\"}}]}\n\n";
    let pieces: Vec<&[u8]> = wire.as_bytes().chunks(1).collect();
    let (answer, events) = read(Source::OpenAi, &pieces, &Profile::promptside());
    assert_eq!(answer.text, "晩😀");
    assert_eq!(events, [Event::Text { text: "晩😀".to_owned() }, Event::Done]);
}

// Bodies.

/// How the list ends: as it comes, in a begun reply, in a blank one.
fn ending() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![
        None,
        Some("*Она оборачивается.* 「"),
        Some("Она… \n\u{3000} "),
        Some(""),
        Some(" \n"),
        Some("\u{200b}"),
    ])
}

fn list() -> impl Strategy<Value = Vec<Value>> {
    (messages(), ending()).prop_map(|(mut list, end)| {
        list.extend(end.map(|text| json!({"role": "assistant", "content": text})));
        list
    })
}

fn roles(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap_or("")).collect()
}

/// Whether there is something in a content: a text, or a part that is no empty text.
fn says(content: &Value) -> bool {
    match content {
        Value::String(text) => !text.is_empty(),
        Value::Array(parts) => {
            !parts.is_empty() && parts.iter().all(|p| p.get("text").is_none_or(|t| t != ""))
        }
        _ => false,
    }
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(o) => {
            usize::from(o.contains_key("cache_control"))
                + o.iter().filter(|(k, _)| *k != "cache_control").map(|(_, v)| marks(v)).sum::<usize>()
        }
        Value::Array(list) => list.iter().map(marks).sum(),
        _ => 0,
    }
}

fn sent(source: &str, model: &str, list: &[Value], more: Value) -> Request {
    let config = json!({"claude.cachingAtDepth": 0, "claude.enableSystemPromptCache": true, "claude.extendedTTL": true});
    let payload = payload(source, model, json!(list), more);
    request(&payload, &Config::from_value(&config), &Profile::promptside()).unwrap()
}

fn known(list: &[Value]) -> bool {
    let roles = ["system", "user", "assistant", "tool"];
    list.iter().filter(|m| m.is_object()).all(|m| roles.iter().any(|r| m["role"] == *r))
}

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]"#;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anthropic_bodies_keep_the_rules(list in list(), prefill in ending(), tools: bool, system: bool, think: bool, model in 0usize..4) {
        let model = ["claude-3-5-haiku-20241022", "claude-sonnet-4-5", "claude-opus-4-8", "claude-mythos-1"][model];
        let mut more = json!({
            "use_sysprompt": system, "assistant_prefill": prefill.unwrap_or(""), "include_reasoning": think,
            "reasoning_effort": if think { "high" } else { "auto" }, "stop": ["\nRin:"],
        });
        if tools {
            more["tools"] = serde_json::from_str(TOOLS).unwrap();
        }
        let request = sent("claude", model, &list, more);
        let body = Value::Object(request.body.clone());
        prop_assert!(serde_json::from_str::<Value>(&request.body_text()).is_ok());
        let turns = body["messages"].as_array().unwrap();
        prop_assert!(!turns.is_empty());
        prop_assert!(turns.iter().all(|t| says(&t["content"])), "{}", body["messages"]);
        prop_assert!(marks(&body) <= 4);
        if let Some(blocks) = body.get("system") {
            prop_assert!(says(blocks), "{}", blocks);
        }
        let Some(Value::Object(last)) = turns.last() else { unreachable!() };
        if last["role"] == "assistant" {
            let text = last["content"].as_array().unwrap().last().unwrap();
            let text = text["text"].as_str().unwrap_or("x");
            prop_assert_eq!(text.trim_end(), text, "a begun reply must not end in white space");
            prop_assert!(body.get("thinking").is_none());
        }
        if body.get("thinking").is_some() {
            prop_assert!(["temperature", "top_p", "top_k"].iter().all(|k| body.get(*k).is_none()));
            if let Some(budget) = body["thinking"]["budget_tokens"].as_u64() {
                prop_assert!((1024..body["max_tokens"].as_u64().unwrap()).contains(&budget));
            }
        }
        if known(&list) {
            let roles = roles(&body["messages"]);
            prop_assert!(roles.iter().all(|r| matches!(*r, "user" | "assistant")));
            // A begun reply that the model takes for the user's words stands behind the user's turn.
            let turned = request.notes.iter().any(|n| n.code == "prefill-as-user");
            let most = roles.len() - usize::from(turned);
            prop_assert!(roles[..most].windows(2).all(|w| w[0] != w[1]), "{:?}", roles);
        }
    }

    #[test]
    fn gemini_bodies_keep_the_rules(list in list(), system: bool, tools: bool, effort in 0usize..4, model in 0usize..4) {
        let model = ["gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3.7-flash"][model];
        let effort = ["auto", "min", "high", "max"][effort];
        let mut more = json!({"use_sysprompt": system, "reasoning_effort": effort, "include_reasoning": true, "top_k": 0});
        if tools {
            more["tools"] = serde_json::from_str(TOOLS).unwrap();
        }
        for source in ["makersuite", "vertexai"] {
            let request = sent(source, model, &list, more.clone());
            let body = Value::Object(request.body.clone());
            prop_assert!(serde_json::from_str::<Value>(&request.body_text()).is_ok());
            let contents = body["contents"].as_array().unwrap();
            prop_assert!(!contents.is_empty());
            prop_assert!(contents.iter().all(|c| says(&c["parts"])), "{}", body["contents"]);
            let roles = roles(&body["contents"]);
            prop_assert!(roles.windows(2).all(|w| w[0] != w[1]), "{:?}", roles);
            if known(&list) {
                prop_assert!(roles.iter().all(|r| matches!(*r, "user" | "model")));
            }
            if let Some(instruction) = body.get("systemInstruction") {
                prop_assert!(says(&instruction["parts"]));
            }
            let config = &body["generationConfig"];
            let budget = config["thinkingConfig"]["thinkingBudget"].as_i64().unwrap_or(0);
            prop_assert!(config["maxOutputTokens"].as_i64().unwrap() >= 300 + budget.max(0), "room for the answer");
        }
    }

    #[test]
    fn mistral_cohere_and_ai21_bodies_keep_the_rules(list in list(), tools: bool) {
        for (source, model) in [("mistralai", "mistral-large-latest"), ("cohere", "command-a-03-2025"), ("ai21", "jamba-large")] {
            let mut more = json!({"stop": ["\nRin:"]});
            if tools {
                more["tools"] = serde_json::from_str(TOOLS).unwrap();
            }
            let request = sent(source, model, &list, more);
            let body = Value::Object(request.body.clone());
            prop_assert!(serde_json::from_str::<Value>(&request.body_text()).is_ok());
            let messages = body["messages"].as_array().unwrap();
            prop_assert!(!messages.is_empty(), "{}", source);
            for message in messages {
                prop_assert!(message.get("name").is_none(), "{}: {}", source, message);
                let calls = message["tool_calls"].as_array().is_some_and(|c| !c.is_empty());
                prop_assert!(calls || message["role"] == "tool" || says(&message["content"]), "{}: {}", source, message);
                let parts = message["content"].as_array();
                let taken = |p: &Value| match (source, p["type"].as_str()) {
                    (_, Some("text")) => true,
                    ("mistralai", Some("image_url" | "input_audio")) | ("cohere", Some("image_url")) => message["role"] == "user",
                    _ => false,
                };
                prop_assert!(parts.into_iter().flatten().all(taken), "{}: {}", source, message);
            }
            if source == "mistralai" && known(&list) {
                let roles = roles(&body["messages"]);
                prop_assert!(roles.windows(2).all(|w| !(w[0] == "assistant" && w[1] == "system")), "{:?}", roles);
                let last = messages.last().unwrap();
                prop_assert!(last["role"] != "assistant" || last["prefix"] == true || last.get("tool_calls").is_some(), "{}", last);
            }
        }
    }

    #[test]
    fn openai_like_bodies_keep_the_rules(list in list(), source in 0usize..6, tools: bool) {
        let (source, model) = [
            ("openai", "gpt-4.1"), ("openrouter", "anthropic/claude-opus-4.8"), ("deepseek", "deepseek-v4"), ("xai", "grok-4"),
            ("perplexity", "sonar"), ("minimax", "M2"),
        ][source];
        let mut more = json!({"include_reasoning": true, "stop": []});
        if tools {
            more["tools"] = serde_json::from_str(TOOLS).unwrap();
        }
        let request = sent(source, model, &list, more);
        let body = Value::Object(request.body.clone());
        prop_assert!(serde_json::from_str::<Value>(&request.body_text()).is_ok());
        prop_assert!(body.get("stop").is_none());
        prop_assert!(marks(&body) <= 4);
        let messages = body["messages"].as_array().unwrap();
        let roles = roles(&body["messages"]);
        if matches!(source, "deepseek" | "perplexity") && known(&list) {
            prop_assert!(roles.iter().skip(1).all(|r| *r != "system"), "{:?}", roles);
            let turns = roles.windows(2).filter(|w| w[0] == w[1] && w[0] != "tool");
            if source == "perplexity" {
                prop_assert_eq!(turns.count(), 0, "{:?}", roles);
                prop_assert!(messages.iter().all(|m| says(&m["content"])), "{}", body["messages"]);
            }
        }
        if source == "xai" {
            prop_assert!(messages.iter().all(|m| m["role"] == "user" || m.get("name").is_none()));
        }
        if source == "openrouter"
            && let Some(last) = messages.last().filter(|m| m["role"] == "assistant")
        {
            let calls = last.get("tool_calls").is_some();
            prop_assert!(calls, "the model takes no begun reply: {}", last);
        }
    }
}
