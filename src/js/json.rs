//! JSON text out, as `JSON.stringify` writes it: keys in insertion order, numbers as JavaScript prints them.
//! (In: `parse.rs`.)

use serde_json::{Map, Value};

use super::number::number_text;
use super::parse::HALVES;

/// A JSON object of these pairs, in their order. One function for all, where the `json!` macro would spell out an insertion a key:
/// large objects built with it cost kilobytes of the package each.
#[inline(never)]
pub fn object(pairs: Vec<(&str, Value)>) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Sets a key of an object. Not inlined, for the same reason.
#[inline(never)]
pub fn put(object: &mut Map<String, Value>, key: &str, value: Value) {
    object.insert(key.to_owned(), value);
}

/// A JSON list of texts.
#[inline(never)]
pub fn texts(texts: Vec<String>) -> Value {
    Value::Array(texts.into_iter().map(Value::String).collect())
}

/// `JSON.stringify(value)`: no spaces, numbers as JavaScript prints them, keys in order.
pub fn stringify(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, None, 0);
    out
}

/// `JSON.stringify(value, null, indent)`.
pub fn stringify_pretty(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    write(&mut out, value, Some(indent), 0);
    out
}

// Depth is bounded: values come from `parse` (127 levels) or from code.
fn write(out: &mut String, value: &Value, indent: Option<usize>, depth: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => match n.as_f64() {
            Some(f) if n.is_f64() => {
                out.push_str(&if f.is_finite() { number_text(f) } else { "null".to_owned() });
            }
            _ => out.push_str(&n.to_string()),
        },
        Value::String(s) => write_string(out, s),
        Value::Array(items) if items.is_empty() => out.push_str("[]"),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                separator(out, i, indent, depth + 1);
                write(out, item, indent, depth + 1);
            }
            close(out, indent, depth);
            out.push(']');
        }
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Object(map) => {
            out.push('{');
            for (i, (key, item)) in map.iter().enumerate() {
                separator(out, i, indent, depth + 1);
                write_string(out, key);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                write(out, item, indent, depth + 1);
            }
            close(out, indent, depth);
            out.push('}');
        }
    }
}

fn separator(out: &mut String, i: usize, indent: Option<usize>, depth: usize) {
    if i > 0 {
        out.push(',');
    }
    close(out, indent, depth);
}

fn close(out: &mut String, indent: Option<usize>, depth: usize) {
    if let Some(width) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width * depth));
    }
}

fn write_string(out: &mut String, s: &str) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\u{10D800}'..='\u{10DFFF}' => out.push_str(&format!("\\u{:04x}", u32::from(c) - HALVES)),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::js::parse;

    #[test]
    fn text_is_stringifys() {
        let (value, _) = parse("{\"b\":1.0,\"a\":[1e21,null,{}],\"c\":\"\\u0001\\n\"}").unwrap();
        assert_eq!(stringify(&value), "{\"b\":1,\"a\":[1e+21,null,{}],\"c\":\"\\u0001\\n\"}");
        assert_eq!(stringify_pretty(&value, 2).split('\n').count(), 9);
    }
}
