//! A subflow from each own address to each of the peer's.

use super::Wanted;

pub(super) fn wanted(own: usize, peer: usize) -> Vec<Wanted> {
    let all = (0..own).flat_map(|a| (0..peer).map(move |b| (a, b)));
    all.skip(1).map(|(a, b)| Wanted::between(a, b)).collect()
}
