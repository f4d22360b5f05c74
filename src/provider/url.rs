//! Addresses: the base of a provider or of the user's proxy, and the path behind it (spec 06 §5).

use super::request::{Auth, Ctx, Secret};
use crate::js;
use crate::models::Source;

/// Base and path as the reference concatenates them; with the fix, with exactly one slash between.
pub(super) fn join(base: &str, path: &str, tidy: bool) -> String {
    if !tidy {
        return format!("{base}{path}");
    }
    format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/'))
}

/// Sources that a reverse proxy may stand in for (spec 06 §2.3 step 10).
const PROXIED: &[Source] = &[
    Source::Claude,
    Source::OpenAi,
    Source::MistralAi,
    Source::MakerSuite,
    Source::VertexAi,
    Source::DeepSeek,
    Source::Xai,
    Source::Zai,
    Source::Moonshot,
];

/// The proxy of the request, normalised, if one is set.
pub(super) fn proxy(ctx: &Ctx) -> Option<String> {
    let url = js::trim(ctx.text("reverse_proxy"));
    (!url.is_empty() && PROXIED.contains(&ctx.source)).then(|| normalised(url))
}

/// The base that is in force, and its secret.
pub(super) fn base(ctx: &Ctx, own: &str) -> (String, Secret) {
    proxy(ctx).map_or_else(|| (own.to_owned(), Secret::Key), |p| (p, Secret::ProxyPassword))
}

/// A bearer that follows the base.
pub(super) fn bearer(ctx: &Ctx, secret: Secret) -> Option<Auth> {
    (!ctx.config.keyless).then(|| Auth::bearer(secret))
}

/// What `new URL(url).toString()` changes on the addresses people type: case of scheme and host, and a path of at least `/`.
fn normalised(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{}://{}{slash}{path}", js::lower(scheme), js::lower(host))
}

/// Scheme and host of an address: an absolute path replaces everything behind them.
pub(super) fn origin(url: &str) -> String {
    let url = normalised(js::trim(url));
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let host = rest.split(['/', '?', '#']).next().unwrap_or("");
    format!("{scheme}://{host}")
}

/// `encodeURIComponent`.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'!'
            | b'~'
            | b'*'
            | b'\''
            | b'('
            | b')' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_joined_as_typed_or_tidily() {
        assert_eq!(normalised("HTTPS://P.Example"), "https://p.example/");
        assert_eq!(normalised("https://p.example/V1"), "https://p.example/V1");
        assert_eq!(join("https://p.example/", "/messages", false), "https://p.example//messages");
        assert_eq!(join("https://p.example/", "/messages", true), "https://p.example/messages");
        assert_eq!(origin("https://r.openai.azure.com/x/y?z"), "https://r.openai.azure.com");
        assert_eq!(encode("a b/洛"), "a%20b%2F%E6%B4%9B");
    }
}
