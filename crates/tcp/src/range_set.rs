//! Disjoint, sorted ranges of offsets: what was SACKed, what was sent again,
//! what arrived out of order.

use std::collections::VecDeque;

/// Offsets `start` up to, not including, `end`; never empty inside a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first offset inside.
    pub start: u64,
    /// The offset after the last.
    pub end: u64,
}

impl Range {
    /// Returns the number of offsets inside.
    pub const fn len(self) -> u64 {
        self.end - self.start
    }
    /// Whether the range holds no offset.
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// A set of offsets kept as sorted ranges that neither overlap nor touch.
/// Operations near either end cost O(log n).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: VecDeque<Range>,
    total: u64,
}

impl RangeSet {
    /// Number of offsets in the set.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// Octets that the ranges take.
    pub fn memory(&self) -> u64 {
        (self.ranges.len() * size_of::<Range>()) as u64
    }
    /// Returns the number of disjoint ranges.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }
    /// Whether the set holds no offset.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// The ranges from low to high.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.ranges.iter().copied()
    }
    /// Returns the range with the lowest offsets.
    pub fn first(&self) -> Option<Range> {
        self.ranges.front().copied()
    }
    /// Returns the range with the highest offsets.
    pub fn last(&self) -> Option<Range> {
        self.ranges.back().copied()
    }

    /// Index of the first range that ends after `at` (and so may contain it).
    fn index_ending_after(&self, at: u64) -> usize {
        // Most questions are about the highest range.
        match self.ranges.back() {
            Some(last) if last.end > at => {}
            _ => return self.ranges.len(),
        }
        self.ranges.partition_point(|r| r.end <= at)
    }

    /// The range that contains `at`.
    pub fn containing(&self, at: u64) -> Option<Range> {
        self.ranges.get(self.index_ending_after(at)).copied().filter(|r| r.start <= at)
    }

    /// Adds a range; returns how many of its offsets were not there before.
    pub fn insert(&mut self, range: Range) -> u64 {
        if range.is_empty() {
            return 0;
        }
        // The usual case: at or above the top.
        match self.ranges.back_mut() {
            None => {
                self.ranges.push_back(range);
                self.total += range.len();
                return range.len();
            }
            Some(last) if range.start > last.end => {
                self.ranges.push_back(range);
                self.total += range.len();
                return range.len();
            }
            Some(last) if range.start >= last.start => {
                let added = range.end.saturating_sub(last.end);
                last.end += added;
                self.total += added;
                return added;
            }
            Some(_) => {}
        }
        // Ranges first..beyond overlap or touch the new one.
        let first = self.ranges.partition_point(|r| r.end < range.start);
        let mut merged = range;
        let mut beyond = first;
        let mut present = 0;
        while let Some(r) = self.ranges.get(beyond).filter(|r| r.start <= range.end) {
            merged.start = merged.start.min(r.start);
            merged.end = merged.end.max(r.end);
            present += r.len();
            beyond += 1;
        }
        let added = merged.len() - present;
        if beyond == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..beyond);
        }
        self.total += added;
        added
    }

    /// Removes a range; returns how many of its offsets were there.
    pub fn remove(&mut self, range: Range) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let first = self.index_ending_after(range.start);
        let mut removed = 0;
        let mut index = first;
        while let Some(r) = self.ranges.get(index).copied().filter(|r| r.start < range.end) {
            let left = Range { start: r.start, end: range.start };
            let right = Range { start: range.end, end: r.end };
            removed += r.end.min(range.end) - r.start.max(range.start);
            match (left.is_empty(), right.is_empty()) {
                (true, true) => {
                    self.ranges.remove(index);
                }
                (false, true) => {
                    self.ranges[index] = left;
                    index += 1;
                }
                (true, false) => self.ranges[index] = right,
                (false, false) => {
                    self.ranges[index] = left;
                    self.ranges.insert(index + 1, right);
                    index += 2;
                }
            }
        }
        self.total -= removed;
        removed
    }

    /// Removes everything below `bound`; returns how many offsets that were.
    pub fn remove_below(&mut self, bound: u64) -> u64 {
        let mut removed = 0;
        while let Some(first) = self.ranges.front_mut() {
            if first.end <= bound {
                removed += first.len();
                self.ranges.pop_front();
            } else {
                if first.start < bound {
                    removed += bound - first.start;
                    first.start = bound;
                }
                break;
            }
        }
        self.total -= removed;
        removed
    }

    /// Returns how many offsets below `bound` are in the set.
    pub fn total_below(&self, bound: u64) -> u64 {
        match self.ranges.back() {
            None => return 0,
            Some(last) if last.end <= bound => return self.total,
            Some(_) => {}
        }
        self.iter().take_while(|r| r.start < bound).map(|r| r.end.min(bound) - r.start).sum()
    }

    /// The first gap at or above `from` and below `limit`: offsets that are
    /// not in the set.
    pub fn gap(&self, from: u64, limit: u64) -> Option<Range> {
        let mut start = from;
        let mut index = self.index_ending_after(from);
        loop {
            match self.ranges.get(index) {
                Some(r) if r.start <= start => {
                    start = r.end;
                    index += 1;
                }
                next => {
                    let end = next.map_or(limit, |r| r.start.min(limit));
                    return (start < end).then_some(Range { start, end });
                }
            }
        }
    }

    /// Empties the set and releases its memory.
    pub fn clear(&mut self) {
        *self = RangeSet::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn range(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    #[test]
    fn merges_ranges_that_touch() {
        let mut set = RangeSet::default();
        assert_eq!(set.insert(range(10, 20)), 10);
        assert_eq!(set.insert(range(30, 40)), 10);
        assert_eq!(set.insert(range(20, 30)), 10);
        assert_eq!(set.iter().collect::<Vec<_>>(), [range(10, 40)]);
        assert_eq!(set.insert(range(5, 50)), 15);
        assert_eq!(set.total(), 45);
    }

    #[test]
    fn finds_gaps() {
        let mut set = RangeSet::default();
        set.insert(range(10, 20));
        set.insert(range(30, 40));
        assert_eq!(set.gap(0, 100), Some(range(0, 10)));
        assert_eq!(set.gap(10, 100), Some(range(20, 30)));
        assert_eq!(set.gap(25, 100), Some(range(25, 30)));
        assert_eq!(set.gap(30, 35), None);
        assert_eq!(set.gap(30, 45), Some(range(40, 45)));
    }

    proptest! {
        /// Against the naive model: a set of single offsets.
        #[test]
        fn agrees_with_a_set_of_offsets(ops in prop::collection::vec((0..4_u8, 0..60_u64, 0..20_u64), 1..60)) {
            let mut set = RangeSet::default();
            let mut model = BTreeSet::new();
            for (op, start, len) in ops {
                let r = range(start, start + len);
                match op {
                    0 | 1 => {
                        let new = (r.start..r.end).filter(|x| model.insert(*x)).count();
                        prop_assert_eq!(set.insert(r), new as u64);
                    }
                    2 => {
                        let gone = (r.start..r.end).filter(|x| model.remove(x)).count();
                        prop_assert_eq!(set.remove(r), gone as u64);
                    }
                    _ => {
                        let gone = model.iter().filter(|x| **x < start).count();
                        model.retain(|x| *x >= start);
                        prop_assert_eq!(set.remove_below(start), gone as u64);
                    }
                }
                prop_assert_eq!(set.total(), model.len() as u64);
                let listed: Vec<u64> = set.iter().flat_map(|r| r.start..r.end).collect();
                prop_assert_eq!(listed, model.iter().copied().collect::<Vec<_>>());
                let below = model.iter().filter(|x| **x < start).count() as u64;
                prop_assert_eq!(set.total_below(start), below);
                let gap = (start..start + len).find(|x| !model.contains(x));
                prop_assert_eq!(set.gap(start, start + len).map(|g| g.start), gap);
                prop_assert_eq!(set.containing(start).is_some(), model.contains(&start));
            }
        }
    }
}
