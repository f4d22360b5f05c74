//! The first messages of a new chat: scene -> messages to insert (spec 01 §5, §8; spec 05 §5).

use serde_json::{Value, json};

use crate::host::{Host, Site};
use crate::js;
use crate::macros::{EnvBase, expand};
use crate::parts::Effects;
use crate::profile::Profile;
use crate::scene::{Character, ChatMessage, Object, Scene};
use crate::scripts::{Call, CompiledScripts, Placement, run};

/// The messages that a new chat begins with: the character's greeting with its alternates as swipes, or one greeting of every
/// member of the group. A list of alternates costs one draw in a group, an empty one too.
pub fn greetings(
    scene: &Scene,
    profile: &Profile,
    scripts: &CompiledScripts,
    host: &mut Host,
    effects: &mut Effects,
) -> Vec<ChatMessage> {
    if let Some(group) = &scene.group {
        let members = group.members.iter().enumerate();
        let found = members.filter_map(|(place, id)| Some((place, scene.character_index(id)?)));
        return found.filter_map(|(place, at)| of_member(scene, place, at, profile, host, effects)).collect();
    }
    let solo = scene.chat_with.as_deref().map_or(Some(0), |avatar| scene.character_index(avatar));
    solo.and_then(|at| alone(scene, at, profile, scripts, host, effects)).into_iter().collect()
}

/// A greeting of a member: one draw among those that are not empty, expanded in the member's name.
fn of_member(
    scene: &Scene,
    place: usize,
    at: usize,
    profile: &Profile,
    host: &mut Host,
    effects: &mut Effects,
) -> Option<ChatMessage> {
    let member = scene.characters.get(at)?;
    let text = match &member.alternate_greetings {
        None => Some(&member.first_mes),
        Some(others) => {
            let all: Vec<_> =
                std::iter::once(&member.first_mes).chain(others).filter(|t| !t.is_empty()).collect();
            let chosen = host.dice.index(Site::Greeting, all.len());
            all.get(chosen).copied()
        }
    }?;
    let base = EnvBase::new(scene, Some(at), profile);
    let mes = expand(js::trim(text), &base.env(), host, effects);
    if mes.is_empty() {
        return None;
    }
    // ST draws a random id; ours tells the members of one opening apart and repeats.
    let id = i64::try_from(place + 1).unwrap_or(1).saturating_mul(1000).saturating_mul(host.clock.now_ms);
    let mut message = message(member, mes, host);
    message.original_avatar = Some(member.avatar.clone());
    message.extra = Some(Object::from_iter([("gen_id".to_owned(), json!(id))]));
    let file = js::encode_uri_component(&member.avatar);
    message.force_avatar = Some(json!(format!("/thumbnail?type=avatar&file={file}")));
    Some(with_swipes(message, None))
}

/// The greeting of a single chat; alternates stay unexpanded until they are shown.
fn alone(
    scene: &Scene,
    at: usize,
    profile: &Profile,
    scripts: &CompiledScripts,
    host: &mut Host,
    effects: &mut Effects,
) -> Option<ChatMessage> {
    let character = scene.characters.get(at)?;
    let base = EnvBase::new(scene, Some(at), profile);
    let call = Call { speaker: Some(&character.avatar), ..Call::new(Placement::AiOutput) };
    let mut scripted = |text: &String| run(text, &call, scripts, &base.env(), host, effects).text;
    let mut texts = vec![scripted(&character.first_mes)];
    texts.extend(character.alternate_greetings.iter().flatten().map(&mut scripted));
    let several = texts.len() > 1;
    if several && texts.first().is_some_and(String::is_empty) {
        texts.remove(0);
    }
    let first = texts.first().filter(|t| !t.is_empty())?;
    let mes = expand(first, &base.env(), host, effects);
    Some(with_swipes(message(character, mes, host), several.then_some(texts)))
}

fn message(character: &Character, mes: String, host: &Host) -> ChatMessage {
    ChatMessage {
        name: character.name.clone(),
        states_visible: true,
        mes,
        send_date: Some(json!(js::iso_date(host.clock.now_ms))),
        extra: Some(Object::new()),
        ..ChatMessage::default()
    }
}

/// The message with its swipes: those given, or its own text alone.
fn with_swipes(mut message: ChatMessage, texts: Option<Vec<String>>) -> ChatMessage {
    let texts = texts.unwrap_or_else(|| vec![message.mes.clone()]);
    let extra = Value::Object(message.extra.clone().unwrap_or_default());
    let info = json!({"send_date": message.send_date, "extra": extra});
    message.swipe_info = Some(vec![info; texts.len()]);
    message.swipes = Some(texts.into_iter().map(Value::String).collect());
    message.swipe_id = Some(json!(0));
    message
}
