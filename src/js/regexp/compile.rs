//! Tree -> program. The tree is walked with a list of things to do, never by recursion.

use super::Flags;
use super::ast::{At, Id, Node, Tree};
use super::escape::word;
use super::program::{Inst, MOST_ROWS, MOST_WATCHED, NONE, Pc, Program, Row, Watched};
use super::set::{Ranges, Set};

/// Something still to be done, the last one first.
enum Task {
    /// Writes a node's instructions, to be read forwards or (true) backwards.
    Node(Id, bool),
    /// Writes an instruction whose places are labels.
    Emit(Inst),
    /// The next instruction is where a label is.
    Bind(u32),
    /// What follows gets no rows (true), or may get them again.
    Private(bool),
    /// A part begins in which the rows depend on something more; or (`None`) ends.
    Watched(Option<Watched>),
}

struct Compiler<'t> {
    tree: &'t Tree,
    program: Program,
    labels: Vec<Pc>,
    sets: Vec<&'t Ranges>,
    tasks: Vec<Task>,
    private: u32,
    watched: Vec<Watched>,
}

/// Compiles a tree.
pub(super) fn compile(tree: &Tree, flags: Flags) -> Program {
    let unicode = flags.unicode || flags.sets;
    let program = Program {
        groups: tree.groups,
        word: Set::new(&word(unicode && flags.ignore_case)),
        unicode,
        ignore_case: flags.ignore_case,
        ..Program::default()
    };
    let mut compiler = Compiler {
        tree,
        program,
        labels: Vec::new(),
        sets: Vec::new(),
        tasks: vec![Task::Emit(Inst::Match), Task::Node(tree.root, false)],
        private: 0,
        watched: Vec::new(),
    };
    while let Some(task) = compiler.tasks.pop() {
        match task {
            Task::Node(id, back) => compiler.node(id, back),
            Task::Emit(inst) => compiler.emit(inst),
            Task::Bind(label) => compiler.bind(label),
            Task::Private(true) => compiler.private += 1,
            Task::Private(false) => compiler.private = compiler.private.saturating_sub(1),
            Task::Watched(Some(watched)) => compiler.watched.push(watched),
            Task::Watched(None) => _ = compiler.watched.pop(),
        }
    }
    compiler.finish()
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl<'t> Compiler<'t> {
    fn label(&mut self) -> u32 {
        self.labels.push(NONE);
        count(self.labels.len() - 1)
    }

    fn bind(&mut self, label: u32) {
        let pc = count(self.program.code.len());
        if let Some(place) = self.labels.get_mut(label as usize) {
            *place = pc;
        }
    }

    fn register(&mut self) -> u32 {
        self.program.registers += 1;
        self.program.registers - 1
    }

    fn set(&mut self, ranges: &'t Ranges) -> u32 {
        let known = self.sets.iter().position(|set| *set == ranges);
        count(known.unwrap_or_else(|| {
            self.program.sets.push(Set::new(ranges));
            self.sets.push(ranges);
            self.sets.len() - 1
        }))
    }

    fn emit(&mut self, inst: Inst) {
        let choice =
            matches!(inst, Inst::Split { .. } | Inst::Star { .. } | Inst::UpTo { .. } | Inst::Count { .. });
        let mut row = Row::NOWHERE;
        if choice && self.private == 0 && self.watched.len() <= MOST_WATCHED {
            row.watched.iter_mut().zip(&self.watched).for_each(|(to, watched)| *to = *watched);
            if row.count() <= MOST_ROWS {
                row.first = 0; // numbered in the end
            }
        }
        self.program.code.push(inst);
        self.program.rows.push(row);
    }

    /// Plans tasks to be done in the order given.
    fn plan(&mut self, mut tasks: Vec<Task>) {
        tasks.reverse();
        self.tasks.append(&mut tasks);
    }

    fn node(&mut self, id: Id, back: bool) {
        let tree = self.tree;
        match tree.node(id) {
            Node::Empty | Node::Named(_) => {}
            Node::Set(ranges) => {
                let inst = self.one(ranges, back);
                self.emit(inst);
            }
            Node::At(at) => self.emit(match at {
                At::TextStart => Inst::TextStart,
                At::TextEnd => Inst::TextEnd,
                At::LineStart => Inst::LineStart,
                At::LineEnd => Inst::LineEnd,
                At::Edge => Inst::Edge { negate: false },
                At::NoEdge => Inst::Edge { negate: true },
            }),
            Node::Seq(list) => {
                let mut tasks: Vec<_> = list.iter().map(|&id| Task::Node(id, back)).collect();
                if back {
                    tasks.reverse();
                }
                self.plan(tasks);
            }
            Node::Alt(list) => self.alternatives(list, back),
            &Node::Capture(group, body) => {
                let (start, end) = (Inst::Save { slot: group * 2 }, Inst::Save { slot: group * 2 + 1 });
                let (before, behind) = if back { (end, start) } else { (start, end) };
                self.plan(vec![Task::Emit(before), Task::Node(body, back), Task::Emit(behind)]);
            }
            &Node::Look { body, ahead, negate } => {
                let next = self.label();
                self.plan(vec![
                    Task::Emit(Inst::Look { negate, next }),
                    Task::Private(true),
                    Task::Node(body, !ahead),
                    Task::Emit(Inst::LookEnd),
                    Task::Private(false),
                    Task::Bind(next),
                ]);
            }
            &Node::Back(group) => self.emit(Inst::Back { group, back }),
            &Node::Repeat { body, min, max, greedy } => {
                if max == 0 {
                    return;
                }
                let groups = tree.facts(id).groups;
                match tree.node(body) {
                    Node::Set(ranges) => self.repeat_set(ranges, min, max, greedy, back),
                    _ => self.repeat(body, (min, max, greedy), groups, back),
                }
            }
        }
    }

    fn one(&mut self, ranges: &'t Ranges, back: bool) -> Inst {
        let unit = Set::new(ranges).only().and_then(|c| u16::try_from(c).ok());
        // With `u` half of a pair in the pattern does not match half of a pair in the text.
        match unit.filter(|u| !self.program.unicode || !(0xD800..0xE000).contains(u)) {
            Some(unit) => Inst::Unit { unit, back },
            None => Inst::Set { set: self.set(ranges), back },
        }
    }

    fn repeat_set(&mut self, ranges: &'t Ranges, min: u32, max: u32, greedy: bool, back: bool) {
        let set = self.set(ranges);
        match min {
            0 => {}
            1 => {
                let inst = self.one(ranges, back);
                self.emit(inst);
            }
            n => self.emit(Inst::Times { set, n, back }),
        }
        if max == u32::MAX {
            self.emit(Inst::Star { set, greedy, back });
        } else if max > min {
            self.emit(Inst::UpTo { set, max: max - min, greedy, back });
        }
    }

    fn alternatives(&mut self, list: &[Id], back: bool) {
        let end = self.label();
        let mut tasks = Vec::new();
        for (i, &id) in list.iter().enumerate() {
            if i + 1 == list.len() {
                tasks.push(Task::Node(id, back));
            } else {
                let (first, second) = (self.label(), self.label());
                tasks.extend([
                    Task::Emit(Inst::Split { first, second }),
                    Task::Bind(first),
                    Task::Node(id, back),
                    Task::Emit(Inst::Jump { to: end }),
                    Task::Bind(second),
                ]);
            }
        }
        tasks.push(Task::Bind(end));
        self.plan(tasks);
    }

    /// A loop over anything but a single character.
    fn repeat(&mut self, body: Id, (min, max, greedy): (u32, u32, bool), groups: (u32, u32), back: bool) {
        let empty = self.tree.facts(body).empty;
        let (head, inside, exit) = (self.label(), self.label(), self.label());
        let split = if greedy {
            Inst::Split { first: inside, second: exit }
        } else {
            Inst::Split { first: exit, second: inside }
        };
        let forget =
            (groups.0 < groups.1).then_some(Task::Emit(Inst::Forget { from: groups.0, to: groups.1 }));
        let node = Task::Node(body, back);
        let mut tasks = Vec::new();
        match (min, max) {
            (1, 1) => tasks.push(node),
            (0, 1) if !empty => tasks.extend([Task::Emit(split), Task::Bind(inside), node, Task::Bind(exit)]),
            (0, 1 | u32::MAX) => {
                // A round that takes nothing is refused once the minimum is met.
                let register = if empty { self.register() } else { NONE };
                tasks.extend([Task::Bind(head), Task::Emit(split), Task::Bind(inside)]);
                tasks.extend(empty.then_some(Task::Watched(Some(Watched::Moved { register }))));
                tasks.extend(empty.then_some(Task::Emit(Inst::Mark { register })));
                tasks.extend(forget);
                tasks.push(node);
                tasks.extend(empty.then_some(Task::Emit(Inst::Moved { register })));
                tasks.extend(empty.then_some(Task::Watched(None)));
                tasks.extend((max > 1).then_some(Task::Emit(Inst::Jump { to: head })));
                tasks.push(Task::Bind(exit));
            }
            (1, u32::MAX) if !empty => {
                tasks.push(Task::Bind(inside));
                tasks.extend(forget);
                tasks.extend([node, Task::Emit(split), Task::Bind(exit)]);
            }
            _ => {
                let register = self.register();
                let mark = if empty { self.register() } else { NONE };
                // Beyond the minimum of an endless loop it does not matter how many rounds there were.
                let states = if max == u32::MAX { min } else { max }.saturating_add(1);
                tasks.extend([
                    Task::Emit(Inst::Zero { register }),
                    Task::Watched(Some(Watched::Rounds { register, states })),
                    Task::Bind(head),
                    Task::Emit(Inst::Count { register, min, max, greedy, exit }),
                ]);
                tasks.extend(empty.then_some(Task::Watched(Some(Watched::Moved { register: mark }))));
                tasks.extend(empty.then_some(Task::Emit(Inst::Mark { register: mark })));
                tasks.extend(forget);
                tasks.extend([node, Task::Emit(Inst::Round { register, min, mark, head })]);
                tasks.extend(empty.then_some(Task::Watched(None)));
                tasks.extend([Task::Watched(None), Task::Bind(exit)]);
            }
        }
        self.plan(tasks);
    }

    fn finish(mut self) -> Program {
        let labels = &self.labels;
        let place = |label: &mut Pc| *label = labels.get(*label as usize).copied().unwrap_or(NONE);
        for inst in &mut self.program.code {
            match inst {
                Inst::Split { first, second } => {
                    place(first);
                    place(second);
                }
                Inst::Jump { to } => place(to),
                Inst::Look { next, .. } => place(next),
                Inst::Count { exit, .. } => place(exit),
                Inst::Round { head, .. } => place(head),
                _ => {}
            }
        }
        self.number_rows();
        self.program.anchored = self.anchored();
        self.program.first = self.first();
        let only = self.program.first.as_ref().and_then(Set::only);
        self.program.first_unit = only.and_then(|c| u16::try_from(c).ok());
        self.program
    }

    /// Numbers the rows of the choices that no reference back can follow: what a group has matched is no part of a row.
    fn number_rows(&mut self) {
        if self.tree.backward_references {
            let mut ways: Vec<(Pc, Pc)> = Vec::new();
            let mut todo = Vec::new();
            for (pc, inst) in (0..).zip(&self.program.code) {
                match *inst {
                    Inst::Match | Inst::LookEnd => {}
                    Inst::Jump { to } => ways.push((to, pc)),
                    Inst::Round { head, .. } => ways.push((head, pc)),
                    Inst::Split { first, second } => ways.extend([(first, pc), (second, pc)]),
                    Inst::Look { next: other, .. } | Inst::Count { exit: other, .. } => {
                        ways.extend([(pc + 1, pc), (other, pc)]);
                    }
                    Inst::Back { .. } => {
                        todo.push(pc);
                        ways.push((pc + 1, pc));
                    }
                    _ => ways.push((pc + 1, pc)),
                }
            }
            ways.sort_unstable();
            let mut seen = vec![false; self.program.code.len()];
            while let Some(pc) = todo.pop() {
                if seen.get_mut(pc as usize).is_none_or(|seen| std::mem::replace(seen, true)) {
                    continue;
                }
                if let Some(row) = self.program.rows.get_mut(pc as usize) {
                    *row = Row::NOWHERE;
                }
                let from = ways.partition_point(|way| way.0 < pc);
                todo.extend(ways.iter().skip(from).take_while(|way| way.0 == pc).map(|way| way.1));
            }
        }
        // Those with few rows first: a long text may have room for these only.
        let mut rows: Vec<&mut Row> = self.program.rows.iter_mut().filter(|row| row.first != NONE).collect();
        crate::js::sort_by_key(&mut rows, |row| row.count());
        for row in rows {
            row.first = self.program.row_count;
            self.program.row_count = self.program.row_count.saturating_add(row.count());
        }
    }

    /// Every way from the start meets `^` before anything else.
    fn anchored(&self) -> bool {
        let mut ways = Ways::new(&self.program);
        while let Some((_, inst)) = ways.next() {
            match inst {
                Inst::TextStart => {}
                Inst::Save { .. } | Inst::Split { .. } | Inst::Jump { .. } => ways.follow(),
                _ => return false,
            }
        }
        true
    }

    /// The units that a match can begin with, if every match takes one.
    fn first(&self) -> Option<Set> {
        let mut all = Vec::new();
        let mut ways = Ways::new(&self.program);
        while let Some((_, inst)) = ways.next() {
            match inst {
                Inst::Unit { unit, .. } => all.push((u32::from(unit), u32::from(unit))),
                Inst::Set { set, .. } | Inst::Times { set, .. } => {
                    all.extend_from_slice(self.sets.get(set as usize)?.as_slice());
                }
                Inst::Star { set, .. } | Inst::UpTo { set, .. } => {
                    all.extend_from_slice(self.sets.get(set as usize)?.as_slice());
                    ways.follow();
                }
                // An assertion is taken to hold: that can only make the set larger.
                Inst::Save { .. }
                | Inst::Split { .. }
                | Inst::Jump { .. }
                | Inst::Forget { .. }
                | Inst::TextStart
                | Inst::TextEnd
                | Inst::LineStart
                | Inst::LineEnd
                | Inst::Edge { .. }
                | Inst::Look { .. }
                | Inst::Mark { .. }
                | Inst::Moved { .. }
                | Inst::Zero { .. } => ways.follow(),
                Inst::Count { min, .. } if min > 0 => ways.enter(),
                Inst::Match | Inst::LookEnd | Inst::Back { .. } | Inst::Count { .. } | Inst::Round { .. } => {
                    return None;
                }
            }
        }
        // Characters above U+FFFF begin with the first half of a pair.
        if all.iter().any(|r| r.1 > 0xFFFF) {
            all.push((0xD800, 0xDBFF));
        }
        Some(Set::new(&Ranges::new(all)))
    }
}

/// The instructions that can be reached without taking a character.
struct Ways<'p> {
    program: &'p Program,
    seen: Vec<bool>,
    todo: Vec<Pc>,
    now: Pc,
}

impl<'p> Ways<'p> {
    fn new(program: &'p Program) -> Self {
        Self { program, seen: vec![false; program.code.len()], todo: vec![0], now: 0 }
    }

    fn next(&mut self) -> Option<(Pc, Inst)> {
        loop {
            self.now = self.todo.pop()?;
            let seen = self.seen.get_mut(self.now as usize)?;
            if !std::mem::replace(seen, true) {
                return Some((self.now, *self.program.code.get(self.now as usize)?));
            }
        }
    }

    /// Goes on behind the instruction just seen.
    fn follow(&mut self) {
        match self.program.code.get(self.now as usize) {
            Some(&Inst::Split { first, second }) => self.todo.extend([first, second]),
            Some(&Inst::Jump { to } | &Inst::Look { next: to, .. }) => self.todo.push(to),
            _ => self.enter(),
        }
    }

    /// Goes on at the next instruction.
    fn enter(&mut self) {
        self.todo.push(self.now + 1);
    }
}
