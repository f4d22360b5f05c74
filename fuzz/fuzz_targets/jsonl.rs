//! Chats, line by line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::files;
use promptside::host::Limits;

fuzz_target!(|lines: &str| {
    let text = format!("{{\"chat_metadata\":{{}}}}\n{lines}");
    if let Ok(file) = files::read(text.as_bytes(), None, &Limits::default()) {
        let _ = files::write_chat(&file.value);
        let _ = promptside::scene::Chat::from_value(&file.value);
    }
});
