//! Text -> a tree of macros with source offsets, in one pass and without recursion.
//!
//! Spec: 04 §4. A level is one stretch of text (the whole text, or one argument) with its complete macros in order; scopes are found
//! later, on a slice of a level (`pair`), because `{{else}}` cuts a level in two and both halves pair for themselves.
//! Must not know: names of macros, values. Limits: `Limits::macro_depth` open macros at once; deeper ones are literal text.

use std::ops::Range;

use crate::js;

/// One stretch of text with the complete macros in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// In source order, not overlapping.
    pub nodes: Vec<Node>,
    /// Byte offsets of openers with a valid head that never close: literal text, but an `{{else}}` behind one does not split.
    pub unclosed: Vec<usize>,
}

/// A complete macro, from `{{` to `}}`.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Byte range, braces included.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Call(Call),
    Var(Var),
}

/// `{{name::argument}}`.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Byte range of the name.
    pub name: Range<usize>,
    /// A closing tag.
    pub closing: bool,
    /// `#`: scoped content keeps its white space.
    pub keep: bool,
    /// Arguments in order.
    pub args: Vec<Arg>,
}

/// An argument: its text without the white space around it.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    /// Byte range.
    pub span: Range<usize>,
    /// The macros inside.
    pub level: Level,
}

/// `{{.name op value}}`.
#[derive(Clone, Debug)]
pub(super) struct Var {
    /// `$` instead of `.`.
    pub global: bool,
    /// Byte range of the name; empty when it was left out (`{{.}}`).
    pub name: Range<usize>,
    /// Operator.
    pub op: Option<Op>,
    /// The value, for operators that take one.
    pub value: Option<Arg>,
}

/// Operators of the variable shorthand (spec 04 §8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Inc,
    Dec,
    Set,
    Add,
    Sub,
    Or,
    Nullish,
    OrSet,
    NullishSet,
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

impl Op {
    /// Longest first.
    const ALL: [(&'static str, Self); 15] = [
        ("||=", Self::OrSet),
        ("??=", Self::NullishSet),
        ("++", Self::Inc),
        ("--", Self::Dec),
        ("+=", Self::Add),
        ("-=", Self::Sub),
        ("||", Self::Or),
        ("??", Self::Nullish),
        ("==", Self::Eq),
        ("!=", Self::Ne),
        (">=", Self::Ge),
        ("<=", Self::Le),
        (">", Self::Gt),
        ("<", Self::Lt),
        ("=", Self::Set),
    ];

    /// Whether it stores something.
    pub(super) const fn writes(self) -> bool {
        matches!(
            self,
            Self::Inc | Self::Dec | Self::Set | Self::Add | Self::Sub | Self::OrSet | Self::NullishSet
        )
    }

    const fn takes_value(self) -> bool {
        !matches!(self, Self::Inc | Self::Dec)
    }
}

/// Which dialect of the grammar.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    /// Faults F8, F16, F19 put right: odd characters behind a name make it no macro, malformed shorthands stay, variable names may be
    /// in any script.
    pub strict_names: bool,
    /// Fault F2 put right: a closing comment tag holds slashes only.
    pub strict_comments: bool,
    /// Macros inside macros.
    pub depth: usize,
}

/// The tree, and whether something was nested too deep to be read.
#[derive(Debug)]
pub(super) struct Tree {
    pub root: Level,
    pub too_deep: bool,
    /// Braces and colons looked at, for the promise of linear time.
    #[cfg_attr(not(test), expect(dead_code, reason = "asserted by tests"))]
    pub steps: usize,
}

/// Parses a text.
pub(super) fn parse(src: &str, rules: Rules) -> Tree {
    Parser {
        src,
        bytes: src.as_bytes(),
        rules,
        frames: Vec::new(),
        root: Level::default(),
        deep: 0,
        too_deep: false,
    }
    .run()
}

/// The text of a byte range.
pub(super) fn cut<'s>(src: &'s str, span: &Range<usize>) -> &'s str {
    src.get(span.clone()).unwrap_or("")
}

/// The variable name at the start of a text: its length in bytes, 0 for none.
pub(super) fn var_name(text: &str, any_script: bool) -> usize {
    let letter = |c: char| c.is_ascii_alphabetic() || (any_script && !c.is_ascii() && c.is_alphabetic());
    let inner = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-')
            || (any_script && !c.is_ascii() && c.is_alphanumeric())
    };
    if !text.starts_with(letter) {
        return 0;
    }
    let end = text.find(|c| !inner(c)).unwrap_or(text.len());
    text.get(..end).map_or(0, |name| name.trim_end_matches('-').len())
}

enum Open {
    Call {
        name: Range<usize>,
        closing: bool,
        keep: bool,
        args: Vec<Arg>,
        list: bool,
    },
    Var {
        global: bool,
        name: Range<usize>,
        op: Op,
        repaired: bool,
    },
    /// A shorthand that makes no sense: literal text once it is closed.
    Broken,
}

struct Frame {
    at: usize,
    open: Open,
    /// Where the current argument starts.
    from: usize,
    level: Level,
}

enum Head {
    /// Not a macro.
    None,
    /// Complete without a frame of its own; scanning goes on at the offset.
    Done(Kind, usize),
    /// Open; scanning goes on at the offset.
    Open(Open, usize),
}

struct Parser<'s> {
    src: &'s str,
    bytes: &'s [u8],
    rules: Rules,
    frames: Vec<Frame>,
    root: Level,
    /// Openers beyond the depth limit that wait for their closer.
    deep: usize,
    too_deep: bool,
}

impl Parser<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn two(&self, at: usize, what: u8) -> bool {
        self.byte(at) == what && self.byte(at + 1) == what
    }

    fn rest(&self, at: usize) -> &str {
        self.src.get(at..).unwrap_or("")
    }

    fn skip_space(&self, at: usize) -> usize {
        let rest = self.rest(at);
        at + rest.len() - js::trim_start(rest).len()
    }

    fn run(mut self) -> Tree {
        let (mut at, mut steps) = (0, 0);
        while at < self.bytes.len() {
            let found = self.bytes.iter().skip(at).position(|b| matches!(b, b'{' | b'}' | b':'));
            let Some(step) = found else { break };
            at = self.step(at + step);
            steps += 1;
        }
        self.hoist();
        Tree { root: self.root, too_deep: self.too_deep, steps }
    }

    /// Reads what stands at a brace or colon; returns where to go on.
    fn step(&mut self, at: usize) -> usize {
        match self.byte(at) {
            b'{' if self.frames.is_empty() => {
                let run = self.bytes.iter().skip(at).take_while(|b| **b == b'{').count();
                if run < 2 { at + 1 } else { self.opener(at + run - 2) }
            }
            b'{' if self.byte(at + 1) == b'{' => self.opener(at),
            b'}' if self.byte(at + 1) == b'}' && self.deep > 0 => {
                self.deep -= 1;
                at + 2
            }
            b'}' if self.byte(at + 1) == b'}' && !self.frames.is_empty() => {
                self.close(at, at);
                at + 2
            }
            b':' if self.byte(at + 1) == b':' && self.deep == 0 => {
                if let Some(Frame { open: Open::Call { list: true, .. }, .. }) = self.frames.last() {
                    self.end_argument(at);
                    if let Some(frame) = self.frames.last_mut() {
                        frame.from = at + 2;
                    }
                    return at + 2;
                }
                at + 1
            }
            _ => at + 1,
        }
    }

    fn opener(&mut self, at: usize) -> usize {
        match self.head(at) {
            Head::None => at + 2,
            Head::Done(kind, end) => {
                if self.deep == 0 {
                    self.push(Node { span: at..end, kind });
                }
                end
            }
            Head::Open(..) if self.deep > 0 || self.frames.len() >= self.rules.depth => {
                self.too_deep = true;
                self.deep += 1;
                at + 2
            }
            // Inside an argument the reference gives up on the enclosing macro: what follows is skipped up to the next `}}`, which closes
            // that one (spec 04 §4.6, recorded).
            Head::Open(Open::Broken, from) if !self.frames.is_empty() && !self.rules.strict_names => {
                let level = self.frames.last_mut().map_or(&mut self.root, |f| &mut f.level);
                level.unclosed.push(at);
                let Some(end) = self.rest(from).find("}}") else { return self.bytes.len() };
                self.close(from, from + end);
                from + end + 2
            }
            Head::Open(open, from) => {
                self.frames.push(Frame { at, open, from, level: Level::default() });
                from
            }
        }
    }

    fn push(&mut self, node: Node) {
        match self.frames.last_mut() {
            Some(frame) => frame.level.nodes.push(node),
            None => self.root.nodes.push(node),
        }
    }

    /// The head behind `{{`: flags, then a name, a comment or a variable (spec 04 §4.1).
    fn head(&self, at: usize) -> Head {
        let mut p = at + 2;
        let (mut closing, mut keep) = (false, false);
        loop {
            p = self.skip_space(p);
            match self.byte(p) {
                b'/' if self.byte(p + 1) == b'/' => return self.comment(p, closing, keep),
                b'/' => closing = true,
                b'#' => keep = true,
                b'!' | b'?' | b'~' | b'>' => {}
                b @ (b'.' | b'$') => return self.variable(p + 1, b == b'$'),
                b if b.is_ascii_alphabetic() => return self.named(p, closing, keep),
                _ => return Head::None,
            }
            p += 1;
        }
    }

    fn named(&self, at: usize, closing: bool, keep: bool) -> Head {
        let length = self
            .bytes
            .iter()
            .skip(at)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            .count();
        let name = at..at + length;
        let accepted = |c: char| matches!(c, ':' | '|' | '}') || js::is_space(c);
        let rest = self.rest(name.end);
        if self.rules.strict_names && !rest.is_empty() && !rest.starts_with(accepted) {
            return Head::None;
        }
        let odd = rest.find(accepted).unwrap_or(rest.len());
        let p = self.skip_space(name.end + odd);
        let args = Vec::new();
        if self.two(p, b'}') {
            return Head::Done(Kind::Call(Call { name, closing, keep, args }), p + 2);
        }
        let (list, from) =
            if self.two(p, b':') { (true, p + 2) } else { (false, p + usize::from(self.byte(p) == b':')) };
        Head::Open(Open::Call { name, closing, keep, args, list }, from)
    }

    fn comment(&self, at: usize, closing: bool, keep: bool) -> Head {
        let name = at..at + 2;
        let p = self.skip_space(name.end);
        let args = Vec::new();
        if self.two(p, b'}') {
            return Head::Done(Kind::Call(Call { name, closing, keep, args }), p + 2);
        }
        let (list, from) = if self.two(p, b':') { (true, p + 2) } else { (false, p) };
        Head::Open(Open::Call { name, closing, keep, args, list }, from)
    }

    /// A shorthand behind its `.` or `$`. One missing name or one surplus token is repaired as the reference does (spec 04 §4.6).
    fn variable(&self, at: usize, global: bool) -> Head {
        let any = self.rules.strict_names;
        let mut repaired = false;
        let mut p = self.skip_space(at);
        let mut length = var_name(self.rest(p), any);
        if length == 0 {
            repaired = true;
            if matches!(self.byte(p), b'.' | b'$') {
                p = self.skip_space(p + 1);
                length = var_name(self.rest(p), any);
                if length == 0 {
                    return Head::Open(Open::Broken, p);
                }
            }
        }
        let name = p..p + length;
        p = self.skip_space(name.end);
        let op = Op::ALL.iter().find(|(text, _)| self.rest(p).starts_with(text));
        if let Some((text, op)) = op {
            p += text.len();
            if op.takes_value() {
                return Head::Open(Open::Var { global, name, op: *op, repaired }, p);
            }
            p = self.skip_space(p);
        }
        if !self.two(p, b'}') {
            // One more token may stand before the end.
            let surplus = match self.byte(p) {
                b'.' | b'$' => 1,
                _ => match Op::ALL.iter().find(|(text, _)| op.is_some() && self.rest(p).starts_with(text)) {
                    Some((text, _)) => text.len(),
                    None => var_name(self.rest(p), any),
                },
            };
            let end = self.skip_space(p + surplus);
            if surplus == 0 || !self.two(end, b'}') {
                return Head::Open(Open::Broken, p);
            }
            repaired = true;
            p = end;
        }
        let op = op.map(|(_, op)| *op);
        if repaired && self.rules.strict_names {
            return Head::Open(Open::Broken, p);
        }
        Head::Done(Kind::Var(Var { global, name, op, value: None }), p + 2)
    }

    /// The argument that ends at an offset, trimmed, with the macros read since it began.
    fn take_argument(&mut self, end: usize) -> Option<Arg> {
        let from = self.frames.last()?.from;
        let text = self.src.get(from..end).unwrap_or("");
        let start = from + text.len() - js::trim_start(text).len();
        let length = js::trim(text).len();
        let level = std::mem::take(&mut self.frames.last_mut()?.level);
        Some(Arg { span: start..start + length, level })
    }

    fn end_argument(&mut self, end: usize) {
        let arg = self.take_argument(end);
        if let (Some(arg), Some(Frame { open: Open::Call { args, .. }, .. })) = (arg, self.frames.last_mut())
        {
            args.push(arg);
        }
    }

    /// The innermost open macro ends with `}}` at an offset, its last argument at `end`.
    fn close(&mut self, end: usize, at: usize) {
        let arg = self.take_argument(end);
        let (Some(frame), Some(arg)) = (self.frames.pop(), arg) else { return };
        let kind = match frame.open {
            Open::Call { name, mut closing, keep, mut args, .. } => {
                args.push(arg);
                closing = closing || (cut(self.src, &name) == "//" && self.closes_comment(&args));
                Kind::Call(Call { name, closing, keep, args })
            }
            Open::Var { repaired: true, .. } if self.rules.strict_names => return self.spill(arg.level),
            Open::Var { global, name, op, .. } => {
                Kind::Var(Var { global, name, op: Some(op), value: Some(arg) })
            }
            Open::Broken => return self.spill(arg.level),
        };
        self.push(Node { span: frame.at..at + 2, kind });
    }

    /// `{{///}}`: a comment whose text begins with a slash.
    fn closes_comment(&self, args: &[Arg]) -> bool {
        let Some(first) = args.first().map(|a| cut(self.src, &a.span)) else { return false };
        if self.rules.strict_comments {
            args.len() == 1 && !first.is_empty() && first.chars().all(|c| c == '/' || js::is_space(c))
        } else {
            first.starts_with('/')
        }
    }

    /// Turns a closed shorthand into literal text: what it holds moves one level up.
    fn spill(&mut self, inner: Level) {
        let level = self.frames.last_mut().map_or(&mut self.root, |f| &mut f.level);
        level.nodes.extend(inner.nodes);
        level.unclosed.extend(inner.unclosed);
    }

    /// At the end of the text everything still open is literal.
    fn hoist(&mut self) {
        for frame in std::mem::take(&mut self.frames) {
            self.root.unclosed.push(frame.at);
            if let Open::Call { args, .. } = frame.open {
                for arg in args {
                    self.root.nodes.extend(arg.level.nodes);
                    self.root.unclosed.extend(arg.level.unclosed);
                }
            }
            self.root.nodes.extend(frame.level.nodes);
            self.root.unclosed.extend(frame.level.unclosed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_megabyte_of_anything_takes_one_pass() {
        let rows = [
            "{", "{{", "}", "{{a ", "{{a::", "{{a::b}}", "{{if 1}}", "{{/if}}", "{{.a=", "{{.a.b", "{{//",
            "{{!", "{{ ", "{{a!", ":::", "}}", "{{é", "{{.洛}}", "{{{a}}}",
        ];
        for strict in [false, true] {
            let rules = Rules { strict_names: strict, strict_comments: strict, depth: 64 };
            for row in rows {
                // A megabyte of braces; what takes more work in a debug build is shorter.
                let size = if row.trim_matches(['{', '}']).is_empty() { 1 << 20 } else { 1 << 16 };
                let text = row.repeat(size / row.len());
                let tree = parse(&text, rules);
                assert!(tree.steps <= text.len(), "{row}");
                assert!(tree.root.nodes.len() <= text.len());
            }
        }
    }
}
