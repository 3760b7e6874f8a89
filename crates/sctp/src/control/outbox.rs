//! Packets that are complete wait here.

use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Addr, Body, Packet};
use std::collections::VecDeque;

/// Answers beyond this many packets are not given: the host drains them after each packet that
/// comes in.
const MOST: usize = 64;

/// `Outbox` has packets that are complete, in the order in which they leave.
#[derive(Debug, Default)]
pub(crate) struct Outbox(VecDeque<Packet>);

impl Outbox {
    /// Adds a packet of this side's own, which leaves in any case.
    pub fn push(&mut self, packet: Packet) {
        self.0.push_back(packet);
    }

    /// Returns whether an answer is taken, so that a peer cannot fill the outbox.
    pub fn has_room(&self) -> bool {
        self.0.len() < MOST
    }

    /// Takes the next packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        self.0.pop_front()
    }

    /// Takes the heartbeat that was to leave for `to` by itself, if there is one.
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

    /// Returns how many packets wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
