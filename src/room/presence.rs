//! Who hears what: a message's list of present members -> whether a member's request may contain it (spec 09 §22).
//!
//! The fields are those of the Presence extension, so that its chats go on here and ours go on there.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::scene::ChatMessage;

/// What a message without a list means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Legacy {
    /// Everybody heard it.
    #[default]
    Everyone,
    /// Nobody but its author.
    None,
}

/// Rules of hearing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct PresenceOptions {
    /// New messages are stamped with who is there, and members hear only what they were there for (default false).
    pub enabled: bool,
    /// Members that hear everything, such as a narrator.
    pub see_all: Vec<String>,
    /// The message right before a reply is heard in any case (default false).
    pub see_last: bool,
    /// What messages without a list mean.
    pub legacy: Legacy,
    /// Muted members hear what is said (default true).
    pub include_muted: bool,
}

impl Default for PresenceOptions {
    fn default() -> Self {
        Self {
            enabled: false,
            see_all: Vec::new(),
            see_last: false,
            legacy: Legacy::Everyone,
            include_muted: true,
        }
    }
}

/// What of a message decides who hears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken<'a> {
    /// Member id of its author; `None` for the user and strangers.
    pub sender: Option<&'a str>,
    /// Hidden from all requests.
    pub hidden: bool,
    /// Who was present; `None` when the message has no list.
    pub present: Option<Vec<&'a str>>,
}

/// Positions of the messages that a member's request may contain.
pub fn visible(messages: &[Spoken<'_>], member: &str, options: &PresenceOptions) -> Vec<usize> {
    let last = messages.len().saturating_sub(1);
    let sees_all = options.see_all.iter().any(|id| id == member);
    let heard = |at: usize, m: &Spoken<'_>| {
        let there = match &m.present {
            Some(present) => present.contains(&member),
            None => options.legacy == Legacy::Everyone,
        };
        !m.hidden && (there || sees_all || m.sender == Some(member) || (options.see_last && at == last))
    };
    messages.iter().enumerate().filter(|(at, m)| heard(*at, m)).map(|(at, _)| at).collect()
}

/// The list that a message of a chat file carries.
pub fn present_of(message: &ChatMessage) -> Option<Vec<&str>> {
    let list = message.rest.get("present")?.as_array()?;
    Some(list.iter().filter_map(Value::as_str).collect())
}

/// Writes down who is present; those who hear everything are always among them.
pub fn stamp(message: &mut ChatMessage, present: &[String], options: &PresenceOptions) {
    let mut list = present.to_vec();
    for id in &options.see_all {
        if !list.contains(id) {
            list.push(id.clone());
        }
    }
    message.rest.insert("present".into(), json!(list));
}
