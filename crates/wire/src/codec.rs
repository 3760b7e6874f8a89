//! A whole [`Packet`] to octets and back, as IPv4 or IPv6 by what the address
//! book says of its addresses.
//!
//! A packet is sent with DF set, so that it is atomic (RFC 6864 §4). Over IPv6
//! `ttl` is the hop limit, `ident` is not sent and the flow label is 0; the
//! length is then 20 octets more than [`Packet::wire_len`], which counts IPv4.
//!
//! Deviation: the flow label is 0 although RFC 6437 §3 wishes for one label a
//! flow; nothing here balances load by it.

use crate::address::AddressBook;
use crate::checksum::PseudoHeader;
use crate::error::{EmitError, ParseError};
use crate::icmp::{self, Icmp};
use crate::ipv4::{Ipv4Packet, Ipv4Repr};
use crate::ipv6::{Ipv6Packet, Ipv6Repr};
use crate::packet::{Addr, Body, Packet, Payload};
use crate::pattern;
use crate::sctp::{SctpPacket, udp};
use crate::tcp::TcpSegment;
use crate::udp::UdpDatagram;
use std::net::IpAddr;

impl Packet {
    /// Appends the packet: IP header, transport header, payload, checksums. A
    /// payload without octets becomes the [`pattern`]: at its sequence numbers
    /// in TCP, at TSN · 2^16 in SCTP, from position 0 on in other protocols.
    ///
    /// # Errors
    /// See [`EmitError`]; `out` is unchanged.
    pub fn emit(&self, book: &AddressBook, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.emit_with(book, out, |pseudo, out| self.body.emit(book, pseudo, out))
    }

    /// Appends the IP header and what `emit_body` appends.
    pub(crate) fn emit_with(
        &self,
        book: &AddressBook,
        out: &mut Vec<u8>,
        emit_body: impl FnOnce(&PseudoHeader, &mut Vec<u8>) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let ip = |addr, peer| book.ip_towards(addr, peer).ok_or(EmitError::UnknownAddress(addr));
        let pseudo = match (ip(self.src, self.dst)?, ip(self.dst, self.src)?) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => PseudoHeader::V4 { src, dst },
            (IpAddr::V6(src), IpAddr::V6(dst)) => PseudoHeader::V6 { src, dst },
            _ => return Err(EmitError::MixedFamilies(self.src, self.dst)),
        };
        let start = out.len();
        let result = self.emit_header(book, &pseudo, out).and_then(|()| emit_body(&pseudo, out));
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn emit_header(
        &self,
        book: &AddressBook,
        pseudo: &PseudoHeader,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let v6 = matches!(pseudo, PseudoHeader::V6 { .. });
        let len = self.body.len(v6, book);
        let payload_len = u16::try_from(len).map_err(|_| EmitError::TooLong(len))?;
        let protocol = self.body.protocol(v6);
        match *pseudo {
            PseudoHeader::V4 { src, dst } => Ipv4Repr {
                src,
                dst,
                protocol,
                ttl: self.ttl,
                dscp: self.dscp,
                ecn: self.ecn,
                ident: self.ident,
                dont_fragment: !self.may_fragment,
                payload_len,
            }
            .emit(out),
            PseudoHeader::V6 { src, dst } => Ipv6Repr {
                src,
                dst,
                next_header: protocol,
                hop_limit: self.ttl,
                dscp: self.dscp,
                ecn: self.ecn,
                flow_label: 0,
                payload_len,
            }
            .emit(out),
        }
    }

    /// Reads a packet and verifies its checksums: that of the IPv4 header and
    /// that of TCP, SCTP or UDP. Payloads become real octets.
    ///
    /// Not kept: IPv4 options and the DF flag, the IPv6 flow label, and octets
    /// beyond the length that IP states. IPv6 extension headers are not walked:
    /// such a packet is a [`Body::Other`] under the number of the first one.
    ///
    /// # Errors
    /// See [`ParseError`].
    pub fn parse(octets: &[u8], book: &AddressBook) -> Result<Packet, ParseError> {
        let datagram = Datagram::parse(octets, book)?;
        let body = Body::parse(datagram.protocol, datagram.payload, book, &datagram.pseudo)?;
        Ok(datagram.packet(body))
    }

    /// What [`Packet::parse`] gives for the octets of this packet over IPv4,
    /// without writing them: payloads as real octets, and empty fields absent.
    /// Two packets that look alike on the wire have equal canonical forms,
    /// unless one hides known options among the unknown.
    #[must_use]
    pub fn canonical(&self) -> Packet {
        let body = match &self.body {
            Body::Tcp(segment) => Body::Tcp(segment.canonical()),
            Body::Icmp(icmp) => Body::Icmp(icmp.clone()),
            Body::Sctp(sctp) => Body::Sctp(Box::new(sctp.canonical())),
            Body::Udp(datagram) => Body::Udp(datagram.canonical()),
            Body::Other { protocol, payload } => {
                let mut octets = Vec::new();
                emit_other(payload, &mut octets);
                Body::Other { protocol: *protocol, payload: Payload::from_wire(&octets) }
            }
        };
        Packet { body, may_fragment: false, ..*self }
    }
}

/// A packet whose transport has not been read yet.
pub(crate) struct Datagram<'a> {
    /// `header` has the fields of the IP header; its body is empty, since the transport has not
    /// been read.
    header: Packet,
    protocol: u8,
    payload: &'a [u8],
    pseudo: PseudoHeader,
}

impl<'a> Datagram<'a> {
    /// Reads the IP header, of IPv4 with its checksum.
    #[inline]
    pub(crate) fn parse(octets: &'a [u8], book: &AddressBook) -> Result<Datagram<'a>, ParseError> {
        match octets.first().ok_or(ParseError::Empty)? >> 4 {
            4 => Datagram::parse_ipv4(octets, book),
            6 => Datagram::parse_ipv6(octets, book),
            version => Err(ParseError::Version(version)),
        }
    }

    #[inline]
    fn parse_ipv4(octets: &'a [u8], book: &AddressBook) -> Result<Datagram<'a>, ParseError> {
        let view = Ipv4Packet::new_checked(octets)?;
        let ip = Ipv4Repr::parse(&view)?;
        if view.is_fragment() {
            return Err(ParseError::Fragment);
        }
        let header = Packet {
            src: look_up(book, ip.src.into())?,
            dst: look_up(book, ip.dst.into())?,
            ttl: ip.ttl,
            dscp: ip.dscp,
            ecn: ip.ecn,
            ident: ip.ident,
            may_fragment: false,
            body: NOTHING,
        };
        let pseudo = PseudoHeader::V4 { src: ip.src, dst: ip.dst };
        Ok(Datagram { header, protocol: ip.protocol, payload: view.payload(), pseudo })
    }

    fn parse_ipv6(octets: &'a [u8], book: &AddressBook) -> Result<Datagram<'a>, ParseError> {
        let view = Ipv6Packet::new_checked(octets)?;
        let ip = Ipv6Repr::parse(&view);
        let header = Packet {
            src: look_up(book, ip.src.into())?,
            dst: look_up(book, ip.dst.into())?,
            ttl: ip.hop_limit,
            dscp: ip.dscp,
            ecn: ip.ecn,
            ident: 0,
            may_fragment: false,
            body: NOTHING,
        };
        let pseudo = PseudoHeader::V6 { src: ip.src, dst: ip.dst };
        Ok(Datagram { header, protocol: ip.next_header, payload: view.payload(), pseudo })
    }

    /// Returns the octets behind the IP header, as many as its length field says: the transport's
    /// header and data.
    pub(crate) fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Makes the packet that has this IP header and `body`.
    #[inline]
    pub(crate) fn packet(self, body: Body) -> Packet {
        Packet { body, ..self.header }
    }
}

const NOTHING: Body = Body::Other { protocol: 0, payload: Payload::EMPTY };

fn look_up(book: &AddressBook, ip: IpAddr) -> Result<Addr, ParseError> {
    book.addr(ip).ok_or(ParseError::UnknownAddress(ip))
}

impl Body {
    /// Returns the number in the Protocol field of IPv4, or in the Next Header field of IPv6; that
    /// of ICMP alone differs.
    fn protocol(&self, v6: bool) -> u8 {
        match self {
            Body::Tcp(_) => TcpSegment::PROTOCOL,
            Body::Icmp(_) if v6 => icmp::PROTOCOL_V6,
            Body::Icmp(_) => icmp::PROTOCOL_V4,
            Body::Sctp(sctp) if sctp.udp.is_some() => udp::PROTOCOL,
            Body::Sctp(_) => SctpPacket::PROTOCOL,
            Body::Udp(_) => UdpDatagram::PROTOCOL,
            Body::Other { protocol, .. } => *protocol,
        }
    }

    /// Returns how many octets follow the IP header, as `emit` appends them.
    fn len(&self, v6: bool, book: &AddressBook) -> u64 {
        match self {
            // The quoted header is as long as the packet's own.
            Body::Icmp(icmp) => icmp.wire_len() as u64 + if v6 { 20 } else { 0 },
            // Not `wire_len`, whose 32 bits a huge virtual payload overflows.
            Body::Tcp(segment) => {
                let header = TcpSegment::HEADER + segment.options.wire_len();
                header as u64 + segment.payload.len() as u64
            }
            Body::Sctp(sctp) => sctp.emitted_len(book),
            Body::Udp(datagram) => {
                let head = datagram.head.octets().len() as u64;
                u64::from(UdpDatagram::HEADER) + head + u64::from(datagram.payload.len())
            }
            Body::Other { payload, .. } => payload.len() as u64,
        }
    }

    fn emit(
        &self,
        book: &AddressBook,
        pseudo: &PseudoHeader,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        match self {
            Body::Icmp(icmp) => icmp.emit(book, pseudo, out),
            Body::Tcp(segment) => segment.emit(pseudo, out),
            Body::Sctp(sctp) => match sctp.udp {
                None => sctp.emit(book, out),
                Some(ports) => udp::emit(sctp, ports, book, pseudo, out),
            },
            Body::Udp(datagram) => datagram.emit(pseudo, out),
            Body::Other { payload, .. } => {
                emit_other(payload, out);
                Ok(())
            }
        }
    }

    fn parse(
        protocol: u8,
        octets: &[u8],
        book: &AddressBook,
        pseudo: &PseudoHeader,
    ) -> Result<Body, ParseError> {
        let v6 = matches!(pseudo, PseudoHeader::V6 { .. });
        if protocol == if v6 { icmp::PROTOCOL_V6 } else { icmp::PROTOCOL_V4 }
            && let Some(icmp) = Icmp::parse(octets, book, pseudo)?
        {
            return Ok(Body::Icmp(Box::new(icmp)));
        }
        if protocol == udp::PROTOCOL
            && let Some(sctp) = udp::parse(octets, book, pseudo)
        {
            return Ok(Body::Sctp(Box::new(sctp?)));
        }
        Ok(match protocol {
            TcpSegment::PROTOCOL => Body::Tcp(TcpSegment::parse(octets, pseudo)?),
            SctpPacket::PROTOCOL => Body::Sctp(Box::new(SctpPacket::parse_tolerant(octets, book)?)),
            UdpDatagram::PROTOCOL => Body::Udp(UdpDatagram::parse(octets, pseudo)?),
            _ => Body::Other { protocol, payload: Payload::from_wire(octets) },
        })
    }
}

fn emit_other(payload: &Payload, out: &mut Vec<u8>) {
    match payload.octets() {
        Some(octets) => out.extend_from_slice(octets),
        None => {
            let start = out.len();
            out.resize(start + payload.len() as usize, 0);
            pattern::fill(0, &mut out[start..]);
        }
    }
}

#[cfg(test)]
mod tests;
