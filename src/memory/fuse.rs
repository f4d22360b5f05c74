//! Ranked lists -> one ranked list (spec 10 §25, reciprocal rank fusion).

use indexmap::IndexMap;

/// What is added to every rank.
pub const RRF_K: f64 = 60.0;

/// Σ weight / (k + rank) over the lists, ranks from 1; best first, ties in the order of first appearance. A key counts once a
/// list. Lists beyond the weights weigh 1.
pub fn fuse<'a>(lists: &[Vec<&'a str>], weights: &[f64], k: f64) -> Vec<(&'a str, f64)> {
    let mut scores: IndexMap<&str, f64> = IndexMap::new();
    for (i, list) in lists.iter().enumerate() {
        let weight = weights.get(i).copied().unwrap_or(1.0);
        let mut rank = 0.0;
        let mut seen = std::collections::BTreeSet::new();
        for key in list {
            rank += 1.0;
            if seen.insert(*key) {
                *scores.entry(key).or_default() += weight / (k + rank);
            }
        }
    }
    let mut out: Vec<(&str, f64)> = scores.into_iter().collect();
    crate::js::sort_by(&mut out, |a, b| b.1.total_cmp(&a.1));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists() {
        let got = fuse(&[vec!["a", "b", "c"], vec!["c", "a", "d"]], &[], RRF_K);
        assert_eq!(got.iter().map(|(k, _)| *k).collect::<Vec<_>>(), ["a", "c", "b", "d"]);
        assert!((got[0].1 - 0.032_522).abs() < 1e-6);
    }
}
