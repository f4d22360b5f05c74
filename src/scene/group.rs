//! A group: who is in it and how the next speaker is found (spec 01 §1).

use serde_json::Value;

use super::{Object, Reader};
use crate::error::{Code, Error};
use crate::js;

/// How the speakers of a turn are chosen (spec 01 §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Mentions, then talkativeness rolls, then a fallback.
    #[default]
    Natural,
    /// Everyone, in list order.
    List,
    /// Nobody, or one at random when nothing was typed.
    Manual,
    /// One who has not spoken since the user.
    Pooled,
    /// A number without a meaning: nobody speaks.
    Unknown,
}

/// A group as ST stores it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Group id; a number becomes text.
    pub id: String,
    /// Group name.
    pub name: String,
    /// Member ids (avatars) in list order; may repeat, may resolve to nothing.
    pub members: Vec<String>,
    /// Muted ids.
    pub disabled_members: Vec<String>,
    /// Whether the last speaker may answer itself.
    pub allow_self_responses: bool,
    /// How speakers are chosen.
    pub strategy: Strategy,
    /// 0 swap, 1 join without muted, 2 join with muted; compared strictly, so it stays as it came (spec 01 F21).
    pub generation_mode: Option<Value>,
    /// Text around each joined field.
    pub join_prefix: String,
    /// See `join_prefix`.
    pub join_suffix: String,
    /// Seconds between rounds in auto mode (default 5).
    pub auto_mode_delay: f64,
    /// Aliases by member id, for mentions.
    pub aliases: Object,
    /// Everything else, untouched.
    pub rest: Object,
}

impl Group {
    const KNOWN: &'static [&'static str] = &[
        "id",
        "name",
        "members",
        "disabled_members",
        "allow_self_responses",
        "activation_strategy",
        "generation_mode",
        "generation_mode_join_prefix",
        "generation_mode_join_suffix",
        "auto_mode_delay",
        "aliases",
    ];

    /// Reads a group file.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        let Some(object) = value.as_object() else {
            return Err(Error::new(Code::SceneField, "group", "a group must be a JSON object or null"));
        };
        let mut r = Reader::new(object, "group");
        let strategy = match r.raw("activation_strategy").unwrap_or(&Value::Null) {
            Value::Null => Strategy::Natural,
            // ST passes the value through `Number()`, so "1" works.
            v => match js::value_to_number(v) {
                0.0 => Strategy::Natural,
                1.0 => Strategy::List,
                2.0 => Strategy::Manual,
                3.0 => Strategy::Pooled,
                _ => Strategy::Unknown,
            },
        };
        Ok(Self {
            id: r.text("id"),
            name: r.text("name"),
            members: r.texts("members"),
            disabled_members: r.texts("disabled_members"),
            allow_self_responses: r.flag("allow_self_responses", false),
            strategy,
            generation_mode: r.raw("generation_mode").cloned(),
            join_prefix: r.text("generation_mode_join_prefix"),
            join_suffix: r.text("generation_mode_join_suffix"),
            auto_mode_delay: r.number("auto_mode_delay", 5.0),
            aliases: r.object("aliases").cloned().unwrap_or_default(),
            rest: r.rest(Self::KNOWN),
        })
    }

    /// Whether a member id is muted.
    pub fn is_muted(&self, id: &str) -> bool {
        self.disabled_members.iter().any(|m| m == id)
    }

    /// Members that are not muted, order and duplicates kept.
    pub fn enabled(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(String::as_str).filter(|id| !self.is_muted(id))
    }
}
