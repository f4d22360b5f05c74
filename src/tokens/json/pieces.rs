//! A text -> the pieces that a model looks at one by one.

use super::bytes;
use super::fields::{Field, too_large, unsupported, wrong};
use super::normalize::{DEEPEST, MOST_STEPS, most};
use super::split::{self, Behavior, Pattern, Range, cut};
use crate::error::Error;

/// When a [`Step::Metaspace`] sets its mark before a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Always,
    First,
    Never,
}

/// One way to cut.
#[derive(Debug)]
pub(super) enum Step {
    Split {
        pattern: Pattern,
        behavior: Behavior,
        invert: bool,
    },
    /// Bytes as characters, GPT-2's cuts before that.
    ByteLevel {
        space: bool,
        pattern: Option<Pattern>,
    },
    /// Spaces as marks.
    Metaspace {
        mark: String,
        scheme: Scheme,
        split: bool,
    },
}

/// Reads a pre-tokenizer and those in it, in order.
pub(super) fn read(field: &Field<'_>, depth: usize, out: &mut Vec<Step>) -> Result<(), Error> {
    if out.len() >= MOST_STEPS {
        return Err(too_large(&field.path, "more than 64 pre-tokenizers"));
    }
    let by = |pattern: &str, behavior, invert| {
        Pattern::regex(pattern)
            .map(|pattern| Step::Split { pattern, behavior, invert })
            .map_err(|what| wrong(&field.path, &what))
    };
    let punctuation = r"[\p{P}!-\/:-@\[-`\{-~]";
    let step = match field.text("type")? {
        "Sequence" if depth < DEEPEST => {
            for part in field.list("pretokenizers")? {
                read(&part, depth + 1, out)?;
            }
            return Ok(());
        }
        "ByteLevel" => Step::ByteLevel {
            space: field.flag("add_prefix_space", true)?,
            pattern: field.flag("use_regex", true)?.then(split::gpt2),
        },
        "Split" => {
            let pattern = field
                .get("pattern")
                .ok_or_else(|| wrong(format!("{}.pattern", field.path), "the field is missing"))?;
            Step::Split {
                pattern: Pattern::read(&pattern)?,
                behavior: Behavior::read(field, "behavior")?,
                invert: field.flag("invert", false)?,
            }
        }
        "Digits" if field.flag("individual_digits", false)? => by(r"\p{N}", Behavior::Isolated, false)?,
        "Digits" => by(r"\p{N}+", Behavior::Isolated, false)?,
        "Punctuation" => {
            let behavior = match field.get("behavior") {
                Some(_) => Behavior::read(field, "behavior")?,
                None => Behavior::Isolated,
            };
            by(punctuation, behavior, false)?
        }
        "Whitespace" => by(
            r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+",
            Behavior::Removed,
            true,
        )?,
        "WhitespaceSplit" => by(r"\p{White_Space}+", Behavior::Removed, false)?,
        "BertPreTokenizer" => {
            out.push(by(r"\p{White_Space}+", Behavior::Removed, false)?);
            by(punctuation, Behavior::Isolated, false)?
        }
        "CharDelimiterSplit" => Step::Split {
            pattern: Pattern::Literal(field.text("delimiter")?.to_owned()),
            behavior: Behavior::Removed,
            invert: false,
        },
        "Metaspace" => {
            let mark = match field.get("replacement") {
                Some(_) => field.text("replacement")?,
                None => "▁",
            };
            if mark.len() > 16 {
                return Err(too_large(format!("{}.replacement", field.path), "more than 16 bytes"));
            }
            let scheme = match field.get("prepend_scheme") {
                None if field.flag("add_prefix_space", true)? => Scheme::Always,
                None => Scheme::Never,
                Some(given) => match given.value.as_str() {
                    Some("always") => Scheme::Always,
                    Some("first") => Scheme::First,
                    Some("never") => Scheme::Never,
                    _ => return Err(wrong(given.path, "must be always, first or never")),
                },
            };
            Step::Metaspace { mark: mark.to_owned(), scheme, split: field.flag("split", true)? }
        }
        other => {
            return Err(unsupported(format!("{}.type", field.path), &format!("the pre-tokenizer {other:?}")));
        }
    };
    out.push(step);
    Ok(())
}

/// A text and its pieces.
pub(super) struct Pieces {
    text: String,
    ranges: Vec<Range>,
    /// The first piece begins what the caller gave.
    first: bool,
    /// Bytes that the text may grow to.
    most: usize,
}

impl Pieces {
    /// A text that is one piece.
    pub(super) fn new(text: String, first: bool) -> Self {
        let ranges = if text.is_empty() { Vec::new() } else { vec![(0, text.len())] };
        Self { most: most(text.len()), text, ranges, first }
    }

    /// The pieces.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.ranges.iter().filter_map(|(from, to)| self.text.get(*from..*to))
    }

    fn split(&mut self, pattern: &Pattern, behavior: Behavior, invert: bool) -> bool {
        let (mut ranges, mut whole) = (Vec::with_capacity(self.ranges.len()), true);
        for &(from, to) in &self.ranges {
            let piece = self.text.get(from..to).unwrap_or("");
            let Some(matches) = pattern.matches(piece) else {
                whole = false;
                ranges.push((from, to));
                continue;
            };
            let parts = cut(piece.len(), &matches, behavior, invert);
            ranges.extend(parts.into_iter().map(|(a, b)| (from + a, from + b)));
        }
        self.ranges = ranges;
        whole
    }

    /// Writes each piece anew.
    fn rewrite(&mut self, mut write: impl FnMut(&str, bool, &mut String)) {
        let mut text = String::with_capacity(self.text.len() * 2);
        for range in &mut self.ranges {
            let piece = self.text.get(range.0..range.1).unwrap_or("");
            let start = text.len();
            write(piece, self.first && range.0 == 0, &mut text);
            *range = (start, text.len());
        }
        self.text = text;
    }

    /// Cuts all pieces; false where a pattern's steps ran out and a piece stayed whole, or the text has grown beyond bounds.
    pub(super) fn apply(&mut self, step: &Step) -> bool {
        if self.text.len() > self.most {
            return false;
        }
        match step {
            Step::Split { pattern, behavior, invert } => self.split(pattern, *behavior, *invert),
            Step::ByteLevel { space, pattern } => {
                if *space {
                    self.rewrite(|piece, _, out| {
                        if !piece.starts_with(' ') {
                            out.push(' ');
                        }
                        out.push_str(piece);
                    });
                }
                let whole =
                    pattern.as_ref().is_none_or(|pattern| self.split(pattern, Behavior::Isolated, false));
                self.rewrite(|piece, _, out| bytes::map(piece, out));
                whole
            }
            Step::Metaspace { mark, scheme, split } => {
                self.rewrite(|piece, first, out| {
                    let piece = piece.replace(' ', mark);
                    let marks = *scheme == Scheme::Always || *scheme == Scheme::First && first;
                    if marks && !piece.starts_with(mark.as_str()) {
                        out.push_str(mark);
                    }
                    out.push_str(&piece);
                });
                !*split || self.split(&Pattern::Literal(mark.clone()), Behavior::MergedWithNext, false)
            }
        }
    }
}
