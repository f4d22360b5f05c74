//! The whole scene, and the parts of it that belong to no card, group or preset.

use serde_json::Value;

use super::{Character, Chat, Group, Object, Persona, Preset, Reader, Settings, TextSetup};
use crate::error::{Code, Error, Warning};
use crate::js;

/// A text that an extension or the host wants in the prompt (spec 02 §4.2).
#[derive(Clone, Debug, PartialEq)]
pub struct ExtensionPrompt {
    /// Unique key, such as `1_memory`; decides the order among equals.
    pub key: String,
    /// The text, with macros.
    pub value: String,
    /// -1 stored only, 0 after main, 1 in chat, 2 before main.
    pub position: i64,
    /// Messages from the end, for position 1.
    pub depth: i64,
    /// 0 system, 1 user, 2 assistant.
    pub role: i64,
    /// Lorebook keys are looked for in it too.
    pub scan: bool,
    /// Place among texts and prompts of one depth, low ones first (default 100); asked under `prompt.injections`.
    pub order: f64,
    /// The host's filter, already decided; `false` leaves it out where filters are honoured.
    pub allowed: bool,
}

/// Lorebooks and how they are attached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoreInput {
    /// Book name -> book, in file form.
    pub books: Object,
    /// Names of the globally active books.
    pub global: Vec<String>,
    /// Extra books of characters: `[{name: avatar without extension, extraBooks: [..]}]`.
    pub char_lore: Vec<Value>,
}

/// Regex scripts by scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptInput {
    /// The user's own.
    pub global: Vec<Value>,
    /// Those of the preset.
    pub preset: Vec<Value>,
    /// Avatars whose card scripts may run.
    pub allowed_characters: Vec<String>,
}

/// Everything a frontend brings for one room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// All characters, in list order; the first with an avatar is the one it names.
    pub characters: Vec<Character>,
    /// Outside a group: avatar of the character; default the first.
    pub chat_with: Option<String>,
    /// The group, or a single chat.
    pub group: Option<Group>,
    /// Who the user is.
    pub persona: Persona,
    /// The chat.
    pub chat: Chat,
    /// Chat-completion preset and settings.
    pub preset: Preset,
    /// User settings.
    pub settings: Settings,
    /// Text completion instead of chat completion.
    pub text: Option<Box<TextSetup>>,
    /// Lorebooks.
    pub lore: LoreInput,
    /// Regex scripts.
    pub scripts: ScriptInput,
    /// Injected texts.
    pub extension_prompts: Vec<ExtensionPrompt>,
    /// Global variables (local ones are `chat.metadata.variables`).
    pub global_variables: Object,
    /// Macros of the host: name -> what it inserts, as it is. They win over built-in ones. `name::argument` is for a call with that
    /// argument.
    pub macros: Vec<(String, String)>,
}

impl ExtensionPrompt {
    /// Reads `{key, value, position, depth, order, role, scan, filter}`.
    fn from_value(value: &Value) -> Option<Self> {
        let mut r = Reader::new(value.as_object()?, "");
        Some(Self {
            key: r.text("key"),
            value: r.text("value"),
            position: r.integer("position", 0),
            depth: r.integer("depth", 0),
            role: r.integer("role", 0),
            scan: r.flag("scan", false),
            order: r.number("order", 100.0),
            allowed: r.flag("filter", true),
        })
    }
}

impl Scene {
    /// Reads the scene that the JavaScript API takes: `{characters, chatWith, group, persona, chat, preset, settings, lorebooks,
    /// text, scripts, extensionPrompts, variables, macros}`, everything but `characters` optional. A character is a card, or
    /// `{avatar, card, aliases}`; without an avatar it is known by its name.
    pub fn from_value(value: &Value) -> Result<(Self, Vec<Warning>), Error> {
        let Some(object) = value.as_object() else {
            return Err(Error::new(Code::SceneField, "", "a scene must be a JSON object"));
        };
        let mut warnings = Vec::new();
        let mut characters = Vec::new();
        for (i, entry) in list_of(object, "characters")?.iter().enumerate() {
            let at = format!("characters[{i}]");
            let card = entry.get("card").unwrap_or(entry);
            let avatar = entry.get("avatar").and_then(Value::as_str).filter(|_| entry.get("card").is_some());
            let (mut character, notes) =
                Character::from_card(avatar.unwrap_or(""), card).map_err(|e| e.under(&at))?;
            if avatar.is_none() {
                character.avatar = character.name.clone();
            }
            if let Some(list) = entry.get("aliases").and_then(Value::as_array) {
                character.aliases = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            }
            warnings.extend(notes.into_iter().map(|w| w.under(&at)));
            characters.push(character);
        }
        let group = match object.get("group") {
            None | Some(Value::Null) => None,
            Some(v) => Some(Group::from_value(v)?),
        };
        let null = Value::Null;
        let (settings, text) = read_settings(object, &mut warnings);
        let part = |key: &str| object.get(key).unwrap_or(&null);
        let lore = part("lorebooks");
        let scripts = part("scripts");
        let strings = |v: &Value| -> Vec<String> {
            v.as_array()
                .map_or_else(Vec::new, |l| l.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        let values = |v: Option<&Value>| v.and_then(Value::as_array).cloned().unwrap_or_default();
        let scene = Self {
            characters,
            chat_with: part("chatWith").as_str().map(str::to_owned),
            group,
            persona: Persona::from_value(part("persona")),
            chat: match part("chat") {
                Value::Null => Chat::default(),
                v => Chat::from_value(v)?,
            },
            preset: Preset::from_value(part("preset")),
            settings,
            text,
            lore: LoreInput {
                books: lore.get("books").and_then(Value::as_object).cloned().unwrap_or_default(),
                global: lore.get("global").map(strings).unwrap_or_default(),
                char_lore: values(lore.get("charLore")),
            },
            scripts: ScriptInput {
                global: values(scripts.get("global")),
                preset: values(scripts.get("preset")),
                allowed_characters: scripts.get("allowedCharacters").map(strings).unwrap_or_default(),
            },
            extension_prompts: part("extensionPrompts")
                .as_array()
                .map_or_else(Vec::new, |l| l.iter().filter_map(ExtensionPrompt::from_value).collect()),
            global_variables: part("variables")
                .get("global")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default(),
            macros: host_macros(part("macros"), &mut warnings),
        };
        Ok((scene, warnings))
    }

    /// Index of the first character with that avatar.
    pub fn character_index(&self, avatar: &str) -> Option<usize> {
        self.characters.iter().position(|c| c.avatar == avatar)
    }

    /// The first character with that avatar.
    pub fn character(&self, avatar: &str) -> Option<&Character> {
        self.characters.iter().find(|c| c.avatar == avatar)
    }

    /// Members of the group that resolve, in list order; empty outside a group.
    pub fn members(&self) -> impl Iterator<Item = &Character> {
        self.group.iter().flat_map(|g| &g.members).filter_map(|id| self.character(id))
    }
}

/// `{name: text}` or `{"name::argument": text}`; numbers and flags become text. A name is what can stand in braces (spec 04 §12).
fn host_macros(value: &Value, warnings: &mut Vec<Warning>) -> Vec<(String, String)> {
    let mut table = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let bare = name.split_once("::").map_or(name.as_str(), |(bare, _)| bare);
        let is_name = bare.starts_with(|c: char| c.is_ascii_alphabetic())
            && bare.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        match value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) if is_name => {
                table.push((name.clone(), js::value_to_text(value)));
            }
            _ => {
                let what = "is no macro: a name of ASCII letters, digits, _ and -, and a text";
                warnings.push(Warning::new("field-dropped", format!("macros.{name}"), what));
            }
        }
    }
    table
}

/// The settings, and those of text completion when `text` is there: its templates are laid over the user's.
fn read_settings(scene: &Object, warnings: &mut Vec<Warning>) -> (Settings, Option<Box<TextSetup>>) {
    let settings = scene.get("settings").unwrap_or(&Value::Null);
    let Some(text) = scene.get("text").and_then(Value::as_object) else {
        return (Settings::from_value(settings), None);
    };
    let mut merged = settings.as_object().cloned().unwrap_or_default();
    let mut power_user = merged.get("power_user").and_then(Value::as_object).cloned().unwrap_or_default();
    let (setup, notes) = TextSetup::apply(text, &mut power_user);
    warnings.extend(notes);
    js::put(&mut merged, "power_user", Value::Object(power_user));
    (Settings::from_value(&Value::Object(merged)), Some(Box::new(setup)))
}

fn list_of<'a>(object: &'a Object, key: &str) -> Result<&'a [Value], Error> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(Error::new(Code::SceneField, key, "must be a list")),
    }
}
