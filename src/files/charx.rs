//! What lies in an archive: a card with assets (CHARX), a Backyard archive, or one card picture (spec 08 §12.3).

use serde_json::Value;

use super::open::{Opened, parse_json};
use super::zip::Archive;
use super::{Container, byaf, png, text};
use crate::error::{Code, Error, Warnings};
use crate::host::Limits;
use crate::js;

/// A file that a card brings along.
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    /// `icon`, `emotion`, `background` …, in lower case.
    pub kind: String,
    /// Its name, such as `main`.
    pub name: String,
    /// File extension in lower case, without the dot.
    pub ext: String,
    /// Entry of the archive; `None` when the card points elsewhere or out of the archive.
    pub path: Option<String>,
    /// Bytes when unpacked; `None` when there is no such entry.
    pub size: Option<u64>,
}

impl Asset {
    /// As JavaScript gets it.
    pub fn to_value(&self) -> Value {
        Value::Object(js::object(vec![
            ("type", self.kind.as_str().into()),
            ("name", self.name.as_str().into()),
            ("ext", self.ext.as_str().into()),
            ("path", self.path.clone().into()),
            ("size", self.size.into()),
        ]))
    }
}

/// Opens an archive.
pub(super) fn open(bytes: &[u8], limits: &Limits, mut notes: Warnings) -> Result<Opened, Error> {
    let mut archive = Archive::open(bytes, limits)?;
    if let Some((index, nested)) = find_card(&archive) {
        if nested {
            let path = archive.entries.get(index).map_or("", |e| e.name.as_str()).to_owned();
            notes.add("zip-nested-card", || path, "the card does not lie at the root of the archive");
        }
        let source = read_json(&mut archive, index, limits.inflated_bytes, &mut notes)?;
        if !source.is_object() {
            return Err(Error::new(
                Code::FileNotAnObject,
                "card.json",
                "the card is no JSON object; export it again",
            ));
        }
        let assets = list_assets(&archive, &source, &mut notes);
        return Ok(Opened { assets: Some(assets), ..Opened::new(Container::Charx, source, notes) });
    }
    if let Some(manifest) = archive.find("manifest.json") {
        let manifest = read_json(&mut archive, manifest, limits.inflated_bytes, &mut notes)?;
        let (source, chats) = byaf::read(&mut archive, &manifest, limits, &mut notes)?;
        return Ok(Opened { chats, ..Opened::new(Container::Byaf, source, notes) });
    }
    picture(&mut archive, limits, notes)
}

/// `card.json` at the root, else the shallowest one; whether it was nested.
fn find_card(archive: &Archive<'_>) -> Option<(usize, bool)> {
    if let Some(root) = archive.find("card.json") {
        return Some((root, false));
    }
    let nested =
        archive.entries.iter().enumerate().filter(|(_, e)| {
            e.name.ends_with("/card.json") && !e.name.split('/').any(|part| part == "__MACOSX")
        });
    nested.min_by_key(|(_, e)| e.name.matches('/').count()).map(|(index, _)| (index, true))
}

/// The JSON of an entry, at most `limit` bytes of it.
pub(super) fn read_json(
    archive: &mut Archive<'_>,
    index: usize,
    limit: usize,
    notes: &mut Warnings,
) -> Result<Value, Error> {
    let bytes = archive.read(index, limit)?;
    let name = archive.entries.get(index).map_or("", |e| e.name.as_str());
    let text = text::decode(&bytes, notes);
    parse_json(&text, notes).map_err(|e| e.under(name))
}

/// The one picture of the archive that holds a card.
fn picture(archive: &mut Archive<'_>, limits: &Limits, mut notes: Warnings) -> Result<Opened, Error> {
    let names = archive.entries.iter().enumerate();
    let pictures: Vec<usize> = names.filter(|(_, e)| is_png(&e.name)).map(|(index, _)| index).collect();
    let (mut found, mut unread) = (Vec::new(), None);
    let mut budget = png::Budget::new(limits);
    for index in pictures {
        // Two are too many already.
        if found.len() > 1 {
            break;
        }
        let bytes = match archive.read(index, limits.zip_bytes) {
            Ok(bytes) => bytes,
            Err(error) => {
                unread.get_or_insert(error);
                continue;
            }
        };
        let mut own = Warnings::default();
        if bytes.starts_with(png::SIGNATURE)
            && let Ok(card) = png::read(&bytes, &mut budget, &mut own)
        {
            found.push((index, card, own));
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some((index, card, own)), true) => {
            let path = archive.entries.get(index).map_or("", |e| e.name.as_str()).to_owned();
            notes.add("zip-png-fallback", || path, "the card was taken from a picture in the archive");
            notes.extend(own.into_list());
            Ok(Opened { chunk: Some(card.chunk), ..Opened::new(Container::Zip, card.json, notes) })
        }
        (None, _) => Err(unread.unwrap_or_else(|| no_card("no"))),
        (Some(_), _) => Err(no_card("several")),
    }
}

fn is_png(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ext)| ext.eq_ignore_ascii_case("png"))
}

fn no_card(pictures: &str) -> Error {
    let what = format!(
        "the archive has no card.json, no manifest.json and {pictures} card pictures, where one is needed"
    );
    Error::new(Code::FileZipNoCard, "", what)
}

fn list_assets(archive: &Archive<'_>, card: &Value, notes: &mut Warnings) -> Vec<Asset> {
    let list = card.pointer("/data/assets").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut assets = Vec::new();
    for (i, asset) in list.iter().enumerate().filter(|(_, a)| a.is_object()) {
        let text = |key: &str| asset.get(key).and_then(Value::as_str).unwrap_or("");
        let at = || format!("data.assets[{i}].uri");
        let path = match embedded(text("uri")) {
            None => None,
            Some(path) => {
                let path = normal_path(path);
                if path.is_none() {
                    notes.add("asset-bad-path", at, "the path leads out of the archive");
                }
                path
            }
        };
        let entry = path.as_ref().and_then(|p| archive.find(p)).and_then(|i| archive.entries.get(i));
        if path.is_some() && entry.is_none() {
            notes.add("asset-missing", at, "the archive has no such entry");
        }
        assets.push(Asset {
            kind: js::lower(text("type")),
            name: text("name").to_owned(),
            ext: js::lower(text("ext").trim_start_matches('.')),
            size: entry.map(|e| e.size),
            path,
        });
    }
    assets
}

/// The path of an address that points into the archive.
pub(super) fn embedded(uri: &str) -> Option<&str> {
    ["embeded://", "embedded://", "__asset:"].iter().find_map(|prefix| {
        let head = uri.get(..prefix.len())?;
        head.eq_ignore_ascii_case(prefix).then(|| uri.get(prefix.len()..)).flatten()
    })
}

/// An entry's path: `/` between parts, no empty or `.` part, `..` resolved. `None` when it climbs above the root or names nothing.
pub(super) fn normal_path(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}
