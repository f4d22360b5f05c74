//! Names for xAI: only users may carry the field (spec 06 §4.7).

use super::config::{Fixes, Names};
use super::item::Item;
use crate::error::Error;

/// Turns the names of everyone but users into labels.
pub(super) fn convert(list: &mut [Item], names: &Names, fixes: Fixes) -> Result<(), Error> {
    for item in list.iter_mut().filter(|i| !i.is("user")) {
        let Some(name) = item.name().map(str::to_owned) else {
            if fixes.names {
                item.take("name");
            }
            continue;
        };
        if item.is("assistant") {
            match names.display(&name) {
                // Another member's line must not get the speaker's label (F18).
                own if fixes.names => {
                    item.label_once(own, fixes)?;
                }
                _ => item.label_char(names, fixes)?,
            }
        } else {
            item.label_example(names, fixes)?;
        }
        item.take("name");
    }
    Ok(())
}
