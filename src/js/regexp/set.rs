//! Sets of characters: as sorted ranges while a pattern is read, as something quick to ask while it runs.
//! A member is a code point with the flags `u` or `v`, a UTF-16 code unit otherwise.

use std::collections::BinaryHeap;

use super::fold::close;

/// The last code point.
pub(super) const LAST: u32 = 0x0010_FFFF;

/// Sorted, disjoint, non-adjacent, inclusive ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// From ranges in any order, overlapping or not.
    pub(super) fn new(list: Vec<(u32, u32)>) -> Self {
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(list.len());
        // A heap sorts in an eighth of the code of `sort_unstable`.
        for (lo, hi) in BinaryHeap::from(list).into_sorted_vec() {
            match out.last_mut() {
                Some(before) if lo <= before.1.saturating_add(1) => before.1 = before.1.max(hi),
                _ => out.push((lo, hi)),
            }
        }
        Self(out)
    }

    /// One character.
    pub(super) fn one(c: u32) -> Self {
        Self(vec![(c, c)])
    }

    pub(super) fn as_slice(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Everything that is not in it.
    pub(super) fn inverted(&self) -> Self {
        let mut out = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for &(lo, hi) in &self.0 {
            if lo > next {
                out.push((next, lo - 1));
            }
            next = hi + 1;
        }
        if next <= LAST {
            out.push((next, LAST));
        }
        Self(out)
    }

    /// What is in either.
    pub(super) fn union(&self, other: &Self) -> Self {
        Self::new(self.0.iter().chain(&other.0).copied().collect())
    }

    /// What is in both.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut out = Vec::new();
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(&&(alo, ahi)), Some(&&(blo, bhi))) = (a.peek(), b.peek()) {
            let (lo, hi) = (alo.max(blo), ahi.min(bhi));
            if lo <= hi {
                out.push((lo, hi));
            }
            if ahi < bhi {
                a.next();
            } else {
                b.next();
            }
        }
        Self(out)
    }

    /// What is in this one only.
    pub(super) fn difference(&self, other: &Self) -> Self {
        self.intersection(&other.inverted())
    }

    /// With every character that equals a member when case is ignored.
    pub(super) fn closed(&self, unicode: bool) -> Self {
        close(self, unicode)
    }

    pub(super) fn contains(&self, c: u32) -> bool {
        in_ranges(&self.0, c)
    }
}

fn in_ranges(ranges: &[(u32, u32)], c: u32) -> bool {
    let i = ranges.partition_point(|r| r.1 < c);
    ranges.get(i).is_some_and(|r| r.0 <= c)
}

/// A set that is asked for every character of a text: a bit map for ASCII, ranges for the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    ascii: u128,
    rest: Box<[(u32, u32)]>,
}

impl Set {
    pub(super) fn new(ranges: &Ranges) -> Self {
        let mut ascii = 0;
        let mut rest = Vec::new();
        for &(lo, hi) in ranges.as_slice() {
            for c in lo..=hi.min(127) {
                ascii |= 1 << c;
            }
            if hi > 127 {
                rest.push((lo.max(128), hi));
            }
        }
        Self { ascii, rest: rest.into() }
    }

    #[inline]
    pub(super) fn contains(&self, c: u32) -> bool {
        if c < 128 { self.ascii >> c & 1 == 1 } else { in_ranges(&self.rest, c) }
    }

    /// The sole member, if there is just one.
    pub(super) fn only(&self) -> Option<u32> {
        match (self.ascii.count_ones(), &*self.rest) {
            (1, []) => Some(self.ascii.trailing_zeros()),
            (0, [(lo, hi)]) if lo == hi => Some(*lo),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algebra() {
        let a = Ranges::new(vec![(5, 9), (1, 2), (3, 3), (20, 30), (8, 12)]);
        assert_eq!(a.as_slice(), [(1, 3), (5, 12), (20, 30)]);
        assert_eq!(a.inverted().as_slice(), [(0, 0), (4, 4), (13, 19), (31, LAST)]);
        assert_eq!(a.inverted().inverted(), a);
        let b = Ranges::new(vec![(2, 6), (25, 40)]);
        assert_eq!(a.intersection(&b).as_slice(), [(2, 3), (5, 6), (25, 30)]);
        assert_eq!(a.difference(&b).as_slice(), [(1, 1), (7, 12), (20, 24)]);
        let set = Set::new(&Ranges::new(vec![(100, 200), (0x4e00, 0x9fff), (0x1_f600, 0x1_f64f)]));
        assert!(set.contains(127) && set.contains(128) && set.contains(200) && !set.contains(201));
        assert!(set.contains('洛' as u32) && set.contains('😀' as u32) && !set.contains('あ' as u32));
    }
}
