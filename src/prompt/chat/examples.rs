//! Example blocks go in whole or not at all, until one does not fit (spec 02 §15).

use serde_json::json;

use super::item::{End, Item, Slot};
use super::{Assembly, Failure};
use crate::macros::Expander;
use crate::parts::{Omitted, Op, Origin, OriginKind};
use crate::profile::PROMPT_EXAMPLES;
use crate::templates::{Example, Voice};

impl Assembly<'_, '_> {
    /// Fills the slot of the examples.
    pub(super) fn add_examples(&mut self, scope: &mut Expander<'_>) -> Result<(), Failure> {
        let Some(index) = self.collection.index("dialogueExamples") else {
            for block in 0..self.input.examples.len() {
                self.leave_block(block, None, "not_in_order");
            }
            return Ok(());
        };
        let slot = Slot { id: "dialogueExamples".to_owned(), items: Vec::new() };
        self.slots.add(slot, Some(index)).map_err(Failure::Overflow)?;
        if self.input.examples.is_empty() {
            return Ok(());
        }
        let heading = scope.expand(self.input.preset.utility("new_example_chat_prompt"));
        let (mut cut, mut spent) = (false, 0);
        let most = self.input.shares.examples.unwrap_or(i64::MAX);
        for (number, block) in self.input.examples.iter().enumerate() {
            if cut {
                self.leave_block(number, None, "after_cut");
                continue;
            }
            if block.is_empty() && self.input.profile.on(&PROMPT_EXAMPLES) {
                self.leave_block(number, None, "empty");
                continue;
            }
            let items = self.block(number, block, &heading);
            let tokens: i64 = items.iter().map(|i| i.tokens).sum();
            let capped = tokens > most.saturating_sub(spent);
            if self.slots.budget.affords(tokens) && !capped {
                spent += tokens;
                for item in items {
                    self.slots
                        .insert(Op::Fill, item, "dialogueExamples", End::End)
                        .map_err(Failure::Overflow)?;
                }
            } else {
                let reason = if capped { "budget.share" } else { "budget.example_block" };
                self.leave_block(number, Some(tokens), reason);
                cut = true;
            }
        }
        Ok(())
    }

    fn block(&self, number: usize, block: &[Example], heading: &str) -> Vec<Item> {
        let counter = &self.input.counter;
        let origin = Origin::new(OriginKind::Utility, "new_example_chat");
        let mut items =
            vec![counter.text("newChat", "system", heading.to_owned(), vec![(origin, heading.to_owned())])];
        for (line, example) in block.iter().enumerate() {
            let origin = Origin::new(OriginKind::Card, format!("example:{number}:{line}"));
            let id = format!("dialogueExamples {number}-{line}");
            let item =
                counter.text(&id, "system", example.text.clone(), vec![(origin, example.text.clone())]);
            items.push(match example.voice {
                Voice::User => counter.named(item, "example_user".to_owned()),
                Voice::Character(_) => counter.named(item, "example_assistant".to_owned()),
                Voice::Narration => item,
            });
        }
        items
    }

    fn leave_block(&mut self, block: usize, tokens: Option<i64>, reason: &str) {
        let left = self.slots.budget.left();
        self.omitted.push(Omitted {
            tokens,
            detail: tokens.map(|t| json!({"left": left, "short_by": t - left})),
            ..Omitted::new(Origin::new(OriginKind::Card, format!("example:{block}")), reason)
        });
    }
}
