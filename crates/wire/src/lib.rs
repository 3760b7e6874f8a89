//! Packets: plain values that engines and the simulator handle, and the octets
//! that they become at the edges (TUN ports, pcapng files, the checking link).
//!
//! Every field that a transport protocol has on the wire is in the value. What
//! the values leave out of IP: options of IPv4 (RFC 791), the flow label and the
//! walk over extension headers of IPv6 (RFC 8200), and fragments: a packet that
//! IP may cut says so, links charge it for the headers of its fragments, and it
//! stays one value. The engines set no IP option.
//!
//! ```
//! use anabranch_wire::{Addr, AddressBook, Body, Packet, Payload};
//!
//! let book = AddressBook::new();
//! let body = Body::Other { protocol: 253, payload: Payload::of_octets(*b"hello") };
//! let packet = Packet::new(Addr(0), Addr(1), body);
//! let mut octets = Vec::new();
//! packet.emit(&book, &mut octets)?;
//! assert_eq!(octets.len() as u64, packet.wire_len().0);
//! assert_eq!(Packet::parse(&octets, &book)?, packet);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod address;
pub mod checksum;
mod codec;
pub mod error;
pub mod icmp;
pub mod ipv4;
pub mod ipv6;
pub mod offload;
pub mod packet;
pub mod pattern;
pub mod pcapng;
pub mod redundancy;
pub mod sctp;
pub mod tcp;
pub mod udp;

pub use address::AddressBook;
pub use error::{EmitError, ParseError};
pub use icmp::{Icmp, IcmpKind, Quote};
pub use packet::{Addr, Body, Ecn, FlowKey, Packet, Payload};
pub use sctp::SctpPacket;
pub use tcp::{
    AccEcn, AccEcnOrder, FastOpenCookie, FastOpenOption, RareOptions, SackBlock, SackBlocks,
    TcpFlags, TcpOptions, TcpSegment, Timestamps,
};
pub use udp::UdpDatagram;
