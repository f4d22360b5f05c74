//! Every source is accounted for: it stands in a message, or it is left out with a reason (spec 02 Part 3 rule 1).

use indexmap::{IndexMap, IndexSet};

use super::Assembly;
use super::item::Item;
use crate::history::Piece;
use crate::injections::Position;
use crate::parts::{Omitted, Origin, OriginKind};
use crate::scene::is_built_in;

/// What tells two sources apart; nothing for a chat message, which stands in one place only.
fn key(origin: &Origin) -> Option<(OriginKind, &str, Option<&str>)> {
    (origin.kind != OriginKind::Chat).then_some((
        origin.kind,
        origin.id.as_str(),
        origin.character.as_deref(),
    ))
}

impl Assembly<'_, '_> {
    /// Adds a reason for every prompt and injected text that is neither in a message nor left out yet.
    pub(super) fn account(&mut self, stopped: bool) {
        let mut seen: IndexSet<_> = self.omitted.iter().filter_map(|o| key(&o.origin)).collect();
        let mut empty: Vec<Origin> = Vec::new();
        for item in self.slots.iter().flat_map(|slot| &slot.items) {
            for (_, (origin, _)) in &item.pieces {
                if item.is_sent() {
                    seen.extend(key(origin));
                } else {
                    empty.push(origin.clone());
                }
            }
        }
        let mut left: Vec<(Origin, &'static str)> = empty.into_iter().map(|o| (o, "empty")).collect();
        for prompt in self.collection.prompts.iter().filter(|p| !p.content.is_empty()) {
            let reason = if self.collection.is_disabled(&prompt.id) {
                "disabled"
            } else if stopped {
                "not_reached"
            } else if prompt.absolute && prompt.depth.is_none() {
                "bad_depth"
            } else if prompt.absolute {
                "bad_role"
            } else if prompt.pieces.iter().all(|(o, _)| o.kind == OriginKind::Utility) {
                "forbidden_by_type"
            } else if !is_built_in(&prompt.id) && !prompt.users {
                "not_in_order"
            } else {
                "replaced"
            };
            left.extend(prompt.pieces.iter().map(|(origin, _)| (origin.clone(), reason)));
        }
        for (name, injection) in self.input.injections.iter().filter(|(_, i)| !i.value.is_empty()) {
            let reason = if !injection.allowed {
                "filter"
            } else if stopped {
                "not_reached"
            } else {
                match (injection.position, injection.depth) {
                    (Position::None, _) => continue,
                    (Position::InChat, None) => "bad_depth",
                    (Position::InChat, _) if !(0..=2).contains(&injection.role) => "bad_role",
                    (Position::InChat, _) if self.collection.get("chatHistory").is_none() => "not_in_order",
                    (Position::InChat, _) => "empty",
                    _ => "replaced",
                }
            };
            let sources: Vec<Piece> = injection.sources(name);
            left.extend(sources.into_iter().map(|(origin, _)| (origin, reason)));
        }
        let (mut more, mut messages) = (IndexMap::new(), IndexSet::new());
        for (origin, reason) in &left {
            match key(origin) {
                None => messages.extend(origin.index),
                Some(key) if seen.contains(&key) => {}
                Some(key) => _ = more.entry(key).or_insert_with(|| Omitted::new(origin.clone(), reason)),
            }
        }
        let more: Vec<Omitted> = more.into_values().collect();
        for index in messages {
            Omitted::message(&mut self.omitted, index, "empty");
        }
        self.omitted.extend(more);
    }

    /// Remembers something that must be sent, for the error that lists it.
    pub(super) fn must(&mut self, item: &Item) {
        if let Some(origin) = item.origin() {
            self.mandatory.push((origin.clone(), item.tokens));
        }
    }
}
