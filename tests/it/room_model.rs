//! Whatever is said to a room, in whatever order: it never hangs, never stores what it rejected, keeps its limits, asks nobody who is muted, and
//! ends every start once.

use std::collections::{BTreeMap, BTreeSet};

use promptside::api::{Session, Vocabularies};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::room_rounds::{call, scene};

/// What can happen, with a number that chooses among variants.
fn happening(kind: usize, n: usize, seen: &Seen) -> Value {
    let members = ["塞拉菲娜", "洛恩", "Mira", "кот"];
    let member = members[n % 4];
    let outstanding = seen.request.clone().unwrap_or_else(|| "9.9.9.9".to_owned());
    let past: Vec<&String> = seen.ids.iter().filter(|id| Some(*id) != seen.request.as_ref()).collect();
    let late = past.get(n % past.len().max(1)).map_or_else(|| "0.1.1.1".to_owned(), |id| (*id).clone());
    let text = [
        "好的，走吧。",
        "@洛恩 @Mira 来。",
        "",
        " \n",
        "作为AI，我不能。",
        "Mira: I speak for her.",
        "Да. 🐈\n洛恩：我也去。",
        "[pass]",
        "走。\n[next: Mira]",
        "@кот 喵？",
        "{\"content\": \"好\"}",
    ][n % 11];
    match kind {
        0..=4 => json!({"type": "reply", "request": outstanding, "text": text}),
        5 => json!({"type": "reply", "request": late, "text": "PARTIAL late"}),
        6 => {
            json!({"type": "chunk", "request": outstanding, "text": (["我", "们", "\nMi", "ra: ", "[ne", "xt: 洛恩]"][n % 6])})
        }
        7 => json!({"type": "chunk", "request": late, "text": "PARTIAL late"}),
        8 => {
            json!({"type": "wire", "request": outstanding, "text": "data: {broken\n\n", "end": n.is_multiple_of(2)})
        }
        9 => json!({"type": "fail", "request": outstanding, "code": "http_500", "message": "no"}),
        10 => json!({"type": "timeout", "request": if n.is_multiple_of(2) { outstanding } else { late }}),
        11 => json!({"type": "abort", "keep": n.is_multiple_of(2)}),
        12..=14 => {
            json!({"type": "elapsed", "wait": seen.wait.clone().unwrap_or_else(|| "no.wait".to_owned())})
        }
        15 => json!({"type": "elapsed", "wait": "1.1.1.pause"}),
        16 => json!({"type": "typing"}),
        17 | 18 => {
            json!({"type": "user_message", "text": (["@Mira 你呢？", "ну?", "  ", "@洛恩 @кот"][n % 4])})
        }
        19 => {
            json!({"type": "start", "userMessage": "再来。", "target": if n.is_multiple_of(3) { json!(member) } else { Value::Null }})
        }
        20 => json!({"type": "command", "order": "pause"}),
        21 | 22 => json!({"type": "command", "order": "resume"}),
        23 => json!({"type": "command", "order": "insert", "member": member}),
        24 => {
            json!({"type": "command", "order": "skip", "member": if n.is_multiple_of(2) { json!(member) } else { Value::Null }})
        }
        25 => json!({"type": "command", "order": "retry"}),
        26 => json!({"type": "command", "order": "reorder", "members": [member, "洛恩"]}),
        27 => json!({"type": "present", "member": member, "present": n.is_multiple_of(2)}),
        _ => json!({"type": "trigger", "trigger": (["manual", "scene_change", "banana"][n % 3])}),
    }
}

/// What has come out so far.
#[derive(Default)]
struct Seen {
    request: Option<String>,
    wait: Option<String>,
    ids: Vec<String>,
    /// A start goes on.
    open: bool,
    /// Its first round was announced.
    started: bool,
    stored: u32,
    limit: u32,
    users: usize,
    done: usize,
    /// How attempts ended.
    ended: BTreeMap<String, &'static str>,
    known: BTreeSet<String>,
}

impl Seen {
    fn take(&mut self, outputs: &[Value]) -> Result<(), TestCaseError> {
        for o in outputs {
            let attempt = o["attempt"].as_str().unwrap_or("").to_owned();
            match o["type"].as_str().unwrap() {
                "round_started" => {
                    if o["round"] == 1 {
                        prop_assert!(!self.started, "the last start was ended first");
                    }
                    (self.open, self.started) = (true, true);
                }
                "request" => {
                    let id = o["id"].as_str().unwrap().to_owned();
                    prop_assert!(self.known.insert(id.clone()), "the id {id} is new");
                    prop_assert!(o["speaker"] != "k.png", "a muted member is never asked");
                    self.ids.push(id.clone());
                    self.open = true;
                    (self.request, self.wait) = (Some(id), None);
                }
                "wait" => (self.wait, self.request) = (o["id"].as_str().map(str::to_owned), None),
                "user_message" => self.users += 1,
                "token" => {
                    prop_assert!(!self.ended.contains_key(&attempt), "nothing is shown of what has ended");
                }
                "draft_reset" => prop_assert_eq!(self.ended.insert(attempt, "reset"), None),
                "message_done" => {
                    prop_assert_eq!(self.ended.insert(attempt, "done"), None);
                    let text = o["text"].as_str().unwrap();
                    prop_assert_eq!(&o["message"]["mes"], text);
                    prop_assert!(!text.trim().is_empty() && !text.contains("PARTIAL"), "{}", text);
                    // A narrator is no member: no rule for replies is about it.
                    if o["reason"] != "narrator" {
                        prop_assert!(
                            !text.contains("作为AI") && !text.contains("Mira:") && !text.contains("洛恩："),
                            "{}",
                            text
                        );
                        self.stored += 1;
                        prop_assert!(self.stored <= self.limit, "no more than allowed");
                    }
                    self.done += 1;
                }
                "room_finished" => {
                    let nobody = o["reason"] == "nobody_can_speak";
                    prop_assert!(
                        self.open || nobody || o["reason"] == "aborted",
                        "one end for one start: {o}"
                    );
                    if !nobody {
                        prop_assert_eq!(&o["count"], &json!(self.stored));
                    }
                    (self.open, self.started, self.stored) = (false, false, 0);
                    (self.request, self.wait) = (None, None);
                }
                "auto_ended" => self.wait = None,
                _ => {}
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_said_to_a_room(
        mode in prop::sample::select(vec!["single_round", "free_chat", "host_mode"]),
        who in prop::sample::select(vec!["all", "natural", "pooled", "round_robin", "mention", "random", "formula", "director", "world_engine"]),
        control in prop::sample::select(vec!["none", "marks", "json"]),
        busy in prop::sample::select(vec!["refuse", "queue", "replace"]),
        words in prop::sample::select(vec!["insert", "after", "cancel"]),
        layout in prop::sample::select(vec!["classic", "tail"]),
        limit in 1_u32..7,
        flags in prop::collection::vec(any::<bool>(), 6),
        script in prop::collection::vec((0_usize..29, 0_usize..30), 1..60),
    ) {
        let mut scene = scene();
        scene["characters"].as_array_mut().unwrap().push(json!({"avatar": "k.png", "card": {"name": "кот"}}));
        scene["group"] = json!({"id": "g", "members": ["s.png", "l.png", "m.png", "k.png"], "disabled_members": ["k.png"]});
        let rounds = json!({
            "mode": mode, "who": who, "control": control, "onBusy": busy, "onUserMessage": words, "layout": layout, "maxMessages": limit,
            "maxRounds": 3, "pauseMs": if flags[0] { 5 } else { 0 }, "crossTalk": {"enabled": flags[1]}, "hostClosing": flags[2],
            "handoff": if flags[3] { "next" } else { "off" }, "auto": {"enabled": flags[4], "maxTurns": 2}, "validation": {"forbidden": ["作为AI"]},
            "narrator": {"interval": u32::from(flags[5])}, "presence": {"enabled": flags[0]}, "maxConsecutivePair": 3,
        });
        let options = json!({"random": {"seed": 5}, "now": 1_741_064_767_000_i64, "rounds": rounds});
        let mut room = Session::new(&scene.to_string(), &options.to_string(), Vocabularies::default()).unwrap();
        let mut seen = Seen { limit, ..Seen::default() };
        let mut say = |input: &Value, seen: &mut Seen| -> Result<(), TestCaseError> {
            let before = call(&mut room, "chat", &Value::Null);
            match room.call("step", &json!({"input": input}).to_string()) {
                Ok(text) => {
                    let outputs: Vec<Value> = serde_json::from_str(&text).unwrap();
                    seen.take(&outputs).map_err(|e| TestCaseError::fail(format!("{e}\nafter {input}: {text}")))?;
                }
                Err(error) => {
                    prop_assert!(!matches!(error.code().as_str(), "internal" | "draws.exhausted"), "{}", error);
                    prop_assert_eq!(&call(&mut room, "chat", &Value::Null), &before, "what fails changes nothing");
                }
            }
            let chat = call(&mut room, "chat", &Value::Null);
            let length = chat["messages"].as_array().unwrap().len();
            prop_assert_eq!(length, 1 + seen.users + seen.done, "every stored message is told of, and none goes");
            Ok(())
        };
        say(&json!({"type": "start", "userMessage": "@洛恩 你们好"}), &mut seen)?;
        for (kind, n) in script {
            let input = happening(kind, n, &seen);
            say(&input, &mut seen)?;
        }
        // It ends when it is told to, and begins again.
        for _ in 0..4 {
            say(&json!({"type": "abort"}), &mut seen)?;
        }
        prop_assert!(!seen.open && seen.request.is_none(), "an abort ends everything");
        for name in ["塞拉菲娜", "洛恩", "Mira"] {
            say(&json!({"type": "present", "member": name, "present": true}), &mut seen)?;
        }
        let before = seen.ids.len();
        say(&json!({"type": "start", "userMessage": "还在吗？"}), &mut seen)?;
        prop_assert!(seen.ids.len() > before, "the room still works");
    }
}
