//! A text -> how many tokens it may be, without a vocabulary.

use super::Count;

/// One token a code point: the counter of the recorded cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodePoints;

impl Count for CodePoints {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
    }
    fn exact(&self) -> bool {
        true
    }
    fn id(&self) -> &'static str {
        "codepoints"
    }
    fn ids(&self, text: &str) -> Option<Vec<u32>> {
        Some(text.chars().map(u32::from).collect())
    }
}

/// The reference's guess when no tokenizer answers: bytes / 3.35, rounded up (spec 02 §9.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate;

impl Count for Estimate {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a length is far below 2^53, its third saturates"
    )]
    fn count(&self, text: &str) -> u32 {
        // Exact for all lengths: one IEEE division, as in the reference.
        (text.len() as f64 / 3.35).ceil() as u32
    }
    fn exact(&self) -> bool {
        false
    }
    fn id(&self) -> &'static str {
        "estimate"
    }
}

/// A guess by the letters of the text: what o200k_base takes on average for words of this script.
///
/// Within a tenth of it for most texts in forty languages; other tokenizers of today take about as much for English,
/// and up to half as much again for Chinese or Thai. For models whose tokenizer is not known or not public.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByScript;

/// What a character is to [`ByScript`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Break,
    Digit,
    Punctuation,
    Latin,
    /// Latin letters beyond ASCII, and combining marks: within words.
    Accented,
    /// Greek to Armenian, and Georgian.
    Cased,
    Semitic,
    Indic,
    /// Thai, Lao, Tibetan, Burmese, Khmer.
    SouthEast,
    Hangul,
    Kana,
    Han,
    WidePunctuation,
    GeneralPunctuation,
    Emoji,
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            ' ' => Self::Space,
            '\n' | '\r' | '\t' => Self::Break,
            '0'..='9' => Self::Digit,
            'a'..='z' | 'A'..='Z' => Self::Latin,
            '\0'..='\x7F' => Self::Punctuation,
            '\u{C0}'..='\u{24F}' | '\u{300}'..='\u{36F}' | '\u{1E00}'..='\u{1EFF}' => Self::Accented,
            '\u{370}'..='\u{58F}' | '\u{10A0}'..='\u{10FF}' => Self::Cased,
            '\u{590}'..='\u{7FF}' => Self::Semitic,
            '\u{900}'..='\u{DFF}' => Self::Indic,
            '\u{E00}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' => Self::SouthEast,
            '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7AF}' => Self::Hangul,
            '\u{3040}'..='\u{30FF}' => Self::Kana,
            '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3347F}' => Self::Han,
            '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FF65}' => Self::WidePunctuation,
            '\u{2000}'..='\u{2BFF}' => Self::GeneralPunctuation,
            '\u{10000}'.. => Self::Emoji,
            _ => Self::Other,
        }
    }

    /// Cost of the first of a run of this kind and of each behind it, in hundredths of a token.
    fn cost(self) -> (u64, u64) {
        match self {
            Self::Space => (0, 10),
            Self::Break => (150, 5),
            // Three digits are a token.
            Self::Digit => (65, 32),
            Self::Punctuation => (70, 35),
            Self::Latin => (40, 20),
            Self::Accented => (55, 55),
            Self::Cased => (56, 31),
            Self::Semitic => (50, 34),
            Self::Indic => (50, 40),
            Self::SouthEast => (100, 38),
            Self::Hangul => (85, 62),
            Self::Kana => (65, 52),
            Self::Han => (115, 85),
            Self::WidePunctuation => (100, 80),
            Self::GeneralPunctuation => (60, 60),
            Self::Emoji => (150, 150),
            Self::Other => (100, 100),
        }
    }
}

impl Count for ByScript {
    fn count(&self, text: &str) -> u32 {
        let (mut hundredths, mut before) = (0u64, Kind::Space);
        for kind in text.chars().map(Kind::of) {
            let (first, next) = kind.cost();
            // An accent is part of the word around it.
            let same = kind == before || kind == Kind::Latin && before == Kind::Accented;
            hundredths += if same { next } else { first };
            before = kind;
        }
        u32::try_from(hundredths.div_ceil(100)).unwrap_or(u32::MAX)
    }
    fn exact(&self) -> bool {
        false
    }
    fn id(&self) -> &'static str {
        "script_estimate"
    }
}
