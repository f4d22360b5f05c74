//! What macros may read. It is given; macros never ask upward.

use indexmap::IndexMap;

use super::base::EnvBase;
use crate::profile::Profile;
use crate::scene::{ChatMessage, Object};

/// Which of the reference's two engines to be (spec 04 §1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Parse once, evaluate left to right. The default since 1.17.
    #[default]
    New,
    /// A fixed list of replacements over the whole text.
    Legacy,
}

/// How far the author of a text is trusted (spec 04 Part 3 rule 7). Honoured when `macros.trust` is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Model output and retrieved text: only names (`{{user}}`, `{{char}}`, `{{group}}` …), everything else stays text.
    Data,
    /// Cards and lorebooks: no global variables are written, no words are banned.
    Card,
    /// The user's own presets, persona and notes: everything.
    #[default]
    Full,
}

/// Card texts that macros insert, already expanded (spec 04 §2.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardTexts {
    /// `{{charPrompt}}`
    pub char_prompt: String,
    /// `{{charInstruction}}`
    pub char_instruction: String,
    /// `{{description}}`
    pub description: String,
    /// `{{personality}}`
    pub personality: String,
    /// `{{scenario}}`
    pub scenario: String,
    /// `{{persona}}`
    pub persona: String,
    /// `{{mesExamplesRaw}}`
    pub mes_examples_raw: String,
    /// `{{charVersion}}`
    pub version: String,
    /// `{{charDepthPrompt}}`
    pub depth_prompt: String,
    /// `{{creatorNotes}}`
    pub creator_notes: String,
    /// `{{charFirstMessage}}`
    pub first_message: String,
    /// `{{charFirstMessage::n}}`
    pub alternate_greetings: Vec<String>,
}

/// Templates of text completion, for the macros of spec 04 §11.8. All empty in chat completion without instruct mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructTexts {
    /// Instruct mode is on; the instruct macros are empty otherwise.
    pub enabled: bool,
    /// Setting name (`input_sequence` …) -> text.
    pub sequences: IndexMap<String, String>,
    /// System prompt text; `None` while the system prompt is off.
    pub system_prompt: Option<String>,
    /// `{{chatStart}}`
    pub chat_start: String,
    /// `{{exampleSeparator}}`
    pub example_separator: String,
}

/// The environment of one expansion. Cheap to make: everything big is borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// Which engine.
    pub engine: Engine,
    /// Faults put right or not.
    pub profile: &'a Profile,
    /// `{{user}}`
    pub user: &'a str,
    /// `{{char}}`: the speaker.
    pub char: &'a str,
    /// `{{group}}`
    pub group: &'a str,
    /// `{{groupNotMuted}}`
    pub group_not_muted: &'a str,
    /// `{{notChar}}`
    pub not_char: &'a str,
    /// Card texts, already expanded. With neither this nor `source` the card macros are empty.
    pub card: Option<&'a CardTexts>,
    /// Where card macros find their fields, expanded when they are read; used when `card` is `None`.
    pub source: Option<&'a EnvBase<'a>>,
    /// How far the author of the text is trusted.
    pub trust: Trust,
    /// Applied to what each macro inserts, such as escaping for a regular expression; not to variable shorthands.
    pub post_process: Option<fn(&str) -> String>,
    /// `{{original}}`, once; `None` leaves the macro as it is.
    pub original: Option<&'a str>,
    /// The chat, oldest first.
    pub chat: &'a [ChatMessage],
    /// The chat's id, for `{{pick}}`.
    pub chat_id: &'a str,
    /// Header metadata of the chat: `variables`, `chat_id_hash`, `main_chat`, `pick_reroll_seed`, `lastInContextMessageId`.
    pub metadata: &'a Object,
    /// Global variables.
    pub globals: &'a Object,
    /// Lorebook outlets by key.
    pub outlets: &'a IndexMap<String, String>,
    /// Macros of this call or of the host: name -> value, inserted as it is. They win over built-ins.
    pub dynamic: &'a [(String, String)],
    /// `{{model}}`
    pub model: &'a str,
    /// `{{maxContext}}`, tokens.
    pub max_context: i64,
    /// `{{maxResponse}}`, tokens.
    pub max_response: i64,
    /// `{{lastGenerationType}}`
    pub last_generation_type: &'a str,
    /// `{{input}}`: text in the input box.
    pub input: &'a str,
    /// Templates of text completion.
    pub instruct: &'a InstructTexts,
    /// Chat completion (and not text completion) is used: the heading of `{{mesExamples}}`.
    pub chat_completion: bool,
    /// Reasoning prefix, suffix, separator.
    pub reasoning: [&'a str; 3],
    /// Further values by macro name, lower case: `authorsnote`, `summary`, `ismobile`, `firstdisplayedmessageid` … Empty when unknown.
    /// `mesexamples`: example blocks as instruct mode formats them, when it is on. `extensions`: what `{{hasExtension}}` finds, one a line. `zone/europe/berlin`: minutes east of Greenwich of a named zone now, for
    /// `{{time::Europe/Berlin}}` (with `macros.values`).
    pub values: &'a IndexMap<String, String>,
    /// Empty runs of line feeds in card fields become one (user setting).
    pub collapse_newlines: bool,
}
