//! The promise of the Rust crate, in one test binary.
#![allow(
    clippy::float_cmp,
    clippy::string_slice,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "tests compare exact values and own their inputs"
)]

mod docs;
mod cleanup;
mod converters;
mod file_bounds;
mod file_writing;
mod formats;
mod golden;
mod layers;
mod messages;
mod lore;
mod lore_props;
mod lore_room;
mod lore_spec;
mod mentions;
mod memory;
mod memory_room;
mod token_texts;
mod tokens;
mod replay;
mod room;
mod room_model;
mod room_more;
mod room_rounds;
mod room_tables;
mod room_tail;
mod rooms;
mod scheduler;
mod speakers;
mod unicode;
mod regex;
mod regexp_v8;
mod postprocess;
mod prompt;
mod prompt_random;
mod provider;
mod provider_wire;
mod macros;
mod truncate;
mod stream;
mod macros_builtins;
mod textcompletion;
mod text_spec;
mod macros_fixed;
mod macros_spec;
