//! What a source and a model can do (tokenizer, framing, tools, media), and the neutral request that follows from the
//! settings (spec 02 §9, §12.2, spec 06 §2). Knows no chat and no URL.

mod framing;
mod media;
mod params;
mod rules;
mod source;
mod tokenizer;
mod tools;
mod traits;
#[cfg(test)]
mod tests;

pub use framing::{Fields, Framing};
pub use media::{MediaKind, image_tokens, inlines, media_tokens};
pub use params::{Params, params};
pub(crate) use params::{number, remove};
pub use rules::BodyChange;
pub use source::Source;
pub use tokenizer::{encoder, encoding, tokenizer_id};
pub use tools::can_call_tools;

use serde_json::Value;

use crate::scene::Preset;

/// The source, the model chosen for it, and the entry of the source's model list when the page has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Who answers.
    pub source: Source,
    /// The model's name; may be empty.
    pub name: String,
    /// Its entry of the provider's list.
    pub entry: Option<Value>,
}

impl Model {
    /// The choice of a preset; an unknown source counts as `openai`, that of a first start of ST.
    pub fn of(preset: &Preset, entry: Option<&Value>) -> Self {
        let source = Source::named(preset.text("chat_completion_source", "openai")).unwrap_or(Source::OpenAi);
        Self { source, name: preset.text(source.model_key(), "").to_owned(), entry: entry.cloned() }
    }
}

/// Whether a text holds a pattern in which `.` stands for any one character, as in the reference's expressions.
pub(crate) fn like(text: &str, pattern: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    chars.windows(pattern.len().max(1)).any(|w| w.iter().zip(&pattern).all(|(c, p)| *p == '.' || c == p))
}
