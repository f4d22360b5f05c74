//! Bytes of unknown encoding -> text (spec 08 §12.1 step 6): UTF-8, or UTF-16 when it says so.

use std::borrow::Cow;

use crate::error::Warnings;

/// The text of a file, final blanks and NULs cut off. What is no text becomes U+FFFD.
pub(super) fn decode<'a>(bytes: &'a [u8], notes: &mut Warnings) -> Cow<'a, str> {
    let mut bom = |name: &str| {
        notes.add("bom-removed", String::new, format!("the text starts with a {name} byte order mark"));
    };
    let text = if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        bom("UTF-8");
        String::from_utf8_lossy(rest)
    } else if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        bom("UTF-16");
        Cow::Owned(utf16(rest, u16::from_le_bytes))
    } else if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        bom("UTF-16");
        Cow::Owned(utf16(rest, u16::from_be_bytes))
    } else {
        String::from_utf8_lossy(bytes)
    };
    // An owned UTF-8 text was repaired; a UTF-16 one is searched for the mark that a repair leaves.
    let wide = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
    let broken = if wide { text.contains('\u{fffd}') } else { matches!(text, Cow::Owned(_)) };
    if broken {
        notes.add("invalid-utf8", String::new, "bytes that are no text became U+FFFD");
    }
    let end = |c: char| matches!(c, '\0' | ' ' | '\t' | '\r' | '\n');
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches(end)),
        Cow::Owned(mut text) => {
            text.truncate(text.trim_end_matches(end).len());
            Cow::Owned(text)
        }
    }
}

/// An odd last byte counts as broken.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text: String = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if odd.iter().any(|b| *b != 0) {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, Vec<String>) {
        let mut notes = Warnings::default();
        let text = decode(bytes, &mut notes).into_owned();
        (text, notes.into_list().into_iter().map(|w| w.code.into_owned()).collect())
    }

    #[test]
    fn encodings() {
        let wide: Vec<u8> = "洛恩 😀\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(
            read(&[b"\xFE\xFF", wide.as_slice()].concat()),
            ("洛恩 😀".into(), vec!["bom-removed".into()])
        );
        assert_eq!(read(b"\xFF\xFE\x00\xD8a\x00").1, ["bom-removed", "invalid-utf8"]);
        assert_eq!(read(b"caf\xE9 \0"), ("caf\u{fffd}".into(), vec!["invalid-utf8".into()]));
        assert_eq!(read("สวัสดี".as_bytes()), ("สวัสดี".into(), vec![]));
    }
}
