//! A message on its way into the list: text, cost, sources; and the slots it stands in (spec 02 §9.1, §10, §11).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::history::Piece;
use crate::js;
use crate::models::{Fields, Framing};
use crate::parts::{Message, Op, Origin, Part, ReportItem, Role};
use crate::prompt::{Budget, Overflow};
use crate::scene::Object;
use crate::tokens::Count;

/// One message with its cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// Its identifier, as the prompt inspector shows it; the continued message has none.
    pub id: Option<String>,
    /// The role as given; an unknown one goes out as it is in the `sillytavern` profile.
    pub role: String,
    /// The text.
    pub text: String,
    /// Media parts behind the text.
    pub media: Vec<Value>,
    /// The `name` field.
    pub name: Option<String>,
    /// Tool calls, in wire form.
    pub tool_calls: Option<Vec<Value>>,
    /// Which call this message answers.
    pub tool_call_id: Option<String>,
    /// Encrypted reasoning.
    pub signature: Option<String>,
    /// Plain reasoning of tool calls.
    pub reasoning: Option<String>,
    /// What it costs, framing included.
    pub tokens: i64,
    /// What its parts cost, when it was merged from several; else the same as `tokens`.
    pub charged: i64,
    /// Its sources, in text order, each with what stands before it.
    pub pieces: Vec<(String, Piece)>,
    /// Depth of an injection.
    pub depth: Option<i64>,
    /// The slot it stood in, once all are placed.
    pub slot: Arc<str>,
}

/// Counts and frames messages.
#[derive(Clone, Copy)]
pub struct Counter<'a> {
    /// The counter.
    pub count: &'a dyn Count,
    /// The frame.
    pub framing: Framing,
}

impl std::fmt::Debug for Counter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counter").field("count", &self.count.id()).field("framing", &self.framing).finish()
    }
}

impl Counter<'_> {
    /// A text message with one source. Empty text costs nothing.
    pub fn text(&self, id: &str, role: &str, text: String, pieces: Vec<Piece>) -> Item {
        let pieces = pieces.into_iter().map(|p| (String::new(), p)).collect();
        let mut item =
            Item { id: Some(id.to_owned()), role: role.to_owned(), text, pieces, ..Item::default() };
        if !item.text.is_empty() {
            self.recount(&mut item);
        }
        item
    }

    /// Counts a message anew; a name costs even with an empty text.
    pub fn recount(&self, item: &mut Item) {
        let calls = item.tool_calls.as_ref().map(|calls| js::stringify(&json!(calls)));
        let fields = Fields {
            role: &item.role,
            content: calls.as_deref().unwrap_or(&item.text),
            name: item.name.as_deref(),
            reasoning: item.reasoning.as_deref(),
        };
        item.tokens = self.framing.message(self.count, &fields);
        item.charged = item.tokens;
    }

    /// Names a message and counts it anew.
    pub fn named(&self, mut item: Item, name: String) -> Item {
        item.name = Some(name);
        self.recount(&mut item);
        item
    }
}

impl Item {
    /// Whether it appears in the list.
    pub const fn is_sent(&self) -> bool {
        !self.text.is_empty() || !self.media.is_empty() || self.tool_calls.is_some()
    }

    /// The `content` field.
    fn content(&self) -> Option<Value> {
        if self.tool_calls.is_some() {
            return None;
        }
        if self.media.is_empty() {
            return Some(json!(self.text));
        }
        let text = json!({"type": "text", "text": self.text});
        Some(Value::Array(std::iter::once(text).chain(self.media.iter().cloned()).collect()))
    }

    /// The typed message; an unknown role becomes system there.
    pub fn message(&self) -> Message {
        let role = match self.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::System,
        };
        Message {
            role,
            content: self.content(),
            name: self.name.clone(),
            tool_calls: self.tool_calls.clone(),
            tool_call_id: self.tool_call_id.clone(),
            signature: self.signature.clone(),
            reasoning: self.reasoning.clone(),
        }
    }

    /// The message as it goes into the payload, the role as it stands.
    pub fn to_value(&self) -> Value {
        let mut value = self.message().to_value();
        if let Some(role) = value.as_object_mut().and_then(|o: &mut Object| o.get_mut("role")) {
            *role = json!(self.role);
        }
        value
    }

    /// Its sources with UTF-16 ranges. A source whose text was changed by macros afterwards gets what stands between its
    /// neighbours.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::with_capacity(self.pieces.len());
        let (mut at, mut units) = (0, 0);
        for (i, (sep, (origin, text))) in self.pieces.iter().enumerate() {
            let rest = self.text.get(at..).unwrap_or("");
            let found = rest.find(text.as_str()).filter(|_| !text.is_empty());
            let (skip, length) = match found {
                Some(offset) => (offset, text.len()),
                None if i + 1 == self.pieces.len() => (0, rest.len()),
                None => (0, 0),
            };
            let from = units + js::len16(rest.get(..skip).unwrap_or(""));
            let to = from + js::len16(rest.get(skip..skip + length).unwrap_or(""));
            parts.push(Part { origin: origin.clone(), range: [from, to], sep_before: sep.clone() });
            at += skip + length;
            units = to;
        }
        parts
    }

    /// Its identity and its cost.
    pub(super) fn brief(&self) -> ReportItem {
        ReportItem { id: self.id.clone(), role: self.role.clone(), tokens: self.tokens }
    }

    /// The first source.
    pub fn origin(&self) -> Option<&Origin> {
        self.pieces.first().map(|(_, (origin, _))| origin)
    }
}

/// A named group of messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slot {
    /// Its name: a prompt identifier, `chatHistory`, `continueNudge` …
    pub id: String,
    /// Its messages, in order.
    pub items: Vec<Item>,
}

/// Where in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Before everything in it.
    Start,
    /// Behind everything in it.
    End,
}

/// The slots in final order, with gaps, and the budget that pays for them.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    list: Vec<Option<Slot>>,
    /// What is left.
    pub(super) budget: Budget,
    /// Tokens of messages that were overwritten (spec 02 F-13, F-14).
    pub(super) lost: i64,
    /// What must be sent is booked even below zero; the caller looks at the balance afterwards.
    unchecked: bool,
}

impl Slots {
    /// No slots, and a budget.
    pub(super) const fn new(budget: Budget, unchecked: bool) -> Self {
        Self { list: Vec::new(), budget, lost: 0, unchecked }
    }

    fn spend(&mut self, op: Op, what: &str, tokens: i64) -> Result<(), Overflow> {
        if self.unchecked {
            self.budget.book(op, what, -tokens);
            return Ok(());
        }
        self.budget.spend(op, what, tokens)
    }

    /// Puts a slot at an index, over whatever is there, or at the end.
    pub(super) fn add(&mut self, slot: Slot, index: Option<usize>) -> Result<(), Overflow> {
        let tokens: i64 = slot.items.iter().map(|i| i.tokens).sum();
        self.spend(Op::Add, &slot.id, tokens)?;
        match index {
            None => self.list.push(Some(slot)),
            Some(index) => {
                if self.list.len() <= index {
                    self.list.resize(index + 1, None);
                }
                if let Some(place) = self.list.get_mut(index)
                    && let Some(old) = place.replace(slot)
                {
                    self.lost += old.items.iter().map(|i| i.tokens).sum::<i64>();
                }
            }
        }
        Ok(())
    }

    /// Puts a message into a slot. Nothing is put for an empty one; a missing slot takes nothing.
    pub(super) fn insert(&mut self, op: Op, item: Item, slot: &str, end: End) -> Result<(), Overflow> {
        let what = item.id.clone().unwrap_or_else(|| slot.to_owned());
        if !self.unchecked && !self.budget.affords(item.tokens) {
            return Err(Overflow { what, tokens: item.tokens, left: self.budget.left() });
        }
        if !item.is_sent() || !self.has(slot) {
            return Ok(());
        }
        self.spend(op, &what, item.tokens)?;
        self.park(item, slot, end);
        Ok(())
    }

    /// Puts a message into a slot without paying for it yet.
    pub(super) fn park(&mut self, item: Item, slot: &str, end: End) {
        let Some(found) = self.list.iter_mut().flatten().find(|s| s.id == slot) else { return };
        match end {
            End::Start => found.items.insert(0, item),
            End::End => found.items.push(item),
        }
    }

    /// Pays for a parked message, or takes it out and tells what it would have cost.
    pub(super) fn pay(&mut self, slot: &str, id: &str) -> Option<i64> {
        let items = &mut self.list.iter_mut().flatten().find(|s| s.id == slot)?.items;
        let at = items.iter().position(|item| item.id.as_deref() == Some(id))?;
        let tokens = items.get(at)?.tokens;
        if self.budget.affords(tokens) {
            self.budget.book(Op::Fill, id, -tokens);
            return None;
        }
        items.remove(at);
        Some(tokens)
    }

    /// Puts messages that are paid for at the start of a slot.
    pub(super) fn prepend(&mut self, slot: &str, items: Vec<Item>) {
        if let Some(found) = self.list.iter_mut().flatten().find(|s| s.id == slot) {
            found.items.splice(0..0, items);
        }
    }

    /// Whether a slot is there.
    pub(super) fn has(&self, id: &str) -> bool {
        self.list.iter().flatten().any(|s| s.id == id)
    }

    /// The slots in order, gaps left out.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.list.iter().flatten()
    }

    /// The same, for good.
    pub(super) fn into_iter(self) -> impl Iterator<Item = Slot> {
        self.list.into_iter().flatten()
    }
}
