//! Where the last sentence of a text ends: an unfinished one is cut off (spec 01 §13.2, F25; spec 10 §12). Knows no reply and no chat.

mod emoji;

use crate::js;
use emoji::is_emoji;

/// Ends of sentences that the reference knows.
const ENDS: &[char] =
    &['.', '!', '?', '*', '"', ')', '}', '`', ']', '$', '。', '！', '？', '”', '）', '】', '’', '」', '_'];

/// As the reference does it: back to the last mark of a fixed list or emoji; a mark after white space is taken for an opening
/// one and cut off too.
pub fn exact(text: &str) -> &str {
    let Some((at, c)) = text.char_indices().rev().find(|(_, c)| ENDS.contains(c) || is_emoji(*c)) else {
        return js::trim_end(text);
    };
    let before = text.get(..at).unwrap_or("");
    let opening = !is_emoji(c) && before.chars().next_back().is_some_and(js::is_space);
    js::trim_end(if opening { before } else { text.get(..at + c.len_utf8()).unwrap_or(text) })
}

/// Back to the last end of a sentence in any script, with the quotes and marks that close behind it. Titles, initials, numbers,
/// list numbers and apostrophes end none; a quote or a mark alone counts where it closes. Without any end the text stays.
pub fn smart(text: &str) -> &str {
    let mut to = text.len();
    loop {
        let before = text.get(..to).unwrap_or("");
        let from = before.rfind('\n').map_or(0, |at| at + 1);
        if let Some(end) = last_end(before.get(from..).unwrap_or(""), to == text.len()) {
            return text.get(..from + end).unwrap_or(text);
        }
        if from == 0 {
            return js::trim_end(text);
        }
        to = from - 1;
    }
}

/// Marks that both open and close; each counts how often it stood in the line.
const PAIRED: [char; 5] = ['*', '_', '`', '"', '$'];

/// Where the last sentence of a line ends. `last`: the text ends here, too.
fn last_end(line: &str, last: bool) -> Option<usize> {
    let chars: Vec<(usize, char)> = line.char_indices().collect();
    let at = |i: usize| chars.get(i).map(|(_, c)| *c);
    let mut stood = [0usize; PAIRED.len()];
    let mut open = 0usize;
    let mut end = None;
    // The character before belongs to an end, so that closing marks go with it.
    let mut ending = false;
    for (i, &(byte, c)) in chars.iter().enumerate() {
        let before = i.checked_sub(1).and_then(at);
        let after = at(i + 1);
        let touches = before.is_some_and(|b| !js::is_space(b));
        let closes = if let Some(n) = PAIRED.iter().position(|p| *p == c) {
            // `snake_case` is no emphasis.
            if c == '_' && before.is_some_and(js::is_word) && after.is_some_and(js::is_word) {
                ending = false;
                continue;
            }
            let count = stood.get_mut(n)?;
            *count += 1;
            // Of a doubled mark the second one stands as the first.
            let doubled = before == Some(c) && matches!(c, '*' | '_');
            if doubled { ending || *count % 4 == 0 } else { *count % 2 == 0 && (touches || ending) }
        } else if is_opening(c) {
            open += 1;
            false
        } else if is_closing(c) {
            let pair = open > 0;
            open = open.saturating_sub(1);
            ending || (pair && touches) || (c == ')' && matches!(before, Some(':' | ';' | '=' | '^')))
        } else if matches!(c, '\'' | '’') {
            ending && !after.is_some_and(char::is_alphanumeric)
        } else {
            is_end(line, byte, c, before, after, last)
        };
        if closes {
            end = Some(byte + c.len_utf8());
        }
        ending = closes;
    }
    end
}

fn is_end(line: &str, at: usize, c: char, before: Option<char>, after: Option<char>, last: bool) -> bool {
    match c {
        '.' => {
            let runs_on = after.is_some_and(char::is_alphanumeric);
            !runs_on && !is_abbreviation(line.get(..at).unwrap_or(""), last && after.is_none())
        }
        '~' | '～' | '〜' => {
            before.is_some_and(|b| !js::is_space(b)) && !after.is_some_and(|a| a == c || a.is_alphanumeric())
        }
        '!' | '?' | '…' | '⋯' => true,
        _ => is_terminal(c) || is_emoji(c),
    }
}

/// Whether the dot behind such a text belongs to a title, an initial or a list number.
fn is_abbreviation(before: &str, last: bool) -> bool {
    const TITLES: &[&str] = &[
        "mr", "mrs", "ms", "mx", "dr", "prof", "st", "sr", "jr", "rev", "hon", "gen", "col", "capt", "lt",
        "sgt", "maj", "cmdr", "gov", "sen", "rep", "fr", "mt", "ft", "vs", "cf", "ca", "approx", "e.g",
        "i.e",
    ];
    let start = before
        .char_indices()
        .rev()
        .take(12)
        .take_while(|(_, c)| c.is_alphanumeric() || *c == '.')
        .last()
        .map_or(before.len(), |(at, _)| at);
    let word = before.get(start..).unwrap_or("");
    let mut letters = word.chars();
    let initial = match (letters.next(), letters.next()) {
        (Some(c), None) => c.is_uppercase() && c != 'I' && !last,
        _ => false,
    };
    let number = !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_digit())
        && before.get(..start).is_some_and(|t| js::trim(t).is_empty());
    initial || number || TITLES.iter().any(|t| word.eq_ignore_ascii_case(t))
}

const fn is_opening(c: char) -> bool {
    matches!(
        c,
        '(' | '[' | '{' | '“' | '「' | '『' | '【' | '《' | '〈' | '〔' | '（' | '［' | '｛' | '«' | '„'
    )
}

const fn is_closing(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '”' | '」' | '』' | '】' | '》' | '〉' | '〕' | '）' | '］' | '｝' | '»')
}

/// `Sentence_Terminal` below U+10000, without those of ASCII.
const fn is_terminal(c: char) -> bool {
    matches!(
        c,
        '\u{589}' | '\u{61d}'..='\u{61f}' | '\u{6d4}' | '\u{700}'..='\u{702}' | '\u{7f9}' | '\u{837}'
            | '\u{839}' | '\u{83d}'..='\u{83e}' | '\u{964}'..='\u{965}' | '\u{104a}'..='\u{104b}'
            | '\u{1362}' | '\u{1367}'..='\u{1368}' | '\u{166e}' | '\u{1735}'..='\u{1736}'
            | '\u{17d4}'..='\u{17d5}' | '\u{1803}' | '\u{1809}' | '\u{1944}'..='\u{1945}'
            | '\u{1aa8}'..='\u{1aab}' | '\u{1b4e}'..='\u{1b4f}' | '\u{1b5a}'..='\u{1b5b}'
            | '\u{1b5e}'..='\u{1b5f}' | '\u{1b7d}'..='\u{1b7f}' | '\u{1c3b}'..='\u{1c3c}'
            | '\u{1c7e}'..='\u{1c7f}' | '\u{2024}' | '\u{203c}'..='\u{203d}' | '\u{2047}'..='\u{2049}'
            | '\u{2cf9}'..='\u{2cfb}' | '\u{2e2e}' | '\u{2e3c}' | '\u{2e53}'..='\u{2e54}' | '\u{3002}'
            | '\u{a4ff}' | '\u{a60e}'..='\u{a60f}' | '\u{a6f3}' | '\u{a6f7}' | '\u{a876}'..='\u{a877}'
            | '\u{a8ce}'..='\u{a8cf}' | '\u{a92f}' | '\u{a9c8}'..='\u{a9c9}' | '\u{aa5d}'..='\u{aa5f}'
            | '\u{aaf0}'..='\u{aaf1}' | '\u{abeb}' | '\u{fe12}' | '\u{fe15}'..='\u{fe16}' | '\u{fe52}'
            | '\u{fe56}'..='\u{fe57}' | '\u{ff01}' | '\u{ff0e}' | '\u{ff1f}' | '\u{ff61}'
    )
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

    #[test]
    fn ends_of_sentences_in_any_script() {
        for (text, trimmed) in [
            ("Hi there. And the", "Hi there."),
            ("“Yes, we’ll go to", "“Yes, we’ll go to"),
            ("He sat. “Yes, we’ll go to", "He sat."),
            ("Hello Mr. Smith went", "Hello Mr. Smith went"),
            ("It is late. Hello Mr. Smith went", "It is late."),
            ("He met J. R. Tolkien at", "He met J. R. Tolkien at"),
            ("This is plan B.", "This is plan B."),
            ("It costs 3.50 or so", "It costs 3.50 or so"),
            ("Do this.\n1. Take the", "Do this."),
            ("See e.g. the", "See e.g. the"),
            ("wait… and", "wait…"),
            ("hello *more", "hello *more"),
            ("Done.*waves* and", "Done.*waves*"),
            ("Hi. *she waves", "Hi."),
            ("Hi. **Bold** move", "Hi. **Bold**"),
            ("Star *done* then", "Star *done*"),
            ("Quote \"yes.\" and", "Quote \"yes.\""),
            ("He said. \"And then", "He said."),
            ("One. some_name and", "One."),
            ("你好。然后他", "你好。"),
            ("「はい。」と彼", "「はい。」"),
            ("『待って』と彼女は", "『待って』"),
            ("《红楼》很好～他", "《红楼》"),
            ("好呀～ 然后", "好呀～"),
            ("كيف حالك؟ ثم", "كيف حالك؟"),
            ("यह अच्छा है। फिर", "यह अच्छा है।"),
            ("ሰላም። ከዚያ", "ሰላም።"),
            ("Привет. Потом он", "Привет."),
            ("hi 😀 and", "hi 😀"),
            ("ok :) and", "ok :)"),
            ("First (see", "First (see"),
            ("First (see note) and", "First (see note)"),
            ("Fin.\n\n", "Fin."),
            ("สวัสดี ", "สวัสดี"),
            ("", ""),
        ] {
            assert_eq!(smart(text), trimmed, "{text:?}");
            assert_eq!(smart(trimmed), trimmed, "again: {text:?}");
        }
    }
}
