//! What happens to a whole text before it is parsed and after it is evaluated.
//!
//! Spec: 04 §3. Differs under `macros.escapes`: only source text is unescaped, and only marks that macros of this text left are acted on.

use std::borrow::Cow;

/// What `{{else}}` outside an `{{if}}` leaves behind.
pub(super) const ELSE_MARK: &str = "\u{0}\u{1f}ELSE\u{1f}\u{0}";
/// What `{{trim}}` leaves behind under `macros.escapes`; the reference leaves `{{trim}}`.
pub(super) const TRIM_MARK: &str = "\u{0}\u{1f}TRIM\u{1f}\u{0}";
/// What `{{noop}}` leaves behind under `macros.escapes`: text before it is out of reach of a `{{trim}}`.
pub(super) const NOOP_MARK: &str = "\u{0}\u{1f}NOOP\u{1f}\u{0}";
/// The macro as text.
pub(super) const TRIM_TEXT: &str = "{{trim}}";

/// Whether a text holds anything that an expansion could change. One scan.
pub(super) fn is_plain(text: &str) -> bool {
    let mut before = 0u8;
    for b in text.bytes() {
        let hit = match b {
            b'{' => before == b'{' || before == b'\\',
            b'}' => before == b'\\',
            b'<' | 0 => true,
            _ => false,
        };
        if hit {
            return false;
        }
        before = b;
    }
    true
}

/// The old forms in today's spelling: `{{time_UTC+2}}` and `<USER>`.
pub(super) fn pre(text: &str) -> Cow<'_, str> {
    let timed = replace_time_utc(text);
    if !timed.contains('<') {
        return timed;
    }
    let mut out = String::with_capacity(timed.len());
    let mut rest = timed.as_ref();
    while let Some(at) = rest.find('<') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let (old, new) = ANGLES.into_iter().find(|(old, _)| starts_with_ci(tail, old)).unwrap_or(("<", "<"));
        out.push_str(new);
        rest = tail.get(old.len()..).unwrap_or("");
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The forms in angle brackets and what they stand for.
pub(super) const ANGLES: [(&str, &str); 5] = [
    ("<USER>", "{{user}}"),
    ("<BOT>", "{{char}}"),
    ("<CHAR>", "{{char}}"),
    ("<GROUP>", "{{group}}"),
    ("<CHARIFNOTGROUP>", "{{charIfNotGroup}}"),
];

/// ASCII case-insensitive `starts_with`.
pub(super) fn starts_with_ci(text: &str, head: &str) -> bool {
    text.get(..head.len()).is_some_and(|t| t.eq_ignore_ascii_case(head))
}

/// `{{time_UTC` + sign + digits + `}}`, its `UTC±N` and its length.
pub(super) fn time_utc(text: &str) -> Option<(&str, usize)> {
    const HEAD: &str = "{{time_UTC";
    if !starts_with_ci(text, HEAD) {
        return None;
    }
    let tail = text.get(HEAD.len()..)?;
    let number = tail.strip_prefix(['+', '-'])?;
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || !number.get(digits..)?.starts_with("}}") {
        return None;
    }
    let end = HEAD.len() + 1 + digits;
    Some((text.get(HEAD.len() - 3..end)?, end + 2))
}

fn replace_time_utc(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices("{{") {
        let Some((zone, length)) = text.get(at..).and_then(time_utc) else { continue };
        out.push_str(text.get(copied..at).unwrap_or(""));
        out.push_str("{{time::");
        out.push_str(zone);
        out.push_str("}}");
        copied = at + length;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    Cow::Owned(out)
}

/// `\{` -> `{`, `\}` -> `}`.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains("\\{") && !text.contains("\\}") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' || !matches!(chars.peek(), Some('{' | '}')) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Removes each mark together with the line breaks on both sides of it.
pub(super) fn cut_marks(text: &str, mark: &str) -> Option<String> {
    let first = mark.as_bytes().first().copied().unwrap_or(0);
    let mut out = String::new();
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest
        .bytes()
        .enumerate()
        .position(|(i, b)| b == first && rest.get(i..).is_some_and(|tail| starts_with_ci(tail, mark)))
    {
        found = true;
        out.push_str(rest.get(..at).unwrap_or(""));
        while let Some(shorter) = out.strip_suffix('\n') {
            let length = shorter.strip_suffix('\r').unwrap_or(shorter).len();
            out.truncate(length);
        }
        rest = rest.get(at + mark.len()..).unwrap_or("");
        while let Some(tail) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
            rest = tail;
        }
    }
    found.then(|| out + rest)
}

/// After an evaluation, as the reference does it: on everything, values included.
pub(super) fn post(text: String) -> String {
    let text = match unescape(&text) {
        Cow::Owned(t) => t,
        Cow::Borrowed(_) => text,
    };
    let text = cut_marks(&text, TRIM_TEXT).unwrap_or(text);
    drop_else(text)
}

/// After an evaluation under `macros.escapes`: only the marks.
pub(super) fn settle(text: String) -> String {
    if !text.contains('\0') {
        return text;
    }
    let text = drop_else(cut_marks(&text, TRIM_MARK).unwrap_or(text));
    if text.contains(NOOP_MARK) { text.replace(NOOP_MARK, "") } else { text }
}

fn drop_else(text: String) -> String {
    if text.contains(ELSE_MARK) { text.replace(ELSE_MARK, "") } else { text }
}

/// Puts an override's original in place of the first `{{original}}` in it; further ones are empty.
pub fn with_original(text: &str, own: &str) -> String {
    let mut out = String::with_capacity(text.len() + own.len());
    let (mut rest, mut own) = (text, Some(own));
    while let Some(open) = rest.find("{{") {
        let (before, tail) = rest.split_at(open);
        out.push_str(before);
        if let Some(behind) = original_macro(tail) {
            out.push_str(own.take().unwrap_or(""));
            rest = behind;
        } else {
            out.push_str("{{");
            rest = tail.strip_prefix("{{").unwrap_or("");
        }
    }
    out.push_str(rest);
    out
}

/// What follows `{{original}}` at the start of a text, blanks and case apart.
fn original_macro(text: &str) -> Option<&str> {
    let name = crate::js::trim_start(text.strip_prefix("{{")?);
    let (word, behind) = name.split_at_checked("original".len())?;
    let behind = crate::js::trim_start(behind).strip_prefix("}}")?;
    word.eq_ignore_ascii_case("original").then_some(behind)
}
