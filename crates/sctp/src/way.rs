//! A way says where an answer goes.

use anabranch_wire::Addr;

/// A `Way` says where an answer goes, and which own address it leaves from: what came to an address
/// is answered from there. The path may have another own address, whose link is perhaps the reason
/// why the peer does not use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// `path` is the index of the path to the address that the answer goes to.
    pub path: usize,
    /// `from` is the own address that it leaves from.
    pub from: Addr,
}
