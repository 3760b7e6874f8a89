//! Ranges of the stream that are to be sent again on another subflow (RFC 8684 §3.3.6).

use anabranch_tcp::Range;
use std::collections::VecDeque;

/// Most ranges that wait; the retransmission at the data level sees to what is beyond.
const MOST: usize = 4096;

/// A range that waits to be sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reinjection {
    /// Data offsets that are to be sent again.
    pub range: Range,
    /// The subflows of these bits carry it already.
    pub carried: u64,
}

/// The ranges that wait to be sent again, in order and without overlaps.
#[derive(Debug, Default)]
pub(crate) struct Reinjections {
    ranges: VecDeque<Reinjection>,
}

impl Reinjections {
    /// Nothing waits to be sent again.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns how many ranges wait.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Nothing is to be sent again any more.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Everything before `una` is acknowledged.
    pub fn drop_below(&mut self, una: u64) {
        while self.ranges.front().is_some_and(|first| first.range.end <= una) {
            self.ranges.pop_front();
        }
    }

    /// `range` is to be sent again on a subflow that is not in `carried`. What waits already is
    /// not added again.
    pub fn add(&mut self, range: Range, carried: u64) {
        let mut start = range.start;
        let mut at = self.ranges.partition_point(|known| known.range.end <= start);
        while start < range.end && self.ranges.len() < MOST {
            let next = self.ranges.get(at).map(|known| known.range);
            match next.filter(|next| next.start < range.end) {
                Some(next) if next.start <= start => {
                    self.ranges[at].carried |= carried;
                    start = next.end;
                    at += 1;
                }
                next => {
                    let end = next.map_or(range.end, |next| next.start);
                    self.insert(at, Range { start, end }, carried);
                    at = self.ranges.partition_point(|known| known.range.end <= end);
                    start = end;
                }
            }
        }
    }

    /// A range that overlaps none of those that wait takes its place.
    fn insert(&mut self, at: usize, range: Range, carried: u64) {
        if at > 0
            && let Some(before) = self.ranges.get_mut(at - 1)
            && before.range.end == range.start
            && before.carried == carried
        {
            before.range.end = range.end;
        } else {
            self.ranges.insert(at, Reinjection { range, carried });
        }
    }

    /// Only the subflows `carried` carry the octet at `data` still: what was acknowledged on a
    /// subflow and not taken by the stream is on nobody's way.
    pub fn set_carriers(&mut self, data: u64, carried: u64) {
        let holds = |known: &&mut Reinjection| known.range.start <= data && data < known.range.end;
        if let Some(known) = self.ranges.iter_mut().find(holds) {
            known.carried = carried;
        }
    }

    /// The subflow of this bit is gone: it carries nothing.
    pub fn forget_carrier(&mut self, bit: u64) {
        self.ranges.iter_mut().for_each(|known| known.carried &= !bit);
    }

    /// The first range that one of the subflows `can` may carry. What is acknowledged, everything
    /// before `una`, is forgotten.
    pub fn next(&mut self, una: u64, can: u64) -> Option<Reinjection> {
        while let Some(front) = self.ranges.front_mut() {
            front.range.start = front.range.start.max(una);
            if front.range.is_empty() {
                self.ranges.pop_front();
            } else {
                break;
            }
        }
        self.ranges.iter().find(|known| can & !known.carried != 0).copied()
    }

    /// The first `len` octets of the range that begins at `start` are sent again.
    pub fn on_sent(&mut self, start: u64, len: u64) {
        let Some(at) = self.ranges.iter().position(|known| known.range.start == start) else {
            return;
        };
        self.ranges[at].range.start += len;
        if self.ranges[at].range.is_empty() {
            self.ranges.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    #[test]
    fn ranges_are_sent_again_in_order_and_by_another_subflow() {
        let mut all = Reinjections::default();
        all.add(range(3001, 4001), 0b01);
        all.add(range(1001, 2001), 0b01);
        all.add(range(2001, 3001), 0b01);
        all.add(range(1001, 2001), 0b01);
        assert_eq!(all.len(), 2, "neighbours are one, nothing twice");
        all.add(range(2501, 4501), 0b01);
        let total: u64 = all.ranges.iter().map(|known| known.range.len()).sum();
        assert_eq!(total, 3500);
        assert!(all.next(1, 0b01).is_none());
        assert_eq!(all.next(1, 0b11).unwrap().range, range(1001, 3001));
        all.on_sent(1001, 1000);
        assert_eq!(all.next(1, 0b10).unwrap().range.start, 2001);
        all.drop_below(3501);
        assert_eq!(all.next(3501, 0b10).unwrap().range, range(3501, 4501));
    }

    #[test]
    fn a_subflow_that_is_gone_carries_nothing() {
        let mut all = Reinjections::default();
        all.add(range(1, 1001), 0b11);
        assert!(all.next(1, 0b11).is_none());
        all.forget_carrier(0b10);
        assert_eq!(all.next(1, 0b11).unwrap().carried, 0b01);
        all.set_carriers(500, 0);
        assert_eq!(all.next(1, 0b01).unwrap().range, range(1, 1001));
    }

    #[test]
    fn ever_new_ranges_cost_no_memory() {
        let mut all = Reinjections::default();
        for at in 0..10_000 {
            all.add(range(1 + 20 * at, 11 + 20 * at), 0b01);
        }
        assert_eq!(all.len(), MOST);
    }
}
