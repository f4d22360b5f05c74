//! The functions of memory by name: one call, or `calls` that share fields -> what they give (spec 10 appendix B).

mod product;
mod reference;
mod room;

use serde_json::Value;

use crate::error::{Code, Error};
use crate::js::{self, object};
use crate::memory::exact::{self, DueRules, FileCut};
use crate::memory::{self, Split};
use product::{
    budget, diff, embedding, frame, memos, recall, rrf, summary_active, summary_due, summary_request,
    words_of,
};
use reference::{found, lines, lore_vectors, raw_prompt, recall_reference, summary_store, sync, told};
pub(super) use room::{configure, room_call};

static NOTHING: Value = Value::Null;

/// One function by its name. With `calls`, one result a call; the fields beside `calls` hold for all of them.
pub(super) fn call(name: &str, input: &Value) -> Result<Value, Error> {
    if name == "embedding" {
        return embedding(&Args(input));
    }
    let Some(calls) = input.get("calls").and_then(Value::as_array) else {
        return one(name, &Args(input), input);
    };
    if name == "summary_store" {
        return summary_store(calls, &Args(input));
    }
    if name == "bm25" {
        return words_of(calls, input);
    }
    let mut results = Vec::with_capacity(calls.len());
    for (i, own) in calls.iter().enumerate() {
        let whole = overlaid(input, own);
        results.push(one(name, &Args(&whole), own).map_err(|e| e.under(&format!("calls[{i}]")))?);
    }
    Ok(Value::Array(results))
}

/// The shared fields with a call's own over them.
fn overlaid(input: &Value, own: &Value) -> Value {
    let Some(own) = own.as_object() else { return input.clone() };
    let shared =
        input.as_object().into_iter().flatten().filter(|(k, _)| *k != "calls" && !own.contains_key(*k));
    let mut all = own.clone();
    all.extend(shared.map(|(k, v)| (k.clone(), v.clone())));
    Value::Object(all)
}

/// `own` is what the call itself is: a text, a list or an object.
fn one(name: &str, args: &Args<'_>, own: &Value) -> Result<Value, Error> {
    let reference = args.text("mode", "") == "reference";
    Ok(match name {
        "hash" => match own.as_str().or(args.raw("text").as_str()) {
            Some(text) => memory::hash(text).into(),
            None => 0.into(),
        },
        "words" => {
            let text = own.as_str().unwrap_or(args.text("text", ""));
            let counts = [("reference", memory::ascii_words(text)), ("promptside", memory::words(text))];
            record(counts.into_iter().map(|(k, n)| (k, n.into())).collect())
        }
        "split" if reference => {
            let delimiters = args.texts("delimiters");
            let list: Vec<&str> = delimiters.iter().map(String::as_str).collect();
            let list = if args.raw("delimiters").is_array() { list } else { exact::DELIMITERS.to_vec() };
            js::texts(exact::split(args.text("text", ""), args.whole("limit", 400), &list))
        }
        "split" => {
            let split = Split { limit: args.size("limit", 400), overlap: args.size("overlap", 0) };
            js::texts(memory::split_smart(args.text("text", ""), split))
        }
        "file_chunks" => {
            let cut = FileCut {
                chunk: args.whole("chunk", 5000),
                overlap: args.number("overlap", 0.0),
                delimiter: args.text("delimiter", ""),
                only_delimiter: args.flag("only_custom"),
            };
            js::texts(exact::file_chunks(args.text("text", ""), &cut))
        }
        "sync" if reference => sync(args),
        "sync" => diff(args),
        "query_text" if args.raw("messages").is_array() => {
            let rules = memory::QueryRules {
                count: args.setting("query").and_then(size).unwrap_or(2),
                min: args.setting("query_min").and_then(size).unwrap_or(12),
                strip: args.texts("strip_names"),
            };
            memory::query(&memos(args), args.member(), &rules).into()
        }
        "query_text" => {
            let lines = lines(args);
            exact::query_text(&lines, args.setting("query").and_then(size).unwrap_or(2)).into()
        }
        "recall" if reference => recall_reference(args),
        "recall" => recall(args)?,
        "summary_due" if reference => {
            let told = told(args);
            let number = |key: &str, default| args.setting(key).and_then(size).unwrap_or(default);
            told.due(&DueRules {
                interval: number("promptInterval", 10),
                force_words: number("promptForceWords", 0),
                frozen: args.setting("memoryFrozen").is_some_and(js::to_boolean),
                prompt_empty: args.setting("prompt").and_then(Value::as_str).is_some_and(str::is_empty),
            })
            .into()
        }
        "summary_due" => summary_due(args),
        "summary_prompt" => {
            let (prompt, last) = raw_prompt(&told(args), args);
            record(vec![("prompt", prompt.into()), ("last_index", last.map_or((-1).into(), Value::from))])
        }
        "summary_request" => summary_request(args),
        "summary_store" => {
            summary_store(std::slice::from_ref(own), args)?.get(0).cloned().unwrap_or(Value::Null)
        }
        "summary_text" => {
            exact::summary_text(args.text("template", exact::SUMMARY_TEMPLATE), args.text("value", "")).into()
        }
        "summary_active" => summary_active(args),
        "data_bank_text" => exact::data_bank_text(
            &found(args.raw("result")),
            args.text("template", exact::DATA_BANK_TEMPLATE),
        )
        .map_or(Value::Null, Value::String),
        "wi_vectors" => lore_vectors(args),
        "bm25" => {
            let own = args.raw("query").clone();
            words_of(std::slice::from_ref(&own), args.0)?.get(0).cloned().unwrap_or(Value::Null)
        }
        "rrf" => rrf(args),
        "quantise" => {
            let list = own.as_array().or(args.raw("vector").as_array()).map_or(&[][..], Vec::as_slice);
            let numbers: Vec<f64> = list.iter().map(|v| v.as_f64().unwrap_or(0.0)).collect();
            let (scale, q) = memory::quantise(numbers.iter().copied());
            record(vec![("scale", digits(scale)), ("q", q.into())])
        }
        "memory_budget" => budget(args),
        "strip_names" => memory::strip_names(args.text("text", ""), &args.texts("names")).into(),
        "reference_frame" => frame(args),
        other => {
            let message = format!("there is no function \"memory.{other}\"");
            return Err(Error::new(Code::OptionUnknown, "method", message));
        }
    })
}

/// What a call is given.
struct Args<'a>(&'a Value);

impl<'a> Args<'a> {
    fn raw(&self, key: &str) -> &'a Value {
        self.0.get(key).unwrap_or(&NOTHING)
    }

    fn list(&self, key: &str) -> &'a [Value] {
        list(self.raw(key))
    }

    fn text<'b>(&self, key: &str, default: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.raw(key).as_str().unwrap_or(default)
    }

    fn texts(&self, key: &str) -> Vec<String> {
        texts(self.raw(key))
    }

    fn flag(&self, key: &str) -> bool {
        self.setting(key).is_some_and(js::to_boolean)
    }

    fn number(&self, key: &str, default: f64) -> f64 {
        self.setting(key).and_then(Value::as_f64).unwrap_or(default)
    }

    fn whole(&self, key: &str, default: i64) -> i64 {
        self.setting(key).and_then(Value::as_f64).map_or(default, js::to_integer)
    }

    fn size(&self, key: &str, default: usize) -> usize {
        self.setting(key).and_then(size).unwrap_or(default)
    }

    /// A field of `settings`, or of the call itself.
    fn setting(&self, key: &str) -> Option<&'a Value> {
        self.0.get("settings").and_then(|s| s.get(key)).or_else(|| self.0.get(key)).filter(|v| !v.is_null())
    }

    fn member(&self) -> Option<&'a str> {
        self.raw("member").as_str()
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn texts(value: &Value) -> Vec<String> {
    list(value).iter().map(js::value_to_text).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

/// An id: a text, or a number as text.
fn id(value: &Value, key: &str) -> String {
    value.get(key).filter(|v| !v.is_null()).map(js::value_to_text).unwrap_or_default()
}

fn is_set(value: &Value, key: &str) -> bool {
    value.get(key).is_some_and(js::to_boolean)
}

/// A count: what is below 0 is 0.
fn size(value: &Value) -> Option<usize> {
    let n = js::to_integer(value.as_f64()?);
    Some(usize::try_from(n.max(0)).unwrap_or(usize::MAX))
}

fn record(pairs: Vec<(&str, Value)>) -> Value {
    Value::Object(object(pairs))
}

/// A score, to six places.
fn score(x: f64) -> Value {
    (js::round(x * 1e6) / 1e6).into()
}

/// A number to nine significant digits.
fn digits(x: f64) -> Value {
    format!("{x:.8e}").parse::<f64>().unwrap_or(x).into()
}

fn points(text: &str) -> usize {
    text.chars().count()
}
