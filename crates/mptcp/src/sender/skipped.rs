//! Ranges of the stream that a scheduler has passed over, to give a subflow what comes behind them.

use anabranch_tcp::Range;
use std::collections::VecDeque;

/// The ranges before the newest data that no subflow has been given, in order and without overlaps.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    ranges: VecDeque<Range>,
    /// Octets of all ranges.
    octets: u64,
}

impl Skipped {
    /// Nothing was passed over.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.octets == 0
    }

    /// Returns how many octets were passed over.
    #[inline]
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Returns how many ranges there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The first range.
    pub fn first(&self) -> Option<Range> {
        self.ranges.front().copied()
    }

    /// `range`, behind all others, is passed over.
    pub fn add(&mut self, range: Range) {
        if range.is_empty() {
            return;
        }
        self.octets += range.len();
        match self.ranges.back_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push_back(range),
        }
    }

    /// What lies `after` octets behind the first that was passed over, up to `len` octets of one range; `after` is below
    /// [`octets`](Self::octets).
    pub fn at(&self, mut after: u64, len: u64) -> Option<Range> {
        for range in &self.ranges {
            if after < range.len() {
                let start = range.start + after;
                return Some(Range { start, end: range.end.min(start + len) });
            }
            after -= range.len();
        }
        None
    }

    /// `given`, a part of one range, is given to a subflow.
    pub fn take(&mut self, given: Range) {
        let holds = |range: &Range| range.start <= given.start && given.end <= range.end;
        let Some(at) = self.ranges.iter().position(holds) else { return };
        let range = self.ranges[at];
        self.octets -= given.len();
        self.ranges[at].end = given.start;
        let behind = Range { start: given.end, end: range.end };
        if !behind.is_empty() {
            self.ranges.insert(at + 1, behind);
        }
        if self.ranges[at].is_empty() {
            self.ranges.remove(at);
        }
    }

    /// Everything before `una` is acknowledged.
    #[inline]
    pub fn drop_below(&mut self, una: u64) {
        if !self.is_empty() {
            self.drop_some_below(una);
        }
    }

    #[cold]
    fn drop_some_below(&mut self, una: u64) {
        while let Some(first) = self.ranges.front_mut().filter(|first| first.start < una) {
            let end = first.end.min(una);
            self.octets -= end - first.start;
            first.start = end;
            if first.is_empty() {
                self.ranges.pop_front();
            }
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
    fn what_was_passed_over_is_given_from_anywhere() {
        let mut all = Skipped::default();
        all.add(range(1001, 4001));
        all.add(range(4001, 5001));
        all.add(range(5001, 5001));
        all.add(range(9001, 10_001));
        assert_eq!((all.octets(), all.len(), all.first()), (5000, 2, Some(range(1001, 5001))));
        assert_eq!(all.at(3500, 1000), Some(range(4501, 5001)), "of one range");
        assert_eq!(all.at(4000, 400), Some(range(9001, 9401)));
        assert_eq!(all.at(5000, 1000), None);
        all.take(range(2001, 3001));
        all.take(range(9001, 10_001));
        assert_eq!((all.octets(), all.len()), (3000, 2));
        assert_eq!(all.at(1000, 5000), Some(range(3001, 5001)));
        all.drop_below(3501);
        assert_eq!((all.octets(), all.first()), (1500, Some(range(3501, 5001))));
        all.take(range(3501, 5001));
        assert!(all.is_empty() && all.first().is_none());
    }
}
