//! A character: a card (V1, V2 or V3) and the id it is known by.

use serde_json::Value;

use super::{CardFile, Object};
use crate::error::{Code, Error, Warning};

/// A character as the steps of a turn read it. The card file itself stays in `card`, untouched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Character {
    /// The id: the card's file name, such as `mira.png`. Group members refer to it.
    pub avatar: String,
    /// Display name; what `{{char}}` becomes.
    pub name: String,
    /// The six prompt texts, untrimmed.
    pub description: String,
    /// See `description`.
    pub personality: String,
    /// See `description`. (The card's situation, not the whole scene.)
    pub scenario: String,
    /// First message of a new chat.
    pub first_mes: String,
    /// Example dialogue, blocks separated by `<START>`.
    pub mes_example: String,
    /// Never sent.
    pub creator_notes: String,
    /// Replaces the preset's main prompt when the user prefers the card's; `{{original}}` is the preset's own.
    pub system_prompt: String,
    /// Likewise for the post-history instructions.
    pub post_history_instructions: String,
    /// Other first messages; `None` when the card has no such list (which costs no draw, spec 01 §5).
    pub alternate_greetings: Option<Vec<String>>,
    /// First messages for groups only (V3).
    pub group_only_greetings: Vec<String>,
    /// Labels; never sent, but lorebook filters read them.
    pub tags: Vec<String>,
    /// `character_version`.
    pub version: String,
    /// V3 nickname.
    pub nickname: Option<String>,
    /// Text injected into the chat at a depth.
    pub depth_prompt: DepthPrompt,
    /// Name of the linked lorebook; empty for none.
    pub world: String,
    /// As the file has it: number, text, null or absent (spec 01 §4.1 says what each means).
    pub talkativeness: Option<Value>,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// `data.extensions`.
    pub extensions: Object,
    /// The embedded lorebook, as it stands.
    pub book: Option<Value>,
    /// The whole card as it came.
    pub card: Value,
}

/// A character's note at depth.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthPrompt {
    /// The text; empty for none.
    pub prompt: String,
    /// Messages from the end of the chat (default 4).
    pub depth: i64,
    /// `system`, `user` or `assistant`.
    pub role: Value,
}

impl Default for DepthPrompt {
    fn default() -> Self {
        Self { prompt: String::new(), depth: 4, role: Value::from("system") }
    }
}

impl Character {
    /// Reads a card of any version, as [`CardFile`] does. A card without a name is called after its file, and an error when
    /// there is no file either.
    pub fn from_card(avatar: &str, card: &Value) -> Result<(Self, Vec<Warning>), Error> {
        let Some(object) = card.as_object() else {
            return Err(Error::new(Code::SceneField, "card", "a card must be a JSON object"));
        };
        let (file, warnings) = CardFile::read(object);
        let stem = avatar.rsplit_once('.').map_or(avatar, |(stem, _)| stem);
        let name = [file.text("name"), stem].into_iter().find(|name| !name.is_empty());
        let Some(name) = name.map(str::to_owned) else {
            return Err(Error::new(Code::SceneMissing, "card.data.name", "a card needs a name"));
        };
        // An absent list and an empty one cost different numbers of draws.
        let raw = object.get("data").and_then(Value::as_object).unwrap_or(object);
        let greetings = raw.get("alternate_greetings").filter(|v| !v.is_null());
        let effective = file.effective.clone();
        let character = Self {
            avatar: avatar.to_owned(),
            name,
            description: file.text("description").to_owned(),
            personality: file.text("personality").to_owned(),
            scenario: file.text("scenario").to_owned(),
            first_mes: file.text("first_mes").to_owned(),
            mes_example: file.text("mes_example").to_owned(),
            creator_notes: file.text("creator_notes").to_owned(),
            system_prompt: file.text("system_prompt").to_owned(),
            post_history_instructions: file.text("post_history_instructions").to_owned(),
            alternate_greetings: greetings.map(|_| file.texts("alternate_greetings")),
            group_only_greetings: file.texts("group_only_greetings"),
            tags: file.texts("tags"),
            version: file.text("character_version").to_owned(),
            nickname: Some(file.text("nickname").to_owned()).filter(|s| !s.is_empty()),
            depth_prompt: DepthPrompt {
                prompt: effective.depth_text,
                depth: effective.depth,
                role: Value::from(effective.depth_role),
            },
            world: effective.world,
            talkativeness: file.raw_talkativeness().cloned(),
            aliases: Vec::new(),
            extensions: file.extensions().cloned().unwrap_or_default(),
            book: file.book().cloned(),
            card: card.clone(),
        };
        Ok((character, warnings))
    }
}
