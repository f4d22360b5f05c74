//! The Unigram model: of all ways to make a piece of tokens, the one whose scores add up to the most.

use serde_json::Value;

use super::bpe::{as_bytes, byte_tokens};
use super::fields::{Field, too_large, wrong};
use super::words::Words;
use crate::error::Error;

/// Less than the worst token's score: what an unknown character costs.
const PENALTY: f64 = 10.0;
/// Bytes of a token. The time for a text is its length times that of the longest token.
pub(super) const LONGEST: usize = 512;

/// The model.
#[derive(Debug)]
pub(super) struct Unigram {
    words: Words,
    scores: Vec<f64>,
    unknown: Option<u32>,
    unknown_score: f64,
    bytes: Option<Vec<Option<u32>>>,
}

/// The best way to a place.
#[derive(Clone, Copy)]
struct Best {
    from: usize,
    id: u32,
    score: f64,
}

/// Stands for the unknown token where the file names none.
const UNNAMED: u32 = u32::MAX;

impl Unigram {
    pub(super) fn read(model: &mut Value) -> Result<Self, Error> {
        let path = "model.vocab";
        let Some(Value::Array(vocab)) = model.get_mut("vocab").map(Value::take) else {
            return Err(wrong(path, "must be a list of tokens with scores"));
        };
        let mut words = Words::new(vocab.len());
        let mut scores = Vec::with_capacity(vocab.len());
        for (id, entry) in (0..u32::MAX >> 1).zip(&vocab) {
            let entry = entry.as_array().and_then(|e| match e.as_slice() {
                [token, score] => token.as_str().zip(score.as_f64()),
                _ => None,
            });
            let (token, score) =
                entry.ok_or_else(|| wrong(format!("{path}[{id}]"), "must be [token, score]"))?;
            if token.len() > LONGEST || !words.insert(token.as_bytes(), id) {
                return Err(too_large(
                    format!("{path}[{id}]"),
                    "the tokens are too long, too many or too alike",
                ));
            }
            scores.push(score);
        }
        let field = Field::new(model, "model");
        let unknown = match field.get("unk_id") {
            None => None,
            Some(id) => {
                let known = super::fields::id(id.value).filter(|id| (*id as usize) < scores.len());
                Some(known.ok_or_else(|| wrong(id.path, "is no place in the vocabulary"))?)
            }
        };
        let bytes = field.flag("byte_fallback", false)?.then(|| byte_tokens(&words));
        let worst = scores.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(Self { words, scores, unknown, unknown_score: worst - PENALTY, bytes })
    }

    /// Appends the tokens of a piece; false where it holds what the vocabulary has no token for, not even an unknown one.
    pub(super) fn tokens(&self, piece: &str, out: &mut Vec<u32>) -> bool {
        let unknown = self.unknown.unwrap_or(UNNAMED);
        let mut best: Vec<Option<Best>> = vec![None; piece.len() + 1];
        for (from, c) in piece.char_indices() {
            let so_far = best.get(from).copied().flatten().map_or(0.0, |b| b.score);
            let mut offer = |to: usize, id: u32, score: f64| {
                let score = so_far + score;
                if let Some(place) = best.get_mut(to)
                    && place.is_none_or(|known| score > known.score)
                {
                    *place = Some(Best { from, id, score });
                }
            };
            let mut single = false;
            self.words.prefixes(b"", piece.as_bytes().get(from..).unwrap_or(&[]), |length, id| {
                single |= length == c.len_utf8();
                offer(from + length, id, self.scores.get(id as usize).copied().unwrap_or(0.0));
            });
            if !single {
                offer(from + c.len_utf8(), unknown, self.unknown_score);
            }
        }
        // Back from the end; unknown characters side by side are one.
        let mut way: Vec<(usize, usize, u32)> = Vec::new();
        let mut to = piece.len();
        while to > 0 {
            let Some(step) = best.get(to).copied().flatten() else { break };
            match way.last_mut().filter(|last| last.2 == unknown && step.id == unknown) {
                Some(last) => last.0 = step.from,
                None => way.push((step.from, to, step.id)),
            }
            to = step.from;
        }
        let mut known = true;
        for &(from, to, id) in way.iter().rev() {
            if id != unknown {
                out.push(id);
                continue;
            }
            let text = piece.get(from..to).unwrap_or("");
            let bytes = self.bytes.as_ref().is_some_and(|table| as_bytes(table, text, |id| out.push(id)));
            if !bytes {
                known &= self.unknown.is_some();
                out.push(id);
            }
        }
        known
    }
}
