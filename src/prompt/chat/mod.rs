//! The list of messages of a chat-completion request: preset, scene texts, records and examples in, messages and a ledger
//! out (spec 02 §8-§18). Knows no provider, no lorebook and no stored chat.
//!
//! Placement goes in the reference's order (spec 02 §12); every failure names what did not fit. In the `promptside` profile
//! everything that must be sent is placed and reserved first, so that optional texts can never push it out.

mod account;
mod collection;
mod examples;
mod fill;
mod inject;
mod item;
mod place;
mod report;
mod squash;
mod tail;

pub use collection::{Collection, Prompt, Supplied};
pub use item::{Counter, Item, Slot};
pub use report::report;
pub use tail::{GROUP_CONTEXT, OWN_LORE, ROSTER, Tail};

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::{Code, Error};
use crate::history::{Names, Records};
use crate::injections::Injections;
use crate::macros::Expander;
use crate::models::Model;
use crate::parts::{Kind, LedgerLine, Omitted, Origin, ReportItem, ReportSlot, Shares};
use crate::profile::{PROMPT_OVERFLOW, PROMPT_SQUASH, Profile};
use crate::prompt::{Budget, Overflow};
use crate::scene::Preset;
use crate::templates::Example;

/// Everything the assembler is given.
#[expect(clippy::struct_excessive_bools, reason = "facts of a request, each independent of the others")]
#[derive(Debug)]
pub struct Input<'a> {
    /// Prompts, order, formats, switches.
    pub preset: &'a Preset,
    /// Faults put right or not.
    pub profile: &'a Profile,
    /// Counts messages.
    pub counter: Counter<'a>,
    /// Who answers.
    pub model: &'a Model,
    /// What is asked for.
    pub kind: Kind,
    /// A group is selected.
    pub in_group: bool,
    /// Where names go.
    pub names: Names,
    /// The user pressed send; false in auto mode and for later speakers.
    pub interactive: bool,
    /// Nothing will be sent.
    pub preview: bool,
    /// Context and response size, tokens.
    pub sizes: (i64, i64),
    /// Tokens kept free because counts are estimates.
    pub margin: i64,
    /// What the caller wants of the budget.
    pub shares: &'a Shares,
    /// Examples come before the history.
    pub pin_examples: bool,
    /// Texts of the scene.
    pub supplied: Supplied<'a>,
    /// Injected texts.
    pub injections: &'a Injections,
    /// Chat records, newest first.
    pub records: Records<'a>,
    /// Example blocks.
    pub examples: &'a [Vec<Example>],
    /// When continuing: the text to be continued, postfix included.
    pub continued: &'a str,
    /// Picture of the quiet instruction.
    pub quiet_image: Option<&'a str>,
    /// Tool calls of the history go out as such.
    pub keeps_tools: bool,
    /// Registered tools; they go out with this kind of request.
    pub tools: &'a [Value],
    /// Tools may be called by this request.
    pub calls_tools: bool,
    /// The speaker's own texts go behind the history.
    pub tail: Option<&'a Tail>,
}

impl Input<'_> {
    /// Tokens that can be spent.
    fn limit(&self) -> i64 {
        self.sizes.0.saturating_sub(self.sizes.1).saturating_sub(self.margin)
    }
}

/// Why placement stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something that must be sent did not fit.
    Overflow(Overflow),
    /// A ghosted message in mid-chat (spec 02 F-19).
    Ghost,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// Tokens that could be spent.
    pub limit: i64,
    /// The messages, in order.
    pub items: Vec<Item>,
    /// The slots they stood in, before squashing.
    pub slots: Vec<ReportSlot>,
    /// What they cost, by class.
    pub classes: BTreeMap<String, i64>,
    /// Every token that was booked.
    pub ledger: Vec<LedgerLine>,
    /// What is left.
    pub left: i64,
    /// What is not in.
    pub omitted: Vec<Omitted>,
    /// Why placement stopped early; `sillytavern` profile only.
    pub failure: Option<Failure>,
    /// The list after merging system messages, when that is on; empty messages are still among them.
    pub merged: Vec<ReportItem>,
    /// Sum of the counts made while merging.
    pub recounted: i64,
}

/// The state of one assembly.
struct Assembly<'i, 'a> {
    input: &'i Input<'a>,
    slots: item::Slots,
    collection: Collection,
    /// Prompts that stand in the chat.
    absolute: Vec<Prompt>,
    records: Records<'a>,
    control: Vec<Item>,
    held: fill::Held,
    omitted: Vec<Omitted>,
    /// Everything that must be sent: origin and tokens, for the error.
    mandatory: Vec<(Origin, i64)>,
    /// Prompts that get what is left, each with the slot it stands in.
    deferred: Vec<(Prompt, String)>,
}

/// Assembles the messages. Only with `prompt.overflow` on is there an error; else see [`Assembled::failure`].
pub fn assemble(mut input: Input<'_>, scope: &mut Expander<'_>) -> Result<Assembled, Error> {
    let mut omitted = Vec::new();
    let collection = Collection::build(
        input.preset,
        &input.supplied,
        input.injections,
        input.profile,
        scope,
        &mut omitted,
    );
    let records = input.records.take();
    let strict = input.profile.on(&PROMPT_OVERFLOW);
    let limit = input.limit();
    let mut assembly = Assembly {
        input: &input,
        slots: item::Slots::new(Budget::new(limit), strict),
        absolute: collection.prompts.iter().filter(|p| p.absolute).cloned().collect(),
        collection,
        records,
        control: Vec::new(),
        held: fill::Held::default(),
        omitted,
        mandatory: Vec::new(),
        deferred: Vec::new(),
    };
    let failure = if strict {
        assembly.run_reserved(scope)?;
        None
    } else {
        assembly.run_as_reference(scope).err()
    };
    Ok(assembly.finish(failure))
}

impl Assembly<'_, '_> {
    /// The reference's order (spec 02 §12).
    fn run_as_reference(&mut self, scope: &mut Expander<'_>) -> Result<(), Failure> {
        self.place_all(scope)?;
        self.inject(scope);
        if self.input.pin_examples {
            self.add_examples(scope)?;
            self.open_history(scope)?;
            self.fill_history(scope)?;
            self.close_history()?;
        } else {
            self.open_history(scope)?;
            self.fill_history(scope)?;
            self.close_history()?;
            self.add_examples(scope)?;
        }
        self.place_control()
    }

    /// Everything that must be sent first, then what may be left out.
    fn run_reserved(&mut self, scope: &mut Expander<'_>) -> Result<(), Error> {
        let fits = |failure: Failure| match failure {
            Failure::Overflow(o) => too_big(&o.what, o.left, &[]),
            Failure::Ghost => Error::new(Code::Internal, "", "a ghosted message reached the assembler"),
        };
        self.place_all(scope).map_err(fits)?;
        self.hold_heading();
        let injected = self.injected(scope);
        self.take_continued_whole();
        self.open_history(scope).map_err(fits)?;
        self.check_mandatory()?;
        self.fill_reserved(&injected, scope)?;
        self.pay_deferred();
        self.close_history().map_err(fits)?;
        self.place_heading().map_err(fits)?;
        self.place_control().map_err(fits)
    }

    /// Nothing may be below zero once everything that must be sent is reserved.
    fn check_mandatory(&self) -> Result<(), Error> {
        let left = self.slots.budget.left();
        if left >= 0 {
            return Ok(());
        }
        let items: Vec<_> = self.mandatory.iter().filter(|(_, tokens)| *tokens > 0).collect();
        Err(too_big("", left, &items))
    }

    fn finish(mut self, failure: Option<Failure>) -> Assembled {
        self.account(failure.is_some());
        let input = self.input;
        let wanted = input.preset.flag("squash_system_messages", false)
            && (!input.preview || input.profile.on(&PROMPT_SQUASH));
        let left = self.slots.budget.left();
        let ledger = self.slots.budget.take_lines();
        let classes = report::classes(&self.slots, self.held.tools);
        let (mut slots, mut items) = (Vec::new(), Vec::new());
        for slot in self.slots.into_iter() {
            let name: Arc<str> = slot.id.as_str().into();
            slots.push(ReportSlot { slot: slot.id, items: slot.items.iter().map(Item::brief).collect() });
            items.extend(slot.items.into_iter().map(|item| Item { slot: name.clone(), ..item }));
        }
        if let Some(tail) = input.tail.filter(|_| input.profile.on(&PROMPT_OVERFLOW)) {
            items = tail.arrange(items, &input.counter);
        }
        let (mut merged, mut recounted) = (Vec::new(), 0);
        if wanted {
            (items, recounted) = squash::squash(items, &input.counter, input.profile);
            merged.extend(items.iter().map(Item::brief));
        }
        items.retain(Item::is_sent);
        Assembled {
            limit: input.limit(),
            items,
            slots,
            classes,
            ledger,
            left,
            omitted: self.omitted,
            failure,
            merged,
            recounted,
        }
    }
}

/// The error that lists what must be sent.
fn too_big(what: &str, left: i64, items: &[&(Origin, i64)]) -> Error {
    let list: Vec<_> = items.iter().map(|(origin, tokens)| format!("{} {tokens}", origin.id)).collect();
    let listed = if list.is_empty() { what.to_owned() } else { list.join(", ") };
    let message = format!(
        "texts that must be sent are {} tokens too long: {listed}; shorten them or raise the context size",
        left.saturating_neg()
    );
    let items: Vec<_> =
        items.iter().map(|(origin, tokens)| json!({"origin": origin, "tokens": tokens})).collect();
    Error::new(Code::BudgetMandatory, "", message)
        .with_detail(json!({"short_by": left.saturating_neg(), "items": items}))
}
