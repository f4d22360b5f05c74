//! A text -> its key: what is compared when two spellings of a name are meant to be the same (spec 01 §P1.1).
//!
//! `ＬＯＲＮＥ`, `Lorne` and `lorne` share a key, so do `Groß` and `GROSS`, `Işıl` and `isil` (loose), a composed and a decomposed `é`.
//! No locale is consulted. Letters with marks stay decomposed and Hangul is composed, where the specification composes both:
//! the same texts are equal either way, and no table of compositions is needed.

use super::class::{is_greek, is_latin};
use super::clusters::clusters;
use super::decompose::{decompose, order};
use super::props;

/// Whether accents count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diacritics {
    /// `elodie` is `Élodie`, `Алена` is `Алёна`; vowel points of Arabic and Hebrew do not count. For mentions.
    #[default]
    Loose,
    /// They do. For labels.
    Strict,
}

/// The key of a name or a word.
pub fn key(text: &str, diacritics: Diacritics) -> String {
    let mut out = Vec::new();
    for (_, cluster) in clusters(text) {
        key_cluster(cluster, diacritics, &mut out);
    }
    out.into_iter().collect()
}

/// One character of a key, and the grapheme cluster of the original text that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyChar {
    /// The character.
    pub c: char,
    /// Byte offset of the cluster.
    pub start: usize,
    /// Byte offset of its end.
    pub end: usize,
    /// It is the first character of its cluster: a match may begin here.
    pub opens: bool,
    /// It is the last: a match may end behind it.
    pub closes: bool,
}

/// A text's key with the way back to the text. Clusters without a key (zero-width characters) leave nothing behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyed {
    chars: Vec<KeyChar>,
}

impl Keyed {
    /// Keys a text.
    pub fn new(text: &str, diacritics: Diacritics) -> Self {
        let mut chars = Vec::with_capacity(text.len());
        let mut buffer = Vec::new();
        for (start, cluster) in clusters(text) {
            key_cluster(cluster, diacritics, &mut buffer);
            let last = buffer.len().saturating_sub(1);
            let end = start + cluster.len();
            chars.extend(buffer.drain(..).enumerate().map(|(i, c)| KeyChar {
                c,
                start,
                end,
                opens: i == 0,
                closes: i == last,
            }));
        }
        Self { chars }
    }

    /// The characters.
    pub fn chars(&self) -> &[KeyChar] {
        &self.chars
    }

    /// The character at a position of the key.
    pub fn at(&self, i: usize) -> Option<char> {
        self.chars.get(i).map(|k| k.c)
    }

    /// Whether `name` (a key) stands at position `i`, beginning and ending with whole clusters: the position behind it.
    pub fn whole_at(&self, i: usize, name: &str) -> Option<usize> {
        let rest = self.chars.get(i..)?;
        if !rest.first()?.opens {
            return None;
        }
        let mut n = 0;
        for c in name.chars() {
            if rest.get(n)?.c != c {
                return None;
            }
            n += 1;
        }
        rest.get(n.checked_sub(1)?)?.closes.then_some(i + n)
    }
}

fn key_cluster(cluster: &str, diacritics: Diacritics, out: &mut Vec<char>) {
    if let [byte] = cluster.as_bytes() {
        out.push(apostrophe(char::from(byte.to_ascii_lowercase())));
        return;
    }
    let mut chars = Vec::new();
    for c in cluster.chars() {
        // Before the decomposition too: that of U+00B4 is a space with an accent.
        decompose(apostrophe(c), &mut chars);
    }
    chars.retain(|c| !is_ignorable(*c) && *c != '\u{640}');
    order(&mut chars);
    let mut folded = Vec::with_capacity(chars.len());
    for c in chars {
        fold(apostrophe(c), &mut folded);
    }
    if diacritics == Diacritics::Loose {
        folded = loosen(&folded);
    }
    out.append(&mut folded);
}

/// The apostrophes and what is typed for one.
const fn apostrophe(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '`' | '\u{b4}' | '\u{1ffd}' => '\'',
        _ => c,
    }
}

/// Full case folding from the mappings that the standard library has: down, up and down again.
fn fold(c: char, out: &mut Vec<char>) {
    // The one character whose upper case is another letter's: without a locale it folds to itself.
    if c == 'ı' {
        out.push(c);
    } else if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
    } else {
        out.extend(c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
    }
}

fn loosen(chars: &[char]) -> Vec<char> {
    let mut out = Vec::with_capacity(chars.len());
    let mut base = '\0';
    for &c in chars {
        if is_point(c) {
            continue;
        }
        if props::is_nonspacing(c) {
            if is_latin(base) || is_greek(base) || (base == 'е' && c == '\u{308}') {
                continue;
            }
        } else {
            base = c;
        }
        match c {
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'ı' => out.push('i'),
            'ħ' => out.push('h'),
            'ŧ' => out.push('t'),
            'æ' => out.extend(['a', 'e']),
            'œ' => out.extend(['o', 'e']),
            'þ' => out.extend(['t', 'h']),
            _ => out.push(c),
        }
    }
    out
}

/// Vowel points of Arabic and Hebrew.
const fn is_point(c: char) -> bool {
    matches!(
        c,
        '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}'
            | '\u{5c5}' | '\u{5c7}'
    )
}

/// `Default_Ignorable_Code_Point`.
const fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) {
        assert_eq!(key(a, Diacritics::Loose), key(b, Diacritics::Loose), "{a} {b}");
    }

    fn differ(a: &str, b: &str) {
        assert_ne!(key(a, Diacritics::Strict), key(b, Diacritics::Strict), "{a} {b}");
    }

    #[test]
    fn spellings_of_one_name_share_a_key() {
        for (a, b) in [
            ("ＬＯＲＮＥ", "lorne"),
            ("Lo\u{200b}rne", "Lorne"),
            ("Groß", "GROSS"),
            ("GROẞ", "groß"),
            ("Οδυσσεύς", "ΟΔΥΣΣΕΥΣ"),
            ("Işıl", "ISIL"),
            ("IŞIL", "ışıl"),
            ("İpek", "ipek"),
            ("Jose\u{301}", "JOSÉ"),
            ("Élodie", "elodie"),
            ("Đặng", "dang"),
            ("Łukasz", "lukasz"),
            ("Æsir Þór", "aesir thor"),
            ("Алёна", "Алена"),
            ("O’Brien", "O'Brien"),
            ("O\u{b4}Brien", "O`Brien"),
            ("ﾏﾘｶﾞ", "マリガ"),
            ("한", "\u{1112}\u{1161}\u{11ab}"),
            ("أحمد", "احمد"),
            ("مُحَمَّد", "محمد"),
            ("محـمد", "محمد"),
            ("שָׂרָה", "שרה"),
            ("ﬁona", "fiona"),
            ("𝓛𝓸𝓻𝓷𝓮", "Lorne"),
            ("洛恩\u{fe00}", "洛恩"),
            ("\u{fa1e}田", "羽田"),
            ("ลอร์น", "ล\u{e2d}ร\u{e4c}น"),
        ] {
            same(a, b);
        }
    }

    #[test]
    fn other_names_stay_other_names() {
        for (a, b) in [
            ("Елодія", "Елодії"),
            ("Андрей", "Андреи"),
            ("かき", "がき"),
            ("Élodie", "elodie"),
            ("Işıl", "isil"),
            ("กา", "ก่า"),
            ("Алёна", "Алена"),
            ("洛恩", "洛因"),
            ("🦊", "🐺"),
        ] {
            differ(a, b);
        }
        assert_ne!(key("Андрей", Diacritics::Loose), key("Андреи", Diacritics::Loose));
        assert_ne!(key("かき", Diacritics::Loose), key("がき", Diacritics::Loose));
        assert_eq!(key("Élodie", Diacritics::Strict), key("E\u{301}LODIE", Diacritics::Strict));
    }

    #[test]
    fn marks_in_any_order_are_the_same_letter() {
        assert_eq!(key("a\u{323}\u{302}", Diacritics::Strict), key("ậ", Diacritics::Strict));
        assert_eq!(key("a\u{302}\u{323}", Diacritics::Strict), key("ậ", Diacritics::Strict));
    }

    #[test]
    fn a_match_covers_whole_clusters() {
        let keyed = Keyed::new("x José! 👨\u{200d}👩", Diacritics::Loose);
        let name = key("jose", Diacritics::Loose);
        assert_eq!(keyed.whole_at(2, &name), Some(6));
        let (first, last) = (keyed.chars()[2], keyed.chars()[5]);
        assert_eq!((first.start, last.end), (2, 7));
        assert_eq!(keyed.whole_at(2, "jos\u{0}"), None);
        assert_eq!(keyed.whole_at(8, "👨"), None, "half of a joined emoji is no match");
        assert_eq!(keyed.whole_at(99, "x"), None);
        assert_eq!(keyed.whole_at(0, ""), None);
    }
}
