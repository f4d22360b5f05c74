//! A field of the file and where it stands, so that errors can say so.

use serde_json::Value;

use crate::error::{Code, Error, join_path};

/// A value and its path.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    pub(super) value: &'a Value,
    pub(super) path: String,
}

/// The file says something that it cannot mean.
pub(super) fn wrong(path: impl Into<String>, what: &str) -> Error {
    Error::new(Code::TokensFile, path, what.to_owned())
}

/// The file means something that is not done here.
pub(super) fn unsupported(path: impl Into<String>, what: &str) -> Error {
    Error::new(Code::TokensUnsupported, path, format!("{what} is not supported"))
}

/// The file is larger than anything that is read.
pub(super) fn too_large(path: impl Into<String>, what: &str) -> Error {
    Error::new(Code::LimitReached, path, what.to_owned())
}

impl<'a> Field<'a> {
    pub(super) fn new(value: &'a Value, path: impl Into<String>) -> Self {
        Self { value, path: path.into() }
    }

    /// A part that is there and not null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|v| !v.is_null())?;
        Some(Self::new(value, join_path(&self.path, key)))
    }

    fn needed(&self, key: &str) -> Result<Self, Error> {
        self.get(key).ok_or_else(|| wrong(join_path(&self.path, key), "the field is missing"))
    }

    pub(super) fn text(&self, key: &str) -> Result<&'a str, Error> {
        let field = self.needed(key)?;
        field.value.as_str().ok_or_else(|| wrong(field.path, "must be a text"))
    }

    pub(super) fn flag(&self, key: &str, default: bool) -> Result<bool, Error> {
        let Some(field) = self.get(key) else { return Ok(default) };
        field.value.as_bool().ok_or_else(|| wrong(field.path, "must be true or false"))
    }

    /// The parts of a list.
    pub(super) fn list(&self, key: &str) -> Result<Vec<Self>, Error> {
        let field = self.needed(key)?;
        let Value::Array(list) = field.value else { return Err(wrong(field.path, "must be a list")) };
        Ok((0..).zip(list).map(|(i, value)| Self::new(value, format!("{}[{i}]", field.path))).collect())
    }
}

/// The number of a token.
pub(super) fn id(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| u32::try_from(id).ok()).filter(|id| *id < 1 << 31)
}
