//! What wants a place in the prompt besides the preset: texts under keys with position, depth and role (spec 05 §8-14).
//!
//! Scene, note, persona and character notes in; one table out, in the order of registration. Where a text
//! lands is the assembler's to decide. Summary and recalled texts are ordinary entries under their public keys
//! (`1_memory`, `3_vectors`, `4_vectors_data_bank`).

mod notes;
mod table;

pub use notes::{AuthorNote, author_note, character_notes, persona};
pub use table::{
    AUTHOR_NOTE, DATA_BANK, DEPTH_PROMPT, Injection, Injections, PERSONA, Position, QUIET, SMART_CONTEXT,
    SUMMARY, VECTORS,
};
