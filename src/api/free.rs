//! Calls that need no room.

use serde_json::{Value, json};

use super::options::Vocabularies;
use super::session::Session;
use super::text;
use crate::error::{Code, Error};
use crate::js;
use crate::profile::Profile;

/// A free function by its name.
pub fn call(method: &str, parameters: &str, vocabularies: &Vocabularies) -> Result<String, Error> {
    let (value, _) = js::parse(parameters)?;
    let part = |key: &str| value.get(key).cloned().unwrap_or(Value::Null);
    match method {
        // The same as a room's, for one-off use: `{scene, options, params}`.
        "nextSpeakers" | "buildRequest" | "cleanReply" | "expand" | "inspectText" | "runScripts"
        | "count" => {
            let scene = js::stringify(&part("scene"));
            let options = match part("options") {
                Value::Null => "{}".to_owned(),
                v => js::stringify(&v),
            };
            let mut session = Session::new(&scene, &options, vocabularies.clone())?;
            session.call(method, &js::stringify(&part("params")))
        }
        "countTokens" => {
            let words = part("text");
            let Value::String(words) = &words else {
                return Err(Error::new(Code::SceneField, "text", "the text to count must be a string"));
            };
            let (model, source) = (part("model"), part("source"));
            // A model is known by its name, whoever serves it.
            let model = model.as_str().unwrap_or("");
            let source = if model.is_empty() { source.as_str().unwrap_or("openai") } else { "openai" };
            let preset = crate::scene::Preset::from_value(
                &json!({"chat_completion_source": source, "openai_model": model}),
            );
            let choice = part("tokenizer");
            let choice = choice.as_str().unwrap_or("auto");
            let counter = vocabularies.counter(choice, &preset, &Profile::promptside())?;
            let tokens = counter.count(words);
            text(&json!({"tokens": tokens, "exact": counter.exact(), "tokenizer": counter.id()}))
        }
        "splitKeys" => text(&crate::lore::split_keys(part("text").as_str().unwrap_or(""))),
        "regexp.matches" => text(&super::regexp::matches(&value)),
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
