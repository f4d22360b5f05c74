//! Stable sorting, as `Array.prototype.sort` does it.
//!
//! The standard library makes a sort of its own for every type, 7 kB each in wasm; here one sorts positions for all of them.

use std::cmp::Ordering;

/// Sorts by a comparison; what compares equal keeps its order.
pub fn sort_by<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let order = order(list.len(), &mut |a, b| match (list.get(a), list.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    put(list, order);
}

/// Sorts by a key; what has equal keys keeps its order.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// The positions `0..length` in the order of a comparison: runs are merged, from the shortest up.
fn order(length: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut from: Vec<usize> = (0..length).collect();
    let mut into: Vec<usize> = Vec::with_capacity(length);
    let mut run = 1;
    while run < length {
        into.clear();
        for pair in from.chunks(run * 2) {
            let (mut left, mut right) = pair.split_at(run.min(pair.len()));
            while let ([a, after_a @ ..], [b, after_b @ ..]) = (left, right) {
                if compare(*a, *b) == Ordering::Greater {
                    into.push(*b);
                    right = after_b;
                } else {
                    into.push(*a);
                    left = after_a;
                }
            }
            into.extend_from_slice(left);
            into.extend_from_slice(right);
        }
        std::mem::swap(&mut from, &mut into);
        run *= 2;
    }
    from
}

/// Puts every element at its place: `order[i]` is where the one that belongs at `i` stands.
fn put<T>(list: &mut [T], order: Vec<usize>) {
    let mut place = vec![0; order.len()];
    for (to, from) in order.into_iter().enumerate() {
        if let Some(slot) = place.get_mut(from) {
            *slot = to;
        }
    }
    for i in 0..place.len() {
        // Each swap brings one element home.
        while let Some(to) = place.get(i).copied().filter(|to| *to != i) {
            list.swap(i, to);
            place.swap(i, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        let mut seed = 7_u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % n
        };
        for length in (0..70).chain([255, 256, 257, 1000]) {
            for values in [1, 2, 7, 1000] {
                let list: Vec<(u32, usize)> = (0..length).map(|i| (next(values), i)).collect();
                let (mut ours, mut theirs) = (list.clone(), list);
                sort_by_key(&mut ours, |(key, _)| *key);
                theirs.sort_by_key(|(key, _)| *key);
                assert_eq!(ours, theirs);
                sort_by(&mut ours, |a, b| b.0.cmp(&a.0));
                theirs.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
                assert_eq!(ours, theirs);
            }
        }
    }
}
