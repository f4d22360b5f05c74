//! A reply that carries more than its text -> the text, whether the speaker stays silent, whom it names next (spec 09 §17.1).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::js;

/// How replies carry skips and nominations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// They do not.
    #[default]
    None,
    /// As an object: `{"content", "nextSpeaker", "skip"}`.
    Json,
    /// As marks at the end: `[next: NAME]`, `[pass]`.
    Marks,
}

/// What a reply says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Controlled {
    /// The text.
    pub text: String,
    /// Whom it names, as written.
    pub next: Option<String>,
    /// The speaker does not want to speak.
    pub skip: bool,
}

/// Lets through of a reply that comes in pieces what is certainly its text.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    control: Control,
    /// Everything that came.
    raw: String,
    /// What was let through.
    text: String,
    json: JsonText,
}

impl Gate {
    /// For one reply.
    pub fn new(control: Control) -> Self {
        Self { control, ..Self::default() }
    }

    /// Everything that came.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// What was let through; of an object that is not complete, its content as far as it goes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Takes a piece; gives what is certain now.
    pub fn push(&mut self, piece: &str) -> String {
        self.raw.push_str(piece);
        let new = match self.control {
            Control::None => piece.to_owned(),
            Control::Json => self.json.push(piece),
            Control::Marks => self.raw.get(self.text.len()..before_marks(&self.raw)).unwrap_or("").to_owned(),
        };
        self.text.push_str(&new);
        new
    }
}

/// How much of a text stands before what may be a mark at its end.
fn before_marks(text: &str) -> usize {
    let shown = js::trim_end(text);
    let start = shown.rfind(js::is_line_end).map_or(0, |at| at + end_len(shown, at));
    let (lines, last) = shown.split_at_checked(start).unwrap_or((shown, ""));
    let mark = js::trim_start(last).starts_with(['[', '【', '［']);
    if mark { js::trim_end(lines).len() } else { shown.len() }
}

/// Reads the string `content` out of an object that comes in pieces.
#[derive(Clone, Debug, Default)]
struct JsonText {
    depth: u32,
    /// The string that is being read.
    string: Option<String>,
    /// What follows a backslash, as far as it came.
    escape: Option<String>,
    /// The first half of a surrogate pair.
    high: Option<u32>,
    /// The last whole string, and whether it is the key of the value to come.
    last: String,
    is_key: bool,
    /// The string that is being read is the content; it was read.
    content: bool,
    done: bool,
}

impl JsonText {
    fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            if self.done {
                break;
            }
            if self.string.is_none() {
                self.outside(c);
            } else {
                self.inside(c, &mut out);
            }
        }
        out
    }

    fn outside(&mut self, c: char) {
        match c {
            '{' | '[' => self.depth += 1,
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_key = false;
            }
            ',' => self.is_key = false,
            ':' if self.depth == 1 => self.is_key = true,
            '"' if self.depth > 0 => {
                self.content = self.depth == 1 && self.is_key && self.last == "content";
                self.string = Some(String::new());
            }
            _ => {}
        }
    }

    fn inside(&mut self, c: char, out: &mut String) {
        if let Some(mut escape) = self.escape.take() {
            escape.push(c);
            match unescaped(&escape) {
                Some(unit) => self.unit(unit, out),
                None => self.escape = Some(escape),
            }
            return;
        }
        match c {
            '\\' => self.escape = Some(String::new()),
            '"' => {
                self.last = self.string.take().unwrap_or_default();
                self.done = std::mem::take(&mut self.content);
            }
            c => self.put(c, out),
        }
    }

    /// An escaped UTF-16 unit.
    fn unit(&mut self, unit: u32, out: &mut String) {
        let high = self.high.take();
        if (0xD800..0xDC00).contains(&unit) {
            self.high = Some(unit);
            return;
        }
        let whole = match high {
            Some(high) if (0xDC00..0xE000).contains(&unit) => {
                0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00)
            }
            _ => unit,
        };
        self.put(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER), out);
    }

    fn put(&mut self, c: char, out: &mut String) {
        if self.content {
            out.push(c);
        } else if let Some(string) = self.string.as_mut().filter(|s| s.len() < 64) {
            string.push(c);
        }
    }
}

/// The unit that an escape stands for; `None`: more must come.
fn unescaped(escape: &str) -> Option<u32> {
    let mut chars = escape.chars();
    Some(match chars.next()? {
        'n' => 10,
        't' => 9,
        'r' => 13,
        'b' => 8,
        'f' => 12,
        'u' => {
            let digits = chars.as_str();
            if digits.len() < 4 {
                return None;
            }
            u32::from_str_radix(digits, 16).unwrap_or(0xFFFD)
        }
        c => u32::from(c),
    })
}

/// Reads a reply.
pub fn reply_control(text: &str, control: Control) -> Controlled {
    let plain = || Controlled { text: text.to_owned(), ..Controlled::default() };
    match control {
        Control::None => plain(),
        Control::Json => json(text).unwrap_or_else(plain),
        Control::Marks => marks(text),
    }
}

fn json(text: &str) -> Option<Controlled> {
    let mut body = js::trim(text);
    if body.starts_with("```") {
        body = body.split_once('\n').map_or("", |(_, rest)| rest);
    }
    body = js::trim_end(body);
    body = body.strip_suffix("```").unwrap_or(body);
    let object: Value = serde_json::from_str(body.get(body.find('{')?..=body.rfind('}')?)?).ok()?;
    let object = object.as_object()?;
    let content = object.get("content").and_then(Value::as_str);
    let skip = object.get("skip") == Some(&Value::Bool(true));
    if content.is_none() && !skip {
        return None;
    }
    let next = ["nextSpeaker", "next_speaker", "next"]
        .iter()
        .filter_map(|key| object.get(*key).and_then(Value::as_str))
        .find(|name| !js::trim(name).is_empty());
    Some(Controlled { text: content.unwrap_or("").to_owned(), next: next.map(str::to_owned), skip })
}

fn marks(text: &str) -> Controlled {
    let mut text = js::trim_end(text);
    let start = text.rfind(js::is_line_end).map_or(0, |at| at + end_len(text, at));
    let mut next = None;
    if let Some(name) = text.get(start..).and_then(nomination) {
        next = Some(name.to_owned());
        text = js::trim_end(text.get(..start).unwrap_or(""));
    }
    let skip = bracketed(js::trim(text)).is_some_and(|word| {
        let word = js::lower(js::trim(word));
        matches!(word.as_str(), "pass" | "skip" | "沉默" | "跳过")
    });
    Controlled { text: if skip { String::new() } else { text.to_owned() }, next, skip }
}

fn end_len(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

/// The name in a line that is a nomination and nothing else.
fn nomination(line: &str) -> Option<&str> {
    let inner = bracketed(js::trim(line))?;
    let (label, name) = inner.split_once([':', '：'])?;
    let label = js::lower(js::trim(label));
    let name = js::trim(name);
    (matches!(label.as_str(), "next" | "下一位") && !name.is_empty()).then_some(name)
}

/// What stands between brackets of either width that are the whole text.
fn bracketed(text: &str) -> Option<&str> {
    let inner = text.strip_prefix(['[', '【', '［'])?.strip_suffix([']', '】', '］'])?;
    (!inner.contains(['[', ']', '【', '】', '［', '］'])).then_some(inner)
}
