//! The explanation of a prompt: what stands where, what it costs, what was left out.

use serde_json::json;

use super::{Assembled, Input, ItemKind};
use crate::error::Warning;
use crate::js;
use crate::parts::{Budget, Cut, Omitted, Origin, OriginKind, Part, Report, ReportError, ReportMessage};

/// Explains what came out. `sizes` are context and response, `visible` the chat messages that could be in, oldest first.
pub fn text_report(
    input: &Input<'_>,
    assembled: &Assembled,
    sizes: (i64, i64),
    visible: &[usize],
    warnings: Vec<Warning>,
) -> Report {
    let tokens = |text: &str| if text.is_empty() { 0 } else { i64::from(input.count.count(text)) };
    let parts = &assembled.parts;
    let mut messages = Vec::new();
    let mut add = |slot: &str, role: &str, text: &str, origin: Origin| {
        if !text.is_empty() {
            let tokens = tokens(text);
            messages.push(ReportMessage {
                i: messages.len(),
                role: role.to_owned(),
                name: None,
                tokens,
                charged: tokens,
                slot: slot.to_owned(),
                depth: None,
                parts: vec![Part { origin, range: [0, js::len16(text)], sep_before: String::new() }],
            });
        }
    };
    add("story", "system", &input.top, Origin::new(OriginKind::Prompt, "story_string"));
    add("dialogueExamples", "system", &parts.examples, Origin::new(OriginKind::Card, "mes_example"));
    add("chatStart", "system", &input.start, Origin::new(OriginKind::Utility, "chat_start"));
    let mut kept = assembled.kept.iter();
    for text in &parts.messages {
        let origin =
            kept.next().map_or_else(|| Origin::new(OriginKind::Ext, "injected"), |i| Origin::chat(*i));
        add("chatHistory", "", text, origin);
    }
    let last = input.items.first().and_then(|i| i.index);
    let continued = last.map_or_else(|| Origin::new(OriginKind::Chat, "continued"), Origin::chat);
    add("continuation", "", &parts.continuation, continued);
    let first = assembled.kept.iter().min().copied();
    let limit = input.limit;
    Report {
        v: 1,
        r#type: input.kind.as_str().to_owned(),
        tokenizer: input.count.id().to_owned(),
        exact: input.count.exact() && input.padding == 0,
        budget: Budget {
            context: sizes.0,
            response: sizes.1,
            limit,
            used: assembled.used,
            left: limit.saturating_sub(assembled.used),
            ..Budget::default()
        },
        messages,
        omitted: omitted(input, assembled),
        ledger: assembled.ledger.clone(),
        warnings,
        cut: Cut {
            first_included_index: first,
            dropped: visible.iter().filter(|i| first.is_none_or(|f| **i < f)).count(),
        },
        error: assembled.empty.then(|| ReportError {
            code: "budget.newest_message".to_owned(),
            what: "the chat".to_owned(),
            short_by: assembled
                .left_out
                .first()
                .map_or(0, |(_, t)| assembled.used + t.unwrap_or(0) - limit)
                .max(1),
        }),
        text: Some(parts.clone()),
        ..Report::default()
    }
}

fn omitted(input: &Input<'_>, assembled: &Assembled) -> Vec<Omitted> {
    let mut list = Vec::new();
    for (index, tokens) in &assembled.left_out {
        match (index, tokens) {
            (Some(index), None) => Omitted::message(&mut list, *index, "budget.history_cut"),
            (Some(index), _) => {
                let first = Omitted::new(Origin::chat(*index), "budget.history_cut");
                list.push(Omitted { tokens: *tokens, ..first });
            }
            (None, _) => {
                let origin = Origin::new(OriginKind::Ext, "injected");
                list.push(Omitted { tokens: *tokens, ..Omitted::new(origin, "budget.injection") });
            }
        }
    }
    if assembled.examples_left > 0 {
        let examples = Omitted::new(Origin::new(OriginKind::Card, "mes_example"), "budget.examples");
        list.push(Omitted { detail: Some(json!({"items": assembled.examples_left})), ..examples });
    }
    let out_of_reach = input.items.iter().filter(|i| matches!(i.kind, ItemKind::Chat) && i.hole);
    for index in out_of_reach.filter_map(|i| i.index) {
        Omitted::message(&mut list, index, "ghosted");
    }
    list
}
