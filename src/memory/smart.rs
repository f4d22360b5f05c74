//! A text and a limit -> chunks that end where sentences end, in any script (spec 10 §22). Lengths are code points.

use crate::js;
use crate::names::clusters;

/// How a text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The longest chunk; 0 for no limit.
    pub limit: usize,
    /// A chunk begins with as many whole last pieces of the one before as this holds.
    pub overlap: usize,
}

/// A text in chunks; blank ones are left out. What cannot be cut (one grapheme cluster) may be longer than the limit.
pub fn split_smart(text: &str, split: Split) -> Vec<String> {
    let limit = if split.limit == 0 { usize::MAX } else { split.limit };
    let pieces = pieces(text, limit);
    let mut chunks = Vec::new();
    // Pieces from `start` to before `next` are in the chunk that is being filled; `length` is their length.
    let (mut start, mut next, mut length) = (0, 0, 0_usize);
    while let Some(piece) = pieces.get(next) {
        if next == start || length.saturating_add(piece.bare) <= limit {
            length = length.saturating_add(piece.full);
            next += 1;
            continue;
        }
        push(&mut chunks, text, &pieces, start, next);
        (start, length) = (next, 0);
        // Go back while the pieces fit in the overlap and leave room for the next one.
        while let Some(before) = start.checked_sub(1).and_then(|i| pieces.get(i)) {
            let longer = length + before.full;
            if longer > split.overlap || longer.saturating_add(piece.bare) > limit {
                break;
            }
            (start, length) = (start - 1, longer);
        }
    }
    push(&mut chunks, text, &pieces, start, next);
    chunks
}

fn push(chunks: &mut Vec<String>, text: &str, pieces: &[Piece], start: usize, next: usize) {
    let from = pieces.get(start).map_or(0, |p| p.from);
    let to = next.checked_sub(1).and_then(|i| pieces.get(i)).map_or(from, |p| p.to);
    let chunk = js::trim(text.get(from..to).unwrap_or(""));
    if !chunk.is_empty() {
        chunks.push(chunk.to_owned());
    }
}

/// A stretch of the text that stays together.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: usize,
    to: usize,
    /// Code points.
    full: usize,
    /// Code points without white space at the end.
    bare: usize,
}

impl Piece {
    fn new(text: &str, from: usize, to: usize) -> Self {
        let own = text.get(from..to).unwrap_or("");
        Self { from, to, full: own.chars().count(), bare: js::trim_end(own).chars().count() }
    }
}

/// Sentences; of those that are too long their clauses; of these their grapheme clusters.
fn pieces(text: &str, limit: usize) -> Vec<Piece> {
    let mut out = Vec::new();
    for (from, to) in sentence_ranges(text) {
        let sentence = Piece::new(text, from, to);
        if sentence.bare <= limit {
            out.push(sentence);
            continue;
        }
        for (from, to) in clauses(text, from, to) {
            let clause = Piece::new(text, from, to);
            if clause.bare <= limit {
                out.push(clause);
                continue;
            }
            let own = text.get(from..to).unwrap_or("");
            out.extend(clusters(own).map(|(at, c)| Piece::new(text, from + at, from + at + c.len())));
        }
    }
    out
}

/// Where the sentences of a text stand, white space behind them included. Together they are the text.
pub(super) fn sentence_ranges(text: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut from = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\n' {
            while chars.next_if(|(_, c)| *c == '\n').is_some() {}
        } else if is_end(c) {
            while chars.next_if(|(_, c)| is_end(*c)).is_some() {}
            close(&mut chars);
        } else if c == '.' {
            while chars.next_if(|(_, c)| *c == '.').is_some() {}
            if chars.peek().is_some_and(|(_, c)| !js::is_space(*c)) {
                continue;
            }
            close(&mut chars);
        } else {
            continue;
        }
        let to = chars.peek().map_or(text.len(), |(at, _)| *at);
        debug_assert!(to > at);
        out.push((from, to));
        from = to;
    }
    if from < text.len() {
        out.push((from, text.len()));
    }
    out
}

/// What closes behind an end, and white space.
fn close(chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>) {
    while chars.next_if(|(_, c)| is_closing(*c)).is_some() {}
    while chars.next_if(|(_, c)| js::is_space(*c)).is_some() {}
}

const fn is_end(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '!' | '?' | '…' | '｡')
}

const fn is_closing(c: char) -> bool {
    matches!(c, '"' | '”' | '’' | '」' | '』' | '）' | ')' | '］' | ']' | '】' | '》' | '*')
}

/// Clauses of a sentence: behind the commas of Chinese and Japanese, and behind white space.
fn clauses(text: &str, from: usize, to: usize) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = from;
    let mut chars = text.get(from..to).unwrap_or("").char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        if !matches!(c, '，' | '、' | '；' | '：') && !js::is_space(c) {
            continue;
        }
        while chars.next_if(|(_, c)| js::is_space(*c)).is_some() {}
        let end = chars.peek().map_or(to, |(at, _)| from + at);
        out.push((start, end));
        start = end;
    }
    if start < to {
        out.push((start, to));
    }
    out
}

/// The longest beginning of a text that ends with a sentence and has at most `room` code points; `None` if no sentence fits.
pub fn cut_at_sentence(text: &str, room: usize) -> Option<&str> {
    let mut best = None;
    let mut length = 0;
    for (from, to) in sentence_ranges(text) {
        let piece = Piece::new(text, from, to);
        if length + piece.bare > room {
            break;
        }
        length += piece.full;
        best = text.get(..to).map(js::trim_end).filter(|t| !t.is_empty()).or(best);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_with_sentences() {
        let smart = |text: &str, limit, overlap| split_smart(text, Split { limit, overlap });
        assert_eq!(smart("守在森林，北缘的老猎人。", 7, 0), ["守在森林，", "北缘的老猎人。"]);
        assert_eq!(smart("Он ушёл. Она осталась! Да?", 16, 0), ["Он ушёл.", "Она осталась!", "Да?"]);
        assert_eq!(smart("ฉันรักเธอ", 4, 0).concat(), "ฉันรักเธอ");
        assert_eq!(smart("  \n ", 4, 0), Vec::<String>::new());
        assert_eq!(smart("none", 0, 0), ["none"]);
    }

    #[test]
    fn a_cut_keeps_whole_sentences() {
        assert_eq!(
            cut_at_sentence("他们相识于林地。后来塔烧了。洛恩守在北边。", 16),
            Some("他们相识于林地。后来塔烧了。")
        );
        assert_eq!(cut_at_sentence("One. Two.", 5), Some("One."));
        assert_eq!(cut_at_sentence("One. Two.", 3), None);
    }
}
