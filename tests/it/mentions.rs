//! Who is mentioned in a text: the table of spec 01 §P1.9 and what it leaves open.

use promptside::js;
use promptside::names::{
    Diacritics, Matcher, Mention, MentionKind, MentionOptions, Named, Recency, Shared, Words,
};
use proptest::prelude::*;

/// Members by name; the id is the name, or what stands behind `#`; aliases behind `=`; a leading `-` mutes.
fn members(names: &[&str]) -> Vec<Named> {
    names
        .iter()
        .map(|spec| {
            let (spec, muted) = spec.strip_prefix('-').map_or((*spec, false), |s| (s, true));
            let (name, alias) = spec.split_once(" = ").map_or((spec, None), |(n, a)| (n, Some(a)));
            let (name, id) = name.split_once('#').unwrap_or((name, name));
            Named {
                id: id.to_owned(),
                name: name.to_owned(),
                aliases: alias.map(str::to_owned).into_iter().collect(),
                muted,
            }
        })
        .collect()
}

fn find(text: &str, names: &[&str], recent: &[&str], options: MentionOptions) -> Vec<Mention> {
    Matcher::new(&members(names), options).find(text, Recency { recent, banned: None })
}

fn ids(mentions: &[Mention]) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for m in mentions {
        if !ids.contains(&m.id.as_str()) {
            ids.push(&m.id);
        }
    }
    ids
}

#[track_caller]
fn check_with(text: &str, names: &[&str], wanted: &[&str], options: MentionOptions) {
    let found = find(text, names, &[], options);
    assert_eq!(ids(&found), wanted, "{text:?} {names:?}");
}

#[track_caller]
fn check(text: &str, names: &[&str], wanted: &[&str]) {
    check_with(text, names, wanted, MentionOptions::default());
}

#[test]
fn table_of_the_specification() {
    const NONE: &[&str] = &[];
    for (text, names, wanted) in [
        ("洛恩，你怎么看？", &["塞拉菲娜", "洛恩"][..], &["洛恩"][..]),
        ("我问洛恩和塞拉菲娜。", &["塞拉菲娜", "洛恩"], &["洛恩", "塞拉菲娜"]),
        ("洛恩Lorne说", &["Lorne"], &["Lorne"]),
        ("关云长温酒斩华雄", &["关云长", "华雄"], &["关云长", "华雄"]),
        ("佐藤あかりは公園で写真を撮りました。", &["佐藤 あかり"], &["佐藤 あかり"]),
        ("あかりちゃん、来て", &["佐藤 あかり"], &["佐藤 あかり"]),
        ("王小明来了", &["小明"], &["小明"]),
        ("王小明来了", &["小明", "王小明"], &["王小明"]),
        ("洛恩斯来了", &["洛恩"], &["洛恩"]),
        ("树林里有林", &["林"], NONE),
        ("林，过来", &["林"], &["林"]),
        ("@林你好", &["林"], &["林"]),
        ("アイスが食べたい", &["アイ"], NONE),
        ("アイ、こっち", &["アイ"], &["アイ"]),
        ("アイちゃんは？", &["アイ"], &["アイ"]),
        ("りんごを食べる", &["りん"], NONE),
        ("りんは元気？", &["りん"], &["りん"]),
        ("로른은 어디 있어?", &["로른"], &["로른"]),
        ("로른 씨, 안녕", &["로른"], &["로른"]),
        ("로른스 백작", &["로른"], NONE),
        ("지수함수", &["지수"], NONE),
        ("지수야!", &["지수"], &["지수"]),
        ("ลอร์นอยู่ไหน", &["ลอร์น"], &["ลอร์น"]),
        ("قالت سيرافينا ولورن شيئا", &["لورن", "سيرافينا"], &["سيرافينا", "لورن"]),
        ("ושרה אמרה", &["שרה"], &["שרה"]),
        ("Ольга и Дмитрий гуляли", &["Дмитрий", "Ольга"], &["Ольга", "Дмитрий"]),
        ("Спроси у Ольги и Дмитрия", &["Ольга", "Дмитрий"], &["Ольга", "Дмитрий"]),
        ("Алёна? Алена!", &["Алёна"], &["Алёна"]),
        ("Élodie aime Joséphine", &["Joséphine", "Élodie"], &["Élodie", "Joséphine"]),
        ("elodie, viens", &["Élodie"], &["Élodie"]),
        ("I've had enough", &["Ève", "Lorne"], NONE),
        ("I think so", &["Işıl", "Lorne"], NONE),
        ("IŞIL nerede?", &["Işıl"], &["Işıl"]),
        ("ışıl'a sor", &["Işıl"], &["Işıl"]),
        ("İPEK ve ipek", &["İpek"], &["İpek"]),
        ("Herr GROSS?", &["Groß"], &["Groß"]),
        ("ΟΔΥΣΣΕΥΣ!", &["Οδυσσεύς"], &["Οδυσσεύς"]),
        ("ＬＯＲＮＥ！", &["Lorne"], &["Lorne"]),
        ("Lo\u{200b}rne?", &["Lorne"], &["Lorne"]),
        ("Jose\u{301} and JOSÉ", &["José"], &["José"]),
        ("Open the door, Lorne", &["The Narrator", "Lorne"], &["Lorne"]),
        ("Ask the narrator", &["The Narrator", "Lorne"], &["The Narrator"]),
        ("Ask the Narrator", &["The Narrator", "Lorne"], &["The Narrator"]),
        ("Will you come?", &["Will"], NONE),
        ("Will, come here", &["Will"], &["Will"]),
        ("I saw Will today", &["Will"], &["Will"]),
        ("come here, will", &["Will"], &["Will"]),
        ("hey lorne", &["Lorne"], &["Lorne"]),
        ("Anna, hi", &["Ann", "Anna"], &["Anna"]),
        ("Ann and Anna", &["Anna", "Ann"], &["Ann", "Anna"]),
        ("Lorne's bow and Lorne’s hat", &["Lorne"], &["Lorne"]),
        ("Lorneville", &["Lorne"], NONE),
        ("O brother", &["O'Brien"], NONE),
        ("O’Brien?", &["O'Brien"], &["O'Brien"]),
        ("D.Va, go", &["D.Va"], &["D.Va"]),
        ("use std::va here", &["D.Va"], NONE),
        ("R2-D2!", &["R2-D2"], &["R2-D2"]),
        ("Mary-Anne!", &["Anne", "Mary-Anne"], &["Mary-Anne"]),
        ("Mr. X?", &["Mr. X (the [real])"], &["Mr. X (the [real])"]),
        ("Agent: Zero", &["Agent: Zero"], &["Agent: Zero"]),
        ("Misaka!", &["Misaka Mikoto"], &["Misaka Mikoto"]),
        ("the Railgun is here", &["Misaka Mikoto = Railgun"], &["Misaka Mikoto"]),
        ("What do you think, Char?", &["Charlotte \"Char\""], &["Charlotte \"Char\""]),
        ("Hey anna", &["Anna Smith", "Anna Jones"], &["Anna Smith"]),
        ("Anna Jones and Smith", &["Anna Smith", "Anna Jones"], &["Anna Jones", "Anna Smith"]),
        ("mail bob@lorne.com", &["Lorne"], NONE),
        ("see https://lorne.example/x", &["Lorne"], NONE),
        ("@lorne hi", &["Lorne"], &["Lorne"]),
        ("`@Lorne`", &["Lorne"], &["Lorne"]),
        ("@\"The Narrator\" go", &["The Narrator"], &["The Narrator"]),
        ("```\nLorne\n``` ok", &["Lorne"], NONE),
        ("He said \"Lorne is late\"", &["Lorne"], &["Lorne"]),
        ("@everyone wake up", &["A", "B"], &["A", "B"]),
        ("🦊 Fox or fox?", &["🦊 Fox"], &["🦊 Fox"]),
    ] {
        check(text, names, wanted);
    }
}

#[test]
fn rows_with_options() {
    let with = |f: fn(&mut MentionOptions)| {
        let mut options = MentionOptions::default();
        f(&mut options);
        options
    };
    check_with("洛恩斯来了", &["洛恩"], &[], with(|o| o.other_names = vec!["洛恩斯".to_owned()]));
    check_with("elodie, viens", &["Élodie"], &[], with(|o| o.diacritics = Diacritics::Strict));
    check_with("Élodie, viens", &["Élodie"], &["Élodie"], with(|o| o.diacritics = Diacritics::Strict));
    check_with("He said \"Lorne is late\"", &["Lorne"], &[], with(|o| o.ignore_quotes = true));
    let annas = &["Anna Smith", "Anna Jones"];
    check_with("Hey anna", annas, annas, with(|o| o.shared = Shared::All));
    let found = find("Hey anna", annas, &["Anna Jones", "Anna Smith"], MentionOptions::default());
    assert_eq!(ids(&found), ["Anna Jones"]);
    let found = find("Hey anna", annas, &["Anna Jones"], with(|o| o.shared = Shared::First));
    assert_eq!(ids(&found), ["Anna Smith"]);
    assert_eq!(ids(&find("Guard!", &["Guard#g1", "Guard#g2"], &["g2"], MentionOptions::default())), ["g2"]);
    check_with("Спроси у Ольги", &["Ольга"], &[], with(|o| o.inflect = false));
    check_with("`Lorne`", &["Lorne"], &["Lorne"], with(|o| o.ignore_code = false));
    check_with("http://lorne.example", &["Lorne"], &["Lorne"], with(|o| o.ignore_urls = false));
}

#[test]
fn word_lists_can_be_replaced() {
    let words =
        Words { common: vec!["Zephyr".to_owned()], particles: vec!["Count".to_owned()], ..Words::default() };
    let options = MentionOptions { words, ..MentionOptions::default() };
    check_with("Will you come?", &["Will"], &["Will"], options.clone());
    check_with("a zephyr blows", &["Zephyr"], &[], options.clone());
    check_with("Count the stars", &["Count Dracula"], &[], options);
}

#[test]
fn kinds_and_ranges() {
    let names = &["Misaka Mikoto = Railgun", "洛恩"];
    let found = find("😀洛恩 and the Railgun, Mikoto, @洛恩!", names, &[], MentionOptions::default());
    let seen: Vec<_> = found.iter().map(|m| (m.id.as_str(), m.start, m.end, m.kind)).collect();
    assert_eq!(
        seen,
        [
            ("洛恩", 2, 4, MentionKind::Full),
            ("Misaka Mikoto", 13, 20, MentionKind::Alias),
            ("Misaka Mikoto", 22, 28, MentionKind::Part),
            ("洛恩", 31, 33, MentionKind::At),
        ]
    );
}

#[test]
fn muted_members_are_reported_when_called() {
    let names = &["-Mira", "Lorne"];
    let found = find("Mira and @Mira, Lorne", names, &[], MentionOptions::default());
    let seen: Vec<_> = found.iter().map(|m| (m.id.as_str(), m.start, m.muted)).collect();
    assert_eq!(seen, [("Mira", 10, true), ("Lorne", 16, false)]);
    check("@everyone", names, &["Lorne"]);
    check("王小明来了", &["小明", "-王小明"], &[]);
    check("Guard!", &["-Guard#g1", "Guard#g2"], &["g2"]);
    check("Anna, hi", &["-Anna", "Anna Smith"], &["Anna Smith"]);
}

#[test]
fn the_writer_does_not_mean_itself() {
    let names = &["Anna Smith", "Anna Jones"];
    let matcher = Matcher::new(&members(names), MentionOptions::default());
    let who = Recency { recent: &["Anna Smith"], banned: Some("Anna Smith") };
    assert_eq!(ids(&matcher.find("Anna?", who)), ["Anna Jones"]);
    assert_eq!(ids(&matcher.find("Anna Smith and Jones", who)), ["Anna Jones"]);
}

#[test]
fn calls_in_many_scripts() {
    for (text, names, wanted) in [
        ("我觉得@洛恩说得对", &["洛恩"][..], &["洛恩"][..]),
        ("＠洛恩 在吗", &["洛恩"], &["洛恩"]),
        ("@全体成员 集合", &["洛恩", "-Mira"], &["洛恩"]),
        ("@みんな、起きて", &["洛恩", "Mira"], &["洛恩", "Mira"]),
        ("@모두 일어나", &["洛恩", "Mira"], &["洛恩", "Mira"]),
        ("@[Mary Anne] hi", &["Mary Anne"], &["Mary Anne"]),
        ("@「あかり」", &["あかり"], &["あかり"]),
        ("@MIRANDA", &["Mira"], &[]),
        ("x@mira", &["Mira"], &["Mira"]),
        ("한@mira", &["Mira"], &["Mira"]),
        ("@洛恩@塞拉菲娜", &["塞拉菲娜", "洛恩"], &["洛恩", "塞拉菲娜"]),
        ("@alluring", &["A", "B"], &[]),
        ("everyone, all of you", &["A", "B"], &[]),
        ("@？？？ 谁", &["？？？"], &["？？？"]),
        ("What???", &["？？？"], &[]),
        ("@will you", &["Will"], &["Will"]),
        ("@ Lorne", &["Lorne"], &["Lorne"]),
        ("@mary", &["Mary Anne"], &["Mary Anne"]),
        ("@Ann @Anna", &["Anna", "Ann"], &["Ann", "Anna"]),
        ("@Annabel", &["Anna", "Ann"], &[]),
        ("@王小明来了", &["王", "王小明"], &["王小明"]),
        ("@王你好", &["王", "王小明"], &["王"]),
        ("@アイスが", &["アイ", "アイス"], &["アイス"]),
        ("@アイは", &["アイ", "アイス"], &["アイ"]),
        ("@アイド", &["アイ", "アイス"], &[]),
    ] {
        check(text, names, wanted);
    }
}

#[test]
fn recorded_calls() {
    use crate::golden::{golden_dir, report};
    let path = golden_dir().join("rooms/002-at-mentions-smart.json");
    let case: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let calls = case["input"]["calls"].as_array().unwrap();
    let members: Vec<Named> = calls[0]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| Named {
            id: m["id"].as_str().unwrap().to_owned(),
            name: m["name"].as_str().unwrap().to_owned(),
            ..Named::default()
        })
        .collect();
    let matcher = Matcher::new(&members, MentionOptions { by_id: true, ..MentionOptions::default() });
    let mut failures = Vec::new();
    for (call, expected) in calls.iter().zip(case["expected"].as_array().unwrap()) {
        let text = call["text"].as_str().unwrap();
        let mut found = matcher.find(text, Recency::default());
        found.retain(|m| m.kind == MentionKind::At);
        if serde_json::json!(ids(&found)) != *expected {
            failures.push(format!("{text}: expected {expected}, got {:?}", ids(&found)));
        }
    }
    report("rooms/002", calls.len(), &failures);
}

#[test]
fn a_name_inside_a_word_is_none() {
    let found = find("One.\nMiniBob: two.\nBob: three.", &["Bob"], &[], MentionOptions::default());
    assert_eq!(found.iter().map(|m| m.start).collect::<Vec<_>>(), [19]);
    check("ＭｉｎｉＢｏｂ und Бобик", &["Bob", "Боб"], &[]);
}

#[test]
fn other_people_keep_their_names() {
    let with =
        |name: &str| MentionOptions { other_names: vec![name.to_owned()], ..MentionOptions::default() };
    check_with("Anna smiles", &["Anna Smith"], &[], with("Anna"));
    check_with("@Anna", &["Anna Smith"], &["Anna Smith"], with("Anna"));
    check_with("Anna Lee waves, Anna too", &["Anna"], &["Anna"], with("Anna Lee"));
    check_with("林黛玉哭了", &["黛玉"], &[], with("林黛玉"));
}

#[test]
fn names_in_other_names() {
    for (text, names, wanted) in [
        ("セラフィナ・フォンが来た", &["セラフィナ・フォン"][..], &["セラフィナ・フォン"][..]),
        ("セラフィナフォン！", &["セラフィナ・フォン"], &["セラフィナ・フォン"]),
        ("史密斯来了", &["安娜·史密斯"], &["安娜·史密斯"]),
        ("ไปหาลอร์นกัน", &["ลอร์น"], &["ลอร์น"]),
        ("เลอร์น", &["ลอร์น"], &[]),
        ("บาราคา", &["บาร"], &[]),
        ("والسيدة", &["سيدة"], &["سيدة"]),
        ("مسيدة", &["سيدة"], &[]),
        ("שרהל", &["שרה"], &[]),
        ("Андрею пора", &["Андрей"], &["Андрей"]),
        ("андреи", &["Андрей"], &["Андрей"]),
        ("Đặng? dang?", &["Đặng"], &["Đặng"]),
        ("Mary\u{a0}Anne!", &["Mary Anne"], &["Mary Anne"]),
        ("👨\u{200d}👩\u{200d}👧 ok", &["👩"], &[]),
        ("选手님은", &["선수"], &[]),
        ("민수님께서는", &["민수"], &[]),
        ("민수님께서", &["민수"], &["민수"]),
        ("𝕃𝕠𝕣𝕟𝕖 here", &["Lorne"], &["Lorne"]),
    ] {
        check(text, names, wanted);
    }
}

#[test]
fn ordinary_words_need_a_call() {
    for (text, wanted) in [
        ("“Will, wait.”", true),
        ("*Will?*", true),
        ("Stop! Will you?", false),
        ("Yes… Will came.", false),
        ("he will go", false),
        ("Give it to Will.", true),
        ("now, will.", true),
        ("now will.", false),
        ("来，will！", true),
        ("\nWill\n", true),
        ("WILL YOU", false),
    ] {
        check(text, &["Will"], if wanted { &["Will"] } else { &[] });
    }
    check("he will go", &["will"], &["will"]);
}

#[test]
fn long_hostile_texts_take_linear_time() {
    let name = "a".repeat(150);
    let names: Vec<String> = (1..150).map(|n| "a ".repeat(n).trim().to_owned()).chain([name]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = format!("{}{}{}", "a".repeat(30_000), "`@a ".repeat(5_000), "a\u{301}".repeat(10_000));
    find(&text, &names, &[], MentionOptions { ignore_quotes: true, ..MentionOptions::default() });
    let long = "(".repeat(100_000);
    assert!(find(&long, &[&long], &[], MentionOptions::default()).is_empty());
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("洛恩".to_owned()),
        Just("Lorne".to_owned()),
        Just("@".to_owned()),
        Just("`".to_owned()),
        Just("```\n".to_owned()),
        Just("ลอร์น".to_owned()),
        Just("Ольги ".to_owned()),
        Just("로른은 ".to_owned()),
        Just("\"".to_owned()),
        Just("will".to_owned()),
        Just("\u{301}".to_owned()),
        Just("everyone".to_owned()),
        "\\PC{0,6}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|v| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_and_names(text in any_text(), name in any_text(), other in any_text(), quotes: bool, strict: bool) {
        let options = MentionOptions {
            ignore_quotes: quotes,
            shared: Shared::All,
            other_names: vec![other],
            diacritics: if strict { Diacritics::Strict } else { Diacritics::Loose },
            ..MentionOptions::default()
        };
        let names = ["洛恩", "Lorne", "-ลอร์น", "Ольга", "로른", "Will", name.as_str()];
        let found = find(&text, &names, &[], options);
        let mut last: Option<&Mention> = None;
        for m in &found {
            prop_assert!(m.start < m.end);
            let (a, b) = (js::to_byte(&text, m.start), js::to_byte(&text, m.end));
            prop_assert_eq!(js::to_utf16(&text, a), m.start, "on a character boundary");
            prop_assert_eq!(js::to_utf16(&text, b), m.end);
            if let Some(last) = last {
                prop_assert!(m.start >= last.end || (m.start, m.end) == (last.start, last.end));
            }
            last = Some(m);
        }
    }

    #[test]
    fn a_name_alone_is_found(name in "[A-Za-zА-яЁё가-힣あ-んア-ン一-龠ก-ฮ]{3,8}") {
        let found = find(&name, &[&name], &[], MentionOptions::default());
        prop_assert_eq!(ids(&found), [name.as_str()]);
    }
}
