//! The quantity from which a congestion signal computes the new threshold.

use crate::PathView;

/// `SsthreshFrom` is the quantity of which `ssthresh` becomes a fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SsthreshFrom {
    /// The octets in flight before the event: FlightSize of RFC 5681 §3.1
    /// equation (4) and of RFC 9438 §4.6.
    #[default]
    InFlight,
    /// The congestion window, not truncated to whole segments, as ns-2 does
    /// (there the smaller of the congestion and the receiver's window; a
    /// sender that reports the receiver's limit as `app_limited` keeps the
    /// congestion window from growing past it). RFC 9438 §4.6 allows this to
    /// senders that do not grow the window while it is not the limit.
    Cwnd,
    /// The congestion window, and the rest of what ns-2 does (`TcpAgent::slowdown`): the threshold is
    /// whole segments, two at least; the window may be less than two, one at least; and each timeout
    /// reduces the threshold, where RFC 5681 §3.1 holds it while the same segment is sent again.
    Ns2,
}

impl SsthreshFrom {
    /// Returns the quantity to multiply by the decrease factor, in octets.
    pub(crate) fn base(self, cwnd: f64, path: &PathView) -> f64 {
        match self {
            SsthreshFrom::InFlight => path.in_flight as f64,
            SsthreshFrom::Cwnd | SsthreshFrom::Ns2 => cwnd,
        }
    }
}

/// Returns a threshold in octets as the [`Controller`](crate::Controller) reports it.
pub(crate) fn reported(ssthresh: f64) -> u64 {
    // A float-to-integer cast saturates: infinity becomes u64::MAX.
    ssthresh as u64
}

/// The threshold in octets as algorithms hold it.
pub(crate) fn held(ssthresh: u64) -> f64 {
    if ssthresh == u64::MAX { f64::INFINITY } else { ssthresh as f64 }
}
