//! A place in a text where a name stands -> whether it may begin and end there (spec 01 §P1.4), whether it is called (§P1.5) or,
//! being an ordinary word, meant as a name (§P1.7).

use super::class::{Class, class};
use super::key::{Diacritics, Keyed};
use super::patterns::keys;
use super::props;
use super::tree::Shape;
use super::words::Words;
use crate::js;

/// The word lists that decide at edges, as keys.
#[derive(Debug)]
pub(super) struct Edges {
    japanese: Vec<String>,
    honorifics: Vec<String>,
    particles: Vec<String>,
    arabic: Vec<String>,
    hebrew: Vec<String>,
}

impl Edges {
    pub(super) fn new(words: &Words, diacritics: Diacritics) -> Self {
        let keys = |list| keys(list, diacritics);
        Self {
            japanese: keys(&words.japanese),
            honorifics: keys(&words.korean_honorifics),
            particles: keys(&words.korean_particles),
            arabic: keys(&words.arabic),
            hebrew: keys(&words.hebrew),
        }
    }

    /// May a name begin here (spec 01 §P1.4)?
    pub(super) fn left(&self, reading: &Reading<'_>, i: usize, end: usize, shape: Shape) -> bool {
        let Some((at, before, before_class)) = reading.before(i) else { return true };
        match shape.first {
            Class::Word => {
                let fragment = before == '\''
                    && shape.length <= 2
                    && reading.before(at).is_some_and(|(.., c)| c == Class::Word);
                before_class != Class::Word && !fragment
            }
            Class::Han => shape.length >= 2 || before_class != Class::Han,
            Class::Hiragana => shape.length >= 3 || before_class != Class::Hiragana,
            Class::Katakana | Class::Hangul => before_class != shape.first,
            Class::Unspaced => {
                let clusters =
                    reading.keyed.chars().get(i..end).unwrap_or(&[]).iter().filter(|k| k.opens).count();
                clusters >= 2 && !matches!(before, '\u{e40}'..='\u{e44}' | '\u{ec0}'..='\u{ec4}')
            }
            Class::Arabic => {
                before_class != Class::Arabic || proclitic(reading, i, &self.arabic, Class::Arabic)
            }
            Class::Hebrew => {
                before_class != Class::Hebrew || proclitic(reading, i, &self.hebrew, Class::Hebrew)
            }
            Class::Other => true,
        }
    }

    /// May it end here?
    pub(super) fn right(&self, reading: &Reading<'_>, i: usize, end: usize, shape: Shape, at: bool) -> bool {
        let (after, after_class) = reading.after(end);
        match shape.last {
            Class::Word | Class::Katakana | Class::Arabic | Class::Hebrew => after_class != shape.last,
            Class::Han => at || shape.length >= 2 || after_class != Class::Han,
            Class::Hiragana => after_class != Class::Hiragana || reading.any_at(end, &self.japanese),
            Class::Hangul => after_class != Class::Hangul || self.korean_suffix(reading, end),
            Class::Unspaced => {
                let clusters =
                    reading.keyed.chars().get(i..end).unwrap_or(&[]).iter().filter(|k| k.opens).count();
                (at || clusters >= 2) && !matches!(after, Some('\u{e30}' | '\u{e32}' | '\u{e33}' | '\u{e45}'))
            }
            Class::Other => true,
        }
    }

    /// An honorific, a particle, or both, and then no more Hangul.
    fn korean_suffix(&self, reading: &Reading<'_>, end: usize) -> bool {
        let closed = |at: usize| reading.after(at).1 != Class::Hangul;
        let particle =
            |at: usize| self.particles.iter().filter_map(|p| reading.keyed.whole_at(at, p)).any(closed);
        let mut honorifics = self.honorifics.iter().filter_map(|h| reading.keyed.whole_at(end, h));
        particle(end) || honorifics.any(|after| closed(after) || particle(after))
    }
}

/// Whether the letters before a place, up to the next other character, are one that is written together with a name.
fn proclitic(reading: &Reading<'_>, i: usize, list: &[String], own: Class) -> bool {
    let longest = list.iter().map(|p| p.chars().count()).max().unwrap_or(0);
    let mut run = Vec::new();
    let mut at = i;
    while let Some((before, c, found)) = reading.before(at) {
        if found != own {
            break;
        }
        if run.len() == longest {
            return false;
        }
        run.push(c);
        at = before;
    }
    list.iter().any(|p| p.chars().rev().eq(run.iter().copied()))
}

/// A text with everything that is asked of it again and again.
pub(super) struct Reading<'a> {
    pub(super) text: &'a str,
    pub(super) keyed: Keyed,
}

impl Reading<'_> {
    /// Position, character and class before a position of the key, marks skipped.
    fn before(&self, i: usize) -> Option<(usize, char, Class)> {
        let before = self.keyed.chars().get(..i)?;
        let at = before.iter().rposition(|k| !props::is_nonspacing(k.c))?;
        let c = before.get(at)?.c;
        Some((at, c, class(c)))
    }

    /// Character and class at a position, marks skipped.
    fn after(&self, i: usize) -> (Option<char>, Class) {
        let rest = self.keyed.chars().get(i..).unwrap_or(&[]);
        let c = rest.iter().map(|k| k.c).find(|c| !props::is_nonspacing(*c));
        (c, c.map_or(Class::Other, class))
    }

    fn any_at(&self, i: usize, words: &[String]) -> bool {
        words.iter().any(|w| self.keyed.whole_at(i, w).is_some())
    }

    /// Whether `@`, or `@` and an opening quote, stands directly before a position, and is not inside a word (a mail address).
    pub(super) fn is_at(&self, i: usize) -> bool {
        let c = |back: usize| i.checked_sub(back).and_then(|k| self.keyed.at(k));
        let at = match (c(2), c(1)) {
            (_, Some('@')) => i - 1,
            (Some('@'), Some('"' | '“' | '[' | '「')) => i - 2,
            _ => return false,
        };
        self.before(at).is_none_or(|(.., class)| class != Class::Word)
    }

    /// Whether an ordinary word is meant as a name here (spec 01 §P1.7): capitalised inside a sentence, or called.
    pub(super) fn addressed(&self, i: usize, end: usize) -> bool {
        let chars = self.keyed.chars();
        let (Some(first), Some(last)) = (chars.get(i), end.checked_sub(1).and_then(|k| chars.get(k))) else {
            return false;
        };
        let before = self.text.get(..first.start).unwrap_or("");
        let after = self.text.get(last.end..).unwrap_or("");
        let name = self.text.get(first.start..last.end).unwrap_or("");
        let previous = before.chars().rev().find(|c| {
            js::is_line_end(*c) || !(js::is_space(*c) || is_quote(*c) || matches!(c, '*' | '_' | '(' | '（'))
        });
        let starts = previous
            .is_none_or(|c| js::is_line_end(c) || matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？'));
        if !starts && name.chars().next().is_some_and(char::is_uppercase) {
            return true;
        }
        let comma = previous.is_some_and(is_comma);
        (starts || comma)
            && after.chars().next().is_none_or(|c| {
                js::is_line_end(c)
                    || is_comma(c)
                    || matches!(c, '!' | '?' | ':' | '！' | '？' | '：')
                    || (comma && matches!(c, '.' | '。' | '…'))
            })
    }
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '„' | '‘' | '’' | '«' | '»' | '「' | '」' | '『' | '』')
}

const fn is_comma(c: char) -> bool {
    matches!(c, ',' | '，' | '、' | '،')
}
