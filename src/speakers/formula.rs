//! A score for every member by a fixed formula; the best speak (spec 09 §7). As Group Director counts, or put right (R18).
//!
//! score = 30 mentions + 40 triggered + recency (20 at most) - 15 consecutive + 10 talkativeness + 5 initiative.

use serde_json::Value;

use super::talk;
use crate::host::{Dice, Site};
use crate::js;
use crate::names::{Matcher, MentionOptions, Named, Recency, has_cjk};

/// A member that may speak.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    /// Id, name, aliases.
    pub named: Named,
    /// Description, personality and scenario: their words trigger.
    pub card: Vec<String>,
    /// As the card has it.
    pub talkativeness: Option<Value>,
    /// Words that trigger when the formula is put right.
    pub triggers: Vec<String>,
}

/// A message of the chat.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Which candidate wrote it.
    pub author: Option<usize>,
    /// The text.
    pub text: &'a str,
}

/// Numbers of the formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How many messages are looked at, counted from the end (default 10).
    pub window: usize,
    /// How many speak (default 1).
    pub top: usize,
    /// Whether a draw decides between near equals (default true).
    pub initiative: bool,
    /// Names are found by the matcher, in the lines of others; only given words trigger (default true). Otherwise as the source.
    pub right: bool,
    /// Points for each mention (default 30).
    pub mention: f64,
    /// Points for a trigger (default 40).
    pub trigger: f64,
    /// Points for having been silent (default 20).
    pub recency: f64,
    /// Points off for each message in a row (default 15).
    pub consecutive: f64,
    /// Points for a talkativeness of 1 (default 10).
    pub talkativeness: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            window: 10,
            top: 1,
            initiative: true,
            right: true,
            mention: 30.0,
            trigger: 40.0,
            recency: 20.0,
            consecutive: 15.0,
            talkativeness: 10.0,
        }
    }
}

/// What came out for one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Which candidate.
    pub index: usize,
    /// The sum.
    pub score: f64,
    /// A trigger word occurred.
    pub triggered: bool,
}

/// Scores in the order of the candidates, and the indices of those who speak, the best first.
pub fn formula(
    candidates: &[Candidate],
    chat: &[Line<'_>],
    options: &Options,
    dice: &mut Dice,
) -> (Vec<Score>, Vec<usize>) {
    let window = chat.get(chat.len().saturating_sub(options.window)..).unwrap_or_default();
    let counts = if options.right { by_matcher(candidates, window) } else { by_text(candidates, window) };
    let mut scores = Vec::with_capacity(candidates.len());
    for (index, (candidate, (mentions, triggered))) in candidates.iter().zip(counts).enumerate() {
        let own = |line: &&Line<'_>| line.author == Some(index);
        let since = window.iter().rev().position(|line| own(&line));
        let recency = since.map_or(options.recency, |d| ratio(d, window.len()) * options.recency);
        let row = chat.iter().rev().take_while(own).count();
        let mut score = options.mention * number(mentions);
        if triggered {
            score += options.trigger;
        }
        score += recency;
        score -= options.consecutive * number(row);
        score += options.talkativeness * talkativeness(candidate.talkativeness.as_ref(), options.right);
        if options.initiative {
            score += dice.draw(Site::Room) * 5.0;
        }
        scores.push(Score { index, score, triggered });
    }
    let mut order: Vec<&Score> = scores.iter().collect();
    js::sort_by(&mut order, |a, b| b.score.total_cmp(&a.score));
    let picked = order.iter().take(options.top).map(|s| s.index).collect();
    (scores, picked)
}

/// The source's reading: a number, and 0.5 for what is none or empty.
fn talkativeness(value: Option<&Value>, right: bool) -> f64 {
    if right {
        return talk::read(value);
    }
    let n = match value {
        None | Some(Value::Null) => f64::NAN,
        Some(Value::String(s)) if s.is_empty() => f64::NAN,
        Some(v) => js::value_to_number(v),
    };
    if n.is_nan() { 0.5 } else { n }
}

/// Mentions and trigger of each candidate, by the matcher, in the lines of others.
fn by_matcher(candidates: &[Candidate], window: &[Line<'_>]) -> Vec<(usize, bool)> {
    let named: Vec<Named> = candidates.iter().map(|c| c.named.clone()).collect();
    let matcher = Matcher::new(&named, MentionOptions::default());
    let mut counts = vec![(0, false); candidates.len()];
    for line in window {
        let banned = line.author.and_then(|a| named.get(a)).map(|n| n.id.as_str());
        let found = matcher.find(line.text, Recency { recent: &[], banned });
        let text = js::lower(line.text);
        for (index, (candidate, count)) in candidates.iter().zip(&mut counts).enumerate() {
            if line.author == Some(index) {
                continue;
            }
            count.0 += found.iter().filter(|m| m.id == candidate.named.id).count();
            let hit = |word: &String| !word.is_empty() && text.contains(&js::lower(word));
            count.1 = count.1 || candidate.triggers.iter().any(hit);
        }
    }
    counts
}

/// The same as the source counts: in all lines, names as pieces of text or by ASCII word boundaries, any word of the card.
fn by_text(candidates: &[Candidate], window: &[Line<'_>]) -> Vec<(usize, bool)> {
    let joined = window.iter().map(|l| l.text).collect::<Vec<_>>().join(" ");
    let lower = js::lower(&joined);
    let stops = |c: char| js::is_space(c) || ",.;!?，。；！？、".contains(c);
    candidates
        .iter()
        .map(|c| {
            let name = c.named.name.as_str();
            let mentions = if name.is_empty() {
                0
            } else if has_cjk(name) {
                joined.matches(name).count()
            } else {
                whole_words(&joined, name)
            };
            let triggered = c
                .card
                .iter()
                .flat_map(|text| text.split(stops))
                .any(|word| (2..=10).contains(&js::len16(word)) && lower.contains(&js::lower(word)));
            (mentions, triggered)
        })
        .collect()
}

/// Matches of `/\bNAME\b/gi` in a text: ASCII word boundaries.
fn whole_words(text: &str, name: &str) -> usize {
    // Without the u flag letters are equal when their simple upper cases are, and ASCII stays apart from the rest.
    let fold = |c: char| {
        let mut upper = c.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(one), None) if c.is_ascii() || !one.is_ascii() => one,
            _ => c,
        }
    };
    let text: Vec<char> = text.chars().map(fold).collect();
    let name: Vec<char> = name.chars().map(fold).collect();
    let word = |at: Option<usize>| at.and_then(|i| text.get(i)).is_some_and(|c| js::is_word(*c));
    let edge = |at: usize| word(at.checked_sub(1)) != word(Some(at));
    let (mut count, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| rest.len() >= name.len()) {
        if rest.starts_with(&name) && edge(at) && edge(at + name.len()) {
            count += 1;
            at += name.len();
        } else {
            at += 1;
        }
    }
    count
}

#[expect(clippy::cast_precision_loss, reason = "counts of a chat are far below 2^53")]
fn number(n: usize) -> f64 {
    n as f64
}

fn ratio(part: usize, whole: usize) -> f64 {
    number(part) / number(whole.max(1))
}
