//! The lists of names that macros insert: `{{group}}`, `{{groupNotMuted}}`, `{{notChar}}` (spec 01 §9, spec 04 §2.1).

use crate::profile::{self, Profile};
use crate::scene::{Character, Scene};

/// Names joined with `, `.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// All members, muted ones too; outside a group the character.
    pub group: String,
    /// Members that are not muted; outside a group the character.
    pub group_not_muted: String,
    /// Everyone but the character; outside a group the user.
    pub not_char: String,
    /// The same without muted members (spec 01 F22).
    pub not_char_not_muted: String,
}

/// The lists as the character `speaker` (an id) named `name` sees them. Its name may be another than the card's, and is empty between
/// two turns of a group.
pub fn lists(scene: &Scene, speaker: Option<&str>, name: &str, profile: &Profile) -> Lists {
    let user = scene.persona.name.as_str();
    let Some(group) = &scene.group else {
        return Lists {
            group: name.to_owned(),
            group_not_muted: name.to_owned(),
            not_char: user.to_owned(),
            not_char_not_muted: user.to_owned(),
        };
    };
    let members: Vec<(&Character, bool)> =
        group.members.iter().filter_map(|id| Some((scene.character(id)?, group.is_muted(id)))).collect();
    let right = profile.on(&profile::SPEAKERS_NOT_CHAR);
    let other = |c: &Character| match speaker {
        Some(id) if right => c.avatar != id,
        _ => c.name != name,
    };
    let join = |keep: &dyn Fn(&Character, bool) -> bool, last: Option<&str>| {
        let kept = members.iter().filter(|(c, muted)| keep(c, *muted)).map(|(c, _)| c.name.as_str());
        kept.chain(last).collect::<Vec<_>>().join(", ")
    };
    // The older macro engine keeps the contract that the newer one broke.
    let whole = right || !scene.settings.experimental_macro_engine;
    Lists {
        group: join(&|_, _| true, None),
        group_not_muted: join(&|_, muted| !muted, None),
        not_char: join(&|c, muted| (whole || !muted) && other(c), Some(user).filter(|_| whole)),
        not_char_not_muted: join(&|c, muted| !muted && other(c), Some(user)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scene(group: bool, engine: bool) -> Scene {
        let card = |avatar: &str, name: &str| json!({"avatar": avatar, "card": {"data": {"name": name}}});
        Scene::from_value(&json!({
            "characters": [card("a", "Ann"), card("b", "Bob"), card("c", "洛恩"), card("d", "Bob")],
            "group": group.then(|| json!({"members": ["a", "b", "c", "gone", "d"], "disabled_members": ["c"]})),
            "persona": {"name": "User"},
            "settings": {"power_user": {"experimental_macro_engine": engine}},
        }))
        .unwrap()
        .0
    }

    #[test]
    fn of_a_group() {
        let got = lists(&scene(true, true), Some("b"), "Bob", &Profile::sillytavern());
        assert_eq!(got.group, "Ann, Bob, 洛恩, Bob");
        assert_eq!(got.group_not_muted, "Ann, Bob, Bob");
        assert_eq!(got.not_char, "Ann");
        let got = lists(&scene(true, false), Some("b"), "Bob", &Profile::sillytavern());
        assert_eq!(got.not_char, "Ann, 洛恩, User");
        let got = lists(&scene(true, true), Some("b"), "Bob", &Profile::promptside());
        assert_eq!(got.not_char, "Ann, 洛恩, Bob, User");
        assert_eq!(got.not_char_not_muted, "Ann, Bob, User");
    }

    #[test]
    fn of_a_single_chat() {
        for profile in [Profile::sillytavern(), Profile::promptside()] {
            let got = lists(&scene(false, true), Some("a"), "Ann", &profile);
            assert_eq!([got.group, got.group_not_muted, got.not_char], ["Ann", "Ann", "User"]);
        }
    }
}
