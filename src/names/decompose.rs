//! One character -> its full compatibility decomposition (NFKD of Unicode 17), Hangul syllables left whole.
//!
//! The data is `nfkd.bin`, 24 kB that compress to 10 (a general crate costs 24 to 51): blocks of 64 entries behind an index.
//! `tests/it/unicode.rs` makes the file and says its format; it fails when the file is stale.

use super::props;

const TABLE: &[u8] = include_bytes!("nfkd.bin");
/// Index entry: first character (3 bytes) and offset of its block (2 bytes), little endian.
const INDEX: usize = 5;

/// Appends the decomposition of a character.
pub(super) fn decompose(c: char, out: &mut Vec<char>) {
    // Most text lies in stretches where nothing decomposes: Latin letters, CJK ideographs.
    if c < '\u{a0}' || matches!(c, '\u{3400}'..='\u{a69b}' | '\u{ac00}'..='\u{d7a3}') || !lookup(c, out) {
        out.push(c);
    }
}

fn lookup(c: char, out: &mut Vec<char>) -> bool {
    let wanted = u32::from(c);
    let Some((count, rest)) = TABLE.split_first_chunk::<2>() else { return false };
    let Some((index, data)) = rest.split_at_checked(usize::from(u16::from_le_bytes(*count)) * INDEX) else {
        return false;
    };
    let (entries, _) = index.as_chunks::<INDEX>();
    let after = entries.partition_point(|[a, b, c, ..]| u32::from_le_bytes([*a, *b, *c, 0]) <= wanted);
    let Some([.., low, high]) = after.checked_sub(1).and_then(|i| entries.get(i)) else { return false };
    let Some(block) = data.get(usize::from(u16::from_le_bytes([*low, *high]))..) else { return false };
    let mut bytes = block.iter().copied();
    let (mut at, mut first) = (0u32, 0u32);
    for _ in 0..64 {
        let Some(step) = number(&mut bytes) else { return false };
        at += step;
        if at > wanted {
            return false;
        }
        let Some(length) = bytes.next() else { return false };
        let mut previous = first;
        for i in 0..length {
            let Some(step) = number(&mut bytes) else { return false };
            previous = previous.wrapping_add((step >> 1) ^ (step & 1).wrapping_neg());
            if i == 0 {
                first = previous;
            }
            if at == wanted {
                out.extend(char::from_u32(previous));
            }
        }
        if at == wanted {
            return true;
        }
    }
    false
}

/// Seven bits a byte, lowest first, the eighth says that more follow.
fn number(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut value = 0;
    for shift in [0, 7, 14, 21] {
        let byte = bytes.next()?;
        value |= u32::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

/// Puts combining marks into canonical order, then joins conjoining jamo to syllables.
pub(super) fn order(chars: &mut Vec<char>) {
    for run in chars.chunk_by_mut(|_, next| props::class(*next) > 0) {
        // The first of a run may be a base; its class is 0, and it stays where it is.
        if !run.is_sorted_by_key(|c| props::class(*c)) {
            let sorted = by_class(run);
            run.copy_from_slice(&sorted);
        }
    }
    compose_hangul(chars);
}

/// A stable sort in as many passes as there are classes: Unicode has 55, and a general sort is 8 kB of code.
fn by_class(run: &[char]) -> Vec<char> {
    let mut sorted = Vec::with_capacity(run.len());
    let mut next = run.iter().map(|c| props::class(*c)).min();
    while let Some(class) = next {
        sorted.extend(run.iter().filter(|c| props::class(**c) == class));
        next = run.iter().map(|c| props::class(*c)).filter(|c| *c > class).min();
    }
    sorted
}

fn compose_hangul(chars: &mut Vec<char>) {
    if !chars.iter().any(|c| matches!(c, '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}')) {
        return;
    }
    let mut joined: Vec<char> = Vec::with_capacity(chars.len());
    for c in chars.drain(..) {
        match joined.last().and_then(|last| syllable(*last, c)) {
            Some(s) => {
                joined.pop();
                joined.push(s);
            }
            None => joined.push(c),
        }
    }
    *chars = joined;
}

fn syllable(last: char, next: char) -> Option<char> {
    let (a, b) = (u32::from(last), u32::from(next));
    match (last, next) {
        ('\u{1100}'..='\u{1112}', '\u{1161}'..='\u{1175}') => {
            char::from_u32(0xAC00 + ((a - 0x1100) * 21 + (b - 0x1161)) * 28)
        }
        ('\u{ac00}'..='\u{d7a3}', '\u{11a8}'..='\u{11c2}') if (a - 0xAC00) % 28 == 0 => {
            char::from_u32(a + b - 0x11A7)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_decomposes_as_unicode_says() {
        let mut got = Vec::new();
        for c in (0..=0x2_FFFF).filter_map(char::from_u32).filter(|c| !('\u{ac00}'..='\u{d7a3}').contains(c))
        {
            let mut wanted = Vec::new();
            unicode_normalization::char::decompose_compatible(c, |d| wanted.push(d));
            got.clear();
            decompose(c, &mut got);
            assert_eq!(got, wanted, "{c:?}");
        }
    }

    #[test]
    fn jamo_become_syllables() {
        use unicode_normalization::UnicodeNormalization as _;
        for text in ["한글", "각", "\u{1100}\u{1100}\u{1161}", "\u{1161}\u{11a8}", "가\u{11a8}\u{11a8}", "값"]
        {
            let mut chars: Vec<char> = text.nfd().collect();
            order(&mut chars);
            assert_eq!(chars.into_iter().collect::<String>(), text.nfc().collect::<String>());
        }
    }
}
