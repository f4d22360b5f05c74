//! Byte-pair encoding as files describe it: with bytes as a fallback, unknown tokens, marks of beginnings and ends.
//!
//! Merging takes the pair of the lowest rank first, the leftmost of equals, off a heap: n log n for a piece of n
//! characters, whatever they are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde_json::Value;

use super::bytes;
use super::fields::{self, Field, too_large, unsupported, wrong};
use super::words::{Pairs, Words};
use crate::error::Error;

/// No token, no neighbour.
const NONE: u32 = u32::MAX;
/// Tokens of a vocabulary.
const MOST: usize = 1 << 22;

/// The model.
#[derive(Debug)]
pub(super) struct Bpe {
    words: Words,
    /// Rank and id of what the pair becomes.
    merges: Pairs,
    /// Tokens that stand for bytes, by byte.
    bytes: Option<Vec<Option<u32>>>,
    unknown: Option<u32>,
    fuse_unknown: bool,
    prefix: String,
    suffix: String,
    ignore_merges: bool,
}

/// A token of the piece.
#[derive(Clone, Copy)]
struct Symbol {
    id: u32,
    before: u32,
    behind: u32,
}

/// Room to work in.
#[derive(Default)]
pub(super) struct Work {
    symbols: Vec<Symbol>,
    heap: BinaryHeap<Reverse<u64>>,
    name: String,
}

/// The vocabulary of a model: an object of numbers by token.
pub(super) fn vocabulary(model: &mut Value) -> Result<Words, Error> {
    let path = "model.vocab";
    let Some(Value::Object(vocab)) = model.get_mut("vocab").map(Value::take) else {
        return Err(wrong(path, "must be an object of numbers by token"));
    };
    if vocab.len() > MOST {
        return Err(too_large(path, "more than 4,194,304 tokens"));
    }
    let mut words = Words::new(vocab.len());
    for (token, id) in &vocab {
        let id = fields::id(id).ok_or_else(|| wrong(format!("{path}.{token}"), "must be a number"))?;
        if !words.insert(token.as_bytes(), id) {
            return Err(too_large(path, "the tokens are too many or too alike"));
        }
    }
    Ok(words)
}

/// The tokens `<0x00>` to `<0xFF>`, those that are there.
pub(super) fn byte_tokens(words: &Words) -> Vec<Option<u32>> {
    (0..=255).map(|byte| words.get(bytes::token(byte).as_bytes())).collect()
}

/// The bytes of a text as tokens, if all are there.
pub(super) fn as_bytes(table: &[Option<u32>], text: &str, mut add: impl FnMut(u32)) -> bool {
    let token = |byte: u8| table.get(usize::from(byte)).copied().flatten();
    let all = text.bytes().all(|byte| token(byte).is_some());
    if all {
        text.bytes().filter_map(token).for_each(&mut add);
    }
    all
}

impl Bpe {
    pub(super) fn read(model: &mut Value) -> Result<Self, Error> {
        let words = vocabulary(model)?;
        let merges = model.get_mut("merges").map(Value::take);
        let field = Field::new(model, "model");
        if field.get("dropout").is_some_and(|d| d.value.as_f64() != Some(0.0)) {
            return Err(unsupported("model.dropout", "dropout"));
        }
        let text = |key: &str| field.get(key).map_or(Ok(""), |_| field.text(key)).map(str::to_owned);
        let prefix = text("continuing_subword_prefix")?;
        let missing = || wrong("model.unk_token", "is not in the vocabulary");
        let unknown = if field.get("unk_token").is_some() {
            Some(words.get(field.text("unk_token")?.as_bytes()).ok_or_else(missing)?)
        } else {
            None
        };
        let bytes = field.flag("byte_fallback", false)?.then(|| byte_tokens(&words));
        Ok(Self {
            merges: pairs(merges, &words, &prefix)?,
            bytes,
            unknown,
            fuse_unknown: field.flag("fuse_unk", false)?,
            suffix: text("end_of_word_suffix")?,
            ignore_merges: field.flag("ignore_merges", false)?,
            prefix,
            words,
        })
    }

    /// Appends the tokens of a piece.
    pub(super) fn tokens(&self, work: &mut Work, piece: &str, out: &mut Vec<u32>) {
        if self.ignore_merges
            && let Some(id) = self.words.get(piece.as_bytes())
        {
            out.push(id);
            return;
        }
        work.symbols.clear();
        work.heap.clear();
        self.characters(work, piece);
        self.merge(work);
        out.extend(work.symbols.iter().map(|symbol| symbol.id).filter(|id| *id != NONE));
    }

    /// The tokens of the characters.
    fn characters(&self, work: &mut Work, piece: &str) {
        let mut pending = false;
        let mut chars = piece.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let end = chars.peek().map_or(piece.len(), |next| next.0);
            let mut token = piece.get(at..end).unwrap_or("");
            let (first, last) = (at == 0, end == piece.len());
            if !first && !self.prefix.is_empty() || last && !self.suffix.is_empty() {
                work.name.clear();
                if !first {
                    work.name.push_str(&self.prefix);
                }
                work.name.push(c);
                if last {
                    work.name.push_str(&self.suffix);
                }
                token = &work.name;
            }
            if let Some(id) = self.words.get(token.as_bytes()) {
                if std::mem::take(&mut pending) {
                    push(&mut work.symbols, self.unknown);
                }
                push(&mut work.symbols, Some(id));
                continue;
            }
            let symbols = &mut work.symbols;
            if self.bytes.as_ref().is_some_and(|table| as_bytes(table, token, |id| push(symbols, Some(id)))) {
                continue;
            }
            if self.unknown.is_some() {
                if pending && !self.fuse_unknown {
                    push(&mut work.symbols, self.unknown);
                }
                pending = true;
            }
        }
        if pending {
            push(&mut work.symbols, self.unknown);
        }
        if let Some(last) = work.symbols.last_mut() {
            last.behind = NONE;
        }
    }

    fn merge(&self, work: &mut Work) {
        let Work { symbols, heap, .. } = work;
        let offer = |heap: &mut BinaryHeap<_>, symbols: &[Symbol], at: u32| {
            let Some(left) = symbols.get(at as usize) else { return };
            let Some(right) = symbols.get(left.behind as usize) else { return };
            if let Some(found) = self.merges.get(left.id, right.id) {
                heap.push(Reverse(found & !0xFFFF_FFFF | u64::from(at)));
            }
        };
        for at in 0..u32::try_from(symbols.len()).unwrap_or(0) {
            offer(heap, symbols, at);
        }
        while let Some(Reverse(best)) = heap.pop() {
            let at = (best & 0xFFFF_FFFF) as usize;
            let Some(left) = symbols.get(at).copied().filter(|left| left.id != NONE) else { continue };
            let Some(right) = symbols.get(left.behind as usize).copied() else { continue };
            // What was offered may be gone since.
            let Some(found) = self.merges.get(left.id, right.id).filter(|f| f >> 32 == best >> 32) else {
                continue;
            };
            let at = (best & 0xFFFF_FFFF) as u32;
            if let Some(joined) = symbols.get_mut(at as usize) {
                joined.id = (found & 0xFFFF_FFFF) as u32;
                joined.behind = right.behind;
            }
            if let Some(gone) = symbols.get_mut(left.behind as usize) {
                gone.id = NONE;
            }
            if let Some(next) = symbols.get_mut(right.behind as usize) {
                next.before = at;
                offer(heap, symbols, at);
            }
            offer(heap, symbols, left.before);
        }
    }
}

fn push(symbols: &mut Vec<Symbol>, id: Option<u32>) {
    let Some(id) = id else { return };
    let at = u32::try_from(symbols.len()).unwrap_or(NONE);
    symbols.push(Symbol { id, before: at.wrapping_sub(1), behind: at.saturating_add(1) });
}

/// The merges: `"a b"` or `["a", "b"]`, in order.
fn pairs(merges: Option<Value>, words: &Words, prefix: &str) -> Result<Pairs, Error> {
    let path = "model.merges";
    let Some(Value::Array(list)) = merges else { return Err(wrong(path, "must be a list")) };
    let mut pairs = Pairs::new(list.len());
    let mut joined = String::new();
    for (rank, merge) in (0..u32::MAX >> 1).zip(&list) {
        let halves = match merge {
            Value::String(text) => text.split_once(' ').filter(|halves| !halves.1.contains(' ')),
            Value::Array(halves) => match halves.as_slice() {
                [a, b] => a.as_str().zip(b.as_str()),
                _ => None,
            },
            _ => None,
        };
        let at = || format!("{path}[{rank}]");
        let (left, right) = halves.ok_or_else(|| wrong(at(), "must be two tokens"))?;
        joined.clear();
        joined.push_str(left);
        joined.push_str(right.strip_prefix(prefix).unwrap_or(right));
        let id = |token: &str| {
            words
                .get(token.as_bytes())
                .ok_or_else(|| wrong(at(), &format!("{token:?} is not in the vocabulary")))
        };
        let value = u64::from(rank) << 32 | u64::from(id(&joined)?);
        if !pairs.insert(id(left)?, id(right)?, value) {
            return Err(too_large(path, "the merges are too many or too alike"));
        }
    }
    Ok(pairs)
}
