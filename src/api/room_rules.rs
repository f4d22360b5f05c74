//! The rules of a room by name, continued from `rooms`: formula, narrator, guards, context, director, hearing, layout.

use serde_json::{Value, json};

use super::params::params;
use super::rooms::{Standing, at, each, flag, list, number, size, texts, typed, word};
use crate::error::Error;
use crate::host::Dice;
use crate::names::Named;
use crate::room::context::{GroupContext, Heard, Person, group_context};
use crate::room::control::{Control, reply_control};
use crate::room::director::{Brief, Lengths, director_prompt};
use crate::room::director_answer::director_parse;
use crate::room::layout::{self, Layout};
use crate::room::narrator::{self, Timing, Trigger};
use crate::room::presence::{PresenceOptions, Spoken, visible};
use crate::room::repeat::{RepeatOptions, similar};
use crate::room::validate::{Issue, Rules, validate};
use crate::scene::Object;
use crate::speakers::{Candidate, FormulaOptions, Line, Node, formula};

pub(super) fn score(of: &Value) -> Value {
    let mut standing = Standing::new();
    let mut out = Vec::new();
    for call in list(of, "calls") {
        let (members, _) = standing.take(call, "members");
        let members = members.as_array().map_or(&[][..], Vec::as_slice);
        let candidates: Vec<Candidate> = members
            .iter()
            .filter(|m| !flag(m, "muted"))
            .map(|m| Candidate {
                named: Named {
                    id: word(m, "id").to_owned(),
                    name: word(m, "name").to_owned(),
                    ..Named::default()
                },
                card: ["description", "personality", "scenario"]
                    .iter()
                    .map(|k| word(m, k).to_owned())
                    .collect(),
                talkativeness: m.get("talkativeness").cloned(),
                triggers: texts(m, "triggers").into_iter().map(str::to_owned).collect(),
            })
            .collect();
        let author = |m: &Value| {
            let by = |test: &dyn Fn(&Named) -> bool| candidates.iter().position(|c| test(&c.named));
            match at(m, "original_avatar").as_str() {
                _ if flag(m, "is_user") => None,
                Some(id) => by(&|n| n.id == id),
                None => by(&|n| n.name == word(m, "name")),
            }
        };
        let chat: Vec<Line<'_>> =
            list(call, "chat").iter().map(|m| Line { author: author(m), text: word(m, "mes") }).collect();
        let settings = at(call, "settings");
        let base = FormulaOptions { initiative: false, right: false, ..FormulaOptions::default() };
        let weight = |key: &str, default: f64| number(settings, key).unwrap_or(default);
        let options = FormulaOptions {
            window: size(settings, "window", base.window),
            top: size(settings, "topN", base.top),
            initiative: flag(settings, "initiativeEnabled"),
            right: flag(settings, "right"),
            mention: weight("mention", base.mention),
            trigger: weight("trigger", base.trigger),
            recency: weight("recency", base.recency),
            consecutive: weight("consecutive", base.consecutive),
            talkativeness: weight("talkativeness", base.talkativeness),
        };
        let draws: Vec<f64> = list(call, "draws").iter().filter_map(Value::as_f64).collect();
        let (scores, picked) = formula(&candidates, &chat, &options, &mut Dice::tape(draws));
        let id = |i: usize| candidates.get(i).map_or("", |c| c.named.id.as_str());
        let by_id: Object = scores.iter().map(|s| (id(s.index).to_owned(), json!(s.score))).collect();
        let triggered: Vec<&str> = scores.iter().filter(|s| s.triggered).map(|s| id(s.index)).collect();
        let picked: Vec<&str> = picked.into_iter().map(id).collect();
        out.push(json!({"scores": by_id, "triggered": triggered, "picked": picked}));
    }
    Value::Array(out)
}

pub(super) fn narration(of: &Value) -> Result<Value, Error> {
    let due = |calls: &Value| {
        let mut timing = Timing::default();
        let mut out = Vec::new();
        for call in calls.as_array().into_iter().flatten() {
            if let Some(at) = number(call, "narrated_at") {
                timing.narrated_at = at;
            } else {
                let interval =
                    u32::try_from(size(call, "interval", narrator::INTERVAL as usize)).unwrap_or(u32::MAX);
                let now = number(call, "now").unwrap_or(0.0);
                let trigger = Trigger::named(word(call, "trigger"));
                out.push(trigger.is_some_and(|t| timing.due(t, interval, now)));
            }
        }
        json!(out)
    };
    let thorough = flag(of, "thorough");
    let scene = |s: &Value| {
        json!(narrator::scene_line(word(s, "location"), &texts(s, "names"), word(s, "atmosphere")))
    };
    let summary = |messages: &Value| {
        let messages = messages.as_array().map_or(&[][..], Vec::as_slice);
        let heard =
            |m: &Value| Heard { name: word(m, "role").to_owned(), text: word(m, "content").to_owned() };
        json!(narrator::summary(&messages.iter().map(heard).collect::<Vec<_>>()))
    };
    let world = |call: &Value| {
        let node = at(call, "node");
        let node: Option<Node> = if node.is_null() { None } else { Some(typed(node)?) };
        let turn = u64::try_from(size(call, "turn", 0)).unwrap_or(0);
        Ok(json!(narrator::world_due(word(call, "message"), turn, node.as_ref())))
    };
    let mut out = Object::new();
    for key in ["due", "clean", "scene", "summary", "world"] {
        let Some(calls) = of.get(key).and_then(Value::as_array) else { continue };
        let results: Result<Vec<Value>, Error> = calls
            .iter()
            .map(|call| match key {
                "due" => Ok(due(call)),
                "clean" => Ok(json!(narrator::clean(call.as_str().unwrap_or(""), thorough))),
                "scene" => Ok(scene(call)),
                "summary" => Ok(summary(call)),
                _ => world(call),
            })
            .collect();
        out.insert(key.to_owned(), Value::Array(results?));
    }
    Ok(Value::Object(out))
}

pub(super) fn repeat(call: &Value) -> Value {
    let numbers = |key: &str| -> Vec<f64> { list(call, key).iter().filter_map(Value::as_f64).collect() };
    let (a, b) = (numbers("previous_vector"), numbers("vector"));
    let options = RepeatOptions {
        threshold: number(call, "threshold").or_else(|| number(at(call, "options"), "threshold")),
        embedding: !a.is_empty(),
    };
    json!(similar(word(call, "previous"), word(call, "text"), &options, Some((&a, &b))))
}

pub(super) fn validated(of: &Value) -> Result<Value, Error> {
    let (mut rules, mut others) = (Standing::new(), Standing::new());
    let mut out = Vec::new();
    for call in list(of, "calls") {
        let rules: Rules = typed(rules.take(call, "rules").0)?;
        let (others, _) = others.take(call, "others");
        let others = pairs(others.as_array().map_or(&[], Vec::as_slice));
        out.push(json!(validate(word(call, "text"), &rules, &others)));
    }
    Ok(Value::Array(out))
}

/// Id and name of members; without a name, the id.
fn pairs(members: &[Value]) -> Vec<(&str, &str)> {
    members
        .iter()
        .map(|m| (word(m, "id"), word(m, "name")))
        .map(|(id, name)| (id, if name.is_empty() { id } else { name }))
        .collect()
}

pub(super) fn context(call: &Value) -> Result<Value, Error> {
    let person = |key: &str| Some(at(call, key)).filter(|v| !v.is_null()).map(params).transpose();
    let issue = |v: &Value| {
        let strings = |key: &str| texts(v, key).into_iter().map(str::to_owned).collect();
        match word(v, "code") {
            "empty" => Some(Issue::Empty),
            "forbidden_word" => Some(Issue::ForbiddenWord { words: strings("words") }),
            "self_reference" => Some(Issue::SelfReference { wrong: strings("wrong") }),
            "speaks_as_other" => Some(Issue::SpeaksAsOther { member: None }),
            "prompt_leak" => Some(Issue::PromptLeak),
            _ => None,
        }
    };
    let persons: Vec<Person> = list(call, "participants").iter().map(params).collect::<Result<_, _>>()?;
    let recent: Vec<Heard> = list(call, "recent").iter().map(params).collect::<Result<_, _>>()?;
    Ok(json!(group_context(&GroupContext {
        mode: word(call, "mode").to_owned(),
        participants: persons,
        speaker: person("speaker")?.unwrap_or_default(),
        round: u32::try_from(size(call, "round", 0)).unwrap_or(0),
        target: person("target")?,
        host: person("host")?,
        topic: word(call, "topic").to_owned(),
        scene: word(call, "scene").to_owned(),
        recent,
        must_reply: flag(call, "must_reply"),
        anti_repeat: flag(call, "anti_repeat"),
        issues: list(call, "issues").iter().filter_map(issue).collect(),
        self_reference: texts(call, "self_reference").into_iter().map(str::to_owned).collect(),
        closing: flag(call, "closing"),
    })))
}

pub(super) fn control(call: &Value) -> Result<Value, Error> {
    let kind: Control = typed(call.get("control").unwrap_or(at(call, "mode")))?;
    Ok(json!(reply_control(word(call, "text"), kind)))
}

pub(super) fn director(of: &Value) -> Value {
    let members: Vec<Brief> = list(of, "members")
        .iter()
        .map(|m| Brief {
            id: word(m, "id").to_owned(),
            name: word(m, "name").to_owned(),
            brief: word(m, "brief").to_owned(),
        })
        .collect();
    let history: Vec<Heard> = list(of, "history")
        .iter()
        .map(|h| Heard { name: word(h, "name").to_owned(), text: word(h, "text").to_owned() })
        .collect();
    let base = Lengths::default();
    let lengths = Lengths {
        max: size(of, "max", base.max),
        depth: size(of, "depth", base.depth),
        brief: size(of, "brief_chars", base.brief),
        line: size(of, "line_chars", base.line),
    };
    let messages = director_prompt(&members, &history, &lengths);
    messages.iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

pub(super) fn directed(of: &Value) -> Value {
    let (mut members, mut max) = (Standing::new(), Standing::new());
    list(of, "calls")
        .iter()
        .map(|call| {
            let (members, _) = members.take(call, "members");
            let (max, _) = max.take(call, "max");
            let max = max.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(Lengths::default().max);
            let members = pairs(members.as_array().map_or(&[], Vec::as_slice));
            json!(director_parse(word(call, "text"), &members, max))
        })
        .collect()
}

pub(super) fn heard(of: &Value) -> Result<Value, Error> {
    let messages: Vec<Spoken<'_>> = list(of, "messages")
        .iter()
        .map(|m| Spoken {
            sender: at(m, "sender").as_str(),
            hidden: flag(m, "hidden"),
            present: at(m, "present").as_array().map(|l| l.iter().filter_map(Value::as_str).collect()),
        })
        .collect();
    each(of, |call| {
        let options: PresenceOptions = typed(at(call, "options"))?;
        Ok(json!(visible(&messages, word(call, "member"), &options)))
    })
}

pub(super) fn layouts(of: &Value) -> Value {
    let parts = texts(of, "parts");
    let reuse: Vec<Value> = list(of, "reuse")
        .iter()
        .map(|pair| match (at(pair, "previous"), at(pair, "current")) {
            (Value::String(a), Value::String(b)) => json!({"code_points": layout::common_start(a, b)}),
            (previous, current) => json!(layout::reuse(previous, current, &layout::code_points)),
        })
        .collect();
    json!({
        "classic": layout::order(Layout::Classic, &parts),
        "tail": layout::order(Layout::Tail, &parts),
        "reuse": reuse,
    })
}
