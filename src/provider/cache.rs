//! Where a prefix cache may cut: `cache_control` marks on messages (spec 06 §4.2.1, §4.8).

use serde_json::{Value, json};

use super::item::{Item, part_text};
use crate::scene::Object;

/// At most this many marks are accepted in one request.
pub(super) const MOST_MARKS: usize = 4;

/// `{type: "ephemeral", ttl}`; without a time to live the provider's default holds.
pub(super) fn mark(ttl: Option<&str>) -> Value {
    ttl.map_or_else(|| json!({"type": "ephemeral"}), |ttl| json!({"type": "ephemeral", "ttl": ttl}))
}

/// Marks an object.
pub(super) fn put_mark(block: &mut Value, mark: Value) {
    if let Some(block) = block.as_object_mut() {
        block.insert("cache_control".to_owned(), mark);
    }
}

/// Which messages the walk counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Anthropic's own: every message counts, contents are blocks.
    Blocks,
    /// OpenAI-like routes to Anthropic: system messages are skipped, texts are wrapped. `true`: those at the end do not end the
    /// begun reply either.
    Messages(bool),
}

/// Marks the turns at depth `depth` and `depth + 2`, counted in changes of role from the end; a begun reply does not count.
/// Never sets more than `most` marks. Returns how many it set.
pub(super) fn mark_depth(list: &mut [Item], depth: usize, ttl: &str, form: Form, most: usize) -> usize {
    let (mut seen, mut at, mut previous, mut set) = (false, 0, String::new(), 0);
    for item in list.iter_mut().rev() {
        let system = item.is("system") && form != Form::Blocks;
        if !seen && (item.is("assistant") || system && form == Form::Messages(true)) {
            continue;
        }
        seen = true;
        if system || item.role() == previous {
            continue;
        }
        if (at == depth || at == depth + 2) && set < most && mark_last(item, ttl) {
            set += 1;
        }
        if at == depth + 2 {
            break;
        }
        at += 1;
        previous = item.role().to_owned();
    }
    set
}

/// Marks the last block of a message; an empty one stays as it is.
fn mark_last(item: &mut Item, ttl: &str) -> bool {
    if let Some(text) = item.text() {
        if text.is_empty() {
            return false;
        }
        let part = json!({"type": "text", "text": text, "cache_control": mark(Some(ttl))});
        item.set("content", json!([part]));
        return true;
    }
    let parts = item.fields.get_mut("content").and_then(Value::as_array_mut);
    parts.and_then(|p| p.last_mut()).map(|last| put_mark(last, mark(Some(ttl)))).is_some()
}

/// Marks the first system message of an OpenAI-like list, unless it is marked already (spec 06 §4.8).
pub(super) fn mark_system(list: &mut [Item], ttl: Option<&str>) -> bool {
    let Some(item) = list.iter_mut().find(|i| i.is("system")) else { return false };
    let marked = |o: &Object| o.contains_key("cache_control");
    let parts_marked = item.parts().is_some_and(|p| p.iter().filter_map(Value::as_object).any(marked));
    if marked(&item.fields) || parts_marked {
        return false;
    }
    if let Some(text) = item.text() {
        let part = json!({"type": "text", "text": text, "cache_control": mark(ttl)});
        item.set("content", json!([part]));
        return true;
    }
    let parts = item.fields.get_mut("content").and_then(Value::as_array_mut);
    let text = parts.and_then(|p| p.iter_mut().rev().find(|part| part_text(part).is_some()));
    text.map(|part| put_mark(part, mark(ttl))).is_some()
}
