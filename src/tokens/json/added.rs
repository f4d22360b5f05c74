//! Added tokens that are found in plain text, such as runs of line breaks: those that the file does not call special.
//! Special ones are never found: a user who writes `<|im_end|>` writes these ten characters.

use super::fields::{self, Field, too_large, wrong};
use super::normalize::{Step, is_white};
use super::unigram::LONGEST;
use super::words::Words;
use crate::error::Error;

/// A stretch of text between added tokens, or one of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// From, to.
    Text(usize, usize),
    Token(u32),
}

/// What a token asks of its surroundings.
#[derive(Clone, Copy, Debug)]
struct Rule {
    id: u32,
    left_blanks: bool,
    right_blanks: bool,
    whole_word: bool,
}

/// Tokens to look for.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// Numbers are places in `rules`.
    words: Words,
    rules: Vec<Rule>,
    /// Bytes that some token begins with, a bit each.
    firsts: [u64; 4],
}

/// The added tokens that are looked for in the text as it came, and in the normalized one.
pub(super) fn read(field: &Field<'_>, steps: &[Step]) -> Result<(Added, Added), Error> {
    let list = if field.get("added_tokens").is_some() { field.list("added_tokens")? } else { Vec::new() };
    let room = || Added { words: Words::new(list.len()), ..Added::default() };
    let (mut raw, mut normalized) = (room(), room());
    for token in list {
        let mut content = token.text("content")?.to_owned();
        if token.flag("special", false)? || content.is_empty() {
            continue;
        }
        let id = token.get("id").and_then(|id| fields::id(id.value));
        let rule = Rule {
            id: id.ok_or_else(|| wrong(format!("{}.id", token.path), "must be a number"))?,
            left_blanks: token.flag("lstrip", false)?,
            right_blanks: token.flag("rstrip", false)?,
            whole_word: token.flag("single_word", false)?,
        };
        let set = if token.flag("normalized", true)? {
            for step in steps {
                if content.len() > LONGEST {
                    break;
                }
                step.apply(&mut content);
            }
            &mut normalized
        } else {
            &mut raw
        };
        if content.len() > LONGEST || !set.add(&content, rule) {
            return Err(too_large(token.path, "the tokens are too long, too many or too alike"));
        }
    }
    Ok((raw, normalized))
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

impl Added {
    fn add(&mut self, content: &str, rule: Rule) -> bool {
        let Some(first) = content.bytes().next() else { return true };
        if let Some(bits) = self.firsts.get_mut(usize::from(first >> 6)) {
            *bits |= 1 << (first & 63);
        }
        let Ok(place) = u32::try_from(self.rules.len()) else { return false };
        self.rules.push(rule);
        self.words.insert(content.as_bytes(), place)
    }

    /// The parts of a text: the longest token at the leftmost place, again and again.
    pub(super) fn parts(&self, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        let (mut at, mut done) = (0, 0);
        let bytes = text.as_bytes();
        while !self.rules.is_empty()
            && let Some(first) = bytes.get(at)
        {
            let begins = self.firsts.get(usize::from(first >> 6)).is_some_and(|b| b >> (first & 63) & 1 != 0);
            let mut longest = None;
            if begins {
                self.words.prefixes(b"", bytes.get(at..).unwrap_or(&[]), |length, place| {
                    longest = Some((length, place));
                });
            }
            let found = longest.and_then(|(length, place)| Some((length, *self.rules.get(place as usize)?)));
            let Some((length, rule)) = found else {
                at += 1;
                continue;
            };
            let (mut from, mut to) = (at, at + length);
            at = to;
            let before = text.get(..from).unwrap_or("");
            let behind = text.get(to..).unwrap_or("");
            if rule.whole_word && (is_word(before.chars().next_back()) || is_word(behind.chars().next())) {
                continue;
            }
            if rule.left_blanks {
                from = before.trim_end_matches(is_white).len().max(done);
            }
            if rule.right_blanks {
                to += behind.len() - behind.trim_start_matches(is_white).len();
            }
            if from > done {
                parts.push(Part::Text(done, from));
            }
            parts.push(Part::Token(rule.id));
            done = to;
            at = at.max(to);
        }
        if done < text.len() {
            parts.push(Part::Text(done, text.len()));
        }
        parts
    }
}
