//! Macros: lexer, parser, evaluator of both engines. Any text ends, is bounded, and gives the same twice.
//! The first byte chooses engine, profile and trust.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::host::{Dice, Host};
use promptside::macros::{self, Engine, Env, EnvBase, Trust};
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::Scene;
use serde_json::json;

const OUTPUT: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    let profile = if choice & 1 == 0 { Profile::promptside() } else { Profile::sillytavern() };
    let scene = json!({
        "characters": [{"avatar": "a", "card": {"data": {"name": "洛恩", "description": "D {{user}} {{scenario}}", "scenario": "{{description}}",
            "mes_example": "<START>\n{{user}}: a"}}}],
        "persona": {"name": "{{char}}"},
        "chat": {"id": "c", "metadata": {"variables": {"x": "1", "l": "[1,{\"a\":2}]"}}, "messages": [{"mes": "{{user}}", "is_user": true}]},
        "macros": {"mine": "{{user}}", "mine::x": "y"},
    });
    let scene = Scene::from_value(&scene).expect("the scene is fine").0;
    let run = || {
        let mut host = Host::new(Dice::seeded(1));
        host.limits.macro_output = OUTPUT;
        let base = EnvBase::new(&scene, Some(0), &profile);
        let env = Env {
            engine: if choice & 2 == 0 { Engine::New } else { Engine::Legacy },
            trust: match choice >> 2 & 3 {
                0 => Trust::Data,
                1 => Trust::Card,
                _ => Trust::Full,
            },
            ..base.env()
        };
        let mut effects = Effects::default();
        let out = macros::explain(&text, &env, &mut host, &mut effects);
        let plain = macros::expand(&text, &env, &mut host, &mut effects);
        (out, plain, effects)
    };
    let ((out, spans), plain, effects) = run();
    let most = 4 * OUTPUT.max(text.len()) + 64;
    assert!(out.len() <= most && plain.len() <= most, "{} of {}", out.len(), text.len());
    let length = text.encode_utf16().count();
    for span in &spans {
        assert!(span.range[0] < span.range[1] && span.range[1] <= length);
    }
    assert_eq!(run(), ((out, spans), plain, effects));
    macros::needs(&text, &profile);
    macros::unknown(&text, &["mine"], &profile);
    macros::without_bias(&text);
    macros::bias(&text);
});
