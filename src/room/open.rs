//! Opening a chat, and the user's text on its way into it.
//!
//! Spec: 01 §8, 02 §3.1 and addendum 1, 04 §14.4, 05 §5.

use super::{Room, store};
use crate::error::{Error, Warning};
use crate::history::greetings;
use crate::js;
use crate::macros::{self, EnvBase, Expander};
use crate::parts::Effects;
use crate::profile;
use crate::scene::Scene;
use crate::scripts::{self, Call, Placement};

impl Room {
    /// Opens the chat: a new one gets its greetings, an existing one has the macros of its first message written out. What could
    /// not be expanded is reported.
    pub fn open(&mut self) -> Result<Vec<Warning>, Error> {
        self.transaction(|room| {
            let mut effects = Effects::default();
            let tainted = room.scene.chat.metadata.get("tainted").is_some_and(js::to_boolean);
            if room.scene.chat.messages.is_empty() && !tainted {
                let scripts = room.cache.scripts(&room.scene, &room.profile, &room.host.limits);
                let messages = greetings(&room.scene, &room.profile, &scripts, &mut room.host, &mut effects);
                if room.scene.group.is_some() && !room.profile.on(&profile::ROOM_GREETINGS) {
                    effects.local.clear();
                    effects.local_store = false;
                    effects.metadata.clear();
                }
                room.scene.chat.messages.extend(messages);
            } else {
                room.expand_first(false, &mut effects);
            }
            let notes = std::mem::take(&mut effects.notes);
            room.commit(effects);
            room.scene.chat.messages.iter_mut().for_each(store::shown);
            Ok(notes)
        })
    }

    /// Writes out the macros of a shown first message that is neither the user's nor hidden. `answered`: it was just written, the chat is
    /// not being opened.
    pub(super) fn expand_first(&mut self, answered: bool, effects: &mut Effects) {
        let Some(first) = self.scene.chat.messages.first().filter(|m| !m.is_user && !m.is_system) else {
            return;
        };
        let in_group = self.scene.group.is_some();
        let base = EnvBase::new(&self.scene, if in_group { None } else { solo(&self.scene) }, &self.profile);
        // Nobody speaks in a group that is opened; where that is put right, the author stands for itself.
        let named = in_group && (answered || self.profile.on(&profile::ROOM_GREETINGS));
        let char = if named { first.name.as_str() } else { base.char.as_str() };
        let env = macros::Env { char, ..base.env() };
        let text = macros::expand(&first.mes, &env, &mut self.host, effects);
        if text == first.mes {
            return;
        }
        if let Some(first) = self.message_mut(0) {
            first.mes = text;
            store::sync_swipe(first);
        }
    }

    /// The user's text as it is stored, and the reply bias it carried: scripts, then bias, then macros, with `{{char}}` = the first
    /// speaker.
    pub(super) fn user_input(&mut self, speaker: Option<usize>, text: &str) -> (String, String) {
        let mut effects = Effects::default();
        let text = self.run_scripts(text, Placement::UserInput, speaker, &mut effects);
        let bias = macros::bias(&text);
        let rest = if bias.is_empty() { text } else { macros::without_bias(&text) };
        let base = EnvBase::new(&self.scene, speaker, &self.profile);
        let mut scope = Expander { env: base.env(), host: &mut self.host, effects: &mut effects };
        let stored = scope.expand(&rest);
        self.commit(effects);
        (stored, bias)
    }

    /// Runs the scripts for a text that will be stored.
    pub(super) fn run_scripts(
        &mut self,
        text: &str,
        placement: Placement,
        speaker: Option<usize>,
        effects: &mut Effects,
    ) -> String {
        self.host.begin_request();
        let compiled = self.cache.scripts(&self.scene, &self.profile, &self.host.limits);
        let base = EnvBase::new(&self.scene, speaker, &self.profile);
        let avatar = base.character().map(|c| c.avatar.as_str());
        let author = avatar.filter(|_| placement != Placement::UserInput);
        let call = Call { speaker: avatar, author, ..Call::new(placement) };
        scripts::run(text, &call, &compiled, &base.env(), &mut self.host, effects).text
    }
}

/// The character of a single chat.
pub(super) fn solo(scene: &Scene) -> Option<usize> {
    match &scene.chat_with {
        Some(avatar) => scene.character_index(avatar),
        None => (!scene.characters.is_empty()).then_some(0),
    }
}
