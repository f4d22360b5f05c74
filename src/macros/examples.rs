//! Example dialogue -> blocks (spec 04 §11.3, spec 01 §6.3).

use super::post::starts_with_ci;
use crate::js;

const START: &str = "<START>";

/// The blocks, each with its heading and a final line feed, joined. Empty for an empty text or a bare `<START>`.
pub(super) fn blocks(text: &str, heading: &str) -> String {
    let mut out = String::new();
    for block in split(text) {
        for part in [heading, &block, "\n"] {
            out.push_str(part);
        }
    }
    out
}

/// The trimmed texts between the `<START>` marks (any case); what stands before the first mark is a block too.
pub(super) fn split(text: &str) -> Vec<String> {
    if text.is_empty() || text == START {
        return Vec::new();
    }
    let text = if text.starts_with(START) { text.to_owned() } else { format!("{START}\n{}", js::trim(text)) };
    let mut blocks = Vec::new();
    let mut from = None;
    for (at, _) in text.match_indices('<') {
        if text.get(at..).is_some_and(|t| starts_with_ci(t, START)) {
            if let Some(from) = from {
                blocks.push(js::trim(text.get(from..at).unwrap_or("")).to_owned());
            }
            from = Some(at + START.len());
        }
    }
    if let Some(from) = from {
        blocks.push(js::trim(text.get(from..).unwrap_or("")).to_owned());
    }
    blocks
}
