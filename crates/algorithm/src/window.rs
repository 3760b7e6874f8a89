//! The variables of a window, which the sender reads after every hook.

use crate::Ack;

/// A window: what a law sets, and what it may know from the start.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window in octets, at least one segment and at most 2^40; a fraction is kept. It starts at
    /// the flow's initial window.
    pub cwnd: f64,
    /// Slow-start threshold in octets; infinite at first.
    pub ssthresh: f64,
    /// Rate to pace at, in bit/s; 0, the first value, sends when ACKs come.
    pub pacing_bps: f64,
    /// A number that the connection's other paths see.
    pub shared: f64,
    /// Largest segment payload in octets; to read.
    pub mss: u64,
    /// A seed for a generator of its own, the same in each run with the same seed; to read.
    pub seed: u64,
}

impl Window {
    /// A window of `cwnd` octets without a threshold.
    pub const fn new(mss: u64, cwnd: f64) -> Window {
        Window { cwnd, ssthresh: f64::INFINITY, pacing_bps: 0.0, shared: 0.0, mss, seed: 0 }
    }

    /// Below the threshold, grows by what was acknowledged, and says so.
    ///
    /// RFC 5681 §3.1, with at most two segments for an ACK, or one while a timeout is repaired
    /// (RFC 3465 §2.2, §2.3).
    pub fn slow_start(&mut self, ack: &Ack) -> bool {
        if self.cwnd >= self.ssthresh {
            return false;
        }
        let segments = if ack.after_timeout { 1 } else { 2 };
        self.cwnd += ack.acked.min(segments * ack.path.mss) as f64;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_grows_by_two_segments_at_most_and_by_one_after_a_timeout() {
        let mut window = Window::new(1460, 14_600.0);
        let ack = Ack { acked: 10_000, ..Ack::default() };
        assert!(window.slow_start(&ack));
        assert_eq!(window.cwnd, 17_520.0);
        assert!(window.slow_start(&Ack { after_timeout: true, ..ack }));
        assert_eq!(window.cwnd, 18_980.0);
        window.ssthresh = 18_980.0;
        assert!(!window.slow_start(&ack));
        assert_eq!(window.cwnd, 18_980.0);
    }
}
