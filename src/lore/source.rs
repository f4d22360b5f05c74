//! Books of a scene -> the entries of one evaluation, in evaluation order.
//!
//! Spec: 03 §2.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value;

use super::entry::{Entry, Source};
use crate::error::Warning;
use crate::files::world_file;
use crate::js;
use crate::profile::{self, Profile};
use crate::scene::{BookDialect, Character, Object, Scene, is_spec_shaped, unwrap_book};

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
            js::sort_by_key(&mut numbered, |(n, _)| *n);
            let others = map.iter().filter(|(k, _)| index(k).is_none()).map(|(_, v)| v);
            numbered.into_iter().map(|(_, v)| v).chain(others).collect()
        }
        _ => Vec::new(),
    }
}

/// The entries of a book by name; an unknown book gives none. Gives what cannot be an entry to `bad`: the book's name and the
/// entry's place in it.
fn read(
    books: &Object,
    (source, name): (Source, &str),
    profile: &Profile,
    shares: &mut IndexMap<String, i64>,
    bad: &mut Vec<String>,
) -> Vec<Entry> {
    let Some(book) = books.get(name) else { return Vec::new() };
    let fixed = profile.on(&profile::LORE_ENTRIES);
    let own = if fixed { Own::of(book) } else { Own::default() };
    if let Some(share) = own.budget {
        shares.insert(name.to_owned(), share);
    }
    let converted = if fixed { converted(book) } else { None };
    let book = converted.as_ref().unwrap_or(book);
    if !book.get("entries").is_some_and(|e| e.is_object() || e.is_array()) {
        bad.push(format!("lorebooks.books[{name:?}]"));
        return Vec::new();
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (at, raw) in entries_of(book).into_iter().enumerate() {
        match Entry::new(name, raw, source, profile) {
            Some(mut entry) => {
                entry.scan_depth = entry.scan_depth.or(own.scan_depth);
                entry.exclude_recursion |= own.flat;
                entries.push(entry);
            }
            None => bad.push(format!("lorebooks.books[{name:?}].entries[{at}]")),
        }
    }
    if fixed {
        // Two entries under one uid are still two (03 F51).
        let mut seen = BTreeSet::new();
        for entry in &mut entries {
            let mut id = entry.id.clone();
            let mut n = 1;
            while !seen.insert(id.clone()) {
                n += 1;
                id = format!("{}#{n}", entry.id);
            }
            entry.id = id;
        }
    }
    entries
}

/// What a book says for all its entries (03 F46).
#[derive(Default)]
struct Own {
    /// Messages to scan, where an entry has no number of its own.
    scan_depth: Option<f64>,
    /// Tokens that its entries may take.
    budget: Option<i64>,
    /// Its entries are not activated by recursion.
    flat: bool,
}

impl Own {
    fn of(book: &Value) -> Self {
        let Some((book, _)) = book.as_object().map(unwrap_book) else { return Self::default() };
        let number = |key: &str| book.get(key).and_then(Value::as_f64).filter(|n| *n > 0.0);
        Self {
            scan_depth: number("scan_depth"),
            budget: number("token_budget").map(js::to_integer),
            flat: book.get("recursive_scanning") == Some(&Value::Bool(false)),
        }
    }
}

/// A `character_book` or a book of another program, in the form of a world file (03 F47); `None` for what is one already.
fn converted(book: &Value) -> Option<Value> {
    let (object, _) = unwrap_book(book.as_object()?);
    let enveloped = !book.get("entries").is_some_and(|e| e.is_object() || e.is_array());
    let foreign = enveloped
        || BookDialect::of(object) != BookDialect::Standard
        || entries_of(book).iter().any(|e| e.as_object().is_some_and(is_spec_shaped));
    foreign.then(|| world_file(book).ok()).flatten()
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

/// The entries of a selection.
pub(super) struct Collected {
    /// In evaluation order.
    pub(super) entries: Vec<Entry>,
    /// Tokens that the entries of a book may take, where it says so.
    pub(super) shares: IndexMap<String, i64>,
    /// What could not be read.
    pub(super) warnings: Vec<Warning>,
}

/// Which books a speaker's evaluation reads, and how they are put together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Selection {
    chat: Vec<String>,
    persona: Vec<String>,
    character: Vec<String>,
    global: Vec<String>,
    strategy: Option<f64>,
}

impl Selection {
    /// The books of a scene for a speaker (spec 03 §2).
    pub(super) fn of(scene: &Scene, speaker: Option<&Character>) -> Self {
        let chat_book = scene.chat.meta_text("world_info");
        let persona_book = scene.persona.lorebook.as_str();
        let is_global = |name: &str| scene.lore.global.iter().any(|g| g == name);
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
        let mut character: Vec<String> = Vec::new();
        for name in own {
            let elsewhere = is_global(name) || name == chat_book || name == persona_book;
            if !name.is_empty() && !elsewhere && !character.iter().any(|c| c == name) {
                character.push(name.to_owned());
            }
        }
        let one = |name: &str, wanted: bool| {
            let wanted = wanted && !name.is_empty() && !is_global(name);
            wanted.then(|| name.to_owned()).into_iter().collect()
        };
        Self {
            chat: one(chat_book, true),
            persona: one(persona_book, persona_book != chat_book),
            character,
            global: scene.lore.global.clone(),
            strategy: scene
                .settings
                .world_info
                .get("world_info_character_strategy")
                .map_or(Some(1.0), Value::as_f64),
        }
    }

    /// All its entries, sorted, and what could not be read. Fixes group order, draws and budget; not the order of the text.
    ///
    /// In the reference one bad entry switches all books off, silently (03 F53).
    pub(super) fn entries(&self, books: &Object, profile: &Profile) -> Collected {
        let (mut bad, mut shares) = (Vec::new(), IndexMap::new());
        let mut all = |names: &[String], source: Source| -> Vec<Entry> {
            let read = |name: &String| read(books, (source, name), profile, &mut shares, &mut bad);
            names.iter().flat_map(read).collect()
        };
        let (chat, persona) = (all(&self.chat, Source::Chat), all(&self.persona, Source::Persona));
        let mut global = all(&self.global, Source::Global);
        let character = all(&self.character, Source::Character);
        let sorted = |list| by_order(list, |e: &Entry| e.order);
        let mut out = sorted(chat);
        out.extend(sorted(persona));
        if self.strategy == Some(1.0) {
            out.extend(sorted(character));
            out.extend(sorted(global));
        } else if self.strategy == Some(2.0) {
            out.extend(sorted(global));
            out.extend(sorted(character));
        } else {
            global.extend(character);
            out.extend(sorted(global));
        }
        let fixed = profile.on(&profile::LORE_ENTRIES);
        if !bad.is_empty() && !fixed {
            out.clear();
        }
        let outcome = if fixed { "it is left out" } else { "all lorebooks are left out" };
        let warn = |path: String| {
            Warning::new("lore_entry", path, format!("this cannot be read as a lorebook entry: {outcome}"))
        };
        Collected { entries: out, shares, warnings: bad.into_iter().map(warn).collect() }
    }
}

/// `sort((a, b) => b.order - a.order)`. A missing order makes the comparison inconsistent; what V8 makes of that is a binary insertion
/// sort (its merge sort does so for short lists), so that is what is used when an order is missing.
pub(super) fn by_order<T>(mut list: Vec<T>, order: impl Fn(&T) -> f64) -> Vec<T> {
    let compare = |a: &T, b: &T| order(b).partial_cmp(&order(a)).unwrap_or(Ordering::Equal);
    if list.iter().all(|e| !order(e).is_nan()) {
        js::sort_by(&mut list, compare);
        return list;
    }
    let mut sorted: Vec<T> = Vec::with_capacity(list.len());
    for entry in list {
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
            let ids: Vec<_> = Selection::of(&scene, Some(&speaker))
                .entries(&scene.lore.books, &Profile::sillytavern())
                .entries
                .into_iter()
                .map(|e| e.id)
                .collect();
            assert_eq!(ids.join(" "), want, "strategy {strategy}");
        }
    }
}
