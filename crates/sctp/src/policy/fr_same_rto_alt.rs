//! FrSameRtoAlt keeps a fast retransmit on its path, since the SACKs that caused it show that the
//! path works; it sends a retransmission after a timeout to another, since the path may have failed
//! (Caro et al. 2006 §4.3).

use super::{Paths, Reason, all_alternate, all_same};

pub(super) fn choose(reason: Reason, last: usize, paths: &impl Paths) -> usize {
    match reason {
        Reason::FastRetransmit => all_same::choose(last, paths),
        Reason::Timeout => all_alternate::choose(last, paths),
    }
}
