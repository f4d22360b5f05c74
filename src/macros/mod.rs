//! `{{macros}}`: text and an [`Env`] -> text, with writes collected in [`Effects`].
//!
//! Spec: 04. Reading order: [`EnvBase`] (what macros read) -> `eval` (one text) -> `parse` (the tree) -> `pair` (scopes) -> `builtins`.
//! Must not know: prompts, providers. Limits: `Limits::macro_*`; what would exceed one stays as it is and is noted.
//! Cost: linear in the text times the depth of scopes; a text without macros costs one scan.

mod base;
mod bias;
mod builtins;
mod card;
mod chat;
mod cond;
mod env;
mod eval;
mod examples;
mod expander;
mod legacy;
mod pair;
mod parse;
mod post;
mod random;
mod scope;
mod spans;
mod table;
mod time;
mod vars;

pub use base::{DepthNote, EnvBase};
pub use bias::{bias, without_bias};
pub use env::{CardTexts, Engine, Env, InstructTexts, Trust};
pub use expander::Expander;
pub use post::with_original;
pub use random::hash53;
pub use spans::{MacroSpan, Needs, SpanStatus, explain, needs, parse, unknown};
pub use table::names;

use crate::host::Host;
use crate::parts::Effects;

/// Expands the macros of a text. Never fails: what cannot be resolved stays as it is, and `effects.notes` says why.
/// Variables are read through `effects` (writes of this request first), draws come from `host`.
pub fn expand(text: &str, env: &Env<'_>, host: &mut Host, effects: &mut Effects) -> String {
    let mut shared = eval::Shared::default();
    match env.engine {
        Engine::New => eval::substitute(text, env, host, effects, &mut shared),
        Engine::Legacy => legacy::substitute(text, env, host, effects, &mut shared),
    }
}

/// Expands a text as the fields of a card are (spec 04 §2.2): without card macros (under `macros.card_fields` with them), runs of line
/// feeds collapsed if the user wants that, carriage returns removed. `name` is what `{{char}}` becomes.
pub fn card_text(text: &str, name: &str, env: &Env<'_>, host: &mut Host, effects: &mut Effects) -> String {
    card::text_of(text, name, env, host, effects, &mut eval::Shared::default())
}
