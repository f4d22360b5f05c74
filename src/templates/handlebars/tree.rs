//! What a template consists of.

/// Blanks before and after a tag go (`~`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Strip {
    pub(super) open: bool,
    pub(super) close: bool,
}

/// A list of nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(super) body: Vec<Node>,
    pub(super) params: Vec<String>,
    /// The one node is an `else if`.
    pub(super) chained: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Content(Content),
    Comment(Strip),
    Mustache(Call, Strip),
    Block(Box<Block>),
}

/// Text between tags.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pub(super) value: String,
    pub(super) original: String,
    pub(super) left: bool,
    pub(super) right: bool,
}

impl Content {
    pub(super) fn new(text: &str) -> Self {
        Self { value: text.to_owned(), original: text.to_owned(), ..Self::default() }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) call: Call,
    pub(super) program: Option<Program>,
    pub(super) inverse: Option<Program>,
    pub(super) open: Strip,
    pub(super) middle: Strip,
    pub(super) close: Strip,
}

/// A name with what it is given.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) path: Path,
    pub(super) params: Vec<Expression>,
    /// Named parameters are there; their values are of no use to any helper.
    pub(super) has_hash: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Path(Path),
    Text(String),
    Number(f64),
    Bool(bool),
    Nothing,
    Sub(Box<Call>),
}

/// Where a value is looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    /// As written.
    pub(super) original: String,
    /// How many contexts up.
    pub(super) up: usize,
    /// `@name`.
    pub(super) data: bool,
    pub(super) parts: Vec<String>,
    /// `this.name`, `./name`: never a helper.
    pub(super) scoped: bool,
}

impl Path {
    /// A bare name, which may be a helper.
    pub(super) fn simple(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [name] if !self.scoped && self.up == 0 && !self.data => Some(name),
            _ => None,
        }
    }
}
