//! How a room goes: what happens outside -> who speaks, when it ends, and why (spec 09 Part 2).
//!
//! A [`Coordinator`] is told what happened ([`Coordinator::tell`]) and asked for what to do, one [`Move`] at a time, until it has none
//! ([`Coordinator::next`]). Between two moves its owner stores what it was told to store, so that the next one sees it. It never
//! builds a request, cleans a text or touches a chat.
//!
//! Reading order: `config`, `moves`, `mod` (state and inputs), `start`, `order` (whom a round plans), `turn`, `after`, `close`.

mod after;
mod close;
mod config;
mod ground;
mod moves;
mod order;
mod start;
mod turn;

use std::collections::VecDeque;

pub use config::{
    Auto, Blurbs, ContinueOn, CrossTalk, Directed, Director, DirectorFallback, Guard, Handoff, IdleBy,
    MentionOrder, Mode, Narrator, OnBusy, OnMention, OnUserMessage, RoundConfig, SilencePolicy, Who,
};
pub use ground::Ground;
pub use moves::{Ask, Begin, Cause, Command, Commit, Context, Event, Move, Purpose, Refusal, Reply, Tell};

use super::narrator::Trigger;
use crate::error::Error;
use crate::host::Draw;
use turn::Turn;

/// A room's rounds.
#[derive(Clone, Debug, Default)]
pub struct Coordinator {
    config: RoundConfig,
    phase: Phase,
    starts: u32,
    run: Run,
    round: Round,
    /// What is to be done before the next phase.
    moves: VecDeque<Move>,
    /// Messages of the user that came while the room was busy.
    pending: Vec<String>,
    /// A start that waits.
    queued: Option<Begin>,
    /// It begins although the running one is aborted.
    replacing: bool,
    /// Auto mode, and how many rounds of it are left.
    auto: bool,
    auto_turns: u32,
    /// No turn begins.
    paused: bool,
    /// Occasions for the narrator.
    triggers: Vec<Trigger>,
    /// Rounds with a reply since the last narration.
    since_narration: u32,
    /// Whom the director chose last.
    last_plan: Vec<String>,
    /// Who spoke last, with whom the word goes to and fro, and how often it has.
    last_spoke: Option<String>,
    partner: Option<String>,
    exchanges: u32,
}

/// Where the room stands.
#[derive(Clone, Debug, Default, PartialEq)]
enum Phase {
    /// Nothing has begun, or everything is over.
    #[default]
    Idle,
    /// A round is to be planned.
    Open,
    /// The director is asked.
    Directing { request: String, candidates: Vec<String> },
    /// The next turn is to begin.
    Next,
    /// The pause before a turn.
    Pausing { wait: String },
    /// A member is asked.
    Generating,
    /// A turn is over.
    After(Box<after::Outcome>),
    /// The plan is done: cross-talk, if any.
    Wrap,
    /// The narrator, if it is due.
    Narrate,
    /// The narrator is asked.
    Narrating { request: String },
    /// The round is over.
    Stats,
    /// The start is over.
    Finish(&'static str),
    /// The time between two rounds of auto mode.
    AutoWaiting { wait: String, done: (&'static str, u32, u32) },
}

/// One start.
#[derive(Clone, Debug, Default)]
struct Run {
    /// What the user wrote, if anything.
    text: Option<String>,
    /// Whom the user addressed, in order.
    addressed: Vec<String>,
    /// Whom the user named without `@`.
    named: Vec<String>,
    max_messages: u32,
    round: u32,
    count: u32,
    /// Idle rounds in a row.
    idle: u32,
    /// Who leads the next round, and who named it.
    deferred: Option<(String, String)>,
    /// The pause before the next turn is over. The first turn needs none.
    rested: bool,
    aborted: bool,
}

/// What a turn of the queue is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// The plan of the round.
    #[default]
    Plan,
    /// The pass of cross-talk.
    Cross,
    /// The host's last word.
    Closing,
}

/// One round.
#[derive(Clone, Debug, Default)]
struct Round {
    stage: Stage,
    /// It was announced.
    started: bool,
    began: Option<i64>,
    target: Option<String>,
    /// Whom it planned at first, and the random numbers that took.
    planned: Vec<String>,
    draws: Vec<Draw>,
    queue: VecDeque<Slot>,
    turn: u32,
    attempted: Vec<String>,
    spoke: Vec<String>,
    skipped: Vec<String>,
    failed: Vec<String>,
    unreached: Vec<String>,
    /// Replies of the plan: who and what.
    replies: Vec<(String, String)>,
    /// Somebody named another member.
    nominated: bool,
    current: Option<Turn>,
}

/// A turn to come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    id: String,
    reason: Cause,
    by: Option<String>,
}

impl Slot {
    fn new(id: &str, reason: Cause) -> Self {
        Self { id: id.to_owned(), reason, by: None }
    }

    fn by(id: &str, reason: Cause, by: &str) -> Self {
        Self { id: id.to_owned(), reason, by: Some(by.to_owned()) }
    }
}

impl Coordinator {
    /// A room that goes by a configuration.
    pub fn new(config: RoundConfig) -> Self {
        let auto = config.auto.enabled;
        Self { config, auto, ..Self::default() }
    }

    /// The configuration.
    pub const fn config(&self) -> &RoundConfig {
        &self.config
    }

    /// Another configuration; what has begun goes on by it from the next step.
    pub fn configure(&mut self, config: RoundConfig) {
        self.auto = config.auto.enabled;
        self.config = config;
    }

    /// Somebody comes or leaves. True when that changes anything.
    pub fn set_present(&mut self, id: &str, present: bool) -> bool {
        let absent = &mut self.config.absent;
        let was = !absent.iter().any(|a| a == id);
        if present {
            absent.retain(|a| a != id);
        } else if was {
            absent.push(id.to_owned());
        }
        was != present
    }

    /// An occasion for the narrator at the end of the round.
    pub fn trigger(&mut self, trigger: Trigger) {
        if !self.triggers.contains(&trigger) {
            self.triggers.push(trigger);
        }
    }

    /// Whether something is under way.
    pub fn is_busy(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Nothing of what waits begins any more: the next input can only be an abort.
    pub fn give_up(&mut self) {
        self.queued = None;
        self.pending.clear();
        self.replacing = false;
        self.auto = false;
    }

    /// Whether it only waits for the next round of auto mode.
    pub const fn rests(&self) -> bool {
        matches!(self.phase, Phase::AutoWaiting { .. })
    }

    /// Who waits for a turn in this round, in order.
    pub fn waiting(&self) -> Vec<String> {
        self.round.queue.iter().map(|slot| slot.id.clone()).collect()
    }

    /// The same with why each has a turn and who made it so.
    pub fn plan(&self) -> Vec<(String, Cause, Option<String>)> {
        self.round.queue.iter().map(|slot| (slot.id.clone(), slot.reason, slot.by.clone())).collect()
    }

    /// The random numbers that the plan of this round took.
    pub fn draws(&self) -> &[Draw] {
        &self.round.draws
    }

    /// The request or wait that is outstanding.
    pub fn outstanding(&self) -> Option<&str> {
        match &self.phase {
            Phase::Directing { request, .. } | Phase::Narrating { request } => Some(request),
            Phase::Generating => self.round.current.as_ref().map(|t| t.id.as_str()),
            Phase::Pausing { wait } | Phase::AutoWaiting { wait, .. } => Some(wait),
            _ => None,
        }
    }

    /// What to do next; `None`: wait for an input.
    pub fn next(&mut self, ground: &mut Ground<'_>) -> Result<Option<Move>, Error> {
        loop {
            if let Some(next) = self.moves.pop_front() {
                return Ok(Some(next));
            }
            if !self.advance(ground)? {
                return Ok(None);
            }
        }
    }

    /// One phase further; false when an input must come first.
    fn advance(&mut self, ground: &mut Ground<'_>) -> Result<bool, Error> {
        match std::mem::take(&mut self.phase) {
            Phase::Open => self.open_round(ground)?,
            Phase::Next => return Ok(self.next_turn(ground)),
            Phase::After(outcome) => self.after_turn(*outcome, ground),
            Phase::Wrap => self.wrap(ground),
            Phase::Narrate => self.narrate(),
            Phase::Stats => self.stats(ground),
            Phase::Finish(reason) => self.finish(reason, ground),
            waits => {
                self.phase = waits;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tells what happened. Refused inputs change nothing.
    pub fn tell(&mut self, input: Tell, ground: &mut Ground<'_>) -> Result<(), Refusal> {
        match input {
            Tell::Start(begin) => return self.start(begin, ground),
            Tell::Typing => self.typing(),
            Tell::UserMessage(text) => return self.user_message(text, ground),
            Tell::Abort { partial } => {
                if !self.is_busy() {
                    return Err(Refusal::UnexpectedInput);
                }
                self.abort(partial);
            }
            Tell::Command(command) => return self.command(command, ground),
            Tell::Reply { request, reply } => {
                if self.answers(&request) {
                    self.reply(reply, ground);
                }
            }
            Tell::Fail { request, code } => {
                if self.answers(&request) {
                    self.fail(code, ground);
                }
            }
            Tell::Elapsed { wait } => {
                let expected = self.outstanding() == Some(wait.as_str());
                match std::mem::take(&mut self.phase) {
                    Phase::Pausing { .. } if expected => {
                        self.insert_pending(ground);
                        self.run.rested = true;
                        self.phase = Phase::Next;
                    }
                    Phase::AutoWaiting { .. } if expected => {
                        self.auto_turns += 1;
                        self.begin(&Begin::default(), ground);
                    }
                    other => {
                        self.phase = other;
                        self.moves.push_back(Move::Ignored { request: wait });
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether an answer is to the outstanding request; otherwise it is reported as late.
    fn answers(&mut self, request: &str) -> bool {
        let asks =
            matches!(self.phase, Phase::Directing { .. } | Phase::Generating | Phase::Narrating { .. });
        let fits = asks && self.outstanding() == Some(request);
        if !fits {
            self.moves.push_back(Move::Ignored { request: request.to_owned() });
        }
        fits
    }

    fn emit(&mut self, event: Event) {
        self.moves.push_back(Move::Emit(event));
    }

    fn participants(&self, ground: &Ground<'_>) -> Vec<String> {
        ground.participants(&self.config.absent)
    }
}
