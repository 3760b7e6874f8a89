//! Data in segments of an octet or a few, whatever the receiver's segment size: as many
//! packets as it takes to make the receiver work.

use super::Twist;
use anabranch_wire::{Body, Packet, TcpFlags};
use std::collections::VecDeque;

/// Segments carry so many octets at most.
pub(super) struct Octets {
    pub most: u32,
}

impl Twist for Octets {
    fn send(&mut self, packet: Packet, out: &mut VecDeque<Packet>) {
        let Body::Tcp(segment) = &packet.body else { return out.push_back(packet) };
        let len = segment.payload.len();
        if len <= self.most || segment.flags.contains(TcpFlags::SYN) {
            return out.push_back(packet);
        }
        for at in (0..len).step_by(self.most as usize) {
            let part = (len - at).min(self.most);
            let is_last = at + part == len;
            let mut packet = packet.clone();
            if let Body::Tcp(tcp) = &mut packet.body {
                tcp.seq = tcp.seq.add(at);
                tcp.payload = tcp.payload.part(at, part);
                if !is_last {
                    tcp.flags = tcp.flags.without(TcpFlags::FIN);
                }
            }
            out.push_back(packet);
        }
    }
}
