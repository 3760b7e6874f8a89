//! From DATA chunks to messages (RFC 9260 §6.5, §6.6, §6.9): fragments are
//! joined, ordered messages wait for their predecessors in the stream. I-DATA
//! chunks join in [`Interleaved`] and wait in the same queues.
//!
//! Left out: partial delivery of a message that is larger than the receive
//! buffer; the sender's data then stops at the closed window.

use crate::interleaved::{Forgotten, Interleaved};
use crate::outgoing::Message;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::Payload;
use anabranch_wire::sctp::{DataChunk, DataFlags, IDataChunk};
use std::collections::{BTreeMap, VecDeque};

/// What a chunk costs beside its octets, in the bound of memory.
pub(crate) const OVERHEAD: u64 = 64;

/// The fragments contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Violation(pub &'static str);

/// A message that has arrived, and what the wire said about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// The message.
    pub message: Message,
    /// Stream sequence number, or message identifier with interleaving.
    pub number: u32,
    /// TSN of its first chunk.
    pub tsn: Serial32,
    /// How long it was complete and waited for earlier ones of its stream.
    pub waited: Span,
}

/// Fragments with TSNs in a row.
#[derive(Debug)]
struct Run {
    /// TSN of the first.
    tsn: Serial32,
    /// The offset after the last.
    end: u64,
    begins: bool,
    ends: bool,
    stream: u16,
    ssn: u16,
    unordered: bool,
    ppid: u32,
    parts: VecDeque<Payload>,
    len: u64,
}

#[derive(Debug, Default)]
struct Stream {
    /// Number of the next message, counted without wrapping.
    next: u64,
    waiting: BTreeMap<u64, Complete>,
}

/// A complete message.
#[derive(Debug)]
struct Complete {
    message: Message,
    number: u32,
    /// TSN of its first chunk.
    tsn: Serial32,
    /// Since when.
    since: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// By the offset of the first TSN.
    runs: BTreeMap<u64, Run>,
    /// Fragments of I-DATA, where it was agreed on.
    interleaved: Option<Box<Interleaved>>,
    streams: Vec<Stream>,
    /// Messages for the user.
    ready: VecDeque<Received>,
    /// Octets of the first message in `ready` that were read as a stream.
    taken: u32,
    /// Octets that have arrived and were not read.
    octets: u64,
    /// Chunks and messages that hold memory.
    pieces: u64,
    /// Octets delivered in total.
    delivered: u64,
    /// When the packet at hand came.
    now: Time,
}

impl Reassembly {
    /// A packet has come; before what it carries is inserted.
    pub fn set_now(&mut self, now: Time) {
        self.now = now;
    }
    /// Octets that have arrived and were not read.
    pub fn octets(&self) -> u64 {
        self.octets
    }
    /// What it holds, with its overhead.
    pub fn memory(&self) -> u64 {
        self.octets + OVERHEAD * self.pieces
    }
    /// Octets delivered to the user's queue in total.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The peer has restarted: streams start anew, what is complete stays.
    pub fn restart(&mut self) {
        let (ready, taken) = (std::mem::take(&mut self.ready), self.taken);
        let all = ready.iter().map(|it| it.message.payload.len() as u64).sum::<u64>();
        let octets = all - taken as u64;
        let (pieces, delivered) = (ready.len() as u64, self.delivered);
        *self = Reassembly { ready, taken, octets, pieces, delivered, ..Reassembly::default() };
    }

    /// Chunks are I-DATA from the first on, or DATA.
    pub fn set_interleaving(&mut self, on: bool) {
        self.interleaved = on.then(Box::default);
    }

    /// A new chunk of I-DATA; its stream is valid and its payload not empty.
    pub fn insert_interleaved(&mut self, data: &IDataChunk) -> Result<(), Violation> {
        self.octets += data.payload.len() as u64;
        self.pieces += 1;
        if data.flags.contains(DataFlags::WHOLE) {
            let unordered = data.flags.contains(DataFlags::UNORDERED);
            let (stream, ppid, payload) = (data.stream, data.ppid_or_fsn, data.payload.clone());
            self.order(data.mid, data.tsn, Message { stream, unordered, ppid, payload });
        } else if let Some(fragments) = &mut self.interleaved
            && let Some(whole) = fragments.insert(data)?
        {
            self.pieces -= whole.pieces - 1;
            self.order(whole.mid, whole.tsn, whole.message);
        }
        Ok(())
    }

    /// TSNs up to `last` are not coming, and all before `next` are known
    /// (RFC 3758 §3.6): fragments whose message can not be completed go.
    pub fn skip_to(&mut self, last: u64, next: u64) {
        let mut gone = Forgotten::default();
        self.runs.retain(|start, run| {
            let keep = *start > last && (run.begins || *start > next);
            if !keep {
                gone.octets += run.len;
                gone.pieces += run.parts.len() as u64;
            }
            keep
        });
        self.forget(gone);
    }

    /// Messages of the stream up to `number` are not coming: what waited for
    /// them is delivered.
    pub fn skip(&mut self, id: u16, unordered: bool, number: u32) {
        if let Some(fragments) = &mut self.interleaved {
            let gone = fragments.skip(id, unordered, number);
            self.forget(gone);
        } else {
            self.forget_ordered(|run| {
                (run.stream, run.unordered) == (id, false)
                    && (number as u16).wrapping_sub(run.ssn) < 1 << 15
            });
        }
        if unordered {
            return;
        }
        let wide = self.interleaved.is_some();
        let stream = self.stream(id);
        let Some(ahead) = ahead(stream.next, number, wide) else { return };
        let next = stream.next + ahead + 1;
        let later = stream.waiting.split_off(&next);
        let turn = std::mem::replace(&mut stream.waiting, later);
        stream.next = next;
        turn.into_values().for_each(|complete| self.deliver(complete));
        self.take_turns(id);
    }

    /// Incomplete runs that `which` names are forgotten.
    fn forget_ordered(&mut self, which: impl Fn(&Run) -> bool) {
        let mut gone = Forgotten::default();
        self.runs.retain(|_, run| {
            let keep = !which(run);
            if !keep {
                gone.octets += run.len;
                gone.pieces += run.parts.len() as u64;
            }
            keep
        });
        self.forget(gone);
    }

    fn forget(&mut self, gone: Forgotten) {
        self.octets -= gone.octets;
        self.pieces -= gone.pieces;
    }

    /// The peer's next message on the stream has the number 0 (RFC 6525
    /// §5.2.2).
    pub fn reset_stream(&mut self, id: u16) {
        if let Some(fragments) = &mut self.interleaved {
            let gone = fragments.reset(id);
            self.forget(gone);
        }
        let Some(stream) = self.streams.get_mut(id as usize) else { return };
        let waiting = std::mem::take(stream).waiting;
        for complete in waiting.into_values() {
            self.octets -= complete.message.payload.len() as u64;
            self.pieces -= 1;
        }
    }

    /// All streams start anew: what is complete is delivered, fragments below `end`
    /// are forgotten (RFC 6525 §5.2.4).
    pub fn renumber(&mut self, end: u64) {
        self.skip_to(end, end);
        for id in 0..self.streams.len() {
            let waiting = std::mem::take(&mut self.streams[id].waiting);
            waiting.into_values().for_each(|complete| self.deliver(complete));
            self.reset_stream(id as u16);
        }
    }

    fn stream(&mut self, id: u16) -> &mut Stream {
        let index = id as usize;
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, Stream::default);
        }
        &mut self.streams[index]
    }

    /// A new chunk; its stream is valid and its payload not empty.
    pub fn insert(&mut self, offset: u64, data: &DataChunk) -> Result<(), Violation> {
        let unordered = data.flags.contains(DataFlags::UNORDERED);
        let len = data.payload.len() as u64;
        self.octets += len;
        self.pieces += 1;
        if data.flags.contains(DataFlags::WHOLE) {
            self.fits(offset)?;
            let (stream, ppid, payload) = (data.stream, data.ppid, data.payload.clone());
            let message = Message { stream, unordered, ppid, payload };
            self.order(data.ssn as u32, data.tsn, message);
            return Ok(());
        }
        let run = Run {
            tsn: data.tsn,
            end: offset + 1,
            begins: data.flags.contains(DataFlags::BEGIN),
            ends: data.flags.contains(DataFlags::END),
            stream: data.stream,
            ssn: data.ssn,
            unordered,
            ppid: data.ppid,
            parts: [data.payload.clone()].into(),
            len,
        };
        self.join(offset, run)
    }

    /// No fragment beside `offset` waits for it to be of its message.
    fn fits(&self, offset: u64) -> Result<(), Violation> {
        let before = self.runs.range(..offset).next_back().map(|(_, run)| run);
        if before.is_some_and(|run| run.end == offset && !run.ends) {
            return Err(Violation("a message inside another"));
        }
        if self.runs.get(&(offset + 1)).is_some_and(|run| !run.begins) {
            return Err(Violation("a fragment without a beginning"));
        }
        Ok(())
    }

    fn join(&mut self, offset: u64, mut run: Run) -> Result<(), Violation> {
        let mut start = offset;
        let before = self.runs.range(..offset).next_back().map(|(start, run)| (*start, run));
        if let Some((at, before)) = before.filter(|(_, before)| before.end == offset) {
            match (before.ends, run.begins) {
                (false, false) => {
                    let mut whole = self.runs.remove(&at).expect("just seen");
                    whole.append(run)?;
                    (start, run) = (at, whole);
                }
                (true, true) => {}
                _ => return Err(Violation("fragments that do not follow each other")),
            }
        }
        if let Some(after) = self.runs.get(&run.end) {
            match (run.ends, after.begins) {
                (false, false) => {
                    let after = self.runs.remove(&run.end).expect("just seen");
                    run.append(after)?;
                }
                (true, true) => {}
                _ => return Err(Violation("fragments that do not follow each other")),
            }
        }
        if run.begins && run.ends {
            self.pieces -= run.parts.len() as u64 - 1;
            let tsn = run.tsn;
            let (ssn, message) = run.finish();
            self.order(ssn as u32, tsn, message);
        } else {
            self.runs.insert(start, run);
        }
        Ok(())
    }

    /// A complete message: delivered, or kept until its turn.
    fn order(&mut self, number: u32, tsn: Serial32, message: Message) {
        let complete = Complete { message, number, tsn, since: self.now };
        let message = &complete.message;
        if message.unordered {
            return self.deliver(complete);
        }
        let wide = self.interleaved.is_some();
        let id = message.stream;
        let stream = self.stream(id);
        match ahead(stream.next, number, wide) {
            Some(0) => {
                stream.next += 1;
                let waits = !stream.waiting.is_empty();
                self.deliver(complete);
                if waits {
                    self.take_turns(id);
                }
            }
            Some(ahead) if !stream.waiting.contains_key(&(stream.next + ahead)) => {
                stream.waiting.insert(stream.next + ahead, complete);
            }
            // Numbers behind the expected one never come to their turn; so
            // does a number that is there twice.
            _ => {
                self.octets -= message.payload.len() as u64;
                self.pieces -= 1;
            }
        }
    }

    /// Delivers what has waited for its turn.
    fn take_turns(&mut self, id: u16) {
        loop {
            let stream = &mut self.streams[id as usize];
            let Some(complete) = stream.waiting.remove(&stream.next) else { return };
            stream.next += 1;
            self.deliver(complete);
        }
    }

    fn deliver(&mut self, Complete { message, number, tsn, since }: Complete) {
        self.delivered += message.payload.len() as u64;
        let waited = self.now.saturating_since(since);
        self.ready.push_back(Received { message, number, tsn, waited });
    }

    /// Messages for the user.
    pub fn ready(&self) -> &VecDeque<Received> {
        &self.ready
    }

    /// The next message.
    pub fn receive(&mut self) -> Option<Received> {
        let mut received = self.ready.pop_front()?;
        let message = &mut received.message;
        if self.taken > 0 {
            let len = message.payload.len() - self.taken;
            message.payload = match message.payload.octets() {
                Some(octets) => Payload::of_octets(&octets[self.taken as usize..]),
                None => Payload::virtual_of(len),
            };
            self.taken = 0;
        }
        self.octets -= message.payload.len() as u64;
        self.pieces -= 1;
        Some(received)
    }

    /// Takes up to `max` octets of the messages in order; `put` gets them.
    pub fn read(&mut self, max: u64, mut put: impl FnMut(&Payload, usize, usize)) -> u64 {
        let mut read = 0;
        while read < max
            && let Some(Received { message, .. }) = self.ready.front()
        {
            let left = message.payload.len() - self.taken;
            let take = (max - read).min(left as u64) as u32;
            put(&message.payload, self.taken as usize, take as usize);
            read += take as u64;
            self.octets -= take as u64;
            if take == left {
                self.ready.pop_front();
                self.taken = 0;
                self.pieces -= 1;
            } else {
                self.taken += take;
            }
        }
        read
    }
}

/// How far ahead of the next message a number is, which has 16 bits or, if
/// `wide`, 32; `None` for one behind.
fn ahead(next: u64, number: u32, wide: bool) -> Option<u64> {
    if wide {
        let ahead = number.wrapping_sub(next as u32);
        return (ahead < 1 << 31).then_some(ahead as u64);
    }
    let ahead = (number as u16).wrapping_sub(next as u16);
    (ahead < 1 << 15).then_some(ahead as u64)
}

impl Run {
    fn append(&mut self, after: Run) -> Result<(), Violation> {
        let same =
            (self.stream, self.ssn, self.unordered) == (after.stream, after.ssn, after.unordered);
        // The sequence number of unordered fragments means nothing.
        let same = same || (self.unordered && after.unordered && self.stream == after.stream);
        if !same {
            return Err(Violation("fragments of different messages in a row"));
        }
        if self.parts.len() >= after.parts.len() {
            self.parts.extend(after.parts);
        } else {
            let mut parts = after.parts;
            while let Some(part) = self.parts.pop_back() {
                parts.push_front(part);
            }
            self.parts = parts;
        }
        self.end = after.end;
        self.ends = after.ends;
        self.len += after.len;
        Ok(())
    }

    fn finish(self) -> (u16, Message) {
        let payload = Payload::join(self.parts.iter());
        let (stream, unordered, ppid) = (self.stream, self.unordered, self.ppid);
        (self.ssn, Message { stream, unordered, ppid, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Serial32;

    fn data(flags: u8, stream: u16, ssn: u16, octets: &[u8]) -> DataChunk {
        let (flags, tsn, payload) = (DataFlags(flags), Serial32(0), Payload::of_octets(octets));
        DataChunk { flags, tsn, stream, ssn, ppid: 0, payload }
    }

    fn all(r: &mut Reassembly) -> Vec<(u16, Vec<u8>)> {
        std::iter::from_fn(|| r.receive())
            .map(|r| (r.message.stream, r.message.payload.octets().unwrap().to_vec()))
            .collect()
    }

    /// Head-of-line blocking: from when a message is complete to its turn.
    #[test]
    fn how_long_a_message_has_waited_is_known() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut r = Reassembly::default();
        let mut insert = |ms, offset, chunk| {
            r.set_now(at(ms));
            r.insert(offset, &chunk).unwrap();
        };
        insert(10, 2, data(3, 0, 2, b"third"));
        insert(20, 3, data(2, 0, 1, b"sec"));
        insert(25, 5, data(3, 1, 0, b"other"));
        insert(30, 4, data(1, 0, 1, b"ond"));
        insert(90, 1, data(3, 0, 0, b"first"));
        let waited =
            std::iter::from_fn(|| r.receive()).map(|Received { message, waited, .. }| {
                let octets = message.payload.octets().unwrap().to_vec();
                (String::from_utf8(octets).unwrap(), waited.as_millis())
            });
        let expected = [("other", 0), ("first", 0), ("second", 60), ("third", 80)];
        assert_eq!(waited.collect::<Vec<_>>(), expected.map(|(text, ms)| (text.to_owned(), ms)));
    }

    #[test]
    fn a_message_has_its_number_and_the_tsn_of_its_first_chunk() {
        let mut r = Reassembly::default();
        let at = |tsn, chunk: DataChunk| DataChunk { tsn: Serial32(tsn), ..chunk };
        r.insert(3, &at(13, data(3, 0, 1, b"later"))).unwrap();
        r.insert(2, &at(12, data(1, 0, 0, b"rst"))).unwrap();
        r.insert(1, &at(11, data(2, 0, 0, b"fi"))).unwrap();
        let facts = |it: Received| (it.number, it.tsn.0, it.message.payload.len());
        let all: Vec<_> = std::iter::from_fn(|| r.receive()).map(facts).collect();
        assert_eq!(all, [(0, 11, 5), (1, 13, 5)]);
    }

    #[test]
    fn a_stream_waits_and_another_does_not() {
        let mut r = Reassembly::default();
        r.insert(1, &data(3, 0, 1, b"second")).unwrap();
        r.insert(2, &data(3, 1, 0, b"other")).unwrap();
        r.insert(3, &data(7, 0, 0, b"unordered")).unwrap();
        assert_eq!(all(&mut r), [(1, b"other".to_vec()), (0, b"unordered".to_vec())]);
        r.insert(0, &data(3, 0, 0, b"first")).unwrap();
        assert_eq!(all(&mut r), [(0, b"first".to_vec()), (0, b"second".to_vec())]);
        assert_eq!((r.octets(), r.memory()), (0, 0));
    }

    #[test]
    fn fragments_join_in_any_order() {
        let parts = [(0_u64, 2_u8, b"ab"), (1, 0, b"cd"), (2, 0, b"ef"), (3, 1, b"gh")];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let mut r = Reassembly::default();
            for i in order {
                let (offset, flags, octets) = parts[i];
                assert!(!r.is_ready());
                r.insert(offset, &data(flags, 4, 0, octets)).unwrap();
            }
            assert_eq!(all(&mut r), [(4, b"abcdefgh".to_vec())], "{order:?}");
            assert_eq!(r.memory(), 0);
        }
    }

    #[test]
    fn fragments_that_contradict_each_other_are_a_violation() {
        for (first, second) in [
            (data(2, 0, 0, b"a"), data(3, 0, 1, b"b")), // a whole message inside
            (data(2, 0, 0, b"a"), data(2, 0, 1, b"b")), // a beginning inside
            (data(2, 0, 0, b"a"), data(1, 1, 0, b"b")), // the end of another stream
            (data(2, 0, 0, b"a"), data(1, 0, 1, b"b")), // the end of another message
        ] {
            let mut r = Reassembly::default();
            r.insert(0, &first).unwrap();
            assert!(r.insert(1, &second).is_err(), "{first:?} {second:?}");
            // What has been delivered whole cannot be held against it later.
            if !second.flags.contains(DataFlags::WHOLE) {
                let mut r = Reassembly::default();
                r.insert(1, &second).unwrap();
                assert!(r.insert(0, &first).is_err(), "{second:?} {first:?}");
            }
        }
    }

    #[test]
    fn sequence_numbers_wrap() {
        let mut r = Reassembly::default();
        for n in 0..70_000_u64 {
            r.insert(n, &data(3, 0, n as u16, b"x")).unwrap();
            assert!(r.receive().is_some(), "{n}");
        }
        // A number behind its turn holds no memory.
        r.insert(70_000, &data(3, 0, 0, b"x")).unwrap();
        assert_eq!(r.memory(), 0);
    }

    #[test]
    fn octets_are_read_across_messages() {
        let mut r = Reassembly::default();
        r.insert(0, &data(3, 0, 0, b"abc")).unwrap();
        r.insert(1, &data(3, 0, 1, b"defg")).unwrap();
        let mut read = Vec::new();
        let n = r.read(5, |p, at, n| read.extend_from_slice(&p.octets().unwrap()[at..at + n]));
        assert_eq!((n, read.as_slice(), r.octets()), (5, b"abcde".as_slice(), 2));
        assert_eq!(all(&mut r), [(0, b"fg".to_vec())]);
        assert_eq!(r.memory(), 0);
    }
}
