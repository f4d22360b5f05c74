//! Counting tokens.

mod append;
pub mod asset;
mod bpe;
mod classes;
#[cfg(all(feature = "tiktoken-rs", not(target_arch = "wasm32")))]
mod engine;
mod estimate;
mod json;
mod remembered;
mod scan;
mod supplied;
mod vocabulary;

pub use append::Appender;
pub use bpe::Bpe;
#[cfg(all(feature = "tiktoken-rs", not(target_arch = "wasm32")))]
pub use engine::TiktokenRs;
pub use estimate::{ByScript, CodePoints, Estimate};
pub use json::{FileTokenizer, Normalize};
pub use remembered::Remembered;
pub use supplied::Supplied;
pub use vocabulary::Vocabulary;

/// Counts the tokens of a text. The other side may be outside the crate: a page can bring its own counts.
pub trait Count {
    /// Tokens of one plain text; special-token literals count as the text they are.
    fn count(&self, text: &str) -> u32;
    /// Whether counts are exact for the model, or an estimate.
    fn exact(&self) -> bool;
    /// A stable name: `o200k_base`, `codepoints`, `estimate` …
    fn id(&self) -> &str;
    /// The count if it is at most `limit`, else some number above `limit`: may stop reading early.
    fn count_up_to(&self, text: &str, limit: u32) -> u32 {
        let _ = limit;
        self.count(text)
    }
    /// The count of a text that grows: adds `text` to what `so_far` holds, and counts all of it.
    ///
    /// [`Bpe`] does work for the new text alone; the default counts everything again.
    fn append(&self, so_far: &mut Appender, text: &str) -> u32 {
        self.count(so_far.add(text))
    }
    /// The ids of a text's tokens, where they are known.
    fn ids(&self, text: &str) -> Option<Vec<u32>> {
        let _ = text;
        None
    }
    /// The counts of several texts, in order.
    fn count_each(&self, texts: &[&str]) -> Vec<u32> {
        texts.iter().map(|text| self.count(text)).collect()
    }
}
