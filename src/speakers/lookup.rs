//! Text that a user gave -> the character meant by it, for `/trigger` and its like (spec 01 F33).
//!
//! The reference reads `2B` as an index, searches loosely, and lets dice decide when it finds nothing. Here: the exact name, then a
//! spelling of it, an alias, an id, an index; anything else is an error.

use super::view::named;
use crate::error::{Code, Error};
use crate::js;
use crate::names::{Diacritics, Named, key};
use crate::scene::Scene;

/// Index (in the scene's characters) of the member meant; outside a group, of the character. A number counts from 0 in the list of
/// members. Whoever is no member is found by its id alone, which nobody writes by accident.
pub fn lookup(scene: &Scene, text: &str) -> Result<usize, Error> {
    let wanted = js::trim(text);
    let candidates = named(scene);
    let find = |test: &dyn Fn(&Named) -> bool| candidates.iter().find(|c| test(c)).map(|c| c.id.as_str());
    let found = find(&|c| c.name == wanted).or_else(|| {
        let spelled = key(wanted, Diacritics::Loose);
        let same = |name: &str| key(name, Diacritics::Loose) == spelled;
        find(&|c| same(&c.name))
            .or_else(|| find(&|c| c.aliases.iter().any(|a| same(a))))
            .or_else(|| find(&|c| c.id == wanted))
            .or_else(|| numbered(scene, wanted))
            .or_else(|| scene.character(wanted).map(|c| c.avatar.as_str()))
    });
    found.filter(|_| !wanted.is_empty()).and_then(|id| scene.character_index(id)).ok_or_else(|| {
        let names: Vec<&str> = candidates.iter().map(|c| c.name.as_str()).take(20).collect();
        Error::new(
            Code::SceneUnknown,
            "speaker",
            format!("nobody is called {wanted:?}; use a name, alias, id or index of {}", names.join(", ")),
        )
    })
}

fn numbered<'a>(scene: &'a Scene, text: &str) -> Option<&'a str> {
    let index: usize = text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))?;
    match &scene.group {
        Some(group) => group.members.get(index).map(String::as_str),
        None => scene.characters.get(index).map(|c| c.avatar.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_come_before_ids_and_indices() {
        let character = |avatar: &str, name: &str, alias: &str| json!({"avatar": avatar, "card": {"data": {"name": name}}, "aliases": [alias]});
        let scene = Scene::from_value(&json!({
            "characters": [
                character("z.png", "Zoë", "Z"),
                character("2b.png", "2B", "洛恩的朋友"),
                character("one.png", "1", "x"),
                character("out.png", "Outsider", "y"),
            ],
            "group": {"members": ["one.png", "2b.png", "gone.png", "z.png"], "aliases": {"z.png": ["船长"]}},
        }))
        .unwrap()
        .0;
        for (text, wanted) in [
            ("2B", Some(1)),
            (" ２b ", Some(1)),
            ("zoe", Some(0)),
            ("船长", Some(0)),
            ("洛恩的朋友", Some(1)),
            ("z.png", Some(0)),
            ("1", Some(2)),
            ("0", Some(2)),
            ("3", Some(0)),
            ("2", None),
            ("2x", None),
            ("+1", None),
            ("Outsider", None),
            ("out.png", Some(3)),
            ("", None),
            ("99999999999999999999", None),
        ] {
            let got = lookup(&scene, text);
            assert_eq!(got.as_ref().ok().copied(), wanted, "{text}");
            if let Err(e) = got {
                assert_eq!(e.code(), Code::SceneUnknown);
            }
        }
    }
}
