//! Instruct sequences around messages, the story string, examples, and the line that the model continues (spec 07 §4.2-4.4,
//! §6.3, §7.4).
//!
//! A template and a message in, text out. Differs from ST under `text.templates` (faults 07 F8, F9, F10) and `prompt.examples`
//! (F6, F7).

use super::examples::{Speakers, Voice, parse_named};
use crate::js;
use crate::macros::Expander;
use crate::profile::{PROMPT_EXAMPLES, Profile, TEXT_LAST_LINE, TEXT_TEMPLATES};
use crate::scene::{InstructTemplate, NamesBehavior};

/// Which variant of a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The usual one.
    #[default]
    Usual,
    /// That of the first message.
    First,
    /// That of the last message.
    Last,
}

/// Who is who.
#[derive(Clone, Copy, Debug)]
pub struct Cast<'a> {
    /// The persona.
    pub user: &'a str,
    /// The speaker.
    pub char: &'a str,
    /// Everyone in the group, the speaker included; empty outside a group.
    pub members: &'a [String],
    /// A group is selected.
    pub in_group: bool,
    /// Faults put right or not.
    pub profile: &'a Profile,
}

/// A message to be put between sequences.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// Who says it; may be empty.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// The user's voice.
    pub is_user: bool,
    /// Nobody's voice.
    pub is_narrator: bool,
    /// It has a picture of its own: it is by someone who is not the current one.
    pub own_avatar: bool,
}

/// One message (§4.2).
pub fn message(
    t: &InstructTemplate,
    said: &Said<'_>,
    variant: Variant,
    cast: &Cast<'_>,
    scope: &mut Expander<'_>,
) -> String {
    let other = said.name != cast.user && (cast.in_group || said.own_avatar);
    let named = !said.is_narrator
        && match t.names {
            NamesBehavior::None => false,
            NamesBehavior::Force => other,
            NamesBehavior::Always => true,
        };
    let or = |special: &str, usual: &str| if special.is_empty() { usual } else { special }.to_owned();
    let prefix = match (said.is_narrator, said.is_user, variant) {
        (true, ..) if t.system_same_as_user => t.input_sequence.clone(),
        (true, ..) => t.system_sequence.clone(),
        (_, true, Variant::First) => or(&t.first_input_sequence, &t.input_sequence),
        (_, true, Variant::Last) => or(&t.last_input_sequence, &t.input_sequence),
        (_, true, Variant::Usual) => t.input_sequence.clone(),
        (_, false, Variant::First) => or(&t.first_output_sequence, &t.output_sequence),
        (_, false, Variant::Last) => or(&t.last_output_sequence, &t.output_sequence),
        (_, false, Variant::Usual) => t.output_sequence.clone(),
    };
    let suffix = match (said.is_narrator, said.is_user) {
        (true, _) if t.system_same_as_user => &t.input_suffix,
        (true, _) => &t.system_suffix,
        (_, true) => &t.input_suffix,
        (_, false) => &t.output_suffix,
    };
    let name = label(said, cast);
    let prefix = sequence(t, &prefix, name, scope);
    let suffix = sequence(t, suffix, name, scope);
    let suffix = if suffix.is_empty() && t.wrap { "\n".to_owned() } else { suffix };
    let text = if named && !said.name.is_empty() {
        format!("{}: {}", said.name, said.text)
    } else {
        said.text.to_owned()
    };
    join(t.wrap, &prefix, &format!("{text}{suffix}"))
}

/// What `{{name}}` is in the sequences of a message. The reference gives narration whatever name comes with it (F10).
fn label<'a>(said: &Said<'a>, cast: &Cast<'a>) -> &'a str {
    if cast.profile.on(&TEXT_TEMPLATES) {
        if said.is_narrator {
            return "";
        }
        if said.is_user && said.name.is_empty() {
            return cast.user;
        }
    }
    said.name
}

/// A sequence with its macros.
fn sequence(t: &InstructTemplate, text: &str, name: &str, scope: &mut Expander<'_>) -> String {
    if !t.macros || text.is_empty() {
        return text.to_owned();
    }
    let name = if name.is_empty() { "System" } else { name };
    replace_name(&scope.expand(text), name)
}

fn join(wrap: bool, prefix: &str, text: &str) -> String {
    let parts: Vec<&str> = [prefix, text].into_iter().filter(|p| !p.is_empty()).collect();
    parts.join(if wrap { "\n" } else { "" })
}

/// The story string at the top (§4.3). Its macros are expanded whatever the template's switch says.
pub fn story(t: &InstructTemplate, story: &str, scope: &mut Expander<'_>) -> String {
    if story.is_empty() {
        return String::new();
    }
    let prefix = replace_name(&scope.expand(&t.story_string_prefix), "System");
    let suffix = scope.expand(&t.story_string_suffix);
    let separator = if t.wrap && !prefix.is_empty() { "\n" } else { "" };
    format!("{prefix}{separator}{story}{suffix}")
}

/// What the line that the model continues depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastLine<'a> {
    /// Whose line it is.
    pub name: &'a str,
    /// It is the user's.
    pub impersonate: bool,
    /// How it is to begin.
    pub bias: &'a str,
    /// It answers an instruction beside the chat.
    pub quiet: bool,
    /// That answer is meant to be seen.
    pub to_loud: bool,
}

/// The line that the model continues (§7.4).
pub fn last_line(
    t: &InstructTemplate,
    ask: &LastLine<'_>,
    cast: &Cast<'_>,
    scope: &mut Expander<'_>,
) -> String {
    let hidden = ask.quiet && !ask.to_loud;
    let named = !ask.name.is_empty()
        && !hidden
        && (t.names == NamesBehavior::Always || (t.names == NamesBehavior::Force && cast.in_group));
    let (special, usual) = if ask.impersonate {
        (&t.last_input_sequence, &t.input_sequence)
    } else if hidden {
        (&t.last_system_sequence, &t.output_sequence)
    } else {
        (&t.last_output_sequence, &t.output_sequence)
    };
    let chosen = if special.is_empty() { usual } else { special };
    let filler = filler(t, chosen, named);
    let text = sequence(t, chosen, ask.name, scope);
    let separator = if t.wrap { "\n" } else { "" };
    let mut out = if named {
        format!("{separator}{text}{separator}{filler}{}:", ask.name)
    } else {
        format!("{separator}{text}")
    };
    if ask.quiet && t.wrap {
        out = out.strip_prefix('\n').map_or(out.clone(), str::to_owned);
    }
    let bias = if ask.impersonate { "" } else { ask.bias };
    if !bias.is_empty() && cast.profile.on(&TEXT_LAST_LINE) {
        // The very end, as it is: the model goes on in its middle (F5).
        if t.wrap {
            out.truncate(js::trim_end(&out).len());
        }
        let gap = if named { if bias.starts_with(js::is_space) { "" } else { " " } } else { separator };
        let bias = if named { bias } else { js::trim_start(bias) };
        return format!("{out}{gap}{bias}");
    }
    if !bias.is_empty() {
        if named {
            out.push_str(bias);
        } else {
            out.push_str(separator);
            out.push_str(js::trim_start(bias));
        }
    }
    if t.wrap {
        out.truncate(js::trim_end(&out).len());
    }
    if !named {
        out.push_str(separator);
    }
    out
}

/// The blank at the end of the usual sequence that the last one lacks.
fn filler(t: &InstructTemplate, chosen: &str, named: bool) -> String {
    let (usual, last) = (&t.output_sequence, &t.last_output_sequence);
    let applies = named
        && !last.is_empty()
        && chosen == last
        && usual.ends_with(js::is_space)
        && !last.ends_with(js::is_space);
    if applies { usual.chars().next_back().map(String::from).unwrap_or_default() } else { String::new() }
}

/// Example blocks (each `<START>`, line feed, text) as turns; `heading` goes in front of each block, line feed included (§6.3).
pub fn examples(
    t: &InstructTemplate,
    blocks: &[String],
    heading: &str,
    cast: &Cast<'_>,
    scope: &mut Expander<'_>,
) -> Vec<String> {
    let plain = || blocks.iter().map(|b| with_heading(b, heading)).collect();
    if t.skip_examples {
        return plain();
    }
    let tolerant = cast.profile.on(&PROMPT_EXAMPLES);
    let speakers = Speakers { user: cast.user, char: cast.char, members: cast.members };
    let named = cast.in_group && t.names != NamesBehavior::None;
    let as_history = cast.profile.on(&TEXT_TEMPLATES);
    let mut out = Vec::new();
    for block in blocks {
        let turns = parse_named(block, &speakers, tolerant, named);
        if turns.is_empty() {
            continue;
        }
        if !heading.is_empty() {
            out.push(heading.to_owned());
        }
        for turn in turns {
            let (prefix, suffix, name, labelled) = match &turn.voice {
                Voice::User => {
                    let solo =
                        t.names == NamesBehavior::Always || (t.names == NamesBehavior::Force && !as_history);
                    (&t.input_sequence, &t.input_suffix, cast.user, !cast.in_group && solo)
                }
                Voice::Character(name) => {
                    let solo = !cast.in_group && t.names == NamesBehavior::Always;
                    let name = if tolerant { name.as_str() } else { cast.char };
                    // Whoever is not the speaker was named by the splitter.
                    (&t.output_sequence, &t.output_suffix, name, solo && name == cast.char)
                }
                Voice::Narration if t.system_same_as_user => (&t.input_sequence, &t.input_suffix, "", false),
                Voice::Narration => (&t.system_sequence, &t.system_suffix, "", false),
            };
            let prefix = sequence(t, prefix, name, scope);
            let mut suffix = sequence(t, suffix, name, scope);
            if suffix.is_empty() && t.wrap && (t.macros || as_history) {
                suffix.push('\n');
            }
            let text = if labelled { format!("{name}: {}", turn.text) } else { turn.text };
            out.push(join(t.wrap, &prefix, &format!("{text}{suffix}")));
        }
    }
    if out.is_empty() { plain() } else { out }
}

/// A block with its heading in place of `<START>`.
pub fn with_heading(block: &str, heading: &str) -> String {
    block.strip_prefix("<START>\n").map_or_else(|| block.to_owned(), |rest| format!("{heading}{rest}"))
}

/// `{{name}}`, in any case, becomes the name.
pub fn replace_name(text: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let hit = tail.get(..8).is_some_and(|t| t.eq_ignore_ascii_case("{{name}}"));
        let length = if hit { 8 } else { 1 };
        out.push_str(if hit { name } else { "{" });
        rest = tail.get(length..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_templates_are_replaced_in_any_case() {
        assert_eq!(replace_name("{{{NAME}} {{name}}{{nam", "洛恩"), "{洛恩 洛恩{{nam");
    }
}
