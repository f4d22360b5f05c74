//! A scene and what is asked of the model -> the [`Reading`] of the reply.

use serde_json::Value;

use super::stops::{self, NameStops};
use crate::parts::{Kind, Participant, Reading, ReplyRules, Sequences};
use crate::profile::{self, Profile};
use crate::scene::{Character, Object, Scene};

/// What is asked of the model.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Who speaks; in a group nobody may (between two turns). Outside a group the scene's own character is taken when absent.
    pub speaker: Option<&'a Character>,
    /// The kind of request.
    pub kind: Kind,
    /// A chat-completion API is used, not a text-completion one.
    pub chat_completion: bool,
    /// For `Continue`: the accepted text, postfix included.
    pub continued: &'a str,
    /// Stored reasoning at its beginning.
    pub reasoning: &'a str,
    /// Stop strings of this call only.
    pub extra_stops: &'a [String],
    /// For which providers labels are stop strings, with `reply.name_stops` on (default text completion).
    pub name_stops: NameStops,
    /// Labels in bold stop too (default false).
    pub decorated_stops: bool,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self {
            speaker: None,
            kind: Kind::Normal,
            chat_completion: true,
            continued: "",
            reasoning: "",
            extra_stops: &[],
            name_stops: NameStops::default(),
            decorated_stops: false,
        }
    }
}

/// How the reply to such a request will be read. `expand` resolves macros; it is called for stop strings and "start reply with".
pub fn reading(
    scene: &Scene,
    ask: &Ask<'_>,
    profile: &Profile,
    expand: &mut dyn FnMut(&str) -> String,
) -> Reading {
    let settings = &scene.settings;
    let speaker = ask.speaker.or_else(|| solo(scene));
    let char = speaker.map_or("", |c| c.name.as_str());
    let user = scene.persona.name.as_str();
    let impersonate = ask.kind == Kind::Impersonate;
    let persona = Participant { id: "user".to_owned(), names: vec![user.to_owned()] };
    let members: Vec<&Character> = scene.members().collect();
    let speaking = speaker.map_or_else(Participant::default, participant);
    // Everyone who is not the one that writes, once each.
    let mut others: Vec<Participant> = if impersonate { Vec::new() } else { vec![persona.clone()] };
    let cast = if scene.group.is_some() { members.as_slice() } else { speaker.as_slice() };
    for character in cast {
        if (impersonate || character.avatar != speaking.id) && others.iter().all(|p| p.id != character.avatar)
        {
            others.push(participant(character));
        }
    }
    let names: Vec<String> = members.iter().map(|c| c.name.clone()).collect();
    let templates = Templates::of(&settings.power_user, ask.chat_completion);
    let own = if impersonate { persona } else { speaking };
    let order = likeliest(scene, &others);
    let labels = stops::Labels {
        stops: ask.name_stops,
        names: &order,
        own: &own.names,
        decorated: ask.decorated_stops,
    };
    let stop = stops::list(
        &stops::Input {
            chat_completion: ask.chat_completion,
            user,
            char,
            members: &names,
            kind: ask.kind,
            last_is_user: scene.chat.messages.last().is_some_and(|m| m.is_user),
            context: templates.context,
            instruct: templates.instruct,
            single_line: settings.single_line,
            custom: &settings.custom_stopping_strings,
            custom_macros: settings.custom_stopping_strings_macro,
            extra: ask.extra_stops,
            labels: profile.on(&profile::REPLY_NAME_STOPS).then_some(&labels),
        },
        expand,
    );
    Reading {
        kind: ask.kind,
        user: user.to_owned(),
        char: char.to_owned(),
        own,
        others,
        members: names,
        in_group: scene.group.is_some(),
        stop,
        sequences: templates.instruct.map(sequences),
        start_with: if settings.user_prompt_bias.is_empty() {
            String::new()
        } else {
            expand(&settings.user_prompt_bias)
        },
        continued: ask.continued.to_owned(),
        reasoning: ask.reasoning.to_owned(),
        rules: ReplyRules {
            collapse_newlines: settings.collapse_newlines,
            trim_spaces: settings.trim_spaces,
            trim_sentences: settings.trim_sentences,
            fix_markdown: settings.auto_fix_generated_markdown,
            keep_user_label: settings.allow_name1_display,
            keep_char_label: settings.allow_name2_display,
            cut_members: !settings.disable_group_trimming,
        },
    }
}

/// Display names of those who may be labelled: the user, members by how lately they spoke, who never spoke, who is muted.
fn likeliest<'a>(scene: &Scene, others: &'a [Participant]) -> Vec<&'a str> {
    let spoke = |p: &Participant| {
        let by = |name: &String| p.names.first() == Some(name);
        scene.chat.messages.iter().rev().position(|m| {
            !m.is_user && m.original_avatar.as_ref().map_or_else(|| by(&m.name), |id| *id == p.id)
        })
    };
    let mut order: Vec<(bool, usize, &str)> = Vec::new();
    for p in others.iter().filter(|p| p.id != "user") {
        let muted = scene.group.as_ref().is_some_and(|g| g.is_muted(&p.id));
        let rank = (muted, spoke(p).unwrap_or(usize::MAX));
        let at = order.partition_point(|(muted, ago, _)| (*muted, *ago) <= rank);
        order.insert(at, (rank.0, rank.1, first_name(p)));
    }
    let user = others.iter().filter(|p| p.id == "user").map(first_name);
    user.chain(order.into_iter().map(|(_, _, name)| name)).collect()
}

fn first_name(participant: &Participant) -> &str {
    participant.names.first().map_or("", String::as_str)
}

/// The character of a single chat.
fn solo(scene: &Scene) -> Option<&Character> {
    if scene.group.is_some() {
        return None;
    }
    scene.chat_with.as_deref().map_or_else(|| scene.characters.first(), |avatar| scene.character(avatar))
}

fn participant(character: &Character) -> Participant {
    let mut names = vec![character.name.clone()];
    names.extend(character.nickname.clone());
    names.extend(character.aliases.iter().cloned());
    Participant { id: character.avatar.clone(), names }
}

/// The templates of text completion, as the settings hold them.
struct Templates<'a> {
    context: Option<&'a Object>,
    instruct: Option<&'a Object>,
}

impl<'a> Templates<'a> {
    fn of(power_user: &'a Object, chat_completion: bool) -> Self {
        let object = |key: &str| power_user.get(key).and_then(Value::as_object).filter(|_| !chat_completion);
        let enabled = |o: &&Object| o.get("enabled").is_some_and(crate::js::to_boolean);
        Self { context: object("context"), instruct: object("instruct").filter(enabled) }
    }
}

fn sequences(instruct: &Object) -> Sequences {
    let text = |key: &str| instruct.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    Sequences {
        stop: text("stop_sequence"),
        input: text("input_sequence"),
        output: text("output_sequence"),
        last_output: text("last_output_sequence"),
        as_stops: instruct.get("sequences_as_stop_strings").is_none_or(crate::js::to_boolean),
    }
}
