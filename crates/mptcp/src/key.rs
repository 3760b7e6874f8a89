//! Keys and what is computed from them (RFC 8684 §3.1, §3.2, §3.4.1): tokens,
//! initial data sequence numbers, and the HMACs that prove a key.

use anabranch_endpoint::mac::{hmac, sha256};
use std::net::IpAddr;

/// The key of one side of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(pub u64);

impl Key {
    /// What names the connection in an MP_JOIN: the most significant 32 bits
    /// of the key's SHA-256 (§3.2).
    pub fn token(self) -> u32 {
        let [a, b, c, d, ..] = sha256(&self.0.to_be_bytes());
        u32::from_be_bytes([a, b, c, d])
    }

    /// The initial data sequence number: the least significant 64 bits of the
    /// key's SHA-256 (§3.1).
    pub fn idsn(self) -> u64 {
        last_64_bits(&sha256(&self.0.to_be_bytes()))
    }

    /// Computes this side's HMAC in the handshake of a subflow (§3.2): its key comes before the
    /// peer's, its random number before the peer's.
    pub fn join_mac(self, peer: Key, nonce: u32, peer_nonce: u32) -> [u8; 32] {
        let message = [nonce.to_be_bytes(), peer_nonce.to_be_bytes()].concat();
        hmac(&self.before(peer), &message)
    }

    /// Computes this side's HMAC in an ADD_ADDR (§3.4.1): over the address's number, the address
    /// and the port, 0 where none is given.
    pub fn address_mac(self, peer: Key, id: u8, ip: IpAddr, port: Option<u16>) -> u64 {
        let mut message = vec![id];
        match ip {
            IpAddr::V4(ip) => message.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => message.extend_from_slice(&ip.octets()),
        }
        message.extend_from_slice(&port.unwrap_or(0).to_be_bytes());
        last_64_bits(&hmac(&self.before(peer), &message))
    }

    fn before(self, peer: Key) -> Vec<u8> {
        [self.0.to_be_bytes(), peer.0.to_be_bytes()].concat()
    }
}

/// The leftmost 64 bits of an HMAC, which a SYN/ACK carries.
pub(crate) fn first_64_bits(mac: &[u8; 32]) -> u64 {
    mac[..8].iter().fold(0, |n, octet| n << 8 | *octet as u64)
}

/// The leftmost 160 bits of an HMAC, which a third ACK carries.
pub(crate) fn first_160_bits(mac: &[u8; 32]) -> [u8; 20] {
    let mut first = [0; 20];
    first.copy_from_slice(&mac[..20]);
    first
}

fn last_64_bits(mac: &[u8; 32]) -> u64 {
    mac[24..].iter().fold(0, |n, octet| n << 8 | *octet as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Key = Key(0x0102_0304_0506_0708);
    const B: Key = Key(0x1112_1314_1516_1718);

    /// Computed with Python's hashlib and hmac.
    #[test]
    fn tokens_and_numbers_are_those_of_another_implementation() {
        assert_eq!((A.token(), A.idsn()), (0x6684_0dda, 0xf5a1_01d3_d29d_6f72));
        assert_eq!((B.token(), B.idsn()), (0xccad_45ac, 0x535b_eea3_8e08_7c8e));
    }

    /// The same, as §3.2 and §3.4.1 put keys and messages together.
    #[test]
    fn macs_are_those_of_another_implementation() {
        let (ra, rb) = (0x2122_2324, 0x3132_3334);
        assert_eq!(first_64_bits(&B.join_mac(A, rb, ra)), 0x0fce_2597_e55e_87ef);
        let mac = first_160_bits(&A.join_mac(B, ra, rb));
        assert_eq!(
            mac.map(|octet| format!("{octet:02x}")).concat(),
            "e19ad4ac22d51c2f064d49662431bc8f9d6b3a29"
        );
        let (v4, v6) = ("192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap());
        assert_eq!(A.address_mac(B, 2, v4, None), 0x70ad_4a43_448c_31c4);
        assert_eq!(B.address_mac(A, 3, v6, Some(80)), 0xd1fd_0f1e_4764_9c00);
    }
}
