//! Whether tools can be offered: preset, model, generation type (spec 02 §12.2, spec 06 §2.3-8).

use serde_json::Value;

use super::Source;
use crate::js;
use crate::scene::Object;

/// Post-processing modes that keep tool calls.
const MODES: [&str; 4] = ["", "merge_tools", "semi_tools", "strict_tools"];

/// Whether a preset and model keep and offer tool calls at all. The kind of generation is the caller's to look at.
pub fn can_call_tools(settings: &Object, source: Source, model: &str, entry: Option<&Value>) -> bool {
    let mode = settings.get("custom_prompt_post_processing").and_then(Value::as_str).unwrap_or("");
    let openai = matches!(source, Source::OpenAi | Source::AzureOpenAi);
    settings.get("function_calling").is_some_and(js::to_boolean)
        && MODES.contains(&mode)
        && !(openai && model.starts_with("gpt-6-astra"))
        && entry.and_then(|entry| listed(source, entry)).unwrap_or(source != Source::Perplexity)
}

/// What the model list says, for the sources whose list says it.
fn listed(source: Source, entry: &Value) -> Option<bool> {
    let truthy = |v: Option<&Value>| v.is_some_and(js::to_boolean);
    let has = |v: Option<&Value>, what: &str| {
        v.and_then(Value::as_array).is_some_and(|list| list.iter().any(|item| item == what))
    };
    Some(match source {
        Source::Pollinations => truthy(entry.get("tools")),
        Source::Fireworks => truthy(entry.get("supports_tools")),
        Source::OpenRouter => has(entry.get("supported_parameters"), "tools"),
        Source::MistralAi => truthy(entry.get("capabilities").and_then(|c| c.get("function_calling"))),
        Source::AimlApi => has(entry.get("features"), "openai/chat-completion.function"),
        Source::Chutes => has(entry.get("supported_features"), "tools"),
        Source::ElectronHub => truthy(entry.get("metadata").and_then(|m| m.get("function_call"))),
        Source::WorkersAi => entry.get("properties").and_then(Value::as_array).is_some_and(|list| {
            list.iter().any(|p| {
                p.get("property_id").is_some_and(|id| id == "function_calling")
                    && p.get("value").is_some_and(|v| v == "true")
            })
        }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::models::Model;
    use crate::scene::Preset;

    #[test]
    fn mode_source_and_list_decide() {
        let ask = |preset: Value, entry: Option<Value>| {
            let preset = Preset::from_value(&preset);
            let m = Model::of(&preset, entry.as_ref());
            can_call_tools(&preset.values, m.source, &m.name, m.entry.as_ref())
        };
        let on = |source: &str| json!({"function_calling": true, "chat_completion_source": source});
        assert!(ask(on("custom"), None) && !ask(on("perplexity"), None));
        assert!(!ask(json!({"chat_completion_source": "custom"}), None));
        assert!(!ask(json!({"function_calling": true, "custom_prompt_post_processing": "semi"}), None));
        assert!(ask(json!({"function_calling": true, "custom_prompt_post_processing": "semi_tools"}), None));
        assert!(!ask(
            json!({"function_calling": true, "chat_completion_source": "openai", "openai_model": "gpt-6-astra-2"}),
            None
        ));
        assert!(!ask(on("openrouter"), Some(json!({"supported_parameters": ["top_p"]}))));
        assert!(ask(on("openrouter"), Some(json!({"supported_parameters": ["tools"]}))));
        assert!(ask(on("mistralai"), Some(json!({"capabilities": {"function_calling": true}}))));
    }
}
