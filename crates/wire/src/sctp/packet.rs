//! The SCTP packet: the common header and its chunks (RFC 9260 §3).
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |      Source Port Number       |    Destination Port Number    |
//! |                       Verification Tag                        |
//! |                       Checksum (CRC32c)                       |
//! |                            Chunks                             |
//! ```

use super::address::Address;
use super::chunk::Chunk;
use super::crc32c::Crc32c;
use super::data::position;
use super::parameter::Parameter;
use super::tlv::{Count, Octets, Reader, Sink};
use crate::address::AddressBook;
use crate::error::EmitError;
use crate::packet::{Addr, Payload};
use crate::pattern;
use std::error::Error;
use std::fmt;

/// `SctpError` says why octets are not an SCTP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SctpError {
    /// There are fewer octets than the 12 of the common header.
    Truncated,
    /// The CRC32c of the packet is wrong (RFC 9260 §6.8).
    Checksum {
        /// `found` is what the checksum field has.
        found: u32,
        /// `computed` is what the field should have.
        computed: u32,
    },
    /// The checksum of the UDP datagram around it is wrong.
    UdpChecksum,
    /// Fewer octets are left behind the last chunk than a chunk header has.
    ChunkHeader,
    /// The length of a chunk of this type is below 4 or beyond the packet, or
    /// its fields do not fit it.
    Chunk {
        /// `kind` is the chunk type.
        kind: u8,
        /// `len` is the length field, in octets with the header of 4.
        len: u16,
    },
    /// The same is wrong of a parameter.
    Parameter {
        /// `kind` is the parameter type, with the two bits of
        /// [`UnknownAction`](super::UnknownAction).
        kind: u16,
        /// `len` is the length field, in octets with the header of 4.
        len: u16,
    },
    /// The same is wrong of a cause.
    Cause {
        /// `code` is the cause's code.
        code: u16,
        /// `len` is the length field, in octets with the header of 4.
        len: u16,
    },
}

impl SctpError {
    pub(super) fn parameter(kind: u16, len: u16) -> SctpError {
        SctpError::Parameter { kind, len }
    }
    pub(super) fn cause(code: u16, len: u16) -> SctpError {
        SctpError::Cause { code, len }
    }
}

impl fmt::Display for SctpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SctpError::Truncated => f.write_str("truncated"),
            SctpError::Checksum { found, computed } => {
                write!(f, "checksum {found:#010x} instead of {computed:#010x}")
            }
            SctpError::UdpChecksum => f.write_str("the checksum of the UDP datagram is wrong"),
            SctpError::ChunkHeader => f.write_str("less than a chunk header after the chunks"),
            SctpError::Chunk { kind, len } => {
                write!(f, "a chunk of type {kind} cannot have the length {len}")
            }
            SctpError::Parameter { kind, len } => {
                write!(f, "a parameter of type {kind:#06x} cannot have the length {len}")
            }
            SctpError::Cause { code, len } => {
                write!(f, "a cause with code {code} cannot have the length {len}")
            }
        }
    }
}
impl Error for SctpError {}

/// `Chunks` are those of a packet, in order. The first needs no memory of its own: most packets
/// have one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chunks {
    first: Option<Chunk>,
    rest: Vec<Chunk>,
}

impl Chunks {
    /// Makes a list without chunks.
    pub const fn new() -> Chunks {
        Chunks { first: None, rest: Vec::new() }
    }
    /// Appends a chunk behind all others.
    pub fn push(&mut self, chunk: Chunk) {
        match self.first {
            None => self.first = Some(chunk),
            Some(_) => self.rest.push(chunk),
        }
    }
    /// Returns how many chunks there are.
    pub fn len(&self) -> usize {
        self.first.is_some() as usize + self.rest.len()
    }
    /// Returns whether there is no chunk.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
    /// Returns the chunk that stands first, if there is any.
    pub fn first(&self) -> Option<&Chunk> {
        self.first.as_ref()
    }
    /// Goes through the chunks from first to last.
    pub fn iter(&self) -> impl Iterator<Item = &Chunk> {
        self.first.iter().chain(&self.rest)
    }
    /// Goes through the chunks from first to last, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Chunk> {
        self.first.iter_mut().chain(&mut self.rest)
    }
}

impl From<Chunk> for Chunks {
    fn from(chunk: Chunk) -> Chunks {
        Chunks { first: Some(chunk), rest: Vec::new() }
    }
}

impl FromIterator<Chunk> for Chunks {
    fn from_iter<I: IntoIterator<Item = Chunk>>(chunks: I) -> Chunks {
        let mut list = Chunks::new();
        chunks.into_iter().for_each(|chunk| list.push(chunk));
        list
    }
}

/// `SctpPacket` is a packet as a value: the common header and the chunks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SctpPacket {
    /// `src_port` is the port of the sending endpoint, the same for all its addresses.
    pub src_port: u16,
    /// `dst_port` is the port of the receiving endpoint, the same for all its addresses.
    pub dst_port: u16,
    /// `tag` is the verification tag, which the receiver has chosen; it is 0 with an INIT (RFC 9260
    /// §8.5.1).
    pub tag: u32,
    /// `udp` is source and destination port of the UDP datagram around the packet, if there is one
    /// (RFC 6951).
    pub udp: Option<(u16, u16)>,
    /// `zero_checksum` says that the checksum is zero, whatever it should be (RFC 9653 §5.2).
    /// Whether that is accepted is for the receiver to say.
    pub zero_checksum: bool,
    /// `chunks` are in the order of the wire, those with data last (RFC 9260 §6.10).
    pub chunks: Chunks,
}

impl SctpPacket {
    /// `PROTOCOL` is IANA's number of SCTP, for the IP header.
    pub const PROTOCOL: u8 = 132;
    /// `HEADER` is the length of the common header, in octets.
    pub const HEADER: u32 = 12;

    /// Returns the length of UDP header, common header and chunks, in octets. Addresses inside
    /// chunks that are numbers count as IPv4 parameters.
    pub fn wire_len(&self) -> u32 {
        let udp = if self.udp.is_some() { super::udp::HEADER } else { 0 };
        udp + Self::HEADER + self.chunks.iter().map(Chunk::wire_len).sum::<u32>()
    }

    /// Returns the same where addresses inside chunks are of the family that they have.
    pub(crate) fn wire_len_with(&self, is_ipv6: &dyn Fn(Addr) -> bool) -> u32 {
        let len = |chunk: &Chunk| match chunk {
            Chunk::Data(_) | Chunk::IData(_) | Chunk::Sack(_) => chunk.wire_len(),
            _ => {
                let mut count = Count::with_ipv6(is_ipv6);
                chunk.emit(&mut count);
                count.len() as u32
            }
        };
        let udp = if self.udp.is_some() { super::udp::HEADER } else { 0 };
        udp + Self::HEADER + self.chunks.iter().map(len).sum::<u32>()
    }

    /// Returns how many octets of user data the packet carries, in DATA and I-DATA.
    pub fn payload_len(&self) -> u32 {
        let len = |chunk: &Chunk| match chunk {
            Chunk::Data(data) => data.payload.len(),
            Chunk::IData(data) => data.payload.len(),
            _ => 0,
        };
        self.chunks.iter().map(len).sum()
    }

    /// Returns whether the packet has SACKs and nothing else.
    pub fn is_pure_sack(&self) -> bool {
        !self.chunks.is_empty() && self.chunks.iter().all(|c| matches!(c, Chunk::Sack(_)))
    }

    /// Returns the addresses that the packet says its sender has besides that which it came from:
    /// those of INIT and INIT ACK (RFC 9260 §5.1.2 D), and the first of ASCONF (RFC 5061 §5.2 D2).
    pub fn named_sources(&self) -> impl Iterator<Item = Addr> + '_ {
        let parameters = self.chunks.iter().flat_map(|chunk| match chunk {
            Chunk::Init(init) | Chunk::InitAck(init) => init.parameters.as_slice(),
            Chunk::Asconf { parameters, .. } => &parameters[..parameters.len().min(1)],
            _ => &[],
        });
        parameters.filter_map(|parameter| match parameter {
            Parameter::Address(Address::Number(addr)) => Some(*addr),
            _ => None,
        })
    }

    /// Returns the COOKIE ECHO that the packet begins with, and its place: the first chunk, or the
    /// second behind AUTH (RFC 4895 §6.3).
    pub fn cookie_echo(&self) -> Option<(usize, &[u8])> {
        let at = usize::from(matches!(self.chunks.first(), Some(Chunk::Auth { .. })));
        match self.chunks.iter().nth(at) {
            Some(Chunk::CookieEcho(cookie)) => Some((at, cookie)),
            _ => None,
        }
    }

    /// Returns whether the rules of bundling hold: a chunk that must be alone is alone (RFC 9260
    /// §4.3). A receiver discards other packets.
    pub fn is_well_bundled(&self) -> bool {
        self.chunks.len() == 1 || !self.chunks.iter().any(Chunk::is_solitary)
    }

    /// Returns how many octets [`SctpPacket::emit`] appends, and those of UDP.
    pub(crate) fn emitted_len(&self, book: &AddressBook) -> u64 {
        let is_ipv6 = |addr| book.is_ipv6(addr);
        let mut count = Count::with_ipv6(&is_ipv6);
        self.chunks.iter().for_each(|chunk| chunk.emit(&mut count));
        let udp = if self.udp.is_some() { super::udp::HEADER } else { 0 };
        (udp + Self::HEADER) as u64 + count.len() as u64
    }

    /// Appends the octets without those of UDP, with the checksum that the packet has.
    ///
    /// # Errors
    /// A chunk, parameter or cause is longer than its length field can say, or
    /// an address is not in the book; `out` is unchanged.
    pub fn emit(&self, book: &AddressBook, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let mut sink = Octets::new(out, book);
        sink.u16(self.src_port);
        sink.u16(self.dst_port);
        sink.u32(self.tag);
        sink.u32(0);
        self.chunks.iter().for_each(|chunk| chunk.emit(&mut sink));
        let octets = sink.finish()?;
        if !self.zero_checksum {
            let crc = Crc32c::new().with(octets).value();
            octets[8..12].copy_from_slice(&crc.to_le_bytes());
        }
        Ok(())
    }

    /// Returns the octets of the chunks from the one at `from` on, padding included: what an AUTH
    /// chunk there authenticates (RFC 4895 §6.2).
    ///
    /// # Errors
    /// As of [`SctpPacket::emit`].
    pub fn chunk_octets(&self, from: usize, book: &AddressBook) -> Result<Vec<u8>, EmitError> {
        let mut out = Vec::new();
        let mut sink = Octets::new(&mut out, book);
        self.chunks.iter().skip(from).for_each(|chunk| chunk.emit(&mut sink));
        sink.finish()?;
        Ok(out)
    }

    /// Reads a packet, not of UDP; user data becomes real octets. A checksum of zero that is not
    /// right is no error here: the packet says so ([`SctpPacket::zero_checksum`]).
    ///
    /// # Errors
    /// See [`SctpError`].
    pub fn parse(octets: &[u8], book: &AddressBook) -> Result<SctpPacket, SctpError> {
        let (mut packet, mut rest) = SctpPacket::parse_header(octets)?;
        while let [kind, flags, high, low, ..] = *rest {
            let len = u16::from_be_bytes([high, low]);
            let error = SctpError::Chunk { kind, len };
            let value = rest.get(4..len as usize).ok_or(error)?;
            let mut value = Reader::new(value, error);
            packet.chunks.push(Chunk::parse(kind, flags, &mut value, book)?);
            rest = &rest[(len as usize).next_multiple_of(4).min(rest.len())..];
        }
        if !rest.is_empty() {
            return Err(SctpError::ChunkHeader);
        }
        Ok(packet)
    }

    /// The same, but for what is wrong inside a packet, so that an endpoint can
    /// answer it as the standards say: a chunk that is broken becomes
    /// [`Chunk::Malformed`], and parameters of INIT and INIT ACK from a broken
    /// one on become [`Parameter::Malformed`](super::Parameter::Malformed).
    /// Nothing is read after a chunk whose length is impossible.
    ///
    /// # Errors
    /// Those of the header and the checksum.
    pub fn parse_tolerant(octets: &[u8], book: &AddressBook) -> Result<SctpPacket, SctpError> {
        let (mut packet, mut rest) = SctpPacket::parse_header(octets)?;
        while let [kind, flags, high, low, ..] = *rest {
            let len = u16::from_be_bytes([high, low]);
            let Some(value) = rest.get(4..len as usize) else {
                let (octets, truncated) = (rest.into(), len as usize > rest.len());
                packet.chunks.push(Chunk::Malformed { kind, octets, truncated });
                return Ok(packet);
            };
            let error = SctpError::Chunk { kind, len };
            let chunk = Chunk::parse_tolerant(kind, flags, Reader::new(value, error), book);
            packet.chunks.push(chunk.unwrap_or_else(|_| {
                let octets = rest[..len as usize].into();
                Chunk::Malformed { kind, octets, truncated: false }
            }));
            rest = &rest[(len as usize).next_multiple_of(4).min(rest.len())..];
        }
        Ok(packet)
    }

    /// Reads the common header, and returns it with the octets of the chunks.
    fn parse_header(octets: &[u8]) -> Result<(SctpPacket, &[u8]), SctpError> {
        let header = octets.first_chunk::<12>().ok_or(SctpError::Truncated)?;
        let found = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        let computed = checksum(octets);
        // Zero may be right, and is then like any other (RFC 9653 §3).
        let zero_checksum = found == 0 && computed != 0;
        if found != computed && !zero_checksum {
            return Err(SctpError::Checksum { found, computed });
        }
        let mut r = Reader::new(octets, SctpError::Truncated);
        let (src_port, dst_port, tag, _) = (r.u16()?, r.u16()?, r.u32()?, r.u32()?);
        let chunks = Chunks::new();
        let packet = SctpPacket { src_port, dst_port, tag, udp: None, zero_checksum, chunks };
        Ok((packet, r.rest()))
    }

    /// Returns what [`SctpPacket::parse`] makes of the emitted octets: user data as real octets, no
    /// undefined flags.
    #[must_use]
    pub fn canonical(&self) -> SctpPacket {
        let mut packet = self.clone();
        for chunk in packet.chunks.iter_mut() {
            let (flags, payload, tsn) = match chunk {
                Chunk::Data(data) => (&mut data.flags, &mut data.payload, data.tsn),
                Chunk::IData(data) => (&mut data.flags, &mut data.payload, data.tsn),
                _ => continue,
            };
            *flags = flags.defined();
            if payload.octets().is_none() || payload.is_empty() {
                let mut octets = vec![0; payload.len() as usize];
                pattern::fill(position(tsn), &mut octets);
                *payload = Payload::from_wire(&octets);
            }
        }
        packet
    }
}

/// Returns the checksum of a packet of 12 octets or more, with its field taken as zero.
pub(super) fn checksum(octets: &[u8]) -> u32 {
    Crc32c::new().with(&octets[..8]).with(&[0; 4]).with(&octets[12..]).value()
}
