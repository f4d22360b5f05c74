//! An answer in pieces: whatever the bytes and the cuts, every reader gives what it gives for the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promptside::models::Source;
use promptside::profile::Profile;
use promptside::provider::{Answer, Event, Stream};

fn read<'a>(source: Source, pieces: impl Iterator<Item = &'a [u8]>, profile: &Profile) -> (Answer, Vec<Event>) {
    let mut stream = Stream::new(source, true, profile);
    let mut events: Vec<Event> = pieces.flat_map(|piece| stream.feed(piece)).collect();
    events.extend(stream.end());
    (stream.answer().clone(), events)
}

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (source, step, bytes) = input;
    let Some(source) = Source::ALL.get(usize::from(source) % Source::ALL.len()) else { return };
    let step = usize::from(step).max(1);
    for profile in [Profile::promptside(), Profile::sillytavern()] {
        let whole = read(*source, std::iter::once(bytes), &profile);
        assert_eq!(read(*source, bytes.chunks(step), &profile), whole);
        assert_eq!(read(*source, bytes.chunks(1), &profile), whole);
    }
});
