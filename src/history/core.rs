//! The core chat: which messages count, and their texts (spec 02 §3).

use std::borrow::Cow;

use serde_json::Value;

use crate::js;
use crate::macros::Expander;
use crate::parts::{Kind, Omitted};
use crate::profile::{PROMPT_HISTORY, Profile};
use crate::scene::{ChatMessage, Reasoning};
use crate::scripts::{Applied, Call, Change, CompiledScripts, Placement, run};

/// A message that counts, oldest first in a list of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'a> {
    /// Index in the whole chat.
    pub index: usize,
    /// The stored message.
    pub message: &'a ChatMessage,
    /// Its text for the model, without a name.
    pub text: Cow<'a, str>,
    /// Stored reasoning that stands at the beginning of `text`; empty for none.
    pub reasoning: String,
    /// Messages behind it; -1 for the one that is continued.
    pub depth: i64,
    /// What scripts did to it.
    pub changes: Vec<Change>,
}

/// What decides about lines.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// What is asked for.
    pub kind: Kind,
    /// Hidden messages that hold tool calls stay (spec 02 §12.2).
    pub tools: bool,
    /// In a group: the speaker's name; others' reasoning is left out.
    pub only_reasoning_of: Option<&'a str>,
    /// Avatar of the speaker, whose scripts may run.
    pub speaker: &'a str,
    /// Regex scripts.
    pub scripts: &'a CompiledScripts,
    /// How reasoning returns.
    pub reasoning: &'a Reasoning,
    /// Positions of messages that are recalled elsewhere in the request, ascending.
    pub recalled: &'a [usize],
    /// Faults put right or not.
    pub profile: &'a Profile,
}

/// The lines of a chat, oldest first, and what was left out.
pub fn core_chat<'a>(
    chat: &'a [ChatMessage],
    rules: &Rules<'_>,
    scope: &mut Expander<'_>,
) -> (Vec<Line<'a>>, Vec<Omitted>) {
    let mut omitted = Vec::new();
    let mut leave = |index: usize, reason: &str| Omitted::message(&mut omitted, index, reason);
    let mut kept: Vec<(usize, &ChatMessage)> = Vec::new();
    let fixed = rules.profile.on(&PROMPT_HISTORY);
    for (index, message) in chat.iter().enumerate() {
        let tool_record = rules.tools && message.extra("tool_invocations").is_some_and(Value::is_array);
        if message.is_system && !tool_record {
            leave(index, "hidden");
        } else if fixed && message.ignore {
            leave(index, "ghosted");
        } else if rules.recalled.binary_search(&index).is_ok() {
            leave(index, "recalled");
        } else {
            kept.push((index, message));
        }
    }
    // The reference drops the last visible message even when the swiped one is hidden (spec 02 F-45).
    if rules.kind == Kind::Swipe
        && (!fixed || kept.last().is_some_and(|(index, _)| index + 1 == chat.len()))
        && let Some((index, _)) = kept.pop()
    {
        leave(index, "swiped_out");
    }
    // A run of ghosts at the old end makes no records, and does no harm.
    for (index, _) in kept.iter().take_while(|(_, m)| m.ignore) {
        leave(*index, "ghosted");
    }
    let behind = if rules.kind == Kind::Continue { 2 } else { 1 };
    let count = signed(kept.len());
    let mut lines: Vec<_> = kept
        .into_iter()
        .enumerate()
        .map(|(i, (index, message))| {
            let depth = count - signed(i) - behind;
            let placement = Placement::of(message, true, rules.profile);
            let (text, changes) = scripted(&message.mes, placement, index, message, depth, rules, scope);
            let text = with_titles(message, with_files(message, text));
            Line { index, message, text, reasoning: String::new(), depth, changes }
        })
        .collect();
    add_reasoning(&mut lines, rules, scope);
    (lines, omitted)
}

/// A text as the scripts for requests leave it.
fn scripted<'t>(
    text: &'t str,
    placement: Placement,
    index: usize,
    message: &ChatMessage,
    depth: i64,
    rules: &Rules<'_>,
    scope: &mut Expander<'_>,
) -> (Cow<'t, str>, Vec<Change>) {
    if rules.scripts.is_empty() {
        return (text.into(), Vec::new());
    }
    let call = Call {
        prompt: true,
        depth: Some(depth),
        index: Some(index),
        speaker: Some(rules.speaker),
        author: message.original_avatar.as_deref(),
        ..Call::new(placement)
    };
    let Applied { text: applied, changes } =
        run(text, &call, rules.scripts, &scope.env, scope.host, scope.effects);
    (if changes.is_empty() { text.into() } else { applied.into() }, changes)
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Attached files go in front; the blank line stands even when no file has a text.
fn with_files<'t>(message: &ChatMessage, text: Cow<'t, str>) -> Cow<'t, str> {
    let Some(files) = message.extra("files").and_then(Value::as_array).filter(|f| !f.is_empty()) else {
        return text;
    };
    let texts: Vec<_> =
        files.iter().filter_map(|f| f.get("text")?.as_str()).filter(|t| !t.is_empty()).collect();
    format!("{}\n\n{text}", texts.join("\n\n")).into()
}

/// Titles of media that ask for it go behind.
fn with_titles<'t>(message: &ChatMessage, text: Cow<'t, str>) -> Cow<'t, str> {
    let mut titles: Vec<String> = Vec::new();
    let truthy = |v: Option<&Value>| v.is_some_and(js::to_boolean);
    if truthy(message.extra("append_title")) && truthy(message.extra("title")) {
        titles.extend(message.extra("title").map(js::value_to_text));
    }
    let media = message.extra("media").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let asked = media.iter().filter(|m| truthy(m.get("title")) && truthy(m.get("append_title")));
    titles.extend(asked.filter_map(|m| m.get("title")).map(js::value_to_text));
    if titles.is_empty() { text } else { format!("{text}\n\n{}", titles.join("\n\n")).into() }
}

/// Stored reasoning returns in front of the newest messages (spec 02 §3.4).
fn add_reasoning(lines: &mut [Line<'_>], rules: &Rules<'_>, scope: &mut Expander<'_>) {
    let r = rules.reasoning;
    let most = usize::try_from(r.max_additions).unwrap_or(0);
    let mut added = 0;
    for (i, line) in lines.iter_mut().rev().enumerate() {
        if rules.only_reasoning_of.is_none_or(|name| name == line.message.name) {
            let prefix_only = rules.kind == Kind::Continue && i == 0;
            let stored = line.message.extra("reasoning").and_then(Value::as_str).unwrap_or("");
            let (index, message, depth) = (line.index, line.message, line.depth);
            let (stored, _) = scripted(stored, Placement::Reasoning, index, message, depth, rules, scope);
            let wanted = prefix_only || (r.add_to_prompts && added < most);
            if wanted && !stored.is_empty() && stored != "\u{200b}" {
                added += 1;
                let prefix = scope.expand(&r.prefix);
                line.reasoning = if prefix_only && line.text.is_empty() {
                    format!("{prefix}{stored}")
                } else {
                    let (suffix, separator) = (scope.expand(&r.suffix), scope.expand(&r.separator));
                    format!("{prefix}{stored}{suffix}{separator}")
                };
                line.text = format!("{}{}", line.reasoning, line.text).into();
            }
        }
        if !r.add_to_prompts || added >= most {
            break;
        }
    }
}
