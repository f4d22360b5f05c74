//! Collecting what wants a place: notes, persona, lorebook entries, example blocks.

use indexmap::IndexMap;
use serde_json::json;

use super::Compiled;
use super::about::{About, Said};
use crate::history::Line;
use crate::host::Host;
use crate::injections::{
    AUTHOR_NOTE, AuthorNote, DATA_BANK, Injection, Injections, PERSONA, Position, QUIET, SMART_CONTEXT,
    SUMMARY, VECTORS, author_note, character_notes, persona,
};
use crate::js;
use crate::lore::{self, ExamplePlace, LoreResult, lore_at_depth, merge_lore};
use crate::macros::{CardTexts, Expander};
use crate::parts::{Effects, Kind, Omitted, Origin, OriginKind};
use crate::profile::{LORE_BUDGET, LORE_SCAN, PROMPT_EXAMPLES, PROMPT_NUDGES};
use crate::scene::Character;
use crate::scripts::{Call, Placement, run};
use crate::templates::{Example, Speakers, parse_example, split_examples};

impl About<'_> {
    fn skips_lore(&self) -> bool {
        self.options.quiet.as_ref().is_some_and(|q| q.skip_lore)
    }

    /// The wish is followed to the letter. ST loses it in groups, and elsewhere leaves out texts at depth and outlets alone
    /// (spec 01 F18, spec 02 §4.2).
    fn skips_all_lore(&self) -> bool {
        self.skips_lore() && self.profile.on(&PROMPT_NUDGES)
    }

    /// What memory wants in the prompt.
    pub(super) fn register_recalled(&self, injections: &mut Injections) {
        for (key, injection) in &self.options.recalled.texts {
            injections.set(*key, injection.clone());
        }
    }

    /// What is registered before lorebooks are looked at: characters' notes, the author's note, the quiet instruction, the
    /// persona at depth.
    pub(super) fn register_notes(
        &self,
        injections: &mut Injections,
        card: &CardTexts,
        said: &Said,
        scope: &mut Expander<'_>,
    ) -> AuthorNote {
        let note = author_note(self.scene, self.speaker);
        character_notes(
            injections,
            self.scene,
            self.speaker,
            &card.depth_prompt,
            note.scan,
            scope,
            self.profile,
        );
        injections.set(AUTHOR_NOTE, note.injection());
        if !said.quiet.is_empty() {
            let mut quiet = Injection::new(said.quiet.clone(), Position::AfterMain, 0.0, 0);
            quiet.scan = true;
            injections.set(QUIET, quiet);
        }
        if self.profile.on(&LORE_SCAN) {
            persona(injections, &self.scene.persona);
        } else if let Some(text) = self.options.standing.get(PERSONA) {
            injections.set(PERSONA, standing(text));
        }
        note
    }

    /// What the last request left registered, for a look between requests: ST forgets nothing (03 F42).
    pub(super) fn register_standing(&self, injections: &mut Injections) {
        if !self.profile.on(&LORE_SCAN) {
            for (key, text) in &self.options.standing {
                injections.set(key.as_str(), standing(text));
            }
        }
    }

    /// Which lorebook entries are active. `prompt` is the size of the prompt in tokens.
    pub(super) fn scan(
        &self,
        compiled: &Compiled,
        lines: &[Line<'_>],
        card: &CardTexts,
        injections: &Injections,
        prompt: i64,
        scope: &mut Expander<'_>,
    ) -> LoreResult {
        if self.skips_all_lore() {
            return LoreResult::default();
        }
        let texts = self.scan_texts(lines);
        let mut lore = self.look(&texts, Some(self.speaker), prompt, compiled, card, injections, scope);
        if self.skips_lore() && !self.in_group() {
            lore.depth.clear();
            lore.outlets.clear();
        }
        lore
    }

    /// Lines as lorebooks look at them, newest first.
    pub(super) fn scan_texts(&self, lines: &[Line<'_>]) -> lore::Lines {
        let names = self.scene.settings.world_info.get("world_info_include_names").is_none_or(js::to_boolean);
        let text = |l: &Line<'_>| {
            if names { format!("{}: {}", l.message.name, l.text) } else { l.text.to_string() }
        };
        let chat = &self.scene.chat.messages;
        // What is swiped is not there yet.
        let swiped = usize::from(self.options.kind == Kind::Swipe);
        lore::Lines {
            newest: lines.iter().rev().take(lore::Lines::MOST).map(text).collect(),
            count: lines.len(),
            total: chat.len().saturating_sub(swiped),
            turns: chat.iter().filter(|m| m.is_user && !m.is_system).count(),
        }
    }

    /// One look at the lorebooks. `prompt` is the size of the prompt in tokens.
    #[expect(clippy::too_many_arguments, reason = "each is one thing that is looked at")]
    pub(super) fn look(
        &self,
        lines: &lore::Lines,
        speaker: Option<&Character>,
        prompt: i64,
        compiled: &Compiled,
        card: &CardTexts,
        injections: &Injections,
        scope: &mut Expander<'_>,
    ) -> LoreResult {
        let scanned: Vec<String> =
            injections.scanned().map(|t| scope.expand(t)).filter(|t| !t.is_empty()).collect();
        let input = lore::Input {
            lines,
            sources: [
                &card.persona,
                &card.description,
                &card.personality,
                &card.depth_prompt,
                &card.scenario,
                &card.creator_notes,
            ],
            injections: &scanned,
            max_context: prompt,
            trigger: self.trigger().as_str(),
            speaker,
            forced: &self.options.recalled.forced,
            dry: self.options.preview,
            metadata: &self.scene.chat.metadata,
            settings: &self.scene.settings.world_info,
            shares: self.options.ask.shares.books.as_ref(),
        };
        let count = |text: &str| {
            if text.is_empty() {
                0
            } else if self.profile.on(&LORE_BUDGET) {
                i64::from(self.counter.count.count(text))
            } else {
                self.counter.framing.text(self.counter.count, text)
            }
        };
        let env = scope.env;
        let mut scripts = |text: &str, depth: Option<f64>, host: &mut Host, effects: &mut Effects| {
            let call = Call {
                prompt: true,
                depth: depth.map(js::to_integer),
                speaker: speaker.map(|c| c.avatar.as_str()),
                ..Call::new(Placement::Lore)
            };
            run(text, &call, &compiled.scripts, &env, host, effects).text
        };
        lore::evaluate(
            &compiled.books,
            &input,
            &scope.env,
            self.profile,
            &count,
            &mut scripts,
            scope.host,
            scope.effects,
        )
    }

    /// Author's note with lorebook lines and persona, lorebook texts at depth.
    pub(super) fn place_notes(
        &self,
        injections: &mut Injections,
        note: &AuthorNote,
        lore: &LoreResult,
        effects: &mut Effects,
    ) {
        injections.remove(QUIET);
        if self.skips_all_lore() {
            injections.remove(AUTHOR_NOTE);
            return;
        }
        merge_lore(injections, note, lore, &self.scene.persona, self.profile);
        lore_at_depth(injections, lore);
        persona(injections, &self.scene.persona);
        let kept = [AUTHOR_NOTE, PERSONA].into_iter().filter_map(|key| {
            let text = injections.get(key).filter(|i| i.scan)?;
            Some((key.to_owned(), text.value.clone()))
        });
        effects.standing = Some(kept.collect());
    }

    /// Leaves out memory texts beyond their share.
    pub(super) fn cap_memory(&self, injections: &mut Injections) -> Vec<Omitted> {
        let Some(mut left) = self.options.ask.shares.memory else { return Vec::new() };
        let mut out = Vec::new();
        for key in [SUMMARY, VECTORS, DATA_BANK, SMART_CONTEXT] {
            let Some(text) = injections.get(key).map(|i| js::trim(&i.value)).filter(|t| !t.is_empty()) else {
                continue;
            };
            let tokens = i64::from(self.counter.count.count(text));
            if tokens <= left {
                left -= tokens;
                continue;
            }
            let detail = Some(json!({"left": left, "short_by": tokens - left}));
            let origin = Origin::new(OriginKind::Ext, key);
            out.push(Omitted { tokens: Some(tokens), detail, ..Omitted::new(origin, "budget.share") });
            injections.remove(key);
        }
        out
    }

    /// Example blocks of the card and of lorebooks, read.
    pub(super) fn examples(
        &self,
        card: &CardTexts,
        lore: &LoreResult,
        scope: &mut Expander<'_>,
    ) -> Vec<Vec<Example>> {
        if self.scene.settings.strip_examples {
            return Vec::new();
        }
        let tolerant = self.profile.on(&PROMPT_EXAMPLES);
        let mut blocks = split_examples(&card.mes_examples_raw, tolerant);
        for (place, text) in &lore.examples {
            let read = split_examples(&scope.card_text(text, &self.speaker.name), tolerant);
            match place {
                ExamplePlace::Top => _ = blocks.splice(0..0, read),
                ExamplePlace::Bottom => blocks.extend(read),
            }
        }
        let members = self.members();
        let speakers =
            Speakers { user: &self.scene.persona.name, char: &self.speaker.name, members: &members };
        blocks.iter().map(|block| parse_example(block, &speakers, tolerant)).collect()
    }
}

/// Lorebook outlets as macros read them.
pub(super) fn outlet_texts(lore: &LoreResult) -> IndexMap<String, String> {
    lore.outlets.iter().map(|(name, texts)| (name.clone(), texts.join("\n"))).collect()
}

/// A text that lorebooks look into and that goes nowhere.
fn standing(text: &str) -> Injection {
    Injection { scan: true, ..Injection::new(text.to_owned(), Position::None, 0.0, 0) }
}
