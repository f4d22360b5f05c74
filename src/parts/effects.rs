//! What a step would change. Nobody applies it: the room commits it after success, a preview drops it.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

/// One edit of the stored chat.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatEdit {
    /// Replaces the text of a message.
    Text {
        /// Message index.
        index: usize,
        /// New text.
        mes: String,
    },
}

/// Changes that wait for a commit. Later entries win; `None` (in JSON null) deletes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Changes"))]
pub struct Effects {
    /// Variables of the chat (`chat_metadata.variables`).
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub local: IndexMap<String, Option<Value>>,
    /// The chat's variables were looked at, which creates an empty store (spec 04 §8).
    #[serde(skip)]
    pub local_store: bool,
    /// Global variables.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub global: IndexMap<String, Option<Value>>,
    /// Other keys of the chat metadata (`chat_id_hash`, `timedWorldInfo` …).
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub metadata: IndexMap<String, Option<Value>>,
    /// Injected texts by key that ST keeps registered after the request, so that lorebooks still look into them (03 F42).
    #[serde(skip)]
    pub standing: Option<IndexMap<String, String>>,
    /// Edits of stored messages.
    pub chat: Vec<ChatEdit>,
    /// Words banned for this generation (`{{banned}}`).
    pub banned: Vec<String>,
    /// What went wrong in macros and scripts without stopping the request: code and detail. A request's report takes them over.
    #[serde(skip)]
    pub notes: Vec<crate::error::Warning>,
}
