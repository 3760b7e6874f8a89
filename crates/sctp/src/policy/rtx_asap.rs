//! RTX-ASAP sends a chunk to any active path whose window has room now (Iyengar et al. 2006 §V): to
//! the last one if it has, else to the next in order, around, where the paper leaves it to chance.
//! Where none has room it is the last one.

use super::{Paths, least};

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least(last, paths, |path| !path.has_room())
}
