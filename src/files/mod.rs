//! Bytes <-> scene: what a user drops on the page in, one value of a known kind out, and back (spec 08).
//!
//! Tolerant in: the container is found by its bytes, never by the file's name; wrong types are repaired and reported. Strict out:
//! what is written is what the formats ask for, with every unknown field in its place.
//! Files are read one way in both profiles: the reference's faults with files (spec 08 Part 2) are put right in each.
//!
//! Knows nothing of turns; never touches a file system; nothing a file says makes it allocate more than [`Limits`] allow.

mod base64;
mod book_write;
mod byaf;
mod card;
mod card_write;
mod charx;
mod charx_write;
mod chat;
mod crc;
mod dates;
mod foreign_chat;
mod kinds;
mod open;
mod png;
mod png_write;
mod preset;
mod records;
mod shape;
mod text;
mod write;
mod zip;
mod zip_write;

use serde_json::{Map, Value};

pub use base64::decode as base64;
pub use book_write::{character_book, world_file};
pub use card_write::{CardOptions, CardVersion, card_object, write_card_json, write_card_png};
pub use charx::Asset;
pub use charx_write::{write_charx, write_charx_into};
pub use kinds::{Container, Kind};
pub use records::migrate_group;
pub use write::{write_chat, write_json};

use crate::error::{Code, Error, Warning, Warnings};
use crate::host::Limits;
use crate::js;
use crate::scene::{Object, read_book};
use open::Opened;

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadFile {
    /// What it is.
    pub kind: Kind,
    /// What it came in.
    pub container: Container,
    /// The keyword of the PNG text chunk it came from: `ccv3` or `chara` (`naidata` for a lorebook).
    pub chunk: Option<&'static str>,
    /// The normalised value (spec 08 §12.5).
    pub value: Value,
    /// All chats of a file of another frontend, or those that came along with a card.
    pub chats: Vec<Value>,
    /// Sections of a combined preset.
    pub sections: Option<Vec<&'static str>>,
    /// Files that came along with a card; [`extract`] gives their bytes.
    pub assets: Option<Vec<Asset>>,
    /// The JSON as it stands in the file, for writing it back without loss; of JSON lines the list of objects.
    pub source: Value,
    /// What was repaired or ignored.
    pub warnings: Vec<Warning>,
}

impl ReadFile {
    /// As JavaScript gets it: `{kind, container, chunk?, card | chat | …, chats?, sections?, assets?, warnings}`.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut set = |key: &str, value: Value| js::put(&mut out, key, value);
        set("kind", self.kind.as_str().into());
        set("container", self.container.as_str().into());
        if let Some(chunk) = self.chunk {
            set("chunk", chunk.into());
        }
        set(self.kind.field(), self.value.clone());
        if !self.chats.is_empty() {
            set("chats", self.chats.clone().into());
        }
        if let Some(sections) = &self.sections {
            set("sections", sections.clone().into());
        }
        if let Some(assets) = &self.assets {
            set("assets", assets.iter().map(Asset::to_value).collect());
        }
        let warnings = self.warnings.iter().map(warning_value);
        set("warnings", warnings.collect());
        Value::Object(out)
    }
}

fn warning_value(warning: &Warning) -> Value {
    let [code, path, message] = [&*warning.code, &warning.path, &warning.message].map(Value::from);
    Value::Object(js::object(vec![("code", code), ("path", path), ("message", message)]))
}

/// Names for chats of other frontends that name nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatNames {
    /// Default `User`.
    pub user: String,
    /// Default `Character`.
    pub character: String,
}

impl Default for ChatNames {
    fn default() -> Self {
        Self { user: "User".to_owned(), character: "Character".to_owned() }
    }
}

impl ChatNames {
    fn of(&self, is_user: bool) -> &str {
        if is_user { &self.user } else { &self.character }
    }
}

/// How a file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The kind that the caller needs; another one is the error `file.wrong-kind`.
    pub want: Option<Kind>,
    /// Names for chats that name nobody.
    pub names: ChatNames,
    /// Bounds on size.
    pub limits: Limits,
}

/// Reads a file of any kind.
pub fn read(bytes: &[u8], want: Option<Kind>, limits: &Limits) -> Result<ReadFile, Error> {
    read_with(bytes, &ReadOptions { want, limits: limits.clone(), ..ReadOptions::default() })
}

/// Reads a file of any kind, with options.
pub fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<ReadFile, Error> {
    let opened = open_for(bytes, options)?;
    let kind = shape::kind(&opened)?;
    if let Some(want) = options.want.filter(|want| *want != kind) {
        let what =
            format!("the file is a {}, not a {}; import it as what it is", kind.as_str(), want.as_str());
        return Err(Error::new(Code::FileWrongKind, "", what));
    }
    Ok(normalise(kind, opened, &options.names))
}

/// What a file is and what it came in, without reading further.
pub fn detect(bytes: &[u8], limits: &Limits) -> Result<(Kind, Container), Error> {
    let opened = open::open(bytes, limits)?;
    Ok((shape::kind(&opened)?, opened.container))
}

/// Opens a file; when a lorebook is wanted, a picture may hold one of NovelAI.
fn open_for(bytes: &[u8], options: &ReadOptions) -> Result<Opened, Error> {
    let error = match open::open(bytes, &options.limits) {
        Ok(opened) => return Ok(opened),
        Err(error) => error,
    };
    if error.code() == Code::FileNoCardData && options.want == Some(Kind::Lorebook) {
        let mut notes = Warnings::default();
        if let Ok(found) = png::find(bytes, &["naidata"], &mut png::Budget::new(&options.limits), &mut notes)
        {
            return Ok(Opened { chunk: Some(found.chunk), ..Opened::new(Container::Png, found.json, notes) });
        }
    }
    Err(error)
}

fn normalise(kind: Kind, opened: Opened, names: &ChatNames) -> ReadFile {
    let Opened { mut container, chunk, source, lines, chats, assets, mut notes } = opened;
    let empty = Object::new();
    let object = source.as_object().unwrap_or(&empty);
    let typed = |chats: &[Value], notes: &mut Warnings| -> Vec<Value> {
        chats.iter().enumerate().map(|(i, c)| chat::typed(c, &format!("chats[{i}]"), notes)).collect()
    };
    let mut chats = typed(&chats, &mut notes);
    let mut sections = None;
    let value = match kind {
        Kind::Card => card::read(&source, &mut notes),
        Kind::Lorebook => read_book(object, "", &mut notes),
        Kind::Group => records::group(object, &mut notes),
        Kind::Personas => records::personas(object, &mut notes),
        Kind::Regex => records::regex(&source, &mut notes),
        Kind::Chat => match (lines, foreign_chat::chats(object, names, &mut notes)) {
            (Some(lines), _) => chat::from_lines(&lines, &mut notes),
            (None, Some(foreign)) => {
                chats = typed(&foreign, &mut notes);
                chats.first().cloned().unwrap_or_else(|| chat::chat(Object::new().into(), Vec::new()))
            }
            (None, None) => {
                container = Container::Jsonl;
                let line = chat::Lines { objects: vec![(1, source.clone())], header_lost: false };
                chat::from_lines(&line, &mut notes)
            }
        },
        _ => {
            let (preset, names) = preset::read(kind, object, &mut notes);
            sections = names;
            preset
        }
    };
    ReadFile { kind, container, chunk, value, chats, sections, assets, source, warnings: notes.into_list() }
}

/// The bytes of a file that a card brings along, by the address that the card gives or by the path of [`Asset`]: an entry of a
/// CHARX archive, a `chara-ext-asset_` chunk of a PNG, or a base64 `data:` address. `None` when there is no such file.
pub fn extract(bytes: &[u8], address: &str, limits: &Limits) -> Result<Option<Vec<u8>>, Error> {
    if let Some(data) = address.strip_prefix("data:") {
        return Ok(data.split_once(";base64,").and_then(|(_, text)| base64::decode(text.as_bytes())));
    }
    let Some(path) = charx::normal_path(charx::embedded(address).unwrap_or(address)) else { return Ok(None) };
    if bytes.starts_with(png::SIGNATURE) {
        return Ok(png::asset(bytes, &path));
    }
    let mut archive = zip::Archive::open(bytes, limits)?;
    match archive.find(&path) {
        Some(index) => archive.read(index, limits.zip_bytes).map(Some),
        None => Ok(None),
    }
}

/// Base64 as card files hold it: standard or URL-safe alphabet, padding or none, blanks anywhere.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    base64::decode(text.as_bytes())
}

/// Base64 with padding, in one line.
pub fn encode_base64(bytes: &[u8]) -> String {
    base64::encode(bytes).into_iter().map(char::from).collect()
}
