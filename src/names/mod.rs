//! Names as people write them. [`key`] says when two spellings are the same name.
//!
//! Spec 01 §P1. Knows no chat and no strategy: who may speak is decided elsewhere.

mod class;
mod decompose;
mod key;
mod mark_ranges;
mod marks;

pub use key::{Diacritics, KeyChar, Keyed, key};
