//! Texts at a depth become records of the chat (spec 02 §13).

use std::collections::VecDeque;

use crate::history::{Piece, Record};
use crate::injections::{Injection, Injections, Position};
use crate::js;
use crate::macros::Expander;
use crate::parts::Role;
use crate::profile::{PROMPT_INJECTIONS, PROMPT_ONCE, Profile};

use super::collection::Prompt;
use super::tail::Tail;

/// The injected records by depth, shallowest first; those of one depth newest first.
pub(super) fn injected(
    absolute: &[Prompt],
    table: &Injections,
    tail: Option<&Tail>,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> Vec<(i64, Vec<Record>)> {
    let registered = profile.on(&PROMPT_INJECTIONS);
    let texts: Vec<(&str, &Injection)> = if registered {
        table
            .iter()
            .filter(|(_, i)| i.position == Position::InChat && i.allowed && !js::trim(&i.value).is_empty())
            .collect()
    } else {
        table.collect(Position::InChat)
    };
    let mut depths: Vec<i64> = absolute.iter().filter_map(|p| p.depth).collect();
    depths.extend(texts.iter().filter_map(|(_, i)| i.depth));
    depths.sort_unstable();
    depths.dedup();
    let mut out = Vec::new();
    for depth in depths {
        let prompts: Vec<_> =
            absolute.iter().filter(|p| p.depth == Some(depth) && !p.content.is_empty()).collect();
        let here: Vec<_> = texts.iter().filter(|(_, i)| i.depth == Some(depth)).copied().collect();
        let records = if registered {
            by_registration(&prompts, &here, tail, profile, scope)
        } else {
            by_role(&prompts, &here, scope)
        };
        if !records.is_empty() {
            let at = |r| Record { depth: Some(depth), ..r };
            out.push((depth, records.into_iter().map(at).collect()));
        }
    }
    out
}

/// Orders at one depth, high to low; the default one is always there.
fn orders(prompts: &[&Prompt], texts: &[(&str, &Injection)]) -> Vec<f64> {
    let texts = texts.iter().map(|(_, i)| i.order);
    let mut orders: Vec<f64> =
        prompts.iter().map(|p| p.order).chain([Injection::DEFAULT_ORDER]).chain(texts).collect();
    js::sort_by(&mut orders, |a, b| b.total_cmp(a));
    orders.dedup_by(|a, b| a.total_cmp(b).is_eq());
    orders
}

/// The reference: one record an order and role, newest first: orders from high to low, system, user, assistant.
fn by_role(prompts: &[&Prompt], texts: &[(&str, &Injection)], scope: &mut Expander<'_>) -> Vec<Record> {
    let mut out = Vec::new();
    for order in orders(prompts, &[]) {
        for (number, role) in [(0, Role::System), (1, Role::User), (2, Role::Assistant)] {
            let mut pieces: Vec<Piece> = Vec::new();
            let mut parts: Vec<String> = Vec::new();
            let own: Vec<_> = prompts
                .iter()
                .filter(|p| p.order.total_cmp(&order).is_eq() && p.role.as_deref() == Some(role.as_str()))
                .collect();
            if !own.is_empty() {
                let joined = own.iter().map(|p| p.content.as_str()).collect::<Vec<_>>().join("\n");
                parts.push(js::trim(&joined).to_owned());
                pieces.extend(own.iter().flat_map(|p| p.pieces.clone()));
            }
            if order.total_cmp(&Injection::DEFAULT_ORDER).is_eq() {
                let found: Vec<_> = texts.iter().filter(|(_, i)| i.role == number).collect();
                let joined = found.iter().map(|(_, i)| js::trim(&i.value)).collect::<Vec<_>>().join("\n");
                let expanded = scope.expand(&joined);
                if !expanded.is_empty() {
                    parts.push(js::trim(&expanded).to_owned());
                }
                pieces.extend(found.iter().flat_map(|(key, i)| i.sources(key)));
            }
            let text = parts.join("\n");
            if !text.is_empty() {
                out.push(Record { role, text, pieces, ..Record::default() });
            }
        }
    }
    out
}

/// Each text in its order and in the order given; neighbours of one role become one record. Newest first.
fn by_registration(
    prompts: &[&Prompt],
    texts: &[(&str, &Injection)],
    tail: Option<&Tail>,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> Vec<Record> {
    // A text of the speaker's own may stand elsewhere than one for everybody.
    let own = |pieces: &[Piece]| tail.is_some_and(|t| t.is_own(pieces));
    let mut oldest_first: Vec<Record> = Vec::new();
    for order in orders(prompts, texts).into_iter().rev() {
        let mut here: Vec<(Role, String, Vec<Piece>)> = Vec::new();
        for prompt in prompts.iter().filter(|p| p.order.total_cmp(&order).is_eq()) {
            let role = match prompt.role.as_deref() {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                _ => Role::System,
            };
            here.push((role, prompt.content.clone(), prompt.pieces.clone()));
        }
        for (key, injection) in texts.iter().filter(|(_, i)| i.order.total_cmp(&order).is_eq()) {
            let role = Role::from_number(injection.role);
            let text = scope.expand_as(&injection.value, injection.trust(key));
            here.push((role, text, injection.sources(key)));
        }
        for (role, text, pieces) in here {
            let text = js::trim(&text);
            if text.is_empty() {
                continue;
            }
            match oldest_first
                .last_mut()
                .filter(|last| last.role == role && own(&last.pieces) == own(&pieces))
            {
                Some(last) => {
                    last.text = format!("{}\n{text}", last.text);
                    last.pieces.extend(pieces);
                }
                None => oldest_first.push(Record {
                    role,
                    text: text.to_owned(),
                    pieces,
                    expanded: profile.on(&PROMPT_ONCE),
                    ..Record::default()
                }),
            }
        }
    }
    oldest_first.reverse();
    oldest_first
}

/// Puts injected records between those of the chat, newest first: each depth behind so many chat messages, or at the end.
pub(super) fn splice(records: VecDeque<Record>, injected: Vec<(i64, Vec<Record>)>) -> Vec<Record> {
    let mut out = Vec::with_capacity(records.len() + injected.len());
    let mut chat = records.into_iter();
    let mut placed = 0;
    for (depth, group) in injected {
        let until = usize::try_from(depth).unwrap_or(usize::MAX);
        if until > placed {
            let before = out.len();
            out.extend(chat.by_ref().take(until - placed));
            placed += out.len() - before;
        }
        out.extend(group);
    }
    out.extend(chat);
    out
}
