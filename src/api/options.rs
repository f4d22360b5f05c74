//! Options of a room, and the vocabularies that are loaded.

use std::fmt::Write as _;
use std::rc::Rc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Code, Error};
use crate::host::{Clock, Dice, Host, Limits, Rest, Seed};
use crate::js::regexp::Platform;
use crate::models::{self, Model};
use crate::parts::Shares;
use crate::profile::{Profile, TOKENS_ESTIMATE};
use crate::scene::Preset;
use crate::tokens::{
    Bpe, ByScript, CodePoints, Count, Estimate, FileTokenizer, Normalize, Remembered, Vocabulary,
};

/// Where random numbers come from.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Random {
    /// A seed: the same numbers on every platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub seed: Option<u64>,
    /// Recorded numbers in [0, 1), used in order; running out is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tape: Option<Vec<f64>>,
    /// 32 bytes of entropy as hexadecimal text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<String>,
}

/// Options of a room. All are optional.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct RoomOptions {
    /// `promptside` (default) or `sillytavern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Single switches, by name: `docs/differences.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "Record<string, boolean>"))]
    pub switches: Option<IndexMap<String, bool>>,
    /// Random source. Default in JavaScript: the platform's entropy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<Random>,
    /// Now, milliseconds since 1970. Default in JavaScript: the clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub now: Option<i64>,
    /// Minutes east of Greenwich. Default in JavaScript: the browser's zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_minutes: Option<i32>,
    /// BCP 47 tag. Default in JavaScript: the browser's language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// `auto` (default: by model, an estimate while its vocabulary is not loaded), `estimate`, `codepoints`, an encoding such as
    /// `o200k_base`, the name that a `tokenizer.json` was loaded under, or `supplied` (`supplied:NAME`): the host counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// Host settings of the providers: `promptPlaceholder`, `claude.cachingAtDepth` …
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub provider: Option<Value>,
    /// Bounds on work: `docs/untrusted.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "Record<string, number>"))]
    pub limits: Option<IndexMap<String, u64>>,
    /// How the budget is shared out between newest messages, examples, memory, lorebooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Shares>,
    /// The room has a memory: its settings, and under `state` what it was. `docs/memory.md` lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "MemoryOptions"))]
    pub memory: Option<Value>,
    /// How rounds in a group go: `{preset?, mode?, who?, crossTalk?, …}`, see `RoundConfig`. Absent: as in the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "RoundConfig"))]
    pub rounds: Option<Value>,
    /// `own` (default): regex scripts run on the package's engine, step by step. `platform`: on the browser's, which knows no
    /// budget; for callers that run the package in a worker and end it at a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regexp: Option<String>,
    /// Write the greetings of a new chat, expand the first message of an existing one (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
}

impl Random {
    /// What is still to come of dice.
    pub fn rest(dice: &Dice) -> Option<Self> {
        Some(match dice.rest()? {
            Rest::State(bytes) => {
                let entropy = bytes.iter().fold(String::with_capacity(64), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                });
                Self { entropy: Some(entropy), ..Self::default() }
            }
            Rest::Tape(values) => Self { tape: Some(values), ..Self::default() },
        })
    }
}

impl RoomOptions {
    /// The profile with its switches.
    pub fn profile(&self) -> Result<Profile, Error> {
        let mut profile = Profile::named(self.profile.as_deref().unwrap_or("promptside"))?;
        for (name, on) in self.switches.iter().flatten() {
            profile.set(name, *on)?;
        }
        Ok(profile)
    }

    /// Random source, clock, limits.
    pub fn host(&self) -> Result<Host, Error> {
        let mut host = Host::new(self.dice()?);
        host.clock = Clock {
            now_ms: self.now.unwrap_or(0),
            offset_minutes: self.offset_minutes.unwrap_or(0),
            locale: self.locale.clone().unwrap_or_else(|| "en-US".to_owned()),
        };
        for (name, value) in self.limits.iter().flatten() {
            set_limit(&mut host.limits, name, *value)?;
        }
        Ok(host)
    }

    /// The random source alone.
    pub fn dice(&self) -> Result<Dice, Error> {
        let random = self.random.clone().unwrap_or_default();
        if let Some(tape) = random.tape {
            return Ok(Dice::tape(tape));
        }
        if let Some(seed) = random.seed {
            return Ok(Dice::seeded(seed));
        }
        match random.entropy {
            Some(text) => {
                let bytes = unhex(&text).ok_or_else(|| {
                    Error::new(
                        Code::OptionUnknown,
                        "random.entropy",
                        "32 bytes as 64 hexadecimal digits are needed",
                    )
                })?;
                Ok(Dice::new(Seed::from_entropy(&bytes)))
            }
            None => Err(Error::new(
                Code::SceneMissing,
                "random",
                "give {seed}, {tape} or {entropy}: nothing here rolls by itself",
            )),
        }
    }
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0_u8; 32];
    if text.len() != 64 {
        return None;
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(bytes)
}

pub(super) fn set_limit(limits: &mut Limits, name: &str, value: u64) -> Result<(), Error> {
    let size = usize::try_from(value).unwrap_or(usize::MAX);
    match name {
        "macro_depth" => limits.macro_depth = size,
        "macro_steps" => limits.macro_steps = size,
        "macro_output" => limits.macro_output = size,
        "macro_list" => limits.macro_list = size,
        "macro_dice" => limits.macro_dice = value,
        "macro_value" => limits.macro_value = size,
        "macro_values" => limits.macro_values = size,
        "macro_name" => limits.macro_name = size,
        "regex_steps" => limits.regex_steps = value,
        "regex_total" => limits.regex_total = value,
        "scripts" => limits.scripts = size,
        "script_find" => limits.script_find = size,
        "script_replace" => limits.script_replace = size,
        "script_trims" => limits.script_trims = size,
        "script_trim" => limits.script_trim = size,
        "script_text" => limits.script_text = size,
        "script_output" => limits.script_output = size,
        "script_matches" => limits.script_matches = size,
        "lore_loops" => limits.lore_loops = size,
        "file_bytes" => limits.file_bytes = size,
        "inflated_bytes" => limits.inflated_bytes = size,
        "zip_entries" => limits.zip_entries = size,
        "zip_bytes" => limits.zip_bytes = size,
        _ => {
            return Err(Error::new(
                Code::OptionUnknown,
                format!("limits.{name}"),
                "no such limit; docs/untrusted.md lists them",
            ));
        }
    }
    Ok(())
}

/// The choice of tokenizer that counts with what the host supplies; a name may follow behind a colon.
pub(super) const SUPPLIED: &str = "supplied";

/// Names of vocabularies.
const ENCODINGS: &[&str] = &["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "r50k_base"];

/// What the module has for all rooms: the loaded vocabularies, by encoding, and the platform's regular expressions. Cheap to copy.
#[derive(Clone, Default)]
pub struct Vocabularies {
    loaded: IndexMap<String, Rc<Bpe>>,
    /// Tokenizers from files, by the names that their loaders gave them.
    files: IndexMap<String, Rc<dyn Count>>,
    /// Unicode's normal forms, where the platform has them.
    pub normalize: Option<Normalize>,
    /// The browser's `RegExp`, where there is one.
    pub platform_regexp: Option<Platform>,
}

impl Vocabularies {
    /// Adds one; returns its encoding's name.
    pub fn load(&mut self, bytes: Vec<u8>) -> Result<String, Error> {
        let vocabulary = Vocabulary::parse(bytes)?;
        let name = Count::id(&vocabulary).to_owned();
        self.loaded.insert(name.clone(), Rc::new(vocabulary));
        Ok(name)
    }

    /// Adds a `tokenizer.json` under a name, in place of an earlier one of that name.
    pub fn load_file(&mut self, name: &str, file: &[u8]) -> Result<(), Error> {
        let taken = matches!(name, "" | "auto" | "estimate" | "codepoints") || name.starts_with(SUPPLIED);
        if taken || ENCODINGS.contains(&name) {
            return Err(Error::new(
                Code::OptionUnknown,
                "name",
                format!(
                    "{name:?} cannot be the name of a tokenizer.json: it is empty or means something else"
                ),
            ));
        }
        let tokenizer = FileTokenizer::parse(name, file, self.normalize)?;
        self.files.insert(name.to_owned(), Rc::new(tokenizer));
        Ok(())
    }

    /// The engine for regex scripts by its name.
    pub fn regexp(&self, choice: Option<&str>) -> Result<Option<Platform>, Error> {
        let unknown = |what: String| Err(Error::new(Code::OptionUnknown, "regexp", what));
        match choice {
            None | Some("own") => Ok(None),
            Some("platform") if self.platform_regexp.is_some() => Ok(self.platform_regexp),
            Some("platform") => {
                unknown("this platform brings no regular expressions; leave regexp out".to_owned())
            }
            Some(other) => unknown(format!("{other:?} is not one of own, platform")),
        }
    }

    /// The counter for a choice of tokenizer and the preset's model.
    pub fn counter(&self, choice: &str, preset: &Preset, profile: &Profile) -> Result<Rc<dyn Count>, Error> {
        let fixed = profile.on(&TOKENS_ESTIMATE);
        let guess = || if fixed { Rc::new(ByScript) as Rc<dyn Count> } else { Rc::new(Estimate) };
        match choice {
            "codepoints" => Ok(Rc::new(CodePoints)),
            "estimate" => Ok(guess()),
            "auto" | "" => {
                let model = Model::of(preset, None);
                let encoding = if fixed {
                    models::encoding(&model.name)
                } else {
                    encoding(models::encoder(&models::tokenizer_id(&model)))
                };
                Ok(match encoding.and_then(|e| self.loaded.get(e)) {
                    Some(exact) => Rc::new(Remembered::new(exact.clone())),
                    None => guess(),
                })
            }
            name => match self.file(name) {
                Some(file) => Ok(Rc::new(Remembered::new(file))),
                None => Ok(Rc::new(Remembered::new(self.tokenizer(name)?))),
            },
        }
    }

    /// The tokenizer of a loaded file by its name.
    pub fn file(&self, name: &str) -> Option<Rc<dyn Count>> {
        self.files.get(name).cloned()
    }

    /// A loaded vocabulary by its name.
    pub fn tokenizer(&self, name: &str) -> Result<Rc<Bpe>, Error> {
        self.loaded.get(name).cloned().ok_or_else(|| {
            Error::new(
                Code::OptionUnknown,
                "tokenizer",
                format!(
                    "no vocabulary {name:?} is loaded: load it first, or use \"auto\", \"estimate\" or \"codepoints\""
                ),
            )
        })
    }
}

/// The encoding behind an encoder; `None` for tokenizers that are not OpenAI's.
fn encoding(encoder: &str) -> Option<&'static str> {
    match encoder {
        "o1" | "gpt-4o" => Some("o200k_base"),
        "text-davinci-003" => Some("p50k_base"),
        name if name.starts_with("gpt-") => Some("cl100k_base"),
        _ => None,
    }
}
