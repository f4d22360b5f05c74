//! Options of the mention matcher, and reading them (spec 01 §P1).

use super::key::Diacritics;
use super::words::Words;
use crate::error::{Code, Error};
use crate::scene::Reader;

/// Whom a name means that several members share (spec 01 §P1.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shared {
    /// The one that spoke last; none of them did: the first in list order.
    #[default]
    Recent,
    /// The first in list order.
    First,
    /// All of them.
    All,
}

/// Whether mentions keep the others from speaking by themselves (spec 01 §P1.5). Heeded by the strategy, not by the matcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exclusive {
    /// No.
    #[default]
    Off,
    /// An `@` does: then plain mentions do not count either.
    At,
    /// Any mention does.
    Any,
}

/// Options of the matcher.
#[expect(clippy::struct_excessive_bools, reason = "independent choices of the user, each with a default")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionOptions {
    /// Names in code are no mentions (default true).
    pub ignore_code: bool,
    /// Names in web and mail addresses are none (default true).
    pub ignore_urls: bool,
    /// Names in quotations are none (default false).
    pub ignore_quotes: bool,
    /// Cyrillic names are known by their case forms too (default true).
    pub inflect: bool,
    /// A member's id is a name of it too (default false).
    pub by_id: bool,
    /// Whom a shared name means.
    pub shared: Shared,
    /// Whether mentions keep the others silent.
    pub exclusive: Exclusive,
    /// `@` makes a muted member speak (default false).
    pub at_unmutes: bool,
    /// People who are no members: where they are named, nobody is mentioned.
    pub other_names: Vec<String>,
    /// Whether accents count.
    pub diacritics: Diacritics,
    /// Word lists.
    pub words: Words,
}

impl Default for MentionOptions {
    fn default() -> Self {
        Self {
            ignore_code: true,
            ignore_urls: true,
            ignore_quotes: false,
            inflect: true,
            by_id: false,
            shared: Shared::Recent,
            exclusive: Exclusive::Off,
            at_unmutes: false,
            other_names: Vec::new(),
            diacritics: Diacritics::Loose,
            words: Words::default(),
        }
    }
}

impl MentionOptions {
    /// Reads `{ignoreCode, ignoreUrls, ignoreQuotes, inflect, byId, shared, exclusive, atUnmutes, otherNames, diacritics, words}`; everything
    /// is optional. `words` replaces single lists: `{particles, common, japanese, koreanHonorifics, koreanParticles, arabic, hebrew,
    /// cyrillicEndings, everyone}`.
    pub fn from_value(value: &serde_json::Value) -> Result<Self, Error> {
        let base = Self::default();
        let Some(object) = value.as_object() else {
            if value.is_null() {
                return Ok(base);
            }
            return Err(Error::new(Code::SceneField, "mentions", "must be an object"));
        };
        let mut r = Reader::new(object, "mentions");
        let mut words = base.words;
        if let Some(lists) = r.object("words") {
            let mut r = Reader::new(lists, "mentions.words");
            for (name, list) in [
                ("particles", &mut words.particles),
                ("common", &mut words.common),
                ("japanese", &mut words.japanese),
                ("koreanHonorifics", &mut words.korean_honorifics),
                ("koreanParticles", &mut words.korean_particles),
                ("arabic", &mut words.arabic),
                ("hebrew", &mut words.hebrew),
                ("cyrillicEndings", &mut words.cyrillic_endings),
                ("everyone", &mut words.everyone),
            ] {
                if let Some(replacement) = r.texts_opt(name) {
                    *list = replacement;
                }
            }
        }
        Ok(Self {
            ignore_code: r.flag("ignoreCode", base.ignore_code),
            ignore_urls: r.flag("ignoreUrls", base.ignore_urls),
            ignore_quotes: r.flag("ignoreQuotes", base.ignore_quotes),
            inflect: r.flag("inflect", base.inflect),
            by_id: r.flag("byId", base.by_id),
            shared: choice(
                &mut r,
                "shared",
                &[("recent", Shared::Recent), ("first", Shared::First), ("all", Shared::All)],
            )?,
            exclusive: choice(
                &mut r,
                "exclusive",
                &[("off", Exclusive::Off), ("at", Exclusive::At), ("any", Exclusive::Any)],
            )?,
            at_unmutes: r.flag("atUnmutes", base.at_unmutes),
            other_names: r.texts("otherNames"),
            diacritics: choice(
                &mut r,
                "diacritics",
                &[("loose", Diacritics::Loose), ("strict", Diacritics::Strict)],
            )?,
            words,
        })
    }
}

/// One of a closed list of words; absent means the first.
fn choice<T: Copy>(r: &mut Reader<'_>, field: &str, values: &[(&str, T)]) -> Result<T, Error> {
    let text = r.text_opt(field);
    let found = match &text {
        None => values.first(),
        Some(text) => values.iter().find(|(name, _)| name == text),
    };
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        Error::new(
            Code::OptionUnknown,
            format!("mentions.{field}"),
            format!("use one of {}", names.join(", ")),
        )
    })
}
