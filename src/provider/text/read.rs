//! Answers of the backends back to text, whole and streamed (spec 07 §10.8, §11.6): server-sent events, or one JSON object a line.

use serde_json::Value;

use crate::js;
use crate::provider::{Answer, Event, Finish, ProviderError, Sse, Usage, read_error};

/// Bytes of a body or line that are kept.
const MOST: usize = 16 << 20;

/// Where the text of an answer stands; the first that is there counts.
const TEXTS: [&str; 6] = [
    "/choices/0/text",
    "/choices/0/message/content",
    "/results/0/text",
    "/content",
    "/response",
    "/0/content",
];
const PIECES: [&str; 4] = ["/choices/0/text", "/content", "/response", "/token"];
const REASONING: [&str; 4] = ["/choices/0/reasoning", "/choices/0/thinking", "/thinking", "/reasoning"];

fn text_at<'v>(value: &'v Value, places: &[&str]) -> Option<&'v str> {
    places.iter().find_map(|place| value.pointer(place)?.as_str())
}

/// Which of several answers a piece belongs to; 0 is the first.
fn index(value: &Value) -> usize {
    let of = |place: &str| value.pointer(place).and_then(Value::as_u64);
    of("/choices/0/index").or_else(|| of("/index")).and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

/// An error that an answer holds.
fn failure(value: &Value) -> Option<ProviderError> {
    let failed = value.get("error").is_some_and(js::to_boolean)
        || (value.get("choices").is_none()
            && text_at(value, &TEXTS).is_none()
            && ["message", "detail"].iter().any(|k| value.get(*k).is_some_and(js::to_boolean)));
    failed.then(|| read_error(0, "", None, value))
}

fn finish(value: &Value) -> Option<Finish> {
    let word = text_at(value, &["/choices/0/finish_reason", "/done_reason", "/stop_type"])?;
    Some(match word {
        "stop" | "eos" | "word" | "eos_token" | "stop_sequence" => Finish::Stop,
        "length" | "limit" => Finish::Length,
        "none" | "" => return None,
        _ => Finish::Other,
    })
}

/// A whole answer.
pub fn read_text(value: &Value) -> Result<Answer, Box<ProviderError>> {
    if let Some(error) = failure(value) {
        return Err(Box::new(error));
    }
    let mut answer = Answer {
        text: text_at(value, &TEXTS).unwrap_or("").to_owned(),
        reasoning: text_at(value, &REASONING).unwrap_or("").to_owned(),
        finish: finish(value),
        ..Answer::default()
    };
    answer.usage.read(value);
    let others = value.get("choices").and_then(Value::as_array).into_iter().flatten().skip(1);
    answer.alternatives =
        others.filter_map(|c| text_at(c, &["/text", "/message/content"])).map(str::to_owned).collect();
    Ok(answer)
}

/// A reader of one answer as it comes.
#[derive(Clone, Debug)]
pub struct TextStream {
    sse: Sse,
    /// Undecided, events, or lines of JSON with what is not read yet.
    lines: Option<Vec<u8>>,
    events: bool,
    answer: Answer,
    done: bool,
}

impl Default for TextStream {
    fn default() -> Self {
        Self {
            sse: Sse::new(true),
            lines: Some(Vec::new()),
            events: false,
            answer: Answer::default(),
            done: false,
        }
    }
}

impl TextStream {
    /// Takes bytes as they come; boundaries may be anywhere.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        if self.done {
            return events;
        }
        if let Some(lines) = &mut self.lines {
            if lines.len() < MOST {
                lines.extend_from_slice(bytes);
            }
            let first = lines.iter().find(|b| !b.is_ascii_whitespace()).copied();
            if matches!(first, None | Some(b'{' | b'[')) {
                self.take_lines(&mut events);
                return events;
            }
            let held = self.lines.take().unwrap_or_default();
            self.events = true;
            for event in self.sse.feed(&held) {
                self.data(&event.data, &mut events);
            }
            return events;
        }
        for event in self.sse.feed(bytes) {
            self.data(&event.data, &mut events);
        }
        events
    }

    /// Whole lines; one that is no JSON by itself waits for the next.
    fn take_lines(&mut self, events: &mut Vec<Event>) {
        let Some(held) = self.lines.take() else { return };
        let mut start = 0;
        for (at, _) in held.iter().enumerate().filter(|(_, b)| **b == b'\n') {
            let line = held.get(start..at).unwrap_or(&[]);
            if let Ok((value, _)) = js::parse(&String::from_utf8_lossy(line)) {
                self.value(&value, events);
                start = at + 1;
            }
        }
        self.lines = Some(held.get(start..).unwrap_or(&[]).to_vec());
    }

    /// The connection is over.
    pub fn end(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.done {
            return events;
        }
        if let Some(held) = self.lines.take() {
            let text = String::from_utf8_lossy(&held).into_owned();
            if !js::trim(&text).is_empty() {
                self.data(&text, &mut events);
            }
        }
        for event in self.sse.end() {
            self.data(&event.data, &mut events);
        }
        self.close(&mut events);
        events
    }

    /// The answer so far.
    pub const fn answer(&self) -> &Answer {
        &self.answer
    }

    fn data(&mut self, data: &str, events: &mut Vec<Event>) {
        if js::trim(data) == "[DONE]" {
            self.close(events);
            return;
        }
        if let Ok((value, _)) = js::parse(data) {
            self.value(&value, events);
        }
    }

    fn value(&mut self, value: &Value, events: &mut Vec<Event>) {
        if self.done {
            return;
        }
        if let Some(error) = failure(value) {
            events.push(Event::Error { error: Box::new(error) });
            self.answer.finish = Some(Finish::Error);
            self.close(events);
            return;
        }
        // A whole answer may come where a stream was asked for.
        let whole = value.pointer("/choices/0/message").is_some() || value.get("results").is_some();
        let places: &[&str] = if whole { &TEXTS } else { &PIECES };
        if let Some(text) = text_at(value, places).filter(|t| !t.is_empty()) {
            let text = text.to_owned();
            match index(value).checked_sub(1) {
                None => {
                    self.answer.text.push_str(&text);
                    events.push(Event::Text { text });
                }
                // A model does not give a hundred answers.
                Some(other) if other < 100 => {
                    if self.answer.alternatives.len() <= other {
                        self.answer.alternatives.resize(other + 1, String::new());
                    }
                    if let Some(slot) = self.answer.alternatives.get_mut(other) {
                        slot.push_str(&text);
                    }
                    events.push(Event::Alternative { index: other, text });
                }
                Some(_) => {}
            }
        }
        if let Some(text) = text_at(value, &REASONING).filter(|t| !t.is_empty()) {
            self.answer.reasoning.push_str(text);
            events.push(Event::Reasoning { text: text.to_owned() });
        }
        if let Some(reason) = finish(value) {
            self.answer.finish = Some(reason);
            events.push(Event::Finish { finish: reason });
        }
        let mut usage = self.answer.usage;
        if Usage::read(&mut usage, value) {
            self.answer.usage = usage;
            events.push(Event::Usage { usage });
        }
    }

    fn close(&mut self, events: &mut Vec<Event>) {
        if !self.done {
            self.done = true;
            events.push(Event::Done);
        }
    }
}

/// What a backend answers to [`super::token_count_request`].
pub fn read_token_count(value: &Value) -> Option<u64> {
    let number = ["length", "count", "value"].iter().find_map(|key| value.get(*key)?.as_u64());
    number.or_else(|| value.get("tokens")?.as_array().and_then(|l| u64::try_from(l.len()).ok()))
}
