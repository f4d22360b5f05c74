//! Pictures, videos and audio: which models take them inside messages, and what they cost (spec 02 §9.4, §14.2-3).

use serde_json::Value;

use super::{Model, Source};
use crate::js;

/// What kind of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture; the kind of items that do not say theirs.
    Image,
    /// A video.
    Video,
    /// Sound.
    Audio,
}

impl MediaKind {
    /// The kind of a stored item.
    pub fn of(item: &Value) -> Self {
        match item.get("type").and_then(Value::as_str) {
            Some("video") => Self::Video,
            Some("audio") => Self::Audio,
            _ => Self::Image,
        }
    }

    /// The name in model lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
        }
    }
}

/// Families that take each kind, by source and a piece of the model's name; an empty piece is every model.
const IMAGES: &[(Source, &[&str])] = &[
    (
        Source::OpenAi,
        &["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-4-turbo", "vision", "gpt-5", "gpt-6", "o1", "o3", "o4"],
    ),
    (
        Source::AzureOpenAi,
        &["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-4-turbo", "vision", "gpt-5", "gpt-6", "o1", "o3", "o4"],
    ),
    (Source::Claude, &["claude-3", "claude-opus", "claude-sonnet", "claude-haiku", "claude-fable"]),
    (Source::MakerSuite, &["gemini", "gemma-3", "learnlm"]),
    (Source::VertexAi, &["gemini"]),
    (Source::MistralAi, &["pixtral", "mistral-small", "mistral-medium", "mistral-large"]),
    (Source::Cohere, &["vision"]),
    (Source::Xai, &["vision", "grok-4"]),
    (Source::Moonshot, &["vision", "kimi-latest", "kimi-k2.5"]),
    (Source::Zai, &["v"]),
    (Source::Custom, &[""]),
];
const VIDEOS: &[(Source, &[&str])] = &[
    (Source::MakerSuite, &["gemini"]),
    (Source::VertexAi, &["gemini"]),
    (Source::Zai, &["v"]),
    (Source::Custom, &[""]),
];
const AUDIO: &[(Source, &[&str])] = &[
    (Source::OpenAi, &["audio"]),
    (Source::MakerSuite, &["gemini"]),
    (Source::VertexAi, &["gemini"]),
    (Source::Custom, &[""]),
];

/// Whether a model takes a kind of media. The model's list entry wins (`architecture.input_modalities`, as OpenRouter writes
/// it, or `input_modalities`); the built-in table is a rough one, since the recorded cases carry no media.
pub fn inlines(model: &Model, kind: MediaKind) -> bool {
    let listed = model.entry.as_ref().and_then(|entry| {
        entry
            .get("input_modalities")
            .or_else(|| entry.get("architecture")?.get("input_modalities"))
            .and_then(Value::as_array)
    });
    if let Some(list) = listed {
        return list.iter().any(|m| m == kind.as_str());
    }
    let table = match kind {
        MediaKind::Image => IMAGES,
        MediaKind::Video => VIDEOS,
        MediaKind::Audio => AUDIO,
    };
    table
        .iter()
        .filter(|(source, _)| *source == model.source)
        .any(|(_, pieces)| pieces.iter().any(|piece| model.name.contains(piece)))
}

/// Tokens of a picture by OpenAI's tiles. `None` for a size that is unknown.
pub fn image_tokens(quality: &str, size: Option<(f64, f64)>) -> i64 {
    const LOW: i64 = 85;
    let Some((w, h)) = size.filter(|(w, h)| *w > 0.0 && *h > 0.0) else { return LOW };
    if quality == "low" || (quality == "auto" && w <= 512.0 && h <= 512.0) {
        return LOW;
    }
    let to_2048 = 2048.0 / w.min(h);
    let (w, h) = (js::round(w * to_2048), js::round(h * to_2048));
    let to_768 = 768.0 / w.min(h);
    let (w, h) = (js::round(w * to_768), js::round(h * to_768));
    170 * js::to_integer((w / 512.0).ceil() * (h / 512.0).ceil()) + LOW
}

/// Tokens of a stored item. The page may say `tokens`, or `width` and `height`, or `duration` in seconds.
pub fn media_tokens(item: &Value, quality: &str) -> i64 {
    let number = |key: &str| item.get(key).and_then(Value::as_f64);
    if let Some(known) = number("tokens") {
        return js::to_integer(known).max(0);
    }
    let seconds = |unknown: f64| js::to_integer(number("duration").map_or(unknown, f64::ceil)).max(0);
    match MediaKind::of(item) {
        MediaKind::Image => image_tokens(quality, number("width").zip(number("height"))),
        MediaKind::Video => 263_i64.saturating_mul(seconds(40.0)),
        MediaKind::Audio => 32_i64.saturating_mul(seconds(300.0)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tiles() {
        // Spec 02 §9.4 [run].
        for (quality, w, h, want) in [
            ("auto", 513.0, 512.0, 765),
            ("high", 256.0, 256.0, 765),
            ("high", 1024.0, 1024.0, 765),
            ("auto", 2048.0, 4096.0, 1105),
            ("auto", 1000.0, 3000.0, 1785),
            ("auto", 512.0, 512.0, 85),
            ("low", 4096.0, 4096.0, 85),
        ] {
            assert_eq!(image_tokens(quality, Some((w, h))), want, "{quality} {w}x{h}");
        }
        assert_eq!(media_tokens(&json!({"type": "video"}), "auto"), 263 * 40);
        assert_eq!(media_tokens(&json!({"type": "audio", "duration": 2.5}), "auto"), 96);
    }
}
