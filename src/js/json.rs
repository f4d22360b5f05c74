//! JSON text out, as `JSON.stringify` writes it: keys in insertion order, numbers as JavaScript prints them.
//! (In: `parse.rs`.)

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
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
    // A JSON value can always be written.
    to_json(value).unwrap_or_default()
}

/// `JSON.stringify(value, null, indent)`.
pub fn stringify_pretty(value: &Value, indent: usize) -> String {
    written(value, PrettyFormatter::with_indent(&b" ".repeat(indent))).unwrap_or_default()
}

/// [`stringify`] of anything that has a JSON form, without making a [`Value`] of it first. Fails where a map's keys are no texts.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    written(value, CompactFormatter)
}

fn written<T: Serialize + ?Sized>(value: &T, form: impl Formatter) -> serde_json::Result<String> {
    let mut out = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut out, Script(form)))?;
    // Formatter and serializer write UTF-8 only.
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// Another formatter's spaces, with JavaScript's numbers and lone surrogates as `\udXXX`.
struct Script<F>(F);

/// Passes calls on as they are.
macro_rules! as_inside {
    ($($name:ident($($arg:ident: $t:ty),*);)+) => {
        $(fn $name<W: ?Sized + Write>(&mut self, out: &mut W, $($arg: $t),*) -> io::Result<()> {
            self.0.$name(out, $($arg),*)
        })+
    };
}

impl<F: Formatter> Formatter for Script<F> {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        out.write_all(number_text(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        // The first byte of every stand-in for half a pair, and of few other characters.
        if !text.as_bytes().contains(&0xF4) {
            return out.write_all(text.as_bytes());
        }
        text.chars().try_for_each(|c| match c {
            '\u{10D800}'..='\u{10DFFF}' => write!(out, "\\u{:04x}", u32::from(c) - HALVES),
            c => write!(out, "{c}"),
        })
    }

    as_inside! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        begin_object_value();
        end_object_value();
    }
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
