//! Answers back to text: whole bodies, streams, errors (spec 06 §6). Knows the wire forms, not what the text means.

mod body;
mod error;
mod fields;
mod sse;
mod stream;
mod tools;
mod types;

pub use body::{read_body, read_json};
pub use error::{ErrorKind, ProviderError, read_error};
pub use sse::{Sse, SseEvent};
pub use stream::{Event, Stream};
pub use types::{Answer, Finish, Usage};
