//! JavaScript's RegExp: a pattern, flags and a text of UTF-16 units -> the matches that V8 would find, or an error value when
//! the steps run out. The same in native Rust and in wasm, bounded for any pattern and text, and no pattern is refused for its
//! looks (spec 05 §6, Part 3; spec 03 §6.2).
//!
//! `parse` (with `class`, `escape`) makes a tree (`ast`) of sets of characters (`set`, `fold`, `props`), `compile` makes a program of it,
//! `machine` runs it. Nothing here knows what a script or a lorebook key is.
//!
//! Differences from Node 20: `\p{Script_Extensions=…}`, properties of strings and a few rare binary properties are errors; with the flag
//! `v`, where Node 20's first implementation goes its own way (`[^]{3}` once, complements with `i`), the standard is followed.
//!
//! There is no second, linear engine for simple patterns. `regex-lite` was measured on the patterns that scripts use: 5 to 100 times
//! slower than `machine` where both are quick, and what it would be needed for, a bound, `machine` has (see there).

mod ast;
mod class;
mod compile;
mod escape;
mod fold;
mod machine;
mod parse;
mod program;
mod props;
mod set;
#[cfg(test)]
mod tests;
mod text;

#[expect(clippy::unreadable_literal, reason = "generated")]
mod tables;

use std::fmt;

use machine::Machine;
use program::Program;
pub use text::Text;

/// How much work is left. A step is an instruction of the machine, or four characters looked at in passing; what it costs does
/// not depend on the computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    left: u64,
}

/// The steps ran out (or the memory that goes with them): whether there is a match is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepsExceeded;

/// Why a pattern is none, in V8's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// UTF-16 offset in the pattern.
    pub offset: usize,
    /// What is wrong.
    pub message: &'static str,
}

/// The flags of a pattern.
#[expect(clippy::struct_excessive_bools, reason = "these are JavaScript's flags")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `d`: accepted, without effect here.
    pub indices: bool,
    /// `g`: all matches are replaced.
    pub global: bool,
    /// `i`
    pub ignore_case: bool,
    /// `m`: `^` and `$` match at line ends.
    pub multiline: bool,
    /// `s`: `.` matches line ends.
    pub dot_all: bool,
    /// `u`: characters are code points.
    pub unicode: bool,
    /// `v`: the same, with set operations in classes.
    pub sets: bool,
    /// `y`: matches only where the search begins.
    pub sticky: bool,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Regex {
    program: Program,
    flags: Flags,
    names: Vec<(String, usize)>,
}

/// One match: UTF-16 ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The whole match, then each group; `None` for a group that took no part.
    pub groups: Vec<Option<(usize, usize)>>,
}

/// Another engine, such as the browser's: pattern, flags and text -> the matches (all with `g`, else the first); `None` when it
/// fails. It knows no steps, so whoever chooses it watches the time.
pub type Platform = fn(&str, &str, &[u16]) -> Option<Vec<Match>>;

/// The matches in one text, one after the other.
#[derive(Debug)]
pub struct Matches<'a> {
    machine: Machine<'a>,
    flags: Flags,
    next: Option<usize>,
}

impl Steps {
    /// So many.
    pub const fn new(left: u64) -> Self {
        Self { left }
    }

    /// How many are left.
    pub const fn left(self) -> u64 {
        self.left
    }

    fn spend(&mut self, n: u64) -> Result<(), StepsExceeded> {
        match self.left.checked_sub(n) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.exceeded()),
        }
    }

    const fn exceeded(&mut self) -> StepsExceeded {
        self.left = 0;
        StepsExceeded
    }
}

impl SyntaxError {
    const fn new(offset: usize, message: &'static str) -> Self {
        Self { offset, message }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.message, self.offset)
    }
}

impl std::error::Error for SyntaxError {}

impl fmt::Display for StepsExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pattern needs more steps than allowed")
    }
}

impl std::error::Error for StepsExceeded {}

impl Flags {
    /// From letters; each at most once, not both of `u` and `v`.
    pub fn read(letters: &str) -> Option<Self> {
        let mut flags = Self::default();
        for letter in letters.chars() {
            let flag = match letter {
                'd' => &mut flags.indices,
                'g' => &mut flags.global,
                'i' => &mut flags.ignore_case,
                'm' => &mut flags.multiline,
                's' => &mut flags.dot_all,
                'u' => &mut flags.unicode,
                'v' => &mut flags.sets,
                'y' => &mut flags.sticky,
                _ => return None,
            };
            if std::mem::replace(flag, true) {
                return None;
            }
        }
        (!(flags.unicode && flags.sets)).then_some(flags)
    }
}

impl Regex {
    /// `new RegExp(pattern, flags)`. An empty pattern matches everywhere.
    pub fn new(pattern: &str, flags: &str) -> Result<Self, SyntaxError> {
        let flags = Flags::read(flags).ok_or(SyntaxError::new(0, "Invalid flags"))?;
        let units: Vec<u16> = pattern.encode_utf16().collect();
        let tree = parse::parse(&units, flags)?;
        let program = compile::compile(&tree, flags);
        let names = tree.names.into_iter().map(|(name, group)| (name, group as usize)).collect();
        Ok(Self { program, flags, names })
    }

    /// Its flags.
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// Number of groups, the whole match not counted.
    pub const fn group_count(&self) -> usize {
        self.program.groups as usize - 1
    }

    /// Names of groups with their numbers, in order of appearance.
    pub fn names(&self) -> &[(String, usize)] {
        &self.names
    }

    /// The first match that begins at a UTF-16 offset or behind it. With `y`: that begins there.
    pub fn find_at(&self, text: &Text, at: usize, steps: &mut Steps) -> Result<Option<Match>, StepsExceeded> {
        let mut machine = Machine::new(&self.program, text.units());
        let found = machine.search(at, self.flags.sticky, steps)?;
        Ok(found.then(|| Match { groups: machine.groups() }))
    }

    /// Whether there is a match, from the start of the text.
    pub fn test(&self, text: &Text, steps: &mut Steps) -> Result<bool, StepsExceeded> {
        Machine::new(&self.program, text.units()).search(0, self.flags.sticky, steps)
    }

    /// All matches with `g`, else the first one.
    pub fn matches<'a>(&'a self, text: &'a Text) -> Matches<'a> {
        Matches { machine: Machine::new(&self.program, text.units()), flags: self.flags, next: Some(0) }
    }

    /// `text.replace(this, f)`: `f` is given each match and writes what stands in its place. `None`: no match, no change.
    pub fn replace<E: From<StepsExceeded>>(
        &self,
        text: &Text,
        steps: &mut Steps,
        mut f: impl FnMut(&Match, &mut Vec<u16>) -> Result<(), E>,
    ) -> Result<Option<Text>, E> {
        let units = text.units();
        let mut matches = self.matches(text);
        let (mut out, mut copied, mut any) = (Vec::new(), 0, false);
        while let Some(found) = matches.next(steps)? {
            out.extend_from_slice(units.get(copied..found.start()).unwrap_or(&[]));
            f(&found, &mut out)?;
            copied = found.end();
            any = true;
        }
        if !any {
            return Ok(None);
        }
        out.extend_from_slice(units.get(copied..).unwrap_or(&[]));
        Ok(Some(Text::from(out)))
    }
}

impl Match {
    /// Where it begins.
    pub fn start(&self) -> usize {
        self.groups.first().copied().flatten().map_or(0, |g| g.0)
    }

    /// Where it ends.
    pub fn end(&self) -> usize {
        self.groups.first().copied().flatten().map_or(0, |g| g.1)
    }
}

impl Matches<'_> {
    /// The next match. Behind an empty one the search goes on one character further.
    pub fn next(&mut self, steps: &mut Steps) -> Result<Option<Match>, StepsExceeded> {
        let Some(at) = self.next.take() else { return Ok(None) };
        if !self.machine.search(at, self.flags.sticky, steps)? {
            return Ok(None);
        }
        let found = Match { groups: self.machine.groups() };
        if self.flags.global {
            let end = found.end();
            let text = self.machine.text();
            let wide = (self.flags.unicode || self.flags.sets)
                && matches!(text.get(end..), Some([0xD800..=0xDBFF, 0xDC00..=0xDFFF, ..]));
            let width = if wide { 2 } else { 1 };
            let next = if end > found.start() { end } else { end + width };
            self.next = (next <= text.len()).then_some(next);
        }
        Ok(Some(found))
    }
}
