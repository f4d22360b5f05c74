//! The file a vocabulary is shipped as: tokens in the order of their ranks <-> bytes.
//!
//! Layout (numbers little-endian):
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `PSTK` |
//! | 1 | version, 1 |
//! | 1 | split pattern: 0 o200k, 1 cl100k, 2 gpt2 |
//! | 1 | length of the name |
//! | 1 | number of groups, at most 255 |
//! | 4 | number of ranks |
//! | – | name of the encoding, UTF-8 |
//! | 1 a group | length of the group's tokens, 1 to 128 |
//! | 1 a rank | group of its token; 255: no token has this rank |
//! | – | the tokens' bytes, group after group, within a group by rank |
//! | 8 | [`checksum`] of all before |
//!
//! A group is made of tokens of one length and much the same letters. Grouped bytes compress a fifth better than
//! tokens in order, and can still be used where they lie.
//! This file stands alone: the tool that makes the assets compiles it too.

use std::collections::BTreeMap;

/// First bytes of a vocabulary.
pub(super) const MAGIC: &[u8; 4] = b"PSTK";
/// Version of the layout.
pub(super) const VERSION: u8 = 1;
/// Bytes before the name.
pub(super) const HEADER: usize = 12;
/// Stands for a rank that no token has.
pub(super) const HOLE: u8 = 255;
/// Bytes of the longest token that fits the layout.
pub const LONGEST: usize = 128;

/// Tokens that make a group of their own; a kind with fewer of a length shares with others of this length.
const WORTHWHILE: usize = 60;

/// A split pattern: how a text is cut before merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// o200k_base, o200k_harmony.
    O200k = 0,
    /// cl100k_base.
    Cl100k = 1,
    /// The pattern of GPT-2: r50k_base, p50k_base.
    Gpt2 = 2,
}

impl Pattern {
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::O200k),
            1 => Some(Self::Cl100k),
            2 => Some(Self::Gpt2),
            _ => None,
        }
    }
}

/// The vocabulary as a file. `tokens` by rank; an empty one is a rank without a token.
///
/// `None` if the tokens do not fit the layout: a token longer than [`LONGEST`], a name longer than 255 bytes, more
/// than 255 groups.
pub fn write<T: AsRef<[u8]>>(name: &str, pattern: Pattern, tokens: &[T]) -> Option<Vec<u8>> {
    let mut sizes = BTreeMap::new();
    for token in tokens.iter().map(AsRef::as_ref).filter(|t| !t.is_empty()) {
        *sizes.entry((kind(token), token.len())).or_insert(0usize) += 1;
    }
    let key = |token: &[u8]| {
        let key = (kind(token), token.len());
        if sizes.get(&key).is_some_and(|n| *n >= WORTHWHILE) { key } else { (u8::MAX, key.1) }
    };
    let mut groups = BTreeMap::<_, Vec<u8>>::new();
    for token in tokens.iter().map(AsRef::as_ref).filter(|t| !t.is_empty()) {
        groups.entry(key(token)).or_default().extend(token);
    }
    let numbers: BTreeMap<_, _> = groups.keys().zip(0..HOLE).collect();

    let mut out = MAGIC.to_vec();
    out.extend([VERSION, pattern as u8, u8::try_from(name.len()).ok()?]);
    out.push(u8::try_from(groups.len()).ok()?);
    out.extend(u32::try_from(tokens.len()).ok()?.to_le_bytes());
    out.extend(name.as_bytes());
    for (_, length) in groups.keys() {
        out.push(u8::try_from(*length).ok().filter(|l| usize::from(*l) <= LONGEST)?);
    }
    for token in tokens.iter().map(AsRef::as_ref) {
        out.push(if token.is_empty() { HOLE } else { *numbers.get(&key(token))? });
    }
    for bytes in groups.values() {
        out.extend(bytes);
    }
    out.extend(checksum(&out).to_le_bytes());
    Some(out)
}

/// What a token is kept with: small letters, capitals, other ASCII, or one of a dozen parts of Unicode, by its first
/// character behind a space. Any answer makes a valid file; this one compresses well.
fn kind(token: &[u8]) -> u8 {
    let lead = match token {
        [b' ', lead, ..] | [lead, ..] => *lead,
        [] => 0,
    };
    match lead {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        ..0x80 => 2,
        0xC2..0xC4 => 3,
        0xC4..0xD0 => 4,
        0xD0..0xD4 => 5,
        0xD4..0xE0 => 6,
        0xE0 => 7,
        0xE1..0xE3 => 8,
        0xE3 => 9,
        0xE4..0xEA => 10,
        0xEA..0xF0 => 11,
        _ => 12,
    }
}

/// Guards a vocabulary against damage (not against forgery): words of eight bytes, the last padded with zeros, mixed
/// one after the other.
pub fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let mut sum = bytes.len() as u64;
    for word in words.iter().chain([&last]) {
        sum = (sum ^ u64::from_le_bytes(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        sum ^= sum >> 29;
    }
    sum
}
