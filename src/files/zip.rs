//! ZIP archives: the central directory, and the bytes of an entry (spec 08 §12.3).
//!
//! Own code over the DEFLATE crate: a reader of one kind of archive is 200 lines, a general crate brings writers, encryption and
//! other compressions. Nothing is ever written to a file system by an entry's path.

use indexmap::IndexMap;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use super::crc;
use super::zip_write::Packed;
use crate::error::{Code, Error};
use crate::host::Limits;

/// The end-of-central-directory record without its comment.
const END_LENGTH: usize = 22;
/// How far from the end of the file that record may start: itself and the longest comment.
const END_SEARCH: usize = END_LENGTH + 65_535;
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";

/// One file of an archive, as the directory describes it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Bytes when unpacked.
    pub(super) size: u64,
    packed: u64,
    method: u16,
    encrypted: bool,
    crc: u32,
    /// Of the local header, from the start of the file.
    offset: usize,
}

/// An archive whose directory was read.
#[derive(Debug)]
pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    pub(super) entries: Vec<Entry>,
    /// First entry of each name.
    names: IndexMap<String, usize>,
    /// Bytes that may still be inflated.
    left: usize,
}

/// Whether the bytes are an archive: one from the start, or one behind something else (a picture, a program).
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(LOCAL) || find_end(bytes).is_some()
}

/// The last end record whose comment fits into the file.
fn find_end(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_LENGTH)?;
    let first = bytes.len().saturating_sub(END_SEARCH);
    (first..=last).rev().find(|at| {
        let record = bytes.get(*at..).unwrap_or(&[]);
        let comment = u16_at(record, 20).map_or(usize::MAX, usize::from);
        record.starts_with(END) && comment <= last - at
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

fn corrupt(what: &str) -> Error {
    Error::new(Code::FileZipCorrupt, "", format!("{what}; download the archive again"))
}

fn encrypted() -> Error {
    Error::new(
        Code::FileZipEncrypted,
        "",
        "the entry is encrypted; unpack it with its password and pack it without",
    )
}

fn too_large(what: String) -> Error {
    Error::new(Code::FileTooLarge, "", what + "; raise the limit if you trust the file")
}

/// Where the directory is.
struct Directory {
    start: usize,
    end: usize,
    count: u64,
    /// What to add to offsets: bytes in front of the archive.
    base: usize,
}

fn directory(bytes: &[u8]) -> Option<Directory> {
    let at = find_end(bytes)?;
    let record = bytes.get(at..)?;
    let (count, size, offset) = (u16_at(record, 10)?, u32_at(record, 12)?, u32_at(record, 16)?);
    let (mut count, mut size, mut offset) = (u64::from(count), u64::from(size), u64::from(offset));
    let mut end = at;
    // Archives with large offsets have a second record in front of a locator of 20 bytes.
    let locator = at.checked_sub(20).and_then(|i| bytes.get(i..at)).filter(|l| l.starts_with(LOCATOR_64));
    if locator.is_some()
        && let Some(at_64) = at.checked_sub(20 + 56)
        && let Some(record) = bytes.get(at_64..).filter(|r| r.starts_with(END_64))
    {
        (count, size, offset) = (u64_at(record, 32)?, u64_at(record, 40)?, u64_at(record, 48)?);
        end = at_64;
    }
    let start = end.checked_sub(usize::try_from(size).ok()?)?;
    let base = start.checked_sub(usize::try_from(offset).ok()?)?;
    Some(Directory { start, end, count, base })
}

impl<'a> Archive<'a> {
    /// Reads the directory.
    pub(super) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, Error> {
        let Some(place) = directory(bytes) else {
            return Err(corrupt("the archive has no readable directory"));
        };
        if place.count > u64::try_from(limits.zip_entries).unwrap_or(u64::MAX) {
            return Err(too_large(format!(
                "the archive has {} entries, more than {}",
                place.count, limits.zip_entries
            )));
        }
        let mut rest = bytes.get(place.start..place.end).unwrap_or(&[]);
        let mut entries = Vec::new();
        let mut names = IndexMap::new();
        for _ in 0..place.count {
            let Some((entry, after)) = entry(rest, place.base) else {
                return Err(corrupt("the archive's directory is damaged"));
            };
            names.entry(entry.name.clone()).or_insert(entries.len());
            entries.push(entry);
            rest = after;
        }
        Ok(Self { bytes, entries, names, left: limits.zip_bytes })
    }

    /// The first entry with that name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The unpacked bytes of an entry, at most `limit` of them.
    pub(super) fn read(&mut self, index: usize, limit: usize) -> Result<Vec<u8>, Error> {
        let Some(entry) = self.entries.get(index) else { return Err(corrupt("the entry is not there")) };
        let limit = limit.min(self.left);
        let bytes = unpack(self.bytes, entry, limit).map_err(|e| e.under(&entry.name))?;
        self.left -= bytes.len();
        Ok(bytes)
    }
}

impl Archive<'_> {
    /// An entry as it is packed, for another archive.
    pub(super) fn packed(&self, index: usize) -> Result<Packed, Error> {
        let lost = || corrupt("the entry lies outside the file");
        let entry = self.entries.get(index).ok_or_else(lost)?;
        if entry.encrypted {
            return Err(encrypted().under(&entry.name));
        }
        let data = packed_data(self.bytes, entry).ok_or_else(lost)?;
        let size = usize::try_from(entry.size).map_err(|_| lost())?;
        Ok(Packed {
            name: entry.name.clone(),
            method: entry.method,
            crc: entry.crc,
            size,
            data: data.to_vec(),
        })
    }
}

/// The directory record at the start of the bytes.
fn entry(bytes: &[u8], base: usize) -> Option<(Entry, &[u8])> {
    let record = Some(bytes).filter(|b| b.starts_with(ENTRY))?;
    let (name, extra, comment) = (u16_at(record, 28)?, u16_at(record, 30)?, u16_at(record, 32)?);
    let rest = record.get(46..)?;
    let (name, rest) = rest.split_at_checked(usize::from(name))?;
    let (extra, rest) = rest.split_at_checked(usize::from(extra))?;
    let (_, rest) = rest.split_at_checked(usize::from(comment))?;
    let flags = u16_at(record, 8)?;
    let (packed, size, offset) = (u32_at(record, 20)?, u32_at(record, 24)?, u32_at(record, 42)?);
    let mut large = large_values(extra);
    // Values of 2^32 - 1 stand in the extra field, in this order, those that need it.
    let mut value = |small: u32| {
        if small == u32::MAX { large.next() } else { Some(u64::from(small)) }
    };
    let (size, packed, offset) = (value(size)?, value(packed)?, value(offset)?);
    let entry = Entry {
        name: String::from_utf8_lossy(name).into_owned(),
        size,
        packed,
        method: u16_at(record, 10)?,
        // Bit 0, and bit 13 (the directory itself is masked).
        encrypted: flags & 0x2001 != 0,
        crc: u32_at(record, 16)?,
        offset: usize::try_from(offset).ok()?.checked_add(base)?,
    };
    Some((entry, rest))
}

/// The 64-bit values of extra field 0001.
fn large_values(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut found: &[u8] = &[];
    while let (Some(id), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let end = 4 + usize::from(length);
        if id == 1 {
            found = extra.get(4..end).unwrap_or(&[]);
            break;
        }
        extra = extra.get(end..).unwrap_or(&[]);
    }
    found.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b))
}

fn unpack(bytes: &[u8], entry: &Entry, limit: usize) -> Result<Vec<u8>, Error> {
    let over = || too_large(format!("the entry unpacks to more than {limit} bytes"));
    if entry.encrypted {
        return Err(encrypted());
    }
    let data = packed_data(bytes, entry).ok_or_else(|| corrupt("the entry lies outside the file"))?;
    let unpacked = match entry.method {
        0 if data.len() > limit => return Err(over()),
        0 => data.to_vec(),
        8 => decompress_to_vec_with_limit(data, limit).map_err(|e| match e.status {
            TINFLStatus::HasMoreOutput => over(),
            _ => corrupt("the entry does not inflate"),
        })?,
        method => return Err(corrupt(&format!("compression method {method} is not read"))),
    };
    if crc::crc32(&[&unpacked]) != entry.crc {
        return Err(corrupt("the checksum of the entry is wrong"));
    }
    Ok(unpacked)
}

fn packed_data<'a>(bytes: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    let header = bytes.get(entry.offset..).filter(|h| h.starts_with(LOCAL))?;
    let skip = 30 + usize::from(u16_at(header, 26)?) + usize::from(u16_at(header, 28)?);
    header.get(skip..)?.get(..usize::try_from(entry.packed).ok()?)
}
