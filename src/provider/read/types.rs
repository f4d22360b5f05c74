//! What is in an answer, whoever gave it.

use serde::Serialize;
use serde_json::Value;

use crate::models::Source;

/// Why an answer ended (spec 06 §6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done, or met a stop string.
    Stop,
    /// The token limit.
    Length,
    /// It calls tools.
    Tools,
    /// A filter or a refusal.
    Filter,
    /// The provider failed midway.
    Error,
    /// A reason of another name.
    Other,
}

impl Finish {
    /// From the provider's word.
    pub(super) fn named(source: Source, word: &str, calls: bool) -> Self {
        match source {
            Source::MakerSuite | Source::VertexAi => match word {
                "STOP" if calls => Self::Tools,
                "STOP" => Self::Stop,
                "MAX_TOKENS" => Self::Length,
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
                    Self::Filter
                }
                "MALFORMED_FUNCTION_CALL" => Self::Error,
                _ => Self::Other,
            },
            Source::Claude => match word {
                "end_turn" | "stop_sequence" | "pause_turn" => Self::Stop,
                "max_tokens" | "model_context_window_exceeded" => Self::Length,
                "tool_use" => Self::Tools,
                "refusal" => Self::Filter,
                _ => Self::Other,
            },
            Source::Cohere => match word {
                "COMPLETE" | "STOP_SEQUENCE" => Self::Stop,
                "MAX_TOKENS" => Self::Length,
                "TOOL_CALL" => Self::Tools,
                "ERROR" => Self::Error,
                _ => Self::Other,
            },
            _ => match word {
                "stop" => Self::Stop,
                "length" | "model_length" => Self::Length,
                "tool_calls" | "function_call" => Self::Tools,
                "content_filter" => Self::Filter,
                "insufficient_system_resource" => Self::Error,
                _ => Self::Other,
            },
        }
    }
}

/// Tokens as the provider counted them; absent where it said nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Of hidden or shown reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// Of the request, read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Of the request, written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
}

/// Where each provider writes its counts: pointers, the first that is there counts.
const COUNTS: [&[&str]; 5] = [
    &[
        "/usage/prompt_tokens",
        "/usage/input_tokens",
        "/usage/tokens/input_tokens",
        "/message/usage/input_tokens",
        "/usageMetadata/promptTokenCount",
        "/delta/usage/tokens/input_tokens",
    ],
    &[
        "/usage/completion_tokens",
        "/usage/output_tokens",
        "/usage/tokens/output_tokens",
        "/message/usage/output_tokens",
        "/usageMetadata/candidatesTokenCount",
        "/delta/usage/tokens/output_tokens",
    ],
    &["/usage/completion_tokens_details/reasoning_tokens", "/usageMetadata/thoughtsTokenCount"],
    &[
        "/usage/prompt_tokens_details/cached_tokens",
        "/usage/prompt_cache_hit_tokens",
        "/usage/cache_read_input_tokens",
        "/message/usage/cache_read_input_tokens",
        "/usageMetadata/cachedContentTokenCount",
    ],
    &["/usage/cache_creation_input_tokens", "/message/usage/cache_creation_input_tokens"],
];

impl Usage {
    /// Takes over what a body or event says; whether it said anything.
    pub(in crate::provider) fn read(&mut self, value: &Value) -> bool {
        let counts = COUNTS.map(|places| places.iter().find_map(|p| value.pointer(p)?.as_u64()));
        let slots = [
            &mut self.input,
            &mut self.output,
            &mut self.reasoning,
            &mut self.cache_read,
            &mut self.cache_write,
        ];
        let any = counts.iter().any(Option::is_some);
        for (slot, count) in slots.into_iter().zip(counts) {
            *slot = count.or(*slot);
        }
        any
    }
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The reasoning, when it is shown.
    pub reasoning: String,
    /// Encrypted reasoning, to be sent back with this message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// Pictures as data URLs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// `{id, function: {name, arguments}}`; arguments are a text or an object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Value>,
    /// Further answers to the same request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
    /// Their reasoning, in the same order; empty when none has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternative_reasonings: Vec<String>,
    /// Why it ended; `None` when nothing was said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// What the provider says about a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Tokens.
    pub usage: Usage,
}
