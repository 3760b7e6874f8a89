//! Lowest RTT sends a chunk to the active path with the least smoothed round-trip time, by which
//! Kelly, Muntean, Perry and Murphy ("Delay-centric handover in SCTP over WLAN", 2004) choose the
//! path of new data. A path without a sample has its RTO for one. Ties stay on the path.

use super::{Paths, least};

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least(last, paths, |path| path.srtt.unwrap_or(path.rto))
}
