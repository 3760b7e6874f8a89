//! In partial delivery (RFC 9260 §6.9, RFC 6458 §8.1.21) a message that the receive buffer cannot
//! hold is handed over in parts, so that the buffer drains.
//!
//! It begins when a message whose turn it is has as many octets in a row as the
//! partial delivery point, or when half of the buffer is taken and nothing can be
//! read. Parts of a message of DATA chunks follow each other, as one sender sends
//! them: other messages wait until it ends (fragment interleave level 0 of RFC 6458
//! §8.1.20). Messages of I-DATA may alternate, each in order.

use super::interleaved::{Key, Piece};
use super::{Part, Reassembly, Received, Run, Violation};
use crate::message::Message;
use anabranch_units::{Serial32, Span};
use anabranch_wire::Payload;
use anabranch_wire::sctp::{DataChunk, DataFlags};
use std::collections::VecDeque;

/// `Limits` say when messages are delivered in parts, in octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// `point` is the partial delivery point: a message with this many octets in a row is delivered
    /// in parts.
    point: u64,
    /// `pressure` is how many octets are held, while none can be read, before a message is
    /// delivered in parts.
    pressure: u64,
}

impl Default for Limits {
    /// The default delivers no message in parts.
    fn default() -> Limits {
        Limits { point: u64::MAX, pressure: u64::MAX }
    }
}

/// An `Open` is a message of DATA chunks that is being delivered in parts.
#[derive(Debug)]
pub(super) struct Open {
    /// `next` is the offset of its next chunk.
    pub next: u64,
    pub stream: u16,
    number: u32,
    unordered: bool,
    ppid: u32,
    tsn: Serial32,
    /// `held` has the messages that are complete and wait for the end of this one.
    pub held: VecDeque<Received>,
}

impl Open {
    fn part(&self, payload: Payload, part: Part) -> Received {
        let Open { stream, unordered, ppid, number, tsn, .. } = *self;
        let message = Message { unordered, ppid, ..Message::new(stream, payload) };
        Received { message, number, tsn, waited: Span::ZERO, part }
    }

    /// Returns an error unless a chunk with these fields may be its next.
    fn takes(&self, begins: bool, stream: u16, ssn: u16, unordered: bool) -> Result<(), Violation> {
        let same = (stream, unordered) == (self.stream, self.unordered);
        // The sequence number of unordered fragments means nothing.
        match same && !begins && (unordered || ssn as u32 == self.number) {
            true => Ok(()),
            false => Err(Violation("fragments that do not follow each other")),
        }
    }
}

impl Reassembly {
    /// Sets from how many octets on a message is delivered in parts (`point`), and the size of the
    /// receive buffer: when half of it is taken and nothing can be read, a message is delivered in
    /// parts, too.
    pub fn set_limits(&mut self, point: Option<u32>, buffer: u32) {
        let point = point.map_or(u64::MAX, |point| point.max(1) as u64);
        self.limits = Limits { point, pressure: buffer as u64 / 2 };
    }

    /// Begins to deliver a message in parts, if it is time.
    pub fn relieve(&mut self) {
        let pressed = self.ready.is_empty() && self.octets >= self.limits.pressure;
        if !pressed && self.limits.point == u64::MAX {
            return;
        }
        let least = if pressed { 1 } else { self.limits.point };
        let streams = &self.streams;
        let next = |stream: u16| streams.get(stream as usize).map_or(0, |stream| stream.next);
        if let Some(fragments) = &mut self.interleaved {
            let in_turn = |key: &Key| key.1 || key.2 == next(key.0) as u32;
            if let Some(piece) = fragments.open(least, in_turn) {
                self.deliver_piece(piece);
            }
        } else if self.open.is_none() {
            let in_turn = |run: &Run| run.unordered || run.ssn == next(run.stream) as u16;
            let fits = |run: &Run| run.begins && run.len >= least && in_turn(run);
            if let Some(start) = self.runs.iter().find(|(_, run)| fits(run)).map(|it| *it.0) {
                self.open(start);
            }
        }
    }

    /// Hands over the run at `start`, which is the beginning of a message.
    fn open(&mut self, start: u64) {
        let Some(run) = self.runs.remove(&start) else { return };
        let open = Open {
            next: run.end,
            stream: run.stream,
            number: run.ssn as u32,
            unordered: run.unordered,
            ppid: run.ppid,
            tsn: run.tsn,
            held: VecDeque::new(),
        };
        self.pieces -= run.parts.len() as u64 - 1;
        let first = open.part(Payload::join(run.parts.iter()), Part::First);
        self.hand_over(first);
        self.open = Some(Box::new(open));
    }

    /// Hands over the next chunk of the message that is being delivered.
    pub(super) fn go_on(&mut self, data: &DataChunk) -> Result<(), Violation> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let unordered = data.flags.contains(DataFlags::UNORDERED);
        open.takes(data.flags.contains(DataFlags::BEGIN), data.stream, data.ssn, unordered)?;
        open.next += 1;
        let mut payload = data.payload.clone();
        let mut ends = data.flags.contains(DataFlags::END);
        if self.runs.get(&open.next).is_some_and(|run| ends != run.begins) {
            return Err(Violation("fragments that do not follow each other"));
        }
        if !ends && let Some(run) = self.runs.remove(&open.next) {
            open.takes(run.begins, run.stream, run.ssn, run.unordered)?;
            (open.next, ends) = (run.end, run.ends);
            payload = Payload::join(std::iter::once(&payload).chain(&run.parts));
            self.pieces -= run.parts.len() as u64;
        }
        let part = open.part(payload, if ends { Part::Last } else { Part::Middle });
        self.hand_over(part);
        if ends {
            self.close();
        }
        Ok(())
    }

    /// Ends the message that was delivered in parts: what has waited for that is handed over.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if !open.unordered {
            self.stream(open.stream).next += 1;
        }
        open.held.into_iter().for_each(|received| self.hand_over(received));
        if !open.unordered {
            self.take_turns(open.stream);
        }
        self.relieve();
    }

    /// Aborts the message that is being delivered, whose rest is not coming.
    pub(super) fn abort_open(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.pieces += 1;
        let end = open.part(Payload::EMPTY, Part::Aborted);
        self.hand_over(end);
        open.held.into_iter().for_each(|received| self.hand_over(received));
    }

    /// Hands over a part of a message of I-DATA.
    pub(super) fn deliver_piece(&mut self, piece: Piece) {
        let Piece { key, payload, ppid, tsn, pieces, first, ends } = piece;
        self.pieces -= pieces - 1;
        let part = match (first, ends) {
            (_, true) => Part::Last,
            (true, false) => Part::First,
            (false, false) => Part::Middle,
        };
        let message = Message { unordered: key.1, ppid, ..Message::new(key.0, payload) };
        self.hand_over(Received { message, number: key.2, tsn, waited: Span::ZERO, part });
        if ends && !key.1 {
            self.stream(key.0).next += 1;
            self.take_turns(key.0);
        }
    }

    /// Aborts a message of I-DATA that is being delivered, whose rest is not coming.
    pub(super) fn abort_part(&mut self, key: Key) {
        self.pieces += 1;
        let message = Message { unordered: key.1, ..Message::new(key.0, Payload::EMPTY) };
        let (tsn, waited, part) = (Serial32(0), Span::ZERO, Part::Aborted);
        self.hand_over(Received { message, number: key.2, tsn, waited, part });
    }
}
