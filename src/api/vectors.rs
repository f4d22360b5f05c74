//! An index of vectors by itself, behind the JSON face: for pages that keep vectors of their own.

use serde_json::Value;

use super::text;
use crate::error::{Code, Error};
use crate::js::{self, object};
use crate::memory::{IndexItem, Precision, VectorIndex};

/// An index.
#[derive(Debug)]
pub struct Vectors {
    index: VectorIndex,
}

impl Vectors {
    /// An empty index of a model's vectors. `precision`: `f32` or `int8`.
    pub fn new(model: &str, precision: &str) -> Result<Self, Error> {
        let precision = match precision {
            "" | "f32" => Precision::F32,
            "int8" => Precision::Int8,
            other => {
                let message = format!("{other:?} is not one of f32, int8");
                return Err(Error::new(Code::OptionUnknown, "precision", message));
            }
        };
        Ok(Self { index: VectorIndex::new(model, precision) })
    }

    /// From the binary form and the items that belong to it.
    pub fn from_bytes(model: &str, items: &str, bytes: &[u8]) -> Result<Self, Error> {
        VectorIndex::from_bytes(model, read_items(items)?, bytes).map(|index| Self { index })
    }

    /// Adds items, `[id]` or `[{id, chunk?, hash?}]`, with their vectors one after the other.
    pub fn add(&mut self, items: &str, floats: &[f32]) -> Result<(), Error> {
        let items = read_items(items)?;
        let dims = floats.len().checked_div(items.len()).unwrap_or(0);
        if dims * items.len() != floats.len() || (dims == 0 && !items.is_empty()) {
            let message = format!("{} numbers are no {} vectors", floats.len(), items.len());
            return Err(Error::new(Code::MemoryIndex, "vectors", message));
        }
        for (item, vector) in items.into_iter().zip(floats.chunks_exact(dims.max(1))) {
            self.index.push(item, vector)?;
        }
        Ok(())
    }

    /// Deletes all items of these ids.
    pub fn remove(&mut self, ids: &str) -> Result<(), Error> {
        let (value, _) = js::parse(ids)?;
        let ids: std::collections::BTreeSet<String> =
            value.as_array().into_iter().flatten().map(js::value_to_text).collect();
        self.index.retain(|item| !ids.contains(&item.of));
        Ok(())
    }

    /// The best `k` items: `[{id, chunk, score}]`.
    pub fn search(&self, query: &[f32], k: usize) -> Result<String, Error> {
        let hits = self.index.search(query, k)?;
        let one = |(at, score): (usize, f32)| {
            let item = self.index.items().get(at);
            Value::Object(object(vec![
                ("id", item.map_or("", |i| i.of.as_str()).into()),
                ("chunk", item.map_or(0, |i| i.chunk).into()),
                ("score", f64::from(score).into()),
            ]))
        };
        text(&hits.into_iter().map(one).collect::<Value>())
    }

    /// The items, as JSON; they belong to [`Vectors::to_bytes`].
    pub fn items(&self) -> Result<String, Error> {
        let one = |i: &IndexItem| {
            Value::Object(object(vec![
                ("id", i.of.as_str().into()),
                ("chunk", i.chunk.into()),
                ("hash", i.hash.as_str().into()),
            ]))
        };
        text(&self.index.items().iter().map(one).collect::<Value>())
    }

    /// The binary form.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.index.to_bytes()
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.index.items().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of numbers.
    pub fn size(&self) -> usize {
        self.index.size()
    }
}

fn read_items(items: &str) -> Result<Vec<IndexItem>, Error> {
    let (value, _) = js::parse(items)?;
    let list =
        value.as_array().ok_or_else(|| Error::new(Code::SceneField, "items", "this must be a list"))?;
    let one = |v: &Value| match v.as_object() {
        Some(o) => IndexItem {
            of: o.get("id").map(js::value_to_text).unwrap_or_default(),
            chunk: o.get("chunk").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
            hash: o.get("hash").map(js::value_to_text).unwrap_or_default(),
        },
        None => IndexItem { of: js::value_to_text(v), ..IndexItem::default() },
    };
    Ok(list.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_by_itself() {
        let mut vectors = Vectors::new("m", "int8").unwrap();
        vectors.add(r#"["塔", {"id": "雨", "chunk": 2}]"#, &[1.0, 0.0, 0.0, 1.0]).unwrap();
        let hits = vectors.search(&[0.0, 1.0], 1).unwrap();
        assert!(hits.starts_with(r#"[{"id":"雨","chunk":2,"score":1"#), "{hits}");
        let back = Vectors::from_bytes("m", &vectors.items().unwrap(), &vectors.to_bytes()).unwrap();
        assert_eq!(back.search(&[0.0, 1.0], 1).unwrap(), hits);
        vectors.remove(r#"["雨"]"#).unwrap();
        assert_eq!((vectors.len(), vectors.size()), (1, 6));
        assert_eq!(vectors.add("[1]", &[]).unwrap_err().code(), Code::MemoryIndex);
        assert_eq!(vectors.add("[1, 2]", &[1.0, 2.0, 3.0]).unwrap_err().code(), Code::MemoryIndex);
        assert!(vectors.add("[]", &[]).is_ok());
        assert!(Vectors::new("m", "f64").is_err());
    }
}
