//! The end of the prompt: an instruction beside the chat, and the line that the model continues (spec 07 §7.4).

use super::{Input, items};
use crate::macros::Expander;
use crate::parts::Kind;
use crate::profile::TEXT_LAST_LINE;
use crate::templates::{LastLine, Said, Variant, last_line, message};

/// An instruction beside the chat.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuietLine<'a> {
    /// The instruction; not empty.
    pub prompt: &'a str,
    /// The answer is meant to be seen.
    pub to_loud: bool,
    /// Name for the answer's line; empty for `System`.
    pub name: &'a str,
}

/// What the end depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending<'a> {
    /// An instruction.
    pub quiet: Option<QuietLine<'a>>,
    /// How the reply is to begin.
    pub bias: &'a str,
    /// Without instruct mode the line begins with the speaker's name.
    pub names_speaker: bool,
    /// The chat has one message.
    pub only_message: bool,
    /// The last message of the chat is the user's.
    pub last_is_user: bool,
}

/// A text with the end of the prompt behind it.
pub(super) fn ended(input: &Input<'_>, text: &str, scope: &mut Expander<'_>) -> String {
    let (end, kind) = (&input.ending, input.kind);
    let mut text = text.to_owned();
    let fixed = input.profile.on(&TEXT_LAST_LINE);
    let drops = match input.instruct {
        // With an instruction behind it that brings no line feed of its own, the message keeps its own (F20).
        Some(t) => t.wrap && kind != Kind::Quiet && !(fixed && end.quiet.is_some()),
        None => true,
    };
    if kind != Kind::Continue && drops && text.ends_with('\n') {
        text.pop();
    }
    if let Some(quiet) = end.quiet {
        if let Some(template) = input.instruct {
            let said =
                Said { name: input.cast.user, text: quiet.prompt, is_narrator: true, ..Said::default() };
            text.push_str(&message(template, &said, Variant::Usual, &input.cast, scope));
        } else {
            text.push('\n');
            text.push_str(quiet.prompt);
            if !quiet.to_loud {
                return text;
            }
        }
    }
    let impersonate = kind == Kind::Impersonate;
    if let Some(template) = input.instruct {
        if kind != Kind::Continue {
            let own = if impersonate { input.cast.user } else { input.cast.char };
            let name = match end.quiet {
                Some(q) if !q.to_loud && !impersonate => {
                    if q.name.is_empty() {
                        "System"
                    } else {
                        q.name
                    }
                }
                _ => own,
            };
            let ask = LastLine {
                name,
                impersonate,
                bias: end.bias,
                quiet: end.quiet.is_some() && (kind == Kind::Quiet || fixed),
                to_loud: end.quiet.is_some_and(|q| q.to_loud),
            };
            text.push_str(&last_line(template, &ask, &input.cast, scope));
        }
        return text;
    }
    if impersonate && kind != Kind::Continue {
        own_line(&mut text);
        text.push_str(input.cast.user);
        text.push(':');
    }
    if end.names_speaker && !(kind == Kind::Continue && end.only_message) && !items::begun(input) {
        own_line(&mut text);
        let of_user = kind == Kind::Continue && end.last_is_user;
        if !of_user {
            text.push_str(input.cast.char);
            text.push(':');
        }
    }
    text
}

fn own_line(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}
