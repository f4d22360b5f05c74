//! Texts with a shape of their own: example blocks, story strings, instruct sequences. Text and names in, pieces out. Knows no
//! chat and no budget.
//!
//! Spec: 02 §6, 01 §6.3-6.4, 07 §2-6.

mod examples;
mod handlebars;
mod instruct;

pub use examples::{Example, Speakers, Voice, parse_example, split_examples};
pub use handlebars::{TemplateError, handlebars};
pub use instruct::{
    Cast, LastLine, Said, Variant, examples, last_line, message, replace_name, story, with_heading,
};
