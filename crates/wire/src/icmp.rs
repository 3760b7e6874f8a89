//! ICMP errors, of IPv4 (RFC 792, RFC 1191) and IPv6 (RFC 4443): one value for
//! both, since what transports need of them is the same.
//!
//! | kind | ICMPv4 type, code | ICMPv6 type, code |
//! |---|---|---|
//! | no route | 3, 0 | 1, 0 |
//! | host unreachable | 3, 1 | 1, 3 |
//! | protocol unreachable | 3, 2 | 4, 1, read as the next |
//! | unknown next header | 3, 2, read as the last | 4, 1 |
//! | port unreachable | 3, 3 | 1, 4 |
//! | packet too big | 3, 4 | 2, 0 |
//! | source route failed | 3, 5 | 1, 3 |
//! | host unknown | 3, 7 | 1, 3 |
//! | host isolated | 3, 8 | 1, 3 |
//! | parameter problem | 12, 0 | 4, 0; 4, 2 is read as such |
//! | administratively prohibited | 3, 13 | 1, 1 |
//! | time exceeded | 11, 0 | 3, 0 |
//! | reassembly time exceeded | 11, 1 | 3, 1 |
//!
//! The MTU of a packet too big counts an IPv4 header, as
//! [`Packet::wire_len`](crate::Packet::wire_len) does: over IPv6 the message
//! has 20 octets more.
//!
//! Every other message, and one whose quote is not of our addresses, is a
//! [`Body::Other`](crate::Body::Other).
//!
//! Deviation: eight octets of the transport header are quoted, as RFC 792 has
//! it; RFC 1812 §4.3.2.3 and RFC 4443 §2.4 wish for more. More is read and
//! left behind. Behind a header of UDP eight more are kept, and sent where they
//! are there: a segment of TCP in UDP ([`crate::tcp::udp`]) is told by these.

use crate::address::AddressBook;
use crate::checksum::{PseudoHeader, Sum};
use crate::error::{EmitError, ParseError};
use crate::ipv4::Ipv4Repr;
use crate::ipv6::Ipv6Repr;
use crate::packet::{Addr, Ecn, FlowKey, Packet};
use anabranch_units::Serial32;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `PROTOCOL_V4` is the number of ICMP in the Protocol field of IPv4 (RFC 792).
pub const PROTOCOL_V4: u8 = 1;
/// `PROTOCOL_V6` is the number of ICMPv6 in the Next Header field of IPv6 (RFC 4443 §2.1).
pub const PROTOCOL_V6: u8 = 58;

/// `HEADER` counts type, code, checksum and the four octets that follow, whose meaning the type
/// says.
const HEADER: usize = 8;
const LONGER: u32 = Packet::IPV6_LONGER;
/// `QUOTED` is how many octets of the dropped packet's transport header are quoted (RFC 792).
const QUOTED: usize = 8;

/// `IcmpKind` is what went wrong with a packet; the table above has the types and codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpKind {
    /// No route leads to the destination's network.
    NoRoute,
    /// The destination does not answer on its link, as the last router says.
    HostUnreachable,
    /// The destination does not speak the transport.
    ProtocolUnreachable,
    /// The destination does not know the header that follows IPv6's: it may not speak the transport,
    /// or may not know an extension.
    UnknownNextHeader,
    /// Nothing listens on the port, as the destination itself says.
    PortUnreachable,
    /// The packet must not be fragmented and is larger than the next link's
    /// MTU, in octets; 0 where an old router does not say (RFC 1191 §5).
    PacketTooBig {
        /// `mtu` is the MTU of the next hop, in octets, for a packet with an IPv4 header.
        mtu: u32,
    },
    /// A router cannot follow the way that the source has chosen; IPv4 alone.
    SourceRouteFailed,
    /// Nobody knows the destination's host; IPv4 alone.
    HostUnknown,
    /// The source's host is cut off from the network; IPv4 alone (RFC 1122 §3.2.2.1).
    HostIsolated,
    /// A filter on the way forbids the packet (RFC 1812 §5.2.7.1).
    Prohibited,
    /// A field of the header has a value that it cannot have.
    ParameterProblem,
    /// A router found nothing left of the TTL or hop limit.
    TimeExceeded,
    /// The destination waited in vain for the packet's other fragments.
    ReassemblyTimeExceeded,
}

/// `Quote` is the head of the packet that an error is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quote {
    /// `src` is the source address of the packet that was dropped: the error goes there.
    pub src: Addr,
    /// `dst` is the destination address of the packet that was dropped.
    pub dst: Addr,
    /// `protocol` is the number of the dropped packet's transport, from its IP header.
    pub protocol: u8,
    /// `ttl` is the time to live, in hops, with which the packet reached who reports the error.
    pub ttl: u8,
    /// `dscp` is the differentiated services code point, 6 bits, as it arrived (RFC 2474 §3).
    pub dscp: u8,
    /// `ecn` is the ECN field as it arrived, with a mark that the way may have set.
    pub ecn: Ecn,
    /// `ident` is the IPv4 identification of that packet; it is 0 over IPv6.
    pub ident: u16,
    /// `len` is how many octets followed the IP header; most of them are not quoted.
    pub len: u16,
    /// `first` has the first octets that followed the IP header: ports and the start of the
    /// transport's numbers.
    pub first: [u8; QUOTED],
    /// `within_udp` has the octets behind `first`, where that is the header of UDP: TCP's own, of a
    /// segment in UDP.
    pub within_udp: Option<[u8; QUOTED]>,
}

impl Quote {
    /// Quotes the head of `packet`, as a router does.
    pub fn of(packet: &Packet) -> Quote {
        let key = packet.flow_key();
        let mut first = [0; QUOTED];
        if let crate::Body::Tcp(segment) = &packet.body {
            first[..2].copy_from_slice(&segment.src_port.to_be_bytes());
            first[2..4].copy_from_slice(&segment.dst_port.to_be_bytes());
            first[4..].copy_from_slice(&segment.seq.0.to_be_bytes());
        }
        if let crate::Body::Sctp(sctp) = &packet.body
            && sctp.udp.is_none()
        {
            first[..2].copy_from_slice(&sctp.src_port.to_be_bytes());
            first[2..4].copy_from_slice(&sctp.dst_port.to_be_bytes());
            first[4..].copy_from_slice(&sctp.tag.to_be_bytes());
        }
        if let crate::Body::Udp(datagram) = &packet.body {
            first[..2].copy_from_slice(&datagram.src_port.to_be_bytes());
            first[2..4].copy_from_slice(&datagram.dst_port.to_be_bytes());
            let length = datagram.wire_len().min(0xFFFF) as u16;
            first[4..6].copy_from_slice(&length.to_be_bytes());
        }
        let len = packet.wire_len().0.saturating_sub(Packet::IP_HEADER as u64);
        Quote {
            src: packet.src,
            dst: packet.dst,
            protocol: key.protocol,
            ttl: packet.ttl,
            dscp: packet.dscp,
            ecn: packet.ecn,
            ident: packet.ident,
            len: len.min(0xFFFF - Packet::IP_HEADER as u64) as u16,
            first,
            within_udp: None,
        }
    }

    /// Returns the flow that the packet belonged to. Ports are those that TCP, UDP and SCTP have in
    /// their first four octets.
    pub fn flow_key(&self) -> FlowKey {
        let [a, b, c, d, ..] = self.first;
        FlowKey {
            src: self.src,
            dst: self.dst,
            protocol: self.protocol,
            src_port: u16::from_be_bytes([a, b]),
            dst_port: u16::from_be_bytes([c, d]),
        }
    }

    /// Returns the sequence number of a TCP segment; in SCTP the verification tag is there.
    pub fn seq(&self) -> Serial32 {
        let [_, _, _, _, a, b, c, d] = self.first;
        Serial32(u32::from_be_bytes([a, b, c, d]))
    }
}

/// `Icmp` is an ICMP error; the addresses of its packet say of which version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Icmp {
    /// `kind` is the error that is reported; type and code follow from it.
    pub kind: IcmpKind,
    /// `quote` is the head of the packet that was dropped.
    pub quote: Quote,
}

impl Icmp {
    /// `LEN` is the length over IPv4 of most messages, in octets: header, quoted IP header, quoted
    /// octets. Over IPv6 it is 20 octets more.
    pub const LEN: u32 = (HEADER + QUOTED) as u32 + Packet::IP_HEADER;

    /// Returns the length over IPv4, in octets, with what is quoted behind a header of UDP.
    pub fn wire_len(&self) -> u32 {
        Icmp::LEN + self.quote.within_udp.map_or(0, |octets| octets.len() as u32)
    }

    /// Returns type and code as they stand in the message over IPv4, or over IPv6.
    fn codes(&self, v6: bool) -> (u8, u8) {
        match (self.kind, v6) {
            (IcmpKind::NoRoute, false) => (3, 0),
            (IcmpKind::NoRoute, true) => (1, 0),
            (IcmpKind::HostUnreachable, false) => (3, 1),
            (IcmpKind::HostUnreachable, true) => (1, 3),
            // Each is what is nearest in the other version.
            (IcmpKind::ProtocolUnreachable | IcmpKind::UnknownNextHeader, false) => (3, 2),
            (IcmpKind::ProtocolUnreachable | IcmpKind::UnknownNextHeader, true) => (4, 1),
            (IcmpKind::PortUnreachable, false) => (3, 3),
            (IcmpKind::PortUnreachable, true) => (1, 4),
            (IcmpKind::PacketTooBig { .. }, false) => (3, 4),
            (IcmpKind::PacketTooBig { .. }, true) => (2, 0),
            (IcmpKind::SourceRouteFailed, false) => (3, 5),
            (IcmpKind::HostUnknown, false) => (3, 7),
            (IcmpKind::HostIsolated, false) => (3, 8),
            // What is nearest over IPv6: the address is unreachable.
            (IcmpKind::SourceRouteFailed | IcmpKind::HostUnknown, true) => (1, 3),
            (IcmpKind::HostIsolated, true) => (1, 3),
            (IcmpKind::ParameterProblem, false) => (12, 0),
            (IcmpKind::ParameterProblem, true) => (4, 0),
            (IcmpKind::Prohibited, false) => (3, 13),
            (IcmpKind::Prohibited, true) => (1, 1),
            (IcmpKind::TimeExceeded, false) => (11, 0),
            (IcmpKind::TimeExceeded, true) => (3, 0),
            (IcmpKind::ReassemblyTimeExceeded, false) => (11, 1),
            (IcmpKind::ReassemblyTimeExceeded, true) => (3, 1),
        }
    }

    fn kind(codes: (u8, u8), word: [u8; 4], v6: bool) -> Option<IcmpKind> {
        let mtu = u32::from_be_bytes(word);
        let protocol = if v6 { IcmpKind::UnknownNextHeader } else { IcmpKind::ProtocolUnreachable };
        let kinds = [
            IcmpKind::NoRoute,
            IcmpKind::HostUnreachable,
            protocol,
            IcmpKind::PortUnreachable,
            IcmpKind::PacketTooBig {
                mtu: if v6 { mtu.saturating_sub(LONGER) } else { mtu & 0xFFFF },
            },
            IcmpKind::SourceRouteFailed,
            IcmpKind::HostUnknown,
            IcmpKind::HostIsolated,
            IcmpKind::Prohibited,
            IcmpKind::ParameterProblem,
            IcmpKind::TimeExceeded,
            IcmpKind::ReassemblyTimeExceeded,
        ];
        // An option of an extension header that is not known (RFC 4443 §3.4).
        let codes = if v6 && codes == (4, 2) { (4, 0) } else { codes };
        let quote = Quote::default();
        kinds.into_iter().find(|kind| Icmp { kind: *kind, quote }.codes(v6) == codes)
    }

    /// Appends the message with its checksum.
    ///
    /// # Errors
    /// The quoted addresses have no IP addresses of the packet's version, or a
    /// field is out of its range; `out` is left with a part of it.
    pub(crate) fn emit(
        &self,
        book: &AddressBook,
        pseudo: &PseudoHeader,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let start = out.len();
        let v6 = matches!(pseudo, PseudoHeader::V6 { .. });
        let (kind, code) = self.codes(v6);
        let word = match self.kind {
            IcmpKind::PacketTooBig { mtu } if !v6 && mtu > 0xFFFF => {
                return Err(EmitError::FieldRange { field: "mtu", value: mtu });
            }
            IcmpKind::PacketTooBig { mtu } if v6 => mtu.saturating_add(LONGER),
            IcmpKind::PacketTooBig { mtu } => mtu,
            // The pointer of a parameter problem: the next header field.
            IcmpKind::ProtocolUnreachable | IcmpKind::UnknownNextHeader if v6 => 6,
            _ => 0,
        };
        out.extend_from_slice(&[kind, code, 0, 0]);
        out.extend_from_slice(&word.to_be_bytes());
        self.quote.emit(book, v6, out)?;
        let sum = match v6 {
            false => Sum::default(),
            true => pseudo.sum(PROTOCOL_V6, (out.len() - start) as u32),
        };
        let checksum = sum.with(&out[start..]).checksum();
        out[start + 2..start + 4].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }

    /// Reads a message; `None` for one that is no error of the table above
    /// about a packet of ours.
    ///
    /// # Errors
    /// The checksum is wrong.
    pub(crate) fn parse(
        octets: &[u8],
        book: &AddressBook,
        pseudo: &PseudoHeader,
    ) -> Result<Option<Icmp>, ParseError> {
        let Some((&[kind, code, _, _, a, b, c, d], rest)) = octets.split_first_chunk::<HEADER>()
        else {
            return Ok(None);
        };
        let v6 = matches!(pseudo, PseudoHeader::V6 { .. });
        let sum = match v6 {
            false => Sum::default(),
            true => pseudo.sum(PROTOCOL_V6, octets.len() as u32),
        };
        if sum.with(octets).checksum() != 0 {
            return Err(ParseError::IcmpChecksum);
        }
        let kind = Icmp::kind((kind, code), [a, b, c, d], v6);
        let quote = if v6 { Quote::parse_v6(rest, book) } else { Quote::parse_v4(rest, book) };
        Ok(kind.zip(quote).map(|(kind, quote)| Icmp { kind, quote }))
    }
}

impl Default for Quote {
    fn default() -> Quote {
        Quote {
            src: Addr(0),
            dst: Addr(0),
            protocol: 0,
            ttl: 0,
            dscp: 0,
            ecn: Ecn::NotEct,
            ident: 0,
            len: 0,
            first: [0; QUOTED],
            within_udp: None,
        }
    }
}

/// Returns the eight octets that a quote has behind a header of UDP; `None` for other protocols,
/// and where fewer are quoted.
fn within_udp(protocol: u8, octets: &[u8]) -> Option<[u8; QUOTED]> {
    (protocol == crate::tcp::udp::PROTOCOL).then(|| octets.get(QUOTED..)?.first_chunk().copied())?
}

impl Quote {
    /// Returns the quote of the same segment in UDP between these ports, source and destination.
    #[must_use]
    pub fn in_udp(self, ports: (u16, u16)) -> Quote {
        let len = self.len.saturating_add(QUOTED as u16);
        let [a, b] = ports.0.to_be_bytes();
        let [c, d] = ports.1.to_be_bytes();
        let [e, f] = len.to_be_bytes();
        let first = [a, b, c, d, e, f, 0, 0];
        let protocol = crate::tcp::udp::PROTOCOL;
        Quote { first, within_udp: Some(self.first), protocol, len, ..self }
    }

    /// The quote of the segment in UDP, as if the segment had been in IP; its ports of UDP.
    pub fn tunnelled(&self) -> Option<((u16, u16), Quote)> {
        let key = self.flow_key();
        let first = self.within_udp?;
        let protocol = crate::tcp::TcpSegment::PROTOCOL;
        let len = self.len.saturating_sub(QUOTED as u16);
        let quote = Quote { first, within_udp: None, protocol, len, ..*self };
        Some(((key.src_port, key.dst_port), quote))
    }

    fn emit(&self, book: &AddressBook, v6: bool, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let ip = |addr, peer| book.ip_towards(addr, peer).ok_or(EmitError::UnknownAddress(addr));
        match (ip(self.src, self.dst)?, ip(self.dst, self.src)?) {
            (IpAddr::V4(src), IpAddr::V4(dst)) if !v6 => Ipv4Repr {
                src,
                dst,
                protocol: self.protocol,
                ttl: self.ttl,
                dscp: self.dscp,
                ecn: self.ecn,
                ident: self.ident,
                dont_fragment: true,
                payload_len: self.len,
            }
            .emit(out)?,
            (IpAddr::V6(src), IpAddr::V6(dst)) if v6 => Ipv6Repr {
                src,
                dst,
                next_header: self.protocol,
                hop_limit: self.ttl,
                dscp: self.dscp,
                ecn: self.ecn,
                flow_label: 0,
                payload_len: self.len,
            }
            .emit(out)?,
            _ => return Err(EmitError::MixedFamilies(self.src, self.dst)),
        }
        out.extend_from_slice(&self.first);
        out.extend_from_slice(self.within_udp.as_ref().map_or(&[][..], |octets| octets));
        Ok(())
    }

    fn parse_v4(octets: &[u8], book: &AddressBook) -> Option<Quote> {
        let (h, rest) = octets.split_first_chunk::<20>()?;
        let word = |at: usize| u16::from_be_bytes([h[at], h[at + 1]]);
        let whole = word(6) & 0x3fff == 0;
        if h[0] != 0x45 || !whole || Sum::default().with(h).checksum() != 0 {
            return None;
        }
        let addr =
            |at: usize| book.addr(Ipv4Addr::new(h[at], h[at + 1], h[at + 2], h[at + 3]).into());
        Some(Quote {
            src: addr(12)?,
            dst: addr(16)?,
            protocol: h[9],
            ttl: h[8],
            dscp: h[1] >> 2,
            ecn: Ecn::from_bits(h[1]),
            ident: word(4),
            len: word(2).checked_sub(20)?,
            first: *rest.first_chunk()?,
            within_udp: within_udp(h[9], rest),
        })
    }

    fn parse_v6(octets: &[u8], book: &AddressBook) -> Option<Quote> {
        let (h, rest) = octets.split_first_chunk::<40>()?;
        if h[0] >> 4 != 6 {
            return None;
        }
        let addr = |at: usize| {
            let octets: [u8; 16] = h[at..at + 16].try_into().ok()?;
            book.addr(Ipv6Addr::from(octets).into())
        };
        let class = h[0] << 4 | h[1] >> 4;
        Some(Quote {
            src: addr(8)?,
            dst: addr(24)?,
            protocol: h[6],
            ttl: h[7],
            dscp: class >> 2,
            ecn: Ecn::from_bits(class),
            ident: 0,
            len: u16::from_be_bytes([h[4], h[5]]),
            first: *rest.first_chunk()?,
            within_udp: within_udp(h[6], rest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Payload};

    /// A message as a router of RFC 1191 sends it, written by hand: destination
    /// unreachable, fragmentation needed, MTU 1400.
    #[test]
    fn fragmentation_needed_by_hand() {
        #[rustfmt::skip]
        let octets = [
            // IPv4: 10.0.0.3 to 10.0.0.1, protocol 1, 56 octets
            0x45, 0, 0, 56, 0, 0, 0x40, 0, 64, 1, 0x26, 0xc1, 10, 0, 0, 3, 10, 0, 0, 1,
            3, 4, 0x45, 0xfb, 0, 0, 0x05, 0x78,
            // quoted: 10.0.0.1 to 10.0.0.2, TCP, 1500 octets
            0x45, 0, 0x05, 0xdc, 0, 0, 0x40, 0, 63, 6, 0x22, 0x19, 10, 0, 0, 1, 10, 0, 0, 2,
            0xc0, 0, 0xc0, 0x01, 0, 0, 0x30, 0x39,
        ];
        let mut octets = octets.to_vec();
        for (at, end, field) in [(28, 48, 38), (20, 56, 22), (0, 20, 10)] {
            octets[field..field + 2].fill(0);
            let sum = Sum::default().with(&octets[at..end]).checksum();
            octets[field..field + 2].copy_from_slice(&sum.to_be_bytes());
        }
        let packet = Packet::parse(&octets, &AddressBook::new()).unwrap();
        let Body::Icmp(icmp) = &packet.body else { panic!("{packet:?}") };
        assert_eq!(icmp.kind, IcmpKind::PacketTooBig { mtu: 1400 });
        let key =
            FlowKey { src: Addr(0), dst: Addr(1), protocol: 6, src_port: 0xc000, dst_port: 0xc001 };
        assert_eq!((icmp.quote.flow_key(), icmp.quote.seq()), (key, Serial32(12_345)));
        assert_eq!((icmp.quote.len, packet.wire_len().0), (1480, 56));
        let mut again = Vec::new();
        packet.emit(&AddressBook::new(), &mut again).unwrap();
        assert_eq!(again, octets);
    }

    /// The same over IPv6 (RFC 4443 §3.2): the message says what the link
    /// carries, the value what that leaves for packets with the shorter header.
    #[test]
    fn the_mtu_of_ipv6_is_that_of_the_link() {
        let book = AddressBook::dense_ipv6();
        let packet = Packet::new(
            Addr(0),
            Addr(1),
            Body::Other { protocol: 17, payload: Payload::virtual_of(8) },
        );
        let kind = IcmpKind::PacketTooBig { mtu: 1380 };
        let icmp = Icmp { kind, quote: Quote::of(&packet) };
        let error = Packet::new(Addr(2), Addr(0), Body::Icmp(Box::new(icmp)));
        let mut octets = Vec::new();
        error.emit(&book, &mut octets).unwrap();
        assert_eq!((&octets[40..42], &octets[44..48]), (&[2, 0][..], &1400_u32.to_be_bytes()[..]));
        assert_eq!(Packet::parse(&octets, &book), Ok(error));
    }

    /// The errors of RFC 792 and RFC 4443 that are of one version alone, and those with two codes.
    #[test]
    fn each_version_has_errors_of_its_own() {
        for (codes, v6, kind) in [
            ((3, 2), false, IcmpKind::ProtocolUnreachable),
            ((3, 5), false, IcmpKind::SourceRouteFailed),
            ((11, 1), false, IcmpKind::ReassemblyTimeExceeded),
            ((12, 0), false, IcmpKind::ParameterProblem),
            ((3, 1), true, IcmpKind::ReassemblyTimeExceeded),
            ((4, 0), true, IcmpKind::ParameterProblem),
            ((4, 1), true, IcmpKind::UnknownNextHeader),
            ((4, 2), true, IcmpKind::ParameterProblem),
        ] {
            assert_eq!(Icmp::kind(codes, [0; 4], v6), Some(kind), "{codes:?}");
        }
        assert_eq!(Icmp::kind((4, 0), [0; 4], false), None, "source quench (RFC 6633)");
    }

    /// A router of both families speaks to each host as the host does.
    #[test]
    fn a_router_has_the_family_of_whom_it_tells() {
        let book = AddressBook::dual([Addr(2), Addr(3)], Addr(4));
        for (src, dst, version) in [(0, 1, 4), (2, 3, 6), (0, 4, 4), (2, 4, 6)] {
            let body = Body::Other { protocol: 17, payload: Payload::virtual_of(8) };
            let quote = Quote::of(&Packet::new(Addr(src), Addr(dst), body));
            let icmp = Icmp { kind: IcmpKind::PacketTooBig { mtu: 1380 }, quote };
            let error = Packet::new(Addr(4), Addr(src), Body::Icmp(Box::new(icmp)));
            let mut octets = Vec::new();
            error.emit(&book, &mut octets).unwrap();
            assert_eq!(octets[0] >> 4, version);
            assert_eq!(Packet::parse(&octets, &book), Ok(error));
        }
    }

    #[test]
    fn other_messages_stay_octets() {
        // Echo request, "abc".
        let mut echo = vec![8, 0, 0, 0, 0, 1, 0, 1, b'a', b'b', b'c'];
        let sum = Sum::default().with(&echo).checksum();
        echo[2..4].copy_from_slice(&sum.to_be_bytes());
        let body = Body::Other { protocol: 1, payload: Payload::of_octets(echo) };
        let packet = Packet::new(Addr(0), Addr(1), body);
        let mut octets = Vec::new();
        packet.emit(&AddressBook::new(), &mut octets).unwrap();
        assert_eq!(Packet::parse(&octets, &AddressBook::new()), Ok(packet));
        octets[22] ^= 1;
        let error = Packet::parse(&octets, &AddressBook::new());
        assert_eq!(error, Err(ParseError::IcmpChecksum));
    }
}
