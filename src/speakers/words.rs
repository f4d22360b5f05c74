//! The reference's mention matcher: runs of ASCII letters, digits and `_` (spec 01 §4.1 steps 2-3).

use std::collections::BTreeMap;

use crate::js;

/// Maximal runs of `\w`, lower-cased, with their UTF-16 ranges.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, usize, String)> {
    let mut units = 0;
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        while let Some(c) = chars.next_if(|c| !js::is_word(*c)) {
            units += c.len_utf16();
        }
        let start = units;
        let mut word = String::new();
        while let Some(c) = chars.next_if(|c| js::is_word(*c)) {
            units += 1;
            word.push(c.to_ascii_lowercase());
        }
        (!word.is_empty()).then_some((start, units, word))
    })
}

/// Word -> the first of the names that has it.
pub(super) fn owners<'a>(names: impl Iterator<Item = (usize, &'a str)>) -> BTreeMap<String, usize> {
    let mut owners = BTreeMap::new();
    for (who, name) in names {
        for (.., word) in words(name) {
            owners.entry(word).or_insert(who);
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_ascii_runs() {
        // Spec 01 §4.1, the table of word extraction.
        for (text, wanted) in [
            ("Hello, world!", &["hello", "world"][..]),
            ("Lorne's bow", &["lorne", "s", "bow"]),
            ("I've seen", &["i", "ve", "seen"]),
            ("O'Brien", &["o", "brien"]),
            ("D.Va", &["d", "va"]),
            ("R2-D2", &["r2", "d2"]),
            ("Agent_47", &["agent_47"]),
            ("José", &["jos"]),
            ("Élodie", &["lodie"]),
            ("Zoë", &["zo"]),
            ("Groß", &["gro"]),
            ("Işıl", &["i", "l"]),
            ("İpek", &["pek"]),
            ("Đặng", &["ng"]),
            ("Ève", &["ve"]),
            ("洛恩", &[]),
            ("ロルネ", &[]),
            ("Лорн", &[]),
            ("ลอร์น", &[]),
            ("لورن", &[]),
            ("로른", &[]),
            ("ＬＯＲＮＥ", &[]),
            ("洛恩Lorne说", &["lorne"]),
            ("", &[]),
        ] {
            assert_eq!(words(text).map(|(.., w)| w).collect::<Vec<_>>(), wanted, "{text}");
        }
        assert_eq!(
            words("😀a 洛恩bc").collect::<Vec<_>>(),
            [(2, 3, "a".to_owned()), (6, 8, "bc".to_owned())]
        );
    }
}
