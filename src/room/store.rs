//! How messages are stored: a reply, a swipe, a continuation, the user's text, a greeting -> the chat as ST would write it.
//!
//! Spec: 01 §2, §14; 02 Addendum. The field set matters to those who open the chat file elsewhere; the order of fields does not.

use serde_json::{Value, json};

use crate::js::encode_uri_component;
use crate::scene::{Character, ChatMessage, Object, Persona};

/// What is known of an answer besides its text.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// Cleaned text.
    pub text: String,
    /// Source, such as `custom`.
    pub api: String,
    /// Model id.
    pub model: String,
    /// Reasoning text; empty for none.
    pub reasoning: String,
    /// How the reasoning came: `model`, `parsed`; `None` where ST says nothing.
    pub reasoning_type: Option<&'static str>,
    /// Encrypted reasoning.
    pub signature: Option<String>,
    /// It came as a stream (ST then notes a time to first token).
    pub streamed: bool,
    /// Further candidates, cleaned, each with its reasoning.
    pub alternatives: Vec<(String, String)>,
}

/// The user's message.
pub(super) fn user_message(persona: &Persona, text: &str, bias: &str, now: &str) -> ChatMessage {
    let mut extra = Object::new();
    extra.insert("isSmallSys".into(), json!(false));
    if !bias.is_empty() {
        extra.insert("bias".into(), json!(bias));
    }
    ChatMessage {
        name: persona.name.clone(),
        is_user: true,
        states_visible: true,
        mes: text.to_owned(),
        send_date: Some(json!(now)),
        force_avatar: Some(json!(format!(
            "/thumbnail?type=persona&file={}",
            encode_uri_component(&persona.avatar)
        ))),
        extra: Some(extra),
        ..ChatMessage::default()
    }
}

/// A message that carries nothing but a reply bias; the model never sees it (spec 07 §7.2).
pub(super) fn bias_message(bias: &str, now: &str) -> ChatMessage {
    let extra = json!({"swipeable": false, "bias": bias, "type": "generic"});
    ChatMessage {
        name: "SillyTavern System".to_owned(),
        is_system: true,
        mes: " ".to_owned(),
        send_date: Some(json!(now)),
        force_avatar: Some(json!("img/five.png")),
        extra: extra.as_object().cloned(),
        ..ChatMessage::default()
    }
}

/// Prepares the message that was last before a normal reply is appended: its swipes exist, its reasoning is at least empty.
pub(super) fn touch(message: &mut ChatMessage) {
    shown(message);
    message.extra.get_or_insert_default().entry("reasoning").or_insert_with(|| json!(""));
}

/// What showing a message adds to it: everyone's but the user's and notices can be swiped (spec 08 §5.2).
pub(super) fn shown(message: &mut ChatMessage) {
    let small = message.extra("isSmallSys").is_some_and(crate::js::to_boolean);
    if !message.is_user && !small {
        ensure_swipes(message);
    }
}

/// The notice that stands in the chat when a group without members is spoken to.
pub(super) fn empty_group_notice(now: &str) -> ChatMessage {
    let extra = json!({"swipeable": false, "isSmallSys": true, "type": "empty"});
    ChatMessage {
        name: "SillyTavern System".to_owned(),
        is_system: true,
        mes: "No one hears you. <b>Hint&#58;</b> add more members to the group!".to_owned(),
        send_date: Some(json!(now)),
        force_avatar: Some(json!("img/five.png")),
        extra: extra.as_object().cloned(),
        ..ChatMessage::default()
    }
}

/// A message that can be swiped has a list of its texts.
pub(super) fn ensure_swipes(message: &mut ChatMessage) {
    message.swipes.get_or_insert_with(|| vec![json!(message.mes)]);
    message.swipe_id.get_or_insert_with(|| json!(0));
    if message.swipe_info.is_some() {
        return;
    }
    // Only the shown text's data is known; the others get the date alone.
    let count = message.swipes.as_ref().map_or(1, Vec::len);
    let shown = message.swipe_id.as_ref().and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (own, mut bare) = (info(message), info(message));
    if let Some(o) = bare.as_object_mut() {
        o.insert("extra".into(), json!({}));
    }
    message.swipe_info =
        Some((0..count).map(|i| if Some(i) == shown { own.clone() } else { bare.clone() }).collect());
}

/// The record of the shown text among the swipes.
fn info(message: &ChatMessage) -> Value {
    let mut o = Object::new();
    if let Some(date) = &message.send_date {
        o.insert("send_date".into(), date.clone());
    }
    for key in ["gen_started", "gen_finished"] {
        if let Some(v) = message.rest.get(key) {
            o.insert(key.into(), v.clone());
        }
    }
    o.insert("extra".into(), message.extra.clone().map_or_else(|| json!({}), Value::Object));
    Value::Object(o)
}

/// A new message of a character. `batch` is the turn's id in a group.
pub(super) fn reply(character: &Character, answer: &Answer, batch: Option<i64>, now: &str) -> ChatMessage {
    let mut message = ChatMessage {
        name: character.name.clone(),
        mes: answer.text.clone(),
        send_date: Some(json!(now)),
        extra: Some(Object::new()),
        ..ChatMessage::default()
    };
    stamp(&mut message, answer, now, true);
    if let Some(id) = batch {
        message.extra.get_or_insert_default().insert("gen_id".into(), json!(id));
        message.force_avatar = Some(json!(avatar_url(&character.avatar)));
        message.original_avatar = Some(character.avatar.clone());
    }
    ensure_swipes(&mut message);
    add_alternatives(&mut message, answer);
    message
}

/// A further version of the last message, shown.
pub(super) fn swipe(message: &mut ChatMessage, answer: &Answer, now: &str) {
    ensure_swipes(message);
    message.mes.clone_from(&answer.text);
    stamp(message, answer, now, true);
    let info = info(message);
    let swipes = message.swipes.get_or_insert_default();
    swipes.push(json!(answer.text));
    message.swipe_id = Some(json!(swipes.len() - 1));
    message.swipe_info.get_or_insert_default().push(info);
    add_alternatives(message, answer);
}

/// The last message grew: `answer.text` is its whole new text.
pub(super) fn continued(message: &mut ChatMessage, answer: &Answer, now: &str) {
    message.mes.clone_from(&answer.text);
    stamp(message, answer, now, false);
    ensure_swipes(message);
    sync_swipe(message);
}

/// Writes the shown text and its data back into the list of swipes.
pub(super) fn sync_swipe(message: &mut ChatMessage) {
    let Some(at) = message.swipe_id.as_ref().and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
    else {
        return;
    };
    let info = info(message);
    let text = json!(message.mes);
    if let Some(slot) = message.swipes.as_mut().and_then(|s| s.get_mut(at)) {
        *slot = text;
    }
    if let Some(slot) = message.swipe_info.as_mut().and_then(|s| s.get_mut(at)) {
        *slot = info;
    }
}

fn add_alternatives(message: &mut ChatMessage, answer: &Answer) {
    let mut info = info(message);
    if let Some(extra) = info.get_mut("extra").and_then(Value::as_object_mut) {
        // The thoughts are those of the first candidate.
        extra.shift_remove("reasoning");
        extra.shift_remove("reasoning_duration");
    }
    for (text, reasoning) in &answer.alternatives {
        let mut info = info.clone();
        if let Some(extra) =
            info.get_mut("extra").and_then(Value::as_object_mut).filter(|_| !reasoning.is_empty())
        {
            extra.insert("reasoning".into(), json!(reasoning));
        }
        message.swipes.get_or_insert_default().push(json!(text));
        message.swipe_info.get_or_insert_default().push(info);
    }
}

/// Dates and generation data of an answer on a message; `fresh` unless a text is continued.
fn stamp(message: &mut ChatMessage, answer: &Answer, now: &str, fresh: bool) {
    message.send_date = Some(json!(now));
    let extra = message.extra.get_or_insert_default();
    extra.insert("api".into(), json!(answer.api));
    extra.insert("model".into(), json!(answer.model));
    if fresh || answer.streamed {
        let known = answer.reasoning_type == Some("model") && answer.streamed;
        extra.insert("reasoning_duration".into(), if known { json!(0) } else { Value::Null });
    }
    if let Some(kind) = answer.reasoning_type {
        extra.insert("reasoning_type".into(), json!(kind));
    }
    if fresh || !extra.contains_key("reasoning") || !answer.reasoning.is_empty() {
        extra.insert("reasoning".into(), json!(answer.reasoning));
    }
    extra.insert("reasoning_signature".into(), answer.signature.clone().map_or(Value::Null, Value::String));
    if answer.streamed {
        extra.insert("time_to_first_token".into(), json!(0));
    }
    message.rest.insert("title".into(), json!(""));
    message.rest.insert("gen_started".into(), json!(now));
    message.rest.insert("gen_finished".into(), json!(now));
}

/// ST's address of a character's picture; its presence in a message is data (spec 01 §2).
pub(super) fn avatar_url(avatar: &str) -> String {
    if avatar == "none" {
        return "img/ai4.png".to_owned();
    }
    format!("/thumbnail?type=avatar&file={}", encode_uri_component(avatar))
}
