//! The service that applications have of a transport: a stream of octets, how it ends, and
//! messages where the transport has them.

use crate::{Endpoint, MessageOriented};
use anabranch_units::Time;

/// Commands of a reliable byte stream. Lengths stand for octets determined by
/// their position in the stream, unless real octets are written.
pub trait ByteStream: Endpoint {
    /// Actively opens the connection.
    fn connect(&mut self, now: Time);

    /// Appends `len` octets that are only counted; returns how many were
    /// taken. A stream of counted octets has no buffer limit.
    fn write(&mut self, len: u64) -> u64;

    /// Appends real octets; returns how many fitted into the send buffer.
    /// A stream is of one kind: mixing with [`write`](Self::write) panics.
    fn write_octets(&mut self, octets: &[u8]) -> usize;

    /// Returns how many octets fit into the send buffer now at most, as far as that is known: what
    /// is beyond need not be made for [`write_octets`](Self::write_octets).
    fn room(&self) -> u64 {
        u64::MAX
    }

    /// Takes up to `max` octets that arrived in order; returns how many.
    /// Frees receive-buffer space.
    fn read(&mut self, max: u64) -> u64;

    /// Takes octets that arrived in order into `buf`; returns how many.
    /// Requires a peer that sent real octets; counted octets come as zeros.
    fn read_octets(&mut self, buf: &mut [u8]) -> usize;

    /// No more data from this side: the end of the stream follows the data
    /// already written.
    fn close(&mut self);

    /// Drops the connection at once and tells the peer.
    fn abort(&mut self);
}

/// How the two streams of a connection end: one by one, or together.
///
/// Applications ask before they close, while they still expect data.
pub trait HalfClose {
    /// True if what the peer writes after [`close`](ByteStream::close) still arrives, as in TCP
    /// (RFC 9293 §3.6). Not so in SCTP (RFC 9260 §1.5.1), whose applications close when they
    /// expect no more.
    fn has_half_close(&self) -> bool {
        true
    }
}

/// All that an application may ask of a transport (the transport service of RFC 8095 §1), whichever
/// transport that is.
pub trait Service: ByteStream + HalfClose + MessageOriented {}

impl<E: ByteStream + HalfClose + MessageOriented> Service for E {}
