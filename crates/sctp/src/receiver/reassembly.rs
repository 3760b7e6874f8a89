//! Messages are made of DATA chunks here (RFC 9260 §6.5, §6.6, §6.9): fragments are joined, and
//! ordered messages wait for their predecessors in the stream. I-DATA chunks join in
//! [`Interleaved`] and wait in the same queues. A message that the buffer cannot hold is delivered
//! in parts, see [`delivery`].

mod delivery;
mod interleaved;

use crate::message::Message;
use crate::numbers::SSN_SPAN;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::Payload;
use anabranch_wire::sctp::{DataChunk, DataFlags, IDataChunk};
use interleaved::{Forgotten, Interleaved, Progress};
use std::collections::{BTreeMap, VecDeque};

/// A chunk counts this many octets beside its own, in the bound of memory.
pub(crate) const OVERHEAD: u64 = 64;

/// A `Violation` says how fragments contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Violation(pub &'static str);

/// A `Received` is a message that has arrived, or a part of one, with what the wire said about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// `message` is the message, or the part of it.
    pub message: Message,
    /// `number` is the stream sequence number, or with interleaving the message identifier.
    pub number: u32,
    /// `tsn` is the TSN of the message's first chunk.
    pub tsn: Serial32,
    /// `waited` is how long the message was complete and waited for earlier ones of its stream.
    pub waited: Span,
    /// `part` says whether it is the whole message, or which part of it.
    pub part: Part,
}

/// A `Part` says which part of a message has been delivered (RFC 6458 §8.1.21).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// It is the whole message.
    Whole,
    /// It is the beginning; more follows.
    First,
    /// It lies between the beginning and the rest.
    Middle,
    /// It is the rest.
    Last,
    /// The rest is not coming, because the peer gave the message up, or started its streams anew.
    /// There are no octets.
    Aborted,
}

impl Part {
    /// Returns whether the message ends with this part.
    pub fn is_last(self) -> bool {
        matches!(self, Part::Whole | Part::Last)
    }
}

/// A `Run` has fragments whose TSNs follow each other, and which are of one message.
#[derive(Debug)]
struct Run {
    /// `tsn` is the TSN of the first.
    tsn: Serial32,
    /// `end` is the offset after the last.
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
    /// `next` is the number of the next message, counted without wrapping.
    next: u64,
    waiting: BTreeMap<u64, Complete>,
}

/// A `Complete` is a message that is complete.
#[derive(Debug)]
struct Complete {
    message: Message,
    number: u32,
    /// `tsn` is the TSN of its first chunk.
    tsn: Serial32,
    /// `since` is the date at which it became complete.
    since: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// `runs` has the runs by the offsets of their first TSNs.
    runs: BTreeMap<u64, Run>,
    /// `interleaved` has the fragments of I-DATA, where that was agreed on.
    interleaved: Option<Box<Interleaved>>,
    streams: Vec<Stream>,
    /// `ready` has the messages and parts that the user may read, in order.
    ready: VecDeque<Received>,
    /// `taken` is how many octets of the first message in `ready` were read as a byte stream.
    taken: u32,
    /// `octets` counts the octets that have arrived and were not read.
    octets: u64,
    /// `pieces` counts the chunks and messages that hold memory.
    pieces: u64,
    /// `delivered` counts all octets that were handed over to `ready`.
    delivered: u64,
    /// `now` is the date at which the packet at hand came.
    now: Time,
    /// `limits` say when messages are delivered in parts.
    limits: delivery::Limits,
    /// `open` is the message of DATA chunks that is being delivered in parts, if there is one.
    open: Option<Box<delivery::Open>>,
}

impl Reassembly {
    /// Sets the date of a packet that has come, before what it carries is inserted.
    pub fn set_now(&mut self, now: Time) {
        self.now = now;
    }
    /// Returns how many octets have arrived and were not read.
    pub fn octets(&self) -> u64 {
        self.octets
    }
    /// Returns how many octets of memory count: those that have arrived, and [`OVERHEAD`] for each
    /// piece.
    pub fn memory(&self) -> u64 {
        self.octets + OVERHEAD * self.pieces
    }
    /// Returns how many octets were delivered to the user's queue in total.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Starts all streams anew, as the peer has restarted: only the messages that the user may read
    /// stay.
    pub fn restart(&mut self) {
        self.abort_open();
        let (ready, taken) = (std::mem::take(&mut self.ready), self.taken);
        let all = ready.iter().map(|it| it.message.payload.len() as u64).sum::<u64>();
        let octets = all - taken as u64;
        let (pieces, delivered) = (ready.len() as u64, self.delivered);
        let open = self.interleaved.as_mut().map_or(Vec::new(), |it| it.take_open());
        let limits = self.limits;
        let fresh = Reassembly::default();
        *self = Reassembly { ready, taken, octets, pieces, delivered, limits, ..fresh };
        open.into_iter().for_each(|key| self.abort_part(key));
    }

    /// Says whether chunks are I-DATA, from the first on; else they are DATA.
    pub fn set_interleaving(&mut self, on: bool) {
        self.interleaved = on.then(Box::default);
    }

    /// Inserts a new chunk of I-DATA; its stream is valid and its payload not empty.
    pub fn insert_interleaved(&mut self, data: &IDataChunk) -> Result<(), Violation> {
        self.octets += data.payload.len() as u64;
        self.pieces += 1;
        if data.flags.contains(DataFlags::WHOLE) {
            let unordered = data.flags.contains(DataFlags::UNORDERED);
            let (stream, ppid, payload) = (data.stream, data.ppid_or_fsn, data.payload.clone());
            let message = Message { unordered, ppid, ..Message::new(stream, payload) };
            return self.order(data.mid, data.tsn, message);
        } else if let Some(fragments) = &mut self.interleaved {
            match fragments.insert(data)? {
                Progress::Nothing => self.relieve(),
                Progress::Whole(whole) => {
                    self.pieces -= whole.pieces - 1;
                    return self.order(whole.mid, whole.tsn, whole.message);
                }
                Progress::Piece(piece) => self.deliver_piece(piece),
            }
        }
        Ok(())
    }

    /// Forgets the fragments whose message can not be completed, as TSNs up to `last` are not
    /// coming and all before `next` are known (RFC 3758 §3.6).
    pub fn skip_to(&mut self, last: u64, next: u64) {
        if self.open.as_ref().is_some_and(|open| open.next <= last) {
            self.abort_open();
        }
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

    /// Notes that messages of the stream up to `number` are not coming: what waited for them is
    /// delivered.
    pub fn skip(&mut self, id: u16, unordered: bool, number: u32) {
        if let Some(fragments) = &mut self.interleaved {
            let gone = fragments.skip(id, unordered, number);
            let open = fragments.take_aborted();
            self.forget(gone);
            open.into_iter().for_each(|key| self.abort_part(key));
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

    /// Forgets the incomplete runs that `which` names.
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

    /// Starts a stream anew: the peer's next message there has the number 0 (RFC 6525 §5.2.2).
    pub fn reset_stream(&mut self, id: u16) {
        if let Some(fragments) = &mut self.interleaved {
            let gone = fragments.reset(id);
            let open = fragments.take_aborted();
            self.forget(gone);
            open.into_iter().for_each(|key| self.abort_part(key));
        }
        if self.open.as_ref().is_some_and(|open| open.stream == id) {
            self.abort_open();
        }
        let Some(stream) = self.streams.get_mut(id as usize) else { return };
        let waiting = std::mem::take(stream).waiting;
        for complete in waiting.into_values() {
            self.octets -= complete.message.payload.len() as u64;
            self.pieces -= 1;
        }
    }

    /// Starts all streams anew: complete messages are delivered, fragments below `end` are
    /// forgotten (RFC 6525 §5.2.4).
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

    /// Inserts a new chunk; its stream is valid and its payload not empty. If it is the one that
    /// was due (`in_order`), it must go with the fragment before it. Out of order, fragments that
    /// contradict each other stay apart, for their messages not to be completed.
    pub fn insert(
        &mut self,
        offset: u64,
        data: &DataChunk,
        in_order: bool,
    ) -> Result<(), Violation> {
        let unordered = data.flags.contains(DataFlags::UNORDERED);
        let len = data.payload.len() as u64;
        self.octets += len;
        self.pieces += 1;
        if self.open.as_ref().is_some_and(|open| open.next == offset) {
            return self.go_on(data);
        }
        if data.flags.contains(DataFlags::WHOLE) {
            self.fits(offset, in_order)?;
            let (stream, ppid, payload) = (data.stream, data.ppid, data.payload.clone());
            let message = Message { unordered, ppid, ..Message::new(stream, payload) };
            return self.order(data.ssn as u32, data.tsn, message);
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
        self.join(offset, run, in_order)
    }

    /// Returns an error if the chunk is due (`in_order`) and the fragment right before `offset`
    /// waits for another of its message.
    fn fits(&self, offset: u64, in_order: bool) -> Result<(), Violation> {
        let before = self.runs.range(..offset).next_back().map(|(_, run)| run);
        match before.is_some_and(|run| run.end == offset && !run.ends) && in_order {
            true => Err(Violation("a message inside another")),
            false => Ok(()),
        }
    }

    fn join(&mut self, offset: u64, mut run: Run, in_order: bool) -> Result<(), Violation> {
        let mut start = offset;
        let before = self.runs.range(..offset).next_back().map(|(start, run)| (*start, run));
        if let Some((at, before)) = before.filter(|(_, before)| before.end == offset) {
            if before.is_continued_by(&run) {
                let mut whole = self.runs.remove(&at).expect("just seen");
                whole.append(run);
                (start, run) = (at, whole);
            } else if in_order && !(before.ends && run.begins) {
                return Err(Violation("fragments that do not follow each other"));
            }
        }
        if self.runs.get(&run.end).is_some_and(|after| run.is_continued_by(after)) {
            let after = self.runs.remove(&run.end).expect("just seen");
            run.append(after);
        }
        if run.begins && run.ends {
            self.pieces -= run.parts.len() as u64 - 1;
            let tsn = run.tsn;
            let (ssn, message) = run.finish();
            return self.order(ssn as u32, tsn, message);
        }
        self.runs.insert(start, run);
        self.relieve();
        Ok(())
    }

    /// Returns whether the number of an ordered message whose TSN is far ahead would not tell its
    /// place in the stream: with `missing` TSNs before it, 2^15 messages or more may stand between
    /// it and the next one that is due (RFC 1982 §3.2). Messages of I-DATA have numbers of 32 bits.
    #[cold]
    pub fn is_ambiguous(&self, id: u16, missing: u64) -> bool {
        if self.interleaved.is_some() {
            return false;
        }
        let waiting = self.streams.get(id as usize).map_or(0, |stream| stream.waiting.len());
        missing + (waiting + self.runs.len()) as u64 >= SSN_SPAN
    }

    /// Delivers a complete message, or keeps it until its turn. One whose number was used before is
    /// a violation: it would never have its turn, and its octets would be lost although their TSN
    /// is acknowledged.
    fn order(&mut self, number: u32, tsn: Serial32, message: Message) -> Result<(), Violation> {
        let complete = Complete { message, number, tsn, since: self.now };
        let message = &complete.message;
        if message.unordered {
            self.deliver(complete);
            return Ok(());
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
            _ => {
                self.octets -= message.payload.len() as u64;
                self.pieces -= 1;
                return Err(Violation("two messages with one number in a stream"));
            }
        }
        Ok(())
    }

    /// Delivers the messages that have waited for their turn.
    fn take_turns(&mut self, id: u16) {
        loop {
            let stream = &mut self.streams[id as usize];
            let Some(complete) = stream.waiting.remove(&stream.next) else { return };
            stream.next += 1;
            self.deliver(complete);
        }
    }

    fn deliver(&mut self, Complete { message, number, tsn, since }: Complete) {
        let waited = self.now.saturating_since(since);
        let received = Received { message, number, tsn, waited, part: Part::Whole };
        match &mut self.open {
            // Nothing comes between the parts of another message.
            Some(open) => open.held.push_back(received),
            None => self.hand_over(received),
        }
    }

    fn hand_over(&mut self, received: Received) {
        self.delivered += received.message.payload.len() as u64;
        self.ready.push_back(received);
    }

    /// Returns the messages and parts that the user may read, the next one first.
    pub fn ready(&self) -> &VecDeque<Received> {
        &self.ready
    }

    /// Takes the next message or part.
    pub fn receive(&mut self) -> Option<Received> {
        let mut received = self.ready.pop_front()?;
        let message = &mut received.message;
        if self.taken > 0 {
            let len = message.payload.len() - self.taken;
            message.payload = message.payload.part(self.taken, len);
            self.taken = 0;
        }
        self.octets -= message.payload.len() as u64;
        self.pieces -= 1;
        if self.ready.is_empty() {
            self.relieve();
        }
        Some(received)
    }

    /// Takes up to `max` octets of the messages in order, which `put` gets. Returns how many it
    /// took.
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
                if self.ready.is_empty() {
                    self.relieve();
                }
            } else {
                self.taken += take;
            }
        }
        read
    }
}

/// Returns how far ahead of the next message a number is, which has 16 bits or, if `wide`, 32;
/// `None` for one behind.
fn ahead(next: u64, number: u32, wide: bool) -> Option<u64> {
    if wide {
        let ahead = number.wrapping_sub(next as u32);
        return (ahead < 1 << 31).then_some(ahead as u64);
    }
    let ahead = (number as u16).wrapping_sub(next as u16);
    (ahead < 1 << 15).then_some(ahead as u64)
}

impl Run {
    /// Returns whether `after` continues the message of this run.
    fn is_continued_by(&self, after: &Run) -> bool {
        // The sequence number of unordered fragments means nothing.
        let same = (self.stream, self.unordered) == (after.stream, after.unordered)
            && (self.unordered || self.ssn == after.ssn);
        same && !self.ends && !after.begins
    }

    fn append(&mut self, after: Run) {
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
    }

    fn finish(self) -> (u16, Message) {
        let payload = Payload::join(self.parts.iter());
        let (stream, unordered, ppid) = (self.stream, self.unordered, self.ppid);
        (self.ssn, Message { unordered, ppid, ..Message::new(stream, payload) })
    }
}

#[cfg(test)]
mod tests;
