//! A text -> how many tokens it may be, without a vocabulary.

use super::Count;

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

/// The reference's guess when no tokenizer answers: bytes / 3.35, rounded up (spec 02 §9.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate;

impl Count for Estimate {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a length is far below 2^53, its third saturates"
    )]
    fn count(&self, text: &str) -> u32 {
        // Exact for all lengths: one IEEE division, as in the reference.
        (text.len() as f64 / 3.35).ceil() as u32
    }
    fn exact(&self) -> bool {
        false
    }
    fn id(&self) -> &'static str {
        "estimate"
    }
}
