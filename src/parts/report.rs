//! The explanation that comes with every request: where each message came from, what it costs, what was left out and why
//! (spec 02 Part 3). Numbers are tokens unless said otherwise; offsets are UTF-16.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::models::BodyChange;

/// What kind of source a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// A prompt of the preset.
    Prompt,
    /// A card field.
    Card,
    /// The persona's description.
    Persona,
    /// A lorebook entry.
    Lore,
    /// An injected text.
    Ext,
    /// A chat message.
    Chat,
    /// A utility prompt: new chat, nudge, impersonation …
    Utility,
    /// The reservation for tool schemas.
    Tools,
    /// Inserted by the caller.
    Host,
}

/// Where a text came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Origin {
    /// The kind of source.
    pub kind: OriginKind,
    /// Which one: prompt identifier, field, key, `msg:3` …
    pub id: String,
    /// Avatar of the card, for joined cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub character: Option<String>,
    /// Message index, for `chat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub index: Option<usize>,
}

impl Origin {
    /// An origin without further detail.
    pub fn new(kind: OriginKind, id: impl Into<String>) -> Self {
        Self { kind, id: id.into(), character: None, index: None }
    }

    /// A chat message.
    pub fn chat(index: usize) -> Self {
        Self { index: Some(index), ..Self::new(OriginKind::Chat, format!("msg:{index}")) }
    }
}

/// A stretch of a message with one origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Part {
    /// Where it came from.
    pub origin: Origin,
    /// UTF-16 range in the content.
    pub range: [usize; 2],
    /// Text between the previous part and this one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sep_before: String,
}

/// One message of the request, explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReportMessage {
    /// Index in the assembled list, before post-processing.
    pub i: usize,
    /// Role.
    pub role: String,
    /// The `name` field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub name: Option<String>,
    /// Tokens of the message, framing included.
    pub tokens: i64,
    /// What its parts were charged, where it was merged from several; else the same as `tokens`.
    pub charged: i64,
    /// The slot of the prompt order it stands in.
    pub slot: String,
    /// Depth of an injection.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub depth: Option<i64>,
    /// Its parts in text order.
    pub parts: Vec<Part>,
}

/// A slot of the prompt order with what stands in it, before messages are merged; empty prompts are among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReportSlot {
    /// Its name: a prompt identifier, `chatHistory`, `dialogueExamples`, `continueNudge`, `controlPrompts` …
    pub slot: String,
    /// Its messages, in order.
    pub items: Vec<ReportItem>,
}

/// A message of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReportItem {
    /// Its identifier; the continued message has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub id: Option<String>,
    /// Role.
    pub role: String,
    /// Tokens charged, framing included.
    pub tokens: i64,
}

/// Why the request is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReportError {
    /// A stable code of an error, such as `budget.mandatory`.
    pub code: String,
    /// What did not fit.
    pub what: String,
    /// How many tokens were missing.
    pub short_by: i64,
}

/// An input that did not make it, and why (codes of spec 02 Part 3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Omitted {
    /// What it was.
    pub origin: Origin,
    /// The same holds for the chat messages up to this index: long runs are one item.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub through: Option<usize>,
    /// What it would have cost, when it was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub tokens: Option<i64>,
    /// Stable code, such as `budget.history_cut`.
    pub reason: String,
    /// Further data, such as `{left, short_by}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub detail: Option<Value>,
}

impl Omitted {
    /// A source and a reason.
    pub fn new(origin: Origin, reason: &str) -> Self {
        Self { origin, through: None, tokens: None, reason: reason.to_owned(), detail: None }
    }

    /// Adds a chat message; neighbours that are left out for the same reason become one item.
    pub fn message(list: &mut Vec<Self>, index: usize, reason: &str) {
        let before = list.last_mut().filter(|o| o.reason == reason && o.tokens.is_none());
        if let Some(run) = before
            && let Some(from) = run.origin.index
        {
            let to = run.through.unwrap_or(from);
            if to + 1 == index || index + 1 == from {
                if index < from {
                    run.origin = Origin::chat(index);
                }
                run.through = Some(to.max(index));
                return;
            }
        }
        list.push(Self::new(Origin::chat(index), reason));
    }
}

/// A step of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Sets the limit.
    Set,
    /// Holds room for something that comes later.
    Reserve,
    /// Adds fixed text.
    Add,
    /// Adds a chat message or an example block.
    Fill,
    /// Gives a reservation back.
    Free,
    /// Inserts what was reserved.
    Insert,
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LedgerLine {
    /// What was done.
    pub op: Op,
    /// With what.
    pub what: String,
    /// Change of what is left.
    pub d: i64,
    /// What is left afterwards; may be negative in the `sillytavern` profile.
    pub left: i64,
}

/// The totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Budget {
    /// Context size.
    pub context: i64,
    /// Response length.
    pub response: i64,
    /// Kept free because counts are estimates.
    pub margin: i64,
    /// `context - response - margin`.
    pub limit: i64,
    /// Charged in all.
    pub used: i64,
    /// `limit - used`.
    pub left: i64,
    /// `used` by class: `priming`, `tools`, `control`, `fixed`, `utility`, `history`, `injections`, `examples`; `lost` for what was
    /// charged and overwritten, `held` for reservations that an early stop never gave back. Zeros are left out.
    pub by_class: BTreeMap<String, i64>,
}

/// Where the history was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "HistoryCut"))]
pub struct Cut {
    /// Index of the oldest chat message that is in; `None` when there is none.
    pub first_included_index: Option<usize>,
    /// How many older visible messages were left out.
    pub dropped: usize,
}

/// How much of a request stood at the start of the one before, so that a provider's prompt cache can have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Reuse {
    /// Messages that are the same, from the first on.
    pub messages: usize,
    /// Their tokens, and those of the text that the next one begins with in both.
    pub tokens: i64,
    /// Where they part; absent when nothing is new, or when there was no request before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub first_difference: Option<Parting>,
    /// What else differs, so that nothing can be had again: `provider`, `model`, `tools`, `schema`, `system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "string"))]
    pub reset: Option<&'static str>,
}

/// Where a request parts from the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Parting {
    /// Index of the first message that differs.
    pub index: usize,
    /// Where its text came from, if that is known.
    pub origin: Option<Origin>,
}

/// The parts of a text-completion prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TextParts {
    /// The story string before its sequences.
    pub story: String,
    /// The example dialogue that is in.
    pub examples: String,
    /// The chat that is in, oldest first; the last with the end of the prompt.
    pub messages: Vec<String>,
    /// The message that is continued, as far as it goes.
    pub continuation: String,
}

/// The report of one request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report {
    /// Format version.
    pub v: u32,
    /// Generation type.
    pub r#type: String,
    /// Counter used.
    pub tokenizer: String,
    /// Whether its counts are exact.
    pub exact: bool,
    /// Totals.
    pub budget: Budget,
    /// One a message, same index.
    pub messages: Vec<ReportMessage>,
    /// The slots in final order, before system messages are merged.
    pub slots: Vec<ReportSlot>,
    /// Identifiers of the messages, where system messages were merged; empty otherwise.
    pub merged: Vec<ReportItem>,
    /// Sum of the counts made while merging; what ST's inspector shows without a name.
    pub recounted: i64,
    /// What is not in, and why.
    pub omitted: Vec<Omitted>,
    /// Every token that was booked.
    pub ledger: Vec<LedgerLine>,
    /// Repairs and oddities.
    pub warnings: Vec<crate::error::Warning>,
    /// The history's cut.
    pub cut: Cut,
    /// What it has in common with the room's request before it.
    pub reuse: Reuse,
    /// Fields of the body that the model's name forbids or renames.
    pub body_changes: Vec<BodyChange>,
    /// Why the request is not whole; only where the profile sends it all the same.
    pub error: Option<ReportError>,
    /// The parts of the prompt; only in text completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextParts>,
}
