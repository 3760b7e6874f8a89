//! The window that a law of growth and reduction acts on.

/// `Window` has the two variables of RFC 5681, in octets with their fraction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// `cwnd` is the congestion window, in octets.
    pub cwnd: f64,
    /// `ssthresh` is the slow-start threshold, in octets; it is infinite at first.
    pub ssthresh: f64,
}

impl Window {
    /// Restores `before`, the window before a reduction that turned out to be spurious. Returns
    /// false, and the present values stay, when the window has already outgrown that (RFC 9438
    /// §4.9.2). It is as sensible for every other law as for CUBIC.
    pub fn undo(&mut self, before: Window) -> bool {
        let is_restored = self.cwnd <= before.cwnd;
        if is_restored {
            *self = before;
        }
        is_restored
    }
}

/// `ALMOST` is the part of a segment that an exact number of segments may have lost on its way
/// through floating point.
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
