//! Scalars: plain, quoted and block texts, and what a plain one means by the core schema.

use serde_json::{Number, Value};

use super::Parser;
use crate::error::Error;
use crate::js;

/// What an unquoted text is: null, a flag, a number or a text. A core tag decides instead; with another tag it is a text.
pub(super) fn untyped(text: &str, tag: Option<&str>) -> Value {
    match tag {
        None | Some("!!int" | "!!bool" | "!!null" | "!!map" | "!!seq") => {}
        Some("!!float") => {
            return number(text)
                .and_then(|n| Number::from_f64(n.as_f64()?))
                .map_or(Value::Null, Value::Number);
        }
        Some(_) => return Value::String(text.to_owned()),
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(bare, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Value::Null;
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

/// A quoted text is a text, unless a core tag says what it holds.
pub(super) fn quoted_value(text: String, tag: Option<&str>) -> Value {
    match tag {
        Some("!!int" | "!!float" | "!!bool" | "!!null") => untyped(&text, tag),
        _ => Value::String(text),
    }
}

fn number(text: &str) -> Option<Number> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let sum = |n, c: char| Some(n * f64::from(radix) + f64::from(c.to_digit(radix)?));
            return digits.chars().try_fold(0.0, sum).filter(|_| !digits.is_empty()).and_then(integer);
        }
    }
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match bare.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (bare, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() == 0 || !exponent_fits {
        return None;
    }
    let plain = exponent.is_none() && !mantissa.contains('.');
    let text = text.strip_prefix('+').unwrap_or(text);
    if plain && let Ok(n) = text.parse::<i64>() {
        return Some(Number::from(n));
    }
    Number::from_f64(js::to_number(text))
}

/// An integer where it is exact.
fn integer(n: f64) -> Option<Number> {
    if n < 9_007_199_254_740_992.0 { Some(Number::from(js::to_integer(n))) } else { Number::from_f64(n) }
}

/// How many bytes of a line a plain text takes, and whether a key's colon stopped it.
pub(super) fn plain_end(text: &str, flow: bool) -> (usize, bool) {
    let bytes = text.as_bytes();
    let gap = |i: usize| matches!(bytes.get(i), None | Some(b' ' | b'\t' | b'\n'));
    let bracket = |i: usize| flow && matches!(bytes.get(i), Some(b',' | b'[' | b']' | b'{' | b'}'));
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => return (i, false),
            b':' if gap(i + 1) || bracket(i + 1) => return (i, true),
            b'#' if i > 0 && gap(i - 1) => return (i, false),
            _ if bracket(i) => return (i, false),
            _ => {}
        }
    }
    (bytes.len(), false)
}

/// The byte offset behind the closing quote of a quoted text at the start of `text`.
pub(super) fn quoted_end(text: &str, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut i = 1;
    loop {
        match *bytes.get(i)? {
            b'\\' if quote == b'"' => i += 2,
            b if b == quote && quote == b'\'' && bytes.get(i + 1) == Some(&quote) => i += 2,
            b if b == quote => return Some(i + 1),
            _ => i += 1,
        }
    }
}

/// Joins the lines of a folded text: one line end is a blank, n of them are n - 1 line feeds.
struct Folded {
    text: String,
    ends: usize,
}

impl Folded {
    fn push(&mut self, line: &str) {
        if !self.text.is_empty() || self.ends > 0 {
            match self.ends {
                0 => {}
                1 => self.text.push(' '),
                n => self.text.extend(std::iter::repeat_n('\n', n - 1)),
            }
        }
        self.ends = 0;
        self.text.push_str(line);
    }
}

const BLANKS: [char; 2] = [' ', '\t'];

impl Parser<'_> {
    /// An unquoted text in a block, going on over lines that are indented more than `parent`.
    pub(super) fn plain(&mut self, parent: isize) -> Result<String, Error> {
        let mut out = Folded { text: String::new(), ends: 0 };
        loop {
            let (end, key) = plain_end(self.rest(), false);
            if key {
                self.at += end;
                return Err(self.error("`: ` inside a text; quote it, or check the indentation"));
            }
            let line = self.rest().get(..end).unwrap_or("");
            out.push(line.trim_end_matches(BLANKS));
            self.at += end;
            if self.peek() != Some(b'\n') {
                return Ok(out.text);
            }
            // Look for the next line that belongs here.
            let stop = self.at;
            let mut ends = 0;
            while self.peek() == Some(b'\n') {
                self.at += 1;
                ends += 1;
                self.spaces();
            }
            let goes_on = self.column() > parent && self.peek().is_some_and(|b| b != b'#') && !self.ended();
            if !goes_on {
                self.at = stop;
                return Ok(out.text);
            }
            out.ends = ends;
        }
    }

    /// An unquoted text in a flow collection.
    pub(super) fn flow_plain(&mut self) -> String {
        let mut out = Folded { text: String::new(), ends: 0 };
        loop {
            let (end, key) = plain_end(self.rest(), true);
            let line = self.rest().get(..end).unwrap_or("").trim_end_matches(BLANKS);
            if !line.is_empty() {
                out.push(line);
            }
            self.at += end;
            if key || self.peek() != Some(b'\n') {
                return out.text;
            }
            let stop = self.at;
            let mut ends = 0;
            while self.peek() == Some(b'\n') {
                self.at += 1;
                ends += 1;
                self.spaces();
            }
            if matches!(self.peek(), None | Some(b'#' | b',' | b'[' | b']' | b'{' | b'}' | b':')) {
                self.at = stop;
                return out.text;
            }
            out.ends = ends;
        }
    }

    /// A quoted text; line ends in it fold.
    pub(super) fn quoted(&mut self, quote: u8) -> Result<String, Error> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        // Bytes of `out` that folding must not trim: escaped blanks.
        let mut solid = 0;
        loop {
            match self.peek() {
                None => {
                    self.at = start;
                    return Err(self.error("the quoted text does not end"));
                }
                Some(b'\'') if quote == b'\'' && self.byte(1) == Some(b'\'') => {
                    out.push('\'');
                    self.at += 2;
                }
                Some(b) if b == quote => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') if quote == b'"' => {
                    self.escape(&mut out)?;
                    solid = out.len();
                }
                Some(b'\n') => {
                    let keep =
                        out.get(solid..).map_or(out.len(), |s| solid + s.trim_end_matches(BLANKS).len());
                    out.truncate(keep);
                    let mut ends = 0;
                    while self.peek() == Some(b'\n') {
                        self.at += 1;
                        ends += 1;
                        if self.marker("---") || self.marker("...") {
                            return Err(self.error("the quoted text does not end before the document does"));
                        }
                        self.spaces();
                    }
                    if ends == 1 {
                        out.push(' ');
                    }
                    out.extend(std::iter::repeat_n('\n', ends - 1));
                    solid = out.len();
                }
                Some(_) => {
                    let stops = ['\n', '\\', '"', '\''];
                    let rest = self.rest();
                    let skip = rest.chars().next().map_or(0, char::len_utf8);
                    let end = rest.get(skip..).and_then(|r| r.find(stops)).map_or(rest.len(), |i| i + skip);
                    out.push_str(rest.get(..end).unwrap_or(""));
                    self.at += end;
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Error> {
        let hex = |p: &Self, count: usize| {
            let digits = p.rest().get(2..2 + count)?;
            u32::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        let c = match self.byte(1) {
            Some(b'0') => '\0',
            Some(b'a') => '\u{7}',
            Some(b'b') => '\u{8}',
            Some(b't' | b'\t') => '\t',
            Some(b'n') => '\n',
            Some(b'v') => '\u{b}',
            Some(b'f') => '\u{c}',
            Some(b'r') => '\r',
            Some(b'e') => '\u{1b}',
            Some(c @ (b' ' | b'"' | b'/' | b'\\')) => char::from(c),
            Some(b'N') => '\u{85}',
            Some(b'_') => '\u{a0}',
            Some(b'L') => '\u{2028}',
            Some(b'P') => '\u{2029}',
            Some(b'\n') => {
                // A line end that is not there: the next line goes on without its indentation.
                self.at += 2;
                self.spaces();
                return Ok(());
            }
            Some(kind @ (b'x' | b'u' | b'U')) => {
                let count = match kind {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let unit =
                    hex(self, count).ok_or_else(|| self.error("an escape needs hexadecimal digits"))?;
                self.at += 2 + count;
                out.push(self.pair(unit));
                return Ok(());
            }
            _ => return Err(self.error("an unknown escape; write `\\\\` for a backslash")),
        };
        self.at += 2;
        out.push(c);
        Ok(())
    }

    /// The character of an escaped code unit; JSON in YAML writes astral ones as two.
    fn pair(&mut self, unit: u32) -> char {
        if (0xD800..0xDC00).contains(&unit)
            && let Some(low) = self.rest().strip_prefix("\\u").and_then(|r| r.get(..4))
            && let Ok(low @ 0xDC00..=0xDFFF) = u32::from_str_radix(low, 16)
        {
            self.at += 6;
            return char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00)).unwrap_or('\u{fffd}');
        }
        char::from_u32(unit).unwrap_or('\u{fffd}')
    }

    /// A text after `|` or `>`, in a block indented by `parent` columns.
    pub(super) fn block_scalar(&mut self, parent: isize) -> Result<String, Error> {
        let folded = self.peek() == Some(b'>');
        self.at += 1;
        let (mut chomp, mut given) = (None, None);
        while let Some(byte) = self.peek() {
            match byte {
                b'+' | b'-' if chomp.is_none() => chomp = Some(byte),
                b'1'..=b'9' if given.is_none() => {
                    given = Some(isize::from(i8::try_from(byte - b'0').unwrap_or(0)));
                }
                _ => break,
            }
            self.at += 1;
        }
        self.line_must_end()?;
        self.at += usize::from(self.peek() == Some(b'\n'));
        let base = parent.max(0);
        let mut indent = given.map(|n| if parent < 0 { n } else { base + n });
        let mut lines: Vec<&str> = Vec::new();
        while self.at < self.text.len() {
            let rest = self.rest();
            let line = rest.split('\n').next().unwrap_or("");
            let spaces =
                isize::try_from(line.bytes().take_while(|b| *b == b' ').count()).unwrap_or(isize::MAX);
            let blank = line.len() == usize::try_from(spaces).unwrap_or(0);
            if self.marker("---") || self.marker("...") {
                break;
            }
            if !blank {
                let needed = *indent.get_or_insert(spaces);
                if spaces < needed || spaces <= parent {
                    break;
                }
            }
            lines.push(line);
            self.at += (line.len() + 1).min(rest.len());
        }
        let cut = usize::try_from(indent.unwrap_or(0)).unwrap_or(0);
        let body: Vec<&str> = lines.iter().map(|line| line.get(cut..).unwrap_or("")).collect();
        // The cursor stands behind the last line end, where `blanks` expects an indentation.
        Ok(join_block(&body, folded, chomp))
    }
}

fn join_block(lines: &[&str], folded: bool, chomp: Option<u8>) -> String {
    let full = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |i| i + 1);
    let mut out = String::new();
    let content = lines.get(..full).unwrap_or(&[]);
    let deeper = |line: &str| line.starts_with(BLANKS);
    let mut ends = 0;
    let mut last: Option<&str> = None;
    for line in content.iter().copied() {
        if line.is_empty() && last.is_none() {
            out.push('\n');
            continue;
        }
        if line.is_empty() {
            ends += 1;
            continue;
        }
        if let Some(before) = last {
            // Folding joins two ordinary lines; around deeper ones every line end stays.
            let kept = !folded || deeper(before) || deeper(line);
            match (kept, ends) {
                (true, n) => out.extend(std::iter::repeat_n('\n', n + 1)),
                (false, 0) => out.push(' '),
                (false, n) => out.extend(std::iter::repeat_n('\n', n)),
            }
        }
        out.push_str(line);
        (ends, last) = (0, Some(line));
    }
    match chomp {
        Some(b'-') => {}
        Some(_) => out.extend(std::iter::repeat_n('\n', lines.len() - full + usize::from(full > 0))),
        None if full > 0 => out.push('\n'),
        None => {}
    }
    out
}
