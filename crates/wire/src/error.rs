//! What can be wrong with octets that came in, and with a value that should
//! go out. Each is small, `Copy` and says which value was at fault.

use crate::ipv4::Ipv4Error;
use crate::ipv6::Ipv6Error;
use crate::offload::DeviceError;
use crate::packet::Addr;
use crate::sctp::SctpError;
use crate::tcp::TcpError;
use crate::udp::UdpError;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;

/// `ParseError` says why octets are not a packet, and which value was wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParseError {
    /// There are no octets, not even one with a version of IP.
    Empty,
    /// The version, in the high four bits of the first octet, is neither 4 nor 6.
    Version(u8),
    /// The IPv4 header is cut off, contradicts itself or has a wrong checksum.
    Ipv4(Ipv4Error),
    /// The IPv6 header is cut off or has another version, or the packet is shorter than it says.
    Ipv6(Ipv6Error),
    /// The packet is a fragment of an IPv4 datagram; nothing here reassembles.
    Fragment,
    /// The source or destination address stands for no number of the address book.
    UnknownAddress(IpAddr),
    /// The checksum of an ICMP message is wrong; over IPv6 it covers the pseudo header, too (RFC
    /// 4443 §2.3).
    IcmpChecksum,
    /// The TCP header, its options or its checksum are wrong.
    Tcp(TcpError),
    /// The SCTP common header, a chunk or the checksum is wrong, or the UDP datagram around the
    /// packet is.
    Sctp(SctpError),
    /// The UDP header, its length or its checksum is wrong.
    Udp(UdpError),
    /// The header that a TUN device sets before the packet is wrong, or does not fit the packet.
    Device(DeviceError),
}

impl From<Ipv4Error> for ParseError {
    fn from(error: Ipv4Error) -> ParseError {
        ParseError::Ipv4(error)
    }
}
impl From<Ipv6Error> for ParseError {
    fn from(error: Ipv6Error) -> ParseError {
        ParseError::Ipv6(error)
    }
}
impl From<TcpError> for ParseError {
    fn from(error: TcpError) -> ParseError {
        ParseError::Tcp(error)
    }
}
impl From<UdpError> for ParseError {
    fn from(error: UdpError) -> ParseError {
        ParseError::Udp(error)
    }
}
impl From<DeviceError> for ParseError {
    fn from(error: DeviceError) -> ParseError {
        ParseError::Device(error)
    }
}
impl From<SctpError> for ParseError {
    fn from(error: SctpError) -> ParseError {
        ParseError::Sctp(error)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Empty => f.write_str("an empty packet"),
            ParseError::Version(version) => write!(f, "IP version {version}, not 4 or 6"),
            ParseError::Ipv4(error) => write!(f, "IPv4: {error}"),
            ParseError::Ipv6(error) => write!(f, "IPv6: {error}"),
            ParseError::Fragment => f.write_str("a fragment of an IPv4 datagram"),
            ParseError::UnknownAddress(ip) => write!(f, "{ip} is not in the address book"),
            ParseError::IcmpChecksum => f.write_str("ICMP: wrong checksum"),
            ParseError::Tcp(error) => write!(f, "TCP: {error}"),
            ParseError::Sctp(error) => write!(f, "SCTP: {error}"),
            ParseError::Udp(error) => write!(f, "UDP: {error}"),
            ParseError::Device(error) => write!(f, "the header for the device: {error}"),
        }
    }
}
impl Error for ParseError {}

/// `EmitError` says why a value cannot be written as octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// The address book has no IP address for this number, be it of the packet or of one that ICMP
    /// quotes.
    UnknownAddress(Addr),
    /// Source and destination, in this order, are of different versions of IP.
    MixedFamilies(Addr, Addr),
    /// The length field of IP has 16 bits; this is what should have fitted.
    TooLong(u64),
    /// The TCP options have this many octets; there is room for 40 (RFC 9293 §3.1, Data Offset).
    OptionsTooLong(u64),
    /// [`RareOptions::unknown`](crate::RareOptions::unknown) is not a sequence
    /// of options (RFC 9293 §3.2).
    MalformedOptions,
    /// A value needs more bits than its field on the wire has.
    FieldRange {
        /// `field` is the name of the field, as the value's struct has it.
        field: &'static str,
        /// `value` is what does not fit.
        value: u32,
    },
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::UnknownAddress(addr) => {
                write!(f, "address {} is not in the address book", addr.0)
            }
            EmitError::MixedFamilies(src, dst) => {
                write!(f, "addresses {} and {} are of different IP versions", src.0, dst.0)
            }
            EmitError::TooLong(len) => write!(f, "{len} octets do not fit the IP length field"),
            EmitError::OptionsTooLong(len) => {
                write!(f, "{len} octets of TCP options; at most 40 fit")
            }
            EmitError::MalformedOptions => {
                f.write_str("unknown TCP options are not kind, length and value")
            }
            EmitError::FieldRange { field, value } => {
                write!(f, "{value} does not fit the field {field}")
            }
        }
    }
}
impl Error for EmitError {}
