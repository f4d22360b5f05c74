//! Who wrote the message that a swipe, a continuation or a request beside the chat is about (spec 01 §4.5).

use crate::error::{Code, Error};
use crate::host::{Dice, Site};

use super::view::{View, stored_author};

/// As the reference finds them: up to two characters, in the order in which it would run them (spec 01 F7).
pub(super) fn speakers(view: &View<'_>, hidden_counts: bool, dice: &mut Dice) -> Vec<usize> {
    let Some(last) = view.last() else { return Vec::new() };
    let mut ids: Vec<&str> = Vec::new();
    let skipped =
        |m: &crate::scene::ChatMessage| m.is_user || (m.is_system && !hidden_counts) || m.is_narrator();
    if skipped(last) {
        let earlier = view.messages().iter().rev().filter(|m| !skipped(m)).find_map(stored_author);
        ids.extend(earlier.or_else(|| anyone(view, dice)));
    }
    match stored_author(last) {
        Some(id) => ids.push(id),
        None => ids.extend(
            view.scene
                .characters
                .iter()
                .filter(|c| c.name == last.name && view.is_member(&c.avatar))
                .map(|c| c.avatar.as_str())
                .next(),
        ),
    }
    ids.into_iter().filter_map(|id| view.index(id)).collect()
}

/// The character of a request beside the chat; `None` when nobody can be found.
pub(super) fn beside(view: &View<'_>, dice: &mut Dice) -> Option<usize> {
    let found = speakers(view, true, dice).first().copied();
    found.or_else(|| view.group.members.first().and_then(|id| view.index(id)))
}

/// Put right: exactly one, the author of the last message; after the user's or narrator's, whoever of the characters spoke last.
pub(super) fn author(view: &View<'_>, outsiders: bool, dice: &mut Dice) -> Result<usize, Error> {
    let Some(last) = view.last() else {
        return Err(gone(view, "the chat has no message to continue or swipe"));
    };
    let own = if last.is_user || last.is_narrator() {
        None
    } else {
        Some(view.author(last).ok_or_else(|| {
            gone(
                view,
                "its author is no character of the group; restore the character or choose another message",
            )
        })?)
    };
    let earlier = || view.messages().iter().rev().filter(|m| !m.is_system).find_map(|m| view.author(m));
    let id = own.or_else(earlier).or_else(|| anyone(view, dice));
    let index = id.and_then(|id| view.index(id)).ok_or_else(|| {
        gone(
            view,
            "the character that wrote it does not exist any more; restore it or choose another message",
        )
    })?;
    if !outsiders && !id.is_some_and(|id| view.is_member(id)) {
        return Err(gone(view, "its author left the group; add it again, or allow outsiders"));
    }
    Ok(index)
}

/// Characters of the group in order of their last message, the latest first, each once.
pub(super) fn recent(view: &View<'_>) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let members = view.group.members.len();
    for id in view.messages().iter().rev().filter_map(|m| view.author(m)) {
        if let Some(index) = view.index(id).filter(|i| view.is_member(id) && !found.contains(i)) {
            found.push(index);
            if found.len() == members {
                break;
            }
        }
    }
    found
}

fn anyone<'a>(view: &View<'a>, dice: &mut Dice) -> Option<&'a str> {
    let mut ids: Vec<&'a str> = view.group.members.iter().map(String::as_str).collect();
    dice.shuffle(Site::SwipeShuffle, &mut ids);
    ids.first().copied()
}

/// The error of a message whose author cannot speak.
pub(super) fn gone(view: &View<'_>, why: &'static str) -> Error {
    let path = match view.messages().len().checked_sub(1) {
        Some(last) => format!("chat[{last}].original_avatar"),
        None => "chat".to_owned(),
    };
    Error::new(Code::SpeakerGone, path, why)
}
