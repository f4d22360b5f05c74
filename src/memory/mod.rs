//! What comes back into the prompt after the history has dropped it: summary, recall by meaning and by words, data bank, memory
//! of one character (spec 10).
//!
//! Plain data and pure functions: embedding and summarising are requests that the caller sends, at a moment of its own. Reading
//! order: [`exact`] (the reference's), then the product's: `summary`, `recall` with `query`, `index` and `bm25`, `budget`; at last
//! `store` (all that a chat's memory is), `jobs` (what there is to do) and `compose` (what goes into a request).
//! Must not know the prompt: what is recalled is a text under a key, and `injections` gives it a place.

mod bank;
mod bm25;
mod budget;
mod compose;
mod diff;
mod embed;
pub mod exact;
mod frame;
mod fuse;
mod hash;
mod index;
mod jobs;
mod private;
mod query;
mod recall;
mod settings;
mod smart;
mod store;
mod summary;
mod vectors;
mod view;
mod words;

pub use bank::{BankFile, FoundChunk, Scope, bank_text, spread};
pub use bm25::{Token, TokenKind, WordHit, WordIndex, tokens};
pub use budget::{Booked, Source, book};
pub use compose::{ComposeAsk, Composed, Remembered};
pub use diff::{Diff, Indexed, Wanted, diff};
pub use embed::{EmbedAsk, Embedder, Provider, Purpose, request as embed_request, vectors as embed_vectors};
pub use frame::{Markers, reference_frame};
pub use fuse::{RRF_K, fuse};
pub use hash::hash;
pub use index::{IndexItem, Precision, VectorHit, VectorIndex};
pub use jobs::{Job, LoreText, Outcome, Stored, Work};
pub use private::{Core, Episode, Status};
pub use query::{QueryRules, query, strip_names};
pub use recall::{
    Candidates, Excluded, Memo, Order, Picked, Recall, RecallSettings, candidates, message_scores, recall,
};
pub use settings::{BankSettings, EmbedSettings, MemoryPlace, MemorySettings, PrivateSettings};
pub use smart::{Split, cut_at_sentence, split_smart};
pub use store::{Memory, read_file};
pub use summary::{
    Active, Anchor, Due, DueWhy, SummaryRecord, SummaryRequest, SummarySettings, Verdict, active, due,
    injected, judge, request as summary_request,
};
pub use vectors::{dot, dot_bytes, quantise, unit};
pub use view::View;
pub use words::{ascii_words, words};
