//! Strings as ECMAScript sees them.

use std::cmp::Ordering;

/// White space and line terminators of ECMAScript: what `trim` removes and `\s` matches.
/// U+FEFF is in, U+0085 is not; `char::is_whitespace` has it the other way round.
pub const fn is_space(c: char) -> bool {
    matches!(
        c,
        '\u{9}'..='\u{d}' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}'
            | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}

/// LF, CR, U+2028, U+2029: where `^` and `$` match in multi-line mode.
pub const fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// `\w` without the `i`+`u` flags: ASCII letters, digits, underscore and nothing else.
pub const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// `String.prototype.trim`.
pub fn trim(s: &str) -> &str {
    s.trim_matches(is_space)
}

/// `String.prototype.trimStart`.
pub fn trim_start(s: &str) -> &str {
    s.trim_start_matches(is_space)
}

/// `String.prototype.trimEnd`.
pub fn trim_end(s: &str) -> &str {
    s.trim_end_matches(is_space)
}

/// `toLowerCase`: the full, locale-free Unicode mapping, which Rust shares with ECMAScript (final sigma included).
#[expect(clippy::disallowed_methods, reason = "this is the replacement")]
pub fn lower(s: &str) -> String {
    s.to_lowercase()
}

/// `toUpperCase`, locale-free.
#[expect(clippy::disallowed_methods, reason = "this is the replacement")]
pub fn upper(s: &str) -> String {
    s.to_uppercase()
}

/// `length`: UTF-16 code units.
pub fn len16(s: &str) -> usize {
    s.chars().map(char::len_utf16).sum()
}

/// The UTF-16 offset of a byte offset (which must lie on a character boundary; a later one counts the whole text).
pub fn to_utf16(s: &str, byte: usize) -> usize {
    s.get(..byte).map_or_else(|| len16(s), len16)
}

/// The byte offset of a UTF-16 offset; inside a surrogate pair, that of the pair's start; past the end, the length.
pub fn to_byte(s: &str, unit: usize) -> usize {
    let mut seen = 0;
    for (at, c) in s.char_indices() {
        if seen + c.len_utf16() > unit {
            return at;
        }
        seen += c.len_utf16();
    }
    s.len()
}

/// `slice(from, to)` in UTF-16 units, `from <= to`. A cut inside a surrogate pair drops the whole character, since half of it
/// is not text.
pub fn slice16(s: &str, from: usize, to: usize) -> &str {
    let (a, b) = (to_byte(s, from), to_byte(s, to));
    s.get(a..b.max(a)).unwrap_or("")
}

/// `indexOf` in UTF-16 units.
pub fn find16(s: &str, needle: &str) -> Option<usize> {
    s.find(needle).map(|byte| to_utf16(s, byte))
}

/// The order of `sort()` and `<` on strings: by UTF-16 code units. UTF-8 order differs above U+FFFF.
pub fn cmp16(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

/// `encodeURIComponent`.
pub fn encode_uri_component(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for byte in s.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Lines of a text, ends excluded: CRLF, LF, CR, U+2028 and U+2029 end a line; a final end gives an empty last line.
pub fn lines(s: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(s);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(at) = text.find(is_line_end) else {
            rest = None;
            return Some(text);
        };
        let (line, tail) = text.split_at(at);
        rest = tail.strip_prefix("\r\n").or_else(|| {
            let mut chars = tail.chars();
            chars.next();
            Some(chars.as_str())
        });
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trim_follows_ecmascript_not_rust() {
        assert_eq!(trim("\u{feff}\u{a0}\u{3000} 洛恩\u{2029}\r\n"), "洛恩");
        assert_eq!(trim("\u{85}x\u{200b}"), "\u{85}x\u{200b}");
    }

    #[test]
    fn utf16_offsets_survive_astral_text() {
        let s = "a😀é洛";
        assert_eq!(len16(s), 5);
        assert_eq!(to_byte(s, 3), 5);
        assert_eq!(to_byte(s, 2), 1, "inside the pair: its start");
        assert_eq!(slice16(s, 1, 3), "😀");
        assert_eq!(find16(s, "洛"), Some(4));
        assert_eq!(cmp16("\u{ffff}", "😀"), Ordering::Greater);
    }

    #[test]
    fn lines_end_where_javascript_ends_them() {
        let got: Vec<_> = lines("a\r\nb\rc\u{2028}d\n").collect();
        assert_eq!(got, ["a", "b", "c", "d", ""]);
    }

    #[test]
    fn lower_is_full_and_locale_free() {
        assert_eq!(lower("ΟΔΟΣ İ"), "οδος i\u{307}");
    }
}
