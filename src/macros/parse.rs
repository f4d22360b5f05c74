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

impl Level {
    /// Adds what a macro held that turned out to be none.
    fn take(&mut self, inner: Self) {
        let whole = |node: &Node| !matches!(node.kind, Kind::Headless | Kind::Var(Var { torn: true, .. }));
        self.nodes.extend(inner.nodes.into_iter().filter(whole));
        self.unclosed.extend(inner.unclosed);
    }
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
    /// Braces and flags without a head in the value of a shorthand: the reference closes them.
    Headless,
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
    /// It has no end of its own: the reference reads what it can of a malformed one in the value of another.
    pub torn: bool,
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
        modes: Vec::new(),
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
    /// Not a macro; its flags end at the offset.
    None(usize),
    /// Complete without a frame of its own; scanning goes on at the offset.
    Done(Kind, usize),
    /// Open; scanning goes on at the offset.
    Open(Open, usize),
    /// A malformed shorthand: what could be read of it, and where that ends.
    Odd(Var, usize),
}

/// What follows the readable part of a malformed shorthand.
enum Tail {
    /// Names and marks up to the end of the macro there.
    End(usize),
    /// The same up to another macro there.
    Macro(usize),
    /// A word and then text.
    Words,
    /// Text that begins with something else and ends there.
    Text(usize),
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
    /// What the reference's lexer believes to be in: arguments (true) or a value. It is one ahead of `frames` for each pair of
    /// braces with nothing in it inside a macro, because their own closer closes that macro.
    modes: Vec<bool>,
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
            let strays = self.strays();
            let found = self
                .bytes
                .iter()
                .skip(at)
                .position(|b| matches!(b, b'{' | b'}' | b':') || strays && matches!(b, b'"' | b'='));
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
            b'{' if self.frames.is_empty() && self.modes.is_empty() => {
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
            b'}' if self.byte(at + 1) == b'}' && self.modes.pop().is_some() => at + 2,
            b':' | b'"' | b'=' if self.deep == 0 => self.separator(at),
            _ => at + 1,
        }
    }

    /// A separator would be read where the grammar has none: in the value of a shorthand that is read as arguments.
    fn strays(&self) -> bool {
        self.modes.last() == Some(&true)
            && matches!(self.frames.last(), Some(Frame { open: Open::Var { .. }, .. }))
    }

    fn separator(&mut self, at: usize) -> usize {
        let double = self.two(at, b':');
        if self.strays() {
            // One before the end is dropped; any other makes the shorthand text.
            let end = self.skip_space(at + if double { 2 } else { 1 });
            if self.two(end, b'}') {
                self.close(at, end);
                return end + 2;
            }
            if let Some(frame) = self.frames.pop() {
                self.spill(frame.level);
            }
        }
        let listed = matches!(self.frames.last(), Some(Frame { open: Open::Call { list: true, .. }, .. }));
        if !(double && listed && self.modes.last() == Some(&true)) {
            return at + 1;
        }
        self.end_argument(at);
        if let Some(frame) = self.frames.last_mut() {
            frame.from = at + 2;
        }
        at + 2
    }

    fn open(&mut self, frame: Frame) {
        self.modes.push(matches!(frame.open, Open::Call { .. }));
        self.frames.push(frame);
    }

    fn opener(&mut self, at: usize) -> usize {
        match self.head(at) {
            Head::None(end) => {
                if self.deep > 0 || self.rules.strict_names {
                    return at + 2;
                }
                if let Some(Frame { open: Open::Var { .. }, .. }) = self.frames.last() {
                    self.push(Node { span: at..end, kind: Kind::Headless });
                }
                let close = self.skip_space(end);
                if self.two(close, b'}') {
                    if self.frames.is_empty() {
                        return close + 2;
                    }
                    self.modes.push(false);
                }
                at + 2
            }
            Head::Done(kind, end) => {
                if self.deep == 0 {
                    self.push(Node { span: at..end, kind });
                }
                end
            }
            Head::Open(..) | Head::Odd(..) if self.deep > 0 || self.frames.len() >= self.rules.depth => {
                self.too_deep = true;
                self.deep += 1;
                at + 2
            }
            Head::Odd(var, end) => match self.frames.last().map(|f| &f.open) {
                Some(Open::Var { .. }) if !self.rules.strict_names => self.torn(at, var, end),
                Some(_) if !self.rules.strict_names => self.odd_argument(at, &var, end),
                _ => {
                    self.open(Frame { at, open: Open::Broken, from: end, level: Level::default() });
                    end
                }
            },
            Head::Open(open, from) => {
                self.open(Frame { at, open, from, level: Level::default() });
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
        let mut end = p;
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
                _ => return Head::None(end),
            }
            p += 1;
            end = p;
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
            return Head::None(at);
        }
        let odd = rest.find(accepted).unwrap_or(rest.len());
        let p = self.skip_space(name.end + odd);
        if self.two(p, b'}') {
            return Head::Done(Kind::Call(Call { name, closing, keep, args: Vec::new() }), p + 2);
        }
        self.arguments(name, closing, keep, p)
    }

    fn comment(&self, at: usize, closing: bool, keep: bool) -> Head {
        let name = at..at + 2;
        let p = self.skip_space(name.end);
        if self.two(p, b'}') {
            return Head::Done(Kind::Call(Call { name, closing, keep, args: Vec::new() }), p + 2);
        }
        self.arguments(name, closing, keep, p)
    }

    /// A call whose arguments begin at an offset.
    fn arguments(&self, name: Range<usize>, closing: bool, keep: bool, at: usize) -> Head {
        let list = self.two(at, b':');
        let from = at + if list { 2 } else { usize::from(self.byte(at) == b':') };
        Head::Open(Open::Call { name, closing, keep, args: Vec::new(), list }, from)
    }

    /// A malformed shorthand in the value of another: what could be read of it counts, what cannot be is dropped, and the next `}}`
    /// closes the other one (spec 04 §4.6; the rules for what is dropped are observed).
    fn torn(&mut self, at: usize, var: Var, end: usize) -> usize {
        let stop = match self.tail(end) {
            _ if var.name.is_empty() => end,
            Tail::Words => end,
            Tail::End(stop) => {
                self.modes.push(false);
                stop
            }
            Tail::Macro(stop) | Tail::Text(stop) => stop,
        };
        self.push(Node { span: at..stop, kind: Kind::Var(Var { torn: true, ..var }) });
        stop
    }

    /// A malformed shorthand in an argument is text of it, and the next `}}` closes the enclosing macro; names and marks before
    /// that are dropped.
    fn odd_argument(&mut self, at: usize, var: &Var, end: usize) -> usize {
        if let Some(frame) = self.frames.last_mut() {
            frame.level.unclosed.push(at);
        }
        match self.tail(end) {
            Tail::End(stop) if !var.name.is_empty() => {
                self.modes.push(false);
                self.close(end, stop);
                stop + 2
            }
            _ => end,
        }
    }

    /// What stands behind the readable part of a malformed shorthand.
    fn tail(&self, from: usize) -> Tail {
        let mut p = from;
        loop {
            p = self.skip_space(p);
            match self.byte(p) {
                b'}' if self.two(p, b'}') => return Tail::End(p),
                b'{' if self.two(p, b'{') => return Tail::Macro(p),
                b'.' | b'$' => {
                    p = self.skip_space(p + 1);
                    p += var_name(self.rest(p), false);
                }
                b'!' | b'?' | b'~' | b'#' | b'/' | b'>' => p += 1,
                b'+' | b'-' if self.two(p, self.byte(p)) => p += 2,
                b if b.is_ascii_alphabetic() => {
                    p += var_name(self.rest(p), false).max(1);
                    let more = matches!(self.byte(p), b'.' | b'$' | b'!' | b'?' | b'~' | b'#' | b'/' | b'>');
                    if !(more || self.two(p, b'}') || self.two(p, b'{')) {
                        return Tail::Words;
                    }
                }
                _ if Op::ALL.iter().any(|(text, _)| self.rest(p).starts_with(text)) => return Tail::Words,
                _ => {
                    let braces = |w: &[u8]| matches!(w, b"{{" | b"}}");
                    let length = self.bytes.get(p..).and_then(|rest| rest.windows(2).position(braces));
                    return Tail::Text(length.map_or(self.bytes.len(), |n| p + n));
                }
            }
        }
    }

    /// A shorthand behind its `.` or `$`. A missing name or one surplus token is repaired as the reference does (spec 04 §4.6).
    fn variable(&self, at: usize, global: bool) -> Head {
        let any = self.rules.strict_names;
        let mut repaired = false;
        let mut p = self.skip_space(at);
        let mut length = var_name(self.rest(p), any);
        if length == 0 && matches!(self.byte(p), b'.' | b'$') {
            repaired = true;
            p = self.skip_space(p + 1);
            length = var_name(self.rest(p), any);
        }
        if length == 0 {
            return self.nameless(at, global);
        }
        let name = p..p + length;
        p = self.skip_space(name.end);
        let mut end = name.end;
        let op = Op::ALL.iter().find(|(text, _)| self.rest(p).starts_with(text));
        if let Some((text, op)) = op {
            p += text.len();
            if op.takes_value() {
                return Head::Open(Open::Var { global, name, op: *op, repaired }, p);
            }
            end = p;
            p = self.skip_space(p);
        }
        let var = Var { global, name, op: op.map(|(_, op)| *op), value: None, torn: false };
        if !self.two(p, b'}') {
            // One more token may stand before the end.
            let surplus = match self.byte(p) {
                b'/' if self.two(p, b'/') => 2,
                b'.' | b'$' | b'!' | b'?' | b'~' | b'#' | b'/' | b'>' => 1,
                _ => match Op::ALL.iter().find(|(text, _)| op.is_some() && self.rest(p).starts_with(text)) {
                    Some((text, _)) => text.len(),
                    None => var_name(self.rest(p), any),
                },
            };
            let close = self.skip_space(p + surplus);
            if surplus == 0 || !self.two(close, b'}') {
                return Head::Odd(var, end);
            }
            repaired = true;
            p = close;
        }
        if repaired && self.rules.strict_names {
            return Head::Odd(var, p);
        }
        Head::Done(Kind::Var(var), p + 2)
    }

    /// A shorthand whose name is missing: nothing comes of it if only names and marks follow.
    fn nameless(&self, at: usize, global: bool) -> Head {
        let var = Var { global, name: at..at, op: None, value: None, torn: false };
        let mut p = at;
        let mut marked = false;
        loop {
            p = self.skip_space(p);
            match self.byte(p) {
                b'.' | b'$' | b'!' | b'?' | b'~' | b'#' | b'/' | b'>' => p += 1,
                b'}' if self.two(p, b'}') && !self.rules.strict_names => {
                    return Head::Done(Kind::Var(var), p + 2);
                }
                b if marked && b.is_ascii_alphabetic() => p += var_name(self.rest(p), false).max(1),
                _ => return Head::Odd(var, at),
            }
            marked = true;
        }
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
        self.modes.pop();
        let (Some(frame), Some(arg)) = (self.frames.pop(), arg) else { return };
        let kind = match frame.open {
            Open::Call { name, mut closing, keep, mut args, .. } => {
                args.push(arg);
                closing = closing || (cut(self.src, &name) == "//" && self.closes_comment(&args));
                Kind::Call(Call { name, closing, keep, args })
            }
            Open::Var { repaired: true, .. } if self.rules.strict_names => return self.spill(arg.level),
            Open::Var { global, name, op, .. } => {
                Kind::Var(Var { global, name, op: Some(op), value: Some(arg), torn: false })
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
        level.take(inner);
    }

    /// At the end of the text everything still open is literal.
    fn hoist(&mut self) {
        for frame in std::mem::take(&mut self.frames) {
            self.root.unclosed.push(frame.at);
            if let Open::Call { args, .. } = frame.open {
                for arg in args {
                    self.root.take(arg.level);
                }
            }
            self.root.take(frame.level);
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
