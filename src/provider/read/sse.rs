//! Server-sent events from bytes: chunks may end anywhere, inside a character too (spec 06 §6.3).

use serde::Serialize;

/// An event longer than this is cut off: no provider sends one, and memory is not the server's to fill.
const MOST_BYTES: usize = 32 << 20;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SseEvent {
    /// Its kind; `message` when none was given.
    pub event: String,
    /// Its data lines, joined with line feeds.
    pub data: String,
}

/// A reader of an event stream.
#[derive(Clone, Debug, Default)]
pub struct Sse {
    standard: bool,
    /// Bytes of a character that is not complete yet.
    tail: Vec<u8>,
    started: bool,
    buffer: String,
    /// How much of the buffer has been searched in vain.
    searched: usize,
    open: Open,
}

/// The event that is being read.
#[derive(Clone, Debug, Default)]
struct Open {
    event: String,
    data: Option<String>,
    size: usize,
}

impl Open {
    fn line(&mut self, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" if self.size + value.len() <= MOST_BYTES => {
                self.size += value.len();
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => self.data = Some(value.to_owned()),
                }
            }
            _ => {}
        }
    }

    fn close(&mut self) -> Option<SseEvent> {
        let Self { event, data, .. } = std::mem::take(self);
        let event = if event.is_empty() { "message".to_owned() } else { event };
        Some(SseEvent { event, data: data? })
    }
}

impl Sse {
    /// A reader. `standard` follows the WHATWG rules; without it events end only at two equal line ends, as in the reference.
    pub fn new(standard: bool) -> Self {
        Self { standard, ..Self::default() }
    }

    /// Takes bytes, gives the events they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        self.decode(bytes);
        if self.standard { self.lines(false) } else { self.blocks() }
    }

    /// The stream is over. With the standard's rules an unfinished event counts (providers forget the last blank line).
    pub fn end(&mut self) -> Vec<SseEvent> {
        if !self.tail.is_empty() {
            self.tail.clear();
            self.buffer.push('\u{fffd}');
        }
        if !self.standard {
            return Vec::new();
        }
        let mut events = self.lines(true);
        events.extend(self.open.close());
        events
    }

    /// Decodes UTF-8 as a streaming `TextDecoder` does.
    fn decode(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        let held = std::mem::take(&mut self.tail);
        let from = self.buffer.len();
        let mut chunks = held.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.buffer.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            if chunks.peek().is_none() && incomplete(invalid) {
                self.tail = invalid.to_vec();
            } else {
                self.buffer.push('\u{fffd}');
            }
        }
        if !self.started && self.buffer.len() > from {
            self.started = true;
            if self.buffer.starts_with('\u{feff}') {
                self.buffer.drain(..'\u{feff}'.len_utf8());
            }
        }
    }

    /// Line by line: a blank line closes the event.
    fn lines(&mut self, end: bool) -> Vec<SseEvent> {
        let mut events = Vec::new();
        let mut at = 0;
        loop {
            let rest = self.buffer.get(at..).unwrap_or("");
            let skip = self.searched.saturating_sub(at);
            let found = rest.get(skip..).and_then(|r| r.find(['\n', '\r'])).map(|n| n + skip);
            let Some(length) = found else {
                if end && !rest.is_empty() {
                    self.open.line(rest);
                    at = self.buffer.len();
                }
                break;
            };
            let tail = rest.get(length..).unwrap_or("");
            if tail == "\r" && !end {
                break; // its line feed may still come
            }
            let line = rest.get(..length).unwrap_or("");
            if line.is_empty() {
                events.extend(self.open.close());
            } else {
                self.open.line(line);
            }
            at += length + if tail.starts_with("\r\n") { 2 } else { 1 };
        }
        self.forget(at);
        events
    }

    /// Event by event, as the reference splits: at CRLFCRLF, LFLF or CRCR, whichever comes first.
    fn blocks(&mut self) -> Vec<SseEvent> {
        let mut events = Vec::new();
        let mut at = 0;
        loop {
            let start = self.searched.max(at);
            let rest = self.buffer.get(start..).unwrap_or("");
            let ends = ["\r\n\r\n", "\n\n", "\r\r"];
            let first = ends.iter().filter_map(|e| Some((rest.find(e)?, e.len()))).min();
            let Some((found, length)) = first else { break };
            let mut open = Open::default();
            let block = self.buffer.get(at..start + found).unwrap_or("");
            for line in block.split(['\n', '\r']).filter(|l| !l.is_empty()) {
                open.line(line);
            }
            events.extend(open.close());
            at = start + found + length;
        }
        self.forget(at);
        events
    }

    /// Drops what was read and remembers how far was searched.
    fn forget(&mut self, at: usize) {
        self.buffer.drain(..at);
        // An end of up to four bytes may be cut in two.
        let mut searched = self.buffer.len().saturating_sub(3);
        while !self.buffer.is_char_boundary(searched) {
            searched -= 1;
        }
        self.searched = searched;
        if self.buffer.len() > MOST_BYTES {
            self.buffer.clear();
            self.searched = 0;
        }
    }
}

/// Whether bytes may be the beginning of a character.
fn incomplete(bytes: &[u8]) -> bool {
    let needed = match bytes.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => return false,
    };
    bytes.len() < needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &[u8], standard: bool) -> Vec<SseEvent> {
        let mut sse = Sse::new(standard);
        let mut events = sse.feed(text);
        events.extend(sse.end());
        events
    }

    fn event(event: &str, data: &str) -> SseEvent {
        SseEvent { event: event.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn unfinished_and_mixed_ends() {
        let text = "data: a\n\r\ndata: 洛";
        assert_eq!(whole(text.as_bytes(), true), [event("message", "a"), event("message", "洛")]);
        assert!(whole(text.as_bytes(), false).is_empty(), "the reference loses both");
    }

    #[test]
    fn broken_bytes_are_replaced() {
        assert_eq!(whole(b"data: a\xff\xe6\xb4b\n\n", true), [event("message", "a\u{fffd}\u{fffd}b")]);
        assert_eq!(whole(b"\xef\xbb\xbfdata:x\n\n", false), [event("message", "x")]);
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "data: ",
            "event: x",
            "id: 1",
            ": c",
            "\n",
            "\n\n",
            "\r\n",
            "\r\n\r\n",
            "\r\r",
            "\r",
            "{\"a\":1}",
            "洛恩😀",
            "й",
            "data:[DONE]",
        ]);
        prop::collection::vec(piece, 0..20).prop_map(|p| p.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn chunks_may_end_anywhere(bytes in pieces(), cuts in prop::collection::vec(0usize..200, 0..8), standard: bool) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut sse = Sse::new(standard);
            let (mut events, mut from) = (Vec::new(), 0);
            for to in cuts.into_iter().chain([bytes.len()]) {
                events.extend(sse.feed(&bytes[from..to]));
                from = to;
            }
            events.extend(sse.end());
            prop_assert_eq!(events, whole(&bytes, standard));
        }

        #[test]
        fn any_bytes_are_safe(bytes in prop::collection::vec(any::<u8>(), 0..200), standard: bool) {
            let mut one = Sse::new(standard);
            let mut events: Vec<SseEvent> = bytes.iter().flat_map(|b| one.feed(&[*b])).collect();
            events.extend(one.end());
            prop_assert_eq!(events, whole(&bytes, standard));
        }
    }
}
