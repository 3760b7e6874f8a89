//! The TCP header as octets (RFC 9293 §3.1): a borrowed view, and writing and
//! reading a [`TcpSegment`].
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Source Port          |       Destination Port        |
//! |                        Sequence Number                        |
//! |                    Acknowledgment Number                      |
//! |  Data |     |A|C|E|U|A|P|R|S|F|                               |
//! | Offset|Rsrvd|E|W|C|R|C|S|S|Y|I|            Window             |
//! |       |     | |R|E|G|K|H|T|N|N|                               |
//! |           Checksum            |         Urgent Pointer        |
//! |                           Options                             |
//! ```
//!
//! The reserved bits are kept, in [`TcpFlags`] above AE.

use crate::checksum::{PseudoHeader, Sum};
use crate::error::EmitError;
use crate::packet::Payload;
use crate::pattern;
use crate::tcp::options::OptionError;
use crate::tcp::{TcpFlags, TcpOptions, TcpSegment};
use anabranch_units::Serial32;
use std::error::Error;
use std::fmt;

const HEADER_LEN: usize = TcpSegment::HEADER as usize;
/// `CHECKSUM_AT` is the place of the checksum in the header, in octets.
pub(crate) const CHECKSUM_AT: usize = 16;

/// `TcpError` says why octets are not a TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpError {
    /// There are fewer octets than the header has, or than its data offset says.
    Truncated,
    /// The data offset, in words of four octets, is below 5.
    DataOffset(u8),
    /// The checksum, over pseudo header, header and data, is wrong.
    Checksum,
    /// The list of options is cut off, or has an impossible length.
    Option(OptionError),
}

impl fmt::Display for TcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TcpError::Truncated => f.write_str("truncated"),
            TcpError::DataOffset(words) => write!(f, "data offset of {words} words"),
            TcpError::Checksum => f.write_str("wrong checksum"),
            TcpError::Option(error) => error.fmt(f),
        }
    }
}
impl Error for TcpError {}

/// `TcpView` is a TCP segment in borrowed octets, whose lengths have been checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpView<'a> {
    header: &'a [u8; HEADER_LEN],
    options: &'a [u8],
    payload: &'a [u8],
}

impl<'a> TcpView<'a> {
    /// Checks the data offset; `octets` is all that IP carried.
    ///
    /// # Errors
    /// [`TcpError::Truncated`] and [`TcpError::DataOffset`].
    pub fn new_checked(octets: &'a [u8]) -> Result<TcpView<'a>, TcpError> {
        let (header, rest) = octets.split_first_chunk::<HEADER_LEN>().ok_or(TcpError::Truncated)?;
        let words = header[12] >> 4;
        let options_len =
            (words as usize * 4).checked_sub(HEADER_LEN).ok_or(TcpError::DataOffset(words))?;
        let (options, payload) = rest.split_at_checked(options_len).ok_or(TcpError::Truncated)?;
        Ok(TcpView { header, options, payload })
    }

    /// Returns whether the checksum of pseudo header, header and data is right.
    pub fn is_checksum_valid(&self, pseudo: &PseudoHeader) -> bool {
        let len = HEADER_LEN + self.options.len() + self.payload.len();
        let sum = pseudo.sum(TcpSegment::PROTOCOL, len as u32);
        sum.with(self.header).with(self.options).with(self.payload).checksum() == 0
    }
    /// Returns the source port, from octets 0 and 1 of the header.
    pub fn src_port(&self) -> u16 {
        self.field(0)
    }
    /// Returns the destination port, from octets 2 and 3 of the header.
    pub fn dst_port(&self) -> u16 {
        self.field(1)
    }
    /// Returns the sequence number of the first octet, of the SYN where that is set.
    pub fn seq(&self) -> Serial32 {
        Serial32((self.field(2) as u32) << 16 | self.field(3) as u32)
    }
    /// Returns the next sequence number that the sender expects; it counts with ACK.
    pub fn ack(&self) -> Serial32 {
        Serial32((self.field(4) as u32) << 16 | self.field(5) as u32)
    }
    /// Returns the control bits, ECN's included, with the reserved bits.
    pub fn flags(&self) -> TcpFlags {
        TcpFlags(self.field(6) & FLAGS)
    }
    /// Returns the window field as on the wire, before scaling.
    pub fn window(&self) -> u16 {
        self.field(7)
    }
    /// Returns the urgent pointer, the offset of the octet after the urgent data; it counts with
    /// URG.
    pub fn urgent(&self) -> u16 {
        self.field(9)
    }
    /// Returns the options with their padding, 0 to 40 octets.
    pub fn options(&self) -> &'a [u8] {
        self.options
    }
    /// Returns the data: all octets of the IP payload that follow the header.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the `index`-th 16-bit word of the header; callers name one of ten.
    fn field(&self, index: usize) -> u16 {
        u16::from_be_bytes([self.header[2 * index], self.header[2 * index + 1]])
    }
}

/// `FLAGS` are control bits and reserved bits in the word that they share with the offset.
const FLAGS: u16 = 0x0fff;

impl TcpSegment {
    /// `PROTOCOL` is IANA's number of TCP, for the IP header.
    pub const PROTOCOL: u8 = 6;

    /// Reads a segment; the payload becomes real octets.
    ///
    /// # Errors
    /// See [`TcpError`].
    pub fn parse(octets: &[u8], pseudo: &PseudoHeader) -> Result<TcpSegment, TcpError> {
        let view = TcpView::new_checked(octets)?;
        if !view.is_checksum_valid(pseudo) {
            return Err(TcpError::Checksum);
        }
        let segment = TcpSegment::without_data(&view)?;
        Ok(TcpSegment { payload: Payload::from_wire(view.payload()), ..segment })
    }

    /// Reads the segment but for its data, whatever its checksum.
    #[inline]
    pub(crate) fn without_data(view: &TcpView<'_>) -> Result<TcpSegment, TcpError> {
        Ok(TcpSegment {
            src_port: view.src_port(),
            dst_port: view.dst_port(),
            seq: view.seq(),
            ack: view.ack(),
            flags: view.flags(),
            window: view.window(),
            urgent: view.urgent(),
            options: TcpOptions::parse(view.options()).map_err(TcpError::Option)?,
            payload: Payload::EMPTY,
        })
    }

    /// Appends the segment with its checksum, [`TcpSegment::wire_len`] octets.
    /// A virtual payload becomes the [`pattern`] at its sequence numbers.
    ///
    /// # Errors
    /// The options or the flags do not fit the header, or the segment does not
    /// fit the length field of IP; `out` is unchanged.
    pub fn emit(&self, pseudo: &PseudoHeader, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let start = out.len();
        self.emit_header(pseudo, out)?;
        self.emit_payload(out);
        let checksum = Sum::default().with(&out[start..]).checksum();
        out[start + CHECKSUM_AT..start + CHECKSUM_AT + 2].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }

    /// Appends the header and the options, with the sum of the pseudo header in
    /// place of the checksum: what is left to do is to sum the segment.
    ///
    /// # Errors
    /// As [`TcpSegment::emit`].
    pub(crate) fn emit_header(
        &self,
        pseudo: &PseudoHeader,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        if self.flags.0 & !FLAGS != 0 {
            return Err(EmitError::FieldRange { field: "flags", value: self.flags.0 as u32 });
        }
        let start = out.len();
        let options_len = self.options.wire_len();
        let len = (Self::HEADER + options_len) as u64 + self.payload.len() as u64;
        if len > u16::MAX as u64 {
            return Err(EmitError::TooLong(len));
        }
        let word = ((Self::HEADER + options_len) as u16 / 4) << 12 | self.flags.0;
        let unfinished = !pseudo.sum(TcpSegment::PROTOCOL, len as u32).checksum();
        let mut header = [0; HEADER_LEN];
        header[0..2].copy_from_slice(&self.src_port.to_be_bytes());
        header[2..4].copy_from_slice(&self.dst_port.to_be_bytes());
        header[4..8].copy_from_slice(&self.seq.0.to_be_bytes());
        header[8..12].copy_from_slice(&self.ack.0.to_be_bytes());
        header[12..14].copy_from_slice(&word.to_be_bytes());
        header[14..16].copy_from_slice(&self.window.to_be_bytes());
        header[CHECKSUM_AT..CHECKSUM_AT + 2].copy_from_slice(&unfinished.to_be_bytes());
        header[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        out.reserve(len as usize);
        out.extend_from_slice(&header);
        self.options.emit(out).inspect_err(|_| out.truncate(start))
    }

    /// Appends the data; counted octets become the pattern of their positions.
    fn emit_payload(&self, out: &mut Vec<u8>) {
        match self.payload.octets() {
            Some(octets) => out.extend_from_slice(octets),
            None => {
                let start = out.len();
                out.resize(start + self.payload.len() as usize, 0);
                pattern::fill_sequence(self.first_data(), &mut out[start..]);
            }
        }
    }

    /// Returns the sequence number of the first octet of data: a SYN comes before it (RFC 9293
    /// §3.4).
    pub fn first_data(&self) -> Serial32 {
        self.seq.add(self.flags.contains(TcpFlags::SYN) as u32)
    }

    /// What [`TcpSegment::parse`] makes of the emitted octets, without writing
    /// them: real payload octets, and absent rather than empty fields.
    #[must_use]
    pub fn canonical(&self) -> TcpSegment {
        let mut segment = self.clone();
        let mut octets = Vec::new();
        self.emit_payload(&mut octets);
        segment.payload = Payload::from_wire(&octets);
        let options = &mut segment.options;
        options.rare = options.rare.take().filter(|rare| !rare.is_empty());
        let others = options.sack_permitted || options.timestamps.is_some();
        options.scale_first &= options.window_scale.is_some() && others;
        segment
    }
}

#[cfg(test)]
mod tests;
