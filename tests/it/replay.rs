//! The same rounds give the same bytes natively as in Node and Chromium (`pkg-tests/replay.test.mjs`, from the same file).

use promptside::api::{Session, Vocabularies};
use promptside::js;
use serde_json::{Value, json};

/// FNV-1a, 64 bits.
fn digest(sum: u64, text: &str) -> u64 {
    text.bytes().fold(sum, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3))
}

/// Plays all rounds of a case; the digest of everything that came out.
fn play(file: &Value, case: &Value) -> String {
    let text = |v: &Value| js::stringify(v);
    let mut room =
        Session::new(&text(&case["scene"]), &text(&case["options"]), Vocabularies::default()).unwrap();
    let (mut sum, mut replies) = (0xCBF2_9CE4_8422_2325, 0);
    let mut call = |method: &str, parameters: Value| {
        let out = room.call(method, &text(&parameters)).unwrap_or_else(|e| e.code().as_str().to_owned());
        sum = digest(sum, &out);
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
        for _ in 0..20 {
            let request = out.as_array().into_iter().flatten().find(|o| o["type"] == "request");
            let Some(request) = request.map(|r| r["id"].clone()) else { break };
            let reply = &file["replies"][replies % file["replies"].as_array().unwrap().len()];
            replies += 1;
            out = call("step", json!({"input": {"type": "reply", "request": request, "text": reply}}));
        }
    }
    call("snapshot", json!({}));
    format!("{sum:016x}")
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
}
