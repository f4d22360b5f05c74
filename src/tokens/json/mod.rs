//! A tokenizer as a file: `tokenizer.json`, which comes with a model -> exact counts for that model.
//!
//! The file names its parts: added tokens (`added`), changes to the text (`normalize`), cuts (`pieces`, with `split` and
//! `oniguruma`), and a model that makes tokens of each piece (`bpe`, `unigram`, `wordpiece`). Counts are those of plain
//! text: tokens that the file calls special are read as the text they are, and what a post-processor would put around
//! a text is not counted. A part that is not known is an error that names it. Files are strangers': no file and no text
//! makes this panic, and the time for a text is bounded.

mod added;
mod bpe;
mod bytes;
mod fields;
mod normalize;
mod oniguruma;
mod pieces;
mod split;
mod unigram;
mod wordpiece;
mod words;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use added::{Added, Part};
use bpe::Bpe;
use fields::{Field, too_large, unsupported, wrong};
pub use normalize::Normalize;
use pieces::Pieces;
use unigram::Unigram;
use wordpiece::WordPiece;

use super::Count;
use crate::error::Error;
use crate::js;

/// Bytes of a file.
const LARGEST: usize = 1 << 28;

/// Pieces whose counts are remembered, and bytes of the longest.
const REMEMBERED: usize = 1 << 13;
const LONGEST_REMEMBERED: usize = 64;

/// What makes tokens of a piece.
#[derive(Debug)]
enum Model {
    Bpe(Box<Bpe>),
    Unigram(Box<Unigram>),
    WordPiece(Box<WordPiece>),
}

/// A tokenizer from a `tokenizer.json`.
#[derive(Debug)]
pub struct FileTokenizer {
    name: String,
    /// Tokens that are found in the text as it comes.
    added: Added,
    normalizers: Vec<normalize::Step>,
    /// Tokens that are found in the normalized text.
    added_after: Added,
    pieces: Vec<pieces::Step>,
    model: Model,
    /// A text was too much for a pattern, or held what the file has no token for.
    guessed: AtomicBool,
    work: Mutex<Work>,
}

#[derive(Default)]
struct Work {
    bpe: bpe::Work,
    tokens: Vec<u32>,
    /// Pieces and their numbers of tokens, each at the place of its hash.
    known: Vec<(String, u32)>,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Work")
    }
}

impl FileTokenizer {
    /// Reads a `tokenizer.json`; `name` becomes the counter's id. `normalize` gives Unicode's normal forms; without it, a
    /// file that wants one is refused. Errors: `json.*`, `tokens.file`, `tokens.unsupported`, `limit.reached`.
    pub fn parse(name: &str, file: &[u8], normalize: Option<Normalize>) -> Result<Self, Error> {
        if file.len() > LARGEST {
            return Err(too_large("", "a tokenizer.json of more than 256 MB"));
        }
        let text = str::from_utf8(file).map_err(|_| wrong("", "the file is not UTF-8 text"))?;
        let (mut root, _) = js::parse(text.strip_prefix('\u{feff}').unwrap_or(text))?;
        let mut model =
            root.get_mut("model").map(Value::take).ok_or_else(|| wrong("model", "the field is missing"))?;
        let root = Field::new(&root, "");
        let mut normalizers = Vec::new();
        if let Some(field) = root.get("normalizer") {
            normalize::read(&field, normalize, 0, &mut normalizers)?;
        }
        let mut pieces = Vec::new();
        if let Some(field) = root.get("pre_tokenizer") {
            pieces::read(&field, 0, &mut pieces)?;
        }
        let (added, added_after) = added::read(&root, &normalizers)?;
        Ok(Self {
            name: name.to_owned(),
            added,
            normalizers,
            added_after,
            pieces,
            model: Model::read(&mut model)?,
            guessed: AtomicBool::new(false),
            work: Mutex::default(),
        })
    }

    /// The ids of a text's tokens.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let mut out = Vec::new();
        self.each(text, |work, part| match part {
            Ok(piece) => self.model.tokens(work, piece, &mut out),
            Err(id) => {
                out.push(id);
                true
            }
        });
        out
    }

    /// Calls back with each piece or added token; what the callback calls false makes counts no longer exact.
    fn each(&self, text: &str, mut found: impl FnMut(&mut Work, Result<&str, u32>) -> bool) {
        // A panic elsewhere leaves at worst a remembered piece without its count, which is written last.
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let mut exact = true;
        for part in self.added.parts(text) {
            let (from, to) = match part {
                Part::Text(from, to) => (from, to),
                Part::Token(id) => {
                    exact &= found(&mut work, Err(id));
                    continue;
                }
            };
            let mut normalized = text.get(from..to).unwrap_or("").to_owned();
            for step in &self.normalizers {
                exact &= step.apply(&mut normalized) && normalized.len() <= normalize::most(to - from);
                if !exact {
                    break;
                }
            }
            for part in self.added_after.parts(&normalized) {
                let (start, end) = match part {
                    Part::Text(start, end) => (start, end),
                    Part::Token(id) => {
                        exact &= found(&mut work, Err(id));
                        continue;
                    }
                };
                let stretch = normalized.get(start..end).unwrap_or("").to_owned();
                let mut pieces = Pieces::new(stretch, from == 0 && start == 0);
                for step in &self.pieces {
                    exact &= pieces.apply(step);
                }
                for piece in pieces.iter() {
                    exact &= found(&mut work, Ok(piece));
                }
            }
        }
        if !exact {
            self.guessed.store(true, Ordering::Relaxed);
        }
    }

    /// The number of a piece's tokens; false where it is a guess.
    fn piece(&self, work: &mut Work, piece: &str) -> (u32, bool) {
        let place =
            usize::try_from(words::hashed(words::SEED, piece.as_bytes()) >> 7).unwrap_or(0) % REMEMBERED;
        let short = piece.len() <= LONGEST_REMEMBERED;
        if short
            && let Some((known, tokens)) = work.known.get(place)
            && known == piece
        {
            return (*tokens, true);
        }
        let mut ids = std::mem::take(&mut work.tokens);
        ids.clear();
        let exact = self.model.tokens(work, piece, &mut ids);
        let tokens = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        work.tokens = ids;
        if short && exact {
            if work.known.is_empty() {
                work.known.resize(REMEMBERED, (String::new(), 0));
            }
            if let Some(known) = work.known.get_mut(place) {
                known.0.clear();
                known.0.push_str(piece);
                known.1 = tokens;
            }
        }
        (tokens, exact)
    }
}

impl Count for FileTokenizer {
    fn count(&self, text: &str) -> u32 {
        let mut total = 0_u32;
        self.each(text, |work, part| {
            let (tokens, exact) = part.map_or((1, true), |piece| self.piece(work, piece));
            total = total.saturating_add(tokens);
            exact
        });
        total
    }

    /// False once a text was too much for the file's patterns, or held what it has no token for.
    fn exact(&self) -> bool {
        !self.guessed.load(Ordering::Relaxed)
    }

    fn id(&self) -> &str {
        &self.name
    }

    fn ids(&self, text: &str) -> Option<Vec<u32>> {
        Some(self.encode(text))
    }
}

impl Model {
    fn read(model: &mut Value) -> Result<Self, Error> {
        // Old files leave the type out.
        let kind = match model.get("type").and_then(Value::as_str) {
            Some(kind) => kind.to_owned(),
            None if model.get("merges").is_some() => "BPE".to_owned(),
            None if model.get("vocab").is_some_and(Value::is_array) => "Unigram".to_owned(),
            None => "WordPiece".to_owned(),
        };
        Ok(match kind.as_str() {
            "BPE" => Self::Bpe(Box::new(Bpe::read(model)?)),
            "Unigram" => Self::Unigram(Box::new(Unigram::read(model)?)),
            "WordPiece" => Self::WordPiece(Box::new(WordPiece::read(model)?)),
            other => return Err(unsupported("model.type", &format!("the model {other:?}"))),
        })
    }

    /// Appends the tokens of a piece; false where they are a guess.
    fn tokens(&self, work: &mut Work, piece: &str, out: &mut Vec<u32>) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.tokens(&mut work.bpe, piece, out),
            Self::WordPiece(model) => model.tokens(piece, out),
            Self::Unigram(model) => return model.tokens(piece, out),
        }
        true
    }
}

#[cfg(test)]
mod tests;
