//! A pattern as a list of instructions: what `compile` writes and `machine` runs.

use super::set::Set;

/// Index of an instruction.
pub(super) type Pc = u32;

/// One instruction. "Back" ones read towards the start of the text, inside a lookbehind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inst {
    /// The whole pattern has matched.
    Match,
    /// One UTF-16 unit.
    Unit {
        unit: u16,
        back: bool,
    },
    /// One character of a set.
    Set {
        set: u32,
        back: bool,
    },
    /// Any number of characters of a set.
    Star {
        set: u32,
        greedy: bool,
        back: bool,
    },
    /// Exactly `n` characters of a set.
    Times {
        set: u32,
        n: u32,
        back: bool,
    },
    /// At most `max` characters of a set.
    UpTo {
        set: u32,
        max: u32,
        greedy: bool,
        back: bool,
    },
    /// Tries one place, and the other if that leads to nothing.
    Split {
        first: Pc,
        second: Pc,
    },
    Jump {
        to: Pc,
    },
    /// The position becomes the start (even slot) or end (odd slot) of a group.
    Save {
        slot: u32,
    },
    /// Groups forget what they matched: another round of a loop begins.
    Forget {
        from: u32,
        to: u32,
    },
    /// An assertion about the position.
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    Edge {
        negate: bool,
    },
    /// Runs what follows up to `LookEnd` apart; then goes on at `next` from the same position.
    Look {
        negate: bool,
        next: Pc,
    },
    LookEnd,
    /// What a group has matched.
    Back {
        group: u32,
        back: bool,
    },
    /// The position is kept.
    Mark {
        register: u32,
    },
    /// The position must have changed since `Mark`.
    Moved {
        register: u32,
    },
    /// A counter becomes 0.
    Zero {
        register: u32,
    },
    /// Head of a counted loop: `min` rounds at least, `max` at most.
    Count {
        register: u32,
        min: u32,
        max: u32,
        greedy: bool,
        exit: Pc,
    },
    /// End of a round: one more, and back to the head. Beyond `min` the position must have changed since `mark`.
    Round {
        register: u32,
        min: u32,
        mark: u32,
        head: Pc,
    },
}

/// No register, no place in the memory of failures.
pub(super) const NONE: u32 = u32::MAX;

/// Things about the enclosing loops that the place of a choice may depend on.
pub(super) const MOST_WATCHED: usize = 4;

/// Rows that one choice may have.
pub(super) const MOST_ROWS: u32 = 10_000;

/// What decides, besides the position, what can follow a choice inside a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    Nothing,
    /// Whether the position has changed since the round began that this register marks.
    Moved {
        register: u32,
    },
    /// How many rounds this register has counted; `states - 1` stands for that many and more.
    Rounds {
        register: u32,
        states: u32,
    },
}

impl Watched {
    const fn states(self) -> u32 {
        match self {
            Self::Nothing => 1,
            Self::Moved { .. } => 2,
            Self::Rounds { states, .. } => states,
        }
    }
}

/// The place of a choice in the memory of failures. It has one if nothing but the position and what is watched decides what can
/// follow: it lies in no lookaround, and no reference back can come behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Its first row, or `NONE`.
    pub first: u32,
    /// Each multiplies the number of rows.
    pub watched: [Watched; MOST_WATCHED],
}

impl Row {
    pub(super) const NOWHERE: Self = Self { first: NONE, watched: [Watched::Nothing; MOST_WATCHED] };

    /// Number of rows.
    pub(super) fn count(&self) -> u32 {
        self.watched.iter().fold(1, |n, watched| n.saturating_mul(watched.states()))
    }
}

/// A compiled pattern.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub code: Vec<Inst>,
    /// For each instruction its rows in the memory of failures.
    pub rows: Vec<Row>,
    /// Number of rows.
    pub row_count: u32,
    pub sets: Vec<Set>,
    pub registers: u32,
    /// Groups, the whole match included.
    pub groups: u32,
    /// The units that a match can begin with; `None` when a match may be empty or begins with something else.
    pub first: Option<Set>,
    /// The same, if there is just one.
    pub first_unit: Option<u16>,
    /// A match can only begin where the text begins.
    pub anchored: bool,
    /// `\w`, for `\b`.
    pub word: Set,
    pub unicode: bool,
    pub ignore_case: bool,
}
