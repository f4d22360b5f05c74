//! A text -> the hash that stands for it in an index (spec 10 §7).

/// The reference's 53-bit hash over UTF-16 code units, seed 0 (known as cyrb53).
pub fn hash(text: &str) -> u64 {
    let (mut a, mut b) = (0xDEAD_BEEF_u32, 0x41C6_CE57_u32);
    for unit in text.encode_utf16() {
        let unit = u32::from(unit);
        a = (a ^ unit).wrapping_mul(2_654_435_761);
        b = (b ^ unit).wrapping_mul(1_597_334_677);
    }
    a = (a ^ (a >> 16)).wrapping_mul(2_246_822_507) ^ (b ^ (b >> 13)).wrapping_mul(3_266_489_909);
    b = (b ^ (b >> 16)).wrapping_mul(2_246_822_507) ^ (a ^ (a >> 13)).wrapping_mul(3_266_489_909);
    (u64::from(b & 0x1F_FFFF) << 32) + u64::from(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_specification() {
        for (text, wanted) in [
            ("", 3_338_908_027_751_811),
            ("a", 7_929_297_801_672_961),
            ("Hello", 4_867_314_475_583_282),
            ("你好", 697_135_493_569_599),
        ] {
            assert_eq!(hash(text), wanted, "{text}");
        }
    }
}
