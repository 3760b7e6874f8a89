//! The settings of UDP encapsulation are here.

use anabranch_wire::sctp::UDP_PORT;

/// An `Encapsulation` has the UDP ports of an association (RFC 6951).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encapsulation {
    /// Packets leave from this port, and come to it.
    pub local: u16,
    /// Packets go to this port of the peer, until one of its packets shows another (§5.4), as a
    /// translator of addresses may make it.
    pub remote: u16,
}

impl Default for Encapsulation {
    /// The default is 9899, the registered port, on both sides.
    fn default() -> Encapsulation {
        Encapsulation { local: UDP_PORT, remote: UDP_PORT }
    }
}
