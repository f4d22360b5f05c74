//! CRC-32 of ISO 3309, as PNG and ZIP use it.

const TABLE: [u32; 256] = table();

#[expect(clippy::indexing_slicing, reason = "n < 256; const code has no iterators")]
#[expect(clippy::cast_possible_truncation, reason = "n < 256")]
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut c = n as u32;
        let mut bit = 0;
        while bit < 8 {
            c = if c & 1 == 1 { 0xEDB8_8320 ^ (c >> 1) } else { c >> 1 };
            bit += 1;
        }
        table[n] = c;
        n += 1;
    }
    table
}

/// The checksum of several pieces in a row.
#[expect(clippy::indexing_slicing, reason = "the index is a byte")]
pub(super) fn crc32(pieces: &[&[u8]]) -> u32 {
    let bytes = pieces.iter().flat_map(|piece| piece.iter());
    !bytes.fold(!0, |crc: u32, b| TABLE[usize::from(crc.to_le_bytes()[0] ^ b)] ^ (crc >> 8))
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn check_value_of_the_standard() {
        assert_eq!(crc32(&[b"12345", b"6789"]), 0xCBF4_3926);
        assert_eq!(crc32(&[]), 0);
    }
}
