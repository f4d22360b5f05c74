//! Byte strings -> numbers, found whole or as the beginnings of a text; pairs of numbers -> a number.
//!
//! Both are plain tables of slots. Their files are strangers': a file made so that all of it falls on one place is
//! refused instead of read slowly.

/// Slots looked at before a table is given up.
const FARTHEST: usize = 4096;

/// A start for [`Words::prefixes`].
pub(super) const SEED: u64 = 0xCBF2_9CE4_8422_2325;

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
}

fn scattered(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^ hash >> 29
}

/// A hash of bytes; goes on from an earlier one.
pub(super) fn hashed(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, byte| step(hash, *byte))
}

/// Slots for so many entries, a power of two.
fn slots(entries: usize) -> usize {
    (entries.saturating_mul(3) / 2 + 16).next_power_of_two()
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
fn places(hash: u64, slots: usize) -> impl Iterator<Item = usize> {
    let mask = slots.wrapping_sub(1);
    (0..FARTHEST).map(move |i| (hash as usize).wrapping_add(i) & mask)
}

/// Words with a number each.
#[derive(Debug, Default)]
pub(super) struct Words {
    bytes: Vec<u8>,
    /// End of each word, and its number.
    entries: Vec<(u32, u32)>,
    /// High bits of the hash; index of the word and 1, 0 in a free slot.
    slots: Vec<(u32, u32)>,
    /// Bytes of the longest word.
    pub(super) longest: usize,
}

impl Words {
    /// Room for so many.
    pub(super) fn new(entries: usize) -> Self {
        Self { slots: vec![(0, 0); slots(entries)], ..Self::default() }
    }

    fn word(&self, index: u32) -> Option<(&[u8], u32)> {
        let index = index as usize;
        let from = index.checked_sub(1).map_or(0, |i| self.entries.get(i).map_or(0, |w| w.0));
        let (to, number) = *self.entries.get(index)?;
        Some((self.bytes.get(from as usize..to as usize)?, number))
    }

    /// Adds a word; a word that is there gets the new number. False if there is no room.
    pub(super) fn insert(&mut self, word: &[u8], number: u32) -> bool {
        let hash = scattered(hashed(SEED, word));
        for place in places(hash, self.slots.len()) {
            let Some((_, index)) = self.slots.get(place).copied() else { return false };
            if let Some(index) = index.checked_sub(1) {
                if self.word(index).is_some_and(|(known, _)| known == word) {
                    if let Some(known) = self.entries.get_mut(index as usize) {
                        known.1 = number;
                    }
                    return true;
                }
                continue;
            }
            self.bytes.extend_from_slice(word);
            let Ok(end) = u32::try_from(self.bytes.len()) else { return false };
            self.entries.push((end, number));
            let Ok(index) = u32::try_from(self.entries.len()) else { return false };
            self.longest = self.longest.max(word.len());
            if let Some(slot) = self.slots.get_mut(place) {
                *slot = ((hash >> 32) as u32, index);
            }
            return true;
        }
        false
    }

    /// The number of the word that `same` accepts among those of a hash.
    fn lookup(&self, hash: u64, same: impl Fn(&[u8]) -> bool) -> Option<u32> {
        let hash = scattered(hash);
        let tag = (hash >> 32) as u32;
        for place in places(hash, self.slots.len()) {
            let (other, index) = *self.slots.get(place)?;
            let index = index.checked_sub(1)?;
            if other == tag
                && let Some((word, number)) = self.word(index)
                && same(word)
            {
                return Some(number);
            }
        }
        None
    }

    /// The number of a word.
    pub(super) fn get(&self, word: &[u8]) -> Option<u32> {
        self.lookup(hashed(SEED, word), |known| known == word)
    }

    /// All words that are `before` and a beginning of `text`, shortest first: length of the beginning, number.
    pub(super) fn prefixes(&self, before: &[u8], text: &[u8], mut found: impl FnMut(usize, u32)) {
        let most = self.longest.saturating_sub(before.len()).min(text.len());
        let mut hash = hashed(SEED, before);
        for (i, byte) in text.iter().enumerate().take(most) {
            hash = step(hash, *byte);
            // Words are made of whole characters.
            if text.get(i + 1).is_some_and(|next| next & 0xC0 == 0x80) {
                continue;
            }
            let number = self.lookup(hash, |known| {
                known.strip_prefix(before).is_some_and(|rest| text.get(..=i) == Some(rest))
            });
            if let Some(number) = number {
                found(i + 1, number);
            }
        }
    }
}

/// Pairs of numbers below 2^31 with a value each.
#[derive(Debug)]
pub(super) struct Pairs {
    slots: Vec<(u64, u64)>,
}

const FREE: u64 = u64::MAX;

impl Pairs {
    /// Room for so many.
    pub(super) fn new(entries: usize) -> Self {
        Self { slots: vec![(FREE, 0); slots(entries)] }
    }

    fn key(left: u32, right: u32) -> u64 {
        u64::from(left) << 32 | u64::from(right)
    }

    /// Adds a pair, or gives it a new value. False if there is no room.
    pub(super) fn insert(&mut self, left: u32, right: u32, value: u64) -> bool {
        let key = Self::key(left, right);
        for place in places(scattered(key.wrapping_mul(SEED)), self.slots.len()) {
            match self.slots.get_mut(place) {
                Some(slot) if slot.0 == FREE || slot.0 == key => {
                    *slot = (key, value);
                    return true;
                }
                Some(_) => {}
                None => return false,
            }
        }
        false
    }

    /// The value of a pair.
    pub(super) fn get(&self, left: u32, right: u32) -> Option<u64> {
        let key = Self::key(left, right);
        for place in places(scattered(key.wrapping_mul(SEED)), self.slots.len()) {
            let (other, value) = *self.slots.get(place)?;
            if other == key {
                return Some(value);
            }
            if other == FREE {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole_and_as_beginnings() {
        let mut words = Words::new(4);
        for (i, word) in (0..).zip(["▁夜", "▁夜の", "の", "##の川", "夜"]) {
            assert!(words.insert(word.as_bytes(), i));
        }
        assert!(words.insert("の".as_bytes(), 9));
        assert_eq!((words.get("の".as_bytes()), words.get("川".as_bytes())), (Some(9), None));
        let mut found = Vec::new();
        words.prefixes(b"", "▁夜の川".as_bytes(), |length, number| found.push((length, number)));
        assert_eq!(found, [(6, 0), (9, 1)]);
        found.clear();
        words.prefixes(b"##", "の川の".as_bytes(), |length, number| found.push((length, number)));
        assert_eq!(found, [(6, 3)]);
    }

    #[test]
    fn pairs_are_found() {
        let mut pairs = Pairs::new(1000);
        for i in 0..1000 {
            assert!(pairs.insert(i, i * 7, u64::from(i) + 5));
        }
        assert!((0..1000).all(|i| pairs.get(i, i * 7) == Some(u64::from(i) + 5)));
        assert_eq!(pairs.get(7, 0), None);
    }
}
