//! Base64 as card chunks hold it (spec 08 §12.2): both alphabets, padding or none, blanks anywhere.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// The bytes, or `None` when a character is foreign or the length cannot be.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|b| *b != b'=' && !b.is_ascii_whitespace()).map_or(0, |i| i + 1);
    let mut out = Vec::with_capacity(end / 4 * 3 + 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in text.iter().take(end).filter(|b| !b.is_ascii_whitespace()) {
        bits = (bits << 6) | u32::from(digit(*byte)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held).to_le_bytes()[0]);
        }
    }
    // Six bits left over: one lone character, which is no byte.
    (held < 6).then_some(out)
}

/// Whether a text is base64 and nothing else, at least 8 characters of it.
pub(super) fn is_base64(text: &[u8]) -> bool {
    let end = text.iter().rposition(|b| *b != b'=' && !b.is_ascii_whitespace()).map_or(0, |i| i + 1);
    let visible = text.iter().filter(|b| !b.is_ascii_whitespace()).count();
    visible >= 8 && text.iter().take(end).all(|b| b.is_ascii_whitespace() || digit(*b).is_some())
}

/// The text, standard alphabet, padded, in one line.
#[expect(clippy::indexing_slicing, reason = "the index is six bits")]
pub(super) fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for i in 0..4 {
            let symbol = ALPHABET[((bits >> (18 - 6 * i)) & 63) as usize];
            out.push(if i <= chunk.len() { symbol } else { b'=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tolerates_what_cards_hold() {
        assert_eq!(decode(b" 5rSb\n5oGp= "), Some("洛恩".as_bytes().to_vec()));
        assert_eq!(decode(b"--__"), decode(b"++//"));
        for bad in ["a", "ab=c", "abcde", "ab!d", "{}"] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(decode(b""), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn decodes_what_it_encodes(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let text = encode(&bytes);
            prop_assert_eq!(text.len() % 4, 0);
            prop_assert_eq!(decode(&text), Some(bytes));
        }
    }
}
