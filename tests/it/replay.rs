//! The same rounds give the same bytes natively as in Node and Chromium (`pkg-tests/replay.test.mjs`, from the same file).

use std::collections::BTreeSet;

use promptside::api::{Session, Vocabularies};
use promptside::js;
use serde_json::{Value, json};

/// FNV-1a, 64 bits.
fn digest(sum: u64, text: &str) -> u64 {
    text.bytes().fold(sum, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3))
}

/// Who spoke in a case, and the number of the last round of a start.
fn session(file: &Value, case: &Value) -> (BTreeSet<String>, u64) {
    let mut seen: (BTreeSet<String>, u64) = (BTreeSet::new(), 0);
    watch(file, case, &mut |out| {
        for o in js::parse_halves(out).ok().and_then(|v| v.0.as_array().cloned()).unwrap_or_default() {
            match o["type"].as_str() {
                Some("message_done") => _ = seen.0.insert(o["speaker"].as_str().unwrap().to_owned()),
                Some("round_stats") => seen.1 = seen.1.max(o["round"].as_u64().unwrap()),
                _ => {}
            }
        }
    });
    seen
}

/// Plays all rounds of a case; the digest of everything that came out.
fn play(file: &Value, case: &Value) -> String {
    let mut sum = 0xCBF2_9CE4_8422_2325;
    watch(file, case, &mut |out| sum = digest(sum, out));
    format!("{sum:016x}")
}

/// Plays all rounds of a case and shows everything that comes out.
fn watch(file: &Value, case: &Value, look: &mut dyn FnMut(&str)) {
    let text = |v: &Value| js::stringify(v);
    let mut room =
        Session::new(&text(&case["scene"]), &text(&case["options"]), Vocabularies::default()).unwrap();
    let mut replies = 0;
    let mut call = |method: &str, parameters: Value| {
        let out = room.call(method, &text(&parameters)).unwrap_or_else(|e| e.code().as_str().to_owned());
        look(&out);
        js::parse_halves(&out).map_or(Value::Null, |read| read.0)
    };
    for message in file["rounds"].as_array().unwrap() {
        call("nextSpeakers", json!({"userMessage": message}));
        for kind in ["normal", "continue", "impersonate"] {
            call("buildRequest", json!({"kind": kind}));
        }
        let mut out = call(
            "step",
            json!({"input": {"type": "start", "userMessage": message}, "now": 1_700_000_001_000_i64}),
        );
        for _ in 0..100 {
            let outputs: Vec<Value> = out.as_array().into_iter().flatten().cloned().collect();
            let of = |kind: &str| outputs.iter().find(|o| o["type"] == kind).map(|o| o["id"].clone());
            if let Some(wait) = of("wait") {
                out = call("step", json!({"input": {"type": "elapsed", "wait": wait}}));
                continue;
            }
            let Some(request) = of("request") else { break };
            let all = case["replies"].as_array().or_else(|| file["replies"].as_array()).unwrap();
            let reply = &all[replies % all.len()];
            replies += 1;
            let mut input =
                if reply.is_object() { reply.clone() } else { json!({"type": "reply", "text": reply}) };
            input["request"] = request;
            out = call("step", json!({"input": input}));
        }
    }
    call("snapshot", json!({}));
}

#[test]
fn rounds_replay_to_the_byte() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replay.json");
    let mut file: Value = js::parse_halves(&std::fs::read_to_string(path).unwrap()).unwrap().0;
    let got: Vec<String> = file["cases"].as_array().unwrap().iter().map(|case| play(&file, case)).collect();
    if std::env::var_os("UPDATE").is_some() {
        for (case, digest) in file["cases"].as_array_mut().unwrap().iter_mut().zip(&got) {
            case["digest"] = json!(digest);
        }
        std::fs::write(path, js::stringify_pretty(&file, 1) + "\n").unwrap();
    }
    let want: Vec<&str> =
        file["cases"].as_array().unwrap().iter().map(|case| case["digest"].as_str().unwrap()).collect();
    assert_eq!(got, want, "outputs changed: look at what changed, then UPDATE=1 cargo test --test it replay");
    assert!(got.iter().all(|digest| digest.len() == 16));
    // One of them is a whole session of five.
    let is_big = |case: &&Value| case["scene"]["group"]["members"].as_array().is_some_and(|m| m.len() == 5);
    let case = file["cases"].as_array().unwrap().iter().find(is_big).unwrap();
    let (spoke, rounds) = session(&file, case);
    assert!(spoke.len() >= 4 && rounds >= 3, "{spoke:?} in {rounds} rounds");
}
