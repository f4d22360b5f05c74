//! A tokenizer.json, and a text to count with it. Bytes up to the first NUL are the text, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::tokens::{Count, FileTokenizer};

fn as_it_is(text: &str, _: &'static str) -> String {
    text.to_owned()
}

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(0);
    let (text, file) = bytes.split_at(end);
    let text = String::from_utf8_lossy(text);
    if let Ok(tokenizer) = FileTokenizer::parse("fuzz", file.get(1..).unwrap_or(&[]), Some(as_it_is)) {
        let tokens = tokenizer.count(&text);
        assert_eq!(tokenizer.encode(&text).len(), tokens as usize);
    }
});
