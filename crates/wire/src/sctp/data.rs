//! DATA (RFC 9260 §3.3.1) and I-DATA (RFC 8260 §2.1).
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 0    |  Res  |I|U|B|E|           Length              |
//! |                              TSN                              |
//! |      Stream Identifier S      |   Stream Sequence Number n    |
//! |                  Payload Protocol Identifier                  |
//! |                           User Data                           |
//! ```
//!
//! User data that is only a length is written as the [`pattern`](crate::pattern)
//! at position TSN · 2^16, so that no two chunks have the same octets.

use super::packet::SctpError;
use super::tlv::{Reader, Sink};
use crate::packet::Payload;
use anabranch_units::Serial32;

/// `DataFlags` has the flags of DATA and I-DATA, the low four bits of the second octet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DataFlags(pub u8);

impl DataFlags {
    /// E: the chunk is the last fragment of its message.
    pub const END: DataFlags = DataFlags(0x01);
    /// B: the chunk is the first fragment of its message.
    pub const BEGIN: DataFlags = DataFlags(0x02);
    /// U: the message is delivered without regard to the order of its stream.
    pub const UNORDERED: DataFlags = DataFlags(0x04);
    /// I: the receiver is to acknowledge at once (RFC 7053).
    pub const IMMEDIATE: DataFlags = DataFlags(0x08);
    /// B and E: the chunk is a whole message.
    pub const WHOLE: DataFlags = DataFlags(0x03);

    /// Returns the bits that are in either.
    #[must_use]
    pub const fn union(self, other: DataFlags) -> DataFlags {
        DataFlags(self.0 | other.0)
    }
    /// Returns whether all bits of `other` are set.
    pub const fn contains(self, other: DataFlags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Returns the bits that standards define; a receiver ignores the others.
    pub(super) const fn defined(self) -> DataFlags {
        DataFlags(self.0 & 0x0f)
    }
}

/// `DataChunk` is DATA: a message, or a fragment of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataChunk {
    /// `flags` say which part of its message the chunk is, and how that is delivered.
    pub flags: DataFlags,
    /// `tsn` is the transmission sequence number: one more for each chunk of the association.
    pub tsn: Serial32,
    /// `stream` is the stream identifier, below the number of streams that was agreed on.
    pub stream: u16,
    /// `ssn` is the stream sequence number, equal in all fragments of a message; it is meaningless
    /// when unordered.
    pub ssn: u16,
    /// `ppid` is the payload protocol identifier, which the user gives and SCTP hands on.
    pub ppid: u32,
    /// `payload` is the user data, one octet at least (RFC 9260 §3.3.1).
    pub payload: Payload,
}

/// `IDataChunk` is I-DATA: a message, or a fragment between which those of others may stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IDataChunk {
    /// `flags` say which part of its message the chunk is, and how that is delivered.
    pub flags: DataFlags,
    /// `tsn` is the transmission sequence number: one more for each chunk of the association.
    pub tsn: Serial32,
    /// `stream` is the stream identifier, below the number of streams that was agreed on.
    pub stream: u16,
    /// `mid` is the message identifier: one more for each message of the stream, ordered and
    /// unordered ones counted apart.
    pub mid: u32,
    /// `ppid_or_fsn` is the payload protocol identifier in the first fragment, and the fragment
    /// sequence number in the others.
    pub ppid_or_fsn: u32,
    /// `payload` is the user data, one octet at least.
    pub payload: Payload,
}

/// Returns the position in the pattern of the user data of the chunk with this TSN.
pub(super) const fn position(tsn: Serial32) -> u64 {
    (tsn.0 as u64) << 16
}

impl DataChunk {
    /// `HEADER` is how many octets stand before the user data.
    pub const HEADER: u32 = 16;

    #[inline]
    pub(super) fn emit<S: Sink>(&self, s: &mut S) {
        s.u32(self.tsn.0);
        s.u16(self.stream);
        s.u16(self.ssn);
        s.u32(self.ppid);
        s.payload(&self.payload, position(self.tsn));
    }

    pub(super) fn parse(flags: u8, r: &mut Reader<'_>) -> Result<DataChunk, SctpError> {
        Ok(DataChunk {
            flags: DataFlags(flags).defined(),
            tsn: r.serial()?,
            stream: r.u16()?,
            ssn: r.u16()?,
            ppid: r.u32()?,
            payload: Payload::from_wire(r.rest()),
        })
    }
}

impl IDataChunk {
    /// `HEADER` is how many octets stand before the user data.
    pub const HEADER: u32 = 20;

    pub(super) fn emit<S: Sink>(&self, s: &mut S) {
        s.u32(self.tsn.0);
        s.u16(self.stream);
        s.u16(0);
        s.u32(self.mid);
        s.u32(self.ppid_or_fsn);
        s.payload(&self.payload, position(self.tsn));
    }

    pub(super) fn parse(flags: u8, r: &mut Reader<'_>) -> Result<IDataChunk, SctpError> {
        let (tsn, stream, _reserved) = (r.serial()?, r.u16()?, r.u16()?);
        Ok(IDataChunk {
            flags: DataFlags(flags).defined(),
            tsn,
            stream,
            mid: r.u32()?,
            ppid_or_fsn: r.u32()?,
            payload: Payload::from_wire(r.rest()),
        })
    }
}
