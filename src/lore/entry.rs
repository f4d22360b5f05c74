//! One lorebook entry as the scan reads it: raw JSON -> typed fields with JavaScript's ideas of missing, falsy and number.
//!
//! Spec: 03 §1.2, §4, §9.2. Missing fields are *not* filled from the template of the editor; each has its own meaning here.

use serde_json::Value;

use super::decorators::Header;
use crate::js;
use crate::profile::{self, Profile};
use crate::scene::Object;

/// How the secondary keys count (spec 03 §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Any matches.
    AndAny,
    /// Any does not match.
    NotAll,
    /// None matches.
    NotAny,
    /// All match.
    AndAll,
    /// An unknown number: never.
    Unknown,
}

/// Where the text goes (spec 03 §14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before the card.
    Before,
    /// After the card.
    After,
    /// Top of the author's note.
    NoteTop,
    /// Bottom of the author's note.
    NoteBottom,
    /// In the chat.
    Depth,
    /// Before the example dialogue.
    ExamplesTop,
    /// After the example dialogue.
    ExamplesBottom,
    /// A named outlet.
    Outlet,
    /// Nowhere: missing, unknown, or not a number.
    Nowhere,
}

/// Which further texts an entry looks into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources(u8);

impl Sources {
    const FIELDS: [&'static str; 6] = [
        "matchPersonaDescription",
        "matchCharacterDescription",
        "matchCharacterPersonality",
        "matchCharacterDepthPrompt",
        "matchScenario",
        "matchCreatorNotes",
    ];

    /// Bits of the sources that are on, the lowest for the first of the scan text.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// Where a book came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "LoreSource"))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Globally active.
    Global,
    /// The speaker's.
    Character,
    /// The chat's.
    Chat,
    /// The persona's.
    Persona,
}

/// An entry, typed.
#[expect(clippy::struct_excessive_bools, reason = "an entry is a row of switches in the public format")]
#[derive(Clone, Debug)]
pub struct Entry {
    /// Book.
    pub world: String,
    /// `uid` as it is.
    pub uid: Value,
    /// `<world>.<uid>`.
    pub id: String,
    /// Title.
    pub comment: String,
    /// Where its book came from.
    pub source: Source,
    /// Primary keys; `None` when the field is no list or empty. Falsy elements stay as `None`: they never match.
    pub keys: Vec<Option<String>>,
    /// Secondary keys, likewise.
    pub secondary: Vec<Option<String>>,
    /// Secondary keys are honoured.
    pub selective: bool,
    /// Their logic; `None` when missing (any, but no score).
    pub logic: Option<Logic>,
    /// Text without decorators.
    pub content: String,
    /// Known decorator lines (spec 03 §4).
    pub decorators: Vec<String>,
    /// Active without keys.
    pub constant: bool,
    /// Evaluation priority and text order; NaN when missing.
    pub order: f64,
    /// Where it goes.
    pub position: Position,
    /// Never.
    pub disabled: bool,
    /// Not stopped by the budget.
    pub ignore_budget: bool,
    /// Not activated by recursion.
    pub exclude_recursion: bool,
    /// Activates nothing by recursion.
    pub prevent_recursion: bool,
    /// Level of delayed recursion; `None` = off.
    pub delay_level: Option<f64>,
    /// Further texts to look into.
    pub sources: Sources,
    /// Percent; NaN when missing.
    pub probability: f64,
    /// `probability` is the number 100.
    pub certain: bool,
    /// A roll is made.
    pub use_probability: bool,
    /// Depth as given; `None` when absent or null, NaN for anything that is no number.
    pub depth: Option<f64>,
    /// What a depth that is not given is registered as: 0 for null, NaN when absent (03 F38).
    pub no_depth: f64,
    /// 0 system, 1 user, 2 assistant.
    pub role: i64,
    /// Outlet; empty = none.
    pub outlet: String,
    /// Inclusion groups, as one text.
    pub group: String,
    /// Wins its group.
    pub group_override: bool,
    /// Weight in its group.
    pub group_weight: f64,
    /// Own switch of scoring; `None` = the global one.
    pub group_scoring: Option<bool>,
    /// Own scan depth; `None` = the global one.
    pub scan_depth: Option<f64>,
    /// Own case rule; `None` = the global one.
    pub case_sensitive: Option<bool>,
    /// Own whole-word rule; `None` = the global one.
    pub whole_words: Option<bool>,
    /// Stays for so many messages; `None` = off.
    pub sticky: Option<f64>,
    /// Rests for so many messages.
    pub cooldown: Option<f64>,
    /// Not before so many messages.
    pub delay: Option<f64>,
    /// Only every so many messages; `None` = always.
    pub every: Option<f64>,
    /// Generation types; empty = all.
    pub triggers: Vec<String>,
    /// Character filter.
    pub filter: Filter,
    /// cyrb53 of the entry's JSON text; NaN for an entry without sticky and cooldown.
    pub hash: f64,
}

/// For which characters an entry is.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The lists name those it is *not* for.
    pub exclude: bool,
    /// Avatar file names without extension.
    pub names: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
}

fn truthy(raw: &Object, key: &str) -> bool {
    raw.get(key).is_some_and(js::to_boolean)
}

/// `null` and missing give `None`.
fn given<'a>(raw: &'a Object, key: &str) -> Option<&'a Value> {
    raw.get(key).filter(|v| !v.is_null())
}

fn number_or(raw: &Object, key: &str, missing: f64) -> f64 {
    raw.get(key).map_or(missing, js::value_to_number)
}

/// A field that counts only when truthy, as a number.
fn truthy_number(raw: &Object, key: &str) -> Option<f64> {
    raw.get(key).filter(|v| js::to_boolean(v)).map(js::value_to_number)
}

fn texts(raw: &Object, key: &str) -> Vec<Option<String>> {
    raw.get(key).and_then(Value::as_array).map_or_else(Vec::new, |list| {
        // An empty text stays: it never matches, but scores (03 §11).
        let kept = |v: &Value| v.is_string() || js::to_boolean(v);
        list.iter().map(|v| kept(v).then(|| js::value_to_text(v))).collect()
    })
}

fn strings(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .map_or_else(Vec::new, |l| l.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

impl Entry {
    /// Reads an entry of a book. `None` for what cannot be one: no object, or a content or a group that is no text (03 F53).
    pub fn new(world: &str, raw: &Value, source: Source, profile: &Profile) -> Option<Self> {
        let raw = raw.as_object()?;
        let odd = |key: &str| raw.get(key).is_some_and(|v| !v.is_string() && js::to_boolean(v));
        if odd("content") || odd("group") {
            return None;
        }
        let text = |key: &str| raw.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let Header { lines: decorators, settings, content } =
            Header::read(&text("content"), profile.on(&profile::LORE_DECORATORS));
        let uid = raw.get("uid").cloned().unwrap_or(Value::Null);
        let uid_text = raw.get("uid").map_or_else(|| "undefined".to_owned(), js::value_to_text);
        let fixed = profile.on(&profile::LORE_ENTRIES);
        // Only records of timed effects name the hash, and it is dear.
        let timed = truthy(raw, "sticky") || truthy(raw, "cooldown");
        let mut sources = 0;
        for (i, field) in Sources::FIELDS.iter().enumerate() {
            sources |= u8::from(truthy(raw, field)) << i;
        }
        let position = match given(raw, "position") {
            Some(Value::Number(n)) => match n.as_f64() {
                Some(0.0) => Position::Before,
                Some(1.0) => Position::After,
                Some(2.0) => Position::NoteTop,
                Some(3.0) => Position::NoteBottom,
                Some(4.0) => Position::Depth,
                Some(5.0) => Position::ExamplesTop,
                Some(6.0) => Position::ExamplesBottom,
                Some(7.0) => Position::Outlet,
                _ => Position::Nowhere,
            },
            // A missing position is an oversight (03 F43).
            None if fixed => Position::Before,
            _ => Position::Nowhere,
        };
        let filter =
            raw.get("characterFilter").and_then(Value::as_object).map_or_else(Filter::default, |f| Filter {
                exclude: truthy(f, "isExclude"),
                names: strings(f.get("names")),
                tags: strings(f.get("tags")),
            });
        let disabled = match raw.get("disable") {
            Some(Value::Bool(b)) => *b,
            Some(v @ (Value::Number(_) | Value::String(_))) => {
                js::value_to_number(v).to_bits() == 1.0_f64.to_bits()
            }
            _ => false,
        };
        let missing_order = if fixed { 100.0 } else { f64::NAN };
        let mut entry = Self {
            world: world.to_owned(),
            id: format!("{world}.{uid_text}"),
            comment: text("comment"),
            source,
            keys: texts(raw, "key"),
            secondary: texts(raw, "keysecondary"),
            selective: truthy(raw, "selective"),
            logic: given(raw, "selectiveLogic").map(|v| match v.as_f64() {
                Some(0.0) => Logic::AndAny,
                Some(1.0) => Logic::NotAll,
                Some(2.0) => Logic::NotAny,
                Some(3.0) => Logic::AndAll,
                _ => Logic::Unknown,
            }),
            constant: truthy(raw, "constant"),
            order: number_or(raw, "order", missing_order),
            position,
            disabled,
            ignore_budget: truthy(raw, "ignoreBudget"),
            exclude_recursion: truthy(raw, "excludeRecursion"),
            prevent_recursion: truthy(raw, "preventRecursion"),
            delay_level: raw
                .get("delayUntilRecursion")
                .filter(|v| js::to_boolean(v))
                .map(js::value_to_number),
            sources: Sources(sources),
            probability: number_or(raw, "probability", f64::NAN),
            certain: raw.get("probability").and_then(Value::as_f64) == Some(100.0),
            use_probability: truthy(raw, "useProbability"),
            depth: given(raw, "depth").map(js::value_to_number),
            no_depth: if raw.contains_key("depth") { 0.0 } else { f64::NAN },
            role: given(raw, "role").map_or(0, |v| js::to_integer(js::value_to_number(v))),
            outlet: text("outletName"),
            group: text("group"),
            group_override: truthy(raw, "groupOverride"),
            group_weight: given(raw, "groupWeight").map_or(100.0, js::value_to_number),
            group_scoring: given(raw, "useGroupScoring").map(js::to_boolean),
            scan_depth: given(raw, "scanDepth").map(js::value_to_number),
            case_sensitive: given(raw, "caseSensitive").map(js::to_boolean),
            whole_words: given(raw, "matchWholeWords").map(js::to_boolean),
            sticky: truthy_number(raw, "sticky"),
            cooldown: truthy_number(raw, "cooldown"),
            delay: truthy_number(raw, "delay"),
            every: None,
            triggers: strings(raw.get("triggers")),
            filter,
            hash: if timed { hash(world, raw, &content, &decorators) } else { f64::NAN },
            uid,
            content,
            decorators,
        };
        for setting in settings {
            setting.apply(&mut entry);
        }
        Some(entry)
    }

    /// The depth that regex scripts are told.
    pub(super) fn script_depth(&self) -> Option<f64> {
        (self.position == Position::Depth).then(|| self.depth.unwrap_or(4.0))
    }

    /// It waits for a key and for nothing else, in every state of the scan.
    pub(super) fn waits(&self) -> bool {
        let free = self.triggers.is_empty() && self.filter.names.is_empty() && self.filter.tags.is_empty();
        let keyed = !self.keys.is_empty() && !self.constant && self.scan_depth.is_none();
        let timeless = self.delay.is_none() && self.every.is_none() && self.delay_level.is_none();
        free && keyed && timeless && self.decorators.is_empty()
    }

    /// Its inclusion groups.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        // Split at a comma and the white space behind it; nothing else is trimmed.
        self.group
            .split(',')
            .enumerate()
            .map(|(i, part)| if i == 0 { part } else { js::trim_start(part) })
            .filter(|p| !p.is_empty())
    }
}

/// The reference's hash of an entry: cyrb53 of its JSON text with `uid` and `world` first and the decorators last (spec 03 §9.2).
fn hash(world: &str, raw: &Object, content: &str, decorators: &[String]) -> f64 {
    let mut o = Object::new();
    if let Some(uid) = raw.get("uid") {
        o.insert("uid".into(), uid.clone());
    }
    o.insert("world".into(), Value::from(world));
    for (key, value) in raw {
        if key != "uid" && key != "hash" {
            let value = if key == "content" { Value::from(content) } else { value.clone() };
            o.insert(key.clone(), value);
        }
    }
    o.insert("world".into(), Value::from(world));
    if !raw.contains_key("content") {
        o.insert("content".into(), Value::from(content));
    }
    o.insert("decorators".into(), decorators.iter().map(|d| Value::from(d.as_str())).collect());
    hash53(&js::stringify(&Value::Object(o)))
}

/// cyrb53 in its older mixing order, over UTF-16 code units (spec 03 §9.2).
pub(crate) fn hash53(text: &str) -> f64 {
    let (mut a, mut b) = (0xDEAD_BEEF_u32, 0x41C6_CE57_u32);
    for unit in text.encode_utf16() {
        a = (a ^ u32::from(unit)).wrapping_mul(2_654_435_761);
        b = (b ^ u32::from(unit)).wrapping_mul(1_597_334_677);
    }
    a = (a ^ (a >> 16)).wrapping_mul(2_246_822_507) ^ (b ^ (b >> 13)).wrapping_mul(3_266_489_909);
    b = (b ^ (b >> 16)).wrapping_mul(2_246_822_507) ^ (a ^ (a >> 13)).wrapping_mul(3_266_489_909);
    4_294_967_296.0 * f64::from(b & 0x1F_FFFF) + f64::from(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hashes_are_the_references() {
        // Spec 03 §9.2 [run].
        for (text, hash) in [
            ("hello", 4_625_896_200_565_286.0),
            ("", 3_338_908_027_751_811.0),
            ("龍", 5_961_927_025_958_317.0),
        ] {
            assert_eq!(hash53(text), hash, "{text}");
        }
        let entry = |raw: Value| {
            let raw = raw.as_object().unwrap();
            let header = Header::read(raw["content"].as_str().unwrap(), false);
            hash("W", raw, &header.content, &header.lines)
        };
        assert_eq!(
            entry(json!({"uid":3,"key":["dragon"],"content":"@@activate\nHi"})),
            364_800_716_498_120.0
        );
        assert_eq!(entry(json!({"content":"Hi","key":["dragon"],"uid":3})), 5_949_896_308_416_749.0);
    }

    #[test]
    fn groups_split_at_commas() {
        let entry = Entry::new("W", &json!({"group": "a,  b, g ,,c"}), Source::Chat, &Profile::sillytavern())
            .unwrap();
        assert_eq!(entry.groups().collect::<Vec<_>>(), ["a", "b", "g ", "c"]);
    }
}
