//! The sending half of an association (RFC 9260 §6.1, §6.2.1, §6.3, §7.2) keeps what waits, what is
//! outstanding, what is sent again, and what the peer's receive buffer takes.
//!
//! | machine | what it owns |
//! |---|---|
//! | [`Outgoing`] | messages and octets that nobody has sent |
//! | [`Flight`] | chunks that are sent and not cumulatively acknowledged |
//! | [`PeerWindow`] | the room of the peer's receive buffer |
//! | [`WindowProbe`] | when a chunk leaves that this room does not take |
//! | [`Repair`] | what may be sent again now |
//! | [`Partial`] | messages that were given up |
//! | [`List`] | messages that the user wants back |
//!
//! SACKs are read in [`acknowledge`], new data leaves in [`transmit`], what is sent again in
//! [`retransmit`]. Paths, which both change, are an argument.

mod acknowledge;
pub(crate) mod flight;
mod immediate;
pub(crate) mod outgoing;
mod partial;
mod peer_window;
mod repair;
mod retransmit;
mod transmit;
pub(crate) mod undelivered;
mod window_probe;

#[cfg(test)]
mod tests;

pub(crate) use acknowledge::Acknowledged;

use crate::config::Config;
use crate::paths::path::Path;
use anabranch_congestion::Cause;
use anabranch_units::{Serial32, Time};
use flight::Flight;
use outgoing::Outgoing;
use partial::Partial;
use peer_window::PeerWindow;
use repair::Repair;
use undelivered::List;
use window_probe::WindowProbe;

/// `Counters` count what happened since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// `packets` counts the packets with user data.
    pub packets: u64,
    /// `retransmitted` counts the packets with chunks that were sent again.
    pub retransmitted: u64,
    /// `acked` counts the octets of user data that were cumulatively acknowledged.
    pub acked: u64,
}

/// `Sender` is the sending half of an association.
#[derive(Debug)]
pub(crate) struct Sender {
    /// `origin` is one before this side's first TSN, which has the offset 1.
    pub origin: Serial32,
    /// `streams` is how many streams this side may send on.
    pub streams: u16,
    /// `outgoing` is what nobody has sent.
    pub outgoing: Outgoing,
    /// `flight` is what was sent and not cumulatively acknowledged.
    pub flight: Flight,
    /// `window` is the room of the peer's receive buffer.
    pub window: PeerWindow,
    /// `probe` says when that room is probed.
    pub probe: WindowProbe,
    /// `repair` says what may be sent again.
    pub repair: Repair,
    /// `partial` is what partial reliability needs, once a message was given up.
    partial: Option<Box<Partial>>,
    /// `undelivered` are messages that the user wants back, once there was one.
    undelivered: Option<Box<List>>,
    /// `nagle_passed` says that new data has left since the last event, when nothing was
    /// outstanding: Nagle's rule does not hold up the rest.
    nagle_passed: bool,
    /// `probing` is the offset of the chunk that probed the peer's closed window last, for the
    /// first time or again.
    probing: Option<u64>,
    /// `duplicated_by_network` says that a chunk that was sent once came twice: reports of
    /// duplicates tell nothing of spurious retransmissions any more (RFC 3708 §3 A.4).
    duplicated_by_network: bool,
    /// `write_blocked` says that a write was cut short.
    write_blocked: bool,
    /// `counters` count what happened since the start.
    pub counters: Counters,
}

impl Sender {
    /// `new` makes the half before anything was given or sent.
    pub fn new(config: &Config) -> Sender {
        let mut flight = Flight::starting_at(1);
        flight.count_padding(config.count_padding);
        Sender {
            origin: Serial32(0),
            streams: config.outbound_streams,
            outgoing: Outgoing::new(config.scheduler),
            flight,
            window: PeerWindow::default(),
            probe: WindowProbe::default(),
            repair: Repair::default(),
            partial: None,
            undelivered: None,
            nagle_passed: false,
            probing: None,
            duplicated_by_network: false,
            write_blocked: false,
            counters: Counters::default(),
        }
    }

    /// Returns the TSN that the next new chunk will have.
    pub fn next_tsn(&self) -> Serial32 {
        self.origin.at(self.flight.next())
    }

    /// Returns how many octets the send buffer holds: those that are not sent, or not acknowledged.
    pub fn held(&self) -> u64 {
        self.outgoing.held() + self.flight.payload
    }

    /// Returns whether nothing waits to be sent or acknowledged.
    #[inline]
    pub fn is_dry(&self) -> bool {
        self.flight.is_empty() && self.outgoing.is_empty()
    }

    /// Returns whether all that was given is acknowledged, or was given up (RFC 3758 §3.5 A3).
    pub fn is_settled(&self) -> bool {
        self.outgoing.is_empty() && self.flight.is_abandoned()
    }

    /// Returns whether new data may leave, for all that is to be sent again first (RFC 9260 §6.1
    /// C).
    #[inline]
    pub fn may_send_new(&self, config: &Config) -> bool {
        let one = || config.ns2_rules.is_some_and(|rules| rules.one_packet);
        !self.outgoing.is_empty() && (self.flight.lost == 0 || !self.repair.awaits_sack() && !one())
    }

    /// Returns whether the first chunk that is outstanding left on `path`, for the first time or
    /// again, to probe the peer's window, which does not take it yet. That it is not acknowledged
    /// is no failure while SACKs come, says nothing about cwnd, and it is no use of the path (RFC
    /// 9260 §6.1 A).
    ///
    /// A chunk that left when the window took it is no probe: its loss is one.
    #[inline]
    pub fn is_probing(&self, path: usize) -> bool {
        self.probing == Some(self.flight.una)
            && self.is_first_beyond_window()
            && self.flight.chunks[0].path as usize == path
    }

    /// Returns whether the peer's window does not take the first chunk that is outstanding.
    #[inline]
    pub(super) fn is_first_beyond_window(&self) -> bool {
        self.flight.chunks.front().is_some_and(|first| first.len() > self.window.rwnd())
    }

    /// Returns whether something waits to be sent.
    pub fn has_more(&self) -> bool {
        self.flight.lost > 0 || !self.outgoing.is_empty()
    }

    /// Begins an event: Nagle's rule looks at each event alone.
    #[inline]
    pub fn begin_event(&mut self) {
        self.nagle_passed = false;
    }

    /// Says whether a write found no room, or not enough; a user who was cut short hears when there
    /// is.
    pub fn set_write_blocked(&mut self, blocked: bool) {
        self.write_blocked = blocked;
    }

    /// Returns whether a user whose last write was cut short is to hear that there is room: true
    /// once.
    #[inline]
    pub fn has_room_again(&mut self, buffer: u64) -> bool {
        let tells = self.write_blocked && self.held() < buffer;
        self.write_blocked &= !tells;
        tells
    }

    /// Says whether chunks are I-DATA or DATA, and that they have up to `payload` octets. What was
    /// given up with a COOKIE ECHO before is to be told.
    pub fn agree(&mut self, interleaving: bool, payload: u32) {
        self.begin_telling();
        self.outgoing.set_interleaving(interleaving, self.window.rwnd(), payload);
    }

    /// Sets how many streams this side may send on. Returns how many messages wait for others,
    /// which are not sent (RFC 9260 §5.1.1).
    pub fn limit_streams(&mut self, streams: u16, config: &Config) -> u32 {
        self.streams = streams;
        let refused = self.outgoing.drain_from(streams);
        let count = refused.len() as u32;
        if config.keep_undelivered {
            refused.into_iter().for_each(|message| self.keep(message, false));
        }
        count
    }

    /// Makes `next` the next TSN, and stream sequence numbers start anew (RFC 6525 §5.2.4).
    pub fn renumber(&mut self, next: Serial32) {
        self.origin = next.add((self.flight.next() as u32).wrapping_neg());
        (0..self.streams).for_each(|stream| self.outgoing.reset_numbers(stream));
    }

    /// Drops what waited, as the peer has restarted. Returns true when a write was cut short, which
    /// need not be so any more.
    pub fn restart(&mut self) -> bool {
        self.repair.release();
        self.probe = WindowProbe::default();
        self.partial = None;
        self.outgoing.restart();
        std::mem::take(&mut self.write_blocked)
    }

    /// Ends with the association: nothing is kept to be sent.
    pub fn stop(&mut self, config: &Config) {
        self.keep_all(config);
        self.flight = self.flight.restarting_at(self.flight.next());
        self.probe = WindowProbe::default();
        self.outgoing.restart();
    }

    /// Reduces the window of a path, as a chunk of this side's was in a packet that a router has
    /// marked: once for what was sent until then (RFC 4960 Appendix A), for marks and losses
    /// together (RFC 3168 §6.1.2). `data_path` is that of new data. Returns false when no such
    /// chunk was sent.
    pub fn on_ecne(
        &mut self,
        now: Time,
        tsn: Serial32,
        paths: &mut [Path],
        data_path: usize,
    ) -> bool {
        let una = self.flight.una;
        let Some(offset) = tsn.expand(self.origin, una) else { return false };
        let next = self.flight.next();
        if offset >= next {
            return false;
        }
        let sent = offset.checked_sub(una).and_then(|at| self.flight.chunks.get(at as usize));
        let path = &mut paths[sent.map_or(data_path, |chunk| chunk.path as usize)];
        path.marked = true;
        if offset >= path.reduced && path.recovery.is_none_or(|exit| offset >= exit) {
            path.reduced = next;
            let view = path.view();
            path.window.on_congestion(now, Cause::EcnMark, &view);
            path.ecn_reductions += 1;
        }
        true
    }
}
