//! Parts to one text under a token budget (spec 07 §5-9): story string, example dialogue, chat with what is injected into it,
//! and the line that the model continues.
//!
//! Templates, rendered texts and the lines of the chat in; the prompt with its parts and a ledger out. Differs from ST under
//! `text.budget` (07 F3, F4, F16, F17), `text.last_line` (F1, F2, F5, F20, F27) and `text.templates` (F10, F11, F12, F31).
//! Reading order: `story` -> `items` (the chat) -> `fill` (what fits) -> `ending` (the last line) -> `mod` (all of it).

mod ending;
mod fill;
mod guidance;
mod items;
mod raw;
mod report;
mod story;

pub use ending::{Ending, QuietLine};
pub use guidance::Guidance;
pub use items::{Item, ItemKind, chat_items, inject, insert_post_history};
pub use raw::{Raw, RawLine, raw_prompt};
pub use report::text_report;
pub use story::{StoryParts, anchors, post_history, render_story, system_prompt};

use crate::error::{Code, Error};
use crate::js;
use crate::macros::Expander;
use crate::parts::{Kind, LedgerLine, TextParts};
use crate::profile::{Profile, TEXT_BUDGET};
use crate::scene::InstructTemplate;
use crate::templates::Cast;
use crate::tokens::Count;

/// What a prompt is made of.
pub struct Input<'a> {
    /// What is asked for.
    pub kind: Kind,
    /// Who is who.
    pub cast: Cast<'a>,
    /// The template, when instruct mode is on.
    pub instruct: Option<&'a InstructTemplate>,
    /// Tokens that the prompt may have.
    pub limit: i64,
    /// Counts tokens.
    pub count: &'a dyn Count,
    /// Added to the counts of whole texts.
    pub padding: i64,
    /// The rendered story string.
    pub story: String,
    /// The same with its sequences, as it stands at the top; empty when it stands in the chat.
    pub top: String,
    /// Example dialogue, one item for what is kept or left out together.
    pub examples: Vec<String>,
    /// All of it is sent.
    pub pinned: bool,
    /// Line in front of the chat, line feed included.
    pub start: String,
    /// The chat with what is injected, newest first.
    pub items: Vec<Item>,
    /// How it ends.
    pub ending: Ending<'a>,
    /// A turn of the user's that may be needed in front; expanded, empty for none.
    pub alignment: String,
    /// Runs of line feeds become one.
    pub collapse: bool,
    /// Texts of a guidance scale.
    pub guidance: Option<Guidance>,
    /// Faults put right or not.
    pub profile: &'a Profile,
}

/// A prompt and how it came about.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    /// The prompt.
    pub prompt: String,
    /// The prompt with the negative text of a guidance scale.
    pub negative: Option<String>,
    /// Its parts.
    pub parts: TextParts,
    /// Which chat messages are in, oldest first.
    pub kept: Vec<usize>,
    /// Items that did not fit, newest first: chat index or injection, tokens where they were counted.
    pub left_out: Vec<(Option<usize>, Option<i64>)>,
    /// Example items that did not fit.
    pub examples_left: usize,
    /// Every token that was booked.
    pub ledger: Vec<LedgerLine>,
    /// Tokens charged.
    pub used: i64,
    /// Nothing of the chat fits.
    pub empty: bool,
    /// Texts of the chat that were kept before a continuation was trimmed, less all injected ones; what the reference takes for
    /// the number of messages in context.
    pub spoken: usize,
}

/// Puts the prompt together.
pub fn assemble(input: &Input<'_>, scope: &mut Expander<'_>) -> Result<Assembled, Error> {
    let rendered = items::render(input, scope);
    let mut fill = fill::fill(input, rendered, scope)?;
    let mut out = Assembled {
        left_out: std::mem::take(&mut fill.left_out),
        ledger: std::mem::take(&mut fill.ledger),
        empty: fill.empty,
        spoken: fill
            .entries
            .len()
            .saturating_sub(input.items.iter().filter(|i| matches!(i.kind, ItemKind::Injected(_))).count()),
        ..Assembled::default()
    };
    if fill.continuation.is_empty() {
        fill.end(input, scope);
        if input.profile.on(&TEXT_BUDGET) {
            fill.shrink(input);
        }
    } else {
        fill.trim(input, scope);
    }
    out.used = fill.used;
    out.kept = fill.kept_indices(input);
    out.examples_left = input.examples.len().saturating_sub(fill.examples);
    let examples: String = input.examples.iter().take(fill.examples).map(String::as_str).collect();
    out.parts = TextParts {
        story: input.story.clone(),
        examples,
        messages: fill.entries.iter().map(|e| e.text.clone()).collect(),
        continuation: fill.continuation.clone(),
    };
    let positive = input.guidance.as_ref().map_or("", |g| &g.positive);
    let messages = last_texts(input, &out.parts.messages, positive, &fill)?;
    out.prompt = compose(input, &out.parts, &messages);
    if let Some(guidance) = &input.guidance {
        let other = last_texts(input, &out.parts.messages, &guidance.negative, &fill)?;
        out.negative = Some(compose(input, &out.parts, &other));
    }
    if let (Some(slot), Some(last)) = (out.parts.messages.last_mut(), messages.last()) {
        let in_front = input.guidance.as_ref().is_some_and(|g| g.depth != 0);
        // What stands in front of a message is no part of it.
        let own =
            if in_front { last.rfind(slot.as_str()).and_then(|at| last.get(at..)) } else { Some(&**last) };
        *slot = own.unwrap_or(last).to_owned();
    }
    Ok(out)
}

/// The kept texts with a text of a guidance scale (§10.4), and with the begun reply where no template brings it.
fn last_texts(
    input: &Input<'_>,
    kept: &[String],
    guided: &str,
    fill: &fill::Fill,
) -> Result<Vec<String>, Error> {
    let mut messages = kept.to_vec();
    if let Some(guidance) = input.guidance.as_ref().filter(|_| !guided.is_empty()) {
        guidance::insert(&mut messages, guided, guidance.depth, fill.ending_starts, input.profile);
    }
    let bias = js::trim_start(input.ending.bias);
    if input.instruct.is_none() && input.kind != Kind::Impersonate && !js::trim(bias).is_empty() {
        let Some(last) = messages.last_mut() else {
            return Err(Error::new(
                Code::BudgetNewest,
                "text",
                "nothing of the chat fits, so the reply cannot be begun: raise the context size or shorten the prompts",
            ));
        };
        if !last.ends_with(js::is_space) {
            last.push(' ');
        }
        last.push_str(bias);
    }
    Ok(messages)
}

/// The parts as one text (§9).
fn compose(input: &Input<'_>, parts: &TextParts, messages: &[String]) -> String {
    let text = [&input.top, &parts.examples, &input.start].into_iter().chain(messages).map(String::as_str);
    let text: String = text.chain([parts.continuation.as_str()]).collect();
    let text = text.replace('\r', "");
    if input.collapse { collapsed(&text) } else { text }
}

/// Runs of line feeds become one.
fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' || !out.ends_with('\n') {
            out.push(c);
        }
    }
    out
}
