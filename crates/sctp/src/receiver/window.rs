//! What the peer is told of the receive buffer: the a_rwnd of SACKs (RFC 9260 §6.2).

use super::reassembly::OVERHEAD;

/// A `Window` decides what a_rwnd says. All its numbers are octets of user data.
#[derive(Debug)]
pub(super) struct Window {
    /// `advertised` is the a_rwnd of the last SACK.
    advertised: u32,
    /// `accepted` counts what was let in since that SACK.
    accepted: u64,
    /// `capacity` is how much the buffer takes of chunks like those that came last. It is less than
    /// the buffer after small chunks, with [`OVERHEAD`] each, have filled the memory.
    capacity: u32,
}

impl Window {
    /// Makes the window of an empty buffer of `buffer` octets.
    pub fn new(buffer: u32) -> Window {
        Window { advertised: buffer, accepted: 0, capacity: u32::MAX }
    }

    /// Notes that a chunk with `len` octets was let in. A chunk that is larger than its overhead
    /// lets the capacity grow again by its own length, as windows grow in slow start.
    #[inline]
    pub fn accept(&mut self, len: u32) {
        self.accepted += len as u64;
        if len as u64 > OVERHEAD {
            self.capacity = self.capacity.saturating_add(len);
        }
    }

    /// Notes that a chunk was refused because the memory is full, while `held` octets wait: more of
    /// such chunks do not fit.
    #[cold]
    pub fn note_full_memory(&mut self, held: u64) {
        self.capacity = held as u32;
    }

    /// Returns the room that is left while `held` octets wait in a buffer of `buffer`.
    fn room(&self, held: u64, buffer: u32) -> u32 {
        (self.capacity(buffer) as u64).saturating_sub(held) as u32
    }

    fn capacity(&self, buffer: u32) -> u32 {
        self.capacity.min(buffer)
    }

    /// Returns the a_rwnd of the next SACK. A window that is less than a packet, or half of the
    /// capacity, does not open by less than that (silly windows, RFC 9260 §6.2, as in RFC 1122
    /// §4.2.3.3): what the last SACK left of it is told again.
    pub fn advertise(&mut self, held: u64, (mtu, buffer): (u32, u32)) -> u32 {
        let (room, worth) = (self.room(held, buffer), mtu.min(self.capacity(buffer) / 2));
        let left = (self.advertised as u64).saturating_sub(self.accepted) as u32;
        let silly = left < worth && room > left && room - left < worth;
        self.advertised = if silly { left } else { room };
        self.accepted = 0;
        self.advertised
    }

    /// Returns whether reading has opened a window that was closed so far that the peer should be
    /// told (RFC 9260 §6.2, window updates): by two packets, or half of the capacity.
    pub fn has_reopened(&self, held: u64, (mtu, buffer): (u32, u32)) -> bool {
        let worth = (2 * mtu).min(self.capacity(buffer) / 2);
        self.advertised < mtu && self.room(held, buffer) >= worth.max(self.advertised)
    }
}
