//! A cleaned reply and the user's rules -> what is wrong with it (spec 09 §19).

use serde::{Deserialize, Serialize};

use crate::js;
use crate::names::{has_cjk, is_letter};

/// Rules for replies.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Rules {
    /// Words that must not occur.
    pub forbidden: Vec<Word>,
    /// How the speaker refers to itself.
    pub self_reference: Option<SelfReference>,
    /// A claim to be another member is an error (default false).
    pub identity: bool,
    /// Further phrases that introduce oneself, besides the known ones.
    pub identity_patterns: Vec<String>,
    /// Texts of the prompt that must not occur. Default: the header of the group context.
    pub leak_markers: Option<Vec<String>>,
}

/// A forbidden word: the text, or one with exceptions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Word {
    /// The word.
    Plain(String),
    /// The word, allowed inside these.
    Except {
        /// The word.
        text: String,
        /// Longer words that are allowed.
        #[serde(default)]
        except: Vec<String>,
    },
}

/// How a speaker may refer to itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SelfReference {
    /// Its own words for itself.
    pub required: Vec<String>,
    /// Words that it never uses for itself.
    pub wrong: Vec<String>,
    /// Words that have a wrong one in them and are allowed.
    pub except: Vec<String>,
    /// When it counts.
    pub mode: SelfMode,
}

/// When the words for oneself count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SelfMode {
    /// Only wrong words are errors.
    #[default]
    IfFirstPerson,
    /// A reply without any of the required words is one, too.
    Always,
}

/// Something wrong with a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Issue {
    /// It has no text.
    Empty,
    /// It has forbidden words.
    ForbiddenWord {
        /// Which.
        words: Vec<String>,
    },
    /// It has wrong words for the speaker, or (with an empty list) none of the right ones.
    SelfReference {
        /// Which.
        wrong: Vec<String>,
    },
    /// It is, or claims to be, somebody else.
    SpeaksAsOther {
        /// Who; absent when unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        member: Option<String>,
    },
    /// It repeats a part of the prompt.
    PromptLeak,
}

impl Issue {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::ForbiddenWord { .. } => "forbidden_word",
            Self::SelfReference { .. } => "self_reference",
            Self::SpeaksAsOther { .. } => "speaks_as_other",
            Self::PromptLeak => "prompt_leak",
        }
    }
}

/// The header of the group context: the marker that leaks when a model repeats its instructions.
pub const CONTEXT_HEADER: &str = "[Group scene]";

/// How people introduce themselves; what ends in a letter of an alphabet needs a space behind it.
const INTRODUCTIONS: [&str; 11] =
    ["我是", "我就是", "我叫", "吾乃", "私は", "俺は", "僕は", "i am ", "i'm ", "i’m ", "my name is "];
/// What may follow a name in such a claim although it is a letter.
const PARTICLES: [&str; 9] = ["啊", "呀", "哦", "呢", "吧", "啦", "嘛", "です", "だ"];

/// Everything that is wrong, in a fixed order. `others`: id and name of the other members.
pub fn validate(text: &str, rules: &Rules, others: &[(&str, &str)]) -> Vec<Issue> {
    if js::trim(text).is_empty() {
        return vec![Issue::Empty];
    }
    let mut issues = Vec::new();
    let words: Vec<String> = rules.forbidden.iter().filter_map(|word| forbidden(text, word)).collect();
    if !words.is_empty() {
        issues.push(Issue::ForbiddenWord { words });
    }
    issues.extend(rules.self_reference.as_ref().and_then(|r| self_reference(text, r)));
    if rules.identity {
        issues.extend(claims(text, &rules.identity_patterns, others));
    }
    let leaked = match &rules.leak_markers {
        Some(markers) => markers.iter().any(|m| !m.is_empty() && text.contains(m)),
        None => text.contains(CONTEXT_HEADER),
    };
    if leaked {
        issues.push(Issue::PromptLeak);
    }
    issues
}

fn forbidden(text: &str, word: &Word) -> Option<String> {
    let (word, except) = match word {
        Word::Plain(word) => (word, &[][..]),
        Word::Except { text, except } => (text, except.as_slice()),
    };
    occurs(&without(text, except.iter().map(String::as_str)), word).then(|| word.clone())
}

fn self_reference(text: &str, rule: &SelfReference) -> Option<Issue> {
    let allowed = rule.except.iter().chain(&rule.required).map(String::as_str);
    let rest = without(text, allowed);
    let wrong: Vec<String> = rule.wrong.iter().filter(|w| occurs(&rest, w)).cloned().collect();
    let missing = rule.mode == SelfMode::Always
        && !rule.required.is_empty()
        && !rule.required.iter().any(|w| occurs(text, w));
    (missing || !wrong.is_empty()).then_some(Issue::SelfReference { wrong })
}

/// The text with every occurrence of some words blanked out, the longest first.
fn without<'a>(text: &str, words: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
    js::sort_by_key(&mut words, |w| std::cmp::Reverse(w.chars().count()));
    let mut chars: Vec<char> = text.chars().collect();
    for word in words {
        let found = places(&chars, word);
        let length = word.chars().count();
        for at in found {
            chars.iter_mut().skip(at).take(length).for_each(|c| *c = ' ');
        }
    }
    chars.into_iter().collect()
}

/// Whether a word occurs: anywhere if it has a Chinese character, kana or Hangul, else as a whole word.
fn occurs(text: &str, word: &str) -> bool {
    !word.is_empty() && !places(&text.chars().collect::<Vec<_>>(), word).is_empty()
}

/// Where a word begins, in characters; occurrences do not overlap.
fn places(text: &[char], word: &str) -> Vec<usize> {
    let anywhere = has_cjk(word);
    let word: Vec<char> = word.chars().map(small).collect();
    let bound = |at: Option<usize>| anywhere || !at.and_then(|i| text.get(i)).is_some_and(|c| in_word(*c));
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = text.get(at..).filter(|rest| rest.len() >= word.len()) {
        let equal = rest.iter().zip(&word).all(|(a, b)| small(*a) == *b);
        if equal && bound(at.checked_sub(1)) && bound(Some(at + word.len())) {
            found.push(at);
            at += word.len().max(1);
        } else {
            at += 1;
        }
    }
    found
}

/// Lower case of one character, where that is one character too.
fn small(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

fn in_word(c: char) -> bool {
    c == '_' || is_letter(c)
}

/// Others that the text claims to be, each once, in list order.
fn claims(text: &str, patterns: &[String], others: &[(&str, &str)]) -> Vec<Issue> {
    let chars: Vec<char> = text.chars().map(small).collect();
    let lower: String = chars.iter().collect();
    let mut ends: Vec<usize> = Vec::new();
    let own: Vec<String> = patterns.iter().map(|p| js::lower(p)).filter(|p| !p.is_empty()).collect();
    for phrase in INTRODUCTIONS.iter().copied().chain(own.iter().map(String::as_str)) {
        for (at, _) in lower.match_indices(phrase) {
            let alphabetic = phrase.chars().next().is_some_and(|c| is_letter(c) && !has_cjk(phrase));
            let inside = lower.get(..at).and_then(|s| s.chars().next_back()).is_some_and(in_word);
            if !(alphabetic && inside) {
                ends.push(at + phrase.len());
            }
        }
    }
    let claimed = |name: &str| {
        let name: String = js::trim(name).chars().map(small).collect();
        !name.is_empty()
            && ends.iter().any(|end| {
                let rest = js::trim_start(lower.get(*end..).unwrap_or(""));
                rest.strip_prefix(name.as_str()).is_some_and(ends_claim)
            })
    };
    let found = others.iter().filter(|(_, name)| claimed(name));
    found.map(|(id, _)| Issue::SpeaksAsOther { member: Some((*id).to_owned()) }).collect()
}

fn ends_claim(rest: &str) -> bool {
    let stops = |c: char| !(is_letter(c) || matches!(c, '\'' | '’'));
    rest.chars().next().is_none_or(stops) || PARTICLES.iter().any(|p| rest.starts_with(p))
}
