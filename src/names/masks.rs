//! A text -> the stretches in which a name is no mention: code, addresses, quotations (spec 01 §P1.6).

use std::ops::Range;

use super::class::{Class, class};
use crate::js;

/// Byte ranges to ignore, by kind, each kind in the order of the text.
pub(super) struct Masks {
    kinds: [Vec<Range<usize>>; 4],
    /// How many of a kind lie behind the last place that was asked about.
    passed: [usize; 4],
}

impl Masks {
    pub(super) fn new(text: &str, code: bool, urls: bool, quotes: bool) -> Self {
        let found = |wanted: bool, find: fn(&str, &mut Vec<Range<usize>>)| {
            let mut ranges = Vec::new();
            if wanted {
                find(text, &mut ranges);
            }
            ranges
        };
        let kinds = [
            found(code, code_masks),
            found(urls, url_masks),
            found(urls, mail_masks),
            found(quotes, quote_masks),
        ];
        Self { kinds, passed: [0; 4] }
    }

    /// Whether a place is masked. Places must be asked about in ascending order.
    pub(super) fn hide(&mut self, at: usize) -> bool {
        self.kinds.iter().zip(&mut self.passed).any(|(ranges, passed)| {
            while ranges.get(*passed).is_some_and(|m| m.end <= at) {
                *passed += 1;
            }
            ranges.get(*passed).is_some_and(|m| m.start <= at)
        })
    }
}

/// Lines with their byte offsets.
fn lines_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let base = text.as_ptr().addr();
    js::lines(text).map(move |line| (line.as_ptr().addr() - base, line))
}

fn code_masks(text: &str, found: &mut Vec<Range<usize>>) {
    let mut fence: Option<(char, usize, usize)> = None; // mark, length, where it began
    for (at, line) in lines_at(text) {
        let body = js::trim_start(line);
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |m| body.chars().take_while(|c| *c == m).count());
        if let Some((m, length, start)) = fence {
            if mark == Some(m) && run >= length && js::trim(body.get(run..).unwrap_or("")).is_empty() {
                found.push(start..at + line.len());
                fence = None;
            }
        } else if let Some(m) = mark.filter(|_| run >= 3) {
            // A line such as ```x``` holds inline code; a fence has no mark behind its first run.
            if body.get(run..).unwrap_or("").contains(m) {
                inline_code(line, at, found);
            } else {
                fence = Some((m, run, at));
            }
        } else {
            inline_code(line, at, found);
        }
    }
    if let Some((.., start)) = fence {
        found.push(start..text.len());
    }
}

/// Runs of backticks pair up with the next run of the same length on the line.
fn inline_code(line: &str, at: usize, found: &mut Vec<Range<usize>>) {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (i, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == i => *length += 1,
            _ => runs.push((i, 1)),
        }
    }
    let longest = runs.iter().map(|(_, length)| *length).max().unwrap_or(0);
    let mut next = vec![None; longest + 1];
    let mut partner = vec![None; runs.len()];
    for ((i, (_, length)), partner) in runs.iter().enumerate().zip(&mut partner).rev() {
        if let Some(next) = next.get_mut(*length) {
            *partner = next.replace(i);
        }
    }
    let mut i = 0;
    while let Some((start, _)) = runs.get(i) {
        i = match partner.get(i).copied().flatten() {
            Some(j) => {
                if let Some((close, length)) = runs.get(j) {
                    found.push(at + start..at + close + length);
                }
                j + 1
            }
            None => i + 1,
        };
    }
}

fn url_masks(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices("://") {
        let before = text.get(..at).unwrap_or("");
        let scheme = ["https", "http"].into_iter().find(|s| {
            before
                .len()
                .checked_sub(s.len())
                .and_then(|i| before.get(i..))
                .is_some_and(|t| t.eq_ignore_ascii_case(s))
        });
        if let Some(scheme) = scheme {
            let rest = text.get(at..).unwrap_or("");
            let length = rest.find(js::is_space).unwrap_or(rest.len());
            found.push(at - scheme.len()..at + length);
        }
    }
}

fn mail_masks(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices('@') {
        let address = |c: char| class(c) == Class::Word || matches!(c, '.' | '%' | '+' | '-');
        let before = text.get(..at).unwrap_or("");
        let local: usize =
            before.chars().rev().take(64).take_while(|c| address(*c)).map(char::len_utf8).sum();
        let after = text.get(at + 1..).unwrap_or("");
        let domain: String = after.chars().take(255).take_while(|c| address(*c)).collect();
        // A dot between letters makes a domain: "hey@Lorne." is no address.
        let dotted =
            domain.split('.').filter(|part| part.chars().any(|c| class(c) == Class::Word)).count() > 1;
        if local > 0 && dotted {
            found.push(at - local..at + 1 + domain.len());
        }
    }
}

fn quote_masks(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, line) in lines_at(text) {
        let mut open: Option<(usize, char)> = None;
        for (i, c) in line.char_indices() {
            match open {
                Some((start, closer)) if c == closer => {
                    found.push(at + start..at + i + c.len_utf8());
                    open = None;
                }
                Some(_) => {}
                None => open = closer(c).map(|closer| (i, closer)),
            }
        }
    }
}

const fn closer(c: char) -> Option<char> {
    Some(match c {
        '"' => '"',
        '“' => '”',
        '「' => '」',
        '『' => '』',
        '«' => '»',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> Vec<&str> {
        Masks::new(text, true, true, true).kinds.into_iter().flatten().map(|r| &text[r]).collect()
    }

    #[test]
    fn code() {
        assert_eq!(masked("a\n```rs\nLorne\n```\nb `c` d"), ["```rs\nLorne\n```", "`c`"]);
        assert_eq!(masked("~~~\n洛恩\n```\n"), ["~~~\n洛恩\n```\n"], "an open fence goes to the end");
        assert_eq!(masked("```x``` y ``a`b`` c"), ["```x```", "``a`b``"]);
        assert_eq!(masked("Lorne`s hat"), Vec::<&str>::new());
    }

    #[test]
    fn addresses() {
        assert_eq!(
            masked("see https://洛恩.example/x, HTTP://a ok"),
            ["https://洛恩.example/x,", "HTTP://a"]
        );
        assert_eq!(masked("mail bob@lorne.com now"), ["bob@lorne.com"]);
        assert_eq!(masked("hey@Lorne. 我@洛恩.公司 std://x"), Vec::<&str>::new());
    }

    #[test]
    fn quotations_stay_on_their_line() {
        assert_eq!(masked("「洛恩」 “a” «b» \"c\" \"d\ne\""), ["「洛恩」", "“a”", "«b»", "\"c\""]);
    }
}
