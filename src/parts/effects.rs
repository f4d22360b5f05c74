//! What a step would change. Nobody applies it: the room commits it after success, a preview drops it.

use indexmap::IndexMap;
use serde_json::Value;

/// One edit of the stored chat.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEdit {
    /// Replaces the text of a message.
    Text {
        /// Message index.
        index: usize,
        /// New text.
        mes: String,
    },
}

/// Changes that wait for a commit. Later entries win; `None` deletes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// Variables of the chat (`chat_metadata.variables`).
    pub local: IndexMap<String, Option<Value>>,
    /// The chat's variables were looked at, which creates an empty store (spec 04 §8).
    pub local_store: bool,
    /// Global variables.
    pub global: IndexMap<String, Option<Value>>,
    /// Other keys of the chat metadata (`chat_id_hash`, `timedWorldInfo` …).
    pub metadata: IndexMap<String, Option<Value>>,
    /// Injected texts by key that ST keeps registered after the request, so that lorebooks still look into them (03 F42).
    pub standing: Option<IndexMap<String, String>>,
    /// Edits of stored messages.
    pub chat: Vec<ChatEdit>,
    /// Words banned for this generation (`{{banned}}`).
    pub banned: Vec<String>,
    /// What went wrong in macros and scripts without stopping the request: code and detail.
    pub notes: Vec<crate::error::Warning>,
}
