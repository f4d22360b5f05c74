//! The user's swipe to the right: a new reply, an existing one, or nothing (spec 02 addendum 4).

use serde_json::{Value, json};

use super::store;
use crate::js;
use crate::scene::{ChatMessage, Scene};

/// What a swipe does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A new reply is asked for.
    Generate,
    /// The text at this place is shown.
    Show(usize),
    /// Nothing: the last message cannot be swiped.
    Refuse,
}

/// Decides; nothing is changed.
pub(super) fn plan(scene: &Scene) -> Step {
    let Some(last) = scene.chat.messages.last() else { return Step::Refuse };
    if last.is_user || last.is_system {
        return Step::Refuse;
    }
    let count = last.swipes.as_ref().map_or(1, Vec::len);
    let at =
        last.swipe_id.as_ref().and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    if at + 1 < count {
        return Step::Show(at + 1);
    }
    let untouched =
        scene.chat.messages.len() == 1 && !scene.chat.metadata.get("tainted").is_some_and(js::to_boolean);
    match (untouched, count) {
        (true, 1) => Step::Refuse,
        (true, _) => Step::Show(0),
        (false, _) => Step::Generate,
    }
}

/// Carries out a step that needs no request.
pub(super) fn apply(message: &mut ChatMessage, step: &Step) {
    store::ensure_swipes(message);
    let Step::Show(at) = *step else { return };
    let Some(text) = message.swipes.as_ref().and_then(|s| s.get(at)).map(js::value_to_text) else { return };
    message.mes = text;
    message.swipe_id = Some(json!(at));
    let info = message.swipe_info.as_ref().and_then(|i| i.get(at)).cloned().unwrap_or(Value::Null);
    message.send_date = info.get("send_date").cloned().or_else(|| message.send_date.take());
    message.extra = Some(info.get("extra").and_then(Value::as_object).cloned().unwrap_or_default());
    for key in ["gen_started", "gen_finished"] {
        match info.get(key) {
            Some(v) => {
                message.rest.insert(key.to_owned(), v.clone());
            }
            None => {
                message.rest.shift_remove(key);
            }
        }
    }
}
