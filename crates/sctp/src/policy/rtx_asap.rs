//! RTX-ASAP: to any active path whose window has room now (Iyengar et al. 2006
//! §V): the last one if it has, else the next in order, around, where the paper
//! leaves it to chance. Where none has room, the last one.

use super::{Paths, least};

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least(last, paths, |path| !path.has_room())
}
