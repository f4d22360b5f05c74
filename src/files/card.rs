//! A card object -> the card of spec 08 §12.5: `scene::CardFile`, and its book in the engine's terms.

use serde_json::Value;

use crate::error::Warnings;
use crate::scene::CardFile;

/// The normalised card.
pub(super) fn read(source: &Value, notes: &mut Warnings) -> Value {
    let Some(object) = source.as_object() else { return Value::Null };
    let (card, warnings) = CardFile::read(object);
    notes.extend(warnings);
    card.to_value()
}
