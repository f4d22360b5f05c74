//! What "the same letter in another case" means: ECMAScript's `Canonicalize`. Without `u` the upper case of one UTF-16
//! unit, never from outside ASCII into it; with `u` or `v` simple case folding (spec 05 §6).

use super::set::Ranges;
use super::tables::{FOLD, Run, UPPER};

const fn table(unicode: bool) -> &'static [Run] {
    if unicode { FOLD } else { UPPER }
}

/// What a character is compared as. With `unicode` some member of its case class, the same for all of them.
pub(super) fn canonical(c: u32, unicode: bool) -> u32 {
    let runs = table(unicode);
    let i = runs.partition_point(|r| r.1 < c);
    match runs.get(i) {
        Some(&(first, _, stride, delta)) if first <= c && (c - first).is_multiple_of(u32::from(stride)) => {
            c.saturating_add_signed(delta)
        }
        _ => c,
    }
}

/// A set with every character that is compared as a member is.
pub(super) fn close(set: &Ranges, unicode: bool) -> Ranges {
    // First what members are compared as, then what is compared as that.
    let mut all: Vec<(u32, u32)> = set.as_slice().to_vec();
    for &run in table(unicode) {
        add(&mut all, set, run, false);
    }
    let named = Ranges::new(all);
    let mut all: Vec<(u32, u32)> = named.as_slice().to_vec();
    for &run in table(unicode) {
        add(&mut all, &named, run, true);
    }
    Ranges::new(all)
}

/// Adds the images of a run's members (or, `back`, the members of images) that lie in a set.
fn add(all: &mut Vec<(u32, u32)>, set: &Ranges, (first, last, stride, delta): Run, back: bool) {
    let (first, last, delta) = if back {
        (first.saturating_add_signed(delta), last.saturating_add_signed(delta), -delta)
    } else {
        (first, last, delta)
    };
    let stride = u32::from(stride);
    let ranges = set.as_slice();
    let from = ranges.partition_point(|r| r.1 < first);
    for &(lo, hi) in ranges.get(from..).unwrap_or(&[]).iter().take_while(|r| r.0 <= last) {
        let (lo, hi) = (lo.max(first), hi.min(last));
        if stride == 1 {
            all.push((lo.saturating_add_signed(delta), hi.saturating_add_signed(delta)));
        } else {
            let start = lo + (lo - first) % stride; // stride is 2: the next member at or behind lo
            all.extend((start..=hi).step_by(2).map(|c| c.saturating_add_signed(delta)).map(|c| (c, c)));
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
