//! The prompt collection: the preset's prompts in order, merged with what the scene supplies (spec 02 §8).

use std::borrow::Cow;

use serde_json::Value;

use crate::history::Piece;
use crate::injections::{
    AUTHOR_NOTE, DATA_BANK, DEPTH_PROMPT, Injection, Injections, PERSONA, Position, QUIET, SMART_CONTEXT,
    SUMMARY, VECTORS,
};
use crate::js;
use crate::macros::{Expander, Trust, with_original};
use crate::parts::{Omitted, Origin, OriginKind, Role};
use crate::profile::{PROMPT_INJECTIONS, PROMPT_ONCE, PROMPT_ORDER, Profile};
use crate::scene::{OrderEntry, Preset, PromptEntry, is_built_in};

use super::item::End;

/// A prompt ready to be placed. Its index in the collection is its slot.
#[expect(clippy::struct_excessive_bools, reason = "marks of a prompt, each independent of the others")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    /// Its identifier.
    pub id: String,
    /// The role, as given.
    pub role: Option<String>,
    /// The text, expanded.
    pub content: String,
    /// The user's own: `system_prompt` is exactly false.
    pub users: bool,
    /// In the chat, not in a slot.
    pub absolute: bool,
    /// Depth, when absolute.
    pub depth: Option<i64>,
    /// Order at that depth; higher is nearer to the reply.
    pub order: f64,
    /// Cards may not replace it.
    pub forbids_overrides: bool,
    /// Only an anchor: its own text is excluded.
    pub excluded: bool,
    /// For relative injections: which side of the main prompt.
    pub side: Option<End>,
    /// An injection of a key that the reference does not know.
    pub extension: bool,
    /// Sources of the text.
    pub pieces: Vec<Piece>,
    /// How far the macros of the text may go.
    pub trust: Trust,
    raw_position: Option<Value>,
    raw_depth: Option<Value>,
    raw_order: Option<Value>,
}

/// The collection, in slot order.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// The order list in force.
    order: Vec<OrderEntry>,
}

/// What the scene supplies, each text expanded once.
#[derive(Clone, Debug, Default)]
pub struct Supplied<'a> {
    /// Generation type that triggers look at.
    pub trigger: &'a str,
    /// Lorebook slots.
    pub lore_before: &'a str,
    /// See `lore_before`.
    pub lore_after: &'a str,
    /// Card fields.
    pub description: &'a str,
    /// See `description`.
    pub personality: &'a str,
    /// See `description`.
    pub scenario: &'a str,
    /// The card's main prompt; empty for none.
    pub system: &'a str,
    /// The card's post-history instructions; empty for none.
    pub post_history: &'a str,
    /// Persona for its slot, raw; empty when it goes elsewhere.
    pub persona: &'a str,
    /// Quiet instruction, expanded once; empty for none.
    pub quiet: &'a str,
    /// Reply bias, expanded once.
    pub bias: &'a str,
    /// Avatar of the speaker, for origins.
    pub speaker: &'a str,
}

impl Collection {
    /// Builds the collection in the reference's order of evaluation (spec 02 §8.5 steps 2 to 4).
    pub fn build(
        preset: &Preset,
        supplied: &Supplied<'_>,
        injections: &Injections,
        profile: &Profile,
        scope: &mut Expander<'_>,
        omitted: &mut Vec<Omitted>,
    ) -> Self {
        let texts = Texts::expand(preset, supplied, profile, scope);
        let mut collection = Self::from_order(preset, supplied.trigger, profile, scope, omitted);
        if profile.on(&PROMPT_INJECTIONS) && collection.get("main").is_none() {
            // Relative texts need an anchor, whatever the order says (spec 02 F-35).
            let anchor = Prompt { id: "main".to_owned(), excluded: true, ..Prompt::default() };
            collection.prompts.insert(0, anchor);
        }
        for entry in system_entries(supplied, &texts, injections, profile) {
            collection.merge(entry, profile, scope, omitted);
        }
        let overrides =
            [("main", supplied.system, "system"), ("jailbreak", supplied.post_history, "post_history")];
        for (id, text, field) in overrides {
            let origin = Origin {
                character: Some(supplied.speaker.to_owned()),
                ..Origin::new(OriginKind::Card, field)
            };
            collection.replace_by_card(id, text, origin, profile, scope, omitted);
        }
        for prompt in &mut collection.prompts {
            prompt.settle(profile);
        }
        collection
    }

    fn from_order(
        preset: &Preset,
        trigger: &str,
        profile: &Profile,
        scope: &mut Expander<'_>,
        omitted: &mut Vec<Omitted>,
    ) -> Self {
        let fixed = profile.on(&PROMPT_ORDER);
        let mut collection = Self { prompts: Vec::new(), order: preset.order(profile).into_owned() };
        let mut order = collection.order.clone();
        if fixed {
            let mut seen = indexmap::IndexSet::new();
            order.retain(|line| {
                let first = seen.insert(line.identifier.clone());
                if !first {
                    leave(omitted, &line.identifier, "duplicate_id");
                }
                first
            });
            collection.order.clone_from(&order);
        }
        for line in &order {
            let Some(prompt) = preset.prompt(&line.identifier) else {
                leave(omitted, &line.identifier, "unknown_prompt");
                continue;
            };
            let triggered =
                prompt.injection_trigger.is_empty() || prompt.injection_trigger.iter().any(|t| t == trigger);
            if line.enabled && triggered {
                let text = scope.expand(prompt.content.as_deref().unwrap_or(""));
                collection.prompts.push(Prompt::of(prompt, text));
            } else {
                leave(omitted, &line.identifier, if line.enabled { "trigger" } else { "disabled" });
                if prompt.identifier == "main" {
                    collection.prompts.push(Prompt { excluded: true, ..Prompt::of(prompt, String::new()) });
                }
            }
        }
        for prompt in &preset.prompts {
            if !order.iter().any(|line| line.identifier == prompt.identifier) {
                leave(omitted, &prompt.identifier, "not_in_order");
            }
        }
        collection
    }

    /// Replaces the prompt of that identifier, keeping its placement, or appends (spec 02 §8.3).
    fn merge(
        &mut self,
        mut entry: Prompt,
        profile: &Profile,
        scope: &mut Expander<'_>,
        omitted: &mut Vec<Omitted>,
    ) {
        if !profile.on(&PROMPT_ONCE) || entry.id == "personaDescription" || entry.side.is_some() {
            entry.content = scope.expand_as(&entry.content, entry.trust);
        }
        let found = self.prompts.iter_mut().find(|p| p.id == entry.id);
        let Some(old) = found.filter(|_| !(entry.extension && profile.on(&PROMPT_INJECTIONS))) else {
            // A marker that the order lacks or a trigger excludes has no slot (spec 02 F-10).
            if is_built_in(&entry.id) && !entry.extension && profile.on(&PROMPT_ORDER) {
                if !entry.content.is_empty() {
                    let origin = entry.pieces.first().map_or_else(
                        || Origin::new(OriginKind::Prompt, entry.id.clone()),
                        |(origin, _)| origin.clone(),
                    );
                    let detail = Some(serde_json::json!({"slot": entry.id}));
                    omitted.push(Omitted { detail, ..Omitted::new(origin, self.why_absent(&entry.id)) });
                }
                return;
            }
            self.prompts.push(entry);
            return;
        };
        let keep = |new: &mut Option<Value>, old: &Option<Value>| {
            if old.as_ref().is_some_and(|v| !v.is_null()) {
                new.clone_from(old);
            }
        };
        keep(&mut entry.raw_position, &old.raw_position);
        keep(&mut entry.raw_depth, &old.raw_depth);
        keep(&mut entry.raw_order, &old.raw_order);
        if old.role.is_some() {
            entry.role.clone_from(&old.role);
        }
        *old = entry;
    }

    fn why_absent(&self, id: &str) -> &'static str {
        match self.order.iter().find(|line| line.identifier == id) {
            None => "not_in_order",
            Some(line) if !line.enabled => "disabled",
            Some(_) => "trigger",
        }
    }

    /// Puts a card's text in the place of a prompt; `{{original}}` is the prompt's own (spec 02 §8.4).
    fn replace_by_card(
        &mut self,
        id: &str,
        text: &str,
        origin: Origin,
        profile: &Profile,
        scope: &mut Expander<'_>,
        omitted: &mut Vec<Omitted>,
    ) {
        if text.is_empty() {
            return;
        }
        let discarded = |p: &Prompt| self.is_disabled(id) || (p.excluded && profile.on(&PROMPT_ORDER));
        let discarded = self.get(id).is_none_or(discarded);
        let reason = match self.prompts.iter_mut().find(|p| p.id == id) {
            Some(prompt) if prompt.forbids_overrides => "override_forbidden",
            Some(prompt) if !discarded => {
                let own = std::mem::take(&mut prompt.content);
                // The field was expanded when it was read; only the macro for the prompt's own text is left.
                prompt.content = if profile.on(&PROMPT_ONCE) {
                    with_original(text, &own)
                } else {
                    scope.expand_original(text, &own)
                };
                prompt.pieces = vec![(origin, prompt.content.clone())];
                return;
            }
            _ => "override_discarded",
        };
        let detail = Some(serde_json::json!({"slot": id, "cause": self.why_absent(id)}));
        omitted.push(Omitted { detail, ..Omitted::new(origin, reason) });
    }

    /// Whether the order list switches a prompt off.
    pub fn is_disabled(&self, id: &str) -> bool {
        self.order.iter().find(|line| line.identifier == id).is_some_and(|line| !line.enabled)
    }

    /// The slot of an identifier.
    pub fn index(&self, id: &str) -> Option<usize> {
        self.prompts.iter().position(|p| p.id == id)
    }

    /// The first prompt of an identifier.
    pub fn get(&self, id: &str) -> Option<&Prompt> {
        self.prompts.iter().find(|p| p.id == id)
    }
}

fn leave(omitted: &mut Vec<Omitted>, id: &str, reason: &str) {
    omitted.push(Omitted::new(Origin::new(OriginKind::Prompt, id), reason));
}

impl Prompt {
    fn of(entry: &PromptEntry, content: String) -> Self {
        Self {
            id: entry.identifier.clone(),
            role: entry.role.as_ref().filter(|v| js::to_boolean(v)).map(js::value_to_text),
            pieces: vec![(Origin::new(OriginKind::Prompt, entry.identifier.clone()), content.clone())],
            content,
            users: entry.system_prompt == Some(false),
            forbids_overrides: entry.forbid_overrides,
            raw_position: entry.injection_position.clone(),
            raw_depth: entry.injection_depth.clone(),
            raw_order: entry.injection_order.clone(),
            ..Self::default()
        }
    }

    /// Reads position, depth, order and role once they are final. ST compares them strictly as numbers and loses what is not
    /// one; with the switches on they are mended (spec 02 F-15, F-16).
    fn settle(&mut self, profile: &Profile) {
        let mend = profile.on(&PROMPT_INJECTIONS);
        let number = |v: &Option<Value>| match v {
            Some(Value::Number(n)) => n.as_f64(),
            Some(v @ Value::String(_)) if mend => Some(js::value_to_number(v)).filter(|n| !n.is_nan()),
            _ => None,
        };
        self.absolute = number(&self.raw_position) == Some(1.0);
        let depth = number(&self.raw_depth);
        let whole = depth.filter(|d| d.fract() == 0.0).map(js::to_integer);
        self.depth = if mend {
            Some(depth.map_or(4, |d| js::to_integer(d).clamp(0, 10_000)))
        } else {
            whole.filter(|d| (0..=10_000).contains(d))
        };
        self.order = number(&self.raw_order).unwrap_or(100.0);
        let known = |role: &String| matches!(role.as_str(), "system" | "user" | "assistant");
        if mend && !self.role.as_ref().is_some_and(known) {
            self.role = Some("system".to_owned());
        }
        if profile.on(&PROMPT_ORDER) {
            // What the scene supplies is placed by name, like the built-in prompts.
            self.users = !is_built_in(&self.id)
                && self.pieces.iter().any(|(origin, _)| origin.kind == OriginKind::Prompt);
        }
    }
}

/// Texts of §8.5 step 2.
struct Texts {
    lore_before: String,
    lore_after: String,
    scenario: String,
    personality: String,
    group_nudge: String,
    impersonation: String,
}

impl Texts {
    fn expand(preset: &Preset, s: &Supplied<'_>, profile: &Profile, scope: &mut Expander<'_>) -> Self {
        let blank_is_none = profile.on(&PROMPT_ONCE);
        let mut formatted = |value: &str, key: &str| {
            let format = preset.utility(key);
            let none = format.is_empty() || (blank_is_none && js::trim(format).is_empty());
            if value.is_empty() || none { value.to_owned() } else { scope.expand(format) }
        };
        let scenario = formatted(s.scenario, "scenario_format");
        let personality = formatted(s.personality, "personality_format");
        Self {
            lore_before: lore_text(preset, s.lore_before, profile, scope),
            lore_after: lore_text(preset, s.lore_after, profile, scope),
            scenario,
            personality,
            group_nudge: scope.expand(preset.utility("group_nudge_prompt")),
            impersonation: scope.expand(preset.utility("impersonation_prompt")),
        }
    }
}

/// A lorebook slot through `wi_format`: each `{0}` is the value; a blank format is none.
fn lore_text(preset: &Preset, value: &str, profile: &Profile, scope: &mut Expander<'_>) -> String {
    let format = preset.utility("wi_format");
    if value.is_empty() || js::trim(format).is_empty() {
        return value.to_owned();
    }
    if profile.on(&PROMPT_ONCE) {
        return scope.expand(format).replace("{0}", value);
    }
    format.replace("{0}", value)
}

/// Everything that is not in the preset, in the reference's order (spec 02 §8.2).
fn system_entries(
    s: &Supplied<'_>,
    texts: &Texts,
    injections: &Injections,
    profile: &Profile,
) -> Vec<Prompt> {
    let card = |field: &str| Origin {
        character: Some(s.speaker.to_owned()),
        ..Origin::new(OriginKind::Card, field)
    };
    let entry = |id: &str, role: Role, content: &str, origin: Origin| Prompt {
        id: id.to_owned(),
        role: Some(role.as_str().to_owned()),
        pieces: vec![(origin, content.to_owned())],
        content: content.to_owned(),
        ..Prompt::default()
    };
    let utility = |id: &str, content: &str, name: &str| {
        entry(id, Role::System, content, Origin::new(OriginKind::Utility, name))
    };
    let lore = |position: &str| Origin::new(OriginKind::Lore, position);
    let mut out = vec![
        entry("worldInfoBefore", Role::System, &texts.lore_before, lore("before")),
        entry("worldInfoAfter", Role::System, &texts.lore_after, lore("after")),
        entry("charDescription", Role::System, s.description, card("description")),
        entry("charPersonality", Role::System, &texts.personality, card("personality")),
        entry("scenario", Role::System, &texts.scenario, card("scenario")),
        utility("impersonate", &texts.impersonation, "impersonate"),
        utility("quietPrompt", s.quiet, "quiet"),
        utility("groupNudge", &texts.group_nudge, "group_nudge"),
        entry("bias", Role::Assistant, s.bias, Origin::new(OriginKind::Utility, "bias")),
    ];
    let injected = |id: Cow<'_, str>, key: &str, injection: &Injection, fixed_role: bool| Prompt {
        id: id.into_owned(),
        role: Some(
            if fixed_role { Role::System } else { Role::from_number(injection.role) }.as_str().to_owned(),
        ),
        content: injection.value.clone(),
        side: match injection.position {
            Position::BeforeMain => Some(End::Start),
            Position::AfterMain => Some(End::End),
            _ => None,
        },
        pieces: injection.sources(key),
        trust: injection.trust(key),
        ..Prompt::default()
    };
    for (key, id, fixed_role) in KNOWN {
        if let Some(injection) = injections.get(key).filter(|i| !i.value.is_empty()) {
            out.push(injected(Cow::Borrowed(id), key, injection, *fixed_role));
        }
    }
    if !s.persona.is_empty() {
        let origin = Origin::new(OriginKind::Persona, "description");
        out.push(entry("personaDescription", Role::System, s.persona, origin));
    }
    let known =
        |key: &str| KNOWN.iter().any(|(k, ..)| *k == key) || [PERSONA, QUIET, DEPTH_PROMPT].contains(&key);
    for (key, injection) in injections.iter() {
        let relative = matches!(injection.position, Position::AfterMain | Position::BeforeMain);
        if relative && !injection.value.is_empty() && injection.allowed && !known(key) {
            let id = if profile.on(&PROMPT_INJECTIONS) { Cow::Borrowed(key) } else { Cow::Owned(plain(key)) };
            out.push(Prompt { extension: true, ..injected(id, key, injection, false) });
        }
    }
    out
}

/// Keys with an identifier of their own, and whether their role is fixed.
const KNOWN: &[(&str, &str, bool)] = &[
    (SUMMARY, "summary", false),
    (AUTHOR_NOTE, "authorsNote", false),
    (VECTORS, "vectorsMemory", true),
    (DATA_BANK, "vectorsDataBank", false),
    (SMART_CONTEXT, "smartContext", true),
];

/// Identifiers of the known keys, in the order they are placed.
pub(super) const RELATIVE: [&str; 5] =
    ["summary", "authorsNote", "vectorsMemory", "vectorsDataBank", "smartContext"];

/// A key as an identifier: every UTF-16 unit outside `[A-Za-z0-9_]` is an underscore.
fn plain(key: &str) -> String {
    key.encode_utf16()
        .map(|unit| u8::try_from(unit).ok().map_or('_', char::from))
        .map(|c| if js::is_word(c) { c } else { '_' })
        .collect()
}
