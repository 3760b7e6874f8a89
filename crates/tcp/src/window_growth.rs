//! An advertised window that begins small and grows with the data that comes, as
//! Linux has it (`rcv_ssthresh`); RFC 9293 §3.8.6 leaves the window to the
//! receiver.
//!
//! Each segment of 128 octets or more moves the limit by two segments, so that it
//! stays ahead of a peer in slow start. A window is filled by segments like those
//! that come: smaller ones take as much memory as full ones, and move the limit
//! only while the window, filled with them, would fit the buffer. What waits to
//! be read is no longer free. A segment that moves the limit is acknowledged at
//! once.

use crate::ack_timing::SEGMENT;
use crate::right_sizing::RightSizing;

/// Segments of fewer octets move nothing.
const LEAST: u64 = 128;

/// The limit and what it grows by.
#[derive(Clone, Debug)]
pub(crate) struct WindowGrowth {
    /// The most that is advertised, octets.
    limit: u64,
    /// The most that it grows to, octets.
    most: u64,
    /// The peer's largest segment so far, octets.
    full: u64,
    /// Somebody else writes the windows.
    shared: bool,
    /// The buffer grows as well.
    pub sizing: Option<RightSizing>,
}

impl WindowGrowth {
    /// Makes the limit grow from a window of `initial` octets to one of `most`; from all of the
    /// buffer with `u64::MAX`.
    pub fn new(initial: u64, most: u64) -> WindowGrowth {
        WindowGrowth { limit: initial, most, full: SEGMENT, shared: false, sizing: None }
    }

    /// The window is of `least` octets to begin with.
    pub fn start_from(&mut self, least: u64) {
        self.limit = self.limit.max(least);
        self.most = self.most.max(least);
    }

    /// The receive buffer has grown to `most` octets.
    pub fn widen(&mut self, most: u64) {
        self.most = most;
    }

    /// The most that is advertised, octets.
    pub fn limit(&self) -> u64 {
        if self.shared { u64::MAX } else { self.limit }
    }

    /// Watches windows from `initial` to `most` that somebody else advertises, and tells when they
    /// would grow.
    pub fn share(&mut self, initial: u64, most: u64) {
        (self.limit, self.most, self.shared) = (initial, most, true);
    }

    /// A segment of `len` octets came into a buffer with room for `free`; the own
    /// segments have `mss` octets. Whether the limit moved.
    pub fn on_data(&mut self, len: u64, mss: u64, free: u64) -> bool {
        self.full = self.full.max(len);
        let room = self.most.min(free).saturating_sub(self.limit);
        let step = match len {
            _ if len >= self.full => 2 * mss,
            _ if len >= LEAST && self.would_fit(len) => 2 * self.full,
            _ => 0,
        };
        if room == 0 || step == 0 {
            return false;
        }
        self.limit += room.min(step.max(2 * len));
        true
    }

    /// A window of segments of `len` octets fits: by powers of two.
    fn would_fit(&self, len: u64) -> bool {
        let (mut takes, mut window) = (self.full / 2, self.most / 2);
        while self.limit <= window {
            if takes <= len {
                return true;
            }
            (takes, window) = (takes / 2, window / 2);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;
    const ALL: u64 = 100_000;

    /// Segments of `len` that move the limit, of `n`, into an empty buffer.
    fn moved(growth: &mut WindowGrowth, n: usize, len: u64) -> usize {
        (0..n).filter(|_| growth.on_data(len, MSS, ALL)).count()
    }

    #[test]
    fn full_segments_move_it_by_two_up_to_the_buffer() {
        let mut growth = WindowGrowth::new(60_000, ALL);
        assert!(growth.on_data(MSS, MSS, ALL));
        assert_eq!(growth.limit(), 60_000 + 2 * MSS);
        // 40,000 / 2896 = 13.8
        assert_eq!(moved(&mut growth, 50, MSS), 13);
        assert_eq!(growth.limit(), ALL);
    }

    #[test]
    fn what_waits_to_be_read_is_not_free() {
        let mut growth = WindowGrowth::new(60_000, ALL);
        assert!(!growth.on_data(MSS, MSS, 60_000));
        assert!(growth.on_data(MSS, MSS, 61_000));
        assert_eq!(growth.limit(), 61_000);
    }

    /// Segments of a half grow it to half of the buffer, of a quarter to a
    /// quarter; in steps of two full ones.
    #[test]
    fn small_segments_move_it_as_far_as_they_fit() {
        let mut growth = WindowGrowth::new(10_000, ALL);
        moved(&mut growth, 1, MSS);
        let limits =
            [(MSS / 8, 12_896), (MSS / 4, 27_376), (MSS / 2, 50_544), (MSS / 2 + 1, 50_544)];
        for (len, limit) in limits {
            moved(&mut growth, 100, len);
            assert_eq!(growth.limit(), limit, "{len}");
        }
        assert_eq!(moved(&mut growth, 100, 127), 0);
    }
}
