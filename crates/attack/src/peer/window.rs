//! Windows that never open (RFC 9293 §3.8.6.1: a sender must probe them, and may do so
//! for ever), and windows of one octet (§3.8.6.2.1: a sender must not fill them octet by
//! octet).

use super::Twist;
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Body, Packet, TcpFlags};
use std::collections::VecDeque;

/// The window is never more than that.
pub(super) struct Narrow {
    pub octets: u16,
}

impl Twist for Narrow {
    fn send(&mut self, mut packet: Packet, out: &mut VecDeque<Packet>) {
        match &mut packet.body {
            // The scale is that of the SYNs: with it one octet cannot be told.
            Body::Tcp(segment) if segment.flags.contains(TcpFlags::SYN) => {
                segment.options.window_scale = None;
            }
            Body::Tcp(segment) => segment.window = segment.window.min(self.octets),
            Body::Sctp(sctp) => {
                for chunk in sctp.chunks.iter_mut() {
                    if let Chunk::Sack(sack) = chunk {
                        sack.a_rwnd = sack.a_rwnd.min(self.octets.into());
                    }
                }
            }
            _ => {}
        }
        out.push_back(packet);
    }
}
