//! Text as a list of UTF-16 units, made once and searched often. Halves of surrogate pairs, which a pattern without `u` can
//! produce, survive in it.

/// The code point of the two halves of a pair.
pub(super) fn pair(high: u32, low: u32) -> Option<u32> {
    let halves = (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(&low);
    halves.then(|| 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
}

/// Text for patterns to run on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(Vec<u16>);

impl Text {
    /// The units.
    pub fn units(&self) -> &[u16] {
        &self.0
    }

    /// Its length in units.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A range of units; empty when out of range.
    pub fn slice(&self, (start, end): (usize, usize)) -> &[u16] {
        self.0.get(start..end).unwrap_or(&[])
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.encode_utf16().collect())
    }
}

impl From<Vec<u16>> for Text {
    fn from(units: Vec<u16>) -> Self {
        Self(units)
    }
}

/// Back to a string; a lone half becomes U+FFFD.
impl From<&Text> for String {
    fn from(text: &Text) -> Self {
        String::from_utf16_lossy(&text.0)
    }
}
