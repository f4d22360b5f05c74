//! A text and the members of a group -> who is mentioned in it, and where (spec 01 §P1).
//!
//! Build a [`Matcher`] once for a list of members; [`Matcher::find`] is then linear in the text: from every place where a name
//! could begin, one walk down a tree of all names, at most [`MAX_NAME`](super::MAX_NAME) steps deep.

use super::edges::{Edges, Reading};
use super::key::{Keyed, key};
use super::masks::Masks;
use super::options::{MentionOptions, Shared};
use super::patterns::{Lists, Rank, keys, of_member, of_other};
use super::tree::{Entry, Tree, Whom};
use crate::js;

/// How a member was mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MentionKind {
    /// `@name`, or `@everyone`.
    At,
    /// By the whole name.
    Full,
    /// By another name it answers to.
    Alias,
    /// By a word of its name.
    Part,
}

/// One mention. Several members share a range when `@everyone` or a shared name means all of them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Mention {
    /// Member id.
    pub id: String,
    /// Where it begins, in UTF-16 units. The `@` is not part of it.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How.
    pub kind: MentionKind,
    /// A muted member that was called by `@`: reported, but not to speak unless `at_unmutes` is on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
}

/// A member, as the matcher needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Member id.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// Only `@` finds it, and plain mentions of it are nobody's.
    pub muted: bool,
}

/// What one text is read against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recency<'a> {
    /// Ids in order of their last message, the latest first.
    pub recent: &'a [&'a str],
    /// Who may not answer: the writer of the text itself. Where a name is shared, the other one is meant.
    pub banned: Option<&'a str>,
}

/// Finds mentions of a fixed list of members.
#[derive(Debug)]
pub struct Matcher {
    options: MentionOptions,
    /// Id, and whether muted.
    members: Vec<(String, bool)>,
    tree: Tree,
    edges: Edges,
}

impl Matcher {
    /// A matcher for members in list order; of equal ids the first counts.
    pub fn new(members: &[Named], options: MentionOptions) -> Self {
        let diacritics = options.diacritics;
        let words = &options.words;
        let lists = Lists::new(words, diacritics, options.inflect);
        let common = keys(&words.common, diacritics);
        let full = |whom| Entry { whom, rank: Rank::Full, of: Rank::Full, guarded: false };
        let mut tree = Tree::new();
        let mut listed: Vec<(String, bool)> = Vec::new();
        for member in members {
            if listed.iter().any(|(id, _)| *id == member.id) {
                continue;
            }
            let whom = Whom::Member(listed.len());
            listed.push((member.id.clone(), member.muted));
            let capital = member.name.chars().find(|c| c.is_alphabetic()).is_some_and(char::is_uppercase);
            for p in of_member(&member.name, &member.aliases, &lists) {
                let guarded = capital && p.of != Rank::Alias && common.contains(&p.key);
                tree.add(&p.key, Entry { whom, rank: p.rank, of: p.of, guarded });
            }
            if options.by_id {
                tree.add(&key(&member.id, diacritics), full(whom));
            }
        }
        for key in options.other_names.iter().flat_map(|name| of_other(name, &lists)) {
            tree.add(&key, full(Whom::Other));
        }
        for key in keys(&words.everyone, diacritics) {
            tree.add(&key, full(Whom::Everyone));
        }
        let edges = Edges::new(words, diacritics);
        Self { members: listed, tree, edges, options }
    }

    /// The options it was made with.
    pub const fn options(&self) -> &MentionOptions {
        &self.options
    }

    /// All mentions in a text, by place; they overlap only where one range means several members. `who.banned` is left out.
    pub fn find(&self, text: &str, who: Recency<'_>) -> Vec<Mention> {
        let o = &self.options;
        let reading = Reading { text, keyed: Keyed::new(text, o.diacritics) };
        let mut masks = Masks::new(text, o.ignore_code, o.ignore_urls, o.ignore_quotes);
        let mut found = Vec::new();
        let mut offsets = Offsets { text, byte: 0, unit: 0 };
        let mut i = 0;
        while let Some(first) = reading.keyed.chars().get(i) {
            let masked = masks.hide(first.start);
            let Some((end, meant)) = first.opens.then(|| self.at(&reading, i, masked, who)).flatten() else {
                i += 1;
                continue;
            };
            let last =
                end.checked_sub(1).and_then(|k| reading.keyed.chars().get(k)).map_or(text.len(), |k| k.end);
            let (start16, end16) = (offsets.unit_at(first.start), offsets.unit_at(last));
            for (member, kind) in meant {
                if let Some((id, muted)) = self.members.get(member).filter(|(id, _)| who.banned != Some(id)) {
                    found.push(Mention { id: id.clone(), start: start16, end: end16, kind, muted: *muted });
                }
            }
            i = end;
        }
        found
    }

    /// The best match that begins at a position: where it ends and whom it means.
    fn at(
        &self,
        reading: &Reading<'_>,
        i: usize,
        masked: bool,
        who: Recency<'_>,
    ) -> Option<(usize, Vec<(usize, MentionKind)>)> {
        let at = reading.is_at(i);
        if masked && !at {
            return None;
        }
        let ends = self.tree.walk(reading.keyed.chars().get(i..)?);
        // The longest first: inside Mary-Anne nobody means Anne.
        ends.into_iter().rev().find_map(|(length, found)| {
            let (end, shape) = (i + length, found.shape);
            let begins = at || (!shape.symbols && self.edges.left(reading, i, end, shape));
            if !begins || !self.edges.right(reading, i, end, shape, at) {
                return None;
            }
            self.choose(reading, i, end, &found.entries, at, who).map(|meant| (end, meant))
        })
    }

    /// Of the members that share a key at a place: whom it means. `None`: nothing there counts, a shorter match may.
    fn choose(
        &self,
        reading: &Reading<'_>,
        i: usize,
        end: usize,
        entries: &[Entry],
        at: bool,
        who: Recency<'_>,
    ) -> Option<Vec<(usize, MentionKind)>> {
        let kind = |of: Rank| match of {
            _ if at => MentionKind::At,
            Rank::Full | Rank::Inflected => MentionKind::Full,
            Rank::Alias => MentionKind::Alias,
            Rank::Part => MentionKind::Part,
        };
        let addressed = at || entries.iter().all(|e| !e.guarded) || reading.addressed(i, end);
        let counts = |e: &&Entry| at || (e.whom != Whom::Everyone && (addressed || !e.guarded));
        let muted = |m: usize| {
            self.members.get(m).is_none_or(|(_, muted)| *muted && !(at && self.options.at_unmutes))
        };
        let candidates: Vec<(usize, &Entry)> = entries
            .iter()
            .filter(counts)
            .filter_map(|e| if let Whom::Member(m) = e.whom { Some((m, e)) } else { None })
            .collect();
        // Who may speak comes before who may not, then the better name.
        let best = candidates.iter().map(|(m, e)| (muted(*m), e.rank)).min();
        let Some(best) = best else {
            let mut rest = entries.iter().filter(counts);
            let everyone = rest.next()?.whom == Whom::Everyone || rest.any(|e| e.whom == Whom::Everyone);
            let all = (0..self.members.len())
                .filter(|m| everyone && !self.members.get(*m).is_none_or(|(_, muted)| *muted));
            return Some(all.map(|m| (m, MentionKind::At)).collect());
        };
        let other = entries.iter().any(|e| e.whom == Whom::Other && e.rank < best.1);
        if !at && (best.0 || other) {
            return Some(Vec::new());
        }
        let mut tied: Vec<(usize, &Entry)> =
            candidates.into_iter().filter(|(m, e)| (muted(*m), e.rank) == best).collect();
        let banned = |m: usize| self.members.get(m).is_some_and(|(id, _)| who.banned == Some(id));
        if tied.iter().any(|(m, _)| !banned(*m)) {
            tied.retain(|(m, _)| !banned(*m));
        }
        // Entries are in list order.
        match self.options.shared {
            Shared::All => {}
            Shared::First => tied.truncate(1),
            Shared::Recent => {
                let recency = |m: usize| {
                    let id = self.members.get(m).map_or("", |(id, _)| id);
                    who.recent.iter().position(|r| *r == id).unwrap_or(usize::MAX)
                };
                tied = tied.into_iter().min_by_key(|(m, _)| recency(*m)).into_iter().collect();
            }
        }
        Some(tied.into_iter().map(|(m, e)| (m, kind(e.of))).collect())
    }
}

/// UTF-16 offsets of ascending byte offsets, in one pass.
struct Offsets<'a> {
    text: &'a str,
    byte: usize,
    unit: usize,
}

impl Offsets<'_> {
    fn unit_at(&mut self, byte: usize) -> usize {
        self.unit += self.text.get(self.byte..byte).map_or(0, js::len16);
        self.byte = self.byte.max(byte);
        self.unit
    }
}
