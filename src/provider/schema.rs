//! JSON schemas as providers accept them: definitions inlined, keywords that Google refuses removed (spec 06 §4.11).

use serde_json::Value;

use crate::error::{Code, Error};
use crate::models::{Source, remove};
use crate::scene::Object;

const GOOGLE_REFUSES: &[&str] = &["default", "additionalProperties", "exclusiveMinimum", "propertyNames"];

/// Nodes a flattened schema may have: definitions that name each other several times grow without bound otherwise.
const MOST_NODES: usize = 50_000;

/// Levels it may have.
const MOST_LEVELS: usize = 256;

/// Flattens a schema for a source.
pub fn flatten_schema(schema: &Value, source: Source) -> Result<Value, Error> {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else { return Ok(schema) };
    let definitions = object.shift_remove("$defs");
    let mut walk = Walk {
        definitions: definitions.as_ref().and_then(Value::as_object),
        refused: if source.is_google() { GOOGLE_REFUSES } else { &[] },
        path: Vec::new(),
        nodes: 0,
        level: 0,
    };
    let mut flat = walk.resolve(&schema)?;
    if let Some(object) = flat.as_object_mut() {
        remove(object, &["$schema"]);
    }
    Ok(flat)
}

struct Walk<'a> {
    definitions: Option<&'a Object>,
    refused: &'a [&'a str],
    path: Vec<&'a str>,
    nodes: usize,
    level: usize,
}

impl<'a> Walk<'a> {
    fn resolve(&mut self, value: &'a Value) -> Result<Value, Error> {
        self.nodes += 1;
        self.level += 1;
        if self.nodes > MOST_NODES || self.level > MOST_LEVELS {
            return Err(Error::new(
                Code::LimitReached,
                "json_schema",
                "the schema's definitions unfold without end",
            ));
        }
        let flat = match value {
            Value::Array(items) => items.iter().map(|item| self.resolve(item)).collect(),
            Value::Object(object) => self.object(object),
            other => Ok(other.clone()),
        };
        self.level -= 1;
        flat
    }

    fn object(&mut self, object: &'a Object) -> Result<Value, Error> {
        let reference = object.get("$ref").and_then(Value::as_str);
        if let Some(name) = reference.and_then(|r| r.strip_prefix("#/$defs/")) {
            let definition = self.definitions.and_then(|d| d.get(name));
            let Some(definition) = definition.filter(|_| !self.path.contains(&name)) else {
                return Ok(Value::Object(Object::new()));
            };
            self.path.push(name);
            let flat = self.resolve(definition);
            self.path.pop();
            return flat;
        }
        let mut flat = Object::new();
        for (key, item) in object.iter().filter(|(key, _)| !self.refused.contains(&key.as_str())) {
            flat.insert(key.clone(), self.resolve(item)?);
        }
        Ok(Value::Object(flat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn definitions_that_multiply_are_refused() {
        let mut definitions = Object::new();
        for i in 0..60 {
            let next = format!("#/$defs/d{}", i + 1);
            definitions.insert(format!("d{i}"), json!({"a": {"$ref": next}, "b": {"$ref": next}}));
        }
        let schema = json!({"$defs": definitions, "x": {"$ref": "#/$defs/d0"}});
        assert_eq!(flatten_schema(&schema, Source::OpenAi).unwrap_err().code(), Code::LimitReached);
    }

    #[test]
    fn other_references_and_keys_stay() {
        let schema = json!({"a": {"$ref": "#/other"}, "b": {"$ref": "#/$defs/No", "x": 1}, "default": 1});
        let want = json!({"a": {"$ref": "#/other"}, "b": {}, "default": 1});
        assert_eq!(flatten_schema(&schema, Source::Claude).unwrap(), want);
    }
}
