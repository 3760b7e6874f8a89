//! Packets of no association (RFC 9260 §8.4, §5.1): what a host answers that has
//! none and listens to none.

use anabranch_wire::sctp::{Cause, Chunk, SctpPacket};
use anabranch_wire::{Body, Packet};

/// The answer to a packet that belongs to no association, where nobody listens:
/// an INIT is refused, all others as §8.4 has it. `None` where nothing is said.
pub fn refusal(packet: &Packet) -> Option<Packet> {
    let Body::Sctp(sctp) = &packet.body else { return None };
    let (tag, chunk) = match sctp.chunks.first()? {
        Chunk::Init(_) if sctp.tag != 0 || sctp.chunks.len() > 1 => return None,
        Chunk::Init(init) => (init.tag, Chunk::Abort { reflected: false, causes: Vec::new() }),
        _ => (sctp.tag, out_of_the_blue(sctp)?),
    };
    if tag == 0 {
        return None;
    }
    let answer = SctpPacket {
        src_port: sctp.dst_port,
        dst_port: sctp.src_port,
        tag,
        udp: sctp.udp.map(|(src, dst)| (dst, src)),
        chunks: chunk.into(),
    };
    Some(Packet::new(packet.dst, packet.src, Body::Sctp(Box::new(answer))))
}

/// What a packet other than an INIT is answered with (§8.4).
pub(crate) fn out_of_the_blue(sctp: &SctpPacket) -> Option<Chunk> {
    if sctp.tag == 0 {
        return None; // §8.5.1 A: only an INIT has none
    }
    let stale = |cause: &Cause| matches!(cause, Cause::StaleCookie(_));
    for chunk in sctp.chunks.iter() {
        match chunk {
            Chunk::Abort { .. } | Chunk::ShutdownComplete { .. } | Chunk::CookieAck => return None,
            Chunk::Malformed { truncated: true, .. } => return None,
            Chunk::Error(causes) if causes.iter().any(stale) => return None,
            _ => {}
        }
    }
    Some(match sctp.chunks.iter().any(|chunk| *chunk == Chunk::ShutdownAck) {
        true => Chunk::ShutdownComplete { reflected: true },
        false => Chunk::Abort { reflected: true, causes: Vec::new() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Serial32;
    use anabranch_wire::Addr;
    use anabranch_wire::sctp::InitChunk;

    fn answer(tag: u32, chunk: Chunk) -> Option<(u32, Chunk)> {
        let sctp = SctpPacket { src_port: 1, dst_port: 2, tag, udp: None, chunks: chunk.into() };
        let packet = Packet::new(Addr(7), Addr(8), Body::Sctp(Box::new(sctp)));
        let answer = refusal(&packet)?;
        assert_eq!((answer.src, answer.dst), (Addr(8), Addr(7)));
        let Body::Sctp(sctp) = answer.body else { panic!("no SCTP") };
        assert_eq!((sctp.src_port, sctp.dst_port), (2, 1));
        Some((sctp.tag, sctp.chunks.first().unwrap().clone()))
    }

    #[test]
    fn strangers_are_answered_as_the_rules_say() {
        let init = InitChunk {
            tag: 5,
            a_rwnd: 1500,
            outbound: 1,
            inbound: 1,
            tsn: Serial32(1),
            parameters: Vec::new(),
        };
        let abort = |reflected| Chunk::Abort { reflected, causes: Vec::new() };
        assert_eq!(answer(0, Chunk::Init(Box::new(init))), Some((5, abort(false))));
        assert_eq!(answer(9, Chunk::Shutdown(Serial32(0))), Some((9, abort(true))));
        let complete = Chunk::ShutdownComplete { reflected: true };
        assert_eq!(answer(9, Chunk::ShutdownAck), Some((9, complete.clone())));
        let stale = Chunk::Error(vec![Cause::StaleCookie(1)]);
        for silent in [abort(false), complete, Chunk::CookieAck, stale] {
            assert_eq!(answer(9, silent), None);
        }
    }
}
