//! The JSON face of the crate: a method's name and JSON text in, JSON text out; the same in native Rust, Node and browsers.
//!
//! [`Session`] is a room with its options; [`call`] and friends need no room. `wasm` only passes strings through.
//! Reading order: `types` (what goes in and out) -> `session` -> `free` -> `files`.

mod calls;
mod converters;
mod files;
mod free;
mod memory;
mod options;
mod params;
mod room_rules;
mod room_script;
mod rooms;
mod regexp;
mod session;
mod supplied;
mod types;
mod vectors;

pub use files::{call_bytes, write_bytes};
pub use free::call;
pub use options::{Random, RoomOptions, Vocabularies};
pub use session::Session;
pub use types::*;
pub use vectors::Vectors;

use params::params;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::js;

/// JSON text of a result.
fn text(value: &impl Serialize) -> Result<String, Error> {
    js::to_json(value).map_err(|e| Error::new(Code::Internal, "", e.to_string()))
}

#[cfg(test)]
mod tests {
    use ts_rs::{Config, TS};

    use super::*;
    use crate::room::coordinator;
    use crate::{error, lore, macros, models, names, parts, reply, room, scripts, speakers, turn};

    /// The file with all types, as it must stand in the package's source.
    fn generated() -> String {
        let config = Config::default().with_large_int("number");
        let mut out = String::from(
            "// Made from the Rust definitions by `UPDATE=1 cargo test --lib api::tests`. Do not edit.\n\
             import type { MemoryOptions } from \"./memory.js\";\n\
             import type { OutgoingRequest } from \"./round.js\";\n\
             type JsonValue = unknown;\n",
        );
        macro_rules! types {
            ($($t:ty),+ $(,)?) => {
                $({
                    out.push('\n');
                    if let Some(docs) = <$t as TS>::docs() {
                        out.push_str(&docs);
                    }
                    out.push_str("export ");
                    out.push_str(&<$t as TS>::decl(&config));
                    out.push('\n');
                })+
            };
        }
        types!(
            RoomOptions,
            Random,
            SpeakerOptions,
            Plan,
            Drawn,
            speakers::Pick,
            speakers::Pass,
            speakers::Nobody,
            speakers::Reason,
            speakers::Silence,
            names::MentionKind,
            BuildOptions,
            RawOptions,
            Built,
            CleanOptions,
            reply::Cleaned,
            reply::Cut,
            reply::CutReason,
            reply::Salvage,
            reply::Step,
            reply::Stripped,
            Inspected,
            ChatEdits,
            ExpandOptions,
            InspectOptions,
            InspectedText,
            Scripted,
            scripts::Change,
            scripts::Scope,
            macros::MacroSpan,
            macros::SpanStatus,
            macros::Needs,
            parts::Effects,
            parts::ChatEdit,
            LoreOptions,
            LoreLook,
            LoreExample,
            LoreDepth,
            lore::Activated,
            coordinator::RoundConfig,
            coordinator::Mode,
            coordinator::Who,
            coordinator::Directed,
            coordinator::MentionOrder,
            coordinator::IdleBy,
            coordinator::ContinueOn,
            coordinator::SilencePolicy,
            coordinator::Handoff,
            coordinator::OnBusy,
            coordinator::OnUserMessage,
            coordinator::Blurbs,
            coordinator::CrossTalk,
            coordinator::Auto,
            coordinator::Director,
            coordinator::OnMention,
            coordinator::DirectorFallback,
            coordinator::Narrator,
            coordinator::Guard,
            coordinator::Cause,
            room::control::Control,
            room::layout::Layout,
            room::narrator::Trigger,
            room::presence::PresenceOptions,
            room::presence::Legacy,
            room::repeat::RepeatOptions,
            room::validate::Rules,
            room::validate::Word,
            room::validate::SelfReference,
            room::validate::SelfMode,
            room::validate::Issue,
            speakers::Match,
            speakers::Relation,
            speakers::Node,
            room::Input,
            room::Order,
            room::Asking,
            room::Start,
            room::QuietInput,
            room::Answer,
            room::Output,
            room::Planned,
            parts::Report,
            parts::ReportMessage,
            parts::ReportSlot,
            parts::ReportItem,
            parts::ReportError,
            parts::Part,
            parts::Origin,
            parts::OriginKind,
            parts::Omitted,
            parts::LedgerLine,
            parts::Op,
            parts::Budget,
            parts::Cut,
            parts::Parting,
            parts::Reuse,
            parts::Shares,
            models::BodyChange,
            parts::TextParts,
            error::Warning,
            lore::Explained,
            lore::Reason,
            lore::Cause,
            lore::Outcome,
            lore::Loop,
            lore::State,
            lore::Source,
        );
        let _ = turn::TurnOptions::default();
        out
    }

    #[test]
    fn the_types_of_the_package_are_current() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("npm/src/generated.ts");
        let text = generated();
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == text, "npm/src/generated.ts is stale: run UPDATE=1 cargo test --lib api::tests");
    }
}
