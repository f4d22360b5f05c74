//! How two members stand to each other: a record of four numbers and its history (spec 09 §5). Data of the host; nothing here decides.

use serde::{Deserialize, Serialize};

use crate::js;

/// How many entries of the history are kept when a record is written down.
pub const HISTORY: usize = 50;

/// What a relation is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// How well they know each other.
    Familiarity,
    /// Trust.
    Trust,
    /// Affection.
    Affection,
    /// Rivalry.
    Rivalry,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What changed.
    pub dimension: Dimension,
    /// The change that was asked for, also where the limits cut it short.
    pub delta: f64,
    /// Before.
    pub old: f64,
    /// After.
    pub new: f64,
    /// Why.
    pub reason: String,
    /// When, in the host's unit; absent when the host named no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<f64>,
}

/// Two members and how they stand. All numbers are 0 to 100.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default)]
pub struct Relation {
    /// One of them.
    pub a: String,
    /// The other.
    pub b: String,
    /// How well they know each other.
    pub familiarity: f64,
    /// Trust.
    pub trust: f64,
    /// Affection.
    pub affection: f64,
    /// Rivalry.
    pub rivalry: f64,
    /// Changes, oldest first.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub history: Vec<Change>,
}

impl Relation {
    /// The name of the pair: both ids in code-point order, joined with `::`.
    pub fn key(&self) -> String {
        let (first, second) = if self.a <= self.b { (&self.a, &self.b) } else { (&self.b, &self.a) };
        format!("{first}::{second}")
    }

    /// Whether it is about a member.
    pub fn touches(&self, id: &str) -> bool {
        self.a == id || self.b == id
    }

    /// Changes one number, within 0 and 100. What is no number changes nothing.
    pub fn update(&mut self, dimension: Dimension, delta: f64, reason: &str, ts: Option<f64>) {
        if delta.is_nan() {
            return;
        }
        let slot = match dimension {
            Dimension::Familiarity => &mut self.familiarity,
            Dimension::Trust => &mut self.trust,
            Dimension::Affection => &mut self.affection,
            Dimension::Rivalry => &mut self.rivalry,
        };
        let old = *slot;
        let new = (old + delta).clamp(0.0, 100.0);
        *slot = new;
        self.history.push(Change { dimension, delta, old, new, reason: reason.to_owned(), ts });
    }

    /// The history as it is written down: the newest [`HISTORY`] changes.
    pub fn recent(&self) -> &[Change] {
        self.history.get(self.history.len().saturating_sub(HISTORY)..).unwrap_or_default()
    }

    /// The numbers that a prompt shows: those above 0, without decimals.
    pub fn line(&self) -> String {
        let all = [
            ("familiarity", self.familiarity),
            ("trust", self.trust),
            ("affection", self.affection),
            ("rivalry", self.rivalry),
        ];
        let shown: Vec<String> = all
            .iter()
            .filter(|(_, n)| *n > 0.0)
            .map(|(name, n)| format!("{name} {}", js::number_text(js::round(*n))))
            .collect();
        shown.join(", ")
    }
}
