//! The reply bias: how the answer is made to begin (spec 02 §16.3).

use crate::js;
use crate::parts::Kind;
use crate::scene::ChatMessage;

/// The bias before macros: that of the new input, else the newest one stored on a user's, hidden or narrator message, else
/// "start reply with". Empty for none.
pub fn reply_bias<'a>(chat: &'a [ChatMessage], kind: Kind, input: &'a str, start_with: &'a str) -> &'a str {
    if matches!(kind, Kind::Impersonate | Kind::Continue) {
        return "";
    }
    if !input.is_empty() {
        return input;
    }
    let skip = usize::from(kind == Kind::Swipe);
    let newest = chat.iter().rev().skip(skip).find(|m| m.is_user || m.is_system || m.is_narrator());
    newest
        .and_then(|m| m.extra("bias")?.as_str())
        .filter(|bias| !js::trim(bias).is_empty())
        .unwrap_or(start_with)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_newest_voice_of_the_user_decides() {
        let m = |v: Value| ChatMessage::from_value(&v).unwrap();
        let chat = [
            m(json!({"name": "旅人", "is_user": true, "mes": "x", "extra": {"bias": " 好"}})),
            m(json!({"name": "洛恩", "mes": "y", "extra": {"bias": " never"}})),
        ];
        assert_eq!(reply_bias(&chat, Kind::Normal, "", "S"), " 好");
        assert_eq!(reply_bias(&chat, Kind::Normal, " in", "S"), " in");
        assert_eq!(reply_bias(&chat, Kind::Continue, " in", "S"), "");
        assert_eq!(reply_bias(&chat[1..], Kind::Normal, "", "S"), "S");
    }
}
