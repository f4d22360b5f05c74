//! A pattern as a tree in one list: what `parse` writes and `compile` reads. Children stand before their parents, so nothing
//! here needs recursion.

use super::set::Ranges;

/// Index of a node.
pub(super) type Id = usize;

/// What a position must be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    /// `\b`
    Edge,
    /// `\B`
    NoEdge,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Empty,
    /// One character out of a set (case already looked after). A literal is a set of one.
    Set(Ranges),
    At(At),
    /// One after the other.
    Seq(Vec<Id>),
    /// The first that leads to a match.
    Alt(Vec<Id>),
    /// A capturing group by number.
    Capture(u32, Id),
    /// Between `min` and `max` (`u32::MAX`: no end) times.
    Repeat {
        body: Id,
        min: u32,
        max: u32,
        greedy: bool,
    },
    Look {
        body: Id,
        ahead: bool,
        negate: bool,
    },
    /// What a group has matched.
    Back(u32),
    /// The same by name; becomes `Back` when all names are known.
    Named(String),
}

/// What is known of a node without looking into it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// It may match without taking a character.
    pub empty: bool,
    /// Capturing groups inside: from, up to but not including.
    pub groups: (u32, u32),
}

/// The tree of a pattern.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub nodes: Vec<(Node, Facts)>,
    pub root: Id,
    /// Number of groups, the whole match included.
    pub groups: u32,
    /// Names of groups in order of appearance.
    pub names: Vec<(String, u32)>,
    /// It refers back to what a group matched, so its future depends on its past.
    pub backward_references: bool,
}

impl Tree {
    pub(super) fn node(&self, id: Id) -> &Node {
        self.nodes.get(id).map_or(&Node::Empty, |n| &n.0)
    }

    pub(super) fn facts(&self, id: Id) -> Facts {
        self.nodes.get(id).map_or_else(Facts::default, |n| n.1)
    }

    /// Adds a node whose children are there already. `groups` are the capturing groups it encloses.
    pub(super) fn add(&mut self, node: Node, groups: (u32, u32)) -> Id {
        let empty = match &node {
            Node::Set(_) => false,
            Node::Empty | Node::At(_) | Node::Look { .. } | Node::Back(_) | Node::Named(_) => true,
            Node::Seq(list) => list.iter().all(|&id| self.facts(id).empty),
            Node::Alt(list) => list.iter().any(|&id| self.facts(id).empty),
            Node::Capture(_, body) => self.facts(*body).empty,
            Node::Repeat { body, min, .. } => *min == 0 || self.facts(*body).empty,
        };
        self.nodes.push((node, Facts { empty, groups }));
        self.nodes.len() - 1
    }
}
