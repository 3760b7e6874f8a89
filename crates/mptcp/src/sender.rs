//! The sending half of the stream (RFC 8684 §3.3): data sequence variables, the peer's receive
//! window, the DATA_FIN, what must be sent again on another subflow, and how often it is tried.

mod pace;
mod persistence;
mod reinjections;
mod skipped;
mod window;

use crate::mapping::SentMappings;
use crate::sequence::Numbering;
use anabranch_endpoint::Written;
use anabranch_tcp::Range;
use anabranch_units::{Span, Time};
use anabranch_wire::Payload;
use anabranch_wire::tcp::mptcp::DataNumber;
use pace::Pace;
pub(crate) use persistence::{Overdue, Persistence, Probe};
pub(crate) use reinjections::{Reinjection, Reinjections};
use skipped::Skipped;
use window::DataWindow;

/// The most octets that a stream can carry.
const STREAM_LIMIT: u64 = 1 << 60;

/// The sending half of the stream counts in data offsets.
#[derive(Debug)]
pub(crate) struct Sender {
    /// Offsets have these data sequence numbers.
    numbering: Numbering,
    /// Data sequence numbers are sent with 64 bits, in place of 32.
    is_long: bool,
    /// The stream is acknowledged at this rate, which may ask for 64 bits.
    pace: Pace,
    /// Octets that went with the SYN, and have no data sequence numbers (RFC 8684 app. B.2).
    early: u64,
    /// Everything before this offset has a DATA_ACK.
    una: u64,
    /// Everything before this offset has been given to a subflow, but for what was skipped.
    nxt: u64,
    /// What lies before `nxt` and has not been given to a subflow.
    skipped: Skipped,
    /// The user has written everything before this offset; the DATA_FIN counts as one more octet
    /// once the stream is closed.
    end: u64,
    /// The user has closed: a DATA_FIN follows the data.
    closed: bool,
    /// The DATA_FIN, without data, has been asked for and has not left.
    fin_due: bool,
    /// A write was cut short, for want of room in the buffer; until a DATA_ACK makes some.
    blocked: bool,
    /// The peer takes data up to the edge of this window.
    window: DataWindow,
    /// The stream carries these real octets, those without DATA_ACK; `None` while it is counted
    /// alone.
    octets: Option<Box<Written>>,
    /// Ranges that wait to be sent again on another subflow.
    reinjections: Reinjections,
    /// Tries in vain since the peer was last heard.
    persistence: Persistence,
}

impl Sender {
    /// A stream of which nothing is written; `idsn` is its initial data sequence number, and `is_long`
    /// says that numbers are sent with 64 bits from the start.
    pub fn new(idsn: u64, is_long: bool) -> Sender {
        Sender {
            numbering: Numbering::from_idsn(idsn),
            is_long,
            pace: Pace::NEW,
            early: 0,
            una: 1,
            nxt: 1,
            skipped: Skipped::default(),
            end: 1,
            closed: false,
            fin_due: false,
            blocked: false,
            window: DataWindow::closed_at(1),
            octets: None,
            reinjections: Reinjections::default(),
            persistence: Persistence::NONE,
        }
    }

    /// Takes another key, before anything is sent, whose initial data sequence number is `idsn`.
    pub fn renumber(&mut self, idsn: u64) {
        self.numbering = Numbering::from_idsn(idsn);
    }

    /// The SYN/ACK has acknowledged the first `octets`, which went with the SYN: what follows is numbered
    /// from the start (RFC 8684 app. B.2).
    pub fn on_early(&mut self, octets: u64) {
        self.early = octets;
        self.numbering = self.numbering.after(octets);
        self.una = 1 + octets;
        self.nxt = self.nxt.max(self.una);
        if let Some(store) = &mut self.octets {
            store.drop_below(self.una);
        }
    }

    /// Something was given to a subflow.
    pub fn has_begun(&self) -> bool {
        self.nxt > 1
    }

    /// Nothing has a DATA_ACK.
    pub fn is_unacknowledged(&self) -> bool {
        self.una == 1 + self.early
    }

    /// The user writes `len` octets that are counted alone: how many are taken.
    ///
    /// # Panics
    /// Where real octets were written before.
    pub fn write(&mut self, len: u64) -> u64 {
        assert!(self.octets.is_none(), "a stream carries counted or real octets, not both");
        if self.closed {
            return 0;
        }
        let taken = len.min(STREAM_LIMIT - self.end.min(STREAM_LIMIT));
        self.end += taken;
        taken
    }

    /// The user writes real octets, of which a buffer of `capacity` octets holds what is not
    /// acknowledged: how many are taken.
    ///
    /// # Panics
    /// Where counted octets were written before.
    pub fn write_octets(&mut self, octets: &[u8], capacity: u64) -> usize {
        if self.closed {
            return 0;
        }
        let fresh = self.end == 1;
        let real = self.octets.is_some();
        assert!(real || fresh, "a stream carries counted or real octets, not both");
        let store = self.octets.get_or_insert_with(|| Box::new(Written::starting_at(1)));
        let space = capacity.saturating_sub(store.len());
        let taken = (octets.len() as u64).min(space) as usize;
        store.append(&octets[..taken]);
        self.blocked = taken < octets.len();
        self.end += taken as u64;
        taken
    }

    /// The user writes no more; false when that has been said before.
    pub fn close(&mut self) -> bool {
        let news = !self.closed;
        self.end += news as u64;
        self.closed = true;
        news
    }

    /// The peer acknowledges everything before `ack`, and takes `window` octets from there. True
    /// when a write that was cut short may go on.
    #[inline(always)]
    pub fn on_data_ack(&mut self, now: Time, ack: u64, window: u64) -> bool {
        let edge = self.window.edge();
        self.persistence.on_heard();
        let writable = self.acknowledge(ack) && self.on_acknowledged(now);
        if ack <= self.nxt.max(self.end) {
            self.window.on_advertised(ack, window);
        }
        if self.window.edge() > edge {
            self.persistence.on_opened();
            self.window.avoid_silly();
        }
        writable
    }

    /// Everything before `ack` has a DATA_ACK; false when that is no news.
    #[inline(always)]
    fn acknowledge(&mut self, ack: u64) -> bool {
        // Beyond what was sent: a lie.
        if ack <= self.una || ack > self.nxt.max(if self.owes_fin() { self.end } else { 0 }) {
            return false;
        }
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        let data_end = self.data_end();
        if let Some(octets) = &mut self.octets {
            octets.drop_below(ack.min(data_end));
        }
        self.reinjections.drop_below(ack);
        self.skipped.drop_below(ack);
        true
    }

    /// Something new has a DATA_ACK; true when there is room for a write that was cut short.
    fn on_acknowledged(&mut self, now: Time) -> bool {
        if self.una >= self.pace.next() {
            self.is_long |= self.pace.on_stretch(now, self.una);
        }
        self.persistence.on_acknowledged(now);
        std::mem::take(&mut self.blocked)
    }

    /// The next `len` octets of the stream are given to a subflow: their data offsets. Where some were skipped,
    /// these are the next, up to the end of their range.
    #[inline]
    pub fn take_new(&mut self, len: u64) -> Range {
        if !self.skipped.is_empty() {
            return self.take_ahead(0, len);
        }
        let start = self.nxt;
        self.nxt += len;
        self.window.avoid_silly();
        Range { start, end: self.nxt }
    }

    /// The `len` octets that lie `after` octets behind the first that waits are given to a subflow: their data offsets,
    /// up to the end of what was skipped as one range. What lies before them is skipped.
    #[cold]
    pub fn take_ahead(&mut self, after: u64, len: u64) -> Range {
        if let Some(given) = self.skipped.at(after, len) {
            self.skipped.take(given);
            return given;
        }
        let start = self.nxt + (after - self.skipped.octets());
        self.skipped.add(Range { start: self.nxt, end: start });
        self.nxt = start + len;
        self.window.avoid_silly();
        Range { start, end: self.nxt }
    }

    /// The real octets of a range that is not acknowledged; `None` where the stream carries counted
    /// ones.
    pub fn payload(&mut self, range: Range) -> Option<Payload> {
        let octets = self.octets.as_mut()?;
        Some(octets.payload(range.start, range.len() as u32))
    }

    /// `range` should be sent again on a subflow whose bit is not in `carried`.
    pub fn reinject(&mut self, range: Range, carried: u64) {
        self.reinjections.add(Range { start: range.start.max(self.una), ..range }, carried);
    }

    /// What the subflow of this bit has sent and not delivered is to be sent again.
    pub fn reinject_all(&mut self, sent: &SentMappings, bit: u64) {
        let una = self.una;
        for unit in sent.iter().filter(|unit| unit.data_range().end > una) {
            self.reinject(unit.data_range(), bit);
        }
    }

    /// The oldest octet without DATA_ACK is on the way on the subflows `carried` alone, by their
    /// bits; up to `len` octets from there are to be sent again on another.
    pub fn reinject_oldest(&mut self, len: u64, carried: u64) {
        self.reinjections.set_carriers(self.una, carried);
        // What was skipped has never been sent.
        let given = self.skipped.first().map_or(self.nxt, |skipped| skipped.start);
        self.reinject(Range { start: self.una, end: given.min(self.una + len) }, carried);
    }

    /// The next range to send again that one of the subflows `can` may carry.
    pub fn next_reinjection(&mut self, can: u64) -> Option<Reinjection> {
        self.reinjections.next(self.una, can)
    }

    /// The first octets of a range that waited to be sent again are: `range`.
    pub fn on_reinjected(&mut self, range: Range) {
        self.reinjections.on_sent(range.start, range.len());
    }

    /// A subflow is gone, whose bit this is.
    pub fn forget_carrier(&mut self, bit: u64) {
        self.reinjections.forget_carrier(bit);
    }

    /// Nothing is sent again on another subflow any more.
    pub fn forget_reinjections(&mut self) {
        self.reinjections.clear();
    }

    /// The retransmission timer starts: how often its interval has been doubled.
    pub fn start_retransmission_timer(&mut self, now: Time) -> u32 {
        self.pace.on_start(now);
        self.persistence.start(now)
    }

    /// The retransmission timer expired; see [`Persistence::on_overdue`].
    pub fn on_retransmission_timer(
        &mut self,
        now: Time,
        rto: Span,
        most: u32,
        is_watched: impl FnOnce() -> bool,
    ) -> Overdue {
        self.persistence.on_overdue(now, rto, most, is_watched)
    }

    /// The probe timer expired: who asks the peer for its window; nobody where it is open by too
    /// little, and a small segment may leave (RFC 9293 §3.8.6.2.1).
    pub fn on_probe_timer(
        &mut self,
        most: u32,
        is_watched: impl FnOnce() -> bool,
    ) -> Option<Probe> {
        let probe = self.persistence.on_probe_timer(most, is_watched);
        if probe != Probe::GiveUp && self.window.edge() > self.nxt {
            self.window.override_silly();
            return None;
        }
        Some(probe)
    }

    /// The subflows that did not answer were given up: tries are counted anew.
    pub fn start_over(&mut self) {
        self.persistence.start_over();
    }

    /// The retransmission timer has expired so often since the last new DATA_ACK, and the probe timer
    /// since the window opened.
    pub fn tries(&self) -> (u32, u32) {
        (self.persistence.retries(), self.persistence.probes())
    }

    /// Everything before this offset has a DATA_ACK.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Everything before this offset has been given to a subflow, but for what was [skipped](Self::skipped).
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns how many octets before [`nxt`](Self::nxt) have not been given to a subflow.
    pub fn skipped(&self) -> u64 {
        self.skipped.octets()
    }

    /// Returns how many octets were given to subflows and have no DATA_ACK.
    pub fn unacknowledged(&self) -> u64 {
        self.nxt - self.una - self.skipped.octets()
    }

    /// Whether the user has closed the stream.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The data that the user has written ends before this offset.
    #[inline]
    pub fn data_end(&self) -> u64 {
        self.end - self.closed as u64
    }

    /// The DATA_FIN follows the octet before `end`.
    pub fn ends_at(&self, end: u64) -> bool {
        self.closed && end == self.data_end()
    }

    /// Returns how many octets have not been given to a subflow yet.
    #[inline]
    pub fn unsent(&self) -> u64 {
        self.data_end().saturating_sub(self.nxt) + self.skipped.octets()
    }

    /// Octets have not been given to a subflow yet.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        self.data_end() > self.nxt || !self.skipped.is_empty()
    }

    /// Nothing waits, be it new or to be sent again, not even a DATA_FIN.
    #[inline]
    pub fn has_nothing(&self) -> bool {
        self.end == self.nxt && self.reinjections.is_empty() && self.skipped.is_empty()
    }

    /// Something waits to be sent again on another subflow.
    #[inline]
    pub fn has_reinjections(&self) -> bool {
        !self.reinjections.is_empty()
    }

    /// Octets are on the way without a DATA_ACK.
    #[inline]
    pub fn has_outstanding(&self) -> bool {
        self.una < self.nxt
    }

    /// Data has left, and none of it has a DATA_ACK.
    pub fn is_unproven(&self) -> bool {
        self.is_unacknowledged() && self.nxt > self.una
    }

    /// The stream carries real octets.
    #[inline]
    pub fn has_octets(&self) -> bool {
        self.octets.is_some()
    }

    /// The DATA_FIN, without data, is next to send, or has been sent and not
    /// been acknowledged.
    pub fn owes_fin(&self) -> bool {
        self.closed && self.nxt >= self.data_end() && self.una < self.end
    }

    /// Asks for the DATA_FIN to leave at once: the user has closed and nothing is left to send.
    pub fn ask_for_fin(&mut self) {
        self.fin_due = self.owes_fin();
    }

    /// The DATA_FIN, without data, has been asked for.
    pub fn is_fin_due(&self) -> bool {
        self.fin_due
    }

    /// The DATA_FIN should leave, and does.
    pub fn take_fin(&mut self) -> bool {
        std::mem::take(&mut self.fin_due)
    }

    /// Everything is acknowledged, the DATA_FIN too.
    pub fn is_done(&self) -> bool {
        self.closed && self.una == self.end
    }

    /// The peer takes so many more new octets.
    #[inline]
    pub fn window_left(&self) -> u64 {
        self.window.left(self.nxt)
    }

    /// A subflow whose own window has `room` (§3.3.5) may have another segment, of up to `mss` octets: all
    /// that there is to send fits it, or it is not silly.
    #[inline]
    pub fn fits_window(&self, room: u64, mss: u64) -> bool {
        room >= mss || room > 0 && (room >= self.unsent() || self.window.is_worth(room))
    }

    /// A silly segment, or one that waits for more, may leave now.
    pub fn is_overridden(&self) -> bool {
        self.window.is_overridden()
    }

    /// A new segment of `most` octets may have so many now; 0 when that would be silly.
    pub fn room(&self, most: u64) -> u64 {
        if self.skipped.is_empty() {
            let unsent = self.data_end().saturating_sub(self.nxt);
            return self.window.room(self.nxt, unsent.min(most));
        }
        self.skipped.first().map_or(0, |first| first.len().min(most))
    }

    /// The same of a segment that begins `after` octets behind the first that waits.
    pub fn room_ahead(&self, after: u64, most: u64) -> u64 {
        if after == 0 {
            return self.room(most);
        }
        if let Some(range) = self.skipped.at(after, most) {
            return range.len();
        }
        let start = self.nxt + (after - self.skipped.octets());
        self.window.room(start, self.data_end().saturating_sub(start).min(most))
    }

    /// Data sequence numbers are sent with 64 bits: they were from the start, or at the rate of the
    /// stream those of 32 bits would come again too soon (§3.3.1).
    #[inline]
    pub fn is_long(&self) -> bool {
        self.is_long
    }

    /// An offset has this data sequence number, in 64 bits or in 32.
    #[inline]
    pub fn number(&self, offset: u64) -> DataNumber {
        self.numbering.number(offset, self.is_long)
    }

    /// An offset has this data sequence number, in 64 bits.
    pub fn full_number(&self, offset: u64) -> u64 {
        self.numbering.full_number(offset)
    }

    /// The offset that a DATA_ACK names.
    #[inline]
    pub fn offset(&self, data_ack: DataNumber) -> Option<u64> {
        self.numbering.offset(data_ack, self.una)
    }

    /// Returns how many octets are kept: those without DATA_ACK, and the list of what is to be sent
    /// again.
    pub fn memory(&self) -> u64 {
        let ranges = (self.reinjections.len() + self.skipped.len()) * size_of::<Range>();
        self.nxt.saturating_sub(self.una) + ranges as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream of so many octets, all of which were given to subflows.
    fn sent(octets: u64) -> Sender {
        let mut sender = Sender::new(0, false);
        sender.write(octets);
        sender.take_new(octets);
        sender
    }

    #[test]
    fn what_was_not_sent_is_not_acknowledged() {
        let mut sender = sent(1000);
        assert!(!sender.acknowledge(1002));
        assert!(sender.acknowledge(501));
        assert!(!sender.acknowledge(400), "an old one");
        assert!(sender.close() && !sender.close());
        assert!(sender.owes_fin() && sender.ends_at(1001));
        assert!(sender.acknowledge(1002), "the DATA_FIN has left");
        assert!(sender.is_done() && sender.has_nothing());
        assert_eq!((sender.write(1), sender.data_end()), (0, 1001));
    }

    #[test]
    fn a_data_ack_opens_the_window_and_moves_the_probe_timer() {
        let mut sender = Sender::new(0, false);
        sender.write(100_000);
        assert_eq!(sender.on_probe_timer(5, || false), Some(Probe::Best));
        assert_eq!(sender.tries(), (0, 1));
        sender.on_data_ack(Time::ZERO, 1, 5000);
        assert_eq!((sender.room(1000), sender.tries()), (1000, (0, 0)));
        sender.take_new(4500);
        assert_eq!((sender.room(1000), sender.window_left()), (0, 500));
        assert_eq!(sender.on_probe_timer(5, || false), None, "a small segment may leave");
        assert_eq!(sender.room(1000), 500);
        assert_eq!(sender.take_new(500), Range { start: 4501, end: 5001 });
        assert_eq!(sender.on_probe_timer(5, || false), Some(Probe::All));
        assert!(sender.fits_window(1000, 1000) && !sender.fits_window(999, 1000), "its own window");
        assert!(sender.fits_window(2500, 3000), "half of the largest");
        assert!(!sender.fits_window(0, 1000));
    }

    #[test]
    fn a_write_that_was_cut_short_goes_on_after_a_data_ack() {
        let mut sender = Sender::new(0, false);
        assert_eq!(sender.write_octets(&[7; 1500], 1000), 1000);
        let range = sender.take_new(1000);
        assert_eq!(sender.payload(range).unwrap().len(), 1000);
        assert!(sender.on_data_ack(Time::ZERO, 501, 5000));
        assert!(!sender.on_data_ack(Time::ZERO, 601, 5000), "nobody waits");
        assert_eq!(sender.write_octets(&[7; 1500], 1000), 600);
    }

    /// What was skipped waits, is given before anything new, and needs no more of the receiver's window.
    #[test]
    fn what_was_skipped_is_given_first() {
        let mut sender = Sender::new(0, false);
        sender.write(10_000);
        sender.on_data_ack(Time::ZERO, 1, 6000);
        assert_eq!((sender.room_ahead(5000, 1000), sender.room_ahead(5000, 1500)), (1000, 0));
        assert_eq!(sender.take_ahead(5000, 1000), Range { start: 5001, end: 6001 });
        assert_eq!((sender.nxt(), sender.skipped(), sender.unsent()), (6001, 5000, 9000));
        assert_eq!((sender.unacknowledged(), sender.window_left()), (1000, 0));
        sender.reinject_oldest(1000, 0b01);
        assert!(!sender.has_reinjections(), "it has never been sent");
        assert_eq!((sender.room(1500), sender.room_ahead(4500, 1500)), (1500, 500));
        assert_eq!(sender.take_ahead(2000, 1000), Range { start: 2001, end: 3001 });
        assert_eq!(sender.take_new(1500), Range { start: 1, end: 1501 });
        assert_eq!(sender.room(1500), 500);
        assert_eq!(sender.take_new(500), Range { start: 1501, end: 2001 });
        assert!(sender.acknowledge(3001));
        assert_eq!((sender.skipped(), sender.room_ahead(2000, 1000)), (2000, 0), "no window");
        sender.take_new(2000);
        assert_eq!((sender.skipped(), sender.room(1000), sender.unsent()), (0, 0, 4000));
        sender.on_data_ack(Time::ZERO, 6001, 6000);
        assert_eq!(sender.take_new(1000), Range { start: 6001, end: 7001 });
    }

    #[test]
    fn what_is_acknowledged_is_not_sent_again() {
        let mut sender = sent(10_000);
        sender.acknowledge(2001);
        sender.reinject(Range { start: 1001, end: 4001 }, 0b01);
        let next = sender.next_reinjection(0b10).unwrap().range;
        assert_eq!(next, Range { start: 2001, end: 4001 });
        sender.on_reinjected(Range { end: 3001, ..next });
        sender.reinject_oldest(500, 0b10);
        let next = sender.next_reinjection(0b01).unwrap().range;
        assert_eq!(next, Range { start: 2001, end: 2501 });
        sender.acknowledge(5001);
        assert!(sender.next_reinjection(0b11).is_none() && !sender.has_reinjections());
    }
}
