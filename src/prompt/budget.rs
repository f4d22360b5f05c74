//! The budget: reserve, add, free; every step is a line of the ledger (spec 02 §10). Knows no message.

use crate::parts::{LedgerLine, Op};

/// Something that had to be placed did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// What did not fit.
    pub what: String,
    /// What it costs.
    pub tokens: i64,
    /// What was left.
    pub left: i64,
}

/// Tokens that are left. May go below zero: reservations are not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    left: i64,
    lines: Vec<LedgerLine>,
}

impl Budget {
    /// A budget of `limit` tokens.
    pub fn new(limit: i64) -> Self {
        let line = LedgerLine { op: Op::Set, what: "limit".to_owned(), d: limit, left: limit };
        Self { left: limit, lines: vec![line] }
    }

    /// What is left.
    pub const fn left(&self) -> i64 {
        self.left
    }

    /// Whether so many tokens fit; an exact fit does.
    pub const fn affords(&self, tokens: i64) -> bool {
        self.left >= tokens
    }

    /// The ledger so far, taken out.
    pub fn take_lines(&mut self) -> Vec<LedgerLine> {
        std::mem::take(&mut self.lines)
    }

    /// Books a change, whatever is left.
    pub fn book(&mut self, op: Op, what: &str, d: i64) {
        self.left = self.left.saturating_add(d);
        self.lines.push(LedgerLine { op, what: what.to_owned(), d, left: self.left });
    }

    /// Holds room, whether it is there or not.
    pub fn reserve(&mut self, what: &str, tokens: i64) {
        self.book(Op::Reserve, what, -tokens);
    }

    /// Gives a reservation back.
    pub fn free(&mut self, what: &str, tokens: i64) {
        self.book(Op::Free, what, tokens);
    }

    /// Spends tokens, or says that they do not fit.
    pub fn spend(&mut self, op: Op, what: &str, tokens: i64) -> Result<(), Overflow> {
        if !self.affords(tokens) {
            return Err(Overflow { what: what.to_owned(), tokens, left: self.left });
        }
        self.book(op, what, -tokens);
        Ok(())
    }
}
