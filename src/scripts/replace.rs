//! One script on one text (spec 05 §3): find, put the replacement together, expand its macros. The replacement has rules of its own;
//! `$&` and `$$` mean nothing in it.

use serde_json::Value;

use super::script::Script;
use crate::host::Host;
use crate::js::regexp::{Match, Regex, Steps, StepsExceeded, Text};
use crate::macros::{self, Env};
use crate::parts::Effects;

/// A part of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    /// `$7`
    Number(usize),
    /// `$<name>`
    Name(String),
}

impl Piece {
    /// Takes a replacement apart. `{{match}}` in any case is `$0`.
    pub(super) fn read(replace: &str) -> Vec<Self> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = replace;
        while let Some(c) = rest.chars().next() {
            let (piece, length) = match c {
                '$' => reference(rest),
                '{' if rest.get(..9).is_some_and(|r| r.eq_ignore_ascii_case("{{match}}")) => {
                    // What follows becomes part of the number, as in the reference: `{{match}}1` is `$01`.
                    let digits = digits(rest.get(9..).unwrap_or(""));
                    (Some(Self::Number(number(digits))), 9 + digits.len())
                }
                _ => (None, c.len_utf8()),
            };
            let (now, later) = rest.split_at(length);
            match piece {
                Some(piece) => {
                    if !literal.is_empty() {
                        pieces.push(Self::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(piece);
                }
                None => literal.push_str(now),
            }
            rest = later;
        }
        if !literal.is_empty() {
            pieces.push(Self::Literal(literal));
        }
        pieces
    }
}

fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// A number beyond all groups is as good as any other.
fn number(digits: &str) -> usize {
    digits.bytes().fold(0_usize, |n, b| n.saturating_mul(10).saturating_add(usize::from(b - b'0')))
}

/// What a dollar sign begins, and how long that is.
fn reference(text: &str) -> (Option<Piece>, usize) {
    let behind = text.get(1..).unwrap_or("");
    let digits = digits(behind);
    if !digits.is_empty() {
        return (Some(Piece::Number(number(digits))), 1 + digits.len());
    }
    let name =
        behind.strip_prefix('<').and_then(|n| n.split_once('>')).map(|n| n.0).filter(|n| !n.is_empty());
    match name {
        Some(name) => (Some(Piece::Name(name.to_owned())), 3 + name.len()),
        None => (None, 1),
    }
}

/// Why a script was given up on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Steps,
    Matches,
    Output,
    /// The platform's engine failed.
    Platform,
}

impl From<StepsExceeded> for Stop {
    fn from(_: StepsExceeded) -> Self {
        Self::Steps
    }
}

/// What one run needs besides the script.
pub(super) struct Context<'a, 'e> {
    /// Environment of the replacement.
    pub env: &'a Env<'e>,
    /// Environment of the trim texts.
    pub trim_env: &'a Env<'e>,
    /// Under `scripts.replacement`: inserted text is data, unknown groups are empty.
    pub fixed: bool,
    pub host: &'a mut Host,
    pub effects: &'a mut Effects,
}

/// Runs a pattern. `None`: it did not match.
pub(super) fn replace(
    text: &Text,
    script: &Script,
    regex: &Regex,
    steps: &mut Steps,
    context: &mut Context<'_, '_>,
) -> Result<Option<(Text, usize)>, Stop> {
    let most_matches = context.host.limits.script_matches;
    let most_units = context.host.limits.script_output.max(text.len().saturating_mul(20));
    let mut count = 0;
    let done = regex.replace(text, steps, |found, out| {
        count += 1;
        if count > most_matches {
            return Err(Stop::Matches);
        }
        let room = most_units.saturating_sub(out.len());
        context.write(text, script, regex, found, room, out)
    })?;
    Ok(done.map(|text| (text, count)))
}

/// The same with matches that another engine found. `regex` is the same pattern, for the names of its groups.
pub(super) fn replace_found(
    text: &Text,
    script: &Script,
    regex: &Regex,
    matches: &[Match],
    context: &mut Context<'_, '_>,
) -> Result<Option<(Text, usize)>, Stop> {
    if matches.is_empty() {
        return Ok(None);
    }
    if matches.len() > context.host.limits.script_matches {
        return Err(Stop::Matches);
    }
    let most_units = context.host.limits.script_output.max(text.len().saturating_mul(20));
    let (mut out, mut copied) = (Vec::new(), 0);
    for found in matches {
        out.extend_from_slice(text.slice((copied, found.start().max(copied))));
        let room = most_units.saturating_sub(out.len());
        context.write(text, script, regex, found, room, &mut out)?;
        copied = found.end().max(copied);
    }
    out.extend_from_slice(text.slice((copied, text.len())));
    Ok(Some((Text::from(out), matches.len())))
}

/// Characters that can make the macro engine do something, and what stands for them in data while it works. No text has these.
const ACTIVE: [(u16, u16); 5] =
    [(0x7B, 0xFDD2), (0x7D, 0xFDD3), (0x3C, 0xFDD4), (0x5C, 0xFDD5), (0x00, 0xFDD6)];

/// Whether the macro engine may change a text: braces and the old `<USER>` are all it acts on.
fn is_active(unit: u16) -> bool {
    matches!(unit, 0x7B | 0x7D | 0x3C | 0x00)
}

impl Context<'_, '_> {
    /// Writes what stands in place of a match.
    fn write(
        &mut self,
        text: &Text,
        script: &Script,
        regex: &Regex,
        found: &Match,
        room: usize,
        out: &mut Vec<u16>,
    ) -> Result<(), Stop> {
        let mut piece = Vec::new();
        let mut masked = false;
        for part in &script.pieces {
            let value = match part {
                Piece::Literal(literal) => {
                    piece.extend(literal.encode_utf16());
                    continue;
                }
                Piece::Number(n) => self.numbered(*n, text, found),
                Piece::Name(name) => {
                    let group = regex.names().iter().find(|(n, _)| n == name).map(|(_, group)| *group);
                    group
                        .and_then(|g| found.groups.get(g).copied().flatten())
                        .map_or_else(Vec::new, |range| text.slice(range).to_vec())
                }
            };
            let mut value = self.trimmed(value, &script.trim);
            if self.fixed {
                for unit in &mut value {
                    if let Some((_, mask)) = ACTIVE.iter().find(|(active, _)| active == unit) {
                        *unit = *mask;
                        masked = true;
                    }
                }
            }
            piece.extend(value);
            if piece.len() > room {
                return Err(Stop::Output);
            }
        }
        if piece.iter().any(|u| is_active(*u)) {
            let source = String::from_utf16_lossy(&piece);
            let expanded = macros::expand(&source, self.env, self.host, self.effects);
            piece = expanded.encode_utf16().collect();
            if masked {
                unmask_effects(self.effects);
            }
        }
        if masked {
            unmask(&mut piece);
        }
        if piece.len() > room {
            return Err(Stop::Output);
        }
        out.extend(piece);
        Ok(())
    }

    /// Element N of: match, groups, offset, whole input, named groups. The last three are a slip of the reference (fault R2).
    fn numbered(&self, n: usize, text: &Text, found: &Match) -> Vec<u16> {
        if let Some(group) = found.groups.get(n) {
            return group.map_or_else(Vec::new, |range| text.slice(range).to_vec());
        }
        match n - found.groups.len() {
            _ if self.fixed => Vec::new(),
            // 0 is as empty as nothing.
            0 if found.start() > 0 => found.start().to_string().encode_utf16().collect(),
            1 => text.units().to_vec(),
            // Where the reference would insert the object of named groups, it fails.
            _ => Vec::new(),
        }
    }

    /// A value without any of the trim texts.
    fn trimmed(&mut self, mut value: Vec<u16>, trim: &[String]) -> Vec<u16> {
        if value.is_empty() {
            return value;
        }
        for text in trim {
            let wanted: Vec<u16> = if text.encode_utf16().any(is_active) {
                macros::expand(text, self.trim_env, self.host, self.effects).encode_utf16().collect()
            } else {
                text.encode_utf16().collect()
            };
            value = without(&value, &wanted);
        }
        value
    }
}

/// `value.replaceAll(part, "")`.
fn without(value: &[u16], part: &[u16]) -> Vec<u16> {
    if part.is_empty() || part.len() > value.len() {
        return value.to_vec();
    }
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, behind)) = rest.split_first() {
        rest = rest.strip_prefix(part).unwrap_or_else(|| {
            out.push(*first);
            behind
        });
    }
    out
}

fn unmask(units: &mut [u16]) {
    for unit in units {
        if let Some((active, _)) = ACTIVE.iter().find(|(_, mask)| mask == unit) {
            *unit = *active;
        }
    }
}

fn unmasked(text: &str) -> String {
    let mut units: Vec<u16> = text.encode_utf16().collect();
    unmask(&mut units);
    String::from_utf16_lossy(&units)
}

/// Masked text may have become the name or the value of a variable.
fn unmask_effects(effects: &mut Effects) {
    for map in [&mut effects.local, &mut effects.global] {
        *map = std::mem::take(map)
            .into_iter()
            .map(|(name, value)| match value {
                Some(Value::String(text)) => (unmasked(&name), Some(Value::String(unmasked(&text)))),
                value => (unmasked(&name), value),
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_are_taken_apart() {
        use Piece::{Literal, Name, Number};
        let lit = |s: &str| Literal(s.to_owned());
        assert_eq!(
            Piece::read("[$1|$01x{{Match}}$<洛>$<>$$&{{ match }}$"),
            [
                lit("["),
                Number(1),
                lit("|"),
                Number(1),
                lit("x"),
                Number(0),
                Name("洛".to_owned()),
                lit("$<>$$&{{ match }}$")
            ]
        );
        assert_eq!(Piece::read("{{match}}12{{{match}}}"), [Number(12), lit("{"), Number(0), lit("}")]);
        assert_eq!(Piece::read("$99999999999999999999999"), [Number(usize::MAX)]);
        assert_eq!(Piece::read("$$1"), [lit("$"), Number(1)]);
    }

    #[test]
    fn parts_are_removed_without_looking_back() {
        let units = |s: &str| s.encode_utf16().collect::<Vec<_>>();
        assert_eq!(without(&units("aaab洛洛a"), &units("aa")), units("ab洛洛a"));
        assert_eq!(without(&units("洛恩洛恩"), &units("洛")), units("恩恩"));
        assert_eq!(without(&units("a"), &units("")), units("a"));
    }
}
