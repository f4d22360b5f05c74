//! What a turn is about: who speaks, with which model, in how many tokens; and the rules and inputs that follow for each
//! step.

use std::borrow::Cow;

use serde_json::Value;

use super::TurnOptions;
use crate::error::{Code, Error};
use crate::history::{Line, Names, RecordRules, Records, Rules, reply_bias};
use crate::injections::Injections;
use crate::js;
use crate::lore::LoreResult;
use crate::macros::{CardTexts, EnvBase, Expander, Trust};
use crate::models::{Framing, Model, can_call_tools};
use crate::parts::{ChatEdit, Kind};
use crate::profile::{PROMPT_CONTINUE, PROMPT_NUDGES, PROMPT_ONCE, Profile, TOKENS_ESTIMATE};
use crate::prompt::chat::{Counter, Input, Supplied};
use crate::scene::{Character, ChatMessage, PersonaPosition, Scene};
use crate::scripts::CompiledScripts;
use crate::templates::Example;
use crate::tokens::Count;

/// Who, what, with which model and how many tokens: the same for all steps of a turn.
#[derive(Clone, Debug)]
pub struct About<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// What is asked for.
    pub options: &'a TurnOptions,
    /// Faults put right or not.
    pub profile: &'a Profile,
    /// Who speaks.
    pub speaker: &'a Character,
    /// Who answers.
    pub model: Model,
    /// Context and response size, tokens.
    pub sizes: (i64, i64),
    /// Counts and frames messages.
    pub counter: Counter<'a>,
    /// Tool calls of the history go out as such.
    pub tools: bool,
}

/// Texts that a call brings, expanded once.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) quiet: String,
    pub(super) bias: String,
    /// The bias is the user's setting, and no message's own.
    pub(super) bias_is_global: bool,
}

impl<'a> About<'a> {
    /// Finds the speaker, the model and the sizes.
    pub fn of(
        scene: &'a Scene,
        options: &'a TurnOptions,
        profile: &'a Profile,
        count: &'a dyn Count,
    ) -> Result<Self, Error> {
        Ok(Self::by(scene, options, profile, count, speaker(scene, options)?))
    }

    /// The same for a given speaker.
    pub(super) fn by(
        scene: &'a Scene,
        options: &'a TurnOptions,
        profile: &'a Profile,
        count: &'a dyn Count,
        speaker: &'a Character,
    ) -> Self {
        let mut model = Model::of(&scene.preset, options.ask.model.as_ref());
        let text = scene.text.as_deref();
        if let Some(setup) = text {
            model.name = setup.status.clone().or_else(|| setup.model.clone()).unwrap_or_default();
        }
        let framing = if text.is_some() { Framing::bare() } else { Framing::of(&model, count, profile) };
        let calls_tools =
            || can_call_tools(&scene.preset.values, model.source, &model.name, model.entry.as_ref());
        Self {
            scene,
            options,
            profile,
            speaker,
            sizes: sizes(scene, options),
            counter: Counter { count, framing },
            tools: text.is_none() && calls_tools(),
            model,
        }
    }

    /// Tokens kept free because counts are estimates.
    pub(super) fn margin(&self) -> i64 {
        if self.counter.count.exact() || !self.profile.on(&TOKENS_ESTIMATE) {
            return 0;
        }
        let percent = self.options.ask.shares.margin.unwrap_or(MARGIN).clamp(0.0, 100.0);
        let room = i32::try_from(self.sizes.0.saturating_sub(self.sizes.1).max(0)).unwrap_or(i32::MAX);
        js::to_integer((f64::from(room) * percent / 100.0).ceil())
    }

    /// The generation type that triggers look at.
    pub(super) fn trigger(&self) -> Kind {
        if self.profile.on(&PROMPT_NUDGES) {
            return self.options.action.unwrap_or(self.options.kind);
        }
        if self.options.tool_round > 0 { Kind::Normal } else { self.options.kind }
    }

    pub(super) const fn in_group(&self) -> bool {
        self.scene.group.is_some()
    }

    pub(super) fn members(&self) -> Vec<String> {
        self.scene.members().map(|c| c.name.clone()).collect()
    }

    /// What macros may read.
    pub(super) fn environment(&self) -> EnvBase<'a> {
        let at = self.scene.character_index(&self.speaker.avatar);
        let mut base = EnvBase::new(self.scene, at, self.profile);
        base.model.clone_from(&self.model.name);
        (base.max_context, base.max_response) = self.sizes;
        self.options.kind.as_str().clone_into(&mut base.last_generation_type);
        base.input.clone_from(&self.options.input);
        base.original = self.profile.on(&PROMPT_ONCE).then_some("");
        if self.options.kind == Kind::Swipe {
            base.chat = Cow::Owned(being_swiped(&self.scene.chat.messages));
        }
        base
    }

    pub(super) fn said(&self, scope: &mut Expander<'_>) -> Said {
        let quiet = self.options.quiet.as_ref().map_or("", |q| q.prompt.as_str());
        let start_with = &self.scene.settings.user_prompt_bias;
        let chat = &self.scene.chat.messages;
        let bias = reply_bias(chat, self.options.kind, &self.options.bias, start_with);
        Said { quiet: scope.expand(quiet), bias_is_global: bias == start_with, bias: scope.expand(bias) }
    }

    pub(super) fn line_rules<'r>(&'r self, scripts: &'r CompiledScripts) -> Rules<'r> {
        Rules {
            speaker: &self.speaker.avatar,
            scripts,
            kind: self.options.kind,
            tools: self.tools,
            only_reasoning_of: self.in_group().then_some(self.speaker.name.as_str()),
            reasoning: &self.scene.settings.reasoning,
            recalled: &self.options.recalled.hide,
            profile: self.profile,
        }
    }

    /// `tail`: the speaker's own texts go behind the history, whose lines then read the same for everybody.
    pub(super) fn record_rules(&self, tail: bool) -> RecordRules<'_> {
        let display = self.scene.settings.power_user.get("media_display").and_then(Value::as_str);
        RecordRules {
            names: if tail { Names::Content } else { Names::of(&self.scene.preset) },
            user: &self.scene.persona.name,
            char: &self.speaker.name,
            in_group: self.in_group(),
            source: self.model.source.as_str(),
            model: &self.model.name,
            media_display: display.unwrap_or("list"),
            profile: self.profile,
        }
    }

    /// The text to be continued, postfix included; empty when nothing is.
    pub(super) fn continued(&self, lines: &[Line<'_>]) -> String {
        let Some(last) = lines.last().filter(|_| self.options.kind == Kind::Continue) else {
            return String::new();
        };
        let covered = if self.profile.on(&PROMPT_CONTINUE) {
            last.text.ends_with(js::is_space)
        } else {
            last.text.ends_with(' ')
        };
        let postfix = if covered { "" } else { self.scene.preset.utility("continue_postfix") };
        format!("{}{postfix}", last.text)
    }

    pub(super) fn supplied<'s>(
        &'s self,
        card: &'s CardTexts,
        lore: &'s LoreResult,
        said: &'s Said,
    ) -> Supplied<'s> {
        let in_slot = self.scene.persona.position == PersonaPosition::InPrompt;
        Supplied {
            trigger: self.trigger().as_str(),
            lore_before: &lore.before,
            lore_after: &lore.after,
            description: &card.description,
            personality: &card.personality,
            scenario: &card.scenario,
            system: &card.char_prompt,
            post_history: &card.char_instruction,
            persona: if in_slot { &self.scene.persona.description } else { "" },
            quiet: &said.quiet,
            bias: &said.bias,
            speaker: &self.speaker.avatar,
        }
    }

    pub(super) fn input<'s>(
        &'s self,
        supplied: Supplied<'s>,
        injections: &'s Injections,
        records: Records<'s>,
        examples: &'s [Vec<Example>],
        continued: &'s str,
    ) -> Input<'s> {
        let kind = self.options.kind;
        Input {
            preset: &self.scene.preset,
            profile: self.profile,
            counter: self.counter,
            model: &self.model,
            kind,
            in_group: self.in_group(),
            names: Names::of(&self.scene.preset),
            interactive: !self.options.automatic,
            preview: self.options.preview,
            sizes: self.sizes,
            margin: self.margin(),
            shares: &self.options.ask.shares,
            pin_examples: self.scene.settings.pin_examples,
            supplied,
            injections,
            records,
            examples,
            continued,
            quiet_image: self.options.quiet.as_ref().and_then(|q| q.image.as_deref()),
            keeps_tools: self.tools,
            tools: &self.options.ask.tools,
            calls_tools: self.tools && !matches!(kind, Kind::Impersonate | Kind::Quiet | Kind::Continue),
            tail: None,
        }
    }
}

/// Who speaks: the one asked for, else the single chat's character, else the first.
fn speaker<'a>(scene: &'a Scene, options: &TurnOptions) -> Result<&'a Character, Error> {
    let asked = options.speaker.as_deref().or(scene.chat_with.as_deref());
    match asked {
        Some(avatar) => scene.character(avatar).ok_or_else(|| {
            Error::new(Code::SceneUnknown, "speaker", format!("no character is known by {avatar:?}"))
        }),
        None => scene.characters.first().ok_or_else(|| {
            Error::new(Code::SceneMissing, "characters", "a scene needs at least one character")
        }),
    }
}

/// Percent of the prompt's room that stay free while counts are estimates.
const MARGIN: f64 = 10.0;

/// More tokens than any context has; sums of such sizes stay exact.
const MOST: i64 = 1_000_000_000_000;

/// Context and response size.
fn sizes(scene: &Scene, options: &TurnOptions) -> (i64, i64) {
    if let Some(text) = &scene.text {
        let context = options.max_context.unwrap_or(text.max_context).clamp(-MOST, MOST);
        return (context, options.max_response.unwrap_or(text.response_length).clamp(-MOST, MOST));
    }
    // What is no number leaves room for nothing, as every comparison with it fails.
    let read = |key: &str, default: f64| {
        let n = scene.preset.number(key, default);
        if n.is_nan() { None } else { Some(js::to_integer(n.floor()).clamp(-MOST, MOST)) }
    };
    let context = options.max_context.or_else(|| read("openai_max_context", 4095.0));
    let response = options.max_response.or_else(|| read("openai_max_tokens", 300.0));
    (context.unwrap_or(-MOST), response.unwrap_or(0))
}

/// The chat with its last message marked as being swiped (spec 04 §11.4).
fn being_swiped(chat: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut chat = chat.to_vec();
    if let Some(last) = chat.last_mut() {
        let count = last.swipes.get_or_insert_with(|| vec![Value::from(last.mes.as_str())]).len();
        last.swipe_id = Some(Value::from(count));
    }
    chat
}

/// The chat as this request sees it: the first message is expanded in place, for good (spec 02 §3.1).
pub(super) fn current_chat<'b>(base: &'b EnvBase<'_>, scope: &mut Expander<'_>) -> Cow<'b, [ChatMessage]> {
    let mut chat = Cow::Borrowed(&*base.chat);
    let Some(first) = chat.first() else { return chat };
    let mes = scope.expand_message(&first.mes, Trust::Full);
    if mes != first.mes {
        if let Some(first) = chat.to_mut().first_mut() {
            first.mes.clone_from(&mes);
        }
        scope.effects.chat.push(ChatEdit::Text { index: 0, mes });
    }
    chat
}
