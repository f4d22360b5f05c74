//! Bytes -> JSON value: which container they are, and what lies in it (spec 08 §12.1).

use serde_json::Value;

use super::charx::{self, Asset};
use super::chat::{self, Lines};
use super::{Container, png, text, zip};
use crate::error::{Code, Error, Warnings};
use crate::host::Limits;
use crate::js;

/// A container, opened.
pub(super) struct Opened {
    pub(super) container: Container,
    pub(super) chunk: Option<&'static str>,
    /// The JSON as it came; of JSON lines the list of them.
    pub(super) source: Value,
    /// The lines of a chat.
    pub(super) lines: Option<Lines>,
    /// Chats that came along with a card.
    pub(super) chats: Vec<Value>,
    /// Files that came along with a card.
    pub(super) assets: Option<Vec<Asset>>,
    pub(super) notes: Warnings,
}

impl Opened {
    /// A value in a container, and nothing else.
    pub(super) fn new(container: Container, source: Value, notes: Warnings) -> Self {
        Self { container, chunk: None, source, lines: None, chats: Vec::new(), assets: None, notes }
    }
}

/// Opens a file by its bytes.
pub(super) fn open(bytes: &[u8], limits: &Limits) -> Result<Opened, Error> {
    let mut notes = Warnings::default();
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
        let found = png::read(bytes, &mut png::Budget::new(limits), &mut notes)?;
        let container = if found.animated { Container::Apng } else { Container::Png };
        return Ok(Opened { chunk: Some(found.chunk), ..Opened::new(container, found.json, notes) });
    }
    if zip::is_archive(bytes) {
        return charx::open(bytes, limits, notes);
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
    if start.starts_with(['{', '[']) { json_text(&text, notes) } else { yaml_text(&text, notes) }
}

/// JSON, or lines of it.
fn json_text(text: &str, mut notes: Warnings) -> Result<Opened, Error> {
    let error = match parse_json(text, &mut notes) {
        Ok(source) => return Ok(Opened::new(Container::Json, source, notes)),
        Err(error) => error,
    };
    if error.code() == Code::FileTooDeep {
        return Err(error);
    }
    let Some(lines) = chat::lines(text, &mut notes) else { return Err(error) };
    let source = lines.objects.iter().map(|(_, object)| object.clone()).collect();
    Ok(Opened { lines: Some(lines), ..Opened::new(Container::Jsonl, source, notes) })
}

/// A character as text-generation-webui writes it (spec 08 §7.2), as a flat card.
fn yaml_text(text: &str, notes: Warnings) -> Result<Opened, Error> {
    let value =
        js::parse_yaml(text).map_err(|e| Error::new(Code::FileBadYaml, "", e.message().to_owned()))?;
    let Some(map) = value.as_object() else {
        let what = "the text is neither JSON nor a YAML mapping; choose another file";
        return Err(Error::new(Code::FileUnsupported, "", what));
    };
    if !map.contains_key("name") || !(map.contains_key("context") || map.contains_key("greeting")) {
        return Err(super::shape::unknown(map));
    }
    let given = |key: &str| map.get(key).cloned().unwrap_or_else(|| "".into());
    let source = js::object(vec![
        ("name", given("name")),
        ("description", given("context")),
        ("personality", "".into()),
        ("scenario", "".into()),
        ("first_mes", given("greeting")),
        ("mes_example", given("example_dialogue")),
    ]);
    Ok(Opened::new(Container::Yaml, source.into(), notes))
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
