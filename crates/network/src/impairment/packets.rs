//! Drops of chosen packets, to stage a recovery: the n-th data packets of a
//! flow, counted from 1 as they come to this link, retransmissions included.

use crate::catalogue::Info;
use anabranch_wire::{FlowKey, Packet};

pub(super) const INFO: Info = Info {
    name: "packets",
    summary: "the n-th data packets of a flow, counted at this link, are dropped once",
    reference: "Fall and Floyd, CCR 1996 (staged drops)",
};

/// Drops data packets of a flow by their numbers.
#[derive(Debug)]
pub struct Packets {
    flow: FlowKey,
    /// `numbers` is ascending, without repetitions.
    numbers: Vec<u64>,
    /// `next` is the place of the first of `numbers` still to come.
    next: usize,
    seen: u64,
}

impl Packets {
    /// Drops the packets of `flow` with these numbers.
    pub fn new(flow: FlowKey, numbers: &[u64]) -> Packets {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        Packets { flow, numbers, next: 0, seen: 0 }
    }

    /// Returns whether `packet` is one of those to be lost.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        if self.next == self.numbers.len()
            || packet.payload_len() == 0
            || packet.flow_key() != self.flow
        {
            return false;
        }
        self.seen += 1;
        let hit = self.numbers[self.next] == self.seen;
        self.next += hit as usize;
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::{Addr, Body, Payload};

    #[test]
    fn counts_data_packets_of_its_flow_only() {
        let packet = |src, len| {
            let body = Body::Other { protocol: 17, payload: Payload::virtual_of(len) };
            Packet::new(Addr(src), Addr(9), body)
        };
        let mut packets = Packets::new(packet(1, 1).flow_key(), &[3, 1, 3]);
        assert!(!packets.loses(&packet(1, 0))); // no payload
        assert!(!packets.loses(&packet(2, 100))); // another flow
        assert!(packets.loses(&packet(1, 100))); // 1
        assert!(!packets.loses(&packet(1, 100))); // 2
        assert!(packets.loses(&packet(1, 100))); // 3
        assert!((0..10).all(|_| !packets.loses(&packet(1, 100))));
    }
}
