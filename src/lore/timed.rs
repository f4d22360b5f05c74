//! Sticky, cooldown and delay: effects that last for a number of messages, with their stored records.
//!
//! Spec: 03 §9. Differs from ST under `lore.timers`. Records are changes ([`Effects`]), never written here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Input;
use super::entry::Entry;
use super::scan::Active;
use crate::js;
use crate::parts::Effects;
use crate::profile::{self, Profile};
use crate::scene::Object;

/// The effects of one evaluation.
#[derive(Debug)]
pub(super) struct Timers {
    clock: Clock,
    /// Entries that stay, and since when.
    sticky: BTreeMap<usize, f64>,
    /// Entries that rest.
    cooldown: BTreeSet<usize>,
    records: Records,
    /// New records are made.
    commit: bool,
    fixed: bool,
}

/// What time it is in a chat.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Messages, or turns of the user.
    now: f64,
    /// Messages: whether the chat has grown since a record was made.
    messages: f64,
    /// An effect of `n` turns lasts `n` turns beyond its own; one of `n` messages ends at the `n`-th (03 F26).
    turns: bool,
}

impl Clock {
    fn of(input: &Input<'_>, fixed: bool) -> Self {
        let turns = fixed && input.settings.get("world_info_timed_unit").is_some_and(|v| v == "turns");
        // Hidden messages are time that passed, too (03 F28).
        let messages = if fixed { input.lines.total } else { input.lines.count };
        #[expect(clippy::cast_precision_loss, reason = "numbers of messages")]
        let [now, messages] = [if turns { input.lines.turns } else { messages } as f64, messages as f64];
        Self { now, messages, turns }
    }

    /// The end of an effect that begins now.
    fn end(self, lasts: f64) -> f64 {
        self.now + lasts + if self.turns { 1.0 } else { 0.0 }
    }
}

#[derive(Clone, Debug, Default)]
struct Records {
    sticky: Object,
    cooldown: Object,
}

/// The stored maps; what is no object is dropped.
fn stored(metadata: &Object) -> Records {
    let part = |name: &str| {
        let map = metadata.get("timedWorldInfo").and_then(|t| t.get(name)).and_then(Value::as_object);
        map.map_or_else(Object::new, |m| {
            m.iter().filter(|(_, v)| v.is_object()).map(|(k, v)| (k.clone(), v.clone())).collect()
        })
    };
    Records { sticky: part("sticky"), cooldown: part("cooldown") }
}

fn number(record: &Value, key: &str) -> f64 {
    record.get(key).map_or(f64::NAN, js::value_to_number)
}

impl Timers {
    /// Reads the records, drops those that are over, and finds out which effects hold.
    pub(super) fn start(entries: &[Entry], input: &Input<'_>, profile: &Profile) -> Self {
        let fixed = profile.on(&profile::LORE_TIMERS);
        let mut this = Self {
            clock: Clock::of(input, fixed),
            sticky: BTreeMap::new(),
            cooldown: BTreeSet::new(),
            records: stored(input.metadata),
            fixed,
            // Background requests leave the clock alone where the fault is put right (03 F30).
            commit: !(input.dry || fixed && matches!(input.trigger, "quiet" | "impersonate" | "continue")),
        };
        if input.dry && !fixed {
            return this;
        }
        for kind in [Kind::Sticky, Kind::Cooldown] {
            let keys: Vec<String> = this.map(kind).keys().cloned().collect();
            for key in keys {
                this.check(kind, &key, entries, fixed);
            }
        }
        this
    }

    fn map(&mut self, kind: Kind) -> &mut Object {
        match kind {
            Kind::Sticky => &mut self.records.sticky,
            Kind::Cooldown => &mut self.records.cooldown,
        }
    }

    /// One record at the start of an evaluation (spec 03 §9.3).
    fn check(&mut self, kind: Kind, key: &str, entries: &[Entry], fixed: bool) {
        let Some(record) = self.map(kind).get(key).cloned() else { return };
        let (start, end) = (number(&record, "start"), number(&record, "end"));
        let protected = record.get("protected").is_some_and(js::to_boolean);
        // The chat did not grow since: the reply that made the record is gone. A protected one outlives even a shorter chat in
        // the reference (03 F29).
        // Several may speak in one turn: then it is the messages that tell.
        let made = record.get("messages").map_or(start, js::value_to_number);
        let messages = self.clock.messages;
        if messages <= made && (!protected || (fixed && messages < made)) {
            self.map(kind).shift_remove(key);
            return;
        }
        let hash = record.get("hash").map(js::value_to_text);
        let found = entries.iter().position(|e| {
            // An edit must not end the effect (03 F31): the id says which entry it is.
            if fixed { e.id == key } else { hash.as_deref() == Some(js::number_text(e.hash).as_str()) }
        });
        let Some((at, entry)) = found.and_then(|at| Some((at, entries.get(at)?))) else {
            if self.clock.now >= end {
                self.map(kind).shift_remove(key);
                if fixed && kind == Kind::Sticky {
                    // Another member was speaking when it ended: its rest begins at its own end (03 F27). How long is known when
                    // its book is loaded again.
                    self.records.sticky.insert(key.to_owned(), record);
                }
            }
            return;
        };
        let own = match kind {
            Kind::Sticky => entry.sticky,
            Kind::Cooldown => entry.cooldown,
        };
        if own.is_none() {
            self.map(kind).shift_remove(key);
            return;
        }
        if self.clock.now >= end {
            self.map(kind).shift_remove(key);
            if let (Kind::Sticky, Some(rest)) = (kind, entry.cooldown) {
                let from = if fixed { end } else { self.clock.now };
                if !fixed || self.clock.now < end + rest {
                    let record = self.record(entry, from, from + rest, true);
                    self.records.cooldown.insert(key.to_owned(), record);
                    self.cooldown.insert(at);
                }
            }
            return;
        }
        match kind {
            Kind::Sticky => _ = self.sticky.insert(at, start),
            Kind::Cooldown => _ = self.cooldown.insert(at),
        }
    }

    /// The entries that an effect holds.
    pub(super) fn held(&self) -> impl Iterator<Item = usize> {
        self.sticky.keys().chain(&self.cooldown).copied()
    }

    /// Whether an entry stays from an earlier message.
    pub(super) fn sticky(&self, at: usize) -> bool {
        self.sticky.contains_key(&at)
    }

    /// Since when it stays.
    pub(super) fn started(&self, at: usize) -> f64 {
        self.sticky.get(&at).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Whether it rests.
    pub(super) fn cooling(&self, at: usize) -> bool {
        self.cooldown.contains(&at)
    }

    /// A stored effect. In turns it says how many messages there were, too.
    fn record(&self, entry: &Entry, start: f64, end: f64, protected: bool) -> Value {
        let mut record = json!({"hash": number_value(entry.hash), "start": number_value(start), "end": number_value(end), "protected": protected});
        if let (true, Some(o)) = (self.clock.turns, record.as_object_mut()) {
            o.insert("messages".to_owned(), number_value(self.clock.messages));
        }
        record
    }

    /// Whether an entry sits this message out (`@@activate_only_every`).
    pub(super) fn off_beat(&self, entry: &Entry) -> Option<f64> {
        entry.every.filter(|every| self.clock.now % every != 0.0)
    }

    /// The messages an entry waits for, while the chat is shorter.
    pub(super) fn delayed(&self, entry: &Entry) -> Option<f64> {
        entry.delay.filter(|needed| self.clock.now < *needed)
    }

    /// Records of the entries that became active, as changes of the chat's metadata.
    pub(super) fn finish<'a>(mut self, active: impl Iterator<Item = &'a Active>, effects: &mut Effects) {
        if self.commit {
            for Active { what, .. } in active {
                for (kind, lasts) in [(Kind::Sticky, what.sticky), (Kind::Cooldown, what.cooldown)] {
                    let Some(lasts) = lasts else { continue };
                    let record = self.record(what, self.clock.now, self.clock.end(lasts), false);
                    // An existing record is never refreshed.
                    self.map(kind).entry(what.id.clone()).or_insert(record);
                }
            }
        }
        // The reference writes the maps of a dry run, too, as it found them (spec 03 §1.8).
        if self.commit || !self.fixed {
            let Records { sticky, cooldown } = self.records;
            effects
                .metadata
                .insert("timedWorldInfo".to_owned(), Some(json!({"sticky": sticky, "cooldown": cooldown})));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sticky,
    Cooldown,
}

/// A JSON number, whole where it is whole.
fn number_value(n: f64) -> Value {
    if n.fract() == 0.0 && n.abs() < 9.0e15 { Value::from(js::to_integer(n)) } else { Value::from(n) }
}
