//! The speaker's own texts behind the history: what is the same for every speaker comes first, then the history, then the rest
//! (spec 09 §24). A change of speaker then leaves everything up to the newest message as it was.

use std::collections::BTreeSet;

use super::Assembly;
use super::Failure;
use super::item::{Counter, Item, Slot};
use crate::history::Piece;
use crate::injections::{AUTHOR_NOTE, DATA_BANK, SMART_CONTEXT, SUMMARY, VECTORS};
use crate::parts::{Origin, OriginKind};

/// Key of the list of members.
pub const ROSTER: &str = "roster";
/// Key of what a speaker is told of the room.
pub const GROUP_CONTEXT: &str = "group_context";
/// Key of lorebook entries that go with the speaker.
pub const OWN_LORE: &str = "lore_own";
/// Slot of the heading of the speaker's part.
const HEADING: &str = "speaker";

/// What is the speaker's own, and how it is put.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// In front of the speaker's part: `[Character: Name]`.
    pub heading: String,
    /// Its system texts are one message.
    pub joined: bool,
    /// Identifiers of prompts, keys of injected texts and fields of the persona that are the speaker's own.
    pub own: BTreeSet<String>,
    /// Fields of the card that are the same for everybody.
    pub common: BTreeSet<&'static str>,
    /// Lorebook texts that are the speaker's own.
    pub lore: BTreeSet<String>,
    /// The oldest chat message that the last request held; this one begins there too, as long as that fits.
    pub start: Option<usize>,
    /// What share of its room the history takes when it begins anew, 0 to 1.
    pub low_water: f64,
}

impl Tail {
    /// Whether a text with these sources is the speaker's own.
    pub fn is_own(&self, pieces: &[Piece]) -> bool {
        pieces.iter().any(|(origin, text)| self.owns(origin, text))
    }

    fn owns(&self, origin: &Origin, text: &str) -> bool {
        match origin.kind {
            OriginKind::Card => !self.common.contains(origin.id.as_str()),
            OriginKind::Lore => self.lore.contains(text),
            OriginKind::Persona => self.own.contains("persona"),
            _ => self.own.contains(&origin.id),
        }
    }

    /// The messages in the order of this layout.
    pub(super) fn arrange(&self, items: Vec<Item>, counter: &Counter<'_>) -> Vec<Item> {
        let (mut near, mut behind) = (MAIN, false);
        let mut places: Vec<(u8, usize)> = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            behind = behind || &*item.slot == "chatHistory";
            let known = place_of(item);
            if &*item.slot != "chatHistory" {
                near = known.unwrap_or(near);
            }
            let own = item.pieces.iter().any(|(_, (origin, text))| self.owns(origin, text));
            let rank = match &*item.slot {
                "controlPrompts" | "continueNudge" => END,
                "chatHistory" => match (item.depth, item.id.as_deref()) {
                    (None, Some("groupNudge")) => NUDGE,
                    (None, _) => HISTORY,
                    (Some(depth), _) if depth > 0 && !own => HISTORY,
                    (Some(_), _) => known.unwrap_or(NOTES).1,
                },
                _ if own || behind => near.1,
                _ => near.0,
            };
            places.push((rank, at));
        }
        places.sort_unstable();
        let mut items: Vec<Option<Item>> = items.into_iter().map(Some).collect();
        let mut out: Vec<Item> = Vec::with_capacity(items.len());
        let mut open = false;
        for (rank, at) in places {
            let Some(mut item) = items.get_mut(at).and_then(Option::take) else { continue };
            let joins = self.joined && (SPEAKER..END).contains(&rank) && is_plain(&item);
            match out.last_mut().filter(|_| joins && open) {
                Some(last) => {
                    let gap = if last.id.as_deref() == Some(HEADING) && last.pieces.len() == 1 {
                        "\n"
                    } else {
                        "\n\n"
                    };
                    last.text = format!("{}{gap}{}", last.text, item.text);
                    if let Some((between, _)) = item.pieces.first_mut() {
                        gap.clone_into(between);
                    }
                    last.pieces.append(&mut item.pieces);
                    let charged = last.charged + item.charged;
                    counter.recount(last);
                    last.charged = charged;
                }
                None => out.push(item),
            }
            open = joins;
        }
        out
    }
}

/// Whether a message is nothing but a text of the system.
fn is_plain(item: &Item) -> bool {
    item.role == "system" && item.name.is_none() && item.media.is_empty() && item.tool_calls.is_none()
}

/// Ranks: of texts for everybody, and of the speaker's own.
type Place = (u8, u8);

const MAIN: Place = (0, 11);
const HISTORY: u8 = 7;
const SPEAKER: u8 = 10;
const NOTES: Place = (SPEAKER, 19);
const NUDGE: u8 = 24;
const END: u8 = 30;

/// Where a text belongs, by the slot that it is known by. What has one rank stands behind the history in any case.
fn place_of(item: &Item) -> Option<Place> {
    let origin = item.pieces.last().map(|(_, (origin, _))| origin);
    let key = match origin.map(|o| (o.kind, o.id.as_str())) {
        Some((OriginKind::Ext, key)) => key,
        Some((OriginKind::Card, "depth_prompt")) => "depth_prompt",
        Some((OriginKind::Lore, _)) if item.depth.is_some() => OWN_LORE,
        _ => &*item.slot,
    };
    Some(match key {
        HEADING => (SPEAKER, SPEAKER),
        "main" => MAIN,
        "worldInfoBefore" => (1, 17),
        ROSTER => (2, 12),
        "personaDescription" => (3, 12),
        "charDescription" => (4, 13),
        "charPersonality" => (4, 14),
        "scenario" => (4, 15),
        "worldInfoAfter" => (5, 17),
        SUMMARY => (6, 19),
        "dialogueExamples" => (16, 16),
        OWN_LORE => (17, 17),
        "depth_prompt" => (18, 18),
        VECTORS | DATA_BANK | SMART_CONTEXT => (20, 20),
        AUTHOR_NOTE => (21, 21),
        "jailbreak" => (22, 22),
        GROUP_CONTEXT => (23, 23),
        _ => return None,
    })
}

impl Assembly<'_, '_> {
    /// Keeps room for the heading of the speaker's part.
    pub(super) fn hold_heading(&mut self) {
        let Some(tail) = self.input.tail else { return };
        let origin = Origin::new(OriginKind::Utility, HEADING);
        let text = tail.heading.clone();
        let item = self.input.counter.text(HEADING, "system", text.clone(), vec![(origin, text)]);
        self.slots.budget.reserve(HEADING, item.tokens);
        self.must(&item);
        self.held.heading = Some(item);
    }

    /// Puts it in.
    pub(super) fn place_heading(&mut self) -> Result<(), Failure> {
        let Some(item) = self.held.heading.take() else { return Ok(()) };
        self.slots.budget.free(HEADING, item.tokens);
        self.slots.add(Slot { id: HEADING.to_owned(), items: vec![item] }, None).map_err(Failure::Overflow)
    }
}
