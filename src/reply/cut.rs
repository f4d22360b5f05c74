//! A reply, piece by piece -> the reply without labels: the speaker's own are taken off, at somebody else's it ends
//! (spec 01 §P2). One machine for whole texts and for streams, so that both give the same for every split.
//!
//! A line is judged when it is complete; until then its beginning is released as soon as no label can come of it. Lines whose
//! judgement depends on later ones (an open tag, what may be a roster) wait in a queue, in order.
//! Cost: linear; the beginning of a line is looked at again with every piece, some 600 characters at most.

use std::collections::VecDeque;

use super::{Cut, CutReason, Salvage, Stripped};
use crate::js;
use crate::names::{Label, Labels, Look};
use crate::parts::Participant;

/// How far behind a label somebody else's makes the line a list, in code points.
const SAME_LINE: usize = 200;
/// A body in a roster is at most this long, in code points.
const ROSTER_BODY: usize = 80;
/// Tags that are open at once; further ones are text.
const OPEN_TAGS: usize = 64;

/// Whose labels there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Cast {
    labels: Labels,
    /// By index: name, id. Index 0 is the speaker.
    people: Vec<(String, String)>,
    /// Own labels are taken off.
    strip: bool,
}

impl Cast {
    /// `own` may be labelled, and stripped if `strip`; the `others` end the reply.
    pub(super) fn new<'a>(
        own: &'a Participant,
        strip: bool,
        others: impl Iterator<Item = &'a Participant>,
    ) -> Self {
        let everyone: Vec<&Participant> = std::iter::once(own).chain(others).collect();
        let names =
            everyone.iter().enumerate().flat_map(|(i, p)| p.names.iter().map(move |n| (i, n.as_str())));
        let people =
            everyone.iter().map(|p| (p.names.first().cloned().unwrap_or_default(), p.id.clone())).collect();
        Self { labels: Labels::new(names), people, strip }
    }

    fn cut(&self, who: usize, offset: usize, reason: CutReason) -> Cut {
        let (name, id) = self.people.get(who).map_or(("", ""), |(name, id)| (name, id));
        Cut::new(offset, reason, name, id)
    }
}

/// A complete line that waits.
#[derive(Debug)]
struct Line {
    number: usize,
    /// With its line end.
    text: String,
    /// UTF-16 offset in the input.
    offset: usize,
    row: Option<Vec<Label>>,
    exempt: bool,
}

/// Adjacent label lines below an introduction: a roster, if enough of them keep short.
#[derive(Debug)]
struct Run {
    first: usize,
    who: usize,
    several: bool,
}

/// How far the unfinished line has been judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// It may become a label.
    Unknown,
    /// It is none, or its label is dealt with.
    Passing {
        /// Bytes of the line that are released.
        released: usize,
        /// Where the text behind an own label begins.
        body: usize,
        /// The label was somebody else's.
        foreign: bool,
    },
}

/// What the reply has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing but blank lines so far; they are kept here.
    Blank(String),
    /// The reply of the one who should speak.
    Own,
    /// It began as somebody else: nothing counts until an own label.
    Foreign(Cut),
    /// It ended.
    Cut,
}

/// The machine.
#[derive(Debug)]
pub(super) struct LabelCut {
    cast: Cast,
    /// Text that may not be touched came before.
    accepted: bool,
    line: String,
    head: Head,
    /// UTF-16 offset of `line` in the input.
    offset: usize,
    /// UTF-16 length of the beginning of `line` that was accepted before.
    before: usize,
    number: usize,
    queue: VecDeque<Line>,
    fence: Option<(char, usize)>,
    /// Name and line number of each open tag.
    tags: Vec<(String, usize)>,
    /// The line before ends in a colon and is no label.
    intro: bool,
    run: Option<Run>,
    mode: Mode,
    /// Where the reply was cut.
    pub(super) cut: Option<Cut>,
    /// What was left out in front of the speaker's own part.
    pub(super) salvage: Option<Salvage>,
    /// Own labels that were taken off.
    pub(super) stripped: Vec<Stripped>,
}

impl LabelCut {
    pub(super) fn new(cast: Cast) -> Self {
        Self {
            cast,
            accepted: false,
            line: String::new(),
            head: Head::Unknown,
            offset: 0,
            before: 0,
            number: 0,
            queue: VecDeque::new(),
            fence: None,
            tags: Vec::new(),
            intro: false,
            run: None,
            mode: Mode::Blank(String::new()),
            cut: None,
            salvage: None,
            stripped: Vec::new(),
        }
    }

    /// Text that was accepted before: it opens fences and tags, but its labels are content. Offsets count from behind it.
    pub(super) fn accept(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.accepted = true;
        self.mode = Mode::Own;
        let mut sink = String::new();
        self.push(text, &mut sink);
        self.accepted = false;
        self.offset = 0;
        if !self.line.is_empty() {
            // The line began before: what follows is its rest. A line end that waits is accepted text too.
            self.before = js::len16(&self.line);
            self.head = Head::Passing { released: self.line.len(), body: 0, foreign: false };
        }
    }

    /// More of the reply; what may be shown of it goes to `out`.
    pub(super) fn push(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while self.mode != Mode::Cut {
            // A CR that ended the last piece: with an LF it is one line end.
            if self.line.ends_with('\r') && !rest.is_empty() {
                if let Some(tail) = rest.strip_prefix('\n') {
                    self.line.push('\n');
                    rest = tail;
                }
                self.end_line(out);
                continue;
            }
            let Some(at) = rest.find(js::is_line_end) else {
                self.line.push_str(rest);
                break;
            };
            let end = at + rest.get(at..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8);
            let (line, tail) = rest.split_at(end);
            self.line.push_str(line);
            rest = tail;
            if !line.ends_with('\r') {
                self.end_line(out);
            }
        }
        if self.mode != Mode::Cut {
            self.look_ahead(out);
        }
    }

    /// No more text.
    pub(super) fn finish(&mut self, out: &mut String) {
        if self.mode != Mode::Cut && !self.line.is_empty() {
            self.end_line(out);
        }
        self.end_run();
        self.tags.clear();
        self.release(out);
        match std::mem::replace(&mut self.mode, Mode::Cut) {
            Mode::Blank(lead) => out.push_str(&lead),
            Mode::Foreign(cut) => self.cut = Some(cut),
            Mode::Own | Mode::Cut => {}
        }
    }

    /// The reply has ended, whatever may follow.
    pub(super) fn is_cut(&self) -> bool {
        self.mode == Mode::Cut
    }

    /// Whether the line that now begins or goes on can have a label.
    fn labels_count(&self) -> bool {
        !self.accepted && self.fence.is_none()
    }

    /// The unfinished line: release of it what no label can come of.
    fn look_ahead(&mut self, out: &mut String) {
        if self.accepted || !self.queue.is_empty() {
            return;
        }
        if self.head == Head::Unknown {
            let own = |who| who == 0;
            match if self.labels_count() { self.cast.labels.row(&self.line, own, false) } else { Look::No } {
                Look::Open => return,
                Look::No => self.head = Head::Passing { released: 0, body: 0, foreign: false },
                Look::Found(row) => {
                    // Certain already, unless the lines around it can make it content.
                    if self.intro || self.run.is_some() || !self.tags.is_empty() {
                        return;
                    }
                    if self.other_on_line(&row, &self.line, false) != Look::No {
                        return;
                    }
                    let last = row.last().copied();
                    let body = last.filter(|l| l.who == 0).map_or(0, |l| l.end);
                    let text = std::mem::take(&mut self.line);
                    let line = Line {
                        number: self.number,
                        text,
                        offset: self.offset,
                        row: Some(row),
                        exempt: false,
                    };
                    let kept = self.act(&line);
                    self.line = line.text;
                    let foreign = kept.is_none();
                    self.emit(&kept.unwrap_or_default(), out);
                    self.head = Head::Passing { released: self.line.len(), body, foreign };
                    return;
                }
            }
        }
        if let Head::Passing { released, body, foreign } = self.head {
            let end = self.line.len() - usize::from(self.line.ends_with('\r'));
            let part = self.line.get(released..end).unwrap_or("").to_owned();
            if part.is_empty() {
                return;
            }
            // Blanks at the start wait: they may turn out to be in front of somebody else's label.
            if self.mode == Mode::Own || !js::trim(&part).is_empty() {
                self.head = Head::Passing { released: end, body, foreign };
                self.emit(&part, out);
            }
        }
    }

    /// The line in `self.line` is complete, its end included.
    fn end_line(&mut self, out: &mut String) {
        let text = std::mem::take(&mut self.line);
        let head = std::mem::replace(&mut self.head, Head::Unknown);
        let body_end = text.trim_end_matches(js::is_line_end).len();
        let body = text.get(..body_end).unwrap_or("");
        let (row, released) = match head {
            Head::Unknown if self.labels_count() => {
                (found(self.cast.labels.row(body, |who| who == 0, true)), 0)
            }
            Head::Unknown => (None, 0),
            Head::Passing { released, .. } => (None, released),
        };
        // Behind an own label the line is what it would be without.
        let (plain, foreign) = match (head, row.as_ref().and_then(|r| r.last())) {
            (Head::Passing { body: from, foreign, .. }, _) => (from, foreign),
            (Head::Unknown, Some(label)) if label.who == 0 => (label.end, false),
            (Head::Unknown, label) => (0, label.is_some()),
        };
        let plain = body.get(plain..).unwrap_or("");
        let listed = row.as_ref().is_some_and(|row| self.other_on_line(row, body, true) != Look::No);
        let label = row.as_ref().filter(|_| !listed).and_then(|r| r.last().copied());
        if !foreign {
            self.structure(plain);
        }
        self.join_run(label, body);
        self.intro = !foreign && !listed && self.run.is_none() && self.fence.is_none() && introduces(plain);
        let line = Line {
            number: self.number,
            text: text.get(released..).unwrap_or("").to_owned(),
            offset: self.offset,
            row: row.filter(|_| !listed),
            exempt: false,
        };
        self.offset += js::len16(&text) - std::mem::take(&mut self.before);
        self.number += 1;
        self.queue.push_back(line);
        self.release(out);
    }

    /// Fences and tags that a line opens or closes.
    fn structure(&mut self, line: &str) {
        let line = js::trim(line);
        if let Some((mark, length)) = self.fence {
            let run = line.len() - line.trim_start_matches(mark).len();
            if run >= length && run == line.len() {
                self.fence = None;
            }
            return;
        }
        for mark in ['`', '~'] {
            let run = line.len() - line.trim_start_matches(mark).len();
            // Backticks further on make it inline code.
            if run >= 3 && !(mark == '`' && line.get(run..).is_some_and(|t| t.contains('`'))) {
                self.fence = Some((mark, run));
                return;
            }
        }
        match tag(line) {
            Some((name, true)) => {
                let name = name.to_ascii_lowercase();
                if let Some(first) = self.tags.iter().find(|(n, _)| *n == name).map(|(_, at)| *at) {
                    self.tags.retain(|(n, _)| *n != name);
                    for line in self.queue.iter_mut().rev().take_while(|l| l.number > first) {
                        line.exempt = true;
                    }
                }
            }
            Some((name, false)) if self.tags.len() < OPEN_TAGS => {
                self.tags.push((name.to_ascii_lowercase(), self.number));
            }
            _ => {}
        }
    }

    /// Keeps the run of label lines below an introduction.
    fn join_run(&mut self, label: Option<Label>, body: &str) {
        let Some(label) = label else {
            self.end_run();
            return;
        };
        let keeps_short = is_entry(body.get(label.end..).unwrap_or(""));
        match &mut self.run {
            Some(_) if !keeps_short => self.run = None,
            Some(run) => run.several |= run.who != label.who,
            None if self.intro && keeps_short => {
                self.run = Some(Run { first: self.number, who: label.who, several: false });
            }
            None => {}
        }
    }

    /// The run is over: a roster is content.
    fn end_run(&mut self) {
        if let Some(run) = self.run.take().filter(|run| run.several) {
            for line in self.queue.iter_mut().rev().take_while(|l| l.number >= run.first) {
                line.exempt = true;
            }
        }
    }

    /// Whether the line names others in a list, judged with what is there of it.
    fn other_on_line(&self, row: &[Label], line: &str, whole: bool) -> Look<Label> {
        let Some(label) = row.last() else { return Look::No };
        let body = line.get(label.end..).unwrap_or("");
        let to = body.char_indices().nth(SAME_LINE).map_or(usize::MAX, |(at, _)| label.end + at);
        self.cast.labels.another(line, label.end, to, label.who, whole)
    }

    /// Lets go of the lines whose judgement is certain.
    fn release(&mut self, out: &mut String) {
        while let Some(line) = self.queue.front() {
            if self.mode == Mode::Cut {
                self.queue.clear();
                return;
            }
            let decided = line.exempt || line.row.is_none();
            let waits = self.run.as_ref().is_some_and(|run| line.number >= run.first)
                || self.tags.first().is_some_and(|(_, at)| *at < line.number);
            if !decided && waits {
                return;
            }
            let Some(line) = self.queue.pop_front() else { return };
            if decided {
                self.emit(&line.text, out);
            } else if let Some(kept) = self.act(&line) {
                self.emit(&kept, out);
            }
        }
    }

    /// A label that counts. Returns what is kept of its line.
    fn act(&mut self, line: &Line) -> Option<String> {
        let row = line.row.as_deref().unwrap_or(&[]);
        let last = row.last()?;
        if last.who != 0 {
            match &self.mode {
                Mode::Blank(_) => {
                    let cut = self.cast.cut(last.who, line.offset, CutReason::ForeignStart);
                    self.mode = Mode::Foreign(cut);
                }
                Mode::Own => {
                    self.cut = Some(self.cast.cut(last.who, line.offset, CutReason::Label));
                    self.mode = Mode::Cut;
                }
                Mode::Foreign(_) | Mode::Cut => {}
            }
            return None;
        }
        if let Mode::Foreign(cut) = &self.mode {
            self.salvage = Some(Salvage { until: line.offset, name: cut.name.clone(), id: cut.id.clone() });
            self.mode = Mode::Own;
        }
        let mut kept = String::new();
        let mut from = 0;
        for label in row {
            // A sentence that tells of the speaker is the speaker's text.
            if !self.cast.strip || label.told {
                break;
            }
            kept.push_str(line.text.get(label.unclosed.0..label.unclosed.1).unwrap_or(""));
            let text = line.text.get(from..label.end).unwrap_or("");
            self.stripped.push(Stripped {
                offset: line.offset + js::to_utf16(&line.text, from),
                text: js::trim(text).to_owned(),
            });
            from = label.end;
        }
        kept.push_str(line.text.get(from..).unwrap_or(""));
        Some(kept)
    }

    /// Text that is kept, if the reply has begun.
    fn emit(&mut self, text: &str, out: &mut String) {
        match &mut self.mode {
            Mode::Blank(lead) if js::trim(text).is_empty() => lead.push_str(text),
            Mode::Blank(lead) => {
                out.push_str(lead);
                out.push_str(text);
                self.mode = Mode::Own;
            }
            Mode::Own => out.push_str(text),
            Mode::Foreign(_) | Mode::Cut => {}
        }
    }
}

fn found<T>(look: Look<T>) -> Option<T> {
    match look {
        Look::Found(found) => Some(found),
        Look::No | Look::Open => None,
    }
}

/// A line that is nothing but a tag: its name, and whether it closes. Tags of inline text do not count.
fn tag(line: &str) -> Option<(&str, bool)> {
    let inner = line.strip_prefix('<')?.strip_suffix('>')?;
    if inner.contains(['<', '>']) {
        return None;
    }
    let (inner, closes) = inner.strip_prefix('/').map_or((inner, false), |name| (name, true));
    let end =
        inner.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let plain = ["b", "i", "u", "em", "strong", "br", "hr", "p", "q"];
    let fits = (1..=41).contains(&name.len()) && !plain.iter().any(|p| name.eq_ignore_ascii_case(p));
    let ends =
        if closes { js::trim(rest).is_empty() } else { rest.is_empty() || rest.starts_with(js::is_space) };
    (fits && ends).then_some((name, closes))
}

/// Whether a line announces what follows: it ends in a colon, marks aside.
fn introduces(line: &str) -> bool {
    line.trim_end_matches(|c| js::is_space(c) || matches!(c, '*' | '_' | '~' | ')' | '）' | ']' | '】'))
        .ends_with([':', '：'])
}

/// Whether a body is an entry of a roster rather than something said.
fn is_entry(body: &str) -> bool {
    let body = js::trim(body);
    body.chars().nth(ROSTER_BODY).is_none()
        && !body.contains(['"', '“', '”', '「', '」', '『', '』', '*'])
        && !body.ends_with(['.', '!', '?', '。', '！', '？', '…', '~', '～'])
}
