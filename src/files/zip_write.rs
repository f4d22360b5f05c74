//! ZIP archives out: entries stored or deflated, no dates, the same bytes every time.

use miniz_oxide::deflate::compress_to_vec;

use super::crc;
use crate::error::{Code, Error};

/// Level of DEFLATE: a usual middle.
const LEVEL: u8 = 6;
/// 1980-01-01, the first day of ZIP's calendar.
const DATE: u16 = 0x0021;
/// Names are UTF-8.
const UTF8: u16 = 0x0800;

/// An entry ready to be written.
pub(super) struct Packed {
    pub(super) name: String,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) size: usize,
    pub(super) data: Vec<u8>,
}

impl Packed {
    /// An entry; deflated where that makes it smaller.
    pub(super) fn new(name: &str, bytes: Vec<u8>, deflate: bool) -> Self {
        let (crc, size) = (crc::crc32(&[&bytes]), bytes.len());
        let deflated = if deflate { Some(compress_to_vec(&bytes, LEVEL)) } else { None };
        let (method, data) = match deflated.filter(|d| d.len() < size) {
            Some(deflated) => (8, deflated),
            None => (0, bytes),
        };
        Self { name: name.to_owned(), method, crc, size, data }
    }
}

/// The archive. Names must be unique, and everything fit into ZIP's 32-bit fields.
pub(super) fn write(entries: &[Packed]) -> Result<Vec<u8>, Error> {
    let large = || {
        Error::new(
            Code::FileTooLarge,
            "",
            "the archive would exceed 4 GiB or 65 535 entries; leave assets out",
        )
    };
    let count = u16::try_from(entries.len()).ok().filter(|n| *n < u16::MAX).ok_or_else(large)?;
    let small = |n: usize| u32::try_from(n).ok().filter(|n| *n < u32::MAX).ok_or_else(large);
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let offset = small(out.len())?;
        let name = u16::try_from(entry.name.len()).map_err(|_| large())?;
        let mut common = Vec::new();
        for n in [20, UTF8, entry.method, 0, DATE] {
            common.extend_from_slice(&n.to_le_bytes());
        }
        for n in [entry.crc, small(entry.data.len())?, small(entry.size)?] {
            common.extend_from_slice(&n.to_le_bytes());
        }
        common.extend_from_slice(&name.to_le_bytes());
        common.extend_from_slice(&[0, 0]); // no extra field
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&common);
        out.extend_from_slice(entry.name.as_bytes());
        out.extend_from_slice(&entry.data);
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 10]); // no comment, first disk, no attributes
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(entry.name.as_bytes());
    }
    let (start, length) = (small(out.len())?, small(directory.len())?);
    out.append(&mut directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    Ok(out)
}
