//! This map knows which TSNs have arrived (RFC 9260 §6.2): everything below one offset, and ranges
//! beyond it.

use anabranch_wire::sctp::GapBlock;
use std::collections::VecDeque;

/// TSNs further than this beyond the cumulative one have no gap block, whose offsets have 16 bits,
/// and are refused.
const REACH: u64 = 65_535;

/// An `Arrival` says what a TSN is to a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    New,
    Duplicate,
    /// It is too far ahead, or would make one range too many.
    Refused,
}

#[derive(Debug, Default)]
pub(crate) struct TsnMap {
    /// `next` is the TSN offset that is expected next in order.
    pub next: u64,
    /// `ranges` are those beyond, each from its first offset to the one after its last, ascending
    /// and not touching.
    ranges: VecDeque<(u64, u64)>,
}

/// At most this many ranges are kept, which is more than a SACK can report.
const MAX_RANGES: usize = 1024;

impl TsnMap {
    /// `starting_at` makes a map in which nothing has arrived; `next` is the offset of the first
    /// TSN.
    pub fn starting_at(next: u64) -> TsnMap {
        TsnMap { next, ..TsnMap::default() }
    }

    /// Returns how many octets of memory the ranges take.
    pub fn memory(&self) -> u64 {
        (self.ranges.len() * size_of::<(u64, u64)>()) as u64
    }

    /// Returns what the TSN at `offset` would be if it came now.
    pub fn look(&self, offset: u64) -> Arrival {
        if offset < self.next {
            return Arrival::Duplicate;
        }
        if offset - self.next >= REACH {
            return Arrival::Refused;
        }
        let at = self.ranges.partition_point(|r| r.1 <= offset);
        match self.ranges.get(at) {
            Some(r) if r.0 <= offset => Arrival::Duplicate,
            _ if offset != self.next && self.ranges.len() >= MAX_RANGES => Arrival::Refused,
            _ => Arrival::New,
        }
    }

    /// Notes a new TSN.
    #[inline]
    pub fn insert(&mut self, offset: u64) {
        if offset == self.next {
            self.next += 1;
            if let Some(first) = self.ranges.front().filter(|r| r.0 == self.next) {
                self.next = first.1;
                self.ranges.pop_front();
            }
            return;
        }
        let at = self.ranges.partition_point(|r| r.1 < offset);
        match self.ranges.get(at).copied() {
            // It extends the range before it, and perhaps closes a hole.
            Some(r) if r.1 == offset => {
                self.ranges[at].1 += 1;
                if let Some(after) = self.ranges.get(at + 1).copied()
                    && after.0 == offset + 1
                {
                    self.ranges[at].1 = after.1;
                    self.ranges.remove(at + 1);
                }
            }
            Some(r) if r.0 == offset + 1 => self.ranges[at].0 = offset,
            _ => self.ranges.insert(at, (offset, offset + 1)),
        }
    }

    /// Makes all TSNs before `next` count as arrived, since they need not come any more (RFC 3758
    /// §3.6).
    pub fn skip_to(&mut self, next: u64) {
        self.next = self.next.max(next);
        while let Some(first) = self.ranges.front().filter(|r| r.0 <= self.next) {
            self.next = self.next.max(first.1);
            self.ranges.pop_front();
        }
    }

    /// Returns the offset after the highest that has arrived.
    pub fn end(&self) -> u64 {
        self.ranges.back().map_or(self.next, |last| last.1)
    }

    /// Returns how many TSNs before `offset` have not arrived.
    pub fn missing_before(&self, offset: u64) -> u64 {
        let before = self.ranges.iter().take_while(|range| range.1 <= offset);
        offset.saturating_sub(self.next) - before.map(|range| range.1 - range.0).sum::<u64>()
    }

    /// Returns whether TSNs are missing before the highest that has arrived.
    pub fn has_gaps(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Returns the lowest gap blocks, at most `most`. Their offsets count from the cumulative TSN.
    pub fn blocks(&self, most: usize) -> Vec<GapBlock> {
        let base = self.next - 1;
        let block = |r: &(u64, u64)| GapBlock {
            start: (r.0.wrapping_sub(base)) as u16,
            end: (r.1 - 1).wrapping_sub(base) as u16,
        };
        self.ranges.iter().take(most).map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against the naive model: a set of offsets.
        #[test]
        fn agrees_with_a_set(offsets in prop::collection::vec(1_u64..60, 1..80)) {
            let mut map = TsnMap::starting_at(1);
            let mut model = BTreeSet::new();
            for offset in offsets {
                let expected =
                    if model.insert(offset) { Arrival::New } else { Arrival::Duplicate };
                prop_assert_eq!(map.look(offset), expected);
                if expected == Arrival::New {
                    map.insert(offset);
                }
                let next = (1..).find(|n| !model.contains(n)).unwrap();
                prop_assert_eq!(map.next, next);
                let listed: Vec<u64> = map
                    .blocks(usize::MAX)
                    .iter()
                    .flat_map(|b| b.start as u64..=b.end as u64)
                    .map(|n| n + next - 1)
                    .collect();
                let beyond: Vec<u64> = model.range(next..).copied().collect();
                prop_assert_eq!(listed, beyond);
            }
        }
    }

    #[test]
    fn what_is_skipped_joins_what_has_arrived() {
        let mut map = TsnMap::starting_at(1);
        [3, 5, 6, 9].into_iter().for_each(|offset| map.insert(offset));
        assert_eq!([1, 2, 4, 5, 8, 12].map(|at| map.missing_before(at)), [0, 1, 2, 3, 4, 7]);
        map.skip_to(3);
        assert_eq!(map.next, 4);
        map.skip_to(2);
        assert_eq!(map.next, 4, "never back");
        map.skip_to(6);
        assert_eq!((map.next, map.look(9), map.look(7)), (7, Arrival::Duplicate, Arrival::New));
        map.skip_to(20);
        assert_eq!((map.next, map.has_gaps()), (20, false));
    }

    #[test]
    fn what_is_too_far_ahead_is_refused() {
        let map = TsnMap::starting_at(1);
        assert_eq!(map.look(65_535), Arrival::New);
        assert_eq!(map.look(65_536), Arrival::Refused);
    }

    #[test]
    fn the_number_of_ranges_is_bounded() {
        let mut map = TsnMap::starting_at(1);
        for n in 0..MAX_RANGES as u64 {
            map.insert(3 + 2 * n);
        }
        assert_eq!(map.look(5 + 2 * MAX_RANGES as u64), Arrival::Refused);
        assert_eq!(map.look(1), Arrival::New, "what fills the first gap is always welcome");
        assert_eq!(map.blocks(10).len(), 10);
    }
}
