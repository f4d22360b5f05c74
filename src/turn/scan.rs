//! The lorebook by itself: who is about to speak and what is looked at -> what a request would find.
//!
//! Spec: 03 §3, §15. The same steps as in a turn, without a request.

use super::about::{About, Said, current_chat};
use indexmap::IndexMap;

use super::{Compiled, TurnOptions};
use crate::history::core_chat;
use crate::host::Host;
use crate::injections::{Injections, author_note, character_notes};
use crate::lore::{Lines, LoreResult};
use crate::macros::Expander;
use crate::parts::{Effects, Kind};
use crate::profile::{LORE_SCAN, Profile};
use crate::scene::{Character, Scene};
use crate::tokens::Count;

/// A scan without a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoreAsk<'a> {
    /// Avatar of who is about to speak; in a group nobody may.
    pub speaker: Option<&'a str>,
    /// Generation type.
    pub kind: Kind,
    /// Lines to look into, oldest first; default: the chat's visible messages.
    pub lines: Option<&'a [String]>,
    /// Prompt size in tokens (default: context less response).
    pub max_context: Option<i64>,
    /// Timers are not written.
    pub dry: bool,
    /// Texts of the last request that are still looked into, by key (03 F42).
    pub standing: Option<&'a IndexMap<String, String>>,
}

/// One scan, as a request for that speaker would make it.
pub fn scan_lore(
    scene: &Scene,
    ask: &LoreAsk<'_>,
    compiled: &Compiled,
    profile: &Profile,
    count: &dyn Count,
    host: &mut Host,
    effects: &mut Effects,
) -> LoreResult {
    host.begin_request();
    let options = TurnOptions {
        kind: ask.kind,
        action: Some(ask.kind),
        preview: ask.dry,
        standing: ask.standing.cloned().unwrap_or_default(),
        ..TurnOptions::default()
    };
    let nobody = Character::default();
    let speaker = ask.speaker.and_then(|avatar| scene.character(avatar));
    let looker = About::by(scene, &options, profile, count, speaker.unwrap_or(&nobody));
    // All visible messages are looked at, also for a swipe.
    let plain = TurnOptions { kind: Kind::Normal, ..options.clone() };
    let about = About { options: &plain, ..looker.clone() };
    let base = about.environment();
    let mut scope = Expander { env: base.env(), host, effects };
    let card = base.card_texts(scope.host, scope.effects);
    let mut injections = Injections::from_host(&scene.extension_prompts, profile);
    if let Some(speaker) = speaker {
        if profile.on(&LORE_SCAN) {
            about.register_notes(&mut injections, &card, &Said::default(), &mut scope);
        } else {
            let note = author_note(scene, speaker);
            let own = &card.depth_prompt;
            character_notes(&mut injections, scene, speaker, own, note.scan, &mut scope, profile);
        }
    }
    about.register_standing(&mut injections);
    let chat = current_chat(&base, &mut scope);
    let texts = match ask.lines {
        Some(lines) => Lines::new(lines.iter().rev().cloned().collect()),
        None => about.scan_texts(&core_chat(&chat, &about.line_rules(&compiled.scripts), &mut scope).0),
    };
    let prompt = ask.max_context.unwrap_or(about.sizes.0.saturating_sub(about.sizes.1));
    looker.look(&texts, speaker, prompt, compiled, &card, &injections, &mut scope)
}
