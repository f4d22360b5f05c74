//! A card and its assets -> a CHARX archive (spec 08 §3.1).

use indexmap::IndexSet;
use serde_json::Value;

use super::card_write::{CardOptions, CardVersion, card_object};
use super::charx::normal_path;
use super::zip::Archive;
use super::zip_write::{self, Packed};
use crate::error::{Code, Error};
use crate::host::Limits;
use crate::js;

/// A new archive: `card.json`, then the assets under their paths (as in `embeded://path`). The card is written as V3, which this
/// container is made for; `options.version` has no say here.
pub fn write_charx(card: &Value, assets: &[(&str, &[u8])], options: CardOptions) -> Result<Vec<u8>, Error> {
    let mut entries = vec![card_entry(card, options)?];
    let mut names = IndexSet::from(["card.json".to_owned()]);
    for (path, bytes) in assets {
        let name = normal_path(path).filter(|name| names.insert(name.clone()));
        let Some(name) = name else {
            let what = format!("the path `{path}` is empty, leads out of the archive, or occurs twice");
            return Err(Error::new(Code::SceneField, "assets", what));
        };
        // Pictures and sound are compressed already.
        entries.push(Packed::new(&name, bytes.to_vec(), false));
    }
    zip_write::write(&entries)
}

/// The archive with another card: every other entry stays as it is packed, byte for byte. What stood in front of the archive (a
/// picture) is gone.
pub fn write_charx_into(
    archive: &[u8],
    card: &Value,
    options: CardOptions,
    limits: &Limits,
) -> Result<Vec<u8>, Error> {
    let archive = Archive::open(archive, limits)?;
    let mut entries = vec![card_entry(card, options)?];
    let mut names = IndexSet::from(["card.json".to_owned()]);
    for index in 0..archive.entries.len() {
        let packed = archive.packed(index)?;
        if names.insert(packed.name.clone()) {
            entries.push(packed);
        }
    }
    zip_write::write(&entries)
}

fn card_entry(card: &Value, options: CardOptions) -> Result<Packed, Error> {
    let card = card_object(card, CardOptions { version: CardVersion::V3, ..options })?;
    Ok(Packed::new("card.json", js::stringify_pretty(&card, 4).into_bytes(), true))
}
