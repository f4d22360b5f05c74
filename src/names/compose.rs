//! A text -> the same text in NFKC: forms of one letter made equal, accents composed (spec 10 §24).
//!
//! The table of compositions is not shipped: it is read backwards from the decompositions, the first time a mark is met.
//! `tests` compares with Unicode's own algorithm; characters whose parts lie outside [`COMPOSED`] stay decomposed.

use std::collections::BTreeMap;

use super::decompose::{decompose, order};
use super::props;

/// Where characters stand that compose again from their parts: Latin, Greek, Cyrillic, Arabic, kana, and the vowel signs of
/// Indic scripts.
const COMPOSED: &[(char, char)] = &[
    ('\u{c0}', '\u{17e}'),
    ('\u{1a0}', '\u{1b0}'),
    ('\u{1cd}', '\u{233}'),
    ('\u{385}', '\u{3d4}'),
    ('\u{400}', '\u{45f}'),
    ('\u{476}', '\u{4f9}'),
    ('\u{622}', '\u{626}'),
    ('\u{6c0}', '\u{6d3}'),
    ('\u{929}', '\u{934}'),
    ('\u{9cb}', '\u{9cc}'),
    ('\u{b48}', '\u{b4c}'),
    ('\u{b94}', '\u{b94}'),
    ('\u{bca}', '\u{bcc}'),
    ('\u{c48}', '\u{c48}'),
    ('\u{cc0}', '\u{ccb}'),
    ('\u{d4a}', '\u{d4c}'),
    ('\u{dda}', '\u{dde}'),
    ('\u{1026}', '\u{1026}'),
    ('\u{1e00}', '\u{1e99}'),
    ('\u{1e9b}', '\u{1e9b}'),
    ('\u{1ea0}', '\u{1ef9}'),
    ('\u{1f00}', '\u{1ffc}'),
    ('\u{304c}', '\u{3094}'),
    ('\u{309e}', '\u{309e}'),
    ('\u{30ac}', '\u{30fe}'),
];

/// Makes texts NFKC. Keeps what it has worked out, so one is made for many texts.
#[derive(Debug, Default)]
pub struct Nfkc {
    /// Parts of a character in canonical order -> the character.
    table: Option<BTreeMap<Vec<char>, char>>,
}

impl Nfkc {
    /// A text in NFKC.
    pub fn of(&mut self, text: &str) -> String {
        if text.chars().all(is_plain) {
            return text.to_owned();
        }
        let mut chars = Vec::with_capacity(text.len());
        for c in text.chars() {
            decompose(c, &mut chars);
        }
        order(&mut chars);
        self.compose(&chars)
    }

    fn compose(&mut self, chars: &[char]) -> String {
        let table = self.table.get_or_insert_with(compositions);
        let mut out: Vec<char> = Vec::with_capacity(chars.len());
        // Parts of the last starter, and where it stands in `out`.
        let mut parts: Vec<char> = Vec::new();
        let mut starter: Option<usize> = None;
        let mut last_class = 0;
        for &c in chars {
            let class = props::class(c);
            // A mark is blocked by one of its own class or a higher one; a starter by anything between.
            let adjacent = starter.is_some_and(|at| at + 1 == out.len());
            let free = adjacent || (class != 0 && last_class < class && last_class != 0);
            if let Some(slot) = starter.filter(|_| free).and_then(|at| out.get_mut(at)) {
                parts.push(c);
                if let Some(composed) = table.get(&parts) {
                    *slot = *composed;
                    continue;
                }
                parts.pop();
            }
            if class == 0 {
                starter = Some(out.len());
                parts.clear();
                parts.push(c);
            }
            last_class = class;
            out.push(c);
        }
        out.into_iter().collect()
    }
}

/// Whether a character is its own NFKC whatever stands beside it: most Latin, Cyrillic and Chinese text.
const fn is_plain(c: char) -> bool {
    matches!(c, '\0'..='\u{9f}' | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}' | '\u{3001}'..='\u{3004}' | '\u{3400}'..='\u{a48c}')
        || matches!(c, '\u{c0}'..='\u{131}' | '\u{134}'..='\u{13e}' | '\u{141}'..='\u{148}' | '\u{14a}'..='\u{17e}' | '\u{ac00}'..='\u{d7a3}')
        || matches!(c, '\u{2010}' | '\u{2013}'..='\u{2016}' | '\u{2018}'..='\u{2023}')
}

fn compositions() -> BTreeMap<Vec<char>, char> {
    let mut table = BTreeMap::new();
    for &(from, to) in COMPOSED {
        for c in from..=to {
            let mut parts = Vec::new();
            decompose(c, &mut parts);
            order(&mut parts);
            // One part is another spelling; a blank in front marks what only looks composed.
            if parts.len() > 1 && parts.first() != Some(&' ') && !is_ligature(&parts) {
                table.entry(parts).or_insert(c);
            }
        }
    }
    table
}

/// Letters side by side (`ǆ`, `ﬁ`), which are told apart from a letter with its marks.
fn is_ligature(parts: &[char]) -> bool {
    parts.get(1).is_some_and(|c| !props::is_mark(*c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization as _;

    use super::*;

    #[test]
    fn every_letter_that_people_write_composes_as_unicode_says() {
        let mut nfkc = Nfkc::default();
        let mut wrong = Vec::new();
        for c in (0..0x2_FFFF).filter_map(char::from_u32) {
            let text: String = [c].iter().collect();
            let wanted: String = text.nfkc().collect();
            if nfkc.of(&text) != wanted {
                wrong.push(u32::from(c));
            }
        }
        // Scripts outside the table: Balinese, Tibetan vowels, Kaithi and its neighbours, Todhri, musical signs, mathematical relations.
        wrong.retain(
            |c| !matches!(c, 0x1b00..=0x1bff | 0x1_1000..=0x1_ffff | 0x2190..=0x22ff | 0x1_05c9 | 0x1_05e4),
        );
        assert!(wrong.is_empty(), "{wrong:x?}");
    }

    #[test]
    fn loose_spellings_become_one() {
        let mut nfkc = Nfkc::default();
        for (text, wanted) in [
            ("ＡＢＣ１２", "ABC12"),
            ("ﾏﾘｶﾞﾊﾟ", "マリガパ"),
            ("か\u{3099}", "が"),
            ("e\u{301}\u{323}", "ẹ\u{301}"),
            ("a\u{302}\u{323}", "ậ"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("й и\u{306}", "й й"),
            ("ﬁ①㍍", "fi1メートル"),
            ("น้ำ", "น้\u{e4d}า".nfkc().collect::<String>().as_str()),
            ("你好😀", "你好😀"),
        ] {
            assert_eq!(nfkc.of(text), wanted, "{text}");
        }
    }

    fn any_mark() -> impl Strategy<Value = char> {
        proptest::sample::select(vec![
            'a', 'e', 'O', 'и', 'α', 'か', '\u{301}', '\u{302}', '\u{308}', '\u{323}', '\u{327}', '\u{345}',
            '\u{306}', '\u{3099}', '\u{5b0}', '한', '\u{1100}', '\u{1161}', '\u{11a8}', 'é', 'ậ', 'ｶ',
            '\u{627}', '\u{654}', ' ', '\u{313}',
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text(text in proptest::collection::vec(any_mark(), 0..10).prop_map(String::from_iter)) {
            let wanted: String = text.nfkc().collect();
            prop_assert_eq!(Nfkc::default().of(&text), wanted);
        }
    }
}
