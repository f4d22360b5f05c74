//! Which chat messages the model may see, and how each reads: chat -> lines -> records.
//!
//! A [`Line`] is a message after scripts, files, titles and reasoning (spec 02 §3); lorebooks look at lines. A [`Record`] has
//! a role and a name on top (spec 02 §5); the assembler fills the budget with records. Knows no budget and no order.

mod bias;
mod core;
mod greetings;
mod name;
mod record;

pub use self::bias::reply_bias;
pub use self::core::{Line, Rules, core_chat};
pub use self::greetings::greetings;
pub use self::name::{Names, wire_name};
pub use self::record::{Piece, Record, RecordRules, Records};
