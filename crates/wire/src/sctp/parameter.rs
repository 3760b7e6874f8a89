//! Parameters (RFC 9260 §3.2.1): those of INIT and INIT ACK (§3.3.2.1,
//! §3.3.3.1), of AUTH (RFC 4895 §3), of ASCONF (RFC 5061 §4.2) and of RE-CONFIG
//! (RFC 6525 §4).
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |        Parameter Type         |       Parameter Length        |
//! |                        Parameter Value                        |
//! ```

use super::address::Address;
use super::cause::{self, Cause};
use super::packet::SctpError;
use super::tlv::{Reader, Sink};
use crate::address::AddressBook;
use anabranch_units::Serial32;
use std::net::IpAddr;

/// `UnknownAction` is what a receiver does with a type that it does not know, by the type's two
/// highest bits (RFC 9260 §3.2 and §3.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownAction {
    /// `stop` says that nothing after it in the packet, or in the chunk, is processed.
    pub stop: bool,
    /// `report` says that the sender is told of the unknown type.
    pub report: bool,
}

impl UnknownAction {
    /// Reads the two highest bits of a type, which are the low bits of `bits`.
    pub(super) const fn from_bits(bits: u16) -> UnknownAction {
        UnknownAction { stop: bits & 0b10 == 0, report: bits & 0b01 != 0 }
    }
}

/// `Parameter` is a parameter as a value; its type is in brackets. Octets are without type, length
/// and padding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// An IPv4 (5) or IPv6 (6) address of the sender (RFC 9260 §3.3.2.1).
    Address(Address),
    /// The state cookie (7), which only its sender can read (RFC 9260 §3.3.3.1).
    StateCookie(Box<[u8]>),
    /// A parameter that its receiver did not know (8), with type and length.
    Unrecognized(Box<[u8]>),
    /// The cookie preservative (9) asks for more life for the cookie, in ms.
    CookiePreservative(u32),
    /// A host name in place of an address (11); it is deprecated, a receiver aborts.
    HostName(Box<[u8]>),
    /// The types of addresses that the sender can use (12): 5 for IPv4, 6 for IPv6.
    SupportedAddressTypes(Vec<u16>),
    /// The outgoing SSN reset request (13, RFC 6525 §4.1) says that the sender counts streams from
    /// 0 again; no stream means all.
    OutgoingReset {
        /// `request` is the request sequence number: one more for each request of the sender.
        request: Serial32,
        /// `response` is the number of the peer's request that this one answers; else the last that
        /// came of it (RFC 6525 §4.1).
        response: Serial32,
        /// `last_tsn` is the sender's last assigned TSN: the reset counts for what comes after it.
        last_tsn: Serial32,
        /// `streams` are the identifiers of the streams that are reset.
        streams: Vec<u16>,
    },
    /// The incoming SSN reset request (14, RFC 6525 §4.2) asks the peer to reset its streams; no
    /// stream means all.
    IncomingReset {
        /// `request` is the request sequence number: one more for each request of the sender.
        request: Serial32,
        /// `streams` are the identifiers of the peer's streams that it should reset.
        streams: Vec<u16>,
    },
    /// The SSN/TSN reset request (15, RFC 6525 §4.3) asks for new TSNs, and all streams from 0, on
    /// both sides.
    TsnReset {
        /// `request` is the request sequence number: one more for each request of the sender.
        request: Serial32,
    },
    /// The re-configuration response (16, RFC 6525 §4.4) answers one request.
    ReconfigResponse {
        /// `response` is the sequence number of the request that is answered.
        response: Serial32,
        /// `result` is the result code: 0 and 1 for success, 6 for "in progress", others for
        /// refusals.
        result: u32,
        /// `next_tsns` are the sender's and the receiver's next TSN, after a reset of both.
        next_tsns: Option<(Serial32, Serial32)>,
    },
    /// A request for more streams, outgoing (17) or incoming (18) (RFC 6525 §4.5, §4.6).
    AddStreams {
        /// `outgoing` says that the streams are outgoing, seen from the sender.
        outgoing: bool,
        /// `request` is the request sequence number: one more for each request of the sender.
        request: Serial32,
        /// `count` is how many streams are to be added.
        count: u16,
    },
    /// The sender is ECN-capable (0x8000, RFC 4960 Appendix A).
    EcnCapable,
    /// The sender takes packets with a checksum of zero where this method detects their errors, an
    /// EDMID (0x8001, RFC 9653 §4).
    ZeroChecksumAcceptable(u32),
    /// The sender's random number, which becomes part of the keys (0x8002, RFC 4895 §3.1).
    Random(Box<[u8]>),
    /// The chunk types that the sender accepts only when authenticated (0x8003, RFC 4895 §3.2).
    ChunkList(Box<[u8]>),
    /// The identifiers of the HMACs that the sender supports (0x8004, RFC 4895 §3.3).
    HmacAlgorithms(Vec<u16>),
    /// Padding of that many octets (0x8005, RFC 4820 §4).
    Padding(u16),
    /// The chunk types of the extensions that the sender supports (0x8008, RFC 5061 §4.2.7).
    SupportedExtensions(Box<[u8]>),
    /// The sender supports FORWARD-TSN (0xC000, RFC 3758 §3.1).
    ForwardTsnSupported,
    /// A request to add (0xC001) or delete (0xC002) an address, or to make it the primary (0xC004)
    /// (RFC 5061 §4.2). With a host name in place of the address it is [`Parameter::Unknown`].
    ChangeAddress {
        /// `change` is which of the three is asked for.
        change: AddressChange,
        /// `correlation` is the request's number within its ASCONF, which the answer repeats.
        correlation: u32,
        /// `address` is the one that is to be added, deleted or made the primary.
        address: Address,
    },
    /// A request of an ASCONF has failed (0xC003, RFC 5061 §4.2.3).
    ErrorIndication {
        /// `correlation` is the number of the request that has failed.
        correlation: u32,
        /// `causes` say why the request has failed.
        causes: Vec<Cause>,
    },
    /// A request of an ASCONF was carried out (0xC005, RFC 5061 §4.2.5).
    SuccessIndication {
        /// `correlation` is the number of the request that was carried out.
        correlation: u32,
    },
    /// The adaptation layer's indication, which SCTP hands to its user (0xC006, RFC 5061 §4.2.6).
    Adaptation(u32),
    /// The type has no value of its own here.
    Unknown {
        /// `kind` is the type, whose two highest bits say what a receiver does.
        kind: u16,
        /// `value` is what follows type and length, without padding.
        value: Box<[u8]>,
    },
    /// What comes from a broken parameter on, as
    /// [`SctpPacket::parse_tolerant`](super::SctpPacket::parse_tolerant) finds it.
    Malformed(Box<[u8]>),
}

/// `EDMID_DTLS` is the error detection method of SCTP over DTLS (RFC 9653 §6, §8).
pub const EDMID_DTLS: u32 = 1;

/// `HOST_NAME` is the type of a host name in place of an address.
const HOST_NAME: u16 = 11;

/// `AddressChange` is what a request of an ASCONF asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressChange {
    /// The address becomes one of the association (RFC 5061 §4.2.1).
    Add,
    /// The address is one of the association no longer (RFC 5061 §4.2.2).
    Delete,
    /// The peer sends to the address as its primary (RFC 5061 §4.2.4).
    SetPrimary,
}

impl AddressChange {
    const fn kind(self) -> u16 {
        match self {
            AddressChange::Add => 0xc001,
            AddressChange::Delete => 0xc002,
            AddressChange::SetPrimary => 0xc004,
        }
    }
}

impl Parameter {
    /// Returns what a receiver does that does not know a parameter of this type (RFC 9260 §3.2.1).
    pub const fn action_on_unknown(kind: u16) -> UnknownAction {
        UnknownAction::from_bits(kind >> 14)
    }

    pub(super) fn emit<S: Sink>(&self, sink: &mut S) {
        use Parameter as P;
        match self {
            P::Address(address) => emit_address(sink, *address),
            P::StateCookie(octets) => sink.tlv(7, |s| s.put(octets)),
            P::Unrecognized(octets) => sink.tlv(8, |s| s.put(octets)),
            P::CookiePreservative(ms) => sink.tlv(9, |s| s.u32(*ms)),
            P::HostName(octets) => sink.tlv(HOST_NAME, |s| s.put(octets)),
            P::SupportedAddressTypes(types) => {
                sink.tlv(12, |s| types.iter().for_each(|t| s.u16(*t)))
            }
            P::OutgoingReset { request, response, last_tsn, streams } => sink.tlv(13, |s| {
                [request, response, last_tsn].iter().for_each(|n| s.u32(n.0));
                streams.iter().for_each(|n| s.u16(*n));
            }),
            P::IncomingReset { request, streams } => sink.tlv(14, |s| {
                s.u32(request.0);
                streams.iter().for_each(|n| s.u16(*n));
            }),
            P::TsnReset { request } => sink.tlv(15, |s| s.u32(request.0)),
            P::ReconfigResponse { response, result, next_tsns } => sink.tlv(16, |s| {
                s.u32(response.0);
                s.u32(*result);
                if let Some((sender, receiver)) = next_tsns {
                    s.u32(sender.0);
                    s.u32(receiver.0);
                }
            }),
            P::AddStreams { outgoing, request, count } => {
                sink.tlv(if *outgoing { 17 } else { 18 }, |s| {
                    s.u32(request.0);
                    s.u16(*count);
                    s.u16(0);
                });
            }
            P::EcnCapable => sink.tlv(0x8000, |_| ()),
            P::ZeroChecksumAcceptable(method) => sink.tlv(0x8001, |s| s.u32(*method)),
            P::Random(octets) => sink.tlv(0x8002, |s| s.put(octets)),
            P::ChunkList(octets) => sink.tlv(0x8003, |s| s.put(octets)),
            P::HmacAlgorithms(ids) => sink.tlv(0x8004, |s| ids.iter().for_each(|id| s.u16(*id))),
            P::Padding(len) => sink.tlv(0x8005, |s| (0..*len).for_each(|_| s.u8(0))),
            P::SupportedExtensions(octets) => sink.tlv(0x8008, |s| s.put(octets)),
            P::ForwardTsnSupported => sink.tlv(0xc000, |_| ()),
            P::ChangeAddress { change, correlation, address } => sink.tlv(change.kind(), |s| {
                s.u32(*correlation);
                emit_address(s, *address);
            }),
            P::ErrorIndication { correlation, causes } => sink.tlv(0xc003, |s| {
                s.u32(*correlation);
                causes.iter().for_each(|cause| cause.emit(s));
            }),
            P::SuccessIndication { correlation } => sink.tlv(0xc005, |s| s.u32(*correlation)),
            P::Adaptation(value) => sink.tlv(0xc006, |s| s.u32(*value)),
            P::Unknown { kind, value } => sink.tlv(*kind, |s| s.put(value)),
            P::Malformed(octets) => {
                sink.pad();
                sink.put(octets);
            }
        }
    }

    fn parse(kind: u16, r: &mut Reader<'_>, book: &AddressBook) -> Result<Parameter, SctpError> {
        use Parameter as P;
        let change = |change, r: &mut Reader<'_>| {
            let mut whole = *r;
            let correlation = r.u32()?;
            let (inner, mut value) = r.tlv(SctpError::parameter)?;
            if inner == HOST_NAME {
                return Ok(P::Unknown { kind, value: whole.boxed() });
            }
            let kind = inner;
            let address = parse_address(kind, &mut value, book)?;
            Ok(P::ChangeAddress { change, correlation, address })
        };
        Ok(match kind {
            5 | 6 => P::Address(parse_address(kind, r, book)?),
            7 => P::StateCookie(r.boxed()),
            8 => P::Unrecognized(r.boxed()),
            9 => P::CookiePreservative(r.u32()?),
            HOST_NAME => P::HostName(r.boxed()),
            12 => P::SupportedAddressTypes(r.u16s()?),
            13 => P::OutgoingReset {
                request: r.serial()?,
                response: r.serial()?,
                last_tsn: r.serial()?,
                streams: r.u16s()?,
            },
            14 => P::IncomingReset { request: r.serial()?, streams: r.u16s()? },
            15 => P::TsnReset { request: r.serial()? },
            16 => P::ReconfigResponse {
                response: r.serial()?,
                result: r.u32()?,
                next_tsns: match r.is_empty() {
                    true => None,
                    false => Some((r.serial()?, r.serial()?)),
                },
            },
            17 | 18 => {
                P::AddStreams { outgoing: kind == 17, request: r.serial()?, count: r.u16()? }
            }
            0x8000 => P::EcnCapable,
            // One of another length is none (RFC 9653 §4), and skipped as its type has it.
            0x8001 if r.len() == 4 => P::ZeroChecksumAcceptable(r.u32()?),
            0x8002 => P::Random(r.boxed()),
            0x8003 => P::ChunkList(r.boxed()),
            0x8004 => P::HmacAlgorithms(r.u16s()?),
            0x8005 => P::Padding(r.rest().len() as u16),
            0x8008 => P::SupportedExtensions(r.boxed()),
            0xc000 if !r.is_empty() => return r.error(), // it has no value
            0xc000 => P::ForwardTsnSupported,
            0xc001 => change(AddressChange::Add, r)?,
            0xc002 => change(AddressChange::Delete, r)?,
            0xc003 => {
                P::ErrorIndication { correlation: r.u32()?, causes: cause::parse_all(r, book)? }
            }
            0xc004 => change(AddressChange::SetPrimary, r)?,
            0xc005 => P::SuccessIndication { correlation: r.u32()? },
            0xc006 => P::Adaptation(r.u32()?),
            _ => P::Unknown { kind, value: r.boxed() },
        })
    }
}

/// Reads all parameters up to the end of `r`.
pub(super) fn parse_all(
    r: &mut Reader<'_>,
    book: &AddressBook,
) -> Result<Vec<Parameter>, SctpError> {
    let mut parameters = Vec::new();
    while !r.is_empty() {
        parameters.push(parse_one(r, book)?);
    }
    Ok(parameters)
}

/// Reads all parameters; from the first broken one on as octets.
pub(super) fn parse_tolerant(r: &mut Reader<'_>, book: &AddressBook) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    while !r.is_empty() {
        let before = *r;
        parameters.push(parse_one(r, book).unwrap_or_else(|_| {
            let mut rest = before;
            r.rest();
            Parameter::Malformed(rest.boxed())
        }));
    }
    parameters
}

/// Reads the parameters inside a cause: those with addresses are values, others stay octets, so
/// that what is read does not nest. From the first broken one on they are octets too.
pub(super) fn parse_flat(r: &mut Reader<'_>, book: &AddressBook) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    while !r.is_empty() {
        let mut rest = *r;
        let parameter = r.tlv(SctpError::parameter).and_then(|(kind, mut value)| match kind {
            5 | 6 | 0xc001 | 0xc002 | 0xc004 => Parameter::parse(kind, &mut value, book),
            _ => Ok(Parameter::Unknown { kind, value: value.boxed() }),
        });
        parameters.push(parameter.unwrap_or_else(|_| {
            r.rest();
            Parameter::Malformed(rest.boxed())
        }));
    }
    parameters
}

/// Reads the next parameter, with its padding.
pub(super) fn parse_one(r: &mut Reader<'_>, book: &AddressBook) -> Result<Parameter, SctpError> {
    let (kind, mut value) = r.tlv(SctpError::parameter)?;
    Parameter::parse(kind, &mut value, book)
}

fn emit_address<S: Sink>(sink: &mut S, address: Address) {
    match sink.resolve(address) {
        IpAddr::V4(ip) => sink.tlv(5, |s| s.put(&ip.octets())),
        IpAddr::V6(ip) => sink.tlv(6, |s| s.put(&ip.octets())),
    }
}

fn parse_address(kind: u16, r: &mut Reader<'_>, book: &AddressBook) -> Result<Address, SctpError> {
    let ip: IpAddr = match (kind, r.rest()) {
        (5, [a, b, c, d]) => [*a, *b, *c, *d].into(),
        (6, octets) => match <[u8; 16]>::try_from(octets) {
            Ok(octets) => octets.into(),
            Err(_) => return r.error(),
        },
        _ => return r.error(),
    };
    Ok(book.addr(ip).map_or(Address::Ip(ip), Address::Number))
}
