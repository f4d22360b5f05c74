//! The chat-completion sources, by the names that presets use for them.

use crate::error::{Code, Error};

macro_rules! sources {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $model:literal;)+) => {
        /// Who answers: the value of `chat_completion_source`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Source { $($(#[doc = $doc])+ $name,)+ }

        impl Source {
            /// Every source.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The name in presets and requests.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// The preset key that holds the model chosen for this source.
            pub const fn model_key(self) -> &'static str {
                match self { $(Self::$name => $model,)+ }
            }
        }
    };
}

sources! {
    /// OpenAI.
    OpenAi = "openai", "openai_model";
    /// Anthropic.
    Claude = "claude", "claude_model";
    /// OpenRouter.
    OpenRouter = "openrouter", "openrouter_model";
    /// AI21.
    Ai21 = "ai21", "ai21_model";
    /// Google AI Studio.
    MakerSuite = "makersuite", "google_model";
    /// Google Vertex AI.
    VertexAi = "vertexai", "vertexai_model";
    /// Mistral AI.
    MistralAi = "mistralai", "mistralai_model";
    /// Any endpoint that speaks OpenAI's format.
    Custom = "custom", "custom_model";
    /// Cohere.
    Cohere = "cohere", "cohere_model";
    /// Perplexity.
    Perplexity = "perplexity", "perplexity_model";
    /// Groq.
    Groq = "groq", "groq_model";
    /// Chutes.
    Chutes = "chutes", "chutes_model";
    /// Electron Hub.
    ElectronHub = "electronhub", "electronhub_model";
    /// NanoGPT.
    NanoGpt = "nanogpt", "nanogpt_model";
    /// DeepSeek.
    DeepSeek = "deepseek", "deepseek_model";
    /// AI/ML API.
    AimlApi = "aimlapi", "aimlapi_model";
    /// xAI.
    Xai = "xai", "xai_model";
    /// Pollinations.
    Pollinations = "pollinations", "pollinations_model";
    /// Moonshot AI.
    Moonshot = "moonshot", "moonshot_model";
    /// Fireworks AI.
    Fireworks = "fireworks", "fireworks_model";
    /// CometAPI: answers can be read, requests are disabled as in the reference.
    CometApi = "cometapi", "cometapi_model";
    /// Azure OpenAI.
    AzureOpenAi = "azure_openai", "azure_openai_model";
    /// Z.AI.
    Zai = "zai", "zai_model";
    /// SiliconFlow.
    SiliconFlow = "siliconflow", "siliconflow_model";
    /// MiniMax.
    MiniMax = "minimax", "minimax_model";
    /// Cloudflare Workers AI.
    WorkersAi = "workers_ai", "workers_ai_model";
}

impl Source {
    /// A source by its name; `palm` is the old name of `makersuite`.
    pub fn named(name: &str) -> Result<Self, Error> {
        let name = if name == "palm" { "makersuite" } else { name };
        Self::ALL.iter().copied().find(|s| s.as_str() == name).ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|s| s.as_str()).collect();
            Error::new(
                Code::OptionUnknown,
                "chat_completion_source",
                format!("unknown source {name:?}; use one of {}", all.join(", ")),
            )
        })
    }

    /// Google's two doors to Gemini.
    pub const fn is_google(self) -> bool {
        matches!(self, Self::MakerSuite | Self::VertexAi)
    }
}
