//! Who speaks next, the exact request for that speaker, and the cleaned reply: everything that a role-play chat
//! frontend decides before and after one call to a language model.
//!
//! The order of the modules below is the law: a later module may use an earlier one, never the other way round
//! (`tests/it/layers.rs` reads the imports and holds it). Start reading at [`turn`].
//!
//! Nothing here fetches, sleeps, stores, reads a clock or rolls a die by itself: randomness, time, zone and locale
//! are given by the caller ([`host`]), and what a call would change comes back as data.

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::string_slice,
        clippy::disallowed_methods,
        reason = "tests compare exact values and own their inputs"
    )
)]

pub mod error;
// ground: knows no chat
pub mod js;
pub mod host;
pub mod tokens;
// nouns: data, no decisions
pub mod profile;
pub mod scene;
pub mod models;
pub mod parts;
// tools: one job on text
pub mod files;
pub mod names;
pub mod macros;
pub mod scripts;
pub mod templates;
pub mod sentences;
// steps: the way of a turn, in order
pub mod speakers;
pub mod history;
pub mod memory;
pub mod injections;
pub mod lore;
pub mod prompt;
pub mod provider;
pub mod reply;
// above
pub mod turn;
pub mod room;
pub mod api;
#[cfg(target_arch = "wasm32")]
mod wasm;

pub use error::{Code, Error};
