//! Bytes <-> scene: what a user drops on the page in, one value of a known kind out, and back (spec 08).
//!
//! Tolerant in: the container is found by its bytes, never by the file's name; wrong types are repaired and reported. Strict out:
//! what is written is what the formats ask for, with every unknown field in its place.
//! Files are read one way in both profiles: the reference's faults with files (spec 08 Part 2) are put right in each.
//!
//! Knows nothing of turns; never touches a file system; nothing a file says makes it allocate more than [`Limits`] allow.

mod base64;
mod card;
mod card_write;
mod crc;
mod kinds;
mod open;
mod png;
mod png_write;
mod shape;
mod text;

use serde_json::{Map, Value, json};

pub use card_write::{CardOptions, CardVersion, card_object, write_card_json, write_card_png};
pub use kinds::{Container, Kind};

use crate::error::{Code, Error, Warning, Warnings};
use crate::host::Limits;
use crate::scene::read_book;

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadFile {
    /// What it is.
    pub kind: Kind,
    /// What it came in.
    pub container: Container,
    /// The keyword of the PNG text chunk it came from: `ccv3` or `chara`.
    pub chunk: Option<&'static str>,
    /// The normalised value (spec 08 §12.5).
    pub value: Value,
    /// The JSON as it stands in the file, for writing it back without loss.
    pub source: Value,
    /// What was repaired or ignored.
    pub warnings: Vec<Warning>,
}

impl ReadFile {
    /// As JavaScript gets it: `{kind, container, chunk?, card | chat | …, warnings}`.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        out.insert("kind".to_owned(), json!(self.kind.as_str()));
        out.insert("container".to_owned(), json!(self.container.as_str()));
        out.extend(self.chunk.map(|c| ("chunk".to_owned(), json!(c))));
        out.insert(self.kind.field().to_owned(), self.value.clone());
        let warnings =
            self.warnings.iter().map(|w| json!({"code": w.code, "path": w.path, "message": w.message}));
        out.insert("warnings".to_owned(), warnings.collect());
        Value::Object(out)
    }
}

/// Reads a file of any kind. `want` is the kind the caller needs; another one is the error `file.wrong-kind`.
pub fn read(bytes: &[u8], want: Option<Kind>, limits: &Limits) -> Result<ReadFile, Error> {
    let opened = open::open(bytes, limits)?;
    let kind = shape::kind(&opened)?;
    if let Some(want) = want.filter(|want| *want != kind) {
        let what =
            format!("this file is a {}, not a {}; import it as what it is", kind.as_str(), want.as_str());
        return Err(Error::new(Code::FileWrongKind, "", what));
    }
    let mut notes = Warnings::default();
    notes.extend(opened.warnings);
    let value = match kind {
        Kind::Card => card::read(&opened.source, &mut notes),
        Kind::Lorebook => match opened.source.as_object() {
            Some(book) => read_book(book, "", &mut notes),
            None => Value::Null,
        },
        Kind::Prompts => opened.source.get("data").cloned().unwrap_or_default(),
        _ => opened.source.clone(),
    };
    Ok(ReadFile {
        kind,
        container: opened.container,
        chunk: opened.chunk,
        value,
        source: opened.source,
        warnings: notes.into_list(),
    })
}

/// Base64 as card files hold it: standard or URL-safe alphabet, padding or none, blanks anywhere.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    base64::decode(text.as_bytes())
}

/// Base64 with padding, in one line.
pub fn encode_base64(bytes: &[u8]) -> String {
    base64::encode(bytes).into_iter().map(char::from).collect()
}
