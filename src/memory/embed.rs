//! Texts -> the request that embeds them, and the answer -> vectors (spec 10 §17). Nothing is sent here.

use serde_json::Value;

use crate::error::{Code, Error};
use crate::js::{self, object};
use crate::scene::Object;

/// Who embeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Embedder {
    /// OpenAI and all that speak like it.
    OpenAi,
    /// OpenAI's form with the model in the host's name.
    Chutes,
    /// Ollama.
    Ollama,
    /// Cohere.
    Cohere,
    /// Gemini.
    Gemini,
    /// Vertex AI.
    Vertex,
    /// llama.cpp.
    LlamaCpp,
    /// vLLM.
    Vllm,
    /// KoboldCpp.
    KoboldCpp,
    /// Nomic.
    Nomic,
}

/// Names, who it is, base address, model.
type Row = (&'static str, Embedder, &'static str, &'static str);

const ROWS: &[Row] = &[
    ("openai", Embedder::OpenAi, "https://api.openai.com/v1", "text-embedding-ada-002"),
    ("mistral", Embedder::OpenAi, "https://api.mistral.ai/v1", "mistral-embed"),
    ("togetherai", Embedder::OpenAi, "https://api.together.xyz/v1", ""),
    ("together", Embedder::OpenAi, "https://api.together.xyz/v1", ""),
    ("openrouter", Embedder::OpenAi, "https://openrouter.ai/api/v1", "openai/text-embedding-3-large"),
    ("nanogpt", Embedder::OpenAi, "https://nano-gpt.com/api/v1", ""),
    ("electronhub", Embedder::OpenAi, "https://api.electronhub.ai/v1", ""),
    ("siliconflow", Embedder::OpenAi, "https://api.siliconflow.com/v1", ""),
    ("workers_ai", Embedder::OpenAi, "", "@cf/baai/bge-m3"),
    ("workersai", Embedder::OpenAi, "", "@cf/baai/bge-m3"),
    ("custom", Embedder::OpenAi, "", ""),
    ("compatible", Embedder::OpenAi, "", ""),
    ("chutes", Embedder::Chutes, "", ""),
    ("ollama", Embedder::Ollama, "http://localhost:11434", ""),
    ("cohere", Embedder::Cohere, "https://api.cohere.ai", "embed-english-v3.0"),
    ("gemini", Embedder::Gemini, "https://generativelanguage.googleapis.com", "gemini-embedding-001"),
    ("makersuite", Embedder::Gemini, "https://generativelanguage.googleapis.com", "gemini-embedding-001"),
    ("palm", Embedder::Gemini, "https://generativelanguage.googleapis.com", "gemini-embedding-001"),
    ("vertexai", Embedder::Vertex, "", "gemini-embedding-001"),
    ("vertex", Embedder::Vertex, "", "gemini-embedding-001"),
    ("llamacpp", Embedder::LlamaCpp, "http://localhost:8080", ""),
    ("vllm", Embedder::Vllm, "http://localhost:8000", ""),
    ("koboldcpp", Embedder::KoboldCpp, "http://localhost:5001", ""),
    ("nomic", Embedder::Nomic, "https://api-atlas.nomic.ai", "nomic-embed-text-v1.5"),
    ("nomicai", Embedder::Nomic, "https://api-atlas.nomic.ai", "nomic-embed-text-v1.5"),
];

/// A provider of embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// How it is spoken to.
    pub embedder: Embedder,
    /// Address that the path is added to; empty when only the user knows it.
    pub base: &'static str,
    /// Model unless another is named; empty when only the user knows it.
    pub model: &'static str,
}

impl Provider {
    /// A provider by its name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let found = ROWS.iter().find(|(n, ..)| *n == name);
        let (_, embedder, base, model) = found.ok_or_else(|| {
            let names: Vec<&str> = ROWS.iter().map(|(n, ..)| *n).collect();
            let known = names.join(", ");
            Error::new(Code::OptionUnknown, "provider", format!("{name:?} embeds nothing; known are {known}"))
        })?;
        Ok(Self { embedder: *embedder, base, model })
    }

    /// Texts that one request may carry.
    pub const fn batch(&self) -> usize {
        match self.embedder {
            Embedder::OpenAi | Embedder::Chutes => 2048,
            Embedder::Cohere => 96,
            _ => 100,
        }
    }

    /// Name and prefix of the header that carries the key; `None` for local servers, which need none.
    pub const fn auth(&self) -> Option<(&'static str, &'static str)> {
        match self.embedder {
            Embedder::Gemini => Some(("x-goog-api-key", "")),
            Embedder::Ollama | Embedder::LlamaCpp | Embedder::Vllm | Embedder::KoboldCpp => None,
            _ => Some(("Authorization", "Bearer ")),
        }
    }
}

/// What the texts are for; some models embed questions and answers differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To be found.
    #[default]
    Document,
    /// To find.
    Query,
}

/// A request for vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmbedAsk<'a> {
    /// Model; `None`: the provider's own.
    pub model: Option<&'a str>,
    /// Texts.
    pub texts: &'a [String],
    /// Wanted number of dimensions, where the model can choose.
    pub dimensions: Option<u64>,
    /// `float` or `base64`.
    pub encoding_format: Option<&'a str>,
    /// What for; `None`: not said, where that is possible.
    pub purpose: Option<Purpose>,
    /// Ollama keeps the model loaded.
    pub keep: bool,
}

/// Path (behind the base address) and body.
pub fn request(provider: Provider, ask: &EmbedAsk<'_>) -> (String, Object) {
    let model = ask.model.filter(|m| !m.is_empty()).unwrap_or(provider.model);
    let texts = || js::texts(ask.texts.to_vec());
    let text = |t: &str| Value::String(t.to_owned());
    let query = ask.purpose == Some(Purpose::Query);
    match provider.embedder {
        Embedder::OpenAi | Embedder::Chutes => {
            let chutes = provider.embedder == Embedder::Chutes;
            let mut body =
                object(vec![("input", texts()), ("model", if chutes { Value::Null } else { text(model) })]);
            if let Some(dimensions) = ask.dimensions {
                js::put(&mut body, "dimensions", dimensions.into());
            }
            if let Some(format) = ask.encoding_format {
                js::put(&mut body, "encoding_format", text(format));
            }
            ("/embeddings".into(), body)
        }
        Embedder::Ollama => {
            let mut body = object(vec![("input", texts()), ("model", text(model))]);
            if ask.keep {
                js::put(&mut body, "keep_alive", (-1).into());
            }
            js::put(&mut body, "truncate", true.into());
            ("/api/embed".into(), body)
        }
        Embedder::Cohere => {
            let body = object(vec![
                ("texts", texts()),
                ("model", text(model)),
                ("embedding_types", js::texts(vec!["float".into()])),
                ("input_type", text(if query { "search_query" } else { "search_document" })),
                ("truncate", text("END")),
            ]);
            ("/v2/embed".into(), body)
        }
        Embedder::Gemini => {
            let name = format!("models/{model}");
            let one = |t: &String| {
                let part = Value::Object(object(vec![("text", text(t))]));
                let content = Value::Object(object(vec![("parts", Value::Array(vec![part]))]));
                let mut request = object(vec![("model", text(&name)), ("content", content)]);
                if let Some(purpose) = ask.purpose {
                    let task =
                        if purpose == Purpose::Query { "RETRIEVAL_QUERY" } else { "RETRIEVAL_DOCUMENT" };
                    js::put(&mut request, "taskType", text(task));
                }
                if let Some(dimensions) = ask.dimensions {
                    js::put(&mut request, "outputDimensionality", dimensions.into());
                }
                Value::Object(request)
            };
            let body = object(vec![("requests", Value::Array(ask.texts.iter().map(one).collect()))]);
            (format!("/v1beta/{name}:batchEmbedContents"), body)
        }
        Embedder::Vertex => {
            let one = |t: &String| Value::Object(object(vec![("content", text(t))]));
            let body = object(vec![("instances", Value::Array(ask.texts.iter().map(one).collect()))]);
            (format!("/publishers/google/models/{model}:predict"), body)
        }
        Embedder::LlamaCpp => ("/v1/embeddings".into(), object(vec![("input", texts())])),
        Embedder::Vllm => ("/v1/embeddings".into(), object(vec![("input", texts()), ("model", text(model))])),
        Embedder::KoboldCpp => ("/api/extra/embeddings".into(), object(vec![("input", texts())])),
        Embedder::Nomic => {
            ("/v1/embedding/text".into(), object(vec![("texts", texts()), ("model", text(model))]))
        }
    }
}

/// The vectors of an answer, in the order of the texts. `expected` vectors must be there, all of one length.
pub fn vectors(provider: Provider, answer: &Value, expected: Option<usize>) -> Result<Vec<Vec<f64>>, Error> {
    let field = |path: &[&str]| path.iter().try_fold(answer, |v, key| v.get(key));
    let list = |path: &[&str]| field(path).and_then(Value::as_array);
    let found: Option<Vec<Vec<f64>>> = match provider.embedder {
        Embedder::OpenAi | Embedder::Chutes | Embedder::LlamaCpp | Embedder::Vllm | Embedder::KoboldCpp => {
            // Some servers answer with the list itself.
            list(&["data"]).or(answer.as_array()).and_then(|rows| {
                let mut sorted: Vec<(u64, &Value)> = (0..)
                    .zip(rows)
                    .map(|(i, row)| (row.get("index").and_then(Value::as_u64).unwrap_or(i), row))
                    .collect();
                js::sort_by_key(&mut sorted, |(index, _)| *index);
                sorted.into_iter().map(|(_, row)| numbers(row.get("embedding")?)).collect()
            })
        }
        Embedder::Ollama | Embedder::Nomic => {
            list(&["embeddings"]).and_then(|l| l.iter().map(numbers).collect())
        }
        Embedder::Cohere => list(&["embeddings", "float"]).and_then(|l| l.iter().map(numbers).collect()),
        Embedder::Gemini => {
            list(&["embeddings"]).and_then(|l| l.iter().map(|e| numbers(e.get("values")?)).collect())
        }
        Embedder::Vertex => list(&["predictions"])
            .and_then(|l| l.iter().map(|p| numbers(p.get("embeddings")?.get("values")?)).collect()),
    };
    let wrong = |what: String| Error::new(Code::MemoryAnswer, "response", what);
    let found = found.ok_or_else(|| {
        let said = answer.pointer("/error/message").or(answer.get("message")).or(answer.get("error"));
        let said = said.and_then(Value::as_str).map(|s| format!(": {s}")).unwrap_or_default();
        wrong(format!("the answer holds no embeddings{said}"))
    })?;
    if let Some(n) = expected.filter(|n| *n != found.len()) {
        return Err(wrong(format!("{n} texts were sent and {} vectors came back", found.len())));
    }
    if found.iter().any(|v| v.is_empty() || Some(v.len()) != found.first().map(Vec::len)) {
        return Err(wrong("the vectors have different lengths".into()));
    }
    Ok(found)
}

/// A vector, which may be wrapped in one more list, or be base64 of 32-bit floats.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    if let Some(text) = value.as_str() {
        let bytes = crate::files::base64(text.as_bytes())?;
        let (floats, rest) = bytes.as_chunks::<4>();
        return rest.is_empty().then(|| floats.iter().map(|f| f64::from(f32::from_le_bytes(*f))).collect());
    }
    let list = value.as_array()?;
    match list.as_slice() {
        [inner @ Value::Array(_)] => numbers(inner),
        list => list.iter().map(Value::as_f64).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_do_not_fit_are_errors() {
        let openai = Provider::named("openai").unwrap();
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let read = |text: &str, n| vectors(openai, &parse(text), n);
        assert_eq!(read(r#"{"data":[{"embedding":[1,2]}]}"#, Some(1)).unwrap(), [[1.0, 2.0]]);
        assert!(read(r#"{"data":[{"embedding":[1,2]}]}"#, Some(2)).is_err());
        assert!(read(r#"{"data":[{"embedding":[1,2]},{"embedding":[1]}]}"#, None).is_err());
        assert!(
            read(r#"{"error":{"message":"无效的密钥"}}"#, None)
                .unwrap_err()
                .to_string()
                .contains("无效的密钥")
        );
        assert!(read("[]", None).unwrap().is_empty());
        assert_eq!(read(r#"{"data":[{"embedding":"AACAPwAAAMA="}]}"#, None).unwrap(), [[1.0, -2.0]]);
        assert!(Provider::named("banana").is_err());
    }
}
