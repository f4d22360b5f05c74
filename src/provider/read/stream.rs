//! An answer that comes in events (spec 06 §6.2, §6.3): bytes in, normalised events out, and the whole answer at the end.

use serde::Serialize;
use serde_json::Value;

use super::body::{gemini_block, read};
use super::error::{ErrorKind, ProviderError, read_error};
use super::fields::{
    content_text, encrypted, filled, inline_image, is_failure, is_thought, list, mistral_thinking,
    reasoning_fields, router_images, some,
};
use super::sse::{Sse, SseEvent};
use super::tools::{self, Calls};
use super::types::{Answer, Finish, Usage};
use crate::js;
use crate::models::Source;
use crate::profile::Profile;
use crate::provider::config::Fixes;

/// Bytes of a body that is no event stream; longer ones are cut.
const MOST_BODY: usize = 16 << 20;

/// Something new in the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// More text.
    Text {
        /// The piece.
        text: String,
    },
    /// More reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// More text of a further answer.
    Alternative {
        /// Which: 0 is the second answer.
        index: usize,
        /// The piece.
        text: String,
    },
    /// A picture.
    Image {
        /// A data URL.
        url: String,
    },
    /// The tool calls are complete.
    ToolCalls {
        /// As in [`Answer::tool_calls`].
        calls: Vec<Value>,
    },
    /// Why the answer ended.
    Finish {
        /// The reason.
        finish: Finish,
    },
    /// Token counts so far.
    Usage {
        /// The counts.
        usage: Usage,
    },
    /// The provider failed. What came before stands.
    Error {
        /// What it said.
        error: Box<ProviderError>,
    },
    /// Nothing more will come.
    Done,
}

/// Further answers to one request that are kept; no source gives more.
const MOST_ALTERNATIVES: usize = 128;

/// A reader of one streamed answer.
#[derive(Clone, Debug)]
pub struct Stream {
    source: Source,
    shown: bool,
    fixed: bool,
    sse: Sse,
    /// What came so far, while it may still be a plain JSON body instead of events.
    plain: Option<Vec<u8>>,
    answer: Answer,
    calls: Calls,
    last_reasoning: String,
    /// A begun reply that will be repeated, and how much of the repetition has come.
    echo: String,
    echoed: usize,
    done: bool,
}

impl Stream {
    /// A reader. `shown`: reasoning is wanted.
    pub fn new(source: Source, shown: bool, profile: &Profile) -> Self {
        let fixed = Fixes::of(profile).reading;
        Self {
            source,
            shown,
            fixed,
            sse: Sse::new(fixed),
            plain: fixed.then(Vec::new),
            answer: Answer::default(),
            calls: Calls::default(),
            last_reasoning: String::new(),
            echo: String::new(),
            echoed: 0,
            done: false,
        }
    }

    /// The answer will repeat this text at its head; it is left out. An answer that begins otherwise stays whole.
    #[must_use]
    pub fn echoing(mut self, begun: &str) -> Self {
        begun.clone_into(&mut self.echo);
        self
    }

    /// Takes bytes as they come; boundaries may be anywhere.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        if self.done {
            return events;
        }
        if let Some(plain) = &mut self.plain {
            if plain.len() < MOST_BODY {
                plain.extend_from_slice(bytes);
            }
            let first = plain.iter().find(|b| !b.is_ascii_whitespace());
            match first {
                None | Some(b'{' | b'[') => return events,
                Some(_) => {
                    let held = self.plain.take().unwrap_or_default();
                    let found = self.sse.feed(&held);
                    self.take(found, &mut events);
                    return events;
                }
            }
        }
        let found = self.sse.feed(bytes);
        self.take(found, &mut events);
        events
    }

    /// The connection is over: what was still open, then [`Event::Done`].
    pub fn end(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.done {
            return events;
        }
        if let Some(plain) = self.plain.take() {
            self.plain_body(&plain, &mut events);
        } else {
            let found = self.sse.end();
            self.take(found, &mut events);
        }
        // An error in what was left has closed it already.
        if !self.done {
            self.close(&mut events);
        }
        events
    }

    /// The answer so far.
    pub const fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Whether the stream has ended.
    pub const fn is_done(&self) -> bool {
        self.done
    }

    /// One event that a host has framed by itself.
    pub fn push(&mut self, data: &str) -> Vec<Event> {
        let mut events = Vec::new();
        self.data("message", data, &mut events);
        events
    }

    fn take(&mut self, found: Vec<SseEvent>, events: &mut Vec<Event>) {
        for SseEvent { event, data } in found {
            self.data(&event, &data, events);
        }
    }

    fn data(&mut self, kind: &str, data: &str, events: &mut Vec<Event>) {
        if self.done {
            return;
        }
        if data == "[DONE]" {
            self.close(events);
            return;
        }
        let Ok((value, _)) = js::parse(data) else {
            if kind == "error" {
                self.fail(ProviderError::new(ErrorKind::Other, data), events);
            }
            return;
        };
        if kind == "error" || is_failure(&value) {
            self.fail(read_error(0, "", None, &value), events);
            return;
        }
        self.value(&value, events);
    }

    /// An error ends the stream; the reference only says so and goes on.
    fn fail(&mut self, error: ProviderError, events: &mut Vec<Event>) {
        events.push(Event::Error { error: Box::new(error) });
        if self.fixed {
            self.answer.finish = Some(Finish::Error);
            self.close(events);
        }
    }

    fn close(&mut self, events: &mut Vec<Event>) {
        self.done = true;
        if self.echoed < self.echo.len() {
            self.release_echo(events);
        }
        self.answer.tool_calls = self.calls.finish();
        if !self.answer.tool_calls.is_empty() {
            events.push(Event::ToolCalls { calls: self.answer.tool_calls.clone() });
        }
        events.push(Event::Done);
    }

    /// A JSON body where events were expected: an error most likely.
    fn plain_body(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        let text = String::from_utf8_lossy(bytes);
        if js::trim(&text).is_empty() {
            return;
        }
        let Ok((body, _)) = js::parse(js::trim(&text)) else {
            self.fail(ProviderError::new(ErrorKind::Other, "the answer is neither events nor JSON"), events);
            return;
        };
        if let Value::Array(events_in_list) = &body {
            // Gemini without `alt=sse` sends its events as one list.
            for value in events_in_list {
                if is_failure(value) {
                    self.fail(read_error(0, "", None, value), events);
                    return;
                }
                self.value(value, events);
            }
            return;
        }
        match read(self.source, &body, self.shown, self.fixed) {
            Ok(mut answer) => {
                if let Some(new) = answer.text.strip_prefix(&*self.echo) {
                    answer.text = new.to_owned();
                }
                self.echo.clear();
                if !answer.reasoning.is_empty() {
                    events.push(Event::Reasoning { text: answer.reasoning.clone() });
                }
                if !answer.text.is_empty() {
                    events.push(Event::Text { text: answer.text.clone() });
                }
                for call in &answer.tool_calls {
                    self.calls.push(call.clone());
                }
                if let Some(finish) = answer.finish {
                    events.push(Event::Finish { finish });
                }
                self.answer = answer;
            }
            Err(error) => self.fail(*error, events),
        }
    }

    /// One JSON event.
    fn value(&mut self, value: &Value, events: &mut Vec<Event>) {
        match self.source {
            Source::Claude => self.claude(value, events),
            Source::MakerSuite | Source::VertexAi => self.gemini(value, events),
            Source::Cohere => self.cohere(value, events),
            _ => self.openai(value, events),
        }
        if self.answer.usage.read(value) {
            events.push(Event::Usage { usage: self.answer.usage });
        }
    }

    fn text(&mut self, text: &str, events: &mut Vec<Event>) {
        if self.echoed < self.echo.len() {
            let waits = self.echo.get(self.echoed..).unwrap_or("");
            if waits.starts_with(text) {
                self.echoed += text.len();
                return;
            }
            if let Some(new) = text.strip_prefix(waits) {
                self.echo.clear();
                self.text(new, events);
                return;
            }
            self.release_echo(events);
        }
        if !text.is_empty() {
            self.answer.text.push_str(text);
            events.push(Event::Text { text: text.to_owned() });
        }
    }

    /// What looked like a repetition was the answer's own.
    fn release_echo(&mut self, events: &mut Vec<Event>) {
        let mut own = std::mem::take(&mut self.echo);
        own.truncate(self.echoed);
        self.text(&own, events);
    }

    fn reasoning(&mut self, text: &str, events: &mut Vec<Event>) {
        if text.is_empty() || !self.shown {
            return;
        }
        // xAI sends the same piece again and again (F47).
        if self.fixed && self.source == Source::Xai && self.last_reasoning == text {
            return;
        }
        text.clone_into(&mut self.last_reasoning);
        self.answer.reasoning.push_str(text);
        events.push(Event::Reasoning { text: text.to_owned() });
    }

    fn finish(&mut self, word: Option<&Value>, events: &mut Vec<Event>) {
        let Some(word) = filled(word) else { return };
        let finish = Finish::named(self.source, word, !self.calls.is_empty());
        self.answer.finish = Some(finish);
        events.push(Event::Finish { finish });
    }

    fn image(&mut self, url: String, events: &mut Vec<Event>) {
        self.answer.images.push(url.clone());
        events.push(Event::Image { url });
    }

    fn claude(&mut self, value: &Value, events: &mut Vec<Event>) {
        let index = value.get("index").and_then(Value::as_u64).unwrap_or(0);
        match filled(value.get("type")).unwrap_or("") {
            "content_block_start" => {
                if let Some(block) =
                    value.get("content_block").filter(|b| b.get("type").is_some_and(|t| t == "tool_use"))
                {
                    self.calls.open(index, block);
                }
            }
            "content_block_stop" => self.calls.close(index),
            _ => {}
        }
        let delta = value.get("delta");
        let field = |key: &str| filled(delta.and_then(|d| d.get(key)));
        if let Some(json) = field("partial_json") {
            self.calls.grow(index, json);
        }
        if let Some(text) = field("thinking") {
            self.reasoning(text, events);
        }
        if let Some(text) = field("text") {
            self.text(text, events);
        }
        self.finish(delta.and_then(|d| d.get("stop_reason")), events);
        if let Some(details) = some(delta.and_then(|d| d.get("stop_details"))) {
            self.answer.details = Some(details.clone());
        }
    }

    fn gemini(&mut self, value: &Value, events: &mut Vec<Event>) {
        if self.fixed
            && value.pointer("/promptFeedback/blockReason").is_some()
            && let Some(error) = gemini_block(value)
        {
            self.fail(error, events);
            return;
        }
        let candidate = value.pointer("/candidates/0");
        let parts = list(candidate.and_then(|c| c.pointer("/content/parts")));
        let (thoughts, texts): (Vec<_>, Vec<_>) = parts.iter().partition(|p| is_thought(p));
        // The reference looks at the first part of each kind only (F40).
        let most = if self.fixed { usize::MAX } else { 1 };
        for part in thoughts.iter().take(most) {
            self.reasoning(part.get("text").and_then(Value::as_str).unwrap_or(""), events);
        }
        for part in texts.iter().take(most) {
            self.text(part.get("text").and_then(Value::as_str).unwrap_or(""), events);
        }
        for (i, part) in parts.iter().enumerate() {
            if part.get("text").is_some()
                && let Some(signature) = filled(part.get("thoughtSignature"))
            {
                signature.clone_into(&mut self.answer.signature);
            }
            if let Some(url) = inline_image(part) {
                self.image(url, events);
            }
            if let Some(call) = tools::gemini(part, i) {
                self.calls.push(call);
            }
        }
        self.finish(candidate.and_then(|c| c.get("finishReason")), events);
    }

    fn cohere(&mut self, value: &Value, events: &mut Vec<Event>) {
        let message = value.pointer("/delta/message");
        let kind = filled(value.get("type")).unwrap_or("");
        if matches!(kind, "tool-call-start" | "tool-call-delta" | "tool-call-end") {
            let index = value.get("index").and_then(Value::as_u64).unwrap_or(0);
            if let Some(call) = message.and_then(|m| m.get("tool_calls")) {
                self.calls.merge(index, call);
            }
        }
        if self.fixed
            && let Some(text) = filled(message.and_then(|m| m.pointer("/content/thinking")))
        {
            self.reasoning(text, events);
        }
        let text = some(message.and_then(|m| m.pointer("/content/text")));
        let text = text.or_else(|| some(message.and_then(|m| m.get("tool_plan"))));
        if let Some(text) = text.and_then(Value::as_str) {
            self.text(text, events);
        }
        self.finish(value.pointer("/delta/finish_reason"), events);
    }

    fn openai(&mut self, value: &Value, events: &mut Vec<Event>) {
        let choices = list(value.get("choices"));
        let first = choices.first();
        let field = |path: &str| some(first.and_then(|c| c.pointer(path)));
        let content =
            field("/delta/content").or_else(|| field("/message/content")).or_else(|| field("/text"));
        let text = content.map_or_else(String::new, content_text);
        let index = first.and_then(|c| c.get("index")).and_then(Value::as_u64).unwrap_or(0);
        if let Some(extra) = index.checked_sub(1) {
            let extra = usize::try_from(extra).unwrap_or(usize::MAX);
            self.alternative(extra, &text, events);
            if self.fixed && self.shown {
                self.alternative_reasoning(extra, choices);
            }
            return;
        }
        let delta = first.and_then(|c| c.get("delta"));
        if self.source == Source::MistralAi {
            let thoughts = mistral_thinking(delta.and_then(|d| d.get("content")), self.fixed);
            // The reference takes the first text of the first piece of thinking.
            let most = if self.fixed { usize::MAX } else { 1 };
            for text in thoughts.into_iter().take(most) {
                self.reasoning(text, events);
            }
        }
        if let Some(text) = self.openai_reasoning(choices) {
            self.reasoning(text, events);
        }
        self.text(&text, events);
        for choice in choices.iter().filter(|c| c.get("index").is_none_or(|i| i == 0)) {
            let pieces = list(choice.pointer("/delta/tool_calls"));
            for (position, piece) in pieces.iter().enumerate() {
                let index = piece.get("index").and_then(Value::as_u64);
                self.calls.merge(index.unwrap_or(position as u64), piece);
            }
        }
        if self.source == Source::OpenRouter {
            for url in router_images(delta) {
                self.image(url, events);
            }
            for (id, data) in encrypted(delta) {
                let call = id.starts_with("tool_") || id.starts_with("call_");
                if !self.calls.sign(id, data) && !call {
                    data.clone_into(&mut self.answer.signature);
                }
            }
        }
        self.finish(first.and_then(|c| c.get("finish_reason")), events);
    }

    /// Each field in turn, in the first choice that fills it.
    fn openai_reasoning<'v>(&self, choices: &'v [Value]) -> Option<&'v str> {
        let fields = reasoning_fields(self.source, self.fixed);
        let holders: &[&str] =
            if self.source == Source::OpenRouter { &["delta", "message"] } else { &["delta"] };
        holders.iter().find_map(|holder| {
            fields.iter().find_map(|field| choices.iter().find_map(|c| filled(c.get(*holder)?.get(*field))))
        })
    }

    /// Thoughts of a further answer (F48).
    fn alternative_reasoning(&mut self, index: usize, choices: &[Value]) {
        let Some(text) = self.openai_reasoning(choices).filter(|_| index < MOST_ALTERNATIVES) else { return };
        let all = &mut self.answer.alternative_reasonings;
        if all.len() <= index {
            all.resize(index + 1, String::new());
        }
        if let Some(slot) = all.get_mut(index) {
            slot.push_str(text);
        }
    }

    fn alternative(&mut self, index: usize, text: &str, events: &mut Vec<Event>) {
        if index >= MOST_ALTERNATIVES || text.is_empty() {
            return;
        }
        if self.answer.alternatives.len() <= index {
            self.answer.alternatives.resize(index + 1, String::new());
        }
        if let Some(answer) = self.answer.alternatives.get_mut(index) {
            answer.push_str(text);
            events.push(Event::Alternative { index, text: text.to_owned() });
        }
    }
}
