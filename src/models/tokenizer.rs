//! Which tokenizer ST counts with: source and model -> id -> encoder. Substrings, first match (spec 02 §9.2, §9.3).

use serde_json::Value;

use super::{Model, Source};
use crate::js;

/// First needle found in the text gives the id.
type Table = &'static [(&'static str, &'static str)];

const OPENROUTER: Table = &[
    ("gpt-4o", "gpt-4o"),
    ("gpt-4", "gpt-4"),
    ("gpt-3.5-turbo", "gpt-3.5-turbo"),
    ("claude", "claude"),
    ("GPT-NeoXT", "gpt2"),
    ("jamba", "jamba"),
    ("deepseek", "deepseek"),
];
const PERPLEXITY: Table = &[
    ("sonar-reasoning", "deepseek"),
    ("r1-1776", "deepseek"),
    ("llama-3", "llama3"),
    ("llama3", "llama3"),
    ("llama", "llama"),
    ("mistral", "mistral"),
    ("mixtral", "mistral"),
];
const GROQ: Table = &[
    ("qwen", "qwen2"),
    ("llama-3", "llama3"),
    ("llama3", "llama3"),
    ("mistral", "mistral"),
    ("mixtral", "mistral"),
    ("gemma", "gemma"),
];
const CHUTES: Table = &[
    ("deepseek", "deepseek"),
    ("mai-ds", "deepseek"),
    ("qwen", "qwen2"),
    ("qwq", "qwen2"),
    ("tongyi", "qwen2"),
    ("kimi", "qwen2"),
    ("llama", "llama3"),
    ("longcat", "llama3"),
    ("hermes", "llama3"),
    ("gemma", "gemma"),
    ("nemo", "nemo"),
    ("mistral", "mistral"),
    ("gpt-oss", "gpt-4o"),
];
const WORKERS_AI: Table = &[
    ("deepseek", "deepseek"),
    ("qwen", "qwen2"),
    ("qwq", "qwen2"),
    ("kimi", "qwen2"),
    ("llama-3", "llama3"),
    ("llama-4", "llama3"),
    ("llama", "llama"),
    ("gemma", "gemma"),
    ("mistral", "mistral"),
    ("phi", "gpt-3.5-turbo"),
    ("gpt-oss", "gpt-4o"),
];
const ELECTRONHUB: Table = &[
    ("gpt-4o", "gpt-4o"),
    ("gpt-5", "gpt-4o"),
    ("gpt-6-astra", "gpt-4o"),
    ("gpt-4.1", "gpt-4o"),
    ("gpt-4.5", "gpt-4o"),
    ("gpt-4", "gpt-4"),
    ("gpt-3.5-turbo", "gpt-3.5-turbo"),
    ("claude", "claude"),
    ("jamba", "jamba"),
    ("deepseek", "deepseek"),
    ("sonar-reasoning", "deepseek"),
    ("r1", "deepseek"),
    ("qwen", "qwen2"),
    ("gemma", "gemma"),
    ("mistral", "mistral"),
    ("yi", "yi"),
    ("llama3", "llama3"),
    ("llama-3", "llama3"),
    ("llama", "llama"),
    ("command-a", "command-a"),
    ("command-r", "command-r"),
    ("nemo", "nemo"),
];
/// `architecture.tokenizer` of OpenRouter's list.
const ARCHITECTURE: Table = &[
    ("Llama2", "llama"),
    ("Llama3", "llama3"),
    ("Mistral", "mistral"),
    ("Yi", "yi"),
    ("Gemini", "gemma"),
    ("Qwen", "qwen2"),
];
/// Ids to encoders; the names of the encoders are those of the tables above.
const ENCODERS: Table = &[
    ("o1-preview", "o1"),
    ("o1-mini", "o1"),
    ("o3-mini", "o1"),
    ("gpt-5", "o1"),
    ("gpt-6-astra", "o1"),
    ("o3", "o1"),
    ("o4-mini", "o1"),
    ("gpt-4o", "gpt-4o"),
    ("chatgpt-4o-latest", "gpt-4o"),
    ("gpt-4.1", "gpt-4o"),
    ("gpt-4.5", "gpt-4o"),
    ("gpt-4-32k", "gpt-4-32k"),
    ("gpt-4", "gpt-4"),
    ("gpt-3.5-turbo-0301", "gpt-3.5-turbo-0301"),
    ("gpt-3.5-turbo", "gpt-3.5-turbo"),
    ("claude", "claude"),
    ("llama3", "llama3"),
    ("llama-3", "llama3"),
    ("llama", "llama"),
    ("mistral", "mistral"),
    ("yi", "yi"),
    ("deepseek", "deepseek"),
    ("gemma", "gemma"),
    ("gemini", "gemma"),
    ("learnlm", "gemma"),
    ("jamba", "jamba"),
    ("qwen2", "qwen2"),
    ("command-r", "command-r"),
    ("command-a", "command-a"),
    ("nemo", "nemo"),
];
const OLD_COMPLETION: [&str; 5] =
    ["text-davinci-003", "text-davinci-002", "text-davinci-001", "text-curie-001", "text-babbage-001"];

fn find(table: Table, text: &str) -> Option<&'static str> {
    table.iter().find(|(needle, _)| text.contains(needle)).map(|(_, id)| *id)
}

/// The id that ST's page asks its server to count with.
pub fn tokenizer_id(model: &Model) -> String {
    let name = model.name.as_str();
    let id = match model.source {
        Source::OpenAi | Source::Custom => return name.to_owned(),
        Source::AzureOpenAi if !name.is_empty() => return name.to_owned(),
        Source::DeepSeek => Some("deepseek"),
        Source::Claude => Some("claude"),
        Source::MakerSuite | Source::VertexAi => Some("gemma"),
        Source::Ai21 => Some("jamba"),
        Source::Cohere => Some(command(name)),
        Source::MistralAi if name.contains("nemo") || name.contains("pixtral") => Some("nemo"),
        Source::MistralAi => Some("mistral"),
        Source::OpenRouter => openrouter(model),
        Source::Perplexity => find(PERPLEXITY, name),
        Source::Groq => find(GROQ, name),
        Source::Chutes => find(CHUTES, &js::lower(name)),
        Source::WorkersAi => find(WORKERS_AI, &js::lower(name)),
        Source::ElectronHub if name.starts_with("l3") && find(ELECTRONHUB_BEFORE_L3, name).is_none() => {
            Some("llama3")
        }
        Source::ElectronHub => find(ELECTRONHUB, name),
        _ => None,
    };
    id.unwrap_or("gpt-3.5-turbo").to_owned()
}

/// The rows of [`ELECTRONHUB`] that come before "starts with `l3`".
const ELECTRONHUB_BEFORE_L3: Table = match ELECTRONHUB.split_at_checked(18) {
    Some((before, _)) => before,
    None => ELECTRONHUB,
};

fn command(name: &str) -> &'static str {
    if name.contains("command-a") { "command-a" } else { "command-r" }
}

fn openrouter(model: &Model) -> Option<&'static str> {
    let listed =
        model.entry.as_ref().and_then(|e| e.get("architecture")?.get("tokenizer")).and_then(Value::as_str);
    match listed {
        Some("Cohere") => Some(command(&model.name)),
        Some(kind) => ARCHITECTURE.iter().find(|(k, _)| *k == kind).map(|(_, id)| *id),
        None => None,
    }
    .or_else(|| find(OPENROUTER, &model.name))
}

/// The encoder behind an id: `o1` and `gpt-4o` are o200k_base, the other `gpt-` ones cl100k_base.
pub fn encoder(id: &str) -> &'static str {
    if id == "o1" {
        return "o1";
    }
    if OLD_COMPLETION.contains(&id) {
        return "text-davinci-003";
    }
    find(ENCODERS, id).unwrap_or("gpt-3.5-turbo")
}

/// Families of models with a public encoding. The first that the name begins with counts, if its word ends there.
const FAMILIES: Table = &[
    ("gpt-oss", "o200k_harmony"),
    ("gpt-4o", "o200k_base"),
    ("chatgpt-4o", "o200k_base"),
    ("gpt-4.", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("gpt-6", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-35", "cl100k_base"),
    ("text-embedding", "cl100k_base"),
    ("text-davinci-003", "p50k_base"),
    ("text-davinci-002", "p50k_base"),
    ("code-davinci", "p50k_base"),
    ("text-davinci-001", "r50k_base"),
    ("text-curie", "r50k_base"),
    ("text-babbage", "r50k_base"),
    ("text-ada", "r50k_base"),
];

/// The encoding that a model counts with, whoever serves it; `None` when its tokenizer is unknown, not public or of another kind
/// (spec 02 F-08: the reference takes the first table row whose text occurs anywhere in the name, else OpenAI's of 2023).
pub fn encoding(model: &str) -> Option<&'static str> {
    let name = js::lower(model);
    let name = name.rsplit('/').next().unwrap_or(&name);
    FAMILIES.iter().find(|(family, _)| begins(name, family)).map(|(_, encoding)| *encoding)
}

fn begins(name: &str, family: &str) -> bool {
    let ended = |rest: &str| family.ends_with('.') || !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    name.strip_prefix(family).is_some_and(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoders_by_substring_faults_included() {
        // Spec 02 §9.3 [run].
        for (id, want) in [
            ("o1", "o1"),
            ("o1-2024-12-17", "gpt-3.5-turbo"),
            ("o1-pro", "gpt-3.5-turbo"),
            ("qwen3", "gpt-3.5-turbo"),
            ("Qwen2.5", "gpt-3.5-turbo"),
            ("kimi-k2", "gpt-3.5-turbo"),
            ("glm-4.6", "gpt-3.5-turbo"),
            ("grok-3", "gpt-3.5-turbo"),
            ("gpt-oss-120b", "gpt-3.5-turbo"),
            ("pixtral", "gpt-3.5-turbo"),
            ("solar-pro3", "o1"),
            ("mistral-nemo", "mistral"),
            ("meta-llama/Llama-3.1", "llama"),
            ("deepseek-r1-distill-llama-70b", "llama"),
            ("gpt-4o-mini", "gpt-4o"),
            ("gpt-4-32k-0613", "gpt-4-32k"),
            ("text-davinci-003", "text-davinci-003"),
        ] {
            assert_eq!(encoder(id), want, "{id}");
        }
    }

    #[test]
    fn encodings_by_family() {
        for (model, want) in [
            ("o1-2024-12-17", Some("o200k_base")),
            ("openai/GPT-4o-mini", Some("o200k_base")),
            ("gpt-4.1-nano", Some("o200k_base")),
            ("gpt-5.1-chat-latest", Some("o200k_base")),
            ("openai/gpt-oss-120b", Some("o200k_harmony")),
            ("gpt-4-32k-0613", Some("cl100k_base")),
            ("gpt-3.5-turbo", Some("cl100k_base")),
            ("text-davinci-003", Some("p50k_base")),
            ("solar-pro3", None),
            ("o3000", None),
            ("Qwen3-8B", None),
            ("glm-4.6", None),
            ("claude-sonnet-5", None),
            ("通义千问", None),
        ] {
            assert_eq!(encoding(model), want, "{model}");
        }
    }

    #[test]
    fn ids_by_source() {
        let id = |source, name: &str| tokenizer_id(&Model { source, name: name.to_owned(), entry: None });
        assert_eq!(id(Source::Custom, ""), "");
        assert_eq!(id(Source::AzureOpenAi, ""), "gpt-3.5-turbo");
        assert_eq!(id(Source::MistralAi, "pixtral-12b"), "nemo");
        assert_eq!(id(Source::Cohere, "command-a-03"), "command-a");
        assert_eq!(id(Source::Chutes, "Qwen/QwQ"), "qwen2");
        assert_eq!(id(Source::ElectronHub, "l3-8b"), "llama3");
        assert_eq!(id(Source::ElectronHub, "l3-r1"), "deepseek");
        assert_eq!(id(Source::Perplexity, "sonar-pro"), "gpt-3.5-turbo");
    }
}
