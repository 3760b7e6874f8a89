//! What a law of growth and reduction acts on.

/// The two variables of RFC 5681, in octets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window, octets.
    pub cwnd: f64,
    /// Slow-start threshold; infinite at first.
    pub ssthresh: f64,
}

/// What an exact number of segments may have lost on its way through floating point.
pub(crate) const ALMOST: f64 = 1e-9;

/// Returns `octets` rounded down to whole segments.
pub(crate) fn whole_segments(octets: f64, mss: f64) -> f64 {
    (octets / mss + ALMOST).floor() * mss
}

/// Returns `octets`, as whole segments where they are that but for what floating point has lost.
pub(crate) fn settled(octets: f64, mss: f64) -> f64 {
    let segments = (octets / mss).round();
    if (octets / mss - segments).abs() < ALMOST { segments * mss } else { octets }
}
