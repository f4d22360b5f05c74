//! The explanation of an assembly (spec 02 Part 3).

use std::collections::BTreeMap;

use super::{Assembled, Failure, Item};
use crate::parts::{Budget, Cut, Kind, Report, ReportError, ReportItem, ReportMessage, ReportSlot};
use crate::tokens::Count;

/// Explains what came out. `visible` are the indices of the chat messages that could be in, oldest first.
pub fn report(
    assembled: &Assembled,
    kind: Kind,
    sizes: (i64, i64),
    visible: &[usize],
    count: &dyn Count,
) -> Report {
    let limit = sizes.0.saturating_sub(sizes.1);
    let item = |i: &Item| ReportItem { id: i.id.clone(), role: i.role.clone(), tokens: i.tokens };
    let slot_of = slot_names(assembled);
    let messages: Vec<_> = assembled
        .items
        .iter()
        .enumerate()
        .map(|(i, m)| ReportMessage {
            i,
            role: m.role.clone(),
            name: m.name.clone(),
            tokens: m.tokens,
            charged: m.charged,
            slot: slot_of(m),
            depth: m.depth,
            parts: m.parts(),
        })
        .collect();
    let first = assembled
        .items
        .iter()
        .flat_map(|i| i.pieces.iter())
        .filter_map(|(_, (origin, _))| origin.index)
        .min();
    Report {
        v: 1,
        r#type: kind.as_str().to_owned(),
        tokenizer: count.id().to_owned(),
        exact: count.exact(),
        budget: Budget {
            context: sizes.0,
            response: sizes.1,
            limit,
            used: limit.saturating_sub(assembled.left),
            left: assembled.left,
            by_class: by_class(assembled, limit.saturating_sub(assembled.left)),
        },
        messages,
        slots: assembled
            .slots
            .iter()
            .map(|s| ReportSlot { slot: s.id.clone(), items: s.items.iter().map(item).collect() })
            .collect(),
        merged: assembled.squashed.iter().flat_map(|s| &s.items).map(item).collect(),
        recounted: assembled.squashed.as_ref().map_or(0, |s| s.recounted),
        omitted: assembled.omitted.clone(),
        ledger: assembled.ledger.clone(),
        warnings: Vec::new(),
        cut: Cut {
            first_included_index: first,
            dropped: visible.iter().filter(|i| first.is_none_or(|f| **i < f)).count(),
        },
        error: assembled.failure.as_ref().map(|failure| match failure {
            Failure::Overflow(o) => ReportError {
                code: "budget.mandatory".to_owned(),
                what: o.what.clone(),
                short_by: o.tokens.saturating_sub(o.left),
            },
            Failure::Ghost => ReportError {
                code: "internal".to_owned(),
                what: "a ghosted message in mid-chat".to_owned(),
                short_by: 0,
            },
        }),
    }
}

/// What was used, by class.
fn by_class(assembled: &Assembled, used: i64) -> BTreeMap<String, i64> {
    let names =
        ["priming", "tools", "control", "fixed", "utility", "history", "injections", "examples", "lost"];
    let mut classes: BTreeMap<String, i64> = names.iter().map(|n| ((*n).to_owned(), 0)).collect();
    let mut add = |class: &str, tokens: i64| *classes.entry(class.to_owned()).or_default() += tokens;
    add("priming", super::place::PRIMING);
    add("tools", assembled.tools);
    add("lost", assembled.lost);
    for slot in &assembled.slots {
        for item in &slot.items {
            let id = item.id.as_deref().unwrap_or("");
            let class = match slot.id.as_str() {
                "controlPrompts" => "control",
                "dialogueExamples" => "examples",
                _ if item.depth.is_some() => "injections",
                "chatHistory"
                    if matches!(id, "newMainChat" | "groupNudge" | "emptyUserMessageReplacement") =>
                {
                    "utility"
                }
                "chatHistory" | "continueNudge" if id != "continueNudge" => "history",
                "continueNudge" => "utility",
                "main" if id != "main" => "injections",
                _ => "fixed",
            };
            add(class, item.tokens);
        }
    }
    let booked: i64 = classes.values().sum();
    classes.insert("held".to_owned(), used - booked);
    classes.retain(|_, tokens| *tokens != 0);
    classes
}

/// The slot that a message stood in, found by its identifier.
fn slot_names(assembled: &Assembled) -> impl Fn(&Item) -> String {
    let by_id: indexmap::IndexMap<String, String> = assembled
        .slots
        .iter()
        .flat_map(|s| s.items.iter().filter_map(|i| Some((i.id.clone()?, s.id.clone()))))
        .collect();
    move |item| {
        let known = item.id.as_ref().and_then(|id| by_id.get(id).cloned());
        known.unwrap_or_else(|| "continueNudge".to_owned())
    }
}
