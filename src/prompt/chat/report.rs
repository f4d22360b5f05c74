//! The explanation of an assembly (spec 02 Part 3).

use std::collections::BTreeMap;

use super::item::Slots;
use super::{Assembled, Failure};
use crate::parts::{Budget, Cut, Kind, Report, ReportError, ReportMessage, Reuse};
use crate::tokens::Count;

/// Explains what came out, and takes out of it what only the explanation needs. `visible` are the indices of the chat messages
/// that could be in, oldest first.
pub fn report(
    assembled: &mut Assembled,
    kind: Kind,
    sizes: (i64, i64),
    visible: &[usize],
    count: &dyn Count,
) -> Report {
    let limit = assembled.limit;
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
            slot: m.slot.to_string(),
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
    let used = limit.saturating_sub(assembled.left);
    let mut by_class = std::mem::take(&mut assembled.classes);
    by_class.insert("held".to_owned(), used - by_class.values().sum::<i64>());
    by_class.retain(|_, tokens| *tokens != 0);
    Report {
        v: 1,
        r#type: kind.as_str().to_owned(),
        tokenizer: count.id().to_owned(),
        exact: count.exact(),
        budget: Budget {
            context: sizes.0,
            response: sizes.1,
            margin: sizes.0.saturating_sub(sizes.1).saturating_sub(limit),
            limit,
            used,
            left: assembled.left,
            by_class,
        },
        messages,
        slots: std::mem::take(&mut assembled.slots),
        merged: std::mem::take(&mut assembled.merged),
        recounted: assembled.recounted,
        omitted: std::mem::take(&mut assembled.omitted),
        ledger: std::mem::take(&mut assembled.ledger),
        warnings: Vec::new(),
        reuse: Reuse::default(),
        body_changes: Vec::new(),
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
        text: None,
    }
}

/// What the messages cost, by class.
pub(super) fn classes(slots: &Slots, tools: i64) -> BTreeMap<String, i64> {
    let mut classes = BTreeMap::new();
    let mut add = |class: &str, tokens: i64| match classes.get_mut(class) {
        Some(sum) => *sum += tokens,
        None => _ = classes.insert(class.to_owned(), tokens),
    };
    add("priming", super::place::PRIMING);
    add("tools", tools);
    add("lost", slots.lost);
    for slot in slots.iter() {
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
    classes
}
