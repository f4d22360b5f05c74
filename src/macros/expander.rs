//! An environment with the host and the effects at hand, so that the steps of a turn pass one value and not three.

use super::{Env, Trust, card_text, expand};
use crate::host::Host;
use crate::parts::Effects;

/// What a step needs to expand texts.
#[derive(Debug)]
pub struct Expander<'a> {
    /// What macros may read.
    pub env: Env<'a>,
    /// Draws, time, limits.
    pub host: &'a mut Host,
    /// Writes of this request so far.
    pub effects: &'a mut Effects,
}

impl Expander<'_> {
    /// Expands a text.
    pub fn expand(&mut self, text: &str) -> String {
        expand(text, &self.env, self.host, self.effects)
    }

    /// Expands a text that is trusted only so far.
    pub fn expand_as(&mut self, text: &str, trust: Trust) -> String {
        let env = Env { trust: trust.min(self.env.trust), ..self.env };
        expand(text, &env, self.host, self.effects)
    }

    /// Expands a message of the chat: `{{original}}` means nothing in it and stays.
    pub fn expand_message(&mut self, text: &str, trust: Trust) -> String {
        let env = Env { trust: trust.min(self.env.trust), original: None, ..self.env };
        expand(text, &env, self.host, self.effects)
    }

    /// Expands a card's text with `{{original}}`, once.
    pub fn expand_original(&mut self, text: &str, original: &str) -> String {
        let env = Env { original: Some(original), trust: Trust::Card.min(self.env.trust), ..self.env };
        expand(text, &env, self.host, self.effects)
    }

    /// Expands a text with further macros.
    pub fn expand_with(&mut self, text: &str, dynamic: &[(String, String)]) -> String {
        let dynamic = [dynamic, self.env.dynamic].concat();
        let env = Env { dynamic: &dynamic, ..self.env };
        expand(text, &env, self.host, self.effects)
    }

    /// Expands a text as the fields of a character's card are (spec 04 §2.2).
    pub fn card_text(&mut self, raw: &str, char: &str) -> String {
        card_text(raw, char, &self.env, self.host, self.effects)
    }
}
