//! Placing what is fixed: prompts, control texts, relative injections, tools, the begun reply (spec 02 §12).

use serde_json::json;

use super::collection::{Prompt, RELATIVE};
use super::item::{End, Item, Slot};
use super::{Assembly, Failure, inject};
use crate::history::{Names, Record, wire_name};
use crate::js;
use crate::macros::Expander;
use crate::models::{MediaKind, Source, inlines};
use crate::parts::{Kind, Omitted, Op, Origin, OriginKind};
use crate::profile::{PROMPT_CONTINUE, PROMPT_INJECTIONS, PROMPT_OVERFLOW};

/// Fixed slots in the order in which the budget pays for them.
const FIRST: [&str; 7] = [
    "worldInfoBefore",
    "main",
    "worldInfoAfter",
    "charDescription",
    "charPersonality",
    "scenario",
    "personaDescription",
];

/// Reserved for the reply.
pub(super) const PRIMING: i64 = 3;

impl Assembly<'_, '_> {
    /// Steps 1 to 9.
    pub(super) fn place_all(&mut self, scope: &mut Expander<'_>) -> Result<(), Failure> {
        self.slots.budget.reserve("priming", PRIMING);
        self.mandatory.push((Origin::new(OriginKind::Utility, "priming"), PRIMING));
        for id in FIRST {
            self.place(id)?;
        }
        self.prepare_control();
        self.place("nsfw")?;
        self.place("jailbreak")?;
        let users: Vec<usize> = (0..self.collection.prompts.len())
            .filter(|i| self.collection.prompts.get(*i).is_some_and(|p| p.users && !p.absolute))
            .collect();
        for index in users {
            if let Some(prompt) = self.collection.prompts.get(index).cloned() {
                self.place_at(&prompt)?;
            }
        }
        self.place("enhanceDefinitions")?;
        if self.collection.get("bias").is_some_and(|p| !js::trim(&p.content).is_empty()) {
            self.place("bias")?;
        }
        self.place_relative()?;
        self.reserve_tools();
        self.take_prefill(scope);
        Ok(())
    }

    /// Places a prompt in its slot, unless it is switched off or stands in the chat. `main` is placed even so, as an anchor.
    fn place(&mut self, id: &str) -> Result<(), Failure> {
        let Some(prompt) = self.collection.get(id).cloned() else { return Ok(()) };
        if prompt.absolute {
            return Ok(());
        }
        self.place_at(&prompt)
    }

    fn place_at(&mut self, prompt: &Prompt) -> Result<(), Failure> {
        if self.collection.is_disabled(&prompt.id) && prompt.id != "main" {
            return Ok(());
        }
        let index = self.collection.index(&prompt.id);
        let item = self.message(prompt);
        if self.waits(&prompt.id) {
            self.slots
                .add(Slot { id: prompt.id.clone(), items: Vec::new() }, index)
                .map_err(Failure::Overflow)?;
            self.defer(prompt, &prompt.id, item, End::End);
            return Ok(());
        }
        self.must(&item);
        let slot = Slot { id: prompt.id.clone(), items: vec![item] };
        self.slots.add(slot, index).map_err(Failure::Overflow)
    }

    fn message(&self, prompt: &Prompt) -> Item {
        let role = prompt.role.as_deref().unwrap_or("system");
        self.input.counter.text(&prompt.id, role, prompt.content.clone(), prompt.pieces.clone())
    }

    pub(super) fn leave_prompt(&mut self, prompt: &Prompt, reason: &str) {
        let origin = prompt
            .pieces
            .first()
            .map_or_else(|| Origin::new(OriginKind::Prompt, prompt.id.clone()), |(o, _)| o.clone());
        self.omitted.push(Omitted::new(origin, reason));
    }

    /// Impersonation and quiet instruction: held now, placed at the very end.
    fn prepare_control(&mut self) {
        if self.input.kind == Kind::Impersonate
            && let Some(prompt) = self.collection.get("impersonate").cloned()
        {
            let item = self.message(&prompt);
            self.control.push(item);
        }
        if let Some(prompt) = self.collection.get("quietPrompt").filter(|p| !p.content.is_empty()).cloned() {
            let mut item = self.message(&prompt);
            if let Some(url) = self.input.quiet_image
                && self.input.preset.flag("media_inlining", true)
                && inlines(self.input.model, MediaKind::Image)
            {
                let detail = self.input.preset.text("inline_image_quality", "auto");
                item.media.push(json!({"type": "image_url", "image_url": {"url": url, "detail": detail}}));
                item.tokens += crate::models::image_tokens(detail, None);
                item.charged = item.tokens;
            }
            self.control.push(item);
        }
        let held = std::mem::take(&mut self.control);
        let tokens = held.iter().map(|i| i.tokens).sum();
        for item in &held {
            self.must(item);
        }
        self.control = held;
        if !self.control.is_empty() {
            self.slots.budget.reserve("control", tokens);
        }
    }

    /// Texts before and behind the main prompt (step 7).
    fn place_relative(&mut self) -> Result<(), Failure> {
        let known = RELATIVE.iter().filter_map(|id| self.collection.get(id).cloned());
        let others = self.collection.prompts.iter().filter(|p| p.extension).cloned();
        let mut wanted: Vec<Prompt> = known.chain(others).filter(|p| p.side.is_some()).collect();
        let fixed = self.input.profile.on(&PROMPT_INJECTIONS);
        if fixed {
            // Registration order on both sides: what goes in front is inserted last first (spec 02 F-35).
            let (front, back): (Vec<_>, Vec<_>) =
                wanted.into_iter().partition(|p| p.side == Some(End::Start));
            wanted = front.into_iter().rev().chain(back).collect();
        }
        for prompt in wanted {
            let Some(side) = prompt.side else { continue };
            if fixed && js::trim(&prompt.content).is_empty() {
                self.leave_prompt(&prompt, "empty");
                continue;
            }
            if self.slots.has("main") {
                let item = self.message(&prompt);
                if self.waits(&prompt.id) {
                    self.defer(&prompt, "main", item, side);
                    continue;
                }
                self.must(&item);
                self.slots.insert(Op::Add, item, "main", side).map_err(Failure::Overflow)?;
            } else if self.main_is_absolute() {
                self.beside_main(prompt, side);
            } else {
                self.leave_prompt(&prompt, "no_anchor");
            }
        }
        Ok(())
    }

    /// Whether a prompt gets only what is left. The main prompt never does: others stand beside it.
    fn waits(&self, id: &str) -> bool {
        let last = self.input.shares.last.as_deref().unwrap_or_default();
        id != "main" && self.input.profile.on(&PROMPT_OVERFLOW) && last.iter().any(|l| l == id)
    }

    /// Puts a message in its place without paying for it.
    fn defer(&mut self, prompt: &Prompt, slot: &str, item: Item, end: End) {
        self.deferred.push((prompt.clone(), slot.to_owned()));
        self.slots.park(item, slot, end);
    }

    /// Pays for the prompts that get what is left, in the order of the shares, or takes them out again.
    pub(super) fn pay_deferred(&mut self) {
        let mut deferred = std::mem::take(&mut self.deferred);
        let last = self.input.shares.last.as_deref().unwrap_or_default();
        js::sort_by_key(&mut deferred, |(prompt, _)| last.iter().position(|id| *id == prompt.id));
        for (prompt, slot) in deferred {
            let left = self.slots.budget.left();
            if let Some(tokens) = self.slots.pay(&slot, &prompt.id) {
                self.leave_prompt(&prompt, "budget.optional");
                if let Some(omitted) = self.omitted.last_mut() {
                    omitted.tokens = Some(tokens);
                    omitted.detail = Some(json!({"left": left, "short_by": tokens - left}));
                }
            }
        }
    }

    fn main_is_absolute(&self) -> bool {
        self.absolute.iter().any(|p| p.id == "main")
    }

    /// `main` stands in the chat: the text goes there too, directly beside it.
    fn beside_main(&mut self, mut prompt: Prompt, side: End) {
        let Some(at) = self.absolute.iter().position(|p| p.id == "main") else { return };
        let Some(main) = self.absolute.get(at) else { return };
        prompt.role.clone_from(&main.role);
        prompt.absolute = true;
        prompt.depth = main.depth;
        prompt.order = main.order;
        self.absolute.insert(if side == End::Start { at } else { at + 1 }, prompt);
    }

    /// Room for the tool list (step 8).
    fn reserve_tools(&mut self) {
        let fixed = self.input.profile.on(&PROMPT_OVERFLOW);
        if !self.input.calls_tools || (fixed && self.input.tools.is_empty()) {
            return;
        }
        let list = if self.input.tools.is_empty() {
            json!({})
        } else {
            json!({"tools": self.input.tools, "tool_choice": "auto"})
        };
        let item = self.input.counter.text("tools", "user", js::stringify(&list), Vec::new());
        self.slots.budget.reserve("tools", item.tokens);
        self.held.tools = item.tokens;
        self.mandatory.push((Origin::new(OriginKind::Tools, "tools"), item.tokens));
    }

    /// Continue with prefill: the newest record becomes the very last message (step 9).
    fn take_prefill(&mut self, scope: &mut Expander<'_>) {
        let fixed = self.input.profile.on(&PROMPT_CONTINUE);
        let prefill = self.input.kind == Kind::Continue && self.input.preset.flag("continue_prefill", false);
        if !prefill || fixed && self.records.get(0).is_some_and(|r| r.invocations.is_some()) {
            return;
        }
        let Some(record) = self.records.remove(0) else { return };
        let mut text =
            if fixed { scope.expand_message(&record.text, record.trust) } else { record.text.clone() };
        let begun = self.input.preset.text("assistant_prefill", "");
        let claude = self.input.model.source == Source::Claude;
        if record.role.as_str() == "assistant" && claude && !begun.is_empty() {
            text = format!("{}\n\n{text}", scope.expand(begun));
        }
        let mut item =
            self.input.counter.text("continuePrefill", record.role.as_str(), text, record.pieces.clone());
        if self.input.names == Names::Completion && !record.name.is_empty() {
            item = self.input.counter.named(item, wire_name(&record.name));
        }
        self.slots.budget.reserve("continuePrefill", item.tokens);
        self.must(&item);
        self.control.push(item);
    }

    /// Absolute prompts and injected texts go among the records (step 10).
    pub(super) fn inject(&mut self, scope: &mut Expander<'_>) {
        let injected = self.injected(scope);
        let records = inject::splice(self.records.take().all(), injected);
        self.records.replace(records);
    }

    pub(super) fn injected(&mut self, scope: &mut Expander<'_>) -> Vec<(i64, Vec<Record>)> {
        inject::injected(&self.absolute, self.input.injections, self.input.tail, self.input.profile, scope)
    }

    /// Step 12.
    pub(super) fn place_control(&mut self) -> Result<(), Failure> {
        let items = std::mem::take(&mut self.control);
        let tokens: i64 = items.iter().map(|i| i.tokens).sum();
        if items.is_empty() {
            return Ok(());
        }
        self.slots.budget.free("control", tokens);
        self.slots.add(Slot { id: "controlPrompts".to_owned(), items }, None).map_err(Failure::Overflow)
    }
}
