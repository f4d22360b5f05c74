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
//! Grouped bytes compress about a tenth better than tokens in order, and can still be used where they lie.
//! This file stands alone: the tool that makes the assets compiles it too.

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

/// The vocabulary as a file. `tokens` by rank; an empty one is a rank without a token. Tokens of one `kind` and length
/// are stored together: the more alike they are, the better the file compresses.
///
/// `None` if the tokens do not fit the layout: a token longer than [`LONGEST`], a name longer than 255 bytes, more
/// than 255 groups.
pub fn write<T: AsRef<[u8]>>(
    name: &str,
    pattern: Pattern,
    tokens: &[T],
    kind: impl Fn(&[u8]) -> u8,
) -> Option<Vec<u8>> {
    let key = |t: &T| (kind(t.as_ref()), t.as_ref().len());
    let mut groups: Vec<_> = tokens.iter().filter(|t| !t.as_ref().is_empty()).map(key).collect();
    groups.sort_unstable();
    groups.dedup();

    let mut out = MAGIC.to_vec();
    out.extend([VERSION, pattern as u8, u8::try_from(name.len()).ok()?]);
    out.push(u8::try_from(groups.len()).ok()?);
    out.extend(u32::try_from(tokens.len()).ok()?.to_le_bytes());
    out.extend(name.as_bytes());
    for (_, length) in &groups {
        out.push(u8::try_from(*length).ok().filter(|l| usize::from(*l) <= LONGEST)?);
    }
    for token in tokens {
        let group = groups.binary_search(&key(token)).ok();
        out.push(group.and_then(|g| u8::try_from(g).ok()).unwrap_or(HOLE));
    }
    for group in &groups {
        for token in tokens.iter().filter(|t| key(t) == *group) {
            out.extend(token.as_ref());
        }
    }
    out.extend(checksum(&out).to_le_bytes());
    Some(out)
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
