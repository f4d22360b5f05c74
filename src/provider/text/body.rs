//! A prompt and settings -> the body that the page hands on (spec 07 §11.2-11.3).

use serde_json::{Value, json};

use super::backends::{Backend, ModelRule, backend};
use super::fields::{BAN_LISTS, DEFAULTS, DYNAMIC, FIELDS, LISTS, PRIORITIES, Take};
use super::{kobold, lists};
use crate::error::{Code, Error};
use crate::js;
use crate::parts::Kind;
use crate::profile::{Profile, TEXT_BODIES};
use crate::scene::{Object, TextApi, TextSetup};
use crate::tokens::Count;

/// What a body is made of.
#[expect(missing_debug_implementations, reason = "a counter is a trait object")]
pub struct Body<'a> {
    /// Backend and settings.
    pub setup: &'a TextSetup,
    /// The prompt.
    pub prompt: &'a str,
    /// The prompt to steer away from.
    pub negative: Option<&'a str>,
    /// How strongly.
    pub scale: Option<f64>,
    /// What is asked for.
    pub kind: Kind,
    /// Context size.
    pub max_context: i64,
    /// Response length.
    pub response: i64,
    /// Stop strings.
    pub stop: &'a [String],
    /// What macros banned.
    pub banned: &'a [String],
    /// Makes ids of texts.
    pub count: &'a dyn Count,
    /// Faults put right or not.
    pub profile: &'a Profile,
}

/// The body. `expand` resolves macros in settings.
pub fn body(b: &Body<'_>, expand: &mut dyn FnMut(&str) -> String) -> Result<Object, Error> {
    if b.setup.api == TextApi::Kobold {
        return Ok(kobold::body(b, expand));
    }
    let Some(backend) = backend(&b.setup.backend) else {
        return Err(Error::new(
            Code::OptionUnknown,
            "text.textgen.type",
            format!("{:?} is no backend; docs/text-completion.md lists them", b.setup.backend),
        ));
    };
    check_model(b.setup)?;
    let settings = completed(&b.setup.settings);
    let mut lists = Lists::new(b, &settings, expand);
    let mut out = Object::new();
    for field in FIELDS.iter().filter(|f| f.of & backend.bit != 0) {
        if let Some(value) = value(field.from, b, backend, &settings, &mut lists, expand) {
            js::put(&mut out, field.name, value);
        }
    }
    Ok(out)
}

/// Whether a request can be sent at all; with `text.bodies` on it is asked before the chat changes (F30).
pub fn check_model(setup: &TextSetup) -> Result<(), Error> {
    let needed = backend(&setup.backend).is_some_and(|b| b.model == ModelRule::Required);
    if needed && setup.model.is_none() {
        return Err(Error::new(
            Code::ProviderModel,
            "text.textgen.model",
            format!("no model is chosen, and {} needs one", setup.backend),
        ));
    }
    Ok(())
}

/// Settings with what they leave out.
fn completed(settings: &Object) -> Object {
    let mut out = Object::new();
    for (key, text) in DEFAULTS {
        let Ok((value, _)) = js::parse(text) else { continue };
        js::put(&mut out, key, value);
    }
    // A value of null leaves the setting; the schema is taken as it is.
    let given = settings.iter().filter(|(key, v)| !v.is_null() || *key == "json_schema");
    out.extend(given.map(|(k, v)| (k.clone(), v.clone())));
    out
}

/// Lists that several fields share.
struct Lists {
    bans: lists::Bans,
    biases: Vec<(i64, Value)>,
}

impl Lists {
    fn new(b: &Body<'_>, settings: &Object, expand: &mut dyn FnMut(&str) -> String) -> Self {
        let text = |key: &str| settings.get(key).and_then(Value::as_str).unwrap_or("");
        let bans = if settings.get("send_banned_tokens").is_none_or(js::to_boolean) {
            lists::bans([text("banned_tokens"), text("global_banned_tokens")], b.banned, b.count, expand)
        } else {
            lists::Bans::default()
        };
        Self { bans, biases: lists::biases(settings.get("logit_bias"), b.count) }
    }
}

fn number(settings: &Object, key: &str) -> f64 {
    settings.get(key).map_or(f64::NAN, js::value_to_number)
}

/// A JSON number, whole where it is whole.
pub(super) fn json_number(n: f64) -> Value {
    if n.fract() == 0.0 && n.abs() < 9e15 { json!(js::to_integer(n)) } else { json!(n) }
}

fn value(
    from: Take,
    b: &Body<'_>,
    backend: &Backend,
    settings: &Object,
    lists: &mut Lists,
    expand: &mut dyn FnMut(&str) -> String,
) -> Option<Value> {
    let text = |key: &str| settings.get(key).and_then(Value::as_str).unwrap_or("");
    let on = |key: &str| settings.get(key).is_some_and(js::to_boolean);
    let dynamic = on("dynatemp") && backend.bit & DYNAMIC != 0;
    let single = matches!(b.kind, Kind::Continue | Kind::Impersonate | Kind::Quiet);
    let tidy = b.profile.on(&TEXT_BODIES);
    Some(match from {
        Take::Setting(key) => settings.get(key)?.clone(),
        Take::Filled(key) => json!(Some(text(key)).filter(|t| !t.is_empty())?),
        Take::Positive(key) => {
            Some(json_number(number(settings, key))).filter(|v| v.as_f64() >= Some(0.0))?
        }
        Take::Thousandth(key) => json_number(number(settings, key) / 1000.0),
        Take::Dynamic(key) => settings.get(key).filter(|_| dynamic)?.clone(),
        Take::Prompt => json!(b.prompt),
        Take::Model => match backend.model {
            ModelRule::None => return None,
            ModelRule::IfChosen | ModelRule::Required => json!(b.setup.model.as_ref()?),
            ModelRule::Always => json!(b.setup.model.as_deref().unwrap_or("")),
            ModelRule::Fixed(name) => json!(name),
        },
        Take::Response => json!(b.response),
        Take::Context => json!(b.max_context),
        Take::Stop => json!(b.stop),
        Take::SentStop => json!(b.stop.iter().take(backend.stops_on_page).collect::<Vec<_>>()),
        Take::On => json!(true),
        Take::Off => json!(false),
        Take::Probabilities(n) => json!(Some(n).filter(|_| b.setup.probabilities)?),
        Take::Temperature if dynamic => {
            json_number(f64::midpoint(number(settings, "min_temp"), number(settings, "max_temp")))
        }
        Take::Temperature => settings.get("temp")?.clone(),
        Take::DynamicOn => json!(Some(true).filter(|_| dynamic)?),
        Take::DynamicRange if dynamic => {
            json_number((number(settings, "max_temp") - number(settings, "min_temp")) / 2.0)
        }
        Take::DynamicRange => return None,
        Take::DynamicMode => json!(i32::from(dynamic)),
        Take::Breakers => {
            let list = lists::breakers(text("dry_sequence_breakers"), tidy, expand);
            if tidy && list.is_empty() {
                return None;
            }
            if backend.bit & LISTS != 0 { json!(list) } else { json!(js::stringify(&json!(list))) }
        }
        Take::Bans if backend.bit & BAN_LISTS != 0 => json!(lists.bans.ids),
        Take::Bans => {
            json!(lists.bans.ids.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
        }
        Take::BannedStrings => json!(lists.bans.texts),
        Take::ApiType => json!(backend.name),
        Take::Server => json!(backend.host.unwrap_or(&b.setup.server)),
        Take::Priorities => {
            let order = settings.get("samplers_priorities")?;
            Some(order).filter(|order| **order != json!(PRIORITIES))?.clone()
        }
        Take::RetainGrammar => {
            json!(Some(true).filter(|_| b.kind == Kind::Continue && !text("grammar_string").is_empty())?)
        }
        Take::Count => {
            if single {
                json!(1)
            } else {
                settings.get("n")?.clone()
            }
        }
        Take::Schema => schema(settings)?.clone(),
        // A schema takes the grammar's place with llama.cpp; Ollama's form knows none.
        Take::PlainGrammar if backend.name == "llamacpp" && schema(settings).is_some() => return None,
        Take::PlainGrammar => json!(text("grammar_string")),
        Take::LooseGrammar => {
            let free = schema(settings).is_none();
            json!(Some(text("grammar_string")).filter(|t| free && !t.is_empty())?)
        }
        Take::TopP if backend.name == "huggingface" => {
            json_number(number(settings, "top_p").clamp(0.0, 0.999))
        }
        Take::TopP => settings.get("top_p")?.clone(),
        Take::Scale => match b.scale {
            Some(scale) => json_number(scale),
            None => settings.get("guidance_scale").filter(|v| js::to_boolean(v)).cloned().unwrap_or(json!(1)),
        },
        Take::Negative => match b.negative {
            Some(negative) => json!(negative),
            None => json!(expand(text("negative_prompt"))),
        },
        Take::LogitBias if lists.biases.is_empty() => return None,
        Take::LogitBias => lists::bias_object(&lists.biases),
        Take::BiasPairs => lists::bias_pairs(&lists.biases, &lists.bans.ids),
        Take::Stream => json!(Some(true).filter(|_| b.setup.streaming && b.kind != Kind::Quiet)?),
    })
}

/// The schema of the answer: an object that is not empty, unless an empty one is allowed.
fn schema(settings: &Object) -> Option<&Value> {
    let allowed = settings.get("json_schema_allow_empty").is_some_and(js::to_boolean);
    settings.get("json_schema").filter(|v| v.as_object().is_some_and(|o| allowed || !o.is_empty()))
}

/// Whether a body asks for a stream.
pub fn streams(body: &Object) -> bool {
    ["stream", "streaming"].iter().any(|key| body.get(*key).is_some_and(js::to_boolean))
}

/// Asks for a stream, or for none.
pub fn set_stream(body: &mut Object, on: bool) {
    if body.contains_key("gui_settings") {
        js::put(body, "streaming", on.into());
    } else if on {
        js::put(body, "stream", true.into());
    } else {
        body.shift_remove("stream");
    }
}
