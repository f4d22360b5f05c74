//! The table of contents is the law: a module of `src/lib.rs` names only modules above itself.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Module names in the order of `lib.rs`.
fn order() -> Vec<String> {
    fs::read_to_string(root().join("lib.rs"))
        .unwrap()
        .lines()
        .filter_map(|l| l.strip_prefix("pub mod ").or_else(|| l.strip_prefix("mod ")))
        .map(|l| l.trim_end_matches(';').to_owned())
        .collect()
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// First segments behind every `crate::`, groups included (`crate::{a, b::c}`).
fn named(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let (mut depth, mut word) = (0, String::new());
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => names.push(std::mem::take(&mut word)),
                    c if depth == 0 => word.push(c),
                    _ => {}
                }
            }
            names.push(word);
        } else {
            names.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    let first = |n: String| n.trim().split("::").next().unwrap_or("").to_owned();
    names.into_iter().map(first).filter(|n| !n.is_empty()).collect()
}

#[test]
fn a_module_names_only_modules_above_it() {
    let order = order();
    assert!(order.len() > 20, "lib.rs was read");
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    let mut wrong = Vec::new();
    for path in paths {
        let relative = path.strip_prefix(root()).unwrap();
        let module = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let Some(own) = order.iter().position(|m| *m == module) else { continue };
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("super::super") {
            wrong.push(format!("{}: super::super hides where an import comes from", relative.display()));
        }
        for name in named(&text) {
            match order.iter().position(|m| *m == name) {
                Some(other) if other > own => {
                    wrong.push(format!(
                        "{}: `{module}` names `crate::{name}`, which stands below it",
                        relative.display()
                    ));
                }
                Some(_) => {}
                None => wrong
                    .push(format!("{}: `crate::{name}` is no module; use the full path", relative.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "arrows against the order of lib.rs:\n{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    let silent: Vec<_> =
        paths.iter().filter(|p| !fs::read_to_string(p).unwrap().starts_with("//!")).collect();
    assert!(silent.is_empty(), "files without a module comment: {silent:?}");
}

#[test]
fn only_the_boundary_names_javascript() {
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    for path in paths.iter().filter(|p| !p.starts_with(root().join("wasm"))) {
        let text = fs::read_to_string(path).unwrap();
        for name in ["wasm_bindgen", "js_sys", "getrandom", "gloo_utils", "console_error_panic_hook"] {
            assert!(!text.contains(name), "{} names {name}", path.display());
        }
    }
}
