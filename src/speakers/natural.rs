//! The strategy natural (spec 01 §4.1): who is mentioned speaks, the others roll, and if nobody comes out, one is drawn.

use super::last;
use super::plan::{Nobody, Reason, Silence};
use super::strategies::Outcome;
use super::talk;
use super::view::View;
use super::words::{owners, words};
use crate::error::Warning;
use crate::host::{Dice, Site};
use crate::names::{Exclusive, Matcher, Mention, MentionKind, Recency};
use crate::profile::{self, Profile};

use super::Fallback;

/// What the strategy reads.
pub(super) struct Turn<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) profile: &'a Profile,
    /// What was typed; otherwise the last message is read.
    pub(super) typed: Option<&'a str>,
    pub(super) fallback: Fallback,
    /// Unicode matcher; `None` for the reference's words.
    pub(super) matcher: Option<&'a Matcher>,
}

/// Who may not answer: the writer of the last message, unless something was typed or the group allows it.
enum Ban<'a> {
    Nobody,
    Name(&'a str),
    Id(&'a str),
}

impl<'a> Turn<'a> {
    fn ban(&self) -> Ban<'a> {
        let last = self
            .view
            .last()
            .filter(|m| self.typed.is_none() && !m.is_user && !self.view.group.allow_self_responses);
        match last {
            None => Ban::Nobody,
            Some(m) if self.profile.on(&profile::SPEAKERS_SELF_BAN) => {
                self.view.author(m).map_or(Ban::Nobody, Ban::Id)
            }
            Some(m) => Ban::Name(&m.name),
        }
    }

    fn text(&self) -> &'a str {
        let last = || self.view.last().filter(|m| !m.is_system).map_or("", |m| m.mes.as_str());
        self.typed.unwrap_or_else(last)
    }

    fn talkativeness(&self, index: usize) -> f64 {
        let raw = self.view.scene.characters.get(index).and_then(|c| c.talkativeness.as_ref());
        if self.profile.on(&profile::SPEAKERS_TALKATIVENESS) { talk::read(raw) } else { talk::coerced(raw) }
    }
}

impl Ban<'_> {
    fn hits(&self, view: &View<'_>, id: &str, index: usize) -> bool {
        match self {
            Self::Nobody => false,
            Self::Id(banned) => *banned == id,
            Self::Name(banned) => view.scene.characters.get(index).is_some_and(|c| c.name == *banned),
        }
    }
}

/// The whole strategy.
pub(super) fn natural(turn: &Turn<'_>, dice: &mut Dice) -> Outcome {
    let view = turn.view;
    let ban = turn.ban();
    let mut outcome = mentioned(turn);
    let exclusive = match turn.matcher.map_or(Exclusive::Off, |m| m.options().exclusive) {
        Exclusive::Off => false,
        Exclusive::Any => !outcome.picks.is_empty(),
        Exclusive::At => {
            outcome.picks.iter().any(|(_, r)| matches!(r, Reason::Mentioned { by: MentionKind::At, .. }))
        }
    };
    if exclusive {
        for id in &view.enabled {
            outcome.pass(id, Silence::NotMentioned);
        }
        return outcome;
    }
    let mut order = view.enabled.clone();
    dice.shuffle(Site::NaturalShuffle, &mut order);
    let mut talkative: Vec<&str> = Vec::new();
    for id in order {
        let Some(index) = view.index(id) else {
            outcome.pass(id, Silence::Missing);
            continue;
        };
        if ban.hits(view, id, index) {
            outcome.pass(id, Silence::Banned);
            continue;
        }
        let talkativeness = turn.talkativeness(index);
        let value = dice.draw(Site::Natural);
        // In the reference a roll of exactly 0 wakes the silent.
        let wakes = talkativeness >= value
            && (talkativeness > 0.0 || !turn.profile.on(&profile::SPEAKERS_TALKATIVENESS));
        if wakes && outcome.has(index) {
            // Mentioned already, or listed twice.
        } else if wakes {
            outcome.picks.push((index, Reason::Roll { value, talkativeness }));
        } else if talkativeness > 0.0 {
            outcome.pass(id, Silence::Roll { value, talkativeness });
        } else {
            outcome.pass(id, Silence::Silent);
        }
        if talkativeness > 0.0 {
            talkative.push(id);
        }
    }
    if outcome.picks.is_empty() {
        match turn.fallback {
            Fallback::Random => fall_back(turn, &ban, talkative, &mut outcome, dice),
            Fallback::None if view.enabled.iter().any(|id| view.index(id).is_some()) => {
                outcome.nobody = Some(Nobody::Silent);
            }
            Fallback::None => {}
        }
    }
    outcome
}

/// One of the talkative, in the order of the rolls; without any, one of all. The reference lets the banned member in there (F6).
fn fall_back<'a>(
    turn: &Turn<'a>,
    ban: &Ban<'_>,
    talkative: Vec<&'a str>,
    outcome: &mut Outcome,
    dice: &mut Dice,
) {
    let view = turn.view;
    let mut pool = talkative;
    if pool.is_empty() {
        pool.clone_from(&view.enabled);
        if turn.profile.on(&profile::SPEAKERS_SELF_BAN) {
            let banned = |id: &&str| view.index(id).is_some_and(|i| ban.hits(view, id, i));
            let others = |id: &&str| view.index(id).is_some() && !banned(id);
            if pool.iter().any(others) {
                pool.retain(|id| !banned(id));
            }
        }
    }
    for _ in 0..pool.len() {
        let at = dice.index(Site::Natural, pool.len());
        let value = dice.drawn().last().map_or(0.0, |d| d.value);
        if let Some(index) = pool.get(at).and_then(|id| view.index(id)) {
            outcome.picks.push((index, Reason::Fallback { value }));
            return;
        }
    }
}

/// Steps 2 and 3 alone: who is mentioned, in order of the first mention, each once.
pub(super) fn mentioned(turn: &Turn<'_>) -> Outcome {
    match turn.matcher {
        Some(matcher) => by_name(turn, matcher),
        None => by_words(turn),
    }
}

fn by_words(turn: &Turn<'_>) -> Outcome {
    let view = turn.view;
    let ban = turn.ban();
    let allowed = view.enabled.iter().filter_map(|id| {
        let index = view.index(id).filter(|i| !ban.hits(view, id, *i))?;
        Some((index, view.scene.characters.get(index)?.name.as_str()))
    });
    let owners = owners(allowed);
    let mut outcome = Outcome::default();
    for (start, end, word) in words(turn.text()) {
        if let Some(index) = owners.get(&word).filter(|i| !outcome.has(**i)) {
            outcome.picks.push((*index, Reason::Mentioned { start, end, by: MentionKind::Part }));
        }
    }
    outcome
}

fn by_name(turn: &Turn<'_>, matcher: &Matcher) -> Outcome {
    let view = turn.view;
    let ban = turn.ban();
    let recent: Vec<&str> = last::recent(view)
        .into_iter()
        .filter_map(|i| view.scene.characters.get(i).map(|c| c.avatar.as_str()))
        .collect();
    let banned = if let Ban::Id(id) = &ban { Some(*id) } else { None };
    let mut mentions = matcher.find(turn.text(), Recency { recent: &recent, banned });
    let options = matcher.options();
    let speaks = |m: &Mention| {
        (!m.muted || options.at_unmutes) && view.index(&m.id).is_some_and(|i| !ban.hits(view, &m.id, i))
    };
    let called = |m: &Mention| m.kind == MentionKind::At && speaks(m);
    if options.exclusive == Exclusive::At && mentions.iter().any(called) {
        mentions.retain(|m| m.kind == MentionKind::At);
    }
    let mut outcome = Outcome::default();
    for m in &mentions {
        if !speaks(m) {
            if m.muted && !outcome.passed.iter().any(|p| p.id == m.id) {
                outcome.pass(&m.id, Silence::Muted);
                outcome.warnings.push(Warning::new(
                    "muted-mentioned",
                    "group.disabled_members",
                    format!("{} is called but muted, and does not speak", m.id),
                ));
            }
            continue;
        }
        if let Some(index) = view.index(&m.id).filter(|i| !outcome.has(*i)) {
            outcome.picks.push((index, Reason::Mentioned { start: m.start, end: m.end, by: m.kind }));
        }
    }
    outcome
}
