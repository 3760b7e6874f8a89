//! Packets that are complete.

use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Addr, Body, Packet};
use std::collections::VecDeque;

/// Answers beyond so many packets are not given: the host drains them after each packet that comes
/// in.
const MOST: usize = 64;

/// `Outbox` has packets that are complete, in the order in which they leave.
#[derive(Debug, Default)]
pub(crate) struct Outbox(VecDeque<Packet>);

impl Outbox {
    /// A packet of our own leaves.
    pub fn push(&mut self, packet: Packet) {
        self.0.push_back(packet);
    }

    /// Returns whether an answer is taken: a peer cannot make them many.
    pub fn has_room(&self) -> bool {
        self.0.len() < MOST
    }

    /// The next packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        self.0.pop_front()
    }

    /// The heartbeat that was to leave for `to` by itself, if one was.
    pub fn take_probe(&mut self, to: Addr) -> Option<Chunk> {
        let is_probe = |packet: &Packet| match &packet.body {
            Body::Sctp(sctp) => {
                packet.dst == to
                    && sctp.chunks.len() == 1
                    && matches!(sctp.chunks.first(), Some(Chunk::Heartbeat(_)))
            }
            _ => false,
        };
        let at = self.0.iter().position(is_probe)?;
        match self.0.remove(at)?.body {
            Body::Sctp(sctp) => sctp.chunks.first().cloned(),
            _ => None,
        }
    }

    /// How many packets wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
