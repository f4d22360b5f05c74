//! Bytes as the visible characters that stand for them in byte-level vocabularies, since GPT-2.

/// The character of a byte: itself where it is visible in Latin-1, else one from U+0100 on, in order.
pub(super) fn character(byte: u8) -> char {
    let code = u32::from(byte);
    let shown = match byte {
        0..=32 => 0x100 + code,
        127..=160 => 0x121 + code - 127,
        173 => 0x143,
        _ => code,
    };
    char::from_u32(shown).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Appends a text's bytes as characters.
pub(super) fn map(text: &str, out: &mut String) {
    out.extend(text.bytes().map(character));
}

/// The name of a byte as a token of its own: `<0x0A>`.
pub(super) fn token(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_character_of_its_own() {
        let all: std::collections::BTreeSet<char> = (0..=255).map(character).collect();
        assert_eq!((all.len(), all.first(), all.last()), (256, Some(&'!'), Some(&'Ń')));
        let mut text = String::new();
        map(" 夜\n", &mut text);
        assert_eq!(text, "Ġå¤ľĊ");
        assert_eq!((token(0x0A), token(0xEF)), ("<0x0A>".to_owned(), "<0xEF>".to_owned()));
    }
}
