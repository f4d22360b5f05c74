//! Runs a program over UTF-16 units: backtracking with an explicit list of what is still to be tried, every step paid for.
//!
//! Backtracking alone is exponential for patterns such as `(a+)+$`. Where the rest of a match depends on nothing but the
//! position (see `program::Row`), a choice that has led to nothing once leads to nothing again, whatever was tried before it. When
//! a search has become long, such failures are remembered, across starting points and across the matches in one text. That
//! bounds patterns without references and lookarounds by (choices in the pattern) x (length of the text) for all matches
//! together, and changes no result. (A choice in a counted group counts once for each number of rounds, one in a loop whose body
//! may be empty twice.)

use super::fold::canonical;
use super::program::{Inst, NONE, Pc, Program, Watched};
use super::set::Set;
use super::text::pair;
use super::{Steps, StepsExceeded};

/// Entries of the list of things to try. 16 bytes each.
const MOST_TRACES: usize = 1 << 21;

/// Characters looked at in passing that cost a step.
const PASSING: u64 = 4;

/// Bits for remembered failures (8 MiB).
const MOST_BITS: usize = 1 << 26;

/// What backtracking finds on its way back, the newest last.
#[derive(Clone, Copy, Debug)]
enum Trace {
    /// Another way from here; the bit that was set when the first one was taken, or `NONE`.
    Go { pc: Pc, at: u32, seen: u32 },
    /// A greedy run over a set (instruction `pc`) that began at `low` can give back from `at`.
    Shrink { pc: Pc, low: u32, at: u32 },
    /// A lazy run can take `left` more.
    Grow { pc: Pc, at: u32, left: u32 },
    /// A group's slot had this value.
    Slot { slot: u32, old: u32 },
    /// A register had this value.
    Register { register: u32, old: u32 },
    /// The body of a lookaround begins above this.
    Look { pc: Pc, at: u32 },
    /// These bits were set by what is being tried: they count as failures only once it has failed.
    Seen { from: u32, to: u32 },
}

/// A program on a text.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    program: &'a Program,
    text: &'a [u16],
    /// Length of the text; `NONE` if it is too long.
    length: u32,
    /// Start and end of each group; `NONE` for unset.
    slots: Vec<u32>,
    registers: Vec<u32>,
    traces: Vec<Trace>,
    /// Where the bodies of open lookarounds begin in `traces`.
    looks: Vec<usize>,
    failures: Vec<u64>,
    remembers: bool,
    /// Rows that there is room for.
    rows: u32,
    /// Steps after which failures are remembered.
    patience: u64,
}

/// Where a machine stands.
#[derive(Clone, Copy)]
struct Here {
    pc: Pc,
    at: u32,
}

impl<'a> Machine<'a> {
    pub(super) fn new(program: &'a Program, text: &'a [u16]) -> Self {
        let room = u32::try_from(MOST_BITS / (text.len() + 1)).unwrap_or(NONE);
        let rows = program.row_count.min(room);
        Self {
            program,
            text,
            length: u32::try_from(text.len()).unwrap_or(NONE),
            slots: vec![NONE; program.groups as usize * 2],
            registers: vec![0; program.registers as usize],
            traces: Vec::new(),
            looks: Vec::new(),
            failures: Vec::new(),
            remembers: false,
            rows,
            patience: if rows == 0 { u64::MAX } else { 1000 + text.len() as u64 },
        }
    }

    /// The text.
    pub(super) const fn text(&self) -> &'a [u16] {
        self.text
    }

    /// Groups of the last match.
    pub(super) fn groups(&self) -> Vec<Option<(usize, usize)>> {
        self.slots
            .chunks(2)
            .map(|pair| match *pair {
                [start, end] if start != NONE && end != NONE => Some((start as usize, end as usize)),
                _ => None,
            })
            .collect()
    }

    /// Searches from a position on; with `sticky` only there.
    pub(super) fn search(
        &mut self,
        from: usize,
        sticky: bool,
        steps: &mut Steps,
    ) -> Result<bool, StepsExceeded> {
        let length = self.length;
        if length == NONE {
            return Err(steps.exceeded());
        }
        let Ok(mut at) = u32::try_from(from) else { return Ok(false) };
        if self.program.unicode && at < length && self.pair_at(at.wrapping_sub(1)).is_some() {
            at -= 1;
        }
        while at <= length {
            if !sticky {
                if self.program.anchored && at > 0 {
                    return Ok(false);
                }
                match self.candidate(at, steps)? {
                    Some(next) => at = next,
                    None => return Ok(false),
                }
            }
            if self.run(at, steps)? {
                return Ok(true);
            }
            if sticky {
                break;
            }
            at += 1; // by units even with `u`: V8 finds empty matches inside a pair, where no character can be read
        }
        Ok(false)
    }

    /// The next position where a match can begin.
    fn candidate(&self, at: u32, steps: &mut Steps) -> Result<Option<u32>, StepsExceeded> {
        let Some(first) = &self.program.first else { return Ok(Some(at)) };
        let rest = self.text.get(at as usize..).unwrap_or(&[]);
        let found = match self.program.first_unit {
            Some(unit) => rest.iter().position(|&u| u == unit),
            None => rest.iter().position(|&u| first.contains(u32::from(u))),
        };
        steps.spend(found.unwrap_or(rest.len()) as u64 / PASSING)?;
        Ok(found.and_then(|n| u32::try_from(n).ok()).map(|n| at + n))
    }

    fn unit(&self, at: u32) -> Option<u32> {
        self.text.get(at as usize).map(|&u| u32::from(u))
    }

    /// The code point of a surrogate pair at a position.
    fn pair_at(&self, at: u32) -> Option<u32> {
        pair(self.unit(at)?, self.unit(at.checked_add(1)?)?)
    }

    /// The character at a position and the position behind it; none at the end, and with `u` none inside a pair.
    #[inline]
    fn next(&self, at: u32) -> Option<(u32, u32)> {
        let unit = self.unit(at)?;
        if self.program.unicode && (0xD800..0xE000).contains(&unit) {
            if let Some(c) = self.pair_at(at) {
                return Some((c, at + 2));
            }
            if self.pair_at(at.wrapping_sub(1)).is_some() {
                return None;
            }
        }
        Some((unit, at + 1))
    }

    /// The character before a position and the position before it; none at the start, and with `u` none inside a pair.
    #[inline]
    fn previous(&self, at: u32) -> Option<(u32, u32)> {
        let before = at.checked_sub(1)?;
        let unit = self.unit(before)?;
        if self.program.unicode && (0xD800..0xE000).contains(&unit) {
            if self.pair_at(before).is_some() {
                return None;
            }
            let start = before.wrapping_sub(1);
            if let Some(c) = self.pair_at(start) {
                return Some((c, start));
            }
        }
        Some((unit, before))
    }

    #[inline]
    fn read(&self, at: u32, back: bool) -> Option<(u32, u32)> {
        if back { self.previous(at) } else { self.next(at) }
    }

    /// The position one character on, if that character belongs to a set.
    #[inline]
    fn take(&self, set: &Set, at: u32, back: bool) -> Option<u32> {
        self.read(at, back).filter(|(c, _)| set.contains(*c)).map(|(_, next)| next)
    }

    fn inst(&self, pc: Pc) -> Option<Inst> {
        self.program.code.get(pc as usize).copied()
    }

    fn is_word(&self, at: Option<u32>) -> bool {
        at.and_then(|at| self.unit(at)).is_some_and(|c| self.program.word.contains(c))
    }

    fn is_line_end(&self, at: Option<u32>) -> bool {
        at.and_then(|at| self.unit(at)).is_some_and(|c| matches!(c, 0x0A | 0x0D | 0x2028 | 0x2029))
    }

    fn set_slot(&mut self, slot: u32, value: u32) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            let old = std::mem::replace(place, value);
            self.traces.push(Trace::Slot { slot, old });
        }
    }

    fn set_register(&mut self, register: u32, value: u32) {
        if let Some(place) = self.registers.get_mut(register as usize) {
            let old = std::mem::replace(place, value);
            self.traces.push(Trace::Register { register, old });
        }
    }

    fn register(&self, register: u32) -> u32 {
        self.registers.get(register as usize).copied().unwrap_or(0)
    }

    // --- remembered failures

    pub(super) fn remember(&mut self) {
        let bits = (self.text.len() + 1) * self.rows as usize;
        self.failures = vec![0; bits.div_ceil(64)];
        self.remembers = true;
    }

    /// The first bit of the row of an instruction at a position, if it has one and rows are kept.
    fn row(&self, pc: Pc, at: u32) -> Option<u32> {
        self.row_where(pc, |register| self.register(register) != at)
    }

    /// The same, for positions behind those where the rounds of enclosing loops began.
    fn row_behind(&self, pc: Pc) -> Option<u32> {
        self.row_where(pc, |_| true)
    }

    #[inline]
    fn row_where(&self, pc: Pc, moved: impl Fn(u32) -> bool) -> Option<u32> {
        if !self.remembers {
            return None;
        }
        let row = self.program.rows.get(pc as usize).filter(|row| row.first != NONE)?;
        let mut n = 0;
        for watched in row.watched {
            match watched {
                Watched::Nothing => {}
                Watched::Moved { register } => n = n * 2 + u32::from(moved(register)),
                Watched::Rounds { register, states } => {
                    n = n * states + self.register(register).min(states - 1);
                }
            }
        }
        let n = row.first.saturating_add(n);
        // At most `MOST_BITS` bits exist, so this fits.
        (n < self.rows).then(|| n.wrapping_mul(self.length + 1))
    }

    fn is_seen(&self, bit: u32) -> bool {
        self.failures.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    fn see(&mut self, bit: u32) {
        if let Some(word) = self.failures.get_mut(bit as usize / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    /// The bit of a choice that has not been tried at a position before, now set; `NONE` if that is not remembered.
    fn untried(&mut self, here: Here) -> Option<u32> {
        let Some(row) = self.row(here.pc, here.at) else { return Some(NONE) };
        let bit = row + here.at;
        if self.is_seen(bit) {
            return None;
        }
        self.see(bit);
        Some(bit)
    }

    /// What led to the match has not failed.
    fn unsee(&mut self) {
        for trace in std::mem::take(&mut self.traces) {
            let (from, to) = match trace {
                Trace::Seen { from, to } => (from, to),
                Trace::Go { seen, .. } if seen != NONE => (seen, seen),
                _ => continue,
            };
            for bit in from..=to {
                if let Some(word) = self.failures.get_mut(bit as usize / 64) {
                    *word &= !(1 << (bit % 64));
                }
            }
        }
    }

    // --- running

    /// Tries to match at a position.
    fn run(&mut self, start: u32, steps: &mut Steps) -> Result<bool, StepsExceeded> {
        self.slots.fill(NONE);
        self.traces.clear();
        self.looks.clear();
        let before = steps.left;
        let found = self.go(start, steps);
        self.patience = self.patience.saturating_sub(before - steps.left);
        if found? {
            self.unsee();
            return Ok(true);
        }
        Ok(false)
    }

    fn go(&mut self, start: u32, steps: &mut Steps) -> Result<bool, StepsExceeded> {
        let program = self.program;
        let mut watch = if self.remembers { 0 } else { steps.left.saturating_sub(self.patience) };
        let mut here = Here { pc: 0, at: start };
        loop {
            steps.spend(1)?;
            if steps.left < watch {
                self.remember();
                watch = 0;
            }
            if self.traces.len() > MOST_TRACES {
                return Err(steps.exceeded());
            }
            let Some(inst) = self.inst(here.pc) else { return Ok(false) };
            let Here { pc, at } = here;
            let next = Here { pc: pc + 1, at };
            let holds = |yes: bool| yes.then_some(next);
            let onward = match inst {
                Inst::Match => {
                    if let Some([from, to]) = self.slots.first_chunk_mut() {
                        (*from, *to) = (start, at);
                    }
                    return Ok(true);
                }
                Inst::Unit { unit, back: false } => (self.unit(at) == Some(u32::from(unit)))
                    .then_some(Here { pc: pc + 1, at: at.wrapping_add(1) }),
                Inst::Unit { unit, back: true } => at
                    .checked_sub(1)
                    .filter(|&before| self.unit(before) == Some(u32::from(unit)))
                    .map(|at| Here { pc: pc + 1, at }),
                Inst::Set { set, back } => program
                    .sets
                    .get(set as usize)
                    .and_then(|set| self.take(set, at, back))
                    .map(|at| Here { pc: pc + 1, at }),
                Inst::Times { set, n, back } => self.times((set, n, back), here, steps)?,
                Inst::Star { set, greedy: true, back } => self.most((set, NONE, back), here, steps)?,
                Inst::UpTo { set, max, greedy: true, back } => self.most((set, max, back), here, steps)?,
                Inst::Star { greedy: false, .. } => self.least(NONE, here),
                Inst::UpTo { max, greedy: false, .. } => self.least(max, here),
                Inst::Split { first, second } => self.untried(here).map(|seen| {
                    self.traces.push(Trace::Go { pc: second, at, seen });
                    Here { pc: first, at }
                }),
                Inst::Jump { to } => Some(Here { pc: to, at }),
                Inst::Save { slot } => {
                    self.set_slot(slot, at);
                    Some(next)
                }
                Inst::Forget { from, to } => {
                    steps.spend(u64::from(to - from) / 4)?;
                    for slot in from * 2..to * 2 {
                        if self.slots.get(slot as usize).is_some_and(|v| *v != NONE) {
                            self.set_slot(slot, NONE);
                        }
                    }
                    Some(next)
                }
                Inst::TextStart => holds(at == 0),
                Inst::TextEnd => holds(at == self.length),
                Inst::LineStart => holds(at == 0 || self.is_line_end(at.checked_sub(1))),
                Inst::LineEnd => holds(at == self.length || self.is_line_end(Some(at))),
                Inst::Edge { negate } => {
                    holds((self.is_word(at.checked_sub(1)) != self.is_word(Some(at))) != negate)
                }
                Inst::Look { .. } => {
                    self.looks.push(self.traces.len());
                    self.traces.push(Trace::Look { pc, at });
                    Some(next)
                }
                Inst::LookEnd => self.end_look(steps)?,
                Inst::Back { group, back } => {
                    let behind = self.same_again(group, back, at, steps)?;
                    // V8 looks for empty matches between the halves of a pair, but a reference fails there.
                    let halves = |at: u32| program.unicode && self.pair_at(at.wrapping_sub(1)).is_some();
                    behind.filter(|&at| !halves(at)).map(|at| Here { pc: pc + 1, at })
                }
                Inst::Mark { register } => {
                    self.set_register(register, at);
                    Some(next)
                }
                Inst::Moved { register } => holds(self.register(register) != at),
                Inst::Zero { register } => {
                    self.set_register(register, 0);
                    Some(next)
                }
                Inst::Count { register, min, max, greedy, exit } => {
                    let rounds = self.register(register);
                    let exit = Here { pc: exit, at };
                    if rounds < min {
                        Some(next)
                    } else if rounds >= max && max != u32::MAX {
                        Some(exit)
                    } else {
                        let (go, other) = if greedy { (next, exit) } else { (exit, next) };
                        self.untried(here).map(|seen| {
                            self.traces.push(Trace::Go { pc: other.pc, at, seen });
                            go
                        })
                    }
                }
                Inst::Round { register, min, mark, head } => {
                    let rounds = self.register(register);
                    if rounds >= min && mark != NONE && self.register(mark) == at {
                        None
                    } else {
                        self.set_register(register, rounds.saturating_add(1));
                        Some(Here { pc: head, at })
                    }
                }
            };
            here = match onward {
                Some(here) => here,
                None => match self.backtrack(steps)? {
                    Some(here) => here,
                    None => return Ok(false),
                },
            };
        }
    }

    fn times(
        &self,
        (set, n, back): (u32, u32, bool),
        here: Here,
        steps: &mut Steps,
    ) -> Result<Option<Here>, StepsExceeded> {
        let Some(set) = self.program.sets.get(set as usize) else { return Ok(None) };
        let mut at = here.at;
        let mut taken = 0;
        while taken < n {
            match self.take(set, at, back) {
                Some(next) => at = next,
                None => break,
            }
            taken += 1;
        }
        steps.spend(u64::from(taken) / PASSING)?;
        Ok((taken == n).then_some(Here { pc: here.pc + 1, at }))
    }

    /// A greedy run: as far as it goes, giving back later.
    fn most(
        &mut self,
        (set, max, back): (u32, u32, bool),
        here: Here,
        steps: &mut Steps,
    ) -> Result<Option<Here>, StepsExceeded> {
        let Some(set) = self.program.sets.get(set as usize) else { return Ok(None) };
        let Here { pc, at } = here;
        // An endless run from a later position tries nothing that this one does not, so all of it is marked.
        let (row, behind) = (self.row(pc, at), self.row_behind(pc));
        let endless = max == NONE;
        if row.is_some_and(|row| self.is_seen(row + at)) {
            return Ok(None);
        }
        let (mut end, mut taken) = (at, 0);
        if row.is_none() && !back && !self.program.unicode {
            taken = self.span(set, at, max);
            end = at + taken;
        }
        while taken < max {
            match self.take(set, end, back) {
                Some(next) if endless && behind.is_some_and(|row| self.is_seen(row + next)) => break,
                Some(next) => end = next,
                None => break,
            }
            taken += 1;
        }
        steps.spend(u64::from(taken) / PASSING)?;
        // Rows are for what reads forwards: lookbehinds have none.
        if let (Some(row), Some(behind)) = (row, behind) {
            self.see(row + at);
            self.traces.push(Trace::Seen { from: row + at, to: row + at });
            if endless && end > at {
                let (from, to) = (behind + at + 1, behind + end);
                for bit in from..=to {
                    self.see(bit);
                }
                self.traces.push(Trace::Seen { from, to });
            }
        }
        if end != at {
            self.traces.push(Trace::Shrink { pc, low: at, at: end });
        }
        Ok(Some(Here { pc: pc + 1, at: end }))
    }

    /// How many units from a position on belong to a set.
    fn span(&self, set: &Set, at: u32, max: u32) -> u32 {
        let rest = self.text.get(at as usize..).unwrap_or(&[]);
        let rest = rest.get(..max as usize).unwrap_or(rest);
        let n = rest.iter().position(|&u| !set.contains(u32::from(u))).unwrap_or(rest.len());
        u32::try_from(n).unwrap_or(0)
    }

    /// A lazy run: nothing yet, more later.
    fn least(&mut self, left: u32, here: Here) -> Option<Here> {
        let seen = self.untried(here)?;
        if seen != NONE {
            self.traces.push(Trace::Seen { from: seen, to: seen });
        }
        self.traces.push(Trace::Grow { pc: here.pc, at: here.at, left });
        Some(Here { pc: here.pc + 1, at: here.at })
    }

    /// The body of a lookaround has matched.
    fn end_look(&mut self, steps: &mut Steps) -> Result<Option<Here>, StepsExceeded> {
        let Some(base) = self.looks.pop() else { return Ok(None) };
        let Some(&Trace::Look { pc, at }) = self.traces.get(base) else { return Ok(None) };
        let Some(Inst::Look { negate, next }) = self.inst(pc) else { return Ok(None) };
        steps.spend((self.traces.len() - base) as u64 / 4)?;
        if negate {
            while self.traces.len() > base {
                if let Some(trace) = self.traces.pop() {
                    self.undo(trace);
                }
            }
            return Ok(None);
        }
        // It is settled: what else could have been tried inside is dropped, what its groups were before is kept.
        let mut i = 0;
        self.traces.retain(|trace| {
            i += 1;
            i <= base || matches!(trace, Trace::Slot { .. })
        });
        Ok(Some(Here { pc: next, at }))
    }

    fn undo(&mut self, trace: Trace) {
        match trace {
            Trace::Slot { slot, old } => {
                if let Some(place) = self.slots.get_mut(slot as usize) {
                    *place = old;
                }
            }
            Trace::Register { register, old } => {
                if let Some(place) = self.registers.get_mut(register as usize) {
                    *place = old;
                }
            }
            _ => {}
        }
    }

    /// The newest way that is still open.
    fn backtrack(&mut self, steps: &mut Steps) -> Result<Option<Here>, StepsExceeded> {
        while let Some(trace) = self.traces.pop() {
            match trace {
                Trace::Go { pc, at, seen } => {
                    if seen != NONE {
                        self.traces.push(Trace::Seen { from: seen, to: seen });
                    }
                    return Ok(Some(Here { pc, at }));
                }
                Trace::Shrink { pc, low, at } => {
                    if let Some(here) = self.shrink(pc, low, at, steps)? {
                        return Ok(Some(here));
                    }
                }
                Trace::Grow { pc, at, left } => {
                    if let Some(here) = self.grow(pc, at, left, steps)? {
                        return Ok(Some(here));
                    }
                }
                Trace::Look { pc, at } => {
                    self.looks.pop();
                    if let Some(Inst::Look { negate: true, next }) = self.inst(pc) {
                        return Ok(Some(Here { pc: next, at }));
                    }
                }
                Trace::Slot { .. } | Trace::Register { .. } | Trace::Seen { .. } => self.undo(trace),
            }
        }
        Ok(None)
    }

    /// A greedy run gives characters back, down to the next place where what follows can begin.
    fn shrink(
        &mut self,
        pc: Pc,
        low: u32,
        at: u32,
        steps: &mut Steps,
    ) -> Result<Option<Here>, StepsExceeded> {
        let back =
            matches!(self.inst(pc), Some(Inst::Star { back: true, .. } | Inst::UpTo { back: true, .. }));
        let wanted = self.wanted(pc + 1, back);
        let mut now = at;
        let found = loop {
            if now == low {
                break None;
            }
            now = match self.read(now, !back) {
                Some((_, next)) => next,
                None => break None,
            };
            if wanted.is_none_or(|unit| self.unit(now) == Some(unit)) {
                break Some(now);
            }
        };
        steps.spend(u64::from(at.abs_diff(now)) / PASSING)?;
        let Some(now) = found else { return Ok(None) };
        if now != low {
            self.traces.push(Trace::Shrink { pc, low, at: now });
        }
        Ok(Some(Here { pc: pc + 1, at: now }))
    }

    /// A lazy run takes characters, up to the next place where what follows can begin.
    fn grow(&mut self, pc: Pc, at: u32, left: u32, steps: &mut Steps) -> Result<Option<Here>, StepsExceeded> {
        let Some(Inst::Star { set, back, .. } | Inst::UpTo { set, back, .. }) = self.inst(pc) else {
            return Ok(None);
        };
        let Some(set) = self.program.sets.get(set as usize) else { return Ok(None) };
        let wanted = self.wanted(pc + 1, back);
        let row = if left == NONE { self.row_behind(pc) } else { None };
        let (mut now, mut left) = (at, left);
        let mut first = None;
        if let (None, Some(wanted), false) = (row, wanted, self.program.unicode) {
            // All but the last character before the next wanted one; the loop takes that.
            let rest = self.text.get(at as usize..).unwrap_or(&[]);
            let found = rest.iter().skip(1).position(|&u| u32::from(u) == wanted).unwrap_or(rest.len());
            let ahead = self.span(set, at, left.min(u32::try_from(found).unwrap_or(0)));
            now += ahead;
            if left != NONE {
                left -= ahead;
            }
        }
        let found = loop {
            if left == 0 {
                break false;
            }
            match self.take(set, now, back) {
                Some(next) => now = next,
                None => break false,
            }
            if row.is_some_and(|row| self.is_seen(row + now)) {
                break false;
            }
            if left != NONE {
                left -= 1;
            }
            if let Some(row) = row {
                self.see(row + now);
                first.get_or_insert(now);
            }
            if wanted.is_none_or(|unit| self.unit(now) == Some(unit)) {
                break true;
            }
        };
        steps.spend(u64::from(at.abs_diff(now)) / PASSING)?;
        if !found {
            return Ok(None);
        }
        if let (Some(row), Some(first)) = (row, first) {
            self.traces.push(Trace::Seen { from: row + first.min(now), to: row + first.max(now) });
        }
        self.traces.push(Trace::Grow { pc, at: now, left });
        Ok(Some(Here { pc: pc + 1, at: now }))
    }

    /// The unit that must stand at the position of an instruction that reads forwards.
    fn wanted(&self, pc: Pc, back: bool) -> Option<u32> {
        match self.inst(pc) {
            Some(Inst::Unit { unit, back: false }) if !back => Some(u32::from(unit)),
            _ => None,
        }
    }

    /// The position behind another copy of what a group matched; one that matched nothing is no condition.
    fn same_again(
        &self,
        group: u32,
        back: bool,
        at: u32,
        steps: &mut Steps,
    ) -> Result<Option<u32>, StepsExceeded> {
        let slot = |slot: u32| self.slots.get(slot as usize).copied().filter(|v| *v != NONE);
        let (Some(start), Some(end)) = (slot(group * 2), slot(group * 2 + 1)) else { return Ok(Some(at)) };
        steps.spend(u64::from(end - start) / 4)?;
        let key = |c: u32| if self.program.ignore_case { canonical(c, self.program.unicode) } else { c };
        let (mut theirs, last) = if back { (end, start) } else { (start, end) };
        let mut ours = at;
        while theirs != last {
            let (Some((a, next)), Some((b, ours_next))) = (self.read(theirs, back), self.read(ours, back))
            else {
                return Ok(None);
            };
            if key(a) != key(b) {
                return Ok(None);
            }
            (theirs, ours) = (next, ours_next);
        }
        Ok(Some(ours))
    }
}
