//! A room's memory: what it brings into a request, and what there is to do for it (spec 10 §19).
//!
//! The memory is asked before a request is built and never waited for. What fails leaves the request without memory, and the
//! report says so.

use serde_json::{Value, json};

use super::Room;
use super::turns::request_value;
use crate::error::Error;
use crate::injections::{DATA_BANK, Injection, Position, SUMMARY, VECTORS};
use crate::js::{self, object};
use crate::memory::{ComposeAsk, Composed, LoreText, Memory, MemoryPlace, MemorySettings, Remembered, View};
use crate::models::{Model, Params, params};
use crate::parts::Kind;
use crate::profile::{MEMORY_FRAME, MEMORY_RECALL, MEMORY_SUMMARY, PROMPT_INJECTIONS};
use crate::provider;
use crate::scene::{Object, Scene, raw_entries};
use crate::tokens::Count;
use crate::turn::{self, About, Recalled, TurnOptions};

impl Room {
    /// The memory, if the room has one.
    pub fn memory(&self) -> Option<&Memory> {
        self.memory.as_deref()
    }

    /// The memory; a room that has none gets one.
    pub fn memory_mut(&mut self) -> &mut Memory {
        self.memory.get_or_insert_with(|| Box::new(Memory::new(MemorySettings::default())))
    }

    /// The chat as the memory sees it.
    pub fn memory_view(&self) -> View {
        View::of(&self.scene)
    }

    /// Characters whose memory is kept: the group's members, or the single chat's character.
    pub fn memory_members(&self) -> Vec<(String, String)> {
        let both = |c: &crate::scene::Character| (c.avatar.clone(), c.name.clone());
        if self.scene.group.is_some() {
            return self.scene.members().map(both).collect();
        }
        let own = self.scene.chat_with.as_deref().and_then(|avatar| self.scene.character(avatar));
        own.or(self.scene.characters.first()).map(both).into_iter().collect()
    }

    /// Lorebook entries that may be found by similarity.
    pub fn memory_lore(&self) -> Vec<LoreText> {
        let all = self.memory().is_some_and(|m| m.settings.lore_all);
        lore_texts(&self.scene, all)
    }

    /// The options of a turn with what the memory brings; the second value is its report.
    pub(super) fn recollect(
        &mut self,
        mut options: TurnOptions,
        count: &dyn Count,
    ) -> (TurnOptions, Option<Value>) {
        let Some(mut memory) = self.memory.take() else { return (options, None) };
        let composed = self.composed(&mut memory, &options, count);
        if let Some(composed) = &composed {
            options.recalled = self.recalled(composed, &memory.settings);
            let exact = self.exact_memory(&memory, about_speaker(&options, self));
            options.recalled.texts.extend(exact.texts);
            options.recalled.hide.extend(exact.hide);
            options.recalled.hide.sort_unstable();
        }
        self.memory = Some(memory);
        let report = composed.map_or_else(
            || Value::Object(object(vec![("degraded", js::texts(vec!["no_room".to_owned()]))])),
            |composed| report(&composed),
        );
        (options, Some(report))
    }

    /// What the memory would bring into a request of a speaker.
    pub fn look_back(&mut self, options: &TurnOptions, count: &dyn Count) -> Option<Value> {
        self.recollect(options.clone(), count).1
    }

    /// `None`: there is no room for a memory.
    fn composed(&self, memory: &mut Memory, options: &TurnOptions, count: &dyn Count) -> Option<Composed> {
        let about = About::of(&self.scene, options, &self.profile, count).ok()?;
        let (context, response) = about.sizes;
        let limit = context.saturating_sub(response);
        #[expect(clippy::cast_precision_loss, reason = "a share of a context size")]
        let pool = js::to_integer((limit as f64 * memory.settings.share).floor());
        let room = usize::try_from(pool).ok().filter(|n| *n > 0)?;
        let mut view = View::of(&self.scene);
        if options.kind == Kind::Swipe {
            view.memos.pop();
            view.hashes.pop();
            view.authors.pop();
        }
        let mut kept_from = None;
        let recall = self.profile.on(&MEMORY_RECALL);
        if recall && memory.settings.recalls && memory.settings.only_dropped {
            // What the history keeps when memory takes all that it may: the rest can be recalled.
            let less = TurnOptions { max_context: Some(context - pool), ..options.clone() };
            let turn = turn::build(&self.scene, &less, &self.profile, count, &mut self.host.clone()).ok()?;
            kept_from = Some(turn.report.cut.first_included_index.unwrap_or(view.memos.len()));
        }
        let speaker = about.speaker;
        let names: Vec<String> =
            std::iter::once(speaker.name.clone()).chain(speaker.aliases.iter().cloned()).collect();
        let lore = lore_texts(&self.scene, memory.settings.lore_all);
        let cost = |text: &str| usize::try_from(count.count(text)).unwrap_or(usize::MAX);
        Some(memory.compose(&ComposeAsk {
            view: &view,
            speaker: &speaker.avatar,
            names: &names,
            kept_from,
            pool: room,
            summary: self.profile.on(&MEMORY_SUMMARY),
            recall,
            framed: self.profile.on(&MEMORY_FRAME),
            lore: &lore,
            cost: &cost,
        }))
    }

    fn recalled(&self, composed: &Composed, settings: &MemorySettings) -> Recalled {
        let places = [
            (SUMMARY, &composed.summary, settings.summary_place),
            (VECTORS, &composed.recalled, settings.recall_place),
            (DATA_BANK, &composed.bank, settings.bank_place),
        ];
        let texts = places
            .into_iter()
            .filter(|(_, text, _)| !text.is_empty())
            .map(|(key, text, place)| (key, self.injection(text, place)))
            .collect();
        let forced =
            composed.lore.iter().filter_map(|(book, uid)| raw_entry(&self.scene, book, uid)).collect();
        Recalled { texts, hide: composed.hide.clone(), forced }
    }

    fn injection(&self, text: &str, place: MemoryPlace) -> Injection {
        // Where depths are not brought into the history's range, a text deeper than the history is lost.
        let length = i64::try_from(self.scene.chat.messages.len()).unwrap_or(i64::MAX);
        let lost = place.position == 1 && place.depth > length && !self.profile.on(&PROMPT_INJECTIONS);
        let position = if lost { Position::AfterMain } else { Position::from_number(place.position) };
        #[expect(clippy::cast_precision_loss, reason = "depths beyond 2^53 are out of range either way")]
        let mut injection = Injection::new(text.to_owned(), position, place.depth as f64, place.role);
        injection.scan = place.scan;
        injection
    }

    /// A request beside the chat, in the preset's model: a job of the memory. Nothing of the preset's prompts goes in.
    pub fn side_request(&self, system: &str, user: &str) -> Result<Value, Error> {
        let model = Model::of(&self.scene.preset, self.ask.model.as_ref());
        let message = |role: &str, text: &str| json!({"role": role, "content": text});
        let messages = vec![message("system", system), message("user", user)];
        let mut settings = self.scene.preset.values.clone();
        js::put(&mut settings, "stream_openai", false.into());
        let p = Params {
            settings: &settings,
            source: model.source,
            model: &model.name,
            kind: Kind::Quiet.as_str(),
            user: &self.scene.persona.name,
            char: "",
            group: &[],
            stop: &[],
            tools: &[],
            logit_bias: None,
            logprobs: false,
            json_schema: None,
            entry: model.entry.as_ref(),
            chat_id: Some(&self.scene.chat.id),
            profile: &self.profile,
        };
        let (mut payload, _): (Object, _) = params(&p, messages, &mut str::to_owned);
        js::put(&mut payload, "stream", false.into());
        provider::request(&payload, &self.provider, &self.profile).map(|request| request_value(&request))
    }
}

/// Who a turn is for.
fn about_speaker<'a>(options: &'a TurnOptions, room: &'a Room) -> &'a str {
    options.speaker.as_deref().or(room.scene.chat_with.as_deref()).unwrap_or("")
}

/// Enabled entries with a text, of all books; only those marked for it unless `all`.
fn lore_texts(scene: &Scene, all: bool) -> Vec<LoreText> {
    let mut out = Vec::new();
    for (book, value) in &scene.lore.books {
        let Some(value) = value.as_object() else { continue };
        for entry in raw_entries(value, "") {
            let flag = |key: &str| entry.value.get(key).is_some_and(js::to_boolean);
            let content = entry.value.get("content").and_then(Value::as_str).unwrap_or("");
            let uid = entry.value.get("uid").map(js::value_to_text);
            if let Some(uid) = uid.filter(|_| !flag("disable") && (all || flag("vectorized")))
                && !js::trim(content).is_empty()
            {
                out.push(LoreText { key: (book.clone(), uid), content: content.to_owned() });
            }
        }
    }
    out
}

/// An entry as lorebooks are forced: the stored object with the name of its book.
fn raw_entry(scene: &Scene, book: &str, uid: &str) -> Option<Value> {
    let value = scene.lore.books.get(book)?.as_object()?;
    let entries = raw_entries(value, "");
    let own = |v: &&Value| v.get("uid").is_some_and(|u| js::value_to_text(u) == uid);
    let mut entry = entries.iter().map(|e| e.value).find(own)?.as_object()?.clone();
    js::put(&mut entry, "world", book.into());
    Some(Value::Object(entry))
}

/// The report of a request's memory.
fn report(composed: &Composed) -> Value {
    let one = |r: &Remembered| {
        let mut out =
            object(vec![("kind", r.kind.into()), ("id", r.id.as_str().into()), ("tokens", r.cost.into())]);
        if let Some(score) = r.score {
            js::put(&mut out, "score", score.into());
        }
        if let Some(cosine) = r.cosine {
            js::put(&mut out, "cosine", f64::from(cosine).into());
        }
        if let Some(rank) = r.word_rank {
            js::put(&mut out, "wordRank", rank.into());
        }
        for (key, flag) in [("leftOut", r.left_out), ("cut", r.cut)] {
            if flag {
                js::put(&mut out, key, true.into());
            }
        }
        Value::Object(out)
    };
    let e = composed.excluded;
    let excluded = [
        ("protected", e.protected),
        ("notHeard", e.not_heard),
        ("hidden", e.hidden),
        ("below", e.below),
        ("overTop", e.over_top),
        ("overBudget", e.over_budget),
    ];
    Value::Object(object(vec![
        ("query", composed.query.as_str().into()),
        ("items", composed.remembered.iter().map(one).collect()),
        ("excluded", Value::Object(object(excluded.into_iter().map(|(k, n)| (k, n.into())).collect()))),
        ("left", composed.left.into()),
        ("degraded", composed.degraded.iter().map(|d| Value::from(*d)).collect()),
        ("summary", composed.summary.as_str().into()),
        ("recalled", composed.recalled.as_str().into()),
        ("bank", composed.bank.as_str().into()),
    ]))
}
