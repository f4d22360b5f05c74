//! Who speaks: a scene, what the user did, and dice -> a [`Plan`] (spec 01 §§3-5, P4). Made once a turn, before its first request.
//!
//! In profile `sillytavern` the same draws give the same speakers as the reference. Knows nothing of prompts and requests; what a room
//! does with them over several turns is decided there; `calls`, `pick`, `world` and `formula` are the strategies that only rooms use.

mod calls;
mod formula;
mod last;
mod lists;
mod lookup;
mod natural;
mod pick;
mod plan;
mod relations;
mod strategies;
mod talk;
mod view;
mod words;
mod world;

pub use calls::{Called, Caller, Match, Said};
pub use formula::{Candidate, Line, Options as FormulaOptions, Score, formula};
pub use lists::{Lists, lists};
pub use lookup::lookup;
pub use pick::{Asked, Choice, choose, responds};
pub use plan::{Nobody, Pass, Pick, Plan, Reason, Silence};
pub use relations::{Change, Dimension, HISTORY, Relation};
pub use view::named;
pub use world::{Decision, Node, World, decide};

use crate::error::{Code, Error, Warning};
use crate::host::{Dice, Site};
use crate::js;
use crate::names::{Matcher, MentionOptions};
use crate::parts::Kind;
use crate::profile::{self, Profile};
use crate::scene::{ChatMessage, Scene, Strategy};
use strategies::Outcome;
use view::View;

/// What happens when nobody is mentioned and every roll fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// One speaks, drawn from the talkative.
    #[default]
    Random,
    /// Nobody speaks: a group in which members answer only when mentioned (spec 01 F32).
    None,
}

/// What is asked. `PlanOptions::default()` is a send without text.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanOptions<'a> {
    /// What the user did.
    pub kind: Kind,
    /// Nobody pressed send: auto mode. Typed text is then left alone.
    pub auto: bool,
    /// The typed text, as it is.
    pub input: Option<&'a str>,
    /// Index of a character that shall speak, member or not, muted or not.
    pub forced: Option<usize>,
    /// Ids of the speakers of an earlier plan that is to be run again (spec 01 F10, P4); empty for none.
    pub again: &'a [String],
    /// See [`Fallback`].
    pub fallback: Fallback,
    /// Members that are mentioned speak under the strategies list, pooled and manual too, and alone (default false).
    pub mention_override: bool,
    /// The author of the message to continue or swipe may speak although it left the group (spec 01 F11, default false).
    /// The reference never asks.
    pub outsiders: bool,
    /// A matcher made from [`named`]; without one, one is made with default options.
    pub matcher: Option<&'a Matcher>,
    /// Another strategy than the group's.
    pub strategy: Option<Strategy>,
    /// Members that do not speak by themselves this time, as if they were not listed. A mention still makes them speak.
    pub without: &'a [String],
}

/// Plans a turn.
///
/// Errors: `group.empty` (no members), `speaker.gone` (the author of the message to swipe or continue), `scene.unknown` (a forced index, a
/// single chat's character), `draws.exhausted`. An empty plan is no error; [`Plan::nobody`] says why it is empty.
pub fn plan(
    scene: &Scene,
    options: &PlanOptions<'_>,
    profile: &Profile,
    dice: &mut Dice,
) -> Result<Plan, Error> {
    let before = dice.drawn().len();
    let typed = options.input.filter(|text| {
        !options.auto
            && if profile.on(&profile::SPEAKERS_NOBODY) {
                !js::trim(text).is_empty()
            } else {
                !text.is_empty()
            }
    });
    let mut plan = match View::of(scene) {
        Some(view) => {
            let mut view = view?;
            view.enabled.retain(|id| !options.without.iter().any(|w| w == id));
            in_group(&view, options, typed, profile, dice)?
        }
        None => solo(scene, options)?,
    };
    plan.is_user_input = typed.is_some();
    plan.user_message = user_message(&plan, options, typed, profile);
    if dice.exhausted() {
        return Err(Error::new(Code::DrawsExhausted, "", "choosing the speakers needs more random numbers"));
    }
    plan.draws = dice.drawn().get(before..).unwrap_or(&[]).to_vec();
    Ok(plan)
}

/// Members by their last message, the latest first; those that never spoke are left out. Indices in the scene's characters; empty
/// outside a group.
pub fn recent(scene: &Scene) -> Vec<usize> {
    View::of(scene).and_then(Result::ok).map_or_else(Vec::new, |view| last::recent(&view))
}

/// Who wrote a message, as a member's id. `None` for the user, a narrator, and strangers.
pub fn author<'a>(scene: &'a Scene, message: &'a ChatMessage) -> Option<&'a str> {
    View::of(scene)?.ok()?.author(message)
}

/// The last visible message of a member.
pub fn last_of<'a>(scene: &'a Scene, id: &str) -> Option<&'a ChatMessage> {
    let view = View::of(scene)?.ok()?;
    view.messages().iter().rev().find(|m| !m.is_system && view.author(m) == Some(id))
}

/// What is appended for the user. The reference appends the input whenever nobody speaks, even when there is none (spec 01 F8).
fn user_message(
    plan: &Plan,
    options: &PlanOptions<'_>,
    typed: Option<&str>,
    profile: &Profile,
) -> Option<String> {
    let sends = matches!(options.kind, Kind::Normal | Kind::Regenerate);
    let text = typed.filter(|_| sends);
    if plan.speakers.is_empty() && !profile.on(&profile::SPEAKERS_NOBODY) {
        return Some(options.input.unwrap_or("").to_owned());
    }
    text.map(str::to_owned)
}

/// Outside a group: the one character.
fn solo(scene: &Scene, options: &PlanOptions<'_>) -> Result<Plan, Error> {
    let unknown = |path: &str, what: &str| Error::new(Code::SceneUnknown, path, what.to_owned());
    let (index, reason) = match (options.forced, &scene.chat_with) {
        (Some(index), _) => (index, Reason::Forced),
        (None, Some(id)) => {
            let index = scene.character_index(id).ok_or_else(|| {
                unknown(
                    "chatWith",
                    &format!("no character has the id {id:?}; use the avatar of one that the scene holds"),
                )
            })?;
            (index, Reason::Solo)
        }
        (None, None) => (0, Reason::Solo),
    };
    let pick = pick(scene, index, reason).ok_or_else(|| match reason {
        Reason::Forced => {
            unknown("speaker", "no character has this index; use one below the number of characters")
        }
        _ => unknown("characters", "the scene holds no character; add one"),
    })?;
    Ok(Plan { speakers: vec![pick], ..Plan::default() })
}

fn pick(scene: &Scene, index: usize, reason: Reason) -> Option<Pick> {
    let character = scene.characters.get(index)?;
    Some(Pick { index, id: character.avatar.clone(), name: character.name.clone(), reason })
}

/// The table of spec 01 §3.2: the first matching row wins.
fn in_group(
    view: &View<'_>,
    options: &PlanOptions<'_>,
    typed: Option<&str>,
    profile: &Profile,
    dice: &mut Dice,
) -> Result<Plan, Error> {
    let outcome = if let Some(index) = options.forced {
        if view.scene.characters.get(index).is_none() {
            return Err(Error::new(
                Code::SceneUnknown,
                "speaker",
                format!("no character has the index {index}; there are {}", view.scene.characters.len()),
            ));
        }
        Outcome::of(vec![(index, Reason::Forced)])
    } else if !options.again.is_empty() {
        again(view, options.again)
    } else {
        match options.kind {
            Kind::Quiet => {
                Outcome::of(last::beside(view, dice).map(|i| (i, Reason::Quiet)).into_iter().collect())
            }
            Kind::Swipe | Kind::Continue => {
                let found = if profile.on(&profile::SPEAKERS_LAST) {
                    vec![last::author(view, options.outsiders, dice)?]
                } else {
                    last::speakers(view, false, dice)
                };
                if found.is_empty() {
                    return Err(last::gone(
                        view,
                        "the chat has no message of a character to continue or swipe",
                    ));
                }
                Outcome::of(found.into_iter().map(|i| (i, Reason::LastSpeaker)).collect())
            }
            Kind::Impersonate => impersonate(view, profile, dice),
            Kind::Normal | Kind::Regenerate => by_strategy(view, options, typed, profile, dice),
        }
    };
    let speakers: Vec<Pick> =
        outcome.picks.iter().filter_map(|(index, reason)| pick(view.scene, *index, *reason)).collect();
    let nobody = speakers.is_empty().then(|| {
        outcome.nobody.unwrap_or(if view.enabled.is_empty() && options.kind != Kind::Quiet {
            Nobody::AllMuted
        } else {
            Nobody::Missing
        })
    });
    let mut passed = outcome.passed;
    passed.retain(|p| !speakers.iter().any(|s| s.id == p.id));
    Ok(Plan { speakers, nobody, passed, warnings: outcome.warnings, ..Plan::default() })
}

/// The stored plan, as far as its characters are still there.
fn again(view: &View<'_>, ids: &[String]) -> Outcome {
    let mut outcome = Outcome::default();
    for id in ids {
        match view.index(id) {
            Some(index) => outcome.picks.push((index, Reason::Again)),
            None => outcome.warnings.push(Warning::new(
                "speaker-gone",
                "again",
                format!("{id} was in the plan, but no character has this id any more"),
            )),
        }
    }
    outcome
}

/// The reference draws any member, and sends the typed text when that one has no character. Put right: the last speaker, without a draw.
fn impersonate(view: &View<'_>, profile: &Profile, dice: &mut Dice) -> Outcome {
    let members = &view.group.members;
    let index = if profile.on(&profile::SPEAKERS_IMPERSONATE) {
        last::recent(view).first().copied().or_else(|| {
            view.enabled
                .iter()
                .copied()
                .chain(members.iter().map(String::as_str))
                .find_map(|id| view.index(id))
        })
    } else {
        let at = dice.index(Site::Impersonate, members.len());
        members.get(at).and_then(|id| view.index(id))
    };
    let mut outcome = Outcome::of(index.map(|i| (i, Reason::Impersonate)).into_iter().collect());
    outcome.nobody = Some(Nobody::Missing);
    outcome
}

fn by_strategy(
    view: &View<'_>,
    options: &PlanOptions<'_>,
    typed: Option<&str>,
    profile: &Profile,
    dice: &mut Dice,
) -> Outcome {
    let made;
    let matcher = match options.matcher {
        Some(matcher) => Some(matcher),
        None if profile.on(&profile::MENTIONS_UNICODE) => {
            made = Matcher::new(&named(view.scene), MentionOptions::default());
            Some(&made)
        }
        None => None,
    };
    let turn = natural::Turn {
        view,
        profile,
        typed,
        fallback: options.fallback,
        matcher: matcher.filter(|_| profile.on(&profile::MENTIONS_UNICODE)),
    };
    let strategy = options.strategy.unwrap_or(view.group.strategy);
    let mut outcome = if strategy == Strategy::Natural {
        natural::natural(&turn, dice)
    } else {
        let mentioned = if options.mention_override { natural::mentioned(&turn) } else { Outcome::default() };
        if mentioned.picks.is_empty() {
            let mut outcome = match strategy {
                Strategy::List => strategies::list(view),
                Strategy::Pooled => strategies::pooled(view, typed.is_some(), dice),
                Strategy::Manual if typed.is_none() => strategies::manual(view, dice),
                Strategy::Manual => Outcome::nobody(Nobody::Manual),
                Strategy::Natural | Strategy::Unknown => Outcome::nobody(Nobody::UnknownStrategy),
            };
            outcome.warnings.extend(mentioned.warnings);
            outcome
        } else {
            mentioned
        }
    };
    for id in &view.group.members {
        if view.group.is_muted(id) && !outcome.passed.iter().any(|p| p.id == *id) {
            outcome.passed.push(Pass { id: id.clone(), reason: Silence::Muted });
        }
    }
    outcome
}
