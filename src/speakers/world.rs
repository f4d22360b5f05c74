//! NekoBot's world engine: the first of five levels that yields somebody speaks (spec 09 §4), as it is or put right (R8).

use serde::{Deserialize, Serialize};

use super::relations::Relation;
use crate::names::{Mention, MentionKind};

/// The active node of the plot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default)]
pub struct Node {
    /// `normal`, `turning_point`, `ending` …
    pub level: String,
    /// Member ids, the most important first.
    pub participants: Vec<String>,
    /// Title.
    pub title: String,
    /// What happens in it.
    pub summary: String,
}

impl Node {
    /// Whether it is one after which a narrator speaks.
    pub fn turns(&self) -> bool {
        matches!(self.level.as_str(), "turning_point" | "ending")
    }
}

/// What the engine looks at.
#[derive(Clone, Copy, Debug, Default)]
pub struct World<'a> {
    /// Id and name of the members, in list order.
    pub members: &'a [(&'a str, &'a str)],
    /// The text.
    pub message: &'a str,
    /// The active node of the plot.
    pub node: Option<&'a Node>,
    /// How members stand: the member is `a`.
    pub relations: &'a [Relation],
    /// Who wrote the last message of a member.
    pub last: Option<&'a str>,
    /// What the matcher found in the text. With it names before relations, and relations are summed.
    pub mentions: Option<&'a [Mention]>,
}

/// Who speaks, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// Member id; empty without members.
    pub speaker_id: String,
    /// NekoBot's number for the level.
    pub confidence: f64,
    /// Which level decided: 1 called, 2 plot, 3 relations, 4 named, 5 anybody; 0 nobody.
    pub level: u8,
    /// A narration follows.
    pub after: bool,
}

/// Decides.
pub fn decide(world: &World<'_>) -> Decision {
    let after = world.node.is_some_and(Node::turns);
    let found = |id: &str, confidence: f64, level: u8, after: bool| Decision {
        speaker_id: id.to_owned(),
        confidence,
        level,
        after,
    };
    if world.members.is_empty() {
        return found("", 1.0, 0, false);
    }
    if let Some(id) = world.called() {
        return found(id, 0.95, 1, after);
    }
    if let Some(id) = world.in_plot() {
        return found(id, 0.85, 2, after);
    }
    let related = world.related().map(|id| found(id, 0.7, 3, false));
    let named = world.named().map(|id| found(id, 0.75, 4, false));
    let either = if world.mentions.is_some() { named.or(related) } else { related.or(named) };
    either.unwrap_or_else(|| {
        let id = world.others().first().map_or("", |(id, _)| *id);
        found(id, 0.5, 5, false)
    })
}

impl<'a> World<'a> {
    /// Members other than the last speaker; when there is no other, all.
    fn others(&self) -> Vec<(&'a str, &'a str)> {
        let others: Vec<_> = self.members.iter().copied().filter(|(id, _)| Some(*id) != self.last).collect();
        if others.is_empty() { self.members.to_vec() } else { others }
    }

    fn member(&self, id: &str) -> Option<&'a str> {
        self.members.iter().map(|(id, _)| *id).find(|m| *m == id)
    }

    fn called(&self) -> Option<&'a str> {
        if let Some(mentions) = self.mentions {
            return mentions.iter().filter(|m| m.kind == MentionKind::At).find_map(|m| self.member(&m.id));
        }
        let at = |name: &str| !name.is_empty() && self.message.contains(&format!("@{name}"));
        self.members.iter().find(|(id, name)| at(name) || at(id)).map(|(id, _)| *id)
    }

    fn in_plot(&self) -> Option<&'a str> {
        let node = self.node?;
        let text = format!("{}{}", node.summary, node.title);
        node.participants.iter().find_map(|id| self.member(id)).or_else(|| self.in_text(&text))
    }

    fn in_text(&self, text: &str) -> Option<&'a str> {
        let inside = |name: &str| !name.is_empty() && text.contains(name);
        self.members.iter().find(|(_, name)| inside(name)).map(|(id, _)| *id)
    }

    fn named(&self) -> Option<&'a str> {
        match self.mentions {
            Some(mentions) => mentions.iter().find_map(|m| self.member(&m.id)),
            None => self.in_text(self.message),
        }
    }

    fn related(&self) -> Option<&'a str> {
        if self.relations.is_empty() {
            return None;
        }
        let weight = |r: &Relation| r.affection + 0.8 * r.trust + 0.5 * r.familiarity;
        let score = |id: &str| match self.mentions {
            Some(_) => self.relations.iter().filter(|r| r.touches(id)).map(weight).sum(),
            None => self.relations.iter().rev().find(|r| r.a == id).map_or(0.0, weight),
        };
        let mut best: Option<(&str, f64)> = None;
        for (id, _) in self.others() {
            let score = score(id);
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((id, score));
            }
        }
        best.map(|(id, _)| id)
    }
}
