//! SEARCH: leave slow start when what arrives no longer keeps up with what was sent a round trip
//! earlier (Chung, Kachooei, Li and Claypool, "SEARCH -- a New Slow Start Algorithm for TCP and
//! QUIC", draft-chung-ccwg-search; version 4 of the algorithm, as of draft 09).
//!
//! Octets sent and acknowledged so far are noted at the ends of bins of equal length, ten to a
//! window of 3.5 initial round-trip times. At the end of each bin the octets acknowledged within
//! the last window are compared with those sent within the window that ended a round trip before:
//! they are the same until the path is full. When they fall short by the part `threshold`, slow
//! start is over, and what it sent too much is drained: the window follows the flight down to what
//! an initial round trip delivers, a segment less for every one and a half acknowledged.
//!
//! It works in every slow start, and begins anew after a signal and after idleness. Bins whose end no acknowledgment
//! marks repeat the counts before them; after `missed_bins` in a row it begins anew.
//!
//! Deviations: acknowledgments that come while the window is not the limit are not seen here. An
//! octet that is sent again is counted once. Counts are whole octets, not scaled to 16 bits.

use super::Step;
use crate::{Acked, PathView};
use anabranch_units::{Span, Time};

/// `SearchOptions` are the parameters of SEARCH.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchOptions {
    /// `WINDOW_SIZE`, in initial round-trip times; 3.5, and from 1 to 100.
    pub window: f64,
    /// `THRESH`: the part of what was sent that is missing when slow start ends; 0.26.
    pub threshold: f64,
    /// `EXTRA_BINS`: how many bins a round trip may last, or nothing is compared; 15.
    pub extra_bins: u32,
    /// Bins in a row that may pass without an acknowledgment; 10.
    pub missed_bins: u32,
    /// The overshoot is drained; else the window is left as it is.
    pub drain: bool,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { window: 3.5, threshold: 0.26, extra_bins: 15, missed_bins: 10, drain: true }
    }
}

/// `W`, the number of bins in the window over which deliveries are compared.
const W: usize = 10;

/// Segments that an empty path is believed to hold at least: an initial window (RFC 6928).
const LEAST_TARGET: f64 = 10.0;

/// Of so many octets acknowledged while the overshoot drains, one is sent.
const DRAIN_DIVISOR: f64 = 3.0;

/// `Search` is the state of SEARCH in a slow start.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    options: SearchOptions,
    bins: Option<Bins>,
    /// The window at which the drain ends, in octets; `None` before slow start is over.
    target: Option<f64>,
}

/// `Bins` has the counts at the ends of the last bins.
#[derive(Clone, Debug)]
struct Bins {
    initial_rtt: Span,
    /// `BIN_DURATION`, how long a bin lasts: a tenth of the window.
    length: Span,
    /// `bin_end`: when the present bin ends.
    end: Time,
    /// `curr_idx`: number of the last bin that ended; the first ACK ends number 0.
    current: usize,
    /// Octets sent and acknowledged so far at the ends of bins, by number, around and around.
    sent: Vec<u64>,
    acked: Vec<u64>,
}

impl Bins {
    /// Begins with this acknowledgment; `None` where the round trip takes no time.
    fn new(options: &SearchOptions, now: Time, rtt: Span, path: &PathView) -> Option<Bins> {
        let length = (rtt.as_picos() as f64 * options.window / W as f64) as u64;
        let size = W + 2 + options.extra_bins as usize;
        let length = Span::from_picos(length);
        (length > Span::ZERO).then(|| Bins {
            initial_rtt: rtt,
            length,
            end: now + length,
            current: 0,
            sent: vec![path.sent; size],
            acked: vec![path.acked; size],
        })
    }

    /// `update_bins`: ends the bins that have passed by `now`, at least one; false where they are
    /// more than `missed_bins`.
    fn update(&mut self, now: Time, missed_bins: u32, path: &PathView) -> bool {
        let late = now.saturating_since(self.end);
        let passed = late.as_picos() / self.length.as_picos() + 1;
        if passed > u64::from(missed_bins) {
            return false;
        }
        let size = self.sent.len();
        let last = self.current % size;
        for _ in 1..passed {
            self.current += 1;
            let bin = self.current % size;
            (self.sent[bin], self.acked[bin]) = (self.sent[last], self.acked[last]);
        }
        self.current += 1;
        let bin = self.current % size;
        (self.sent[bin], self.acked[bin]) = (path.sent, path.acked);
        self.end += self.length * passed;
        true
    }

    /// `curr_delv`: octets acknowledged in the last `bins` bins.
    fn delivered(&self, bins: usize) -> f64 {
        let size = self.acked.len();
        let (old, new) = ((self.current - bins) % size, self.current % size);
        self.acked[new].saturating_sub(self.acked[old]) as f64
    }

    /// `prev_sent`: octets sent in the window that ends with bin `end`.
    fn window_sent(&self, end: usize) -> f64 {
        let size = self.sent.len();
        self.sent[end % size].saturating_sub(self.sent[(end - W) % size]) as f64
    }

    /// `norm_diff`: the part of what was sent in a window, one `rtt` ago, that did not arrive in
    /// the last one. `None` while there is no such window, and where the round trip has become too
    /// long for the bins.
    fn missing(&self, rtt: Span, extra_bins: u32) -> Option<f64> {
        let bins = rtt.as_picos() as f64 / self.length.as_picos() as f64;
        let whole = bins as usize;
        if whole >= extra_bins as usize || self.current <= whole + W {
            return None;
        }
        let (end, fraction) = (self.current - whole, bins - whole as f64);
        // A round trip ago lies between the ends of two bins.
        let sent = self.window_sent(end - 1) * fraction + self.window_sent(end) * (1.0 - fraction);
        (sent > 0.0).then(|| (sent - self.delivered(W)) / sent)
    }

    /// What an initial round trip delivers now, in octets: the capacity of the path without a
    /// queue.
    fn capacity(&self) -> f64 {
        let bins = self.initial_rtt.as_picos().div_ceil(self.length.as_picos()) as usize;
        self.delivered(bins.min(W).min(self.current))
    }
}

impl Search {
    pub(crate) fn new(options: SearchOptions) -> Search {
        Search { options, bins: None, target: None }
    }

    /// Answers one ACK in slow start; `standard` is what it adds.
    pub(crate) fn on_ack(
        &mut self,
        cwnd: f64,
        standard: f64,
        acked: &Acked,
        path: &PathView,
    ) -> Step {
        if let Some(target) = self.target {
            return self.drain(cwnd, target, acked, path);
        }
        let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) else {
            return Step::Grow(standard);
        };
        let options = self.options;
        let Some(bins) = &mut self.bins else {
            self.bins = Bins::new(&options, acked.now, rtt, path);
            return Step::Grow(standard);
        };
        if acked.now < bins.end {
            return Step::Grow(standard);
        }
        if !bins.update(acked.now, options.missed_bins, path) {
            self.reset();
            return Step::Grow(standard);
        }
        let missing = bins.missing(rtt, options.extra_bins);
        if missing.is_none_or(|missing| missing < options.threshold) {
            return Step::Grow(standard);
        }
        if !options.drain {
            self.reset();
            return Step::End;
        }
        let target = bins.capacity().max(LEAST_TARGET * path.mss as f64);
        self.target = Some(target);
        self.drain(cwnd, target, acked, path)
    }

    /// Follows the flight down to the target, where slow start ends.
    fn drain(&mut self, cwnd: f64, target: f64, acked: &Acked, path: &PathView) -> Step {
        if cwnd <= target {
            self.reset();
            return Step::End;
        }
        let left = path.in_flight.saturating_sub(acked.bytes) as f64;
        let window = left + acked.bytes as f64 / DRAIN_DIVISOR;
        Step::Shrink(window.max(target).min(cwnd))
    }

    /// Begins anew, with the next round-trip time for the initial one.
    pub(crate) fn reset(&mut self) {
        (self.bins, self.target) = (None, None);
    }
}

#[cfg(test)]
mod tests;
