//! A model's reply and its [`Reading`](crate::parts::Reading) -> what is kept: stop strings, labels, markdown, unfinished
//! sentences; whole ([`clean`]) or while it arrives ([`Cutter`]).
//!
//! Spec: 01 §12-§13, §P2, §P3. Differs from ST under `reply.cut`, `reply.stops`, `reply.continue`, `reply.markdown`,
//! `reply.sentences`, `reply.name_stops`. Knows names and text. Must not know how the request was built.
//! Reading order: `pipeline` (the steps in order) -> `exact` (the reference's) -> `cut` (labels by rule) -> `stream`
//! (what may be shown on the way).
//!
//! Regex scripts run in the middle: [`before_scripts`], then the caller's scripts on [`Draft::text`], then [`after_scripts`].

mod cut;
mod exact;
mod filters;
mod find;
mod markdown;
mod pipeline;
mod reading;
mod spaces;
pub mod stops;
mod stream;
mod types;

pub use pipeline::{after_scripts, before_scripts, clean};
pub use reading::{Ask, reading};
pub use stream::{Cutter, Emit, Finished, display_tick};
pub use types::{Cleaned, Cut, CutReason, Draft, Ended, Options, Salvage, Step, Stripped, Trim};
