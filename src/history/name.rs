//! Names on messages: as a prefix of the text or as a field (spec 02 §5, 01 §10.1).

use crate::profile::{PROMPT_NAMES, Profile};
use crate::scene::{ChatMessage, Preset};

/// `names_behavior`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Nowhere.
    None,
    /// In front of the text where the role does not tell who it is.
    Default,
    /// In the `name` field.
    Completion,
    /// In front of every text.
    Content,
}

impl Names {
    /// The setting of a preset; unknown values are `None`.
    pub fn of(preset: &Preset) -> Self {
        match preset.number("names_behavior", 0.0) {
            0.0 => Self::Default,
            1.0 => Self::Completion,
            2.0 => Self::Content,
            _ => Self::None,
        }
    }

    /// Whether `name: ` goes in front of a message. `char` is the single chat's character.
    pub fn prefixes(
        self,
        message: &ChatMessage,
        user: &str,
        char: &str,
        in_group: bool,
        profile: &Profile,
    ) -> bool {
        let forced = message.force_avatar.as_ref().is_some_and(crate::js::to_boolean);
        let narrator = message.is_narrator();
        let stranger = message.name != user;
        if !profile.on(&PROMPT_NAMES) {
            return match self {
                Self::None | Self::Completion => false,
                Self::Default => (in_group && stranger) || (forced && stranger && !narrator),
                Self::Content => !narrator,
            };
        }
        if narrator || message.name.is_empty() {
            return false;
        }
        match self {
            Self::None => false,
            // A field that would lose letters falls back to the text (spec 02 F-25).
            Self::Completion => wire_name(&message.name) != message.name,
            Self::Default if in_group => stranger,
            // Alone, each role has one owner; anyone else is named (spec 02 F-27).
            Self::Default => message.name != if message.is_user { user } else { char },
            Self::Content => true,
        }
    }
}

/// A name as the `name` field takes it: 1 to 64 of `[A-Za-z0-9_]`; every other UTF-16 unit is an underscore.
pub fn wire_name(name: &str) -> String {
    name.encode_utf16()
        .map(|unit| u8::try_from(unit).ok().map_or('_', char::from))
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .take(64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_take_ascii_only() {
        // Spec 02 §5, 01 §10.1 [run].
        for (name, want) in [
            ("Al-ice O'Brien", "Al_ice_O_Brien"),
            ("艾莉丝 Ü!", "______"),
            ("😀x", "__x"),
            ("塞拉菲娜", "____"),
            ("Zoë", "Zo_"),
            ("Mary Anne", "Mary_Anne"),
            ("", ""),
        ] {
            assert_eq!(wire_name(name), want);
        }
        assert_eq!(wire_name(&"a".repeat(70)).len(), 64);
    }
}
