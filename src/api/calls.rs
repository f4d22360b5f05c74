//! Questions to a room that change nothing (or only what they say): plan, preview, clean, expand, scan, count, convert.

use serde_json::{Value, json};

use super::types::{
    BuildOptions, Built, CleanOptions, ExpandOptions, InspectOptions, InspectedText, LoreDepth, LoreExample,
    LoreLook, LoreOptions, RawOptions, Scripted, SpeakerOptions,
};
use crate::error::{Code, Error};
use crate::js;
use crate::lore::ExamplePlace;
use crate::macros::{self, Env, EnvBase, Trust};
use crate::models::{Framing, Model};
use crate::parts::{Effects, Kind, Role};
use crate::profile::PROMPT_ONCE;
use crate::prompt::text::{Raw, RawLine};
use crate::provider;
use crate::reply::{self, Trim};
use crate::room::{Room, request_value};
use crate::scene::Object;
use crate::scripts::{self, Call, CompiledScripts, Placement};
use crate::speakers::{self, Plan, PlanOptions};
use crate::tokens::Count;
use crate::turn::{self, Quiet, TurnOptions};

/// Index of the character meant: the one named, or the single chat's; `None` when nobody is current.
fn speaker(room: &Room, name: Option<&str>) -> Result<Option<usize>, Error> {
    let scene = room.scene();
    match name {
        Some(name) => speakers::lookup(scene, name).map(Some),
        None if scene.group.is_some() => Ok(None),
        None => Ok(match &scene.chat_with {
            Some(avatar) => scene.character_index(avatar),
            None => (!scene.characters.is_empty()).then_some(0),
        }),
    }
}

/// Who would speak.
pub(super) fn plan(room: &mut Room, options: &SpeakerOptions) -> Result<Plan, Error> {
    let kind = Kind::named(options.kind.as_deref().unwrap_or(""))?;
    let forced = options.speaker.as_deref().map(|name| speakers::lookup(room.scene(), name)).transpose()?;
    let ask = PlanOptions {
        kind,
        auto: options.auto,
        input: options.user_message.as_deref().filter(|t| !t.is_empty() && !options.auto),
        forced,
        ..PlanOptions::default()
    };
    let mut dice = room.host().dice.clone();
    let plan = speakers::plan(room.scene(), &ask, room.profile(), &mut dice)?;
    if options.spend {
        room.host_mut().dice = dice;
    }
    Ok(plan)
}

/// The request that would be sent, without changing anything.
pub(super) fn preview(room: &mut Room, options: &BuildOptions, count: &dyn Count) -> Result<Built, Error> {
    let action = Kind::named(options.kind.as_deref().unwrap_or(""))?;
    let speaker = if let Some(name) = &options.speaker {
        speakers::lookup(room.scene(), name)?
    } else {
        let ask = SpeakerOptions {
            user_message: options.user_message.clone(),
            kind: options.kind.clone(),
            auto: options.auto,
            ..SpeakerOptions::default()
        };
        let plan = plan(room, &ask)?;
        plan.speakers.first().map(|p| p.index).ok_or_else(|| {
            Error::new(
                Code::SpeakerNone,
                "speaker",
                "nobody would speak: name a speaker, or see nextSpeakers for the reason",
            )
        })?
    };
    let in_group = room.scene().group.is_some();
    let avatar = room.scene().characters.get(speaker).map(|c| c.avatar.clone()).unwrap_or_default();
    let turn_options = TurnOptions {
        speaker: Some(avatar.clone()),
        kind: if action == Kind::Regenerate && in_group { Kind::Normal } else { action },
        action: Some(action),
        quiet: options.quiet.as_ref().map(|q| Quiet {
            prompt: q.prompt.clone(),
            to_loud: q.to_loud,
            skip_lore: q.skip_lore,
            name: q.name.clone(),
            image: q.image.clone(),
        }),
        automatic: options.auto,
        max_response: options.quiet.as_ref().and_then(|q| q.response_length),
        ask: room.ask_mut().clone(),
        ..TurnOptions::default()
    };
    let typed = options.user_message.as_deref().filter(|t| !t.is_empty());
    let (mut payload, mut report, changes) = room.preview(typed, Some(speaker), &turn_options, count)?;
    if let (Some(stream), Some(o)) = (options.stream, payload.as_object_mut()) {
        if room.scene().text.is_some() {
            provider::text::set_stream(o, stream);
        } else {
            o.insert("stream".into(), json!(stream));
        }
    }
    let request =
        provider::request(payload.as_object().unwrap_or(&Object::new()), room.provider(), room.profile())?;
    report.warnings.extend(request.notes.iter().cloned());
    Ok(Built { request: request_value(&request), report, changes, speaker: avatar })
}

/// A prompt without the chat.
pub(super) fn raw(room: &mut Room, options: &RawOptions, count: &dyn Count) -> Result<Built, Error> {
    let at = speaker(room, options.speaker.as_deref())?;
    let avatar = at.and_then(|i| room.scene().characters.get(i)).map(|c| c.avatar.clone());
    let lines = match &options.prompt {
        Value::String(text) => {
            vec![RawLine { role: Role::User, content: js::trim(text).to_owned(), name: None }]
        }
        Value::Array(list) => list.iter().map(raw_line).collect(),
        _ => {
            return Err(Error::new(
                Code::SceneField,
                "prompt",
                "a prompt is a text or a list of {role, content, name?}",
            ));
        }
    };
    let ask = turn::RawAsk {
        raw: Raw {
            lines,
            system: options.system_prompt.clone(),
            prefill: options.prefill.clone(),
            to_loud: options.to_loud,
        },
        speaker: avatar.clone(),
        plain: options.instruct_override,
        max_response: options.response_length,
    };
    let (payload, report, changes) = room.raw(&ask, count)?;
    let request = convert(room, &json!({"payload": payload}))?;
    Ok(Built { request, report, changes, speaker: avatar.unwrap_or_default() })
}

fn raw_line(value: &Value) -> RawLine {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let role = match text("role") {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    };
    RawLine { role, content: text("content").unwrap_or("").to_owned(), name: text("name").map(str::to_owned) }
}

/// Cleans a whole reply.
pub(super) fn clean(room: &mut Room, options: &CleanOptions) -> Result<Value, Error> {
    let at = speaker(room, options.speaker.as_deref())?;
    let kind = if options.impersonate {
        Kind::Impersonate
    } else if options.r#continue {
        Kind::Continue
    } else {
        Kind::Normal
    };
    let mut host = room.host().clone();
    let mut reading = reading(room, at, kind, &mut host);
    if let Some(stops) = &options.stop {
        reading.stop = stops
            .iter()
            .filter(|s| !s.is_empty())
            .map(|s| crate::parts::Stop::new(crate::parts::StopSource::Custom, s.as_str()))
            .collect();
    }
    let rules = reply::Options {
        trim: options.trim.as_deref().map(trim).transpose()?,
        keep_incomplete: options.keep_incomplete,
        include_bias: options.include_bias,
        trim_names: options.trim_names,
        trim_wrong_names: options.trim_wrong_names,
        ..reply::Options::default()
    };
    let cleaned = room.clean_reply(&options.text, &reading, &rules, at);
    serde_json::to_value(cleaned).map_err(|e| Error::new(Code::Internal, "", e.to_string()))
}

fn trim(name: &str) -> Result<Trim, Error> {
    match name {
        "compat" => Ok(Trim::Compat),
        "smart" => Ok(Trim::Smart),
        "off" => Ok(Trim::Off),
        other => Err(Error::new(
            Code::OptionUnknown,
            "trim",
            format!("{other:?} is not one of compat, smart, off"),
        )),
    }
}

fn reading(
    room: &Room,
    at: Option<usize>,
    kind: Kind,
    host: &mut crate::host::Host,
) -> crate::parts::Reading {
    let base = EnvBase::new(room.scene(), at, room.profile());
    let mut effects = Effects::default();
    let chat_completion = room.scene().text.is_none();
    let ask = reply::Ask { speaker: base.character(), kind, chat_completion, ..reply::Ask::default() };
    let env = base.env();
    reply::reading(room.scene(), &ask, room.profile(), &mut |text| {
        macros::expand(text, &env, host, &mut effects)
    })
}

/// The stop strings of a reply.
pub(super) fn stops(room: &mut Room, value: &Value) -> Result<Vec<String>, Error> {
    let at = speaker(room, value.get("speaker").and_then(Value::as_str))?;
    let flag = |key: &str| value.get(key).is_some_and(js::to_boolean);
    let kind = match (flag("impersonate"), flag("continue")) {
        (true, _) => Kind::Impersonate,
        (_, true) => Kind::Continue,
        _ => Kind::Normal,
    };
    let mut host = room.host().clone();
    Ok(reading(room, at, kind, &mut host).stop.into_iter().map(|s| s.text).collect())
}

/// Expands texts, one after the other; later ones see the variables of earlier ones.
pub(super) fn expand(room: &mut Room, options: &ExpandOptions) -> Result<Vec<String>, Error> {
    let at = speaker(room, options.speaker.as_deref())?;
    let mut out = Vec::with_capacity(options.texts.len());
    let mut effects = Effects::default();
    let mut host = room.host().clone();
    let base = EnvBase::new(room.scene(), at, room.profile());
    for text in &options.texts {
        out.push(macros::expand(text, &base.env(), &mut host, &mut effects));
    }
    drop(base);
    if options.commit {
        *room.host_mut() = host;
        room.commit(effects);
    }
    Ok(out)
}

/// One text with its macros, each with what it inserts.
pub(super) fn inspect_text(room: &mut Room, options: &InspectOptions) -> Result<InspectedText, Error> {
    let at = speaker(room, options.speaker.as_deref())?;
    let trust = match options.trust.as_deref() {
        None | Some("full") => Trust::Full,
        Some("card") => Trust::Card,
        Some("data") => Trust::Data,
        Some(other) => {
            let what = format!("{other:?} is not one of full, card, data");
            return Err(Error::new(Code::OptionUnknown, "trust", what));
        }
    };
    let mut effects = Effects::default();
    let mut host = room.host().clone();
    let base = EnvBase::new(room.scene(), at, room.profile());
    let env = Env { trust, ..base.env() };
    let (text, macros) = macros::explain(&options.text, &env, &mut host, &mut effects);
    let known: Vec<&str> = env.dynamic.iter().map(|(name, _)| name.as_str()).collect();
    let result = InspectedText {
        text,
        macros,
        unknown: macros::unknown(&options.text, &known, room.profile()),
        needs: macros::needs(&options.text, room.profile()),
        warnings: std::mem::take(&mut effects.notes),
        changes: effects.clone(),
    };
    drop(base);
    if options.commit {
        *room.host_mut() = host;
        room.commit(effects);
    }
    Ok(result)
}

/// Runs regex scripts on a text: `{text, placement, prompt?, markdown?, edit?, depth?, index?, speaker?, name?}`.
pub(super) fn regex(room: &mut Room, value: &Value) -> Result<Scripted, Error> {
    let at = speaker(room, value.get("speaker").and_then(Value::as_str))?;
    let flag = |key: &str| value.get(key).is_some_and(js::to_boolean);
    let number = value.get("placement").and_then(Value::as_i64).unwrap_or(0);
    let placement = Placement::from_number(number).ok_or_else(|| {
        Error::new(
            Code::OptionUnknown,
            "placement",
            format!("{number} is no placement: 1 user input, 2 reply, 3 command, 5 lorebook, 6 reasoning"),
        )
    })?;
    let (compiled, mut warnings) = CompiledScripts::new(room.scene(), room.profile(), &room.host().limits);
    let mut effects = Effects::default();
    let mut host = room.host().clone();
    host.begin_request();
    let base = EnvBase::new(room.scene(), at, room.profile());
    let avatar = base.character().map(|c| c.avatar.as_str());
    let call = Call {
        markdown: flag("markdown"),
        prompt: flag("prompt"),
        edit: flag("edit"),
        depth: value.get("depth").and_then(Value::as_i64),
        index: value.get("index").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()),
        name: value.get("name").and_then(Value::as_str),
        speaker: avatar,
        author: avatar.filter(|_| placement == Placement::AiOutput),
        ..Call::new(placement)
    };
    let text = value.get("text").and_then(Value::as_str).unwrap_or("");
    let done = scripts::run(text, &call, &compiled, &base.env(), &mut host, &mut effects);
    warnings.append(&mut effects.notes);
    Ok(Scripted { text: done.text, changed: done.changes, changes: effects, warnings })
}

/// One lorebook scan. `keep` stores what it drew and wrote.
pub(super) fn lore(
    room: &mut Room,
    options: &LoreOptions,
    count: &dyn Count,
    keep: bool,
) -> Result<LoreLook, Error> {
    let at = speaker(room, options.speaker.as_deref())?;
    let kind = Kind::named(options.trigger.as_deref().unwrap_or(""))?;
    let avatar = at.and_then(|i| room.scene().characters.get(i)).map(|c| c.avatar.clone());
    let mut host = room.host().clone();
    let mut effects = Effects::default();
    let standing = room.standing().clone();
    let compiled = room.compiled(at);
    host.regex_spent = 0;
    let ask = turn::LoreAsk {
        speaker: avatar.as_deref(),
        kind,
        lines: options.lines.as_deref(),
        max_context: options.max_context,
        dry: options.dry || !keep,
        standing: Some(&standing),
    };
    let found =
        turn::scan_lore(room.scene(), &ask, &compiled, room.profile(), count, &mut host, &mut effects);
    let examples = found
        .examples
        .into_iter()
        .map(|(place, content)| LoreExample { position: u8::from(place == ExamplePlace::Bottom), content });
    let depth = found.depth.into_iter().map(|d| LoreDepth {
        depth: number(d.depth),
        role: d.role,
        entries: d.entries,
    });
    let result = LoreLook {
        before: found.before,
        after: found.after,
        examples: examples.collect(),
        depth: depth.collect(),
        an_before: found.an_before,
        an_after: found.an_after,
        outlets: found.outlets,
        activated: found.activated,
        explained: found.explained,
        untouched: found.untouched,
        loops: found.loops,
        budget: found.budget,
        overflow: found.overflow,
        warnings: std::mem::take(&mut effects.notes),
    };
    if !keep {
        return Ok(result);
    }
    *room.host_mut() = host;
    // Macros in entries write their variables in a dry run, too, where ST does so.
    if !options.dry || !room.profile().on(&PROMPT_ONCE) {
        room.commit(effects);
    }
    Ok(result)
}

/// A JSON number, whole where it is whole, absent where there is none.
fn number(n: f64) -> Value {
    if n.is_nan() {
        return Value::Null;
    }
    if n.fract() == 0.0 { json!(js::to_integer(n)) } else { json!(n) }
}

/// Tokens of a text as the budget counts bare texts.
pub(super) fn count(room: &Room, value: &Value, count: &dyn Count) -> Vec<i64> {
    let model = Model::of(&room.scene().preset, None);
    let framing = match room.scene().text {
        Some(_) => Framing::bare(),
        None => Framing::of(&model, count, room.profile()),
    };
    let texts = value.get("texts").and_then(Value::as_array);
    texts.into_iter().flatten().filter_map(Value::as_str).map(|t| framing.text(count, t)).collect()
}

/// The HTTP request for a neutral payload.
pub(super) fn convert(room: &Room, value: &Value) -> Result<Value, Error> {
    let empty = Object::new();
    let payload = value.get("payload").and_then(Value::as_object).unwrap_or(&empty);
    let request = provider::request(payload, room.provider(), room.profile())?;
    Ok(request_value(&request))
}
