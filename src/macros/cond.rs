//! `{{if condition}}…{{else}}…{{/if}}` and the variable shorthands.
//!
//! Spec: 04 §7, §8.2. Differs under `macros.if` (faults F6, F7): `else` in any case, comparisons, `and`/`or`/`not`, bare variable names.

use serde_json::Value;

use super::env::Trust;
use super::eval::{Doc, Place, Run, Span, Stays};
use super::parse::{Arg, Kind, Op, Var, var_name};
use super::post;
use super::scope::trim_scoped;
use super::vars::{Read, Refused, Vars, json_number};
use crate::js;

impl Run<'_, '_> {
    /// A whole `{{if}}`: the chosen branch, evaluated.
    pub(super) fn condition(
        &mut self,
        doc: &Doc<'_>,
        condition: &Arg,
        content: Span<'_>,
        keep: bool,
        place: Place,
    ) -> String {
        let truth = if self.fixes.conditions {
            self.expression(doc, Span::of(condition), place)
        } else {
            self.simple(doc, Span::of(condition), place)
        };
        let branch = match (self.split(doc, &content), truth) {
            (None, true) => content,
            (None, false) => return String::new(),
            (Some((yes, _)), true) => yes,
            (Some((_, no)), false) => no,
        };
        let value = self.nested(doc, &branch, place);
        if keep { value } else { trim_scoped(&value) }
    }

    /// A text that a macro evaluates by itself: a pass of its own, offsets counted from the macro.
    fn nested(&mut self, doc: &Doc<'_>, span: &Span<'_>, place: Place) -> String {
        let start = i64::try_from(doc.utf16(span.range.start)).unwrap_or(i64::MAX);
        let value = self.level(doc, span, place.offset.saturating_sub(start));
        self.finish(value)
    }

    /// Cuts content at its own `{{else}}`.
    fn split<'t>(&self, doc: &Doc<'_>, content: &Span<'t>) -> Option<(Span<'t>, Span<'t>)> {
        let end =
            content.unclosed.iter().copied().find(|u| content.range.contains(u)).unwrap_or(content.range.end);
        let same = |name: &str, what: &str| {
            if self.fixes.conditions { name.eq_ignore_ascii_case(what) } else { name == what }
        };
        let mut depth = 0i64;
        for (i, node) in content.nodes.iter().enumerate().take_while(|(_, n)| n.span.start < end) {
            let Kind::Call(call) = &node.kind else { continue };
            let name = doc.cut(&call.name);
            if same(name, "if") {
                if call.closing {
                    depth -= 1;
                } else if call.args.len() == 1 {
                    depth += 1;
                }
            } else if depth == 0 && !call.closing && same(name, "else") {
                let part = |range, nodes: Option<&'t [_]>| Span {
                    range,
                    nodes: nodes.unwrap_or(&[]),
                    unclosed: content.unclosed,
                };
                return Some((
                    part(content.range.start..node.span.start, content.nodes.get(..i)),
                    part(node.span.end..content.range.end, content.nodes.get(i + 1..)),
                ));
            }
        }
        None
    }

    /// The condition of the reference: a text that is empty or not.
    fn simple(&mut self, doc: &Doc<'_>, span: Span<'_>, place: Place) -> bool {
        let (inverted, span) = strip_not(doc, span, false);
        let value = self.nested(doc, &span, place);
        let value = self.resolved(value, place, false);
        truth(&value) != inverted
    }

    /// A condition's text, or what it names: a shorthand, a macro, under `macros.if` a local variable.
    fn resolved(&mut self, text: String, place: Place, variables: bool) -> String {
        if let Some(name) = text.strip_prefix(['.', '$'])
            && !name.is_empty()
            && var_name(name, self.fixes.names) == name.len()
        {
            let global = text.starts_with('$');
            return self.vars(global).get(name).text();
        }
        if self.is_bare_name(&text) {
            return self.bare(js::trim(&text), place);
        }
        if variables && !text.is_empty() && var_name(&text, true) == text.len() && self.vars(false).has(&text)
        {
            return self.vars(false).get(&text).text();
        }
        text
    }

    /// `a or b`, lowest precedence; then `and`, `not`, one comparison.
    fn expression(&mut self, doc: &Doc<'_>, span: Span<'_>, place: Place) -> bool {
        for (words, stop_at) in [(["or", "||"], true), (["and", "&&"], false)] {
            let cuts = word_cuts(doc, &span, &words);
            if cuts.is_empty() {
                continue;
            }
            let mut from = span.range.start;
            let mut result = !stop_at;
            for (start, end) in cuts.into_iter().chain([(span.range.end, span.range.end)]) {
                if result != stop_at {
                    result = self.expression(doc, trimmed(doc, &span, from, start), place);
                }
                from = end;
            }
            return result;
        }
        let (mut inverted, mut span) = (false, span);
        loop {
            let (not, rest) = strip_not(doc, span, true);
            span = rest;
            if !not {
                break;
            }
            inverted = !inverted;
        }
        if let Some((start, end, op)) = comparison(doc, &span) {
            let left = self.operand(doc, &trimmed(doc, &span, span.range.start, start), place);
            let right = self.operand(doc, &trimmed(doc, &span, end, span.range.end), place);
            return compare(op, &left, &right) != inverted;
        }
        let value = self.nested(doc, &span, place);
        let value = self.resolved(value, place, true);
        truth(&value) != inverted
    }

    fn operand(&mut self, doc: &Doc<'_>, span: &Span<'_>, place: Place) -> String {
        let text = self.nested(doc, span, place);
        let quoted = ['"', '\''].into_iter().find_map(|q| text.strip_prefix(q)?.strip_suffix(q));
        match quoted {
            Some(inner) => inner.to_owned(),
            None => self.resolved(text, place, true),
        }
    }

    pub(super) fn vars(&mut self, global: bool) -> Vars<'_, '_> {
        self.effects.local_store |= !global;
        Vars {
            env: &self.env,
            effects: self.effects,
            limits: &self.host.limits,
            global,
            fixed: self.fixes.values,
        }
    }

    /// What a refused write leads to.
    pub(super) fn refused(&mut self, why: Refused) -> Stays {
        if why == Refused::Limit {
            self.note("macro.variable", "a variable would be too large and stays as it was");
        }
        Stays
    }

    /// The value of a shorthand, trimmed after evaluation. The reference does not pair scopes in it (fault F18).
    fn given(&mut self, doc: &Doc<'_>, var: &Var, shift: i64) -> String {
        let Some(arg) = &var.value else { return String::new() };
        let text = if self.fixes.scopes {
            self.level(doc, &Span::of(arg), shift)
        } else {
            self.flat(doc, &Span::of(arg), shift)
        };
        let text = if self.fixes.escapes { post::settle(text) } else { text };
        js::trim(&text).to_owned()
    }

    /// A variable shorthand.
    pub(super) fn shorthand(&mut self, doc: &Doc<'_>, var: &Var, shift: i64) -> Result<String, Stays> {
        if self.fixes.trust && self.env.trust == Trust::Data {
            return Err(Stays);
        }
        let name = doc.cut(&var.name);
        let Some(op) = var.op else { return Ok(self.vars(var.global).get(name).text()) };
        if op.writes() && var.global && self.denied() {
            return Ok(String::new());
        }
        match op {
            Op::Or | Op::Nullish | Op::OrSet | Op::NullishSet => {
                let vars = self.vars(var.global);
                let current = vars.get_numeric(name);
                let keep = match op {
                    Op::Or | Op::OrSet => current.truthy() && !falsy_word(&current.text()),
                    _ => vars.has(name),
                };
                if keep {
                    return Ok(vars.get(name).text());
                }
                let given = self.given(doc, var, shift);
                if op.writes() {
                    let set = self.vars(var.global).set(name, Value::String(given.clone()));
                    set.map_err(|why| self.refused(why))?;
                }
                Ok(given)
            }
            Op::Inc | Op::Dec => {
                let step = Value::from(if op == Op::Inc { 1 } else { -1 });
                let sum = self.vars(var.global).add(name, &step);
                sum.map(|r| r.text()).map_err(|why| self.refused(why))
            }
            Op::Set | Op::Add | Op::Sub => {
                let given = self.given(doc, var, shift);
                let mut vars = self.vars(var.global);
                let result = match op {
                    Op::Set => vars.set(name, Value::String(given)),
                    Op::Add => vars.add(name, &Value::String(given)).map(|_| ()),
                    _ => match js::to_number(&given) {
                        n if n.is_nan() => Ok(()),
                        n => vars.add(name, &json_number(-n)).map(|_| ()),
                    },
                };
                result.map(|()| String::new()).map_err(|why| self.refused(why))
            }
            Op::Eq | Op::Ne | Op::Gt | Op::Ge | Op::Lt | Op::Le => {
                // From left to right: the value's macros may write the variable.
                let vars = self.vars(var.global);
                let (left, text) = (vars.get_numeric(name), vars.get(name).text());
                let given = self.given(doc, var, shift);
                let mut holds = holds(op, &left, &given);
                if matches!(op, Op::Eq | Op::Ne) && text == given {
                    holds = op == Op::Eq;
                }
                Ok(holds.to_string())
            }
        }
    }

    /// Whether the author of this text may not change what lies outside the chat; notes it.
    pub(super) fn denied(&mut self) -> bool {
        let denied = self.fixes.trust && self.env.trust < Trust::Full;
        if denied {
            self.note("macro.denied", "a card or lorebook text may not write global variables or ban words");
        }
        denied
    }
}

/// Whether a comparison holds: by text for `==`, else by number.
fn holds(op: Op, left: &Read, right: &str) -> bool {
    let (a, b) = (left.number(), js::to_number(right));
    match op {
        Op::Eq => left.text() == right,
        Op::Ne => left.text() != right,
        Op::Gt => a > b,
        Op::Ge => a >= b,
        Op::Lt => a < b,
        _ => a <= b,
    }
}

/// A comparison of a condition: numbers when both sides are, else `==` by text.
#[expect(clippy::float_cmp, reason = "equality of numbers that users wrote")]
fn compare(op: Op, left: &str, right: &str) -> bool {
    let (a, b) = (js::to_number(left), js::to_number(right));
    let numbers = !a.is_nan() && !b.is_nan() && !js::trim(left).is_empty() && !js::trim(right).is_empty();
    match op {
        Op::Eq => left == right || numbers && a == b,
        Op::Ne => left != right && !(numbers && a == b),
        Op::Gt => a > b,
        Op::Ge => a >= b,
        Op::Lt => a < b,
        _ => a <= b,
    }
}

fn falsy_word(text: &str) -> bool {
    matches!(js::lower(js::trim(text)).as_str(), "off" | "false" | "0")
}

fn truth(text: &str) -> bool {
    !text.is_empty() && !falsy_word(text)
}

/// A leading `!` (outside macros) inverts; it goes with the white space behind it. With `words` so does `not`.
fn strip_not<'t>(doc: &Doc<'_>, span: Span<'t>, words: bool) -> (bool, Span<'t>) {
    let text = doc.cut(&span.range);
    let word =
        |t: &'_ str| t.strip_prefix("not").filter(|r| words && r.starts_with(js::is_space)).map(str::len);
    let Some(left) = text.strip_prefix('!').map(str::len).or_else(|| word(text)) else {
        return (false, span);
    };
    let rest = doc.cut(&(span.range.end - left..span.range.end));
    let range = span.range.end - js::trim_start(rest).len()..span.range.end;
    (true, Span { range, ..span })
}

/// A part of a stretch without the white space around it.
fn trimmed<'t>(doc: &Doc<'_>, span: &Span<'t>, from: usize, to: usize) -> Span<'t> {
    let text = doc.cut(&(from..to));
    let start = to - js::trim_start(text).len();
    let end = start + js::trim(text).len();
    let nodes = span.nodes;
    let first = nodes.partition_point(|n| n.span.start < start);
    let last = nodes.partition_point(|n| n.span.start < end);
    Span { range: start..end, nodes: nodes.get(first..last).unwrap_or(&[]), unclosed: span.unclosed }
}

/// Stretches of a condition outside its macros.
fn outside<'s>(doc: &Doc<'s>, span: &Span<'_>) -> Vec<(usize, &'s str)> {
    let mut parts = Vec::new();
    let mut at = span.range.start;
    for node in span.nodes {
        parts.push((at, doc.cut(&(at..node.span.start))));
        at = node.span.end;
    }
    parts.push((at, doc.cut(&(at..span.range.end))));
    parts
}

/// Where one of the words stands between white space, outside macros and not at either end.
fn word_cuts(doc: &Doc<'_>, span: &Span<'_>, words: &[&str]) -> Vec<(usize, usize)> {
    let whole = doc.cut(&span.range);
    let mut cuts = Vec::new();
    for (base, text) in outside(doc, span) {
        for word in words {
            for (i, _) in text.match_indices(word) {
                let (start, end) = (base + i, base + i + word.len());
                let before = whole.get(..start - span.range.start).is_some_and(|t| t.ends_with(js::is_space));
                let after = whole.get(end - span.range.start..).is_some_and(|t| t.starts_with(js::is_space));
                if before && after {
                    cuts.push((start, end));
                }
            }
        }
    }
    cuts.sort_unstable();
    cuts
}

/// The first comparison operator outside macros; `<` and `>` need white space around them, so that markup stays text.
fn comparison(doc: &Doc<'_>, span: &Span<'_>) -> Option<(usize, usize, Op)> {
    const OPS: [(&str, Op); 6] =
        [("==", Op::Eq), ("!=", Op::Ne), (">=", Op::Ge), ("<=", Op::Le), (">", Op::Gt), ("<", Op::Lt)];
    for (base, text) in outside(doc, span) {
        let spaced = |i: usize, length: usize| {
            let before = text
                .get(..i)
                .is_none_or(|t| t.is_empty() && base > span.range.start || t.ends_with(js::is_space));
            let after = text.get(i + length..).is_none_or(|t| t.is_empty() || t.starts_with(js::is_space));
            before && after
        };
        for (i, _) in text.char_indices() {
            let Some((symbol, op)) = text.get(i..).and_then(|t| OPS.iter().find(|(s, _)| t.starts_with(s)))
            else {
                continue;
            };
            if symbol.len() == 2 || spaced(i, 1) {
                return Some((base + i, base + i + symbol.len(), *op));
            }
        }
    }
    None
}
