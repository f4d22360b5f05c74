//! The reference's bookkeeping between chat and index: which texts are embedded, which hashes are deleted (spec 10 §9), what is
//! asked for (§10), and what an answer of the index does to the chat (§11). Macros are expanded before; texts are prompt texts.

use crate::js;
use crate::memory::hash::hash;

/// A message as the reference's recall sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Who wrote it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Hidden from prompts.
    pub hidden: bool,
    /// So many UTF-16 units at its beginning are an attached file.
    pub file_length: usize,
}

/// What the index lacks and what it has too much.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// Positions of messages to embed now.
    pub insert: Vec<usize>,
    /// Hashes to delete.
    pub delete: Vec<u64>,
    /// New messages less the size of a batch: above 0 there is more to do.
    pub left: i64,
}

/// Compares chat and index. `skip` holds hashes that could not be summarised.
pub fn sync(chat: &[Line], saved: &[u64], keep_hidden: bool, batch: usize, skip: &[u64]) -> Sync {
    let items: Vec<(usize, u64)> = chat
        .iter()
        .enumerate()
        .filter(|(_, line)| keep_hidden || !line.hidden)
        .map(|(i, line)| (i, hash(&line.text)))
        .collect();
    let sorted = |mut hashes: Vec<u64>| {
        hashes.sort_unstable();
        hashes
    };
    let known = sorted(saved.iter().chain(skip).copied().collect());
    let there = sorted(items.iter().map(|(_, h)| *h).collect());
    let new: Vec<usize> =
        items.iter().filter(|(_, h)| known.binary_search(h).is_err()).map(|(i, _)| *i).collect();
    Sync {
        left: signed(new.len()).saturating_sub(signed(batch)),
        insert: new.into_iter().take(batch).collect(),
        delete: saved.iter().copied().filter(|h| there.binary_search(h).is_err()).collect(),
    }
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// What the index is asked for: the newest `count` texts, newest first.
pub fn query_text(chat: &[Line], count: usize) -> String {
    let texts: Vec<&str> = chat
        .iter()
        .rev()
        .map(|line| js::trim(js::slice16(&line.text, line.file_length, usize::MAX)))
        .filter(|text| !text.is_empty())
        .take(count)
        .collect();
    collapsed(&texts.join("\n"))
}

/// Runs of line feeds become one; white space around goes.
pub(in crate::memory) fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' || !out.ends_with('\n') {
            out.push(c);
        }
    }
    js::trim(&out).to_owned()
}

/// What was recalled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// The text to insert; empty for none.
    pub text: String,
    /// Positions of messages that stay in the history.
    pub history: Vec<usize>,
}

/// Settings of the reference's recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecallRules<'a> {
    /// So many newest messages stay where they are; 0 protects all.
    pub protect: i64,
    /// Newest messages that make the query.
    pub query: usize,
    /// Around the text.
    pub template: &'a str,
}

impl Default for RecallRules<'_> {
    fn default() -> Self {
        Self { protect: 5, query: 2, template: "Past events:\n{{text}}" }
    }
}

/// Takes what the index named (hashes, best first, whatever their score) out of the chat. Of two neighbours the second stays in
/// the history, and equal texts are found in the oldest message only, as in the reference.
pub fn recall(chat: &[Line], hits: &[u64], rules: &RecallRules<'_>) -> Recalled {
    let all = || Recalled { text: String::new(), history: (0..chat.len()).collect() };
    let length = signed(chat.len());
    if length < rules.protect || query_text(chat, rules.query).is_empty() {
        return all();
    }
    // `slice(-protect)`: where the protected ones begin.
    let begin =
        if rules.protect > 0 { length - rules.protect } else { rules.protect.saturating_neg().min(length) };
    let mut ranks: Vec<u64> = Vec::new();
    for hit in hits {
        if !ranks.contains(hit) {
            ranks.push(*hit);
        }
    }
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for (at, line) in chat.iter().enumerate() {
        if signed(at) >= begin || line.text.is_empty() {
            continue;
        }
        let own = hash(&line.text);
        let Some(rank) = ranks.iter().position(|h| *h == own) else { continue };
        if !taken.iter().any(|(_, r)| *r == rank) {
            taken.push((at, rank));
        }
    }
    if taken.is_empty() {
        return all();
    }
    let is_taken = |at: usize| taken.iter().any(|(t, _)| *t == at);
    let mut history = Vec::new();
    let mut skipped = false;
    for at in 0..chat.len() {
        // The list is shortened while it is walked: what follows a removed message is not looked at.
        if is_taken(at) && !skipped {
            skipped = true;
        } else {
            history.push(at);
            skipped = false;
        }
    }
    js::sort_by_key(&mut taken, |(_, rank)| std::cmp::Reverse(*rank));
    let texts: Vec<String> = taken
        .iter()
        .filter_map(|(at, _)| chat.get(*at))
        .map(|line| collapsed(&format!("{}: {}", line.name, line.text)))
        .collect();
    Recalled { text: rules.template.replace("{{text}}", &texts.join("\n\n")), history }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(texts: &[&str]) -> Vec<Line> {
        let line = |(i, t): (usize, &&str)| Line {
            name: if i % 2 == 0 { "A" } else { "U" }.into(),
            text: (*t).into(),
            ..Line::default()
        };
        texts.iter().enumerate().map(line).collect()
    }

    #[test]
    fn the_second_neighbour_is_skipped() {
        let chat = chat(&["a0", "u1", "a2", "u3", "a4", "u5", "a6", "u7"]);
        let hits: Vec<u64> = ["u1", "a2"].into_iter().map(hash).collect();
        let got = recall(&chat, &hits, &RecallRules::default());
        assert_eq!(got.text, "Past events:\nA: a2\n\nU: u1");
        assert_eq!(got.history, [0, 2, 3, 4, 5, 6, 7]);
        let all = recall(&chat, &hits, &RecallRules { protect: 0, ..RecallRules::default() });
        assert_eq!(all.history.len(), 8);
    }
}
