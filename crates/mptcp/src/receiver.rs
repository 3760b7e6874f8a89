//! The receiving half of the stream: reassembly by data offset, and the
//! receive window that all subflows share (RFC 8684 §3.3.1, §3.3.5).
//!
//! The window is relative to the DATA_ACK: its right edge is what the
//! application has read, and the buffer. Everything that waits for something
//! before it lies inside, on whichever subflow it came.

use crate::sequence::Numbering;
use anabranch_tcp::{Octets, Range, RangeSet};
use anabranch_wire::Payload;
use anabranch_wire::tcp::mptcp::DataNumber;

/// Separate ranges above a gap that are kept in any case, and the octets of
/// buffer for each more.
const LEAST_RANGES: u64 = 64;
const OCTETS_PER_RANGE: u64 = 128;

/// The receiving half of the stream counts in data offsets.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// The peer's data sequence numbers of the offsets; meaningless before its key has come.
    numbering: Numbering,
    /// The peer has numbered data with 64 bits: DATA_ACKs have as many (§3.3.1).
    is_wide: bool,
    /// Octets that came with the SYN, and have no data sequence numbers (RFC 8684 app. B.2).
    early: u64,
    /// Everything before this offset has arrived: the DATA_ACK.
    nxt: u64,
    /// The application has read everything before this offset.
    read: u64,
    /// The window that was advertised last ends here.
    edge: u64,
    /// The receive buffer has so many octets.
    capacity: u64,
    /// Ranges that arrived above a gap.
    waiting: RangeSet,
    /// The peer's DATA_FIN stands at this offset, once it has come.
    fin: Option<u64>,
    /// The stream carries these real octets, those that have not been read.
    octets: Option<Box<Octets>>,
}

/// The subflows on which the peer should hear of a window that the application has opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tell {
    /// Nobody: it is no news, or the next segment says it.
    None,
    /// The peer hears of it on any one subflow.
    One,
    /// The window was closed: the peer hears of the new one on every subflow that advertised less
    /// than a segment last, since that holds there (§3.3.5), and on any one.
    Reopened,
}

/// What an arrival changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    /// Octets that can be read now, and could not before.
    pub advanced: u64,
    /// The DATA_FIN was passed.
    pub ended: bool,
}

impl Receiver {
    pub fn new(capacity: u64) -> Receiver {
        Receiver {
            numbering: Numbering::default(),
            is_wide: false,
            early: 0,
            nxt: 1,
            read: 1,
            edge: 1 + capacity,
            capacity,
            waiting: RangeSet::default(),
            fin: None,
            octets: None,
        }
    }

    /// The peer's key has come: its initial data sequence number is `idsn`.
    pub fn begin(&mut self, idsn: u64) {
        self.numbering = Numbering::from_idsn(idsn).after(self.early);
    }

    /// Data came with the peer's SYN and opens the stream (RFC 7413), before its key.
    pub fn on_early(&mut self, payload: &Payload) -> Arrival {
        self.early = payload.len() as u64;
        self.on_data(1, payload)
    }

    /// The offset of the first octet that has a data sequence number.
    pub fn first(&self) -> u64 {
        1 + self.early
    }

    /// The offset that the peer means by a data sequence number.
    #[inline]
    pub fn offset(&self, dsn: DataNumber) -> Option<u64> {
        self.numbering.offset(dsn, self.nxt)
    }

    /// An offset has this data sequence number of the peer, in 64 bits.
    pub fn full_number(&self, offset: u64) -> u64 {
        self.numbering.full_number(offset)
    }

    /// Returns the DATA_ACK, in 64 bits or in 32.
    #[inline]
    pub fn data_ack(&self, wide: bool) -> DataNumber {
        self.numbering.number(self.nxt, wide)
    }

    /// Data came whose number the peer wrote with 64 bits, or not.
    #[inline]
    pub fn note_width(&mut self, is_wide: bool) {
        self.is_wide |= is_wide;
    }

    /// DATA_ACKs should have 64 bits.
    #[inline]
    pub fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// Everything before this offset has arrived.
    #[inline]
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Counted octets that are the next, with room for them and nothing that waits: as a
    /// rule there is nothing to put together. False, and nothing is done, for others.
    #[inline]
    pub fn takes_next(&mut self, start: u64, len: u64) -> bool {
        let end = start + len;
        let usual = start == self.nxt
            && end <= self.edge
            && self.waiting.is_empty()
            && self.fin.is_none()
            && self.octets.is_none();
        if usual {
            self.nxt = end;
        }
        usual
    }

    /// Octets arrived from `start` on. What is beyond the window is not kept, and will be
    /// sent again.
    pub fn on_data(&mut self, start: u64, payload: &Payload) -> Arrival {
        let end = start + payload.len() as u64;
        let end = end.min(self.edge).min(self.fin.unwrap_or(u64::MAX));
        let new = Range { start: start.max(self.nxt), end };
        if new.is_empty() || self.is_fragmented(new) {
            return Arrival { advanced: 0, ended: false };
        }
        if let Some(octets) = payload.octets() {
            let read = self.read;
            let store = self.octets.get_or_insert_with(|| Box::new(Octets::starting_at(read)));
            // What came first counts (§3.3.1).
            let mut at = new.start;
            while let Some(gap) = self.waiting.gap(at, new.end) {
                let (first, last) = ((gap.start - start) as usize, (gap.end - start) as usize);
                store.write_at(gap.start, &octets[first..last]);
                at = gap.end;
            }
        }
        let before = self.nxt;
        if new.start > before {
            self.waiting.insert(new);
        } else {
            self.nxt = new.end;
        }
        self.advance(before)
    }

    /// The stream ends at `at`; a DATA_FIN below what has come is a lie.
    pub fn on_fin(&mut self, at: u64) -> Arrival {
        let after_all = self.waiting.last().is_none_or(|range| range.end <= at);
        if at >= self.nxt && at <= self.edge && after_all && !self.has_ended() {
            self.fin.get_or_insert(at);
        }
        self.advance(self.nxt)
    }

    /// The next offset moves over what waited for it; it stood at `before`.
    fn advance(&mut self, before: u64) -> Arrival {
        while let Some(first) = self.waiting.first().filter(|range| range.start <= self.nxt) {
            self.nxt = self.nxt.max(first.end);
            self.waiting.remove_below(self.nxt);
        }
        let ended = self.fin == Some(self.nxt);
        let advanced = self.nxt - before;
        if ended {
            self.nxt += 1;
        }
        Arrival { advanced, ended }
    }

    fn is_fragmented(&self, range: Range) -> bool {
        self.waiting.count() as u64 >= LEAST_RANGES + self.capacity / OCTETS_PER_RANGE
            && range.start > self.nxt
            && self.waiting.containing(range.start - 1).is_none()
            && self.waiting.containing(range.end).is_none()
    }

    /// The DATA_FIN has been passed.
    pub fn has_ended(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Returns how many octets arrived in order so far.
    pub fn received(&self) -> u64 {
        self.nxt - 1 - self.has_ended() as u64
    }

    /// Returns how many octets arrived so far, each counted once.
    pub fn held(&self) -> u64 {
        self.received() + self.waiting()
    }

    /// Returns the octets of memory that are in use: those that wait for the application or for
    /// others before them, and the list of which have come.
    pub fn memory(&self) -> u64 {
        self.readable() + self.waiting() + self.waiting.memory()
    }

    /// Returns how many octets can be read.
    pub fn readable(&self) -> u64 {
        self.received() + 1 - self.read
    }

    /// Returns how many octets wait for something before them.
    pub fn waiting(&self) -> u64 {
        self.waiting.total()
    }

    /// Returns how many octets in order the advertised window still takes.
    pub fn room(&self) -> u64 {
        self.edge.saturating_sub(self.nxt)
    }

    /// Returns the largest window that could be advertised: what is free of the buffer.
    pub fn free(&self) -> u64 {
        (self.read + self.capacity).saturating_sub(self.nxt)
    }

    /// A segment leaves: the window to advertise. The edge moves only by a
    /// useful amount (RFC 9293 §3.8.6.2.2).
    pub fn window(&mut self, mss: u64) -> u64 {
        if self.opens_by(mss.min(self.capacity / 2)) {
            self.edge = self.read + self.capacity;
        }
        self.room()
    }

    fn opens_by(&self, octets: u64) -> bool {
        self.read + self.capacity >= self.edge + octets
    }

    /// The application takes up to `max` octets; returns how many, and whether
    /// the peer should hear of the window: when it had less than half of the
    /// buffer, or less than a segment, and has more now.
    pub fn read(&mut self, max: u64, mss: impl FnOnce() -> u64) -> (u64, Tell) {
        let n = max.min(self.readable());
        self.read += n;
        if let Some(octets) = &mut self.octets {
            octets.drop_below(self.read);
        }
        (n, self.should_tell(mss))
    }

    /// The application reads into a buffer; see [`Receiver::read`].
    pub fn read_octets(&mut self, buf: &mut [u8], mss: impl FnOnce() -> u64) -> (usize, Tell) {
        let n = self.readable().min(buf.len() as u64) as usize;
        match &mut self.octets {
            Some(octets) => octets.take(&mut buf[..n]),
            None => buf[..n].fill(0),
        }
        self.read += n as u64;
        (n, self.should_tell(mss))
    }

    fn should_tell(&self, mss: impl FnOnce() -> u64) -> Tell {
        let left = self.room();
        let half = self.capacity / 2;
        if left >= half && left > u16::MAX as u64 {
            return Tell::None; // the usual case: no segment is longer
        }
        let mss = mss();
        if left < mss && self.opens_by(mss.min(half)) {
            Tell::Reopened
        } else if left < half && self.opens_by(half) {
            Tell::One
        } else {
            Tell::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrives(r: &mut Receiver, start: u64, len: u32) -> u64 {
        r.on_data(start, &Payload::virtual_of(len)).advanced
    }

    #[test]
    fn what_came_on_another_subflow_waits() {
        let mut r = Receiver::new(10_000);
        assert_eq!(arrives(&mut r, 1001, 1000), 0);
        assert_eq!(arrives(&mut r, 3001, 1000), 0);
        assert_eq!(r.waiting(), 2000);
        assert_eq!(arrives(&mut r, 1, 1000), 2000);
        assert_eq!(arrives(&mut r, 1501, 1000), 500, "half of it was there");
        assert_eq!(arrives(&mut r, 2501, 500), 1500);
        assert_eq!((r.nxt, r.readable(), r.waiting()), (4001, 4000, 0));
    }

    /// RFC 8684 §3.3.1: of data that comes twice the first is what the application gets.
    #[test]
    fn what_came_first_counts() {
        let mut r = Receiver::new(10_000);
        let text = |octet, len| Payload::of_octets(vec![octet; len]);
        r.on_data(11, &text(b'a', 10));
        r.on_data(31, &text(b'a', 10));
        r.on_data(6, &text(b'b', 40));
        r.on_data(1, &text(b'c', 50));
        let mut buf = [0; 50];
        assert_eq!(r.read_octets(&mut buf, || 1000).0, 50);
        assert_eq!(&buf, b"cccccbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbccccc");
    }

    #[test]
    fn what_comes_next_is_taken_at_once_where_nothing_waits() {
        let mut r = Receiver::new(3000);
        assert!(r.takes_next(1, 1000));
        assert!(!r.takes_next(1501, 500), "a gap");
        assert_eq!(arrives(&mut r, 1501, 500), 0);
        assert!(!r.takes_next(1001, 500), "what waits becomes readable with it");
        assert_eq!(arrives(&mut r, 1001, 500), 1000);
        assert!(!r.takes_next(2001, 1001), "beyond the window");
        assert!(!r.on_fin(3001).ended);
        assert!(!r.takes_next(2001, 1000), "the end comes with it");
        assert_eq!((r.nxt, r.readable()), (2001, 2000));
    }

    /// RFC 8684 §3.3.5: one window for all, relative to the DATA_ACK.
    #[test]
    fn the_window_is_what_the_application_leaves() {
        let mut r = Receiver::new(3000);
        assert_eq!(arrives(&mut r, 1, 2000), 2000);
        assert_eq!(r.window(1000), 1000);
        assert_eq!(arrives(&mut r, 2001, 2000), 1000, "beyond the edge nothing is kept");
        assert_eq!(r.window(1000), 0);
        assert_eq!(r.read(100, || 1000), (100, Tell::None));
        assert_eq!(r.window(1000), 0, "a silly window");
        assert_eq!(r.read(5000, || 1000), (2900, Tell::Reopened));
        assert_eq!(r.window(1000), 3000);
    }

    #[test]
    fn the_stream_ends_once_and_after_its_data() {
        let mut r = Receiver::new(10_000);
        assert_eq!(arrives(&mut r, 1001, 1000), 0);
        assert!(!r.on_fin(1001).ended, "below what has come");
        assert!(!r.on_fin(2001).ended);
        assert_eq!(arrives(&mut r, 2001, 10), 0, "beyond the end");
        let end = r.on_data(1, &Payload::virtual_of(1000));
        assert_eq!(end, Arrival { advanced: 2000, ended: true });
        assert_eq!((r.nxt, r.received()), (2002, 2000));
        assert!(!r.on_fin(2001).ended, "once");
    }

    #[test]
    fn a_peer_that_sends_every_other_octet_is_not_remembered_for_ever() {
        let mut r = Receiver::new(128_000);
        for i in 0..60_000 {
            arrives(&mut r, 3 + 2 * i, 1);
        }
        assert_eq!(r.waiting.count(), 64 + 1000);
    }
}
