//! The trim of scoped content (spec 04 §5).

use crate::js;

/// Removes the base indent, which is that of the first line that is not blank, from every line, then the white space around the whole.
pub(super) fn trim_scoped(text: &str) -> String {
    let blank = |line: &str| js::trim(line).is_empty();
    let indent_of = |line: &str| line.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let base = text.split('\n').find(|l| !blank(l)).map_or(0, indent_of);
    if base == 0 {
        return js::trim(text).to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let shorter =
            if indent_of(line) >= base { line.get(base..).unwrap_or("") } else { js::trim_start(line) };
        out.push_str(shorter);
    }
    js::trim(&out).to_owned()
}
