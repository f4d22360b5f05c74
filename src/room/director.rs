//! The small request in which a model picks the next speakers: members and history -> two messages (spec 09 §21.2).

use serde::{Deserialize, Serialize};

use super::context::Heard;
use crate::js;

/// A member that can be picked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Brief {
    /// Member id.
    pub id: String,
    /// Display name.
    pub name: String,
    /// One line about it.
    pub brief: String,
}

/// Lengths of the request, in code points but for `depth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// How many may be picked.
    pub max: usize,
    /// How many messages of the history.
    pub depth: usize,
    /// Of a brief.
    pub brief: usize,
    /// Of a message.
    pub line: usize,
}

impl Default for Lengths {
    fn default() -> Self {
        Self { max: 3, depth: 10, brief: 200, line: 400 }
    }
}

/// Response length, tokens.
pub const MAX_TOKENS: u32 = 100;

/// The system and the user message.
pub fn director_prompt(
    members: &[Brief],
    history: &[Heard],
    lengths: &Lengths,
) -> [(&'static str, String); 2] {
    let mut system =
        "You direct a group scene. Decide who speaks next. You never write dialogue.\nCharacters:".to_owned();
    let names: Vec<String> = members.iter().map(|m| name(m, lengths)).collect();
    for (i, (member, name)) in members.iter().zip(&names).enumerate() {
        let brief = cut(&member.brief, lengths.brief);
        system.push_str(&format!("\n{}. {name}", i + 1));
        if !brief.is_empty() {
            system.push_str(&format!(" - {brief}"));
        }
    }
    let newest = history.get(history.len().saturating_sub(lengths.depth)..).unwrap_or_default();
    let lines: Vec<String> = newest
        .iter()
        .map(|h| format!("{}: {}", cut(&h.name, lengths.line), cut(&h.text, lengths.line)))
        .collect();
    let user = format!(
        "Conversation so far:\n{}\n\nPick at most {} of: {}.\nOrder them by who speaks first. Pick only those with a reason to speak \
         now; one is often enough.\nAnswer with JSON only: {{\"speakers\":[\"Name\"],\"reason\":\"a few words\"}}",
        lines.join("\n"),
        lengths.max,
        names.join(", ")
    );
    [("system", system), ("user", user)]
}

/// A member's name; without one, its id.
fn name(member: &Brief, lengths: &Lengths) -> String {
    let name = cut(&member.name, lengths.line);
    if name.is_empty() { member.id.clone() } else { name }
}

/// A text as one line of so many code points.
pub fn brief_line(text: &str, most: usize) -> String {
    cut(text, most)
}

/// White space collapsed to single spaces, trimmed, and no longer than some code points.
fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut left = most;
    for word in text.split(js::is_space).filter(|w| !w.is_empty()) {
        for c in (!out.is_empty()).then_some(' ').into_iter().chain(word.chars()) {
            if left == 0 {
                out.push('…');
                return out;
            }
            out.push(c);
            left -= 1;
        }
    }
    out
}
