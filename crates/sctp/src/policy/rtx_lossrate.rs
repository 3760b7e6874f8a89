//! RTX-LOSSRATE sends a chunk to the active path with the lowest estimated loss rate (Iyengar et
//! al. 2006 §V). Ties, which the paper leaves to chance, stay on the path.

use super::{Paths, least};

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least(last, paths, |path| path.loss)
}
