//! Archives: the directory, entries, assets, and a changed card.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::files::{self, CardOptions};
use promptside::host::Limits;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { inflated_bytes: 1 << 20, zip_bytes: 1 << 20, ..Limits::default() };
    let zip = [b"PK\x03\x04", bytes].concat();
    if let Ok(file) = files::read(&zip, None, &limits) {
        for asset in file.assets.iter().flatten() {
            let _ = files::extract(&zip, asset.path.as_deref().unwrap_or(""), &limits);
        }
        let _ = files::write_charx_into(&zip, &file.source, CardOptions::default(), &limits);
    }
});
