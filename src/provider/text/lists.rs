//! Lists inside the body: breakers, bans, biases. Texts of settings in, values out (spec 07 §11.2-11.3).

use serde_json::{Value, json};

use crate::js;
use crate::scene::Object;
use crate::tokens::Count;

/// Breakers of the repetition sampler: a JSON array or a comma list, macros in each. `tidy` leaves out empty ones (F19).
pub(super) fn breakers(setting: &str, tidy: bool, expand: &mut dyn FnMut(&str) -> String) -> Vec<String> {
    let list: Vec<String> = match js::parse(setting) {
        Ok((Value::Array(items), _)) => items.iter().map(js::value_to_text).collect(),
        _ => setting.split(',').map(str::to_owned).collect(),
    };
    list.iter().map(|t| expand(t)).filter(|t| !tidy || !t.is_empty()).collect()
}

/// What may not be said.
#[derive(Debug, Default)]
pub(super) struct Bans {
    pub(super) ids: Vec<i64>,
    pub(super) texts: Vec<String>,
}

/// Lines of the two lists and of macros, each once.
pub(super) fn bans(
    lists: [&str; 2],
    macros: &[String],
    count: &dyn Count,
    expand: &mut dyn FnMut(&str) -> String,
) -> Bans {
    let lines = lists.into_iter().flat_map(|l| l.split('\n')).chain(macros.iter().map(String::as_str));
    let mut seen: Vec<&str> = Vec::new();
    let mut out = Bans::default();
    for line in lines.map(|l| l.strip_suffix('\r').unwrap_or(l)) {
        if line.is_empty() || seen.contains(&line) {
            continue;
        }
        seen.push(line);
        let line = expand(line);
        if let Some(ids) = id_list(&line) {
            out.ids.extend(ids);
        } else if let Some(text) = line.strip_prefix('"').and_then(|l| l.strip_suffix('"')) {
            out.texts.push(text.to_owned());
        } else {
            out.ids.extend(ids(count, &line));
        }
    }
    out
}

/// `[1,2]`
fn id_list(text: &str) -> Option<Vec<i64>> {
    let text = js::trim(text);
    if !(text.starts_with('[') && text.ends_with(']')) {
        return None;
    }
    match js::parse(text) {
        Ok((Value::Array(items), _)) if items.iter().all(Value::is_number) => {
            Some(items.iter().map(|v| js::to_integer(js::value_to_number(v))).collect())
        }
        _ => None,
    }
}

fn ids(count: &dyn Count, text: &str) -> Vec<i64> {
    count.ids(text).unwrap_or_default().into_iter().map(i64::from).collect()
}

/// Biases by id, ascending; a later entry wins.
pub(super) fn biases(setting: Option<&Value>, count: &dyn Count) -> Vec<(i64, Value)> {
    let mut out: Vec<(i64, Value)> = Vec::new();
    for entry in setting.and_then(Value::as_array).into_iter().flatten() {
        let text = entry.get("text").and_then(Value::as_str).unwrap_or("");
        let Some(value) = entry.get("value").filter(|v| !v.is_null() && !text.is_empty()) else { continue };
        let found = if let Some(list) = id_list(text) {
            list
        } else if let Some(inner) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            ids(count, inner)
        } else {
            ids(count, &format!(" {text}"))
        };
        for id in found {
            match out.iter_mut().find(|(known, _)| *known == id) {
                Some(slot) => slot.1 = value.clone(),
                None => out.push((id, value.clone())),
            }
        }
    }
    js::sort_by_key(&mut out, |(id, _)| *id);
    out
}

/// Biases as an object.
pub(super) fn bias_object(list: &[(i64, Value)]) -> Value {
    Value::Object(list.iter().map(|(id, v)| (id.to_string(), v.clone())).collect::<Object>())
}

/// Biases as pairs, then what is banned.
pub(super) fn bias_pairs(list: &[(i64, Value)], banned: &[i64]) -> Value {
    let biased = list.iter().map(|(id, v)| json!([id, v]));
    biased.chain(banned.iter().map(|id| json!([id, false]))).collect()
}
