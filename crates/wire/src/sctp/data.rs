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

/// The flags of DATA and I-DATA.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DataFlags(pub u8);

impl DataFlags {
    /// Last fragment of a message (E).
    pub const END: DataFlags = DataFlags(0x01);
    /// First fragment of a message (B).
    pub const BEGIN: DataFlags = DataFlags(0x02);
    /// Unordered (U).
    pub const UNORDERED: DataFlags = DataFlags(0x04);
    /// Acknowledge at once (I, RFC 7053).
    pub const IMMEDIATE: DataFlags = DataFlags(0x08);
    /// A whole message.
    pub const WHOLE: DataFlags = DataFlags(0x03);

    /// The bits of both.
    #[must_use]
    pub const fn union(self, other: DataFlags) -> DataFlags {
        DataFlags(self.0 | other.0)
    }
    /// All bits of `other` are set.
    pub const fn contains(self, other: DataFlags) -> bool {
        self.0 & other.0 == other.0
    }
    /// The defined bits.
    pub(super) const fn defined(self) -> DataFlags {
        DataFlags(self.0 & 0x0f)
    }
}

/// DATA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataChunk {
    /// Flags.
    pub flags: DataFlags,
    /// Transmission sequence number.
    pub tsn: Serial32,
    /// Stream identifier.
    pub stream: u16,
    /// Stream sequence number; meaningless when unordered.
    pub ssn: u16,
    /// Payload protocol identifier.
    pub ppid: u32,
    /// User data.
    pub payload: Payload,
}

/// I-DATA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IDataChunk {
    /// Flags.
    pub flags: DataFlags,
    /// Transmission sequence number.
    pub tsn: Serial32,
    /// Stream identifier.
    pub stream: u16,
    /// Message identifier.
    pub mid: u32,
    /// Payload protocol identifier in the first fragment, fragment sequence
    /// number in the others.
    pub ppid_or_fsn: u32,
    /// User data.
    pub payload: Payload,
}

/// Position in the pattern of the user data of the chunk with this TSN.
pub(super) const fn position(tsn: Serial32) -> u64 {
    (tsn.0 as u64) << 16
}

impl DataChunk {
    /// Octets of the chunk's header.
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
    /// Octets of the chunk's header.
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
