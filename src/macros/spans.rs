//! What a text would do, without doing it: for editors, hosts and caches.
//!
//! Spec: 04 §4, §5, §11. Offsets leave as UTF-16. Cost: one parse.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use super::env::{Engine, Env};
use super::eval::{Doc, Fixes, Shared, Trace, tags, traced};
use super::pair::Tag;
use super::parse::{Call, Kind, Node, parse as parse_tree};
use super::post::{ANGLES, is_plain, pre, starts_with_ci, time_utc};
use super::table::{self, Id, VarOp};
use crate::host::{Host, Limits};
use crate::js;
use crate::parts::Effects;
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
    #[cfg_attr(test, ts(optional))]
    pub content: Option<[usize; 2]>,
    /// What it inserts here and now; only from [`explain`], and only where it was evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub value: Option<String>,
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

/// The macros of a text in source order, nested ones and those in scoped content included. `known` are the host's.
pub fn parse(text: &str, known: &[&str], profile: &Profile) -> Vec<MacroSpan> {
    spans(text, known, profile).into_iter().map(|(_, span)| span).collect()
}

/// Expands a text as [`super::expand`] does, and tells what each of its macros inserts. (With the legacy engine, which replaces text
/// and evaluates no macros, values are missing.)
pub fn explain(
    text: &str,
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
) -> (String, Vec<MacroSpan>) {
    let known: Vec<&str> = env.dynamic.iter().map(|(name, _)| name.as_str()).collect();
    let spans = spans(text, &known, env.profile);
    let (result, trace) = match env.engine {
        Engine::New => traced(text, env, host, effects, &mut Shared::default(), true),
        Engine::Legacy => (super::expand(text, env, host, effects), Trace::new()),
    };
    let mut values: BTreeMap<usize, String> = trace.into_iter().collect();
    // Old forms become longer or shorter before anything is evaluated, and move what stands behind them.
    let mut old = old_forms(text)
        .map(|(range, _)| (range.end, pre(text.get(range.clone()).unwrap_or("")).len(), range.len()))
        .peekable();
    let (mut added, mut removed) = (0, 0);
    let spans = spans
        .into_iter()
        .map(|(start, mut span)| {
            while let Some((_, new, gone)) = old.next_if(|(end, ..)| *end <= start) {
                added += new;
                removed += gone;
            }
            span.value = values.remove(&(start + added - removed));
            span
        })
        .collect();
    (result, spans)
}

/// What the host gives for a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// A value.
    Bare,
    /// Values for some arguments.
    Arguments,
}

impl Known {
    fn of(known: &[&str], name: &str, has_arguments: bool) -> Self {
        let with = |k: &&str| k.split_once("::").is_some_and(|(n, _)| n.eq_ignore_ascii_case(name));
        if has_arguments && known.iter().any(with) {
            Self::Arguments
        } else if known.iter().any(|k| k.eq_ignore_ascii_case(name)) {
            Self::Bare
        } else {
            Self::Nothing
        }
    }
}

/// The macros with their byte offsets.
fn spans(text: &str, known: &[&str], profile: &Profile) -> Vec<(usize, MacroSpan)> {
    let is_known = |name: &str| known.iter().any(|k| k.eq_ignore_ascii_case(name));
    let fixes = Fixes::of(profile);
    let tree = parse_tree(text, fixes.rules(Limits::default().macro_depth));
    let doc = Doc::new(text);
    let units = |r: &Range<usize>| [doc.utf16(r.start), doc.utf16(r.end)];
    let mut spans = Vec::new();
    let mut stretches: Vec<&[Node]> = vec![&tree.root.nodes];
    while let Some(nodes) = stretches.pop() {
        let tags = tags(text, nodes, fixes, is_known);
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
                Kind::Headless => continue,
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
                    (
                        name.to_owned(),
                        status(call, name, tag, paired, Known::of(known, name, !call.args.is_empty()), fixes),
                        args,
                    )
                }
            };
            let range = units(&node.span);
            spans.push((node.span.start, MacroSpan { range, name, status, args, content, value: None }));
        }
    }
    let old: BTreeMap<usize, (Range<usize>, &str)> =
        old_forms(text).map(|(range, name)| (range.start, (range, name))).collect();
    spans.retain(|(start, _)| !old.contains_key(start));
    spans.extend(old.into_iter().map(|(start, (range, name))| {
        let span = MacroSpan {
            range: units(&range),
            name: name.to_owned(),
            status: SpanStatus::Expands,
            args: Vec::new(),
            content: None,
            value: None,
        };
        (start, span)
    }));
    js::sort_by_key(&mut spans, |(start, _)| *start);
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

fn status(call: &Call, name: &str, tag: Tag, paired: bool, known: Known, fixes: Fixes) -> SpanStatus {
    if paired {
        return SpanStatus::Closes;
    }
    if tag == Tag::Raw {
        return SpanStatus::Unpaired;
    }
    match table::find(name, fixes.names) {
        _ if known == Known::Arguments && !call.args.is_empty() => SpanStatus::Expands,
        _ if known == Known::Bare && call.args.is_empty() && !matches!(tag, Tag::Opens(_)) => {
            SpanStatus::Expands
        }
        _ if known == Known::Bare => SpanStatus::Arguments,
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
    for span in parse(text, known, profile) {
        let new =
            span.status == SpanStatus::Unknown && !names.iter().any(|n| n.eq_ignore_ascii_case(&span.name));
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
                Kind::Headless => {}
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
