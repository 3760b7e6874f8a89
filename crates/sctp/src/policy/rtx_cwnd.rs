//! RTX-CWND sends a chunk to the active path with the largest congestion window (Iyengar et al.
//! 2006 §V). Ties, which the paper leaves to chance, stay on the path.

use super::{Paths, least};
use std::cmp::Reverse;

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least(last, paths, |path| Reverse(path.cwnd))
}
