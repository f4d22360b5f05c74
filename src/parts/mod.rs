//! What the steps of a turn hand to each other: messages, where they came from, what they cost, what would change.

mod effects;
mod message;
mod reading;
mod report;
mod shares;

pub use effects::{ChatEdit, Effects};
pub use message::{Kind, Message, Role};
pub use reading::{Participant, Reading, ReplyRules, Sequences, Stop, StopSource};
pub use report::{
    Budget, Cut, LedgerLine, Omitted, Op, Origin, OriginKind, Part, Parting, Report, ReportError, ReportItem,
    ReportMessage, ReportSlot, Reuse, TextParts,
};
pub use shares::Shares;
