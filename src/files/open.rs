//! Bytes -> JSON value: which container they are, and what lies in it (spec 08 §12.1).

use serde_json::Value;

use super::{Container, png, text};
use crate::error::{Code, Error, Warning, Warnings};
use crate::host::Limits;
use crate::js;

/// A container, opened.
pub(super) struct Opened {
    pub(super) container: Container,
    pub(super) chunk: Option<&'static str>,
    pub(super) source: Value,
    pub(super) warnings: Vec<Warning>,
}

/// Opens a file by its bytes.
pub(super) fn open(bytes: &[u8], limits: &Limits) -> Result<Opened, Error> {
    let mut notes = Warnings::default();
    let done = |container, chunk, source, notes: Warnings| {
        Ok(Opened { container, chunk, source, warnings: notes.into_list() })
    };
    if bytes.is_empty() {
        return Err(Error::new(Code::FileEmpty, "", "the file has no bytes; choose another"));
    }
    if bytes.len() > limits.file_bytes {
        let what = format!(
            "the file has {} bytes, more than {}; raise the limit if you trust it",
            bytes.len(),
            limits.file_bytes
        );
        return Err(Error::new(Code::FileTooLarge, "", what));
    }
    if bytes.starts_with(png::SIGNATURE) {
        let found = png::read(bytes, limits, &mut notes)?;
        let container = if found.animated { Container::Apng } else { Container::Png };
        return done(container, Some(found.chunk), found.json, notes);
    }
    if let Some(name) = picture(bytes) {
        let what = format!(
            "a {name} picture carries no card; ask for the original PNG, since sites that convert pictures strip it"
        );
        return Err(Error::new(Code::FileNoCardData, "", what));
    }
    let wide = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
    if !wide && bytes.iter().take(64).any(|b| *b == 0) {
        return Err(Error::new(
            Code::FileUnsupported,
            "",
            "the bytes are neither text nor PNG nor ZIP; choose another file",
        ));
    }
    let text = text::decode(bytes, &mut notes);
    let start = js::trim_start(&text);
    if start.is_empty() {
        return Err(Error::new(Code::FileEmpty, "", "the file holds only blanks; choose another"));
    }
    let source = parse_json(&text, &mut notes)?;
    done(Container::Json, None, source, notes)
}

fn picture(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("WebP")
    } else if bytes.starts_with(b"\xFF\xD8\xFF") {
        Some("JPEG")
    } else if bytes.starts_with(b"GIF") {
        Some("GIF")
    } else {
        None
    }
}

/// JSON text with the codes of files.
pub(super) fn parse_json(text: &str, notes: &mut Warnings) -> Result<Value, Error> {
    match js::parse(text) {
        Ok((value, warnings)) => {
            notes.extend(warnings);
            Ok(value)
        }
        Err(error) => {
            let code = if error.code() == Code::JsonTooDeep { Code::FileTooDeep } else { Code::FileBadJson };
            Err(Error::new(code, "", error.message().to_owned()))
        }
    }
}
