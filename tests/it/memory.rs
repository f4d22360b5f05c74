//! Memory: the recorded cases, the worked examples of spec 10, and what must hold for any input.

use promptside::api::{self, Vocabularies};
use promptside::js;
use promptside::memory::{
    IndexItem, Precision, Split, VectorIndex, WordIndex, exact, split_smart, unit, words,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::golden::{cases, difference, report};

fn invoke(name: &str, input: &Value) -> Value {
    let got = api::call(&format!("memory.{name}"), &js::stringify(input), &Vocabularies::default());
    js::parse(&got.unwrap_or_else(|e| panic!("{name}: {e}"))).unwrap().0
}

#[test]
fn recorded_cases() {
    let cases = cases("memory");
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let input = &case.json["input"];
            let got = invoke(input["fn"].as_str().unwrap(), input);
            difference(&case.json["expected"], &got).map(|d| format!("{}{d}", case.id))
        })
        .collect();
    report("memory", cases.len(), &failures);
}

#[test]
fn one_call_needs_no_list() {
    assert_eq!(invoke("hash", &json!({"text": "Hello"})), json!(4_867_314_475_583_282_u64));
    assert_eq!(invoke("words", &json!({"text": "雨停了。ok"})), json!({"reference": 1, "promptside": 4}));
    let bm25 = invoke("bm25", &json!({"docs": ["башня", "tower"], "query": "Башня"}));
    assert_eq!(bm25["hits"][0]["id"], json!(0));
    let due = json!({"mode": "promptside", "messages": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}], "settings": {"interval": 2}});
    assert_eq!(invoke("summary_due", &due)["cover"], json!(["1"]));
}

#[test]
fn what_is_wrong_is_said() {
    let fails = |name: &str, input: &Value| {
        let got = api::call(&format!("memory.{name}"), &js::stringify(input), &Vocabularies::default());
        let error = got.expect_err("must fail");
        format!("{} {}", error.code().as_str(), error.path())
    };
    assert_eq!(fails("банан", &json!({})), "option.unknown method");
    assert_eq!(fails("embedding", &json!({"provider": "nobody", "texts": []})), "option.unknown provider");
    let mixed = json!({"messages": [], "items": [{"message": "1", "vector": [1, 0]}, {"message": "2", "vector": [1]}]});
    assert_eq!(fails("recall", &mixed), "memory.index items[1].vector");
    let other = json!({"messages": [], "items": [{"message": "1", "vector": [1, 0]}], "query": [1]});
    assert_eq!(fails("recall", &other), "memory.index query.vector");
    assert_eq!(fails("summary_store", &json!({"calls": [{"do": "sing"}]})), "option.unknown calls[0].do");
}

/// Spec 10 Part 1, the examples that have no recorded case of their own.
#[test]
fn the_reference_by_its_examples() {
    // §15: a dragon in one book, its namesake in another, which is switched off.
    let entries = json!([
        {"world": "W", "uid": 1, "content": "dragon", "vectorized": true},
        {"world": "W", "uid": 2, "content": "castle"},
        {"world": "V", "uid": 3, "content": "dragon", "vectorized": true, "disable": true},
        {"uid": 4, "content": "x", "vectorized": true},
        {"world": "W", "uid": 5, "content": "", "vectorized": true},
    ]);
    let got = invoke("wi_vectors", &json!({"entries": entries, "hits": ["dragon"]}));
    assert_eq!(got, json!({"embedded": [1], "activated": [1, 3]}));
    // §8: no pair is cut in two.
    assert_eq!(
        invoke("split", &json!({"mode": "reference", "text": "A😀B😀C", "limit": 2})),
        json!(["A", "😀", "B", "😀", "C"])
    );
    // §2: text without ASCII words.
    assert_eq!(exact::summary_text("{{summary}}", "  雨停了  "), "雨停了");
}

#[test]
fn recall_by_meaning_and_by_words() {
    let messages: Vec<Value> =
        ["我的生日是三月十五日", "塔在北边", "嗯", "走吧", "雨停了", "你记得我的生日吗"]
            .iter()
            .enumerate()
            .map(|(i, text)| json!({"id": i.to_string(), "name": "User", "text": text}))
            .collect();
    let ask = json!({
        "messages": messages, "items": [], "keywords": "你记得我的生日吗", "settings": {"protect": 1},
    });
    let got = invoke("recall", &ask);
    assert_eq!(got["picked"][0]["message"], "0", "words alone answer");
    assert_eq!(got["text"], "Past events:\nUser: 我的生日是三月十五日");
    assert_eq!(got["excluded"]["below"], 4);
}

/// Texts of many scripts with everything that a splitter looks at.
fn any_text() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "雨停了",
        "。",
        "！",
        "…",
        "Rain",
        " ",
        "\n",
        "\n\n",
        ". ",
        "3.5",
        "», ",
        "Башня",
        "、",
        "，",
        "ทาง",
        "한국",
        "مرحبا",
        "👨‍👩‍👧",
        "😀",
        "e\u{301}",
        "”",
        "*",
        "?",
        "supercalifragilistic",
    ]);
    proptest::collection::vec(piece, 0..40).prop_map(|p| p.concat())
}

fn dense(text: &str) -> String {
    text.chars().filter(|c| !js::is_space(*c)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splits_lose_nothing(text in any_text(), limit in 1_usize..30, overlap in 0_usize..20) {
        let smart = split_smart(&text, Split { limit, overlap: 0 });
        prop_assert_eq!(dense(&smart.concat()), dense(&text));
        for chunk in &smart {
            let one = promptside::names::clusters(chunk).count() == 1;
            prop_assert!(one || chunk.chars().count() <= limit, "{:?}", chunk);
        }
        let reference = exact::split(&text, i64::try_from(limit).unwrap(), &exact::DELIMITERS);
        prop_assert_eq!(dense(&reference.concat()), dense(&text));
        // With an overlap every chunk is still a stretch of the text, and together they reach its end.
        let mut from = 0;
        for chunk in split_smart(&text, Split { limit, overlap }) {
            let at = text[from..].find(&chunk).map(|i| i + from);
            prop_assert!(at.is_some(), "{:?} in {:?}", chunk, &text[from..]);
            from = at.unwrap_or(from);
        }
    }

    #[test]
    fn counting_and_hashing_never_fail(text in ".{0,60}") {
        let n = words(&text);
        prop_assert!(n <= text.chars().count());
        prop_assert!(promptside::memory::hash(&text) < 1 << 53);
        let mut index = WordIndex::new([text.as_str()]);
        let found = index.search(&text);
        prop_assert!(found.len() <= 1);
    }
}

/// Numbers that look random and are the same everywhere.
fn noise(seed: &mut u64) -> f32 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    f32::from(u16::try_from(*seed >> 48).unwrap()) / 32768.0 - 1.0
}

#[test]
fn bytes_find_what_floats_find() {
    const DIMS: usize = 96;
    let mut seed = 7;
    let centres: Vec<Vec<f32>> = (0..20).map(|_| (0..DIMS).map(|_| noise(&mut seed)).collect()).collect();
    let mut float = VectorIndex::new("m", Precision::F32);
    let mut bytes = VectorIndex::new("m", Precision::Int8);
    for i in 0..1000 {
        let vector: Vec<f32> = centres[i % 20].iter().map(|x| x + 0.4 * noise(&mut seed)).collect();
        let item = || IndexItem { of: i.to_string(), ..IndexItem::default() };
        float.push(item(), &vector).unwrap();
        bytes.push(item(), &vector).unwrap();
    }
    assert!(bytes.size() * 3 < float.size());
    let (mut same, mut total, mut worst) = (0, 0, 0.0_f32);
    for i in 0..50 {
        let query: Vec<f32> = centres[i % 20].iter().map(|x| x + 0.4 * noise(&mut seed)).collect();
        let found = |index: &VectorIndex| -> Vec<usize> {
            index.search(&query, 10).unwrap().into_iter().map(|(at, _)| at).collect()
        };
        let (a, b) = (found(&float), found(&bytes));
        same += a.iter().filter(|at| b.contains(at)).count();
        total += a.len();
        for (x, y) in float.scores(&query).unwrap().iter().zip(bytes.scores(&query).unwrap()) {
            worst = worst.max((x - y).abs());
        }
    }
    assert!(same * 100 >= total * 90, "{same} of {total}");
    assert!(worst < 0.005, "{worst}");
    assert!((unit(&[3.0, 4.0])[1] - 0.8).abs() < 1e-6);
}
