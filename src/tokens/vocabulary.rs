//! A vocabulary file -> tables that answer "which token are these bytes" without a search.
//!
//! The file stays where it is and serves as the store of the tokens' bytes. Two tables find a token: one for tokens of
//! two to seven bytes (two thirds of all), whose entries hold the whole key in scrambled form, so a hit needs no
//! comparison; one for the longer ones, whose entries hold a tag and are compared with the bytes. Small filters say no
//! to most questions before the tables are asked.

#![expect(
    clippy::inline_always,
    reason = "inner loops; the package is built for size, which inlines little by itself"
)]

use super::asset::{HEADER, HOLE, LONGEST, MAGIC, Pattern, VERSION, checksum};
use crate::error::{Code, Error};
use std::sync::atomic::{AtomicU64, Ordering};

/// No token.
pub(super) const NONE: u32 = u32::MAX;
/// Bits of a rank; o200k needs 18.
pub(super) const RANK_BITS: u32 = 18;
const RANK_MASK: u64 = (1 << RANK_BITS) - 1;
/// Bits of a position among the tokens' bytes.
const START_BITS: u32 = 21;

const K1: u64 = 0x9E37_79B9_7F4A_7C15;
const K2: u64 = 0xD6E8_FEB8_6659_FD93;

/// Home slots of the short table, as a power of two.
const SHORT_BITS: u32 = 18;
/// Key bits an entry keeps besides its place.
const REST_BITS: u32 = 59 - SHORT_BITS;
/// How far an entry may lie from home: a displacement has five bits, and 31 in an entry means free.
const FARTHEST: u64 = 30;
const FREE: u64 = u64::MAX;
/// Bits of the two hashed filters: one in ten wrong answers costs a look into a table.
const HEAD_BITS: u32 = 20;
const SEAM_BITS: u32 = 20;

/// The eight bytes from `at`, little-endian, zeros beyond the end; only the first `length` (at most 8) are kept.
#[inline(always)]
pub(super) fn load(bytes: &[u8], at: usize, length: usize) -> u64 {
    let word = match bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        Some(word) => u64::from_le_bytes(*word),
        None => load_near_end(bytes, at),
    };
    keep(word, length)
}

/// The first `length` bytes of a word.
#[inline(always)]
fn keep(word: u64, length: usize) -> u64 {
    if length >= 8 { word } else { word & ((1 << (length * 8)) - 1) }
}

fn load_near_end(bytes: &[u8], at: usize) -> u64 {
    if let Some(last) = bytes.last_chunk::<8>() {
        let beyond = (at + 8).saturating_sub(bytes.len());
        return if beyond < 8 { u64::from_le_bytes(*last) >> (beyond * 8) } else { 0 };
    }
    bytes.iter().skip(at).rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// A scramble of 59 bits that loses nothing: seven bytes and a length of three bits.
#[inline(always)]
fn scramble(key: u64) -> u64 {
    const MASK: u64 = (1 << 59) - 1;
    let h = key.wrapping_mul(K1) & MASK;
    let h = (h ^ h >> 29).wrapping_mul(K2) & MASK;
    h ^ h >> 31
}

/// Hash of a longer string.
#[inline(always)]
pub(super) fn hash(bytes: &[u8], mut at: usize, mut length: usize) -> u64 {
    let mut h = (length as u64).wrapping_mul(K2);
    while length > 8 {
        h = (h ^ load(bytes, at, 8)).wrapping_mul(K1);
        h ^= h >> 29;
        at += 8;
        length -= 8;
    }
    h = (h ^ load(bytes, at, length)).wrapping_mul(K1);
    h ^ h >> 32
}

/// A set of numbers below a power of two.
struct Bits(Vec<u64>);

impl Bits {
    fn new(bits: u32) -> Self {
        Self(vec![0; 1 << (bits - 6)])
    }

    fn insert(&mut self, n: u64) {
        if let Some(word) = self.0.get_mut((n >> 6) as usize) {
            *word |= 1 << (n & 63);
        }
    }

    #[inline(always)]
    fn has(&self, n: u64) -> bool {
        self.0.get((n >> 6) as usize).is_some_and(|word| word >> (n & 63) & 1 != 0)
    }
}

/// Where a token's bytes are, and the two tokens its last merge joins (equal zeros: not known yet).
#[derive(Clone, Copy)]
pub(super) struct Token(u64);

impl Token {
    fn new(start: usize, length: usize) -> Self {
        Self((start as u64) << 43 | (length as u64 - 1) << 36)
    }
    #[inline(always)]
    pub(super) fn length(self) -> usize {
        (self.0 >> 36 & 127) as usize + 1
    }
    #[inline(always)]
    fn start(self) -> usize {
        (self.0 >> 43) as usize
    }
    /// The halves, if known; the left one is [`Vocabulary::ATOM`] for a token that no merge makes.
    #[inline(always)]
    fn halves(self) -> Option<(u32, u32)> {
        let both = self.0 & ((1 << 36) - 1);
        (both != 0).then_some(((both & RANK_MASK) as u32, (both >> RANK_BITS) as u32))
    }
    fn with_halves(self, left: u32, right: u32) -> Self {
        Self(self.0 >> 36 << 36 | u64::from(right) << RANK_BITS | u64::from(left))
    }
}

/// Tables over one vocabulary file.
pub struct Vocabulary {
    pub(super) name: String,
    pub(super) pattern: Pattern,
    file: Vec<u8>,
    tokens: Vec<AtomicU64>,
    /// Rank of each single byte.
    bytes: [u32; 256],
    /// Tokens of 2 to 7 bytes: distance from home (5 bits), rest of the scrambled key (41), rank (18); robin-hood order.
    short: Vec<u64>,
    /// Tokens of 8 and more bytes: tag (18 bits), length less one (7), start (21), rank (18).
    long: Vec<u64>,
    /// By the first three bytes. Low half: which lengths exist, bit 0 for 3 … bit 30 for 33, bit 31 for any longer.
    /// High half: rest of the scrambled three bytes (8 bits) and rank (18) of one token that is exactly these three.
    starts: Vec<u64>,
    /// First six bytes and length of all tokens of six and more bytes, hashed.
    heads: Bits,
    /// First two and last two bytes of all tokens of two and more bytes.
    first: Bits,
    last: Bits,
    /// The four bytes around each seam within a token ([`is_seam`]), hashed.
    seams: Bits,
}

fn damaged(what: &'static str) -> Error {
    Error::new(Code::TokensVocabulary, "", what)
}

/// A scramble of 24 bits that loses nothing: 16 bits of slot, 8 of rest.
#[inline(always)]
fn scramble3(three: u64) -> (usize, u64) {
    let h = three.wrapping_mul(0x9E_3779) & 0xFF_FFFF;
    let h = (h ^ h >> 13).wrapping_mul(0xCA_6B2B) & 0xFF_FFFF;
    ((h >> 8) as usize, h & 0xFF)
}

/// Slot in [`Vocabulary::heads`].
#[inline(always)]
fn head(six: u64, length: usize) -> u64 {
    (six | (length as u64) << 48).wrapping_mul(K1) >> (64 - HEAD_BITS)
}

/// Tag and length as an entry of [`Vocabulary::long`] has them.
#[inline(always)]
fn long_key(hash: u64, length: usize) -> u64 {
    hash << 46 | (length as u64 - 1) << (START_BITS + RANK_BITS)
}

/// Whether two strings of the same length, 8 or more, are equal.
#[inline(always)]
fn same(a: &[u8], at_a: usize, b: &[u8], at_b: usize, length: usize) -> bool {
    let mut done = 0;
    while length - done > 8 {
        if load(a, at_a + done, 8) != load(b, at_b + done, 8) {
            return false;
        }
        done += 8;
    }
    load(a, at_a + length - 8, 8) == load(b, at_b + length - 8, 8)
}

/// Whether the middle of four bytes is a border between characters, the first not ASCII and the second of three or
/// four bytes: so it is in most scripts that do without spaces.
#[inline(always)]
fn is_seam(four: u64) -> bool {
    four & 0xE0_8000 == 0xE0_8000
}

/// Slot in [`Vocabulary::seams`].
#[inline(always)]
fn seam(four: u64) -> u64 {
    four.wrapping_mul(K1) >> (64 - SEAM_BITS)
}

impl Vocabulary {
    /// Left half of a token that no merge makes.
    pub(super) const ATOM: u32 = (1 << RANK_BITS) - 1;

    /// Reads a vocabulary file, already inflated. Errors: `tokens.vocabulary`.
    pub(super) fn read(file: Vec<u8>) -> Result<Self, Error> {
        if file.starts_with(&[0x1F, 0x8B]) {
            return Err(damaged("the vocabulary is still compressed; inflate it (gzip) first"));
        }
        let cut = || damaged("the vocabulary is incomplete; load the whole file again");
        let strange =
            || damaged("this is no vocabulary of this package's version; load the file shipped with it");
        let (header, rest) = file.split_first_chunk::<HEADER>().ok_or_else(cut)?;
        let [m0, m1, m2, m3, version, pattern, name_length, groups, c0, c1, c2, c3] = *header;
        let pattern =
            Pattern::from_byte(pattern).filter(|_| [m0, m1, m2, m3] == *MAGIC && version == VERSION);
        let pattern = pattern.ok_or_else(strange)?;
        let count = u32::from_le_bytes([c0, c1, c2, c3]);
        let n = count as usize;

        let (body, sum) = rest.split_last_chunk::<8>().ok_or_else(cut)?;
        let (name, body) = body.split_at_checked(usize::from(name_length)).ok_or_else(cut)?;
        let (group_lengths, body) = body.split_at_checked(usize::from(groups)).ok_or_else(cut)?;
        let (ranks, store) = body.split_at_checked(n).ok_or_else(cut)?;

        // Where each group's next token starts.
        let mut next = [(0usize, 0usize); 256];
        for rank in ranks.iter().filter(|r| **r != HOLE) {
            let slot = next.get_mut(usize::from(*rank)).ok_or_else(strange)?;
            slot.0 += usize::from(*group_lengths.get(usize::from(*rank)).ok_or_else(cut)?);
        }
        let store_start = file.len() - 8 - store.len();
        let mut start = store_start;
        for (slot, length) in next.iter_mut().zip(group_lengths) {
            let size = std::mem::replace(slot, (start, usize::from(*length))).0;
            start += size;
        }
        if start != file.len() - 8 {
            return Err(cut());
        }
        if checksum(file.get(..file.len() - 8).unwrap_or(&[])) != u64::from_le_bytes(*sum) {
            return Err(damaged("the vocabulary's checksum is wrong; load the file again"));
        }
        if n as u64 >= RANK_MASK
            || file.len() >= 1 << START_BITS
            || group_lengths.iter().any(|l| !(1..=LONGEST).contains(&usize::from(*l)))
        {
            return Err(damaged("the vocabulary is larger than this version can hold"));
        }
        let name = String::from_utf8(name.to_vec()).map_err(|_| strange())?;
        let mut long_slots = 16;
        let mut tokens = Vec::with_capacity(n);
        let mut long_tokens = 0usize;
        for rank in ranks {
            // A hole reads as one byte of the file; nothing leads to it.
            let mut token = Token::new(0, 1);
            if let Some(slot) = next.get_mut(usize::from(*rank)).filter(|s| s.1 > 0) {
                token = Token::new(slot.0, slot.1);
                slot.0 += slot.1;
                long_tokens += usize::from(slot.1 > 7);
            }
            tokens.push(AtomicU64::new(token.0));
        }
        while long_slots * 2 < long_tokens * 3 {
            long_slots *= 2;
        }
        let mut vocabulary = Self {
            name,
            pattern,
            tokens,
            bytes: [NONE; 256],
            short: vec![FREE; (1 << SHORT_BITS) + 64],
            long: vec![FREE; long_slots],
            starts: vec![0; 1 << 16],
            heads: Bits::new(HEAD_BITS),
            first: Bits::new(16),
            last: Bits::new(16),
            seams: Bits::new(SEAM_BITS),
            file,
        };
        for rank in 0..count {
            if !vocabulary.add(rank) {
                return Err(damaged("the vocabulary has more tokens than this version can hold"));
            }
        }
        if vocabulary.bytes.contains(&NONE) {
            return Err(damaged("the vocabulary lacks some of the 256 single bytes"));
        }
        Ok(vocabulary)
    }

    /// Enters a token into the tables; false if one of them is too full for it. Its own function, so that an engine
    /// that optimises one function at a time gets to do it.
    #[inline(never)]
    fn add(&mut self, rank: u32) -> bool {
        let token = self.token(rank);
        let (start, length) = (token.start(), token.length());
        if start == 0 {
            return true;
        }
        if length == 1 {
            let byte = self.file.get(start).map_or(0, |b| usize::from(*b));
            if let Some(slot) = self.bytes.get_mut(byte) {
                *slot = rank;
            }
            return true;
        }
        let word = load(&self.file, start, 8);
        self.first.insert(word & 0xFFFF);
        self.last.insert(load(&self.file, start + length - 2, 2));
        if length > 2 {
            let (slot, rest) = scramble3(word & 0xFF_FFFF);
            if let Some(entry) = self.starts.get_mut(slot) {
                *entry |= 1 << (length.min(34) - 3);
                if length == 3 && *entry >> 32 == 0 {
                    *entry |= (rest << RANK_BITS | u64::from(rank)) << 32;
                }
            }
        }
        if length > 5 {
            self.heads.insert(head(word & 0xFFFF_FFFF_FFFF, length));
        }
        if length > 3 {
            self.add_seams(start, length);
        }
        if length > 7 {
            self.add_long(rank, start, length)
        } else {
            self.add_short(scramble(keep(word, length) | (length as u64) << 56), rank)
        }
    }

    #[inline(always)]
    fn add_seams(&mut self, start: usize, length: usize) {
        let (mut at, end) = (start + 2, start + length - 1);
        while at < end {
            let word = load(&self.file, at - 2, 8);
            // Bytes whose three highest bits are set: they begin a long character.
            let leads = word & word << 1 & word << 2 & 0x8080_8080_8080_0000;
            if leads == 0 {
                at += 6;
                continue;
            }
            at += leads.trailing_zeros() as usize / 8 - 2;
            let four = load(&self.file, at - 2, 4);
            if at < end && is_seam(four) {
                self.seams.insert(seam(four));
            }
            at += 3;
        }
    }

    #[inline(always)]
    fn add_long(&mut self, rank: u32, start: usize, length: usize) -> bool {
        let hash = hash(&self.file, start, length);
        let mask = self.long.len() - 1;
        let mut at = (hash >> 20) as usize & mask;
        while let Some(slot) = self.long.get_mut(at) {
            if *slot == FREE {
                *slot = long_key(hash, length) | (start as u64) << RANK_BITS | u64::from(rank);
                return true;
            }
            at = (at + 1) & mask;
        }
        false
    }

    /// Robin hood: who lies further from home keeps the slot.
    #[inline(always)]
    fn add_short(&mut self, key: u64, rank: u32) -> bool {
        let mut at = (key >> REST_BITS) as usize;
        let mut entry = (key & ((1 << REST_BITS) - 1)) << RANK_BITS | u64::from(rank);
        let mut distance = 0;
        while let Some(slot) = self.short.get_mut(at) {
            if *slot == FREE {
                *slot = entry | distance << (REST_BITS + RANK_BITS);
                return true;
            }
            let other = *slot >> (REST_BITS + RANK_BITS);
            if other < distance {
                let evicted = *slot & ((1 << (REST_BITS + RANK_BITS)) - 1);
                *slot = entry | distance << (REST_BITS + RANK_BITS);
                (entry, distance) = (evicted, other);
            }
            at += 1;
            distance += 1;
            if distance > FARTHEST {
                return false;
            }
        }
        false
    }

    /// The token, or one of a single byte if there is none of this rank.
    #[inline(always)]
    pub(super) fn token(&self, rank: u32) -> Token {
        self.tokens.get(rank as usize).map_or(Token::new(0, 1), |t| Token(t.load(Ordering::Relaxed)))
    }

    /// Bytes of a token; `None` if no token has this rank.
    pub(super) fn token_bytes(&self, rank: u32) -> Option<&[u8]> {
        let token = Some(self.token(rank)).filter(|t| t.start() > 0)?;
        self.file.get(token.start()..token.start() + token.length())
    }

    /// Token of 2 to 7 bytes by its bytes and length.
    #[inline(always)]
    pub(super) fn find_short(&self, word: u64, length: usize) -> u32 {
        let h = scramble(word | (length as u64) << 56);
        let mut want = h & ((1 << REST_BITS) - 1);
        for (distance, entry) in (0..).zip(self.short.iter().skip((h >> REST_BITS) as usize)) {
            if entry >> RANK_BITS == want {
                return (entry & RANK_MASK) as u32;
            }
            if *entry == FREE || entry >> (REST_BITS + RANK_BITS) < distance {
                return NONE;
            }
            want += 1 << REST_BITS;
        }
        NONE
    }

    /// Token of 8 and more bytes.
    #[inline]
    pub(super) fn find_long(&self, bytes: &[u8], at: usize, length: usize) -> u32 {
        let h = hash(bytes, at, length);
        let key = long_key(h, length);
        let mask = self.long.len() - 1;
        let mut slot = (h >> 20) as usize & mask;
        while let Some(entry) = self.long.get(slot).filter(|e| **e != FREE) {
            if (entry ^ key) >> (START_BITS + RANK_BITS) == 0 {
                let start = (entry >> RANK_BITS & ((1 << START_BITS) - 1)) as usize;
                if same(&self.file, start, bytes, at, length) {
                    return (entry & RANK_MASK) as u32;
                }
            }
            slot = (slot + 1) & mask;
        }
        NONE
    }

    /// Rank of the token that these bytes are, or [`NONE`].
    #[inline(always)]
    pub(super) fn find(&self, bytes: &[u8], at: usize, length: usize) -> u32 {
        match length {
            1 => self.find_byte(bytes, at),
            2..=7 => self.find_short(load(bytes, at, length), length),
            8..=LONGEST => self.find_long(bytes, at, length),
            _ => NONE,
        }
    }

    #[inline(always)]
    fn find_byte(&self, bytes: &[u8], at: usize) -> u32 {
        bytes.get(at).and_then(|b| self.bytes.get(usize::from(*b))).map_or(NONE, |r| *r)
    }

    /// Rank of the token that these two or more bytes are, or [`NONE`]; for strings that rarely are one.
    #[inline(always)]
    fn find_rare(&self, bytes: &[u8], at: usize, length: usize) -> u32 {
        let word = load(bytes, at, 8);
        if length > LONGEST
            || !self.first.has(word & 0xFFFF)
            || !self.last.has(load(bytes, at + length - 2, 2))
            || length > 5 && !self.heads.has(head(word & 0xFFFF_FFFF_FFFF, length))
        {
            return NONE;
        }
        if length < 8 {
            self.find_short(keep(word, length), length)
        } else {
            self.find_long(bytes, at, length)
        }
    }

    /// Whether merging keeps the border at `at` between a token that ends there and one that starts there, if only
    /// merges of a rank below `limit` happen.
    ///
    /// The border falls when two tokens that touch it are joined before either of them is joined with something else.
    /// So the pairs that touch it are looked at from the last merges back to the first, undoing the later of the two
    /// last merges each time; any such pair that is a token of a lower rank would have been joined first. Merges of
    /// equal rank go from left to right, hence the two different limits.
    pub(super) fn keeps(&self, bytes: &[u8], at: usize, left: u32, right: u32, limit: u32) -> bool {
        let (mut left, mut right, mut limit) = (left, right, limit);
        let (mut before, mut behind) = (self.token(left).length(), self.token(right).length());
        loop {
            if self.find_rare(bytes, at - before, before + behind) < limit {
                return false;
            }
            if before > 1 && (left > right || behind == 1) {
                limit = left;
                left = self.halves(left).1;
                before = self.token(left).length();
            } else if behind > 1 {
                limit = right + 1;
                right = self.halves(right).0;
                behind = self.token(right).length();
            } else {
                return true;
            }
        }
    }

    /// The two tokens that the last merge of a token joins; found once, then remembered.
    #[inline(always)]
    fn halves(&self, rank: u32) -> (u32, u32) {
        match self.token(rank).halves() {
            Some(halves) => halves,
            None => self.find_halves(rank),
        }
    }

    #[inline(never)]
    fn find_halves(&self, rank: u32) -> (u32, u32) {
        let token = self.token(rank);
        let (start, length) = (token.start(), token.length());
        let mut halves = (Self::ATOM, Self::ATOM);
        for cut in 1..length {
            let left = self.find(&self.file, start, cut);
            if left >= rank {
                continue;
            }
            let right = self.find(&self.file, start + cut, length - cut);
            if right < rank && self.keeps(&self.file, start + cut, left, right, rank) {
                halves = (left, right);
                break;
            }
        }
        if let Some(slot) = self.tokens.get(rank as usize) {
            slot.store(token.with_halves(halves.0, halves.1).0, Ordering::Relaxed);
        }
        halves
    }

    /// The token of exactly `length` bytes at `at`, asked for any length: the filters answer most of it.
    #[inline(always)]
    pub(super) fn find_any(&self, bytes: &[u8], at: usize, length: usize) -> u32 {
        if length > 2 {
            let word = load(bytes, at, 8);
            let entry = self.starts.get(scramble3(word & 0xFF_FFFF).0).map_or(0, |e| *e);
            let exists = entry >> (length.min(34) - 3) & 1 != 0
                && (length < 6 || self.heads.has(head(word & 0xFFFF_FFFF_FFFF, length)));
            if !exists {
                return NONE;
            }
        }
        self.find(bytes, at, length)
    }

    /// Whether no token can join what ends at `at` with what starts there: cheap, and true of most borders between
    /// characters of scripts without spaces.
    #[inline(always)]
    pub(super) fn never_joined(&self, bytes: &[u8], at: usize) -> bool {
        let Some(from) = at.checked_sub(2) else { return false };
        let four = load(bytes, from, 4);
        let two = four >> 8 & 0xFFFF;
        is_seam(four) && !self.seams.has(seam(four)) && !self.first.has(two) && !self.last.has(two)
    }

    /// The longest token of at most `most` bytes that starts at `at`, and its length.
    #[inline(always)]
    pub(super) fn longest(&self, bytes: &[u8], at: usize, most: usize) -> (u32, usize) {
        let word = load(bytes, at, 8);
        if most >= 3 {
            let (slot, rest) = scramble3(word & 0xFF_FFFF);
            let entry = self.starts.get(slot).map_or(0, |e| *e);
            let mut mask = (entry & 0xFFFF_FFFF) as u32;
            if mask >> 31 != 0 {
                for length in (34..=most.min(LONGEST)).rev() {
                    if self.heads.has(head(word & 0xFFFF_FFFF_FFFF, length)) {
                        let token = self.find_long(bytes, at, length);
                        if token != NONE {
                            return (token, length);
                        }
                    }
                }
            }
            mask &= if most < 33 { (1 << (most - 2)) - 1 } else { 0x7FFF_FFFF };
            while mask > 7 {
                let bit = mask.ilog2();
                let length = bit as usize + 3;
                if self.heads.has(head(word & 0xFFFF_FFFF_FFFF, length)) {
                    let token = match length {
                        6 | 7 => self.find_short(keep(word, length), length),
                        _ => self.find_long(bytes, at, length),
                    };
                    if token != NONE {
                        return (token, length);
                    }
                }
                mask ^= 1 << bit;
            }
            while mask != 0 {
                let bit = mask.ilog2();
                let length = bit as usize + 3;
                let token = if bit == 0 && entry >> (32 + RANK_BITS) & 0xFF == rest {
                    (entry >> 32 & RANK_MASK) as u32
                } else {
                    self.find_short(keep(word, length), length)
                };
                if token != NONE {
                    return (token, length);
                }
                mask ^= 1 << bit;
            }
        }
        if most >= 2 {
            let token = self.find_short(word & 0xFFFF, 2);
            if token != NONE {
                return (token, 2);
            }
        }
        if most >= 1 { (self.find_byte(bytes, at), 1) } else { (NONE, 0) }
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vocabulary({}, {} ranks)", self.name, self.tokens.len())
    }
}
