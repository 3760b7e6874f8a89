//! Capture files in the pcapng format (draft-ietf-opsawg-pcapng), which
//! Wireshark, tshark and tcpdump open.
//!
//! A file is one section (§4.1), an interface description (§4.2) for each
//! link or port, and an enhanced packet block (§4.3) for each packet. The link
//! type is LINKTYPE_RAW (101): each packet begins with its IPv4 or IPv6
//! header. Times are nanoseconds since the start of the run, which viewers
//! show as nanoseconds since 1970; picoseconds are rounded down. The octets
//! are little-endian on every machine, so that equal runs give equal files.
//!
//! Where a packet came to a host or left it, its flags say so (§4.3.1), so that
//! a capture can be read back as what each host sent and received: [`reader`].
//!
//! Left out of writing: comments, name resolution and statistics blocks.

pub mod link_layer;
pub mod reader;

use crate::address::AddressBook;
use crate::packet::Packet;
use anabranch_units::Time;
use std::io::{self, Error, ErrorKind, Write};
use std::num::NonZeroU32;

/// `LINKTYPE_RAW` is the link type of packets that begin with the IP header.
const LINKTYPE_RAW: u16 = 101;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// `USER_APPLICATION` is the code of the option `shb_userappl`, which names the writing program
/// (§4.1).
const USER_APPLICATION: u16 = 4;
/// `IF_NAME` is the code of the option `if_name`, which names an interface (§4.2).
const IF_NAME: u16 = 2;
/// `EPB_FLAGS` is the code of the option `epb_flags`, whose low two bits are the direction
/// (§4.3.1).
const EPB_FLAGS: u16 = 2;
/// `IF_TSRESOL` is the code of the option `if_tsresol`: the negative power of ten of the unit of
/// time (§4.2).
const IF_TSRESOL: u16 = 9;

/// `Direction` is the way in which a packet went at a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The host received the packet.
    Inbound,
    /// The host sent the packet.
    Outbound,
}

/// `Snap` is how much of each packet a capture keeps. The original length is always there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Snap {
    /// All but the payload at the end that exists only as a length
    /// ([`Packet::synthetic_tail`]): headers, chunks, and real octets.
    #[default]
    Headers,
    /// Everything; a payload that is only a length is written by its pattern.
    Whole,
    /// That many octets at most are kept, from the IP header on.
    Octets(NonZeroU32),
}

/// `Writer` writes a capture, one block after the other.
///
/// ```
/// use anabranch_units::Time;
/// use anabranch_wire::pcapng::{Snap, Writer};
/// use anabranch_wire::{Addr, AddressBook, Body, Packet, Payload};
///
/// let mut writer = Writer::new(Vec::new())?;
/// let link = writer.add_interface("a-b", Snap::Whole)?;
/// let body = Body::Other { protocol: 253, payload: Payload::virtual_of(100) };
/// let packet = Packet::new(Addr(0), Addr(1), body);
/// writer.packet_value(link, Time::ZERO, &packet, &AddressBook::new())?;
/// let file = writer.finish()?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Each block goes to the output in one call; give it a `BufWriter` around a
/// file.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    /// `snaps` has how much of its packets each interface keeps.
    snaps: Vec<Snap>,
    /// The block in the making, and the packet in the making: kept for their
    /// room.
    block: Vec<u8>,
    octets: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a capture: writes the header of its one section.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(out: W) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, snaps: Vec::new(), block: Vec::new(), octets: Vec::new() };
        writer.begin(SECTION_HEADER);
        writer.u32(BYTE_ORDER_MAGIC);
        writer.block.extend_from_slice(&1_u16.to_le_bytes()); // major version
        writer.block.extend_from_slice(&0_u16.to_le_bytes()); // minor version
        writer.block.extend_from_slice(&u64::MAX.to_le_bytes()); // length not known
        writer.option(USER_APPLICATION, b"anabranch")?;
        writer.end_of_options();
        writer.end()?;
        Ok(writer)
    }

    /// Adds an interface and gives its number. Of its packets what `snap` says is kept; of those
    /// that are given as octets, [`Snap::Headers`] keeps everything.
    ///
    /// # Errors
    /// Those of the output, and `InvalidInput` when the name is longer than
    /// 65,535 octets.
    pub fn add_interface(&mut self, name: &str, snap: Snap) -> io::Result<u32> {
        let number = self.snaps.len() as u32;
        self.begin(INTERFACE_DESCRIPTION);
        self.block.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
        self.block.extend_from_slice(&[0, 0]); // reserved
        // The length of headers differs from packet to packet: 0 means that there is no limit.
        self.u32(if let Snap::Octets(most) = snap { most.get() } else { 0 });
        self.option(IF_NAME, name.as_bytes())?;
        self.option(IF_TSRESOL, &[9])?;
        self.end_of_options();
        self.end()?;
        self.snaps.push(snap);
        Ok(number)
    }

    /// Adds a packet in octets, IP header first, that passed `interface` at
    /// `time`.
    ///
    /// # Errors
    /// Those of the output, and `InvalidInput` when there is no such interface
    /// or the packet has 2^32 octets.
    pub fn packet(&mut self, interface: u32, time: Time, octets: &[u8]) -> io::Result<()> {
        self.block_of(interface, time, None, octets, 0)
    }

    /// Writes a packet as [`Writer::packet`] does, with the direction in which it went at a host.
    ///
    /// # Errors
    /// Those of [`Writer::packet`].
    pub fn packet_going(
        &mut self,
        interface: u32,
        time: Time,
        direction: Direction,
        octets: &[u8],
    ) -> io::Result<()> {
        self.block_of(interface, time, Some(direction), octets, 0)
    }

    fn block_of(
        &mut self,
        interface: u32,
        time: Time,
        direction: Option<Direction>,
        octets: &[u8],
        synthetic: u32,
    ) -> io::Result<()> {
        let Some(&snap) = self.snaps.get(interface as usize) else {
            return Err(Error::new(ErrorKind::InvalidInput, format!("no interface {interface}")));
        };
        let Ok(len) = u32::try_from(octets.len()) else {
            return Err(Error::new(ErrorKind::InvalidInput, "a packet of 2^32 octets or more"));
        };
        let captured = match snap {
            Snap::Headers => len.saturating_sub(synthetic),
            Snap::Whole => len,
            Snap::Octets(most) => len.min(most.get()),
        };
        let nanos = time.as_nanos();
        self.begin(ENHANCED_PACKET);
        self.u32(interface);
        self.u32((nanos >> 32) as u32);
        self.u32(nanos as u32);
        self.u32(captured);
        self.u32(len);
        self.block.extend_from_slice(&octets[..captured as usize]);
        self.pad();
        if let Some(direction) = direction {
            let flags: u32 = if direction == Direction::Inbound { 0b01 } else { 0b10 };
            self.option(EPB_FLAGS, &flags.to_le_bytes())?;
            self.end_of_options();
        }
        self.end()
    }

    /// Writes a packet that is given as a value.
    ///
    /// # Errors
    /// Those of [`Writer::packet`], and `InvalidData` with the
    /// [`EmitError`](crate::EmitError) when the packet has no octets.
    pub fn packet_value(
        &mut self,
        interface: u32,
        time: Time,
        packet: &Packet,
        book: &AddressBook,
    ) -> io::Result<()> {
        self.value_of(interface, time, None, packet, book)
    }

    /// Writes a packet as [`Writer::packet_value`] does, with the direction in which it went at a
    /// host.
    ///
    /// # Errors
    /// Those of [`Writer::packet_value`].
    pub fn packet_value_going(
        &mut self,
        interface: u32,
        time: Time,
        direction: Direction,
        packet: &Packet,
        book: &AddressBook,
    ) -> io::Result<()> {
        self.value_of(interface, time, Some(direction), packet, book)
    }

    fn value_of(
        &mut self,
        interface: u32,
        time: Time,
        direction: Option<Direction>,
        packet: &Packet,
        book: &AddressBook,
    ) -> io::Result<()> {
        let mut octets = std::mem::take(&mut self.octets);
        octets.clear();
        let result = packet
            .emit(book, &mut octets)
            .map_err(|error| Error::new(ErrorKind::InvalidData, error))
            .and_then(|()| {
                let synthetic = packet.synthetic_tail();
                self.block_of(interface, time, direction, &octets, synthetic)
            });
        self.octets = octets;
        result
    }

    /// Flushes the output and gives it back.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, block_type: u32) {
        self.block.clear();
        self.u32(block_type);
        self.u32(0); // the length, see `end`
    }

    fn u32(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    /// Blocks and options end on multiples of four octets, §3.1 and §3.5.
    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) -> io::Result<()> {
        let len = u16::try_from(value.len())
            .map_err(|_| Error::new(ErrorKind::InvalidInput, "an option over 65,535 octets"))?;
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block.extend_from_slice(&len.to_le_bytes());
        self.block.extend_from_slice(value);
        self.pad();
        Ok(())
    }

    fn end_of_options(&mut self) {
        self.u32(0);
    }

    /// Writes the length at both ends of the block, and the block.
    fn end(&mut self) -> io::Result<()> {
        let len = self.block.len() as u32 + 4;
        self.u32(len);
        self.block[4..8].copy_from_slice(&len.to_le_bytes());
        self.out.write_all(&self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Addr, Body, Payload, TcpFlags, TcpOptions, TcpSegment};
    use anabranch_units::Serial32;

    /// The blocks of a file as (type, what stands between the lengths).
    fn blocks(mut file: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |octets: &[u8]| u32::from_le_bytes(octets[..4].try_into().unwrap());
        let mut blocks = Vec::new();
        while !file.is_empty() {
            let len = word(&file[4..]) as usize;
            assert_eq!(len % 4, 0);
            assert_eq!(word(&file[len - 4..]) as usize, len, "the lengths at both ends");
            blocks.push((word(file), file[8..len - 4].to_vec()));
            file = &file[len..];
        }
        blocks
    }

    #[test]
    fn blocks_are_those_of_the_draft() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        assert_eq!(writer.add_interface("ab", Snap::Whole).unwrap(), 0);
        let three = Snap::Octets(NonZeroU32::new(3).unwrap());
        assert_eq!(writer.add_interface("b", three).unwrap(), 1);
        let time = Time::from_picos(((5_u64 << 32) + 7) * 1000 + 999);
        writer.packet(0, time, &[1, 2, 3, 4, 5]).unwrap();
        writer.packet(1, time, &[1, 2, 3, 4, 5]).unwrap();
        let blocks = blocks(&writer.finish().unwrap());
        let types: Vec<u32> = blocks.iter().map(|block| block.0).collect();
        assert_eq!(types, [0x0a0d_0d0a, 1, 1, 6, 6]);
        assert_eq!(blocks[0].1[..8], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
        assert_eq!(
            blocks[1].1,
            [
                101, 0, 0, 0, 0, 0, 0, 0, // link type, reserved, snap length
                2, 0, 2, 0, b'a', b'b', 0, 0, // if_name
                9, 0, 1, 0, 9, 0, 0, 0, // if_tsresol
                0, 0, 0, 0, // opt_endofopt
            ]
        );
        assert_eq!(
            blocks[3].1,
            [
                0, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, // interface, time
                5, 0, 0, 0, 5, 0, 0, 0, // captured, original length
                1, 2, 3, 4, 5, 0, 0, 0, // padded
            ]
        );
        assert_eq!(blocks[4].1[12..], [3, 0, 0, 0, 5, 0, 0, 0, 1, 2, 3, 0], "cut by snaplen");
    }

    /// A segment of 1000 octets that are only a length, and one of three real octets.
    #[test]
    fn made_up_payload_is_left_out_and_its_length_kept() {
        let segment = |payload| {
            let segment = TcpSegment {
                src_port: 1,
                dst_port: 2,
                seq: Serial32(0),
                ack: Serial32(0),
                flags: TcpFlags::ACK,
                window: 100,
                urgent: 0,
                options: TcpOptions::default(),
                payload,
            };
            Packet::new(Addr(0), Addr(1), Body::Tcp(segment))
        };
        let [made_up, real] = [Payload::virtual_of(1000), Payload::of_octets([7_u8, 8, 9])];
        let mut writer = Writer::new(Vec::new()).unwrap();
        let link = writer.add_interface("a", Snap::default()).unwrap();
        let book = AddressBook::new();
        for payload in [made_up, real] {
            writer.packet_value(link, Time::ZERO, &segment(payload), &book).unwrap();
        }
        let blocks = blocks(&writer.finish().unwrap());
        let word = |block: usize, at: usize| {
            u32::from_le_bytes(blocks[block].1[at..at + 4].try_into().unwrap())
        };
        assert_eq!((word(2, 12), word(2, 16)), (40, 1040), "captured, original length");
        assert_eq!((word(3, 12), word(3, 16)), (43, 43));
        assert_eq!(blocks[3].1[60..63], [7, 8, 9]);
    }

    #[test]
    fn what_cannot_be_written_is_an_error_and_leaves_no_trace() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        let kind = |result: io::Result<()>| result.unwrap_err().kind();
        assert_eq!(kind(writer.packet(0, Time::ZERO, &[0x45])), ErrorKind::InvalidInput);
        let long = "x".repeat(65_536);
        assert_eq!(
            kind(writer.add_interface(&long, Snap::Whole).map(drop)),
            ErrorKind::InvalidInput
        );
        let link = writer.add_interface("a", Snap::Whole).unwrap();
        let body = Body::Other { protocol: 17, payload: Payload::virtual_of(70_000) };
        let packet = Packet::new(Addr(0), Addr(1), body);
        let result = writer.packet_value(link, Time::ZERO, &packet, &AddressBook::new());
        assert_eq!(kind(result), ErrorKind::InvalidData);
        assert_eq!(blocks(&writer.finish().unwrap()).len(), 2);
    }
}
