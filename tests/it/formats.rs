//! Files as users bring them: `tests/golden/formats/NAME.EXT` with `NAME.EXT.expect.json` beside it (spec 08 §12.9).

use std::fs;
use std::path::PathBuf;

use promptside::files::{self, Kind};
use promptside::host::Limits;
use serde_json::Value;

use crate::golden;

/// Every sample: name, bytes, what is expected.
pub fn samples() -> Vec<(String, Vec<u8>, Value)> {
    let dir = golden::golden_dir().join("formats");
    let mut paths: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths
        .into_iter()
        .filter(|p| !p.to_string_lossy().ends_with(".expect.json"))
        .map(|p| {
            let name = p.file_name().unwrap().to_string_lossy().into_owned();
            let expect = fs::read_to_string(p.with_file_name(format!("{name}.expect.json"))).unwrap();
            (name, fs::read(p).unwrap(), serde_json::from_str(&expect).unwrap())
        })
        .collect()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// What is wrong with the result of one sample.
fn faults(bytes: &[u8], expect: &Value) -> Vec<String> {
    let want = text(expect, "want").map(|name| Kind::from_name(name).unwrap());
    let read = files::read(bytes, want, &Limits::default());
    let mut faults = Vec::new();
    match (read, text(expect, "result")) {
        (Err(error), Some("error")) => {
            let code = expect["error"]["code"].as_str().unwrap();
            if error.code().as_str() != format!("file.{code}") {
                faults.push(format!("expected {code}, got {error}"));
            }
            if error.message().is_empty() {
                faults.push("the error says nothing".to_owned());
            }
        }
        (Err(error), _) => faults.push(format!("{error}")),
        (Ok(file), Some("error")) => {
            faults.push(format!("expected {}, got {}", expect["error"], file.to_value()));
        }
        (Ok(file), _) => {
            for (what, expected, got) in [
                ("kind", text(expect, "kind"), file.kind.as_str()),
                ("container", text(expect, "container"), file.container.as_str()),
                ("chunk", text(expect, "chunk"), file.chunk.unwrap_or("")),
            ] {
                if expected.is_some_and(|e| e != got) {
                    faults.push(format!("{what}: expected {expected:?}, got {got}"));
                }
            }
            let mut codes: Vec<&str> = file.warnings.iter().map(|w| w.code.as_ref()).collect();
            codes.sort_unstable();
            codes.dedup();
            let expected: Vec<&str> =
                expect["warnings"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
            if codes != expected {
                faults.push(format!("warnings: expected {expected:?}, got {:?}", file.warnings));
            }
            let value = file.to_value();
            for (pointer, expected) in expect.get("expect").and_then(Value::as_object).into_iter().flatten() {
                match value.pointer(pointer) {
                    None => faults.push(format!("{pointer}: expected {expected}, got nothing")),
                    Some(got) => {
                        faults.extend(golden::difference(expected, got).map(|d| format!("{pointer}{d}")));
                    }
                }
            }
            for pointer in expect.get("absent").and_then(Value::as_array).into_iter().flatten() {
                if let Some(got) = value.pointer(pointer.as_str().unwrap()) {
                    faults.push(format!("{pointer}: expected nothing, got {got}"));
                }
            }
        }
    }
    faults
}

#[test]
fn every_sample_reads_as_expected() {
    let samples = samples();
    let mut failures = Vec::new();
    for (name, bytes, expect) in &samples {
        failures.extend(faults(bytes, expect).into_iter().map(|f| format!("{name}: {f}")));
    }
    golden::report("formats", samples.len(), &failures);
}

fn read(bytes: &[u8]) -> files::ReadFile {
    files::read(bytes, None, &Limits::default()).unwrap()
}

fn sample(name: &str) -> Vec<u8> {
    fs::read(golden::golden_dir().join("formats").join(name)).unwrap()
}

/// A PNG without a card, cut into its chunks.
fn chunks(png: &[u8]) -> Vec<&[u8]> {
    let mut rest = &png[8..];
    let mut out = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize + 12;
        out.push(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

#[test]
fn public_reports_stay_mended() {
    let mut seen = 0;
    for case in golden::cases("reports").iter().filter(|c| c.json["area"] == "files") {
        let png = files::decode_base64(case.json["input"]["png_base64"].as_str().unwrap()).unwrap();
        let card = &read(&png).to_value()["card"];
        let right = &case.json["right"]["card"];
        assert_eq!(card["data"]["name"], right["name"], "{}", case.id);
        if let Some(spec) = right.get("spec") {
            assert_eq!(&card["spec"], spec, "{}", case.id);
        }
        let tight = Limits { inflated_bytes: 64, ..Limits::default() };
        if case.id.contains("compressed") {
            let error = files::read(&png, None, &tight).unwrap_err();
            assert_eq!(error.code().as_str(), "file.too-large");
        }
        seen += 1;
    }
    assert!(seen >= 2, "the cases are there");
}

#[test]
fn a_chunk_is_written_as_the_worked_example_says() {
    let card: Value = serde_json::from_str(
        r#"{"name":"Ünal","description":"","personality":"","scenario":"","first_mes":"Hi","mes_example":""}"#,
    )
    .unwrap();
    let encoded = files::encode_base64(promptside::js::stringify(&card).as_bytes());
    assert_eq!(
        encoded,
        "eyJuYW1lIjoiw5xuYWwiLCJkZXNjcmlwdGlvbiI6IiIsInBlcnNvbmFsaXR5IjoiIiwic2NlbmFyaW8iOiIiLCJmaXJzdF9tZXMiOiJIaSIsIm1lc19leGFtcGxlIjoiIn0="
    );
    // The chunk of the example, put into a picture by hand, is read back with its checksum right.
    let chunk =
        [&[0, 0, 0, 0x8a][..], b"tEXtchara\0", encoded.as_bytes(), &[0xf6, 0x03, 0x73, 0xfc]].concat();
    let picture = sample("png-plain-picture.png");
    let end = picture.len() - 12;
    let file = read(&[&picture[..end], &chunk, &picture[end..]].concat());
    assert_eq!(file.to_value()["card"]["data"]["name"], "Ünal");
    assert!(file.warnings.is_empty(), "{:?}", file.warnings);
}

#[test]
fn a_card_goes_into_a_picture_and_nothing_else_changes() {
    for name in [
        "png-v2.png",
        "png-ztxt.png",
        "png-itxt-compressed.png",
        "png-trailing-data.png",
        "apng-v2.png",
        "png-duplicate-chara.png",
    ] {
        let before = sample(name);
        let file = read(&before);
        let written = files::write_card_png(&before, &file.source, files::CardOptions::default()).unwrap();
        let again = read(&written);
        assert!(again.warnings.is_empty(), "{name}: {:?}", again.warnings);
        assert_eq!((again.chunk, again.container), (Some("ccv3"), file.container), "{name}");
        assert_eq!(again.value["data"], file.value["data"], "{name}");
        assert_eq!(again.value["top"], file.value["top"], "{name}");
        let text = |chunk: &&&[u8]| {
            let body = String::from_utf8_lossy(&chunk[8..]).to_lowercase();
            chunk[5..8] == *b"EXt" && (body.starts_with("chara\0") || body.starts_with("ccv3\0"))
                || (chunk[5..8] == *b"TXt" && (body.starts_with("chara") || body.starts_with("ccv3")))
        };
        let whole = before.windows(8).position(|w| w == b"IEND\xaeB`\x82").unwrap() + 8;
        let kept: Vec<&[u8]> = chunks(&before[..whole]).iter().filter(|c| !text(c)).copied().collect();
        let now = chunks(&written);
        let others: Vec<&[u8]> = now.iter().filter(|c| !text(c)).copied().collect();
        assert_eq!(others, kept, "{name}: every other chunk, byte for byte and in order");
        assert_eq!(now.len(), kept.len() + 2, "{name}: two chunks, directly before the end");
        assert_eq!(&now[now.len() - 1][4..8], b"IEND");
    }
    let error =
        files::write_card_png(b"GIF89a", &serde_json::json!({"name": "x"}), files::CardOptions::default());
    assert_eq!(error.unwrap_err().code().as_str(), "file.unsupported-format");
}
