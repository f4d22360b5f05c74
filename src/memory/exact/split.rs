//! The reference's splitter: a text and a length -> chunks (spec 10 §8, §12). Lengths are UTF-16 code units.

use crate::js;
use crate::sentences;

/// What the reference splits at, in this order.
pub const DELIMITERS: [&str; 4] = ["\n\n", "\n", " ", ""];

/// Splits at the first delimiter, what is too long at the next ones, and joins again while it fits. A limit below 1 splits
/// nothing.
pub fn split(text: &str, limit: i64, delimiters: &[&str]) -> Vec<String> {
    let Ok(limit) = usize::try_from(limit) else { return vec![text.to_owned()] };
    if limit == 0 {
        return vec![text.to_owned()];
    }
    let (delimiter, rest) = match delimiters.split_first() {
        Some((first, rest)) => (*first, rest),
        None => ("", delimiters),
    };
    let mut pieces: Vec<String> = Vec::new();
    if delimiter.is_empty() {
        pieces.extend(text.chars().map(String::from));
    } else {
        for part in text.split(delimiter) {
            if js::len16(part) < limit {
                pieces.push(part.to_owned());
            } else {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                pieces.extend(split(part, limit, rest));
            }
        }
    }
    merge(pieces, delimiter, limit)
}

/// Joins neighbours while they fit.
fn merge(pieces: Vec<String>, delimiter: &str, limit: usize) -> Vec<String> {
    let between = js::len16(delimiter);
    let mut out: Vec<String> = Vec::new();
    let mut length = 0;
    for piece in pieces {
        let own = js::len16(&piece);
        match out.last_mut() {
            Some(last) if length + between + own <= limit => {
                last.push_str(delimiter);
                last.push_str(&piece);
                length += between + own;
            }
            _ => {
                out.push(piece);
                length = own;
            }
        }
    }
    out
}

/// How a file is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileCut<'a> {
    /// Chunk size; below 1 nothing is cut.
    pub chunk: i64,
    /// Share of a chunk that is taken from its neighbours, percent.
    pub overlap: f64,
    /// A text that stands where the user wants a cut; empty for none.
    pub delimiter: &'a str,
    /// Cut nowhere else.
    pub only_delimiter: bool,
}

/// Chunks of a file: the size is reduced by the overlap first, then each side takes half of it from its neighbour.
pub fn file_chunks(text: &str, cut: &FileCut<'_>) -> Vec<String> {
    #[expect(clippy::cast_precision_loss, reason = "sizes of chunks are far below 2^53")]
    let overlap = js::to_integer(js::round(cut.chunk as f64 * cut.overlap / 100.0));
    let size = if overlap > 0 { cut.chunk.saturating_sub(overlap) } else { cut.chunk };
    let chunks: Vec<String> = if cut.only_delimiter && !cut.delimiter.is_empty() {
        text.split(cut.delimiter).map(str::to_owned).collect()
    } else {
        let mut delimiters = DELIMITERS.to_vec();
        if !cut.delimiter.is_empty() {
            delimiters.insert(0, cut.delimiter);
        }
        split(text, size, &delimiters)
    };
    let half = usize::try_from(overlap / 2).unwrap_or(0);
    if overlap <= 0 {
        return chunks;
    }
    (0..chunks.len())
        .map(|i| {
            let around = |at: Option<usize>| at.and_then(|at| chunks.get(at)).map_or("", String::as_str);
            let before = opening(last_units(around(i.checked_sub(1)), half));
            let after = sentences::exact(js::slice16(around(Some(i + 1)), 0, half));
            let pieces = [before, around(Some(i)), after];
            pieces.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

fn last_units(text: &str, units: usize) -> &str {
    let length = js::len16(text);
    js::slice16(text, length.saturating_sub(units), length)
}

/// What is left of a text behind its first end of a sentence. Without a dot, or with one in front, it stays whole.
fn opening(text: &str) -> &str {
    let Some(dot) = text.find('.').filter(|at| *at > 0) else { return text };
    let mark =
        ['!', '?', '\n'].into_iter().filter_map(|c| text.find(c)).filter(|at| *at > 0 && *at < dot).min();
    let at = mark.unwrap_or(dot);
    let behind = text.get(at..).unwrap_or("");
    let skipped = if behind.starts_with('\n') { 1 } else { 2 };
    js::slice16(behind, skipped, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_not_cut_in_two() {
        assert_eq!(split("A😀B😀C", 2, &DELIMITERS), ["A", "😀", "B", "😀", "C"]);
        assert_eq!(
            split("one two three four five six", 10, &DELIMITERS),
            ["one two", "three four", "five six"]
        );
        assert_eq!(split("whole", 0, &DELIMITERS), ["whole"]);
        assert_eq!(split("ab", 1, &[]), ["a", "b"]);
        assert_eq!(split("", 3, &DELIMITERS), [""]);
    }

    #[test]
    fn the_side_of_a_neighbour_begins_with_a_sentence() {
        for (text, wanted) in [
            ("hird.", ""),
            ("s the", "s the"),
            (".abc", ".abc"),
            ("a! b. c", "b. c"),
            ("a\nb. c", "b. c"),
            ("no dot! here", "no dot! here"),
            ("!a. b", "b"),
            ("塔。雪. 夜", "夜"),
        ] {
            assert_eq!(opening(text), wanted, "{text}");
        }
    }
}
