//! YAML 1.2 text in, a JSON value out, by the core schema (spec 06 §4.10, spec 08 §12.1): what people write by hand for a
//! character or a request body.
//!
//! All of block and flow style, block scalars, anchors, the core tags; not read are complex keys (`? `) and a second document.
//! Repeated keys are an error, as the standard has it. Own code because a full parser costs 26 kB of the package, a tenth
//! of it. Bounded: 127 levels, and aliases may not copy more than [`MAX_COPIED`] values.

mod flow;
mod scalar;

use serde_json::{Map, Value};

use crate::error::{Code, Error};

/// Levels of nesting that are read.
const MAX_DEPTH: usize = 127;

/// Values and bytes that aliases may copy in one text.
const MAX_COPIED: usize = 1 << 20;

/// Parses one YAML document. An empty one is null; `.inf` and `.nan`, which JSON cannot hold, are null too.
pub fn parse_yaml(text: &str) -> Result<Value, Error> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut p = Parser { text: &text, at: 0, depth: 0, anchors: Vec::new(), copied: 0 };
    p.prologue()?;
    let value = p.block(-1, Place::Root)?;
    p.blanks()?;
    if p.marker("...") {
        p.at += 3;
        p.blanks()?;
    }
    if p.at < p.text.len() {
        let second = p.marker("---");
        return Err(p.error(if second {
            "a second document is not read"
        } else {
            "unexpected text; check the indentation"
        }));
    }
    Ok(value)
}

/// Where a block value stands, which decides what may follow on the same line.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    /// After `key:`.
    Value,
    /// After `- `.
    Item,
}

/// What stands before a value: `&anchor` and `!tag`.
#[derive(Default)]
struct Properties {
    anchor: Option<String>,
    tag: Option<String>,
}

struct Parser<'a> {
    /// Line ends are LF.
    text: &'a str,
    at: usize,
    depth: usize,
    anchors: Vec<(String, Value)>,
    copied: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, what: &str) -> Error {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Error::new(Code::YamlSyntax, "", format!("{what} at line {line} column {column}"))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.byte(0)
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Whether the byte at an offset is a blank, a line end, or the end of the text.
    fn is_gap(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), None | Some(b' ' | b'\t' | b'\n'))
    }

    fn column(&self) -> isize {
        let before = self.text.get(..self.at).unwrap_or("");
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        isize::try_from(self.at - start).unwrap_or(isize::MAX)
    }

    fn at_line_start(&self) -> bool {
        self.at == 0 || self.text.as_bytes().get(self.at - 1) == Some(&b'\n')
    }

    fn marker(&self, marker: &str) -> bool {
        self.at_line_start() && self.rest().starts_with(marker) && self.is_gap(3)
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Skips spaces and a comment, up to the end of the line.
    fn tail(&mut self) {
        self.spaces();
        let before = self.at.checked_sub(1).and_then(|i| self.text.as_bytes().get(i));
        if self.peek() == Some(b'#') && matches!(before, None | Some(b' ' | b'\t' | b'\n')) {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Skips blank lines and comments, and the indentation of the next line that holds something.
    fn blanks(&mut self) -> Result<(), Error> {
        loop {
            let line = self.at;
            let indented = self.at_line_start();
            self.tail();
            match self.peek() {
                Some(b'\n') => self.at += 1,
                Some(_) if indented && self.text.get(line..self.at).is_some_and(|s| s.contains('\t')) => {
                    return Err(self.error("a tab is no indentation"));
                }
                _ => return Ok(()),
            }
        }
    }

    fn prologue(&mut self) -> Result<(), Error> {
        self.at = usize::from(self.text.starts_with('\u{feff}')) * 3;
        self.blanks()?;
        let mut directive = false;
        while self.at_line_start() && self.peek() == Some(b'%') {
            directive = true;
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            self.blanks()?;
        }
        if self.marker("---") {
            self.at += 3;
        } else if directive {
            return Err(self.error("expected `---` after the directives"));
        }
        Ok(())
    }

    /// Whether the text stops belonging to a block: end of the text or of the document.
    fn ended(&self) -> bool {
        self.at >= self.text.len() || self.marker("---") || self.marker("...")
    }

    fn is_item(&self) -> bool {
        self.peek() == Some(b'-') && self.is_gap(1)
    }

    /// The value after `key:`, `- ` or the start, inside a collection indented by `parent` columns.
    fn block(&mut self, parent: isize, place: Place) -> Result<Value, Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.error("nested more than 127 levels deep"));
        }
        self.depth += 1;
        let value = self.block_value(parent, place)?;
        self.depth -= 1;
        Ok(value)
    }

    fn block_value(&mut self, parent: isize, place: Place) -> Result<Value, Error> {
        // Properties and scalars may stand on the same line; after `key:` nothing that spans lines as a block may.
        let mut properties = Properties::default();
        let mut same_line = place != Place::Root || !self.at_line_start();
        self.tail();
        if self.peek() == Some(b'\n') || self.peek().is_none() {
            same_line = false;
            self.blanks()?;
        }
        let inside = |p: &Self| {
            let item = place == Place::Value && p.column() == parent && p.is_item();
            !p.ended() && (p.column() > parent || item)
        };
        if !same_line && !inside(self) {
            return Ok(Value::Null);
        }
        // `&a key: 1` names the key, `&a` alone on a line the block below it.
        if matches!(self.peek(), Some(b'&' | b'!')) && !self.is_key()? {
            properties = self.properties()?;
            self.tail();
            if self.peek() == Some(b'\n') || self.peek().is_none() {
                same_line = false;
                self.blanks()?;
                if !inside(self) {
                    return self.finish(scalar::untyped("", properties.tag.as_deref()), properties);
                }
            }
        }
        let value = match self.peek() {
            Some(b'|' | b'>') => Value::String(self.block_scalar(parent)?),
            _ if self.is_item() => {
                if same_line && place == Place::Value {
                    return Err(self.error("a list must start on a line of its own"));
                }
                self.sequence()?
            }
            _ if self.is_key()? => {
                if same_line && place == Place::Value {
                    return Err(self.error("a second `: ` in one line; quote the text"));
                }
                self.mapping()?
            }
            _ => {
                let value = self.scalar_or_flow(parent, properties.tag.as_deref())?;
                self.line_must_end()?;
                value
            }
        };
        self.finish(value, properties)
    }

    /// Applies what stood before a value.
    fn finish(&mut self, value: Value, properties: Properties) -> Result<Value, Error> {
        if let Some(name) = properties.anchor {
            // Remembering costs a copy, so it counts.
            self.copy_costs(&value)?;
            self.anchors.push((name, value.clone()));
        }
        Ok(value)
    }

    fn copy_costs(&mut self, value: &Value) -> Result<(), Error> {
        self.copied = self.copied.saturating_add(size(value));
        if self.copied > MAX_COPIED { Err(self.error("anchors and aliases copy too much")) } else { Ok(()) }
    }

    fn alias(&mut self) -> Result<Value, Error> {
        self.at += 1;
        let name = self.name();
        let Some((_, value)) = self.anchors.iter().rev().find(|(n, _)| *n == name) else {
            return Err(self.error(&format!("there is no anchor `{name}`")));
        };
        let value = value.clone();
        self.copy_costs(&value)?;
        Ok(value)
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find([' ', '\t', '\n', ',', '[', ']', '{', '}']).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("").to_owned()
    }

    fn properties(&mut self) -> Result<Properties, Error> {
        let mut properties = Properties::default();
        loop {
            match self.peek() {
                Some(b'&') if properties.anchor.is_none() => {
                    self.at += 1;
                    properties.anchor = Some(self.name());
                }
                Some(b'!') if properties.tag.is_none() => properties.tag = Some(self.name()),
                Some(b'&' | b'!') => return Err(self.error("two anchors or two tags for one value")),
                _ => return Ok(properties),
            }
            self.spaces();
        }
    }

    fn line_must_end(&mut self) -> Result<(), Error> {
        self.tail();
        if matches!(self.peek(), None | Some(b'\n')) {
            return Ok(());
        }
        Err(self.error("unexpected text after the value"))
    }

    fn sequence(&mut self) -> Result<Value, Error> {
        let indent = self.column();
        let mut items = Vec::new();
        loop {
            self.at += 1;
            items.push(self.block(indent, Place::Item)?);
            self.blanks()?;
            if self.ended() || self.column() < indent {
                return Ok(Value::Array(items));
            }
            if self.column() > indent {
                return Err(self.error("indented more than the list it belongs to"));
            }
            if !self.is_item() {
                return Ok(Value::Array(items));
            }
        }
    }

    fn mapping(&mut self) -> Result<Value, Error> {
        let indent = self.column();
        let mut map = Map::new();
        loop {
            let start = self.at;
            let key = self.key()?;
            self.spaces();
            self.at += 1; // the colon, which `is_key` saw
            let value = self.block(indent, Place::Value)?;
            if map.contains_key(&key) {
                self.at = start;
                return Err(self.error(&format!("the key `{key}` occurs twice")));
            }
            map.insert(key, value);
            self.blanks()?;
            if self.ended() || self.column() < indent {
                return Ok(Value::Object(map));
            }
            if self.column() > indent {
                return Err(self.error("indented more than the keys before it"));
            }
            if !self.is_key()? {
                return Err(self.error("expected `key: value`"));
            }
        }
    }

    /// Whether the rest of the line starts with a key and its colon.
    fn is_key(&self) -> Result<bool, Error> {
        let mut ahead = Parser { text: self.text, at: self.at, depth: 0, anchors: Vec::new(), copied: 0 };
        if matches!(ahead.peek(), Some(b'&' | b'!')) {
            let Ok(_) = ahead.properties() else { return Ok(false) };
        }
        match ahead.peek() {
            Some(b'?') if ahead.is_gap(1) => {
                Err(ahead.error("keys that are no plain text (`? `) are not read"))
            }
            Some(quote @ (b'"' | b'\'')) => {
                let line = ahead.rest().split('\n').next().unwrap_or("");
                let Some(end) = scalar::quoted_end(line, quote) else { return Ok(false) };
                ahead.at += end;
                ahead.spaces();
                Ok(ahead.peek() == Some(b':') && ahead.is_gap(1))
            }
            // A collection as a key is not read; as a value it follows.
            Some(b'[' | b'{' | b']' | b'}' | b',' | b'|' | b'>' | b'%' | b'@' | b'`' | b'#') | None => {
                Ok(false)
            }
            Some(b'*') => {
                ahead.at += 1;
                ahead.name();
                ahead.spaces();
                Ok(ahead.peek() == Some(b':') && ahead.is_gap(1))
            }
            Some(_) => Ok(scalar::plain_end(ahead.rest(), false).1),
        }
    }

    fn key(&mut self) -> Result<String, Error> {
        if matches!(self.peek(), Some(b'&' | b'!')) {
            let properties = self.properties()?;
            let key = self.bare_key()?;
            self.finish(Value::String(key.clone()), properties)?;
            return Ok(key);
        }
        self.bare_key()
    }

    fn bare_key(&mut self) -> Result<String, Error> {
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote),
            Some(b'*') => Ok(key_text(&self.alias()?)),
            _ => {
                let (end, _) = scalar::plain_end(self.rest(), false);
                let text = self.rest().get(..end).unwrap_or("");
                self.at += end;
                Ok(key_text(&scalar::untyped(text.trim_end_matches([' ', '\t']), None)))
            }
        }
    }
}

/// A key as JavaScript makes it a property name.
fn key_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        value => super::value_to_text(value),
    }
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::String(s) => s.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map.iter().map(|(k, v)| k.len() + size(v)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::js::stringify;
    use proptest::prelude::*;

    fn json(yaml: &str) -> String {
        parse_yaml(yaml).map_or_else(|e| e.to_string(), |v| stringify(&v))
    }

    // Right-hand sides are what the reference's YAML library gives.
    #[test]
    fn reads_what_people_write() {
        for (yaml, expected) in [
            ("", "null"),
            ("# only a comment", "null"),
            ("just\n two lines", r#""just two lines""#),
            (
                "a: 1\nb: two\nc: ~\nd:\ne: True\nf: 0x1F\ng: 1e3\nh: yes\ni: 0o17\nj: 012\nk: 1_000\nl: .5",
                r#"{"a":1,"b":"two","c":null,"d":null,"e":true,"f":31,"g":1000,"h":"yes","i":15,"j":12,"k":"1_000","l":0.5}"#,
            ),
            (
                "- a\n- b: 1\n  c: 2\n- - x\n  - y\n-\n- {a: 1, b: [2, 3]}",
                r#"["a",{"b":1,"c":2},["x","y"],null,{"a":1,"b":[2,3]}]"#,
            ),
            (
                "k: |\n  one\n   two\n\n  three\nn: >\n  folded\n  text\n\n  para\n   deeper\n  back\nl: |-\n  x\n\nm: |+\n  y\n\nz: 1",
                r#"{"k":"one\n two\n\nthree\n","n":"folded text\npara\n deeper\nback\n","l":"x","m":"y\n\n","z":1}"#,
            ),
            (
                "a: 'it''s'\nb: \"x\\ty\\u00e9 \\U0001F600 \\ud83d\\ude00\"\nc: \"multi\n  line\n\n  text\"",
                r#"{"a":"it's","b":"x\tyé 😀 😀","c":"multi line\ntext"}"#,
            ),
            ("%YAML 1.2\n---\na: 1 # c\n...\n", r#"{"a":1}"#),
            ("a: &x {p: 1}\nb: *x", r#"{"a":{"p":1},"b":{"p":1}}"#),
            ("a:\n- 1\n- 2\nb: 3", r#"{"a":[1,2],"b":3}"#),
            (
                r#"{"a":1,"b":[true,null,"x"],"c":{"d":-1.5}}"#,
                r#"{"a":1,"b":[true,null,"x"],"c":{"d":-1.5}}"#,
            ),
            ("[a, b: c, {d}, 'e': f]", r#"["a",{"b":"c"},{"d":null},{"e":"f"}]"#),
            (
                "洛恩: 名字 # 注\nключ: значение\nสวัสดี: [ครับ, 😀]",
                r#"{"洛恩":"名字","ключ":"значение","สวัสดี":["ครับ","😀"]}"#,
            ),
            (
                "a: http://x.y/z#frag\nb: c:d\nc: a#b\ne: -x\nf: ?x",
                r#"{"a":"http://x.y/z#frag","b":"c:d","c":"a#b","e":"-x","f":"?x"}"#,
            ),
            ("!!str 123", r#""123""#),
            ("1: a\ntrue: b\n1.50: c", r#"{"1":"a","true":"b","1.5":"c"}"#),
            ("a: .inf\r\nb: x\r\n", r#"{"a":null,"b":"x"}"#),
            ("- a\n # c\n- b\n", r#"["a","b"]"#),
            ("a: b\n  c\n\n  d\ne: f", r#"{"a":"b c\nd","e":"f"}"#),
            ("<<: {a: 1}\nb: 2", r#"{"<<":{"a":1},"b":2}"#),
        ] {
            assert_eq!(json(yaml), expected, "{yaml:?}");
        }
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (yaml, place) in [
            ("a: b: c", "line 1"),
            ("a: 1\na: 2", "line 2 column 1"),
            ("a:\n\t- b", "tab"),
            ("a: 'open\nb: 2", "does not end"),
            ("name: 洛恩\n  context: [never closed\ngreeting: \"x", "line 2"),
            ("x: [1, 2\ny: 3", "not closed"),
            ("- a\nb: 1", "line 2"),
            ("a:\n    b: 1\n  c: 2", "line 3"),
            ("a: @x", "quote it"),
            ("a: *nope", "no anchor"),
            ("---\na\n---\nb", "second document"),
            ("a: \"\\q\"", "escape"),
        ] {
            let error = parse_yaml(yaml).unwrap_err();
            assert_eq!(error.code(), Code::YamlSyntax, "{yaml:?}");
            assert!(error.message().contains(place), "{yaml:?}: {error}");
        }
    }

    #[test]
    fn aliases_and_nesting_are_bounded() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..20 {
            let row = vec![format!("*a{}", i - 1); 10].join(", ");
            bomb.push_str(&format!("a{i}: &a{i} [{row}]\n"));
        }
        assert!(parse_yaml(&bomb).unwrap_err().message().contains("copy too much"));
        for deep in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(50_000)] {
            assert!(parse_yaml(&deep).unwrap_err().message().contains("127"));
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"[a: \n\-\[\]{},'"|>&*!#?\\\t洛😀1x%@]{0,40}"#) {
            let _ = parse_yaml(&text);
        }
    }
}
