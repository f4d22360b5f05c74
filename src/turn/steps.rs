//! The small steps of a turn that belong to no module above: who speaks, sizes, what was said, the payload, how to read.

use serde_json::Value;

use super::TurnOptions;
use crate::error::{Code, Error};
use crate::history::{Line, Names, RecordRules, Rules, reply_bias};
use crate::injections::{Injections, author_note, persona};
use crate::js;
use crate::lore::{ExamplePlace, LoreResult, lore_at_depth, merge_lore};
use crate::macros::{CardTexts, Expander};
use crate::models::{Model, Params, params};
use crate::parts::{Kind, Reading};
use crate::profile::{PROMPT_CONTINUE, PROMPT_EXAMPLES, PROMPT_NUDGES, Profile};
use crate::prompt::chat::{Assembled, Item, Supplied};
use crate::scene::{Character, PersonaPosition, Scene};
use crate::templates::{Example, Speakers, parse_example, split_examples};

/// Who speaks: the one asked for, else the single chat's character, else the first.
pub(super) fn speaker<'a>(scene: &'a Scene, options: &TurnOptions) -> Result<&'a Character, Error> {
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
pub(super) fn sizes(scene: &Scene, options: &TurnOptions) -> (i64, i64) {
    // What is no number leaves room for nothing, as every comparison with it fails.
    let read = |key: &str, default: f64| {
        let n = scene.preset.number(key, default);
        if n.is_nan() { None } else { Some(js::to_integer(n.floor())) }
    };
    let context = options.max_context.or_else(|| read("openai_max_context", 4095.0));
    let response = options.max_response.or_else(|| read("openai_max_tokens", 300.0));
    (context.unwrap_or(i64::MIN / 4), response.unwrap_or(i64::MAX / 4))
}

/// The generation type that triggers look at.
pub(super) fn trigger(options: &TurnOptions, profile: &Profile) -> Kind {
    if profile.on(&PROMPT_NUDGES) {
        return options.action.unwrap_or(options.kind);
    }
    if options.tool_round > 0 { Kind::Normal } else { options.kind }
}

/// Texts that this call brings, expanded once.
pub(super) struct Said {
    quiet: String,
    bias: String,
}

impl Said {
    pub(super) fn read(scene: &Scene, options: &TurnOptions, scope: &mut Expander<'_>) -> Self {
        let quiet = options.quiet.as_ref().map_or("", |q| q.prompt.as_str());
        let chat = &scene.chat.messages;
        let bias = reply_bias(chat, options.kind, &options.bias, &scene.settings.user_prompt_bias);
        Self { quiet: scope.expand(quiet), bias: scope.expand(bias) }
    }
}

pub(super) fn line_rules<'a>(
    scene: &'a Scene,
    options: &TurnOptions,
    speaker: &'a Character,
    tools: bool,
    profile: &'a Profile,
) -> Rules<'a> {
    Rules {
        kind: options.kind,
        tools,
        only_reasoning_of: scene.group.is_some().then_some(speaker.name.as_str()),
        reasoning: &scene.settings.reasoning,
        profile,
    }
}

pub(super) fn record_rules<'a>(
    scene: &'a Scene,
    speaker: &'a Character,
    model: &'a Model,
    profile: &'a Profile,
) -> RecordRules<'a> {
    RecordRules {
        names: Names::of(&scene.preset),
        user: &scene.persona.name,
        char: &speaker.name,
        in_group: scene.group.is_some(),
        source: model.source.as_str(),
        model: &model.name,
        media_display: scene
            .settings
            .power_user
            .get("media_display")
            .and_then(Value::as_str)
            .unwrap_or("list"),
        profile,
    }
}

/// Author's note with lorebook lines and persona, lorebook texts at depth.
pub(super) fn place_notes(
    injections: &mut Injections,
    scene: &Scene,
    speaker: &Character,
    options: &TurnOptions,
    lore: &LoreResult,
    profile: &Profile,
) {
    if options.quiet.as_ref().is_some_and(|q| q.skip_lore) {
        return;
    }
    merge_lore(injections, &author_note(scene, speaker), lore, &scene.persona, profile);
    lore_at_depth(injections, lore);
    persona(injections, &scene.persona);
}

/// Example blocks of the card and of lorebooks, read.
pub(super) fn examples(
    scene: &Scene,
    speaker: &Character,
    card: &str,
    lore: &LoreResult,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> Vec<Vec<Example>> {
    if scene.settings.strip_examples {
        return Vec::new();
    }
    let tolerant = profile.on(&PROMPT_EXAMPLES);
    let mut blocks = split_examples(card, tolerant);
    for (place, text) in &lore.examples {
        let read = split_examples(&scope.card_text(text, &speaker.name), tolerant);
        match place {
            ExamplePlace::Top => _ = blocks.splice(0..0, read),
            ExamplePlace::Bottom => blocks.extend(read),
        }
    }
    let members: Vec<String> = scene.members().map(|c| c.name.clone()).collect();
    let speakers = Speakers { user: &scene.persona.name, char: &speaker.name, members: &members };
    blocks.iter().map(|block| parse_example(block, &speakers, tolerant)).collect()
}

/// The text to be continued, postfix included; empty when nothing is.
pub(super) fn continued(lines: &[Line<'_>], kind: Kind, scene: &Scene, profile: &Profile) -> String {
    let Some(last) = lines.last().filter(|_| kind == Kind::Continue) else { return String::new() };
    let postfix = scene.preset.utility("continue_postfix");
    let covered = if profile.on(&PROMPT_CONTINUE) {
        last.text.ends_with(js::is_space)
    } else {
        last.text.ends_with(' ')
    };
    if covered { last.text.clone() } else { format!("{}{postfix}", last.text) }
}

pub(super) fn supplied<'a>(
    scene: &'a Scene,
    speaker: &'a Character,
    card: &'a CardTexts,
    lore: &'a LoreResult,
    said: &'a Said,
    trigger: &'a str,
) -> Supplied<'a> {
    let in_slot = scene.persona.position == PersonaPosition::InPrompt;
    Supplied {
        trigger,
        lore_before: &lore.before,
        lore_after: &lore.after,
        description: &card.description,
        personality: &card.personality,
        scenario: &card.scenario,
        system: &card.char_prompt,
        post_history: &card.char_instruction,
        persona: if in_slot { &scene.persona.description } else { "" },
        quiet: &said.quiet,
        bias: &said.bias,
        speaker: &speaker.avatar,
    }
}

/// The neutral payload.
#[expect(clippy::too_many_arguments, reason = "one call, from one place, of what the turn has made")]
pub(super) fn payload(
    scene: &Scene,
    options: &TurnOptions,
    speaker: &Character,
    model: &Model,
    sizes: (i64, i64),
    reading: &Reading,
    assembled: &Assembled,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> Value {
    let group: Vec<String> = scene.members().map(|c| c.name.clone()).collect();
    let mut settings = scene.preset.values.clone();
    if options.max_response.is_some() {
        settings.insert("openai_max_tokens".into(), Value::from(sizes.1));
    }
    let stop: Vec<String> = reading.stop.iter().map(|s| s.text.clone()).collect();
    let messages: Vec<Value> = assembled.items.iter().map(Item::to_value).collect();
    let p = Params {
        settings: &settings,
        source: model.source,
        model: &model.name,
        kind: options.kind.as_str(),
        user: &scene.persona.name,
        char: &speaker.name,
        group: &group,
        stop: &stop,
        tools: &options.ask.tools,
        logit_bias: options.ask.logit_bias.as_ref(),
        logprobs: options.ask.logprobs,
        json_schema: options.ask.json_schema.as_ref(),
        entry: model.entry.as_ref(),
        chat_id: Some(&scene.chat.id),
        profile,
    };
    Value::Object(params(&p, &messages, &mut |text| scope.expand(text)))
}
