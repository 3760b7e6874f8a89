//! Where a packet goes, and which own address it leaves from.

use anabranch_wire::Addr;

/// A `Route` is the pair of addresses that a packet uses. What came to an address is answered from
/// there: the path may have another own address, whose link is perhaps the reason why the peer does
/// not use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// `path` is the index of the path to the address that the packet goes to.
    pub path: usize,
    /// `source` is the own address that it leaves from.
    pub source: Addr,
}
