//! Any bytes: reading ends with a value or an error; what was read can be written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::files::{self, CardOptions};
use promptside::host::Limits;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { inflated_bytes: 1 << 20, zip_bytes: 1 << 20, ..Limits::default() };
    if let Ok(file) = files::read(bytes, None, &limits) {
        let _ = files::card_object(&file.source, CardOptions::default());
        let _ = files::world_file(&file.source);
        let _ = files::character_book(&file.source);
        let _ = files::write_chat(&file.source);
    }
});
