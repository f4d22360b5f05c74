//! Counts that a host brings: `missingCounts` and `supplyCounts` of a room whose tokenizer is `supplied`.

use std::rc::Rc;

use serde_json::{Value, json};

use super::options::{SUPPLIED, Vocabularies};
use crate::error::{Code, Error};
use crate::profile::Profile;
use crate::scene::Preset;
use crate::tokens::{Count, Supplied};

/// The counter for a choice of tokenizer. A table that is there already stays.
pub(super) fn counter(
    vocabularies: &Vocabularies,
    choice: Option<&str>,
    preset: &Preset,
    profile: &Profile,
    table: &mut Option<Rc<Supplied>>,
) -> Result<Rc<dyn Count>, Error> {
    let choice = choice.unwrap_or("auto");
    let name = choice.strip_prefix(SUPPLIED).filter(|rest| rest.is_empty() || rest.starts_with(':'));
    if name.is_none() {
        let counter = vocabularies.counter(choice, preset, profile)?;
        *table = None;
        return Ok(counter);
    }
    let known = table.take().filter(|table| table.id() == choice);
    let counter = known.unwrap_or_else(|| Rc::new(Supplied::new(choice)));
    *table = Some(counter.clone());
    Ok(counter)
}

fn given(table: Option<&Supplied>) -> Result<&Supplied, Error> {
    table.ok_or_else(|| {
        Error::new(
            Code::RoomState,
            "tokenizer",
            "the room counts itself: its option tokenizer is not \"supplied\"",
        )
    })
}

/// The texts that were guessed since the last call, with the keys that counts can be stored under.
pub(super) fn missing(table: Option<&Supplied>) -> Result<Vec<Value>, Error> {
    let texts = given(table)?.take_missing();
    Ok(texts.into_iter().map(|text| json!({"key": Supplied::key_text(&text), "text": text})).collect())
}

/// Enters counts: `{counts: [{text or key, tokens}]}`. All of them or none.
pub(super) fn supply(table: Option<&Supplied>, value: &Value) -> Result<(), Error> {
    let table = given(table)?;
    let wrong = |path: String, what: &'static str| Err(Error::new(Code::SceneField, path, what));
    let Some(counts) = value.get("counts").and_then(Value::as_array) else {
        return wrong("counts".to_owned(), "must be a list of counts");
    };
    let mut read = Vec::with_capacity(counts.len());
    for (i, count) in counts.iter().enumerate() {
        let Some(tokens) = count.get("tokens").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok())
        else {
            return wrong(format!("counts[{i}].tokens"), "must be a whole number of tokens");
        };
        let key = count.get("key").and_then(Value::as_str);
        match (count.get("text").and_then(Value::as_str), key.and_then(Supplied::read_key)) {
            (Some(text), _) => read.push((Some(text), Supplied::key(text), tokens)),
            (None, Some(key)) => read.push((None, key, tokens)),
            (None, None) => return wrong(format!("counts[{i}]"), "must name its text, or the key of it"),
        }
    }
    for (text, key, tokens) in read {
        match text {
            Some(text) => table.supply(text, tokens),
            None => table.supply_key(key, tokens),
        }
    }
    Ok(())
}
