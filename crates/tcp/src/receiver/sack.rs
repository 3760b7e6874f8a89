//! What waits above a gap, and how it is reported: SACK blocks (RFC 2018 §4), duplicates
//! (RFC 2883).

use super::Receiver;
use crate::range_set::{Range, RangeSet};
use anabranch_wire::{SackBlock, SackBlocks};

/// What arrived above a gap; there only while there is one.
#[derive(Debug, Default)]
pub(super) struct OutOfOrder {
    pub(super) ranges: RangeSet,
    /// One offset inside each of the most recently updated ranges, latest
    /// first.
    recent: [u64; 4],
    /// The duplicate that the next ACK reports.
    pub(super) duplicate: Option<Range>,
}

impl OutOfOrder {
    /// Adds a range above `nxt`. It becomes the one updated last; each is
    /// represented once. How many of its octets are new.
    pub(super) fn add(&mut self, range: Range, nxt: u64) -> u64 {
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

impl Receiver {
    /// There is something to report in SACK blocks: what waits for what is
    /// missing before it, or a duplicate.
    pub fn has_blocks(&self) -> bool {
        self.gaps.is_some()
    }

    /// Returns how many blocks there are to report, of as many as options hold.
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
        let fin = self.fin.filter(|_| !self.sack_without_fin);
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
}
