//! Strangers' files: whatever the bytes, reading ends soon, within its limits, with a value or an error (spec 08 §12.7).

use promptside::files::{self, CardOptions};
use promptside::host::Limits;
use serde_json::json;

use crate::formats::samples;

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(below.max(1)).unwrap()).unwrap()
    }

    fn byte(&mut self) -> u8 {
        // Bytes that mean something to one of the readers come often.
        let special = b"{}[]\":,\\\0\n -|>&*!#'PK\x01\x03\x05\xFF\xFE\xEFt";
        if self.next(2) == 0 { special[self.next(special.len())] } else { self.next(256).to_le_bytes()[0] }
    }

    fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        for _ in 0..=self.next(4) {
            let at = self.next(out.len());
            match self.next(6) {
                0 => out.truncate(at),
                1 => out.insert(at, self.byte()),
                2 if !out.is_empty() => {
                    out.remove(at);
                }
                3 => {
                    let (from, to) = (self.next(out.len()), self.next(out.len()));
                    let piece = out[from.min(to)..from.max(to)].to_vec();
                    out.splice(at..at, piece);
                }
                4 if at + 4 <= out.len() => {
                    // A number where a length may be.
                    let number = [0, 1, 0x7FFF_FFFF, u32::MAX, 65_536][self.next(5)];
                    let bytes =
                        if self.next(2) == 0 { u32::to_be_bytes(number) } else { u32::to_le_bytes(number) };
                    out[at..at + 4].copy_from_slice(&bytes);
                }
                _ if !out.is_empty() => out[at] = self.byte(),
                _ => {}
            }
        }
        out
    }
}

#[test]
fn damaged_samples_never_panic() {
    let limits = Limits { inflated_bytes: 1 << 20, zip_bytes: 1 << 20, ..Limits::default() };
    let mut random = Random(8);
    let (mut read, mut refused) = (0, 0);
    for (name, bytes, _) in samples() {
        for _ in 0..40 {
            let damaged = random.damage(&bytes);
            match files::read(&damaged, None, &limits) {
                Ok(file) => {
                    read += 1;
                    assert!(file.warnings.len() < 1000, "{name}");
                    let _ =
                        (file.to_value(), files::write_chat(&file.source), files::world_file(&file.source));
                    let _ = (
                        files::character_book(&file.source),
                        files::card_object(&file.source, CardOptions::default()),
                    );
                    for asset in file.assets.iter().flatten() {
                        let _ = files::extract(&damaged, asset.path.as_deref().unwrap_or(""), &limits);
                    }
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.code().as_str().starts_with("file."), "{name}: {error}");
                    assert!(error.to_string().len() < 2000, "{name}: {error}");
                }
            }
            let _ = files::write_card_png(&damaged, &json!({"name": "x"}), CardOptions::default());
            let _ = files::write_charx_into(&damaged, &json!({"name": "x"}), CardOptions::default(), &limits);
        }
    }
    assert!(read > 300 && refused > 300, "{read} read, {refused} refused");
}

fn code(bytes: &[u8], limits: &Limits) -> &'static str {
    files::read(bytes, None, limits).map_or_else(|e| e.code().as_str(), |_| "ok")
}

#[test]
fn bombs_are_cut_at_the_limit() {
    // 768 kB of one letter pack into a few kB.
    let card = json!({"name": "x", "description": "爆".repeat(1 << 18)});
    let archive = files::write_charx(&card, &[("a", b"1"), ("b", b"2")], CardOptions::default()).unwrap();
    assert!(archive.len() < 20_000);
    let base = Limits::default();
    assert_eq!(code(&archive, &base), "ok");
    assert_eq!(code(&archive, &Limits { inflated_bytes: 1 << 16, ..base.clone() }), "file.too-large");
    assert_eq!(code(&archive, &Limits { zip_bytes: 1 << 16, ..base.clone() }), "file.too-large");
    assert_eq!(code(&archive, &Limits { zip_entries: 2, ..base.clone() }), "file.too-large");
    assert_eq!(code(&archive, &Limits { file_bytes: 1000, ..base.clone() }), "file.too-large");
    let asset = files::extract(&archive, "a", &Limits { zip_bytes: 0, ..base.clone() });
    assert_eq!(asset.unwrap_err().code().as_str(), "file.too-large");
    // The same for a size that lies: the directory says 1 byte.
    let mut lying = archive.clone();
    let directory = lying.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    lying[directory + 24..directory + 28].copy_from_slice(&1u32.to_le_bytes());
    assert_eq!(code(&lying, &Limits { inflated_bytes: 1 << 16, ..base }), "file.too-large");
}

#[test]
fn many_compressed_chunks_share_one_budget() {
    let (_, good, _) = samples().into_iter().find(|(name, ..)| name == "png-ztxt.png").unwrap();
    // Streams that inflate to 1 MiB and then fail on their checksum, in front of a good one.
    let card = json!({"name": "x", "description": "0".repeat(1 << 20)});
    let archive = files::write_charx(&card, &[], CardOptions::default()).unwrap();
    let packed = usize::try_from(u32::from_le_bytes(archive[18..22].try_into().unwrap())).unwrap();
    let name = "card.json".len();
    let text = [b"chara\0\0\x78\x01", &archive[30 + name..30 + name + packed], &[0; 4]].concat();
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    let chunk = [&length[..], b"zTXt", &text, &[0; 4]].concat();
    let png = [&good[..8], &chunk.repeat(8), &good[8..]].concat();
    // Each may cost 2 MiB: after four of them nothing is left of 8 MiB.
    let limits = |zip_bytes| Limits { inflated_bytes: 2 << 20, zip_bytes, ..Limits::default() };
    assert_eq!(code(&png, &limits(8 << 20)), "file.bad-base64");
    let file = files::read(&png, None, &limits(64 << 20)).unwrap();
    assert!(file.warnings.iter().any(|w| w.code == "chunk-unreadable"));
}

#[test]
fn a_length_beyond_the_file_costs_nothing() {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png.extend_from_slice(b"\xFF\xFF\xFF\xFFtEXtchara\0");
    assert_eq!(code(&png, &Limits::default()), "file.png-truncated");
    // An archive that promises more than it has.
    let mut zip = files::write_charx(&json!({"name": "x"}), &[], CardOptions::default()).unwrap();
    let end = zip.len() - 22;
    zip[end + 12..end + 16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(code(&zip, &Limits::default()), "file.zip-corrupt");
}

#[test]
fn large_archives_with_64_bit_records_are_read() {
    let plain = files::write_charx(&json!({"name": "大"}), &[], CardOptions::default()).unwrap();
    let directory = plain.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let end = plain.len() - 22;
    let mut record = plain[directory..end].to_vec();
    let (packed, size) = (record[20..24].to_vec(), record[24..28].to_vec());
    record[20..28].fill(0xFF);
    record[42..46].fill(0xFF);
    record[30..32].copy_from_slice(&28u16.to_le_bytes());
    let wide = |n: &[u8]| [n, &[0; 4]].concat();
    let extra = [&[1, 0, 24, 0][..], &wide(&size), &wide(&packed), &[0; 8]].concat();
    record.extend_from_slice(&extra);
    let length = u64::try_from(record.len()).unwrap().to_le_bytes();
    let start = u64::try_from(directory).unwrap().to_le_bytes();
    let mut zip = b"prefix".to_vec();
    zip.extend_from_slice(&plain[..directory]);
    zip.extend_from_slice(&record);
    zip.extend_from_slice(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
    zip.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    zip.extend_from_slice(&length);
    zip.extend_from_slice(&start);
    zip.extend_from_slice(b"PK\x06\x07\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0");
    zip.extend_from_slice(b"PK\x05\x06\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0");
    let file = files::read(&zip, None, &Limits::default()).unwrap();
    assert_eq!(file.value["data"]["name"], "大");
}

#[test]
fn endless_repairs_make_a_short_list() {
    let entries = vec![r#"{"keys":7,"content":["a"],"enabled":"no","id":1}"#; 20_000].join(",");
    let book = format!("{{\"entries\":[{entries}]}}");
    let file = files::read(book.as_bytes(), None, &Limits::default()).unwrap();
    assert_eq!(file.value["entries"].as_array().unwrap().len(), 20_000);
    assert!(file.warnings.len() < 200, "{}", file.warnings.len());
    assert!(file.warnings.iter().any(|w| w.code == "uid-collision" && w.message.contains("more")));
    let lines = format!("{{\"chat_metadata\":{{}}}}\n{}", "x\n{\"mes\":1}\n".repeat(20_000));
    let chat = files::read(lines.as_bytes(), None, &Limits::default()).unwrap();
    assert_eq!(chat.value["messages"].as_array().unwrap().len(), 20_000);
    assert!(chat.warnings.len() < 200);
}

#[test]
fn the_kind_is_told_from_the_bytes_alone() {
    let limits = Limits::default();
    for (name, bytes, expect) in samples() {
        match (files::detect(&bytes, &limits), expect["result"].as_str()) {
            (Ok((kind, _)), Some("ok")) => assert_eq!(expect["kind"], kind.as_str(), "{name}"),
            (Ok((kind, _)), _) => assert_ne!(expect["want"], kind.as_str(), "{name}"),
            (Err(error), result) => assert_eq!(result, Some("error"), "{name}: {error}"),
        }
    }
}
