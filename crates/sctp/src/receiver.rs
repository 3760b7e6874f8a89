//! The receiving half of an association (RFC 9260 §6.2, §6.5 to §6.9) knows which TSNs have
//! arrived, what becomes of their octets, and what a SACK says.
//!
//! | machine | what it owns |
//! |---|---|
//! | [`TsnMap`] | which TSNs have arrived |
//! | [`Reassembly`] | fragments, messages that wait for their turn, messages for the user |
//! | [`Sacks`] | when a SACK is due, its duplicates, its route, the timestamp that it echoes |
//! | [`Held`] | data behind a reset of its stream that is still due |
//! | [`Parts`] | messages that were delivered in parts, for a user who wants them whole |
//! | [`Window`] | what a_rwnd says |

pub(crate) mod held;
pub(crate) mod parts;
pub(crate) mod reassembly;
pub(crate) mod sacks;
pub(crate) mod tsn_map;
mod window;

#[cfg(test)]
mod tests;

use crate::numbers::{FAR, SSN_SPAN};
use crate::route::Route;
use anabranch_units::Serial32;
use anabranch_wire::sctp::{DataFlags, SackChunk, SkippedMessage};
use held::{Held, HeldChunk};
use parts::Parts;
use reassembly::{OVERHEAD, Reassembly, Received};
use sacks::Sacks;
use tsn_map::{Arrival, TsnMap};
use window::Window;

/// A SACK without gap blocks and duplicates has this many octets.
pub(crate) const LEAST_SACK: u32 = 16;

/// `Arrived` is what becomes of a chunk with user data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrived {
    /// It is acknowledged and to be delivered; the number is the offset of its TSN.
    New(u64),
    /// It is not delivered: it is there already, or may come again.
    Refused,
    /// It is not acknowledged, since the receive buffer has no room for it; the beginning of a
    /// message may have been made ready for the user instead.
    NoRoom,
    /// It has no octets (RFC 9260 §6.2).
    Empty,
    /// It is acknowledged, and its stream does not exist (RFC 9260 §6.5).
    NoSuchStream,
}

/// `Skipped` is what became of a FORWARD-TSN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Skipped {
    /// It is from before the numbers changed.
    Late,
    /// All that it skips is known already: it is acknowledged, since the last SACK may be lost.
    Known,
    /// It skips something that was waited for, which is not coming.
    Advanced,
}

/// `Receiver` is the receiving half of an association.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// `origin` is one before the peer's first TSN, which has the offset 1.
    pub origin: Serial32,
    /// `streams` is how many streams the peer may send on.
    pub streams: u16,
    /// `map` knows which TSNs have arrived.
    pub map: TsnMap,
    /// `reassembly` makes messages of chunks.
    pub reassembly: Reassembly,
    /// `sacks` decides when a SACK is due.
    pub sacks: Sacks,
    /// `window` decides what a_rwnd says.
    window: Window,
    /// `held` is data behind a reset of its stream that is still due, if there is any.
    held: Option<Box<Held>>,
    /// `parts` joins messages that were delivered in parts; it exists once there was one.
    parts: Option<Box<Parts>>,
}

impl Receiver {
    /// `new` makes the half before anything has arrived. The buffer has `buffer` octets; a message
    /// with `point` octets in a row is delivered in parts. SACKs take `route`.
    pub fn new(streams: u16, buffer: u32, point: Option<u32>, route: Route) -> Receiver {
        let mut reassembly = Reassembly::default();
        reassembly.set_limits(point, buffer);
        Receiver {
            origin: Serial32(0),
            streams,
            map: TsnMap::starting_at(1),
            reassembly,
            sacks: Sacks::new(route),
            window: Window::new(buffer),
            held: None,
            parts: None,
        }
    }

    /// Begins an association in which the peer's first TSN is `tsn`, and the peer may send on
    /// `streams` streams.
    pub fn begin(&mut self, tsn: Serial32, streams: u16) {
        self.origin = tsn.add(u32::MAX);
        self.streams = streams;
        self.map = TsnMap::starting_at(1);
    }

    /// Returns the highest TSN up to which all has arrived (the cumulative TSN).
    #[inline]
    pub fn cumulative_tsn(&self) -> Serial32 {
        self.origin.at(self.map.next - 1)
    }

    /// Returns whether all TSNs up to `tsn` have arrived; none was sent before the first.
    pub fn has_all_up_to(&self, tsn: Serial32) -> bool {
        tsn.expand(self.origin, self.map.next).is_none_or(|last| last < self.map.next)
    }

    /// Returns how many octets of memory the half takes, with the map and the duplicates.
    pub fn memory(&self) -> u64 {
        let parts = self.parts.as_ref().map_or(0, |parts| parts.octets());
        let duplicates = size_of_val(self.sacks.duplicates());
        self.held_memory() + parts + self.map.memory() + duplicates as u64
    }

    /// Notes that a chunk with `len` octets of user data came, and returns what becomes of it.
    /// `limits` are the path's MTU and the receive buffer, in octets.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        tsn: Serial32,
        len: u32,
        flags: DataFlags,
        stream: u16,
        limits: (u32, u32),
    ) -> Arrived {
        if len == 0 {
            return Arrived::Empty;
        }
        let Some(offset) = tsn.expand(self.origin, self.map.next) else {
            self.sacks.ask();
            return Arrived::Refused;
        };
        match self.map.look(offset) {
            Arrival::New => {}
            Arrival::Duplicate => {
                self.sacks.note_duplicate(tsn);
                return Arrived::Refused;
            }
            Arrival::Refused => {
                self.sacks.ask();
                return Arrived::Refused;
            }
        }
        if offset - self.map.next >= SSN_SPAN
            && !flags.contains(DataFlags::UNORDERED)
            && self.reassembly.is_ambiguous(stream, self.map.missing_before(offset))
        {
            // Not acknowledged: it comes again when its place in the stream is clear.
            self.sacks.ask();
            return Arrived::Refused;
        }
        if !self.has_room(offset, len as u64, limits) {
            return self.refuse(len, limits.1);
        }
        self.map.insert(offset);
        self.window.accept(len);
        if flags.contains(DataFlags::IMMEDIATE) {
            self.sacks.ask(); // RFC 7053
        }
        match stream < self.streams {
            true => Arrived::New(offset),
            false => Arrived::NoSuchStream,
        }
    }

    /// Refuses a chunk with `len` octets, which the receive buffer has no room for.
    #[cold]
    fn refuse(&mut self, len: u32, buffer: u32) -> Arrived {
        let held = self.octets();
        if held + len as u64 <= buffer as u64 {
            self.window.note_full_memory(held);
        }
        self.reassembly.relieve();
        self.sacks.ask();
        Arrived::NoRoom
    }

    /// Returns whether the receive buffer takes the chunk. What fills the first gap is let in
    /// beyond the buffer, so that it can drain; memory, with [`OVERHEAD`] for each piece, never
    /// exceeds four times the buffer. A buffer counts as large enough for the overhead of as many
    /// chunks of one octet as a packet has octets: what it takes of them is worth a packet then, and
    /// the peer, which avoids silly windows, does not wait for more.
    fn has_room(&self, offset: u64, len: u64, (mtu, buffer): (u32, u32)) -> bool {
        let memory = self.held_memory() + len + OVERHEAD;
        let most = u64::from(buffer).max(OVERHEAD * u64::from(mtu));
        if offset == self.map.next && self.map.has_gaps() {
            return memory <= 4 * most;
        }
        self.octets() + len <= u64::from(buffer) && memory <= 2 * most
    }

    /// Returns how many octets of memory the data takes that has arrived and has not been read.
    fn held_memory(&self) -> u64 {
        self.reassembly.memory() + self.held.as_ref().map_or(0, |held| held.memory())
    }

    /// Returns how many octets of user data were acknowledged and have not been read.
    fn octets(&self) -> u64 {
        self.reassembly.octets() + self.held.as_ref().map_or(0, |held| held.octets())
    }

    /// Keeps a chunk, which has arrived, until the reset of its stream is done.
    #[cold]
    pub fn hold(&mut self, chunk: HeldChunk) {
        self.held.get_or_insert_default().push(chunk);
    }

    /// Takes the chunks that waited for resets, which are done now.
    pub fn take_held(&mut self) -> Vec<HeldChunk> {
        self.held.take().map_or_else(Vec::new, |held| held.into_chunks())
    }

    /// Asks for a SACK if reading has opened a window that was closed, once the room is worth it
    /// (RFC 9260 §6.2, window updates).
    pub fn update_window(&mut self, mtu: u32, buffer: u32) {
        if self.window.has_reopened(self.octets(), (mtu, buffer)) {
            self.sacks.ask();
        }
    }

    /// Returns the size of a SACK that reports all duplicates and no gap, in octets.
    #[inline]
    pub fn least_sack(&self) -> u32 {
        LEAST_SACK + 4 * self.sacks.duplicates().len() as u32
    }

    /// Makes a SACK of what has arrived, of at most `room` octets. `limits` are the path's MTU and
    /// the receive buffer, in octets. With `counts_packets` it says how many packets it answers, 1
    /// to 3.
    pub fn take_sack(&mut self, room: u32, limits: (u32, u32), counts_packets: bool) -> SackChunk {
        let most = (room.saturating_sub(self.least_sack()) / 4) as usize;
        let gaps = if self.map.has_gaps() { self.map.blocks(most) } else { Vec::new() };
        let packets = match counts_packets {
            true => self.sacks.packets().clamp(1, 3) as u8,
            false => 0,
        };
        let a_rwnd = self.window.advertise(self.octets(), limits);
        let cum_tsn = self.cumulative_tsn();
        let duplicates = self.sacks.take(!gaps.is_empty());
        SackChunk { cum_tsn, a_rwnd, gaps, duplicates, packets }
    }

    /// Notes that the peer gave up all TSNs up to `cum`, and of each stream these messages (RFC
    /// 3758 §3.6).
    pub fn skip(
        &mut self,
        cum: Serial32,
        messages: impl Iterator<Item = SkippedMessage>,
    ) -> Skipped {
        let Some(last) = cum.expand(self.origin, self.map.next) else { return Skipped::Late };
        if last > self.map.next + FAR {
            return Skipped::Late;
        }
        if last < self.map.next {
            return Skipped::Known;
        }
        self.map.skip_to(last + 1);
        self.reassembly.skip_to(last, self.map.next);
        for message in messages.filter(|message| message.stream < self.streams) {
            self.reassembly.skip(message.stream, message.unordered, message.mid);
        }
        Skipped::Advanced
    }

    /// Makes `next` the peer's next TSN, as after a FORWARD-TSN up to all that is known of (RFC
    /// 6525 §5.2.4 D4).
    pub fn renumber(&mut self, next: Serial32) {
        let end = self.map.end();
        self.map.skip_to(end);
        self.reassembly.renumber(end);
        self.sacks.forget_duplicates();
        self.origin = next.add((self.map.next as u32).wrapping_neg());
    }

    /// Begins anew, as the peer has restarted: the messages that the user may read stay.
    pub fn restart(&mut self) {
        self.reassembly.restart();
        self.held = None;
        self.sacks.restart();
    }

    /// Adds a part that was delivered to a user who wants whole messages; returns the message if
    /// the part is the last.
    pub fn join_part(&mut self, part: Received) -> Option<Received> {
        self.parts.get_or_insert_default().add(part)
    }

    /// Returns how many octets the messages have that are delivered in parts and wait for the rest.
    pub fn joining(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.octets())
    }
}
