//! Chunks behind a PNG's signature; a card goes into whatever has an end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::files::{self, CardOptions};
use promptside::host::Limits;

fuzz_target!(|chunks: &[u8]| {
    let png = [b"\x89PNG\r\n\x1a\n", chunks].concat();
    let limits = Limits { inflated_bytes: 1 << 20, ..Limits::default() };
    let _ = files::read(&png, None, &limits);
    let card = serde_json::json!({"name": "x"});
    if let Ok(written) = files::write_card_png(&png, &card, CardOptions::default()) {
        let file = files::read(&written, None, &Limits::default()).expect("a written card is read");
        assert_eq!(file.value["data"]["name"], "x");
    }
});
