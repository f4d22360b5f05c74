//! Tolerant reading: which JSON types count as a text, a number, a flag, a list (the coercion table of spec 08 §12.5).
//! A reader never fails; it repairs and reports.

use serde_json::Value;

use super::Object;
use crate::error::{Warning, Warnings, join_path};
use crate::js;

/// Reads the fields of one JSON object and collects what had to be repaired.
#[derive(Debug)]
pub struct Reader<'a> {
    object: &'a Object,
    path: String,
    warnings: Warnings,
    null_is_default: bool,
}

impl<'a> Reader<'a> {
    /// A reader of an object at a path (empty for the root).
    pub fn new(object: &'a Object, path: impl Into<String>) -> Self {
        Self { object, path: path.into(), warnings: Warnings::default(), null_is_default: false }
    }

    /// The same reader, for objects where null is a usual way to say "default" (lorebook entries): it goes unreported.
    #[must_use]
    pub fn null_is_default(mut self) -> Self {
        self.null_is_default = true;
        self
    }

    /// What was repaired so far.
    pub fn into_warnings(self) -> Vec<Warning> {
        self.warnings.into_list()
    }

    /// The field as it stands, absent or not.
    pub fn raw(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key)
    }

    /// Reports something about a field that the caller repaired itself.
    pub fn warn(&mut self, code: &'static str, key: &str, what: &str) {
        self.warnings.add(code, || join_path(&self.path, key), what);
    }

    fn null(&mut self, key: &str) {
        if !self.null_is_default {
            self.warn("field-null", key, "null became the default");
        }
    }

    /// A text: numbers and flags become their JSON text, a list of texts is joined with line feeds; missing is `None`.
    pub fn text_opt(&mut self, key: &str) -> Option<String> {
        match self.object.get(key)? {
            Value::String(s) => Some(s.clone()),
            Value::Null => {
                self.null(key);
                None
            }
            v @ (Value::Number(_) | Value::Bool(_)) => {
                self.warn("field-coerced", key, "became text");
                Some(js::value_to_text(v))
            }
            Value::Array(items) if items.iter().all(Value::is_string) => {
                self.warn("field-coerced", key, "lines were joined");
                Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"))
            }
            Value::Array(_) | Value::Object(_) => {
                self.warn("field-dropped", key, "neither a text nor a list of texts");
                None
            }
        }
    }

    /// A text, empty when missing.
    pub fn text(&mut self, key: &str) -> String {
        self.text_opt(key).unwrap_or_default()
    }

    /// A flag: true/false, 0/1, "true"/"false" in any case; anything else is the default.
    pub fn flag(&mut self, key: &str, default: bool) -> bool {
        self.flag_opt(key).unwrap_or(default)
    }

    /// The same; `None` when missing or anything else.
    pub fn flag_opt(&mut self, key: &str) -> Option<bool> {
        let read = match self.object.get(key) {
            Some(Value::Bool(b)) => return Some(*b),
            Some(Value::Number(n)) if n.as_f64() == Some(0.0) => Some(false),
            Some(Value::Number(n)) if n.as_f64() == Some(1.0) => Some(true),
            Some(Value::String(s)) if s.eq_ignore_ascii_case("true") => Some(true),
            Some(Value::String(s)) if s.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        };
        if read.is_some() {
            self.warn("field-coerced", key, "became true or false");
        }
        read
    }

    /// A number as it stands (integers stay integers), or the number in a text; `None` when missing or anything else.
    pub fn number_value(&mut self, key: &str) -> Option<Value> {
        if let Some(number @ Value::Number(_)) = self.object.get(key) {
            return Some(number.clone());
        }
        let n = self.number_opt(key)?;
        let whole = n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0;
        Some(if whole { Value::from(js::to_integer(n)) } else { Value::from(n) })
    }

    /// A number, or a text that holds one; `None` when missing or anything else.
    pub fn number_opt(&mut self, key: &str) -> Option<f64> {
        match self.object.get(key)? {
            Value::Number(n) => n.as_f64(),
            Value::String(s) if !js::trim(s).is_empty() => {
                let n = js::to_number(s);
                if !n.is_finite() {
                    return None;
                }
                self.warn("field-coerced", key, "a text became a number");
                Some(n)
            }
            _ => None,
        }
    }

    /// A number with a default.
    pub fn number(&mut self, key: &str, default: f64) -> f64 {
        self.number_opt(key).unwrap_or(default)
    }

    /// A whole number with a default; a fraction is cut off.
    pub fn integer(&mut self, key: &str, default: i64) -> i64 {
        self.number_opt(key).map_or(default, js::to_integer)
    }

    /// A list of texts: other scalars become text, the rest is dropped; a bare text becomes a list of one, unless blank.
    /// `None` when it is not a list.
    pub fn texts_opt(&mut self, key: &str) -> Option<Vec<String>> {
        self.list_opt(key, |s| if js::trim(s).is_empty() { Vec::new() } else { vec![s.to_owned()] })
    }

    /// The same for labels and keys: a bare text is split at commas.
    pub fn words_opt(&mut self, key: &str) -> Option<Vec<String>> {
        self.list_opt(key, split_commas)
    }

    fn list_opt(&mut self, key: &str, bare: fn(&str) -> Vec<String>) -> Option<Vec<String>> {
        match self.object.get(key)? {
            Value::Array(items) => {
                let mut texts = Vec::with_capacity(items.len());
                for (i, item) in items.iter().enumerate() {
                    let what = match item {
                        Value::String(s) => {
                            texts.push(s.clone());
                            continue;
                        }
                        v @ (Value::Number(_) | Value::Bool(_)) => {
                            texts.push(js::value_to_text(v));
                            "became text"
                        }
                        _ => "is no text and was dropped",
                    };
                    self.warnings.add(
                        "field-coerced",
                        || format!("{}[{i}]", join_path(&self.path, key)),
                        what,
                    );
                }
                Some(texts)
            }
            Value::Null => {
                self.null(key);
                None
            }
            Value::String(s) => {
                self.warn("field-coerced", key, "a text became a list");
                Some(bare(s))
            }
            _ => {
                self.warn("field-dropped", key, "is no list");
                None
            }
        }
    }

    /// A list of texts, empty when missing.
    pub fn texts(&mut self, key: &str) -> Vec<String> {
        self.texts_opt(key).unwrap_or_default()
    }

    /// An object; anything else is `None`.
    pub fn object(&mut self, key: &str) -> Option<&'a Object> {
        match self.object.get(key)? {
            Value::Object(o) => Some(o),
            Value::Null => {
                self.null(key);
                None
            }
            _ => {
                self.warn("field-dropped", key, "is no object");
                None
            }
        }
    }

    /// A list as it stands; anything else is empty.
    pub fn list(&self, key: &str) -> &'a [Value] {
        self.object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The fields whose names are not in `known`, in order.
    pub fn rest(&self, known: &[&str]) -> Object {
        self.object
            .iter()
            .filter(|(k, _)| !known.contains(&k.as_str()))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }
}

/// The parts of a comma list: trimmed, empty ones left out.
pub fn split_commas(text: &str) -> Vec<String> {
    text.split(',').map(js::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
