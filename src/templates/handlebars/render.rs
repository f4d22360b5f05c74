//! A tree and texts by name -> a text.

use super::TemplateError;
use super::tree::{Block, Call, Expression, Node, Path, Program};
use crate::js;

/// Nodes that one rendering may visit, and bytes it may write: loops in loops multiply.
const MOST_STEPS: usize = 200_000;
const MOST_BYTES: usize = 4 << 20;

/// Renders a program.
pub(crate) fn render(program: &Program, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    let mut state = Renderer { values, out: String::new(), steps: 0, scopes: Vec::new() };
    state.scopes.push(Scope { this: Data::Root, data: Vec::new(), names: Vec::new() });
    state.program(program)?;
    Ok(state.out)
}

/// A value of the language.
#[derive(Clone, Debug)]
enum Data {
    Nothing,
    Bool(bool),
    Number(f64),
    Text(String),
    /// All values by name.
    Root,
}

impl Data {
    fn truthy(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Bool(b) => *b,
            Self::Number(n) => *n != 0.0,
            Self::Text(t) => !t.is_empty(),
            Self::Root => true,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Bool(b) => b.to_string(),
            Self::Number(n) => js::number_text(*n),
            Self::Text(t) => t.clone(),
            Self::Root => "[object Object]".to_owned(),
        }
    }
}

/// What `this` is, `@name`s, and the names that a block gave.
#[derive(Clone, Debug)]
struct Scope {
    this: Data,
    data: Vec<(&'static str, Data)>,
    names: Vec<(String, Data)>,
}

struct Renderer<'a> {
    values: &'a [(&'a str, &'a str)],
    out: String,
    steps: usize,
    scopes: Vec<Scope>,
}

const HELPERS: [&str; 7] = ["if", "unless", "each", "with", "lookup", "log", "trim"];

impl Renderer<'_> {
    fn program(&mut self, program: &Program) -> Result<(), TemplateError> {
        for node in &program.body {
            self.step()?;
            match node {
                Node::Content(content) => self.out.push_str(&content.value),
                Node::Comment(_) => {}
                Node::Mustache(call, _) => {
                    let value = self.call(call)?;
                    self.out.push_str(&value.text());
                }
                Node::Block(block) => self.block(block)?,
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), TemplateError> {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.out.len() > MOST_BYTES {
            return Err(TemplateError::new("the template does too much"));
        }
        Ok(())
    }

    /// The macro of a name that is unknown here.
    fn missing(path: &Path) -> Data {
        Data::Text(format!("{{{{{}}}}}", path.original))
    }

    fn call(&mut self, call: &Call) -> Result<Data, TemplateError> {
        let plain = call.params.is_empty() && !call.has_hash;
        if let Some(name) = call.path.simple() {
            if HELPERS.contains(&name) {
                return self.helper(name, call);
            }
            let value = self.value(&call.path);
            return match value {
                Data::Nothing => Ok(Self::missing(&call.path)),
                value if plain => Ok(value),
                value if !value.truthy() => Ok(Self::missing(&call.path)),
                _ => Err(TemplateError::new(format!("{name:?} is a text and takes no parameters"))),
            };
        }
        let value = self.value(&call.path);
        match value {
            value if plain => Ok(value),
            value if !value.truthy() => Ok(Self::missing(&call.path)),
            _ => Err(TemplateError::new(format!("{:?} takes no parameters", call.path.original))),
        }
    }

    fn helper(&mut self, name: &str, call: &Call) -> Result<Data, TemplateError> {
        match name {
            "trim" => Ok(Data::Text("{{trim}}".to_owned())),
            "lookup" => {
                let [object, field] = call.params.as_slice() else {
                    return Err(TemplateError::new("lookup needs two parameters"));
                };
                let (object, field) = (self.expression(object)?, self.expression(field)?);
                Ok(self.property(&object, &field.text()))
            }
            "each" | "with" if call.params.is_empty() => {
                Err(TemplateError::new(format!("{name} needs a parameter")))
            }
            "if" | "unless" | "with" if call.params.len() != 1 => {
                Err(TemplateError::new(format!("{name} needs exactly one parameter")))
            }
            // `log` gives nothing, and the others have nothing to give without a block.
            _ => Ok(Data::Nothing),
        }
    }

    fn block(&mut self, block: &Block) -> Result<(), TemplateError> {
        let call = &block.call;
        let (program, inverse) = (block.program.as_ref(), block.inverse.as_ref());
        let part = |value: bool| if value { program } else { inverse };
        let name = call.path.simple().filter(|n| HELPERS.contains(n));
        match (name, call.params.as_slice()) {
            (Some("if"), [test]) => {
                let on = self.expression(test)?.truthy();
                self.part(part(on), None)
            }
            (Some("unless"), [test]) => {
                let on = self.expression(test)?.truthy();
                self.part(part(!on), None)
            }
            (Some("with"), [value]) => {
                let value = self.expression(value)?;
                // Zero counts as a value here.
                if !value.truthy() && !matches!(value, Data::Number(_)) {
                    return self.part(inverse, None);
                }
                let scope = self.scope(value.clone(), Vec::new(), program, &[value]);
                self.part(program, Some(scope))
            }
            (Some("each"), [list, ..]) => {
                if matches!(self.expression(list)?, Data::Root) && !self.values.is_empty() {
                    return self.each(program);
                }
                self.part(inverse, None)
            }
            (Some("trim"), _) => {
                self.out.push_str("{{trim}}");
                Ok(())
            }
            (Some("log"), _) => Ok(()),
            (Some(_), _) => {
                let value = self.helper(call.path.simple().unwrap_or(""), call)?;
                self.out.push_str(&value.text());
                Ok(())
            }
            (None, _) => {
                let value = self.call(call)?;
                match value {
                    Data::Bool(true) => self.part(program, None),
                    Data::Bool(false) | Data::Nothing => self.part(inverse, None),
                    value => {
                        let scope = self.scope(value, Vec::new(), program, &[]);
                        self.part(program, Some(scope))
                    }
                }
            }
        }
    }

    fn each(&mut self, program: Option<&Program>) -> Result<(), TemplateError> {
        let values = self.values;
        for (i, (key, text)) in values.iter().enumerate() {
            self.step()?;
            let value = Data::Text((*text).to_owned());
            let key = Data::Text((*key).to_owned());
            #[expect(clippy::cast_precision_loss, reason = "there are a dozen values")]
            let data = vec![
                ("key", key.clone()),
                ("index", Data::Number(i as f64)),
                ("first", Data::Bool(i == 0)),
                ("last", Data::Bool(i + 1 == values.len())),
            ];
            let scope = self.scope(value.clone(), data, program, &[value, key]);
            self.part(program, Some(scope))?;
        }
        Ok(())
    }

    fn scope(
        &self,
        this: Data,
        data: Vec<(&'static str, Data)>,
        program: Option<&Program>,
        given: &[Data],
    ) -> Scope {
        let mut names = self.scopes.last().map_or_else(Vec::new, |s| s.names.clone());
        if let Some(program) = program {
            names.extend(program.params.iter().cloned().zip(given.iter().cloned()));
        }
        let inherited = self.scopes.last().map_or_else(Vec::new, |s| s.data.clone());
        let data = if data.is_empty() { inherited } else { data };
        Scope { this, data, names }
    }

    fn part(&mut self, program: Option<&Program>, scope: Option<Scope>) -> Result<(), TemplateError> {
        let Some(program) = program else { return Ok(()) };
        let entered = scope.is_some();
        self.scopes.extend(scope);
        let result = self.program(program);
        if entered {
            self.scopes.pop();
        }
        result
    }

    fn expression(&mut self, expression: &Expression) -> Result<Data, TemplateError> {
        Ok(match expression {
            Expression::Path(path) => self.value(path),
            Expression::Text(text) => Data::Text(text.clone()),
            Expression::Number(n) => Data::Number(*n),
            Expression::Bool(b) => Data::Bool(*b),
            Expression::Nothing => Data::Nothing,
            Expression::Sub(call) => self.call(call)?,
        })
    }

    fn value(&self, path: &Path) -> Data {
        let Some(scope) = self.scopes.len().checked_sub(path.up + 1).and_then(|i| self.scopes.get(i)) else {
            return Data::Nothing;
        };
        let mut parts = path.parts.iter();
        let mut value = scope.this.clone();
        if path.data {
            let first = parts.next().map_or("", String::as_str);
            let known = scope.data.iter().find(|(name, _)| *name == first).map(|(_, v)| v.clone());
            value = if first == "root" { Data::Root } else { known.unwrap_or(Data::Nothing) };
        } else if let Some(first) = path.parts.first().filter(|_| path.up == 0 && !path.scoped)
            && let Some((_, named)) = scope.names.iter().rev().find(|(name, _)| name == first)
        {
            value = named.clone();
            parts.next();
        }
        for part in parts {
            value = self.property(&value, part);
        }
        value
    }

    fn property(&self, object: &Data, name: &str) -> Data {
        match object {
            Data::Root => {
                let found = self.values.iter().find(|(key, _)| *key == name);
                found.map_or(Data::Nothing, |(_, text)| Data::Text((*text).to_owned()))
            }
            #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
            Data::Text(text) if name == "length" => Data::Number(js::len16(text) as f64),
            _ => Data::Nothing,
        }
    }
}
