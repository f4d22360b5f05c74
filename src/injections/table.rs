//! The table of injected texts.

use indexmap::IndexMap;

use crate::history::Piece;
use crate::js;
use crate::macros::Trust;
use crate::parts::{Origin, OriginKind};
use crate::profile::{PROMPT_INJECTIONS, Profile};
use crate::scene::ExtensionPrompt;

/// Running summary.
pub const SUMMARY: &str = "1_memory";
/// Author's note.
pub const AUTHOR_NOTE: &str = "2_floating_prompt";
/// Recalled chat messages.
pub const VECTORS: &str = "3_vectors";
/// Recalled documents.
pub const DATA_BANK: &str = "4_vectors_data_bank";
/// Retired recall.
pub const SMART_CONTEXT: &str = "chromadb";
/// A character's note; members of joined groups append `_<n>`.
pub const DEPTH_PROMPT: &str = "DEPTH_PROMPT";
/// Persona at depth.
pub const PERSONA: &str = "PERSONA_DESCRIPTION";
/// Quiet instruction, present while lorebooks are scanned.
pub const QUIET: &str = "QUIET_PROMPT";

/// The deepest depth that is looked at.
pub(crate) const MAX_DEPTH: i64 = 10_000;

/// Where a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Stored only; macros reach it.
    None,
    /// Behind the main prompt.
    AfterMain,
    /// In the chat, at a depth.
    InChat,
    /// In front of the main prompt.
    BeforeMain,
}

impl Position {
    /// From ST's number.
    pub const fn from_number(n: i64) -> Self {
        match n {
            0 => Self::AfterMain,
            1 => Self::InChat,
            2 => Self::BeforeMain,
            _ => Self::None,
        }
    }
}

/// One injected text.
#[derive(Clone, Debug, PartialEq)]
pub struct Injection {
    /// The text, with macros.
    pub value: String,
    /// Where it goes.
    pub position: Position,
    /// Messages behind it, for [`Position::InChat`]; `None` is never reached (a fraction, below 0, above 10000).
    pub depth: Option<i64>,
    /// 0 system, 1 user, 2 assistant; others are never reached in the chat.
    pub role: i64,
    /// Place among those of one depth, low ones first; asked under `prompt.injections`.
    pub order: f64,
    /// Lorebook keys are looked for in it too.
    pub scan: bool,
    /// The host's filter, already decided.
    pub allowed: bool,
    /// Sources of the text, when it has several.
    pub pieces: Vec<Piece>,
}

impl Injection {
    /// The order of a text or prompt that has none.
    pub const DEFAULT_ORDER: f64 = 100.0;

    /// A text with one source.
    pub fn new(value: String, position: Position, depth: f64, role: i64) -> Self {
        Self {
            value,
            position,
            depth: whole_depth(depth),
            role,
            order: Self::DEFAULT_ORDER,
            scan: false,
            allowed: true,
            pieces: Vec::new(),
        }
    }

    /// How far the macros of the text under a key may go: recalled and summarised text only names, cards and lorebooks no
    /// further than a card.
    pub fn trust(&self, key: &str) -> Trust {
        if [SUMMARY, VECTORS, DATA_BANK, SMART_CONTEXT].contains(&key) {
            return Trust::Data;
        }
        let foreign = |(origin, _): &Piece| matches!(origin.kind, OriginKind::Card | OriginKind::Lore);
        if self.pieces.iter().any(foreign) { Trust::Card } else { Trust::Full }
    }

    /// The sources of the text under a key.
    pub fn sources(&self, key: &str) -> Vec<Piece> {
        if self.pieces.is_empty() {
            vec![(Origin::new(OriginKind::Ext, key), self.value.clone())]
        } else {
            self.pieces.clone()
        }
    }
}

fn whole_depth(depth: f64) -> Option<i64> {
    let whole = js::to_integer(depth);
    (depth.fract() == 0.0 && (0..=MAX_DEPTH).contains(&whole)).then_some(whole)
}

/// All injected texts by key, in the order of registration. Setting a key again keeps its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Injections {
    list: IndexMap<String, Injection>,
}

impl Injections {
    /// The host's texts. With `prompt.injections` on, depths and roles out of range are brought into it.
    pub fn from_host(prompts: &[ExtensionPrompt], profile: &Profile) -> Self {
        let mend = profile.on(&PROMPT_INJECTIONS);
        let list = prompts
            .iter()
            .map(|p| {
                let in_range = (0..=MAX_DEPTH).contains(&p.depth);
                let depth =
                    if mend { Some(p.depth.clamp(0, MAX_DEPTH)) } else { Some(p.depth).filter(|_| in_range) };
                let role = if mend && !(0..=2).contains(&p.role) { 0 } else { p.role };
                let injection = Injection {
                    value: p.value.clone(),
                    position: Position::from_number(p.position),
                    depth,
                    role,
                    order: p.order,
                    scan: p.scan,
                    allowed: p.allowed,
                    pieces: Vec::new(),
                };
                (p.key.clone(), injection)
            })
            .collect();
        Self { list }
    }

    /// Registers a text.
    pub fn set(&mut self, key: impl Into<String>, injection: Injection) {
        self.list.insert(key.into(), injection);
    }

    /// Takes a text out, keeping the order of the others.
    pub fn remove(&mut self, key: &str) {
        self.list.shift_remove(key);
    }

    /// The text under a key.
    pub fn get(&self, key: &str) -> Option<&Injection> {
        self.list.get(key)
    }

    /// All texts in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Injection)> {
        self.list.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// Texts that lorebook keys are looked for in, in the order of registration.
    pub fn scanned(&self) -> impl Iterator<Item = &str> {
        self.list.values().filter(|i| i.scan && i.allowed).map(|i| i.value.as_str())
    }

    /// Non-empty texts of a position, keys sorted by UTF-16 units; filters are not asked (spec 05 §8, 02 F-18).
    pub fn collect(&self, position: Position) -> Vec<(&str, &Injection)> {
        let mut found: Vec<_> =
            self.iter().filter(|(_, i)| i.position == position && !i.value.is_empty()).collect();
        js::sort_by(&mut found, |a, b| js::cmp16(a.0, b.0));
        found
    }
}
