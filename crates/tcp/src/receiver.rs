//! The receiving half: reassembly and the delayed-ACK decision (RFC 5681 §4.2). What it
//! reports of gaps and duplicates is in [`sack`], the advertised window in [`window`],
//! the application's side in [`reading`].

mod reading;
mod sack;
mod window;

#[cfg(test)]
mod tests;

use crate::ack_timing::AckTiming;
use crate::config::Config;
use crate::range_set::Range;
use crate::right_sizing::RightSizing;
use crate::stream::Octets;
use crate::window_growth::WindowGrowth;
use anabranch_endpoint::Timer;
use anabranch_units::Serial32;
use anabranch_wire::Payload;
use sack::OutOfOrder;

/// Separate ranges above a gap that are kept in any case, and the octets of
/// receive buffer for each more. Segments of less than 128 octets, every other
/// one lost over a whole window, would exceed it.
const LEAST_RANGES: u64 = 64;
const OCTETS_PER_RANGE: u64 = 128;

/// The receiving half of a connection. Offsets count from the peer's SYN.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// The peer's initial sequence number (IRS).
    pub irs: Serial32,
    /// Next offset expected (RCV.NXT).
    pub nxt: u64,
    /// The offset up to which the application has read.
    read: u64,
    /// Right edge of the window last advertised; it never moves back.
    edge: u64,
    /// Octets of the buffer, at most 1 GiB; 32 bits keep idle connections small.
    capacity: u32,
    /// What arrived above `nxt`, while there are gaps, and a duplicate until it
    /// is reported.
    gaps: Option<Box<OutOfOrder>>,
    /// Offset of the peer's FIN, once seen.
    fin: Option<u64>,
    octets: Option<Box<Octets>>,
    /// RCV.NXT of the last ACK that left (Last.ACK.sent, RFC 7323 §4.3).
    acknowledged: u64,
    /// Data segments since the last ACK left.
    unacknowledged: u32,
    /// An ACK must leave at the next poll; no delay applies.
    pub ack_now: bool,
    /// Runs while an ACK waits for more data, or for data of this side to carry it.
    pub delayed_ack: Timer,
    /// Report duplicates (RFC 2883).
    reports_duplicates: bool,
    /// SACK blocks do not cover a FIN.
    sack_without_fin: bool,
    /// The window opens by as much as is free.
    advertises_all: bool,
    /// The decision which ACKs wait, where that adapts to the peer (as in Linux).
    pub timing: Option<Box<AckTiming>>,
    /// Growth of the advertised window, where it grows.
    growth: Option<Box<WindowGrowth>>,
}

/// What a data segment did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    /// In-order octets that it made available, the FIN not counted.
    pub advanced: u64,
    /// New octets that wait for others before them.
    pub above: u64,
    /// RCV.NXT passed the FIN.
    pub ended: bool,
}

impl Receiver {
    /// Makes the receiver of a connection before the peer's SYN. Data starts at offset 1.
    pub fn new(config: &Config) -> Receiver {
        let timing = config.adaptive_acks.then(|| Box::new(AckTiming::new(config.quick_acks)));
        let mut new = Receiver { timing, ..Receiver::with(config.receive_buffer, config.dsack) };
        new.sack_without_fin = config.manners.sack_without_fin;
        new.advertises_all = config.manners.advertises_all;
        let initial = config.initial_receive_window.of(new.capacity());
        let sizing = config.receive_buffer_max.map(RightSizing::new);
        if initial.is_some() || sizing.is_some() {
            let mut growth = WindowGrowth::new(initial.unwrap_or(u64::MAX), new.capacity());
            growth.sizing = sizing;
            new.growth = Some(Box::new(growth));
        }
        if let Some(initial) = initial {
            new.edge = 1 + initial;
        }
        new
    }

    fn with(capacity: u64, reports_duplicates: bool) -> Receiver {
        let capacity = capacity.min(u32::MAX.into());
        Receiver {
            irs: Serial32(0),
            nxt: 0,
            read: 1,
            edge: 1 + capacity,
            capacity: capacity as u32,
            gaps: None,
            fin: None,
            octets: None,
            acknowledged: 1,
            unacknowledged: 0,
            ack_now: false,
            delayed_ack: Timer::IDLE,
            reports_duplicates,
            sack_without_fin: false,
            advertises_all: false,
            timing: None,
            growth: None,
        }
    }

    fn capacity(&self) -> u64 {
        self.capacity.into()
    }

    /// The peer's FIN at this offset has come, and data before it is missing.
    pub fn waits_for_fin_at(&self, offset: u64) -> bool {
        self.fin == Some(offset) && self.nxt < offset
    }

    /// The peer's FIN has been passed.
    pub fn has_ended(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Payload octets received in order so far.
    pub fn received(&self) -> u64 {
        (self.nxt - self.has_ended() as u64).saturating_sub(1)
    }

    /// Octets received above a gap so far.
    pub fn above_gaps(&self) -> u64 {
        self.gaps.as_ref().map_or(0, |gaps| gaps.ranges.total())
    }

    /// Octets that are kept for the application, and of what it takes to know which have come.
    pub fn held(&self) -> u64 {
        let gaps = self.gaps.as_ref();
        let gaps = gaps.map_or(0, |gaps| gaps.ranges.total() + gaps.ranges.memory());
        self.readable() + gaps
    }

    /// A segment's octets from `start`, with a FIN after them. Decides about
    /// an immediate ACK: for what is out of order, fills a gap or is a
    /// duplicate (RFC 5681 §4.2), for a FIN, and for every `count`-th segment.
    pub fn on_segment(&mut self, start: u64, payload: &Payload, fin: bool, count: u32) -> Arrival {
        let before = self.nxt;
        let mut range = Range { start, end: start + payload.len() as u64 };
        if self.fin.is_some_and(|end| self.nxt <= end && end < range.end) {
            // One of the two is forged: neither is believed, and what is true comes again.
            self.fin = None;
            range.end = range.start;
        }
        if fin && range.end < self.edge.max(self.nxt + 1) && self.ends_after_all(range.end) {
            self.fin.get_or_insert(range.end);
        }
        // Beyond the window, beyond the end of the stream: not kept.
        range.end = range.end.min(self.edge).min(self.fin.unwrap_or(u64::MAX));
        let above_gap = range.start > self.nxt && !range.is_empty();
        if above_gap && self.is_fragmented(range) {
            range.end = range.start; // not kept either
        }
        let new = range.start.max(self.nxt);
        if let Some(octets) = payload.octets()
            && range.end > new
        {
            // What was acknowledged stays as it came first.
            let kept = (new - range.start) as usize..(range.end - range.start) as usize;
            let store = self.octets.get_or_insert_with(|| Box::new(Octets::starting_at(self.read)));
            store.write_at(new, &octets[kept]);
        }
        if self.reports_duplicates {
            self.note_duplicate(range);
        }
        let had_gaps = self.gaps.is_some();
        let mut above = 0;
        if range.start <= self.nxt {
            if range.end > self.nxt {
                self.nxt = range.end;
                if had_gaps {
                    self.join();
                }
            }
        } else if !range.is_empty() {
            above = self.gaps.get_or_insert_default().add(range, self.nxt);
        }
        let fin_passed = self.fin == Some(self.nxt);
        if fin_passed {
            self.nxt += 1;
        }
        self.unacknowledged += 1;
        let advanced = self.nxt - before - fin_passed as u64;
        let in_order = (advanced > 0 || fin_passed) && !had_gaps;
        self.ack_now |= !in_order
            || match self.timing {
                None => fin_passed || self.unacknowledged >= count,
                Some(_) => false, // whoever calls asks it
            };
        Arrival { advanced, above, ended: fin_passed }
    }

    /// What begins at `start` may have been in the window when it was first sent: it lies within a
    /// buffer of what is expected next.
    pub fn held_lately(&self, start: u64) -> bool {
        start + self.capacity() >= self.nxt
    }

    /// Nothing has arrived that lies beyond `end`.
    fn ends_after_all(&self, end: u64) -> bool {
        let highest = self.gaps.as_ref().and_then(|gaps| gaps.ranges.last());
        end >= self.nxt && highest.is_none_or(|range| range.end <= end)
    }

    /// There are as many separate ranges as are kept, and this would be one
    /// more. A peer that sends every other octet takes no more memory than an
    /// eighth of the receive buffer.
    fn is_fragmented(&self, range: Range) -> bool {
        let Some(gaps) = &self.gaps else { return false };
        gaps.ranges.count() as u64 >= LEAST_RANGES + self.capacity() / OCTETS_PER_RANGE
            && gaps.ranges.containing(range.start - 1).is_none()
            && gaps.ranges.containing(range.end).is_none()
    }

    /// Moves `nxt` over ranges that now touch it.
    fn join(&mut self) {
        let Some(gaps) = &mut self.gaps else { return };
        if let Some(first) = gaps.ranges.containing(self.nxt) {
            self.nxt = first.end;
        }
        gaps.ranges.remove_below(self.nxt);
        if gaps.ranges.is_empty() && gaps.duplicate.is_none() {
            self.gaps = None;
        }
    }

    /// Data arrived that is not yet acknowledged.
    pub fn owes_ack(&self) -> bool {
        self.unacknowledged > 0
    }

    /// What the last ACK acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// What arrived so far is acknowledged by a segment of its own.
    pub fn restart_count(&mut self) {
        self.unacknowledged = 0;
    }

    /// What is owed to the peer: data segments to acknowledge, and at once.
    pub fn owed(&self) -> (u32, bool) {
        (self.unacknowledged, self.ack_now)
    }

    /// Owes again what an ACK of less did not pay.
    pub fn owe(&mut self, owed: (u32, bool)) {
        (self.unacknowledged, self.ack_now) = owed;
    }
}
