//! Text completion: a prompt and sampler settings -> the body that the page hands on, the request of each backend, and its answer
//! back to text (spec 07 §10.8, §11).
//!
//! Tables, not conditions: `backends` (who is where and takes what), `fields` (what the body holds, for whom). Sends nothing and
//! never sees a key. Differs from ST under `text.bodies` (07 F19, F30).

mod backends;
mod body;
mod fields;
mod kobold;
mod lists;
mod read;
mod wire;

pub use backends::{Backend, backend};
pub use body::{Body, body, check_model, set_stream, streams};
pub use read::{TextStream, read_text, read_token_count};
pub use wire::{TokenCount, text_request, token_count_request};
