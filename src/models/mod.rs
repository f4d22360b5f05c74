//! What a source and a model can do, and the neutral request that follows from the settings (spec 06 §2). Knows no URL.

mod params;
mod source;
mod traits;
#[cfg(test)]
mod tests;

pub use params::{Params, params};
pub use source::Source;

/// Whether a text holds a pattern in which `.` stands for any one character, as in the reference's expressions.
pub(crate) fn like(text: &str, pattern: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    chars.windows(pattern.len().max(1)).any(|w| w.iter().zip(&pattern).all(|(c, p)| *p == '.' || c == p))
}
