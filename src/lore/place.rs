//! Active entries -> injected texts: lines around the author's note, texts at depth (spec 05 §10, §13).

use super::LoreResult;
use crate::history::Piece;
use crate::injections::{AUTHOR_NOTE, AuthorNote, Injection, Injections, Position};
use crate::js;
use crate::parts::{Origin, OriginKind};
use crate::profile::{PROMPT_INJECTIONS, Profile};
use crate::scene::{Persona, PersonaPosition};

/// Puts the lorebook's lines and the persona around the note and registers it (spec 05 §10, §11).
///
/// The reference drops both on turns when the note is not due; with `prompt.injections` on they stand there without it.
pub fn merge_lore(
    table: &mut Injections,
    note: &AuthorNote,
    lore: &LoreResult,
    persona: &Persona,
    profile: &Profile,
) {
    let own = |text: &str| (Origin::new(OriginKind::Ext, AUTHOR_NOTE), text.to_owned());
    let always = profile.on(&PROMPT_INJECTIONS);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut text = String::new();
    if note.due {
        text.clone_from(&note.text);
        pieces.push(own(&note.text));
    }
    if (note.due || always) && lore.scanned {
        let line = |place: &str, entry: &String| {
            (Origin::new(OriginKind::Lore, format!("an_{place}")), entry.clone())
        };
        let top = lore.an_before.join("\n");
        let bottom = lore.an_after.join("\n");
        let joined = format!("{top}\n{text}\n{bottom}");
        let trimmed = joined.strip_prefix('\n').unwrap_or(&joined);
        text = trimmed.strip_suffix('\n').unwrap_or(trimmed).to_owned();
        let note = std::mem::take(&mut pieces);
        pieces = lore.an_before.iter().map(|e| line("top", e)).collect();
        pieces.extend(note);
        pieces.extend(lore.an_after.iter().map(|e| line("bottom", e)));
    }
    let wanted = (note.due || always) && !persona.description.is_empty();
    let described = || (Origin::new(OriginKind::Persona, "description"), persona.description.clone());
    match persona.position {
        PersonaPosition::TopAn if wanted => {
            text = join_note(&persona.description, &text, always);
            pieces.insert(0, described());
        }
        PersonaPosition::BottomAn if wanted => {
            text = join_note(&text, &persona.description, always);
            pieces.push(described());
        }
        _ => {}
    }
    pieces.retain(|(_, t)| !t.is_empty());
    let injection = Injection { value: text, pieces, ..note.injection() };
    table.set(AUTHOR_NOTE, injection);
}

fn join_note(a: &str, b: &str, tidy: bool) -> String {
    if tidy && (a.is_empty() || b.is_empty()) { format!("{a}{b}") } else { format!("{a}\n{b}") }
}

/// Lorebook entries at depth.
pub fn lore_at_depth(table: &mut Injections, lore: &LoreResult) {
    for group in &lore.depth {
        let text = group.entries.join("\n");
        let mut injection = Injection::new(text, Position::InChat, group.depth, group.role);
        let origin = |entry: &String| (Origin::new(OriginKind::Lore, "depth"), entry.clone());
        injection.pieces = group.entries.iter().map(origin).collect();
        table.set(format!("customDepthWI_{}_{}", js::number_text(group.depth), group.role), injection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lore_goes_around_the_note() {
        // Spec 05 §10 [run].
        let text = |top: &[&str], note: &str, bottom: &[&str]| {
            let own = |l: &[&str]| l.iter().map(|s| (*s).to_owned()).collect();
            let lore = LoreResult {
                an_before: own(top),
                an_after: own(bottom),
                scanned: true,
                ..LoreResult::default()
            };
            let note = AuthorNote {
                due: true,
                text: note.to_owned(),
                position: Position::InChat,
                depth: 4.0,
                role: 0,
                scan: false,
            };
            let mut table = Injections::default();
            merge_lore(&mut table, &note, &lore, &Persona::default(), &Profile::sillytavern());
            table.get(AUTHOR_NOTE).unwrap().value.clone()
        };
        assert_eq!(text(&[], "AN", &[]), "AN");
        assert_eq!(text(&["t1", "t2"], "AN", &["b"]), "t1\nt2\nAN\nb");
        assert_eq!(text(&[], "", &["b"]), "\nb");
        assert_eq!(text(&["t"], "", &[]), "t\n");
    }
}
