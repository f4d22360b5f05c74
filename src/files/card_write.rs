//! Card -> card object and card file (spec 08 §12.8): strict in form, with every unknown key in its place.

use serde_json::{Map, Value};

use super::png_write;
use crate::error::{Code, Error};
use crate::js;
use crate::scene::{CardFile, Object, V1_FIELDS};

/// How a card is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardOptions {
    /// Which version the object says it is.
    pub version: CardVersion,
    /// Leave private fields out (`fav`, `chat`), for a file that others get.
    pub sharing: bool,
}

/// The version that a written card declares. Fields of V3 stay in `data` either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CardVersion {
    /// `chara_card_v2`, `2.0`.
    #[default]
    V2,
    /// `chara_card_v3`, `3.0`.
    V3,
}

/// The card object of a file. `card` is a card of any version, as it was read ([`super::ReadFile::source`]) or normalised
/// ([`super::ReadFile::value`]). Known fields get the right type, unknown ones and the order of keys stay.
pub fn card_object(card: &Value, options: CardOptions) -> Result<Value, Error> {
    let Some(object) = card.as_object() else {
        return Err(Error::new(Code::SceneField, "card", "a card must be a JSON object"));
    };
    let (file, _) = CardFile::read(object);
    let (spec, version) = match options.version {
        CardVersion::V2 => ("chara_card_v2", "2.0"),
        CardVersion::V3 => ("chara_card_v3", "3.0"),
    };
    let head = |out: &mut Object| {
        js::put(out, "spec", spec.into());
        js::put(out, "spec_version", version.into());
    };
    let mut out = Map::new();
    let layered = object.get("data").is_some_and(Value::is_object) && !object.contains_key("effective");
    if layered {
        // Keys keep their places; the mirrored texts say what `data` says.
        for (key, value) in object {
            let value = match key.as_str() {
                "spec" => spec.into(),
                "spec_version" => version.into(),
                "data" => Value::Object(file.data.clone()),
                mirrored if V1_FIELDS.contains(&mirrored) => file.text(mirrored).into(),
                _ => value.clone(),
            };
            js::put(&mut out, key, value);
        }
        head(&mut out);
    } else {
        head(&mut out);
        js::put(&mut out, "data", Value::Object(file.data.clone()));
        out.extend(file.top.clone());
    }
    if options.sharing {
        strip_private(&mut out);
    }
    Ok(Value::Object(out))
}

/// Favourites and the name of the owner's chat are nobody else's business.
fn strip_private(card: &mut Object) {
    card.shift_remove("fav");
    card.shift_remove("chat");
    let extensions =
        card.get_mut("data").and_then(|d| d.get_mut("extensions")).and_then(Value::as_object_mut);
    if let Some(extensions) = extensions {
        extensions.shift_remove("fav");
    }
}

/// JSON text of a card, indented by four spaces.
pub fn write_card_json(card: &Value, options: CardOptions) -> Result<String, Error> {
    Ok(js::stringify_pretty(&card_object(card, options)?, 4))
}

/// The picture with the card in it, as V2 (`chara`) and as V3 (`ccv3`); `options.version` has no say here. All other chunks
/// are kept byte for byte.
pub fn write_card_png(picture: &[u8], card: &Value, options: CardOptions) -> Result<Vec<u8>, Error> {
    let text =
        |version| Ok::<_, Error>(js::stringify(&card_object(card, CardOptions { version, ..options })?));
    let (v2, v3) = (text(CardVersion::V2)?, text(CardVersion::V3)?);
    png_write::replace(picture, &[("chara", &v2), ("ccv3", &v3)])
}
