//! A lorebook of any dialect in one shape: a world file, a card's `character_book`, a V3 lorebook, or a book of NovelAI, Agnai
//! or RisuAI in; `{name, description, scan_depth, token_budget, recursive_scanning, entries}` with entries in the terms of a
//! world file out (spec 08 §4, §12.5; spec 03 §1).
//!
//! Knows nothing of when an entry fires.

use serde_json::Value;

use super::{Object, Reader, split_commas};
use crate::error::{Warnings, join_path};
use crate::js;

/// The type of an entry's field, with its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldKind {
    /// A list of texts; a bare text is a comma list.
    Words,
    /// A text, default empty.
    Text,
    /// A flag.
    Flag(bool),
    /// A number.
    Number(i32),
    /// A number or null.
    NumberOrNull,
    /// A flag or null.
    FlagOrNull,
    /// `delayUntilRecursion`: a number, true is 1, false 0.
    Level,
    /// Generation types; unknown ones are left out.
    Triggers,
}

/// One field of an entry, and where a `character_book` keeps it.
#[derive(Clone, Copy, Debug)]
pub struct EntryField {
    /// Its name in a world file.
    pub name: &'static str,
    /// Its name in an entry of a `character_book`.
    pub entry: Option<&'static str>,
    /// Its name in that entry's `extensions`.
    pub extension: Option<&'static str>,
    /// Its type.
    pub kind: FieldKind,
}

const fn own(name: &'static str, entry: &'static str, kind: FieldKind) -> EntryField {
    EntryField { name, entry: Some(entry), extension: None, kind }
}

const fn ext(name: &'static str, extension: &'static str, kind: FieldKind) -> EntryField {
    EntryField { name, entry: None, extension: Some(extension), kind }
}

/// The fields of an entry, in the order in which they are written (spec 08 §4.1, §4.2). `uid`, `disable`, `addMemo` and
/// `position` have rules of their own.
pub const ENTRY_FIELDS: [EntryField; 36] = {
    use FieldKind::{Flag, FlagOrNull, Level, Number, NumberOrNull, Text, Triggers, Words};
    [
        own("key", "keys", Words),
        own("keysecondary", "secondary_keys", Words),
        own("comment", "comment", Text),
        own("content", "content", Text),
        own("constant", "constant", Flag(false)),
        ext("vectorized", "vectorized", Flag(false)),
        own("selective", "selective", Flag(true)),
        ext("selectiveLogic", "selectiveLogic", Number(0)),
        own("order", "insertion_order", Number(100)),
        ext("ignoreBudget", "ignore_budget", Flag(false)),
        ext("excludeRecursion", "exclude_recursion", Flag(false)),
        ext("preventRecursion", "prevent_recursion", Flag(false)),
        ext("delayUntilRecursion", "delay_until_recursion", Level),
        ext("probability", "probability", Number(100)),
        ext("useProbability", "useProbability", Flag(true)),
        ext("depth", "depth", Number(4)),
        ext("outletName", "outlet_name", Text),
        ext("group", "group", Text),
        ext("groupOverride", "group_override", Flag(false)),
        ext("groupWeight", "group_weight", Number(100)),
        ext("scanDepth", "scan_depth", NumberOrNull),
        // An entry of a V2 book has a `case_sensitive` of its own, which counts where the extension is silent.
        EntryField {
            name: "caseSensitive",
            entry: Some("case_sensitive"),
            extension: Some("case_sensitive"),
            kind: FlagOrNull,
        },
        ext("matchWholeWords", "match_whole_words", FlagOrNull),
        ext("useGroupScoring", "use_group_scoring", FlagOrNull),
        ext("automationId", "automation_id", Text),
        ext("role", "role", Number(0)),
        ext("sticky", "sticky", NumberOrNull),
        ext("cooldown", "cooldown", NumberOrNull),
        ext("delay", "delay", NumberOrNull),
        ext("triggers", "triggers", Triggers),
        ext("matchPersonaDescription", "match_persona_description", Flag(false)),
        ext("matchCharacterDescription", "match_character_description", Flag(false)),
        ext("matchCharacterPersonality", "match_character_personality", Flag(false)),
        ext("matchCharacterDepthPrompt", "match_character_depth_prompt", Flag(false)),
        ext("matchScenario", "match_scenario", Flag(false)),
        ext("matchCreatorNotes", "match_creator_notes", Flag(false)),
    ]
};

/// What `triggers` may name.
const GENERATION_TYPES: [&str; 6] = ["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"];

/// Under this key of `extensions` a `character_book` keeps what it has no place for.
pub const OWN_EXTENSION: &str = "promptside";

/// Who wrote a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookDialect {
    /// World file, `character_book` or V3: told apart entry by entry.
    Standard,
    /// `lorebookVersion`.
    NovelAi,
    /// `kind: "memory"`.
    Agnai,
    /// `type: "risu"`.
    Risu,
}

impl BookDialect {
    /// The dialect of a book.
    pub fn of(book: &Object) -> Self {
        let is = |key: &str, text: &str| book.get(key).and_then(Value::as_str) == Some(text);
        if book.contains_key("lorebookVersion") {
            Self::NovelAi
        } else if is("kind", "memory") {
            Self::Agnai
        } else if is("type", "risu") {
            Self::Risu
        } else {
            Self::Standard
        }
    }
}

/// The book inside a file: that of the V3 envelope `{spec: "lorebook_v3", data}`, else the object itself.
pub fn unwrap_book(file: &Object) -> (&Object, &'static str) {
    let envelope = file.get("spec").and_then(Value::as_str) == Some("lorebook_v3");
    match file.get("data").and_then(Value::as_object).filter(|_| envelope) {
        Some(book) => (book, "data"),
        None => (file, ""),
    }
}

/// Reads a lorebook of any dialect; `path` is where it stands, for the warnings.
pub fn read_book(file: &Object, path: &str, notes: &mut Warnings) -> Value {
    let (book, inner) = unwrap_book(file);
    let path = join_path(path, inner);
    let mut r = Reader::new(book, path.as_str());
    let (name, description) = (r.text("name"), r.text("description"));
    notes.extend(r.into_warnings());
    let number = |key: &str| book.get(key).filter(|v| v.is_number()).cloned();
    let flag = |key: &str| book.get(key).filter(|v| v.is_boolean()).cloned();
    Value::Object(js::object(vec![
        ("name", name.into()),
        ("description", description.into()),
        ("scan_depth", number("scan_depth").into()),
        ("token_budget", number("token_budget").into()),
        ("recursive_scanning", flag("recursive_scanning").into()),
        ("entries", read_entries(book, &path, notes).into()),
    ]))
}

/// The entries of a book with their places: lists in order, objects with integer-like keys first (as JavaScript has it).
pub fn raw_entries<'a>(book: &'a Object, path: &str) -> Vec<RawEntry<'a>> {
    let key = if BookDialect::of(book) == BookDialect::Risu { "data" } else { "entries" };
    let path = join_path(path, key);
    match book.get(key) {
        Some(Value::Array(list)) => {
            let place = |(i, value)| RawEntry { value, key: None, path: format!("{path}[{i}]") };
            list.iter().enumerate().map(place).collect()
        }
        Some(Value::Object(map)) => {
            let index = |key: &str| key.parse::<u32>().ok().filter(|n| n.to_string() == key);
            let mut entries: Vec<_> = map.iter().map(|(key, value)| (index(key), key, value)).collect();
            js::sort_by_key(&mut entries, |(index, ..)| (index.is_none(), *index));
            let place = |(_, key, value): (_, &'a String, _)| RawEntry {
                value,
                key: Some(key.as_str()),
                path: join_path(&path, key),
            };
            entries.into_iter().map(place).collect()
        }
        _ => Vec::new(),
    }
}

/// An entry as it stands in a book.
#[derive(Clone, Debug)]
pub struct RawEntry<'a> {
    /// The entry.
    pub value: &'a Value,
    /// Its key in an object of entries.
    pub key: Option<&'a str>,
    /// Where it stands.
    pub path: String,
}

fn read_entries(book: &Object, path: &str, notes: &mut Warnings) -> Vec<Value> {
    let dialect = BookDialect::of(book);
    let (mut entries, mut uids) = (Vec::new(), Vec::new());
    let raw = raw_entries(book, path);
    if raw.is_empty() && book.get("entries").is_some_and(|v| !v.is_array() && !v.is_object()) {
        notes.add("field-dropped", || join_path(path, "entries"), "is neither a list nor an object");
    }
    for RawEntry { value, key, path } in raw {
        let Some(entry) = value.as_object() else {
            notes.add("entry-dropped", || path, "is no object");
            continue;
        };
        uids.push((entry_uid(entry, key), path.clone()));
        entries.push(read_entry(entry, &path, dialect, notes));
    }
    let uids = unique_uids(&uids, notes);
    entries
        .into_iter()
        .zip(uids)
        .map(|(entry, uid)| {
            let mut out = Object::new();
            js::put(&mut out, "uid", uid.into());
            out.extend(entry);
            Value::Object(out)
        })
        .collect()
}

/// `uid`, `id`, or the key in an object of entries, as far as it is an integer.
pub fn entry_uid(entry: &Object, key: Option<&str>) -> Option<i64> {
    let own = ["uid", "id"].into_iter().find_map(|k| entry.get(k).filter(|v| !v.is_null()));
    match own {
        Some(Value::Number(n)) => n.as_f64().filter(|f| f.fract() == 0.0).map(js::to_integer),
        Some(Value::String(s)) => digits(s),
        Some(_) => None,
        None => key.and_then(digits),
    }
    .filter(|n| n.unsigned_abs() < 1 << 53)
}

fn digits(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
}

/// Unique uids: the first holder of a number keeps it, all others get the next ones above the largest.
pub fn unique_uids(given: &[(Option<i64>, String)], notes: &mut Warnings) -> Vec<i64> {
    let mut sorted: Vec<(i64, usize)> =
        given.iter().enumerate().filter_map(|(i, (uid, _))| Some(((*uid)?, i))).collect();
    sorted.sort_unstable();
    let mut repeated = vec![false; given.len()];
    for (before, after) in sorted.iter().zip(sorted.iter().skip(1)) {
        if before.0 == after.0
            && let Some(slot) = repeated.get_mut(after.1)
        {
            *slot = true;
        }
    }
    let mut next = sorted.last().map_or(0, |(largest, _)| largest + 1);
    let mut fresh = || {
        next += 1;
        next - 1
    };
    let uids = given.iter().zip(&repeated).map(|((uid, path), repeated)| match uid {
        Some(uid) if !repeated => *uid,
        Some(uid) => {
            notes.add("uid-collision", || path.clone(), format!("the uid {uid} is taken; it got a new one"));
            fresh()
        }
        None => fresh(),
    });
    uids.collect()
}

/// Whether an entry is that of a `character_book`.
pub fn is_spec_shaped(entry: &Object) -> bool {
    ["keys", "insertion_order", "enabled"].iter().any(|key| entry.contains_key(*key))
}

/// One entry in the terms of a world file, without its uid.
pub fn read_entry(entry: &Object, path: &str, dialect: BookDialect, notes: &mut Warnings) -> Object {
    let out = match dialect {
        BookDialect::Standard if is_spec_shaped(entry) => spec_entry(entry, path, notes),
        BookDialect::Standard => world_entry(entry, path, notes),
        BookDialect::NovelAi => world_entry(&novelai_entry(entry), path, notes),
        BookDialect::Agnai => world_entry(&agnai_entry(entry), path, notes),
        BookDialect::Risu => world_entry(&risu_entry(entry), path, notes),
    };
    if out.get("content").and_then(Value::as_str).is_some_and(|c| c.starts_with("@@")) {
        notes.add("decorators-present", || join_path(path, "content"), "starts with decorator lines");
    }
    out
}

fn read_field(r: &mut Reader<'_>, key: &str, kind: FieldKind) -> Value {
    match kind {
        FieldKind::Words => js::texts(r.words_opt(key).unwrap_or_default()),
        FieldKind::Text => Value::String(r.text(key)),
        FieldKind::Flag(default) => Value::Bool(r.flag(key, default)),
        FieldKind::Number(default) => r.number_value(key).unwrap_or_else(|| default.into()),
        FieldKind::NumberOrNull => r.number_value(key).unwrap_or_default(),
        FieldKind::FlagOrNull => r.flag_opt(key).map_or(Value::Null, Value::Bool),
        FieldKind::Level => match r.raw(key) {
            Some(Value::Bool(on)) => i32::from(*on).into(),
            _ => r.number_value(key).unwrap_or_else(|| 0.into()),
        },
        FieldKind::Triggers => {
            let mut list = r.texts_opt(key).unwrap_or_default();
            list.retain(|t| GENERATION_TYPES.contains(&t.as_str()));
            js::texts(list)
        }
    }
}

fn optional(out: &mut Object, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        js::put(out, key, value);
    }
}

/// An entry of a world file, every field with its type.
fn world_entry(entry: &Object, path: &str, notes: &mut Warnings) -> Object {
    let mut r = Reader::new(entry, path).null_is_default();
    let mut out = Object::new();
    for field in ENTRY_FIELDS {
        let value = read_field(&mut r, field.name, field.kind);
        js::put(&mut out, field.name, value);
        if field.name == "order" {
            js::put(&mut out, "position", r.number_value("position").unwrap_or_else(|| 0.into()));
            js::put(&mut out, "disable", r.flag("disable", false).into());
        }
        if field.name == "selectiveLogic" {
            js::put(&mut out, "addMemo", r.flag("addMemo", false).into());
        }
    }
    optional(&mut out, "characterFilter", entry.get("characterFilter").filter(|v| v.is_object()).cloned());
    optional(&mut out, "priority", r.number_value("priority"));
    notes.extend(r.into_warnings());
    out
}

/// An entry of a `character_book`.
fn spec_entry(entry: &Object, path: &str, notes: &mut Warnings) -> Object {
    let none = Object::new();
    let extensions = entry.get("extensions").and_then(Value::as_object).unwrap_or(&none);
    let mut r = Reader::new(entry, path).null_is_default();
    let mut x = Reader::new(extensions, join_path(path, "extensions")).null_is_default();
    let mut out = Object::new();
    let kept = |key: &str| extensions.get(OWN_EXTENSION).and_then(|own| own.get(key));
    for field in ENTRY_FIELDS {
        let kind = if field.name == "selective" { FieldKind::Flag(false) } else { field.kind };
        let in_extension = field.extension.filter(|key| extensions.get(*key).is_some_and(|v| !v.is_null()));
        let value = match (in_extension, field.entry) {
            (Some(key), _) => read_field(&mut x, key, kind),
            (None, Some(key)) => read_field(&mut r, key, kind),
            (None, None) => read_field(&mut x, field.extension.unwrap_or(field.name), kind),
        };
        js::put(&mut out, field.name, value);
        if field.name == "order" {
            let inner = x.number_opt("position").filter(|n| n.fract() == 0.0 && (0.0..=7.0).contains(n));
            let outer = i64::from(entry.get("position").and_then(Value::as_str) != Some("before_char"));
            let named = inner.map_or(outer, js::to_integer).into();
            let own = kept("position").filter(|v| v.is_number()).cloned();
            js::put(&mut out, "position", own.unwrap_or(named));
            js::put(&mut out, "disable", (!r.flag("enabled", true)).into());
        }
        if field.name == "selectiveLogic" {
            let memo = out.get("comment").and_then(Value::as_str).is_some_and(|s| !s.is_empty());
            js::put(&mut out, "addMemo", kept("addMemo").and_then(Value::as_bool).unwrap_or(memo).into());
        }
    }
    let filter = kept("characterFilter").or_else(|| entry.get("characterFilter")).filter(|v| v.is_object());
    optional(&mut out, "characterFilter", filter.cloned());
    optional(&mut out, "priority", r.number_value("priority"));
    notes.extend(r.into_warnings());
    notes.extend(x.into_warnings());
    out
}

/// Builds an entry of a world file from pairs; what is absent stays absent.
fn build(pairs: Vec<(&str, Option<Value>)>) -> Object {
    pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

fn is_off(entry: &Object) -> Value {
    let mut r = Reader::new(entry, "");
    (!r.flag("enabled", true)).into()
}

fn novelai_entry(e: &Object) -> Object {
    let name = e.get("displayName");
    let shown = name.and_then(Value::as_str).is_some_and(|s| !js::trim(s).is_empty());
    let order = e.get("contextConfig").and_then(|c| c.get("budgetPriority")).filter(|v| !v.is_null());
    build(vec![
        ("key", e.get("keys").cloned()),
        ("comment", name.cloned()),
        ("content", e.get("text").cloned()),
        // Forced entries need no key (spec 03 F48).
        ("constant", e.get("forceActivation").cloned()),
        ("selective", Some(false.into())),
        ("order", Some(order.cloned().unwrap_or_else(|| 0.into()))),
        ("disable", Some(is_off(e))),
        ("addMemo", Some(shown.into())),
    ])
}

fn agnai_entry(e: &Object) -> Object {
    let named = e.get("name").and_then(Value::as_str).is_some_and(|s| !s.is_empty());
    build(vec![
        ("key", e.get("keywords").cloned()),
        ("comment", e.get("name").cloned()),
        ("content", e.get("entry").cloned()),
        ("selective", Some(false.into())),
        ("order", e.get("weight").cloned()),
        ("disable", Some(is_off(e))),
        ("addMemo", Some(named.into())),
        ("priority", e.get("priority").cloned()),
    ])
}

fn risu_entry(e: &Object) -> Object {
    // Comma lists are this dialect's own form, so nothing is repaired.
    let words = |key: &str| match e.get(key) {
        Some(Value::String(s)) => Some(js::texts(split_commas(s))),
        other => other.cloned(),
    };
    build(vec![
        ("key", words("key")),
        ("keysecondary", words("secondkey")),
        ("comment", e.get("comment").cloned()),
        ("content", e.get("content").cloned()),
        ("constant", e.get("alwaysActive").cloned()),
        ("selective", Some(e.get("selective").cloned().unwrap_or_else(|| false.into()))),
        ("order", e.get("insertorder").cloned()),
        ("addMemo", Some(true.into())),
        ("probability", e.get("activationPercent").cloned()),
    ])
}
