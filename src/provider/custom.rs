//! A custom endpoint's extra fields and headers, written in YAML by the user (spec 06 §4.10).

use serde_json::Value;

use super::request::{Ctx, Draft};
use crate::js;
use crate::models::remove;
use crate::scene::Object;

/// Assigns a mapping, or each mapping of a sequence, over an object. Anything else, broken text too, changes nothing.
pub fn merge_yaml(object: &mut Object, yaml: &str) {
    for map in mappings(yaml) {
        object.extend(map);
    }
}

/// Removes the keys that a sequence, a mapping or a single text names; top level only.
pub fn exclude_yaml(object: &mut Object, yaml: &str) {
    match js::parse_yaml(yaml).ok() {
        Some(Value::Array(items)) => {
            for key in items.iter().filter(|i| !i.is_object() && !i.is_array()) {
                remove(object, &[&js::value_to_text(key)]);
            }
        }
        Some(Value::Object(map)) => {
            for key in map.keys() {
                remove(object, &[key]);
            }
        }
        Some(Value::String(key)) => remove(object, &[&key]),
        _ => {}
    }
}

fn mappings(yaml: &str) -> Vec<Object> {
    match js::parse_yaml(yaml).ok() {
        Some(Value::Object(map)) => vec![map],
        Some(Value::Array(items)) => items
            .into_iter()
            .filter_map(|i| if let Value::Object(map) = i { Some(map) } else { None })
            .collect(),
        _ => Vec::new(),
    }
}

/// The include body, over what stands.
pub(super) fn include(ctx: &Ctx, draft: &mut Draft) {
    merge_yaml(&mut draft.body, ctx.text("custom_include_body"));
}

/// The rest: what the request sets itself, the exclude body, the headers.
pub(super) fn apply(ctx: &Ctx, draft: &mut Draft) {
    if ctx.fixes.fields {
        // The user's own words win over the request's (F32).
        merge_yaml(&mut draft.body, ctx.text("custom_include_body"));
    } else if !ctx.list("stop").is_empty() {
        ctx.copy(&mut draft.body, &["stop"]);
    }
    if ctx.config.completion_tokens
        && let Some(limit) = draft.body.shift_remove("max_tokens")
    {
        draft.put("max_completion_tokens", limit);
    }
    exclude_yaml(&mut draft.body, ctx.text("custom_exclude_body"));
    headers(ctx, draft);
}

fn headers(ctx: &Ctx, draft: &mut Draft) {
    let mut extra = Object::new();
    merge_yaml(&mut extra, ctx.text("custom_include_headers"));
    let same = |a: &str, b: &str| if ctx.fixes.headers { a.eq_ignore_ascii_case(b) } else { a == b };
    for (name, value) in extra {
        if same(&name, "Authorization") {
            draft.auth = None;
        }
        let text = js::value_to_text(&value);
        match draft.headers.iter_mut().find(|(n, _)| same(n, &name)) {
            Some((_, old)) => *old = text,
            None => draft.headers.push((name, text)),
        }
    }
}
