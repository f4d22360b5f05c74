//! A text that grows, such as a reply while it streams in -> its count after each addition, exact, for the price of
//! the addition.
//!
//! Two things make that possible. The scanner is a machine that can wait at the end of the text. And the tokens of
//! every beginning of a piece are known from shorter beginnings: all but the last token of a text are the tokens of a
//! shorter text, and of the tokens that could be the last, merging keeps the border before exactly one. So it is
//! enough to remember, for the last [`LONGEST`] positions, how many tokens lead there and which is the last.
//!
//! What follows the place where a piece would end if it ended now (the `'` of `don'`, before it is known whether a
//! `t` comes) is counted as the text it would be then: by a second open piece, started there and thrown away when the
//! first one grows over it.

use super::asset::LONGEST;
use super::bpe::{Bpe, Work};
use super::classes::class_at;
use super::scan::Scan;
use super::vocabulary::NONE;

/// Positions remembered; at least one more than the longest token.
const WINDOW: usize = 256;
const _: () = assert!(WINDOW > LONGEST);

/// A text that grows. Give it to [`Count::append`](super::Count::append) with each addition, always of one and the
/// same counter.
#[derive(Clone, Debug, Default)]
pub struct Appender {
    /// The whole text, for counters that count it again.
    text: String,
    /// Tokens of all pieces that no addition can change.
    settled: u32,
    /// The text behind them.
    tail: Vec<u8>,
    /// The piece that begins the tail; the piece that begins where this one would end now; and so on.
    open: Vec<Piece>,
}

/// A piece that is being read.
#[derive(Clone, Debug)]
struct Piece {
    start: usize,
    /// How far it was read.
    at: usize,
    scan: Scan,
    /// Tokens up to `scan.end`.
    tokens: u32,
    /// For the positions behind `start`, [`WINDOW`] in turn: the last token of what leads there, and the number of
    /// its tokens.
    ways: Vec<(u32, u32)>,
}

impl Piece {
    fn new(start: usize) -> Self {
        Self { start, at: start, scan: Scan::start(start), tokens: 0, ways: Vec::new() }
    }

    /// Last token and number of tokens of the first `length` bytes.
    fn way(&self, length: usize) -> (u32, u32) {
        if length == 0 {
            return (NONE, 0);
        }
        self.ways.get((length - 1) % WINDOW).map_or((NONE, 0), |way| *way)
    }

    /// Reads on to the end of the text; false if the piece ends before it.
    fn read(&mut self, bpe: &Bpe, work: &mut Work, bytes: &[u8]) -> bool {
        while let Some((class, length)) = class_at(bytes, self.at) {
            let end = self.scan.end;
            if !bpe.scanner.read(&mut self.scan, class, self.at, length) {
                return false;
            }
            for at in self.at + 1..=self.at + length {
                self.step(bpe, work, bytes, at);
            }
            self.at += length;
            if self.scan.end != end {
                self.tokens = self.way(self.scan.end - self.start).1;
            }
        }
        true
    }

    /// Finds the last token of what leads to `at`.
    fn step(&mut self, bpe: &Bpe, work: &mut Work, bytes: &[u8], at: usize) {
        let read = at - self.start;
        let way = (1..=read.min(LONGEST)).rev().find_map(|length| {
            let token = bpe.vocabulary.find_any(bytes, at - length, length);
            let (before, tokens) = self.way(read - length);
            (token != NONE && bpe.keeps(work, bytes, at - length, before, token))
                .then_some((token, tokens.saturating_add(1)))
        });
        // Some token always is the last.
        let way = way.unwrap_or((NONE, 0));
        match self.ways.get_mut((read - 1) % WINDOW) {
            Some(slot) => *slot = way,
            None => self.ways.push(way),
        }
    }
}

impl Appender {
    /// An empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds to the whole text and returns it: for counters without a way to go on from where they were.
    pub fn add(&mut self, text: &str) -> &str {
        self.text.push_str(text);
        &self.text
    }

    /// Adds to the text and counts it.
    pub(super) fn push(&mut self, bpe: &Bpe, work: &mut Work, text: &str) -> u32 {
        self.tail.extend(text.as_bytes());
        let (mut level, mut start) = (0, 0);
        while start < self.tail.len() {
            if self.open.is_empty()
                && let Some(end) = bpe.scanner.closed(&self.tail, start)
            {
                // A piece that begins and ends in this addition.
                self.settled = self.settled.saturating_add(bpe.piece(work, &self.tail, start, end));
                start = end;
                continue;
            }
            if self.open.len() == level {
                self.open.push(Piece::new(start));
            }
            let Some(piece) = self.open.get_mut(level) else { break };
            let end_before = piece.scan.end;
            let ended = !piece.read(bpe, work, &self.tail);
            let (scan, tokens) = (piece.scan, piece.tokens);
            if scan.end != end_before {
                self.open.truncate(level + 1);
            }
            start = scan.end;
            if ended && level == 0 {
                self.settled = self.settled.saturating_add(tokens);
                self.open.remove(0);
            } else if bpe.scanner.takes_rest(scan) {
                break;
            } else {
                level += 1;
            }
        }
        let done = self.open.first().map_or(self.tail.len(), |piece| piece.start);
        self.tail.drain(..done);
        for piece in &mut self.open {
            piece.start -= done;
            piece.at -= done;
            piece.scan.end -= done;
        }
        self.total(bpe)
    }

    /// Tokens of the text if it ends here.
    fn total(&self, bpe: &Bpe) -> u32 {
        let mut total = self.settled;
        for piece in &self.open {
            if bpe.scanner.takes_rest(piece.scan) {
                return total.saturating_add(piece.way(piece.at - piece.start).1);
            }
            total = total.saturating_add(piece.tokens);
        }
        total
    }
}
