//! Lines with a role and a name: what the budget is filled with (spec 02 §5).

use std::collections::VecDeque;

use serde_json::Value;

use super::{Line, Names};
use crate::js;
use crate::macros::Trust;
use crate::parts::{Origin, Role};
use crate::profile::Profile;

/// A stretch of text and where it came from.
pub type Piece = (Origin, String);

/// A message that waits for room, newest first in a list of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Whose voice.
    pub role: Role,
    /// The text, name prefix included; macros not yet expanded.
    pub text: String,
    /// Who it is by; empty for injected texts.
    pub name: String,
    /// Sources of the text, in order.
    pub pieces: Vec<Piece>,
    /// Index in the whole chat; `None` for injected texts.
    pub index: Option<usize>,
    /// For injected texts: depth.
    pub depth: Option<i64>,
    /// Macros are already expanded and must not be again.
    pub expanded: bool,
    /// How far its macros may go: the user's own text everywhere, the model's only to names.
    pub trust: Trust,
    /// Pictures, videos, sound to be sent along.
    pub media: Vec<Value>,
    /// Tool calls.
    pub invocations: Option<Vec<Value>>,
    /// Encrypted reasoning, if the same model answers.
    pub signature: Option<String>,
    /// Plain reasoning, if the same model answers.
    pub reasoning: Option<String>,
    /// Ghosted for this request: a hole that the reference trips over (spec 02 F-19).
    pub hole: bool,
}

/// What decides about records.
#[derive(Clone, Copy, Debug)]
pub struct RecordRules<'a> {
    /// Where names go.
    pub names: Names,
    /// The persona's name.
    pub user: &'a str,
    /// The speaker's name.
    pub char: &'a str,
    /// A group is selected.
    pub in_group: bool,
    /// Current source and model: signatures and reasoning return only to their own.
    pub source: &'a str,
    /// See `source`.
    pub model: &'a str,
    /// How media of messages that do not say are shown: `list` or `gallery`.
    pub media_display: &'a str,
    /// Faults put right or not.
    pub profile: &'a Profile,
}

/// The records of a chat, newest first, each made when it is first looked at: a long chat costs what the budget takes of it.
#[derive(Debug)]
pub struct Records<'a> {
    made: VecDeque<Record>,
    /// Lines whose records are not made yet, oldest first.
    rest: &'a [Line<'a>],
    rules: RecordRules<'a>,
}

impl<'a> Records<'a> {
    /// The records of lines (oldest first). A run of ghosts at the old end makes none.
    pub fn new(lines: &'a [Line<'a>], rules: RecordRules<'a>) -> Self {
        let oldest = lines.iter().position(|l| !l.message.ignore).unwrap_or(lines.len());
        Self { made: VecDeque::new(), rest: lines.get(oldest..).unwrap_or_default(), rules }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.made.len() + self.rest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one with so many newer ones before it.
    pub fn get(&mut self, at: usize) -> Option<&Record> {
        while self.made.len() <= at {
            let (line, rest) = self.rest.split_last()?;
            self.rest = rest;
            self.made.push_back(record(line, &self.rules));
        }
        self.made.get(at)
    }

    /// The first of them, newest first, that is wanted.
    pub fn position(&mut self, wanted: impl Fn(&Record) -> bool) -> Option<usize> {
        let mut at = 0;
        while !wanted(self.get(at)?) {
            at += 1;
        }
        Some(at)
    }

    /// Takes one out.
    pub fn remove(&mut self, at: usize) -> Option<Record> {
        self.get(at)?;
        self.made.remove(at)
    }

    /// Takes all out.
    #[must_use]
    pub fn take(&mut self) -> Self {
        Self { made: std::mem::take(&mut self.made), rest: std::mem::take(&mut self.rest), rules: self.rules }
    }

    /// All of them, made.
    pub fn all(mut self) -> VecDeque<Record> {
        self.get(usize::MAX);
        self.made
    }

    /// Chat indices from one on, oldest first.
    pub fn indices_from(&self, at: usize) -> impl Iterator<Item = usize> {
        let rest = self.rest.len().min(self.len().saturating_sub(at));
        let made = self.made.iter().skip(at).rev().filter_map(|r| r.index);
        self.rest.iter().take(rest).map(|l| l.index).chain(made)
    }

    /// Other records in place of these.
    pub fn replace(&mut self, records: impl IntoIterator<Item = Record>) {
        self.rest = &[];
        self.made = records.into_iter().collect();
    }
}

fn record(line: &Line<'_>, rules: &RecordRules<'_>) -> Record {
    let m = line.message;
    let role = if m.is_narrator() {
        Role::System
    } else if m.is_user {
        Role::User
    } else {
        Role::Assistant
    };
    let own = Origin::chat(line.index);
    let text = line.text.replace('\r', "");
    let mut pieces = Vec::new();
    let text = if rules.names.prefixes(m, rules.user, rules.char, rules.in_group, rules.profile) {
        let prefix = format!("{}: ", m.name).replace('\r', "");
        pieces.push((Origin { id: format!("{}:name_prefix", own.id), ..own.clone() }, prefix.clone()));
        format!("{prefix}{text}")
    } else {
        text
    };
    pieces.push((own, text.clone()));
    let is = |key: &str, want: &str| m.extra(key).and_then(Value::as_str) == Some(want);
    let same_model =
        is("api", rules.source) && is("model", rules.model) && (!rules.in_group || m.name == rules.char);
    let kept = |key: &str| {
        m.extra(key).and_then(Value::as_str).filter(|s| same_model && !s.is_empty()).map(str::to_owned)
    };
    let invocations = m.extra("tool_invocations").and_then(Value::as_array).map(|list| {
        let mut list = list.clone();
        if !same_model {
            for invocation in list.iter_mut().filter_map(Value::as_object_mut) {
                invocation.shift_remove("signature");
                invocation.shift_remove("reasoning");
            }
        }
        list
    });
    Record {
        role,
        text,
        name: m.name.clone(),
        pieces,
        index: Some(line.index),
        depth: None,
        expanded: false,
        trust: if m.is_user || m.is_narrator() { Trust::Full } else { Trust::Data },
        media: shown_media(line, rules),
        invocations,
        signature: kept("reasoning_signature"),
        reasoning: kept("reasoning"),
        hole: m.ignore,
    }
}

/// All media of a list, or the chosen one of a gallery.
fn shown_media(line: &Line<'_>, rules: &RecordRules<'_>) -> Vec<Value> {
    let extra = |key: &str| line.message.extra(key);
    let Some(media) = extra("media").and_then(Value::as_array) else { return Vec::new() };
    let display = extra("media_display").and_then(Value::as_str).unwrap_or(rules.media_display);
    if display != "gallery" {
        return media.clone();
    }
    let index = extra("media_index").map_or(0.0, js::value_to_number);
    let index = usize::try_from(js::to_integer(index)).ok().filter(|i| *i < media.len()).unwrap_or(0);
    media.get(index).cloned().into_iter().collect()
}
