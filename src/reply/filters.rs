//! The steps of the clean-up as filters: text in pieces -> the text that is certain, in order. Each holds back what later text
//! can still change. Their order is that of `pipeline`.

use super::cut::LabelCut;
use super::find::{Needles, Pattern, earliest_end};
use super::pipeline::Plan;
use super::{Trim, exact, spaces};
use crate::js;
use crate::parts::Kind;

/// All filters of one reply.
#[derive(Debug)]
pub(super) struct Chain {
    stages: Vec<Stage>,
}

#[derive(Debug)]
enum Stage {
    Tails(Tails),
    Ends(Ends),
    Delete(Delete),
    Spaces(Spaces),
    Literal(Literal),
    Own(Own),
    Prefix(Prefix),
    Labels(Box<LabelCut>),
    Edges(Edges),
}

impl Chain {
    pub(super) fn new(plan: &Plan<'_>) -> Self {
        let reading = plan.reading;
        let rules = &reading.rules;
        let ends = || Stage::Ends(Ends::new(Needles::new(exact::cut_marks(reading.sequences.as_ref()))));
        let delete = || Stage::Delete(Delete::new(exact::deleted_lines(reading)));
        let spaces = || Stage::Spaces(Spaces { collapse: rules.collapse_newlines, run: String::new() });
        let impersonate = reading.kind == Kind::Impersonate;
        let mut stages = vec![if plan.whole_stops {
            let ending: Vec<&str> = plan.ending_stops().map(|s| s.text.as_str()).collect();
            let all = reading.stop.iter().map(|s| (s.text.as_str(), ending.contains(&s.text.as_str())));
            Stage::Ends(Ends::new(Needles::with_held(all)))
        } else {
            Stage::Tails(Tails::new(reading.stop.iter().map(|s| s.text.as_str())))
        }];
        match plan.trim {
            Trim::Compat => {
                stages.push(spaces());
                let wrong =
                    Some(exact::wrong(reading)).filter(|w| plan.options.trim_wrong_names && !w.is_empty());
                stages.push(Stage::Literal(Literal::new(wrong)));
                stages.extend([ends(), delete()]);
                let members = reading.members.iter().filter(|n| rules.cut_members && **n != reading.char);
                stages.push(Stage::Literal(Literal::new(members.map(String::as_str))));
                if !rules.keep_char_label {
                    stages.push(Stage::Own(Own::new(&reading.char)));
                }
                let prefix = exact::prefix(reading).filter(|_| plan.options.trim_names);
                stages.extend(prefix.map(|name| Stage::Prefix(Prefix::new(name, impersonate))));
            }
            Trim::Smart => {
                stages.extend([ends(), delete()]);
                let mut labels = LabelCut::new(plan.cast());
                labels.accept(plan.accepted());
                stages.extend([Stage::Labels(Box::new(labels)), spaces()]);
            }
            Trim::Off => stages.extend([ends(), delete(), spaces()]),
        }
        let accepted = plan.accepted();
        stages.push(Stage::Edges(Edges {
            begun: !accepted.is_empty() || !(rules.trim_spaces || impersonate),
            run: accepted.get(js::trim_end(accepted).len()..).unwrap_or("").to_owned(),
        }));
        Self { stages }
    }

    /// A piece goes in, what is certain comes out. True when the reply has ended.
    pub(super) fn push(&mut self, piece: &str, out: &mut String) -> bool {
        let mut text = piece.to_owned();
        let mut ended = false;
        for stage in &mut self.stages {
            let mut passed = String::new();
            ended |= stage.push(&text, &mut passed);
            text = passed;
        }
        out.push_str(&text);
        ended
    }
}

impl Stage {
    fn push(&mut self, text: &str, out: &mut String) -> bool {
        match self {
            Self::Tails(f) => f.push(text, out),
            Self::Ends(f) => return f.push(text, out),
            Self::Delete(f) => f.push(text, out),
            Self::Spaces(f) => f.push(text, out),
            Self::Literal(f) => return f.push(text, out),
            Self::Own(f) => f.push(text, out),
            Self::Prefix(f) => f.push(text, out),
            Self::Labels(f) => {
                f.push(text, out);
                return f.is_cut();
            }
            Self::Edges(f) => f.push(text, out),
        }
        false
    }
}

/// Step 3: the end of the text that the beginnings of stop strings may take off.
#[derive(Debug)]
struct Tails {
    needles: Vec<Pattern>,
    held: String,
}

impl Tails {
    fn new<'a>(stops: impl Iterator<Item = &'a str>) -> Self {
        Self { needles: stops.map(|s| Pattern::new(s.as_bytes())).collect(), held: String::new() }
    }

    fn push(&mut self, text: &str, out: &mut String) {
        self.held.push_str(text);
        let end = earliest_end(self.held.as_bytes(), &self.needles);
        out.extend(self.held.drain(..end));
    }
}

/// The text up to the first needle.
#[derive(Debug)]
struct Ends {
    needles: Needles,
    held: String,
    ended: bool,
}

impl Ends {
    const fn new(needles: Needles) -> Self {
        Self { needles, held: String::new(), ended: false }
    }

    fn push(&mut self, text: &str, out: &mut String) -> bool {
        if self.ended {
            return true;
        }
        let (hit, taken) = self.needles.feed(text);
        self.held.push_str(text.get(..taken).unwrap_or(text));
        // The needle that was found is part of what is held.
        let certain = self.held.len() - self.needles.held().min(self.held.len());
        out.extend(self.held.drain(..certain));
        self.ended = hit.is_some();
        self.ended
    }
}

/// Lines of the template, deleted wherever they stand (step 8). They hold no line feed, so a line is enough to judge.
#[derive(Debug)]
struct Delete {
    lines: Vec<String>,
    needles: Needles,
    held: String,
    dirty: bool,
}

impl Delete {
    fn new<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        let needles = Needles::new(lines.iter().map(String::as_str));
        Self { lines, needles, held: String::new(), dirty: false }
    }

    fn push(&mut self, text: &str, out: &mut String) {
        if self.needles.is_empty() {
            out.push_str(text);
            return;
        }
        for part in text.split_inclusive('\n') {
            let mut rest = part;
            while !rest.is_empty() {
                let (hit, taken) = self.needles.feed(rest);
                self.dirty |= hit.is_some();
                rest = rest.get(taken..).unwrap_or("");
            }
            self.held.push_str(part);
            if part.ends_with('\n') {
                let mut line = std::mem::take(&mut self.held);
                if std::mem::take(&mut self.dirty) {
                    for deleted in &self.lines {
                        line = line.replace(deleted, "");
                    }
                }
                out.push_str(&line);
            } else if !self.dirty {
                let certain = self.held.len() - self.needles.held().min(self.held.len());
                out.extend(self.held.drain(..certain));
            }
        }
    }
}

/// Steps 5 and 6, run by run.
#[derive(Debug)]
struct Spaces {
    collapse: bool,
    run: String,
}

impl Spaces {
    fn push(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            let tail = js::trim_start(rest);
            self.run.push_str(rest.get(..rest.len() - tail.len()).unwrap_or(""));
            let end = tail.find(js::is_space).unwrap_or(tail.len());
            let (word, after) = tail.split_at(end);
            if !word.is_empty() {
                let run = std::mem::take(&mut self.run);
                let run = if self.collapse { spaces::collapse_newlines(&run) } else { run };
                // Something follows, so the end of the run is no end of the text.
                let run = spaces::trim_line_ends(&(run + "."));
                out.push_str(run.strip_suffix('.').unwrap_or(&run));
                out.push_str(word);
            }
            rest = after;
        }
    }
}

/// Steps 7 and 9: ends the text at a literal label at its start or behind a line feed.
#[derive(Debug)]
struct Literal {
    labels: Vec<String>,
    head: Option<String>,
    ended: bool,
}

impl Literal {
    fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let labels = names.into_iter().map(|n| format!("{n}:")).collect();
        Self { labels, head: Some(String::new()), ended: false }
    }

    fn push(&mut self, text: &str, out: &mut String) -> bool {
        for c in text.chars() {
            if self.ended {
                break;
            }
            if let Some(head) = &mut self.head {
                head.push(c);
                if self.labels.contains(head) {
                    self.ended = true;
                    break;
                }
                if self.labels.iter().any(|l| l.starts_with(head.as_str())) {
                    continue;
                }
                out.push_str(head);
                self.head = None;
            } else {
                out.push(c);
            }
            if c == '\n' {
                self.head = Some(String::new());
            }
        }
        self.ended
    }
}

/// Step 10: own labels at line starts go, and all white space behind them.
#[derive(Debug)]
struct Own {
    label: String,
    state: OwnState,
}

#[derive(Debug)]
enum OwnState {
    /// At a line start, with what may become the label.
    Head(String),
    /// Behind a label: white space is swallowed, and a line feed that is opens no line.
    Swallow,
    /// Within a line.
    Line,
}

impl Own {
    fn new(name: &str) -> Self {
        Self { label: format!("{name}:"), state: OwnState::Head(String::new()) }
    }

    fn push(&mut self, text: &str, out: &mut String) {
        for c in text.chars() {
            match &mut self.state {
                OwnState::Swallow if js::is_space(c) => continue,
                OwnState::Head(head) => {
                    head.push(c);
                    if *head == self.label {
                        self.state = OwnState::Swallow;
                        continue;
                    }
                    if self.label.starts_with(head.as_str()) {
                        continue;
                    }
                    out.push_str(head);
                }
                OwnState::Swallow | OwnState::Line => out.push(c),
            }
            self.state = if c == '\n' { OwnState::Head(String::new()) } else { OwnState::Line };
        }
    }
}

/// Step 13: one label at the start of the text goes, and the white space behind it.
#[derive(Debug)]
struct Prefix {
    label: String,
    /// Impersonation is trimmed before.
    trims: bool,
    head: Option<String>,
    swallow: bool,
}

impl Prefix {
    fn new(name: &str, trims: bool) -> Self {
        Self { label: format!("{name}:"), trims, head: Some(String::new()), swallow: false }
    }

    fn push(&mut self, text: &str, out: &mut String) {
        for c in text.chars() {
            if self.swallow && js::is_space(c) {
                continue;
            }
            self.swallow = false;
            let Some(head) = &mut self.head else {
                out.push(c);
                continue;
            };
            if self.trims && head.is_empty() && js::is_space(c) {
                continue;
            }
            head.push(c);
            if *head == self.label {
                self.head = None;
                self.swallow = true;
            } else if !self.label.starts_with(head.as_str()) {
                out.push_str(head);
                self.head = None;
            }
        }
    }
}

/// Step 16: white space at the start goes, that at the end waits.
#[derive(Debug)]
struct Edges {
    begun: bool,
    run: String,
}

impl Edges {
    fn push(&mut self, text: &str, out: &mut String) {
        let kept = js::trim_end(text);
        if !kept.is_empty() {
            let kept = if self.begun { kept } else { js::trim_start(kept) };
            out.push_str(&std::mem::take(&mut self.run));
            out.push_str(kept);
            self.begun = true;
        }
        if self.begun {
            self.run.push_str(text.get(js::trim_end(text).len()..).unwrap_or(""));
        }
    }
}
