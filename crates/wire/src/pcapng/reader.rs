//! Reads captures: pcapng (draft-ietf-opsawg-pcapng) and the format before it,
//! pcap (draft-ietf-opsawg-pcap), of either byte order.
//!
//! Total: any octets give packets, an error, or both. Blocks of unknown types
//! are skipped, as the draft asks for. A file that ends within a block, as one
//! of a killed writer does, gives what is before and [`Reader::is_cut`].

use super::link_layer::LinkType;
use super::{BYTE_ORDER_MAGIC, Direction, EPB_FLAGS, USER_APPLICATION};
use super::{ENHANCED_PACKET, IF_NAME, IF_TSRESOL, INTERFACE_DESCRIPTION, SECTION_HEADER};
use std::error::Error;
use std::fmt;

/// `SIMPLE_PACKET` is the Simple Packet Block, §4.4: a packet without a time, of the first
/// interface.
const SIMPLE_PACKET: u32 = 3;
/// Magic numbers of pcap files whose times are microseconds, or nanoseconds.
const PCAP_MICROS: u32 = 0xa1b2_c3d4;
const PCAP_NANOS: u32 = 0xa1b2_3c4d;

/// `ReadError` says why a file is not a capture, and at which octet of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadError {
    /// The file begins like neither format.
    NotACapture,
    /// The header of a section is broken, at this octet of the file.
    Section(usize),
    /// The lengths of the block at this octet contradict the file or each other.
    Block(usize),
    /// The packet in the block at this octet is of an interface that was not described.
    NoInterface(usize),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::NotACapture => f.write_str("neither pcapng nor pcap"),
            ReadError::Section(at) => write!(f, "a broken section header at octet {at}"),
            ReadError::Block(at) => write!(f, "a broken block at octet {at}"),
            ReadError::NoInterface(at) => {
                write!(f, "a packet of an interface that is not there, at octet {at}")
            }
        }
    }
}

impl Error for ReadError {}

/// `Interface` is one at which packets were seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// `name` is the option `if_name`; it is empty where the file has none.
    pub name: String,
    /// `link_type` says what stands before the IP header of the packets.
    pub link_type: LinkType,
    /// `resolution` is the unit in which the file gives the packets' times.
    resolution: Resolution,
}

/// `Resolution` is the unit of time of an interface (`if_tsresol`, §4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Resolution {
    /// The unit is ten to the power of minus this, in seconds.
    Decimal(u32),
    /// The unit is two to the power of minus this, in seconds.
    Binary(u32),
}

impl Resolution {
    /// Returns these units as nanoseconds, rounded down; the largest if there are too many.
    fn nanos(self, units: u64) -> u64 {
        let units = u128::from(units);
        let nanos = match self {
            Resolution::Decimal(n) if n <= 9 => units * 10_u128.pow(9 - n),
            Resolution::Decimal(n) => {
                10_u128.checked_pow(n - 9).map_or(0, |checked_pow| units / checked_pow)
            }
            Resolution::Binary(n) => (units * 1_000_000_000) >> n.min(127),
        };
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

/// `Frame` is a packet of a capture, as much of it as was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// `interface` is the place of its interface in [`Reader::interfaces`].
    pub interface: usize,
    /// `nanos` is the packet's time: nanoseconds since 1970, or since the start of a run; `None`
    /// where the file does not say.
    pub nanos: Option<u64>,
    /// `direction` says whether the packet came or went, where the file tells.
    pub direction: Option<Direction>,
    /// `ip` is what was kept of the packet from its IP header on; it is empty where nothing says
    /// what stands before that.
    pub ip: &'a [u8],
}

/// `Reader` goes through a capture, one packet after the other.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a [u8],
    at: usize,
    big_endian: bool,
    classic: bool,
    interfaces: Vec<Interface>,
    /// `first` is the place of the present section's first interface, from which its packets count.
    first: usize,
    application: String,
    cut: bool,
}

impl<'a> Reader<'a> {
    /// Reads the capture that `file` holds.
    ///
    /// # Errors
    /// [`ReadError::NotACapture`].
    pub fn new(file: &'a [u8]) -> Result<Reader<'a>, ReadError> {
        let mut reader = Reader {
            file,
            at: 0,
            big_endian: false,
            classic: false,
            interfaces: Vec::new(),
            first: 0,
            application: String::new(),
            cut: false,
        };
        let word: [u8; 4] = file.first_chunk().copied().ok_or(ReadError::NotACapture)?;
        if u32::from_le_bytes(word) == SECTION_HEADER {
            return Ok(reader);
        }
        let is_pcap = |word| matches!(word, PCAP_MICROS | PCAP_NANOS);
        reader.big_endian = is_pcap(u32::from_be_bytes(word));
        let magic = reader.word(0).filter(|word| is_pcap(*word)).ok_or(ReadError::NotACapture)?;
        let link_type = reader.word(20).ok_or(ReadError::NotACapture)? as u16;
        let power = if magic == PCAP_NANOS { 9 } else { 6 };
        reader.interfaces.push(Interface {
            name: String::new(),
            link_type: LinkType(link_type),
            resolution: Resolution::Decimal(power),
        });
        (reader.at, reader.classic) = (24, true);
        Ok(reader)
    }

    /// Returns the interfaces so far; all, once the last packet has been read.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Returns the name of the program that wrote the last section, as it says itself; else empty.
    pub fn application(&self) -> &str {
        &self.application
    }

    /// Returns whether the file ends within a block.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    fn word(&self, at: usize) -> Option<u32> {
        let octets = self.file.get(at..)?.first_chunk().copied()?;
        Some(if self.big_endian { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) })
    }

    fn half(&self, at: usize) -> Option<u16> {
        let octets = self.file.get(at..)?.first_chunk().copied()?;
        Some(if self.big_endian { u16::from_be_bytes(octets) } else { u16::from_le_bytes(octets) })
    }

    /// Reads the next packet, and the blocks before it; `None` at the end of the file.
    fn step(&mut self) -> Result<Option<Frame<'a>>, ReadError> {
        if self.classic {
            return Ok(self.record());
        }
        loop {
            let start = self.at;
            if self.file.get(start..start + 12).is_none() {
                self.cut = start < self.file.len();
                return Ok(None);
            }
            if self.file[start..].starts_with(&SECTION_HEADER.to_le_bytes()) {
                self.section(start)?;
            }
            let kind = self.word(start).ok_or(ReadError::Block(start))?;
            let len = self.word(start + 4).ok_or(ReadError::Block(start))? as usize;
            if len < 12 || !len.is_multiple_of(4) {
                return Err(ReadError::Block(start));
            }
            let Some(end) = start.checked_add(len).filter(|end| *end <= self.file.len()) else {
                self.cut = true;
                return Ok(None);
            };
            if self.word(end - 4) != Some(len as u32) {
                return Err(ReadError::Block(start));
            }
            self.at = end;
            let (body, stop) = (start + 8, end - 4);
            let broken = ReadError::Block(start);
            match kind {
                SECTION_HEADER => {
                    self.first = self.interfaces.len();
                    self.application = String::from_utf8_lossy(
                        self.option(body + 16, stop, USER_APPLICATION).unwrap_or_default(),
                    )
                    .into_owned();
                }
                INTERFACE_DESCRIPTION => self.interface(body, stop).ok_or(broken)?,
                ENHANCED_PACKET => return self.enhanced(body, stop).ok_or(broken)?.map(Some),
                SIMPLE_PACKET => {
                    let kept = stop.saturating_sub(body + 4);
                    let len = self.word(body).ok_or(broken)? as usize;
                    let octets = self.file.get(body + 4..body + 4 + kept.min(len));
                    let no_interface = ReadError::NoInterface(start);
                    let interfaces = self.interfaces.get(self.first).ok_or(no_interface)?;
                    let ip = interfaces.link_type.ip(octets.ok_or(broken)?);
                    let interface = self.first;
                    return Ok(Some(Frame { interface, nanos: None, direction: None, ip }));
                }
                _ => {}
            }
        }
    }

    /// Reads the byte order of the section that begins at octet `start` (§4.1).
    fn section(&mut self, start: usize) -> Result<(), ReadError> {
        let magic = self.file.get(start + 8..).and_then(|file| file.first_chunk().copied());
        let magic: [u8; 4] = magic.ok_or(ReadError::Section(start))?;
        self.big_endian = match (u32::from_le_bytes(magic), u32::from_be_bytes(magic)) {
            (BYTE_ORDER_MAGIC, _) => false,
            (_, BYTE_ORDER_MAGIC) => true,
            _ => return Err(ReadError::Section(start)),
        };
        Ok(())
    }

    /// Reads the body of an interface description block (§4.2).
    fn interface(&mut self, body: usize, stop: usize) -> Option<()> {
        let link_type = LinkType(self.half(body)?);
        let name = self.option(body + 8, stop, IF_NAME).unwrap_or_default();
        let resolution = match self.option(body + 8, stop, IF_TSRESOL) {
            Some(&[option, ..]) if option & 0x80 != 0 => Resolution::Binary((option & 0x7f).into()),
            Some(&[option, ..]) => Resolution::Decimal(option.into()),
            _ => Resolution::Decimal(6),
        };
        let name = String::from_utf8_lossy(name).into_owned();
        self.interfaces.push(Interface { name, link_type, resolution });
        Some(())
    }

    /// Reads the body of an enhanced packet block (§4.3). The inner error is that of its interface.
    fn enhanced(&self, body: usize, stop: usize) -> Option<Result<Frame<'a>, ReadError>> {
        let interface = self.first + self.word(body)? as usize;
        let units = u64::from(self.word(body + 4)?) << 32 | u64::from(self.word(body + 8)?);
        let kept = self.word(body + 12)? as usize;
        let octets = body + 20;
        let end = octets.checked_add(kept).filter(|end| *end <= stop)?;
        let Some(found) = self.interfaces.get(interface) else {
            return Some(Err(ReadError::NoInterface(body - 8)));
        };
        let flags = self.option(octets + kept.next_multiple_of(4), stop, EPB_FLAGS);
        let flags = flags.and_then(|flag| flag.first_chunk().copied()).map(|item: [u8; 4]| {
            if self.big_endian { u32::from_be_bytes(item) } else { u32::from_le_bytes(item) }
        });
        let direction = match flags.map(|flag| flag & 0b11) {
            Some(0b01) => Some(Direction::Inbound),
            Some(0b10) => Some(Direction::Outbound),
            _ => None,
        };
        let nanos = Some(found.resolution.nanos(units));
        let ip = found.link_type.ip(self.file.get(octets..end)?);
        Some(Ok(Frame { interface, nanos, direction, ip }))
    }

    /// Returns the value of an option (§3.5) between two octets of the file.
    fn option(&self, mut at: usize, stop: usize, code: u16) -> Option<&'a [u8]> {
        while at + 4 <= stop {
            let (found, len) = (self.half(at)?, usize::from(self.half(at + 2)?));
            let value = self.file.get(at + 4..at + 4 + len).filter(|_| at + 4 + len <= stop)?;
            match found {
                0 => return None,
                _ if found == code => return Some(value),
                _ => at += 4 + len.next_multiple_of(4),
            }
        }
        None
    }

    /// Reads a record of a pcap file; `None` at the end of the file, whole or cut.
    fn record(&mut self) -> Option<Frame<'a>> {
        let start = self.at;
        let frame = || {
            let [seconds, fraction, kept] = [0, 4, 8].map(|item| self.word(start + item));
            let end = (start + 16).checked_add(kept? as usize)?;
            let octets = self.file.get(start + 16..end)?;
            let interface = &self.interfaces[0];
            let seconds = u64::from(seconds?) * 1_000_000_000;
            let nanos = Some(seconds + interface.resolution.nanos(fraction?.into()));
            let ip = interface.link_type.ip(octets);
            Some((end, Frame { interface: 0, nanos, direction: None, ip }))
        };
        let found = frame();
        self.cut = found.is_none() && start < self.file.len();
        self.at = found.map_or(self.file.len(), |(end, _)| end);
        found.map(|(_, frame)| frame)
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Frame<'a>, ReadError>;

    /// Returns the next packet; nothing follows an error.
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.step().transpose();
        if let Some(Err(_)) = next {
            self.at = self.file.len();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcapng::{Snap, Writer};
    use anabranch_units::Time;
    use std::num::NonZeroU32;

    fn written() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.add_interface("a", Snap::Whole).unwrap();
        writer.add_interface("b", Snap::Octets(NonZeroU32::new(3).unwrap())).unwrap();
        let at = |nanos: u64| Time::from_picos(nanos * 1000);
        writer.packet(0, at(7), &[0x45, 1, 2, 3, 4]).unwrap();
        writer.packet_going(1, at(1 << 33), Direction::Inbound, &[0x60, 1, 2, 3]).unwrap();
        writer.packet_going(0, at(9), Direction::Outbound, &[0x45, 9]).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn what_was_written_is_read() {
        let file = written();
        let mut reader = Reader::new(&file).unwrap();
        let frames: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        let frame = |interface, nanos, direction, ip| Frame {
            interface,
            nanos: Some(nanos),
            direction,
            ip,
        };
        assert_eq!(
            frames,
            [
                frame(0, 7, None, &[0x45, 1, 2, 3, 4][..]),
                frame(1, 1 << 33, Some(Direction::Inbound), &[0x60, 1, 2]),
                frame(0, 9, Some(Direction::Outbound), &[0x45, 9]),
            ]
        );
        let names: Vec<_> =
            reader.interfaces().iter().map(|interface| interface.name.as_str()).collect();
        assert_eq!((names, reader.application()), (vec!["a", "b"], "anabranch"));
        assert!(!reader.is_cut());
    }

    /// A pcap file as tcpdump writes it: microseconds, Ethernet.
    fn classic(big: bool, magic: u32, fraction: u32) -> Vec<u8> {
        let word = |item: u32| if big { item.to_be_bytes() } else { item.to_le_bytes() };
        let mut file: Vec<u8> = Vec::new();
        for item in [magic, 0x0004_0002, 0, 0, 65_535, 1, 3, fraction, 18, 1500] {
            file.extend(word(item));
        }
        file.extend([[0; 12].as_slice(), &[8, 0, 0x45, 1, 2, 3]].concat());
        file
    }

    #[test]
    fn the_older_format_is_read_in_both_byte_orders() {
        for (big, magic, fraction) in [
            (false, PCAP_MICROS, 250_000),
            (true, PCAP_MICROS, 250_000),
            (true, PCAP_NANOS, 250_000_000),
        ] {
            let file = classic(big, magic, fraction);
            let frames: Vec<_> = Reader::new(&file).unwrap().map(Result::unwrap).collect();
            let ip = &[0x45, 1, 2, 3][..];
            let nanos = Some(3_250_000_000);
            assert_eq!(frames, [Frame { interface: 0, nanos, direction: None, ip }]);
        }
    }

    #[test]
    fn a_file_that_was_cut_gives_what_is_whole() {
        let file = written();
        for len in 4..file.len() {
            let mut reader = Reader::new(&file[..len]).unwrap();
            let frames: Result<Vec<_>, _> = reader.by_ref().collect();
            assert!(frames.unwrap().len() <= 3, "{len}");
        }
        let mut reader = Reader::new(&file[..file.len() - 2]).unwrap();
        assert_eq!((reader.by_ref().count(), reader.is_cut()), (2, true));
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(Reader::new(b"").err(), Some(ReadError::NotACapture));
        assert_eq!(Reader::new(b"[[links]]\nends").err(), Some(ReadError::NotACapture));
        let mut file = written();
        let at = file.len() - 8;
        file[at] ^= 1;
        let last = Reader::new(&file).unwrap().last();
        assert!(matches!(last, Some(Ok(_) | Err(_))));
    }

    proptest::proptest! {
        #[test]
        fn any_octets_end(mut file: Vec<u8>, flips: Vec<(usize, u8)>) {
            let whole = written();
            for octets in [&mut file, &mut whole.clone()] {
                for (at, bits) in &flips {
                    if !octets.is_empty() {
                        let at = at % octets.len();
                        octets[at] ^= bits;
                    }
                }
                if let Ok(reader) = Reader::new(octets) {
                    let _ = reader.count();
                }
            }
        }
    }
}
