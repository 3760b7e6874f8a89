//! The urgent mechanism: RFC 9293 §3.8.5 with RFC 6093. Urgent octets stay in
//! the stream; what the mechanism adds is a mark that the reader hears of. The
//! pointer names the octet after the urgent data (RFC 6093 §3.1).

use super::Connection;
use anabranch_wire::{TcpFlags, TcpSegment};

/// Both directions' marks, as offsets; 0 without one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Urgent {
    /// SND.UP: the offset after the urgent data sent.
    pub send: u64,
    /// RCV.UP: the offset after the urgent data received.
    pub receive: u64,
}

impl Connection {
    /// Everything written so far is urgent: the peer's user hears of it even
    /// while the peer's window is closed.
    pub fn mark_urgent(&mut self) {
        self.extras.get().urgent.send = self.data_end();
        self.receiver.ack_now |= self.state().is_synchronized();
    }

    /// Octets up to the peer's urgent mark that have not been read; 0 when
    /// there is none. Not all of them need have arrived.
    pub fn urgent_ahead(&self) -> u64 {
        self.extras.urgent_received().saturating_sub(self.receiver.read_offset())
    }

    /// Sets the pointer on a segment that starts at `offset`.
    pub(super) fn point_to_urgent(&self, offset: u64, segment: &mut TcpSegment) {
        let ahead = self.extras.urgent_end().saturating_sub(offset);
        if ahead > 0 {
            segment.flags = segment.flags.union(TcpFlags::URG);
            // A mark that is further off than the field reaches: as far as it
            // does; later segments move it on.
            segment.urgent = ahead.min(0xFFFF) as u16;
        }
    }

    /// RFC 9293 §3.10.7.4, sixth: check the URG bit.
    pub(super) fn on_urgent(&mut self, segment: &TcpSegment, start: u64) {
        if !segment.flags.contains(TcpFlags::URG) || !self.state().can_receive() {
            return;
        }
        let mark = start + segment.urgent as u64;
        let read = self.receiver.read_offset();
        let extras = self.extras.get();
        if mark > extras.urgent.receive {
            extras.urgent.receive = mark;
            self.pending.urgent |= mark > read;
        }
    }
}
