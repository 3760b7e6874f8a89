//! DSS, the data sequence signal (RFC 8684 §3.3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-----------------------+
//! |     Kind      |    Length     |Subtype| (reserved)  |F|m|M|a|A|
//! +---------------+---------------+-------+-----------------------+
//! |           Data ACK (4 or 8 octets, depending on flags)        |
//! |   Data Sequence Number (4 or 8 octets, depending on flags)    |
//! |              Subflow Sequence Number (4 octets)               |
//! +-------------------------------+-------------------------------+
//! |  Data-Level Length (2 octets) | Checksum (2 octets, optional) |
//! +-------------------------------+-------------------------------+
//! ```
//!
//! It stands on nearly every segment, where SACK blocks have little room: what
//! fits forty octets also fits the octets that four SACK blocks take in a
//! value, so the two share them and a segment needs no allocation. (Only a
//! mapping without Data ACK, packed beside three blocks without padding, does
//! not: it is kept among the unknown options.)

use crate::tcp::{SackBlock, SackBlocks, TcpOptions};
use anabranch_units::Serial32;

/// `DataNumber` is a data sequence number as it stands on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataNumber {
    /// `Short` has the low 32 bits of the number, in four octets.
    Short(u32),
    /// `Long` has all 64 bits of the number, in eight octets.
    Long(u64),
}

impl DataNumber {
    fn words(self) -> usize {
        1 + matches!(self, DataNumber::Long(_)) as usize
    }
}

/// `Mapping` says which data sequence numbers a range of a subflow's octets has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// `dsn` is the data sequence number of the first octet.
    pub dsn: DataNumber,
    /// `ssn` is the subflow sequence number of the first octet, relative to the SYN's; it is 0 for
    /// a DATA_FIN without data.
    pub ssn: u32,
    /// `len` is how many octets are mapped; a DATA_FIN counts as one. 0 stands for an infinite
    /// mapping.
    pub len: u16,
    /// `checksum` covers the data and a pseudo header, where checksums are agreed on.
    pub checksum: Option<u16>,
}

/// `Dss` is the data sequence signal: a DATA_ACK, a mapping, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dss {
    /// `data_ack` is the number of the next data octet that the sender expects.
    pub data_ack: Option<DataNumber>,
    /// `mapping` is that of the segment's data, if there is one.
    pub mapping: Option<Mapping>,
    /// `data_fin` is F: the mapping ends with the end of the sender's data.
    pub data_fin: bool,
}

// The flags of the wire.
const ACK: u8 = 0x01;
const LONG_ACK: u8 = 0x02;
const MAPPING: u8 = 0x04;
const LONG_DSN: u8 = 0x08;
const FIN: u8 = 0x10;
/// In a value: there is a DSS, and its mapping has a checksum.
const PRESENT: u8 = 0x80;
const CHECKSUM: u8 = 0x40;

impl Dss {
    /// Returns the length on the wire, in octets.
    pub fn wire_len(&self) -> u32 {
        wire_len(self.flags())
    }

    fn flags(&self) -> u8 {
        let mut flags = if self.data_fin { FIN } else { 0 };
        flags |= match self.data_ack {
            None => 0,
            Some(DataNumber::Short(_)) => ACK,
            Some(DataNumber::Long(_)) => ACK | LONG_ACK,
        };
        if let Some(mapping) = self.mapping {
            let long = if mapping.dsn.words() == 2 { LONG_DSN } else { 0 };
            let checksum = if mapping.checksum.is_some() { CHECKSUM } else { 0 };
            flags |= MAPPING | long | checksum;
        }
        flags
    }

    /// Reads what follows kind and length; `None` when the parts do not fill it.
    pub(in crate::tcp) fn parse(value: &[u8]) -> Option<Dss> {
        let [_, flags, rest @ ..] = value else { return None };
        let mut rest = rest;
        let mut short = || {
            let (octets, after) = rest.split_first_chunk::<4>()?;
            rest = after;
            Some(u32::from_be_bytes(*octets))
        };
        let number = |short: &mut dyn FnMut() -> Option<u32>, long: bool| {
            let high = short()?;
            Some(match long {
                false => DataNumber::Short(high),
                true => DataNumber::Long((high as u64) << 32 | short()? as u64),
            })
        };
        let mut dss = Dss { data_fin: flags & FIN != 0, ..Dss::default() };
        if flags & ACK != 0 {
            dss.data_ack = Some(number(&mut short, flags & LONG_ACK != 0)?);
        }
        if flags & MAPPING != 0 {
            let dsn = number(&mut short, flags & LONG_DSN != 0)?;
            let ssn = short()?;
            let (len, checksum) = match *rest {
                [a, b] => (u16::from_be_bytes([a, b]), None),
                [a, b, c, d] => (u16::from_be_bytes([a, b]), Some(u16::from_be_bytes([c, d]))),
                _ => return None,
            };
            dss.mapping = Some(Mapping { dsn, ssn, len, checksum });
            rest = &[];
        }
        rest.is_empty().then_some(dss)
    }

    /// Appends [`Dss::wire_len`] octets.
    pub(in crate::tcp) fn emit(&self, out: &mut Vec<u8>) {
        let on_wire = FIN | LONG_DSN | MAPPING | LONG_ACK | ACK;
        let flags = self.flags() & on_wire;
        out.extend_from_slice(&[super::KIND, self.wire_len() as u8, super::DSS << 4, flags]);
        let number = |out: &mut Vec<u8>, number| match number {
            DataNumber::Short(n) => out.extend_from_slice(&n.to_be_bytes()),
            DataNumber::Long(n) => out.extend_from_slice(&n.to_be_bytes()),
        };
        if let Some(ack) = self.data_ack {
            number(out, ack);
        }
        if let Some(Mapping { dsn, ssn, len, checksum }) = self.mapping {
            number(out, dsn);
            out.extend_from_slice(&ssn.to_be_bytes());
            out.extend_from_slice(&len.to_be_bytes());
            out.extend(checksum.iter().flat_map(|checksum| checksum.to_be_bytes()));
        }
    }
}

/// Returns how many words of four octets a DSS of these flags takes in a value.
fn words(flags: u8) -> usize {
    let one = |flag| (flags & flag != 0) as usize;
    // Long is only what there is.
    one(ACK) + one(LONG_ACK) + 3 * one(MAPPING) + one(LONG_DSN)
}

fn wire_len(flags: u8) -> u32 {
    let unused = flags & MAPPING != 0 && flags & CHECKSUM == 0;
    4 + 4 * words(flags) as u32 - 2 * unused as u32
}

/// The DSS stands in the last words of the blocks, the last first.
impl SackBlocks {
    /// Returns how many blocks the DSS leaves room for.
    #[inline]
    pub(in crate::tcp) fn most(&self) -> usize {
        4 - words(self.dss).div_ceil(2)
    }

    /// Returns the length of the DSS on the wire, in octets; 0 where there is none.
    #[inline]
    pub(in crate::tcp) fn dss_len(&self) -> u32 {
        self.dss_len.into()
    }

    fn put(&mut self, dss: &Dss) -> bool {
        let flags = dss.flags() | PRESENT;
        if self.len as usize + words(flags).div_ceil(2) > 4 {
            return false;
        }
        let mut all = [0_u32; 6];
        let mut n = 0;
        let mut number = |number| {
            let low = match number {
                DataNumber::Short(low) => low,
                DataNumber::Long(long) => {
                    all[n] = (long >> 32) as u32;
                    n += 1;
                    long as u32
                }
            };
            all[n] = low;
            n += 1;
        };
        if let Some(ack) = dss.data_ack {
            number(ack);
        }
        if let Some(mapping) = dss.mapping {
            number(mapping.dsn);
            number(DataNumber::Short(mapping.ssn));
            let checksum = mapping.checksum.unwrap_or(0);
            number(DataNumber::Short((mapping.len as u32) << 16 | checksum as u32));
        }
        self.clear_dss();
        (self.dss, self.dss_len) = (flags, wire_len(flags) as u8);
        self.fill(&all, words(flags));
        true
    }

    /// Writes the usual ones, a Data ACK alone or a short one before a short mapping: nearly every
    /// segment has one, so they are written without counting words. False for others, and where
    /// something is in the way.
    #[inline]
    fn put_usual(&mut self, dss: &Dss) -> bool {
        let fin = if dss.data_fin { FIN } else { 0 };
        let block = |left, right| SackBlock { left: Serial32(left), right: Serial32(right) };
        match (dss.data_ack, dss.mapping) {
            _ if self.dss != 0 => false,
            (Some(DataNumber::Short(ack)), None) if self.len < 4 => {
                self.blocks[3] = block(0, ack);
                (self.dss, self.dss_len) = (PRESENT | fin | ACK, 8);
                true
            }
            (Some(DataNumber::Long(ack)), None) if self.len < 4 => {
                self.blocks[3] = block(ack as u32, (ack >> 32) as u32);
                (self.dss, self.dss_len) = (PRESENT | fin | ACK | LONG_ACK, 12);
                true
            }
            (
                Some(DataNumber::Short(ack)),
                Some(Mapping { dsn: DataNumber::Short(dsn), ssn, len, checksum }),
            ) if self.len < 3 => {
                self.blocks[3] = block(dsn, ack);
                self.blocks[2] = block((len as u32) << 16 | checksum.unwrap_or(0) as u32, ssn);
                let (summed, len) = if checksum.is_some() { (CHECKSUM, 20) } else { (0, 18) };
                (self.dss, self.dss_len) = (PRESENT | fin | summed | ACK | MAPPING, len);
                true
            }
            _ => false,
        }
    }

    /// Returns what [`SackBlocks::put_usual`] has written; `None` of other forms.
    #[inline]
    fn get_usual(&self) -> Option<Dss> {
        const ALONE: u8 = PRESENT | ACK;
        const WIDE: u8 = PRESENT | ACK | LONG_ACK;
        const MAPPED: u8 = PRESENT | ACK | MAPPING;
        let [_, _, b, a] = &self.blocks;
        let (data_ack, mapping) = match self.dss & !(FIN | CHECKSUM) {
            ALONE => (DataNumber::Short(a.right.0), None),
            WIDE => (DataNumber::Long((a.right.0 as u64) << 32 | a.left.0 as u64), None),
            MAPPED => {
                let mapping = Mapping {
                    dsn: DataNumber::Short(a.left.0),
                    ssn: b.right.0,
                    len: (b.left.0 >> 16) as u16,
                    checksum: (self.dss & CHECKSUM != 0).then_some(b.left.0 as u16),
                };
                (DataNumber::Short(a.right.0), Some(mapping))
            }
            _ => return None,
        };
        Some(Dss { data_ack: Some(data_ack), mapping, data_fin: self.dss & FIN != 0 })
    }

    fn clear_dss(&mut self) {
        self.fill(&[0; 6], words(self.dss));
        (self.dss, self.dss_len) = (0, 0);
    }

    /// Writes the blocks that hold the first `n` words.
    fn fill(&mut self, words: &[u32; 6], n: usize) {
        let block =
            |at: usize| SackBlock { left: Serial32(words[at + 1]), right: Serial32(words[at]) };
        if n > 0 {
            self.blocks[3] = block(0);
        }
        if n > 2 {
            self.blocks[2] = block(2);
        }
        if n > 4 {
            self.blocks[1] = block(4);
        }
    }

    fn get(&self) -> Option<Dss> {
        let flags = self.dss;
        if flags == 0 {
            return None;
        }
        let [_, c, b, a] = &self.blocks;
        let all = [a.right, a.left, b.right, b.left, c.right, c.left];
        let mut n = 0;
        let mut short = || {
            n += 1;
            all[n - 1].0
        };
        let number = |short: &mut dyn FnMut() -> u32, long: bool| {
            let high = short();
            match long {
                false => DataNumber::Short(high),
                true => DataNumber::Long((high as u64) << 32 | short() as u64),
            }
        };
        let data_ack = (flags & ACK != 0).then(|| number(&mut short, flags & LONG_ACK != 0));
        let mapping = (flags & MAPPING != 0).then(|| {
            let dsn = number(&mut short, flags & LONG_DSN != 0);
            let (ssn, last) = (short(), short());
            let checksum = (flags & CHECKSUM != 0).then_some(last as u16);
            Mapping { dsn, ssn, len: (last >> 16) as u16, checksum }
        });
        Some(Dss { data_ack, mapping, data_fin: flags & FIN != 0 })
    }
}

impl TcpOptions {
    /// Returns the DSS of the segment, if it has one.
    #[inline]
    pub fn dss(&self) -> Option<Dss> {
        if self.sack.dss == 0 { None } else { self.sack.get_usual().or_else(|| self.sack.get()) }
    }

    /// Puts a DSS in place of what was there; false, and nothing is changed,
    /// when there are too many SACK blocks beside it.
    #[inline]
    pub fn set_dss(&mut self, dss: &Dss) -> bool {
        self.sack.put_usual(dss) || self.sack.put(dss)
    }

    /// Removes the DSS from the options.
    pub fn remove_dss(&mut self) {
        self.sack.clear_dss();
    }

    /// Keeps the first `most` SACK blocks, and no others.
    pub fn truncate_sack(&mut self, most: usize) {
        let most = most.min(self.sack.len as usize);
        self.sack.blocks[most..self.sack.len as usize].fill(Default::default());
        self.sack.len = most as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short way writes and reads what the long way does, and leaves alone
    /// what has no room.
    #[test]
    fn usual_ones_are_kept_as_all_others() {
        let numbers = [DataNumber::Short(5), DataNumber::Long(0x1_2345_6789_abcd)];
        let acks = numbers.map(Some).into_iter().chain([None]);
        let mut usual = 0;
        for data_ack in acks {
            for (n, dsn) in numbers.into_iter().enumerate() {
                for checksum in [None, Some(0xffff)] {
                    let mapping = (n > 0 || checksum.is_some()).then_some(Mapping {
                        dsn,
                        ssn: 7,
                        len: 1400,
                        checksum,
                    });
                    for (len, data_fin) in (0..=4).flat_map(|n| [(n, false), (n, true)]) {
                        let dss = Dss { data_ack, mapping, data_fin };
                        let before = SackBlocks { len, ..SackBlocks::NONE };
                        let (mut one, mut other) = (before, before);
                        let fits = other.put(&dss);
                        if one.put_usual(&dss) {
                            usual += 1;
                            assert!(fits);
                            assert_eq!((one, one.get_usual()), (other, other.get()), "{dss:?}");
                        } else {
                            assert_eq!(one, before);
                        }
                    }
                }
            }
        }
        assert!(usual > 20, "{usual}");
    }
}
