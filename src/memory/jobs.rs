//! What there is to do for a memory when there is time, and what becomes of the results (spec 10 §19-§22, §27).
//!
//! Jobs are data; whoever does them takes as long as it takes. A result that comes when its messages have changed is refused.

use super::diff::{Indexed, Wanted, diff};
use super::hash::hash;
use super::index::IndexItem;
use super::private::{Core, Episode, Status, core_request, extract_request, read_core, read_episodes};
use super::smart::{Split, split_smart};
use super::store::Memory;
use super::summary::{SummaryRecord, Verdict, active, due, judge, request};
use super::view::View;
use crate::error::{Code, Error};

/// Embedding jobs that are given out at a time.
const EMBED_JOBS: usize = 4;
/// Code points of a chunk of a message.
const MESSAGE_CHUNK: usize = 400;
/// Messages that one extraction looks at.
const EXTRACT_MESSAGES: usize = 20;

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// What.
    pub work: Work,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Embed texts.
    Embed {
        /// What they stand for.
        items: Vec<IndexItem>,
        /// The texts.
        texts: Vec<String>,
    },
    /// Ask a model for a summary.
    Summarise {
        /// Whose: `None` is everyone's.
        scope: Option<String>,
        /// Last message that it will cover, and the hash of its text.
        anchor: (String, String),
        /// Messages that did not fit.
        left: usize,
        /// System and user text.
        ask: (String, String),
    },
    /// Ask a model for what a character remembers.
    Extract {
        /// Avatar.
        owner: String,
        /// Messages it comes from, with hashes.
        sources: Vec<(String, String)>,
        /// System and user text.
        ask: (String, String),
    },
    /// Ask a model to merge memories.
    Consolidate {
        /// Avatar.
        owner: String,
        /// Confirmed memories that will have been taken in.
        taken: usize,
        /// System and user text.
        ask: (String, String),
    },
}

impl Work {
    /// What the work is about; one job of a kind runs at a time.
    fn about(&self) -> (u8, &str) {
        match self {
            Self::Embed { .. } => (0, ""),
            Self::Summarise { scope, .. } => (1, scope.as_deref().unwrap_or("")),
            Self::Extract { owner, .. } => (2, owner),
            Self::Consolidate { owner, .. } => (3, owner),
        }
    }
}

/// A lorebook entry that may be found by similarity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoreText {
    /// `book` and `uid`.
    pub key: (String, String),
    /// Its text.
    pub content: String,
}

/// How an answer of a model, or vectors, come back.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Vectors, in the order of the texts.
    Vectors(Vec<Vec<f32>>),
    /// The model's answer, its reasoning removed.
    Text(String),
    /// It could not be done; the job will be offered again.
    Failed,
}

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It is kept.
    Kept,
    /// Part of it, or all, is about messages that have changed.
    Stale,
    /// There was nothing in it.
    Empty,
    /// The job is open again.
    Reopened,
}

impl Stored {
    /// The stable text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Stale => "stale_result",
            Self::Empty => "empty",
            Self::Reopened => "reopened",
        }
    }
}

/// Key of a message in the index.
pub(super) fn message_key(id: &str) -> String {
    format!("message:{id}")
}

pub(super) fn file_key(id: &str) -> String {
    format!("file:{id}")
}

pub(super) fn lore_key(book: &str, uid: &str) -> String {
    format!("lore:{uid}:{book}")
}

pub(super) fn episode_key(id: &str) -> String {
    format!("memory:{id}")
}

impl Memory {
    /// What there is to do now. Jobs that are out and still make sense keep their ids.
    /// `summaries`: rolling summaries are made here (SillyTavern's way is the room's).
    pub fn pending(
        &mut self,
        view: &View,
        members: &[(String, String)],
        lore: &[LoreText],
        summaries: bool,
    ) -> Vec<Job> {
        self.drop_stale(view);
        let mut works = Vec::new();
        self.embed_works(view, lore, &mut works);
        if summaries {
            self.summary_works(view, members, &mut works);
        }
        if self.settings.private.enabled {
            self.private_works(view, members, &mut works);
        }
        for work in works {
            let single = !matches!(work, Work::Embed { .. });
            if single && self.jobs.iter().any(|j| j.work.about() == work.about()) {
                continue;
            }
            let id = self.new_id("job");
            self.jobs.push(Job { id, work });
        }
        self.jobs.clone()
    }

    /// Forgets jobs whose messages are gone or changed.
    fn drop_stale(&mut self, view: &View) {
        let there = |(id, hash): &(String, String)| view.hash_of(id) == Some(hash);
        self.jobs.retain(|job| match &job.work {
            Work::Embed { .. } | Work::Consolidate { .. } => true,
            Work::Summarise { anchor, .. } => there(anchor),
            Work::Extract { sources, .. } => sources.iter().all(there),
        });
    }

    /// All texts that should be in the index: key, hash, chunks.
    fn indexed_texts(&self, view: &View, lore: &[LoreText]) -> Vec<(String, String, Vec<String>)> {
        let mut out = Vec::new();
        if self.settings.recalls {
            for (memo, hash) in view.memos.iter().zip(&view.hashes) {
                let split = Split { limit: MESSAGE_CHUNK, overlap: 0 };
                out.push((message_key(&memo.id), hash.clone(), split_smart(&memo.text, split)));
            }
        }
        for file in self.files.iter().filter(|f| !f.disabled) {
            out.push((file_key(&file.id), hash(&file.text).to_string(), file.chunks(&self.settings.bank)));
        }
        for entry in lore {
            let key = lore_key(&entry.key.0, &entry.key.1);
            out.push((key, hash(&entry.content).to_string(), vec![entry.content.clone()]));
        }
        for episode in self.episodes.iter().filter(|e| e.status == Status::Confirmed) {
            let text = episode.searched();
            out.push((episode_key(&episode.id), hash(&text).to_string(), vec![text]));
        }
        out
    }

    /// Deletes what the index has too much, and asks for what it lacks.
    fn embed_works(&mut self, view: &View, lore: &[LoreText], works: &mut Vec<Work>) {
        let model = self.settings.embed.model.clone();
        if model.is_empty() {
            return;
        }
        let texts = self.indexed_texts(view, lore);
        let wanted: Vec<Wanted<'_>> = texts
            .iter()
            .map(|(id, hash, chunks)| Wanted {
                id,
                hash,
                text: chunks.first().map_or("", String::as_str),
                chunks: Some(chunks.len()),
            })
            .collect();
        let items: Vec<IndexItem> = self.index.items().to_vec();
        let indexed: Vec<Indexed<'_>> =
            items.iter().map(|i| Indexed { of: &i.of, hash: &i.hash, model: &model }).collect();
        let found = diff(&wanted, &indexed, &model);
        if !found.delete.is_empty() {
            let gone: std::collections::BTreeSet<(&str, &str)> = found
                .delete
                .iter()
                .filter_map(|at| items.get(*at))
                .map(|i| (i.of.as_str(), i.hash.as_str()))
                .collect();
            self.index.retain(|i| !gone.contains(&(i.of.as_str(), i.hash.as_str())));
        }
        let out: std::collections::BTreeSet<(&str, &str)> = self
            .jobs
            .iter()
            .filter_map(|job| match &job.work {
                Work::Embed { items, .. } => Some(items),
                _ => None,
            })
            .flatten()
            .map(|i| (i.of.as_str(), i.hash.as_str()))
            .collect();
        let open = self.jobs.iter().filter(|j| matches!(j.work, Work::Embed { .. })).count();
        let takes =
            super::embed::Provider::named(&self.settings.embed.provider).map_or(usize::MAX, |p| p.batch());
        let most = self.settings.embed.batch.min(takes);
        let (mut items, mut batch): (Vec<IndexItem>, Vec<String>) = (Vec::new(), Vec::new());
        let mut made = open;
        for (of, hash, chunks) in found.embed.iter().filter_map(|at| texts.get(*at)) {
            if made >= EMBED_JOBS {
                break;
            }
            if out.contains(&(of.as_str(), hash.as_str())) {
                continue;
            }
            // The chunks of a text stay together; only one long text makes a job larger than the provider takes.
            if !batch.is_empty() && batch.len() + chunks.len() > most {
                works.push(Work::Embed {
                    items: std::mem::take(&mut items),
                    texts: std::mem::take(&mut batch),
                });
                made += 1;
                if made >= EMBED_JOBS {
                    break;
                }
            }
            for (chunk, text) in (0_u32..).zip(chunks) {
                items.push(IndexItem { of: of.clone(), chunk, hash: hash.clone() });
                batch.push(text.clone());
            }
        }
        if !batch.is_empty() {
            works.push(Work::Embed { items, texts: batch });
        }
    }

    fn summary_works(&self, view: &View, members: &[(String, String)], works: &mut Vec<Work>) {
        if !self.settings.summarise {
            return;
        }
        let scopes: Vec<Option<&str>> = if self.settings.per_member {
            members.iter().map(|(id, _)| Some(id.as_str())).collect()
        } else {
            vec![None]
        };
        let anchors = view.anchors();
        for scope in scopes {
            let current = active(&self.records, &anchors, scope);
            let anchor = current.map(|a| a.record.anchor.as_str());
            let due = due(&view.memos, anchor, scope, &self.settings.summary);
            // A shared summary covers only what everyone heard.
            let everyone =
                |at: &&usize| view.memos.get(**at).is_some_and(|m| scope.is_some() || m.present.is_none());
            let cover: Vec<usize> = due.cover.iter().filter(everyone).copied().collect();
            let memos = cover.iter().filter_map(|at| view.memos.get(*at));
            let points = |text: &str| text.chars().count();
            let previous = current.map_or("", |a| a.record.text.as_str());
            let asked = request(previous, memos, &self.settings.summary, &points);
            let last = asked.last.and_then(|i| cover.get(i)).copied();
            let place = last.and_then(|at| Some((view.memos.get(at)?, view.hashes.get(at)?)));
            if let (Some(user), Some((memo, hash))) = (asked.user, place) {
                works.push(Work::Summarise {
                    scope: scope.map(str::to_owned),
                    anchor: (memo.id.clone(), hash.clone()),
                    left: asked.left,
                    ask: (asked.system, user),
                });
            }
        }
    }

    fn private_works(&self, view: &View, members: &[(String, String)], works: &mut Vec<Work>) {
        let rules = &self.settings.private;
        for (owner, name) in members {
            let last =
                self.extracted.iter().rev().find(|(o, _)| o == owner).and_then(|(_, id)| view.place(id));
            let from = last.map_or(0, |at| at + 1);
            let own: Vec<usize> = view
                .authors
                .iter()
                .enumerate()
                .skip(from)
                .filter(|(_, a)| *a == owner)
                .map(|(at, _)| at)
                .collect();
            if let Some(end) = own.last().filter(|_| own.len() >= rules.every) {
                let heard: Vec<usize> = (from..=*end)
                    .filter(|at| view.memos.get(*at).is_some_and(|m| !m.hidden && m.heard_by(Some(owner))))
                    .collect();
                let skip = heard.len().saturating_sub(EXTRACT_MESSAGES);
                let heard = heard.get(skip..).unwrap_or(&[]);
                let memos: Vec<_> = heard.iter().filter_map(|at| view.memos.get(*at)).collect();
                let known: Vec<&Episode> = self.confirmed(owner).rev().take(8).collect();
                let sources = heard
                    .iter()
                    .filter_map(|at| Some((view.memos.get(*at)?.id.clone(), view.hashes.get(*at)?.clone())))
                    .collect();
                let ask = extract_request(name, &memos, &known);
                works.push(Work::Extract { owner: owner.clone(), sources, ask });
            }
            let confirmed: Vec<&Episode> = self.confirmed(owner).collect();
            let core = self.core(owner).cloned().unwrap_or_default();
            if rules.consolidate > 0 && confirmed.len() >= core.taken + rules.consolidate {
                let ask = core_request(name, &core, &confirmed);
                works.push(Work::Consolidate { owner: owner.clone(), taken: confirmed.len(), ask });
            }
        }
    }

    /// Confirmed memories of a character, oldest first.
    pub(super) fn confirmed<'m>(&'m self, owner: &'m str) -> impl DoubleEndedIterator<Item = &'m Episode> {
        self.episodes.iter().filter(move |e| e.owner == owner && e.status == Status::Confirmed)
    }

    /// What a character is sure of.
    pub fn core(&self, owner: &str) -> Option<&Core> {
        self.cores.iter().find(|c| c.owner == owner)
    }

    /// Keeps the result of a job.
    pub fn store(&mut self, id: &str, outcome: Outcome, view: &View, now: i64) -> Result<Stored, Error> {
        let Some(at) = self.jobs.iter().position(|j| j.id == id) else { return Ok(Stored::Stale) };
        let job = self.jobs.remove(at);
        let wrong = |what: &'static str| Err(Error::new(Code::MemoryAnswer, "result", what));
        match (job.work, outcome) {
            (_, Outcome::Failed) => Ok(Stored::Reopened),
            (Work::Embed { items, texts }, Outcome::Vectors(vectors)) => {
                if vectors.len() != texts.len() {
                    return wrong("there must be one vector for each text");
                }
                self.keep_vectors(items, &vectors, view)
            }
            (Work::Summarise { scope, anchor, ask, .. }, Outcome::Text(text)) => {
                if view.hash_of(&anchor.0) != Some(anchor.1.as_str()) {
                    return Ok(Stored::Stale);
                }
                let Verdict::Keep { text, long } = judge(&text, &ask.0, &self.settings.summary) else {
                    return Ok(Stored::Empty);
                };
                let id = self.new_id("s");
                let (anchor, anchor_hash) = anchor;
                self.records.push(SummaryRecord {
                    id,
                    text,
                    anchor,
                    anchor_hash,
                    scope,
                    long,
                    created: now,
                    ..SummaryRecord::default()
                });
                Ok(Stored::Kept)
            }
            (Work::Extract { owner, sources, .. }, Outcome::Text(text)) => {
                if sources.iter().any(|(id, hash)| view.hash_of(id) != Some(hash)) {
                    return Ok(Stored::Stale);
                }
                let found = read_episodes(&text, &owner, &self.settings.private).unwrap_or_default();
                // Also when there is nothing in it: the same messages would be asked about for ever.
                if let Some((last, _)) = sources.last() {
                    self.extracted.retain(|(o, _)| *o != owner);
                    self.extracted.push((owner, last.clone()));
                }
                let some = !found.is_empty();
                for episode in found {
                    let id = self.new_id("m");
                    self.episodes.push(Episode { id, sources: sources.clone(), created: now, ..episode });
                    let at = self.episodes.len() - 1;
                    if !self.settings.private.review {
                        self.take_in(at);
                    }
                }
                Ok(if some { Stored::Kept } else { Stored::Empty })
            }
            (Work::Consolidate { owner, taken, .. }, Outcome::Text(text)) => {
                let mut core = self.core(&owner).cloned().unwrap_or(Core { owner, ..Core::default() });
                core.taken = taken;
                let kept = read_core(&text, &mut core);
                self.cores.retain(|c| c.owner != core.owner);
                self.cores.push(core);
                Ok(if kept { Stored::Kept } else { Stored::Empty })
            }
            (Work::Embed { .. }, Outcome::Text(_)) => wrong("this job wants vectors"),
            (_, Outcome::Vectors(_)) => wrong("this job wants a text"),
        }
    }

    fn keep_vectors(
        &mut self,
        items: Vec<IndexItem>,
        vectors: &[Vec<f32>],
        view: &View,
    ) -> Result<Stored, Error> {
        let current: std::collections::BTreeMap<String, &str> =
            view.memos.iter().zip(&view.hashes).map(|(m, h)| (message_key(&m.id), h.as_str())).collect();
        let mut stored = Stored::Kept;
        let new: Vec<(IndexItem, &Vec<f32>)> = items
            .into_iter()
            .zip(vectors)
            .filter(|(item, _)| {
                let message = item.of.starts_with("message:");
                let fresh = !message || current.get(&item.of).is_some_and(|h| *h == item.hash);
                if !fresh {
                    stored = Stored::Stale;
                }
                fresh
            })
            .collect();
        let length = new.first().map_or(0, |(_, v)| v.len());
        if new.iter().any(|(_, v)| v.len() != length || v.iter().any(|x| !x.is_finite())) {
            return Err(Error::new(
                Code::MemoryAnswer,
                "result",
                "the vectors have different lengths, or are no numbers",
            ));
        }
        // The model's name stayed and its vectors are others: what was there is worth nothing.
        if !self.index.items().is_empty() && self.index.dims() != length && length > 0 {
            let embed = &self.settings.embed;
            self.index = super::index::VectorIndex::new(&embed.model, embed.precision);
        }
        for (item, vector) in new {
            self.index.push(item, vector)?;
        }
        Ok(stored)
    }
}
