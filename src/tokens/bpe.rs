//! A text and a vocabulary -> how many tokens the text is, and which.
//!
//! Exact: equal to `tiktoken` for every text, special-token literals read as the text they are. Linear: the pieces of
//! the split pattern are merged by longest match with backtracking instead of one merge after the other.
//! Must not know: what a message is, or a model; frames around texts are added by `prompt`.

#![expect(
    clippy::inline_always,
    reason = "inner loops; the package is built for size, which inlines little by itself"
)]

use super::scan::Scanner;
use super::vocabulary::{NONE, Vocabulary, load};
use super::{Appender, Count};
use crate::error::{Code, Error};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Slots of the two memories, as powers of two.
const PIECE_BITS: u32 = 14;
const BORDER_BITS: u32 = 14;
/// Where [`Work::pieces`] keeps the number of tokens.
const TOKENS: u64 = 15 << 56;

/// An exact tokenizer. Made by [`Vocabulary::parse`].
#[derive(Debug)]
pub struct Bpe {
    pub(super) vocabulary: Vocabulary,
    pub(super) scanner: Scanner,
    work: Mutex<Work>,
}

/// What a count leaves behind for the next: memories that save work, and room to work in.
pub(super) struct Work {
    /// Pieces of at most 15 bytes that are no token: bytes 0 to 7; bytes 8 to 14, number of tokens (4 bits), length (4).
    pieces: Vec<(u64, u64)>,
    /// Answers of [`Vocabulary::keeps`]: left rank, right rank, answer.
    borders: Vec<u64>,
    /// Tokens of the piece so far, each with its start.
    stack: Vec<(u32, usize)>,
    /// Positions that no token may end at, a bit each.
    dead: Vec<u64>,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Work")
    }
}

impl Vocabulary {
    /// The tokenizer of a vocabulary file, already inflated. Errors: `tokens.vocabulary`.
    pub fn parse(bytes: Vec<u8>) -> Result<Bpe, Error> {
        let vocabulary = Self::read(bytes)?;
        let scanner = Scanner::new(vocabulary.pattern);
        let work = Work {
            pieces: vec![(0, 0); 1 << PIECE_BITS],
            borders: vec![u64::MAX; 1 << BORDER_BITS],
            stack: Vec::new(),
            dead: Vec::new(),
        };
        Ok(Bpe { vocabulary, scanner, work: Mutex::new(work) })
    }
}

impl Count for Bpe {
    fn count(&self, text: &str) -> u32 {
        self.count_up_to(text, u32::MAX)
    }

    fn count_up_to(&self, text: &str, limit: u32) -> u32 {
        let (bytes, mut at, mut total) = (text.as_bytes(), 0, 0u32);
        let mut work = self.work();
        while at < bytes.len() && total <= limit {
            let end = self.scanner.next(bytes, at);
            total = total.saturating_add(self.piece(&mut work, bytes, at, end));
            at = end;
        }
        total
    }

    fn append(&self, so_far: &mut Appender, text: &str) -> u32 {
        so_far.push(self, &mut self.work(), text)
    }

    fn exact(&self) -> bool {
        true
    }

    fn id(&self) -> &str {
        &self.vocabulary.name
    }
}

impl Bpe {
    /// The token ids of a text. Special-token literals are read as the text they are.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let (bytes, mut at, mut ids) = (text.as_bytes(), 0, Vec::new());
        let mut work = self.work();
        while at < bytes.len() {
            let end = self.scanner.next(bytes, at);
            match self.vocabulary.find(bytes, at, end - at) {
                NONE => {
                    self.merge(&mut work, bytes, at, end);
                    ids.extend(work.stack.iter().map(|(token, _)| *token));
                }
                token => ids.push(token),
            }
            at = end;
        }
        ids
    }

    /// The bytes that the ids stand for: a token may end inside a character. Error `option.unknown` at `ids[i]` for an
    /// id that the vocabulary does not have; special tokens are not part of it.
    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for (i, id) in ids.iter().enumerate() {
            bytes.extend(self.vocabulary.token_bytes(*id).ok_or_else(|| {
                Error::new(
                    Code::OptionUnknown,
                    format!("ids[{i}]"),
                    format!("{} has no token {id}", self.id()),
                )
            })?);
        }
        Ok(bytes)
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        // A panic elsewhere cannot leave a memory half written: each entry is written at once.
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tokens of one piece.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "at most 16 bytes where it casts")]
    pub(super) fn piece(&self, work: &mut Work, bytes: &[u8], from: usize, to: usize) -> u32 {
        let length = to - from;
        if length == 1 {
            return 1;
        }
        if length > 15 {
            if self.vocabulary.find(bytes, from, length) != NONE {
                return 1;
            }
            self.merge(work, bytes, from, to);
            return u32::try_from(work.stack.len()).unwrap_or(u32::MAX);
        }
        let head = load(bytes, from, length);
        let found = match length {
            2..=7 => self.vocabulary.find_short(head, length),
            _ => self.vocabulary.find_long(bytes, from, length),
        };
        if found != NONE {
            return 1;
        }
        let tail = if length > 8 { load(bytes, from + 8, length - 8) } else { 0 } | (length as u64) << 60;
        let slot = (head ^ tail.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PIECE_BITS);
        if let Some(known) = work.pieces.get(slot as usize)
            && (known.0, known.1 & !TOKENS) == (head, tail)
        {
            return (known.1 >> 56 & 15) as u32;
        }
        self.merge(work, bytes, from, to);
        let tokens = work.stack.len() as u32;
        if let Some(known) = work.pieces.get_mut(slot as usize) {
            *known = (head, tail | u64::from(tokens) << 56);
        }
        tokens
    }

    /// Merges one piece; its tokens are then on `work.stack`.
    ///
    /// Takes the longest token each time, as long as merging keeps the border to the token before. If it does not, the
    /// next shorter token is tried; if none is left, the token before is taken back and shortened. A position once left
    /// this way is never tried again, so the work is linear in the piece. The result has only borders that merging
    /// keeps, and only one such sequence exists: the one that merging makes.
    #[inline(never)]
    fn merge(&self, work: &mut Work, bytes: &[u8], from: usize, to: usize) {
        work.stack.clear();
        work.dead.clear();
        work.dead.resize((to - from) / 64 + 1, 0);
        let (mut at, mut most, mut before) = (from, to - from, NONE);
        while at < to {
            let (token, length) = self.vocabulary.longest(bytes, at, most);
            if length == 0 {
                let place = at - from;
                if let Some(word) = work.dead.get_mut(place / 64) {
                    *word |= 1 << (place % 64);
                }
                // Single bytes always fit the first place, so there is a token to take back.
                let Some((shorten, start)) = work.stack.pop() else { return };
                at = start;
                most = self.vocabulary.token(shorten).length() - 1;
                before = work.stack.last().map_or(NONE, |(token, _)| *token);
                continue;
            }
            let place = at + length - from;
            let dead = work.dead.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 != 0);
            if !dead && self.keeps(work, bytes, at, before, token) {
                work.stack.push((token, at));
                before = token;
                at += length;
                most = to - at;
            } else {
                most = length - 1;
            }
        }
    }

    /// Whether merging keeps the border at `at` between two tokens; `left` may be [`NONE`]. Answers are remembered.
    #[inline(always)]
    pub(super) fn keeps(&self, work: &mut Work, bytes: &[u8], at: usize, left: u32, right: u32) -> bool {
        if left == NONE || self.vocabulary.never_joined(bytes, at) {
            return true;
        }
        let key = u64::from(left) << 19 | u64::from(right) << 1;
        let slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BORDER_BITS)) as usize;
        if let Some(known) = work.borders.get(slot)
            && known & !1 == key
        {
            return known & 1 != 0;
        }
        let keeps = self.vocabulary.keeps(bytes, at, left, right, NONE);
        if let Some(known) = work.borders.get_mut(slot) {
            *known = key | u64::from(keeps);
        }
        keeps
    }
}
