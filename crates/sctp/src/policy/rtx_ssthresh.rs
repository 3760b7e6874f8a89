//! RTX-SSTHRESH sends a chunk to the active path with the largest slow-start threshold (Iyengar et
//! al. 2006 §V). Ties, which the paper leaves to chance, stay.

use super::{Paths, least};
use std::cmp::Reverse;

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least(last, paths, |path| Reverse(path.ssthresh))
}
