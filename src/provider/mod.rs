//! Neutral request -> the exact HTTP request of a provider, and its answer back to text (spec 06). One file a family.
//!
//! In: the object that `models::params` makes, the host's decisions, the profile. Out: method, URL, headers, body and where the
//! key belongs. Sends nothing and never sees a key.

mod ai21;
mod browser;
mod cache;
mod capabilities;
mod claude;
mod claude_body;
mod claude_models;
mod cohere;
mod config;
pub mod convert;
mod custom;
mod google;
mod google_body;
mod item;
mod mistral;
mod openai;
mod openrouter;
mod post;
mod prefill;
mod read;
mod request;
mod schema;
mod sources;
pub mod text;
mod tidy;
mod unsent;
mod url;
mod xai;

pub use browser::{BrowserAccess, Direct, browser_access};
pub use capabilities::capabilities;
pub use claude_body::claude_thinking_budget;
pub use config::{Config, Names};
pub use convert::Converter;
pub use custom::{exclude_yaml, merge_yaml};
pub use google_body::google_thinking_budget;
pub use post::{Mode, post_process};
pub use read::{
    Answer, ErrorKind, Event, Finish, ProviderError, Sse, SseEvent, Stream, Usage, read_body, read_error,
    read_json,
};
pub use request::{Auth, Place, Request, Secret};
pub use schema::flatten_schema;
pub use unsent::unsent;

use serde_json::Value;

use crate::error::Error;
use crate::models::Source;
use crate::profile::Profile;
use crate::scene::Object;
use config::Fixes;
use request::{Ctx, Draft};

/// Builds the request for a neutral request (`chat_completion_source`, `messages`, `model`, …).
///
/// One without a source that has a server is a text completion's (spec 07 §11).
pub fn request(payload: &Object, config: &Config, profile: &Profile) -> Result<Request, Error> {
    if !payload.contains_key("chat_completion_source") && payload.contains_key("api_server") {
        return text::text_request(payload, config);
    }
    let text = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or("");
    let source = Source::named(text("chat_completion_source"))?;
    let names = Names::from_payload(payload);
    let fixes = Fixes::of(profile);
    let schema = flat_schema(payload, source)?;
    let ctx =
        Ctx { payload, source, model: text("model"), names: &names, config, fixes, schema: schema.as_ref() };
    let mut list = item::items(ctx.list("messages"));
    if let (Some(mode), true) = (
        Mode::named(ctx.text("custom_prompt_post_processing")),
        payload.get("messages").is_some_and(Value::is_array),
    ) {
        list = post::apply(list, mode, ctx.frame());
    }
    let draft = family(&ctx, list)?;
    Ok(Request {
        source,
        method: "POST",
        url: draft.url,
        headers: draft.headers,
        auth: draft.auth,
        body: draft.body,
        stream: ctx.on("stream"),
        origins: draft.origins,
        system_origins: draft.system_origins,
        trimmed: draft.trimmed,
        notes: draft.notes,
    })
}

/// A reader of an answer as it comes: of a chat completion, or of a text completion.
#[derive(Clone, Debug)]
pub enum Reader {
    /// By source.
    Chat(Box<Stream>),
    /// By shape.
    Text(Box<text::TextStream>),
}

impl Reader {
    /// Takes bytes as they come.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        match self {
            Self::Chat(stream) => stream.feed(bytes),
            Self::Text(stream) => stream.feed(bytes),
        }
    }

    /// The connection is over.
    pub fn end(&mut self) -> Vec<Event> {
        match self {
            Self::Chat(stream) => stream.end(),
            Self::Text(stream) => stream.end(),
        }
    }

    /// The answer so far.
    pub const fn answer(&self) -> &Answer {
        match self {
            Self::Chat(stream) => stream.answer(),
            Self::Text(stream) => stream.answer(),
        }
    }
}

fn family(ctx: &Ctx, list: Vec<item::Item>) -> Result<Draft, Error> {
    match ctx.source {
        Source::Claude => claude_body::draft(ctx, list),
        Source::MakerSuite | Source::VertexAi => google_body::draft(ctx, list),
        Source::MistralAi => mistral::draft(ctx, list),
        Source::Cohere => cohere::draft(ctx, list),
        Source::Ai21 => ai21::draft(ctx, list),
        _ => openai::draft(ctx, list),
    }
}

/// `json_schema` with its value flattened for the source, when there is one.
fn flat_schema(payload: &Object, source: Source) -> Result<Option<Object>, Error> {
    let Some(schema) = payload.get("json_schema").and_then(Value::as_object) else { return Ok(None) };
    let mut schema = schema.clone();
    if let Some(value) = schema.get_mut("value") {
        *value = flatten_schema(value, source)?;
    }
    Ok(Some(schema))
}
