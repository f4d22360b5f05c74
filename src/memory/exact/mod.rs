//! Memory exactly as SillyTavern 1.19.0 has it (spec 10 Part 1). Pure functions: the caller has expanded macros, asked the index
//! and asked the model.

mod data_bank;
mod split;
mod summary;
mod sync;

pub use data_bank::{DATA_BANK_TEMPLATE, Found, LoreItem, data_bank_text, lore_to_embed, lore_to_force};
pub use split::{DELIMITERS, FileCut, file_chunks, split};
pub use summary::{DueRules, RawRules, SUMMARY_PROMPT, SUMMARY_TEMPLATE, Told, summary_text};
pub(in crate::memory) use sync::collapsed;
pub use sync::{Line, RecallRules, Recalled, Sync, query_text, recall, sync};
