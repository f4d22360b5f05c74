//! JSON text in: strict RFC 8259 text becomes a value; what is repaired on the way is reported (spec 08 §12.4).
//!
//! Not `serde_json::from_str`, which refuses escaped lone surrogates, says nothing about repeated keys, and rounds some
//! decimals to the wrong neighbour unless it carries a second number parser. Same strictness and the same depth otherwise,
//! which the tests hold against it.

use serde_json::{Map, Number, Value};

use crate::error::{Code, Error, Warning, Warnings, join_path};

/// Levels of nesting that are read; one more is an error.
const MAX_DEPTH: usize = 127;

/// What is added to a lone surrogate to disguise it.
pub(super) const HALVES: u32 = 0x10_0000;

/// Parses JSON text. Escaped lone surrogates become U+FFFD (`lone-surrogate`); of repeated keys the last one counts, at the
/// place of the first (`duplicate-key`). Errors name line and column.
pub fn parse(text: &str) -> Result<(Value, Vec<Warning>), Error> {
    read(text, false)
}

/// [`parse`], but lone surrogates go through: `stringify` writes them as they came. Inside they are private-use characters
/// of the last plane (U+10D800 to U+10DFFF), since a `String` cannot hold them.
pub fn parse_halves(text: &str) -> Result<(Value, Vec<Warning>), Error> {
    read(text, true)
}

fn read(text: &str, keep_halves: bool) -> Result<(Value, Vec<Warning>), Error> {
    let mut parser =
        Parser { text, at: 0, depth: 0, repeated: Vec::new(), more_repeated: 0, halves: 0, keep_halves };
    parser.blanks();
    let value = parser.value()?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.syntax("nothing after the end of the value"));
    }
    let mut warnings = Warnings::default();
    if parser.halves > 0 {
        let what = format!("{} half characters became U+FFFD", parser.halves);
        warnings.push(Warning::new("lone-surrogate", "", what));
    }
    for path in parser.repeated {
        warnings.push(Warning::new(
            "duplicate-key",
            path,
            "the key occurs more than once; the last one counts",
        ));
    }
    for _ in 0..parser.more_repeated.min(1) {
        let what = format!("{} more keys occur more than once", parser.more_repeated);
        warnings.push(Warning::new("duplicate-key", "", what));
    }
    Ok((value, warnings.into_list()))
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset, always on a character boundary.
    at: usize,
    depth: usize,
    /// Paths of repeated keys, the first few.
    repeated: Vec<String>,
    more_repeated: usize,
    /// Lone surrogates replaced.
    halves: usize,
    /// They stay, in disguise.
    keep_halves: bool,
}

impl Parser<'_> {
    const REPEATED_KEPT: usize = 16;

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn error(&self, code: Code, what: &str) -> Error {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Error::new(code, "", format!("{what} at line {line} column {column}"))
    }

    fn syntax(&self, expected: &str) -> Error {
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or_else(
            || "the text ends".to_owned(),
            |c| if c.is_control() { format!("found U+{:04X}", u32::from(c)) } else { format!("found `{c}`") },
        );
        self.error(Code::JsonSyntax, &format!("expected {expected}, {found}"))
    }

    fn value(&mut self) -> Result<Value, Error> {
        match self.peek() {
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(open @ (b'{' | b'[')) => {
                if self.depth == MAX_DEPTH {
                    return Err(self.error(Code::JsonTooDeep, "nested more than 127 levels deep"));
                }
                self.depth += 1;
                self.at += 1;
                let value = if open == b'{' { self.object() } else { self.array() }?;
                self.depth -= 1;
                Ok(value)
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => Err(self.syntax("a value")),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Error> {
        if !self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(self.syntax("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Error> {
        let mut map = Map::new();
        self.blanks();
        if self.eat(b'}') {
            return Ok(Value::Object(map));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.syntax("a key in double quotes"));
            }
            let key = self.string()?;
            self.blanks();
            if !self.eat(b':') {
                return Err(self.syntax("`:`"));
            }
            self.blanks();
            let before = self.repeated.len();
            let value = self.value()?;
            self.prefix(before, &key);
            // A repeated key keeps its first place, as in JavaScript.
            match map.entry(key) {
                serde_json::map::Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                serde_json::map::Entry::Occupied(mut entry) => {
                    if self.repeated.len() < Self::REPEATED_KEPT {
                        self.repeated.push(entry.key().clone());
                    } else {
                        self.more_repeated += 1;
                    }
                    entry.insert(value);
                }
            }
            self.blanks();
            if self.eat(b'}') {
                return Ok(Value::Object(map));
            }
            if !self.eat(b',') {
                return Err(self.syntax("`,` or `}`"));
            }
        }
    }

    /// Puts a step in front of the paths found below it.
    fn prefix(&mut self, from: usize, step: &str) {
        for path in self.repeated.iter_mut().skip(from) {
            *path = join_path(step, path);
        }
    }

    fn array(&mut self) -> Result<Value, Error> {
        let mut items = Vec::new();
        self.blanks();
        if self.eat(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            self.blanks();
            let before = self.repeated.len();
            items.push(self.value()?);
            if self.repeated.len() > before {
                self.prefix(before, &format!("[{}]", items.len() - 1));
            }
            self.blanks();
            if self.eat(b']') {
                return Ok(Value::Array(items));
            }
            if !self.eat(b',') {
                return Err(self.syntax("`,` or `]`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            let plain = rest.bytes().position(|b| b < 0x20 || b == b'"' || b == b'\\').unwrap_or(rest.len());
            out.push_str(rest.get(..plain).unwrap_or(""));
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => return Err(self.syntax("no raw control character in a string")),
                None => return Err(self.syntax("a closing `\"`")),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Error> {
        self.at += 1;
        let c = match self.peek() {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'u') => {
                let unit = self.unit(self.at + 1).ok_or_else(|| self.syntax("four hexadecimal digits"))?;
                self.at += 5;
                out.push(self.character(unit));
                return Ok(());
            }
            _ => return Err(self.syntax("an escape")),
        };
        self.at += 1;
        out.push(c);
        Ok(())
    }

    /// The character of a code unit just read; takes the second half of a pair with it.
    fn character(&mut self, unit: u32) -> char {
        if let Some(c) = char::from_u32(unit) {
            return c;
        }
        let follows = self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u"));
        let low = if follows { self.unit(self.at + 2) } else { None };
        match low {
            Some(low @ 0xDC00..=0xDFFF) if unit < 0xDC00 => {
                self.at += 6;
                char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00)).unwrap_or('\u{fffd}')
            }
            _ if self.keep_halves => char::from_u32(HALVES + unit).unwrap_or('\u{fffd}'),
            _ => {
                self.halves += 1;
                '\u{fffd}'
            }
        }
    }

    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.as_bytes().get(at..at + 4)?;
        digits.iter().try_fold(0, |sum, d| Some(sum * 16 + char::from(*d).to_digit(16)?))
    }

    fn number(&mut self) -> Result<Value, Error> {
        let start = self.at;
        let negative = self.eat(b'-');
        if !self.eat(b'0') && self.digits() == 0 {
            return Err(self.syntax("a digit"));
        }
        let mut whole = true;
        if self.eat(b'.') {
            whole = false;
            if self.digits() == 0 {
                return Err(self.syntax("a digit"));
            }
        }
        if self.eat(b'e') || self.eat(b'E') {
            whole = false;
            let _sign = self.eat(b'+') || self.eat(b'-');
            if self.digits() == 0 {
                return Err(self.syntax("a digit"));
            }
        }
        let text = self.text.get(start..self.at).unwrap_or("");
        let integer = match (whole, negative) {
            (false, _) => None,
            (true, false) => text.parse::<u64>().ok().map(Number::from),
            // -0 is a float: an integer cannot hold its sign.
            (true, true) => text.parse::<i64>().ok().filter(|n| *n != 0).map(Number::from),
        };
        let number = integer.or_else(|| Number::from_f64(text.parse().ok()?));
        number.map(Value::Number).ok_or_else(|| {
            self.error(Code::JsonSyntax, &format!("a number of {} digits is out of range", text.len()))
        })
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::js::stringify;
    use proptest::prelude::*;

    #[test]
    fn lone_surrogates_are_replaced_pairs_stay() {
        let (value, warnings) =
            parse(r#"["\ud83d\ude00","x\ud83d","\ude00\ud83dy","\\ud83d","\ud83d\u6d1b"]"#).unwrap();
        assert_eq!(
            stringify(&value),
            "[\"😀\",\"x\u{fffd}\",\"\u{fffd}\u{fffd}y\",\"\\\\ud83d\",\"\u{fffd}洛\"]"
        );
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn errors_have_codes_and_places() {
        assert_eq!(parse("{").unwrap_err().code(), Code::JsonSyntax);
        assert_eq!(parse(&"[".repeat(200)).unwrap_err().code(), Code::JsonTooDeep);
        let nested = |n| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(&nested(127)).is_ok());
        assert_eq!(parse(&nested(128)).unwrap_err().code(), Code::JsonTooDeep);
        let text = parse("{\n \"洛\": 1,\n}").unwrap_err().to_string();
        assert!(text.contains("line 3 column 1"), "{text}");
        assert!(parse("[1e999]").unwrap_err().message().contains("out of range"));
        assert_eq!(parse(&"9".repeat(400)).unwrap_err().code(), Code::JsonSyntax);
    }

    #[test]
    fn repeated_keys_are_reported_where_they_are() {
        let (value, warnings) = parse(r#"{"a":1,"b":[0,{"x":1,"y":2,"x":3}],"a":2}"#).unwrap();
        assert_eq!(stringify(&value), r#"{"a":2,"b":[0,{"x":3,"y":2}]}"#);
        let paths: Vec<_> = warnings.iter().map(|w| w.path.as_str()).collect();
        assert_eq!(paths, ["b[1].x", "a"]);
        let many = format!("{{{}}}", vec!["\"k\":1"; 1000].join(","));
        assert!(parse(&many).unwrap().1.len() < 30);
    }

    #[test]
    fn decimals_are_the_nearest() {
        for text in
            ["0.3", "2.2250738585072014e-308", "9007199254740993.0", "123456789012345678", "1e23", "-0.0"]
        {
            let (value, _) = parse(text).unwrap();
            assert_eq!(value.as_f64().unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    /// Equal, numbers up to the last bits: serde_json does not round exactly.
    fn same(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                (a - b).abs() <= a.abs() * 1e-14
            }
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
            }
            _ => a == b,
        }
    }

    /// What is accepted is what serde_json accepts, lone surrogates apart, and it means the same.
    fn agrees(text: &str) -> Result<(), TestCaseError> {
        match (parse(text), serde_json::from_str::<Value>(text)) {
            (Ok((a, _)), Ok(b)) => prop_assert!(same(&a, &b), "{text}: {a} and {b}"),
            (Err(_), Err(_)) => {}
            (Ok(_), Err(e)) => {
                let halves = e.to_string().contains("surrogate") || e.to_string().contains("hex escape");
                prop_assert!(halves, "{text}: {e}");
            }
            (Err(e), Ok(_)) => prop_assert!(false, "{text} refused: {e}"),
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn agrees_with_a_second_parser(text in r#"[\[\]{},:"\\ \-0-9.eEtrufalsn洛😀\x01\t]{0,24}"#) {
            agrees(&text)?;
        }

        #[test]
        fn damaged_documents_agree_too(cut in 0usize..90, with in "[\\[\\]{},:\"\\\\0-9e. \n]{0,3}") {
            let text = r#"{"name":"洛恩 \u00e9 \ud83d\ude00","n":[-1.5e3,0,true,null,{"a":{}}],"last":"x\\\"y"}"#;
            let at = (0..=cut).rev().find(|i| text.is_char_boundary(*i)).unwrap();
            agrees(&format!("{}{}{}", &text[..at], with, &text[at..]))?;
        }
    }
}
