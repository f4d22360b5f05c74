//! A chat -> the messages as memory sees them: id, hash, who wrote and who heard them (spec 10 §19, 09 §22).

use serde_json::Value;

use super::hash::hash;
use super::recall::Memo;
use crate::js;
use crate::scene::{ChatMessage, Scene};

/// A chat as memory sees it.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Messages, oldest first.
    pub memos: Vec<Memo>,
    /// Hashes of their texts.
    pub hashes: Vec<String>,
    /// Avatars of their authors; empty for the user.
    pub authors: Vec<String>,
}

impl View {
    /// Reads a scene's chat.
    pub fn of(scene: &Scene) -> Self {
        let mut view = Self::default();
        for (at, message) in scene.chat.messages.iter().enumerate() {
            view.authors.push(author(scene, message));
            view.hashes.push(hash(&message.mes).to_string());
            let mut memo = memo(at, message);
            // Whoever said it heard it.
            if let (Some(present), Some(author)) = (&mut memo.present, view.authors.last())
                && !author.is_empty()
                && !present.contains(author)
            {
                present.push(author.clone());
            }
            view.memos.push(memo);
        }
        view
    }

    /// Where a message is.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.memos.iter().position(|m| m.id == id)
    }

    /// The hash of a message's text, if it is there.
    pub fn hash_of(&self, id: &str) -> Option<&str> {
        self.place(id).and_then(|at| self.hashes.get(at)).map(String::as_str)
    }

    /// Ids with hashes, as summaries look at them.
    pub fn anchors(&self) -> Vec<super::summary::Anchor<'_>> {
        let both = self.memos.iter().zip(&self.hashes);
        both.map(|(m, hash)| super::summary::Anchor { id: &m.id, hash }).collect()
    }
}

/// The host's id of a message, or its position and date.
fn memo(at: usize, message: &ChatMessage) -> Memo {
    let own = message.rest.get("id").filter(|v| v.is_string() || v.is_number());
    let date = message.send_date.as_ref().map(js::value_to_text).unwrap_or_default();
    let present = message.rest.get("present").and_then(Value::as_array);
    Memo {
        id: own.map_or_else(|| format!("{at}:{date}"), js::value_to_text),
        name: message.name.clone(),
        text: message.mes.clone(),
        hidden: message.is_system,
        present: present.map(|ids| ids.iter().map(js::value_to_text).collect()),
    }
}

/// The avatar of who wrote a message.
fn author(scene: &Scene, message: &ChatMessage) -> String {
    if message.is_user || message.is_system {
        return String::new();
    }
    if let Some(avatar) = &message.original_avatar {
        return avatar.clone();
    }
    let named = scene.characters.iter().find(|c| c.name == message.name);
    named.map(|c| c.avatar.clone()).or_else(|| scene.chat_with.clone()).unwrap_or_default()
}
