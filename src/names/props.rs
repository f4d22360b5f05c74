//! A character -> what Unicode says of it, as far as names ask: how it joins its neighbours, whether it is a mark, and where
//! among other marks it stands in canonical order. The data is `prop_table.rs`; `tests/it/unicode.rs` makes it.

use super::prop_table::{KINDS, STEPS};

/// How a character joins its neighbours in a grapheme cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// It does not.
    Other,
    /// Never: controls and ends of lines.
    Control,
    /// To what is before it.
    Extend,
    /// Likewise, but it parts Indic conjuncts.
    Parting,
    /// A virama that makes conjuncts.
    Linker,
    /// A vowel sign with room of its own.
    Spacing,
    /// The zero width joiner.
    Zwj,
    /// To what comes behind it.
    Prepend,
    /// A picture: two with a joiner between them are one.
    Picture,
    /// A consonant that can be part of a conjunct.
    Consonant,
    /// A leading jamo.
    L,
    /// A vowel jamo.
    V,
    /// A final jamo.
    T,
    /// A syllable without a final.
    Lv,
    /// A syllable with one.
    Lvt,
    /// Half of a flag.
    Flag,
}

/// Whether a character is a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// No.
    No,
    /// One that takes no room of its own (category Mn).
    Nonspacing,
    /// Any other (Mc, Me).
    Spacing,
}

type Kind = (Join, u8, Mark);

fn kind(c: char) -> Kind {
    // Most text: Latin letters, kana but for their marks, ideographs.
    if matches!(c, ' '..='~' | '\u{b0}'..='\u{2ff}' | '\u{309b}'..='\u{3296}' | '\u{329a}'..='\u{a66e}') {
        return (Join::Other, 0, Mark::No);
    }
    if let '\u{ac00}'..='\u{d7a3}' = c {
        let open = (u32::from(c) - 0xAC00).is_multiple_of(28);
        return (if open { Join::Lv } else { Join::Lvt }, 0, Mark::No);
    }
    // A step holds the first character that it is true of, and which kind.
    let after = STEPS.partition_point(|step| step >> 8 <= u32::from(c));
    let step = after.checked_sub(1).and_then(|i| STEPS.get(i)).copied().unwrap_or(0);
    let number = usize::from(step.to_le_bytes()[0]);
    KINDS.get(number).copied().unwrap_or((Join::Other, 0, Mark::No))
}

/// How a character joins its neighbours.
pub(super) fn join(c: char) -> Join {
    kind(c).0
}

/// Canonical combining class; 0 for everything that is no mark, and for many marks.
pub(super) fn class(c: char) -> u8 {
    kind(c).1
}

/// A mark that takes no room of its own.
pub(super) fn is_nonspacing(c: char) -> bool {
    kind(c).2 == Mark::Nonspacing
}

/// Any mark (category M).
pub(super) fn is_mark(c: char) -> bool {
    kind(c).2 != Mark::No
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found() {
        use unicode_normalization::char::canonical_combining_class;
        use unicode_properties::{GeneralCategory as G, UnicodeGeneralCategory as _};
        for c in (0..=0x1_FFFF).chain(0xE_0000..=0xE_0FFF).filter_map(char::from_u32) {
            let category = c.general_category();
            let marks = [G::NonspacingMark, G::SpacingMark, G::EnclosingMark];
            assert_eq!(class(c), canonical_combining_class(c), "{c:?}");
            assert_eq!(is_nonspacing(c), category == G::NonspacingMark, "{c:?}");
            assert_eq!(is_mark(c), marks.contains(&category), "{c:?}");
        }
    }
}
