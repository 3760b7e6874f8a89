//! What a packet says about the data of one direction, in the numbers of its
//! transport: octets of TCP, chunks (TSNs) of SCTP.

use anabranch_units::Serial32;
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Body, Packet, TcpFlags};

/// A run of data in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// First sequence number or TSN.
    pub first: Serial32,
    /// How many sequence numbers or TSNs it takes.
    pub span: u32,
    /// Octets of payload in it.
    pub len: u32,
}

/// The number of the first data that the sender of this packet will send, if
/// the packet opens a connection.
pub(super) fn opens(packet: &Packet) -> Option<Serial32> {
    match &packet.body {
        Body::Tcp(segment) => segment.flags.contains(TcpFlags::SYN).then(|| segment.seq.add(1)),
        Body::Sctp(sctp) => sctp.chunks.iter().find_map(|chunk| match chunk {
            Chunk::Init(init) | Chunk::InitAck(init) => Some(init.tsn),
            _ => None,
        }),
        Body::Icmp(_) | Body::Udp(_) | Body::Other { .. } => None,
    }
}

/// Calls `f` for each piece of data.
pub(super) fn pieces(packet: &Packet, mut f: impl FnMut(Piece)) {
    match &packet.body {
        Body::Tcp(segment) if !segment.payload.is_empty() => {
            let len = segment.payload.len();
            f(Piece { first: segment.first_data(), span: len, len });
        }
        Body::Sctp(sctp) => {
            for chunk in sctp.chunks.iter() {
                let (first, len) = match chunk {
                    Chunk::Data(data) => (data.tsn, data.payload.len()),
                    Chunk::IData(data) => (data.tsn, data.payload.len()),
                    _ => continue,
                };
                f(Piece { first, span: 1, len });
            }
        }
        Body::Tcp(_) | Body::Icmp(_) | Body::Udp(_) | Body::Other { .. } => {}
    }
}

/// The first number that is not acknowledged cumulatively.
pub(super) fn acknowledged(packet: &Packet) -> Option<Serial32> {
    match &packet.body {
        Body::Tcp(segment) => segment.flags.contains(TcpFlags::ACK).then_some(segment.ack),
        Body::Sctp(sctp) => sctp.chunks.iter().find_map(|chunk| match chunk {
            Chunk::Sack(sack) => Some(sack.cum_tsn.add(1)),
            _ => None,
        }),
        Body::Icmp(_) | Body::Udp(_) | Body::Other { .. } => None,
    }
}

/// Calls `f` with the first number and the length of each block that is
/// acknowledged selectively.
pub(super) fn blocks(packet: &Packet, mut f: impl FnMut(Serial32, u32)) {
    match &packet.body {
        Body::Tcp(segment) => {
            for block in segment.options.sack.as_slice() {
                f(block.left, block.right.0.wrapping_sub(block.left.0));
            }
        }
        Body::Sctp(sctp) => {
            for chunk in sctp.chunks.iter() {
                let Chunk::Sack(sack) = chunk else { continue };
                for gap in sack.gaps.iter().filter(|gap| gap.start <= gap.end) {
                    let span = u32::from(gap.end - gap.start) + 1;
                    f(sack.cum_tsn.add(gap.start.into()), span);
                }
            }
        }
        Body::Icmp(_) | Body::Udp(_) | Body::Other { .. } => {}
    }
}
