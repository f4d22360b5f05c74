//! What JavaScript means by trim, white space, lower case, numbers, rounding, UTF-16 offsets, RegExp and JSON text.
//!
//! The reference is a JavaScript program and its users' files were made by it, so "equal" means equal to these rules and
//! not to Rust's. `clippy.toml` bans the Rust functions that look alike.
//! Text is UTF-8 inside; a lone surrogate from JavaScript became U+FFFD at the boundary (spec 04 Part 3 rule 10).

mod date;
mod json;
mod number;
mod parse;
pub mod regexp;
mod sort;
mod text;
mod yaml;

pub use date::iso_date;
pub use json::{object, put, stringify, stringify_pretty, texts, to_json};
pub use number::{number_text, round, to_boolean, to_integer, to_number, value_to_number, value_to_text};
pub use parse::{parse, parse_halves};
pub use sort::{sort_by, sort_by_key};
pub use text::{
    cmp16, encode_uri_component, find16, is_line_end, is_space, is_word, len16, lines, lower, slice16,
    to_byte, to_utf16, trim, trim_end, trim_start, upper,
};
pub use yaml::parse_yaml;
