//! A member's names -> the keys under which it can be mentioned, and how good each is (spec 01 §P1.2).

use super::class::{Class, class, is_cyrillic};
use super::key::{Diacritics, key};
use super::props;
use super::words::Words;
use crate::js;

/// Longer names (in characters) cannot be mentioned.
pub const MAX_NAME: usize = 200;

/// How a name was meant, the better first: `Anna` is sooner Anna than Anna Jones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The whole name.
    Full,
    /// Another name it answers to.
    Alias,
    /// Any of them with a case ending.
    Inflected,
    /// A word of the name.
    Part,
}

/// One way to be mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// What is looked for.
    pub(super) key: String,
    /// How good it is.
    pub(super) rank: Rank,
    /// What it is reported as: an inflected form is reported as what it was formed from.
    pub(super) of: Rank,
}

/// The word lists as keys.
#[derive(Debug)]
pub(super) struct Lists {
    particles: Vec<String>,
    endings: Vec<String>,
    diacritics: Diacritics,
    inflect: bool,
}

impl Lists {
    pub(super) fn new(words: &Words, diacritics: Diacritics, inflect: bool) -> Self {
        let mut endings = keys(&words.cyrillic_endings, diacritics);
        endings.push(String::new());
        Self { particles: keys(&words.particles, diacritics), endings, diacritics, inflect }
    }

    fn key(&self, text: &str) -> String {
        key(text, self.diacritics)
    }
}

pub(super) fn keys(words: &[String], diacritics: Diacritics) -> Vec<String> {
    words.iter().map(|w| key(w, diacritics)).collect()
}

/// All patterns of a member, the best first.
pub(super) fn of_member(name: &str, aliases: &[String], lists: &Lists) -> Vec<Pattern> {
    let name = clipped(name);
    let (base, nicknames) = base(name);
    let mut found = Vec::new();
    let mut add = |key: String, rank: Rank| found.push(Pattern { key, rank, of: rank });
    for key in full(name, &base, lists) {
        add(key, Rank::Full);
    }
    for alias in nicknames.iter().chain(aliases) {
        add(lists.key(js::trim(alias)), Rank::Alias);
    }
    let tokens = tokens(&base);
    if tokens.len() > 1 {
        for token in tokens {
            let token = lists.key(trim_symbols(token));
            let digits = token.chars().all(char::is_numeric);
            if length(&token) >= 2 && !digits && !lists.particles.contains(&token) {
                add(token, Rank::Part);
            }
        }
    }
    found.retain(|p| !p.key.is_empty());
    let inflected: Vec<Pattern> = found
        .iter()
        .filter(|_| lists.inflect)
        .flat_map(|p| {
            inflected(&p.key, &lists.endings).map(|key| Pattern { key, rank: Rank::Inflected, of: p.of })
        })
        .collect();
    let part = found.iter().position(|p| p.rank == Rank::Part).unwrap_or(found.len());
    found.splice(part..part, inflected);
    found
}

/// Patterns of someone who is no member: whole names only.
pub(super) fn of_other(name: &str, lists: &Lists) -> Vec<String> {
    let name = clipped(name);
    let (base, _) = base(name);
    let mut keys = full(name, &base, lists);
    keys.retain(|k| !k.is_empty());
    keys
}

/// A name that is too long to be mentioned has no patterns, and taking it apart may cost the square of its length.
fn clipped(name: &str) -> &str {
    if name.chars().nth(MAX_NAME).is_some() { "" } else { name }
}

fn full(name: &str, base: &str, lists: &Lists) -> Vec<String> {
    let mut keys = vec![lists.key(js::trim(name))];
    let mut add = |spelling: &str| {
        let key = lists.key(spelling);
        if !keys.contains(&key) {
            keys.push(key);
        }
    };
    add(base);
    let tokens = tokens(base);
    let cjk =
        |t: &&str| t.chars().any(|c| matches!(class(c), Class::Han | Class::Hiragana | Class::Katakana));
    if tokens.len() > 1 && tokens.iter().all(cjk) {
        for between in ["", "・", "·", " "] {
            add(&tokens.join(between));
        }
    }
    keys
}

/// A name without quoted and bracketed parts, and without symbols around it; white space collapsed (spec 01 §P1.2).
pub fn bare(name: &str) -> String {
    base(clipped(name)).0
}

/// [`bare`], and the quoted parts.
fn base(name: &str) -> (String, Vec<String>) {
    let mut removed: Vec<(usize, usize)> = Vec::new();
    let mut quoted = Vec::new();
    let mut open: Vec<(usize, usize, char)> = Vec::new();
    for (at, c) in name.char_indices() {
        let after = at + c.len_utf8();
        if let Some(i) = open.iter().rposition(|(.., closer)| *closer == c) {
            if let Some((start, inside, closer)) = open.get(i).copied() {
                if matches!(closer, '"' | '”' | '»') {
                    quoted.push(name.get(inside..at).unwrap_or("").to_owned());
                }
                // Whatever was closed since it opened lies inside it.
                removed.retain(|(inner, _)| *inner < start);
                removed.push((start, after));
            }
            open.truncate(i);
        } else if let Some(closer) = closer(c) {
            open.push((at, after, closer));
        }
    }
    let mut kept = String::new();
    let mut from = 0;
    for (start, end) in removed {
        kept.push_str(name.get(from..start).unwrap_or(""));
        kept.push(' ');
        from = end;
    }
    kept.push_str(name.get(from..).unwrap_or(""));
    let words: Vec<&str> = kept.split(js::is_space).filter(|w| !w.is_empty()).collect();
    (trim_symbols(&words.join(" ")).to_owned(), quoted)
}

const fn closer(c: char) -> Option<char> {
    Some(match c {
        '"' => '"',
        '“' => '”',
        '«' => '»',
        '(' => ')',
        '[' => ']',
        '【' => '】',
        '（' => '）',
        _ => return None,
    })
}

fn tokens(base: &str) -> Vec<&str> {
    base.split(|c| js::is_space(c) || matches!(c, '・' | '･' | '·' | '‧' | '=' | '＝'))
        .filter(|t| !t.is_empty())
        .collect()
}

/// Without what is neither letter, digit nor mark at either end.
fn trim_symbols(text: &str) -> &str {
    text.trim_matches(|c| c == '_' || class(c) == Class::Other)
}

/// Forms of an all-Cyrillic word of three letters or more.
fn inflected<'a>(word: &str, endings: &'a [String]) -> impl Iterator<Item = String> + use<'a> {
    let mut stem = None;
    if cyrillic_letters(word).is_some_and(|n| n >= 3) {
        // й is и with a breve in a key, and must not lose only the breve.
        let finals = ["и\u{306}", "а", "я", "ь", "о", "е", "и", "ы", "у"];
        let cut = finals.iter().find_map(|f| word.strip_suffix(f)).unwrap_or(word);
        stem = Some(cut.to_owned()).filter(|s| cyrillic_letters(s).is_some_and(|n| n >= 3));
    }
    stem.into_iter().flat_map(move |stem| endings.iter().map(move |e| format!("{stem}{e}")))
}

/// Letters of an all-Cyrillic word; `None` when anything else is in it.
fn cyrillic_letters(key: &str) -> Option<usize> {
    let letters = || key.chars().filter(|c| !props::is_mark(*c));
    letters().all(is_cyrillic).then(|| letters().count())
}

/// Characters of a key as a reader counts them: marks that usually melt into a letter do not count. (The specification counts
/// after composition, which a key has not gone through.)
pub(super) fn length(key: &str) -> usize {
    key.chars().filter(|c| !matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(name: &str, rank: Rank) -> Vec<String> {
        let lists = Lists::new(&Words::default(), Diacritics::Loose, true);
        of_member(name, &["Al".to_owned()], &lists)
            .into_iter()
            .filter(|p| p.rank == rank)
            .map(|p| p.key)
            .collect()
    }

    #[test]
    fn whole_names_with_and_without_extras() {
        assert_eq!(keys_of("Mr. X (the [real])", Rank::Full), ["mr. x (the [real])", "mr. x"]);
        assert_eq!(keys_of("🦊 Fox", Rank::Full), ["🦊 fox", "fox"]);
        assert_eq!(
            keys_of("佐藤 あかり", Rank::Full),
            ["佐藤 あかり", "佐藤あかり", "佐藤・あかり", "佐藤·あかり"]
        );
        assert_eq!(keys_of("【店主】 塞拉菲娜", Rank::Full), ["【店主】 塞拉菲娜", "塞拉菲娜"]);
        assert_eq!(keys_of("Ann (", Rank::Full), ["ann (", "ann"]);
        assert_eq!(keys_of("  ", Rank::Full), Vec::<String>::new());
    }

    #[test]
    fn nicknames_are_aliases() {
        assert_eq!(keys_of("Charlotte \"Char\"", Rank::Alias), ["char", "al"]);
        assert_eq!(keys_of("Иван «Вепрь» Орлов", Rank::Alias), ["вепрь", "al"]);
        assert_eq!(keys_of("Charlotte \"Char\"", Rank::Full), ["charlotte \"char\"", "charlotte"]);
    }

    #[test]
    fn words_of_a_name() {
        assert_eq!(keys_of("The Narrator", Rank::Part), ["narrator"]);
        assert_eq!(keys_of("Mr. X", Rank::Part), Vec::<String>::new());
        assert_eq!(keys_of("Agent: Zero 47", Rank::Part), ["agent", "zero"]);
        assert_eq!(keys_of("Mary-Anne", Rank::Part), Vec::<String>::new());
        assert_eq!(
            keys_of("セラフィナ・フォン", Rank::Part),
            ["セラフィナ", "フォン"].map(|s| key(s, Diacritics::Loose))
        );
    }

    #[test]
    fn cases_of_a_name() {
        let forms = keys_of("Дмитрий", Rank::Inflected);
        assert!(forms.contains(&"дмитрия".to_owned()) && forms.contains(&"дмитрию".to_owned()), "{forms:?}");
        assert!(keys_of("Ольга", Rank::Inflected).contains(&"ольги".to_owned()));
        assert_eq!(keys_of("Ян", Rank::Inflected), Vec::<String>::new());
        assert_eq!(keys_of("Anna", Rank::Inflected), Vec::<String>::new());
    }
}
