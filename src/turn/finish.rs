//! What follows the assembly: the neutral payload, how the reply is read, what else the report tells.

use indexmap::IndexSet;
use serde_json::Value;

use super::about::About;
use crate::error::Warning;
use crate::history::{Line, Names, wire_name};
use crate::injections::{AUTHOR_NOTE, AuthorNote, Injections, Position};
use crate::js;
use crate::macros::Expander;
use crate::models::{BodyChange, Params, params};
use crate::parts::{Kind, Omitted, Origin, OriginKind, Reading, Report};
use crate::profile::{PROMPT_HISTORY, PROMPT_ONCE};
use crate::prompt::chat::{Assembled, Item};
use crate::reply;

impl About<'_> {
    /// ST expands injected texts beside the main prompt once more for text completion, and throws the result away: draws are
    /// spent and counters count (spec 02 §8.5).
    pub(super) fn expand_unused(&self, injections: &Injections, scope: &mut Expander<'_>) {
        if self.profile.on(&PROMPT_ONCE) {
            return;
        }
        for position in [Position::BeforeMain, Position::AfterMain] {
            let texts: Vec<_> =
                injections.collect(position).into_iter().map(|(_, i)| js::trim(&i.value)).collect();
            scope.expand(&texts.join("\n"));
        }
    }

    /// Likewise all injected texts together, for its record of what was sent.
    pub(super) fn expand_all(&self, injections: &Injections, scope: &mut Expander<'_>) {
        if self.profile.on(&PROMPT_ONCE) {
            return;
        }
        let texts: Vec<_> =
            injections.iter().filter(|(_, i)| i.allowed).map(|(_, i)| js::trim(&i.value)).collect();
        scope.expand(&texts.join("\n"));
    }

    /// The neutral payload.
    pub(super) fn payload(
        &self,
        assembled: &Assembled,
        reading: &Reading,
        scope: &mut Expander<'_>,
    ) -> (Value, Vec<BodyChange>) {
        let mut settings = self.scene.preset.values.clone();
        if self.options.max_response.is_some() {
            settings.insert("openai_max_tokens".into(), Value::from(self.sizes.1));
        }
        let stop: Vec<String> = reading.stop.iter().map(|s| s.text.clone()).collect();
        let messages: Vec<Value> = assembled.items.iter().map(Item::to_value).collect();
        let ask = &self.options.ask;
        let p = Params {
            settings: &settings,
            source: self.model.source,
            model: &self.model.name,
            kind: self.options.kind.as_str(),
            user: &self.scene.persona.name,
            char: &self.speaker.name,
            group: &self.members(),
            stop: &stop,
            tools: &ask.tools,
            logit_bias: ask.logit_bias.as_ref(),
            logprobs: ask.logprobs,
            json_schema: ask.json_schema.as_ref(),
            entry: self.model.entry.as_ref(),
            chat_id: Some(&self.scene.chat.id),
            profile: self.profile,
        };
        let (payload, changes) = params(&p, messages, &mut |text| scope.expand(text));
        (Value::Object(payload), changes)
    }

    /// How the reply is to be read.
    pub(super) fn reading(&self, lines: &[Line<'_>], continued: &str, scope: &mut Expander<'_>) -> Reading {
        let ask = reply::Ask {
            speaker: Some(self.speaker),
            kind: self.options.kind,
            chat_completion: self.scene.text.is_none(),
            continued,
            reasoning: lines.last().map_or("", |l| l.reasoning.as_str()),
            extra_stops: &self.options.ask.stop,
            ..reply::Ask::default()
        };
        reply::reading(self.scene, &ask, self.profile, &mut |text| scope.expand(text))
    }

    /// Messages that scripts left nothing of, and names that the `name` field would spoil.
    pub(super) fn warnings(&self, lines: &[Line<'_>]) -> Vec<Warning> {
        let emptied = |line: &Line<'_>| {
            let change = line.changes.iter().find(|c| c.emptied)?;
            let message = format!("script {:?} left nothing of the message", change.script);
            Some(Warning::new("script.emptied", format!("chat[{}]", line.index), message))
        };
        let mut list: Vec<Warning> = lines.iter().filter_map(emptied).collect();
        if Names::of(&self.scene.preset) == Names::Completion {
            let names: IndexSet<&str> = lines.iter().map(|l| l.message.name.as_str()).collect();
            let spoilt = names.into_iter().filter(|name| wire_name(name) != *name);
            list.extend(spoilt.map(|name| {
                let message = format!("{name:?} does not fit the name field ({:?})", wire_name(name));
                Warning::new("name.collision", "chat", message)
            }));
        }
        list
    }
}

/// Where the context begins, as the chat's metadata keep it for the next request: ST counts every message of the user's and
/// the assistant's role back from the end; with `prompt.history` on it is the oldest chat message that is in (spec 02 F-39).
pub(super) fn context_start(about: &About<'_>, assembled: &Assembled, report: &Report) -> usize {
    let length = about.scene.chat.messages.len();
    if about.profile.on(&PROMPT_HISTORY) {
        return report.cut.first_included_index.unwrap_or(length);
    }
    let spoken = assembled.items.iter().filter(|i| matches!(i.role.as_str(), "user" | "assistant")).count();
    let replaced = matches!(about.options.kind, Kind::Swipe | Kind::Regenerate | Kind::Continue);
    length.saturating_sub(spoken + usize::from(replaced))
}

/// What was left out outside the list of messages: a note that is not due, stop strings beyond the provider's limit.
pub(super) fn left_out(note: &AuthorNote, reading: &Reading, payload: &Value) -> Vec<Omitted> {
    let mut list = Vec::new();
    if !note.due && !note.text.is_empty() {
        list.push(Omitted::new(Origin::new(OriginKind::Ext, AUTHOR_NOTE), "not_due"));
    }
    let sent = payload.get("stop").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let unsent = reading.stop.iter().filter(|stop| !sent.iter().any(|s| *s == stop.text));
    list.extend(unsent.map(|stop| {
        let origin = Origin::new(OriginKind::Utility, format!("stop:{}", stop.text));
        Omitted::new(origin, "stop_limit")
    }));
    list
}
