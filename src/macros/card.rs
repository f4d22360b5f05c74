//! Card fields: where each comes from, and how it is expanded when it is read.
//!
//! Spec: 04 §2.2, 01 §6. Differs under `macros.card_fields`: fields may name other fields (a field that is being expanded is empty), and
//! one request expands each once.

use serde_json::Value;

use super::env::{Env, Trust};
use super::eval::{Fixes, Run, Shared, substitute};
use super::legacy;
use super::post::{starts_with_ci, with_original};
use super::table::Field;
use super::{Engine, EnvBase};
use crate::host::Host;
use crate::js;
use crate::parts::Effects;
use crate::profile::PROMPT_ONCE;
use crate::scene::{Character, Group, Scene};

/// What a card field is made of.
#[derive(Clone, Debug)]
pub(super) enum FieldSource<'a> {
    /// One text, expanded with the speaker's name.
    Text(&'a str),
    /// One a member, each expanded with that member's name; an override of the chat wins if it is not empty.
    Joined { override_text: &'a str, parts: Vec<JoinedPart<'a>> },
}

#[derive(Clone, Debug)]
pub(super) struct JoinedPart<'a> {
    name: &'a str,
    /// Prefix, value, suffix with the field's name filled in.
    texts: [String; 3],
}

/// The source of a field for the speaker of a scene.
pub(super) fn source<'a>(scene: &'a Scene, speaker: Option<&'a Character>, field: Field) -> FieldSource<'a> {
    if field == Field::Persona {
        return FieldSource::Text(js::trim(&scene.persona.description));
    }
    let Some(card) = speaker else { return FieldSource::Text("") };
    let over = |key: &str, own: &'a str| {
        let text = scene.chat.metadata.get(key).and_then(Value::as_str).unwrap_or("");
        if text.is_empty() { own } else { text }
    };
    let text = match field {
        Field::CharPrompt if scene.settings.prefer_character_prompt => {
            over("system_prompt", &card.system_prompt)
        }
        Field::CharInstruction if scene.settings.prefer_character_jailbreak => {
            &card.post_history_instructions
        }
        Field::CharPrompt | Field::CharInstruction => "",
        Field::DepthPrompt => &card.depth_prompt.prompt,
        Field::CreatorNotes => &card.creator_notes,
        Field::FirstMessage => &card.first_mes,
        Field::Description
        | Field::Personality
        | Field::Scenario
        | Field::MesExamplesRaw
        | Field::Persona => {
            let (label, key, own): (_, _, fn(&Character) -> &str) = match field {
                Field::Description => ("Description", "", |c| &c.description),
                Field::Personality => ("Personality", "", |c| &c.personality),
                Field::Scenario => ("Scenario", "scenario", |c| &c.scenario),
                _ => ("Example Messages", "mes_example", |c| &c.mes_example),
            };
            let joins =
                |g: &&Group| g.generation_mode.as_ref().is_some_and(js::to_boolean) && !g.members.is_empty();
            match scene.group.as_ref().filter(joins) {
                Some(group) => {
                    let override_text = if key.is_empty() { "" } else { scene.chat.meta_text(key) };
                    let parts = joined(scene, group, card, label, own);
                    return FieldSource::Joined { override_text: js::trim(override_text), parts };
                }
                None if key.is_empty() => own(card),
                None => over(key, own(card)),
            }
        }
    };
    FieldSource::Text(js::trim(text))
}

/// One part a member (spec 01 §6.2).
fn joined<'a>(
    scene: &'a Scene,
    group: &Group,
    speaker: &Character,
    label: &str,
    own: fn(&Character) -> &str,
) -> Vec<JoinedPart<'a>> {
    let everyone = group.generation_mode.as_ref().and_then(Value::as_f64) == Some(2.0);
    let mut parts = Vec::new();
    for id in &group.members {
        let Some(member) = scene.character(id) else { continue };
        if group.is_muted(id) && !everyone && member.avatar != speaker.avatar {
            continue;
        }
        let mut value = js::trim(own(member)).to_owned();
        if value.is_empty() {
            continue;
        }
        if label == "Example Messages" && !value.starts_with("<START>") {
            value.insert_str(0, "<START>\n");
        }
        let named = |text: &str| fill_field_name(text, label);
        let value = js::trim(&named(&value)).to_owned();
        parts.push(JoinedPart {
            name: &member.name,
            texts: [named(&group.join_prefix), value, named(&group.join_suffix)],
        });
    }
    parts
}

/// Replaces `<FIELDNAME>` in any case.
fn fill_field_name(text: &str, label: &str) -> String {
    const MARK: &str = "<FIELDNAME>";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let found = starts_with_ci(tail, MARK);
        out.push_str(if found { label } else { "<" });
        rest = tail.get(if found { MARK.len() } else { 1 }..).unwrap_or("");
    }
    out + rest
}

/// What the user's setting and the prompt need: runs of line feeds collapsed, carriage returns removed.
pub(super) fn tidy(text: String, collapse: bool) -> String {
    if !(text.contains('\r') || collapse && text.contains("\n\n")) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Runs are found before carriage returns go, so a run broken by one stays.
        if !(collapse && c == '\n' && out.ends_with('\n')) {
            out.push(c);
        }
    }
    out.replace('\r', "")
}

/// A card text expanded without card macros (or, under `macros.card_fields`, with those that are not being expanded).
pub(super) fn text_of(
    raw: &str,
    name: &str,
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
    shared: &mut Shared,
) -> String {
    let nested = Fixes::of(env.profile).card_fields;
    let (card, source) = if nested { (env.card, env.source) } else { (None, None) };
    let other = env.source.filter(|_| name != env.char).map(|base| base.not_char_of(name));
    let not_char = other.as_deref().unwrap_or(env.not_char);
    let original = env.original.filter(|_| drops_original(env));
    let inner =
        Env { char: name, not_char, card, source, original, dynamic: &[], post_process: None, ..*env };
    let text = match env.engine {
        Engine::New => substitute(raw, &inner, host, effects, shared),
        Engine::Legacy => legacy::substitute(raw, &inner, host, effects, shared),
    };
    tidy(text, env.collapse_newlines)
}

/// What is left of `{{original}}` where no text has one goes (fault F12).
fn drops_original(env: &Env<'_>) -> bool {
    env.original == Some("") && env.profile.on(&PROMPT_ONCE)
}

/// The environment of a source's own texts: its names, whatever the text that reads it was given.
fn own_env<'e>(env: &Env<'e>, base: &'e EnvBase<'e>, trust: Trust) -> Env<'e> {
    let own = base.env();
    Env {
        user: own.user,
        char: own.char,
        group: own.group,
        group_not_muted: own.group_not_muted,
        not_char: own.not_char,
        trust: env.trust.min(trust),
        ..*env
    }
}

/// A card field for a macro; empty without a card.
pub(super) fn field(
    env: &Env<'_>,
    field: Field,
    host: &mut Host,
    effects: &mut Effects,
    shared: &mut Shared,
) -> String {
    if let Some(texts) = env.card {
        return given(texts, field).to_owned();
    }
    let Some(base) = env.source else { return String::new() };
    let once = Fixes::of(env.profile).card_fields;
    let at = field.index();
    if once && let Some(text) = base.memo.get(at).and_then(|m| m.get()) {
        return text.clone();
    }
    if !once && let Some(Some(text)) = shared.memo.get(at) {
        return text.clone();
    }
    if shared.busy.get(at) == Some(&true) {
        shared.cycle = true;
        return String::new();
    }
    set(&mut shared.busy, at, true);
    let trust = if field == Field::Persona { Trust::Full } else { Trust::Card };
    let mut own = own_env(env, base, trust);
    if matches!(field, Field::CharPrompt | Field::CharInstruction) {
        own.original = None; // these may still get theirs
    }
    let text = match base.field_source(field) {
        FieldSource::Text(raw) => text_of(raw, own.char, &own, host, effects, shared),
        FieldSource::Joined { override_text, parts } => {
            let chosen = text_of(override_text, own.char, &own, host, effects, shared);
            if chosen.is_empty() { join(&parts, &own, host, effects, shared) } else { chosen }
        }
    };
    set(&mut shared.busy, at, false);
    let settled = !shared.busy.contains(&true);
    if once {
        // What was read inside a cycle is not the field's real text.
        if (settled || !shared.cycle)
            && let Some(memo) = base.memo.get(at)
        {
            let _ = memo.set(text.clone());
        }
    } else {
        set(&mut shared.memo, at, Some(text.clone()));
    }
    if settled {
        shared.cycle = false;
    }
    text
}

fn join(
    parts: &[JoinedPart<'_>],
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
    shared: &mut Shared,
) -> String {
    let mut texts = Vec::new();
    for part in parts {
        let text: String =
            part.texts.iter().map(|t| text_of(t, part.name, env, host, effects, shared)).collect();
        if !text.is_empty() {
            texts.push(text);
        }
    }
    texts.join("\n")
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

fn given(texts: &super::CardTexts, field: Field) -> &str {
    match field {
        Field::CharPrompt => &texts.char_prompt,
        Field::CharInstruction => &texts.char_instruction,
        Field::Description => &texts.description,
        Field::Personality => &texts.personality,
        Field::Scenario => &texts.scenario,
        Field::Persona => &texts.persona,
        Field::MesExamplesRaw => &texts.mes_examples_raw,
        Field::DepthPrompt => &texts.depth_prompt,
        Field::CreatorNotes => &texts.creator_notes,
        Field::FirstMessage => &texts.first_message,
    }
}

/// The alternate greetings, all expanded when the first one is read.
pub(super) fn greetings(
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
    shared: &mut Shared,
) -> Vec<String> {
    if let Some(texts) = env.card {
        return texts.alternate_greetings.clone();
    }
    let Some(base) = env.source else { return Vec::new() };
    let once = Fixes::of(env.profile).card_fields;
    let known = if once { base.greetings.get() } else { shared.greetings.as_ref() };
    if let Some(list) = known {
        return list.clone();
    }
    let own = own_env(env, base, Trust::Card);
    let raw = base.character().and_then(|c| c.alternate_greetings.as_deref()).unwrap_or(&[]);
    let list: Vec<String> =
        raw.iter().map(|text| text_of(js::trim(text), own.char, &own, host, effects, shared)).collect();
    if once {
        let _ = base.greetings.set(list.clone());
    } else {
        shared.greetings = Some(list.clone());
    }
    list
}

/// The card's version, never expanded.
pub(super) fn version(env: &Env<'_>) -> String {
    match (env.card, env.source) {
        (Some(texts), _) => texts.version.clone(),
        (None, Some(base)) => base.character().map_or_else(String::new, |c| c.version.clone()),
        (None, None) => String::new(),
    }
}

impl Run<'_, '_> {
    pub(super) fn card_field(&mut self, which: Field) -> String {
        let text = field(&self.env, which, self.host, self.effects, self.shared);
        let overrides = matches!(which, Field::CharPrompt | Field::CharInstruction);
        if overrides && drops_original(&self.env) { with_original(&text, "") } else { text }
    }

    pub(super) fn greeting(&mut self, n: usize) -> String {
        let list = greetings(&self.env, self.host, self.effects, self.shared);
        list.get(n).cloned().unwrap_or_default()
    }

    pub(super) fn version(&self) -> String {
        version(&self.env)
    }

    /// A setting's text expanded in a call of its own.
    pub(super) fn sub(&mut self, text: &str) -> String {
        substitute(text, &self.env, self.host, self.effects, self.shared)
    }
}
