//! Which providers take a call straight from a page, and what such a call needs (spec 06 §7). Data about the world: it ages, so
//! every row says how well it is known.

use serde::Serialize;

use crate::models::Source;

/// Whether a page may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Direct {
    /// The answers carry CORS headers for any page.
    Yes,
    /// They do, but only plain headers are let through.
    FewHeaders,
    /// They do not: a proxy is needed.
    No,
    /// It depends on the server's own settings.
    Server,
    /// Nobody has looked: treat it as a proxy case until probed.
    Unknown,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BrowserAccess {
    /// Whether a page may call.
    pub direct: Direct,
    /// A public document or report says so; false: not confirmed, or reports disagree.
    pub verified: bool,
    /// A header that a page must add, with its value. Requests carry it already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<(&'static str, &'static str)>,
    /// What to know.
    pub remark: &'static str,
}

const fn row(direct: Direct, verified: bool, remark: &'static str) -> BrowserAccess {
    BrowserAccess { direct, verified, header: None, remark }
}

/// What Anthropic demands of pages.
pub(super) const ANTHROPIC_OPT_IN: (&str, &str) = ("anthropic-dangerous-direct-browser-access", "true");

/// The row of a source.
pub const fn browser_access(source: Source) -> BrowserAccess {
    match source {
        Source::Claude => BrowserAccess {
            header: Some(ANTHROPIC_OPT_IN),
            ..row(Direct::Yes, true, "an organisation's settings can forbid calls from pages altogether")
        },
        Source::OpenRouter => {
            row(Direct::Yes, true, "any origin; whether HTTP-Referer and X-Title pass is not confirmed")
        }
        Source::OpenAi | Source::Groq => row(Direct::Yes, true, "any origin"),
        Source::MakerSuite => {
            row(Direct::Yes, true, "the key may go in the header x-goog-api-key instead of the address")
        }
        Source::DeepSeek => row(Direct::Yes, true, "echoes the origin"),
        Source::MiniMax => row(Direct::Yes, true, "api.minimax.io; the older host is reported blocked"),
        Source::Zai => row(Direct::Yes, false, "confirmed for another path of the same host only"),
        Source::MistralAi => row(Direct::FewHeaders, false, "reports disagree; SDK headers are refused"),
        Source::Perplexity => row(Direct::FewHeaders, true, "SDK headers are refused"),
        Source::Moonshot => row(Direct::No, true, "reported as refused"),
        Source::Custom => row(
            Direct::Server,
            true,
            "local servers have a switch for it; a page on https may not call http addresses",
        ),
        Source::Ai21
        | Source::AimlApi
        | Source::AzureOpenAi
        | Source::Chutes
        | Source::Cohere
        | Source::CometApi
        | Source::ElectronHub
        | Source::Fireworks
        | Source::NanoGpt
        | Source::Pollinations
        | Source::SiliconFlow
        | Source::VertexAi
        | Source::WorkersAi
        | Source::Xai => row(Direct::Unknown, false, "not probed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_not_called_verified() {
        for source in Source::ALL {
            let row = browser_access(*source);
            assert!(row.direct != Direct::Unknown || !row.verified, "{source:?}");
        }
    }
}
