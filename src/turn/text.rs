//! The second half of a turn in text completion: what was gathered -> the prompt and the body it goes out in (spec 07 §7.1).

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::Value;

use super::about::{About, Said};
use super::finish::left_out;
use super::tail::{SPEAKER, SYSTEM};
use super::{Turn, TurnOptions};
use crate::error::{Code, Error};
use crate::history::Line;
use crate::host::Host;
use crate::injections::{AuthorNote, Injection, Injections, Position};
use crate::js;
use crate::lore::{ExamplePlace, LoreResult};
use crate::macros::{CardTexts, Expander};
use crate::parts::{Budget, Effects, Kind, Omitted, Reading, Report};
use crate::profile::{PROMPT_EXAMPLES, PROMPT_HISTORY, Profile, TEXT_LAST_LINE};
use crate::prompt::chat::{GROUP_CONTEXT, Tail};
use crate::prompt::text::{
    Assembled, Ending, Guidance, Input, QuietLine, Raw, StoryParts, anchors, assemble, chat_items, inject,
    insert_post_history, post_history, raw_prompt, render_story, system_prompt, text_report,
};
use crate::provider::text::{Body, body};
use crate::scene::{InstructTemplate, PersonaPosition, Scene, StoryPlace, TextSetup};
use crate::templates::{Cast, examples, split_examples, story, with_heading};
use crate::tokens::Count;

/// The key of a story string that stands in the chat.
const STORY: &str = "__STORY_STRING__";

/// What the first half found.
pub(super) struct Gathered<'a> {
    pub(super) said: &'a Said,
    pub(super) card: &'a CardTexts,
    pub(super) lines: &'a [Line<'a>],
    pub(super) hidden: Vec<Omitted>,
    pub(super) note: &'a AuthorNote,
    pub(super) lore: &'a LoreResult,
    pub(super) guidance: Option<Guidance>,
    pub(super) tail: Option<Tail>,
}

/// What comes out.
pub(super) struct Finished {
    pub(super) payload: Value,
    pub(super) report: Report,
    pub(super) reading: Reading,
}

/// A prompt without the chat.
#[derive(Clone, Debug, Default)]
pub struct RawAsk {
    /// What it says.
    pub raw: Raw,
    /// Avatar of who `{{char}}` is; default: the single chat's character.
    pub speaker: Option<String>,
    /// Without the instruct template.
    pub plain: bool,
    /// Response length, in place of the settings'.
    pub max_response: Option<i64>,
}

/// Builds the request of a prompt without the chat (spec 07 §9.3).
pub fn raw(
    scene: &Scene,
    ask: &RawAsk,
    profile: &Profile,
    count: &dyn Count,
    host: &mut Host,
) -> Result<Turn, Error> {
    let Some(setup) = &scene.text else {
        return Err(Error::new(Code::SceneMissing, "text", "a raw prompt needs text completion"));
    };
    let options = TurnOptions {
        speaker: ask.speaker.clone(),
        kind: Kind::Quiet,
        max_response: ask.max_response,
        ..TurnOptions::default()
    };
    let about = About::of(scene, &options, profile, count)?;
    let mut effects = Effects::default();
    let base = about.environment();
    let mut scope = Expander { env: base.env(), host, effects: &mut effects };
    let members = about.members();
    let cast = about.cast(&members);
    let instruct = Some(&setup.instruct).filter(|t| t.enabled && !ask.plain);
    let prompt = raw_prompt(&ask.raw, instruct, &cast, &mut scope)?;
    let reading = about.reading(&[], "", &mut scope);
    let payload = about.body(setup, &prompt, None, None, &reading, &mut scope)?;
    let tokens = i64::from(count.count(&prompt));
    let limit = about.sizes.0.saturating_sub(about.sizes.1);
    let report = Report {
        v: 1,
        r#type: Kind::Quiet.as_str().to_owned(),
        tokenizer: count.id().to_owned(),
        exact: count.exact(),
        budget: Budget {
            context: about.sizes.0,
            response: about.sizes.1,
            limit,
            used: tokens,
            left: limit.saturating_sub(tokens),
            ..Budget::default()
        },
        ..Report::default()
    };
    Ok(Turn { payload, report, reading, effects, ..Turn::default() })
}

impl About<'_> {
    fn cast<'m>(&'m self, members: &'m [String]) -> Cast<'m> {
        Cast {
            user: &self.scene.persona.name,
            char: &self.speaker.name,
            members,
            in_group: self.in_group(),
            profile: self.profile,
        }
    }

    /// The host's values, and under instruct mode the card's examples as it formats them, for `{{mesExamples}}` (spec 04 §11.3).
    /// Nobody may read them, so what the template's own macros would write is dropped.
    pub(super) fn values_with_examples<'v>(
        &self,
        values: &'v IndexMap<String, String>,
        card: &CardTexts,
        scope: &mut Expander<'_>,
    ) -> Cow<'v, IndexMap<String, String>> {
        let Some(setup) = self.scene.text.as_ref().filter(|setup| setup.instruct.enabled) else {
            return Cow::Borrowed(values);
        };
        let blocks = split_examples(&card.mes_examples_raw, self.profile.on(&PROMPT_EXAMPLES));
        let members = self.members();
        let mut effects = scope.effects.clone();
        let mut own = Expander { env: scope.env, host: scope.host, effects: &mut effects };
        let heading = line(&setup.context.example_separator, &mut own);
        let items = examples(&setup.instruct, &blocks, &heading, &self.cast(&members), &mut own);
        let mut values = values.clone();
        values.insert("mesexamples".to_owned(), items.concat());
        Cow::Owned(values)
    }

    /// The body that the page hands on.
    fn body(
        &self,
        setup: &TextSetup,
        prompt: &str,
        negative: Option<&str>,
        scale: Option<f64>,
        reading: &Reading,
        scope: &mut Expander<'_>,
    ) -> Result<Value, Error> {
        let stop: Vec<String> = reading.stop.iter().map(|s| s.text.clone()).collect();
        let banned = scope.effects.banned.clone();
        let made = Body {
            setup,
            prompt,
            negative,
            scale,
            kind: self.options.kind,
            max_context: self.sizes.0,
            response: self.sizes.1,
            stop: &stop,
            banned: &banned,
            count: self.counter.count,
            profile: self.profile,
        };
        body(&made, &mut |text| scope.expand(text)).map(Value::Object)
    }

    /// The guidance in force, and the tokens that it takes from the prompt.
    pub(super) fn guidance(&self, scope: &mut Expander<'_>) -> (Option<Guidance>, i64) {
        let guidance =
            self.scene.text.as_ref().and_then(|_| Guidance::of(self.scene, &self.speaker.avatar, scope));
        let tokens = |text: &str| if text.is_empty() { 0 } else { i64::from(self.counter.count.count(text)) };
        let most = guidance.as_ref().map_or(0, |g| tokens(&g.negative).max(tokens(&g.positive)));
        (guidance, most)
    }

    /// Builds the prompt and the body.
    pub(super) fn text(
        &self,
        setup: &TextSetup,
        found: Gathered<'_>,
        mut injections: Injections,
        limit: i64,
        scope: &mut Expander<'_>,
    ) -> Result<Finished, Error> {
        let members = self.members();
        let cast = self.cast(&members);
        let settings = &self.scene.settings;
        let instruct = Some(&setup.instruct).filter(|t| t.enabled);
        let (blocks, raw, heading) = self.example_blocks(setup, &found, scope);
        let mut items = match instruct {
            Some(template) => examples(template, &blocks, &heading, &cast, scope),
            None => blocks.iter().map(|b| with_heading(b, &heading)).collect(),
        };
        let system = system_prompt(
            &setup.system,
            &found.card.char_prompt,
            settings.prefer_character_prompt,
            instruct.is_some(),
            settings.collapse_newlines,
            scope,
        );
        let mut own = Vec::new();
        let (mut card, mut system) = (Cow::Borrowed(found.card), system);
        if let Some(tail) = &found.tail {
            let at_top = |field: &str| tail.common.contains(field);
            own.push(tail.heading.clone());
            if tail.own.contains(SYSTEM) || !at_top("system") {
                own.push(std::mem::take(&mut system));
            }
            for field in ["description", "personality", "scenario"].into_iter().filter(|f| !at_top(f)) {
                own.push(std::mem::take(field_mut(card.to_mut(), field)));
            }
            own.append(&mut items);
            own.retain(|text| !js::trim(text).is_empty());
        }
        let before = anchors(&injections, Position::BeforeMain, self.profile, scope);
        let after = anchors(&injections, Position::AfterMain, self.profile, scope);
        let in_slot = self.scene.persona.position == PersonaPosition::InPrompt;
        let parts = StoryParts {
            system: &system,
            description: &card.description,
            personality: &card.personality,
            scenario: &card.scenario,
            persona: if in_slot { &card.persona } else { "" },
            char: cast.char,
            user: cast.user,
            lore_before: &found.lore.before,
            lore_after: &found.lore.after,
            anchor_before: &before,
            anchor_after: &after,
            examples: &items.concat(),
            examples_raw: if found.tail.is_some() { "" } else { &raw },
        };
        let (rendered, mut warnings) = render_story(&setup.context, instruct, &parts, self.profile, scope)?;
        if settings.strip_examples {
            items.clear();
        }
        let top = place_story(setup, instruct, &rendered, &mut injections, scope);

        if found.tail.is_some() {
            let text = own.iter().map(|text| js::trim(text)).collect::<Vec<_>>().join("\n");
            injections.set(SPEAKER, Injection::new(text, Position::InChat, 0.0, 0));
            // What the room says of the turn stands nearest to the reply.
            if let Some(context) = injections.get(GROUP_CONTEXT).cloned() {
                injections.remove(GROUP_CONTEXT);
                injections.set(GROUP_CONTEXT, context);
            }
        }
        let mut chat = chat_items(found.lines);
        inject(&mut chat, &injections, self.options.kind, &cast, self.profile, scope);
        let after_chat = post_history(
            &setup.system,
            &found.card.char_instruction,
            settings.prefer_character_jailbreak,
            settings.collapse_newlines,
            self.profile,
            scope,
        );
        insert_post_history(&mut chat, &after_chat, self.options.kind);
        let input = Input {
            kind: self.options.kind,
            cast,
            instruct,
            limit: limit.saturating_sub(self.margin()),
            count: self.counter.count,
            padding: setup.padding,
            story: rendered,
            top,
            examples: items,
            pinned: settings.pin_examples,
            start: line(&setup.context.chat_start, scope),
            items: chat,
            ending: self.ending(found.said),
            alignment: match instruct {
                Some(t) if !t.user_alignment_message.is_empty() => scope.expand(&t.user_alignment_message),
                _ => String::new(),
            },
            collapse: settings.collapse_newlines,
            guidance: found.guidance,
            profile: self.profile,
        };
        let assembled = assemble(&input, scope)?;

        warnings.extend(self.warnings(found.lines));
        warnings.append(&mut scope.effects.notes);
        let visible: Vec<usize> = found.lines.iter().map(|l| l.index).collect();
        let mut report = text_report(&input, &assembled, self.sizes, &visible, warnings);
        report.budget.margin = self.margin();
        report.omitted.splice(0..0, found.hidden);
        if !self.options.preview {
            let start = self.text_context_start(&assembled, &report);
            scope.effects.metadata.insert("lastInContextMessageId".to_owned(), Some(start.into()));
        }
        let continued = self.accepted(found.lines);
        let mut reading = self.reading(found.lines, &continued, scope);
        if self.profile.on(&TEXT_LAST_LINE) {
            // The reply begins with what the prompt ended with, and only a reply that is seen does (F26).
            let seen = self.options.quiet.as_ref().is_none_or(|q| q.to_loud);
            reading.start_with =
                if seen { found.said.bias.trim_start_matches([' ', '\n']).to_owned() } else { String::new() };
        }
        let scale = input.guidance.as_ref().map(|g| g.scale);
        let payload =
            self.body(setup, &assembled.prompt, assembled.negative.as_deref(), scale, &reading, scope)?;
        report.omitted.extend(left_out(found.note, &Reading::default(), &payload));
        Ok(Finished { payload, report, reading })
    }

    /// Example blocks of the card and of lorebooks; what `{{mesExamplesRaw}}` is; the heading of a block.
    fn example_blocks(
        &self,
        setup: &TextSetup,
        found: &Gathered<'_>,
        scope: &mut Expander<'_>,
    ) -> (Vec<String>, String, String) {
        let tolerant = self.profile.on(&PROMPT_EXAMPLES);
        let heading = line(&setup.context.example_separator, scope);
        let mut blocks = split_examples(&found.card.mes_examples_raw, tolerant);
        for (place, text) in &found.lore.examples {
            let read = split_examples(&scope.card_text(text, &self.speaker.name), tolerant);
            match place {
                ExamplePlace::Top => _ = blocks.splice(0..0, read),
                ExamplePlace::Bottom => blocks.extend(read),
            }
        }
        let raw = if setup.instruct.enabled {
            blocks.concat()
        } else {
            blocks.iter().map(|b| with_heading(b, &heading)).collect()
        };
        (blocks, raw, heading)
    }

    fn ending<'s>(&'s self, said: &'s Said) -> Ending<'s> {
        let kind = self.options.kind;
        let settings = &self.scene.settings;
        let quiet = self.options.quiet.as_ref().filter(|_| !said.quiet.is_empty());
        let own_bias = !said.bias.is_empty() && !said.bias_is_global;
        Ending {
            quiet: quiet.map(|q| QuietLine { prompt: &said.quiet, to_loud: q.to_loud, name: &q.name }),
            bias: &said.bias,
            names_speaker: kind != Kind::Impersonate
                && (own_bias || settings.always_force_name2 || kind == Kind::Quiet),
            only_message: self.scene.chat.messages.len() == 1,
            last_is_user: self.scene.chat.messages.last().is_some_and(|m| m.is_user),
        }
    }

    /// The text that a continuation is added to.
    fn accepted(&self, lines: &[Line<'_>]) -> String {
        let last = lines.last().filter(|_| self.options.kind == Kind::Continue);
        last.map_or_else(String::new, |l| l.message.mes.clone())
    }

    /// Where the context begins; see `context_start` of chat completion.
    fn text_context_start(&self, assembled: &Assembled, report: &Report) -> usize {
        let length = self.scene.chat.messages.len();
        if self.profile.on(&PROMPT_HISTORY) {
            return report.cut.first_included_index.unwrap_or(length);
        }
        let replaced = matches!(self.options.kind, Kind::Swipe | Kind::Regenerate | Kind::Continue);
        length.saturating_sub(assembled.spoken + usize::from(replaced))
    }
}

fn field_mut<'c>(card: &'c mut CardTexts, field: &str) -> &'c mut String {
    match field {
        "description" => &mut card.description,
        "personality" => &mut card.personality,
        _ => &mut card.scenario,
    }
}

/// A line of a template with its line feed; empty for none.
fn line(text: &str, scope: &mut Expander<'_>) -> String {
    if text.is_empty() {
        return String::new();
    }
    let text = scope.expand(text);
    if text.is_empty() { text } else { format!("{text}\n") }
}

/// The story string at the top, or among the injected texts.
fn place_story(
    setup: &TextSetup,
    instruct: Option<&InstructTemplate>,
    rendered: &str,
    injections: &mut Injections,
    scope: &mut Expander<'_>,
) -> String {
    match setup.context.place {
        StoryPlace::InChat(depth, role) => {
            #[expect(clippy::cast_precision_loss, reason = "depths beyond 2^53 are out of range either way")]
            let injection = Injection::new(rendered.to_owned(), Position::InChat, depth as f64, role);
            injections.set(STORY, injection);
            String::new()
        }
        StoryPlace::Top => {
            instruct.map_or_else(|| rendered.to_owned(), |template| story(template, rendered, scope))
        }
    }
}
