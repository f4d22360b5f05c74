//! System messages that follow each other become one (spec 02 §17).

use serde_json::Value;

use super::item::{Counter, Item};
use crate::js;
use crate::profile::{PROMPT_SQUASH, Profile};

/// Identifiers that are never merged.
const APART: [&str; 3] = ["newMainChat", "newChat", "groupNudge"];

/// Merges neighbours; also gives the sum of the counts made on the way. The first keeps its identity; sources of all are kept.
/// Empty messages of other roles stay in the list and keep runs apart.
pub(super) fn squash(items: Vec<Item>, counter: &Counter<'_>, profile: &Profile) -> (Vec<Item>, i64) {
    let text_only = profile.on(&PROMPT_SQUASH);
    let mergeable = |item: &Item| {
        item.role == "system"
            && item.name.is_none()
            && !item.id.as_deref().is_some_and(|id| APART.contains(&id))
            && (item.media.is_empty() || !text_only)
    };
    let mut out: Vec<Item> = Vec::with_capacity(items.len());
    let (mut open, mut sum) = (false, 0);
    for mut item in items {
        if item.role == "system" && item.text.is_empty() && item.media.is_empty() {
            continue;
        }
        let merges = mergeable(&item);
        match out.last_mut().filter(|_| merges && open) {
            Some(last) => {
                let (a, b) = (as_text(last), as_text(&item));
                last.text = format!("{a}\n{b}");
                last.media.clear();
                if let Some((sep, _)) = item.pieces.first_mut() {
                    "\n".clone_into(sep);
                }
                last.pieces.append(&mut item.pieces);
                let charged = last.charged + item.charged;
                counter.recount(last);
                last.charged = charged;
                sum += last.tokens;
            }
            None => out.push(item),
        }
        open = merges;
    }
    (out, sum)
}

/// What string concatenation makes of a content.
fn as_text(item: &Item) -> String {
    if item.media.is_empty() {
        return item.text.clone();
    }
    js::value_to_text(&item.message().content.unwrap_or(Value::Null))
}
