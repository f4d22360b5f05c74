//! WordPiece: the longest token each time, or the whole piece is unknown.

use serde_json::Value;

use super::bpe::vocabulary;
use super::fields::{Field, too_large, wrong};
use super::unigram::LONGEST;
use super::words::Words;
use crate::error::Error;

/// The model.
#[derive(Debug)]
pub(super) struct WordPiece {
    words: Words,
    unknown: u32,
    prefix: String,
    /// Characters of the longest word that is looked at.
    most: usize,
}

impl WordPiece {
    pub(super) fn read(model: &mut Value) -> Result<Self, Error> {
        let words = vocabulary(model)?;
        if words.longest > LONGEST {
            return Err(too_large("model.vocab", "a token is too long"));
        }
        let field = Field::new(model, "model");
        let unknown = if field.get("unk_token").is_some() { field.text("unk_token")? } else { "[UNK]" };
        let unknown = words
            .get(unknown.as_bytes())
            .ok_or_else(|| wrong("model.unk_token", "is not in the vocabulary"))?;
        let prefix = match field.get("continuing_subword_prefix") {
            Some(_) => field.text("continuing_subword_prefix")?,
            None => "##",
        };
        let most = field.get("max_input_chars_per_word").map_or(Some(100), |m| m.value.as_u64());
        let most = most.and_then(|m| usize::try_from(m).ok());
        let most = most.ok_or_else(|| wrong("model.max_input_chars_per_word", "must be a number"))?;
        Ok(Self { words, unknown, prefix: prefix.to_owned(), most })
    }

    /// Appends the tokens of a piece.
    pub(super) fn tokens(&self, piece: &str, out: &mut Vec<u32>) {
        let (start, mut at) = (out.len(), 0);
        let short = piece.chars().nth(self.most).is_none();
        while short && at < piece.len() {
            let before = if at == 0 { "" } else { self.prefix.as_str() };
            let mut longest = None;
            self.words.prefixes(
                before.as_bytes(),
                piece.as_bytes().get(at..).unwrap_or(&[]),
                |length, id| {
                    longest = Some((length, id));
                },
            );
            let Some((length, id)) = longest else { break };
            out.push(id);
            at += length;
        }
        if at < piece.len() {
            out.truncate(start);
            out.push(self.unknown);
        }
    }
}
