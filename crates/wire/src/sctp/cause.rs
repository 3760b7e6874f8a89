//! Causes of errors (RFC 9260 §3.3.10, RFC 5061 §4.3, RFC 4895 §4), as ERROR
//! and ABORT carry them.

use super::packet::SctpError;
use super::parameter::{self, Parameter};
use super::tlv::{Reader, Sink};
use crate::address::AddressBook;
use anabranch_units::Serial32;

/// `Cause` says why something was refused; its code is in brackets. Octets are without code, length
/// and padding; chunks inside stay octets, with their own headers, and so do parameters but for
/// those with addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// DATA came for this stream, which does not exist (1).
    InvalidStream(u16),
    /// An INIT or INIT ACK lacks parameters of these types (2).
    MissingParameters(Vec<u16>),
    /// The cookie is too old, by this many microseconds (3).
    StaleCookie(u32),
    /// The sender has too few resources for the association (4, RFC 9260 §3.3.10.4).
    OutOfResource,
    /// This address parameter cannot be used (5), as of an unknown type.
    UnresolvableAddress(Box<[u8]>),
    /// This chunk is of an unknown type (6).
    UnrecognizedChunk(Box<[u8]>),
    /// A mandatory parameter has an impossible value (7).
    InvalidParameter,
    /// These parameters are of unknown types (8).
    UnrecognizedParameters(Box<[u8]>),
    /// The DATA chunk with this TSN has no data (9).
    NoUserData(Serial32),
    /// A COOKIE ECHO came while the association shut down (10).
    CookieWhileShuttingDown,
    /// A restart has these addresses, which were not there before (11).
    RestartWithNewAddresses(Vec<Parameter>),
    /// The user aborted, with a reason of its own (12).
    UserAbort(Box<[u8]>),
    /// The peer has violated the protocol, as this text says (13).
    ProtocolViolation(Box<[u8]>),
    /// An ASCONF was refused, with a code from 0x00A0 to 0x00A4 (RFC 5061 §4.3).
    Asconf {
        /// `code` is the low octet of the code, 0xA0 to 0xA4.
        code: u8,
        /// `parameters` are those of the ASCONF that were refused.
        parameters: Vec<Parameter>,
    },
    /// The HMAC with this identifier is not supported (0x0105, RFC 4895 §4.1).
    UnsupportedHmac(u16),
    /// The code is none of those above.
    Unknown {
        /// `code` is the cause's code, as it came.
        code: u16,
        /// `value` is what follows code and length, without padding.
        value: Box<[u8]>,
    },
}

impl Cause {
    /// Returns the code of the cause on the wire, 16 bits.
    pub const fn code(&self) -> u16 {
        match self {
            Cause::InvalidStream(_) => 1,
            Cause::MissingParameters(_) => 2,
            Cause::StaleCookie(_) => 3,
            Cause::OutOfResource => 4,
            Cause::UnresolvableAddress(_) => 5,
            Cause::UnrecognizedChunk(_) => 6,
            Cause::InvalidParameter => 7,
            Cause::UnrecognizedParameters(_) => 8,
            Cause::NoUserData(_) => 9,
            Cause::CookieWhileShuttingDown => 10,
            Cause::RestartWithNewAddresses(_) => 11,
            Cause::UserAbort(_) => 12,
            Cause::ProtocolViolation(_) => 13,
            Cause::Asconf { code, .. } => *code as u16,
            Cause::UnsupportedHmac(_) => 0x0105,
            Cause::Unknown { code, .. } => *code,
        }
    }

    pub(super) fn emit<S: Sink>(&self, sink: &mut S) {
        sink.tlv(self.code(), |s| match self {
            Cause::InvalidStream(id) => {
                s.u16(*id);
                s.u16(0);
            }
            Cause::MissingParameters(types) => {
                s.u32(types.len() as u32);
                types.iter().for_each(|t| s.u16(*t));
            }
            Cause::StaleCookie(micros) => s.u32(*micros),
            Cause::NoUserData(tsn) => s.u32(tsn.0),
            Cause::UnsupportedHmac(id) => s.u16(*id),
            Cause::OutOfResource | Cause::InvalidParameter | Cause::CookieWhileShuttingDown => {}
            Cause::UnresolvableAddress(octets)
            | Cause::UnrecognizedChunk(octets)
            | Cause::UnrecognizedParameters(octets)
            | Cause::UserAbort(octets)
            | Cause::ProtocolViolation(octets)
            | Cause::Unknown { value: octets, .. } => s.put(octets),
            Cause::RestartWithNewAddresses(parameters) | Cause::Asconf { parameters, .. } => {
                parameters.iter().for_each(|parameter| parameter.emit(s));
            }
        });
    }

    fn parse(code: u16, r: &mut Reader<'_>, book: &AddressBook) -> Result<Cause, SctpError> {
        Ok(match code {
            1 => Cause::InvalidStream(r.u16()?),
            2 => {
                let count = r.u32()? as usize;
                // What the list says must be there; not what it says is trusted.
                let octets = r.take(count.saturating_mul(2))?;
                let types = octets.chunks_exact(2).map(|c| u16::from_be_bytes([c[0], c[1]]));
                Cause::MissingParameters(types.collect())
            }
            3 => Cause::StaleCookie(r.u32()?),
            4 => Cause::OutOfResource,
            5 => Cause::UnresolvableAddress(r.boxed()),
            6 => Cause::UnrecognizedChunk(r.boxed()),
            7 => Cause::InvalidParameter,
            8 => Cause::UnrecognizedParameters(r.boxed()),
            9 => Cause::NoUserData(r.serial()?),
            10 => Cause::CookieWhileShuttingDown,
            11 => Cause::RestartWithNewAddresses(parameter::parse_flat(r, book)),
            12 => Cause::UserAbort(r.boxed()),
            13 => Cause::ProtocolViolation(r.boxed()),
            0xa0..=0xa4 => {
                Cause::Asconf { code: code as u8, parameters: parameter::parse_flat(r, book) }
            }
            0x0105 => Cause::UnsupportedHmac(r.u16()?),
            _ => Cause::Unknown { code, value: r.boxed() },
        })
    }
}

/// Reads all causes up to the end of `r`.
pub(super) fn parse_all(r: &mut Reader<'_>, book: &AddressBook) -> Result<Vec<Cause>, SctpError> {
    let mut causes = Vec::new();
    while !r.is_empty() {
        let (code, mut value) = r.tlv(SctpError::cause)?;
        causes.push(Cause::parse(code, &mut value, book)?);
    }
    Ok(causes)
}
