//! Context and instruct templates of any age in today's form (spec 07 §2.1-2.2, §4.1).
//!
//! What a template leaves out and has a default is set to it; what has none stays out, since applying the template keeps the
//! value in force.

use serde_json::Value;

use super::{Object, Reader};
use crate::error::Warning;
use crate::js;

/// Context fields with a default: flags, then numbers.
const CONTEXT_FLAGS: [(&str, bool); 5] = [
    ("use_stop_strings", false),
    ("names_as_stop_strings", true),
    ("always_force_name2", true),
    ("trim_sentences", false),
    ("single_line", false),
];
const CONTEXT_NUMBERS: [(&str, i32); 3] =
    [("story_string_position", 0), ("story_string_depth", 1), ("story_string_role", 0)];

/// Instruct texts that become empty when missing.
const INSTRUCT_TEXTS: [&str; 9] = [
    "input_suffix",
    "system_sequence",
    "system_suffix",
    "first_input_sequence",
    "last_input_sequence",
    "last_system_sequence",
    "story_string_prefix",
    "story_string_suffix",
    "user_alignment_message",
];
const INSTRUCT_FLAGS: [(&str, bool); 3] =
    [("system_same_as_user", false), ("skip_examples", false), ("sequences_as_stop_strings", true)];

/// A context template in today's form.
pub fn normal_context(template: &Object, path: &str) -> (Object, Vec<Warning>) {
    let mut out = template.clone();
    let old = !template.contains_key("story_string_position");
    if let Some(story) = template.get("story_string").and_then(Value::as_str).filter(|_| old) {
        js::put(&mut out, "story_string", with_anchors(story).into());
    }
    let mut r = Reader::new(template, path);
    for (key, default) in CONTEXT_FLAGS {
        js::put(&mut out, key, r.flag(key, default).into());
    }
    for (key, default) in CONTEXT_NUMBERS {
        let number =
            template.get(key).filter(|v| !v.is_null()).map(js::value_to_number).filter(|n| n.is_finite());
        js::put(&mut out, key, number.map_or_else(|| default.into(), |n| js::to_integer(n).into()));
    }
    (out, r.into_warnings())
}

/// The story string of an old template with places for injected texts.
fn with_anchors(story: &str) -> String {
    const BEFORE: &str = "{{#if anchorBefore}}{{anchorBefore}}\n{{/if}}";
    const AFTER: &str = "{{#if anchorAfter}}{{anchorAfter}}\n{{/if}}";
    let mut story = story.to_owned();
    if !story.contains("{{anchorBefore}}") {
        let at = story.find("{{").unwrap_or(0);
        story.insert_str(at, BEFORE);
    }
    if !story.contains("{{anchorAfter}}") {
        let trim = story.rfind("{{trim}}").unwrap_or(story.len());
        let end = story.rfind("}}").map_or(story.len(), |i| i + 2);
        story.insert_str(trim.min(end), AFTER);
    }
    story
}

/// An instruct template in today's form; legacy keys are gone.
pub fn normal_instruct(template: &Object, path: &str) -> (Object, Vec<Warning>) {
    let mut out = template.clone();
    if let Some(separator) = out.shift_remove("separator_sequence") {
        let suffix = if js::to_boolean(&separator) { separator } else { "".into() };
        js::put(&mut out, "output_suffix", suffix);
    }
    let force = out.shift_remove("names_force_groups").is_some_and(|v| js::to_boolean(&v));
    if let Some(Value::Bool(names)) = out.shift_remove("names") {
        let behavior = match (names, force) {
            (true, _) => "always",
            (false, true) => "force",
            (false, false) => "none",
        };
        js::put(&mut out, "names_behavior", behavior.into());
    }
    out.shift_remove("system_sequence_prefix");
    out.shift_remove("system_sequence_suffix");
    let given = out.clone();
    let mut r = Reader::new(&given, path);
    for key in INSTRUCT_TEXTS {
        js::put(&mut out, key, r.text(key).into());
    }
    for (key, default) in INSTRUCT_FLAGS {
        js::put(&mut out, key, r.flag(key, default).into());
    }
    let behavior = given.get("names_behavior").and_then(Value::as_str).unwrap_or("force");
    js::put(&mut out, "names_behavior", behavior.into());
    (out, r.into_warnings())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &Value) -> Object {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn old_story_strings_get_anchors() {
        for (old, new) in [
            (
                "[INST] {{description}} [/INST]\n",
                "[INST] {{#if anchorBefore}}{{anchorBefore}}\n{{/if}}{{description}}{{#if anchorAfter}}{{anchorAfter}}\n{{/if}} [/INST]\n",
            ),
            (
                "plain text only",
                "{{#if anchorBefore}}{{anchorBefore}}\n{{/if}}{{#if anchorAfter}}{{anchorAfter}}\n{{/if}}plain text only",
            ),
            (
                "序 {{scenario}}\n{{trim}} 尾",
                "序 {{#if anchorBefore}}{{anchorBefore}}\n{{/if}}{{scenario}}{{#if anchorAfter}}{{anchorAfter}}\n{{/if}}\n{{trim}} 尾",
            ),
        ] {
            let (template, _) = normal_context(&object(&json!({"story_string": old})), "");
            let expected = if old.starts_with('序') { None } else { Some(new) };
            if let Some(expected) = expected {
                assert_eq!(template["story_string"], expected);
            } else {
                // Behind the line feed: the insertion point is the last `{{trim}}`.
                assert_eq!(
                    template["story_string"],
                    new.replace(
                        "{{#if anchorAfter}}{{anchorAfter}}\n{{/if}}\n{{trim}}",
                        "\n{{#if anchorAfter}}{{anchorAfter}}\n{{/if}}{{trim}}"
                    )
                );
            }
        }
        let kept =
            json!({"story_string": "x {{char}}", "story_string_position": "1", "story_string_depth": null});
        let (template, _) = normal_context(&object(&kept), "");
        assert_eq!(template["story_string"], "x {{char}}");
        assert_eq!(
            (&template["story_string_position"], &template["story_string_depth"]),
            (&json!(1), &json!(1))
        );
    }

    #[test]
    fn legacy_keys_of_instruct_move() {
        let (t, _) = normal_instruct(
            &object(&json!({"names": true, "separator_sequence": null, "output_suffix": "x"})),
            "",
        );
        assert_eq!((&t["names_behavior"], &t["output_suffix"]), (&json!("always"), &json!("")));
        let (t, _) = normal_instruct(&object(&json!({"names": false})), "");
        assert_eq!(t["names_behavior"], "none");
        let (t, _) = normal_instruct(&object(&json!({})), "");
        assert_eq!(t["names_behavior"], "force");
        assert!(!t.contains_key("wrap"), "no default: the value in force stays");
    }
}
