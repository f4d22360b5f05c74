//! What a speaker is told of the room -> the text of the part `group_context` (spec 09 §17).
//!
//! Shared things only: no card, lore, memory or relation of another member can be put in here.

use serde::{Deserialize, Serialize};

use super::validate::{CONTEXT_HEADER, Issue};

/// How many messages are repeated, where the history itself is not in the request.
pub const RECENT: usize = 8;

/// Somebody, by id and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Person {
    /// Member id.
    pub id: String,
    /// Display name.
    pub name: String,
}

/// A line of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Heard {
    /// Who said it.
    pub name: String,
    /// What.
    pub text: String,
}

/// What the text is made of. Absent things leave no line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupContext {
    /// `single_round`, `free_chat`, `host_mode`.
    pub mode: String,
    /// Who takes part.
    pub participants: Vec<Person>,
    /// Who is to speak.
    pub speaker: Person,
    /// Number of the round.
    pub round: u32,
    /// Whom the user addressed.
    pub target: Option<Person>,
    /// Who leads.
    pub host: Option<Person>,
    /// What is talked about.
    pub topic: String,
    /// Where.
    pub scene: String,
    /// The newest messages that the speaker heard.
    pub recent: Vec<Heard>,
    /// The speaker was spoken to.
    pub must_reply: bool,
    /// Its last attempt said the same as before.
    pub anti_repeat: bool,
    /// What was wrong with its last attempt.
    pub issues: Vec<Issue>,
    /// How it should refer to itself, for the issue about that.
    pub self_reference: Vec<String>,
    /// It has the last word of the room.
    pub closing: bool,
}

/// The default text.
pub fn group_context(c: &GroupContext) -> String {
    let mut lines = vec![CONTEXT_HEADER.to_owned()];
    let mut line = |label: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("{label}: {text}"));
        }
    };
    line("Mode", &c.mode);
    line("Members", &c.participants.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", "));
    line("Speaking now", &c.speaker.name);
    if c.round > 0 {
        line("Round", &c.round.to_string());
    }
    line("Topic", &c.topic);
    line("Scene", &c.scene);
    let named = |p: &Person, about: &str| {
        if p.id == c.speaker.id { format!("{} (you{about})", p.name) } else { p.name.clone() }
    };
    if let Some(target) = &c.target {
        line("Addressed", &named(target, "; answer this first"));
    }
    if let Some(host) = &c.host {
        let about = if c.closing { "; close this round only if you can add something new" } else { "" };
        line("Host", &named(host, about));
    }
    if c.must_reply {
        lines.push("You were spoken to. Answer; do not stay silent.".to_owned());
    }
    if c.anti_repeat {
        lines.push("Do not repeat what you said before. Add something new or take another angle.".to_owned());
    }
    if !c.issues.is_empty() {
        let said: Vec<String> = c.issues.iter().map(|i| phrase(i, &c.self_reference)).collect();
        lines.push(format!("Your last attempt was rejected: {}.", said.join("; ")));
    }
    if !c.recent.is_empty() {
        lines.push("Recent:".to_owned());
        let from = c.recent.len().saturating_sub(RECENT);
        lines.extend(c.recent.iter().skip(from).map(|h| format!("{}: {}", h.name, h.text)));
    }
    lines.join("\n")
}

fn phrase(issue: &Issue, own: &[String]) -> String {
    match issue {
        Issue::Empty => "it was empty".to_owned(),
        Issue::ForbiddenWord { words } => format!("it used forbidden words ({})", words.join(", ")),
        Issue::SelfReference { .. } if own.is_empty() => "it referred to the speaker wrongly".to_owned(),
        Issue::SelfReference { .. } => {
            format!("it referred to the speaker wrongly (use {})", own.join(", "))
        }
        Issue::SpeaksAsOther { .. } => "it spoke for another character".to_owned(),
        Issue::PromptLeak => "it repeated these instructions".to_owned(),
    }
}
