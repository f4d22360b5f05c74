//! Character classes: `[…]`, and with the flag `v` nested ones with `--`, `&&` and `\q{…}`.

use super::ast::Node;
use super::escape::{self, Escape};
use super::fold::canonical;
use super::parse::{Parser, Result};
use super::set::Ranges;

/// What a class can match: one character of a set or, with `v`, one of some texts (never of length one).
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    set: Ranges,
    texts: Vec<Vec<u32>>,
}

impl Class {
    /// The class as a node: the longest texts first, the empty one last.
    pub(super) fn into_node(self, p: &mut Parser<'_>) -> Node {
        if self.texts.is_empty() {
            return Node::Set(self.set);
        }
        let mut texts = self.texts;
        let mut list = Vec::with_capacity(texts.len() + 1);
        let empty = texts.iter().position(Vec::is_empty).map(|i| texts.swap_remove(i)).is_some();
        while let Some((longest, _)) = texts.iter().enumerate().max_by_key(|(_, text)| text.len()) {
            let text = texts.swap_remove(longest);
            let letters = text.into_iter().map(|c| p.finish_set(Ranges::one(c), false)).collect();
            list.push(p.add_sequence(letters));
        }
        list.push(p.add_sequence(vec![self.set]));
        if empty {
            list.push(p.add_sequence(Vec::new()));
        }
        Node::Alt(list)
    }
}

/// Reads a class; the parser stands on the bracket.
pub(super) fn class(p: &mut Parser<'_>) -> Result<Class> {
    p.at += 1;
    if p.flags.sets {
        return nested(p);
    }
    let negate = p.eat("^");
    let mut list = Vec::new();
    loop {
        if p.peek().is_none() {
            return p.error("Unterminated character class");
        }
        if p.eat("]") {
            break;
        }
        let first = atom(p)?;
        if !p.looks_at("-") || p.looks_at("-]") {
            add(&mut list, first);
            continue;
        }
        p.at += 1;
        if p.peek().is_none() {
            return p.error("Unterminated character class");
        }
        match (first, atom(p)?) {
            (Escape::Char(lo), Escape::Char(hi)) if lo <= hi => list.push((lo, hi)),
            (Escape::Char(_), Escape::Char(_)) => return p.error("Range out of order in character class"),
            _ if p.unicode() => return p.error("Invalid character class"),
            (first, second) => {
                add(&mut list, first);
                list.push((0x2D, 0x2D));
                add(&mut list, second);
            }
        }
    }
    Ok(Class { set: p.finish_set(Ranges::new(list), negate), texts: Vec::new() })
}

fn atom(p: &mut Parser<'_>) -> Result<Escape> {
    if p.looks_at("\\") {
        return escape::escape(p, true);
    }
    p.bump().map_or_else(|| p.error("Unterminated character class"), |c| Ok(Escape::Char(c)))
}

fn add(list: &mut Vec<(u32, u32)>, item: Escape) {
    match item {
        Escape::Char(c) => list.push((c, c)),
        Escape::Set(set) => list.extend_from_slice(set.as_slice()),
        Escape::Edge(_) | Escape::Back(_) | Escape::Named(_) => {} // outside brackets only
    }
}

/// An operator between operands of a `v` class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Minus,
    And,
}

/// What has been read of a `v` class. Operators stand between single operands only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Nothing,
    Single,
    Union,
    /// The operator; its right side is still missing.
    Waiting(Op),
    Operation(Op),
}

/// A `v` class that is still open.
struct Level {
    negate: bool,
    shape: Shape,
    so_far: Class,
}

fn nested(p: &mut Parser<'_>) -> Result<Class> {
    let mut open = vec![Level::new(p)];
    loop {
        if p.peek().is_none() {
            return p.error("Unterminated character class");
        }
        let Some(level) = open.last_mut() else { return p.error("Invalid character class") };
        if p.looks_at("]") {
            if matches!(level.shape, Shape::Waiting(_)) {
                return p.error("Invalid set operation in character class");
            }
            p.at += 1;
            let Some(level) = open.pop() else { return p.error("Invalid character class") };
            let done = level.close(p)?;
            match open.last_mut() {
                Some(outer) => outer.take(p, done, true)?,
                None => return Ok(done),
            }
            continue;
        }
        let operator = if p.looks_at("--") {
            Some(Op::Minus)
        } else if p.looks_at("&&") {
            Some(Op::And)
        } else {
            None
        };
        if let Some(op) = operator {
            if level.shape != Shape::Single && level.shape != Shape::Operation(op) {
                return p.error("Invalid set operation in character class");
            }
            p.at += 2;
            if p.looks_at("&") {
                return p.error("Invalid character in character class");
            }
            level.shape = Shape::Waiting(op);
        } else if p.eat("[") {
            let inner = Level::new(p);
            open.push(inner);
        } else if p.eat("\\q{") {
            let texts = strings(p)?;
            level.take(p, texts, true)?;
        } else {
            operand(p, level)?;
        }
    }
}

/// A character, a range or an escaped set.
fn operand(p: &mut Parser<'_>, level: &mut Level) -> Result<()> {
    let closed = |p: &Parser<'_>, set: Ranges| Class { set: p.finish_set(set, false), texts: Vec::new() };
    let first = match set_atom(p)? {
        Escape::Set(set) => {
            let class = closed(p, set);
            return level.take(p, class, true);
        }
        Escape::Char(c) => c,
        Escape::Edge(_) | Escape::Back(_) | Escape::Named(_) => return p.error("Invalid escape"),
    };
    let range = p.looks_at("-") && !p.looks_at("--");
    if !range {
        let class = closed(p, Ranges::one(first));
        return level.take(p, class, true);
    }
    p.at += 1;
    match set_atom(p)? {
        Escape::Char(last) if first <= last => {
            let class = closed(p, Ranges::new(vec![(first, last)]));
            level.take(p, class, false)
        }
        Escape::Char(_) => p.error("Range out of order in character class"),
        _ => p.error("Invalid character class"),
    }
}

/// Marks that `v` keeps free for operators when doubled.
const DOUBLED: &str = "&!#$%*+,.:;<=>?@^`~";

/// One character by the rules of `v`: marks that may mean something some day must be escaped.
fn set_atom(p: &mut Parser<'_>) -> Result<Escape> {
    if p.looks_at("\\") {
        return escape::escape(p, true);
    }
    let c = p.peek().and_then(char::from_u32);
    if c.is_some_and(|c| "()[]{}/-|".contains(c)) {
        return p.error("Invalid character in character class");
    }
    let doubled = c.filter(|c| DOUBLED.contains(*c)).is_some_and(|c| p.looks_at(&format!("{c}{c}")));
    if doubled {
        return p.error("Invalid set operation in character class");
    }
    p.bump().map_or_else(|| p.error("Unterminated character class"), |c| Ok(Escape::Char(c)))
}

/// Behind `\q{`: texts separated by `|`.
fn strings(p: &mut Parser<'_>) -> Result<Class> {
    let (mut singles, mut texts, mut text) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let (bar, end) = (p.looks_at("|"), p.looks_at("}"));
        if bar || end {
            p.at += 1;
            match std::mem::take(&mut text).as_slice() {
                [c] => singles.push((*c, *c)),
                more if texts.iter().any(|t: &Vec<u32>| t == more) => {}
                more => texts.push(more.to_vec()),
            }
            if end {
                break;
            }
            continue;
        }
        match set_atom(p)? {
            Escape::Char(c) => text.push(if p.flags.ignore_case { canonical(c, true) } else { c }),
            _ => return p.error("Invalid escape"),
        }
    }
    Ok(Class { set: p.finish_set(Ranges::new(singles), false), texts })
}

impl Level {
    fn new(p: &mut Parser<'_>) -> Self {
        Self { negate: p.eat("^"), shape: Shape::Nothing, so_far: Class::default() }
    }

    /// Takes an operand. `single`: it is no range, so it may stand next to `--` and `&&`.
    fn take(&mut self, p: &Parser<'_>, right: Class, single: bool) -> Result<()> {
        let left = std::mem::take(&mut self.so_far);
        let mut texts = left.texts;
        let set;
        (self.shape, set) = match self.shape {
            Shape::Waiting(op) if single => {
                texts.retain(|t| right.texts.contains(t) == (op == Op::And));
                let set = match op {
                    Op::Minus => left.set.difference(&right.set),
                    Op::And => left.set.intersection(&right.set),
                };
                (Shape::Operation(op), set)
            }
            Shape::Waiting(_) | Shape::Operation(_) => {
                return p.error("Invalid set operation in character class");
            }
            before => {
                let new = right.texts.into_iter().filter(|t| !texts.contains(t)).collect::<Vec<_>>();
                texts.extend(new);
                let single = single && before == Shape::Nothing;
                (if single { Shape::Single } else { Shape::Union }, left.set.union(&right.set))
            }
        };
        self.so_far = Class { set, texts };
        Ok(())
    }

    fn close(self, p: &Parser<'_>) -> Result<Class> {
        if !self.negate {
            return Ok(self.so_far);
        }
        if !self.so_far.texts.is_empty() {
            return p.error("Negated character class may contain strings");
        }
        Ok(Class { set: self.so_far.set.inverted(), texts: Vec::new() })
    }
}
