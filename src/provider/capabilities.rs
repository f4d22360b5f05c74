//! What each source takes, for hosts that must choose before they send: facts about the world as data. They age; those about
//! browsers say how well they are known, the others are what the bodies of this module carry.

use serde_json::{Value, json};

use super::browser::browser_access;
use super::sources::{Schema, row};
use crate::models::Source;

/// One source: see `Capabilities` in `npm/src/types.ts` for the meaning of each key.
pub fn capabilities(source: Source) -> Value {
    let row = row(source);
    let access = browser_access(source);
    json!({
        "source": source.as_str(),
        "browser": access,
        "proxy": proxied(source),
        "streaming": true,
        "beginning": beginning(source),
        "tools": source != Source::Perplexity,
        "media": media(source),
        "reasoning": reasoning(source),
        "schema": match (source, row.map(|r| r.schema)) {
            (Source::Claude, _) => "model",
            (Source::Ai21, _) | (_, Some(Schema::Text)) => "text",
            (_, Some(Schema::None)) => "none",
            _ => "native",
        },
        "stops": stops(source),
        "answers": several(source),
        "seed": seeded(source),
        "nameField": row.is_some_and(|r| r.names),
        "alternation": matches!(source, Source::Claude | Source::MakerSuite | Source::VertexAi | Source::Perplexity | Source::DeepSeek),
    })
}

/// Takes the address and password of a reverse proxy (spec 06 §2.3).
const fn proxied(source: Source) -> bool {
    matches!(
        source,
        Source::Claude
            | Source::OpenAi
            | Source::MistralAi
            | Source::MakerSuite
            | Source::VertexAi
            | Source::DeepSeek
            | Source::Xai
            | Source::Zai
            | Source::Moonshot
    )
}

/// How a begun reply is continued.
const fn beginning(source: Source) -> &'static str {
    match source {
        Source::Claude | Source::MakerSuite | Source::VertexAi | Source::OpenRouter => "model",
        Source::MistralAi | Source::DeepSeek | Source::Moonshot => "flag",
        _ => "turn",
    }
}

/// Kinds of media that go out.
const fn media(source: Source) -> &'static [&'static str] {
    match source {
        Source::MakerSuite | Source::VertexAi | Source::OpenRouter => &["image", "audio", "video"],
        Source::OpenAi | Source::Custom | Source::MistralAi => &["image", "audio"],
        Source::Ai21 => &[],
        _ => &["image"],
    }
}

/// How much a model thinks is said by a word, a number of tokens, a switch, or not at all.
const fn reasoning(source: Source) -> &'static str {
    match source {
        Source::Claude | Source::MakerSuite | Source::VertexAi => "budget",
        Source::Moonshot | Source::Zai => "switch",
        Source::Ai21
        | Source::Cohere
        | Source::Groq
        | Source::MistralAi
        | Source::MiniMax
        | Source::SiliconFlow
        | Source::WorkersAi
        | Source::CometApi => "none",
        _ => "effort",
    }
}

/// Stop strings that are sent at most; null: all of them (spec 06 §2.2).
fn stops(source: Source) -> Value {
    match source {
        Source::Claude | Source::MistralAi | Source::Chutes => Value::Null,
        Source::Cohere | Source::MakerSuite | Source::VertexAi => json!(5),
        Source::Zai => json!(1),
        Source::Perplexity | Source::ElectronHub => json!(0),
        _ => json!(4),
    }
}

/// Several answers to one request.
const fn several(source: Source) -> bool {
    matches!(
        source,
        Source::OpenAi
            | Source::AzureOpenAi
            | Source::Custom
            | Source::Xai
            | Source::AimlApi
            | Source::Moonshot
    )
}

/// A seed for the sampler.
const fn seeded(source: Source) -> bool {
    matches!(
        source,
        Source::OpenAi
            | Source::AzureOpenAi
            | Source::OpenRouter
            | Source::MistralAi
            | Source::Custom
            | Source::Cohere
            | Source::Groq
            | Source::ElectronHub
            | Source::NanoGpt
            | Source::Xai
            | Source::Pollinations
            | Source::AimlApi
            | Source::VertexAi
            | Source::MakerSuite
            | Source::Chutes
            | Source::WorkersAi
    )
}
