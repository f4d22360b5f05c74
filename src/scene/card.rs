//! A character: a card (V1, V2 or V3) and the id it is known by.

use serde_json::Value;

use super::{Object, Reader};
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
    /// `system`, `user`, `assistant` or a number; anything else counts as system.
    pub role: Value,
}

impl Default for DepthPrompt {
    fn default() -> Self {
        Self { prompt: String::new(), depth: 4, role: Value::from("system") }
    }
}

impl Character {
    /// Reads a card: `{spec, data}` or the flat V1 form. A card without a name is an error here; the file reader
    /// (`files`) can be asked for a fallback name instead.
    pub fn from_card(avatar: &str, card: &Value) -> Result<(Self, Vec<Warning>), Error> {
        let Some(top) = card.as_object() else {
            return Err(Error::new(Code::SceneField, "card", "a card must be a JSON object"));
        };
        let data = top.get("data").and_then(Value::as_object).unwrap_or(top);
        let mut r = Reader::new(data, "data");
        let name = r.text("name");
        if name.is_empty() {
            return Err(Error::new(Code::SceneMissing, "card.data.name", "a card needs a name"));
        }
        let extensions = r.object("extensions").cloned().unwrap_or_default();
        let talkativeness = extensions.get("talkativeness").or_else(|| top.get("talkativeness")).cloned();
        let depth_prompt = extensions.get("depth_prompt").and_then(Value::as_object).map_or_else(
            DepthPrompt::default,
            |o| {
                let mut r = Reader::new(o, "data.extensions.depth_prompt");
                DepthPrompt {
                    prompt: r.text("prompt"),
                    depth: r.integer("depth", 4),
                    role: r.raw("role").cloned().unwrap_or_else(|| Value::from("system")),
                }
            },
        );
        let character = Self {
            avatar: avatar.to_owned(),
            description: r.text("description"),
            personality: r.text("personality"),
            scenario: r.text("scenario"),
            first_mes: r.text("first_mes"),
            mes_example: r.text("mes_example"),
            creator_notes: r.text("creator_notes"),
            system_prompt: r.text("system_prompt"),
            post_history_instructions: r.text("post_history_instructions"),
            alternate_greetings: r.texts_opt("alternate_greetings"),
            group_only_greetings: r.texts("group_only_greetings"),
            tags: r.texts("tags"),
            version: r.text("character_version"),
            nickname: r.text_opt("nickname").filter(|s| !s.is_empty()),
            world: extensions.get("world").and_then(Value::as_str).unwrap_or("").to_owned(),
            talkativeness,
            aliases: Vec::new(),
            book: data.get("character_book").filter(|v| v.is_object()).cloned(),
            depth_prompt,
            extensions,
            card: card.clone(),
            name,
        };
        Ok((character, r.into_warnings()))
    }
}
