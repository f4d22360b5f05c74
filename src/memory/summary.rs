//! The rolling summary: records, messages and settings -> which record is in force, whether a new one is due, the request that
//! makes it, the text that is injected (spec 10 §20). Records are never changed, so deleting and undoing need no bookkeeping.

use super::exact::{SUMMARY_PROMPT, SUMMARY_TEMPLATE, summary_text};
use super::recall::Memo;
use super::smart::cut_at_sentence;
use super::words::words;
use crate::js;

/// One summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryRecord {
    /// Its id.
    pub id: String,
    /// The text.
    pub text: String,
    /// Id of the last message that it covers.
    pub anchor: String,
    /// Hash of that message's text.
    pub anchor_hash: String,
    /// Whose it is: `None` is everyone's, else a member's.
    pub scope: Option<String>,
    /// Written or changed by hand.
    pub manual: bool,
    /// The model wrote more than twice the words it was asked for.
    pub long: bool,
    /// When, epoch milliseconds.
    pub created: i64,
    /// Taken back.
    pub removed: bool,
}

/// A message as records see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor<'a> {
    /// Its id.
    pub id: &'a str,
    /// Hash of its text.
    pub hash: &'a str,
}

/// The record in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Active<'a> {
    /// The record.
    pub record: &'a SummaryRecord,
    /// So many messages from the start does it stand for.
    pub covers: usize,
    /// Its last message was edited since.
    pub stale: bool,
}

/// The newest record of a scope whose anchor is in the chat. An anchor that is the last message must be as it was: it may have
/// been swiped, and then the record sleeps until the swipe comes back.
pub fn active<'a>(
    records: &'a [SummaryRecord],
    chat: &[Anchor<'_>],
    scope: Option<&str>,
) -> Option<Active<'a>> {
    let places: std::collections::BTreeMap<&str, usize> =
        chat.iter().enumerate().map(|(i, m)| (m.id, i)).collect();
    let mut own = records.iter().rev().filter(|r| !r.removed && r.scope.as_deref() == scope);
    own.find_map(|record| {
        let at = *places.get(record.anchor.as_str())?;
        let same = chat.get(at).is_some_and(|m| m.hash == record.anchor_hash);
        let last = at + 1 == chat.len();
        (same || !last).then_some(Active { record, covers: at + 1, stale: !same })
    })
}

/// Settings of the rolling summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummarySettings {
    /// Messages after which it is due; 0 is off.
    pub interval: usize,
    /// Words after which it is due; 0 is off.
    pub force_words: usize,
    /// The newest messages that are never covered.
    pub keep_recent: usize,
    /// No automatic summaries.
    pub frozen: bool,
    /// Words that are asked for.
    pub words: usize,
    /// What is asked; `{{words}}` is the number of words.
    pub prompt: String,
    /// Cost of a request at most; `None`: no limit.
    pub budget: Option<usize>,
    /// Around the injected text.
    pub template: String,
    /// Facts that no summary may lose.
    pub pinned: Vec<String>,
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self {
            interval: 10,
            force_words: 0,
            keep_recent: 1,
            frozen: false,
            words: 200,
            prompt: SUMMARY_PROMPT.to_owned(),
            budget: None,
            template: SUMMARY_TEMPLATE.to_owned(),
            pinned: Vec::new(),
        }
    }
}

/// Why a summary is due, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueWhy {
    /// Enough messages.
    Interval,
    /// Enough words.
    Words,
    /// Too little has been said.
    NotYet,
    /// There is nothing that may be covered.
    Nothing,
    /// Automatic summaries are stopped.
    Frozen,
}

impl DueWhy {
    /// The stable text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Words => "words",
            Self::NotYet => "not_yet",
            Self::Nothing => "nothing",
            Self::Frozen => "frozen",
        }
    }
}

/// Whether a summary is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Why, or why not.
    pub why: DueWhy,
    /// Messages since the last one.
    pub messages: usize,
    /// Their words.
    pub words: usize,
    /// Positions of the messages to cover; empty unless it is due.
    pub cover: Vec<usize>,
}

impl Due {
    /// Whether it is.
    pub const fn is_due(&self) -> bool {
        matches!(self.why, DueWhy::Interval | DueWhy::Words)
    }
}

/// Whether a summary is due after the one that is anchored at a message.
pub fn due(memos: &[Memo], anchor: Option<&str>, member: Option<&str>, settings: &SummarySettings) -> Due {
    let nothing = |why| Due { why, messages: 0, words: 0, cover: Vec::new() };
    if settings.frozen {
        return nothing(DueWhy::Frozen);
    }
    let from = anchor.and_then(|id| memos.iter().position(|m| m.id == id)).map_or(0, |at| at + 1);
    let told = |m: &Memo| !m.hidden && !js::trim(&m.text).is_empty() && m.heard_by(member);
    let mut since: Vec<usize> =
        memos.iter().enumerate().skip(from).filter(|(_, m)| told(m)).map(|(at, _)| at).collect();
    let messages = since.len();
    let count = since.iter().filter_map(|at| memos.get(*at)).map(|m| words(&m.text)).sum();
    since.truncate(messages.saturating_sub(settings.keep_recent));
    let why = if since.is_empty() {
        DueWhy::Nothing
    } else if settings.interval > 0 && messages >= settings.interval {
        DueWhy::Interval
    } else if settings.force_words > 0 && count >= settings.force_words {
        DueWhy::Words
    } else {
        DueWhy::NotYet
    };
    let due = matches!(why, DueWhy::Interval | DueWhy::Words);
    Due { why, messages, words: count, cover: if due { since } else { Vec::new() } }
}

/// The request that makes a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryRequest {
    /// System text.
    pub system: String,
    /// User text; `None`: there is nothing to summarise.
    pub user: Option<String>,
    /// Position, among the given messages, of the last one that went in.
    pub last: Option<usize>,
    /// The first message was too long and lost its beginning.
    pub cut: bool,
    /// Messages that did not fit: it is due again at once.
    pub left: usize,
}

/// The request over the messages to cover, oldest first, as many as fit. A first message that is too long loses its beginning,
/// so there is always progress. `cost` of a text.
pub fn request<'a>(
    previous: &str,
    cover: impl IntoIterator<Item = &'a Memo>,
    settings: &SummarySettings,
    cost: &dyn Fn(&str) -> usize,
) -> SummaryRequest {
    let mut system = settings.prompt.replace("{{words}}", &settings.words.to_string());
    let pinned: Vec<&str> = settings.pinned.iter().map(|p| js::trim(p)).filter(|p| !p.is_empty()).collect();
    if !pinned.is_empty() {
        system.push_str("\n\nFacts to keep:");
        for fact in &pinned {
            system.push_str(&format!("\n- {fact}"));
        }
    }
    let previous = js::trim(previous);
    let mut room = settings.budget.unwrap_or(usize::MAX).saturating_sub(cost(&system) + cost(previous));
    let mut blocks: Vec<String> = Vec::new();
    let mut out = SummaryRequest { system, ..SummaryRequest::default() };
    let mut full = false;
    for (at, memo) in cover.into_iter().enumerate() {
        if full {
            out.left += 1;
            continue;
        }
        let block = format!("{}:\n{}", memo.name, memo.text);
        let own = cost(&block);
        if own > room && !blocks.is_empty() {
            full = true;
            out.left += 1;
            continue;
        }
        if own > room {
            blocks.push(shortened(memo, room, cost));
            out.cut = true;
            full = true;
        } else {
            room -= own;
            blocks.push(block);
        }
        out.last = Some(at);
    }
    if blocks.is_empty() {
        return out;
    }
    if !previous.is_empty() {
        blocks.insert(0, previous.to_owned());
    }
    out.user = Some(blocks.join("\n\n"));
    out
}

/// A message that loses its beginning until it fits; one character stays in any case.
fn shortened(memo: &Memo, room: usize, cost: &dyn Fn(&str) -> usize) -> String {
    let chars: Vec<(usize, char)> = memo.text.char_indices().collect();
    let block = |from: usize| {
        let at = chars.get(from).map_or(memo.text.len(), |(at, _)| *at);
        format!("{}:\n…{}", memo.name, memo.text.get(at..).unwrap_or(""))
    };
    // The cost grows with the length, so half of what may be is tried each time.
    let (mut from, mut to) = (1, chars.len().saturating_sub(1).max(1));
    while from < to {
        let middle = usize::midpoint(from, to);
        if cost(&block(middle)) <= room {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    block(from)
}

/// What a model's answer is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// To be kept; `long`: more than twice the words it was asked for.
    Keep {
        /// The text.
        text: String,
        /// Too long.
        long: bool,
    },
    /// Nothing in it, or what was asked.
    Reject,
}

/// Judges an answer, its reasoning removed already.
pub fn judge(answer: &str, asked: &str, settings: &SummarySettings) -> Verdict {
    let text = js::trim(answer);
    if text.is_empty() || text == js::trim(asked) {
        return Verdict::Reject;
    }
    Verdict::Keep { text: text.to_owned(), long: words(text) > settings.words.saturating_mul(2) }
}

/// The text that is injected: the summary in its template, cut at a sentence if it costs more than `room`, then the pinned facts.
/// The second value says whether it was cut.
pub fn injected(
    summary: &str,
    settings: &SummarySettings,
    room: usize,
    cost: &dyn Fn(&str) -> usize,
) -> (String, bool) {
    let facts: Vec<&str> = settings.pinned.iter().map(|p| js::trim(p)).filter(|p| !p.is_empty()).collect();
    let pinned = facts.join("\n");
    let whole = summary_text(&settings.template, summary);
    let room = room.saturating_sub(cost(&pinned));
    let mut cut = false;
    let mut text = whole;
    if cost(&text) > room {
        cut = true;
        let around = cost(&summary_text(&settings.template, "x")).saturating_sub(cost("x"));
        text = fit(js::trim(summary), room.saturating_sub(around), cost)
            .map_or(String::new(), |short| summary_text(&settings.template, short));
    }
    let parts = [text, pinned];
    (parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("\n"), cut)
}

/// The longest beginning that ends with a sentence and costs at most `room`.
pub(super) fn fit<'a>(text: &'a str, room: usize, cost: &dyn Fn(&str) -> usize) -> Option<&'a str> {
    let length = text.chars().count();
    let (mut low, mut high) = (0, length);
    let mut best = None;
    while low <= high {
        let middle = usize::midpoint(low, high);
        let short = cut_at_sentence(text, middle);
        match short {
            Some(short) if cost(short) > room => {
                let Some(less) = middle.checked_sub(1) else { break };
                high = less;
            }
            short => {
                best = short.or(best);
                low = middle + 1;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> usize {
        text.chars().count()
    }

    #[test]
    fn an_answer_is_judged() {
        let settings = SummarySettings { words: 2, ..SummarySettings::default() };
        assert_eq!(judge(" \n", "p", &settings), Verdict::Reject);
        assert_eq!(judge("总结。", " 总结。", &settings), Verdict::Reject);
        assert_eq!(
            judge("他们相识于林地。", "p", &settings),
            Verdict::Keep { text: "他们相识于林地。".into(), long: true }
        );
        assert_eq!(judge("Они там.", "p", &settings), Verdict::Keep { text: "Они там.".into(), long: false });
    }

    #[test]
    fn a_long_summary_ends_with_a_sentence_and_facts_stay() {
        let settings = SummarySettings {
            template: "[{{summary}}]".into(),
            pinned: vec!["生日：三月十五日".into(), " ".into()],
            ..SummarySettings::default()
        };
        let text = "他们相识于林地。后来塔烧了。洛恩守在北边。";
        assert_eq!(injected(text, &settings, 99, &points), (format!("[{text}]\n生日：三月十五日"), false));
        assert_eq!(
            injected(text, &settings, 25, &points),
            ("[他们相识于林地。后来塔烧了。]\n生日：三月十五日".into(), true)
        );
        assert_eq!(injected(text, &settings, 9, &points), ("生日：三月十五日".into(), true));
        assert_eq!(injected("", &SummarySettings::default(), 9, &points), (String::new(), false));
    }

    #[test]
    fn a_request_always_makes_progress() {
        let memo =
            Memo {
                name: "A".into(), text: "雪下了一夜。天亮时，塔还在烧。".into(), ..Memo::default()
            };
        let settings = SummarySettings { budget: Some(0), ..SummarySettings::default() };
        let got = request("", [&memo, &memo], &settings, &points);
        assert_eq!(got.user.as_deref(), Some("A:\n…。"));
        assert_eq!((got.last, got.cut, got.left), (Some(0), true, 1));
    }
}
