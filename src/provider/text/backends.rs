//! The backends: where they are and what they take (spec 07 §11.1, §11.3).

/// One backend, or several: bits.
pub(super) type Set = u16;

pub(super) const KOBOLDCPP: Set = 1;
pub(super) const LLAMACPP: Set = 1 << 1;
pub(super) const OOBA: Set = 1 << 2;
pub(super) const TABBY: Set = 1 << 3;
pub(super) const VLLM: Set = 1 << 4;
pub(super) const APHRODITE: Set = 1 << 5;
pub(super) const OLLAMA: Set = 1 << 6;
pub(super) const GENERIC: Set = 1 << 7;
pub(super) const HUGGINGFACE: Set = 1 << 8;
pub(super) const MANCER: Set = 1 << 9;
pub(super) const OPENROUTER: Set = 1 << 10;
pub(super) const TOGETHER: Set = 1 << 11;
pub(super) const INFERMATIC: Set = 1 << 12;
pub(super) const DREAMGEN: Set = 1 << 13;
pub(super) const FEATHERLESS: Set = 1 << 14;
pub(super) const ALL: Set = (1 << 15) - 1;

/// Backends of vLLM's kind, which take none of the older names.
pub(super) const STRICT: Set = VLLM | INFERMATIC | APHRODITE;
pub(super) const LOOSE: Set = ALL & !STRICT;

/// Which model the body names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelRule {
    /// None.
    None,
    /// The chosen one; no field when none is chosen.
    IfChosen,
    /// The chosen one, an empty text when none is chosen.
    Always,
    /// The chosen one; nothing can be sent without.
    Required,
    /// Always this.
    Fixed(&'static str),
}

/// What of the body goes to the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// All of it.
    Whole,
    /// These fields.
    Only(&'static [&'static str]),
    /// Ollama's own form.
    Ollama,
}

/// How a text's tokens are counted by the backend itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counting {
    pub(super) path: &'static str,
    /// The field that holds the text.
    pub(super) text: &'static str,
    /// `model` goes along.
    pub(super) model: bool,
    /// Fields that are always false.
    pub(super) off: &'static [&'static str],
}

/// One backend.
#[derive(Clone, Copy, Debug)]
pub struct Backend {
    /// Its name in settings.
    pub name: &'static str,
    /// Its name on stored replies.
    pub stored: &'static str,
    pub(super) bit: Set,
    /// A hosted service's address; `None` for the user's own server.
    pub(super) host: Option<&'static str>,
    pub(super) path: &'static str,
    pub(super) model: ModelRule,
    pub(super) wire: Wire,
    /// The most stop strings it takes.
    pub(super) stops: Option<usize>,
    /// The most that the page hands on.
    pub(super) stops_on_page: usize,
    /// A second header with the key.
    pub(super) key_header: Option<&'static str>,
    /// It wants to know which app calls.
    pub(super) app: bool,
    pub(super) counting: Option<Counting>,
}

const LOCAL: Backend = Backend {
    name: "",
    stored: "",
    bit: 0,
    host: None,
    path: "/v1/completions",
    model: ModelRule::IfChosen,
    wire: Wire::Whole,
    stops: None,
    stops_on_page: usize::MAX,
    key_header: None,
    app: false,
    counting: None,
};

const VLLM_FIELDS: &[&str] = &[
    "model",
    "prompt",
    "best_of",
    "echo",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_tokens",
    "n",
    "presence_penalty",
    "seed",
    "stop",
    "stream",
    "suffix",
    "temperature",
    "top_p",
    "user",
    "use_beam_search",
    "top_k",
    "min_p",
    "repetition_penalty",
    "length_penalty",
    "early_stopping",
    "stop_token_ids",
    "ignore_eos",
    "min_tokens",
    "skip_special_tokens",
    "spaces_between_special_tokens",
    "truncate_prompt_tokens",
    "include_stop_str_in_output",
    "response_format",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "guided_decoding_backend",
    "guided_whitespace_pattern",
];
const GENERIC_FIELDS: &[&str] = &[
    "model",
    "prompt",
    "stream",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "seed",
    "logit_bias",
    "logprobs",
    "max_tokens",
    "n",
    "best_of",
];
const OPENROUTER_FIELDS: &[&str] = &[
    "model",
    "prompt",
    "stream",
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "top_a",
    "min_p",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "include_reasoning",
    "provider",
];
const TOGETHER_FIELDS: &[&str] = &[
    "model",
    "prompt",
    "stream",
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "stop",
];
const FEATHERLESS_FIELDS: &[&str] = &[
    "model",
    "prompt",
    "stream",
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "min_tokens",
    "skip_special_tokens",
    "ignore_eos",
];

/// All of them.
const BACKENDS: &[Backend] = &[
    Backend {
        name: "koboldcpp",
        stored: "koboldcpp",
        bit: KOBOLDCPP,
        model: ModelRule::None,
        counting: Some(Counting {
            path: "/api/extra/tokencount",
            text: "prompt",
            model: false,
            off: &["special"],
        }),
        ..LOCAL
    },
    Backend {
        name: "llamacpp",
        stored: "llamacpp",
        bit: LLAMACPP,
        path: "/completion",
        counting: Some(Counting { path: "/tokenize", text: "content", model: true, off: &[] }),
        ..LOCAL
    },
    Backend {
        name: "ooba",
        stored: "textgenerationwebui",
        bit: OOBA,
        counting: Some(Counting { path: "/v1/internal/encode", text: "text", model: false, off: &[] }),
        ..LOCAL
    },
    Backend {
        name: "tabby",
        stored: "tabby",
        bit: TABBY,
        key_header: Some("x-api-key"),
        counting: Some(Counting {
            path: "/v1/token/encode",
            text: "text",
            model: false,
            off: &["add_bos_token", "encode_special_tokens"],
        }),
        ..LOCAL
    },
    Backend {
        name: "vllm",
        stored: "vllm",
        bit: VLLM,
        model: ModelRule::Always,
        wire: Wire::Only(VLLM_FIELDS),
        counting: Some(Counting { path: "/tokenize", text: "prompt", model: true, off: &[] }),
        ..LOCAL
    },
    Backend {
        name: "aphrodite",
        stored: "aphrodite",
        bit: APHRODITE,
        model: ModelRule::Always,
        key_header: Some("X-API-KEY"),
        counting: Some(Counting { path: "/v1/tokenize", text: "prompt", model: true, off: &[] }),
        ..LOCAL
    },
    Backend {
        name: "ollama",
        stored: "ollama",
        bit: OLLAMA,
        path: "/api/generate",
        model: ModelRule::Required,
        wire: Wire::Ollama,
        ..LOCAL
    },
    Backend {
        name: "generic",
        stored: "generic",
        bit: GENERIC,
        wire: Wire::Only(GENERIC_FIELDS),
        stops: Some(4),
        ..LOCAL
    },
    Backend {
        name: "huggingface",
        stored: "huggingface",
        bit: HUGGINGFACE,
        model: ModelRule::Fixed("tgi"),
        stops_on_page: 4,
        ..LOCAL
    },
    Backend {
        name: "mancer",
        stored: "mancer",
        bit: MANCER,
        host: Some("https://neuro.mancer.tech"),
        path: "/oai/v1/completions",
        model: ModelRule::Always,
        key_header: Some("X-API-KEY"),
        ..LOCAL
    },
    Backend {
        name: "openrouter",
        stored: "openrouter",
        bit: OPENROUTER,
        host: Some("https://openrouter.ai/api"),
        path: "/v1/chat/completions",
        model: ModelRule::Always,
        wire: Wire::Only(OPENROUTER_FIELDS),
        app: true,
        ..LOCAL
    },
    Backend {
        name: "togetherai",
        stored: "togetherai",
        bit: TOGETHER,
        host: Some("https://api.together.xyz"),
        model: ModelRule::Always,
        wire: Wire::Only(TOGETHER_FIELDS),
        ..LOCAL
    },
    Backend {
        name: "infermaticai",
        stored: "infermaticai",
        bit: INFERMATIC,
        host: Some("https://api.totalgpt.ai"),
        model: ModelRule::Always,
        wire: Wire::Only(VLLM_FIELDS),
        ..LOCAL
    },
    Backend {
        name: "dreamgen",
        stored: "dreamgen",
        bit: DREAMGEN,
        host: Some("https://dreamgen.com"),
        path: "/api/openai/v1/completions",
        model: ModelRule::Always,
        ..LOCAL
    },
    Backend {
        name: "featherless",
        stored: "featherless",
        bit: FEATHERLESS,
        host: Some("https://api.featherless.ai/v1"),
        model: ModelRule::Always,
        wire: Wire::Only(FEATHERLESS_FIELDS),
        app: true,
        ..LOCAL
    },
];

/// KoboldAI Classic, which has a body of its own.
pub(super) const KOBOLD: Backend =
    Backend { name: "kobold", stored: "kobold", path: "/v1/generate", model: ModelRule::None, ..LOCAL };

/// A backend by its name.
pub fn backend(name: &str) -> Option<&'static Backend> {
    if name == KOBOLD.name {
        return Some(&KOBOLD);
    }
    BACKENDS.iter().find(|b| b.name == name)
}
