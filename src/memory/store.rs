//! Everything that a chat's memory is: plain data that the caller keeps where it likes, JSON and one block of vectors (spec 10 §19).

use serde_json::Value;

use super::bank::{BankFile, Scope};
use super::bm25::WordIndex;
use super::index::{IndexItem, VectorIndex};
use super::jobs::Job;
use super::private::{Core, Episode, LISTS, Status};
use super::settings::MemorySettings;
use super::summary::SummaryRecord;
use super::view::View;
use crate::error::{Code, Error};
use crate::js::{self, object};
use crate::scene::Object;

/// Query vectors that are kept: a round has few speakers.
const QUERIES: usize = 8;

/// A chat's memory.
#[derive(Debug)]
pub struct Memory {
    /// Settings.
    pub settings: MemorySettings,
    /// Summaries, in the order in which they were made.
    pub records: Vec<SummaryRecord>,
    /// Private memories.
    pub episodes: Vec<Episode>,
    /// What characters are sure of.
    pub cores: Vec<Core>,
    /// Documents.
    pub files: Vec<BankFile>,
    pub(super) index: VectorIndex,
    /// Jobs that were given out.
    pub(super) jobs: Vec<Job>,
    pub(super) next_id: u64,
    pub(super) queries: Vec<(String, Vec<f32>)>,
    pub(super) words: Words,
    /// Owner and id of the last message that memories were extracted from.
    pub(super) extracted: Vec<(String, String)>,
}

/// The words of the chat's messages; grows with the chat.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) index: WordIndex,
    of: Vec<String>,
}

impl Words {
    /// Brings the index up to the chat; a change in its middle makes it anew.
    pub(super) fn follow(&mut self, view: &View) {
        let same = self.of.iter().zip(&view.hashes).take_while(|(a, b)| a == b).count();
        if same < self.of.len() {
            *self = Self::default();
        }
        for (memo, hash) in view.memos.iter().zip(&view.hashes).skip(self.of.len()) {
            self.index.push(&memo.text);
            self.of.push(hash.clone());
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(MemorySettings::default())
    }
}

impl Memory {
    /// An empty memory.
    pub fn new(settings: MemorySettings) -> Self {
        let index = VectorIndex::new(&settings.embed.model, settings.embed.precision);
        Self {
            settings,
            records: Vec::new(),
            episodes: Vec::new(),
            cores: Vec::new(),
            files: Vec::new(),
            index,
            jobs: Vec::new(),
            next_id: 1,
            queries: Vec::new(),
            words: Words::default(),
            extracted: Vec::new(),
        }
    }

    /// Changes settings; another embedding model or precision empties the index.
    pub fn configure(&mut self, value: &Value) -> Result<(), Error> {
        let mut settings = self.settings.clone();
        settings.read(value)?;
        let same =
            settings.embed.model == self.index.model() && settings.embed.precision == self.index.precision();
        if !same {
            self.index = VectorIndex::new(&settings.embed.model, settings.embed.precision);
            self.queries.clear();
        }
        self.settings = settings;
        Ok(())
    }

    /// The vectors.
    pub const fn index(&self) -> &VectorIndex {
        &self.index
    }

    pub(super) fn new_id(&mut self, prefix: &str) -> String {
        let id = format!("{prefix}{}", self.next_id);
        self.next_id += 1;
        id
    }

    /// Keeps the vector of a query text, for the requests to come.
    pub fn set_query(&mut self, text: &str, vector: Vec<f32>) -> Result<(), Error> {
        let dims = self.index.dims();
        if dims != 0 && vector.len() != dims {
            let message = format!("the vector has {} numbers, the index {dims}", vector.len());
            return Err(Error::new(Code::MemoryIndex, "vector", message));
        }
        self.queries.retain(|(t, _)| t != text);
        self.queries.push((text.to_owned(), vector));
        let surplus = self.queries.len().saturating_sub(QUERIES);
        self.queries.drain(..surplus);
        Ok(())
    }

    /// Adds a document, or replaces the one with its id.
    pub fn add_file(&mut self, mut file: BankFile) -> String {
        if file.id.is_empty() {
            file.id = self.new_id("file");
        }
        let id = file.id.clone();
        match self.files.iter_mut().find(|f| f.id == id) {
            Some(slot) => *slot = file,
            None => self.files.push(file),
        }
        id
    }

    /// Deletes a document, a memory or a summary by its id; `false` if there is none.
    pub fn forget(&mut self, id: &str) -> bool {
        let before = self.files.len() + self.episodes.len() + self.records.len();
        self.files.retain(|f| f.id != id);
        self.episodes.retain(|e| e.id != id);
        self.records.retain(|r| r.id != id);
        before != self.files.len() + self.episodes.len() + self.records.len()
    }

    /// Confirms a memory that waits.
    pub fn confirm(&mut self, id: &str) -> bool {
        let Some(at) = self.episodes.iter().position(|e| e.id == id && e.status == Status::Pending) else {
            return false;
        };
        self.take_in(at);
        true
    }

    /// Puts a memory into use; an older one about the same thing is superseded.
    pub(super) fn take_in(&mut self, at: usize) {
        let Some((owner, key)) = self.episodes.get(at).map(|e| (e.owner.clone(), e.fact_key.clone())) else {
            return;
        };
        if !key.is_empty() {
            for older in self.episodes.iter_mut().take(at) {
                if older.owner == owner && older.fact_key == key && older.status == Status::Confirmed {
                    older.status = Status::Superseded;
                }
            }
        }
        if let Some(own) = self.episodes.get_mut(at) {
            own.status = Status::Confirmed;
        }
    }

    /// A summary written by hand, anchored where the one in force is, or at the last message but one.
    pub fn edit_summary(&mut self, view: &View, text: &str, scope: Option<&str>, now: i64) -> Option<String> {
        let at = match super::summary::active(&self.records, &view.anchors(), scope) {
            Some(active) => active.covers.checked_sub(1)?,
            None => view.memos.len().checked_sub(2)?,
        };
        let (memo, hash) = (view.memos.get(at)?, view.hashes.get(at)?);
        let id = self.new_id("s");
        self.records.push(SummaryRecord {
            id: id.clone(),
            text: js::trim(text).to_owned(),
            anchor: memo.id.clone(),
            anchor_hash: hash.clone(),
            scope: scope.map(str::to_owned),
            manual: true,
            created: now,
            ..SummaryRecord::default()
        });
        Some(id)
    }

    /// Takes the summary in force back; the one before counts again.
    pub fn restore_previous(&mut self, view: &View, scope: Option<&str>) -> Option<String> {
        let id = super::summary::active(&self.records, &view.anchors(), scope)?.record.id.clone();
        self.records.iter_mut().filter(|r| r.id == id).for_each(|r| r.removed = true);
        Some(id)
    }

    /// Summaries that SillyTavern left in the messages (`extra.memory`) become records.
    pub fn import_summaries(
        &mut self,
        view: &View,
        told: impl IntoIterator<Item = (usize, String)>,
        now: i64,
    ) -> usize {
        let mut count = 0;
        for (at, text) in told {
            let (Some(memo), Some(hash)) = (view.memos.get(at), view.hashes.get(at)) else { continue };
            let known = self.records.iter().any(|r| r.anchor == memo.id && r.text == text);
            if known || js::trim(&text).is_empty() {
                continue;
            }
            let id = self.new_id("s");
            self.records.push(SummaryRecord {
                id,
                text,
                anchor: memo.id.clone(),
                anchor_hash: hash.clone(),
                created: now,
                ..SummaryRecord::default()
            });
            count += 1;
        }
        count
    }

    /// Summaries as SillyTavern keeps them: position of the message and text, never the last message.
    pub fn export_summaries(&self, view: &View) -> Vec<(usize, String)> {
        let shared = self.records.iter().filter(|r| !r.removed && r.scope.is_none());
        let mut out: Vec<(usize, String)> = Vec::new();
        for record in shared {
            let Some(at) = view.place(&record.anchor).filter(|at| at + 1 < view.memos.len()) else {
                continue;
            };
            out.retain(|(other, _)| *other != at);
            out.push((at, record.text.clone()));
        }
        out
    }

    /// Everything but the vectors, as JSON.
    pub fn to_value(&self) -> Value {
        let text = |t: &str| Value::String(t.to_owned());
        let record = |r: &SummaryRecord| {
            Value::Object(object(vec![
                ("id", text(&r.id)),
                ("text", text(&r.text)),
                ("anchor", text(&r.anchor)),
                ("anchorHash", text(&r.anchor_hash)),
                ("scope", text(r.scope.as_deref().unwrap_or("shared"))),
                ("by", text(if r.manual { "manual" } else { "auto" })),
                ("long", r.long.into()),
                ("created", r.created.into()),
                ("removed", r.removed.into()),
            ]))
        };
        let episode = |e: &Episode| {
            let sources =
                e.sources.iter().map(|(id, hash)| js::texts(vec![id.clone(), hash.clone()])).collect();
            Value::Object(object(vec![
                ("id", text(&e.id)),
                ("owner", text(&e.owner)),
                ("text", text(&e.text)),
                ("emotion", text(&e.emotion)),
                ("importance", e.importance.into()),
                ("keyPoints", js::texts(e.key_points.clone())),
                ("tags", js::texts(e.tags.clone())),
                ("type", text(&e.kind)),
                ("factKey", text(&e.fact_key)),
                ("status", text(e.status.as_str())),
                ("sources", sources),
                ("created", e.created.into()),
            ]))
        };
        let core = |c: &Core| {
            let mut out = object(vec![("owner", text(&c.owner)), ("taken", c.taken.into())]);
            for (name, _) in LISTS {
                js::put(&mut out, name, js::texts(c.list(name).to_vec()));
            }
            Value::Object(out)
        };
        let file = |f: &BankFile| {
            Value::Object(object(vec![
                ("id", text(&f.id)),
                ("name", text(&f.name)),
                ("scope", text(&f.scope.text())),
                ("text", text(&f.text)),
                ("disabled", f.disabled.into()),
            ]))
        };
        let item = |i: &IndexItem| Value::Array(vec![text(&i.of), i.chunk.into(), text(&i.hash)]);
        let extracted = self.extracted.iter().map(|(a, b)| js::texts(vec![a.clone(), b.clone()])).collect();
        Value::Object(object(vec![
            ("v", 1.into()),
            ("model", text(self.index.model())),
            ("summaries", self.records.iter().map(record).collect()),
            ("memories", self.episodes.iter().map(episode).collect()),
            ("cores", self.cores.iter().map(core).collect()),
            ("files", self.files.iter().map(file).collect()),
            ("items", self.index.items().iter().map(item).collect()),
            ("extracted", extracted),
            ("next", self.next_id.into()),
        ]))
    }

    /// Takes the place of everything but the settings. Vectors of another model are left out: they are made anew.
    pub fn load(&mut self, value: &Value, bytes: &[u8]) -> Result<(), Error> {
        let Some(state) = value.as_object() else {
            return Err(Error::new(Code::SceneField, "state", "the state of a memory is an object"));
        };
        let list = |key: &str| state.get(key).and_then(Value::as_array).into_iter().flatten();
        let item = |row: &Value| IndexItem {
            of: row.get(0).map(js::value_to_text).unwrap_or_default(),
            chunk: row.get(1).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
            hash: row.get(2).map(js::value_to_text).unwrap_or_default(),
        };
        let model = &self.settings.embed.model;
        let index = if bytes.is_empty() || state.get("model").and_then(Value::as_str) != Some(model) {
            VectorIndex::new(model, self.settings.embed.precision)
        } else {
            VectorIndex::from_bytes(model, list("items").map(item).collect(), bytes)?
        };
        let mut new = Self { index, ..Self::new(self.settings.clone()) };
        new.records = list("summaries").filter_map(Value::as_object).map(read_record).collect();
        new.episodes = list("memories").filter_map(Value::as_object).map(read_episode).collect();
        new.cores = list("cores").filter_map(Value::as_object).map(read_core).collect();
        new.files = list("files").filter_map(Value::as_object).map(read_file).collect();
        new.extracted = list("extracted").map(|row| (text_at(row, 0), text_at(row, 1))).collect();
        new.next_id = state.get("next").and_then(Value::as_u64).unwrap_or(1);
        *self = new;
        Ok(())
    }
}

fn text_at(row: &Value, at: usize) -> String {
    row.get(at).map(js::value_to_text).unwrap_or_default()
}

fn text_of(o: &Object, key: &str) -> String {
    o.get(key).filter(|v| !v.is_null()).map(js::value_to_text).unwrap_or_default()
}

fn texts_of(o: &Object, key: &str) -> Vec<String> {
    o.get(key).and_then(Value::as_array).into_iter().flatten().map(js::value_to_text).collect()
}

fn flag_of(o: &Object, key: &str) -> bool {
    o.get(key).is_some_and(js::to_boolean)
}

fn number_of(o: &Object, key: &str) -> i64 {
    o.get(key).and_then(Value::as_f64).map_or(0, js::to_integer)
}

fn read_record(o: &Object) -> SummaryRecord {
    SummaryRecord {
        id: text_of(o, "id"),
        text: text_of(o, "text"),
        anchor: text_of(o, "anchor"),
        anchor_hash: text_of(o, "anchorHash"),
        scope: Some(text_of(o, "scope")).filter(|s| !matches!(s.as_str(), "" | "shared")),
        manual: text_of(o, "by") == "manual",
        long: flag_of(o, "long"),
        created: number_of(o, "created"),
        removed: flag_of(o, "removed"),
    }
}

fn read_episode(o: &Object) -> Episode {
    let sources = o.get("sources").and_then(Value::as_array).into_iter().flatten();
    Episode {
        id: text_of(o, "id"),
        owner: text_of(o, "owner"),
        text: text_of(o, "text"),
        emotion: text_of(o, "emotion"),
        importance: u8::try_from(number_of(o, "importance").clamp(1, 10)).unwrap_or(3),
        key_points: texts_of(o, "keyPoints"),
        tags: texts_of(o, "tags"),
        kind: text_of(o, "type"),
        fact_key: text_of(o, "factKey"),
        status: Status::named(&text_of(o, "status")),
        sources: sources.map(|row| (text_at(row, 0), text_at(row, 1))).collect(),
        created: number_of(o, "created"),
    }
}

fn read_core(o: &Object) -> Core {
    let mut core = Core {
        owner: text_of(o, "owner"),
        taken: usize::try_from(number_of(o, "taken")).unwrap_or(0),
        ..Core::default()
    };
    for (name, most) in LISTS {
        *core.list_mut(name) = texts_of(o, name).into_iter().take(most).collect();
    }
    core
}

/// A document from its JSON: `{id?, name, scope?, text, disabled?}`.
pub fn read_file(o: &Object) -> BankFile {
    BankFile {
        id: text_of(o, "id"),
        name: text_of(o, "name"),
        scope: Scope::named(&text_of(o, "scope")).unwrap_or_default(),
        text: text_of(o, "text"),
        disabled: flag_of(o, "disabled"),
    }
}
