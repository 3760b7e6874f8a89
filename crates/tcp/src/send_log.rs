//! The send log: when each outstanding segment was last sent, and what had
//! been delivered by then (the stamp of the window's driver). Kept only for whom it serves: RACK-TLP, and window
//! algorithms that hear delivery-rate samples.
//!
//! A record stands for what left as one segment. Records are found by offset
//! (binary search) and linked in the order of their last transmission, in which
//! only those in flight stand; so that an ACK costs what it newly reports, and
//! a search for losses what it finds, whatever the window.

use crate::range_set::{Range, RangeSet};
use anabranch_congestion::Stamp;
use anabranch_units::{Span, Time};
use std::collections::VecDeque;

/// The index that stands for no record.
const NONE: u32 = u32::MAX;

/// The place in which a record is believed to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    InFlight,
    Lost,
    Delivered,
}

/// Counts of segments, as they left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentCounts {
    /// Sent and not cumulatively acknowledged.
    pub unacked: u64,
    /// Segments of `unacked` that are SACKed.
    pub sacked: u64,
    /// Segments of `unacked` that are believed lost, sent again or not.
    pub lost: u64,
    /// Segments of `unacked` that were sent again.
    pub resent: u64,
    /// Known to have arrived, since the connection began.
    pub delivered: u64,
}

/// A segment as it was last sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Offsets of the octets that the segment carries.
    pub range: Range,
    /// Time at which it last left (`Segment.xmit_ts`).
    pub sent: Time,
    /// The number of that transmission, counted over all.
    pub serial: u64,
    /// It was sent more than once.
    pub retransmitted: bool,
    /// It has been believed lost, and no undo has taken that back.
    was_lost: bool,
    /// What the window's driver measures the delivery rate by.
    pub stamp: Stamp,
    place: Place,
    /// Neighbours in flight, by the order of transmission.
    older: u32,
    newer: u32,
}

/// Octets newly believed lost, of a segment that left with a stamp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// Offset of the first octet lost.
    pub offset: u64,
    /// Number of octets lost.
    pub octets: u64,
    /// What the segment remembers of its sending.
    pub stamp: Stamp,
}

/// What is outstanding, by offset and by order of transmission.
#[derive(Debug)]
pub(crate) struct SendLog {
    slots: Vec<Record>,
    free: Vec<u32>,
    /// Slots by offset; together they cover all that is outstanding.
    order: VecDeque<u32>,
    oldest: u32,
    newest: u32,
    /// Slot at which the last search by serial number ended.
    mark: u32,
    transmissions: u64,
    /// Records delivered above SND.UNA.
    sacked_segments: u32,
    /// Ranges believed lost and not sent again since.
    lost: RangeSet,
    /// Records delivered so far.
    delivered_segments: u64,
    /// Records newly delivered by the ACK in hand, by offset.
    news: Vec<Record>,
    /// Segments newly believed lost that the window algorithm is still to hear of, where it asks.
    losses: Option<Vec<Loss>>,
    /// Up to where losses have been counted for the window algorithm.
    pub lost_edge: u64,
}

impl Default for SendLog {
    fn default() -> SendLog {
        SendLog {
            slots: Vec::new(),
            free: Vec::new(),
            order: VecDeque::new(),
            oldest: NONE,
            newest: NONE,
            mark: NONE,
            transmissions: 0,
            sacked_segments: 0,
            lost: RangeSet::default(),
            delivered_segments: 0,
            news: Vec::new(),
            losses: None,
            lost_edge: 0,
        }
    }
}

impl SendLog {
    /// Octets that the records take.
    pub fn memory(&self) -> u64 {
        (self.slots.len() * size_of::<Record>() + self.order.len() * size_of::<u32>()) as u64
    }

    /// An empty log; with `losses` it tells of each segment that is believed lost.
    pub fn new(losses: bool) -> SendLog {
        SendLog { losses: losses.then(Vec::new), ..SendLog::default() }
    }

    /// `range` leaves with this stamp, for the first time or again.
    pub fn on_sent(&mut self, now: Time, range: Range, stamp: Stamp) {
        self.transmissions += 1;
        let mut rest = range;
        if let Some(last) = self.order.back() {
            let known = self.slots[*last as usize].range.end;
            if rest.start < known {
                self.resend(now, Range { start: rest.start, end: rest.end.min(known) }, stamp);
                rest.start = known;
            }
        }
        if !rest.is_empty() {
            self.append(now, rest, stamp);
        }
    }

    fn append(&mut self, now: Time, range: Range, stamp: Stamp) {
        let record = Record {
            range,
            sent: now,
            serial: self.transmissions,
            retransmitted: false,
            was_lost: false,
            stamp,
            place: Place::InFlight,
            older: NONE,
            newer: NONE,
        };
        let slot = self.allocate(record);
        self.order.push_back(slot);
        self.link_newest(slot);
    }

    /// The records within `range` are sent again; those that reach beyond it
    /// are cut.
    fn resend(&mut self, now: Time, range: Range, stamp: Stamp) {
        let first = self.index_at(range.start);
        let Some(slot) = self.order.get(first) else { return };
        let mut index = first;
        if self.slots[*slot as usize].range.start < range.start {
            self.cut(first, range.start);
            index += 1;
        }
        while let Some(slot) = self.order.get(index).copied() {
            let record = self.slots[slot as usize].range;
            if record.start >= range.end {
                break;
            }
            if record.end > range.end {
                self.cut(index, range.end);
            }
            index += 1;
            match self.slots[slot as usize].place {
                Place::Delivered => continue, // known to have arrived
                Place::InFlight => self.unlink(slot),
                Place::Lost => {
                    self.lost.remove(self.slots[slot as usize].range);
                }
            }
            let serial = self.transmissions;
            let record = &mut self.slots[slot as usize];
            record.sent = now;
            record.serial = serial;
            record.retransmitted = true;
            record.stamp = stamp;
            record.place = Place::InFlight;
            self.link_newest(slot);
        }
    }

    /// Cuts the record at `index` in two at `at`, which lies inside it.
    fn cut(&mut self, index: usize, at: u64) {
        let slot = self.order[index];
        let mut upper = self.slots[slot as usize];
        upper.range.start = at;
        self.slots[slot as usize].range.end = at;
        let new = self.allocate(upper);
        self.order.insert(index + 1, new);
        self.sacked_segments += (upper.place == Place::Delivered) as u32;
        if upper.place == Place::InFlight {
            // Beside its other half: both left at the same time.
            self.slots[new as usize].older = slot;
            self.slots[slot as usize].newer = new;
            match upper.newer {
                NONE => self.newest = new,
                next => self.slots[next as usize].older = new,
            }
        }
    }

    /// Octets are newly SACKed: the records that `sacked` now covers arrived.
    pub fn on_sacked(&mut self, range: Range, sacked: &RangeSet) {
        self.lost.remove(range);
        let mut index = self.index_at(range.start);
        while let Some(slot) = self.order.get(index).copied() {
            let record = self.slots[slot as usize];
            if record.range.start >= range.end {
                break;
            }
            index += 1;
            let whole = range.start <= record.range.start && record.range.end <= range.end
                || sacked.containing(record.range.start).is_some_and(|r| r.end >= record.range.end);
            if whole && self.deliver(slot) {
                self.sacked_segments += 1;
            }
        }
    }

    /// Everything below `una` arrived.
    pub fn on_cumulative_ack(&mut self, una: u64) {
        self.lost.remove_below(una);
        while let Some(slot) = self.order.front().copied() {
            let record = self.slots[slot as usize].range;
            if record.end > una {
                // Acknowledged in part: the rest stays as it was.
                self.slots[slot as usize].range.start = record.start.max(una);
                break;
            }
            if !self.deliver(slot) {
                self.sacked_segments -= 1;
            }
            self.order.pop_front();
            self.free.push(slot);
        }
        if self.order.is_empty() {
            self.slots.clear();
            self.free.clear();
        }
    }

    /// A record arrived; false when that is no news.
    fn deliver(&mut self, slot: u32) -> bool {
        let record = self.slots[slot as usize];
        match record.place {
            Place::Delivered => return false,
            Place::InFlight => self.unlink(slot),
            Place::Lost => {
                self.lost.remove(record.range);
            }
        }
        self.slots[slot as usize].place = Place::Delivered;
        self.delivered_segments += 1;
        self.news.push(record);
        true
    }

    /// Segments outstanding from `una` on, one by one; those below `first` count as lost and sent
    /// again.
    pub fn counts(&self, first: u64) -> SegmentCounts {
        let mut counts =
            SegmentCounts { delivered: self.delivered_segments, ..SegmentCounts::default() };
        for slot in &self.order {
            let record = &self.slots[*slot as usize];
            let below = record.range.start < first;
            let in_flight = record.place == Place::InFlight;
            let again = in_flight && (record.was_lost || below);
            counts.unacked += 1;
            counts.sacked += (record.place == Place::Delivered) as u64;
            counts.lost += (record.place == Place::Lost || again) as u64;
            counts.resent += again as u64; // a probe of the tail is none
        }
        counts
    }

    /// Segments that the peer holds above SND.UNA (`RACK.segs_sacked`).
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// The ACK in hand has been read: puts the news in order.
    pub fn on_ack(&mut self) {
        if !self.news.is_sorted_by_key(|r| r.range.end) {
            self.news.sort_by_key(|r| r.range.end);
        }
    }

    /// What the ACK in hand newly reports, by offset.
    pub fn news(&self) -> &[Record] {
        &self.news
    }

    /// The round-trip time of the segment sent last of those that the ACK in
    /// hand newly reports; of one sent once alone (Karn).
    pub fn rtt_sample(&self, now: Time) -> Option<Span> {
        let once = self.news.iter().filter(|record| !record.retransmitted);
        once.max_by_key(|record| record.serial).map(|record| now - record.sent)
    }

    /// The round-trip time that Linux takes from the ACK in hand, up to `una`: of
    /// the first segment that it newly acknowledges, or where one of these was
    /// sent again (Karn), of the one sent first of those that it SACKs.
    pub fn first_rtt_sample(&self, now: Time, una: u64) -> Option<Span> {
        let (mut acked, mut sacked, mut again) = (None::<Time>, None::<Time>, false);
        for record in &self.news {
            let by = if record.range.end <= una { &mut acked } else { &mut sacked };
            if record.retransmitted {
                again |= record.range.end <= una;
            } else {
                *by = Some(by.map_or(record.sent, |sent| sent.min(record.sent)));
            }
        }
        let sent = acked.filter(|_| !again).or(sacked)?;
        Some(now - sent)
    }

    /// The ACK in hand newly tells of something sent once, and before the first
    /// outstanding segment was last sent.
    pub fn tells_of_older_than_first(&self) -> bool {
        let Some(first) = self.order.front() else { return false };
        let first = self.slots[*first as usize].sent;
        self.news.iter().any(|record| !record.retransmitted && record.sent < first)
    }

    /// Forgets what the ACK in hand told; the next may come.
    pub fn end_ack(&mut self) {
        self.news.clear();
    }

    /// Transmissions so far, each of which has its number.
    pub fn transmissions(&self) -> u64 {
        self.transmissions
    }

    /// Ranges believed lost and not sent again since.
    pub fn lost(&self) -> &RangeSet {
        &self.lost
    }

    /// The record in flight that was last sent longest ago.
    pub fn oldest(&self) -> Option<&Record> {
        self.slots.get(self.oldest as usize)
    }

    /// The record in flight that was sent last before transmission `serial`.
    /// As `serial` only ever grows, all searches together walk each record once.
    pub fn latest_before(&mut self, serial: u64) -> Option<&Record> {
        let mut at = self.mark;
        loop {
            let next = if at == NONE { self.oldest } else { self.slots[at as usize].newer };
            if next == NONE || self.slots[next as usize].serial >= serial {
                break;
            }
            at = next;
        }
        self.mark = at;
        self.slots.get(at as usize)
    }

    /// The oldest record in flight is lost, but for octets of it that are
    /// `sacked`.
    pub fn lose_oldest(&mut self, sacked: &RangeSet) {
        if self.oldest != NONE {
            self.lose(self.oldest, sacked);
        }
    }

    /// The records in flight of more than `size` octets are lost; false when there are none.
    pub fn lose_larger_than(&mut self, size: u64, sacked: &RangeSet) -> bool {
        let mut any = false;
        for index in 0..self.order.len() {
            let slot = self.order[index];
            let record = &self.slots[slot as usize];
            if record.place == Place::InFlight && record.range.len() > size {
                self.lose(slot, sacked);
                any = true;
            }
        }
        any
    }

    /// The record at SND.UNA is lost, if it is in flight.
    pub fn lose_first(&mut self, sacked: &RangeSet) {
        if let Some(slot) = self.order.front().copied()
            && self.slots[slot as usize].place == Place::InFlight
        {
            self.lose(slot, sacked);
        }
    }

    fn lose(&mut self, slot: u32, sacked: &RangeSet) {
        self.unlink(slot);
        let record = &mut self.slots[slot as usize];
        (record.place, record.was_lost) = (Place::Lost, true);
        let (Range { mut start, end }, stamp) = (record.range, record.stamp);
        let mut octets = 0;
        while let Some(gap) = sacked.gap(start, end) {
            self.lost.insert(gap);
            octets += gap.len();
            start = gap.end;
        }
        if let Some(losses) = &mut self.losses {
            losses.push(Loss { offset: end - octets, octets, stamp });
        }
    }

    /// The segments in flight that begin between these offsets are believed lost, by a scheme that
    /// does not mark them.
    pub fn tell_losses_between(&mut self, from: u64, to: u64) {
        let Some(losses) = &mut self.losses else { return };
        let first =
            self.order.partition_point(|slot| self.slots[*slot as usize].range.start < from);
        for slot in self.order.iter().skip(first) {
            let Record { range, stamp, place, .. } = &self.slots[*slot as usize];
            if range.start >= to {
                break;
            }
            if *place == Place::InFlight {
                losses.push(Loss { offset: range.start, octets: range.len(), stamp: *stamp });
            }
        }
    }

    /// The segments believed lost of which the window algorithm has not heard.
    pub fn take_losses(&mut self) -> Vec<Loss> {
        self.losses.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The receiver has discarded what it had SACKed (RFC 2018 §8): all of it
    /// is lost.
    pub fn on_reneging(&mut self) {
        let nothing = RangeSet::default();
        for index in 0..self.order.len() {
            let slot = self.order[index];
            if self.slots[slot as usize].place == Place::Delivered {
                self.slots[slot as usize].place = Place::InFlight;
                self.link_newest(slot);
                self.lose(slot, &nothing);
            }
        }
        self.sacked_segments = 0;
    }

    /// What was believed lost and not sent again is in flight after all, as it
    /// was sent: the loss was none.
    pub fn find_lost(&mut self) {
        for slot in &self.order {
            self.slots[*slot as usize].was_lost = false;
        }
        if self.lost.is_empty() {
            return;
        }
        self.lost.clear();
        let in_list = |r: &Record| r.place != Place::Delivered;
        let mut slots: Vec<u32> = self.order.iter().copied().collect();
        slots.retain(|slot| in_list(&self.slots[*slot as usize]));
        slots.sort_by_key(|slot| {
            let record = &self.slots[*slot as usize];
            (record.serial, record.range.start)
        });
        (self.oldest, self.newest, self.mark) = (NONE, NONE, NONE);
        for slot in slots {
            self.slots[slot as usize].place = Place::InFlight;
            self.link_newest(slot);
        }
    }

    /// The whole segment that holds `at`.
    pub fn record_at(&self, at: u64) -> Option<&Record> {
        let slot = *self.order.get(self.index_at(at))?;
        Some(&self.slots[slot as usize])
    }

    /// Octets in flight that were sent more than once.
    pub fn resent(&self) -> u64 {
        let records = self.order.iter().map(|slot| &self.slots[*slot as usize]);
        let again = |r: &&Record| r.retransmitted && r.place == Place::InFlight;
        records.filter(again).map(|r| r.range.len()).sum()
    }

    /// The segment with the highest offsets.
    pub fn highest(&self) -> Option<&Record> {
        self.order.back().map(|slot| &self.slots[*slot as usize])
    }

    /// Index in `order` of the record that holds `at`.
    fn index_at(&self, at: u64) -> usize {
        self.order.partition_point(|slot| self.slots[*slot as usize].range.end <= at)
    }

    fn allocate(&mut self, record: Record) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = record;
                slot
            }
            None => {
                self.slots.push(record);
                (self.slots.len() - 1) as u32
            }
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let record = &mut self.slots[slot as usize];
        record.older = self.newest;
        record.newer = NONE;
        match self.newest {
            NONE => self.oldest = slot,
            newest => self.slots[newest as usize].newer = slot,
        }
        self.newest = slot;
    }

    fn unlink(&mut self, slot: u32) {
        let Record { older, newer, .. } = self.slots[slot as usize];
        match older {
            NONE => self.oldest = newer,
            _ => self.slots[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.slots[newer as usize].older = older,
        }
        if self.mark == slot {
            self.mark = older;
        }
    }
}

#[cfg(test)]
mod tests;
