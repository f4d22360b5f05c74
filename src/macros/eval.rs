//! Walks the tree of a text from left to right and builds the result.
//!
//! Spec: 04 §3, §5, §6. Reading order: `substitute` (one text) -> `Run::level` (one stretch) -> `Run::call` (one macro).
//! Differs under `macros.escapes`, `macros.scopes`, `macros.names`, `macros.trust`. Limits: every `Limits::macro_*`; a macro that
//! would exceed one stays as it is, and a note says so.

use std::cell::OnceCell;
use std::ops::Range;

use super::env::{Env, Trust};
use super::pair::{Tag, pair};
use super::parse::{Arg, Call, Kind, Level, Node, Rules, cut, parse};
use super::scope::trim_scoped;
use super::table::{self, Field, Id};
use super::{post, random};
use crate::error::Warning;
use crate::host::Host;
use crate::js;
use crate::parts::Effects;
use crate::profile::{self, Profile};

/// The switches of this module, looked up once a text.
#[expect(clippy::struct_excessive_bools, reason = "one flag a switch")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixes {
    pub(super) escapes: bool,
    pub(super) scopes: bool,
    pub(super) card_fields: bool,
    pub(super) conditions: bool,
    pub(super) names: bool,
    pub(super) values: bool,
    pub(super) trust: bool,
}

impl Fixes {
    pub(super) fn of(profile: &Profile) -> Self {
        Self {
            escapes: profile.on(&profile::MACROS_ESCAPES),
            scopes: profile.on(&profile::MACROS_SCOPES),
            card_fields: profile.on(&profile::MACROS_CARD_FIELDS),
            conditions: profile.on(&profile::MACROS_IF),
            names: profile.on(&profile::MACROS_NAMES),
            values: profile.on(&profile::MACROS_VALUES),
            trust: profile.on(&profile::MACROS_TRUST),
        }
    }

    /// The dialect of the grammar.
    pub(super) const fn rules(self, depth: usize) -> Rules {
        Rules { strict_names: self.names, strict_comments: self.scopes, depth }
    }
}

/// What a whole expansion shares with the card fields it reads.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Macros run so far.
    pub(super) steps: usize,
    produced: usize,
    depth: usize,
    /// Card fields read so far in this text.
    pub(super) memo: [Option<String>; Field::COUNT],
    /// Card fields that are being expanded.
    pub(super) busy: [bool; Field::COUNT],
    /// A field was read while it was being expanded.
    pub(super) cycle: bool,
    /// Alternate greetings read in this text.
    pub(super) greetings: Option<Vec<String>>,
}

/// Why a macro stays as it is. The reason has been noted where it is worth a note.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stays;

/// Expands one text.
pub(super) fn substitute(
    text: &str,
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
    shared: &mut Shared,
) -> String {
    traced(text, env, host, effects, shared, false).0
}

/// The value of each macro of a text that was evaluated, with the offset of its braces in the text as [`post::pre`] leaves it.
pub(super) type Trace = Vec<(usize, String)>;

/// Expands one text; with `trace` the values of its macros are kept.
pub(super) fn traced(
    text: &str,
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
    shared: &mut Shared,
    trace: bool,
) -> (String, Trace) {
    if post::is_plain(text) {
        return (text.to_owned(), Trace::new());
    }
    let fixes = Fixes::of(env.profile);
    let source = post::pre(text);
    let tree = parse(&source, fixes.rules(host.limits.macro_depth));
    let doc = Doc { traced: trace, ..Doc::new(&source) };
    let mut run = Run::new(text, env, host, effects, shared);
    if tree.too_deep {
        run.note("macro.depth", "a macro is nested too deep and stays as it is");
    }
    let out = run.level(&doc, &Span::whole(&tree.root, source.len()), 0);
    (run.finish(out), run.trace)
}

/// The pairing of a stretch under the built-ins' rules (spec 04 §5 rule 4). Macros of the call count as unknown in the reference (F24).
pub(super) fn tags(src: &str, nodes: &[Node], fixes: Fixes, is_dynamic: impl Fn(&str) -> bool) -> Vec<Tag> {
    let known = |call: &Call| table::find(cut(src, &call.name), fixes.names);
    let given = |call: &Call| fixes.scopes && is_dynamic(cut(src, &call.name));
    let accepts = |call: &Call| match known(call) {
        _ if given(call) => false,
        None => true,
        Some(def) => !def.list && def.takes(call.args.len() + 1),
    };
    let takes_none = |call: &Call| {
        fixes.scopes && (given(call) || known(call).is_some_and(|def| def.list || def.max == 0))
    };
    pair(src, nodes, accepts, takes_none)
}

/// A source text with a way from byte to UTF-16 offsets.
pub(super) struct Doc<'s> {
    pub(super) src: &'s str,
    /// UTF-16 offset at every 256th byte.
    marks: OnceCell<Vec<usize>>,
    /// Values of its macros are kept.
    traced: bool,
}

impl<'s> Doc<'s> {
    const EVERY: usize = 256;

    pub(super) const fn new(src: &'s str) -> Self {
        Self { src, marks: OnceCell::new(), traced: false }
    }

    pub(super) fn cut(&self, span: &Range<usize>) -> &'s str {
        cut(self.src, span)
    }

    /// UTF-16 offset of a byte offset on a character boundary.
    pub(super) fn utf16(&self, byte: usize) -> usize {
        // A lead byte counts one unit, or two for four-byte characters.
        let units = |bytes: &[u8]| -> usize {
            bytes.iter().map(|b| usize::from(b & 0xC0 != 0x80) + usize::from(*b >= 0xF0)).sum()
        };
        let bytes = self.src.as_bytes();
        let marks = self.marks.get_or_init(|| {
            let mut sum = 0;
            let counted = bytes.chunks(Self::EVERY).map(|chunk| {
                sum += units(chunk);
                sum
            });
            std::iter::once(0).chain(counted).collect()
        });
        let block = byte / Self::EVERY;
        marks.get(block).copied().unwrap_or(0) + bytes.get(block * Self::EVERY..byte).map_or(0, units)
    }
}

/// A stretch of a level: a range of the text and the macros in it.
#[derive(Clone)]
pub(super) struct Span<'t> {
    pub(super) range: Range<usize>,
    pub(super) nodes: &'t [Node],
    pub(super) unclosed: &'t [usize],
}

impl<'t> Span<'t> {
    pub(super) fn whole(level: &'t Level, length: usize) -> Self {
        Self { range: 0..length, nodes: &level.nodes, unclosed: &level.unclosed }
    }

    pub(super) fn of(arg: &'t Arg) -> Self {
        Self { range: arg.span.clone(), nodes: &arg.level.nodes, unclosed: &arg.level.unclosed }
    }
}

/// Scoped content of a call, with the closing tag.
#[derive(Clone)]
pub(super) struct Scope<'t> {
    content: Span<'t>,
    closer: Range<usize>,
}

pub(super) struct Run<'r, 'a> {
    pub(super) env: Env<'a>,
    pub(super) fixes: Fixes,
    pub(super) host: &'r mut Host,
    pub(super) effects: &'r mut Effects,
    pub(super) shared: &'r mut Shared,
    /// The text as it was given, for the hash of `{{pick}}`.
    content: &'r str,
    hash: Option<u64>,
    pub(super) original_used: bool,
    trace: Trace,
}

/// Position of a call: for `{{pick}}`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// UTF-16 offset in the whole text.
    pub(super) offset: i64,
}

impl<'r, 'a> Run<'r, 'a> {
    /// The state of one text's expansion.
    pub(super) fn new(
        content: &'r str,
        env: &Env<'a>,
        host: &'r mut Host,
        effects: &'r mut Effects,
        shared: &'r mut Shared,
    ) -> Self {
        let fixes = Fixes::of(env.profile);
        Self {
            env: *env,
            fixes,
            host,
            effects,
            shared,
            content,
            hash: None,
            original_used: false,
            trace: Trace::new(),
        }
    }
}

impl<'a> Run<'_, 'a> {
    /// Notes something once in a while: the same thing is not repeated without end.
    pub(super) fn note(&mut self, code: &'static str, message: &str) {
        let known = self.effects.notes.iter().filter(|n| n.code == code).count();
        if known < 3 {
            self.effects.notes.push(Warning::new(code, "", message));
        }
    }

    /// The hash of the text as given.
    pub(super) fn content_hash(&mut self) -> u64 {
        let content = self.content;
        *self.hash.get_or_insert_with(|| random::hash53(content))
    }

    /// The end of one pass over a text.
    pub(super) fn finish(&self, text: String) -> String {
        if self.fixes.escapes { post::settle(text) } else { post::post(text) }
    }

    fn literal(&self, out: &mut String, text: &str) {
        if self.fixes.escapes {
            out.push_str(&post::unescape(text));
        } else {
            out.push_str(text);
        }
    }

    /// Evaluates a stretch, scopes paired.
    pub(super) fn level(&mut self, doc: &Doc<'_>, span: &Span<'_>, shift: i64) -> String {
        let dynamic = self.env.dynamic;
        let is_dynamic = |name: &str| dynamic.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        let tags = tags(doc.src, span.nodes, self.fixes, is_dynamic);
        self.walk(doc, span, shift, &tags)
    }

    /// Evaluates a stretch, every tag on its own: the value of a shorthand in the reference.
    pub(super) fn flat(&mut self, doc: &Doc<'_>, span: &Span<'_>, shift: i64) -> String {
        self.walk(doc, span, shift, &[])
    }

    fn walk(&mut self, doc: &Doc<'_>, span: &Span<'_>, shift: i64, tags: &[Tag]) -> String {
        let mut out = String::new();
        let mut at = span.range.start;
        let mut i = 0;
        while let Some(node) = span.nodes.get(i) {
            let before = doc.cut(&(at..node.span.start));
            self.literal(&mut out, before);
            at = node.span.end;
            let mut scope = None;
            match tags.get(i) {
                Some(Tag::Raw) => {
                    self.raw(&mut out, before, doc.cut(&node.span));
                    i += 1;
                    continue;
                }
                Some(Tag::Opens(end)) => {
                    if let Some(closer) = span.nodes.get(*end) {
                        scope = Some(Scope {
                            content: Span {
                                range: node.span.end..closer.span.start,
                                nodes: span.nodes.get(i + 1..*end).unwrap_or(&[]),
                                unclosed: span.unclosed,
                            },
                            closer: closer.span.clone(),
                        });
                        at = closer.span.end;
                        i = *end;
                    }
                }
                _ => {}
            }
            let whole = node.span.start..at;
            match self.guarded(doc, node, scope, shift, out.len()) {
                Ok(Ok(value)) => {
                    out.push_str(&value);
                    if doc.traced {
                        self.trace.push((node.span.start, value));
                    }
                }
                Ok(Err(raw)) => self.raw(&mut out, before, &raw),
                Err(Stays) => self.raw(&mut out, before, doc.cut(&whole)),
            }
            i += 1;
        }
        self.literal(&mut out, doc.cut(&(at..span.range.end)));
        out
    }

    /// Text that stays as it is: source text, so a backslash before its brace goes.
    fn raw(&self, out: &mut String, before: &str, text: &str) {
        if self.fixes.escapes && before.ends_with('\\') && out.ends_with('\\') {
            out.pop();
        }
        self.literal(out, text);
    }

    /// One macro within the limits: its value, or what stays with evaluated arguments, or nothing but the source.
    fn guarded(
        &mut self,
        doc: &Doc<'_>,
        node: &Node,
        scope: Option<Scope<'_>>,
        shift: i64,
        length: usize,
    ) -> Result<Result<String, String>, Stays> {
        let limits = &self.host.limits;
        if self.shared.steps >= limits.macro_steps {
            self.note("macro.steps", "too many macros in one text; the rest stay as they are");
            return Err(Stays);
        }
        if self.shared.depth >= limits.macro_depth {
            self.note("macro.depth", "a macro is nested too deep and stays as it is");
            return Err(Stays);
        }
        let (most, work) = (limits.macro_output, limits.macro_output.saturating_mul(16));
        self.shared.steps += 1;
        self.shared.depth += 1;
        let result = match &node.kind {
            Kind::Call(call) => self.call(doc, node, call, scope, shift),
            Kind::Var(var) => self.shorthand(doc, var, shift).map(Ok),
            Kind::Headless => Ok(Err(doc.cut(&node.span).to_owned() + "}}")),
        };
        self.shared.depth -= 1;
        let result = result?;
        {
            let (Ok(value) | Err(value)) = &result;
            self.shared.produced = self.shared.produced.saturating_add(value.len());
            if value.len().saturating_add(length) > most.max(doc.src.len()) || self.shared.produced > work {
                self.note("macro.output", "a macro would make the text too long and stays as it is");
                return Err(Stays);
            }
        }
        Ok(result)
    }

    /// An argument or content, evaluated; marks have done their work by then.
    fn value_of(&mut self, doc: &Doc<'_>, span: &Span<'_>, shift: i64) -> String {
        let text = self.level(doc, span, shift);
        if self.fixes.escapes { post::settle(text) } else { text }
    }

    fn call(
        &mut self,
        doc: &Doc<'_>,
        node: &Node,
        call: &Call,
        scope: Option<Scope<'_>>,
        shift: i64,
    ) -> Result<Result<String, String>, Stays> {
        let name = doc.cut(&call.name);
        let dynamic = self.env.dynamic.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v);
        let def = table::find(name, self.fixes.names).filter(|_| dynamic.is_none());
        if self.fixes.trust && self.env.trust == Trust::Data {
            let harmless = def.is_some_and(|d| {
                matches!(d.id, Id::User | Id::Char | Id::Group | Id::GroupNotMuted | Id::NotChar)
            });
            if !harmless || scope.is_some() {
                return Err(Stays);
            }
        }
        let count = call.args.len() + usize::from(scope.is_some());
        let place = Place {
            offset: i64::try_from(doc.utf16(node.span.start)).unwrap_or(i64::MAX).saturating_add(shift),
        };
        match def {
            Some(d) if d.id == Id::If => {
                if !d.takes(count) {
                    return Err(Stays);
                }
                let [condition, rest @ ..] = call.args.as_slice() else { return Err(Stays) };
                let content = match (rest.first(), scope) {
                    (Some(arg), _) => Span::of(arg),
                    (None, Some(scope)) => scope.content,
                    (None, None) => return Err(Stays),
                };
                let value = self.condition(doc, condition, content, call.keep, place);
                return Ok(Ok(self.processed(value)));
            }
            Some(d) if d.id == Id::Comment && self.fixes.scopes && d.takes(count) => {
                return Ok(Ok(String::new()));
            }
            _ => {}
        }
        let mut args: Vec<String> =
            call.args.iter().map(|arg| self.value_of(doc, &Span::of(arg), shift)).collect();
        let content = scope.as_ref().map(|s| self.value_of(doc, &s.content, shift));
        if let Some(content) = &content {
            args.push(if call.keep { content.clone() } else { trim_scoped(content) });
        }
        let given = self.supplied(name, &args);
        let value = match (given.or(dynamic.filter(|_| args.is_empty())), def) {
            (Some(value), _) => Ok(value.clone()),
            (None, Some(def)) if dynamic.is_none() && def.takes(args.len()) => {
                self.builtin(def, &args, content.is_some(), place)
            }
            _ => Err(Stays),
        };
        Ok(match value {
            Ok(value) => Ok(self.processed(value)),
            Err(Stays) => Err(self.rebuilt(doc, node, call, &args, scope.zip(content))),
        })
    }

    /// What the host gave for a macro with just these arguments: under `name::argument`.
    fn supplied(&self, name: &str, args: &[String]) -> Option<&'a String> {
        let dynamic = self.env.dynamic;
        if args.is_empty() || !dynamic.iter().any(|(n, _)| n.contains("::")) {
            return None;
        }
        let key = format!("{name}::{}", args.join("::"));
        dynamic.iter().find(|(n, _)| n.eq_ignore_ascii_case(&key)).map(|(_, value)| value)
    }

    pub(super) fn processed(&self, value: String) -> String {
        match self.env.post_process {
            Some(f) => f(&value),
            None => value,
        }
    }

    /// The source of a call with its arguments replaced by their values (spec 04 §4.7).
    fn rebuilt(
        &self,
        doc: &Doc<'_>,
        node: &Node,
        call: &Call,
        args: &[String],
        scope: Option<(Scope<'_>, String)>,
    ) -> String {
        let mut out = String::new();
        let mut at = node.span.start;
        for (arg, value) in call.args.iter().zip(args) {
            out.push_str(doc.cut(&(at..arg.span.start)));
            out.push_str(value);
            at = arg.span.end;
        }
        out.push_str(doc.cut(&(at..node.span.end)));
        if let Some((scope, content)) = scope {
            if self.fixes.scopes {
                out.push_str(&content);
                out.push_str(doc.cut(&scope.closer));
            } else if !scope.content.range.is_empty() {
                // The reference loses the closing tag (fault F3).
                out.push_str(args.last().map_or("", String::as_str));
                out.push_str("}}");
            }
        }
        out
    }

    /// The name alone, as a macro without arguments: for a bare name in a condition.
    pub(super) fn bare(&mut self, name: &str, place: Place) -> String {
        let text = format!("{{{{{name}}}}}");
        let tree = parse(&text, self.fixes.rules(1));
        let doc = Doc::new(&text);
        let value = self.level(&doc, &Span::whole(&tree.root, text.len()), place.offset);
        self.finish(value)
    }

    /// The name of a macro that needs no arguments.
    pub(super) fn is_bare_name(&self, text: &str) -> bool {
        table::find(js::trim(text), self.fixes.names).is_some_and(|d| d.min == 0)
    }
}
