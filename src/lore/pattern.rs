//! Many plain keys, one pass over a text: an Aho-Corasick automaton over bytes that reports, for each key, whether it occurs and
//! whether some occurrence is bounded as a whole word.
//!
//! Cost: building is linear in the keys' total length, a scan in the text plus its hits. Spec: 03 Part 3 P2.

use crate::js;

/// What a text holds of one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Somewhere.
    pub(super) occurs: bool,
    /// Somewhere with boundaries on both sides.
    pub(super) whole: bool,
}

/// Where a whole word may begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// Outside `[A-Za-z0-9_]`, as the reference has it.
    Ascii,
    /// By Unicode letters and scripts (03 F10).
    Unicode,
}

/// No key ends here.
const NONE: u32 = u32::MAX;

/// The automaton of a list of keys. Empty keys never match here.
///
/// Nodes are numbered breadth first over the sorted keys, so the children of a node stand side by side and a node is a few
/// numbers in flat lists: its incoming byte, its first child, where to go on after a mismatch, the next key's end that way, its key.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    bytes: Vec<u8>,
    /// One more than nodes: children of `n` are `first[n]..first[n + 1]`.
    first: Vec<u32>,
    fail: Vec<u32>,
    hit: Vec<u32>,
    key: Vec<u32>,
    lengths: Vec<usize>,
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(NONE)
}

impl Patterns {
    /// Builds it. Keys are matched byte for byte: lower-case both sides first where case does not count. Keys must differ.
    pub(super) fn new<'a>(keys: impl Iterator<Item = &'a str>) -> Self {
        let keys: Vec<&[u8]> = keys.map(str::as_bytes).collect();
        let mut this = Self { lengths: keys.iter().map(|k| k.len()).collect(), ..Self::default() };
        let mut sorted: Vec<(u32, &[u8])> = keys.iter().enumerate().map(|(i, k)| (number(i), *k)).collect();
        sorted.retain(|(_, key)| !key.is_empty());
        // No two are equal, and they may be many.
        sorted.sort_unstable_by_key(|(_, key)| *key);
        // Each node stands for the sorted keys that begin like it.
        let mut level: Vec<&[(u32, &[u8])]> = vec![&sorted];
        this.bytes.push(0);
        for depth in 0.. {
            let mut deeper = Vec::new();
            for &all in &level {
                let own = all.first().filter(|(_, key)| key.len() == depth);
                this.key.push(own.map_or(NONE, |(i, _)| *i));
                let mut rest = all.get(usize::from(own.is_some())..).unwrap_or(&[]);
                this.first.push(number(this.bytes.len()));
                while let Some(&byte) = rest.first().and_then(|(_, key)| key.get(depth)) {
                    let alike = rest.partition_point(|(_, key)| key.get(depth) == Some(&byte));
                    let (child, others) = rest.split_at(alike);
                    this.bytes.push(byte);
                    deeper.push(child);
                    rest = others;
                }
            }
            if deeper.is_empty() {
                break;
            }
            level = deeper;
        }
        this.first.push(number(this.bytes.len()));
        this.link();
        this
    }

    /// Number of keys.
    pub(super) const fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Where to go on after a mismatch, and the next end of a key on that way.
    fn link(&mut self) {
        self.fail = vec![0; self.bytes.len()];
        self.hit = vec![0; self.bytes.len()];
        for at in 0..number(self.bytes.len()) {
            for child in self.children(at) {
                let byte = self.bytes.get(child as usize).copied().unwrap_or(0);
                let fail = if at == 0 { 0 } else { self.follow(get(&self.fail, at), byte) };
                let hit = if get(&self.key, fail) == NONE { get(&self.hit, fail) } else { fail };
                if let (Some(f), Some(h)) =
                    (self.fail.get_mut(child as usize), self.hit.get_mut(child as usize))
                {
                    (*f, *h) = (fail, hit);
                }
            }
        }
    }

    fn children(&self, at: u32) -> std::ops::Range<u32> {
        get(&self.first, at)..get(&self.first, at + 1)
    }

    fn step(&self, at: u32, byte: u8) -> Option<u32> {
        let children = self.children(at);
        let bytes = self.bytes.get(children.start as usize..children.end as usize)?;
        let found = bytes.binary_search(&byte).ok()?;
        Some(children.start + number(found))
    }

    fn follow(&self, mut at: u32, byte: u8) -> u32 {
        loop {
            if let Some(next) = self.step(at, byte) {
                return next;
            }
            if at == 0 {
                return 0;
            }
            at = get(&self.fail, at);
        }
    }

    /// Tells of every key that occurs in a text: key index and what was found. A key may be told of several times.
    pub(super) fn scan(&self, text: &str, bounds: Bounds, mut tell: impl FnMut(usize, Found)) {
        if self.bytes.len() <= 1 {
            return;
        }
        let mut at = 0_u32;
        for (i, byte) in text.bytes().enumerate() {
            at = self.follow(at, byte);
            let mut end = at;
            while end != 0 {
                let key = get(&self.key, end) as usize;
                if let Some(length) = self.lengths.get(key) {
                    tell(key, Found { occurs: true, whole: is_whole(text, i + 1 - length, i + 1, bounds) });
                }
                end = get(&self.hit, end);
            }
        }
    }
}

/// A number of a node; 0 is the root, from where nothing is lost.
fn get(list: &[u32], at: u32) -> u32 {
    list.get(at as usize).copied().unwrap_or(0)
}

/// Whether the bytes `from..to` of a text stand as a whole word.
pub(super) fn is_whole(text: &str, from: usize, to: usize, bounds: Bounds) -> bool {
    let (Some(before), Some(key), Some(after)) = (text.get(..from), text.get(from..to), text.get(to..))
    else {
        return false;
    };
    let (left, right) = (before.chars().next_back(), after.chars().next());
    match bounds {
        Bounds::Ascii => !left.is_some_and(js::is_word) && !right.is_some_and(js::is_word),
        Bounds::Unicode => boundary(left, key.chars().next()) && boundary(key.chars().next_back(), right),
    }
}

/// Whether a word may begin or end between two characters: not inside a run of one script that writes words apart, and anywhere
/// where a script without spaces, or no word character at all, stands on the key's side or the other.
fn boundary(a: Option<char>, b: Option<char>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return true };
    !(spaced_word(a) && spaced_word(b))
}

/// A letter, mark, digit or underscore of a script that puts spaces between words.
fn spaced_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_' || is_mark(c)) && !without_spaces(c)
}

/// Combining marks of the scripts that put spaces between words; the others do not need them here.
const fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}'
        | '\u{5c5}' | '\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}'
        | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{951}'..='\u{957}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}' | '\u{fe20}'..='\u{fe2f}')
}

/// Scripts written without spaces: Han, kana, Thai, Lao, Khmer, Myanmar, Tibetan.
const fn without_spaces(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{f00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{19e0}'..='\u{19ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(keys: &[&str], text: &str, bounds: Bounds) -> Vec<(bool, bool)> {
        let mut out = vec![(false, false); keys.len()];
        Patterns::new(keys.iter().copied()).scan(text, bounds, |key, f| {
            out[key].0 |= f.occurs;
            out[key].1 |= f.whole;
        });
        out
    }

    #[test]
    fn overlapping_keys_are_all_found() {
        let keys = ["he", "she", "his", "hers", "", "龙胆", "胆", "🐉"];
        let got = found(&keys, "ushers 龙胆🐉", Bounds::Ascii);
        assert_eq!(
            got.iter().map(|f| f.0).collect::<Vec<_>>(),
            [true, true, false, true, false, true, true, true]
        );
    }

    #[test]
    fn equals_a_naive_search() {
        let keys = ["a", "aa", "aba", "ab龙", "龙a", "\u{1}a"];
        for text in ["aabaab龙a", "", "aaaa", "\u{1}a龙ab", "abababa"] {
            let got: Vec<bool> = found(&keys, text, Bounds::Ascii).iter().map(|f| f.0).collect();
            assert_eq!(got, keys.map(|k| text.contains(k)), "{text}");
        }
    }

    #[test]
    fn words_of_other_scripts_are_whole() {
        // Report 006 and spec 03 F10.
        for (key, text, whole) in [
            ("龙胆", "他把龙胆放在桌上。", true),
            ("さくら", "さくらさんが来た。", true),
            ("кот", "рыжий кот спит.", true),
            ("кот", "который час?", false),
            ("caf", "un café, merci.", false),
            ("café", "un café, merci.", true),
            ("龙", "a龙b", true),
            ("king", "viking", false),
            ("แมว", "มีแมวสองตัว", true),
            ("수", "지수야", false),
        ] {
            assert_eq!(found(&[key], text, Bounds::Unicode)[0].1, whole, "{key} in {text}");
        }
    }
}
