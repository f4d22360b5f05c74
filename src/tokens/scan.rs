//! A text -> the pieces that an encoding's split pattern cuts it into; merges never cross their borders.
//!
//! Each pattern is a small machine: a state, the class of the next character, the next state, and whether the piece
//! may end here. The piece is the longest prefix accepted before the machine stops; the alternatives of the patterns
//! are such that this equals their leftmost match (each rule says why). The rules below are evaluated by the compiler
//! into one table a pattern, so a character costs two loads, the machine can be stopped and resumed between any two
//! characters, and no input can make it back up further than the piece it has just cut.
//!
//! Patterns (letter L, cased U and l, mark M, number N, white space s, line break n):
//! - o200k: `[^nLN]?[U|caseless|M]*[l|caseless|M]+C?`, the same with `+` and `*` swapped, `N{1,3}`,
//!   ` ?[^sLN]+[n/]*`, `s*n+`, `s+(?!\S)`, `s+`, where C is a contraction in any case;
//! - cl100k: `C`, `[^nLN]?L+`, `N{1,3}`, ` ?[^sLN]+n*`, `s+$`, `s*n`, `s+(?!\S)`, `s`;
//! - gpt2 (r50k, p50k): `C` in lower case, ` ?L+`, ` ?N+`, ` ?[^sLN]+`, `s+$`, `s+(?!\S)`, `s`.

#![expect(
    clippy::inline_always,
    reason = "inner loops; the package is built for size, which inlines little by itself"
)]

use super::asset::Pattern;
use super::classes::{
    APOSTROPHE, BREAK, CAPITAL, CASELESS, CLASSES, DMST, E, L, LONG_S, LOWER, MARK, NUMBER, OTHER, RV, SLASH,
    SPACE, UPPER, WHITE, class_at,
};
use super::vocabulary::load;

// What the machine has seen since the start of the piece.
const DEAD: u8 = 0;
const START: u8 = 1;
/// One U+0020.
const SPACE1: u8 = 2;
/// One other white character.
const WHITE1: u8 = 3;
/// Two or more white characters, no line break.
const WHITES: u8 = 4;
/// White space, a line break last.
const BROKEN: u8 = 5;
/// White space with a line break, but not last.
const INDENT: u8 = 6;
/// One character that may be the prefix of a word or the first of a run of punctuation.
const PREFIX: u8 = 7;
/// Punctuation.
const PUNCT: u8 = 8;
/// Punctuation and the line breaks (o200k: and slashes) behind it.
const PUNCT_END: u8 = 9;
/// Word so far capitals only.
const CAPITALS: u8 = 10;
/// Word that could be capitals so far, a caseless letter or mark last.
const MIXED: u8 = 11;
/// The same, but capitals follow the last caseless letter or mark.
const MIXED_CAPITALS: u8 = 12;
/// Word that no capital may continue; in cl100k and gpt2 any word.
const WORD: u8 = 13;
/// Apostrophe: behind a word (o200k), first of the piece (others).
const QUOTE: u8 = 14;
/// Apostrophe and r or v.
const QUOTE_RV: u8 = 15;
/// Apostrophe and l.
const QUOTE_L: u8 = 16;
/// Numbers.
const NUMBER1: u8 = 17;
const NUMBER2: u8 = 18;
/// Nothing can follow.
const FULL: u8 = 19;

/// The piece may end behind the character read.
const AFTER: u8 = 1 << 5;
/// The piece may end before the character read: white space leaves its last character to what follows.
const BEFORE: u8 = 2 << 5;
const STATE: u8 = 31;

const fn is_lower(class: u8) -> bool {
    matches!(class, LOWER | LONG_S | DMST | E | L | RV)
}

const fn is_upper(class: u8) -> bool {
    class == UPPER || class >= DMST + CAPITAL && class <= RV + CAPITAL
}

const fn is_letter(class: u8) -> bool {
    is_lower(class) || is_upper(class) || class == CASELESS
}

const fn is_punct(class: u8) -> bool {
    matches!(class, OTHER | SLASH | APOSTROPHE | MARK)
}

const fn is_white(class: u8) -> bool {
    matches!(class, WHITE | SPACE)
}

/// The same letter in lower case, where contractions ignore case.
const fn fold(class: u8) -> u8 {
    match class {
        LONG_S => DMST,
        _ if class >= DMST + CAPITAL => class - CAPITAL,
        _ => class,
    }
}

/// White space of o200k and cl100k: up to the last line break of the run if it has one, else all but the last
/// character. What the run is at the end of the text, [`at_end`] says.
const fn white(state: u8, class: u8) -> u8 {
    match (state, class) {
        (_, BREAK) => BROKEN | AFTER,
        (SPACE1 | WHITE1 | WHITES, WHITE | SPACE) => WHITES | BEFORE,
        (BROKEN | INDENT, WHITE | SPACE) => INDENT,
        _ => DEAD,
    }
}

/// Words of o200k. The first alternative (ends in lower case, caseless or mark) wins over the second wherever it
/// matches: so once a caseless letter or mark was seen, capitals behind it count only if a lower-case letter follows,
/// and a mark in front of capitals is a word of its own, not their prefix.
const fn word(class: u8) -> u8 {
    match class {
        CASELESS | MARK => MIXED | AFTER,
        _ if is_upper(class) => CAPITALS | AFTER,
        _ if is_lower(class) => WORD | AFTER,
        _ => DEAD,
    }
}

#[expect(clippy::match_same_arms, reason = "one rule a line, in the order of the pattern")]
const fn o200k(state: u8, class: u8) -> u8 {
    match state {
        START => match class {
            SPACE => SPACE1 | AFTER,
            WHITE => WHITE1 | AFTER,
            BREAK => BROKEN | AFTER,
            NUMBER => NUMBER1 | AFTER,
            OTHER | SLASH | APOSTROPHE => PREFIX | AFTER,
            _ => word(class),
        },
        SPACE1 | WHITE1 if word(class) != DEAD => word(class),
        SPACE1 if is_punct(class) => PUNCT | AFTER,
        SPACE1 | WHITE1 | WHITES | BROKEN | INDENT => white(state, class),
        PREFIX if word(class) != DEAD => word(class),
        PREFIX | PUNCT if is_punct(class) => PUNCT | AFTER,
        PREFIX | PUNCT if class == BREAK => PUNCT_END | AFTER,
        PUNCT_END if matches!(class, BREAK | SLASH) => PUNCT_END | AFTER,
        CAPITALS | MIXED | WORD if class == APOSTROPHE => QUOTE,
        CAPITALS => word(class),
        MIXED if is_upper(class) => MIXED_CAPITALS,
        MIXED_CAPITALS if is_upper(class) => MIXED_CAPITALS,
        MIXED | MIXED_CAPITALS => word(class),
        WORD if is_lower(class) || matches!(class, CASELESS | MARK) => WORD | AFTER,
        QUOTE => match fold(class) {
            DMST => FULL | AFTER,
            RV => QUOTE_RV,
            L => QUOTE_L,
            _ => DEAD,
        },
        QUOTE_RV if fold(class) == E => FULL | AFTER,
        QUOTE_L if fold(class) == L => FULL | AFTER,
        NUMBER1 if class == NUMBER => NUMBER2 | AFTER,
        NUMBER2 if class == NUMBER => FULL | AFTER,
        _ => DEAD,
    }
}

#[expect(clippy::match_same_arms, reason = "one rule a line, in the order of the pattern")]
const fn cl100k(state: u8, class: u8) -> u8 {
    match state {
        START => match class {
            SPACE => SPACE1 | AFTER,
            WHITE => WHITE1 | AFTER,
            BREAK => BROKEN | AFTER,
            NUMBER => NUMBER1 | AFTER,
            APOSTROPHE => QUOTE | AFTER,
            OTHER | SLASH | MARK => PREFIX | AFTER,
            _ => WORD | AFTER,
        },
        // A contraction comes first; an apostrophe that begins none is the prefix of a word or punctuation.
        QUOTE if fold(class) == DMST => FULL | AFTER,
        QUOTE if fold(class) == RV => QUOTE_RV | AFTER,
        QUOTE if fold(class) == L => QUOTE_L | AFTER,
        QUOTE_RV if fold(class) == E => FULL | AFTER,
        QUOTE_L if fold(class) == L => FULL | AFTER,
        SPACE1 | WHITE1 | PREFIX | WORD | QUOTE | QUOTE_RV | QUOTE_L if is_letter(class) => WORD | AFTER,
        SPACE1 if is_punct(class) => PUNCT | AFTER,
        SPACE1 | WHITE1 | WHITES | BROKEN | INDENT => white(state, class),
        PREFIX | QUOTE | PUNCT if is_punct(class) => PUNCT | AFTER,
        PREFIX | QUOTE | PUNCT | PUNCT_END if class == BREAK => PUNCT_END | AFTER,
        NUMBER1 if class == NUMBER => NUMBER2 | AFTER,
        NUMBER2 if class == NUMBER => FULL | AFTER,
        _ => DEAD,
    }
}

const fn gpt2(state: u8, class: u8) -> u8 {
    match state {
        START => match class {
            SPACE => SPACE1 | AFTER,
            WHITE | BREAK => WHITE1 | AFTER,
            NUMBER => NUMBER1 | AFTER,
            APOSTROPHE => QUOTE | AFTER,
            OTHER | SLASH | MARK => PUNCT | AFTER,
            _ => WORD | AFTER,
        },
        QUOTE if class == DMST => FULL | AFTER,
        QUOTE if class == RV => QUOTE_RV,
        QUOTE if class == L => QUOTE_L,
        QUOTE_RV if class == E => FULL | AFTER,
        QUOTE_L if class == L => FULL | AFTER,
        SPACE1 | WORD if is_letter(class) => WORD | AFTER,
        SPACE1 | NUMBER1 if class == NUMBER => NUMBER1 | AFTER,
        SPACE1 | QUOTE | PUNCT if is_punct(class) => PUNCT | AFTER,
        SPACE1 | WHITE1 | WHITES if is_white(class) || class == BREAK => WHITES | BEFORE,
        _ => DEAD,
    }
}

/// Whether a piece in this state takes everything up to the end of the text.
const fn at_end(pattern: Pattern, state: u8) -> bool {
    state == WHITES || state == INDENT && matches!(pattern, Pattern::Cl100k)
}

type Table = [u8; 1024];

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn table(pattern: Pattern) -> Table {
    let mut table = [DEAD; 1024];
    let mut state = 0;
    while state <= FULL {
        let mut class = 0;
        while class < CLASSES {
            table[(state as usize) << 5 | class as usize] = match pattern {
                Pattern::O200k => o200k(state, class),
                Pattern::Cl100k => cl100k(state, class),
                Pattern::Gpt2 => gpt2(state, class),
            };
            class += 1;
        }
        state += 1;
    }
    table
}

static O200K: Table = table(Pattern::O200k);
static CL100K: Table = table(Pattern::Cl100k);
static GPT2: Table = table(Pattern::Gpt2);

/// A piece being cut. Positions are byte offsets into the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    state: u8,
    /// Where the piece ends if the machine stops now and more text follows.
    pub(super) end: usize,
}

impl Scan {
    /// A piece that starts at `at`.
    pub(super) fn start(at: usize) -> Self {
        Self { state: START, end: at }
    }
}

/// The machine of one pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanner {
    pattern: Pattern,
    table: &'static Table,
}

impl Scanner {
    pub(super) fn new(pattern: Pattern) -> Self {
        let table = match pattern {
            Pattern::O200k => &O200K,
            Pattern::Cl100k => &CL100K,
            Pattern::Gpt2 => &GPT2,
        };
        Self { pattern, table }
    }

    /// Reads the character at `at`, of the given class and length; false if it no longer belongs to the piece (then
    /// `scan.end` is final).
    #[inline(always)]
    pub(super) fn read(self, scan: &mut Scan, class: u8, at: usize, length: usize) -> bool {
        #[expect(
            clippy::indexing_slicing,
            reason = "five bits of state and five of class index 1,024 entries"
        )]
        let next = self.table[usize::from(scan.state & STATE) << 5 | usize::from(class & 31)];
        scan.end = match next & !STATE {
            AFTER => at + length,
            BEFORE => at,
            _ => scan.end,
        };
        scan.state = next & STATE;
        scan.state != DEAD
    }

    /// Whether the piece takes all that was read if the text ends now; else it ends at `scan.end`.
    pub(super) fn takes_rest(self, scan: Scan) -> bool {
        at_end(self.pattern, scan.state)
    }

    /// End of the piece that starts at `at`; greater than `at` unless the text ends there.
    #[inline(always)]
    pub(super) fn next(self, bytes: &[u8], at: usize) -> usize {
        let (scan, _) = self.run(bytes, at);
        if self.takes_rest(scan) { bytes.len() } else { scan.end }
    }

    /// End of the piece that starts at `at`, if no text behind this one could change it.
    pub(super) fn closed(self, bytes: &[u8], at: usize) -> Option<usize> {
        let (scan, open) = self.run(bytes, at);
        (!open).then_some(scan.end)
    }

    /// Reads a piece, and says whether it reached the end of the text.
    #[inline(always)]
    fn run(self, bytes: &[u8], at: usize) -> (Scan, bool) {
        let mut scan = Scan::start(at);
        let mut at = at;
        while let Some((class, length)) = class_at(bytes, at) {
            if !self.read(&mut scan, class, at, length) {
                return (scan, false);
            }
            at += length;
            // A word goes on with small letters in every pattern: most of most texts, eight characters a step.
            while scan.state == WORD {
                let letters = small_letters(bytes, at);
                at += letters;
                scan.end = at;
                if letters < 8 {
                    break;
                }
            }
        }
        (scan, true)
    }
}

/// How many of the eight bytes from `at` are a to z before the first that is not.
#[inline(always)]
fn small_letters(bytes: &[u8], at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = load(bytes, at, 8);
    let low = word & (ONES * 0x7F);
    let from_a = low + ONES * (0x80 - 0x61);
    let beyond_z = low + ONES * (0x80 - 0x7B);
    let other = !(from_a & !beyond_z & !word) & (ONES * 0x80);
    other.trailing_zeros() as usize / 8
}
