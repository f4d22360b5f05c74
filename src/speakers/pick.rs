//! One speaker by NekoBot's strategies (spec 09 §4), as they are or with the matcher of names (R5, R7).
//!
//! With `mentions` the text is read by the matcher; without, ids are looked for as pieces of the lower-cased text, as NekoBot does.

use super::relations::Relation;
use crate::host::{Dice, Site};
use crate::js;
use crate::names::Mention;

/// How one speaker is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one after the last speaker.
    RoundRobin,
    /// Who is mentioned; nobody: the first.
    Mention,
    /// One drawn.
    Random,
    /// The best score of mentions and relations; all 0: one drawn.
    Relevance,
    /// The narrator; if it is no member, the first.
    NarratorDriven,
}

impl Choice {
    /// By NekoBot's name; an unknown one is `mention`.
    pub fn named(name: &str) -> Self {
        match name {
            "round_robin" => Self::RoundRobin,
            "random" => Self::Random,
            "relevance" => Self::Relevance,
            "narrator_driven" => Self::NarratorDriven,
            _ => Self::Mention,
        }
    }
}

/// What the choice is made from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// Member ids, in list order.
    pub ids: &'a [&'a str],
    /// The text.
    pub message: &'a str,
    /// Who wrote the last message of a member.
    pub last: Option<&'a str>,
    /// The narrator's id.
    pub narrator: Option<&'a str>,
    /// How the members stand.
    pub relations: &'a [Relation],
    /// What the matcher found in the text.
    pub mentions: Option<&'a [Mention]>,
}

/// The speaker; `None` without members.
pub fn choose<'a>(how: Choice, asked: &Asked<'a>, dice: &mut Dice) -> Option<&'a str> {
    let ids = asked.ids;
    let first = ids.first().copied()?;
    Some(match how {
        Choice::RoundRobin => {
            let at = asked.last.and_then(|last| ids.iter().position(|id| *id == last));
            at.and_then(|at| ids.get(at + 1)).copied().unwrap_or(first)
        }
        Choice::Mention => mentioned(asked).unwrap_or(first),
        Choice::Random => drawn(ids, dice).unwrap_or(first),
        Choice::Relevance => relevance(asked, dice).unwrap_or(first),
        Choice::NarratorDriven => {
            asked.narrator.and_then(|n| ids.iter().find(|id| **id == n)).copied().unwrap_or(first)
        }
    })
}

/// Whether a member answers by itself (NekoBot's `should_respond`): under `mention` only when its id is in the text.
pub fn responds(how: Choice, id: &str, message: &str) -> bool {
    how != Choice::Mention || js::lower(message).contains(&js::lower(id))
}

fn mentioned<'a>(asked: &Asked<'a>) -> Option<&'a str> {
    if let Some(mentions) = asked.mentions {
        return mentions.iter().find_map(|m| asked.ids.iter().copied().find(|id| *id == m.id));
    }
    let text = js::lower(asked.message);
    asked.ids.iter().copied().find(|id| text.contains(&js::lower(id)))
}

fn drawn<'a>(ids: &[&'a str], dice: &mut Dice) -> Option<&'a str> {
    ids.get(dice.index(Site::Room, ids.len())).copied()
}

fn relevance<'a>(asked: &Asked<'a>, dice: &mut Dice) -> Option<&'a str> {
    let text = js::lower(asked.message);
    let weight = |r: &Relation| 0.05 * r.affection + 0.03 * r.familiarity;
    let mut best: Option<(&str, f64)> = None;
    for &id in asked.ids {
        let named = match asked.mentions {
            Some(mentions) => mentions.iter().filter(|m| m.id == id).count(),
            None if id.is_empty() => 0,
            None => text.matches(&js::lower(id)).count(),
        };
        let counts = |r: &&Relation| match asked.mentions {
            Some(_) => asked.last.is_some_and(|last| last != id && r.touches(id) && r.touches(last)),
            None => r.touches(id),
        };
        let stands: f64 = asked.relations.iter().filter(counts).map(weight).sum();
        #[expect(clippy::cast_precision_loss, reason = "a text is shorter than 2^53")]
        let score = 10.0 * named as f64 + stands;
        if best.is_none_or(|(_, most)| score > most) {
            best = Some((id, score));
        }
    }
    best.filter(|(_, score)| *score > 0.0).map(|(id, _)| id).or_else(|| drawn(asked.ids, dice))
}
