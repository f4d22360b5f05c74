//! Variables: reading through the writes of this request, arithmetic, JSON elements.
//!
//! Spec: 04 §8.1. Differs under `macros.values` (faults F17): stored text is read as it is, and only own keys exist.

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::env::Env;
use crate::host::Limits;
use crate::js;
use crate::parts::Effects;
use crate::scene::Object;

/// Why a write was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The name is empty.
    Name,
    /// A limit of the host.
    Limit,
}

/// The variables of a chat, or the global ones, for the length of one expansion.
pub(super) struct Vars<'r, 'a> {
    pub(super) env: &'r Env<'a>,
    pub(super) effects: &'r mut Effects,
    pub(super) limits: &'r Limits,
    pub(super) global: bool,
    /// `macros.values` is on.
    pub(super) fixed: bool,
}

/// What a variable reads as.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Read {
    /// Not set, or falsy.
    Nothing,
    Number(f64),
    Text(String),
    /// A list, an object, true.
    Json(Value),
}

impl Read {
    /// The text that a macro inserts.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Number(n) => js::number_text(*n),
            Self::Text(s) => s.clone(),
            Self::Json(v) => js::stringify(v),
        }
    }

    /// JavaScript's idea of a true value.
    pub(super) fn truthy(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Number(n) => *n != 0.0 && !n.is_nan(),
            Self::Text(s) => !s.is_empty(),
            Self::Json(_) => true,
        }
    }

    /// `Number(value)`; nothing counts as 0.
    pub(super) fn number(&self) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Number(n) => *n,
            Self::Text(s) => js::to_number(s),
            Self::Json(v) => js::value_to_number(v),
        }
    }
}

/// The rule of every read: what looks like a number becomes one.
fn numeric(value: Option<&Value>) -> Read {
    match value {
        None => Read::Nothing,
        Some(Value::String(s)) if s.is_empty() => Read::Nothing,
        Some(Value::String(s)) if js::trim(s).is_empty() => Read::Text(s.clone()),
        Some(v) => {
            let n = js::value_to_number(v);
            match v {
                _ if !n.is_nan() => Read::Number(n),
                Value::String(s) => Read::Text(s.clone()),
                v => Read::Json(v.clone()),
            }
        }
    }
}

/// The stored form of a value as text, nothing converted.
fn plain(value: Option<&Value>) -> Read {
    match value {
        None | Some(Value::Null) => Read::Nothing,
        Some(Value::String(s)) if s.is_empty() => Read::Nothing,
        Some(Value::String(s)) => Read::Text(s.clone()),
        Some(Value::Number(n)) => Read::Number(n.as_f64().unwrap_or(0.0)),
        Some(Value::Bool(b)) => Read::Text(b.to_string()),
        Some(v) => Read::Json(v.clone()),
    }
}

/// A JavaScript number as JSON holds it; what JSON cannot hold becomes its text.
pub(super) fn json_number(n: f64) -> Value {
    if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 {
        return Value::from(js::to_integer(n));
    }
    Number::from_f64(n).map_or_else(|| Value::String(js::number_text(n)), Value::Number)
}

/// Members that every JavaScript object has: the reference finds them as if they were variables.
fn inherited(name: &str) -> Option<Value> {
    let text = match name {
        "constructor" => "function Object() { [native code] }".to_owned(),
        "__proto__" => return Some(Value::Object(Object::new())),
        "toString"
        | "toLocaleString"
        | "valueOf"
        | "hasOwnProperty"
        | "isPrototypeOf"
        | "propertyIsEnumerable"
        | "__defineGetter__"
        | "__defineSetter__"
        | "__lookupGetter__"
        | "__lookupSetter__" => {
            format!("function {name}() {{ [native code] }}")
        }
        _ => return None,
    };
    Some(Value::String(text))
}

impl Vars<'_, '_> {
    fn stored(&self, name: &str) -> Option<Cow<'_, Value>> {
        let overlay = if self.global { &self.effects.global } else { &self.effects.local };
        let own = match overlay.get(name) {
            Some(written) => written.as_ref(),
            None if self.global => self.env.globals.get(name),
            None => self.env.metadata.get("variables").and_then(|v| v.get(name)),
        };
        match own {
            Some(v) => Some(Cow::Borrowed(v)),
            None if self.fixed => None,
            None => inherited(name).map(Cow::Owned),
        }
    }

    /// What `{{getvar}}` inserts.
    pub(super) fn get(&self, name: &str) -> Read {
        let value = self.stored(name);
        if self.fixed { plain(value.as_deref()) } else { numeric(value.as_deref()) }
    }

    /// For arithmetic and comparison.
    pub(super) fn get_numeric(&self, name: &str) -> Read {
        numeric(self.stored(name).as_deref())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.stored(name).is_some()
    }

    /// Stores a value, within the limits.
    pub(super) fn set(&mut self, name: &str, value: Value) -> Result<(), Refused> {
        if name.is_empty() {
            return Err(Refused::Name);
        }
        if name == "__proto__" && !self.fixed {
            return Ok(());
        }
        let size = |v: &Value| match v {
            Value::String(s) => s.len(),
            _ => 8,
        };
        let written = self.effects.local.values().chain(self.effects.global.values());
        // Only large values can reach the sum, so small ones need no count.
        let total = if size(&value) < 1024 && self.effects.local.len() + self.effects.global.len() < 1024 {
            0
        } else {
            size(&value) + written.map(|v| v.as_ref().map_or(0, size)).sum::<usize>()
        };
        if name.len() > self.limits.macro_name
            || size(&value) > self.limits.macro_value
            || total > self.limits.macro_values
        {
            return Err(Refused::Limit);
        }
        let overlay = if self.global { &mut self.effects.global } else { &mut self.effects.local };
        overlay.insert(name.to_owned(), Some(value));
        Ok(())
    }

    pub(super) fn delete(&mut self, name: &str) {
        if self.has(name) {
            let overlay = if self.global { &mut self.effects.global } else { &mut self.effects.local };
            overlay.insert(name.to_owned(), None);
        }
    }

    /// Adds: a number to a number, an item to a JSON list, else text to text. The stored result.
    pub(super) fn add(&mut self, name: &str, value: &Value) -> Result<Read, Refused> {
        let current = self.get_numeric(name);
        let text = match &current {
            r if !r.truthy() => String::new(),
            Read::Json(v) => js::value_to_text(v),
            // What a list text looks like is decided on the stored text.
            r if self.fixed => match self.get(name) {
                Read::Nothing => r.text(),
                stored => stored.text(),
            },
            r => r.text(),
        };
        if text.starts_with(['[', ' ', '\t', '\n', '\r'])
            && let Ok((Value::Array(mut list), _)) = js::parse(&text)
        {
            list.push(value.clone());
            let stored = js::stringify(&ordered(Value::Array(list)));
            self.set(name, Value::String(stored.clone()))?;
            return Ok(Read::Text(stored));
        }
        let step = js::value_to_number(value);
        let base = if current.truthy() { current.number() } else { 0.0 };
        let result = if step.is_nan() || base.is_nan() {
            Read::Text(text + &js::value_to_text(value))
        } else if (base + step).is_nan() {
            return Ok(Read::Nothing);
        } else {
            Read::Number(base + step)
        };
        let stored = match &result {
            Read::Number(n) => json_number(*n),
            other => Value::String(other.text()),
        };
        self.set(name, stored)?;
        Ok(result)
    }

    /// Reads an element of a JSON variable.
    pub(super) fn get_key(&self, name: &str, key: &str) -> Read {
        let Some(stored) = self.stored(name) else { return Read::Nothing };
        let read = |v: Option<&Value>| if self.fixed { plain(v) } else { numeric(v) };
        let Some(parsed) = parse_stored(&stored) else { return read(Some(&stored)) };
        if parsed.is_null() {
            return read(Some(&stored));
        }
        let element = match element(&parsed, key) {
            Some(v @ (Value::Object(_) | Value::Array(_) | Value::Null)) => {
                Some(Value::String(js::stringify(&ordered(v))))
            }
            other => other,
        };
        read(element.as_ref())
    }

    /// Writes an element of a JSON variable; what is no container stays as it is.
    pub(super) fn set_key(&mut self, name: &str, key: &str, value: &str) -> Result<(), Refused> {
        let parsed = match self.stored(name) {
            None => Some(Value::Null),
            Some(v) => parse_stored(&v),
        };
        let Some(parsed) = parsed else { return Ok(()) };
        let n = js::to_number(key);
        let value = Value::String(value.to_owned());
        let changed = match (parsed, n.is_nan()) {
            (Value::Null, true) => Value::Object([(key.to_owned(), value)].into_iter().collect()),
            (Value::Null, false) => set_index(Vec::new(), n, value, self.limits.macro_list)?,
            (Value::Array(list), false) => set_index(list, n, value, self.limits.macro_list)?,
            // A named property of a list is lost in JSON.
            (list @ Value::Array(_), true) => list,
            (Value::Object(mut map), text) => {
                map.insert(if text { key.to_owned() } else { js::number_text(n) }, value);
                Value::Object(map)
            }
            _ => return Ok(()),
        };
        self.set(name, Value::String(js::stringify(&ordered(changed))))
    }
}

/// `JSON.parse` of a stored value; `None` when it is not JSON.
fn parse_stored(value: &Value) -> Option<Value> {
    match value {
        Value::String(s) => js::parse(s).ok().map(|(v, _)| v),
        Value::Array(_) | Value::Object(_) => js::parse(&js::value_to_text(value)).ok().map(|(v, _)| v),
        other => Some(other.clone()),
    }
}

fn element(parsed: &Value, key: &str) -> Option<Value> {
    let n = js::to_number(key);
    let name = if n.is_nan() { key.to_owned() } else { js::number_text(n) };
    match parsed {
        Value::Object(map) => map.get(&name).cloned(),
        Value::Array(list) if name == "length" => Some(Value::from(list.len())),
        Value::Array(list) => list.get(index(n)?).cloned(),
        Value::String(s) if name == "length" => Some(Value::from(js::len16(s))),
        Value::String(s) => {
            let at = index(n)?;
            Some(Value::String(js::slice16(s, at, at + 1).to_owned())).filter(|v| v != "")
        }
        _ => None,
    }
}

/// A whole, non-negative number as an index.
fn index(n: f64) -> Option<usize> {
    (n >= 0.0 && n.fract() == 0.0).then(|| usize::try_from(js::to_integer(n)).ok()).flatten()
}

fn set_index(mut list: Vec<Value>, n: f64, value: Value, limit: usize) -> Result<Value, Refused> {
    // A fraction or negative number would be a named property, which JSON loses.
    if let Some(at) = index(n) {
        if at >= limit && at >= list.len() {
            return Err(Refused::Limit);
        }
        if at >= list.len() {
            list.resize(at + 1, Value::Null);
        }
        if let Some(slot) = list.get_mut(at) {
            *slot = value;
        }
    }
    Ok(Value::Array(list))
}

/// Key order of JavaScript objects: whole numbers first, ascending. Depth is bounded by the JSON reader.
fn ordered(value: Value) -> Value {
    match value {
        Value::Array(list) => Value::Array(list.into_iter().map(ordered).collect()),
        Value::Object(map) => {
            let numeric = |k: &str| k.parse::<u32>().ok().filter(|n| *n < u32::MAX && n.to_string() == k);
            let mut entries: Vec<_> = map.into_iter().map(|(k, v)| (k, ordered(v))).collect();
            js::sort_by_key(&mut entries, |(k, _)| numeric(k).map_or((1, 0), |n| (0, n)));
            Value::Object(entries.into_iter().collect())
        }
        Value::Number(n) => n.as_f64().map_or(Value::Number(n), json_number),
        other => other,
    }
}
