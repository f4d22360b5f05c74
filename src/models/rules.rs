//! What a model refuses, by its name: rules that take fields out of a neutral request (spec 06 §2.3 steps 13 and 15 to 18).
//! Data, in the reference's order; a model may fall under several.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Source, like};
use crate::scene::Object;

/// A change that a model's name made to the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BodyChange {
    /// The rule: `o_series`, `gpt_5` …
    pub rule: &'static str,
    /// Fields that were taken out.
    pub removed: Vec<&'static str>,
    /// `max_tokens` became `max_completion_tokens`.
    pub completion_tokens: bool,
    /// System messages became the user's.
    pub system_to_user: bool,
}

/// Who and what a request is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Who answers.
    pub(super) source: Source,
    /// The model's id.
    pub(super) model: &'a str,
    /// Other routes to the same models keep to their rules too (`provider.fields`); the reference knows three of them.
    pub(super) everywhere: bool,
}

/// Where a rule holds.
#[derive(Clone, Copy, Debug)]
enum Route {
    /// Wherever the model is reached.
    Any,
    /// There only.
    Only(Source),
    /// Wherever but there.
    Except(Source),
    /// Routes to OpenAI's models.
    Gpt,
    /// Likewise, for models that are named from the start of the id: `o3`, and `openai/o3` where the route names makers.
    OpenAi,
}

/// What a model's id must look like.
#[derive(Clone, Copy, Debug)]
enum Name {
    /// Contains one of these.
    Has(&'static [&'static str]),
    /// Contains none of these.
    Lacks(&'static [&'static str]),
    /// Contains one of the first and none of the second.
    Between(&'static [&'static str], &'static [&'static str]),
    /// Contains one of the first and also the second.
    Both(&'static [&'static str], &'static str),
    /// Is of this family.
    Like(&'static str),
    /// Begins with one of these.
    Begins(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    id: &'static str,
    route: Route,
    name: Name,
    /// Holds only where this field is set.
    set: Option<&'static str>,
    removes: &'static [&'static str],
    /// The token limit goes by its newer name.
    completion_tokens: bool,
    system_to_user: bool,
}

const NONE: Rule = Rule {
    id: "",
    route: Route::Any,
    name: Name::Lacks(&[]),
    set: None,
    removes: &[],
    completion_tokens: false,
    system_to_user: false,
};

const PENALTIES: &[&str] = &["frequency_penalty", "presence_penalty"];
const SAMPLERS: &[&str] = &["temperature", "top_p", "frequency_penalty", "presence_penalty"];
const NEWER_5: &[&str] = &["gpt-5.1", "gpt-5.2", "gpt-5.3", "gpt-5.4"];
const CLAUDE: Name = Name::Has(&["claude-fable", "claude-opus-5", "claude-sonnet-5"]);

const RULES: &[Rule] = &[
    Rule {
        id: "grok_3_mini",
        route: Route::Only(Source::Xai),
        name: Name::Has(&["grok-3-mini"]),
        removes: &["frequency_penalty", "presence_penalty", "stop"],
        ..NONE
    },
    Rule {
        id: "grok",
        route: Route::Only(Source::Xai),
        name: Name::Lacks(&["grok-3-mini"]),
        removes: &["reasoning_effort"],
        ..NONE
    },
    Rule {
        id: "grok_4",
        route: Route::Only(Source::Xai),
        name: Name::Has(&["grok-4", "grok-code"]),
        removes: PENALTIES,
        ..NONE
    },
    Rule {
        id: "grok_4_reasoning",
        route: Route::Only(Source::Xai),
        name: Name::Between(&["grok-4", "grok-code"], &["grok-4-fast-non-reasoning"]),
        removes: &["stop"],
        ..NONE
    },
    Rule {
        id: "kimi_k2_5",
        route: Route::Only(Source::Moonshot),
        name: Name::Like("kimi-k2.5"),
        removes: SAMPLERS,
        ..NONE
    },
    Rule {
        id: "o_series",
        route: Route::OpenAi,
        name: Name::Begins(&["o1", "o3", "o4"]),
        removes: &[
            "logprobs",
            "top_logprobs",
            "stop",
            "logit_bias",
            "temperature",
            "top_p",
            "frequency_penalty",
            "presence_penalty",
        ],
        completion_tokens: true,
        ..NONE
    },
    Rule {
        id: "o1",
        route: Route::OpenAi,
        name: Name::Begins(&["o1"]),
        removes: &["n", "tools", "tool_choice"],
        system_to_user: true,
        ..NONE
    },
    Rule {
        id: "gpt_5",
        route: Route::Gpt,
        name: Name::Has(&["gpt-5"]),
        removes: &["logprobs", "top_logprobs"],
        completion_tokens: true,
        ..NONE
    },
    Rule {
        id: "gpt_5_chat",
        route: Route::Gpt,
        name: Name::Has(&["gpt-5-chat-latest"]),
        removes: &["tools", "tool_choice"],
        ..NONE
    },
    Rule {
        id: "gpt_5_reasoning",
        route: Route::Gpt,
        name: Name::Between(&["gpt-5"], &["gpt-5-chat-latest"]),
        removes: &["frequency_penalty", "presence_penalty", "logit_bias", "stop"],
        ..NONE
    },
    Rule {
        id: "gpt_5_reasoning",
        route: Route::Gpt,
        name: Name::Between(&["gpt-5"], &["gpt-5-chat-latest", "gpt-5.1", "gpt-5.2", "gpt-5.3", "gpt-5.4"]),
        removes: &["temperature", "top_p"],
        ..NONE
    },
    // The newer ones take both as long as no effort is asked for.
    Rule {
        id: "gpt_5_effort",
        route: Route::Gpt,
        name: Name::Between(NEWER_5, &["gpt-5-chat-latest"]),
        set: Some("reasoning_effort"),
        removes: &["temperature", "top_p"],
        ..NONE
    },
    Rule {
        id: "gpt_5_effort",
        route: Route::Gpt,
        name: Name::Both(NEWER_5, "chat-latest"),
        removes: &["temperature", "top_p"],
        ..NONE
    },
    Rule {
        id: "gpt_6_astra",
        route: Route::Gpt,
        name: Name::Has(&["gpt-6-astra"]),
        removes: &["logprobs", "top_logprobs", "temperature", "top_p"],
        completion_tokens: true,
        ..NONE
    },
    Rule {
        id: "claude_5",
        name: CLAUDE,
        removes: &["temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty"],
        ..NONE
    },
    Rule {
        id: "claude_5",
        route: Route::Except(Source::Claude),
        name: CLAUDE,
        removes: &["reasoning_effort"],
        ..NONE
    },
];

impl Route {
    fn leads(self, asked: Asked<'_>) -> bool {
        let custom = asked.everywhere && asked.source == Source::Custom;
        match self {
            Self::Any => true,
            Self::Only(source) => source == asked.source,
            Self::Except(source) => source != asked.source,
            Self::Gpt => asked.is_gpt() || custom,
            Self::OpenAi => {
                // A router has the models of many makers: the maker's name must stand in front.
                let named = asked.source != Source::OpenRouter || asked.model.starts_with("openai/");
                asked.is_gpt() && named || custom
            }
        }
    }
}

impl Name {
    fn fits(self, asked: Asked<'_>) -> bool {
        let has = |list: &[&str]| list.iter().any(|part| asked.model.contains(part));
        match self {
            Self::Has(list) => has(list),
            Self::Lacks(list) => !has(list),
            Self::Between(list, none) => has(list) && !has(none),
            Self::Both(list, also) => has(list) && has(&[also]) && !has(&["gpt-5-chat-latest"]),
            Self::Like(family) => like(asked.model, family),
            Self::Begins(list) => list.iter().any(|start| {
                let behind = asked.own_name().strip_prefix(start);
                // A server of one's own may have any model under any name: the word must end there.
                behind.is_some_and(|b| asked.source != Source::Custom || b.is_empty() || b.starts_with('-'))
            }),
        }
    }
}

impl<'a> Asked<'a> {
    /// OpenAI itself, and the two other routes that the reference knows.
    fn is_gpt(self) -> bool {
        matches!(self.source, Source::OpenAi | Source::AzureOpenAi | Source::OpenRouter)
    }

    fn own_name(self) -> &'a str {
        let bare = self
            .model
            .strip_prefix("openai/")
            .filter(|_| self.source == Source::OpenRouter || self.everywhere);
        bare.unwrap_or(self.model)
    }
}

/// Applies all rules that hold; tells what they changed.
pub(super) fn apply(asked: Asked<'_>, out: &mut Object) -> Vec<BodyChange> {
    let mut changes = Vec::new();
    for rule in RULES {
        let holds = rule.route.leads(asked)
            && rule.name.fits(asked)
            && rule.set.is_none_or(|field| out.contains_key(field));
        if !holds {
            continue;
        }
        let removed: Vec<_> =
            rule.removes.iter().copied().filter(|field| out.shift_remove(*field).is_some()).collect();
        let change = BodyChange {
            rule: rule.id,
            removed,
            completion_tokens: rule.completion_tokens && completion_tokens(out),
            system_to_user: rule.system_to_user && system_to_user(out),
        };
        if !change.removed.is_empty() || change.completion_tokens || change.system_to_user {
            changes.push(change);
        }
    }
    changes
}

fn completion_tokens(out: &mut Object) -> bool {
    let limit = out.shift_remove("max_tokens");
    let found = limit.is_some();
    out.extend(limit.map(|limit| ("max_completion_tokens".to_owned(), limit)));
    found
}

fn system_to_user(out: &mut Object) -> bool {
    let messages = out.get_mut("messages").and_then(Value::as_array_mut);
    let roles = messages.into_iter().flatten().filter_map(|m| m.get_mut("role")).filter(|r| *r == "system");
    roles.map(|role| *role = json!("user")).count() > 0
}
