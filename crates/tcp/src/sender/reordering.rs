//! Segments that overtake each other: the threshold of duplicate ACKs rises with what is seen of it,
//! where it may.

use super::Sender;
use crate::config::Counting;
use crate::range_set::Range;

impl Sender {
    /// A segment that was sent once arrived behind later ones, the last of
    /// which ends at `fack`: the threshold rises above the number of segments
    /// that overtook it, as Linux's `reordering` does (RFC 4653 §3 raises it to
    /// a window's worth at once).
    pub(crate) fn note_reordering(&mut self, low: u64, fack: u64) {
        let Some(undo) = &mut self.undo else { return };
        undo.reorderings += 1;
        let overtaken = (fack - low).div_ceil(self.mss).min(u32::MAX as u64) as u32;
        self.dup_thresh = self.dup_thresh.max(overtaken.min(undo.dup_thresh.1));
    }

    /// What of `block` fills a hole below what was the highest SACKed octet
    /// before this ACK, and was not sent again, was overtaken.
    #[inline(never)]
    pub(super) fn look_for_reordering(&mut self, block: Range, prior_fack: u64) {
        if self.undo.is_none() {
            return;
        }
        let fack = prior_fack.max(self.una);
        let end = block.end.min(fack);
        if self.is_going_back() || block.start >= end {
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
        self.counting == Counting::Delivered
            && self.undo.as_ref().is_some_and(|undo| self.dup_thresh > undo.dup_thresh.0)
    }

    /// After a timeout the threshold is what it was configured to be.
    pub(super) fn forget_reordering(&mut self) {
        if let Some(undo) = &self.undo {
            self.dup_thresh = undo.dup_thresh.0;
        }
    }
}
