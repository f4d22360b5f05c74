//! The reference's rolling summary: when it is due, the raw request, where summaries are kept, what is injected (spec 10 §2-§5).
//!
//! Summaries live in the messages' `extra.memory`; here they are a list beside the texts.

use crate::js;
use crate::memory::exact::Line;
use crate::memory::words::ascii_words;

/// A chat with the summaries that its messages carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Messages, oldest first.
    pub lines: Vec<Line>,
    /// `extra.memory` of each message; empty for none. As long as `lines`.
    pub memory: Vec<String>,
}

impl Told {
    fn memory_at(&self, at: usize) -> &str {
        self.memory.get(at).map_or("", String::as_str)
    }

    /// Where the summary in force stands: the last message's own does not count.
    fn in_force(&self) -> Option<usize> {
        (0..self.lines.len().saturating_sub(1)).rev().find(|at| !self.memory_at(*at).is_empty())
    }

    /// The summary in force; empty for none.
    pub fn latest(&self) -> &str {
        self.in_force().map_or("", |at| self.memory_at(at))
    }

    fn put(&mut self, at: usize, text: &str) {
        self.memory.resize(self.lines.len(), String::new());
        if let Some(slot) = self.memory.get_mut(at) {
            text.clone_into(slot);
        }
    }

    /// Keeps a summary that the classic builder made, or that was written by hand: at the last message but one.
    pub fn store(&mut self, text: &str) {
        self.put(self.lines.len().saturating_sub(2), text);
    }

    /// Keeps a summary that a raw builder made, at the last message that went in.
    pub fn store_at(&mut self, at: usize, text: &str) {
        self.put(at, text);
    }

    /// Takes the summary in force away; the one before comes back.
    pub fn restore_previous(&mut self) {
        if let Some(at) = self.in_force() {
            self.put(at, "");
        }
    }

    /// Cuts the chat off.
    pub fn truncate(&mut self, length: usize) {
        self.lines.truncate(length);
        self.memory.truncate(length);
    }

    /// The last message was swiped or edited: its own summary goes.
    pub fn last_changed(&mut self) {
        if let Some(last) = self.lines.len().checked_sub(1) {
            self.put(last, "");
        }
    }

    /// Whether a summary is due.
    pub fn due(&self, rules: &DueRules) -> bool {
        let length = self.lines.len();
        if rules.frozen || rules.interval == 0 || length < rules.interval || rules.prompt_empty {
            return false;
        }
        let since: Vec<usize> = (0..length).rev().take_while(|at| self.memory_at(*at).is_empty()).collect();
        let words: usize =
            since.iter().filter_map(|at| self.lines.get(*at)).map(|l| ascii_words(&l.text)).sum();
        since.len() >= rules.interval || (rules.force_words > 0 && words >= rules.force_words)
    }

    /// The raw request: the summary in force, then what came after it, but for the last message; the position of the last
    /// message that went in.
    pub fn raw_prompt(&self, rules: &RawRules<'_>) -> (String, Option<usize>) {
        let from = self.in_force();
        let mut blocks: Vec<String> = from.iter().map(|at| self.memory_at(*at).to_owned()).collect();
        let mut length: i64 = blocks.iter().map(|b| (rules.count)(b)).sum();
        let (mut taken, mut last) = (0, None);
        for at in from.map_or(0, |at| at + 1)..self.lines.len().saturating_sub(1) {
            let Some(line) = self.lines.get(at).filter(|l| !l.hidden && !l.text.is_empty()) else { continue };
            let block = format!("{}:\n{}", line.name, line.text);
            let between = if blocks.is_empty() { 0 } else { (rules.count)("\n\n") };
            length += between + (rules.count)(&block);
            if (rules.count)(rules.prompt) + length + RESERVE > rules.room {
                break;
            }
            blocks.push(block);
            taken += 1;
            last = Some(at);
            if rules.max_messages > 0 && taken >= rules.max_messages {
                break;
            }
        }
        (blocks.join("\n\n"), last)
    }
}

/// Tokens that the raw builder keeps free.
const RESERVE: i64 = 64;

/// When a summary is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueRules {
    /// Messages; 0 is never.
    pub interval: usize,
    /// ASCII words; 0 is off.
    pub force_words: usize,
    /// Automatic summaries are stopped.
    pub frozen: bool,
    /// The prompt is empty after expansion.
    pub prompt_empty: bool,
}

impl Default for DueRules {
    fn default() -> Self {
        Self { interval: 10, force_words: 0, frozen: false, prompt_empty: false }
    }
}

/// What the raw builder goes by.
pub struct RawRules<'a> {
    /// The system prompt, expanded.
    pub prompt: &'a str,
    /// Messages of one request at most; 0 for no limit.
    pub max_messages: usize,
    /// Context size less response length.
    pub room: i64,
    /// Tokens of a text.
    pub count: &'a dyn Fn(&str) -> i64,
}

/// What the reference asks for unless the user changed it.
pub const SUMMARY_PROMPT: &str = "Ignore previous instructions. Summarize the most important facts and events in the story so far. If a summary already exists in your memory, use that as a base and expand with new facts. Limit the summary to {{words}} words or less. Your response should include nothing but the summary.";

/// The template of the injected summary.
pub const SUMMARY_TEMPLATE: &str = "[Summary: {{summary}}]";

/// The text that is injected for a summary; empty for none.
pub fn summary_text(template: &str, value: &str) -> String {
    let value = js::trim(value);
    if value.is_empty() {
        return String::new();
    }
    if template.is_empty() {
        return format!("Summary: {value}");
    }
    template.replace("{{summary}}", value)
}
