//! AllRtxSame sends every retransmission to where the chunk was sent last.
//!
//! The papers are silent about a path that has become inactive. Here the chunk
//! then goes to the next active path, since RFC 9260 §8.2 sends no data to an
//! inactive destination while another is active.

use super::{Paths, next_active};

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    if paths.path(last).active { last } else { next_active(last, paths).unwrap_or(last) }
}
