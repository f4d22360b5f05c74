//! Pattern text -> tree, by ECMAScript's grammar: Annex B's forgiving one without `u` and `v`, the strict one with them.
//! Syntax newer than Node 20 (inline modifiers, one name for two groups) is refused, as the reference refuses it.
//! Open groups stand on a list, so nesting costs memory and no stack.

use super::ast::{At, Id, Node, Tree};
use super::class;
use super::escape::{self, Escape};
use super::props::Identifiers;
use super::set::Ranges;
use super::text::pair;
use super::{Flags, SyntaxError};

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// More groups than this are refused, as V8 refuses them.
const MOST_GROUPS: u32 = 1 << 16;

/// Where reading has got to, and what is known of the whole pattern.
pub(super) struct Parser<'p> {
    source: &'p [u16],
    pub at: usize,
    pub flags: Flags,
    /// Some group has a name, so `\k` is a reference even without `u`.
    pub named: bool,
    /// Number of groups in the whole pattern, without the match itself.
    pub total: u32,
    /// A reference has been met that stands before its group, so V8 has looked ahead for groups.
    surveyed: bool,
    identifiers: Identifiers,
    tree: Tree,
}

/// A group that is still open.
struct Frame {
    kind: Kind,
    alternatives: Vec<Id>,
    sequence: Vec<Id>,
    groups_before: u32,
}

enum Kind {
    Whole,
    Plain,
    Capture(u32),
    Look { ahead: bool, negate: bool },
}

/// Reads a pattern.
pub(super) fn parse(source: &[u16], flags: Flags) -> Result<Tree> {
    let (total, named) = survey(source, flags.sets);
    if total >= MOST_GROUPS {
        return Err(SyntaxError::new(0, "Too many captures"));
    }
    let tree = Tree { groups: 1, ..Tree::default() };
    let identifiers = Identifiers::default();
    let mut parser = Parser { source, at: 0, flags, named, total, surveyed: false, identifiers, tree };
    parser.pattern()?;
    parser.resolve_names()?;
    Ok(parser.tree)
}

/// Counts groups before they are read, since `\2` may stand in front of them. Brackets hide parentheses.
fn survey(source: &[u16], nested: bool) -> (u32, bool) {
    let (mut total, mut named, mut depth) = (0, false, 0_usize);
    let unit = |i: usize| source.get(i).copied().unwrap_or(0);
    let is = |i: usize, c: char| u32::from(unit(i)) == u32::from(c);
    let mut i = 0;
    while i < source.len() {
        if is(i, '\\') {
            i += 1;
        } else if is(i, '[') && (depth == 0 || nested) {
            depth += 1;
        } else if is(i, ']') {
            depth = depth.saturating_sub(1);
        } else if is(i, '(') && depth == 0 {
            let name = is(i + 1, '?') && is(i + 2, '<') && !is(i + 3, '=') && !is(i + 3, '!');
            named |= name;
            total += u32::from(name || !is(i + 1, '?'));
        }
        i += 1;
    }
    (total, named)
}

impl Parser<'_> {
    /// The pattern is read by code points.
    pub(super) fn unicode(&self) -> bool {
        self.flags.unicode || self.flags.sets
    }

    pub(super) fn error<T>(&self, message: &'static str) -> Result<T> {
        Err(SyntaxError::new(self.at, message))
    }

    /// The next character, a code point with `u` and `v`.
    pub(super) fn peek(&self) -> Option<u32> {
        let unit = |at: usize| self.source.get(at).map(|&u| u32::from(u));
        let first = unit(self.at)?;
        let whole = if self.unicode() { unit(self.at + 1).and_then(|low| pair(first, low)) } else { None };
        Some(whole.unwrap_or(first))
    }

    pub(super) fn bump(&mut self) -> Option<u32> {
        let c = self.peek()?;
        self.at += if c > 0xFFFF { 2 } else { 1 };
        Some(c)
    }

    /// Whether an ASCII text comes next.
    pub(super) fn looks_at(&self, text: &str) -> bool {
        text.bytes().enumerate().all(|(i, b)| self.source.get(self.at + i) == Some(&u16::from(b)))
    }

    /// Steps over an ASCII text if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.looks_at(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// A set as the flags want it: closed over case, then turned round.
    pub(super) fn finish_set(&self, set: Ranges, negate: bool) -> Ranges {
        let set = if self.flags.ignore_case { set.closed(self.unicode()) } else { set };
        if negate { set.inverted() } else { set }
    }

    /// Adds characters one after the other.
    pub(super) fn add_sequence(&mut self, list: Vec<Ranges>) -> Id {
        let list = list.into_iter().map(|set| self.tree.add(Node::Set(set), (0, 0))).collect();
        self.tree.add(Node::Seq(list), (0, 0))
    }

    fn pattern(&mut self) -> Result<()> {
        let mut open = vec![Frame::new(Kind::Whole, self.tree.groups)];
        while let Some(c) = self.peek() {
            let before = self.tree.groups;
            let (atom, quantifiable) = match char::from_u32(c).unwrap_or('\u{fffd}') {
                '|' => {
                    self.at += 1;
                    if let Some(frame) = open.last_mut() {
                        frame.end_alternative(&mut self.tree);
                    }
                    continue;
                }
                '(' => {
                    let frame = self.open_group()?;
                    open.push(frame);
                    continue;
                }
                ')' => {
                    if open.len() < 2 {
                        return self.error("Unmatched ')'");
                    }
                    self.at += 1;
                    let Some(frame) = open.pop() else { continue };
                    let before = frame.groups_before;
                    let (id, quantifiable) = frame.close(self);
                    let id = if quantifiable { self.quantified(id, before)? } else { id };
                    push(&mut open, id);
                    continue;
                }
                '^' => {
                    self.at += 1;
                    (Node::At(if self.flags.multiline { At::LineStart } else { At::TextStart }), false)
                }
                '$' => {
                    self.at += 1;
                    (Node::At(if self.flags.multiline { At::LineEnd } else { At::TextEnd }), false)
                }
                '*' | '+' | '?' => return self.error("Nothing to repeat"),
                '{' if self.unicode() => return self.error("Nothing to repeat"),
                '{' if self.braces()?.is_some() => return self.error("Nothing to repeat"),
                '}' | ']' if self.unicode() => return self.error("Lone quantifier brackets"),
                '.' => {
                    self.at += 1;
                    (Node::Set(dot(self.flags.dot_all)), true)
                }
                '[' => (class::class(self)?.into_node(self), true),
                '\\' => self.escape()?,
                _ => {
                    self.at += if c > 0xFFFF { 2 } else { 1 };
                    (Node::Set(self.finish_set(Ranges::one(c), false)), true)
                }
            };
            let id = self.tree.add(atom, (before, self.tree.groups));
            let id = if quantifiable { self.quantified(id, before)? } else { id };
            push(&mut open, id);
        }
        let whole = open.pop();
        match whole {
            Some(frame) if open.is_empty() => self.tree.root = frame.close(self).0,
            _ => return self.error("Unterminated group"),
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(Node, bool)> {
        Ok(match escape::escape(self, false)? {
            Escape::Char(c) => (Node::Set(self.finish_set(Ranges::one(c), false)), true),
            Escape::Set(set) => (Node::Set(self.finish_set(set, false)), true),
            Escape::Edge(yes) => (Node::At(if yes { At::Edge } else { At::NoEdge }), false),
            Escape::Back(n) => {
                if n >= self.tree.groups && !std::mem::replace(&mut self.surveyed, true) {
                    // V8 looks ahead for the group and comes back one unit too far on: of a pair only the second half is left.
                    self.at += usize::from(self.peek().is_some_and(|c| c > 0xFFFF));
                }
                self.tree.backward_references = true;
                (Node::Back(n), true)
            }
            Escape::Named(name) => {
                self.surveyed = true;
                self.tree.backward_references = true;
                (Node::Named(name), true)
            }
        })
    }

    fn open_group(&mut self) -> Result<Frame> {
        self.at += 1;
        let before = self.tree.groups;
        let kind = if !self.looks_at("?") {
            Kind::Capture(self.new_group())
        } else if self.eat("?:") {
            Kind::Plain
        } else if self.eat("?=") {
            Kind::Look { ahead: true, negate: false }
        } else if self.eat("?!") {
            Kind::Look { ahead: true, negate: true }
        } else if self.eat("?<=") {
            Kind::Look { ahead: false, negate: false }
        } else if self.eat("?<!") {
            Kind::Look { ahead: false, negate: true }
        } else if self.eat("?<") {
            let Some(name) = self.group_name() else { return self.error("Invalid capture group name") };
            if self.tree.names.iter().any(|n| n.0 == name) {
                return self.error("Duplicate capture group name");
            }
            let number = self.new_group();
            self.tree.names.push((name, number));
            Kind::Capture(number)
        } else {
            return self.error("Invalid group");
        };
        Ok(Frame::new(kind, before))
    }

    fn new_group(&mut self) -> u32 {
        self.tree.groups += 1;
        self.tree.groups - 1
    }

    /// `name>`, the opening bracket being read. Names are made of code points whatever the flags.
    pub(super) fn group_name(&mut self) -> Option<String> {
        let strict = std::mem::replace(&mut self.flags.unicode, true);
        let mut name = String::new();
        let whole = loop {
            let Some(mut c) = self.bump() else { break false };
            if c == u32::from('>') {
                break !name.is_empty();
            }
            if c == u32::from('\\') {
                let Some(escaped) = self.eat("u").then(|| escape::unicode_escape(self)).flatten() else {
                    break false;
                };
                c = escaped;
            }
            match char::from_u32(c) {
                Some(letter) if self.identifiers.allow(c, name.is_empty()) => name.push(letter),
                _ => break false,
            }
        };
        self.flags.unicode = strict;
        whole.then_some(name)
    }

    /// `{n}`, `{n,}`, `{n,m}` if they come next; else nothing is read.
    fn braces(&mut self) -> Result<Option<(u32, u32)>> {
        let start = self.at;
        let read = self.eat("{").then(|| self.number()).flatten().and_then(|min| {
            let max =
                if self.eat(",") { if self.looks_at("}") { u32::MAX } else { self.number()? } } else { min };
            self.eat("}").then_some((min, max))
        });
        match read {
            None => self.at = start,
            Some((min, max)) if min > max => return self.error("numbers out of order in {} quantifier"),
            Some(_) => {}
        }
        Ok(read)
    }

    fn number(&mut self) -> Option<u32> {
        let mut value = None;
        while let Some(digit) = self.peek().and_then(char::from_u32).and_then(|c| c.to_digit(10)) {
            value = Some(value.unwrap_or(0_u32).saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        value
    }

    /// The atom with the quantifier behind it, if there is one.
    fn quantified(&mut self, body: Id, groups_before: u32) -> Result<Id> {
        let (min, max) = if self.eat("*") {
            (0, u32::MAX)
        } else if self.eat("+") {
            (1, u32::MAX)
        } else if self.eat("?") {
            (0, 1)
        } else if self.looks_at("{") {
            match self.braces()? {
                Some(range) => range,
                None if self.unicode() => return self.error("Incomplete quantifier"),
                None => return Ok(body),
            }
        } else {
            return Ok(body);
        };
        let greedy = !self.eat("?");
        let groups = (groups_before, self.tree.groups);
        Ok(self.tree.add(Node::Repeat { body, min, max, greedy }, groups))
    }

    fn resolve_names(&mut self) -> Result<()> {
        let names = std::mem::take(&mut self.tree.names);
        for (node, _) in &mut self.tree.nodes {
            if let Node::Named(name) = node {
                match names.iter().find(|n| n.0 == *name) {
                    Some(&(_, number)) => *node = Node::Back(number),
                    None => return Err(SyntaxError::new(self.at, "Invalid named capture referenced")),
                }
            }
        }
        self.tree.names = names;
        Ok(())
    }
}

fn push(open: &mut [Frame], id: Id) {
    if let Some(frame) = open.last_mut() {
        frame.sequence.push(id);
    }
}

impl Frame {
    const fn new(kind: Kind, groups_before: u32) -> Self {
        Self { kind, alternatives: Vec::new(), sequence: Vec::new(), groups_before }
    }

    fn end_alternative(&mut self, tree: &mut Tree) {
        let list = std::mem::take(&mut self.sequence);
        let id = match *list {
            [] => tree.add(Node::Empty, (0, 0)),
            [id] => id,
            _ => tree.add(Node::Seq(list), (0, 0)),
        };
        self.alternatives.push(id);
    }

    /// The group as a node, and whether a quantifier may follow.
    fn close(mut self, parser: &mut Parser<'_>) -> (Id, bool) {
        self.end_alternative(&mut parser.tree);
        let tree = &mut parser.tree;
        let body = match *self.alternatives {
            [id] => id,
            _ => match one_of(tree, &self.alternatives) {
                Some(set) => tree.add(Node::Set(set), (0, 0)),
                None => tree.add(Node::Alt(self.alternatives), (0, 0)),
            },
        };
        match self.kind {
            Kind::Whole | Kind::Plain => (body, true),
            Kind::Capture(number) => (tree.add(Node::Capture(number, body), (0, 0)), true),
            Kind::Look { ahead, negate } => {
                let id = tree.add(Node::Look { body, ahead, negate }, (0, 0));
                (id, ahead && !parser.unicode())
            }
        }
    }
}

/// `(?:.|\s)` is one set: each alternative takes one character and nothing tells which of them did.
fn one_of(tree: &Tree, alternatives: &[Id]) -> Option<Ranges> {
    let mut all = Vec::new();
    for &id in alternatives {
        match tree.node(id) {
            Node::Set(set) => all.extend_from_slice(set.as_slice()),
            _ => return None,
        }
    }
    Some(Ranges::new(all))
}

/// `.`
fn dot(all: bool) -> Ranges {
    let ends = if all { Vec::new() } else { vec![(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)] };
    Ranges::new(ends).inverted()
}
