//! The chat as a list of items, newest first: messages, what is injected at a depth, the text after the chat; and how each reads
//! (spec 07 §5.2-5.5, §7.3).

use super::{Input, story};
use crate::history::Line;
use crate::injections::{Injections, Position};
use crate::js;
use crate::macros::Expander;
use crate::parts::Kind;
use crate::profile::{Profile, TEXT_LAST_LINE, TEXT_TEMPLATES};
use crate::templates::{Cast, Said, Variant, message};

/// What an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ItemKind {
    /// A message of the chat.
    #[default]
    Chat,
    /// A text at a depth.
    Injected(i64),
    /// The text after the chat.
    PostHistory,
}

/// One item.
#[expect(clippy::struct_excessive_bools, reason = "facts of a message, each independent of the others")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Who says it; may be empty.
    pub name: String,
    /// The text.
    pub text: String,
    /// The user's voice.
    pub is_user: bool,
    /// Nobody's voice.
    pub is_narrator: bool,
    /// It has a picture of its own.
    pub own_avatar: bool,
    /// Ghosted: it stands there and says nothing.
    pub hole: bool,
    /// Index in the whole chat.
    pub index: Option<usize>,
    /// What it is.
    pub kind: ItemKind,
}

/// The messages of the chat, newest first.
pub fn chat_items(lines: &[Line<'_>]) -> Vec<Item> {
    let item = |line: &Line<'_>| Item {
        name: line.message.name.clone(),
        text: line.text.clone().into_owned(),
        is_user: line.message.is_user,
        is_narrator: line.message.is_narrator(),
        own_avatar: line.message.force_avatar.as_ref().is_some_and(js::to_boolean),
        hole: line.message.ignore,
        index: Some(line.index),
        kind: ItemKind::Chat,
    };
    lines.iter().rev().map(item).collect()
}

/// Puts the texts at their depths (§5.3); returns the places they got, in that order.
pub fn inject(
    items: &mut Vec<Item>,
    injections: &Injections,
    kind: Kind,
    cast: &Cast<'_>,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> Vec<usize> {
    let mut depths: Vec<i64> = injections
        .iter()
        .filter(|(_, i)| i.position == Position::InChat)
        .filter_map(|(_, i)| i.depth)
        .collect();
    depths.sort_unstable();
    depths.dedup();
    let mut places = Vec::new();
    for depth in depths {
        let mut group = Vec::new();
        for role in [0, 1, 2] {
            let text = story::at_depth(injections, depth, role, profile, scope);
            let text = js::trim_start(&text);
            if text.is_empty() {
                continue;
            }
            let name = match role {
                1 => cast.user,
                2 => cast.char,
                _ => "",
            };
            group.push(Item {
                name: name.to_owned(),
                text: text.to_owned(),
                is_user: role == 1,
                is_narrator: role == 0,
                kind: ItemKind::Injected(depth),
                ..Item::default()
            });
        }
        // Nothing comes behind the message that is continued.
        let depth = if kind == Kind::Continue && depth == 0 { 1 } else { depth };
        let at = usize::try_from(depth).unwrap_or(usize::MAX).saturating_add(places.len()).min(items.len());
        places.extend(at..at + group.len());
        items.splice(at..at, group);
    }
    places
}

/// Puts the text after the chat in its place (§5.4).
pub fn insert_post_history(items: &mut Vec<Item>, text: &str, kind: Kind) {
    if text.is_empty() {
        return;
    }
    let at = usize::from(kind == Kind::Continue).min(items.len());
    let item = Item { text: text.to_owned(), is_user: true, kind: ItemKind::PostHistory, ..Item::default() };
    items.insert(at, item);
}

/// How the items read, newest first (§7.3).
pub(super) fn render(input: &Input<'_>, scope: &mut Expander<'_>) -> Vec<String> {
    let items = &input.items;
    let real = input.profile.on(&TEXT_TEMPLATES);
    let counts = |item: &Item| !real || item.kind == ItemKind::Chat;
    let last_user =
        items.iter().position(|i| i.is_user && counts(i)).filter(|_| input.kind != Kind::Impersonate);
    let oldest = items.iter().rposition(counts);
    let mut out = vec![String::new(); items.len()];
    for (i, item) in items.iter().enumerate().rev() {
        let mut text = one(input, item, Variant::Usual, scope);
        let continued = input.kind == Kind::Continue && i == 0;
        if input.instruct.is_some() {
            if Some(i) == oldest {
                text = one(input, item, Variant::First, scope);
            }
            if Some(i) == last_user {
                text = one(input, item, Variant::Last, scope);
            }
            if continued && !item.hole {
                text = one(input, item, Variant::Last, scope);
            }
        }
        if continued && let Some(at) = text.rfind(&item.text) {
            text.truncate(at + item.text.len());
        }
        if let Some(slot) = out.get_mut(i) {
            *slot = text;
        }
    }
    out
}

/// One item, line feed included (§5.5).
pub(super) fn one(input: &Input<'_>, item: &Item, variant: Variant, scope: &mut Expander<'_>) -> String {
    if item.hole {
        return String::new();
    }
    let Some(template) = input.instruct else {
        return if item.is_narrator || item.name.is_empty() {
            format!("{}\n", item.text)
        } else {
            format!("{}: {}\n", item.name, item.text)
        };
    };
    let name = if item.name.is_empty() && !item.is_user { input.cast.char } else { &item.name };
    let said = Said {
        name,
        text: &item.text,
        is_user: item.is_user,
        is_narrator: item.is_narrator,
        own_avatar: item.own_avatar,
    };
    message(template, &said, variant, &input.cast, scope)
}

/// Whether the message that is continued already begins with its name, so that no line needs to be begun (F1).
pub(super) fn begun(input: &Input<'_>) -> bool {
    input.kind == Kind::Continue && input.profile.on(&TEXT_LAST_LINE)
}
