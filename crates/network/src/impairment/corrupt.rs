//! Corruption that somebody has to notice: random bits of a packet are flipped
//! on the wire, and the packet goes on. What is written here are the packet's
//! real octets with their checksums, read back:
//!
//! - the IP header's checksum (or its syntax) catches it: the next node drops
//!   the packet, which counts as corrupt on this link, like `bit-errors`, where
//!   a link's own check would have caught it;
//! - the transport's checksum catches it: the packet uses all links on its way
//!   and the host that it is addressed to drops it;
//! - nobody catches it: two flips can cancel out in the Internet checksum. The
//!   packet arrives as it then reads, wrong data included.
//!
//! A packet of SCTP that has no checksum (RFC 9653) is in the care of a layer
//! below, which finds errors at least as surely as CRC32c: whoever lets an
//! association do without says that there is one (§3). Links have no such layer
//! as a part; what it does is what is counted: the host drops the packet.

use crate::catalogue::Info;
use crate::pool::{PacketId, PacketPool};
use anabranch_endpoint::Generator;
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{AddressBook, Body, Packet, Payload};

pub(super) const INFO: Info = Info {
    name: "corrupt",
    summary: "bits of some packets are flipped; checksums on the way have to catch it",
    reference: "RFC 1071, RFC 9293 §3.1 (checksum); Stone and Partridge, SIGCOMM 2000",
};

/// `Corrupt` flips some bits of each packet that is hit.
#[derive(Debug)]
pub struct Corrupt {
    probability: f64,
    bits: u32,
    book: AddressBook,
    octets: Vec<u8>,
    generator: Generator,
}

/// `Damage` is the part of a packet that the flipped bits hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Damage {
    None,
    /// It is in the IP header: the next node sees it.
    Header,
    /// It is behind the IP header: the host that the packet is for sees it.
    Body,
    /// Checksums do not catch it: the packet arrives as it is, damaged.
    Unseen,
}

/// `Flipped` says where flipped bits are.
struct Flipped {
    /// At least one flipped bit is in the IP header.
    in_header: bool,
    /// At least one flipped bit is behind the IP header.
    behind_header: bool,
}

impl Corrupt {
    /// Makes an impairment that flips `bits` different bits with `probability`.
    pub fn new(probability: f64, bits: u32, generator: Generator) -> Corrupt {
        let (book, octets) = (AddressBook::new(), Vec::new());
        Corrupt { probability, bits, book, octets, generator }
    }

    /// Damages the packet or leaves it, and returns which.
    pub(super) fn strike(&mut self, id: PacketId, pool: &mut PacketPool) -> Damage {
        if !self.generator.chance(self.probability) {
            return Damage::None;
        }
        let packet = pool.packet(id);
        self.octets.clear();
        if packet.emit(&self.book, &mut self.octets).is_err() {
            // Too long for an IP packet: no checksum of ours covers it.
            return Damage::Header;
        }
        let below = packet.has_zero_checksum();
        let flipped = self.flip();
        let caught = |seen: &Packet| (below || seen.has_zero_checksum()) && flipped.behind_header;
        match Packet::parse(&self.octets, &self.book) {
            Err(_) if flipped.in_header => Damage::Header,
            Ok(seen) if !caught(&seen) => {
                let seen = without_octets_of(seen, pool.packet(id));
                pool.replace(id, seen);
                Damage::Unseen
            }
            _ => {
                pool.set_damaged(id);
                Damage::Body
            }
        }
    }

    /// Flips `bits` different bits of the octets, or all that there are, and says where they are.
    fn flip(&mut self) -> Flipped {
        let total = self.octets.len() as u64 * 8;
        let mut flipped: Vec<u64> = Vec::new();
        while (flipped.len() as u64) < total.min(self.bits as u64) {
            let bit = self.generator.below(total);
            if !flipped.contains(&bit) {
                self.octets[bit as usize / 8] ^= 1 << (bit % 8);
                flipped.push(bit);
            }
        }
        let is_in_header = |bit: &u64| *bit < Packet::IP_HEADER as u64 * 8;
        Flipped {
            in_header: flipped.iter().any(is_in_header),
            behind_header: !flipped.iter().all(is_in_header),
        }
    }
}

/// `seen` with a payload that is only a length, where `sent` has such a one.
fn without_octets_of(mut seen: Packet, sent: &Packet) -> Packet {
    match (&mut seen.body, &sent.body) {
        (Body::Tcp(seen), Body::Tcp(sent)) if sent.payload.octets().is_none() => {
            seen.payload = Payload::virtual_of(seen.payload.len());
        }
        (Body::Sctp(seen), Body::Sctp(sent)) => {
            for (seen, sent) in seen.chunks.iter_mut().zip(sent.chunks.iter()) {
                match (seen, sent) {
                    (Chunk::Data(seen), Chunk::Data(sent)) if sent.payload.octets().is_none() => {
                        seen.payload = Payload::virtual_of(seen.payload.len());
                    }
                    (Chunk::IData(seen), Chunk::IData(sent)) if sent.payload.octets().is_none() => {
                        seen.payload = Payload::virtual_of(seen.payload.len());
                    }
                    _ => {}
                }
            }
        }
        (Body::Udp(seen), Body::Udp(sent)) if sent.payload.octets().is_none() => {
            seen.payload = Payload::virtual_of(seen.payload.len());
        }
        (Body::Other { payload: seen, .. }, Body::Other { payload: sent, .. })
            if sent.octets().is_none() =>
        {
            *seen = Payload::virtual_of(seen.len());
        }
        _ => {}
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Serial32;
    use anabranch_wire::sctp::{DataChunk, SctpPacket};
    use anabranch_wire::{Addr, TcpFlags, TcpOptions, TcpSegment};

    fn segment() -> Packet {
        let segment = TcpSegment {
            src_port: 50_000,
            dst_port: 50_001,
            seq: Serial32(7),
            ack: Serial32(9),
            flags: TcpFlags::ACK,
            window: 1000,
            urgent: 0,
            options: TcpOptions::default(),
            payload: Payload::virtual_of(460),
        };
        Packet::new(Addr(0), Addr(1), Body::Tcp(segment))
    }

    /// How often each kind of damage comes, of `n`.
    fn strike(bits: u32, n: u32) -> [u32; 4] {
        let mut pool = PacketPool::new();
        let mut corrupt = Corrupt::new(1.0, bits, Generator::from_u64(3));
        let mut counts = [0; 4];
        for _ in 0..n {
            let id = pool.insert(segment());
            let damage = corrupt.strike(id, &mut pool);
            assert_eq!(pool.is_damaged(id), damage == Damage::Body);
            assert!(damage == Damage::Unseen || *pool.packet(id) == segment());
            counts[damage as usize] += 1;
            pool.release(id);
        }
        counts
    }

    #[test]
    fn one_flipped_bit_is_always_caught() {
        let [none, header, body, unseen] = strike(1, 5000);
        assert_eq!((none, unseen), (0, 0));
        // 160 of 4000 bits are the IP header's.
        assert!((header as f64 / 5000.0 - 0.04).abs() < 0.009, "{header}");
        assert_eq!(header + body, 5000);
    }

    #[test]
    fn two_bits_slip_through_as_often_as_ones_complement_sums_let_them() {
        // Two flips go unseen in one column of 16 bits where one bit is set and
        // the other is not (RFC 1071); counted over all pairs of bits.
        let mut octets = Vec::new();
        segment().emit(&AddressBook::new(), &mut octets).unwrap();
        let mut columns = [[0_u64; 2]; 16];
        for bit in 160..octets.len() * 8 {
            let value = octets[bit / 8] >> (bit % 8) & 1;
            columns[bit % 16][value as usize] += 1;
        }
        let pairs = (octets.len() * 8 * (octets.len() * 8 - 1) / 2) as f64;
        let expected = columns.iter().map(|[a, b]| a * b).sum::<u64>() as f64 / pairs;
        let n = 40_000;
        let [_, _, _, unseen] = strike(2, n);
        let share = unseen as f64 / n as f64;
        // Standard error 0.0006.
        assert!((share - expected).abs() < 0.002, "{share} {expected}");
    }

    /// RFC 9653 §3: what has no checksum is in the care of a layer below, which finds all that is flipped
    /// behind the IP header, however many bits.
    #[test]
    fn the_layer_below_finds_all_damage_of_packets_without_a_checksum() {
        let (src_port, dst_port, tag, udp) = (50_000, 50_001, 7, None);
        let (flags, tsn) = (anabranch_wire::sctp::DataFlags::WHOLE, Serial32(7));
        let payload = Payload::virtual_of(460);
        let data = Chunk::Data(DataChunk { flags, tsn, stream: 0, ssn: 0, ppid: 0, payload });
        let packet = |zero_checksum| {
            let chunks = data.clone().into();
            let sctp = SctpPacket { src_port, dst_port, tag, udp, zero_checksum, chunks };
            Packet::new(Addr(0), Addr(1), Body::Sctp(Box::new(sctp)))
        };
        for (zero_checksum, bits) in [(true, 1), (true, 2), (true, 50), (false, 2)] {
            let mut pool = PacketPool::new();
            let mut corrupt = Corrupt::new(1.0, bits, Generator::from_u64(3));
            let (mut header, mut body, mut unseen) = (0, 0, 0);
            for _ in 0..2000 {
                let id = pool.insert(packet(zero_checksum));
                match corrupt.strike(id, &mut pool) {
                    Damage::Header => header += 1,
                    Damage::Body => body += 1,
                    Damage::Unseen => unseen += 1,
                    Damage::None => panic!("every packet is hit"),
                }
                pool.release(id);
            }
            // Two in one column of the IP header, which is in nobody's care but its own.
            assert!(unseen <= if bits == 2 { 2 } else { 0 }, "{unseen}");
            // 160 of 4064 bits are the IP header's.
            assert!(header > 40 && body > 200, "{header} {body}");
        }
    }

    #[test]
    fn nothing_happens_without_the_probability() {
        let mut pool = PacketPool::new();
        let id = pool.insert(segment());
        let mut corrupt = Corrupt::new(0.0, 1, Generator::from_u64(3));
        assert!((0..1000).all(|_| corrupt.strike(id, &mut pool) == Damage::None));
    }
}
