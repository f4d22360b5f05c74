//! YAML text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::js;

fuzz_target!(|text: &str| {
    let _ = js::parse_yaml(text);
});
