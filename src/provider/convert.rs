//! The conversions of messages by themselves, for hosts that send the request in their own way, and for the tests.

use serde_json::{Value, json};

use super::cache::{Form, mark_depth, mark_system};
use super::config::{Fixes, Frame, Names};
use super::item::{items, split};
use super::{ai21, claude, cohere, google, mistral, openai, openrouter, xai};
use crate::error::Error;
use crate::profile::Profile;

/// What every conversion is told.
#[derive(Clone, Copy, Debug)]
pub struct Converter<'a> {
    /// Who is who.
    pub names: &'a Names,
    /// The user message where one is needed.
    pub placeholder: &'a str,
    /// Faults put right or not.
    pub profile: &'a Profile,
}

impl<'a> Converter<'a> {
    fn frame(&self) -> Frame<'a> {
        Frame {
            names: self.names,
            placeholder: self.placeholder,
            labels: true,
            fixes: Fixes::of(self.profile),
        }
    }

    /// `{messages, system}` for Anthropic.
    pub fn claude(
        &self,
        messages: &[Value],
        prefill: &str,
        use_system: bool,
        use_tools: bool,
    ) -> Result<Value, Error> {
        let out = claude::convert(items(messages), prefill, use_system, use_tools, self.frame())?;
        let system: Vec<Value> = out.system.into_iter().map(|(block, _)| block).collect();
        Ok(json!({"messages": split(out.messages).0, "system": system}))
    }

    /// `{contents, system_instruction}` for Gemini.
    pub fn google(
        &self,
        messages: &[Value],
        model: &str,
        use_system: bool,
        signatures: bool,
    ) -> Result<Value, Error> {
        let model = google::Model { id: model, signatures };
        let out = google::convert(items(messages), model, use_system, self.frame())?;
        let parts: Vec<Value> = out.system.into_iter().map(|(part, _)| part).collect();
        Ok(json!({"contents": split(out.contents).0, "system_instruction": {"parts": parts}}))
    }

    /// Messages for Cohere.
    pub fn cohere(&self, messages: &[Value]) -> Result<Vec<Value>, Error> {
        Ok(split(cohere::convert(items(messages), self.frame())?).0)
    }

    /// Messages for AI21.
    pub fn ai21(&self, messages: &[Value]) -> Result<Vec<Value>, Error> {
        Ok(split(ai21::convert(items(messages), self.frame())?).0)
    }

    /// Messages for Mistral; `prefix` marks a begun reply.
    pub fn mistral(&self, messages: &[Value], prefix: bool) -> Result<Vec<Value>, Error> {
        Ok(split(mistral::convert(items(messages), prefix, self.frame())?).0)
    }

    /// Messages for xAI.
    pub fn xai(&self, messages: &[Value]) -> Result<Vec<Value>, Error> {
        let mut list = items(messages);
        xai::convert(&mut list, self.names, Fixes::of(self.profile))?;
        Ok(split(list).0)
    }
}

/// The prompt of an old completion model.
pub fn text_completion_prompt(messages: &[Value]) -> String {
    openai::text_prompt(&items(messages), false)
}

/// Cache marks at a depth. `blocks`: the messages are Anthropic's own; else an OpenAI-like list, whose system messages are
/// skipped.
pub fn mark_cache_depth(messages: &[Value], depth: usize, ttl: &str, blocks: bool) -> Vec<Value> {
    let mut list = items(messages);
    let form = if blocks { Form::Blocks } else { Form::Messages(false) };
    mark_depth(&mut list, depth, ttl, form, usize::MAX);
    split(list).0
}

/// A cache mark on the first system message.
pub fn mark_cache_system(messages: &[Value], ttl: Option<&str>) -> Vec<Value> {
    let mut list = items(messages);
    mark_system(&mut list, ttl);
    split(list).0
}

/// Marks a last assistant message as the begun reply.
pub fn add_assistant_prefix(messages: &[Value], tools: &[Value], property: &str) -> Vec<Value> {
    let mut list = items(messages);
    openai::add_prefix(&mut list, tools, property);
    split(list).0
}

/// Audio in the form of OpenAI and OpenRouter.
pub fn embed_audio(messages: &[Value]) -> Vec<Value> {
    let mut list = items(messages);
    openrouter::embed_audio(&mut list);
    split(list).0
}

/// Stored signatures in OpenRouter's form.
pub fn replay_signatures(messages: &[Value], model: &str) -> Vec<Value> {
    let mut list = items(messages);
    openrouter::replay_signatures(&mut list, model);
    split(list).0
}

/// Empty reasoning on messages that call tools, as the reference sends it to DeepSeek.
pub fn reasoning_on_tool_calls(messages: &[Value]) -> Vec<Value> {
    let mut list = items(messages);
    openai::reasoning_on_tool_calls(&mut list, false);
    split(list).0
}
