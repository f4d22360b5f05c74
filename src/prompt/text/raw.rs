//! Prompts without a chat (spec 07 §9.3).

use crate::error::{Code, Error};
use crate::js;
use crate::macros::Expander;
use crate::parts::Role;
use crate::scene::InstructTemplate;
use crate::templates::{Cast, LastLine, Said, Variant, last_line, message, story};

/// One line of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawLine {
    /// Whose voice.
    pub role: Role,
    /// The text, macros not yet expanded.
    pub content: String,
    /// Who says it; `None` for the name that goes with the role.
    pub name: Option<String>,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// Lines, oldest first.
    pub lines: Vec<RawLine>,
    /// In front of them.
    pub system: String,
    /// How the answer is to begin.
    pub prefill: String,
    /// The answer is meant to be seen.
    pub to_loud: bool,
}

/// The prompt; without a template the lines stand under their names.
pub fn raw_prompt(
    raw: &Raw,
    instruct: Option<&InstructTemplate>,
    cast: &Cast<'_>,
    scope: &mut Expander<'_>,
) -> Result<String, Error> {
    if raw.lines.is_empty() && raw.system.is_empty() {
        return Err(Error::new(Code::SceneMissing, "prompt", "there is no message and no system prompt"));
    }
    let system = scope.expand(&raw.system);
    let prefill = scope.expand(&raw.prefill);
    let lines: Vec<(Role, String, String)> = raw
        .lines
        .iter()
        .map(|line| {
            let own = match line.role {
                Role::User => cast.user,
                Role::Assistant => cast.char,
                _ => "",
            };
            let name = line.name.clone().unwrap_or_else(|| own.to_owned());
            (line.role, name, scope.expand(&line.content))
        })
        .collect();
    let Some(template) = instruct else {
        let mut texts = Vec::new();
        let system = js::trim(&system);
        if !system.is_empty() {
            texts.push(system.to_owned());
        }
        texts.extend(lines.into_iter().map(|(role, name, text)| {
            if role == Role::System || name.is_empty() { text } else { format!("{name}: {text}") }
        }));
        return Ok(format!("{}\n{prefill}", texts.join("\n")));
    };
    let mut out = story(template, &system, scope);
    if !out.is_empty() && template.wrap && template.story_string_suffix.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    for (role, name, text) in &lines {
        let said = Said {
            name,
            text,
            is_user: *role == Role::User,
            is_narrator: *role == Role::System,
            own_avatar: false,
        };
        out.push_str(&message(template, &said, Variant::Usual, cast, scope));
    }
    let ask = LastLine {
        name: cast.char,
        bias: &prefill,
        quiet: true,
        to_loud: raw.to_loud,
        ..LastLine::default()
    };
    out.push_str(&last_line(template, &ask, cast, scope));
    Ok(out)
}
