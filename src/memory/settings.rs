//! Settings of a room's memory, as JSON gives them: what is left out keeps its default (spec 10 Part 2).

use serde_json::Value;

use super::index::Precision;
use super::query::QueryRules;
use super::recall::{Order, RecallSettings};
use super::summary::SummarySettings;
use crate::error::{Code, Error};
use crate::js;

/// Where a text goes in the prompt: the numbers of an injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlace {
    /// -1 nowhere, 0 behind the main prompt, 1 in the chat at a depth, 2 before the main prompt.
    pub position: i64,
    /// Messages behind it.
    pub depth: i64,
    /// 0 system, 1 user, 2 assistant.
    pub role: i64,
    /// Lorebook keys are looked for in it.
    pub scan: bool,
}

impl MemoryPlace {
    /// In the chat, as a system message.
    const fn at(depth: i64) -> Self {
        Self { position: 1, depth, role: 0, scan: false }
    }
}

/// Documents.
#[derive(Clone, Debug, PartialEq)]
pub struct BankSettings {
    /// Files longer than this many bytes are cut.
    pub size_threshold: usize,
    /// Code points of a chunk.
    pub chunk: usize,
    /// Code points that two chunks may share.
    pub overlap: usize,
    /// Chunks at most.
    pub top: usize,
    /// Chunks of one file at most.
    pub max_per_file: usize,
    /// Around the text.
    pub template: String,
    /// Each file's text begins with its name.
    pub titles: bool,
}

/// Memory of one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateSettings {
    /// Memories are extracted and recalled.
    pub enabled: bool,
    /// Replies of the owner between two extractions.
    pub every: usize,
    /// Memories of less importance are not kept.
    pub min_importance: u8,
    /// New memories wait until someone confirms them.
    pub review: bool,
    /// Memories at most.
    pub top: usize,
    /// Confirmed memories between two consolidations; 0 is never.
    pub consolidate: usize,
}

/// What embeds texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbedSettings {
    /// A provider's name; empty: the host embeds by itself.
    pub provider: String,
    /// Address, where the provider has none of its own.
    pub base: String,
    /// The model; vectors of different models are never compared. Empty: nothing is embedded, words alone answer.
    pub model: String,
    /// Wanted dimensions.
    pub dimensions: Option<u64>,
    /// Texts of one job.
    pub batch: usize,
    /// How numbers are kept.
    pub precision: Precision,
}

/// All settings.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "options, each with a name and a default")]
pub struct MemorySettings {
    /// Share of the prompt that memory may take.
    pub share: f64,
    /// The rolling summary is made and injected.
    pub summarise: bool,
    /// Each member has a summary of what it heard.
    pub per_member: bool,
    /// The rolling summary.
    pub summary: SummarySettings,
    /// Where the summary goes.
    pub summary_place: MemoryPlace,
    /// Tokens of the summary at most.
    pub summary_max: Option<usize>,
    /// Messages are recalled.
    pub recalls: bool,
    /// Only what the history had to leave out is recalled; else anything but the newest messages.
    pub only_dropped: bool,
    /// Recall of messages.
    pub recall: RecallSettings,
    /// The query.
    pub query: QueryRules,
    /// Where recalled messages and private memories go.
    pub recall_place: MemoryPlace,
    /// Half-life of a message's score in messages; `None`: age does not count.
    pub half_life: Option<f64>,
    /// Documents.
    pub bank: BankSettings,
    /// Where documents go.
    pub bank_place: MemoryPlace,
    /// Tokens of documents at most.
    pub bank_max: Option<usize>,
    /// Lorebook entries at most that are activated by similarity.
    pub lore_top: usize,
    /// Not only entries that are marked for it.
    pub lore_all: bool,
    /// Memory of one character.
    pub private: PrivateSettings,
    /// What embeds texts.
    pub embed: EmbedSettings,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            share: 0.25,
            summarise: true,
            per_member: false,
            summary: SummarySettings::default(),
            // The deepest depth there is: the beginning of the history.
            summary_place: MemoryPlace::at(10_000),
            summary_max: None,
            recalls: true,
            only_dropped: true,
            recall: RecallSettings::default(),
            query: QueryRules::default(),
            recall_place: MemoryPlace::at(4),
            half_life: None,
            bank: BankSettings {
                size_threshold: 5 * 1024,
                chunk: 2500,
                overlap: 0,
                top: 5,
                max_per_file: 3,
                template: "Related information:\n{{text}}".to_owned(),
                titles: false,
            },
            bank_place: MemoryPlace::at(4),
            bank_max: None,
            lore_top: 5,
            lore_all: false,
            private: PrivateSettings {
                enabled: false,
                every: 3,
                min_importance: 5,
                review: false,
                top: 4,
                consolidate: 5,
            },
            embed: EmbedSettings { batch: 32, ..EmbedSettings::default() },
        }
    }
}

impl MemorySettings {
    /// Reads settings over those that hold now. An unknown key or a value of another type is an error that names it.
    pub fn read(&mut self, value: &Value) -> Result<(), Error> {
        for (key, value) in fields(value, "")? {
            match key.as_str() {
                "share" => self.share = Field(key, value).number()?.clamp(0.0, 1.0),
                "summary" => self.read_summary(value)?,
                "recall" => self.read_recall(value)?,
                "bank" => self.read_bank(value)?,
                "lore" => self.read_lore(value)?,
                "private" => self.read_private(value)?,
                "embed" => self.read_embed(value)?,
                _ => return Err(unknown(key)),
            }
        }
        Ok(())
    }

    fn read_summary(&mut self, value: &Value) -> Result<(), Error> {
        for (key, value) in fields(value, "summary")? {
            let path = format!("summary.{key}");
            let f = Field(&path, value);
            let s = &mut self.summary;
            match key.as_str() {
                "enabled" => self.summarise = f.flag()?,
                "perMember" => self.per_member = f.flag()?,
                "interval" => s.interval = f.size()?,
                "forceWords" => s.force_words = f.size()?,
                "keepRecent" => s.keep_recent = f.size()?,
                "frozen" => s.frozen = f.flag()?,
                "words" => s.words = f.size()?,
                "prompt" => s.prompt = f.text()?,
                "template" => s.template = f.text()?,
                "pinned" => s.pinned = f.texts()?,
                "budget" => s.budget = f.size_or_none()?,
                "max" => self.summary_max = f.size_or_none()?,
                "place" => place(&mut self.summary_place, value, &path)?,
                _ => return Err(unknown(&path)),
            }
        }
        Ok(())
    }

    fn read_recall(&mut self, value: &Value) -> Result<(), Error> {
        for (key, value) in fields(value, "recall")? {
            let path = format!("recall.{key}");
            let f = Field(&path, value);
            let r = &mut self.recall;
            match key.as_str() {
                "enabled" => self.recalls = f.flag()?,
                "candidates" => self.only_dropped = f.one_of(&["unprotected", "dropped"])? == 1,
                "threshold" => {
                    #[expect(clippy::cast_possible_truncation, reason = "scores are f32")]
                    let threshold = f.number()? as f32;
                    r.threshold = threshold;
                }
                "top" => r.top = f.size()?,
                "protect" => r.protect = f.size()?,
                "order" => {
                    r.order = if f.one_of(&["chronological", "relevance"])? == 1 {
                        Order::Relevance
                    } else {
                        Order::Chronological
                    }
                }
                "template" => r.template = f.text()?,
                "max" => r.budget = f.size_or_none()?,
                "keepHidden" => r.keep_hidden = f.flag()?,
                "query" => self.query.count = f.size()?,
                "queryMin" => self.query.min = f.size()?,
                "halfLife" => self.half_life = if value.is_null() { None } else { Some(f.number()?) },
                "place" => place(&mut self.recall_place, value, &path)?,
                _ => return Err(unknown(&path)),
            }
        }
        Ok(())
    }

    fn read_bank(&mut self, value: &Value) -> Result<(), Error> {
        for (key, value) in fields(value, "bank")? {
            let path = format!("bank.{key}");
            let f = Field(&path, value);
            let b = &mut self.bank;
            match key.as_str() {
                "sizeThreshold" => b.size_threshold = f.size()?,
                "chunk" => b.chunk = f.size()?,
                "overlap" => b.overlap = f.size()?,
                "top" => b.top = f.size()?,
                "maxPerFile" => b.max_per_file = f.size()?,
                "template" => b.template = f.text()?,
                "titles" => b.titles = f.flag()?,
                "max" => self.bank_max = f.size_or_none()?,
                "place" => place(&mut self.bank_place, value, &path)?,
                _ => return Err(unknown(&path)),
            }
        }
        Ok(())
    }

    fn read_lore(&mut self, value: &Value) -> Result<(), Error> {
        for (key, value) in fields(value, "lore")? {
            let path = format!("lore.{key}");
            let f = Field(&path, value);
            match key.as_str() {
                "top" => self.lore_top = f.size()?,
                "all" => self.lore_all = f.flag()?,
                _ => return Err(unknown(&path)),
            }
        }
        Ok(())
    }

    fn read_private(&mut self, value: &Value) -> Result<(), Error> {
        for (key, value) in fields(value, "private")? {
            let path = format!("private.{key}");
            let f = Field(&path, value);
            let p = &mut self.private;
            match key.as_str() {
                "enabled" => p.enabled = f.flag()?,
                "every" => p.every = f.size()?.max(1),
                "minImportance" => p.min_importance = u8::try_from(f.size()?.min(10)).unwrap_or(10),
                "review" => p.review = f.flag()?,
                "top" => p.top = f.size()?,
                "consolidate" => p.consolidate = f.size()?,
                _ => return Err(unknown(&path)),
            }
        }
        Ok(())
    }

    fn read_embed(&mut self, value: &Value) -> Result<(), Error> {
        for (key, value) in fields(value, "embed")? {
            let path = format!("embed.{key}");
            let f = Field(&path, value);
            let e = &mut self.embed;
            match key.as_str() {
                "provider" => {
                    e.provider = f.text()?;
                    if !e.provider.is_empty() {
                        super::embed::Provider::named(&e.provider).map_err(|e| e.under("embed"))?;
                    }
                }
                "base" => e.base = f.text()?,
                "model" => e.model = f.text()?,
                "dimensions" => e.dimensions = f.size_or_none()?.map(|n| n as u64),
                "batch" => e.batch = f.size()?.max(1),
                "precision" => {
                    e.precision =
                        if f.one_of(&["f32", "int8"])? == 1 { Precision::Int8 } else { Precision::F32 };
                }
                _ => return Err(unknown(&path)),
            }
        }
        Ok(())
    }
}

fn place(place: &mut MemoryPlace, value: &Value, path: &str) -> Result<(), Error> {
    for (key, value) in fields(value, path)? {
        let path = format!("{path}.{key}");
        let f = Field(&path, value);
        match key.as_str() {
            "position" => place.position = js::to_integer(f.number()?),
            "depth" => place.depth = js::to_integer(f.number()?),
            "role" => place.role = js::to_integer(f.number()?),
            "scan" => place.scan = f.flag()?,
            _ => return Err(unknown(&path)),
        }
    }
    Ok(())
}

fn fields<'v>(value: &'v Value, path: &str) -> Result<&'v crate::scene::Object, Error> {
    value.as_object().ok_or_else(|| Error::new(Code::OptionUnknown, path, "this must be an object"))
}

fn unknown(path: &str) -> Error {
    Error::new(Code::OptionUnknown, path, "there is no such setting; docs/memory.md lists them")
}

/// A value and its path.
struct Field<'a>(&'a str, &'a Value);

impl Field<'_> {
    fn wrong<T>(&self, what: &str) -> Result<T, Error> {
        Err(Error::new(Code::OptionUnknown, self.0, format!("this must be {what}")))
    }

    fn flag(&self) -> Result<bool, Error> {
        self.1.as_bool().map_or_else(|| self.wrong("true or false"), Ok)
    }

    fn number(&self) -> Result<f64, Error> {
        self.1.as_f64().map_or_else(|| self.wrong("a number"), Ok)
    }

    fn size(&self) -> Result<usize, Error> {
        let n = js::to_integer(self.number()?);
        usize::try_from(n).map_or_else(|_| self.wrong("a number from 0 on"), Ok)
    }

    fn size_or_none(&self) -> Result<Option<usize>, Error> {
        if self.1.is_null() { Ok(None) } else { self.size().map(Some) }
    }

    fn text(&self) -> Result<String, Error> {
        self.1.as_str().map_or_else(|| self.wrong("a text"), |t| Ok(t.to_owned()))
    }

    fn texts(&self) -> Result<Vec<String>, Error> {
        let list = self.1.as_array().map(|l| l.iter().map(|t| t.as_str().map(str::to_owned)).collect());
        list.flatten().map_or_else(|| self.wrong("a list of texts"), Ok)
    }

    fn one_of(&self, words: &[&str]) -> Result<usize, Error> {
        let at = self.1.as_str().and_then(|t| words.iter().position(|w| *w == t));
        at.map_or_else(|| self.wrong(&format!("one of {}", words.join(", "))), Ok)
    }
}
