//! Chunks (RFC 9260 §3.2): which there are, and their common header.
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Chunk Type  |  Chunk Flags  |         Chunk Length          |
//! |                          Chunk Value                          |
//! ```
//!
//! Flags that no standard defines are not kept, nor is padding; octets after
//! the fields of a chunk of fixed length are ignored.

use super::cause::{self, Cause};
use super::data::{DataChunk, IDataChunk};
use super::init::InitChunk;
use super::packet::SctpError;
use super::parameter::{self, Parameter, UnknownAction};
use super::sack::{ForwardTsn, IForwardTsn, SackChunk};
use super::tlv::{Count, Reader, Sink};
use crate::address::AddressBook;
use anabranch_units::Serial32;

/// `Chunk` is a chunk as a value; its type is in brackets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chunk {
    /// DATA (0) carries a message or a fragment of one (RFC 9260 §3.3.1).
    Data(DataChunk),
    /// INIT (1) asks for an association (RFC 9260 §3.3.2).
    Init(Box<InitChunk>),
    /// INIT ACK (2) answers INIT with a state cookie (RFC 9260 §3.3.3).
    InitAck(Box<InitChunk>),
    /// SACK (3) acknowledges DATA (RFC 9260 §3.3.4).
    Sack(SackChunk),
    /// HEARTBEAT (4) has information that only its sender understands. With other parameters behind
    /// that it is [`Chunk::Unknown`], and so is HEARTBEAT ACK.
    Heartbeat(Box<[u8]>),
    /// HEARTBEAT ACK (5) returns the information of the HEARTBEAT.
    HeartbeatAck(Box<[u8]>),
    /// ABORT (6) ends the association at once (RFC 9260 §3.3.7).
    Abort {
        /// `reflected` is the T bit: the tag is the receiver's own, reflected, since the sender
        /// knows no other (RFC 9260 §8.5.1).
        reflected: bool,
        /// `causes` say why the association ends; there may be none.
        causes: Vec<Cause>,
    },
    /// SHUTDOWN (7): everything up to this TSN has been received.
    Shutdown(Serial32),
    /// SHUTDOWN ACK (8) says that its sender, too, has nothing outstanding (RFC 9260 §3.3.9).
    ShutdownAck,
    /// ERROR (9) reports causes that need not end the association (RFC 9260 §3.3.10).
    Error(Vec<Cause>),
    /// COOKIE ECHO (10) returns the state cookie of INIT ACK (RFC 9260 §3.3.11).
    CookieEcho(Box<[u8]>),
    /// COOKIE ACK (11) says that the cookie was taken (RFC 9260 §3.3.12).
    CookieAck,
    /// ECNE (12) reports a mark, by the lowest TSN of the packet that had it (RFC 4960 Appendix A).
    Ecne(Serial32),
    /// CWR (13) says that the window was reduced, by the TSN of the ECNE that caused it (RFC 4960
    /// Appendix A).
    Cwr(Serial32),
    /// SHUTDOWN COMPLETE (14) answers SHUTDOWN ACK, and the association is over (RFC 9260 §3.3.13).
    ShutdownComplete {
        /// `reflected` is the T bit: the tag is the receiver's own, reflected, since the sender
        /// knows no other (RFC 9260 §8.5.1).
        reflected: bool,
    },
    /// AUTH (15) authenticates the chunks behind it in the packet (RFC 4895 §5.1).
    Auth {
        /// `key` is the identifier of the shared key, under which both sides have it.
        key: u16,
        /// `algorithm` is the identifier of the HMAC, such as 1 for SHA-1 and 3 for SHA-256 (RFC
        /// 4895 §3.3).
        algorithm: u16,
        /// `hmac` is the HMAC itself, as long as the algorithm makes it.
        hmac: Box<[u8]>,
    },
    /// I-DATA (64) carries a fragment, between which those of other messages may stand (RFC 8260
    /// §2.1).
    IData(IDataChunk),
    /// ASCONF-ACK (128) answers an ASCONF (RFC 5061 §4.1.2).
    AsconfAck {
        /// `serial` is the sequence number of the ASCONF that is answered.
        serial: Serial32,
        /// `parameters` are the answers, each with the correlation ID of its request.
        parameters: Vec<Parameter>,
    },
    /// RE-CONFIG (130) has requests about streams, or answers to them (RFC 6525 §3.1).
    Reconfig(Vec<Parameter>),
    /// PAD (132) makes the packet longer, by this many octets and its header (RFC 4820 §3).
    Pad(u16),
    /// FORWARD-TSN (192) skips messages that the sender has given up (RFC 3758 §3.2).
    ForwardTsn(ForwardTsn),
    /// ASCONF (193) asks for changes of addresses (RFC 5061 §4.1.1).
    Asconf {
        /// `serial` is the sequence number, which the answer repeats.
        serial: Serial32,
        /// `parameters` begin with an address of the association; the requests follow it.
        parameters: Vec<Parameter>,
    },
    /// I-FORWARD-TSN (194) is FORWARD-TSN for messages in I-DATA (RFC 8260 §2.3.1).
    IForwardTsn(IForwardTsn),
    /// The type has no value of its own here; its two highest bits say what a receiver does (RFC
    /// 9260 §3.2).
    Unknown {
        /// `kind` is the chunk type, the first octet.
        kind: u8,
        /// `flags` is the second octet, as it came.
        flags: u8,
        /// `value` is what follows the chunk header, without padding.
        value: Box<[u8]>,
    },
    /// A chunk whose fields do not fit its length, as
    /// [`SctpPacket::parse_tolerant`](super::SctpPacket::parse_tolerant) finds it.
    Malformed {
        /// `kind` is the chunk type, the first octet.
        kind: u8,
        /// `octets` are those of the chunk, with type, flags and length.
        octets: Box<[u8]>,
        /// `truncated` says that the length is beyond the packet.
        truncated: bool,
    },
}

/// `HEARTBEAT_INFO` is the type of the parameter inside HEARTBEAT (RFC 9260 §3.3.5).
const HEARTBEAT_INFO: u16 = 1;

/// Writes the types of chunks and their names, a line each: the one place where a number stands.
macro_rules! kinds {
    ($($pattern:pat => $constant:ident = $kind:literal $name:literal,)*) => {
        /// Types of chunks, by their names in the standards (IANA registry "Chunk Types").
        pub mod kind {
            $(
                #[doc = concat!("The type of ", $name, ".")]
                pub const $constant: u8 = $kind;
            )*
        }

        impl Chunk {
            /// The types that have a value of their own, with their names in the standards.
            pub const KINDS: &'static [(u8, &'static str)] = &[$(($kind, $name)),*];

            /// Returns the chunk's type, its first octet on the wire.
            pub const fn kind(&self) -> u8 {
                match self {
                    $($pattern => $kind,)*
                    Chunk::Unknown { kind, .. } | Chunk::Malformed { kind, .. } => *kind,
                }
            }
        }
    };
}

kinds! {
    Chunk::Data(_) => DATA = 0 "DATA",
    Chunk::Init(_) => INIT = 1 "INIT",
    Chunk::InitAck(_) => INIT_ACK = 2 "INIT ACK",
    Chunk::Sack(_) => SACK = 3 "SACK",
    Chunk::Heartbeat(_) => HEARTBEAT = 4 "HEARTBEAT",
    Chunk::HeartbeatAck(_) => HEARTBEAT_ACK = 5 "HEARTBEAT ACK",
    Chunk::Abort { .. } => ABORT = 6 "ABORT",
    Chunk::Shutdown(_) => SHUTDOWN = 7 "SHUTDOWN",
    Chunk::ShutdownAck => SHUTDOWN_ACK = 8 "SHUTDOWN ACK",
    Chunk::Error(_) => ERROR = 9 "ERROR",
    Chunk::CookieEcho(_) => COOKIE_ECHO = 10 "COOKIE ECHO",
    Chunk::CookieAck => COOKIE_ACK = 11 "COOKIE ACK",
    Chunk::Ecne(_) => ECNE = 12 "ECNE",
    Chunk::Cwr(_) => CWR = 13 "CWR",
    Chunk::ShutdownComplete { .. } => SHUTDOWN_COMPLETE = 14 "SHUTDOWN COMPLETE",
    Chunk::Auth { .. } => AUTH = 15 "AUTH",
    Chunk::IData(_) => I_DATA = 64 "I-DATA",
    Chunk::AsconfAck { .. } => ASCONF_ACK = 128 "ASCONF-ACK",
    Chunk::Reconfig(_) => RE_CONFIG = 130 "RE-CONFIG",
    Chunk::Pad(_) => PAD = 132 "PAD",
    Chunk::ForwardTsn(_) => FORWARD_TSN = 192 "FORWARD-TSN",
    Chunk::Asconf { .. } => ASCONF = 193 "ASCONF",
    Chunk::IForwardTsn(_) => I_FORWARD_TSN = 194 "I-FORWARD-TSN",
}

impl Chunk {
    /// Returns the name of the type in the standards; `None` where it has no value of its own.
    pub fn name(&self) -> Option<&'static str> {
        Chunk::KINDS.iter().find(|(kind, _)| *kind == self.kind()).map(|(_, name)| *name)
    }

    /// Returns whether the chunk must be alone in its packet (RFC 9260 §4.3: INIT, INIT ACK,
    /// SHUTDOWN COMPLETE).
    pub const fn is_solitary(&self) -> bool {
        matches!(self, Chunk::Init(_) | Chunk::InitAck(_) | Chunk::ShutdownComplete { .. })
    }

    /// Returns what a receiver does that does not know a chunk of this type (RFC 9260 §3.2).
    pub const fn action_on_unknown(kind: u8) -> UnknownAction {
        UnknownAction::from_bits((kind >> 6) as u16)
    }

    /// Returns how many octets the chunk has on the wire, padding included.
    pub fn wire_len(&self) -> u32 {
        if let Chunk::Data(data) = self {
            return (DataChunk::HEADER + data.payload.len()).next_multiple_of(4);
        }
        match self {
            Chunk::IData(data) => (IDataChunk::HEADER + data.payload.len()).next_multiple_of(4),
            Chunk::Sack(sack) => {
                SackChunk::HEADER + 4 * (sack.gaps.len() + sack.duplicates.len()) as u32
            }
            _ => {
                let mut count = Count::default();
                self.emit(&mut count);
                count.len() as u32
            }
        }
    }

    const fn flags(&self) -> u8 {
        match self {
            Chunk::Data(data) => data.flags.defined().0,
            Chunk::IData(data) => data.flags.defined().0,
            Chunk::Sack(sack) => sack.packets << 6,
            Chunk::Abort { reflected, .. } | Chunk::ShutdownComplete { reflected } => {
                *reflected as u8
            }
            Chunk::Unknown { flags, .. } => *flags,
            _ => 0,
        }
    }

    pub(super) fn emit<S: Sink>(&self, s: &mut S) {
        let start = s.len();
        if let Chunk::Malformed { octets, .. } = self {
            s.put(octets);
            // One whose length is impossible is the rest of its packet, which ends with it.
            let stated =
                octets.get(2..4).map(|len| usize::from(u16::from_be_bytes([len[0], len[1]])));
            if stated == Some(octets.len()) {
                s.pad();
            }
            return;
        }
        s.u8(self.kind());
        s.u8(self.flags());
        s.u16(0);
        self.emit_value(s);
        s.set_length(start + 2, s.len() - start);
        s.pad();
    }

    fn emit_value<S: Sink>(&self, s: &mut S) {
        match self {
            Chunk::Data(data) => data.emit(s),
            Chunk::Init(init) | Chunk::InitAck(init) => init.emit(s),
            Chunk::Sack(sack) => sack.emit(s),
            Chunk::Heartbeat(info) | Chunk::HeartbeatAck(info) => {
                s.tlv(HEARTBEAT_INFO, |s| s.put(info));
            }
            Chunk::Abort { causes, .. } | Chunk::Error(causes) => {
                causes.iter().for_each(|cause| cause.emit(s));
            }
            Chunk::Shutdown(tsn) | Chunk::Ecne(tsn) | Chunk::Cwr(tsn) => s.u32(tsn.0),
            Chunk::ShutdownAck | Chunk::CookieAck | Chunk::ShutdownComplete { .. } => {}
            Chunk::CookieEcho(octets)
            | Chunk::Unknown { value: octets, .. }
            | Chunk::Malformed { octets, .. } => s.put(octets),
            Chunk::Auth { key, algorithm, hmac } => {
                s.u16(*key);
                s.u16(*algorithm);
                s.put(hmac);
            }
            Chunk::IData(data) => data.emit(s),
            Chunk::Asconf { serial, parameters } | Chunk::AsconfAck { serial, parameters } => {
                s.u32(serial.0);
                parameters.iter().for_each(|parameter| parameter.emit(s));
            }
            Chunk::Reconfig(parameters) => parameters.iter().for_each(|p| p.emit(s)),
            Chunk::Pad(len) => (0..*len).for_each(|_| s.u8(0)),
            Chunk::ForwardTsn(forward) => forward.emit(s),
            Chunk::IForwardTsn(forward) => forward.emit(s),
        }
    }

    /// Reads the value as [`Chunk::parse`] does, but INIT and INIT ACK may have broken parameters.
    pub(super) fn parse_tolerant(
        kind: u8,
        flags: u8,
        mut r: Reader<'_>,
        book: &AddressBook,
    ) -> Result<Chunk, SctpError> {
        match kind {
            kind::INIT => Ok(Chunk::Init(Box::new(InitChunk::parse_tolerant(&mut r, book)?))),
            kind::INIT_ACK => {
                Ok(Chunk::InitAck(Box::new(InitChunk::parse_tolerant(&mut r, book)?)))
            }
            _ => Chunk::parse(kind, flags, &mut r, book),
        }
    }

    /// Reads the value of a chunk of type `kind`.
    pub(super) fn parse(
        kind: u8,
        flags: u8,
        r: &mut Reader<'_>,
        book: &AddressBook,
    ) -> Result<Chunk, SctpError> {
        Ok(match kind {
            kind::DATA => Chunk::Data(DataChunk::parse(flags, r)?),
            kind::INIT => Chunk::Init(Box::new(InitChunk::parse(r, book)?)),
            kind::INIT_ACK => Chunk::InitAck(Box::new(InitChunk::parse(r, book)?)),
            kind::SACK => Chunk::Sack(SackChunk::parse(flags, r)?),
            kind::HEARTBEAT | kind::HEARTBEAT_ACK => heartbeat(kind, flags, r)?,
            kind::ABORT => {
                Chunk::Abort { reflected: flags & 1 == 1, causes: cause::parse_all(r, book)? }
            }
            kind::SHUTDOWN => Chunk::Shutdown(r.serial()?),
            kind::SHUTDOWN_ACK => Chunk::ShutdownAck,
            kind::ERROR => Chunk::Error(cause::parse_all(r, book)?),
            kind::COOKIE_ECHO => Chunk::CookieEcho(r.boxed()),
            kind::COOKIE_ACK => Chunk::CookieAck,
            kind::ECNE => Chunk::Ecne(r.serial()?),
            kind::CWR => Chunk::Cwr(r.serial()?),
            kind::SHUTDOWN_COMPLETE => Chunk::ShutdownComplete { reflected: flags & 1 == 1 },
            kind::AUTH => Chunk::Auth { key: r.u16()?, algorithm: r.u16()?, hmac: r.boxed() },
            kind::I_DATA => Chunk::IData(IDataChunk::parse(flags, r)?),
            kind::ASCONF_ACK => {
                Chunk::AsconfAck { serial: r.serial()?, parameters: parameter::parse_all(r, book)? }
            }
            kind::RE_CONFIG => Chunk::Reconfig(parameter::parse_all(r, book)?),
            kind::PAD => Chunk::Pad(r.rest().len() as u16),
            kind::FORWARD_TSN => Chunk::ForwardTsn(ForwardTsn::parse(r)?),
            kind::ASCONF => {
                Chunk::Asconf { serial: r.serial()?, parameters: parameter::parse_all(r, book)? }
            }
            kind::I_FORWARD_TSN => Chunk::IForwardTsn(IForwardTsn::parse(r)?),
            _ => Chunk::Unknown { kind, flags, value: r.boxed() },
        })
    }
}

/// HEARTBEAT or HEARTBEAT ACK. One with parameters behind its information is kept as it is, since
/// its answer has all of them (RFC 9260 §8.3).
fn heartbeat(kind: u8, flags: u8, r: &mut Reader<'_>) -> Result<Chunk, SctpError> {
    let mut whole = *r;
    let mut info = match r.tlv(SctpError::parameter)? {
        (HEARTBEAT_INFO, info) => info,
        (_, info) => return info.error(),
    };
    if !r.is_empty() {
        return Ok(Chunk::Unknown { kind, flags, value: whole.boxed() });
    }
    Ok(match kind {
        kind::HEARTBEAT => Chunk::Heartbeat(info.boxed()),
        _ => Chunk::HeartbeatAck(info.boxed()),
    })
}
