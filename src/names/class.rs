//! A character -> the class that decides where a name may begin and end (spec 01 §P1.3).

use super::props;

/// Classes of characters. The names of the specification: H R T G X A E S N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Chinese characters.
    Han,
    /// Hiragana.
    Hiragana,
    /// Katakana with the long-vowel mark.
    Katakana,
    /// Hangul.
    Hangul,
    /// Scripts without spaces between words: Thai, Lao, Khmer, Myanmar.
    Unspaced,
    /// Arabic letters and marks.
    Arabic,
    /// Hebrew letters and marks.
    Hebrew,
    /// Any other letter, digit or mark, and the underscore.
    Word,
    /// Everything else, and no character.
    Other,
}

/// Whether a text has a Chinese character, kana or Hangul: where that is written, colons are full-width.
pub fn has_cjk(text: &str) -> bool {
    text.chars().any(is_cjk)
}

/// Whether a character is Chinese, kana or Hangul: names begin and end anywhere in such text.
pub fn is_cjk(c: char) -> bool {
    matches!(script(c), Script::Han | Script::Hangul)
}

/// Whether a character is a letter or a number of any script (general categories L and N).
pub fn is_letter(c: char) -> bool {
    !matches!(script(c), Script::Mark | Script::Other)
}

/// Whether a character is a letter, a number or a mark on one (L, N, M).
pub fn is_written(c: char) -> bool {
    script(c) != Script::Other
}

/// How words are written: what counting and searching words need to know of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Chinese characters and kana: a word is about a character, with no blanks between.
    Han,
    /// Hangul: words with blanks between, many endings.
    Hangul,
    /// Thai, Lao, Khmer, Burmese: no blanks between words.
    Unspaced,
    /// Any other letter, digit or mark.
    Letter,
    /// A combining mark: belongs to what stands before it.
    Mark,
    /// Everything else.
    Other,
}

/// The script of a character.
pub fn script(c: char) -> Script {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Script::Letter } else { Script::Other };
    }
    if props::is_mark(c) {
        return Script::Mark;
    }
    match class(c) {
        Class::Han | Class::Hiragana | Class::Katakana => Script::Han,
        Class::Hangul => Script::Hangul,
        Class::Unspaced => Script::Unspaced,
        Class::Arabic | Class::Hebrew | Class::Word => Script::Letter,
        Class::Other => Script::Other,
    }
}

/// The class of a character of a key.
pub(super) fn class(c: char) -> Class {
    match c {
        '_' => return Class::Word,
        c if c.is_ascii() => return if c.is_ascii_alphanumeric() { Class::Word } else { Class::Other },
        '々' | '〇' | '〻' => return Class::Han,
        // Circled and squared letters are symbols, whatever else Unicode says of them.
        '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}' => return Class::Other,
        _ => {}
    }
    if c.is_numeric() && !is_han(c) {
        return Class::Word;
    }
    if !c.is_alphabetic() && !props::is_mark(c) {
        return if matches!(c, 'ー' | 'ｰ') { Class::Katakana } else { Class::Other };
    }
    match c {
        c if is_han(c) => Class::Han,
        '\u{3041}'..='\u{309f}' | '\u{1b001}'..='\u{1b11f}' | '\u{1b150}'..='\u{1b152}' | '\u{1b132}' => {
            Class::Hiragana
        }
        '\u{30a1}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{1b000}'
        | '\u{1b155}'
        | '\u{1b164}'..='\u{1b167}' => Class::Katakana,
        '\u{ac00}'..='\u{d7ff}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{3131}'..='\u{318e}'
        | '\u{a960}'..='\u{a97f}' => Class::Hangul,
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}' => Class::Unspaced,
        '\u{600}'..='\u{6ff}'
        | '\u{750}'..='\u{77f}'
        | '\u{870}'..='\u{8ff}'
        | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefe}'
        | '\u{10ec0}'..='\u{10eff}' => Class::Arabic,
        '\u{590}'..='\u{5ff}' | '\u{fb1d}'..='\u{fb4f}' => Class::Hebrew,
        _ => Class::Word,
    }
}

/// Chinese characters, without the marks of repetition and zero.
pub(super) const fn is_han(c: char) -> bool {
    matches!(
        c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{2e80}'..='\u{2fd5}' | '々' | '〇'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Latin letters.
pub(super) const fn is_latin(c: char) -> bool {
    matches!(
        c,
        'A'..='Z' | 'a'..='z' | 'ª' | 'º' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='\u{2af}' | '\u{1d00}'..='\u{1d25}'
            | '\u{1d6b}'..='\u{1d77}' | '\u{1d79}'..='\u{1d9a}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}'
            | '\u{a722}'..='\u{a787}' | '\u{a78b}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab64}'
    )
}

/// Greek letters.
pub(super) const fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3e1}' | '\u{3f0}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

/// Cyrillic letters.
pub(super) const fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}' | '\u{1c80}'..='\u{1c8a}' | '\u{a640}'..='\u{a66e}' | '\u{a680}'..='\u{a69b}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        for (text, wanted) in [
            ("洛々〇𠮷", Class::Han),
            ("あん", Class::Hiragana),
            ("アン", Class::Katakana),
            ("ー", Class::Katakana),
            ("로", Class::Hangul),
            ("ลกမខ", Class::Unspaced),
            ("لش", Class::Arabic),
            ("שב", Class::Hebrew),
            ("aZ9_éЯΩअ٣", Class::Word),
            (" .。，、・🦊!-'@\u{3000}។", Class::Other),
        ] {
            for c in text.chars() {
                assert_eq!(class(c), wanted, "{c}");
            }
        }
    }
}
