//! When a narrator speaks, what it is asked, and how its text is cleaned (spec 09 §6, §23).

use serde::{Deserialize, Serialize};

use super::context::Heard;
use super::director::Brief;
use crate::js;
use crate::speakers::Node;

/// Seconds without a narration after which `silence` is due.
pub const SILENCE: f64 = 300.0;
/// Calls of `interval` that make one narration.
pub const INTERVAL: u32 = 3;

/// What may make a narrator speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The place changed.
    SceneChange,
    /// Somebody came or left.
    CharacterJoin,
    /// The plot came to a node.
    PlotNode,
    /// The host asked.
    Manual,
    /// Enough rounds went by.
    Interval,
    /// Enough time went by.
    Silence,
}

impl Trigger {
    /// The stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SceneChange => "scene_change",
            Self::CharacterJoin => "character_join",
            Self::PlotNode => "plot_node",
            Self::Manual => "manual",
            Self::Interval => "interval",
            Self::Silence => "silence",
        }
    }

    /// By its word.
    pub fn named(word: &str) -> Option<Self> {
        [Self::SceneChange, Self::CharacterJoin, Self::PlotNode, Self::Manual, Self::Interval, Self::Silence]
            .into_iter()
            .find(|t| t.as_str() == word)
    }
}

/// When the narrator spoke, and what has happened since.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// Calls of `interval` since.
    pub count: u32,
    /// When, in seconds.
    pub narrated_at: f64,
}

impl Timing {
    /// NekoBot's test: events are due at once and leave the counter alone.
    pub fn due(&mut self, trigger: Trigger, interval: u32, now: f64) -> bool {
        match trigger {
            Trigger::Interval => {
                self.count += 1;
                let due = self.count >= interval;
                if due {
                    self.count = 0;
                }
                due
            }
            Trigger::Silence => now - self.narrated_at > SILENCE,
            _ => true,
        }
    }
}

/// NekoBot's test of a turn: a node that turns the plot, every fifth turn, or words of leaving and arriving.
pub fn world_due(message: &str, turn: u64, node: Option<&Node>) -> bool {
    node.is_some_and(Node::turns) || (turn > 0 && turn.is_multiple_of(5)) || moves(message)
}

/// `换个地方|去.*吧|离开|到达|来到|我们走`
fn moves(message: &str) -> bool {
    let going =
        |line: &str| line.find('去').is_some_and(|at| line.get(at..).is_some_and(|s| s.contains('吧')));
    ["换个地方", "离开", "到达", "来到", "我们走"].iter().any(|w| message.contains(w))
        || message.split('\n').any(going)
}

/// Labels in front of a narration, in the order in which NekoBot takes each off once.
const LABELS: [&str; 5] = ["[旁白]", "旁白：", "旁白:", "Narrator:", "narrator:"];

/// A narration without its label. `all`: until none is left, `【旁白】` too.
pub fn clean(text: &str, all: bool) -> String {
    let mut text = js::trim(text);
    loop {
        let before = text.len();
        for label in LABELS.iter().chain(all.then_some(&"【旁白】")) {
            if let Some(rest) = text.strip_prefix(label) {
                text = js::trim(rest);
            }
        }
        if !all || text.len() == before {
            return text.to_owned();
        }
    }
}

/// Place, members and mood in one line.
pub fn scene_line(location: &str, names: &[&str], atmosphere: &str) -> String {
    let parts: Vec<String> = [("地点", location), ("在场角色", &names.join(", ")), ("氛围", atmosphere)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(label, text)| format!("{label}: {text}"))
        .collect();
    if parts.is_empty() { "未知场景".to_owned() } else { parts.join(" | ") }
}

/// The last five messages in short: role (or name) and text.
pub fn summary(messages: &[Heard]) -> String {
    let newest = messages.get(messages.len().saturating_sub(5)..).unwrap_or_default();
    if newest.is_empty() {
        return "暂无对话".to_owned();
    }
    let lines: Vec<String> = newest.iter().map(|m| format!("{}: {}", m.name, short(&m.text, 80))).collect();
    short(&lines.join("\n"), 300)
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// The messages of a narration's request.
pub fn prompt(
    trigger: Trigger,
    scene: &str,
    members: &[Brief],
    recent: &[Heard],
) -> [(&'static str, String); 2] {
    let why = match trigger {
        Trigger::SceneChange => "the scene changes",
        Trigger::CharacterJoin => "somebody comes or leaves",
        Trigger::PlotNode => "the plot reaches a turning point",
        Trigger::Manual => "the user asks for a narration",
        Trigger::Interval => "some time has passed in the conversation",
        Trigger::Silence => "nothing has been said for a while",
    };
    let system = "You narrate a group scene in the third person, in two to four sentences. Describe only: never write dialogue or \
                  decide for a character. Stay neutral and do not repeat what was said. Answer in the language of the conversation, \
                  with the narration only.";
    let names: Vec<&str> = members.iter().map(|m| m.name.as_str()).collect();
    let place = if scene.is_empty() { String::new() } else { format!("Scene: {scene}\n") };
    let user = format!(
        "{place}Present: {}\nOccasion: {why}\nRecently:\n{}",
        names.join(", "),
        if recent.is_empty() { String::new() } else { summary(recent) }
    );
    [("system", system.to_owned()), ("user", user)]
}
