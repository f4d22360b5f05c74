//! What "the same letter in another case" means: ECMAScript's `Canonicalize`. Without `u` the upper case of one UTF-16
//! unit, never from outside ASCII into it; with `u` or `v` simple case folding (spec 05 §6).

use super::set::Ranges;
use super::tables::{FOLD, Folds, Run, UPPER};

/// The lists of runs: the stride of their members and what was taken off.
fn lists(unicode: bool) -> [(&'static [Run], u32, u32); 3] {
    let Folds { each, second, plane1 } = if unicode { FOLD } else { UPPER };
    [(each, 1, 0), (second, 2, 0), (plane1, 1, 0x1_0000)]
}

/// What a character is compared as. With `unicode` some member of its case class, the same for all of them.
pub(super) fn canonical(c: u32, unicode: bool) -> u32 {
    for (runs, stride, base) in lists(unicode) {
        let Some(unit) = c.checked_sub(base).and_then(|c| u16::try_from(c).ok()) else { continue };
        let i = runs.partition_point(|r| r.1 < unit);
        if let Some(&(first, _, delta)) = runs.get(i)
            && first <= unit
            && u32::from(unit - first).is_multiple_of(stride)
        {
            return u32::from(unit.wrapping_add(delta)) + base;
        }
    }
    c
}

/// A set with every character that is compared as a member is.
pub(super) fn close(set: &Ranges, unicode: bool) -> Ranges {
    if let &[(c, last)] = set.as_slice()
        && c == last
        && let Some(few) = one(c, unicode)
    {
        return few;
    }
    // First what members are compared as, then what is compared as that.
    let mut all: Vec<(u32, u32)> = set.as_slice().to_vec();
    for list in lists(unicode) {
        add(&mut all, set, list, false);
    }
    let named = Ranges::new(all);
    let mut all: Vec<(u32, u32)> = named.as_slice().to_vec();
    for list in lists(unicode) {
        add(&mut all, &named, list, true);
    }
    Ranges::new(all)
}

/// The case class of a character of which it is plain without a table: literals are closed one by one.
fn one(c: u32, unicode: bool) -> Option<Ranges> {
    let letter = u8::try_from(c).ok().filter(u8::is_ascii)?;
    let (upper, lower) = (letter.to_ascii_uppercase(), letter.to_ascii_lowercase());
    let mut all: Vec<_> = [upper, lower].map(u32::from).map(|c| (c, c)).into();
    match lower {
        b's' if unicode => all.push((0x17F, 0x17F)),
        b'k' if unicode => all.push((0x212A, 0x212A)),
        _ => {}
    }
    Some(Ranges::new(all))
}

/// Adds the images of the members of runs (or, `back`, the members of images) that lie in a set.
fn add(all: &mut Vec<(u32, u32)>, set: &Ranges, (runs, stride, base): (&[Run], u32, u32), back: bool) {
    let ranges = set.as_slice();
    for &(first, last, delta) in runs {
        let (first, last, delta) = if back {
            (first.wrapping_add(delta), last.wrapping_add(delta), delta.wrapping_neg())
        } else {
            (first, last, delta)
        };
        let image = |c: u32| u32::from(u16::try_from(c - base).unwrap_or(0).wrapping_add(delta)) + base;
        let (first, last) = (u32::from(first) + base, u32::from(last) + base);
        let from = ranges.partition_point(|r| r.1 < first);
        for &(lo, hi) in ranges.get(from..).unwrap_or(&[]).iter().take_while(|r| r.0 <= last) {
            let (lo, hi) = (lo.max(first), hi.min(last));
            if stride == 1 {
                all.push((image(lo), image(hi)));
            } else {
                let start = lo + (lo - first) % 2; // the next member at or behind lo
                all.extend((start..=hi).step_by(2).map(image).map(|c| (c, c)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(text: &str, unicode: bool) -> String {
        let set = Ranges::new(text.chars().map(|c| (c as u32, c as u32)).collect()).closed(unicode);
        set.as_slice().iter().flat_map(|&(lo, hi)| lo..=hi).filter_map(char::from_u32).collect()
    }

    #[test]
    fn classes_of_letters() {
        assert_eq!(closed("s", false), "Ss");
        assert_eq!(closed("s", true), "Ssſ");
        assert_eq!(closed("k", true), "Kk\u{212a}");
        assert_eq!(closed("ß", false), "ß");
        assert_eq!(closed("ß", true), "ßẞ");
        assert_eq!(closed("ς", false), "Σςσ");
        assert_eq!(closed("Ж", false), "Жж");
        assert_eq!(closed("İ", false), "İ");
        assert_eq!(closed("ā", true), "Āā");
        assert_eq!(closed("ǆ", true), "Ǆǅǆ");
        assert_eq!(closed("洛", true), "洛");
        assert_eq!(closed("𐐀", true), "𐐀𐐨");
    }

    #[test]
    fn a_closed_set_is_what_compares_equal() {
        for unicode in [false, true] {
            for c in (0..0x250_u32)
                .chain(0x370..0x530)
                .chain(0x1e90..0x1ea0)
                .chain(0x2120..0x2130)
                .chain(0x1_0400..0x1_0404)
            {
                let set = Ranges::one(c).closed(unicode);
                for d in (0..0x530_u32).chain(0x1e90..0x1ea0).chain(0x2120..0x2130) {
                    let same = canonical(c, unicode) == canonical(d, unicode);
                    assert_eq!(set.contains(d), same || c == d, "{c:x} {d:x} {unicode}");
                }
            }
        }
    }
}
