//! One speaker's turn: a scene and who is to speak -> the request's neutral payload, and why it looks as it does.
//!
//! Start reading here. The chat must already be what the request is about: the user's new message appended, the last
//! reply deleted for a regeneration, `send_if_empty` appended for an empty send (spec 02 §3.1). Nothing is changed; what
//! a commit would change comes back in [`Turn::effects`].

mod about;
mod finish;
mod gather;
mod scan;
mod tail;
mod text;

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

pub use about::About;
pub use scan::{LoreAsk, scan_lore};
pub use tail::TailAsk;
pub use text::{RawAsk, raw};

use crate::error::Error;
use crate::history::{Records, core_chat};
use crate::host::Host;
use crate::injections::{Injection, Injections};
use crate::lore::{Books, LoreResult};
use crate::macros::Expander;
use crate::parts::{Effects, Kind, Message, Reading, Report, Shares};
use crate::profile::Profile;
use crate::prompt::chat::{Input, Item, assemble, report};
use crate::scene::{Object, Scene};
use crate::scripts::CompiledScripts;
use crate::tokens::Count;
use about::current_chat;
use finish::{context_start, left_out};
use gather::outlet_texts;
use text::{Finished, Gathered};

/// What is asked for. `TurnOptions::default()` is a plain reply of the single chat's character.
#[derive(Clone, Debug, Default)]
pub struct TurnOptions {
    /// Avatar of who speaks; when impersonating, of the member beside whom. Default: the single chat's character.
    pub speaker: Option<String>,
    /// What the request is run as. ST runs a group's regeneration as `Normal`.
    pub kind: Kind,
    /// What the user did, where it differs from `kind` (spec 02 F-31): triggers follow it where the profile puts F-31 right.
    pub action: Option<Kind>,
    /// For [`Kind::Quiet`]; also allowed with other kinds, as ST does.
    pub quiet: Option<Quiet>,
    /// Nobody pressed send: auto mode, or the second and later speakers of a turn.
    pub automatic: bool,
    /// The reply bias that the new input carried (`{{bias "…"}}`, spec 02 §16.3), already joined; empty for none.
    pub bias: String,
    /// Text left in the input box, for `{{input}}`.
    pub input: String,
    /// Context size of this call, in place of the preset's.
    pub max_context: Option<i64>,
    /// Response length of this call, in place of the preset's.
    pub max_response: Option<i64>,
    /// Which follow-up after tool calls this is; 0 is the first request.
    pub tool_round: u32,
    /// Nothing will be sent: counting or showing only (ST: dry run; no squash there).
    pub preview: bool,
    /// Injected texts of the chat's last request that lorebooks still look into, by key: see [`Effects::standing`].
    pub standing: IndexMap<String, String>,
    /// What memory brings.
    pub recalled: Recalled,
    /// What the model and the page can do, and what goes into the body besides the preset.
    pub ask: Ask,
    /// The speaker's own texts go behind the history.
    pub tail: Option<TailAsk>,
}

/// What memory brings into a request (spec 10).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// Texts under their keys.
    pub texts: Vec<(&'static str, Injection)>,
    /// Positions of chat messages that are among the texts, ascending: the history leaves them out.
    pub hide: Vec<usize>,
    /// Lorebook entries that are active whatever their keys say: objects with `world` and `uid`.
    pub forced: Vec<Value>,
}

/// A request beside the chat, or an instruction at the end of one (spec 02 §16.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quiet {
    /// The instruction.
    pub prompt: String,
    /// The answer is meant to be seen, as by `/sysgen`: text completion words its end differently.
    pub to_loud: bool,
    /// Leave out lorebook and author's note.
    pub skip_lore: bool,
    /// Name for the answer's last line in text completion.
    pub name: String,
    /// A picture for the instruction, as a data URL.
    pub image: Option<String>,
}

/// Parts of the body that come from the page and not from the preset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// Registered tools, in the form of the request.
    pub tools: Vec<Value>,
    /// The model's entry of the provider's model list, when the page has it (tools, media, tokenizer, efforts).
    pub model: Option<Value>,
    /// Stop strings for this call only, after the user's own.
    pub stop: Vec<String>,
    /// Token id -> bias, ready.
    pub logit_bias: Option<Object>,
    /// Token probabilities are wanted.
    pub logprobs: bool,
    /// `{name, value, description?, strict?}` of a structured answer.
    pub json_schema: Option<Value>,
    /// How the budget is shared out.
    pub shares: Shares,
}

/// A request before post-processing and conversion, and everything about it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The neutral payload (spec 02 §19.1), keys in the reference's order; `messages` is among them. In text completion: what the
    /// page hands on, `prompt` first (spec 07 §11).
    pub payload: Value,
    /// The same messages, typed; empty in text completion.
    pub messages: Vec<Message>,
    /// Where everything came from, what it costs, what was left out.
    pub report: Report,
    /// How the reply is to be read.
    pub reading: Reading,
    /// What a commit would change.
    pub effects: Effects,
    /// Which lorebook entries are active.
    pub lore: LoreResult,
}

/// Builds the request of one speaker.
///
/// In the `sillytavern` profile texts that must be sent and do not fit give what fitted before them, as ST sends it, and
/// `report.error` says so; with `prompt.overflow` on they are an error that lists them.
pub fn build(
    scene: &Scene,
    options: &TurnOptions,
    profile: &Profile,
    count: &dyn Count,
    host: &mut Host,
) -> Result<Turn, Error> {
    let about = About::of(scene, options, profile, count)?;
    let compiled = Compiled {
        books: Arc::new(Books::new(scene, Some(about.speaker), profile)),
        scripts: Arc::new(CompiledScripts::new(scene, profile, &host.limits).0),
    };
    build_with(&about, &compiled, host)
}

/// What costs time to make and stays the same from turn to turn.
#[derive(Debug)]
pub struct Compiled {
    /// Lorebooks, for one speaker.
    pub books: Arc<Books>,
    /// Regex scripts.
    pub scripts: Arc<CompiledScripts>,
}

/// [`build`] with books and scripts that are compiled already.
pub fn build_with(about: &About<'_>, compiled: &Compiled, host: &mut Host) -> Result<Turn, Error> {
    let mut effects = Effects::default();
    host.begin_request();
    let base = about.environment();
    let (chat, outlets, values);
    let mut scope = Expander { env: base.env(), host, effects: &mut effects };

    let said = about.said(&mut scope);
    let card = base.card_texts(scope.host, scope.effects);
    values = about.values_with_examples(&base.values, &card, &mut scope);
    scope.env.values = &values;
    chat = current_chat(&base, &mut scope);
    scope.env.chat = &chat;
    let (lines, mut hidden) = core_chat(&chat, &about.line_rules(&compiled.scripts), &mut scope);

    let mut injections = Injections::from_host(&about.scene.extension_prompts, about.profile);
    about.register_recalled(&mut injections);
    let note = about.register_notes(&mut injections, &card, &said, &mut scope);
    let (guidance, taken) = about.guidance(&mut scope);
    let limit = about.sizes.0.saturating_sub(about.sizes.1).saturating_sub(taken);
    let mut lore = about.scan(compiled, &lines, &card, &injections, limit, &mut scope);
    outlets = outlet_texts(&lore);
    scope.env.outlets = &outlets;
    about.place_notes(&mut injections, &note, &lore, scope.effects);
    hidden.extend(about.cap_memory(&mut injections));
    let tail = about.tail(&card, &mut lore, &mut injections, &scope);
    if let Some(setup) = &about.scene.text {
        let found = Gathered {
            said: &said,
            card: &card,
            lines: &lines,
            hidden,
            note: &note,
            lore: &lore,
            guidance,
            tail,
        };
        let Finished { payload, mut report, reading } =
            about.text(setup, found, injections, limit, &mut scope)?;
        report.warnings.extend(effects.notes.iter().cloned());
        return Ok(Turn { payload, messages: Vec::new(), report, reading, effects, lore });
    }
    let examples = about.examples(&card, &lore, &mut scope);

    let records = Records::new(&lines, about.record_rules(tail.is_some()));
    let continued = about.continued(&lines);
    let supplied = about.supplied(&card, &lore, &said);
    let input =
        Input { tail: tail.as_ref(), ..about.input(supplied, &injections, records, &examples, &continued) };
    about.expand_unused(&injections, &mut scope);
    let mut assembled = assemble(input, &mut scope)?;
    about.expand_all(&injections, &mut scope);

    let visible: Vec<usize> = lines.iter().map(|l| l.index).collect();
    let mut report = report(&mut assembled, about.options.kind, about.sizes, &visible, about.counter.count);
    report.omitted.splice(0..0, hidden);
    report.warnings = about.warnings(&lines);
    if !about.options.preview {
        let start = context_start(about, &assembled, &report);
        scope.effects.metadata.insert("lastInContextMessageId".to_owned(), Some(start.into()));
    }
    let reading = about.reading(&lines, &continued, &mut scope);
    let (payload, changes) = about.payload(&assembled, &reading, &mut scope);
    report.body_changes = changes;
    report.omitted.extend(left_out(&note, &reading, &payload));
    report.warnings.append(&mut effects.notes);
    let messages = assembled.items.iter().map(Item::message).collect();
    // What macros, scripts and lorebooks could not do.
    report.warnings.extend(effects.notes.iter().cloned());
    Ok(Turn { payload, messages, report, reading, effects, lore })
}
