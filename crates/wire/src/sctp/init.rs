//! INIT and INIT ACK (RFC 9260 §3.3.2, §3.3.3).
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 1, 2  |  Chunk Flags  |         Chunk Length          |
//! |                         Initiate Tag                          |
//! |          Advertised Receiver Window Credit (a_rwnd)           |
//! |  Number of Outbound Streams   |   Number of Inbound Streams   |
//! |                          Initial TSN                          |
//! |                          Parameters                           |
//! ```

use super::packet::SctpError;
use super::parameter::{self, Parameter};
use super::tlv::{Reader, Sink};
use crate::address::AddressBook;
use anabranch_units::Serial32;

/// `InitChunk` is INIT or INIT ACK, whose fields are the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InitChunk {
    /// `tag` is what the receiver puts into every packet as verification tag; 0 is invalid.
    pub tag: u32,
    /// `a_rwnd` is the room of the sender's receive buffer, in octets, at least 1500 (RFC 9260 §6).
    pub a_rwnd: u32,
    /// `outbound` is how many streams the sender wishes to send on; 0 is invalid.
    pub outbound: u16,
    /// `inbound` is how many streams the sender accepts at most; 0 is invalid.
    pub inbound: u16,
    /// `tsn` is the first TSN that the sender will use.
    pub tsn: Serial32,
    /// `parameters` are in the order of the wire.
    pub parameters: Vec<Parameter>,
}

impl InitChunk {
    pub(super) fn emit<S: Sink>(&self, s: &mut S) {
        s.u32(self.tag);
        s.u32(self.a_rwnd);
        s.u16(self.outbound);
        s.u16(self.inbound);
        s.u32(self.tsn.0);
        self.parameters.iter().for_each(|parameter| parameter.emit(s));
    }

    pub(super) fn parse(r: &mut Reader<'_>, book: &AddressBook) -> Result<InitChunk, SctpError> {
        InitChunk::parse_with(r, |r| parameter::parse_all(r, book))
    }

    /// Reads the same with what comes from the first broken parameter on as octets.
    pub(super) fn parse_tolerant(
        r: &mut Reader<'_>,
        book: &AddressBook,
    ) -> Result<InitChunk, SctpError> {
        InitChunk::parse_with(r, |r| Ok(parameter::parse_tolerant(r, book)))
    }

    fn parse_with<'a>(
        r: &mut Reader<'a>,
        parameters: impl FnOnce(&mut Reader<'a>) -> Result<Vec<Parameter>, SctpError>,
    ) -> Result<InitChunk, SctpError> {
        Ok(InitChunk {
            tag: r.u32()?,
            a_rwnd: r.u32()?,
            outbound: r.u16()?,
            inbound: r.u16()?,
            tsn: r.serial()?,
            parameters: parameters(r)?,
        })
    }
}
