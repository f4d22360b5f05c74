//! The user's persona.

use serde_json::Value;

use super::Reader;

/// Where the persona's description goes (spec 02 §4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PersonaPosition {
    /// In its slot of the prompt order.
    #[default]
    InPrompt,
    /// Deprecated; produces nothing in chat completion.
    AfterChar,
    /// Before the author's note.
    TopAn,
    /// After the author's note.
    BottomAn,
    /// In the chat, at a depth.
    AtDepth,
    /// Nowhere.
    None,
}

/// Who the user is.
#[derive(Clone, Debug, PartialEq)]
pub struct Persona {
    /// Display name; what `{{user}}` becomes. Default `User`.
    pub name: String,
    /// Avatar file name.
    pub avatar: String,
    /// The description, untrimmed.
    pub description: String,
    /// Where it goes.
    pub position: PersonaPosition,
    /// For `AtDepth`: messages from the end (default 2).
    pub depth: i64,
    /// For `AtDepth`: 0 system, 1 user, 2 assistant.
    pub role: i64,
    /// Name of the persona's lorebook; empty for none.
    pub lorebook: String,
}

impl Default for Persona {
    fn default() -> Self {
        Self {
            name: "User".to_owned(),
            avatar: "user-default.png".to_owned(),
            description: String::new(),
            position: PersonaPosition::InPrompt,
            depth: 2,
            role: 0,
            lorebook: String::new(),
        }
    }
}

impl Persona {
    /// Reads `{name, avatar, description, position, depth, role, lorebook}`; everything is optional.
    pub fn from_value(value: &Value) -> Self {
        let Some(object) = value.as_object() else { return Self::default() };
        let mut r = Reader::new(object, "persona");
        let base = Self::default();
        Self {
            name: r.text_opt("name").unwrap_or(base.name),
            avatar: r.text_opt("avatar").unwrap_or(base.avatar),
            description: r.text("description"),
            position: match r.integer("position", 0) {
                0 => PersonaPosition::InPrompt,
                1 => PersonaPosition::AfterChar,
                2 => PersonaPosition::TopAn,
                3 => PersonaPosition::BottomAn,
                4 => PersonaPosition::AtDepth,
                _ => PersonaPosition::None,
            },
            depth: r.integer("depth", 2),
            role: r.integer("role", 0),
            lorebook: r.text("lorebook"),
        }
    }
}
