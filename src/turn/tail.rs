//! Which texts of a request are the speaker's own: those that would read otherwise if another member spoke (spec 09 §24.1).

use std::collections::BTreeSet;

use super::about::About;
use crate::history::Piece;
use crate::injections::{DATA_BANK, Injection, Injections, Position, SMART_CONTEXT, SUMMARY, VECTORS};
use crate::lore::LoreResult;
use crate::macros::{CardTexts, Env, Expander};
use crate::parts::{Origin, OriginKind};
use crate::profile::{PROMPT_OVERFLOW, ROOM_ROUNDS};
use crate::prompt::chat::{GROUP_CONTEXT, OWN_LORE, Tail};
use crate::scene::Character;

/// Key of the system prompt of text completion.
pub(super) const SYSTEM: &str = "sysprompt";
/// Key of the speaker's part in text completion.
pub(super) const SPEAKER: &str = "speaker";

/// The speaker's own texts go behind the history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TailAsk {
    /// Avatars of those who may speak in this chat.
    pub members: Vec<String>,
    /// The speaker's system texts are one message.
    pub joined: bool,
    /// What share of its room the history takes when it begins anew, 0 to 1.
    pub low_water: f64,
    /// Each member has a summary of its own.
    pub own_summary: bool,
}

impl About<'_> {
    /// What goes behind the history; `None`: everything stands where the preset has it.
    pub(super) fn tail(
        &self,
        card: &CardTexts,
        lore: &mut LoreResult,
        injections: &mut Injections,
        scope: &Expander<'_>,
    ) -> Option<Tail> {
        let ask = self.options.tail.as_ref()?;
        if !(self.profile.on(&ROOM_ROUNDS) && self.profile.on(&PROMPT_OVERFLOW)) {
            return None;
        }
        let mut tail = Tail {
            heading: format!("[Character: {}]", self.speaker.name),
            joined: ask.joined,
            low_water: ask.low_water,
            start: self.last_start(),
            ..Tail::default()
        };
        let never = [VECTORS, DATA_BANK, SMART_CONTEXT, GROUP_CONTEXT];
        tail.own.extend(never.into_iter().map(str::to_owned));
        if ask.own_summary {
            tail.own.insert(SUMMARY.to_owned());
        }
        self.compare(ask, card, lore, injections, scope, &mut tail);
        set_apart(lore, injections, &tail.lore);
        Some(tail)
    }

    /// The oldest message that the last request held.
    fn last_start(&self) -> Option<usize> {
        let start = self.scene.chat.metadata.get("lastInContextMessageId")?.as_u64()?;
        usize::try_from(start).ok().filter(|at| *at < self.scene.chat.messages.len())
    }

    /// Reads every text as each member would and notes what differs. Draws and writes are those of a trial.
    fn compare(
        &self,
        ask: &TailAsk,
        card: &CardTexts,
        lore: &LoreResult,
        injections: &Injections,
        scope: &Expander<'_>,
        tail: &mut Tail,
    ) {
        let prompts = self.scene.preset.prompts.iter();
        let mut texts: Vec<(&str, &str)> =
            prompts.filter_map(|p| Some((p.identifier.as_str(), p.content.as_deref()?))).collect();
        if let Some(setup) = &self.scene.text {
            texts.push((SYSTEM, setup.system.content.as_str()));
        }
        texts.push(("persona", &self.scene.persona.description));
        texts.extend(injections.iter().map(|(key, i)| (key, i.value.as_str())));
        // What holds no macro reads the same for everybody.
        texts.retain(|(_, text)| text.contains("{{") || text.contains('<'));
        let varying = lore.personal.iter().filter(|p| !p.raw.is_empty());
        let lore_texts: Vec<(&str, &str)> = varying.map(|p| (p.text.as_str(), p.raw.as_str())).collect();
        tail.lore.extend(lore.personal.iter().filter(|p| p.raw.is_empty()).map(|p| p.text.clone()));
        tail.common.extend(["description", "personality", "scenario", "system", "post_history"]);
        let own = self.read(self.speaker, scope, &texts, &lore_texts);
        for id in &ask.members {
            let Some(other) = self.scene.character(id).filter(|c| c.avatar != self.speaker.avatar) else {
                continue;
            };
            let read = self.read(other, scope, &texts, &lore_texts);
            let (keys, entries) = (texts.iter(), lore_texts.iter());
            for ((key, _), (a, b)) in keys.zip(own.0.iter().zip(&read.0)) {
                if a != b {
                    tail.own.insert((*key).to_owned());
                }
            }
            for ((text, _), (a, b)) in entries.zip(own.1.iter().zip(&read.1)) {
                if a != b {
                    tail.lore.insert((*text).to_owned());
                }
            }
            tail.common.retain(|field| field_of(card, field) == field_of(&read.2, field));
        }
        if !tail.common.contains("system") {
            // Another member's card has its own text there.
            tail.own.insert("main".to_owned());
        }
    }

    fn read(
        &self,
        member: &Character,
        scope: &Expander<'_>,
        texts: &[(&str, &str)],
        lore: &[(&str, &str)],
    ) -> (Vec<String>, Vec<String>, CardTexts) {
        let about = About { speaker: member, ..self.clone() };
        let base = about.environment();
        let (mut host, mut effects) = (scope.host.clone(), scope.effects.clone());
        let card = base.card_texts(&mut host, &mut effects);
        let env = Env { chat: scope.env.chat, outlets: scope.env.outlets, ..base.env() };
        let mut scope = Expander { env, host: &mut host, effects: &mut effects };
        let mut all = |list: &[(&str, &str)]| list.iter().map(|(_, text)| scope.expand(text)).collect();
        (all(texts), all(lore), card)
    }
}

fn field_of<'c>(card: &'c CardTexts, field: &str) -> &'c str {
    match field {
        "description" => &card.description,
        "personality" => &card.personality,
        "scenario" => &card.scenario,
        "system" => &card.char_prompt,
        _ => &card.char_instruction,
    }
}

/// Takes the speaker's own entries out of the lorebook's slots; they go in together, behind the history.
fn set_apart(lore: &mut LoreResult, injections: &mut Injections, own: &BTreeSet<String>) {
    let mut apart: Vec<Piece> = Vec::new();
    for list in &mut lore.slots {
        list.retain(|text| {
            let stays = !own.contains(text);
            if !stays {
                apart.push((Origin::new(OriginKind::Lore, "own"), text.clone()));
            }
            stays
        });
    }
    if apart.is_empty() {
        return;
    }
    let [before, after] = &lore.slots;
    (lore.before, lore.after) = (before.join("\n"), after.join("\n"));
    let texts: Vec<&str> = apart.iter().map(|(_, text)| text.as_str()).collect();
    let mut injection = Injection::new(texts.join("\n"), Position::InChat, 0.0, 0);
    injection.pieces = apart;
    injections.set(OWN_LORE, injection);
}
