//! Tool calls that arrive in pieces (spec 06 §6.2).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::js;

/// Calls in one answer that are kept; a stream can name any index.
const MOST_CALLS: u64 = 256;

/// The calls so far, by index.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    list: BTreeMap<u64, Value>,
    /// Argument texts of Anthropic's blocks that are still open.
    open: BTreeMap<u64, String>,
}

impl Calls {
    /// Merges a piece into the call at an index.
    pub(super) fn merge(&mut self, index: u64, piece: &Value) {
        if index < MOST_CALLS {
            merge(self.list.entry(index).or_insert_with(|| json!({})), piece, 0);
        }
    }

    /// Adds a call that is complete.
    pub(super) fn push(&mut self, call: Value) {
        let index = self.list.keys().next_back().map_or(0, |i| i + 1);
        if index < MOST_CALLS {
            self.list.insert(index, call);
        }
    }

    /// Opens one of Anthropic's blocks.
    pub(super) fn open(&mut self, index: u64, block: &Value) {
        if index < MOST_CALLS {
            self.list.insert(index, anthropic(block));
            self.open.insert(index, String::new());
        }
    }

    /// More argument text of an open block.
    pub(super) fn grow(&mut self, index: u64, text: &str) {
        if let Some(open) = self.open.get_mut(&index) {
            open.push_str(text);
        }
    }

    /// Closes a block: its argument text is parsed; an empty or broken one leaves what the start said.
    pub(super) fn close(&mut self, index: u64) {
        let Some(text) = self.open.remove(&index) else { return };
        let arguments = self.list.get_mut(&index).and_then(|c| c.pointer_mut("/function/arguments"));
        if let (Some(arguments), Ok((value, _))) = (arguments, js::parse(&text)) {
            *arguments = value;
        }
    }

    /// Gives the call with this id a signature.
    pub(super) fn sign(&mut self, id: &str, signature: &str) -> bool {
        let call = self.list.values_mut().find(|c| c.get("id").is_some_and(|i| i == id));
        let call = call.and_then(Value::as_object_mut);
        call.map(|c| c.insert("signature".to_owned(), json!(signature))).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The calls in order; blocks that never closed are closed.
    pub(super) fn finish(&mut self) -> Vec<Value> {
        for index in self.open.keys().copied().collect::<Vec<_>>() {
            self.close(index);
        }
        self.list.values().cloned().collect()
    }
}

/// Texts grow, except id, name and type, which keep the first value that says something; null never overwrites.
fn merge(target: &mut Value, piece: &Value, level: usize) {
    let Some(piece) = piece.as_object().filter(|_| level < 16) else { return };
    let Some(fields) = target.as_object_mut() else {
        *target = Value::Object(piece.clone());
        return;
    };
    for (key, value) in piece {
        let keeps = matches!(key.as_str(), "id" | "name" | "type");
        match (fields.get_mut(key), value) {
            (_, Value::Null) => {}
            (Some(Value::String(old)), Value::String(new)) if keeps => {
                if old.is_empty() {
                    new.clone_into(old);
                }
            }
            (Some(Value::String(old)), Value::String(new)) => old.push_str(new),
            (Some(old @ Value::Object(_)), Value::Object(_)) => merge(old, value, level + 1),
            (Some(old), new) => *old = new.clone(),
            (None, new) => {
                fields.insert(key.clone(), new.clone());
            }
        }
    }
}

/// An Anthropic block in OpenAI's form; the arguments are an object.
pub(super) fn anthropic(block: &Value) -> Value {
    let field = |key: &str| block.get(key).cloned().unwrap_or_default();
    json!({"id": field("id"), "function": {"name": field("name"), "arguments": field("input")}})
}

/// A Gemini part in OpenAI's form. Gemini gives no ids: one is made from the call and its position, the same on every run.
pub(super) fn gemini(part: &Value, position: usize) -> Option<Value> {
    let call = part.get("functionCall")?;
    let name = call.get("name").cloned().unwrap_or_default();
    let arguments = call.get("args").cloned().unwrap_or_default();
    let text = format!("{position} {} {}", js::stringify(&name), js::stringify(&arguments));
    // FNV-1a.
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let id =
        call.get("id").and_then(Value::as_str).map_or_else(|| format!("call_{hash:016x}"), str::to_owned);
    let mut out = json!({"id": id, "function": {"name": name, "arguments": arguments}});
    if let (Some(signature), Some(out)) = (part.get("thoughtSignature"), out.as_object_mut()) {
        out.insert("signature".to_owned(), signature.clone());
    }
    Some(out)
}
