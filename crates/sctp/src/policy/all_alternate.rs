//! AllRtxAlt sends every retransmission to an active path other than the one that the chunk was
//! sent to last (RFC 2960 §6.4.1).
//!
//! With more than two paths the RFC leaves the choice; here it is the next one
//! in order, around, so that a chunk that is lost again visits all of them.

use super::{Paths, next_active};

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    next_active(last, paths).unwrap_or(last)
}
