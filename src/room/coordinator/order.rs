//! Whom a round plans, and in which order (spec 09 §14.1-14.3, §21.1).

use super::config::{DirectorFallback, MentionOrder, OnMention, Who};
use super::moves::{Ask, Cause, Event, Move, Purpose};
use super::{Coordinator, Ground, Phase, Round, Slot};
use crate::error::Error;
use crate::host::{Draw, Site};
use crate::names::{Matcher, MentionOptions};
use crate::room::director_answer::director_parse;
use crate::scene::Strategy;
use crate::speakers::{
    self, Asked, Candidate, Choice, FormulaOptions, Line, Match, PlanOptions, World, choose, decide, formula,
};

impl Coordinator {
    /// Plans the next round, or asks the director.
    pub(super) fn open_round(&mut self, ground: &mut Ground<'_>) -> Result<(), Error> {
        self.run.round += 1;
        self.round = Round { began: ground.now, ..Round::default() };
        let before = ground.dice.drawn().len();
        if self.config.who != Who::Director {
            let chosen = if self.only_addressed() { Vec::new() } else { self.chosen(ground)? };
            self.round.draws = drawn_since(ground, before);
            self.announce_round(&chosen, Cause::Scheduled, ground);
            return Ok(());
        }
        let addressed = self.run.round == 1 && !self.run.addressed.is_empty();
        if addressed && (self.config.director.on_mention == OnMention::Skip || self.only_addressed()) {
            self.director_plan(self.run.addressed.clone(), "mentioned".to_owned(), false);
            self.announce_round(&[], Cause::Director, ground);
            return Ok(());
        }
        let candidates = self.candidates(ground);
        if candidates.len() < 2 {
            self.director_plan(candidates.clone(), "only_candidate".to_owned(), false);
            self.announce_round(&candidates, Cause::Director, ground);
            return Ok(());
        }
        let id = format!("{}.{}.0.1", self.starts, self.run.round);
        self.emit(Event::Status { speaker: String::new(), attempt: id.clone(), node: "planning" });
        let purpose = Purpose::Director { candidates: candidates.clone() };
        self.moves.push_back(Move::Ask(Box::new(Ask { id: id.clone(), speaker: String::new(), purpose })));
        self.phase = Phase::Directing { request: id, candidates };
        Ok(())
    }

    /// What the user wrote, in the first round; later, and without a text, the last message counts.
    fn activation(&self) -> Option<&str> {
        self.run.text.as_deref().filter(|_| self.run.round == 1)
    }

    /// Whom a director may choose: not the author of the last message, unless the user has just written.
    fn candidates(&self, ground: &Ground<'_>) -> Vec<String> {
        let mut ids = self.participants(ground);
        ids.retain(|id| !self.config.only_when_mentioned.contains(id));
        let again = ground.scene.group.as_ref().is_some_and(|g| g.allow_self_responses);
        if self.activation().is_none()
            && !again
            && ids.len() > 1
            && let Some(last) = ground.last_author()
        {
            ids.retain(|id| *id != last);
        }
        ids
    }

    fn director_plan(&mut self, speakers: Vec<String>, reason: String, fallback: bool) {
        self.last_plan.clone_from(&speakers);
        self.emit(Event::DirectorPlan { round: self.run.round, speakers, reason, fallback });
    }

    /// The director answered; an empty text stands for a failure.
    pub(super) fn directed(&mut self, text: &str, candidates: &[String], ground: &mut Ground<'_>) {
        let names = ground.names(candidates);
        let names: Vec<(&str, &str)> = names.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
        let choice = director_parse(text, &names, self.config.director.max);
        let before = ground.dice.drawn().len();
        let usable = !choice.speakers.is_empty();
        let (speakers, cause) = if usable {
            (choice.speakers, Cause::Director)
        } else {
            let speakers = match self.config.director.fallback {
                // A plan that cannot be made leaves nobody; the round stays valid.
                DirectorFallback::Natural => self.natural(candidates, ground).unwrap_or_default(),
                DirectorFallback::List => candidates.to_vec(),
                DirectorFallback::LastPlan => {
                    self.last_plan.iter().filter(|id| candidates.contains(id)).cloned().collect()
                }
                DirectorFallback::Nobody => Vec::new(),
            };
            (speakers, Cause::Fallback)
        };
        self.round.draws = drawn_since(ground, before);
        let reason = if usable { choice.reason } else { String::new() };
        let kept = self.last_plan.clone();
        self.director_plan(speakers.clone(), reason, !usable);
        if !usable {
            self.last_plan = kept;
        }
        self.announce_round(&speakers, cause, ground);
    }

    fn natural(&self, candidates: &[String], ground: &mut Ground<'_>) -> Result<Vec<String>, Error> {
        // All roll, as in any round; the ban on the last author is the strategy's own.
        let mut pool = self.participants(ground);
        pool.retain(|id| !self.config.only_when_mentioned.contains(id));
        let mut chosen = self.by_strategy(Strategy::Natural, &pool, ground)?;
        chosen.retain(|id| candidates.contains(id));
        Ok(chosen)
    }

    /// Puts the plan together and says so. `cause`: why those chosen speak.
    fn announce_round(&mut self, chosen: &[String], cause: Cause, ground: &Ground<'_>) {
        let first = self.run.round == 1;
        let participants = self.participants(ground);
        let mut addressed = self.run.addressed.clone();
        addressed.retain(|id| participants.contains(id));
        let everybody = self.config.who == Who::All;
        let mut ids: Vec<String> = Vec::new();
        let mut add = |list: &[String]| {
            for id in list {
                if participants.contains(id) && !ids.contains(id) {
                    ids.push(id.clone());
                }
            }
        };
        if first || everybody {
            add(&addressed);
        }
        if !self.only_addressed() {
            if self.config.mention_order == MentionOrder::Any && (first || everybody) {
                add(&self.run.named);
            }
            add(chosen);
        }
        let host = self.host(&participants).filter(|h| participants.contains(h) && !self.only_addressed());
        if let Some(host) = &host {
            ids.retain(|id| id != host);
            ids.insert(0, host.clone());
        }
        let deferred = self.run.deferred.take().filter(|(id, _)| participants.contains(id));
        if let Some((id, _)) = &deferred {
            ids.retain(|i| i != id);
            ids.insert(0, id.clone());
        }
        let slot = |id: &String| match &deferred {
            Some((named, by)) if named == id => Slot::by(id, Cause::Nominated, by),
            _ if first && addressed.contains(id) => Slot::by(id, Cause::Mentioned, "user"),
            _ if cause != Cause::Scheduled && chosen.contains(id) => Slot::new(id, cause),
            _ if host.as_ref() == Some(id) => Slot::new(id, Cause::Host),
            _ => Slot::new(id, Cause::Scheduled),
        };
        self.round.queue = ids.iter().map(slot).collect();
        self.round.planned.clone_from(&ids);
        self.round.target = addressed.into_iter().next().filter(|_| first);
        self.round.started = true;
        let (round, mode) = (self.run.round, self.config.mode.as_str());
        self.emit(Event::RoundStarted { round, mode, target: self.round.target.clone() });
        self.emit(Event::RoundPlan { round, planned: ids, revised: false });
        self.phase = Phase::Next;
    }

    /// Whom the configured strategy chooses.
    fn chosen(&self, ground: &mut Ground<'_>) -> Result<Vec<String>, Error> {
        let mut pool = self.participants(ground);
        pool.retain(|id| !self.config.only_when_mentioned.contains(id));
        Ok(match self.config.who {
            Who::All => {
                if self.config.rotate && self.run.addressed.is_empty() && !pool.is_empty() {
                    let round = usize::try_from(self.run.round).unwrap_or(1);
                    let by = round.saturating_sub(1) % pool.len();
                    pool.rotate_left(by);
                }
                pool
            }
            Who::Natural => self.by_strategy(Strategy::Natural, &pool, ground)?,
            Who::List => self.by_strategy(Strategy::List, &pool, ground)?,
            Who::Pooled if self.config.all => {
                ground.dice.shuffle(Site::Pooled, &mut pool);
                pool
            }
            Who::Pooled => self.by_strategy(Strategy::Pooled, &pool, ground)?,
            Who::Manual => self.by_strategy(Strategy::Manual, &pool, ground)?,
            Who::Formula => self.by_formula(&pool, ground),
            Who::WorldEngine => self.by_world(&pool, ground).into_iter().collect(),
            Who::RoundRobin => self.by_choice(Choice::RoundRobin, &pool, ground),
            Who::Mention => self.by_choice(Choice::Mention, &pool, ground),
            Who::Random => self.by_choice(Choice::Random, &pool, ground),
            Who::Relevance => self.by_choice(Choice::Relevance, &pool, ground),
            Who::NarratorDriven => self.by_choice(Choice::NarratorDriven, &pool, ground),
            Who::Director => Vec::new(),
        })
    }

    /// The reference's strategies; `pool` may speak by itself, others when they are mentioned.
    fn by_strategy(
        &self,
        strategy: Strategy,
        pool: &[String],
        ground: &mut Ground<'_>,
    ) -> Result<Vec<String>, Error> {
        let members = ground.scene.group.as_ref().map_or(&[][..], |g| g.members.as_slice());
        let without: Vec<String> = members.iter().filter(|id| !pool.contains(id)).cloned().collect();
        let matcher = Matcher::new(&ground.named(&self.config.absent), MentionOptions::default());
        let options = PlanOptions {
            input: self.activation(),
            matcher: Some(&matcher),
            strategy: Some(strategy),
            without: &without,
            ..PlanOptions::default()
        };
        let plan = speakers::plan(ground.scene, &options, ground.profile, ground.dice)?;
        Ok(plan.speakers.into_iter().map(|pick| pick.id).collect())
    }

    /// The text that NekoBot's strategies read, and who may not be meant by it.
    fn read<'g>(&'g self, ground: &'g Ground<'_>) -> (&'g str, Option<String>) {
        match self.activation() {
            Some(text) => (text, None),
            None => (ground.last_message().map_or("", |m| m.mes.as_str()), ground.last_author()),
        }
    }

    fn by_choice(&self, how: Choice, pool: &[String], ground: &mut Ground<'_>) -> Vec<String> {
        let (text, author) = self.read(ground);
        let text = text.to_owned();
        let last = ground.last_speaker();
        let found = ground.mentions(&text, &self.config.absent, author.as_deref());
        let ids: Vec<&str> = pool.iter().map(String::as_str).collect();
        let smart = self.config.cross_talk.r#match == Match::Smart;
        let asked = Asked {
            ids: &ids,
            message: &text,
            last: last.as_deref(),
            narrator: self.config.narrator.as_ref().map(|n| n.id.as_str()),
            relations: &self.config.relations,
            mentions: smart.then_some(found.as_slice()),
        };
        choose(how, &asked, ground.dice).map(str::to_owned).into_iter().collect()
    }

    fn by_world(&self, pool: &[String], ground: &Ground<'_>) -> Option<String> {
        let (text, author) = self.read(ground);
        let last = ground.last_speaker();
        let found = ground.mentions(text, &self.config.absent, author.as_deref());
        let names = ground.names(pool);
        let members: Vec<(&str, &str)> =
            names.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
        let smart = self.config.cross_talk.r#match == Match::Smart;
        let decision = decide(&World {
            members: &members,
            message: text,
            node: self.config.plot.as_ref(),
            relations: &self.config.relations,
            last: last.as_deref(),
            mentions: smart.then_some(found.as_slice()),
        });
        Some(decision.speaker_id).filter(|id| !id.is_empty())
    }

    fn by_formula(&self, pool: &[String], ground: &mut Ground<'_>) -> Vec<String> {
        let named = ground.named(&self.config.absent);
        let smart = self.config.cross_talk.r#match == Match::Smart;
        let candidates: Vec<Candidate> = pool
            .iter()
            .filter_map(|id| {
                let named = named.iter().find(|n| n.id == *id)?.clone();
                let card = ground.character(id)?;
                Some(Candidate {
                    named,
                    talkativeness: card.talkativeness.clone(),
                    card: if smart {
                        Vec::new()
                    } else {
                        [&card.description, &card.personality, &card.scenario].map(Clone::clone).to_vec()
                    },
                    ..Candidate::default()
                })
            })
            .collect();
        let options = FormulaOptions { top: self.config.top, right: smart, ..FormulaOptions::default() };
        let messages = ground.scene.chat.messages.iter().filter(|m| !m.is_system);
        let from = messages.clone().count().saturating_sub(options.window.max(64));
        let author = |m| {
            let id = speakers::author(ground.scene, m)?;
            candidates.iter().position(|c| c.named.id == id)
        };
        let chat: Vec<Line<'_>> =
            messages.skip(from).map(|m| Line { author: author(m), text: m.mes.as_str() }).collect();
        let (_, picked) = formula(&candidates, &chat, &options, ground.dice);
        picked.into_iter().filter_map(|i| candidates.get(i).map(|c| c.named.id.clone())).collect()
    }
}

/// The random numbers used since there were so many.
fn drawn_since(ground: &Ground<'_>, before: usize) -> Vec<Draw> {
    ground.dice.drawn().get(before..).unwrap_or_default().to_vec()
}
