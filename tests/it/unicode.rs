//! The two Unicode tables of `src/names`, made from well-known crates and compared with the committed files.
//! `PROMPTSIDE_BLESS=1 cargo test --test it unicode` writes them anew after an update of Unicode.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/names").join(name)
}

fn compare(name: &str, made: &[u8]) {
    if std::env::var_os("PROMPTSIDE_BLESS").is_some() {
        fs::write(path(name), made).unwrap();
    }
    let kept = fs::read(path(name)).unwrap_or_default();
    assert!(kept == made, "src/names/{name} is stale: run with PROMPTSIDE_BLESS=1");
}

fn number(out: &mut Vec<u8>, mut n: u32) {
    while n >= 128 {
        out.push(u8::try_from(n & 127).unwrap() | 128);
        n >>= 7;
    }
    out.push(u8::try_from(n).unwrap());
}

/// `nfkd.bin`: number of blocks (u16); an index entry a block (first character: 3 bytes, offset of the block behind the index: 2);
/// blocks of 64 entries. An entry: distance from the character before (from 0 at the start of a block), number of characters,
/// and each of those as signed distance: the first from the first of the entry before (0 at the start), the others from the one
/// before. Numbers have 7 bits a byte; a signed one is twice its value, odd when negative.
#[test]
fn nfkd() {
    let mut entries: Vec<(char, Vec<char>)> = Vec::new();
    for c in (0..=0x10_FFFF).filter_map(char::from_u32).filter(|c| !('\u{ac00}'..='\u{d7a3}').contains(c)) {
        let mut chars = Vec::new();
        decompose_compatible(c, |d| chars.push(d));
        if chars != [c] {
            entries.push((c, chars));
        }
    }
    let (mut index, mut data) = (Vec::new(), Vec::new());
    for block in entries.chunks(64) {
        index.extend_from_slice(&u32::from(block[0].0).to_le_bytes()[..3]);
        index.extend_from_slice(&u16::try_from(data.len()).unwrap().to_le_bytes());
        let (mut at, mut first) = (0, 0);
        for (c, chars) in block {
            number(&mut data, u32::from(*c) - at);
            at = u32::from(*c);
            data.push(u8::try_from(chars.len()).unwrap());
            let mut previous = first;
            for d in chars {
                let step = i64::from(u32::from(*d)) - i64::from(previous);
                number(&mut data, u32::try_from((step << 1) ^ (step >> 63)).unwrap());
                previous = u32::from(*d);
            }
            first = u32::from(chars[0]);
        }
    }
    let mut file = u16::try_from(entries.len().div_ceil(64)).unwrap().to_le_bytes().to_vec();
    file.extend(index);
    file.extend(data);
    compare("nfkd.bin", &file);
}

/// How a character joins its neighbours, found out by asking the oracle.
fn join(c: char) -> &'static str {
    let one = |before: &str, after: &str| format!("{before}{c}{after}").graphemes(true).count() == 1;
    match c {
        '\u{200d}' => "Zwj",
        _ if !one("", "\u{301}") => "Control",
        _ if one("a", "") => {
            if one("क", "क") {
                "Linker"
            } else if !one("👩", "\u{200d}👩") {
                "Spacing"
            } else if one("क\u{94d}", "क") {
                "Extend"
            } else {
                "Parting"
            }
        }
        _ if one("", "a") => "Prepend",
        _ if one("👩\u{200d}", "") => "Picture",
        _ if one("क\u{94d}", "") => "Consonant",
        _ if one("", "\u{1100}") => "L",
        _ if one("\u{1100}", "") => "V",
        _ if one("\u{11a8}", "") => "T",
        _ if one("🇦", "") => "Flag",
        _ => "Other",
    }
}

/// `prop_table.rs`: where a kind of character begins, and which.
#[test]
fn props() {
    let mut kinds: Vec<String> = Vec::new();
    let mut steps: Vec<u32> = Vec::new();
    // Hangul syllables are told apart by arithmetic, and nothing in the other planes joins anything.
    let planes = (0..=0x2_0000).chain(0xE_0000..=0xE_1000);
    for c in planes.filter_map(char::from_u32).filter(|c| !('\u{ac00}'..='\u{d7a3}').contains(c)) {
        let mark = match c.general_category() {
            GeneralCategory::NonspacingMark => "Nonspacing",
            GeneralCategory::SpacingMark | GeneralCategory::EnclosingMark => "Spacing",
            _ => "No",
        };
        let kind = format!("(Join::{}, {}, Mark::{mark})", join(c), canonical_combining_class(c));
        let number = kinds.iter().position(|k| *k == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        let number = u32::from(u8::try_from(number).unwrap());
        if steps.last().is_none_or(|last| last & 255 != number) {
            steps.push(u32::from(c) << 8 | number);
        }
    }
    let mut file = String::from(
        "//! Kinds of characters: how they join their neighbours, canonical combining class, whether they are marks; and where each begins:\n\
         //! the character above the lowest byte, which is the number of the kind. Made by `tests/it/unicode.rs`.\n\n\
         use super::props::{Join, Mark};\n\n\
         #[rustfmt::skip]\npub(super) static KINDS: &[(Join, u8, Mark)] = &[\n",
    );
    for kind in &kinds {
        writeln!(file, "    {kind},").unwrap();
    }
    file.push_str("];\n\n#[rustfmt::skip]\npub(super) static STEPS: &[u32] = &[\n");
    for row in steps.chunks(10) {
        let cells: Vec<String> =
            row.iter().map(|s| format!("0x{:04x}_{:04x},", s >> 16, s & 0xFFFF)).collect();
        writeln!(file, "    {}", cells.join(" ")).unwrap();
    }
    file.push_str("];\n");
    compare("prop_table.rs", file.as_bytes());
}
