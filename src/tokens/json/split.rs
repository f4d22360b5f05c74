//! What separates pieces: a text, a regular expression or one of the split patterns that have a machine -> matches,
//! and what becomes of them.

use super::fields::{Field, unsupported, wrong};
use super::oniguruma;
use crate::error::Error;
use crate::js::regexp::{Regex, Steps, Text};
use crate::tokens::asset;
use crate::tokens::scan::Scanner;

/// Steps of one pattern on one text: so many, and so many more a UTF-16 unit.
const STEPS: u64 = 2_000_000;
const STEPS_PER_UNIT: u64 = 100;

/// From, to, in bytes.
pub(super) type Range = (usize, usize);

const CONTRACTIONS: &str = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";

/// The pattern of GPT-2, which files do not spell out.
pub(super) const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Finds what separates.
#[derive(Debug)]
pub(super) enum Pattern {
    Literal(String),
    /// Cuts the whole text into matches.
    Known(Box<Scanner>),
    Regex(Box<Regex>),
}

impl Pattern {
    /// `{"String": …}` or `{"Regex": …}`.
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Error> {
        if field.get("String").is_some() {
            return Ok(Self::Literal(field.text("String")?.to_owned()));
        }
        let pattern = field.text("Regex")?;
        if let Some(known) = known(pattern) {
            return Ok(known);
        }
        let path = format!("{}.Regex", field.path);
        let translated = oniguruma::translate(pattern).map_err(|what| unsupported(&path, &what))?;
        Self::regex(&translated).map_err(|what| wrong(path, &what))
    }

    /// From a JavaScript pattern.
    pub(super) fn regex(pattern: &str) -> Result<Self, String> {
        Regex::new(pattern, "gv").map(|regex| Self::Regex(Box::new(regex))).map_err(|e| e.to_string())
    }

    /// The matches in a text, in order; `None` when the steps run out.
    pub(super) fn matches(&self, text: &str) -> Option<Vec<Range>> {
        match self {
            Self::Literal(literal) if literal.is_empty() => Some(Vec::new()),
            Self::Literal(literal) => {
                Some(text.match_indices(literal.as_str()).map(|(at, m)| (at, at + m.len())).collect())
            }
            Self::Known(scanner) => {
                let (mut found, mut at) = (Vec::new(), 0);
                while at < text.len() {
                    let end = scanner.next(text.as_bytes(), at);
                    found.push((at, end));
                    at = end;
                }
                Some(found)
            }
            Self::Regex(regex) => by_regex(regex, text),
        }
    }
}

fn known(pattern: &str) -> Option<Pattern> {
    let rest = pattern.strip_prefix(CONTRACTIONS);
    let known = if rest
        == Some(r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    {
        asset::Pattern::Cl100k
    } else if pattern == GPT2 {
        asset::Pattern::Gpt2
    } else if pattern
        == concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+",
            r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    {
        asset::Pattern::O200k
    } else {
        return None;
    };
    Some(Pattern::Known(Box::new(Scanner::new(known))))
}

/// The pattern of GPT-2.
pub(super) fn gpt2() -> Pattern {
    Pattern::Known(Box::new(Scanner::new(asset::Pattern::Gpt2)))
}

fn by_regex(regex: &Regex, text: &str) -> Option<Vec<Range>> {
    let units = Text::from(text);
    let mut steps = Steps::new(STEPS + STEPS_PER_UNIT * units.len() as u64);
    let mut matches = regex.matches(&units);
    let mut found = Vec::new();
    // The same place in units and in bytes.
    let (mut unit, mut byte) = (0, 0);
    let mut rest = text.chars();
    let mut to_byte = |wanted: usize| {
        while unit < wanted
            && let Some(c) = rest.next()
        {
            unit += c.len_utf16();
            byte += c.len_utf8();
        }
        byte
    };
    while let Some(next) = matches.next(&mut steps).ok()? {
        let start = to_byte(next.start());
        found.push((start, to_byte(next.end())));
    }
    Some(found)
}

/// What becomes of what separates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behavior {
    Removed,
    Isolated,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

impl Behavior {
    pub(super) fn read(field: &Field<'_>, key: &str) -> Result<Self, Error> {
        Ok(match field.text(key)? {
            "Removed" => Self::Removed,
            "Isolated" => Self::Isolated,
            "MergedWithPrevious" => Self::MergedWithPrevious,
            "MergedWithNext" => Self::MergedWithNext,
            "Contiguous" => Self::Contiguous,
            other => {
                let path = format!("{}.{key}", field.path);
                return Err(unsupported(path, &format!("the behavior {other:?}")));
            }
        })
    }
}

/// Cuts a text by the matches in it. With `invert`, what lies between them separates.
pub(super) fn cut(length: usize, matches: &[Range], behavior: Behavior, invert: bool) -> Vec<Range> {
    // All of the text, and whether each part separates.
    let mut parts: Vec<(Range, bool)> = Vec::with_capacity(matches.len() * 2 + 1);
    let mut at = 0;
    for &(start, end) in matches {
        if start > at {
            parts.push(((at, start), invert));
        }
        parts.push(((start, end), !invert));
        at = end;
    }
    if at < length {
        parts.push(((at, length), invert));
    }
    let backwards = behavior == Behavior::MergedWithNext;
    if backwards {
        parts.reverse();
    }
    let mut out: Vec<Range> = Vec::with_capacity(parts.len());
    let mut before = false;
    for (range, separates) in parts {
        let joins = match behavior {
            Behavior::Removed if separates => continue,
            Behavior::Removed | Behavior::Isolated => false,
            Behavior::MergedWithPrevious | Behavior::MergedWithNext => separates && !before,
            Behavior::Contiguous => separates == before,
        };
        before = separates;
        match out.last_mut().filter(|_| joins) {
            Some(last) if backwards => last.0 = range.0,
            Some(last) => last.1 = range.1,
            None => out.push(range),
        }
    }
    if backwards {
        out.reverse();
    }
    out.retain(|(from, to)| from < to);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, behavior: Behavior, invert: bool) -> Vec<&str> {
        let matches = Pattern::Literal("-".to_owned()).matches(text).unwrap();
        cut(text.len(), &matches, behavior, invert).into_iter().map(|(a, b)| &text[a..b]).collect()
    }

    #[test]
    fn behaviors_are_those_of_the_format() {
        let text = "the-final--夜";
        assert_eq!(pieces(text, Behavior::Removed, false), ["the", "final", "夜"]);
        assert_eq!(pieces(text, Behavior::Isolated, false), ["the", "-", "final", "-", "-", "夜"]);
        assert_eq!(pieces(text, Behavior::MergedWithPrevious, false), ["the-", "final-", "-", "夜"]);
        assert_eq!(pieces(text, Behavior::MergedWithNext, false), ["the", "-final", "-", "-夜"]);
        assert_eq!(pieces(text, Behavior::Contiguous, false), ["the", "-", "final", "--", "夜"]);
        assert_eq!(pieces(text, Behavior::Removed, true), ["-", "-", "-"]);
    }

    #[test]
    fn the_known_patterns_are_what_they_say() {
        let texts = [
            "Don't stop — I'LL be\u{17f}'ſ there, it's 1234567 o'clock!!\r\n\r\n  \t ok  ",
            "夜の川を渡る舟。ABCdefGHI ГДЕты? ก็ได้ السلام 안녕 👩‍👩‍👧 \u{300}é ½²Ⅷ",
            "fn main() { println!(\"{}\", x); }\n\n\n    // a/b\u{a0}\u{3000}\u{85}",
        ];
        for pattern in [
            GPT2.to_owned(),
            format!(r"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"),
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+".to_owned(),
        ] {
            let quick = known(&pattern).unwrap();
            let slow = Pattern::regex(&oniguruma::translate(&pattern).unwrap()).unwrap();
            for text in texts {
                assert_eq!(quick.matches(text), slow.matches(text), "{pattern}");
            }
        }
    }
}
