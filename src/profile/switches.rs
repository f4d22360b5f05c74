//! The list. Order is the order of `docs/differences.md`.

use super::Switch;

macro_rules! switches {
    ($($ident:ident = $name:literal { off: $off:literal, on: $on:literal, faults: [$($fault:literal),*] })+) => {
        $(#[doc = concat!("`", $name, "`: ", $on)]
        pub const $ident: Switch = Switch { name: $name, off: $off, on: $on, faults: &[$($fault),*] };)+

        /// Every switch.
        pub const ALL: &[&Switch] = &[$(&$ident,)+];
    };
}

switches! {
    MENTIONS_UNICODE = "speakers.mentions" {
        off: "A mention is a run of ASCII letters equal to an ASCII run of a name; one member a word.",
        on: "Whole names in any script are found, with aliases, `@name`, shared names, titles and common words handled.",
        faults: ["01 F1", "01 F2", "01 F3", "01 F4"]
    }
}
