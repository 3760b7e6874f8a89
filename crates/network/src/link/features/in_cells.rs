//! Packets that a virtual channel carries, cell by cell, from the link's queue to its far end.

use super::super::base::Count;
use super::fate::Judged;
use std::collections::VecDeque;

/// Packets that have left for a virtual channel and are not yet at its far end, in order.
#[derive(Debug, Default)]
pub(super) struct InCells {
    packets: VecDeque<(u32, Judged)>,
    /// `taken` is how many packets have left so far.
    taken: u32,
}

impl InCells {
    /// A packet leaves. Returns its number, by which the channel knows it.
    pub(super) fn leave(&mut self, packet: Judged) -> u32 {
        let number = self.taken;
        self.taken = number.wrapping_add(1);
        self.packets.push_back((number, packet));
        number
    }

    /// Returns the packet of this number, which is at the far end.
    pub(super) fn arrive(&mut self, number: u32) -> Option<Judged> {
        let index = self.packets.iter().position(|(other, _)| *other == number)?;
        self.packets.remove(index).map(|(_, packet)| packet)
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> Count {
        let octets = self.packets.iter().map(|(_, packet)| packet.size as u64).sum();
        Count { packets: self.packets.len() as u64, octets }
    }
}
