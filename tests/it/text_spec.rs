//! Text completion by the specification: the worked prompts of each template, the variants, the budgets, both sides of the
//! switches, and what holds whatever comes in (spec 07).

use promptside::api::{Session, Vocabularies};
use proptest::prelude::*;
use serde_json::{Value, json};

const SILLY: &str = "sillytavern";
const OURS: &str = "promptside";
const STORY: &str = "{{#if system}}{{system}}\n{{/if}}{{#if wiBefore}}{{wiBefore}}\n{{/if}}{{#if description}}{{description}}\n{{/if}}{{#if personality}}{{personality}}\n{{/if}}{{#if scenario}}{{scenario}}\n{{/if}}{{#if wiAfter}}{{wiAfter}}\n{{/if}}{{#if persona}}{{persona}}\n{{/if}}{{trim}}";

fn template(wrap: bool, parts: [&str; 8], more: &Value) -> Value {
    let [input, input_suffix, output, output_suffix, system, system_suffix, before, after] = parts;
    let mut out = json!({
        "input_sequence": input, "input_suffix": input_suffix, "output_sequence": output, "output_suffix": output_suffix,
        "system_sequence": system, "system_suffix": system_suffix, "story_string_prefix": before,
        "story_string_suffix": after, "wrap": wrap, "macro": true, "names_behavior": "force", "stop_sequence": "",
        "first_output_sequence": "", "last_output_sequence": "",
    });
    for (key, value) in more.as_object().cloned().unwrap_or_default() {
        out[key] = value;
    }
    out
}

fn chatml() -> Value {
    let end = "<|im_end|>\n";
    template(
        true,
        [
            "<|im_start|>user",
            end,
            "<|im_start|>assistant",
            end,
            "<|im_start|>system",
            end,
            "<|im_start|>system",
            end,
        ],
        &json!({"stop_sequence": "<|im_end|>"}),
    )
}

fn message(name: &str, is_user: bool, text: &str) -> Value {
    json!({"name": name, "is_user": is_user, "mes": text, "extra": {}})
}

fn chat() -> Value {
    json!([message("Mira", false, "Welcome!"), message("Alex", true, "Hi.")])
}

/// The short input of spec 07 §9.2.
fn short(instruct: Option<Value>) -> Value {
    let mut text = json!({
        "api": "textgen", "textgen": {"type": "koboldcpp", "max_context": 100_000, "response_length": 0},
        "context": {"story_string": STORY, "chat_start": if instruct.is_some() { "" } else { "***" },
            "example_separator": if instruct.is_some() { "" } else { "***" }, "story_string_position": 0},
        "sysprompt": {"content": "SYS"},
    });
    if let Some(instruct) = instruct {
        text["instruct"] = instruct;
    }
    json!({
        "characters": [{"avatar": "m.png", "card": {"name": "Mira", "description": "Keeper.", "first_mes": ""}}],
        "persona": {"name": "Alex"},
        "chat": chat(),
        "settings": {"power_user": {"token_padding": 0}},
        "text": text,
    })
}

fn session(scene: &Value, profile: &str) -> Session {
    let options = json!({"profile": profile, "tokenizer": "codepoints", "random": {"seed": 1}, "now": 1_741_064_767_000_i64});
    Session::new(&scene.to_string(), &options.to_string(), Vocabularies::default()).unwrap()
}

/// Starts a round; what the room looks at afterwards.
fn inspect(scene: &Value, start: &Value, profile: &str) -> Result<Value, String> {
    let mut session = session(scene, profile);
    let mut input = json!({"type": "start"});
    for (key, value) in start.as_object().cloned().unwrap_or_default() {
        input[key] = value;
    }
    let out = session.call("step", &json!({"input": input}).to_string()).map_err(|e| e.to_string())?;
    if let Some(at) = out.find("\"type\":\"error\"") {
        return Err(out[at..].to_owned());
    }
    let seen: Value = serde_json::from_str(&session.call("inspect", "{}").unwrap()).unwrap();
    Ok(seen)
}

fn prompt_as(scene: &Value, start: &Value, profile: &str) -> String {
    let seen = inspect(scene, start, profile).unwrap();
    seen["payload"]["prompt"].as_str().unwrap().to_owned()
}

fn prompt(scene: &Value, start: &Value) -> String {
    prompt_as(scene, start, SILLY)
}

/// The scene with values at pointers changed.
fn with(mut scene: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, value) in changes {
        let mut at = &mut scene;
        for key in pointer.split('/').skip(1) {
            at = match key.parse::<usize>() {
                Ok(i) => &mut at[i],
                Err(_) => &mut at[key],
            };
        }
        *at = value.clone();
    }
    scene
}

#[test]
fn worked_prompts_of_each_template() {
    const S: &str = "Write Mira's next reply in a fictional chat between Mira and Alex.\nMira is a lighthouse keeper.\ncalm, curious\nA storm is coming.\nAlex is a sailor.";
    let eot = "<|eot_id|>";
    let turn = "<|END_OF_TURN_TOKEN|>";
    let filler =
        "Let's get started. Please respond based on the information and instructions provided above.";
    let gemma = "<end_of_turn>\n";
    let deepseek = "<｜end▁of▁sentence｜>";
    let cases: Vec<(&str, Value, String)> = vec![
        (
            "ChatML",
            chatml(),
            format!(
                "<|im_start|>system\n{S}<|im_end|>\n<|im_start|>user\nAlex: Is it lit?<|im_end|>\n<|im_start|>assistant\nIt always is.<|im_end|>\n<|im_start|>assistant\n*She waves.* Welcome!<|im_end|>\n<|im_start|>user\nHi. Is it safe here?<|im_end|>\n<|im_start|>assistant\n"
            ),
        ),
        (
            "Llama 3 Instruct",
            template(
                false,
                [
                    "<|start_header_id|>user<|end_header_id|>\n\n",
                    eot,
                    "<|start_header_id|>assistant<|end_header_id|>\n\n",
                    eot,
                    "<|start_header_id|>system<|end_header_id|>\n\n",
                    eot,
                    "<|start_header_id|>system<|end_header_id|>\n\n",
                    eot,
                ],
                &json!({}),
            ),
            format!(
                "<|start_header_id|>system<|end_header_id|>\n\n{S}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAlex: Is it lit?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nIt always is.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n*She waves.* Welcome!<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi. Is it safe here?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
            ),
        ),
        (
            "Mistral V7",
            template(
                false,
                [
                    "[INST] ",
                    "[/INST]",
                    " ",
                    "</s>",
                    "[SYSTEM_PROMPT] ",
                    "[/SYSTEM_PROMPT]",
                    "[SYSTEM_PROMPT] ",
                    "[/SYSTEM_PROMPT]",
                ],
                &json!({}),
            ),
            format!(
                "[SYSTEM_PROMPT] {S}[/SYSTEM_PROMPT][INST] Alex: Is it lit?[/INST] It always is.</s> *She waves.* Welcome!</s>[INST] Hi. Is it safe here?[/INST] "
            ),
        ),
        (
            "Mistral V3-Tekken",
            template(
                false,
                ["[INST]", "", "[/INST]", "</s>", "", "", "[INST]", "[/INST]Understood.</s>"],
                &json!({"system_same_as_user": true, "user_alignment_message": filler}),
            ),
            format!(
                "[INST]{S}[/INST]Understood.</s>[INST]Alex: Is it lit?[/INST]It always is.</s>[INST]{filler}[/INST]*She waves.* Welcome!</s>[INST]Hi. Is it safe here?[/INST]"
            ),
        ),
        (
            "Mistral V2 & V3",
            template(
                false,
                ["[INST] ", "", "[/INST] ", "</s>", "", "", "[INST] ", "[/INST] Understood.</s>"],
                &json!({"system_same_as_user": true, "user_alignment_message": filler, "last_output_sequence": "[/INST]"}),
            ),
            format!(
                "[INST] {S}[/INST] Understood.</s>[INST] Alex: Is it lit?[/INST] It always is.</s>[INST] {filler}[/INST] *She waves.* Welcome!</s>[INST] Hi. Is it safe here?[/INST]"
            ),
        ),
        (
            "Gemma 2",
            template(
                true,
                [
                    "<start_of_turn>user",
                    gemma,
                    "<start_of_turn>model",
                    gemma,
                    "<start_of_turn>system",
                    gemma,
                    "<start_of_turn>user",
                    gemma,
                ],
                &json!({"system_same_as_user": true}),
            ),
            format!(
                "<start_of_turn>user\n{S}<end_of_turn>\n<start_of_turn>user\nAlex: Is it lit?<end_of_turn>\n<start_of_turn>model\nIt always is.<end_of_turn>\n<start_of_turn>model\n*She waves.* Welcome!<end_of_turn>\n<start_of_turn>user\nHi. Is it safe here?<end_of_turn>\n<start_of_turn>model\n"
            ),
        ),
        (
            "Alpaca",
            template(
                true,
                ["### Instruction:", "\n\n", "### Response:", "\n\n", "### Input:", "\n\n", "", "\n\n"],
                &json!({}),
            ),
            format!(
                "{S}\n\n### Instruction:\nAlex: Is it lit?\n\n### Response:\nIt always is.\n\n### Response:\n*She waves.* Welcome!\n\n### Instruction:\nHi. Is it safe here?\n\n### Response:\n"
            ),
        ),
        (
            "Command R",
            template(
                false,
                [
                    "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
                    turn,
                    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
                    turn,
                    "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>",
                    turn,
                    "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>",
                    turn,
                ],
                &json!({}),
            ),
            format!(
                "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>{S}<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Alex: Is it lit?<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>It always is.<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>*She waves.* Welcome!<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi. Is it safe here?<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"
            ),
        ),
        (
            "DeepSeek-V2.5",
            template(
                false,
                ["<｜User｜>", "", "<｜Assistant｜>", deepseek, "", "", "", ""],
                &json!({"system_same_as_user": true}),
            ),
            format!(
                "{S}<｜User｜>Alex: Is it lit?<｜Assistant｜>It always is.<｜end▁of▁sentence｜><｜Assistant｜>*She waves.* Welcome!<｜end▁of▁sentence｜><｜User｜>Hi. Is it safe here?<｜Assistant｜>"
            ),
        ),
    ];
    for (name, instruct, want) in cases {
        let mut scene = short(Some(instruct));
        scene["characters"][0]["card"] = json!({
            "name": "Mira", "description": "Mira is a lighthouse keeper.", "personality": "calm, curious",
            "scenario": "A storm is coming.", "mes_example": "<START>\nAlex: Is it lit?\nMira: It always is.", "first_mes": "",
        });
        scene["persona"] = json!({"name": "Alex", "description": "Alex is a sailor."});
        scene["text"]["sysprompt"]["content"] =
            json!("Write {{char}}'s next reply in a fictional chat between {{char}} and {{user}}.");
        scene["chat"] = json!([
            message("Mira", false, "*She waves.* Welcome!"),
            message("Alex", true, "Hi. Is it safe here?")
        ]);
        assert_eq!(prompt(&scene, &json!({})), want, "{name}");
    }
}

#[test]
fn variants_without_a_template() {
    let plain = || short(None);
    let head = "SYS\nKeeper.\n***\n";
    let force = |on: bool| ("/settings/power_user/always_force_name2", json!(on));
    let quiet =
        |to_loud: bool| json!({"kind": "quiet", "quiet": {"prompt": "Summarise.", "toLoud": to_loud}});
    // A template sets the switch, too.
    let off = |scene: Value| with(scene, &[force(false), ("/text/context/always_force_name2", json!(false))]);
    let normal = json!({});
    assert_eq!(prompt(&plain(), &normal), format!("{head}Mira: Welcome!\nAlex: Hi.\nMira:"));
    assert_eq!(prompt(&off(plain()), &normal), format!("{head}Mira: Welcome!\nAlex: Hi."));
    assert_eq!(
        prompt(&plain(), &json!({"kind": "impersonate"})),
        format!("{head}Mira: Welcome!\nAlex: Hi.\nAlex:")
    );
    assert_eq!(prompt(&plain(), &quiet(false)), format!("{head}Mira: Welcome!\nAlex: Hi.\nSummarise."));
    assert_eq!(prompt(&plain(), &quiet(true)), format!("{head}Mira: Welcome!\nAlex: Hi.\nSummarise.\nMira:"));
    let begun = json!([message("Alex", true, "Hi."), message("Mira", false, "Welcome to")]);
    let continued = with(plain(), &[("/chat", begun)]);
    let go_on = json!({"kind": "continue"});
    assert_eq!(prompt(&off(continued.clone()), &go_on), format!("{head}Alex: Hi.\nMira: Welcome to"));
    let biased = with(plain(), &[("/settings/power_user/user_prompt_bias", json!("OK: "))]);
    assert_eq!(prompt(&off(biased), &normal), format!("{head}Mira: Welcome!\nAlex: Hi. OK: "));
    let injected = |depth: i64, value: &str| json!({"key": value, "value": value, "position": 1, "depth": depth, "role": 0});
    let deep = with(
        plain(),
        &[
            ("/extensionPrompts", json!([injected(0, "I0"), injected(1, "I1")])),
            ("/text/sysprompt/post_history", json!("PHI")),
        ],
    );
    assert_eq!(prompt(&deep, &normal), format!("{head}Mira: Welcome!\nI1\nAlex: Hi.\nI0\nPHI\nMira:"));
}

#[test]
fn variants_of_chatml() {
    let head = "<|im_start|>system\nSYS\nKeeper.<|im_end|>\n";
    let mira = "<|im_start|>assistant\nWelcome!<|im_end|>\n";
    let alex = "<|im_start|>user\nHi.<|im_end|>\n";
    let scene = || short(Some(chatml()));
    let set = |key: &str, value: Value| {
        let mut t = chatml();
        t[key] = value;
        short(Some(t))
    };
    let normal = json!({});
    assert_eq!(
        prompt(&scene(), &json!({"kind": "impersonate"})),
        format!("{head}{mira}{alex}<|im_start|>user\n")
    );
    assert_eq!(
        prompt(&scene(), &json!({"kind": "quiet", "quiet": {"prompt": "Q"}})),
        format!("{head}{mira}{alex}<|im_start|>system\nQ<|im_end|>\n<|im_start|>assistant\n")
    );
    assert_eq!(
        prompt(&set("names_behavior", json!("always")), &normal),
        format!(
            "{head}<|im_start|>assistant\nMira: Welcome!<|im_end|>\n<|im_start|>user\nAlex: Hi.<|im_end|>\n<|im_start|>assistant\nMira:"
        )
    );
    let mut group = scene();
    let bram = json!({"avatar": "b.png", "card": {"name": "Bram", "first_mes": ""}});
    group["characters"].as_array_mut().unwrap().push(bram);
    group["group"] = json!({"members": ["m.png", "b.png"], "generation_mode": 0});
    group["chat"] = json!([
        message("Mira", false, "Welcome!"),
        message("Bram", false, "Hm."),
        message("Alex", true, "Hi.")
    ]);
    assert_eq!(
        prompt(&group, &json!({"speaker": "m.png"})),
        format!(
            "{head}<|im_start|>assistant\nMira: Welcome!<|im_end|>\n<|im_start|>assistant\nBram: Hm.<|im_end|>\n{alex}<|im_start|>assistant\nMira:"
        )
    );
    let bare = template(
        true,
        [
            "<|im_start|>user",
            "",
            "<|im_start|>assistant",
            "",
            "<|im_start|>system",
            "",
            "<|im_start|>system",
            "",
        ],
        &json!({}),
    );
    assert_eq!(
        prompt(&short(Some(bare)), &normal),
        "<|im_start|>system\nSYS\nKeeper.\n<|im_start|>assistant\nWelcome!\n<|im_start|>user\nHi.\n<|im_start|>assistant\n"
    );
    let empty = with(scene(), &[("/chat", json!({"messages": [], "metadata": {"tainted": true}}))]);
    assert_eq!(prompt(&empty, &normal), format!("{head}\n<|im_start|>assistant\n"));
}

#[test]
fn the_worked_budget() {
    let mut scene = short(None);
    scene["text"]["sysprompt"]["content"] = json!("");
    let line = |i: usize| {
        if i.is_multiple_of(2) {
            message("Alex", true, &format!("msg{i}"))
        } else {
            message("Mira", false, &format!("msg{i}"))
        }
    };
    scene["chat"] = (1..=6).map(line).collect();
    let at = |limit: i64| {
        let scene = with(scene.clone(), &[("/text/textgen/max_context", json!(limit))]);
        prompt(&scene, &json!({})).strip_prefix("Keeper.\n***\n").unwrap().to_owned()
    };
    assert_eq!(at(29), "");
    assert_eq!(at(30), "Alex: msg6\nMira:");
    assert_eq!(at(41), "Mira: msg5\nAlex: msg6\nMira:");
    assert!(at(84).starts_with("Alex: msg2\n") && at(85).starts_with("Mira: msg1\n"));
}

fn stops(scene: &Value, params: &Value) -> Value {
    serde_json::from_str(&session(scene, SILLY).call("stops", &params.to_string()).unwrap()).unwrap()
}

#[test]
fn stop_strings() {
    assert_eq!(
        stops(&short(Some(chatml())), &json!({})),
        json!([
            "\nAlex:",
            "\n<|im_end|>",
            "\n<|im_start|>user",
            "\n<|im_start|>assistant",
            "\n<|im_start|>system"
        ])
    );
    assert_eq!(stops(&short(None), &json!({"impersonate": true})), json!(["\nMira:", "\nAlex:"]));
    let lines =
        template(false, [""; 8], &json!({"stop_sequence": "A\n  \nB", "sequences_as_stop_strings": false}));
    assert_eq!(stops(&short(Some(lines)), &json!({})), json!(["\nAlex:", "A", "B"]));
}

#[test]
fn templates_are_read_or_give_way() {
    // text.templates
    let broken =
        with(short(None), &[("/text/context/story_string", json!("{{#if description}}never closed"))]);
    assert!(inspect(&broken, &json!({}), SILLY).unwrap_err().contains("template.story"));
    let seen = inspect(&broken, &json!({}), OURS).unwrap();
    assert!(seen["payload"]["prompt"].as_str().unwrap().starts_with("SYS\nKeeper.\n***\n"));
    assert_eq!(seen["report"]["warnings"][0]["code"], "template.story");
    let rolled = with(
        short(None),
        &[("/text/context/story_string", json!("{{description}} {{roll 1d1}} {{random:水,水}}{{// no }}"))],
    );
    assert!(inspect(&rolled, &json!({}), SILLY).is_err());
    assert!(prompt_as(&rolled, &json!({}), OURS).starts_with("Keeper. 1 水\n"));
    // Narration goes under the system's name.
    let mut named = chatml();
    named["system_sequence"] = json!("<{{name}}>");
    let mut scene = short(Some(named));
    scene["extensionPrompts"] = json!([{"key": "k", "value": "И", "position": 1, "depth": 0, "role": 0}]);
    assert!(prompt(&scene, &json!({})).contains("<Mira>\nИ"));
    assert!(prompt_as(&scene, &json!({}), OURS).contains("<System>\nИ"));
}

#[test]
fn the_last_line_is_made_once() {
    // text.last_line
    let mut scene = short(None);
    scene["chat"] = json!([message("Alex", true, "Hi."), message("Mira", false, "歓迎")]);
    let start = json!({"kind": "continue"});
    assert!(prompt(&scene, &start).ends_with("Alex: Hi.\nMira:Mira: 歓迎"));
    assert!(prompt_as(&scene, &start, OURS).ends_with("Alex: Hi.\nMira: 歓迎"));
    let biased = with(short(Some(chatml())), &[("/settings/power_user/user_prompt_bias", json!("OK: "))]);
    assert!(prompt(&biased, &json!({})).ends_with("<|im_start|>assistant\nOK:\n"));
    assert!(prompt_as(&biased, &json!({}), OURS).ends_with("<|im_start|>assistant\nOK: "));
}

#[test]
fn what_does_not_fit_is_told() {
    // text.budget
    let small = |limit: i64| with(short(None), &[("/text/textgen/max_context", json!(limit))]);
    assert_eq!(prompt(&small(24), &json!({})), "SYS\nKeeper.\n***\n");
    let seen = inspect(&small(24), &json!({}), OURS).unwrap();
    assert_eq!(seen["payload"]["prompt"], "SYS\nKeeper.\n***\n\nMira:");
    assert_eq!(seen["report"]["error"]["code"], "budget.newest_message");
    assert!(inspect(&small(10), &json!({}), OURS).unwrap_err().contains("budget.mandatory"));
    // One injected text that is too long does not empty the chat.
    let long = "長".repeat(500);
    let mut scene = small(80);
    scene["extensionPrompts"] = json!([{"key": "k", "value": long, "position": 1, "depth": 3, "role": 0}]);
    assert!(!prompt(&scene, &json!({})).contains("Hi."));
    let ours = prompt_as(&scene, &json!({}), OURS);
    assert!(ours.contains("Mira: Welcome!\nAlex: Hi.\nMira:") && !ours.contains('長'));
}

#[test]
fn a_missing_model_is_noticed() {
    // text.bodies
    let scene = with(short(None), &[("/text/textgen/type", json!("ollama"))]);
    let scene =
        with(scene, &[("/chat", json!([message("Alex", true, "Hi."), message("Mira", false, "old")]))]);
    for (profile, left) in [(SILLY, 1), (OURS, 2)] {
        let mut room = session(&scene, profile);
        let result = room.call("step", r#"{"input": {"type": "start", "kind": "regenerate"}}"#);
        assert!(result.unwrap_or_else(|e| e.to_string()).contains("provider.model"), "{profile}");
        let chat: Value = serde_json::from_str(&room.call("chat", "{}").unwrap()).unwrap();
        assert_eq!(chat["messages"].as_array().unwrap().len(), left, "{profile}");
    }
    let bare = with(short(None), &[("/text/textgen/settings", json!({"dry_sequence_breakers": ""}))]);
    let sent = |profile: &str| {
        inspect(&bare, &json!({}), profile).unwrap()["payload"]["dry_sequence_breakers"].clone()
    };
    assert_eq!(sent(SILLY), json!([""]));
    assert_eq!(sent(OURS), Value::Null);
}

#[test]
fn raw_prompts() {
    let raw = |scene: &Value, params: Value| {
        let mut room = session(scene, SILLY);
        let built: Value =
            serde_json::from_str(&room.call("buildRaw", &params.to_string()).unwrap()).unwrap();
        let body: Value = serde_json::from_str(built["request"]["body"].as_str().unwrap()).unwrap();
        body["prompt"].as_str().unwrap().to_owned()
    };
    let plain = short(None);
    assert_eq!(raw(&plain, json!({"prompt": " Hello "})), "Alex: Hello\n");
    assert_eq!(
        raw(&plain, json!({"prompt": "Hello", "systemPrompt": "Be {{char}}.", "prefill": "Sure"})),
        "Be Mira.\nAlex: Hello\nSure"
    );
    assert_eq!(
        raw(
            &short(Some(chatml())),
            json!({"prompt": "Hello", "systemPrompt": "Be {{char}}.", "prefill": "Sure"})
        ),
        "<|im_start|>system\nBe Mira.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nSure\n"
    );
}

#[test]
fn answers_of_the_backends() {
    use promptside::provider::text::{TextStream, read_text};
    for body in [
        json!({"choices": [{"text": "да"}]}),
        json!({"choices": [{"message": {"content": "да"}}]}),
        json!({"content": "да"}),
        json!({"response": "да"}),
        json!({"results": [{"text": "да"}]}),
        json!([{"content": "да"}]),
    ] {
        assert_eq!(read_text(&body).unwrap().text, "да", "{body}");
    }
    assert!(read_text(&json!({"error": {"message": "no"}})).is_err());
    let streams = [
        "data: {\"choices\":[{\"text\":\"水\"}]}\n\ndata: {\"choices\":[{\"text\":\"路\"}]}\n\ndata: [DONE]\n\n",
        "data: {\"content\":\"水\"}\n\ndata: {\"content\":\"路\",\"stop\":true,\"stop_type\":\"eos\"}\n\n",
        "{\"response\":\"水\",\"done\":false}\n{\"response\":\"路\",\"done\":true,\"done_reason\":\"stop\"}\n",
        "event: message\ndata: {\"token\": \"水\"}\n\nevent: message\ndata: {\"token\": \"路\"}\n\n",
        "{\n \"choices\": [\n  {\"text\": \"水路\"}\n ]\n}",
    ];
    for text in streams {
        for size in [1, 7, 1000] {
            let mut stream = TextStream::default();
            for piece in text.as_bytes().chunks(size) {
                stream.feed(piece);
            }
            stream.end();
            assert_eq!(stream.answer().text, "水路", "{text}");
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "hi",
        "水路を",
        "привет",
        "ไทย",
        "عربي",
        "🛶👩‍🚀",
        "{{char}}",
        "a\nb",
        "<START>",
        "Mira:",
        "\r\n",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// In our profile the prompt fits, messages stand in order, and none stands twice.
    #[test]
    fn prompts_fit_and_keep_order(
        texts in prop::collection::vec(prop::collection::vec(word(), 1..6), 0..14),
        limit in 60i64..500,
        instruct: bool,
        kind in prop::sample::select(vec!["normal", "continue", "impersonate", "swipe"]),
        padding in 0i64..40,
        bias in prop::sample::select(vec!["", "*nods* ", "はい、"]),
    ) {
        let mut scene = short(instruct.then(chatml));
        scene["chat"] = texts
            .iter()
            .enumerate()
            .map(|(i, words)| message(if i.is_multiple_of(2) { "Mira" } else { "Alex" }, i % 2 == 1, &format!("№{i}; {}", words.join(" "))))
            .collect();
        scene["text"]["textgen"]["max_context"] = json!(limit);
        scene["settings"]["power_user"]["token_padding"] = json!(padding);
        scene["settings"]["power_user"]["user_prompt_bias"] = json!(bias);
        let Ok(seen) = inspect(&scene, &json!({"kind": kind}), OURS) else { return Ok(()) };
        let Some(prompt) = seen["payload"]["prompt"].as_str() else { return Ok(()) };
        prop_assert!(i64::try_from(prompt.chars().count()).unwrap() <= limit, "{prompt}");
        let places: Vec<usize> = (0..texts.len()).filter_map(|i| prompt.find(&format!("№{i};"))).collect();
        prop_assert!(places.is_sorted(), "{prompt}");
        for i in 0..texts.len() {
            prop_assert!(prompt.matches(&format!("№{i};")).count() <= 1, "{prompt}");
        }
    }
}

#[test]
fn injected_texts_without_an_anchor() {
    // 05 I11.
    let scene = with(
        short(None),
        &[
            ("/text/context/story_string", json!("{{description}}")),
            ("/extensionPrompts", json!([{"key": "k", "value": "注入", "position": 0}])),
        ],
    );
    assert!(!prompt(&scene, &json!({})).contains("注入"));
    let seen = inspect(&scene, &json!({}), "promptside").unwrap();
    assert!(seen["payload"]["prompt"].as_str().unwrap().contains("Keeper.\n注入\n"), "{}", seen["payload"]);
    assert!(seen["report"]["warnings"].to_string().contains("{{anchorAfter}} has content and no place"));
}

#[test]
fn examples_as_a_macro() {
    // Spec 04 §11.3: blocks with the separator, or as instruct mode formats them.
    let changes = [
        ("/characters/0/card/mes_example", json!("<START>\nAlex: a1\nMira: b1")),
        ("/text/sysprompt/content", json!("SYS [{{mesExamples}}]")),
    ];
    let instruct = json!({"enabled": true, "wrap": true, "input_sequence": "IN:", "output_sequence": "OUT:"});
    for profile in [SILLY, "promptside"] {
        let plain = prompt_as(&with(short(None), &changes), &json!({}), profile);
        assert!(plain.contains("SYS [***\nAlex: a1\nMira: b1\n]"), "{plain}");
        let formatted = prompt_as(&with(short(Some(instruct.clone())), &changes), &json!({}), profile);
        assert!(formatted.contains("SYS [IN:") && formatted.contains("OUT:"), "{formatted}");
        assert!(!formatted.contains("<START>"), "{formatted}");
    }
}
