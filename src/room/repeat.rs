//! A speaker's last message and the new one -> whether the new one says the same again (spec 09 §18).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::js;
use crate::names::{Nfkc, is_cjk, is_written};

/// How many characters of each text the comparison by pieces looks at.
const LOOKED_AT: usize = 4000;
/// From which likeness of the given vectors on a text is a repeat.
const COSINE: f64 = 0.92;

/// How the guard measures.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct RepeatOptions {
    /// From which likeness on a text is a repeat, 0 to 1. Default: 0.6 for Chinese, Japanese and Korean, 0.7 for others.
    pub threshold: Option<f64>,
    /// The caller hands vectors of both texts in: a cosine of 0.92 is a repeat, too (default false).
    pub embedding: bool,
}

/// Why it is one, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The same words.
    Equal,
    /// The longer text holds the shorter one.
    Contained,
    /// The measure of shared pieces decided.
    Dice,
    /// The vectors decided.
    Embedding,
    /// Too short to say.
    Short,
    /// No words.
    Empty,
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Likeness {
    /// Whether it is a repeat.
    pub repeat: bool,
    /// Why.
    pub why: Why,
    /// Share of common pieces, to three places, where they decided.
    pub score: Option<f64>,
}

/// Compares. `vectors`: embeddings of both texts, for [`RepeatOptions::embedding`].
pub fn similar(
    previous: &str,
    new: &str,
    options: &RepeatOptions,
    vectors: Option<(&[f64], &[f64])>,
) -> Likeness {
    let mut nfkc = Nfkc::default();
    let (a, b) = (words(previous, &mut nfkc), words(new, &mut nfkc));
    let decided = |repeat, why| Likeness { repeat, why, score: None };
    if a.is_empty() || b.is_empty() {
        return decided(false, Why::Empty);
    }
    if a == b {
        return decided(true, Why::Equal);
    }
    if options.embedding && vectors.is_some_and(|(a, b)| cosine(a, b) >= COSINE) {
        return decided(true, Why::Embedding);
    }
    let cjk = a.iter().chain(&b).filter(|c| is_cjk(**c)).count();
    let dense = cjk * 2 >= a.len() + b.len();
    let (n, minimum, threshold) = if dense { (2, 6, 0.6) } else { (3, 12, 0.7) };
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    if short.len() < minimum {
        return decided(false, Why::Short);
    }
    let text = |chars: &[char]| chars.iter().collect::<String>();
    if short.len() * 2 >= long.len() && text(long).contains(&text(short)) {
        return decided(true, Why::Contained);
    }
    let score = dice(&a, &b, n);
    let repeat = score >= options.threshold.unwrap_or(threshold);
    Likeness { repeat, why: Why::Dice, score: Some(js::round(score * 1000.0) / 1000.0) }
}

/// What is compared: letters, numbers and marks, in one spelling.
fn words(text: &str, nfkc: &mut Nfkc) -> Vec<char> {
    js::lower(&nfkc.of(text)).chars().filter(|c| is_written(*c)).collect()
}

/// Share of n-grams that two texts have in common, counted as often as they occur.
fn dice(a: &[char], b: &[char], n: usize) -> f64 {
    let (a, b) = (a.get(..LOOKED_AT).unwrap_or(a), b.get(..LOOKED_AT).unwrap_or(b));
    let mut counts: BTreeMap<&[char], usize> = BTreeMap::new();
    for gram in a.windows(n) {
        *counts.entry(gram).or_default() += 1;
    }
    let mut shared = 0;
    for gram in b.windows(n) {
        if let Some(left) = counts.get_mut(gram).filter(|left| **left > 0) {
            *left -= 1;
            shared += 1;
        }
    }
    let all = a.windows(n).len() + b.windows(n).len();
    number(2 * shared) / number(all.max(1))
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let size = (dot(a, a) * dot(b, b)).sqrt();
    if a.len() != b.len() || size <= 0.0 { 0.0 } else { dot(a, b) / size }
}

#[expect(clippy::cast_precision_loss, reason = "at most twice 4000")]
fn number(n: usize) -> f64 {
    n as f64
}
