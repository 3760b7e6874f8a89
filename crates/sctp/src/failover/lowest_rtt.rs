//! Lowest RTT chooses the path with the least smoothed round-trip time, as in the delay-centric
//! handover of Kelly, Muntean, Perry and Murphy ("Delay-centric handover in SCTP over WLAN", 2004).
//! A path without a sample has its RTO for one.

use crate::policy::Candidate;

/// Returns the smoothed round-trip time in seconds, or the RTO while there is no sample.
pub(super) fn cost(path: &Candidate) -> f64 {
    path.srtt.unwrap_or(path.rto).as_secs_f64()
}
