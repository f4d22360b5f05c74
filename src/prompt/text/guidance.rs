//! Classifier-free guidance: a text that the prompt is steered to, and one that it is steered away from (spec 05 §19, 07 §10.4).

use serde_json::Value;

use crate::js;
use crate::macros::Expander;
use crate::profile::{Profile, TEXT_LAST_LINE};
use crate::scene::{Object, Scene};

/// What is in force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guidance {
    /// How strongly; never 1.
    pub scale: f64,
    /// What to steer to; may be empty.
    pub positive: String,
    /// What to steer away from; may be empty.
    pub negative: String,
    /// Messages behind the text.
    pub depth: i64,
}

/// Where a scale is set, with the number that `cfg_prompt_combine` names it by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Chat = 0,
    Character = 1,
    Global = 2,
}

impl Guidance {
    /// The guidance of a chat and its speaker; `None` when the scale is 1 or not set.
    pub fn of(scene: &Scene, avatar: &str, scope: &mut Expander<'_>) -> Option<Self> {
        let settings = scene.settings.extensions.get("cfg")?.as_object()?;
        let chat = &scene.chat.metadata;
        let stem = avatar.rsplit_once('.').map_or(avatar, |(stem, _)| stem);
        let own = settings
            .get("chara")
            .and_then(Value::as_array)
            .and_then(|list| list.iter().find(|c| c.get("name").is_some_and(|n| n == stem)))
            .and_then(Value::as_object);
        let global = settings.get("global").and_then(Value::as_object);
        let individual = chat.get("cfg_groupchat_individual_chars").is_some_and(js::to_boolean);
        let number = |o: Option<&Object>, key: &str| {
            let n = js::value_to_number(o?.get(key)?);
            (n.is_finite() && (n - 1.0).abs() > f64::EPSILON).then_some(n)
        };
        let solo = scene.group.is_none();
        let chat_scale = number(Some(chat), "cfg_guidance_scale").filter(|n| *n != 0.0 && !individual);
        let own_scale = number(own, "guidance_scale").filter(|_| solo || individual);
        let (level, scale) = chat_scale
            .map(|n| (Level::Chat, n))
            .or_else(|| own_scale.map(|n| (Level::Character, n)))
            .or_else(|| number(global, "guidance_scale").map(|n| (Level::Global, n)))?;
        let combined: Vec<i64> = chat
            .get("cfg_prompt_combine")
            .and_then(Value::as_array)
            .map_or_else(Vec::new, |l| l.iter().map(|v| js::to_integer(js::value_to_number(v))).collect());
        let separator = match chat.get("cfg_prompt_separator").and_then(Value::as_str).map(js::parse) {
            Some(Ok((Value::String(text), _))) => text,
            _ => "\n".to_owned(),
        };
        let mut text = |key: &str| {
            let levels = [
                (Level::Global, global.and_then(|o| o.get(key))),
                (Level::Character, own.and_then(|o| o.get(key))),
                (Level::Chat, chat.get(&format!("cfg_{key}"))),
            ];
            let used = levels.into_iter().filter(|(l, _)| *l == level || combined.contains(&(*l as i64)));
            let texts: Vec<String> = used
                .filter_map(|(_, v)| v?.as_str())
                .map(|t| js::trim(&scope.expand(t)).to_owned())
                .filter(|t| !t.is_empty())
                .collect();
            texts.join(&separator)
        };
        let (negative, positive) = (text("negative_prompt"), text("positive_prompt"));
        let depth = chat.get("cfg_prompt_insertion_depth").filter(|v| !v.is_null()).map(js::value_to_number);
        let depth = depth.filter(|n| n.is_finite()).map_or(1, js::to_integer);
        Some(Self { scale, positive, negative, depth })
    }
}

/// Puts a text into the kept messages. `ending_starts`: where the end of the prompt starts in the last of them. In the
/// reference a text at depth 0 stands behind that end, as if the model had said it (F27).
pub(super) fn insert(
    messages: &mut [String],
    text: &str,
    depth: i64,
    ending_starts: Option<usize>,
    profile: &Profile,
) {
    if depth == 0 {
        let Some(last) = messages.last_mut() else { return };
        if profile.on(&TEXT_LAST_LINE)
            && let Some(at) = ending_starts.filter(|at| last.is_char_boundary(*at))
        {
            let before = last.get(..at).unwrap_or("");
            let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
            let after = if last.get(at..).is_some_and(|t| t.starts_with('\n')) { "" } else { "\n" };
            last.insert_str(at, &format!("{gap}{text}{after}"));
            return;
        }
        if !last.ends_with(js::is_space) {
            last.push(' ');
        }
        last.push_str(text);
        return;
    }
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let at = messages.len().saturating_sub(depth);
    if let Some(message) = messages.get_mut(at) {
        message.insert_str(0, &format!("{text}\n"));
    }
}
