//! Texts -> the members that they call with `@`, in order of the first call: what a round of replies asks for (spec 09 §§1-2).
//!
//! Knows nothing of rounds: who has spoken is given as the senders of the replies.

use std::collections::BTreeMap;

use crate::js;
use crate::names::{Matcher, Mention, MentionKind, MentionOptions, Named, Recency, is_letter};

/// How `@` finds its member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The longest name that begins there, in any script; `＠` and words for everybody count.
    #[default]
    Smart,
    /// NekoBot's: everything up to the next sign must be the id or the name, and no letter may stand before the `@`.
    Strict,
}

/// One reply of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// Who wrote it: id or name, in any case; a stranger counts as himself.
    pub sender: &'a str,
    /// The text.
    pub content: &'a str,
}

/// Somebody who is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Member id.
    pub id: String,
    /// Which of the replies calls first.
    pub by: usize,
}

/// Finds calls of a fixed list of members.
#[derive(Debug)]
pub struct Caller {
    /// Lower-cased id or name -> id. Of one name the last member wins, as in NekoBot.
    table: BTreeMap<String, String>,
    smart: Option<Matcher>,
}

impl Caller {
    /// For members in list order. `everyone`: words such as `@all` call all of them (smart only).
    pub fn new(members: &[Named], how: Match, everyone: bool) -> Self {
        let mut table = BTreeMap::new();
        for member in members {
            table.insert(js::lower(&member.id), member.id.clone());
            let name = js::trim(&member.name);
            if !name.is_empty() {
                table.insert(js::lower(name), member.id.clone());
            }
        }
        let smart = (how == Match::Smart).then(|| {
            let mut options = MentionOptions { by_id: true, ..MentionOptions::default() };
            if !everyone {
                options.words.everyone.clear();
            }
            Matcher::new(members, options)
        });
        Self { table, smart }
    }

    /// Ids that a text calls, each once. `who` decides between members of one name (smart only).
    pub fn calls(&self, text: &str, who: Recency<'_>) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        let found = match &self.smart {
            Some(matcher) => called(&matcher.find(text, who)),
            None => self.strict(text),
        };
        for id in found {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// Whom the replies of a round call, without those who spoke in it. A reply without text counts as spoken.
    pub fn collect(&self, replies: &[Said<'_>]) -> Vec<Called> {
        let spoken: Vec<&str> = replies
            .iter()
            .map(|r| js::trim(r.sender))
            .filter(|sender| !sender.is_empty())
            .map(|sender| self.table.get(&js::lower(sender)).map_or(sender, String::as_str))
            .collect();
        let mut found: Vec<Called> = Vec::new();
        for (by, reply) in replies.iter().enumerate() {
            let sender = js::trim(reply.sender);
            let banned = self.table.get(&js::lower(sender)).map(String::as_str);
            for id in self.calls(js::trim(reply.content), Recency { recent: &[], banned }) {
                if !spoken.contains(&id.as_str()) && !found.iter().any(|f| f.id == id) {
                    found.push(Called { id, by });
                }
            }
        }
        found
    }

    fn strict(&self, text: &str) -> Vec<String> {
        let word = |c: char| c == '_' || is_letter(c);
        let mut ids = Vec::new();
        let mut before: Option<char> = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let opens = c == '@' && !before.is_some_and(word);
            before = Some(c);
            if !opens {
                continue;
            }
            let run: String = rest.clone().take_while(|c| word(*c)).collect();
            if let Some(id) = self.table.get(&js::lower(&run)) {
                ids.push(id.clone());
            }
            for c in rest.by_ref().take(run.chars().count()) {
                before = Some(c);
            }
        }
        ids
    }
}

/// Ids of the mentions by `@` that are not muted.
fn called(mentions: &[Mention]) -> Vec<String> {
    mentions.iter().filter(|m| m.kind == MentionKind::At && !m.muted).map(|m| m.id.clone()).collect()
}
