//! Texts with a shape of their own: example blocks. Text and names in, pieces out. Knows no chat and no budget.
//!
//! Spec: 02 §6, 01 §6.3-6.4.

mod examples;

pub use examples::{Example, Speakers, Voice, parse_example, split_examples};
