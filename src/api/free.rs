//! Calls that need no room.

use serde_json::{Value, json};

use super::options::Vocabularies;
use super::session::Session;
use super::text;
use crate::error::{Code, Error};
use crate::files;
use crate::host::Limits;
use crate::js;

/// A free function by its name.
pub fn call(method: &str, parameters: &str, vocabularies: &Vocabularies) -> Result<String, Error> {
    let (value, _) = js::parse(parameters)?;
    let part = |key: &str| value.get(key).cloned().unwrap_or(Value::Null);
    match method {
        // The same as a room's, for one-off use: `{scene, options, params}`.
        "nextSpeakers" | "buildRequest" | "cleanReply" | "expand" | "count" => {
            let scene = js::stringify(&part("scene"));
            let options = match part("options") {
                Value::Null => "{}".to_owned(),
                v => js::stringify(&v),
            };
            let mut session = Session::new(&scene, &options, vocabularies.clone())?;
            session.call(method, &js::stringify(&part("params")))
        }
        "countTokens" => {
            let preset = crate::scene::Preset::from_value(&json!({
                "chat_completion_source": part("source").as_str().unwrap_or("openai"),
                "openai_model": part("model").as_str().unwrap_or(""),
            }));
            let choice = part("tokenizer");
            let counter = vocabularies.counter(choice.as_str().unwrap_or("auto"), &preset)?;
            let tokens = counter.count(part("text").as_str().unwrap_or(""));
            text(&json!({"tokens": tokens, "exact": counter.exact(), "tokenizer": counter.id()}))
        }
        name if name.starts_with("provider.") => {
            text(&super::converters::call(name.trim_start_matches("provider."), &value)?)
        }
        name if name.starts_with("memory.") => {
            text(&super::memory::call(name.trim_start_matches("memory."), &value)?)
        }
        name if name.starts_with("rooms.") => {
            text(&super::rooms::call(name.trim_start_matches("rooms."), &value)?)
        }
        name => Err(Error::new(Code::OptionUnknown, "method", format!("there is no function {name:?}"))),
    }
}

/// A free function that takes a file.
pub fn call_bytes(method: &str, bytes: &[u8], parameters: &str) -> Result<String, Error> {
    let (value, _) = js::parse(parameters)?;
    match method {
        "readFile" => {
            let want = match value.get("want").and_then(Value::as_str) {
                Some(name) => Some(files::Kind::from_name(name).ok_or_else(|| {
                    Error::new(Code::OptionUnknown, "want", format!("no kind of file is called {name:?}"))
                })?),
                None => None,
            };
            Ok(js::stringify(&files::read(bytes, want, &Limits::default())?.to_value()))
        }
        other => Err(Error::new(Code::OptionUnknown, "method", format!("there is no function {other:?}"))),
    }
}

/// A free function that takes a file and gives one.
pub fn write_bytes(method: &str, bytes: &[u8], parameters: &str) -> Result<Vec<u8>, Error> {
    let (value, _) = js::parse(parameters)?;
    match method {
        "writeCard" => {
            let card = value.get("card").unwrap_or(&Value::Null);
            let options = files::CardOptions::default();
            if bytes.is_empty() {
                return files::write_card_json(card, options).map(String::into_bytes);
            }
            files::write_card_png(bytes, card, options)
        }
        other => Err(Error::new(Code::OptionUnknown, "method", format!("there is no function {other:?}"))),
    }
}
