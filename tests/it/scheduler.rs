//! Who speaks: the recorded cases of the scheduler, and the tables of spec 01 §§3-5 and appendix B.

use promptside::host::Dice;
use promptside::parts::Kind;
use promptside::profile::Profile;
use promptside::scene::Scene;
use promptside::speakers::{self, Plan, PlanOptions};
use promptside::{Code, Error};
use serde_json::{Value, json};

use crate::golden::{Case, cases, difference, report, scene_value};

/// Sites at which speakers are drawn; requests draw at others, afterwards.
const SITES: &[&str] =
    &["natural.shuffle", "natural", "pooled", "manual.shuffle", "impersonate", "swipe.shuffle"];

/// A recorded case on its way: the scene as it is before the next step. Replies and edits come from the recording.
struct Walk {
    scene: Value,
}

impl Walk {
    fn new(case: &Case) -> Self {
        let mut walk = Self { scene: scene_value(case) };
        if case.scenario()["chat"].is_null() {
            let opened = case.json["expected"]["opened_chat"].clone();
            walk.scene["chat"]["messages"] = if opened.is_array() { opened } else { json!([]) };
        }
        walk
    }

    fn chat(&mut self) -> &mut Vec<Value> {
        self.scene["chat"]["messages"].as_array_mut().unwrap()
    }

    fn scene(&self) -> Scene {
        Scene::from_value(&self.scene).unwrap().0
    }

    fn plan(&self, options: &PlanOptions<'_>, step: &Value) -> Result<Plan, Error> {
        let tape: Vec<f64> =
            step["random"].as_array().map_or_else(Vec::new, |l| l.iter().filter_map(Value::as_f64).collect());
        speakers::plan(&self.scene(), options, &Profile::sillytavern(), &mut Dice::tape(tape))
    }

    /// The step of the case: what is planned for it, if it is one that plans.
    fn run(&mut self, step: &Value) -> Option<Result<Plan, Error>> {
        let text = |key: &str| step[key].as_str();
        let forced = text("member").map(|id| self.scene().character_index(id).unwrap());
        let kind = Kind::named(text("type").unwrap_or("")).unwrap();
        let options = PlanOptions { kind, forced, ..PlanOptions::default() };
        match text("do").unwrap() {
            "activate" => {
                let auto = step["auto"].as_bool().unwrap_or(false);
                Some(self.plan(&PlanOptions { input: text("input"), auto, ..options }, step))
            }
            "user_message" => Some(self.plan(&PlanOptions { input: text("text"), ..options }, step)),
            "auto_mode" => Some(self.plan(&PlanOptions { auto: true, ..options }, step)),
            "generate" => {
                let before = self.chat().clone();
                if kind == Kind::Regenerate {
                    self.delete_batch();
                }
                let plan = self.plan(&options, step);
                // The recording tells differences from the chat as it was.
                *self.chat() = before;
                Some(plan)
            }
            _ => None,
        }
    }

    /// Spec 01 §3.5.
    fn delete_batch(&mut self) {
        let id = |m: &Value| m["extra"]["gen_id"].as_f64();
        let ours = |m: &Value| m["is_user"] == json!(true) || m["is_system"] == json!(true);
        let batch = self.chat().last().filter(|m| !ours(m)).and_then(id);
        while let Some(last) = self.chat().last() {
            let other = batch.is_some() && id(last).is_some() && batch != id(last);
            if other || ours(last) {
                break;
            }
            self.chat().pop();
        }
    }

    /// What the recording says the step left behind.
    fn after(&mut self, step: &Value, expected: &Value) {
        if let Some(length) = expected["chat_changes"]["length"].as_u64() {
            self.chat().resize(usize::try_from(length).unwrap(), Value::Null);
        }
        for change in expected["chat_changes"]["messages"].as_array().into_iter().flatten() {
            let at = usize::try_from(change["index"].as_u64().unwrap()).unwrap();
            self.chat()[at] = change["message"].clone();
        }
        for (key, value) in step["group"].as_object().into_iter().flatten() {
            self.scene["group"][key] = value.clone();
        }
    }
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.speakers.iter().map(|s| s.name.as_str()).collect()
}

fn draws(plan: &Plan) -> Vec<Value> {
    plan.draws.iter().map(|d| json!({"site": d.site.as_str(), "value": d.value})).collect()
}

/// Differences of the steps that plan, and how many those are.
fn differences(case: &Case, only: Option<&str>, failures: &mut Vec<String>) -> usize {
    if case.scenario()["group"].is_null() {
        return 0;
    }
    let mut walk = Walk::new(case);
    let mut counted = 0;
    for (i, (step, expected)) in case.steps().into_iter().enumerate() {
        let wanted = only.is_none_or(|only| step["do"] == only);
        let plan = walk.run(step).filter(|_| wanted);
        let at = format!("{} step {i}", case.id);
        let spoke: Vec<&str> =
            expected["speakers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        match plan {
            None => {}
            // Other steps record the speakers only when they ask the group, and fail for reasons that come later.
            Some(_) if step["do"] != "activate" && !expected["speakers"].is_array() => {}
            Some(Err(e)) => {
                counted += 1;
                let notice = expected["chat_changes"]["messages"][0]["message"]["extra"]["type"] == "empty";
                if !(e.code() == Code::GroupEmpty && notice || expected["error"].is_string()) {
                    failures.push(format!("{at}: {e}"));
                }
            }
            Some(Ok(plan)) => {
                counted += 1;
                let drawn: Vec<Value> = expected["draws"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|d| SITES.contains(&d["site"].as_str().unwrap()))
                    .cloned()
                    .collect();
                let same = difference(&Value::Array(drawn.clone()), &Value::Array(draws(&plan))).is_none();
                if names(&plan) != spoke || !same {
                    failures.push(format!(
                        "{at}: expected {spoke:?} {drawn:?}, got {:?} {:?}",
                        names(&plan),
                        draws(&plan)
                    ));
                }
                if spoke.is_empty() {
                    let sent = expected["chat_changes"]["messages"].as_array().and_then(|l| l.last());
                    let sent = sent.map(|m| m["message"]["mes"].as_str().unwrap());
                    if plan.user_message.as_deref() != sent || plan.nobody.is_none() {
                        failures.push(format!("{at}: expected {sent:?} sent, got {:?}", plan.user_message));
                    }
                }
            }
        }
        walk.after(step, expected);
    }
    counted
}

fn run(area: &str, only: Option<&str>) -> usize {
    let mut failures = Vec::new();
    let counted = cases(area).iter().map(|case| differences(case, only, &mut failures)).sum();
    report(area, counted, &failures);
    counted
}

#[test]
fn recorded() {
    assert!(run("scheduler", Some("activate")) >= 60);
}

#[test]
fn recorded_at_random() {
    assert!(run("scheduler-random", Some("activate")) >= 290);
}

/// Whole turns of the other areas: only who speaks is judged here, what is sent is judged by those areas.
#[test]
fn speakers_of_whole_turns() {
    let mut counted = 0;
    for area in [
        "messages",
        "session",
        "budget",
        "postprocess",
        "textcompletion",
        "messages-random",
        "worldinfo-random",
        "macros-random",
    ] {
        counted += run(area, None);
    }
    assert!(counted >= 200, "{counted}");
}
