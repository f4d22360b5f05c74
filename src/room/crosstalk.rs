//! NekoBot's pass of cross-talk over data: mentions -> one call each, in order, a failure costing nobody else's turn (spec 09 §3).
//!
//! A room does this as part of its round; this is for those who drive their own pipeline.

use serde_json::{Value, json};

use crate::scene::Object;

/// What one call gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// A text, or the whole message that a pipeline made of it.
    Reply {
        /// The final text.
        text: String,
        /// The message; absent: made here.
        message: Option<Object>,
    },
    /// Nothing.
    Nothing,
    /// It failed.
    Failed,
}

/// What came of a pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passed {
    /// Messages that came about, in order.
    pub replies: Vec<Object>,
    /// The metadata of each call.
    pub calls: Vec<Object>,
    /// Senders of the messages that went out.
    pub sent: Vec<String>,
}

/// Runs the first `max` mentions. `name` gives a member's display name, `call` one reply for its metadata, `send` hands a message out and
/// says whether that worked: if not, the message stays in the results. `base` is copied, never changed.
pub fn process_cross_talk(
    mentions: &[String],
    max: usize,
    base: &Object,
    name: &dyn Fn(&str) -> Option<String>,
    call: &mut dyn FnMut(&Object) -> Called,
    send: &mut dyn FnMut(&Object) -> bool,
) -> Passed {
    let mut passed = Passed::default();
    for id in mentions.iter().take(max) {
        let sender = name(id).filter(|n| !n.is_empty()).unwrap_or_else(|| id.clone());
        let mut metadata = base.clone();
        metadata.insert("group_speaker".into(), json!(id));
        metadata.insert("group_speaker_name".into(), json!(sender));
        metadata.insert("cross_talk_triggered".into(), json!(true));
        let outcome = call(&metadata);
        passed.calls.push(metadata);
        let Called::Reply { text, message } = outcome else { continue };
        if text.is_empty() {
            continue;
        }
        let mut message = message.unwrap_or_else(|| {
            let mut made = Object::new();
            made.insert("role".into(), json!("assistant"));
            made.insert("content".into(), json!(text));
            made
        });
        if message.get("sender").is_none_or(Value::is_null) {
            message.insert("sender".into(), json!(sender));
        }
        if send(&message) {
            passed.sent.push(sender);
        }
        passed.replies.push(message);
    }
    passed
}
