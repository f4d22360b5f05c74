//! What happens to a text before it is cut.

use super::bytes;
use super::fields::{Field, too_large, unsupported, wrong};
use super::split::Pattern;
use crate::error::Error;
use crate::js;

/// A text in one of Unicode's normal forms, given as `NFC`, `NFD`, `NFKC` or `NFKD`: the platform's, where there is one.
pub type Normalize = fn(&str, &'static str) -> String;

/// Levels of sequences in sequences, and steps of all of them.
pub(super) const DEEPEST: usize = 16;
pub(super) const MOST_STEPS: usize = 64;

/// What a text may grow to on the way; no more is done to a larger one.
pub(super) const fn most(length: usize) -> usize {
    length.saturating_mul(64).saturating_add(1 << 16)
}

/// One change.
#[derive(Debug)]
pub(super) enum Step {
    Form(&'static str, Normalize),
    Replace(Pattern, String),
    Prepend(String),
    Strip { left: bool, right: bool },
    Lowercase,
    ByteLevel,
}

/// White_Space of Unicode.
pub(super) fn is_white(c: char) -> bool {
    (js::is_space(c) && c != '\u{feff}') || c == '\u{85}'
}

/// Reads a normalizer and those in it, in order.
pub(super) fn read(
    field: &Field<'_>,
    normalize: Option<Normalize>,
    depth: usize,
    out: &mut Vec<Step>,
) -> Result<(), Error> {
    if out.len() >= MOST_STEPS {
        return Err(too_large(&field.path, "more than 64 normalizers"));
    }
    let kind = field.text("type")?;
    let form = |name| match normalize {
        Some(normalize) => Ok(Step::Form(name, normalize)),
        None => Err(unsupported(format!("{}.type", field.path), &format!("{name} on this platform"))),
    };
    out.push(match kind {
        "Sequence" if depth < DEEPEST => {
            for part in field.list("normalizers")? {
                read(&part, normalize, depth + 1, out)?;
            }
            return Ok(());
        }
        "NFC" => form("NFC")?,
        "NFD" => form("NFD")?,
        "NFKC" => form("NFKC")?,
        "NFKD" => form("NFKD")?,
        "Replace" => {
            let pattern = field
                .get("pattern")
                .ok_or_else(|| wrong(format!("{}.pattern", field.path), "the field is missing"))?;
            Step::Replace(Pattern::read(&pattern)?, field.text("content")?.to_owned())
        }
        "Prepend" => Step::Prepend(field.text("prepend")?.to_owned()),
        "Strip" => {
            Step::Strip { left: field.flag("strip_left", true)?, right: field.flag("strip_right", true)? }
        }
        "StripAccents" => {
            let marks = Pattern::regex(r"\p{M}+").map_err(|what| wrong(&field.path, &what))?;
            Step::Replace(marks, String::new())
        }
        "Lowercase" => Step::Lowercase,
        "ByteLevel" => Step::ByteLevel,
        other => {
            return Err(unsupported(format!("{}.type", field.path), &format!("the normalizer {other:?}")));
        }
    });
    Ok(())
}

impl Step {
    /// The changed text; false where a pattern's steps ran out and the text is as it was.
    pub(super) fn apply(&self, text: &mut String) -> bool {
        match self {
            // What no form changes.
            Self::Form("NFC", _) if text.chars().all(|c| c < '\u{300}') => {}
            Self::Form(_, _) if text.is_ascii() => {}
            Self::Form(form, normalize) => *text = normalize(text, form),
            Self::Replace(pattern, content) => {
                let Some(matches) = pattern.matches(text) else { return false };
                if matches.len().saturating_mul(content.len()) > most(text.len()) {
                    return false;
                }
                let (mut out, mut at) = (String::with_capacity(text.len()), 0);
                for (start, end) in matches {
                    out.push_str(text.get(at..start).unwrap_or(""));
                    out.push_str(content);
                    at = end;
                }
                out.push_str(text.get(at..).unwrap_or(""));
                *text = out;
            }
            Self::Prepend(prefix) if !text.is_empty() => text.insert_str(0, prefix),
            Self::Prepend(_) => {}
            Self::Strip { left, right } => {
                let mut rest = text.as_str();
                if *left {
                    rest = rest.trim_start_matches(is_white);
                }
                if *right {
                    rest = rest.trim_end_matches(is_white);
                }
                *text = rest.to_owned();
            }
            Self::Lowercase => *text = text.chars().flat_map(char::to_lowercase).collect(),
            Self::ByteLevel => {
                let mut out = String::with_capacity(text.len() * 2);
                bytes::map(text, &mut out);
                *text = out;
            }
        }
        true
    }
}
