//! Texts that may arrive in pieces: which beginning of a needle ends a text, in linear time (the failure function of Knuth,
//! Morris and Pratt). Works on bytes; a needle of whole characters can only match at character borders.

use crate::js;

/// Length of the longest beginning of `needle` that ends `text`.
pub(super) fn border(text: &[u8], needle: &[u8]) -> usize {
    let window = text.len().saturating_sub(needle.len());
    let mut pattern = Pattern::new(needle);
    for &byte in text.get(window..).unwrap_or(text) {
        pattern.feed(byte);
    }
    pattern.matched()
}

/// Every place where taking off beginnings of the needles at the end of the text can lead, whatever is still to come: the first.
/// One needle after the other may be taken off, so the end of the text moves.
pub(super) fn earliest_end(text: &[u8], needles: &[Pattern]) -> usize {
    let mut reached = vec![text.len()];
    let mut i = 0;
    while let Some(&end) = reached.get(i) {
        i += 1;
        for needle in needles {
            for length in needle.borders(text.get(..end).unwrap_or(text)) {
                let start = end - length;
                if !reached.contains(&start) {
                    reached.push(start);
                }
            }
        }
    }
    reached.into_iter().min().unwrap_or(text.len())
}

/// One needle and how much of it the text fed so far ends with.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    needle: Vec<u8>,
    /// Border lengths of each beginning of the needle.
    fail: Vec<usize>,
    state: usize,
}

impl Pattern {
    pub(super) fn new(needle: &[u8]) -> Self {
        let mut pattern = Self { needle: needle.to_vec(), fail: Vec::with_capacity(needle.len()), state: 0 };
        // The failure function is the needle fed to itself, one byte late.
        for (i, &byte) in needle.iter().enumerate() {
            if i > 0 {
                pattern.feed(byte);
            }
            pattern.fail.push(pattern.state);
        }
        pattern.state = 0;
        pattern
    }

    /// Takes one byte.
    pub(super) fn feed(&mut self, byte: u8) {
        // After a whole match, fall back to its longest border first.
        if self.state == self.needle.len() {
            self.state = self.shorter();
        }
        while self.state > 0 && self.needle.get(self.state) != Some(&byte) {
            self.state = self.shorter();
        }
        if self.needle.get(self.state) == Some(&byte) {
            self.state += 1;
        }
    }

    /// Bytes of the needle that end the text; all of them on a match.
    pub(super) const fn matched(&self) -> usize {
        self.state
    }

    /// Lengths of all beginnings of the needle that end a text.
    fn borders(&self, text: &[u8]) -> Vec<usize> {
        let mut pattern = Self { state: 0, ..self.clone() };
        for &byte in text.get(text.len().saturating_sub(self.needle.len())..).unwrap_or(text) {
            pattern.feed(byte);
        }
        let mut lengths = Vec::new();
        while pattern.state > 0 {
            lengths.push(pattern.state);
            pattern.state = pattern.shorter();
        }
        lengths
    }

    fn shorter(&self) -> usize {
        self.state.checked_sub(1).and_then(|i| self.fail.get(i)).copied().unwrap_or(0)
    }
}

/// Where a needle was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Which one.
    pub(super) needle: usize,
    /// Byte offset of its start in everything fed so far.
    pub(super) start: usize,
}

/// Several needles over one text that comes in pieces. What is complete first is found first; of needles that are complete at
/// the same place, the longest. A needle of nothing but white space does not count before the text has begun.
#[derive(Clone, Debug, Default)]
pub(super) struct Needles {
    patterns: Vec<Pattern>,
    /// Text of each, and whether it is to be found or only held back.
    texts: Vec<(String, bool)>,
    fed: usize,
    begun: bool,
}

impl Needles {
    /// Needles that are to be found; empty ones are left out.
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        Self::with_held(texts.map(|t| (t, true)))
    }

    /// Needles with a flag whether they are to be found, or only held back when they may have begun.
    pub(super) fn with_held<'a>(texts: impl Iterator<Item = (&'a str, bool)>) -> Self {
        let texts: Vec<(String, bool)> =
            texts.filter(|(t, _)| !t.is_empty()).map(|(t, found)| (t.to_owned(), found)).collect();
        Self {
            patterns: texts.iter().map(|(t, _)| Pattern::new(t.as_bytes())).collect(),
            texts,
            ..Self::default()
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The text of a needle.
    pub(super) fn text(&self, needle: usize) -> &str {
        self.texts.get(needle).map_or("", |(text, _)| text)
    }

    /// Takes a piece, up to the first hit in it: that, and how much of the piece was taken.
    pub(super) fn feed(&mut self, text: &str) -> (Option<Hit>, usize) {
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let mut hit: Option<(usize, usize)> = None;
            for (i, pattern) in self.patterns.iter_mut().enumerate() {
                for &byte in text.as_bytes().get(at..end).unwrap_or(&[]) {
                    pattern.feed(byte);
                }
                let length = pattern.needle.len();
                let begun = self.begun;
                let counts =
                    self.texts.get(i).is_some_and(|(t, found)| *found && (begun || !js::trim(t).is_empty()));
                if pattern.matched() == length && counts && hit.is_none_or(|(_, longest)| length > longest) {
                    hit = Some((i, length));
                }
            }
            self.begun |= !js::is_space(c);
            self.fed += c.len_utf8();
            if let Some((needle, length)) = hit {
                return (Some(Hit { needle, start: self.fed - length }), end);
            }
        }
        (None, text.len())
    }

    /// Bytes at the end of the text that may be the beginning of a needle.
    pub(super) fn held(&self) -> usize {
        self.patterns.iter().map(Pattern::matched).max().unwrap_or(0)
    }

    /// The first hit in a whole text.
    pub(super) fn first_in(&mut self, text: &str) -> Option<Hit> {
        self.feed(text).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_counts() {
        for (text, needle, length) in [
            ("helloE", "END", 1),
            ("hello END", "END", 3),
            ("hello END more", "END", 0),
            ("好的。", "。。", "。".len()),
            ("abab", "ababc", 4),
            ("aaaa", "aab", 2),
            ("aaaa", "aa", 2),
            ("x\nRi", "\nRin:", 3),
            ("🙂", "🙃", 0),
            ("", "x", 0),
            ("x", "", 0),
        ] {
            assert_eq!(border(text.as_bytes(), needle.as_bytes()), length, "{text:?} {needle:?}");
        }
    }

    #[test]
    fn long_needles_cost_linear_time() {
        let (text, needle) = ("ab".repeat(200_000), "ab".repeat(200_000) + "c");
        assert_eq!(border(text.as_bytes(), needle.as_bytes()), 400_000);
    }

    #[test]
    fn the_first_complete_needle_is_found_across_pieces() {
        let mut needles = Needles::new(["\n", "\nIris:", "", "ris:", "###"].into_iter());
        for (piece, held) in [("\n\n", 1), ("Good", 0), (" #", 1), ("#", 2), ("x", 0)] {
            assert_eq!(needles.feed(piece), (None, piece.len()), "{piece:?}");
            assert_eq!(needles.held(), held, "{piece:?}");
        }
        let (hit, taken) = needles.feed("y\nIris:");
        assert_eq!((hit.map(|h| (needles.text(h.needle), h.start)), taken), (Some(("\n", 11)), 2));
        let mut needles = Needles::new(["ris:", "\nIris:"].into_iter());
        assert_eq!(needles.first_in("\nIr"), None);
        assert_eq!(needles.held(), 3);
        assert_eq!(needles.feed("is: x").0, Some(Hit { needle: 1, start: 0 }));
    }
}
