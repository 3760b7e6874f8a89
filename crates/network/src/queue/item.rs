//! A packet as disciplines see it, and the queues that they are made of.

use crate::pool::PacketId;
use anabranch_units::{Span, Time};
use anabranch_wire::Ecn;
use std::collections::VecDeque;

/// A packet that waits, as disciplines see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// The packet's slot in the pool.
    pub id: PacketId,
    /// Octets, IP header included.
    pub size: u32,
    /// Hash of addresses, protocol and ports.
    pub flow: u32,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Acknowledges and carries nothing else (`Packet::is_pure_ack`).
    pub pure_ack: bool,
    /// ECN field as the packet came.
    pub ecn: Ecn,
    /// A discipline has set CE.
    pub marked: bool,
    /// A discipline has set the code point to 0.
    pub washed: bool,
    /// Time at which it joined the queue.
    pub since: Time,
    /// What the link has decided to do with it after the transmission.
    pub fate: u8,
    /// Number of packets that are to overtake it.
    pub distance: u32,
    /// Time that it travels longer.
    pub extra: Span,
}

impl Item {
    /// Sets CE where the sender is ECN-capable; false where it is not
    /// (RFC 3168 §5).
    pub fn mark(&mut self) -> bool {
        self.marked |= matches!(self.ecn, Ecn::Ect0 | Ecn::Ect1);
        self.ecn != Ecn::NotEct
    }

    /// Returns how long it has waited.
    pub fn sojourn(&self, now: Time) -> Span {
        now.saturating_since(self.since)
    }
}

/// Why a discipline gives up a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// The queue has no room for it.
    Overflow,
    /// A decision of active queue management.
    Early,
}

/// What a discipline has dropped, in order, until the link takes it.
pub type Losses = Vec<(Item, Loss)>;

/// First in, first out, with its length in octets.
#[derive(Clone, Default, Debug)]
pub struct Band {
    items: VecDeque<Item>,
    octets: u64,
}

impl Band {
    /// Adds an item at the tail.
    pub fn push(&mut self, item: Item) {
        self.octets += item.size as u64;
        self.items.push_back(item);
    }

    /// Takes the item at the head.
    pub fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.octets -= item.size as u64;
        Some(item)
    }

    /// Takes the item at the tail.
    pub fn pop_tail(&mut self) -> Option<Item> {
        let item = self.items.pop_back()?;
        self.octets -= item.size as u64;
        Some(item)
    }

    /// Takes the item at a place, 0 for the head; the others close up.
    pub fn remove(&mut self, place: usize) -> Option<Item> {
        let item = self.items.remove(place)?;
        self.octets -= item.size as u64;
        Some(item)
    }

    /// Returns the item at a place, 0 for the head.
    pub fn get(&self, place: usize) -> Option<&Item> {
        self.items.get(place)
    }

    /// Returns the item at the head.
    pub fn head(&self) -> Option<&Item> {
        self.items.front()
    }

    /// Returns how many octets wait.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Returns how many packets wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A packet that is not ECN-capable, of flow 0.
    pub fn item(id: u32, size: u32, since: Time) -> Item {
        Item {
            id: PacketId(id),
            size,
            flow: 0,
            dscp: 0,
            pure_ack: false,
            ecn: Ecn::NotEct,
            marked: false,
            washed: false,
            since,
            fate: 0,
            distance: 0,
            extra: Span::ZERO,
        }
    }

    /// The date `us` microseconds after the start.
    pub fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::item;
    use super::*;

    #[test]
    fn only_ecn_capable_packets_are_marked() {
        let marked = |ecn| {
            let mut item = Item { ecn, ..item(0, 40, Time::ZERO) };
            (item.mark(), item.marked)
        };
        assert_eq!(marked(Ecn::NotEct), (false, false));
        assert_eq!(marked(Ecn::Ect0), (true, true));
        assert_eq!(marked(Ecn::Ect1), (true, true));
        assert_eq!(marked(Ecn::Ce), (true, false)); // nothing left to set
    }

    #[test]
    fn a_band_counts_octets() {
        let mut band = Band::default();
        for id in 0..3 {
            band.push(item(id, 100 + id, Time::ZERO));
        }
        assert_eq!((band.len(), band.octets()), (3, 303));
        assert_eq!(band.pop_tail().map(|tail| tail.id), Some(PacketId(2)));
        assert_eq!(band.pop().map(|band| band.id), Some(PacketId(0)));
        assert_eq!((band.len(), band.octets()), (1, 101));
        band.push(item(3, 7, Time::ZERO));
        assert_eq!(band.get(1).map(|band| band.id), Some(PacketId(3)));
        assert_eq!(band.remove(0).map(|band| band.id), Some(PacketId(1)));
        assert_eq!((band.len(), band.octets(), band.remove(1)), (1, 7, None));
    }
}
