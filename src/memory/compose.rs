//! A chat, a speaker and room in tokens -> the texts that memory puts into that speaker's request, and why (spec 10 §19, §23-§28).
//!
//! Reads only and waits for nothing: without a vector of the query, words alone answer. What does not work gives an empty text and
//! a note in the report.

use std::collections::BTreeMap;

use super::bank::{BankFile, FoundChunk, bank_text, spread};
use super::bm25::WordIndex;
use super::budget::{Booked, Source, book};
use super::frame::{Markers, reference_frame};
use super::fuse::{RRF_K, fuse};
use super::index::{IndexItem, VectorHit, best};
use super::jobs::{LoreText, episode_key, file_key, lore_key, message_key};
use super::private::Episode;
use super::query::query;
use super::recall::{Candidates, Excluded, RecallSettings, candidates, recall};
use super::store::Memory;
use super::summary::{active, injected};
use super::view::View;

/// What is asked of a memory for one request.
pub struct ComposeAsk<'a> {
    /// The chat.
    pub view: &'a View,
    /// Who speaks: avatar.
    pub speaker: &'a str,
    /// The speaker's names, which private memory is not searched for.
    pub names: &'a [String],
    /// The oldest message that the history keeps; what is before it may be recalled. `None`: nothing is known, so all but the
    /// newest messages may be.
    pub kept_from: Option<usize>,
    /// Tokens that memory may take.
    pub pool: usize,
    /// The rolling summary goes in.
    pub summary: bool,
    /// Messages and documents are recalled.
    pub recall: bool,
    /// Recalled text stands in a frame that says what it is.
    pub framed: bool,
    /// Lorebook entries that may be found by similarity.
    pub lore: &'a [LoreText],
    /// Tokens of a text.
    pub cost: &'a dyn Fn(&str) -> usize,
}

/// A thing that was remembered, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remembered {
    /// `pinned`, `core`, `summary`, `memory`, `message`, `file`, `lore`.
    pub kind: &'static str,
    /// Its id: of the message, file, memory, summary; book and uid of an entry.
    pub id: String,
    /// What it was ranked by.
    pub score: Option<f64>,
    /// Cosine with the query.
    pub cosine: Option<f32>,
    /// Rank among the word hits, from 1.
    pub word_rank: Option<usize>,
    /// Tokens.
    pub cost: usize,
    /// It is not in: there was no room.
    pub left_out: bool,
    /// Only its beginning is in.
    pub cut: bool,
}

/// The texts of a request, and the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Composed {
    /// The summary and the pinned facts.
    pub summary: String,
    /// Private memories and recalled messages.
    pub recalled: String,
    /// Documents.
    pub bank: String,
    /// Positions of messages that are recalled, so that the history leaves them out.
    pub hide: Vec<usize>,
    /// Lorebook entries to activate: book and uid.
    pub lore: Vec<(String, String)>,
    /// Everything that was considered for the pool.
    pub remembered: Vec<Remembered>,
    /// Messages that were not recalled, by reason.
    pub excluded: Excluded,
    /// The query.
    pub query: String,
    /// Tokens of the pool that are left for the history.
    pub left: usize,
    /// What did not work: `no_vector`, `no_index`, `stale_summary`, `summary_cut`.
    pub degraded: Vec<&'static str>,
}

impl Memory {
    /// The query of a speaker: what the host embeds, if it wants to.
    pub fn query_text(&self, view: &View, speaker: &str) -> String {
        query(&view.memos, Some(speaker), &self.settings.query)
    }

    /// Vectors that stand for a query: its own if the host gave one, else those of the newest messages in the index.
    fn query_vectors(&self, text: &str, view: &View, speaker: &str) -> Vec<Vec<f32>> {
        let dims = self.index.dims();
        if let Some((_, vector)) = self.queries.iter().find(|(t, v)| t == text && v.len() == dims) {
            return vec![vector.clone()];
        }
        let heard = view.memos.iter().rev().filter(|m| !m.hidden && m.heard_by(Some(speaker)));
        let keys: Vec<String> = heard.take(self.settings.query.count).map(|m| message_key(&m.id)).collect();
        let items = self.index.items().iter().enumerate();
        items.filter(|(_, i)| keys.contains(&i.of)).filter_map(|(at, _)| self.index.vector(at)).collect()
    }

    /// The `k` items under a prefix that are most like a query, best first.
    pub fn nearest(
        &self,
        text: &str,
        view: &View,
        speaker: &str,
        prefix: &str,
        k: usize,
    ) -> Vec<(&IndexItem, f32)> {
        let queries = self.query_vectors(text, view, speaker);
        let scores = self.best_scores(&queries, &mut Composed::default());
        let own =
            self.index.items().iter().zip(&scores).enumerate().filter(|(_, (i, _))| i.of.starts_with(prefix));
        let hits = best(own.map(|(at, (_, score))| (at, *score)), k);
        hits.into_iter().filter_map(|(at, score)| Some((self.index.items().get(at)?, score))).collect()
    }

    /// What goes into a request.
    pub fn compose(&mut self, ask: &ComposeAsk<'_>) -> Composed {
        let mut out =
            Composed { query: self.query_text(ask.view, ask.speaker), left: ask.pool, ..Composed::default() };
        let queries = self.query_vectors(&out.query, ask.view, ask.speaker);
        let scores = self.best_scores(&queries, &mut out);
        let mut room = Room { left: ask.pool, cost: ask.cost };
        let core = self.core_block(ask, &mut room, &mut out);
        if ask.summary {
            self.summary_block(ask, &mut room, &mut out);
        }
        let private = self.private_block(ask, &scores, &mut room, &mut out);
        let mut messages = String::new();
        if ask.recall {
            messages = self.messages_block(ask, &scores, &mut room, &mut out);
            self.bank_block(ask, &scores, &mut room, &mut out);
        }
        self.lore_hits(ask, &scores, &mut out);
        out.left = room.left;

        let blocks = [("Certain", core.as_str()), ("Memories", private.as_str()), ("", messages.as_str())];
        out.recalled = framed(&blocks, ask.framed);
        out.bank = framed(&[("", out.bank.as_str())], ask.framed);
        out
    }

    /// The best cosine of each item over the queries, by key, and the best chunk.
    fn best_scores(&self, queries: &[Vec<f32>], out: &mut Composed) -> Vec<f32> {
        if self.index.items().is_empty() {
            out.degraded.push("no_index");
            return Vec::new();
        }
        let mut all = vec![f32::NEG_INFINITY; self.index.items().len()];
        let mut some = false;
        for scores in queries.iter().filter_map(|q| self.index.scores(q).ok()) {
            some = true;
            for (slot, score) in all.iter_mut().zip(scores) {
                *slot = slot.max(score);
            }
        }
        if some {
            return all;
        }
        out.degraded.push("no_vector");
        Vec::new()
    }

    /// The best score under each key that begins with a prefix.
    fn by_key(&self, scores: &[f32], prefix: &str) -> BTreeMap<&str, (f32, u32)> {
        let mut found: BTreeMap<&str, (f32, u32)> = BTreeMap::new();
        for (item, score) in self.index.items().iter().zip(scores).filter(|(i, _)| i.of.starts_with(prefix)) {
            let slot = found.entry(item.of.as_str()).or_insert((*score, item.chunk));
            if *score > slot.0 {
                *slot = (*score, item.chunk);
            }
        }
        found
    }

    fn core_block(&self, ask: &ComposeAsk<'_>, room: &mut Room<'_>, out: &mut Composed) -> String {
        let text = self.core(ask.speaker).map(super::private::Core::text).unwrap_or_default();
        if text.is_empty() || !self.settings.private.enabled {
            return String::new();
        }
        let entry = Remembered { kind: "core", id: ask.speaker.to_owned(), ..Remembered::default() };
        room.take(text, entry, out)
    }

    fn summary_block(&self, ask: &ComposeAsk<'_>, room: &mut Room<'_>, out: &mut Composed) {
        if !self.settings.summarise {
            return;
        }
        let anchors = ask.view.anchors();
        let own = Some(ask.speaker).filter(|_| self.settings.per_member);
        let found = active(&self.records, &anchors, own).or_else(|| active(&self.records, &anchors, None));
        let text = found.map_or("", |a| a.record.text.as_str());
        let most = room.left.min(self.settings.summary_max.unwrap_or(usize::MAX));
        let (text, cut) = injected(text, &self.settings.summary, most, ask.cost);
        if found.is_some_and(|a| a.stale) {
            out.degraded.push("stale_summary");
        }
        if cut {
            out.degraded.push("summary_cut");
        }
        let id = found.map(|a| a.record.id.clone()).unwrap_or_default();
        if !text.is_empty() || cut {
            let left_out = text.is_empty();
            let entry = Remembered { kind: "summary", id, cut, left_out, ..Remembered::default() };
            out.summary = room.take(text, entry, out);
        }
    }

    /// Memories of the speaker: by meaning and by words, else the most important of the newest.
    fn private_block(
        &self,
        ask: &ComposeAsk<'_>,
        scores: &[f32],
        room: &mut Room<'_>,
        out: &mut Composed,
    ) -> String {
        let rules = &self.settings.private;
        if !rules.enabled {
            return String::new();
        }
        let there: BTreeMap<&str, &str> =
            ask.view.anchors().into_iter().map(|anchor| (anchor.id, anchor.hash)).collect();
        let alive = |e: &&Episode| {
            e.sources.iter().all(|(id, hash)| there.get(id.as_str()).is_some_and(|own| own == hash))
        };
        let own: Vec<&Episode> = self.confirmed(ask.speaker).filter(alive).collect();
        if own.is_empty() {
            return String::new();
        }
        let stripped = super::query::strip_names(&out.query, ask.names);
        let keys: Vec<String> = own.iter().map(|e| episode_key(&e.id)).collect();
        let cosines = self.by_key(scores, "memory:");
        let mut by_cosine: Vec<VectorHit> = keys
            .iter()
            .enumerate()
            .filter_map(|(i, key)| Some((i, cosines.get(key.as_str())?.0)))
            .filter(|(_, score)| *score >= self.settings.recall.threshold)
            .collect();
        by_cosine = best(by_cosine.into_iter(), usize::MAX);
        let texts: Vec<String> = own.iter().map(|e| e.searched()).collect();
        let by_words = WordIndex::new(texts.iter().map(String::as_str)).search(&stripped);
        let lists = [
            by_cosine.iter().filter_map(|(i, _)| keys.get(*i)).map(String::as_str).collect::<Vec<_>>(),
            by_words.iter().filter_map(|h| keys.get(h.doc)).map(String::as_str).collect(),
        ];
        let place = |key: &str| keys.iter().position(|k| k == key);
        let mut ranked: Vec<(usize, f64)> = fuse(&lists, &[], RRF_K)
            .into_iter()
            .filter_map(|(key, score)| Some((place(key)?, score)))
            .collect();
        // Ties by importance, then newer.
        let weight = |at: usize| own.get(at).map_or(0, |e| e.importance);
        crate::js::sort_by(&mut ranked, |a, b| {
            b.1.total_cmp(&a.1).then(weight(b.0).cmp(&weight(a.0))).then(b.0.cmp(&a.0))
        });
        ranked.truncate(rules.top);
        if ranked.is_empty() {
            let mut newest: Vec<usize> = (0..own.len()).rev().take(20).collect();
            crate::js::sort_by_key(&mut newest, |at| std::cmp::Reverse(weight(*at)));
            ranked = newest.into_iter().take(2).map(|at| (at, 0.0)).collect();
        }
        let mut taken: Vec<usize> = Vec::new();
        for (at, score) in ranked {
            let Some(episode) = own.get(at) else { continue };
            let entry = Remembered {
                kind: "memory",
                id: episode.id.clone(),
                score: Some(score).filter(|s| *s > 0.0),
                cosine: keys.get(at).and_then(|k| cosines.get(k.as_str())).map(|(s, _)| *s),
                word_rank: by_words.iter().position(|h| h.doc == at).map(|r| r + 1),
                ..Remembered::default()
            };
            if !room.take(episode.line(), entry, out).is_empty() {
                taken.push(at);
            }
        }
        // Oldest first.
        taken.sort_unstable();
        taken.iter().filter_map(|at| own.get(*at)).map(|e| e.line()).collect::<Vec<_>>().join("\n")
    }

    fn messages_block(
        &mut self,
        ask: &ComposeAsk<'_>,
        scores: &[f32],
        room: &mut Room<'_>,
        out: &mut Composed,
    ) -> String {
        if !self.settings.recalls || out.query.is_empty() {
            return String::new();
        }
        let settings = RecallSettings {
            candidates: match ask.kept_from {
                Some(from) if self.settings.only_dropped => Candidates::Dropped(from),
                _ => Candidates::Unprotected,
            },
            budget: Some(room.left.min(self.settings.recall.budget.unwrap_or(usize::MAX))),
            ..self.settings.recall.clone()
        };
        let memos = &ask.view.memos;
        self.words.follow(ask.view);
        let (open, _) = candidates(memos, Some(ask.speaker), &settings);
        let tokens = self.words.index.query(&out.query);
        let by_words: Vec<usize> = self
            .words
            .index
            .search_tokens(&tokens, &|doc| open.binary_search(&doc).is_ok())
            .into_iter()
            .map(|hit| hit.doc)
            .collect();
        let found = self.by_key(scores, "message:");
        let aged = |at: usize, score: f32| match self.settings.half_life {
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a weight")]
            Some(half) if half > 0.0 => score * libm::exp2(-((memos.len() - at) as f64) / half) as f32,
            _ => score,
        };
        let cosines: Vec<Option<f32>> = memos
            .iter()
            .enumerate()
            .map(|(at, m)| found.get(message_key(&m.id).as_str()).map(|(score, _)| aged(at, *score)))
            .collect();
        let got = recall(memos, &cosines, Some(&by_words), Some(ask.speaker), &settings, ask.cost);
        out.excluded = got.excluded;
        for picked in &got.picked {
            room.left = room.left.saturating_sub(picked.cost);
            out.hide.push(picked.at);
            out.remembered.push(Remembered {
                kind: "message",
                id: memos.get(picked.at).map(|m| m.id.clone()).unwrap_or_default(),
                score: Some(picked.score),
                cosine: picked.cosine,
                word_rank: picked.word_rank,
                cost: picked.cost,
                ..Remembered::default()
            });
        }
        out.hide.sort_unstable();
        got.text
    }

    fn bank_block(&self, ask: &ComposeAsk<'_>, scores: &[f32], room: &mut Room<'_>, out: &mut Composed) {
        let files: Vec<&BankFile> = self.files.iter().filter(|f| f.seen_by(ask.speaker)).collect();
        if files.is_empty() || out.query.is_empty() {
            return;
        }
        let rules = &self.settings.bank;
        let chunks: Vec<Vec<String>> = files.iter().map(|f| f.chunks(rules)).collect();
        let all: Vec<FoundChunk<'_>> = chunks
            .iter()
            .enumerate()
            .flat_map(|(file, list)| {
                list.iter().enumerate().map(move |(chunk, text)| FoundChunk { file, chunk, text })
            })
            .collect();
        let mut words = WordIndex::new(all.iter().map(|c| c.text));
        let by_words = words.search(&out.query);
        let cosines: BTreeMap<(&str, u32), f32> = self
            .index
            .items()
            .iter()
            .zip(scores)
            .filter(|(i, _)| i.of.starts_with("file:"))
            .map(|(i, s)| ((i.of.as_str(), i.chunk), *s))
            .collect();
        let file_keys: Vec<String> = files.iter().map(|f| file_key(&f.id)).collect();
        let cosine = |c: &FoundChunk<'_>| {
            let chunk = u32::try_from(c.chunk).ok()?;
            cosines.get(&(file_keys.get(c.file)?.as_str(), chunk)).copied()
        };
        let rated = all.iter().enumerate().filter_map(|(i, c)| Some((i, cosine(c)?)));
        let by_cosine = best(rated.filter(|(_, s)| *s >= self.settings.recall.threshold), usize::MAX);
        let keys: Vec<String> = (0..all.len()).map(|i| i.to_string()).collect();
        let lists = [
            by_cosine.iter().filter_map(|(i, _)| keys.get(*i)).map(String::as_str).collect::<Vec<_>>(),
            by_words.iter().filter_map(|h| keys.get(h.doc)).map(String::as_str).collect(),
        ];
        let fused = fuse(&lists, &[], RRF_K);
        let score = |c: &FoundChunk<'_>| {
            fused.iter().find(|(k, _)| k.parse().is_ok_and(|i: usize| all.get(i) == Some(c))).map(|(_, s)| *s)
        };
        let ranked = fused.iter().filter_map(|(key, _)| all.get(key.parse::<usize>().ok()?).copied());
        let wanted = spread(ranked, rules);
        let mut taken: Vec<FoundChunk<'_>> = Vec::new();
        let outer = room.left;
        room.left = outer.min(self.settings.bank_max.unwrap_or(usize::MAX));
        let capped = outer - room.left;
        for found in wanted {
            let entry = Remembered {
                kind: "file",
                id: format!("{}#{}", files.get(found.file).map_or("", |f| f.id.as_str()), found.chunk),
                score: score(&found),
                cosine: cosine(&found),
                ..Remembered::default()
            };
            if !room.take(found.text.to_owned(), entry, out).is_empty() {
                taken.push(found);
            }
        }
        room.left += capped;
        if !taken.is_empty() {
            out.bank = rules.template.replace("{{text}}", &bank_text(&taken, &files, rules.titles));
        }
    }

    fn lore_hits(&self, ask: &ComposeAsk<'_>, scores: &[f32], out: &mut Composed) {
        let found = self.by_key(scores, "lore:");
        let keys: Vec<String> = ask.lore.iter().map(|e| lore_key(&e.key.0, &e.key.1)).collect();
        let hits = keys.iter().enumerate().filter_map(|(i, key)| Some((i, found.get(key.as_str())?.0)));
        let hits = best(hits.filter(|(_, s)| *s >= self.settings.recall.threshold), self.settings.lore_top);
        for (at, score) in hits {
            let Some(entry) = ask.lore.get(at) else { continue };
            out.lore.push(entry.key.clone());
            out.remembered.push(Remembered {
                kind: "lore",
                id: format!("{}#{}", entry.key.0, entry.key.1),
                score: Some(f64::from(score)),
                cosine: Some(score),
                ..Remembered::default()
            });
        }
    }
}

/// What is left of the pool.
struct Room<'a> {
    left: usize,
    cost: &'a dyn Fn(&str) -> usize,
}

impl Room<'_> {
    /// Books a text, or leaves it out whole.
    fn take(&mut self, text: String, entry: Remembered, out: &mut Composed) -> String {
        let source = Source { items: vec![&text], ..Source::default() };
        let (booked, left) = book(&[source], self.left, self.cost);
        let fits = matches!(booked.first().and_then(|b| b.first()), Some(Booked::Whole(_)));
        let cost = self.left - left;
        self.left = left;
        out.remembered.push(Remembered { cost, left_out: !fits || entry.left_out, ..entry });
        if fits { text } else { String::new() }
    }
}

fn framed(blocks: &[(&str, &str)], frame: bool) -> String {
    if frame {
        return reference_frame(blocks, &Markers::default());
    }
    let texts = blocks.iter().map(|(_, text)| *text).filter(|t| !t.is_empty());
    texts.collect::<Vec<_>>().join("\n\n")
}
