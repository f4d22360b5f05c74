//! The story string and what goes into it: system prompt, anchors, fields (spec 07 §2.3, §3, §5.1).

use std::borrow::Cow;

use crate::error::{Code, Error, Warning};
use crate::injections::{Injection, Injections, Position};
use crate::js;
use crate::macros::Expander;
use crate::profile::{PROMPT_INJECTIONS, Profile, TEXT_TEMPLATES};
use crate::scene::{ContextTemplate, InstructTemplate, StoryPlace, SystemPrompt};
use crate::templates::{TemplateError, handlebars};

/// The texts that a story string names.
#[derive(Clone, Debug, Default)]
pub struct StoryParts<'a> {
    /// System prompt.
    pub system: &'a str,
    /// Card field.
    pub description: &'a str,
    /// Card field.
    pub personality: &'a str,
    /// Card field.
    pub scenario: &'a str,
    /// Persona description, when it has its place in the prompt.
    pub persona: &'a str,
    /// The speaker.
    pub char: &'a str,
    /// The persona.
    pub user: &'a str,
    /// Lorebook entries in front of the character.
    pub lore_before: &'a str,
    /// Lorebook entries behind it.
    pub lore_after: &'a str,
    /// Injected texts in front.
    pub anchor_before: &'a str,
    /// Injected texts behind.
    pub anchor_after: &'a str,
    /// Example dialogue as it would be inserted.
    pub examples: &'a str,
    /// Example dialogue before it is formatted.
    pub examples_raw: &'a str,
}

impl StoryParts<'_> {
    fn values(&self) -> [(&str, &str); 15] {
        [
            ("description", self.description),
            ("personality", self.personality),
            ("persona", self.persona),
            ("scenario", self.scenario),
            ("system", self.system),
            ("char", self.char),
            ("user", self.user),
            ("wiBefore", self.lore_before),
            ("wiAfter", self.lore_after),
            ("loreBefore", self.lore_before),
            ("loreAfter", self.lore_after),
            ("anchorBefore", self.anchor_before),
            ("anchorAfter", self.anchor_after),
            ("mesExamples", self.examples),
            ("mesExamplesRaw", self.examples_raw),
        ]
    }
}

/// Renders the story string. A template that cannot be read is an error; with `text.templates` on the fields follow in their
/// usual order and the report says where the template is wrong (F12).
pub fn render_story(
    context: &ContextTemplate,
    instruct: Option<&InstructTemplate>,
    parts: &StoryParts<'_>,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> Result<(String, Vec<Warning>), Error> {
    let mut warnings = Vec::new();
    let values = parts.values();
    let fixed = profile.on(&TEXT_TEMPLATES);
    let wrong = |e: &TemplateError| format!("the story string cannot be rendered: {e}");
    let template = if fixed {
        Cow::Owned(protect(&context.story_string))
    } else {
        Cow::Borrowed(&*context.story_string)
    };
    let read = handlebars(&template, &values);
    let text = match read {
        Ok(text) => text,
        Err(error) if fixed => {
            warnings.push(Warning::new("template.story", "context.story_string", wrong(&error)));
            let order = [
                parts.anchor_before,
                parts.system,
                parts.lore_before,
                parts.description,
                parts.personality,
                parts.scenario,
                parts.lore_after,
                parts.persona,
                parts.anchor_after,
            ];
            let filled: Vec<&str> = order.into_iter().filter(|t| !t.is_empty()).collect();
            filled.join("\n")
        }
        Err(error) => return Err(Error::new(Code::TemplateStory, "context.story_string", wrong(&error))),
    };
    let mut text = scope.expand(&text);
    let no_template = !warnings.is_empty();
    let anchors = [("anchorBefore", parts.anchor_before), ("anchorAfter", parts.anchor_after)];
    for (name, anchor) in
        anchors.into_iter().filter(|(_, anchor)| fixed && !no_template && !anchor.is_empty())
    {
        if !js::lower(&context.story_string).contains(&js::lower(name)) {
            // What has no place comes last (05 I11).
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            text = format!("{text}{gap}{anchor}");
            let message =
                format!("{{{{{name}}}}} has content and no place in the story string: it stands at its end");
            warnings.push(Warning::new("template.field_unused", "context.story_string", message));
        }
    }
    text = text.trim_start_matches('\n').to_owned();
    let closes = instruct.is_none_or(|t| t.wrap && t.story_string_suffix.is_empty());
    if !text.is_empty() && !text.ends_with('\n') && context.place == StoryPlace::Top && closes {
        text.push('\n');
    }
    warnings.extend(unused(context, parts, fixed));
    Ok((text, warnings))
}

/// Fields with content that the template has no place for (F24). The reference looks for a bare `{{name}}`; with `text.templates`
/// on any mention counts.
fn unused(context: &ContextTemplate, parts: &StoryParts<'_>, fixed: bool) -> Vec<Warning> {
    let fields: [(&[&str], &str); 6] = [
        (&["description"], parts.description),
        (&["personality"], parts.personality),
        (&["persona"], parts.persona),
        (&["scenario"], parts.scenario),
        (&["wiBefore", "loreBefore"], parts.lore_before),
        (&["wiAfter", "loreAfter"], parts.lore_after),
    ];
    let story = js::lower(&context.story_string);
    let named = |name: &str| {
        if fixed {
            story.contains(&js::lower(name))
        } else {
            context.story_string.contains(&format!("{{{{{name}}}}}"))
        }
    };
    let missing = |names: &[&str]| !names.iter().any(|n| named(n));
    fields
        .into_iter()
        .filter(|(names, text)| !text.is_empty() && missing(names))
        .map(|(names, _)| {
            let name = names.first().copied().unwrap_or("");
            let message = format!("{{{{{name}}}}} has content and no place in the story string");
            Warning::new("template.field_unused", "context.story_string", message)
        })
        .collect()
}

/// Escapes macros with arguments, which Handlebars would cut or refuse: `{{roll 1d6}}`, `{{random:a,b}}`, `{{// note}}`.
fn protect(template: &str) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let inner = tail.find("}}").and_then(|end| tail.get(2..end)).unwrap_or("");
        if !before.ends_with('\\') && needs_protection(inner) {
            out.push('\\');
        }
        out.push_str("{{");
        rest = tail.get(2..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

fn needs_protection(inner: &str) -> bool {
    let inner = js::trim(inner);
    if inner.starts_with("//") {
        return true;
    }
    let name = inner.split(|c: char| js::is_space(c) || c == ':').next().unwrap_or("");
    let word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let helper = ["if", "unless", "each", "with", "lookup", "log", "else"].contains(&name);
    word && !helper && name.len() < inner.len()
}

/// The system prompt for the story string (§3).
pub fn system_prompt(
    preset: &SystemPrompt,
    card: &str,
    prefers_card: bool,
    instruct: bool,
    collapse: bool,
    scope: &mut Expander<'_>,
) -> String {
    if !preset.enabled {
        return String::new();
    }
    let text = if prefers_card && !card.is_empty() {
        scope.expand_original(card, &preset.content)
    } else {
        plain_text(&preset.content, collapse, scope)
    };
    if instruct { scope.expand_original(&text, &preset.content) } else { text }
}

/// A text of the user's settings: macros, no carriage returns, and fewer line feeds when that is wanted.
pub(super) fn plain_text(text: &str, collapse: bool, scope: &mut Expander<'_>) -> String {
    let text = scope.expand(text).replace('\r', "");
    if collapse { super::collapsed(&text) } else { text }
}

/// The text after the chat (§5.4). What `{{original}}` brings in is expanded by nobody; with `text.templates` on it is (F31).
pub fn post_history(
    preset: &SystemPrompt,
    card: &str,
    prefers_card: bool,
    collapse: bool,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> String {
    if !preset.enabled {
        return String::new();
    }
    if !prefers_card || card.is_empty() {
        return plain_text(&preset.post_history, collapse, scope);
    }
    let original = if profile.on(&TEXT_TEMPLATES) {
        scope.expand(&preset.post_history)
    } else {
        preset.post_history.clone()
    };
    scope.expand_original(card, &original)
}

/// The injected texts in front of the story string or behind it, joined (§5.1).
pub fn anchors(
    injections: &Injections,
    position: Position,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> String {
    let mut text = joined(&chosen(injections, position, profile));
    if text.is_empty() {
        return text;
    }
    if !text.starts_with('\n') {
        text.insert(0, '\n');
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    js::trim(&scope.expand(&text)).to_owned()
}

/// The injected texts of a depth and a role, joined.
pub(super) fn at_depth(
    injections: &Injections,
    depth: i64,
    role: i64,
    profile: &Profile,
    scope: &mut Expander<'_>,
) -> String {
    let here: Vec<_> = chosen(injections, Position::InChat, profile)
        .into_iter()
        .filter(|i| i.depth == Some(depth) && i.role == role)
        .collect();
    let text = joined(&here);
    if text.is_empty() { text } else { scope.expand(&text) }
}

/// Texts of a position: ordered by key and whatever their conditions say; with `prompt.injections` on in the order given, those
/// that are allowed (07 F25).
fn chosen<'a>(injections: &'a Injections, position: Position, profile: &Profile) -> Vec<&'a Injection> {
    if profile.on(&PROMPT_INJECTIONS) {
        let due = |i: &&Injection| i.position == position && i.allowed && !js::trim(&i.value).is_empty();
        let mut list: Vec<_> = injections.iter().map(|(_, i)| i).filter(due).collect();
        js::sort_by(&mut list, |a, b| a.order.total_cmp(&b.order));
        return list;
    }
    injections.collect(position).into_iter().map(|(_, i)| i).collect()
}

fn joined(list: &[&Injection]) -> String {
    list.iter().map(|i| js::trim(&i.value)).collect::<Vec<_>>().join("\n")
}
