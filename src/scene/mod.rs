//! What a frontend brings: cards, persona, group, chat, lorebooks, preset, scripts, settings, as typed data.
//! (A *scene* is all of that; a card's *scenario* is one text field of a card.)
//!
//! Data only, no decisions. Every type is read from the public formats by [`Reader`], the one place that knows which types are
//! forgiven, and keeps the fields it does not know, so that writing it back loses nothing (spec 08 §12.5, §12.8).

mod book;
mod card;
mod cardfile;
mod chat;
mod group;
mod input;
mod persona;
mod preset;
mod read;
mod settings;
mod template;
mod text;

pub use book::{
    BookDialect, ENTRY_FIELDS, EntryField, FieldKind, OWN_EXTENSION, RawEntry, entry_uid, is_spec_shaped,
    raw_entries, read_book, read_entry, unique_uids, unwrap_book,
};
pub use card::{Character, DepthPrompt};
pub use cardfile::{CardFile, Effective, V1_FIELDS};
pub use chat::{Chat, ChatMessage, message_text};
pub use group::{Group, Strategy};
pub use input::{ExtensionPrompt, LoreInput, Scene, ScriptInput};
pub use persona::{Persona, PersonaPosition};
pub use preset::{OrderEntry, OrderList, Preset, PromptEntry, is_built_in};
pub use read::{Reader, split_commas};
pub use settings::{Reasoning, Settings};
pub use template::{normal_context, normal_instruct};
pub use text::{
    ContextTemplate, InstructTemplate, NamesBehavior, SYSTEM_PROMPT, StoryPlace, SystemPrompt, TextApi,
    TextSetup,
};

/// A JSON object with its key order.
pub type Object = serde_json::Map<String, serde_json::Value>;
