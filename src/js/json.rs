//! JSON text in and out. In: strict RFC 8259, but an escaped lone surrogate becomes U+FFFD with a warning instead of refusing
//! the whole text (spec 08 §12.4). Out: as `JSON.stringify` writes it, keys in insertion order.

use std::borrow::Cow;

use serde_json::Value;

use super::number::number_text;
use crate::error::{Code, Error, Warning};

/// Parses JSON text. Lone surrogates in escapes are replaced and reported.
pub fn parse(text: &str) -> Result<(Value, Vec<Warning>), Error> {
    let (clean, replaced) = mend_surrogates(text);
    let value = serde_json::from_str(&clean).map_err(|e| {
        let deep = e.to_string().contains("recursion limit");
        let code = if deep { Code::JsonTooDeep } else { Code::JsonSyntax };
        let what = if deep { "nested more than 127 levels".to_owned() } else { e.to_string() };
        Error::new(code, "", what)
    })?;
    let warnings = (replaced > 0)
        .then(|| Warning::new("lone-surrogate", "", format!("{replaced} half characters became U+FFFD")))
        .into_iter()
        .collect();
    Ok((value, warnings))
}

/// Replaces escapes of unpaired surrogates by the escape of U+FFFD. One pass; borrows when there are none.
fn mend_surrogates(text: &str) -> (Cow<'_, str>, usize) {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at, mut replaced) = (0, 0, 0);
    while let Some(step) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += step;
        let Some(unit) = surrogate_escape(bytes, at) else {
            at += 2; // an escaped backslash must not start an escape of its own
            continue;
        };
        let paired = unit < 0xDC00 && surrogate_escape(bytes, at + 6).is_some_and(|low| low >= 0xDC00);
        if paired {
            at += 12;
            continue;
        }
        out.push_str(text.get(copied..at).unwrap_or(""));
        out.push_str("\\ufffd");
        replaced += 1;
        at += 6;
        copied = at;
    }
    if replaced == 0 {
        return (Cow::Borrowed(text), 0);
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    (Cow::Owned(out), replaced)
}

/// The code unit of `\uD800`…`\uDFFF` at a byte offset.
fn surrogate_escape(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    let hex = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    let unit = u32::from_str_radix(hex, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
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

    #[test]
    fn lone_surrogates_are_replaced_pairs_stay() {
        let (value, warnings) = parse(r#"["\ud83d\ude00","x\ud83d","\ude00\ud83dy","\\ud83d"]"#).unwrap();
        assert_eq!(stringify(&value), "[\"😀\",\"x\u{fffd}\",\"\u{fffd}\u{fffd}y\",\"\\\\ud83d\"]");
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn text_is_stringifys() {
        let (value, _) = parse("{\"b\":1.0,\"a\":[1e21,null,{}],\"c\":\"\\u0001\\n\"}").unwrap();
        assert_eq!(stringify(&value), "{\"b\":1,\"a\":[1e+21,null,{}],\"c\":\"\\u0001\\n\"}");
        assert_eq!(stringify_pretty(&value, 2).split('\n').count(), 9);
    }

    #[test]
    fn errors_have_codes() {
        assert_eq!(parse("{").unwrap_err().code(), Code::JsonSyntax);
        assert_eq!(parse(&"[".repeat(200)).unwrap_err().code(), Code::JsonTooDeep);
    }
}
