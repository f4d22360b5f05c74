//! Recall by words: texts and a query -> the texts that share telling words with it (spec 10 §24, BM25).
//!
//! Works in every script without any service: where words are not parted by blanks, pairs of neighbouring characters stand for
//! them. Knows no messages; a document is a text under its position.

use std::collections::BTreeMap;

use super::words::is_apostrophe;
use crate::js;
use crate::names::{Nfkc, Script, script};

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// A hit scores at least this share of the best one.
const FLOOR: f64 = 0.3;

/// A token that more than one text in so many has says nothing by itself ("a", "my", 我们), if there are texts enough to tell.
const COMMON: f64 = 4.0;
const ENOUGH: f64 = 8.0;

/// A piece of a text that is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token {
    /// Normalised text.
    pub text: String,
    /// What it stands for.
    pub kind: TokenKind,
}

/// What a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenKind {
    /// A word.
    Word,
    /// Two neighbouring characters of a script without blanks.
    Pair,
    /// One such character that stands alone.
    Single,
}

/// The tokens of a text, in order, repeated ones too.
pub fn tokens(text: &str, nfkc: &mut Nfkc) -> Vec<Token> {
    tokens_of(&js::lower(&nfkc.of(text)))
}

fn tokens_of(normal: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut run: Vec<char> = Vec::new();
    let chars: Vec<char> = normal.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        match script(c) {
            Script::Han | Script::Hangul | Script::Unspaced => {
                flush_word(&mut word, &mut out);
                run.push(c);
            }
            Script::Mark if !run.is_empty() => run.push(c),
            Script::Letter | Script::Mark => {
                flush_run(&mut run, &mut out);
                word.push(c);
            }
            Script::Other => {
                flush_run(&mut run, &mut out);
                let inside = is_apostrophe(c)
                    && !word.is_empty()
                    && chars.get(i + 1).is_some_and(|next| script(*next) == Script::Letter);
                if !inside {
                    flush_word(&mut word, &mut out);
                }
            }
        }
    }
    flush_word(&mut word, &mut out);
    flush_run(&mut run, &mut out);
    out
}

fn flush_word(word: &mut String, out: &mut Vec<Token>) {
    if !word.is_empty() {
        out.push(Token { text: std::mem::take(word), kind: TokenKind::Word });
    }
}

fn flush_run(run: &mut Vec<char>, out: &mut Vec<Token>) {
    if let [single] = run.as_slice() {
        out.push(Token { text: single.to_string(), kind: TokenKind::Single });
    }
    for pair in run.windows(2) {
        out.push(Token { text: pair.iter().collect(), kind: TokenKind::Pair });
    }
    run.clear();
}

/// A text that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WordHit {
    /// Its position among the documents.
    pub doc: usize,
    /// BM25.
    pub score: f64,
    /// How many different tokens of the query it has.
    pub matched: usize,
}

/// Texts, ready to be searched.
#[derive(Debug, Default)]
pub struct WordIndex {
    nfkc: Nfkc,
    /// Token -> documents and how often it stands there.
    postings: BTreeMap<String, Vec<(u32, u32)>>,
    /// Normalised texts, for single characters.
    texts: Vec<String>,
    lengths: Vec<u32>,
    total: u64,
}

impl WordIndex {
    /// An index of texts.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut index = Self::default();
        texts.into_iter().for_each(|t| index.push(t));
        index
    }

    /// Adds a text at the end.
    pub fn push(&mut self, text: &str) {
        let normal = js::lower(&self.nfkc.of(text));
        let tokens = tokens_of(&normal);
        let doc = count(self.texts.len());
        self.lengths.push(count(tokens.len()));
        self.total += tokens.len() as u64;
        for token in tokens {
            let list = self.postings.entry(token.text).or_default();
            match list.last_mut() {
                Some((newest, times)) if *newest == doc => *times += 1,
                _ => list.push((doc, 1)),
            }
        }
        self.texts.push(normal);
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The different tokens of a query, in order.
    pub fn query(&mut self, text: &str) -> Vec<Token> {
        let mut seen = std::collections::BTreeSet::new();
        tokens(text, &mut self.nfkc).into_iter().filter(|t| seen.insert(t.text.clone())).collect()
    }

    /// The texts that match a query, best first, ties in their own order.
    pub fn search(&mut self, query: &str) -> Vec<WordHit> {
        let tokens = self.query(query);
        self.search_tokens(&tokens, &|_| true)
    }

    /// The same for tokens from [`WordIndex::query`], among the texts for which `keep` holds.
    pub fn search_tokens(&self, query: &[Token], keep: &dyn Fn(usize) -> bool) -> Vec<WordHit> {
        let n = f64::from(count(self.texts.len()));
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53 tokens")]
        let average =
            if self.texts.is_empty() { 1.0 } else { (self.total as f64 / n).max(f64::MIN_POSITIVE) };
        let mut found: BTreeMap<u32, (f64, usize, usize, bool)> = BTreeMap::new();
        for token in query {
            let scanned;
            let list: &[(u32, u32)] = if token.kind == TokenKind::Single {
                scanned = self.occurrences(&token.text);
                &scanned
            } else {
                self.postings.get(&token.text).map_or(&[], Vec::as_slice)
            };
            if list.is_empty() {
                continue;
            }
            let df = f64::from(count(list.len()));
            let common = n >= ENOUGH && df * COMMON > n;
            let idf = libm::log(1.0 + (n - df + 0.5) / (df + 0.5));
            for &(doc, times) in list {
                let length = self.lengths.get(doc as usize).copied().unwrap_or(0);
                let f = f64::from(times);
                let weight = f * (K1 + 1.0) / (f + K1 * (1.0 - B + B * f64::from(length) / average));
                let (score, matched, pairs, telling) = found.entry(doc).or_default();
                *score += idf * weight;
                *matched += 1;
                match token.kind {
                    TokenKind::Pair => *pairs += usize::from(!common),
                    TokenKind::Word => *telling |= !common,
                    TokenKind::Single => *telling = true,
                }
            }
        }
        let lone = query.len() == 1;
        let mut hits: Vec<WordHit> = found
            .into_iter()
            .filter(|(_, (score, _, pairs, telling))| *score > 0.0 && (*telling || *pairs >= 2 || lone))
            .filter(|(doc, _)| keep(*doc as usize))
            .map(|(doc, (score, matched, ..))| WordHit { doc: doc as usize, score, matched })
            .collect();
        js::sort_by(&mut hits, |a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        let floor = hits.first().map_or(0.0, |best| best.score * FLOOR);
        hits.retain(|hit| hit.score >= floor);
        hits
    }

    /// How often a single character stands in each text that has it.
    fn occurrences(&self, character: &str) -> Vec<(u32, u32)> {
        let times = |text: &String| count(text.matches(character).count());
        self.texts.iter().enumerate().map(|(i, t)| (count(i), times(t))).filter(|(_, n)| *n > 0).collect()
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(text, &mut Nfkc::default()).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn tokens_of_any_script() {
        assert_eq!(texts("北边的塔"), ["北边", "边的", "的塔"]);
        assert_eq!(texts("R2-D2号"), ["r2", "d2", "号"]);
        assert_eq!(texts("Don’t ＷＡＩＴ, Élodie!"), ["dont", "wait", "élodie"]);
        assert_eq!(texts("ﾏﾘｶﾞは"), ["マリ", "リガ", "ガは"]);
        assert_eq!(texts("로른은 강"), ["로른", "른은", "강"]);
        assert_eq!(texts("รัก"), ["ร\u{e31}", "\u{e31}ก"]);
        assert_eq!(texts("Башня на севере"), ["башня", "на", "севере"]);
        assert_eq!(texts("برج الشمال 😀"), ["برج", "الشمال"]);
    }

    #[test]
    fn the_worked_example_of_the_specification() {
        let mut index = WordIndex::new([
            "我的生日是三月十五日",
            "塔在北边，走过桥就到",
            "他生日那天收到一把刀",
            "The bridge to the north tower is gone",
            "北边的塔在烧",
            "日",
        ]);
        assert_eq!(index.lengths, [9, 7, 9, 8, 5, 1]);
        let hits = index.search("你记得我的生日吗");
        assert_eq!(hits.len(), 1, "one shared pair is not enough");
        assert!((hits[0].score - 3.551_679).abs() < 1e-6);
        assert_eq!((hits[0].doc, hits[0].matched), (0, 3));
        assert_eq!(index.search("塔").len(), 2);
        assert!(index.search("不存在的词").is_empty());
        assert!(WordIndex::default().search("塔").is_empty());
    }

    #[test]
    fn common_words_alone_find_nothing() {
        let mut texts: Vec<String> =
            (0..12).map(|i| format!("a man sold the pear {i}，我们在河边走")).collect();
        texts.push("a storm sank the ferry，我们失去了渡船".to_owned());
        let mut index = WordIndex::new(texts.iter().map(String::as_str));
        let docs = |index: &mut WordIndex, query: &str| {
            index.search(query).iter().map(|h| h.doc).collect::<Vec<_>>()
        };
        assert!(docs(&mut index, "how did a sibling lose the boat").is_empty());
        assert_eq!(docs(&mut index, "a question about the ferry"), [12]);
        assert!(docs(&mut index, "我们在家").is_empty());
        assert_eq!(docs(&mut index, "我们的渡船失去了"), [12]);
        assert_eq!(docs(&mut index, "the").len(), 13, "nothing else was asked for");
    }
}
