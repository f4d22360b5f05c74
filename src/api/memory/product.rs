//! JSON of a call -> the product's functions (spec 10 Part 2) -> JSON.

use serde_json::Value;

use super::{Args, NOTHING, id, is_set, list, points, record, score, size, text, texts};
use crate::error::{Code, Error};
use crate::js::{self, object};
use crate::memory::{
    self, Anchor, Booked, Candidates, EmbedAsk, IndexItem, Indexed, Markers, Memo, Order, Precision,
    Provider, Purpose, RecallSettings, Source, SummaryRecord, SummarySettings, VectorIndex, Wanted,
    WordIndex,
};

/// Messages; who heard one stands in it, or in `present` by its id.
pub(super) fn memos(args: &Args<'_>) -> Vec<Memo> {
    let heard = args.raw("present");
    let memo = |m: &Value| {
        let id = id(m, "id");
        let present = m.get("present").or_else(|| heard.get(id.as_str())).filter(|v| v.is_array()).map(texts);
        Memo {
            name: text(m, "name").into(),
            text: text(m, "text").into(),
            hidden: is_set(m, "hidden"),
            present,
            id,
        }
    };
    args.list("messages").iter().map(memo).collect()
}

pub(super) fn diff(args: &Args<'_>) -> Value {
    let own: Vec<(String, String, &str, Option<usize>)> = args
        .list("messages")
        .iter()
        .map(|m| {
            let text = text(m, "text");
            let hash = if m.get("hash").is_some() { id(m, "hash") } else { memory::hash(text).to_string() };
            (id(m, "id"), hash, text, m.get("chunks").and_then(size))
        })
        .collect();
    let wanted: Vec<Wanted<'_>> =
        own.iter().map(|(id, hash, text, chunks)| Wanted { id, hash, text, chunks: *chunks }).collect();
    let rows: Vec<[String; 4]> =
        args.list("index").iter().map(|i| ["id", "message", "hash", "model"].map(|key| id(i, key))).collect();
    let index: Vec<Indexed<'_>> =
        rows.iter().map(|[_, of, hash, model]| Indexed { of, hash, model }).collect();
    let got = memory::diff(&wanted, &index, args.text("model", ""));
    let embed = got.embed.iter().filter_map(|at| own.get(*at)).map(|(id, ..)| id.clone()).collect();
    let delete = got.delete.iter().filter_map(|at| rows.get(*at)).map(|[id, ..]| id.clone()).collect();
    record(vec![("embed", js::texts(embed)), ("delete", js::texts(delete))])
}

/// A list of numbers as a vector.
#[expect(clippy::cast_possible_truncation, reason = "vectors are f32")]
pub(super) fn vector(value: &Value) -> Vec<f32> {
    list(value).iter().map(|x| x.as_f64().unwrap_or(0.0) as f32).collect()
}

pub(super) fn recall(args: &Args<'_>) -> Result<Value, Error> {
    let memos = memos(args);
    let default = RecallSettings::default();
    #[expect(clippy::cast_possible_truncation, reason = "scores are f32")]
    let settings = RecallSettings {
        threshold: args.number("threshold", f64::from(default.threshold)) as f32,
        top: args.size("top", default.top),
        protect: args.size("protect", default.protect),
        candidates: match args.setting("candidates").and_then(Value::as_str) {
            Some("dropped") => Candidates::Dropped(args.size("kept_from", 0)),
            _ => Candidates::Unprotected,
        },
        order: match args.setting("order").and_then(Value::as_str) {
            Some("relevance") => Order::Relevance,
            _ => Order::Chronological,
        },
        template: args.setting("template").and_then(Value::as_str).unwrap_or(&default.template).to_owned(),
        budget: args.setting("budget").and_then(size),
        keep_hidden: args.flag("keep_hidden"),
    };
    let precision = if args.text("precision", "") == "int8" { Precision::Int8 } else { Precision::F32 };
    let mut index = VectorIndex::new("", precision);
    for (i, item) in args.list("items").iter().enumerate() {
        let chunk = item.get("chunk").and_then(size).and_then(|c| u32::try_from(c).ok()).unwrap_or(0);
        let own = IndexItem { of: id(item, "message"), chunk, hash: id(item, "hash") };
        let numbers = vector(item.get("vector").unwrap_or(&NOTHING));
        index.push(own, &numbers).map_err(|e| e.under(&format!("items[{i}]")))?;
    }
    let queries: Vec<Vec<f32>> = match args.list("query") {
        [] => Vec::new(),
        rows @ [Value::Array(_), ..] => rows.iter().map(vector).collect(),
        _ => vec![vector(args.raw("query"))],
    };
    let cosines = memory::message_scores(&memos, &index, &queries).map_err(|e| e.under("query"))?;
    let by_words: Option<Vec<usize>> = if let Some(query) = args.raw("keywords").as_str() {
        let mut words = WordIndex::new(memos.iter().map(|m| m.text.as_str()));
        let (open, _) = memory::candidates(&memos, args.member(), &settings);
        let tokens = words.query(query);
        let hits = words.search_tokens(&tokens, &|doc| open.binary_search(&doc).is_ok());
        Some(hits.into_iter().map(|hit| hit.doc).collect())
    } else {
        args.raw("keywords").as_array().map(|ids| {
            let place = |v: &Value| memos.iter().position(|m| m.id == js::value_to_text(v));
            ids.iter().filter_map(place).collect()
        })
    };
    let got = memory::recall(&memos, &cosines, by_words.as_deref(), args.member(), &settings, &points);
    let message = |at: usize| Value::from(memos.get(at).map_or("", |m| m.id.as_str()));
    let picked =
        got.picked.iter().map(|p| record(vec![("message", message(p.at)), ("score", score(p.score))]));
    let e = got.excluded;
    let excluded = [
        ("protected", e.protected),
        ("not_heard", e.not_heard),
        ("hidden", e.hidden),
        ("below", e.below),
        ("over_top", e.over_top),
        ("over_budget", e.over_budget),
    ];
    Ok(record(vec![
        ("picked", picked.collect()),
        ("text", got.text.into()),
        ("history", got.history.into_iter().map(message).collect()),
        ("excluded", record(excluded.into_iter().map(|(k, n)| (k, n.into())).collect())),
    ]))
}

pub(super) fn summary_settings(args: &Args<'_>) -> SummarySettings {
    let default = SummarySettings::default();
    let text =
        |key: &str, default: String| args.setting(key).and_then(Value::as_str).map_or(default, str::to_owned);
    SummarySettings {
        interval: args.size("interval", default.interval),
        force_words: args.size("force_words", default.force_words),
        keep_recent: args.size("keep_recent", default.keep_recent),
        frozen: args.flag("frozen"),
        words: args.size("words", default.words),
        prompt: text("prompt", default.prompt),
        budget: args.setting("budget").and_then(size),
        template: text("template", default.template),
        pinned: args.setting("pinned").map(texts).unwrap_or_default(),
    }
}

pub(super) fn summary_due(args: &Args<'_>) -> Value {
    let memos = memos(args);
    let anchor = args.setting("anchor").map(js::value_to_text);
    let got = memory::due(&memos, anchor.as_deref(), args.member(), &summary_settings(args));
    let mut out = object(vec![("due", got.is_due().into()), ("why", got.why.as_str().into())]);
    if got.why != memory::DueWhy::Frozen {
        js::put(&mut out, "messages", got.messages.into());
        js::put(&mut out, "words", got.words.into());
    }
    if got.is_due() {
        let ids = got.cover.iter().filter_map(|at| memos.get(*at)).map(|m| m.id.clone()).collect();
        js::put(&mut out, "cover", js::texts(ids));
    }
    Value::Object(out)
}

pub(super) fn summary_request(args: &Args<'_>) -> Value {
    let memos = memos(args);
    let got = memory::summary_request(args.text("previous", ""), &memos, &summary_settings(args), &points);
    let last = got.last.and_then(|at| memos.get(at)).map(|m| m.id.clone());
    record(vec![
        ("system", got.system.into()),
        ("user", got.user.map_or(Value::Null, Value::String)),
        ("covers_until", last.map_or(Value::Null, Value::String)),
        ("cut", got.cut.into()),
        ("left", got.left.into()),
    ])
}

pub(super) fn summary_active(args: &Args<'_>) -> Value {
    let removed = args.texts("removed");
    let own = |r: &Value| {
        let own = id(r, "id");
        SummaryRecord {
            removed: is_set(r, "removed") || removed.contains(&own),
            id: own,
            text: text(r, "text").into(),
            anchor: id(r, "anchor"),
            anchor_hash: id(r, "anchor_hash"),
            scope: Some(text(r, "scope")).filter(|s| !matches!(*s, "" | "shared")).map(str::to_owned),
            ..SummaryRecord::default()
        }
    };
    let records: Vec<SummaryRecord> = args.list("records").iter().map(own).collect();
    let rows: Vec<[String; 2]> =
        args.list("messages").iter().map(|m| ["id", "hash"].map(|key| id(m, key))).collect();
    let chat: Vec<Anchor<'_>> = rows.iter().map(|[id, hash]| Anchor { id, hash }).collect();
    let scope = args.raw("scope").as_str().or(args.member()).filter(|s| *s != "shared");
    memory::active(&records, &chat, scope).map_or(Value::Null, |found| {
        record(vec![
            ("id", found.record.id.as_str().into()),
            ("text", found.record.text.as_str().into()),
            ("covers", found.covers.into()),
            ("stale", found.stale.into()),
        ])
    })
}

/// Queries over documents.
pub(super) fn words_of(queries: &[Value], input: &Value) -> Result<Value, Error> {
    let docs = list(input.get("docs").unwrap_or(&NOTHING));
    let content = |d: &Value| d.as_str().map_or_else(|| text(d, "text").to_owned(), str::to_owned);
    let contents: Vec<String> = docs.iter().map(content).collect();
    let mut index = WordIndex::new(contents.iter().map(String::as_str));
    let mut results = Vec::with_capacity(queries.len());
    for query in queries {
        let text = query.as_str().or_else(|| query.get("query")?.as_str());
        let text = text.ok_or_else(|| Error::new(Code::SceneField, "query", "a query is a text"))?;
        let tokens = index.query(text);
        let hits = index.search_tokens(&tokens, &|_| true).into_iter().map(|hit| {
            let id = docs
                .get(hit.doc)
                .map_or(Value::Null, |d| d.get("id").cloned().unwrap_or_else(|| hit.doc.into()));
            record(vec![("id", id), ("score", score(hit.score)), ("matched", hit.matched.into())])
        });
        let hits: Value = hits.collect();
        let tokens = tokens.into_iter().map(|t| t.text).collect();
        results.push(record(vec![("tokens", js::texts(tokens)), ("hits", hits)]));
    }
    Ok(Value::Array(results))
}

pub(super) fn rrf(args: &Args<'_>) -> Value {
    let owned: Vec<Vec<String>> = args.list("lists").iter().map(texts).collect();
    let lists: Vec<Vec<&str>> = owned.iter().map(|l| l.iter().map(String::as_str).collect()).collect();
    let weights: Vec<f64> = args.list("weights").iter().map(|w| w.as_f64().unwrap_or(1.0)).collect();
    let fused = memory::fuse(&lists, &weights, args.number("k", memory::RRF_K));
    fused.into_iter().map(|(id, s)| record(vec![("id", id.into()), ("score", score(s))])).collect()
}

pub(super) fn budget(args: &Args<'_>) -> Value {
    let rows = args.list("sources");
    let items = |row: &'_ Value| -> Vec<(String, String)> {
        list(row.get("items").unwrap_or(&NOTHING))
            .iter()
            .map(|i| (id(i, "id"), text(i, "text").to_owned()))
            .collect()
    };
    let owned: Vec<Vec<(String, String)>> = rows.iter().map(items).collect();
    let sources: Vec<Source<'_>> = rows
        .iter()
        .zip(&owned)
        .map(|(row, items)| Source {
            items: items.iter().map(|(_, text)| text.as_str()).collect(),
            max: row.get("max").and_then(size),
            cut: is_set(row, "cut"),
        })
        .collect();
    let (booked, left) = memory::book(&sources, args.size("total", 0), &points);
    let entry = |(own, booked): (&(String, String), &Booked)| {
        let mut out = object(vec![("id", own.0.as_str().into())]);
        match booked {
            Booked::Whole(cost) => js::put(&mut out, "cost", (*cost).into()),
            Booked::Cut { cost, .. } => {
                js::put(&mut out, "cost", (*cost).into());
                js::put(&mut out, "cut", true.into());
            }
            Booked::LeftOut => js::put(&mut out, "left_out", true.into()),
        }
        Value::Object(out)
    };
    let mut sources = Vec::with_capacity(rows.len());
    for ((row, own), booked) in rows.iter().zip(&owned).zip(&booked) {
        let items = own.iter().zip(booked).map(entry).collect();
        sources.push(record(vec![
            ("source", row.get("source").cloned().unwrap_or(Value::Null)),
            ("items", items),
        ]));
    }
    record(vec![("sources", sources.into()), ("left", left.into())])
}

pub(super) fn frame(args: &Args<'_>) -> Value {
    let default = Markers::default();
    let markers = Markers {
        open: args.setting("open").and_then(Value::as_str).map_or(default.open, str::to_owned),
        close: args.setting("close").and_then(Value::as_str).map_or(default.close, str::to_owned),
    };
    let block = |b: &'_ Value| -> (String, String) {
        match b.as_array().map(Vec::as_slice) {
            Some([title, own, ..]) => (js::value_to_text(title), js::value_to_text(own)),
            _ => (text(b, "title").to_owned(), text(b, "text").to_owned()),
        }
    };
    let owned: Vec<(String, String)> = args.list("blocks").iter().map(block).collect();
    let blocks: Vec<(&str, &str)> = owned.iter().map(|(t, b)| (t.as_str(), b.as_str())).collect();
    memory::reference_frame(&blocks, &markers).into()
}

/// Requests for vectors, and answers read: `{requests, responses}`, or one request or answer by itself.
pub(super) fn embedding(args: &Args<'_>) -> Result<Value, Error> {
    let request = |of: &Value| -> Result<Value, Error> {
        let provider = Provider::named(text(of, "provider"))?;
        let texts = texts(of.get("texts").unwrap_or(&NOTHING));
        let ask = EmbedAsk {
            model: of.get("model").and_then(Value::as_str),
            texts: &texts,
            dimensions: of.get("dimensions").and_then(Value::as_u64),
            encoding_format: of.get("encoding_format").and_then(Value::as_str),
            purpose: match text(of, "purpose") {
                "query" => Some(Purpose::Query),
                "document" => Some(Purpose::Document),
                _ => None,
            },
            keep: is_set(of, "keep"),
        };
        let (path, body) = memory::embed_request(provider, &ask);
        Ok(record(vec![("path", path.into()), ("body", body.into())]))
    };
    let response = |of: &Value| -> Result<Value, Error> {
        let provider = Provider::named(text(of, "provider"))?;
        let expected = of.get("count").and_then(size);
        let vectors = memory::embed_vectors(provider, of.get("response").unwrap_or(&NOTHING), expected)?;
        Ok(vectors.into_iter().map(Value::from).collect())
    };
    if args.raw("requests").is_array() || args.raw("responses").is_array() {
        let requests = args.list("requests").iter().map(request).collect::<Result<Value, _>>()?;
        let responses = args.list("responses").iter().map(response).collect::<Result<Value, _>>()?;
        return Ok(record(vec![("requests", requests), ("responses", responses)]));
    }
    if args.raw("response").is_null() { request(args.0) } else { response(args.0) }
}
