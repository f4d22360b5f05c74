//! What a request for each source may carry, one row a source (spec 06 §2.3, §2.4, §5). Data, not code: the rules that depend
//! on a model's name are in `params`.

use super::Source;

/// How a setting becomes a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Read {
    /// `Number(setting)`.
    Number(f64),
    /// `Number(setting)`, left out when it is not above 0; never more than the second number.
    Positive(f64),
    /// As it stands, or this text.
    Text(&'static str),
    /// As it stands, or this flag.
    Flag(bool),
    /// As it stands, or an empty list.
    List,
    /// As it stands, or left out.
    Raw,
    /// A text with macros expanded.
    Macros,
}

/// The stop strings of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stops {
    /// At most four; left out when there are none.
    Default,
    /// At most this many (0 = all), sent even when empty.
    First(usize),
    /// At most five, then only those of 1 to 16 UTF-16 units.
    Google,
    /// None.
    None,
}

/// One row.
#[expect(clippy::struct_excessive_bools, reason = "the columns of a table of yes and no")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    /// Several answers at once.
    pub(super) n: bool,
    /// Token biases.
    pub(super) bias: bool,
    /// Token probabilities.
    pub(super) logprobs: bool,
    /// A seed.
    pub(super) seed: bool,
    /// A reverse proxy may stand in for it.
    pub(super) proxy: bool,
    /// Stop strings.
    pub(super) stops: Stops,
    /// Fields taken from settings: field, setting, how.
    pub(super) fields: &'static [(&'static str, &'static str, Read)],
    /// Base fields that it does not know.
    pub(super) drops: &'static [&'static str],
    /// Base fields that must stay in a range: field, lowest, highest.
    pub(super) clamps: &'static [(&'static str, f64, f64)],
    /// Base fields that must not be 0: field, what 0 becomes.
    pub(super) zeros: &'static [(&'static str, f64)],
}

const PLAIN: Traits = Traits {
    n: false,
    bias: false,
    logprobs: false,
    seed: false,
    proxy: false,
    stops: Stops::Default,
    fields: &[],
    drops: &[],
    clamps: &[],
    zeros: &[],
};

const TOP_K: (&str, &str, Read) = ("top_k", "top_k_openai", Read::Number(0.0));
const MIN_P: (&str, &str, Read) = ("min_p", "min_p_openai", Read::Number(0.0));
const TOP_A: (&str, &str, Read) = ("top_a", "top_a_openai", Read::Number(0.0));
const REPETITION: (&str, &str, Read) = ("repetition_penalty", "repetition_penalty_openai", Read::Number(1.0));
const SYSTEM: (&str, &str, Read) = ("use_sysprompt", "use_sysprompt", Read::Flag(false));
const PENALTIES: &[&str] = &["frequency_penalty", "presence_penalty"];

/// The row of a source.
pub(super) const fn traits(source: Source) -> Traits {
    match source {
        Source::OpenAi => Traits { n: true, bias: true, logprobs: true, seed: true, proxy: true, ..PLAIN },
        Source::AzureOpenAi => Traits {
            n: true,
            bias: true,
            logprobs: true,
            seed: true,
            fields: &[
                ("azure_base_url", "azure_base_url", Read::Text("")),
                ("azure_deployment_name", "azure_deployment_name", Read::Text("")),
                ("azure_api_version", "azure_api_version", Read::Text("2024-02-15-preview")),
            ],
            ..PLAIN
        },
        Source::Claude => Traits { proxy: true, stops: Stops::First(0), fields: &[TOP_K, SYSTEM], ..PLAIN },
        Source::OpenRouter => Traits {
            bias: true,
            logprobs: true,
            seed: true,
            fields: &[
                TOP_K,
                MIN_P,
                REPETITION,
                TOP_A,
                ("use_fallback", "openrouter_use_fallback", Read::Flag(false)),
                ("provider", "openrouter_providers", Read::List),
                ("quantizations", "openrouter_quantizations", Read::List),
                ("allow_fallbacks", "openrouter_allow_fallbacks", Read::Flag(true)),
                ("middleout", "openrouter_middleout", Read::Text("on")),
            ],
            ..PLAIN
        },
        Source::MakerSuite => {
            Traits { seed: true, proxy: true, stops: Stops::Google, fields: &[TOP_K, SYSTEM], ..PLAIN }
        }
        Source::VertexAi => Traits {
            seed: true,
            proxy: true,
            stops: Stops::Google,
            fields: &[
                TOP_K,
                SYSTEM,
                ("vertexai_auth_mode", "vertexai_auth_mode", Read::Text("express")),
                ("vertexai_region", "vertexai_region", Read::Text("us-central1")),
                ("vertexai_express_project_id", "vertexai_express_project_id", Read::Text("")),
            ],
            ..PLAIN
        },
        Source::MistralAi => Traits { seed: true, proxy: true, stops: Stops::First(0), ..PLAIN },
        Source::Custom => Traits {
            n: true,
            bias: true,
            logprobs: true,
            seed: true,
            fields: &[
                ("custom_url", "custom_url", Read::Text("")),
                ("custom_include_body", "custom_include_body", Read::Macros),
                ("custom_exclude_body", "custom_exclude_body", Read::Macros),
                ("custom_include_headers", "custom_include_headers", Read::Macros),
            ],
            ..PLAIN
        },
        Source::Cohere => Traits {
            seed: true,
            stops: Stops::First(5),
            fields: &[TOP_K],
            clamps: &[("top_p", 0.01, 0.99), ("frequency_penalty", 0.0, 1.0), ("presence_penalty", 0.0, 1.0)],
            ..PLAIN
        },
        Source::Perplexity => Traits { stops: Stops::None, fields: &[TOP_K], ..PLAIN },
        Source::Groq => Traits { seed: true, drops: &["logprobs", "logit_bias", "n"], ..PLAIN },
        Source::Chutes => Traits {
            bias: true,
            logprobs: true,
            seed: true,
            stops: Stops::First(0),
            fields: &[MIN_P, ("top_k", "top_k_openai", Read::Positive(f64::MAX)), REPETITION],
            ..PLAIN
        },
        Source::ElectronHub => Traits { bias: true, seed: true, fields: &[TOP_K], ..PLAIN },
        Source::NanoGpt => Traits {
            seed: true,
            fields: &[
                ("nanogpt_provider", "nanogpt_provider", Read::Text("")),
                ("nanogpt_payg_override", "nanogpt_payg_override", Read::Flag(false)),
                TOP_K,
                MIN_P,
                REPETITION,
                TOP_A,
            ],
            ..PLAIN
        },
        Source::DeepSeek => {
            Traits { logprobs: true, proxy: true, zeros: &[("top_p", f64::EPSILON)], ..PLAIN }
        }
        Source::AimlApi => Traits { n: true, logprobs: true, seed: true, ..PLAIN },
        Source::Xai => Traits { n: true, logprobs: true, seed: true, proxy: true, ..PLAIN },
        Source::Pollinations => Traits {
            seed: true,
            fields: &[("pollinations_endpoint", "pollinations_endpoint", Read::Text("authenticated"))],
            ..PLAIN
        },
        Source::Moonshot => Traits { n: true, proxy: true, ..PLAIN },
        Source::Zai => Traits {
            proxy: true,
            stops: Stops::First(1),
            drops: PENALTIES,
            zeros: &[("top_p", 0.01)],
            fields: &[("zai_endpoint", "zai_endpoint", Read::Text("common"))],
            ..PLAIN
        },
        Source::SiliconFlow => Traits {
            fields: &[("siliconflow_endpoint", "siliconflow_endpoint", Read::Text("global"))],
            ..PLAIN
        },
        Source::MiniMax => Traits {
            clamps: &[("temperature", f64::EPSILON, 1.0)],
            fields: &[("minimax_endpoint", "minimax_endpoint", Read::Text("global"))],
            ..PLAIN
        },
        Source::WorkersAi => Traits {
            clamps: &[("top_p", 0.001, f64::MAX)],
            fields: &[
                ("top_k", "top_k_openai", Read::Positive(50.0)),
                REPETITION,
                ("seed", "seed", Read::Positive(f64::MAX)),
                ("workers_ai_account_id", "workers_ai_account_id", Read::Raw),
            ],
            drops: &["n", "logit_bias"],
            ..PLAIN
        },
        Source::Ai21 | Source::Fireworks | Source::CometApi => PLAIN,
    }
}

/// One row of the effort table: sources, how the model starts, reasoning shown or either, what `min`, `medium`, `max` become.
type EffortRow = (&'static [Source], &'static str, Option<bool>, [&'static str; 3]);

/// `auto` is left out and `low`, `high` stay in every row; the first row that fits wins. Sources in no row get the setting
/// as it is (spec 06 §2.4).
const EFFORTS: &[EffortRow] = &[
    (OPENAI, "gpt-6-astra", None, ["low", "medium", "max"]),
    (OPENAI, "gpt-5.6", None, ["none", "medium", "xhigh"]),
    (OPENAI, "gpt-5.5", None, ["none", "medium", "high"]),
    (OPENAI, "gpt-5.4", None, ["none", "medium", "high"]),
    (OPENAI, "gpt-5", None, ["min", "medium", "high"]),
    (OPENAI, "", None, ["low", "medium", "high"]),
    (&[Source::Custom], "koboldcpp/", None, ["minimal", "medium", "xhigh"]),
    (&[Source::OpenRouter], "", Some(false), ["none", "medium", "high"]),
    (&[Source::DeepSeek], "", None, ["low", "high", "max"]),
    (&[Source::Fireworks], "", None, ["low", "medium", "max"]),
    (
        &[
            Source::Custom,
            Source::Xai,
            Source::AimlApi,
            Source::OpenRouter,
            Source::Pollinations,
            Source::Perplexity,
            Source::CometApi,
            Source::ElectronHub,
            Source::Chutes,
        ],
        "",
        None,
        ["low", "medium", "high"],
    ),
];

const OPENAI: &[Source] = &[Source::OpenAi, Source::AzureOpenAi];

/// The effort a source is asked for; `None` leaves it out.
pub(super) fn effort<'a>(source: Source, model: &str, setting: &'a str, shown: bool) -> Option<&'a str> {
    let row = EFFORTS.iter().find(|(sources, start, when, _)| {
        sources.contains(&source) && model.starts_with(start) && when.is_none_or(|w| w == shown)
    });
    let Some((_, _, _, [min, medium, max])) = row else { return Some(setting) };
    match setting {
        "auto" => None,
        "min" => Some(min),
        "medium" => Some(medium),
        "max" => Some(max),
        other => Some(other),
    }
}
