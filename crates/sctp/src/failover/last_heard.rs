//! Last heard chooses the active path on which the peer acknowledged something most recently, data
//! or a heartbeat. Linux takes it for new data when the primary is not active (`last_time_heard` in
//! net/sctp/associola.c, since 3.17).

use super::World;
use crate::policy::Candidate;

/// Returns the seconds since the peer last acknowledged something there; they are infinite if it
/// never did.
pub(super) fn cost(path: &Candidate, world: &World) -> f64 {
    path.heard.map_or(f64::INFINITY, |heard| (world.now - heard).as_secs_f64())
}
