//! Packets of no association (RFC 9260 §8.4, §5.1): what a host answers that has
//! none and listens to none.

use super::{Cause, Chunk, SctpPacket, kind};

impl SctpPacket {
    /// The answer to a packet that belongs to no association, where nobody listens: an INIT is
    /// refused, a COOKIE ECHO is of no cookie of ours, all others as §8.4 has it. `None` where
    /// nothing is said.
    pub(crate) fn refusal(&self) -> Option<SctpPacket> {
        if self.zero_checksum {
            return None; // RFC 9653 §5.3: nobody here has said that it accepts that
        }
        let (tag, chunk) = match self.chunks.first()? {
            Chunk::Init(_) if self.tag != 0 || self.chunks.len() > 1 => return None,
            Chunk::Init(init) => (init.tag, Chunk::Abort { reflected: false, causes: Vec::new() }),
            Chunk::CookieEcho(_) => return None, // §5.1.5
            _ => (self.tag, self.out_of_the_blue()?),
        };
        if tag == 0 {
            return None;
        }
        Some(SctpPacket {
            src_port: self.dst_port,
            dst_port: self.src_port,
            tag,
            udp: self.udp.map(|(src, dst)| (dst, src)),
            zero_checksum: false, // §5.2 1b
            chunks: chunk.into(),
        })
    }

    /// Returns what a packet other than an INIT is answered with (§8.4).
    pub fn out_of_the_blue(&self) -> Option<Chunk> {
        if self.tag == 0 {
            return None; // §8.5.1 A: only an INIT has none
        }
        let stale = |cause: &Cause| matches!(cause, Cause::StaleCookie(_));
        for chunk in self.chunks.iter() {
            match chunk {
                Chunk::Abort { .. } | Chunk::ShutdownComplete { .. } | Chunk::CookieAck => {
                    return None;
                }
                // An ABORT is not answered, even a broken one (§3.3.7).
                Chunk::Malformed { truncated: true, .. }
                | Chunk::Malformed { kind: kind::ABORT, .. } => {
                    return None;
                }
                Chunk::Error(causes) if causes.iter().any(stale) => return None,
                _ => {}
            }
        }
        Some(match self.chunks.iter().any(|chunk| *chunk == Chunk::ShutdownAck) {
            true => Chunk::ShutdownComplete { reflected: true },
            false => Chunk::Abort { reflected: true, causes: Vec::new() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sctp::InitChunk;
    use crate::{Addr, Body, Packet};
    use anabranch_units::Serial32;

    fn answer(tag: u32, chunk: Chunk) -> Option<(u32, Chunk)> {
        let sctp = SctpPacket {
            src_port: 1,
            dst_port: 2,
            tag,
            udp: None,
            zero_checksum: false,
            chunks: chunk.into(),
        };
        let packet = Packet::new(Addr(7), Addr(8), Body::Sctp(Box::new(sctp)));
        let answer = packet.refusal()?;
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
        let broken = Chunk::Malformed { kind: 6, octets: [6, 0, 0, 5, 1].into(), truncated: false };
        let echo = Chunk::CookieEcho([1; 100].into());
        for silent in [abort(false), complete, Chunk::CookieAck, stale, broken, echo] {
            assert_eq!(answer(9, silent), None);
        }
    }
}
