//! Recorded scenarios of text completion through the JSON face: prompts, bodies, stored messages.

use promptside::api::{Session, Vocabularies};
use serde_json::{Map, Value, json};

use crate::golden::{self, Case};

const HOST: &str = "http://provider.test/";

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// `over` laid over `base`; objects in both are merged key by key.
fn merged(base: &Value, over: &Value) -> Value {
    let mut out = object(base);
    for (key, value) in object(over) {
        let value = match (out.get(&key), &value) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let mut both = old.clone();
                both.extend(new.clone());
                Value::Object(both)
            }
            _ => value,
        };
        out.insert(key, value);
    }
    Value::Object(out)
}

/// The chosen model is kept by backend, as the page keeps it.
fn keep_model(part: &mut Value) {
    if let Some(model) = part.as_object_mut().and_then(|o| o.shift_remove("model")) {
        let backend = part["type"].as_str().unwrap_or("ooba");
        let key = if backend == "ooba" { "custom_model".to_owned() } else { format!("{backend}_model") };
        part["settings"][key] = model;
    }
}

fn scene(case: &Case) -> Value {
    let defaults: Value = serde_json::from_str(
        &std::fs::read_to_string(golden::golden_dir().join("_defaults-text.json")).unwrap(),
    )
    .unwrap();
    let s = case.scenario();
    let mut scene = golden::scene_value(case);
    let power = merged(&scene["settings"]["power_user"], &defaults["power_user"]);
    scene["settings"]["power_user"] = merged(&power, &s["settings"]["power_user"]);
    let mut text = json!({"api": s["api"]});
    for key in ["textgen", "kobold"] {
        text[key] = merged(&defaults[key], &s[key]);
        text[key]["server"] = json!(HOST);
        text[key]["status"] = json!("Valid");
        keep_model(&mut text[key]);
    }
    for key in ["context", "instruct", "sysprompt", "reasoning"] {
        if s[key].is_object() {
            text[key] = s[key].clone();
        }
    }
    scene["text"] = text;
    scene
}

struct Run<'c> {
    case: &'c Case,
    scene: Value,
    note: Value,
    session: Session,
}

fn call(session: &mut Session, method: &str, params: &Value) -> Result<Value, promptside::Error> {
    let text = session.call(method, &params.to_string())?;
    Ok(promptside::js::parse(&text).unwrap().0)
}

impl<'c> Run<'c> {
    fn new(case: &'c Case) -> Self {
        let scene = scene(case);
        let s = case.scenario();
        let now = golden::date_ms(s["date"].as_str().unwrap_or("2025-03-04T05:06:07.000Z"));
        let options = json!({
            "profile": "sillytavern",
            "tokenizer": s["tokenizer"].as_str().map_or("codepoints", |t| if t == "real" { "codepoints" } else { t }),
            "now": now,
            "offsetMinutes": 0,
            "locale": "en-US",
            "random": if s["random"].is_array() { json!({"tape": s["random"]}) } else { json!({"seed": 1}) },
            "provider": {"app.url": "https://sillytavern.app", "app.title": "SillyTavern"},
        });
        let session = Session::new(&scene.to_string(), &options.to_string(), Vocabularies::default())
            .unwrap_or_else(|e| panic!("{}: {e}", case.id));
        Self { case, scene, note: json!({}), session }
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        call(&mut self.session, method, params).unwrap_or_else(|e| panic!("{} {method}: {e}", self.case.id))
    }

    fn chat(&mut self) -> Value {
        self.call("chat", &json!({}))
    }

    /// A round, every request answered by the next scripted reply.
    fn round(&mut self, start: &Value, step: &Value, wanted: &Value) -> Value {
        let mut result = json!({});
        let mut requests = Vec::new();
        let mut replies = step["replies"].as_array().cloned().unwrap_or_default().into_iter();
        let mut input = json!({"type": "start"});
        input.as_object_mut().unwrap().extend(object(start));
        let mut queue: std::collections::VecDeque<Value> =
            match call(&mut self.session, "step", &json!({"input": input})) {
                Ok(Value::Array(list)) => list.into(),
                Ok(other) => panic!("{other}"),
                Err(_) => {
                    result["error"] = json!(true);
                    return result;
                }
            };
        while let Some(output) = queue.pop_front() {
            match output["type"].as_str().unwrap_or("") {
                "round_plan" if self.scene["group"].is_object() && output["planned"][0].is_object() => {
                    let shown = start["kind"] != "quiet" || wanted["speakers"].is_array();
                    let planned = output["planned"].as_array().filter(|_| shown);
                    if let Some(planned) = planned {
                        let names: Vec<Value> = planned.iter().map(|p| p["name"].clone()).collect();
                        result["speakers"] = json!(names);
                    }
                }
                "result" => result["result"] = output["text"].clone(),
                "error" => result["error"] = json!(true),
                "request" => {
                    let seen = self.call("inspect", &json!({}));
                    requests.push(request(&output, &seen, &wanted["requests"][requests.len()]));
                    let reply = replies.next().unwrap_or(json!("OK."));
                    queue.extend(self.answer(&output, &reply));
                }
                _ => {}
            }
        }
        if !requests.is_empty() || wanted["requests"].is_array() {
            result["requests"] = json!(requests);
        }
        result
    }

    fn answer(&mut self, output: &Value, reply: &Value) -> Vec<Value> {
        let request = &output["id"];
        let reply = if reply.is_string() { json!({"content": reply}) } else { reply.clone() };
        let mut step = |input: Value| match self.call("step", &json!({"input": input})) {
            Value::Array(list) => list,
            other => panic!("{other}"),
        };
        if reply["status"].as_i64().is_some_and(|s| s >= 400) {
            return step(json!({"type": "fail", "request": request, "code": "http", "message": ""}));
        }
        let mut out = Vec::new();
        for text in reply["chunks"].as_array().into_iter().flatten() {
            out.extend(step(json!({"type": "chunk", "request": request, "text": text})));
        }
        let mut input = json!({"type": "reply", "request": request});
        for key in ["reasoning", "alternatives"] {
            if !reply[key].is_null() {
                input[key] = reply[key].clone();
            }
        }
        if !reply["chunks"].is_array() {
            input["text"] = json!(reply["content"].as_str().unwrap_or(""));
        }
        out.extend(step(input));
        out
    }

    fn step(&mut self, step: &Value, wanted: &Value) -> Value {
        let random = if step["random"].is_array() { step["random"].clone() } else { json!([]) };
        self.call("configure", &json!({"random": {"tape": random}}));
        let before = self.chat();
        let member = |params: &mut Value| {
            if step["member"].is_string() {
                params["speaker"] = step["member"].clone();
            }
        };
        let flag = |key: &str, default: bool| json!(step[key].as_bool().unwrap_or(default));
        let mut result = match step["do"].as_str().unwrap() {
            "user_message" => self.round(&json!({"userMessage": step["text"]}), step, wanted),
            "auto_mode" => self.round(&json!({"auto": true}), step, wanted),
            "generate" => {
                let kind = step["type"].as_str().unwrap_or("normal");
                let mut start = json!({"kind": kind});
                if step["text"].is_string() {
                    start["userMessage"] = step["text"].clone();
                }
                member(&mut start);
                if kind == "quiet" {
                    start["quiet"] = json!({
                        "prompt": step["prompt"].as_str().unwrap_or(""),
                        "toLoud": flag("to_loud", false),
                        "skipLore": flag("skip_wian", false),
                        "name": step["quiet_name"].as_str().unwrap_or(""),
                    });
                    if step["response_length"].is_i64() {
                        start["quiet"]["responseLength"] = step["response_length"].clone();
                    }
                }
                self.round(&start, step, wanted)
            }
            "raw" => self.raw(step, wanted),
            "clean" => {
                let mut params = json!({
                    "text": step["text"],
                    "impersonate": flag("impersonate", false),
                    "continue": flag("continue", false),
                    "keepIncomplete": flag("display_incomplete", false),
                    "trimNames": flag("trim_names", true),
                    "trimWrongNames": flag("trim_wrong_names", true),
                    "includeBias": flag("include_user_bias", true),
                });
                if step["stopping_strings"].is_array() {
                    params["stop"] = step["stopping_strings"].clone();
                }
                member(&mut params);
                json!({"result": self.call("cleanReply", &params)["text"]})
            }
            "stopping_strings" => {
                let mut params =
                    json!({"impersonate": flag("impersonate", false), "continue": flag("continue", false)});
                member(&mut params);
                json!({"result": self.call("stops", &params)})
            }
            "count" => json!({"result": self.call("count", &json!({"texts": step["texts"]}))}),
            "macro" => {
                let mut params = json!({"texts": step["text"], "commit": true});
                member(&mut params);
                json!({"result": self.call("expand", &params)})
            }
            "set" => {
                self.set(step);
                json!({})
            }
            "push_message" => {
                self.call("editChat", &json!({"append": [step["message"]]}));
                json!({})
            }
            "delete_last" => {
                self.call("editChat", &json!({"removeLast": 1}));
                json!({})
            }
            other => panic!("{}: no support for step {other}", self.case.id),
        };
        let draws = self.call("takeDraws", &json!({}));
        if draws[0].is_object() || wanted["draws"].is_array() {
            result["draws"] = draws;
        }
        let after = self.chat();
        let changes = changes(&before["messages"], &after["messages"]);
        if changes.is_object() || wanted["chat_changes"].is_object() {
            let none = json!({"length": before["messages"].as_array().unwrap().len(), "messages": []});
            result["chat_changes"] = if changes.is_object() { changes } else { none };
        }
        result["do"] = step["do"].clone();
        result
    }

    fn raw(&mut self, step: &Value, wanted: &Value) -> Value {
        let mut params = json!({"prompt": step["prompt"]});
        for (from, to) in [
            ("system_prompt", "systemPrompt"),
            ("prefill", "prefill"),
            ("instruct_override", "instructOverride"),
            ("to_loud", "toLoud"),
            ("response_length", "responseLength"),
            ("member", "speaker"),
        ] {
            if !step[from].is_null() {
                params[to] = step[from].clone();
            }
        }
        let Ok(built) = call(&mut self.session, "buildRaw", &params) else { return json!({"error": true}) };
        let reply = step["replies"][0].as_str().unwrap_or("OK.");
        let seen = self.call("inspect", &json!({}));
        let characters = self.scene["characters"].as_array().unwrap();
        let speaker = characters.iter().find(|c| c["avatar"] == built["speaker"]);
        let name = speaker.map_or(Value::Null, |c| c["card"]["data"]["name"].clone());
        let output = json!({"name": name, "request": built["request"]});
        let request = request(&output, &seen, &wanted["requests"][0]);
        let params = json!({
            "text": reply, "speaker": built["speaker"], "keepIncomplete": true, "includeBias": false,
        });
        let cleaned = self.call("cleanReply", &params);
        json!({"result": cleaned["text"], "requests": [request]})
    }

    fn set(&mut self, step: &Value) {
        let scene = &mut self.scene;
        scene["preset"] = merged(&scene["preset"], &step["oai"]);
        for key in ["extensions", "world_info"] {
            let mut all = object(&scene["settings"][key]);
            all.extend(object(&step[key]));
            scene["settings"][key] = Value::Object(all);
        }
        let power = object(&step["power_user"]);
        for key in ["context", "instruct", "sysprompt", "reasoning"] {
            // A template that was chosen before stands in the settings already; single values change it there.
            if let Some(over) = power.get(key).filter(|_| scene["text"][key].is_object()) {
                let new = merged(&scene["text"][key], over);
                scene["text"][key] = new;
            }
            if step[key].is_object() && key == "sysprompt" {
                scene["text"][key] = merged(&scene["text"][key], &step[key]);
            } else if step[key].is_object() {
                let kept = merged(&scene["settings"]["power_user"][key], &scene["text"][key]);
                scene["settings"]["power_user"][key] = kept;
                scene["text"][key] = step[key].clone();
            }
        }
        for key in ["always_force_name2", "trim_sentences", "single_line"] {
            if let Some(value) = power.get(key).filter(|_| scene["text"]["context"].is_object()) {
                scene["text"]["context"][key] = value.clone();
            }
        }
        scene["settings"]["power_user"] = merged(&scene["settings"]["power_user"], &step["power_user"]);
        for key in ["textgen", "kobold"] {
            if step[key].is_object() {
                let mut new = merged(&scene["text"][key], &step[key]);
                keep_model(&mut new);
                scene["text"][key] = new;
            }
        }
        let mut group = object(&scene["group"]);
        group.extend(object(&step["group"]));
        let mut metadata = object(&step["chat_metadata"]);
        if let Some(note) = metadata.shift_remove("note_prompt") {
            self.note["note_prompt"] = note;
        }
        for (key, own) in [
            ("position", "persona_description_position"),
            ("depth", "persona_description_depth"),
            ("role", "persona_description_role"),
        ] {
            if let Some(v) = power.get(own) {
                scene["persona"][key] = v.clone();
            }
        }
        let mut parts = json!({
            "preset": scene["preset"], "settings": scene["settings"], "persona": scene["persona"], "text": scene["text"],
            "chatMetadata": metadata,
        });
        if step["group"].is_object() {
            scene["group"] = Value::Object(group);
            parts["group"] = scene["group"].clone();
        }
        self.call("update", &parts);
    }
}

fn request(output: &Value, seen: &Value, wanted: &Value) -> Value {
    let url = output["request"]["url"].as_str().unwrap();
    let (host, path) = url.split_once("://").unwrap().1.split_once('/').unwrap();
    let host = if host == "provider.test" { "custom" } else { host };
    let mut headers = Map::new();
    for (name, value) in object(&output["request"]["headers"]) {
        let name = name.to_lowercase();
        if !["accept", "authorization", "x-api-key"].contains(&name.as_str()) {
            headers.insert(name, value);
        }
    }
    let body = promptside::js::parse(output["request"]["body"].as_str().unwrap()).unwrap().0;
    let mut out = json!({
        "speaker": output["name"],
        "frontend": seen["payload"],
        "upstream": {"host": host, "path": format!("/{path}"), "headers": headers, "body": body},
    });
    if wanted["prompt_parts"].is_object() {
        out["prompt_parts"] = seen["report"]["text"].clone();
    }
    if seen["activated"][0].is_object() || wanted["activated"].is_array() {
        out["activated"] = seen["activated"].clone();
    }
    out
}

fn changes(before: &Value, after: &Value) -> Value {
    let (before, after) = (before.as_array().unwrap(), after.as_array().unwrap());
    let same = |a: Option<&Value>, b: &Value| a.is_some_and(|a| golden::difference(a, b).is_none());
    let messages: Vec<Value> = after
        .iter()
        .enumerate()
        .filter(|(i, m)| !same(before.get(*i), m))
        .map(|(i, m)| json!({"index": i, "message": m}))
        .collect();
    if messages.is_empty() && before.len() == after.len() {
        return Value::Null;
    }
    json!({"length": after.len(), "messages": messages})
}

/// What of a recorded step is compared.
fn comparable(step: &Value) -> Value {
    let mut out = object(step);
    for key in ["notices", "http"] {
        out.shift_remove(key);
    }
    if out.contains_key("error") {
        out.insert("error".to_owned(), json!(true));
    }
    if let Some(Value::Array(requests)) = out.get_mut("requests") {
        for request in requests {
            let frontend = request["frontend"].clone();
            let o = request.as_object_mut().unwrap();
            o.shift_remove("reply");
            o.shift_remove("http");
            if o["upstream"]["body"] == "=frontend" {
                o["upstream"]["body"] = frontend;
            }
        }
    }
    Value::Object(out)
}

fn run(case: &Case) -> Vec<String> {
    let mut failures = Vec::new();
    let mut run = Run::new(case);
    for (i, (step, recorded)) in case.steps().into_iter().enumerate() {
        let got = run.step(step, recorded);
        if let Some(found) = golden::difference(&comparable(recorded), &got) {
            let cut: String = found.chars().take(1500).collect();
            failures.push(format!("{} step {i} {}: {cut}", case.id, step["do"]));
        }
    }
    let chat = run.chat();
    if let Some(found) = golden::difference(&case.json["expected"]["chat"], &chat["messages"]) {
        failures.push(format!("{} chat: {}", case.id, found.chars().take(300).collect::<String>()));
    }
    let mut metadata = json!({
        "note_prompt": "", "note_interval": 1, "note_position": 1, "note_depth": 4, "note_role": 0,
    });
    metadata = merged(&merged(&metadata, &chat["metadata"]), &run.note);
    if let Some(found) = golden::difference(&case.json["expected"]["chat_metadata"], &metadata) {
        failures.push(format!("{} metadata: {}", case.id, found.chars().take(300).collect::<String>()));
    }
    failures
}

#[test]
fn recorded_scenarios() {
    let only = std::env::var("CASE").ok();
    let (mut failures, mut failed, mut total) = (Vec::new(), 0, 0);
    for case in golden::cases("textcompletion") {
        if only.as_ref().is_some_and(|only| !case.id.contains(only.as_str())) {
            continue;
        }
        total += 1;
        let found = run(&case);
        failed += usize::from(!found.is_empty());
        failures.extend(found);
    }
    println!("textcompletion: {}/{total}", total - failed);
    assert!(failures.is_empty(), "{failed} of {total} cases\n{}", failures.join("\n"));
}
