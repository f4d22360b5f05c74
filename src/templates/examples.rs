//! Example dialogue: a card's text -> blocks -> who says what (spec 02 §6, 01 §6.3-6.4).
//!
//! Two readers: that of the reference, faults included, and a line-based one (switch `prompt.examples`).

use indexmap::{IndexMap, IndexSet};

use crate::js;

const START: &str = "<START>";

/// Who speaks in an example line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The user.
    User,
    /// The speaker of this turn, or whoever is named.
    Character(String),
    /// Nobody: text before the first label.
    Narration,
}

/// One stretch of an example block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Whose it is.
    pub voice: Voice,
    /// The text, labels removed (and put back in a group).
    pub text: String,
}

/// The names that start lines.
#[derive(Clone, Copy, Debug)]
pub struct Speakers<'a> {
    /// The persona.
    pub user: &'a str,
    /// The speaker of this turn.
    pub char: &'a str,
    /// Everyone in the group, the speaker included; empty outside a group.
    pub members: &'a [String],
}

impl Speakers<'_> {
    const fn in_group(&self) -> bool {
        !self.members.is_empty()
    }
}

/// Cuts example dialogue into blocks, each `<START>`, line feed, text, line feed. `tolerant` looks for a first `<start>` in
/// any case and drops empty blocks (spec 02 F-28).
pub fn split_examples(text: &str, tolerant: bool) -> Vec<String> {
    if text.is_empty() || text == START {
        return Vec::new();
    }
    let starts = |t: &str| t.get(..START.len()).is_some_and(|head| head.eq_ignore_ascii_case(START));
    let prepared;
    let text = if text.starts_with(START) || (tolerant && starts(js::trim_start(text))) {
        text
    } else {
        prepared = format!("{START}\n{}", js::trim(text));
        &prepared
    };
    let lower = text.to_ascii_uppercase();
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(found) = lower.get(at..).and_then(|rest| rest.find(START)) {
        pieces.push(text.get(at..at + found).unwrap_or(""));
        at += found + START.len();
    }
    pieces.push(text.get(at..).unwrap_or(""));
    pieces
        .into_iter()
        .skip(1)
        .map(js::trim)
        .filter(|piece| !tolerant || !piece.is_empty())
        .map(|piece| format!("{START}\n{piece}\n"))
        .collect()
}

/// Reads one block. `tolerant` is the line-based reader. In a group every text is named.
pub fn parse_example(block: &str, speakers: &Speakers<'_>, tolerant: bool) -> Vec<Example> {
    parse_named(block, speakers, tolerant, speakers.in_group())
}

/// The same, with or without the speaker's name in front of each text.
pub(super) fn parse_named(block: &str, speakers: &Speakers<'_>, tolerant: bool, named: bool) -> Vec<Example> {
    let clean = block.replace('\r', "");
    // Line 0 is the heading, or what a heading became.
    let lines: Vec<&str> = clean.split('\n').skip(1).collect();
    if tolerant { by_label(&lines, speakers, named) } else { as_reference(&lines, speakers, named) }
}

fn labelled(line: &str, name: &str) -> bool {
    line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
}

/// The reference's state machine (spec 02 §6.2).
fn as_reference(lines: &[&str], s: &Speakers<'_>, named: bool) -> Vec<Example> {
    let mut out = Vec::new();
    let mut buffer: Vec<&str> = Vec::new();
    let (mut in_user, mut in_char) = (false, false);
    let mut bot = s.char.to_owned();
    for line in lines {
        if labelled(line, s.user) {
            in_user = true;
            if in_char {
                out.push(flush(&mut buffer, Voice::Character(bot.clone()), &bot, named));
            }
            in_char = false;
        } else if labelled(line, s.char) || s.members.iter().any(|m| labelled(line, m)) {
            if !labelled(line, s.char) {
                line.split(':').next().unwrap_or("").clone_into(&mut bot);
            }
            in_char = true;
            if in_user {
                out.push(flush(&mut buffer, Voice::User, s.user, named));
            }
            in_user = false;
        }
        buffer.push(line);
    }
    if in_user {
        out.push(flush(&mut buffer, Voice::User, s.user, named));
    } else if in_char {
        out.push(flush(&mut buffer, Voice::Character(bot.clone()), &bot, named));
    }
    out
}

fn flush(buffer: &mut Vec<&str>, voice: Voice, name: &str, named: bool) -> Example {
    let joined = buffer.join("\n").replacen(&format!("{name}:"), "", 1);
    buffer.clear();
    let text = js::trim(&joined);
    Example { voice, text: if named { format!("{name}: {text}") } else { text.to_owned() } }
}

/// One record a label; text before the first label is its own.
fn by_label(lines: &[&str], s: &Speakers<'_>, named: bool) -> Vec<Example> {
    let mut out: Vec<(Voice, Vec<&str>)> = Vec::new();
    let strangers = strangers(lines, s);
    for line in lines {
        match label(line, &strangers, s) {
            Some((voice, rest)) => out.push((voice, vec![rest])),
            None => match out.last_mut() {
                Some((_, text)) => text.push(line),
                None => out.push((Voice::Narration, vec![line])),
            },
        }
    }
    out.into_iter()
        .map(|(voice, text)| {
            let text = text.join("\n");
            let text = js::trim(&text);
            // In a group, and for whoever is neither of the two, only the name tells who it is.
            let name = match &voice {
                Voice::User if named => Some(s.user),
                Voice::Character(name) if named || name != s.char => Some(name.as_str()),
                _ => None,
            };
            let text = name.map_or_else(|| text.to_owned(), |name| format!("{name}: {text}"));
            Example { voice, text }
        })
        .filter(|e| !e.text.is_empty())
        .collect()
}

/// The label at the start of a line, in any case, and what follows it.
fn label<'l>(line: &'l str, strangers: &IndexSet<&str>, s: &Speakers<'_>) -> Option<(Voice, &'l str)> {
    let clean = js::trim_start(line);
    let named = |name: &str| after_name(clean, name);
    if let Some(rest) = named(s.user) {
        return Some((Voice::User, rest));
    }
    let members = s.members.iter().map(String::as_str);
    for name in std::iter::once(s.char).chain(members) {
        if let Some(rest) = named(name) {
            return Some((Voice::Character(name.to_owned()), rest));
        }
    }
    let (name, rest) = stranger(clean)?;
    strangers.contains(name).then(|| (Voice::Character(name.to_owned()), rest))
}

/// Words before a colon that are names: those that label more than one line, and all of them in a block where the user or
/// the character is labelled too.
fn strangers<'l>(lines: &[&'l str], s: &Speakers<'_>) -> IndexSet<&'l str> {
    let mut times: IndexMap<&str, usize> = IndexMap::new();
    let mut known = false;
    for line in lines.iter().map(|l| js::trim_start(l)) {
        known |= after_name(line, s.user).is_some() || after_name(line, s.char).is_some();
        if let Some((name, _)) = stranger(line) {
            *times.entry(name).or_default() += 1;
        }
    }
    times.into_iter().filter(|(_, n)| known || *n > 1).map(|(name, _)| name).collect()
}

/// What follows `name:` or `name：`, the name compared without case.
fn after_name<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    if name.is_empty() {
        return None;
    }
    let end = line.find([':', '：'])?;
    let (head, tail) = line.split_at(end);
    if js::lower(js::trim_end(head)) == js::lower(name) {
        return after_colon(tail);
    }
    // A name may hold a colon itself.
    after_colon(line.strip_prefix(name)?)
}

fn after_colon(tail: &str) -> Option<&str> {
    tail.strip_prefix([':', '：'])
}

/// A short text before a colon that could be a name: at most three words, no sentence marks, not a number or an address.
fn stranger(line: &str) -> Option<(&str, &str)> {
    let end = line.find([':', '：'])?;
    let (head, tail) = line.split_at(end);
    let rest = after_colon(tail)?;
    let plausible = head.chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase())
        && head.chars().count() <= 32
        && head.split(' ').count() <= 3
        && head
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '\'' | '’' | '-' | '.' | '·' | '・'))
        && !rest.starts_with("//");
    plausible.then_some((head, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, members: &[&str], tolerant: bool) -> Vec<(&'static str, String)> {
        let members: Vec<String> = members.iter().map(|m| (*m).to_owned()).collect();
        let s = Speakers { user: "User", char: "Alice", members: &members };
        parse_example(&format!("<START>\n{text}"), &s, tolerant)
            .into_iter()
            .map(|e| {
                let who = match e.voice {
                    Voice::User => "user",
                    Voice::Character(_) => "assistant",
                    Voice::Narration => "narration",
                };
                (who, e.text)
            })
            .collect()
    }

    fn want(list: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        list.iter().map(|(w, t)| (*w, (*t).to_owned())).collect()
    }

    #[test]
    fn blocks() {
        assert!(split_examples("", false).is_empty() && split_examples("<START>", false).is_empty());
        assert_eq!(
            split_examples("<START>\na\n<start> b <START>", false),
            ["<START>\na\n", "<START>\nb\n", "<START>\n\n"]
        );
        // Lower case at the front: a heading is put before it, and an empty block comes out (F-28).
        assert_eq!(split_examples("<start>\na", false), ["<START>\n\n", "<START>\na\n"]);
        assert_eq!(split_examples("<start>\na", true), ["<START>\na\n"]);
        assert_eq!(split_examples(" 洛恩: 嗯 ", false), ["<START>\n洛恩: 嗯\n"]);
    }

    #[test]
    fn the_reference_reader() {
        // Spec 02 §6.2 [run].
        assert_eq!(read("User: one\nAlice: two", &[], false), want(&[("user", "one"), ("assistant", "two")]));
        assert_eq!(
            read("intro line\nUser: hi\nAlice: yo\n  cont: x\n\nAlice: again", &[], false),
            want(&[("user", "intro line\n hi"), ("assistant", "yo\n  cont: x\n\nAlice: again")])
        );
        assert_eq!(
            read("Alice: Alice: doubled\nBob: hey\nUser: z", &[], false),
            want(&[("assistant", "Alice: doubled\nBob: hey"), ("user", "z")])
        );
        assert!(read("hello there no names", &[], false).is_empty());
        assert_eq!(
            read("User: hi\nAlice: yo\nBob: sup\nUser: bye", &["Alice", "Bob"], false),
            want(&[("user", "User: hi"), ("assistant", "Bob: Alice: yo\n sup"), ("user", "User: bye")])
        );
    }

    #[test]
    fn the_line_based_reader() {
        assert_eq!(
            read("intro line\nUser: hi\nAlice: yo\n  cont: x\n\nAlice: again", &[], true),
            want(&[
                ("narration", "intro line"),
                ("user", "hi"),
                ("assistant", "yo\n  cont: x"),
                ("assistant", "again")
            ])
        );
        assert_eq!(
            read("Alice: Alice: doubled\nBob: hey\nuser: z", &[], true),
            want(&[("assistant", "Alice: doubled"), ("assistant", "Bob: hey"), ("user", "z")])
        );
        assert_eq!(read("hello there no names", &[], true), want(&[("narration", "hello there no names")]));
        assert_eq!(
            read("User: hi\nAlice: yo\nBob: sup\nUser: bye\nALICE：ok", &["Alice", "Bob"], true),
            want(&[
                ("user", "User: hi"),
                ("assistant", "Alice: yo"),
                ("assistant", "Bob: sup"),
                ("user", "User: bye"),
                ("assistant", "Alice: ok")
            ])
        );
    }

    #[test]
    fn names_in_other_scripts() {
        let members = vec!["塞拉菲娜".to_owned(), "Лорн".to_owned()];
        let s = Speakers { user: "旅人", char: "塞拉菲娜", members: &members };
        let got = parse_example("<START>\n旅人：这是哪里?\n塞拉菲娜: 我的林地。\nЛОРН: хм 😀", &s, true);
        let texts: Vec<_> = got.iter().map(|e| e.text.as_str()).collect();
        assert_eq!(texts, ["旅人: 这是哪里?", "塞拉菲娜: 我的林地。", "Лорн: хм 😀"]);
    }
}
