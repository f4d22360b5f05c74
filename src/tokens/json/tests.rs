//! Small files, one for each part, with the tokens that the format's own library gives for them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::FileTokenizer;
use crate::error::Error;
use crate::js;
use crate::tokens::Count;

fn forms(text: &str, form: &'static str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    match form {
        "NFC" => text.nfc().collect(),
        "NFD" => text.nfd().collect(),
        "NFKC" => text.nfkc().collect(),
        _ => text.nfkd().collect(),
    }
}

fn read(file: &Value) -> Result<FileTokenizer, Error> {
    FileTokenizer::parse("mine", js::stringify(file).as_bytes(), Some(forms))
}

/// A vocabulary of these tokens, numbered.
fn vocab(tokens: &[&str]) -> Value {
    (0..)
        .zip(tokens)
        .map(|(id, token)| ((*token).to_owned(), json!(id)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// WordPiece takes whole pieces here, so that pieces can be seen.
fn pieces(file: Value, text: &str, wanted: &[&str]) {
    let mut file = file;
    let tokens: Vec<&str> = ["[UNK]"].into_iter().chain(wanted.iter().copied()).collect();
    file["model"] = json!({"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocab(&tokens)});
    let tokenizer = read(&file).unwrap();
    let ids: Vec<&str> = tokenizer
        .encode(text)
        .into_iter()
        .map(
            |id| if id == 0 { "[UNK]" } else { wanted.iter().rfind(|t| tokens[id as usize] == **t).unwrap() },
        )
        .collect();
    assert_eq!(ids, wanted, "{file}");
    assert_eq!(tokenizer.count(text) as usize, wanted.len());
    assert!(tokenizer.exact());
}

#[test]
fn every_pre_tokenizer_cuts() {
    let cut = |pre: Value, text: &str, wanted: &[&str]| pieces(json!({"pre_tokenizer": pre}), text, wanted);
    cut(json!({"type": "Whitespace"}), "Hey, 夜の 川…", &["Hey", ",", "夜の", "川", "…"]);
    cut(json!({"type": "WhitespaceSplit"}), "Hey,\u{85}夜の\u{3000}川", &["Hey,", "夜の", "川"]);
    cut(json!({"type": "Digits"}), "a12٣b", &["a", "12٣", "b"]);
    cut(json!({"type": "Digits", "individual_digits": true}), "a12", &["a", "1", "2"]);
    cut(json!({"type": "Punctuation"}), "a，$b..", &["a", "，", "$", "b", ".", "."]);
    cut(json!({"type": "Punctuation", "behavior": "Contiguous"}), "a..b", &["a", "..", "b"]);
    cut(json!({"type": "BertPreTokenizer"}), "no way!", &["no", "way", "!"]);
    cut(json!({"type": "CharDelimiterSplit", "delimiter": "|"}), "a|b||", &["a", "b"]);
    cut(json!({"type": "Metaspace"}), "夜 の  川", &["▁夜", "▁の", "▁", "▁川"]);
    cut(json!({"type": "Metaspace", "prepend_scheme": "never", "split": false}), "a b", &["a▁b"]);
    cut(json!({"type": "ByteLevel"}), "Hi é", &["ĠHi", "ĠÃ©"]);
    cut(json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}), "Hi it's", &["HiĠit's"]);
    let split = |pattern: Value, behavior: &str, invert: bool| json!({"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert});
    cut(split(json!({"String": "夜"}), "MergedWithNext", false), "の夜の夜", &["の", "夜の", "夜"]);
    cut(split(json!({"Regex": r"\p{Han}++"}), "Removed", true), "の夜川の月", &["夜川", "月"]);
    cut(
        json!({"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"}, {"type": "Punctuation"}, {"type": "ByteLevel", "add_prefix_space": false},
            {"type": "Digits", "individual_digits": true}
        ]}),
        "да, 12",
        &["Ð´Ð°", ",", "1", "2"],
    );
}

#[test]
fn every_normalizer_changes() {
    let change = |normalizer: Value, text: &str, wanted: &str| {
        pieces(json!({"normalizer": normalizer}), text, &[wanted]);
    };
    change(json!({"type": "NFC"}), "e\u{301}한", "é한");
    change(json!({"type": "NFKC"}), "ﬁＡ", "fiA");
    change(json!({"type": "NFD"}), "é", "e\u{301}");
    change(json!({"type": "Lowercase"}), "ПРИВЕТ Ae", "привет ae");
    change(json!({"type": "Strip"}), " \u{3000}a b\n", "a b");
    change(json!({"type": "Strip", "strip_right": false}), " a ", "a ");
    change(json!({"type": "Prepend", "prepend": "▁"}), "夜", "▁夜");
    change(json!({"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": "_"}), "a \n b", "a_b");
    change(json!({"type": "ByteLevel"}), "é", "Ã©");
    change(
        json!({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}),
        "né à",
        "ne▁a",
    );
}

#[test]
fn pairs_merge_by_rank_and_from_the_left() {
    let model = json!({"type": "BPE", "vocab": vocab(&["a", "b", "aa", "ab", "aab", "<unk>", "夜"]), "merges": ["a b", ["a", "ab"], "a a"]});
    let tokenizer = read(&json!({"model": model})).unwrap();
    assert_eq!(tokenizer.encode("aab"), [4]);
    assert_eq!(tokenizer.encode("aaab"), [0, 4]);
    assert_eq!(tokenizer.encode("aaa"), [2, 0]);
    // What is not in the vocabulary is left out where no token stands for it.
    assert_eq!(tokenizer.encode("aзb夜"), [3, 6]);

    let mut model = model;
    model["unk_token"] = json!("<unk>");
    let unknown = |fuse: bool| {
        let mut model = model.clone();
        model["fuse_unk"] = json!(fuse);
        read(&json!({"model": model})).unwrap().encode("aззb")
    };
    assert_eq!((unknown(false), unknown(true)), (vec![0, 5, 5, 1], vec![0, 5, 1]));
    model["ignore_merges"] = json!(true);
    model["vocab"]["bb"] = json!(9);
    let tokenizer = read(&json!({"model": model})).unwrap();
    assert_eq!((tokenizer.encode("bb"), tokenizer.encode("bbb")), (vec![9], vec![1, 1, 1]));
}

#[test]
fn bytes_stand_in_for_what_is_missing() {
    let tokens = ["<unk>", "▁", "a", "<0xE5>", "<0xA4>", "<0x9C>", "▁a"];
    let file = json!({
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
        ]},
        "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true, "vocab": vocab(&tokens), "merges": ["▁ a"]}
    });
    let tokenizer = read(&file).unwrap();
    assert_eq!(tokenizer.encode("a 夜川л"), [6, 1, 3, 4, 5, 0]);
    assert_eq!((tokenizer.count("a 夜川л"), tokenizer.count(""), tokenizer.id()), (6, 0, "mine"));
}

#[test]
fn unigram_takes_the_best_way() {
    let mut file = json!({
        "pre_tokenizer": {"type": "Metaspace"},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁", -2.0], ["▁夜", -4.5], ["夜", -3.0], ["の川", -5.0], ["の", -2.0], ["川", -2.5], ["<0xF0>", -9.0]]}
    });
    let tokenizer = read(&file).unwrap();
    assert_eq!(tokenizer.encode("夜の川"), [2, 5, 6]);
    assert_eq!(tokenizer.encode("ый夜"), [1, 0, 3]);
    assert!(tokenizer.exact());
    file["model"]["unk_id"] = Value::Null;
    let tokenizer = read(&file).unwrap();
    assert_eq!((tokenizer.count("夜ы"), tokenizer.exact()), (2, false));
}

#[test]
fn added_tokens_are_found_unless_they_are_special() {
    let added = json!([
        {"id": 50, "content": "<|im_end|>", "special": true, "normalized": false},
        {"id": 51, "content": "<tool>", "special": false, "normalized": false},
        {"id": 52, "content": "<tool>>", "special": false, "normalized": false, "lstrip": true, "rstrip": true},
        {"id": 53, "content": "KEY", "special": false, "normalized": true, "single_word": true}
    ]);
    let model = json!({"type": "WordPiece", "continuing_subword_prefix": "", "vocab": vocab(&["[UNK]", "a", "<", "|", "im_end", ">", "key", " "])});
    let tokenizer =
        read(&json!({"added_tokens": added, "normalizer": {"type": "Lowercase"}, "model": model})).unwrap();
    assert_eq!(tokenizer.encode("a<tool>a"), [1, 51, 1]);
    assert_eq!(tokenizer.encode("a <tool>> a"), [1, 52, 1]);
    assert_eq!(tokenizer.encode("<|im_end|>"), [2, 3, 4, 3, 5]);
    assert_eq!(tokenizer.encode("Key keya"), [53, 7, 6, 1]);
}

#[test]
fn what_is_wrong_is_named() {
    let model = json!({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []});
    for (file, code, path) in [
        (json!({}), "tokens.file", "model"),
        (json!([1]), "tokens.file", "model"),
        (json!({"model": {"type": "BPE", "vocab": [], "merges": []}}), "tokens.file", "model.vocab"),
        (json!({"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}), "tokens.file", "model.vocab.a"),
        (
            json!({"model": {"type": "BPE", "vocab": {"a": 1}, "merges": ["a a"]}}),
            "tokens.file",
            "model.merges[0]",
        ),
        (
            json!({"model": {"type": "BPE", "vocab": {"a": 1}, "merges": [["a"]]}}),
            "tokens.file",
            "model.merges[0]",
        ),
        (
            json!({"model": {"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1}}),
            "tokens.unsupported",
            "model.dropout",
        ),
        (json!({"model": {"type": "Unigram", "vocab": [["a"]]}}), "tokens.file", "model.vocab[0]"),
        (json!({"model": {"type": "Unigram", "vocab": [], "unk_id": 3}}), "tokens.file", "model.unk_id"),
        (json!({"model": {"type": "WordLevel", "vocab": {}}}), "tokens.unsupported", "model.type"),
        (
            json!({"model": model, "normalizer": {"type": "Precompiled"}}),
            "tokens.unsupported",
            "normalizer.type",
        ),
        (json!({"model": model, "normalizer": {}}), "tokens.file", "normalizer.type"),
        (
            json!({"model": model, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "UnicodeScripts"}]}}),
            "tokens.unsupported",
            "pre_tokenizer.pretokenizers[0].type",
        ),
        (
            json!({"model": model, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a)\\1"}, "behavior": "Isolated"}}),
            "tokens.unsupported",
            "pre_tokenizer.pattern.Regex",
        ),
        (json!({"model": model, "added_tokens": [{"content": "x"}]}), "tokens.file", "added_tokens[0].id"),
    ] {
        let error = read(&file).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), (code, path), "{file}: {error}");
    }
    let nfc = json!({"model": model, "normalizer": {"type": "NFC"}});
    let error = FileTokenizer::parse("x", js::stringify(&nfc).as_bytes(), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tokens.unsupported at normalizer.type: NFC on this platform is not supported"
    );
    assert_eq!(FileTokenizer::parse("x", b"{", None).unwrap_err().code().as_str(), "json.syntax");
    assert_eq!(FileTokenizer::parse("x", b"\xff", None).unwrap_err().code().as_str(), "tokens.file");
}

#[test]
fn a_pattern_that_runs_away_leaves_the_text_whole() {
    let file = json!({
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(?=(a+)+(a+)+b)a"}, "behavior": "Isolated"},
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    });
    let tokenizer = read(&file).unwrap();
    let text = "a".repeat(4000);
    assert_eq!((tokenizer.count("aab"), tokenizer.exact()), (2, true));
    assert_eq!((tokenizer.count(&text), tokenizer.exact()), (4000, false));
}

#[test]
fn a_text_does_not_grow_without_end() {
    let grow = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false});
    let model = json!({"type": "BPE", "vocab": {"a": 0}, "merges": []});
    for file in [
        json!({"model": model, "normalizer": {"type": "Sequence", "normalizers": vec![grow; 60]}}),
        json!({"model": model, "pre_tokenizer": {"type": "Sequence", "pretokenizers": vec![bytes.clone(); 60]}}),
    ] {
        let tokenizer = read(&file).unwrap();
        assert!(tokenizer.count(&"a夜".repeat(1000)) < 1_000_000);
        assert!(!tokenizer.exact());
    }
    let file =
        json!({"model": model, "pre_tokenizer": {"type": "Sequence", "pretokenizers": vec![bytes; 65]}});
    assert_eq!(read(&file).unwrap_err().code().as_str(), "limit.reached");
}

#[test]
fn a_long_run_costs_little_more_than_prose() {
    let tokens: Vec<String> = (0..7).map(|i| "a".repeat(1 << i)).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let merges: Vec<Value> = tokens[..6].iter().map(|t| json!([t, t])).collect();
    let file = json!({"model": {"type": "BPE", "vocab": vocab(&tokens), "merges": merges}});
    assert_eq!(read(&file).unwrap().count(&"a".repeat(200_000)), 200_000 / 64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Against the obvious way: join the best pair, look again.
    #[test]
    fn the_heap_merges_as_one_merge_after_the_other(text in "[ab夜]{0,24}", order in Just(["a b", "b a", "a a", "夜 夜", "ab a", "a 夜", "aa b", "ba b", "夜夜 夜夜"]).prop_shuffle()) {
        let mut tokens = vec!["a".to_owned(), "b".to_owned(), "夜".to_owned()];
        tokens.extend(order.iter().map(|merge| merge.replace(' ', "")));
        let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let file = json!({"model": {"type": "BPE", "vocab": vocab(&names), "merges": order}});
        let mut parts: Vec<String> = text.chars().map(String::from).collect();
        loop {
            let rank = |at: usize| {
                let pair = format!("{} {}", parts.get(at)?, parts.get(at + 1)?);
                Some((order.iter().position(|merge| *merge == pair)?, at))
            };
            let Some((_, at)) = (0..parts.len()).filter_map(rank).min() else { break };
            let joined = parts.remove(at + 1);
            parts[at].push_str(&joined);
        }
        let ids: Vec<String> = read(&file).unwrap().encode(&text).into_iter().map(|id| names[id as usize].to_owned()).collect();
        prop_assert_eq!(ids, parts);
    }

    #[test]
    fn no_file_makes_it_panic(kind in 0..6_usize, name in "[A-Za-z]{0,12}", value in "\\PC{0,20}") {
        let model = json!({"type": "BPE", "vocab": {"a": 0}, "merges": []});
        let pre = json!({"type": "Split", "pattern": {"Regex": value}, "behavior": "Isolated"});
        let file = match kind {
            0 => json!({"model": model, "pre_tokenizer": pre}),
            1 => json!({"model": model, "normalizer": {"type": "Replace", "pattern": {"Regex": value}, "content": name}}),
            2 => json!({"model": {"type": name, "vocab": {value.clone(): 1}}}),
            3 => json!({"model": model, "added_tokens": [{"id": 1, "content": value, "lstrip": true}]}),
            4 => json!({"model": {"type": "Unigram", "vocab": [[value, 1e308], [name, -1e308]], "unk_id": 0}}),
            _ => json!({"model": model, "pre_tokenizer": {"type": "Metaspace", "replacement": value}}),
        };
        if let Ok(tokenizer) = read(&file) {
            tokenizer.count(&format!("{value} a夜\u{fffd}👩‍👩‍👧 {value}"));
        }
    }
}
