//! PNG -> the card JSON in its text chunks (spec 08 §12.2).

use std::borrow::Cow;

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
use serde_json::Value;

use super::{base64, crc, open, text};
use crate::error::{Code, Error, Warnings};
use crate::host::Limits;

/// The eight bytes every PNG starts with.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// One chunk, whole.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'a> {
    /// Four letters.
    pub(super) kind: &'a [u8],
    pub(super) data: &'a [u8],
    pub(super) crc: u32,
    /// Length, kind, data and checksum as they stand.
    pub(super) raw: &'a [u8],
}

/// The chunks up to IEND, then what follows: `None` when the file ends before IEND.
pub(super) fn chunks(bytes: &[u8]) -> (Vec<Chunk<'_>>, Option<&[u8]>) {
    let mut rest = bytes.get(SIGNATURE.len()..).unwrap_or(&[]);
    let mut found = Vec::new();
    loop {
        let Some((chunk, after)) = chunk(rest) else { return (found, None) };
        if chunk.kind == b"IEND" {
            return (found, Some(after));
        }
        found.push(chunk);
        rest = after;
    }
}

/// The chunk at the start of the bytes, when all of it is there.
fn chunk(bytes: &[u8]) -> Option<(Chunk<'_>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (kind, rest) = rest.split_at_checked(4)?;
    let (data, rest) = rest.split_at_checked(length)?;
    let (crc, after) = rest.split_first_chunk::<4>()?;
    let raw = bytes.get(..length + 12)?;
    Some((Chunk { kind, data, crc: u32::from_be_bytes(*crc), raw }, after))
}

/// The keyword of a text chunk in lower case, trimmed, and what follows its NUL.
pub(super) fn keyword<'a>(chunk: &Chunk<'a>) -> Option<(Vec<u8>, &'a [u8])> {
    if !matches!(chunk.kind, b"tEXt" | b"zTXt" | b"iTXt") {
        return None;
    }
    let nul = chunk.data.iter().position(|b| *b == 0)?;
    let (word, rest) = chunk.data.split_at_checked(nul)?;
    // Latin-1: byte A0 is a blank too.
    let blank = |b: &u8| b.is_ascii_whitespace() || matches!(b, 0x0B | 0xA0);
    let start = word.iter().position(|b| !blank(b)).unwrap_or(word.len());
    let end = word.iter().rposition(|b| !blank(b)).map_or(start, |i| i + 1);
    Some((word.get(start..end)?.to_ascii_lowercase(), rest.get(1..)?))
}

/// How much may be inflated: a file may hold any number of compressed chunks.
pub(super) struct Budget {
    /// Bytes of one chunk.
    chunk: usize,
    /// Bytes of all that follow.
    left: usize,
}

impl Budget {
    /// The budget of one file.
    pub(super) fn new(limits: &Limits) -> Self {
        Self { chunk: limits.inflated_bytes, left: limits.zip_bytes }
    }
}

/// A card in a PNG.
pub(super) struct Found {
    pub(super) json: Value,
    pub(super) chunk: &'static str,
    pub(super) animated: bool,
}

/// Reads the card of a PNG: all `ccv3` chunks before all `chara` ones, the first that holds a JSON object.
pub(super) fn read(bytes: &[u8], budget: &mut Budget, notes: &mut Warnings) -> Result<Found, Error> {
    find(bytes, &["ccv3", "chara"], budget, notes)
}

/// The first readable chunk of the given keywords, in their order.
pub(super) fn find(
    bytes: &[u8],
    keywords: &[&'static str],
    budget: &mut Budget,
    notes: &mut Warnings,
) -> Result<Found, Error> {
    let (chunks, after) = chunks(bytes);
    let texts: Vec<_> =
        chunks.iter().filter_map(|chunk| keyword(chunk).map(|(word, rest)| (word, rest, *chunk))).collect();
    let candidates: Vec<_> = keywords
        .iter()
        .flat_map(|key| texts.iter().filter(|(word, ..)| word == key.as_bytes()).map(|t| (*key, t.1, t.2)))
        .collect();
    if candidates.is_empty() {
        return Err(match after {
            None => {
                Error::new(Code::FilePngTruncated, "", "the PNG ends before its end mark; download it again")
            }
            Some(_) => Error::new(
                Code::FileNoCardData,
                "",
                "the PNG has no card in its text chunks; ask for the original file, since sites that convert pictures strip it",
            ),
        });
    }
    match after {
        None => notes.add("png-truncated", String::new, "the PNG ends before its end mark"),
        Some([]) => {}
        Some(rest) => {
            let what = format!("{} bytes after the end of the PNG were ignored", rest.len());
            notes.add("png-trailing-data", String::new, what);
        }
    }
    for key in keywords {
        let count = candidates.iter().filter(|c| c.0 == *key).count();
        if count > 1 {
            let what = format!("{count} chunks; the first readable one counts");
            notes.add("duplicate-chunk", || (*key).to_owned(), what);
        }
    }
    let mut first_error = None;
    for (key, rest, chunk) in candidates {
        let mut own = Warnings::default();
        match value(chunk, rest, budget, &mut own) {
            Ok(json) => {
                let before_image = chunks.iter().take_while(|c| c.kind != b"IDAT");
                let animated = before_image.into_iter().any(|c| c.kind == b"acTL");
                notes.extend(own.into_list().into_iter().map(|w| w.under(key)));
                return Ok(Found { json, chunk: key, animated });
            }
            Err(error) => {
                notes.add("chunk-unreadable", || key.to_owned(), error.message().to_owned());
                first_error.get_or_insert(error.under(key));
            }
        }
    }
    // There was a candidate and none was readable, so there is a first error.
    Err(first_error.unwrap_or_else(|| Error::new(Code::Internal, "", "a PNG without an error")))
}

/// The file that a `chara-ext-asset_:path` chunk holds; the colon may be missing (spec 08 §2.1).
pub(super) fn asset(bytes: &[u8], path: &str) -> Option<Vec<u8>> {
    let (chunks, _) = chunks(bytes);
    chunks.iter().filter(|chunk| chunk.kind == b"tEXt").find_map(|chunk| {
        let nul = chunk.data.iter().position(|b| *b == 0)?;
        let (word, rest) = chunk.data.split_at_checked(nul)?;
        let name = word.strip_prefix(b"chara-ext-asset_")?;
        let name = name.strip_prefix(b":").unwrap_or(name);
        (name == path.as_bytes()).then(|| base64::decode(rest.get(1..)?)).flatten()
    })
}

/// The JSON object of one text chunk.
fn value(chunk: Chunk<'_>, rest: &[u8], budget: &mut Budget, notes: &mut Warnings) -> Result<Value, Error> {
    if crc::crc32(&[chunk.kind, chunk.data]) != chunk.crc {
        notes.add("png-crc-mismatch", String::new, "the checksum of the chunk is wrong");
    }
    let stored = match chunk.kind {
        b"zTXt" => inflate(rest.get(1..).unwrap_or(&[]), budget, notes)?,
        b"iTXt" => {
            let (packed, text) = international(rest).ok_or_else(bad_base64)?;
            if packed { inflate(text, budget, notes)? } else { Cow::Borrowed(text) }
        }
        _ => Cow::Borrowed(rest),
    };
    let stored = match stored.iter().position(|b| *b == 0) {
        Some(nul) => {
            notes.add("png-nul-in-text", String::new, "the text was cut at a NUL");
            stored.get(..nul).unwrap_or(&[])
        }
        None => &*stored,
    };
    let json = if first_visible(stored.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stored)) == Some(b'{') {
        notes.add("plain-json-in-chunk", String::new, "the text is JSON, not base64");
        Cow::Borrowed(trim_start(stored))
    } else {
        Cow::Owned(unwrap_base64(stored, notes)?)
    };
    let json = text::decode(&json, notes);
    let value = open::parse_json(&json, notes)?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(Error::new(Code::FileNotAnObject, "", "the JSON in the chunk is no object"))
    }
}

/// The text of an `iTXt` chunk, and whether it is compressed.
fn international(rest: &[u8]) -> Option<(bool, &[u8])> {
    let (flags, rest) = rest.split_at_checked(2)?;
    let language = rest.iter().position(|b| *b == 0)?;
    let rest = rest.get(language + 1..)?;
    let translated = rest.iter().position(|b| *b == 0)?;
    Some((flags.first() == Some(&1), rest.get(translated + 1..)?))
}

fn inflate<'a>(packed: &[u8], budget: &mut Budget, notes: &mut Warnings) -> Result<Cow<'a, [u8]>, Error> {
    notes.add("compressed-text-chunk", String::new, "other programs may not find this compressed card");
    let limit = budget.chunk.min(budget.left);
    let inflated = decompress_to_vec_zlib_with_limit(packed, limit);
    // What failed may have cost as much as it was allowed.
    budget.left -= inflated.as_ref().map_or(limit, Vec::len);
    inflated.map(Cow::Owned).map_err(|e| {
        if e.status == TINFLStatus::HasMoreOutput {
            let what =
                format!("the text inflates to more than {limit} bytes; raise the limit if you trust it");
            Error::new(Code::FileTooLarge, "", what)
        } else {
            bad_base64()
        }
    })
}

fn bad_base64() -> Error {
    Error::new(
        Code::FileBadBase64,
        "",
        "the text is neither JSON nor base64 nor a whole compressed text; export the card again",
    )
}

/// Decodes base64, once or, for files that were packed twice, up to three times.
fn unwrap_base64(stored: &[u8], notes: &mut Warnings) -> Result<Vec<u8>, Error> {
    let mut bytes = base64::decode(stored).ok_or_else(bad_base64)?;
    for _ in 0..2 {
        let inner = trim_start(&bytes);
        let json = matches!(inner.first(), Some(b'{' | b'['));
        let bom = [&b"\xEF\xBB\xBF"[..], b"\xFF\xFE", b"\xFE\xFF"].iter().any(|bom| inner.starts_with(bom));
        if json || bom || !base64::is_base64(inner) {
            break;
        }
        let Some(again) = base64::decode(inner) else { break };
        notes.add("double-base64", String::new, "the text was packed twice");
        bytes = again;
    }
    Ok(bytes)
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
    bytes.get(start..).unwrap_or(&[])
}

fn first_visible(bytes: &[u8]) -> Option<u8> {
    trim_start(bytes).first().copied()
}
