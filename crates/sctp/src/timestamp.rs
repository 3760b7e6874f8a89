//! The timestamp chunk of Caro et al. ("Retransmission policies with transport layer multihoming",
//! ICON 2003; Computer Communications 29(10), 2006) lets retransmissions be timed: each packet with
//! data carries the date of its departure, and the SACK that it causes echoes it, so that a
//! retransmission gives an unambiguous RTT sample.
//!
//! The papers give no octets. Here both are chunks of unassigned types whose
//! highest bits are 10, so that a peer that does not know them skips them:
//! 0xA8 with eight octets (nanoseconds, the path in the highest eight bits),
//! and 0xA9 with the same eight octets in the other direction. The echo is of
//! the oldest packet that the SACK acknowledges, as in RFC 7323 §4.3.

use anabranch_units::{Span, Time};
use anabranch_wire::sctp::Chunk;

/// `KIND` is the chunk type of the timestamp.
pub(crate) const KIND: u8 = 0xa8;
/// `ECHO` is the chunk type of the echo.
pub(crate) const ECHO: u8 = 0xa9;
/// Either chunk has this many octets.
pub(crate) const CHUNK: u32 = 12;

/// Returns the timestamp chunk of a packet that leaves at `now` on `path`.
pub(crate) fn stamp(now: Time, path: u8) -> Chunk {
    let value = (now.as_nanos() & ((1 << 56) - 1)) | (path as u64) << 56;
    Chunk::Unknown { kind: KIND, flags: 0, value: value.to_be_bytes().into() }
}

/// Returns the chunk that echoes a timestamp's value.
pub(crate) fn echo(value: u64) -> Chunk {
    Chunk::Unknown { kind: ECHO, flags: 0, value: value.to_be_bytes().into() }
}

/// Returns the value of either chunk; `None` unless it has eight octets.
pub(crate) fn value(octets: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(octets.try_into().ok()?))
}

/// Returns the path of an echo, and how long ago its packet was stamped; `None` for a date that
/// lies ahead of `now`.
pub(crate) fn sample(now: Time, value: u64) -> Option<(u8, Span)> {
    let then = value & ((1 << 56) - 1);
    let nanos = now.as_nanos().checked_sub(then)?;
    Some(((value >> 56) as u8, Span::from_nanos(nanos)))
}
