//! What a law of growth and reduction acts on.

/// The two variables of RFC 5681, in octets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window, octets.
    pub cwnd: f64,
    /// Slow-start threshold; infinite at first.
    pub ssthresh: f64,
}
