//! What is written is read back as it was: cards, books, chats, archives, presets (spec 08 §12.8, §13).

use promptside::error::Warning;
use promptside::files::{self, CardOptions, CardVersion, Kind, ReadFile};
use promptside::host::Limits;
use promptside::js;
use promptside::scene::{Character, Chat};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::formats::samples;
use crate::golden;

fn read(bytes: &[u8]) -> ReadFile {
    files::read(bytes, None, &Limits::default()).unwrap()
}

fn read_value(value: &Value) -> ReadFile {
    read(js::stringify(value).as_bytes())
}

fn parse(text: &str) -> Value {
    js::parse(text).unwrap().0
}

/// The samples of a kind that can be read.
fn of_kind(kind: Kind) -> Vec<(String, ReadFile)> {
    let found: Vec<_> = samples()
        .into_iter()
        .filter_map(|(name, bytes, _)| Some((name, files::read(&bytes, None, &Limits::default()).ok()?)))
        .filter(|(_, file)| file.kind == kind)
        .collect();
    assert!(!found.is_empty());
    found
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().map_or_else(Vec::new, |o| o.keys().collect())
}

fn equal(expected: &Value, got: &Value, what: &str) {
    if let Some(difference) = golden::difference(expected, got) {
        panic!("{what}: {difference}");
    }
}

#[test]
fn every_card_survives_being_written() {
    for (name, file) in of_kind(Kind::Card) {
        for version in [CardVersion::V2, CardVersion::V3] {
            for card in [&file.source, &file.value] {
                let options = CardOptions { version, sharing: false };
                let text = files::write_card_json(card, options).unwrap();
                let again = read(text.as_bytes());
                for part in ["data", "top", "effective", "book"] {
                    equal(&file.value[part], &again.value[part], &format!("{name} {part}"));
                }
                let spec = if version == CardVersion::V2 { "chara_card_v2" } else { "chara_card_v3" };
                assert_eq!(again.value["spec"], spec, "{name}");
                let repaired: Vec<&Warning> = again
                    .warnings
                    .iter()
                    // A book and extensions are kept as they are, so what is odd in them is reported again.
                    .filter(|w| !w.path.contains("character_book") && !w.path.contains("extensions"))
                    .filter(|w| {
                        !matches!(w.code.as_ref(), "name-missing" | "field-coerced" | "value-clamped")
                    })
                    .collect();
                assert!(repaired.is_empty(), "{name}: strict in form: {repaired:?}");
            }
        }
        // The order of the keys that were there stays.
        if file.source["data"].is_object() {
            let written = files::card_object(&file.source, CardOptions::default()).unwrap();
            let given: Vec<_> = keys(&file.source).into_iter().collect();
            assert!(keys(&written).starts_with(&given), "{name}");
            let kept = keys(&file.source["data"]);
            let kept: Vec<_> = kept.into_iter().filter(|k| !written["data"][k.as_str()].is_null()).collect();
            assert!(keys(&written["data"]).starts_with(&kept), "{name}");
        }
    }
}

#[test]
fn sharing_strips_what_is_private() {
    let card = json!({
        "name": "洛恩", "fav": true, "chat": "洛恩 - 2024", "extra_top": 1, "spec": "chara_card_v2", "spec_version": "2.0",
        "data": {"name": "洛恩", "extensions": {"fav": true, "x": {"keep": [1]}}, "unknown": "ключ"},
    });
    let whole = files::card_object(&card, CardOptions::default()).unwrap();
    assert_eq!((&whole["fav"], &whole["chat"]), (&json!(true), &json!("洛恩 - 2024")));
    let shared = files::card_object(&card, CardOptions { sharing: true, ..CardOptions::default() }).unwrap();
    assert!(shared.get("fav").is_none() && shared.get("chat").is_none());
    assert_eq!(shared["data"]["extensions"], json!({"x": {"keep": [1]}}));
    assert_eq!((&shared["extra_top"], &shared["data"]["unknown"]), (&json!(1), &json!("ключ")));
}

#[test]
fn a_scene_reads_cards_as_the_file_reader_does() {
    for (name, file) in of_kind(Kind::Card) {
        let avatar = "アバター.png";
        let (from_source, _) = Character::from_card(avatar, &file.source).unwrap();
        let (from_value, _) = Character::from_card(avatar, &file.value).unwrap();
        let data = &file.value["data"];
        let named = data["name"].as_str().filter(|n| !n.is_empty()).unwrap_or("アバター");
        for character in [&from_source, &from_value] {
            assert_eq!(character.name, named, "{name}");
            for (field, got) in [
                ("description", &character.description),
                ("personality", &character.personality),
                ("scenario", &character.scenario),
                ("first_mes", &character.first_mes),
                ("mes_example", &character.mes_example),
                ("creator_notes", &character.creator_notes),
                ("system_prompt", &character.system_prompt),
                ("post_history_instructions", &character.post_history_instructions),
                ("character_version", &character.version),
            ] {
                assert_eq!(data[field], **got, "{name} {field}");
            }
            assert_eq!(data["tags"], json!(character.tags), "{name}");
            assert_eq!(data["group_only_greetings"], json!(character.group_only_greetings), "{name}");
            assert_eq!(
                data["alternate_greetings"],
                json!(character.alternate_greetings.clone().unwrap_or_default())
            );
            let effective = &file.value["effective"];
            assert_eq!(effective["world"], character.world, "{name}");
            assert_eq!(effective["depth_prompt"]["depth"], character.depth_prompt.depth, "{name}");
            assert_eq!(effective["depth_prompt"]["role"], character.depth_prompt.role, "{name}");
        }
        assert_eq!(from_source.talkativeness, from_value.talkativeness, "{name}");
    }
}

#[test]
fn books_go_there_and_back() {
    let mut books: Vec<(String, Value)> =
        of_kind(Kind::Lorebook).into_iter().map(|(name, file)| (name, file.source)).collect();
    let cards = of_kind(Kind::Card).into_iter().filter(|(_, file)| file.value.get("book").is_some());
    books.extend(cards.map(|(name, file)| (name, file.value["data"]["character_book"].clone())));
    for (name, book) in books {
        let before = read_value(&book);
        let world = files::world_file(&book).unwrap();
        let card = files::character_book(&book).unwrap();
        let back = files::world_file(&card).unwrap();
        let forth = files::character_book(&world).unwrap();
        for (way, other) in
            [("world", &world), ("card", &card), ("card -> world", &back), ("world -> card", &forth)]
        {
            let after = read_value(other);
            assert_eq!(after.kind, Kind::Lorebook, "{name} {way}");
            let (mut a, mut b) = (by_uid(&before), by_uid(&after));
            for entry in a.iter_mut().chain(&mut b) {
                // Only a book's own `case_sensitive` and `priority` have a place in it.
                entry.as_object_mut().unwrap().shift_remove("priority");
            }
            equal(&json!(a), &json!(b), &format!("{name} {way}"));
        }
        assert!(world["entries"].is_object() && card["entries"].is_array(), "{name}");
    }
}

fn by_uid(file: &ReadFile) -> Vec<Value> {
    let mut entries = file.value["entries"].as_array().unwrap().clone();
    entries.sort_by_key(|e| e["uid"].as_i64());
    entries
}

#[test]
fn what_a_book_does_not_know_travels_along() {
    let world = json!({"name": "谷", "x_book": [1], "entries": {"3": {
        "uid": 3, "key": ["洛恩", "/мир/i"], "content": "text", "comment": "", "addMemo": true, "x_entry": {"ключ": 1}, "displayIndex": 7,
        "characterFilter": {"isExclude": false, "names": ["ä"], "tags": []}, "extensions": {"other": 1}, "caseSensitive": true,
    }}});
    let card = files::character_book(&world).unwrap();
    let entry = &card["entries"][0];
    assert_eq!((&card["x_book"], &card["extensions"]), (&json!([1]), &json!({})));
    assert_eq!(entry["extensions"]["other"], 1);
    assert_eq!(
        (&entry["use_regex"], &entry["case_sensitive"], &entry["position"]),
        (&json!(true), &json!(true), &json!("before_char"))
    );
    let back = files::world_file(&card).unwrap();
    let again = &back["entries"]["3"];
    for key in ["x_entry", "characterFilter", "addMemo", "displayIndex", "key", "caseSensitive"] {
        assert_eq!(again[key], world["entries"]["3"][key], "{key}");
    }
    assert_eq!(again["extensions"]["other"], 1);
    // A card's book keeps what only it has, through a world file and back.
    let book = json!({"description": "d", "scan_depth": 3, "extensions": {"a": 1}, "entries": [
        {"keys": ["k"], "content": "c", "extensions": {"z": 2}, "enabled": true, "insertion_order": 5, "id": 9, "name": "n", "priority": 4, "x": "y"},
    ]});
    let world = files::world_file(&book).unwrap();
    let again = files::character_book(&world).unwrap();
    assert_eq!(
        (&again["description"], &again["scan_depth"], &again["extensions"]),
        (&json!("d"), &json!(3), &json!({"a": 1}))
    );
    let entry = &again["entries"][0];
    assert_eq!(
        (&entry["name"], &entry["x"], &entry["id"], &entry["priority"]),
        (&json!("n"), &json!("y"), &json!(9), &json!(4))
    );
    assert_eq!(entry["extensions"]["z"], 2);
}

#[test]
fn a_chat_is_written_as_it_was() {
    let (_, bytes, _) = samples().into_iter().find(|(name, ..)| name == "chat-st.jsonl").unwrap();
    let file = read(&bytes);
    assert_eq!(files::write_chat(&file.source).unwrap(), String::from_utf8(bytes).unwrap());
    // Normalised, it says the same again.
    let again = read(files::write_chat(&file.value).unwrap().as_bytes());
    equal(&file.value, &again.value, "normalised");
    assert!(again.warnings.is_empty(), "{:?}", again.warnings);
    // Through a scene too.
    let chat = Chat::from_value(&file.value).unwrap();
    assert_eq!(chat.metadata["x_ext"], json!({"keep": 1}));
    let scene = read(files::write_chat(&chat.to_value()).unwrap().as_bytes());
    for i in 0..4 {
        assert_eq!(scene.value["messages"][i]["mes"], file.value["messages"][i]["mes"]);
        assert_eq!(scene.value["messages"][i]["extra"], file.value["messages"][i]["extra"]);
    }
    for (name, file) in of_kind(Kind::Chat) {
        for chat in std::iter::once(&file.value).chain(&file.chats) {
            let again = read(files::write_chat(chat).unwrap().as_bytes());
            equal(&chat["messages"], &again.value["messages"], &name);
        }
    }
}

#[test]
fn old_attachments_move_into_lists() {
    let chat = json!([{"name": "ü", "mes": "m", "extra": {"image": "b.png", "image_swipes": ["a.png", "b.png"], "file": {"url": "f"}, "title": "t"}}]);
    let chat = Chat::from_value(&chat).unwrap();
    assert_eq!(
        json!(chat.messages[0].extra),
        json!({"title": "t", "files": [{"url": "f"}], "media": [{"url": "a.png", "type": "image"}, {"url": "b.png", "type": "image"}], "media_display": "gallery", "media_index": 1})
    );
}

#[test]
fn archives_are_written_and_changed() {
    let card = json!({"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "มาเรน", "x": 1, "assets": [
        {"type": "icon", "uri": "embeded://assets/icon/main.png", "name": "main", "ext": "png"},
        {"type": "x_ton", "uri": "embeded://assets/音.ogg", "name": "音", "ext": "OGG"},
        {"type": "icon", "uri": "data:image/png;base64,aGk=", "name": "inline", "ext": "png"},
    ]}});
    let sound = vec![7u8; 5000];
    let assets: [(&str, &[u8]); 2] = [("assets/icon/main.png", b"icon"), ("./assets//音.ogg", &sound)];
    let archive = files::write_charx(&card, &assets, CardOptions::default()).unwrap();
    assert_eq!(
        archive,
        files::write_charx(&card, &assets, CardOptions::default()).unwrap(),
        "the same bytes every time"
    );
    let file = read(&archive);
    assert_eq!((file.container.as_str(), &file.value["data"]["name"]), ("charx", &json!("มาเรน")));
    assert!(file.warnings.is_empty(), "{:?}", file.warnings);
    let listed = file.assets.clone().unwrap();
    assert_eq!((listed[1].size, listed[1].ext.as_str()), (Some(5000), "ogg"));
    let get = |address: &str| files::extract(&archive, address, &Limits::default()).unwrap();
    assert_eq!(get("embeded://assets/icon/main.png").as_deref(), Some(&b"icon"[..]));
    assert_eq!(get(listed[1].path.as_ref().unwrap()), Some(sound.clone()));
    assert_eq!(get("data:image/png;base64,aGk=").as_deref(), Some(&b"hi"[..]));
    assert_eq!((get("embeded://../card.json"), get("nope")), (None, None));
    // A changed card, everything else as it was; also behind a picture.
    let mut changed = file.source.clone();
    changed["data"]["name"] = json!("新");
    let prefixed = [b"\xFF\xD8\xFF JPEG PK\x03\x04 ".as_slice(), &archive].concat();
    for old in [&archive, &prefixed] {
        let new = files::write_charx_into(old, &changed, CardOptions::default(), &Limits::default()).unwrap();
        let again = read(&new);
        assert_eq!((&again.value["data"]["name"], &again.value["data"]["x"]), (&json!("新"), &json!(1)));
        assert_eq!(again.assets, file.assets);
        assert_eq!(files::extract(&new, "assets/音.ogg", &Limits::default()).unwrap(), Some(sound.clone()));
    }
    for bad in ["../x", "card.json", "", "assets/icon/main.png"] {
        let twice: [(&str, &[u8]); 2] = [("assets/icon/main.png", b""), (bad, b"")];
        assert!(files::write_charx(&card, &twice, CardOptions::default()).is_err(), "{bad}");
    }
}

#[test]
fn assets_of_a_picture_are_found_with_and_without_colon() {
    let (_, png, _) = samples().into_iter().find(|(name, ..)| name == "png-v2.png").unwrap();
    let text = |keyword: &str, value: &[u8]| {
        let data = [keyword.as_bytes(), b"\0", files::encode_base64(value).as_bytes()].concat();
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length[..], b"tEXt", &data, &[0; 4]].concat()
    };
    let end = png.len() - 12;
    let png =
        [&png[..end], &text("chara-ext-asset_:1", b"one"), &text("chara-ext-asset_2", b"two"), &png[end..]]
            .concat();
    let get = |address: &str| files::extract(&png, address, &Limits::default()).unwrap();
    assert_eq!(get("__asset:1").as_deref(), Some(&b"one"[..]));
    assert_eq!(get("__asset:2").as_deref(), Some(&b"two"[..]));
    assert_eq!(get("__asset:3"), None);
}

#[test]
fn presets_for_others_carry_no_servers() {
    let preset =
        json!({"temperature": 0.9, "reverse_proxy": "https://x.invalid", "prompts": [], "x": {"keep": 1}});
    assert_eq!(
        parse(&files::write_json(Kind::PresetChat, &preset, true)),
        json!({"temperature": 0.9, "prompts": [], "x": {"keep": 1}})
    );
    assert_eq!(parse(&files::write_json(Kind::PresetChat, &preset, false)), preset);
    let master = json!({"preset": {"temp": 1, "ollama_model": "m", "server_urls": {}, "n": 1}, "reasoning": {"name": "r", "auto_parse": true}});
    assert_eq!(
        parse(&files::write_json(Kind::PresetMaster, &master, true)),
        json!({"preset": {"temp": 1}, "reasoning": {"name": "r"}})
    );
    for (kind, (name, file)) in
        [Kind::PresetContext, Kind::PresetInstruct, Kind::PresetMaster, Kind::Regex, Kind::Group]
            .into_iter()
            .flat_map(|kind| of_kind(kind).into_iter().map(move |f| (kind, f)))
    {
        let again = read(files::write_json(kind, &file.value, false).as_bytes());
        equal(&file.value, &again.value, &name);
        assert_eq!(again.warnings.iter().filter(|w| w.code.starts_with("field")).count(), 0, "{name}");
    }
}

#[test]
fn oldest_groups_find_their_members() {
    let cards = [("a.png", "洛恩"), ("b.png", "Mira"), ("c.png", "Mira")];
    let characters: Vec<Character> = cards
        .iter()
        .map(|(avatar, name)| Character::from_card(avatar, &json!({"name": name})).unwrap().0)
        .collect();
    let group = json!({"id": 17, "members": ["Mira", "nobody", "洛恩", "Mira"], "chat_metadata": {"note_prompt": "n"}, "x": 1});
    let (group, headers) = files::migrate_group(group.as_object().unwrap(), &characters);
    assert_eq!(
        json!(group),
        json!({"id": 17, "members": ["b.png", "a.png"], "x": 1, "chat_id": "17", "chats": ["17"]})
    );
    assert_eq!(json!(headers), json!({"17": {"note_prompt": "n"}}));
    let new = json!({"id": "1", "members": ["Mira"], "chat_id": "1"});
    assert_eq!(json!(files::migrate_group(new.as_object().unwrap(), &characters).0), new);
}

// The worked examples of the specification.
#[test]
fn worked_examples() {
    let v1 = read(br#"{"name":"Ines","description":"D","talkativeness":0,"alternate_greetings":["a"],"system_prompt":"S","creator_notes":"Creator's notes go here.N"}"#);
    assert_eq!(v1.value["effective"]["talkativeness"], 0.0);
    assert_eq!(v1.value["data"]["alternate_greetings"], json!(["a"]));
    assert_eq!(
        (&v1.value["data"]["system_prompt"], &v1.value["data"]["creator_notes"]),
        (&json!("S"), &json!("Creator's notes go here.N"))
    );
    assert_eq!(v1.warnings.iter().map(|w| w.code.as_ref()).collect::<Vec<_>>(), ["flat-v2-fields"]);

    let yaml =
        read(b"name: Sefa\ncontext: |-\n  A ferryman.\ngreeting: Board, please.\nexample_dialogue: x\n");
    let data = &yaml.value["data"];
    assert_eq!(
        [&data["name"], &data["description"], &data["first_mes"], &data["mes_example"]],
        ["Sefa", "A ferryman.", "Board, please.", "x"]
    );

    let entry = json!({"entries": [{"keys":["mill"],"secondary_keys":[],"content":"The mill burned.","enabled":true,"insertion_order":20,"position":"before_char","id":7,"comment":"Mill","extensions":{"depth":2,"probability":80,"role":1,"match_scenario":true}}]});
    let expected = json!({"uid": 7, "key": ["mill"], "order": 20, "position": 0, "addMemo": true, "selective": false, "depth": 2, "probability": 80, "useProbability": true, "role": 1, "matchScenario": true, "disable": false});
    let read_entry = &read_value(&entry).value["entries"][0];
    let world = &files::world_file(&entry).unwrap()["entries"]["7"];
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!((&read_entry[key], &world[key]), (value, value), "{key}");
    }
    assert_eq!(world["displayIndex"], 0);

    let options = files::ReadOptions {
        names: files::ChatNames { user: "U".into(), character: "C".into() },
        ..files::ReadOptions::default()
    };
    let ooba = files::read_with(br#"{"data_visible":[["","hi"],["yo","hey"]]}"#, &options).unwrap();
    let said: Vec<_> = ooba.value["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["name"].as_str().unwrap(), m["mes"].as_str().unwrap()))
        .collect();
    assert_eq!(said, [("C", "hi"), ("U", "yo"), ("C", "hey")]);
    let kobold = read(br#"{"savedsettings":{"chatname":"Me","chatopponent":"Bot||$||Bot2"},"prompt":"{{[OUTPUT]}}Hi","actions":["{{[INPUT]}}yo","{{[OUTPUT]}}hey"]}"#);
    let said: Vec<_> = kobold.value["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["name"].as_str().unwrap(), m["mes"].as_str().unwrap()))
        .collect();
    assert_eq!(said, [("Bot", "Hi"), ("Me", "yo"), ("Bot", "hey")]);

    for (text, code) in [("{\"foo\":1}", "file.unknown-shape"), ("[1]", "file.not-an-object")] {
        assert_eq!(files::read(text.as_bytes(), None, &Limits::default()).unwrap_err().code().as_str(), code);
    }
}

/// Any JSON, with the keys of cards among the rest.
fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-5i64..20_000).prop_map(Value::from),
        (-3.0f64..3.0).prop_map(Value::from),
        "[a,洛😀 \"\\\\\n@]{0,6}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        prop::sample::select(vec![
            "name",
            "description",
            "first_mes",
            "data",
            "spec",
            "spec_version",
            "tags",
            "alternate_greetings",
            "extensions",
            "character_book",
            "entries",
            "keys",
            "enabled",
            "insertion_order",
            "uid",
            "id",
            "key",
            "content",
            "depth_prompt",
            "depth",
            "role",
            "talkativeness",
            "fav",
            "nickname",
            "source",
            "assets",
            "creatorcomment",
            "position",
        ])
        .prop_map(str::to_owned),
        "[x-z]{1,2}",
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| pairs.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    // Whatever a card holds, what is written of it reads back as it was read, and nothing unknown is lost.
    #[test]
    fn random_cards_survive(top in junk(), data in junk()) {
        let mut card = json!({"spec": "chara_card_v2", "data": data});
        if let (Some(card), Some(top)) = (card.as_object_mut(), top.as_object()) {
            for (key, value) in top {
                card.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        let file = read_value(&card);
        let again = read_value(&files::card_object(&card, CardOptions::default()).unwrap());
        for part in ["data", "top", "effective", "book"] {
            if let Some(d) = golden::difference(&file.value[part], &again.value[part]) {
                prop_assert!(false, "{part}: {d}\n{card}");
            }
        }
        if let Some(data) = card["data"].as_object() {
            for (key, value) in data.iter().filter(|(k, _)| k.starts_with(['x', 'y', 'z'])) {
                prop_assert_eq!(&again.value["data"][key], value);
            }
        }
    }

    #[test]
    fn random_books_survive(book in junk(), world in any::<bool>()) {
        let book = json!({"entries": book, "x": 1});
        if let Ok(file) = files::read(js::stringify(&book).as_bytes(), Some(Kind::Lorebook), &Limits::default()) {
            let other = if world { files::world_file(&book) } else { files::character_book(&book) }.unwrap();
            let again = read_value(&other);
            let (a, b) = (by_uid(&file), by_uid(&again));
            if let Some(d) = golden::difference(&json!(a), &json!(b)) {
                prop_assert!(false, "{d}\n{book}\n{other}");
            }
        }
    }
}
