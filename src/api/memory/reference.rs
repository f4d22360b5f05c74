//! JSON of a call -> the reference's functions (spec 10 Part 1) -> JSON.

use indexmap::IndexMap;
use serde_json::Value;

use super::{Args, is_set, list, record, size, text};
use crate::error::{Code, Error};
use crate::js;
use crate::memory;
use crate::memory::exact::{self, Found, Line, LoreItem, RawRules, RecallRules, Told};
use crate::scene::Object;

/// Chat messages: objects, or texts by A and U in turn.
pub(super) fn lines(args: &Args<'_>) -> Vec<Line> {
    let line = |(i, value): (usize, &Value)| match value.as_str() {
        Some(text) => {
            Line { name: if i % 2 == 0 { "A" } else { "U" }.into(), text: text.into(), ..Line::default() }
        }
        None => Line {
            name: text(value, "name").into(),
            text: text(value, "mes").into(),
            hidden: is_set(value, "is_system"),
            file_length: value.pointer("/extra/fileLength").and_then(size).unwrap_or(0),
        },
    };
    if let Some(chat) = args.raw("chat").as_array() {
        return chat.iter().enumerate().map(line).collect();
    }
    let chat = ["a0", "u1", "a2", "u3", "a4", "u5", "a6", "u7"].map(Value::from);
    chat.iter().enumerate().map(line).collect()
}

/// Hashes: numbers, or texts that stand for theirs.
pub(super) fn hashes(values: &[Value]) -> Vec<u64> {
    let one = |v: &Value| v.as_str().map(memory::hash).or_else(|| v.as_u64()).unwrap_or(0);
    values.iter().map(one).collect()
}

pub(super) fn sync(args: &Args<'_>) -> Value {
    let chat = lines(args);
    let got = exact::sync(
        &chat,
        &hashes(args.list("saved")),
        args.flag("keep_hidden"),
        args.size("batch", 5),
        &hashes(args.list("skip")),
    );
    let item = |at: &usize| {
        let line = chat.get(*at).map_or("", |l| l.text.as_str());
        record(vec![("text", line.into()), ("index", (*at).into())])
    };
    record(vec![
        ("insert", got.insert.iter().map(item).collect()),
        ("delete", got.delete.into()),
        ("left", got.left.into()),
    ])
}

pub(super) fn recall_reference(args: &Args<'_>) -> Value {
    let chat = lines(args);
    let default = RecallRules::default();
    let rules = RecallRules {
        protect: args.whole("protect", default.protect),
        query: args.size("query", default.query),
        template: args.setting("template").and_then(Value::as_str).unwrap_or(default.template),
    };
    let got = exact::recall(&chat, &hashes(args.list("hits")), &rules);
    let history = got.history.iter().filter_map(|at| chat.get(*at)).map(|l| l.text.clone()).collect();
    record(vec![("text", got.text.into()), ("history", js::texts(history))])
}

/// A chat of `length` messages `m0`, `m1` … by Mira and User in turn (or all `mes`, or `chat`), with its summaries.
pub(super) fn told(args: &Args<'_>) -> Told {
    let mut lines = if args.raw("chat").is_array() {
        lines(args)
    } else {
        let length = args.size("length", 0).min(100_000);
        let all = args.raw("mes").as_str();
        let line = |i: usize| Line {
            name: if i.is_multiple_of(2) { "Mira" } else { "User" }.into(),
            text: all.map_or_else(|| format!("m{i}"), str::to_owned),
            ..Line::default()
        };
        (0..length).map(line).collect()
    };
    for at in args.list("hidden").iter().filter_map(size) {
        lines.get_mut(at).into_iter().for_each(|l| l.hidden = true);
    }
    for at in args.list("empty").iter().filter_map(size) {
        lines.get_mut(at).into_iter().for_each(|l| l.text.clear());
    }
    let mut memory = vec![String::new(); lines.len()];
    for (i, own) in args.list("chat").iter().enumerate() {
        if let (Some(slot), Some(told)) =
            (memory.get_mut(i), own.pointer("/extra/memory").and_then(Value::as_str))
        {
            told.clone_into(slot);
        }
    }
    for (at, told) in args.raw("memory").as_object().into_iter().flatten() {
        if let Some(slot) = at.parse().ok().and_then(|at: usize| memory.get_mut(at)) {
            told.as_str().unwrap_or("").clone_into(slot);
        }
    }
    Told { lines, memory }
}

pub(super) fn raw_prompt(told: &Told, args: &Args<'_>) -> (String, Option<usize>) {
    let count = |t: &str| i64::try_from(js::len16(t)).unwrap_or(i64::MAX);
    told.raw_prompt(&RawRules {
        prompt: args.setting("prompt").and_then(Value::as_str).unwrap_or("P"),
        max_messages: args.size("maxMessagesPerRequest", 0),
        room: args.whole("context", i64::MAX).saturating_sub(args.whole("response", 0)),
        count: &count,
    })
}

/// What happens to a chat's summaries, one thing after the other. A call without a chat goes on with that of the one before.
pub(super) fn summary_store(calls: &[Value], shared: &Args<'_>) -> Result<Value, Error> {
    let mut chat = told(shared);
    let mut results = Vec::with_capacity(calls.len());
    for (i, own) in calls.iter().enumerate() {
        let args = Args(own);
        if ["length", "chat", "memory"].iter().any(|key| own.get(key).is_some()) {
            chat = told(&args);
        }
        match args.text("do", "") {
            "summarise" | "summarize" => {
                let reply = js::trim(args.text("reply", ""));
                let builder = args.whole("builder", args.whole("prompt_builder", 0));
                if reply.is_empty() {
                } else if builder == 0 {
                    chat.store(reply);
                } else if let (_, Some(last)) = raw_prompt(&chat, &args) {
                    chat.store_at(last, reply);
                }
            }
            "edit" => chat.store(args.text("text", "")),
            "restore_previous" => chat.restore_previous(),
            "delete_to" => chat.truncate(args.size("to", 0)),
            "swipe_last" | "edit_last" => chat.last_changed(),
            other => {
                let path = format!("calls[{i}].do");
                return Err(Error::new(Code::OptionUnknown, path, format!("summaries cannot {other:?}")));
            }
        }
        let stored: Object = (0..)
            .zip(&chat.memory)
            .filter(|(_, told)| !told.is_empty())
            .map(|(at, told): (usize, &String)| (at.to_string(), told.as_str().into()))
            .collect();
        results.push(record(vec![("stored", stored.into()), ("latest", chat.latest().into())]));
    }
    Ok(Value::Array(results))
}

pub(super) fn found(value: &Value) -> IndexMap<String, Vec<Found>> {
    let chunk = |row: &Value| {
        let text = row.get(0).and_then(Value::as_str).unwrap_or("").to_owned();
        (text, row.get(1).and_then(Value::as_i64).unwrap_or(0))
    };
    let files = value.as_object().into_iter().flatten();
    files.map(|(file, rows)| (file.clone(), list(rows).iter().map(chunk).collect())).collect()
}

pub(super) fn lore_vectors(args: &Args<'_>) -> Value {
    let item = |e: &Value| LoreItem {
        book: text(e, "world").into(),
        uid: e.get("uid").and_then(Value::as_i64).unwrap_or(0),
        content: text(e, "content").into(),
        vectorized: is_set(e, "vectorized"),
        disabled: is_set(e, "disable"),
    };
    let entries: Vec<LoreItem> = args.list("entries").iter().map(item).collect();
    let uids = |places: Vec<usize>| {
        places.into_iter().filter_map(|at| entries.get(at)).map(|e| e.uid).collect::<Vec<_>>().into()
    };
    record(vec![
        ("embedded", uids(exact::lore_to_embed(&entries, args.flag("enabled_for_all")))),
        ("activated", uids(exact::lore_to_force(&entries, &hashes(args.list("hits"))))),
    ])
}
