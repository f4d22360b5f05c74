//! A character of the text -> the class by which the split patterns tell characters apart.
//!
//! The patterns ask for Unicode general categories, for White_Space and for a handful of single characters. Every
//! code point falls into one of sixteen classes here; ASCII and the rest have a table each. `classes.bin` holds the
//! latter: 1,024 block numbers, then blocks of 128 code points, two classes a byte, for all code points below U+20000.
//! It is made from the tables of `regex-syntax`, the ones the reference encoder runs on, by the test
//! `tokens::the_class_table_is_that_of_regex_syntax` (`UPDATE=1` rewrites it).

#![expect(
    clippy::inline_always,
    reason = "inner loops; the package is built for size, which inlines little by itself"
)]

/// Punctuation, symbols, controls, unassigned.
pub(super) const OTHER: u8 = 0;
/// Lu, Lt.
pub(super) const UPPER: u8 = 1;
/// Ll.
pub(super) const LOWER: u8 = 2;
/// Lm, Lo: letters without case, such as all of Chinese.
pub(super) const CASELESS: u8 = 3;
/// M: combining marks.
pub(super) const MARK: u8 = 4;
/// N: digits and numbers.
pub(super) const NUMBER: u8 = 5;
/// White_Space other than U+0020, CR and LF.
pub(super) const WHITE: u8 = 6;
/// CR, LF.
pub(super) const BREAK: u8 = 7;
/// U+017F, the long s: a lower-case letter that equals `s` when case is ignored.
pub(super) const LONG_S: u8 = 8;
/// U+0020.
pub(super) const SPACE: u8 = 9;
/// `/`.
pub(super) const SLASH: u8 = 10;
/// `'`.
pub(super) const APOSTROPHE: u8 = 11;
/// d, m, s, t: each completes a contraction. Upper case is this plus [`CAPITAL`].
pub(super) const DMST: u8 = 12;
/// e.
pub(super) const E: u8 = 13;
/// l.
pub(super) const L: u8 = 14;
/// r, v.
pub(super) const RV: u8 = 15;
/// Distance from a lower-case class between [`DMST`] and [`RV`] to its upper-case class.
pub(super) const CAPITAL: u8 = 4;
/// One more than the greatest class.
pub(super) const CLASSES: u8 = 20;

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const ASCII: [u8; 128] = {
    let mut table = [OTHER; 128];
    let mut c = 0u8;
    while c < 128 {
        let letter = match c.to_ascii_lowercase() {
            b'd' | b'm' | b's' | b't' => DMST,
            b'e' => E,
            b'l' => L,
            b'r' | b'v' => RV,
            _ => LOWER,
        };
        table[c as usize] = match c {
            b'a'..=b'z' => letter,
            b'A'..=b'Z' if letter == LOWER => UPPER,
            b'A'..=b'Z' => letter + CAPITAL,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => BREAK,
            b' ' => SPACE,
            b'\t' | 0x0B | 0x0C => WHITE,
            b'/' => SLASH,
            b'\'' => APOSTROPHE,
            _ => OTHER,
        };
        c += 1;
    }
    table
};

/// Code points covered by `classes.bin`.
const COVERED: u32 = 0x2_0000;
const BLOCKS: usize = COVERED as usize / 128;
static TABLE: &[u8; 15_040] = include_bytes!("classes.bin");

/// Class and length in bytes of the character that starts at `at`; `None` at the end of the text.
/// `bytes` is UTF-8 and `at` a character boundary; anything else gives a class without meaning.
#[inline(always)]
pub(super) fn class_at(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let lead = *bytes.get(at)?;
    match ASCII.get(usize::from(lead)) {
        Some(class) => Some((*class, 1)),
        None => Some(class_beyond_ascii(bytes, at, u32::from(lead))),
    }
}

#[inline]
fn class_beyond_ascii(bytes: &[u8], at: usize, lead: u32) -> (u8, usize) {
    let low = |i: usize| bytes.get(at + i).map_or(0, |b| u32::from(b & 0x3F));
    if lead < 0xE0 {
        (class_of((lead & 0x1F) << 6 | low(1)), 2)
    } else if lead < 0xF0 {
        let c = (lead & 0x0F) << 12 | low(1) << 6 | low(2);
        // Most of Chinese, without a look at the table.
        (if matches!(c, 0x4E00..=0x9FFF) { CASELESS } else { class_of(c) }, 3)
    } else {
        (class_of((lead & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3)), 4)
    }
}

/// Class of a code point above ASCII.
fn class_of(c: u32) -> u8 {
    if c < COVERED {
        let block = TABLE.get((c >> 7) as usize).map_or(0, |b| usize::from(*b));
        let pair = TABLE.get(BLOCKS + (block << 6) + (c as usize >> 1 & 63)).map_or(0, |b| *b);
        return if c & 1 == 0 { pair & 15 } else { pair >> 4 };
    }
    match c {
        0x2_0000..=0x2_A6DF
        | 0x2_A700..=0x2_B739
        | 0x2_B740..=0x2_B81D
        | 0x2_B820..=0x2_CEA1
        | 0x2_CEB0..=0x2_EBE0
        | 0x2_EBF0..=0x2_EE5D
        | 0x2_F800..=0x2_FA1D
        | 0x3_0000..=0x3_134A
        | 0x3_1350..=0x3_23AF => CASELESS,
        0xE_0100..=0xE_01EF => MARK,
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::Parser;
    use regex_syntax::hir::{Class, HirKind};

    /// Classes of all code points from U+0080, from the tables of regex-syntax.
    fn expected() -> Vec<u8> {
        let mut classes = vec![OTHER; 0x11_0000];
        for (pattern, class) in [
            (r"[\p{Lu}\p{Lt}]", UPPER),
            (r"\p{Ll}", LOWER),
            (r"[\p{Lm}\p{Lo}]", CASELESS),
            (r"\p{M}", MARK),
            (r"\p{N}", NUMBER),
            (r"\s", WHITE),
        ] {
            let HirKind::Class(Class::Unicode(ranges)) = Parser::new().parse(pattern).unwrap().into_kind()
            else {
                panic!("{pattern} is a class")
            };
            for range in ranges.ranges() {
                classes[range.start() as usize..=range.end() as usize].fill(class);
            }
        }
        classes[0x17F] = LONG_S;
        classes
    }

    fn table(classes: &[u8]) -> Vec<u8> {
        let (mut index, mut blocks) = (Vec::new(), Vec::<Vec<u8>>::new());
        for block in classes[..COVERED as usize].chunks(128) {
            let packed: Vec<u8> = block.chunks(2).map(|p| p[0] | p[1] << 4).collect();
            let number = blocks.iter().position(|b| *b == packed).unwrap_or_else(|| {
                blocks.push(packed);
                blocks.len() - 1
            });
            index.push(u8::try_from(number).unwrap());
        }
        index.extend(blocks.concat());
        index
    }

    #[test]
    fn the_class_table_is_that_of_regex_syntax() {
        let classes = expected();
        let table = table(&classes);
        if std::env::var_os("UPDATE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tokens/classes.bin");
            std::fs::write(path, &table).unwrap();
        }
        assert!(table == *TABLE, "classes.bin is out of date: run this test with UPDATE=1");
        for (c, class) in classes.iter().enumerate().skip(128) {
            assert_eq!(class_of(u32::try_from(c).unwrap()), *class, "U+{c:04X}");
        }
    }

    #[test]
    fn every_character_has_its_class_and_length() {
        let classes = expected();
        for c in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer);
            let (class, length) = class_at(text.as_bytes(), 0).unwrap();
            assert_eq!(length, c.len_utf8(), "{c:?}");
            let wide = match class {
                SPACE | BREAK => WHITE,
                SLASH | APOSTROPHE => OTHER,
                DMST | E | L | RV => LOWER,
                16.. => UPPER,
                other => other,
            };
            assert_eq!(wide, classes[c as usize], "{c:?}");
        }
    }
}
