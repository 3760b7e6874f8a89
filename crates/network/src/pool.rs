//! The arena that holds every packet in the network.

use anabranch_wire::{Addr, Ecn, Packet};

/// `PacketId` is the slot of a packet in the pool; it is used again once the packet is removed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PacketId(pub u32);

/// `Hot` is what forwarding needs to know of a packet, kept apart from the packet so that a hop
/// touches twelve octets and not the whole value.
#[derive(Clone, Copy, Debug)]
struct Hot {
    dst: Addr,
    size: u32,
    ttl: u8,
    /// Bits were flipped on the way, which the transport's checksum shows.
    damaged: bool,
}

/// `PacketPool` has packets by [`PacketId`], with a free list; slots are reused last in, first out,
/// while they are still in the cache.
///
/// While a packet is in the pool, its TTL is kept in the forwarding record;
/// [`PacketPool::packet`] brings the value up to date.
#[derive(Default, Debug)]
pub struct PacketPool {
    packets: Vec<Packet>,
    hot: Vec<Hot>,
    free: Vec<PacketId>,
    /// Packets that have left the network, and whose slots are not free yet.
    left: usize,
    /// For each address by its number, whether it is of IPv6; empty where none is.
    ipv6: Box<[bool]>,
}

impl PacketPool {
    /// Makes a pool without packets.
    pub fn new() -> PacketPool {
        PacketPool::default()
    }

    /// An empty pool of a network in which these addresses are of IPv6, by
    /// their numbers, and all others of IPv4.
    pub fn with_ipv6(addresses: Vec<bool>) -> PacketPool {
        let none = !addresses.contains(&true);
        let ipv6 = if none { Box::default() } else { addresses.into_boxed_slice() };
        PacketPool { ipv6, ..PacketPool::default() }
    }

    /// Returns whether an address is of IPv6.
    pub fn is_ipv6(&self, addr: Addr) -> bool {
        self.ipv6.get(addr.0 as usize) == Some(&true)
    }

    /// Octets on the wire, where some addresses are of IPv6.
    #[cold]
    fn len_of(&self, packet: &Packet) -> u64 {
        packet.wire_len_with(|addr| self.is_ipv6(addr)).0
    }

    /// Stores a packet, and returns its slot.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        let all_ipv4 = self.ipv6.is_empty();
        let len = if all_ipv4 { packet.wire_len().0 } else { self.len_of(&packet) };
        let size = u32::try_from(len).unwrap_or(u32::MAX);
        let hot = Hot { dst: packet.dst, size, ttl: packet.ttl, damaged: false };
        if let Some(id) = self.free.pop() {
            self.packets[id.0 as usize] = packet;
            self.hot[id.0 as usize] = hot;
            return id;
        }
        let id = PacketId(self.packets.len() as u32);
        assert!(id.0 != u32::MAX, "the network holds fewer than 2^32 - 1 packets");
        self.packets.push(packet);
        self.hot.push(hot);
        id
    }

    /// Stores a copy of `id`, and returns its slot; a damaged packet has a damaged copy.
    pub fn duplicate(&mut self, id: PacketId) -> PacketId {
        let copy = self.packet(id).clone();
        let copy = self.insert(copy);
        self.hot[copy.0 as usize].damaged = self.is_damaged(id);
        copy
    }

    /// Puts another value in the place of a packet, of the same length.
    pub fn replace(&mut self, id: PacketId, packet: Packet) {
        let hot = &mut self.hot[id.0 as usize];
        (hot.dst, hot.ttl) = (packet.dst, packet.ttl);
        self.packets[id.0 as usize] = packet;
    }

    /// Notes that the packet's octets no longer match the transport's checksum.
    pub fn set_damaged(&mut self, id: PacketId) {
        self.hot[id.0 as usize].damaged = true;
    }

    /// Returns whether [`PacketPool::set_damaged`] was called; the host that the packet is for
    /// drops it.
    #[inline]
    pub fn is_damaged(&self, id: PacketId) -> bool {
        self.hot[id.0 as usize].damaged
    }

    /// Marks the packet for a queue: congestion experienced.
    pub fn set_ce(&mut self, id: PacketId) {
        self.packets[id.0 as usize].ecn = Ecn::Ce;
    }

    /// Sets the packet's code point to 0 for a queue.
    pub fn wash(&mut self, id: PacketId) {
        self.packets[id.0 as usize].dscp = 0;
    }

    /// The packet leaves the network; its slot is free. The value stays until
    /// the slot is used again.
    #[inline]
    pub fn release(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// The packet leaves the network, and its value is wanted outside: its slot is free once it
    /// is released too.
    #[inline]
    pub fn leave(&mut self, id: PacketId) -> &Packet {
        self.left += 1;
        self.packet(id)
    }

    /// Frees the slots of packets that have left. Their values stay until the next packet is
    /// stored.
    pub fn release_left(&mut self, ids: impl Iterator<Item = PacketId>) {
        let before = self.free.len();
        self.free.extend(ids);
        self.left -= self.free.len() - before;
    }

    /// Returns the packet, with the TTL that it now has.
    #[inline]
    pub fn packet(&mut self, id: PacketId) -> &Packet {
        let packet = &mut self.packets[id.0 as usize];
        packet.ttl = self.hot[id.0 as usize].ttl;
        packet
    }

    /// A packet that has left, with the TTL that it left with.
    #[inline]
    pub fn left(&self, id: PacketId) -> &Packet {
        &self.packets[id.0 as usize]
    }

    /// Returns the address that the packet goes to.
    #[inline]
    pub fn dst(&self, id: PacketId) -> Addr {
        self.hot[id.0 as usize].dst
    }

    /// Returns the length on the wire, in octets; `u32::MAX` for what no link carries.
    #[inline]
    pub fn size(&self, id: PacketId) -> u32 {
        self.hot[id.0 as usize].size
    }

    /// Returns whether IP may cut the packet into fragments.
    pub fn may_fragment(&self, id: PacketId) -> bool {
        self.packets[id.0 as usize].may_fragment
    }

    /// Takes one from the TTL as a router does before it forwards (RFC 1812
    /// §5.3.1); false when none would be left and the packet must go.
    #[inline]
    pub fn decrement_ttl(&mut self, id: PacketId) -> bool {
        let ttl = &mut self.hot[id.0 as usize].ttl;
        *ttl = ttl.saturating_sub(1);
        *ttl != 0
    }

    /// The packets in the network, in no order that means anything, with the TTL that they were sent
    /// with. It looks at all slots.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let mut is_free = vec![false; self.packets.len()];
        self.free.iter().for_each(|id| is_free[id.0 as usize] = true);
        let slots = self.packets.iter().zip(is_free);
        slots.filter(|(_, is_free)| !is_free).map(|(packet, _)| packet)
    }

    /// Returns how many packets are in the network.
    pub fn live(&self) -> usize {
        self.packets.len() - self.free.len() - self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::{Body, Payload};

    fn packet(len: u32) -> Packet {
        let body = Body::Other { protocol: 17, payload: Payload::virtual_of(len) };
        Packet::new(Addr(1), Addr(2), body)
    }

    #[test]
    fn slots_are_reused() {
        let mut pool = PacketPool::new();
        let a = pool.insert(packet(1));
        let b = pool.insert(packet(2));
        pool.release(a);
        assert_eq!(pool.live(), 1);
        let c = pool.insert(packet(3));
        assert_eq!((c, pool.live()), (a, 2));
        assert_eq!(pool.packet(b).payload_len(), 2);
        assert_eq!(pool.iter().map(Packet::payload_len).collect::<Vec<_>>(), [3, 2]);
        assert_eq!(pool.packet(c).payload_len(), 3);
        assert!(pool.decrement_ttl(b));
        assert_eq!(*pool.leave(b), Packet { ttl: 63, ..packet(2) });
        assert_eq!((pool.live(), pool.insert(packet(4))), (1, PacketId(2)));
        pool.release_left([b].into_iter());
        assert_eq!((pool.live(), pool.left(b).ttl), (2, 63));
        assert_eq!((pool.insert(packet(5)), pool.live()), (b, 3));
    }

    /// RFC 791 §3.1 and RFC 8200 §3: 20 and 40 octets.
    #[test]
    fn a_header_is_as_long_as_its_destinations_family_says() {
        let to = |dst| Packet { dst: Addr(dst), ..packet(100) };
        let size = |ipv6: &[bool], dst| {
            let mut pool = PacketPool::with_ipv6(ipv6.to_vec());
            let id = pool.insert(to(dst));
            let copy = pool.duplicate(id);
            assert_eq!(pool.size(copy), pool.size(id));
            pool.size(id)
        };
        let mixed = [false, true, false];
        assert_eq!([0, 1, 2, 3].map(|dst| size(&mixed, dst)), [120, 140, 120, 120]);
        assert_eq!([0, 1].map(|dst| size(&[true, true], dst)), [140, 140]);
        assert_eq!([0, 1].map(|dst| size(&[false, false], dst)), [120, 120]);
    }

    #[test]
    fn ttl_is_kept_with_the_packet_and_its_copies() {
        let mut pool = PacketPool::new();
        let id = pool.insert(Packet { ttl: 3, ..packet(1) });
        assert!(pool.decrement_ttl(id));
        let copy = pool.duplicate(id);
        assert_eq!(pool.packet(copy).ttl, 2);
        assert!(pool.decrement_ttl(id));
        assert!(!pool.decrement_ttl(id));
        assert_eq!(pool.packet(id).ttl, 0);
    }
}
