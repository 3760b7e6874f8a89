//! Between whom the connection is.

use super::isn;
use anabranch_units::{Serial32, Time};
use anabranch_wire::{Addr, FlowKey};

/// `Ends` are the addresses and ports of both ends, which do not change, and what follows from
/// them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// `local` is this side's address and port.
    pub local: (Addr, u16),
    /// `remote` is the peer's address and port.
    pub remote: (Addr, u16),
    /// `isn_offset` is the part of initial sequence numbers that does not depend on the date (`F`
    /// of RFC 6528).
    isn_offset: u32,
}

impl Ends {
    /// `secret` is what nobody else knows of the numbers.
    pub fn new(secret: [u64; 2], local: (Addr, u16), remote: (Addr, u16)) -> Ends {
        Ends { local, remote, isn_offset: isn::offset(secret, local, remote) }
    }

    /// Returns the number of a SYN that leaves now (RFC 6528).
    pub fn isn(&self, now: Time) -> Serial32 {
        Serial32(self.isn_offset).add(isn::clock(now))
    }

    /// Returns the flow of the packets that leave here.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey {
            src: self.local.0,
            dst: self.remote.0,
            protocol: 6,
            src_port: self.local.1,
            dst_port: self.remote.1,
        }
    }
}
