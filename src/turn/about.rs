//! What a turn is about, and the small steps that belong to no module above: sizes, what was said, notes, the input of the
//! assembler, the payload, how to read.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::Value;

use super::{Compiled, TurnOptions};
use crate::error::{Code, Error, Warning};
use crate::history::{Line, Names, Record, RecordRules, Rules, reply_bias};
use crate::host::Host;
use crate::injections::{
    AUTHOR_NOTE, AuthorNote, Injection, Injections, Position, QUIET, author_note, character_notes, persona,
};
use crate::js;
use crate::lore::{self, ExamplePlace, LoreResult, lore_at_depth, merge_lore};
use crate::macros::{CardTexts, EnvBase, Expander};
use crate::models::{Framing, Model, Params, can_call_tools, params};
use crate::parts::{ChatEdit, Effects, Kind, Reading, Report};
use crate::profile::{PROMPT_CONTINUE, PROMPT_EXAMPLES, PROMPT_HISTORY, PROMPT_NUDGES, PROMPT_ONCE, Profile};
use crate::prompt::chat::{Assembled, Counter, Input, Item, Supplied};
use crate::reply;
use crate::scene::{Character, ChatMessage, PersonaPosition, Scene};
use crate::scripts::{Call, CompiledScripts, Placement, run};
use crate::templates::{Example, Speakers, parse_example, split_examples};
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
#[derive(Debug)]
pub(super) struct Said {
    quiet: String,
    bias: String,
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
        let model = Model::of(&scene.preset, options.ask.model.as_ref());
        Self {
            scene,
            options,
            profile,
            speaker,
            sizes: sizes(scene, options),
            counter: Counter { count, framing: Framing::of(&model, count, profile) },
            tools: can_call_tools(&scene.preset.values, model.source, &model.name, model.entry.as_ref()),
            model,
        }
    }

    /// The generation type that triggers look at.
    fn trigger(&self) -> Kind {
        if self.profile.on(&PROMPT_NUDGES) {
            return self.options.action.unwrap_or(self.options.kind);
        }
        if self.options.tool_round > 0 { Kind::Normal } else { self.options.kind }
    }

    const fn in_group(&self) -> bool {
        self.scene.group.is_some()
    }

    fn members(&self) -> Vec<String> {
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
        Said { quiet: scope.expand(quiet), bias: scope.expand(bias) }
    }

    pub(super) fn line_rules<'r>(&'r self, scripts: &'r CompiledScripts) -> Rules<'r> {
        Rules {
            speaker: &self.speaker.avatar,
            scripts,
            kind: self.options.kind,
            tools: self.tools,
            only_reasoning_of: self.in_group().then_some(self.speaker.name.as_str()),
            reasoning: &self.scene.settings.reasoning,
            profile: self.profile,
        }
    }

    pub(super) fn record_rules(&self) -> RecordRules<'_> {
        let display = self.scene.settings.power_user.get("media_display").and_then(Value::as_str);
        RecordRules {
            names: Names::of(&self.scene.preset),
            user: &self.scene.persona.name,
            char: &self.speaker.name,
            in_group: self.in_group(),
            source: self.model.source.as_str(),
            model: &self.model.name,
            media_display: display.unwrap_or("list"),
            profile: self.profile,
        }
    }

    fn skips_lore(&self) -> bool {
        self.options.quiet.as_ref().is_some_and(|q| q.skip_lore)
    }

    /// The wish is followed to the letter. ST loses it in groups, and elsewhere leaves out texts at depth and outlets alone
    /// (spec 01 F18, spec 02 §4.2).
    fn skips_all_lore(&self) -> bool {
        self.skips_lore() && self.profile.on(&PROMPT_NUDGES)
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
        persona(injections, &self.scene.persona);
        note
    }

    /// Which lorebook entries are active.
    pub(super) fn scan(
        &self,
        compiled: &Compiled,
        lines: &[Line<'_>],
        card: &CardTexts,
        injections: &Injections,
        scope: &mut Expander<'_>,
    ) -> LoreResult {
        if self.skips_all_lore() {
            return LoreResult::default();
        }
        let texts = self.scan_texts(lines);
        let prompt = self.sizes.0.saturating_sub(self.sizes.1);
        let mut lore = self.look(&texts, Some(self.speaker), prompt, compiled, card, injections, scope);
        if self.skips_lore() && !self.in_group() {
            lore.depth.clear();
            lore.outlets.clear();
        }
        lore
    }

    /// Lines as lorebooks look at them, newest first.
    pub(super) fn scan_texts(&self, lines: &[Line<'_>]) -> Vec<String> {
        let names = self.scene.settings.world_info.get("world_info_include_names").is_none_or(js::to_boolean);
        lines
            .iter()
            .rev()
            .map(|l| if names { format!("{}: {}", l.message.name, l.text) } else { l.text.clone() })
            .collect()
    }

    /// One look at the lorebooks. `texts` are newest first, `prompt` is the size of the prompt in tokens.
    #[expect(clippy::too_many_arguments, reason = "each is one thing that is looked at")]
    pub(super) fn look(
        &self,
        texts: &[String],
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
            lines: texts,
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
            forced: &[],
            dry: self.options.preview,
            metadata: &self.scene.chat.metadata,
            settings: &self.scene.settings.world_info,
        };
        let count = |text: &str| {
            if text.is_empty() { 0 } else { self.counter.framing.text(self.counter.count, text) }
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
    pub(super) fn place_notes(&self, injections: &mut Injections, note: &AuthorNote, lore: &LoreResult) {
        injections.remove(QUIET);
        if self.skips_all_lore() {
            injections.remove(AUTHOR_NOTE);
            return;
        }
        merge_lore(injections, note, lore, &self.scene.persona, self.profile);
        lore_at_depth(injections, lore);
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
        records: Vec<Record>,
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
        }
    }

    /// ST expands injected texts beside the main prompt once more for text completion, and throws the result away: draws are
    /// spent and counters count (spec 02 §8.5).
    pub(super) fn expand_unused(&self, injections: &Injections, scope: &mut Expander<'_>) {
        if self.profile.on(&PROMPT_ONCE) {
            return;
        }
        for position in [Position::BeforeMain, Position::AfterMain] {
            let texts: Vec<_> =
                injections.collect(position).into_iter().map(|(_, i)| js::trim(&i.value)).collect();
            scope.expand(&texts.join("\n"));
        }
    }

    /// Likewise all injected texts together, for its record of what was sent.
    pub(super) fn expand_all(&self, injections: &Injections, scope: &mut Expander<'_>) {
        if self.profile.on(&PROMPT_ONCE) {
            return;
        }
        let texts: Vec<_> =
            injections.iter().filter(|(_, i)| i.allowed).map(|(_, i)| js::trim(&i.value)).collect();
        scope.expand(&texts.join("\n"));
    }

    /// The neutral payload.
    pub(super) fn payload(
        &self,
        assembled: &Assembled,
        reading: &Reading,
        scope: &mut Expander<'_>,
    ) -> Value {
        let mut settings = self.scene.preset.values.clone();
        if self.options.max_response.is_some() {
            settings.insert("openai_max_tokens".into(), Value::from(self.sizes.1));
        }
        let stop: Vec<String> = reading.stop.iter().map(|s| s.text.clone()).collect();
        let messages: Vec<Value> = assembled.items.iter().map(Item::to_value).collect();
        let ask = &self.options.ask;
        let p = Params {
            settings: &settings,
            source: self.model.source,
            model: &self.model.name,
            kind: self.options.kind.as_str(),
            user: &self.scene.persona.name,
            char: &self.speaker.name,
            group: &self.members(),
            stop: &stop,
            tools: &ask.tools,
            logit_bias: ask.logit_bias.as_ref(),
            logprobs: ask.logprobs,
            json_schema: ask.json_schema.as_ref(),
            entry: self.model.entry.as_ref(),
            chat_id: Some(&self.scene.chat.id),
            profile: self.profile,
        };
        Value::Object(params(&p, &messages, &mut |text| scope.expand(text)))
    }

    /// How the reply is to be read.
    pub(super) fn reading(&self, continued: &str, scope: &mut Expander<'_>) -> Reading {
        let ask = reply::Ask {
            speaker: Some(self.speaker),
            kind: self.options.kind,
            continued,
            extra_stops: &self.options.ask.stop,
            ..reply::Ask::default()
        };
        reply::reading(self.scene, &ask, self.profile, &mut |text| scope.expand(text))
    }
}

/// Where the context begins, as the chat's metadata keep it for the next request: ST counts every message of the user's and
/// the assistant's role back from the end; with `prompt.history` on it is the oldest chat message that is in (spec 02 F-39).
pub(super) fn context_start(about: &About<'_>, assembled: &Assembled, report: &Report) -> usize {
    let length = about.scene.chat.messages.len();
    if about.profile.on(&PROMPT_HISTORY) {
        return report.cut.first_included_index.unwrap_or(length);
    }
    let spoken = assembled.items.iter().filter(|i| matches!(i.role.as_str(), "user" | "assistant")).count();
    let replaced = matches!(about.options.kind, Kind::Swipe | Kind::Regenerate | Kind::Continue);
    length.saturating_sub(spoken + usize::from(replaced))
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

/// Context and response size.
fn sizes(scene: &Scene, options: &TurnOptions) -> (i64, i64) {
    // What is no number leaves room for nothing, as every comparison with it fails.
    let read = |key: &str, default: f64| {
        let n = scene.preset.number(key, default);
        if n.is_nan() { None } else { Some(js::to_integer(n.floor())) }
    };
    let context = options.max_context.or_else(|| read("openai_max_context", 4095.0));
    let response = options.max_response.or_else(|| read("openai_max_tokens", 300.0));
    (context.unwrap_or(i64::MIN / 4), response.unwrap_or(i64::MAX / 4))
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
    let mes = scope.expand(&first.mes);
    if mes != first.mes {
        if let Some(first) = chat.to_mut().first_mut() {
            first.mes.clone_from(&mes);
        }
        scope.effects.chat.push(ChatEdit::Text { index: 0, mes });
    }
    chat
}

/// Lorebook outlets as macros read them.
pub(super) fn outlet_texts(lore: &LoreResult) -> IndexMap<String, String> {
    lore.outlets.iter().map(|(name, texts)| (name.clone(), texts.join("\n"))).collect()
}

/// Messages that scripts left nothing of.
pub(super) fn emptied(lines: &[Line<'_>]) -> Vec<Warning> {
    let of = |line: &Line<'_>| {
        let change = line.changes.iter().find(|c| c.emptied)?;
        let message = format!("script {:?} left nothing of the message", change.script);
        Some(Warning::new("script.emptied", format!("chat[{}]", line.index), message))
    };
    lines.iter().filter_map(of).collect()
}
