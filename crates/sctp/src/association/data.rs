//! Receiving DATA and when to acknowledge it (RFC 9260 §6.2).

use super::{Association, Due};
use crate::config::Concurrent;
use crate::extensions::Extensions;
use crate::reassembly::{OVERHEAD, SSN_SPAN, Violation};
use crate::state::State;
use crate::tsn_map::Arrival;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Serial32, Time};
use anabranch_wire::Payload;
use anabranch_wire::sctp::{Cause, Chunk, DataChunk, DataFlags, IDataChunk, SackChunk};

/// Duplicates reported in one SACK, at most.
const MAX_DUPLICATES: usize = 16;

impl Association {
    /// A DATA chunk; false when it is not even to be acknowledged.
    pub(super) fn on_data(&mut self, data: &DataChunk) -> bool {
        if self.extensions.has(Extensions::INTERLEAVING) {
            return self.on_wrong_kind(); // RFC 8260 §2.2.3
        }
        let due = self.map.next;
        let Some(offset) = self.arrive(data.tsn, &data.payload, data.flags, data.stream) else {
            return self.state.may_receive();
        };
        let result = self.reassembly.insert(offset, data, offset == due);
        self.after_insert(result)
    }

    /// The same of I-DATA (RFC 8260 §2.2).
    #[inline(never)]
    pub(super) fn on_interleaved(&mut self, data: &IDataChunk) -> bool {
        if !self.extensions.has(Extensions::INTERLEAVING) {
            return self.on_wrong_kind();
        }
        if self.arrive(data.tsn, &data.payload, data.flags, data.stream).is_none() {
            return self.state.may_receive();
        }
        let result = self.reassembly.insert_interleaved(data);
        self.after_insert(result)
    }

    /// The peer mixes DATA and I-DATA.
    fn on_wrong_kind(&mut self) -> bool {
        if self.state.may_receive() {
            self.on_violation(b"DATA and I-DATA in one association");
        }
        false
    }

    pub(super) fn on_violation(&mut self, text: &[u8]) {
        let cause = Cause::ProtocolViolation(text.into());
        self.abort_with(vec![cause], CloseReason::Aborted);
    }

    fn after_insert(&mut self, result: Result<(), Violation>) -> bool {
        if let Err(violation) = result {
            self.on_violation(violation.0.as_bytes());
            return false;
        }
        self.pending.readable |= self.reassembly.is_ready();
        true
    }

    /// A chunk with user data: the offset of its TSN if it is to be delivered.
    #[inline(always)]
    fn arrive(
        &mut self,
        tsn: Serial32,
        payload: &Payload,
        flags: DataFlags,
        stream: u16,
    ) -> Option<u64> {
        if !self.state.may_receive() {
            return None;
        }
        if payload.is_empty() {
            let cause = Cause::NoUserData(tsn); // §6.2
            self.abort_with(vec![cause], CloseReason::Aborted);
            return None;
        }
        let offset = tsn.expand(self.peer_origin, self.map.next);
        match offset.map_or(Arrival::Refused, |offset| self.map.look(offset)) {
            Arrival::New => {}
            Arrival::Duplicate => {
                if self.duplicates.len() < MAX_DUPLICATES {
                    self.duplicates.push(tsn);
                }
                self.sack_now = true;
                return None;
            }
            Arrival::Refused => {
                self.sack_now = true;
                return None;
            }
        }
        let offset = offset.expect("an offset was looked up");
        if offset - self.map.next >= SSN_SPAN
            && !flags.contains(DataFlags::UNORDERED)
            && self.reassembly.is_ambiguous(stream, self.map.missing_before(offset))
        {
            // Not acknowledged: it comes again when its place in the stream is clear.
            self.sack_now = true;
            return None;
        }
        if !self.has_room(offset, payload.len() as u64) {
            self.reassembly.relieve();
            self.pending.readable |= self.reassembly.is_ready();
            self.sack_now = true;
            return None;
        }
        self.map.insert(offset);
        if flags.contains(DataFlags::IMMEDIATE) {
            self.sack_now = true; // RFC 7053
        }
        if stream >= self.inbound {
            // §6.5: acknowledged, reported, and not delivered.
            self.push_answer(Chunk::Error(vec![Cause::InvalidStream(stream)]));
            return None;
        }
        Some(offset)
    }

    /// The receive buffer takes it. What fills the first gap is let in beyond
    /// the buffer, so that it can drain; memory, with [`OVERHEAD`] for each
    /// piece, never exceeds four times the buffer.
    fn has_room(&self, offset: u64, len: u64) -> bool {
        let buffer = self.config.receive_buffer as u64;
        let memory = self.reassembly.memory() + len + OVERHEAD;
        if offset == self.map.next && self.map.has_gaps() {
            return memory <= 4 * buffer;
        }
        self.reassembly.octets() + len <= buffer && memory <= 2 * buffer
    }

    /// The packet had DATA: SACK now or later (§6.2).
    pub(super) fn on_packet_with_data(&mut self, now: Time) {
        if self.state == State::Closed {
            return;
        }
        self.sack_way = self.arrival;
        self.unsacked += 1;
        let delayed = self.config.concurrent.is_some_and(|c| c.delayed_ack);
        self.sack_now |=
            self.unsacked >= self.config.sack_frequency || (self.map.has_gaps() && !delayed);
        self.sack_now |= !self.has_sacked; // §5.1: the first at once
        self.sack_now |= self.config.prompt_fill && self.told_gaps && !self.map.has_gaps();
        if self.state == State::ShutdownSent {
            // §9.2: with a SHUTDOWN, and at once; a SACK too where that cannot
            // say all.
            self.send_shutdown(now, self.arrival.path);
            self.answer_way = Some(self.arrival);
            self.sack_now = self.map.has_gaps() || !self.duplicates.is_empty();
            if !self.sack_now {
                self.unsacked = 0;
                return;
            }
        }
        if !self.sack_now && !self.timers[Due::Sack as usize].is_armed() {
            let delay = self.config.sack_delay;
            self.timer(Due::Sack).set(now + delay);
        }
    }

    /// Room that is left in the receive buffer.
    fn window(&self) -> u32 {
        let held = self.reassembly.octets();
        (self.config.receive_buffer as u64).saturating_sub(held) as u32
    }

    /// The user has read: a window that was closed is opened by a SACK of its
    /// own, once it is worth it (§6.2, window updates).
    pub(super) fn update_window(&mut self) {
        let mtu = self.mtu;
        let worth = (2 * mtu).min(self.config.receive_buffer / 2);
        if self.advertised < mtu
            && self.window() >= worth.max(self.advertised)
            && self.state.may_receive()
        {
            self.sack_now = true;
        }
    }

    /// A SACK of what has arrived, at most `room` octets of it.
    pub(super) fn take_sack(&mut self, room: u32) -> SackChunk {
        let fixed = 16 + 4 * self.duplicates.len() as u32;
        let most = (room.saturating_sub(fixed) / 4) as usize;
        let sack = SackChunk {
            cum_tsn: self.peer_origin.at(self.map.next - 1),
            a_rwnd: self.window(),
            gaps: if self.map.has_gaps() { self.map.blocks(most) } else { Vec::new() },
            duplicates: std::mem::take(&mut self.duplicates),
            packets: match self.config.concurrent {
                Some(Concurrent { delayed_ack: true, .. }) => self.unsacked.clamp(1, 3) as u8,
                _ => 0,
            },
        };
        self.advertised = sack.a_rwnd;
        self.has_sacked = true;
        self.told_gaps = !sack.gaps.is_empty();
        self.unsacked = 0;
        self.sack_now = false;
        self.timer(Due::Sack).stop();
        sack
    }
}
