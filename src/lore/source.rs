//! Books of a scene -> the entries of one evaluation, in evaluation order.
//!
//! Spec: 03 §2.

use std::cmp::Ordering;

use serde_json::Value;

use super::entry::{Entry, Source};
use crate::profile::Profile;
use crate::scene::{Character, Object, Scene};

/// Entries of a book in JavaScript's property order: integer-like keys ascending, then the others as they stand.
fn entries_of(book: &Value) -> Vec<&Value> {
    match book.get("entries") {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(Value::Object(map)) => {
            let index = |key: &str| {
                let plain = key == "0" || (!key.starts_with('0') && key.bytes().all(|b| b.is_ascii_digit()));
                (plain && !key.is_empty())
                    .then(|| key.parse::<u32>().ok())
                    .flatten()
                    .filter(|n| *n != u32::MAX)
            };
            let mut numbered: Vec<(u32, &Value)> =
                map.iter().filter_map(|(k, v)| Some((index(k)?, v))).collect();
            numbered.sort_by_key(|(n, _)| *n);
            let others = map.iter().filter(|(k, _)| index(k).is_none()).map(|(_, v)| v);
            numbered.into_iter().map(|(_, v)| v).chain(others).collect()
        }
        _ => Vec::new(),
    }
}

/// The entries of a book by name; an unknown book gives none.
fn read(books: &Object, name: &str, source: Source, profile: &Profile) -> Vec<Entry> {
    books.get(name).map_or_else(Vec::new, |book| {
        entries_of(book).into_iter().filter_map(|raw| Entry::new(name, raw, source, profile)).collect()
    })
}

/// Avatar file name without its extension.
pub(super) fn stem(avatar: &str) -> &str {
    match avatar.rfind('.') {
        Some(dot) if avatar.get(dot + 1..).is_some_and(|e| !e.is_empty() && !e.contains('/')) => {
            avatar.get(..dot).unwrap_or(avatar)
        }
        _ => avatar,
    }
}

/// All entries of an evaluation for a speaker, sorted. Fixes group order, draws and budget; not the order of the text.
pub(super) fn sorted(scene: &Scene, speaker: Option<&Character>, profile: &Profile) -> Vec<Entry> {
    let books = &scene.lore.books;
    let chat_book = scene.chat.meta_text("world_info");
    let persona_book = scene.persona.lorebook.as_str();
    let is_global = |name: &str| scene.lore.global.iter().any(|g| g == name);
    let mut global = Vec::new();
    for name in &scene.lore.global {
        global.extend(read(books, name, Source::Global, profile));
    }
    let mut own: Vec<&str> = Vec::new();
    if let Some(character) = speaker {
        own.push(&character.world);
        let name = stem(&character.avatar);
        // Only the first record of a character counts (spec 03 addendum 1).
        let record =
            scene.lore.char_lore.iter().find(|r| r.get("name").and_then(Value::as_str) == Some(name));
        let extra = record.and_then(|r| r.get("extraBooks")).and_then(Value::as_array);
        own.extend(extra.into_iter().flatten().filter_map(Value::as_str));
    }
    let mut character = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for name in own {
        if name.is_empty()
            || seen.contains(&name)
            || is_global(name)
            || name == chat_book
            || name == persona_book
        {
            continue;
        }
        seen.push(name);
        character.extend(read(books, name, Source::Character, profile));
    }
    let mut chat = Vec::new();
    if !chat_book.is_empty() && !is_global(chat_book) {
        chat = read(books, chat_book, Source::Chat, profile);
    }
    let mut persona = Vec::new();
    if !persona_book.is_empty() && persona_book != chat_book && !is_global(persona_book) {
        persona = read(books, persona_book, Source::Persona, profile);
    }
    let strategy =
        scene.settings.world_info.get("world_info_character_strategy").map_or(Some(1.0), Value::as_f64);
    let mut out = by_order(chat);
    out.extend(by_order(persona));
    if strategy == Some(1.0) {
        out.extend(by_order(character));
        out.extend(by_order(global));
    } else if strategy == Some(2.0) {
        out.extend(by_order(global));
        out.extend(by_order(character));
    } else {
        global.extend(character);
        out.extend(by_order(global));
    }
    out
}

/// `sort((a, b) => b.order - a.order)`. A missing order makes the comparison inconsistent; what V8 makes of that is a binary insertion
/// sort (its merge sort does so for short lists), so that is what is used when an order is missing.
fn by_order(mut entries: Vec<Entry>) -> Vec<Entry> {
    let compare = |a: &Entry, b: &Entry| b.order.partial_cmp(&a.order).unwrap_or(Ordering::Equal);
    if entries.iter().all(|e| !e.order.is_nan()) {
        entries.sort_by(compare);
        return entries;
    }
    let mut sorted: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let before = sorted.get(middle).is_some_and(|m| compare(&entry, m) == Ordering::Less);
            if before { high = middle } else { low = middle + 1 }
        }
        sorted.insert(low, entry);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn properties_come_in_javascripts_order() {
        let book =
            json!({"entries": {"5": {"uid": 5}, "a": {"uid": "a"}, "2": {"uid": 2}, "01": {"uid": "x"}}});
        let uids: Vec<_> = entries_of(&book).iter().map(|e| e["uid"].clone()).collect();
        assert_eq!(uids, [json!(2), json!(5), json!("a"), json!("x")]);
    }

    #[test]
    fn strategies_follow_the_table() {
        // Spec 03 §2 [run].
        let book = |orders: &[i64]| {
            let entries: Object = orders
                .iter()
                .enumerate()
                .map(|(i, o)| (i.to_string(), json!({"uid": i, "constant": true, "order": o, "position": 0})))
                .collect();
            json!({ "entries": entries })
        };
        let mut scene = Scene::default();
        for (name, orders) in [
            ("G1", [100, 50]),
            ("G2", [100, 200]),
            ("C", [100, 10]),
            ("X", [100, 300]),
            ("CH", [1, 100]),
            ("P", [100, 1]),
        ] {
            scene.lore.books.insert(name.to_owned(), book(&orders));
        }
        scene.lore.global = vec!["G1".to_owned(), "G2".to_owned()];
        scene.lore.char_lore = vec![
            json!({"name": "sera", "extraBooks": ["X", "C", "P"]}),
            json!({"name": "sera", "extraBooks": ["G1"]}),
        ];
        scene.chat.metadata.insert("world_info".to_owned(), json!("CH"));
        scene.persona.lorebook = "P".to_owned();
        let speaker =
            Character { avatar: "sera.png".to_owned(), world: "C".to_owned(), ..Character::default() };
        for (strategy, want) in [
            (0, "CH.1 CH.0 P.0 P.1 X.1 G2.1 G1.0 G2.0 C.0 X.0 G1.1 C.1"),
            (1, "CH.1 CH.0 P.0 P.1 X.1 C.0 X.0 C.1 G2.1 G1.0 G2.0 G1.1"),
            (2, "CH.1 CH.0 P.0 P.1 G2.1 G1.0 G2.0 G1.1 X.1 C.0 X.0 C.1"),
        ] {
            scene.settings.world_info.insert("world_info_character_strategy".to_owned(), json!(strategy));
            let ids: Vec<_> =
                sorted(&scene, Some(&speaker), &Profile::sillytavern()).into_iter().map(|e| e.id).collect();
            assert_eq!(ids.join(" "), want, "strategy {strategy}");
        }
    }
}
