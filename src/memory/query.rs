//! What the index is asked for: the newest messages that the speaker heard -> a query (spec 10 §23).

use super::exact::collapsed;
use super::recall::Memo;
use super::words::words;
use crate::js;
use crate::names::{Script, script};

/// How a query is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRules {
    /// Newest messages that go in.
    pub count: usize,
    /// A query shorter than this many code points, or than [`QueryRules::MIN_WORDS`] words, takes in more messages.
    pub min: usize,
    /// Names to leave out: the filter already says whose memory it is, and a name draws to every sentence about the name.
    pub strip: Vec<String>,
}

impl QueryRules {
    /// Words that a query should have.
    pub const MIN_WORDS: usize = 3;
    /// Messages that a query has at most.
    pub const MOST: usize = 6;
}

impl Default for QueryRules {
    fn default() -> Self {
        Self { count: 2, min: 12, strip: Vec::new() }
    }
}

/// The query text: newest message first, a line each.
pub fn query(memos: &[Memo], member: Option<&str>, rules: &QueryRules) -> String {
    let heard = memos.iter().rev().filter(|m| !m.hidden && m.heard_by(member));
    let mut texts = heard.map(|m| collapsed(&m.text)).filter(|t| !t.is_empty());
    let mut lines: Vec<String> = Vec::new();
    while let Some(text) = texts.next().filter(|_| lines.len() < rules.count.max(QueryRules::MOST)) {
        let short = lines.len() < rules.count || {
            let joined = lines.join("\n");
            joined.chars().count() < rules.min || words(&joined) < QueryRules::MIN_WORDS
        };
        if rules.count == 0 || !short {
            break;
        }
        lines.push(text);
    }
    strip_names(&lines.join("\n"), &rules.strip)
}

/// A text without some names, longest first, in any case, but not inside longer words of alphabetic scripts. Blanks that are
/// left over are collapsed. If nothing is left, the text stays as it was.
pub fn strip_names(text: &str, names: &[String]) -> String {
    let mut names: Vec<Vec<char>> = names
        .iter()
        .map(|name| js::trim(name).chars().map(lower).collect())
        .filter(|name: &Vec<char>| !name.is_empty())
        .collect();
    js::sort_by_key(&mut names, |name| std::cmp::Reverse(name.len()));
    let chars: Vec<char> = text.chars().collect();
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    let mut removed = false;
    while let Some(c) = chars.get(at) {
        let found = names.iter().find(|name| {
            let same =
                name.iter().enumerate().all(|(i, n)| chars.get(at + i).is_some_and(|c| lower(*c) == *n));
            same && !joined(chars.get(at.wrapping_sub(1)), name.first())
                && !joined(chars.get(at + name.len()), name.last())
        });
        if let Some(name) = found {
            at += name.len();
            removed = true;
        } else {
            kept.push(*c);
            at += 1;
        }
    }
    if !removed {
        return text.to_owned();
    }
    let mut out = String::with_capacity(kept.len());
    for c in kept.chars() {
        let blank = js::is_space(c) && c != '\n';
        if !blank {
            out.push(c);
        } else if !out.ends_with([' ', '\n']) {
            out.push(' ');
        }
    }
    let out = js::trim(&out);
    if out.is_empty() { text.to_owned() } else { out.to_owned() }
}

/// Whether a character beside a name makes both one word.
fn joined(beside: Option<&char>, edge: Option<&char>) -> bool {
    let word = |c: Option<&char>| c.is_some_and(|c| matches!(script(*c), Script::Letter | Script::Mark));
    word(beside) && word(edge)
}

/// Lower case of one character, where that is one character.
fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_and_words_stay() {
        let strip = |text: &str, names: &[&str]| {
            strip_names(text, &names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(strip("丛雨在神社祈祷", &["丛雨"]), "在神社祈祷");
        assert_eq!(strip("Mira met Miranda", &["Mira"]), "met Miranda");
        assert_eq!(strip("mira", &["Mira"]), "mira", "nothing is left");
        assert_eq!(strip("Где Мира и Мирабель?", &["мира"]), "Где и Мирабель?");
        assert_eq!(strip("로른은 강하다", &["로른"]), "은 강하다");
        assert_eq!(strip("Lorne of the Vale came", &["Lorne", "Lorne of the Vale"]), "came");
        assert_eq!(strip("no name", &["", "Mira"]), "no name");
    }

    #[test]
    fn short_messages_take_in_more() {
        let memo = |text: &str| Memo { text: text.into(), ..Memo::default() };
        let memos = ["我的生日是三月十五日，记得吗？", "嗯", "  ", "then?"].map(memo);
        assert_eq!(query(&memos, None, &QueryRules::default()), "then?\n嗯\n我的生日是三月十五日，记得吗？");
        assert_eq!(
            query(&memos, None, &QueryRules { min: 0, count: 1, ..QueryRules::default() }),
            "then?\n嗯\n我的生日是三月十五日，记得吗？"
        );
        assert_eq!(query(&memos, None, &QueryRules { count: 0, ..QueryRules::default() }), "");
    }
}
