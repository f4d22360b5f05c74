//! What only the caller knows: random numbers, the time, the zone, the locale, and how much work input may cause.
//!
//! Nothing in the crate reads a clock or rolls a die by itself. The same [`Host`] gives the same bytes in native Rust,
//! Node and browsers.

mod draws;
mod limits;

pub use draws::{Dice, Draw, Draws, Rest, Seed, Site, Tape};
pub use limits::Limits;

use crate::js::regexp::{Platform, Steps};

/// Everything a step may ask of the outside, as data.
#[derive(Clone, Debug)]
pub struct Host {
    /// Random numbers, with a record of those used.
    pub dice: Dice,
    /// Time, zone and locale.
    pub clock: Clock,
    /// Bounds on work that input can cause.
    pub limits: Limits,
    /// Steps that regular expressions have taken in this request (default 0): see [`Host::begin_request`].
    pub regex_spent: u64,
    /// The engine for regex scripts, in place of our own (default none): exact too, but without a budget.
    pub platform_regexp: Option<Platform>,
}

impl Host {
    /// A host with the given dice, the epoch in UTC, and default limits.
    pub fn new(dice: Dice) -> Self {
        Self {
            dice,
            clock: Clock::default(),
            limits: Limits::default(),
            regex_spent: 0,
            platform_regexp: None,
        }
    }

    /// Another request, or another text that comes in, begins: what belongs to one is spent anew.
    pub const fn begin_request(&mut self) {
        self.regex_spent = 0;
    }

    /// What one regular expression may spend on one text: `Limits::regex_steps`, or what is left of `Limits::regex_total`.
    pub fn regex_steps(&self) -> Steps {
        let left = self.limits.regex_total.saturating_sub(self.regex_spent);
        Steps::new(left.min(self.limits.regex_steps))
    }

    /// Books what became of the steps that [`Host::regex_steps`] gave.
    pub fn spend_regex_steps(&mut self, given: Steps, left: Steps) {
        self.regex_spent = self.regex_spent.saturating_add(given.left().saturating_sub(left.left()));
    }
}

/// Now, as the caller says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub now_ms: i64,
    /// Minutes east of Greenwich of the user's zone at `now_ms` (default 0). The opposite sign of `Date.getTimezoneOffset`.
    pub offset_minutes: i32,
    /// BCP 47 tag (default `en-US`). The reference formats dates in English whatever it is (spec 04 §10).
    pub locale: String,
}

impl Default for Clock {
    fn default() -> Self {
        Self { now_ms: 0, offset_minutes: 0, locale: "en-US".to_owned() }
    }
}
