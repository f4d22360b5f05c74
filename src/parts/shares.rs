//! How a request shares out its tokens, where the caller wants more than the reference's order (spec 02 Part 4).

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Shares of the budget; all optional, in tokens unless said otherwise. They hold where `prompt.overflow` is on.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Shares {
    /// So many of the newest chat messages are sent, or the request is an error (default 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<usize>,
    /// Most that example dialogues take together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub examples: Option<i64>,
    /// Most that summary, recalled messages and data bank take together; a text that does not fit is left out whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub memory: Option<i64>,
    /// Most that the entries of a lorebook take, by the book's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "Record<string, number>"))]
    pub books: Option<IndexMap<String, i64>>,
    /// Identifiers of prompts that get only what everything else leaves, in this order: `scenario`, `worldInfoAfter`, an id of the
    /// user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Vec<String>>,
    /// Percent of the prompt's room that stay free while counts are estimates (default 10; none in the `sillytavern` profile).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}
