//! Anthropic's models by the classes of the specification (spec 06 §4.2): data that ages, in one place.

/// What a model can do and what it refuses.
#[expect(clippy::struct_excessive_bools, reason = "the classes of the specification")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) thinking: bool,
    pub(super) web_search: bool,
    /// Temperature or top_p, not both.
    pub(super) one_sampler: bool,
    pub(super) effort: bool,
    pub(super) no_prefill: bool,
    pub(super) adaptive: bool,
    pub(super) no_samplers: bool,
    /// `output_config.format` instead of a forced tool.
    pub(super) structured: bool,
}

/// What the newest models do.
pub(super) const NEWEST: Class = Class {
    thinking: true,
    web_search: true,
    one_sampler: false,
    effort: true,
    no_prefill: true,
    adaptive: true,
    no_samplers: true,
    structured: true,
};

const THINKING: &[&str] = &["3-7", "opus-4", "sonnet-4", "haiku-4-5"];
const WEB_SEARCH: &[&str] = &["3-5", "3-7", "opus-4", "sonnet-4", "haiku-4-5"];
const ONE_SAMPLER: &[&str] = &["opus-4-1", "sonnet-4-5", "haiku-4-5", "opus-4-5", "opus-4-6", "sonnet-4-6"];
const EFFORT: &[&str] = &["opus-4-5", "opus-4-6", "sonnet-4-6", "opus-4-7", "opus-4-8"];
const NO_PREFILL: &[&str] = &["opus-4-6", "sonnet-4-6", "opus-4-7", "opus-4-8"];
const ADAPTIVE: &[&str] = &["opus-4-7", "opus-4-8"];
const MAYBE_ADAPTIVE: &[&str] = &["opus-4-6", "sonnet-4-6"];
const STRUCTURED: &[&str] =
    &["opus-4-1", "opus-4-5", "opus-4-6", "opus-4-7", "opus-4-8", "sonnet-4-5", "sonnet-4-6", "haiku-4-5"];
/// Ids whose class is known; with the fix every other `claude-…` counts as the newest. `opus-4-2` covers dates.
const KNOWN: &[&str] = &[
    "1",
    "2",
    "instant",
    "v1",
    "v2",
    "3",
    "opus-4-0",
    "opus-4-1",
    "opus-4-2",
    "opus-4-5",
    "opus-4-6",
    "opus-4-7",
    "opus-4-8",
    "sonnet-4-0",
    "sonnet-4-2",
    "sonnet-4-5",
    "sonnet-4-6",
    "haiku-4-5",
];

/// The class of a model id. `adaptive`: the host turned adaptive thinking on for the models that offer both kinds.
/// `unknown_is_newest`: the fix.
pub(super) fn class(model: &str, adaptive: bool, unknown_is_newest: bool) -> Class {
    let id = model.strip_prefix("claude-").unwrap_or("");
    let is = |list: &[&str]| list.iter().any(|start| id.starts_with(start));
    let new = newest_line(model);
    // `opus-4` alone is the first of its line.
    let mut lines = ["opus-4", "sonnet-4"].iter().filter_map(|line| id.strip_prefix(line));
    let first = lines.any(|rest| !rest.starts_with('-'));
    if unknown_is_newest && !id.is_empty() && (new || !is(KNOWN) && !first) {
        return NEWEST;
    }
    Class {
        thinking: new || is(THINKING),
        web_search: new || is(WEB_SEARCH),
        one_sampler: is(ONE_SAMPLER),
        effort: new || is(EFFORT),
        no_prefill: new || is(NO_PREFILL),
        adaptive: new || is(ADAPTIVE) || adaptive && is(MAYBE_ADAPTIVE),
        no_samplers: new || is(ADAPTIVE),
        structured: model.contains("claude-fable-5-1") || unknown_is_newest && is(STRUCTURED),
    }
}

/// The lines that the reference knows by name anywhere in the id.
pub(super) fn newest_line(model: &str) -> bool {
    ["claude-fable", "claude-opus-5", "claude-sonnet-5"].iter().any(|m| model.contains(m))
}

/// A router's spelling as Anthropic's: `anthropic/claude-opus-4.6:beta` -> `claude-opus-4-6:beta`. `None` for other models.
pub(super) fn native_id(model: &str) -> Option<String> {
    let lower = crate::js::lower(model);
    let at = lower.find("claude-")?;
    Some(lower.get(at..)?.replace('.', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_models_count_as_the_newest_with_the_fix() {
        for model in ["claude-haiku-5-5", "claude-mythos-1", "claude-opus-4-9", "claude-opus-5"] {
            assert_eq!(class(model, false, true), NEWEST, "{model}");
        }
        for model in ["claude-3-5-sonnet-20241022", "claude-opus-4-20250514", "claude-sonnet-4", "claude-2.1"]
        {
            assert!(!class(model, false, true).no_prefill, "{model}");
        }
        assert!(!class("claude-haiku-5-5", false, false).no_samplers, "the reference does not know it");
    }

    #[test]
    fn routers_spell_ids_their_own_way() {
        assert_eq!(native_id("~anthropic/claude-opus-4.6:beta").as_deref(), Some("claude-opus-4-6:beta"));
        assert_eq!(native_id("openai/gpt-4o"), None);
    }
}
