//! Presets -> their normal form: templates migrated, sections of a combined file checked, secrets reported (spec 08 §8, §12.5).

use serde_json::Value;

use super::Kind;
use super::shape::{SECTIONS, section_is_valid};
use crate::error::Warnings;
use crate::js;
use crate::scene::{Object, normal_context, normal_instruct};

/// Keys of a chat-completion preset that point a request elsewhere or carry a secret (spec 08 §8, §9).
pub(super) const SENSITIVE: [&str; 11] = [
    "reverse_proxy",
    "proxy_password",
    "custom_url",
    "custom_include_body",
    "custom_exclude_body",
    "custom_include_headers",
    "vertexai_region",
    "vertexai_express_project_id",
    "azure_base_url",
    "azure_deployment_name",
    "workers_ai_account_id",
];

/// A preset, and for a combined one the names of its sections.
pub(super) fn read(kind: Kind, object: &Object, notes: &mut Warnings) -> (Value, Option<Vec<&'static str>>) {
    match kind {
        Kind::PresetContext => (Value::Object(template(object, "", normal_context, notes)), None),
        Kind::PresetInstruct => (Value::Object(template(object, "", normal_instruct, notes)), None),
        Kind::PresetSysprompt => (Value::Object(sysprompt(object)), None),
        Kind::PresetMaster => {
            let (preset, sections) = master(object, notes);
            (preset, Some(sections))
        }
        Kind::PresetChat => {
            for key in SENSITIVE {
                if object.get(key).is_some_and(js::to_boolean) {
                    let what =
                        "points requests elsewhere or holds a secret; it is never used unless you copy it";
                    notes.add("sensitive-field", || key.to_owned(), what);
                }
            }
            (Value::Object(object.clone()), None)
        }
        Kind::Prompts => (object.get("data").cloned().unwrap_or_default(), None),
        _ => (Value::Object(object.clone()), None),
    }
}

type Normal = fn(&Object, &str) -> (Object, Vec<crate::error::Warning>);

fn template(object: &Object, path: &str, normal: Normal, notes: &mut Warnings) -> Object {
    let (template, warnings) = normal(object, path);
    notes.extend(warnings);
    template
}

fn sysprompt(object: &Object) -> Object {
    let mut out = object.clone();
    if !out.contains_key("post_history") {
        js::put(&mut out, "post_history", "".into());
    }
    out
}

fn master(object: &Object, notes: &mut Warnings) -> (Value, Vec<&'static str>) {
    let (mut preset, mut sections) = (Object::new(), Vec::new());
    for name in SECTIONS {
        let Some(given) = object.get(name) else { continue };
        let Some(section) = given.as_object().filter(|s| section_is_valid(name, s)) else {
            notes.add("section-invalid", || name.to_owned(), "lacks what its kind needs and was left out");
            continue;
        };
        let section = match name {
            "instruct" => template(section, name, normal_instruct, notes),
            "context" => template(section, name, normal_context, notes),
            "sysprompt" => sysprompt(section),
            _ => section.clone(),
        };
        js::put(&mut preset, name, Value::Object(section));
        sections.push(name);
    }
    (Value::Object(preset), sections)
}
