//! Every n-th packet with payload is lost, retransmissions counted too: the
//! loss that the closed forms of response functions assume.

use crate::config::Info;
use anabranch_wire::Packet;

pub(super) const INFO: Info = Info {
    name: "periodic",
    summary: "every n-th data packet that comes to this link is dropped",
    reference: "Mathis et al., CCR 1997 (periodic loss)",
};

/// Drops by count.
#[derive(Debug)]
pub struct Periodic {
    every: u64,
    /// Data packets since the last loss.
    since: u64,
}

impl Periodic {
    /// Loses the `every`-th data packet, the one `every` after it, and so on.
    pub fn new(every: u64) -> Periodic {
        Periodic { every, since: 0 }
    }

    /// Whether `packet` is one of them.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        if packet.payload_len() == 0 {
            return false;
        }
        self.since += 1;
        let hit = self.since == self.every;
        if hit {
            self.since = 0;
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
        let mut it = Periodic::new(3);
        let fates: Vec<_> = [1, 0, 1, 1, 0, 1, 1, 1].map(|len| it.loses(&packet(len))).into();
        assert_eq!(fates, [false, false, false, true, false, false, false, true]);
    }
}
