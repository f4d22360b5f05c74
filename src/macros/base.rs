//! A scene and its speaker -> the environment that macros read: names, lists, card fields, templates, host values.
//!
//! Spec: 04 §2, 01 §6, §7, §9. Differs under `macros.not_char` (fault F5) and `macros.card_fields` (F4, F14: a field is expanded once a
//! request, and may name other fields).

use std::borrow::Cow;
use std::cell::OnceCell;

use indexmap::IndexMap;
use serde_json::Value;

use super::card::{self, FieldSource};
use super::env::{CardTexts, Engine, Env, InstructTexts, Trust};
use super::eval::Shared;
use super::table::Field;
use crate::host::Host;
use crate::js;
use crate::parts::{Effects, Role};
use crate::profile::{self, Profile};
use crate::scene::{Character, ChatMessage, DepthPrompt, Group, Object, Scene};

/// Owns what an [`Env`] borrows. Make one a request and speaker; the texts in it may be replaced before [`EnvBase::env`] is called.
#[derive(Debug)]
pub struct EnvBase<'a> {
    pub(super) scene: &'a Scene,
    pub(super) speaker: Option<usize>,
    profile: &'a Profile,
    /// The chat as this request sees it (default: the scene's).
    pub chat: Cow<'a, [ChatMessage]>,
    /// `{{char}}`
    pub char: String,
    /// `{{group}}`
    pub group: String,
    /// `{{groupNotMuted}}`
    pub group_not_muted: String,
    /// `{{notChar}}`
    pub not_char: String,
    /// Templates of text completion.
    pub instruct: InstructTexts,
    /// Values of the host by macro name (see [`Env::values`]).
    pub values: IndexMap<String, String>,
    /// Lorebook outlets.
    pub outlets: IndexMap<String, String>,
    /// `{{model}}`
    pub model: String,
    /// `{{maxContext}}`, tokens.
    pub max_context: i64,
    /// `{{maxResponse}}`, tokens.
    pub max_response: i64,
    /// `{{lastGenerationType}}`
    pub last_generation_type: String,
    /// `{{input}}`
    pub input: String,
    /// Chat completion is used (default: unless the scene asks for text completion).
    pub chat_completion: bool,
    /// What `{{original}}` is where no text has one (default: the macro stays).
    pub original: Option<&'static str>,
    pub(super) memo: [OnceCell<String>; Field::COUNT],
    pub(super) greetings: OnceCell<Vec<String>>,
}

/// A member's note at depth, expanded (spec 01 §7).
#[derive(Clone, Debug, PartialEq)]
pub struct DepthNote {
    /// Injection key: `DEPTH_PROMPT`, or `DEPTH_PROMPT_0` … in the join modes.
    pub key: String,
    /// Index of the character.
    pub character: usize,
    /// The text, not empty.
    pub text: String,
    /// Messages from the end of the chat.
    pub depth: i64,
    /// Whose voice.
    pub role: Role,
}

/// The built-in system prompt of text completion.
const SYSTEM_PROMPT: &str = "Write {{char}}'s next reply in a fictional chat between {{char}} and {{user}}.";

/// What `{{hasExtension}}` finds: the extensions that come with the reference, one a line.
const EXTENSIONS: &str = "assets\nattachments\ncaption\nconnection-manager\nexpressions\ngallery\nmemory\nquick-reply\nregex\n\
    stable-diffusion\ntoken-counter\ntranslate\ntts\nvectors";

impl<'a> EnvBase<'a> {
    /// The environment of a scene for a speaker (an index into `scene.characters`; `None` before one is chosen). Nothing is
    /// expanded yet: card fields are when they are read.
    pub fn new(scene: &'a Scene, speaker: Option<usize>, profile: &'a Profile) -> Self {
        let character = speaker.and_then(|i| scene.characters.get(i));
        let char = character.map_or("", |c| c.name.as_str());
        let user = scene.persona.name.as_str();
        let (group, group_not_muted, not_char) = match &scene.group {
            None => (char.to_owned(), char.to_owned(), user.to_owned()),
            Some(group) => group_lists(scene, group, char, character, not_char_kind(scene, profile)),
        };
        Self {
            scene,
            speaker,
            profile,
            chat: Cow::Borrowed(&scene.chat.messages),
            char: char.to_owned(),
            group,
            group_not_muted,
            not_char,
            instruct: instruct_texts(&scene.settings.power_user),
            values: values(scene, character),
            outlets: IndexMap::new(),
            model: model(scene),
            max_context: scene.text.as_ref().map_or_else(
                || js::to_integer(scene.preset.number("openai_max_context", 4095.0)),
                |text| text.max_context,
            ),
            max_response: scene.text.as_ref().map_or_else(
                || js::to_integer(scene.preset.number("openai_max_tokens", 300.0)),
                |text| text.response_length,
            ),
            last_generation_type: String::new(),
            input: String::new(),
            chat_completion: scene.text.is_none(),
            original: None,
            memo: [const { OnceCell::new() }; Field::COUNT],
            greetings: OnceCell::new(),
        }
    }

    /// The environment. Change fields by struct update: `Env { original: Some(text), ..base.env() }`.
    pub fn env(&self) -> Env<'_> {
        let engine = if self.scene.settings.experimental_macro_engine { Engine::New } else { Engine::Legacy };
        Env {
            engine,
            profile: self.profile,
            user: &self.scene.persona.name,
            char: &self.char,
            group: &self.group,
            group_not_muted: &self.group_not_muted,
            not_char: &self.not_char,
            card: None,
            source: Some(self),
            trust: Trust::Full,
            post_process: None,
            original: self.original,
            chat: &self.chat,
            chat_id: &self.scene.chat.id,
            metadata: &self.scene.chat.metadata,
            globals: &self.scene.global_variables,
            outlets: &self.outlets,
            dynamic: &self.scene.macros,
            model: &self.model,
            max_context: self.max_context,
            max_response: self.max_response,
            last_generation_type: &self.last_generation_type,
            input: &self.input,
            instruct: &self.instruct,
            chat_completion: self.chat_completion,
            reasoning: [
                &self.scene.settings.reasoning.prefix,
                &self.scene.settings.reasoning.suffix,
                &self.scene.settings.reasoning.separator,
            ],
            values: &self.values,
            collapse_newlines: self.scene.settings.collapse_newlines,
        }
    }

    /// The speaker.
    pub fn character(&self) -> Option<&'a Character> {
        self.scene.characters.get(self.speaker?)
    }

    /// All card fields expanded, in the reference's order (spec 02 §8.5 step 1): what the slots of a prompt hold. In the join modes
    /// four of them hold every member's (spec 01 §6.2).
    pub fn card_texts(&self, host: &mut Host, effects: &mut Effects) -> CardTexts {
        let env = self.env();
        let mut shared = Shared::default();
        let mut read = |field| card::field(&env, field, host, effects, &mut shared);
        let char_prompt = read(Field::CharPrompt);
        let mes_examples_raw = read(Field::MesExamplesRaw);
        let description = read(Field::Description);
        let personality = read(Field::Personality);
        let persona = read(Field::Persona);
        let scenario = read(Field::Scenario);
        let char_instruction = read(Field::CharInstruction);
        let depth_prompt = read(Field::DepthPrompt);
        let creator_notes = read(Field::CreatorNotes);
        let first_message = read(Field::FirstMessage);
        CardTexts {
            char_prompt,
            char_instruction,
            description,
            personality,
            scenario,
            persona,
            mes_examples_raw,
            version: card::version(&env),
            depth_prompt,
            creator_notes,
            first_message,
            alternate_greetings: card::greetings(&env, host, effects, &mut shared),
        }
    }

    /// The notes at depth of the speaker, or in the join modes of the members (spec 01 §7).
    pub fn depth_notes(&self, host: &mut Host, effects: &mut Effects) -> Vec<DepthNote> {
        let mut notes = Vec::new();
        let mode = self.scene.group.as_ref().and_then(|g| g.generation_mode.as_ref());
        let collects = mode.is_some_and(|m| m.as_f64() != Some(0.0));
        if let Some(group) = self.scene.group.as_ref().filter(|_| collects) {
            for id in &group.members {
                let Some(at) = self.scene.character_index(id) else { continue };
                if group.is_muted(id) && Some(at) != self.speaker {
                    continue;
                }
                let Some(member) = self.scene.characters.get(at) else { continue };
                let raw = js::trim(&member.depth_prompt.prompt);
                let text =
                    card::text_of(raw, &member.name, &self.env(), host, effects, &mut Shared::default());
                if !text.is_empty() {
                    let key = format!("DEPTH_PROMPT_{}", notes.len());
                    notes.push(depth_note(key, at, text, &member.depth_prompt));
                }
            }
        }
        if notes.is_empty()
            && let (Some(at), Some(own)) = (self.speaker, self.character())
        {
            let text = card::field(&self.env(), Field::DepthPrompt, host, effects, &mut Shared::default());
            if !text.is_empty() {
                notes.push(depth_note("DEPTH_PROMPT".to_owned(), at, text, &own.depth_prompt));
            }
        }
        notes
    }

    /// `{{notChar}}` seen from another name: texts that are expanded in a member's name.
    pub(super) fn not_char_of(&self, name: &str) -> String {
        match &self.scene.group {
            None => self.not_char.clone(),
            Some(group) => {
                let member = self.scene.members().find(|c| c.name == name);
                group_lists(self.scene, group, name, member, not_char_kind(self.scene, self.profile)).2
            }
        }
    }

    /// Where a card field comes from.
    pub(super) fn field_source(&self, field: Field) -> FieldSource<'a> {
        card::source(self.scene, self.character(), field)
    }
}

fn depth_note(key: String, character: usize, text: String, prompt: &DepthPrompt) -> DepthNote {
    let role = match &prompt.role {
        Value::String(s) => match s.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => Role::System,
        },
        v => v.as_f64().map_or(Role::System, |n| Role::from_number(js::to_integer(n))),
    };
    DepthNote { key, character, text, depth: prompt.depth, role }
}

/// What `{{notChar}}` of a group holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NotChar {
    /// Members who are not muted and have another name (fault F5).
    Short,
    /// The legacy engine: members of another name, then the user.
    Legacy,
    /// Everyone but the speaker, then the user.
    Everyone,
}

fn not_char_kind(scene: &Scene, profile: &Profile) -> NotChar {
    if profile.on(&profile::MACROS_NOT_CHAR) {
        NotChar::Everyone
    } else if scene.settings.experimental_macro_engine {
        NotChar::Short
    } else {
        NotChar::Legacy
    }
}

/// The three lists of a group (spec 04 §2.1).
fn group_lists(
    scene: &Scene,
    group: &Group,
    name: &str,
    speaker: Option<&Character>,
    kind: NotChar,
) -> (String, String, String) {
    let found = |id: &&String| scene.character(id.as_str());
    let all: Vec<&Character> = group.members.iter().filter_map(|id| found(&id)).collect();
    let enabled: Vec<&Character> =
        group.members.iter().filter(|id| !group.is_muted(id)).filter_map(|id| found(&id)).collect();
    let join = |list: &[&str]| list.join(", ");
    let names = |list: &[&Character]| join(&list.iter().map(|c| c.name.as_str()).collect::<Vec<_>>());
    let id = speaker.map_or("", |c| c.avatar.as_str());
    let pool = if kind == NotChar::Short { &enabled } else { &all };
    let other = |c: &&&Character| if kind == NotChar::Everyone { c.avatar != id } else { c.name != name };
    let mut others: Vec<&str> = pool.iter().filter(other).map(|c| c.name.as_str()).collect();
    if kind != NotChar::Short {
        others.push(&scene.persona.name);
    }
    let not_char = join(&others);
    (names(&all), names(&enabled), not_char)
}

fn text_at<'v>(object: Option<&'v Value>, key: &str, default: &'v str) -> String {
    object.and_then(|o| o.get(key)).and_then(Value::as_str).unwrap_or(default).to_owned()
}

fn instruct_texts(power_user: &Object) -> InstructTexts {
    let instruct = power_user.get("instruct");
    let flag = |v: Option<&Value>, key: &str, default: bool| {
        v.and_then(|o| o.get(key)).map_or(default, js::to_boolean)
    };
    let sequences = instruct
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())))
        .collect();
    let system = power_user.get("sysprompt");
    let context = power_user.get("context");
    InstructTexts {
        enabled: flag(instruct, "enabled", false),
        sequences,
        system_prompt: flag(system, "enabled", true).then(|| text_at(system, "content", SYSTEM_PROMPT)),
        chat_start: text_at(context, "chat_start", "***"),
        example_separator: text_at(context, "example_separator", "***"),
    }
}

/// Values that the scene knows (spec 04 §11.9): notes, summary, image prefixes, the first message on the page.
fn values(scene: &Scene, speaker: Option<&Character>) -> IndexMap<String, String> {
    let extensions = &scene.settings.extensions;
    let note = extensions.get("note");
    let id = speaker.map_or("", |c| c.avatar.rsplit_once('.').map_or(c.avatar.as_str(), |(stem, _)| stem));
    let own_note = note
        .and_then(|n| n.get("chara"))
        .and_then(Value::as_array)
        .and_then(|list| list.iter().find(|n| n.get("name").and_then(Value::as_str) == Some(id)));
    let image = extensions.get("sd");
    let summary = scene
        .chat
        .messages
        .iter()
        .rev()
        .skip(1)
        .find_map(|m| m.extra("memory").and_then(Value::as_str).filter(|s| !s.is_empty()));
    let shown = match scene.settings.power_user.get("chat_truncation").map_or(100.0, js::value_to_number) {
        n if n > 0.0 => usize::try_from(js::to_integer(n)).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let count = scene.chat.messages.len();
    let first = if count == 0 { String::new() } else { count.saturating_sub(shown).to_string() };
    [
        ("authorsnote", scene.chat.meta_text("note_prompt").to_owned()),
        ("charauthorsnote", text_at(own_note, "prompt", "")),
        ("defaultauthorsnote", text_at(note, "default", "")),
        ("summary", summary.unwrap_or("").to_owned()),
        ("charprefix", text_at(image.and_then(|s| s.get("character_prompts")), id, "")),
        ("charnegativeprefix", text_at(image.and_then(|s| s.get("character_negative_prompts")), id, "")),
        ("firstdisplayedmessageid", first),
        ("ismobile", "false".to_owned()),
        ("extensions", EXTENSIONS.to_owned()),
    ]
    .into_iter()
    .map(|(k, v)| (k.to_owned(), v))
    .collect()
}

/// The chosen model of the chosen source.
fn model(scene: &Scene) -> String {
    if let Some(text) = &scene.text {
        return text.status.clone().or_else(|| text.model.clone()).unwrap_or_default();
    }
    let source = scene.preset.text("chat_completion_source", "openai");
    let key = match source {
        "makersuite" => "google_model".to_owned(),
        other => format!("{other}_model"),
    };
    scene.preset.text(&key, "").to_owned()
}
