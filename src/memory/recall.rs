//! Chat messages, scores and settings -> what is recalled (spec 10 §23). Pure choice: who computes the scores is another matter.

use super::exact::collapsed;
use super::fuse::{RRF_K, fuse};
use super::index::VectorIndex;
use crate::error::Error;

/// A message that may be recalled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memo {
    /// Its id.
    pub id: String,
    /// Who wrote it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Hidden from prompts.
    pub hidden: bool,
    /// Ids of those who heard it; `None`: everyone.
    pub present: Option<Vec<String>>,
}

impl Memo {
    /// Whether a member heard it. Without a member everything was heard.
    pub fn heard_by(&self, member: Option<&str>) -> bool {
        match (&self.present, member) {
            (Some(present), Some(member)) => present.iter().any(|p| p == member),
            _ => true,
        }
    }
}

/// Which messages may be recalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All but the newest `protect`; what is recalled leaves the history.
    Unprotected,
    /// Those before this position: the ones that the history had to leave out.
    Dropped(usize),
}

impl Candidates {
    /// Where they end in a chat of `length` messages.
    fn end(self, length: usize, protect: usize) -> usize {
        match self {
            Self::Unprotected => length.saturating_sub(protect),
            Self::Dropped(kept_from) => kept_from.min(length),
        }
    }
}

/// In which order recalled messages stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they were said.
    #[default]
    Chronological,
    /// The best one last, nearest to the reply.
    Relevance,
}

/// Settings of recall.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallSettings {
    /// Least cosine.
    pub threshold: f32,
    /// Messages at most.
    pub top: usize,
    /// Newest messages that are never candidates; 0 protects none.
    pub protect: usize,
    /// Which messages may be recalled.
    pub candidates: Candidates,
    /// Their order.
    pub order: Order,
    /// Around the text; every `{{text}}` is replaced, literally.
    pub template: String,
    /// Cost of all recalled messages at most.
    pub budget: Option<usize>,
    /// Hidden messages may be recalled.
    pub keep_hidden: bool,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            threshold: 0.25,
            top: 3,
            protect: 5,
            candidates: Candidates::Unprotected,
            order: Order::Chronological,
            template: "Past events:\n{{text}}".to_owned(),
            budget: None,
            keep_hidden: false,
        }
    }
}

/// A message that was taken, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Picked {
    /// Its position among the messages.
    pub at: usize,
    /// What it was ranked by: the cosine, or the fused score where words took part.
    pub score: f64,
    /// The cosine of its best chunk, when there are vectors.
    pub cosine: Option<f32>,
    /// Its rank among the word hits, from 1.
    pub word_rank: Option<usize>,
    /// What it costs.
    pub cost: usize,
}

/// How many messages were not taken, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excluded {
    /// No candidates: too new, or in the history anyway.
    pub protected: usize,
    /// The speaker was not there.
    pub not_heard: usize,
    /// Hidden from prompts.
    pub hidden: usize,
    /// Below the threshold.
    pub below: usize,
    /// Enough better ones.
    pub over_top: usize,
    /// They do not fit the budget.
    pub over_budget: usize,
}

/// What was recalled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recall {
    /// Taken messages, best first.
    pub picked: Vec<Picked>,
    /// The text to insert; empty for none.
    pub text: String,
    /// Positions of messages that stay in the history.
    pub history: Vec<usize>,
    /// What was not taken.
    pub excluded: Excluded,
}

/// The best cosine of each message over its chunks and over the queries; `None` for messages without a vector.
pub fn message_scores(
    memos: &[Memo],
    index: &VectorIndex,
    queries: &[Vec<f32>],
) -> Result<Vec<Option<f32>>, Error> {
    let at: std::collections::BTreeMap<&str, usize> =
        memos.iter().enumerate().map(|(i, m)| (m.id.as_str(), i)).collect();
    let mut scores: Vec<Option<f32>> = vec![None; memos.len()];
    for query in queries {
        for (item, score) in index.items().iter().zip(index.scores(query)?) {
            let slot = at.get(item.of.as_str()).and_then(|i| scores.get_mut(*i));
            if let Some(slot) = slot {
                *slot = Some(slot.map_or(score, |old| old.max(score)));
            }
        }
    }
    Ok(scores)
}

/// Positions of the messages that may be recalled, and why the others may not.
pub fn candidates(memos: &[Memo], member: Option<&str>, settings: &RecallSettings) -> (Vec<usize>, Excluded) {
    let end = settings.candidates.end(memos.len(), settings.protect);
    let mut excluded = Excluded { protected: memos.len() - end, ..Excluded::default() };
    let mut open: Vec<usize> = Vec::new();
    for (at, memo) in memos.iter().enumerate().take(end) {
        if !memo.heard_by(member) {
            excluded.not_heard += 1;
        } else if memo.hidden && !settings.keep_hidden {
            excluded.hidden += 1;
        } else {
            open.push(at);
        }
    }
    (open, excluded)
}

/// Chooses among messages by their cosines and, if given, by word hits (positions, best first). `cost` of a block of text.
pub fn recall(
    memos: &[Memo],
    cosines: &[Option<f32>],
    words: Option<&[usize]>,
    member: Option<&str>,
    settings: &RecallSettings,
    cost: &dyn Fn(&str) -> usize,
) -> Recall {
    let (open, mut excluded) = candidates(memos, member, settings);
    let ranked = ranked(&open, cosines, words, settings.threshold);
    excluded.below = open.len() - ranked.len();

    let mut room = settings.budget.unwrap_or(usize::MAX);
    let mut picked: Vec<Picked> = Vec::new();
    for mut candidate in ranked {
        if picked.len() >= settings.top {
            excluded.over_top += 1;
            continue;
        }
        candidate.cost = memos.get(candidate.at).map_or(0, |m| cost(&block(m)));
        if candidate.cost > room {
            excluded.over_budget += 1;
            continue;
        }
        room -= candidate.cost;
        picked.push(candidate);
    }

    let mut order: Vec<usize> = picked.iter().map(|p| p.at).collect();
    match settings.order {
        Order::Chronological => order.sort_unstable(),
        Order::Relevance => order.reverse(),
    }
    let blocks: Vec<String> = order.iter().filter_map(|at| memos.get(*at)).map(block).collect();
    let text = if blocks.is_empty() {
        String::new()
    } else {
        settings.template.replace("{{text}}", &blocks.join("\n\n"))
    };
    let from = match settings.candidates {
        Candidates::Unprotected => 0,
        Candidates::Dropped(kept_from) => kept_from.min(memos.len()),
    };
    let history = (from..memos.len()).filter(|at| !order.contains(at)).collect();
    Recall { picked, text, history, excluded }
}

/// The text of one message.
fn block(memo: &Memo) -> String {
    collapsed(&format!("{}: {}", memo.name, memo.text))
}

/// Candidates that pass, best first, newer first on ties.
fn ranked(open: &[usize], cosines: &[Option<f32>], words: Option<&[usize]>, threshold: f32) -> Vec<Picked> {
    let cosine = |at: usize| cosines.get(at).copied().flatten();
    let mut by_cosine: Vec<(usize, f32)> = open
        .iter()
        .filter_map(|at| Some((*at, cosine(*at)?)))
        .filter(|(_, score)| *score >= threshold)
        .collect();
    crate::js::sort_by(&mut by_cosine, |a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    let picked = |at: usize, score: f64| Picked { at, score, cosine: cosine(at), word_rank: None, cost: 0 };
    let Some(words) = words else {
        return by_cosine.into_iter().map(|(at, score)| picked(at, f64::from(score))).collect();
    };
    let by_words: Vec<usize> = words.iter().copied().filter(|at| open.binary_search(at).is_ok()).collect();
    let keys: Vec<String> =
        (0..cosines.len().max(open.last().map_or(0, |l| l + 1))).map(|i| i.to_string()).collect();
    let key = |at: &usize| keys.get(*at).map(String::as_str);
    let lists = [
        by_cosine.iter().filter_map(|(at, _)| key(at)).collect::<Vec<_>>(),
        by_words.iter().filter_map(key).collect(),
    ];
    let ranks: std::collections::BTreeMap<usize, usize> =
        by_words.iter().enumerate().map(|(rank, at)| (*at, rank + 1)).collect();
    fuse(&lists, &[], RRF_K)
        .into_iter()
        .filter_map(|(key, score)| {
            let at = key.parse().ok()?;
            let word_rank = ranks.get(&at).copied();
            Some(Picked { word_rank, ..picked(at, score) })
        })
        .collect()
}
