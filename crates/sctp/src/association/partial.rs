//! Messages that are given up (RFC 3758, RFC 7496): when the sender stops
//! sending them again, and FORWARD-TSN, by which the receiver stops waiting. With
//! message interleaving it is I-FORWARD-TSN (RFC 8260 §2.3).
//!
//! A message is given up when one of its chunks would be sent again, or its first
//! sent, and its [`Reliability`] says no; all its chunks go together. If its end
//! was not sent, the end takes a TSN that is never sent, so that the receiver can
//! be told even when all that was sent has arrived.

use super::Association;
use super::renumber::FAR;
use crate::extensions::Extensions;
use crate::flight::Status;
use crate::outgoing::{Dropped, Fragment};
use crate::reliability::{Abandoned, Reliability};
use anabranch_units::Time;
use anabranch_wire::Payload;
use anabranch_wire::sctp::{Chunk, DataFlags, ForwardTsn, IForwardTsn, SkippedMessage};

/// What exists once a message was given up.
#[derive(Debug, Default)]
pub(super) struct Partial {
    /// A SACK came, or T3-rtx expired: the peer is told again.
    due: bool,
    /// The peer was told up to this offset.
    told: u64,
    pub abandoned: Abandoned,
}

impl Association {
    /// Gives up what is lost and not worth sending again, and what is late before
    /// it leaves, and tells the peer (RFC 3758 §3.5).
    pub(super) fn give_up(&mut self, now: Time) {
        if !self.extensions.has(Extensions::PARTIAL) {
            return;
        }
        let (mut from, mut any) = (0, false);
        while let Some((index, _)) = self.flight.next_lost(from) {
            let chunk = &self.flight.chunks[index];
            if chunk.limit.is_over(now, chunk.resends) {
                self.abandon(index);
                any = true;
            }
            from = index + 1;
        }
        self.drop_expired(now);
        if any {
            self.tell_of_room();
        }
    }

    /// Gives up the messages at the head of the queue whose date has passed.
    fn drop_expired(&mut self, now: Time) {
        let mut any = false;
        while let Some(dropped) = self.outgoing.drop_expired(now) {
            any = true;
            self.on_dropped(dropped);
        }
        self.tell(now);
        if any {
            self.tell_of_room();
            self.after_progress(now); // perhaps it was all that was left
        }
    }

    fn abandon(&mut self, index: usize) {
        if self.config.keep_undelivered {
            let fragment = self.flight.chunks[index].fragment.clone();
            self.keep_abandoned(&fragment);
        }
        let unfinished = self.flight.abandon(index, &mut self.paths);
        let dropped = unfinished.and_then(|fragment| self.outgoing.drop_begun(&fragment));
        match dropped {
            Some(dropped) => self.on_dropped(dropped),
            None => self.partial().abandoned.sent += 1,
        }
    }

    /// The rest of a message was dropped: so is what was sent of it.
    fn on_dropped(&mut self, dropped: Dropped) {
        let Dropped::Begun { stream, number, unordered } = dropped else {
            self.partial().abandoned.unsent += 1;
            return;
        };
        self.partial().abandoned.sent += 1;
        let mut flags = DataFlags::END;
        if unordered {
            flags = flags.union(DataFlags::UNORDERED);
        }
        let end = Fragment { flags, stream, number, ppid_or_fsn: 0, payload: Payload::EMPTY };
        self.flight.abandon_begun(&end, &mut self.paths);
        self.flight.push_abandoned(end, self.primary as u8);
    }

    fn partial(&mut self) -> &mut Partial {
        self.partial.get_or_insert_default()
    }

    /// FORWARD-TSN if the peer waits for something that is not coming (§3.5 C).
    fn tell(&mut self, now: Time) {
        let una = self.flight.una;
        let Some(partial) = &mut self.partial else { return };
        let due = std::mem::take(&mut partial.due);
        // §3.5 C4: what the list has no room for is skipped later.
        let most = (self.max_chunk as usize - 8) / 8;
        let mut streams: Vec<SkippedMessage> = Vec::new();
        let mut end = una;
        for fragment in self.flight.skipped() {
            let (stream, unordered) = (fragment.stream, fragment.is_unordered());
            let listed = self.flight.is_interleaving() || !unordered;
            let same = |s: &SkippedMessage| (s.stream, s.unordered) == (stream, unordered);
            match streams.iter().position(same) {
                Some(at) => streams[at].mid = fragment.number,
                None if !listed => {}
                None if streams.len() == most => break,
                None => streams.push(SkippedMessage { stream, unordered, mid: fragment.number }),
            }
            end += 1;
        }
        if end == una || (end <= partial.told && !due) {
            return;
        }
        partial.told = end;
        let cum_tsn = self.local_origin.at(end - 1);
        let chunk = match self.flight.is_interleaving() {
            true => Chunk::IForwardTsn(IForwardTsn { cum_tsn, skipped: streams }),
            false => {
                let skipped = streams.iter().map(|s| (s.stream, s.mid as u16)).collect();
                Chunk::ForwardTsn(ForwardTsn { cum_tsn, skipped })
            }
        };
        self.control.retain(|c| !matches!(c, Chunk::ForwardTsn(_) | Chunk::IForwardTsn(_)));
        self.control.push(chunk);
        // §3.5 C5: a timer guards it.
        let path = self.data_path();
        if self.paths.iter().all(|path| !path.t3.is_armed()) {
            let path = &mut self.paths[path];
            path.t3.set(now + path.rtt.rto());
        }
    }

    /// A SACK came, or T3-rtx expired: what is still skipped is told again.
    pub(super) fn tell_again(&mut self, now: Time) {
        if let Some(partial) = &mut self.partial {
            partial.due = true;
            self.tell(now);
        }
    }

    /// FORWARD-TSN or I-FORWARD-TSN arrived (§3.6); false when it is not to be
    /// acknowledged.
    pub(super) fn on_forward_tsn(&mut self, forward: &ForwardTsn) -> bool {
        let skipped = forward.skipped.iter().map(|(stream, ssn)| SkippedMessage {
            stream: *stream,
            unordered: false,
            mid: *ssn as u32,
        });
        self.on_skip(false, forward.cum_tsn, skipped)
    }

    pub(super) fn on_interleaved_forward_tsn(&mut self, forward: &IForwardTsn) -> bool {
        self.on_skip(true, forward.cum_tsn, forward.skipped.iter().copied())
    }

    fn on_skip(
        &mut self,
        interleaved: bool,
        cum: anabranch_units::Serial32,
        skipped: impl Iterator<Item = SkippedMessage>,
    ) -> bool {
        if !self.state.may_receive() || !self.extensions.has(Extensions::PARTIAL) {
            return false;
        }
        if interleaved != self.extensions.has(Extensions::INTERLEAVING) {
            self.on_violation(b"FORWARD-TSN of the wrong kind"); // RFC 8260 §2.3.1
            return false;
        }
        let Some(last) = cum.expand(self.peer_origin, self.map.next) else { return false };
        if last > self.map.next + FAR {
            return false; // late, from before the numbers changed
        }
        if last < self.map.next {
            return true; // out of date: acknowledged, since the last SACK may be lost
        }
        self.map.skip_to(last + 1);
        self.reassembly.skip_to(last, self.map.next);
        for message in skipped {
            if message.stream < self.inbound {
                self.reassembly.skip(message.stream, message.unordered, message.mid);
            }
        }
        self.pending.readable |= self.reassembly.is_ready();
        true
    }

    /// The send buffer is full: messages of lower priority make room for `len`
    /// octets, unsent ones first (RFC 7496 §4.2). False when they do not.
    pub(super) fn make_room(&mut self, len: u64, limit: Reliability) -> bool {
        let Reliability::Priority(priority) = limit else { return false };
        if !self.extensions.has(Extensions::PARTIAL) {
            return false;
        }
        let yields = |chunk: &crate::flight::Sent| {
            chunk.status == Status::InFlight && chunk.limit.yields_to(priority).is_some()
        };
        let sent: u64 =
            self.flight.chunks.iter().filter(|chunk| yields(chunk)).map(|c| c.len()).sum();
        let yielding = sent + self.outgoing.yielding(priority);
        if self.held() + len > self.config.send_buffer + yielding {
            return false;
        }
        while self.held() + len > self.config.send_buffer {
            if self.outgoing.yield_one(priority) {
                self.partial().abandoned.unsent += 1;
                continue;
            }
            let chunks = self.flight.chunks.iter().enumerate();
            let least = chunks
                .filter(|(_, chunk)| yields(chunk))
                .filter_map(|(index, chunk)| Some((chunk.limit.yields_to(priority)?, index)))
                .max();
            let Some((_, index)) = least else { return false };
            self.abandon(index);
        }
        true
    }
}
