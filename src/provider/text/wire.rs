//! The page's body -> the request of the backend (spec 07 §11.1, §11.3-11.6), and the request that counts a text's tokens there.

use serde_json::{Value, json};

use super::backends::{Backend, KOBOLD, Wire, backend};
use super::kobold;
use crate::error::{Code, Error};
use crate::js;
use crate::models::Source;
use crate::provider::Config;
use crate::provider::request::{Auth, Request, Secret};
use crate::scene::{Object, TextSetup};

/// Fields of Ollama's options, where the body has them.
const OLLAMA: &[&str] = &[
    "num_predict",
    "num_ctx",
    "num_batch",
    "stop",
    "temperature",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "top_k",
    "top_p",
    "tfs_z",
    "typical_p",
    "seed",
    "repeat_last_n",
    "min_p",
];

/// Builds the request of a text-completion body.
pub fn text_request(page: &Object, config: &Config) -> Result<Request, Error> {
    let text = |key: &str| page.get(key).and_then(Value::as_str).unwrap_or("");
    let classic = page.contains_key("gui_settings");
    let found = if classic { Some(&KOBOLD) } else { backend(text("api_type")) };
    let Some(backend) = found else {
        return Err(Error::new(
            Code::OptionUnknown,
            "api_type",
            format!("{:?} is no backend", text("api_type")),
        ));
    };
    let stream = super::streams(page);
    let base = base(text("api_server"));
    let (url, body) = if classic {
        let path = if stream { "/extra/generate/stream" } else { KOBOLD.path };
        (format!("{base}{path}"), kobold::wire(page))
    } else {
        (format!("{base}{}", backend.path), wire(backend, page))
    };
    let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    if backend.app {
        let app = [("HTTP-Referer", &config.app_url), ("X-Title", &config.app_title)];
        headers.extend(app.into_iter().filter_map(|(name, v)| Some((name.to_owned(), v.clone()?))));
    }
    Ok(Request {
        source: Source::Custom,
        method: "POST",
        url,
        headers,
        auth: (!config.keyless && !classic).then(|| auth(backend)),
        body,
        stream,
        origins: Vec::new(),
        system_origins: Vec::new(),
        trimmed: String::new(),
        notes: Vec::new(),
    })
}

fn auth(backend: &Backend) -> Auth {
    // One place is enough: these take the key in their own header, too.
    backend.key_header.map_or_else(|| Auth::bearer(Secret::Key), |name| Auth::header(name, Secret::Key))
}

/// The address without a final slash and `/v1`; this machine by its number.
fn base(server: &str) -> String {
    let base = server.strip_suffix('/').unwrap_or(server);
    let base = base.strip_suffix("/v1").unwrap_or(base);
    base.replacen("://localhost", "://127.0.0.1", 1)
}

fn wire(backend: &Backend, page: &Object) -> Object {
    let mut body = match backend.wire {
        Wire::Whole => page.clone(),
        Wire::Only(keys) => page
            .iter()
            .filter(|(k, _)| keys.contains(&k.as_str()))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect(),
        Wire::Ollama => ollama(page),
    };
    if let (Some(most), Some(Value::Array(stop))) = (backend.stops, body.get_mut("stop")) {
        stop.truncate(most);
    }
    if backend.name == "openrouter" {
        route(page, &mut body);
    }
    body
}

/// Which providers a router may choose.
fn route(page: &Object, body: &mut Object) {
    let filled = |key: &str| page.get(key).filter(|v| v.as_array().is_some_and(|l| !l.is_empty()));
    let mut provider = Object::new();
    if let Some(order) = filled("provider") {
        let fallbacks = page.get("allow_fallbacks").cloned().unwrap_or(json!(true));
        js::put(&mut provider, "allow_fallbacks", fallbacks);
        js::put(&mut provider, "order", order.clone());
    }
    if let Some(quantizations) = filled("quantizations") {
        js::put(&mut provider, "quantizations", quantizations.clone());
    }
    if provider.is_empty() {
        body.shift_remove("provider");
    } else {
        js::put(body, "provider", Value::Object(provider));
    }
}

fn ollama(page: &Object) -> Object {
    let options: Object =
        OLLAMA.iter().filter_map(|key| Some(((*key).to_owned(), page.get(*key)?.clone()))).collect();
    let get = |key: &str| page.get(key).cloned().unwrap_or(Value::Null);
    js::object(vec![
        ("model", get("model")),
        ("prompt", get("prompt")),
        ("stream", page.get("stream").is_some_and(js::to_boolean).into()),
        ("keep_alive", json!(-1)),
        ("raw", true.into()),
        ("options", Value::Object(options)),
    ])
}

/// A request that asks the backend how many tokens a text has (spec 07 §11.1).
#[derive(Clone, Debug, PartialEq)]
pub struct TokenCount {
    /// The address.
    pub url: String,
    /// The JSON body.
    pub body: Object,
}

/// The request for a text; `None` for backends that do not count. Its answer is read by [`super::read_token_count`].
pub fn token_count_request(setup: &TextSetup, text: &str) -> Option<TokenCount> {
    let backend = backend(&setup.backend)?;
    let counting = backend.counting?;
    let mut body = Object::new();
    if counting.model {
        js::put(&mut body, "model", json!(setup.model));
    }
    js::put(&mut body, counting.text, json!(text));
    for key in counting.off {
        js::put(&mut body, key, json!(false));
    }
    Some(TokenCount { url: format!("{}{}", base(&setup.server), counting.path), body })
}
