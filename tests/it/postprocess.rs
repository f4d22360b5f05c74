//! Recorded bodies: a neutral request given to the reference's server, and what the provider got.

use promptside::profile::Profile;
use promptside::provider::{Config, Request, request};
use serde_json::{Value, json};

use crate::golden::{self, Case};

/// The recorded form of a request: host, path, headers in lower case without the key, body.
fn upstream(request: &Request) -> Value {
    let (scheme, rest) = request.url.split_once("://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = if request.source.as_str() == "custom" { "custom" } else { host };
    let headers: serde_json::Map<String, Value> =
        // Every HTTP client sends an `accept`; the recording left it out.
        request.headers.iter().map(|(k, v)| (k.to_lowercase(), json!(v))).filter(|(k, _)| k != "accept").collect();
    assert!(matches!(scheme, "http" | "https"));
    let path = path.split('?').next().unwrap();
    json!({"host": host, "path": path, "headers": headers, "body": request.body})
}

fn config() -> Config {
    // The reference names itself to routers.
    Config::from_value(&json!({"app.url": "https://sillytavern.app", "app.title": "SillyTavern"}))
}

fn check(case: &Case, failures: &mut Vec<String>, skipped: &mut usize) -> usize {
    let mut total = 0;
    for (i, (step, expected)) in case.steps().into_iter().enumerate() {
        if step["do"] != "post" {
            // Needs the whole assembly of a prompt; `session` and `messages` run it.
            *skipped += 1;
            continue;
        }
        total += 1;
        let got = request(step["body"].as_object().unwrap(), &config(), &Profile::sillytavern());
        let recorded = &expected["requests"][0]["upstream"];
        let difference = match got {
            Ok(request) => {
                let got = upstream(&request);
                golden::difference(recorded, &got).or_else(|| key_order(&recorded["body"], &got["body"]))
            }
            Err(_) if recorded.is_null() => None,
            Err(e) => Some(e.to_string()),
        };
        failures.extend(
            difference
                .map(|d| format!("{} step {i} {}: {d}", case.id, step["body"]["chat_completion_source"])),
        );
    }
    total
}

/// Equal values may differ in the order of their keys; it is part of the promise.
fn key_order(expected: &Value, got: &Value) -> Option<String> {
    let text = (promptside::js::stringify(expected), promptside::js::stringify(got));
    (text.0 != text.1).then(|| format!("key order: expected {}, got {}", text.0, text.1))
}

fn run(area: &str) {
    let (mut total, mut skipped, mut failures) = (0, 0, Vec::new());
    for case in golden::cases(area) {
        total += check(&case, &mut failures, &mut skipped);
    }
    println!("{area}: {skipped} steps need prompt assembly");
    golden::report(area, total, &failures);
}

#[test]
fn hand_made_bodies_are_the_references() {
    run("postprocess");
}

#[test]
fn random_bodies_are_the_references() {
    run("postprocess-random");
}

/// Every request that the reference's page handed to its server in any area, and what the provider got.
#[test]
fn every_recorded_request_arrives_as_the_references() {
    let (mut total, mut failures) = (0, Vec::new());
    let areas = [
        "budget",
        "cleanup",
        "macros",
        "messages",
        "messages-random",
        "regex",
        "scheduler",
        "session",
        "worldinfo",
    ];
    for case in areas.iter().flat_map(|area| golden::cases(area)) {
        let steps = case.json["expected"]["steps"].as_array().cloned().unwrap_or_default();
        for (i, recorded) in
            steps.iter().flat_map(|s| s["requests"].as_array().cloned().unwrap_or_default()).enumerate()
        {
            let Some(frontend) = recorded["frontend"].as_object() else { continue };
            let (Some(source), false) =
                (frontend.get("chat_completion_source"), recorded["upstream"].is_null())
            else {
                continue;
            };
            total += 1;
            let mut frontend = frontend.clone();
            if source == "custom" {
                // The recording leaves out the user's own address.
                frontend.insert("custom_url".into(), json!("http://provider.test/v1"));
            }
            let difference = match request(&frontend, &config(), &Profile::sillytavern()) {
                Ok(request) => golden::difference(&recorded["upstream"], &upstream(&request)),
                Err(e) => Some(e.to_string()),
            };
            failures.extend(difference.map(|d| format!("{} request {i} {source}: {d}", case.id)));
        }
    }
    assert!(total > 300, "only {total} requests were found");
    golden::report("recorded requests", total, &failures);
}
