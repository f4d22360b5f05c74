//! White space of a reply: runs of line feeds, and blanks at the ends of lines (spec 01 §13 steps 5 and 6). Both look at a
//! maximal run of white space only, which is what lets a stream do them piece by piece.

use crate::js;

/// Step 5: every run of line feeds becomes one. Lines that hold only blanks keep the gap.
pub(super) fn collapse_newlines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' || !out.ends_with('\n') {
            out.push(c);
        }
    }
    out
}

/// Step 6: white space other than CR and LF is removed where a line ends (before LF, CR, U+2028, U+2029 and the end of the text).
pub(super) fn trim_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_blank) {
        let (line, tail) = rest.split_at(at);
        out.push_str(line);
        let end = tail.find(|c| !is_blank(c)).unwrap_or(tail.len());
        let (run, after) = tail.split_at(end);
        if !(after.is_empty() || after.starts_with(['\n', '\r'])) {
            // U+2028 and U+2029 are blanks and line ends at once: the last of them in a run stays.
            out.push_str(run.rfind(js::is_line_end).and_then(|at| run.get(at..)).unwrap_or(run));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// White space that is not CR or LF.
fn is_blank(c: char) -> bool {
    js::is_space(c) && c != '\n' && c != '\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newlines_collapse_but_not_across_blanks() {
        assert_eq!(collapse_newlines("a\n\n\nb\n \n\nc\r\n\r\n"), "a\nb\n \nc\r\n\r\n");
    }

    #[test]
    fn line_ends_are_ecmascripts() {
        for (text, trimmed) in [
            ("a  \nb\t\n  c   ", "a\nb\n  c"),
            ("a \r\nb\u{3000}\r", "a\r\nb\r"),
            ("好 \u{2028}\u{2029} 的", "好\u{2029} 的"),
            ("x \u{2028}", "x"),
            ("   ", ""),
            ("สวัสดี \u{a0}\n", "สวัสดี\n"),
            ("a\u{85}\u{200b} ", "a\u{85}\u{200b}"),
        ] {
            assert_eq!(trim_line_ends(text), trimmed, "{text:?}");
        }
    }
}
