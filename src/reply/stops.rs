//! Names, templates and settings -> the stop strings of a request (spec 01 §12, §P3). The list is whole; a provider's cap is
//! applied by [`capped`] when it is sent, and the clean-up reads the whole list.

use serde_json::Value;

use crate::js;
use crate::names::has_cjk;
use crate::parts::{Kind, Stop, StopSource};
use crate::scene::Object;
use crate::templates::replace_name;

/// What the list is made of.
#[expect(clippy::struct_excessive_bools, reason = "facts of a request, each independent of the others")]
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// A chat-completion API: only custom strings count.
    pub chat_completion: bool,
    /// The persona's name.
    pub user: &'a str,
    /// The speaker's name; empty for nobody.
    pub char: &'a str,
    /// Names of the members in list order, muted ones too; empty outside a group.
    pub members: &'a [String],
    /// The kind of request.
    pub kind: Kind,
    /// The last message of the chat is the user's.
    pub last_is_user: bool,
    /// The context template.
    pub context: Option<&'a Object>,
    /// The instruct template; `None` while it is off.
    pub instruct: Option<&'a Object>,
    /// One line a reply.
    pub single_line: bool,
    /// The user's own list: JSON text.
    pub custom: &'a str,
    /// Macros in it are expanded.
    pub custom_macros: bool,
    /// Stop strings of this call only, as they are.
    pub extra: &'a [String],
    /// Labels by the rules of §P3; `None` for the reference's.
    pub labels: Option<&'a Labels<'a>>,
}

/// For which providers labels are stop strings (spec 01 §P3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStops {
    /// For none.
    Off,
    /// For text completion.
    #[default]
    Tc,
    /// For all: behind the user's own ones in chat completion, where there is room for few.
    All,
}

/// Whose labels are stop strings, the likeliest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels<'a> {
    /// For which providers.
    pub stops: NameStops,
    /// Names in order: the user, members by how lately they spoke, then muted ones.
    pub names: &'a [&'a str],
    /// Names of the one who writes: no stop string may be the beginning of such a label.
    pub own: &'a [String],
    /// `**Name` at the start of a line stops too.
    pub decorated: bool,
}

/// The stop strings of a request, in the reference's order, without empty ones and duplicates (spec 01 §12).
pub fn list(input: &Input<'_>, expand: &mut dyn FnMut(&str) -> String) -> Vec<Stop> {
    let mut stops = Vec::new();
    let mut add = |source: StopSource, text: String| {
        if !text.is_empty() && !stops.iter().any(|s: &Stop| s.text == text) {
            stops.push(Stop { text, source });
        }
    };
    let labels = input.labels.map(|l| if l.stops == NameStops::Off { Vec::new() } else { l.list() });
    if !input.chat_completion {
        if input.single_line {
            add(StopSource::Line, "\n".to_owned());
        }
        if flag(input.context, "names_as_stop_strings", true) {
            for text in labels.unwrap_or_else(|| names(input)) {
                add(StopSource::Name, text);
            }
        }
        if let Some(instruct) = input.instruct {
            for text in sequences(input, instruct, expand) {
                add(StopSource::Sequence, text);
            }
        }
        if flag(input.context, "use_stop_strings", false) {
            for key in ["chat_start", "example_separator"] {
                let text = text(input.context, key);
                if !text.is_empty() {
                    add(StopSource::Separator, format!("\n{}", expand(text)));
                }
            }
        }
    }
    for text in custom(input.custom) {
        add(StopSource::Custom, if input.custom_macros { expand(&text) } else { text });
    }
    for text in input.extra {
        add(StopSource::Custom, text.clone());
    }
    if let Some(l) = input.labels.filter(|l| input.chat_completion && l.stops == NameStops::All) {
        for text in l.list() {
            add(StopSource::Name, text);
        }
    }
    stops
}

impl Labels<'_> {
    /// The stop strings, in order.
    pub fn list(&self) -> Vec<String> {
        let forms = |name: &str| {
            let colon = format!("\n{name}:");
            let wide = has_cjk(name).then(|| format!("\n{name}："));
            let bold = self.decorated.then(|| format!("\n**{name}"));
            [Some(colon), wide, bold].into_iter().flatten().collect::<Vec<_>>()
        };
        let own: Vec<String> = self
            .own
            .iter()
            .flat_map(|name| [format!("\n{name}:"), format!("\n{name}："), format!("\n**{name}")])
            .collect();
        let names = self.names.iter().filter(|name| !js::trim(name).is_empty());
        names
            .flat_map(|name| forms(name))
            .filter(|stop| !own.iter().any(|label| label.starts_with(stop.as_str())))
            .collect()
    }
}

/// The first `n` of a list, for a provider that takes no more.
pub fn capped(stops: &[Stop], n: usize) -> Vec<&str> {
    stops.iter().take(n).map(|s| s.text.as_str()).collect()
}

/// Labels as the reference sends them: ASCII colon, directly after the name.
fn names(input: &Input<'_>) -> Vec<String> {
    let label = |name: &str| format!("\n{name}:");
    let impersonate = input.kind == Kind::Impersonate;
    let mut labels = vec![label(if impersonate { input.char } else { input.user }), label(input.user)];
    if input.kind == Kind::Continue && input.last_is_user {
        labels.push(label(input.char));
    }
    if impersonate || !input.char.is_empty() {
        let others = input.members.iter().filter(|name| !name.is_empty() && *name != input.char);
        labels.extend(others.map(|name| label(name)));
    }
    labels
}

/// Lines of the instruct template. `{{name}}` is resolved whatever its macro switch says.
fn sequences(input: &Input<'_>, instruct: &Object, expand: &mut dyn FnMut(&str) -> String) -> Vec<String> {
    let instruct = Some(instruct);
    let mut texts = vec![text(instruct, "stop_sequence").to_owned()];
    if flag(instruct, "sequences_as_stop_strings", true) {
        for (key, name) in [
            ("input_sequence", input.user),
            ("output_sequence", input.char),
            ("first_output_sequence", input.char),
            ("last_output_sequence", input.char),
            ("system_sequence", "System"),
            ("last_system_sequence", "System"),
        ] {
            texts.push(replace_name(text(instruct, key), name));
        }
    }
    let joined = texts.join("\n");
    let mut lines: Vec<&str> = Vec::new();
    for line in joined.split('\n') {
        // Blanks at the end may never come (07 F14).
        let line = if input.labels.is_some() { js::trim_end(line) } else { line };
        if !js::trim(line).is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
    let (wrap, macros) = (flag(instruct, "wrap", true), flag(instruct, "macro", true));
    lines
        .into_iter()
        .map(|line| {
            let line = if wrap { format!("\n{line}") } else { line.to_owned() };
            if macros { expand(&line) } else { line }
        })
        .collect()
}

/// The user's list: a JSON array of texts. Anything else is no list; empty texts and other types are left out.
fn custom(json: &str) -> Vec<String> {
    let Ok((Value::Array(items), _)) = js::parse(json) else { return Vec::new() };
    items.into_iter().filter_map(|v| v.as_str().filter(|s| !s.is_empty()).map(str::to_owned)).collect()
}

fn text<'a>(object: Option<&'a Object>, key: &str) -> &'a str {
    object.and_then(|o| o.get(key)).and_then(Value::as_str).unwrap_or("")
}

fn flag(object: Option<&Object>, key: &str, default: bool) -> bool {
    object.and_then(|o| o.get(key)).map_or(default, js::to_boolean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_stop_the_speaker() {
        let names = ["User", "洛恩", "Ann", "", "アイ", "로른", "Лорн"];
        let own = ["Anna".to_owned()];
        let labels = Labels { names: &names, own: &own, decorated: true, ..Labels::default() };
        assert_eq!(
            labels.list(),
            [
                "\nUser:",
                "\n**User",
                "\n洛恩:",
                "\n洛恩：",
                "\n**洛恩",
                "\nAnn:",
                "\nアイ:",
                "\nアイ：",
                "\n**アイ",
                "\n로른:",
                "\n로른：",
                "\n**로른",
                "\nЛорн:",
                "\n**Лорн"
            ]
        );
        let own = ["User".to_owned()];
        let labels = Labels { names: &names[..1], own: &own, ..Labels::default() };
        assert!(labels.list().is_empty(), "user and speaker share a name");
    }

    #[test]
    fn a_cap_takes_the_first() {
        let stops = ["a", "b", "c"].map(|s| Stop::new(StopSource::Custom, s));
        assert_eq!(capped(&stops, 2), ["a", "b"]);
        assert_eq!(capped(&stops, 9).len(), 3);
    }
}
