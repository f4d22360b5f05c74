//! A text -> its extended grapheme clusters, what a reader takes for one character (UAX #29). A name begins and ends with whole ones.
//!
//! A general crate does the same with 10 kB more; the tests compare with it.

use super::props::{Join, join};

/// The clusters of a text with their byte offsets.
pub fn clusters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = first_length(rest);
        let cluster = rest.get(..length).unwrap_or(rest);
        let at = start;
        start += cluster.len();
        Some((at, cluster))
    })
}

/// Bytes of the first cluster.
fn first_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    let Some((_, first)) = chars.next() else { return 0 };
    if first == '\r' && text.starts_with("\r\n") {
        return 2;
    }
    let mut state = State::of(first);
    for (at, c) in chars {
        // Two plain letters: no table is needed.
        if c.is_ascii() && state.last != Join::Prepend {
            return at;
        }
        let next = join(c);
        if !state.joins(next) {
            return at;
        }
        state.push(next);
    }
    text.len()
}

/// What decides whether the next character joins.
struct State {
    last: Join,
    /// A consonant (1), and a virama behind it (2), with nothing but extending characters since.
    conjunct: u8,
    /// A picture (1), and a joiner behind it (2).
    picture: u8,
    /// Halves of flags in a row.
    flags: usize,
}

impl State {
    fn of(first: char) -> Self {
        let mut state = Self { last: Join::Other, conjunct: 0, picture: 0, flags: 0 };
        state.push(join(first));
        state
    }

    fn push(&mut self, next: Join) {
        self.conjunct = match (next, self.conjunct) {
            (Join::Consonant, _) => 1,
            (Join::Linker, 1 | 2) => 2,
            (Join::Extend | Join::Zwj, kept) => kept,
            _ => 0,
        };
        self.picture = match (next, self.picture) {
            (Join::Picture, _) | (Join::Extend | Join::Parting | Join::Linker, 1) => 1,
            (Join::Zwj, 1) => 2,
            _ => 0,
        };
        self.flags = if next == Join::Flag { self.flags + 1 } else { 0 };
        self.last = next;
    }

    fn joins(&self, next: Join) -> bool {
        match (self.last, next) {
            (Join::Control, _) | (_, Join::Control) => false,
            (_, Join::Extend | Join::Parting | Join::Linker | Join::Spacing | Join::Zwj)
            | (Join::Prepend, _)
            | (Join::L, Join::L | Join::V | Join::Lv | Join::Lvt)
            | (Join::V | Join::Lv, Join::V | Join::T)
            | (Join::T | Join::Lvt, Join::T) => true,
            (_, Join::Consonant) => self.conjunct == 2,
            (_, Join::Picture) => self.picture == 2,
            (Join::Flag, Join::Flag) => self.flags % 2 == 1,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation as _;

    use super::*;

    fn compare(text: &str) {
        let wanted: Vec<(usize, &str)> = text.grapheme_indices(true).collect();
        assert_eq!(clusters(text).collect::<Vec<_>>(), wanted, "{text:?}");
    }

    #[test]
    fn clusters_are_unicodes() {
        for text in [
            "",
            "abc",
            "a\r\nb\n\r",
            "e\u{301}\u{323}x",
            "👨\u{200d}👩\u{200d}👧👩",
            "👍🏽👍",
            "🇦🇧🇨🇩🇪",
            "क्षि क्\u{200d}ष क्\u{200c}ष",
            "ลอร์น ำ",
            "한각\u{1100}\u{1161}\u{11a8}\u{11a8}가\u{11a8}\u{1100}각",
            "\u{600}1 \u{600}\u{301}",
            "\u{301}x\u{200b}\u{301}",
            "林黛玉",
        ] {
            compare(text);
        }
    }

    fn joining() -> impl Strategy<Value = char> {
        prop_oneof![
            proptest::sample::select(vec![
                'a',
                '\r',
                '\n',
                '\u{301}',
                '\u{200d}',
                '\u{200c}',
                '\u{600}',
                '👩',
                '🇦',
                'क',
                'ষ',
                '\u{94d}',
                '\u{903}',
                '\u{1100}',
                '\u{1161}',
                '\u{11a8}',
                '가',
                '각',
                '\u{e33}',
                '🏽',
                '\u{ad}',
                '\u{1f3}',
                '©',
                '\u{93c}',
                '\u{16d63}',
                '\u{11f02}',
            ]),
            any::<char>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text(text in proptest::collection::vec(joining(), 0..12).prop_map(String::from_iter)) {
            compare(&text);
        }
    }
}
