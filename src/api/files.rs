//! Files in and out: bytes beside JSON parameters (`docs/files.md`).

use serde_json::{Value, json};

use super::options::set_limit;
use crate::error::{Code, Error};
use crate::files::{self, CardOptions, CardVersion, ChatNames, Kind, ReadOptions};
use crate::host::Limits;
use crate::js;

/// A free function that takes a file.
pub fn call_bytes(method: &str, bytes: &[u8], parameters: &str) -> Result<String, Error> {
    let (value, _) = js::parse(parameters)?;
    match method {
        "detectFile" => {
            let (kind, container) = files::detect(bytes, &limits(&value)?)?;
            Ok(js::stringify(&json!({"kind": kind.as_str(), "container": container.as_str()})))
        }
        "readFile" => {
            let want = if value.get("want").is_some() { Some(kind(&value, "want")?) } else { None };
            let options = ReadOptions { want, names: names(&value), limits: limits(&value)? };
            let read = files::read_with(bytes, &options)?;
            let mut out = read.to_value();
            if let (Some(out), true) = (out.as_object_mut(), flag(&value, "source")) {
                js::put(out, "source", read.source);
            }
            Ok(js::stringify(&out))
        }
        other => Err(unknown(other)),
    }
}

/// A free function that takes a file, where it needs one, and gives one; `None`: there is no such file.
pub fn write_bytes(method: &str, bytes: &[u8], parameters: &str) -> Result<Option<Vec<u8>>, Error> {
    let (value, _) = js::parse(parameters)?;
    let version = match value.get("version").and_then(Value::as_u64) {
        None | Some(2) => CardVersion::V2,
        Some(3) => CardVersion::V3,
        Some(n) => return Err(Error::new(Code::OptionUnknown, "version", format!("no version {n}: 2 or 3"))),
    };
    let options = CardOptions { version, sharing: flag(&value, "sharing") };
    let card = value.get("card").unwrap_or(&Value::Null);
    match method {
        "writeCard" if bytes.is_empty() => files::write_card_json(card, options).map(String::into_bytes),
        // Told from the bytes, as everywhere; what is neither is refused as no picture.
        "writeCard" if bytes.starts_with(b"PK") || bytes.starts_with(b"\xFF\xD8\xFF") => {
            files::write_charx_into(bytes, card, options, &limits(&value)?)
        }
        "writeCard" => files::write_card_png(bytes, card, options),
        "writeCharx" => files::write_charx(card, &assets(bytes, &value)?, options),
        "writeFile" => write_file(&value, options),
        "extractAsset" => {
            let address = value.get("address").and_then(Value::as_str).unwrap_or_default();
            return files::extract(bytes, address, &limits(&value)?);
        }
        other => Err(unknown(other)),
    }
    .map(Some)
}

fn unknown(method: &str) -> Error {
    Error::new(Code::OptionUnknown, "method", format!("there is no function {method:?}"))
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}

fn kind(value: &Value, key: &str) -> Result<Kind, Error> {
    let name = value.get(key).and_then(Value::as_str).unwrap_or_default();
    Kind::from_name(name)
        .ok_or_else(|| Error::new(Code::OptionUnknown, key, format!("no kind of file is called {name:?}")))
}

fn names(value: &Value) -> ChatNames {
    let mut names = ChatNames::default();
    let given =
        |key: &str| value.pointer(&format!("/names/{key}")).and_then(Value::as_str).map(str::to_owned);
    names.user = given("user").unwrap_or(names.user);
    names.character = given("character").unwrap_or(names.character);
    names
}

fn limits(value: &Value) -> Result<Limits, Error> {
    let mut limits = Limits::default();
    for (name, bound) in value.get("limits").and_then(Value::as_object).into_iter().flatten() {
        let bound = bound.as_u64().ok_or_else(|| {
            Error::new(Code::OptionUnknown, format!("limits.{name}"), "a limit is a whole number from 0 on")
        })?;
        set_limit(&mut limits, name, bound)?;
    }
    Ok(limits)
}

/// The assets of a new archive: `assets` is `[{path, size}]`, their bytes follow one another.
fn assets<'a>(mut bytes: &'a [u8], value: &'a Value) -> Result<Vec<(&'a str, &'a [u8])>, Error> {
    let wrong = || Error::new(Code::SceneField, "assets", "an asset has a path and bytes");
    let list = value.get("assets").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut out = Vec::new();
    for asset in list {
        let path = asset.get("path").and_then(Value::as_str).ok_or_else(wrong)?;
        let size = asset.get("size").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let (own, rest) = bytes.split_at_checked(size.ok_or_else(wrong)?).ok_or_else(wrong)?;
        out.push((path, own));
        bytes = rest;
    }
    Ok(out)
}

fn write_file(value: &Value, options: CardOptions) -> Result<Vec<u8>, Error> {
    let kind = kind(value, "kind")?;
    let part = value.get("value").unwrap_or(&Value::Null);
    let text = match kind {
        Kind::Card => files::write_card_json(part, options)?,
        Kind::Chat => files::write_chat(part)?,
        Kind::Lorebook if flag(value, "characterBook") => {
            files::write_json(kind, &files::character_book(part)?, options.sharing)
        }
        Kind::Lorebook => files::write_json(kind, &files::world_file(part)?, options.sharing),
        _ => files::write_json(kind, part, options.sharing),
    };
    Ok(text.into_bytes())
}
