//! A card of any version in one shape: a V1, V2 or V3 object in, `{spec, spec_version, data, top, effective}` out
//! (spec 08 §12.5). Every reader of cards goes through here, so that a file and a scene agree on what a card says.
//!
//! Knows nothing of files, and nothing of what a turn does with a card.

use serde_json::Value;

use super::{Object, Reader};
use crate::error::{Warning, Warnings};
use crate::js;

/// The texts that every version has.
pub const V1_FIELDS: [&str; 6] =
    ["name", "description", "personality", "scenario", "first_mes", "mes_example"];

/// What `data` always holds, in the order of the V2 document, with the type of each.
const DATA_FIELDS: [(&str, Field); 16] = [
    ("name", Field::Text),
    ("description", Field::Text),
    ("personality", Field::Text),
    ("scenario", Field::Text),
    ("first_mes", Field::Text),
    ("mes_example", Field::Text),
    ("creator_notes", Field::Text),
    ("system_prompt", Field::Text),
    ("post_history_instructions", Field::Text),
    ("alternate_greetings", Field::Texts),
    ("tags", Field::Words),
    ("creator", Field::Text),
    ("character_version", Field::Text),
    ("extensions", Field::Map),
    ("group_only_greetings", Field::Texts),
    ("nickname", Field::OptionalText),
];

/// V2 fields that flat cards carry at the top level (`flat-v2-fields`).
const FLAT_FIELDS: [&str; 6] = [
    "system_prompt",
    "post_history_instructions",
    "alternate_greetings",
    "character_book",
    "extensions",
    "character_version",
];

/// Further fields that belong into `data` when a flat card has them.
const FLAT_USUAL: [&str; 3] = ["creator_notes", "creator", "tags"];

/// Fields of V3 alone: moved from the top level only when `spec` promised a `data` that is not there.
const V3_FIELDS: [&str; 8] = [
    "nickname",
    "creator_notes_multilingual",
    "source",
    "group_only_greetings",
    "assets",
    "creation_date",
    "modification_date",
    "character_book",
];

/// Names of the oldest cards (spec 08 §7.1) and what they are called now.
const PYGMALION: [(&str, &str); 5] = [
    ("char_name", "name"),
    ("char_persona", "description"),
    ("char_greeting", "first_mes"),
    ("example_dialogue", "mes_example"),
    ("world_scenario", "scenario"),
];

#[derive(Clone, Copy)]
enum Field {
    Text,
    Texts,
    Words,
    Map,
    OptionalText,
}

/// A card, whatever version it came in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardFile {
    /// `v1`, `chara_card_v2`, `chara_card_v3`, or what the card says.
    pub spec: String,
    /// As a text; empty when the card gives none.
    pub spec_version: String,
    /// Every V2 field and `group_only_greetings` with the right type; other keys as they came, in their order.
    pub data: Object,
    /// The other keys of the top level.
    pub top: Object,
    /// What the engine goes by.
    pub effective: Effective,
}

/// Values of a card that have defaults and bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// 0 to 1, default 0.5.
    pub talkativeness: f64,
    /// A favourite of its owner (private).
    pub fav: bool,
    /// Name of the linked lorebook; empty for none.
    pub world: String,
    /// Text of the note at depth; empty for none.
    pub depth_text: String,
    /// 0 to 10 000, default 4.
    pub depth: i64,
    /// `system` (default), `user` or `assistant`.
    pub depth_role: &'static str,
}

impl Default for Effective {
    fn default() -> Self {
        Self {
            talkativeness: 0.5,
            fav: false,
            world: String::new(),
            depth_text: String::new(),
            depth: 4,
            depth_role: "system",
        }
    }
}

impl Effective {
    fn to_value(&self) -> Value {
        let depth_prompt = js::object(vec![
            ("prompt", self.depth_text.clone().into()),
            ("depth", self.depth.into()),
            ("role", self.depth_role.into()),
        ]);
        Value::Object(js::object(vec![
            ("talkativeness", self.talkativeness.into()),
            ("fav", self.fav.into()),
            ("world", self.world.clone().into()),
            ("depth_prompt", depth_prompt.into()),
        ]))
    }
}

impl CardFile {
    /// Reads a card object of any version, or one that [`CardFile::to_value`] wrote.
    pub fn read(card: &Object) -> (Self, Vec<Warning>) {
        let mut notes = Warnings::default();
        if let Some(known) = Self::from_normal(card) {
            return (known, Vec::new());
        }
        let data = card.get("data").and_then(Value::as_object);
        let declared = card.get("spec").and_then(Value::as_str);
        let spec_version = spec_version(card.get("spec_version"), &mut notes);
        let version = js::to_number(&spec_version);
        let spec = match (declared, data) {
            (Some(spec), _) => spec,
            (None, None) => "v1",
            (None, Some(_)) => {
                notes.add("spec-missing", || "spec".to_owned(), "the card does not say its version");
                if version >= 3.0 { "chara_card_v3" } else { "chara_card_v2" }
            }
        };
        let newest = match spec {
            "v1" => f64::INFINITY,
            "chara_card_v2" => 2.0,
            "chara_card_v3" => 3.0,
            _ => {
                notes.add("spec-unknown", || "spec".to_owned(), format!("`{spec}` is read as a V3 card"));
                f64::INFINITY
            }
        };
        if version > newest {
            let what = format!("version {spec_version} is newer than what is known here");
            notes.add("spec-version-newer", || "spec_version".to_owned(), what);
        }
        let (data, top) = match data {
            Some(data) => layered(card, data, &mut notes),
            None => flat(card, declared.is_some(), &mut notes),
        };
        if data.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
            notes.add("name-missing", || "data.name".to_owned(), "the card has no name");
        }
        let effective = effective(&data, &top, &mut notes);
        let file = Self { spec: spec.to_owned(), spec_version, data, top, effective };
        (file, notes.into_list())
    }

    /// The form of spec 08 §12.5, without `book`.
    pub fn to_value(&self) -> Value {
        Value::Object(js::object(vec![
            ("spec", self.spec.clone().into()),
            ("spec_version", self.spec_version.clone().into()),
            ("data", self.data.clone().into()),
            ("top", self.top.clone().into()),
            ("effective", self.effective.to_value()),
        ]))
    }

    /// Recognises what `to_value` wrote. `effective` is worked out anew, in case `data` was edited since.
    fn from_normal(card: &Object) -> Option<Self> {
        let text = |key: &str| card.get(key).and_then(Value::as_str);
        let map = |key: &str| card.get(key).and_then(Value::as_object);
        let (top, _) = (map("top")?, map("effective")?);
        let mut notes = Warnings::default();
        let data = typed(map("data")?, "data", &mut notes);
        Some(Self {
            spec: text("spec")?.to_owned(),
            spec_version: text("spec_version")?.to_owned(),
            effective: effective(&data, top, &mut notes),
            data,
            top: top.clone(),
        })
    }

    /// A text of `data`.
    pub fn text(&self, key: &str) -> &str {
        self.data.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// A list of texts of `data`.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let list = self.data.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// `data.extensions`.
    pub fn extensions(&self) -> Option<&Object> {
        self.data.get("extensions").and_then(Value::as_object)
    }

    /// The embedded lorebook as it came.
    pub fn book(&self) -> Option<&Value> {
        self.data.get("character_book")
    }

    /// Talkativeness as the card has it (number, text, null or absent): spec 01 §4.1 gives each a meaning.
    pub fn raw_talkativeness(&self) -> Option<&Value> {
        self.extensions().and_then(|x| x.get("talkativeness")).or_else(|| self.top.get("talkativeness"))
    }
}

fn spec_version(value: Option<&Value>, notes: &mut Warnings) -> String {
    match value {
        Some(Value::String(s)) => s.clone(),
        Some(Value::Number(n)) => {
            notes.add("field-coerced", || "spec_version".to_owned(), "became text");
            let n = n.as_f64().unwrap_or(0.0);
            if n.fract() == 0.0 && n.abs() < 1e15 { format!("{n:.1}") } else { js::number_text(n) }
        }
        _ => String::new(),
    }
}

/// V2 and V3: `data`, with the top level as the fallback of what it mirrors.
fn layered(card: &Object, data: &Object, notes: &mut Warnings) -> (Object, Object) {
    let mut data = typed(data, "data", notes);
    let had_tags = card.get("data").and_then(|d| d.get("tags")).is_some_and(|v| !v.is_null());
    let mut top = Reader::new(card, "");
    for key in V1_FIELDS {
        let outer = top.text(key);
        let inner = data.get(key).and_then(Value::as_str).unwrap_or("");
        if outer.is_empty() || inner == outer {
            continue;
        }
        if inner.is_empty() {
            js::put(&mut data, key, Value::String(outer));
        } else {
            top.warn("v1-v2-mismatch", key, "differs from `data`, which counts");
        }
    }
    if !had_tags && card.contains_key("tags") {
        js::put(&mut data, "tags", js::texts(top.words_opt("tags").unwrap_or_default()));
    }
    notes.extend(top.into_warnings());
    creator_comment(card, &mut data);
    (data, rest(card, &[]))
}

/// V1, and cards whose `data` is missing: everything lies at the top level.
fn flat(card: &Object, promised: bool, notes: &mut Warnings) -> (Object, Object) {
    let mut card = card.clone();
    if promised {
        notes.add("data-missing", || "data".to_owned(), "everything was taken from the top level");
    } else {
        for (old, new) in PYGMALION {
            let filled = card.get(new).and_then(Value::as_str).is_some_and(|s| !s.is_empty());
            if let Some(value) = card.shift_remove(old).filter(|_| !filled) {
                js::put(&mut card, new, value);
            }
        }
    }
    let mut moved: Vec<&str> = Vec::new();
    moved.extend(FLAT_USUAL.iter().chain(&FLAT_FIELDS).filter(|key| card.contains_key(**key)));
    if promised {
        moved.extend(V3_FIELDS.iter().filter(|key| card.contains_key(**key)));
    } else if let Some(first) = moved.iter().find(|key| FLAT_FIELDS.contains(key)) {
        let path = (*first).to_owned();
        notes.add("flat-v2-fields", || path, "a flat card with fields of V2; they were kept");
    }
    let source: Object = V1_FIELDS
        .iter()
        .chain(&moved)
        .filter_map(|key| Some(((*key).to_owned(), card.get(*key)?.clone())))
        .collect();
    let mut data = typed(&source, "", notes);
    creator_comment(&card, &mut data);
    (data, rest(&card, &moved))
}

/// Creator's notes that only the oldest field holds.
fn creator_comment(card: &Object, data: &mut Object) {
    let empty = data.get("creator_notes").and_then(Value::as_str).is_none_or(str::is_empty);
    if let Some(Value::String(comment)) = card.get("creatorcomment").filter(|_| empty) {
        js::put(data, "creator_notes", Value::String(comment.clone()));
    }
}

fn rest(card: &Object, moved: &[&str]) -> Object {
    let own = ["spec", "spec_version", "data", "json_data"];
    card.iter()
        .filter(|(key, _)| {
            let key = key.as_str();
            !own.contains(&key) && !V1_FIELDS.contains(&key) && !moved.contains(&key)
        })
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// `data` with every known field of its type: given keys keep their places, missing ones follow.
fn typed(data: &Object, path: &str, notes: &mut Warnings) -> Object {
    let mut r = Reader::new(data, path);
    let mut out = Object::new();
    for (key, value) in data {
        let value = match DATA_FIELDS.iter().find(|(name, _)| name == key) {
            Some((_, field)) => known(&mut r, key, *field),
            None if key == "source" => Some(js::texts(r.texts(key))),
            None if key == "character_book" => r.object(key).cloned().map(Value::Object),
            None => Some(value.clone()),
        };
        if let Some(value) = value {
            js::put(&mut out, key, value);
        }
    }
    for (key, field) in DATA_FIELDS {
        if !out.contains_key(key)
            && let Some(value) = known(&mut r, key, field)
        {
            js::put(&mut out, key, value);
        }
    }
    notes.extend(r.into_warnings());
    out
}

fn known(r: &mut Reader<'_>, key: &str, field: Field) -> Option<Value> {
    Some(match field {
        Field::Text => Value::String(r.text(key)),
        Field::Texts => js::texts(r.texts(key)),
        Field::Words => js::texts(r.words_opt(key).unwrap_or_default()),
        Field::Map => Value::Object(r.object(key).cloned().unwrap_or_default()),
        Field::OptionalText => Value::String(r.text_opt(key)?),
    })
}

fn effective(data: &Object, top: &Object, notes: &mut Warnings) -> Effective {
    let none = Object::new();
    let x = data.get("extensions").and_then(Value::as_object).unwrap_or(&none);
    let given = |o: &Object, key: &str| o.get(key).is_some_and(|v| !v.is_null());
    let at = |key: &str| if given(x, key) || !given(top, key) { (x, "data.extensions") } else { (top, "") };
    let text = |v: Option<&Value>| v.and_then(Value::as_str).unwrap_or("").to_owned();

    let (object, path) = at("talkativeness");
    // ST itself writes "0.5", so a text is no repair here.
    let spoken = match object.get("talkativeness") {
        Some(Value::Number(n)) => n.as_f64(),
        Some(Value::String(s)) if !js::trim(s).is_empty() => Some(js::to_number(s)),
        _ => None,
    };
    let spoken = spoken.filter(|n| !n.is_nan()).unwrap_or(0.5);
    let talkativeness = spoken.clamp(0.0, 1.0);
    if talkativeness.total_cmp(&spoken).is_ne() && spoken != 0.0 {
        notes
            .extend([Warning::new("value-clamped", "talkativeness", "must lie between 0 and 1").under(path)]);
    }
    let (object, path) = at("fav");
    let mut r = Reader::new(object, path);
    let fav = r.flag("fav", false);
    notes.extend(r.into_warnings());

    let at_depth = x.get("depth_prompt").and_then(Value::as_object).unwrap_or(&none);
    let mut r = Reader::new(at_depth, "data.extensions.depth_prompt");
    let given = r.integer("depth", 4);
    let depth = given.clamp(0, 10_000);
    if depth != given {
        r.warn("value-clamped", "depth", "must lie between 0 and 10000");
    }
    notes.extend(r.into_warnings());
    let role = at_depth.get("role");
    let depth_role = match (role.and_then(Value::as_str), role.and_then(Value::as_f64)) {
        (Some("user"), _) | (_, Some(1.0)) => "user",
        (Some("assistant"), _) | (_, Some(2.0)) => "assistant",
        _ => "system",
    };
    Effective {
        talkativeness,
        fav,
        world: text(x.get("world")),
        depth_text: text(at_depth.get("prompt")),
        depth,
        depth_role,
    }
}
