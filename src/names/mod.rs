//! Names as people write them: a text and a list of names -> who is named, and where.
//!
//! [`key`] says when two spellings are the same name; [`Matcher`] finds mentions, [`Labels`] labels
//! at line starts. Spec 01 §P1. Knows no chat and no strategy:
//! who may speak is decided elsewhere.

mod class;
mod clusters;
mod compose;
mod decompose;
mod edges;
mod key;
mod labels;
mod masks;
mod mentions;
mod options;
mod patterns;
mod prop_table;
mod props;
mod tree;
mod words;

pub use class::{Script, has_cjk, is_cjk, is_letter, is_written, script};
pub use clusters::clusters;
pub use compose::Nfkc;
pub use key::{Diacritics, KeyChar, Keyed, key};
pub use labels::{Label, Labels, Look};
pub use mentions::{Matcher, Mention, MentionKind, Named, Recency};
pub use options::{Exclusive, MentionOptions, Shared};
pub use patterns::{MAX_NAME, bare};
pub use words::Words;
