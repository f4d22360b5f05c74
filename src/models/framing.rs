//! What a message costs beyond its text: the fields of a message and a counter in, tokens out (spec 02 §9.1).

use super::{Model, tokenizer_id};
use crate::profile::{PROMPT_FRAMING, Profile};
use crate::tokens::Count;

/// The texts of one message in the order they are counted, and whether one of them is a name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    /// The role.
    pub role: &'a str,
    /// The text, or the JSON text of tool calls.
    pub content: &'a str,
    /// The `name` field.
    pub name: Option<&'a str>,
    /// Reasoning that goes along with tool calls.
    pub reasoning: Option<&'a str>,
}

/// How a list of messages is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// One text per field with a fixed charge, or all fields joined into one text.
    joined: bool,
    /// Charged a message.
    pub per_message: i64,
    /// Charged a name.
    pub per_name: i64,
    /// Charged once for the reply.
    pub priming: i64,
    /// Charged for a bare text, such as a lorebook entry.
    per_text: i64,
}

/// Counters that the reference asks with all fields joined by a blank line: SentencePiece and web tokenizers.
const JOINED: [&str; 13] = [
    "claude",
    "llama",
    "llama3",
    "mistral",
    "yi",
    "gemma",
    "jamba",
    "deepseek",
    "qwen2",
    "command-r",
    "command-a",
    "nemo",
    "web",
];

impl Framing {
    /// The frame of a model. ST: five tokens a message (or the role and a blank line, less two), priming three. With
    /// `prompt.framing` on: three and the role a message, one a name, priming three for the OpenAI family; elsewhere the
    /// same, as an estimate.
    pub fn of(model: &Model, count: &dyn Count, profile: &Profile) -> Self {
        let fixed = Self { joined: false, per_message: 3, per_name: 1, priming: 3, per_text: 0 };
        if profile.on(&PROMPT_FRAMING) {
            return fixed;
        }
        let id = tokenizer_id(model);
        if JOINED.contains(&count.id()) {
            let less = if id == "claude" { 0 } else { -2 };
            return Self { joined: true, per_message: less, per_name: 0, priming: 3, per_text: 0 };
        }
        if id.contains("gpt-3.5-turbo-0301") {
            // 4 a message, 3 for the reply, 9 on top, less 2.
            return Self { per_message: 14, per_name: -1, per_text: 16, ..fixed };
        }
        // 3 a message and 3 for the reply, less 2. A bare text is counted whole.
        let less = if id == "claude" { 0 } else { -2 };
        Self { per_message: 6 + less, per_text: 6, ..fixed }
    }

    /// Tokens of one message.
    pub fn message(&self, count: &dyn Count, fields: &Fields<'_>) -> i64 {
        let values = [Some(fields.role), Some(fields.content), fields.reasoning, fields.name];
        if self.joined {
            let text = values.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
            return i64::from(count.count(&text)) + self.per_message;
        }
        let texts: i64 = values.into_iter().flatten().map(|v| i64::from(count.count(v))).sum();
        texts + self.per_message + if fields.name.is_some() { self.per_name } else { 0 }
    }

    /// Tokens of a bare text, as lorebook budgets count it; none for an empty one.
    pub fn text(&self, count: &dyn Count, text: &str) -> i64 {
        if text.is_empty() { 0 } else { i64::from(count.count(text)) + self.per_text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Source;
    use crate::tokens::CodePoints;

    fn model(source: Source, name: &str) -> Model {
        Model { source, name: name.to_owned(), entry: None }
    }

    #[test]
    fn the_reference_charges_one_more_than_the_wire() {
        let fields = Fields { role: "system", content: "洛恩x", ..Fields::default() };
        let st = Framing::of(&model(Source::Custom, ""), &CodePoints, &Profile::sillytavern());
        assert_eq!(st.message(&CodePoints, &fields), 4 + 6 + 3);
        assert_eq!(st.message(&CodePoints, &Fields { name: Some("ab"), ..fields }), 4 + 6 + 3 + 1 + 2);
        assert_eq!(st.text(&CodePoints, "abc"), 9);
        let own = Framing::of(&model(Source::Custom, ""), &CodePoints, &Profile::promptside());
        assert_eq!(own.message(&CodePoints, &fields), 3 + 6 + 3);
    }

    #[test]
    fn the_oldest_chat_model_has_its_own_frame() {
        let st =
            Framing::of(&model(Source::OpenAi, "gpt-3.5-turbo-0301"), &CodePoints, &Profile::sillytavern());
        // Spec 02 §9.1: 15 + content, less one with a name, where the role is one token; here it is six code points.
        assert_eq!(
            st.message(&CodePoints, &Fields { role: "system", content: "x", ..Fields::default() }),
            14 + 6 + 1
        );
    }
}
