//! Round robin lets the active paths other than the one that the chunk was sent to last take turns,
//! the one that has gone longest without a retransmission first. Linux's retransmission path goes
//! round the list of destinations so (`sctp_assoc_update_retran_path` in net/sctp/associola.c), at
//! each timeout; here with each packet. `all-alternate` takes the next after the chunk's own last
//! path instead, so that first retransmissions from a primary all go to one alternate.

use super::{Paths, least_other};

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least_other(last, paths, |path| path.resent)
}
