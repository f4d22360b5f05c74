//! Pages that are generated from the code: the test fails when they are stale; `UPDATE=1 cargo test --test it docs` writes them.

use std::fs;
use std::path::Path;

use promptside::Code;
use promptside::host::Limits;
use promptside::profile;

fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "docs/{name} is stale: run UPDATE=1 cargo test --test it docs");
}

#[test]
fn differences() {
    let mut page = String::from(
        "# Differences between the profiles\n\n\
         Generated from `src/profile/switches.rs`. `profile: \"sillytavern\"` has every switch off and equals SillyTavern 1.19.0;\n\
         `profile: \"promptside\"` (default) has them on. `switches: {\"name\": false}` turns single ones. Fault numbers are those of\n\
         `docs/spec/` (`01 F12` = fault 12 of spec 01).\n\n\
         | switch | off (SillyTavern 1.19.0) | on (promptside) | faults |\n|---|---|---|---|\n",
    );
    for s in profile::ALL {
        page += &format!("| `{}` | {} | {} | {} |\n", s.name, s.off, s.on, s.faults.join(", "));
    }
    page += &format!("\n{} switches.\n", profile::ALL.len());
    page += "\n## In neither profile\n\n| fault | instead |\n|---|---|\n";
    for (fault, instead) in profile::NEVER {
        page += &format!("| {fault} | {instead} |\n");
    }
    check("differences.md", &page);
}

#[test]
fn switches_are_well_formed() {
    let mut names = Vec::new();
    for s in profile::ALL {
        assert!(!names.contains(&s.name), "{} stands twice", s.name);
        names.push(s.name);
        assert!(
            s.name.contains('.') && s.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'_'),
            "{}",
            s.name
        );
        assert!(s.off.ends_with('.') && s.on.ends_with('.'), "{}: whole sentences", s.name);
        assert!(!s.off.contains('|') && !s.on.contains('|'), "{}: the page is a table", s.name);
        assert!(!s.faults.is_empty(), "{}: names the faults it puts right", s.name);
    }
}

#[test]
fn errors() {
    let mut page = String::from(
        "# Errors\n\nGenerated from `src/error.rs`. JavaScript throws `PromptsideError {code, path, message}`; codes are stable and\n\
         only ever added to. The message says what happened and what to do; `path` names the field.\n\n\
         | code | cause and remedy |\n|---|---|\n",
    );
    for code in Code::ALL {
        page += &format!("| `{}` | {} |\n", code.as_str(), code.about().trim());
    }
    page += "\nThe package itself adds: `not_loaded` (call `await load()` first), `load.failed` and `load.not_wasm` (the wasm file was not found, or a\n\
             web page came instead: see [embedding](embedding.md)), `input.not_json` (a value that JSON cannot hold: a cycle, a BigInt, a function),\n\
             `input.not_bytes` (a file was given as something else than bytes), `room.closed` (the room was freed), `internal.panic` and\n\
             `internal.dead` (a fault of this library stopped the module; load it again and rebuild rooms from their snapshots).\n\n\
             In `runRound` a call that fails is an event `error {speaker, code, message}`, and the others go on: `http_404` and the like (the\n\
             provider's text is the message), `network`, `timeout`, `send` (what `send` gave cannot be used), or what the provider named.\n";
    check("errors.md", &page);
}

#[test]
fn limits() {
    // The page is prose; only the numbers must be true.
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/untrusted.md"))
        .unwrap_or_default();
    let shown = format!("{:?}", Limits::default());
    let fields = shown.trim_start_matches("Limits { ").trim_end_matches(" }");
    for field in fields.split(", ") {
        let (name, value) = field.split_once(": ").unwrap();
        assert!(
            page.contains(&format!("| `{name}` | {value} |")),
            "docs/untrusted.md lacks | `{name}` | {value} |"
        );
    }
}
