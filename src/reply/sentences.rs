//! An unfinished last sentence is cut off (spec 01 §13.2).

use super::emoji::is_emoji;
use crate::js;

/// Ends of sentences that the reference knows.
const ENDS: &[char] =
    &['.', '!', '?', '*', '"', ')', '}', '`', ']', '$', '。', '！', '？', '”', '）', '】', '’', '」', '_'];

/// As the reference does it: back to the last mark of a fixed list or emoji; a mark after white space is taken for an opening
/// one and cut off too.
pub(super) fn exact(text: &str) -> &str {
    let Some((at, c)) = text.char_indices().rev().find(|(_, c)| ENDS.contains(c) || is_emoji(*c)) else {
        return js::trim_end(text);
    };
    let before = text.get(..at).unwrap_or("");
    let opening = !is_emoji(c) && before.chars().next_back().is_some_and(js::is_space);
    js::trim_end(if opening { before } else { text.get(..at + c.len_utf8()).unwrap_or(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_knows_nineteen_marks_and_emoji() {
        for (text, trimmed) in [
            ("Hi there. And the", "Hi there."),
            ("hello * more", "hello"),
            ("你好。然后他", "你好。"),
            ("wait… and", "wait… and"),
            ("Hello Mr. Smith went", "Hello Mr."),
            ("hi 😀 and", "hi 😀"),
            ("“Yes, we’ll go to", "“Yes, we’"),
            ("* x", "*"),
            ("不知道  ", "不知道"),
            ("", ""),
        ] {
            assert_eq!(exact(text), trimmed, "{text:?}");
        }
    }
}
