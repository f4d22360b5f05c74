//! The calls of a room's memory, JSON in and out: `memory.pending`, `memory.store`, `memory.recall` … (`docs/memory.md`).

use serde_json::{Value, json};

use super::{is_set, list, record, texts};
use crate::error::{Code, Error};
use crate::js::{self, object};
use crate::memory::{
    self, EmbedAsk, Job, Memory, Outcome, Provider, Purpose, SummaryRecord, Work, active, due, read_file,
};
use crate::profile::MEMORY_SUMMARY;
use crate::room::Room;
use crate::tokens::Count;
use crate::turn::TurnOptions;

static NOTHING: Value = Value::Null;

/// A call by its name. `floats` are vectors that came as numbers and not as JSON.
pub(in crate::api) fn room_call(
    room: &mut Room,
    name: &str,
    input: &Value,
    floats: &[f32],
    count: &dyn Count,
) -> Result<Value, Error> {
    let raw = |key: &str| input.get(key).unwrap_or(&NOTHING);
    let text = |key: &str| raw(key).as_str().unwrap_or("");
    let scope = raw("scope").as_str().filter(|s| !matches!(*s, "" | "shared"));
    let now = room.host().clock.now_ms;
    Ok(match name {
        "configure" => {
            configure(room, input)?;
            Value::Null
        }
        "pending" => {
            let (view, members, lore) = (room.memory_view(), room.memory_members(), room.memory_lore());
            let own = room.profile().on(&MEMORY_SUMMARY);
            let jobs = room.memory_mut().pending(&view, &members, &lore, own);
            let mut jobs = jobs.iter().map(|job| job_value(room, job)).collect::<Result<Vec<Value>, _>>()?;
            if !own {
                jobs.extend(room.exact_summary_job(count)?);
            }
            Value::Array(jobs)
        }
        "store" if text("id") == "summary" => {
            let index = raw("index").as_u64().and_then(|n| usize::try_from(n).ok());
            let kept = room.exact_summary_store(text("text"), index);
            record(vec![("status", if kept { "kept" } else { "empty" }.into())])
        }
        "store" => {
            let view = room.memory_view();
            let outcome = outcome(room.memory_mut(), input, floats)?;
            let stored = room.memory_mut().store(text("id"), outcome, &view, now)?;
            record(vec![("status", stored.as_str().into())])
        }
        "query" => {
            let mut view = room.memory_view();
            if let Some(typed) = raw("userMessage").as_str().filter(|t| !js::trim(t).is_empty()) {
                let name = room.scene().persona.name.clone();
                view.memos.push(memory::Memo { name, text: typed.to_owned(), ..memory::Memo::default() });
            }
            let speaker = speaker(room, text("speaker"));
            room.memory_mut().query_text(&view, &speaker).into()
        }
        "setQuery" => {
            let vector = if floats.is_empty() { vector(raw("vector")) } else { floats.to_vec() };
            room.memory_mut().set_query(text("text"), vector)?;
            Value::Null
        }
        "recall" => {
            let options =
                TurnOptions { speaker: Some(speaker(room, text("speaker"))), ..TurnOptions::default() };
            room.memory_mut();
            room.look_back(&options, count).unwrap_or(Value::Null)
        }
        "state" => room.memory_mut().to_value(),
        "load" => {
            room.memory_mut().load(raw("state"), &[])?;
            Value::Null
        }
        "summary" if !room.profile().on(&MEMORY_SUMMARY) => {
            let due = room.exact_summary_job(count)?.is_some();
            record(vec![("text", room.exact_summary().into()), ("due", due.into())])
        }
        "editSummary" if !room.profile().on(&MEMORY_SUMMARY) => {
            room.exact_summary_store(text("text"), None).into()
        }
        "restoreSummary" if !room.profile().on(&MEMORY_SUMMARY) => {
            room.exact_summary_restore();
            Value::Null
        }
        "summary" => summary(room, scope),
        "editSummary" => {
            let view = room.memory_view();
            let id = room.memory_mut().edit_summary(&view, text("text"), scope, now);
            id.map_or(Value::Null, Value::String)
        }
        "restoreSummary" => {
            let view = room.memory_view();
            room.memory_mut().restore_previous(&view, scope).map_or(Value::Null, Value::String)
        }
        "importSummaries" => {
            let view = room.memory_view();
            let told: Vec<(usize, String)> = (0..)
                .zip(&room.scene().chat.messages)
                .filter_map(|(at, m)| Some((at, m.extra("memory")?.as_str()?.to_owned())))
                .collect();
            room.memory_mut().import_summaries(&view, told, now).into()
        }
        "exportSummaries" => {
            let view = room.memory_view();
            let found = room.memory_mut().export_summaries(&view);
            found
                .into_iter()
                .map(|(at, text)| record(vec![("index", at.into()), ("text", text.into())]))
                .collect()
        }
        "addFile" => {
            let file = input.as_object().map(read_file).unwrap_or_default();
            room.memory_mut().add_file(file).into()
        }
        "forget" => room.memory_mut().forget(text("id")).into(),
        "confirm" => room.memory_mut().confirm(text("id")).into(),
        other => {
            let message = format!("a room's memory has no method {other:?}");
            return Err(Error::new(Code::OptionUnknown, "method", message));
        }
    })
}

/// Settings, and under `state` what [`Memory::to_value`] gave.
pub(in crate::api) fn configure(room: &mut Room, value: &Value) -> Result<(), Error> {
    let mut settings = value.clone();
    let state = settings.as_object_mut().and_then(|o| o.shift_remove("state"));
    let memory = room.memory_mut();
    memory.configure(&settings).map_err(|e| e.under("memory"))?;
    if let Some(state) = state {
        memory.load(&state, &[])?;
    }
    Ok(())
}

/// The one asked for by name, alias or avatar, else the first member.
fn speaker(room: &Room, name: &str) -> String {
    let found =
        Some(name).filter(|n| !n.is_empty()).and_then(|n| crate::speakers::lookup(room.scene(), n).ok());
    let avatar = found.and_then(|at| room.scene().characters.get(at)).map(|c| c.avatar.clone());
    avatar.unwrap_or_else(|| room.memory_members().into_iter().next().map(|(id, _)| id).unwrap_or_default())
}

fn job_value(room: &Room, job: &Job) -> Result<Value, Error> {
    let mut out = object(vec![("id", job.id.as_str().into())]);
    let ask = |out: &mut crate::scene::Object, (system, user): &(String, String)| -> Result<(), Error> {
        js::put(out, "system", system.as_str().into());
        js::put(out, "user", user.as_str().into());
        js::put(out, "request", room.side_request(system, user)?);
        Ok(())
    };
    match &job.work {
        Work::Embed { items, texts } => {
            js::put(&mut out, "kind", "embed".into());
            js::put(&mut out, "texts", js::texts(texts.clone()));
            js::put(&mut out, "items", items.iter().map(|i| Value::from(i.of.as_str())).collect());
            js::put(&mut out, "purpose", "document".into());
            if let Some(memory) = room.memory()
                && let Some(request) = embed_request(memory, texts, Purpose::Document)?
            {
                js::put(&mut out, "request", request);
            }
        }
        Work::Summarise { scope, anchor, left, ask: asked } => {
            js::put(&mut out, "kind", "summarise".into());
            js::put(&mut out, "scope", scope.as_deref().unwrap_or("shared").into());
            js::put(&mut out, "coversUntil", anchor.0.as_str().into());
            js::put(&mut out, "left", (*left).into());
            ask(&mut out, asked)?;
        }
        Work::Extract { owner, ask: asked, .. } | Work::Consolidate { owner, ask: asked, .. } => {
            let extract = matches!(job.work, Work::Extract { .. });
            js::put(&mut out, "kind", if extract { "extract" } else { "consolidate" }.into());
            js::put(&mut out, "owner", owner.as_str().into());
            ask(&mut out, asked)?;
        }
    }
    Ok(Value::Object(out))
}

/// `{url, method, headers, body, auth?}` for texts, if the settings name a provider.
fn embed_request(memory: &Memory, texts: &[String], purpose: Purpose) -> Result<Option<Value>, Error> {
    let settings = &memory.settings.embed;
    if settings.provider.is_empty() {
        return Ok(None);
    }
    let provider = Provider::named(&settings.provider)?;
    let ask = EmbedAsk {
        model: Some(&settings.model),
        texts,
        dimensions: settings.dimensions,
        purpose: Some(purpose),
        ..EmbedAsk::default()
    };
    let (path, body) = memory::embed_request(provider, &ask);
    let base = if settings.base.is_empty() { provider.base } else { settings.base.as_str() };
    let mut out = object(vec![
        ("url", format!("{}{path}", base.trim_end_matches('/')).into()),
        ("method", "POST".into()),
        ("headers", json!({"Content-Type": "application/json"})),
        ("body", js::stringify(&Value::Object(body)).into()),
    ]);
    if let Some((header, prefix)) = provider.auth() {
        js::put(&mut out, "auth", json!({"header": header, "prefix": prefix}));
    }
    Ok(Some(Value::Object(out)))
}

/// `{vectors}`, `{response}`, `{text}` or `{failed: true}`, or vectors that came as numbers, one after the other.
fn outcome(memory: &Memory, input: &Value, floats: &[f32]) -> Result<Outcome, Error> {
    let field = |key: &str| input.get(key).filter(|v| !v.is_null());
    if is_set(input, "failed") {
        return Ok(Outcome::Failed);
    }
    if let Some(text) = field("text").and_then(Value::as_str) {
        return Ok(Outcome::Text(text.to_owned()));
    }
    if let Some(vectors) = field("vectors") {
        return Ok(Outcome::Vectors(list(vectors).iter().map(vector).collect()));
    }
    if let Some(answer) = field("response") {
        let provider = Provider::named(&memory.settings.embed.provider)?;
        let vectors = memory::embed_vectors(provider, answer, None)?;
        #[expect(clippy::cast_possible_truncation, reason = "vectors are f32")]
        let narrow = |v: Vec<f64>| v.into_iter().map(|x| x as f32).collect();
        return Ok(Outcome::Vectors(vectors.into_iter().map(narrow).collect()));
    }
    let dims = input.get("dims").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    if dims > 0 && floats.len().is_multiple_of(dims) {
        return Ok(Outcome::Vectors(floats.chunks_exact(dims).map(<[f32]>::to_vec).collect()));
    }
    Err(Error::new(Code::MemoryAnswer, "result", "give {vectors}, {response}, {text} or {failed: true}"))
}

#[expect(clippy::cast_possible_truncation, reason = "vectors are f32")]
fn vector(value: &Value) -> Vec<f32> {
    list(value).iter().map(|x| x.as_f64().unwrap_or(f64::NAN) as f32).collect()
}

/// The summary in force, and whether one is due.
fn summary(room: &mut Room, scope: Option<&str>) -> Value {
    let view = room.memory_view();
    let memory = room.memory_mut();
    let current = active(&memory.records, &view.anchors(), scope);
    let due = due(&view.memos, current.map(|a| a.record.anchor.as_str()), scope, &memory.settings.summary);
    let of = |r: &SummaryRecord| (r.id.clone(), r.text.clone());
    let (id, text) = current.map(|a| of(a.record)).unwrap_or_default();
    record(vec![
        ("id", id.into()),
        ("text", text.into()),
        ("covers", current.map_or(0, |a| a.covers).into()),
        ("stale", current.is_some_and(|a| a.stale).into()),
        ("due", due.is_due().into()),
        ("why", due.why.as_str().into()),
        ("messages", due.messages.into()),
        ("words", due.words.into()),
        ("pinned", js::texts(texts(&memory.settings.summary.pinned.clone().into()))),
    ])
}
