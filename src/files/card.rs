//! A card object -> the card of spec 08 §12.5: `scene::CardFile`, and its book in the engine's terms.

use serde_json::Value;

use crate::error::Warnings;
use crate::scene::{CardFile, read_book};

/// The normalised card.
pub(super) fn read(source: &Value, notes: &mut Warnings) -> Value {
    let Some(object) = source.as_object() else { return Value::Null };
    let (card, warnings) = CardFile::read(object);
    notes.extend(warnings);
    let mut value = card.to_value();
    if let (Some(book), Some(out)) = (card.book().and_then(Value::as_object), value.as_object_mut()) {
        let path = if object.get("data").is_some_and(Value::is_object) {
            "data.character_book"
        } else {
            "character_book"
        };
        out.insert("book".to_owned(), read_book(book, path, notes));
    }
    value
}
