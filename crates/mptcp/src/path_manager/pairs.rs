//! A subflow from the i-th own address to the i-th of the peer's, as soon as that
//! is known: for disjoint networks, over which the other pairs have no route.

use super::Wanted;

pub(super) fn wanted(own: usize, peer: usize) -> Vec<Wanted> {
    (1..own.min(peer)).map(|i| Wanted::between(i, i)).collect()
}
