//! The state cookie (RFC 9260 §5.1.3) carries all that a passive side must remember of an INIT,
//! signed, so that the side itself need not remember anything.

use crate::extensions::Extensions;
use anabranch_endpoint::mac;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::Addr;

/// This bit, in the field of the extensions, says that an adaptation code point follows.
const ADAPTATION: u16 = 0x8000;
/// The signature has this many octets (HMAC-SHA-256).
const MAC: usize = 32;
/// At most this many addresses of a peer are used; further ones are ignored.
pub(crate) const MAX_ADDRESSES: usize = 16;

/// A `Cookie` is what a state cookie holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cookie {
    /// `created` is the date at which it was made.
    pub created: Time,
    /// `life` is how long it is valid from then on.
    pub life: Span,
    /// `local_tag` is this side's verification tag.
    pub local_tag: u32,
    /// `peer_tag` is the peer's verification tag.
    pub peer_tag: u32,
    /// `tie_tags` stand for the tags of the association that existed then (§5.2.2); both are 0
    /// where there was none.
    pub tie_tags: (u32, u32),
    /// `local_tsn` is this side's first TSN.
    pub local_tsn: Serial32,
    /// `peer_tsn` is the peer's first TSN.
    pub peer_tsn: Serial32,
    /// `peer_rwnd` is the a_rwnd of the INIT, in octets.
    pub peer_rwnd: u32,
    /// `outbound` is how many streams this side may send on.
    pub outbound: u16,
    /// `inbound` is how many streams the peer may send on.
    pub inbound: u16,
    /// `peer_port` is the peer's SCTP port.
    pub peer_port: u16,
    /// `local_port` is this side's SCTP port. It is needed because hosts sign the cookies of all
    /// their ports with one key.
    pub local_port: u16,
    /// `auth` is what authentication needs of both sides (RFC 4895); it is empty where chunks are
    /// not authenticated.
    pub auth: Box<[u8]>,
    /// `adaptation` is the adaptation code point of the peer (RFC 5061 §4.2.6), if it gave one.
    pub adaptation: Option<u32>,
    /// `extensions` are those that both sides offer.
    pub extensions: Extensions,
    /// `primary` is the index in `addresses` of the one that the INIT came from.
    pub primary: u16,
    /// `addresses` are the peer's addresses.
    pub addresses: Vec<Addr>,
}

impl Cookie {
    /// Returns the octets of the cookie, signed with `key`.
    pub fn seal(&self, key: &[u8; 32]) -> Box<[u8]> {
        let mut out = Vec::with_capacity(58 + self.auth.len() + 4 * self.addresses.len() + MAC);
        out.extend_from_slice(&self.created.as_picos().to_be_bytes());
        out.extend_from_slice(&self.life.as_picos().to_be_bytes());
        for word in [
            self.local_tag,
            self.peer_tag,
            self.tie_tags.0,
            self.tie_tags.1,
            self.local_tsn.0,
            self.peer_tsn.0,
            self.peer_rwnd,
        ] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        let adaptation = self.adaptation.map_or(0, |_| ADAPTATION);
        let extensions = self.extensions.0 as u16 | adaptation;
        let ports = [self.peer_port, self.local_port];
        let halves = [self.outbound, self.inbound, ports[0], ports[1], self.primary, extensions];
        halves.iter().for_each(|half| out.extend_from_slice(&half.to_be_bytes()));
        if let Some(code) = self.adaptation {
            out.extend_from_slice(&code.to_be_bytes());
        }
        out.extend_from_slice(&(self.auth.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.auth);
        for addr in &self.addresses {
            out.extend_from_slice(&addr.0.to_be_bytes());
        }
        let mac = mac::hmac(key, &out);
        out.extend_from_slice(&mac);
        out.into()
    }

    /// Returns what the octets of a cookie hold; `None` unless they were signed with `key`.
    pub fn open(octets: &[u8], key: &[u8; 32]) -> Option<Cookie> {
        let (signed, mac) = octets.split_at_checked(octets.len().checked_sub(MAC)?)?;
        if !mac::equal(&mac::hmac(key, signed), mac) {
            return None;
        }
        let mut rest = Octets(signed);
        let (created, life) = (Time::from_picos(rest.take(8)?), Span::from_picos(rest.take(8)?));
        let (local_tag, peer_tag) = (rest.word()?, rest.word()?);
        let tie_tags = (rest.word()?, rest.word()?);
        let (local_tsn, peer_tsn) = (Serial32(rest.word()?), Serial32(rest.word()?));
        let peer_rwnd = rest.word()?;
        let (outbound, inbound) = (rest.half()?, rest.half()?);
        let (peer_port, local_port) = (rest.half()?, rest.half()?);
        let (primary, bits) = (rest.half()?, rest.half()?);
        let extensions = Extensions(bits as u8);
        let adaptation = match bits & ADAPTATION {
            0 => None,
            _ => Some(rest.word()?),
        };
        let len = rest.half()? as usize;
        let auth = rest.split(len)?;
        let addresses = std::iter::from_fn(|| rest.word()).map(Addr).collect();
        Some(Cookie {
            created,
            life,
            local_tag,
            peer_tag,
            tie_tags,
            local_tsn,
            peer_tsn,
            peer_rwnd,
            outbound,
            inbound,
            peer_port,
            local_port,
            primary,
            extensions,
            auth: auth.into(),
            adaptation,
            addresses,
        })
    }
}

/// `Octets` are those of a cookie that have not been read yet.
struct Octets<'a>(&'a [u8]);

impl<'a> Octets<'a> {
    /// Takes the next `n` octets as they are; `None` when fewer are left.
    fn split(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    /// Takes the next `n` octets, at most 8, as a number in network order; `None` when fewer are
    /// left.
    fn take(&mut self, n: usize) -> Option<u64> {
        Some(self.split(n)?.iter().fold(0, |value, octet| value << 8 | *octet as u64))
    }

    fn word(&mut self) -> Option<u32> {
        Some(self.take(4)? as u32)
    }

    fn half(&mut self) -> Option<u16> {
        Some(self.take(2)? as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie() -> Cookie {
        Cookie {
            created: Time::from_picos(u64::MAX / 3),
            life: Span::from_secs(60),
            local_tag: 1,
            peer_tag: 2,
            tie_tags: (3, 4),
            local_tsn: Serial32(u32::MAX),
            peer_tsn: Serial32(6),
            peer_rwnd: 65_536,
            outbound: 10,
            inbound: 20,
            peer_port: 5000,
            local_port: 80,
            primary: 1,
            extensions: Extensions(5),
            adaptation: Some(77),
            auth: [7, 8, 9].into(),
            addresses: vec![Addr(7), Addr(9)],
        }
    }

    #[test]
    fn what_was_sealed_is_opened() {
        let octets = cookie().seal(&[9; 32]);
        assert_eq!(Cookie::open(&octets, &[9; 32]), Some(cookie()));
        assert_eq!(Cookie::open(&octets, &[8; 32]), None);
    }

    #[test]
    fn a_change_of_any_octet_or_length_is_noticed() {
        let octets = cookie().seal(&[9; 32]);
        for at in 0..octets.len() {
            let mut forged = octets.clone();
            forged[at] ^= 1;
            assert_eq!(Cookie::open(&forged, &[9; 32]), None, "octet {at}");
            assert_eq!(Cookie::open(&octets[..at], &[9; 32]), None, "length {at}");
        }
    }
}
