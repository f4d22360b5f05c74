//! What holds for every lorebook: random books, a small number of seeds.

use promptside::profile::Profile;
use serde_json::{Value, json};

use crate::lore_spec::{Look, entry, look};

/// A small generator with a fixed seed (Knuth's constants).
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

const WORDS: [&str; 12] = ["狐", "дом", "лиса", "wolf", "owl", "แมว", "수리", "月", "🐉", "قمر", "salt", "Ω"];

fn book(r: &mut Seeded) -> Vec<Value> {
    (0..=r.below(14))
        .map(|i| {
            json!({
                "uid": i,
                "key": [r.pick(&WORDS), r.pick(&WORDS)],
                "content": format!("{i} {} {}", r.pick(&WORDS), r.pick(&WORDS)),
                "constant": r.below(5) == 0,
                "order": r.below(3) * 50,
                "ignoreBudget": r.below(6) == 0,
                "preventRecursion": r.below(5) == 0,
                "excludeRecursion": r.below(5) == 0,
                "delayUntilRecursion": r.below(7) / 5,
                "probability": if r.below(6) == 0 { 50 } else { 100 },
                "group": r.pick(&["", "", "", "g", "g,h"]),
                "sticky": r.below(4),
                "cooldown": r.below(4),
            })
        })
        .collect()
}

fn entries(list: &[Value]) -> Value {
    let one = |e: &Value| {
        let uid = e["uid"].as_u64().unwrap();
        (uid.to_string(), entry(usize::try_from(uid).unwrap(), e))
    };
    list.iter().map(one).collect::<serde_json::Map<_, _>>().into()
}

fn chat(r: &mut Seeded) -> Vec<String> {
    (0..r.below(6)).map(|_| format!("A: {} {}", r.pick(&WORDS), r.pick(&WORDS))).collect()
}

fn random(seed: u64, profile: Profile) -> (Vec<Value>, Look) {
    let mut r = Seeded(seed);
    let list = book(&mut r);
    let l = Look {
        entries: entries(&list),
        lines: chat(&mut r),
        draws: (0..400).map(|i| f64::from(i * 37 % 100) / 100.0).collect(),
        max_context: i64::try_from(r.below(160) + 8).unwrap(),
        settings: json!({"world_info_depth": r.below(4), "world_info_min_activations": r.below(3)}),
        profile,
        ..Look::default()
    };
    (list, l)
}

#[test]
fn the_budget_is_never_exceeded() {
    for seed in 0..300 {
        for profile in [Profile::sillytavern(), Profile::promptside()] {
            let fixed = profile == Profile::promptside();
            let (list, l) = random(seed, profile);
            let lore = look(&l).lore;
            let words = |uid: u64| {
                list[usize::try_from(uid).unwrap()]["content"].as_str().unwrap().split(' ').count()
            };
            let limited = lore.activated.iter().filter_map(|a| a.uid.as_u64()).filter(|u| {
                // Texts that wake nobody are forgotten by the reference's count from loop to loop (F6).
                let e = &list[usize::try_from(*u).unwrap()];
                e["ignoreBudget"] == false && (fixed || e["preventRecursion"] == false)
            });
            let used: usize = limited.map(words).sum();
            assert!(i64::try_from(used).unwrap() <= lore.budget, "seed {seed}: {used} of {}", lore.budget);
        }
    }
}

#[test]
fn entries_of_one_order_keep_their_order() {
    for seed in 0..200 {
        for profile in [Profile::sillytavern(), Profile::promptside()] {
            let (list, l) = random(seed, profile);
            let mut flat = list.clone();
            for e in &mut flat {
                e["constant"] = json!(true);
                for key in ["group", "delayUntilRecursion", "probability"] {
                    e.as_object_mut().unwrap().remove(key);
                }
            }
            let l = Look { entries: entries(&flat), max_context: 100_000, ..l };
            // Found in book order within one order, the highest first; the text runs the other way.
            let mut want: Vec<&Value> = flat.iter().collect();
            want.sort_by_key(|e| std::cmp::Reverse(e["order"].as_u64()));
            let uids: Vec<u64> = want.iter().map(|e| e["uid"].as_u64().unwrap()).collect();
            assert_eq!(look(&l).uids(), uids, "seed {seed}");
            let text: Vec<&str> = want.iter().rev().map(|e| e["content"].as_str().unwrap()).collect();
            assert_eq!(look(&l).lore.before, text.join("\n"));
        }
    }
}

#[test]
fn an_unrelated_entry_changes_nothing() {
    for seed in 0..200 {
        for profile in [Profile::sillytavern(), Profile::promptside()] {
            let (list, l) = random(seed, profile);
            let before = look(&l);
            let mut more = list.clone();
            more.push(json!({"uid": list.len(), "key": ["nirgends"], "content": "nichts", "order": 70}));
            let after = look(&Look { entries: entries(&more), ..l });
            assert_eq!(before.uids(), after.uids(), "seed {seed}");
            assert_eq!((before.lore.before, before.drawn), (after.lore.before, after.drawn));
            assert_eq!(before.effects.metadata, after.effects.metadata);
        }
    }
}

#[test]
fn a_bad_entry_leaves_the_others_alone() {
    for seed in 0..100 {
        let (list, l) = random(seed, Profile::promptside());
        let before = look(&l);
        for bad in [json!(7), json!([]), json!({"uid": 90, "constant": true, "content": {"a": 1}})] {
            let mut book = entries(&list);
            book["90"] = bad;
            let after = look(&Look { entries: book, ..l.clone() });
            assert_eq!(before.uids(), after.uids(), "seed {seed}");
            assert_eq!(before.lore.before, after.lore.before);
            assert_eq!(after.effects.notes.iter().filter(|n| n.code == "lore_entry").count(), 1);
        }
    }
}

#[test]
fn every_entry_is_accounted_for_once() {
    for seed in 0..100 {
        let (list, l) = random(seed, Profile::promptside());
        let lore = look(&l).lore;
        let named = |uid: &serde_json::Value| match uid.as_array() {
            Some(run) => usize::try_from(run[1].as_i64().unwrap() - run[0].as_i64().unwrap() + 1).unwrap(),
            None => 1,
        };
        let others: usize =
            lore.untouched.values().flat_map(|books| books.values()).flatten().map(named).sum();
        assert_eq!(lore.explained.len() + others, list.len(), "seed {seed}");
    }
}
