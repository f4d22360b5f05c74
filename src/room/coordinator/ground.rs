//! What a coordinator looks at: a scene, and who of its group takes part.

use crate::host::Dice;
use crate::names::{Matcher, Mention, MentionOptions, Named, Recency};
use crate::profile::Profile;
use crate::scene::{Character, ChatMessage, Scene};
use crate::speakers;

/// The scene as it stands, and the outside.
#[derive(Debug)]
pub struct Ground<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The profile.
    pub profile: &'a Profile,
    /// Random numbers.
    pub dice: &'a mut Dice,
    /// Epoch milliseconds; `None`: durations are not told.
    pub now: Option<i64>,
}

impl Ground<'_> {
    /// Members that are neither muted nor absent, in list order, each once.
    pub(super) fn participants(&self, absent: &[String]) -> Vec<String> {
        let Some(group) = &self.scene.group else { return Vec::new() };
        let mut ids: Vec<String> = Vec::new();
        for id in group.enabled() {
            let there = self.scene.character(id).is_some() && !absent.iter().any(|a| a == id);
            if there && !ids.iter().any(|i| i == id) {
                ids.push(id.to_owned());
            }
        }
        ids
    }

    /// Members for the matcher: the absent are left out, the muted are known as such.
    pub(super) fn named(&self, absent: &[String]) -> Vec<Named> {
        let mut all = speakers::named(self.scene);
        all.retain(|n| !absent.contains(&n.id));
        all
    }

    /// Everybody who is named in a text.
    pub(super) fn mentions(&self, text: &str, absent: &[String], banned: Option<&str>) -> Vec<Mention> {
        let options = MentionOptions { by_id: true, ..MentionOptions::default() };
        let recent = self.recent();
        let recent: Vec<&str> = recent.iter().map(String::as_str).collect();
        Matcher::new(&self.named(absent), options).find(text, Recency { recent: &recent, banned })
    }

    /// Members by their last message, the latest first.
    pub(super) fn recent(&self) -> Vec<String> {
        let character = |i: usize| self.scene.characters.get(i).map(|c| c.avatar.clone());
        speakers::recent(self.scene).into_iter().filter_map(character).collect()
    }

    /// A member's name; without one, its id.
    pub(super) fn name(&self, id: &str) -> String {
        match self.character(id).map(|c| c.name.as_str()) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => id.to_owned(),
        }
    }

    /// Id and name of each.
    pub(super) fn names(&self, ids: &[String]) -> Vec<(String, String)> {
        ids.iter().map(|id| (id.clone(), self.name(id))).collect()
    }

    pub(super) fn character(&self, id: &str) -> Option<&Character> {
        self.scene.character(id)
    }

    pub(super) fn last_message(&self) -> Option<&ChatMessage> {
        self.scene.chat.messages.iter().rev().find(|m| !m.is_system)
    }

    /// Who wrote the last message, if a member did.
    pub(super) fn last_author(&self) -> Option<String> {
        speakers::author(self.scene, self.last_message()?).map(str::to_owned)
    }

    /// Who of the members spoke last.
    pub(super) fn last_speaker(&self) -> Option<String> {
        self.recent().into_iter().next()
    }

    /// The last message of a member.
    pub(super) fn last_of(&self, id: &str) -> Option<&str> {
        speakers::last_of(self.scene, id).map(|m| m.mes.as_str())
    }
}
