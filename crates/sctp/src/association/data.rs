//! DATA and I-DATA are received here (RFC 9260 §6.2, §6.5): what the state of the association, the
//! [`Receiver`](crate::receiver::Receiver) and the user make of it.

use super::Association;
use crate::config::Concurrent;
use crate::extensions::Extensions;
use crate::receiver::Arrived;
use crate::receiver::held::HeldChunk;
use crate::receiver::reassembly::Violation;
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Serial32, Time};
use anabranch_wire::Payload;
use anabranch_wire::sctp::{Cause, Chunk, DataChunk, DataFlags, IDataChunk, SackChunk};

impl Association {
    /// Handles a DATA chunk. Returns false when it is not even to be acknowledged.
    pub(super) fn on_data(&mut self, data: &DataChunk) -> bool {
        if self.extensions.has(Extensions::INTERLEAVING) {
            return self.on_wrong_kind(); // RFC 8260 §2.2.3
        }
        let due = self.receiver.map.next;
        let Some(offset) = self.arrive(data.tsn, &data.payload, data.flags, data.stream) else {
            return self.state().may_receive();
        };
        if self.is_behind_reset(data.stream, data.tsn) {
            self.receiver.hold(HeldChunk::Data(offset, data.clone()));
            return true;
        }
        let result = self.receiver.reassembly.insert(offset, data, offset == due);
        self.after_insert(result)
    }

    /// Handles an I-DATA chunk in the same way (RFC 8260 §2.2).
    #[inline(never)]
    pub(super) fn on_interleaved(&mut self, data: &IDataChunk) -> bool {
        if !self.extensions.has(Extensions::INTERLEAVING) {
            return self.on_wrong_kind();
        }
        if self.arrive(data.tsn, &data.payload, data.flags, data.stream).is_none() {
            return self.state().may_receive();
        }
        if self.is_behind_reset(data.stream, data.tsn) {
            self.receiver.hold(HeldChunk::IData(data.clone()));
            return true;
        }
        let result = self.receiver.reassembly.insert_interleaved(data);
        self.after_insert(result)
    }

    /// Puts data in order that waited for a reset of its stream (RFC 6525 §5.2.2 E4).
    pub(super) fn insert_held(&mut self) {
        for chunk in self.receiver.take_held() {
            let reassembly = &mut self.receiver.reassembly;
            let result = match &chunk {
                HeldChunk::Data(offset, data) => reassembly.insert(*offset, data, false),
                HeldChunk::IData(data) => reassembly.insert_interleaved(data),
            };
            if !self.after_insert(result) {
                return;
            }
        }
    }

    /// Ends the association, as the peer mixes DATA and I-DATA.
    fn on_wrong_kind(&mut self) -> bool {
        if self.state().may_receive() {
            self.on_violation(b"DATA and I-DATA in one association");
        }
        false
    }

    pub(super) fn on_violation(&mut self, text: &[u8]) {
        self.on_fault(Cause::ProtocolViolation(text.into()));
    }

    /// Ends the association, as the packet at hand breaks the rules. Where ABORTs are to be
    /// authenticated packets that are not do not end it in this way either (RFC 4895 §6.3).
    pub(super) fn on_fault(&mut self, cause: Cause) {
        let config = self.config.authentication.as_ref();
        let guarded = || config.is_some_and(|config| config.chunks.contains(&6));
        if self.control.authenticates() && !self.control.trusted && guarded() {
            return;
        }
        self.abort_with(vec![cause], CloseReason::Aborted);
    }

    fn after_insert(&mut self, result: Result<(), Violation>) -> bool {
        if let Err(violation) = result {
            self.on_violation(violation.0.as_bytes());
            return false;
        }
        self.tell_of_messages();
        true
    }

    /// Tells the user that there is something to read, if there is.
    #[inline]
    pub(super) fn tell_of_messages(&mut self) {
        self.pending.readable |= self.receiver.reassembly.is_ready();
    }

    /// Notes a chunk with user data. Returns the offset of its TSN if it is to be delivered.
    #[inline(always)]
    fn arrive(
        &mut self,
        tsn: Serial32,
        payload: &Payload,
        flags: DataFlags,
        stream: u16,
    ) -> Option<u64> {
        if !self.state().may_receive() {
            return None;
        }
        let limits = (self.paths.room.mtu, self.config.receive_buffer);
        match self.receiver.arrive(tsn, payload.len(), flags, stream, limits) {
            Arrived::New(offset) => return Some(offset),
            Arrived::Refused => {}
            Arrived::NoRoom => self.tell_of_messages(),
            Arrived::Empty => {
                self.on_fault(Cause::NoUserData(tsn));
            }
            Arrived::NoSuchStream => {
                self.control.waiting.push_answer(Chunk::Error(vec![Cause::InvalidStream(stream)]));
            }
        }
        None
    }

    /// Decides whether a packet that had DATA has its SACK now or later (§6.2).
    pub(super) fn on_packet_with_data(&mut self, now: Time) {
        if self.state() == State::Closed {
            return;
        }
        self.resume_reset();
        let has_gaps = self.receiver.map.has_gaps();
        let route = self.control.waiting.arrival;
        self.receiver.sacks.on_packet(route, has_gaps, &self.config);
        if self.state() == State::ShutdownSent {
            // §9.2: with a SHUTDOWN, and at once.
            self.send_shutdown(now, route.path);
            self.control.waiting.answer_arrival();
            return self.receiver.sacks.leave_to_shutdown(has_gaps);
        }
        self.receiver.sacks.delay(now, &self.config);
    }

    /// Tells the peer of the room that reading has made, where that is worth a SACK.
    pub(super) fn update_window(&mut self) {
        if self.state().may_receive() {
            self.receiver.update_window(self.paths.room.mtu, self.config.receive_buffer);
        }
    }

    /// Makes a SACK of what has arrived, of at most `room` octets.
    pub(super) fn take_sack(&mut self, room: u32) -> SackChunk {
        let counts = matches!(self.config.concurrent, Some(Concurrent { delayed_ack: true, .. }));
        let sizes = (self.paths.room.mtu, self.config.receive_buffer);
        self.receiver.take_sack(room, sizes, counts)
    }
}
