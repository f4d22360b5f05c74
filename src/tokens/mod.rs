//! Counting tokens.

/// Counts the tokens of a text. The other side may be outside the crate: a page can bring its own counts.
pub trait Count {
    /// Tokens of one plain text; special-token literals count as the text they are.
    fn count(&self, text: &str) -> u32;
    /// Whether counts are exact for the model, or an estimate.
    fn exact(&self) -> bool;
    /// A stable name: `o200k_base`, `codepoints`, `estimate` …
    fn id(&self) -> &str;
}

/// One token a code point: the counter of the recorded cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodePoints;

impl Count for CodePoints {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
    }
    fn exact(&self) -> bool {
        true
    }
    fn id(&self) -> &'static str {
        "codepoints"
    }
}
