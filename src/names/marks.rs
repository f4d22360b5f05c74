//! A character -> whether it is a mark, and where among other marks it stands in canonical order.

use std::cmp::Ordering;

use super::mark_ranges::RANGES;

/// Canonical combining class; 0 for everything that is no mark, and for many marks.
pub(super) fn class(c: char) -> u8 {
    find(c).map_or(0, |(class, _)| class)
}

/// A mark that takes no room of its own (category Mn).
pub(super) fn is_nonspacing(c: char) -> bool {
    find(c).is_some_and(|(_, spacing)| !spacing)
}

/// Any mark (category M).
pub(super) fn is_mark(c: char) -> bool {
    find(c).is_some()
}

fn find(c: char) -> Option<(u8, bool)> {
    // Most text: Latin letters, kana but for two marks, ideographs, Hangul.
    if c < '\u{300}' || matches!(c, '\u{309b}'..='\u{a66e}' | '\u{ac00}'..='\u{d7a3}') {
        return None;
    }
    let compare = |(first, last, ..): &(char, char, u8, bool)| {
        if *last < c {
            Ordering::Less
        } else if *first > c {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    };
    let found = RANGES.binary_search_by(compare).ok()?;
    RANGES.get(found).map(|(_, _, class, spacing)| (*class, *spacing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found() {
        use unicode_normalization::char::canonical_combining_class;
        use unicode_properties::{GeneralCategory as G, UnicodeGeneralCategory as _};
        for c in (0..=0x1_FFFF).chain(0xE_0000..=0xE_0FFF).filter_map(char::from_u32) {
            assert_eq!(class(c), canonical_combining_class(c), "{c:?}");
            assert_eq!(is_nonspacing(c), c.general_category() == G::NonspacingMark, "{c:?}");
        }
    }
}
