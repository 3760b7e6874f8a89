//! Between whom the connection is.

use super::isn;
use anabranch_units::{Serial32, Time};
use anabranch_wire::{Addr, Body, FlowKey, Packet};

/// `Ends` are the addresses and ports of both ends, which do not change, and what follows from
/// them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// `local` is this side's address and port.
    pub local: (Addr, u16),
    /// `remote` is the peer's address and port.
    pub remote: (Addr, u16),
    /// `isn_offset` is the part of initial sequence numbers that does not depend on the date (`F`
    /// of RFC 6528).
    isn_offset: u32,
    /// `stamp_offset` is what is added to the clock of the timestamps (RFC 7323 §5.4).
    stamp_offset: u32,
}

impl Ends {
    /// `secret` is what nobody else knows of the numbers.
    pub fn new(secret: [u64; 2], local: (Addr, u16), remote: (Addr, u16)) -> Ends {
        let [isn_offset, stamp_offset] = isn::offsets(secret, local, remote);
        Ends { local, remote, isn_offset, stamp_offset }
    }

    /// The number of a SYN at the start of the clock, and the timestamp then.
    #[cfg(test)]
    pub fn begin_at(&mut self, isn: u32, stamp: u32) {
        (self.isn_offset, self.stamp_offset) = (isn, stamp);
    }

    /// The numbers of SYNs from `now` on are not before `floor`, where an earlier connection between
    /// the same ends has used the numbers below it (RFC 9293 §3.6.1).
    pub fn lift(&mut self, now: Time, floor: Serial32) {
        let behind = floor.distance_from(self.isn(now));
        self.isn_offset = self.isn_offset.wrapping_add(behind.max(0) as u32);
    }

    /// Returns the number of a SYN that leaves now (RFC 6528).
    pub fn isn(&self, now: Time) -> Serial32 {
        Serial32(self.isn_offset).add(isn::clock(now))
    }

    /// Returns the timestamp of what leaves now: a clock that ticks in milliseconds (RFC 7323 §5.4),
    /// from where nobody else knows (§7.1). It is never zero, which would look like an absent echo.
    #[inline]
    pub fn timestamp(&self, now: Time) -> u32 {
        (now.as_millis() as u32).wrapping_add(self.stamp_offset).max(1)
    }

    /// A segment goes from the peer's address and port to this side's (RFC 9293 §3.4.1). What is no
    /// segment is not looked at.
    #[inline]
    pub fn are_of(&self, packet: &Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else { return true };
        (packet.src, segment.src_port) == self.remote
            && (packet.dst, segment.dst_port) == self.local
    }

    /// Returns the flow of the packets that leave here.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey {
            src: self.local.0,
            dst: self.remote.0,
            protocol: 6,
            src_port: self.local.1,
            dst_port: self.remote.1,
        }
    }
}
