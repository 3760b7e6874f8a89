//! Lowest RTT: the path with the least smoothed round-trip time, the delay-centric handover of Kelly,
//! Muntean, Perry and Murphy ("Delay-centric handover in SCTP over WLAN", 2004). A path without a
//! sample has its RTO for one.

use crate::policy::Candidate;

/// Seconds.
pub(super) fn cost(path: &Candidate) -> f64 {
    path.srtt.unwrap_or(path.rto).as_secs_f64()
}
