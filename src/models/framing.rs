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
    /// Literals that stop the count of a message: ST asks its tokenizer to refuse them (spec 02 F-07).
    refused: &'static [&'static str],
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

/// Special tokens of OpenAI's encodings: the first of all, two of o200k_base, all of cl100k_base.
const SPECIAL: [&str; 5] =
    ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"];

impl Framing {
    /// No frame: text completion counts texts as they are (spec 07 §12).
    pub const fn bare() -> Self {
        Self { joined: false, per_message: 0, per_name: 0, priming: 0, per_text: 0, refused: &[] }
    }

    /// The frame of a model. ST: five tokens a message (or the role and a blank line, less two), priming three. With
    /// `prompt.framing` on: three and the role a message, one a name, priming three for the OpenAI family; elsewhere the
    /// same, as an estimate.
    pub fn of(model: &Model, count: &dyn Count, profile: &Profile) -> Self {
        let fixed =
            Self { joined: false, per_message: 3, per_name: 1, priming: 3, per_text: 0, refused: &[] };
        if profile.on(&PROMPT_FRAMING) {
            return fixed;
        }
        let id = tokenizer_id(model);
        if JOINED.contains(&count.id()) {
            let less = if id == "claude" { 0 } else { -2 };
            return Self { joined: true, per_message: less, per_name: 0, ..fixed };
        }
        let refused = match count.id() {
            "o200k_base" => &SPECIAL[..2],
            "cl100k_base" => &SPECIAL[..],
            "p50k_base" | "r50k_base" => &SPECIAL[..1],
            _ => &[],
        };
        if id.contains("gpt-3.5-turbo-0301") {
            // 4 a message, 3 for the reply, 9 on top, less 2.
            return Self { per_message: 14, per_name: -1, per_text: 16, refused, ..fixed };
        }
        // 3 a message and 3 for the reply, less 2. A bare text is counted whole.
        let less = if id == "claude" { 0 } else { -2 };
        Self { per_message: 6 + less, per_text: 6, refused, ..fixed }
    }

    /// Tokens of one message.
    pub fn message(&self, count: &dyn Count, fields: &Fields<'_>) -> i64 {
        let values = [Some(fields.role), Some(fields.content), fields.reasoning, fields.name];
        if self.joined {
            let text = values.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
            return i64::from(count.count(&text)) + self.per_message;
        }
        let refuses = |value: &&str| self.refused.iter().any(|special| value.contains(special));
        let read = values.into_iter().flatten().take_while(|value| !refuses(value));
        let texts: i64 = read.map(|v| i64::from(count.count(v))).sum();
        let named = fields.name.is_some() && !values.iter().flatten().any(refuses);
        texts + self.per_message + if named { self.per_name } else { 0 }
    }

    /// Tokens of a bare text, as lorebook budgets count it; none for an empty one.
    pub fn text(&self, count: &dyn Count, text: &str) -> i64 {
        if text.is_empty() {
            return 0;
        }
        let refused = self.refused.iter().any(|special| text.contains(special));
        self.per_text + if refused { 0 } else { i64::from(count.count(text)) }
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
    fn a_special_token_stops_the_count() {
        // Spec 02 §9.1 [run]: 5 tokens with o200k_base, where the role is one.
        struct Words;
        impl Count for Words {
            fn count(&self, text: &str) -> u32 {
                u32::try_from(text.split(' ').count()).unwrap()
            }
            fn exact(&self) -> bool {
                true
            }
            fn id(&self) -> &'static str {
                "o200k_base"
            }
        }
        let fields =
            Fields { role: "user", content: "a <|endoftext|> 洛", name: Some("b"), ..Fields::default() };
        let of = |profile: &Profile| Framing::of(&model(Source::OpenAi, "gpt-4o"), &Words, profile);
        let (st, own) = (of(&Profile::sillytavern()), of(&Profile::promptside()));
        assert_eq!((st.message(&Words, &fields), own.message(&Words, &fields)), (5, 3 + 1 + 3 + 1 + 1));
        let fim = Fields { content: "<|fim_prefix|> x", name: None, ..fields };
        assert_eq!(st.message(&Words, &fim), 4 + 1 + 2, "not one of this encoding's");
        assert_eq!((st.text(&Words, "x <|endofprompt|>"), own.text(&Words, "x <|endofprompt|>")), (6, 2));
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
