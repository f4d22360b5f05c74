//! Regex scripts: the first line is a script as JSON (or, when it is none, a find text), the rest is the text it runs on. It ends
//! within its budget; a script that is stopped leaves the text as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::host::{Dice, Host};
use promptside::macros::EnvBase;
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::Scene;
use promptside::scripts::{Call, CompiledScripts, Placement, run};
use serde_json::{Value, json};

fuzz_target!(|input: &str| {
    let (line, text) = input.split_once('\n').unwrap_or((input, "aab 洛😀\n{{user}} <b>x</b>"));
    let script = match serde_json::from_str::<Value>(line) {
        Ok(v @ (Value::Object(_) | Value::Array(_))) => v,
        _ => json!({"scriptName": "s", "findRegex": line, "replaceString": "[$1$<n>{{match}}{{user}}]", "trimStrings": ["a"], "placement": [2],
            "substituteRegex": text.len() % 3}),
    };
    let list = if script.is_array() { script } else { json!([script]) };
    let scene = json!({"characters": [{"avatar": "a", "card": {"data": {"name": "洛恩"}}}], "scripts": {"global": list}});
    let Ok((scene, _)) = Scene::from_value(&scene) else { return };
    for profile in [Profile::promptside(), Profile::sillytavern()] {
        let mut host = Host::new(Dice::seeded(1));
        host.limits.regex_steps = 100_000;
        host.limits.regex_total = 300_000;
        let (scripts, _) = CompiledScripts::new(&scene, &profile, &host.limits);
        let base = EnvBase::new(&scene, Some(0), &profile);
        for placement in [Placement::AiOutput, Placement::UserInput, Placement::Lore] {
            for (markdown, prompt) in [(false, false), (true, false), (false, true)] {
                let call = Call { markdown, prompt, speaker: Some("a"), depth: Some(1), ..Call::new(placement) };
                let mut effects = Effects::default();
                host.begin_request();
                let done = run(text, &call, &scripts, &base.env(), &mut host, &mut effects);
                assert!(host.regex_spent <= host.limits.regex_total);
                assert!(done.text.len() <= 4 * host.limits.script_output.max(20 * text.len()));
                assert!(!done.changes.is_empty() || done.text == text);
            }
        }
    }
});
