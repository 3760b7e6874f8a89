//! The receiving half: reassembly, SACK generation (RFC 2018 §4) and the
//! report of duplicates (RFC 2883), the
//! advertised window without the silly-window syndrome (RFC 9293 §3.8.6.2.2),
//! and the delayed-ACK decision (RFC 5681 §4.2).

use crate::ack_timing::AckTiming;
use crate::config::Config;
use crate::range_set::{Range, RangeSet};
use crate::right_sizing::{RightSizing, View};
use crate::stream::Octets;
use crate::window_growth::WindowGrowth;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{Payload, SackBlock, SackBlocks};

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
    /// An ACK must leave now.
    pub ack_now: bool,
    /// Report duplicates (RFC 2883).
    reports_duplicates: bool,
    /// Which ACKs wait, where that adapts.
    pub timing: Option<Box<AckTiming>>,
    /// How far the advertised window has grown, where it does.
    growth: Option<Box<WindowGrowth>>,
}

/// What arrived above a gap; there only while there is one.
#[derive(Debug, Default)]
struct OutOfOrder {
    ranges: RangeSet,
    /// One offset inside each of the most recently updated ranges, latest
    /// first.
    recent: [u64; 4],
    /// The duplicate that the next ACK reports.
    duplicate: Option<Range>,
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
    /// Before the peer's SYN. Data starts at offset 1.
    pub fn new(config: &Config) -> Receiver {
        let timing = config.adaptive_acks.then(|| Box::new(AckTiming::new(config.quick_acks)));
        let mut new = Receiver { timing, ..Receiver::with(config.receive_buffer, config.dsack) };
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
            reports_duplicates,
            timing: None,
            growth: None,
        }
    }

    fn capacity(&self) -> u64 {
        self.capacity.into()
    }

    /// In-order octets that the application can read.
    pub fn readable(&self) -> u64 {
        let end = if self.has_ended() { self.nxt - 1 } else { self.nxt };
        end.saturating_sub(self.read)
    }

    /// The peer's FIN has been passed.
    pub fn has_ended(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Payload octets received in order so far.
    pub fn received(&self) -> u64 {
        (self.nxt - self.has_ended() as u64).saturating_sub(1)
    }

    /// The part of the window that the peer may still use (RCV.WND).
    pub fn window(&self) -> u64 {
        self.edge.saturating_sub(self.nxt)
    }

    /// A segment's octets from `start`, with a FIN after them. Decides about
    /// an immediate ACK: for what is out of order, fills a gap or is a
    /// duplicate (RFC 5681 §4.2), for a FIN, and for every `count`-th segment.
    pub fn on_segment(&mut self, start: u64, payload: &Payload, fin: bool, count: u32) -> Arrival {
        let before = self.nxt;
        let mut range = Range { start, end: start + payload.len() as u64 };
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

    /// There is something to report in SACK blocks: what waits for what is
    /// missing before it, or a duplicate.
    pub fn has_blocks(&self) -> bool {
        self.gaps.is_some()
    }

    /// How many there are to report, of as many as options hold.
    pub fn blocks(&self) -> u64 {
        let Some(gaps) = &self.gaps else { return 0 };
        (gaps.duplicate.is_some() as usize + gaps.ranges.count().min(gaps.recent.len())) as u64
    }

    /// A segment came; what of it had arrived before is reported with the next
    /// ACK (RFC 2883 §4): of several duplicates before that ACK, the first.
    #[inline(never)]
    pub fn note_duplicate(&mut self, range: Range) {
        let reported = |gaps: &OutOfOrder| gaps.duplicate.is_some();
        if !self.reports_duplicates || self.gaps.as_deref().is_some_and(reported) {
            return;
        }
        let Range { start, end } = range;
        let duplicate = if start < self.nxt {
            Range { start, end: end.min(self.nxt) } // §4.1, §4.2
        } else {
            // §4.3: in what waits above a gap, the first that is there twice.
            let Some(gaps) = &self.gaps else { return };
            match gaps.ranges.gap(start, end) {
                None => range,
                Some(new) if new.start > start => Range { start, end: new.start },
                Some(new) => {
                    let held = gaps.ranges.containing(new.end).map_or(new.end, |r| r.end);
                    Range { start: new.end, end: held.min(end) }
                }
            }
        };
        if !duplicate.is_empty() {
            self.gaps.get_or_insert_default().duplicate = Some(duplicate);
        }
    }

    /// SACK blocks for an ACK: a duplicate, once; then the range that contains
    /// the segment received last, then the most recently updated others
    /// (RFC 2018 §4, RFC 2883 §4).
    #[inline(never)]
    pub fn sack_blocks(&mut self, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        let Some(gaps) = &mut self.gaps else { return blocks };
        let block = |r: Range| SackBlock { left: self.irs.at(r.start), right: self.irs.at(r.end) };
        // A FIN that waits is part of what is held: sequence numbers, not octets
        // (RFC 2018 §3).
        let fin = self.fin;
        let with_fin = |r: Range| Range { end: r.end + (fin == Some(r.end)) as u64, ..r };
        let duplicate = gaps.duplicate.take();
        if let Some(range) = duplicate {
            blocks.push(block(range));
        }
        let recent = gaps.recent.iter().filter(|x| **x > self.nxt);
        let left = most - duplicate.is_some() as usize;
        for range in recent.filter_map(|at| gaps.ranges.containing(*at)).take(left) {
            blocks.push(block(with_fin(range)));
        }
        if gaps.ranges.is_empty() {
            self.gaps = None;
        }
        blocks
    }

    /// Data arrived that is not yet acknowledged.
    pub fn owes_ack(&self) -> bool {
        self.unacknowledged > 0
    }

    /// The offset that the application reads next.
    pub fn read_offset(&self) -> u64 {
        self.read
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

    /// An ACK leaves: moves the advertised edge and returns the window to
    /// advertise. The edge moves only by a useful amount: one MSS or half the
    /// buffer (RFC 9293 §3.8.6.2.2).
    pub fn on_ack_sent(&mut self, mss: u64) -> u64 {
        self.unacknowledged = 0;
        self.ack_now = false;
        self.acknowledged = self.nxt;
        if let Some(timing) = &mut self.timing {
            timing.on_ack_sent();
        }
        if self.opens_by(mss) {
            self.edge = self.farthest();
        }
        self.window()
    }

    fn opens_by(&self, mss: u64) -> bool {
        self.farthest() >= self.edge + mss.min(self.capacity() / 2)
    }

    /// The right edge that could be advertised.
    fn farthest(&self) -> u64 {
        let all = self.read + self.capacity();
        self.growth.as_ref().map_or(all, |it| all.min(self.nxt.saturating_add(it.limit())))
    }

    /// The window that is advertised grows with use.
    pub fn grows(&self) -> bool {
        self.growth.is_some()
    }

    /// Data came: the buffer grows, where it does. `srtt` is of the connection's own
    /// sender; own segments have `mss` octets.
    #[inline(never)]
    pub fn right_size(&mut self, now: Time, srtt: Option<Span>, mss: u64) {
        let (nxt, read, capacity) = (self.nxt, self.read, self.capacity());
        let view = View { now, srtt, nxt, read, capacity, mss };
        if let Some(growth) = &mut self.growth
            && let Some(capacity) = growth.sizing.as_mut().and_then(|it| it.on_data(&view))
        {
            growth.widen(capacity);
            self.capacity = capacity.min(u32::MAX.into()) as u32;
        }
    }

    /// A segment brought `len` octets, new ones among them; own segments have
    /// `mss` octets. Whether it makes the window grow that is advertised.
    #[inline(never)]
    pub fn grow_window(&mut self, len: u64, mss: u64) -> bool {
        let waiting = self.gaps.as_ref().map_or(0, |gaps| gaps.ranges.total());
        let free = self.capacity().saturating_sub(self.readable() + waiting);
        self.growth.as_mut().is_some_and(|it| it.on_data(len, mss, free))
    }

    /// Somebody else writes the windows, up to `most`; before the handshake. What
    /// grows here only tells which segments are acknowledged at once.
    pub fn share_window(&mut self, config: &Config, most: u64) {
        let initial = config.initial_receive_window.of(most);
        if let (Some(growth), Some(initial)) = (&mut self.growth, initial) {
            growth.share(initial, most);
            self.edge = 1 + self.capacity();
        }
    }

    /// The application takes up to `max` octets; asks for a window update when
    /// the peer had less than half the buffer to send into, and now has more.
    pub fn read(&mut self, max: u64, mss: u64) -> u64 {
        let n = max.min(self.readable());
        self.read += n;
        if let Some(octets) = &mut self.octets {
            octets.drop_below(self.read);
        }
        self.ask_for_update(mss);
        n
    }

    /// As [`read`](Self::read), into a buffer.
    pub fn read_octets(&mut self, buf: &mut [u8], mss: u64) -> usize {
        let n = self.readable().min(buf.len() as u64) as usize;
        match &mut self.octets {
            Some(octets) => octets.take(&mut buf[..n]),
            None => buf[..n].fill(0),
        }
        self.read += n as u64;
        self.ask_for_update(mss);
        n
    }

    /// As [`read`](Self::read): octets as they came, counted or real.
    pub fn take(&mut self, max: u32, mss: u64) -> Payload {
        let n = self.readable().min(max as u64) as u32;
        if self.octets.is_none() {
            self.read(n as u64, mss);
            return Payload::virtual_of(n);
        }
        let mut octets = vec![0; n as usize];
        self.read_octets(&mut octets, mss);
        Payload::of_octets(octets)
    }

    fn ask_for_update(&mut self, mss: u64) {
        let half = self.capacity() / 2;
        let opened = self.window() < half && self.opens_by(half);
        let reopened = self.window() < mss && self.opens_by(mss);
        self.ack_now |= opened || reopened;
        if let Some(timing) = &self.timing {
            // Before the peer's SYN there is nothing.
            let unacknowledged = self.nxt.saturating_sub(self.acknowledged);
            self.ack_now |= timing.must_leave_after_read(unacknowledged, self.readable() == 0);
        }
    }
}

impl OutOfOrder {
    /// Adds a range above `nxt`. It becomes the one updated last; each is
    /// represented once. How many of its octets are new.
    fn add(&mut self, range: Range, nxt: u64) -> u64 {
        let new = self.ranges.insert(range);
        let joined = self.ranges.containing(range.start);
        let inside = |x: u64| joined.is_some_and(|r| r.start <= x && x < r.end);
        let mut next = [0; 4];
        next[0] = range.start;
        let others = self.recent.into_iter().filter(|x| *x > nxt && !inside(*x));
        for (slot, other) in next[1..].iter_mut().zip(others) {
            *slot = other;
        }
        self.recent = next;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver() -> Receiver {
        Receiver { nxt: 1, ..Receiver::with(100_000, true) }
    }

    /// A data segment of 1000 octets, the n-th from 0.
    fn segment(r: &mut Receiver, n: u64) -> Arrival {
        r.on_segment(1 + n * 1000, &Payload::virtual_of(1000), false, 2)
    }

    fn blocks(r: &mut Receiver) -> Vec<(u32, u32)> {
        r.sack_blocks(4).as_slice().iter().map(|b| (b.left.0 / 1000, b.right.0 / 1000)).collect()
    }

    #[test]
    fn every_second_segment_is_acknowledged() {
        let mut r = receiver();
        segment(&mut r, 0);
        assert!(!r.ack_now && r.owes_ack());
        segment(&mut r, 1);
        assert!(r.ack_now);
        assert_eq!(r.on_ack_sent(1000), 98_000);
        assert!(!r.ack_now && !r.owes_ack());
    }

    #[test]
    fn gaps_duplicates_and_fills_are_acknowledged_at_once() {
        let mut r = receiver();
        for (n, advanced) in [(1, 0), (0, 2000), (0, 0)] {
            assert_eq!(segment(&mut r, n).advanced, advanced);
            assert!(r.ack_now, "segment {n}");
            r.on_ack_sent(1000);
        }
    }

    /// RFC 2018 §5, example: the latest block first, older ones repeated.
    #[test]
    fn sack_blocks_come_latest_first() {
        let mut r = receiver();
        for n in [1, 3, 5, 7, 9] {
            segment(&mut r, n);
        }
        assert_eq!(blocks(&mut r), [(9, 10), (7, 8), (5, 6), (3, 4)]);
        segment(&mut r, 4); // joins 3 and 5
        assert_eq!(blocks(&mut r), [(3, 6), (9, 10), (7, 8)]);
        segment(&mut r, 0); // fills up to 2
        assert_eq!(blocks(&mut r), [(3, 6), (9, 10), (7, 8)]);
        segment(&mut r, 2);
        assert_eq!(r.nxt, 6001);
        assert_eq!(blocks(&mut r), [(9, 10), (7, 8)]);
    }

    /// RFC 2883 §4.1: a duplicate below the cumulative ACK; reported once.
    #[test]
    fn a_duplicate_segment_is_reported_once() {
        let mut r = receiver();
        segment(&mut r, 0);
        segment(&mut r, 1);
        segment(&mut r, 0);
        assert_eq!(blocks(&mut r), [(0, 1)]);
        assert_eq!(blocks(&mut r), []);
    }

    /// §4.2, §4.3: duplicates beside blocks; the block that holds the
    /// duplicate comes second.
    #[test]
    fn a_duplicate_above_a_gap_comes_before_the_block_that_holds_it() {
        let mut r = receiver();
        for n in [0, 2, 3, 5] {
            segment(&mut r, n);
        }
        segment(&mut r, 3);
        assert_eq!(blocks(&mut r), [(3, 4), (2, 4), (5, 6)]);
        segment(&mut r, 0);
        assert_eq!(blocks(&mut r), [(0, 1), (2, 4), (5, 6)]);
    }

    /// §4.2.3: a segment of which a part had arrived.
    #[test]
    fn of_a_segment_held_in_part_that_part_is_reported() {
        let mut r = receiver();
        for n in [0, 3] {
            segment(&mut r, n);
        }
        r.on_segment(2001, &Payload::virtual_of(3000), false, 2); // 2, 3, 4
        assert_eq!(blocks(&mut r), [(3, 4), (2, 5)]);
        r.on_segment(1, &Payload::virtual_of(3000), false, 2); // 0, 1, 2
        assert_eq!(blocks(&mut r), [(0, 1)]);
    }

    #[test]
    fn duplicates_are_not_reported_unasked() {
        let mut r = Receiver { nxt: 1, ..Receiver::with(100_000, false) };
        segment(&mut r, 0);
        segment(&mut r, 0);
        assert_eq!(blocks(&mut r), []);
    }

    #[test]
    fn the_fin_waits_for_the_data_before_it() {
        let mut r = receiver();
        let last = r.on_segment(1001, &Payload::virtual_of(500), true, 2);
        assert!(!last.ended);
        let held = r.sack_blocks(4).as_slice()[0];
        assert_eq!((held.left.0, held.right.0), (1001, 1502)); // the FIN too
        let first = segment(&mut r, 0);
        assert_eq!(first, Arrival { advanced: 1500, above: 0, ended: true });
        assert_eq!((r.nxt, r.received(), r.readable()), (1502, 1500, 1500));
    }

    /// Every other octet: no more ranges than stated, and what was refused is
    /// neither reported nor missed when it comes again.
    #[test]
    fn fragments_are_bounded() {
        let mut r = Receiver { nxt: 1, ..Receiver::with(12_800, false) };
        let most = (LEAST_RANGES + 12_800 / OCTETS_PER_RANGE) as usize;
        for at in (3..12_000).step_by(2) {
            r.on_segment(at, &Payload::virtual_of(1), false, 2);
            assert!(r.gaps.as_ref().unwrap().ranges.count() <= most);
        }
        assert_eq!(r.gaps.as_ref().unwrap().ranges.count(), most);
        r.on_segment(1, &Payload::virtual_of(12_000), false, 2);
        assert_eq!((r.nxt, r.has_blocks()), (12_001, false));
    }

    /// A FIN below what has arrived is a lie, and so is data after the FIN.
    #[test]
    fn the_stream_ends_once() {
        let mut r = receiver();
        segment(&mut r, 2);
        assert!(!r.on_segment(1, &Payload::virtual_of(1000), true, 2).ended);
        assert!(r.on_segment(1001, &Payload::virtual_of(2000), true, 2).ended);
        assert_eq!((r.nxt, r.received()), (3002, 3000));
        assert_eq!(segment(&mut r, 3), Arrival { advanced: 0, above: 0, ended: false });
        let mut r = receiver();
        r.on_segment(501, &Payload::virtual_of(500), true, 2);
        assert_eq!(segment(&mut r, 1).advanced, 0); // beyond the FIN
        assert_eq!(segment(&mut r, 0), Arrival { advanced: 1000, above: 0, ended: true });
        assert_eq!((r.nxt, r.received()), (1002, 1000));
    }

    /// Overlapping segments that do not agree: what was acknowledged stays.
    #[test]
    fn acknowledged_octets_do_not_change() {
        let mut r = receiver();
        r.on_segment(1, &Payload::of_octets([1; 10]), false, 2);
        r.on_segment(6, &Payload::of_octets([2; 10]), false, 2);
        let mut buf = [0; 15];
        assert_eq!(r.read_octets(&mut buf, 1000), 15);
        assert_eq!(buf, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        let mut r = Receiver { nxt: 1, ..Receiver::with(1500, false) };
        segment(&mut r, 0);
        segment(&mut r, 1);
        assert_eq!((r.nxt, r.on_ack_sent(1000)), (1501, 0));
        // Half the buffer read: the window opens, and the peer hears of it.
        r.ack_now = false;
        assert_eq!(r.read(1000, 1000), 1000);
        assert!(r.ack_now);
        assert_eq!(r.on_ack_sent(1000), 1000);
    }
}
