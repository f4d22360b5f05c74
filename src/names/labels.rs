//! The beginning of a line -> whose label stands there: `Lorne:`, `**塞拉菲娜**（小声）：`, `Anna says:`, `セラフィナ「` (spec 01 §P2.2).
//!
//! Works on text that is still arriving: [`Look::Open`] says that what is there may yet become a label. Knows nothing of lists,
//! code blocks or rosters; who reads a whole reply decides where a label is content (`reply`).
//! Cost: one look reads at most some 600 characters and the name; every repetition in the grammar is bounded for that.

use super::key::{Diacritics, Keyed, key};

/// Blanks in a row that are read over.
const BLANKS: usize = 32;
/// Emphasis marks and brackets in a row that are read over.
const MARKS: usize = 10;
/// Characters of an annotation such as `(whispering)`.
const ANNOTATION: usize = 48;
/// Labels in a row that are read as one.
const REPEATS: usize = 8;

/// What the beginning of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look<T> {
    /// No label, whatever follows.
    No,
    /// What is there may become a label, or a longer one.
    Open,
    /// A label, complete.
    Found(T),
}

/// A label. Offsets are bytes from the start of the text that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Index of the participant.
    pub who: usize,
    /// Where the name stands.
    pub name: (usize, usize),
    /// Marks in front of the name that are closed only behind the label (`*Lorne: waves*`): they belong to the body.
    pub unclosed: (usize, usize),
    /// Where the body begins.
    pub end: usize,
    /// It has a verb of speech (`Lorne says:`), so it may be a sentence about the one it names.
    pub told: bool,
}

/// Names whose labels are looked for.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Key and participant, longest key first.
    names: Vec<(Vec<char>, usize)>,
    /// Bytes of text that the longest name may take.
    window: usize,
}

impl Labels {
    /// Names of participants, by their index. Of two with equal keys the first has it.
    pub fn new<'a>(participants: impl IntoIterator<Item = (usize, &'a str)>) -> Self {
        let mut names: Vec<(Vec<char>, usize)> = Vec::new();
        let mut window = 0;
        for (who, name) in participants {
            let key: Vec<char> = key(name, Diacritics::Strict).chars().collect();
            if key.iter().any(|c| !crate::js::is_space(*c)) && names.iter().all(|(known, _)| *known != key) {
                // Another spelling of the name may take more bytes, but not without measure.
                window = window.max(4 * name.len() + 64);
                let at = names.partition_point(|(known, _)| known.len() >= key.len());
                names.insert(at, (key, who));
            }
        }
        Self { names, window }
    }

    /// Whether nobody can be labelled.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The label at the start of a line, without the repetitions that may follow. `whole`: the line ends where the text ends.
    pub fn at_line(&self, line: &str, whole: bool) -> Look<Label> {
        let mut scan = Scan { labels: self, text: line, whole, open: false };
        let found = scan.line();
        scan.verdict(found)
    }

    /// The label at a position within a line: no heading, no indentation.
    pub fn at(&self, text: &str, from: usize, whole: bool) -> Look<Label> {
        let mut scan = Scan { labels: self, text, whole, open: false };
        let found = scan.label(from);
        scan.verdict(found)
    }

    /// The labels at the start of a line that repeat or replace each other: `Lorne: Lorne:`, `Lorne: Seraphina:`. `own` says
    /// who may repeat; the first one who may not is the last that is read.
    pub fn row(&self, line: &str, own: impl Fn(usize) -> bool, whole: bool) -> Look<Vec<Label>> {
        let mut row: Vec<Label> = Vec::new();
        let mut from = 0;
        while row.len() < REPEATS && row.last().is_none_or(|l| own(l.who)) {
            match self.at_line(line.get(from..).unwrap_or(""), whole) {
                Look::No => break,
                Look::Open => return Look::Open,
                Look::Found(label) => {
                    let label = label.moved(from);
                    from = label.end;
                    row.push(label);
                }
            }
        }
        if row.is_empty() { Look::No } else { Look::Found(row) }
    }

    /// The first label of somebody else inside a line: behind `, ; | / · 、 ， ；`, at or after `from`, before `to`.
    pub fn another(&self, line: &str, from: usize, to: usize, who: usize, whole: bool) -> Look<Label> {
        let body = line.get(from..).unwrap_or("");
        for (at, c) in body.char_indices() {
            if from + at >= to {
                return Look::No;
            }
            if !matches!(c, ',' | ';' | '|' | '/' | '·' | '、' | '，' | '；') {
                continue;
            }
            let mut scan = Scan { labels: self, text: line, whole, open: false };
            let start = scan.blanks(from + at + c.len_utf8());
            let found = scan.label(start);
            match scan.verdict(found) {
                Look::Found(label) if label.who == who => {}
                Look::No => {}
                other => return other,
            }
        }
        if whole { Look::No } else { Look::Open }
    }
}

impl Label {
    fn moved(mut self, by: usize) -> Self {
        for (a, b) in [&mut self.name, &mut self.unclosed] {
            *a += by;
            *b += by;
        }
        self.end += by;
        self
    }
}

/// One attempt. `open` is set whenever the text ended where more of it could have mattered.
struct Scan<'a> {
    labels: &'a Labels,
    text: &'a str,
    whole: bool,
    open: bool,
}

impl Scan<'_> {
    fn verdict(&self, found: Option<Label>) -> Look<Label> {
        match found {
            // A reading that is preferred to this one may still come true.
            _ if self.open => Look::Open,
            Some(label) => Look::Found(label),
            None => Look::No,
        }
    }

    fn peek(&mut self, at: usize) -> Option<char> {
        let next = self.text.get(at..).and_then(|t| t.chars().next());
        self.open |= next.is_none() && !self.whole;
        next
    }

    /// Whether the text goes on with a token, ASCII letters in any case.
    fn token(&mut self, at: usize, token: &str) -> bool {
        let rest = self.text.get(at..).unwrap_or("");
        let (have, want) = (rest.as_bytes(), token.as_bytes());
        let n = have.len().min(want.len());
        let same = have.iter().zip(want).take(n).all(|(a, b)| a.eq_ignore_ascii_case(b));
        self.open |= same && n < want.len() && !self.whole;
        same && n == want.len()
    }

    /// The longest of some tokens, longest first in the list.
    fn one_of(&mut self, at: usize, tokens: &[&str]) -> Option<usize> {
        tokens.iter().find(|t| self.token(at, t)).map(|t| at + t.len())
    }

    fn blanks(&mut self, mut at: usize) -> usize {
        for _ in 0..BLANKS {
            match self.peek(at) {
                Some(c) if is_blank(c) => at += c.len_utf8(),
                _ => break,
            }
        }
        at
    }

    /// Steps 1 and 2, and the lines that are never labels.
    fn line(&mut self) -> Option<Label> {
        if self.labels.is_empty() {
            return None;
        }
        let mut at = self.blanks(0);
        if self.is_marked(at) {
            return None;
        }
        let mut hashes = at;
        while hashes < at + 6 && self.peek(hashes) == Some('#') {
            hashes += 1;
        }
        if hashes > at {
            let after = self.blanks(hashes);
            if after == hashes {
                return None;
            }
            at = after;
        }
        self.label(at)
    }

    /// List markers, quotes, tables, fences.
    fn is_marked(&mut self, at: usize) -> bool {
        match self.peek(at) {
            Some('>' | '|') => true,
            Some('-' | '+' | '•' | '*') => {
                let after = at + self.peek(at).map_or(0, char::len_utf8);
                self.peek(after).is_some_and(is_blank)
            }
            Some('~') => self.token(at, "~~~"),
            Some('`') => self.token(at, "```"),
            Some(c) if c.is_ascii_digit() => {
                let mut end = at;
                while end < at + 9 && self.peek(end).is_some_and(|c| c.is_ascii_digit()) {
                    end += 1;
                }
                matches!(self.peek(end), Some('.' | ')')) && self.peek(end + 1).is_some_and(is_blank)
            }
            _ => false,
        }
    }

    /// Steps 3 and 4: marks, then a name. A name may itself begin with what looks like a mark.
    fn label(&mut self, start: usize) -> Option<Label> {
        let mut at = start;
        for _ in 0..=MARKS {
            for (who, end) in self.names(at) {
                if let Some((body, closed, told)) = self.tail(at, end, start < at) {
                    let unclosed = if closed { (at, at) } else { (start, at) };
                    return Some(Label { who, name: (at, end), unclosed, end: body, told });
                }
            }
            at = self.mark(at, true)?;
        }
        None
    }

    /// Names that stand at a position, longest first, with their ends.
    fn names(&mut self, at: usize) -> Vec<(usize, usize)> {
        let rest = self.text.get(at..).unwrap_or("");
        let mut cut = rest.len().min(self.labels.window);
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        let window = rest.get(..cut).unwrap_or("");
        let arriving = cut == rest.len() && !self.whole;
        let keyed = Keyed::new(window, Diacritics::Strict);
        let chars = keyed.chars();
        let mut found = Vec::new();
        for (key, who) in &self.labels.names {
            let same = key.iter().zip(chars).take_while(|(k, c)| **k == c.c).count();
            if same == key.len() {
                if let Some(last) = same.checked_sub(1).and_then(|i| chars.get(i)).filter(|c| c.closes) {
                    found.push((*who, at + last.end));
                }
            } else if arriving
                && chars.get(same).is_none_or(|c| c.end == window.len() && may_change(c.c, c.opens))
            {
                self.open = true;
            }
        }
        found
    }

    /// One mark of emphasis or one bracket: where it ends.
    fn mark(&mut self, at: usize, opening: bool) -> Option<usize> {
        let brackets: &[&str] = if opening {
            &["[", "【", "〔", "(", "（", "<", "《"]
        } else {
            &["]", "】", "〕", ")", "）", ">", "》"]
        };
        self.one_of(at, &["*", "_", "~~"])
            .or_else(|| self.one_of(at, TAGS))
            .or_else(|| self.one_of(at, brackets))
    }

    fn closers(&mut self, mut at: usize) -> usize {
        for _ in 0..MARKS {
            match self.mark(at, false) {
                Some(end) => at = end,
                None => break,
            }
        }
        at
    }

    /// Steps 5 to 10, and the second form: where the body begins, whether all marks are closed, whether there is a verb.
    fn tail(&mut self, name: usize, end: usize, opened: bool) -> Option<(usize, bool, bool)> {
        let closed = self.closers(end);
        let mut starts = vec![closed];
        if closed != end {
            // `Lorne*softly*:` has an annotation where a closing mark was read.
            starts.push(end);
        }
        let touching = self.text.get(name..end).and_then(|n| n.chars().next_back()).is_some_and(is_letter);
        for start in starts {
            let open = opened && start == end;
            let blank = self.blanks(start);
            let annotation = self.annotation(blank);
            for at in annotation.into_iter().chain([start]) {
                if matches!(self.peek(at), Some('「' | '『')) {
                    return Some((at, !open, false));
                }
                let after = self.blanks(at);
                let (verb, told) = match self.verb(after, after > end || !touching) {
                    Some(verb) => (verb, true),
                    None => (at, false),
                };
                if let Some((body, closed)) = self.colon(verb, open) {
                    return Some((body, closed, told));
                }
            }
        }
        None
    }

    /// `(softly)`, `[to Ann]`, `*sighs*`: where it ends.
    fn annotation(&mut self, at: usize) -> Option<usize> {
        let open = self.peek(at)?;
        let close = match open {
            '(' => ')',
            '（' => '）',
            '[' => ']',
            '【' => '】',
            '*' => '*',
            _ => return None,
        };
        let mut end = at + open.len_utf8();
        for i in 0..=ANNOTATION {
            let c = self.peek(end)?;
            end += c.len_utf8();
            if c == close {
                return (i > 0).then_some(end);
            }
        }
        None
    }

    /// A verb of speech: where it ends. English ones need a border on both sides.
    fn verb(&mut self, at: usize, border: bool) -> Option<usize> {
        if let Some(end) = self.one_of(at, CHINESE_VERBS) {
            return Some(end);
        }
        if !border {
            return None;
        }
        let verbs: Vec<&str> = ENGLISH_VERBS.iter().copied().filter(|v| self.token(at, v)).collect();
        let end = at + verbs.iter().map(|v| v.len()).max()?;
        if self.peek(end).is_some_and(is_letter) {
            return None;
        }
        // One adverb.
        let word = self.blanks(end);
        let mut after = word;
        while after < word + 24 && self.peek(after).is_some_and(|c| c.is_ascii_alphabetic()) {
            after += 1;
        }
        let adverb = self.text.get(word..after).unwrap_or("");
        let is_adverb = word > end && adverb.len() > 2 && adverb.to_ascii_lowercase().ends_with("ly");
        Some(if is_adverb { after } else { end })
    }

    /// Steps 7 to 10: the colon, what may not follow it, what belongs to the label behind it.
    fn colon(&mut self, at: usize, open: bool) -> Option<(usize, bool)> {
        let closers = self.closers(at);
        let mut closed = !open || closers > at;
        let colon = self.blanks(closers);
        let c = self.peek(colon)?;
        if !matches!(c, ':' | '：' | '﹕' | '︓' | '∶' | '꞉') {
            return None;
        }
        let mut end = colon + c.len_utf8();
        let spaced = c == ':' && self.text.get(..colon).is_some_and(|t| t.ends_with(is_blank));
        let next = self.peek(end);
        if next == Some(':')
            || self.token(end, "//")
            || (spaced && next.is_some_and(|c| ")(DpPoO3/\\|[]".contains(c)))
        {
            return None;
        }
        if !closed {
            let after = self.closers(end);
            closed = after > end;
            end = after;
        }
        Some((self.blanks(end), closed))
    }
}

const TAGS: &[&str] =
    &["<b>", "</b>", "<strong>", "</strong>", "<i>", "</i>", "<em>", "</em>", "<u>", "</u>"];

const ENGLISH_VERBS: &[&str] = &[
    "says",
    "said",
    "asks",
    "asked",
    "replies",
    "replied",
    "answers",
    "answered",
    "whispers",
    "whispered",
    "shouts",
    "shouted",
    "yells",
    "yelled",
    "mutters",
    "muttered",
    "adds",
    "added",
    "thinks",
    "thought",
    "speaks",
    "continues",
    "continued",
];

const CHINESE_VERBS: &[&str] = &[
    "回答道",
    "低声道",
    "低聲道",
    "说道",
    "說道",
    "问道",
    "問道",
    "答道",
    "笑道",
    "喊道",
    "叫道",
    "心想",
    "说",
    "說",
    "问",
    "問",
    "道",
    "想",
];

/// Space within a line, and the marks without width that right-to-left text carries.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\t' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2000}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'
            | '\u{2066}'..='\u{2069}' | '\u{3000}' | '\u{feff}'
    )
}

/// A letter that an English word could go on with.
const fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || matches!(c, '\u{c0}'..='\u{24f}')
}

/// Whether more text can change the key of the last cluster from its `c` on: marks and conjoining jamo can.
const fn may_change(c: char, first: bool) -> bool {
    !first || matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 14] = [
        "Lorne",
        "Seraphina",
        "塞拉菲娜",
        "Ann",
        "Anna",
        "Mr. X (the [real])",
        "Agent: Zero",
        "セラフィナ",
        "Jose\u{301}",
        "*Star*",
        "로른",
        "لورن",
        "🦊 Fox",
        "ลอร์น",
    ];

    fn labels() -> Labels {
        Labels::new(NAMES.into_iter().enumerate())
    }

    fn who(line: &str) -> Option<(&'static str, &str)> {
        match labels().at_line(line, true) {
            Look::Found(label) => Some((NAMES[label.who], line.get(label.end..).unwrap())),
            Look::No => None,
            Look::Open => panic!("open on a whole line: {line}"),
        }
    }

    #[test]
    fn labels_in_any_dress() {
        for (line, name, body) in [
            ("Seraphina: hi", "Seraphina", "hi"),
            ("塞拉菲娜：你也好。", "塞拉菲娜", "你也好。"),
            ("塞拉菲娜: 你也好。", "塞拉菲娜", "你也好。"),
            ("Seraphina : y", "Seraphina", "y"),
            ("Seraphina\u{a0}: y", "Seraphina", "y"),
            ("   Seraphina: y", "Seraphina", "y"),
            ("\u{3000}塞拉菲娜 ﹕ y", "塞拉菲娜", "y"),
            ("**Seraphina:** y", "Seraphina", "y"),
            ("**Seraphina**: y", "Seraphina", "y"),
            ("***Seraphina***： y", "Seraphina", "y"),
            ("_Seraphina:_ y", "Seraphina", "y"),
            ("~~Seraphina~~: y", "Seraphina", "y"),
            ("<b>Seraphina:</b> y", "Seraphina", "y"),
            ("<STRONG>Seraphina</STRONG>: y", "Seraphina", "y"),
            ("### Seraphina: y", "Seraphina", "y"),
            ("[Seraphina]: y", "Seraphina", "y"),
            ("【塞拉菲娜】：你好", "塞拉菲娜", "你好"),
            ("塞拉菲娜（小声）：你好", "塞拉菲娜", "你好"),
            ("塞拉菲娜【低头】说：你好", "塞拉菲娜", "你好"),
            ("Seraphina (whispering): y", "Seraphina", "y"),
            ("**Seraphina** *(softly)*: y", "Seraphina", "y"),
            ("**Seraphina (softly):** y", "Seraphina", "y"),
            ("Seraphina*softly*: y", "Seraphina", "y"),
            ("Seraphina says: \"y\"", "Seraphina", "\"y\""),
            ("Seraphina said softly: \"y\"", "Seraphina", "\"y\""),
            ("塞拉菲娜说：“你好”", "塞拉菲娜", "“你好”"),
            ("塞拉菲娜低声道：嗯", "塞拉菲娜", "嗯"),
            ("セラフィナ「こんにちは」", "セラフィナ", "「こんにちは」"),
            ("セラフィナ（小声）『ねえ』", "セラフィナ", "『ねえ』"),
            ("SERAPHINA: y", "Seraphina", "y"),
            ("Ｓｅｒａｐｈｉｎａ：y", "Seraphina", "y"),
            ("Sera\u{200b}phina: y", "Seraphina", "y"),
            ("Ann: y", "Ann", "y"),
            ("Anna: y", "Anna", "y"),
            ("Mr. X (the [real]): y", "Mr. X (the [real])", "y"),
            ("Agent: Zero: y", "Agent: Zero", "y"),
            ("JOSÉ: sí", "Jose\u{301}", "sí"),
            ("*Star*: y", "*Star*", "y"),
            ("***Star***: y", "*Star*", "y"),
            ("로른: 안녕", "로른", "안녕"),
            ("\u{1105}\u{1169}\u{1105}\u{1173}\u{11ab}: 안녕", "로른", "안녕"),
            ("\u{200f}لورن: مرحبا", "لورن", "مرحبا"),
            ("🦊 Fox: 🎉", "🦊 Fox", "🎉"),
            ("ลอร์น: สวัสดี", "ลอร์น", "สวัสดี"),
            ("Lorne:*smiles*", "Lorne", "*smiles*"),
            ("Lorne:", "Lorne", ""),
        ] {
            assert_eq!(who(line), Some((name, body)), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_a_label() {
        for line in [
            "Agent: y",
            "Sera: y",
            "Seraphinas: y",
            "Seraphina - y",
            "*Seraphina smiles.*",
            "Seraphina looked at him: no",
            "Seraphina::heal()",
            "Seraphina://x",
            "Seraphina :) smiled",
            "Seraphina :D",
            "He said Seraphina: no",
            "“Seraphina: healer,” she read.",
            "Annasays: y",
            "Ann saysx: y",
            "- Seraphina: tired",
            "* Seraphina: tired",
            "1. Seraphina: tired",
            "12) Seraphina: tired",
            "> Seraphina: old letter",
            "| Seraphina: x |",
            "```Seraphina: x",
            "#Seraphina: x",
            "Jose: no",
            "塞拉菲娜们：不",
            "",
            "   ",
        ] {
            assert_eq!(who(line), None, "{line}");
        }
    }

    #[test]
    fn marks_that_close_behind_the_label_stay_with_the_body() {
        let Look::Found(label) = labels().at_line("  *Lorne: waves*", true) else { panic!() };
        assert_eq!((label.unclosed, label.end, label.name), ((2, 3), 10, (3, 8)));
        let Look::Found(label) = labels().at_line("**Lorne:** waves", true) else { panic!() };
        assert_eq!(label.unclosed.0, label.unclosed.1);
    }

    #[test]
    fn rows_and_others() {
        let l = labels();
        let own = |who| who == 0;
        let row = |line| match l.row(line, own, true) {
            Look::Found(row) => row.into_iter().map(|l| (l.who, l.end)).collect(),
            _ => Vec::new(),
        };
        assert_eq!(row("Lorne: Lorne: **Lorne:** hi"), [(0, 7), (0, 14), (0, 25)]);
        assert_eq!(row("Lorne: Seraphina: Lorne: hi"), [(0, 7), (1, 18)]);
        assert_eq!(row("Lorne: - Lorne: hi"), [(0, 7)]);
        let line = "Lorne: a, Lorne: b、塞拉菲娜：c";
        let Look::Found(other) = l.another(line, 7, 100, 0, true) else { panic!() };
        assert_eq!(other.who, 2);
        assert_eq!(l.another(line, 7, 15, 0, true), Look::No);
        assert_eq!(l.another("Lorne: a, Sera", 7, 100, 0, false), Look::Open);
        assert_eq!(l.another("Lorne: a, Sera", 7, 100, 0, true), Look::No);
    }

    proptest! {
        #[test]
        fn what_is_said_of_a_beginning_holds_for_the_whole(parts in prop::collection::vec(piece(), 0..9)) {
            let (line, l) = (parts.concat(), labels());
            let end = l.at_line(&line, true);
            prop_assert_ne!(end, Look::Open);
            for (at, _) in line.char_indices() {
                let early = l.at_line(&line[..at], false);
                prop_assert!(early == Look::Open || early == end, "{:?}: {:?} then {:?}", &line[..at], early, end);
            }
        }
    }

    fn piece() -> impl Strategy<Value = String> {
        let fixed = [
            " ", "\t", "**", "*", "_", "~~", "<b>", "</b>", "[", "]", "（", "）", "(softly)", ":", "：",
            "::", "//", "「", " says", " said", "softly", "说", "说道", "# ", "- ", "1. ", "> ", "`", ",",
            "、", "x", "洛", "e\u{301}", "\u{301}", "\u{200b}", "\u{1105}", "\u{1169}", "Mr. X", "Ser",
            "jose", "🦊",
        ];
        prop_oneof![
            prop::sample::select(&NAMES[..]).prop_map(str::to_owned),
            prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
            "\\PC{0,2}",
        ]
    }
}
