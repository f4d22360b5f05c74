//! Regex scripts: a text, where it stands and which way it goes -> the text as the scripts leave it, with what each of them did.
//!
//! Spec: 05 Part 1A, Part 2 R1-R16, Part 3. Reading order: [`run`] (which scripts) -> `replace` (one script) -> `find` (its pattern) -> `script`
//! (its data). Differs under `scripts.depth`, `scripts.replacement`, `scripts.pattern`, `scripts.owner`, `scripts.order`.
//! Must not know: prompts, lorebooks, replies; they call it. Limits: `Limits::regex_*`, `Limits::script_*`; a script over one leaves the text as
//! it was and is named in `effects.notes`. No pattern is refused for its looks.
//! Cost: one pass over the text for each script whose pattern can begin somewhere in it.

mod find;
mod replace;
mod script;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use serde_json::Value;

pub use find::Substitute;
pub use script::Script;

use crate::error::Warning;
use crate::host::{Host, Limits};
use crate::js::regexp::Text;
use crate::macros::{Env, Trust};
use crate::parts::Effects;
use crate::profile::{self, Profile};
use crate::scene::{ChatMessage, Scene};
use find::Pattern;
use replace::{Context, Stop};

/// What kind of text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Written by the user.
    UserInput,
    /// Written by the model.
    AiOutput,
    /// Written by a command, such as a narrator's line.
    SlashCommand,
    /// A lorebook entry.
    Lore,
    /// The model's reasoning.
    Reasoning,
}

/// Whose script it is. In the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ScriptScope"))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The user's.
    Global,
    /// The preset's.
    Preset,
    /// A card's.
    Character,
}

/// One call: where the text stands and which way it goes (spec 05 §4, §5). Neither `markdown` nor `prompt`: the text is stored.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What kind of text it is.
    pub placement: Placement,
    /// For display.
    pub markdown: bool,
    /// For a request.
    pub prompt: bool,
    /// A stored message is being edited.
    pub edit: bool,
    /// Messages behind it, where that is known; -1 is the message being continued.
    pub depth: Option<i64>,
    /// Messages before it in the whole chat, where that is known.
    pub index: Option<usize>,
    /// Avatar of the character whose turn it is; its scripts run if they are allowed.
    pub speaker: Option<&'a str>,
    /// Avatar of the character who wrote the text, if a character did. Under `scripts.owner` its scripts run instead.
    pub author: Option<&'a str>,
    /// A name for `{{char}}` other than the speaker's: the message's.
    pub name: Option<&'a str>,
}

impl Call<'_> {
    /// A call for text that will be stored, without anything else known.
    pub const fn new(placement: Placement) -> Self {
        Self {
            placement,
            markdown: false,
            prompt: false,
            edit: false,
            depth: None,
            index: None,
            speaker: None,
            author: None,
            name: None,
        }
    }
}

/// What one script did.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ScriptChange"))]
pub struct Change {
    /// Name of the script.
    pub script: String,
    /// Whose it is.
    pub scope: Scope,
    /// How many matches it replaced.
    pub matches: usize,
    /// Nothing is left of the text.
    pub emptied: bool,
}

/// A text as the scripts leave it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The text.
    pub text: String,
    /// The scripts that changed it, in the order they ran.
    pub changes: Vec<Change>,
}

/// The scripts of a scene with their patterns, made once and used for every text.
#[derive(Debug, Default)]
pub struct CompiledScripts {
    global: Vec<Compiled>,
    preset: Vec<Compiled>,
    /// Avatar -> its card's scripts; only those that are allowed.
    character: IndexMap<String, Vec<Compiled>>,
    /// Patterns with macros that were used last, by expanded find text.
    recent: Mutex<VecDeque<(String, Arc<Pattern>)>>,
    fixed_patterns: bool,
}

#[derive(Debug)]
struct Compiled {
    script: Script,
    /// `None`: the find text has macros, so the pattern depends on the moment.
    pattern: Option<Arc<Pattern>>,
}

/// Patterns kept for find texts with macros.
const RECENT: usize = 64;

/// A script that was stopped this often in one request is left out of the rest of it.
const PATIENCE: usize = 3;

impl Placement {
    /// The reference's number.
    pub const fn number(self) -> u8 {
        match self {
            Self::UserInput => 1,
            Self::AiOutput => 2,
            Self::SlashCommand => 3,
            Self::Lore => 5,
            Self::Reasoning => 6,
        }
    }

    /// From its number.
    pub const fn from_number(n: i64) -> Option<Self> {
        Some(match n {
            1 => Self::UserInput,
            2 => Self::AiOutput,
            3 => Self::SlashCommand,
            5 => Self::Lore,
            6 => Self::Reasoning,
            _ => return None,
        })
    }

    /// That of a message's text. In a request the reference takes a narrator's line for model output; under `scripts.owner` it is a
    /// command's everywhere (fault R7).
    pub fn of(message: &ChatMessage, prompt: bool, profile: &Profile) -> Self {
        if message.is_user {
            Self::UserInput
        } else if message.is_narrator() && (!prompt || profile.on(&profile::SCRIPTS_OWNER)) {
            Self::SlashCommand
        } else {
            Self::AiOutput
        }
    }
}

impl CompiledScripts {
    /// Reads and compiles the scripts of a scene: the user's, the preset's as far as the host brought them, and those of the cards
    /// that the host allows. What is wrong with one is in the warnings, and that one does nothing.
    pub fn new(scene: &Scene, profile: &Profile, limits: &Limits) -> (Self, Vec<Warning>) {
        let mut warnings = Vec::new();
        let fixed = profile.on(&profile::SCRIPTS_PATTERN);
        let mut list = |values: &[Value], scope: Scope, at: &str| {
            compile(values, scope, at, fixed, limits, &mut warnings)
        };
        let global = list(&scene.scripts.global, Scope::Global, "scripts.global");
        let preset = list(&scene.scripts.preset, Scope::Preset, "scripts.preset");
        let mut character = IndexMap::new();
        for avatar in &scene.scripts.allowed_characters {
            let Some(card) = scene.character(avatar) else { continue };
            if let Some(Value::Array(values)) = card.extensions.get("regex_scripts") {
                let at = format!("characters[{avatar}].regex_scripts");
                character.insert(avatar.clone(), list(values, Scope::Character, &at));
            }
        }
        let recent = Mutex::default();
        (Self { global, preset, character, recent, fixed_patterns: fixed }, warnings)
    }

    /// All scripts: the user's, the preset's, the cards'.
    pub fn scripts(&self) -> impl Iterator<Item = &Script> {
        let cards = self.character.values().flatten();
        self.global.iter().chain(&self.preset).chain(cards).map(|c| &c.script)
    }

    /// The scripts of a call, in the order they run.
    /// Whether there are no scripts at all.
    pub fn is_empty(&self) -> bool {
        self.global.is_empty() && self.preset.is_empty() && self.character.is_empty()
    }

    fn candidates(&self, call: &Call<'_>, env: &Env<'_>) -> Vec<&Compiled> {
        let profile = env.profile;
        let owner = match call.author {
            Some(author) if profile.on(&profile::SCRIPTS_OWNER) => Some(author),
            _ => call.speaker,
        };
        let cards = owner.and_then(|avatar| self.character.get(avatar)).map_or(&[][..], Vec::as_slice);
        let mut list: Vec<_> = self
            .global
            .iter()
            .chain(&self.preset)
            .chain(cards)
            .filter(|c| applies(&c.script, call, profile))
            .collect();
        if profile.on(&profile::SCRIPTS_ORDER) {
            crate::js::sort_by(&mut list, |a, b| a.script.priority.total_cmp(&b.script.priority));
        }
        list
    }

    fn pattern(
        &self,
        compiled: &Compiled,
        env: &Env<'_>,
        host: &mut Host,
        effects: &mut Effects,
    ) -> Arc<Pattern> {
        if let Some(pattern) = &compiled.pattern {
            return pattern.clone();
        }
        let script = &compiled.script;
        let mut find =
            find::substituted(&script.find, script.substitute, self.fixed_patterns, env, host, effects);
        if find.len() > host.limits.script_find {
            find.clear(); // no pattern, as if it had been written so long
        }
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = recent.iter().position(|(known, _)| *known == find) {
            if let Some(entry) = recent.remove(at) {
                recent.push_back(entry);
            }
        } else {
            if recent.len() == RECENT {
                recent.pop_front();
            }
            let pattern = Arc::new(Pattern::new(&find, self.fixed_patterns));
            recent.push_back((find, pattern));
        }
        recent.back().map_or_else(|| Arc::new(Pattern::new("", false)), |(_, pattern)| pattern.clone())
    }
}

fn compile(
    values: &[Value],
    scope: Scope,
    at: &str,
    fixed: bool,
    limits: &Limits,
    warnings: &mut Vec<Warning>,
) -> Vec<Compiled> {
    if values.len() > limits.scripts {
        let what = format!("only the first {} scripts run", limits.scripts);
        warnings.push(Warning::new("script-dropped", at, what));
    }
    let mut out = Vec::new();
    for (i, value) in values.iter().take(limits.scripts).enumerate() {
        let Some(script) = Script::read(value, scope, format!("{at}[{i}]"), limits, warnings) else {
            continue;
        };
        let plain = script.substitute == Substitute::None;
        let pattern = plain.then(|| Arc::new(Pattern::new(&script.find, fixed)));
        if let Some(pattern) = &pattern {
            match &pattern.regex {
                Err(why) => script.warn(warnings, INVALID, &format!("does nothing: {why}")),
                Ok(_) => {
                    if let Some(note) = pattern.note {
                        script.warn(warnings, "script-odd", note);
                    }
                }
            }
        }
        out.push(Compiled { script, pattern });
    }
    out
}

/// Whether a script runs in a call (spec 05 §4 steps 4-7).
fn applies(script: &Script, call: &Call<'_>, profile: &Profile) -> bool {
    let plain = !call.markdown && !call.prompt;
    let neither = !script.markdown_only && !script.prompt_only;
    // A lorebook entry is never stored, so a script without a mode is meant for the request (fault R10).
    let lore = call.placement == Placement::Lore && call.prompt && profile.on(&profile::SCRIPTS_ORDER);
    let mode = script.markdown_only && call.markdown
        || script.prompt_only && call.prompt
        || neither && (plain || lore);
    let placed = script.placement.contains(&i64::from(call.placement.number()));
    if script.disabled || script.find.is_empty() || !mode || !placed || call.edit && !script.run_on_edit {
        return false;
    }
    if profile.on(&profile::SCRIPTS_ORDER) && script.misses_index(call.index) {
        return false;
    }
    let fixed = profile.on(&profile::SCRIPTS_DEPTH);
    match call.depth {
        #[expect(clippy::cast_precision_loss, reason = "a chat has fewer than 2^53 messages")]
        Some(depth) => !script.misses_depth(depth as f64),
        None if fixed && call.placement != Placement::Lore => {
            // What is stored is the newest message; what is shown without a depth is hidden.
            if plain { !script.misses_depth(0.0) } else { !script.has_window() }
        }
        None => true,
    }
}

/// Runs the scripts of a call on a text.
pub fn run(
    text: &str,
    call: &Call<'_>,
    scripts: &CompiledScripts,
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
) -> Applied {
    let unchanged = || Applied { text: text.to_owned(), changes: Vec::new() };
    let candidates = if text.is_empty() { Vec::new() } else { scripts.candidates(call, env) };
    if candidates.is_empty() {
        return unchanged();
    }
    let fixed = env.profile.on(&profile::SCRIPTS_REPLACEMENT);
    // What is shown or sent is made again and again: its macros may read their own writes, and nobody else does (fault R3).
    let dropped = fixed && (call.markdown || call.prompt);
    let mut scratch = (dropped && candidates.iter().any(|c| c.script.has_macros())).then(|| effects.clone());
    let writes = scratch.as_mut().unwrap_or(effects);

    let char = match call.name {
        // A message of the user is not a message of `{{char}}` (fault R8).
        Some(name) if fixed && call.placement != Placement::UserInput => name,
        _ => env.char,
    };
    let mut now = Text::from(text);
    let mut changes = Vec::new();
    for compiled in candidates {
        let script = &compiled.script;
        if now.is_empty() || is_suspended(script, writes) {
            continue;
        }
        let trust = if script.scope == Scope::Global { env.trust } else { env.trust.min(Trust::Card) };
        let own = Env { char, trust, ..*env };
        let trimming = if fixed { own } else { Env { char: call.name.unwrap_or(env.char), trust, ..*env } };
        let pattern = scripts.pattern(compiled, &own, host, writes);
        let regex = match &pattern.regex {
            Ok(regex) => regex,
            Err(why) => {
                // A pattern without macros was reported when it was compiled.
                let known = |n: &Warning| n.code == INVALID && n.path == script.path;
                if compiled.pattern.is_none() && !writes.notes.iter().any(known) {
                    script.warn(&mut writes.notes, INVALID, &format!("does nothing: {why}"));
                }
                continue;
            }
        };
        if now.len() > host.limits.script_text {
            stopped(script, writes, "the text is too long");
            continue;
        }
        let mut steps = host.regex_steps();
        let granted = steps;
        let mut context = Context { env: &own, trim_env: &trimming, fixed, host, effects: writes };
        let done = match context.host.platform_regexp {
            Some(find) => match find(&pattern.source.0, &pattern.source.1, now.units()) {
                Some(matches) => replace::replace_found(&now, script, regex, &matches, &mut context),
                None => Err(Stop::Platform),
            },
            None => replace::replace(&now, script, regex, &mut steps, &mut context),
        };
        host.spend_regex_steps(granted, steps);
        match done {
            Ok(None) => {}
            Ok(Some((next, matches))) => {
                if next != now {
                    changes.push(Change {
                        script: script.name.clone(),
                        scope: script.scope,
                        matches,
                        emptied: next.is_empty(),
                    });
                }
                now = next;
            }
            Err(Stop::Steps) => stopped(script, writes, "its pattern needs too many steps"),
            Err(Stop::Matches) => stopped(script, writes, "it matches too often"),
            Err(Stop::Platform) => stopped(script, writes, "the platform's engine failed"),
            Err(Stop::Output) => stopped(script, writes, "its result is too long"),
        }
    }
    if let Some(scratch) = scratch {
        effects.notes = scratch.notes;
    }
    if changes.is_empty() { unchanged() } else { Applied { text: String::from(&now), changes } }
}

const STOPPED: &str = "script-stopped";
const INVALID: &str = "script-invalid";

fn stopped(script: &Script, effects: &mut Effects, why: &str) {
    let what = format!("left the text as it was: {why}");
    script.warn(&mut effects.notes, STOPPED, &what);
}

fn is_suspended(script: &Script, effects: &Effects) -> bool {
    effects.notes.iter().filter(|n| n.code == STOPPED && n.path == script.path).count() >= PATIENCE
}
