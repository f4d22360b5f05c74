//! One source of random numbers for everything that rolls: who speaks, greetings, lorebook probability, macros.
//!
//! A draw is a number r, 0 <= r < 1. The reference takes `floor(r * n)` in double precision, and so do we (spec 01 §5).

use std::fmt;

use crate::js;

/// Where a draw was used. The text forms are those of the recorded cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Site {
    /// Shuffling the members before the talkativeness rolls.
    NaturalShuffle,
    /// Talkativeness rolls, then the fallback choices.
    Natural,
    /// The pooled choice.
    Pooled,
    /// The manual choice without input.
    ManualShuffle,
    /// Whom to impersonate beside.
    Impersonate,
    /// Last speaker of a chat without character messages.
    SwipeShuffle,
    /// A greeting, then its batch id.
    Greeting,
    /// Lorebook probability.
    Lore,
    /// Lorebook inclusion groups.
    LoreGroup,
    /// `{{random}}`.
    MacroRandom,
    /// `{{roll}}`.
    MacroRoll,
    /// Strategies and guards of a room.
    Room,
}

impl Site {
    /// The stable text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NaturalShuffle => "natural.shuffle",
            Self::Natural => "natural",
            Self::Pooled => "pooled",
            Self::ManualShuffle => "manual.shuffle",
            Self::Impersonate => "impersonate",
            Self::SwipeShuffle => "swipe.shuffle",
            Self::Greeting => "greeting",
            Self::Lore => "wi",
            Self::LoreGroup => "wi.group",
            Self::MacroRandom => "macro.random",
            Self::MacroRoll => "macro.roll",
            Self::Room => "room",
        }
    }
}

impl serde::Serialize for Site {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A number that was used, and where.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Draw {
    /// What it decided.
    #[cfg_attr(test, ts(type = "string"))]
    pub site: Site,
    /// The number, 0 <= value < 1.
    pub value: f64,
}

/// A source of random numbers. The one trait whose other side may be outside the crate.
pub trait Draws: fmt::Debug + Send {
    /// The next number in [0, 1), or `None` when the source has run out.
    fn next(&mut self) -> Option<f64>;
    /// A copy that goes on independently: a failed call must not spend the caller's numbers.
    fn fork(&self) -> Box<dyn Draws>;
    /// What is to come, so that another session can go on from here; `None` for a source that cannot be written down.
    fn rest(&self) -> Option<Rest> {
        None
    }
}

/// The numbers that are still to come.
#[derive(Clone, Debug, PartialEq)]
pub enum Rest {
    /// Those of a generator in this state: see [`Seed::from_entropy`].
    State([u8; 32]),
    /// These.
    Tape(Vec<f64>),
}

/// A source with a record of what was drawn.
#[derive(Debug)]
pub struct Dice {
    source: Box<dyn Draws>,
    drawn: Vec<Draw>,
    exhausted: bool,
}

impl Clone for Dice {
    fn clone(&self) -> Self {
        Self { source: self.source.fork(), drawn: self.drawn.clone(), exhausted: self.exhausted }
    }
}

impl Dice {
    /// Dice over any source.
    pub fn new(source: impl Draws + 'static) -> Self {
        Self { source: Box::new(source), drawn: Vec::new(), exhausted: false }
    }

    /// Dice that repeat for a seed, on every platform. 32 bytes of entropy make good dice too.
    pub fn seeded(seed: u64) -> Self {
        Self::new(Seed::new(seed))
    }

    /// Dice that replay recorded numbers.
    pub fn tape(values: impl Into<Vec<f64>>) -> Self {
        Self::new(Tape::new(values.into()))
    }

    /// One number. When the source has run out: 0, and [`Dice::exhausted`] tells; the caller of the step turns that into
    /// an error, so that no rule has to carry a `Result` for it.
    pub fn draw(&mut self, site: Site) -> f64 {
        let Some(value) = self.source.next() else {
            self.exhausted = true;
            return 0.0;
        };
        self.drawn.push(Draw { site, value });
        value
    }

    /// `floor(r * n)` for one draw; 0 when `n` is 0 (the draw is spent all the same).
    pub fn index(&mut self, site: Site, n: usize) -> usize {
        let r = self.draw(site);
        #[expect(clippy::cast_precision_loss, reason = "lists are far shorter than 2^53")]
        let at = js::to_integer((r * n as f64).floor());
        usize::try_from(at).unwrap_or(0).min(n.saturating_sub(1))
    }

    /// The reference's shuffle (spec 01 §5): n draws for n items; the last one changes nothing but is spent.
    pub fn shuffle<T>(&mut self, site: Site, items: &mut [T]) {
        for i in (1..=items.len()).rev() {
            let j = self.index(site, i);
            items.swap(i - 1, j);
        }
    }

    /// What was drawn so far, in order.
    pub fn drawn(&self) -> &[Draw] {
        &self.drawn
    }

    /// Takes the record, leaving it empty.
    pub fn take_drawn(&mut self) -> Vec<Draw> {
        std::mem::take(&mut self.drawn)
    }

    /// What is to come: see [`Draws::rest`].
    pub fn rest(&self) -> Option<Rest> {
        self.source.rest()
    }

    /// Whether a draw was asked for that the source could not give.
    pub const fn exhausted(&self) -> bool {
        self.exhausted
    }
}

/// xoshiro256** seeded through splitmix64: small, well tested in public, equal on every platform.
#[derive(Clone, Debug)]
pub struct Seed {
    state: [u64; 4],
}

impl Seed {
    /// From a number.
    pub fn new(seed: u64) -> Self {
        let mut x = seed;
        let mut next = || {
            x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        Self { state: [next(), next(), next(), next()] }
    }

    /// From 32 bytes of entropy.
    pub fn from_entropy(bytes: &[u8; 32]) -> Self {
        let mut mixed = 0u64;
        let mut state = [0u64; 4];
        for (word, chunk) in state.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = chunk.iter().fold(0, |n, b| (n << 8) | u64::from(*b));
            mixed |= *word;
        }
        if mixed == 0 { Self::new(0) } else { Self { state } }
    }
}

impl Draws for Seed {
    fn next(&mut self) -> Option<f64> {
        let [a, b, c, d] = self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = b << 17;
        let c2 = c ^ a;
        let d2 = d ^ b;
        self.state = [a ^ d2, b ^ c2, c2 ^ t, d2.rotate_left(45)];
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
        let value = (result >> 11) as f64 / (1u64 << 53) as f64;
        Some(value)
    }

    fn fork(&self) -> Box<dyn Draws> {
        Box::new(self.clone())
    }

    fn rest(&self) -> Option<Rest> {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.state) {
            chunk.copy_from_slice(&word.to_be_bytes());
        }
        Some(Rest::State(bytes))
    }
}

/// Recorded numbers, in order.
#[derive(Clone, Debug)]
pub struct Tape {
    values: Vec<f64>,
    next: usize,
}

impl Tape {
    /// A tape. Values outside [0, 1) are clamped into it when read.
    pub const fn new(values: Vec<f64>) -> Self {
        Self { values, next: 0 }
    }
}

impl Draws for Tape {
    fn next(&mut self) -> Option<f64> {
        let value = *self.values.get(self.next)?;
        self.next += 1;
        Some(if (0.0..1.0).contains(&value) { value } else { value.clamp(0.0, 1.0 - f64::EPSILON) })
    }

    fn fork(&self) -> Box<dyn Draws> {
        Box::new(self.clone())
    }

    fn rest(&self) -> Option<Rest> {
        Some(Rest::Tape(self.values.get(self.next..).unwrap_or_default().to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_spends_one_draw_an_item() {
        // Spec 01 appendix B.
        for (items, draws, want) in [
            (vec!["a", "b", "c", "d"], vec![0.1, 0.5, 0.9, 0.3], vec!["d", "c", "b", "a"]),
            (vec!["a", "b", "c"], vec![0.0, 0.0, 0.0], vec!["b", "c", "a"]),
            (vec!["S", "L", "M"], vec![0.72, 0.10, 0.55], vec!["L", "S", "M"]),
        ] {
            let (mut items, n) = (items, draws.len());
            let mut dice = Dice::tape(draws);
            dice.shuffle(Site::NaturalShuffle, &mut items);
            assert_eq!(items, want);
            assert_eq!(dice.drawn().len(), n);
        }
    }

    #[test]
    fn a_seed_repeats_and_stays_in_range() {
        let mut a = Seed::new(7);
        let mut b = Seed::new(7);
        for _ in 0..1000 {
            let r = a.next().unwrap();
            assert!((0.0..1.0).contains(&r));
            assert_eq!(Some(r.to_bits()), b.next().map(f64::to_bits));
        }
    }

    #[test]
    fn what_is_to_come_can_be_written_down() {
        let mut seed = Seed::new(7);
        seed.next();
        let Some(Rest::State(bytes)) = seed.rest() else { panic!("a seed has a state") };
        let mut again = Seed::from_entropy(&bytes);
        for _ in 0..100 {
            assert_eq!(seed.next(), again.next());
        }
        let mut dice = Dice::tape(vec![0.1, 0.2, 0.3]);
        dice.draw(Site::Pooled);
        assert_eq!(dice.rest(), Some(Rest::Tape(vec![0.2, 0.3])));
    }

    #[test]
    fn an_empty_tape_tells() {
        let mut dice = Dice::tape(vec![]);
        assert_eq!(dice.index(Site::Pooled, 3), 0);
        assert!(dice.exhausted() && dice.drawn().is_empty());
    }
}
