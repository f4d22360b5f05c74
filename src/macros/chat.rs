//! Macros about the chat (spec 04 §11.4) and the time since the user last wrote.

use super::time::{self, Moment};
use crate::js;
use crate::scene::ChatMessage;

/// A message whose swipe is still being generated.
fn pending(message: &ChatMessage) -> bool {
    let (Some(swipes), Some(id)) = (&message.swipes, &message.swipe_id) else { return false };
    #[expect(clippy::cast_precision_loss, reason = "swipe lists are short")]
    let count = swipes.len() as f64;
    js::value_to_number(id) >= count
}

/// The last message and its index; `visible_only` leaves hidden ones out (fault F20).
pub(super) fn last(chat: &[ChatMessage], visible_only: bool) -> Option<(usize, &ChatMessage)> {
    chat.iter().enumerate().rev().find(|(_, m)| !(pending(m) || visible_only && m.is_system))
}

/// The last visible message of the user, or of anyone else.
pub(super) fn last_by(chat: &[ChatMessage], user: bool) -> Option<&ChatMessage> {
    chat.iter().rev().find(|m| !pending(m) && !m.is_system && m.is_user == user)
}

/// How many swipes the very last message has; empty when it has none.
pub(super) fn last_swipe_id(chat: &[ChatMessage]) -> String {
    let count = chat.last().and_then(|m| m.swipes.as_ref()).map_or(0, Vec::len);
    if count == 0 { String::new() } else { count.to_string() }
}

/// Which swipe the very last message shows, counted from 1.
pub(super) fn current_swipe_id(chat: &[ChatMessage]) -> Option<String> {
    let id = chat.last()?.swipe_id.as_ref()?.as_f64()?;
    Some(js::number_text(id + 1.0))
}

/// Time since the user's message before the last one, in words.
pub(super) fn idle(chat: &[ChatMessage], now: Moment) -> String {
    let mut visible = chat.iter().rev().filter(|m| !m.is_system);
    visible.next();
    match visible.find(|m| m.is_user).and_then(|m| m.send_date.as_ref()).filter(|d| js::to_boolean(d)) {
        None => "just now".to_owned(),
        Some(date) => time::send_date(date, now.offset)
            .map_or_else(|| "Invalid date".to_owned(), |then| time::humanize(now.ms - then)),
    }
}
