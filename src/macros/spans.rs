//! What a text would do, without doing it: for editors, hosts and caches.
//!
//! Spec: 04 §4, §5, §11. Offsets leave as UTF-16. Cost: one parse.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use super::eval::{Doc, Fixes, tags};
use super::pair::Tag;
use super::parse::{Call, Kind, Node, parse as parse_tree};
use super::post::{ANGLES, is_plain, starts_with_ci, time_utc};
use super::table::{self, Id, VarOp};
use crate::host::Limits;
use crate::js;
use crate::profile::Profile;

/// What would become of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SpanStatus {
    /// It expands.
    Expands,
    /// No macro has this name: it stays as it is unless the host supplies it.
    Unknown,
    /// The number of arguments is wrong: it stays as it is.
    Arguments,
    /// A closing tag, with its opening one.
    Closes,
    /// A tag without its counterpart, or a pair that takes no content: it stays as it is.
    Unpaired,
}

/// A macro in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MacroSpan {
    /// UTF-16 range, braces included.
    pub range: [usize; 2],
    /// Name as written; `.name` or `$name` for a variable shorthand.
    pub name: String,
    /// What would become of it.
    pub status: SpanStatus,
    /// UTF-16 ranges of its arguments.
    pub args: Vec<[usize; 2]>,
    /// UTF-16 range of its scoped content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<[usize; 2]>,
}

/// What an expansion depends on. With nothing set the text is constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(clippy::struct_excessive_bools, reason = "a set")]
pub struct Needs {
    /// Names of user, speaker, group.
    pub names: bool,
    /// Card fields, whose own texts may need more.
    pub card: bool,
    /// Messages of the chat.
    pub chat: bool,
    /// Reads variables.
    pub variables: bool,
    /// Writes variables or bans words: must run once a request.
    pub writes: bool,
    /// Draws random numbers: must run once a request.
    pub random: bool,
    /// The time.
    pub time: bool,
    /// Settings, templates, outlets, the chat's id, values of the host.
    pub host: bool,
    /// A macro that is not built in.
    pub unknown: bool,
}

impl Needs {
    /// The text expands to the same whoever asks.
    pub fn is_constant(self) -> bool {
        self == Self::default()
    }

    /// The text expands to the same as long as the names do.
    pub fn is_static(self) -> bool {
        self == Self { names: self.names, ..Self::default() }
    }

    /// Everything.
    const ALL: Self = Self {
        names: true,
        card: true,
        chat: true,
        variables: true,
        writes: true,
        random: true,
        time: true,
        host: true,
        unknown: true,
    };

    const fn add(&mut self, id: Id) {
        match id {
            Id::Newline | Id::Space | Id::Noop | Id::Trim | Id::Reverse | Id::Comment | Id::If | Id::Else => {
            }
            Id::User | Id::Char | Id::Group | Id::GroupNotMuted | Id::NotChar => self.names = true,
            Id::Card(_) | Id::FirstMessage | Id::Version => self.card = true,
            Id::MesExamples | Id::SystemPrompt => {
                self.card = true;
                self.host = true;
            }
            Id::LastMessage
            | Id::LastIndex
            | Id::LastUserMessage
            | Id::LastCharMessage
            | Id::AllChatRange
            | Id::SwipeCount
            | Id::CurrentSwipe
            | Id::FirstIncluded => self.chat = true,
            Id::IdleDuration => {
                self.chat = true;
                self.time = true;
            }
            Id::Time
            | Id::Date
            | Id::Weekday
            | Id::IsoTime
            | Id::IsoDate
            | Id::DateTimeFormat
            | Id::TimeDiff => {
                self.time = true;
            }
            Id::Random | Id::Roll => self.random = true,
            Id::Var(VarOp::Get | VarOp::Has | VarOp::GetKey, _) => self.variables = true,
            Id::Var(..) => {
                self.variables = true;
                self.writes = true;
            }
            Id::Banned => self.writes = true,
            _ => self.host = true,
        }
    }
}

/// The macros of a text in source order, nested ones and those in scoped content included.
pub fn parse(text: &str, profile: &Profile) -> Vec<MacroSpan> {
    let fixes = Fixes::of(profile);
    let tree = parse_tree(text, fixes.rules(Limits::default().macro_depth));
    let doc = Doc::new(text);
    let units = |r: &Range<usize>| [doc.utf16(r.start), doc.utf16(r.end)];
    let mut spans = Vec::new();
    let mut stretches: Vec<&[Node]> = vec![&tree.root.nodes];
    while let Some(nodes) = stretches.pop() {
        let tags = tags(text, nodes, fixes, &[]);
        let mut closers = vec![false; nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            let tag = tags.get(i).copied().unwrap_or(Tag::Plain);
            let mut content = None;
            if let Tag::Opens(end) = tag
                && let (Some(closer), Some(slot)) = (nodes.get(end), closers.get_mut(end))
            {
                *slot = true;
                content = Some(units(&(node.span.end..closer.span.start)));
            }
            let (name, status, args) = match &node.kind {
                Kind::Var(var) => {
                    let mark = if var.global { "$" } else { "." };
                    stretches.extend(var.value.iter().map(|a| a.level.nodes.as_slice()));
                    let args = var.value.iter().map(|a| units(&a.span)).collect();
                    (format!("{mark}{}", doc.cut(&var.name)), SpanStatus::Expands, args)
                }
                Kind::Call(call) => {
                    stretches.extend(call.args.iter().map(|a| a.level.nodes.as_slice()));
                    let args = call.args.iter().map(|a| units(&a.span)).collect();
                    let name = doc.cut(&call.name);
                    let paired = closers.get(i) == Some(&true);
                    (name.to_owned(), status(call, name, tag, paired, fixes), args)
                }
            };
            spans.push(MacroSpan { range: units(&node.span), name, status, args, content });
        }
    }
    let old = old_forms(text).map(|(range, name)| (units(&range), name)).collect::<Vec<_>>();
    let ranges: BTreeSet<[usize; 2]> = old.iter().map(|(range, _)| *range).collect();
    spans.retain(|s| !ranges.contains(&s.range));
    spans.extend(old.into_iter().map(|(range, name)| MacroSpan {
        range,
        name: name.to_owned(),
        status: SpanStatus::Expands,
        args: Vec::new(),
        content: None,
    }));
    spans.sort_by_key(|s| (s.range[0], std::cmp::Reverse(s.range[1])));
    spans
}

/// `<USER>`, `{{time_UTC+2}}` and their kin: range and name.
fn old_forms(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    text.match_indices(['<', '{']).filter_map(|(at, _)| {
        let tail = text.get(at..)?;
        let angle =
            ANGLES.into_iter().find(|(old, _)| starts_with_ci(tail, old)).map(|(old, _)| (old.len(), 1));
        let (length, inset) = angle.or_else(|| time_utc(tail).map(|(_, length)| (length, 2)))?;
        let name = if inset == 1 { tail.get(1..length - 1) } else { tail.get(2..10) }?;
        Some((at..at + length, name))
    })
}

fn status(call: &Call, name: &str, tag: Tag, paired: bool, fixes: Fixes) -> SpanStatus {
    if paired {
        return SpanStatus::Closes;
    }
    if tag == Tag::Raw {
        return SpanStatus::Unpaired;
    }
    match table::find(name, fixes.names) {
        None => SpanStatus::Unknown,
        Some(def) if def.takes(call.args.len() + usize::from(matches!(tag, Tag::Opens(_)))) => {
            SpanStatus::Expands
        }
        Some(_) => SpanStatus::Arguments,
    }
}

/// Names of macros that a text asks for and nobody knows: not built in and not in `known` (any case). Each once, as first written.
pub fn unknown(text: &str, known: &[&str], profile: &Profile) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for span in parse(text, profile) {
        let new = span.status == SpanStatus::Unknown
            && !known.iter().any(|k| k.eq_ignore_ascii_case(&span.name))
            && !names.iter().any(|n| n.eq_ignore_ascii_case(&span.name));
        if new {
            names.push(span.name);
        }
    }
    names
}

/// What the expansion of a text depends on, so that a caller may keep a result.
pub fn needs(text: &str, profile: &Profile) -> Needs {
    let mut needs = Needs::default();
    if is_plain(text) {
        return needs;
    }
    let fixes = Fixes::of(profile);
    let tree = parse_tree(text, fixes.rules(Limits::default().macro_depth));
    let doc = Doc::new(text);
    for (_, name) in old_forms(text) {
        let timed = starts_with_ci(name, "time");
        needs.time |= timed;
        needs.names |= !timed;
    }
    let mut stretches: Vec<&[Node]> = vec![&tree.root.nodes];
    while let Some(nodes) = stretches.pop() {
        for node in nodes {
            match &node.kind {
                Kind::Var(var) => {
                    needs.variables = true;
                    needs.writes |= var.op.is_some_and(super::parse::Op::writes);
                    stretches.extend(var.value.iter().map(|a| a.level.nodes.as_slice()));
                }
                Kind::Call(call) => {
                    stretches.extend(call.args.iter().map(|a| a.level.nodes.as_slice()));
                    match table::find(doc.cut(&call.name), fixes.names) {
                        None => needs.unknown = true,
                        Some(def) if def.id == Id::If => condition(&mut needs, &doc, call, fixes),
                        Some(def) => needs.add(def.id),
                    }
                }
            }
        }
    }
    needs
}

/// A condition may name a variable or a macro.
fn condition(needs: &mut Needs, doc: &Doc<'_>, call: &Call, fixes: Fixes) {
    let Some(arg) = call.args.first() else { return };
    if !arg.level.nodes.is_empty() {
        // Its text is known only when it runs, and may be any macro's name.
        *needs = Needs::ALL;
        return;
    }
    let text = doc.cut(&arg.span);
    needs.variables |= fixes.conditions || text.contains(['.', '$']);
    for word in text.split(|c: char| js::is_space(c) || matches!(c, '!' | '=' | '<' | '>' | '|' | '&')) {
        if let Some(def) = table::find(word, fixes.names) {
            needs.add(def.id);
        }
    }
}
