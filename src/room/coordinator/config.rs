//! How a room goes: its configuration, with the presets of spec 09 §12.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Code, Error};
use crate::profile::{Profile, ROOM_CALLS, ROOM_ROUNDS};
use crate::room::control::Control;
use crate::room::layout::Layout;
use crate::room::presence::PresenceOptions;
use crate::room::repeat::RepeatOptions;
use crate::room::validate::Rules;
use crate::speakers::{Match, Node, Relation};

/// How many rounds a start has, and who begins them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// One round, everybody at most once.
    #[default]
    SingleRound,
    /// Several rounds, until a limit ends them.
    FreeChat,
    /// The host first, and perhaps last.
    HostMode,
}

impl Mode {
    /// The stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SingleRound => "single_round",
            Self::FreeChat => "free_chat",
            Self::HostMode => "host_mode",
        }
    }
}

/// Which participants a round plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// Everybody, the addressed first.
    #[default]
    All,
    /// The reference's natural order.
    Natural,
    /// The reference's list order.
    List,
    /// The reference's pooled order.
    Pooled,
    /// The reference's manual order.
    Manual,
    /// One: the one after the last speaker.
    RoundRobin,
    /// One: who is mentioned.
    Mention,
    /// One, drawn.
    Random,
    /// One: by mentions and relations.
    Relevance,
    /// One: the narrator, if it is a member.
    NarratorDriven,
    /// One: by calls, plot, names, relations.
    WorldEngine,
    /// The best of a score.
    Formula,
    /// A model picks.
    Director,
}

/// What it means that the user addresses members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Directed {
    /// They speak first.
    #[default]
    First,
    /// Nobody else speaks.
    Only,
    /// Nothing: the strategy decides alone.
    Off,
}

/// Which mentions move a member to the front.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MentionOrder {
    /// Those with `@`.
    #[default]
    At,
    /// All; plain ones do not oblige to answer.
    Any,
}

/// Which rounds count as idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum IdleBy {
    /// Those without a stored reply.
    #[default]
    Messages,
    /// Those in which nobody named another member.
    Nominations,
}

/// When another round follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ContinueOn {
    /// As long as no limit is reached.
    #[default]
    Always,
    /// Only when somebody was named for it.
    Nomination,
}

/// Whether a member that is spoken to may stay silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SilencePolicy {
    /// It is asked once more.
    #[default]
    MustReplyIfMentioned,
    /// It may.
    AllowSkip,
}

/// What happens when a reply was cut where another member's line began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Handoff {
    /// Nothing.
    #[default]
    Off,
    /// That member speaks next.
    Next,
}

/// What a start does while the room is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OnBusy {
    /// It is refused.
    #[default]
    Refuse,
    /// It waits; the latest one counts.
    Queue,
    /// It ends what is running.
    Replace,
}

/// What a message of the user does while the room is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OnUserMessage {
    /// It comes before the next speaker.
    #[default]
    Insert,
    /// It starts anew when the room is done.
    After,
    /// It ends what is running and starts anew.
    Cancel,
}

/// Members that replies call speak after the round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct CrossTalk {
    /// Default false.
    pub enabled: bool,
    /// How many at most (default 5).
    pub max: usize,
    /// How `@` is read.
    pub r#match: Match,
    /// Words such as `@all` call everybody (default true).
    pub everyone: bool,
}

impl Default for CrossTalk {
    fn default() -> Self {
        Self { enabled: false, max: 5, r#match: Match::Smart, everyone: true }
    }
}

/// Rounds that begin by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Auto {
    /// Default false.
    pub enabled: bool,
    /// Milliseconds between two (default 5000).
    #[cfg_attr(test, ts(type = "number"))]
    pub delay_ms: u64,
    /// How many in a row; absent: no limit.
    pub max_turns: Option<u32>,
}

impl Default for Auto {
    fn default() -> Self {
        Self { enabled: false, delay_ms: 5000, max_turns: None }
    }
}

/// What a mention does to a director.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OnMention {
    /// It is not asked: the addressed speak.
    #[default]
    Skip,
    /// It is asked, and its choice follows the addressed.
    Add,
}

/// Who speaks when a director's answer is of no use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DirectorFallback {
    /// Natural order decides.
    #[default]
    Natural,
    /// All candidates, in list order.
    List,
    /// Whom it chose last time.
    LastPlan,
    /// Nobody.
    Nobody,
}

/// A model that picks the speakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Director {
    /// How many at most (default 3).
    pub max: usize,
    /// How many messages it is shown (default 10).
    pub depth: usize,
    /// Code points of a member's description (default 200).
    pub brief_chars: usize,
    /// Code points of a message (default 400).
    pub line_chars: usize,
    /// What a mention does.
    pub on_mention: OnMention,
    /// Who speaks otherwise.
    pub fallback: DirectorFallback,
    /// It is shown what not all candidates heard (default true).
    pub omniscient: bool,
    /// Milliseconds after which its call counts as failed (default 30000).
    #[cfg_attr(test, ts(type = "number"))]
    pub timeout_ms: u64,
}

impl Default for Director {
    fn default() -> Self {
        Self {
            max: 3,
            depth: 10,
            brief_chars: 200,
            line_chars: 400,
            on_mention: OnMention::Skip,
            fallback: DirectorFallback::Natural,
            omniscient: true,
            timeout_ms: 30_000,
        }
    }
}

/// A voice that tells what happens. It is no member: its messages count for no limit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Narrator {
    /// Id of its messages.
    pub id: String,
    /// Name of its messages.
    pub name: String,
    /// Rounds with a reply after which it speaks (default 3); 0: only when the host asks.
    pub interval: u32,
    /// Default true.
    pub enabled: bool,
}

impl Default for Narrator {
    fn default() -> Self {
        Self { id: "narrator".into(), name: "Narrator".into(), interval: 3, enabled: true }
    }
}

/// One line about each member.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Blurbs {
    /// Lines by avatar; a member without one is told of by the beginning of its description.
    #[cfg_attr(test, ts(type = "Record<string, string>"))]
    pub texts: IndexMap<String, String>,
    /// Code points of a line (default 120).
    pub chars: usize,
}

impl Default for Blurbs {
    fn default() -> Self {
        Self { texts: IndexMap::new(), chars: 120 }
    }
}

/// Whether the guard against repeats is on, or how it measures.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Guard {
    /// On or off.
    Is(bool),
    /// On, with options.
    With(RepeatOptions),
}

/// Everything that decides how a room goes. All is optional.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices of the host, each with a default")]
pub struct RoundConfig {
    /// Values that the others lie over: `single_round`, `free_chat`, `host_mode`, `nekobot`, `sillytavern`.
    pub preset: Option<String>,
    /// How many rounds, and who begins.
    pub mode: Mode,
    /// Whom a round plans.
    pub who: Who,
    /// For `pooled`: everybody once, in drawn order (default false).
    pub all: bool,
    /// For `formula`: how many speak (default 1).
    pub top: usize,
    /// What addressing does.
    pub directed: Directed,
    /// What counts as addressing.
    pub mention_order: MentionOrder,
    /// For `host_mode`: member id; absent: the first participant.
    pub host: Option<String>,
    /// For `host_mode`: the host has the last word (default false).
    pub host_closing: bool,
    /// Rounds of one start (default 1; `free_chat` 2).
    pub max_rounds: Option<u32>,
    /// Stored replies of one start (default: as many as participants; `free_chat` twice that).
    pub max_messages: Option<u32>,
    /// Idle rounds in a row that end the room (default 2; 0: none do).
    pub idle_limit: u32,
    /// Which rounds are idle.
    pub idle_by: IdleBy,
    /// When another round follows.
    pub continue_on: ContinueOn,
    /// Every round begins with the next participant (default false).
    pub rotate: bool,
    /// Whether who is spoken to may stay silent.
    pub silence: SilencePolicy,
    /// How replies carry skips and nominations.
    pub control: Control,
    /// Members that replies call.
    pub cross_talk: CrossTalk,
    /// What a cut line of another member does.
    pub handoff: Handoff,
    /// Replies that say the same again are asked for anew, then dropped (default true).
    pub repeat_guard: Guard,
    /// Rules for replies; absent: only empty ones are rejected.
    pub validation: Option<Rules>,
    /// Requests of one turn at most (default 4).
    pub max_attempts: u32,
    /// Milliseconds between two turns (default 200).
    #[cfg_attr(test, ts(type = "number"))]
    pub pause_ms: u64,
    /// A start while the room is busy.
    pub on_busy: OnBusy,
    /// A message of the user while the room is busy.
    pub on_user_message: OnUserMessage,
    /// Rounds that begin by themselves.
    pub auto: Auto,
    /// A model that picks the speakers.
    pub director: Director,
    /// A narrator; absent: none.
    pub narrator: Option<Narrator>,
    /// Milliseconds after which a call counts as failed; told to the driver with each request.
    #[cfg_attr(test, ts(type = "number"))]
    pub timeout_ms: Option<u64>,
    /// Who hears what.
    pub presence: PresenceOptions,
    /// Members that are not there.
    pub absent: Vec<String>,
    /// Members that speak only when they are spoken to.
    pub only_when_mentioned: Vec<String>,
    /// Speakers are told of the room: who is there, who was addressed, what was wrong with their last attempt (default true).
    pub group_context: bool,
    /// Where the speaker's card stands. `tail` needs the switch `room.rounds`.
    pub layout: Layout,
    /// For `tail`: the speaker's texts are one message (default true).
    pub tail_join: bool,
    /// For `tail`: what share of its room the history takes when it begins anew (default 0.75).
    pub low_water: f64,
    /// Speakers are told who the others are, in a line each; absent: by name only.
    pub blurbs: Option<Blurbs>,
    /// For the host: which model or preset answers for a member, by avatar; told with its requests.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    #[cfg_attr(test, ts(as = "Option<std::collections::BTreeMap<String, String>>"))]
    pub connections: IndexMap<String, String>,
    /// How often in a row the word may go to and fro between the same two members; absent: without limit.
    pub max_consecutive_pair: Option<u32>,
    /// For the group context: what is talked about.
    pub topic: String,
    /// For the group context: where.
    pub scene: String,
    /// For `relevance` and `world_engine`: how members stand.
    pub relations: Vec<Relation>,
    /// For `world_engine`: the active node of the plot.
    pub plot: Option<Node>,
}

impl Default for RoundConfig {
    fn default() -> Self {
        Self {
            preset: None,
            mode: Mode::SingleRound,
            who: Who::All,
            all: false,
            top: 1,
            directed: Directed::First,
            mention_order: MentionOrder::At,
            host: None,
            host_closing: false,
            max_rounds: None,
            max_messages: None,
            idle_limit: 2,
            idle_by: IdleBy::Messages,
            continue_on: ContinueOn::Always,
            rotate: false,
            silence: SilencePolicy::MustReplyIfMentioned,
            control: Control::None,
            cross_talk: CrossTalk::default(),
            handoff: Handoff::Off,
            repeat_guard: Guard::Is(true),
            validation: None,
            max_attempts: 4,
            pause_ms: 200,
            on_busy: OnBusy::Refuse,
            on_user_message: OnUserMessage::Insert,
            auto: Auto::default(),
            director: Director::default(),
            narrator: None,
            timeout_ms: None,
            presence: PresenceOptions::default(),
            absent: Vec::new(),
            only_when_mentioned: Vec::new(),
            group_context: true,
            layout: Layout::Classic,
            tail_join: true,
            low_water: 0.75,
            blurbs: None,
            connections: IndexMap::new(),
            max_consecutive_pair: None,
            topic: String::new(),
            scene: String::new(),
            relations: Vec::new(),
            plot: None,
        }
    }
}

impl RoundConfig {
    /// Reads `{preset, …}`: the keys given lie over those of the preset. `who` names the group's own strategy. What nothing is said of
    /// goes by the profile.
    pub fn from_value(value: &Value, who: &str, profile: &Profile) -> Result<Self, Error> {
        let wrong = |path: &str, why: String| Error::new(Code::OptionUnknown, path.to_owned(), why);
        let Some(given) = value.as_object() else {
            return Err(wrong("", "the configuration of a round must be an object".to_owned()));
        };
        let rooms_own = profile.on(&ROOM_ROUNDS);
        let preset = given.get("preset").and_then(Value::as_str);
        let mut all = match preset.or((!rooms_own).then_some("sillytavern")) {
            None => json!({}),
            Some("single_round") => json!({"mode": "single_round"}),
            Some("free_chat") => json!({"mode": "free_chat"}),
            Some("host_mode") => json!({"mode": "host_mode"}),
            Some("nekobot") => json!({
                "who": "mention",
                "crossTalk": {"enabled": true, "match": "strict", "max": 5},
                "narrator": {"interval": 3},
                "repeatGuard": false,
                "silence": "allow_skip",
                "pauseMs": 0,
            }),
            Some("sillytavern") => json!({
                "who": who,
                "repeatGuard": false,
                "directed": "off",
                "pauseMs": 0,
                "onUserMessage": "insert",
                "groupContext": false,
            }),
            Some(other) => {
                return Err(wrong(
                    "preset",
                    format!(
                        "no preset is called {other:?}: use single_round, free_chat, host_mode, nekobot or sillytavern"
                    ),
                ));
            }
        };
        if let Some(all) = all.as_object_mut() {
            all.extend(given.clone());
        }
        // By reference, as everywhere: two ways to read a type are two copies of its reader in the package.
        let mut config = Self::deserialize(&all).map_err(|e| wrong("", e.to_string()))?;
        if !profile.on(&ROOM_CALLS) && all.pointer("/crossTalk/match").is_none() {
            config.cross_talk.r#match = Match::Strict;
        }
        if config.layout == Layout::Tail && !rooms_own {
            return Err(wrong("layout", "tail needs the switch room.rounds".to_owned()));
        }
        if config.max_attempts == 0 {
            return Err(wrong("maxAttempts", "a turn has at least one attempt".to_owned()));
        }
        Ok(config)
    }
}
