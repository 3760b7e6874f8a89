//! Duplicate ACKs, and how many of them signal a loss.
//!
//! Where reordering may raise DupThresh, a segment that was sent once and arrived behind later ones
//! raises it above the number of segments that overtook it, as Linux's `reordering` does (RFC 4653 §3
//! raises it to a window's worth at once). A timeout puts it back.

use crate::config::Config;

/// `DupAcks` count duplicate ACKs and know how many of them signal a loss.
#[derive(Clone, Copy, Debug)]
pub struct DupAcks {
    /// `count` is the number of duplicate ACKs in a row; something new begins it anew.
    pub count: u32,
    /// `thresh` is DupThresh, the number of duplicate ACKs that signal a loss: as configured, and
    /// up to the most that is configured once reordering has been seen.
    pub thresh: u32,
    /// `bounds` are DupThresh as configured, and how far reordering may raise it.
    bounds: (u32, u32),
    /// `reorderings` counts how often reordering was seen.
    pub reorderings: u32,
    /// `nxt_before` is SND.NXT at the first of the duplicates, and above it as much as that
    /// acknowledged in order, in whose place new data leaves: what is sent beyond is limited transmit.
    nxt_before: u64,
    /// `limited_transmit` says that RFC 3042 is on.
    pub limited_transmit: bool,
    /// `counts_progress` says that ACKs count, too, that acknowledge something in order and SACK
    /// something new (RFC 6675 §2).
    counts_progress: bool,
}

impl DupAcks {
    /// `new` begins the count, before any ACK.
    pub fn new(config: &Config) -> DupAcks {
        let least = config.dupack_threshold;
        DupAcks {
            count: 0,
            thresh: least,
            bounds: (least, config.max_dupack_threshold.unwrap_or(least)),
            reorderings: 0,
            nxt_before: 0,
            limited_transmit: config.limited_transmit,
            counts_progress: config.recovery.counts_progress(),
        }
    }

    /// ACKs count that acknowledge something in order and SACK something new.
    #[inline]
    pub fn counts_progress(&self) -> bool {
        self.counts_progress
    }

    /// A duplicate ACK came, with SND.NXT at `nxt`, which acknowledges `acked` octets in order.
    pub fn on_duplicate(&mut self, nxt: u64, acked: u64) {
        if self.count == 0 {
            self.nxt_before = nxt + acked;
        }
        self.count += 1;
    }

    /// Something new was acknowledged, or the repair begins anew: the count does, too.
    pub fn forget(&mut self) {
        self.count = 0;
    }

    /// The duplicate at hand is the one that signals a loss.
    pub fn are_just_enough(&self) -> bool {
        self.count == self.thresh
    }

    /// The duplicates signal a loss.
    pub fn are_enough(&self) -> bool {
        self.count >= self.thresh
    }

    /// Returns the octets in flight from `una` to `nxt` without what limited transmit sent.
    pub fn flight_before(&self, una: u64, nxt: u64) -> u64 {
        self.nxt_before.min(nxt) - una
    }

    /// Returns the octets that may leave beyond the window before a loss is signalled: one segment
    /// of `mss` octets for each duplicate, where RFC 3042 is on.
    pub fn extra(&self, mss: u64) -> u64 {
        if self.limited_transmit { self.count.min(self.thresh - 1) as u64 * mss } else { 0 }
    }

    /// A segment arrived behind `octets` of segments of `mss` octets that were sent later.
    pub fn on_reordering(&mut self, octets: u64, mss: u64) {
        self.reorderings += 1;
        let overtaken = octets.div_ceil(mss).min(u32::MAX as u64) as u32;
        self.thresh = self.thresh.max(overtaken.min(self.bounds.1));
    }

    /// Segments have been seen to overtake each other since the last timeout.
    pub fn expect_reordering(&self) -> bool {
        self.thresh > self.bounds.0
    }

    /// Sets the threshold to what it was configured to be, after a timeout.
    pub fn on_timeout(&mut self) {
        self.count = 0;
        self.thresh = self.bounds.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reordering_raises_the_threshold_up_to_the_bound_and_a_timeout_puts_it_back() {
        let config = Config { max_dupack_threshold: Some(100), ..Config::default() };
        let mut dup_acks = DupAcks::new(&config);
        for (octets, thresh) in [(2000, 3), (19_001, 20), (5000, 20), (200_000, 100)] {
            dup_acks.on_reordering(octets, 1000);
            assert_eq!(dup_acks.thresh, thresh, "{octets}");
        }
        assert!(dup_acks.expect_reordering());
        dup_acks.on_timeout();
        assert_eq!((dup_acks.thresh, dup_acks.reorderings), (3, 4));
    }

    /// RFC 3042: two segments at most.
    #[test]
    fn limited_transmit_is_one_segment_for_each_of_the_first_two() {
        let mut dup_acks = DupAcks::new(&Config { limited_transmit: true, ..Config::default() });
        let mut extra = Vec::new();
        for n in 0..4 {
            extra.push(dup_acks.extra(1000));
            dup_acks.on_duplicate(9001 + 1000 * n, 0);
        }
        assert_eq!(extra, [0, 1000, 2000, 2000]);
        assert_eq!(dup_acks.flight_before(1, 11_001), 9000);
    }
}
