//! A subflow from the first own address to each that the peer has announced
//! (RFC 8684 §3.4.1): the peer decides over which of its addresses to be reached.

use super::Wanted;

pub(super) fn wanted(peer: usize) -> Vec<Wanted> {
    (1..peer).map(|b| Wanted::between(0, b)).collect()
}
