//! Memory as SillyTavern has it, where the profile wants that: summaries in the messages' `extra.memory`, recall by its extension's
//! settings (`settings.extensions.memory`, `.vectors`; spec 10 Part 1). The index and its jobs are the room's own.

use indexmap::IndexMap;
use serde_json::Value;

use super::Room;
use crate::error::Error;
use crate::injections::{DATA_BANK, Injection, Position, SUMMARY, VECTORS};
use crate::js::{self, object};
use crate::macros::{self, EnvBase};
use crate::memory::Memory;
use crate::memory::exact::{
    self, DATA_BANK_TEMPLATE, DueRules, Line, RawRules, RecallRules, SUMMARY_PROMPT, SUMMARY_TEMPLATE, Told,
};
use crate::parts::{Effects, Kind};
use crate::profile::{MEMORY_RECALL, MEMORY_SUMMARY};
use crate::tokens::Count;
use crate::turn::{Quiet, Recalled, TurnOptions};

/// Id of the one summary job there can be.
const JOB: &str = "summary";

/// Settings of one of SillyTavern's extensions.
struct Extension<'a>(Option<&'a Value>);

impl<'a> Extension<'a> {
    fn raw(&self, key: &str) -> Option<&'a Value> {
        self.0.and_then(|s| s.get(key))
    }

    fn number(&self, key: &str, default: f64) -> f64 {
        self.raw(key).map_or(default, js::value_to_number)
    }

    fn size(&self, key: &str, default: u32) -> usize {
        let n = js::to_integer(self.number(key, f64::from(default)));
        usize::try_from(n).unwrap_or(0)
    }

    fn flag(&self, key: &str) -> bool {
        self.raw(key).is_some_and(js::to_boolean)
    }

    fn text<'d>(&self, key: &str, default: &'d str) -> &'d str
    where
        'a: 'd,
    {
        self.raw(key).and_then(Value::as_str).unwrap_or(default)
    }

    fn injection(&self, text: String, keys: [&str; 3], depth: f64, scan: &str) -> Injection {
        let [position, deep, role] = keys;
        let place = Position::from_number(js::to_integer(self.number(position, 0.0)));
        let mut injection =
            Injection::new(text, place, self.number(deep, depth), js::to_integer(self.number(role, 0.0)));
        injection.scan = self.flag(scan);
        injection
    }
}

impl Room {
    fn extension(&self, name: &str) -> Extension<'_> {
        Extension(self.scene.settings.extensions.get(name))
    }

    fn told(&self) -> Told {
        let messages = &self.scene.chat.messages;
        let line = |m: &crate::scene::ChatMessage| Line {
            name: m.name.clone(),
            text: m.mes.clone(),
            hidden: m.is_system,
            file_length: m
                .extra("fileLength")
                .and_then(Value::as_u64)
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or(0),
        };
        let memory = |m: &crate::scene::ChatMessage| {
            m.extra("memory").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Told { lines: messages.iter().map(line).collect(), memory: messages.iter().map(memory).collect() }
    }

    /// What SillyTavern's extensions would inject, by the switches that are off.
    pub(super) fn exact_memory(&self, memory: &Memory, speaker: &str) -> Recalled {
        let mut out = Recalled::default();
        if !self.profile.on(&MEMORY_SUMMARY) {
            let settings = self.extension("memory");
            let template = settings.text("template", SUMMARY_TEMPLATE);
            let text = exact::summary_text(template, self.told().latest());
            if !text.is_empty() {
                let injection = settings.injection(text, ["position", "depth", "role"], 2.0, "scan");
                out.texts.push((SUMMARY, injection));
            }
        }
        if !self.profile.on(&MEMORY_RECALL) {
            self.exact_recall(memory, speaker, &mut out);
        }
        out
    }

    fn exact_recall(&self, memory: &Memory, speaker: &str, out: &mut Recalled) {
        let settings = self.extension("vectors");
        let view = self.memory_view();
        let told = self.told();
        let visible: Vec<usize> =
            (0..told.lines.len()).filter(|at| told.lines.get(*at).is_some_and(|l| !l.hidden)).collect();
        let lines: Vec<Line> = visible.iter().filter_map(|at| told.lines.get(*at)).cloned().collect();
        let query = exact::query_text(&lines, settings.size("query", 2));
        if settings.flag("enabled_files") {
            let text = self.exact_bank(memory, &settings, speaker, &query);
            if let Some(text) = text {
                let keys = ["file_position_db", "file_depth_db", "file_depth_role_db"];
                out.texts.push((DATA_BANK, settings.injection(text, keys, 4.0, "include_wi")));
            }
        }
        if !settings.flag("enabled_chats") {
            return;
        }
        let wanted = settings.size("insert", 3);
        let hits: Vec<u64> = memory
            .nearest(&query, &view, speaker, "message:", if wanted == 0 { 10 } else { wanted })
            .into_iter()
            .filter_map(|(item, _)| item.hash.parse().ok())
            .collect();
        let rules = RecallRules {
            protect: js::to_integer(settings.number("protect", 5.0)),
            query: settings.size("query", 2),
            template: settings.text("template", RecallRules::default().template),
        };
        let got = exact::recall(&lines, &hits, &rules);
        if got.text.is_empty() {
            return;
        }
        let kept: std::collections::BTreeSet<usize> = got.history.into_iter().collect();
        out.hide = visible.iter().enumerate().filter(|(i, _)| !kept.contains(i)).map(|(_, at)| *at).collect();
        out.texts.push((VECTORS, settings.injection(got.text, ["position", "depth", ""], 2.0, "include_wi")));
    }

    fn exact_bank(
        &self,
        memory: &Memory,
        settings: &Extension<'_>,
        speaker: &str,
        query: &str,
    ) -> Option<String> {
        #[expect(clippy::cast_possible_truncation, reason = "scores are f32")]
        let threshold = settings.number("score_threshold", 0.25) as f32;
        let view = self.memory_view();
        let mut found: IndexMap<String, Vec<exact::Found>> = IndexMap::new();
        for (item, score) in
            memory.nearest(query, &view, speaker, "file:", settings.size("chunk_count_db", 5))
        {
            let file = memory.files.iter().find(|f| item.of.strip_prefix("file:") == Some(f.id.as_str()));
            let Some(file) = file.filter(|f| score >= threshold && f.seen_by(speaker)) else { continue };
            let chunks = file.chunks(&memory.settings.bank);
            if let Some(text) = chunks.get(item.chunk as usize) {
                found.entry(item.of.clone()).or_default().push((text.clone(), i64::from(item.chunk)));
            }
        }
        exact::data_bank_text(&found, settings.text("file_template_db", DATA_BANK_TEMPLATE))
    }

    fn summary_prompt(&mut self) -> String {
        let settings = self.extension("memory");
        let words = js::number_text(settings.number("promptWords", 200.0));
        let prompt = settings.text("prompt", SUMMARY_PROMPT).replace("{{words}}", &words);
        let mut effects = Effects::default();
        let mut host = self.host.clone();
        let base = EnvBase::new(&self.scene, None, &self.profile);
        macros::expand(&prompt, &base.env(), &mut host, &mut effects)
    }

    /// The summary that SillyTavern would ask for now.
    pub fn exact_summary_job(&mut self, count: &dyn Count) -> Result<Option<Value>, Error> {
        let prompt = self.summary_prompt();
        let settings = self.extension("memory");
        let told = self.told();
        let due = told.due(&DueRules {
            interval: settings.size("promptInterval", 10),
            force_words: settings.size("promptForceWords", 0),
            frozen: settings.flag("memoryFrozen"),
            prompt_empty: prompt.is_empty(),
        });
        // With the source that is set by default, nothing happens unless a server of that kind is connected.
        if settings.text("source", "extras") != "main" || !due {
            return Ok(None);
        }
        let mut job =
            object(vec![("id", JOB.into()), ("kind", "summarise".into()), ("scope", "shared".into())]);
        let (builder, skip_lore) = (settings.number("prompt_builder", 0.0), settings.flag("SkipWIAN"));
        let response =
            Some(js::to_integer(settings.number("overrideResponseLength", 0.0))).filter(|n| *n > 0);
        let options = TurnOptions {
            kind: Kind::Quiet,
            quiet: Some(Quiet { prompt: prompt.clone(), skip_lore, ..Quiet::default() }),
            max_response: response,
            ..TurnOptions::default()
        };
        if builder == 0.0 {
            let at = told.lines.len().saturating_sub(2);
            js::put(&mut job, "index", at.into());
            let (payload, ..) = self.preview(None, None, &options, count)?;
            let request = crate::provider::request(
                payload.as_object().unwrap_or(&crate::scene::Object::new()),
                &self.provider,
                &self.profile,
            )?;
            js::put(&mut job, "request", super::request_value(&request));
            return Ok(Some(Value::Object(job)));
        }
        let (context, reply) = crate::turn::About::of(&self.scene, &options, &self.profile, count)?.sizes;
        let (user, last) = told.raw_prompt(&RawRules {
            prompt: &prompt,
            max_messages: self.extension("memory").size("maxMessagesPerRequest", 0),
            room: context.saturating_sub(reply),
            count: &|text: &str| i64::from(count.count(text)),
        });
        let Some(last) = last else { return Ok(None) };
        js::put(&mut job, "index", last.into());
        js::put(&mut job, "system", prompt.as_str().into());
        js::put(&mut job, "user", user.as_str().into());
        js::put(&mut job, "request", self.side_request(&prompt, &user)?);
        Ok(Some(Value::Object(job)))
    }

    /// Keeps a summary where SillyTavern keeps it. `index`: where the job said; none: the last message but one.
    pub fn exact_summary_store(&mut self, text: &str, index: Option<usize>) -> bool {
        let text = js::trim(text).to_owned();
        let at = index.unwrap_or_else(|| self.scene.chat.messages.len().saturating_sub(2));
        let Some(message) = self.message_mut(at).filter(|_| !text.is_empty()) else { return false };
        message.extra.get_or_insert_default().insert("memory".into(), text.into());
        true
    }

    /// Takes the summary in force away; the one before counts again.
    pub fn exact_summary_restore(&mut self) {
        let mut told = self.told();
        let before = told.memory.clone();
        told.restore_previous();
        let changed = before.iter().zip(&told.memory).position(|(a, b)| a != b);
        if let Some(extra) = changed.and_then(|at| self.message_mut(at)).and_then(|m| m.extra.as_mut()) {
            extra.shift_remove("memory");
        }
    }

    /// The summary in force in SillyTavern's way.
    pub fn exact_summary(&self) -> String {
        self.told().latest().to_owned()
    }
}
