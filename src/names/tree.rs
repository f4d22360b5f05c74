//! All patterns of all members in one tree of characters, with what decides at the end of each.

use super::class::{Class, class};
use super::key::KeyChar;
use super::patterns::{MAX_NAME, Rank, length};
use super::props;

/// Who a pattern stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    Member(usize),
    Everyone,
    /// Nobody of the group; the text is spoken for all the same.
    Other,
}

/// One pattern of somebody.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) whom: Whom,
    pub(super) rank: Rank,
    /// What an inflected form was formed from; otherwise the rank.
    pub(super) of: Rank,
    /// An ordinary word too, and the name begins with a capital.
    pub(super) guarded: bool,
}

/// What the boundaries ask of a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Class of the first character, marks skipped.
    pub(super) first: Class,
    /// Class of the last.
    pub(super) last: Class,
    /// Characters as a reader counts them.
    pub(super) length: usize,
    /// Nothing but punctuation, such as `???`: only `@` can mean it.
    pub(super) symbols: bool,
}

#[derive(Debug, Default)]
struct Node {
    /// Sorted by character.
    next: Vec<(char, usize)>,
    /// Set where a pattern ends.
    end: Option<End>,
}

/// Everything that ends at one place of the tree.
#[derive(Debug)]
pub(super) struct End {
    pub(super) shape: Shape,
    pub(super) entries: Vec<Entry>,
}

/// The tree.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub(super) fn new() -> Self {
        Self { nodes: vec![Node::default()] }
    }

    /// Adds a key; an empty one, and one longer than [`MAX_NAME`], is left out.
    pub(super) fn add(&mut self, key: &str, entry: Entry) {
        if key.is_empty() || key.chars().nth(MAX_NAME).is_some() {
            return;
        }
        let mut at = 0;
        for c in key.chars() {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            at = match node.next.binary_search_by_key(&c, |(c, _)| *c) {
                Ok(i) => node.next.get(i).map_or(fresh, |(_, next)| *next),
                Err(i) => {
                    node.next.insert(i, (c, fresh));
                    self.nodes.push(Node::default());
                    fresh
                }
            };
        }
        if let Some(node) = self.nodes.get_mut(at) {
            let end = node.end.get_or_insert_with(|| End { shape: Shape::of(key), entries: Vec::new() });
            // A member's patterns come together, the best first.
            if end.entries.last().is_none_or(|e| e.whom != entry.whom) {
                end.entries.push(entry);
            }
        }
    }

    /// Every pattern that begins `text` and ends with a whole cluster, with its length in key characters; the shortest first.
    pub(super) fn walk(&self, text: &[KeyChar]) -> Vec<(usize, &End)> {
        let mut found = Vec::new();
        let mut node = self.nodes.first();
        for (i, k) in text.iter().enumerate() {
            node = node.and_then(|n| {
                let next = n.next.binary_search_by_key(&k.c, |(c, _)| *c).ok()?;
                self.nodes.get(n.next.get(next)?.1)
            });
            let Some(reached) = node else { break };
            if k.closes {
                found.extend(reached.end.as_ref().map(|end| (i + 1, end)));
            }
        }
        found
    }
}

impl Shape {
    fn of(key: &str) -> Self {
        let mut solid = key.chars().filter(|c| !props::is_nonspacing(*c)).map(class);
        let first = solid.next().unwrap_or(Class::Other);
        let last = solid.next_back().unwrap_or(first);
        let drawn = |c: char| {
            class(c) != Class::Other || (c >= '\u{2190}' && !('\u{3000}'..='\u{303f}').contains(&c))
        };
        Self { first, last, length: length(key), symbols: !key.chars().any(drawn) }
    }
}
