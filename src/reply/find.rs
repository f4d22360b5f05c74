//! Texts that may arrive in pieces: which beginning of a needle ends a text, in linear time (the failure function of Knuth,
//! Morris and Pratt). Works on bytes; a needle of whole characters can only match at character borders.

/// Length of the longest beginning of `needle` that ends `text`.
pub(super) fn border(text: &[u8], needle: &[u8]) -> usize {
    let window = text.len().saturating_sub(needle.len());
    let mut pattern = Pattern::new(needle);
    for &byte in text.get(window..).unwrap_or(text) {
        pattern.feed(byte);
    }
    pattern.matched()
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

    fn shorter(&self) -> usize {
        self.state.checked_sub(1).and_then(|i| self.fail.get(i)).copied().unwrap_or(0)
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
}
