//! A reply that is still arriving -> what of it may be shown: text that only grows, and when to stop the request.
//!
//! Spec 01 §P2.7, §13.4. [`Cutter::finish`] cleans the whole reply, so the result is that of [`clean`](super::clean) for every
//! split into pieces. What is shown on the way is a beginning of it, unless markdown is repaired or the last sentence is cut:
//! neither can be known before the end. Regex scripts are not run here; a caller who has some cleans [`Cutter::raw`] with them.
//! Cost: linear in the text, but for labels and stop strings, whose beginnings are looked at again with every piece.

use serde::Serialize;

use super::filters::Chain;
use super::pipeline::{Plan, clean};
use super::{Cleaned, Cut, Ended, Options};
use crate::js;
use crate::parts::Reading;
use crate::profile::Profile;

/// What a piece of the reply adds to what is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Emit {
    /// Text to show after what was shown before; may be empty.
    pub text: String,
    /// The reply has ended here: stop the request. Later pieces are ignored.
    pub done: Option<Cut>,
}

/// The reply as it is kept, and how it differs from what was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finished {
    /// The whole, cleaned.
    pub cleaned: Cleaned,
    /// What is to be added to what was shown; `None` when that is no beginning of the text and must be replaced.
    pub rest: Option<String>,
}

/// Cleans a reply while it arrives. When continuing, the accepted text up to its last visible character counts as shown
/// already, unless it is cleaned again (`reply.continue` off).
#[derive(Debug)]
pub struct Cutter {
    reading: Reading,
    options: Options,
    profile: Profile,
    raw: String,
    shown: String,
    chain: Chain,
    done: Option<Cut>,
    /// What precedes the model's text; pushed with the first piece.
    lead: Option<String>,
}

impl Cutter {
    /// A cutter for one reply.
    pub fn new(reading: Reading, options: Options, profile: Profile) -> Self {
        let plan = Plan::new(&reading, &options, &profile);
        let chain = Chain::new(&plan);
        let lead = Some(plan.lead().to_owned());
        let shown = js::trim_end(plan.accepted()).to_owned();
        Self { chain, lead, shown, raw: String::new(), done: None, reading, options, profile }
    }

    /// The next piece of the reply.
    pub fn push(&mut self, piece: &str) -> Emit {
        if self.done.is_some() || piece.is_empty() {
            return Emit { text: String::new(), done: self.done.clone() };
        }
        self.raw.push_str(piece);
        let mut text = String::new();
        // Without any text of the model there is no reply, and nothing in front of it.
        let lead = self.lead.take().unwrap_or_default();
        let ended = self.chain.push(&lead, &mut text) || self.chain.push(piece, &mut text);
        if ended {
            return self.end(text);
        }
        self.shown.push_str(&text);
        Emit { text, done: None }
    }

    /// The end is certain: show the rest of what will be kept.
    fn end(&mut self, mut text: String) -> Emit {
        let cleaned = self.clean(Ended::Unknown);
        self.shown.push_str(&text);
        if let Some(rest) = cleaned.text.strip_prefix(&self.shown) {
            text.push_str(rest);
            self.shown.push_str(rest);
        }
        self.done = cleaned.cut;
        Emit { text, done: self.done.clone() }
    }

    /// What the model wrote so far.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// What is to be added to what was shown when the reply is kept as `text`: what was held back. `None` when nothing came in
    /// pieces, when nothing is missing, or when what was shown is no beginning of it.
    pub fn held_back<'a>(&self, text: &'a str) -> Option<&'a str> {
        let rest = text.strip_prefix(&self.shown)?;
        (!self.raw.is_empty() && !rest.is_empty()).then_some(rest)
    }

    /// The reply is over, or was stopped.
    pub fn finish(self, ended: Ended) -> Finished {
        let cleaned = self.clean(ended);
        let rest = cleaned.text.strip_prefix(&self.shown).map(str::to_owned);
        Finished { cleaned, rest }
    }

    fn clean(&self, ended: Ended) -> Cleaned {
        let options = Options { ended, ..self.options.clone() };
        clean(&self.raw, &self.reading, &options, &self.profile)
    }
}

/// What the reference shows while a reply arrives: all of it, cleaned anew, with marks added for what is still open
/// (spec 01 §13.4). Costs the whole text each time.
pub fn display_tick(raw: &str, reading: &Reading, options: &Options, profile: &Profile) -> String {
    let options = Options { keep_incomplete: true, ..options.clone() };
    let mut text = clean(raw, reading, &options, profile).text;
    for mark in ["*", "\"", "```", "~~~"] {
        let bytes = text.as_bytes();
        let count = bytes.windows(mark.len()).filter(|w| *w == mark.as_bytes()).count();
        if count % 2 == 1 {
            text.truncate(js::trim_end(&text).len());
            if mark.len() > 1 {
                text.push('\n');
            }
            text.push_str(mark);
        }
    }
    text
}
