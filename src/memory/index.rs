//! An index of vectors: items and a query vector -> the most alike, exactly (spec 10 §22, §29).
//!
//! One index a model. Holds numbers and where they belong, never texts. As bytes it is one block that a page can keep anywhere;
//! [`VectorIndex::items`] is the part that belongs to it in JSON.

use super::vectors::{dot, dot_bytes, quantise, unit};
use crate::error::{Code, Error};

/// What a vector stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexItem {
    /// Id of the message, file or entry.
    pub of: String,
    /// Which chunk of it.
    pub chunk: u32,
    /// Hash of the whole text.
    pub hash: String,
}

/// How numbers are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Four bytes a number.
    #[default]
    F32,
    /// One byte a number and a scale: a quarter of the memory, errors below 0.003.
    Int8,
}

#[derive(Clone, Debug)]
enum Numbers {
    F32(Vec<f32>),
    Int8 { bytes: Vec<i8>, scales: Vec<f32> },
}

/// Vectors of one model.
#[derive(Clone, Debug)]
pub struct VectorIndex {
    model: String,
    dims: usize,
    items: Vec<IndexItem>,
    numbers: Numbers,
}

/// An item that was found: its position and the cosine.
pub type VectorHit = (usize, f32);

/// First bytes of the binary form.
const MAGIC: &[u8; 4] = b"PSVX";
const HEADER: usize = 20;

impl VectorIndex {
    /// An empty index; the first vector decides on the dimensions.
    pub fn new(model: &str, precision: Precision) -> Self {
        let numbers = match precision {
            Precision::F32 => Numbers::F32(Vec::new()),
            Precision::Int8 => Numbers::Int8 { bytes: Vec::new(), scales: Vec::new() },
        };
        Self { model: model.to_owned(), dims: 0, items: Vec::new(), numbers }
    }

    /// The model whose vectors these are.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Numbers in a vector; 0 while the index is empty.
    pub const fn dims(&self) -> usize {
        self.dims
    }

    /// How numbers are kept.
    pub const fn precision(&self) -> Precision {
        match self.numbers {
            Numbers::F32(_) => Precision::F32,
            Numbers::Int8 { .. } => Precision::Int8,
        }
    }

    /// What the vectors stand for, in order.
    pub fn items(&self) -> &[IndexItem] {
        &self.items
    }

    /// Bytes of numbers.
    pub fn size(&self) -> usize {
        match &self.numbers {
            Numbers::F32(all) => all.len() * 4,
            Numbers::Int8 { bytes, scales } => bytes.len() + scales.len() * 4,
        }
    }

    /// The vector of an item, at length 1.
    pub fn vector(&self, at: usize) -> Option<Vec<f32>> {
        let rows = at.checked_mul(self.dims)?..at.checked_add(1)?.checked_mul(self.dims)?;
        match &self.numbers {
            Numbers::F32(all) => all.get(rows).map(<[f32]>::to_vec),
            Numbers::Int8 { bytes, scales } => {
                let scale = *scales.get(at)?;
                bytes.get(rows).map(|row| row.iter().map(|q| f32::from(*q) * scale).collect())
            }
        }
    }

    /// Adds a vector. It need not have length 1. A vector of other dimensions is an error: it comes from another model.
    pub fn push(&mut self, item: IndexItem, vector: &[f32]) -> Result<(), Error> {
        if self.items.is_empty() {
            self.dims = vector.len();
        }
        if vector.is_empty() || vector.len() != self.dims {
            return Err(dimensions(self.dims, vector.len()));
        }
        let vector = unit(vector);
        match &mut self.numbers {
            Numbers::F32(all) => all.extend(vector),
            Numbers::Int8 { bytes, scales } => {
                let (scale, q) = quantise(vector.iter().map(|x| f64::from(*x)));
                bytes.extend(q);
                #[expect(clippy::cast_possible_truncation, reason = "stored in f32")]
                scales.push(scale as f32);
            }
        }
        self.items.push(item);
        Ok(())
    }

    /// Keeps the items for which `keep` holds, in order.
    pub fn retain(&mut self, keep: impl Fn(&IndexItem) -> bool) {
        let kept: Vec<bool> = self.items.iter().map(keep).collect();
        let dims = self.dims.max(1);
        match &mut self.numbers {
            Numbers::F32(all) => retain_rows(all, dims, &kept),
            Numbers::Int8 { bytes, scales } => {
                retain_rows(bytes, dims, &kept);
                retain_rows(scales, 1, &kept);
            }
        }
        retain_rows(&mut self.items, 1, &kept);
    }

    /// The cosine of every item with a query, in the order of the items. A zero vector, on either side, gives 0.
    pub fn scores(&self, query: &[f32]) -> Result<Vec<f32>, Error> {
        if self.items.is_empty() {
            return Ok(Vec::new());
        }
        if query.len() != self.dims {
            return Err(dimensions(self.dims, query.len()));
        }
        let query = unit(query);
        Ok(match &self.numbers {
            Numbers::F32(all) => all.chunks_exact(self.dims).map(|row| dot(row, &query)).collect(),
            Numbers::Int8 { bytes, scales } => {
                let (scale, q) = quantise(query.iter().map(|x| f64::from(*x)));
                #[expect(clippy::cast_possible_truncation, reason = "scores are f32")]
                let scale = scale as f32;
                let rows = bytes.chunks_exact(self.dims).zip(scales);
                #[expect(clippy::cast_precision_loss, reason = "an error far below that of the bytes")]
                rows.map(|(row, own)| dot_bytes(row, &q) as f32 * *own * scale).collect()
            }
        })
    }

    /// The best `k` items, best first, later ones first on ties.
    pub fn search(&self, query: &[f32], k: usize) -> Result<Vec<VectorHit>, Error> {
        let scores = self.scores(query)?;
        Ok(best(scores.into_iter().enumerate(), k))
    }

    /// The binary form: magic, version, dimensions, count, hash of the model's name, then the numbers, little endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + self.size());
        out.extend_from_slice(MAGIC);
        let version = match self.precision() {
            Precision::F32 => 1_u16,
            Precision::Int8 => 2,
        };
        out.extend(version.to_le_bytes());
        out.extend(u16::try_from(self.dims).unwrap_or(u16::MAX).to_le_bytes());
        out.extend(u32::try_from(self.items.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(super::hash::hash(&self.model).to_le_bytes());
        match &self.numbers {
            Numbers::F32(all) => out.extend(all.iter().flat_map(|x| x.to_le_bytes())),
            Numbers::Int8 { bytes, scales } => {
                out.extend(scales.iter().flat_map(|x| x.to_le_bytes()));
                out.extend(bytes.iter().flat_map(|x| x.to_le_bytes()));
            }
        }
        out
    }

    /// From the binary form and the items that belong to it.
    pub fn from_bytes(model: &str, items: Vec<IndexItem>, bytes: &[u8]) -> Result<Self, Error> {
        let wrong = |what: &'static str| Error::new(Code::MemoryIndex, "bytes", what);
        let Some((head, rest)) = bytes.split_first_chunk::<HEADER>() else {
            return Err(wrong("the block is too short"));
        };
        let [m0, m1, m2, m3, v0, v1, d0, d1, c0, c1, c2, c3, hash @ ..] = *head;
        if [m0, m1, m2, m3] != *MAGIC {
            return Err(wrong("the block is no vector index"));
        }
        let dims = usize::from(u16::from_le_bytes([d0, d1]));
        let count = u32::from_le_bytes([c0, c1, c2, c3]) as usize;
        if u64::from_le_bytes(hash) != super::hash::hash(model) {
            return Err(wrong("the block was made with another embedding model"));
        }
        if count != items.len() {
            return Err(wrong("the block and its list of items do not belong together"));
        }
        let numbers = count.checked_mul(dims).ok_or_else(|| wrong("the block claims an impossible size"))?;
        let floats = |bytes: &[u8]| -> Vec<f32> {
            let (chunks, _) = bytes.as_chunks::<4>();
            chunks
                .iter()
                .map(|c| f32::from_le_bytes(*c))
                .map(|x| if x.is_finite() { x } else { 0.0 })
                .collect()
        };
        let numbers = match u16::from_le_bytes([v0, v1]) {
            1 if rest.len() == numbers.saturating_mul(4) => Numbers::F32(floats(rest)),
            2 if rest.len() == numbers.saturating_add(count.saturating_mul(4)) => {
                let (scales, bytes) = rest.split_at_checked(count * 4).unwrap_or((rest, &[]));
                Numbers::Int8 {
                    bytes: bytes.iter().map(|b| i8::from_le_bytes([*b])).collect(),
                    scales: floats(scales),
                }
            }
            1 | 2 => return Err(wrong("the block's length does not fit its header")),
            _ => return Err(wrong("the block was made by a later version")),
        };
        Ok(Self { model: model.to_owned(), dims, items, numbers })
    }
}

fn dimensions(wanted: usize, got: usize) -> Error {
    Error::new(
        Code::MemoryIndex,
        "vector",
        format!("the vector has {got} numbers, the index {wanted}: they come from different models"),
    )
}

fn retain_rows<T>(all: &mut Vec<T>, width: usize, kept: &[bool]) {
    let mut at = 0;
    all.retain(|_| {
        let keep = kept.get(at / width).copied().unwrap_or(false);
        at += 1;
        keep
    });
}

/// The best `k` of scored positions, best first, later ones first on ties.
pub(super) fn best(scores: impl Iterator<Item = VectorHit>, k: usize) -> Vec<VectorHit> {
    let order = |a: &VectorHit, b: &VectorHit| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
    let mut all: Vec<VectorHit> = scores.collect();
    if k < all.len() && k > 0 {
        all.select_nth_unstable_by(k - 1, order);
    }
    all.truncate(k);
    all.sort_unstable_by(order);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(of: &str) -> IndexItem {
        IndexItem { of: of.into(), ..IndexItem::default() }
    }

    #[test]
    fn the_most_alike_are_found_and_the_newer_first() {
        for precision in [Precision::F32, Precision::Int8] {
            let mut index = VectorIndex::new("m", precision);
            for (of, vector) in [("塔", [1.0, 0.0, 0.0]), ("雨", [0.0, 2.0, 0.0]), ("башня", [3.0, 0.0, 0.0])]
            {
                index.push(item(of), &vector).unwrap();
            }
            let hits = index.search(&[5.0, 0.0, 0.0], 2).unwrap();
            assert_eq!(hits.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [2, 0]);
            assert!((hits[0].1 - 1.0).abs() < 1e-3);
            assert!(index.search(&[0.0; 3], 9).unwrap().iter().all(|(_, s)| *s == 0.0));
            assert!(index.search(&[1.0], 1).is_err());
            assert!(index.push(item("x"), &[1.0]).is_err());
            let bytes = index.to_bytes();
            let back = VectorIndex::from_bytes("m", index.items().to_vec(), &bytes).unwrap();
            assert_eq!(back.to_bytes(), bytes);
            assert_eq!(back.search(&[5.0, 0.0, 0.0], 2).unwrap(), hits);
            assert!(VectorIndex::from_bytes("other", index.items().to_vec(), &bytes).is_err());
            for cut in 0..bytes.len() {
                assert!(VectorIndex::from_bytes("m", index.items().to_vec(), &bytes[..cut]).is_err());
            }
            index.retain(|i| i.of != "塔");
            assert_eq!(index.items().len(), 2);
            assert_eq!(index.search(&[1.0, 0.0, 0.0], 1).unwrap()[0].0, 1);
        }
    }
}
