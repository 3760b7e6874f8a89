//! Connections of which only TIME-WAIT is left.

use anabranch_wire::Packet;

/// What a host with a listening port asks of a connection that is over but for TIME-WAIT
/// (RFC 9293 §3.6): whether it still counts, and whether it makes room for a new one between the
/// same addresses and ports. A transport without TIME-WAIT has nothing to add to the defaults.
pub trait TimeWait {
    /// Nothing is left of the connection but its TIME-WAIT.
    fn lingers(&self) -> bool {
        false
    }

    /// One that [lingers](Self::lingers) may be dropped for the connection that this packet
    /// opens (RFC 6191 §2). The host asks before it gives the packet to the endpoint.
    fn gives_way_to(&self, _packet: &Packet) -> bool {
        false
    }
}
