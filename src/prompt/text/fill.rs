//! What fits (spec 07 §7.5-7.7): the fixed texts are reserved, injected texts are kept first, then the chat from the newest
//! backwards, then examples; a continuation is counted whole and trimmed.

use super::{Input, Item, ItemKind, ending, items};
use crate::error::{Code, Error};
use crate::macros::Expander;
use crate::parts::{Kind, LedgerLine, Op};
use crate::profile::{TEXT_BUDGET, TEXT_LAST_LINE, TEXT_TEMPLATES};
use crate::prompt::Budget;
use crate::templates::{Said, Variant, message};

/// A kept text of the chat.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// As it stands in the prompt.
    pub(super) text: String,
    /// As it was before the end of the prompt was put behind it.
    plain: String,
    /// Index among the items; `None` for the turn that goes in front.
    pub(super) item: Option<usize>,
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Fill {
    /// Oldest first.
    pub(super) entries: Vec<Entry>,
    /// Example items.
    pub(super) examples: usize,
    /// The begun message.
    pub(super) continuation: String,
    /// Tokens charged.
    pub(super) used: i64,
    /// Where the end of the prompt starts in the newest entry, bytes.
    pub(super) ending_starts: Option<usize>,
    pub(super) left_out: Vec<(Option<usize>, Option<i64>)>,
    pub(super) ledger: Vec<LedgerLine>,
    /// Nothing of the chat fits.
    pub(super) empty: bool,
    limit: i64,
}

/// Tokens of a text as it will stand in the prompt.
fn tokens(input: &Input<'_>, text: &str) -> i64 {
    let text = text.replace('\r', "");
    if text.is_empty() { 0 } else { i64::from(input.count.count(&text)) }
}

/// The same with the padding; nothing costs nothing.
fn padded(input: &Input<'_>, text: &str) -> i64 {
    if text.is_empty() { 0 } else { tokens(input, text) + input.padding }
}

/// What is put behind the newest text where no template brings the begun reply.
fn plain_bias(input: &Input<'_>) -> String {
    let bias = input.ending.bias;
    if input.instruct.is_some() || input.kind == Kind::Impersonate || bias.is_empty() {
        return String::new();
    }
    format!(" {bias}")
}

/// The turn that goes in front, rendered.
fn alignment(input: &Input<'_>, scope: &mut Expander<'_>) -> String {
    match input.instruct {
        Some(template) if !input.alignment.is_empty() => {
            let said =
                Said { name: input.cast.user, text: &input.alignment, is_user: true, ..Said::default() };
            message(template, &said, Variant::First, &input.cast, scope)
        }
        _ => String::new(),
    }
}

/// Decides what is kept.
pub(super) fn fill(
    input: &Input<'_>,
    mut rendered: Vec<String>,
    scope: &mut Expander<'_>,
) -> Result<Fill, Error> {
    let fixed = input.profile.on(&TEXT_BUDGET);
    let mut out = Fill { limit: input.limit, ..Fill::default() };
    if rendered.is_empty() {
        rendered.push(String::new());
    }
    // Items without the one that is continued; `first` is the index of the newest of them.
    let first = usize::from(input.kind == Kind::Continue && rendered.len() > 1);
    if first == 1 {
        out.continuation = rendered.first().cloned().unwrap_or_default();
    }
    let pinned: String = if input.pinned { input.examples.concat() } else { String::new() };
    let aligned = alignment(input, scope);
    let end = ending::ended(input, "", scope);
    let begun = if fixed { plain_bias(input) } else { String::new() };
    let fixed_text = [&input.top, &pinned, &aligned, &input.start, &end, &out.continuation, &begun];
    let reserved: String = fixed_text.into_iter().map(String::as_str).collect();
    out.used = padded(input, &reserved);
    let mut ledger = Budget::new(input.limit);
    ledger.reserve("fixed", out.used);
    if fixed && out.used >= input.limit {
        return Err(Error::new(
            Code::BudgetMandatory,
            "text",
            format!(
                "the story string, its surroundings and the last line take {} tokens of {}: shorten them or raise the context size",
                out.used, input.limit
            ),
        ));
    }
    let mut kept = vec![false; rendered.len()];
    let cost = |i: usize| tokens(input, rendered.get(i).map_or("", String::as_str));
    for i in reserved_items(input, first, fixed) {
        let Some(slot) = kept.get_mut(i) else { continue };
        let price = cost(i);
        if out.used + price < input.limit {
            out.used += price;
            *slot = true;
            ledger.book(Op::Insert, &what(input.items.get(i)), -price);
        } else if fixed {
            out.left_out.push((None, Some(price)));
        } else {
            // The reference counts what it does not keep (F17).
            out.used += price;
            out.left_out.push((None, Some(price)));
            ledger.book(Op::Insert, &what(input.items.get(i)), -price);
            break;
        }
    }
    let mut oldest = first;
    for i in first..rendered.len() {
        let injected = matches!(input.items.get(i).map(|i| i.kind), Some(ItemKind::Injected(_)));
        if kept.get(i).copied().unwrap_or(false) {
            oldest = i;
            continue;
        }
        if fixed && injected {
            continue;
        }
        let price = cost(i);
        if out.used + price >= input.limit {
            out.left_out.extend((i..rendered.len()).filter(|j| !kept.get(*j).copied().unwrap_or(false)).map(
                |j| {
                    // The others were never counted.
                    let tokens = (j == i).then_some(price);
                    (input.items.get(j).and_then(|item| item.index), tokens)
                },
            ));
            if !fixed {
                out.used += price;
            }
            break;
        }
        out.used += price;
        oldest = i;
        if let Some(slot) = kept.get_mut(i) {
            *slot = true;
        }
        ledger.book(Op::Fill, &what(input.items.get(i)), -price);
    }
    let highest = kept.iter().rposition(|k| *k).unwrap_or(oldest).max(oldest);
    for (i, text) in rendered.iter().enumerate().skip(first).rev() {
        if kept.get(i).copied().unwrap_or(false) {
            out.entries.push(Entry { text: text.clone(), plain: text.clone(), item: Some(i) });
        }
    }
    out.empty = out.entries.iter().all(|e| {
        let kind = e.item.and_then(|i| input.items.get(i)).map(|i| i.kind);
        !matches!(kind, Some(ItemKind::Chat))
    }) && input.items.iter().skip(first).any(|i| i.kind == ItemKind::Chat);
    if input.profile.on(&TEXT_TEMPLATES) {
        out.first_variant(input, scope);
    }
    if !aligned.is_empty() && !input.items.get(highest).is_some_and(|i| i.is_user) {
        out.entries.insert(0, Entry { text: aligned.clone(), plain: aligned, item: None });
    }
    if fixed && out.entries.is_empty() && out.continuation.is_empty() {
        // The last line needs something to stand behind (F3).
        out.entries.push(Entry { text: String::new(), plain: String::new(), item: None });
    }
    out.fill_examples(input, &end, &mut ledger);
    out.ledger = ledger.take_lines();
    Ok(out)
}

/// Places of the injected items in the order in which they were injected. After a text behind the chat the reference looks one
/// place off when something is continued (F4); with `text.budget` on the items are known by what they are.
fn reserved_items(input: &Input<'_>, first: usize, fixed: bool) -> Vec<usize> {
    let injected = |i: &Item| matches!(i.kind, ItemKind::Injected(_));
    let places: Vec<usize> =
        input.items.iter().enumerate().filter(|(_, i)| injected(i)).map(|(at, _)| at).collect();
    let post_history = input.items.iter().any(|i| i.kind == ItemKind::PostHistory);
    let off = !fixed && post_history && input.kind == Kind::Continue;
    places.into_iter().map(|at| if off && at > 0 { at - 1 } else { at }).filter(|at| *at >= first).collect()
}

fn what(item: Option<&Item>) -> String {
    match item.map(|i| (i.kind, i.index)) {
        Some((ItemKind::Chat, Some(index))) => format!("msg:{index}"),
        Some((ItemKind::Injected(depth), _)) => format!("depth:{depth}"),
        Some((ItemKind::PostHistory, _)) => "post_history".to_owned(),
        _ => "empty".to_owned(),
    }
}

impl Fill {
    /// The first message that is really in the prompt gets the sequences of the first (F11).
    fn first_variant(&mut self, input: &Input<'_>, scope: &mut Expander<'_>) {
        let is_chat =
            |e: &Entry| e.item.and_then(|i| input.items.get(i)).is_some_and(|i| i.kind == ItemKind::Chat);
        let last_user = input.items.iter().position(|i| i.is_user && i.kind == ItemKind::Chat);
        let oldest = input.items.iter().rposition(|i| i.kind == ItemKind::Chat);
        let Some(entry) = self.entries.iter_mut().find(|e| is_chat(e)) else { return };
        if input.instruct.is_none()
            || entry.item == oldest
            || (entry.item == last_user && input.kind != Kind::Impersonate)
        {
            return;
        }
        if let Some(item) = entry.item.and_then(|i| input.items.get(i)) {
            entry.text = items::one(input, item, Variant::First, scope);
            entry.plain.clone_from(&entry.text);
        }
    }

    /// Adds examples while they fit.
    fn fill_examples(&mut self, input: &Input<'_>, end: &str, ledger: &mut Budget) {
        if input.pinned {
            self.examples = input.examples.len();
            return;
        }
        if input.examples.is_empty() {
            return;
        }
        let chat: String = self.entries.iter().map(|e| e.text.as_str()).collect();
        let whole = [input.top.as_str(), &input.start, &chat, end, &self.continuation].concat();
        let before = self.used;
        self.used = padded(input, &whole);
        ledger.book(Op::Set, "recount", before - self.used);
        for (i, example) in input.examples.iter().enumerate() {
            let price = tokens(input, example);
            if self.used + price >= input.limit {
                if !input.profile.on(&TEXT_BUDGET) {
                    self.used += price;
                }
                return;
            }
            self.used += price;
            self.examples += 1;
            ledger.book(Op::Fill, &format!("example:{i}"), -price);
        }
    }

    /// Puts the end behind the newest entry. The reference does so again on each pass, behind what the last one left (F2).
    pub(super) fn end(&mut self, input: &Input<'_>, scope: &mut Expander<'_>) {
        let fixed = input.profile.on(&TEXT_LAST_LINE);
        if let Some(last) = self.entries.last_mut() {
            let text = if fixed { &last.plain } else { &last.text };
            let ended = ending::ended(input, text, scope);
            let kept = if text.ends_with('\n') { text.len() - 1 } else { text.len() };
            self.ending_starts = Some(if ended.get(..text.len()) == Some(text) { text.len() } else { kept });
            last.text = ended;
        }
    }

    /// A begun message is counted with everything else until all of it fits (§7.7).
    pub(super) fn trim(&mut self, input: &Input<'_>, scope: &mut Expander<'_>) {
        loop {
            self.end(input, scope);
            let end = ending::ended(input, "", scope);
            let text = self.whole(input, &format!("\n{end}"));
            self.used = padded(input, &text);
            if self.used <= self.limit || !self.drop_one(input) {
                return;
            }
        }
    }

    /// The same for everything else: the sum of the counts can be less than the count of the whole (F16).
    pub(super) fn shrink(&mut self, input: &Input<'_>) {
        loop {
            self.used = padded(input, &self.whole(input, &plain_bias(input)));
            if self.used <= self.limit || (self.entries.len() <= 1 && self.examples == 0) {
                return;
            }
            if self.examples > 0 && !input.pinned {
                self.examples -= 1;
            } else if self.entries.len() > 1 {
                self.entries.remove(0);
            } else {
                return;
            }
        }
    }

    fn whole(&self, input: &Input<'_>, end: &str) -> String {
        let examples: String = input.examples.iter().take(self.examples).map(String::as_str).collect();
        let chat: String = self.entries.iter().map(|e| e.text.as_str()).collect();
        [input.top.as_str(), &examples, &input.start, &chat, end, &self.continuation].concat()
    }

    /// Gives up an example, or the oldest entry. False when there is nothing to give up.
    fn drop_one(&mut self, input: &Input<'_>) -> bool {
        if self.examples > 0 && !input.pinned {
            self.examples -= 1;
            return true;
        }
        if self.entries.is_empty() {
            return false;
        }
        self.entries.remove(0);
        true
    }

    /// Which chat messages are kept, oldest first.
    pub(super) fn kept_indices(&self, input: &Input<'_>) -> Vec<usize> {
        let continued = input.items.first().and_then(|i| i.index).filter(|_| !self.continuation.is_empty());
        let kept = self.entries.iter().filter_map(|e| input.items.get(e.item?)?.index);
        kept.chain(continued).collect()
    }
}
