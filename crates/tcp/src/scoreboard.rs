//! The SACK scoreboard: what the peer holds above the cumulative ACK, and what
//! was sent again. RFC 6675 §3 and §4 in closed form: because everything
//! unSACKed below one edge is lost, and nothing above, the pipe needs no walk
//! over segments.

use crate::range_set::{Range, RangeSet};

/// What SACK blocks and retransmissions say about [una, max).
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: RangeSet,
    /// What was sent again and not covered since, while a loss is repaired.
    retransmitted: Option<Box<RangeSet>>,
}

/// The edge below which loss begins, by RFC 6675's `IsLost`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossEdge {
    /// Every unSACKed octet below is lost, none above is.
    pub at: u64,
    /// Octets SACKed below `at`.
    pub sacked_below: u64,
}

impl Scoreboard {
    /// A SACK block; returns (octets newly SACKed, retransmitted octets among
    /// them).
    pub fn on_sack(&mut self, block: Range) -> (u64, u64) {
        let new = self.sacked.insert(block);
        let covered = match &mut self.retransmitted {
            Some(again) if new > 0 => again.remove(block),
            _ => 0,
        };
        (new, covered)
    }

    /// The cumulative ACK moved to `una`; returns (octets below it that had
    /// been SACKed, retransmitted octets that it covers).
    pub fn on_cumulative_ack(&mut self, una: u64) -> (u64, u64) {
        let covered = self.retransmitted.as_mut().map_or(0, |again| again.remove_below(una));
        (self.sacked.remove_below(una), covered)
    }

    /// Octets that the ranges take.
    pub fn memory(&self) -> u64 {
        let again = self.retransmitted.as_ref().map_or(0, |again| again.memory());
        self.sacked.memory() + again
    }

    /// A hole was filled by sending it again.
    pub fn on_retransmit(&mut self, range: Range) {
        self.retransmitted.get_or_insert_default().insert(range);
    }

    /// Forgets what was retransmitted (after a timeout).
    pub fn forget_retransmissions(&mut self) {
        self.retransmitted = None;
    }

    /// Nothing counts as SACKed any more.
    pub fn forget_sacked(&mut self) {
        self.sacked.clear();
    }

    /// The first octet of `hole` that was not sent again.
    pub fn first_not_resent(&self, hole: Range) -> Option<u64> {
        match &self.retransmitted {
            Some(again) => again.gap(hole.start, hole.end).map(|gap| gap.start),
            None => Some(hole.start),
        }
    }

    /// Returns the ranges above the cumulative ACK that the peer has SACKed.
    pub fn sacked(&self) -> &RangeSet {
        &self.sacked
    }
    /// Returns how many octets were sent again and are not yet covered.
    pub fn retransmitted(&self) -> u64 {
        self.retransmitted.as_ref().map_or(0, |again| again.total())
    }
    /// The forward ACK: the octet after the highest SACKed one, at least `una`
    /// (Mathis and Mahdavi 1996, `snd.fack`).
    pub fn fack(&self, una: u64) -> u64 {
        self.sacked.last().map_or(una, |r| r.end.max(una))
    }

    /// RFC 6675 §4, `IsLost` solved for its edge: an unSACKed octet is lost
    /// when `dup_thresh` discontiguous SACKed ranges, or more than
    /// (`dup_thresh` − 1) · `mss` SACKed octets, lie above it.
    pub fn loss_edge(&self, dup_thresh: u32, mss: u64) -> Option<LossEdge> {
        let mut above = 0;
        for (n, range) in self.sacked.iter().rev().enumerate() {
            above += range.len();
            if n as u32 + 1 >= dup_thresh || above > (dup_thresh as u64 - 1) * mss {
                let sacked_below = self.sacked.total() - above;
                return Some(LossEdge { at: range.start, sacked_below });
            }
        }
        None
    }

    /// RFC 6675 §4, `SetPipe`: octets in [una, max) that are not SACKed and not
    /// lost, and octets sent again.
    pub fn pipe(&self, una: u64, max: u64, dup_thresh: u32, mss: u64) -> u64 {
        let outstanding = max - una - self.sacked.total();
        let lost = match self.loss_edge(dup_thresh, mss) {
            Some(edge) => edge.at - una - edge.sacked_below,
            None => 0,
        };
        outstanding - lost + self.retransmitted()
    }

    /// Octets in [from, to) that are not SACKed. Costs the ranges above `from`.
    pub fn holes_between(&self, from: u64, to: u64) -> u64 {
        let inside = |r: Range| r.end.min(to).saturating_sub(r.start.max(from));
        let above = self.sacked.iter().rev().take_while(|r| r.end > from);
        to - from - above.map(inside).sum::<u64>()
    }

    /// The first hole at or above `from` and below `limit`.
    pub fn hole(&self, from: u64, limit: u64) -> Option<Range> {
        self.sacked.gap(from, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 6675's definitions, octet by octet.
    fn naive_pipe(sacked: &[bool], rexmitted: &[bool], dup_thresh: u32, mss: u64) -> u64 {
        let is_lost = |at: usize| {
            let above = &sacked[at + 1..];
            let octets = above.iter().filter(|s| **s).count() as u64;
            let mut ranges = 0;
            let mut inside = false;
            for s in above {
                ranges += (*s && !inside) as u32;
                inside = *s;
            }
            ranges >= dup_thresh || octets > (dup_thresh as u64 - 1) * mss
        };
        (0..sacked.len())
            .filter(|at| !sacked[*at])
            .map(|at| !is_lost(at) as u64 + rexmitted[at] as u64)
            .sum()
    }

    proptest! {
        #[test]
        fn pipe_agrees_with_the_definition(
            blocks in prop::collection::vec((0..40_u64, 1..8_u64), 0..8),
            resent in prop::collection::vec((0..40_u64, 1..4_u64), 0..4),
            mss in 1..6_u64,
        ) {
            let max = 48;
            let mut board = Scoreboard::default();
            let (mut sacked, mut rexmitted) = (vec![false; max], vec![false; max]);
            for (start, len) in resent {
                board.on_retransmit(Range { start, end: start + len });
                rexmitted[start as usize..(start + len) as usize].fill(true);
            }
            for (start, len) in blocks {
                let before = sacked.iter().filter(|s| **s).count();
                let new = board.on_sack(Range { start, end: start + len }).0;
                sacked[start as usize..(start + len) as usize].fill(true);
                let after = sacked.iter().filter(|s| **s).count();
                prop_assert_eq!(new, (after - before) as u64);
            }
            for at in 0..max {
                rexmitted[at] &= !sacked[at];
            }
            // A block that was already SACKed cannot hide a retransmission.
            prop_assert_eq!(
                board.retransmitted(),
                rexmitted.iter().filter(|s| **s).count() as u64
            );
            prop_assert_eq!(board.pipe(0, max as u64, 3, mss), naive_pipe(&sacked, &rexmitted, 3, mss));
        }
    }

    #[test]
    fn three_segments_above_a_hole_lose_it() {
        let mss = 1000;
        let mut board = Scoreboard::default();
        board.on_sack(Range { start: 2001, end: 4001 });
        assert_eq!(board.loss_edge(3, mss), None);
        board.on_sack(Range { start: 4001, end: 5001 });
        assert_eq!(board.loss_edge(3, mss), Some(LossEdge { at: 2001, sacked_below: 0 }));
        // 1001..2001 is lost; 5001..6001 is in the network.
        assert_eq!(board.pipe(1001, 6001, 3, mss), 1000);
    }
}
