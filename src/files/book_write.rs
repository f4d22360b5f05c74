//! Lorebooks from one form into another: world file <-> `character_book` (spec 03 §1.4, §1.4b, spec 08 §4, §12.8).
//!
//! Nothing is lost on the way there and back: what the other form has no field for travels in `originalData` (of a world file)
//! or under `extensions.promptside` (of an entry of a `character_book`).

use serde_json::{Map, Value};

use crate::error::{Code, Error, Warnings};
use crate::js;
use crate::scene::{
    BookDialect, ENTRY_FIELDS, OWN_EXTENSION, Object, RawEntry, entry_uid, is_spec_shaped, raw_entries,
    read_entry, unique_uids, unwrap_book,
};

/// An entry with what was read from it.
struct Entry<'a> {
    raw: &'a Object,
    /// Every field of a world file but the uid.
    typed: Object,
    uid: i64,
    index: usize,
}

fn entries(book: &Object) -> Vec<Entry<'_>> {
    let mut notes = Warnings::default();
    let dialect = BookDialect::of(book);
    let raw: Vec<RawEntry<'_>> = raw_entries(book, "").into_iter().filter(|e| e.value.is_object()).collect();
    let given: Vec<_> =
        raw.iter().map(|e| (e.value.as_object().and_then(|o| entry_uid(o, e.key)), String::new())).collect();
    let uids = unique_uids(&given, &mut notes);
    raw.iter()
        .zip(uids)
        .enumerate()
        .filter_map(|(index, (entry, uid))| {
            let raw = entry.value.as_object()?;
            Some(Entry { raw, typed: read_entry(raw, "", dialect, &mut notes), uid, index })
        })
        .collect()
}

fn object(book: &Value) -> Result<&Object, Error> {
    let wrong = || Error::new(Code::SceneField, "lorebook", "a lorebook must be a JSON object");
    Ok(unwrap_book(book.as_object().ok_or_else(wrong)?).0)
}

/// Whether an entry is already that of a world file.
fn is_world(dialect: BookDialect, entry: &Object) -> bool {
    dialect == BookDialect::Standard && !is_spec_shaped(entry)
}

/// A world file of a book in any dialect: `{entries: {uid: entry}, …}`. A book that was converted is kept whole in
/// `originalData`, as the reference does.
pub fn world_file(book: &Value) -> Result<Value, Error> {
    let book = object(book)?;
    let dialect = BookDialect::of(book);
    let entries = entries(book);
    let own = entries.iter().all(|e| is_world(dialect, e.raw)) && dialect == BookDialect::Standard;
    let mut map = Map::new();
    for entry in &entries {
        let converted = if is_world(dialect, entry.raw) { same_form(entry) } else { to_world(entry) };
        js::put(&mut map, &entry.uid.to_string(), Value::Object(converted));
    }
    let mut out = Map::new();
    for (key, value) in book.iter().filter(|(_, v)| own && !v.is_null()) {
        // `entries` keeps its place among the keys.
        let value = if key == "entries" { Value::Null } else { value.clone() };
        js::put(&mut out, key, value);
    }
    js::put(&mut out, "entries", Value::Object(map));
    if !own {
        if let Some(name) = book.get("name").filter(|n| n.is_string()) {
            js::put(&mut out, "name", name.clone());
        }
        if dialect == BookDialect::Standard {
            js::put(&mut out, "originalData", Value::Object(book.clone()));
        }
    }
    Ok(Value::Object(out))
}

/// An entry of a world file with its types put right and what is missing added.
fn same_form(entry: &Entry<'_>) -> Object {
    let mut out = Map::new();
    for (key, value) in entry.raw {
        js::put(&mut out, key, entry.typed.get(key).unwrap_or(value).clone());
    }
    for (key, value) in &entry.typed {
        out.entry(key.clone()).or_insert_with(|| value.clone());
    }
    js::put(&mut out, "uid", entry.uid.into());
    out
}

/// An entry of a `character_book` in the form of a world file.
fn to_world(entry: &Entry<'_>) -> Object {
    let mut out = Map::new();
    js::put(&mut out, "uid", entry.uid.into());
    out.extend(entry.typed.clone());
    let none = Map::new();
    let extensions = entry.raw.get("extensions").and_then(Value::as_object).unwrap_or(&none);
    let shown = extensions.get("display_index").filter(|v| v.is_number()).cloned();
    js::put(&mut out, "displayIndex", shown.unwrap_or_else(|| entry.index.into()));
    let mut extensions = extensions.clone();
    if let Some(Value::Object(kept)) = extensions.shift_remove(OWN_EXTENSION) {
        out.extend(kept);
    }
    js::put(&mut out, "extensions", Value::Object(extensions));
    out
}

/// A `character_book` (V2, V3) of a book in any dialect.
pub fn character_book(book: &Value) -> Result<Value, Error> {
    let book = object(book)?;
    let dialect = BookDialect::of(book);
    let none = Map::new();
    let original = book.get("originalData").and_then(Value::as_object).unwrap_or(&none);
    // The entries of the original by id, for what only they hold.
    let mut originals = entries(original);
    js::sort_by_key(&mut originals, |o| o.uid);
    let mut out = original.clone();
    if dialect == BookDialect::Standard {
        out.extend(
            book.iter()
                .filter(|(k, v)| *k != "originalData" && !v.is_null())
                .map(|(k, v)| (k.clone(), v.clone())),
        );
    } else {
        out.extend(book.get("name").filter(|n| n.is_string()).map(|n| ("name".to_owned(), n.clone())));
    }
    if !out.get("extensions").is_some_and(Value::is_object) {
        js::put(&mut out, "extensions", Map::new().into());
    }
    let mut list = Vec::new();
    for entry in entries(book) {
        let base = originals.binary_search_by_key(&entry.uid, |o| o.uid).ok().and_then(|i| originals.get(i));
        list.push(Value::Object(to_spec(&entry, dialect, base.map(|o| o.raw))));
    }
    js::put(&mut out, "entries", Value::Array(list));
    Ok(Value::Object(out))
}

/// An entry in the form of a `character_book`.
fn to_spec(entry: &Entry<'_>, dialect: BookDialect, original: Option<&Object>) -> Object {
    let world = is_world(dialect, entry.raw);
    let same = dialect == BookDialect::Standard && !world;
    let mut out = if same { entry.raw.clone() } else { original.cloned().unwrap_or_default() };
    let get = |key: &str| entry.typed.get(key).cloned().unwrap_or_default();
    let mut set = |key: &str, value: Value| js::put(&mut out, key, value);
    for field in &ENTRY_FIELDS {
        if let (Some(key), None) = (field.entry, field.extension) {
            set(key, get(field.name));
        }
    }
    set("enabled", (get("disable") != Value::Bool(true)).into());
    set("id", entry.uid.into());
    if same {
        if !entry.raw.get("extensions").is_some_and(Value::is_object) {
            set("extensions", Map::new().into());
        }
        return out;
    }
    let before = get("position").as_f64() == Some(0.0);
    set("position", if before { "before_char" } else { "after_char" }.into());
    // True only when there are patterns: other readers take every key for one then (spec 03 F46).
    let keys = get("key");
    let pattern =
        |k: &Value| k.as_str().and_then(|k| k.strip_prefix('/')).is_some_and(|k| k.rfind('/') > Some(0));
    set("use_regex", keys.as_array().is_some_and(|l| l.iter().any(pattern)).into());
    for (key, field) in [("case_sensitive", "caseSensitive"), ("priority", "priority")] {
        let value = get(field);
        if !value.is_null() {
            set(key, value);
        }
    }
    set("extensions", Value::Object(extensions(entry, world)));
    out
}

/// The `extensions` of an entry that comes from a world file, or from a foreign book (whose other fields stay behind).
fn extensions(entry: &Entry<'_>, world: bool) -> Object {
    let mut out = entry.raw.get("extensions").and_then(Value::as_object).cloned().unwrap_or_default();
    let typed = |key: &str| entry.typed.get(key).cloned().unwrap_or_default();
    js::put(&mut out, "position", typed("position"));
    out.extend(
        entry
            .raw
            .get("displayIndex")
            .filter(|v| v.is_number())
            .map(|v| ("display_index".to_owned(), v.clone())),
    );
    for field in &ENTRY_FIELDS {
        out.extend(field.extension.map(|key| (key.to_owned(), typed(field.name))));
    }
    // What has no place: the filter, a memo flag that the comment does not imply, and unknown fields.
    let known = |key: &str| {
        ENTRY_FIELDS.iter().any(|f| f.name == key)
            || [
                "uid",
                "position",
                "disable",
                "addMemo",
                "displayIndex",
                "extensions",
                "priority",
                "characterFilter",
                "id",
            ]
            .contains(&key)
    };
    let mut kept = Map::new();
    kept.extend(entry.typed.get("characterFilter").map(|v| ("characterFilter".to_owned(), v.clone())));
    let implied = typed("comment").as_str().is_some_and(|c| !c.is_empty());
    if typed("addMemo") != Value::Bool(implied) {
        js::put(&mut kept, "addMemo", typed("addMemo"));
    }
    // Positions without a meaning insert nothing; the other form would give them one.
    if !typed("position").as_f64().is_some_and(|n| n.fract() == 0.0 && (0.0..=7.0).contains(&n)) {
        js::put(&mut kept, "position", typed("position"));
    }
    kept.extend(entry.raw.iter().filter(|(k, _)| world && !known(k)).map(|(k, v)| (k.clone(), v.clone())));
    if !kept.is_empty() {
        js::put(&mut out, OWN_EXTENSION, Value::Object(kept));
    }
    out
}
