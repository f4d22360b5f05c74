//! Parts to one list of messages (spec 02) or one text (spec 07) under a token budget, with a ledger of every token.
//!
//! Differs under `prompt.*` ([`crate::profile`]). Faults of spec 02 that have no switch: F-03 (the fill ends at the first message that
//! does not fit) stays, and is told as `after_cut`; F-12 and F-43 are told as `override_discarded` and `stop_limit`; F-47 is
//! settled by the parts of a report; F-29 belongs to `provider.names`; of F-32 only the
//! parts that need no picture are here, since costs can be given with the item; F-37 and F-46 are additions to the reference, not
//! repairs; F-49 is about its documentation.

mod budget;
pub mod chat;
pub mod text;

pub use budget::{Budget, Overflow};
