//! A text -> how many words it has (spec 10 §2, §20).

use crate::js;
use crate::names::{Script, script};

/// As the reference counts: runs of ASCII letters, digits and underscores. Chinese, Japanese and Korean have none.
pub fn ascii_words(text: &str) -> usize {
    text.split(|c| !js::is_word(c)).filter(|run| !run.is_empty()).count()
}

/// Words in any script: one a Chinese character or kana, one a Thai, Lao, Khmer or Burmese letter, else one a run of letters,
/// digits and marks; an apostrophe between letters belongs to its run, Hangul makes runs of its own.
pub fn words(text: &str) -> usize {
    let mut count = 0;
    let mut run = Script::Other;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match script(c) {
            Script::Han | Script::Unspaced => {
                count += 1;
                run = Script::Han;
            }
            // A mark without a letter before it is a run of its own.
            Script::Mark if run == Script::Other => {
                count += 1;
                run = Script::Letter;
            }
            Script::Mark => {}
            Script::Other => {
                let inside = matches!(run, Script::Letter | Script::Hangul)
                    && is_apostrophe(c)
                    && chars.peek().is_some_and(|next| script(*next) == run);
                if !inside {
                    run = Script::Other;
                }
            }
            kind => {
                if kind != run {
                    count += 1;
                }
                run = kind;
            }
        }
    }
    count
}

/// The apostrophes that stand inside words.
pub(super) const fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_script() {
        for (text, wanted) in [
            ("雨停了，我们走吧。", 7),
            ("Hello, world! It's 3pm", 4),
            ("로른은 강하다", 2),
            ("ฉันรักเธอ", 7),
            ("Привет, как дела?", 3),
            ("مرحبا بالعالم", 2),
            ("e\u{301}lan 'quoted' O’Brien’s", 3),
            ("K팝 is 한국의 것", 5),
            ("😀😀", 0),
        ] {
            assert_eq!(words(text), wanted, "{text}");
        }
    }
}
