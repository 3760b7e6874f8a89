//! Lowest RTO sends a chunk to the active path with the least retransmission timeout in force. A
//! retransmission that is lost again waits for it (RFC 9260 §6.3.3), and its back-off remembers
//! timeouts until a sample ends it (§6.3.1 C5, §6.3.3 E2). Ties stay on the path.

use super::{Paths, least};

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least(last, paths, |path| path.rto)
}
