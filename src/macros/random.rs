//! `{{random}}`, `{{pick}}`, `{{roll}}`: item lists, the stable hash and generator behind `pick`, dice formulas.
//!
//! Spec: 04 §9. `hash53` is the public cyrb53, `arc4` the public seedrandom algorithm.

use crate::host::{Dice, Limits, Site};
use crate::js;

/// A 53-bit hash of a text's UTF-16 units.
pub fn hash53(text: &str) -> u64 {
    let (mut h1, mut h2) = (0xDEAD_BEEF_u32, 0x41C6_CE57_u32);
    for unit in text.encode_utf16() {
        h1 = (h1 ^ u32::from(unit)).wrapping_mul(2_654_435_761);
        h2 = (h2 ^ u32::from(unit)).wrapping_mul(1_597_334_677);
    }
    h1 = (h1 ^ (h1 >> 16)).wrapping_mul(2_246_822_507) ^ (h2 ^ (h2 >> 13)).wrapping_mul(3_266_489_909);
    h2 = (h2 ^ (h2 >> 16)).wrapping_mul(2_246_822_507) ^ (h1 ^ (h1 >> 13)).wrapping_mul(3_266_489_909);
    (u64::from(h2 & 0x1F_FFFF) << 32) + u64::from(h1)
}

/// The first number of the generator seeded with code units.
pub(super) fn arc4_first(seed: &[u16]) -> f64 {
    let mut key: Vec<u8> = Vec::with_capacity(256);
    let mut smear = 0u32;
    for (j, unit) in seed.iter().enumerate() {
        let slot = j & 255;
        let old = key.get(slot).copied().unwrap_or(0);
        smear ^= u32::from(old).wrapping_mul(19);
        let mixed = low_byte(smear.wrapping_add(u32::from(*unit)));
        match key.get_mut(slot) {
            Some(k) => *k = mixed,
            None => key.push(mixed),
        }
    }
    if key.is_empty() {
        key.push(0);
    }
    let mut rc4 = Rc4::new(&key);
    for _ in 0..256 {
        rc4.next();
    }
    let mut n = 0.0;
    for _ in 0..6 {
        n = n * 256.0 + f64::from(rc4.next());
    }
    let mut d = 256f64.powi(6);
    let mut x = 0u32;
    while n < 4_503_599_627_370_496.0 {
        n = (n + f64::from(x)) * 256.0;
        d *= 256.0;
        x = u32::from(rc4.next());
    }
    while n >= 9_007_199_254_740_992.0 {
        n /= 2.0;
        d /= 2.0;
        x >>= 1;
    }
    (n + f64::from(x)) / d
}

const fn low_byte(n: u32) -> u8 {
    n.to_le_bytes()[0]
}

struct Rc4 {
    s: [u8; 256],
    i: u8,
    j: u8,
}

#[expect(clippy::indexing_slicing, reason = "a u8 index into 256 bytes")]
impl Rc4 {
    fn new(key: &[u8]) -> Self {
        let mut s = [0u8; 256];
        for (n, slot) in (0u8..=255).zip(&mut s) {
            *slot = n;
        }
        let mut j = 0u8;
        for (i, k) in (0u8..=255).zip(key.iter().cycle()) {
            j = j.wrapping_add(*k).wrapping_add(s[usize::from(i)]);
            s.swap(usize::from(i), usize::from(j));
        }
        Self { s, i: 0, j: 0 }
    }

    fn next(&mut self) -> u8 {
        self.i = self.i.wrapping_add(1);
        let t = self.s[usize::from(self.i)];
        self.j = self.j.wrapping_add(t);
        self.s.swap(usize::from(self.i), usize::from(self.j));
        let sum = self.s[usize::from(self.i)].wrapping_add(self.s[usize::from(self.j)]);
        self.s[usize::from(sum)]
    }
}

/// `floor(u * n)`, at most `n - 1`.
pub(super) fn choose(u: f64, n: usize) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "lists are far shorter than 2^53")]
    let at = js::to_integer((u * n as f64).floor());
    usize::try_from(at).unwrap_or(0).min(n.saturating_sub(1))
}

/// Items of a `random` or `pick` call (spec 04 §9.1). One argument is split again: at `::`, else at commas (`\,` is a comma).
pub(super) fn items(args: &[String]) -> Vec<String> {
    let [single] = args else { return args.to_vec() };
    if single.contains("::") {
        return single.split("::").map(|s| js::trim(s).to_owned()).collect();
    }
    comma_items(single)
}

/// Splits at commas; `\,` stands for a comma.
pub(super) fn comma_items(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, items.last_mut()) {
            ('\\', Some(item)) if chars.peek() == Some(&',') => {
                chars.next();
                item.push(',');
            }
            (',', _) => items.push(String::new()),
            (c, Some(item)) => item.push(c),
            (_, None) => {}
        }
    }
    items.iter().map(|s| js::trim(s).to_owned()).collect()
}

/// A dice formula: `N` or `[n]dS[±m]` (spec 04 §9.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Formula {
    count: u64,
    sides: f64,
    plus: f64,
}

impl Formula {
    /// Reads a formula without spaces; `None` when it is not one.
    pub(super) fn read(text: &str) -> Option<Self> {
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return Self::read(&format!("1d{text}"));
        }
        let (count, rest) = text.split_once(['d', 'D'])?;
        let count = if count.is_empty() { Some(1) } else { natural(count)?.parse().ok() };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (sides, tail) = (rest.get(..digits)?, rest.get(digits..)?);
        let sides = js::to_number(natural(sides)?);
        let plus = if tail.is_empty() {
            0.0
        } else {
            let m = tail.strip_prefix(['+', '-'])?;
            if m.is_empty() || !m.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            js::to_number(tail)
        };
        Some(Self { count: count.unwrap_or(u64::MAX), sides, plus })
    }

    /// Rolls. `None` when it asks for more than the limits allow.
    pub(super) fn roll(self, dice: &mut Dice, limits: &Limits) -> Option<f64> {
        if self.count > limits.macro_dice || self.sides > 9_007_199_254_740_991.0 {
            return None;
        }
        let mut sum = 0.0;
        for _ in 0..self.count {
            sum += 1.0 + (dice.draw(Site::MacroRoll) * self.sides).floor();
        }
        Some(sum + self.plus)
    }
}

/// Digits without a leading zero.
fn natural(text: &str) -> Option<&str> {
    let fine = text.starts_with(|c: char| matches!(c, '1'..='9')) && text.bytes().all(|b| b.is_ascii_digit());
    fine.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_vectors() {
        for (text, hash) in [
            ("", 3_338_908_027_751_811),
            ("a", 7_929_297_801_672_961),
            ("ab", 3_382_748_631_033_682),
            ("hello world", 3_259_054_761_512_980),
            ("你好", 697_135_493_569_599),
            ("😀", 4_725_715_722_941_614),
        ] {
            assert_eq!(hash53(text), hash, "{text}");
        }
    }

    #[test]
    fn generator_vectors() {
        for (seed, first) in [
            ("0", 0.780_356_338_423_006_7),
            ("1", 0.269_448_847_779_132_6),
            ("hello", 0.546_366_376_814_073_4),
            ("", 0.231_440_082_151_798_81),
            ("12345", 0.207_035_196_396_164_47),
        ] {
            assert_eq!(arc4_first(&seed.encode_utf16().collect::<Vec<_>>()), first, "{seed}");
        }
        arc4_first(&vec![0x4e00; 1002]);
    }

    #[test]
    fn formulas() {
        for text in ["0d6", "1d0", "01d6", "1d1 + 4", "1d6+", "d", "x", "", "1d-6", "+6", "٣"] {
            assert_eq!(Formula::read(text), None, "{text}");
        }
        let roll =
            |text: &str| Formula::read(text).unwrap().roll(&mut Dice::tape(vec![0.0; 9]), &Limits::default());
        assert_eq!(
            [roll("1d1+4"), roll("2d1-1"), roll("d1"), roll("1D1"), roll("6")],
            [Some(5.0), Some(1.0), Some(1.0), Some(1.0), Some(1.0)]
        );
        assert_eq!(roll("99999999d6"), None);
    }
}
