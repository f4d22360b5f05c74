//! Blanks inside emphasis marks are removed, so that `* hi *` renders as emphasis (spec 01 §13.1).

use crate::js;

/// As the reference does it: any two equal marks make a span, list bullets and code included.
pub(super) fn exact(text: &str) -> String {
    fix(text, text)
}

/// The same, but bullets, rules and code have no marks.
pub(super) fn smart(text: &str) -> String {
    fix(text, &masked(text))
}

/// Tightens the spans of `text` that are found in `marked`: the same text, with other characters where no marks are to be seen.
fn fix(text: &str, marked: &str) -> String {
    let marks = Marks::new(marked);
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    while let Some((from, to)) = marks.next_span(marked, rest) {
        out.push_str(text.get(rest..from).unwrap_or(""));
        tighten(text.get(from..to).unwrap_or(""), marked.get(from..to).unwrap_or(""), &mut out);
        rest = to;
    }
    out.push_str(text.get(rest..).unwrap_or(""));
    out
}

/// The text with every mark of bullets, rules and code replaced by another byte, and the blanks of code too.
fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let head = js::trim_start(line);
        let ticks = ["```", "~~~"].into_iter().find(|f| head.starts_with(f));
        if fence.is_some() || ticks.is_some() {
            fence = match fence {
                None => ticks,
                Some(open) if ticks == Some(open) => None,
                open => open,
            };
            out.extend(line.chars().map(hide));
            continue;
        }
        let rule = head.chars().all(|c| matches!(c, '*' | '_') || js::is_space(c));
        let bullet = head.starts_with(['*', '_']) && head.get(1..).is_some_and(|t| t.starts_with(is_blank));
        let indent = line.len() - head.len();
        // Code within the line lies between two backticks.
        let mut code = false;
        let mut ticks = line.matches('`').count();
        for (at, c) in line.char_indices() {
            if c == '`' {
                ticks -= 1;
                code = !code && ticks > 0;
            }
            out.push(if rule || code || (bullet && at == indent) { hide(c) } else { c });
        }
    }
    out
}

/// A character of the same length that is neither mark nor blank.
fn hide(c: char) -> char {
    match c {
        '*' | '_' | ' ' | '\t' => '.',
        '\u{a0}' => '§',
        c if is_blank(c) => '\u{2020}',
        c => c,
    }
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

/// Removes the blanks directly after and directly before each mark. Both texts are the same but for what is masked.
fn tighten(text: &str, marked: &str, out: &mut String) {
    let mut at = 0;
    let mut after_mark = false;
    while let Some(c) = marked.get(at..).and_then(|t| t.chars().next()) {
        let mut end = at + c.len_utf8();
        if is_blank(c) {
            let tail = marked.get(at..).map_or("", |t| t.trim_start_matches(is_blank));
            end = marked.len() - tail.len();
            if !after_mark && !tail.starts_with(['*', '_']) {
                out.push_str(text.get(at..end).unwrap_or(""));
            }
            after_mark = false;
        } else {
            after_mark = matches!(c, '*' | '_');
            out.push_str(text.get(at..end).unwrap_or(""));
        }
        at = end;
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
    fn bullets_rules_and_code_are_left_alone() {
        for (text, fixed) in [
            ("* one\n* two\n* three", "* one\n* two\n* three"),
            ("* one * x *\n  * _ two _", "* one *x*\n  * _two_"),
            ("He * smiles * and\n* bullet", "He *smiles* and\n* bullet"),
            ("* * *\na * b *\n_ _ _", "* * *\na *b*\n_ _ _"),
            ("```\na * b * c\n```\n** d **", "```\na * b * c\n```\n**d**"),
            ("`a * b * c` * d *", "`a * b * c` *d*"),
            ("~~~\nx _ y _\n```\n~~~\nx _ y _", "~~~\nx _ y _\n```\n~~~\nx _y_"),
            ("a ` * b *", "a ` *b*"),
            ("**\u{a0}你好\u{3000}** `\u{a0}*\u{3000}*`", "**你好** `\u{a0}*\u{3000}*`"),
        ] {
            assert_eq!(smart(text), fixed, "{text:?}");
            assert_eq!(smart(fixed), fixed, "again: {text:?}");
        }
    }

    #[test]
    fn unpaired_marks_cost_linear_time() {
        let text = "*_".repeat(100_000);
        assert!(exact(&text).len() <= text.len());
    }
}
