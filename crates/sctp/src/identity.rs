//! Ports, verification tags, and the key of its cookies tell the packets of an association from
//! others (RFC 9260 §5.1.3, §5.3.1, §8.5).

use crate::cookie::Cookie;
use anabranch_endpoint::{Generator, mac};
use anabranch_units::Serial32;
use anabranch_wire::sctp::{Chunk, SctpPacket};

/// An `Identity` holds what tells packets of an association from others.
#[derive(Debug)]
pub(crate) struct Identity {
    /// `local_port` is this side's SCTP port.
    pub local_port: u16,
    /// `peer_port` is the peer's SCTP port.
    pub peer_port: u16,
    /// `local_tag` is the verification tag in the packets of the peer; it is 0 before there is one.
    pub local_tag: u32,
    /// `peer_tag` is the verification tag in the packets of this side; it is 0 before it is known.
    pub peer_tag: u32,
    /// `key` signs the cookies of this side.
    pub key: [u8; 32],
    /// `generator` draws tags, TSNs, nonces and jitter.
    pub generator: Generator,
}

impl Identity {
    /// `new` makes an identity without tags; its key is the first that is drawn from `generator`.
    pub fn new(local_port: u16, peer_port: u16, mut generator: Generator) -> Identity {
        let mut key = [0; 32];
        for octets in key.chunks_exact_mut(8) {
            octets.copy_from_slice(&generator.next_u64().to_be_bytes());
        }
        Identity { local_port, peer_port, local_tag: 0, peer_tag: 0, key, generator }
    }

    /// Draws a verification tag, which is never 0 (§5.3.1).
    pub fn random_tag(&mut self) -> u32 {
        self.generator.below(u32::MAX as u64) as u32 + 1
    }

    /// Draws an initial TSN.
    pub fn random_tsn(&mut self) -> Serial32 {
        Serial32(self.generator.next_u64() as u32)
    }

    /// Returns the two numbers that stand for both tags in a cookie (§5.2.2). They show neither tag
    /// to whoever reads the cookie, and only this association can make them.
    pub fn tie_tags(&self) -> (u32, u32) {
        let tags = [self.local_tag.to_be_bytes(), self.peer_tag.to_be_bytes()].concat();
        let mac = mac::hmac(&self.key, &tags);
        let word = |at: usize| u32::from_be_bytes([mac[at], mac[at + 1], mac[at + 2], mac[at + 3]]);
        (word(0), word(4))
    }

    /// Takes over the tags and the peer's port from the cookie.
    pub fn adopt(&mut self, cookie: &Cookie) {
        self.local_tag = cookie.local_tag;
        self.peer_tag = cookie.peer_tag;
        self.peer_port = cookie.peer_port;
    }

    /// Returns whether a packet has the tag that it must have (§8.5), with the exceptions of
    /// §8.5.1.
    pub fn is_tag_valid(&self, sctp: &SctpPacket) -> bool {
        let reflected = sctp.chunks.iter().any(|chunk| {
            matches!(
                chunk,
                Chunk::Abort { reflected: true, .. } | Chunk::ShutdownComplete { reflected: true }
            )
        });
        let expected = if reflected { self.peer_tag } else { self.local_tag };
        sctp.tag == expected && expected != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_endpoint::Seed;

    fn identity() -> Identity {
        let identity = Identity::new(1, 2, Seed::default().generator("identity"));
        Identity { local_tag: 7, peer_tag: 8, ..identity }
    }

    /// RFC 9260 §8.5, §8.5.1 B, C.
    #[test]
    fn the_tag_is_ours_or_reflected() {
        let packet = |tag, chunk: Chunk| SctpPacket {
            src_port: 2,
            dst_port: 1,
            tag,
            udp: None,
            zero_checksum: false,
            chunks: chunk.into(),
        };
        let abort = |reflected| Chunk::Abort { reflected, causes: Vec::new() };
        let valid = |tag, chunk| identity().is_tag_valid(&packet(tag, chunk));
        assert!(valid(7, Chunk::CookieAck) && !valid(8, Chunk::CookieAck));
        assert!(valid(7, abort(false)) && !valid(8, abort(false)));
        assert!(valid(8, abort(true)) && !valid(7, abort(true)));
        let unknown = Identity { peer_tag: 0, ..identity() };
        assert!(!unknown.is_tag_valid(&packet(0, abort(true))), "there is none to reflect");
    }

    /// RFC 9260 §5.2.2: they show neither tag, and change with both and with the key.
    #[test]
    fn tie_tags_stand_for_both_tags() {
        let tags = |identity: &Identity| identity.tie_tags();
        let one = identity();
        assert_eq!(tags(&one), tags(&identity()));
        assert_ne!(tags(&one), (7, 8));
        assert_ne!(tags(&one), tags(&Identity { local_tag: 9, ..identity() }));
        assert_ne!(tags(&one), tags(&Identity { peer_tag: 9, ..identity() }));
        assert_ne!(tags(&one), tags(&Identity { key: [0; 32], ..identity() }));
    }
}
