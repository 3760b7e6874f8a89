//! The packet as a value: an IP header's fields and a transport body.

use crate::icmp::{self, Icmp};
use crate::sctp::{Chunk, SctpPacket};
use crate::tcp::TcpSegment;
use crate::udp::UdpDatagram;
use anabranch_units::Bytes;
use std::fmt;
use triomphe::ThinArc;

/// `Addr` is the address of an interface: a number that the edge's address book turns into an IPv4
/// or IPv6 address. Numbers are dense, so that tables are arrays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Addr(pub u32);

/// `Ecn` is the ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not use ECN: routers drop packets of it instead of marking them.
    #[default]
    NotEct = 0b00,
    /// ECT(1): the sender is ECN-capable, and asks for low latency (RFC 9331).
    Ect1 = 0b01,
    /// ECT(0): the sender is ECN-capable, and takes a mark for a loss (RFC 3168 §5).
    Ect0 = 0b10,
    /// CE, congestion experienced: a router has marked the packet (RFC 3168 §5).
    Ce = 0b11,
}

impl Ecn {
    /// Reads the low two bits; the others are ignored.
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

/// Octets that a transport carries for its user: a length, and the octets
/// themselves where the run asked for real ones. A payload without octets is
/// written to the wire as a pattern determined by its position in the stream.
/// Copies and [parts](Payload::part) of real octets share them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payload(Content);

/// An `enum` in 16 octets; a length beside an `Option` would take 24.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Content {
    Length(u32),
    Octets(Octets),
}

/// `Octets` is a range of octets that several payloads share.
#[derive(Clone)]
struct Octets {
    shared: ThinArc<(), u8>,
    start: u32,
    len: u32,
}

impl std::ops::Deref for Octets {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.shared.slice[self.start as usize..][..self.len as usize]
    }
}

impl PartialEq for Octets {
    fn eq(&self, other: &Octets) -> bool {
        **self == **other
    }
}
impl Eq for Octets {}

impl fmt::Debug for Octets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Payload {
    /// `EMPTY` is a payload without octets, as a bare ACK has it.
    pub const EMPTY: Payload = Payload::virtual_of(0);

    /// Makes a payload that is only a length, in octets.
    pub const fn virtual_of(len: u32) -> Payload {
        Payload(Content::Length(len))
    }
    /// Makes a payload of real octets, which are copied; of less than 4 GiB.
    pub fn of_octets(octets: impl AsRef<[u8]>) -> Payload {
        let octets = octets.as_ref();
        let len = u32::try_from(octets.len()).expect("a payload has less than 4 GiB");
        let shared = ThinArc::from_header_and_slice((), octets);
        Payload(Content::Octets(Octets { shared, start: 0, len }))
    }
    /// Makes the payload that stands in `octets` of a packet.
    pub(crate) fn from_wire(octets: &[u8]) -> Payload {
        if octets.is_empty() { Payload::EMPTY } else { Payload::of_octets(octets) }
    }
    /// Returns the `len` octets from the `start`-th on; panics where there are fewer.
    #[must_use]
    pub fn part(&self, start: u32, len: u32) -> Payload {
        assert!(start.checked_add(len).is_some_and(|end| end <= self.len()), "a part of a payload");
        Payload(match &self.0 {
            Content::Length(_) => Content::Length(len),
            Content::Octets(all) => Content::Octets(Octets {
                shared: all.shared.clone(),
                start: all.start + start,
                len,
            }),
        })
    }
    /// Joins payloads, one after the other: a length if all are lengths; where some are real, the
    /// others are zeros.
    pub fn join<'a>(parts: impl Iterator<Item = &'a Payload> + Clone) -> Payload {
        let len = parts.clone().map(Payload::len).sum();
        if parts.clone().all(|part| part.octets().is_none()) {
            return Payload::virtual_of(len);
        }
        let mut octets = Vec::with_capacity(len as usize);
        for part in parts {
            match part.octets() {
                Some(part) => octets.extend_from_slice(part),
                None => octets.resize(octets.len() + part.len() as usize, 0),
            }
        }
        Payload::of_octets(octets)
    }
    /// Returns how many octets the payload has, real or counted.
    pub fn len(&self) -> u32 {
        match &self.0 {
            Content::Length(len) => *len,
            Content::Octets(octets) => octets.len,
        }
    }
    /// Returns whether the payload has no octets, real or counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the octets where they are real; `None` where the payload is only a length.
    pub fn octets(&self) -> Option<&[u8]> {
        match &self.0 {
            Content::Length(_) => None,
            Content::Octets(octets) => Some(octets),
        }
    }
}

impl Default for Payload {
    fn default() -> Payload {
        Payload::EMPTY
    }
}

/// `Body` is what the IP packet carries behind its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// `Tcp` is a segment: header, options and data (RFC 9293 §3.1).
    Tcp(TcpSegment),
    /// `Icmp` is an ICMP error of IPv4 or IPv6; other messages are `Other`.
    Icmp(Box<Icmp>),
    /// `Sctp` is a packet of chunks, in IP or in UDP (RFC 9260 §3, RFC 6951).
    Sctp(Box<SctpPacket>),
    /// `Udp` is a datagram: ports and data (RFC 768).
    Udp(UdpDatagram),
    /// `Other` is of any other protocol: its IP protocol number and its octets.
    Other {
        /// `protocol` is IANA's number of the protocol, from the IP header.
        protocol: u8,
        /// `payload` is all that follows the IP header.
        payload: Payload,
    },
}

/// `Packet` is a packet as a value: fields of the IP header, and the transport's packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// `src` is the interface that the packet says it left from.
    pub src: Addr,
    /// `dst` is the interface that the packet goes to.
    pub dst: Addr,
    /// `ttl` is how many more hops the packet may make; over IPv6 it is the hop limit.
    pub ttl: u8,
    /// `dscp` is the differentiated services code point, at most 6 bits (RFC 2474 §3).
    pub dscp: u8,
    /// `ecn` is the ECN field: the sender sets ECT, routers set CE (RFC 3168 §5).
    pub ecn: Ecn,
    /// `ident` is the IPv4 identification; it is 0 for atomic datagrams (RFC 6864 §4).
    pub ident: u16,
    /// `may_fragment` says that IP may cut the packet into fragments where a link takes no more:
    /// the DF flag is not set (RFC 791), or the source cuts (RFC 8200 §4.5). The fragments have the
    /// identification `ident`.
    pub may_fragment: bool,
    /// `body` is the transport's packet, header and data.
    pub body: Body,
}

/// `FlowKey` identifies a flow in one direction by addresses, protocol and ports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowKey {
    /// `src` is the address that the flow's packets come from.
    pub src: Addr,
    /// `dst` is the address that the flow's packets go to.
    pub dst: Addr,
    /// `protocol` is IANA's number of the transport; SCTP in UDP has that of SCTP.
    pub protocol: u8,
    /// `src_port` is the transport's source port; it is 0 where the protocol has none.
    pub src_port: u16,
    /// `dst_port` is the transport's destination port; it is 0 where the protocol has none.
    pub dst_port: u16,
}

impl FlowKey {
    /// Returns the key of the flow in the other direction.
    #[must_use]
    pub const fn reversed(self) -> FlowKey {
        FlowKey {
            src: self.dst,
            dst: self.src,
            protocol: self.protocol,
            src_port: self.dst_port,
            dst_port: self.src_port,
        }
    }
}

impl Packet {
    /// `IP_HEADER` is the length of the IPv4 header without options, in octets (RFC 791 §3.1).
    pub const IP_HEADER: u32 = 20;
    /// `IPV6_LONGER` is by how many octets the header of IPv6 is longer (RFC 8200 §3).
    pub const IPV6_LONGER: u32 = 20;

    /// `TTL` is the time to live, in hops, that a packet begins with unless its sender says another
    /// (RFC 1700).
    pub const TTL: u8 = 64;

    /// Makes a packet with the usual IP fields (TTL 64, not ECN-capable).
    pub const fn new(src: Addr, dst: Addr, body: Body) -> Packet {
        let (ttl, ecn) = (Packet::TTL, Ecn::NotEct);
        Packet { src, dst, ttl, dscp: 0, ecn, ident: 0, may_fragment: false, body }
    }

    /// Returns the length on the wire as IPv4, in octets: IP header, transport header with options,
    /// payload. Links charge this length; they add no framing.
    pub fn wire_len(&self) -> Bytes {
        let body = match &self.body {
            Body::Tcp(segment) => segment.wire_len(),
            Body::Icmp(icmp) => icmp.wire_len(),
            Body::Sctp(sctp) => sctp.wire_len(),
            Body::Udp(datagram) => datagram.wire_len(),
            Body::Other { payload, .. } => payload.len(),
        };
        Bytes((Self::IP_HEADER + body) as u64)
    }

    /// Returns the length on the wire where these addresses are of IPv6: the header of IP (RFC 8200
    /// §3) and the one that ICMP quotes have 20 octets more, addresses inside SCTP's chunks 12.
    pub fn wire_len_with(&self, is_ipv6: impl Fn(Addr) -> bool) -> Bytes {
        let headers = match &self.body {
            Body::Icmp(_) => 2,
            Body::Sctp(_) | Body::Tcp(_) | Body::Udp(_) | Body::Other { .. } => 1,
        };
        let longer = if is_ipv6(self.dst) { headers * u64::from(Self::IPV6_LONGER) } else { 0 };
        let as_ipv4 = match &self.body {
            Body::Sctp(sctp) => u64::from(Self::IP_HEADER + sctp.wire_len_with(&is_ipv6)),
            _ => self.wire_len().0,
        };
        Bytes(as_ipv4 + longer)
    }

    /// Returns the octets that `size` octets, an IP header included, take in fragments of at most
    /// `mtu`: each has a header of its own, and all but the last carry a multiple of eight octets
    /// (RFC 791 §3.2, RFC 8200 §4.5).
    pub const fn len_in_fragments(size: u32, mtu: u32, is_ipv6: bool) -> u32 {
        let (header, own) = match is_ipv6 {
            // The Fragment header has 8 octets.
            true => (Self::IP_HEADER + Self::IPV6_LONGER, Self::IP_HEADER + Self::IPV6_LONGER + 8),
            false => (Self::IP_HEADER, Self::IP_HEADER),
        };
        let piece = (mtu - own) & !7;
        let carried = size - header;
        carried + carried.div_ceil(piece) * own
    }

    /// Returns how many octets the packet carries for the transport's user, headers and padding
    /// left out.
    pub fn payload_len(&self) -> u32 {
        match &self.body {
            Body::Tcp(segment) => segment.payload.len(),
            Body::Icmp(_) => 0,
            Body::Sctp(sctp) => sctp.payload_len(),
            Body::Udp(datagram) => datagram.data_len(),
            Body::Other { payload, .. } => payload.len(),
        }
    }

    /// Returns how many octets at the end of the packet are written by a pattern because its
    /// payload is only a length: with the padding of an SCTP chunk, and of the last chunk alone.
    pub fn synthetic_tail(&self) -> u32 {
        let of = |payload: &Payload| if payload.octets().is_none() { payload.len() } else { 0 };
        match &self.body {
            Body::Tcp(segment) => of(&segment.payload),
            Body::Icmp(_) => 0,
            Body::Sctp(sctp) => {
                let last = match sctp.chunks.iter().last() {
                    Some(Chunk::Data(data)) => &data.payload,
                    Some(Chunk::IData(data)) => &data.payload,
                    _ => return 0,
                };
                of(last).next_multiple_of(4)
            }
            Body::Udp(datagram) => of(&datagram.payload),
            Body::Other { payload, .. } => of(payload),
        }
    }

    /// Returns whether the transport's checksum is zero although that is not right (RFC 9653): it
    /// protects nothing, and a receiver that has not agreed to that drops the packet.
    #[inline]
    pub fn has_zero_checksum(&self) -> bool {
        matches!(&self.body, Body::Sctp(sctp) if sctp.zero_checksum)
    }

    /// Returns whether the packet acknowledges and carries nothing else (no payload, no connection
    /// set-up or end): what an ACK-delaying router may hold back.
    pub fn is_pure_ack(&self) -> bool {
        match &self.body {
            Body::Tcp(segment) => {
                segment.payload.is_empty()
                    && segment.flags.contains(crate::TcpFlags::ACK)
                    && !segment.flags.intersects(
                        crate::TcpFlags::SYN
                            .union(crate::TcpFlags::FIN)
                            .union(crate::TcpFlags::RST),
                    )
            }
            Body::Sctp(sctp) => sctp.is_pure_sack(),
            Body::Icmp(_) | Body::Udp(_) | Body::Other { .. } => false,
        }
    }

    /// Returns the flow that the packet belongs to, in the packet's direction.
    pub fn flow_key(&self) -> FlowKey {
        let (protocol, src_port, dst_port) = match &self.body {
            Body::Tcp(segment) => (6, segment.src_port, segment.dst_port),
            Body::Icmp(_) => (icmp::PROTOCOL_V4, 0, 0),
            Body::Sctp(sctp) => (SctpPacket::PROTOCOL, sctp.src_port, sctp.dst_port),
            Body::Udp(datagram) => (UdpDatagram::PROTOCOL, datagram.src_port, datagram.dst_port),
            Body::Other { protocol, .. } => (*protocol, 0, 0),
        };
        FlowKey { src: self.src, dst: self.dst, protocol, src_port, dst_port }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compilers copy up to 128 octets in place; beyond, each of the copies
    /// between an endpoint and the network would be a call.
    #[test]
    fn a_packet_is_small_enough_to_copy() {
        assert!(size_of::<Packet>() <= 128, "{} octets", size_of::<Packet>());
        assert_eq!(size_of::<Option<Packet>>(), size_of::<Packet>());
    }

    /// 1500 octets over a link of 1400: 1376 and 104 octets behind headers of IPv4; 1352 and 108 behind
    /// those of IPv6, of which 40 of the 1500 are one.
    #[test]
    fn each_fragment_has_a_header() {
        assert_eq!(Packet::len_in_fragments(1500, 1400, false), 1396 + 124);
        assert_eq!(Packet::len_in_fragments(1500, 1400, true), 1400 + 156);
        assert_eq!(Packet::len_in_fragments(1500, 68, false), 1480 + 31 * 20);
    }
}
