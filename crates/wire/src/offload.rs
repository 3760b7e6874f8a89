//! What a Linux kernel leaves to a device that has offered it: the checksum of
//! a transport, and the cutting of many TCP segments that it hands over as one
//! (`struct virtio_net_hdr`, VIRTIO 1.3 §5.1.6.2, in the machine's byte order,
//! as TUN has it with `IFF_VNET_HDR`).
//!
//! The segments are those that the kernel would have cut by itself: sequence
//! numbers and IPv4 identifications count up, options and all other fields
//! are those of the whole, FIN and PSH stand on the last alone (RFC 9293
//! §3.10.7.4, PSH at the end of what was pushed) and CWR on the first alone
//! (RFC 3168 §6.1.2).
//!
//! The other way a kernel takes segments whose checksum it would only find to be right
//! ([`Packet::emit_for_device`]), and [`Train`] is what its own receive offload hands
//! to its TCP: many segments in one.
//!
//! Left out: UDP in pieces and tunnels, which the device does not offer.

use crate::address::AddressBook;
use crate::checksum::Sum;
use crate::codec::Datagram;
use crate::error::{EmitError, ParseError};
use crate::packet::{Body, Packet, Payload};
use crate::tcp::{CHECKSUM_AT, TcpFlags, TcpSegment, TcpView};
use std::error::Error;
use std::fmt;

mod train;

pub use train::Train;

/// `DeviceHeader` stands before each packet that a TUN device gives or takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeviceHeader {
    /// `checksum` is there where the checksum is left to the device: the octet at which it begins
    /// to count, and how far from there its field is. The field has the sum of the pseudo header.
    pub checksum: Option<(u16, u16)>,
    /// `segment` is there where the packet is many TCP segments in one: octets of data of each but
    /// the last.
    pub segment: Option<u16>,
}

/// `DeviceError` says why octets are not such a header, or do not fit the packet behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceError {
    /// There are fewer octets than the header has.
    Truncated,
    /// The segments are of a kind that is unknown here, which is this value of `gso_type`.
    Kind(u8),
    /// The checksum, at this offset behind this start, would be outside of the packet.
    Checksum(u16, u16),
    /// Segments of this size are of no octets, or the packet is not of TCP.
    Segment(u16),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::Truncated => f.write_str("truncated"),
            DeviceError::Kind(kind) => write!(f, "segments of kind {kind}, not of TCP"),
            DeviceError::Checksum(start, offset) => {
                write!(f, "a checksum {offset} octets behind octet {start}, outside of the packet")
            }
            DeviceError::Segment(size) => write!(f, "segments of {size} octets in what has none"),
        }
    }
}
impl Error for DeviceError {}

/// `NEEDS_CHECKSUM` is `VIRTIO_NET_HDR_F_NEEDS_CSUM`, a bit of the first octet.
const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_TCPV4`, `..._TCPV6`, and the bit `..._ECN`.
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const WITH_CWR: u8 = 0x80;

impl DeviceHeader {
    /// `LEN` is the length of the header, in octets, without the field `num_buffers`.
    pub const LEN: usize = 10;

    /// Reads the header at the start of `octets`, and returns it with what follows it.
    ///
    /// # Errors
    /// [`DeviceError::Truncated`] and [`DeviceError::Kind`].
    pub fn split(octets: &mut [u8]) -> Result<(DeviceHeader, &mut [u8]), DeviceError> {
        let (header, rest) =
            octets.split_first_chunk_mut::<{ Self::LEN }>().ok_or(DeviceError::Truncated)?;
        let word = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        let checksum = (header[0] & NEEDS_CHECKSUM != 0).then(|| (word(6), word(8)));
        let segment = match header[1] & !WITH_CWR {
            0 => None,
            TCP_V4 | TCP_V6 => Some(word(4)),
            kind => return Err(DeviceError::Kind(kind)),
        };
        Ok((DeviceHeader { checksum, segment }, rest))
    }

    /// The header of a TCP segment whose checksum is left to the kernel; `transport` is where
    /// TCP begins in the packet.
    fn unfinished(transport: usize) -> [u8; Self::LEN] {
        let mut header = [0; Self::LEN];
        header[0] = NEEDS_CHECKSUM;
        header[6..8].copy_from_slice(&(transport as u16).to_ne_bytes());
        header[8..10].copy_from_slice(&(CHECKSUM_AT as u16).to_ne_bytes());
        header
    }
}

impl Packet {
    /// Appends a [`DeviceHeader`] and the packet, for a kernel, to which the checksum of TCP
    /// segments with octets of data is left: nothing can befall them between here and there.
    ///
    /// # Errors
    /// See [`EmitError`]; `out` is unchanged.
    pub fn emit_for_device(&self, book: &AddressBook, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let start = out.len();
        let packet = start + DeviceHeader::LEN;
        out.resize(packet, 0);
        let emitted = if let Body::Tcp(segment) = &self.body
            && let Some(data) = segment.payload.octets()
        {
            self.emit_with(book, out, |pseudo, out| {
                let header = DeviceHeader::unfinished(out.len() - packet);
                out[start..packet].copy_from_slice(&header);
                segment.emit_header(pseudo, out)?;
                out.extend_from_slice(data);
                Ok(())
            })
        } else {
            self.emit(book, out)
        };
        emitted.inspect_err(|_| out.truncate(start))
    }

    /// Reads what stands behind a [`DeviceHeader`]: one packet, or the segments
    /// that it is to be cut into. The checksum of a TCP segment that is not
    /// there yet is taken for right, that of others is filled in; otherwise as
    /// [`Packet::parse`].
    ///
    /// # Errors
    /// See [`ParseError`].
    pub fn parse_from_device<'a>(
        header: DeviceHeader,
        octets: &'a mut [u8],
        book: &AddressBook,
    ) -> Result<Packets<'a>, ParseError> {
        let wrong = |error| Err(ParseError::Device(error));
        let Some((start, offset)) = header.checksum else {
            return match header.segment {
                // Linux never leaves the one and not the other.
                Some(size) => wrong(DeviceError::Segment(size)),
                None => Packet::parse(octets, book).map(Packets::one),
            };
        };
        let range = usize::from(start)..octets.len();
        let place = usize::from(start) + usize::from(offset);
        if place + 2 > octets.len() {
            return wrong(DeviceError::Checksum(start, offset));
        }
        if protocol(octets) != Some(TcpSegment::PROTOCOL) {
            if let Some(size) = header.segment {
                return wrong(DeviceError::Segment(size));
            }
            // The field has the sum of the pseudo header. Of UDP, a zero would say
            // that there is none; all ones are the same sum (RFC 768).
            let checksum = match Sum::default().with(&octets[range]).checksum() {
                0 => 0xffff,
                sum => sum,
            };
            octets[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
            return Packet::parse(octets, book).map(Packets::one);
        }
        let datagram = Datagram::parse(octets, book)?;
        let view = TcpView::new_checked(datagram.payload())?;
        let whole = datagram.packet(Body::Tcp(TcpSegment::without_data(&view)?));
        let data = view.payload();
        match header.segment {
            Some(0) => wrong(DeviceError::Segment(0)),
            // At most so much is in one packet.
            size => Ok(Packets {
                whole: Some(whole),
                data,
                size: size.unwrap_or(u16::MAX),
                step: if octets[0] >> 4 == 4 { 1 } else { 0 },
            }),
        }
    }
}

/// Returns the number of the protocol that the packet carries, by its IP header.
fn protocol(octets: &[u8]) -> Option<u8> {
    let at = if octets.first()? >> 4 == 6 { 6 } else { 9 };
    octets.get(at).copied()
}

/// `Packets` are what stood behind one [`DeviceHeader`], packet by packet.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    /// `whole` is a packet with the fields of the next packet, and the flags of all; it has its own
    /// data where there is no more.
    whole: Option<Packet>,
    /// `data` is the data of the next packet and of those after it.
    data: &'a [u8],
    /// `size` is the most data that each packet takes, in octets.
    size: u16,
    /// `step` is the difference from one identification to the next: 0 over IPv6, which has none.
    step: u16,
}

impl Packets<'_> {
    fn one(packet: Packet) -> Self {
        Packets { whole: Some(packet), data: &[], size: u16::MAX, step: 0 }
    }
}

impl Iterator for Packets<'_> {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        let whole = self.whole.as_mut()?;
        let (data, rest) = self.data.split_at(self.data.len().min(self.size.into()));
        self.data = rest;
        if rest.is_empty() {
            let mut last = self.whole.take()?;
            if let (Body::Tcp(segment), false) = (&mut last.body, data.is_empty()) {
                segment.payload = Payload::from_wire(data);
            }
            return Some(last);
        }
        let mut packet = whole.clone();
        whole.ident = whole.ident.wrapping_add(self.step);
        if let (Body::Tcp(segment), Body::Tcp(next)) = (&mut packet.body, &mut whole.body) {
            segment.payload = Payload::from_wire(data);
            segment.flags = segment.flags.without(TcpFlags::FIN.union(TcpFlags::PSH));
            next.flags = next.flags.without(TcpFlags::CWR);
            next.seq = next.seq.add(data.len() as u32);
        }
        Some(packet)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let segments = self.data.len().div_ceil(self.size.into()).max(1);
        let len = if self.whole.is_some() { segments } else { 0 };
        (len, Some(len))
    }
}

impl ExactSizeIterator for Packets<'_> {}

#[cfg(test)]
mod tests;
