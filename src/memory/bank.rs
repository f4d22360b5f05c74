//! Documents: files with a scope -> chunks, and the text for those that were found (spec 10 §26).

use super::settings::BankSettings;
use super::smart::{Split, split_smart};

/// Who may read a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Everyone, in every chat.
    #[default]
    Global,
    /// One character: avatar.
    Character(String),
    /// Everyone in this chat.
    Chat,
}

impl Scope {
    /// From its text: `global`, `chat`, `character:<avatar>`.
    pub fn named(text: &str) -> Option<Self> {
        match text {
            "" | "global" => Some(Self::Global),
            "chat" => Some(Self::Chat),
            other => other.strip_prefix("character:").map(|id| Self::Character(id.to_owned())),
        }
    }

    /// Its text.
    pub fn text(&self) -> String {
        match self {
            Self::Global => "global".to_owned(),
            Self::Chat => "chat".to_owned(),
            Self::Character(id) => format!("character:{id}"),
        }
    }
}

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BankFile {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Who may read it.
    pub scope: Scope,
    /// Its text.
    pub text: String,
    /// Not looked at.
    pub disabled: bool,
}

impl BankFile {
    /// Whether a member may read it.
    pub fn seen_by(&self, member: &str) -> bool {
        !self.disabled && !matches!(&self.scope, Scope::Character(id) if id != member)
    }

    /// Its chunks.
    pub fn chunks(&self, settings: &BankSettings) -> Vec<String> {
        let limit = if self.text.len() > settings.size_threshold { settings.chunk } else { 0 };
        split_smart(&self.text, Split { limit, overlap: settings.overlap })
    }
}

/// A chunk that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundChunk<'a> {
    /// Position of the file.
    pub file: usize,
    /// Position in the file.
    pub chunk: usize,
    /// Its text.
    pub text: &'a str,
}

/// At most `top` chunks of a ranked list, at most `max_per_file` of one file.
pub fn spread<'a>(
    ranked: impl IntoIterator<Item = FoundChunk<'a>>,
    settings: &BankSettings,
) -> Vec<FoundChunk<'a>> {
    let mut taken: Vec<FoundChunk<'a>> = Vec::new();
    for found in ranked {
        let same = taken.iter().filter(|t| t.file == found.file).count();
        if taken.len() < settings.top && same < settings.max_per_file {
            taken.push(found);
        }
    }
    taken
}

/// The text of chunks, best first: files by their best hit, inside a file by position, neighbours joined as they were.
pub fn bank_text(found: &[FoundChunk<'_>], files: &[&BankFile], titles: bool) -> String {
    let mut order: Vec<usize> = Vec::new();
    for hit in found {
        if !order.contains(&hit.file) {
            order.push(hit.file);
        }
    }
    let one = |file: &usize| {
        let mut chunks: Vec<&FoundChunk<'_>> = found.iter().filter(|f| f.file == *file).collect();
        crate::js::sort_by_key(&mut chunks, |f| f.chunk);
        chunks.dedup_by_key(|f| f.chunk);
        let mut text = String::new();
        if let Some(name) = files.get(*file).map(|f| f.name.as_str()).filter(|n| titles && !n.is_empty()) {
            text.push_str(&format!("File: {name}\n"));
        }
        for (i, hit) in chunks.iter().enumerate() {
            if i > 0 {
                text.push('\n');
            }
            text.push_str(hit.text);
        }
        text
    };
    order.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::settings::MemorySettings;

    #[test]
    fn one_file_does_not_take_all_places() {
        let settings = MemorySettings::default().bank;
        let file = |id: &str| BankFile { id: id.into(), name: format!("{id}.txt"), ..BankFile::default() };
        let files = [file("北"), file("юг")];
        let hit = |file, chunk, text| FoundChunk { file, chunk, text };
        let ranked = [hit(1, 2, "C"), hit(1, 0, "A"), hit(1, 1, "B"), hit(1, 4, "E"), hit(0, 0, "塔")];
        let taken = spread(ranked, &settings);
        assert_eq!(taken.len(), 4);
        let all: Vec<&BankFile> = files.iter().collect();
        assert_eq!(bank_text(&taken, &all, false), "A\nB\nC\n\n塔");
        assert!(bank_text(&taken, &all, true).starts_with("File: юг.txt\nA"));
    }

    #[test]
    fn a_characters_file_is_its_own() {
        let file = BankFile { scope: Scope::named("character:mira.png").unwrap(), ..BankFile::default() };
        assert!(file.seen_by("mira.png") && !file.seen_by("洛恩.png"));
        assert_eq!(file.scope.text(), "character:mira.png");
        assert_eq!(Scope::named("nobody"), None);
    }
}
