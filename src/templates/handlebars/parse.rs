//! A template's text -> its tree.

use super::tree::{Block, Call, Content, Expression, Node, Path, Program, Strip};
use super::{TemplateError, space};
use crate::js;

/// Blocks inside blocks.
const MOST_NESTED: usize = 100;

/// Reads a template.
pub(crate) fn parse(text: &str) -> Result<Program, TemplateError> {
    let mut parser = Parser { text, at: 0, nested: 0 };
    let (mut program, end) = parser.program()?;
    if !matches!(end, End::Text) {
        return Err(parser.error("a closing or else tag without a block"));
    }
    space::control(&mut program, true);
    Ok(program)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    nested: usize,
}

/// What ended a program.
enum End {
    Text,
    Close(Path, Strip),
    Else(Strip),
    /// `{{else if x}}` or `{{^x}}` inside a block.
    ElseCall(Call, Vec<String>, Strip),
}

/// An else part: its program, the strip of its tag, whether it is an `else if`.
struct Inverse {
    program: Program,
    strip: Strip,
    chain: bool,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&self, message: impl Into<String>) -> TemplateError {
        TemplateError::at(js::len16(self.text.get(..self.at).unwrap_or("")), message)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - js::trim_start(rest).len();
    }

    /// Text up to the next tag; escapes are resolved. `None` when there is none.
    fn content(&mut self) -> Option<String> {
        let rest = self.rest();
        let Some(tag) = rest.find("{{") else {
            self.at = self.text.len();
            return (!rest.is_empty()).then(|| rest.to_owned());
        };
        let before = rest.get(..tag).unwrap_or("");
        self.at += tag;
        if let Some(text) = before.strip_suffix("\\\\") {
            return Some(format!("{text}\\"));
        }
        let Some(text) = before.strip_suffix('\\') else {
            return (!before.is_empty()).then(|| before.to_owned());
        };
        // An escaped tag is text up to the next tag or escape.
        let tail = self.rest();
        let after = tail.get(2..).unwrap_or("");
        let end = ["{{", "\\{{", "\\\\{{"].iter().filter_map(|t| after.find(t)).min();
        let length = end.map_or(tail.len(), |n| n + 2);
        self.at += length;
        Some(format!("{text}{}", tail.get(..length).unwrap_or("")))
    }

    fn program(&mut self) -> Result<(Program, End), TemplateError> {
        let mut body = Vec::new();
        loop {
            if let Some(text) = self.content() {
                if !text.is_empty() {
                    body.push(Node::Content(Content::new(&text)));
                }
                continue;
            }
            if self.rest().is_empty() {
                return Ok((Program { body, ..Program::default() }, End::Text));
            }
            match self.tag()? {
                Tag::Node(node) => body.push(node),
                Tag::End(end) => return Ok((Program { body, ..Program::default() }, end)),
            }
        }
    }

    fn tag(&mut self) -> Result<Tag, TemplateError> {
        if self.rest().starts_with("{{{{") {
            return self.raw_block().map(Tag::Node);
        }
        if let Some(strip) = self.comment()? {
            return Ok(Tag::Node(Node::Comment(strip)));
        }
        self.at += 2;
        let open = self.eat("~");
        if self.eat("{") {
            let call = self.call()?;
            return self.close(open, true).map(|strip| Tag::Node(Node::Mustache(call, strip)));
        }
        if self.eat("#") {
            if self.rest().starts_with(['>', '*']) {
                return Err(self.error("partials and decorators do not exist here"));
            }
            return self.block(open, false).map(Tag::Node);
        }
        if self.rest().starts_with(['>', '*']) {
            return Err(self.error("partials and decorators do not exist here"));
        }
        if self.eat("/") {
            self.blanks();
            let Expression::Path(path) = self.name()? else {
                return Err(self.error("a closing tag needs a name"));
            };
            let strip = self.close(open, false)?;
            return Ok(Tag::End(End::Close(path, strip)));
        }
        if self.eat("^") {
            return self.inverse_tag(open);
        }
        let ahead = js::trim_start(self.rest());
        if let Some(after) = ahead.strip_prefix("else") {
            let word = self.rest().len() - ahead.len() + 4;
            let closes = js::trim_start(after);
            if closes.starts_with("}}") || closes.starts_with("~}}") {
                self.at += word;
                self.blanks();
                return self.close(open, false).map(|strip| Tag::End(End::Else(strip)));
            }
            self.at += word;
            let (call, params) = self.opened()?;
            let strip = self.close(open, false)?;
            return Ok(Tag::End(End::ElseCall(call, params, strip)));
        }
        self.eat("&");
        let call = self.call()?;
        self.close(open, false).map(|strip| Tag::Node(Node::Mustache(call, strip)))
    }

    /// `{{^}}` is an else, `{{^name}}` a block that is entered when the name has no value.
    fn inverse_tag(&mut self, open: bool) -> Result<Tag, TemplateError> {
        let closes = js::trim_start(self.rest());
        if closes.starts_with("}}") || closes.starts_with("~}}") {
            self.blanks();
            return self.close(open, false).map(|strip| Tag::End(End::Else(strip)));
        }
        self.block(open, true).map(Tag::Node)
    }

    /// `{{! … }}` or `{{!-- … --}}`.
    fn comment(&mut self) -> Result<Option<Strip>, TemplateError> {
        let rest = self.rest();
        let (open, body) = match (rest.strip_prefix("{{~!"), rest.strip_prefix("{{!")) {
            (Some(body), _) => (true, body),
            (_, Some(body)) => (false, body),
            _ => return Ok(None),
        };
        let start = rest.len() - body.len();
        let ends: &[&str] = if body.starts_with("--") { &["--~}}", "--}}"] } else { &["}}"] };
        let found = ends.iter().filter_map(|end| Some((body.find(end)?, end.len()))).min();
        let Some((end, length)) = found else { return Err(self.error("a comment has no end")) };
        let close = body.get(..end + length).is_some_and(|t| t.ends_with("~}}"));
        self.at += start + end + length;
        Ok(Some(Strip { open, close }))
    }

    /// The end of a tag.
    fn close(&mut self, open: bool, triple: bool) -> Result<Strip, TemplateError> {
        self.blanks();
        if triple && !self.eat("}") {
            return Err(self.error("expected }}}"));
        }
        let close = self.eat("~");
        if self.eat("}}") { Ok(Strip { open, close }) } else { Err(self.error("expected }}")) }
    }

    /// A call and the names of its block.
    fn opened(&mut self) -> Result<(Call, Vec<String>), TemplateError> {
        let call = self.call()?;
        let mut params = Vec::new();
        self.blanks();
        let after = self.rest().strip_prefix("as").map(js::trim_start);
        if let Some(after) = after.filter(|t| t.starts_with('|')) {
            self.at = self.text.len() - after.len() + 1;
            loop {
                self.blanks();
                if self.eat("|") {
                    break;
                }
                let Some(name) = self.word() else { return Err(self.error("expected a name or |")) };
                params.push(name);
            }
        }
        Ok((call, params))
    }

    fn block(&mut self, open: bool, inverted: bool) -> Result<Node, TemplateError> {
        let (call, params) = self.opened()?;
        let strip = self.close(open, false)?;
        self.enter()?;
        let (mut program, end) = self.program()?;
        program.params = params;
        let name = call.path.original.clone();
        let (inverse, close) = self.inverse(end, &name)?;
        self.nested -= 1;
        Ok(Node::Block(Box::new(block(call, program, inverse, strip, close, inverted))))
    }

    fn enter(&mut self) -> Result<(), TemplateError> {
        self.nested += 1;
        if self.nested > MOST_NESTED { Err(self.error("blocks are nested too deep")) } else { Ok(()) }
    }

    /// What follows the first part of a block, up to its closing tag.
    fn inverse(&mut self, end: End, name: &str) -> Result<(Option<Inverse>, Strip), TemplateError> {
        match end {
            End::Text => Err(self.error(format!("the block {name:?} has no end"))),
            End::Close(path, strip) if path.original == name => Ok((None, strip)),
            End::Close(path, _) => Err(self.error(format!("{:?} closes the block {name:?}", path.original))),
            End::Else(strip) => {
                let (program, end) = self.program()?;
                match end {
                    End::Close(path, close) if path.original == name => {
                        Ok((Some(Inverse { program, strip, chain: false }), close))
                    }
                    _ => Err(self.error(format!("the block {name:?} has no end after its else"))),
                }
            }
            End::ElseCall(call, params, strip) => {
                self.enter()?;
                let (mut program, end) = self.program()?;
                program.params = params;
                let (inner, close) = self.inverse(end, name)?;
                self.nested -= 1;
                let inner_close = inner.as_ref().map_or_else(Strip::default, |i| i.strip);
                let chained = block(call, program, inner, Strip::default(), inner_close, false);
                let chained = Block { open: strip, ..chained };
                let program = Program {
                    body: vec![Node::Block(Box::new(chained))],
                    chained: true,
                    ..Program::default()
                };
                Ok((Some(Inverse { program, strip, chain: true }), close))
            }
        }
    }

    /// `{{{{name}}}}` … `{{{{/name}}}}`: what is inside is text.
    fn raw_block(&mut self) -> Result<Node, TemplateError> {
        self.at += 4;
        if self.rest().starts_with('/') {
            return Err(self.error("a raw block is closed that was not opened"));
        }
        let call = self.call()?;
        self.blanks();
        if !self.eat("}}}}") {
            return Err(self.error("expected }}}}"));
        }
        let end = format!("{{{{{{{{/{}}}}}}}}}", call.path.original);
        let Some(length) = self.rest().find(&end) else {
            return Err(self.error("a raw block has no end"));
        };
        let text = self.rest().get(..length).unwrap_or("").to_owned();
        self.at += length + end.len();
        let body = if text.is_empty() { Vec::new() } else { vec![Node::Content(Content::new(&text))] };
        let program = Program { body, ..Program::default() };
        Ok(Node::Block(Box::new(block(call, program, None, Strip::default(), Strip::default(), false))))
    }

    fn call(&mut self) -> Result<Call, TemplateError> {
        self.blanks();
        let path = match self.name()? {
            Expression::Path(path) => path,
            Expression::Text(text) => literal(text),
            Expression::Number(n) => literal(js::number_text(n)),
            Expression::Bool(b) => literal(b.to_string()),
            Expression::Nothing => literal("undefined".to_owned()),
            Expression::Sub(_) => return Err(self.error("a call in parentheses is no name")),
        };
        let mut params = Vec::new();
        let mut has_hash = false;
        loop {
            self.blanks();
            if self.rest().is_empty() || self.rest().starts_with(['}', '~', ')']) || self.names_follow() {
                return Ok(Call { path, params, has_hash });
            }
            let saved = self.at;
            if let Some(word) = self.word()
                && self.eat("=")
            {
                let _ = word;
                self.blanks();
                self.name()?;
                has_hash = true;
                continue;
            }
            self.at = saved;
            if has_hash {
                return Err(self.error("a parameter after named ones"));
            }
            params.push(self.name()?);
        }
    }

    fn names_follow(&self) -> bool {
        let after = self.rest().strip_prefix("as");
        after.is_some_and(|t| t.starts_with(js::is_space) && js::trim_start(t).starts_with('|'))
    }

    /// A path, a literal, or a call in parentheses.
    fn name(&mut self) -> Result<Expression, TemplateError> {
        let rest = self.rest();
        if self.eat("(") {
            self.enter()?;
            let call = self.call()?;
            self.nested -= 1;
            self.blanks();
            if !self.eat(")") {
                return Err(self.error("expected )"));
            }
            return Ok(Expression::Sub(Box::new(call)));
        }
        for quote in ['"', '\''] {
            if rest.starts_with(quote) {
                return self.quoted(quote).map(Expression::Text);
            }
        }
        let literals = [
            ("true", Expression::Bool(true)),
            ("false", Expression::Bool(false)),
            ("undefined", Expression::Nothing),
            ("null", Expression::Nothing),
        ];
        for (word, value) in literals {
            if rest.strip_prefix(word).is_some_and(ends_literal) {
                self.at += word.len();
                return Ok(value);
            }
        }
        if let Some((n, length)) = number(rest) {
            self.at += length;
            return Ok(Expression::Number(n));
        }
        self.path().map(Expression::Path)
    }

    fn quoted(&mut self, quote: char) -> Result<String, TemplateError> {
        let mut out = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((i, c)) = chars.next() {
            if c == quote {
                self.at += i + 1;
                return Ok(out);
            }
            if c == '\\' && chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
                out.push(quote);
                continue;
            }
            out.push(c);
        }
        Err(self.error("a text has no end"))
    }

    fn path(&mut self) -> Result<Path, TemplateError> {
        let mut path = Path { data: self.eat("@"), ..Path::default() };
        loop {
            let (part, bracketed) = self.segment()?;
            path.original.push_str(&part);
            if !bracketed && matches!(part.as_str(), ".." | "." | "this") {
                if !path.parts.is_empty() {
                    return Err(self.error("a path goes up in its middle"));
                }
                path.up += usize::from(part == "..");
                path.scoped |= part != "..";
            } else {
                path.parts.push(part);
            }
            match self.rest().chars().next() {
                Some(separator @ ('.' | '/')) => {
                    self.at += 1;
                    path.original.push(separator);
                }
                _ => return Ok(path),
            }
        }
    }

    fn segment(&mut self) -> Result<(String, bool), TemplateError> {
        let rest = self.rest();
        if self.eat("..") {
            return Ok(("..".to_owned(), false));
        }
        if rest.strip_prefix('.').is_some_and(ends_name) {
            self.at += 1;
            return Ok((".".to_owned(), false));
        }
        if let Some(inner) = rest.strip_prefix('[') {
            let Some(end) = inner.find(']') else { return Err(self.error("a [name] has no end")) };
            self.at += end + 2;
            return Ok((inner.get(..end).unwrap_or("").to_owned(), true));
        }
        match self.word() {
            Some(word) if ends_name(self.rest()) => Ok((word, false)),
            _ => Err(self.error("this is no name")),
        }
    }

    /// Letters of a name.
    fn word(&mut self) -> Option<String> {
        let rest = self.rest();
        let end = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| rest.get(..end).unwrap_or("").to_owned())
    }
}

enum Tag {
    Node(Node),
    End(End),
}

fn literal(text: String) -> Path {
    Path { original: text.clone(), parts: vec![text], ..Path::default() }
}

fn block(
    call: Call,
    program: Program,
    inverse: Option<Inverse>,
    open: Strip,
    close: Strip,
    inverted: bool,
) -> Block {
    let middle = inverse.as_ref().map_or_else(Strip::default, |i| i.strip);
    let mut inverse = inverse;
    if let Some(i) = inverse.as_mut().filter(|i| i.chain)
        && let Some(Node::Block(first)) = i.program.body.first_mut()
    {
        first.close = close;
    }
    let inverse = inverse.map(|i| i.program);
    let (program, inverse) = if inverted { (inverse, Some(program)) } else { (Some(program), inverse) };
    Block { call, program, inverse, open, middle, close }
}

fn in_name(c: char) -> bool {
    !js::is_space(c)
        && !matches!(c, '!' | '"' | '#' | '%'..=',' | '.' | '/' | ';'..='>' | '@' | '['..='^' | '`' | '{'..='~')
}

/// What may stand behind a name.
fn ends_name(rest: &str) -> bool {
    rest.starts_with(|c| js::is_space(c) || matches!(c, '=' | '~' | '}' | '/' | '.' | ')' | ']' | '|'))
}

fn ends_literal(rest: &str) -> bool {
    rest.starts_with(|c| js::is_space(c) || matches!(c, '~' | '}' | ')' | ']'))
}

fn number(rest: &str) -> Option<(f64, usize)> {
    let digits = |t: &str| t.bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(rest.starts_with('-'));
    let whole = digits(rest.get(sign..)?);
    let mut length = sign + whole;
    if let Some(fraction) = rest.get(length..)?.strip_prefix('.').map(digits).filter(|n| *n > 0) {
        length += 1 + fraction;
    }
    let ends = ends_literal(rest.get(length..)?);
    (whole > 0 && ends).then(|| Some((rest.get(..length)?.parse().ok()?, length)))?
}
