//! Parts to one list of messages under a token budget, with a ledger of every token (spec 02).

mod budget;
pub mod chat;

pub use budget::{Budget, Overflow};
