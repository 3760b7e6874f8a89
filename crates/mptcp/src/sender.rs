//! The sending half of the stream: data sequence variables, the peer's receive
//! window, what must be sent again on another subflow.

use anabranch_endpoint::Written;
use anabranch_tcp::Range;
use std::collections::VecDeque;

/// Ranges that wait to be sent again, at most; more are merged by the
/// retransmission at the data level.
const MOST_REINJECTIONS: usize = 4096;

/// What is to be sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reinjection {
    pub range: Range,
    /// Subflows that carry it already: by their serial numbers, as bits.
    pub carried: u64,
}

/// The sending half of the stream, in data offsets.
#[derive(Debug)]
pub(crate) struct Sender {
    /// Oldest offset without DATA_ACK.
    pub una: u64,
    /// Next offset that has never been given to a subflow.
    pub nxt: u64,
    /// The offset after the last that the user gave, the DATA_FIN included once
    /// the stream is closed.
    pub end: u64,
    /// The user has closed.
    pub closed: bool,
    /// Right edge of the peer's receive window (§3.3.5).
    pub edge: u64,
    /// The largest window that it has advertised.
    pub max_window: u64,
    /// Real octets, where the stream carries them.
    pub octets: Option<Box<Written>>,
    pub reinjections: VecDeque<Reinjection>,
    /// A write was cut short.
    pub blocked: bool,
}

impl Sender {
    pub fn new() -> Sender {
        Sender {
            una: 1,
            nxt: 1,
            end: 1,
            closed: false,
            edge: 1,
            max_window: 0,
            octets: None,
            reinjections: VecDeque::new(),
            blocked: false,
        }
    }

    /// The offset after the last octet of data.
    pub fn data_end(&self) -> u64 {
        self.end - self.closed as u64
    }

    /// Octets that no subflow has been given yet.
    pub fn unsent(&self) -> u64 {
        self.data_end().saturating_sub(self.nxt)
    }

    /// The DATA_FIN, without data, is next to send, or has been sent and not
    /// been acknowledged.
    pub fn owes_fin(&self) -> bool {
        self.closed && self.nxt >= self.data_end() && self.una < self.end
    }

    /// Everything is acknowledged, the DATA_FIN too.
    pub fn is_done(&self) -> bool {
        self.closed && self.una == self.end
    }

    /// The peer has acknowledged up to `una`; true when that is news.
    pub fn on_data_ack(&mut self, una: u64) -> bool {
        // Beyond what was sent: a lie.
        if una <= self.una || una > self.nxt.max(if self.owes_fin() { self.end } else { 0 }) {
            return false;
        }
        self.una = una;
        self.nxt = self.nxt.max(una);
        let data_end = self.data_end();
        if let Some(octets) = &mut self.octets {
            octets.drop_below(una.min(data_end));
        }
        while self.reinjections.front().is_some_and(|it| it.range.end <= una) {
            self.reinjections.pop_front();
        }
        true
    }

    /// The window that came with a DATA_ACK of `ack`: it never moves back
    /// (§3.3.5: the highest right edge counts).
    pub fn on_window(&mut self, ack: u64, window: u64) {
        self.edge = self.edge.max(ack.saturating_add(window));
        self.max_window = self.max_window.max(window);
    }

    /// How much of a new segment of `most` octets may leave now: nothing when
    /// it would be silly (RFC 9293 §3.8.6.2.1), unless `override_silly`.
    pub fn room(&self, most: u64, override_silly: bool) -> u64 {
        let left = self.edge.saturating_sub(self.nxt);
        let wanted = self.unsent().min(most);
        if left >= wanted || override_silly || left >= self.max_window / 2 {
            left.min(wanted)
        } else {
            0
        }
    }

    /// `range` should be sent again on a subflow that does not carry it. What
    /// waits already is not added again.
    pub fn reinject(&mut self, range: Range, carried: u64) {
        let mut start = range.start.max(self.una);
        let mut at = self.reinjections.partition_point(|it| it.range.end <= start);
        while start < range.end && self.reinjections.len() < MOST_REINJECTIONS {
            let next = self.reinjections.get(at).map(|it| it.range);
            match next.filter(|next| next.start < range.end) {
                Some(next) if next.start <= start => {
                    self.reinjections[at].carried |= carried;
                    start = next.end;
                    at += 1;
                }
                next => {
                    let end = next.map_or(range.end, |next| next.start);
                    self.insert(at, Range { start, end }, carried);
                    at = self.reinjections.partition_point(|it| it.range.end <= end);
                    start = end;
                }
            }
        }
    }

    /// Only these carry the octet at `data` still: what was acknowledged on a
    /// subflow and not taken by the stream is on nobody's way.
    pub fn set_carriers(&mut self, data: u64, carried: u64) {
        let holds = |it: &&mut Reinjection| it.range.start <= data && data < it.range.end;
        if let Some(it) = self.reinjections.iter_mut().find(holds) {
            it.carried = carried;
        }
    }

    /// A range that overlaps none of those that wait, in its place.
    fn insert(&mut self, at: usize, range: Range, carried: u64) {
        if at > 0
            && let Some(before) = self.reinjections.get_mut(at - 1)
            && before.range.end == range.start
            && before.carried == carried
        {
            before.range.end = range.end;
        } else {
            self.reinjections.insert(at, Reinjection { range, carried });
        }
    }

    /// The next range to send again that `can` carry, at most `most` octets;
    /// what is acknowledged is forgotten.
    pub fn next_reinjection(&mut self, can: u64) -> Option<Reinjection> {
        let una = self.una;
        while let Some(front) = self.reinjections.front_mut() {
            front.range.start = front.range.start.max(una);
            if front.range.is_empty() {
                self.reinjections.pop_front();
            } else {
                break;
            }
        }
        self.reinjections.iter().find(|it| can & !it.carried != 0).copied()
    }

    /// The first octets of the range that begins at `start` are sent again.
    pub fn on_reinjected(&mut self, start: u64, len: u64) {
        let Some(at) = self.reinjections.iter().position(|it| it.range.start == start) else {
            return;
        };
        self.reinjections[at].range.start += len;
        if self.reinjections[at].range.is_empty() {
            self.reinjections.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(nxt: u64) -> Sender {
        Sender { nxt, end: nxt, ..Sender::new() }
    }

    #[test]
    fn what_was_not_sent_is_not_acknowledged() {
        let mut out = sent(1001);
        assert!(!out.on_data_ack(1002));
        assert!(out.on_data_ack(501));
        assert!(!out.on_data_ack(400), "an old one");
        (out.closed, out.end) = (true, 1002);
        assert!(out.owes_fin());
        assert!(out.on_data_ack(1002), "the DATA_FIN has left");
        assert!(out.is_done());
    }

    /// RFC 8684 §3.3.5: the highest right edge that was advertised counts.
    #[test]
    fn the_window_does_not_shrink() {
        let mut out = Sender { end: 100_001, ..sent(1) };
        out.on_window(1, 5000);
        out.on_window(1, 3000);
        assert_eq!((out.edge, out.room(1000, false)), (5001, 1000));
        out.nxt = 4501;
        assert_eq!((out.room(1000, false), out.room(1000, true)), (0, 500));
        out.end = 4601;
        assert_eq!(out.room(1000, false), 100, "the end of the data is not silly");
    }

    #[test]
    fn ranges_are_sent_again_in_order_and_by_another_subflow() {
        let mut out = sent(10_001);
        out.reinject(Range { start: 3001, end: 4001 }, 0b01);
        out.reinject(Range { start: 1001, end: 2001 }, 0b01);
        out.reinject(Range { start: 2001, end: 3001 }, 0b01);
        out.reinject(Range { start: 1001, end: 2001 }, 0b01);
        assert_eq!(out.reinjections.len(), 2, "neighbours are one, nothing twice");
        let overlapping = Range { start: 2501, end: 4501 };
        out.reinject(overlapping, 0b01);
        let total: u64 = out.reinjections.iter().map(|it| it.range.len()).sum();
        assert_eq!(total, 3500);
        assert!(out.next_reinjection(0b01).is_none());
        let next = out.next_reinjection(0b11).unwrap().range;
        assert_eq!(next, Range { start: 1001, end: 3001 });
        out.on_reinjected(1001, 1000);
        assert_eq!(out.next_reinjection(0b10).unwrap().range.start, 2001);
        out.on_data_ack(3501);
        assert_eq!(out.next_reinjection(0b10).unwrap().range, Range { start: 3501, end: 4501 });
    }
}
