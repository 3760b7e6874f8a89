//! Last known good sends a chunk to the active path, other than the one that it was sent to last,
//! on which the peer acknowledged something most recently, data or a heartbeat. Linux compares
//! destinations so (`last_time_heard` in net/sctp/associola.c, since 3.17): the one heard from
//! second last takes retransmissions there, which is the same with two paths. Ties are the next in
//! order.

use super::{Paths, least_other};
use std::cmp::Reverse;

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least_other(last, paths, |path| Reverse(path.heard))
}
