//! Segments that overtake each other, as the scoreboard shows them.

use super::Sender;
use crate::range_set::Range;

impl Sender {
    /// A segment at `low` that was sent once arrived behind later ones, the last of
    /// which ends at `fack`.
    pub(crate) fn note_reordering(&mut self, low: u64, fack: u64) {
        self.dup_acks.on_reordering(fack - low, self.mss);
    }

    /// What of `block` fills a hole below what was the highest SACKed octet
    /// before this ACK, and was not sent again, was overtaken.
    #[inline(never)]
    pub(super) fn look_for_reordering(&mut self, block: Range, prior_fack: u64) {
        if self.watch.undo.is_none() {
            return;
        }
        let fack = prior_fack.max(self.una);
        let end = block.end.min(fack);
        if self.recovery_point.is_going_back() || block.start >= end {
            return;
        }
        if let Some(hole) = self.board.hole(block.start, end)
            && let Some(low) = self.board.first_not_resent(hole)
        {
            self.note_reordering(low, fack);
        }
    }

    /// Segments have been seen to overtake each other: what is SACKed has
    /// arrived, and lets the window grow, as on Linux.
    #[inline]
    pub(crate) fn expects_reordering(&self) -> bool {
        self.growth.counts_deliveries() && self.dup_acks.expect_reordering()
    }
}
