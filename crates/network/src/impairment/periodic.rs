//! Every n-th packet with payload is lost, retransmissions counted too: the
//! loss that the closed forms of response functions assume.

use crate::catalogue::Info;
use anabranch_wire::Packet;

pub(super) const INFO: Info = Info {
    name: "periodic",
    summary: "every n-th data packet that comes to this link is dropped",
    reference: "Mathis et al., CCR 1997 (periodic loss)",
};

/// `Periodic` drops every n-th data packet.
#[derive(Debug)]
pub struct Periodic {
    every: u64,
    /// `left` is how many data packets come up to the next loss, that one included.
    left: u64,
}

impl Periodic {
    /// Loses the `first` data packet, counted from 1, then each `every`-th
    /// after it. Both are at least 1.
    pub fn new(every: u64, first: u64) -> Periodic {
        Periodic { every, left: first }
    }

    /// Returns whether `packet` is one of those to be lost.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        if packet.payload_len() == 0 {
            return false;
        }
        self.left -= 1;
        let hit = self.left == 0;
        if hit {
            self.left = self.every;
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::{Addr, Body, Payload};

    #[test]
    fn pure_acks_are_not_counted() {
        let packet = |len| {
            let body = Body::Other { protocol: 17, payload: Payload::virtual_of(len) };
            Packet::new(Addr(1), Addr(9), body)
        };
        let mut periodic = Periodic::new(3, 2);
        let fates: Vec<_> = [1, 0, 1, 1, 0, 1, 1, 1].map(|len| periodic.loses(&packet(len))).into();
        assert_eq!(fates, [false, false, true, false, false, false, true, false]);
    }
}
