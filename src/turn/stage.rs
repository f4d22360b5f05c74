//! What macros may read during one turn, owned: names, card texts, lists. (Until `macros` builds it from the scene itself.)

use std::borrow::Cow;

use indexmap::IndexMap;

use crate::host::Host;
use crate::macros::{CardTexts, Engine, Env, Expander, InstructTexts, Trust};
use crate::models::Model;
use crate::parts::{ChatEdit, Effects};
use crate::profile::Profile;
use crate::scene::{Character, ChatMessage, Scene};

/// The owned side of an [`Env`].
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) scene: &'a Scene,
    pub(super) speaker: &'a Character,
    pub(super) profile: &'a Profile,
    pub(super) model: &'a Model,
    pub(super) sizes: (i64, i64),
    pub(super) input: &'a str,
    pub(super) kind: &'a str,
    pub(super) card: CardTexts,
    pub(super) chat: Cow<'a, [ChatMessage]>,
    pub(super) outlets: IndexMap<String, String>,
    group: String,
    group_not_muted: String,
    not_char: String,
    instruct: InstructTexts,
    values: IndexMap<String, String>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        scene: &'a Scene,
        speaker: &'a Character,
        profile: &'a Profile,
        model: &'a Model,
        sizes: (i64, i64),
        input: &'a str,
        kind: &'a str,
    ) -> Self {
        let members: Vec<_> = scene.members().collect();
        let join = |keep: &dyn Fn(&Character) -> bool| {
            members.iter().filter(|c| keep(c)).map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let muted = |c: &Character| scene.group.as_ref().is_some_and(|g| g.is_muted(&c.avatar));
        let (group, group_not_muted, not_char) = if scene.group.is_some() {
            (join(&|_| true), join(&|c| !muted(c)), join(&|c| !muted(c) && c.name != speaker.name))
        } else {
            (speaker.name.clone(), speaker.name.clone(), scene.persona.name.clone())
        };
        Self {
            scene,
            speaker,
            profile,
            model,
            sizes,
            input,
            kind,
            card: CardTexts::default(),
            chat: Cow::Borrowed(&scene.chat.messages),
            outlets: IndexMap::new(),
            group,
            group_not_muted,
            not_char,
            instruct: InstructTexts::default(),
            values: IndexMap::new(),
        }
    }

    pub(super) fn scope<'s>(&'s self, host: &'s mut Host, effects: &'s mut Effects) -> Expander<'s> {
        let s = self.scene;
        let r = &s.settings.reasoning;
        let env = Env {
            engine: if s.settings.experimental_macro_engine { Engine::New } else { Engine::Legacy },
            profile: self.profile,
            user: &s.persona.name,
            char: &self.speaker.name,
            group: &self.group,
            group_not_muted: &self.group_not_muted,
            not_char: &self.not_char,
            card: Some(&self.card),
            source: None,
            trust: Trust::Full,
            post_process: None,
            original: None,
            chat: &self.chat,
            chat_id: &s.chat.id,
            metadata: &s.chat.metadata,
            globals: &s.global_variables,
            outlets: &self.outlets,
            dynamic: &[],
            model: &self.model.name,
            max_context: self.sizes.0,
            max_response: self.sizes.1,
            last_generation_type: self.kind,
            input: self.input,
            instruct: &self.instruct,
            chat_completion: true,
            reasoning: [&r.prefix, &r.suffix, &r.separator],
            values: &self.values,
            collapse_newlines: s.settings.collapse_newlines,
        };
        Expander { env, host, effects }
    }

    /// Expands the card's texts.
    pub(super) fn read_card(&mut self, host: &mut Host, effects: &mut Effects) {
        let (s, c) = (self.scene, self.speaker);
        let meta = |key: &str, own: &str| {
            let over = s.chat.meta_text(key);
            if over.is_empty() { own.to_owned() } else { over.to_owned() }
        };
        let mut scope = self.scope(host, effects);
        let mut text = |raw: &str| scope.card_text(raw, &c.name);
        let system = if s.settings.prefer_character_prompt {
            text(&meta("system_prompt", &c.system_prompt))
        } else {
            String::new()
        };
        let card = CardTexts {
            char_prompt: system,
            mes_examples_raw: text(&meta("mes_example", &c.mes_example)),
            description: text(&c.description),
            personality: text(&c.personality),
            persona: text(&s.persona.description),
            scenario: text(&meta("scenario", &c.scenario)),
            char_instruction: if s.settings.prefer_character_jailbreak {
                text(&c.post_history_instructions)
            } else {
                String::new()
            },
            depth_prompt: text(&c.depth_prompt.prompt),
            creator_notes: text(&c.creator_notes),
            first_message: text(&c.first_mes),
            alternate_greetings: c.alternate_greetings.iter().flatten().map(|g| text(g)).collect(),
            version: c.version.clone(),
        };
        self.card = card;
    }

    /// Expands the first message of the chat, in place.
    pub(super) fn read_first_message(&mut self, host: &mut Host, effects: &mut Effects) {
        let Some(first) = self.chat.first() else { return };
        let text = first.mes.clone();
        let expanded = self.scope(host, effects).expand(&text);
        if expanded != text {
            if let Some(first) = self.chat.to_mut().first_mut() {
                first.mes.clone_from(&expanded);
            }
            effects.chat.push(ChatEdit::Text { index: 0, mes: expanded });
        }
    }
}
