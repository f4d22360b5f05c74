//! The rules of a room by name: `rooms.at_mentions` and its like, `{calls: […]}` in, one result a call out (spec 09 appendix B).
//!
//! For hosts that drive their own rounds, and for tests. What the first call says of members or rules holds for the later ones.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::params::params;
use super::room_rules as rules;
use crate::error::{Code, Error};
use crate::host::Dice;
use crate::js;
use crate::names::{Named, Recency};
use crate::room::crosstalk::{self, Called};
use crate::scene::Object;
use crate::speakers::{Asked, Caller, Choice, Dimension, Match, Node, Relation, Said, World, choose, decide};

static NOTHING: Value = Value::Null;

/// One function by its name.
pub(super) fn call(name: &str, of: &Value) -> Result<Value, Error> {
    match name {
        "at_mentions" => at_mentions(of),
        "at_mentions_both" => Ok(at_mentions_both(of)),
        "collect_mentions" => collect_mentions(of),
        "process_cross_talk" => Ok(process_cross_talk(of)),
        "pick" => each(of, pick),
        "world_engine" => each(of, world_engine),
        "relation" => each(of, relation),
        "formula" => Ok(rules::score(of)),
        "narrator" => rules::narration(of),
        "repeat" => each(of, |call| Ok(rules::repeat(call))),
        "validate" => rules::validated(of),
        "group_context" => each(of, rules::context),
        "reply_control" => each(of, rules::control),
        "director_prompt" => Ok(rules::director(of)),
        "director_parse" => Ok(rules::directed(of)),
        "visible" => rules::heard(of),
        "layout_reuse" => Ok(rules::layouts(of)),
        "room" => super::room_script::run(of),
        other => {
            Err(Error::new(Code::OptionUnknown, "method", format!("there is no function \"rooms.{other}\"")))
        }
    }
}

pub(super) fn at<'a>(of: &'a Value, key: &str) -> &'a Value {
    of.get(key).unwrap_or(&NOTHING)
}

pub(super) fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    at(of, key).as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn word<'a>(of: &'a Value, key: &str) -> &'a str {
    at(of, key).as_str().unwrap_or("")
}

pub(super) fn flag(of: &Value, key: &str) -> bool {
    js::to_boolean(at(of, key))
}

pub(super) fn number(of: &Value, key: &str) -> Option<f64> {
    at(of, key).as_f64()
}

pub(super) fn size(of: &Value, key: &str, default: usize) -> usize {
    number(of, key).map_or(default, |n| usize::try_from(js::to_integer(n)).unwrap_or(0))
}

pub(super) fn texts<'a>(of: &'a Value, key: &str) -> Vec<&'a str> {
    list(of, key).iter().filter_map(Value::as_str).collect()
}

/// A value as a type; `{snake_case}` keys become camelCase first.
pub(super) fn typed<T: DeserializeOwned + Default>(value: &Value) -> Result<T, Error> {
    if value.is_null() { Ok(T::default()) } else { params(&camel(value)) }
}

/// The value with camelCase keys.
pub(super) fn camel(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            object.iter().map(|(key, v)| (camel_word(key), camel(v))).collect::<Object>().into()
        }
        Value::Array(items) => items.iter().map(camel).collect(),
        other => other.clone(),
    }
}

fn camel_word(word: &str) -> String {
    let mut parts = word.split('_');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let mut chars = part.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    out
}

/// A function of one call, for all calls.
pub(super) fn each(of: &Value, one: impl Fn(&Value) -> Result<Value, Error>) -> Result<Value, Error> {
    let calls = list(of, "calls").iter().enumerate();
    calls.map(|(i, call)| one(call).map_err(|e| e.under(&format!("calls[{i}]")))).collect()
}

/// The last value that a key had in this call or the ones before.
pub(super) struct Standing<'a> {
    value: &'a Value,
}

impl<'a> Standing<'a> {
    pub(super) const fn new() -> Self {
        Self { value: &NOTHING }
    }

    pub(super) fn take(&mut self, call: &'a Value, key: &str) -> (&'a Value, bool) {
        let given = call.get(key);
        if let Some(value) = given {
            self.value = value;
        }
        (self.value, given.is_some())
    }
}

fn named(members: &Value) -> Vec<Named> {
    let members = members.as_array().map_or(&[][..], Vec::as_slice);
    members
        .iter()
        .map(|m| Named {
            id: word(m, "id").to_owned(),
            name: word(m, "name").to_owned(),
            aliases: texts(m, "aliases").into_iter().map(str::to_owned).collect(),
            muted: flag(m, "muted"),
        })
        .collect()
}

/// The matcher of each call; made anew where members or kind of match change.
fn callers<'a>(of: &'a Value, mut one: impl FnMut(&Caller, &'a Value) -> Value) -> Result<Value, Error> {
    let (mut members, mut kind) = (Standing::new(), Standing::new());
    let mut caller: Option<Caller> = None;
    let mut out = Vec::new();
    for call in list(of, "calls") {
        let (list, new_members) = members.take(call, "members");
        let before = kind.value;
        let (how, _) = kind.take(call, "match");
        if new_members || how != before || caller.is_none() {
            caller =
                Some(Caller::new(&named(list), typed::<Match>(how)?, at(call, "everyone") != &json!(false)));
        }
        out.extend(caller.as_ref().map(|c| one(c, call)));
    }
    Ok(Value::Array(out))
}

fn at_mentions(of: &Value) -> Result<Value, Error> {
    callers(of, |caller, call| json!(caller.calls(word(call, "text"), Recency::default())))
}

fn at_mentions_both(of: &Value) -> Value {
    let members = named(at(of, "members"));
    let texts = texts(of, "texts");
    let count = size(of, "strict_count", texts.len());
    let all = |how, count| -> Vec<Vec<String>> {
        let caller = Caller::new(&members, how, true);
        texts.iter().take(count).map(|text| caller.calls(text, Recency::default())).collect()
    };
    json!({"strict": all(Match::Strict, count), "smart": all(Match::Smart, usize::MAX)})
}

fn collect_mentions(of: &Value) -> Result<Value, Error> {
    callers(of, |caller, call| {
        let text = |r: &Value, key: &str| match at(r, key) {
            Value::Null => String::new(),
            v => js::value_to_text(v),
        };
        let said: Vec<(String, String)> =
            list(call, "replies").iter().map(|r| (text(r, "sender"), text(r, "content"))).collect();
        let said: Vec<Said<'_>> = said.iter().map(|(sender, content)| Said { sender, content }).collect();
        caller.collect(&said).into_iter().map(|c| c.id).collect()
    })
}

fn process_cross_talk(of: &Value) -> Value {
    let mut standing = Standing::new();
    let mut out = Vec::new();
    for call in list(of, "calls") {
        let members = named(standing.take(call, "members").0);
        let mentions: Vec<String> = texts(call, "mentions").into_iter().map(str::to_owned).collect();
        let base = at(call, "base").as_object().cloned().unwrap_or_default();
        let fails = texts(call, "send_fail");
        let passed = crosstalk::process_cross_talk(
            &mentions,
            size(call, "max", 5),
            &base,
            &|id| members.iter().find(|m| m.id == id).map(|m| m.name.clone()),
            &mut |metadata| {
                let speaker = metadata.get("group_speaker").and_then(Value::as_str).unwrap_or("");
                match at(at(call, "table"), speaker) {
                    Value::Null => Called::Nothing,
                    Value::String(text) if text == "!" => Called::Failed,
                    Value::Object(message) => Called::Reply {
                        text: message.get("content").and_then(Value::as_str).unwrap_or("").to_owned(),
                        message: Some(message.clone()),
                    },
                    text => Called::Reply { text: js::value_to_text(text), message: None },
                }
            },
            &mut |message| !fails.iter().any(|f| message.get("sender").and_then(Value::as_str) == Some(f)),
        );
        out.push(json!({"replies": passed.replies, "calls": passed.calls, "sent": passed.sent, "base_after": base}));
    }
    Value::Array(out)
}

fn pick(call: &Value) -> Result<Value, Error> {
    let relations: Vec<Relation> = list(call, "relations").iter().map(typed).collect::<Result<_, _>>()?;
    let ids = texts(call, "members");
    let asked = Asked {
        ids: &ids,
        message: word(call, "message"),
        last: at(call, "last").as_str(),
        narrator: at(call, "narrator").as_str(),
        relations: &relations,
        mentions: None,
    };
    let mut dice = Dice::tape(number(call, "draw").into_iter().collect::<Vec<_>>());
    Ok(json!(choose(Choice::named(word(call, "strategy")), &asked, &mut dice).unwrap_or("")))
}

fn world_engine(call: &Value) -> Result<Value, Error> {
    let ids = texts(call, "members");
    let name = |id: &&'_ str| {
        let name = word(at(at(call, "characters"), id), "name");
        if name.is_empty() { (*id).to_owned() } else { name.to_owned() }
    };
    let names: Vec<String> = ids.iter().map(name).collect();
    let members: Vec<(&str, &str)> = ids.iter().copied().zip(names.iter().map(String::as_str)).collect();
    let node = at(call, "node");
    let node: Option<Node> = if node.is_null() { None } else { Some(typed(node)?) };
    let mut relations = Vec::new();
    for relation in list(call, "relations") {
        let mut relation = relation.clone();
        if let Some(o) = relation.as_object_mut()
            && let Some(id) = o.shift_remove("character_id")
        {
            o.insert("a".into(), id);
        }
        relations.push(typed::<Relation>(&relation)?);
    }
    let decision = decide(&World {
        members: &members,
        message: word(call, "message"),
        node: node.as_ref(),
        relations: &relations,
        last: at(call, "last").as_str(),
        mentions: None,
    });
    Ok(json!(decision))
}

fn relation(call: &Value) -> Result<Value, Error> {
    let mut relation: Relation = typed(at(call, "start"))?;
    relation.a = word(call, "a").to_owned();
    relation.b = word(call, "b").to_owned();
    for update in list(call, "updates") {
        let dimension: Dimension = params(at(update, "dimension"))?;
        relation.update(
            dimension,
            number(update, "delta").unwrap_or(0.0),
            word(update, "reason"),
            number(update, "ts"),
        );
    }
    let recent = relation.recent();
    Ok(json!({
        "key": relation.key(),
        "familiarity": relation.familiarity,
        "trust": relation.trust,
        "affection": relation.affection,
        "rivalry": relation.rivalry,
        "history": recent.get(..3).unwrap_or(recent),
        "history_len": recent.len(),
        "total": relation.history.len(),
    }))
}
