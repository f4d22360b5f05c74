//! Author's note, persona and character notes: which of them is due, and where (spec 05 §10-12, 01 §7).

use serde_json::Value;

use super::table::{DEPTH_PROMPT, Injection, Injections, PERSONA, Position};
use crate::js;
use crate::macros::Expander;
use crate::parts::{Origin, OriginKind};
use crate::profile::{PROMPT_INJECTIONS, Profile};
use crate::scene::{Character, Object, Persona, PersonaPosition, Scene};

/// The author's note of this turn.
#[derive(Clone, Debug, PartialEq)]
pub struct AuthorNote {
    /// It is inserted this turn, even if its text is empty.
    pub due: bool,
    /// The text, the character's note merged in.
    pub text: String,
    /// Where it goes.
    pub position: Position,
    /// Messages behind it.
    pub depth: f64,
    /// 0 system, 1 user, 2 assistant.
    pub role: i64,
    /// Lorebook keys are looked for in it.
    pub scan: bool,
}

impl AuthorNote {
    /// The note by itself; empty on turns when it is not due.
    pub fn injection(&self) -> Injection {
        let text = if self.due { self.text.clone() } else { String::new() };
        let mut injection = Injection::new(text, self.position, self.depth, self.role);
        injection.scan = self.scan;
        injection
    }
}

/// A setting of the note: the chat's, else the user's default, else the built-in one.
fn setting<'v>(scene: &'v Scene, key: &str, default: &str) -> Option<&'v Value> {
    let own = scene.chat.metadata.get(key);
    own.or_else(|| scene.settings.extensions.get("note")?.get(default))
}

/// The note of a chat for a speaker.
pub fn author_note(scene: &Scene, speaker: &Character) -> AuthorNote {
    let number = |key: &str, default: &str, built_in: f64| {
        setting(scene, key, default).map_or(built_in, js::value_to_number)
    };
    let chat_note = setting(scene, "note_prompt", "default").and_then(Value::as_str).unwrap_or("");
    let interval = number("note_interval", "defaultInterval", 1.0);
    let sent = scene.chat.messages.iter().filter(|m| m.is_user).count();
    let options = scene.settings.extensions.get("note").and_then(Value::as_object);
    AuthorNote {
        due: is_due(interval, sent),
        text: with_character(options, speaker, chat_note),
        position: Position::from_number(js::to_integer(number("note_position", "defaultPosition", 1.0))),
        depth: number("note_depth", "defaultDepth", 4.0),
        role: js::to_integer(number("note_role", "defaultRole", 0.0)),
        scan: options.and_then(|o| o.get("allowWIScan")).is_some_and(js::to_boolean),
    }
}

/// Every `interval`-th message of the user; 1 is always, 0 and below never (spec 05 §10).
fn is_due(interval: f64, sent: usize) -> bool {
    if (interval - 1.0).abs() < f64::EPSILON {
        return true;
    }
    let sent = f64::from(u32::try_from(sent).unwrap_or(u32::MAX));
    sent > 0.0 && interval > 0.0 && sent >= interval && sent % interval == 0.0
}

/// The character's own note replaces, precedes or follows the chat's.
fn with_character(options: Option<&Object>, speaker: &Character, note: &str) -> String {
    let name = speaker.avatar.rsplit_once('.').map_or(speaker.avatar.as_str(), |(stem, _)| stem);
    let own = options
        .and_then(|o| o.get("chara")?.as_array())
        .and_then(|list| list.iter().find(|c| c.get("name").is_some_and(|n| n == name)))
        .filter(|c| c.get("useChara").is_some_and(js::to_boolean));
    let Some(own) = own else { return note.to_owned() };
    let text = own.get("prompt").and_then(Value::as_str).unwrap_or("");
    match own.get("position").and_then(Value::as_i64) {
        Some(1) => format!("{text}\n{note}"),
        Some(2) => format!("{note}\n{text}"),
        _ => text.to_owned(),
    }
}

/// The persona at depth.
pub fn persona(table: &mut Injections, persona: &Persona) {
    if persona.position == PersonaPosition::AtDepth && !persona.description.is_empty() {
        #[expect(clippy::cast_precision_loss, reason = "depths beyond 2^53 are out of range either way")]
        let mut injection =
            Injection::new(persona.description.clone(), Position::InChat, persona.depth as f64, persona.role);
        injection.scan = true;
        injection.pieces =
            vec![(Origin::new(OriginKind::Persona, "description"), persona.description.clone())];
        table.set(PERSONA, injection);
    } else {
        table.remove(PERSONA);
    }
}

/// A role as cards write it: a name or a number; anything else is system.
fn role_number(role: &Value) -> i64 {
    match role {
        Value::String(name) if name == "user" => 1,
        Value::String(name) if name == "assistant" => 2,
        v => match js::value_to_number(v) {
            1.0 => 1,
            2.0 => 2,
            _ => 0,
        },
    }
}

/// Notes of characters at depth: the speaker's, or those of all joined members (spec 01 §7).
///
/// `own` is the speaker's text, already expanded; `scan`: lorebook keys are looked for in notes. The reference joins whenever the mode is not exactly 0, a missing one
/// included; with `prompt.injections` on a missing mode is 0 and the same members count as for the cards.
pub fn character_notes(
    table: &mut Injections,
    scene: &Scene,
    speaker: &Character,
    own: &str,
    scan: bool,
    scope: &mut Expander<'_>,
    profile: &Profile,
) {
    let note = |c: &Character, text: String| {
        #[expect(clippy::cast_precision_loss, reason = "depths beyond 2^53 are out of range either way")]
        let depth = c.depth_prompt.depth as f64;
        let mut injection = Injection::new(text, Position::InChat, depth, role_number(&c.depth_prompt.role));
        injection.scan = scan;
        let origin =
            Origin { character: Some(c.avatar.clone()), ..Origin::new(OriginKind::Card, "depth_prompt") };
        injection.pieces = vec![(origin, injection.value.clone())];
        injection
    };
    let fixed = profile.on(&PROMPT_INJECTIONS);
    let mode = scene.group.as_ref().map(|g| g.generation_mode.as_ref().map_or(f64::NAN, js::value_to_number));
    let strict_zero = scene.group.as_ref().is_some_and(|g| {
        g.generation_mode.as_ref().is_some_and(|v| v.as_f64() == Some(0.0))
            || (fixed && !g.generation_mode.as_ref().is_some_and(js::to_boolean))
    });
    let mut found = 0;
    if let (Some(group), Some(mode), false) = (&scene.group, mode, strict_zero) {
        for id in &group.members {
            let Some(member) = scene.character(id) else { continue };
            let muted = group.is_muted(id) && *id != speaker.avatar;
            if muted && !(fixed && mode > 1.0) {
                continue;
            }
            let text = scope.card_text(js::trim(&member.depth_prompt.prompt), &member.name);
            if !text.is_empty() {
                table.set(format!("{DEPTH_PROMPT}_{found}"), note(member, text));
                found += 1;
            }
        }
    }
    if found == 0 && !own.is_empty() {
        table.set(DEPTH_PROMPT, note(speaker, own.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_due_by_interval() {
        // Spec 05 §10 [run].
        let due = |interval: f64| (0..=8).filter(|u| is_due(interval, *u)).collect::<Vec<_>>();
        assert_eq!(due(1.0), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(due(2.0), [2, 4, 6, 8]);
        assert_eq!(due(3.0), [3, 6]);
        assert!(due(0.0).is_empty());
        assert!(due(-2.0).is_empty());
    }

    #[test]
    fn roles_by_name_or_number() {
        let n = |v: Value| role_number(&v);
        assert_eq!(n("user".into()), 1);
        assert_eq!(n(2.into()), 2);
        assert_eq!(n("Narrator".into()), 0);
    }
}
