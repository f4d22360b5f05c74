//! The sources that speak OpenAI's chat completions, as data: address, fields in order, forced step (spec 06 §5), and the model
//! lists of §2.4 and §4.9.

use super::post::Mode;
use crate::models::Source;

/// How a structured answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schema {
    /// `{name, strict, schema}`.
    Named,
    /// `{name, description, schema, strict}`.
    Described,
    /// `{schema}`.
    Only,
    /// The schema itself.
    Bare,
    /// A user message and `json_object`.
    Text,
    /// Not at all.
    None,
}

/// Where tools stand among the extra fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    ExtrasFirst,
    ToolsFirst,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) base: &'static str,
    pub(super) fields: &'static [&'static str],
    pub(super) forced: Option<Mode>,
    pub(super) schema: Schema,
    pub(super) order: Order,
    /// Old completion models and ready texts go to `/completions`.
    pub(super) legacy: bool,
    /// The `name` field is understood on every role.
    pub(super) names: bool,
}

const GENERIC: &[&str] = &[
    "messages",
    "model",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "stream",
    "presence_penalty",
    "frequency_penalty",
    "top_p",
    "top_k",
    "stop",
    "logit_bias",
    "seed",
    "n",
];

const ROW: Row = Row {
    base: "",
    fields: GENERIC,
    forced: None,
    schema: Schema::Named,
    order: Order::ExtrasFirst,
    legacy: true,
    names: false,
};

/// The row of a source; `None` for those with a form of their own.
pub(super) const fn row(source: Source) -> Option<Row> {
    Some(match source {
        Source::OpenAi => Row { base: "https://api.openai.com/v1", names: true, ..ROW },
        Source::OpenRouter => Row { base: "https://openrouter.ai/api/v1", ..ROW },
        Source::Custom => Row { base: "", ..ROW },
        Source::Perplexity => {
            Row { base: "https://api.perplexity.ai", forced: Some(Mode::STRICT), schema: Schema::Only, ..ROW }
        }
        Source::Groq => Row { base: "https://api.groq.com/openai/v1", schema: Schema::Described, ..ROW },
        Source::NanoGpt => Row { base: "https://nano-gpt.com/api/v1", ..ROW },
        Source::Pollinations => Row { base: "https://gen.pollinations.ai/v1", schema: Schema::Only, ..ROW },
        Source::Moonshot => Row { base: "https://api.moonshot.ai/v1", schema: Schema::Text, ..ROW },
        Source::Fireworks => {
            Row { base: "https://api.fireworks.ai/inference/v1", schema: Schema::Described, ..ROW }
        }
        Source::Zai => Row { base: "https://api.z.ai/api/paas/v4", schema: Schema::Text, ..ROW },
        Source::SiliconFlow => Row { base: "https://api.siliconflow.com/v1", schema: Schema::Text, ..ROW },
        Source::WorkersAi => {
            Row { base: "https://api.cloudflare.com/client/v4/accounts", schema: Schema::Bare, ..ROW }
        }
        Source::MiniMax => Row {
            base: "https://api.minimax.io/v1",
            fields: &["messages", "model", "temperature", "max_tokens", "stream", "top_p", "stop"],
            forced: Some(Mode::MERGE_TOOLS),
            schema: Schema::None,
            legacy: false,
            ..ROW
        },
        Source::DeepSeek => Row {
            base: "https://api.deepseek.com/beta",
            fields: &[
                "messages",
                "model",
                "temperature",
                "max_tokens",
                "stream",
                "presence_penalty",
                "frequency_penalty",
                "top_p",
                "stop",
                "seed",
            ],
            forced: Some(Mode::SEMI_TOOLS),
            schema: Schema::Text,
            legacy: false,
            ..ROW
        },
        Source::Chutes => Row {
            base: "https://llm.chutes.ai/v1",
            fields: &[
                "messages",
                "model",
                "temperature",
                "max_tokens",
                "stream",
                "presence_penalty",
                "frequency_penalty",
                "repetition_penalty",
                "min_p",
                "top_p",
                "top_k",
                "seed",
                "stop",
                "reasoning_effort",
                "logit_bias",
            ],
            schema: Schema::Described,
            legacy: false,
            ..ROW
        },
        Source::ElectronHub => Row {
            base: "https://api.electronhub.ai/v1",
            fields: &[
                "messages",
                "model",
                "temperature",
                "max_tokens",
                "stream",
                "presence_penalty",
                "frequency_penalty",
                "top_p",
                "top_k",
                "logit_bias",
                "seed",
            ],
            schema: Schema::Described,
            order: Order::ToolsFirst,
            legacy: false,
            ..ROW
        },
        Source::AimlApi => Row {
            base: "https://api.aimlapi.com/v1",
            fields: &[
                "messages",
                "model",
                "temperature",
                "max_tokens",
                "stream",
                "presence_penalty",
                "frequency_penalty",
                "top_p",
                "seed",
                "n",
                "stop",
            ],
            schema: Schema::Described,
            order: Order::ToolsFirst,
            legacy: false,
            ..ROW
        },
        Source::Xai => Row {
            base: "https://api.x.ai/v1",
            fields: &[
                "messages",
                "model",
                "temperature",
                "max_tokens",
                "max_completion_tokens",
                "stream",
                "presence_penalty",
                "frequency_penalty",
                "top_p",
                "seed",
                "n",
            ],
            order: Order::ToolsFirst,
            legacy: false,
            ..ROW
        },
        Source::AzureOpenAi => Row {
            fields: &[
                "messages",
                "temperature",
                "frequency_penalty",
                "presence_penalty",
                "top_p",
                "max_tokens",
                "max_completion_tokens",
                "stream",
                "logit_bias",
                "stop",
                "n",
                "logprobs",
                "seed",
            ],
            order: Order::ToolsFirst,
            legacy: false,
            names: true,
            ..ROW
        },
        _ => return None,
    })
}

/// Models that take `reasoning_effort`, by exact name.
pub(super) const EFFORT_MODELS: &[&str] = &[
    "o1",
    "o3-mini",
    "o3-mini-2025-01-31",
    "o4-mini",
    "o4-mini-2025-04-16",
    "o3",
    "o3-2025-04-16",
    "gpt-5",
    "gpt-5-2025-08-07",
    "gpt-5-mini",
    "gpt-5-mini-2025-08-07",
    "gpt-5-nano",
    "gpt-5-nano-2025-08-07",
    "gpt-5.1",
    "gpt-5.1-2025-11-13",
    "gpt-5.1-chat-latest",
    "gpt-5.2",
    "gpt-5.2-2025-12-11",
    "gpt-5.2-chat-latest",
    "gpt-5.3-chat-latest",
    "gpt-5.4",
    "gpt-5.4-2026-03-05",
    "gpt-5.4-mini",
    "gpt-5.4-mini-2026-03-17",
    "gpt-5.4-nano",
    "gpt-5.4-nano-2026-03-17",
    "gpt-5.5",
    "gpt-5.5-2026-04-23",
    "gpt-5.6",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-luna",
    "gpt-6-astra",
];

/// Models of the old completion endpoint.
pub(super) const LEGACY: &[&str] = &[
    "gpt-3.5-turbo-instruct",
    "gpt-3.5-turbo-instruct-0914",
    "text-davinci-001",
    "text-davinci-002",
    "text-davinci-003",
    "text-curie-001",
    "text-babbage-001",
    "text-ada-001",
    "code-davinci-001",
    "code-davinci-002",
    "code-cushman-001",
    "code-cushman-002",
    "text-davinci-edit-001",
    "code-davinci-edit-001",
    "text-embedding-ada-002",
    "text-similarity-davinci-001",
    "text-similarity-curie-001",
    "text-similarity-babbage-001",
    "text-similarity-ada-001",
    "text-search-davinci-doc-001",
    "text-search-curie-doc-001",
    "text-search-babbage-doc-001",
    "text-search-ada-doc-001",
    "code-search-babbage-code-001",
    "code-search-ada-code-001",
];
