//! The two Unicode tables of `src/names`, made from well-known crates and compared with the committed files.
//! `PROMPTSIDE_BLESS=1 cargo test --test it unicode` writes them anew after an update of Unicode.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

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

/// `mark_ranges.rs`: ranges of characters of category M.
#[test]
fn marks() {
    let mut ranges: Vec<(u32, u32, u8, bool)> = Vec::new();
    for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
        let category = c.general_category();
        let spacing = match category {
            GeneralCategory::NonspacingMark => false,
            GeneralCategory::SpacingMark | GeneralCategory::EnclosingMark => true,
            _ => {
                assert_eq!(canonical_combining_class(c), 0, "{c:?}");
                continue;
            }
        };
        let (at, class) = (u32::from(c), canonical_combining_class(c));
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == at && last.2 == class && last.3 == spacing => last.1 = at,
            _ => ranges.push((at, at, class, spacing)),
        }
    }
    let mut file = String::from(
        "//! Characters of category M (marks): first, last, canonical combining class, whether they take room of their own (not Mn).\n\
         //! Made by `tests/it/unicode.rs`.\n\n\
         #[rustfmt::skip]\npub(super) static RANGES: &[(char, char, u8, bool)] = &[\n",
    );
    for row in ranges.chunks(4) {
        let cells: Vec<String> = row
            .iter()
            .map(|(first, last, class, spacing)| {
                format!("('\\u{{{first:x}}}', '\\u{{{last:x}}}', {class}, {spacing}),")
            })
            .collect();
        writeln!(file, "    {}", cells.join(" ")).unwrap();
    }
    file.push_str("];\n");
    compare("mark_ranges.rs", file.as_bytes());
}
