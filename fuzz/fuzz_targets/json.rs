//! JSON text: what is read is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::js;

fuzz_target!(|text: &str| {
    if let Ok((value, _)) = js::parse(text) {
        let again = js::stringify(&value);
        assert_eq!(js::stringify(&js::parse(&again).expect("written JSON is read").0), again);
    }
});
