//! The engine before 1.17: a fixed list of replacements, each over the whole text, so that what one inserts a later one may change.
//!
//! Spec: 04 §13. Selected by `Env::engine`. Limits: `Limits::macro_steps`, `Limits::macro_output`, and a budget for looking ahead.

use super::env::{Env, Trust};
use super::eval::{Place, Run, Shared};
use super::post::{ANGLES, TRIM_TEXT, cut_marks, starts_with_ci, time_utc};
use super::table::{self, VarOp};
use super::{chat, random, time};
use crate::host::{Host, Site};
use crate::js;
use crate::parts::Effects;

/// Names in the reference's order, up to the variables (step 3).
const INSTRUCT: [&str; 25] = [
    "instructStoryStringPrefix",
    "instructStoryStringSuffix",
    "instructUserPrefix",
    "instructInput",
    "instructUserSuffix",
    "instructAssistantPrefix",
    "instructOutput",
    "instructAssistantSuffix",
    "instructSeparator",
    "instructSystemPrefix",
    "instructSystemSuffix",
    "instructFirstAssistantPrefix",
    "instructFirstOutput",
    "instructLastAssistantPrefix",
    "instructLastOutput",
    "instructFirstUserPrefix",
    "instructFirstInput",
    "instructLastUserPrefix",
    "instructLastInput",
    "instructStop",
    "instructUserFiller",
    "instructSystemInstructionPrefix",
    "defaultSystemPrompt",
    "instructSystem",
    "instructSystemPrompt",
];

/// Step 6, the card.
const CARD: [&str; 13] = [
    "charPrompt",
    "charInstruction",
    "charJailbreak",
    "description",
    "personality",
    "scenario",
    "persona",
    "mesExamples",
    "mesExamplesRaw",
    "charVersion",
    "char_version",
    "charDepthPrompt",
    "creatorNotes",
];

/// Step 6, the names.
const NAMES: [&str; 7] = ["user", "char", "group", "charIfNotGroup", "groupNotMuted", "notChar", "model"];

/// Step 7.
const STATE: [&str; 15] = [
    "maxPrompt",
    "maxPromptTokens",
    "maxContext",
    "maxContextTokens",
    "maxResponse",
    "maxResponseTokens",
    "lastMessage",
    "lastMessageId",
    "lastUserMessage",
    "lastCharMessage",
    "firstIncludedMessageId",
    "firstDisplayedMessageId",
    "lastSwipeId",
    "currentSwipeId",
    "allChatRange",
];

/// Expands one text.
pub(super) fn substitute(
    text: &str,
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
    shared: &mut Shared,
) -> String {
    if !text.contains("{{") && !text.contains('<') {
        return text.to_owned();
    }
    let mut engine = Legacy {
        text: text.to_owned(),
        ahead: text.len().saturating_mul(64).saturating_add(1 << 20),
        run: Run::new(text, env, host, effects, shared),
    };
    engine.angles();
    if engine.run.fixes.trust && env.trust == Trust::Data {
        for name in NAMES.into_iter().filter(|n| *n != "model") {
            engine.bare(name);
        }
        return engine.text;
    }
    engine.all(text);
    engine.text
}

/// A match: its length in bytes and what it captured.
struct Found<'t> {
    length: usize,
    parts: [&'t str; 2],
}

/// The result of a try, and how many bytes it looked at.
type Try<'t> = (Option<Found<'t>>, usize);

struct Legacy<'r, 'a> {
    text: String,
    /// Bytes that tries may still look at.
    ahead: usize,
    run: Run<'r, 'a>,
}

impl Legacy<'_, '_> {
    /// Replaces every match from left to right; `None` leaves one as it is. `value` is given the UTF-16 offset of the match.
    fn replace(
        &mut self,
        find: impl for<'t> Fn(&'t str) -> Try<'t>,
        mut value: impl FnMut(&mut Self, [&str; 2], usize) -> Option<String>,
    ) {
        let source = std::mem::take(&mut self.text);
        let limits = &self.run.host.limits;
        let (steps, most) = (limits.macro_steps, limits.macro_output.max(source.len()));
        let mut out = String::new();
        let (mut copied, mut at) = (0, 0);
        let (mut counted, mut units) = (0, 0);
        while let Some(step) = source.get(at..).and_then(|t| t.find("{{")) {
            at += step;
            let (found, looked) = find(source.get(at..).unwrap_or(""));
            self.ahead = self.ahead.saturating_sub(looked);
            if self.ahead == 0 || self.run.shared.steps >= steps {
                self.run.note("macro.steps", "too much work in one text; the rest stays as it is");
                break;
            }
            let Some(found) = found else {
                at += 1;
                continue;
            };
            self.run.shared.steps += 1;
            units += source.get(counted..at).map_or(0, js::len16);
            counted = at;
            if let Some(new) = value(self, found.parts, units) {
                let new = self.run.processed(new);
                if out.len() + new.len() + source.len() - at > most.saturating_mul(2) {
                    self.run.note("macro.output", "a macro would make the text too long and stays as it is");
                    break;
                }
                out.push_str(source.get(copied..at).unwrap_or(""));
                out.push_str(&new);
                copied = at + found.length;
            }
            at += found.length;
        }
        if copied == 0 {
            self.text = source;
        } else {
            out.push_str(source.get(copied..).unwrap_or(""));
            self.text = out;
        }
    }

    fn done(&self) -> bool {
        !self.text.contains("{{")
    }

    /// `<USER>` and its kin, which need no braces.
    fn angles(&mut self) {
        let order = [0, 1, 2, 4, 3];
        for (old, new) in order.into_iter().filter_map(|i: usize| ANGLES.get(i)) {
            let name = new.trim_start_matches('{').trim_end_matches('}');
            let value = self.builtin(name).unwrap_or_default();
            let value = self.run.processed(value);
            let source = std::mem::take(&mut self.text);
            let mut rest = source.as_str();
            while let Some(at) = rest.find('<') {
                let (before, tail) = rest.split_at(at);
                let hit = starts_with_ci(tail, old);
                self.text.push_str(before);
                self.text.push_str(if hit { &value } else { "<" });
                rest = tail.get(if hit { old.len() } else { 1 }..).unwrap_or("");
            }
            self.text.push_str(rest);
        }
    }

    /// The value of a built-in without arguments.
    fn builtin(&mut self, name: &str) -> Option<String> {
        let def = table::find(name, true)?;
        self.run.builtin(def, &[], false, Place::default()).ok()
    }

    /// One bare `{{name}}`.
    fn bare(&mut self, name: &str) {
        if !self.done() {
            self.replace(|t| exact(t, name), |this, _, _| this.builtin(name));
        }
    }

    fn all(&mut self, content: &str) {
        if self.done() {
            return;
        }
        self.replace(
            |t| braced(t, &["{{roll ", "{{roll:"], 1),
            |this, [formula, _], _| {
                let formula = [js::trim(formula).to_owned()];
                let def = table::find("roll", false)?;
                this.run.builtin(def, &formula, false, Place::default()).ok()
            },
        );
        for name in INSTRUCT.into_iter().chain(["systemPrompt", "chatSeparator", "chatStart"]) {
            self.bare(name);
        }
        self.variables();
        self.bare("newline");
        if let Some(cut) = cut_marks(&self.text, TRIM_TEXT) {
            self.text = cut;
        }
        self.bare("noop");
        self.bare("input");
        self.environment();
        for name in STATE {
            if name == "currentSwipeId" && !self.done() {
                self.replace(
                    |t| exact(t, name),
                    |this, _, _| {
                        Some(chat::current_swipe_id(this.run.env.chat).unwrap_or_else(|| "NaN".to_owned()))
                    },
                );
            } else {
                self.bare(name);
            }
        }
        self.times();
        self.last(content);
    }

    fn variables(&mut self) {
        for global in [false, true] {
            let g = if global { "global" } else { "" };
            for (verb, op, pair, least) in [
                ("set", VarOp::Set, true, 0),
                ("add", VarOp::Add, true, 1),
                ("inc", VarOp::Inc, false, 1),
                ("dec", VarOp::Dec, false, 1),
                ("get", VarOp::Get, false, 1),
            ] {
                if self.done() {
                    return;
                }
                let head = format!("{{{{{verb}{g}var::");
                self.replace(
                    |t| if pair { named(t, &head, least) } else { braced(t, &[&head], least) },
                    |this, [a, b], _| {
                        let args = [js::trim(a).to_owned(), b.to_owned()];
                        this.run.variable(op, global, &args).ok()
                    },
                );
            }
        }
    }

    /// Step 6: what this call knows, in the order of its keys.
    fn environment(&mut self) {
        let env = self.run.env;
        let card = env.card.is_some() || env.source.is_some();
        let own: Vec<&str> = env
            .original
            .map(|_| "original")
            .into_iter()
            .chain(CARD.into_iter().filter(|_| card))
            .chain(NAMES)
            .collect();
        let given = |name: &str| {
            env.dynamic.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.clone())
        };
        for name in &own {
            match given(name) {
                Some(value) if !self.done() => {
                    self.replace(|t| exact(t, name), |_, _, _| Some(value.clone()));
                }
                _ => self.bare(name),
            }
        }
        let more = env.dynamic.iter().filter(|(n, _)| !own.iter().any(|o| o.eq_ignore_ascii_case(n)));
        let values = env
            .values
            .iter()
            .filter(|(n, _)| !matches!(n.as_str(), "extensions" | "firstdisplayedmessageid"));
        for (name, value) in more.map(|(n, v)| (n, v)).chain(values) {
            if !self.done() {
                self.replace(|t| exact(t, name), |_, _, _| Some(value.clone()));
            }
        }
    }

    fn times(&mut self) {
        if self.done() {
            return;
        }
        self.replace(
            |t| shortest(t, "{{reverse:", 1, false),
            |_, [text, _], _| Some(text.chars().rev().collect()),
        );
        self.replace(|t| shortest(t, "{{//", 0, true), |_, _, _| Some(String::new()));
        for name in ["time", "date", "weekday", "isotime", "isodate"] {
            self.bare(name);
        }
        let now = time::Moment::now(&self.run.host.clock);
        self.replace(
            |t| braced(t, &["{{datetimeformat "], 0),
            |_, [format, _], _| Some(time::format(now, format.trim_start_matches(' '))),
        );
        self.bare("idle_duration");
        self.replace(
            |t| match time_utc(t) {
                Some((zone, length)) => (Some(Found { length, parts: [zone, ""] }), length),
                None => (None, 32),
            },
            |_, [zone, _], _| {
                let offset = time::utc_offset(&js::upper(zone), true)?;
                Some(time::format(now.at(offset), "LT"))
            },
        );
    }

    fn last(&mut self, content: &str) {
        if self.done() {
            return;
        }
        let outlets = self.run.env.outlets;
        self.replace(
            |t| shortest(t, "{{outlet::", 1, false),
            |_, [key, _], _| Some(outlets.get(js::trim(key)).cloned().unwrap_or_default()),
        );
        self.replace(between, |this, [a, b], _| {
            let def = table::find("timediff", false)?;
            this.run.builtin(def, &[a.to_owned(), b.to_owned()], false, Place::default()).ok()
        });
        self.replace(quoted, |this, [word, _], _| {
            if !this.run.denied() {
                this.run.effects.banned.push(word.to_owned());
            }
            Some(String::new())
        });
        self.replace(
            |t| listed(t, "random"),
            |this, [list, _], _| {
                let mut items = items(list);
                let at = this.run.host.dice.index(Site::MacroRandom, items.len());
                (at < items.len()).then(|| items.swap_remove(at))
            },
        );
        let hash = random::hash53(content);
        self.replace(
            |t| listed(t, "pick"),
            |this, [list, _], offset| {
                let mut items = items(list);
                let chat = this.run.chat_hash(false);
                let seed = random::hash53(&format!("{chat}-{hash}-{offset}"));
                // The seed is a number here; the generator reads it as its digits and a final NUL.
                let units: Vec<u16> = format!("{seed}\0").encode_utf16().collect();
                let at = random::choose(random::arc4_first(&units), items.len());
                (at < items.len()).then(|| items.swap_remove(at))
            },
        );
    }
}

/// Items of a list: between `::` as they stand, between commas trimmed.
fn items(list: &str) -> Vec<String> {
    if list.contains("::") {
        list.split("::").map(str::to_owned).collect()
    } else {
        random::comma_items(list)
    }
}

/// `{{name}}`.
fn exact<'t>(text: &'t str, name: &str) -> Try<'t> {
    let end = 2 + name.len();
    let hit = text.get(2..end).is_some_and(|n| n.eq_ignore_ascii_case(name))
        && text.get(end..).is_some_and(|t| t.starts_with("}}"));
    (hit.then_some(Found { length: end + 2, parts: ["", ""] }), end)
}

/// One of the heads, then at least that many characters without `}`, then `}}`.
fn braced<'t>(text: &'t str, heads: &[&str], least: usize) -> Try<'t> {
    let Some(head) = heads.iter().find(|h| starts_with_ci(text, h)) else { return (None, 16) };
    let body = text.get(head.len()..).unwrap_or("");
    let end = body.find('}').unwrap_or(body.len());
    let hit = end >= least && body.get(end..).is_some_and(|t| t.starts_with("}}"));
    let part = body.get(..end).unwrap_or("");
    (hit.then_some(Found { length: head.len() + end + 2, parts: [part, ""] }), head.len() + end)
}

/// The head, a name without `:`, `::`, a value without `}`.
fn named<'t>(text: &'t str, head: &str, least: usize) -> Try<'t> {
    if !starts_with_ci(text, head) {
        return (None, 16);
    }
    let body = text.get(head.len()..).unwrap_or("");
    let colon = body.find(':').unwrap_or(body.len());
    let tail = body.get(colon..).unwrap_or("");
    if colon == 0 || !tail.starts_with("::") {
        return (None, head.len() + colon);
    }
    let (value, looked) = braced(tail, &["::"], least);
    let name = body.get(..colon).unwrap_or("");
    let found = value.map(|v| Found { length: head.len() + colon + v.length, parts: [name, v.parts[0]] });
    (found, head.len() + colon + looked)
}

/// The head, then as little as possible up to `}}`, on one line unless `lines`.
fn shortest<'t>(text: &'t str, head: &str, least: usize, lines: bool) -> Try<'t> {
    if !starts_with_ci(text, head) {
        return (None, 16);
    }
    let body = text.get(head.len()..).unwrap_or("");
    let first = body.chars().take(least).map(char::len_utf8).sum::<usize>();
    let end = body.get(first..).and_then(|t| t.find("}}")).map(|at| at + first);
    let part = end.and_then(|end| body.get(..end)).filter(|p| lines || !p.contains(js::is_line_end));
    let looked = head.len() + end.unwrap_or(body.len());
    (part.map(|p| Found { length: head.len() + p.len() + 2, parts: [p, ""] }), looked)
}

/// `{{timeDiff::a::b}}`.
fn between(text: &str) -> Try<'_> {
    const HEAD: &str = "{{timeDiff::";
    let (whole, looked) = shortest(text, HEAD, 0, false);
    let found = whole.and_then(|w| {
        let (a, b) = w.parts[0].split_once("::")?;
        Some(Found { length: w.length, parts: [a, b] })
    });
    (found, looked)
}

/// `{{banned "word"}}`, up to the last such end on the line.
fn quoted(text: &str) -> Try<'_> {
    const HEAD: &str = "{{banned \"";
    if !starts_with_ci(text, HEAD) {
        return (None, 16);
    }
    let body = text.get(HEAD.len()..).unwrap_or("");
    let line = body.find(js::is_line_end).unwrap_or(body.len());
    let end = body.get(..line).and_then(|l| l.rfind("\"}}"));
    let found =
        end.and_then(|end| Some(Found { length: HEAD.len() + end + 3, parts: [body.get(..end)?, ""] }));
    (found, HEAD.len() + line)
}

/// `{{random:…}}`, `{{random::…}}`, one white space allowed behind the name.
fn listed<'t>(text: &'t str, name: &str) -> Try<'t> {
    let head = 2 + name.len();
    if !text.get(2..head).is_some_and(|n| n.eq_ignore_ascii_case(name)) {
        return (None, 16);
    }
    let tail = text.get(head..).unwrap_or("");
    let spaced = tail.strip_prefix(js::is_space).unwrap_or(tail);
    let Some(body) = spaced.strip_prefix(':') else { return (None, 16) };
    let list = body.strip_prefix(':').filter(|b| !b.starts_with('}')).unwrap_or(body);
    let end = list.find('}').unwrap_or(list.len());
    let length = text.len() - list.len() + end + 2;
    let hit = end > 0 && list.get(end..).is_some_and(|t| t.starts_with("}}"));
    (hit.then_some(Found { length, parts: [list.get(..end).unwrap_or(""), ""] }), length)
}
