//! The group of a scene with its ids looked up.

use serde_json::Value;

use crate::error::{Code, Error};
use crate::names::Named;
use crate::scene::{Character, ChatMessage, Group, Scene};

/// What every strategy asks for.
pub(super) struct View<'a> {
    pub(super) scene: &'a Scene,
    pub(super) group: &'a Group,
    /// Member ids that are not muted, in list order, duplicates and missing ones kept.
    pub(super) enabled: Vec<&'a str>,
    /// Index of each member's character, in list order.
    members: Vec<Option<usize>>,
}

impl<'a> View<'a> {
    /// The view of a group; `None` outside one, an error for a group without members.
    pub(super) fn of(scene: &'a Scene) -> Option<Result<Self, Error>> {
        let group = scene.group.as_ref()?;
        if group.members.is_empty() {
            return Some(Err(Error::new(
                Code::GroupEmpty,
                "group.members",
                "the group has no members; add one before starting a turn",
            )));
        }
        let members = group.members.iter().map(|id| scene.character_index(id)).collect();
        Some(Ok(Self { scene, group, enabled: group.enabled().collect(), members }))
    }

    /// Index of the first character with an id.
    pub(super) fn index(&self, id: &str) -> Option<usize> {
        match self.group.members.iter().position(|m| m == id) {
            Some(member) => self.members.get(member).copied().flatten(),
            None => self.scene.character_index(id),
        }
    }

    pub(super) fn character(&self, id: &str) -> Option<&'a Character> {
        self.scene.characters.get(self.index(id)?)
    }

    pub(super) fn is_member(&self, id: &str) -> bool {
        self.group.members.iter().any(|m| m == id)
    }

    pub(super) fn messages(&self) -> &'a [ChatMessage] {
        &self.scene.chat.messages
    }

    pub(super) fn last(&self) -> Option<&'a ChatMessage> {
        self.messages().last()
    }

    /// Who wrote a message, as an id: the stored one, or, on messages that have none, the first member of that name. `None` for the
    /// user's and narrator's messages and for writers that were never members.
    pub(super) fn author(&self, message: &'a ChatMessage) -> Option<&'a str> {
        if message.is_user || message.is_narrator() {
            return None;
        }
        stored_author(message).or_else(|| {
            self.group
                .members
                .iter()
                .map(String::as_str)
                .find(|id| self.character(id).is_some_and(|c| c.name == message.name))
        })
    }
}

/// The id that a message carries.
pub(super) fn stored_author(message: &ChatMessage) -> Option<&str> {
    message.original_avatar.as_deref().filter(|id| !id.is_empty())
}

/// The members of the scene's group as the mention matcher needs them, in list order; outside a group all characters.
pub fn named(scene: &Scene) -> Vec<Named> {
    let Some(group) = &scene.group else {
        return scene.characters.iter().map(|c| of_character(c, None, false)).collect();
    };
    group
        .members
        .iter()
        .filter_map(|id| Some((id, scene.character(id)?)))
        .map(|(id, c)| of_character(c, group.aliases.get(id), group.is_muted(id)))
        .collect()
}

fn of_character(character: &Character, aliases: Option<&Value>, muted: bool) -> Named {
    let mut all = character.aliases.clone();
    all.extend(character.nickname.clone());
    match aliases {
        Some(Value::Array(list)) => all.extend(list.iter().filter_map(Value::as_str).map(str::to_owned)),
        Some(Value::String(one)) => all.push(one.clone()),
        _ => {}
    }
    Named { id: character.avatar.clone(), name: character.name.clone(), aliases: all, muted }
}
