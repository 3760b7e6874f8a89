//! Drops of chosen packets, to stage a recovery: the n-th data packets of a
//! flow, counted from 1 as they come to this link, retransmissions included.

use crate::catalogue::Info;
use anabranch_wire::{Addr, FlowKey, Packet};

pub(super) const INFO: Info = Info {
    name: "packets",
    summary: "the n-th data packets of a flow, counted at this link, are dropped once",
    reference: "Fall and Floyd, CCR 1996 (staged drops)",
};

/// The packets of a flow in one direction, over whichever of its paths they go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowPaths {
    /// Addresses of the host that sends.
    pub sources: Vec<Addr>,
    /// Addresses of the host that receives.
    pub destinations: Vec<Addr>,
    /// Protocol number.
    pub protocol: u8,
    /// Port of the host that sends.
    pub src_port: u16,
    /// Port of the host that receives.
    pub dst_port: u16,
    /// A further subflow may have a port of its own at one end: one of so many that follow `src_port`, or of
    /// so many that follow `dst_port`.
    pub further_ports: (u16, u16),
}

impl From<FlowKey> for FlowPaths {
    /// The flow has one path.
    fn from(key: FlowKey) -> FlowPaths {
        let FlowKey { src, dst, protocol, src_port, dst_port } = key;
        let (sources, destinations) = (vec![src], vec![dst]);
        FlowPaths { sources, destinations, protocol, src_port, dst_port, further_ports: (0, 0) }
    }
}

impl FlowPaths {
    /// Returns whether packets with this key are the flow's.
    pub fn has(&self, key: &FlowKey) -> bool {
        let src = key.src_port.wrapping_sub(self.src_port);
        let dst = key.dst_port.wrapping_sub(self.dst_port);
        let (further_src, further_dst) = self.further_ports;
        let ports = src == 0 && dst <= further_dst || dst == 0 && src <= further_src;
        ports
            && key.protocol == self.protocol
            && self.sources.contains(&key.src)
            && self.destinations.contains(&key.dst)
    }
}

/// Drops data packets of a flow by their numbers.
#[derive(Debug)]
pub struct Packets {
    flow: FlowPaths,
    /// `numbers` is ascending, without repetitions.
    numbers: Vec<u64>,
    /// `next` is the place of the first of `numbers` still to come.
    next: usize,
    seen: u64,
}

impl Packets {
    /// Drops the packets of `flow` with these numbers.
    pub fn new(flow: FlowPaths, numbers: &[u64]) -> Packets {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        Packets { flow, numbers, next: 0, seen: 0 }
    }

    /// Returns whether `packet` is one of those to be lost.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        if self.next == self.numbers.len()
            || packet.payload_len() == 0
            || !self.flow.has(&packet.flow_key())
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
    use anabranch_wire::{Body, Payload};

    /// Subflows of Multipath TCP go between other addresses, or from another port; another flow has
    /// other ports at both ends.
    #[test]
    fn a_flow_has_the_packets_of_all_its_paths() {
        let key = |src, dst, src_port, dst_port| FlowKey {
            src: Addr(src),
            dst: Addr(dst),
            protocol: 6,
            src_port,
            dst_port,
        };
        let mut paths = FlowPaths::from(key(1, 11, 49152, 49152));
        assert!(paths.has(&key(1, 11, 49152, 49152)) && !paths.has(&key(2, 11, 49152, 49152)));
        paths.sources.push(Addr(2));
        assert!(paths.has(&key(2, 11, 49152, 49152)) && !paths.has(&key(11, 2, 49152, 49152)));
        assert!(!paths.has(&key(1, 11, 49153, 49152)));
        paths.further_ports = (8, 8);
        for (src_port, dst_port) in [(49153, 49152), (49160, 49152), (49152, 49153)] {
            assert!(paths.has(&key(1, 11, src_port, dst_port)));
        }
        for (src_port, dst_port) in [(49161, 49152), (49151, 49152), (49153, 49153)] {
            assert!(!paths.has(&key(1, 11, src_port, dst_port)), "another flow");
        }
    }

    #[test]
    fn counts_data_packets_of_its_flow_only() {
        let packet = |src, len| {
            let body = Body::Other { protocol: 17, payload: Payload::virtual_of(len) };
            Packet::new(Addr(src), Addr(9), body)
        };
        let mut packets = Packets::new(packet(1, 1).flow_key().into(), &[3, 1, 3]);
        assert!(!packets.loses(&packet(1, 0))); // no payload
        assert!(!packets.loses(&packet(2, 100))); // another flow
        assert!(packets.loses(&packet(1, 100))); // 1
        assert!(!packets.loses(&packet(1, 100))); // 2
        assert!(packets.loses(&packet(1, 100))); // 3
        assert!((0..10).all(|_| !packets.loses(&packet(1, 100))));
    }
}
